// Which graph ops share a kernel.
//
// Forward, each heavy op and each reduction starts a group; elementwise ops join the group of their latest operand when
// they compute at the same coordinates (epilogues: bias, activation, residual, the rest of a softmax or norm), and so
// do transposes and reshapes, which then only change where the result is written. Backward, what is left joins its
// consumers (prologues), is copied into them when it costs nothing, or becomes a kernel of its own.
// Groups never depend on each other in a circle: a join is refused when an operand from outside depends on the group
// (fusion_depend.c), when it would make the kernel evaluate something dear again (fusion_cost.c), and when the kernel
// has no room for what it would be bound to (fusion_bindings.c).
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "passes/fusion.h"
#include "passes/sizes.h"

enum {
  MAX_LOOKS = 32,  // at users of a value, for one to join
  MAX_STEPS = 4,   // from what joins products to the product that it is for
  FEW_ROWS = 2,
};

//===----------------------------------------------------------------------------------------------------------------===
// Classes
//===----------------------------------------------------------------------------------------------------------------===

bool fusion_is_splat(const ir_op_t* op) {
  const ir_attr_t* value = ir_is(op, GRAPH_CONSTANT) ? graph_get_value(op) : NULL;
  return value && (value->kind != IR_ATTR_ELEMENTS || value->splat || ir_type_count(value->type) == 1);
}

bool fusion_has_rows(const ir_value_t* reduced) { return ir_type_count(reduced->type) != 0; }

static bool is_inside(const ir_value_t* value, const ir_op_t* op) {
  const ir_op_t* owner = value->def             ? ir_op_parent(value->def)
                         : value->block->parent ? value->block->parent->parent
                                                : NULL;
  return ir_op_is_inside(owner, op);
}

static void each_captured(const ir_op_t* root, const ir_op_t* op, fusion_use_fn_t visit, void* user) {
  for (uint32_t r = 0; r < op->region_count; ++r) {
    IR_FOR_BLOCKS(block, &op->regions[r]) {
      IR_FOR_OPS(inner, block) {
        for (uint32_t i = 0; i < inner->operand_count; ++i) {
          if (!is_inside(ir_operand(inner, i), root)) visit(user, ir_operand(inner, i));
        }
        each_captured(root, inner, visit, user);
      }
    }
  }
}

void fusion_each_use(const ir_op_t* op, fusion_use_fn_t visit, void* user) {
  for (uint32_t i = 0; i < op->operand_count; ++i) visit(user, ir_operand(op, i));
  each_captured(op, op, visit, user);
}

static bool has_tensor_results(const ir_op_t* op) {
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (!ir_type_is_tensor(op->results[i].type)) return false;
  }
  return op->result_count > 0;
}

static const fusion_class_t classes[] = {
#define SCALAR(name, ...) FUSION_ELEMENTWISE,
#include "base/scalar.def"
#undef SCALAR
#define OP(NAME, text, operands, results, regions, traits, fusion, ...) FUSION_##fusion,
#include "dialects/graph.def"
#undef OP
};

fusion_class_t fusion_class(const ir_op_t* op) {
  if (ir_op_dialect(op) != IR_DIALECT_GRAPH || !has_tensor_results(op)) return FUSION_HOST;
  if (graph_is_window(op)) return FUSION_HOST;
  return classes[op->info->code - IR_CODE(IR_DIALECT_GRAPH, 0)];
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
  group->code += node->views.count ? node->views.count : 1;
  fusion_bindings_add(f, group_index, node);
  node->group = group_index;
  if (group->is_rows && node->space != FUSION_SPACE_NONE) fusion_start_rows(f, group_index, node);
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
  f->groups[index].view = f->view_count + 1;
  f->view_count += FUSION_ROOT_VIEWS;
  root->space = space;
  f->groups[index].is_rows = root->class == FUSION_REDUCE && fusion_has_rows(ir_operand(root->op, 0));
  add_member(f, index, root);
  return index;
}

