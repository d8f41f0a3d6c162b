// chlo.ragged_dot: products of groups of rows, where `group_sizes` says how many rows each group has.
//
//   ragged rows of lhs            [b, m, k] [g, b, k, n] [b, g] -> [b, m, n]     each group has its own right side
//   ragged dimension summed over  [b, m, k] [b, k, n]    [b, g] -> [g, b, m, n]  each group has its own result
//   ragged batch                  [b, m, k] [b, k, n]    [g]    -> [b, m, n]     the groups change nothing
//
// In the first two the rows outside of a group count as zeros: one contraction, which sums over the groups too or has
// them as rows.
#include "import/stablehlo/ops.h"

typedef struct list_t {
  int64_t dims[GRAPH_MAX_RANK];
  uint32_t count;
} list_t;

typedef struct ragged_t {
  lower_op_t* n;
  const ir_type_t *lhs, *rhs, *sizes;
  list_t lhs_batch, rhs_batch, lhs_contract, rhs_contract, lhs_ragged, rhs_group;
  int64_t dim, groups;
} ragged_t;

static bool has(const list_t* list, int64_t dim) {
  for (uint32_t i = 0; i < list->count; ++i) {
    if (list->dims[i] == dim) return true;
  }
  return false;
}

static bool read_list(ragged_t* r, const char* name, const ir_type_t* type, list_t* out) {
  const ir_attr_t* numbers = ir_op_attr(r->n->op, "ragged_dot_dimension_numbers");
  const ir_attr_t* list = numbers ? ir_attr_dict_get(numbers, name) : NULL;
  out->count = list ? ir_attr_ints(list, out->dims, GRAPH_MAX_RANK) : 0;
  bool fits = out->count <= GRAPH_MAX_RANK;
  for (uint32_t i = 0; fits && i < out->count; ++i) {
    fits = out->dims[i] >= 0 && out->dims[i] < type->rank;
    for (uint32_t k = 0; fits && k < i; ++k) fits = out->dims[k] != out->dims[i];
  }
  return fits || lower_error(r->n, "has '%s' that do not fit its operand", name);
}

static bool read_ragged(ragged_t* r) {
  lower_op_t* n = r->n;
  if (!lower_check_tensors(n)) return false;
  r->lhs = n->in[0]->type, r->rhs = n->in[1]->type, r->sizes = n->in[2]->type;
  bool plain = r->sizes->rank >= 1 && r->sizes->element->kind == IR_TYPE_INTEGER &&
               r->sizes->dims[r->sizes->rank - 1] != IR_DYNAMIC;
  if (!plain) return lower_unsupported(n, "tensors, the sizes a known number of integers, are");
  if (!read_list(r, "lhs_batching_dimensions", r->lhs, &r->lhs_batch) ||
      !read_list(r, "rhs_batching_dimensions", r->rhs, &r->rhs_batch) ||
      !read_list(r, "lhs_contracting_dimensions", r->lhs, &r->lhs_contract) ||
      !read_list(r, "rhs_contracting_dimensions", r->rhs, &r->rhs_contract) ||
      !read_list(r, "lhs_ragged_dimensions", r->lhs, &r->lhs_ragged) ||
      !read_list(r, "rhs_group_dimensions", r->rhs, &r->rhs_group)) {
    return false;
  }
  bool fits = r->lhs_batch.count == r->rhs_batch.count && r->lhs_contract.count == r->rhs_contract.count &&
              r->lhs_ragged.count == 1 && r->rhs_group.count <= 1;
  for (uint32_t i = 0; fits && i < r->lhs_batch.count; ++i) {
    fits = lower_sizes_fit(r->lhs->dims[r->lhs_batch.dims[i]], r->rhs->dims[r->rhs_batch.dims[i]]);
  }
  for (uint32_t i = 0; fits && i < r->lhs_contract.count; ++i) {
    fits = lower_sizes_fit(r->lhs->dims[r->lhs_contract.dims[i]], r->rhs->dims[r->rhs_contract.dims[i]]);
  }
  if (!fits) return lower_error(n, "has dimension numbers that do not fit its operands");
  r->dim = r->lhs_ragged.dims[0];
  r->groups = r->sizes->dims[r->sizes->rank - 1];
  bool rows = !has(&r->lhs_batch, r->dim) && !has(&r->lhs_contract, r->dim);
  if (rows != (r->rhs_group.count == 1) || (rows && !lower_sizes_fit(r->rhs->dims[r->rhs_group.dims[0]], r->groups))) {
    return lower_error(n, "needs a group dimension on the right for ragged rows, and only then");
  }
  return r->lhs->rank < GRAPH_MAX_RANK || lower_unsupported(n, "ranks below %d are", GRAPH_MAX_RANK);
}

