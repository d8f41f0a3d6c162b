// Topologies, the worker pool, frontier tracker, proactor pool, static libraries and plugins' imports.
#include "hal/local/executor.h"
#include "hal_test.h"
#include "iree/async/frontier_tracker.h"
#include "iree/async/util/proactor_pool.h"
#include "iree/base/threading/notification.h"
#include "iree/hal/local/executable_library.h"
#include "iree/hal/local/executable_plugin_manager.h"
#include "iree/hal/local/loaders/registration/init.h"
#include "iree/hal/local/loaders/static_library_loader.h"
#include "iree/task/api.h"

static void topologies(void** state) {
  iree_task_topology_t topology;
  iree_task_topology_initialize_from_group_count(3, &topology);
  assert_int_equal(iree_task_topology_group_count(&topology), 3);
  CHECK_OK(iree_task_topology_initialize_from_physical_cores(IREE_TASK_TOPOLOGY_NODE_ID_ANY,
                                                             IREE_TASK_TOPOLOGY_PERFORMANCE_LEVEL_ANY,
                                                             IREE_TASK_TOPOLOGY_DISTRIBUTION_SCATTER, 0, &topology));
  assert_true(topology.group_count >= 1);
  CHECK_OK(iree_task_topology_initialize_from_physical_cores(IREE_TASK_TOPOLOGY_NODE_ID_ANY,
                                                             IREE_TASK_TOPOLOGY_PERFORMANCE_LEVEL_HIGH,
                                                             IREE_TASK_TOPOLOGY_DISTRIBUTION_COMPACT, 1, &topology));
  assert_int_equal(topology.group_count, 1);
  // Workers of known processors share caches with themselves at least, and with nobody who is not there.
  const iree_task_topology_group_t* group = iree_task_topology_get_group(&topology, 0);
  assert_non_null(group);
  assert_true(group->processor_index != UINT32_MAX);
  assert_int_equal(group->constructive_sharing_mask.words[0], 1);
  assert_null(iree_task_topology_get_group(&topology, 1));
  // Workers of the caller's, up to the limit.
  const iree_thread_affinity_t affinities[2] = {{.id_assigned = 1, .id = 3}, {0}};
  CHECK_OK(iree_task_topology_initialize_from_thread_affinities(2, affinities, &topology));
  assert_int_equal(iree_task_topology_get_group(&topology, 0)->ideal_thread_affinity.id, 3);
  iree_task_topology_group_t mine;
  iree_task_topology_group_initialize(77, &mine);
  assert_string_equal(mine.name, "iree-worker-77");
  while (iree_task_topology_group_count(&topology) < iree_task_topology_group_capacity(&topology)) {
    CHECK_OK(iree_task_topology_push_group(&topology, &mine));
  }
  assert_int_equal(iree_task_topology_get_group(&topology, 2)->group_index, 2);
  CHECK_CODE(RESOURCE_EXHAUSTED, iree_task_topology_push_group(&topology, &mine));
  CHECK_CODE(INVALID_ARGUMENT, iree_task_topology_initialize_from_logical_cpu_set_string(IREE_SV("0-"), &topology));
  CHECK_CODE(INVALID_ARGUMENT, iree_task_topology_initialize_from_logical_cpu_set_string(IREE_SV("3-1"), &topology));
  CHECK_CODE(INVALID_ARGUMENT, iree_task_topology_initialize_from_logical_cpu_set_string(IREE_SV("1000"), &topology));
}

//===----------------------------------------------------------------------------------------------------------------===
// Executor
//===----------------------------------------------------------------------------------------------------------------===

typedef struct job_t {
  executor_job_t base;
  uint32_t region, region_count, chunk_count;
  iree_atomic_uint32_t running;  // chunks of this region that have started
  iree_atomic_uint32_t total;
  iree_atomic_uint32_t errors;
  iree_atomic_uint32_t* done;
  iree_notification_t* notification;
} job_t;

static uint32_t job_next_region(executor_job_t* base) {
  job_t* job = (job_t*)base;
  uint32_t expected = job->region ? job->chunk_count : 0;
  if (iree_atomic_exchange(&job->running, 0, iree_memory_order_seq_cst) != expected) ++job->errors;
  return job->region++ < job->region_count ? job->chunk_count : 0;
}

static void job_run_chunk(executor_job_t* base, uint32_t chunk, local_worker_t* worker) {
  job_t* job = (job_t*)base;
  if (chunk >= job->chunk_count) iree_atomic_fetch_add(&job->errors, 1, iree_memory_order_relaxed);
  iree_atomic_fetch_add(&job->running, 1, iree_memory_order_relaxed);
  iree_atomic_fetch_add(&job->total, 1, iree_memory_order_relaxed);
}

