// Ops that change shapes: reshapes, transposes, broadcasts, joins, and constants.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "import/onnx/ops.h"

static bool give(onnx_node_t* n, ir_value_t* v) { return onnx_return(n, v, n->in[0].element); }

//===----------------------------------------------------------------------------------------------------------------===
// Reshape
//===----------------------------------------------------------------------------------------------------------------===

// The size for -1: all of x's elements over the other sizes. Factors that occur in both are cancelled, so that a static
// size is found where there is one.
static bool infer_dim(onnx_node_t* n, ir_value_t* x, const onnx_dim_t* dims, uint32_t count, uint32_t unknown,
                      onnx_dim_t* out) {
  bool used[ONNX_MAX_RANK] = {0};
  onnx_dim_t have = onnx_dim_of(1), want = onnx_dim_of(1), own[ONNX_MAX_RANK];
  for (int32_t i = 0; i < x->type->rank; ++i) own[i] = onnx_dim(n, x, i);
  for (uint32_t k = 0; k < count; ++k) {
    bool cancelled = k == unknown;
    for (int32_t i = 0; !cancelled && i < x->type->rank; ++i) {
      cancelled = !used[i] && dims[k].size == IR_DYNAMIC && own[i].size == IR_DYNAMIC && onnx_dim_same(dims[k], own[i]);
      used[i] |= cancelled;
    }
    if (!cancelled) want = onnx_dim_mul(n, want, dims[k]);
  }
  for (int32_t i = 0; i < x->type->rank; ++i) {
    if (!used[i]) have = onnx_dim_mul(n, have, own[i]);
  }
  bool known = have.size != IR_DYNAMIC && want.size != IR_DYNAMIC;
  if (known && (want.size == 0 || have.size % want.size)) {
    if (want.size == 0 && have.size == 0) return *out = onnx_dim_of(0), true;
    return onnx_error(n, "%lld elements cannot be divided into rows of %lld", (long long)have.size,
                      (long long)want.size);
  }
  *out = onnx_dim_div(n, have, want);
  return true;
}

bool onnx_lower_reshape(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  onnx_dim_t dims[ONNX_MAX_RANK];
  uint32_t count, unknown = UINT32_MAX;
  bool allow_zero = onnx_int(n, "allowzero", 0) != 0, is_static = true;
  if (!onnx_dims_input(n, 1, dims, ONNX_MAX_RANK, &count)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (dims[i].size == 0 && !allow_zero) {
      if ((int32_t)i >= x->type->rank) return onnx_error(n, "size 0 at %u copies a dimension that there is not", i);
      dims[i] = onnx_dim(n, x, (int32_t)i);
    } else if (dims[i].size == -1) {
      if (unknown != UINT32_MAX) return onnx_error(n, "more than one size is -1");
      unknown = i;
    } else if (dims[i].size < 0 && dims[i].size != IR_DYNAMIC) {
      return onnx_error(n, "size %lld is negative", (long long)dims[i].size);
    }
  }
  if (unknown != UINT32_MAX && !infer_dim(n, x, dims, count, unknown, &dims[unknown])) return false;
  int64_t total = 1, sizes[ONNX_MAX_RANK];
  for (uint32_t i = 0; i < count; ++i) is_static &= (sizes[i] = dims[i].size) != IR_DYNAMIC;
  total = is_static ? ir_type_count(ir_type_tensor(n->ctx, x->type->element, (int32_t)count, sizes)) : 0;
  if (is_static && ir_type_is_static(x->type) && total != ir_type_count(x->type)) {
    return onnx_error(n, "%lld elements cannot become %lld", (long long)ir_type_count(x->type), (long long)total);
  }
  return give(n, onnx_reshape(n, x, (int32_t)count, dims));
}

bool onnx_lower_flatten(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  int64_t axis = onnx_int(n, "axis", 1), rank = x->type->rank;
  if (axis < -rank || axis > rank) return onnx_error(n, "axis %lld is out of range", (long long)axis);
  if (axis < 0) axis += rank;
  onnx_dim_t dims[2] = {onnx_dim_of(1), onnx_dim_of(1)};
  for (int32_t i = 0; i < rank; ++i) dims[i >= axis] = onnx_dim_mul(n, dims[i >= axis], onnx_dim(n, x, i));
  return give(n, onnx_reshape(n, x, 2, dims));
}

