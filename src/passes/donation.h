// Arguments that callers give up as memory for results (compiler/donate.h), as passes see them.
#ifndef IREE_C_PASSES_DONATION_H_
#define IREE_C_PASSES_DONATION_H_

#include "dialects/graph.h"

typedef struct donated_t {
  ir_value_t* argument;
  ir_value_t* result;  // what may be in its memory
} donated_t;

// Whether argument `number` of a function is for such memory, and then for which.
bool donation_read(const ir_op_t* func, uint32_t number, donated_t* out);

#endif  // IREE_C_PASSES_DONATION_H_
