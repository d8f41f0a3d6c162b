// The shape rule of each graph op, on run-time sizes. See sizes.h.
#include <string.h>

#include "passes/sizes.h"

typedef bool (*rule_fn_t)(sizes_t* s, ir_op_t* op, ir_value_t** all);

static bool contains(const int64_t* list, uint32_t count, int64_t value) {
  for (uint32_t i = 0; i < count; ++i) {
    if (list[i] == value) return true;
  }
  return false;
}

static void all_dims(sizes_t* s, const ir_value_t* x, ir_value_t** out) {
  for (int32_t i = 0; i < x->type->rank; ++i) out[i] = sizes_dim(s, x, i);
}

//===----------------------------------------------------------------------------------------------------------------===
// Elementwise and index maps
//===----------------------------------------------------------------------------------------------------------------===

static bool elementwise_rule(sizes_t* s, ir_op_t* op, ir_value_t** all) {
  all_dims(s, ir_operand(op, 0), all);
  for (uint32_t i = 1; i < op->operand_count; ++i) {
    const ir_value_t* x = ir_operand(op, i);
    if (x->type->rank != op->results[0].type->rank) return false;
    for (int32_t d = 0; d < x->type->rank; ++d) {
      all[d] = sizes_agree(s, all[d], sizes_dim(s, x, d), "the operands must be of one shape");
    }
  }
  return true;
}

static bool like_operand(sizes_t* s, ir_op_t* op, ir_value_t** all) {
  all_dims(s, ir_operand(op, 0), all);
  return true;
}

// Sizes that are the op's last operands; those of the result that are constant, as such.
static bool given_sizes(sizes_t* s, ir_op_t* op, uint32_t first, ir_value_t** all) {
  const ir_type_t* type = op->results[0].type;
  for (int32_t i = 0; i < type->rank; ++i) {
    if (type->dims[i] != IR_DYNAMIC) {
      all[i] = sizes_constant(s, type->dims[i]);
      continue;
    }
    if (first >= op->operand_count || ir_operand(op, first)->type->kind != IR_TYPE_INDEX) return false;
    all[i] = sizes_not_negative(s, ir_operand(op, first));
    ir_op_set_operand(op, first++, all[i]);
  }
  return true;
}

static bool empty_rule(sizes_t* s, ir_op_t* op, ir_value_t** all) { return given_sizes(s, op, 0, all); }

static ir_value_t* product(sizes_t* s, ir_value_t* const* sizes, int32_t count) {
  int64_t constant = 1, number;
  ir_value_t* result = NULL;
  for (int32_t i = 0; i < count; ++i) {
    if (sizes_is_constant(sizes[i], &number)) {
      constant *= number;
    } else {
      result = result ? sizes_binary(s, SCALAR_mul, result, sizes[i]) : sizes[i];
    }
  }
  return result ? sizes_mul(s, result, constant) : sizes_constant(s, constant);
}

static bool reshape_rule(sizes_t* s, ir_op_t* op, ir_value_t** all) {
  ir_value_t* from[GRAPH_MAX_RANK];
  const ir_value_t* x = ir_operand(op, 0);
  if (!given_sizes(s, op, 1, all)) return false;
  all_dims(s, x, from);
  sizes_require(s, SCALAR_eq, product(s, from, x->type->rank), product(s, all, op->results[0].type->rank),
                "a reshape must keep the number of elements");
  return true;
}

static bool transpose_rule(sizes_t* s, ir_op_t* op, ir_value_t** all) {
  int64_t perm[GRAPH_MAX_RANK];
  uint32_t rank = ir_op_ints(op, "perm", perm, GRAPH_MAX_RANK);
  for (uint32_t i = 0; i < rank; ++i) all[i] = sizes_dim(s, ir_operand(op, 0), perm[i]);
  return true;
}

