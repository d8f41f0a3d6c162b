// TOSA's data layout ops, gather, scatter and resize.
#include <string.h>

#include "dialects/tosa.h"
#include "import/tosa/ops.h"

static const ir_type_t* result_type(lower_op_t* n) {
  const ir_type_t* type = lower_type(n->ctx, lower_out_type(n, 0));
  if (type && ir_type_is_tensor(type)) return type;
  lower_unsupported(n, "a ranked tensor of numbers is what it can give");
  return NULL;
}

static bool read_axis(lower_op_t* n, int64_t* axis) {
  *axis = ir_op_int(n->op, "axis", -1);
  if (n->op->operand_count && ir_type_is_tensor(n->in[0]->type) && *axis >= 0 && *axis < n->in[0]->type->rank) {
    return true;
  }
  return lower_error(n, "axis %lld is out of range", (long long)*axis);
}

bool tosa_lower_concat(lower_op_t* n) {
  int64_t axis;
  if (!read_axis(n, &axis)) return false;
  const ir_type_t* first = n->in[0]->type;
  for (uint32_t i = 1; i < n->op->operand_count; ++i) {
    const ir_type_t* type = n->in[i]->type;
    bool fits = type->rank == first->rank && type->element == first->element;
    for (int32_t d = 0; fits && d < first->rank; ++d) {
      fits =
          d == axis || type->dims[d] == first->dims[d] || type->dims[d] == IR_DYNAMIC || first->dims[d] == IR_DYNAMIC;
    }
    if (!fits) return lower_error(n, "has operands that do not fit together");
  }
  return lower_return(n, graph_concat(n->b, n->in, n->op->operand_count, axis));
}

bool tosa_lower_reverse(lower_op_t* n) {
  int64_t axis;
  return read_axis(n, &axis) && lower_return(n, graph_reverse(n->b, n->in[0], &axis, 1));
}

bool tosa_lower_transpose(lower_op_t* n) {
  int64_t perm[TOSA_MAX_LIST];
  uint32_t seen = 0;
  int32_t rank = n->in[0]->type->rank;
  if (!tosa_numbers(n, "perms", 1, perm, (uint32_t)rank)) return false;
  for (int32_t i = 0; i < rank; ++i) {
    if (perm[i] < 0 || perm[i] >= rank || (seen & (1u << perm[i]))) return lower_error(n, "needs a permutation");
    seen |= 1u << perm[i];
  }
  return lower_return(n, graph_transpose(n->b, n->in[0], perm));
}

// The shape may leave one size open (-1), and so may the result's type.
bool tosa_lower_reshape(lower_op_t* n) {
  const ir_type_t *type = result_type(n), *from = n->in[0]->type;
  int64_t shape[TOSA_MAX_LIST], dims[GRAPH_MAX_RANK], known = 1, total = ir_type_count(from);
  int32_t open = -1;
  if (!type || !tosa_numbers(n, "new_shape", 1, shape, (uint32_t)type->rank)) return false;
  for (int32_t i = 0; i < type->rank; ++i) {
    dims[i] = shape[i] >= 0 ? shape[i] : type->dims[i];
    if (dims[i] == IR_DYNAMIC && open >= 0) return lower_error(n, "leaves two sizes open");
    if (dims[i] == IR_DYNAMIC) open = i;
    if (dims[i] != IR_DYNAMIC && __builtin_mul_overflow(known, dims[i], &known)) return lower_error(n, "is too large");
  }
  if (total != IR_DYNAMIC && open >= 0) {
    if (known <= 0 || total % known) return lower_error(n, "cannot make this shape of %lld elements", (long long)total);
    dims[open] = total / known;
    open = -1;
  }
  if (total != IR_DYNAMIC && open < 0 &&
      ir_type_count(ir_type_tensor(n->ctx, type->element, type->rank, dims)) != total) {
    return lower_error(n, "changes the number of elements");
  }
  ir_value_t* size = graph_index_constant(n->b, 1);
  for (int32_t i = 0; open >= 0 && i < from->rank; ++i) {
    size = lower_index_binary(n->b, SCALAR_mul, size, graph_dim(n->b, n->in[0], (uint32_t)i));
  }
  if (open >= 0) size = lower_index_binary(n->b, SCALAR_div, size, graph_index_constant(n->b, known > 0 ? known : 1));
  return lower_return(n, graph_reshape(n->b, n->in[0], type->rank, dims, &size));
}

