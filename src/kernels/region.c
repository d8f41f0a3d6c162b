// See region.h. Also the strategy for reductions, windows and loop nests with any body: the iterations that are
// independent are shared out, the others are loops whose accumulators the region replaces.
#include "kernels/region.h"

#include <string.h>

#include "kernels/strategy.h"

//===----------------------------------------------------------------------------------------------------------------===
// Regions
//===----------------------------------------------------------------------------------------------------------------===

static bool block_supports(const ir_region_t* region) {
  const ir_block_t* block = region->first;
  if (!block || block->next || !block->last || !ir_is(block->last, GRAPH_YIELD)) return false;
  if (block->arg_count > 2 * REGION_VALUES || block->last->operand_count > REGION_VALUES) return false;
  IR_FOR_OPS(op, block) {
    if (op == block->last) break;
    for (uint32_t i = 0; i < op->result_count; ++i) {
      const ir_type_t* type = op->results[i].type;
      if (ir_type_is_tensor(type) && !ir_type_is_static(type)) return false;
    }
    bool is_if = ir_is(op, GRAPH_IF);
    if (!is_if && !eval_supports(op)) return false;
    if (is_if && !(block_supports(&op->regions[0]) && block_supports(&op->regions[1]))) return false;
  }
  return true;
}

bool region_supports(const ir_op_t* op) { return op->region_count && block_supports(&op->regions[0]); }

static void apply_if(kernel_build_t* k, ir_op_t* op) {
  ir_value_t *yes[REGION_VALUES], *no[REGION_VALUES], *flag = eval_at(k, ir_operand(op, 0), NULL);
  region_apply(k, op->regions[0].first, NULL, yes);
  region_apply(k, op->regions[1].first, NULL, no);
  for (uint32_t i = 0; i < op->result_count; ++i) {
    eval_set_bound(k, ir_result(op, i), kernel_ternary(&k->b, SCALAR_select, flag, yes[i], no[i]));
  }
}

