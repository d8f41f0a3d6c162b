// See pdl_spec.h. A pattern's values stand for ops, values, types and attributes of the program (pdl_state.h); the
// patterns are tried in order of their benefit, on each op of the program, until none matches.
//
//   pdl.pattern : benefit(1) {                                          // in the program
//     %x = pdl.operand                                                  %1 = math.exp %0
//     %e = pdl.operation "math.exp"(%x : !pdl.value) -> ...             %2 = math.log %1
//     %y = pdl.result 0 of %e                                           =>
//     %l = pdl.operation "math.log"(%y : !pdl.value) -> ...             %2 is %0
//     pdl.rewrite %l { pdl.replace %l with (%x : !pdl.value) }
//   }
#include "compiler/pdl_spec.h"

#include <string.h>

#include "compiler/pdl_state.h"
#include "dialects/builtin.h"
#include "dialects/pdl.h"

enum { MAX_ROUNDS = 10, MAX_PATTERN = 1024 };

pdl_outcome_t pdl_refuse(pdl_t* p, const ir_op_t* op, const char* what) {
  ir_op_error(p->ctx, op, "%s", what);
  return PDL_FAILED;
}

void pdl_forget(pdl_t* p, uint32_t count) {
  while (p->bound_count > count) p->bound[--p->bound_count]->data = NULL;
}

void pdl_remember(pdl_t* p, ir_value_t* value, pdl_thing_t thing) {
  arena_t* arena = ir_context_arena(p->ctx);
  if (p->bound_count == p->bound_capacity) {
    uint32_t capacity = p->bound_capacity ? 2 * p->bound_capacity : 64;
    ir_value_t** bound = ARENA_ARRAY(arena, ir_value_t*, capacity);
    if (p->bound_count) memcpy(bound, p->bound, sizeof(*bound) * p->bound_count);
    p->bound = bound;
    p->bound_capacity = capacity;
  }
  p->bound[p->bound_count++] = value;
  value->data = arena_copy(arena, &thing, sizeof(thing));
}

bool pdl_segments(const ir_op_t* op, uint32_t count, int64_t* out) {
  int64_t sum = 0;
  if (ir_op_ints(op, "operandSegmentSizes", out, count) != count) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (out[i] < 0 || out[i] > op->operand_count) return false;
    sum += out[i];
  }
  return sum == op->operand_count;
}

//===----------------------------------------------------------------------------------------------------------------===
// What follows from other things
//===----------------------------------------------------------------------------------------------------------------===

bool pdl_list(pdl_t* p, const ir_op_t* op, uint32_t first, uint32_t count, pdl_kind_t kind, pdl_thing_t* out) {
  uint32_t total = 0, at = 0;
  const pdl_thing_t** things = ARENA_ARRAY(ir_context_arena(p->ctx), const pdl_thing_t*, count + 1);
  for (uint32_t i = 0; i < count; ++i) {
    things[i] = pdl_derive(p, ir_operand(op, first + i));
    if (!things[i] || things[i]->kind != kind) return false;
    total += things[i]->count;
  }
  const void** items = ARENA_ARRAY(ir_context_arena(p->ctx), const void*, total + 1);
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t k = 0; k < things[i]->count; ++k) {
      items[at++] = kind == PDL_IS_TYPES ? (const void*)things[i]->types[k] : (const void*)things[i]->values[k];
    }
  }
  *out = (pdl_thing_t){.kind = kind, .count = total};
  if (kind == PDL_IS_TYPES) out->types = (const ir_type_t* const*)items;
  if (kind == PDL_IS_VALUES) out->values = (ir_value_t* const*)items;
  return true;
}

bool pdl_constant_types(pdl_t* p, const ir_op_t* def, pdl_thing_t* out) {
  const ir_attr_t* constant = ir_op_attr(def, ir_is(def, PDL_TYPE) ? "constantType" : "constantTypes");
  if (!constant) return false;
  bool many = constant->kind == IR_ATTR_ARRAY;
  uint32_t count = many ? constant->count : 1;
  const ir_type_t** types = ARENA_ARRAY(ir_context_arena(p->ctx), const ir_type_t*, count + 1);
  for (uint32_t i = 0; i < count; ++i) {
    const ir_attr_t* item = many ? constant->items[i] : constant;
    if (item->kind != IR_ATTR_TYPE) return false;
    types[i] = item->type;
  }
  *out = (pdl_thing_t){.kind = PDL_IS_TYPES, .count = count, .types = types};
  return true;
}