static bool has_room(fusion_t* f, int32_t group, const fusion_node_t* node) {
  return f->groups[group].count < FUSION_MAX_MEMBERS && fusion_bindings_fit(f, group, node);
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
  uint32_t count = graph_get_dims(op, dims), next = 0;
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
    uint32_t looks = 0;
    IR_FOR_USES(use, ir_operand(node->op, 0)) {
      fusion_node_t* other = fusion_node(use->owner);
      if (other && other->group != FUSION_NO_GROUP && other->class == FUSION_REDUCE) best = other->group;
      if (++looks == MAX_LOOKS) break;
    }
  }
  if (best == FUSION_NO_GROUP || !f->groups[best].is_rows) return false;
  fusion_group_t* group = &f->groups[best];
  int64_t dims[GRAPH_MAX_RANK];
  uint32_t count = graph_get_dims(node->op, dims);
  if (count != group->reduced_count || !sizes_same_shape(row_value(f, group), ir_operand(node->op, 0))) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (!is_reduced(group, dims[i])) return false;
  }
  if (group->reduces == FUSION_MAX_REDUCES || !has_room(f, best, node)) return false;
  if (!fusion_join_is_acyclic(f, node->op, best)) return false;
  if (!fusion_add_sweep(f, best, ir_operand(node->op, 0))) return false;
  ++group->reduces;
  node->space = FUSION_SPACE_OUTER;
  add_member(f, best, node);
  return true;
}

static void start_reduce(fusion_t* f, fusion_node_t* node) {
  if (reduce_joins(f, node)) return;
  int32_t index = new_group(f, node, FUSION_SPACE_OUTER);
  fusion_group_t* group = &f->groups[index];
  group->reduces = 1;
  group->reduced_count = graph_get_dims(node->op, group->reduced);
}

//===----------------------------------------------------------------------------------------------------------------===
// Epilogues
//===----------------------------------------------------------------------------------------------------------------===

bool fusion_takes_epilogue(const ir_op_t* root) {
  switch (ir_code(root)) {
    case GRAPH_CONTRACT:
    case GRAPH_CONV:
    case GRAPH_WINDOW:
    case GRAPH_ARG_REDUCE:
    case GRAPH_ATTENTION:
      return true;
    default:
      return graph_scatter_rises(root);
  }
}

static fusion_space_t heavy_join_space(fusion_t* f, const fusion_group_t* group, fusion_node_t* node,
                                       int32_t group_index) {
  if (!fusion_takes_epilogue(f->nodes[group->root].op)) return FUSION_SPACE_NONE;
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
  node->map = ++f->view_count;
  return FUSION_SPACE_MAPPED;
}

bool fusion_has_few_rows(const ir_op_t* contract) {
  const ir_type_t* left = ir_operand(contract, 0)->type;
  int64_t dims[GRAPH_MAX_RANK], depth = 1;
  if (!ir_type_is_static(left)) return false;
  uint32_t count = graph_get_lhs_contract(contract, dims);
  for (uint32_t i = 0; i < count; ++i) depth *= left->dims[dims[i]];
  return ir_type_count(left) <= FEW_ROWS * depth;
}

// Whether the op's result is for a product with few rows alone: its left, after a few steps.
static bool feeds_few_rows(const ir_op_t* op) {
  for (int32_t i = 0; i < MAX_STEPS && op->result_count == 1 && ir_has_one_use(&op->results[0]); ++i) {
    const ir_use_t* use = op->results[0].uses;
    op = use->owner;
    if (ir_is(op, GRAPH_CONTRACT)) return use == &op->operands[0] && fusion_has_few_rows(op);
    if (fusion_class(op) != FUSION_ELEMENTWISE && !ir_is(op, GRAPH_RESHAPE)) return false;
  }
  return false;
}

static bool is_of_product(const fusion_t* f, const fusion_node_t* node) {
  return node && node->group != FUSION_NO_GROUP && ir_is(f->nodes[f->groups[node->group].root].op, GRAPH_CONTRACT);
}

