// Reference evaluation of gather and scatter, with StableHLO's dimension numbers.
#include <string.h>

#include "dialects/evaluate_impl.h"

typedef struct lists_t {
  int64_t window[GRAPH_MAX_RANK], collapsed[GRAPH_MAX_RANK], batch[GRAPH_MAX_RANK], indices_batch[GRAPH_MAX_RANK];
  int64_t map[GRAPH_MAX_RANK];
  int32_t window_count, collapsed_count, batch_count, indices_batch_count, map_count;
  int64_t vector_dim;
  bool wrap;
} lists_t;

static bool read_lists(eval_op_t* o, const tensor_t* indices, bool scatter, lists_t* l) {
  l->window_count = eval_list(o, scatter ? GRAPH_ATTR_update_window_dims : GRAPH_ATTR_offset_dims, l->window);
  l->collapsed_count = eval_list(o, scatter ? GRAPH_ATTR_inserted_dims : GRAPH_ATTR_collapsed_dims, l->collapsed);
  l->batch_count = (int32_t)graph_get_operand_batch_dims(o->op, l->batch);
  l->indices_batch_count = (int32_t)graph_get_indices_batch_dims(o->op, l->indices_batch);
  l->map_count = eval_list(o, scatter ? GRAPH_ATTR_scatter_dims_map : GRAPH_ATTR_start_index_map, l->map);
  l->vector_dim = graph_get_index_vector_dim(o->op);
  l->wrap = graph_get_wrap(o->op);
  if (l->window_count < 0 || l->collapsed_count < 0 || l->batch_count < 0 || l->map_count < 0 ||
      l->indices_batch_count != l->batch_count) {
    return eval_error(o, "the dimension lists are invalid");
  }
  if (l->vector_dim < 0 || l->vector_dim > indices->rank) return eval_error(o, "index_vector_dim is out of range");
  int64_t depth = l->vector_dim < indices->rank ? indices->dims[l->vector_dim] : 1;
  return depth == l->map_count || eval_error(o, "index vectors have %lld entries", (long long)depth);
}

static bool has(const int64_t* list, int32_t count, int64_t value) {
  for (int32_t i = 0; i < count; ++i) {
    if (list[i] == value) return true;
  }
  return false;
}

// Splits a result (or update) index: `batch` gets the dims outside of the window, `window` the operand offset.
static void split_index(const lists_t* l, const tensor_t* x, int32_t rank, const int64_t* index, int64_t* batch,
                        int64_t* window) {
  int32_t b = 0, w = 0;
  int64_t offsets[2 * GRAPH_MAX_RANK];
  for (int32_t i = 0; i < rank; ++i) {
    if (has(l->window, l->window_count, i))
      offsets[w++] = index[i];
    else
      batch[b++] = index[i];
  }
  w = 0;
  for (int32_t d = 0; d < x->rank; ++d) {
    bool absent = has(l->collapsed, l->collapsed_count, d) || has(l->batch, l->batch_count, d);
    window[d] = absent ? 0 : offsets[w++];
  }
}

// The start that the index vector at `batch` gives for each operand dim (0 for those it does not name).
static void read_start(const lists_t* l, const tensor_t* x, const tensor_t* indices, const int64_t* batch,
                       int64_t* start) {
  int64_t strides[2 * GRAPH_MAX_RANK], base = 0, at[2 * GRAPH_MAX_RANK];
  tensor_strides(indices, strides);
  for (int32_t i = 0, k = 0; i < indices->rank; ++i) {
    at[i] = i == l->vector_dim ? 0 : batch[k++];
    base += at[i] * strides[i];
  }
  int64_t step = l->vector_dim < indices->rank ? strides[l->vector_dim] : 0;
  for (int32_t d = 0; d < x->rank; ++d) start[d] = 0;
  for (int32_t k = 0; k < l->map_count; ++k) {
    int64_t value = tensor_integer(indices, base + k * step), d = l->map[k];
    start[d] = l->wrap && value < 0 ? value + x->dims[d] : value;
  }
  for (int32_t k = 0; k < l->batch_count; ++k) start[l->batch[k]] = at[l->indices_batch[k]];
}

