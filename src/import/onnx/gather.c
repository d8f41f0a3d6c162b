// Gathers and scatters.
#include <stdlib.h>
#include <string.h>

#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

//===----------------------------------------------------------------------------------------------------------------===
// graph.gather and graph.scatter
//===----------------------------------------------------------------------------------------------------------------===

// Dimension numbers as graph.gather has them; scatter reads `offset` as the update's window dims.
typedef struct numbers_t {
  int64_t offset[ONNX_MAX_RANK], collapsed[ONNX_MAX_RANK], batch[ONNX_MAX_RANK], map[ONNX_MAX_RANK];
  uint32_t offset_count, collapsed_count, batch_count, map_count;
  int64_t vector_dim;
} numbers_t;

static ir_value_t* build_gather(onnx_node_t* n, ir_value_t* x, ir_value_t* indices, const numbers_t* d,
                                const int64_t* slice_sizes, int32_t rank, const int64_t* dims) {
  ir_context_t* ctx = n->ctx;
  ir_named_attr_t attrs[] = {{"offset_dims", ir_attr_i64_array(ctx, d->offset, d->offset_count)},
                             {"collapsed_dims", ir_attr_i64_array(ctx, d->collapsed, d->collapsed_count)},
                             {"operand_batch_dims", ir_attr_i64_array(ctx, d->batch, d->batch_count)},
                             {"indices_batch_dims", ir_attr_i64_array(ctx, d->batch, d->batch_count)},
                             {"start_index_map", ir_attr_i64_array(ctx, d->map, d->map_count)},
                             {"index_vector_dim", ir_attr_i64(ctx, d->vector_dim)},
                             {"slice_sizes", ir_attr_i64_array(ctx, slice_sizes, (uint32_t)x->type->rank)},
                             {"wrap", ir_attr_unit(ctx)}};
  const ir_type_t* type = ir_type_tensor(ctx, x->type->element, rank, dims);
  return graph_build(n->b, GRAPH_GATHER, (ir_value_t*[]){x, indices}, 2, type, attrs, 8);
}

static ir_value_t* build_scatter(onnx_node_t* n, ir_value_t* x, ir_value_t* indices, ir_value_t* updates,
                                 const numbers_t* d, const char* kind) {
  ir_context_t* ctx = n->ctx;
  ir_named_attr_t attrs[] = {{"update_window_dims", ir_attr_i64_array(ctx, d->offset, d->offset_count)},
                             {"inserted_dims", ir_attr_i64_array(ctx, d->collapsed, d->collapsed_count)},
                             {"operand_batch_dims", ir_attr_i64_array(ctx, d->batch, d->batch_count)},
                             {"indices_batch_dims", ir_attr_i64_array(ctx, d->batch, d->batch_count)},
                             {"scatter_dims_map", ir_attr_i64_array(ctx, d->map, d->map_count)},
                             {"index_vector_dim", ir_attr_i64(ctx, d->vector_dim)},
                             {"kind", ir_attr_cstring(ctx, kind)},
                             {"wrap", ir_attr_unit(ctx)}};
  return graph_build(n->b, GRAPH_SCATTER, (ir_value_t*[]){x, indices, updates}, 3, x->type, attrs, 8);
}

static bool check_indices(onnx_node_t* n, uint32_t i) {
  return onnx_is_int(n->in[i]) || onnx_error(n, "indices must be integers");
}

//===----------------------------------------------------------------------------------------------------------------===
// Gathers
//===----------------------------------------------------------------------------------------------------------------===

bool onnx_lower_gather(onnx_node_t* n) {
  ir_value_t *x = n->in[0].v, *indices = n->in[1].v;
  int64_t axis = onnx_int(n, "axis", 0);
  if (!check_indices(n, 1) || !onnx_check_axis(n, &axis, x->type->rank)) return false;
  if (x->type->rank + indices->type->rank - 1 > ONNX_MAX_RANK) return onnx_error(n, "the result's rank is too high");
  if (x->type->dims[axis] == 0 && ir_type_count(indices->type) != 0) return onnx_error(n, "nothing to gather from");
  return onnx_return(n, graph_take(n->b, x, indices, axis, true), n->in[0].element);
}

