// Executables: code that the vendor's library loads, once for each GPU of the device.
#include "hal/stream/code.h"

enum { ERROR_LOG_SIZE = 4096, MAX_NAME = 4096, DEFAULT_SHARED_MEMORY = 48 << 10 };

typedef struct module_t {
  stream_context_t context;
  void* handle;
} module_t;

typedef struct stream_executable_t {
  gpu_executable_t base;
  iree_allocator_t host_allocator;
  uint8_t* data;  // a zero behind it
  size_t data_size;
  uint32_t gpu_count;
  module_t* modules;  // by GPU of the device
  stream_function_t* functions;
  void** handles;  // of all functions
} stream_executable_t;

static void executable_destroy(gpu_executable_t* base) {
  stream_executable_t* executable = (stream_executable_t*)base;
  iree_allocator_t host_allocator = executable->host_allocator;
  for (uint32_t i = 0; executable->modules && i < executable->gpu_count; ++i) {
    module_t* module = &executable->modules[i];
    if (module->handle) {
      iree_status_ignore(stream_context_enter(&module->context));
      module->context.api->module_unload(module->handle);
    }
    stream_context_release(&module->context);
  }
  iree_allocator_free(host_allocator, executable->modules);
  iree_allocator_free(host_allocator, executable->handles);
  iree_allocator_free(host_allocator, executable->functions);
  iree_allocator_free(host_allocator, executable->data);
  iree_allocator_free(host_allocator, executable);
}

bool stream_takes_format(hal_queued_device_t* base, iree_string_view_t format) {
  const stream_device_t* device = (const stream_device_t*)base;
  return device->platform->code->takes_format(&device->gpus[0], format);
}

//===----------------------------------------------------------------------------------------------------------------===
// Loading
//===----------------------------------------------------------------------------------------------------------------===

// What to do when the library's compiler is older than the source.
static iree_status_t advise(iree_status_t status) {
  if (!iree_status_is_incompatible(status)) return status;
  return iree_status_annotate_f(status,
                                "the driver knows no PTX as new as this: compile for an older one, as in "
                                "--iree-cuda-target=sm_90+ptx80, or to machine code with --iree-cuda-use-ptxas");
}

static iree_status_t load_data(const stream_executable_t* executable, module_t* module) {
  const stream_api_t* api = module->context.api;
  char log[ERROR_LOG_SIZE] = {0};
  const int options[] = {STREAM_API_JIT_ERROR_LOG, STREAM_API_JIT_ERROR_LOG_SIZE};
  void* values[] = {log, (void*)(uintptr_t)(sizeof(log) - 1)};
  iree_status_t status = STREAM_CALL(api, module_load, &module->handle, executable->data, 2, options, values);
  if (!iree_status_is_ok(status) && log[0]) status = iree_status_annotate_f(status, "%s", log);
  return advise(status);
}

// Machine code for the GPU as the library makes it, which is the link's; and what that is worth keeping for, the
// module.
static iree_status_t link_module(const stream_executable_t* executable, const char* folder, const code_cache_key_t* key,
                                 void* link, module_t* module) {
  const stream_api_t* api = module->context.api;
  void* code = NULL;
  size_t size = 0;
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, link_add, link, STREAM_API_LINK_PTX, executable->data,
                                   executable->data_size + 1, "executable", 0, NULL, NULL));
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, link_complete, link, &code, &size));
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, module_load, &module->handle, code, 0, NULL, NULL));
  code_cache_write(folder, key, iree_make_const_byte_span(code, size), CODE_CACHE_LIMIT);
  return iree_ok_status();
}

// Loads machine code that is kept, or is from now on. False when the library is to be given the source: what is wrong
// with that it says then.
static bool load_kept(const stream_executable_t* executable, const stream_device_t* device, const stream_gpu_t* gpu,
                      module_t* module) {
  const stream_api_t* api = module->context.api;
  const char* folder = device->options.code_folder;
  int version = 0;
  void* link = NULL;
  if (!folder[0] || !api->link_create || !api->link_add || !api->link_complete || !api->link_destroy) return false;
  if (api->driver_version(&version) != STREAM_API_SUCCESS) return false;
  code_cache_key_t key = code_cache_key(iree_make_const_byte_span(executable->data, executable->data_size), api->path,
                                        (uint32_t)version, gpu->capability);
  iree_byte_span_t code = code_cache_read(folder, &key, executable->host_allocator);
  bool is_loaded = code.data && api->module_load(&module->handle, code.data, 0, NULL, NULL) == STREAM_API_SUCCESS;
  iree_allocator_free(executable->host_allocator, code.data);
  if (is_loaded) return true;
  module->handle = NULL;
  if (api->link_create(0, NULL, NULL, &link) != STREAM_API_SUCCESS) return false;
  iree_status_t status = link_module(executable, folder, &key, link, module);
  api->link_destroy(link);
  if (iree_status_consume_code(status) == IREE_STATUS_OK) return true;
  module->handle = NULL;
  return false;
}

