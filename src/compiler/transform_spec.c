// See transform_spec.h. Handles of the transform dialect are values of the spec that stand for ops or values of the
// program; a matcher that does not fit gives up, which is no error.
//
//   transform.named_sequence @match(%root) -> (...) {          // in the program
//     %ins, %outs = ...cast_compatible_dag_from_root %root {   %m = linalg.generic ... {mulf} ins(%a, %b)
//     ^bb0(%x: tensor<?xf32>, %y: tensor<?xf32>):              =>
//       ... linalg.generic ... {mulf} ins(%x, %y)              %c = tensor.cast %a; %d = tensor.cast %b
//     }                                                        %n = util.call @mul(%c, %d)
//     transform.yield %ins, %outs                              %m = tensor.cast %n
#include "compiler/transform_spec.h"

#include <string.h>

#include "compiler/spec.h"
#include "dialects/builtin.h"
#include "dialects/func.h"
#include "dialects/tensor.h"
#include "dialects/transform.h"
#include "dialects/util.h"

// At ir_value_t.data of the spec.
typedef struct handle_t {
  ir_op_t** ops;
  ir_value_t** values;
  uint32_t count;  // of ops, or of values
} handle_t;

enum { MAX_DEPTH = 16, MAX_PATTERN = 1024 };

typedef struct spec_t {
  ir_context_t* ctx;
  ir_op_t *module, *spec;
  uint32_t depth;  // of sequences that call each other
} spec_t;

typedef enum { OUTCOME_DONE, OUTCOME_NO_MATCH, OUTCOME_FAILED } outcome_t;

static outcome_t run_block(spec_t* s, ir_block_t* block, ir_op_t** out_yield);

static const handle_t* handle_of(const ir_op_t* op, uint32_t operand) {
  static const handle_t none;
  const handle_t* handle = ir_operand(op, operand)->data;
  return handle ? handle : &none;
}

static void set_handle(spec_t* s, ir_value_t* value, handle_t handle) {
  value->data = arena_copy(ir_context_arena(s->ctx), &handle, sizeof(handle));
}

static void set_op(spec_t* s, ir_value_t* value, ir_op_t* op) {
  ir_op_t** ops = ARENA_NEW(ir_context_arena(s->ctx), ir_op_t*);
  *ops = op;
  set_handle(s, value, (handle_t){.ops = ops, .count = 1});
}

static ir_op_t* only_op(const ir_op_t* op, uint32_t operand) {
  const handle_t* handle = handle_of(op, operand);
  return handle->ops && handle->count == 1 ? handle->ops[0] : NULL;
}

static outcome_t refuse(spec_t* s, const ir_op_t* op, const char* what) {
  ir_op_error(s->ctx, op, "%s", what);
  return OUTCOME_FAILED;
}

//===----------------------------------------------------------------------------------------------------------------===
// Patterns
//===----------------------------------------------------------------------------------------------------------------===

// What a pattern's values stand for is at their `data`.
static bool bind(const ir_value_t* pattern, ir_value_t* value) {
  ir_value_t* slot = (ir_value_t*)pattern;
  if (slot->data) return slot->data == value;
  if (!spec_types_fit(pattern->type, value->type)) return false;
  slot->data = value;
  return true;
}

static bool attrs_fit(const ir_op_t* pattern, const ir_op_t* op) {
  if (pattern->attr_count != op->attr_count) return false;
  for (uint32_t i = 0; i < pattern->attr_count; ++i) {
    if (!spec_attr_fits(pattern->attrs[i].value, ir_op_attr(op, pattern->attrs[i].name))) return false;
  }
  return true;
}

static bool match_op(const ir_op_t* pattern, ir_op_t* op, const ir_block_t* dag);

// Values of the pattern's own, of ops before it, or of nobody: its arguments.
static bool match_value(const ir_value_t* pattern, ir_value_t* value, const ir_block_t* dag) {
  if (pattern->data) return pattern->data == value;
  if (!pattern->def || pattern->def->parent != dag) return bind(pattern, value);
  if (!value->def || !match_op(pattern->def, value->def, dag)) return false;
  return pattern->data == value;
}

static bool match_bodies(const ir_op_t* pattern, const ir_op_t* op, const ir_block_t* dag) {
  for (uint32_t r = 0; r < pattern->region_count; ++r) {
    const ir_block_t *x = pattern->regions[r].first, *y = op->regions[r].first;
    if (!x != !y) return false;
    if (!x) continue;
    if (x->next || y->next || x->arg_count != y->arg_count) return false;
    for (uint32_t i = 0; i < x->arg_count; ++i) {
      if (!bind(x->args[i], y->args[i])) return false;
    }
    const ir_op_t* a = x->first;
    ir_op_t* b = y->first;
    for (; a && b; a = a->next, b = b->next) {
      if (!match_op(a, b, dag)) return false;
    }
    if (a || b) return false;
  }
  return true;
}