// Input 1 as a set of axes of a tensor of that rank.
static bool axes_set(onnx_node_t* n, int32_t rank, bool* set) {
  int64_t axes[ONNX_MAX_RANK];
  uint32_t count;
  if (!onnx_const_ints(n, 1, axes, ONNX_MAX_RANK, &count)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (!onnx_check_axis(n, &axes[i], rank)) return false;
    if (set[axes[i]]) return onnx_error(n, "axis %lld is given twice", (long long)axes[i]);
    set[axes[i]] = true;
  }
  return true;
}

bool onnx_lower_squeeze(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  bool drop[ONNX_MAX_RANK] = {0};
  onnx_dim_t dims[ONNX_MAX_RANK];
  int32_t rank = x->type->rank, count = 0;
  if (onnx_has(n, 1) && !axes_set(n, rank, drop)) return false;
  for (int32_t i = 0; i < rank; ++i) {
    int64_t size = x->type->dims[i];
    if (!onnx_has(n, 1)) drop[i] = size == 1;
    if (!onnx_has(n, 1) && size == IR_DYNAMIC) {
      return onnx_unsupported(n, "without axes, the input needs a static shape");
    }
    if (drop[i] && size != 1 && size != IR_DYNAMIC)
      return onnx_error(n, "dimension %d has size %lld, not 1", i, (long long)size);
    if (!drop[i]) dims[count++] = onnx_dim(n, x, i);
  }
  return give(n, onnx_reshape(n, x, count, dims));
}

bool onnx_lower_unsqueeze(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  bool insert[ONNX_MAX_RANK] = {0};
  int64_t at[ONNX_MAX_RANK];
  const ir_attr_t* axes = onnx_constant(n, n->in[1].v);
  int64_t count = axes ? ir_type_count(axes->type) : 0, rank = x->type->rank + count;
  if (axes && rank > ONNX_MAX_RANK) return onnx_error(n, "the result's rank is above %d", ONNX_MAX_RANK);
  if (!axes_set(n, (int32_t)rank, insert)) return false;
  for (int32_t i = 0, k = 0; i < rank; ++i) {
    if (!insert[i]) at[k++] = i;
  }
  return give(n, onnx_spread(n, x, (int32_t)rank, at));
}

//===----------------------------------------------------------------------------------------------------------------===
// Transpose and rearrangements
//===----------------------------------------------------------------------------------------------------------------===

bool onnx_lower_transpose(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  int64_t perm[ONNX_MAX_RANK];
  bool seen[ONNX_MAX_RANK] = {0};
  uint32_t count, rank = (uint32_t)x->type->rank;
  if (!onnx_ints(n, "perm", perm, ONNX_MAX_RANK, &count)) return false;
  if (!onnx_attr(n, "perm")) {
    for (count = 0; count < rank; ++count) perm[count] = rank - 1 - count;
  }
  if (count != rank) return onnx_error(n, "perm has %u entries for a tensor of rank %u", count, rank);
  for (uint32_t i = 0; i < rank; ++i) {
    if (perm[i] < 0 || perm[i] >= rank || seen[perm[i]]) return onnx_error(n, "perm is no permutation");
    seen[perm[i]] = true;
  }
  return give(n, graph_transpose(n->b, x, perm));
}

// x: [n, c, h, w] seen with the sizes `split` (rank 6), permuted, and joined to [n, c', h', w'].
static bool rearrange(onnx_node_t* n, const onnx_dim_t* split, const int64_t* perm, const onnx_dim_t* joined) {
  ir_value_t* y = graph_transpose(n->b, onnx_reshape(n, n->in[0].v, 6, split), perm);
  return give(n, onnx_reshape(n, y, 4, joined));
}

