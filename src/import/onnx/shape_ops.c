// Ops that change shapes: reshapes, transposes, broadcasts, joins, and constants.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "import/onnx/holder.h"
#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"
#include "import/onnx/strings.h"

static bool give(onnx_node_t* n, ir_value_t* v) { return onnx_return(n, v, n->in[0].element); }

//===----------------------------------------------------------------------------------------------------------------===
// Reshape
//===----------------------------------------------------------------------------------------------------------------===

// A product of sizes: a constant times those known at run time only.
typedef struct product_t {
  int64_t constant;
  onnx_dim_t items[4 * ONNX_MAX_RANK];
  uint32_t count;
} product_t;

static void multiply_into(product_t* p, onnx_dim_t dim) {
  int64_t constant;
  const ir_op_t* op = onnx_dim_known(dim) ? NULL : dim.value->def;
  bool split = op && ir_is(op, GRAPH_mul) && p->count + 2 < 4 * ONNX_MAX_RANK;
  for (uint32_t i = 0; split && i < 2; ++i) {
    multiply_into(p, (onnx_dim_t){.size = IR_DYNAMIC, .value = ir_operand(op, i)});
  }
  if (split) return;
  if (onnx_dim_known(dim) || onnx_dim_is_constant(dim, &constant)) {
    if (__builtin_mul_overflow(p->constant, onnx_dim_known(dim) ? dim.size : constant, &p->constant))
      p->constant = INT64_MAX;
    return;
  }
  if (p->count < 4 * ONNX_MAX_RANK) p->items[p->count++] = dim;
}

// Drops what both have.
static void cancel(product_t* a, product_t* b) {
  for (uint32_t i = 0; i < a->count; ++i) {
    for (uint32_t k = 0; k < b->count; ++k) {
      if (!onnx_dim_same(a->items[i], b->items[k])) continue;
      a->items[i--] = a->items[--a->count];
      b->items[k] = b->items[--b->count];
      break;
    }
  }
  if (b->constant && a->constant % b->constant == 0) {
    a->constant /= b->constant;
    b->constant = 1;
  }
}

static onnx_dim_t product_dim(onnx_node_t* n, const product_t* p) {
  onnx_dim_t dim = onnx_dim_of(p->constant);
  for (uint32_t i = 0; i < p->count; ++i) dim = onnx_dim_mul(n, p->items[i], dim);
  return dim;
}

// The size for -1: all of x's elements over the other sizes. Factors that occur in both are cancelled, so that a static
// size is found where there is one.
static bool infer_dim(onnx_node_t* n, ir_value_t* x, const onnx_dim_t* dims, uint32_t count, onnx_dim_t* out) {
  product_t have = {.constant = 1}, want = {.constant = 1};
  for (int32_t i = 0; i < x->type->rank; ++i) multiply_into(&have, onnx_dim(n, x, i));
  for (uint32_t k = 0; k < count; ++k) {
    if (dims[k].size != -1) multiply_into(&want, dims[k]);
  }
  if (have.constant == 0) return *out = onnx_dim_of(0), true;
  cancel(&have, &want);
  if (!have.count && !want.count && want.constant != 1) {
    return onnx_error(n, "%lld elements cannot be divided into rows of %lld", (long long)have.constant,
                      (long long)want.constant);
  }
  onnx_dim_t divisor = product_dim(n, &want);
  if (want.constant == 0 || want.count) divisor = onnx_dim_max(n, divisor, onnx_dim_of(1));
  *out = onnx_dim_div(n, product_dim(n, &have), divisor);
  return true;
}