// A '?' of the operand is as large as the result, or 1 and repeated.
static bool broadcast_rule(sizes_t* s, ir_op_t* op, ir_value_t** all) {
  int64_t dims[GRAPH_MAX_RANK];
  const ir_value_t* x = ir_operand(op, 0);
  if (!given_sizes(s, op, 1, all)) return false;
  ir_op_ints(op, "dims", dims, GRAPH_MAX_RANK);
  for (int32_t i = 0; i < x->type->rank; ++i) {
    ir_value_t *from = sizes_dim(s, x, i), *to = all[dims[i]], *fits;
    int64_t number;
    if (from == to || (sizes_is_constant(from, &number) && number == 1)) continue;
    fits = sizes_binary(s, SCALAR_sub, from, to);
    fits = sizes_binary(s, SCALAR_mul, fits, sizes_add(s, from, -1));
    sizes_require(s, SCALAR_eq, fits, sizes_constant(s, 0), "a size must be 1 or that of the result in a broadcast");
  }
  return true;
}

// offset + (size - 1) * stride < dim, unless size is 0.
static bool slice_rule(sizes_t* s, ir_op_t* op, ir_value_t** all) {
  int64_t offsets[GRAPH_MAX_RANK], strides[GRAPH_MAX_RANK];
  const ir_value_t* x = ir_operand(op, 0);
  if (!given_sizes(s, op, 1, all)) return false;
  ir_op_ints(op, "offsets", offsets, GRAPH_MAX_RANK);
  ir_op_ints(op, "strides", strides, GRAPH_MAX_RANK);
  for (int32_t i = 0; i < x->type->rank; ++i) {
    if (x->type->dims[i] != IR_DYNAMIC && op->results[0].type->dims[i] != IR_DYNAMIC) continue;
    if (offsets[i] < 0 || strides[i] < 1) return false;
    ir_value_t* end = sizes_add(s, sizes_mul(s, all[i], strides[i]), offsets[i] + 1 - strides[i]);
    ir_value_t* limit = sizes_binary(s, SCALAR_max, sizes_dim(s, x, i), sizes_constant(s, offsets[i] + 1 - strides[i]));
    sizes_require(s, SCALAR_le, end, limit, "a slice must lie inside its operand");
  }
  return true;
}

static void fit_inside(sizes_t* s, ir_value_t* const* sizes, const ir_value_t* x) {
  for (int32_t i = 0; i < x->type->rank; ++i) {
    sizes_require(s, SCALAR_le, sizes[i], sizes_dim(s, x, i), "a part must not be larger than the whole");
  }
}

static bool dynamic_slice_rule(sizes_t* s, ir_op_t* op, ir_value_t** all) {
  const ir_value_t* x = ir_operand(op, 0);
  if (!given_sizes(s, op, 1 + (uint32_t)x->type->rank, all)) return false;
  fit_inside(s, all, x);
  return true;
}

static bool dynamic_update_rule(sizes_t* s, ir_op_t* op, ir_value_t** all) {
  ir_value_t* part[GRAPH_MAX_RANK];
  all_dims(s, ir_operand(op, 0), all);
  all_dims(s, ir_operand(op, 1), part);
  fit_inside(s, part, ir_operand(op, 0));
  return true;
}

static bool pad_rule(sizes_t* s, ir_op_t* op, ir_value_t** all) {
  int64_t low[GRAPH_MAX_RANK], high[GRAPH_MAX_RANK], interior[GRAPH_MAX_RANK];
  const ir_value_t* x = ir_operand(op, 0);
  bool constant = strcmp(ir_op_string(op, "mode", "constant"), "constant") == 0;
  ir_op_ints(op, "low", low, GRAPH_MAX_RANK);
  ir_op_ints(op, "high", high, GRAPH_MAX_RANK);
  ir_op_ints(op, "interior", interior, GRAPH_MAX_RANK);
  for (int32_t i = 0; i < x->type->rank; ++i) {
    all[i] = sizes_dim(s, x, i);
    if (x->type->dims[i] == IR_DYNAMIC && (low[i] || high[i]) && !constant) {
      sizes_require(s, SCALAR_ge, all[i], sizes_constant(s, 1), "what is padded by its own elements must have some");
    }
    if (interior[i]) {
      ir_value_t* holes = sizes_not_negative(s, sizes_add(s, all[i], -1));
      all[i] = sizes_binary(s, SCALAR_add, all[i], sizes_mul(s, holes, interior[i]));
    }
    all[i] = sizes_not_negative(s, sizes_add(s, all[i], low[i] + high[i]));
  }
  return true;
}

