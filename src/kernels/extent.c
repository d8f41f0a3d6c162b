// See extent.h.
#include "kernels/extent.h"

#include <assert.h>
#include <string.h>

enum { TYPICAL_SIZE = 64 };
static const int64_t most_guessed = (int64_t)1 << 40;  // strategies multiply guesses by costs

extent_t extent_fixed(int64_t size) { return (extent_t){.factor = size}; }

static int32_t dynamic_before(const ir_type_t* type, int32_t dim) {
  int32_t count = 0;
  for (int32_t i = 0; i < dim; ++i) count += type->dims[i] == IR_DYNAMIC;
  return count;
}

extent_t extent_of_dim(const ir_value_t* tensor, int32_t dim, const int64_t* numbers) {
  int64_t size = tensor->type->dims[dim], own[8 * GRAPH_MAX_RANK];
  if (size != IR_DYNAMIC) return extent_fixed(size);
  int32_t at = dynamic_before(tensor->type, dim);
  if (!numbers) {
    uint32_t known = ir_attr_ints(graph_get_extents(tensor->def), own, 8 * GRAPH_MAX_RANK);
    for (uint32_t i = 0; i < tensor->index; ++i) {
      const ir_type_t* type = tensor->def->results[i].type;
      at += dynamic_before(type, type->rank);
    }
    assert(at < (int32_t)known && "a run-time size is not known");
    (void)known;
    numbers = own;
  }
  return (extent_t){.factor = 1, .count = 1, .numbers = {(uint32_t)numbers[at]}};
}

extent_t extent_product(extent_t x, extent_t y) {
  if (__builtin_mul_overflow(x.factor, y.factor, &x.factor)) x.factor = INT64_MAX / 4;
  for (uint32_t i = 0; i < y.count; ++i) {
    assert(x.count < GRAPH_MAX_RANK);
    uint32_t at = x.count++;
    for (; at > 0 && x.numbers[at - 1] > y.numbers[i]; --at) x.numbers[at] = x.numbers[at - 1];
    x.numbers[at] = y.numbers[i];
  }
  return x;
}

bool extent_equal(const extent_t* x, const extent_t* y) {
  if (x->factor != y->factor || x->count != y->count) return false;
  return memcmp(x->numbers, y->numbers, sizeof(*x->numbers) * x->count) == 0;
}

bool extent_is(const extent_t* x, int64_t size) { return x->count == 0 && x->factor == size; }

int64_t extent_guess(const extent_t* x) {
  int64_t guess = x->factor;
  for (uint32_t i = 0; i < x->count && guess < most_guessed; ++i) guess *= TYPICAL_SIZE;
  return guess;
}

ir_value_t* extent_value(kernel_build_t* k, const extent_t* x) {
  if (!x->count) return index_constant(k, x->factor);
  ir_value_t* value = k->sizes[x->numbers[0]];
  for (uint32_t i = 1; i < x->count; ++i) value = index_binary(k, SCALAR_mul, value, k->sizes[x->numbers[i]]);
  return x->factor == 1 ? value : index_binary(k, SCALAR_mul, value, index_constant(k, x->factor));
}

linear_t linear_scale_extent(kernel_build_t* k, linear_t x, const extent_t* factor) {
  return extent_is_fixed(factor) ? linear_scale(k, x, factor->factor)
                                 : linear_scale_value(k, x, extent_value(k, factor));
}

void linear_divide_extent(kernel_build_t* k, linear_t x, const extent_t* d, linear_t* quotient, linear_t* remainder) {
  if (extent_is(d, 0)) {  // of nothing: there is no position
    *quotient = *remainder = linear_constant(0);
    return;
  }
  if (extent_is_fixed(d)) {
    linear_divide(k, x, d->factor, quotient, remainder);
    return;
  }
  ir_value_t* size = extent_value(k, d);
  int64_t max = index_facts(size).max - 1, min, most;
  linear_range(k, &x, &min, &most);
  if (linear_is_uniform(&x)) {
    // As what is left, so that a row-major position made of both is x again, and nothing is divided.
    *quotient = linear_value(index_binary(k, SCALAR_divu, linear_outside(k, &x), size));
    *remainder = linear_add(k, x, linear_scale(k, linear_scale_value(k, *quotient, size), -1));
    return;
  }
  ir_value_t* position = linear_lanes(k, &x);
  size = kernel_splat(&k->b, size, k->lanes);
  *quotient = linear_vector(kernel_binary(&k->b, SCALAR_divu, position, size));
  *remainder = linear_vector(kernel_binary(&k->b, SCALAR_remu, position, size));
  index_set_facts(k, quotient->vector, 0, most, 1);
  index_set_facts(k, remainder->vector, 0, max, 1);
}
