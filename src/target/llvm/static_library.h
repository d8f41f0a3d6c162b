// --iree-llvmcpu-static-library-output-path: an object file with its header, for linking into a program.
#ifndef IREE_C_TARGET_LLVM_STATIC_LIBRARY_H_
#define IREE_C_TARGET_LLVM_STATIC_LIBRARY_H_

#include <stdbool.h>

#include "base/text.h"

// <name>_library_query, with what C identifiers cannot hold as underscores.
void static_library_query_name(const char* name, char* out, size_t capacity);
// Writes `path` and the header beside it (.h instead of .o).
bool static_library_write(const char* path, const char* name, const void* object, size_t size, text_t* error);

#endif  // IREE_C_TARGET_LLVM_STATIC_LIBRARY_H_
