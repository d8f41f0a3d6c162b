// Updates of some elements of an array in the array's own memory: state that a call changes (a cache of keys, say) is
// neither copied nor read for it.
//
//   %x = global_load @c                         %x = global_load @c
//   %y = dispatch(%x, %p, %i) ({                %y = dispatch(%x, %p, %i) <{in_place = 0}> ...
//     yield dynamic_update %0, %1, %2 })   =>
//   global_store %y, @c                         global_store %y, @c
//
// Such a dispatch writes the new elements alone, and its result is where its operand is. An array may be changed so
// when nobody reads it as it was any more: what a dispatch made, for the last time; what a loop carries on; what a
// caller gives up (compiler/donate.h); and what a global has, when the result is stored there again with no other use
// of the global between. Several updates behind each other are a chain, of which all are in place or none.
#include <string.h>

#include "passes/donation.h"
#include "passes/fusion.h"
#include "passes/passes.h"

typedef struct places_t {
  ir_context_t* ctx;
  ir_op_t** accesses;  // loads and stores of globals, in order
  uint32_t count, capacity;
  bool changed;
} places_t;

// When an op comes, before those in its regions; noted at ir_op_t.data.
static uintptr_t moment(const ir_op_t* op) { return (uintptr_t)op->data; }

static void note_access(places_t* p, ir_op_t* op) {
  if (p->count == p->capacity) {
    p->capacity = p->capacity ? 2 * p->capacity : 16;
    ir_op_t** grown = ARENA_ARRAY(ir_context_arena(p->ctx), ir_op_t*, p->capacity);
    if (p->count) memcpy(grown, p->accesses, sizeof(*grown) * p->count);
    p->accesses = grown;
  }
  p->accesses[p->count++] = op;
}

static void number_ops(places_t* p, ir_block_t* block, uintptr_t* next) {
  IR_FOR_OPS(op, block) {
    op->data = (void*)++*next;
    if (ir_is(op, GRAPH_GLOBAL_LOAD) || ir_is(op, GRAPH_GLOBAL_STORE)) note_access(p, op);
    for (uint32_t r = 0; !ir_is(op, GRAPH_DISPATCH) && r < op->region_count; ++r) {
      IR_FOR_BLOCKS(inner, &op->regions[r]) number_ops(p, inner, next);
    }
  }
}

static void clear_ops(ir_block_t* block) {
  IR_FOR_OPS(op, block) {
    op->data = NULL;
    for (uint32_t r = 0; !ir_is(op, GRAPH_DISPATCH) && r < op->region_count; ++r) {
      IR_FOR_BLOCKS(inner, &op->regions[r]) clear_ops(inner);
    }
  }
}

// The op of `block` that is `op` or around it; NULL where there is none.
static const ir_op_t* around(const ir_op_t* op, const ir_block_t* block) {
  while (op && op->parent != block) op = ir_op_parent(op);
  return op;
}

//===----------------------------------------------------------------------------------------------------------------===
// Links of a chain
//===----------------------------------------------------------------------------------------------------------------===

int32_t dispatch_updated_operand(const ir_op_t* dispatch) {
  const ir_block_t* body = dispatch->regions[0].first;
  const ir_op_t *yield = body->last, *update = yield->operand_count == 1 ? ir_operand(yield, 0)->def : NULL;
  bool moves = update && ir_is(update, GRAPH_DYNAMIC_UPDATE), scatters = update && ir_is(update, GRAPH_SCATTER);
  if (dispatch->result_count != 1 || (!moves && !scatters)) return -1;
  const ir_value_t* array = ir_operand(update, 0);
  if (array->def || array->block != body || !ir_has_one_use(array)) return -1;
  if (array->type != update->results[0].type) return -1;
  IR_FOR_OPS(op, body) {  // sums and products have kernels that give whole results
    fusion_class_t class = fusion_class(op);
    if (op != update && (class == FUSION_REDUCE || class == FUSION_HEAVY)) return -1;
  }
  return (int32_t)array->index;
}