static bool lists_fit(eval_op_t* o, const lists_t* l, const tensor_t* x, int32_t result_rank, const tensor_t* indices) {
  int32_t batch = indices->rank - (l->vector_dim < indices->rank);
  bool fits =
      l->window_count + l->collapsed_count + l->batch_count == x->rank && l->window_count + batch == result_rank;
  for (int32_t k = 0; fits && k < l->map_count; ++k) fits = l->map[k] >= 0 && l->map[k] < x->rank;
  for (int32_t k = 0; fits && k < l->batch_count; ++k) {
    fits = l->batch[k] >= 0 && l->batch[k] < x->rank && l->indices_batch[k] >= 0 && l->indices_batch[k] < indices->rank;
  }
  return fits || eval_error(o, "the dimension lists do not fit the operands");
}

static bool gather_shape(eval_op_t* o, const lists_t* l, const int64_t* sizes, int64_t* dims, int32_t* rank) {
  const tensor_t *x = &o->in[0], *indices = &o->in[1];
  int32_t batch = 0, window = 0;
  bool empty = false;  // nothing is read
  int64_t batch_dims[2 * GRAPH_MAX_RANK], window_dims[2 * GRAPH_MAX_RANK];
  for (int32_t i = 0; i < indices->rank; ++i) {
    if (i != l->vector_dim) batch_dims[batch++] = indices->dims[i];
  }
  for (int32_t d = 0; d < x->rank; ++d) {
    bool absent = has(l->collapsed, l->collapsed_count, d) || has(l->batch, l->batch_count, d);
    if (absent && sizes[d] > 1) return eval_error(o, "slice size %d is too large", d);
    if (!absent) window_dims[window++] = sizes[d];
  }
  *rank = batch + window;
  if (window != l->window_count || *rank > 2 * GRAPH_MAX_RANK) return eval_error(o, "the dimension lists do not fit");
  for (int32_t i = 0, b = 0, w = 0; i < *rank; ++i) {
    bool in_window = has(l->window, l->window_count, i);
    if (in_window ? w >= window : b >= batch) return eval_error(o, "offset_dims is out of range");
    dims[i] = in_window ? window_dims[w++] : batch_dims[b++];
    if (dims[i] == 0) empty = true;
  }
  for (int32_t d = 0; !empty && d < x->rank; ++d) {
    if (sizes[d] > x->dims[d]) return eval_error(o, "slice size %d is too large", d);
  }
  return true;
}

bool eval_gather(eval_op_t* o) {
  const tensor_t *x = &o->in[0], *indices = &o->in[1];
  lists_t l;
  int64_t sizes[GRAPH_MAX_RANK], dims[2 * GRAPH_MAX_RANK], strides[2 * GRAPH_MAX_RANK], index[2 * GRAPH_MAX_RANK] = {0};
  int32_t rank = 0;
  if (!read_lists(o, indices, false, &l) || !eval_ints(o, GRAPH_ATTR_slice_sizes, sizes, (uint32_t)x->rank))
    return false;
  for (int32_t d = 0; d < x->rank; ++d) {
    if (sizes[d] == IR_DYNAMIC) sizes[d] = x->dims[d];
  }
  if (!gather_shape(o, &l, sizes, dims, &rank) || !lists_fit(o, &l, x, rank, indices)) return false;
  if (!tensor_make(o, &o->out[0], x->element, rank, dims)) return false;
  tensor_strides(x, strides);
  for (int64_t i = 0; i < o->out[0].count; ++i) {
    int64_t batch[2 * GRAPH_MAX_RANK], window[2 * GRAPH_MAX_RANK], start[2 * GRAPH_MAX_RANK], at = 0;
    split_index(&l, x, rank, index, batch, window);
    read_start(&l, x, indices, batch, start);
    for (int32_t d = 0; d < x->rank; ++d) {
      int64_t most = x->dims[d] - sizes[d], s = start[d] < 0 ? 0 : start[d] > most ? most : start[d];
      at += (s + window[d]) * strides[d];
    }
    memcpy(tensor_at(&o->out[0], i), tensor_at(x, at), x->bytes);
    index_next(rank, dims, index);
  }
  return true;
}

