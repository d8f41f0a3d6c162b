// Loading of executables. The data is a code object as it is, in the formats "rocm-hsaco-fb" (any target, which the
// ELF header names) and by architecture ("gfx1100", "gfx11-generic"). It is copied: loaders may refer to it.
#include "hal/amdgpu/executable.h"

typedef struct amdgpu_executable_t {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
  libhsa_t* hsa;  // retained
  uint8_t* code;
  uint32_t physical_count;
  hsa_executable_t* loaded;  // by physical device
  metadata_t metadata;
  executable_function_t* functions;
  kernel_object_t* objects;  // of all functions
} amdgpu_executable_t;

static void executable_destroy(iree_hal_executable_t* base) {
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

static iree_host_size_t executable_function_count(iree_hal_executable_t* base) {
  return ((amdgpu_executable_t*)base)->metadata.kernel_count;
}

static iree_status_t executable_function_info(iree_hal_executable_t* base, iree_hal_executable_function_t function,
                                              iree_hal_executable_function_info_t* out_info) {
  const executable_function_t* row = amdgpu_executable_function(base, function);
  if (!row) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "function %" PRIu64 " is out of range of an executable with %" PRIhsz " functions",
                            function.value, executable_function_count(base));
  }
  out_info->name = row->info.name;
  out_info->constant_count = (uint16_t)row->info.constant_count;
  out_info->binding_count = (uint16_t)row->info.binding_count;
  out_info->parameter_count = (uint16_t)(row->info.binding_count + row->info.constant_count);
  bool is_fixed = row->info.workgroup_size[0] != 0;
  if (!is_fixed) out_info->flags |= IREE_HAL_EXECUTABLE_FUNCTION_FLAG_WORKGROUP_SIZE_DYNAMIC;
  for (int i = 0; i < 3; ++i) out_info->workgroup_size[i] = iree_max(row->info.workgroup_size[i], 1u);
  return iree_ok_status();
}

static iree_status_t executable_function_parameters(iree_hal_executable_t* base,
                                                    iree_hal_executable_function_t function, iree_host_size_t capacity,
                                                    iree_hal_executable_function_parameter_t* out_parameters) {
  iree_hal_executable_function_info_t info = {0};
  IREE_RETURN_IF_ERROR(executable_function_info(base, function, &info));
  for (iree_host_size_t i = 0; i < iree_min(capacity, info.parameter_count); ++i) {
    bool is_binding = i < info.binding_count;
    out_parameters[i] = (iree_hal_executable_function_parameter_t){
        .type = is_binding ? IREE_HAL_EXECUTABLE_FUNCTION_PARAMETER_TYPE_BINDING
                           : IREE_HAL_EXECUTABLE_FUNCTION_PARAMETER_TYPE_CONSTANT,
        .size = is_binding ? 8 : 4,
        .offset = (uint16_t)(is_binding ? i : (i - info.binding_count) * 4),
    };
  }
  return iree_ok_status();
}

static iree_status_t executable_lookup_function_by_name(iree_hal_executable_t* base, iree_string_view_t name,
                                                        iree_hal_executable_function_t* out_function) {
  const amdgpu_executable_t* executable = (const amdgpu_executable_t*)base;
  for (iree_host_size_t i = 0; i < executable->metadata.kernel_count; ++i) {
    if (!iree_string_view_equal(executable->metadata.kernels[i].name, name)) continue;
    *out_function = iree_hal_executable_function_from_index((uint32_t)i);
    return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_NOT_FOUND, "executable has no function '%.*s'", (int)name.size, name.data);
}

static const iree_hal_executable_vtable_t executable_vtable = {
    .destroy = executable_destroy,
    .function_count = executable_function_count,
    .function_info = executable_function_info,
    .function_parameters = executable_function_parameters,
    .lookup_function_by_name = executable_lookup_function_by_name,
};

