// Dispatches that do not need one another next to each other, so that no barrier comes between them and a GPU runs them
// side by side: small ones leave most of it idle.
//
//   %q = dispatch @q(%x)                 %q = dispatch @q(%x)
//   %r = dispatch @turn(%q)              %k = dispatch @k(%x)
//   %k = dispatch @k(%x)            =>   %r = dispatch @turn(%q)
//   %s = dispatch @turn(%k)              %s = dispatch @turn(%k)
//
// A straight run of ops is a sequence of rounds. A dispatch belongs to the round after the last one whose results it
// needs, if that is one of the last few: values that are made early live long. A large one fills the GPU by itself and
// stays where it is. What the host does comes between rounds, as early as it can: a store of a global behind all that
// used what was loaded before, a load behind the stores before it, all that comes after an assert behind that. A
// dispatch that updates an array comes after those that read it as it was (in_place.c).
#include <string.h>

#include "base/memory.h"
#include "dialects/graph.h"
#include "ir/context.h"
#include "passes/fusion.h"
#include "passes/passes.h"

enum {
  MAX_BACK = 4,           // rounds that a dispatch may come earlier
  LARGE_BYTES = 4 << 20,  // of a dispatch's results
  MOST_BYTES = 16 << 20,  // of results that come earlier in one round
  MOST_MOVED = 31,        // dispatches that do
};

// Of the dispatches that come earlier than they did, in one round.
typedef struct moved_t {
  uint32_t count;
  int64_t bytes;
} moved_t;

// What a run did with a global so far: rounds.
typedef struct global_t {
  uint32_t run, stored, read;
} global_t;

typedef struct schedule_t {
  ir_context_t* ctx;
  ir_op_t* module;
  global_t* globals;  // ir_op_t.data of a global counts them from 1
  uint32_t global_count;
  ir_op_t** ops;  // of the run
  uint32_t count, capacity;
  uint32_t run;    // which one
  moved_t* moved;  // by round
  uint32_t moved_capacity;
  uint32_t rounds;   // so far
  uint32_t checked;  // round of the last assert
  bool moves;        // a dispatch comes earlier than it did
  bool changed;
} schedule_t;

// ir_op_t.data of an op of the run: 0 where it has no place yet, else twice its round, one more for the host's ops
// behind the round, and one.
static uint32_t place_of(const ir_op_t* op) { return (uint32_t)(uintptr_t)op->data; }
static uint32_t round_of(const ir_op_t* op) { return (place_of(op) - 1) / 2; }
static void set_place(ir_op_t* op, uint32_t round) {
  op->data = (void*)(uintptr_t)(2 * round + !ir_is(op, GRAPH_DISPATCH) + 1);
}

static uint32_t later(uint32_t a, uint32_t b) { return a > b ? a : b; }

//===----------------------------------------------------------------------------------------------------------------===
// Rounds
//===----------------------------------------------------------------------------------------------------------------===

static global_t* find_global(schedule_t* s, const ir_op_t* access) {
  const ir_op_t* op = ir_symbol_find(s->ctx, s->module, ir_op_string(access, "global", ""));
  global_t* global = &s->globals[op ? (uintptr_t)op->data : 0];
  if (global->run != s->run) *global = (global_t){.run = s->run};
  return global;
}

static bool is_view(const ir_op_t* op) {
  return op->operand_count && op->result_count && ir_type_is_tensor(op->results[0].type) &&
         ir_has_trait(op, IR_TRAIT_PURE);
}

static void note_reads(schedule_t* s, const ir_op_t* op) {
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const ir_op_t* def = ir_operand(op, i)->def;
    while (def && is_view(def)) def = ir_operand(def, 0)->def;
    if (!def || !ir_is(def, GRAPH_GLOBAL_LOAD) || !place_of(def)) continue;
    global_t* global = find_global(s, def);
    global->read = later(global->read, round_of(op));
  }
}

// The last round whose results it needs.
static uint32_t needed_round(schedule_t* s, const ir_op_t* op) {
  uint32_t round = ir_is(op, GRAPH_DISPATCH) || ir_is(op, GRAPH_ASSERT) ? s->checked : 0;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const ir_op_t* def = ir_operand(op, i)->def;
    if (def && place_of(def)) round = later(round, round_of(def));
  }
  return round;
}

// Of its results; INT64_MAX: not known.
static int64_t bytes_of(const ir_op_t* dispatch) {
  int64_t bytes = 0;
  for (uint32_t i = 0; i < dispatch->result_count; ++i) {
    const ir_type_t* type = dispatch->results[i].type;
    if (!ir_type_is_tensor(type)) continue;
    if (!ir_type_is_static(type)) return INT64_MAX;
    bytes += ir_type_count(type) * ir_type_bytes(type->element);
    if (bytes >= LARGE_BYTES) return INT64_MAX;
  }
  return bytes;
}

// The first round from `round` on that has room, or the last.
static uint32_t find_room(schedule_t* s, uint32_t round, int64_t bytes) {
  if (bytes == INT64_MAX || round + MAX_BACK < s->rounds) return later(round, s->rounds);
  for (; round < s->rounds; ++round) {
    moved_t* moved = &s->moved[round];
    if (moved->count == MOST_MOVED || moved->bytes + bytes > MOST_BYTES) continue;
    *moved = (moved_t){moved->count + 1, moved->bytes + bytes};
    s->moves = true;
    break;
  }
  return round;
}

