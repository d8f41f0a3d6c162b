// gather, scatter and torch_index_select.
#include <string.h>

#include "dialects/stablehlo.h"
#include "import/lowering_size.h"
#include "import/stablehlo/ops.h"

typedef struct numbers_t {
  int64_t window[GRAPH_MAX_RANK], collapsed[GRAPH_MAX_RANK], batch[GRAPH_MAX_RANK], indices_batch[GRAPH_MAX_RANK];
  int64_t map[GRAPH_MAX_RANK];
  uint32_t window_count, collapsed_count, batch_count, indices_batch_count, map_count;
  int64_t vector_dim;
} numbers_t;

static bool read_entry(lower_op_t* n, const ir_attr_t* attr, const char* name, int32_t rank, int64_t* out,
                       uint32_t* count) {
  *count = ir_attr_ints(ir_attr_dict_get(attr, name), out, GRAPH_MAX_RANK);
  if (*count > GRAPH_MAX_RANK) return lower_error(n, "has too many entries in '%s'", name);
  uint64_t seen = 0;
  for (uint32_t i = 0; i < *count; ++i) {
    if (out[i] < 0 || out[i] >= rank || (seen & (1ull << out[i]))) {
      return lower_error(n, "names dimension %lld in '%s', which is out of range or there twice", (long long)out[i],
                         name);
    }
    seen |= 1ull << out[i];
  }
  return true;
}

// `windowed` is the rank of the tensor that has the window's dims: a gather's result, a scatter's updates.
static bool read_numbers(lower_op_t* n, bool scatter, const ir_type_t* x, const ir_type_t* indices, int32_t windowed,
                         numbers_t* d) {
  const ir_attr_t* attr = ir_op_attr(n->op, scatter ? "scatter_dimension_numbers" : "dimension_numbers");
  if (!attr) return lower_error(n, "needs its dimension numbers");
  if (!read_entry(n, attr, scatter ? "update_window_dims" : "offset_dims", windowed, d->window, &d->window_count) ||
      !read_entry(n, attr, scatter ? "inserted_window_dims" : "collapsed_slice_dims", x->rank, d->collapsed,
                  &d->collapsed_count) ||
      !read_entry(n, attr, scatter ? "input_batching_dims" : "operand_batching_dims", x->rank, d->batch,
                  &d->batch_count) ||
      !read_entry(n, attr, scatter ? "scatter_indices_batching_dims" : "start_indices_batching_dims", indices->rank,
                  d->indices_batch, &d->indices_batch_count) ||
      !read_entry(n, attr, scatter ? "scatter_dims_to_operand_dims" : "start_index_map", x->rank, d->map,
                  &d->map_count)) {
    return false;
  }
  const ir_attr_t* vector = ir_attr_dict_get(attr, "index_vector_dim");
  d->vector_dim = vector ? vector->integer : 0;
  if (d->vector_dim < 0 || d->vector_dim > indices->rank) return lower_error(n, "index_vector_dim is out of range");
  int64_t depth = d->vector_dim < indices->rank ? indices->dims[d->vector_dim] : 1;
  int32_t batch = indices->rank - (d->vector_dim < indices->rank);
  if (!lower_sizes_fit(depth, d->map_count) || d->batch_count != d->indices_batch_count ||
      d->window_count + d->collapsed_count + d->batch_count != (uint32_t)x->rank ||
      (int32_t)d->window_count + batch != windowed) {
    return lower_error(n, "has dimension numbers that do not fit its operands");
  }
  return true;
}

static uint32_t number_attrs(lower_op_t* n, bool scatter, const numbers_t* d, ir_named_attr_t* attrs) {
  ir_context_t* ctx = n->ctx;
  attrs[0] = (ir_named_attr_t){scatter ? "update_window_dims" : "offset_dims",
                               ir_attr_i64_array(ctx, d->window, d->window_count)};
  attrs[1] = (ir_named_attr_t){scatter ? "inserted_dims" : "collapsed_dims",
                               ir_attr_i64_array(ctx, d->collapsed, d->collapsed_count)};
  attrs[2] = (ir_named_attr_t){"operand_batch_dims", ir_attr_i64_array(ctx, d->batch, d->batch_count)};
  attrs[3] = (ir_named_attr_t){"indices_batch_dims", ir_attr_i64_array(ctx, d->indices_batch, d->indices_batch_count)};
  attrs[4] =
      (ir_named_attr_t){scatter ? "scatter_dims_map" : "start_index_map", ir_attr_i64_array(ctx, d->map, d->map_count)};
  attrs[5] = (ir_named_attr_t){"index_vector_dim", ir_attr_i64(ctx, d->vector_dim)};
  return 6;
}