const executable_function_t* amdgpu_executable_function(iree_hal_executable_t* base,
                                                        iree_hal_executable_function_t function) {
  if (!iree_hal_resource_is(base, &executable_vtable)) return NULL;
  const amdgpu_executable_t* executable = (const amdgpu_executable_t*)base;
  bool in_range = iree_hal_executable_function_is_index_in_range(function, executable->metadata.kernel_count);
  return in_range ? &executable->functions[iree_hal_executable_function_index(function)] : NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Loading
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t fail_target(const target_id_t* code, const system_gpu_t* gpu, iree_allocator_t host_allocator) {
  iree_string_builder_t has;
  iree_string_builder_initialize(host_allocator, &has);
  iree_status_t status = target_id_append(code, &has);
  const char* generic = target_id_generic(gpu->target.processor);
  if (iree_status_is_ok(status)) {
    status = iree_make_status(IREE_STATUS_INCOMPATIBLE, "the executable is for [%.*s], the device needs %s (%s%s%s)",
                              (int)iree_string_builder_size(&has), iree_string_builder_buffer(&has),
                              gpu->target.processor, gpu->isa, generic ? ", or " : "", generic ? generic : "");
  }
  iree_string_builder_deinitialize(&has);
  return status;
}

static iree_status_t check_target(const logical_device_t* device, iree_const_byte_span_t code) {
  target_id_t target;
  IREE_RETURN_IF_ERROR(target_id_from_elf(code, &target));
  for (uint32_t i = 0; i < device->gpu.domain.physical_count; ++i) {
    const system_gpu_t* gpu = device->physical[i].gpu;
    if (target_id_match(&target, &gpu->target) == TARGET_MATCH_NONE) {
      return fail_target(&target, gpu, device->gpu.base.host_allocator);
    }
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

static iree_status_t allocate_tables(amdgpu_executable_t* executable) {
  iree_allocator_t allocator = executable->host_allocator;
  iree_host_size_t count = executable->metadata.kernel_count;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(allocator, executable->physical_count, sizeof(*executable->loaded),
                                                   (void**)&executable->loaded));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(allocator, count + 1, sizeof(*executable->functions),
                                                   (void**)&executable->functions));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(allocator, count * executable->physical_count + 1,
                                                   sizeof(*executable->objects), (void**)&executable->objects));
  for (iree_host_size_t i = 0; i < count; ++i) {
    executable->functions[i].info = executable->metadata.kernels[i];
    executable->functions[i].objects = executable->objects + i * executable->physical_count;
  }
  return iree_ok_status();
}

static iree_status_t load(amdgpu_executable_t* executable, const logical_device_t* device,
                          iree_const_byte_span_t code) {
  IREE_RETURN_IF_ERROR(iree_allocator_clone(executable->host_allocator, code, (void**)&executable->code));
  iree_const_byte_span_t copy = iree_make_const_byte_span(executable->code, code.data_length);
  IREE_RETURN_IF_ERROR(metadata_read(copy, executable->host_allocator, &executable->metadata));
  IREE_RETURN_IF_ERROR(allocate_tables(executable));
  for (uint32_t i = 0; i < device->gpu.domain.physical_count; ++i) {
    const physical_device_t* physical = &device->physical[i];
    IREE_RETURN_IF_ERROR(library_load_code(executable->hsa, physical->gpu->agent, copy, &executable->loaded[i]));
    for (uint32_t j = 0; j < executable->metadata.kernel_count; ++j) {
      IREE_RETURN_IF_ERROR(load_function(executable, physical, j));
    }
  }
  return iree_ok_status();
}

iree_status_t amdgpu_executable_create(logical_device_t* device, const iree_hal_executable_params_t* params,
                                       iree_hal_executable_t** out_executable) {
  *out_executable = NULL;
  if (params->constant_count) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "AMD GPU executables take no specialization constants");
  }
  IREE_RETURN_IF_ERROR(check_target(device, params->executable_data));
  amdgpu_executable_t* executable = NULL;
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc(device->gpu.base.host_allocator, sizeof(*executable), (void**)&executable));
  iree_hal_resource_initialize(&executable_vtable, &executable->resource);
  executable->host_allocator = device->gpu.base.host_allocator;
  executable->hsa = device->system->hsa;
  libhsa_retain(executable->hsa);
  executable->physical_count = device->gpu.domain.physical_count;
  iree_status_t status = load(executable, device, params->executable_data);
  if (!iree_status_is_ok(status)) {
    executable_destroy((iree_hal_executable_t*)executable);
    return status;
  }
  *out_executable = (iree_hal_executable_t*)executable;
  return iree_ok_status();
}
