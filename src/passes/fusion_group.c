// Which graph ops share a kernel.
//
// Forward, each heavy op and each reduction starts a group; elementwise ops join the group of their latest operand when
// they compute at the same coordinates (epilogues: bias, activation, residual, the rest of a softmax or norm), and so
// do transposes and reshapes, which then only change where the result is written. Backward, what is left joins its
// consumers (prologues), is copied into them when it costs nothing, or becomes a kernel of its own.
// Groups never depend on each other in a circle: a join is refused when an operand from outside depends on the group.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "passes/fusion.h"
#include "passes/sizes.h"

//===----------------------------------------------------------------------------------------------------------------===
// Classes
//===----------------------------------------------------------------------------------------------------------------===

bool fusion_is_splat(const ir_op_t* op) {
  const ir_attr_t* value = ir_is(op, GRAPH_CONSTANT) ? ir_op_attr(op, "value") : NULL;
  return value && (value->kind != IR_ATTR_ELEMENTS || value->splat || ir_type_count(value->type) == 1);
}

static bool has_tensor_results(const ir_op_t* op) {
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (!ir_type_is_tensor(op->results[i].type)) return false;
  }
  return op->result_count > 0;
}

fusion_class_t fusion_class(const ir_op_t* op) {
  if (ir_op_dialect(op) != IR_DIALECT_GRAPH || !has_tensor_results(op)) return FUSION_HOST;
  if (graph_scalar_fn(op) >= 0) return FUSION_ELEMENTWISE;
  switch (ir_code(op)) {
    case GRAPH_CONSTANT:
      return FUSION_CONSTANT;
    case GRAPH_IF:
    case GRAPH_WHILE:
    case GRAPH_CALL:
    case GRAPH_GLOBAL_LOAD:
    case GRAPH_BARRIER:
    case GRAPH_DISPATCH:
      return FUSION_HOST;
    case GRAPH_TO_TENSOR:
    case GRAPH_GATHER:
    case GRAPH_DYNAMIC_UPDATE:
    case GRAPH_EMPTY:
      return FUSION_INDEX_MAP;
    case GRAPH_REDUCE:
      return FUSION_REDUCE;
    default:
      return ir_has_trait(op, IR_TRAIT_INDEX_MAP) ? FUSION_INDEX_MAP : FUSION_HEAVY;
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Dependence
//===----------------------------------------------------------------------------------------------------------------===

static bool depends_on(fusion_t* f, fusion_node_t* node, int32_t target);

static bool operands_depend_on(fusion_t* f, const ir_op_t* op, int32_t target) {
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    fusion_node_t* producer = fusion_node(ir_operand(op, i)->def);
    if (producer && depends_on(f, producer, target)) return true;
  }
  for (int32_t i = 0; ir_is(op, GRAPH_GLOBAL_LOAD) && op->data && i < fusion_node(op)->index; ++i) {  // state so far
    fusion_node_t* before = &f->nodes[i];
    bool may_store = ir_is(before->op, GRAPH_GLOBAL_STORE) || before->op->region_count;
    if (may_store && depends_on(f, before, target)) return true;
  }
  for (uint32_t r = 0; r < op->region_count; ++r) {  // what regions capture
    IR_FOR_BLOCKS(block, &op->regions[r]) {
      IR_FOR_OPS(inner, block) {
        if (operands_depend_on(f, inner, target)) return true;
      }
    }
  }
  return false;
}

// Whether `node`, or a member of its group, needs a member of group `target`.
static bool depends_on(fusion_t* f, fusion_node_t* node, int32_t target) {
  if (node->group == target) return true;
  fusion_group_t* goal = &f->groups[target];
  if (node->group == FUSION_NO_GROUP) {
    if (node->visit == f->visit || node->index < goal->first) return false;
    node->visit = f->visit;
    return operands_depend_on(f, node->op, target);
  }
  fusion_group_t* group = &f->groups[node->group];
  if (group->visit == f->visit || group->last < goal->first) return false;
  group->visit = f->visit;
  for (uint32_t i = 0; i < group->count; ++i) {
    if (operands_depend_on(f, f->nodes[group->members[i]].op, target)) return true;
  }
  return false;
}

// True when `op` may join `group`: nothing it needs from outside needs the group.
static bool join_is_acyclic(fusion_t* f, const ir_op_t* op, int32_t group) {
  ++f->visit;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    fusion_node_t* producer = fusion_node(ir_operand(op, i)->def);
    if (producer && producer->group != group && depends_on(f, producer, group)) return false;
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Groups
//===----------------------------------------------------------------------------------------------------------------===

static void add_member(fusion_t* f, int32_t group_index, fusion_node_t* node) {
  fusion_group_t* group = &f->groups[group_index];
  if (group->count == group->capacity) {
    uint32_t capacity = group->capacity ? group->capacity * 2 : 8;
    int32_t* members = ARENA_ARRAY(ir_context_arena(f->ctx), int32_t, capacity);
    if (group->count) memcpy(members, group->members, sizeof(*members) * group->count);
    group->members = members;
    group->capacity = capacity;
  }
  group->members[group->count++] = node->index;
  node->group = group_index;
  if (node->index < group->first) group->first = node->index;
  if (node->index > group->last) group->last = node->index;
}

static int32_t new_group(fusion_t* f, fusion_node_t* root, fusion_space_t space) {
  if (f->group_count == f->group_capacity) {
    int32_t capacity = f->group_capacity ? f->group_capacity * 2 : 64;
    fusion_group_t* groups = ARENA_ARRAY(ir_context_arena(f->ctx), fusion_group_t, capacity);
    if (f->group_count) memcpy(groups, f->groups, sizeof(*groups) * (size_t)f->group_count);
    f->groups = groups;
    f->group_capacity = capacity;
  }
  int32_t index = f->group_count++;
  f->groups[index] = (fusion_group_t){.root = root->index, .first = root->index, .last = root->index};
  root->space = space;
  add_member(f, index, root);
  return index;
}

//===----------------------------------------------------------------------------------------------------------------===
// Rows: reductions over the same dimensions of one shape, and what surrounds them
//===----------------------------------------------------------------------------------------------------------------===

static const ir_value_t* row_value(const fusion_t* f, const fusion_group_t* group) {
  return ir_operand(f->nodes[group->root].op, 0);
}

static bool same_size(const ir_value_t* x, int32_t i, const ir_value_t* y, int32_t j) {
  if (x->type->dims[i] != y->type->dims[j]) return false;
  return x->type->dims[i] != IR_DYNAMIC || (sizes_of(x, i) && sizes_of(x, i) == sizes_of(y, j));
}

static bool is_reduced(const fusion_group_t* group, int64_t dim) {
  for (uint32_t i = 0; i < group->reduced_count; ++i) {
    if (group->reduced[i] == dim) return true;
  }
  return false;
}

// OUTER, KEPT or FULL by shape; NONE when it is none of them.
static fusion_space_t row_space_of(const fusion_t* f, const fusion_group_t* group, const ir_value_t* value) {
  const ir_value_t* full = row_value(f, group);
  if (sizes_same_shape(full, value)) return FUSION_SPACE_FULL;
  int32_t rank = value->type->rank, next = 0;
  bool kept = rank == full->type->rank, outer = true;
  for (int32_t i = 0; i < full->type->rank; ++i) {
    bool reduced = is_reduced(group, i);
    if (kept && !(reduced ? value->type->dims[i] == 1 : same_size(value, i, full, i))) kept = false;
    if (reduced) continue;
    if (outer && (next >= rank || !same_size(value, next, full, i))) outer = false;
    ++next;
  }
  if (outer && next == rank) return FUSION_SPACE_OUTER;
  return kept ? FUSION_SPACE_KEPT : FUSION_SPACE_NONE;
}

// A broadcast that repeats a row's number over its row.
static bool row_broadcast_fits(const fusion_t* f, const fusion_group_t* group, const ir_op_t* op, fusion_space_t from) {
  if (!sizes_same_shape(&op->results[0], row_value(f, group))) return false;
  int64_t dims[GRAPH_MAX_RANK];
  uint32_t count = ir_op_ints(op, "dims", dims, GRAPH_MAX_RANK), next = 0;
  for (int32_t i = 0; i < row_value(f, group)->type->rank; ++i) {
    if (from == FUSION_SPACE_OUTER && is_reduced(group, i)) continue;
    if (next >= count || dims[next++] != i) return false;
  }
  return next == count;
}

static fusion_space_t row_join_space(const fusion_t* f, const fusion_group_t* group, const fusion_node_t* node,
                                     int32_t group_index) {
  const ir_op_t* op = node->op;
  fusion_space_t from = FUSION_SPACE_NONE;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    fusion_node_t* producer = fusion_node(ir_operand(op, i)->def);
    if (!producer || producer->group != group_index) continue;
    if (from != FUSION_SPACE_NONE && producer->space != from) return FUSION_SPACE_NONE;
    from = producer->space;
  }
  if (from == FUSION_SPACE_NONE) return from;
  if (node->class == FUSION_ELEMENTWISE) return from;
  if (ir_is(op, GRAPH_RESHAPE) && from != FUSION_SPACE_FULL) {
    fusion_space_t to = row_space_of(f, group, &op->results[0]);
    return to == FUSION_SPACE_FULL ? FUSION_SPACE_NONE : to;
  }
  if (ir_is(op, GRAPH_BROADCAST) && from != FUSION_SPACE_FULL && row_broadcast_fits(f, group, op, from)) {
    return FUSION_SPACE_FULL;
  }
  return FUSION_SPACE_NONE;
}

// A reduction joins rows of the same shape and dimensions that its operand belongs to or stands beside.
static bool reduce_joins(fusion_t* f, fusion_node_t* node) {
  fusion_node_t* producer = fusion_node(ir_operand(node->op, 0)->def);
  int32_t best = FUSION_NO_GROUP;
  if (producer && producer->group != FUSION_NO_GROUP && producer->space == FUSION_SPACE_FULL) best = producer->group;
  if (best == FUSION_NO_GROUP) {  // another reduction of the same value (or of one computed beside it)
    IR_FOR_USES(use, ir_operand(node->op, 0)) {
      fusion_node_t* other = fusion_node(use->owner);
      if (other && other->group != FUSION_NO_GROUP && other->class == FUSION_REDUCE) best = other->group;
    }
  }
  if (best == FUSION_NO_GROUP || !f->groups[best].is_rows) return false;
  fusion_group_t* group = &f->groups[best];
  int64_t dims[GRAPH_MAX_RANK];
  uint32_t count = ir_op_ints(node->op, "dims", dims, GRAPH_MAX_RANK);
  if (count != group->reduced_count || !sizes_same_shape(row_value(f, group), ir_operand(node->op, 0))) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (!is_reduced(group, dims[i])) return false;
  }
  if (!join_is_acyclic(f, node->op, best)) return false;
  node->space = FUSION_SPACE_OUTER;
  add_member(f, best, node);
  return true;
}

