// Executables: PTX, which the vendor's compiler makes code of when it is loaded.
#include "hal/stream/device.h"
#include "hal/stream/ptx.h"

#define PTX_FORMAT "cuda-nvptx-fb"
enum { ERROR_LOG_SIZE = 4096, DEFAULT_SHARED_MEMORY = 48 << 10 };

typedef struct stream_executable_t {
  gpu_executable_t base;
  iree_allocator_t host_allocator;
  stream_context_t context;
  char* text;  // ends with a zero
  ptx_t ptx;
  void* module;
  stream_function_t* functions;
} stream_executable_t;

static void executable_destroy(gpu_executable_t* base) {
  stream_executable_t* executable = (stream_executable_t*)base;
  iree_allocator_t host_allocator = executable->host_allocator;
  if (executable->module) {
    iree_status_ignore(stream_context_enter(&executable->context));
    executable->context.api->module_unload(executable->module);
  }
  if (executable->context.handle) stream_context_release(&executable->context);
  ptx_free(&executable->ptx, host_allocator);
  iree_allocator_free(host_allocator, executable->functions);
  iree_allocator_free(host_allocator, executable->text);
  iree_allocator_free(host_allocator, executable);
}

//===----------------------------------------------------------------------------------------------------------------===
// Formats
//===----------------------------------------------------------------------------------------------------------------===

// Code for an architecture runs on it and on later ones, unless it is for that one only.
static bool fits(const stream_device_t* device, uint32_t target, bool is_exact) {
  return is_exact ? target == device->capability : target && target <= device->capability;
}

bool stream_takes_format(hal_queued_device_t* device, iree_string_view_t format) {
  bool is_exact = false;
  if (iree_string_view_equal(format, IREE_SV(PTX_FORMAT))) return true;
  uint32_t target = ptx_architecture(format, &is_exact);
  return fits((const stream_device_t*)device, target, is_exact);
}

// Text that says its version somewhere.
static bool is_ptx(iree_const_byte_span_t data) {
  return !memchr(data.data, 0, data.data_length) && memmem(data.data, data.data_length, ".version", 8);
}

iree_status_t stream_infer_format(iree_const_byte_span_t data, char* storage, size_t capacity,
                                  iree_string_view_t* out_format) {
  if (!is_ptx(data)) return iree_make_status(IREE_STATUS_INCOMPATIBLE, "not PTX for NVIDIA GPUs");
  *out_format = IREE_SV(PTX_FORMAT);
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Loading
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t compile(stream_executable_t* executable) {
  const stream_api_t* api = executable->context.api;
  char log[ERROR_LOG_SIZE] = {0};
  const int options[] = {STREAM_API_JIT_ERROR_LOG, STREAM_API_JIT_ERROR_LOG_SIZE};
  void* values[] = {log, (void*)(uintptr_t)(sizeof(log) - 1)};
  iree_status_t status = STREAM_CALL(api, module_load, &executable->module, executable->text, 2, options, values);
  if (iree_status_is_ok(status) || !log[0]) return status;
  return iree_status_annotate_f(status, "%s", log);
}

static iree_status_t load_function(const stream_executable_t* executable, const stream_device_t* device,
                                   iree_host_size_t index) {
  const stream_api_t* api = executable->context.api;
  stream_function_t* function = &executable->functions[index];
  function->base = executable->ptx.functions[index];
  char name[4096];
  if (function->base.name.size >= sizeof(name)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "a kernel's name of %" PRIhsz " characters",
                            function->base.name.size);
  }
  iree_string_view_to_cstring(function->base.name, name, sizeof(name));
  int max_threads = 0, shared = 0;
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, module_function, &function->handle, executable->module, name));
  IREE_RETURN_IF_ERROR(
      STREAM_CALL(api, function_attribute, &max_threads, STREAM_API_FUNCTION_MAX_THREADS, function->handle));
  IREE_RETURN_IF_ERROR(
      STREAM_CALL(api, function_attribute, &shared, STREAM_API_FUNCTION_SHARED_SIZE, function->handle));
  function->base.max_workgroup_size = (uint32_t)max_threads;
  // More than the default must be asked for, once.
  int limit = (int)device->max_shared_memory - shared;
  if (limit > 0 && device->max_shared_memory > DEFAULT_SHARED_MEMORY) {
    IREE_RETURN_IF_ERROR(
        STREAM_CALL(api, function_set_attribute, function->handle, STREAM_API_FUNCTION_MAX_DYNAMIC_SHARED_SIZE, limit));
  }
  return iree_ok_status();
}

static iree_status_t load(stream_executable_t* executable, stream_device_t* device, iree_const_byte_span_t data) {
  iree_allocator_t host_allocator = executable->host_allocator;
  const stream_context_t* context = &device->context;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, data.data_length + 1, (void**)&executable->text));
  memcpy(executable->text, data.data, data.data_length);
  IREE_RETURN_IF_ERROR(
      ptx_read(iree_make_string_view(executable->text, data.data_length), host_allocator, &executable->ptx));
  if (!fits(device, executable->ptx.target, executable->ptx.is_exact)) {
    return iree_make_status(IREE_STATUS_INCOMPATIBLE, "the executable is for sm_%u%s, the device is a %s",
                            executable->ptx.target, executable->ptx.is_exact ? " only" : " and later",
                            device->architecture);
  }
  IREE_RETURN_IF_ERROR(stream_context_retain(context->api, context->device, &executable->context));
  IREE_RETURN_IF_ERROR(stream_context_enter(context));
  IREE_RETURN_IF_ERROR(compile(executable));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(host_allocator, executable->ptx.count + 1,
                                                   sizeof(*executable->functions), (void**)&executable->functions));
  for (iree_host_size_t i = 0; i < executable->ptx.count; ++i) {
    IREE_RETURN_IF_ERROR(load_function(executable, device, i));
  }
  return iree_ok_status();
}

iree_status_t stream_executable_load(gpu_device_t* base, iree_const_byte_span_t data,
                                     iree_hal_executable_t** out_executable) {
  *out_executable = NULL;
  stream_executable_t* executable = NULL;
  if (!is_ptx(data)) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the executable is not PTX");
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(base->base.host_allocator, sizeof(*executable), (void**)&executable));
  gpu_executable_initialize(&executable->base);
  executable->base.backend = base->backend;
  executable->base.destroy = executable_destroy;
  executable->host_allocator = base->base.host_allocator;
  iree_status_t status = load(executable, (stream_device_t*)base, data);
  if (!iree_status_is_ok(status)) {
    executable_destroy(&executable->base);
    return status;
  }
  executable->base.function_count = executable->ptx.count;
  executable->base.function_size = sizeof(*executable->functions);
  executable->base.functions = executable->functions;
  *out_executable = (iree_hal_executable_t*)executable;
  return iree_ok_status();
}