static bool has(const int64_t* list, uint32_t count, int64_t value) {
  for (uint32_t i = 0; i < count; ++i) {
    if (list[i] == value) return true;
  }
  return false;
}

// Unsigned indices as wider signed ones.
static ir_value_t* signed_indices(lower_op_t* n, uint32_t operand) {
  bool is_unsigned = lower_is_unsigned(lower_in_type(n, operand));
  return is_unsigned ? graph_cast(n->b, n->in[operand], ir_type_int(n->ctx, 64), true) : n->in[operand];
}

//===----------------------------------------------------------------------------------------------------------------===
// gather
//===----------------------------------------------------------------------------------------------------------------===

static const ir_type_t* gather_type(lower_op_t* n, const numbers_t* d, const int64_t* sizes) {
  const ir_type_t *x = n->in[0]->type, *indices = n->in[1]->type;
  int64_t dims[2 * GRAPH_MAX_RANK], window[GRAPH_MAX_RANK], batch[GRAPH_MAX_RANK];
  uint32_t window_count = 0, batch_count = 0, w = 0, b = 0;
  for (int32_t i = 0; i < x->rank; ++i) {
    bool gone = has(d->collapsed, d->collapsed_count, i) || has(d->batch, d->batch_count, i);
    bool fits = sizes[i] >= 0 && (x->dims[i] == IR_DYNAMIC || sizes[i] <= x->dims[i]) && (!gone || sizes[i] <= 1);
    if (!fits) return lower_error(n, "has slice size %lld in dimension %d", (long long)sizes[i], i), NULL;
    if (!gone) window[window_count++] = sizes[i];
  }
  for (int32_t i = 0; i < indices->rank; ++i) {
    if (i != d->vector_dim) batch[batch_count++] = indices->dims[i];
  }
  for (uint32_t i = 0; i < window_count + batch_count; ++i) {
    dims[i] = has(d->window, d->window_count, i) ? window[w++] : batch[b++];
  }
  return ir_type_tensor(n->ctx, x->element, (int32_t)(window_count + batch_count), dims);
}

static bool build_gather(lower_op_t* n, const int64_t* sizes) {
  const ir_type_t *x = n->in[0]->type, *indices = n->in[1]->type, *result = lower_out_type(n, 0);
  numbers_t d;
  ir_named_attr_t attrs[8];
  if (!ir_type_is_tensor(result) || lower_is_float(indices)) return lower_unsupported(n, "integer indices are");
  if (!read_numbers(n, false, x, indices, result->rank, &d)) return false;
  const ir_type_t* type = gather_type(n, &d, sizes);
  if (!type) return false;
  uint32_t count = number_attrs(n, false, &d, attrs);
  attrs[count++] = (ir_named_attr_t){"slice_sizes", ir_attr_i64_array(n->ctx, sizes, (uint32_t)x->rank)};
  ir_value_t* indices_value = signed_indices(n, 1);
  for (int part = 0; part < (n->values[0].im ? 2 : 1); ++part) {
    ir_value_t* operands[2] = {part ? n->values[0].im : n->in[0], indices_value};
    ir_value_t* y = lower_build(n, GRAPH_GATHER, operands, 2, type, attrs, count);
    *(part ? &n->out[0].im : &n->out[0].v) = y;
  }
  return true;
}

bool stablehlo_lower_gather(lower_op_t* n) {
  int64_t sizes[GRAPH_MAX_RANK];
  for (int i = 0; i < 2; ++i) {
    if (!n->in[i] || !ir_type_is_tensor(n->in[i]->type)) return lower_unsupported(n, "tensors are");
  }
  return lower_ints(n, "slice_sizes", sizes, (uint32_t)n->in[0]->type->rank) && build_gather(n, sizes);
}

