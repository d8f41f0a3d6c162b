// Shape rules of ops that combine elements or choose them by numbers: contractions, windows, reductions, gathers.
#include <string.h>

#include "dialects/graph_shape.h"

//===----------------------------------------------------------------------------------------------------------------===
// Gather and scatter: StableHLO's dimension numbers
//===----------------------------------------------------------------------------------------------------------------===

typedef struct lists_t {
  int64_t window[GRAPH_MAX_RANK], collapsed[GRAPH_MAX_RANK], batch[GRAPH_MAX_RANK], indices_batch[GRAPH_MAX_RANK];
  int64_t map[GRAPH_MAX_RANK], vector_dim;
  uint32_t window_count, collapsed_count, batch_count, indices_batch_count, map_count;
} lists_t;

// `indices` is that operand's number, `outer_rank` the rank of what has window and batch dims: the result or the
// updates.
static bool read_lists(graph_sizer_t* s, bool scatter, uint32_t indices, int32_t outer_rank, lists_t* l) {
  const ir_op_t* op = s->op;
  const ir_type_t* at = shape_type(s, indices);
  int32_t rank = shape_type(s, 0)->rank;
  l->window_count = scatter ? graph_get_update_window_dims(op, l->window) : graph_get_offset_dims(op, l->window);
  l->collapsed_count = scatter ? graph_get_inserted_dims(op, l->collapsed) : graph_get_collapsed_dims(op, l->collapsed);
  l->map_count = scatter ? graph_get_scatter_dims_map(op, l->map) : graph_get_start_index_map(op, l->map);
  l->batch_count = graph_get_operand_batch_dims(op, l->batch);
  l->indices_batch_count = graph_get_indices_batch_dims(op, l->indices_batch);
  l->vector_dim = graph_get_index_vector_dim(op);
  if (l->vector_dim > at->rank) return shape_error(s, "has an index_vector_dim above the rank of its indices");
  if (l->batch_count != l->indices_batch_count) return shape_error(s, "has batch lists of different lengths");
  bool whole = l->vector_dim == at->rank;
  shape_agree(s, whole ? graph_size(1) : shape_dim(s, indices, l->vector_dim), graph_size(l->map_count),
              "index vectors have an entry for each mapped dimension");
  for (uint32_t i = 0; i < l->batch_count; ++i) {
    if (l->indices_batch[i] == l->vector_dim) return shape_error(s, "has index_vector_dim among its batch dims");
    if (shape_contains(l->collapsed, l->collapsed_count, l->batch[i])) {
      return shape_error(s, "names dimension %lld twice", (long long)l->batch[i]);
    }
    shape_agree(s, shape_dim(s, 0, l->batch[i]), shape_dim(s, indices, l->indices_batch[i]),
                "batch dims of operand and indices must agree");
  }
  int32_t outer = at->rank - !whole + (int32_t)l->window_count;
  if ((int32_t)(l->window_count + l->collapsed_count + l->batch_count) != rank || outer != outer_rank) {
    return shape_error(s, "has dimension lists that do not fit ranks %d, %d and %d", rank, at->rank, outer_rank);
  }
  return true;
}

// 1, or 0 when there are no indices.
static graph_size_t any_indices(graph_sizer_t* s, int64_t vector_dim) {
  graph_shape_t indices;
  if (!shape_of_operand(s, 1, &indices)) return graph_size(0);
  if (vector_dim < indices.rank) indices.dims[vector_dim] = graph_size(1);
  return shape_binary(s, SCALAR_min, shape_product(s, &indices), graph_size(1));
}

bool shape_gather(graph_sizer_t* s, graph_shape_t* out) {
  int64_t slices[GRAPH_MAX_RANK];
  lists_t l;
  uint32_t window = 0;
  int32_t rank = s->op->results[0].type->rank;
  if (!shape_operands(s, 2, 2) || !read_lists(s, false, 1, rank, &l)) return false;
  graph_get_slice_sizes(s->op, slices);
  graph_size_t any = any_indices(s, l.vector_dim);
  out->rank = rank;
  for (int32_t i = 0; i < shape_type(s, 0)->rank; ++i) {
    bool whole = slices[i] == IR_DYNAMIC;
    graph_size_t size = shape_dim(s, 0, i), part = whole ? size : graph_size(slices[i]);
    graph_size_t needed = whole ? size : shape_mul(s, any, slices[i]);
    shape_require(s, SCALAR_ge, size, needed, "a gathered part must not be larger than the operand");
    bool absent = shape_contains(l.collapsed, l.collapsed_count, i) || shape_contains(l.batch, l.batch_count, i);
    if (!absent) {
      out->dims[l.window[window++]] = part;
    } else if (slices[i] != IR_DYNAMIC && slices[i] > 1) {
      return shape_error(s, "must take at most 1 element along dimension %d, which its result has not", i);
    }
  }
  for (int32_t i = 0, d = 0; i < rank; ++i) {
    if (shape_contains(l.window, l.window_count, i)) continue;
    if (d == l.vector_dim) ++d;
    out->dims[i] = shape_dim(s, 1, d++);
  }
  return true;
}

