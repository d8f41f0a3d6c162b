// Shared by spread*.c.
#ifndef IREE_C_PASSES_SPREAD_IMPL_H_
#define IREE_C_PASSES_SPREAD_IMPL_H_

#include "dialects/graph.h"

enum { SPREAD_VALUES = 16 };  // results of ops with regions

// A dimension becomes two, of which one may be IR_DYNAMIC when the dimension is; padded to whole parts.
typedef struct split_t {
  int64_t dim, parts, length;
  const char* mode;  // of the padding
  ir_value_t* fill;
} split_t;
// Parts near the wanted number of a known size, without padding if possible.
void spread_choose_parts(split_t* s, int64_t size, int64_t wanted);
ir_value_t* spread_split(ir_builder_t* b, ir_value_t* x, const split_t* s);
// Dimensions [first, first + count) as one.
ir_value_t* spread_join(ir_builder_t* b, ir_value_t* x, int64_t first, int64_t count);
// Element `at` of dimension `dim`, without the dimension.
ir_value_t* spread_element(ir_builder_t* b, ir_value_t* x, int64_t dim, int64_t at);

// The product of the sizes of `dims`; IR_DYNAMIC when one is known at run time only, or no number of 64 bits.
int64_t spread_count(const ir_type_t* type, const int64_t* dims, uint32_t count);

// What took the op's place, or NULL when it stays.
ir_op_t* spread_contract(ir_context_t* ctx, ir_op_t* op);
ir_op_t* spread_scatter(ir_context_t* ctx, ir_op_t* op);

#endif  // IREE_C_PASSES_SPREAD_IMPL_H_
