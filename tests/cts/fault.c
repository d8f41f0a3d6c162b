// Work that fails on the device: who is told, and with what. A GPU's fault is the end of its device; other devices, and
// other processes' work, go on.
#include "cts.h"

#define ANY IREE_HAL_QUEUE_AFFINITY_ANY
#define NOW iree_hal_semaphore_list_empty()

static void submit_fail(const cts_own_t* victim, iree_hal_queue_affinity_t affinity, iree_hal_semaphore_list_t waits,
                        iree_hal_semaphore_list_t signals) {
  const uint32_t group = 17;
  CHECK_OK(iree_hal_device_queue_dispatch(
      victim->device, affinity, waits, signals, victim->executable, iree_hal_executable_function_from_index(CTS_FAIL),
      iree_hal_make_static_dispatch_config(100, 1, 1), iree_make_const_byte_span(&group, sizeof(group)),
      iree_hal_buffer_ref_list_empty(), IREE_HAL_DISPATCH_FLAG_NONE));
}

static void submit_fill(const cts_own_t* victim, iree_hal_queue_affinity_t affinity, iree_hal_semaphore_list_t waits,
                        iree_hal_semaphore_list_t signals, iree_hal_buffer_t* buffer) {
  const uint8_t pattern = 7;
  CHECK_OK(iree_hal_device_queue_fill(victim->device, affinity, waits, signals, buffer, 0, 4, &pattern, 1,
                                      IREE_HAL_FILL_FLAG_NONE));
}

