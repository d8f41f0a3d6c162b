// StableHLO ops that move elements: shapes that are known, or computed from shape operands.
#include <string.h>

#include "dialects/stablehlo.h"
#include "import/stablehlo/ops.h"

// The result's type, with a complex element's part.
static const ir_type_t* result_type(lower_op_t* n) {
  const ir_type_t* type = lower_out_type(n, 0);
  const ir_type_t* scalar = ir_type_scalar(type);
  if (ir_type_is_tensor(type) && scalar->kind == IR_TYPE_COMPLEX) {
    type = ir_type_with_element(n->ctx, type, scalar->element);
  }
  const ir_type_t* lowered = lower_type(n->ctx, type);
  if (lowered && ir_type_is_tensor(lowered)) return lowered;
  lower_unsupported(n, "a tensor of numbers is what it can give");
  return NULL;
}

static const ir_type_t* static_result_type(lower_op_t* n) {
  const ir_type_t* type = result_type(n);
  if (!type || ir_type_is_static(type)) return type;
  lower_unsupported(n, "the result %s needs a static shape", ir_type_str(n->ctx, type));
  return NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// reshape, broadcast, iota
//===----------------------------------------------------------------------------------------------------------------===

static bool same_count(lower_op_t* n, const ir_type_t* from, const ir_type_t* to) {
  int64_t before = ir_type_count(from), after = ir_type_count(to);
  if (before == after || before == IR_DYNAMIC || after == IR_DYNAMIC) return true;
  return lower_error(n, "cannot make %lld elements of %lld", (long long)after, (long long)before);
}

// One size that a reshape's type leaves open is what the others leave of the elements.
static ir_value_t* reshape_part(lower_op_t* n, ir_value_t** parts) {
  const ir_type_t* type = result_type(n);
  ir_value_t* count = graph_index_constant(n->b, 1);
  int64_t known = 1;
  uint32_t open = 0;
  if (!type || !same_count(n, parts[0]->type, type)) return NULL;
  for (int32_t i = 0; i < type->rank; ++i) {
    open += type->dims[i] == IR_DYNAMIC;
    if (type->dims[i] != IR_DYNAMIC && __builtin_mul_overflow(known, type->dims[i], &known)) known = 0;
  }
  if (!open) return graph_reshape(n->b, parts[0], type->rank, type->dims, NULL);
  if (open > 1 || !known) return lower_unsupported(n, "a result with one size that is open is"), NULL;
  for (uint32_t i = 0; i < (uint32_t)parts[0]->type->rank; ++i)
    count = lower_index_binary(n->b, SCALAR_mul, count, graph_dim(n->b, parts[0], i));
  count = lower_index_binary(n->b, SCALAR_div, count, graph_index_constant(n->b, known));
  return graph_reshape(n->b, parts[0], type->rank, type->dims, &count);
}
bool stablehlo_lower_reshape(lower_op_t* n) { return stablehlo_map_parts(n, reshape_part); }

// Run-time sizes of `type`'s '?' dims from the elements of a shape tensor.
static bool dims_from_shape(lower_op_t* n, const ir_type_t* type, ir_value_t* shape, ir_value_t** dynamic) {
  uint32_t count = 0;
  bool fits = ir_type_is_tensor(shape->type) && shape->type->rank == 1 && !lower_is_float(shape->type) &&
              (shape->type->dims[0] == type->rank || shape->type->dims[0] == IR_DYNAMIC);
  if (!fits) return lower_error(n, "needs a shape of %d integers", type->rank);
  for (int32_t i = 0; i < type->rank; ++i) {
    if (type->dims[i] == IR_DYNAMIC) dynamic[count++] = lower_index_element(n->b, shape, i);
  }
  return true;
}

// The same type with the dims that the shape operand has as constants.
static const ir_type_t* refine(lower_op_t* n, const ir_type_t* type, ir_value_t* shape) {
  const ir_attr_t* value = ir_is(shape->def, GRAPH_CONSTANT) ? ir_op_attr(shape->def, "value") : NULL;
  if (!value || value->kind != IR_ATTR_ELEMENTS || ir_type_count(value->type) != type->rank) return type;
  int64_t dims[GRAPH_MAX_RANK];
  for (int32_t i = 0; i < type->rank; ++i) {
    int64_t size = ir_attr_element_integer(value, i);
    dims[i] = type->dims[i] == IR_DYNAMIC && size >= 0 ? size : type->dims[i];
  }
  return ir_type_tensor(n->ctx, type->element, type->rank, dims);
}

bool stablehlo_lower_dynamic_reshape(lower_op_t* n) {
  const ir_type_t* type = result_type(n);
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  if (!type || !lower_check_tensors(n)) return false;
  type = refine(n, type, n->in[1]);
  if (!dims_from_shape(n, type, n->in[1], dynamic) || !same_count(n, n->in[0]->type, type)) return false;
  return lower_return(n, graph_reshape(n->b, n->in[0], type->rank, type->dims, dynamic));
}

// Whether x may be broadcast into `type` by `dims`.
static bool check_broadcast(lower_op_t* n, const ir_type_t* x, const ir_type_t* type, const int64_t* dims) {
  for (int32_t i = 0; i < x->rank; ++i) {
    int64_t from = x->dims[i], to = type->dims[dims[i]];
    if (from != 1 && from != to && from != IR_DYNAMIC && to != IR_DYNAMIC) {
      return lower_error(n, "cannot broadcast size %lld to %lld (dimension %d to %lld)", (long long)from, (long long)to,
                         i, (long long)dims[i]);
    }
  }
  return true;
}

static ir_value_t* broadcast_part(lower_op_t* n, ir_value_t** parts) {
  const ir_type_t* type = result_type(n);
  int64_t dims[GRAPH_MAX_RANK];
  uint32_t count;
  ir_value_t *x = parts[0], *dynamic[GRAPH_MAX_RANK];
  if (!type || !lower_dims(n, "broadcast_dimensions", type->rank, dims, &count)) return NULL;
  if (count != (uint32_t)x->type->rank) {
    lower_error(n, "needs %d entries in 'broadcast_dimensions', has %u", x->type->rank, count);
    return NULL;
  }
  if (!check_broadcast(n, x->type, type, dims)) return NULL;
  uint32_t sizes = 0;
  for (int32_t i = 0; i < type->rank; ++i) {
    if (type->dims[i] != IR_DYNAMIC) continue;
    uint32_t from = 0;
    while (from < count && dims[from] != i) ++from;
    if (from == count) {
      lower_unsupported(n, "the size of dimension %d is unknown; dynamic_broadcast_in_dim names it", i);
      return NULL;
    }
    dynamic[sizes++] = graph_dim(n->b, x, from);
  }
  return graph_broadcast(n->b, x, type, dims, dynamic);
}
bool stablehlo_lower_broadcast_in_dim(lower_op_t* n) { return stablehlo_map_parts(n, broadcast_part); }

// broadcast: new dims in front.
static ir_value_t* leading_broadcast_part(lower_op_t* n, ir_value_t** parts) {
  const ir_type_t* type = static_result_type(n);
  if (!type) return NULL;
  int64_t dims[GRAPH_MAX_RANK];
  int32_t rank = parts[0]->type->rank;
  if (rank > type->rank) {
    lower_error(n, "has a result of lower rank than its operand");
    return NULL;
  }
  for (int32_t i = 0; i < rank; ++i) dims[i] = type->rank - rank + i;
  return check_broadcast(n, parts[0]->type, type, dims) ? graph_broadcast(n->b, parts[0], type, dims, NULL) : NULL;
}
bool stablehlo_lower_broadcast(lower_op_t* n) { return stablehlo_map_parts(n, leading_broadcast_part); }

bool stablehlo_lower_dynamic_broadcast_in_dim(lower_op_t* n) {
  const ir_type_t* type = result_type(n);
  int64_t dims[GRAPH_MAX_RANK];
  uint32_t count;
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  if (!type || !lower_check_tensors(n) || !lower_dims(n, "broadcast_dimensions", type->rank, dims, &count)) {
    return false;
  }
  if (count != (uint32_t)n->in[0]->type->rank) return lower_error(n, "needs one broadcast dimension per dimension");
  type = refine(n, type, n->in[1]);
  if (!check_broadcast(n, n->in[0]->type, type, dims) || !dims_from_shape(n, type, n->in[1], dynamic)) return false;
  return lower_return(n, graph_broadcast(n->b, n->in[0], type, dims, dynamic));
}

static bool build_iota(lower_op_t* n, const ir_type_t* type, ir_value_t* const* dynamic) {
  int64_t axis = ir_op_int(n->op, "iota_dimension", -1);
  if (axis < 0 || axis >= type->rank) return lower_error(n, "iota_dimension %lld is out of range", (long long)axis);
  n->out[0].v = graph_iota(n->b, type, axis, dynamic);
  bool complex = ir_type_scalar(lower_out_type(n, 0))->kind == IR_TYPE_COMPLEX;
  if (complex) n->out[0].im = graph_splat_like(n->b, n->out[0].v, 0);
  return true;
}

bool stablehlo_lower_iota(lower_op_t* n) {
  const ir_type_t* type = static_result_type(n);
  return type && build_iota(n, type, NULL);
}

bool stablehlo_lower_dynamic_iota(lower_op_t* n) {
  const ir_type_t* type = result_type(n);
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  if (!type) return false;
  type = refine(n, type, n->in[0]);
  return dims_from_shape(n, type, n->in[0], dynamic) && build_iota(n, type, dynamic);
}

//===----------------------------------------------------------------------------------------------------------------===
// transpose, reverse, concatenate
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* transpose_part(lower_op_t* n, ir_value_t** parts) {
  int64_t perm[GRAPH_MAX_RANK];
  uint32_t count;
  int32_t rank = parts[0]->type->rank;
  if (!lower_dims(n, "permutation", rank, perm, &count)) return NULL;
  if (count == (uint32_t)rank) return graph_transpose(n->b, parts[0], perm);
  lower_error(n, "needs %d entries in 'permutation', has %u", rank, count);
  return NULL;
}
bool stablehlo_lower_transpose(lower_op_t* n) { return stablehlo_map_parts(n, transpose_part); }

static ir_value_t* reverse_part(lower_op_t* n, ir_value_t** parts) {
  int64_t dims[GRAPH_MAX_RANK];
  uint32_t count;
  if (!lower_dims(n, "dimensions", parts[0]->type->rank, dims, &count)) return NULL;
  return graph_reverse(n->b, parts[0], dims, count);
}
bool stablehlo_lower_reverse(lower_op_t* n) { return stablehlo_map_parts(n, reverse_part); }

static ir_value_t* concatenate_part(lower_op_t* n, ir_value_t** parts) {
  int64_t axis = ir_op_int(n->op, "dimension", -1);
  const ir_type_t* first = parts[0]->type;
  if (axis < 0 || axis >= first->rank) {
    lower_error(n, "dimension %lld is out of range", (long long)axis);
    return NULL;
  }
  for (uint32_t i = 1; i < n->op->operand_count; ++i) {
    const ir_type_t* type = parts[i]->type;
    bool fits = type->element == first->element && type->rank == first->rank;
    for (int32_t d = 0; fits && d < first->rank; ++d) {
      int64_t x = type->dims[d], y = first->dims[d];
      fits = d == axis || x == y || x == IR_DYNAMIC || y == IR_DYNAMIC;
    }
    if (fits) continue;
    lower_error(n, "has operands that do not fit together: %s and %s", ir_type_str(n->ctx, first),
                ir_type_str(n->ctx, type));
    return NULL;
  }
  return graph_concat(n->b, parts, n->op->operand_count, axis);
}
bool stablehlo_lower_concatenate(lower_op_t* n) {
  if (!n->op->operand_count) return lower_error(n, "needs at least one operand");
  return stablehlo_map_parts(n, concatenate_part);
}

//===----------------------------------------------------------------------------------------------------------------===
// slices and updates
//===----------------------------------------------------------------------------------------------------------------===

// Offsets, limits and steps as a slice of x; NULL after a diagnostic.
static ir_value_t* build_slice(lower_op_t* n, ir_value_t* x, const int64_t* start, const int64_t* limit,
                               const int64_t* stride) {
  int64_t sizes[GRAPH_MAX_RANK];
  for (int32_t i = 0; i < x->type->rank; ++i) {
    int64_t dim = x->type->dims[i];
    if (start[i] < 0 || limit[i] < start[i] || stride[i] < 1 || (dim != IR_DYNAMIC && limit[i] > dim)) {
      lower_error(n, "slices dimension %d of %s by [%lld:%lld:%lld]", i, ir_type_str(n->ctx, x->type),
                  (long long)start[i], (long long)limit[i], (long long)stride[i]);
      return NULL;
    }
    sizes[i] = (limit[i] - start[i] + stride[i] - 1) / stride[i];
  }
  return graph_slice(n->b, x, start, sizes, stride);
}

static ir_value_t* slice_part(lower_op_t* n, ir_value_t** parts) {
  int64_t start[GRAPH_MAX_RANK], limit[GRAPH_MAX_RANK], stride[GRAPH_MAX_RANK];
  uint32_t rank = (uint32_t)parts[0]->type->rank;
  if (!lower_ints(n, "start_indices", start, rank) || !lower_ints(n, "limit_indices", limit, rank) ||
      !lower_ints(n, "strides", stride, rank)) {
    return NULL;
  }
  return build_slice(n, parts[0], start, limit, stride);
}
bool stablehlo_lower_slice(lower_op_t* n) { return stablehlo_map_parts(n, slice_part); }

// A small integer tensor whose elements are all known.
static bool constant_list(lower_op_t* n, ir_value_t* v, uint32_t count, int64_t* out) {
  for (uint32_t i = 0; i < count; ++i) {
    if (!lower_constant_index(lower_index_element(n->b, v, i), &out[i])) return false;
  }
  return true;
}

// Starts, limits and strides that may be computed.
bool stablehlo_lower_real_dynamic_slice(lower_op_t* n) {
  if (!lower_check_tensors(n)) return false;
  uint32_t rank = (uint32_t)n->in[0]->type->rank;
  int64_t start[GRAPH_MAX_RANK], limit[GRAPH_MAX_RANK], stride[GRAPH_MAX_RANK];
  for (uint32_t k = 1; k < 4; ++k) {
    const ir_type_t* list = n->in[k]->type;
    if (list->rank != 1 || list->dims[0] != rank || lower_is_float(list))
      return lower_error(n, "needs %u integers as operand %u", rank, k);
  }
  bool constant = constant_list(n, n->in[1], rank, start) && constant_list(n, n->in[2], rank, limit) &&
                  constant_list(n, n->in[3], rank, stride);
  if (constant) return lower_return(n, build_slice(n, n->in[0], start, limit, stride));
  return lower_return(n, stablehlo_slice_at_run_time(n));
}

// A start index: on the host where it is known there, else a tensor<index> that the kernel reads.
static ir_value_t* start_index(lower_op_t* n, ir_value_t* v, bool is_unsigned) {
  int64_t constant;
  if (is_unsigned) v = graph_cast(n->b, v, ir_type_int(n->ctx, 64), true);
  if (lower_constant_index(v, &constant)) return graph_index_constant(n->b, constant);
  if (!ir_type_is_tensor(v->type)) return lower_index(n->b, v);
  if (ir_is(v->def, GRAPH_TO_TENSOR)) return lower_index(n->b, ir_operand(v->def, 0));
  return graph_cast(n->b, v, ir_type_index(n->ctx), false);
}

static bool read_starts(lower_op_t* n, uint32_t first, uint32_t rank, ir_value_t** out) {
  if (n->op->operand_count != first + rank) return lower_error(n, "needs %u start indices", rank);
  for (uint32_t i = 0; i < rank; ++i) {
    ir_value_t* v = n->in[first + i];
    bool scalar = v && !lower_is_float(v->type) && (!ir_type_is_tensor(v->type) || v->type->rank == 0);
    if (!scalar) return lower_error(n, "needs integers without dims as start indices");
    out[i] = start_index(n, v, lower_is_unsigned(lower_in_type(n, first + i)));
  }
  return true;
}

static ir_value_t* dynamic_slice_part(lower_op_t* n, ir_value_t** parts) {
  ir_value_t* x = parts[0];
  uint32_t rank = (uint32_t)x->type->rank;
  int64_t sizes[GRAPH_MAX_RANK];
  ir_value_t* operands[1 + GRAPH_MAX_RANK] = {x};
  if (!lower_ints(n, "slice_sizes", sizes, rank) || !read_starts(n, 1, rank, operands + 1)) return NULL;
  for (uint32_t i = 0; i < rank; ++i) {
    if (sizes[i] >= 0 && (x->type->dims[i] == IR_DYNAMIC || sizes[i] <= x->type->dims[i])) continue;
    lower_error(n, "takes %lld of %lld elements along dimension %u", (long long)sizes[i], (long long)x->type->dims[i],
                i);
    return NULL;
  }
  const ir_type_t* type = ir_type_tensor(n->ctx, x->type->element, (int32_t)rank, sizes);
  return type == x->type ? x : lower_build(n, GRAPH_DYNAMIC_SLICE, operands, 1 + rank, type, NULL, 0);
}
bool stablehlo_lower_dynamic_slice(lower_op_t* n) {
  if (!n->op->operand_count) return lower_error(n, "needs an operand");
  return stablehlo_map_parts(n, dynamic_slice_part);
}

static ir_value_t* dynamic_update_part(lower_op_t* n, ir_value_t** parts) {
  ir_value_t *x = parts[0], *update = parts[1];
  uint32_t rank = (uint32_t)x->type->rank;
  ir_value_t* operands[2 + GRAPH_MAX_RANK] = {x, update};
  bool fits = update->type->rank == x->type->rank && update->type->element == x->type->element;
  for (uint32_t i = 0; fits && i < rank; ++i) {
    int64_t whole = x->type->dims[i], part = update->type->dims[i];
    fits = whole == IR_DYNAMIC || part == IR_DYNAMIC || part <= whole;
  }
  if (!fits) lower_error(n, "cannot put %s into %s", ir_type_str(n->ctx, update->type), ir_type_str(n->ctx, x->type));
  if (!fits || !read_starts(n, 2, rank, operands + 2)) return NULL;
  return lower_build(n, GRAPH_DYNAMIC_UPDATE, operands, 2 + rank, x->type, NULL, 0);
}
bool stablehlo_lower_dynamic_update_slice(lower_op_t* n) {
  if (n->op->operand_count < 2) return lower_error(n, "needs an operand and an update");
  return stablehlo_map_parts(n, dynamic_update_part);
}

//===----------------------------------------------------------------------------------------------------------------===
// pad
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* build_pad(lower_op_t* n, ir_value_t** parts, const int64_t* low, const int64_t* high,
                             const int64_t* interior) {
  const ir_type_t* type = parts[0]->type;
  for (int32_t i = 0; i < type->rank; ++i) {
    int64_t dim = type->dims[i], total = 0;
    bool wide = interior[i] < 0 || (dim > 1 && (__builtin_mul_overflow(dim - 1, interior[i], &total))) ||
                __builtin_add_overflow(total, low[i], &total) || __builtin_add_overflow(total, high[i], &total) ||
                (dim != IR_DYNAMIC && (__builtin_add_overflow(total, dim, &total) || total < 0));
    if (!wide) continue;
    lower_error(n, "pads dimension %d of %s by %lld, %lld and %lld between", i, ir_type_str(n->ctx, type),
                (long long)low[i], (long long)high[i], (long long)interior[i]);
    return NULL;
  }
  if (parts[1]->type->rank != 0 || parts[1]->type->element != type->element) {
    lower_error(n, "needs a padding value of the operand's element type");
    return NULL;
  }
  return graph_pad(n->b, parts[0], parts[1], low, high, interior, "constant");
}

static ir_value_t* pad_part(lower_op_t* n, ir_value_t** parts) {
  int64_t low[GRAPH_MAX_RANK], high[GRAPH_MAX_RANK], interior[GRAPH_MAX_RANK];
  uint32_t rank = (uint32_t)parts[0]->type->rank;
  if (!lower_ints(n, "edge_padding_low", low, rank) || !lower_ints(n, "edge_padding_high", high, rank) ||
      !lower_ints(n, "interior_padding", interior, rank)) {
    return NULL;
  }
  return build_pad(n, parts, low, high, interior);
}
bool stablehlo_lower_pad(lower_op_t* n) { return stablehlo_map_parts(n, pad_part); }

// Amounts that are computed, also those that cut off.
static bool pad_at_run_time(lower_op_t* n, const ir_type_t* type) {
  ir_value_t* x = n->in[0];
  for (uint32_t i = 0; i < (uint32_t)type->rank; ++i) {
    int64_t low, high, interior;
    ir_value_t* by[3];
    for (uint32_t k = 0; k < 3; ++k) by[k] = lower_index_element(n->b, n->in[2 + k], i);
    bool none = lower_constant_index(by[0], &low) && lower_constant_index(by[1], &high) &&
                lower_constant_index(by[2], &interior) && !low && !high && !interior;
    if (!none) x = stablehlo_pad_dim(n, x, n->in[1], (stablehlo_amounts_t){i, by[0], by[1], by[2]});
  }
  return lower_return(n, x);
}

bool stablehlo_lower_dynamic_pad(lower_op_t* n) {
  if (!lower_check_tensors(n)) return false;
  const ir_type_t *x = n->in[0]->type, *type = result_type(n);
  uint32_t rank = (uint32_t)x->rank;
  int64_t low[GRAPH_MAX_RANK], high[GRAPH_MAX_RANK], interior[GRAPH_MAX_RANK];
  for (uint32_t k = 2; k < 5; ++k) {
    const ir_type_t* list = n->in[k]->type;
    if (list->rank != 1 || list->dims[0] != rank || lower_is_float(list))
      return lower_error(n, "needs %u integers as operand %u", rank, k);
  }
  bool constant = constant_list(n, n->in[2], rank, low) && constant_list(n, n->in[3], rank, high) &&
                  constant_list(n, n->in[4], rank, interior);
  if (constant) return lower_return(n, build_pad(n, n->in, low, high, interior));
  if (!type) return false;
  if (type->rank != (int32_t)rank || n->in[1]->type->rank != 0 || n->in[1]->type->element != x->element) {
    return lower_error(n, "needs a padding value and a result that fit its operand");
  }
  return pad_at_run_time(n, type);
}

//===----------------------------------------------------------------------------------------------------------------===
// Sizes and bits
//===----------------------------------------------------------------------------------------------------------------===

static bool read_dimension(lower_op_t* n, uint32_t* out) {
  int64_t dim = ir_op_int(n->op, "dimension", -1);
  if (!ir_type_is_tensor(n->in[0]->type) || dim < 0 || dim >= n->in[0]->type->rank) {
    return lower_error(n, "dimension %lld is out of range", (long long)dim);
  }
  *out = (uint32_t)dim;
  return true;
}

bool stablehlo_lower_get_dimension_size(lower_op_t* n) {
  uint32_t dim;
  if (!read_dimension(n, &dim)) return false;
  const ir_type_t* element = lower_element(n->ctx, ir_type_scalar(lower_out_type(n, 0)));
  int64_t size = n->in[0]->type->dims[dim];
  if (size != IR_DYNAMIC) {
    return lower_return(n, graph_splat_integer(n->b, ir_type_tensor(n->ctx, element, 0, NULL), size));
  }
  return lower_return(n, lower_as_tensor(n->b, graph_cast(n->b, graph_dim(n->b, n->in[0], dim), element, false)));
}

// That many of the elements; where there are less, zeros behind them.
static ir_value_t* set_size_part(lower_op_t* n, ir_value_t** parts) {
  uint32_t dim;
  int64_t size;
  if (!read_dimension(n, &dim)) return NULL;
  if (lower_constant_index(n->in[1], &size) && size == parts[0]->type->dims[dim]) return parts[0];
  ir_value_t *zero = graph_index_constant(n->b, 0), *own = graph_dim(n->b, parts[0], dim);
  ir_value_t* more = lower_index_binary(n->b, SCALAR_sub, lower_index(n->b, n->in[1]), own);
  ir_value_t* nothing = graph_scalar_constant(n->b, parts[0]->type->element, 0);
  return stablehlo_pad_dim(n, parts[0], nothing, (stablehlo_amounts_t){dim, zero, more, NULL});
}
bool stablehlo_lower_set_dimension_size(lower_op_t* n) { return stablehlo_map_parts(n, set_size_part); }

// A complex element is two numbers in memory, the real part first: [.., 2].
static ir_value_t* apart(lower_op_t* n, lower_value_t x) {
  int64_t dims[GRAPH_MAX_RANK + 1];
  int32_t rank = x.v->type->rank;
  ir_value_t *dynamic[GRAPH_MAX_RANK], *parts[2] = {x.v, x.im};
  if (rank >= GRAPH_MAX_RANK) return lower_unsupported(n, "ranks up to %d are", GRAPH_MAX_RANK - 1), NULL;
  memcpy(dims, x.v->type->dims, sizeof(*dims) * (size_t)rank);
  dims[rank] = 1;
  lower_dynamic_dims(n->b, x.v, x.v->type, dynamic);
  for (int i = 0; i < 2; ++i) parts[i] = graph_reshape(n->b, parts[i], rank + 1, dims, dynamic);
  return graph_concat(n->b, parts, 2, rank);
}

// x with dims [.., a * b] as [.., a, b], or back: what `count` of the last dims is apart or together.
static ir_value_t* refold(lower_op_t* n, ir_value_t* x, int32_t kept, const int64_t* tail, int32_t count) {
  int64_t dims[GRAPH_MAX_RANK];
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  if (kept + count > GRAPH_MAX_RANK) return lower_unsupported(n, "the result's rank is too high"), NULL;
  memcpy(dims, x->type->dims, sizeof(*dims) * (size_t)kept);
  memcpy(dims + kept, tail, sizeof(*dims) * (size_t)count);
  lower_dynamic_dims(n->b, x, x->type, dynamic);
  return graph_reshape(n->b, x, kept + count, dims, dynamic);
}

// Between numbers and complex ones, or complex ones of two widths, as [.., 2] of their parts.
static bool bitcast_complex(lower_op_t* n, const ir_type_t* type) {
  bool pairs = ir_type_scalar(lower_out_type(n, 0))->kind == IR_TYPE_COMPLEX;
  ir_value_t* x = n->values[0].im ? apart(n, n->values[0]) : n->in[0];
  if (!x) return false;
  uint32_t from = x->type->element->width, to = type->element->width;
  int32_t rank = x->type->rank;
  int64_t last = rank ? x->type->dims[rank - 1] : 1, ratio = to / (from ? from : 1);
  if (pairs && from < to && ratio > 1) {  // two parts, each of some of the last elements
    const int64_t tail[] = {2, ratio};
    bool two = n->values[0].im != NULL;  // [.., k, 2] of the operand's parts
    int64_t have = two && rank > 1 ? x->type->dims[rank - 2] * 2 : last;
    if (have != 2 * ratio)
      return lower_error(n, "needs a last operand dimension of %lld", (long long)(two ? ratio : 2 * ratio));
    if (!(x = refold(n, x, rank - (two ? 2 : 1), tail, 2))) return false;
  }
  if (!(x = lower_convert_bits(n, x, type->element))) return false;
  if (!pairs) {  // [.., 2] stays, or [.., 2, k] is 2 * k elements
    if (x->type->rank == type->rank + 1) {
      int64_t all = x->type->dims[x->type->rank - 2] * x->type->dims[x->type->rank - 1];
      if (!(x = refold(n, x, x->type->rank - 2, &all, 1))) return false;
    }
    return lower_return(n, x);
  }
  int32_t at = x->type->rank - 1;
  if (n->values[0].im && from > to) {  // [.., 2, k]: k / 2 elements of each part
    const int64_t tail[] = {x->type->dims[at], 2};
    if (!(x = refold(n, x, at - 1, tail, 2))) return false;
    at = x->type->rank - 1;
  }
  if (at < 0 || x->type->dims[at] != 2) return lower_error(n, "needs a last operand dimension of 2");
  ir_value_t* parts[2];
  for (int64_t i = 0; i < 2; ++i) {
    ir_value_t* number = graph_scalar_constant(n->b, ir_type_int(n->ctx, 64), (double)i);
    parts[i] = graph_take(n->b, x, number, at, false);
  }
  n->out[0] = (lower_value_t){.v = parts[0], .im = parts[1]};
  return lower_fits(parts[0]->type, type) || lower_error(n, "gives %s", ir_type_str(n->ctx, parts[0]->type));
}

bool stablehlo_lower_bitcast_convert(lower_op_t* n) {
  const ir_type_t* type = result_type(n);
  if (!type || !n->in[0] || !ir_type_is_tensor(n->in[0]->type)) return type && lower_unsupported(n, "tensors are");
  if (n->values[0].im || ir_type_scalar(lower_out_type(n, 0))->kind == IR_TYPE_COMPLEX) return bitcast_complex(n, type);
  uint32_t from = n->in[0]->type->element->width, to = type->element->width;
  int32_t rank = n->in[0]->type->rank;
  if (from > to && (type->rank != rank + 1 || from % to || !lower_sizes_fit(type->dims[rank], from / to)))
    return lower_error(n, "needs a last result dimension of %u", from / to);
  if (from < to && type->rank + 1 != rank) return lower_error(n, "needs a last operand dimension of %u", to / from);
  return lower_return(n, lower_convert_bits(n, n->in[0], type->element));
}
