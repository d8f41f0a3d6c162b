// See spec.h.
#include "compiler/spec.h"

#include <string.h>

#include "compiler/source.h"
#include "dialects/func.h"
#include "dialects/tensor.h"
#include "dialects/util.h"

ir_op_t* spec_load(ir_context_t* ctx, const char* path) {
  source_file_t* file = ARENA_NEW(ir_context_arena(ctx), source_file_t);  // closed with the memory scope
  if (!source_open(ctx, path, NULL, 0, file)) return NULL;
  ir_op_t* module = source_parse(ctx, file);
  return module && ir_verify(ctx, module) ? module : NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Searching
//===----------------------------------------------------------------------------------------------------------------===

void spec_add_op(ir_context_t* ctx, spec_ops_t* list, ir_op_t* op) {
  if (list->count == list->capacity) {
    uint32_t capacity = list->capacity ? 2 * list->capacity : 16;
    ir_op_t** items = ARENA_ARRAY(ir_context_arena(ctx), ir_op_t*, capacity);
    if (list->count) memcpy(items, list->items, sizeof(*items) * list->count);
    list->items = items;
    list->capacity = capacity;
  }
  list->items[list->count++] = op;
}

static bool has_name(const ir_op_t* op, const ir_attr_t* names) {
  for (uint32_t i = 0; i < names->count; ++i) {
    const char* name = names->items[i]->kind == IR_ATTR_STRING ? names->items[i]->text : "";
    if (strcmp(op->name, name) == 0) return true;
    bool function = strcmp(name, "util.func") == 0 || strcmp(name, "func.func") == 0;
    if (function && (ir_is(op, UTIL_FUNC) || ir_is(op, FUNC_FUNC))) return true;
  }
  return false;
}

void spec_collect(ir_context_t* ctx, const ir_op_t* parent, const ir_attr_t* names, spec_ops_t* out) {
  for (uint32_t r = 0; r < parent->region_count; ++r) {
    IR_FOR_BLOCKS(block, &parent->regions[r]) {
      IR_FOR_OPS(op, block) {
        if (!names || has_name(op, names)) spec_add_op(ctx, out, op);
        spec_collect(ctx, op, names, out);
      }
    }
  }
}

bool spec_attr_fits(const ir_attr_t* pattern, const ir_attr_t* attr) {
  if (pattern == attr) return true;
  if (!attr || attr->kind != pattern->kind || (attr->kind != IR_ATTR_AFFINE_MAP && attr->kind != IR_ATTR_ARRAY)) {
    return false;
  }
  text_t x = {0}, y = {0};
  ir_print_attr(&x, pattern);
  ir_print_attr(&y, attr);
  bool fits = x.size == y.size && memcmp(x.data, y.data, x.size) == 0;
  text_finish(&x);
  text_finish(&y);
  return fits;
}

bool spec_types_fit(const ir_type_t* pattern, const ir_type_t* type) {
  if (pattern == type) return true;
  if (!ir_type_is_tensor(pattern) || !ir_type_is_tensor(type)) return false;
  bool fits = pattern->element == type->element && pattern->rank == type->rank;
  for (int32_t i = 0; fits && i < type->rank; ++i) {
    fits = pattern->dims[i] == IR_DYNAMIC || pattern->dims[i] == type->dims[i];
  }
  return fits;
}

//===----------------------------------------------------------------------------------------------------------------===
// Replacing
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* cast(ir_builder_t* b, ir_value_t* value, const ir_type_t* type) {
  if (value->type == type) return value;
  return ir_result(ir_build(b, &(ir_op_state_t){.info = ir_context_op(b->ctx, TENSOR_CAST),
                                                .operands = &value,
                                                .operand_count = 1,
                                                .result_types = &type,
                                                .result_count = 1}),
                   0);
}

ir_op_t* spec_build_call(ir_builder_t* b, const ir_op_t* func, spec_values_t ins, spec_values_t outs) {
  const ir_type_t* type = ir_op_attr(func, "function_type")->type;
  ir_value_t** operands = ARENA_ARRAY(ir_context_arena(b->ctx), ir_value_t*, ins.count + 1);
  for (uint32_t i = 0; i < ins.count; ++i) operands[i] = cast(b, ins.items[i], type->inputs[i]);
  ir_named_attr_t callee = {"callee", ir_attr_symbol(b->ctx, ir_op_string(func, "sym_name", ""))};
  ir_op_t* call =
      ir_build(b, &(ir_op_state_t){.info = ir_context_op(b->ctx, ir_is(func, UTIL_FUNC) ? UTIL_CALL : FUNC_CALL),
                                   .operands = operands,
                                   .operand_count = ins.count,
                                   .result_types = type->results,
                                   .result_count = outs.count,
                                   .attrs = &callee,
                                   .attr_count = 1});
  for (uint32_t i = 0; i < outs.count; ++i) {
    ir_value_replace(outs.items[i], cast(b, ir_result(call, i), outs.items[i]->type));
  }
  return call;
}
