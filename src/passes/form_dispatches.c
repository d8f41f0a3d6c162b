// Moves each group of graph ops into the region of a graph.dispatch: what is inside becomes one kernel, what crosses
// its boundary is memory.
//
//   %0 = graph.contract %a, %w ...          %1 = graph.dispatch(%a, %w, %bias) ({ ^bb0(%x, %y, %z):
//   %b = graph.broadcast %bias ...     =>       %0 = graph.contract %x, %y; %b = graph.broadcast %z
//   %1 = graph.add %0, %b                       %1 = graph.add %0, %b; graph.yield %1 })
//
// Run-time sizes are operands too: the dispatch's `sizes` has their numbers, one for each '?' of its operands and then
// of its results; `extents` of an op inside has those of its results.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "passes/dispatch_name.h"
#include "passes/fusion.h"
#include "passes/passes.h"
#include "passes/sizes.h"

typedef struct forming_t {
  fusion_t fusion;
  const fusion_target_t* fusion_target;
  ir_context_t* ctx;
  ir_block_t* target;  // ops in their new order
  uint32_t dispatch_count;
  const char* func_name;
  fusion_node_t** todo;
  uint32_t todo_count, todo_capacity;
} forming_t;

typedef struct list_t {
  ir_value_t** items;
  uint32_t count, capacity;
} list_t;

static void list_add(forming_t* f, list_t* list, ir_value_t* value) {
  for (uint32_t i = 0; i < list->count; ++i) {
    if (list->items[i] == value) return;
  }
  if (list->count == list->capacity) {
    uint32_t capacity = list->capacity ? list->capacity * 2 : 8;
    ir_value_t** items = ARENA_ARRAY(ir_context_arena(f->ctx), ir_value_t*, capacity);
    if (list->count) memcpy(items, list->items, sizeof(*items) * list->count);
    list->items = items;
    list->capacity = capacity;
  }
  list->items[list->count++] = value;
}

//===----------------------------------------------------------------------------------------------------------------===
// One group
//===----------------------------------------------------------------------------------------------------------------===

// The values that are the sizes of each '?'.
static void add_sizes(forming_t* f, list_t* list, const ir_value_t* value) {
  const ir_type_t* type = value->type;
  for (int32_t i = 0; ir_type_is_tensor(type) && i < type->rank; ++i) {
    if (type->dims[i] == IR_DYNAMIC) list_add(f, list, sizes_of(value, i));
  }
}

static uint32_t add_numbers(const list_t* inputs, const ir_value_t* value, int64_t* numbers) {
  const ir_type_t* type = value->type;
  uint32_t count = 0;
  for (int32_t i = 0; ir_type_is_tensor(type) && i < type->rank; ++i) {
    if (type->dims[i] != IR_DYNAMIC) continue;
    uint32_t number = 0;
    while (number < inputs->count && inputs->items[number] != sizes_of(value, i)) ++number;
    assert(number < inputs->count && "a size was not collected");
    numbers[count++] = number;
  }
  return count;
}

static void set_numbers(forming_t* f, ir_op_t* op, const char* name, const int64_t* numbers, uint32_t count) {
  if (count) ir_op_set_attr(f->ctx, op, name, ir_attr_i64_array(f->ctx, numbers, count));
}

// Sizes of the inputs, so that addresses can be computed; those of outputs and members are collected with them.
static void add_input_sizes(forming_t* f, list_t* inputs) {
  for (uint32_t i = 0, count = inputs->count; i < count; ++i) add_sizes(f, inputs, inputs->items[i]);
}

typedef struct used_t {
  forming_t* f;
  list_t list;
} used_t;

static void add_used(void* user, ir_value_t* value) {
  used_t* used = user;
  list_add(used->f, &used->list, value);
}

// What the op uses: operands, and values that its regions capture.
static list_t used_values(forming_t* f, const ir_op_t* op) {
  used_t used = {.f = f};
  fusion_each_use(op, add_used, &used);
  return used.list;
}

// Values that the members need from outside, through inlined producers.
static void collect_inputs(forming_t* f, const ir_op_t* op, int32_t group, list_t* inputs) {
  list_t used = used_values(f, op);
  for (uint32_t i = 0; i < used.count; ++i) {
    ir_value_t* value = used.items[i];
    fusion_node_t* producer = fusion_node(value->def);
    if (producer && producer->group == group) continue;
    if (producer && producer->is_inline) {
      collect_inputs(f, producer->op, group, inputs);
    } else if (!value->def || !fusion_is_splat(value->def)) {
      list_add(f, inputs, value);
    }
  }
  for (uint32_t i = 0; i < op->result_count; ++i) add_sizes(f, inputs, &op->results[i]);
}

