// Sizes that kernels loop over: a number times sizes known at run time only. Those are operands of the dispatch, by
// number (form_dispatches.c), so that the host can compute with them too.
#ifndef IREE_C_KERNELS_EXTENT_H_
#define IREE_C_KERNELS_EXTENT_H_

#include "dialects/graph.h"
#include "kernels/linear.h"

typedef struct extent_t {
  int64_t factor;
  uint32_t count;
  uint32_t numbers[GRAPH_MAX_RANK];  // ascending
} extent_t;

extent_t extent_fixed(int64_t size);
// Of a tensor's dimension. `numbers`: of the '?' of a tensor that no op in the dispatch defines, else NULL.
extent_t extent_of_dim(const ir_value_t* tensor, int32_t dim, const int64_t* numbers);
extent_t extent_product(extent_t x, extent_t y);
static inline bool extent_is_fixed(const extent_t* x) { return x->count == 0; }
bool extent_equal(const extent_t* x, const extent_t* y);
bool extent_is(const extent_t* x, int64_t size);
// What to expect where a decision has to be made while compiling.
int64_t extent_guess(const extent_t* x);
// As an index value of the kernel, made once.
ir_value_t* extent_value(kernel_build_t* k, const extent_t* x);

// x / d and x % d for x >= 0, d > 0.
void linear_divide_extent(kernel_build_t* k, linear_t x, const extent_t* d, linear_t* quotient, linear_t* remainder);
linear_t linear_scale_extent(kernel_build_t* k, linear_t x, const extent_t* factor);

#endif  // IREE_C_KERNELS_EXTENT_H_
