// Executors from the command line.
#include "base/flag_table.h"
#include "hal/local/driver.h"
#include "iree/base/threading/numa.h"
#include "iree/base/tooling/flags.h"
#include "iree/hal/drivers/local_task/task_device.h"
#include "iree/task/api.h"

#define MAX_NODES 64

IREE_FLAG(
    int32_t, task_worker_spin_us, 0,
    "Microseconds an idle worker thread polls for work before it sleeps. 0 chooses a short time. More lowers the\n"
    "latency of the next call and costs power.");
IREE_FLAG(int32_t, task_worker_stack_size, 128 * 1024, "Bytes of stack of each worker thread.");
IREE_FLAG(int32_t, task_worker_local_memory, 0,
          "Bytes of scratch memory that each worker reserves for workgroups at start. 0 allocates it when an\n"
          "executable first asks for some.");
IREE_FLAG(bool, task_abort_on_failure, false, "Aborts the process when work of a local-task device fails.");
IREE_FLAG(string, task_topology_mode, "physical_cores",
          "How workers are chosen when neither --task_topology_group_count nor --task_topology_cpu_ids says:\n"
          "physical_cores: one per physical core of each node in --task_topology_nodes.");
IREE_FLAG(int32_t, task_topology_group_count, 0, "Number of workers, placed by the system. 0: by mode.");
IREE_FLAG_LIST(string, task_topology_cpu_ids,
               "Logical processors, such as `0,2-5`, to run one worker each on. Each flag makes one executor.");
IREE_FLAG(string, task_topology_nodes, "current",
          "NUMA nodes to make executors for: `current`, `all`, or a list such as `0,1`.");
IREE_FLAG(int32_t, task_topology_max_group_count, 64, "Most workers that a mode chooses.");
IREE_FLAG(string, task_topology_performance_level, "any",
          "Cores to choose from: any, low (or efficiency), high (or performance).");
IREE_FLAG(string, task_topology_distribution, "scatter",
          "Order in which cores are taken: compact fills one cache after the other, scatter goes around all caches.");
IREE_FLAG(string, task_topology_favor, "",
          "Sets distribution and performance level together: latency (compact, high), throughput (scatter, any),\n"
          "efficiency (compact, low).");
FLAG_VALUES(task_topology_mode, "physical_cores")
FLAG_VALUES(task_topology_nodes, "current,all")
FLAG_VALUES(task_topology_performance_level, "any,low,efficiency,high,performance")
FLAG_VALUES(task_topology_distribution, "scatter,compact")
FLAG_VALUES(task_topology_favor, "latency,throughput,efficiency")

iree_task_scope_flags_t local_task_scope_flags(void) {
  return FLAG_task_abort_on_failure ? IREE_TASK_SCOPE_FLAG_ABORT_ON_FAILURE : IREE_TASK_SCOPE_FLAG_NONE;
}

iree_status_t iree_task_executor_options_initialize_from_flags(iree_task_executor_options_t* out_options) {
  iree_task_executor_options_initialize(out_options);
  if (FLAG_task_worker_spin_us < 0 || FLAG_task_worker_stack_size < 0 || FLAG_task_worker_local_memory < 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--task_worker_* flags must not be negative");
  }
  out_options->worker_spin_ns = (iree_duration_t)FLAG_task_worker_spin_us * 1000;
  out_options->worker_stack_size = (iree_host_size_t)FLAG_task_worker_stack_size;
  out_options->worker_local_memory_size = (iree_host_size_t)FLAG_task_worker_local_memory;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Choices
//===----------------------------------------------------------------------------------------------------------------===

typedef struct choice_t {
  const char* name;
  int value;
} choice_t;

static iree_status_t choose(const char* flag, const char* text, const choice_t* choices, size_t count, int* out_value) {
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(text, choices[i].name) != 0) continue;
    *out_value = choices[i].value;
    return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "'%s' is not a value of --%s", text, flag);
}

typedef struct preference_t {
  int level;
  int distribution;
} preference_t;

