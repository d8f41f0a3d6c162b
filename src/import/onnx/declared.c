// What a model declares of its results. Exporters write down sizes that their graphs do not have (a batch of 1 that is
// any), so what is computed counts, and where the two differ a warning says so.
#include "import/onnx/lower.h"
#include "import/onnx/onnx.h"

const ir_type_t* onnx_open_sizes(ir_context_t* ctx, const ir_type_t* type) {
  int64_t dims[ONNX_MAX_RANK];
  if (type->kind != IR_TYPE_VTENSOR || type->rank < 0 || type->rank > ONNX_MAX_RANK) return type;
  for (int32_t i = 0; i < type->rank; ++i) dims[i] = IR_DYNAMIC;
  return ir_type_vtensor(ctx, type->element, type->rank, dims);
}

void onnx_compare_sizes(ir_context_t* ctx, const ir_loc_t* loc, const char* output, const ir_type_t* declared,
                        const ir_type_t* computed) {
  if (declared->kind != IR_TYPE_VTENSOR || computed->kind != IR_TYPE_VTENSOR) return;
  if (!declared->element || declared->rank < 0 || computed->rank < 0) return;
  bool differ = declared->rank != computed->rank;
  for (int32_t i = 0; !differ && i < declared->rank; ++i) {
    differ = declared->dims[i] != IR_DYNAMIC && declared->dims[i] != computed->dims[i];
  }
  if (!differ) return;
  ir_warning(ctx, loc, "output %s: the model declares %s, its graph gives %s, which counts", output,
             ir_type_str(ctx, declared), ir_type_str(ctx, computed));
}

const ir_type_t** onnx_open_results(ir_context_t* ctx, const ir_op_t* func) {
  const ir_op_t* terminator = func->regions[0].first->last;
  uint32_t count = terminator ? terminator->operand_count : 0;
  const ir_type_t** declared = ARENA_ARRAY(ir_context_arena(ctx), const ir_type_t*, count + 1);
  for (uint32_t i = 0; i < count; ++i) declared[i] = ir_operand(terminator, i)->type;
  for (uint32_t i = 0; i < count; ++i) {
    ir_value_t* value = ir_operand(terminator, i);
    if (value->def) value->type = onnx_open_sizes(ctx, value->type);
  }
  return declared;
}

void onnx_compare_results(ir_context_t* ctx, const ir_op_t* func, const ir_type_t* const* declared,
                          onnx_values_t results) {
  const ir_attr_t* names = ir_op_attr(func, ONNX_OUTPUT_NAMES);
  bool known = names && names->kind == IR_ATTR_ARRAY && names->count == results.count;
  for (uint32_t i = 0; i < results.count; ++i) {
    const onnx_value_t x = results.items[i];
    bool named = known && names->items[i]->kind == IR_ATTR_STRING;
    arena_t* arena = ir_context_arena(ctx);
    const char* output = named ? arena_printf(arena, "'%s'", names->items[i]->text) : arena_printf(arena, "%u", i);
    if (x.holder) continue;
    onnx_compare_sizes(ctx, func->regions[0].first->last->loc, output, declared[i],
                       ir_type_vtensor(ctx, x.element, onnx_rank(x), x.v->type->dims));
  }
}
