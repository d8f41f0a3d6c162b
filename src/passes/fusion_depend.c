// Which groups need which. A search goes back from an op's operands, through whole groups, and ends at what stands
// before the group in question. It is cut short after a number of steps, as if a dependence had been found: groups
// lose a member now and then, and a program's length does not count twice.
#include "base/memory.h"
#include "passes/fusion.h"

enum { MAX_STEPS = 2000 };

typedef struct search_t {
  fusion_t* f;
  int32_t target;
  uint32_t steps;
  bool found;
} search_t;

static void push(search_t* s, fusion_node_t* node) {
  fusion_t* f = s->f;
  const fusion_group_t* goal = &f->groups[s->target];
  if (node->group == s->target) s->found = true;
  if (s->found) return;
  if (node->group == FUSION_NO_GROUP) {
    if (node->visit == f->visit || node->index < goal->first) return;
    node->visit = f->visit;
  } else {
    fusion_group_t* group = &f->groups[node->group];
    if (group->visit == f->visit || group->last < goal->first) return;
    group->visit = f->visit;
  }
  if (f->work_count == f->work_capacity) {
    f->work_capacity = f->work_capacity ? f->work_capacity * 2 : 256;
    f->work = memory_resize(f->work, sizeof(*f->work) * f->work_capacity);
  }
  f->work[f->work_count++] = node->index;
}

static void push_producer(void* user, ir_value_t* value) {
  search_t* s = user;
  fusion_node_t* producer = fusion_node(value->def);
  ++s->steps;
  if (producer) push(s, producer);
}

static void push_needs(search_t* s, const ir_op_t* op) {
  fusion_each_use(op, push_producer, s);
  if (!ir_is(op, GRAPH_GLOBAL_LOAD) || !op->data) return;
  for (int32_t i = fusion_node(op)->state_before; i >= 0 && !s->found;
       i = s->f->nodes[i].state_before) {  // state so far
    ++s->steps;
    push(s, &s->f->nodes[i]);
  }
}

bool fusion_join_is_acyclic(fusion_t* f, const ir_op_t* op, int32_t group) {
  search_t s = {f, group, 0, false};
  ++f->visit;
  f->work_count = 0;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    fusion_node_t* producer = fusion_node(ir_operand(op, i)->def);
    if (producer && producer->group != group) push(&s, producer);
  }
  while (f->work_count && !s.found && s.steps < MAX_STEPS) {
    const fusion_node_t* node = &f->nodes[f->work[--f->work_count]];
    if (node->group == FUSION_NO_GROUP) {
      push_needs(&s, node->op);
      continue;
    }
    const fusion_group_t* members = &f->groups[node->group];
    for (uint32_t i = 0; i < members->count; ++i) push_needs(&s, f->nodes[members->members[i]].op);
  }
  return !s.found && s.steps < MAX_STEPS;
}
