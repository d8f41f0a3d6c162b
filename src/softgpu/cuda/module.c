// Modules, and libraries, which are modules of each context that uses them.
#include "softgpu/cuda/module.h"

#include <stdlib.h>
#include <string.h>

#include "softgpu/cuda/calls.h"
#include "softgpu/cuda/capture.h"
#include "softgpu/cuda/memory.h"
#include "softgpu/cuda/stream.h"

//===----------------------------------------------------------------------------------------------------------------===
// Options of the compiler
//===----------------------------------------------------------------------------------------------------------------===

enum { INFO_LOG = 3, INFO_LOG_SIZE = 4, ERROR_LOG = 5, ERROR_LOG_SIZE = 6, WALL_TIME = 2, LAST_OPTION = 40 };

typedef struct jit_t {
  unsigned count;
  const int* options;
  void** values;
} jit_t;

static void* option(const jit_t* jit, int name) {
  for (unsigned i = 0; i < jit->count; ++i) {
    if (jit->options[i] == name) return jit->values[i];
  }
  return NULL;
}

// A log's size becomes what was written of it.
static void set_size(const jit_t* jit, int name, size_t size) {
  for (unsigned i = 0; i < jit->count; ++i) {
    if (jit->options[i] == name) jit->values[i] = (void*)(uintptr_t)size;
  }
}

static void write_log(const jit_t* jit, const char* text) {
  char *errors = option(jit, ERROR_LOG), *info = option(jit, INFO_LOG);
  size_t capacity = (uint32_t)(uintptr_t)option(jit, ERROR_LOG_SIZE);
  size_t size = strlen(text);
  if (size >= capacity) size = capacity ? capacity - 1 : 0;
  if (errors && capacity) {
    memcpy(errors, text, size);
    errors[size] = 0;
    set_size(jit, ERROR_LOG_SIZE, size);
  }
  if (info && (uint32_t)(uintptr_t)option(jit, INFO_LOG_SIZE)) {
    *info = 0;
    set_size(jit, INFO_LOG_SIZE, 0);
  }
}

