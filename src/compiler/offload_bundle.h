// Files of clang's offload bundler: code objects of several targets in one file.
#ifndef IREE_C_COMPILER_OFFLOAD_BUNDLE_H_
#define IREE_C_COMPILER_OFFLOAD_BUNDLE_H_

#include <stdbool.h>
#include <stddef.h>

bool offload_bundle_is_one(const char* data, size_t size);
// Finds the code object for an AMD GPU ("gfx1100") inside of it. NULL when it has none; a damaged bundle has none.
// Layout: clang's documentation, "Clang Offload Bundler".
const char* offload_bundle_find(const char* data, size_t size, const char* processor, size_t* out_size);

#endif  // IREE_C_COMPILER_OFFLOAD_BUNDLE_H_
