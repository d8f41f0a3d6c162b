// See control.h.
#include <string.h>

#include "import/control.h"

// Lowers one side into a new block of `region`; nothing is yielded yet.
static bool lower_branch(lower_op_t* n, const lower_branch_t* branch, ir_region_t* region, lower_list_t* out,
                         ir_block_t** block) {
  ir_builder_t saved = *n->b;
  *block = ir_block_create(n->ctx);
  ir_region_append(region, *block);
  n->b->block = *block;
  n->b->before = NULL;
  uint32_t count = n->op->result_count;
  lower_value_t* results = n->out;
  bool ok = branch->block ? lower_block(n->l, branch->block, branch->args, &results, &count)
                          : branch->build(n, branch->number);
  if (ok && count != n->op->result_count) {
    ok = lower_error(n, "has a branch that gives %u values for %u results", count, n->op->result_count);
  }
  for (uint32_t i = 0; ok && i < count; ++i) lower_flatten(results[i], out);
  *n->b = saved;
  return ok;
}

static bool yield(lower_op_t* n, ir_block_t* block, lower_list_t* list, const lower_types_t* types) {
  ir_builder_t saved = *n->b;
  n->b->block = block;
  n->b->before = NULL;
  bool ok = list->count == types->count || lower_error(n, "has branches with different results");
  for (uint32_t i = 0; ok && i < list->count; ++i) {
    ok = (list->items[i] = lower_coerce(n->l, list->items[i], types->items[i])) != NULL;
  }
  if (ok) ir_build_op(n->b, GRAPH_YIELD, list->items, list->count, NULL);
  *n->b = saved;
  return ok;
}

bool lower_build_if(lower_op_t* n, ir_value_t* condition, const lower_branch_t* then, const lower_branch_t* other) {
  lower_types_t types = LOWER_LIST(n->ctx);
  for (uint32_t i = 0; i < n->op->result_count; ++i) {
    if (lower_flat_types(n->ctx, lower_out_type(n, i), &types)) continue;
    return lower_unsupported(n, "results that are tensors of known rank, numbers and tuples of them are");
  }
  condition = lower_as_tensor(n->b, condition);
  ir_op_state_t state = {.info = ir_context_op(n->ctx, GRAPH_IF),
                         .operands = &condition,
                         .operand_count = 1,
                         .result_types = types.items,
                         .result_count = types.count,
                         .region_count = 2};
  ir_op_t* op = ir_build(n->b, &state);
  for (int i = 0; i < 2; ++i) {
    lower_list_t list = LOWER_LIST(n->ctx);
    ir_block_t* block;
    if (!lower_branch(n, i ? other : then, &op->regions[i], &list, &block) || !yield(n, block, &list, &types)) {
      return false;
    }
  }
  lower_list_t results = LOWER_LIST(n->ctx);
  lower_list_add_results(&results, op, 0);
  ir_value_t* const* next = results.items;
  for (uint32_t i = 0; i < n->op->result_count; ++i) n->out[i] = lower_unflatten(n->l, lower_out_type(n, i), &next);
  return true;
}

static bool build_region(lower_op_t* n, uint32_t region) {
  lower_value_t* results;
  uint32_t count;
  const ir_block_t* block = n->op->regions[region].first;
  if (!block || block->next || !block->last || block->arg_count) {
    return lower_error(n, "needs regions of one block without arguments");
  }
  if (!lower_block(n->l, n->op->regions[region].first, NULL, &results, &count)) return false;
  if (count != n->op->result_count) return lower_error(n, "has a branch with another number of results");
  if (count) memcpy(n->out, results, sizeof(*results) * count);
  return true;
}

// Nodes of a tree whose leaves are the regions: 1 is the root, 2 i and 2 i + 1 are the halves of i.
static bool build_cases(lower_op_t* n, uint32_t node) {
  uint32_t bits = 0, depth = 31 - (uint32_t)__builtin_clz(node);
  while (1u << bits < n->op->region_count) ++bits;
  if (depth == bits) return build_region(n, node - (1u << bits));
  uint32_t middle = (2 * node + 1 - (2u << depth)) << (bits - depth - 1);
  if (middle >= n->op->region_count) return build_cases(n, 2 * node);
  lower_branch_t lower = {.build = build_cases, .number = 2 * node}, upper = {.build = build_cases};
  upper.number = 2 * node + 1;
  return lower_build_if(n, lower_with_number(n, SCALAR_ltu, n->in[0], middle), &lower, &upper);
}

