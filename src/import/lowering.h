// What the lowerings of single ops see, for every frontend but ONNX's. One driver (lowering.c) walks functions, keeps
// the lowered form of each value, and calls the handler in the op's row; rows are in tables, one per dialect.
//
// A handler checks what it needs (the program comes from a file), builds graph ops at n->b and sets n->out. Integers
// are signless in graph: a handler reads signs from the op as written. Scalars stay scalars; inside of bodies that run
// on whole tensors (linalg.generic) the same handlers see tensors instead, so elementwise handlers bring their operands
// to one shape first.
#ifndef IREE_C_IMPORT_LOWERING_H_
#define IREE_C_IMPORT_LOWERING_H_

#include "dialects/graph.h"
#include "import/lower.h"
#include "ir/ir.h"

typedef struct lowering_t lowering_t;
typedef struct lower_op_t lower_op_t;

// A lowered value. Nothing is set for tokens.
typedef struct lower_value_t {
  ir_value_t* v;                // tensor or scalar; complex: the real part
  ir_value_t* im;               // complex: the imaginary part
  struct lower_value_t* items;  // tuple
  uint32_t count;
} lower_value_t;

typedef bool (*lower_fn_t)(lower_op_t* n);
// ANY_VALUE: the handler takes complex operands and tuples. BY_PARTS: the op moves elements, or adds them; of complex
// ones the handler is asked for both parts in turn. STANDS_FOR: the result's type says what the value stands for.
// COMPLEX: the handler takes complex operands, and what others do.
enum { LOWER_ANY_VALUE = 1, LOWER_BY_PARTS = 2, LOWER_STANDS_FOR = 4, LOWER_COMPLEX = 8 };

typedef struct lower_row_t {
  lower_fn_t fn;  // NULL: not supported
  // Elementwise rows: the scalar function for signed (and float), unsigned and i1 elements.
  int16_t scalar, unsigned_scalar, bool_scalar;
  uint16_t flags;
  const char* text;  // of the handler's own
} lower_row_t;

// Rows by number of the op's row in its dialect.
typedef struct lower_table_t {
  ir_dialect_id_t dialect;
  const lower_row_t* rows;
  uint32_t count;
} lower_table_t;

// A dispatch whose body is lowered where it is called (linalg/dispatch.c).
typedef struct lower_place_t {
  ir_value_t *id[3], *count[3], *size[3];  // of the workgroup; NULL: nobody knows
  ir_block_t* body;
  ir_value_t** memory;  // its tensors: what stands for each (lower_get) is what it holds by now
  uint32_t memory_count;
  const lower_value_t* numbers;
  uint32_t number_count;
} lower_place_t;

struct lowering_t {
  ir_context_t* ctx;
  ir_op_t* module;
  ir_builder_t b;
  uint32_t depth;  // of regions
  uint32_t whole;  // > 0: the body of scalar ops at work runs on whole tensors; declared shapes mean nothing
  const struct lower_loops_t* loops;  // of that body, when it is a loop nest's
  ir_op_t* kernel;                    // of a function over memory (lower_shim), or NULL
  int64_t group_sizes[3];             // what a kernel is told of its workgroup
  int64_t threads;                    // of a workgroup on GPUs, 0 elsewhere; its own memory is shared by them
  uint32_t nests;                     // loops around that are shared out among them
  uint64_t scratch;                   // bytes of it
  const lower_place_t* place;         // in a dispatch's body
  bool refine_results;                // a function may return shapes that are more static than declared
};

struct lower_op_t {
  lowering_t* l;
  ir_context_t* ctx;
  ir_builder_t* b;
  ir_op_t* op;
  const lower_row_t* row;
  ir_value_t** in;        // operands; the real part of complex ones
  lower_value_t* values;  // operands in full
  lower_value_t* out;     // to be set
};

//===----------------------------------------------------------------------------------------------------------------===
// Driver (lowering.c)
//===----------------------------------------------------------------------------------------------------------------===

