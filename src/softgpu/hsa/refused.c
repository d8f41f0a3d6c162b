// What this runtime has no part for: handles of memory that are passed on as numbers, graphics, images, HSAIL's
// finalizer, performance monitors and samples of program counters, shared virtual memory's hints. Each is refused with
// a status of its own, none pretends.
#include <hsa/hsa_ext_finalize.h>
#include <hsa/hsa_ext_image.h>

#include "softgpu/hsa/runtime.h"

// Newer than version 5.2.
enum { HSA_STATUS_ERROR_NOT_SUPPORTED = 47 };

// REFUSE(name, parameters, status)
#define REFUSALS(REFUSE)                                                                                              \
  REFUSE(hsa_amd_ipc_memory_create, (void* address, size_t size, hsa_amd_ipc_memory_t* handle),                       \
         ERROR_INVALID_ARGUMENT)                                                                                      \
  REFUSE(hsa_amd_ipc_memory_attach,                                                                                   \
         (const hsa_amd_ipc_memory_t* handle, size_t size, uint32_t count, const hsa_agent_t* agents, void** out),    \
         ERROR_INVALID_ARGUMENT)                                                                                      \
  REFUSE(hsa_amd_ipc_memory_detach, (void* address), ERROR_INVALID_ARGUMENT)                                          \
  REFUSE(hsa_amd_image_create,                                                                                        \
         (hsa_agent_t agent, const hsa_ext_image_descriptor_t* descriptor, const hsa_amd_image_descriptor_t* layout,  \
          const void* data, hsa_access_permission_t access, hsa_ext_image_t* out),                                    \
         ERROR_INVALID_AGENT)                                                                                         \
  REFUSE(hsa_ext_image_create,                                                                                        \
         (hsa_agent_t agent, const hsa_ext_image_descriptor_t* descriptor, const void* data,                          \
          hsa_access_permission_t access, hsa_ext_image_t* out),                                                      \
         ERROR_INVALID_AGENT)                                                                                         \
  REFUSE(hsa_ext_image_create_with_layout,                                                                            \
         (hsa_agent_t agent, const hsa_ext_image_descriptor_t* descriptor, const void* data,                          \
          hsa_access_permission_t access, hsa_ext_image_data_layout_t layout, size_t row, size_t slice,               \
          hsa_ext_image_t* out),                                                                                      \
         ERROR_INVALID_AGENT)                                                                                         \
  REFUSE(hsa_ext_image_data_get_info,                                                                                 \
         (hsa_agent_t agent, const hsa_ext_image_descriptor_t* descriptor, hsa_access_permission_t access,            \
          hsa_ext_image_data_info_t* out),                                                                            \
         ERROR_INVALID_AGENT)                                                                                         \
  REFUSE(hsa_ext_image_destroy, (hsa_agent_t agent, hsa_ext_image_t image), ERROR_INVALID_AGENT)                      \
  REFUSE(hsa_ext_image_export,                                                                                        \
         (hsa_agent_t agent, hsa_ext_image_t image, void* memory, size_t row, size_t slice,                           \
          const hsa_ext_image_region_t* region),                                                                      \
         ERROR_INVALID_AGENT)                                                                                         \
  REFUSE(hsa_ext_image_import,                                                                                        \
         (hsa_agent_t agent, const void* memory, size_t row, size_t slice, hsa_ext_image_t image,                     \
          const hsa_ext_image_region_t* region),                                                                      \
         ERROR_INVALID_AGENT)                                                                                         \
  REFUSE(hsa_ext_sampler_create,                                                                                      \
         (hsa_agent_t agent, const hsa_ext_sampler_descriptor_t* descriptor, hsa_ext_sampler_t* out),                 \
         ERROR_INVALID_AGENT)                                                                                         \
  REFUSE(hsa_ext_sampler_destroy, (hsa_agent_t agent, hsa_ext_sampler_t sampler), ERROR_INVALID_AGENT)                \
  REFUSE(hsa_ext_sampler_create_v2, (hsa_agent_t agent, const void* descriptor, hsa_ext_sampler_t* out),              \
         ERROR_INVALID_AGENT)                                                                                         \
  REFUSE(hsa_ext_image_clear,                                                                                         \
         (hsa_agent_t agent, hsa_ext_image_t image, const void* data, const hsa_ext_image_region_t* region),          \
         ERROR_INVALID_AGENT)                                                                                         \
  REFUSE(hsa_ext_image_copy,                                                                                          \
         (hsa_agent_t agent, hsa_ext_image_t from, const hsa_dim3_t* from_offset, hsa_ext_image_t to,                 \
          const hsa_dim3_t* to_offset, const hsa_dim3_t* range),                                                      \
         ERROR_INVALID_AGENT)                                                                                         \
  REFUSE(hsa_ext_image_data_get_info_with_layout,                                                                     \
         (hsa_agent_t agent, const hsa_ext_image_descriptor_t* descriptor, hsa_access_permission_t access,            \
          hsa_ext_image_data_layout_t layout, size_t row, size_t slice, hsa_ext_image_data_info_t* out),              \
         ERROR_INVALID_AGENT)                                                                                         \
  REFUSE(hsa_ext_program_create,                                                                                      \
         (hsa_machine_model_t model, hsa_profile_t profile, hsa_default_float_rounding_mode_t rounding,               \
          const char* options, hsa_ext_program_t* out),                                                               \
         ERROR_NOT_SUPPORTED)                                                                                         \
  REFUSE(hsa_ext_program_destroy, (hsa_ext_program_t program), ERROR_NOT_SUPPORTED)                                   \
  REFUSE(hsa_ext_program_add_module, (hsa_ext_program_t program, hsa_ext_module_t module), ERROR_NOT_SUPPORTED)       \
  REFUSE(hsa_ext_program_iterate_modules,                                                                             \
         (hsa_ext_program_t program,                                                                                  \
          hsa_status_t(*callback)(hsa_ext_program_t program, hsa_ext_module_t module, void* data), void* data),       \
         ERROR_NOT_SUPPORTED)                                                                                         \
  REFUSE(hsa_ext_program_get_info, (hsa_ext_program_t program, hsa_ext_program_info_t attribute, void* out),          \
         ERROR_NOT_SUPPORTED)                                                                                         \
  REFUSE(hsa_ext_program_finalize,                                                                                    \
         (hsa_ext_program_t program, hsa_isa_t isa, int32_t convention, hsa_ext_control_directives_t directives,      \
          const char* options, hsa_code_object_type_t type, hsa_code_object_t* out),                                  \
         ERROR_NOT_SUPPORTED)                                                                                         \
  REFUSE(hsa_amd_spm_acquire, (hsa_agent_t agent), ERROR_NOT_SUPPORTED)                                               \
  REFUSE(hsa_amd_spm_release, (hsa_agent_t agent), ERROR_NOT_SUPPORTED)                                               \
  REFUSE(hsa_amd_spm_set_dest_buffer,                                                                                 \
         (hsa_agent_t agent, size_t size, uint32_t* timeout, uint32_t* copied, void* to, bool* is_lossy),             \
         ERROR_NOT_SUPPORTED)                                                                                         \
  REFUSE(hsa_amd_enable_logging, (uint8_t* flags, void* file), ERROR_NOT_SUPPORTED)                                   \
  REFUSE(hsa_ven_amd_pcs_iterate_configuration, (hsa_agent_t agent, void* callback, void* data), ERROR_NOT_SUPPORTED) \
  REFUSE(hsa_ven_amd_pcs_create,                                                                                      \
         (hsa_agent_t agent, int method, int units, size_t interval, size_t latency, size_t size, void* callback,     \
          void* data, void* out),                                                                                     \
         ERROR_NOT_SUPPORTED)                                                                                         \
  REFUSE(hsa_ven_amd_pcs_create_from_id,                                                                              \
         (uint32_t id, hsa_agent_t agent, int method, int units, size_t interval, size_t latency, size_t size,        \
          void* callback, void* data, void* out),                                                                     \
         ERROR_NOT_SUPPORTED)                                                                                         \
  REFUSE(hsa_ven_amd_pcs_destroy, (uint64_t sampling), ERROR_NOT_SUPPORTED)                                           \
  REFUSE(hsa_ven_amd_pcs_start, (uint64_t sampling), ERROR_NOT_SUPPORTED)                                             \
  REFUSE(hsa_ven_amd_pcs_stop, (uint64_t sampling), ERROR_NOT_SUPPORTED)                                              \
  REFUSE(hsa_ven_amd_pcs_flush, (uint64_t sampling), ERROR_NOT_SUPPORTED)                                             \
  REFUSE(hsa_amd_svm_attributes_get, (void* address, size_t size, hsa_amd_svm_attribute_pair_t* list, size_t count),  \
         ERROR_INVALID_ARGUMENT)                                                                                      \
  REFUSE(hsa_amd_queue_intercept_create,                                                                              \
         (hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,                                                  \
          void (*callback)(hsa_status_t status, hsa_queue_t * source, void* data), void* data, uint32_t private_size, \
          uint32_t group_size, hsa_queue_t** out),                                                                    \
         ERROR_INVALID_QUEUE_CREATION)
