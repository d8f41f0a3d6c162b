// Windows and convolutions of open sizes element by element: where none of a window reaches outside of its operand, so
// that nothing has to be asked there.
#ifndef IREE_C_KERNELS_SWEEP_H_
#define IREE_C_KERNELS_SWEEP_H_

#include "kernels/strategy.h"

// How a result's dimension moves over the operand.
typedef struct sweep_reach_t {
  int32_t from;  // the operand's dimension; -1: along none
  int64_t window;
  eval_reach_t at;
} sweep_reach_t;
sweep_reach_t sweep_reach(const ir_op_t* op, int32_t dim);

typedef struct sweep_t {
  const ir_op_t* op;  // the window or convolution, at the domain's coordinates
  uint32_t dims;      // of the result along which it reaches elsewhere
  int32_t strip_dim;  // one of them along which `strip` results are made at once, from its coordinate on
  int64_t strip;      // 0: one result at a time
} sweep_t;

// Reads a window or convolution whose operand has no holes.
bool sweep_read(const ir_op_t* op, sweep_t* out);
// Whether the domain is computed from one such op at the same coordinates, whose last dimension is one of them.
bool sweep_find(const dispatch_t* d, ir_value_t* domain, sweep_t* out);
// Vectors over the domain's last dimension, the others' coordinates being set: neighbours where all of a window lies
// inside, those at the borders as `call` does them. Of strips those at the borders of the other dimensions are apart.
void sweep_line(dispatch_t* d, const sweep_t* s, ir_value_t* domain, const linear_t* coords, int64_t lanes,
                const strip_call_t* call);

#endif  // IREE_C_KERNELS_SWEEP_H_
