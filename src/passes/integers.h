// Which integers a tensor can hold: of integer types, and of floats that are whole numbers.
#ifndef IREE_C_PASSES_INTEGERS_H_
#define IREE_C_PASSES_INTEGERS_H_

#include <stdlib.h>

#include "ir/ir.h"

enum { INTEGERS_MAX_ELEMENTS = 1 << 26 };

typedef struct integers_t {
  int64_t low, high;
} integers_t;

static inline double integers_magnitude(integers_t range) {
  int64_t low = llabs(range.low), high = llabs(range.high);
  return (double)(low > high ? low : high);
}

// The constant behind a value, unless it is too large to be looked at element by element.
const ir_attr_t* integers_constant(const ir_value_t* value);
// What weights come to: constants that are cast, moved and less a zero point. NULL for what is not known.
const ir_attr_t* integers_known(ir_context_t* ctx, const ir_value_t* value);
// False when an element may be no integer (NaN aside) or when nothing is known. What is rounded and not clamped has the
// range of INTEGERS_ANY.
#define INTEGERS_ANY (INT64_C(1) << 60)
bool integers_range(const ir_value_t* value, integers_t* out);
// The graph.conv or graph.contract `op` with other operands and another type of sums.
ir_value_t* integers_product(ir_builder_t* b, const ir_op_t* op, ir_value_t* x, ir_value_t* w,
                             const ir_type_t* element);
// What is reshaped and transposed to be `value`; and another tensor of that one's shape, moved likewise.
ir_value_t* integers_before_moves(ir_value_t* value);
ir_value_t* integers_moved(ir_builder_t* b, const ir_value_t* value, const ir_value_t* before, ir_value_t* other);

#endif  // IREE_C_PASSES_INTEGERS_H_