static bool used_outside(const forming_t* f, const ir_value_t* value, int32_t group) {
  IR_FOR_USES(use, value) {
    const fusion_node_t* user = use->owner->parent == f->fusion.block ? fusion_node(use->owner) : NULL;
    if (!user) return true;
    if (user->is_inline ? user->has_users : user->group != group) return true;  // copies go to several groups
  }
  return false;
}

static int compare_ints(const void* a, const void* b) { return *(const int32_t*)a - *(const int32_t*)b; }

typedef struct cloning_t {
  forming_t* f;
  const list_t* inputs;
  int32_t group;
  ir_block_t* body;
  ir_value_map_t* map;
} cloning_t;

static ir_op_t* append_copy(cloning_t* c, const ir_op_t* op) {
  ir_op_t* copy = ir_op_clone(c->f->ctx, op, c->map);
  copy->data = NULL;
  int64_t* numbers = ARENA_ARRAY(ir_context_arena(c->f->ctx), int64_t, op->result_count* GRAPH_MAX_RANK + 1);
  uint32_t count = 0;
  for (uint32_t i = 0; i < op->result_count; ++i) {
    count += add_numbers(c->inputs, &op->results[i], numbers + count);
  }
  set_numbers(c->f, copy, "extents", numbers, count);
  ir_block_append(c->body, copy);
  return copy;
}

static void clone_into(cloning_t* c, const ir_op_t* op) {
  list_t used = used_values(c->f, op);
  for (uint32_t i = 0; i < used.count; ++i) {
    ir_value_t* value = used.items[i];
    if (ir_value_map_get(c->map, value)) continue;
    fusion_node_t* producer = fusion_node(value->def);
    bool copied = value->def && fusion_is_splat(value->def);
    copied |= producer && (producer->is_inline || producer->group == c->group);
    assert(copied && "an input of the group was not collected");
    if (copied) clone_into(c, value->def);
  }
  if (op->result_count && ir_value_map_get(c->map, &op->results[0])) return;
  append_copy(c, op);
}

// About `what`, or a copy (NULL).
static ir_op_t* create_dispatch(forming_t* f, const list_t* inputs, const list_t* outputs, const ir_op_t* what,
                                const ir_loc_t* loc) {
  const ir_type_t** types = ARENA_ARRAY(ir_context_arena(f->ctx), const ir_type_t*, outputs->count + 1);
  for (uint32_t i = 0; i < outputs->count; ++i) types[i] = outputs->items[i]->type;
  const char* name = dispatch_name(f->ctx, f->func_name, f->dispatch_count++, what);
  ir_named_attr_t attr = {"sym_name", ir_attr_cstring(f->ctx, name)};
  ir_op_state_t state = {.info = ir_context_op(f->ctx, GRAPH_DISPATCH),
                         .loc = loc,
                         .operands = inputs->items,
                         .operand_count = inputs->count,
                         .result_types = types,
                         .result_count = outputs->count,
                         .attrs = &attr,
                         .attr_count = 1,
                         .region_count = 1};
  ir_op_t* dispatch = ir_op_create(f->ctx, &state);
  ir_block_t* body = ir_block_create(f->ctx);
  ir_region_append(&dispatch->regions[0], body);
  for (uint32_t i = 0; i < inputs->count; ++i) ir_block_add_arg(f->ctx, body, inputs->items[i]->type);
  ir_block_append(f->target, dispatch);
  int64_t* numbers = ARENA_ARRAY(ir_context_arena(f->ctx), int64_t, (inputs->count + outputs->count) * GRAPH_MAX_RANK);
  uint32_t count = 0;
  for (uint32_t i = 0; i < inputs->count; ++i) count += add_numbers(inputs, inputs->items[i], numbers + count);
  for (uint32_t i = 0; i < outputs->count; ++i) {
    count += add_numbers(inputs, outputs->items[i], numbers + count);
    sizes_move(outputs->items[i], ir_result(dispatch, i));
  }
  set_numbers(f, dispatch, "sizes", numbers, count);
  return dispatch;
}

