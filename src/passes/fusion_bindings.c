// What a group's kernel is bound to: tensors it reads (each once), results that are used outside, and numbers: sizes
// known at run time and scalars. Kept as members join, so that no group needs more than a kernel can be given.
//
// A producer that is copied into its users was counted as a tensor that they read; what it reads itself is counted when
// it is found to be copied.
#include "base/memory.h"
#include "ir/context.h"
#include "passes/fusion.h"
#include "passes/sizes.h"

static uint32_t key_slot(const fusion_t* f, int32_t group, const ir_value_t* value) {
  uint64_t hash = ir_hash_mix((uint64_t)group, (uintptr_t)value);
  uint32_t at = (uint32_t)hash & (f->key_capacity - 1);
  while (f->keys[at].value && (f->keys[at].value != value || f->keys[at].group != group)) {
    at = (at + 1) & (f->key_capacity - 1);
  }
  return at;
}

static bool has_key(const fusion_t* f, int32_t group, const ir_value_t* value) {
  return f->key_capacity && f->keys[key_slot(f, group, value)].value;
}

static void add_key(fusion_t* f, int32_t group, const ir_value_t* value) {
  if (2 * f->key_count >= f->key_capacity) {
    fusion_key_t* old = f->keys;
    uint32_t capacity = f->key_capacity;
    f->key_capacity = capacity ? capacity * 2 : 1024;
    f->keys = memory_array(f->key_capacity, sizeof(*f->keys));
    for (uint32_t i = 0; i < capacity; ++i) {
      if (old[i].value) f->keys[key_slot(f, old[i].group, old[i].value)] = old[i];
    }
    memory_free(old);
  }
  f->keys[key_slot(f, group, value)] = (fusion_key_t){group, value};
  ++f->key_count;
}

typedef struct reads_t {
  fusion_t* f;
  int32_t group;
  bool adds;                 // keep what is found
  uint32_t inputs, numbers;  // new ones
  uint32_t inner;            // uses of members' results
} reads_t;

static void read_number(reads_t* r, const ir_value_t* value) {
  if (!value || has_key(r->f, r->group, value)) return;
  ++r->numbers;
  if (r->adds) add_key(r->f, r->group, value);
}

static void read_sizes(reads_t* r, const ir_value_t* value) {
  for (int32_t i = 0; ir_type_is_tensor(value->type) && i < value->type->rank; ++i) {
    if (value->type->dims[i] == IR_DYNAMIC) read_number(r, sizes_of(value, i));
  }
}

static void read_value(void* user, ir_value_t* value) {
  reads_t* r = user;
  fusion_node_t* producer = fusion_node(value->def);
  if (producer && producer->group == r->group) {
    if (r->adds && --producer->outside_uses == 0) r->f->groups[r->group].outputs -= producer->op->result_count;
    return;
  }
  if (value->def && fusion_is_splat(value->def)) return;
  if (!ir_type_is_tensor(value->type)) {
    read_number(r, value);
    return;
  }
  read_sizes(r, value);
  if (has_key(r->f, r->group, value)) return;
  ++r->inputs;
  if (r->adds) add_key(r->f, r->group, value);
}

static uint32_t count_outside(const fusion_t* f, int32_t group, const ir_op_t* op) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < op->result_count; ++i) {
    IR_FOR_USES(use, &op->results[i]) {
      const fusion_node_t* user = use->owner->parent == f->block ? fusion_node(use->owner) : NULL;
      count += !user || user->group != group;
    }
  }
  return count;
}

static uint32_t count_known(const fusion_t* f, int32_t group, const ir_op_t* op) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < op->result_count; ++i) count += has_key(f, group, &op->results[i]);
  return count;
}

bool fusion_bindings_fit(fusion_t* f, int32_t group_index, const fusion_node_t* node) {
  const fusion_group_t* group = &f->groups[group_index];
  reads_t r = {.f = f, .group = group_index};
  fusion_each_use(node->op, read_value, &r);
  for (uint32_t i = 0; i < node->op->result_count; ++i) read_sizes(&r, &node->op->results[i]);
  uint32_t outputs = count_outside(f, group_index, node->op) ? node->op->result_count : 0;
  uint32_t bindings = group->inputs + r.inputs + group->outputs + outputs - count_known(f, group_index, node->op);
  return bindings <= FUSION_MAX_BINDINGS && group->numbers + r.numbers <= FUSION_MAX_NUMBERS;
}

void fusion_bindings_add(fusion_t* f, int32_t group_index, fusion_node_t* node) {
  fusion_group_t* group = &f->groups[group_index];
  reads_t r = {.f = f, .group = group_index, .adds = true};
  fusion_each_use(node->op, read_value, &r);
  for (uint32_t i = 0; i < node->op->result_count; ++i) read_sizes(&r, &node->op->results[i]);
  group->inputs += r.inputs - count_known(f, group_index, node->op);
  group->numbers += r.numbers;
  node->outside_uses = count_outside(f, group_index, node->op);
  if (node->outside_uses) group->outputs += node->op->result_count;
}

//===----------------------------------------------------------------------------------------------------------------===
// Copies
//===----------------------------------------------------------------------------------------------------------------===

enum { MAX_COPIES = 256 };

typedef struct copies_t {
  fusion_t* f;
  uint32_t inputs, numbers;  // more, of each kernel
  uint32_t steps;
  bool adds, fits;
} copies_t;

static void visit_copies(copies_t* c, const ir_op_t* op) {
  for (uint32_t r = 0; r < op->result_count; ++r) {
    IR_FOR_USES(use, &op->results[r]) {
      const fusion_node_t* user = fusion_node(use->owner);
      if (++c->steps > MAX_COPIES) c->fits = false;
      if (!c->fits) return;
      if (user->is_inline) {
        visit_copies(c, user->op);
        continue;
      }
      fusion_group_t* group = &c->f->groups[user->group];
      if (c->adds) {
        group->inputs += c->inputs;
        group->numbers += c->numbers;
      } else if (group->inputs + group->outputs + c->inputs > FUSION_MAX_BINDINGS ||
                 group->numbers + c->numbers > FUSION_MAX_NUMBERS) {
        c->fits = false;
      }
    }
  }
}

bool fusion_bindings_copy(fusion_t* f, const fusion_node_t* node) {
  copies_t c = {.f = f, .fits = true};
  for (uint32_t i = 0; i < node->op->operand_count; ++i) {
    const ir_type_t* type = ir_operand(node->op, i)->type;
    c.inputs += i > 0 && ir_type_is_tensor(type);
    c.numbers += ir_type_is_tensor(type) ? ir_type_open_dims(type) : 1;
  }
  if (!c.inputs && !c.numbers) return true;
  visit_copies(&c, node->op);
  if (!c.fits) return false;
  c.adds = true;
  c.steps = 0;
  visit_copies(&c, node->op);
  return true;
}