// Sizes that are read from data: 0 copies x's own, -1 is what is left.
static bool resolve_loaded(onnx_node_t* n, ir_value_t* x, onnx_dim_t* dims, uint32_t count, bool has_unknown) {
  onnx_dim_t open[ONNX_MAX_RANK], others[ONNX_MAX_RANK], left, total = onnx_dim_of(has_unknown);
  bool any = false, allow_zero = onnx_int(n, "allowzero", 0) != 0;
  for (uint32_t i = 0; i < count; ++i) {
    onnx_dim_t given = others[i] = dims[i];
    open[i] = onnx_dim_of(0);
    if (!given.loaded) continue;
    any = true;
    onnx_dim_t own = (int32_t)i < x->type->rank ? onnx_dim(n, x, (int32_t)i) : onnx_dim_of(0);
    if (!allow_zero) dims[i] = onnx_dim_select(n, onnx_dim_test(n, SCALAR_eq, given, onnx_dim_of(0)), own, given);
    open[i] = onnx_dim_test(n, SCALAR_eq, given, onnx_dim_of(-1));
    others[i] = onnx_dim_select(n, open[i], onnx_dim_of(1), dims[i]);
    total = onnx_dim_add(n, total, onnx_flag_number(n, open[i]));
    onnx_dim_t fits = onnx_dim_test(n, SCALAR_ge, given, onnx_dim_of(-1));
    if (!onnx_require(n, fits, "a size is negative")) return false;
  }
  if (!any) return true;
  onnx_dim_t fits = onnx_dim_test(n, SCALAR_le, total, onnx_dim_of(1));
  if (!onnx_require(n, fits, "more than one size is -1")) return false;
  if (has_unknown) return true;
  if (!infer_dim(n, x, others, count, &left)) return false;
  for (uint32_t i = 0; i < count; ++i) dims[i] = onnx_dim_select(n, open[i], left, dims[i]);
  return true;
}

