// The library as a whole: versions, backends, flags for all sessions.
#include <string.h>

#include "base/version.h"
#include "embedding/embedding.h"
#include "target/target.h"

enum { API_MAJOR = 1, API_MINOR = 4 };

static embedding_flags_t global_flags;

const embedding_flags_t* embedding_global_flags(void) { return &global_flags; }

int ireeCompilerGetAPIVersion(void) { return API_MAJOR << 16 | API_MINOR; }
const char* ireeCompilerGetRevision(void) { return "iree-c " IREE_C_VERSION; }

// What the compiler needs it makes when it is first used, and keeps.
void ireeCompilerGlobalInitialize(void) {}
void ireeCompilerGlobalShutdown(void) {}

void ireeCompilerGetProcessCLArgs(int* argc, const char*** argv) { (void)argc, (void)argv; }

void ireeCompilerSetupGlobalCL(int argc, const char** argv, const char* banner, bool installSignalHandlers) {
  (void)banner, (void)installSignalHandlers;
  embedding_flags_finish(&global_flags);
  if (argc > 1) embedding_flags_add(&global_flags, argc - 1, argv + 1);
}

void ireeCompilerEnumerateRegisteredHALTargetBackends(void (*callback)(const char* backend, void* userData),
                                                      void* userData) {
  for (target_backend_t i = 0; i < TARGET_BACKEND_COUNT; ++i) {
    if (target_backend_is_built(i)) callback(target_backend_name(i), userData);
  }
}

void ireeCompilerEnumeratePlugins(void (*callback)(const char* pluginName, void* userData), void* userData) {
  (void)callback, (void)userData;
}