//===----------------------------------------------------------------------------------------------------------------===
// gather of computed sizes
//===----------------------------------------------------------------------------------------------------------------===

// A slice size for each dimension; `known`: IR_DYNAMIC where it is computed.
typedef struct slices_t {
  ir_value_t* sizes[GRAPH_MAX_RANK];
  int64_t known[GRAPH_MAX_RANK];
} slices_t;

// One slice whose sizes are computed.
static ir_value_t* take_slice(lower_op_t* n, ir_value_t* x, ir_value_t* index, const numbers_t* d, const slices_t* s) {
  ir_value_t *operands[1 + 2 * GRAPH_MAX_RANK] = {x}, *dynamic[GRAPH_MAX_RANK], *kept[GRAPH_MAX_RANK];
  int64_t kept_dims[GRAPH_MAX_RANK];
  uint32_t rank = (uint32_t)x->type->rank, count = 0, kept_rank = 0, kept_count = 0;
  for (uint32_t i = 0; i < rank; ++i) {
    operands[1 + i] = graph_index_constant(n->b, 0);
    if (s->known[i] == IR_DYNAMIC) dynamic[count++] = s->sizes[i];
    if (has(d->collapsed, d->collapsed_count, i)) continue;
    kept_dims[kept_rank++] = s->known[i];
    if (s->known[i] == IR_DYNAMIC) kept[kept_count++] = s->sizes[i];
  }
  for (uint32_t k = 0; k < d->map_count; ++k) operands[1 + d->map[k]] = lower_index_element(n->b, index, k);
  memcpy(operands + 1 + rank, dynamic, sizeof(dynamic[0]) * count);
  const ir_type_t* type = ir_type_tensor(n->ctx, x->type->element, (int32_t)rank, s->known);
  ir_value_t* slice = lower_build(n, GRAPH_DYNAMIC_SLICE, operands, 1 + rank + count, type, NULL, 0);
  return graph_reshape(n->b, slice, (int32_t)kept_rank, kept_dims, kept);
}

// Indices with one more dimension of their own for each size that is computed.
typedef struct columns_t {
  lower_op_t* n;
  ir_value_t* starts;  // i64, [batch.., index vector]
  int64_t dims[GRAPH_MAX_RANK];
  ir_value_t* dynamic[GRAPH_MAX_RANK];  // of the '?' among them
  int32_t batch, rank;                  // rank: of a column, [batch.., sizes.., 1]
} columns_t;

static ir_value_t* vectors_last(lower_op_t* n, ir_value_t* indices, const numbers_t* d) {
  int64_t perm[GRAPH_MAX_RANK], dims[GRAPH_MAX_RANK];
  int32_t rank = indices->type->rank, count = 0;
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  indices = graph_cast(n->b, indices, ir_type_int(n->ctx, 64), false);
  if (d->vector_dim == rank) {
    memcpy(dims, indices->type->dims, sizeof(*dims) * (size_t)rank);
    dims[rank] = 1;
    lower_dynamic_dims(n->b, indices, indices->type, dynamic);
    return graph_reshape(n->b, indices, rank + 1, dims, dynamic);
  }
  for (int32_t i = 0; i < rank; ++i) {
    if (i != d->vector_dim) perm[count++] = i;
  }
  perm[count] = d->vector_dim;
  return graph_transpose(n->b, indices, perm);
}

