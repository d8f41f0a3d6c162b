// The part of HSA and of AMD's extensions to it that this driver uses: types and constants of the published binary
// interface, declared here so that the runtime builds where ROCm is not installed. Names are HSA's own.
#ifndef IREE_C_HAL_AMDGPU_HSA_API_H_
#define IREE_C_HAL_AMDGPU_HSA_API_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int32_t hsa_status_t;
enum {
  HSA_STATUS_SUCCESS = 0x0,
  HSA_STATUS_INFO_BREAK = 0x1,
  HSA_STATUS_ERROR = 0x1000,
  HSA_STATUS_ERROR_INVALID_ARGUMENT = 0x1001,
  HSA_STATUS_ERROR_OUT_OF_RESOURCES = 0x1008,
  HSA_STATUS_ERROR_INVALID_CODE_OBJECT = 0x1010,
  HSA_STATUS_ERROR_EXCEPTION = 0x1016,
};

typedef struct hsa_agent_t {
  uint64_t handle;
} hsa_agent_t;
typedef struct hsa_signal_t {
  uint64_t handle;
} hsa_signal_t;
typedef struct hsa_isa_t {
  uint64_t handle;
} hsa_isa_t;
typedef struct hsa_executable_t {
  uint64_t handle;
} hsa_executable_t;
typedef struct hsa_executable_symbol_t {
  uint64_t handle;
} hsa_executable_symbol_t;
typedef struct hsa_code_object_reader_t {
  uint64_t handle;
} hsa_code_object_reader_t;
typedef struct hsa_loaded_code_object_t {
  uint64_t handle;
} hsa_loaded_code_object_t;
typedef struct hsa_amd_memory_pool_t {
  uint64_t handle;
} hsa_amd_memory_pool_t;

typedef struct hsa_amd_vmem_alloc_handle_t {
  uint64_t handle;
} hsa_amd_vmem_alloc_handle_t;
typedef int32_t hsa_amd_memory_type_t;
enum { HSA_AMD_MEMORY_TYPE_NONE = 0 };
typedef struct hsa_amd_memory_access_desc_t {
  int32_t permissions;
  hsa_agent_t agent;
} hsa_amd_memory_access_desc_t;
enum { HSA_ACCESS_PERMISSION_NONE = 0, HSA_ACCESS_PERMISSION_RO = 1, HSA_ACCESS_PERMISSION_RW = 3 };

typedef int64_t hsa_signal_value_t;
typedef int32_t hsa_signal_condition_t;
enum { HSA_SIGNAL_CONDITION_EQ = 0, HSA_SIGNAL_CONDITION_NE = 1, HSA_SIGNAL_CONDITION_LT = 2 };
typedef int32_t hsa_wait_state_t;
enum { HSA_WAIT_STATE_BLOCKED = 0, HSA_WAIT_STATE_ACTIVE = 1 };

typedef int32_t hsa_device_type_t;
enum { HSA_DEVICE_TYPE_CPU = 0, HSA_DEVICE_TYPE_GPU = 1 };

typedef int32_t hsa_agent_info_t;
enum {
  HSA_AGENT_INFO_NAME = 0,         // char[64]
  HSA_AGENT_INFO_VENDOR_NAME = 1,  // char[64]
  HSA_AGENT_INFO_WAVEFRONT_SIZE = 6,
  HSA_AGENT_INFO_WORKGROUP_MAX_SIZE = 8,
  HSA_AGENT_INFO_QUEUES_MAX = 12,
  HSA_AGENT_INFO_QUEUE_MIN_SIZE = 13,
  HSA_AGENT_INFO_QUEUE_MAX_SIZE = 14,
  HSA_AGENT_INFO_NODE = 16,
  HSA_AGENT_INFO_DEVICE = 17,
  HSA_AGENT_INFO_CACHE_SIZE = 18,  // uint32_t[4]
  HSA_AMD_AGENT_INFO_CHIP_ID = 0xA000,
  HSA_AMD_AGENT_INFO_CACHELINE_SIZE = 0xA001,
  HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT = 0xA002,
  HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY = 0xA003,  // MHz
  HSA_AMD_AGENT_INFO_BDFID = 0xA006,
  HSA_AMD_AGENT_INFO_MEMORY_WIDTH = 0xA007,          // bits
  HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY = 0xA008,  // MHz
  HSA_AMD_AGENT_INFO_PRODUCT_NAME = 0xA009,          // char[64]
  HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU = 0xA00A,
  HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU = 0xA00B,
  HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES = 0xA00C,
  HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE = 0xA00D,
  HSA_AMD_AGENT_INFO_DOMAIN = 0xA00F,
  HSA_AMD_AGENT_INFO_UUID = 0xA011,  // char[21]: "GPU-" and 16 hexadecimal digits
  HSA_AMD_AGENT_INFO_NUM_XCC = 0xA111,
};