#define REFUSE(name, parameters, status) \
  hsa_status_t name parameters;          \
  hsa_status_t name parameters { return (hsa_status_t)HSA_STATUS_##status; }
REFUSALS(REFUSE)
#undef REFUSE

// All memory of the process may be touched from the host and, once registered, from the GPUs: hints have no effect.
hsa_status_t hsa_amd_svm_attributes_set(void* address, size_t size, hsa_amd_svm_attribute_pair_t* list, size_t count) {
  REQUIRE_OPEN();
  REQUIRE(address && size && (!count || list), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  return hsa_memory_register(address, size);
}

hsa_status_t hsa_amd_svm_prefetch_async(void* address, size_t size, hsa_agent_t agent, uint32_t count,
                                        const hsa_signal_t* signals, hsa_signal_t done) {
  REQUIRE_OPEN();
  REQUIRE(address && size, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  REQUIRE(runtime_agent(agent), HSA_STATUS_ERROR_INVALID_AGENT);
  for (uint32_t i = 0; i < count; ++i) {
    hsa_signal_wait_scacquire(signals[i], HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
  }
  signal_subtract(done, 1);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_coherency_get_type(hsa_agent_t agent, hsa_amd_coherency_type_t* type) {
  REQUIRE_OPEN();
  REQUIRE(runtime_agent(agent), HSA_STATUS_ERROR_INVALID_AGENT);
  REQUIRE(type, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  *type = HSA_AMD_COHERENCY_TYPE_COHERENT;
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_coherency_set_type(hsa_agent_t agent, hsa_amd_coherency_type_t type) {
  REQUIRE_OPEN();
  REQUIRE(runtime_agent(agent), HSA_STATUS_ERROR_INVALID_AGENT);
  return HSA_STATUS_SUCCESS;  // memory is always coherent
}

// No image can be made: no format can do anything.
hsa_status_t hsa_amd_image_get_info_max_dim(hsa_agent_t agent, hsa_agent_info_t attribute, void* out) {
  enum { IMAGE_SIZES = 0x3000, IMAGE_LAYERS = 0x3008 };
  REQUIRE((int)attribute >= IMAGE_SIZES && (int)attribute <= IMAGE_LAYERS, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  return hsa_agent_get_info(agent, attribute, out);
}

hsa_status_t hsa_ext_image_get_capability(hsa_agent_t agent, hsa_ext_image_geometry_t geometry,
                                          const hsa_ext_image_format_t* format, uint32_t* mask) {
  REQUIRE_OPEN();
  REQUIRE(runtime_agent(agent), HSA_STATUS_ERROR_INVALID_AGENT);
  REQUIRE(format && mask, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  *mask = HSA_EXT_IMAGE_CAPABILITY_NOT_SUPPORTED;
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_ext_image_get_capability_with_layout(hsa_agent_t agent, hsa_ext_image_geometry_t geometry,
                                                      const hsa_ext_image_format_t* format,
                                                      hsa_ext_image_data_layout_t layout, uint32_t* mask) {
  return hsa_ext_image_get_capability(agent, geometry, format, mask);
}

// Scratch is memory of the host, given to each wave that runs and never short: a limit has no effect.
hsa_status_t hsa_amd_agent_set_async_scratch_limit(hsa_agent_t handle, size_t limit);
hsa_status_t hsa_amd_agent_set_async_scratch_limit(hsa_agent_t handle, size_t limit) {
  REQUIRE_OPEN();
  const agent_t* agent = runtime_agent(handle);
  REQUIRE(agent && agent->type == HSA_DEVICE_TYPE_GPU, HSA_STATUS_ERROR_INVALID_AGENT);
  return HSA_STATUS_SUCCESS;
}
