// libhsa-amd-aqlprofile64, found at run time: AMD's library that makes the packets which count
// and trace. Types are of its
// published binary interface (version 2), declared here so that the runtime builds without ROCm; names are its own but
// for callbacks.
#ifndef IREE_C_HAL_AMDGPU_LIBAQLPROFILE_H_
#define IREE_C_HAL_AMDGPU_LIBAQLPROFILE_H_

#include "hal/amdgpu/libhsa.h"

typedef struct aqlprofile_handle_t {
  uint64_t handle;
} aqlprofile_handle_t;
typedef struct aqlprofile_agent_handle_t {
  uint64_t handle;
} aqlprofile_agent_handle_t;

typedef union aqlprofile_buffer_flags_t {
  uint32_t raw;
  struct {
    uint32_t device_access : 1;
    uint32_t host_access : 1;
    uint32_t memory_hint : 6;
    uint32_t reserved : 24;
  };
} aqlprofile_buffer_flags_t;
typedef hsa_status_t (*aqlprofile_allocate_fn_t)(void** out_ptr, uint64_t size, aqlprofile_buffer_flags_t flags,
                                                 void* data);
typedef void (*aqlprofile_free_fn_t)(void* ptr, void* data);
typedef hsa_status_t (*aqlprofile_copy_fn_t)(void* target, const void* source, size_t size, void* data);

enum { AQLPROFILE_AGENT_VERSION_V1 = 2 };
typedef struct aqlprofile_agent_info_v1_t {
  const char* agent_gfxip;  // "gfx90a"
  uint32_t xcc_num;
  uint32_t se_num;
  uint32_t cu_num;
  uint32_t shader_arrays_per_se;
  uint32_t domain;
  uint32_t location_id;
} aqlprofile_agent_info_v1_t;

typedef struct aqlprofile_pmc_event_t {
  uint32_t block_index;
  uint32_t event_id;
  uint32_t flags;
  uint32_t block_name;
} aqlprofile_pmc_event_t;
typedef struct aqlprofile_pmc_profile_t {
  aqlprofile_agent_handle_t agent;
  const aqlprofile_pmc_event_t* events;
  uint32_t event_count;
} aqlprofile_pmc_profile_t;
typedef struct aqlprofile_pmc_packets_t {
  hsa_amd_pm4_ib_packet_t start, stop, read;
} aqlprofile_pmc_packets_t;
typedef hsa_status_t (*aqlprofile_pmc_data_fn_t)(aqlprofile_pmc_event_t event, uint64_t counter_id, uint64_t value,
                                                 void* data);

// Thread traces. Numbers of their parameters.
enum {
  AQLPROFILE_ATT_COMPUTE_UNIT = 0,
  AQLPROFILE_ATT_SE_MASK = 5,
  AQLPROFILE_ATT_SIMDS = 8,
  AQLPROFILE_ATT_BUFFER_SIZE = 10,
  AQLPROFILE_ATT_TIMESTAMPS = 12,
};
typedef struct aqlprofile_att_parameter_t {
  uint32_t name, value;
} aqlprofile_att_parameter_t;
typedef struct aqlprofile_att_profile_t {
  hsa_agent_t agent;
  const aqlprofile_att_parameter_t* parameters;
  uint32_t parameter_count;
} aqlprofile_att_profile_t;
typedef struct aqlprofile_att_packets_t {
  hsa_amd_pm4_ib_packet_t start, stop;
} aqlprofile_att_packets_t;
typedef struct aqlprofile_att_code_t {
  uint64_t id, address, size;  // of a loaded code object
  hsa_agent_t agent;
  uint32_t is_unload : 1, from_start : 1;
} aqlprofile_att_code_t;
typedef hsa_status_t (*aqlprofile_att_data_fn_t)(uint32_t shader_engine, void* buffer, uint64_t size, void* data);

typedef struct libaqlprofile_t {
#define ENTRY(result, name, parameters) result(*name) parameters;
#include "hal/amdgpu/libaqlprofile.def"
} libaqlprofile_t;

// Loads the library, which stays: files or folders of the environment's IREE_HAL_AMDGPU_LIBAQLPROFILE_PATH (separated
// by `:` or `;`), the folder that libhsa came from, then the system's names. `what` needs it: "counters". Errors:
// UNAVAILABLE, with what was tried.
iree_status_t libaqlprofile_load(const libhsa_t* hsa, const char* what, iree_allocator_t host_allocator,
                                 libaqlprofile_t* out_library);

// A status for what `call` returned.
iree_status_t libaqlprofile_check(const libaqlprofile_t* library, hsa_status_t status, const char* call);
#define LIBAQLPROFILE_CALL(library, name, ...) libaqlprofile_check((library), (library)->name(__VA_ARGS__), #name)

#endif  // IREE_C_HAL_AMDGPU_LIBAQLPROFILE_H_