static bool match_op(const ir_op_t* pattern, ir_op_t* op, const ir_block_t* dag) {
  bool name_only = ir_op_attr(pattern, "match.operation_name_only") != NULL;
  if (strcmp(pattern->name, op->name) || pattern->result_count != op->result_count) return false;
  if (!name_only) {
    bool fits = pattern->operand_count == op->operand_count && pattern->region_count == op->region_count &&
                attrs_fit(pattern, op);
    for (uint32_t i = 0; fits && i < op->operand_count; ++i) {
      fits = match_value(ir_operand(pattern, i), ir_operand(op, i), dag);
    }
    if (!fits || !match_bodies(pattern, op, dag)) return false;
  }
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (!bind(ir_result((ir_op_t*)pattern, i), ir_result(op, i))) return false;
  }
  return true;
}

static void clear_data(const ir_block_t* block) {
  for (uint32_t i = 0; i < block->arg_count; ++i) block->args[i]->data = NULL;
  IR_FOR_OPS(op, block) {
    for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].data = NULL;
    for (uint32_t r = 0; r < op->region_count; ++r) {
      IR_FOR_BLOCKS(inner, &op->regions[r]) { clear_data(inner); }
    }
  }
}

static outcome_t run_dag(spec_t* s, ir_op_t* op) {
  const ir_block_t* dag = op->regions[0].first;
  ir_op_t* root = only_op(op, 0);
  uint32_t size = 0;
  if (!dag || !dag->last || !dag->last->result_count) return refuse(s, op, "needs a region whose last op has a result");
  for (const ir_op_t* inner = dag->first; inner; inner = inner->next) ++size;
  if (size > MAX_PATTERN) return refuse(s, op, "has more ops than 1024");
  clear_data(dag);
  if (!root || !match_op(dag->last, root, dag)) return OUTCOME_NO_MATCH;
  arena_t* arena = ir_context_arena(s->ctx);
  handle_t ins = {.values = ARENA_ARRAY(arena, ir_value_t*, dag->arg_count + 1), .count = dag->arg_count};
  handle_t outs = {.values = ARENA_ARRAY(arena, ir_value_t*, root->result_count), .count = root->result_count};
  for (uint32_t i = 0; i < ins.count; ++i) {
    ins.values[i] = dag->args[i]->data;
    if (!ins.values[i]) return refuse(s, op, "has an argument that its ops do not use");
  }
  for (uint32_t i = 0; i < outs.count; ++i) outs.values[i] = ir_result(root, i);
  set_handle(s, ir_result(op, 0), ins);
  set_handle(s, ir_result(op, 1), outs);
  return OUTCOME_DONE;
}

//===----------------------------------------------------------------------------------------------------------------===
// Searching
//===----------------------------------------------------------------------------------------------------------------===

static outcome_t run_match(spec_t* s, ir_op_t* op) {
  const ir_attr_t* names = ir_op_attr(op, "ops");
  const handle_t* in = handle_of(op, 0);
  spec_ops_t found = {0};
  if (!names || names->kind != IR_ATTR_ARRAY) return refuse(s, op, "needs names of ops");
  for (uint32_t i = 0; in->ops && i < in->count; ++i) spec_collect(s->ctx, in->ops[i], names, &found);
  set_handle(s, ir_result(op, 0), (handle_t){.ops = found.items, .count = found.count});
  return OUTCOME_DONE;
}

static outcome_t run_foreach(spec_t* s, ir_op_t* op) {
  const handle_t* handle = op->operand_count == 1 ? handle_of(op, 0) : NULL;
  ir_block_t* body = op->regions[0].first;
  ir_op_t* yield;
  if (!handle || !body || body->next || body->arg_count != 1)
    return refuse(s, op, "needs a handle and one block for it");
  for (uint32_t i = 0; handle->ops && i < handle->count; ++i) {
    set_op(s, body->args[0], handle->ops[i]);
    outcome_t outcome = run_block(s, body, &yield);
    if (outcome != OUTCOME_DONE) return outcome;
  }
  return OUTCOME_DONE;
}

// Runs the sequence with what the handles stand for.
static outcome_t call_sequence(spec_t* s, ir_op_t* op, const ir_attr_t* name, const handle_t* const* args,
                               uint32_t count, ir_op_t** yield) {
  ir_op_t* sequence = name->kind == IR_ATTR_SYMBOL ? ir_symbol_find(s->ctx, s->spec, name->text) : NULL;
  ir_block_t* body = ir_is(sequence, TRANSFORM_NAMED_SEQUENCE) ? sequence->regions[0].first : NULL;
  if (!body || body->arg_count != count)
    return refuse(s, op, "names a sequence that is not there, or has other arguments");
  for (uint32_t i = 0; i < count; ++i) set_handle(s, body->args[i], *args[i]);
  if (++s->depth > MAX_DEPTH) return refuse(s, op, "is in sequences that call each other too deep");
  outcome_t outcome = run_block(s, body, yield);
  --s->depth;
  return outcome;
}

