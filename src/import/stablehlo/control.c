// Control flow, tuples, composites, and what several devices would do.
#include "import/control.h"

#include <string.h>

#include "dialects/stablehlo.h"
#include "import/stablehlo/ops.h"

//===----------------------------------------------------------------------------------------------------------------===
// if, case, while
//===----------------------------------------------------------------------------------------------------------------===

static ir_block_t* only_block(const ir_region_t* region, uint32_t args) {
  ir_block_t* block = region->first;
  return block && !block->next && block->last && block->arg_count == args ? block : NULL;
}

bool stablehlo_lower_if(lower_op_t* n) {
  ir_block_t* blocks[2] = {only_block(&n->op->regions[0], 0), only_block(&n->op->regions[1], 0)};
  bool flag =
      n->in[0] && lower_is_bool(n->in[0]->type) && (!ir_type_is_tensor(n->in[0]->type) || n->in[0]->type->rank == 0);
  if (!flag) return lower_error(n, "needs a predicate of type tensor<i1>");
  if (!blocks[0] || !blocks[1]) return lower_error(n, "needs two regions of one block without arguments");
  lower_branch_t then = {.block = blocks[0]}, other = {.block = blocks[1]};
  return lower_build_if(n, n->in[0], &then, &other);
}

bool stablehlo_lower_case(lower_op_t* n) {
  bool index =
      n->in[0] && ir_type_is_tensor(n->in[0]->type) && n->in[0]->type->rank == 0 && !lower_is_float(n->in[0]->type);
  if (!index || !n->op->region_count) return lower_error(n, "needs an index of type tensor<i32> and branches");
  int64_t constant;
  if (lower_constant_index(n->in[0], &constant)) {
    n->in[0] = graph_index_constant(n->b, constant);
  } else {  // a number of the host, which compares it as often as it takes
    ir_value_t* number = lower_coerce(n->l, n->in[0], n->in[0]->type->element);
    n->in[0] = graph_cast(n->b, number, ir_type_index(n->ctx), false);
  }
  return lower_build_case(n);
}

