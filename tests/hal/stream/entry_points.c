// The drivers `hip` and `cuda` over a double of their library: every entry point fails once, in each of its calls, and
// from a call on. Whoever waits is told once, with the library's own words; nothing hangs and nothing is left. And how
// many calls a submission makes.
//
//   hal_stream_entry_points hip|cuda LIBRARY KERNELS FORMAT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs the four above.
#include <cmocka.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../waiters.h"
#include "fake.h"
#include "iree/base/threading/thread.h"
#include "iree/base/tooling/flags.h"
#include "iree/hal/api.h"
#include "iree/hal/drivers/cuda/registration/driver_module.h"
#include "iree/hal/drivers/hip/registration/driver_module.h"
#include "iree/io/file_contents.h"

#define ANY IREE_HAL_QUEUE_AFFINITY_ANY

static const fake_t* fake;
static bool is_cuda;
static bool has_graphs;  // that run more than once
static const char* format;
static const char* library_path;
static const char* kernels_path;
static iree_io_file_contents_t* kernels;
static iree_const_byte_span_t code;  // of them

//===----------------------------------------------------------------------------------------------------------------===
// The program
//===----------------------------------------------------------------------------------------------------------------===

typedef struct program_t {
  iree_atomic_int64_t live;  // allocations of the host
  iree_allocator_t allocator;
  iree_hal_driver_registry_t* registry;
  iree_hal_driver_t* driver;
  iree_hal_device_t* device;
  iree_hal_executable_cache_t* cache;
  iree_hal_executable_t* executable;
  iree_hal_semaphore_t* semaphore;
  uint64_t value;
  iree_hal_queue_affinity_t affinity;  // 0: each
  iree_hal_command_buffer_t* commands;
  iree_hal_buffer_t *local, *visible, *imported, *transient, *reserved;
  iree_hal_physical_memory_t* physical;
  iree_hal_device_t* peer;
  iree_hal_device_group_t* group;
  waiters_t waiters;
} program_t;

static iree_status_t count_ctl(void* self, iree_allocator_command_t command, const void* params, void** inout_ptr) {
  iree_atomic_int64_t* live = (iree_atomic_int64_t*)self;
  bool had = *inout_ptr != NULL;
  iree_allocator_t system = iree_allocator_system();
  IREE_RETURN_IF_ERROR(system.ctl(system.self, command, params, inout_ptr));
  if (command == IREE_ALLOCATOR_COMMAND_FREE && had) iree_atomic_fetch_sub(live, 1, iree_memory_order_acq_rel);
  if (command != IREE_ALLOCATOR_COMMAND_FREE && !had) iree_atomic_fetch_add(live, 1, iree_memory_order_relaxed);
  return iree_ok_status();
}

static iree_string_view_t driver_name(void) { return is_cuda ? IREE_SV("cuda") : IREE_SV("hip"); }

static iree_status_t open_device(program_t* p, iree_string_view_t path) {
  iree_hal_executable_params_t params;
  iree_hal_device_info_t* infos = NULL;
  iree_host_size_t count = 0;
  IREE_RETURN_IF_ERROR(iree_hal_driver_registry_allocate(p->allocator, &p->registry));
  IREE_RETURN_IF_ERROR(is_cuda ? iree_hal_cuda_driver_module_register(p->registry)
                               : iree_hal_hip_driver_module_register(p->registry));
  IREE_RETURN_IF_ERROR(iree_hal_driver_registry_try_create(p->registry, driver_name(), p->allocator, &p->driver));
  IREE_RETURN_IF_ERROR(iree_hal_driver_query_available_devices(p->driver, p->allocator, &count, &infos));
  iree_allocator_free(p->allocator, infos);
  IREE_RETURN_IF_ERROR(
      iree_hal_driver_create_device_by_path(p->driver, driver_name(), path, 0, NULL, NULL, p->allocator, &p->device));
  IREE_RETURN_IF_ERROR(iree_hal_executable_cache_create(p->device, IREE_SV("cache"), &p->cache));
  iree_hal_executable_params_initialize(&params);
  params.executable_format = iree_make_cstring_view(format);
  params.executable_data = code;
  IREE_RETURN_IF_ERROR(iree_hal_executable_cache_prepare_executable(p->cache, &params, &p->executable));
  return iree_hal_semaphore_create(p->device, ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &p->semaphore);
}

static iree_status_t allocate(program_t* p) {
  static iree_alignas(64) uint8_t memory[4096];
  iree_hal_allocator_t* allocator = iree_hal_device_allocator(p->device);
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL};
  IREE_RETURN_IF_ERROR(iree_hal_allocator_allocate_buffer(allocator, params, 1 << 17, &p->local));
  params.type |= IREE_HAL_MEMORY_TYPE_HOST_VISIBLE;
  params.usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING |
                 IREE_HAL_BUFFER_USAGE_DISPATCH_INDIRECT_PARAMETERS;
  IREE_RETURN_IF_ERROR(iree_hal_allocator_allocate_buffer(allocator, params, 4096, &p->visible));
  iree_hal_external_buffer_t external = {.type = IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION,
                                         .size = sizeof(memory),
                                         .handle.host_allocation.ptr = memory};
  params.type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE;
  return iree_hal_allocator_import_buffer(allocator, params, &external, iree_hal_buffer_release_callback_null(),
                                          &p->imported);
}

// The lists of the next operation of a chain, and its queue, unless that is always the same: they go round.
typedef struct link_t {
  uint64_t before, after;
  iree_hal_queue_affinity_t affinity;
  iree_hal_semaphore_list_t waits, signals;
} link_t;

static void next(program_t* p, link_t* link) {
  link->before = p->value++;
  link->after = p->value;
  link->affinity = p->affinity ? p->affinity : 1ull << p->value % 4;
  link->waits = (iree_hal_semaphore_list_t){1, &p->semaphore, &link->before};
  link->signals = (iree_hal_semaphore_list_t){1, &p->semaphore, &link->after};
}