// `x` operands, then indices, then as many updates.
static bool scattered(graph_sizer_t* s, uint32_t count, graph_shape_t* out) {
  lists_t l;
  for (uint32_t k = 0; k < count; ++k) {
    const ir_type_t *x = shape_type(s, k), *updates = shape_type(s, count + 1 + k);
    if (x->rank != shape_type(s, 0)->rank || updates->rank != shape_type(s, count + 1)->rank) {
      return shape_error(s, "has operands or updates of different ranks");
    }
    for (int32_t i = 0; i < x->rank; ++i) {
      shape_agree(s, shape_dim(s, k, i), shape_dim(s, 0, i), "the operands must be of one shape");
    }
    for (int32_t i = 0; i < updates->rank; ++i) {
      shape_agree(s, shape_dim(s, count + 1 + k, i), shape_dim(s, count + 1, i), "the updates must be of one shape");
    }
  }
  if (!read_lists(s, true, count, shape_type(s, count + 1)->rank, &l)) return false;
  for (int32_t i = 0, d = 0; i < shape_type(s, count + 1)->rank; ++i) {
    if (shape_contains(l.window, l.window_count, i)) continue;
    if (d == l.vector_dim) ++d;
    shape_agree(s, shape_dim(s, count + 1, i), shape_dim(s, count, d++), "there must be an update for each index");
  }
  return shape_of_operand(s, s->result, out);
}

bool shape_scatter(graph_sizer_t* s, graph_shape_t* out) {
  uint32_t count = s->op->operand_count;
  if (!shape_operands(s, 3, count)) return false;
  if (count > 3 && (!graph_scatter_rises(s->op) || count > 3 + GRAPH_SCATTER_LEVELS)) {
    return shape_error(s, "takes 3 operands, or up to %d with rising indices", 3 + GRAPH_SCATTER_LEVELS);
  }
  if (!scattered(s, 1, out)) return false;
  for (uint32_t k = 3; k < count; ++k) {
    if (shape_type(s, k)->rank != shape_type(s, 2)->rank) return shape_error(s, "has updates of different ranks");
    for (int32_t i = 0; i < shape_type(s, k)->rank; ++i) {
      graph_size_t size = shape_dim(s, k - 1, i), fan = graph_size(GRAPH_SCATTER_FAN);
      if (!i) size = shape_binary(s, SCALAR_div, shape_add(s, size, GRAPH_SCATTER_FAN - 1), fan);
      shape_agree(s, shape_dim(s, k, i), size, "there must be a sum of every 32 updates");
    }
  }
  return true;
}

bool shape_scatter_generic(graph_sizer_t* s, graph_shape_t* out) {
  uint32_t count = s->op->result_count;
  if (!count || s->op->operand_count != 2 * count + 1) {
    return shape_error(s, "takes an operand and updates for each result, and indices");
  }
  return shape_operands(s, 2 * count + 1, 2 * count + 1) && shape_region(s) && scattered(s, count, out);
}

//===----------------------------------------------------------------------------------------------------------------===
// Reductions
//===----------------------------------------------------------------------------------------------------------------===

static bool reduced(graph_sizer_t* s, const int64_t* dims, uint32_t count, graph_shape_t* out) {
  out->rank = 0;
  if (!ir_type_is_tensor(shape_type(s, 0))) return shape_error(s, "takes a tensor");
  for (int32_t i = 0; i < shape_type(s, 0)->rank; ++i) {
    if (!shape_contains(dims, count, i)) out->dims[out->rank++] = shape_dim(s, 0, i);
  }
  return true;
}

bool shape_reduce(graph_sizer_t* s, graph_shape_t* out) {
  int64_t dims[GRAPH_MAX_RANK];
  return reduced(s, dims, graph_get_dims(s->op, dims), out);
}

bool shape_arg_reduce(graph_sizer_t* s, graph_shape_t* out) {
  int64_t axis = graph_get_axis(s->op);
  shape_require(s, SCALAR_ge, shape_dim(s, 0, axis), graph_size(1), "the axis must not be empty");
  return reduced(s, &axis, 1, out);
}

