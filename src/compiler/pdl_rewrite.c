// What a pattern's rewrite makes of what was found. New ops come in front of its root, or of what the whole matched.
#include <string.h>

#include "compiler/pdl_state.h"
#include "dialects/pdl.h"
#include "ir/assembly.h"

//===----------------------------------------------------------------------------------------------------------------===
// New operations
//===----------------------------------------------------------------------------------------------------------------===

// The op whose results those of the new one are put in place of, or NULL.
static ir_op_t* replaced_by(const ir_op_t* operation) {
  IR_FOR_USES(use, &operation->results[0]) {
    if (!ir_is(use->owner, PDL_REPLACE) || ir_operand(use->owner, 0) == &operation->results[0]) continue;
    const pdl_thing_t* thing = ir_operand(use->owner, 0)->data;
    if (thing && thing->kind == PDL_IS_OP) return thing->op;
  }
  return NULL;
}

// Types that the file leaves out are those of what is replaced, or follow from the operands.
static bool infer_types(pdl_t* p, const ir_op_t* operation, const ir_op_info_t* info, pdl_thing_t* types) {
  ir_op_t* model = replaced_by(operation);
  types->count = info && info->results >= 0 ? (uint32_t)info->results : 0;
  if (model) types->count = model->result_count;
  const ir_type_t** items = ARENA_ARRAY(ir_context_arena(p->ctx), const ir_type_t*, types->count + 1);
  for (uint32_t i = 0; i < types->count; ++i) {
    items[i] = model ? model->results[i].type : ir_type_none(p->ctx);
  }
  types->types = items;
  return !model && types->count;
}

static pdl_outcome_t make_op(pdl_t* p, ir_builder_t* b, ir_op_t* op) {
  const char* name = ir_op_string(op, "opName", NULL);
  const ir_attr_t* names = ir_op_attr(op, "attributeValueNames");
  pdl_thing_t operands, types;
  int64_t counts[3];
  if (!name) return pdl_refuse(p, op, "needs the name of the op to make");
  pdl_segments(op, 3, counts);
  uint32_t values = (uint32_t)counts[0], attrs = (uint32_t)counts[1];
  ir_named_attr_t* entries = ARENA_ARRAY(ir_context_arena(p->ctx), ir_named_attr_t, attrs + 1);
  bool known = pdl_list(p, op, 0, values, PDL_IS_VALUES, &operands) &&
               pdl_list(p, op, values + attrs, (uint32_t)counts[2], PDL_IS_TYPES, &types);
  for (uint32_t i = 0; known && i < attrs; ++i) {
    const pdl_thing_t* thing = pdl_derive(p, ir_operand(op, values + i));
    known = thing && thing->kind == PDL_IS_ATTR;
    if (known) entries[i] = (ir_named_attr_t){names->items[i]->text, thing->attr};
  }
  if (!known) return pdl_refuse(p, op, "has an operand, attribute or type that nothing says");
  const ir_op_info_t* info = ir_context_find_op(p->ctx, name);
  bool infers = !counts[2] && infer_types(p, op, info, &types);
  ir_op_t* made = ir_build(b, &(ir_op_state_t){.info = info,
                                               .name = info ? info->name : ir_intern_cstr(p->ctx, name),
                                               .operands = operands.values,
                                               .operand_count = operands.count,
                                               .result_types = types.types,
                                               .result_count = types.count,
                                               .attrs = entries,
                                               .attr_count = attrs});
  if (infers && !ir_assembly_infer(p->ctx, made)) {
    return pdl_refuse(p, op,
                      "needs the types of its results, -> (%type : !pdl.type): they do not follow from its operands");
  }
  pdl_remember(p, &op->results[0], (pdl_thing_t){.kind = PDL_IS_OP, .count = 1, .op = made});
  return PDL_DONE;
}

//===----------------------------------------------------------------------------------------------------------------===
// Replacing
//===----------------------------------------------------------------------------------------------------------------===

static bool is_erased(const pdl_t* p, const ir_op_t* op) {
  for (uint32_t i = 0; i < p->erased.count; ++i) {
    if (p->erased.items[i] == op) return true;
  }
  return false;
}