// The starts along one operand dimension; where its size is computed, a position for each element of the part.
static ir_value_t* index_column(const columns_t* c, uint32_t component, ir_value_t* last, int64_t along) {
  lower_op_t* n = c->n;
  int64_t offsets[GRAPH_MAX_RANK] = {0}, sizes[GRAPH_MAX_RANK], ones[GRAPH_MAX_RANK], map[GRAPH_MAX_RANK];
  for (int32_t i = 0; i <= c->batch; ++i) sizes[i] = c->starts->type->dims[i], ones[i] = 1, map[i] = i;
  offsets[c->batch] = component, sizes[c->batch] = 1, map[c->batch] = c->rank - 1;
  ir_value_t* column = graph_slice(n->b, c->starts, offsets, sizes, ones);
  if (last) {
    ir_value_t* end = graph_cast(n->b, lower_as_tensor(n->b, last), ir_type_int(n->ctx, 64), false);
    column = graph_binary(n->b, SCALAR_min, column, lower_splat(n->b, end, column));
    column = lower_with_number(n, SCALAR_max, column, 0);
  }
  const ir_type_t* type = ir_type_tensor(n->ctx, ir_type_int(n->ctx, 64), c->rank, c->dims);
  column = graph_broadcast(n->b, column, type, map, c->dynamic);
  return last ? graph_binary(n->b, SCALAR_add, column, graph_iota(n->b, type, along, c->dynamic)) : column;
}

// The same gather with parts of one element along the dimensions whose sizes are computed.
static ir_value_t* gather_elements(lower_op_t* n, ir_value_t* x, ir_value_t* indices, const numbers_t* from,
                                   const slices_t* s) {
  numbers_t d = *from;
  columns_t c = {.n = n, .starts = vectors_last(n, indices, from)};
  int64_t along[GRAPH_MAX_RANK], sizes[GRAPH_MAX_RANK], dims[GRAPH_MAX_RANK], perm[GRAPH_MAX_RANK];
  ir_value_t *columns[GRAPH_MAX_RANK], *last[GRAPH_MAX_RANK] = {NULL};
  uint32_t dynamic = 0, rest = 0;
  c.batch = c.starts->type->rank - 1;
  for (; c.rank < c.batch; ++c.rank) {
    c.dims[c.rank] = c.starts->type->dims[c.rank];
    if (c.dims[c.rank] == IR_DYNAMIC) c.dynamic[dynamic++] = graph_dim(n->b, c.starts, (uint32_t)c.rank);
  }
  for (int32_t i = 0; i < x->type->rank; ++i) {
    bool gone = has(from->collapsed, from->collapsed_count, i) || has(from->batch, from->batch_count, i);
    bool computed = s->sizes[i] && has(from->map, from->map_count, i);
    sizes[i] = computed ? 1 : s->known[i];
    along[i] = computed ? c.rank : -1;
    if (!computed && !gone) ++rest;
    if (!computed) continue;
    c.dims[c.rank++] = IR_DYNAMIC;
    c.dynamic[dynamic++] = s->sizes[i];
    last[i] = lower_index_binary(n->b, SCALAR_sub, graph_dim(n->b, x, (uint32_t)i), s->sizes[i]);
    d.collapsed[d.collapsed_count++] = i;
  }
  int32_t outer = c.rank;
  c.dims[c.rank++] = 1;
  for (uint32_t k = 0; k < d.map_count; ++k) columns[k] = index_column(&c, k, last[d.map[k]], along[d.map[k]]);
  indices = d.map_count == 1 ? columns[0] : graph_concat(n->b, columns, d.map_count, outer);
  memcpy(dims, c.dims, sizeof(*dims) * (size_t)outer);
  d.window_count = rest;
  for (uint32_t i = 0; i < rest; ++i) d.window[i] = outer + (int64_t)i;
  uint32_t window = 0;
  int64_t next = outer;
  for (int32_t i = 0; i < x->type->rank; ++i) {
    if (has(from->collapsed, from->collapsed_count, i) || has(from->batch, from->batch_count, i)) continue;
    perm[from->window[window++]] = along[i] >= 0 ? along[i] : next;
    if (along[i] < 0) dims[next++] = sizes[i] == IR_DYNAMIC ? x->type->dims[i] : sizes[i];
  }
  for (int64_t i = 0, batch = 0; i < next; ++i) {
    if (!has(from->window, from->window_count, i)) perm[i] = batch++;
  }
  if (d.indices_batch_count && from->vector_dim < c.batch) {  // the index vector was before them
    for (uint32_t i = 0; i < d.indices_batch_count; ++i) d.indices_batch[i] -= d.indices_batch[i] > from->vector_dim;
  }
  d.vector_dim = outer;
  ir_named_attr_t attrs[8];
  uint32_t count = number_attrs(n, false, &d, attrs);
  attrs[count++] = (ir_named_attr_t){"slice_sizes", ir_attr_i64_array(n->ctx, sizes, (uint32_t)x->type->rank)};
  const ir_type_t* type = ir_type_tensor(n->ctx, x->type->element, (int32_t)next, dims);
  return graph_transpose(n->b, lower_build(n, GRAPH_GATHER, (ir_value_t*[]){x, indices}, 2, type, attrs, count), perm);
}