static iree_status_t transfer(program_t* p) {
  const uint32_t pattern[4] = {1, 2, 3, 4};
  link_t link;
  for (iree_host_size_t size = 1; size <= 16; size *= 2) {
    next(p, &link);
    IREE_RETURN_IF_ERROR(iree_hal_device_queue_fill(p->device, link.affinity, link.waits, link.signals, p->local, 0,
                                                    256, pattern, size, IREE_HAL_FILL_FLAG_NONE));
  }
  next(p, &link);
  IREE_RETURN_IF_ERROR(iree_hal_device_queue_copy(p->device, link.affinity, link.waits, link.signals, p->local, 0,
                                                  p->imported, 0, 256, IREE_HAL_COPY_FLAG_NONE));
  next(p, &link);
  return iree_hal_device_queue_update(p->device, link.affinity, link.waits, link.signals, pattern, 0, p->visible, 0,
                                      sizeof(pattern), IREE_HAL_UPDATE_FLAG_NONE);
}

static iree_status_t use_transient(program_t* p) {
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL};
  link_t link;
  next(p, &link);
  IREE_RETURN_IF_ERROR(iree_hal_device_queue_alloca(p->device, link.affinity, link.waits, link.signals, NULL, params,
                                                    1 << 20, IREE_HAL_ALLOCA_FLAG_NONE, &p->transient));
  next(p, &link);
  IREE_RETURN_IF_ERROR(iree_hal_device_queue_copy(p->device, link.affinity, link.waits, link.signals, p->visible, 0,
                                                  p->transient, 0, 256, IREE_HAL_COPY_FLAG_NONE));
  next(p, &link);
  return iree_hal_device_queue_dealloca(p->device, link.affinity, link.waits, link.signals, p->transient,
                                        IREE_HAL_DEALLOCA_FLAG_NONE);
}

// Both ways, small and large.
static iree_status_t transfer_by_host(program_t* p) {
  static uint8_t data[100000];
  for (iree_device_size_t size = 100; size <= sizeof(data); size *= 1000) {
    IREE_RETURN_IF_ERROR(iree_hal_device_transfer_h2d(p->device, data, p->local, 0, size,
                                                      IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout()));
    IREE_RETURN_IF_ERROR(iree_hal_device_transfer_d2h(p->device, p->local, 0, data, size,
                                                      IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout()));
  }
  return iree_ok_status();
}

// Two dispatches of the table's buffer.
static iree_status_t give_dispatch(program_t* p, uint32_t workgroups) {
  iree_hal_buffer_ref_t ref = iree_hal_make_indirect_buffer_ref(0, 0, 4);
  iree_hal_executable_function_t function;
  IREE_RETURN_IF_ERROR(iree_hal_executable_lookup_function_by_name(p->executable, IREE_SV("accumulate"), &function));
  return iree_hal_command_buffer_dispatch(
      p->commands, p->executable, function, iree_hal_make_static_dispatch_config(workgroups, 1, 1),
      iree_const_byte_span_empty(), (iree_hal_buffer_ref_list_t){1, &ref}, IREE_HAL_DISPATCH_FLAG_NONE);
}

// So many dispatches, with a barrier before one of them.
static iree_status_t record_some(program_t* p, int count, int barrier) {
  IREE_RETURN_IF_ERROR(iree_hal_command_buffer_create(p->device, IREE_HAL_COMMAND_BUFFER_MODE_REVISABLE,
                                                      IREE_HAL_COMMAND_CATEGORY_ANY, ANY, 1, &p->commands));
  IREE_RETURN_IF_ERROR(iree_hal_command_buffer_begin(p->commands));
  for (int i = 0; i < count; ++i) {
    if (i == barrier) {
      IREE_RETURN_IF_ERROR(iree_hal_command_buffer_execution_barrier(
          p->commands, IREE_HAL_EXECUTION_STAGE_COMMAND_RETIRE, IREE_HAL_EXECUTION_STAGE_COMMAND_ISSUE,
          IREE_HAL_EXECUTION_BARRIER_FLAG_NONE, 0, NULL, 0, NULL));
    }
    IREE_RETURN_IF_ERROR(give_dispatch(p, 1));
  }
  return iree_hal_command_buffer_end(p->commands);
}
static iree_status_t record(program_t* p) { return record_some(p, 2, -1); }

// The last of two dispatches is given another count of workgroups.
static iree_status_t revise(program_t* p, uint32_t workgroups) {
  while (!iree_hal_command_buffer_can_revise(p->commands)) iree_thread_yield();
  IREE_RETURN_IF_ERROR(iree_hal_command_buffer_begin_revision(p->commands));
  IREE_RETURN_IF_ERROR(iree_hal_command_buffer_keep(p->commands, 1));
  IREE_RETURN_IF_ERROR(give_dispatch(p, workgroups));
  return iree_hal_command_buffer_end(p->commands);
}

static iree_status_t execute(program_t* p, iree_hal_buffer_t* buffer) {
  iree_hal_buffer_binding_t binding = {buffer, 0, 4096};
  link_t link;
  next(p, &link);
  return iree_hal_device_queue_execute(p->device, 1, link.waits, link.signals, p->commands,
                                       (iree_hal_buffer_binding_table_t){1, &binding}, IREE_HAL_EXECUTE_FLAG_NONE);
}

static iree_status_t dispatch(program_t* p, bool is_indirect) {
  iree_hal_dispatch_config_t config = iree_hal_make_static_dispatch_config(1, 1, 1);
  iree_hal_executable_function_t function;
  IREE_RETURN_IF_ERROR(iree_hal_executable_lookup_function_by_name(p->executable, IREE_SV("accumulate"), &function));
  iree_hal_buffer_ref_t ref = iree_hal_make_buffer_ref(p->local, 0, 4);
  if (is_indirect) config.workgroup_count_ref = iree_hal_make_buffer_ref(p->visible, 0, 12);
  link_t link;
  next(p, &link);
  return iree_hal_device_queue_dispatch(
      p->device, link.affinity, link.waits, link.signals, p->executable, function, config, iree_const_byte_span_empty(),
      (iree_hal_buffer_ref_list_t){1, &ref},
      is_indirect ? IREE_HAL_DISPATCH_FLAG_DYNAMIC_INDIRECT_PARAMETERS : IREE_HAL_DISPATCH_FLAG_NONE);
}