static bool concat_rule(sizes_t* s, ir_op_t* op, ir_value_t** all) {
  int64_t axis = ir_op_int(op, "axis", 0);
  all_dims(s, ir_operand(op, 0), all);
  for (uint32_t i = 1; i < op->operand_count; ++i) {
    const ir_value_t* x = ir_operand(op, i);
    for (int32_t d = 0; d < x->type->rank; ++d) {
      ir_value_t* size = sizes_dim(s, x, d);
      all[d] = d == axis ? sizes_binary(s, SCALAR_add, all[d], size)
                         : sizes_agree(s, all[d], size, "the operands must agree beside the axis");
    }
  }
  return true;
}

// 1, or 0 when there are no indices.
static ir_value_t* any_indices(sizes_t* s, const ir_value_t* indices, int64_t vector_dim) {
  ir_value_t *dims[GRAPH_MAX_RANK], *one = sizes_constant(s, 1);
  for (int32_t i = 0; i < indices->type->rank; ++i) dims[i] = i == vector_dim ? one : sizes_dim(s, indices, i);
  return sizes_binary(s, SCALAR_min, product(s, dims, indices->type->rank), one);
}

static bool gather_rule(sizes_t* s, ir_op_t* op, ir_value_t** all) {
  int64_t offsets[GRAPH_MAX_RANK], collapsed[GRAPH_MAX_RANK], batch[GRAPH_MAX_RANK], slices[GRAPH_MAX_RANK];
  const ir_value_t *x = ir_operand(op, 0), *indices = ir_operand(op, 1);
  uint32_t offset_count = ir_op_ints(op, "offset_dims", offsets, GRAPH_MAX_RANK), next_offset = 0;
  uint32_t collapsed_count = ir_op_ints(op, "collapsed_dims", collapsed, GRAPH_MAX_RANK);
  uint32_t batch_count = ir_op_ints(op, "operand_batch_dims", batch, GRAPH_MAX_RANK);
  ir_op_ints(op, "slice_sizes", slices, GRAPH_MAX_RANK);
  int64_t vector_dim = ir_op_int(op, "index_vector_dim", 0);
  ir_value_t* any = any_indices(s, indices, vector_dim);
  for (int32_t i = 0; i < x->type->rank; ++i) {
    ir_value_t* size = sizes_dim(s, x, i);
    ir_value_t* part = slices[i] == IR_DYNAMIC ? size : sizes_constant(s, slices[i]);
    ir_value_t* needed = slices[i] == IR_DYNAMIC ? size : sizes_mul(s, any, slices[i]);
    sizes_require(s, SCALAR_ge, size, needed, "a gathered part must not be larger than the operand");
    if (contains(collapsed, collapsed_count, i) || contains(batch, batch_count, i)) continue;
    if (next_offset < offset_count) all[offsets[next_offset++]] = part;
  }
  for (int32_t i = 0, d = 0; i < op->results[0].type->rank; ++i) {
    if (contains(offsets, offset_count, i)) continue;
    if (d == vector_dim) ++d;
    all[i] = sizes_dim(s, indices, d++);
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Combinations of elements
//===----------------------------------------------------------------------------------------------------------------===

static bool reduce_rule(sizes_t* s, ir_op_t* op, ir_value_t** all) {
  int64_t dims[GRAPH_MAX_RANK];
  const ir_value_t* x = ir_operand(op, 0);
  uint32_t count = ir_op_ints(op, "dims", dims, GRAPH_MAX_RANK);
  if (ir_is(op, GRAPH_ARG_REDUCE)) {
    dims[0] = ir_op_int(op, "axis", 0);
    count = 1;
    sizes_require(s, SCALAR_ge, sizes_dim(s, x, dims[0]), sizes_constant(s, 1), "the axis must not be empty");
  }
  for (int32_t i = 0, kept = 0; i < x->type->rank; ++i) {
    if (!contains(dims, count, i)) all[kept++] = sizes_dim(s, x, i);
  }
  return true;
}

static bool top_k_rule(sizes_t* s, ir_op_t* op, ir_value_t** all) {
  int64_t axis = ir_op_int(op, "axis", 0), k = ir_op_int(op, "k", 0);
  all_dims(s, ir_operand(op, 0), all);
  sizes_require(s, SCALAR_ge, all[axis], sizes_constant(s, k), "there must be as many elements as are asked for");
  all[axis] = sizes_constant(s, k);
  return true;
}

static bool contract_rule(sizes_t* s, ir_op_t* op, ir_value_t** all) {
  int64_t batch[2][GRAPH_MAX_RANK], reduced[2][GRAPH_MAX_RANK];
  uint32_t batches = 0, reduces = 0, next = 0;
  for (uint32_t side = 0; side < 2; ++side) {
    batches = ir_op_ints(op, side ? "rhs_batch" : "lhs_batch", batch[side], GRAPH_MAX_RANK);
    reduces = ir_op_ints(op, side ? "rhs_contract" : "lhs_contract", reduced[side], GRAPH_MAX_RANK);
  }
  for (uint32_t i = 0; i < batches + reduces; ++i) {
    int64_t l = i < batches ? batch[0][i] : reduced[0][i - batches],
            r = i < batches ? batch[1][i] : reduced[1][i - batches];
    ir_value_t* size = sizes_agree(s, sizes_dim(s, ir_operand(op, 0), l), sizes_dim(s, ir_operand(op, 1), r),
                                   "both operands must agree in what is multiplied");
    if (i < batches) all[next++] = size;
  }
  for (uint32_t side = 0; side < 2; ++side) {
    const ir_value_t* x = ir_operand(op, side);
    for (int32_t d = 0; d < x->type->rank; ++d) {
      if (!contains(batch[side], batches, d) && !contains(reduced[side], reduces, d)) all[next++] = sizes_dim(s, x, d);
    }
  }
  return true;
}

// How a window sweeps along a dimension.
typedef struct sweep_t {
  int64_t base_dilation, pad, dilation, stride;
} sweep_t;

// (x - 1) * base_dilation + 1 + pad - ((window - 1) * dilation + 1), over the stride, plus 1; none when it does not
// fit.
static ir_value_t* swept(sizes_t* s, ir_value_t* x, ir_value_t* window, const sweep_t* w) {
  ir_value_t* base = sizes_add(s, sizes_mul(s, sizes_add(s, x, -1), w->base_dilation), 1 + w->pad);
  ir_value_t* extent = sizes_add(s, sizes_mul(s, sizes_add(s, window, -1), w->dilation), 1);
  ir_value_t* room = sizes_add(s, sizes_binary(s, SCALAR_sub, base, extent), w->stride);
  return sizes_binary(s, SCALAR_div, sizes_not_negative(s, room), sizes_constant(s, w->stride));
}

static int64_t axis_of(const char* layout, char name) { return strchr(layout, name) - layout; }

static bool conv_rule(sizes_t* s, ir_op_t* op, ir_value_t** all) {
  graph_conv_t c;
  const ir_value_t *x = ir_operand(op, 0), *w = ir_operand(op, 1);
  if (!graph_conv_read(op, &c)) return false;
  bool divides = c.batch_groups > 1 && x->type->dims[axis_of(c.x_layout, 'n')] == IR_DYNAMIC;
  divides |= (c.batch_groups > 1 || c.groups > 1) && w->type->dims[axis_of(c.w_layout, 'o')] == IR_DYNAMIC;
  if (divides) return false;
  ir_value_t* batch = sizes_dim(s, x, axis_of(c.x_layout, 'n'));
  all[axis_of(c.y_layout, 'n')] = sizes_binary(s, SCALAR_div, batch, sizes_constant(s, c.batch_groups));
  all[axis_of(c.y_layout, 'c')] = sizes_dim(s, w, axis_of(c.w_layout, 'o'));
  sizes_agree(s, sizes_dim(s, x, axis_of(c.x_layout, 'c')),
              sizes_mul(s, sizes_dim(s, w, axis_of(c.w_layout, 'i')), c.groups), "the channels must be the weights'");
  for (int32_t i = 0; i < x->type->rank - 2; ++i) {
    char digit = (char)('0' + i);
    sweep_t sweep = {c.x_dilation[i], c.pad_low[i] + c.pad_high[i], c.w_dilation[i], c.strides[i]};
    all[axis_of(c.y_layout, digit)] =
        swept(s, sizes_dim(s, x, axis_of(c.x_layout, digit)), sizes_dim(s, w, axis_of(c.w_layout, digit)), &sweep);
  }
  return true;
}

static bool window_rule(sizes_t* s, ir_op_t* op, ir_value_t** all) {
  graph_window_t w;
  const ir_value_t* x = ir_operand(op, 0);
  if (!graph_window_read(op, &w)) return false;
  for (int32_t i = 0; i < x->type->rank; ++i) {
    sweep_t sweep = {w.base_dilations[i], w.pad_low[i] + w.pad_high[i], w.dilations[i], w.strides[i]};
    all[i] = swept(s, sizes_dim(s, x, i), sizes_constant(s, w.sizes[i]), &sweep);
  }
  return true;
}

static bool barrier_rule(sizes_t* s, ir_op_t* op, uint32_t result, ir_value_t** all) {
  all_dims(s, ir_operand(op, result), all);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Table
//===----------------------------------------------------------------------------------------------------------------===

typedef struct rule_t {
  uint32_t code;
  rule_fn_t rule;
} rule_t;
static const rule_t rules[] = {
    {GRAPH_EMPTY, empty_rule},
    {GRAPH_IOTA, empty_rule},
    {GRAPH_RESHAPE, reshape_rule},
    {GRAPH_TRANSPOSE, transpose_rule},
    {GRAPH_BROADCAST, broadcast_rule},
    {GRAPH_SLICE, slice_rule},
    {GRAPH_DYNAMIC_SLICE, dynamic_slice_rule},
    {GRAPH_DYNAMIC_UPDATE, dynamic_update_rule},
    {GRAPH_PAD, pad_rule},
    {GRAPH_CONCAT, concat_rule},
    {GRAPH_REVERSE, like_operand},
    {GRAPH_GATHER, gather_rule},
    {GRAPH_SCATTER, like_operand},
    {GRAPH_CONTRACT, contract_rule},
    {GRAPH_CONV, conv_rule},
    {GRAPH_REDUCE, reduce_rule},
    {GRAPH_ARG_REDUCE, reduce_rule},
    {GRAPH_WINDOW, window_rule},
    {GRAPH_SCAN, like_operand},
    {GRAPH_SORT, elementwise_rule},
    {GRAPH_TOP_K, top_k_rule},
    {GRAPH_CHOLESKY, like_operand},
};

bool size_rule(sizes_t* s, ir_op_t* op, uint32_t result, ir_value_t** out) {
  ir_value_t* all[2 * GRAPH_MAX_RANK] = {0};
  rule_fn_t rule = graph_scalar_fn(op) >= 0 ? elementwise_rule : NULL;
  for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); ++i) {
    if (rules[i].code == ir_code(op)) rule = rules[i].rule;
  }
  bool known = ir_is(op, GRAPH_BARRIER) ? barrier_rule(s, op, result, all) : rule && rule(s, op, all);
  const ir_type_t* type = op->results[result].type;
  for (int32_t i = 0, next = 0; known && i < type->rank; ++i) {
    if (!all[i]) return false;
    if (type->dims[i] == IR_DYNAMIC) {
      out[next++] = all[i];
    } else {
      sizes_agree(s, all[i], sizes_constant(s, type->dims[i]), "the result must have the size of its type");
    }
  }
  return known;
}