static outcome_t try_pair(spec_t* s, ir_op_t* op, ir_op_t* candidate, uint32_t pair) {
  enum { MAX_PASSED = 16 };
  const ir_attr_t *matchers = ir_op_attr(op, "matchers"), *actions = ir_op_attr(op, "actions");
  ir_op_t* yield = NULL;
  handle_t root = {.ops = &candidate, .count = 1};
  const handle_t* passed[MAX_PASSED] = {&root};
  outcome_t outcome = call_sequence(s, op, matchers->items[pair], passed, 1, &yield);
  if (outcome != OUTCOME_DONE) return outcome;
  if (!yield || yield->operand_count > MAX_PASSED) return refuse(s, op, "has a matcher that yields too much");
  for (uint32_t i = 0; i < yield->operand_count; ++i) passed[i] = handle_of(yield, i);
  return call_sequence(s, op, actions->items[pair], passed, yield->operand_count, &yield);
}

// Ops that an action makes are not looked at.
static outcome_t run_foreach_match(spec_t* s, ir_op_t* op) {
  const ir_attr_t *matchers = ir_op_attr(op, "matchers"), *actions = ir_op_attr(op, "actions");
  spec_ops_t candidates = {0};
  bool paired = op->operand_count == 1 && matchers && actions && matchers->kind == IR_ATTR_ARRAY &&
                actions->kind == IR_ATTR_ARRAY && matchers->count == actions->count;
  if (!paired) return refuse(s, op, "needs a handle, and an action for each matcher");
  const handle_t* in = handle_of(op, 0);
  for (uint32_t i = 0; in->ops && i < in->count; ++i) spec_collect(s->ctx, in->ops[i], NULL, &candidates);
  for (uint32_t i = 0; i < candidates.count; ++i) {
    for (uint32_t k = 0; k < matchers->count; ++k) {
      outcome_t outcome = try_pair(s, op, candidates.items[i], k);
      if (outcome == OUTCOME_FAILED) return outcome;
      if (outcome == OUTCOME_DONE) break;
    }
  }
  if (op->result_count) set_handle(s, ir_result(op, 0), *in);
  return OUTCOME_DONE;
}

//===----------------------------------------------------------------------------------------------------------------===
// Replacing
//===----------------------------------------------------------------------------------------------------------------===

static outcome_t run_defining(spec_t* s, ir_op_t* op) {
  const handle_t* handle = handle_of(op, 0);
  ir_op_t* def = handle->values && handle->count ? handle->values[0]->def : NULL;
  if (!def) return OUTCOME_NO_MATCH;
  set_op(s, ir_result(op, 0), def);
  return OUTCOME_DONE;
}

static outcome_t run_import(spec_t* s, ir_op_t* op) {
  const ir_attr_t* symbol = ir_op_attr(op, "symbol");
  const char* name = symbol && symbol->kind == IR_ATTR_SYMBOL ? symbol->text : "";
  ir_op_t *there = ir_symbol_find(s->ctx, s->module, name), *own = ir_symbol_find(s->ctx, s->spec, name);
  if (there && !ir_op_attr(op, "if_undefined"))
    return refuse(s, op, "names a symbol that the program has: if undefined");
  if (!there && !own) return refuse(s, op, "names no symbol of the file");
  if (!there) {
    there = ir_op_clone(s->ctx, own, NULL);
    ir_block_append(ir_module_body(s->module), there);
  }
  set_op(s, ir_result(op, 0), there);
  return OUTCOME_DONE;
}

static bool may_cast(const ir_type_t* from, const ir_type_t* to, bool allowed) {
  return from == to || (allowed && (spec_types_fit(from, to) || spec_types_fit(to, from)));
}

