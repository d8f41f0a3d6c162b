// Handlers of TOSA ops (ops.def), and what their files share.
#ifndef IREE_C_IMPORT_TOSA_OPS_H_
#define IREE_C_IMPORT_TOSA_OPS_H_

#include "import/lowering.h"

#define UNARY(ENUM, fn)
#define BINARY(ENUM, fn, unsigned_fn)
#define REDUCE(ENUM, kind)
#define OP(ENUM, handler) bool tosa_lower_##handler(lower_op_t* n);
#define REFUSED(ENUM, sentence)
#include "import/tosa/ops.def"
#undef UNARY
#undef BINARY
#undef REDUCE
#undef OP
#undef REFUSED
bool tosa_lower_elementwise(lower_op_t* n);
bool tosa_lower_reduce(lower_op_t* n);

// A list that is attribute `name` or constant operand `operand`: at most GRAPH_MAX_RANK * 2 numbers.
enum { TOSA_MAX_LIST = 2 * GRAPH_MAX_RANK };
bool tosa_list(lower_op_t* n, const char* name, uint32_t operand, int64_t* values, uint32_t* count);
// The same with a known number of entries.
bool tosa_numbers(lower_op_t* n, const char* name, uint32_t operand, int64_t* values, uint32_t count);
// Words of enumerations, in any spelling; "" when absent.
const char* tosa_word(lower_op_t* n, const char* name);
// The sizes of all operands brought together, sizes of 1 repeating.
bool tosa_together(lower_op_t* n, ir_value_t** values, uint32_t count);
// x minus a zero point, which is operand `operand` or a member of attribute quantization_info: in `element` when there
// is one, else x itself.
ir_value_t* tosa_without_zero(lower_op_t* n, ir_value_t* x, uint32_t operand, const char* name,
                              const ir_type_t* element);
// The zero point as a tensor without dims of type `element`; NULL when there is none or it is 0.
ir_value_t* tosa_zero_point(lower_op_t* n, uint32_t operand, const char* name, const ir_type_t* element);
// x (wide integers) limited to what `element` has and narrowed.
ir_value_t* tosa_saturate(lower_op_t* n, ir_value_t* x, const ir_type_t* element, bool is_unsigned);
// (x * multiplier + rounding) >> shift for wide x; multiplier and shift of the same shape. i64.
ir_value_t* tosa_scale(lower_op_t* n, ir_value_t* x, ir_value_t* multiplier, ir_value_t* shift, bool double_round);

#endif  // IREE_C_IMPORT_TOSA_OPS_H_