bool lower_build_case(lower_op_t* n) {
  int64_t number;
  uint32_t last = n->op->region_count - 1;
  if (!lower_constant_index(n->in[0], &number)) return build_cases(n, 1);
  return build_region(n, number >= 0 && number < last ? (uint32_t)number : last);
}

//===----------------------------------------------------------------------------------------------------------------===
// Complex tensors outside
//===----------------------------------------------------------------------------------------------------------------===

const ir_type_t* lower_packed_type(ir_context_t* ctx, const ir_type_t* type) {
  bool tensor = ir_type_is_tensor(type);
  const ir_type_t* scalar = tensor ? ir_type_scalar(type) : type;
  int32_t rank = tensor ? type->rank : 0;
  int64_t dims[GRAPH_MAX_RANK];
  if (scalar->kind != IR_TYPE_COMPLEX || rank < 0 || rank >= GRAPH_MAX_RANK) return NULL;
  for (int32_t i = 0; i < rank; ++i) dims[i] = type->dims[i];
  dims[rank] = 2;
  return lower_type(ctx, ir_type_tensor(ctx, scalar->element, rank + 1, dims));
}

lower_value_t lower_unpack(lowering_t* l, ir_value_t* packed, const ir_type_t* own) {
  const ir_type_t* type = packed->type;
  int64_t offsets[GRAPH_MAX_RANK] = {0}, sizes[GRAPH_MAX_RANK], strides[GRAPH_MAX_RANK];
  ir_value_t *parts[2], *dynamic[GRAPH_MAX_RANK];
  for (int32_t i = 0; i < type->rank; ++i) sizes[i] = type->dims[i], strides[i] = 1;
  sizes[type->rank - 1] = 1;
  lower_dynamic_dims(&l->b, packed, type, dynamic);
  for (int i = 0; i < 2; ++i) {
    offsets[type->rank - 1] = i;
    ir_value_t* part = graph_slice(&l->b, packed, offsets, sizes, strides);
    parts[i] = graph_reshape(&l->b, part, type->rank - 1, type->dims, dynamic);
    if (!ir_type_is_tensor(own)) parts[i] = lower_coerce(l, parts[i], type->element);
  }
  return (lower_value_t){.v = parts[0], .im = parts[1]};
}

ir_value_t* lower_pack(lowering_t* l, lower_value_t value) {
  ir_value_t *parts[2] = {lower_as_tensor(&l->b, value.v), lower_as_tensor(&l->b, value.im)}, *dynamic[GRAPH_MAX_RANK];
  const ir_type_t* type = parts[0]->type;
  int64_t dims[GRAPH_MAX_RANK];
  for (int32_t i = 0; i < type->rank; ++i) dims[i] = type->dims[i];
  dims[type->rank] = 1;
  lower_dynamic_dims(&l->b, parts[0], type, dynamic);
  for (int i = 0; i < 2; ++i) parts[i] = graph_reshape(&l->b, parts[i], type->rank + 1, dims, dynamic);
  return graph_concat(&l->b, parts, 2, type->rank);
}

//===----------------------------------------------------------------------------------------------------------------===
// Loops
//===----------------------------------------------------------------------------------------------------------------===

// The condition as tensor<i1>, then the values as `types` say.
static bool run_before(lowering_t* l, const lower_value_t* inits, uint32_t count, const lower_types_t* types,
                       const lower_while_t* pieces, lower_list_t* out) {
  ir_value_t* go_on = NULL;
  lower_list_t values = LOWER_LIST(l->ctx);
  if (!pieces->before(pieces->user, inits, count, &go_on, &values)) return false;
  if (values.count != types->count) {
    return ir_error(l->ctx, l->b.loc, "a loop gives %u values where %u are expected", values.count, types->count);
  }
  out->count = 0;
  lower_list_add(out, lower_as_tensor(&l->b, go_on));
  for (uint32_t i = 0; i < types->count; ++i) {
    ir_value_t* value = lower_coerce(l, values.items[i], types->items[i]);
    if (!value) return false;
    lower_list_add(out, value);
  }
  return true;
}

