// See donate.h.
#include "compiler/donate.h"

#include <string.h>

#include "ir/context.h"

static bool is_fit(const ir_type_t* type) {
  return ir_type_is_tensor(type) && ir_type_is_static(type) && !ir_type_is_packed(type->element);
}

static const ir_type_t* signature(const ir_op_t* func) {
  const ir_attr_t* type = ir_op_attr(func, "function_type");
  return type && type->kind == IR_ATTR_TYPE && type->type->kind == IR_TYPE_FUNCTION ? type->type : NULL;
}

static bool all_fit(const ir_type_t* type) {
  for (uint32_t i = 0; i < type->input_count; ++i) {
    if (!is_fit(type->inputs[i])) return false;
  }
  for (uint32_t i = 0; i < type->result_count; ++i) {
    if (!is_fit(type->results[i])) return false;
  }
  return true;
}

static bool is_taken(const donation_t* found, uint32_t count, uint32_t result) {
  for (uint32_t i = 0; i < count; ++i) {
    if (found[i].result == result) return true;
  }
  return false;
}

// The result that argument `number` is for, among those that are not `found` yet; results.count: none.
static uint32_t choose(const ir_type_t* type, const ir_attr_t* attrs, uint32_t number, const donation_t* found,
                       uint32_t count) {
  const ir_attr_t *wanted = ir_attr_dict_get(attrs, "tf.aliasing_output"), *any = NULL;
  uint32_t first = 0, end = type->result_count;
  if (wanted && wanted->kind == IR_ATTR_INTEGER && wanted->integer >= 0 && wanted->integer < end) {
    first = (uint32_t)wanted->integer;
    end = first + 1;
  } else if (!(any = ir_attr_dict_get(attrs, "jax.buffer_donor")) || any->kind != IR_ATTR_INTEGER || !any->integer) {
    return type->result_count;
  }
  for (uint32_t i = first; i < end; ++i) {
    if (type->results[i] == type->inputs[number] && !is_taken(found, count, i)) return i;
  }
  return type->result_count;
}

uint32_t donate_find(const ir_op_t* func, donation_t* out) {
  const ir_type_t* type = signature(func);
  const ir_attr_t* all = ir_op_attr(func, "arg_attrs");
  uint32_t count = 0;
  if (!type || !all || all->kind != IR_ATTR_ARRAY || all->count != type->input_count || !all_fit(type)) return 0;
  for (uint32_t i = 0; i < type->input_count; ++i) {
    if (all->items[i]->kind != IR_ATTR_DICT || !ir_type_count(type->inputs[i])) continue;
    uint32_t result = choose(type, all->items[i], i, out, count);
    if (result < type->result_count) out[count++] = (donation_t){i, result};
  }
  return count;
}

static void add_arguments(ir_context_t* ctx, ir_op_t* func, const donation_t* donations, uint32_t count) {
  const ir_type_t* type = signature(func);
  const ir_attr_t* attrs = ir_op_attr(func, "arg_attrs");
  arena_t* arena = ir_context_arena(ctx);
  uint32_t inputs = type->input_count;
  const ir_type_t** types = ARENA_ARRAY(arena, const ir_type_t*, inputs + count);
  const ir_attr_t** dicts = ARENA_ARRAY(arena, const ir_attr_t*, inputs + count);
  for (uint32_t i = 0; i < inputs; ++i) types[i] = type->inputs[i], dicts[i] = attrs->items[i];
  for (uint32_t i = 0; i < count; ++i) {
    const ir_type_t* index = ir_type_index(ctx);
    ir_named_attr_t entries[] = {{"iree.abi.donor", ir_attr_integer(ctx, index, donations[i].argument)},
                                 {"iree.abi.output", ir_attr_integer(ctx, index, donations[i].result)}};
    types[inputs + i] = type->inputs[donations[i].argument];
    dicts[inputs + i] = ir_attr_dict(ctx, entries, 2);
    ir_block_add_arg(ctx, func->regions[0].first, types[inputs + i]);
  }
  type = ir_type_function(ctx, types, inputs + count, type->results, type->result_count);
  ir_op_set_attr(ctx, func, "function_type", ir_attr_type(ctx, type));
  ir_op_set_attr(ctx, func, "arg_attrs", ir_attr_array(ctx, dicts, inputs + count));
}

pass_result_t donate_arguments(ir_op_t* module, ir_context_t* ctx) {
  bool changed = false;
  IR_FOR_OPS(func, ir_module_body(module)) {
    const ir_type_t* type = strcmp(func->name, "func.func") == 0 && func->regions[0].first ? signature(func) : NULL;
    if (!type || strcmp(ir_op_string(func, "sym_visibility", "public"), "private") == 0) continue;
    donation_t* donations = ARENA_ARRAY(ir_context_arena(ctx), donation_t, type->input_count + 1);
    uint32_t count = donate_find(func, donations);
    if (count) add_arguments(ctx, func, donations, count);
    changed |= count > 0;
  }
  return changed ? PASS_CHANGED : PASS_UNCHANGED;
}