// One part of the operand. What is taken whole, or from the first element on, needs no index.
static ir_value_t* gather_part(lower_op_t* n, ir_value_t* x, ir_value_t* indices, const numbers_t* d, slices_t s) {
  bool one = indices->type->rank == 1 && d->vector_dim == 0 && !d->batch_count;
  if (one) return take_slice(n, x, indices, d, &s);
  for (int32_t i = 0; i < x->type->rank; ++i) {
    if (s.known[i] != IR_DYNAMIC) {
      s.sizes[i] = NULL;
    } else if (lower_size_same(s.sizes[i], lower_size(n->b, x, i))) {
      s.sizes[i] = NULL;
    } else if (!has(d->map, d->map_count, i)) {
      x = lower_first(n, x, i, s.sizes[i]);
    }
  }
  return gather_elements(n, x, indices, d, &s);
}

static bool gather_computed(lower_op_t* n, slices_t* s) {
  ir_value_t* indices = signed_indices(n, 1);
  const ir_type_t *x = n->in[0]->type, *result = lower_out_type(n, 0);
  numbers_t d;
  uint32_t more = 0;
  if (!read_numbers(n, false, x, indices->type, result->rank, &d)) return false;
  for (int32_t i = 0; i < x->rank; ++i) {
    bool gone = has(d.collapsed, d.collapsed_count, i) || has(d.batch, d.batch_count, i);
    if (gone && s->known[i] == IR_DYNAMIC) s->known[i] = 1;  // it may be no other
    bool fits = s->known[i] == IR_DYNAMIC || (s->known[i] >= 0 && (!gone || s->known[i] <= 1) &&
                                              (x->dims[i] == IR_DYNAMIC || s->known[i] <= x->dims[i]));
    if (!fits) return lower_error(n, "has a slice size that does not fit in dimension %d", i);
    more += s->known[i] == IR_DYNAMIC;
  }
  if (indices->type->rank + 1 + (int32_t)more > GRAPH_MAX_RANK) return lower_unsupported(n, "lower ranks are");
  n->out[0].v = gather_part(n, n->in[0], indices, &d, *s);
  if (n->values[0].im) n->out[0].im = gather_part(n, n->values[0].im, indices, &d, *s);
  return true;
}

bool stablehlo_lower_dynamic_gather(lower_op_t* n) {
  for (int i = 0; i < 3; ++i) {
    if (!n->in[i] || !ir_type_is_tensor(n->in[i]->type)) return lower_unsupported(n, "tensors are");
  }
  if (!ir_type_is_tensor(lower_out_type(n, 0))) return lower_unsupported(n, "tensor results are");
  int32_t rank = n->in[0]->type->rank;
  if (n->in[2]->type->rank != 1 || n->in[2]->type->dims[0] != rank || lower_is_float(n->in[2]->type) ||
      lower_is_float(n->in[1]->type)) {
    return lower_unsupported(n, "integer indices, and a size for each dimension, are");
  }
  slices_t s;
  bool all_known = true;
  for (int32_t i = 0; i < rank; ++i) {
    s.sizes[i] = lower_index_element(n->b, n->in[2], i);
    s.known[i] = IR_DYNAMIC;
    all_known &= lower_constant_index(s.sizes[i], &s.known[i]);
  }
  return all_known ? build_gather(n, s.known) : gather_computed(n, &s);
}

//===----------------------------------------------------------------------------------------------------------------===
// scatter
//===----------------------------------------------------------------------------------------------------------------===

