// See rewrite.h.
#include "ir/rewrite.h"

#include "base/memory.h"
#include "ir/context.h"

enum { MAX_VISITS = 32, MAX_GROWTH = 64 };  // looks at one op; rewrites for each op at the start

typedef struct item_t {
  ir_op_t* op;
  uint32_t visits;
  bool queued, erased;
} item_t;

typedef struct work_t {
  ir_context_t* ctx;
  arena_t arena;
  ir_set_t items;
  item_t** queue;  // a stack: last in, first out
  size_t count, capacity;
} work_t;

static uint64_t op_hash(const void* op) { return ir_hash_mix(0, (uintptr_t)op); }
static uint64_t item_hash(const void* a) { return op_hash(((const item_t*)a)->op); }
static bool item_equal(const void* a, const void* key) { return ((const item_t*)a)->op == key; }

static void push(work_t* w, ir_op_t* op) {
  item_t* item = ir_set_find(&w->items, op_hash(op), op, item_equal);
  if (!item) {
    item = ARENA_NEW(&w->arena, item_t);
    item->op = op;
    ir_set_insert(&w->items, item_hash(item), item, item_hash);
  }
  if (item->queued || item->erased || item->visits >= MAX_VISITS) return;
  item->queued = true;
  if (w->count == w->capacity) {
    w->capacity = w->capacity ? w->capacity * 2 : 256;
    w->queue = memory_resize(w->queue, sizeof(*w->queue) * w->capacity);
  }
  w->queue[w->count++] = item;
}

// In reverse, so that the stack gives them in order.
static void push_inside(work_t* w, ir_op_t* op) {
  for (uint32_t r = op->region_count; r-- > 0;) {
    for (ir_block_t* block = op->regions[r].last; block; block = block->prev) {
      for (ir_op_t* inner = block->last; inner; inner = inner->prev) {
        push(w, inner);
        push_inside(w, inner);
      }
    }
  }
}

static bool is_dead(const ir_op_t* op) {
  if (!ir_has_trait(op, IR_TRAIT_PURE) || ir_has_trait(op, IR_TRAIT_TERMINATOR) || !op->result_count) return false;
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (op->results[i].uses) return false;
  }
  return true;
}

static void erase(work_t* w, item_t* item) {
  ir_op_t* op = item->op;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (ir_operand(op, i)->def) push(w, ir_operand(op, i)->def);
  }
  item->erased = true;
  ir_op_erase(op);
}

static bool replace(work_t* w, ir_op_t* op, ir_value_t* value) {
  if (!value || value == ir_result(op, 0)) return false;
  IR_FOR_USES(use, ir_result(op, 0)) push(w, use->owner);
  ir_value_replace(ir_result(op, 0), value);
  push(w, op);  // to be erased when nothing else needs it
  if (value->def) push(w, value->def);
  return true;
}

bool rewrite_greedily(ir_context_t* ctx, ir_op_t* root, const rewrite_fn_t* rules, uint32_t count) {
  work_t w = {.ctx = ctx};
  bool changed = false;
  arena_init(&w.arena);
  push_inside(&w, root);
  uint64_t budget = MAX_GROWTH * ((uint64_t)w.count + 16);
  while (w.count) {
    item_t* item = w.queue[--w.count];
    item->queued = false;
    ++item->visits;
    if (item->erased) continue;
    if (is_dead(item->op)) {
      erase(&w, item);
      changed = true;
      continue;
    }
    if (!item->op->result_count || !item->op->results[0].uses) continue;
    for (uint32_t i = 0; i < count && budget; ++i) {
      ir_builder_t b = ir_builder_before(ctx, item->op);
      if (!replace(&w, item->op, rules[i](&b, item->op))) continue;
      changed = true;
      --budget;
      break;
    }
  }
  memory_free(w.queue);
  ir_set_finish(&w.items);
  arena_finish(&w.arena);
  return changed;
}

bool rewrite_each(ir_op_t* root, bool (*fn)(void* user, ir_op_t* op), void* user) {
  bool changed = false;
  for (uint32_t r = 0; r < root->region_count; ++r) {
    IR_FOR_BLOCKS(block, &root->regions[r]) {
      IR_FOR_OPS_SAFE(op, block) {
        changed |= rewrite_each(op, fn, user);
        changed |= fn(user, op);
      }
    }
  }
  return changed;
}
