// Which processors there are, from the system's files, and topologies made of them.
#include "iree/task/topology.h"

#include <sched.h>
#include <unistd.h>

#include "iree/base/threading/numa.h"

#define MAX_CPUS CPU_SETSIZE

iree_host_size_t iree_task_topology_query_node_count(void) { return iree_numa_node_count(); }
iree_task_topology_node_id_t iree_task_topology_query_current_node(void) { return iree_numa_node_for_current_thread(); }

void iree_task_topology_initialize(iree_task_topology_t* out_topology) {
  memset(out_topology, 0, sizeof(*out_topology));
  out_topology->node_id = IREE_TASK_TOPOLOGY_NODE_ID_ANY;
}

void iree_task_topology_deinitialize(iree_task_topology_t* topology) {}

iree_host_size_t iree_task_topology_group_count(const iree_task_topology_t* topology) { return topology->group_count; }

//===----------------------------------------------------------------------------------------------------------------===
// The system's files
//===----------------------------------------------------------------------------------------------------------------===

// Reads a short file; empty when it cannot be read.
static iree_string_view_t read_text(const char* path, char* buffer, size_t capacity) {
  FILE* file = fopen(path, "re");
  if (!file) return iree_string_view_empty();
  size_t length = fread(buffer, 1, capacity, file);
  fclose(file);
  return iree_string_view_trim(iree_make_string_view(buffer, length));
}

static iree_string_view_t read_cpu_text(uint32_t cpu, const char* name, char* buffer, size_t capacity) {
  char path[128];
  snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/%s", cpu, name);
  return read_text(path, buffer, capacity);
}

// `0,2-5` into a set. Errors: INVALID_ARGUMENT.
static iree_status_t parse_cpu_list(iree_string_view_t text, cpu_set_t* out_set) {
  CPU_ZERO(out_set);
  for (iree_string_view_t rest = iree_string_view_trim(text), range; rest.size;) {
    iree_string_view_split(rest, ',', &range, &rest);
    iree_string_view_t first_text, last_text;
    uint32_t first = 0, last = 0;
    bool is_range = iree_string_view_split(range, '-', &first_text, &last_text) >= 0;
    bool ok = iree_string_view_atoi_uint32_base(first_text, 10, &first);
    last = first;
    if (is_range) ok = ok && iree_string_view_atoi_uint32_base(last_text, 10, &last);
    if (!ok || last < first || last >= MAX_CPUS) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "'%.*s' is not a list of processors such as `0,2-5`",
                              (int)text.size, text.data);
    }
    for (uint32_t cpu = first; cpu <= last; ++cpu) CPU_SET(cpu, out_set);
  }
  return iree_ok_status();
}

// The first processor of a list file; `fallback` without one.
static uint32_t first_of_list(uint32_t cpu, const char* name, uint32_t fallback) {
  char buffer[4096];
  cpu_set_t set;
  iree_string_view_t text = read_cpu_text(cpu, name, buffer, sizeof(buffer));
  if (!text.size || !iree_status_is_ok(iree_status_from_code(iree_status_consume_code(parse_cpu_list(text, &set))))) {
    return fallback;
  }
  for (uint32_t i = 0; i < MAX_CPUS; ++i) {
    if (CPU_ISSET(i, &set)) return i;
  }
  return fallback;
}

static uint32_t cache_size(uint32_t cpu, const char* file) {
  char buffer[64];
  iree_string_view_t text = read_cpu_text(cpu, file, buffer, sizeof(buffer));
  uint32_t size = 0;
  bool is_kib = iree_string_view_consume_suffix(&text, IREE_SV("K"));
  if (!iree_string_view_atoi_uint32_base(text, 10, &size)) return 0;
  return is_kib && size < UINT32_MAX / 1024 ? size * 1024 : size;
}

// Larger is faster; 0 when the system does not say.
static uint32_t cpu_speed(uint32_t cpu) {
  static const char* const files[] = {"cpu_capacity", "cpufreq/cpuinfo_max_freq"};
  char buffer[64];
  uint32_t speed = 0;
  for (size_t i = 0; i < IREE_ARRAYSIZE(files); ++i) {
    iree_string_view_t text = read_cpu_text(cpu, files[i], buffer, sizeof(buffer));
    if (iree_string_view_atoi_uint32_base(text, 10, &speed)) return speed;
  }
  return 0;
}

// Processors' worth of time that the process may use in all, as containers limit it.
static uint32_t cpu_quota(void) {
  char buffer[64];
  iree_string_view_t period_text, quota_text;
  uint64_t quota = 0, period = 0;
  iree_string_view_split(read_text("/sys/fs/cgroup/cpu.max", buffer, sizeof(buffer)), ' ', &quota_text, &period_text);
  if (!iree_string_view_atoi_uint64_base(quota_text, 10, &quota) ||
      !iree_string_view_atoi_uint64_base(period_text, 10, &period) || period == 0) {
    return UINT32_MAX;
  }
  return (uint32_t)iree_max((quota + period - 1) / period, 1);
}