// Operands, then as many scalars to start from.
static bool starts_fit(graph_sizer_t* s) {
  uint32_t count = s->op->result_count;
  if (!count || s->op->operand_count != 2 * count) {
    return shape_error(s, "takes an operand and a start value for each result");
  }
  if (!shape_operands(s, 2 * count, 2 * count)) return false;
  for (uint32_t k = 0; k < count; ++k) {
    if (shape_type(s, count + k)->rank) return shape_error(s, "takes scalars to start from");
    if (shape_type(s, k)->rank != shape_type(s, 0)->rank) return shape_error(s, "has operands of different ranks");
    for (int32_t i = 0; i < shape_type(s, k)->rank; ++i) {
      shape_agree(s, shape_dim(s, k, i), shape_dim(s, 0, i), "the operands must be of one shape");
    }
  }
  return true;
}

bool shape_reduce_generic(graph_sizer_t* s, graph_shape_t* out) {
  int64_t dims[GRAPH_MAX_RANK];
  return starts_fit(s) && shape_region(s) && reduced(s, dims, graph_get_dims(s->op, dims), out);
}

bool shape_sort_generic(graph_sizer_t* s, graph_shape_t* out) { return shape_region(s) && shape_sort(s, out); }

bool shape_top_k(graph_sizer_t* s, graph_shape_t* out) {
  int64_t axis = graph_get_axis(s->op), k = graph_get_k(s->op);
  if (!shape_of_operand(s, 0, out)) return false;
  shape_require(s, SCALAR_ge, out->dims[axis], graph_size(k), "there must be as many elements as are asked for");
  out->dims[axis] = graph_size(k);
  return true;
}

bool shape_places(graph_sizer_t* s, graph_shape_t* out) {
  int64_t block = graph_get_block(s->op);
  if (!shape_given(s, 2, out)) return false;
  if (out->rank != 1 || shape_type(s, 0)->rank != 1 || shape_type(s, 1)->rank != 1) {
    return shape_error(s, "takes vectors and gives one");
  }
  graph_size_t blocks = shape_add(s, shape_dim(s, 0, 0), block - 1);
  blocks = shape_binary(s, SCALAR_div, blocks, graph_size(block));
  shape_agree(s, shape_dim(s, 1, 0), blocks, "there must be a start for each block");
  return true;
}

