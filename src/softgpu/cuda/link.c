// The linker, as far as it needs no machine code: one piece of PTX comes out as it went in, for cuModuleLoadData.
#include <stdlib.h>
#include <string.h>

#include "softgpu/cuda/calls.h"
#include "softgpu/cuda/module.h"

enum { INPUT_PTX = 1, INPUT_CONTAINER = 2, LAST_INPUT = 5 };

struct link_t {
  char* text;  // NULL: nothing was added
  size_t size;
};

result_t cuLinkCreate_v2(unsigned count, int* options, void** values, link_t** out) {
  context_t* context;
  CHECK(context_enter(&context));
  REQUIRE(out && ((options && values) || !count), CUDA_ERROR_INVALID_VALUE);
  link_t* link = calloc(1, sizeof(*link));
  if (link && object_add(link, OBJECT_LINK)) {
    *out = link;
    return CUDA_SUCCESS;
  }
  free(link);
  return CUDA_ERROR_OUT_OF_MEMORY;
}

static result_t find(const link_t* link) {
  CHECK(driver_enter());
  return object_is(link, OBJECT_LINK) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

// `image` ends in a zero.
static result_t add(link_t* link, int type, const char* image) {
  context_t* context;
  size_t size = 0;
  result_t result;
  const char* why;
  CHECK(context_enter(&context));
  REQUIRE(type >= 0 && type <= LAST_INPUT, CUDA_ERROR_INVALID_VALUE);
  if (type != INPUT_PTX && type != INPUT_CONTAINER) return driver_refuse("cuLinkAddData", "of what is not PTX");
  if (link->text) return driver_refuse("cuLinkAddData", "of a second module: modules are not linked with each other");
  const char* text = image_find_ptx(image, context->device->target, &size, &result, &why);
  REQUIRE(text, result);
  link->text = calloc(1, size + 1);
  REQUIRE(link->text, CUDA_ERROR_OUT_OF_MEMORY);
  memcpy(link->text, text, size);
  link->size = size + 1;
  return CUDA_SUCCESS;
}

result_t cuLinkAddData_v2(link_t* link, int type, void* data, size_t size, const char* name, unsigned count,
                          int* options, void** values) {
  CHECK(find(link));
  REQUIRE(data && size, CUDA_ERROR_INVALID_VALUE);
  char* image = calloc(1, size + sizeof(uint64_t));
  REQUIRE(image, CUDA_ERROR_OUT_OF_MEMORY);
  memcpy(image, data, size);
  result_t result = add(link, type, image);
  free(image);
  return result;
}

result_t cuLinkAddFile_v2(link_t* link, int type, const char* path, unsigned count, int* options, void** values) {
  CHECK(find(link));
  REQUIRE(path, CUDA_ERROR_INVALID_VALUE);
  char* image = image_read_file(path);
  REQUIRE(image, CUDA_ERROR_FILE_NOT_FOUND);
  result_t result = add(link, type, image);
  free(image);
  return result;
}

// The image is the link's.
result_t cuLinkComplete(link_t* link, void** out, size_t* out_size) {
  CHECK(find(link));
  REQUIRE(out && link->text, CUDA_ERROR_INVALID_VALUE);
  *out = link->text;
  if (out_size) *out_size = link->size;
  return CUDA_SUCCESS;
}

result_t cuLinkDestroy(link_t* link) {
  CHECK(find(link));
  object_remove(link);
  free(link->text);
  free(link);
  return CUDA_SUCCESS;
}