// In functions over memory (linalg/shim.c): a call of an object's function, a view of a binding's memory from operand
// `offset` (bytes) on, which a sized type's operands follow, and a number of a workgroup.
bool shim_lower_call(lower_op_t* n, const ir_op_t* func);
bool shim_lower_view(lower_op_t* n, ir_value_t* binding, uint32_t first, bool has_offset);
bool shim_lower_id(lower_op_t* n, uint32_t kernel_code);
// The tensor or memref that a binding is seen as by !flow.dispatch.tensor<...> and the like; NULL for other types.
const ir_type_t* shim_view_type(ir_context_t* ctx, const ir_type_t* type);

// Replaces every function of the module that has ops of input dialects. False after diagnostics.
bool lowering_run(ir_context_t* ctx, ir_op_t* module);

// Lowers a block's ops at l->b with `args` as its arguments; `results` (in the arena) is what its terminator names.
bool lower_block(lowering_t* l, ir_block_t* block, const lower_value_t* args, lower_value_t** results, uint32_t* count);
// One op; its results are noted at the values.
bool lower_one(lowering_t* l, ir_op_t* op);
// Lowers a block of region `from` into a new block at the end of `to`, whose arguments have the lowered types of the
// block's own, and ends it with a graph.yield of values of types `types`.
bool lower_region(lowering_t* l, ir_block_t* block, ir_region_t* to, const ir_type_t* const* types, uint32_t count);
lower_value_t lower_get(const ir_value_t* value);
void lower_set(lowering_t* l, ir_value_t* value, lower_value_t lowered);

// Messages at the op; always false. `unsupported` adds the operand types: say what would work instead.
bool lower_error(const lower_op_t* n, const char* format, ...) __attribute__((format(printf, 2, 3)));
bool lower_unsupported(const lower_op_t* n, const char* format, ...) __attribute__((format(printf, 2, 3)));
// Of functions as values that a run of the program chooses.
#define LOWER_ONLY_NAMED "func.call of a name is, and scf.if or scf.index_switch around several calls"
// For rows of what has no lowering: their text says what would work.
bool lower_refused(lower_op_t* n);

//===----------------------------------------------------------------------------------------------------------------===
// Values and types (lowering_value.c)
//===----------------------------------------------------------------------------------------------------------------===

static inline bool lower_return(lower_op_t* n, ir_value_t* v) {
  n->out[0] = (lower_value_t){.v = v};
  return v != NULL;
}
// The element type as graph has it: signless integers.
const ir_type_t* lower_element(ir_context_t* ctx, const ir_type_t* scalar);
// Type of one lowered value, or NULL for types that have none (vectors, tokens, complex, unranked tensors, ...).
const ir_type_t* lower_type(ir_context_t* ctx, const ir_type_t* type);
// Lists that grow in the context's arena: `lower_list_t list = LOWER_LIST(ctx)`.
typedef struct lower_types_t {
  arena_t* arena;
  const ir_type_t** items;
  uint32_t count, capacity;
} lower_types_t;
typedef struct lower_list_t {
  arena_t* arena;
  ir_value_t** items;
  uint32_t count, capacity;
} lower_list_t;
#define LOWER_LIST(ctx) {.arena = ir_context_arena(ctx)}
void lower_types_add(lower_types_t* list, const ir_type_t* type);
void lower_list_add(lower_list_t* list, ir_value_t* value);
void lower_list_add_results(lower_list_t* list, ir_op_t* op, uint32_t first);  // from result `first` on
// Complex types and tuples as several: appends to `out`. False when something has no form.
bool lower_flat_types(ir_context_t* ctx, const ir_type_t* type, lower_types_t* out);
// The other way for values: takes as many as `type` has.
lower_value_t lower_unflatten(lowering_t* l, const ir_type_t* type, ir_value_t* const** next);
void lower_flatten(lower_value_t value, lower_list_t* out);