static iree_status_t await(program_t* p) {
  iree_status_t status =
      iree_hal_semaphore_wait(p->semaphore, p->value, iree_make_timeout_ms(20000), IREE_ASYNC_WAIT_FLAG_NONE);
  if (iree_status_is_deadline_exceeded(status)) fail_msg("a wait is never told");
  return status;
}

// On two GPUs, with runs of calls.
static iree_status_t run_streams(program_t* p) {
  IREE_RETURN_IF_ERROR(open_device(p, IREE_SV("0,1")));
  IREE_RETURN_IF_ERROR(allocate(p));
  IREE_RETURN_IF_ERROR(transfer(p));
  IREE_RETURN_IF_ERROR(use_transient(p));
  IREE_RETURN_IF_ERROR(dispatch(p, false));
  IREE_RETURN_IF_ERROR(dispatch(p, true));
  IREE_RETURN_IF_ERROR(await(p));
  return transfer_by_host(p);
}

// On one, with graphs: twice with the same buffer, then with another.
static iree_status_t run_graphs(program_t* p) {
  if (!has_graphs) return iree_ok_status();
  IREE_RETURN_IF_ERROR(open_device(p, IREE_SV("0")));
  IREE_RETURN_IF_ERROR(allocate(p));
  IREE_RETURN_IF_ERROR(record(p));
  IREE_RETURN_IF_ERROR(execute(p, p->local));
  IREE_RETURN_IF_ERROR(execute(p, p->local));
  IREE_RETURN_IF_ERROR(execute(p, p->visible));
  return await(p);
}

// Of the symbol that fails: those before anybody waits.
static const char* failing_symbol = "";
static int calls_before_waiters;

// Two GPUs, with callbacks and threads that wait.
static iree_status_t run_waited(program_t* p) {
  iree_hal_executable_function_t function;
  IREE_RETURN_IF_ERROR(open_device(p, IREE_SV("0,1")));
  IREE_RETURN_IF_ERROR(allocate(p));
  IREE_RETURN_IF_ERROR(iree_hal_executable_lookup_function_by_name(p->executable, IREE_SV("accumulate"), &function));
  iree_hal_buffer_ref_t ref = iree_hal_make_buffer_ref(p->local, 0, 4);
  IREE_RETURN_IF_ERROR(iree_hal_command_buffer_create(p->device, IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT,
                                                      IREE_HAL_COMMAND_CATEGORY_ANY, ANY, 0, &p->commands));
  IREE_RETURN_IF_ERROR(iree_hal_command_buffer_begin(p->commands));
  IREE_RETURN_IF_ERROR(iree_hal_command_buffer_dispatch(
      p->commands, p->executable, function, iree_hal_make_static_dispatch_config(1, 1, 1), iree_const_byte_span_empty(),
      (iree_hal_buffer_ref_list_t){1, &ref}, IREE_HAL_DISPATCH_FLAG_NONE));
  IREE_RETURN_IF_ERROR(iree_hal_command_buffer_end(p->commands));
  p->waiters.device = p->device;
  p->waiters.commands = p->commands;
  p->waiters.buffer = p->local;
  calls_before_waiters = fake->calls(failing_symbol);
  return waiters_run(&p->waiters);
}

// Two pages at two places, written to by the device.
static iree_status_t run_virtual(program_t* p) {
  const iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
                                           .usage = IREE_HAL_BUFFER_USAGE_DEFAULT};
  const uint32_t pattern = 7;
  iree_device_size_t page = 0, recommended = 0;
  link_t link;
  IREE_RETURN_IF_ERROR(open_device(p, IREE_SV("0,1")));
  iree_hal_allocator_t* allocator = iree_hal_device_allocator(p->device);
  if (!iree_hal_allocator_supports_virtual_memory(allocator)) return iree_ok_status();
  IREE_RETURN_IF_ERROR(iree_hal_allocator_virtual_memory_query_granularity(allocator, params, &page, &recommended));
  IREE_RETURN_IF_ERROR(iree_hal_allocator_virtual_memory_reserve(allocator, ANY, 4 * page, &p->reserved));
  IREE_RETURN_IF_ERROR(
      iree_hal_allocator_physical_memory_allocate(allocator, params, 2 * page, p->allocator, &p->physical));
  IREE_RETURN_IF_ERROR(iree_hal_allocator_virtual_memory_map(allocator, p->reserved, page, p->physical, 0, 2 * page));
  IREE_RETURN_IF_ERROR(iree_hal_allocator_virtual_memory_protect(allocator, p->reserved, page, 2 * page, ANY,
                                                                 IREE_HAL_MEMORY_PROTECTION_READ_WRITE));
  next(p, &link);
  IREE_RETURN_IF_ERROR(iree_hal_device_queue_fill(p->device, link.affinity, link.waits, link.signals, p->reserved, page,
                                                  2 * page, &pattern, 4, IREE_HAL_FILL_FLAG_NONE));
  return await(p);
}

static void close_virtual(program_t* p) {
  iree_device_size_t page = p->reserved ? iree_hal_buffer_byte_length(p->reserved) / 4 : 0;
  iree_hal_allocator_t* allocator = p->device ? iree_hal_device_allocator(p->device) : NULL;
  if (p->physical) {
    // Nothing is where mapping it failed.
    iree_status_ignore(iree_hal_allocator_virtual_memory_unmap(allocator, p->reserved, page, 2 * page));
    IREE_CHECK_OK(iree_hal_allocator_physical_memory_free(allocator, p->physical));
  }
  iree_hal_buffer_release(p->reserved);
}

static iree_status_t drop_event(const void* event) {
  void* library = dlopen(library_path, RTLD_NOW | RTLD_NOLOAD);
  int (*destroy)(const void*) = (int (*)(const void*))dlsym(library, is_cuda ? "cuEventDestroy_v2" : "hipEventDestroy");
  destroy(event);
  dlclose(library);
  return iree_ok_status();
}