// Once an op's value is bound, what uses it finds it; each is built once.
void region_apply(kernel_build_t* k, ir_block_t* block, ir_value_t* const* args, ir_value_t** results) {
  for (uint32_t i = 0; i < block->arg_count; ++i) {
    eval_set_bound(k, block->args[i], eval_convert(k, args[i], ir_type_scalar(block->args[i]->type)));
  }
  IR_FOR_OPS(op, block) {
    bool has_value = op->result_count == 1 && ir_type_is_tensor(op->results[0].type) && !op->results[0].type->rank;
    if (ir_is(op, GRAPH_IF)) {
      apply_if(k, op);
    } else if (has_value && !ir_is(op, GRAPH_CONSTANT)) {
      eval_set_bound(k, ir_result(op, 0), eval_at(k, ir_result(op, 0), NULL));
    }
  }
  for (uint32_t i = 0; i < block->last->operand_count; ++i) results[i] = eval_at(k, ir_operand(block->last, i), NULL);
  for (uint32_t i = 0; i < block->arg_count; ++i) block->args[i]->data = NULL;
  IR_FOR_OPS(op, block) {
    for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].data = NULL;
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Loop nests
//===----------------------------------------------------------------------------------------------------------------===

typedef struct nest_t {
  dispatch_t* d;
  ir_op_t* op;
  uint32_t count;                   // results
  linear_t at[2 * GRAPH_MAX_RANK];  // reduce: coordinates of the operand; window: of the result; generic: iteration
  int64_t inner[GRAPH_MAX_RANK];    // dims that the inner loops run over
  extent_t sizes[GRAPH_MAX_RANK];   // of these
  uint32_t inner_count;
  graph_window_t w;
  const ir_attr_t* maps;
} nest_t;

static void apply_to(nest_t* n, ir_value_t** acc, ir_value_t* const* elements) {
  ir_value_t* args[2 * REGION_VALUES];
  memcpy(args, acc, sizeof(*args) * n->count);
  memcpy(args + n->count, elements, sizeof(*args) * n->count);
  region_apply(&n->d->k, n->op->regions[0].first, args, acc);
}

static void reduce_body(kernel_build_t* k, const linear_t* at, ir_value_t** acc, void* user) {
  nest_t* n = user;
  ir_value_t* elements[REGION_VALUES];
  for (uint32_t i = 0; i < n->inner_count; ++i) n->at[n->inner[i]] = at[i];
  for (uint32_t i = 0; i < n->count; ++i) elements[i] = eval_at(k, ir_operand(n->op, i), n->at);
  apply_to(n, acc, elements);
}

// The place of a window's element in the operand, guarded where it may be in the padding or between elements.
static void window_place(kernel_build_t* k, const nest_t* n, const linear_t* at, guard_t* guard, linear_t* in) {
  const ir_value_t* x = ir_operand(n->op, 0);
  for (int32_t i = 0; i < x->type->rank; ++i) {
    in[i] = linear_add(k, linear_scale(k, n->at[i], n->w.strides[i]), linear_scale(k, at[i], n->w.dilations[i]));
    in[i].constant -= n->w.pad_low[i];
    extent_t size = eval_extent(x, i);
    in[i] = guard_spread(k, guard, in[i], &size, n->w.base_dilations[i]);
  }
}

static void window_body(kernel_build_t* k, const linear_t* at, ir_value_t** acc, void* user) {
  nest_t* n = user;
  ir_value_t* elements[REGION_VALUES];
  for (uint32_t i = 0; i < n->count; ++i) {
    linear_t in[GRAPH_MAX_RANK];
    guard_t guard = {0};
    window_place(k, n, at, &guard, in);
    ir_value_t* start = eval_at(k, ir_operand(n->op, n->count + i), NULL);
    guard_begin(k, &guard, ir_type_scalar(start->type));
    elements[i] = guard_end(k, &guard, eval_at(k, ir_operand(n->op, i), in), start);
  }
  apply_to(n, acc, elements);
}

static bool affine_supports(const ir_affine_t* e) {
  if (e->kind == IR_AFFINE_DIM || e->kind == IR_AFFINE_CONST) return true;
  if (e->kind == IR_AFFINE_SYMBOL || e->kind == IR_AFFINE_CEILDIV || !affine_supports(e->lhs)) return false;
  if (e->kind == IR_AFFINE_ADD) return affine_supports(e->rhs);
  return e->rhs->kind == IR_AFFINE_CONST && (e->kind == IR_AFFINE_MUL || e->rhs->value > 0);
}

static linear_t affine_at(kernel_build_t* k, const ir_affine_t* e, const linear_t* at) {
  if (e->kind == IR_AFFINE_DIM) return at[e->value];
  if (e->kind == IR_AFFINE_CONST) return linear_constant(e->value);
  linear_t lhs = affine_at(k, e->lhs, at), quotient, remainder;
  if (e->kind == IR_AFFINE_ADD) return linear_add(k, lhs, affine_at(k, e->rhs, at));
  if (e->kind == IR_AFFINE_MUL) return linear_scale(k, lhs, e->rhs->value);
  linear_divide(k, lhs, e->rhs->value, &quotient, &remainder);
  return e->kind == IR_AFFINE_MOD ? remainder : quotient;
}

static void map_at(kernel_build_t* k, const nest_t* n, uint32_t operand, linear_t* out) {
  const ir_affine_map_t* map = n->maps->items[operand]->map;
  for (uint32_t i = 0; i < map->result_count; ++i) out[i] = affine_at(k, map->results[i], n->at);
}

static void generic_body(kernel_build_t* k, const linear_t* at, ir_value_t** acc, void* user) {
  nest_t* n = user;
  ir_value_t* args[2 * REGION_VALUES];
  linear_t in[GRAPH_MAX_RANK];
  uint32_t ins = n->op->operand_count - n->count;
  for (uint32_t i = 0; i < n->inner_count; ++i) n->at[n->inner[i]] = at[i];
  for (uint32_t i = 0; i < ins; ++i) {
    map_at(k, n, i, in);
    args[i] = eval_at(k, ir_operand(n->op, i), in);
  }
  memcpy(args + ins, acc, sizeof(*args) * n->count);
  region_apply(k, n->op->regions[0].first, args, acc);
}

//===----------------------------------------------------------------------------------------------------------------===
// Strategy
//===----------------------------------------------------------------------------------------------------------------===

static bool is_parallel(const ir_op_t* op, int64_t loop) {
  const ir_attr_t* iterators = graph_get_iterators(op);
  const ir_attr_t* item = loop < iterators->count ? iterators->items[loop] : NULL;
  return item && item->text && strcmp(item->text, "parallel") == 0;
}

// Loop nests: maps that are known, and results that the parallel loops alone name, each once.
static bool generic_matches(const ir_op_t* op) {
  const ir_attr_t *maps = graph_get_maps(op), *iterators = graph_get_iterators(op);
  if (!maps || !iterators || maps->count != op->operand_count) return false;
  if (op->operand_count > 2 * REGION_VALUES || op->result_count > op->operand_count) return false;
  if (iterators->count > GRAPH_MAX_RANK) return false;
  for (uint32_t i = 0; i < maps->count; ++i) {
    const ir_affine_map_t* map = maps->items[i]->map;
    if (!map || map->dim_count != iterators->count || (int32_t)map->result_count != ir_operand(op, i)->type->rank) {
      return false;
    }
    uint64_t named = 0;
    for (uint32_t r = 0; r < map->result_count; ++r) {
      const ir_affine_t* e = map->results[r];
      if (!affine_supports(e)) return false;
      if (i < op->operand_count - op->result_count) continue;
      if (e->kind != IR_AFFINE_DIM || !is_parallel(op, e->value) || (named >> e->value & 1)) return false;
      named |= 1ull << e->value;
    }
    for (uint32_t l = 0; i >= op->operand_count - op->result_count && l < iterators->count; ++l) {
      if (is_parallel(op, l) && !(named >> l & 1)) return false;
    }
  }
  return true;
}

bool strategy_region_proposes(const dispatch_t* d, candidate_t* c) {
  const ir_op_t* op = d->root;
  if (!region_supports(op)) return candidate_declines(c, "its body has an op without a scalar instruction");
  if (op->result_count > REGION_VALUES) return candidate_declines(c, "there are too many results");
  if (ir_is(op, GRAPH_GENERIC) && !generic_matches(op))
    return candidate_declines(c, "its maps are not of single loops");
  for (uint32_t i = 0; i < d->yield->operand_count; ++i) {
    if (ir_operand(d->yield, i)->def != op) return candidate_declines(c, "something follows the loops");
  }
  return candidate_evaluates(d, op, c);
}

static void read_reduce(nest_t* n, const linear_t* result) {
  const ir_type_t* type = ir_operand(n->op, 0)->type;
  n->inner_count = graph_get_dims(n->op, n->inner);
  for (int32_t i = 0, kept = 0; i < type->rank; ++i) {
    bool reduced = false;
    for (uint32_t r = 0; r < n->inner_count; ++r) {
      if (n->inner[r] == i) n->sizes[r] = eval_extent(ir_operand(n->op, 0), i), reduced = true;
    }
    if (!reduced) n->at[i] = result[kept++];
  }
}

static void read_window(nest_t* n, const linear_t* result) {
  n->w = graph_window_read(n->op);
  n->inner_count = (uint32_t)ir_operand(n->op, 0)->type->rank;
  for (uint32_t i = 0; i < n->inner_count; ++i) n->sizes[i] = extent_fixed(n->w.sizes[i]);
  memcpy(n->at, result, sizeof(*result) * n->inner_count);
}

// Sizes of the loops are those of the dims that they name.
static extent_t loop_size(const nest_t* n, int64_t loop) {
  for (uint32_t i = 0; i < n->maps->count; ++i) {
    const ir_affine_map_t* map = n->maps->items[i]->map;
    for (uint32_t r = 0; r < map->result_count; ++r) {
      const ir_affine_t* e = map->results[r];
      if (e->kind == IR_AFFINE_DIM && e->value == loop) return eval_extent(ir_operand(n->op, i), (int32_t)r);
    }
  }
  return extent_fixed(1);
}

static void read_generic(nest_t* n, const linear_t* result) {
  uint32_t first = n->op->operand_count - n->count;
  const ir_affine_map_t* map = n->maps->items[first]->map;
  for (uint32_t r = 0; r < map->result_count; ++r) n->at[map->results[r]->value] = result[r];
  for (int64_t l = 0; l < map->dim_count; ++l) {
    if (is_parallel(n->op, l)) continue;
    n->inner[n->inner_count] = l;
    n->sizes[n->inner_count++] = loop_size(n, l);
  }
}

static void start(nest_t* n, const linear_t* result, ir_value_t** acc) {
  kernel_build_t* k = &n->d->k;
  bool generic = ir_is(n->op, GRAPH_GENERIC);
  for (uint32_t i = 0; i < n->count; ++i) {
    linear_t to[GRAPH_MAX_RANK];
    uint32_t operand = generic ? n->op->operand_count - n->count + i : n->count + i;
    if (generic) map_at(k, n, operand, to);
    acc[i] = eval_at(k, ir_operand(n->op, operand), generic ? to : result);
  }
}

static void store(nest_t* n, const linear_t* result, ir_value_t* const* acc) {
  kernel_build_t* k = &n->d->k;
  for (uint32_t i = 0; i < n->d->yield->operand_count; ++i) {
    uint32_t which = ir_operand(n->d->yield, i)->index;
    linear_t to[GRAPH_MAX_RANK];
    if (ir_is(n->op, GRAPH_GENERIC)) map_at(k, n, n->op->operand_count - n->count + which, to);
    eval_store(k, n->d->outputs[i], ir_is(n->op, GRAPH_GENERIC) ? to : result, acc[which]);
  }
}

void strategy_region_build(dispatch_t* d) {
  const ir_value_t* first = ir_result(d->root, 0);
  nest_t n = {.d = d, .op = d->root, .count = d->root->result_count};
  if (ir_is(n.op, GRAPH_GENERIC)) n.maps = graph_get_maps(n.op);
  enum { COST = 30 };  // of a body, roughly
  extent_t count = eval_count(first), taken = eval_count(ir_operand(d->root, 0)), sizes[GRAPH_MAX_RANK];
  if (extent_is(&count, 0)) return;
  iterations_t it = iterations_dynamic(d, &count, COST * (1 + extent_guess(&taken) / (1 + extent_guess(&count))));
  linear_t result[GRAPH_MAX_RANK];
  eval_extents(first, sizes);
  iterations_split_extents(&d->k, it.index, sizes, first->type->rank, result);
  eval_body_fn_t body = generic_body;
  if (ir_is(n.op, GRAPH_REDUCE_GENERIC)) {
    read_reduce(&n, result);
    body = reduce_body;
  } else if (ir_is(n.op, GRAPH_WINDOW_GENERIC)) {
    read_window(&n, result);
    body = window_body;
  } else {
    read_generic(&n, result);
  }
  ir_value_t* acc[REGION_VALUES];
  start(&n, result, acc);
  eval_loops(&d->k, n.sizes, n.inner_count, acc, n.count, body, &n);
  store(&n, result, acc);
  iterations_end(d, &it);
}
