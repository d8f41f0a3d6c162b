// Functions with branches as graph.if and graph.while. See lowering_control.h.
//
// From a block on, ops are lowered until a given block is reached or the function returns. A branch becomes an if whose
// sides end where they meet again (the nearest block that every path passes); what the sides share behind that point
// but cannot meet in (both return) is lowered twice. A block that is reached from itself heads a loop: the loop must be
// left from there only.
#include <string.h>

#include "dialects/cf.h"
#include "dialects/func.h"
#include "dialects/util.h"
#include "import/control.h"
#include "import/lowering_control.h"

enum { MAX_BLOCKS = 256, MAX_COPIES = 4096, WORDS = MAX_BLOCKS / 64 };

typedef struct set_t {
  uint64_t words[WORDS];
} set_t;
static bool set_has(const set_t* s, uint32_t i) { return (s->words[i / 64] >> (i % 64)) & 1; }
static void set_add(set_t* s, uint32_t i) { s->words[i / 64] |= 1ull << (i % 64); }

typedef struct cfg_t {
  lowering_t* l;
  ir_block_t* blocks[MAX_BLOCKS];
  uint32_t count, copies;
  const ir_type_t* type;  // of the function
  set_t sinks;            // blocks where the part at work ends
} cfg_t;

enum { NOWHERE = MAX_BLOCKS };  // no block: the function's end

// Where a part of the function ended, with the values for the block's arguments or the returned ones.
typedef struct outcome_t {
  uint32_t block;
  const lower_value_t* values;
  uint32_t count;
} outcome_t;

static uint32_t number_of(const cfg_t* g, const ir_block_t* block) {
  for (uint32_t i = 0; i < g->count; ++i) {
    if (g->blocks[i] == block) return i;
  }
  return NOWHERE;
}

static ir_op_t* terminator(const cfg_t* g, uint32_t block) { return g->blocks[block]->last; }

//===----------------------------------------------------------------------------------------------------------------===
// Paths
//===----------------------------------------------------------------------------------------------------------------===

// Adds the blocks that can be reached from `block` without passing a sink; the block itself only through a circle.
static void reach(const cfg_t* g, uint32_t block, set_t* out) {
  uint32_t stack[MAX_BLOCKS + 1], size = 1;
  stack[0] = block;
  while (size) {
    const ir_op_t* last = terminator(g, stack[--size]);
    for (uint32_t i = 0; i < last->successor_count; ++i) {
      uint32_t next = number_of(g, last->successors[i]);
      if (set_has(out, next)) continue;
      set_add(out, next);
      if (!set_has(&g->sinks, next)) stack[size++] = next;
    }
  }
}

// The nearest block that every path from `block` to a sink or return passes, or NOWHERE.
static uint32_t meeting_point(const cfg_t* g, uint32_t block) {
  set_t inside = {{0}}, passes[MAX_BLOCKS];
  reach(g, block, &inside);
  set_add(&inside, block);
  for (uint32_t i = 0; i < g->count; ++i) memset(&passes[i], 0xff, sizeof(passes[i]));
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < g->count; ++i) {
      if (!set_has(&inside, i)) continue;
      const ir_op_t* last = terminator(g, i);
      bool ends = (set_has(&g->sinks, i) && i != block) || !last->successor_count;
      set_t all;
      memset(&all, ends ? 0 : 0xff, sizeof(all));
      for (uint32_t k = 0; !ends && k < last->successor_count; ++k) {
        const set_t* next = &passes[number_of(g, last->successors[k])];
        for (int w = 0; w < WORDS; ++w) all.words[w] &= next->words[w];
      }
      set_add(&all, i);
      changed |= memcmp(&all, &passes[i], sizeof(all)) != 0;
      passes[i] = all;
    }
  }
  // Of those that all paths pass, the one from which all the others are still ahead.
  uint32_t best = NOWHERE, most = 0;
  for (uint32_t i = 0; i < g->count; ++i) {
    if (i == block || !set_has(&inside, i) || !set_has(&passes[block], i)) continue;
    uint32_t ahead = 1;
    for (uint32_t k = 0; k < g->count; ++k) ahead += set_has(&inside, k) && set_has(&passes[i], k);
    if (ahead > most) best = i, most = ahead;
  }
  return best;
}