// What joins two products and is for a third with few rows alone, or what is made of that on its way: on a GPU the
// first two run side by side, unless one of them has to have the other's results for its epilogue.
static bool joins_products(const fusion_t* f, const ir_op_t* op) {
  int32_t group = FUSION_NO_GROUP;
  if (!f->target.gpu || fusion_class(op) != FUSION_ELEMENTWISE || !feeds_few_rows(op)) return false;
  for (int32_t step = 0; step < MAX_STEPS && op->operand_count == 1 && ir_operand(op, 0)->def; ++step) {
    op = ir_operand(op, 0)->def;
    if (fusion_class(op) != FUSION_ELEMENTWISE || !ir_has_one_use(&op->results[0])) return false;
  }
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const fusion_node_t* producer = fusion_node(ir_operand(op, i)->def);
    if (!is_of_product(f, producer)) continue;
    if (group != FUSION_NO_GROUP && group != producer->group) return true;
    group = producer->group;
  }
  return false;
}

// Joins the group of the latest operand when that is possible.
static void try_epilogue(fusion_t* f, fusion_node_t* node) {
  int32_t best = FUSION_NO_GROUP;
  if (joins_products(f, node->op)) return;
  for (uint32_t i = 0; i < node->op->operand_count; ++i) {
    fusion_node_t* producer = fusion_node(ir_operand(node->op, i)->def);
    if (!producer || producer->group == FUSION_NO_GROUP) continue;
    if (best == FUSION_NO_GROUP || f->groups[producer->group].root > f->groups[best].root) best = producer->group;
  }
  if (best == FUSION_NO_GROUP) return;
  fusion_group_t* group = &f->groups[best];
  fusion_space_t space = group->is_rows ? row_join_space(f, group, node, best) : heavy_join_space(f, group, node, best);
  if (space == FUSION_SPACE_NONE || !has_room(f, best, node) || !fusion_join_is_acyclic(f, node->op, best)) return;
  node->space = space;
  add_member(f, best, node);
}

//===----------------------------------------------------------------------------------------------------------------===
// Prologues
//===----------------------------------------------------------------------------------------------------------------===

// A slice without gaps: rows of it lie in memory as whole ones do.
static bool is_dense_slice(const ir_op_t* op) {
  int64_t strides[GRAPH_MAX_RANK];
  if (!ir_is(op, GRAPH_SLICE)) return false;
  uint32_t rank = graph_get_strides(op, strides);
  for (uint32_t i = 0; i < rank; ++i) {
    if (strides[i] != 1) return false;
  }
  return true;
}

// Whether `user` may compute its operand where it needs it instead of reading it from memory.
static bool may_pull(const fusion_t* f, const fusion_node_t* producer, const fusion_node_t* user, uint32_t operand) {
  if (user->class == FUSION_HOST || user->class == FUSION_CONSTANT) return false;
  const ir_op_t* op = user->op;
  bool reuses = ir_is(op, GRAPH_CONTRACT) || ir_is(op, GRAPH_CONV);
  if (!reuses) return true;
  // Operands that are read many times: only free index maps. Where vectors of the right are read along its rows, it may
  // not be transposed.
  bool is_free = ir_is(producer->op, GRAPH_TRANSPOSE) || ir_is(producer->op, GRAPH_RESHAPE) ||
                 ir_is(producer->op, GRAPH_BROADCAST) || is_dense_slice(producer->op);
  if (ir_is(op, GRAPH_CONTRACT)) {
    if (operand == 0 && joins_products(f, producer->op)) return true;
    return is_free && (operand == 0 || f->target.gpu || !ir_is(producer->op, GRAPH_TRANSPOSE));
  }
  return ir_is(producer->op, GRAPH_RESHAPE);
}

static void add_user(fusion_t* f, const fusion_node_t* node, const ir_use_t* use, fusion_uses_t* uses) {
  uint32_t operand = (uint32_t)(use - use->owner->operands);
  fusion_node_t* user = use->owner->parent == f->block ? fusion_node(use->owner) : NULL;
  if (!user || !may_pull(f, node, user, operand)) {  // captured by a region, or read over and over
    uses->must_keep = true;
  } else if (user->is_inline) {
    uses->many |= user->has_users;
  } else if (uses->group != FUSION_NO_GROUP && uses->group != user->group) {
    uses->many = true;
  } else {
    uses->group = user->group;
    uint32_t maps = user->maps + (user->class == FUSION_INDEX_MAP);
    if (maps > uses->maps) uses->maps = maps;
    fusion_add_views(f, user, operand, &uses->views);
  }
}