bool tosa_lower_slice(lower_op_t* n) {
  ir_value_t* x = n->in[0];
  int64_t start[TOSA_MAX_LIST], size[TOSA_MAX_LIST], ones[GRAPH_MAX_RANK];
  uint32_t rank = (uint32_t)x->type->rank;
  if (!tosa_numbers(n, "start", 1, start, rank) || !tosa_numbers(n, "size", 2, size, rank)) return false;
  for (uint32_t i = 0; i < rank; ++i) {
    int64_t dim = x->type->dims[i];
    ones[i] = 1;
    if (size[i] == -1) size[i] = dim == IR_DYNAMIC ? dim : dim - start[i];
    bool whole = size[i] == IR_DYNAMIC && start[i] == 0;
    bool fits = start[i] >= 0 && size[i] >= 0 && (dim == IR_DYNAMIC || (start[i] <= dim && size[i] <= dim - start[i]));
    if (!whole && !fits) return lower_error(n, "leaves its operand in dimension %u", i);
  }
  return lower_return(n, graph_slice(n->b, x, start, size, ones));
}

bool tosa_lower_tile(lower_op_t* n) {
  ir_value_t *x = n->in[0], *apart[GRAPH_MAX_RANK], *merged[GRAPH_MAX_RANK], *open[GRAPH_MAX_RANK];
  int64_t times[TOSA_MAX_LIST], wide[GRAPH_MAX_RANK], dims[GRAPH_MAX_RANK], total;
  uint32_t rank = (uint32_t)x->type->rank, next = 0;
  if (!tosa_numbers(n, "multiples", 1, times, rank)) return false;
  if (2 * rank > GRAPH_MAX_RANK) return lower_unsupported(n, "ranks up to %d are", GRAPH_MAX_RANK / 2);
  for (uint32_t i = 0; i < rank; ++i) {
    int64_t dim = x->type->dims[i];
    if (times[i] < 1 || (dim != IR_DYNAMIC && __builtin_mul_overflow(times[i], dim, &total))) {
      return lower_error(n, "needs positive multiples");
    }
    ir_value_t *by = graph_index_constant(n->b, times[i]), *size = graph_dim(n->b, x, i);
    if (times[i] != 1) apart[next++] = by;
    dims[i] = next;
    apart[next++] = size;
    merged[i] = lower_index_binary(n->b, SCALAR_mul, size, by);
  }
  lower_split_sizes(apart, next, wide, open);
  x = graph_broadcast(n->b, x, ir_type_tensor(n->ctx, x->type->element, (int32_t)next, wide), dims, open);
  return lower_return(n, lower_reshape(n->b, x, merged, rank));
}

// padding: low and high for each dimension, one after the other.
bool tosa_lower_pad(lower_op_t* n) {
  ir_value_t* x = n->in[0];
  int64_t both[TOSA_MAX_LIST], low[GRAPH_MAX_RANK], high[GRAPH_MAX_RANK];
  uint32_t rank = (uint32_t)x->type->rank;
  if (!tosa_numbers(n, "padding", 1, both, 2 * rank)) return false;
  for (uint32_t i = 0; i < rank; ++i) {
    low[i] = both[2 * i];
    high[i] = both[2 * i + 1];
    if (low[i] < 0 || high[i] < 0 || low[i] > INT32_MAX || high[i] > INT32_MAX) return lower_error(n, "needs sizes");
  }
  ir_value_t* value = NULL;
  if (n->op->operand_count > 2) value = graph_reshape(n->b, n->in[2], 0, NULL, NULL);
  if (!value) value = tosa_zero_point(n, UINT32_MAX, "input_zp", x->type->element);
  if (value && value->type->element != x->type->element) return lower_error(n, "needs a value of the element type");
  return lower_return(n, graph_pad(n->b, x, value, low, high, NULL, "constant"));
}

//===----------------------------------------------------------------------------------------------------------------===
// gather: [n, k, c] at [n, w] -> [n, w, c]; scatter is the inverse
//===----------------------------------------------------------------------------------------------------------------===

static bool check_batches(lower_op_t* n, const ir_type_t* values, const ir_type_t* indices) {
  bool fits = values->rank == 3 && indices->rank == 2 && !lower_is_float(indices) &&
              (values->dims[0] == indices->dims[0] || values->dims[0] == IR_DYNAMIC || indices->dims[0] == IR_DYNAMIC);
  return fits || lower_error(n, "needs values [n, k, c] and indices [n, w]");
}