// A point that work reaches, and one that an event brings.
static iree_status_t run_events(program_t* p) {
  const iree_hal_external_timepoint_type_t type =
      is_cuda ? IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_CUDA_EVENT : IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_HIP_EVENT;
  iree_hal_external_timepoint_t timepoint;
  IREE_RETURN_IF_ERROR(open_device(p, IREE_SV("0")));
  IREE_RETURN_IF_ERROR(allocate(p));
  IREE_RETURN_IF_ERROR(dispatch(p, false));
  IREE_RETURN_IF_ERROR(iree_hal_semaphore_export_timepoint(p->semaphore, p->value, 1, type, 0, &timepoint));
  iree_status_t status = iree_hal_semaphore_import_timepoint(p->semaphore, p->value + 1, 1, timepoint);
  if (iree_status_is_ok(status)) ++p->value;
  IREE_RETURN_IF_ERROR(iree_status_join(status, drop_event(timepoint.handle.cuda_event)));
  return await(p);
}

static iree_status_t take_chunk(void* user_data, const iree_hal_profile_chunk_metadata_t* metadata,
                                iree_host_size_t iovec_count, const iree_const_byte_span_t* iovecs) {
  return iree_ok_status();
}
static iree_status_t begin_session(void* user_data, const iree_hal_profile_chunk_metadata_t* metadata) {
  return iree_ok_status();
}
static iree_status_t end_session(void* user_data, const iree_hal_profile_chunk_metadata_t* metadata,
                                 iree_status_code_t session_status_code) {
  return iree_ok_status();
}

static iree_status_t begin_profile(const program_t* p, iree_hal_device_profiling_data_families_t families) {
  const iree_hal_profile_sink_callbacks_t callbacks = {
      .begin_session = begin_session, .write = take_chunk, .end_session = end_session};
  iree_hal_device_profiling_options_t options = {.data_families = families};
  IREE_RETURN_IF_ERROR(iree_hal_profile_sink_create(callbacks, p->allocator, &options.sink));
  iree_status_t status = iree_hal_device_profiling_begin(p->device, &options);
  iree_hal_profile_sink_release(options.sink);
  return status;
}

// On one GPU, with times.
static iree_status_t run_profiled(program_t* p) {
  IREE_RETURN_IF_ERROR(open_device(p, IREE_SV("0")));
  IREE_RETURN_IF_ERROR(allocate(p));
  IREE_RETURN_IF_ERROR(record(p));
  IREE_RETURN_IF_ERROR(begin_profile(
      p, IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS | IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_QUEUE_EVENTS));
  iree_status_t status = execute(p, p->local);
  if (iree_status_is_ok(status)) status = dispatch(p, true);
  if (iree_status_is_ok(status)) status = await(p);
  return iree_status_join(status, iree_hal_device_profiling_end(p->device));
}

// Two devices that use each other's memory.
static iree_status_t run_group(program_t* p) {
  iree_hal_device_group_builder_t builder;
  IREE_RETURN_IF_ERROR(open_device(p, IREE_SV("0")));
  IREE_RETURN_IF_ERROR(iree_hal_driver_create_device_by_path(p->driver, driver_name(), IREE_SV("1"), 0, NULL, NULL,
                                                             p->allocator, &p->peer));
  iree_hal_device_group_builder_initialize(&builder, NULL);
  iree_status_t status = iree_hal_device_group_builder_add_device(&builder, p->device);
  if (iree_status_is_ok(status)) status = iree_hal_device_group_builder_add_device(&builder, p->peer);
  if (iree_status_is_ok(status)) return iree_hal_device_group_builder_finalize(&builder, p->allocator, &p->group);
  iree_hal_device_group_builder_deinitialize(&builder);
  return status;
}

static void set_flag(const char* name, const char* value) {
  char text[64];
  char* storage[] = {"test", text};
  char** argv = storage;
  int argc = 2;
  snprintf(text, sizeof(text), "--%s_%s=%s", is_cuda ? "cuda" : "hip", name, value);
  IREE_CHECK_OK(iree_flags_parse(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv));
}

static void close_program(program_t* p) {
  waiters_release(&p->waiters);
  close_virtual(p);
  iree_hal_command_buffer_release(p->commands);
  iree_hal_buffer_release(p->transient);
  iree_hal_buffer_release(p->imported);
  iree_hal_buffer_release(p->visible);
  iree_hal_buffer_release(p->local);
  iree_hal_semaphore_release(p->semaphore);
  iree_hal_executable_release(p->executable);
  iree_hal_executable_cache_release(p->cache);
  iree_hal_device_group_release(p->group);
  iree_hal_device_release(p->peer);
  iree_hal_device_release(p->device);
  iree_hal_driver_release(p->driver);
  iree_hal_driver_registry_free(p->registry);
}

// Runs it all; who waits and what it leaves is checked but for the library's objects, whose number is `left`.
typedef iree_status_t (*run_fn_t)(program_t* p);
static iree_status_t run(run_fn_t fn, long* left) {
  program_t p = {0};
  p.allocator = (iree_allocator_t){&p.live, count_ctl};
  long before = fake->live();
  set_flag("use_streams", fn == run_graphs ? "false" : "true");
  iree_status_t status = fn(&p);
  const char* wrong = fn == run_waited ? waiters_check(&p.waiters, iree_status_code(status)) : NULL;
  if (wrong) fail_msg("%s", wrong);
  close_program(&p);
  // What an event brought lets go of its semaphore when everybody was told.
  iree_time_t deadline = iree_time_now() + 10 * (iree_time_t)1000000000;
  while (iree_atomic_load(&p.live, iree_memory_order_acquire) && iree_time_now() < deadline) iree_thread_yield();
  *left = fake->live() - before;
  assert_int_equal(iree_atomic_load(&p.live, iree_memory_order_relaxed), 0);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Entry points
//===----------------------------------------------------------------------------------------------------------------===

typedef struct row_t {
  const char* entry;
  const char* symbol;
} row_t;
#define SYMBOL(entry, symbol) {#entry, symbol},
#define OPTIONAL(entry, symbol) {#entry, symbol},
static const row_t cuda_rows[] = {
#include "hal/stream/cuda.def"
};
#define SYMBOL(entry, symbol) {#entry, symbol},
#define OPTIONAL(entry, symbol) {#entry, symbol},
static const row_t hip_rows[] = {
#include "hal/stream/hip.def"
};

static const row_t* row_at(size_t i) { return is_cuda ? &cuda_rows[i] : &hip_rows[i]; }
static size_t row_count(void) { return is_cuda ? IREE_ARRAYSIZE(cuda_rows) : IREE_ARRAYSIZE(hip_rows); }

static bool is_one_of(const row_t* row, size_t count, const char* const* entries) {
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(row->entry, entries[i]) == 0) return true;
  }
  return false;
}

