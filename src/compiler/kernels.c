// See kernels.h. Two dispatches are equal when their regions are: same ops, attributes, types and wiring; names,
// locations and what is bound to the arguments do not count, which of them are run-time sizes and in whose place the
// result is does.
#include "compiler/kernels.h"

#include <string.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "dialects/graph.h"
#include "ir/context.h"
#include "kernels/strategy.h"

typedef struct signature_t {
  char* text;
  size_t size;
  uint64_t hash;  // of the text
  kernel_plan_t plan;
  uint32_t entry;
  double seconds;  // that building it took
} signature_t;

typedef struct assign_t {
  ir_context_t* ctx;
  const device_info_t* device;
  ir_block_t* into;
  signature_t* known;
  uint32_t known_count, known_capacity;
  kernel_list_t* list;
  bool failed;
} assign_t;

static void number(uint32_t* next, ir_value_t* value) { value->data = (void*)(uintptr_t)++*next; }

// The region as text with values numbered in order.
static void serialise(text_t* out, const ir_op_t* dispatch) {
  ir_block_t* body = dispatch->regions[0].first;
  const ir_attr_t* sizes = graph_attr(dispatch, GRAPH_ATTR_sizes);
  const ir_attr_t* overwrites = graph_attr(dispatch, GRAPH_ATTR_overwrites);
  uint32_t next = 0;
  if (sizes) ir_print_attr(out, sizes);
  text_printf(out, "%d", (int)graph_in_place(dispatch));
  if (overwrites) ir_print_attr(out, overwrites);
  for (uint32_t i = 0; i < body->arg_count; ++i) {
    number(&next, body->args[i]);
    ir_print_type(out, body->args[i]->type);
    text_puts(out, ";");
  }
  IR_FOR_OPS(op, body) {
    text_puts(out, op->name);
    for (uint32_t i = 0; i < op->operand_count; ++i) text_printf(out, " %zu", (size_t)ir_operand(op, i)->data);
    for (uint32_t i = 0; i < op->attr_count; ++i) {
      text_printf(out, " %s=", op->attrs[i].name);
      ir_print_attr(out, op->attrs[i].value);
    }
    for (uint32_t i = 0; i < op->result_count; ++i) {
      number(&next, &op->results[i]);
      text_puts(out, ":");
      ir_print_type(out, op->results[i].type);
    }
    if (op->region_count) text_printf(out, " region %p", (void*)op);  // not compared: its own kernel
    text_puts(out, "\n");
  }
  for (uint32_t i = 0; i < body->arg_count; ++i) body->args[i]->data = NULL;
  IR_FOR_OPS(op, body) {
    for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].data = NULL;
  }
}

static signature_t* find(assign_t* a, const text_t* text) {
  uint64_t hash = ir_hash_bytes(text->data, text->size);
  for (uint32_t i = 0; i < a->known_count; ++i) {
    const signature_t* s = &a->known[i];
    if (s->hash == hash && s->size == text->size && memcmp(s->text, text->data, text->size) == 0) return &a->known[i];
  }
  return NULL;
}

static signature_t* build(assign_t* a, ir_op_t* dispatch, const text_t* text) {
  kernel_plan_t plan;
  double start = seconds_now();
  if (!kernels_build(a->ctx, dispatch, a->into, a->device, &plan)) return NULL;
  if (a->known_count == a->known_capacity) {
    a->known_capacity = a->known_capacity ? a->known_capacity * 2 : 64;
    a->known = memory_resize(a->known, sizeof(*a->known) * a->known_capacity);
  }
  signature_t* s = &a->known[a->known_count];
  *s = (signature_t){.text = arena_copy(ir_context_arena(a->ctx), text->data, text->size),
                     .size = text->size,
                     .hash = ir_hash_bytes(text->data, text->size),
                     .plan = plan,
                     .entry = a->known_count,
                     .seconds = seconds_now() - start};
  ++a->known_count;
  return s;
}

// What no integer holds is the largest.
static int64_t whole(double cycles) { return cycles < (double)INT64_MAX ? (int64_t)cycles : INT64_MAX; }

static void assign_dispatch(assign_t* a, ir_op_t* dispatch) {
  text_t text = {0};
  if (ir_is(dispatch->regions[0].first->first, GRAPH_EXTERN)) return;  // externs.h
  serialise(&text, dispatch);
  signature_t* s = find(a, &text);
  if (!s) s = build(a, dispatch, &text);
  text_finish(&text);
  if (!s) {
    a->failed = true;
    return;
  }
  ir_op_set_attr(a->ctx, dispatch, "entry", ir_attr_i64(a->ctx, s->entry));
  ir_op_set_attr(a->ctx, dispatch, "workgroups", ir_attr_i64_array(a->ctx, s->plan.workgroups, 3));
  if (s->plan.rule_count) {
    const ir_attr_t* rule = ir_attr_i64_array(a->ctx, s->plan.rule, s->plan.rule_count);
    ir_op_set_attr(a->ctx, dispatch, "workgroup_rule", rule);
  }
  ir_op_set_attr(a->ctx, dispatch, "strategy", ir_attr_cstring(a->ctx, s->plan.strategy));
  if (!s->plan.overwrites) ir_op_remove_attr(dispatch, "overwrites");
  ir_op_set_attr(a->ctx, dispatch, "cycles", ir_attr_i64(a->ctx, whole(s->plan.cycles)));
  if (s->plan.slow) ir_op_set_attr(a->ctx, dispatch, "slow", ir_attr_cstring(a->ctx, s->plan.slow));
}

static void visit(assign_t* a, ir_op_t* op) {
  if (ir_is(op, GRAPH_DISPATCH)) {
    assign_dispatch(a, op);
    return;
  }
  for (uint32_t r = 0; r < op->region_count; ++r) {
    IR_FOR_BLOCKS(block, &op->regions[r]) { IR_FOR_OPS(inner, block) visit(a, inner); }
  }
}

bool kernels_assign(ir_context_t* ctx, ir_op_t* module, const device_info_t* device, kernel_list_t* out) {
  out->module = ir_module_create(ctx, module->loc);
  assign_t a = {.ctx = ctx, .device = device, .into = ir_module_body(out->module), .list = out};
  visit(&a, module);
  out->count = a.known_count;
  out->funcs = ARENA_ARRAY(ir_context_arena(ctx), ir_op_t*, a.known_count + 1);
  out->seconds = ARENA_ARRAY(ir_context_arena(ctx), double, a.known_count + 1);
  for (uint32_t i = 0; i < a.known_count; ++i) {
    out->funcs[i] = a.known[i].plan.func;
    out->seconds[i] = a.known[i].seconds;
  }
  memory_free(a.known);
  return !a.failed;
}