static void open_round(schedule_t* s, uint32_t round) {
  if (round >= s->moved_capacity) {
    s->moved_capacity = 2 * round + 64;
    s->moved = memory_resize(s->moved, sizeof(*s->moved) * s->moved_capacity);
  }
  s->moved[round] = (moved_t){0};
  s->rounds = round;
}

static uint32_t round_of_dispatch(schedule_t* s, const ir_op_t* op) {
  uint32_t round = needed_round(s, op) + 1;
  int32_t updated = dispatch_updated_operand(op);
  if (updated >= 0) {
    IR_FOR_USES(use, ir_operand(op, (uint32_t)updated)) {
      if (use->owner->parent == op->parent && place_of(use->owner)) round = later(round, round_of(use->owner));
    }
  }
  round = find_room(s, round, updated < 0 ? bytes_of(op) : 0);
  if (round > s->rounds) open_round(s, round);
  return round;
}

static void place(schedule_t* s, ir_op_t* op) {
  global_t* global = NULL;
  uint32_t round = ir_is(op, GRAPH_DISPATCH) ? round_of_dispatch(s, op) : needed_round(s, op);
  if (ir_is(op, GRAPH_GLOBAL_LOAD) || ir_is(op, GRAPH_GLOBAL_STORE)) global = find_global(s, op);
  if (global) round = later(round, global->stored);
  if (ir_is(op, GRAPH_GLOBAL_STORE)) round = global->stored = later(round, global->read);
  if (ir_is(op, GRAPH_ASSERT)) s->checked = round;
  set_place(op, round);
  note_reads(s, op);
}

//===----------------------------------------------------------------------------------------------------------------===
// Runs
//===----------------------------------------------------------------------------------------------------------------===

// Whether it may change places with its neighbours.
static bool is_movable(const ir_op_t* op) {
  if (ir_is(op, GRAPH_DISPATCH)) return graph_in_place(op) < 0;
  if (graph_is_window(op)) return false;
  return ir_is(op, GRAPH_GLOBAL_LOAD) || ir_is(op, GRAPH_GLOBAL_STORE) || ir_is(op, GRAPH_ASSERT) ||
         (ir_has_trait(op, IR_TRAIT_PURE) && !op->region_count && !ir_is(op, GRAPH_TO_SCALAR));
}

// In the order of their places before `end`, those of one place as they were.
static void sort_ops(schedule_t* s, ir_op_t* end) {
  uint32_t places = 2 * s->rounds + 3;
  uint32_t* starts = memory_resize(NULL, sizeof(*starts) * (places + 1));
  ir_op_t** sorted = memory_resize(NULL, sizeof(*sorted) * (s->count + 1));
  memset(starts, 0, sizeof(*starts) * (places + 1));
  for (uint32_t i = 0; i < s->count; ++i) ++starts[place_of(s->ops[i]) + 1];
  for (uint32_t i = 0; i < places; ++i) starts[i + 1] += starts[i];
  for (uint32_t i = 0; i < s->count; ++i) sorted[starts[place_of(s->ops[i])]++] = s->ops[i];
  for (uint32_t i = 0; i < s->count; ++i) ir_op_move_before(sorted[i], end);
  memory_free(sorted);
  memory_free(starts);
}

static void end_run(schedule_t* s, ir_op_t* end) {
  if (s->moves) sort_ops(s, end);
  s->changed |= s->moves;
  for (uint32_t i = 0; i < s->count; ++i) s->ops[i]->data = NULL;
  s->count = s->rounds = s->checked = 0;
  s->moves = false;
  ++s->run;
}

static void add(schedule_t* s, ir_op_t* op) {
  if (s->count == s->capacity) {
    s->capacity = s->capacity ? 2 * s->capacity : 256;
    s->ops = memory_resize(s->ops, sizeof(*s->ops) * s->capacity);
  }
  s->ops[s->count++] = op;
  place(s, op);
}

static void schedule_block(schedule_t* s, ir_block_t* block) {
  for (ir_op_t *op = block->first, *next; op; op = next) {
    next = op->next;
    if (is_movable(op)) {
      add(s, op);
      continue;
    }
    end_run(s, op);
    for (uint32_t i = 0; !ir_is(op, GRAPH_DISPATCH) && i < op->region_count; ++i) {
      IR_FOR_BLOCKS(inner, &op->regions[i]) schedule_block(s, inner);
    }
  }
}

static void clear(ir_op_t* op) {
  op->data = NULL;
  for (uint32_t i = 0; !ir_is(op, GRAPH_DISPATCH) && i < op->region_count; ++i) {
    IR_FOR_BLOCKS(block, &op->regions[i]) { IR_FOR_OPS(inner, block) clear(inner); }
  }
}

pass_result_t pass_schedule(ir_op_t* module, ir_context_t* ctx) {
  schedule_t s = {.ctx = ctx, .module = module, .run = 1};
  clear(module);
  IR_FOR_OPS(op, ir_module_body(module)) {
    if (ir_is(op, GRAPH_GLOBAL)) op->data = (void*)(uintptr_t)++s.global_count;
  }
  s.globals = memory_resize(NULL, sizeof(*s.globals) * (s.global_count + 1));
  memset(s.globals, 0, sizeof(*s.globals) * (s.global_count + 1));
  IR_FOR_OPS(func, ir_module_body(module)) {
    if (!strcmp(func->name, "func.func") && func->regions[0].first) schedule_block(&s, func->regions[0].first);
  }
  IR_FOR_OPS(op, ir_module_body(module)) op->data = NULL;  // globals: runs clear their own
  memory_free(s.globals);
  memory_free(s.moved);
  memory_free(s.ops);
  return s.changed ? PASS_CHANGED : PASS_UNCHANGED;
}