static iree_status_t read_preference(preference_t* out_preference) {
  static const choice_t levels[] = {
      {"any", IREE_TASK_TOPOLOGY_PERFORMANCE_LEVEL_ANY},          {"low", IREE_TASK_TOPOLOGY_PERFORMANCE_LEVEL_LOW},
      {"efficiency", IREE_TASK_TOPOLOGY_PERFORMANCE_LEVEL_LOW},   {"high", IREE_TASK_TOPOLOGY_PERFORMANCE_LEVEL_HIGH},
      {"performance", IREE_TASK_TOPOLOGY_PERFORMANCE_LEVEL_HIGH},
  };
  static const choice_t distributions[] = {{"compact", IREE_TASK_TOPOLOGY_DISTRIBUTION_COMPACT},
                                           {"scatter", IREE_TASK_TOPOLOGY_DISTRIBUTION_SCATTER}};
  static const struct {
    const char* name;
    preference_t preference;
  } favors[] = {
      {"latency", {IREE_TASK_TOPOLOGY_PERFORMANCE_LEVEL_HIGH, IREE_TASK_TOPOLOGY_DISTRIBUTION_COMPACT}},
      {"throughput", {IREE_TASK_TOPOLOGY_PERFORMANCE_LEVEL_ANY, IREE_TASK_TOPOLOGY_DISTRIBUTION_SCATTER}},
      {"efficiency", {IREE_TASK_TOPOLOGY_PERFORMANCE_LEVEL_LOW, IREE_TASK_TOPOLOGY_DISTRIBUTION_COMPACT}},
  };
  for (size_t i = 0; i < IREE_ARRAYSIZE(favors) && FLAG_task_topology_favor[0]; ++i) {
    if (strcmp(FLAG_task_topology_favor, favors[i].name) != 0) continue;
    *out_preference = favors[i].preference;
    return iree_ok_status();
  }
  if (FLAG_task_topology_favor[0]) return choose("task_topology_favor", FLAG_task_topology_favor, NULL, 0, NULL);
  IREE_RETURN_IF_ERROR(choose("task_topology_performance_level", FLAG_task_topology_performance_level, levels,
                              IREE_ARRAYSIZE(levels), &out_preference->level));
  return choose("task_topology_distribution", FLAG_task_topology_distribution, distributions,
                IREE_ARRAYSIZE(distributions), &out_preference->distribution);
}

static iree_status_t select_nodes(uint64_t* out_mask) {
  iree_string_view_t text = iree_make_cstring_view(FLAG_task_topology_nodes);
  iree_host_size_t node_count = iree_min(iree_task_topology_query_node_count(), MAX_NODES);
  uint64_t all = node_count == MAX_NODES ? ~0ull : (1ull << node_count) - 1;
  *out_mask = 0;
  if (iree_string_view_equal(text, IREE_SV("all"))) *out_mask = all;
  if (iree_string_view_equal(text, IREE_SV("current"))) {
    *out_mask = 1ull << iree_min(iree_task_topology_query_current_node(), MAX_NODES - 1);
  }
  if (*out_mask) return iree_ok_status();
  for (iree_string_view_t rest = text, item; rest.size;) {
    uint32_t node = 0;
    iree_string_view_split(rest, ',', &item, &rest);
    if (!iree_string_view_atoi_uint32_base(item, 10, &node) || node >= node_count) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "--task_topology_nodes: '%.*s' is not one of %" PRIhsz " nodes", (int)item.size,
                              item.data, node_count);
    }
    *out_mask |= 1ull << node;
  }
  if (*out_mask) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--task_topology_nodes names no nodes");
}

//===----------------------------------------------------------------------------------------------------------------===
// Topologies
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t iree_task_topology_initialize_from_flags(iree_task_topology_node_id_t node_id,
                                                       iree_task_topology_t* out_topology) {
  if (FLAG_task_topology_group_count < 0 || FLAG_task_topology_max_group_count < 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "group counts must not be negative");
  }
  if (FLAG_task_topology_group_count > 0) {
    iree_task_topology_initialize_from_group_count((iree_host_size_t)FLAG_task_topology_group_count, out_topology);
    out_topology->node_id = node_id;
    return iree_ok_status();
  }
  static const choice_t modes[] = {{"physical_cores", 0}};
  int mode = 0;
  preference_t preference = {0, 0};
  IREE_RETURN_IF_ERROR(choose("task_topology_mode", FLAG_task_topology_mode, modes, IREE_ARRAYSIZE(modes), &mode));
  IREE_RETURN_IF_ERROR(read_preference(&preference));
  return iree_task_topology_initialize_from_physical_cores(
      node_id, (iree_task_topology_performance_level_t)preference.level,
      (iree_task_topology_distribution_t)preference.distribution, (iree_host_size_t)FLAG_task_topology_max_group_count,
      out_topology);
}

typedef iree_status_t (*topology_fn_t)(void* user_data, const iree_task_topology_t* topology);

