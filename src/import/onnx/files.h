// Files kept mapped for as long as a module borrows their bytes: the model and its external data.
#ifndef IREE_C_IMPORT_ONNX_FILES_H_
#define IREE_C_IMPORT_ONNX_FILES_H_

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct onnx_file_t onnx_file_t;
typedef struct onnx_files_t {
  onnx_file_t* first;
} onnx_files_t;

// Maps `path` for reading, or finds it mapped. On failure returns false with `*error` set to a static or errno text.
bool onnx_files_map(onnx_files_t* files, const char* path, const void** data, size_t* size, const char** error);
// Path of `location` (from a model, untrusted) inside `directory`. False with `*error` set when it does not exist or
// would leave the directory, also through symbolic links.
bool onnx_files_resolve(const char* directory, const char* location, char path[PATH_MAX], const char** error);
// Unmaps all. Nothing may use the bytes any more.
void onnx_files_finish(onnx_files_t* files);

#endif  // IREE_C_IMPORT_ONNX_FILES_H_