static void yield_outputs(forming_t* f, ir_block_t* body, ir_value_t* const* values, uint32_t count) {
  ir_builder_t b = ir_builder_at_end(f->ctx, body);
  ir_build_op(&b, GRAPH_YIELD, values, count, NULL);
}

// What the kernel is about: the heavy op or reduction, else the last that computes, else the last that moves.
static const ir_op_t* main_member(const forming_t* f, const fusion_group_t* group) {
  const ir_op_t* best = f->fusion.nodes[group->root].op;
  fusion_class_t class = f->fusion.nodes[group->root].class;
  if (class == FUSION_HEAVY || class == FUSION_REDUCE) return best;
  for (uint32_t i = 0; i < group->count; ++i) {
    const fusion_node_t* node = &f->fusion.nodes[group->members[i]];
    bool better = node->class == FUSION_ELEMENTWISE || class != FUSION_ELEMENTWISE;
    if (better) best = node->op, class = node->class;
  }
  return best;
}

// What the group's kernel reads, and in `outputs`, unless NULL, what of it is used outside.
static list_t group_inputs(forming_t* f, int32_t index, list_t* outputs) {
  const fusion_group_t* group = &f->fusion.groups[index];
  list_t inputs = {0};
  for (uint32_t i = 0; i < group->count; ++i) {
    ir_op_t* op = f->fusion.nodes[group->members[i]].op;
    collect_inputs(f, op, index, &inputs);
    for (uint32_t r = 0; outputs && r < op->result_count; ++r) {
      // A scatter may read back what it has written, of all its results.
      bool reads = ir_is(op, GRAPH_SCATTER_GENERIC) && !graph_scatter_rises(op);
      if (reads || used_outside(f, &op->results[r], index)) list_add(f, outputs, &op->results[r]);
    }
  }
  add_input_sizes(f, &inputs);
  return inputs;
}

static void emit_group(forming_t* f, int32_t index) {
  fusion_group_t* group = &f->fusion.groups[index];
  list_t outputs = {0};
  list_t inputs = group_inputs(f, index, &outputs);
  if (!outputs.count) return;  // nobody needs it
  ir_op_t* dispatch =
      create_dispatch(f, &inputs, &outputs, main_member(f, group), f->fusion.nodes[group->root].op->loc);
  cloning_t c = {f, &inputs, index, dispatch->regions[0].first, ir_value_map_create(f->ctx)};
  for (uint32_t i = 0; i < inputs.count; ++i) ir_value_map_set(c.map, inputs.items[i], c.body->args[i]);
  for (uint32_t i = 0; i < group->count; ++i) clone_into(&c, f->fusion.nodes[group->members[i]].op);
  ir_value_t** yielded = ARENA_ARRAY(ir_context_arena(f->ctx), ir_value_t*, outputs.count);
  for (uint32_t i = 0; i < outputs.count; ++i) yielded[i] = ir_value_map_get(c.map, outputs.items[i]);
  yield_outputs(f, c.body, yielded, outputs.count);
  for (uint32_t i = 0; i < outputs.count; ++i) ir_value_replace(outputs.items[i], &dispatch->results[i]);
}

//===----------------------------------------------------------------------------------------------------------------===
// The block in its new order: what an op or group needs, then itself. Programs are long, so the way back is a list.
//===----------------------------------------------------------------------------------------------------------------===

static bool is_emitted(const forming_t* f, const fusion_node_t* node) {
  if (node->group != FUSION_NO_GROUP) return f->fusion.groups[node->group].emitted;
  return node->is_inline || node->op->parent != f->fusion.block;
}

static void push_node(forming_t* f, fusion_node_t* node) {
  if (f->todo_count == f->todo_capacity) {
    f->todo_capacity = f->todo_capacity ? f->todo_capacity * 2 : 256;
    f->todo = memory_resize(f->todo, sizeof(*f->todo) * f->todo_capacity);
  }
  f->todo[f->todo_count++] = node;
}

static void push_value(void* user, ir_value_t* value) {
  forming_t* f = user;
  fusion_node_t* producer = fusion_node(value->def);
  if (producer && !is_emitted(f, producer)) push_node(f, producer);
}

static void reverse_todo(forming_t* f, uint32_t from) {
  for (uint32_t i = from, j = f->todo_count; i + 1 < j; ++i) {
    fusion_node_t* t = f->todo[i];
    f->todo[i] = f->todo[--j];
    f->todo[j] = t;
  }
}

