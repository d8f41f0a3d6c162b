// What there is: the agents of this process's HSA, their memory and facts. Immutable once made.
#ifndef IREE_C_HAL_AMDGPU_SYSTEM_H_
#define IREE_C_HAL_AMDGPU_SYSTEM_H_

#include "hal/amdgpu/libhsa.h"
#include "hal/gpu/code_object/target_id.h"
#include "iree/hal/topology.h"

#define SYSTEM_MAX_AGENTS 64

typedef struct system_pool_t {
  hsa_amd_memory_pool_t handle;
  bool is_present;
} system_pool_t;

typedef struct system_cpu_t {
  hsa_agent_t agent;
  uint32_t node;
  system_pool_t fine;     // host memory that CPUs and GPUs see coherently
  system_pool_t kernarg;  // the same, for kernel arguments
} system_cpu_t;

// FACT(field, type, attribute): facts of a GPU that an agent attribute gives
#define SYSTEM_GPU_FACTS(FACT)                                              \
  FACT(wave_size, uint32_t, HSA_AGENT_INFO_WAVEFRONT_SIZE)                  \
  FACT(max_workgroup_size, uint32_t, HSA_AGENT_INFO_WORKGROUP_MAX_SIZE)     \
  FACT(max_queues, uint32_t, HSA_AGENT_INFO_QUEUES_MAX)                     \
  FACT(max_queue_size, uint32_t, HSA_AGENT_INFO_QUEUE_MAX_SIZE)             \
  FACT(node, uint32_t, HSA_AGENT_INFO_NODE)                                 \
  FACT(chip_id, uint32_t, HSA_AMD_AGENT_INFO_CHIP_ID)                       \
  FACT(cache_line, uint32_t, HSA_AMD_AGENT_INFO_CACHELINE_SIZE)             \
  FACT(compute_units, uint32_t, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT)      \
  FACT(clock_mhz, uint32_t, HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY)         \
  FACT(bdf, uint32_t, HSA_AMD_AGENT_INFO_BDFID)                             \
  FACT(pci_domain, uint32_t, HSA_AMD_AGENT_INFO_DOMAIN)                     \
  FACT(memory_width, uint32_t, HSA_AMD_AGENT_INFO_MEMORY_WIDTH)             \
  FACT(memory_clock_mhz, uint32_t, HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY) \
  FACT(waves_per_unit, uint32_t, HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU)       \
  FACT(simds_per_unit, uint32_t, HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU)

typedef struct system_gpu_t {
  hsa_agent_t agent;
  char uuid[24];       // "GPU-0e12865a3bf5b7ab"
  char name[64];       // "gfx1100"
  char product[64];    // "AMD Radeon RX 7900 XTX"
  char isa[96];        // "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"
  target_id_t target;  // the same
#define FACT(field, type, attribute) type field;
  SYSTEM_GPU_FACTS(FACT)
#undef FACT
  uint32_t cache_size[4];  // bytes by level
  system_pool_t coarse;    // the GPU's own memory, coherent between kernels
  system_pool_t fine;      // the GPU's own memory, always coherent
  uint64_t memory_size;    // bytes
  bool is_host_visible;    // whether the host can map its own memory
  uint32_t cpu;            // ordinal of the nearest CPU
} system_gpu_t;

typedef struct system_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t host_allocator;
  libhsa_t* hsa;
  uint32_t cpu_count;
  uint32_t gpu_count;
  system_cpu_t cpus[SYSTEM_MAX_AGENTS];
  system_gpu_t gpus[SYSTEM_MAX_AGENTS];
  struct system_t* next_watcher;  // of fault.c
} system_t;

// Looks at all agents. Errors: UNAVAILABLE without a CPU or GPU agent, or without usable memory.
iree_status_t system_create(libhsa_t* hsa, iree_allocator_t host_allocator, system_t** out_system);
// What connects two GPUs, by their ordinals: the slowest of the links between them, in either direction.
iree_hal_topology_link_class_t system_find_link(const system_t* system, uint32_t gpu, uint32_t peer);
void system_retain(system_t* system);
void system_release(system_t* system);

#endif  // IREE_C_HAL_AMDGPU_SYSTEM_H_
