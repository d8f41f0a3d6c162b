// ir_verify: structure (counts, terminators, successors, dominance, symbols), traits, then each op's own check.
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ir/context.h"
#include "ir/dominance.h"

enum { MAX_ERRORS = 20 };

typedef struct verifier_t {
  ir_context_t* ctx;
  dominance_t dominance;
  uint32_t errors;
} verifier_t;

static bool failed(verifier_t* v) {
  ++v->errors;
  return false;
}

//===----------------------------------------------------------------------------------------------------------------===
// Counts and traits
//===----------------------------------------------------------------------------------------------------------------===

static bool check_count(verifier_t* v, ir_op_t* op, int want, uint32_t have, const char* what) {
  if (want < 0 || (uint32_t)want == have) return true;
  return ir_op_error(v->ctx, op, "takes %d %s%s, got %u", want, what, want == 1 ? "" : "s", have);
}

static bool check_counts(verifier_t* v, ir_op_t* op) {
  const ir_op_info_t* info = op->info;
  return check_count(v, op, info->operands, op->operand_count, "operand") &&
         check_count(v, op, info->results, op->result_count, "result") &&
         check_count(v, op, info->regions, op->region_count, "region");
}

// The operand's or, behind them, the result's type.
static const ir_type_t* type_at(const ir_op_t* op, uint32_t i) {
  return i < op->operand_count ? ir_operand(op, i)->type : op->results[i - op->operand_count].type;
}

static bool same_shape(const ir_type_t* a, const ir_type_t* b) {
  bool shaped = ir_type_is_shaped(a);
  if (shaped != ir_type_is_shaped(b)) return false;
  if (!shaped || a->rank < 0 || b->rank < 0) return true;
  if (a->rank != b->rank) return false;
  for (int32_t i = 0; i < a->rank; ++i) {
    bool known = a->dims[i] != IR_DYNAMIC && b->dims[i] != IR_DYNAMIC;
    if (known && a->dims[i] != b->dims[i]) return false;
  }
  return true;
}

