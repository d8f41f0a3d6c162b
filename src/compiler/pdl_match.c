// Matching of pdl patterns: from an operation to what its operands come of, and from values to further ops that use
// them, where several may fit.
#include <string.h>

#include "compiler/pdl_state.h"
#include "dialects/pdl.h"
#include "ir/parse.h"

static bool match_operation(pdl_t* p, const ir_op_t* pattern, ir_op_t* op);
static bool bind(pdl_t* p, ir_value_t* value, pdl_thing_t thing);

//===----------------------------------------------------------------------------------------------------------------===
// What values stand for
//===----------------------------------------------------------------------------------------------------------------===

static bool things_equal(const pdl_thing_t* a, const pdl_thing_t* b) {
  if (a->kind != b->kind || a->count != b->count) return false;
  if (a->kind == PDL_IS_OP) return a->op == b->op;
  if (a->kind == PDL_IS_ATTR) return spec_attr_fits(a->attr, b->attr);
  for (uint32_t i = 0; i < a->count; ++i) {
    if (a->kind == PDL_IS_VALUES ? a->values[i] != b->values[i] : a->types[i] != b->types[i]) return false;
  }
  return true;
}

static bool bind_types(pdl_t* p, ir_value_t* value, const pdl_thing_t* of) {
  const ir_type_t** types = ARENA_ARRAY(ir_context_arena(p->ctx), const ir_type_t*, of->count + 1);
  for (uint32_t i = 0; i < of->count; ++i) types[i] = of->values[i]->type;
  return bind(p, value, (pdl_thing_t){.kind = PDL_IS_TYPES, .count = of->count, .types = types});
}

static bool attribute_fits(pdl_t* p, const ir_op_t* def, const ir_attr_t* attr) {
  const ir_attr_t* value = ir_op_attr(def, "value");
  if (value && !spec_attr_fits(value, attr)) return false;
  if (!def->operand_count) return true;
  const ir_type_t** type = ARENA_NEW(ir_context_arena(p->ctx), const ir_type_t*);
  *type = ir_attr_own_type(attr);
  return *type && bind(p, ir_operand(def, 0), (pdl_thing_t){.kind = PDL_IS_TYPES, .count = 1, .types = type});
}

// One result by its number, or all of one op.
static bool results_fit(pdl_t* p, const ir_op_t* def, const pdl_thing_t* thing) {
  const ir_attr_t* index = ir_op_attr(def, "index");
  ir_op_t* op = thing->count ? thing->values[0]->def : NULL;
  if (!op || (!index && thing->count != op->result_count) || (index && thing->count != 1)) return false;
  int64_t first = index ? index->integer : 0;
  for (uint32_t i = 0; i < thing->count; ++i) {
    if (thing->values[i]->def != op || thing->values[i]->index != first + i) return false;
  }
  return bind(p, ir_operand(def, 0), (pdl_thing_t){.kind = PDL_IS_OP, .count = 1, .op = op});
}

// Whether what the value's op says of it is so.
static bool thing_fits(pdl_t* p, const ir_op_t* def, const pdl_thing_t* thing) {
  pdl_thing_t constant;
  if (thing->kind == PDL_IS_TYPES) return !pdl_constant_types(p, def, &constant) || things_equal(&constant, thing);
  if (ir_is(def, PDL_OPERATION)) return match_operation(p, def, thing->op);
  if (ir_is(def, PDL_ATTRIBUTE)) return attribute_fits(p, def, thing->attr);
  if (ir_is(def, PDL_RESULT) || ir_is(def, PDL_RESULTS)) return results_fit(p, def, thing);
  bool typed = (ir_is(def, PDL_OPERAND) || ir_is(def, PDL_OPERANDS)) && def->operand_count;
  return !typed || bind_types(p, ir_operand(def, 0), thing);
}