// The dispatch that makes `value` of an operand which nothing needs any more then, or NULL.
static const ir_op_t* updating(const ir_value_t* value) {
  const ir_op_t* op = value->def;
  int32_t operand = op && ir_is(op, GRAPH_DISPATCH) ? dispatch_updated_operand(op) : -1;
  if (operand < 0) return NULL;
  const ir_use_t* own = &op->operands[operand];
  IR_FOR_USES(use, own->value) {
    if (use != own && (use->owner == op || moment(use->owner) > moment(op))) return NULL;
  }
  return op;
}

static ir_value_t* updated(const ir_op_t* dispatch) {
  return ir_operand(dispatch, (uint32_t)dispatch_updated_operand(dispatch));
}

// Updates behind each other, all in one block.
typedef struct chain_t {
  const ir_op_t *first, *last;  // NULL: none
  ir_value_t* start;            // what the first changes
} chain_t;

// That which makes `value`.
static chain_t chain_of(ir_value_t* value) {
  chain_t c = {.start = value};
  for (const ir_op_t* op; (op = updating(c.start));) {
    ir_value_t* before = updated(op);
    if ((before->def ? before->def->parent : before->block) != op->parent) break;
    if (!c.last) c.last = op;
    c.first = op;
    c.start = before;
  }
  return c;
}

static bool makes(const chain_t* c, const ir_value_t* value) {
  for (const ir_op_t* op = c->last; op; op = op == c->first ? NULL : updated(op)->def) {
    if (value == &op->results[0]) return true;
  }
  return false;
}

