// What it costs to evaluate a value where it is needed instead of reading it from memory.
//
// A kernel evaluates a producer once for each view (fusion.h): elementwise users that stand at the same coordinates
// share them, every index map behind a value makes one, and each sweep over rows is one. A view's weight is how often
// an element is evaluated in it: a window's taps, the growth of a broadcast. What is dear, a function or the
// additions of a whole chain, is evaluated once and kept in memory; what is not is repeated up to a limit.
#include "passes/fusion.h"

enum {
  MANY = FUSION_MAX_REPEAT + 1,  // of operands that are read over and over: one addition more at most
  GROWTH = 3,                    // of broadcasts: memory is read as often, so that only dear values count
  SATURATED = 1 << 10,
  FINAL_SWEEP = 31,
  OUTER_VIEW = FUSION_ROOT_VIEWS - 1,  // rows: once a row
};

static uint32_t saturate(uint64_t x) { return x < SATURATED ? (uint32_t)x : SATURATED; }

// Additions of one element; index maps that only change coordinates are free.
static uint32_t op_cost(const ir_op_t* op) {
  int fn = graph_scalar_fn(op);
  if (fn >= 0) return scalar_info[fn].cost;
  switch (ir_code(op)) {
    case GRAPH_GATHER: {  // a slice, when it is known where
      const ir_op_t* indices = ir_operand(op, 1)->def;
      return indices && fusion_is_splat(indices) ? 0 : 2;
    }
    case GRAPH_CONCAT:
    case GRAPH_PAD:
    case GRAPH_DYNAMIC_UPDATE:
      return 2;
    default:
      return 0;
  }
}

static bool is_loose(const fusion_node_t* node) {
  return node && node->group == FUSION_NO_GROUP &&
         (node->class == FUSION_ELEMENTWISE || node->class == FUSION_INDEX_MAP);
}

// Whether the host or an op with regions has it: then it is in memory, whoever else uses it.
static bool is_kept(const fusion_t* f, const ir_op_t* op) {
  for (uint32_t i = 0; i < op->result_count; ++i) {
    IR_FOR_USES(use, &op->results[i]) {
      if (use->owner->parent != f->block || fusion_class(use->owner) == FUSION_HOST) return true;
    }
  }
  return false;
}

void fusion_cost_start(fusion_t* f, fusion_node_t* node) {
  if (!is_loose(node) || is_kept(f, node->op)) return;
  uint64_t cone = op_cost(node->op), reach = 1;
  for (uint32_t i = 0; i < node->op->operand_count; ++i) {
    const fusion_node_t* producer = fusion_node(ir_operand(node->op, i)->def);
    if (!is_loose(producer)) continue;
    cone += producer->cone;
    if (producer->class == FUSION_INDEX_MAP) reach += producer->reach;
  }
  node->cone = saturate(cone);
  node->reach = saturate(reach);
}

//===----------------------------------------------------------------------------------------------------------------===
// Views
//===----------------------------------------------------------------------------------------------------------------===

static void add_view(fusion_views_t* views, uint32_t id, uint32_t weight) {
  for (uint32_t i = 0; i < views->count; ++i) {
    if (views->items[i].id != id) continue;
    if (weight > views->items[i].weight) views->items[i].weight = weight;
    return;
  }
  if (views->count == FUSION_VIEWS) {
    views->overflow = true;
    return;
  }
  views->items[views->count++] = (fusion_view_t){id, saturate(weight)};
}

static uint32_t window_weight(const ir_op_t* op) {
  if (!ir_is(op, GRAPH_WINDOW)) return MANY;
  graph_window_t w = graph_window_read(op);
  uint64_t taps = 1, steps = 1;
  for (int32_t i = 0; i < op->results[0].type->rank; ++i) {
    taps = saturate(taps * (uint64_t)w.sizes[i]);
    steps = saturate(steps * (uint64_t)w.strides[i]);
  }
  return saturate((taps + steps - 1) / (steps ? steps : 1));
}

static uint32_t growth(const ir_value_t* from, const ir_value_t* to) {
  if (!ir_type_is_tensor(from->type) || !ir_type_is_static(from->type) || !ir_type_is_static(to->type)) return GROWTH;
  int64_t small = ir_type_count(from->type), large = ir_type_count(to->type);
  int64_t times = small > 0 ? large / small : 1;
  return times < 1 ? 1 : times > GROWTH ? GROWTH : (uint32_t)times;
}