static iree_status_t for_each_topology(topology_fn_t fn, void* user_data) {
  iree_task_topology_t topology;
  iree_flag_string_list_t cpu_sets = FLAG_task_topology_cpu_ids_list();
  for (iree_host_size_t i = 0; i < cpu_sets.count; ++i) {
    IREE_RETURN_IF_ERROR(iree_task_topology_initialize_from_logical_cpu_set_string(cpu_sets.values[i], &topology));
    IREE_RETURN_IF_ERROR(fn(user_data, &topology));
  }
  if (cpu_sets.count) return iree_ok_status();
  uint64_t nodes = 0;
  IREE_RETURN_IF_ERROR(select_nodes(&nodes));
  for (uint32_t node = 0; node < MAX_NODES; ++node) {
    if (!(nodes >> node & 1)) continue;
    IREE_RETURN_IF_ERROR(iree_task_topology_initialize_from_flags(node, &topology));
    IREE_RETURN_IF_ERROR(fn(user_data, &topology));
  }
  return iree_ok_status();
}

typedef struct executor_list_t {
  iree_allocator_t host_allocator;
  iree_task_executor_options_t options;
  iree_host_size_t capacity;
  iree_host_size_t count;
  iree_task_executor_t** executors;
} executor_list_t;

static iree_status_t add_executor(void* user_data, const iree_task_topology_t* topology) {
  executor_list_t* list = (executor_list_t*)user_data;
  if (list->count < list->capacity) {
    IREE_RETURN_IF_ERROR(
        iree_task_executor_create(list->options, topology, list->host_allocator, &list->executors[list->count]));
  }
  list->options.worker_base_index += topology->group_count;
  ++list->count;
  return iree_ok_status();
}

iree_status_t iree_task_executors_create_from_flags(iree_allocator_t host_allocator, iree_host_size_t executor_capacity,
                                                    iree_task_executor_t** executors,
                                                    iree_host_size_t* out_executor_count) {
  *out_executor_count = 0;
  executor_list_t list = {host_allocator, {0}, executor_capacity, 0, executors};
  for (iree_host_size_t i = 0; i < executor_capacity; ++i) executors[i] = NULL;
  IREE_RETURN_IF_ERROR(iree_task_executor_options_initialize_from_flags(&list.options));
  iree_status_t status = for_each_topology(add_executor, &list);
  *out_executor_count = list.count;
  if (iree_status_is_ok(status) && list.count > executor_capacity) {
    status = iree_make_status(IREE_STATUS_OUT_OF_RANGE, "flags ask for %" PRIhsz " executors, room is for %" PRIhsz,
                              list.count, executor_capacity);
  }
  if (iree_status_is_ok(status)) return status;
  for (iree_host_size_t i = 0; i < executor_capacity; ++i) {
    iree_task_executor_release(executors[i]);
    executors[i] = NULL;
  }
  return status;
}

static iree_status_t print_topology(void* user_data, const iree_task_topology_t* topology) {
  FILE* file = (FILE*)user_data;
  fprintf(file, "# task topology: node ");
  if (topology->node_id == IREE_TASK_TOPOLOGY_NODE_ID_ANY) {
    fprintf(file, "any");
  } else {
    fprintf(file, "%u", topology->node_id);
  }
  fprintf(file, ", %" PRIhsz " workers\n", topology->group_count);
  for (iree_host_size_t i = 0; i < topology->group_count; ++i) {
    const iree_task_topology_group_t* group = &topology->groups[i];
    fprintf(file, "  worker %" PRIhsz ": ", i);
    if (group->processor_index == UINT32_MAX) {
      fprintf(file, "anywhere\n");
    } else {
      fprintf(file, "processor %u%s, L2 %u KiB\n", group->processor_index,
              group->ideal_thread_affinity.id_assigned ? " (bound)" : "", group->caches.l2_data / 1024);
    }
  }
  return iree_ok_status();
}

iree_status_t iree_task_flags_dump_topologies(FILE* file) { return for_each_topology(print_topology, file); }

static iree_status_t dump_topologies(iree_string_view_t flag_name, void* storage, iree_string_view_t value) {
  IREE_RETURN_IF_ERROR(iree_task_flags_dump_topologies(stdout));
  exit(0);
}

static void print_dump_flag(iree_string_view_t flag_name, void* storage, FILE* file) {
  fprintf(file, "# --%.*s\n", (int)flag_name.size, flag_name.data);
}

IREE_FLAG_CALLBACK(dump_topologies, print_dump_flag, NULL, dump_task_topologies,
                   "Prints the workers that the --task_topology_* flags before this one ask for, and exits.");