static void job_complete(executor_job_t* base) {
  job_t* job = (job_t*)base;
  iree_notification_t* notification = job->notification;
  iree_atomic_fetch_add(job->done, 1, iree_memory_order_seq_cst);
  iree_notification_post(notification, IREE_ALL_WAITERS);
}

static bool all_done(void* arg) {
  return iree_atomic_load((iree_atomic_uint32_t*)arg, iree_memory_order_seq_cst) == 40;
}

// More jobs than there are slots, of all shapes, with and without a helper.
static void executor(void** state) {
  iree_task_topology_t topology;
  for (uint32_t workers = 1; workers <= 4; ++workers) {
    iree_task_executor_options_t options;
    iree_task_executor_options_initialize(&options);
    options.worker_spin_ns = workers == 3 ? 1 : 0;  // sleeping mostly
    iree_task_topology_initialize_from_group_count(workers, &topology);
    iree_task_executor_t* pool = NULL;
    CHECK_OK(iree_task_executor_create(options, &topology, iree_allocator_system(), &pool));
    assert_int_equal(iree_task_executor_worker_count(pool), workers);
    for (int round = 0; round < 50; ++round) {
      static job_t jobs[40];
      iree_atomic_uint32_t done = 0;
      static iree_notification_t notification;  // a worker may still be posting when its job is done
      for (uint32_t i = 0; i < 40; ++i) {
        jobs[i] = (job_t){{NULL, job_next_region, job_run_chunk, job_complete},
                          .region_count = i % 7,
                          .chunk_count = 1 + i % 5 * 3,
                          .done = &done,
                          .notification = &notification};
        executor_submit(pool, &jobs[i].base);
      }
      bool helped = false;
      if (round % 2) executor_help(pool, all_done, &done, iree_time_now() + 2000000, &helped);
      assert_true(iree_notification_await(&notification, all_done, &done, iree_make_timeout_ms(60000)));
      for (uint32_t i = 0; i < 40; ++i) {
        assert_int_equal(jobs[i].total, jobs[i].region_count * jobs[i].chunk_count);
        assert_int_equal(jobs[i].errors, 0);
      }
    }
    iree_task_executor_release(pool);
  }
}

static void executors_from_flags(void** state) {
  iree_task_executor_t* executors[4];
  iree_host_size_t count = 0;
  CHECK_OK(iree_task_executors_create_from_flags(iree_allocator_system(), 4, executors, &count));
  assert_int_equal(count, 1);
  for (iree_host_size_t i = 0; i < count; ++i) iree_task_executor_release(executors[i]);
  CHECK_CODE(OUT_OF_RANGE, iree_task_executors_create_from_flags(iree_allocator_system(), 0, executors, &count));
}

//===----------------------------------------------------------------------------------------------------------------===
// Frontiers
//===----------------------------------------------------------------------------------------------------------------===

static void on_frontier(void* user_data, iree_status_t status) {
  *(int*)user_data = 1 + (int)iree_status_consume_code(status);
}

static void frontiers(void** state) {
  iree_async_frontier_tracker_options_t options = iree_async_frontier_tracker_options_default();
  options.axis_table_capacity = 2;
  iree_async_frontier_tracker_t* tracker = NULL;
  CHECK_OK(iree_async_frontier_tracker_create(options, iree_allocator_system(), &tracker));
  iree_async_axis_t a = iree_async_axis_make_queue(1, 0, 0, 0), b = iree_async_axis_make_queue(1, 0, 0, 1);
  CHECK_OK(iree_async_frontier_tracker_register_axis(tracker, a));
  CHECK_CODE(ALREADY_EXISTS, iree_async_frontier_tracker_register_axis(tracker, a));
  CHECK_OK(iree_async_frontier_tracker_register_axis(tracker, b));
  CHECK_CODE(RESOURCE_EXHAUSTED, iree_async_frontier_tracker_register_axis(tracker, b + 1));
  union {
    iree_async_frontier_t frontier;
    uint8_t storage[sizeof(iree_async_frontier_t) + 2 * sizeof(iree_async_frontier_entry_t)];
  } both = {.frontier = {.entry_count = 2}};
  both.frontier.entries[0] = (iree_async_frontier_entry_t){a, 3};
  both.frontier.entries[1] = (iree_async_frontier_entry_t){b, 5};
  iree_async_frontier_waiter_t waiters[3];
  int results[3] = {0};
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(iree_async_frontier_tracker_wait(tracker, &both.frontier, on_frontier, &results[i], &waiters[i]));
  }
  assert_int_equal(iree_async_frontier_tracker_advance(tracker, a, 7), 0);
  assert_true(iree_async_frontier_tracker_query_epoch(tracker, a, 7));
  assert_true(iree_async_frontier_tracker_cancel_wait(tracker, &waiters[1]));
  assert_int_equal(iree_async_frontier_tracker_advance(tracker, b, 5), 2);
  assert_int_equal(results[0], 1);
  assert_int_equal(results[1], 0);
  assert_false(iree_async_frontier_tracker_cancel_wait(tracker, &waiters[0]));
  both.frontier.entries[1].epoch = 100;
  CHECK_OK(iree_async_frontier_tracker_wait(tracker, &both.frontier, on_frontier, &results[1], &waiters[1]));
  iree_async_frontier_tracker_fail_axis(tracker, b, iree_make_status(IREE_STATUS_ABORTED, "over"));
  assert_int_equal(results[1], 1 + IREE_STATUS_ABORTED);
  iree_async_frontier_tracker_release(tracker);
}