static pdl_kind_t kind_of(const ir_op_t* def) {
  if (ir_is(def, PDL_OPERATION)) return PDL_IS_OP;
  if (ir_is(def, PDL_ATTRIBUTE)) return PDL_IS_ATTR;
  return ir_is(def, PDL_TYPE) || ir_is(def, PDL_TYPES) ? PDL_IS_TYPES : PDL_IS_VALUES;
}

static bool bind(pdl_t* p, ir_value_t* value, pdl_thing_t thing) {
  if (value->data) return things_equal(value->data, &thing);
  if (!value->def || kind_of(value->def) != thing.kind) return false;
  pdl_remember(p, value, thing);
  return thing_fits(p, value->def, value->data);
}

//===----------------------------------------------------------------------------------------------------------------===
// Operations
//===----------------------------------------------------------------------------------------------------------------===

static bool is_range(const ir_value_t* value) {
  return value->type->kind == IR_TYPE_OPAQUE && strcmp(value->type->name, "pdl.range") == 0;
}

// How many each of the pattern's values takes of `all`: one that is no range one, a single range what the others leave,
// and of several ranges each what the op's attribute says that there is in its place.
static bool find_sizes(const ir_op_t* pattern, uint32_t first, uint32_t count, uint32_t all, const ir_op_t* op,
                       const char* segments, int64_t* sizes) {
  uint32_t ranges = 0;
  int64_t sum = 0;
  for (uint32_t i = 0; i < count; ++i) ranges += is_range(ir_operand(pattern, first + i));
  if (ranges ? ranges == 1 && all + 1 < count : all != count) return false;
  for (uint32_t i = 0; i < count; ++i)
    sizes[i] = is_range(ir_operand(pattern, first + i)) ? (int64_t)all + 1 - count : 1;
  if (ranges < 2) return true;
  if (ir_op_ints(op, segments, sizes, count) != count) return false;
  for (uint32_t i = 0; i < count; ++i) {
    bool fits = sizes[i] >= 0 && sizes[i] <= all && (sizes[i] == 1 || is_range(ir_operand(pattern, first + i)));
    if (!fits) return false;
    sum += sizes[i];
  }
  return sum == all;
}

static bool match_list(pdl_t* p, const ir_op_t* pattern, uint32_t first, uint32_t count, pdl_thing_t all,
                       const ir_op_t* op) {
  const char* segments = all.kind == PDL_IS_VALUES ? "operandSegmentSizes" : "resultSegmentSizes";
  int64_t* sizes = ARENA_ARRAY(ir_context_arena(p->ctx), int64_t, count + 1);
  uint32_t at = 0;
  if (!find_sizes(pattern, first, count, all.count, op, segments, sizes)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    pdl_thing_t part = all;
    part.count = (uint32_t)sizes[i];
    if (all.kind == PDL_IS_VALUES) part.values = all.values + at;
    if (all.kind == PDL_IS_TYPES) part.types = all.types + at;
    if (!bind(p, ir_operand(pattern, first + i), part)) return false;
    at += part.count;
  }
  return true;
}

static bool match_attributes(pdl_t* p, const ir_op_t* pattern, uint32_t first, uint32_t count, const ir_op_t* op) {
  const ir_attr_t* names = ir_op_attr(pattern, "attributeValueNames");
  for (uint32_t i = 0; i < count; ++i) {
    const ir_attr_t* attr = ir_op_attr(op, names->items[i]->text);
    if (!attr || !bind(p, ir_operand(pattern, first + i), (pdl_thing_t){.kind = PDL_IS_ATTR, .count = 1, .attr = attr}))
      return false;
  }
  return true;
}

