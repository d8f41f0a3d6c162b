// Which values an op may use: the verifier adds ops as it passes them, so that "earlier in the block" is "already
// added"; regions of several blocks get a dominator tree at the first question.
#ifndef IREE_C_IR_DOMINANCE_H_
#define IREE_C_IR_DOMINANCE_H_

#include "ir/context.h"

typedef struct dominance_t {
  ir_set_t passed;   // ops whose results may be used behind them
  ir_set_t regions;  // dominator trees
  arena_t arena;
} dominance_t;

typedef enum { DOMINANCE_OK, DOMINANCE_ISOLATED, DOMINANCE_NOT_BEFORE, DOMINANCE_DETACHED } dominance_result_t;

void dominance_init(dominance_t* d);
void dominance_finish(dominance_t* d);
void dominance_add(dominance_t* d, ir_op_t* op);
// Whether `op` may use `value`.
dominance_result_t dominance_of(dominance_t* d, const ir_value_t* value, const ir_op_t* op);

#endif  // IREE_C_IR_DOMINANCE_H_