static void proactors(void** state) {
  const uint32_t nodes[] = {4, 2};
  iree_async_proactor_pool_t* pool = NULL;
  CHECK_OK(iree_async_proactor_pool_create(2, nodes, iree_async_proactor_pool_options_default(),
                                           iree_allocator_system(), &pool));
  assert_int_equal(iree_async_proactor_pool_count(pool), 2);
  assert_int_equal(iree_async_proactor_pool_node_id(pool, 1), 2);
  iree_async_proactor_pool_release(pool);
  CHECK_CODE(INVALID_ARGUMENT, iree_async_proactor_pool_create(0, NULL, iree_async_proactor_pool_options_default(),
                                                               iree_allocator_system(), &pool));
}

//===----------------------------------------------------------------------------------------------------------------===
// Static libraries, imports
//===----------------------------------------------------------------------------------------------------------------===

static int call_import(const iree_hal_executable_environment_v0_t* environment,
                       const iree_hal_executable_dispatch_state_v0_t* dispatch,
                       const iree_hal_executable_workgroup_state_v0_t* group) {
  return environment->import_thunk(environment->import_funcs[0], (void*)dispatch,
                                   (void*)environment->import_contexts[0], NULL);
}
static const iree_hal_executable_dispatch_v0_t test_functions[] = {call_import};
static const char* const test_imports[] = {"answer", "?maybe"};
static const iree_hal_executable_library_header_t test_header = {IREE_HAL_EXECUTABLE_LIBRARY_VERSION_LATEST,
                                                                 "test_library", 0, 0};
static const iree_hal_executable_library_v0_t test_library = {
    .header = &test_header, .imports = {2, test_imports}, .exports = {.count = 1, .ptrs = test_functions}};

static const iree_hal_executable_library_header_t** query_test(
    iree_hal_executable_library_version_t max_version, const iree_hal_executable_environment_v0_t* environment) {
  return (const iree_hal_executable_library_header_t**)&test_library;
}
static const iree_hal_executable_library_header_t** query_nothing(
    iree_hal_executable_library_version_t max_version, const iree_hal_executable_environment_v0_t* environment) {
  return NULL;
}

static int answer(void* params, void* context, void* reserved) { return 42; }

static iree_status_t provide(void* self, iree_host_size_t count, const char* const* symbol_names, void** out_fn_ptrs,
                             void** out_fn_contexts, iree_hal_executable_import_resolution_t* out_resolution) {
  for (iree_host_size_t i = 0; i < count; ++i) {
    if (strcmp(symbol_names[i], "answer") == 0) out_fn_ptrs[i] = (void*)answer;
  }
  *out_resolution = IREE_HAL_EXECUTABLE_IMPORT_RESOLUTION_MISSING_OPTIONAL;
  return iree_ok_status();
}