bool onnx_lower_depth_to_space(onnx_node_t* n) {
  static const int64_t dcr_perm[] = {0, 3, 4, 1, 5, 2}, crd_perm[] = {0, 1, 4, 2, 5, 3};
  int64_t block = onnx_int(n, "blocksize", 0);
  const char* mode = onnx_string(n, "mode", "DCR");
  bool crd = strcmp(mode, "CRD") == 0;
  if (!crd && strcmp(mode, "DCR") != 0) return onnx_error(n, "mode '%s' is neither DCR nor CRD", mode);
  if (!onnx_check_rank(n, 0, 4, 4)) return false;
  onnx_dim_t d[4], size = onnx_dim_of(block);
  for (int32_t i = 0; i < 4; ++i) d[i] = onnx_dim(n, n->in[0].v, i);
  if (block < 1 || block > 65536 || d[1].size == IR_DYNAMIC || d[1].size % (block * block)) {
    return onnx_error(n, "blocksize %lld does not divide the static number of channels", (long long)block);
  }
  onnx_dim_t depth = onnx_dim_of(d[1].size / (block * block));
  const onnx_dim_t dcr[] = {d[0], size, size, depth, d[2], d[3]}, crd_split[] = {d[0], depth, size, size, d[2], d[3]};
  const onnx_dim_t joined[] = {d[0], depth, onnx_dim_mul(n, d[2], size), onnx_dim_mul(n, d[3], size)};
  return rearrange(n, crd ? crd_split : dcr, crd ? crd_perm : dcr_perm, joined);
}

bool onnx_lower_space_to_depth(onnx_node_t* n) {
  static const int64_t dcr[] = {0, 3, 5, 1, 2, 4}, crd[] = {0, 1, 3, 5, 2, 4};
  const char* mode = onnx_string(n, "mode", "DCR");
  if (strcmp(mode, "DCR") != 0 && strcmp(mode, "CRD") != 0)
    return onnx_error(n, "mode '%s' is neither DCR nor CRD", mode);
  int64_t block = onnx_int(n, "blocksize", 0);
  if (!onnx_check_rank(n, 0, 4, 4)) return false;
  onnx_dim_t d[4], size = onnx_dim_of(block);
  for (int32_t i = 0; i < 4; ++i) d[i] = onnx_dim(n, n->in[0].v, i);
  if (block < 1 || block > 65536 || (d[2].size != IR_DYNAMIC && d[2].size % block) ||
      (d[3].size != IR_DYNAMIC && d[3].size % block)) {
    return onnx_error(n, "blocksize %lld does not divide height and width", (long long)block);
  }
  onnx_dim_t h = onnx_dim_div(n, d[2], size), w = onnx_dim_div(n, d[3], size);
  const onnx_dim_t split[] = {d[0], d[1], h, size, w, size};
  const onnx_dim_t joined[] = {d[0], onnx_dim_mul(n, d[1], onnx_dim_of(block * block)), h, w};
  return rearrange(n, split, mode[0] == 'C' ? crd : dcr, joined);
}

//===----------------------------------------------------------------------------------------------------------------===
// Expand, Tile, Concat
//===----------------------------------------------------------------------------------------------------------------===

bool onnx_lower_expand(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  onnx_dim_t given[ONNX_MAX_RANK], dims[ONNX_MAX_RANK];
  uint32_t count;
  if (!onnx_dims_input(n, 1, given, ONNX_MAX_RANK, &count)) return false;
  int32_t own = x->type->rank, rank = own > (int32_t)count ? own : (int32_t)count;
  for (int32_t i = 0; i < rank; ++i) {
    int32_t xi = i - (rank - own), gi = i - (rank - (int32_t)count);
    onnx_dim_t a = xi < 0 ? onnx_dim_of(1) : onnx_dim(n, x, xi), b = gi < 0 ? onnx_dim_of(1) : given[gi];
    bool fits = a.size == b.size || a.size == 1 || b.size == 1 || a.size == IR_DYNAMIC || b.size == IR_DYNAMIC;
    if (!fits || (b.size < 0 && b.size != IR_DYNAMIC)) {
      return onnx_error(n, "size %lld does not broadcast to %lld", (long long)a.size, (long long)b.size);
    }
    dims[i] = b.size == 1 || (b.size == IR_DYNAMIC && a.size != 1 && a.size != IR_DYNAMIC) ? a : b;
  }
  return give(n, onnx_broadcast_to(n, x, rank, dims));
}

