// Loading of executables: code objects (code_object.h), copied: loaders may refer to them.
#include "hal/amdgpu/executable.h"

typedef struct amdgpu_executable_t {
  gpu_executable_t base;
  iree_allocator_t host_allocator;
  libhsa_t* hsa;  // retained
  uint8_t* code;
  uint32_t physical_count;
  hsa_executable_t* loaded;  // by physical device
  metadata_t metadata;
  executable_function_t* functions;
  kernel_object_t* objects;  // of all functions
} amdgpu_executable_t;

static void executable_destroy(gpu_executable_t* base) {
  amdgpu_executable_t* executable = (amdgpu_executable_t*)base;
  iree_allocator_t host_allocator = executable->host_allocator;
  for (uint32_t i = 0; executable->loaded && i < executable->physical_count; ++i) {
    if (executable->loaded[i].handle) executable->hsa->hsa_executable_destroy(executable->loaded[i]);
  }
  metadata_free(&executable->metadata, host_allocator);
  iree_allocator_free(host_allocator, executable->loaded);
  iree_allocator_free(host_allocator, executable->functions);
  iree_allocator_free(host_allocator, executable->objects);
  iree_allocator_free(host_allocator, executable->code);
  libhsa_release(executable->hsa);
  iree_allocator_free(host_allocator, executable);
}

//===----------------------------------------------------------------------------------------------------------------===
// Loading
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t check_target(const logical_device_t* device, iree_const_byte_span_t code) {
  for (uint32_t i = 0; i < device->gpu.domain.physical_count; ++i) {
    IREE_RETURN_IF_ERROR(
        code_object_check_target(code, &device->physical[i].gpu->target, device->gpu.base.host_allocator));
  }
  return iree_ok_status();
}

static iree_status_t load_function(amdgpu_executable_t* executable, const physical_device_t* physical, uint32_t index) {
  const metadata_kernel_t* info = &executable->metadata.kernels[index];
  char symbol[4096];
  iree_string_view_to_cstring(info->symbol, symbol, sizeof(symbol));
  kernel_object_t* object = &executable->functions[index].objects[physical->ordinal];
  IREE_RETURN_IF_ERROR(library_find_kernel(executable->hsa, executable->loaded[physical->ordinal], physical->gpu->agent,
                                           symbol, object));
  object->kernarg_size = iree_max(object->kernarg_size, info->kernarg_size);
  return iree_ok_status();
}

static iree_status_t make_tables(amdgpu_executable_t* executable, iree_const_byte_span_t code) {
  iree_allocator_t allocator = executable->host_allocator;
  iree_host_size_t count = executable->metadata.kernel_count;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(allocator, executable->physical_count, sizeof(*executable->loaded),
                                                   (void**)&executable->loaded));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(allocator, count + 1, sizeof(*executable->functions),
                                                   (void**)&executable->functions));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(allocator, count * executable->physical_count + 1,
                                                   sizeof(*executable->objects), (void**)&executable->objects));
  for (iree_host_size_t i = 0; i < count; ++i) {
    const metadata_kernel_t* info = &executable->metadata.kernels[i];
    executable->functions[i].base = code_object_function(info);
    executable->functions[i].info = *info;
    executable->functions[i].objects = executable->objects + i * executable->physical_count;
    executable->functions[i].has_descriptor = descriptor_read(code, info->symbol, &executable->functions[i].descriptor);
  }
  return iree_ok_status();
}

static iree_status_t load(amdgpu_executable_t* executable, const logical_device_t* device,
                          iree_const_byte_span_t code) {
  IREE_RETURN_IF_ERROR(iree_allocator_clone(executable->host_allocator, code, (void**)&executable->code));
  iree_const_byte_span_t copy = iree_make_const_byte_span(executable->code, code.data_length);
  IREE_RETURN_IF_ERROR(metadata_read(copy, executable->host_allocator, &executable->metadata));
  IREE_RETURN_IF_ERROR(make_tables(executable, copy));
  for (uint32_t i = 0; i < device->gpu.domain.physical_count; ++i) {
    const physical_device_t* physical = &device->physical[i];
    IREE_RETURN_IF_ERROR(library_load_code(executable->hsa, physical->gpu->agent, copy, &executable->loaded[i]));
    for (uint32_t j = 0; j < executable->metadata.kernel_count; ++j) {
      IREE_RETURN_IF_ERROR(load_function(executable, physical, j));
    }
  }
  return iree_ok_status();
}

iree_status_t amdgpu_executable_load(gpu_device_t* base, iree_const_byte_span_t data,
                                     iree_hal_executable_t** out_executable) {
  logical_device_t* device = (logical_device_t*)base;
  *out_executable = NULL;
  IREE_RETURN_IF_ERROR(check_target(device, data));
  amdgpu_executable_t* executable = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(base->base.host_allocator, sizeof(*executable), (void**)&executable));
  gpu_executable_initialize(&executable->base);
  executable->base.backend = base->backend;
  executable->base.destroy = executable_destroy;
  executable->host_allocator = base->base.host_allocator;
  executable->hsa = device->system->hsa;
  libhsa_retain(executable->hsa);
  executable->physical_count = base->domain.physical_count;
  iree_status_t status = load(executable, device, data);
  if (!iree_status_is_ok(status)) {
    executable_destroy(&executable->base);
    return status;
  }
  executable->base.function_count = executable->metadata.kernel_count;
  executable->base.function_size = sizeof(*executable->functions);
  executable->base.functions = executable->functions;
  executable->base.data = iree_make_const_byte_span(executable->code, data.data_length);
  *out_executable = (iree_hal_executable_t*)executable;
  return iree_ok_status();
}

// Where a kernel's descriptor lies says where all of the code does.
bool amdgpu_executable_find_code(iree_hal_executable_t* base, uint32_t physical, hal_profile_code_t* out_code) {
  const amdgpu_executable_t* executable = (const amdgpu_executable_t*)base;
  for (iree_host_size_t i = 0; i < executable->base.function_count; ++i) {
    const executable_function_t* function = &executable->functions[i];
    if (!function->has_descriptor) continue;
    *out_code = (hal_profile_code_t){
        .data = executable->base.data,
        .load_delta = (int64_t)(function->objects[physical].handle - function->descriptor.address),
        .load_size = descriptor_image_size(executable->base.data),
    };
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------------------------------------------------===
// Formats
//===----------------------------------------------------------------------------------------------------------------===

bool amdgpu_takes_format(hal_queued_device_t* device, iree_string_view_t format) {
  return code_object_takes_format(format, &((logical_device_t*)device)->physical[0].gpu->target);
}

const char* amdgpu_architecture(const gpu_device_t* device) {
  return ((const logical_device_t*)device)->physical[0].gpu->isa;
}
