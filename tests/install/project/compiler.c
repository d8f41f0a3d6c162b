// Says which compiler this is: one that is linked, or loaded from where argv[1] says.
#include <stdio.h>

#include "iree/compiler/embedding_api.h"
#ifdef USES_LOADER
#include "iree/compiler/loader.h"
#endif

int main(int argc, char** argv) {
#ifdef USES_LOADER
  if (argc < 2 || !ireeCompilerLoadLibrary(argv[1])) return 1;
#endif
  ireeCompilerGlobalInitialize();
  printf("compiler %s, API %d\n", ireeCompilerGetRevision(), ireeCompilerGetAPIVersion() >> 16);
  ireeCompilerGlobalShutdown();
  return 0;
}
