// See trace_dispatches.h. A trace is a call of hal.buffer_view.trace before each dispatch, and one behind it.
#include "compiler/trace_dispatches.h"

#include <string.h>

#include "base/text.h"
#include "compiler/kernel_name.h"
#include "dialects/graph.h"

typedef struct tracing_t {
  ir_context_t* ctx;
  const trace_dispatches_t* what;
  bool any;
} tracing_t;

static bool is_named(const char* name, const char* wanted) {
  const char* colon = wanted && *wanted == '@' ? strrchr(wanted, ':') : NULL;
  if (colon) {
    size_t func = (size_t)(colon - wanted) - 1;
    static const char middle[] = "_dispatch_";
    if (strncmp(name, wanted + 1, func) != 0 || strncmp(name + func, middle, sizeof(middle) - 1) != 0) return false;
    name += func + sizeof(middle) - 1;
    wanted = colon + 1;
  }
  size_t size = wanted ? strlen(wanted) : 0;
  return size && strncmp(name, wanted, size) == 0 && (name[size] == 0 || name[size] == '_');
}

static bool is_shown(const ir_value_t* v) {
  const ir_type_t* scalar = ir_type_scalar(v->type);
  bool number = scalar->kind == IR_TYPE_FLOAT || scalar->kind == IR_TYPE_INTEGER;
  return ir_type_is_tensor(v->type) && number && !ir_type_is_packed(scalar);
}

static void build_trace(tracing_t* t, ir_builder_t* b, const char* name, const char* side, ir_value_t** views,
                        uint32_t count) {
  text_t text = {0};
  text_printf(&text, "%.*s::%s %s", (int)kernel_name_short_size(name), name, name, side);
  ir_named_attr_t attrs[] = {{"callee", ir_attr_symbol(t->ctx, "hal.buffer_view.trace")},
                             {"message", ir_attr_string(t->ctx, text.data, text.size)}};
  text_finish(&text);
  if (!count) return;
  t->any = true;
  ir_build(b, &(ir_op_state_t){.info = ir_context_op(t->ctx, GRAPH_CALL_IMPORT),
                               .operands = views,
                               .operand_count = count,
                               .attrs = attrs,
                               .attr_count = 2});
}

static void trace_dispatch(tracing_t* t, ir_op_t* op) {
  const char* name = ir_op_string(op, "sym_name", "");
  uint32_t most = op->operand_count + op->result_count, ins = 0, outs = 0;
  ir_value_t** views = ARENA_ARRAY(ir_context_arena(t->ctx), ir_value_t*, most + 1);
  if (!t->what->all && !is_named(name, t->what->name)) return;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (is_shown(ir_operand(op, i))) views[ins++] = ir_operand(op, i);
  }
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (is_shown(ir_result(op, i))) views[ins + outs++] = ir_result(op, i);
  }
  ir_builder_t before = {.ctx = t->ctx, .block = op->parent, .before = op, .loc = op->loc}, behind = before;
  behind.before = op->next;
  build_trace(t, &before, name, "inputs", views, ins);
  build_trace(t, &behind, name, "outputs", views + ins, outs);
}

static void trace_block(tracing_t* t, ir_op_t* parent) {
  for (uint32_t r = 0; r < parent->region_count; ++r) {
    IR_FOR_BLOCKS(block, &parent->regions[r]) {
      IR_FOR_OPS_SAFE(op, block) {
        if (ir_is(op, GRAPH_DISPATCH)) {
          trace_dispatch(t, op);
        } else {
          trace_block(t, op);
        }
      }
    }
  }
}

pass_result_t trace_dispatches_run(ir_op_t* module, ir_context_t* ctx, void* user) {
  tracing_t t = {ctx, user, false};
  trace_block(&t, module);
  return t.any ? PASS_CHANGED : PASS_UNCHANGED;
}