static void push_needs(forming_t* f, const fusion_node_t* node) {
  uint32_t from = f->todo_count;
  if (node->group == FUSION_NO_GROUP) {
    fusion_each_use(node->op, push_value, f);
  } else {
    fusion_group_t* group = &f->fusion.groups[node->group];
    qsort(group->members, group->count, sizeof(*group->members), compare_ints);
    list_t needed = group_inputs(f, node->group, NULL);
    for (uint32_t i = 0; i < needed.count; ++i) push_value(f, needed.items[i]);
  }
  reverse_todo(f, from);
}

// A dispatch that does nothing but make a copy of the value, or fill in the number that it is.
static ir_value_t* copy_of(forming_t* f, ir_value_t* value, const ir_loc_t* loc) {
  list_t inputs = {0}, outputs = {0};
  bool splat = value->def && fusion_is_splat(value->def);
  if (!splat) list_add(f, &inputs, value);
  list_add(f, &outputs, value);
  add_sizes(f, &inputs, value);
  ir_op_t* dispatch = create_dispatch(f, &inputs, &outputs, NULL, loc);
  ir_block_t* body = dispatch->regions[0].first;
  ir_value_t* inner = splat ? NULL : body->args[0];
  if (splat) {
    ir_op_t* constant = ir_op_clone(f->ctx, value->def, NULL);
    ir_block_append(body, constant);
    inner = &constant->results[0];
  }
  yield_outputs(f, body, &inner, 1);
  return &dispatch->results[0];
}

// One number in a tensor that a loop starts with, say: small ones are stored in the module, others filled in.
static bool is_large_splat(const ir_value_t* value) {
  enum { SMALL = 4096 };
  return value->def && fusion_is_splat(value->def) && ir_type_is_tensor(value->type) &&
         ir_type_count(value->type) > SMALL;
}

static void emit_host(forming_t* f, ir_op_t* op) {
  ir_op_remove(op);
  for (uint32_t i = 0; i < op->operand_count && !ir_has_trait(op, IR_TRAIT_TERMINATOR); ++i) {
    if (is_large_splat(ir_operand(op, i))) ir_op_set_operand(op, i, copy_of(f, ir_operand(op, i), op->loc));
  }
  ir_block_append(f->target, op);
}

// A dispatch that holds nothing but the op, which says in what order its code takes what the dispatch reads.
static void emit_extern(forming_t* f, ir_op_t* op) {
  list_t inputs = {0}, outputs = {0};
  for (uint32_t i = 0; i < op->operand_count; ++i) list_add(f, &inputs, ir_operand(op, i));
  for (uint32_t i = 0; i < op->result_count; ++i) list_add(f, &outputs, ir_result(op, i));
  add_input_sizes(f, &inputs);
  ir_op_t* dispatch = create_dispatch(f, &inputs, &outputs, op, op->loc);
  cloning_t c = {f, &inputs, FUSION_NO_GROUP, dispatch->regions[0].first, ir_value_map_create(f->ctx)};
  for (uint32_t i = 0; i < inputs.count; ++i) ir_value_map_set(c.map, inputs.items[i], c.body->args[i]);
  ir_op_t* copy = append_copy(&c, op);
  ir_value_t** yielded = ARENA_ARRAY(ir_context_arena(f->ctx), ir_value_t*, outputs.count);
  for (uint32_t i = 0; i < outputs.count; ++i) yielded[i] = ir_result(copy, i);
  yield_outputs(f, c.body, yielded, outputs.count);
  for (uint32_t i = 0; i < outputs.count; ++i) ir_value_replace(outputs.items[i], ir_result(dispatch, i));
  ir_op_remove(op);
  ir_op_set_operands(f->ctx, op, NULL, 0);
}

static void emit(forming_t* f, fusion_node_t* node) {
  if (ir_is(node->op, GRAPH_EXTERN)) {
    emit_extern(f, node->op);
    return;
  }
  if (node->group == FUSION_NO_GROUP) {
    emit_host(f, node->op);
    return;
  }
  f->fusion.groups[node->group].emitted = true;
  emit_group(f, node->group);
}

