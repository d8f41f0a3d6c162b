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

static iree_status_t load_data(const stream_executable_t* executable, module_t* module) {
  const stream_api_t* api = module->context.api;
  char log[ERROR_LOG_SIZE] = {0};
  const int options[] = {STREAM_API_JIT_ERROR_LOG, STREAM_API_JIT_ERROR_LOG_SIZE};
  void* values[] = {log, (void*)(uintptr_t)(sizeof(log) - 1)};
  iree_status_t status = STREAM_CALL(api, module_load, &module->handle, executable->data, 2, options, values);
  if (iree_status_is_ok(status) || !log[0]) return status;
  return iree_status_annotate_f(status, "%s", log);
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
  IREE_RETURN_IF_ERROR(load_module(executable, device->platform->code, image, module));
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