bool stablehlo_lower_while(lower_op_t* n) {
  ir_block_t* condition = only_block(&n->op->regions[0], n->op->operand_count);
  ir_block_t* body = only_block(&n->op->regions[1], n->op->operand_count);
  if (!condition || !body || n->op->result_count != n->op->operand_count) {
    return lower_error(n, "needs two regions of one block with an argument for each operand");
  }
  lower_types_t types = LOWER_LIST(n->ctx);
  lower_list_t inits = LOWER_LIST(n->ctx);
  for (uint32_t i = 0; i < n->op->operand_count; ++i) {
    uint32_t first = inits.count, before = types.count;
    lower_flatten(n->values[i], &inits);
    if (!lower_flat_types(n->ctx, condition->args[i]->type, &types) || types.count - before != inits.count - first) {
      return lower_unsupported(n, "tensors of known rank and tuples of them are");
    }
  }
  for (uint32_t i = 0; i < inits.count; ++i) {
    if (!(inits.items[i] = lower_coerce(n->l, inits.items[i], types.items[i]))) return false;
  }
  ir_op_state_t state = {.info = ir_context_op(n->ctx, GRAPH_WHILE),
                         .operands = inits.items,
                         .operand_count = inits.count,
                         .result_types = types.items,
                         .result_count = types.count,
                         .region_count = 2};
  ir_op_t* loop = ir_build(n->b, &state);
  const ir_type_t* flag = ir_type_tensor(n->ctx, ir_type_int(n->ctx, 1), 0, NULL);
  if (!lower_region(n->l, condition, &loop->regions[0], &flag, 1) ||
      !lower_region(n->l, body, &loop->regions[1], types.items, types.count)) {
    return false;
  }
  for (uint32_t i = 0; i < types.count; ++i) inits.items[i] = ir_result(loop, i);
  ir_value_t* const* next = inits.items;
  for (uint32_t i = 0; i < n->op->result_count; ++i) {
    n->out[i] = lower_unflatten(n->l, condition->args[i]->type, &next);
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Tuples and barriers
//===----------------------------------------------------------------------------------------------------------------===

bool stablehlo_lower_tuple(lower_op_t* n) {
  n->out[0] = (lower_value_t){.items = n->values, .count = n->op->operand_count};
  return true;
}

bool stablehlo_lower_get_tuple_element(lower_op_t* n) {
  int64_t index = ir_op_int(n->op, "index", -1);
  if (!n->values[0].items || index < 0 || index >= n->values[0].count) return lower_error(n, "index is out of range");
  n->out[0] = n->values[0].items[index];
  return true;
}

bool stablehlo_lower_optimization_barrier(lower_op_t* n) { return lower_barrier(n); }

bool stablehlo_lower_token(lower_op_t* n) {
  (void)n;
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Composites
//===----------------------------------------------------------------------------------------------------------------===

// A composite is a call of the function that it could be decomposed to.
bool stablehlo_lower_composite(lower_op_t* n) {
  return lower_call_symbol(n, ir_op_string(n->op, "decomposition", NULL));
}

//===----------------------------------------------------------------------------------------------------------------===
// One device: its number is 0, and collectives over it alone give what they get
//===----------------------------------------------------------------------------------------------------------------===

// Programs say for how many devices they are, when it is not one.
static bool is_alone(const lower_op_t* n) {
  return ir_op_int(n->l->module, "mhlo.num_replicas", 1) == 1 && ir_op_int(n->l->module, "mhlo.num_partitions", 1) == 1;
}

bool stablehlo_lower_device_id(lower_op_t* n) {
  if (!is_alone(n)) return lower_unsupported(n, "programs for one device are");
  const ir_type_t* type = lower_type(n->ctx, lower_out_type(n, 0));
  if (!type || !ir_type_is_tensor(type) || type->rank) return lower_unsupported(n, "a result of type tensor<ui32> is");
  return lower_return(n, graph_splat_integer(n->b, type, 0));
}

bool stablehlo_lower_one_device(lower_op_t* n) {
  bool same = n->op->result_count == n->op->operand_count;
  for (uint32_t i = 0; same && i < n->op->result_count; ++i) same = lower_in_type(n, i) == lower_out_type(n, i);
  const ir_attr_t* groups = ir_op_attr(n->op, "replica_groups");
  bool alone = is_alone(n);
  alone &= !groups || groups->kind != IR_ATTR_ELEMENTS || ir_type_count(groups->type) <= 1;
  return same && alone ? stablehlo_same_values(n) : lower_unsupported(n, "programs for one device are");
}

// What device 0 sends to itself; where nobody sends, zeros arrive.
bool stablehlo_lower_collective_permute(lower_op_t* n) {
  int64_t pairs[2 * GRAPH_MAX_RANK] = {0};
  const ir_attr_t* attr = ir_op_attr(n->op, "source_target_pairs");
  uint32_t count = attr ? ir_attr_ints(attr, pairs, 2 * GRAPH_MAX_RANK) : 0;
  bool empty = attr && attr->kind == IR_ATTR_ELEMENTS && ir_type_count(attr->type) == 0;
  if (!empty && (count != 2 || pairs[0] || pairs[1])) return lower_unsupported(n, "programs for one device are");
  if (!stablehlo_lower_one_device(n)) return false;
  for (uint32_t i = 0; empty && i < n->op->result_count; ++i) {
    if (n->out[i].v) n->out[i].v = lower_number_like(n, n->out[i].v, 0);
    if (n->out[i].im) n->out[i].im = lower_number_like(n, n->out[i].im, 0);
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// What is started runs at once: a future is its results
//===----------------------------------------------------------------------------------------------------------------===

bool stablehlo_lower_async_start(lower_op_t* n) {
  ir_block_t* block = only_block(&n->op->regions[0], n->op->operand_count);
  if (!block) return lower_error(n, "needs a region of one block with an argument for each operand");
  return lower_block(n->l, block, n->values, &n->out[0].items, &n->out[0].count);
}

bool stablehlo_lower_async_done(lower_op_t* n) {
  if (!n->values[0].items || n->values[0].count != n->op->result_count)
    return lower_error(n, "needs a future of %u results", n->op->result_count);
  memcpy(n->out, n->values[0].items, sizeof(*n->out) * n->op->result_count);
  return true;
}