static void start_reduce(fusion_t* f, fusion_node_t* node) {
  if (reduce_joins(f, node)) return;
  int32_t index = new_group(f, node, FUSION_SPACE_OUTER);
  fusion_group_t* group = &f->groups[index];
  group->is_rows = true;
  group->reduced_count = ir_op_ints(node->op, "dims", group->reduced, GRAPH_MAX_RANK);
}

//===----------------------------------------------------------------------------------------------------------------===
// Epilogues
//===----------------------------------------------------------------------------------------------------------------===

// Ops whose strategies hand out one element at a time, so that an epilogue can follow.
static bool takes_epilogue(const ir_op_t* root) {
  switch (ir_code(root)) {
    case GRAPH_CONTRACT:
    case GRAPH_CONV:
    case GRAPH_WINDOW:
    case GRAPH_ARG_REDUCE:
      return true;
    default:
      return false;
  }
}

static fusion_space_t heavy_join_space(fusion_t* f, const fusion_group_t* group, fusion_node_t* node,
                                       int32_t group_index) {
  if (!takes_epilogue(f->nodes[group->root].op)) return FUSION_SPACE_NONE;
  const ir_op_t* op = node->op;
  fusion_space_t from = FUSION_SPACE_NONE;
  uint32_t map = 0;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    fusion_node_t* producer = fusion_node(ir_operand(op, i)->def);
    if (!producer || producer->group != group_index) continue;
    if (from != FUSION_SPACE_NONE && (producer->space != from || producer->map != map)) return FUSION_SPACE_NONE;
    from = producer->space;
    map = producer->map;
  }
  node->map = map;
  if (from == FUSION_SPACE_NONE || node->class == FUSION_ELEMENTWISE) return from;
  bool one_to_one = ir_is(op, GRAPH_TRANSPOSE) || ir_is(op, GRAPH_RESHAPE);
  if (!one_to_one || !ir_has_one_use(ir_operand(op, 0))) return FUSION_SPACE_NONE;
  node->map = ++f->map_count;
  return FUSION_SPACE_MAPPED;
}

