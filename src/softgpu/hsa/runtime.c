// hsa_init and hsa_shut_down: agents by the environment.
#include "softgpu/hsa/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "isa/amd/targets.h"
#include "softgpu/hsa/gpu_list.h"

runtime_t runtime = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool runtime_is_open(void) { return __atomic_load_n(&runtime.references, __ATOMIC_ACQUIRE) != 0; }

uint64_t runtime_timestamp(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

agent_t* runtime_agent(hsa_agent_t handle) {
  for (uint32_t i = 0; i < runtime.agent_count; ++i) {
    if (handle.handle == (uint64_t)&runtime.agents[i]) return &runtime.agents[i];
  }
  return NULL;
}

pool_t* runtime_pool(uint64_t handle) {
  for (uint32_t i = 0; i < runtime.agent_count; ++i) {
    for (uint32_t k = 0; k < runtime.agents[i].pool_count; ++k) {
      if (handle == (uint64_t)&runtime.agents[i].pools[k]) return &runtime.agents[i].pools[k];
    }
  }
  return NULL;
}

isa_t* runtime_isa(hsa_isa_t handle) {
  for (uint32_t i = 0; i < runtime.agent_count; ++i) {
    for (uint32_t k = 0; k < runtime.agents[i].isa_count; ++k) {
      if (handle.handle == (uint64_t)&runtime.agents[i].isas[k]) return &runtime.agents[i].isas[k];
    }
  }
  return NULL;
}

void runtime_forget_code(uint64_t base, uint64_t size) {
  for (uint32_t i = 0; i < runtime.agent_count; ++i) {
    if (runtime.agents[i].engine) engine_forget_memory(runtime.agents[i].engine, base, size);
  }
}

static void add_pool(agent_t* agent, hsa_amd_segment_t segment, uint32_t flags, uint64_t size, const char* kind) {
  agent->pools[agent->pool_count++] =
      (pool_t){.agent = agent, .segment = segment, .flags = flags, .size = size, .kind = kind};
}

static agent_t* add_agent(hsa_device_type_t type, uint32_t ordinal) {
  agent_t* agent = &runtime.agents[runtime.agent_count];
  *agent = (agent_t){.type = type, .ordinal = ordinal, .node = runtime.agent_count++};
  return agent;
}

static void add_cpu(void) {
  agent_t* agent = add_agent(HSA_DEVICE_TYPE_CPU, 0);
  uint64_t size = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  uint32_t fine = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED;
  add_pool(agent, HSA_AMD_SEGMENT_GLOBAL, fine, size, "host memory");
  add_pool(agent, HSA_AMD_SEGMENT_GLOBAL, fine | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT, size,
           "kernel arguments");
  add_pool(agent, HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED, size, "host memory");
}

static void add_isas(agent_t* agent) {
  const isa_target_t* t = agent->target;
  isa_t* isa = &agent->isas[agent->isa_count++];
  isa->agent = agent;
  snprintf(isa->name, sizeof(isa->name), "amdgcn-amd-amdhsa--%s%s%s", t->name, t->has_sramecc ? ":sramecc+" : "",
           t->has_xnack ? ":xnack-" : "");
  if (!isa_target_generic(t)) return;
  isa = &agent->isas[agent->isa_count++];
  isa->agent = agent;
  snprintf(isa->name, sizeof(isa->name), "amdgcn-amd-amdhsa--%s", isa_target_generic(t));
}

static bool add_gpu(const isa_target_t* target, uint32_t ordinal, const char* uuid) {
  uint32_t checks = 0;
  const char *check = getenv("IREE_SOFTGPU_CHECK"), *limit = getenv("IREE_SOFTGPU_LIMIT");
  text_t error = {0};
  engine_t* engine = NULL;
  if (!check || engine_parse_checks(check, &checks, &error)) {
    engine_options_t options = {.target = target,
                                .checks = checks,
                                .counts = runtime.prints_stats,
                                .wave_limit = limit ? strtoull(limit, NULL, 0) : 0,
                                .memory = runtime.memory};
    engine = engine_create(&options, &error);
  }
  if (!engine) fprintf(stderr, "softgpu: %s\n", error.data ? error.data : "no engine");
  text_finish(&error);
  if (!engine) return false;
  agent_t* agent = add_agent(HSA_DEVICE_TYPE_GPU, ordinal);
  agent->target = target;
  agent->engine = engine;
  snprintf(agent->uuid, sizeof(agent->uuid), "%s", uuid);
  uint64_t size = UINT64_C(16) << 30;
  add_pool(agent, HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED, size, "device memory");
  add_pool(agent, HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED, size, "device memory");
  add_pool(agent, HSA_AMD_SEGMENT_GROUP, 0, target->lds_kib * 1024u, "workgroup memory");
  add_isas(agent);
  return true;
}

static bool add_gpus(void) {
  gpu_list_t list;
  uint32_t chosen[RUNTIME_MAX_GPUS];
  if (!gpu_list_read(&list, getenv("IREE_SOFTGPU_TARGET"), getenv("IREE_SOFTGPU_GPUS"))) return false;
  uint32_t count = gpu_list_select(&list, getenv("ROCR_VISIBLE_DEVICES"), chosen);
  for (uint32_t i = 0; i < count; ++i) {
    if (!add_gpu(list.targets[chosen[i]], i, list.uuids[chosen[i]])) return false;
  }
  return true;
}

static void print_stats(const agent_t* agent) {
  engine_counters_t counters;
  engine_counters(agent->engine, &counters);
  fprintf(stderr, "softgpu: GPU %u, %s\n", agent->ordinal, agent->target->name);
#define COUNTER(name, what) fprintf(stderr, "  %18llu %s\n", (unsigned long long)counters.name, what);
  ENGINE_COUNTERS(COUNTER)
#undef COUNTER
  fprintf(stderr, "  %17.1f%% occupancy: waves that a SIMD holds of these kernels, of those that it could\n",
          counters.held_most ? 100.0 * (double)counters.held / (double)counters.held_most : 0.0);
}

static void close_runtime(void) {
  async_stop();
  event_close();
  queue_close_all();
  executable_destroy_all();
  for (uint32_t i = 0; i < runtime.agent_count; ++i) {
    agent_t* agent = &runtime.agents[i];
    if (agent->engine && runtime.prints_stats) print_stats(agent);
    engine_destroy(agent->engine);
    agent->engine = NULL;
  }
  virtual_memory_free_all();
  dmabuf_free_all();
  memory_free_all();
  memory_map_destroy(runtime.memory);
  runtime.memory = NULL;
  runtime.agent_count = 0;
}

hsa_status_t hsa_init(void) {
  hsa_status_t status = HSA_STATUS_SUCCESS;
  pthread_mutex_lock(&runtime.lock);
  if (runtime.references == 0) {
    const char* stats = getenv("IREE_SOFTGPU_STATS");
    runtime.prints_stats = stats && *stats && strcmp(stats, "0") != 0;
    runtime.memory = memory_map_create();
    add_cpu();
    if (!runtime.memory || !add_gpus() || !event_open()) {
      close_runtime();
      status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
  }
  if (status == HSA_STATUS_SUCCESS) __atomic_add_fetch(&runtime.references, 1, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&runtime.lock);
  return status;
}

hsa_status_t hsa_shut_down(void) {
  pthread_mutex_lock(&runtime.lock);
  bool was_open = runtime.references != 0;
  if (was_open && runtime.references == 1) close_runtime();
  if (was_open) __atomic_sub_fetch(&runtime.references, 1, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&runtime.lock);
  return was_open ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_NOT_INITIALIZED;
}