typedef int32_t hsa_isa_info_t;
enum { HSA_ISA_INFO_NAME_LENGTH = 0, HSA_ISA_INFO_NAME = 1 };

typedef int32_t hsa_amd_memory_pool_info_t;
enum {
  HSA_AMD_MEMORY_POOL_INFO_SEGMENT = 0,
  HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS = 1,
  HSA_AMD_MEMORY_POOL_INFO_SIZE = 2,
  HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED = 5,
  HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE = 18,
};
enum { HSA_AMD_SEGMENT_GLOBAL = 0 };
enum {
  HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT = 1,
  HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED = 2,
  HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED = 4,
};
typedef int32_t hsa_amd_agent_memory_pool_info_t;
enum {
  HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS = 0,
  HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS = 1,
  HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO = 2,  // one hsa_amd_memory_pool_link_info_t for each hop
};
typedef struct hsa_amd_memory_pool_link_info_t {
  uint32_t latency[2];
  uint32_t bandwidth[2];
  bool has_atomics_32;
  bool has_atomics_64;
  bool is_coherent;
  int32_t type;
  uint32_t numa_distance;
} hsa_amd_memory_pool_link_info_t;
_Static_assert(sizeof(hsa_amd_memory_pool_link_info_t) == 28, "as HSA has it");
enum { HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED = 0 };

typedef int32_t hsa_system_info_t;
enum { HSA_SYSTEM_INFO_TIMESTAMP = 2 };
typedef struct hsa_amd_profiling_dispatch_time_t {
  uint64_t start, end;  // as HSA_SYSTEM_INFO_TIMESTAMP
} hsa_amd_profiling_dispatch_time_t;
typedef int32_t hsa_profile_t;
enum { HSA_PROFILE_BASE = 0, HSA_PROFILE_FULL = 1 };
typedef int32_t hsa_default_float_rounding_mode_t;
enum { HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT = 0 };

typedef int32_t hsa_executable_symbol_info_t;
enum {
  HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE = 11,
  HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE = 13,
  HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE = 14,
  HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT = 22,
};

typedef uint32_t hsa_queue_type32_t;
enum { HSA_QUEUE_TYPE_MULTI = 0, HSA_QUEUE_TYPE_SINGLE = 1 };
typedef struct hsa_queue_t {
  uint32_t type;
  uint32_t features;
  void* base_address;
  hsa_signal_t doorbell_signal;
  uint32_t size;  // packets, a power of two
  uint32_t reserved1;
  uint64_t id;
} hsa_queue_t;

