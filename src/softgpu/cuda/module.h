// Modules, libraries and their functions.
#ifndef IREE_C_SOFTGPU_CUDA_MODULE_H_
#define IREE_C_SOFTGPU_CUDA_MODULE_H_

#include "softgpu/cuda/driver.h"

struct function_t {
  module_t* module;
  const nv_function_t* function;
  nv_function_info_t info;
  int max_dynamic_shared;  // bytes
  int carveout;
};

struct module_t {
  context_t* context;
  nv_module_t* module;
  function_t* functions;
  uint32_t count;
  library_t* library;  // NULL: loaded as a module
  module_t* next;
};

struct kernel_t {
  library_t* library;
  char* name;
  int max_dynamic_shared;  // -1: not set
};

struct library_t {
  char* text;
  size_t size;
  kernel_t* kernels;
  uint32_t count;
};

// Text of PTX in what programs pass as an image: text that ends in a zero, or a container of such. NULL after saying
// why not in `out_why`.
const char* image_find_ptx(const void* image, const nv_target_t* target, size_t* out_size, result_t* out_result,
                           const char** out_why);

// A file with zeros behind it, of the caller's; NULL when it cannot be read.
char* image_read_file(const char* name);

// A function handle may be a library's kernel, which is then loaded for the context.
result_t function_find(void* handle, context_t* context, function_t** out_function);
void module_destroy_all(context_t* context);
uint32_t function_shared_limit(const function_t* function);

#endif  // IREE_C_SOFTGPU_CUDA_MODULE_H_
