// See iree/compiler/loader.h: every function calls the one of the same name in the library that was loaded.
#include "iree/compiler/loader.h"

#include <dlfcn.h>
#include <stdio.h>

#include "iree/compiler/embedding_api.h"

static struct {
#define FN(result, name, parameters, arguments) result(*name) parameters;
#define PROC(name, parameters, arguments) void(*name) parameters;
#include "embedding/functions.def"
#undef FN
#undef PROC
} functions;

bool ireeCompilerLoadLibrary(const char* libraryPath) {
  static void* library;
  if (library) return true;
  library = dlopen(libraryPath, RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    const char* reason = dlerror();
    fprintf(stderr, "cannot load the compiler library '%s': %s\n", libraryPath, reason ? reason : "unknown reason");
    return false;
  }
#define FN(result, name, parameters, arguments) *(void**)&functions.name = dlsym(library, #name);
#define PROC(name, parameters, arguments) *(void**)&functions.name = dlsym(library, #name);
#include "embedding/functions.def"
#undef FN
#undef PROC
  if (functions.ireeCompilerGetAPIVersion) return true;
  fprintf(stderr, "'%s' is no compiler library\n", libraryPath);
  dlclose(library);
  library = NULL;
  return false;
}

#define FN(result, name, parameters, arguments) \
  result name parameters { return functions.name ? functions.name arguments : (result)0; }
#define PROC(name, parameters, arguments)         \
  void name parameters {                          \
    if (functions.name) functions.name arguments; \
  }
#include "embedding/functions.def"