// Joins the group of the latest operand when that is possible.
static void try_epilogue(fusion_t* f, fusion_node_t* node) {
  int32_t best = FUSION_NO_GROUP;
  for (uint32_t i = 0; i < node->op->operand_count; ++i) {
    fusion_node_t* producer = fusion_node(ir_operand(node->op, i)->def);
    if (!producer || producer->group == FUSION_NO_GROUP) continue;
    if (best == FUSION_NO_GROUP || f->groups[producer->group].root > f->groups[best].root) best = producer->group;
  }
  if (best == FUSION_NO_GROUP) return;
  fusion_group_t* group = &f->groups[best];
  fusion_space_t space = group->is_rows ? row_join_space(f, group, node, best) : heavy_join_space(f, group, node, best);
  if (space == FUSION_SPACE_NONE || !join_is_acyclic(f, node->op, best)) return;
  node->space = space;
  add_member(f, best, node);
}

//===----------------------------------------------------------------------------------------------------------------===
// Prologues
//===----------------------------------------------------------------------------------------------------------------===

// Whether `user` may compute its operand where it needs it instead of reading it from memory.
static bool may_pull(const fusion_t* f, const fusion_node_t* producer, const fusion_node_t* user, uint32_t operand) {
  if (user->class == FUSION_HOST || user->class == FUSION_CONSTANT) return false;
  const ir_op_t* op = user->op;
  bool reuses = ir_is(op, GRAPH_CONTRACT) || ir_is(op, GRAPH_CONV) || ir_is(op, GRAPH_SCAN);
  if (!reuses) return true;
  // Operands that are read many times: only free index maps, and of contractions only the left, which is read element
  // by element.
  bool is_free = ir_is(producer->op, GRAPH_TRANSPOSE) || ir_is(producer->op, GRAPH_RESHAPE) ||
                 ir_is(producer->op, GRAPH_BROADCAST);
  (void)f;
  if (ir_is(op, GRAPH_CONTRACT)) return is_free && (operand == 0 || !ir_is(producer->op, GRAPH_TRANSPOSE));
  return is_free && ir_is(producer->op, GRAPH_RESHAPE);
}

