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
  ir_value_t *x = n->in[0], *dynamic[GRAPH_MAX_RANK];
  int64_t times[TOSA_MAX_LIST], wide[GRAPH_MAX_RANK], dims[GRAPH_MAX_RANK], merged[GRAPH_MAX_RANK];
  uint32_t rank = (uint32_t)x->type->rank, next = 0;
  if (!tosa_numbers(n, "multiples", 1, times, rank)) return false;
  if (2 * rank > GRAPH_MAX_RANK || !ir_type_is_static(x->type))
    return lower_unsupported(n, "static shapes of rank 8 are");
  for (uint32_t i = 0; i < rank; ++i) {
    if (times[i] < 1 || __builtin_mul_overflow(times[i], x->type->dims[i], &merged[i])) {
      return lower_error(n, "needs positive multiples");
    }
    if (times[i] != 1) wide[next++] = times[i];
    dims[i] = next;
    wide[next++] = x->type->dims[i];
  }
  const ir_type_t* type = ir_type_tensor(n->ctx, x->type->element, (int32_t)next, wide);
  x = graph_broadcast(n->b, x, type, dims, dynamic);
  return lower_return(n, graph_reshape(n->b, x, (int32_t)rank, merged, NULL));
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
// resize: rows, then columns, taken at places that are constants
//===----------------------------------------------------------------------------------------------------------------===

typedef struct axis_t {
  int64_t dim, size, result, numerator, denominator, offset;
} axis_t;

static ir_value_t* constant_list(lower_op_t* n, const ir_type_t* element, const double* values, int64_t count) {
  uint32_t bytes = ir_type_bytes(element);
  char* data = arena_alloc(ir_context_arena(n->ctx), (size_t)count * bytes + 1);
  for (int64_t i = 0; i < count; ++i) {
    scalar_store(element, (scalar_value_t){.f = values[i], .i = (int64_t)values[i]}, data + i * bytes);
  }
  const ir_type_t* type = ir_type_tensor(n->ctx, element, 1, &count);
  return graph_constant(n->b, ir_attr_elements_borrow(n->ctx, type, data, (size_t)count * bytes));
}

// x along the axis: the nearest elements, or two weighted ones.
static ir_value_t* resize_axis(lower_op_t* n, ir_value_t* x, const axis_t* a, bool nearest, const ir_type_t* element) {
  arena_t* arena = ir_context_arena(n->ctx);
  double *low = ARENA_ARRAY(arena, double, a->result + 1), *high = ARENA_ARRAY(arena, double, a->result + 1);
  double *low_weight = ARENA_ARRAY(arena, double, a->result + 1),
         *high_weight = ARENA_ARRAY(arena, double, a->result + 1);
  bool floats = ir_type_is_float(element);
  for (int64_t i = 0; i < a->result; ++i) {
    int64_t at = i * a->denominator + a->offset;
    int64_t base = at / a->numerator - (at % a->numerator < 0), rest = at - base * a->numerator;
    int64_t next = base + 1;
    if (nearest && 2 * rest >= a->numerator) base = next;
    low[i] = (double)(base < 0 ? 0 : base >= a->size ? a->size - 1 : base);
    high[i] = (double)(next < 0 ? 0 : next >= a->size ? a->size - 1 : next);
    high_weight[i] = floats ? (double)rest / (double)a->numerator : (double)rest;
    low_weight[i] = floats ? 1 - high_weight[i] : (double)(a->numerator - rest);
  }
  const ir_type_t* index = ir_type_int(n->ctx, 32);
  ir_value_t* first = graph_take(n->b, x, constant_list(n, index, low, a->result), a->dim, false);
  if (nearest) return first;
  ir_value_t* second = graph_take(n->b, x, constant_list(n, index, high, a->result), a->dim, false);
  ir_value_t* parts[2] = {graph_cast(n->b, first, element, false), graph_cast(n->b, second, element, false)};
  for (int k = 0; k < 2; ++k) {
    ir_value_t* weights = constant_list(n, element, k ? high_weight : low_weight, a->result);
    ir_value_t* dynamic[GRAPH_MAX_RANK];
    lower_dynamic_dims(n->b, parts[k], parts[k]->type, dynamic);
    weights = graph_broadcast(n->b, weights, parts[k]->type, &a->dim, dynamic);
    parts[k] = graph_binary(n->b, SCALAR_mul, parts[k], weights);
  }
  return graph_binary(n->b, SCALAR_add, parts[0], parts[1]);
}

bool tosa_lower_resize(lower_op_t* n) {
  const ir_type_t *type = result_type(n), *from = n->in[0]->type;
  int64_t scale[TOSA_MAX_LIST], offset[TOSA_MAX_LIST];
  const char* mode = tosa_word(n, "mode");
  bool nearest = strcmp(mode, "NEAREST_NEIGHBOR") == 0;
  if (!type || !tosa_numbers(n, "scale", 1, scale, 4) || !tosa_numbers(n, "offset", 2, offset, 2)) return false;
  if (!nearest && strcmp(mode, "BILINEAR") != 0) return lower_error(n, "mode '%s' is unknown", mode);
  if (from->rank != 4 || type->rank != 4) return lower_unsupported(n, "tensors [n, h, w, c] are");
  ir_value_t* x = n->in[0];
  for (int k = 0; k < 2; ++k) {
    axis_t a = {1 + k, from->dims[1 + k], type->dims[1 + k], scale[2 * k], scale[2 * k + 1], offset[k]};
    if (a.size < 1 || a.result < 0 || a.result > 1 << 24)
      return lower_unsupported(n, "heights and widths that are known are");
    if (a.numerator < 1 || a.denominator < 1 || a.numerator > 1 << 20 || a.denominator > 1 << 20 ||
        a.offset > 1 << 30 || a.offset < -(1 << 30)) {
      return lower_error(n, "needs a positive scale");
    }
    x = resize_axis(n, x, &a, nearest, nearest ? from->element : type->element);
  }
  return lower_return(n, x);
}
