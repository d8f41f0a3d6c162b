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

static void record(onnx_importer_t* im, const char* name, const ir_attr_t* value) {
  onnx_parameters_t* list = im->options->parameters;
  if (!list || !value) return;
  onnx_parameter_t* p = ARENA_NEW(ir_context_arena(im->ctx), onnx_parameter_t);
  *p = (onnx_parameter_t){.name = name, .value = value};
  if (list->last)
    list->last->next = p;
  else
    list->first = p;
  list->last = p;
  ++list->count;
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
  record(im, unique, value);
  ir_named_attr_t global = {"global", ir_attr_symbol(ctx, unique)};
  ir_value_t* loaded = build_value(im, "util.global.load", &global, NULL, tensor);
  loaded->name = ir_intern_cstr(ctx, unique);
  const ir_type_t* vtensor = ir_type_vtensor(ctx, type->element, type->rank, type->dims);
  return build_value(im, "torch_c.from_builtin_tensor", NULL, loaded, vtensor);
}

//===----------------------------------------------------------------------------------------------------------------===
// The archive: header, one row per parameter, names, contents
//===----------------------------------------------------------------------------------------------------------------===

enum { HEADER_SIZE = 0x58, ROW_SIZE = 0x4c, ROW_STRIDE = 0x50, ALIGNMENT = 64, ROW_DATA = 2, PAGE = 4096 };

static uint64_t align(uint64_t x, uint64_t to) { return (x + to - 1) / to * to; }

static bool put(FILE* file, const void* data, size_t size, uint64_t* at) {
  *at += size;
  return fwrite(data, 1, size, file) == size;
}
static bool put_u64(FILE* file, uint64_t value, uint64_t* at) { return put(file, &value, 8, at); }
static bool put_u32(FILE* file, uint32_t value, uint64_t* at) { return put(file, &value, 4, at); }
static bool pad_to(FILE* file, uint64_t end, uint64_t* at) {
  static const char zeros[PAGE] = {0};
  while (*at < end) {
    uint64_t step = end - *at < PAGE ? end - *at : PAGE;
    if (!put(file, zeros, (size_t)step, at)) return false;
  }
  return true;
}

static uint64_t content_size(const onnx_parameter_t* p) {
  return (uint64_t)ir_type_count(p->value->type) * ir_type_bytes(p->value->type->element);
}

static bool put_row(FILE* file, const onnx_parameter_t* p, uint64_t name, uint64_t content, uint64_t* at) {
  return put_u64(file, ROW_SIZE, at) && put_u32(file, ROW_DATA, at) && put_u64(file, 0, at) &&
         put_u64(file, name, at) && put_u64(file, strlen(p->name), at) && put_u64(file, 0, at) &&
         put_u64(file, 0, at) && put_u64(file, ALIGNMENT, at) && put_u64(file, content, at) &&
         put_u64(file, content_size(p), at);
}

static bool put_content(FILE* file, const onnx_parameter_t* p, uint64_t* at) {
  const ir_attr_t* value = p->value;
  uint64_t size = content_size(p);
  if (!value->splat) return put(file, ir_attr_data(value), (size_t)size, at);
  for (uint64_t end = *at + size; *at < end;) {
    if (!put(file, ir_attr_data(value), value->size, at)) return false;
  }
  return true;
}

bool onnx_write_parameters(const onnx_parameters_t* list, FILE* file) {
  uint64_t at = 0, names = 0, content = 0, end = 0;
  for (const onnx_parameter_t* p = list->first; p; p = p->next) {
    names += strlen(p->name);
    end = align(end, ALIGNMENT) + content_size(p);
  }
  uint64_t rows = align(HEADER_SIZE, 16), rows_size = list->count ? (list->count - 1) * ROW_STRIDE + ROW_SIZE : 0;
  uint64_t storage = align(rows + rows_size + names, ALIGNMENT), name = 0;
  bool done = put(file, "IRPA", 4, &at) && put_u32(file, 0, &at) && put_u64(file, HEADER_SIZE, &at) &&
              put_u64(file, 0, &at) && put_u64(file, 0, &at) && put_u64(file, list->count, &at) &&
              put_u64(file, rows, &at) && put_u64(file, rows_size, &at) && put_u64(file, rows + rows_size, &at) &&
              put_u64(file, names, &at) && put_u64(file, storage, &at) && put_u64(file, end, &at);
  uint64_t row = rows;
  for (const onnx_parameter_t* p = list->first; done && p; p = p->next, row += ROW_STRIDE) {
    done = pad_to(file, row, &at) && put_row(file, p, name, content, &at);
    name += strlen(p->name);
    content = align(content + content_size(p), ALIGNMENT);
  }
  for (const onnx_parameter_t* p = list->first; done && p; p = p->next) done = put(file, p->name, strlen(p->name), &at);
  for (const onnx_parameter_t* p = list->first; done && p; p = p->next) {
    done = pad_to(file, align(at, ALIGNMENT), &at) && put_content(file, p, &at);
  }
  return done && pad_to(file, align(at, PAGE), &at);
}
