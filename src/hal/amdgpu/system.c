// Enumeration of agents, their instruction sets and memory pools.
#include "hal/amdgpu/system.h"

#include "hal/amdgpu/fault.h"
#include "hal/gpu/link.h"

//===----------------------------------------------------------------------------------------------------------------===
// Memory pools
//===----------------------------------------------------------------------------------------------------------------===

typedef struct pool_facts_t {
  uint32_t flags;
  size_t size;
} pool_facts_t;

// False for pools that nothing can be allocated from.
static bool read_pool(const libhsa_t* hsa, hsa_amd_memory_pool_t pool, pool_facts_t* out) {
  uint32_t segment = 0;
  bool allowed = false;
  *out = (pool_facts_t){0};
  return hsa->hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment) == HSA_STATUS_SUCCESS &&
         segment == HSA_AMD_SEGMENT_GLOBAL &&
         hsa->hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allowed) ==
             HSA_STATUS_SUCCESS &&
         allowed &&
         hsa->hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &out->flags) ==
             HSA_STATUS_SUCCESS &&
         hsa->hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &out->size) == HSA_STATUS_SUCCESS;
}

static void take_pool(system_pool_t* place, hsa_amd_memory_pool_t pool) {
  if (!place->is_present) *place = (system_pool_t){pool, true};
}

typedef struct pool_visit_t {
  const libhsa_t* hsa;
  system_cpu_t* cpu;
  system_gpu_t* gpu;
} pool_visit_t;

static hsa_status_t visit_cpu_pool(hsa_amd_memory_pool_t pool, void* data) {
  pool_visit_t* visit = (pool_visit_t*)data;
  pool_facts_t facts;
  if (!read_pool(visit->hsa, pool, &facts)) return HSA_STATUS_SUCCESS;
  if (facts.flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) take_pool(&visit->cpu->kernarg, pool);
  if (facts.flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED) take_pool(&visit->cpu->fine, pool);
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t visit_gpu_pool(hsa_amd_memory_pool_t pool, void* data) {
  pool_visit_t* visit = (pool_visit_t*)data;
  pool_facts_t facts;
  if (!read_pool(visit->hsa, pool, &facts)) return HSA_STATUS_SUCCESS;
  if (facts.flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) take_pool(&visit->gpu->coarse, pool);
  if (facts.flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED) take_pool(&visit->gpu->fine, pool);
  if (facts.size > visit->gpu->memory_size) visit->gpu->memory_size = facts.size;
  return HSA_STATUS_SUCCESS;
}

static bool agent_reaches(const libhsa_t* hsa, hsa_agent_t agent, system_pool_t pool) {
  int32_t access = HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
  return pool.is_present &&
         hsa->hsa_amd_agent_memory_pool_get_info(agent, pool.handle, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access) ==
             HSA_STATUS_SUCCESS &&
         access != HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
}

//===----------------------------------------------------------------------------------------------------------------===
// Agents
//===----------------------------------------------------------------------------------------------------------------===

// The first instruction set is the agent's own; later ones are those it also runs.
static hsa_status_t visit_isa(hsa_isa_t isa, void* data) {
  pool_visit_t* visit = (pool_visit_t*)data;
  uint32_t length = 0;
  if (visit->hsa->hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME_LENGTH, &length) != HSA_STATUS_SUCCESS ||
      length >= sizeof(visit->gpu->isa)) {
    return HSA_STATUS_SUCCESS;
  }
  visit->hsa->hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, visit->gpu->isa);
  return HSA_STATUS_INFO_BREAK;
}