// Types of the program as written.
static inline const ir_type_t* lower_in_type(const lower_op_t* n, uint32_t i) { return ir_operand(n->op, i)->type; }
static inline const ir_type_t* lower_out_type(const lower_op_t* n, uint32_t i) { return n->op->results[i].type; }
bool lower_is_unsigned(const ir_type_t* type);  // of its elements: ui*, i1
static inline bool lower_is_bool(const ir_type_t* type) {
  const ir_type_t* scalar = ir_type_scalar(type);
  return scalar->kind == IR_TYPE_INTEGER && scalar->width == 1;
}
static inline bool lower_is_float(const ir_type_t* type) { return ir_type_scalar(type)->kind == IR_TYPE_FLOAT; }

// Same tensor with more or fewer dims known, or a scalar as tensor and back; NULL (after a diagnostic) when the types
// do not fit.
ir_value_t* lower_coerce(lowering_t* l, ir_value_t* v, const ir_type_t* type);
bool lower_fits(const ir_type_t* from, const ir_type_t* to);
// Scalars as tensor<T>.
ir_value_t* lower_as_tensor(ir_builder_t* b, ir_value_t* v);
// Scalars and tensors without dims get the shape of the others. False after a diagnostic when shapes differ.
bool lower_unify(lower_op_t* n, ir_value_t** values, uint32_t count);
// x with the (possibly run-time) dims of `like`, by repeating the one element of x.
ir_value_t* lower_splat(ir_builder_t* b, ir_value_t* x, ir_value_t* like);
// The one number all elements of a value are, as far as is known.
bool lower_splat_value(const ir_value_t* v, double* out);
bool lower_splat_integer(const ir_value_t* v, int64_t* out);

// Kinds of graph.reduce: "add", "max", ... The scalar function of one; whether a start value changes nothing; x
// combined with a start value (of x's shape or without dims) unless it changes nothing.
scalar_fn_t lower_kind_fn(const char* kind);
bool lower_is_identity(const char* kind, const ir_value_t* start);
ir_value_t* lower_with_init(lower_op_t* n, const char* kind, ir_value_t* x, ir_value_t* init);

// An index from a scalar integer or element `i` of a small integer tensor, computed on the host where possible.
ir_value_t* lower_index(ir_builder_t* b, ir_value_t* v);
ir_value_t* lower_index_element(ir_builder_t* b, ir_value_t* tensor, int64_t i);
bool lower_constant_index(const ir_value_t* v, int64_t* out);
ir_value_t* lower_index_binary(ir_builder_t* b, scalar_fn_t fn, ir_value_t* x, ir_value_t* y);  // folds
// Sizes as types and ops have them: `dims` with IR_DYNAMIC where a size is known at run time only, which `open` has, in
// order; how many those are. And x with such sizes.
uint32_t lower_split_sizes(ir_value_t* const* sizes, uint32_t count, int64_t* dims, ir_value_t** open);
ir_value_t* lower_reshape(ir_builder_t* b, ir_value_t* x, ir_value_t* const* sizes, uint32_t rank);
// Run-time sizes of the '?' dims of `type` taken from `x`, which has the same shape.
uint32_t lower_dynamic_dims(ir_builder_t* b, ir_value_t* x, const ir_type_t* type, ir_value_t** out);
// x with a dimension that must be of this size, where its type leaves it open.
ir_value_t* lower_sized(lower_op_t* n, ir_value_t* x, int32_t dim, int64_t size);
// Whether two sizes are equal, as far as is known.
static inline bool lower_sizes_fit(int64_t x, int64_t y) { return x == y || x == IR_DYNAMIC || y == IR_DYNAMIC; }
// The first `size` (an index) elements along a dimension.
ir_value_t* lower_first(lower_op_t* n, ir_value_t* x, int32_t dim, ir_value_t* size);
// A constant of elements, integers signless, unless its data is missing (then NULL after a diagnostic).
bool lower_constant(lower_op_t* n, const ir_attr_t* value, lower_value_t* out);