// "set" when the region just gives the update, else how it combines.
static const char* scatter_kind(lower_op_t* n, uint32_t i, uint32_t count) {
  const ir_region_t* region = &n->op->regions[0];
  const ir_block_t* block = region->first;
  if (block && !block->next && block->last && i < block->last->operand_count && block->arg_count == 2 * count &&
      ir_operand(block->last, i) == block->args[count + i]) {
    return "set";
  }
  const char* kind = stablehlo_region_kind(region, i, count);
  return kind && strcmp(kind, "xor") != 0 ? kind : NULL;
}

// Numbers for the components of index vectors, in the indices' shape.
static ir_value_t* for_components(lower_op_t* n, ir_value_t* indices, const numbers_t* d, const int64_t* numbers) {
  const ir_type_t* element = indices->type->element;
  int64_t count = d->map_count;
  if (d->vector_dim == indices->type->rank) return graph_splat_integer(n->b, indices->type, numbers[0]);
  int32_t narrow[GRAPH_MAX_RANK];
  for (int64_t i = 0; i < count; ++i) narrow[i] = (int32_t)numbers[i];
  const void* data = element->width == 64 ? (const void*)numbers : narrow;
  const ir_attr_t* values = ir_attr_elements(n->ctx, ir_type_tensor(n->ctx, element, 1, &count), data,
                                             (size_t)(count * ir_type_bytes(element)));
  return graph_broadcast(n->b, graph_constant(n->b, values), indices->type, &d->vector_dim, NULL);
}

// Updates whose window does not lie inside are dropped as a whole, as XLA does (the specification drops elements one
// by one): where windows along indexed dims can be half outside, such indices become ones that are outside altogether.
static ir_value_t* drop_windows(lower_op_t* n, ir_value_t* indices, const numbers_t* d, const ir_type_t* updates) {
  const ir_type_t* x = n->in[0]->type;
  int64_t windows[GRAPH_MAX_RANK], sizes[GRAPH_MAX_RANK], last[GRAPH_MAX_RANK];
  bool may_be_half = false;
  for (int32_t i = 0, next = 0; i < x->rank; ++i) {
    bool gone = has(d->collapsed, d->collapsed_count, i) || has(d->batch, d->batch_count, i);
    windows[i] = gone ? 1 : updates->dims[d->window[next++]];
  }
  for (uint32_t c = 0; c < d->map_count; ++c) {
    sizes[c] = x->dims[d->map[c]];
    last[c] = sizes[c] - windows[d->map[c]];
    if (sizes[c] == IR_DYNAMIC || windows[d->map[c]] == IR_DYNAMIC || sizes[c] > INT32_MAX) return indices;
    may_be_half |= windows[d->map[c]] > 1;
  }
  if (!may_be_half || !ir_type_is_static(indices->type)) return indices;
  ir_builder_t* b = n->b;
  if (indices->type->element->width < 32) indices = graph_cast(b, indices, ir_type_int(n->ctx, 32), false);
  ir_value_t* low = graph_binary(b, SCALAR_ge, indices, graph_splat_like(b, indices, 0));
  ir_value_t* high = graph_binary(b, SCALAR_le, indices, for_components(n, indices, d, last));
  return graph_select(b, graph_binary(b, SCALAR_and, low, high), indices, for_components(n, indices, d, sizes));
}

