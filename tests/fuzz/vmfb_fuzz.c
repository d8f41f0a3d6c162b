// The loader of compiled modules: no bytes may crash it. Checksums are not compared in a fuzzing build, so that changed
// bytes reach the verifier.
#include <stdint.h>

#include "module/image.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  iree_allocator_t allocator = iree_allocator_system();
  module_image_t image;
  iree_status_t status = module_image_open(iree_make_const_byte_span(data, size), allocator, &image);
  if (iree_status_is_ok(status)) module_image_close(&image, allocator);
  iree_status_ignore(status);
  return 0;
}
