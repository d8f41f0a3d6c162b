// What a region of scalar ops computes, found out by running it: comparators, reducers and selectors are recognised by
// what they answer on sample values, however they are written.
#include "base/scalar_math.h"
#include "dialects/evaluate.h"
#include "dialects/func.h"
#include "import/lowering.h"

// Only values of its own: it can be run alone.
static bool is_closed(const ir_block_t* block) {
  IR_FOR_OPS(op, block) {
    if (op->region_count) return false;
    for (uint32_t i = 0; i < op->operand_count; ++i) {
      const ir_value_t* v = ir_operand(op, i);
      if (v->def ? v->def->parent != block : v->block != block) return false;
    }
  }
  return true;
}

bool lower_probe_begin(lowering_t* l, ir_block_t* block, lower_probe_t* probe) {
  *probe = (lower_probe_t){.ctx = l->ctx};
  if (!is_closed(block)) return false;
  ir_block_t* scratch = ir_block_create(l->ctx);
  const ir_type_t* nothing = ir_type_function(l->ctx, NULL, 0, NULL, 0);
  ir_op_t* func = ir_func_create(l->ctx, scratch, l->b.loc, "probe", nothing);
  lower_value_t* args = ARENA_ARRAY(ir_context_arena(l->ctx), lower_value_t, block->arg_count + 1);
  for (uint32_t i = 0; i < block->arg_count; ++i) {
    const ir_type_t* type = lower_type(l->ctx, ir_type_scalar(block->args[i]->type));
    if (!type) return false;
    type = ir_type_tensor(l->ctx, type, 0, NULL);
    args[i].v = ir_block_add_arg(l->ctx, func->regions[0].first, type);
  }
  ir_builder_t saved = l->b;
  l->b = ir_builder_at_end(l->ctx, func->regions[0].first);
  l->b.loc = saved.loc;
  lower_value_t* results;
  uint32_t count;
  lower_list_t list = LOWER_LIST(l->ctx);
  bool ok = lower_block(l, block, args, &results, &count);
  probe->failed = !ok;
  for (uint32_t i = 0; ok && i < count; ++i) lower_flatten(results[i], &list);
  if (ok) {
    ir_op_state_t state = {.info = ir_context_op(l->ctx, FUNC_RETURN), .operands = list.items};
    state.operand_count = list.count;
    ir_build(&l->b, &state);
  }
  l->b = saved;
  probe->func = func;
  probe->result_count = list.count;
  return ok && list.count <= LOWER_PROBE_VALUES && block->arg_count <= LOWER_PROBE_VALUES;
}

bool lower_probe_run(lower_probe_t* probe, const double* in, double* out) {
  ir_block_t* body = probe->func->regions[0].first;
  const ir_attr_t *inputs[LOWER_PROBE_VALUES], *outputs[LOWER_PROBE_VALUES];
  for (uint32_t i = 0; i < body->arg_count; ++i) {
    const ir_type_t* type = body->args[i]->type;
    unsigned char data[16] = {0};
    if (ir_type_is_float(type->element))
      ir_scalar_store_number(type->element, in[i], data);
    else
      ir_scalar_store_integer(type->element, scalar_float_to_int(in[i], 64, false), data);  // probes are NaN, too
    inputs[i] = ir_attr_elements(probe->ctx, type, data, ir_type_bytes(type->element));
  }
  if (!graph_evaluate(probe->ctx, probe->func, inputs, outputs)) return false;
  for (uint32_t i = 0; i < probe->result_count; ++i) out[i] = ir_attr_element_number(outputs[i], 0);
  return true;
}
