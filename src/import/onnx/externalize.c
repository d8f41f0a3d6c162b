// Weights outside of the module: each becomes a global that names a parameter,
//
//   util.global private @w = #stream.parameter.named<"model"::"w"> : tensor<2x3xf32>
//   ...
//   %w = util.global.load @w : tensor<2x3xf32>
//   %0 = torch_c.from_builtin_tensor %w : tensor<2x3xf32> -> !torch.vtensor<[2,3],f32>
//
// and an archive (.irpa) holds their contents.
#include <string.h>

#include "import/onnx/importer.h"

bool onnx_is_external(const onnx_importer_t* im, const ir_type_t* type) {
  return im->options->externalize && ir_type_count(type) >= im->options->minimum_elements;
}

static void build_global(onnx_importer_t* im, const char* name, const ir_type_t* type) {
  ir_context_t* ctx = im->ctx;
  ir_named_attr_t typed = {":", ir_attr_type(ctx, type)};
  const char* body = arena_printf(ir_context_arena(ctx), "\"%s\"::\"%s\"", im->options->scope, name);
  ir_named_attr_t attrs[] = {
      {"sym_visibility", ir_attr_cstring(ctx, "private")},
      {"sym_name", ir_attr_cstring(ctx, name)},
      {"initial_value", ir_attr_opaque(ctx, "stream.parameter.named", body, &typed, 1)},
      {"type", ir_attr_type(ctx, type)},
  };
  ir_op_state_t state = {.info = ir_context_find_op(ctx, "util.global"), .name = "util.global", .loc = im->loc};
  state.attrs = attrs;
  state.attr_count = 4;
  ir_op_t* global = ir_op_create(ctx, &state);
  ir_block_t* body_block = ir_module_body(im->module);
  ir_block_insert_before(body_block, global, im->last_global ? im->last_global->next : body_block->first);
  im->last_global = global;
}

static ir_value_t* build_value(onnx_importer_t* im, const char* name, const ir_named_attr_t* attr, ir_value_t* operand,
                               const ir_type_t* type) {
  ir_op_state_t state = {.info = ir_context_find_op(im->ctx, name), .name = name, .loc = im->loc};
  state.operands = &operand;
  state.operand_count = operand != NULL;
  state.result_types = &type;
  state.result_count = 1;
  state.attrs = attr;
  state.attr_count = attr != NULL;
  ir_op_t* op = ir_build(&im->builder, &state);
  if (im->lowering) onnx_infer_op(im->lowering, op);
  return ir_result(op, 0);
}

ir_value_t* onnx_externalize(onnx_importer_t* im, const char* name, const ir_type_t* type, const ir_attr_t* value) {
  ir_context_t* ctx = im->ctx;
  char* symbol = arena_printf(ir_context_arena(ctx), "%s", *name ? name : "unnamed");
  for (char* c = symbol; *c; ++c) {
    if (*c == ':' || *c == '"' || *c == '\\') *c = '_';
  }
  const char* unique = onnx_names_unique(im->globals, ctx, symbol);
  const ir_type_t* tensor = onnx_tensor_type(ctx, type->element, type->rank, type->dims);
  build_global(im, unique, tensor);
  if (im->options->parameters && value) {
    parameter_list_add(ctx, im->options->parameters, &(parameter_t){.name = unique, .value = value});
  }
  ir_named_attr_t global = {"global", ir_attr_symbol(ctx, unique)};
  ir_value_t* loaded = build_value(im, "util.global.load", &global, NULL, tensor);
  loaded->name = ir_intern_cstr(ctx, unique);
  const ir_type_t* vtensor = ir_type_vtensor(ctx, type->element, type->rank, type->dims);
  return build_value(im, "torch_c.from_builtin_tensor", NULL, loaded, vtensor);
}