// HIP before 5.4 is asked whether memory is registered, which it may stay.
static bool is_asked_for_registered(const row_t* row) { return !has_graphs && strcmp(row->entry, "host_address") == 0; }

// What gives back, where a failure cannot be told and may leave objects; and what is done without.
static bool leaves_objects(const row_t* row) {
  static const char* const entries[] = {
      "context_release",  "memory_free",   "host_free",     "host_unregister",          "module_unload",
      "stream_destroy",   "event_destroy", "graph_destroy", "graph_executable_destroy", "link_destroy",
      "physical_release", "virtual_free",
  };
  return is_one_of(row, IREE_ARRAYSIZE(entries), entries) || is_asked_for_registered(row);
}

static bool is_silent(const row_t* row) {
  static const char* const entries[] = {"context_get",   "link_create",         "link_add",
                                        "link_complete", "virtual_granularity", "virtual_unmap"};
  return (leaves_objects(row) && !is_asked_for_registered(row)) || is_one_of(row, IREE_ARRAYSIZE(entries), entries);
}

static bool tells_waiters(const row_t* row) { return !is_silent(row); }

// What may also be called where nobody is to be told: memory is asked for again when pools have given back what they
// keep; contexts are entered and streams awaited to give things back; an end may be seen by whoever looks first; code
// that cannot be linked is loaded as it is; older drivers do not know a GPU's place.
static bool may_be_fine(const row_t* row) {
  static const char* const entries[] = {"memory_allocate", "context_set",         "stream_synchronize",
                                        "event_record",    "event_query",         "event_synchronize",
                                        "stream_query",    "context_synchronize", "driver_version",
                                        "module_load",     "device_attribute"};
  return is_one_of(row, IREE_ARRAYSIZE(entries), entries) || is_asked_for_registered(row);
}

// What times are taken with: what fails for one piece of work, that has no times.
static bool is_of_timers(const row_t* row) {
  static const char* const entries[] = {"event_create", "event_elapsed"};
  return is_one_of(row, IREE_ARRAYSIZE(entries), entries);
}

static bool is_for_pages(const row_t* row) {
  return strncmp(row->entry, "virtual_", 8) == 0 || strncmp(row->entry, "physical_", 9) == 0;
}

static bool is_for_peers(const row_t* row) {
  static const char* const entries[] = {"device_can_access", "device_link", "device_peer_attribute",
                                        "context_enable_access"};
  return is_one_of(row, IREE_ARRAYSIZE(entries), entries);
}

static bool is_for_events(const row_t* row) {
  static const char* const entries[] = {"host_allocate", "host_address"};
  return strncmp(row->entry, "event_", 6) == 0 || strncmp(row->entry, "stream_", 7) == 0 ||
         is_one_of(row, IREE_ARRAYSIZE(entries), entries);
}

static bool is_for_times(const row_t* row) {
  static const char* const entries[] = {"event_record", "event_synchronize", "event_destroy", "stream_create"};
  return is_of_timers(row) || is_one_of(row, IREE_ARRAYSIZE(entries), entries);
}

// One run in which some calls of a symbol fail. False when there were none.
static bool run_failing(run_fn_t fn, const row_t* row, int from, int until) {
  bool is_told = !is_silent(row);
  long left = 0;
  char text[4096] = {0};
  failing_symbol = row->symbol;
  fake->set_failing(row->symbol, from, until);
  iree_status_t status = run(fn, &left);
  int calls = fake->calls(row->symbol);
  fake->set_failing("", 0, 0);
  if (!iree_status_is_ok(status)) iree_status_format(status, sizeof(text), text, NULL);
  iree_status_code_t code = iree_status_consume_code(status);
  if (calls < from) return false;
  bool is_fine = may_be_fine(row) || (fn == run_profiled && is_of_timers(row));
  // Events' streams are awaited when a device goes.
  bool is_last = fn == run_events && strcmp(row->entry, "stream_synchronize") == 0;
  if (code == IREE_STATUS_OK && ((is_fine && (from == until || from == calls)) || is_last)) is_told = false;
  bool is_init = strcmp(row->entry, "init") == 0;
  iree_status_code_t expected = !is_told  ? IREE_STATUS_OK
                                : is_init ? IREE_STATUS_UNAVAILABLE
                                          : IREE_STATUS_RESOURCE_EXHAUSTED;
  if (code != expected || (is_told && !strstr(text, row->symbol)) || (left && !leaves_objects(row))) {
    print_message("%s, calls %d to %d of %d: %s %s; %ld left\n", row->symbol, from, until, calls,
                  iree_status_code_string(code), text, left);
  }
  assert_int_equal(code, expected);
  if (is_told) assert_non_null(strstr(text, row->symbol));
  if (!leaves_objects(row)) assert_int_equal(left, 0);
  return true;
}

// What is run for a row: all of it, or what the row is for.
static const struct {
  run_fn_t fn;
  bool (*is_for)(const row_t* row);
} runs[] = {{run_streams, NULL},          {run_graphs, NULL},          {run_waited, tells_waiters},
            {run_profiled, is_for_times}, {run_virtual, is_for_pages}, {run_events, is_for_events},
            {run_group, is_for_peers}};

static void nothing_fails(void** state) {
  for (size_t i = 0; i < IREE_ARRAYSIZE(runs); ++i) {
    long left = 0;
    IREE_CHECK_OK(run(runs[i].fn, &left));
    assert_int_equal(left, 0);
  }
}

// The first call that is of any interest.
static int first_call(run_fn_t fn, const row_t* row) {
  if (fn != run_waited) return 1;
  run_failing(fn, row, INT32_MAX, INT32_MAX);  // none
  return calls_before_waiters + 1;
}

static void each_call_fails_once(void** state) {
  enum { MAX_CALLS = 80 };
  size_t count = 0;
  for (size_t i = 0; i < row_count(); ++i) {
    for (size_t j = 0; j < IREE_ARRAYSIZE(runs); ++j) {
      if (runs[j].is_for && !runs[j].is_for(row_at(i))) continue;
      int first = first_call(runs[j].fn, row_at(i));
      for (int call = first; call < first + MAX_CALLS && run_failing(runs[j].fn, row_at(i), call, call); ++call) {
        ++count;
      }
    }
  }
  assert_true(count > row_count());
}

