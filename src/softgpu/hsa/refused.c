// What this runtime has no part for: sharing between processes, graphics, images, shared virtual memory's hints. Each
// is refused with a status of its own, none pretends.
#include <hsa/hsa_ext_image.h>

#include "softgpu/hsa/runtime.h"

// REFUSE(name, parameters, status)
#define REFUSALS(REFUSE)                                                                                              \
  REFUSE(hsa_amd_ipc_memory_create, (void* address, size_t size, hsa_amd_ipc_memory_t* handle),                       \
         ERROR_INVALID_ARGUMENT)                                                                                      \
  REFUSE(hsa_amd_ipc_memory_attach,                                                                                   \
         (const hsa_amd_ipc_memory_t* handle, size_t size, uint32_t count, const hsa_agent_t* agents, void** out),    \
         ERROR_INVALID_ARGUMENT)                                                                                      \
  REFUSE(hsa_amd_ipc_memory_detach, (void* address), ERROR_INVALID_ARGUMENT)                                          \
  REFUSE(hsa_amd_interop_map_buffer,                                                                                  \
         (uint32_t count, hsa_agent_t* agents, int interop, uint32_t flags, size_t* size, void** out,                 \
          size_t* metadata_size, const void** metadata),                                                              \
         ERROR_INVALID_ARGUMENT)                                                                                      \
  REFUSE(hsa_amd_interop_unmap_buffer, (void* address), ERROR_INVALID_ARGUMENT)                                       \
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
  REFUSE(hsa_amd_portable_export_dmabuf, (const void* address, size_t size, int* file, uint64_t* offset),             \
         ERROR_INVALID_ARGUMENT)                                                                                      \
  REFUSE(hsa_amd_portable_close_dmabuf, (int file), ERROR_INVALID_ARGUMENT)                                           \
  REFUSE(hsa_amd_svm_attributes_get, (void* address, size_t size, hsa_amd_svm_attribute_pair_t* list, size_t count),  \
         ERROR_INVALID_ARGUMENT)                                                                                      \
  REFUSE(hsa_amd_queue_intercept_create,                                                                              \
         (hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,                                                  \
          void (*callback)(hsa_status_t status, hsa_queue_t * source, void* data), void* data, uint32_t private_size, \
          uint32_t group_size, hsa_queue_t** out),                                                                    \
         ERROR_INVALID_QUEUE_CREATION)
#define REFUSE(name, parameters, status) \
  hsa_status_t name parameters;          \
  hsa_status_t name parameters { return HSA_STATUS_##status; }
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