// Result element i0.. is x's element with coordinate `axis` from indices: their other dims go together. NULL after a
// diagnostic.
ir_value_t* onnx_gather_elements(onnx_node_t* n, ir_value_t* x, ir_value_t* indices, int64_t axis) {
  int32_t rank = x->type->rank;
  int64_t ones[ONNX_MAX_RANK];
  onnx_range_t ranges[ONNX_MAX_RANK];
  numbers_t d = {.collapsed = {axis}, .collapsed_count = 1, .map = {axis}, .map_count = 1, .vector_dim = rank};
  if (indices->type->rank != rank) return onnx_error(n, "indices and input must have the same rank"), NULL;
  for (int32_t i = 0; i < rank; ++i) {
    int64_t size = x->type->dims[i], wanted = indices->type->dims[i];
    if (i != axis && size != IR_DYNAMIC && wanted != IR_DYNAMIC && wanted > size) {
      return onnx_error(n, "indices are larger than the input in dimension %d", i), NULL;
    }
    if (i != axis) d.batch[d.batch_count++] = i;
    onnx_dim_t kept = onnx_dim(n, i == axis ? x : indices, i);  // the indices may be shorter
    ranges[i] = (onnx_range_t){onnx_dim_of(0), kept, onnx_dim_of(1)};
    ones[i] = 1;
  }
  if (x->type->dims[axis] == 0 && ir_type_count(indices->type) != 0)
    return onnx_error(n, "nothing to gather from"), NULL;
  return build_gather(n, onnx_take_ranges(n, x, ranges), indices, &d, ones, rank, indices->type->dims);
}

bool onnx_lower_gather_elements(onnx_node_t* n) {
  int64_t axis = onnx_int(n, "axis", 0);
  if (!check_indices(n, 1) || !onnx_check_axis(n, &axis, onnx_rank(n->in[0]))) return false;
  return onnx_return(n, onnx_gather_elements(n, n->in[0].v, n->in[1].v, axis), n->in[0].element);
}

// How many coordinates each entry of the indices has: their last size, or what ranks say.
static bool read_depth(onnx_node_t* n, int64_t by_ranks, ir_value_t** indices, int64_t* depth) {
  int32_t last = (*indices)->type->rank - 1;
  *depth = (*indices)->type->dims[last];
  if (*depth != IR_DYNAMIC) return true;
  if (by_ranks < 1 || by_ranks > onnx_rank(n->in[0])) {
    return onnx_unsupported(n,
                            "the indices' last size is that of a place: give it in the model, or declare the rank of "
                            "the result");
  }
  *depth = by_ranks;
  return (*indices = onnx_sized(n, *indices, last, by_ranks)) != NULL;
}

// The last dim of indices holds coordinates of the dims behind the batch dims.
bool onnx_lower_gather_nd(onnx_node_t* n) {
  ir_value_t *x = n->in[0].v, *indices = n->in[1].v;
  int64_t batch = onnx_int(n, "batch_dims", 0), dims[2 * ONNX_MAX_RANK], sizes[ONNX_MAX_RANK], depth, by_ranks = -1;
  if (!check_indices(n, 1) || !onnx_check_rank(n, 0, 1, ONNX_MAX_RANK) || !onnx_check_rank(n, 1, 1, ONNX_MAX_RANK))
    return false;
  if (onnx_result_rank(n, 0) >= 0) {
    by_ranks = (int64_t)x->type->rank + indices->type->rank - 1 - batch - onnx_result_rank(n, 0);
  }
  if (!read_depth(n, by_ranks, &indices, &depth)) return false;
  const ir_type_t *xt = x->type, *it = indices->type;
  if (batch < 0 || batch >= it->rank || depth < 1 || batch + depth > xt->rank) {
    return onnx_error(n, "batch_dims and the size of the indices' last dimension do not fit");
  }
  numbers_t d = {.vector_dim = it->rank - 1};
  int32_t rank = it->rank - 1;
  for (int32_t i = 0; i < rank; ++i) dims[i] = it->dims[i];
  for (int32_t i = 0; i < xt->rank; ++i) {
    sizes[i] = i < batch + depth ? 1 : xt->dims[i];
    if (i < batch) {
      d.batch[d.batch_count++] = i;
      if (xt->dims[i] != it->dims[i] && xt->dims[i] != IR_DYNAMIC && it->dims[i] != IR_DYNAMIC) {
        return onnx_error(n, "batch dimension %d differs in size", i);
      }
    } else if (i < batch + depth) {
      d.collapsed[d.collapsed_count++] = d.map[d.map_count++] = i;
      if (xt->dims[i] == 0 && ir_type_count(it) != 0) return onnx_error(n, "nothing to gather from");
    } else {
      d.offset[d.offset_count++] = rank;
      dims[rank++] = xt->dims[i];
    }
  }
  if (rank > ONNX_MAX_RANK) return onnx_error(n, "the result's rank is too high");
  return onnx_return(n, build_gather(n, x, indices, &d, sizes, rank, dims), n->in[0].element);
}