// For every update element calls `apply` with the operand element that it goes to.
static bool scatter_each(eval_op_t* o, const tensor_t* x, const tensor_t* indices, const tensor_t* updates,
                         bool (*apply)(eval_op_t*, int64_t to, int64_t from)) {
  lists_t l;
  int64_t strides[2 * GRAPH_MAX_RANK], index[2 * GRAPH_MAX_RANK] = {0};
  if (!read_lists(o, indices, true, &l) || !lists_fit(o, &l, x, updates->rank, indices)) return false;
  tensor_strides(x, strides);
  for (int64_t i = 0; i < updates->count; ++i) {
    int64_t batch[2 * GRAPH_MAX_RANK], window[2 * GRAPH_MAX_RANK], start[2 * GRAPH_MAX_RANK], at = 0;
    bool inside = true;
    split_index(&l, x, updates->rank, index, batch, window);
    read_start(&l, x, indices, batch, start);
    for (int32_t d = 0; d < x->rank; ++d) {
      int64_t c = start[d] + window[d];
      inside &= c >= 0 && c < x->dims[d];
      at += c * strides[d];
    }
    if (inside && !apply(o, at, i)) return false;
    index_next(updates->rank, updates->dims, index);
  }
  return true;
}

static bool copy_operands(eval_op_t* o, uint32_t count) {
  for (uint32_t k = 0; k < count; ++k) {
    const tensor_t* x = &o->in[k];
    if (!tensor_make(o, &o->out[k], x->element, x->rank, x->dims)) return false;
    memcpy(o->out[k].data, x->data, (size_t)x->count * x->bytes);
  }
  return true;
}

static bool apply_set(eval_op_t* o, int64_t to, int64_t from) {
  memcpy(tensor_at(&o->out[0], to), tensor_at(&o->in[2], from), o->out[0].bytes);
  return true;
}

static bool apply_kind(eval_op_t* o, int64_t to, int64_t from) {
  scalar_fn_t fn;
  const ir_type_t* element = o->in[0].element;
  if (!eval_kind(o, &fn)) return false;
  scalar_value_t sum = eval_combine(fn, element, tensor_load(&o->out[0], to), tensor_load(&o->in[2], from));
  tensor_store(&o->out[0], to, sum);
  return true;
}

bool eval_scatter(eval_op_t* o) {
  bool set = strcmp(graph_get_kind(o->op), "set") == 0;
  if (o->in[0].bytes != o->in[2].bytes) return eval_error(o, "the updates differ in element type");
  return copy_operands(o, 1) && scatter_each(o, &o->in[0], &o->in[1], &o->in[2], set ? apply_set : apply_kind);
}

static tensor_t scalar_of(const tensor_t* t, int64_t i) {
  return (tensor_t){.element = t->element, .count = 1, .bytes = t->bytes, .data = tensor_at(t, i)};
}

static bool apply_body(eval_op_t* o, int64_t to, int64_t from) {
  uint32_t count = o->op->result_count;
  tensor_t* args = ARENA_ARRAY(o->e->arena, tensor_t, 3 * count);
  ir_block_t* block = o->op->region_count ? o->op->regions[0].first : NULL;
  for (uint32_t k = 0; k < count; ++k) {
    args[k] = scalar_of(&o->out[k], to);
    args[count + k] = scalar_of(&o->in[count + 1 + k], from);
  }
  if (!block || !block->last) return eval_error(o, "it has no body");
  if (!eval_block(o->e, block, (tensors_t){args, 2 * count}, (tensors_t){args + 2 * count, count})) return false;
  for (uint32_t k = 0; k < count; ++k) memcpy(tensor_at(&o->out[k], to), args[2 * count + k].data, o->out[k].bytes);
  return true;
}

bool eval_scatter_generic(eval_op_t* o) {
  uint32_t count = o->op->result_count;
  if (!count || o->op->operand_count != 2 * count + 1) return eval_error(o, "operands and results do not fit");
  return copy_operands(o, count) && scatter_each(o, &o->in[0], &o->in[count], &o->in[count + 1], apply_body);
}