// Attribute lists: exactly `count` entries of each at least `low` and at most `high`.
bool lower_ints(const lower_op_t* n, const char* name, int64_t* values, uint32_t count);
// Any number of entries up to GRAPH_MAX_RANK; false after a diagnostic.
bool lower_list(const lower_op_t* n, const char* name, int64_t* values, uint32_t* count);
// The same, entries being different dimensions of a tensor of that rank.
bool lower_dims(const lower_op_t* n, const char* name, int32_t rank, int64_t* values, uint32_t* count);
// Several at once.
bool lower_check_rank(const lower_op_t* n, uint32_t operand, int32_t rank);
bool lower_check_tensors(const lower_op_t* n);

static inline ir_value_t* lower_unary(lower_op_t* n, scalar_fn_t fn, ir_value_t* x) { return graph_unary(n->b, fn, x); }
// y may be a scalar or have no dims.
ir_value_t* lower_binary(lower_op_t* n, scalar_fn_t fn, ir_value_t* x, ir_value_t* y);
// fn(x, number) with the number as a constant of x's type.
ir_value_t* lower_with_number(lower_op_t* n, scalar_fn_t fn, ir_value_t* x, double number);
ir_value_t* lower_number_like(lower_op_t* n, ir_value_t* x, double number);
// The bits of x as elements of another type, its last dimension longer or shorter (lowering_bits.c). NULL after a
// diagnostic.
ir_value_t* lower_convert_bits(lower_op_t* n, ir_value_t* x, const ir_type_t* element);
// The same as a tensor of that type, whose run-time sizes are `sizes`.
ir_value_t* lower_repack_bits(lower_op_t* n, ir_value_t* x, const ir_type_t* type, ir_value_t* const* sizes);
// Floats as integers of the same bits that order as IEEE's total order does (-NaN, -infinity, ..., -0, 0, ..., NaN),
// and such integers as floats of type `element` again.
ir_value_t* lower_total_order(lower_op_t* n, ir_value_t* x);
ir_value_t* lower_from_total_order(lower_op_t* n, ir_value_t* keys, const ir_type_t* element);
ir_value_t* lower_build(lower_op_t* n, uint32_t code, ir_value_t* const* operands, uint32_t count,
                        const ir_type_t* type, const ir_named_attr_t* attrs, uint32_t attr_count);
// The row's scalar function on all operands.
bool lower_elementwise(lower_op_t* n);
scalar_fn_t lower_row_fn(const lower_op_t* n, const ir_type_t* type);
ir_value_t* lower_cast(lower_op_t* n, ir_value_t* x, const ir_type_t* from, const ir_type_t* to);

//===----------------------------------------------------------------------------------------------------------------===
// Regions by what they answer (lowering_probe.c)
//===----------------------------------------------------------------------------------------------------------------===

enum { LOWER_PROBE_VALUES = 16 };
typedef struct lower_probe_t {
  ir_context_t* ctx;
  ir_op_t* func;
  uint32_t result_count;
  bool failed;  // after a diagnostic
} lower_probe_t;
// Prepares a block of scalar ops for running. False when it uses values from outside or cannot be lowered (`failed`).
bool lower_probe_begin(lowering_t* l, ir_block_t* block, lower_probe_t* probe);
bool lower_probe_run(lower_probe_t* probe, const double* in, double* out);

//===----------------------------------------------------------------------------------------------------------------===
// Tables
//===----------------------------------------------------------------------------------------------------------------===

extern const lower_table_t lower_stablehlo_table, lower_chlo_table, lower_tosa_table;
extern const lower_table_t lower_arith_table, lower_math_table, lower_tensor_table, lower_linalg_table;
extern const lower_table_t lower_scf_table, lower_util_table, lower_ml_program_table, lower_func_table;
extern const lower_table_t lower_complex_table, lower_check_table, lower_builtin_table, lower_cf_table,
    lower_flow_table, lower_encoding_table, lower_linalg_ext_table, lower_stream_table, lower_tensor_ext_table,
    lower_affine_table, lower_shape_table, lower_hal_table, lower_codegen_table, lower_memref_table, lower_vector_table;

#endif  // IREE_C_IMPORT_LOWERING_H_
