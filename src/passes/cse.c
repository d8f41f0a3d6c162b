// Common subexpressions: of two equal pure ops in a block the second's results are the first's. Constants too.
//
//   %0 = graph.exp %x;  %1 = graph.exp %x;  use %1     =>     %0 = graph.exp %x;  use %0
#include <string.h>

#include "base/memory.h"
#include "passes/passes.h"

typedef struct table_t {
  ir_op_t** slots;
  size_t capacity;  // power of two
} table_t;

static uint64_t mix(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x9e3779b97f4a7c15ull ^ hash >> 29; }

static uint64_t hash_op(const ir_op_t* op) {
  uint64_t hash = op->info->code;
  for (uint32_t i = 0; i < op->operand_count; ++i) hash = mix(hash, (uintptr_t)ir_operand(op, i));
  for (uint32_t i = 0; i < op->attr_count; ++i) hash = mix(hash, (uintptr_t)op->attrs[i].value);
  return hash ^ hash >> 32;
}

static bool equal_ops(const ir_op_t* x, const ir_op_t* y) {
  if (x->info != y->info || x->operand_count != y->operand_count || x->attr_count != y->attr_count ||
      x->result_count != y->result_count) {
    return false;
  }
  for (uint32_t i = 0; i < x->operand_count; ++i) {
    if (ir_operand(x, i) != ir_operand(y, i)) return false;
  }
  for (uint32_t i = 0; i < x->result_count; ++i) {
    if (x->results[i].type != y->results[i].type) return false;
  }
  for (uint32_t i = 0; i < x->attr_count; ++i) {
    if (x->attrs[i].name != y->attrs[i].name || x->attrs[i].value != y->attrs[i].value) return false;
  }
  return true;
}

static ir_op_t* find_or_add(table_t* table, ir_op_t* op) {
  size_t at = hash_op(op) & (table->capacity - 1);
  for (; table->slots[at]; at = (at + 1) & (table->capacity - 1)) {
    if (equal_ops(table->slots[at], op)) return table->slots[at];
  }
  table->slots[at] = op;
  return NULL;
}

static bool visit_block(ir_context_t* ctx, ir_block_t* block);

static bool visit_regions(ir_context_t* ctx, ir_op_t* op) {
  bool changed = false;
  for (uint32_t r = 0; r < op->region_count; ++r) {
    IR_FOR_BLOCKS(block, &op->regions[r]) changed |= visit_block(ctx, block);
  }
  return changed;
}

static bool visit_block(ir_context_t* ctx, ir_block_t* block) {
  size_t count = 0;
  IR_FOR_OPS(op, block)++ count;
  table_t table = {.capacity = 64};
  while (table.capacity < 2 * count) table.capacity *= 2;
  table.slots = memory_array(table.capacity, sizeof(*table.slots));
  bool changed = false;
  IR_FOR_OPS_SAFE(op, block) {
    changed |= visit_regions(ctx, op);
    if (!ir_has_trait(op, IR_TRAIT_PURE) || op->region_count || !op->result_count) continue;
    ir_op_t* first = find_or_add(&table, op);
    if (!first) continue;
    for (uint32_t i = 0; i < op->result_count; ++i) ir_value_replace(ir_result(op, i), ir_result(first, i));
    ir_op_erase(op);
    changed = true;
  }
  memory_free(table.slots);
  return changed;
}

pass_result_t pass_cse(ir_op_t* module, ir_context_t* ctx) {
  return visit_regions(ctx, module) ? PASS_CHANGED : PASS_UNCHANGED;
}