bool stablehlo_lower_scatter(lower_op_t* n) {
  uint32_t count = n->op->result_count;
  if (!lower_check_tensors(n)) return false;
  if (!count || n->op->operand_count != 2 * count + 1) return lower_error(n, "needs as many updates as operands");
  const ir_type_t *x = n->in[0]->type, *indices = n->in[count]->type, *updates = n->in[count + 1]->type;
  numbers_t d;
  ir_named_attr_t attrs[8];
  if (lower_is_float(indices)) return lower_unsupported(n, "integer indices are");
  if (!read_numbers(n, true, x, indices, updates->rank, &d)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    const ir_type_t *a = n->in[i]->type, *b = n->in[count + 1 + i]->type;
    if (a->rank != x->rank || b->rank != updates->rank || a->element != b->element ||
        !n->values[i].im != !n->values[count + 1 + i].im) {
      return lower_error(n, "has updates that do not fit operand %u", i);
    }
  }
  uint32_t attr_count = number_attrs(n, true, &d, attrs);
  bool kinds = true;
  for (uint32_t i = 0; i < count; ++i) kinds &= stablehlo_kind_fits(&n->values[i], scatter_kind(n, i, count));
  n->values[count].v = drop_windows(n, signed_indices(n, count), &d, updates);
  for (uint32_t i = 0; kinds && i < count; ++i) {
    attrs[attr_count] = (ir_named_attr_t){"kind", ir_attr_cstring(n->ctx, scatter_kind(n, i, count))};
    for (int part = 0; part < (n->values[i].im ? 2 : 1); ++part) {
      lower_value_t x = n->values[i], update = n->values[count + 1 + i];
      ir_value_t* operands[3] = {part ? x.im : x.v, n->values[count].v, part ? update.im : update.v};
      ir_value_t* y = lower_build(n, GRAPH_SCATTER, operands, 3, operands[0]->type, attrs, attr_count + 1);
      *(part ? &n->out[i].im : &n->out[i].v) = y;
    }
  }
  if (kinds) return true;
  lower_list_t operands = stablehlo_flatten(n, 0, 2 * count + 1);
  const ir_type_t** types = ARENA_ARRAY(ir_context_arena(n->ctx), const ir_type_t*, operands.count);
  for (uint32_t i = 0; i < operands.count / 2; ++i) types[i] = operands.items[i]->type;
  return stablehlo_with_region(n, GRAPH_SCATTER_GENERIC, &operands, types, attrs, attr_count);
}

//===----------------------------------------------------------------------------------------------------------------===
// torch_index_select: slices of x along `dim`, batched over the first dims
//===----------------------------------------------------------------------------------------------------------------===

bool stablehlo_lower_torch_index_select(lower_op_t* n) {
  if (!lower_check_tensors(n)) return false;
  int64_t dim = ir_op_int(n->op, "dim", INT64_MIN / 2), batch = ir_op_int(n->op, "batch_dims", 0);
  const ir_type_t *x = n->in[0]->type, *indices = n->in[1]->type;
  if (dim < 0) dim += x->rank;
  if (batch < 0) batch += indices->rank;
  if (dim < 0 || dim >= x->rank || batch < 0 || batch > dim || batch > indices->rank || lower_is_float(indices)) {
    return lower_error(n, "has dim %lld and batch_dims %lld", (long long)dim, (long long)batch);
  }
  ir_value_t* index = signed_indices(n, 1);
  if (!batch) return lower_return(n, graph_take(n->b, n->in[0], index, dim, false));
  numbers_t d = {.batch_count = (uint32_t)batch, .indices_batch_count = (uint32_t)batch, .collapsed_count = 1};
  int64_t sizes[GRAPH_MAX_RANK], dims[2 * GRAPH_MAX_RANK];
  int32_t rank = 0;
  d.collapsed[0] = d.map[0] = dim;
  d.map_count = 1;
  d.vector_dim = indices->rank;
  for (int32_t i = 0; i < x->rank; ++i) {
    sizes[i] = i < batch || i == dim ? 1 : x->dims[i];
    if (i < batch) d.batch[i] = d.indices_batch[i] = i;
  }
  for (int32_t i = 0; i < dim; ++i) {
    if (i >= batch) d.window[d.window_count++] = rank;
    dims[rank++] = x->dims[i];
  }
  for (int32_t i = (int32_t)batch; i < indices->rank; ++i) dims[rank++] = indices->dims[i];
  for (int32_t i = (int32_t)dim + 1; i < x->rank; ++i) {
    d.window[d.window_count++] = rank;
    dims[rank++] = x->dims[i];
  }
  if (rank > GRAPH_MAX_RANK) return lower_unsupported(n, "the result's rank is too high");
  ir_named_attr_t attrs[8];
  uint32_t count = number_attrs(n, false, &d, attrs);
  attrs[count++] = (ir_named_attr_t){"slice_sizes", ir_attr_i64_array(n->ctx, sizes, (uint32_t)x->rank)};
  ir_value_t* operands[2] = {n->in[0], index};
  return lower_return(
      n, lower_build(n, GRAPH_GATHER, operands, 2, ir_type_tensor(n->ctx, x->element, rank, dims), attrs, count));
}