static void expect_failure(iree_hal_semaphore_t* semaphore, uint64_t value, const char* text) {
  iree_status_t status = iree_hal_semaphore_wait(semaphore, value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
  iree_status_code_t expected = cts.is_gpu ? IREE_STATUS_ABORTED : IREE_STATUS_INTERNAL;
  char message[1024];
  iree_status_format(status, sizeof(message), message, NULL);
  if (iree_status_code(status) != expected || !strstr(message, text)) print_error("have: %s\n", message);
  assert_int_equal(iree_status_code(status), expected);
  assert_non_null(strstr(message, text));
  iree_status_free(status);
}

// Every semaphore of everything that depends on it fails, with the function's name; whatever queue it is in.
static void reaches_everything(void** state) {
  SKIP_WITHOUT_RESULTS();
  cts_own_t victim = cts_own_open();
  iree_hal_semaphore_t *start = cts_semaphore_of(victim.device), *chain = cts_semaphore_of(victim.device),
                       *side = cts_semaphore_of(victim.device), *both = cts_semaphore_of(victim.device);
  iree_hal_buffer_t* buffer = cts_buffer_of(victim.device, 4);
  submit_fail(&victim, 1, CTS_POINT(start, 1), CTS_POINT(chain, 1));
  for (uint64_t i = 1; i < 8; ++i) {
    submit_fill(&victim, 1ull << i % 4, CTS_POINT(chain, i), CTS_POINT(chain, i + 1), buffer);
  }
  submit_fill(&victim, 2, CTS_POINT(chain, 3), CTS_POINT(side, 1), buffer);
  iree_hal_semaphore_t* semaphores[] = {chain, side};
  uint64_t values[] = {8, 1};
  CHECK_OK(iree_hal_device_queue_barrier(victim.device, ANY, (iree_hal_semaphore_list_t){2, semaphores, values},
                                         CTS_POINT(both, 1), IREE_HAL_EXECUTE_FLAG_NONE));
  CHECK_OK(iree_hal_semaphore_signal(start, 1, NULL));
  expect_failure(both, 1, "fail");
  expect_failure(side, 1, "fail");
  expect_failure(chain, 8, "fail");
  assert_int_equal(cts_word(buffer, 0), 0);
  iree_hal_buffer_release(buffer);
  iree_hal_semaphore_release(start);
  iree_hal_semaphore_release(chain);
  iree_hal_semaphore_release(side);
  iree_hal_semaphore_release(both);
  cts_own_close(&victim);
}

// Already submitted when it fails, in the order of queues: that is no reason to succeed.
static void reaches_what_runs_behind(void** state) {
  SKIP_WITHOUT_RESULTS();
  for (int round = 0; round < 10; ++round) {
    cts_own_t victim = cts_own_open();
    iree_hal_semaphore_t* chain = cts_semaphore_of(victim.device);
    iree_hal_buffer_t* buffer = cts_buffer_of(victim.device, 4);
    submit_fail(&victim, 1, NOW, CTS_POINT(chain, 1));
    submit_fill(&victim, 2, CTS_POINT(chain, 1), CTS_POINT(chain, 2), buffer);
    submit_fill(&victim, 2, CTS_POINT(chain, 2), CTS_POINT(chain, 3), buffer);
    submit_fill(&victim, 1, CTS_POINT(chain, 3), CTS_POINT(chain, 4), buffer);
    expect_failure(chain, 4, "fail");
    iree_hal_buffer_release(buffer);
    iree_hal_semaphore_release(chain);
    cts_own_close(&victim);
  }
}

static iree_status_t count_call(void* user_data, const uint64_t args[4], iree_hal_host_call_context_t* context) {
  iree_atomic_fetch_add((iree_atomic_uint32_t*)user_data, 1, iree_memory_order_seq_cst);
  return iree_ok_status();
}

// The host's own work behind it is not done.
static void no_host_call_after_it(void** state) {
  SKIP_WITHOUT_RESULTS();
  cts_own_t victim = cts_own_open();
  iree_atomic_uint32_t count = 0;
  iree_hal_semaphore_t* chain = cts_semaphore_of(victim.device);
  submit_fail(&victim, ANY, NOW, CTS_POINT(chain, 1));
  CHECK_OK(iree_hal_device_queue_host_call(victim.device, ANY, CTS_POINT(chain, 1), CTS_POINT(chain, 2),
                                           iree_hal_make_host_call(count_call, &count), NULL,
                                           IREE_HAL_HOST_CALL_FLAG_NONE));
  expect_failure(chain, 2, "fail");
  assert_int_equal(iree_atomic_load(&count, iree_memory_order_seq_cst), 0);
  iree_hal_semaphore_release(chain);
  cts_own_close(&victim);
}

// Lost is lost: for all later work, of all queues, with the first fault's message.
static void device_stays_lost(void** state) {
  if (!cts.is_gpu) skip();
  cts_own_t victim = cts_own_open();
  iree_hal_buffer_t* buffer = cts_buffer_of(victim.device, 4);
  iree_hal_semaphore_t* first = cts_semaphore_of(victim.device);
  submit_fail(&victim, 1, NOW, CTS_POINT(first, 1));
  expect_failure(first, 1, "kernel 'fail'");
  for (int queue = 0; queue < 4; ++queue) {
    iree_hal_semaphore_t* semaphore = cts_semaphore_of(victim.device);
    submit_fill(&victim, 1ull << queue, NOW, CTS_POINT(semaphore, 1), buffer);
    expect_failure(semaphore, 1, "kernel 'fail'");
    iree_hal_semaphore_release(semaphore);
  }
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL};
  iree_hal_semaphore_t* semaphore = cts_semaphore_of(victim.device);
  iree_hal_buffer_t* transient = NULL;
  CHECK_OK(iree_hal_device_queue_alloca(victim.device, ANY, NOW, CTS_POINT(semaphore, 1), NULL, params, 64,
                                        IREE_HAL_ALLOCA_FLAG_NONE, &transient));
  expect_failure(semaphore, 1, "kernel 'fail'");
  iree_hal_buffer_release(transient);
  iree_hal_semaphore_release(semaphore);
  iree_hal_semaphore_release(first);
  iree_hal_buffer_release(buffer);
  cts_own_close(&victim);
}