static void from_a_call_on(void** state) {
  for (size_t i = 0; i < row_count(); ++i) {
    for (size_t j = 0; j < IREE_ARRAYSIZE(runs); ++j) {
      if (!runs[j].is_for || runs[j].is_for(row_at(i))) run_failing(runs[j].fn, row_at(i), 1, INT32_MAX);
    }
  }
}

static void failed_launch_names_kernel(void** state) {
  long left = 0;
  char text[4096];
  fake->set_failing(is_cuda ? "cuLaunchKernel" : "hipModuleLaunchKernel", 1, 1);
  iree_status_t status = run(run_streams, &left);
  fake->set_failing("", 0, 0);
  iree_status_format(status, sizeof(text), text, NULL);
  iree_status_free(status);
  assert_non_null(strstr(text, "kernel 'accumulate'"));
}

//===----------------------------------------------------------------------------------------------------------------===
// Counts
//===----------------------------------------------------------------------------------------------------------------===

enum { ROUNDS = 200 };

static int calls_of(const char* entry) {
  for (size_t i = 0; i < row_count(); ++i) {
    if (strcmp(row_at(i)->entry, entry) == 0) return fake->calls(row_at(i)->symbol);
  }
  fail_msg("no entry %s", entry);
  return 0;
}

static void open_for_counts(program_t* p, bool makes_graphs) {
  set_flag("use_streams", makes_graphs ? "false" : "true");
  p->affinity = 1;
  p->allocator = iree_allocator_system();
  IREE_CHECK_OK(open_device(p, IREE_SV("0")));
  IREE_CHECK_OK(allocate(p));
  IREE_CHECK_OK(record(p));
}

// One dispatch and its wait: whether the context is current, twice, the launch, and a look at the stream; with HIP an
// event, and a look at that. The completion thread looks now and then, and may be the one that ends a dispatch.
static void calls_of_a_dispatch(void** state) {
  const int own = is_cuda ? 4 : 5;
  program_t p = {0};
  open_for_counts(&p, false);
  for (int round = -1; round < ROUNDS; ++round) {
    if (round == 0) fake->set_failing("", 0, 0);
    IREE_CHECK_OK(dispatch(&p, false));
    IREE_CHECK_OK(await(&p));
  }
  assert_int_equal(calls_of("launch"), ROUNDS);
  assert_int_equal(calls_of("stream_wait"), 0);
  assert_in_range(calls_of("event_synchronize"), 0, ROUNDS / 10);
  assert_in_range(calls_of("context_set"), 0, 2);  // by the completion threads, once
  assert_in_range(calls_of("event_record"), 0, is_cuda ? ROUNDS / 10 : ROUNDS);
  assert_in_range(fake->all_calls(), own * ROUNDS - ROUNDS, own * ROUNDS + ROUNDS / 2);
  close_program(&p);
}

// Many submissions and one wait: an event for all of them, but for where a queue is half full.
static void calls_of_many_dispatches(void** state) {
  program_t p = {0};
  open_for_counts(&p, false);
  fake->set_failing("", 0, 0);
  for (int i = 0; i < 100; ++i) IREE_CHECK_OK(execute(&p, p.local));
  IREE_CHECK_OK(await(&p));
  assert_int_equal(calls_of("launch"), 200);
  assert_in_range(calls_of("event_record"), is_cuda ? 0 : 1, 30);
  close_program(&p);
}

// A replay: a launch of the graph instead; its nodes are set when a buffer changes, not otherwise.
static void calls_of_a_replay(void** state) {
  program_t p = {0};
  if (!has_graphs) skip();
  open_for_counts(&p, true);
  for (int i = 0; i < 2; ++i) IREE_CHECK_OK(execute(&p, p.local));
  IREE_CHECK_OK(await(&p));
  fake->set_failing("", 0, 0);
  for (int i = 0; i < ROUNDS; ++i) {
    IREE_CHECK_OK(execute(&p, p.local));
    IREE_CHECK_OK(await(&p));
  }
  assert_int_equal(calls_of("graph_launch"), ROUNDS);
  assert_int_equal(calls_of("launch"), 0);
  assert_int_equal(calls_of("graph_set_kernel"), 0);
  assert_in_range(fake->all_calls(), 3 * ROUNDS, 5 * ROUNDS + ROUNDS / 2);
  fake->set_failing("", 0, 0);
  for (int i = 0; i < ROUNDS; ++i) IREE_CHECK_OK(execute(&p, i % 2 ? p.local : p.visible));
  IREE_CHECK_OK(await(&p));
  assert_int_equal(calls_of("graph_launch"), ROUNDS);
  assert_int_equal(calls_of("graph_set_kernel"), 2 * ROUNDS);
  close_program(&p);
}

// Two dispatches without a barrier do not depend on each other, but all behind it depend on both.
static void dependencies_of_a_graph(void** state) {
  program_t p = {0};
  if (!has_graphs) skip();
  open_for_counts(&p, true);
  iree_hal_command_buffer_release(p.commands);
  IREE_CHECK_OK(record_some(&p, 4, 2));
  fake->set_failing("", 0, 0);
  for (int i = 0; i < 2; ++i) IREE_CHECK_OK(execute(&p, p.local));
  IREE_CHECK_OK(await(&p));
  assert_int_equal(calls_of("graph_launch"), 1);
  assert_int_equal(calls_of("capture_depend"), 3);  // of all but the first
  assert_int_equal(fake->dependencies(), 4);
  close_program(&p);
}