typedef struct uses_t {
  int32_t group;   // the one group of all users, or FUSION_NO_GROUP
  bool many;       // users in several groups
  bool must_keep;  // a user that needs it in memory
} uses_t;

static void collect_uses(const fusion_t* f, fusion_node_t* node, uses_t* uses) {
  for (uint32_t r = 0; r < node->op->result_count; ++r) {
    IR_FOR_USES(use, &node->op->results[r]) {
      if (use->owner->parent != f->block) {  // captured by a region
        uses->must_keep = true;
        continue;
      }
      fusion_node_t* user = fusion_node(use->owner);
      uint32_t operand = (uint32_t)(use - use->owner->operands);
      if (!may_pull(f, node, user, operand)) {
        uses->must_keep = true;
      } else if (user->is_inline) {
        collect_uses(f, user, uses);
      } else if (uses->group == FUSION_NO_GROUP) {
        uses->group = user->group;
      } else if (uses->group != user->group) {
        uses->many = true;
      }
    }
  }
}

// Cheap enough to be computed again in every kernel that needs it.
static bool is_cheap(const fusion_node_t* node) {
  if (ir_is(node->op, GRAPH_DYNAMIC_UPDATE) || ir_is(node->op, GRAPH_CONCAT) || ir_is(node->op, GRAPH_PAD))
    return false;
  if (node->class == FUSION_INDEX_MAP) return true;
  return graph_scalar_fn(node->op) == SCALAR_cast || graph_scalar_fn(node->op) == SCALAR_castu;
}

static void place_loose(fusion_t* f, fusion_node_t* node) {
  uses_t uses = {.group = FUSION_NO_GROUP};
  collect_uses(f, node, &uses);
  if (!uses.must_keep && !uses.many && uses.group != FUSION_NO_GROUP) {
    add_member(f, uses.group, node);  // a producer can always join its only consumer
    return;
  }
  if (!uses.must_keep && is_cheap(node)) {
    node->is_inline = true;
    return;
  }
  new_group(f, node, FUSION_SPACE_FULL);
}

void fusion_group(fusion_t* f, ir_context_t* ctx, ir_block_t* block) {
  memset(f, 0, sizeof(*f));
  f->ctx = ctx;
  f->block = block;
  IR_FOR_OPS(op, block)++ f->node_count;
  f->nodes = ARENA_ARRAY(ir_context_arena(ctx), fusion_node_t, f->node_count + 1);
  int32_t index = 0;
  IR_FOR_OPS(op, block) {
    fusion_node_t* node = &f->nodes[index];
    *node = (fusion_node_t){.op = op, .class = fusion_class(op), .index = index, .group = FUSION_NO_GROUP};
    op->data = node;
    ++index;
  }
  for (int32_t i = 0; i < f->node_count; ++i) {
    fusion_node_t* node = &f->nodes[i];
    if (node->class == FUSION_HEAVY) new_group(f, node, FUSION_SPACE_FULL);
    if (node->class == FUSION_REDUCE) start_reduce(f, node);
    if (node->class == FUSION_ELEMENTWISE || node->class == FUSION_INDEX_MAP) try_epilogue(f, node);
  }
  for (int32_t i = f->node_count; i-- > 0;) {
    fusion_node_t* node = &f->nodes[i];
    bool loose = node->class == FUSION_ELEMENTWISE || node->class == FUSION_INDEX_MAP;
    if (loose && node->group == FUSION_NO_GROUP) place_loose(f, node);
  }
}
