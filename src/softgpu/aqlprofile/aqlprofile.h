// The part of aqlprofile's interface (version 2) for counters and thread traces that drivers call: types and functions
// of the published binary interface. Names are its own.
#ifndef IREE_C_SOFTGPU_AQLPROFILE_AQLPROFILE_H_
#define IREE_C_SOFTGPU_AQLPROFILE_AQLPROFILE_H_

#include <hsa/hsa.h>

typedef struct aqlprofile_handle_t {
  uint64_t handle;
} aqlprofile_handle_t;
typedef struct aqlprofile_agent_handle_t {
  uint64_t handle;
} aqlprofile_agent_handle_t;
typedef struct aqlprofile_version_t {
  uint32_t major, minor, patch;
} aqlprofile_version_t;

typedef union aqlprofile_buffer_desc_flags_t {
  uint32_t raw;
  struct {
    uint32_t device_access : 1, host_access : 1, memory_hint : 6, reserved : 24;
  };
} aqlprofile_buffer_desc_flags_t;
enum { AQLPROFILE_MEMORY_HINT_HOST = 1, AQLPROFILE_MEMORY_HINT_DEVICE_UNCACHED = 2 };

typedef hsa_status_t (*aqlprofile_memory_alloc_callback_t)(void** ptr, uint64_t size,
                                                           aqlprofile_buffer_desc_flags_t flags, void* data);
typedef void (*aqlprofile_memory_dealloc_callback_t)(void* ptr, void* data);
typedef hsa_status_t (*aqlprofile_memory_copy_t)(void* target, const void* source, size_t size, void* data);

enum { AQLPROFILE_AGENT_VERSION_V0 = 1, AQLPROFILE_AGENT_VERSION_V1 = 2 };
typedef struct aqlprofile_agent_info_v1_t {
  const char* agent_gfxip;  // "gfx90a"
  uint32_t xcc_num, se_num, cu_num, shader_arrays_per_se;
  uint32_t domain, location_id;  // not of V0
} aqlprofile_agent_info_v1_t;

typedef struct aqlprofile_pmc_event_t {
  uint32_t block_index, event_id, flags, block_name;
} aqlprofile_pmc_event_t;
typedef struct aqlprofile_pmc_profile_t {
  aqlprofile_agent_handle_t agent;
  const aqlprofile_pmc_event_t* events;
  uint32_t event_count;
} aqlprofile_pmc_profile_t;
typedef hsa_status_t (*aqlprofile_pmc_data_callback_t)(aqlprofile_pmc_event_t event, uint64_t counter_id,
                                                       uint64_t counter_value, void* data);

// hsa_ext_amd_aql_pm4_packet_t: a vendor packet of AQL that leads to commands.
typedef struct aqlprofile_packet_t {
  uint16_t header, format;
  uint32_t jump[4], remaining, reserved[8];
  hsa_signal_t completion_signal;
} aqlprofile_packet_t;
_Static_assert(sizeof(aqlprofile_packet_t) == 64, "AQL packets have 64 bytes");
typedef struct aqlprofile_pmc_aql_packets_t {
  aqlprofile_packet_t start_packet, stop_packet, read_packet;
} aqlprofile_pmc_aql_packets_t;

hsa_status_t aqlprofile_get_version(aqlprofile_version_t* version);
hsa_status_t aqlprofile_register_agent_info(aqlprofile_agent_handle_t* agent, const void* info, int version);
hsa_status_t aqlprofile_validate_pmc_event(aqlprofile_agent_handle_t agent, const aqlprofile_pmc_event_t* event,
                                           bool* result);
hsa_status_t aqlprofile_pmc_create_packets(aqlprofile_handle_t* handle, aqlprofile_pmc_aql_packets_t* packets,
                                           aqlprofile_pmc_profile_t profile, aqlprofile_memory_alloc_callback_t alloc,
                                           aqlprofile_memory_dealloc_callback_t dealloc, aqlprofile_memory_copy_t copy,
                                           void* data);
void aqlprofile_pmc_delete_packets(aqlprofile_handle_t handle);
hsa_status_t aqlprofile_pmc_iterate_data(aqlprofile_handle_t handle, aqlprofile_pmc_data_callback_t callback,
                                         void* data);
// Thread traces. Numbers of parameters; those from BUFFER_SIZE_HIGH on are of version 2 alone.
enum {
  AQLPROFILE_ATT_COMPUTE_UNIT = 0,
  AQLPROFILE_ATT_SE_MASK = 5,
  AQLPROFILE_ATT_SIMDS = 8,
  AQLPROFILE_ATT_BUFFER_SIZE = 10,
  AQLPROFILE_ATT_BUFFER_SIZE_HIGH = 11,
  AQLPROFILE_ATT_TIMESTAMPS = 12,
};
typedef struct aqlprofile_att_parameter_t {
  uint32_t parameter_name, value;
} aqlprofile_att_parameter_t;
typedef struct aqlprofile_att_profile_t {
  hsa_agent_t agent;
  const aqlprofile_att_parameter_t* parameters;
  uint32_t parameter_count;
} aqlprofile_att_profile_t;
typedef struct aqlprofile_att_control_aql_packets_t {
  aqlprofile_packet_t start_packet, stop_packet;
} aqlprofile_att_control_aql_packets_t;
typedef struct aqlprofile_att_codeobj_data_t {
  uint64_t id, addr, size;
  hsa_agent_t agent;
  uint32_t is_unload : 1, from_start : 1;
} aqlprofile_att_codeobj_data_t;
typedef hsa_status_t (*aqlprofile_att_data_callback_t)(uint32_t shader, void* buffer, uint64_t size, void* data);

hsa_status_t aqlprofile_att_create_packets(aqlprofile_handle_t* handle, aqlprofile_att_control_aql_packets_t* packets,
                                           aqlprofile_att_profile_t profile, aqlprofile_memory_alloc_callback_t alloc,
                                           aqlprofile_memory_dealloc_callback_t dealloc, aqlprofile_memory_copy_t copy,
                                           void* data);
void aqlprofile_att_delete_packets(aqlprofile_handle_t handle);
hsa_status_t aqlprofile_att_iterate_data(aqlprofile_handle_t handle, aqlprofile_att_data_callback_t callback,
                                         void* data);
hsa_status_t aqlprofile_att_codeobj_marker(aqlprofile_packet_t* packet, aqlprofile_handle_t* handle,
                                           aqlprofile_att_codeobj_data_t code, aqlprofile_memory_alloc_callback_t alloc,
                                           aqlprofile_memory_dealloc_callback_t dealloc, void* data);
hsa_status_t hsa_ven_amd_aqlprofile_error_string(const char** text);

#endif  // IREE_C_SOFTGPU_AQLPROFILE_AQLPROFILE_H_
