// Bundles of clang's: no file may crash the reader, and what it finds lies inside of the file.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/offload_bundle.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const char* const processors[] = {"gfx1100", "gfx90a", "gfx9-4-generic", "sm_80"};
  char* file = malloc(size ? size : 1);  // of just this size, so that reads behind its end are seen
  if (size) memcpy(file, data, size);
  for (size_t i = 0; i < sizeof(processors) / sizeof(processors[0]); ++i) {
    size_t found_size = 0;
    const char* found = offload_bundle_find(file, size, processors[i], &found_size);
    if (!found) continue;
    if (found < file || !found_size || found_size > size || (size_t)(found - file) > size - found_size) abort();
    if (!offload_bundle_is_one(file, size)) abort();
  }
  free(file);
  return 0;
}
