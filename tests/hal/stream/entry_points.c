// The driver `hip` over a double of its library: every entry point fails once, in each of its calls, and from a call
// on. Whoever waits is told once, with the library's own words; nothing hangs and nothing is left.
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

#include "fake_hip.h"
#include "iree/hal/api.h"
#include "iree/hal/drivers/hip/registration/driver_module.h"
#include "iree/io/file_contents.h"

#define ANY IREE_HAL_QUEUE_AFFINITY_ANY

static fake_hip_fail_fn_t fake_fail;
static fake_hip_calls_fn_t fake_calls;
static fake_hip_live_fn_t fake_live;
static iree_io_file_contents_t* kernels;

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
  iree_hal_buffer_t *local, *visible, *imported, *transient;
} program_t;

static iree_status_t count_ctl(void* self, iree_allocator_command_t command, const void* params, void** inout_ptr) {
  iree_atomic_int64_t* live = (iree_atomic_int64_t*)self;
  bool had = *inout_ptr != NULL;
  iree_allocator_t system = iree_allocator_system();
  IREE_RETURN_IF_ERROR(system.ctl(system.self, command, params, inout_ptr));
  if (command == IREE_ALLOCATOR_COMMAND_FREE && had) iree_atomic_fetch_sub(live, 1, iree_memory_order_relaxed);
  if (command != IREE_ALLOCATOR_COMMAND_FREE && !had) iree_atomic_fetch_add(live, 1, iree_memory_order_relaxed);
  return iree_ok_status();
}

static iree_status_t open_device(program_t* p) {
  iree_hal_executable_params_t params;
  iree_hal_device_info_t* infos = NULL;
  iree_host_size_t count = 0;
  IREE_RETURN_IF_ERROR(iree_hal_driver_registry_allocate(p->allocator, &p->registry));
  IREE_RETURN_IF_ERROR(iree_hal_hip_driver_module_register(p->registry));
  IREE_RETURN_IF_ERROR(iree_hal_driver_registry_try_create(p->registry, IREE_SV("hip"), p->allocator, &p->driver));
  IREE_RETURN_IF_ERROR(iree_hal_driver_query_available_devices(p->driver, p->allocator, &count, &infos));
  iree_allocator_free(p->allocator, infos);
  IREE_RETURN_IF_ERROR(iree_hal_driver_create_device_by_path(p->driver, IREE_SV("hip"), IREE_SV("0,1"), 0, NULL, NULL,
                                                             p->allocator, &p->device));
  IREE_RETURN_IF_ERROR(iree_hal_executable_cache_create(p->device, IREE_SV("cache"), &p->cache));
  iree_hal_executable_params_initialize(&params);
  params.executable_format = IREE_SV("gfx90a");
  params.executable_data = kernels->const_buffer;
  IREE_RETURN_IF_ERROR(iree_hal_executable_cache_prepare_executable(p->cache, &params, &p->executable));
  return iree_hal_semaphore_create(p->device, ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &p->semaphore);
}

static iree_status_t allocate(program_t* p) {
  static iree_alignas(64) uint8_t memory[4096];
  iree_hal_allocator_t* allocator = iree_hal_device_allocator(p->device);
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL};
  IREE_RETURN_IF_ERROR(iree_hal_allocator_allocate_buffer(allocator, params, 4096, &p->local));
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

// The lists of the next operation of a chain, and its queue: they go round.
typedef struct link_t {
  uint64_t before, after;
  iree_hal_queue_affinity_t affinity;
  iree_hal_semaphore_list_t waits, signals;
} link_t;