static outcome_t run_call(spec_t* s, ir_op_t* op) {
  if (op->operand_count != 4) return refuse(s, op, "needs a function, values, values to replace and a place");
  const handle_t *ins = handle_of(op, 1), *outs = handle_of(op, 2);
  ir_op_t *func = only_op(op, 0), *place = only_op(op, 3);
  const ir_attr_t* attr = func ? ir_op_attr(func, "function_type") : NULL;
  const ir_type_t* type = attr && attr->kind == IR_ATTR_TYPE ? attr->type : NULL;
  const ir_block_t* conversion = op->regions[0].first;
  bool casts = conversion && ir_is(conversion->first, TRANSFORM_CAST_SHAPE);
  if (!type || type->kind != IR_TYPE_FUNCTION || !place || !ins->values || !outs->values ||
      type->input_count != ins->count || type->result_count != outs->count) {
    return refuse(s, op, "needs a function with an argument for each value and a result for each that is replaced");
  }
  bool fits = true;
  for (uint32_t i = 0; i < ins->count; ++i) fits &= may_cast(ins->values[i]->type, type->inputs[i], casts);
  for (uint32_t i = 0; i < outs->count; ++i) fits &= may_cast(type->results[i], outs->values[i]->type, casts);
  if (!fits) return refuse(s, op, "has values of other types; transform.type_conversion ops may allow casts");
  ir_builder_t b = ir_builder_before(s->ctx, place);
  if (!ir_op_attr(op, "insert_before")) b.before = place->next;
  b.loc = place->loc;
  set_op(
      s, ir_result(op, 0),
      spec_build_call(&b, func, (spec_values_t){ins->values, ins->count}, (spec_values_t){outs->values, outs->count}));
  return OUTCOME_DONE;
}

//===----------------------------------------------------------------------------------------------------------------===
// Sequences
//===----------------------------------------------------------------------------------------------------------------===

// What nobody uses goes anyway, and functions are inlined.
static outcome_t run_pass(spec_t* s, ir_op_t* op) {
  const char* name = ir_op_string(op, "pass_name", "");
  static const char* const implied[] = {"inline", "cse", "canonicalize", "symbol-dce"};
  for (size_t i = 0; i < sizeof(implied) / sizeof(implied[0]); ++i) {
    if (strcmp(name, implied[i])) continue;
    set_handle(s, ir_result(op, 0), *handle_of(op, 0));
    return OUTCOME_DONE;
  }
  return refuse(s, op, "names a pass that does not run here; inline, cse, canonicalize and symbol-dce do");
}

static outcome_t run_op(spec_t* s, ir_op_t* op) {
  if (ir_is(op, TRANSFORM_FOREACH)) return run_foreach(s, op);
  if (ir_is(op, TRANSFORM_FOREACH_MATCH)) return run_foreach_match(s, op);
  if (ir_is(op, TRANSFORM_STRUCTURED_MATCH)) return run_match(s, op);
  if (ir_is(op, TRANSFORM_MATCH_DAG)) return run_dag(s, op);
  if (ir_is(op, TRANSFORM_GET_DEFINING_OP)) return run_defining(s, op);
  if (ir_is(op, TRANSFORM_IMPORT_SYMBOL)) return run_import(s, op);
  if (ir_is(op, TRANSFORM_CAST_AND_CALL)) return run_call(s, op);
  if (ir_is(op, TRANSFORM_APPLY_PASS)) return run_pass(s, op);
  if (ir_is(op, TRANSFORM_APPLY_DCE) || ir_is(op, TRANSFORM_APPLY_CSE)) return OUTCOME_DONE;
  if (ir_is(op, TRANSFORM_GET_SYMBOL_TABLE)) return set_op(s, ir_result(op, 0), s->module), OUTCOME_DONE;
  return refuse(s, op, "does not run here; matching by cast_compatible_dag_from_root and util.cast_and_call do");
}

static outcome_t run_block(spec_t* s, ir_block_t* block, ir_op_t** out_yield) {
  *out_yield = NULL;
  IR_FOR_OPS(op, block) {
    if (ir_is(op, TRANSFORM_YIELD)) {
      *out_yield = op;
      return OUTCOME_DONE;
    }
    outcome_t outcome = run_op(s, op);
    if (outcome != OUTCOME_DONE) return outcome;
  }
  return OUTCOME_DONE;
}

bool transform_spec_apply(ir_context_t* ctx, ir_op_t* module, ir_op_t* spec) {
  spec_t s = {ctx, module, spec, 0};
  ir_op_t *main = ir_symbol_find(ctx, s.spec, "__transform_main"), *yield;
  ir_block_t* body = ir_is(main, TRANSFORM_NAMED_SEQUENCE) ? main->regions[0].first : NULL;
  if (!body || body->arg_count != 1) {
    return ir_error(ctx, s.spec->loc, "the file has no transform.named_sequence @__transform_main of one argument");
  }
  set_op(&s, body->args[0], module);
  outcome_t outcome = run_block(&s, body, &yield);
  if (outcome == OUTCOME_NO_MATCH) return ir_op_error(ctx, main, "matches outside of transform.foreach_match");
  return outcome == OUTCOME_DONE && ir_verify(ctx, module);
}

bool transform_spec_run(ir_context_t* ctx, ir_op_t* module, const char* path) {
  ir_op_t* spec = spec_load(ctx, path);
  return spec && transform_spec_apply(ctx, module, spec);
}