// A recording that is revised for every submission: the graph's one kernel that changes is set, unless it does nothing
// any more; a graph that is never good for what comes is not made again and again.
static void calls_of_revisions(void** state) {
  program_t p = {0};
  if (!has_graphs) skip();
  open_for_counts(&p, true);
  for (uint32_t i = 0; i < 2 + ROUNDS; ++i) {
    if (i == 2) fake->set_failing("", 0, 0);
    if (i) IREE_CHECK_OK(revise(&p, i + 1));
    IREE_CHECK_OK(execute(&p, p.local));
    IREE_CHECK_OK(await(&p));
  }
  assert_int_equal(calls_of("graph_launch"), ROUNDS);
  assert_int_equal(calls_of("graph_set_kernel"), ROUNDS);
  assert_int_equal(calls_of("graph_instantiate") + calls_of("launch"), 0);
  fake->set_failing("", 0, 0);
  for (uint32_t i = 0; i < ROUNDS; ++i) {
    IREE_CHECK_OK(revise(&p, i % 2));
    IREE_CHECK_OK(execute(&p, p.local));
    IREE_CHECK_OK(await(&p));
  }
  assert_in_range(calls_of("graph_instantiate"), 1, 2);
  close_program(&p);
}

// A copy of PTX whose kernels wait for those before them.
static char* write_waits(iree_const_byte_span_t text, size_t* out_length) {
  static const char end[] = "ret;", wait[] = "griddepcontrol.wait; ret;";
  char* out = malloc(text.data_length * (sizeof(wait) / sizeof(end) + 1));
  size_t length = 0;
  for (size_t i = 0; i < text.data_length; ++i) {
    bool ends = i + sizeof(end) - 1 <= text.data_length && memcmp(&text.data[i], end, sizeof(end) - 1) == 0;
    memcpy(&out[length], ends ? wait : (const char*)&text.data[i], ends ? sizeof(wait) - 1 : 1);
    length += ends ? sizeof(wait) - 1 : 1;
    if (ends) i += sizeof(end) - 2;
  }
  *out_length = length;
  return out;
}

// Kernels that wait by themselves are launched early in graphs, and as all others outside of them.
static void calls_of_early_launches(void** state) {
  program_t p = {0};
  size_t length;
  if (!is_cuda) skip();
  char* text = write_waits(kernels->const_buffer, &length);
  code = iree_make_const_byte_span(text, length);
  open_for_counts(&p, true);
  code = kernels->const_buffer;
  fake->set_failing("", 0, 0);
  for (int i = 0; i < 3; ++i) IREE_CHECK_OK(execute(&p, p.local));
  IREE_CHECK_OK(await(&p));
  assert_int_equal(calls_of("launch"), 2);
  assert_int_equal(calls_of("launch_with"), 2);
  assert_int_equal(calls_of("graph_launch"), 2);
  close_program(&p);
  free(text);
}

// Times are four events and what the library says of them; there are no new ones for later work.
static void calls_of_a_timed_dispatch(void** state) {
  program_t p = {0};
  open_for_counts(&p, false);
  IREE_CHECK_OK(begin_profile(
      &p, IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS | IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_QUEUE_EVENTS));
  for (int round = -1; round < ROUNDS; ++round) {
    if (round == 0) fake->set_failing("", 0, 0);
    IREE_CHECK_OK(dispatch(&p, false));
    IREE_CHECK_OK(await(&p));
  }
  assert_int_equal(calls_of("event_create"), 0);
  assert_int_equal(calls_of("event_elapsed"), 4 * ROUNDS);
  assert_in_range(calls_of("event_record"), 4 * ROUNDS, 5 * ROUNDS + ROUNDS / 2);
  IREE_CHECK_OK(iree_hal_device_profiling_end(p.device));
  close_program(&p);
}

// A graph is timed as a whole; where its dispatches are to be, they are launched one by one.
static void calls_of_a_timed_replay(void** state) {
  program_t p = {0};
  if (!has_graphs) skip();
  open_for_counts(&p, true);
  for (int i = 0; i < 2; ++i) IREE_CHECK_OK(execute(&p, p.local));
  IREE_CHECK_OK(await(&p));
  for (int times_dispatches = 0; times_dispatches < 2; ++times_dispatches) {
    IREE_CHECK_OK(begin_profile(&p, times_dispatches ? IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS
                                                     : IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_QUEUE_EVENTS));
    fake->set_failing("", 0, 0);
    for (int i = 0; i < ROUNDS; ++i) IREE_CHECK_OK(execute(&p, p.local));
    IREE_CHECK_OK(await(&p));
    assert_int_equal(calls_of("graph_launch"), times_dispatches ? 0 : ROUNDS);
    assert_int_equal(calls_of("launch"), times_dispatches ? 2 * ROUNDS : 0);
    assert_int_equal(calls_of("event_elapsed"), times_dispatches ? 4 * ROUNDS : 2 * ROUNDS);
    IREE_CHECK_OK(iree_hal_device_profiling_end(p.device));
  }
  close_program(&p);
}

// What may be timed: of a submission, two events for each.
static void calls_of_tracing(void** state) {
  const iree_hal_device_profiling_data_families_t dispatches = IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS,
                                                  operations = IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_QUEUE_EVENTS,
                                                  host = IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS;
  static const char* const levels[] = {"0", "1", "2"};
  for (int level = 0; level < 3; ++level) {
    program_t p = {0};
    set_flag("tracing", levels[level]);
    open_for_counts(&p, false);
    assert_int_equal(iree_status_consume_code(begin_profile(&p, dispatches)) == IREE_STATUS_OK, level == 2);
    if (level == 2) IREE_CHECK_OK(iree_hal_device_profiling_end(p.device));
    assert_int_equal(iree_status_consume_code(begin_profile(&p, operations)) == IREE_STATUS_OK, level >= 1);
    if (level == 0) IREE_CHECK_OK(begin_profile(&p, host));
    fake->set_failing("", 0, 0);
    for (int i = 0; i < ROUNDS; ++i) IREE_CHECK_OK(dispatch(&p, false));
    IREE_CHECK_OK(await(&p));
    IREE_CHECK_OK(iree_hal_device_profiling_end(p.device));
    assert_int_equal(calls_of("event_elapsed"), level ? 2 * ROUNDS + 1 : 0);
    close_program(&p);
  }
  program_t p = {.allocator = iree_allocator_system()};
  set_flag("tracing", "3");
  assert_int_equal(iree_status_consume_code(open_device(&p, IREE_SV("0"))), IREE_STATUS_UNIMPLEMENTED);
  close_program(&p);
  set_flag("tracing", "2");
}

