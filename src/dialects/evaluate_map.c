// Reference evaluation of elementwise ops and index maps.
#include <string.h>

#include "dialects/evaluate_impl.h"

//===----------------------------------------------------------------------------------------------------------------===
// Elementwise
//===----------------------------------------------------------------------------------------------------------------===

bool eval_elementwise(eval_op_t* o) {
  scalar_fn_t fn = (scalar_fn_t)graph_scalar_fn(o->op);
  uint32_t arity = o->op->operand_count;
  const tensor_t* like = &o->in[arity - 1];
  const ir_type_t* element = ir_type_scalar(o->op->results[0].type);
  for (uint32_t i = 0; i < arity; ++i) {
    bool same = o->in[i].rank == like->rank;
    for (int32_t d = 0; same && d < like->rank; ++d) same = o->in[i].dims[d] == like->dims[d];
    if (!same) return eval_error(o, "operand shapes differ");
  }
  if (!tensor_make(o, &o->out[0], element, like->rank, like->dims)) return false;
  for (int64_t i = 0; i < like->count; ++i) {
    scalar_value_t in[3] = {0};
    for (uint32_t k = 0; k < arity; ++k) in[k] = tensor_load(&o->in[k], i);
    tensor_store(&o->out[0], i, scalar_eval(fn, in, like->element, element));
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Index maps: result element at `index` is the operand's element at base + dot(index, strides)
//===----------------------------------------------------------------------------------------------------------------===

static void copy_strided(tensor_t* out, const tensor_t* in, int64_t base, const int64_t* strides) {
  int64_t index[2 * GRAPH_MAX_RANK] = {0}, at = 0;
  if (!out->count) return;
  do {
    memcpy(tensor_at(out, at++), tensor_at(in, base + index_dot(out->rank, index, strides)), out->bytes);
  } while (index_next(out->rank, out->dims, index));
}

bool eval_dim(eval_op_t* o) {
  int64_t i = graph_get_index(o->op);
  if (i < 0 || i >= o->in[0].rank) return eval_error(o, "index %lld is out of range", (long long)i);
  if (!tensor_make(o, &o->out[0], ir_type_index(o->e->ctx), 0, NULL)) return false;
  tensor_store(&o->out[0], 0, (scalar_value_t){.i = o->in[0].dims[i]});
  return true;
}

bool eval_empty(eval_op_t* o) { return tensor_result(o, 0, 0, NULL); }

bool eval_reshape(eval_op_t* o) {
  if (!tensor_result(o, 0, 1, o->in[0].element)) return false;
  if (o->out[0].count != o->in[0].count) {
    return eval_error(o, "%lld elements cannot become %lld", (long long)o->in[0].count, (long long)o->out[0].count);
  }
  o->out[0].data = o->in[0].data;
  return true;
}

bool eval_transpose(eval_op_t* o) {
  const tensor_t* x = &o->in[0];
  int64_t perm[GRAPH_MAX_RANK], own[2 * GRAPH_MAX_RANK], strides[GRAPH_MAX_RANK], dims[GRAPH_MAX_RANK];
  if (!eval_ints(o, GRAPH_ATTR_perm, perm, (uint32_t)x->rank)) return false;
  tensor_strides(x, own);
  for (int32_t i = 0; i < x->rank; ++i) {
    if (perm[i] < 0 || perm[i] >= x->rank) return eval_error(o, "perm is out of range");
    dims[i] = x->dims[perm[i]];
    strides[i] = own[perm[i]];
  }
  if (!tensor_make(o, &o->out[0], x->element, x->rank, dims)) return false;
  copy_strided(&o->out[0], x, 0, strides);
  return true;
}

bool eval_broadcast(eval_op_t* o) {
  const tensor_t* x = &o->in[0];
  int64_t dims[GRAPH_MAX_RANK], own[2 * GRAPH_MAX_RANK], strides[2 * GRAPH_MAX_RANK] = {0};
  if (!eval_ints(o, GRAPH_ATTR_dims, dims, (uint32_t)x->rank) || !tensor_result(o, 0, 1, x->element)) return false;
  tensor_strides(x, own);
  for (int32_t i = 0; i < x->rank; ++i) {
    if (dims[i] < 0 || dims[i] >= o->out[0].rank) return eval_error(o, "dims is out of range");
    int64_t size = o->out[0].dims[dims[i]];
    if (x->dims[i] != 1 && x->dims[i] != size) {
      return eval_error(o, "size %lld does not broadcast to %lld", (long long)x->dims[i], (long long)size);
    }
    if (x->dims[i] != 1) strides[dims[i]] = own[i];
  }
  copy_strided(&o->out[0], x, 0, strides);
  return true;
}

bool eval_slice(eval_op_t* o) {
  const tensor_t* x = &o->in[0];
  int64_t offsets[GRAPH_MAX_RANK], steps[GRAPH_MAX_RANK], strides[2 * GRAPH_MAX_RANK];
  uint32_t rank = (uint32_t)x->rank;
  if (!eval_ints(o, GRAPH_ATTR_offsets, offsets, rank) || !eval_ints(o, GRAPH_ATTR_strides, steps, rank)) return false;
  if (!tensor_result(o, 0, 1, x->element)) return false;
  tensor_strides(x, strides);
  int64_t base = index_dot(x->rank, offsets, strides);
  for (int32_t i = 0; i < x->rank; ++i) {
    int64_t size = o->out[0].dims[i];
    if (size && (offsets[i] < 0 || offsets[i] + (size - 1) * steps[i] >= x->dims[i])) {
      return eval_error(o, "dimension %d: %lld elements from %lld by %lld exceed %lld", i, (long long)size,
                        (long long)offsets[i], (long long)steps[i], (long long)x->dims[i]);
    }
    strides[i] *= steps[i];
  }
  copy_strided(&o->out[0], x, base, strides);
  return true;
}

bool eval_reverse(eval_op_t* o) {
  const tensor_t* x = &o->in[0];
  int64_t dims[GRAPH_MAX_RANK], strides[2 * GRAPH_MAX_RANK], base = 0;
  int32_t count = (int32_t)graph_get_dims(o->op, dims);
  if (count < 0 || !tensor_make(o, &o->out[0], x->element, x->rank, x->dims)) return false;
  tensor_strides(x, strides);
  for (int32_t i = 0; i < count; ++i) {
    if (dims[i] < 0 || dims[i] >= x->rank) return eval_error(o, "dims is out of range");
    base += (x->dims[dims[i]] - 1) * strides[dims[i]];
    strides[dims[i]] = -strides[dims[i]];
  }
  copy_strided(&o->out[0], x, base, strides);
  return true;
}

// Operand coordinate of padded coordinate `at`, or -1 where the padding value stands.
static int64_t padded_source(const char* mode, int64_t at, int64_t size, int64_t interior) {
  if (strcmp(mode, "constant") == 0) {
    if (at < 0 || at % (interior + 1)) return -1;
    at /= interior + 1;
    return at < size ? at : -1;
  }
  if (at >= 0 && at < size) return at;
  if (strcmp(mode, "edge") == 0) return at < 0 ? 0 : size - 1;
  if (strcmp(mode, "wrap") == 0) return ((at % size) + size) % size;
  int64_t period = size > 1 ? 2 * (size - 1) : 1;
  at = ((at % period) + period) % period;
  return at < size ? at : period - at;
}

bool eval_pad(eval_op_t* o) {
  const tensor_t* x = &o->in[0];
  int64_t low[GRAPH_MAX_RANK], high[GRAPH_MAX_RANK], interior[GRAPH_MAX_RANK], dims[GRAPH_MAX_RANK];
  int64_t strides[2 * GRAPH_MAX_RANK], index[GRAPH_MAX_RANK] = {0};
  uint32_t rank = (uint32_t)x->rank;
  const char* mode = graph_get_mode(o->op);
  if (!eval_ints(o, GRAPH_ATTR_low, low, rank) || !eval_ints(o, GRAPH_ATTR_high, high, rank)) return false;
  if (!eval_ints(o, GRAPH_ATTR_interior, interior, rank)) return false;
  bool modes = strcmp(mode, "constant") == 0 || strcmp(mode, "edge") == 0 || strcmp(mode, "wrap") == 0 ||
               strcmp(mode, "reflect") == 0;
  if (!modes) return eval_error(o, "mode '%s' is unknown", mode);
  for (uint32_t i = 0; i < rank; ++i) {
    dims[i] = low[i] + x->dims[i] + (x->dims[i] > 0 ? (x->dims[i] - 1) * interior[i] : 0) + high[i];
    if (!x->dims[i] && dims[i] && strcmp(mode, "constant") != 0) return eval_error(o, "there is nothing to repeat");
  }
  if (!tensor_make(o, &o->out[0], x->element, x->rank, dims)) return false;
  tensor_strides(x, strides);
  for (int64_t i = 0; i < o->out[0].count; ++i) {
    const char* from = o->in[1].data;
    int64_t at = 0;
    bool inside = true;
    for (uint32_t d = 0; inside && d < rank; ++d) {
      int64_t source = padded_source(mode, index[d] - low[d], x->dims[d], interior[d]);
      inside = source >= 0;
      at += source * strides[d];
    }
    memcpy(tensor_at(&o->out[0], i), inside ? tensor_at(x, at) : from, x->bytes);
    index_next(x->rank, dims, index);
  }
  return true;
}

bool eval_concat(eval_op_t* o) {
  int64_t axis = graph_get_axis(o->op), dims[2 * GRAPH_MAX_RANK], inner = o->in[0].bytes, outer = 1, at = 0;
  const tensor_t* first = &o->in[0];
  if (!o->op->operand_count || axis < 0 || axis >= first->rank) return eval_error(o, "axis is out of range");
  memcpy(dims, first->dims, sizeof(dims));
  for (uint32_t i = 1; i < o->op->operand_count; ++i) {
    if (o->in[i].rank != first->rank || o->in[i].bytes != first->bytes) return eval_error(o, "operand %u differs", i);
    for (int32_t d = 0; d < first->rank; ++d) {
      if (d != axis && o->in[i].dims[d] != first->dims[d]) return eval_error(o, "operand %u differs in shape", i);
    }
    dims[axis] += o->in[i].dims[axis];
  }
  if (!tensor_make(o, &o->out[0], first->element, first->rank, dims)) return false;
  if (!o->out[0].count) return true;
  for (int32_t d = 0; d < axis; ++d) outer *= dims[d];
  for (int32_t d = (int32_t)axis + 1; d < first->rank; ++d) inner *= dims[d];
  for (uint32_t i = 0; i < o->op->operand_count; ++i) {
    int64_t row = o->in[i].dims[axis] * inner;
    for (int64_t r = 0; r < outer; ++r) {
      memcpy(o->out[0].data + r * dims[axis] * inner + at, o->in[i].data + r * row, (size_t)row);
    }
    at += row;
  }
  return true;
}

bool eval_iota(eval_op_t* o) {
  int64_t axis = graph_get_axis(o->op), index[2 * GRAPH_MAX_RANK] = {0};
  if (!tensor_result(o, 0, 0, NULL)) return false;
  if (axis < 0 || axis >= o->out[0].rank) return eval_error(o, "axis is out of range");
  for (int64_t i = 0; i < o->out[0].count; ++i) {
    tensor_store(&o->out[0], i, (scalar_value_t){.f = (double)index[axis], .i = index[axis]});
    index_next(o->out[0].rank, o->out[0].dims, index);
  }
  return true;
}

// Start indices, clamped so that `sizes` fits into x.
static bool clamped_starts(eval_op_t* o, uint32_t first, const int64_t* sizes, int64_t* starts) {
  const tensor_t* x = &o->in[0];
  if (first + (uint32_t)x->rank > o->op->operand_count) return eval_error(o, "start indices are missing");
  for (int32_t i = 0; i < x->rank; ++i) {
    int64_t start = tensor_integer(&o->in[first + (uint32_t)i], 0), most = x->dims[i] - sizes[i];
    if (most < 0) return eval_error(o, "the slice is larger than the operand");
    starts[i] = start < 0 ? 0 : start > most ? most : start;
  }
  return true;
}

bool eval_dynamic_slice(eval_op_t* o) {
  const tensor_t* x = &o->in[0];
  int64_t starts[2 * GRAPH_MAX_RANK], strides[2 * GRAPH_MAX_RANK];
  if (!tensor_result(o, 0, 1 + (uint32_t)x->rank, x->element)) return false;
  if (!clamped_starts(o, 1, o->out[0].dims, starts)) return false;
  tensor_strides(x, strides);
  copy_strided(&o->out[0], x, index_dot(x->rank, starts, strides), strides);
  return true;
}

bool eval_dynamic_update(eval_op_t* o) {
  const tensor_t *x = &o->in[0], *update = &o->in[1];
  int64_t starts[2 * GRAPH_MAX_RANK], strides[2 * GRAPH_MAX_RANK], index[2 * GRAPH_MAX_RANK] = {0};
  if (update->rank != x->rank || update->bytes != x->bytes) return eval_error(o, "the update differs in type");
  if (!clamped_starts(o, 2, update->dims, starts)) return false;
  if (!tensor_make(o, &o->out[0], x->element, x->rank, x->dims)) return false;
  memcpy(o->out[0].data, x->data, (size_t)x->count * x->bytes);
  tensor_strides(x, strides);
  int64_t base = index_dot(x->rank, starts, strides);
  for (int64_t i = 0; i < update->count; ++i) {
    memcpy(tensor_at(&o->out[0], base + index_dot(x->rank, index, strides)), tensor_at(update, i), x->bytes);
    index_next(x->rank, update->dims, index);
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Pack: dims axes[i] are split into outer and inner tiles[i], the inner ones moved to the end
//===----------------------------------------------------------------------------------------------------------------===

// Copies between a plain and a packed tensor; what lies outside of the plain one is left alone.
static bool move_tiles(eval_op_t* o, const tensor_t* plain, const tensor_t* packed, bool pack) {
  int64_t axes[GRAPH_MAX_RANK], tiles[GRAPH_MAX_RANK], strides[2 * GRAPH_MAX_RANK], index[2 * GRAPH_MAX_RANK] = {0};
  int32_t count = (int32_t)graph_get_axes(o->op, axes);
  if (count < 0 || !eval_ints(o, GRAPH_ATTR_tiles, tiles, (uint32_t)count)) return false;
  if (packed->rank != plain->rank + count) return eval_error(o, "the ranks do not fit");
  tensor_strides(plain, strides);
  for (int64_t i = 0; i < packed->count; ++i) {
    int64_t at[2 * GRAPH_MAX_RANK];
    bool inside = true;
    memcpy(at, index, sizeof(at));
    for (int32_t k = 0; k < count; ++k) {
      if (axes[k] < 0 || axes[k] >= plain->rank) return eval_error(o, "axes is out of range");
      at[axes[k]] = at[axes[k]] * tiles[k] + index[plain->rank + k];
    }
    for (int32_t d = 0; d < plain->rank; ++d) inside &= at[d] < plain->dims[d];
    char* there = inside ? tensor_at(plain, index_dot(plain->rank, at, strides)) : NULL;
    if (inside && pack) memcpy(tensor_at(packed, i), there, plain->bytes);
    if (inside && !pack) memcpy(there, tensor_at(packed, i), plain->bytes);
    index_next(packed->rank, packed->dims, index);
  }
  return true;
}

bool eval_pack(eval_op_t* o) {
  return tensor_result(o, 0, 1, o->in[0].element) && move_tiles(o, &o->in[0], &o->out[0], true);
}
bool eval_unpack(eval_op_t* o) {
  return tensor_result(o, 0, 1, o->in[0].element) && move_tiles(o, &o->out[0], &o->in[0], false);
}