static iree_status_t read_gpu(const libhsa_t* hsa, system_gpu_t* gpu) {
  IREE_RETURN_IF_ERROR(LIBHSA_CALL(hsa, hsa_agent_get_info, gpu->agent, HSA_AGENT_INFO_NAME, gpu->name));
  // Everything else may be missing from older libraries and is then zero.
  hsa->hsa_agent_get_info(gpu->agent, HSA_AMD_AGENT_INFO_PRODUCT_NAME, gpu->product);
  hsa->hsa_agent_get_info(gpu->agent, HSA_AMD_AGENT_INFO_UUID, gpu->uuid);
  hsa->hsa_agent_get_info(gpu->agent, HSA_AGENT_INFO_CACHE_SIZE, gpu->cache_size);
#define FACT(field, type, attribute) hsa->hsa_agent_get_info(gpu->agent, attribute, &gpu->field);
  SYSTEM_GPU_FACTS(FACT)
#undef FACT
  pool_visit_t visit = {.hsa = hsa, .gpu = gpu};
  hsa->hsa_agent_iterate_isas(gpu->agent, visit_isa, &visit);
  static const char prefix[] = "amdgcn-amd-amdhsa--";
  _Static_assert(sizeof(prefix) + sizeof(gpu->name) <= sizeof(gpu->isa), "an instruction set's name");
  if (!gpu->isa[0]) {
    memcpy(gpu->isa, prefix, sizeof(prefix) - 1);
    memcpy(gpu->isa + sizeof(prefix) - 1, gpu->name, sizeof(gpu->name));
  }
  IREE_RETURN_IF_ERROR(target_id_parse(iree_make_cstring_view(gpu->isa), &gpu->target));
  return LIBHSA_CALL(hsa, hsa_amd_agent_iterate_memory_pools, gpu->agent, visit_gpu_pool, &visit);
}

typedef struct agent_visit_t {
  system_t* system;
  iree_status_t status;
} agent_visit_t;

static hsa_status_t visit_agent(hsa_agent_t agent, void* data) {
  agent_visit_t* visit = (agent_visit_t*)data;
  system_t* system = visit->system;
  const libhsa_t* hsa = system->hsa;
  hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;
  visit->status = LIBHSA_CALL(hsa, hsa_agent_get_info, agent, HSA_AGENT_INFO_DEVICE, &type);
  if (!iree_status_is_ok(visit->status)) return HSA_STATUS_INFO_BREAK;
  if (type == HSA_DEVICE_TYPE_CPU && system->cpu_count < SYSTEM_MAX_AGENTS) {
    system_cpu_t* cpu = &system->cpus[system->cpu_count++];
    cpu->agent = agent;
    hsa->hsa_agent_get_info(agent, HSA_AGENT_INFO_NODE, &cpu->node);
    pool_visit_t pools = {.hsa = hsa, .cpu = cpu};
    visit->status = LIBHSA_CALL(hsa, hsa_amd_agent_iterate_memory_pools, agent, visit_cpu_pool, &pools);
  } else if (type == HSA_DEVICE_TYPE_GPU && system->gpu_count < SYSTEM_MAX_AGENTS) {
    system_gpu_t* gpu = &system->gpus[system->gpu_count++];
    gpu->agent = agent;
    visit->status = read_gpu(hsa, gpu);
  }
  return iree_status_is_ok(visit->status) ? HSA_STATUS_SUCCESS : HSA_STATUS_INFO_BREAK;
}

// CPUs without memory are of no use here.
static bool is_usable(const system_cpu_t* cpu) { return cpu->fine.is_present && cpu->kernarg.is_present; }

enum { MAX_HOPS = 16 };

// The links from an agent to memory. False where HSA does not tell.
static bool read_links(const libhsa_t* hsa, hsa_agent_t agent, system_pool_t pool,
                       hsa_amd_memory_pool_link_info_t links[MAX_HOPS], uint32_t* out_hops) {
  *out_hops = 0;
  memset(links, 0, MAX_HOPS * sizeof(*links));
  if (hsa->hsa_amd_agent_memory_pool_get_info(agent, pool.handle, HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS,
                                              out_hops) != HSA_STATUS_SUCCESS ||
      *out_hops > MAX_HOPS) {
    return false;
  }
  return *out_hops == 0 ||
         hsa->hsa_amd_agent_memory_pool_get_info(agent, pool.handle, HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO, links) ==
             HSA_STATUS_SUCCESS;
}

// How far a GPU is from a CPU's memory: the distances of the links between them. What HSA does not tell is far.
static uint32_t measure_distance(const system_t* system, const system_gpu_t* gpu, const system_cpu_t* cpu) {
  enum { FAR = UINT32_MAX - 1, NEVER = UINT32_MAX };
  hsa_amd_memory_pool_link_info_t links[MAX_HOPS];
  uint32_t hops = 0, distance = 0;
  if (!agent_reaches(system->hsa, gpu->agent, cpu->fine)) return NEVER;
  if (!read_links(system->hsa, gpu->agent, cpu->fine, links, &hops)) return FAR;
  for (uint32_t i = 0; i < hops; ++i) distance += iree_min(links[i].numa_distance, 1u << 16);
  return distance;
}