static bool derive_results(pdl_t* p, const ir_op_t* def, pdl_thing_t* out) {
  const ir_attr_t* index = ir_op_attr(def, "index");
  const pdl_thing_t* of = ir_operand(def, 0)->data;
  if (!of || of->kind != PDL_IS_OP) return false;
  uint32_t count = of->op->result_count;
  if (index && (index->kind != IR_ATTR_INTEGER || index->integer < 0 || index->integer >= count)) return false;
  ir_value_t** values = ARENA_ARRAY(ir_context_arena(p->ctx), ir_value_t*, count + 1);
  for (uint32_t i = 0; i < count; ++i) values[i] = ir_result(of->op, i);
  *out = (pdl_thing_t){.kind = PDL_IS_VALUES, .count = index ? 1 : count, .values = values};
  if (index) out->values += index->integer;
  return true;
}

static bool derive(pdl_t* p, const ir_op_t* def, pdl_thing_t* out) {
  if (ir_is(def, PDL_TYPE) || ir_is(def, PDL_TYPES)) return pdl_constant_types(p, def, out);
  if (ir_is(def, PDL_RESULT) || ir_is(def, PDL_RESULTS)) return derive_results(p, def, out);
  if (ir_is(def, PDL_ATTRIBUTE)) {
    *out = (pdl_thing_t){.kind = PDL_IS_ATTR, .count = 1, .attr = ir_op_attr(def, "value")};
    return out->attr;
  }
  if (!ir_is(def, PDL_RANGE)) return false;
  const ir_name_t body = def->results[0].type->body;
  bool types = body && strcmp(body, "type") == 0;
  return pdl_list(p, def, 0, def->operand_count, types ? PDL_IS_TYPES : PDL_IS_VALUES, out);
}

const pdl_thing_t* pdl_derive(pdl_t* p, ir_value_t* value) {
  pdl_thing_t thing;
  if (value->data || !value->def || !derive(p, value->def, &thing)) return value->data;
  return arena_copy(ir_context_arena(p->ctx), &thing, sizeof(thing));
}

//===----------------------------------------------------------------------------------------------------------------===
// Patterns
//===----------------------------------------------------------------------------------------------------------------===

static bool check_operation(pdl_t* p, const ir_op_t* op) {
  const ir_attr_t* names = ir_op_attr(op, "attributeValueNames");
  int64_t counts[3];
  bool ok = pdl_segments(op, 3, counts) && (!counts[1] || (names && names->kind == IR_ATTR_ARRAY)) &&
            (!names || names->count == counts[1]);
  for (uint32_t i = 0; ok && i < counts[1]; ++i) ok = names->items[i]->kind == IR_ATTR_STRING;
  return ok || ir_op_error(p->ctx, op, "needs a name for each value of an attribute, and operandSegmentSizes");
}

static bool check_constraint(pdl_t* p, const ir_op_t* op) {
  bool known = strcmp(ir_op_string(op, "name", ""), "checkTensorElementType") == 0;
  if (known && op->operand_count == 2 && !op->result_count) return true;
  return ir_op_error(p->ctx, op, "is of no constraint that is there: checkTensorElementType(type, element) is");
}

// Ops of the rewrite too, whose regions have no regions.
static bool check_ops(pdl_t* p, const ir_block_t* block, bool rewrite, uint32_t* size) {
  IR_FOR_OPS(op, block) {
    if (++*size > MAX_PATTERN) return ir_op_error(p->ctx, op, "is the 1025th op of its pattern; 1024 may be");
    if (ir_op_dialect(op) != IR_DIALECT_PDL || ir_is(op, PDL_PATTERN) || (rewrite && ir_is(op, PDL_REWRITE))) {
      return ir_op_error(p->ctx, op, "is no op of pdl that a pattern can have here");
    }
    if (ir_is(op, PDL_OPERATION) && !check_operation(p, op)) return false;
    if (ir_is(op, PDL_CONSTRAINT) && !check_constraint(p, op)) return false;
    bool indexed = ir_is(op, PDL_RESULT) || ir_is(op, PDL_RESULTS);
    const ir_attr_t* index = indexed ? ir_op_attr(op, "index") : NULL;
    if ((index && index->kind != IR_ATTR_INTEGER) || (ir_is(op, PDL_RESULT) && !index)) {
      return ir_op_error(p->ctx, op, "needs the number of a result");
    }
    for (uint32_t r = 0; r < op->region_count; ++r) {
      const ir_block_t* inner = op->regions[r].first;
      if (inner && !check_ops(p, inner, true, size)) return false;
    }
  }
  return true;
}