static bool match_operation(pdl_t* p, const ir_op_t* pattern, ir_op_t* op) {
  arena_t* arena = ir_context_arena(p->ctx);
  const char* name = ir_op_string(pattern, "opName", NULL);
  int64_t counts[3];
  if ((name && strcmp(name, op->name)) || !pdl_segments(pattern, 3, counts)) return false;
  ir_value_t** operands = ARENA_ARRAY(arena, ir_value_t*, op->operand_count + 1);
  const ir_type_t** types = ARENA_ARRAY(arena, const ir_type_t*, op->result_count + 1);
  for (uint32_t i = 0; i < op->operand_count; ++i) operands[i] = ir_operand(op, i);
  for (uint32_t i = 0; i < op->result_count; ++i) types[i] = op->results[i].type;
  uint32_t values = (uint32_t)counts[0], attrs = (uint32_t)counts[1];
  pdl_thing_t ins = {.kind = PDL_IS_VALUES, .count = op->operand_count, .values = operands};
  pdl_thing_t outs = {.kind = PDL_IS_TYPES, .count = op->result_count, .types = types};
  return match_attributes(p, pattern, values, attrs, op) && match_list(p, pattern, 0, values, ins, op) &&
         match_list(p, pattern, values + attrs, (uint32_t)counts[2], outs, op);
}

// Values of the operation that others of the pattern have as well: its users are what may be it.
static const pdl_thing_t* known_operand(pdl_t* p, const ir_op_t* pattern) {
  int64_t counts[3];
  if (!pdl_segments(pattern, 3, counts)) return NULL;
  for (uint32_t i = 0; i < counts[0]; ++i) {
    const pdl_thing_t* thing = pdl_derive(p, ir_operand(pattern, i));
    if (thing && thing->kind == PDL_IS_VALUES && thing->count) return thing;
  }
  return NULL;
}

static bool is_bound(const pdl_t* p, const ir_op_t* op) {
  for (uint32_t i = 0; i < p->bound_count; ++i) {
    const pdl_thing_t* thing = p->bound[i]->data;
    if (thing->kind == PDL_IS_OP && thing->op == op) return true;
  }
  return false;
}

// Operations that were not found on the way, by what they share with those that were; they are others than those.
static bool match_rest(pdl_t* p) {
  ir_op_t* pattern = NULL;
  const pdl_thing_t* shared = NULL;
  for (uint32_t i = 0; i < p->operations.count && !shared; ++i) {
    if (p->operations.items[i]->results[0].data) continue;
    pattern = p->operations.items[i];
    shared = known_operand(p, pattern);
  }
  if (!shared) return !pattern;
  uint32_t mark = p->bound_count;
  IR_FOR_USES(use, shared->values[0]) {
    pdl_thing_t thing = {.kind = PDL_IS_OP, .count = 1, .op = use->owner};
    if (++p->tries > PDL_MAX_TRIES) return false;
    if (!is_bound(p, use->owner) && bind(p, &pattern->results[0], thing) && match_rest(p)) return true;
    pdl_forget(p, mark);
  }
  return false;
}

bool pdl_match(pdl_t* p, ir_op_t* op) {
  pdl_thing_t root = {.kind = PDL_IS_OP, .count = 1, .op = op};
  p->tries = 0;
  if (!bind(p, &p->operations.items[0]->results[0], root) || !match_rest(p)) return false;
  IR_FOR_OPS(constraint, p->operations.items[0]->parent) {
    if (ir_is(constraint, PDL_CONSTRAINT) && !pdl_holds(p, constraint)) return false;
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Constraints
//===----------------------------------------------------------------------------------------------------------------===

// checkTensorElementType(type, element); that it is one was asked before.
bool pdl_holds(pdl_t* p, const ir_op_t* constraint) {
  const pdl_thing_t *type = pdl_derive(p, ir_operand(constraint, 0)),
                    *element = pdl_derive(p, ir_operand(constraint, 1));
  bool known = type && element && type->kind == PDL_IS_TYPES && element->kind == PDL_IS_TYPES && type->count == 1 &&
               element->count == 1;
  bool holds = known && ir_type_is_tensor(type->types[0]) && type->types[0]->element == element->types[0];
  return holds != ir_op_flag(constraint, "isNegated");
}