static iree_status_t load_module(stream_executable_t* executable, const stream_code_t* code,
                                 const stream_image_t* image, module_t* module) {
  iree_status_t status = load_data(executable, module);
  if (iree_status_is_ok(status) || !code->step_down || !code->step_down(image, executable->data)) return status;
  iree_status_ignore(status);
  return load_data(executable, module);
}

// More workgroup memory than the default must be asked for, once.
static iree_status_t allow_shared_memory(const stream_api_t* api, const stream_gpu_t* gpu, void* handle) {
  int shared = 0;
  if (!api->function_set_attribute || gpu->max_shared_memory <= DEFAULT_SHARED_MEMORY) return iree_ok_status();
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, function_attribute, &shared, STREAM_API_FUNCTION_SHARED_SIZE, handle));
  int limit = (int)gpu->max_shared_memory - shared;
  if (limit <= 0) return iree_ok_status();
  return STREAM_CALL(api, function_set_attribute, handle, STREAM_API_FUNCTION_MAX_DYNAMIC_SHARED_SIZE, limit);
}

static iree_status_t load_function(const module_t* module, const stream_gpu_t* gpu, gpu_function_t* function,
                                   void** out_handle) {
  const stream_api_t* api = module->context.api;
  char name[MAX_NAME];
  if (function->name.size >= sizeof(name)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "a kernel's name of %" PRIhsz " characters",
                            function->name.size);
  }
  iree_string_view_to_cstring(function->name, name, sizeof(name));
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, module_function, out_handle, module->handle, name));
  if (!function->max_workgroup_size) {
    int max_threads = 0;
    IREE_RETURN_IF_ERROR(
        STREAM_CALL(api, function_attribute, &max_threads, STREAM_API_FUNCTION_MAX_THREADS, *out_handle));
    function->max_workgroup_size = (uint32_t)max_threads;
  }
  return allow_shared_memory(api, gpu, *out_handle);
}

static iree_status_t load_on_gpu(stream_executable_t* executable, const stream_device_t* device,
                                 const stream_image_t* image, uint32_t index) {
  const stream_gpu_t* gpu = &device->gpus[index];
  module_t* module = &executable->modules[index];
  IREE_RETURN_IF_ERROR(stream_context_retain(gpu->context.api, gpu->context.device, &module->context));
  IREE_RETURN_IF_ERROR(stream_context_enter(&module->context));
  if (!image->is_source || !load_kept(executable, device, gpu, module)) {
    IREE_RETURN_IF_ERROR(load_module(executable, device->platform->code, image, module));
  }
  for (iree_host_size_t i = 0; i < executable->base.function_count; ++i) {
    stream_function_t* function = &executable->functions[i];
    IREE_RETURN_IF_ERROR(load_function(module, gpu, &function->base, &function->handles[index]));
  }
  return iree_ok_status();
}

static iree_status_t allocate_tables(stream_executable_t* executable, const stream_image_t* image) {
  iree_allocator_t allocator = executable->host_allocator;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(allocator, executable->gpu_count, sizeof(*executable->modules),
                                                   (void**)&executable->modules));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(allocator, image->count + 1, sizeof(*executable->functions),
                                                   (void**)&executable->functions));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(allocator, image->count * executable->gpu_count + 1,
                                                   sizeof(*executable->handles), (void**)&executable->handles));
  for (iree_host_size_t i = 0; i < image->count; ++i) {
    executable->functions[i].base = image->functions[i];
    executable->functions[i].handles = executable->handles + i * executable->gpu_count;
  }
  executable->base.function_count = image->count;
  executable->base.function_size = sizeof(*executable->functions);
  executable->base.functions = executable->functions;
  return iree_ok_status();
}

static iree_status_t load(stream_executable_t* executable, const stream_device_t* device, iree_const_byte_span_t data) {
  iree_allocator_t host_allocator = executable->host_allocator;
  stream_image_t image;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, data.data_length + 1, (void**)&executable->data));
  if (data.data_length) memcpy(executable->data, data.data, data.data_length);
  data.data = executable->data;
  executable->data_size = data.data_length;
  IREE_RETURN_IF_ERROR(device->platform->code->read(device->gpus, executable->gpu_count, data, host_allocator, &image));
  iree_status_t status = allocate_tables(executable, &image);
  for (uint32_t i = 0; iree_status_is_ok(status) && i < executable->gpu_count; ++i) {
    status = load_on_gpu(executable, device, &image, i);
  }
  iree_allocator_free(host_allocator, image.functions);
  return status;
}

iree_status_t stream_executable_load(gpu_device_t* base, iree_const_byte_span_t data,
                                     iree_hal_executable_t** out_executable) {
  *out_executable = NULL;
  stream_executable_t* executable = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(base->base.host_allocator, sizeof(*executable), (void**)&executable));
  gpu_executable_initialize(&executable->base);
  executable->base.backend = base->backend;
  executable->base.destroy = executable_destroy;
  executable->host_allocator = base->base.host_allocator;
  executable->gpu_count = base->domain.physical_count;
  iree_status_t status = load(executable, (const stream_device_t*)base, data);
  if (!iree_status_is_ok(status)) {
    executable_destroy(&executable->base);
    return status;
  }
  *out_executable = (iree_hal_executable_t*)executable;
  return iree_ok_status();
}