//===----------------------------------------------------------------------------------------------------------------===
// Values
//===----------------------------------------------------------------------------------------------------------------===

static const lower_value_t* operand_values(cfg_t* g, const ir_op_t* op, uint32_t first, uint32_t count) {
  lower_value_t* values = ARENA_ARRAY(ir_context_arena(g->l->ctx), lower_value_t, count + 1);
  for (uint32_t i = 0; i < count; ++i) values[i] = lower_get(ir_operand(op, first + i));
  return values;
}

// What successor `i` of a branch gets. Its operands are the op's last ones, split among the successors.
static outcome_t edge(cfg_t* g, const ir_op_t* op, uint32_t i) {
  uint32_t first = op->operand_count;
  for (uint32_t k = i; k < op->successor_count; ++k) first -= op->successor_operand_counts[k];
  uint32_t count = op->successor_operand_counts[i];
  return (outcome_t){number_of(g, op->successors[i]), operand_values(g, op, first, count), count};
}

// Types of the values at a block (NOWHERE: returned ones), flat.
static bool types_at(cfg_t* g, uint32_t block, const ir_loc_t* loc, lower_types_t* out) {
  out->count = 0;
  uint32_t count = block == NOWHERE ? g->type->result_count : g->blocks[block]->arg_count;
  for (uint32_t i = 0; i < count; ++i) {
    const ir_type_t* type = block == NOWHERE ? g->type->results[i] : g->blocks[block]->args[i]->type;
    if (lower_flat_types(g->l->ctx, type, out)) continue;
    return ir_error(g->l->ctx, loc, "a value of type %s has no form here", ir_type_str(g->l->ctx, type));
  }
  return true;
}

static const ir_type_t* type_at(const cfg_t* g, uint32_t block, uint32_t i) {
  return block == NOWHERE ? g->type->results[i] : g->blocks[block]->args[i]->type;
}

static uint32_t count_at(const cfg_t* g, uint32_t block) {
  return block == NOWHERE ? g->type->result_count : g->blocks[block]->arg_count;
}

// Flat values as those of a block's arguments.
static outcome_t outcome_at(cfg_t* g, uint32_t block, ir_value_t* const* flat) {
  uint32_t count = count_at(g, block);
  lower_value_t* values = ARENA_ARRAY(ir_context_arena(g->l->ctx), lower_value_t, count + 1);
  for (uint32_t i = 0; i < count; ++i) values[i] = lower_unflatten(g->l, type_at(g, block, i), &flat);
  return (outcome_t){block, values, count};
}

