// libIREECompiler at run time: link the loader (libiree_compiler_loader.a) instead of the library, load it, and call
// the functions of embedding_api.h as ever.
#ifndef IREE_COMPILER_LOADER_H_
#define IREE_COMPILER_LOADER_H_

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Loads the library; false when it is none, with a line on standard error. Call it once, before any other function and
// before other threads start; later calls load nothing and say what the first said. Functions that the library does not
// have do nothing and return zero or NULL.
bool ireeCompilerLoadLibrary(const char* libraryPath);

#ifdef __cplusplus
}
#endif

#endif  // IREE_COMPILER_LOADER_H_