bool lower_build_while(lowering_t* l, const ir_loc_t* loc, const lower_value_t* inits, uint32_t count,
                       const lower_types_t* types, const lower_while_t* pieces, lower_list_t* results) {
  lower_list_t carried = LOWER_LIST(l->ctx);
  lower_types_t all = LOWER_LIST(l->ctx);
  if (!run_before(l, inits, count, types, pieces, &carried)) return false;
  for (uint32_t i = 0; i < carried.count; ++i) lower_types_add(&all, carried.items[i]->type);
  ir_op_state_t state = {.info = ir_context_op(l->ctx, GRAPH_WHILE),
                         .loc = loc,
                         .operands = carried.items,
                         .operand_count = carried.count,
                         .result_types = all.items,
                         .result_count = carried.count,
                         .region_count = 2};
  ir_op_t* loop = ir_build(&l->b, &state);
  ir_builder_t saved = l->b;
  ir_block_t* blocks[2];
  for (int r = 0; r < 2; ++r) {
    blocks[r] = ir_block_create(l->ctx);
    ir_region_append(&loop->regions[r], blocks[r]);
    for (uint32_t i = 0; i < carried.count; ++i) ir_block_add_arg(l->ctx, blocks[r], all.items[i]);
  }
  l->b = ir_builder_at_end(l->ctx, blocks[0]);
  l->b.loc = saved.loc;
  ir_build_op(&l->b, GRAPH_YIELD, &blocks[0]->args[0], 1, NULL);
  l->b.block = blocks[1];
  bool ok = pieces->after(pieces->user, blocks[1]->args + 1, &inits, &count) &&
            run_before(l, inits, count, types, pieces, &carried);
  if (ok) ir_build_op(&l->b, GRAPH_YIELD, carried.items, carried.count, NULL);
  l->b = saved;
  lower_list_add_results(results, loop, 1);
  return ok;
}

// All in order, and of these the first k.
static void sort_all(lower_op_t* n, ir_value_t* x, ir_value_t* k, const graph_extreme_t* how, ir_value_t* out[2]) {
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  const ir_type_t* type = ir_type_with_element(n->ctx, x->type, how->index);
  lower_dynamic_dims(n->b, x, type, dynamic);
  ir_value_t* pairs[2] = {x, graph_iota(n->b, type, how->axis, dynamic)};
  ir_op_t* sort = graph_sort(n->b, pairs, 2, &(graph_sort_t){.axis = how->axis, .descending = !how->least});
  for (uint32_t i = 0; i < 2; ++i) out[i] = lower_first(n, ir_result(sort, i), (int32_t)how->axis, k);
}

bool lower_top_k(lower_op_t* n, ir_value_t* x, ir_value_t* k, bool smallest) {
  const ir_type_t* type = x->type;
  int64_t axis = type->rank - 1, known;
  if (!ir_type_is_tensor(type) || axis < 0) return lower_unsupported(n, "tensors with a dimension are");
  bool is_known = lower_constant_index(k, &known);
  if (is_known && (known < 0 || (type->dims[axis] != IR_DYNAMIC && known > type->dims[axis]))) {
    return lower_error(n, "takes %lld of %lld elements", (long long)known, (long long)type->dims[axis]);
  }
  const ir_type_t* index = lower_element(n->ctx, ir_type_scalar(lower_out_type(n, 1)));
  if (index->kind != IR_TYPE_INTEGER) return lower_unsupported(n, "places of an integer type are");
  bool floats = lower_is_float(type), turned = lower_is_unsigned(lower_in_type(n, 0));
  x = floats ? lower_total_order(n, x) : turned ? lower_turn_sign(n, x) : x;
  graph_extreme_t how = {.axis = axis, .least = smallest, .index = index};
  ir_value_t* out[2];
  if (is_known) {
    how.k = known;
    ir_op_t* op = graph_top_k(n->b, x, &how);
    for (uint32_t i = 0; i < 2; ++i) out[i] = ir_result(op, i);
  } else {
    sort_all(n, x, k, &how, out);
  }
  if (floats) out[0] = lower_from_total_order(n, out[0], type->element);
  if (turned) out[0] = lower_turn_sign(n, out[0]);
  for (uint32_t i = 0; i < 2; ++i) n->out[i].v = out[i];
  return true;
}

ir_value_t* lower_turn_sign(lower_op_t* n, ir_value_t* x) {
  const ir_type_t* element = x->type->element;
  if (element->width == 1) return x;
  int64_t top = (int64_t)((uint64_t)1 << (element->width - 1));
  ir_value_t* bit = graph_splat_integer(n->b, ir_type_tensor(n->ctx, element, 0, NULL), top);
  return lower_binary(n, SCALAR_xor, x, bit);
}