// [a, b] -> [1, a, 1, b] -> [r, a, s, b] -> [r a, s b]
bool onnx_lower_tile(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  int32_t rank = x->type->rank;
  onnx_dim_t repeats[ONNX_MAX_RANK], apart[ONNX_MAX_RANK], wide[ONNX_MAX_RANK], joined[ONNX_MAX_RANK];
  uint32_t count, split = 0;
  if (!onnx_dims_input(n, 1, repeats, ONNX_MAX_RANK, &count)) return false;
  if ((int32_t)count != rank) return onnx_error(n, "needs one repeat per dimension");
  for (int32_t i = 0; i < rank; ++i) {
    onnx_dim_t size = onnx_dim(n, x, i);
    if (repeats[i].size < 0 && repeats[i].size != IR_DYNAMIC) return onnx_error(n, "a repeat is negative");
    joined[i] = onnx_dim_mul(n, size, repeats[i]);
    if (repeats[i].size != 1 && split == ONNX_MAX_RANK) return onnx_unsupported(n, "too many dimensions");
    if (repeats[i].size != 1) {
      apart[split] = onnx_dim_of(1);
      wide[split++] = repeats[i];
    }
    if (split == ONNX_MAX_RANK) return onnx_unsupported(n, "too many dimensions");
    apart[split] = wide[split] = size;
    ++split;
  }
  if (split == (uint32_t)rank) return give(n, x);
  ir_value_t* y = onnx_broadcast_to(n, onnx_reshape(n, x, (int32_t)split, apart), (int32_t)split, wide);
  return give(n, onnx_reshape(n, y, rank, joined));
}

bool onnx_lower_concat(onnx_node_t* n) {
  int64_t axis = onnx_int(n, "axis", 0);
  const ir_type_t* first = n->in[0].v->type;
  ir_value_t** values = ARENA_ARRAY(ir_context_arena(n->ctx), ir_value_t*, n->in_count);
  int64_t total = 0;
  if (!onnx_check_axis(n, &axis, first->rank)) return false;
  for (uint32_t i = 0; i < n->in_count; ++i) {
    if (!n->in[i].v || !onnx_check_same_element(n, 0, i)) return onnx_error(n, "input %u does not fit input 0", i);
    const ir_type_t* type = n->in[i].v->type;
    bool fits = type->rank == first->rank;
    for (int32_t d = 0; fits && d < type->rank; ++d) {
      bool dynamic = type->dims[d] == IR_DYNAMIC || first->dims[d] == IR_DYNAMIC;
      fits = d == axis || dynamic || type->dims[d] == first->dims[d];
    }
    fits = fits && (type->dims[axis] == IR_DYNAMIC || !__builtin_add_overflow(total, type->dims[axis], &total));
    if (!fits) return onnx_error(n, "shapes differ in more than dimension %lld", (long long)axis);
    values[i] = n->in[i].v;
  }
  return give(n, graph_concat(n->b, values, n->in_count, axis));
}

//===----------------------------------------------------------------------------------------------------------------===
// Constants and sizes
//===----------------------------------------------------------------------------------------------------------------===

// A constant of numbers in an attribute: one number (rank 0) or a list (rank 1).
static bool number_constant(onnx_node_t* n, const ir_attr_t* attr, const ir_type_t* element) {
  bool list = attr->kind == IR_ATTR_ARRAY;
  int64_t count = list ? attr->count : 1;
  const ir_type_t* type = onnx_tensor_type(n->ctx, element, list, &count);
  uint32_t bytes = ir_type_bytes(element);
  char* data = arena_alloc(ir_context_arena(n->ctx), (size_t)count * bytes + 1);
  for (int64_t i = 0; i < count; ++i) {
    const ir_attr_t* item = list ? attr->items[i] : attr;
    if (item->kind != (ir_type_is_float(element) ? IR_ATTR_FLOAT : IR_ATTR_INTEGER)) {
      return onnx_error(n, "the value is not a list of %s", ir_type_str(n->ctx, element));
    }
    if (ir_type_is_float(element)) ir_scalar_store_number(element, item->number, data + i * bytes);
    if (!ir_type_is_float(element)) ir_scalar_store_integer(element, item->integer, data + i * bytes);
  }
  return onnx_return(n, graph_constant(n->b, ir_attr_elements(n->ctx, type, data, (size_t)count * bytes)), element);
}

