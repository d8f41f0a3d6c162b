// Code objects for AMD GPUs.
#include <elf.h>

#include "hal/stream/code.h"

// Of the driver's version, as in 60443483: HIP 6.4. Earlier ones refuse code for generic targets.
enum { FIRST_WITH_GENERIC = 60300000 };
enum { ELFABIVERSION_AMDGPU_HSA_V4 = 2, ELFABIVERSION_AMDGPU_HSA_V5 = 3 };
// Where hipDeviceProp_t of either layout has gcnArchName, whose size is 256; and more than both are large.
enum { NAME_OFFSET_6 = 1160, NAME_OFFSET = 396, NAME_SIZE = 256, PROPERTIES_SIZE = 4096 };

static iree_status_t identify(stream_gpu_t* gpu) {
  const stream_api_t* api = gpu->context.api;
  char properties[PROPERTIES_SIZE] = {0};
  int version = 0;
  size_t offset = NAME_OFFSET_6;
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, driver_version, &version));
  gpu->runs_generic = version >= FIRST_WITH_GENERIC;
  if (api->device_properties_6) {
    IREE_RETURN_IF_ERROR(STREAM_CALL(api, device_properties_6, properties, gpu->context.device));
  } else if (api->device_properties) {
    offset = NAME_OFFSET;
    IREE_RETURN_IF_ERROR(STREAM_CALL(api, device_properties, properties, gpu->context.device));
  }
  properties[offset + NAME_SIZE - 1] = 0;
  snprintf(gpu->architecture, sizeof(gpu->architecture), "%s", properties + offset);
  if (target_id_read(iree_make_cstring_view(gpu->architecture), &gpu->target)) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INCOMPATIBLE, "%s calls its GPU '%s', which is no name of an AMD GPU", api->path,
                          gpu->architecture);
}

static bool is_generic(const char* processor) { return strstr(processor, "-generic") != NULL; }

static bool takes_format(const stream_gpu_t* gpu, iree_string_view_t format) {
  bool names_generic = iree_string_view_ends_with(format, IREE_SV("-generic"));
  return (gpu->runs_generic || !names_generic) && code_object_takes_format(format, &gpu->target);
}

static iree_status_t check(const stream_gpu_t* gpu, iree_const_byte_span_t data, iree_allocator_t host_allocator) {
  target_id_t target;
  IREE_RETURN_IF_ERROR(code_object_check_target(data, &gpu->target, host_allocator));
  IREE_RETURN_IF_ERROR(target_id_from_elf(data, &target));
  if (gpu->runs_generic || !is_generic(target.processor)) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INCOMPATIBLE,
                          "the executable is for %s, which HIP loads from 6.3 on; compile it for %s, or use amdgpu",
                          target.processor, gpu->target.processor);
}

// HIP's loader reads the symbol table of an ELF file without looking whether there is one.
static iree_status_t check_symbols(iree_const_byte_span_t data) {
  Elf64_Ehdr header;
  Elf64_Shdr section;
  memcpy(&header, data.data, sizeof(header));  // target_id_from_elf has seen that it is there
  bool has_symbols = false;
  for (uint32_t i = 0; i < header.e_shnum && header.e_shentsize == sizeof(section); ++i) {
    uint64_t offset = header.e_shoff + (uint64_t)i * sizeof(section);
    if (header.e_shoff > data.data_length || offset > data.data_length || data.data_length - offset < sizeof(section)) {
      break;
    }
    memcpy(&section, data.data + offset, sizeof(section));
    has_symbols |= section.sh_type == SHT_SYMTAB;
  }
  if (has_symbols) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                          "the code object has no symbol table, which HIP needs; was it stripped?");
}

static iree_status_t read(const stream_gpu_t* gpus, uint32_t gpu_count, iree_const_byte_span_t data,
                          iree_allocator_t host_allocator, stream_image_t* out_image) {
  metadata_t metadata;
  *out_image = (stream_image_t){0};
  for (uint32_t i = 0; i < gpu_count; ++i) IREE_RETURN_IF_ERROR(check(&gpus[i], data, host_allocator));
  IREE_RETURN_IF_ERROR(check_symbols(data));
  IREE_RETURN_IF_ERROR(metadata_read(data, host_allocator, &metadata));
  iree_status_t status = iree_allocator_malloc_array(host_allocator, metadata.kernel_count + 1,
                                                     sizeof(*out_image->functions), (void**)&out_image->functions);
  for (iree_host_size_t i = 0; iree_status_is_ok(status) && i < metadata.kernel_count; ++i) {
    out_image->functions[out_image->count++] = code_object_function(&metadata.kernels[i]);
  }
  metadata_free(&metadata, host_allocator);
  return status;
}

// Version 5 of the code object ABI is version 4 but for the arguments that a launch adds, where kernels have any. HIP
// 5.2 knows version 4 only.
static bool step_down(const stream_image_t* image, uint8_t* data) {
  if (data[EI_ABIVERSION] != ELFABIVERSION_AMDGPU_HSA_V5) return false;
  for (iree_host_size_t i = 0; i < image->count; ++i) {
    const gpu_function_t* function = &image->functions[i];
    if (function->kernarg_size > iree_host_align(function->argument_size, sizeof(uint64_t))) return false;
  }
  data[EI_ABIVERSION] = ELFABIVERSION_AMDGPU_HSA_V4;
  return true;
}

const stream_code_t stream_code_amd = {
    .identify = identify,
    .takes_format = takes_format,
    .read = read,
    .step_down = step_down,
};
