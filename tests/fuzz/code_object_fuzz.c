// The loader of code objects: no file may crash it or make it write outside the image; what it accepts is loaded, and
// its symbols and kernels are read.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/hsa/code_object.h"

static bool define(void* data, const char* name, uint64_t* address) {
  *address = strlen(name);
  return true;
}

static void load(const code_object_t* object) {
  text_t message = {0};
  uint8_t* image = calloc(1, object->image_size);
  if (!image) return;
  code_object_load(object, image, define, NULL, &message);
  for (uint64_t i = 0; i < object->symbol_count; ++i) {
    code_object_symbol_t symbol;
    code_object_kernel_t kernel;
    uint8_t descriptor[64];
    if (!code_object_symbol(object, i, &symbol) || !symbol.is_kernel) continue;
    memcpy(descriptor, image + symbol.value, sizeof(descriptor));
    code_object_kernel(object, symbol.name, &kernel);
  }
  text_finish(&message);
  free(image);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  uint8_t* file = aligned_alloc(16, (size + 16) & ~(size_t)15);
  memcpy(file, data, size);
  code_object_t object;
  text_t message = {0};
  if (code_object_open(file, size, &object, &message)) {
    code_object_fits(&object, isa_target_find("gfx1100"), &message);
    if (object.image_size < 1 << 20) load(&object);
  }
  text_finish(&message);
  free(file);
  return 0;
}
