// Dead code: pure ops nobody uses, and state that no function loads or stores (weights that became constants).
#include <string.h>

#include "dialects/graph.h"
#include "ir/context.h"
#include "passes/passes.h"

static bool is_dead(const ir_op_t* op) {
  if (!ir_has_trait(op, IR_TRAIT_PURE) || op->result_count == 0) return false;
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (op->results[i].uses) return false;
  }
  return true;
}

// Backwards, so that one sweep removes whole chains.
static bool visit(ir_op_t* parent) {
  bool changed = false;
  for (uint32_t r = 0; r < parent->region_count; ++r) {
    IR_FOR_BLOCKS(block, &parent->regions[r]) {
      for (ir_op_t *op = block->last, *previous; op; op = previous) {
        previous = op->prev;
        if (is_dead(op)) {
          ir_op_erase(op);
          changed = true;
        } else {
          changed |= visit(op);
        }
      }
    }
  }
  return changed;
}

static uint64_t name_hash(const void* name) { return ir_hash_bytes(name, strlen(name)); }

static bool name_equal(const void* x, const void* y) { return strcmp(x, y) == 0; }

// Names of the globals that ops of a region load or store.
static void note_accesses(ir_set_t* names, ir_op_t* parent) {
  for (uint32_t r = 0; r < parent->region_count; ++r) {
    IR_FOR_BLOCKS(block, &parent->regions[r]) {
      IR_FOR_OPS(op, block) {
        bool accesses = ir_is(op, GRAPH_GLOBAL_LOAD) || ir_is(op, GRAPH_GLOBAL_STORE);
        const char* name = accesses ? ir_op_string(op, "global", "") : NULL;
        if (name && !ir_set_find(names, name_hash(name), name, name_equal)) {
          ir_set_insert(names, name_hash(name), (void*)(uintptr_t)name, name_hash);
        }
        note_accesses(names, op);
      }
    }
  }
}

static bool drop_globals(ir_op_t* module) {
  ir_set_t names = {0};
  bool changed = false;
  note_accesses(&names, module);
  IR_FOR_OPS_SAFE(op, ir_module_body(module)) {
    const char* name = ir_is(op, GRAPH_GLOBAL) ? ir_op_string(op, "sym_name", "") : NULL;
    if (!name || ir_set_find(&names, name_hash(name), name, name_equal)) continue;
    ir_op_erase(op);
    changed = true;
  }
  ir_set_finish(&names);
  return changed;
}

pass_result_t pass_dce(ir_op_t* module, ir_context_t* ctx) {
  (void)ctx;
  bool code = visit(module), globals = drop_globals(module);
  return code || globals ? PASS_CHANGED : PASS_UNCHANGED;
}