static bool check_types(verifier_t* v, ir_op_t* op) {
  uint32_t count = op->operand_count + op->result_count;
  for (uint32_t i = 1; i < count && ir_has_trait(op, IR_TRAIT_SAME_TYPE); ++i) {
    if (type_at(op, i) == type_at(op, 0)) continue;
    return ir_op_error(v->ctx, op, "requires the same type for all operands and results, got '%s' and '%s'",
                       ir_type_str(v->ctx, type_at(op, 0)), ir_type_str(v->ctx, type_at(op, i)));
  }
  for (uint32_t i = 1; i < count && ir_has_trait(op, IR_TRAIT_SAME_SHAPE); ++i) {
    if (same_shape(type_at(op, i), type_at(op, 0))) continue;
    return ir_op_error(v->ctx, op, "requires the same shape for all operands and results, got '%s' and '%s'",
                       ir_type_str(v->ctx, type_at(op, 0)), ir_type_str(v->ctx, type_at(op, i)));
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Operands and successors
//===----------------------------------------------------------------------------------------------------------------===

static bool check_operands(verifier_t* v, ir_op_t* op) {
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const ir_value_t* value = ir_operand(op, i);
    if (!value) return ir_op_error(v->ctx, op, "operand #%u is missing", i);
    switch (dominance_of(&v->dominance, value, op)) {
      case DOMINANCE_OK:
        continue;
      case DOMINANCE_ISOLATED:
        return ir_op_error(v->ctx, op, "using value defined outside the region: operand #%u", i);
      case DOMINANCE_NOT_BEFORE:
        ir_op_error(v->ctx, op, "operand #%u does not dominate this use", i);
        if (value->def) ir_note(v->ctx, value->def->loc, "operand defined here");
        return false;
      case DOMINANCE_DETACHED:
        return ir_op_error(v->ctx, op, "operand #%u is defined by an op or block that is not part of the module", i);
    }
  }
  return true;
}

static bool check_successor(verifier_t* v, ir_op_t* op, uint32_t i, uint32_t first) {
  const ir_block_t* block = op->successors[i];
  uint32_t count = op->successor_operand_counts[i];
  if (!block || !op->parent || block->parent != op->parent->parent) {
    return ir_op_error(v->ctx, op, "successor #%u is not in the same region", i);
  }
  if (block == block->parent->first) return ir_op_error(v->ctx, op, "entry block of region may not be a successor");
  if (ir_has_trait(op, IR_TRAIT_GIVES_ARGS))
    return count == 0 || ir_op_error(v->ctx, op, "hands its successors operands");
  if (count != block->arg_count) {
    return ir_op_error(v->ctx, op, "branch has %u operands for successor #%u, but target block has %u", count, i,
                       block->arg_count);
  }
  for (uint32_t k = 0; k < count; ++k) {
    const ir_type_t *have = ir_operand(op, first + k)->type, *want = block->args[k]->type;
    if (have == want) continue;
    return ir_op_error(v->ctx, op, "type mismatch for bb argument #%u of successor #%u: '%s' instead of '%s'", k, i,
                       ir_type_str(v->ctx, have), ir_type_str(v->ctx, want));
  }
  return true;
}

static bool check_successors(verifier_t* v, ir_op_t* op) {
  if (!op->successor_count || op->info->code == IR_CODE_UNREGISTERED) return true;
  uint32_t total = 0;
  if (!ir_has_trait(op, IR_TRAIT_TERMINATOR)) return ir_op_error(v->ctx, op, "with successors must be a terminator");
  for (uint32_t i = 0; i < op->successor_count; ++i) total += op->successor_operand_counts[i];
  if (total > op->operand_count) return ir_op_error(v->ctx, op, "has fewer operands than its successors take");
  uint32_t first = op->operand_count - total;
  for (uint32_t i = 0; i < op->successor_count; ++i) {
    if (!check_successor(v, op, i, first)) return false;
    first += op->successor_operand_counts[i];
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Regions
//===----------------------------------------------------------------------------------------------------------------===

static bool check_op(verifier_t* v, ir_op_t* op);

static bool check_terminator(verifier_t* v, ir_op_t* parent, const ir_block_t* block) {
  if (parent->info->code == IR_CODE_UNREGISTERED || ir_has_trait(parent, IR_TRAIT_NO_TERMINATOR)) return true;
  const ir_op_t* last = block->last;
  if (last && (ir_has_trait(last, IR_TRAIT_TERMINATOR) || last->info->code == IR_CODE_UNREGISTERED)) return true;
  if (!last) return ir_op_error(v->ctx, parent, "empty block: expect at least a terminator");
  return ir_op_error(v->ctx, last, "block with no terminator, has this op at its end");
}

static bool check_block(verifier_t* v, ir_op_t* parent, ir_block_t* block) {
  bool ok = true;
  IR_FOR_OPS(op, block) {
    if (op->parent != block) return ir_op_error(v->ctx, op, "is in a block that it does not know");
    if (!check_op(v, op)) ok = failed(v);
    if (ir_has_trait(op, IR_TRAIT_TERMINATOR) && op->next) {
      ir_op_error(v->ctx, op, "must be the last operation in the parent block");
      ok = failed(v);
    }
    if (v->errors >= MAX_ERRORS) return false;
    dominance_add(&v->dominance, op);
  }
  return check_terminator(v, parent, block) && ok;
}

static int compare_names(const void* a, const void* b) {
  const ir_op_t *x = *(ir_op_t* const*)a, *y = *(ir_op_t* const*)b;
  int order = strcmp(ir_op_string(x, "sym_name", ""), ir_op_string(y, "sym_name", ""));
  bool earlier = x->loc->line < y->loc->line || (x->loc->line == y->loc->line && x->loc->column < y->loc->column);
  return order ? order : earlier ? -1 : 1;
}

// Symbols of one table have different names.
static bool check_symbols(verifier_t* v, ir_op_t* table) {
  uint32_t count = 0;
  bool ok = true;
  IR_FOR_OPS(op, table->regions[0].first) count += ir_has_trait(op, IR_TRAIT_SYMBOL);
  if (count < 2) return true;
  ir_op_t** symbols = memory_alloc(sizeof(*symbols) * count);
  count = 0;
  IR_FOR_OPS(op, table->regions[0].first) {
    if (ir_has_trait(op, IR_TRAIT_SYMBOL) && ir_op_string(op, "sym_name", NULL)) symbols[count++] = op;
  }
  qsort(symbols, count, sizeof(*symbols), compare_names);
  for (uint32_t i = 1; ok && i < count; ++i) {
    const char* name = ir_op_string(symbols[i], "sym_name", "");
    if (strcmp(name, ir_op_string(symbols[i - 1], "sym_name", "")) != 0) continue;
    ok = ir_error(v->ctx, symbols[i]->loc, "redefinition of symbol named '%s'", name);
    ir_note(v->ctx, symbols[i - 1]->loc, "see existing symbol definition here");
  }
  memory_free(symbols);
  return ok;
}

static bool check_region(verifier_t* v, ir_op_t* op, ir_region_t* region) {
  bool ok = true;
  if (region->parent != op) return ir_op_error(v->ctx, op, "has a region that does not know it");
  if (ir_has_trait(op, IR_TRAIT_SINGLE_BLOCK) && region->first && region->first->next) {
    return ir_op_error(v->ctx, op, "expects a region with one block");
  }
  IR_FOR_BLOCKS(block, region) {
    if (!check_block(v, op, block)) ok = failed(v);
    if (v->errors >= MAX_ERRORS) return false;
  }
  return ok;
}

static bool check_op(verifier_t* v, ir_op_t* op) {
  if (!check_counts(v, op) || !check_operands(v, op) || !check_successors(v, op) || !check_types(v, op)) return false;
  if (ir_has_trait(op, IR_TRAIT_SYMBOL) && !ir_op_string(op, "sym_name", NULL)) {
    return ir_op_error(v->ctx, op, "needs a string attribute 'sym_name'");
  }
  bool ok = true;
  for (uint32_t i = 0; i < op->region_count; ++i) ok = check_region(v, op, &op->regions[i]) && ok;
  if (ok && ir_has_trait(op, IR_TRAIT_NO_TERMINATOR) && op->region_count && op->regions[0].first) {
    ok = check_symbols(v, op);
  }
  return ok && (!op->info->verify || op->info->verify(v->ctx, op));
}

bool ir_verify(ir_context_t* ctx, ir_op_t* op) {
  verifier_t v = {.ctx = ctx};
  dominance_init(&v.dominance);
  bool ok = check_op(&v, op);
  dominance_finish(&v.dominance);
  return ok;
}