static void static_libraries(void** state) {
  iree_allocator_t allocator = iree_allocator_system();
  const iree_hal_executable_library_query_fn_t queries[] = {query_test}, bad_queries[] = {query_nothing};
  iree_hal_executable_loader_t* loader = NULL;
  iree_hal_executable_t* executable = NULL;
  iree_hal_executable_plugin_manager_t* manager = NULL;
  iree_hal_executable_params_t params;
  CHECK_CODE(UNAVAILABLE, iree_hal_static_library_loader_create(
                              1, bad_queries, iree_hal_executable_import_provider_null(), allocator, &loader));
  iree_hal_executable_params_initialize(&params);
  params.executable_format = IREE_SV("static");
  params.executable_data = iree_make_const_byte_span("test_library", 12);
  // Without a provider the required import is missing.
  CHECK_OK(iree_hal_static_library_loader_create(1, queries, iree_hal_executable_import_provider_null(), allocator,
                                                 &loader));
  assert_true(iree_hal_executable_loader_query_support(loader, 0, IREE_SV("static")));
  CHECK_CODE(NOT_FOUND, iree_hal_executable_loader_try_load(loader, &params, 1, &executable));
  iree_hal_executable_loader_release(loader);
  // With one among several.
  CHECK_OK(iree_hal_executable_plugin_manager_create(2, allocator, &manager));
  iree_hal_executable_import_provider_t provider = {NULL, provide};
  CHECK_OK(iree_hal_executable_plugin_manager_register_provider(manager, provider));
  CHECK_OK(iree_hal_executable_plugin_manager_register_provider(manager, iree_hal_executable_import_provider_null()));
  CHECK_CODE(RESOURCE_EXHAUSTED, iree_hal_executable_plugin_manager_register_provider(manager, provider));
  CHECK_OK(iree_hal_static_library_loader_create(1, queries, iree_hal_executable_plugin_manager_provider(manager),
                                                 allocator, &loader));
  CHECK_OK(iree_hal_executable_loader_try_load(loader, &params, 1, &executable));
  assert_int_equal(iree_hal_executable_function_count(executable), 1);
  iree_hal_executable_release(executable);
  params.executable_data = iree_make_const_byte_span("other", 5);
  CHECK_CODE(NOT_FOUND, iree_hal_executable_loader_try_load(loader, &params, 1, &executable));
  iree_hal_executable_loader_release(loader);
  CHECK_CODE(NOT_FOUND,
             iree_hal_executable_plugin_manager_load_system(manager, IREE_SV("/no/such/plugin.so"), 0, NULL));
  CHECK_CODE(NOT_FOUND,
             iree_hal_executable_plugin_manager_load_embedded(manager, IREE_SV("/no/such/plugin.so"), 0, NULL));
  iree_hal_executable_plugin_manager_release(manager);
}

// The same plugin through the system's loader and through ours.
static void plugins(void** state) {
  static const char *const names[] = {"twice", "?other", "?twice"}, *const missing[] = {"other"};
  for (int embedded = 0; embedded < 2; ++embedded) {
    iree_hal_executable_plugin_manager_t* manager = NULL;
    CHECK_OK(iree_hal_executable_plugin_manager_create(1, iree_allocator_system(), &manager));
    const iree_string_pair_t params = iree_make_cstring_pair("key", "value");
    CHECK_OK((embedded
                  ? iree_hal_executable_plugin_manager_load_embedded
                  : iree_hal_executable_plugin_manager_load_system)(manager, IREE_SV(HAL_PLUGIN_PATH), 1, &params));
    void *functions[3] = {NULL}, *contexts[3] = {NULL};
    iree_hal_executable_import_resolution_t resolution = 0;
    iree_hal_executable_import_provider_t provider = iree_hal_executable_plugin_manager_provider(manager);
    CHECK_OK(iree_hal_executable_import_provider_try_resolve(provider, 3, names, functions, contexts, &resolution));
    assert_int_equal(resolution, IREE_HAL_EXECUTABLE_IMPORT_RESOLUTION_MISSING_OPTIONAL);
    assert_null(functions[1]);
    assert_ptr_equal(functions[0], functions[2]);
    int value = 20;
    assert_int_equal(((iree_hal_executable_import_v0_t)functions[0])(&value, contexts[0], NULL), 0);
    assert_int_equal(value, 42);
    functions[0] = NULL;
    CHECK_CODE(NOT_FOUND,
               iree_hal_executable_import_provider_try_resolve(provider, 1, missing, functions, contexts, &resolution));
    // There is room for one.
    CHECK_CODE(RESOURCE_EXHAUSTED,
               (embedded ? iree_hal_executable_plugin_manager_load_embedded
                         : iree_hal_executable_plugin_manager_load_system)(manager, IREE_SV(HAL_PLUGIN_PATH), 0, NULL));
    iree_hal_executable_plugin_manager_release(manager);
  }
}

static void loaders(void** state) {
  iree_hal_executable_loader_t* loaders[8];
  iree_host_size_t count = 0;
  CHECK_OK(iree_hal_create_all_available_executable_loaders(NULL, 8, &count, loaders, iree_allocator_system()));
  assert_true(count >= 2);
  assert_true(iree_hal_query_any_executable_loader_support(count, loaders, 0, IREE_SV("system-elf-" IREE_ARCH)));
  for (iree_host_size_t i = 0; i < count; ++i) iree_hal_executable_loader_release(loaders[i]);
  CHECK_CODE(OUT_OF_RANGE,
             iree_hal_create_all_available_executable_loaders(NULL, 0, &count, loaders, iree_allocator_system()));
  CHECK_CODE(NOT_FOUND,
             iree_hal_create_executable_loader_by_name(IREE_SV("nope"), NULL, iree_allocator_system(), loaders));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(topologies), cmocka_unit_test(executor),  cmocka_unit_test(executors_from_flags),
      cmocka_unit_test(frontiers),  cmocka_unit_test(proactors), cmocka_unit_test(static_libraries),
      cmocka_unit_test(plugins),    cmocka_unit_test(loaders)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