// Of those equally far the first.
static uint32_t find_nearest_cpu(const system_t* system, const system_gpu_t* gpu) {
  uint32_t nearest = system->cpu_count, least = 0;
  for (uint32_t i = 0; i < system->cpu_count; ++i) {
    if (!is_usable(&system->cpus[i])) continue;
    uint32_t distance = measure_distance(system, gpu, &system->cpus[i]);
    if (nearest < system->cpu_count && distance >= least) continue;
    nearest = i;
    least = distance;
  }
  return nearest;
}

static iree_status_t link_agents(system_t* system) {
  bool has_usable = false;
  for (uint32_t i = 0; i < system->cpu_count; ++i) has_usable = has_usable || is_usable(&system->cpus[i]);
  if (!has_usable) {
    return iree_make_status(IREE_STATUS_UNAVAILABLE,
                            "HSA has no CPU agent with fine-grained memory for kernel arguments");
  }
  if (!system->gpu_count) {
    return iree_make_status(IREE_STATUS_UNAVAILABLE, "HSA has no GPU agent (ROCR_VISIBLE_DEVICES may hide them)");
  }
  for (uint32_t i = 0; i < system->gpu_count; ++i) {
    system_gpu_t* gpu = &system->gpus[i];
    if (!gpu->coarse.is_present) gpu->coarse = gpu->fine;
    if (!gpu->coarse.is_present) {
      return iree_make_status(IREE_STATUS_UNAVAILABLE, "GPU %u (%s) has no memory of its own", i, gpu->name);
    }
    gpu->cpu = find_nearest_cpu(system, gpu);
    gpu->is_host_visible = agent_reaches(system->hsa, system->cpus[gpu->cpu].agent, gpu->coarse);
  }
  return iree_ok_status();
}

iree_status_t system_create(libhsa_t* hsa, iree_allocator_t host_allocator, system_t** out_system) {
  *out_system = NULL;
  system_t* system = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*system), (void**)&system));
  iree_atomic_ref_count_init(&system->ref_count);
  system->host_allocator = host_allocator;
  system->hsa = hsa;
  libhsa_retain(hsa);
  agent_visit_t visit = {system, iree_ok_status()};
  iree_status_t status = LIBHSA_CALL(hsa, hsa_iterate_agents, visit_agent, &visit);
  status = iree_status_join(status, visit.status);
  if (iree_status_is_ok(status)) status = link_agents(system);
  if (!iree_status_is_ok(status)) {
    system_release(system);
    return status;
  }
  *out_system = system;
  return iree_ok_status();
}

static iree_hal_topology_link_class_t find_link(const system_t* system, const system_gpu_t* gpu,
                                                const system_gpu_t* peer) {
  hsa_amd_memory_pool_link_info_t links[MAX_HOPS];
  uint32_t hops = 0;
  iree_hal_topology_link_class_t slowest = IREE_HAL_TOPOLOGY_LINK_CLASS_SAME_DIE;
  bool is_same_root = gpu->pci_domain == peer->pci_domain && gpu->cpu == peer->cpu;
  if (gpu == peer) return slowest;
  if (!agent_reaches(system->hsa, gpu->agent, peer->coarse)) return IREE_HAL_TOPOLOGY_LINK_CLASS_HOST_STAGED;
  if (!read_links(system->hsa, gpu->agent, peer->coarse, links, &hops)) return IREE_HAL_TOPOLOGY_LINK_CLASS_OTHER;
  for (uint32_t i = 0; i < hops; ++i) {
    slowest = gpu_link_slower(slowest, gpu_link_class((uint32_t)links[i].type, is_same_root));
  }
  return slowest;
}

iree_hal_topology_link_class_t system_find_link(const system_t* system, uint32_t gpu, uint32_t peer) {
  const system_gpu_t *a = &system->gpus[gpu], *b = &system->gpus[peer];
  return gpu_link_slower(find_link(system, a, b), find_link(system, b, a));
}

void system_retain(system_t* system) { iree_atomic_ref_count_inc(&system->ref_count); }

void system_release(system_t* system) {
  if (!system || iree_atomic_ref_count_dec(&system->ref_count) != 1) return;
  fault_unwatch_events(system);
  libhsa_release(system->hsa);
  iree_allocator_free(system->host_allocator, system);
}
