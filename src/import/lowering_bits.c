// Elements as those of another width with the same bits, the least significant ones first.
#include <string.h>

#include "import/lowering.h"

// x as `count` narrower integers along a new last dimension, or the last dimension as one wider integer.
static ir_value_t* split_bits(lower_op_t* n, ir_value_t* x, uint32_t from, uint32_t to) {
  int64_t dims[GRAPH_MAX_RANK], map[GRAPH_MAX_RANK], count = from / to;
  int32_t rank = x->type->rank;
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  for (int32_t i = 0; i < rank; ++i) dims[i] = x->type->dims[i], map[i] = i;
  dims[rank] = count;
  const ir_type_t* wide = ir_type_tensor(n->ctx, ir_type_int(n->ctx, from), rank + 1, dims);
  x = graph_bitcast(n->b, x, wide->element);
  lower_dynamic_dims(n->b, x, x->type, dynamic);
  x = graph_broadcast(n->b, x, wide, map, dynamic);
  ir_value_t* shift = graph_iota(n->b, wide, rank, dynamic);
  shift = lower_with_number(n, SCALAR_mul, shift, to);
  x = graph_binary(n->b, SCALAR_shru, x, shift);
  if (to == 1) x = lower_with_number(n, SCALAR_and, x, 1);  // a cast to i1 asks whether any bit is set
  return graph_cast(n->b, x, ir_type_int(n->ctx, to), true);
}

static ir_value_t* join_bits(lower_op_t* n, ir_value_t* x, uint32_t from, uint32_t to) {
  int64_t last = x->type->rank - 1;
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  x = graph_bitcast(n->b, x, ir_type_int(n->ctx, from));
  x = graph_cast(n->b, x, ir_type_int(n->ctx, to), true);
  lower_dynamic_dims(n->b, x, x->type, dynamic);
  ir_value_t* shift = lower_with_number(n, SCALAR_mul, graph_iota(n->b, x->type, last, dynamic), from);
  return graph_reduce(n->b, graph_binary(n->b, SCALAR_shl, x, shift), &last, 1, "or");
}

ir_value_t* lower_convert_bits(lower_op_t* n, ir_value_t* x, const ir_type_t* element) {
  uint32_t from = x->type->element->width, to = element->width;
  int32_t last = x->type->rank - 1;
  if (from > to && from % to == 0 && last + 1 < GRAPH_MAX_RANK) {
    x = split_bits(n, x, from, to);
  } else if (from < to) {
    if (to % from || last < 0 || !lower_sizes_fit(x->type->dims[last], to / from))
      return lower_error(n, "needs a last operand dimension of %u", to / from), NULL;
    x = join_bits(n, lower_sized(n, x, last, to / from), from, to);
  } else if (from != to) {
    return lower_error(n, "cannot make elements of %u bits of those of %u", to, from), NULL;
  }
  return graph_bitcast(n->b, x, element);
}

ir_value_t* lower_repack_bits(lower_op_t* n, ir_value_t* x, const ir_type_t* type, ir_value_t* const* sizes) {
  uint32_t from = x->type->element->width, to = type->element->width;
  int64_t dims[GRAPH_MAX_RANK], given, wanted, have = ir_type_count(x->type), need = ir_type_count(type);
  bool open = have == IR_DYNAMIC || need == IR_DYNAMIC;
  if (!open &&
      (__builtin_mul_overflow(have, from, &given) || __builtin_mul_overflow(need, to, &wanted) || given != wanted))
    return lower_error(n, "makes %lld elements of %u bits of %lld of %u", (long long)need, to, (long long)have, from),
           NULL;
  if (from < to) {
    if (type->rank >= GRAPH_MAX_RANK) return lower_unsupported(n, "ranks up to %d are", GRAPH_MAX_RANK - 1), NULL;
    memcpy(dims, type->dims, sizeof(*dims) * (size_t)type->rank);
    dims[type->rank] = to / from;
    x = graph_reshape(n->b, x, type->rank + 1, dims, sizes);
  }
  x = lower_convert_bits(n, x, type->element);
  return x && from >= to ? graph_reshape(n->b, x, type->rank, type->dims, sizes) : x;
}