bool onnx_lower_constant(onnx_node_t* n) {
  static const char* const numbers[] = {"value_float", "value_floats", "value_int", "value_ints"};
  const ir_attr_t* value = onnx_attr(n, "value");
  if (value && value->kind == IR_ATTR_ELEMENTS && ir_type_is_static(value->type) &&
      value->type->rank <= ONNX_MAX_RANK) {
    return onnx_return(n, onnx_graph_constant(n->b, value), value->type->element);
  }
  for (int i = 0; i < 4; ++i) {
    const ir_attr_t* attr = onnx_attr(n, numbers[i]);
    if (attr) return number_constant(n, attr, i < 2 ? onnx_f32(n->ctx) : onnx_si64(n->ctx));
  }
  return onnx_unsupported(n, "only constants of numbers are supported");
}

bool onnx_lower_constant_of_shape(onnx_node_t* n) {
  onnx_dim_t dims[ONNX_MAX_RANK];
  uint32_t count;
  const ir_attr_t* value = onnx_attr(n, "value");
  const ir_type_t* element = onnx_f32(n->ctx);
  if (!onnx_dims_input(n, 0, dims, ONNX_MAX_RANK, &count)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (dims[i].size < 0 && dims[i].size != IR_DYNAMIC)
      return onnx_error(n, "size %lld is negative", (long long)dims[i].size);
  }
  ir_value_t* scalar;
  if (value) {
    if (value->kind != IR_ATTR_ELEMENTS || ir_type_count(value->type) != 1)
      return onnx_error(n, "value must be one number");
    element = value->type->element;
    const ir_type_t* type = onnx_tensor_type(n->ctx, element, 0, NULL);
    scalar = graph_constant(n->b, ir_attr_elements(n->ctx, type, ir_attr_data(value), ir_type_bytes(element)));
  } else {
    scalar = graph_scalar_constant(n->b, element, 0);
  }
  return onnx_return(n, onnx_broadcast_to(n, scalar, (int32_t)count, dims), element);
}

// An index value as tensor<1xi64>, or tensor<i64>.
ir_value_t* onnx_dim_tensor(onnx_node_t* n, onnx_dim_t dim, int32_t rank) {
  static const int64_t one[] = {1};
  const ir_type_t* type = ir_type_tensor(n->ctx, ir_type_int(n->ctx, 64), rank, one);
  if (dim.size != IR_DYNAMIC) return graph_splat_integer(n->b, type, dim.size);
  const ir_type_t* scalar = ir_type_tensor(n->ctx, ir_type_index(n->ctx), 0, NULL);
  ir_value_t* v = ir_build_value(n->b, GRAPH_TO_TENSOR, &dim.value, 1, scalar);
  return graph_reshape(n->b, graph_cast(n->b, v, type->element, false), rank, one, NULL);
}

bool onnx_lower_shape(onnx_node_t* n) {
  ir_value_t *x = n->in[0].v, *parts[ONNX_MAX_RANK];
  int64_t rank = x->type->rank, start = onnx_int(n, "start", 0), end = onnx_int(n, "end", rank), sizes[ONNX_MAX_RANK];
  if (start < 0) start += rank;
  if (end < 0) end += rank;
  start = start < 0 ? 0 : start > rank ? rank : start;
  end = end < start ? start : end > rank ? rank : end;
  int64_t count = end - start;
  bool is_static = true;
  for (int64_t i = 0; i < count; ++i) is_static &= (sizes[i] = x->type->dims[start + i]) != IR_DYNAMIC;
  if (is_static) {
    const ir_type_t* type = ir_type_tensor(n->ctx, ir_type_int(n->ctx, 64), 1, &count);
    ir_value_t* y = graph_constant(n->b, ir_attr_elements(n->ctx, type, sizes, sizeof(int64_t) * (size_t)count));
    return onnx_return(n, y, onnx_si64(n->ctx));
  }
  for (int64_t i = 0; i < count; ++i) parts[i] = onnx_dim_tensor(n, onnx_dim(n, x, (int32_t)(start + i)), 1);
  return onnx_return(n, graph_concat(n->b, parts, (uint32_t)count, 0), onnx_si64(n->ctx));
}

bool onnx_lower_size(onnx_node_t* n) {
  onnx_dim_t size = onnx_dim_of(1);
  for (int32_t i = 0; i < onnx_rank(n->in[0]); ++i) size = onnx_dim_mul(n, size, onnx_dim(n, n->in[0].v, i));
  return onnx_return(n, onnx_dim_tensor(n, size, 0), onnx_si64(n->ctx));
}