//===----------------------------------------------------------------------------------------------------------------===
// Topologies
//===----------------------------------------------------------------------------------------------------------------===

void iree_task_topology_group_initialize(uint8_t group_index, iree_task_topology_group_t* out_group) {
  memset(out_group, 0, sizeof(*out_group));
  out_group->group_index = group_index;
  out_group->processor_index = UINT32_MAX;
  snprintf(out_group->name, sizeof(out_group->name), "iree-worker-%u", group_index);
  memset(&out_group->constructive_sharing_mask, 0xFF, sizeof(out_group->constructive_sharing_mask));
}

iree_host_size_t iree_task_topology_group_capacity(const iree_task_topology_t* topology) {
  return IREE_ARRAYSIZE(topology->groups);
}

const iree_task_topology_group_t* iree_task_topology_get_group(const iree_task_topology_t* topology,
                                                               iree_host_size_t group_index) {
  return group_index < topology->group_count ? &topology->groups[group_index] : NULL;
}

iree_status_t iree_task_topology_push_group(iree_task_topology_t* topology, const iree_task_topology_group_t* group) {
  if (topology->group_count == IREE_ARRAYSIZE(topology->groups)) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "at most %d workers", IREE_TASK_TOPOLOGY_MAX_GROUP_COUNT);
  }
  topology->groups[topology->group_count] = *group;
  topology->groups[topology->group_count].group_index = (uint8_t)topology->group_count;
  ++topology->group_count;
  return iree_ok_status();
}

iree_status_t iree_task_topology_initialize_from_thread_affinities(iree_host_size_t group_count,
                                                                   const iree_thread_affinity_t* group_affinities,
                                                                   iree_task_topology_t* out_topology) {
  iree_task_topology_initialize(out_topology);
  for (iree_host_size_t i = 0; i < group_count; ++i) {
    iree_task_topology_group_t group;
    iree_task_topology_group_initialize((uint8_t)i, &group);
    group.ideal_thread_affinity = group_affinities[i];
    IREE_RETURN_IF_ERROR(iree_task_topology_push_group(out_topology, &group));
  }
  return iree_ok_status();
}

// There is room.
static void add_group(iree_task_topology_t* topology, uint32_t cpu, bool is_bound) {
  iree_task_topology_group_t* group = &topology->groups[topology->group_count];
  iree_task_topology_group_initialize((uint8_t)topology->group_count++, group);
  if (cpu == UINT32_MAX) return;
  group->processor_index = cpu;
  group->caches.l1_data = cache_size(cpu, "cache/index0/size");
  group->caches.l2_data = cache_size(cpu, "cache/index2/size");
  group->caches.l3_data = cache_size(cpu, "cache/index3/size");
  group->ideal_thread_affinity.id_assigned = is_bound;
  group->ideal_thread_affinity.id = cpu;
}

// Of workers on known processors.
static void find_sharing(iree_task_topology_t* topology) {
  uint32_t caches[IREE_TASK_TOPOLOGY_MAX_GROUP_COUNT];
  for (iree_host_size_t i = 0; i < topology->group_count; ++i) {
    caches[i] = first_of_list(topology->groups[i].processor_index, "cache/index3/shared_cpu_list", 0);
  }
  for (iree_host_size_t i = 0; i < topology->group_count; ++i) {
    iree_task_topology_group_mask_t* mask = &topology->groups[i].constructive_sharing_mask;
    memset(mask, 0, sizeof(*mask));
    for (iree_host_size_t j = 0; j < topology->group_count; ++j) {
      if (caches[i] == caches[j]) mask->words[j / 64] |= 1ull << (j % 64);
    }
  }
}

void iree_task_topology_initialize_from_group_count(iree_host_size_t group_count, iree_task_topology_t* out_topology) {
  iree_task_topology_initialize(out_topology);
  group_count = iree_min(group_count, IREE_TASK_TOPOLOGY_MAX_GROUP_COUNT);
  for (iree_host_size_t i = 0; i < group_count; ++i) add_group(out_topology, UINT32_MAX, false);
}

iree_status_t iree_task_topology_initialize_from_logical_cpu_set(iree_host_size_t cpu_count, const uint32_t* cpu_ids,
                                                                 iree_task_topology_t* out_topology) {
  iree_task_topology_initialize(out_topology);
  if (cpu_count > IREE_TASK_TOPOLOGY_MAX_GROUP_COUNT) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "at most %d processors", IREE_TASK_TOPOLOGY_MAX_GROUP_COUNT);
  }
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof(allowed), &allowed);
  for (iree_host_size_t i = 0; i < cpu_count; ++i) {
    if (cpu_ids[i] >= MAX_CPUS || !CPU_ISSET(cpu_ids[i], &allowed)) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "processor %u is not available to this process",
                              cpu_ids[i]);
    }
    add_group(out_topology, cpu_ids[i], true);
  }
  find_sharing(out_topology);
  return iree_ok_status();
}