// Packets of 64 bytes; the header is published last.
enum {
  HSA_PACKET_TYPE_VENDOR_SPECIFIC = 0,
  HSA_PACKET_TYPE_INVALID = 1,
  HSA_PACKET_TYPE_KERNEL_DISPATCH = 2,
  HSA_PACKET_TYPE_BARRIER_AND = 3,
};
enum { HSA_FENCE_SCOPE_NONE = 0, HSA_FENCE_SCOPE_AGENT = 1, HSA_FENCE_SCOPE_SYSTEM = 2 };
enum {
  HSA_PACKET_HEADER_TYPE = 0,
  HSA_PACKET_HEADER_BARRIER = 8,
  HSA_PACKET_HEADER_ACQUIRE_FENCE_SCOPE = 9,
  HSA_PACKET_HEADER_RELEASE_FENCE_SCOPE = 11,
};
typedef struct hsa_kernel_dispatch_packet_t {
  uint16_t header;
  uint16_t setup;  // dimensions
  uint16_t workgroup_size[3];
  uint16_t reserved0;
  uint32_t grid_size[3];  // work-items
  uint32_t private_segment_size;
  uint32_t group_segment_size;
  uint64_t kernel_object;
  uint64_t kernarg_address;
  uint64_t reserved2;
  hsa_signal_t completion_signal;
} hsa_kernel_dispatch_packet_t;
typedef struct hsa_barrier_and_packet_t {
  uint16_t header;
  uint16_t reserved0;
  uint32_t reserved1;
  hsa_signal_t dep_signal[5];
  uint64_t reserved2;
  hsa_signal_t completion_signal;
} hsa_barrier_and_packet_t;
enum { HSA_AMD_PACKET_TYPE_BARRIER_VALUE = 2 };
typedef struct hsa_amd_barrier_value_packet_t {
  uint16_t header;
  uint8_t amd_format;
  uint8_t reserved;
  uint32_t reserved0;
  hsa_signal_t signal;
  hsa_signal_value_t value;
  hsa_signal_value_t mask;
  hsa_signal_condition_t condition;
  uint32_t reserved1;
  uint64_t reserved2;
  uint64_t reserved3;
  hsa_signal_t completion_signal;
} hsa_amd_barrier_value_packet_t;
enum { HSA_AMD_PACKET_TYPE_PM4_IB = 1, HSA_AMD_PM4_IB_REMAINING = 10, HSA_AMD_PM4_IB_VALID = 1 << 23 };
// Commands in the GPU's own format, in memory.
typedef struct hsa_amd_pm4_ib_packet_t {
  uint16_t header;
  uint16_t amd_format;
  uint32_t jump[4];    // INDIRECT_BUFFER: header, address, words with the bit VALID
  uint32_t remaining;  // words of the packet after the jump
  uint32_t reserved[8];
  hsa_signal_t completion_signal;
} hsa_amd_pm4_ib_packet_t;
// Headers of commands: opcode and number of words behind the header.
#define HSA_AMD_PM4_HEADER(opcode, words) (3u << 30 | ((uint32_t)(words) - 1) << 16 | (uint32_t)(opcode) << 8)
enum { HSA_AMD_PM4_INDIRECT_BUFFER = 0x3F, HSA_AMD_PM4_WAIT_REG_MEM64 = 0x93 };
enum { HSA_AMD_PM4_WAIT_LESS = 1, HSA_AMD_PM4_WAIT_MEMORY = 1 << 4 };
enum { HSA_AMD_SIGNAL_VALUE_OFFSET = 8 };  // of the value, from a signal's handle
enum { HSA_AMD_MEMORY_POOL_EXECUTABLE_FLAG = 1 << 2 };
_Static_assert(sizeof(hsa_amd_pm4_ib_packet_t) == 64, "AQL packets have 64 bytes");
_Static_assert(sizeof(hsa_amd_barrier_value_packet_t) == 64, "AQL packets have 64 bytes");
_Static_assert(sizeof(hsa_kernel_dispatch_packet_t) == 64, "AQL packets have 64 bytes");
_Static_assert(sizeof(hsa_barrier_and_packet_t) == 64, "AQL packets have 64 bytes");

typedef int32_t hsa_amd_event_type_t;
enum { HSA_AMD_GPU_MEMORY_FAULT_EVENT = 0, HSA_AMD_GPU_HW_EXCEPTION_EVENT = 1 };
enum { HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT = 1, HSA_AMD_MEMORY_FAULT_READ_ONLY = 2 };
typedef struct hsa_amd_gpu_memory_fault_info_t {
  hsa_agent_t agent;
  uint64_t address;
  uint32_t reasons;  // bits
} hsa_amd_gpu_memory_fault_info_t;
enum { HSA_AMD_HW_EXCEPTION_CAUSE_GPU_HANG = 1, HSA_AMD_HW_EXCEPTION_CAUSE_ECC = 2 };
typedef struct hsa_amd_gpu_hw_exception_info_t {
  hsa_agent_t agent;
  int32_t reset_type;
  int32_t reset_cause;  // bits
} hsa_amd_gpu_hw_exception_info_t;
typedef struct hsa_amd_event_t {
  hsa_amd_event_type_t event_type;
  union {
    hsa_amd_gpu_memory_fault_info_t memory_fault;
    hsa_amd_gpu_hw_exception_info_t hw_exception;
  };
} hsa_amd_event_t;
typedef hsa_status_t (*hsa_event_fn_t)(const hsa_amd_event_t* event, void* data);

typedef void (*hsa_queue_error_fn_t)(hsa_status_t status, hsa_queue_t* source, void* data);
typedef hsa_status_t (*hsa_agent_fn_t)(hsa_agent_t agent, void* data);
typedef hsa_status_t (*hsa_isa_fn_t)(hsa_isa_t isa, void* data);
typedef hsa_status_t (*hsa_pool_fn_t)(hsa_amd_memory_pool_t pool, void* data);

#endif  // IREE_C_HAL_AMDGPU_HSA_API_H_
