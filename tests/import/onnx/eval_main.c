// Imports a model, lowers it to graph and runs the reference evaluator:
//
//   onnx-eval [--print] model.onnx|model.mlir output-prefix [input.npy ...]
//
// writes <prefix>0.npy, <prefix>1.npy, ... The oracle for the lowering, independent of code generation.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dialects/evaluate.h"
#include "dialects/register.h"
#include "import/onnx/onnx.h"
#include "npy.h"

static ir_op_t* load(ir_context_t* ctx, const char* path, onnx_files_t* files) {
  onnx_options_t options = {.infer_types = true, .externalize_inputs = -1};
  size_t length = strlen(path);
  if (length < 5 || strcmp(path + length - 5, ".mlir") != 0) return onnx_import_file(ctx, path, &options, files);
  const void* text;
  size_t size;
  const char* error;
  if (onnx_files_map(files, path, &text, &size, &error)) return ir_parse_module(ctx, path, text, size);
  fprintf(stderr, "%s: %s\n", path, error);
  return NULL;
}

static ir_op_t* find_func(ir_op_t* module) {
  IR_FOR_OPS(op, ir_module_body(module)) {
    if (strcmp(op->name, "func.func") == 0) return op;
  }
  return NULL;
}

static bool run(ir_context_t* ctx, ir_op_t* func, const char* prefix, char** inputs, int input_count) {
  ir_block_t* body = func->regions[0].first;
  const ir_attr_t *in[64], *out[64];
  if ((int)body->arg_count != input_count || input_count > 64 || body->last->operand_count > 64) {
    return fprintf(stderr, "the model takes %u inputs\n", body->arg_count), false;
  }
  for (int i = 0; i < input_count; ++i) {
    if (!(in[i] = npy_read(ctx, inputs[i], body->args[i]->type->element))) return false;
  }
  if (!graph_evaluate(ctx, func, in, out)) return false;
  for (uint32_t i = 0; i < body->last->operand_count; ++i) {
    char path[4096];
    snprintf(path, sizeof(path), "%s%u.npy", prefix, i);
    if (!npy_write(path, out[i])) return false;
  }
  return true;
}

int main(int argc, char** argv) {
  bool print = argc > 1 && strcmp(argv[1], "--print") == 0;
  argv += print, argc -= print;
  if (argc < 3) return fprintf(stderr, "usage: onnx-eval [--print] model prefix [input.npy ...]\n"), 2;
  ir_context_t* ctx = ir_context_create();
  onnx_files_t files = {0};
  dialects_register_all(ctx);
  ir_op_t* module = load(ctx, argv[1], &files);
  bool done = module && onnx_lower_module(ctx, module) && ir_verify(ctx, module);
  if (done && print) {
    text_t text = {0};
    ir_print_op(ctx, &text, module, IR_PRINT_ELIDE_LARGE, 16);
    puts(text.data);
    text_finish(&text);
  }
  ir_op_t* func = done ? find_func(module) : NULL;
  done = func && run(ctx, func, argv[2], argv + 3, argc - 3);
  ir_context_destroy(ctx);
  onnx_files_finish(&files);
  return done ? 0 : 1;
}