iree_status_t iree_task_topology_initialize_from_logical_cpu_set_string(iree_string_view_t cpu_id_set,
                                                                        iree_task_topology_t* out_topology) {
  iree_task_topology_initialize(out_topology);
  cpu_set_t set;
  IREE_RETURN_IF_ERROR(parse_cpu_list(cpu_id_set, &set));
  uint32_t cpus[MAX_CPUS];
  iree_host_size_t count = 0;
  for (uint32_t i = 0; i < MAX_CPUS; ++i) {
    if (CPU_ISSET(i, &set)) cpus[count++] = i;
  }
  return iree_task_topology_initialize_from_logical_cpu_set(count, cpus, out_topology);
}

typedef struct core_t {
  uint32_t cpu;
  uint32_t cache;  // first processor that shares the last-level cache
  uint32_t speed;
} core_t;

// One entry per physical core of the node that the process may use.
static size_t find_cores(iree_task_topology_node_id_t node_id, core_t* cores, size_t capacity) {
  cpu_set_t allowed, node;
  char buffer[4096], path[96];
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof(allowed), &allowed);
  if (node_id != IREE_TASK_TOPOLOGY_NODE_ID_ANY) {
    snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/cpulist", node_id);
    iree_string_view_t text = read_text(path, buffer, sizeof(buffer));
    if (text.size && iree_status_consume_code(parse_cpu_list(text, &node)) == IREE_STATUS_OK) {
      CPU_AND(&allowed, &allowed, &node);
    }
  }
  cpu_set_t seen;
  CPU_ZERO(&seen);
  size_t count = 0;
  for (uint32_t cpu = 0; cpu < MAX_CPUS && count < capacity; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    uint32_t first = first_of_list(cpu, "topology/thread_siblings_list", cpu);
    if (CPU_ISSET(first, &seen)) continue;
    CPU_SET(first, &seen);
    cores[count++] = (core_t){cpu, first_of_list(cpu, "cache/index3/shared_cpu_list", 0), cpu_speed(cpu)};
  }
  return count;
}

static size_t filter_cores(core_t* cores, size_t count, iree_task_topology_performance_level_t level) {
  uint32_t fastest = 0, slowest = UINT32_MAX;
  for (size_t i = 0; i < count; ++i) {
    fastest = iree_max(fastest, cores[i].speed);
    slowest = iree_min(slowest, cores[i].speed);
  }
  if (level == IREE_TASK_TOPOLOGY_PERFORMANCE_LEVEL_ANY || fastest == slowest) return count;
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    bool is_fast = cores[i].speed == fastest;
    if (is_fast == (level == IREE_TASK_TOPOLOGY_PERFORMANCE_LEVEL_HIGH)) cores[kept++] = cores[i];
  }
  return kept;
}

// Moves to the front one core of each cache, then a second one of each, and so on.
static void scatter_cores(core_t* cores, size_t count) {
  for (size_t place = 0; place < count; ++place) {
    size_t best = place, best_uses = SIZE_MAX;
    for (size_t i = place; i < count; ++i) {
      size_t uses = 0;
      for (size_t j = 0; j < place; ++j) uses += cores[j].cache == cores[i].cache;
      if (uses >= best_uses) continue;
      best = i;
      best_uses = uses;
    }
    core_t core = cores[best];
    memmove(&cores[place + 1], &cores[place], (best - place) * sizeof(core_t));
    cores[place] = core;
  }
}

iree_status_t iree_task_topology_initialize_from_physical_cores(
    iree_task_topology_node_id_t node_id, iree_task_topology_performance_level_t performance_level,
    iree_task_topology_distribution_t distribution, iree_host_size_t max_core_count,
    iree_task_topology_t* out_topology) {
  iree_task_topology_initialize(out_topology);
  out_topology->node_id = node_id;
  core_t cores[MAX_CPUS];
  size_t count = filter_cores(cores, find_cores(node_id, cores, IREE_ARRAYSIZE(cores)), performance_level);
  if (distribution == IREE_TASK_TOPOLOGY_DISTRIBUTION_SCATTER) scatter_cores(cores, count);
  size_t limit = iree_min(cpu_quota(), IREE_TASK_TOPOLOGY_MAX_GROUP_COUNT);
  if (max_core_count) limit = iree_min(limit, max_core_count);
  // Workers stay free to move: the thread that waits is one of them, and nobody knows where it runs.
  for (size_t i = 0; i < iree_min(count, limit); ++i) add_group(out_topology, cores[i].cpu, false);
  find_sharing(out_topology);
  return iree_ok_status();
}