// Memory of queues comes from one piece of each kind.
static void calls_of_transients(void** state) {
  static const struct {
    const char* entry;
    iree_hal_memory_type_t type;
  } rows[] = {
      {"memory_allocate", IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL},
      {"memory_allocate_managed", IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_VISIBLE},
      {"host_allocate", IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE},
  };
  program_t p = {0};
  open_for_counts(&p, false);
  for (size_t i = 0; i < IREE_ARRAYSIZE(rows); ++i) {
    iree_hal_buffer_params_t params = {.type = rows[i].type, .usage = IREE_HAL_BUFFER_USAGE_TRANSFER};
    fake->set_failing("", 0, 0);
    for (int round = 0; round < ROUNDS; ++round) {
      iree_hal_buffer_t* buffer = NULL;
      link_t link;
      next(&p, &link);
      IREE_CHECK_OK(iree_hal_device_queue_alloca(p.device, link.affinity, link.waits, link.signals, NULL, params, 1000,
                                                 IREE_HAL_ALLOCA_FLAG_NONE, &buffer));
      next(&p, &link);
      IREE_CHECK_OK(iree_hal_device_queue_dealloca(p.device, link.affinity, link.waits, link.signals, buffer,
                                                   IREE_HAL_DEALLOCA_FLAG_NONE));
      iree_hal_buffer_release(buffer);
    }
    IREE_CHECK_OK(await(&p));
    assert_int_equal(calls_of(rows[i].entry), 1);
  }
  close_program(&p);
}

// Two devices in a group may use each other's memory from then on.
static void calls_of_a_group(void** state) {
  program_t p[2] = {{.allocator = iree_allocator_system()}, {.allocator = iree_allocator_system()}};
  iree_hal_device_group_builder_t builder;
  iree_hal_device_group_t* group = NULL;
  iree_hal_device_group_builder_initialize(&builder, NULL);
  for (int i = 0; i < 2; ++i) {
    IREE_CHECK_OK(open_device(&p[i], i ? IREE_SV("1") : IREE_SV("0")));
    IREE_CHECK_OK(iree_hal_device_group_builder_add_device(&builder, p[i].device));
  }
  fake->set_failing("", 0, 0);
  IREE_CHECK_OK(iree_hal_device_group_builder_finalize(&builder, iree_allocator_system(), &group));
  assert_int_equal(calls_of("context_enable_access"), 2);
  for (uint32_t i = 0; i < 2; ++i) {
    iree_hal_topology_edge_t edge = iree_hal_topology_query_edge(iree_hal_device_group_topology(group), i, 1 - i);
    assert_int_equal(iree_hal_topology_edge_buffer_read_mode_noncoherent(edge.lo),
                     IREE_HAL_TOPOLOGY_INTEROP_MODE_NATIVE);
    assert_int_equal(iree_hal_topology_edge_link_class(edge.lo), IREE_HAL_TOPOLOGY_LINK_CLASS_NVLINK_IF);
    assert_int_equal(iree_hal_device_topology_info(p[i].device)->can_p2p_with, 3);
    iree_hal_device_capabilities_t capabilities;
    IREE_CHECK_OK(iree_hal_device_query_capabilities(p[i].device, &capabilities));
    assert_true(capabilities.flags & IREE_HAL_DEVICE_CAPABILITY_P2P_COPY);
  }
  iree_hal_device_group_release(group);
  for (int i = 0; i < 2; ++i) close_program(&p[i]);
}

// Small ones to the GPU: a copy, and an event for many.
static void calls_of_a_transfer(void** state) {
  static uint8_t data[4096];
  program_t p = {0};
  open_for_counts(&p, false);
  fake->set_failing("", 0, 0);
  for (int i = 0; i < ROUNDS; ++i) {
    IREE_CHECK_OK(iree_hal_device_transfer_h2d(p.device, data, p.local, 0, sizeof(data),
                                               IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout()));
  }
  assert_int_equal(calls_of("copy_from_host"), ROUNDS);
  assert_int_equal(calls_of("stream_synchronize"), 0);
  assert_in_range(fake->all_calls(), 2 * ROUNDS, 2 * ROUNDS + ROUNDS / 4);
  close_program(&p);
}

static int set_up(void** state) {
  char paths[4096];
  // Nothing can be kept there: each run links.
  setenv("XDG_CACHE_HOME", "/proc/no/such", 1);
  snprintf(paths, sizeof(paths), "/no/such/folder;file:%s", library_path);
  setenv("IREE_HIP_DYLIB_PATH", paths, 1);
  void* library = dlopen(library_path, RTLD_NOW);
  if (!library) return -1;
  fake = (const fake_t*)dlsym(library, FAKE_SYMBOL);
  iree_status_t status =
      iree_io_file_contents_read(iree_make_cstring_view(kernels_path), iree_allocator_system(), &kernels);
  if (iree_status_is_ok(status)) code = kernels->const_buffer;
  return fake && iree_status_consume_code(status) == IREE_STATUS_OK ? 0 : -1;
}

static int tear_down(void** state) {
  iree_io_file_contents_free(kernels);
  return 0;
}

int main(int argc, char** argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_fails),           cmocka_unit_test(each_call_fails_once),
      cmocka_unit_test(from_a_call_on),          cmocka_unit_test(failed_launch_names_kernel),
      cmocka_unit_test(calls_of_a_dispatch),     cmocka_unit_test(calls_of_many_dispatches),
      cmocka_unit_test(calls_of_a_replay),       cmocka_unit_test(dependencies_of_a_graph),
      cmocka_unit_test(calls_of_revisions),      cmocka_unit_test(calls_of_early_launches),
      cmocka_unit_test(calls_of_a_transfer),     cmocka_unit_test(calls_of_a_timed_dispatch),
      cmocka_unit_test(calls_of_a_timed_replay), cmocka_unit_test(calls_of_a_group),
      cmocka_unit_test(calls_of_tracing),        cmocka_unit_test(calls_of_transients),
  };
  if (argc != 5) return 2;
  is_cuda = strcmp(argv[1], "cuda") == 0;
  library_path = argv[2];
  has_graphs = !strstr(library_path, "libamdhip64.so.5");
  kernels_path = argv[3];
  format = argv[4];
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
