// Handlers of StableHLO and CHLO ops (ops.def, chlo.def), and what their files share.
#ifndef IREE_C_IMPORT_STABLEHLO_OPS_H_
#define IREE_C_IMPORT_STABLEHLO_OPS_H_

#include <string.h>

#include "import/lowering.h"

#define UNARY(ENUM, fn)
#define BINARY(ENUM, fn, unsigned_fn, bool_fn)
#define BROADCAST(ENUM, fn, unsigned_fn, bool_fn)
#define REFUSED(ENUM, sentence)
#define OP(ENUM, handler) bool stablehlo_lower_##handler(lower_op_t* n);
#define PARTS(ENUM, handler) bool stablehlo_lower_##handler(lower_op_t* n);
#define ANY(ENUM, handler) bool stablehlo_lower_##handler(lower_op_t* n);
#include "import/stablehlo/ops.def"
#undef OP
#undef PARTS
#undef ANY
#define OP(ENUM, handler) bool chlo_lower_##handler(lower_op_t* n);
#define ANY(ENUM, handler) bool chlo_lower_##handler(lower_op_t* n);
#include "import/stablehlo/chlo.def"
#undef UNARY
#undef BINARY
#undef BROADCAST
#undef REFUSED
#undef OP
#undef ANY

// Rows of scalar.def, also on complex elements (complex.c).
bool stablehlo_lower_elementwise(lower_op_t* n);
bool stablehlo_lower_complex_elementwise(lower_op_t* n);
bool stablehlo_clamp_complex(lower_op_t* n);
bool chlo_lower_broadcast_binary(lower_op_t* n);
// The two operands brought to their common shape.
bool chlo_broadcast_operands(lower_op_t* n, ir_value_t** x, ir_value_t** y);
// Pieces that CHLO ops share with StableHLO's.
bool stablehlo_compare_values(lower_op_t* n, ir_value_t* x, ir_value_t* y, ir_value_t** out);
// Applies an index map to both parts of complex values.
typedef ir_value_t* (*stablehlo_map_fn_t)(lower_op_t* n, ir_value_t** parts);
bool stablehlo_map_parts(lower_op_t* n, stablehlo_map_fn_t map);

// x with `low` and `high` (index values, which may be negative) more places of one dimension, filled with a scalar.
typedef struct stablehlo_amounts_t {
  uint32_t dim;
  ir_value_t *low, *high, *interior;  // interior: between two elements; NULL: none
} stablehlo_amounts_t;
ir_value_t* stablehlo_pad_dim(lower_op_t* n, ir_value_t* x, ir_value_t* value, stablehlo_amounts_t by);
// Operand 0 from the elements of operand 1 to those of operand 2 by those of operand 3. NULL after a diagnostic.
ir_value_t* stablehlo_slice_at_run_time(lower_op_t* n);
// A window along one dimension, in index values, which may be computed (sweep.c).
typedef struct stablehlo_sweep_t {
  ir_value_t *size, *stride, *base_dilation, *dilation, *low, *high;
} stablehlo_sweep_t;
// Whether each place of the window is an element.
bool stablehlo_sweep_is_trivial(const stablehlo_sweep_t* w);
// x with the dimension in two: where the window stands, and what it sees there; `value` where there is no element.
ir_value_t* stablehlo_unfold(lower_op_t* n, ir_value_t* x, ir_value_t* value, uint32_t dim, stablehlo_sweep_t w);

// Results are the operands (custom_call.c).
bool stablehlo_same_values(lower_op_t* n);
bool stablehlo_dynamic_reduce_window(lower_op_t* n);  // a custom call's target (window_call.c)
// Calls of LAPACK and its like by their names (linear_call.c); `known` when the name is one.
bool stablehlo_lower_linear_call(lower_op_t* n, const char* target, bool* known);
// The dictionary of a call's own settings; an integer of it.
const ir_attr_t* stablehlo_call_config(const lower_op_t* n);
int64_t stablehlo_call_number(const lower_op_t* n, const char* name, int64_t missing);

// x in a format of fewer bits, as reduce_precision rounds (elementwise.c); f16, bf16, f32 and f64.
ir_value_t* stablehlo_round(lower_op_t* n, ir_value_t* x, int64_t exponent, int64_t mantissa);
// What `precision_config` asks for is there, and `algorithm` (algorithm.c): rounds the operands as it says and gives
// the type of the sum; leaves both as they are without one.
bool stablehlo_check_precision(lower_op_t* n);
bool stablehlo_apply_algorithm(lower_op_t* n, lower_value_t operands[2], const ir_type_t** accumulator);

// Reductions (reduce.c). The kind by which a region combines arguments `index` and `count + index`: "add", ... or NULL.
const char* stablehlo_region_kind(const ir_region_t* region, uint32_t index, uint32_t count);
// n operands, n start values without dims, a region of 2n scalars.
bool stablehlo_check_reduce(lower_op_t* n);
const ir_type_t* stablehlo_reduced_type(lower_op_t* n, const ir_type_t* type, const int64_t* dims, uint32_t count);
// Operands [first, first + count), complex ones as two.
lower_list_t stablehlo_flatten(const lower_op_t* n, uint32_t first, uint32_t count);
// The graph op `code` with the op's own region on scalars; sets all results. `types` are those of the results, complex
// ones being two here too.
bool stablehlo_with_region(lower_op_t* n, uint32_t code, const lower_list_t* operands, const ir_type_t* const* types,
                           const ir_named_attr_t* attrs, uint32_t attr_count);
// Whether parts of complex values can be combined apart from each other, as `kind` says.
static inline bool stablehlo_kind_fits(const lower_value_t* x, const char* kind) {
  return kind && (!x->im || strcmp(kind, "add") == 0 || strcmp(kind, "set") == 0);
}

#endif  // IREE_C_IMPORT_STABLEHLO_OPS_H_