//===----------------------------------------------------------------------------------------------------------------===
// Scatters
//===----------------------------------------------------------------------------------------------------------------===

// The scatter kind of attribute `reduction`, or NULL after a diagnostic.
static const char* scatter_kind(onnx_node_t* n) {
  static const char* const names[][3] = {{"none", "set", "set"},
                                         {"add", "add", "add"},
                                         {"mul", "mul", "mul"},
                                         {"max", "max", "maxu"},
                                         {"min", "min", "minu"}};
  const char* reduction = onnx_string(n, "reduction", "none");
  for (int i = 0; i < 5; ++i) {
    if (strcmp(reduction, names[i][0]) == 0) return names[i][1 + onnx_is_unsigned(n->in[0])];
  }
  onnx_error(n, "reduction '%s' is unknown", reduction);
  return NULL;
}

// Indices of one axis as full coordinates: [dims...] -> [dims..., rank].
static ir_value_t* full_coordinates(onnx_node_t* n, ir_value_t* indices, int64_t axis) {
  int32_t rank = indices->type->rank;
  ir_value_t* parts[ONNX_MAX_RANK];
  onnx_dim_t dims[ONNX_MAX_RANK];
  for (int32_t i = 0; i < rank; ++i) dims[i] = onnx_dim(n, indices, i);
  dims[rank] = onnx_dim_of(1);
  for (int32_t i = 0; i < rank; ++i) {
    parts[i] = onnx_reshape(n, i == axis ? indices : onnx_iota_like(n, indices, i), rank + 1, dims);
  }
  return graph_concat(n->b, parts, (uint32_t)rank, rank);
}

bool onnx_lower_scatter_elements(onnx_node_t* n) {
  ir_value_t *x = n->in[0].v, *indices = n->in[1].v, *updates = n->in[2].v;
  int64_t axis = onnx_int(n, "axis", 0);
  int32_t rank = x->type->rank;
  const char* kind = scatter_kind(n);
  bool same = indices->type->rank == rank && updates->type->rank == rank;
  if (!kind || !check_indices(n, 1) || !onnx_check_axis(n, &axis, rank) || !onnx_check_same_element(n, 0, 2))
    return false;
  if (!same || rank >= ONNX_MAX_RANK) return onnx_error(n, "input, indices and updates must have the same rank");
  numbers_t d = {.collapsed = {axis}, .collapsed_count = 1, .map = {axis}, .map_count = 1, .vector_dim = rank};
  for (int32_t i = 0; i < rank; ++i) {
    int64_t size = x->type->dims[i], given = indices->type->dims[i], update = updates->type->dims[i];
    if (given != update && given != IR_DYNAMIC && update != IR_DYNAMIC)
      return onnx_error(n, "indices and updates differ in shape");
    if (i != axis && size != IR_DYNAMIC && given != IR_DYNAMIC && given > size)
      return onnx_error(n, "indices are larger than the input");
    if (i != axis) d.batch[d.batch_count++] = i;
    same &= i == axis || onnx_dim_agrees(onnx_dim(n, x, i), onnx_dim(n, indices, i));
  }
  if (!same) {
    indices = full_coordinates(n, indices, axis);
    d = (numbers_t){.vector_dim = rank};
    for (int32_t i = 0; i < rank; ++i) d.collapsed[d.collapsed_count++] = d.map[d.map_count++] = i;
  }
  return onnx_return(n, build_scatter(n, x, indices, updates, &d, kind), n->in[0].element);
}