// The op that is still there, or NULL.
static ir_op_t* op_of(pdl_t* p, const ir_op_t* op, uint32_t operand) {
  const pdl_thing_t* thing = pdl_derive(p, ir_operand(op, operand));
  return thing && thing->kind == PDL_IS_OP && !is_erased(p, thing->op) ? thing->op : NULL;
}

// It goes when the rewrite is done: until then it is the place of what comes in front of it.
pdl_outcome_t pdl_erase(pdl_t* p, const ir_op_t* op, uint32_t operand) {
  ir_op_t* gone = op_of(p, op, operand);
  if (!gone) return pdl_refuse(p, op, "is of no op that is still there");
  for (uint32_t i = 0; i < gone->result_count; ++i) {
    if (gone->results[i].uses) return pdl_refuse(p, op, "is of an op whose results are used: pdl.replace says by what");
  }
  ir_op_set_operands(p->ctx, gone, NULL, 0);
  spec_add_op(p->ctx, &p->erased, gone);
  return PDL_DONE;
}

static pdl_outcome_t replace(pdl_t* p, ir_op_t* op) {
  ir_op_t* gone = op_of(p, op, 0);
  pdl_thing_t with = {.kind = PDL_IS_VALUES};
  int64_t counts[3];
  bool known = pdl_segments(op, 3, counts) && counts[0] == 1 && gone;
  ir_op_t* made = known && counts[1] ? op_of(p, op, 1) : NULL;
  if (known && !counts[1]) known = pdl_list(p, op, 1, (uint32_t)counts[2], PDL_IS_VALUES, &with);
  if (known && counts[1]) known = made != NULL;
  if (!known) return pdl_refuse(p, op, "needs an op that is there, and an op or values to replace it with");
  if ((made ? made->result_count : with.count) != gone->result_count) {
    return pdl_refuse(p, op, "needs a value for each result of what it replaces");
  }
  for (uint32_t i = 0; i < gone->result_count; ++i) {
    ir_value_t* value = made ? ir_result(made, i) : with.values[i];
    if (value->type != gone->results[i].type)
      return pdl_refuse(p, op, "has values of other types than what it replaces");
    if (value->def != gone) ir_value_replace(ir_result(gone, i), value);
  }
  return pdl_erase(p, op, 0);
}

static pdl_outcome_t apply(pdl_t* p, ir_builder_t* b, ir_op_t* op) {
  const char* name = ir_op_string(op, "name", "");
  if (strcmp(name, "rewriteAsFlowDispatch") == 0) return pdl_rewrite_as_dispatch(p, b, op);
  return pdl_refuse(p, op, "is of no function that is there: rewriteAsFlowDispatch is");
}

static pdl_outcome_t run_op(pdl_t* p, ir_builder_t* b, ir_op_t* op) {
  if (ir_is(op, PDL_OPERATION)) return make_op(p, b, op);
  if (ir_is(op, PDL_REPLACE)) return replace(p, op);
  if (ir_is(op, PDL_ERASE)) return pdl_erase(p, op, 0);
  if (ir_is(op, PDL_APPLY_REWRITE)) return apply(p, b, op);
  const pdl_thing_t* thing = op->result_count == 1 ? pdl_derive(p, &op->results[0]) : NULL;
  if (!thing) return pdl_refuse(p, op, "stands for nothing in a rewrite");
  pdl_remember(p, &op->results[0], *thing);
  return PDL_DONE;
}

pdl_outcome_t pdl_rewrite(pdl_t* p, ir_op_t* rewrite, ir_op_t* root) {
  const ir_block_t* body = rewrite->regions[0].first;
  int64_t counts[2];
  if (!pdl_segments(rewrite, 2, counts)) return pdl_refuse(p, rewrite, "needs operandSegmentSizes");
  ir_op_t* place = counts[0] ? op_of(p, rewrite, 0) : root;
  if (!place) return pdl_refuse(p, rewrite, "has a root that its pattern does not match");
  ir_builder_t b = {p->ctx, place->parent, place, place->loc};
  pdl_outcome_t outcome = PDL_DONE;
  p->erased.count = 0;
  if (ir_op_attr(rewrite, "name")) outcome = apply(p, &b, rewrite);
  for (ir_op_t* op = body ? body->first : NULL; op && outcome == PDL_DONE; op = op->next) outcome = run_op(p, &b, op);
  for (uint32_t i = 0; i < p->erased.count; ++i) ir_op_erase(p->erased.items[i]);
  return outcome;
}
