// See dominance.h. Dominators by Cooper, Harvey and Kennedy: intersect predecessors in reverse postorder until nothing
// changes.
#include "ir/dominance.h"

#include <string.h>

#include "base/memory.h"

typedef struct block_t {
  const ir_block_t* block;
  uint32_t number;  // postorder; 0 is unreachable
  struct block_t* idom;
  struct block_t** predecessors;
  uint32_t predecessor_count, predecessor_capacity;
} block_t;

typedef struct tree_t {
  const ir_region_t* region;
  block_t* blocks;
  uint32_t count;
  ir_set_t by_block;
} tree_t;

static uint64_t pointer_hash(const void* p) { return ir_hash_mix(0, (uintptr_t)p); }
static bool pointer_equal(const void* a, const void* key) { return a == key; }
static uint64_t block_hash(const void* a) { return pointer_hash(((const block_t*)a)->block); }
static bool block_equal(const void* a, const void* key) { return ((const block_t*)a)->block == key; }
static uint64_t tree_hash(const void* a) { return pointer_hash(((const tree_t*)a)->region); }
static bool tree_equal(const void* a, const void* key) { return ((const tree_t*)a)->region == key; }

void dominance_init(dominance_t* d) {
  memset(d, 0, sizeof(*d));
  arena_init(&d->arena);
}
void dominance_finish(dominance_t* d) {
  for (size_t i = 0; i < d->regions.capacity; ++i) {
    tree_t* tree = d->regions.slots[i];
    if (tree) ir_set_finish(&tree->by_block);
  }
  ir_set_finish(&d->regions);
  ir_set_finish(&d->passed);
  arena_finish(&d->arena);
}
void dominance_add(dominance_t* d, ir_op_t* op) {
  if (op->result_count) ir_set_insert(&d->passed, pointer_hash(op), op, pointer_hash);
}

static block_t* find_block(const tree_t* tree, const ir_block_t* block) {
  return ir_set_find(&tree->by_block, pointer_hash(block), block, block_equal);
}

static void add_predecessor(dominance_t* d, block_t* to, block_t* from) {
  if (to->predecessor_count == to->predecessor_capacity) {
    uint32_t capacity = to->predecessor_capacity ? to->predecessor_capacity * 2 : 2;
    block_t** wider = ARENA_ARRAY(&d->arena, block_t*, capacity);
    if (to->predecessor_count) memcpy(wider, to->predecessors, sizeof(*wider) * to->predecessor_count);
    to->predecessors = wider;
    to->predecessor_capacity = capacity;
  }
  to->predecessors[to->predecessor_count++] = from;
}

// Postorder without recursion; `order` receives the reachable blocks.
static uint32_t postorder(const tree_t* tree, block_t** order) {
  typedef struct frame_t {
    block_t* block;
    uint32_t next;
  } frame_t;
  frame_t* stack = memory_array(tree->count, sizeof(*stack));
  bool* seen = memory_array(tree->count, sizeof(*seen));
  uint32_t depth = 1, count = 0;
  stack[0].block = &tree->blocks[0];
  seen[0] = true;
  while (depth) {
    frame_t* frame = &stack[depth - 1];
    const ir_op_t* last = frame->block->block->last;
    if (last && frame->next < last->successor_count) {
      block_t* to = find_block(tree, last->successors[frame->next++]);
      if (!to || seen[to - tree->blocks]) continue;
      seen[to - tree->blocks] = true;
      stack[depth++] = (frame_t){to, 0};
    } else {
      order[count++] = frame->block;
      frame->block->number = count;
      --depth;
    }
  }
  memory_free(stack);
  memory_free(seen);
  return count;
}

static block_t* intersect(block_t* a, block_t* b) {
  while (a != b) {
    while (a->number < b->number) a = a->idom;
    while (b->number < a->number) b = b->idom;
  }
  return a;
}

static void find_dominators(tree_t* tree) {
  block_t** order = memory_array(tree->count, sizeof(*order));
  uint32_t count = postorder(tree, order);
  tree->blocks[0].idom = &tree->blocks[0];
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = count - 1; i-- > 0;) {
      block_t *block = order[i], *idom = NULL;
      for (uint32_t k = 0; k < block->predecessor_count; ++k) {
        block_t* from = block->predecessors[k];
        if (from->number && from->idom) idom = idom ? intersect(idom, from) : from;
      }
      changed |= block->idom != idom;
      block->idom = idom;
    }
  }
  memory_free(order);
}

static const tree_t* tree_of(dominance_t* d, const ir_region_t* region) {
  tree_t* tree = ir_set_find(&d->regions, pointer_hash(region), region, tree_equal);
  if (tree) return tree;
  tree = ARENA_NEW(&d->arena, tree_t);
  tree->region = region;
  IR_FOR_BLOCKS(block, region) tree->count += 1;
  tree->blocks = ARENA_ARRAY(&d->arena, block_t, tree->count);
  uint32_t i = 0;
  IR_FOR_BLOCKS(block, region) {
    tree->blocks[i].block = block;
    ir_set_insert(&tree->by_block, pointer_hash(block), &tree->blocks[i++], block_hash);
  }
  for (i = 0; i < tree->count; ++i) {
    const ir_op_t* last = tree->blocks[i].block->last;
    for (uint32_t k = 0; last && k < last->successor_count; ++k) {
      block_t* to = find_block(tree, last->successors[k]);
      if (to) add_predecessor(d, to, &tree->blocks[i]);
    }
  }
  find_dominators(tree);
  ir_set_insert(&d->regions, pointer_hash(region), tree, tree_hash);
  return tree;
}

static bool block_dominates(dominance_t* d, const ir_block_t* a, const ir_block_t* b) {
  const tree_t* tree = tree_of(d, b->parent);
  const block_t *from = find_block(tree, a), *to = find_block(tree, b);
  if (!from || !to) return false;
  if (!to->number) return true;  // unreachable: never runs
  if (!from->number) return false;
  while (to->number < from->number) to = to->idom;
  return to == from;
}

// Order does not matter in a module, nor where nothing is known about the op.
static bool is_graph_region(const ir_region_t* region) {
  const ir_op_t* parent = region->parent;
  return !parent || parent->info->code == IR_CODE_UNREGISTERED || ir_has_trait(parent, IR_TRAIT_NO_TERMINATOR);
}

dominance_result_t dominance_of(dominance_t* d, const ir_value_t* value, const ir_op_t* op) {
  const ir_block_t* block = value->def ? value->def->parent : value->block;
  if (!block || !block->parent) return DOMINANCE_DETACHED;
  bool isolated = false;
  while (op && op->parent && op->parent->parent != block->parent) {
    op = ir_op_parent(op);
    isolated |= op && ir_has_trait(op, IR_TRAIT_ISOLATED);
  }
  if (isolated) return DOMINANCE_ISOLATED;
  if (!op || !op->parent) return DOMINANCE_DETACHED;
  if (is_graph_region(block->parent)) return DOMINANCE_OK;
  if (op->parent != block) return block_dominates(d, block, op->parent) ? DOMINANCE_OK : DOMINANCE_NOT_BEFORE;
  if (!value->def) return DOMINANCE_OK;
  bool before = ir_set_find(&d->passed, pointer_hash(value->def), value->def, pointer_equal) != NULL;
  return before ? DOMINANCE_OK : DOMINANCE_NOT_BEFORE;
}