// lhs with one more dimension in front, the group; zeros where a row is in another group.
static ir_value_t* split_groups(ragged_t* r) {
  ir_builder_t* b = r->n->b;
  int64_t dims[GRAPH_MAX_RANK], where[GRAPH_MAX_RANK], axis = r->sizes->rank - 1;
  dims[0] = r->groups;
  for (int32_t i = 0; i < r->lhs->rank; ++i) dims[i + 1] = r->lhs->dims[i];
  const ir_type_t* wide = ir_type_tensor(b->ctx, r->lhs->element, r->lhs->rank + 1, dims);
  const ir_type_t* places = ir_type_with_element(b->ctx, wide, r->sizes->element);
  ir_named_attr_t attrs[2] = {{"axis", ir_attr_i64(b->ctx, axis)}, {"kind", ir_attr_cstring(b->ctx, "add")}};
  ir_value_t* ends = graph_build(b, GRAPH_SCAN, &r->n->in[2], 1, r->sizes, attrs, 2);
  ir_value_t* starts = graph_binary(b, SCALAR_sub, ends, r->n->in[2]);
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  lower_dynamic_dims(b, r->n->in[0], r->lhs, dynamic);
  for (int64_t i = 0; i < axis; ++i) where[i] = r->lhs_batch.dims[i] + 1;
  where[axis] = 0;
  ends = graph_broadcast(b, ends, places, where, dynamic);
  starts = graph_broadcast(b, starts, places, where, dynamic);
  ir_value_t* place = graph_iota(b, places, r->dim + 1, dynamic);
  ir_value_t* inside =
      graph_binary(b, SCALAR_and, graph_binary(b, SCALAR_ge, place, starts), graph_binary(b, SCALAR_lt, place, ends));
  for (int32_t i = 0; i < r->lhs->rank; ++i) where[i] = i + 1;
  ir_value_t* all = graph_broadcast(b, r->n->in[0], wide, where, dynamic);
  return graph_select(b, inside, all, graph_splat_like(b, all, 0));
}

static ir_value_t* contract(ragged_t* r, ir_value_t* lhs, const ir_type_t* element) {
  graph_contract_t dims = {.lhs_batch = r->lhs_batch.dims,
                           .rhs_batch = r->rhs_batch.dims,
                           .lhs_contract = r->lhs_contract.dims,
                           .rhs_contract = r->rhs_contract.dims,
                           .batch_count = r->lhs_batch.count,
                           .contract_count = r->lhs_contract.count,
                           .unsigned_lhs = lower_is_unsigned(lower_in_type(r->n, 0)),
                           .unsigned_rhs = lower_is_unsigned(lower_in_type(r->n, 1))};
  return graph_contract(r->n->b, lhs, r->n->in[1], &dims, element);
}

static void move_behind_groups(list_t* list) {
  for (uint32_t i = 0; i < list->count; ++i) ++list->dims[i];
}

bool chlo_lower_ragged_dot(lower_op_t* n) {
  ragged_t r = {.n = n};
  if (!read_ragged(&r)) return false;
  const ir_type_t* result = lower_type(n->ctx, lower_out_type(n, 0));
  if (!result || !ir_type_is_tensor(result)) return lower_unsupported(n, "a tensor as result is");
  if (has(&r.lhs_batch, r.dim)) return lower_return(n, contract(&r, n->in[0], result->element));
  bool shared = r.sizes->rank == 1, batched = r.sizes->rank == 1 + (int32_t)r.lhs_batch.count;
  for (uint32_t i = 0; batched && !shared && i < r.lhs_batch.count; ++i) {
    batched = lower_sizes_fit(r.sizes->dims[i], r.lhs->dims[r.lhs_batch.dims[i]]);
  }
  if (!shared && !batched) return lower_unsupported(n, "sizes of one list, or of one for each of the batch, are");
  ir_value_t* lhs = split_groups(&r);
  bool rows = r.rhs_group.count == 1;
  move_behind_groups(&r.lhs_batch);
  move_behind_groups(&r.lhs_contract);
  if (rows) {
    r.lhs_contract.dims[r.lhs_contract.count++] = 0;
    r.rhs_contract.dims[r.rhs_contract.count++] = r.rhs_group.dims[0];
    return lower_return(n, contract(&r, lhs, result->element));
  }
  ir_value_t* out = contract(&r, lhs, result->element);  // batch, group, rows, columns
  int64_t perm[GRAPH_MAX_RANK];
  perm[0] = r.lhs_batch.count;
  for (int32_t i = 1; i < out->type->rank; ++i) perm[i] = i <= perm[0] ? i - 1 : i;
  return lower_return(n, graph_transpose(n->b, out, perm));
}