static void collect_uses(fusion_t* f, const fusion_node_t* node, fusion_uses_t* uses) {
  for (uint32_t r = 0; r < node->op->result_count; ++r) {
    IR_FOR_USES(use, &node->op->results[r]) {
      add_user(f, node, use, uses);
      if (uses->must_keep) return;
    }
  }
}

// Cheap enough to be computed again in every kernel that needs it.
static bool is_cheap(const fusion_node_t* node) {
  if (ir_is(node->op, GRAPH_DYNAMIC_UPDATE) || ir_is(node->op, GRAPH_CONCAT) || ir_is(node->op, GRAPH_PAD))
    return false;
  if (node->reach > FUSION_MAX_MAPS) return false;
  if (node->class == FUSION_INDEX_MAP) return true;
  return graph_scalar_fn(node->op) == SCALAR_cast || graph_scalar_fn(node->op) == SCALAR_castu;
}

static void place_loose(fusion_t* f, fusion_node_t* node) {
  fusion_uses_t uses = {.group = FUSION_NO_GROUP};
  collect_uses(f, node, &uses);
  bool one_group = !uses.must_keep && !uses.many && uses.group != FUSION_NO_GROUP;
  if (one_group && fusion_may_repeat(f, node, &uses) && fusion_bindings_fit(f, uses.group, node)) {
    node->views = uses.views;
    node->maps = uses.maps;
    add_member(f, uses.group, node);  // a producer can always join its only consumer
    return;
  }
  if (!uses.must_keep && !one_group && is_cheap(node) && fusion_bindings_copy(f, node)) {
    node->is_inline = true;
    node->has_users = uses.many;
    return;
  }
  new_group(f, node, FUSION_SPACE_FULL);
}

//===----------------------------------------------------------------------------------------------------------------===
// All ops of a block
//===----------------------------------------------------------------------------------------------------------------===

static void start_nodes(fusion_t* f) {
  int32_t index = 0, state = -1;
  IR_FOR_OPS(op, f->block)++ f->node_count;
  f->nodes = ARENA_ARRAY(ir_context_arena(f->ctx), fusion_node_t, f->node_count + 1);
  IR_FOR_OPS(op, f->block) {
    fusion_node_t* node = &f->nodes[index];
    *node = (fusion_node_t){
        .op = op, .class = fusion_class(op), .index = index, .group = FUSION_NO_GROUP, .state_before = state};
    op->data = node;
    bool writes = ir_is(op, GRAPH_GLOBAL_STORE) || ir_is(op, GRAPH_CALL) || ir_is(op, GRAPH_CALL_IMPORT);
    if (writes || op->region_count) state = index;
    ++index;
  }
}

void fusion_group(fusion_t* f, ir_context_t* ctx, ir_block_t* block, const fusion_target_t* target) {
  memset(f, 0, sizeof(*f));
  f->target = *target;
  f->ctx = ctx;
  f->block = block;
  start_nodes(f);
  for (int32_t i = 0; i < f->node_count; ++i) {
    fusion_node_t* node = &f->nodes[i];
    if (node->class == FUSION_HEAVY) new_group(f, node, FUSION_SPACE_FULL);
    if (node->class == FUSION_REDUCE) start_reduce(f, node);
    if (node->class == FUSION_ELEMENTWISE || node->class == FUSION_INDEX_MAP) try_epilogue(f, node);
    fusion_cost_start(f, node);
  }
  for (int32_t i = f->node_count; i-- > 0;) {
    fusion_node_t* node = &f->nodes[i];
    bool loose = node->class == FUSION_ELEMENTWISE || node->class == FUSION_INDEX_MAP;
    if (loose && node->group == FUSION_NO_GROUP) place_loose(f, node);
  }
}

void fusion_finish(fusion_t* f) {
  memory_free(f->work);
  memory_free(f->keys);
}