// Memory that is not there.
static void access_outside(void** state) {
  if (!cts.is_gpu) skip();
  struct sigaction before;
  sigaction(SIGSEGV, &cts.fault_action, &before);
  cts_own_t victim = cts_own_open();
  iree_hal_semaphore_t *first = cts_semaphore_of(victim.device), *second = cts_semaphore_of(victim.device);
  const uint64_t arguments[] = {0x1000};  // a pointer to nowhere
  CHECK_OK(iree_hal_device_queue_dispatch(
      victim.device, 1, NOW, CTS_POINT(first, 1), victim.executable,
      iree_hal_executable_function_from_index(CTS_ACCUMULATE), iree_hal_make_static_dispatch_config(1, 1, 1),
      iree_make_const_byte_span(arguments, sizeof(arguments)), iree_hal_buffer_ref_list_empty(),
      IREE_HAL_DISPATCH_FLAG_CUSTOM_DIRECT_ARGUMENTS));
  expect_failure(first, 1, "kernel 'accumulate'");
  CHECK_OK(iree_hal_device_queue_barrier(victim.device, 2, NOW, CTS_POINT(second, 1), IREE_HAL_EXECUTE_FLAG_NONE));
  expect_failure(second, 1, "kernel 'accumulate'");
  iree_hal_semaphore_release(first);
  iree_hal_semaphore_release(second);
  cts_own_close(&victim);
  sigaction(SIGSEGV, &before, NULL);
}

// Counts in memory that make a grid which no packet can have.
static void grid_too_large(void** state) {
  if (!cts.is_gpu) skip();
  cts_own_t victim = cts_own_open();
  iree_hal_semaphore_t* chain = cts_semaphore_of(victim.device);
  iree_hal_buffer_params_t params = {
      .type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE,
      .usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING |
               IREE_HAL_BUFFER_USAGE_DISPATCH_INDIRECT_PARAMETERS,
  };
  iree_hal_buffer_t *counts = NULL, *out = cts_buffer_of(victim.device, 4);
  CHECK_OK(iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(victim.device), params, 12, &counts));
  const uint32_t huge[] = {1u << 27, 1, 1};
  CHECK_OK(iree_hal_buffer_map_write(counts, 0, huge, sizeof(huge)));
  const iree_hal_buffer_ref_t ref = iree_hal_make_buffer_ref(out, 0, 4);
  iree_hal_dispatch_config_t config = {.workgroup_size = {64, 1, 1},
                                       .workgroup_count_ref = iree_hal_make_buffer_ref(counts, 0, 12)};
  CHECK_OK(iree_hal_device_queue_dispatch(victim.device, 1, NOW, CTS_POINT(chain, 1), victim.executable,
                                          iree_hal_executable_function_from_index(CTS_WIDE), config,
                                          iree_const_byte_span_empty(), (iree_hal_buffer_ref_list_t){1, &ref},
                                          IREE_HAL_DISPATCH_FLAG_DYNAMIC_INDIRECT_PARAMETERS));
  submit_fill(&victim, 1, CTS_POINT(chain, 1), CTS_POINT(chain, 2), out);
  submit_fill(&victim, 2, CTS_POINT(chain, 2), CTS_POINT(chain, 3), out);
  CHECK_CODE(OUT_OF_RANGE, iree_hal_semaphore_wait(chain, 3, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  iree_hal_semaphore_release(chain);
  iree_hal_buffer_release(counts);
  iree_hal_buffer_release(out);
  cts_own_close(&victim);
}

// The suite's own device was not touched.
static void others_go_on(void** state) {
  SKIP_WITHOUT_RESULTS();
  iree_hal_buffer_t* buffer = cts_buffer(4, 0);
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  const uint8_t pattern = 7;
  CHECK_OK(iree_hal_device_queue_fill(cts.device, ANY, NOW, CTS_POINT(semaphore, 1), buffer, 0, 4, &pattern, 1,
                                      IREE_HAL_FILL_FLAG_NONE));
  CHECK_OK(iree_hal_semaphore_wait(semaphore, 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  assert_int_equal(cts_word(buffer, 0), 0x07070707);
  iree_hal_semaphore_release(semaphore);
  iree_hal_buffer_release(buffer);
}

CTS_SUITE(fault, cmocka_unit_test(reaches_everything), cmocka_unit_test(reaches_what_runs_behind),
          cmocka_unit_test(no_host_call_after_it), cmocka_unit_test(device_stays_lost),
          cmocka_unit_test(access_outside), cmocka_unit_test(grid_too_large), cmocka_unit_test(others_go_on));