static void emit_node(forming_t* f, fusion_node_t* node) {
  f->todo_count = 0;
  push_node(f, node);
  while (f->todo_count) {
    fusion_node_t* top = f->todo[f->todo_count - 1];
    bool* waiting = top->group == FUSION_NO_GROUP ? &top->waiting : &f->fusion.groups[top->group].waiting;
    if (!is_emitted(f, top) && !*waiting) {
      *waiting = true;
      push_needs(f, top);
      continue;
    }
    --f->todo_count;
    if (!is_emitted(f, top)) emit(f, top);
  }
}

// Returned values must be a dispatch's own: arguments, constants and repeated values are copied by a dispatch that does
// nothing else.
static void copy_returned(forming_t* f, ir_op_t* terminator) {
  for (uint32_t i = 0; i < terminator->operand_count; ++i) {
    ir_value_t* value = ir_operand(terminator, i);
    if (!ir_type_is_tensor(value->type)) continue;
    bool repeated = false;
    IR_FOR_USES(use, value) repeated |= use->owner == terminator && use < &terminator->operands[i];
    bool own = value->def && value->def->parent == f->target && !ir_is(value->def, GRAPH_CONSTANT) &&
               !ir_is(value->def, GRAPH_GLOBAL_LOAD);
    if (own && !repeated) continue;
    ir_op_remove(terminator);
    ir_value_t* copy = copy_of(f, value, terminator->loc);
    ir_block_append(f->target, terminator);
    ir_op_set_operand(terminator, i, copy);
  }
}

static void drop_old_ops(ir_block_t* block) {
  while (block->last) {
    ir_op_t* op = block->last;
    for (uint32_t i = 0; i < op->result_count; ++i) {
      while (op->results[i].uses)
        ir_op_set_operand(op->results[i].uses->owner,
                          (uint32_t)(op->results[i].uses - op->results[i].uses->owner->operands), NULL);
    }
    ir_op_erase(op);
  }
}

// Barriers kept values apart while groups were formed; from here on they are their operands.
static void drop_barriers(ir_block_t* block) {
  for (ir_op_t *op = block->first, *next; op; op = next) {
    next = op->next;
    if (!ir_is(op, GRAPH_BARRIER)) continue;
    for (uint32_t i = 0; i < op->result_count; ++i) ir_value_replace(ir_result(op, i), ir_operand(op, i));
    ir_op_erase(op);
  }
}

static void form_block(forming_t* f, ir_block_t* block, bool copies) {
  IR_FOR_OPS(op, block) {  // nested bodies first
    if (!ir_is(op, GRAPH_IF) && !ir_is(op, GRAPH_WHILE)) continue;
    for (uint32_t r = 0; r < op->region_count; ++r) form_block(f, op->regions[r].first, true);
  }
  ir_op_t* terminator = block->last;
  fusion_group(&f->fusion, f->ctx, block, f->fusion_target);
  f->target = ir_block_create(f->ctx);
  for (int32_t i = 0; i < f->fusion.node_count; ++i) {
    fusion_node_t* node = &f->fusion.nodes[i];
    if (node->class == FUSION_HOST && node->op != terminator) emit_node(f, node);
  }
  emit_node(f, fusion_node(terminator));
  if (copies) copy_returned(f, terminator);
  drop_old_ops(block);
  while (f->target->first) {
    ir_op_t* op = f->target->first;
    op->data = NULL;
    ir_op_remove(op);
    ir_block_append(block, op);
  }
  drop_barriers(block);
  fusion_finish(&f->fusion);
}

static void clear_nodes(ir_op_t* op) {
  op->data = NULL;
  for (uint32_t r = 0; r < op->region_count; ++r) {
    IR_FOR_BLOCKS(block, &op->regions[r]) { IR_FOR_OPS(inner, block) clear_nodes(inner); }
  }
}

pass_result_t fusion_form_dispatches(ir_op_t* module, ir_context_t* ctx, const fusion_target_t* target) {
  IR_FOR_OPS(func, ir_module_body(module)) {
    if (strcmp(func->name, "func.func") || !func->regions[0].first) continue;
    forming_t f = {.ctx = ctx, .fusion_target = target, .func_name = ir_op_string(func, "sym_name", "main")};
    clear_nodes(func);
    if (!sizes_resolve(ctx, func)) return PASS_FAILED;
    form_block(&f, func->regions[0].first, true);
    sizes_clear(func);
    memory_free(f.todo);
  }
  return PASS_CHANGED;
}

pass_result_t pass_form_dispatches(ir_op_t* module, ir_context_t* ctx) {
  return fusion_form_dispatches(module, ctx, &(fusion_target_t){0});
}