bool onnx_lower_scatter_nd(onnx_node_t* n) {
  ir_value_t *x = n->in[0].v, *indices = n->in[1].v, *updates = n->in[2].v;
  const char* kind = scatter_kind(n);
  int64_t depth;
  if (!kind || !check_indices(n, 1) || !onnx_check_same_element(n, 0, 2)) return false;
  if (!onnx_check_rank(n, 0, 1, ONNX_MAX_RANK) || !onnx_check_rank(n, 1, 1, ONNX_MAX_RANK)) return false;
  int64_t by_ranks = (int64_t)x->type->rank + indices->type->rank - 1 - updates->type->rank;
  if (!read_depth(n, by_ranks, &indices, &depth)) return false;
  const ir_type_t *xt = x->type, *it = indices->type, *ut = updates->type;
  if (depth < 1 || depth > xt->rank || ut->rank != it->rank - 1 + xt->rank - depth) {
    return onnx_error(n, "the shapes of indices and updates do not fit the input");
  }
  numbers_t d = {.vector_dim = it->rank - 1};
  for (int32_t i = 0; i < ut->rank; ++i) {
    bool window = i >= it->rank - 1;
    int64_t wanted = window ? xt->dims[i - (it->rank - 1) + depth] : it->dims[i];
    if (ut->dims[i] != wanted && ut->dims[i] != IR_DYNAMIC && wanted != IR_DYNAMIC) {
      return onnx_error(n, "updates have the wrong size in dimension %d", i);
    }
    if (window) d.offset[d.offset_count++] = i;
  }
  for (int64_t i = 0; i < depth; ++i) d.collapsed[d.collapsed_count++] = d.map[d.map_count++] = i;
  return onnx_return(n, build_scatter(n, x, indices, updates, &d, kind), n->in[0].element);
}

//===----------------------------------------------------------------------------------------------------------------===
// Others
//===----------------------------------------------------------------------------------------------------------------===

bool onnx_lower_one_hot(onnx_node_t* n) {
  onnx_value_t indices = n->in[0];
  int32_t rank = onnx_rank(indices) + 1;
  int64_t axis = onnx_int(n, "axis", -1), one = 1, at[ONNX_MAX_RANK];
  onnx_dim_t dims[ONNX_MAX_RANK], depth;
  if (rank > ONNX_MAX_RANK || !onnx_check_axis(n, &axis, rank) || !onnx_number_input(n, 1, &depth)) return false;
  onnx_dim_t fits = onnx_flag_and(n, onnx_dim_test(n, SCALAR_ge, depth, onnx_dim_of(0)),
                                  onnx_dim_test(n, SCALAR_le, depth, onnx_dim_of(1ll << 40)));
  if (!onnx_require(n, fits, "depth is out of range")) return false;
  ir_value_t* pair = onnx_vector_of(n, 2, 2);
  if (!pair) return false;
  if (ir_type_count(pair->type) != 2 || pair->type->rank != 1) return onnx_error(n, "values must be two numbers");
  for (int32_t i = 0, k = 0; i < rank; ++i) {
    dims[i] = i == axis ? depth : onnx_dim(n, indices.v, k);
    if (i != axis) at[k++] = i;
  }
  ir_value_t* wide = onnx_cast(n, indices, onnx_si64(n->ctx)).v;
  ir_value_t* wrapped = graph_binary(n->b, SCALAR_add, wide, onnx_dim_like(n, depth, wide));
  wide = graph_select(n->b, onnx_binary_number(n, SCALAR_lt, wide, 0), wrapped, wide);
  wide = onnx_broadcast_to(n, onnx_spread(n, wide, rank, at), rank, dims);
  ir_value_t* hot = graph_binary(n->b, SCALAR_eq, wide, onnx_iota_like(n, wide, axis));
  ir_value_t* values[2];
  for (int64_t i = 0; i < 2; ++i) {
    ir_value_t* scalar = graph_reshape(n->b, graph_slice(n->b, pair, &i, &one, &one), 0, NULL, NULL);
    values[i] = onnx_broadcast_as(n, scalar, hot, NULL);
  }
  return onnx_return(n, graph_select(n->b, hot, values[1], values[0]), n->in[2].element);
}