bool onnx_lower_reshape(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  onnx_dim_t dims[ONNX_MAX_RANK];
  uint32_t count, unknown = UINT32_MAX;
  bool allow_zero = onnx_int(n, "allowzero", 0) != 0, is_static = true;
  if (!onnx_shape_input(n, 1, dims, &count)) return false;
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
  if (!resolve_loaded(n, x, dims, count, unknown != UINT32_MAX)) return false;
  if (unknown != UINT32_MAX && !infer_dim(n, x, dims, count, &dims[unknown])) return false;
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

// Without axes, what has size 1 goes. Where that is known at run time only, the result's rank is the declared one, or
// the one that is asked for, or what is left when all those sizes are others. False for the last when types are
// inferred: it is no more than likely.
static bool squeeze_ones(onnx_node_t* n, onnx_axes_t* axes, int32_t* rank) {
  ir_value_t* x = n->in[0].v;
  bool constant = true;
  for (int32_t i = 0; i < x->type->rank; ++i) {
    axes->flags[i] = onnx_dim_test(n, SCALAR_eq, onnx_dim(n, x, i), onnx_dim_of(1));
    constant &= onnx_dim_known(axes->flags[i]);
    if (onnx_dim_known(axes->flags[i])) *rank -= axes->flags[i].size != 0;
  }
  if (constant) return true;
  int32_t wanted = onnx_result_rank(n, 0);
  if (wanted >= 0 && wanted < *rank) *rank = wanted;
  return wanted >= 0 || !n->lowering->inferring || !(n->lowering->unsupported = true);
}

// Whether nothing but the elements of the result is asked for, in order.
static bool squeezes_to_any(onnx_node_t* n) {
  bool open = !onnx_has(n, 1) && !ir_type_is_static(n->in[0].v->type);
  return open && onnx_declared_rank(n, 0) < 0 && !onnx_asked_rank(n, 0).matters;
}

bool onnx_lower_squeeze(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  onnx_axes_t axes = {.constant = true};
  onnx_dim_t dims[ONNX_MAX_RANK];
  int32_t rank = x->type->rank;
  if (squeezes_to_any(n)) return give(n, onnx_flatten(n, n->in[0]));
  if (!onnx_has(n, 1)) {
    if (!squeeze_ones(n, &axes, &rank)) return false;
  } else {
    if (!onnx_axes_input(n, 1, rank, &axes)) return false;
    rank = axes.count == IR_DYNAMIC ? onnx_result_rank(n, 0) : rank - (int32_t)axes.count;
    if (rank < 0) return onnx_axes_unknown(n);
  }
  for (int32_t i = 0; i < x->type->rank; ++i) {
    onnx_dim_t size = onnx_dim(n, x, i), one = onnx_dim_of(1);
    if (onnx_dim_known(axes.flags[i]) && !axes.flags[i].size) continue;
    if (onnx_dim_known(axes.flags[i]) && onnx_dim_known(size) && size.size != 1)
      return onnx_error(n, "dimension %d has size %lld, not 1", i, (long long)size.size);
    onnx_dim_t fits = onnx_dim_test(n, SCALAR_eq, onnx_dim_select(n, axes.flags[i], size, one), one);
    if (onnx_has(n, 1) && !onnx_require(n, fits, "a squeezed dimension must have size 1")) return false;
  }
  return onnx_unflagged_dims(n, x, &axes, rank, dims) && give(n, onnx_reshape(n, x, rank, dims));
}

bool onnx_lower_unsqueeze(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  onnx_axes_t axes;
  onnx_dim_t dims[ONNX_MAX_RANK], next = onnx_dim_of(0);
  int64_t count = ir_type_count(n->in[1].v->type), own = x->type->rank, rank = own + count;
  if (count == IR_DYNAMIC) rank = onnx_result_rank(n, 0);
  if (rank < 0) return onnx_axes_unknown(n);
  if (rank > ONNX_MAX_RANK) return onnx_error(n, "the result's rank is above %d", ONNX_MAX_RANK);
  if (!onnx_axes_input(n, 1, (int32_t)rank, &axes)) return false;
  for (int32_t i = 0; i < rank; ++i) {
    dims[i] = onnx_dim_of(1);
    for (int32_t k = 0; k < own && k <= i; ++k) {
      onnx_dim_t here = onnx_dim_test(n, SCALAR_eq, next, onnx_dim_of(k));
      dims[i] = onnx_dim_select(n, here, onnx_dim(n, x, k), dims[i]);
    }
    dims[i] = onnx_dim_select(n, axes.flags[i], onnx_dim_of(1), dims[i]);
    next = onnx_dim_add(n, next, onnx_dim_select(n, axes.flags[i], onnx_dim_of(0), onnx_dim_of(1)));
  }
  onnx_dim_t fits = onnx_dim_test(n, SCALAR_eq, next, onnx_dim_of(own));
  return onnx_require(n, fits, "the result must have rank %lld", (long long)rank) &&
         give(n, onnx_reshape(n, x, (int32_t)rank, dims));
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
  if (block < 1 || block > 65536 || (d[1].size != IR_DYNAMIC && d[1].size % (block * block))) {
    return onnx_error(n, "blocksize %lld does not divide the number of channels", (long long)block);
  }
  onnx_dim_t depth = onnx_dim_div(n, d[1], onnx_dim_of(block * block));
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
  if (!onnx_shape_input(n, 1, given, &count)) return false;
  int32_t own = x->type->rank, rank = own > (int32_t)count ? own : (int32_t)count;
  for (int32_t i = 0; i < rank; ++i) {
    int32_t xi = i - (rank - own), gi = i - (rank - (int32_t)count);
    onnx_dim_t a = xi < 0 ? onnx_dim_of(1) : onnx_dim(n, x, xi), b = gi < 0 ? onnx_dim_of(1) : given[gi];
    bool fits = a.size == b.size || a.size == 1 || b.size == 1 || a.size == IR_DYNAMIC || b.size == IR_DYNAMIC;
    if (!fits || (b.size < 0 && b.size != IR_DYNAMIC)) {
      return onnx_error(n, "size %lld does not broadcast to %lld", (long long)a.size, (long long)b.size);
    }
    dims[i] = onnx_dim_common(n, b, a);
    if (!onnx_dim_known(a) && onnx_dim_meets(a, b)) {
      onnx_dim_t same = onnx_dim_test(n, SCALAR_eq, a, b);
      if (!onnx_require(n, same, "a size does not broadcast")) return false;
      dims[i] = a;
      continue;
    }
    onnx_dim_t ones = onnx_dim_test(n, SCALAR_eq, b, onnx_dim_of(1));
    onnx_dim_t one_fits = onnx_flag_or(n, ones, onnx_dim_test(n, SCALAR_eq, b, dims[i]));
    bool is_checked = onnx_dim_known(b) || !onnx_dim_known(dims[i]);
    if (!is_checked && !onnx_require(n, one_fits, "a size does not broadcast")) return false;
  }
  return give(n, onnx_broadcast_to(n, x, rank, dims));
}

// [a, b] -> [1, a, 1, b] -> [r, a, s, b] -> [r a, s b]
bool onnx_lower_tile(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  int32_t rank = x->type->rank;
  onnx_dim_t repeats[ONNX_MAX_RANK], apart[ONNX_MAX_RANK], wide[ONNX_MAX_RANK], joined[ONNX_MAX_RANK];
  uint32_t split = 0;
  if (!onnx_dims_exactly(n, 1, (uint32_t)rank, repeats)) return false;
  for (int32_t i = 0; i < rank; ++i) {
    onnx_dim_t size = onnx_dim(n, x, i);
    onnx_dim_t fits = onnx_dim_test(n, SCALAR_ge, repeats[i], onnx_dim_of(0));
    if ((repeats[i].loaded || onnx_dim_known(fits)) && !onnx_require(n, fits, "a repeat is negative")) return false;
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
  static const char* const strings[] = {"value", "value_string", "value_strings"};
  const ir_attr_t* value = onnx_attr(n, "value");
  if (value && value->kind == IR_ATTR_ELEMENTS && ir_type_is_static(value->type) &&
      value->type->rank <= ONNX_MAX_RANK) {
    return onnx_return(n, onnx_graph_constant(n->b, value), value->type->element);
  }
  for (int i = 0; i < 4; ++i) {
    const ir_attr_t* attr = onnx_attr(n, numbers[i]);
    if (attr) return number_constant(n, attr, i < 2 ? onnx_f32(n->ctx) : onnx_si64(n->ctx));
  }
  for (int i = 0; i < 3; ++i) {
    const ir_attr_t* attr = onnx_attr(n, strings[i]);
    if (attr) return onnx_string_constant(n, attr, &n->out[0]);
  }
  return onnx_unsupported(n, "only constants of numbers and strings are supported");
}

bool onnx_lower_constant_of_shape(onnx_node_t* n) {
  onnx_dim_t dims[ONNX_MAX_RANK];
  uint32_t count;
  const ir_attr_t* value = onnx_attr(n, "value");
  const ir_type_t* element = onnx_f32(n->ctx);
  if (!onnx_shape_input(n, 0, dims, &count)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (dims[i].size < 0 && dims[i].size != IR_DYNAMIC)
      return onnx_error(n, "size %lld is negative", (long long)dims[i].size);
    onnx_dim_t fits = onnx_dim_test(n, SCALAR_ge, dims[i], onnx_dim_of(0));
    if (dims[i].loaded && !onnx_require(n, fits, "a size is negative")) return false;
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

// ONNX Runtime's Unsqueeze of one axis, which may be of any integer type.
bool onnx_lower_expand_dims(onnx_node_t* n) {
  const onnx_dim_t one = onnx_dim_of(1);
  onnx_value_t out[3] = {{0}};
  if (!onnx_is_int(n->in[1]) || !onnx_check_single(n, 1)) return onnx_error(n, "the axis must be one integer");
  onnx_value_t in[] = {n->in[0], onnx_cast(n, n->in[1], onnx_si64(n->ctx))};
  in[1].v = onnx_reshape(n, in[1].v, 1, &one);
  return onnx_apply(n, "Unsqueeze", in, 2, out) && onnx_return(n, out[0].v, out[0].element);
}
