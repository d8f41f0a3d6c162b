// Which bodies of dispatches are kernels by themselves. See workgroup.h.
#include "dialects/builtin.h"
#include "dialects/flow.h"
#include "dialects/func.h"
#include "dialects/hal.h"
#include "dialects/stream.h"
#include "import/linalg/workgroup.h"

// Whether the body sees bindings as memory.
static bool sees_memory(const ir_block_t* block) {
  for (const ir_op_t* op = block->first; op; op = op->next) {
    bool view = ir_is(op, STREAM_BINDING_SUBSPAN) || ir_is(op, HAL_INTERFACE_BINDING_SUBSPAN);
    if (view && op->result_count && op->results[0].type->kind == IR_TYPE_MEMREF) return true;
    for (uint32_t r = 0; r < op->region_count; ++r) {
      IR_FOR_BLOCKS(inner, &op->regions[r]) {
        if (sees_memory(inner)) return true;
      }
    }
  }
  return false;
}

bool workgroup_is_kernel(lower_op_t* n, const ir_op_t* export, const ir_op_t* func) {
  ir_block_t* block = func->regions[0].first;
  if (!ir_is(func, FUNC_FUNC) || !block || block->next || !block->last) return false;
  if (sees_memory(block)) return true;
  if (!dispatch_asks(block)) return false;
  hal_layout_t layout = {0};
  if (ir_is(export, HAL_EXECUTABLE_EXPORT)) hal_read_layout(ir_op_attr(export, "layout"), &layout);
  const char* name = ir_op_string(func, "sym_name", "");
  lower_shim_t shim = {.module = ir_op_parent(func),
                       .function = name,
                       .name = name,
                       .bindings = (uint32_t)layout.bindings,
                       .constants = (uint32_t)layout.constants};
  ir_context_mute(n->ctx, true);
  bool is = lower_shim(n->ctx, &shim, ir_module_body(ir_module_create(n->ctx, n->op->loc))) != NULL;
  ir_context_mute(n->ctx, false);
  return is;
}

//===----------------------------------------------------------------------------------------------------------------===
// Bodies in dispatches
//===----------------------------------------------------------------------------------------------------------------===

// Whether ops use what is in `region` alone.
static bool is_isolated(const ir_block_t* block, const ir_op_t* holder) {
  for (const ir_op_t* op = block->first; op; op = op->next) {
    for (uint32_t i = 0; i < op->operand_count; ++i) {
      const ir_value_t* v = ir_operand(op, i);
      const ir_op_t* from = v->def ? v->def : v->block->parent->parent;
      if (from == holder ? v->def != NULL : !ir_op_is_inside(from, holder)) return false;
    }
    for (uint32_t r = 0; r < op->region_count; ++r) {
      IR_FOR_BLOCKS(inner, &op->regions[r]) {
        if (!is_isolated(inner, holder)) return false;
      }
    }
  }
  return true;
}

static ir_op_t* build_executable(lower_op_t* n, const char* name) {
  ir_context_t* ctx = n->ctx;
  ir_builder_t b = ir_builder_at_end(ctx, ir_module_body(n->l->module));
  b.loc = n->op->loc;
  ir_named_attr_t attrs[] = {{"sym_name", ir_attr_cstring(ctx, name)},
                             {"sym_visibility", ir_attr_cstring(ctx, "private")}};
  ir_op_state_t state = {
      .info = ir_context_op(ctx, FLOW_EXECUTABLE), .attrs = attrs, .attr_count = 2, .region_count = 1};
  ir_op_t* executable = ir_build(&b, &state);
  ir_region_append(&executable->regions[0], ir_block_create(ctx));
  ir_builder_t inner = ir_builder_at_end(ctx, executable->regions[0].first);
  inner.loc = n->op->loc;
  ir_named_attr_t export[] = {{"sym_name", ir_attr_cstring(ctx, "workgroup")},
                              {"function_ref", ir_attr_symbol(ctx, "workgroup")}};
  ir_build(&inner,
           &(ir_op_state_t){.info = ir_context_op(ctx, FLOW_EXECUTABLE_EXPORT), .attrs = export, .attr_count = 2});
  ir_block_append(executable->regions[0].first, ir_module_create(ctx, n->op->loc));
  return executable;
}

static ir_op_t* build_function(lower_op_t* n, ir_block_t* into, const ir_block_t* body) {
  ir_context_t* ctx = n->ctx;
  const ir_type_t** types = ARENA_ARRAY(ir_context_arena(ctx), const ir_type_t*, body->arg_count + 1);
  for (uint32_t i = 0; i < body->arg_count; ++i) types[i] = body->args[i]->type;
  const ir_type_t* type = ir_type_function(ctx, types, body->arg_count, NULL, 0);
  ir_op_t* func = ir_func_create(ctx, into, n->op->loc, "workgroup", type);
  ir_block_t* block = func->regions[0].first;
  ir_value_map_t* map = ir_value_map_create(ctx);
  for (uint32_t i = 0; i < body->arg_count; ++i) ir_value_map_set(map, body->args[i], block->args[i]);
  for (const ir_op_t* op = body->first; op != body->last; op = op->next)
    ir_block_append(block, ir_op_clone(ctx, op, map));
  ir_builder_t end = ir_builder_at_end(ctx, block);
  end.loc = n->op->loc;
  ir_build_op(&end, FUNC_RETURN, NULL, 0, NULL);
  return func;
}

const ir_attr_t* workgroup_outline(lower_op_t* n) {
  const ir_block_t* body = n->op->region_count ? n->op->regions[0].first : NULL;
  uint32_t number = 0;
  const char* name = "workgroups";
  if (!body || body->next || !body->last || body->last->operand_count || !dispatch_asks(body)) return NULL;
  if (!is_isolated(body, n->op)) return NULL;
  while (ir_symbol_find(n->ctx, n->l->module, name)) {
    name = arena_printf(ir_context_arena(n->ctx), "workgroups_%u", number++);
  }
  ir_op_t* executable = build_executable(n, name);
  ir_op_t *export = executable->regions[0].first->first, *module = export->next;
  if (!workgroup_is_kernel(n, export, build_function(n, ir_module_body(module), body))) {
    ir_op_erase(executable);
    return NULL;
  }
  const ir_attr_t* entry = ir_attr_symbol(n->ctx, "workgroup");
  return ir_attr_symbol_nested(n->ctx, name, &entry, 1);
}