static uint32_t batch_attrs(lower_op_t* n, bool scatter, ir_named_attr_t* attrs) {
  static const int64_t zero = 0, one = 1, two = 2;
  ir_context_t* ctx = n->ctx;
  attrs[0] = (ir_named_attr_t){scatter ? "update_window_dims" : "offset_dims", ir_attr_i64_array(ctx, &two, 1)};
  attrs[1] = (ir_named_attr_t){scatter ? "inserted_dims" : "collapsed_dims", ir_attr_i64_array(ctx, &one, 1)};
  attrs[2] = (ir_named_attr_t){"operand_batch_dims", ir_attr_i64_array(ctx, &zero, 1)};
  attrs[3] = (ir_named_attr_t){"indices_batch_dims", ir_attr_i64_array(ctx, &zero, 1)};
  attrs[4] = (ir_named_attr_t){scatter ? "scatter_dims_map" : "start_index_map", ir_attr_i64_array(ctx, &one, 1)};
  attrs[5] = (ir_named_attr_t){"index_vector_dim", ir_attr_i64(ctx, 2)};
  return 6;
}

bool tosa_lower_gather(lower_op_t* n) {
  const ir_type_t *values = n->in[0]->type, *indices = n->in[1]->type;
  ir_named_attr_t attrs[7];
  if (n->op->operand_count != 2 || !check_batches(n, values, indices)) return false;
  int64_t dims[3] = {indices->dims[0], indices->dims[1], values->dims[2]}, sizes[3] = {1, 1, values->dims[2]};
  uint32_t count = batch_attrs(n, false, attrs);
  attrs[count++] = (ir_named_attr_t){"slice_sizes", ir_attr_i64_array(n->ctx, sizes, 3)};
  return lower_return(
      n, lower_build(n, GRAPH_GATHER, n->in, 2, ir_type_tensor(n->ctx, values->element, 3, dims), attrs, count));
}

bool tosa_lower_scatter(lower_op_t* n) {
  ir_named_attr_t attrs[7];
  if (n->op->operand_count != 3) return lower_error(n, "needs three operands");
  const ir_type_t *values = n->in[0]->type, *updates = n->in[2]->type;
  if (!check_batches(n, values, n->in[1]->type)) return false;
  if (updates->rank != 3 || updates->element != values->element) return lower_error(n, "needs updates [n, w, c]");
  uint32_t count = batch_attrs(n, true, attrs);
  attrs[count++] = (ir_named_attr_t){"kind", ir_attr_cstring(n->ctx, "set")};
  return lower_return(n, lower_build(n, GRAPH_SCATTER, n->in, 3, values, attrs, count));
}

//===----------------------------------------------------------------------------------------------------------------===
// resize: rows, then columns
//===----------------------------------------------------------------------------------------------------------------===

// Element i of the result is at (i * denominator + offset) / numerator.
typedef struct axis_t {
  int64_t dim, numerator, denominator, offset;
  ir_value_t *size, *result;  // indices
} axis_t;

static ir_value_t* with(lower_op_t* n, scalar_fn_t fn, ir_value_t* x, int64_t y) {
  const ir_type_t* scalar = ir_type_tensor(n->ctx, x->type->element, 0, NULL);
  return graph_binary(n->b, fn, x, lower_splat(n->b, graph_splat_integer(n->b, scalar, y), x));
}

// The elements of x at these places, those outside moved to the border.
static ir_value_t* take_inside(lower_op_t* n, ir_value_t* x, const axis_t* a, ir_value_t* places) {
  ir_value_t* last = lower_index_binary(n->b, SCALAR_sub, a->size, graph_index_constant(n->b, 1));
  last = graph_cast(n->b, lower_as_tensor(n->b, last), places->type->element, false);
  places = graph_binary(n->b, SCALAR_min, places, lower_splat(n->b, last, places));
  places = graph_cast(n->b, with(n, SCALAR_max, places, 0), ir_type_int(n->ctx, 32), false);
  return graph_take(n->b, x, places, a->dim, false);
}

static ir_value_t* weighted(lower_op_t* n, ir_value_t* x, const axis_t* a, ir_value_t* weights) {
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  lower_dynamic_dims(n->b, x, x->type, dynamic);
  return graph_binary(n->b, SCALAR_mul, x, graph_broadcast(n->b, weights, x->type, &a->dim, dynamic));
}

