// Programs as they come in: a file mapped into memory (or text at hand), and the module it holds.
#ifndef IREE_C_COMPILER_SOURCE_H_
#define IREE_C_COMPILER_SOURCE_H_

#include "base/memory.h"
#include "import/onnx/onnx.h"
#include "ir/ir.h"

typedef struct source_file_t {
  const char* path;  // for messages; "-" is standard input, shown as "<stdin>"
  char stem[128];    // file name without folder and extension
  const char* data;
  size_t size;
  bool mapped;
  memory_cleanup_t cleanup;
  bool is_onnx;
  onnx_files_t onnx_files;
} source_file_t;

// Maps the file, or takes `text` when it is not NULL (borrowed). False after a diagnostic. `out` has to stay where it
// is until it is closed, by source_close or with the memory scope.
bool source_open(ir_context_t* ctx, const char* path, const char* text, size_t size, source_file_t* out);
// Maps a file that is no program, under the same conditions.
bool source_map(ir_context_t* ctx, const char* path, source_file_t* out);
// After the context is gone: weights point into the file.
void source_close(source_file_t* source);
// The module in input dialects, or NULL after diagnostics.
ir_op_t* source_parse(ir_context_t* ctx, source_file_t* source);

#endif  // IREE_C_COMPILER_SOURCE_H_