// Whether another operation of the pattern has a result of it.
static bool is_used(const ir_op_t* op) {
  IR_FOR_USES(use, &op->results[0]) {
    if (!ir_is(use->owner, PDL_RESULT) && !ir_is(use->owner, PDL_RESULTS)) continue;
    IR_FOR_USES(of, &use->owner->results[0]) {
      if (ir_is(of->owner, PDL_OPERATION) && of->owner->parent == op->parent) return true;
    }
  }
  return false;
}

// The operation that stands for the whole is the first of the list: the last that no other one uses.
static bool open_pattern(pdl_t* p, const ir_op_t* pattern) {
  ir_block_t* block = pattern->regions[0].first;
  ir_op_t* root = NULL;
  p->operations.count = 0;
  pdl_forget(p, 0);
  IR_FOR_OPS(op, block) {
    if (ir_is(op, PDL_OPERATION) && !is_used(op)) root = op;
  }
  if (!root) return ir_op_error(p->ctx, pattern, "needs a pdl.operation that no other one uses");
  spec_add_op(p->ctx, &p->operations, root);
  IR_FOR_OPS(op, block) {
    if (ir_is(op, PDL_OPERATION) && op != root) spec_add_op(p->ctx, &p->operations, op);
  }
  return true;
}

// In order of benefit; those of the same as they are written.
static bool list_patterns(pdl_t* p) {
  IR_FOR_OPS(op, ir_module_body(p->spec)) {
    uint32_t size = 0;
    if (!ir_is(op, PDL_PATTERN)) continue;
    ir_block_t* block = op->regions[0].first;
    if (!block || !ir_is(block->last, PDL_REWRITE)) return ir_op_error(p->ctx, op, "has to end with a pdl.rewrite");
    if (!check_ops(p, block, false, &size) || !open_pattern(p, op)) return false;
    spec_add_op(p->ctx, &p->patterns, op);
    for (uint32_t i = p->patterns.count - 1; i > 0; --i) {
      ir_op_t** pair = &p->patterns.items[i - 1];
      if (ir_op_int(pair[0], "benefit", 0) >= ir_op_int(pair[1], "benefit", 0)) break;
      ir_op_t* first = pair[0];
      pair[0] = pair[1];
      pair[1] = first;
    }
  }
  return p->patterns.count || ir_error(p->ctx, p->spec->loc, "the file has no pdl.pattern");
}

//===----------------------------------------------------------------------------------------------------------------===
// Rounds
//===----------------------------------------------------------------------------------------------------------------===

static pdl_outcome_t run_patterns(pdl_t* p, ir_op_t* op) {
  for (uint32_t i = 0; i < p->patterns.count; ++i) {
    ir_op_t* pattern = p->patterns.items[i];
    if (!open_pattern(p, pattern)) return PDL_FAILED;
    bool matches = pdl_match(p, op);
    if (p->tries > PDL_MAX_TRIES) return pdl_refuse(p, pattern, "may be in too many places: operands tell them apart");
    if (!matches) continue;
    return pdl_rewrite(p, pattern->regions[0].first->last, op);
  }
  return PDL_NO_MATCH;
}

// Each op that the program has at the beginning and still has when its turn comes.
static pdl_outcome_t run_round(pdl_t* p) {
  spec_ops_t ops = {0};
  pdl_outcome_t result = PDL_NO_MATCH;
  spec_collect(p->ctx, p->module, NULL, &ops);
  for (uint32_t i = 0; i < ops.count; ++i) {
    if (!ir_op_is_inside(ops.items[i], p->module)) continue;
    pdl_outcome_t outcome = run_patterns(p, ops.items[i]);
    if (outcome == PDL_FAILED) return PDL_FAILED;
    if (outcome == PDL_DONE) result = PDL_DONE;
  }
  return result;
}

bool pdl_spec_apply(ir_context_t* ctx, ir_op_t* module, ir_op_t* spec) {
  pdl_t p = {.ctx = ctx, .module = module, .spec = spec};
  if (!list_patterns(&p)) return false;
  for (uint32_t round = 0; round < MAX_ROUNDS; ++round) {
    pdl_outcome_t outcome = run_round(&p);
    if (outcome != PDL_DONE) return outcome == PDL_NO_MATCH && ir_verify(ctx, module);
  }
  return ir_op_error(ctx, p.patterns.items[0], "and those beside it match after 10 rounds still; they have to end");
}

bool pdl_spec_run(ir_context_t* ctx, ir_op_t* module, const char* path) {
  ir_op_t* spec = spec_load(ctx, path);
  return spec && pdl_spec_apply(ctx, module, spec);
}