// Writes each batch entry's update into a cache along `axis`, from that entry's index on; circular: modulo its size.
bool onnx_lower_tensor_scatter(onnx_node_t* n) {
  ir_value_t *x = n->in[0].v, *update = n->in[1].v;
  int64_t axis = onnx_int(n, "axis", -2), rank = x->type->rank, batch = 0;
  const char* mode = onnx_string(n, "mode", "linear");
  if (strcmp(mode, "linear") != 0 && strcmp(mode, "circular") != 0) return onnx_error(n, "mode '%s' is unknown", mode);
  if (!onnx_check_same_element(n, 0, 1) || !onnx_check_axis(n, &axis, (int32_t)rank)) return false;
  if (update->type->rank != rank || axis == 0) return onnx_error(n, "needs equal ranks and an axis behind the batch");
  numbers_t d = {
      .collapsed = {axis}, .collapsed_count = 1, .batch = {0}, .batch_count = 1, .map = {axis}, .map_count = 1};
  for (int32_t i = 0; i < rank; ++i) {
    onnx_dim_t fits = onnx_dim_test(n, SCALAR_eq, onnx_dim(n, x, i), onnx_dim(n, update, i));
    if (i == axis) fits = onnx_dim_test(n, SCALAR_le, onnx_dim(n, update, i), onnx_dim(n, x, i));
    if (!onnx_require(n, fits, "the update does not fit")) return false;
    if (i && i != axis) d.offset[d.offset_count++] = i;
  }
  const onnx_dim_t dims[] = {onnx_dim(n, x, 0), onnx_dim(n, update, (int32_t)axis), onnx_dim_of(1)};
  d.vector_dim = 2;
  ir_value_t* places = onnx_numbers(n, 3, dims, 1);
  if (onnx_has(n, 2)) {
    if (!onnx_check_rank(n, 2, 1, 1)) return false;
    onnx_dim_t fits = onnx_dim_test(n, SCALAR_eq, onnx_dim(n, n->in[2].v, 0), dims[0]);
    if (!onnx_require(n, fits, "write_indices do not fit")) return false;
    ir_value_t* first = onnx_cast(n, n->in[2], onnx_si64(n->ctx)).v;
    places = graph_binary(n->b, SCALAR_add, places, onnx_broadcast_as(n, first, places, &batch));
  }
  if (mode[0] == 'c') {
    onnx_dim_t size = onnx_dim_max(n, onnx_dim(n, x, (int32_t)axis), onnx_dim_of(1));
    places = graph_binary(n->b, SCALAR_rem, places, onnx_dim_like(n, size, places));
  }
  return onnx_return(n, build_scatter(n, x, places, update, &d, "set"), n->in[0].element);
}

// Along the time axis, the first `length` elements of each batch entry are reversed.
bool onnx_lower_reverse_sequence(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  int64_t batch = onnx_int(n, "batch_axis", 1), time = onnx_int(n, "time_axis", 0);
  if (!onnx_check_axis(n, &batch, x->type->rank) || !onnx_check_axis(n, &time, x->type->rank) || batch == time) {
    return onnx_error(n, "batch_axis and time_axis are invalid");
  }
  onnx_dim_t dims[ONNX_MAX_RANK];
  for (int32_t d = 0; d < x->type->rank; ++d) dims[d] = onnx_dim(n, x, d);
  ir_value_t* steps = onnx_numbers(n, x->type->rank, dims, time);
  ir_value_t* lengths = onnx_along(n, onnx_cast(n, n->in[1], onnx_si64(n->ctx)).v, batch, steps);
  if (!lengths) return false;
  ir_value_t* last = onnx_binary_number(n, SCALAR_sub, lengths, 1);
  ir_value_t* inside = graph_binary(n->b, SCALAR_lt, steps, lengths);
  ir_value_t* places = graph_select(n->b, inside, graph_binary(n->b, SCALAR_sub, last, steps), steps);
  return onnx_return(n, onnx_gather_elements(n, x, places, time), n->in[0].element);
}