// x along the axis: the nearest elements, or two weighted ones.
static ir_value_t* resize_axis(lower_op_t* n, ir_value_t* x, const axis_t* a, bool nearest, const ir_type_t* element) {
  int64_t count, shift = a->offset < 0 ? -a->offset / a->numerator + 1 : 0;  // so that nothing is below 0
  ir_value_t* open[1];
  lower_split_sizes(&a->result, 1, &count, open);
  const ir_type_t* type = ir_type_tensor(n->ctx, ir_type_int(n->ctx, 64), 1, &count);
  ir_value_t* at = with(n, SCALAR_mul, graph_iota(n->b, type, 0, open), a->denominator);
  at = with(n, SCALAR_add, at, a->offset + shift * a->numerator);
  ir_value_t* base = with(n, SCALAR_sub, with(n, SCALAR_div, at, a->numerator), shift);
  ir_value_t *rest = with(n, SCALAR_rem, at, a->numerator), *next = with(n, SCALAR_add, base, 1);
  if (nearest) {
    ir_value_t* up = with(n, SCALAR_ge, with(n, SCALAR_mul, rest, 2), a->numerator);
    return take_inside(n, x, a, graph_select(n->b, up, next, base));
  }
  ir_value_t *high = graph_cast(n->b, rest, element, false), *low;
  if (ir_type_is_float(element)) {
    const ir_type_t* exact = ir_type_float(n->ctx, element->float_kind == IR_F64 ? IR_F64 : IR_F32);
    high = lower_with_number(n, SCALAR_div, graph_cast(n->b, rest, exact, false), (double)a->numerator);
    low = graph_cast(n->b, graph_binary(n->b, SCALAR_sub, lower_number_like(n, high, 1), high), element, false);
    high = graph_cast(n->b, high, element, false);
  } else {
    low = graph_binary(n->b, SCALAR_sub, lower_number_like(n, high, (double)a->numerator), high);
  }
  ir_value_t* first = graph_cast(n->b, take_inside(n, x, a, base), element, false);
  ir_value_t* second = graph_cast(n->b, take_inside(n, x, a, next), element, false);
  return graph_binary(n->b, SCALAR_add, weighted(n, first, a, low), weighted(n, second, a, high));
}

// ((size - 1) * numerator - offset + border) / denominator + 1, where the type does not say it.
static ir_value_t* resized(lower_op_t* n, const axis_t* a, int64_t told, int64_t border) {
  if (told != IR_DYNAMIC) return graph_index_constant(n->b, told);
  ir_value_t* size = lower_index_binary(n->b, SCALAR_sub, a->size, graph_index_constant(n->b, 1));
  size = lower_index_binary(n->b, SCALAR_mul, size, graph_index_constant(n->b, a->numerator));
  size = lower_index_binary(n->b, SCALAR_add, size, graph_index_constant(n->b, border - a->offset));
  size = lower_index_binary(n->b, SCALAR_div, size, graph_index_constant(n->b, a->denominator));
  return lower_index_binary(n->b, SCALAR_add, size, graph_index_constant(n->b, 1));
}

bool tosa_lower_resize(lower_op_t* n) {
  const ir_type_t *type = result_type(n), *from = n->in[0]->type;
  int64_t scale[TOSA_MAX_LIST], offset[TOSA_MAX_LIST], border[TOSA_MAX_LIST] = {0};
  const char* mode = tosa_word(n, "mode");
  bool nearest = strcmp(mode, "NEAREST_NEIGHBOR") == 0;
  if (!type || !tosa_numbers(n, "scale", 1, scale, 4) || !tosa_numbers(n, "offset", 2, offset, 2)) return false;
  if (!nearest && strcmp(mode, "BILINEAR") != 0) return lower_error(n, "mode '%s' is unknown", mode);
  if (from->rank != 4 || type->rank != 4) return lower_unsupported(n, "tensors [n, h, w, c] are");
  bool open = type->dims[1] == IR_DYNAMIC || type->dims[2] == IR_DYNAMIC;
  if (open && !tosa_numbers(n, "border", 3, border, 2)) return false;
  ir_value_t* x = n->in[0];
  for (int k = 0; k < 2; ++k) {
    int64_t size = from->dims[1 + k], told = type->dims[1 + k];
    axis_t a = {1 + k, scale[2 * k], scale[2 * k + 1], offset[k], graph_dim(n->b, x, (uint32_t)(1 + k)), NULL};
    if (size == 0 || (told != IR_DYNAMIC && told > 1 << 24)) return lower_unsupported(n, "2^24 rows and columns are");
    if (a.numerator < 1 || a.denominator < 1 || a.numerator > 1 << 20 || a.denominator > 1 << 20 ||
        a.offset > 1 << 30 || a.offset < -(1 << 30) || border[k] > 1 << 30 || border[k] < -(1 << 30)) {
      return lower_error(n, "needs a positive scale");
    }
    a.result = resized(n, &a, told, border[k]);
    x = resize_axis(n, x, &a, nearest, nearest ? from->element : type->element);
  }
  return lower_return(n, x);
}