static result_t check_options(const jit_t* jit) {
  REQUIRE(!jit->count || (jit->options && jit->values), CUDA_ERROR_INVALID_VALUE);
  for (unsigned i = 0; i < jit->count; ++i) {
    REQUIRE(jit->options[i] >= 0 && jit->options[i] <= LAST_OPTION, CUDA_ERROR_INVALID_VALUE);
  }
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------------------------------------------------===
// Loading
//===----------------------------------------------------------------------------------------------------------------===

static void destroy(module_t* module) {
  if (!module) return;
  object_remove(module);
  for (uint32_t i = 0; module->functions && i < module->count; ++i) object_remove(&module->functions[i]);
  free(module->functions);
  nv_module_destroy(module->module);
  free(module);
}

static bool list_functions(module_t* module) {
  while (nv_module_function_at(module->module, module->count)) ++module->count;
  module->functions = calloc(module->count ? module->count : 1, sizeof(*module->functions));
  bool ok = module->functions != NULL;
  for (uint32_t i = 0; ok && i < module->count; ++i) {
    function_t* function = &module->functions[i];
    *function = (function_t){.module = module, .function = nv_module_function_at(module->module, i), .carveout = -1};
    nv_function_info(function->function, &function->info);
    function->max_dynamic_shared = DRIVER_DEFAULT_SHARED > function->info.shared_size
                                       ? (int)(DRIVER_DEFAULT_SHARED - function->info.shared_size)
                                       : 0;
    ok = object_add(function, OBJECT_FUNCTION);
  }
  return ok;
}

static result_t fault_result(nv_fault_kind_t kind) {
  return kind == NV_FAULT_MEMORY    ? CUDA_ERROR_OUT_OF_MEMORY
         : kind == NV_FAULT_VERSION ? CUDA_ERROR_UNSUPPORTED_PTX_VERSION
                                    : CUDA_ERROR_INVALID_PTX;
}

static void add_to_context(module_t* module) {
  driver_lock();
  module->next = module->context->modules;
  module->context->modules = module;
  driver_unlock();
}

static result_t load_text(context_t* context, const char* text, size_t size, const jit_t* jit, module_t** out) {
  nv_fault_t fault = {.kind = NV_FAULT_NONE};
  module_t* module = calloc(1, sizeof(*module));
  REQUIRE(module, CUDA_ERROR_OUT_OF_MEMORY);
  module->context = context;
  module->module = nv_module_create(context->device->engine, text, size, &fault);
  result_t result = module->module ? CUDA_SUCCESS : fault_result(fault.kind);
  write_log(jit, fault.message);
  if (result == CUDA_SUCCESS && (!list_functions(module) || !object_add(module, OBJECT_MODULE)))
    result = CUDA_ERROR_OUT_OF_MEMORY;
  if (result != CUDA_SUCCESS) {
    if (driver.is_verbose) fprintf(stderr, "softgpu: %s\n", fault.message);
    destroy(module);
    return result;
  }
  add_to_context(module);
  *out = module;
  return CUDA_SUCCESS;
}

static result_t load_image(context_t* context, const void* image, const jit_t* jit, module_t** out) {
  size_t size = 0;
  result_t result;
  const char* why;
  const char* text = image_find_ptx(image, context->device->target, &size, &result, &why);
  if (text) return load_text(context, text, size, jit, out);
  write_log(jit, why);
  if (driver.is_verbose) fprintf(stderr, "softgpu: %s\n", why);
  return result;
}

result_t cuModuleLoadDataEx(module_t** out, const void* image, unsigned count, int* options, void** values) {
  context_t* context;
  jit_t jit = {count, options, values};
  CHECK(context_enter(&context));
  REQUIRE(out && image, CUDA_ERROR_INVALID_VALUE);
  CHECK(check_options(&jit));
  return load_image(context, image, &jit, out);
}
result_t cuModuleLoadData(module_t** out, const void* image) { return cuModuleLoadDataEx(out, image, 0, NULL, NULL); }
result_t cuModuleLoadFatBinary(module_t** out, const void* image) { return cuModuleLoadData(out, image); }

result_t cuModuleLoad(module_t** out, const char* name) {
  context_t* context;
  CHECK(context_enter(&context));
  REQUIRE(out && name, CUDA_ERROR_INVALID_VALUE);
  char* image = image_read_file(name);
  REQUIRE(image, CUDA_ERROR_FILE_NOT_FOUND);
  result_t result = cuModuleLoadData(out, image);
  free(image);
  return result;
}

static void unlink_module(module_t* module) {
  module_t** at = &module->context->modules;
  while (*at && *at != module) at = &(*at)->next;
  if (*at) *at = module->next;
}

// What runs of it ends first.
result_t cuModuleUnload(module_t* module) {
  CHECK(driver_enter());
  REQUIRE(object_is(module, OBJECT_MODULE) && !module->library, CUDA_ERROR_INVALID_HANDLE);
  result_t result = stream_synchronize_all(module->context);
  driver_lock();
  unlink_module(module);
  driver_unlock();
  destroy(module);
  return result;
}

void module_destroy_all(context_t* context) {
  for (;;) {
    driver_lock();
    module_t* module = context->modules;
    if (module) unlink_module(module);
    driver_unlock();
    if (!module) return;
    destroy(module);
  }
}

static result_t enter(module_t* module) {
  CHECK(driver_enter());
  return object_is(module, OBJECT_MODULE) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static function_t* find_by_name(const module_t* module, const char* name) {
  for (uint32_t i = 0; i < module->count; ++i) {
    if (strcmp(module->functions[i].info.name, name) == 0) return &module->functions[i];
  }
  return NULL;
}

result_t cuModuleGetFunction(function_t** out, module_t* module, const char* name) {
  CHECK(enter(module));
  REQUIRE(out && name, CUDA_ERROR_INVALID_VALUE);
  *out = find_by_name(module, name);
  return *out ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

result_t cuModuleGetFunctionCount(unsigned* out, module_t* module) {
  CHECK(enter(module));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = module->count;
  return CUDA_SUCCESS;
}

result_t cuModuleEnumerateFunctions(function_t** out, unsigned count, module_t* module) {
  CHECK(enter(module));
  REQUIRE(out || !count, CUDA_ERROR_INVALID_VALUE);
  for (unsigned i = 0; i < count && i < module->count; ++i) out[i] = &module->functions[i];
  return CUDA_SUCCESS;
}

static result_t find_global(const module_t* module, const char* name, uint64_t* out_address, size_t* out_size) {
  uint64_t address = 0, size = 0;
  REQUIRE(name && (out_address || out_size), CUDA_ERROR_INVALID_VALUE);
  REQUIRE(nv_module_global(module->module, name, &address, &size), CUDA_ERROR_NOT_FOUND);
  if (out_address) *out_address = address;
  if (out_size) *out_size = size;
  return CUDA_SUCCESS;
}

result_t cuModuleGetGlobal_v2(uint64_t* out_address, size_t* out_size, module_t* module, const char* name) {
  CHECK(enter(module));
  return find_global(module, name, out_address, out_size);
}

result_t cuModuleGetLoadingMode(int* out) {
  enum { EAGER = 1 };
  CHECK(driver_enter());
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = EAGER;
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------------------------------------------------===
// Libraries
//===----------------------------------------------------------------------------------------------------------------===

static void destroy_library(library_t* library) {
  object_remove(library);
  for (uint32_t i = 0; library->kernels && i < library->count; ++i) {
    object_remove(&library->kernels[i]);
    free(library->kernels[i].name);
  }
  free(library->kernels);
  free(library->text);
  free(library);
}

// The context's module of the library, loaded when it is first asked for.
static result_t library_module(library_t* library, context_t* context, module_t** out) {
  driver_lock();
  module_t* module = context->modules;
  while (module && module->library != library) module = module->next;
  driver_unlock();
  *out = module;
  if (module) return CUDA_SUCCESS;
  jit_t none = {0, NULL, NULL};
  CHECK(load_text(context, library->text, library->size, &none, out));
  (*out)->library = library;
  return CUDA_SUCCESS;
}

static bool list_kernels(library_t* library, const module_t* module) {
  library->kernels = calloc(module->count ? module->count : 1, sizeof(*library->kernels));
  bool ok = library->kernels != NULL;
  for (uint32_t i = 0; ok && i < module->count; ++i) {
    kernel_t* kernel = &library->kernels[library->count++];
    *kernel = (kernel_t){library, strdup(module->functions[i].info.name), -1};
    ok = kernel->name && object_add(kernel, OBJECT_KERNEL);
  }
  return ok;
}

// Needs no context of its own; the names of its kernels are those of a module in the current one, or in the first
// GPU's.
static result_t load_library(const void* image, const jit_t* jit, library_t** out) {
  context_t* context = context_current();
  context_t* primary = NULL;
  if (!context || !context_is_alive(context)) CHECK(cuDevicePrimaryCtxRetain(&primary, 0));
  if (primary) context = primary;
  result_t result;
  const char* why = "";
  size_t size = 0;
  const char* text = image_find_ptx(image, context->device->target, &size, &result, &why);
  library_t* library = text ? calloc(1, sizeof(*library)) : NULL;
  module_t* module = NULL;
  if (text) result = library ? load_text(context, text, size, jit, &module) : CUDA_ERROR_OUT_OF_MEMORY;
  if (!text) write_log(jit, why);
  if (result == CUDA_SUCCESS) {
    module->library = library;
    library->text = malloc(size + 1);
    library->size = size;
    if (library->text) memcpy(library->text, text, size);
    bool ok = library->text && list_kernels(library, module) && object_add(library, OBJECT_LIBRARY);
    if (!ok) {
      driver_lock();
      unlink_module(module);
      driver_unlock();
      destroy(module);
      result = CUDA_ERROR_OUT_OF_MEMORY;
    }
  }
  if (result != CUDA_SUCCESS && library) destroy_library(library);
  if (result == CUDA_SUCCESS) *out = library;
  // The module goes with the primary context, and is loaded again when it is asked for.
  if (primary) cuDevicePrimaryCtxRelease_v2(0);
  return result;
}

result_t cuLibraryLoadData(library_t** out, const void* image, int* options, void** values, unsigned count,
                           int* library_options, void** library_values, unsigned library_count) {
  jit_t jit = {count, options, values};
  CHECK(driver_enter());
  REQUIRE(out && image, CUDA_ERROR_INVALID_VALUE);
  CHECK(check_options(&jit));
  return load_library(image, &jit, out);
}

result_t cuLibraryLoadFromFile(library_t** out, const char* name, int* options, void** values, unsigned count,
                               int* library_options, void** library_values, unsigned library_count) {
  REQUIRE(out && name, CUDA_ERROR_INVALID_VALUE);
  char* image = image_read_file(name);
  REQUIRE(image, CUDA_ERROR_FILE_NOT_FOUND);
  result_t result =
      cuLibraryLoadData(out, image, options, values, count, library_options, library_values, library_count);
  free(image);
  return result;
}

static void unload_from(library_t* library, context_t* context) {
  if (!context_is_alive(context)) return;
  driver_lock();
  module_t* module = context->modules;
  while (module && module->library != library) module = module->next;
  driver_unlock();
  if (!module) return;
  stream_synchronize_all(context);
  driver_lock();
  unlink_module(module);
  driver_unlock();
  destroy(module);
}

result_t cuLibraryUnload(library_t* library) {
  CHECK(driver_enter());
  REQUIRE(object_is(library, OBJECT_LIBRARY), CUDA_ERROR_INVALID_HANDLE);
  for (uint32_t i = 0; i < driver.device_count; ++i) unload_from(library, &driver.devices[i].primary);
  driver_lock();
  context_t* first = driver.contexts;
  driver_unlock();
  for (context_t* context = first; context; context = context->next) unload_from(library, context);
  destroy_library(library);
  return CUDA_SUCCESS;
}

static result_t enter_library(library_t* library) {
  CHECK(driver_enter());
  return object_is(library, OBJECT_LIBRARY) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

result_t cuLibraryGetKernel(kernel_t** out, library_t* library, const char* name) {
  CHECK(enter_library(library));
  REQUIRE(out && name, CUDA_ERROR_INVALID_VALUE);
  for (uint32_t i = 0; i < library->count; ++i) {
    if (strcmp(library->kernels[i].name, name) != 0) continue;
    *out = &library->kernels[i];
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

result_t cuLibraryGetKernelCount(unsigned* out, library_t* library) {
  CHECK(enter_library(library));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = library->count;
  return CUDA_SUCCESS;
}

result_t cuLibraryEnumerateKernels(kernel_t** out, unsigned count, library_t* library) {
  CHECK(enter_library(library));
  REQUIRE(out || !count, CUDA_ERROR_INVALID_VALUE);
  for (unsigned i = 0; i < count && i < library->count; ++i) out[i] = &library->kernels[i];
  return CUDA_SUCCESS;
}

result_t cuLibraryGetModule(module_t** out, library_t* library) {
  context_t* context;
  CHECK(context_enter(&context));
  CHECK(enter_library(library));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  return library_module(library, context, out);
}

result_t cuLibraryGetGlobal(uint64_t* out_address, size_t* out_size, library_t* library, const char* name) {
  module_t* module;
  CHECK(cuLibraryGetModule(&module, library));
  return find_global(module, name, out_address, out_size);
}

result_t function_find(void* handle, context_t* context, function_t** out_function) {
  if (object_is(handle, OBJECT_FUNCTION)) {
    *out_function = handle;
    return (*out_function)->module->context == context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  }
  REQUIRE(object_is(handle, OBJECT_KERNEL), CUDA_ERROR_INVALID_HANDLE);
  kernel_t* kernel = handle;
  module_t* module;
  CHECK(library_module(kernel->library, context, &module));
  *out_function = find_by_name(module, kernel->name);
  REQUIRE(*out_function, CUDA_ERROR_NOT_FOUND);
  if (kernel->max_dynamic_shared >= 0) (*out_function)->max_dynamic_shared = kernel->max_dynamic_shared;
  return CUDA_SUCCESS;
}