bool shape_suppress(graph_sizer_t* s, graph_shape_t* out) {
  enum { SCALARS = 6 };
  if (!shape_operands(s, SCALARS + 2, SCALARS + 2) || !shape_of_operand(s, 0, out)) return false;
  for (uint32_t i = 0; i < SCALARS + 2; ++i) {
    int32_t rank = i < SCALARS ? out->rank : 0;
    if (!out->rank || shape_type(s, i)->rank != rank) {
      return shape_error(s, "takes operands of the scores' shape, of at least one dimension, and two scalars");
    }
    for (int32_t d = 0; d < rank; ++d) {
      out->dims[d] = shape_agree(s, out->dims[d], shape_dim(s, i, d), "the operands must be of one shape");
    }
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Contractions and windows
//===----------------------------------------------------------------------------------------------------------------===

bool shape_contract(graph_sizer_t* s, graph_shape_t* out) {
  int64_t batch[2][GRAPH_MAX_RANK], contract[2][GRAPH_MAX_RANK];
  uint32_t batches = graph_get_lhs_batch(s->op, batch[0]), contracts = graph_get_lhs_contract(s->op, contract[0]);
  if (graph_get_rhs_batch(s->op, batch[1]) != batches || graph_get_rhs_contract(s->op, contract[1]) != contracts) {
    return shape_error(s, "has lists of different lengths for its operands");
  }
  for (uint32_t side = 0; side < 2; ++side) {
    for (uint32_t i = 0; i < batches; ++i) {
      if (shape_contains(contract[side], contracts, batch[side][i])) {
        return shape_error(s, "names dimension %lld of operand #%u twice", (long long)batch[side][i], side);
      }
    }
  }
  int32_t free_dims = shape_type(s, 0)->rank + shape_type(s, 1)->rank - 2 * (int32_t)(batches + contracts);
  if ((int32_t)batches + free_dims > GRAPH_MAX_RANK) return shape_error(s, "has a rank above %d", GRAPH_MAX_RANK);
  const char* rule = "both operands must agree in what is multiplied";
  out->rank = 0;
  for (uint32_t i = 0; i < batches; ++i) {
    out->dims[out->rank++] = shape_agree(s, shape_dim(s, 0, batch[0][i]), shape_dim(s, 1, batch[1][i]), rule);
  }
  for (uint32_t i = 0; i < contracts; ++i) {
    shape_agree(s, shape_dim(s, 0, contract[0][i]), shape_dim(s, 1, contract[1][i]), rule);
  }
  for (uint32_t side = 0; side < 2; ++side) {
    for (int32_t d = 0; d < shape_type(s, side)->rank; ++d) {
      bool taken = shape_contains(batch[side], batches, d) || shape_contains(contract[side], contracts, d);
      if (!taken) out->dims[out->rank++] = shape_dim(s, side, d);
    }
  }
  return true;
}

// (x - 1) * base_dilation + 1 + pads - ((window - 1) * dilation + 1), over the stride, plus 1; none when it does not
// fit. Nothing, spread, is still nothing; a window of nothing has no extent.
static graph_size_t swept(graph_sizer_t* s, graph_size_t x, graph_size_t window, const shape_sweep_t* w) {
  graph_size_t base = shape_add(s, shape_mul(s, shape_add(s, x, -1), w->base_dilation), 1);
  if (w->base_dilation > 1) base = shape_not_negative(s, base);
  base = shape_add(s, shape_add(s, base, w->low), w->high);
  graph_size_t extent = shape_add(s, shape_mul(s, shape_add(s, window, -1), w->dilation), 1);
  if (w->dilation > 1) extent = shape_not_negative(s, extent);
  graph_size_t room = shape_add(s, shape_binary(s, SCALAR_sub, base, extent), w->stride);
  return shape_binary(s, SCALAR_div, shape_not_negative(s, room), graph_size(w->stride));
}

int64_t shape_swept(int64_t x, int64_t window, const shape_sweep_t* w) {
  graph_sizer_t s = {.failed = true};  // and so without a diagnostic
  return swept(&s, graph_size(x), graph_size(window), w).number;
}

static bool divides(graph_sizer_t* s, graph_size_t x, int64_t groups, const char* what) {
  if (x.value || x.number == IR_DYNAMIC || x.number % groups == 0) return true;
  return shape_error(s, "has %lld %s, which %lld groups do not divide", (long long)x.number, what, (long long)groups);
}

bool shape_conv(graph_sizer_t* s, graph_shape_t* out) {
  if (!shape_operands(s, 2, 2)) return false;
  graph_conv_t c = graph_conv_read(s->op);
  if (shape_type(s, 1)->rank != shape_type(s, 0)->rank) return shape_error(s, "has operands of different ranks");
  if (shape_type(s, 0)->rank < 3) return shape_error(s, "needs a spatial dimension, of size 1 where there is none");
  graph_size_t batch = shape_dim(s, 0, graph_layout_axis(c.x_layout, 'n')),
               channels = shape_dim(s, 1, graph_layout_axis(c.w_layout, 'o'));
  if (s->symbols && c.batch_groups > 1 && (batch.value || channels.value)) {
    return false;  // batch groups of a size known at run time have no kernels
  }
  if (!divides(s, batch, c.batch_groups, "images") || !divides(s, channels, c.groups, "output channels") ||
      !divides(s, channels, c.batch_groups, "output channels")) {
    return false;
  }
  out->rank = shape_type(s, 0)->rank;
  out->dims[graph_layout_axis(c.y_layout, 'n')] = shape_binary(s, SCALAR_div, batch, graph_size(c.batch_groups));
  out->dims[graph_layout_axis(c.y_layout, 'c')] = channels;
  shape_agree(s, shape_dim(s, 0, graph_layout_axis(c.x_layout, 'c')),
              shape_mul(s, shape_dim(s, 1, graph_layout_axis(c.w_layout, 'i')), c.groups),
              "the channels must be the weights'");
  for (int32_t i = 0; i < out->rank - 2; ++i) {
    char digit = (char)('0' + i);
    shape_sweep_t sweep = {c.x_dilation[i], c.pad_low[i], c.pad_high[i], c.w_dilation[i], c.strides[i]};
    out->dims[graph_layout_axis(c.y_layout, digit)] =
        swept(s, shape_dim(s, 0, graph_layout_axis(c.x_layout, digit)),
              shape_dim(s, 1, graph_layout_axis(c.w_layout, digit)), &sweep);
  }
  return true;
}

bool shape_window(graph_sizer_t* s, graph_shape_t* out) {
  graph_window_t w = graph_window_read(s->op);
  if (!shape_of_operand(s, 0, out)) return false;
  for (int32_t i = 0; i < out->rank; ++i) {
    shape_sweep_t sweep = {w.base_dilations[i], w.pad_low[i], w.pad_high[i], w.dilations[i], w.strides[i]};
    out->dims[i] = swept(s, out->dims[i], graph_size(w.sizes[i]), &sweep);
  }
  return true;
}

bool shape_window_generic(graph_sizer_t* s, graph_shape_t* out) {
  return starts_fit(s) && shape_region(s) && shape_window(s, out);
}

//===----------------------------------------------------------------------------------------------------------------===
// Linear algebra
//===----------------------------------------------------------------------------------------------------------------===

bool shape_fft(graph_sizer_t* s, graph_shape_t* out) {
  if (!shape_operands(s, 2, 2) || !shape_all_alike(s, out)) return false;
  return graph_get_rank(s->op) <= out->rank || shape_error(s, "transforms more dimensions than there are");
}

static bool is_square(graph_sizer_t* s, uint32_t operand) {
  int32_t rank = shape_type(s, operand)->rank;
  if (!ir_type_is_tensor(shape_type(s, operand)) || rank < 2) return shape_error(s, "takes matrices");
  shape_agree(s, shape_dim(s, operand, rank - 2), shape_dim(s, operand, rank - 1), "the matrices must be square");
  return !s->failed;
}

bool shape_cholesky(graph_sizer_t* s, graph_shape_t* out) { return is_square(s, 0) && shape_of_operand(s, 0, out); }

bool shape_triangular_solve(graph_sizer_t* s, graph_shape_t* out) {
  if (!is_square(s, 0) || !shape_of_operand(s, 1, out)) return false;
  if (out->rank != shape_type(s, 0)->rank) return shape_error(s, "has operands of different ranks");
  for (int32_t i = 0; i < out->rank - 2; ++i) {
    shape_agree(s, shape_dim(s, 0, i), out->dims[i], "there must be as many right sides as matrices");
  }
  int32_t solved = out->rank - (graph_get_left(s->op) ? 2 : 1);
  shape_agree(s, shape_dim(s, 0, out->rank - 1), out->dims[solved], "the right side must fit the matrix");
  return true;
}

bool shape_attention(graph_sizer_t* s, graph_shape_t* out) {
  if (!s->op->result_count || s->op->result_count > 2) return shape_error(s, "gives rows, and perhaps logarithms");
  if (s->op->operand_count < 3 || s->op->operand_count > 4) return shape_error(s, "takes q, k, v and perhaps a mask");
  if (!shape_operands(s, 3, UINT32_MAX) || !shape_of_operand(s, 0, out)) return false;
  int32_t rank = out->rank;
  if (rank < 2 || shape_type(s, 1)->rank != rank || shape_type(s, 2)->rank != rank) {
    return shape_error(s, "takes q, k and v of one rank, at least 2");
  }
  for (int32_t i = 0; i < rank - 2; ++i) {
    shape_agree(s, shape_dim(s, 1, i), out->dims[i], "the batches must agree");
    shape_agree(s, shape_dim(s, 2, i), out->dims[i], "the batches must agree");
  }
  shape_agree(s, shape_dim(s, 1, rank - 1), out->dims[rank - 1], "q and k must agree in their columns");
  shape_agree(s, shape_dim(s, 2, rank - 2), shape_dim(s, 1, rank - 2), "k and v must agree in their rows");
  enum { MOST_SPLITS = 1 << 16 };
  int64_t splits = graph_get_splits(s->op);
  if (splits > MOST_SPLITS) return shape_error(s, "has more than 65,536 splits");
  if (splits && rank == GRAPH_MAX_RANK) return shape_error(s, "has too many dimensions to split its keys");
  if (splits) out->dims[rank - 2] = graph_size(splits), out->dims[rank - 1] = shape_dim(s, 0, rank - 2);
  out->rank = rank + (splits != 0) - (s->result == 1);
  if (s->result == 0) out->dims[out->rank - 1] = shape_dim(s, 2, rank - 1);
  if (s->op->operand_count == 3) return true;
  if (!shape_operands(s, 4, 4)) return false;
  int32_t fewer = rank - shape_type(s, 3)->rank;
  if (fewer < 0 || fewer > rank - 2) {
    return shape_error(s, "takes a mask of at least 2 dimensions, and no more than q has");
  }
  for (int32_t i = fewer; i < rank; ++i) {
    graph_size_t size = i < rank - 1 ? shape_dim(s, 0, i) : shape_dim(s, 1, rank - 2);
    shape_agree(s, shape_dim(s, 3, i - fewer), size, "the mask must have the last sizes of the scores");
  }
  return true;
}