// Evaluations of an element of the operand for each of the user's.
static uint32_t use_weight(const fusion_t* f, const ir_op_t* op, uint32_t operand) {
  switch (ir_code(op)) {
    case GRAPH_CONTRACT:  // by each workgroup, and there are a few on each part of a GPU
      return f->target.gpu && operand == 0 && fusion_has_few_rows(op) ? GROWTH : MANY;
    case GRAPH_CONV:
    case GRAPH_SORT:
    case GRAPH_SORT_GENERIC:
    case GRAPH_TOP_K:
    case GRAPH_FFT:
    case GRAPH_CHOLESKY:
    case GRAPH_TRIANGULAR_SOLVE:
      return MANY;
    case GRAPH_ATTENTION:
      return operand < 3 ? MANY : 1;  // the mask's elements are for one score
    case GRAPH_WINDOW:
    case GRAPH_WINDOW_GENERIC:
      return window_weight(op);
    case GRAPH_BROADCAST:
    case GRAPH_TO_TENSOR:
      return growth(ir_operand(op, operand), &op->results[0]);
    case GRAPH_PAD:
    case GRAPH_GATHER:
    case GRAPH_DYNAMIC_SLICE:
      return operand ? growth(ir_operand(op, operand), &op->results[0]) : 1;
    case GRAPH_DYNAMIC_UPDATE:
      return operand > 1 ? growth(ir_operand(op, operand), &op->results[0]) : 1;
    case GRAPH_GENERIC:
    case GRAPH_REDUCE_GENERIC:
    case GRAPH_SCATTER:
    case GRAPH_SCATTER_GENERIC:
      return GROWTH;
    default:
      return 1;
  }
}

void fusion_add_views(fusion_t* f, const fusion_node_t* user, uint32_t operand, fusion_views_t* out) {
  const fusion_group_t* group = &f->groups[user->group];
  fusion_views_t views = user->views;
  if (group->is_rows && user->class == FUSION_REDUCE) {
    add_view(out, group->view + user->level - 1, 1);
    return;
  }
  if (group->is_rows && user->space == FUSION_SPACE_FULL && !views.count) {  // a member at the rows' coordinates
    for (uint32_t sweep = 0; sweep < 32; ++sweep) {
      if (user->sweeps >> sweep & 1) add_view(&views, group->view + sweep, 1);
    }
  } else if (!views.count) {
    add_view(&views, group->is_rows ? group->view + OUTER_VIEW : user->map ? user->map : group->view, 1);
  }
  out->overflow |= views.overflow;
  bool same = user->class == FUSION_ELEMENTWISE;
  uint32_t weight = same ? 1 : use_weight(f, user->op, operand);
  for (uint32_t i = 0; i < views.count; ++i) {
    add_view(out, same ? views.items[i].id : ++f->view_count, views.items[i].weight * weight);
  }
}

bool fusion_may_repeat(const fusion_t* f, const fusion_node_t* node, const fusion_uses_t* uses) {
  const fusion_group_t* group = &f->groups[uses->group];
  uint64_t weight = 0;
  if (uses->views.overflow || uses->maps > FUSION_MAX_MAPS) return false;
  if (group->count >= FUSION_MAX_MEMBERS || group->code + uses->views.count > FUSION_MAX_CODE) return false;
  for (uint32_t i = 0; i < uses->views.count; ++i) weight += uses->views.items[i].weight;
  return weight <= 1 || (weight - 1) * node->cone <= FUSION_MAX_REPEAT;
}

//===----------------------------------------------------------------------------------------------------------------===
// Sweeps over rows
//===----------------------------------------------------------------------------------------------------------------===

void fusion_start_rows(fusion_t* f, int32_t group, fusion_node_t* node) {
  node->level = 0;
  for (uint32_t i = 0; i < node->op->operand_count; ++i) {
    const fusion_node_t* producer = fusion_node(ir_operand(node->op, i)->def);
    if (producer && producer->group == group && producer->level > node->level) node->level = producer->level;
  }
  if (node->class == FUSION_REDUCE) {
    ++node->level;
  } else if (node->space == FUSION_SPACE_FULL) {
    node->sweeps = 1u << FINAL_SWEEP;
  }
}

static void add_row_member(fusion_t* f, int32_t group, const ir_value_t* value, fusion_node_t** out, uint32_t* count) {
  fusion_node_t* node = fusion_node(value->def);
  if (!node || node->group != group || node->class == FUSION_REDUCE) return;
  if (node->space != FUSION_SPACE_FULL || node->visit == f->visit) return;
  node->visit = f->visit;
  out[(*count)++] = node;
}

// Members at the coordinates of rows that `value` is computed from, up to reductions: once each.
static uint32_t row_cone(fusion_t* f, int32_t group, const ir_value_t* value, fusion_node_t** out) {
  uint32_t count = 0;
  ++f->visit;
  add_row_member(f, group, value, out, &count);
  for (uint32_t done = 0; done < count; ++done) {
    const ir_op_t* op = out[done]->op;
    for (uint32_t i = 0; i < op->operand_count; ++i) add_row_member(f, group, ir_operand(op, i), out, &count);
  }
  return count;
}

bool fusion_add_sweep(fusion_t* f, int32_t group, const ir_value_t* operand) {
  fusion_node_t* cone[FUSION_MAX_MEMBERS + 1];
  const fusion_node_t* producer = fusion_node(operand->def);
  uint32_t sweep = producer && producer->group == group ? producer->level : 0;
  uint32_t count = row_cone(f, group, operand, cone);
  uint64_t extra = 0;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t sweeps = (uint32_t)__builtin_popcount(cone[i]->sweeps | 1u << sweep);
    extra += (uint64_t)(sweeps - 1) * op_cost(cone[i]->op);
  }
  if (extra > FUSION_MAX_REPEAT) return false;
  for (uint32_t i = 0; i < count; ++i) cone[i]->sweeps |= 1u << sweep;
  return true;
}