static void mark(places_t* p, const chain_t* c) {
  for (const ir_value_t* value = &c->last->results[0]; value != c->start; value = updated(value->def)) {
    int32_t operand = dispatch_updated_operand(value->def);
    ir_op_set_attr(p->ctx, value->def, "in_place", ir_attr_i64(p->ctx, operand));
    p->changed = true;
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Globals
//===----------------------------------------------------------------------------------------------------------------===

static bool is_of_global(const ir_op_t* op, const char* name) {
  return strcmp(ir_op_string(op, "global", ""), name) == 0;
}

// Whether all uses of a value come before the op `limit`.
static bool is_used_before(const ir_value_t* value, const ir_op_t* limit) {
  IR_FOR_USES(use, value) {
    if (moment(use->owner) >= moment(limit)) return false;
  }
  return true;
}

// The value whose memory an array has.
static const ir_value_t* home_of(const ir_value_t* array) {
  while (array->def && ir_is(array->def, GRAPH_DISPATCH) && graph_in_place(array->def) >= 0) {
    array = ir_operand(array->def, (uint32_t)graph_in_place(array->def));
  }
  return array;
}

// Whether another load neither sees the array change too early nor finds it half changed.
static bool tolerates_load(const chain_t* c, const ir_op_t* store, const ir_op_t* load) {
  if (moment(load) > moment(store)) return true;
  if (moment(load) > moment(c->start->def)) return false;
  const ir_op_t* limit = around(c->first, load->parent);  // a loop, if the load is outside of one
  return !limit || is_used_before(&load->results[0], limit);
}

// Whether another store leaves what the chain made alone as long as it is needed, and the chain what that stored, which
// may be in the global's memory, too.
static bool tolerates_store(const chain_t* c, const ir_op_t* store, const ir_op_t* other) {
  const ir_value_t* stored = ir_operand(other, 0);
  if (moment(other) < moment(c->start->def)) {
    const ir_op_t* first = around(c->first, other->parent);
    return !first || home_of(stored) == stored || is_used_before(stored, first);
  }
  if (moment(other) < moment(store)) return other->parent == store->parent && makes(c, stored);
  const ir_op_t* limit = around(other, store->parent);
  return !limit || is_used_before(&c->last->results[0], limit);
}

static void visit_store(places_t* p, ir_op_t* store) {
  chain_t c = chain_of(ir_operand(store, 0));
  const char* name = ir_op_string(store, "global", "");
  bool fits = c.last && c.last->parent == store->parent && c.start->def && ir_is(c.start->def, GRAPH_GLOBAL_LOAD) &&
              is_of_global(c.start->def, name);
  for (uint32_t i = 0; fits && i < p->count; ++i) {
    const ir_op_t* other = p->accesses[i];
    if (other == store || other == c.start->def || !is_of_global(other, name)) continue;
    fits = ir_is(other, GRAPH_GLOBAL_STORE) ? tolerates_store(&c, store, other) : tolerates_load(&c, store, other);
  }
  if (fits) mark(p, &c);
}

//===----------------------------------------------------------------------------------------------------------------===
// Loops, and what dispatches made
//===----------------------------------------------------------------------------------------------------------------===

// As how many results of its region or function a value leaves it.
static uint32_t leaves(const ir_value_t* value) {
  uint32_t count = 0;
  IR_FOR_USES(use, value) count += ir_has_trait(use->owner, IR_TRAIT_TERMINATOR);
  return count;
}

static void visit_loop(places_t* p, ir_op_t* loop) {
  const ir_block_t* body = loop->regions[1].first;
  for (uint32_t i = 0; i < body->last->operand_count; ++i) {
    chain_t c = chain_of(ir_operand(body->last, i));
    bool carried = c.last && !c.start->def && c.start->block == body && c.start->index == i;
    if (carried && leaves(&c.last->results[0]) == 1) mark(p, &c);
  }
}

// What callers give up becomes the result; where a call gives up nothing the host program copies it first.
static void visit_arguments(places_t* p, const ir_op_t* func) {
  const ir_block_t* body = func->regions[0].first;
  donated_t donated;
  for (uint32_t i = 0; i < body->arg_count; ++i) {
    if (!donation_read(func, i, &donated)) continue;
    chain_t c = chain_of(donated.result);
    bool fits = c.last && c.start == donated.argument && leaves(donated.result) == 1;
    IR_FOR_USES(use, donated.argument) fits &= !ir_is(use->owner, GRAPH_CALL_IMPORT);
    if (fits) mark(p, &c);
  }
}

// Results of regions and functions have places of their own.
static void visit_dispatch(places_t* p, ir_op_t* dispatch) {
  if (graph_in_place(dispatch) >= 0 || leaves(&dispatch->results[0]) || !updating(&dispatch->results[0])) return;
  const ir_op_t *before = updated(dispatch)->def, *home = home_of(updated(dispatch))->def;
  if (!before || before->parent != dispatch->parent || !home || !ir_is(home, GRAPH_DISPATCH)) return;
  mark(p, &(chain_t){dispatch, dispatch, updated(dispatch)});
}

static void visit_block(places_t* p, ir_block_t* block) {
  IR_FOR_OPS(op, block) {
    if (ir_is(op, GRAPH_DISPATCH)) continue;
    if (ir_is(op, GRAPH_GLOBAL_STORE)) visit_store(p, op);
    if (ir_is(op, GRAPH_WHILE)) visit_loop(p, op);
    for (uint32_t r = 0; r < op->region_count; ++r) {
      IR_FOR_BLOCKS(inner, &op->regions[r]) visit_block(p, inner);
    }
  }
  IR_FOR_OPS(op, block) {
    if (ir_is(op, GRAPH_DISPATCH)) visit_dispatch(p, op);
  }
}

pass_result_t pass_in_place(ir_op_t* module, ir_context_t* ctx) {
  places_t p = {.ctx = ctx};
  IR_FOR_OPS(func, ir_module_body(module)) {
    ir_block_t* body = strcmp(func->name, "func.func") == 0 ? func->regions[0].first : NULL;
    uintptr_t next = 0;
    if (!body) continue;
    p.count = 0;
    number_ops(&p, body, &next);
    visit_block(&p, body);
    visit_arguments(&p, func);
    clear_ops(body);
  }
  return p.changed ? PASS_CHANGED : PASS_UNCHANGED;
}