static void next(program_t* p, link_t* link) {
  link->before = p->value++;
  link->after = p->value;
  link->affinity = 1ull << p->value % 4;
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

static iree_status_t run_device(program_t* p) {
  IREE_RETURN_IF_ERROR(open_device(p));
  IREE_RETURN_IF_ERROR(allocate(p));
  IREE_RETURN_IF_ERROR(transfer(p));
  IREE_RETURN_IF_ERROR(use_transient(p));
  IREE_RETURN_IF_ERROR(dispatch(p, false));
  IREE_RETURN_IF_ERROR(dispatch(p, true));
  return await(p);
}

// Runs it all; what it leaves is checked but for the library's objects, whose number is `left`.
static iree_status_t run(long* left) {
  program_t p = {0};
  p.allocator = (iree_allocator_t){&p.live, count_ctl};
  long before = fake_live();
  iree_status_t status = run_device(&p);
  iree_hal_buffer_release(p.transient);
  iree_hal_buffer_release(p.imported);
  iree_hal_buffer_release(p.visible);
  iree_hal_buffer_release(p.local);
  iree_hal_semaphore_release(p.semaphore);
  iree_hal_executable_release(p.executable);
  iree_hal_executable_cache_release(p.cache);
  iree_hal_device_release(p.device);
  iree_hal_driver_release(p.driver);
  iree_hal_driver_registry_free(p.registry);
  *left = fake_live() - before;
  assert_int_equal(iree_atomic_load(&p.live, iree_memory_order_relaxed), 0);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Entry points
//===----------------------------------------------------------------------------------------------------------------===

#define SYMBOL(entry, symbol) symbol,
#define OPTIONAL(entry, symbol) symbol,
static const char* const symbols[] = {
#include "hal/stream/hip.def"
};

// What gives back, where a failure cannot be told and may leave objects, and the end of a queue.
static bool is_silent(const char* symbol, bool* out_leaves) {
  static const char* const releases[] = {
      "hipDevicePrimaryCtxRelease", "hipFree",        "hipHostFree", "hipHostUnregister", "hipModuleUnload",
      "hipStreamDestroy",           "hipEventDestroy"};
  for (size_t i = 0; i < IREE_ARRAYSIZE(releases); ++i) *out_leaves |= strcmp(symbol, releases[i]) == 0;
  return *out_leaves || strcmp(symbol, "hipStreamSynchronize") == 0;
}

// One run in which some calls of a symbol fail. False when there were none.
static bool run_failing(const char* symbol, int from, int until) {
  bool leaves = false, is_told = !is_silent(symbol, &leaves);
  long left = 0;
  char text[4096] = {0};
  fake_fail(symbol, from, until);
  iree_status_t status = run(&left);
  int calls = fake_calls();
  fake_fail("", 0, 0);
  if (!iree_status_is_ok(status)) iree_status_format(status, sizeof(text), text, NULL);
  iree_status_code_t code = iree_status_consume_code(status);
  if (calls < from) return false;
  // Memory is asked for again when pools have given back what they keep; contexts are also entered to give things back.
  bool may_be_fine = strcmp(symbol, "hipMalloc") == 0 || strcmp(symbol, "hipCtxSetCurrent") == 0;
  if (code == IREE_STATUS_OK && may_be_fine && from == until && from > 1) is_told = false;
  bool is_init = strcmp(symbol, "hipInit") == 0;
  iree_status_code_t expected = !is_told  ? IREE_STATUS_OK
                                : is_init ? IREE_STATUS_UNAVAILABLE
                                          : IREE_STATUS_RESOURCE_EXHAUSTED;
  if (code != expected || (is_told && !strstr(text, symbol)) || (left && !leaves)) {
    print_message("%s, calls %d to %d of %d: %s %s; %ld left\n", symbol, from, until, calls,
                  iree_status_code_string(code), text, left);
  }
  assert_int_equal(code, expected);
  if (is_told) assert_non_null(strstr(text, symbol));
  if (!leaves) assert_int_equal(left, 0);
  return true;
}

static void nothing_fails(void** state) {
  long left = 0;
  IREE_CHECK_OK(run(&left));
  assert_int_equal(left, 0);
}

static void each_call_fails_once(void** state) {
  enum { MAX_CALLS = 40 };
  int runs = 0;
  for (size_t i = 0; i < IREE_ARRAYSIZE(symbols); ++i) {
    for (int call = 1; call <= MAX_CALLS && run_failing(symbols[i], call, call); ++call) ++runs;
  }
  assert_true(runs > (int)IREE_ARRAYSIZE(symbols));
}

static void from_a_call_on(void** state) {
  for (size_t i = 0; i < IREE_ARRAYSIZE(symbols); ++i) run_failing(symbols[i], 1, INT32_MAX);
}

static void failed_launch_names_kernel(void** state) {
  long left = 0;
  char text[4096];
  fake_fail("hipModuleLaunchKernel", 1, 1);
  iree_status_t status = run(&left);
  fake_fail("", 0, 0);
  iree_status_format(status, sizeof(text), text, NULL);
  iree_status_free(status);
  assert_non_null(strstr(text, "kernel 'accumulate'"));
}

static int set_up(void** state) {
  setenv("IREE_HIP_DYLIB_PATH", "/no/such/folder;file:" FAKE_HIP_PATH, 1);
  void* library = dlopen(FAKE_HIP_PATH, RTLD_NOW);
  if (!library) return -1;
  fake_fail = (fake_hip_fail_fn_t)dlsym(library, "fake_hip_fail");
  fake_calls = (fake_hip_calls_fn_t)dlsym(library, "fake_hip_calls");
  fake_live = (fake_hip_live_fn_t)dlsym(library, "fake_hip_live");
  iree_status_t status = iree_io_file_contents_read(IREE_SV(KERNELS_PATH), iree_allocator_system(), &kernels);
  return iree_status_consume_code(status) == IREE_STATUS_OK ? 0 : -1;
}

static int tear_down(void** state) {
  iree_io_file_contents_free(kernels);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_fails),
      cmocka_unit_test(each_call_fails_once),
      cmocka_unit_test(from_a_call_on),
      cmocka_unit_test(failed_launch_names_kernel),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