static bool flatten_outcome(cfg_t* g, const outcome_t* o, const lower_types_t* types, const ir_loc_t* loc,
                            lower_list_t* out) {
  out->count = 0;
  for (uint32_t i = 0; i < o->count; ++i) lower_flatten(o->values[i], out);
  if (out->count != types->count) return ir_error(g->l->ctx, loc, "a branch gives values of other types");
  for (uint32_t i = 0; i < out->count; ++i) {
    out->items[i] = lower_coerce(g->l, out->items[i], types->items[i]);
    if (!out->items[i]) return false;
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Branches
//===----------------------------------------------------------------------------------------------------------------===

static bool run_from(cfg_t* g, outcome_t at, outcome_t* out);

typedef struct branch_t {
  const ir_op_t* op;
  uint32_t join;
  lower_types_t types;
} branch_t;

// Successors from `first` on: the value picks one by comparing it with the case's number.
static bool build_choice(cfg_t* g, branch_t* b, uint32_t first, lower_list_t* flat);

static bool build_side(cfg_t* g, branch_t* b, ir_region_t* region, uint32_t first, bool chosen) {
  ir_builder_t saved = g->l->b;
  lower_list_t flat = LOWER_LIST(g->l->ctx);
  outcome_t end;
  g->l->b = ir_builder_at_end(g->l->ctx, ir_block_create(g->l->ctx));
  g->l->b.loc = saved.loc;
  ir_region_append(region, g->l->b.block);
  bool ok;
  if (chosen) {
    ok = run_from(g, edge(g, b->op, first), &end);
    if (ok && end.block != b->join) {
      ok = ir_op_error(g->l->ctx, b->op, "leaves a loop from its middle; loops are left from their first block");
    }
    ok = ok && flatten_outcome(g, &end, &b->types, b->op->loc, &flat);
  } else {
    ok = build_choice(g, b, first + 1, &flat);
  }
  if (ok) ir_build_op(&g->l->b, GRAPH_YIELD, flat.items, flat.count, NULL);
  g->l->b = saved;
  return ok;
}

// cond_br: successors true, false. switch: default, then one for each of case_values; tried in order, default last.
static ir_value_t* choice_condition(cfg_t* g, const branch_t* b, uint32_t first) {
  ir_value_t* flag = lower_get(ir_operand(b->op, 0)).v;
  const ir_attr_t* cases = ir_op_attr(b->op, "case_values");
  if (!flag) return NULL;
  if (!ir_is(b->op, CF_SWITCH)) return lower_as_tensor(&g->l->b, flag);
  flag = lower_as_tensor(&g->l->b, flag);
  ir_value_t* number = graph_splat_integer(&g->l->b, flag->type, ir_attr_element_integer(cases, first - 1));
  return graph_binary(&g->l->b, SCALAR_eq, flag, number);
}

static bool build_choice(cfg_t* g, branch_t* b, uint32_t first, lower_list_t* flat) {
  bool is_switch = ir_is(b->op, CF_SWITCH);
  uint32_t last = is_switch ? b->op->successor_count : b->op->successor_count - 1;
  if (first >= last) {  // nothing left to ask
    outcome_t end;
    if (!run_from(g, edge(g, b->op, is_switch ? 0 : first), &end)) return false;
    if (end.block != b->join) return ir_op_error(g->l->ctx, b->op, "leaves a loop from its middle");
    return flatten_outcome(g, &end, &b->types, b->op->loc, flat);
  }
  ir_value_t* condition = choice_condition(g, b, first);
  if (!condition) return ir_op_error(g->l->ctx, b->op, "has no condition");
  ir_op_state_t state = {.info = ir_context_op(g->l->ctx, GRAPH_IF),
                         .loc = b->op->loc,
                         .operands = &condition,
                         .operand_count = 1,
                         .result_types = b->types.items,
                         .result_count = b->types.count,
                         .region_count = 2};
  ir_op_t* op = ir_build(&g->l->b, &state);
  if (!build_side(g, b, &op->regions[0], first, true) || !build_side(g, b, &op->regions[1], first, false)) return false;
  flat->count = 0;
  lower_list_add_results(flat, op, 0);
  return true;
}

static bool run_branch(cfg_t* g, uint32_t block, outcome_t* out) {
  branch_t b = {.op = terminator(g, block), .join = meeting_point(g, block), .types = LOWER_LIST(g->l->ctx)};
  set_t sinks = g->sinks;
  lower_list_t flat = LOWER_LIST(g->l->ctx);
  if (!types_at(g, b.join, b.op->loc, &b.types)) return false;
  if (b.join != NOWHERE) set_add(&g->sinks, b.join);
  bool ok = build_choice(g, &b, ir_is(b.op, CF_SWITCH) ? 1 : 0, &flat);
  g->sinks = sinks;
  if (ok) *out = outcome_at(g, b.join, flat.items);
  return ok;
}

//===----------------------------------------------------------------------------------------------------------------===
// Loops
//===----------------------------------------------------------------------------------------------------------------===

typedef struct loop_t {
  cfg_t* g;
  uint32_t head, inside;  // inside: number of the successor that goes on
  bool inverted;          // the loop goes on when the condition is false
  lower_list_t values;
  lower_types_t types;  // of the values, flat
} loop_t;

static bool is_used_outside(const ir_value_t* v, const ir_block_t* block) {
  IR_FOR_USES(use, v) {
    const ir_op_t* op = use->owner;
    while (op && op->parent != block) op = ir_op_parent(op);
    if (!op) return true;
  }
  return false;
}

static bool add_value(loop_t* loop, ir_value_t* v) {
  for (uint32_t i = 0; i < loop->values.count; ++i) {
    if (loop->values.items[i] == v) return true;
  }
  lower_list_add(&loop->values, v);
  return lower_flat_types(loop->g->l->ctx, v->type, &loop->types);
}

// Values of the head that the loop's body, its exit and what follows need.
static bool collect_values(loop_t* loop) {
  ir_block_t* head = loop->g->blocks[loop->head];
  ir_op_t* last = head->last;
  bool ok = true;
  for (uint32_t i = 1; i < last->operand_count; ++i) ok = ok && add_value(loop, ir_operand(last, i));
  for (uint32_t i = 0; i < head->arg_count; ++i) {
    if (is_used_outside(head->args[i], head)) ok = ok && add_value(loop, head->args[i]);
  }
  IR_FOR_OPS(op, head) {
    for (uint32_t i = 0; i < op->result_count; ++i) {
      if (is_used_outside(&op->results[i], head)) ok = ok && add_value(loop, &op->results[i]);
    }
  }
  return ok || ir_op_error(loop->g->l->ctx, last, "ends a loop's head with values that have no form here");
}

static bool run_head(void* user, const lower_value_t* inits, uint32_t count, ir_value_t** go_on, lower_list_t* out) {
  loop_t* loop = user;
  lowering_t* l = loop->g->l;
  ir_block_t* head = loop->g->blocks[loop->head];
  lower_value_t* ignored;
  uint32_t ignored_count;
  if (count != head->arg_count) return ir_op_error(l->ctx, head->last, "heads a loop with other arguments");
  if (!lower_block(l, head, inits, &ignored, &ignored_count)) return false;
  *go_on = lower_get(ir_operand(head->last, 0)).v;
  if (!*go_on) return ir_op_error(l->ctx, head->last, "has no condition");
  if (loop->inverted) *go_on = graph_unary(&l->b, SCALAR_not, *go_on);
  for (uint32_t i = 0; i < loop->values.count; ++i) lower_flatten(lower_get(loop->values.items[i]), out);
  return true;
}

static void set_values(loop_t* loop, ir_value_t* const* flat) {
  for (uint32_t i = 0; i < loop->values.count; ++i) {
    ir_value_t* value = loop->values.items[i];
    lower_set(loop->g->l, value, lower_unflatten(loop->g->l, value->type, &flat));
  }
}

static bool run_body(void* user, ir_value_t* const* flat, const lower_value_t** inits, uint32_t* count) {
  loop_t* loop = user;
  cfg_t* g = loop->g;
  set_values(loop, flat);
  outcome_t end = edge(g, terminator(g, loop->head), loop->inside);
  if (end.block != loop->head) {
    set_t sinks = g->sinks;
    set_add(&g->sinks, loop->head);
    bool ok = run_from(g, end, &end);
    g->sinks = sinks;
    if (!ok) return false;
  }
  if (end.block != loop->head)
    return ir_op_error(g->l->ctx, terminator(g, loop->head), "heads a loop that is left elsewhere");
  *inits = end.values;
  *count = end.count;
  return true;
}

static bool run_loop(cfg_t* g, outcome_t at, outcome_t* out) {
  const ir_op_t* last = terminator(g, at.block);
  loop_t loop = {.g = g, .head = at.block, .values = LOWER_LIST(g->l->ctx), .types = LOWER_LIST(g->l->ctx)};
  if (!ir_is(last, CF_COND_BR) || last->successor_count != 2) {
    return ir_op_error(g->l->ctx, last, "ends the first block of a loop; a loop is left by cf.cond_br there");
  }
  uint32_t first = number_of(g, last->successors[0]), second = number_of(g, last->successors[1]);
  set_t from_first = {{0}}, from_second = {{0}};
  reach(g, first, &from_first);
  reach(g, second, &from_second);
  bool first_inside = first == at.block || set_has(&from_first, at.block);
  bool second_inside = second == at.block || set_has(&from_second, at.block);
  if (first_inside == second_inside) {
    return ir_op_error(g->l->ctx, last,
                       "heads a loop that is left from its middle; loops are left from their first "
                       "block");
  }
  loop.inside = first_inside ? 0 : 1;
  loop.inverted = !first_inside;
  if (!collect_values(&loop)) return false;
  lower_list_t results = LOWER_LIST(g->l->ctx);
  if (!lower_build_while(g->l, last->loc, at.values, at.count, &loop.types, &(lower_while_t){run_head, run_body, &loop},
                         &results)) {
    return false;
  }
  set_values(&loop, results.items);
  *out = edge(g, last, 1 - loop.inside);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// From a block on
//===----------------------------------------------------------------------------------------------------------------===

static bool run_block(cfg_t* g, outcome_t at, outcome_t* out) {
  ir_block_t* block = g->blocks[at.block];
  ir_op_t* last = block->last;
  set_t circle = {{0}};
  if (at.count != block->arg_count) return ir_op_error(g->l->ctx, last, "is reached with other arguments");
  reach(g, at.block, &circle);
  if (set_has(&circle, at.block)) return run_loop(g, at, out);
  lower_value_t* values;
  uint32_t count;
  if (!lower_block(g->l, block, at.values, &values, &count)) return false;
  if (ir_is(last, FUNC_RETURN) || ir_is(last, UTIL_RETURN)) {
    *out = (outcome_t){NOWHERE, values, count};
    return true;
  }
  if (ir_is(last, CF_BR) && last->successor_count == 1) {
    *out = edge(g, last, 0);
    return true;
  }
  bool branches = (ir_is(last, CF_COND_BR) && last->successor_count == 2) || ir_is(last, CF_SWITCH);
  return branches ? run_branch(g, at.block, out) : ir_op_error(g->l->ctx, last, "is not supported as end of a block");
}

// Lowers until a sink is reached or the function returns. Being at a sink to begin with is reaching it.
static bool run_from(cfg_t* g, outcome_t at, outcome_t* out) {
  while (at.block != NOWHERE && !set_has(&g->sinks, at.block)) {
    if (++g->copies > MAX_COPIES) return ir_error(g->l->ctx, g->l->b.loc, "the function branches too much");
    if (!run_block(g, at, &at)) return false;
  }
  *out = at;
  return true;
}

static bool check_branches(cfg_t* g) {
  for (uint32_t i = 0; i < g->count; ++i) {
    const ir_op_t* last = g->blocks[i]->last;
    if (!last) return ir_error(g->l->ctx, g->l->b.loc, "a block is empty");
    uint64_t handed = 0;
    for (uint32_t k = 0; k < last->successor_count; ++k) {
      handed += last->successor_operand_counts[k];
      if (number_of(g, last->successors[k]) == NOWHERE) return ir_op_error(g->l->ctx, last, "leaves its region");
      if (last->successor_operand_counts[k] != last->successors[k]->arg_count) {
        return ir_op_error(g->l->ctx, last, "hands other values over than its successor takes");
      }
    }
    bool flagged = ir_is(last, CF_COND_BR) || ir_is(last, CF_SWITCH);
    if (last->successor_count && handed + flagged != last->operand_count) {
      return ir_op_error(g->l->ctx, last, "has operands that go nowhere");
    }
    const ir_attr_t* cases = ir_op_attr(last, "case_values");
    int64_t case_count = cases && cases->kind == IR_ATTR_ELEMENTS ? ir_type_count(cases->type) : 0;
    if (ir_is(last, CF_SWITCH) && case_count + 1 != last->successor_count) {
      return ir_op_error(g->l->ctx, last, "needs one value for each case");
    }
  }
  return true;
}

bool lower_blocks(lowering_t* l, ir_region_t* region, const lower_value_t* args, lower_value_t** results,
                  uint32_t* count) {
  if (region->first == region->last) return lower_block(l, region->first, args, results, count);
  cfg_t g = {.l = l};
  const ir_attr_t* type = ir_op_attr(region->parent, "function_type");
  g.type = type->type;
  IR_FOR_BLOCKS(block, region) {
    if (g.count == MAX_BLOCKS) return ir_error(l->ctx, l->b.loc, "the function has more than %d blocks", MAX_BLOCKS);
    g.blocks[g.count++] = block;
  }
  outcome_t end;
  if (!check_branches(&g)) return false;
  if (!run_from(&g, (outcome_t){0, args, region->first->arg_count}, &end)) return false;
  *count = end.count;
  *results = arena_copy(ir_context_arena(l->ctx), end.values, sizeof(lower_value_t) * (end.count + 1));
  return true;
}
