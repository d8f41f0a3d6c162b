// The reader of ONNX models: no bytes may crash the importer, what it makes verifies, and so does what that is lowered
// to.
#include <stdint.h>
#include <stdlib.h>

#include "dialects/register.h"
#include "import/onnx/onnx.h"
#include "ir/ir.h"

static void ignore(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text, const char* line) {}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ir_context_t* ctx = ir_context_create();
  ir_context_set_diagnostics(ctx, ignore, NULL);
  dialects_register_all(ctx);
  onnx_options_t options = {.data_dir = "/nonexistent", .infer_types = (size & 1) != 0, .externalize_inputs = -1};
  onnx_files_t files = {0};
  onnx_source_t source = {"fuzz.onnx", data, size};
  ir_op_t* module = onnx_import_buffer(ctx, &source, &options, &files);
  if (module) {
    if (!ir_verify(ctx, module)) abort();
    if (onnx_lower_module(ctx, module) && !ir_verify(ctx, module)) abort();
  }
  ir_context_destroy(ctx);
  onnx_files_finish(&files);
  return 0;
}
