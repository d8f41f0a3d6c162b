// Queues: packets in any order of publication, several producers and queues, barriers, errors, indices, masks.
#include "hsa_test.h"

enum { VENDOR_BARRIER_VALUE = 2, PRODUCERS = 4, PACKETS = 500 };

static hsa_barrier_and_packet_t barrier(hsa_signal_t dependency, hsa_signal_t done) {
  return (hsa_barrier_and_packet_t){.dep_signal = {dependency}, .completion_signal = done};
}

static void test_layout(void** state) {
  hsa_queue_t* queue = test_queue(0, 256, NULL, NULL);
  amd_queue_t* amd = (amd_queue_t*)queue;
  assert_int_equal(queue->size, 256);
  assert_int_equal(queue->type, HSA_QUEUE_TYPE_MULTI);
  assert_int_equal((uintptr_t)queue->base_address % 64, 0);
  assert_int_equal(amd->read_dispatch_id_field_base_byte_offset, offsetof(amd_queue_t, read_dispatch_id));
  assert_int_equal(*(uint16_t*)queue->base_address & 255, HSA_PACKET_TYPE_INVALID);
  hsa_queue_t* none = NULL;
  assert_int_equal(hsa_queue_create(test_gpus[0], 100, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &none),
                   HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_ok(hsa_queue_destroy(queue));
}

static void test_indices(void** state) {
  hsa_signal_t doorbell = test_signal(0);
  hsa_queue_t* queue = NULL;
  assert_ok(hsa_soft_queue_create((hsa_region_t){0}, 16, HSA_QUEUE_TYPE_SINGLE, HSA_QUEUE_FEATURE_AGENT_DISPATCH,
                                  doorbell, &queue));
  assert_int_equal(hsa_queue_add_write_index_scacq_screl(queue, 3), 0);
  assert_int_equal(hsa_queue_cas_write_index_scacquire(queue, 2, 9), 3);
  assert_int_equal(hsa_queue_cas_write_index_screlease(queue, 3, 9), 3);
  assert_int_equal(hsa_queue_load_write_index_relaxed(queue), 9);
  hsa_queue_store_read_index_screlease(queue, 4);
  assert_int_equal(hsa_queue_load_read_index_scacquire(queue), 4);
  assert_int_equal(((amd_queue_t*)queue)->write_dispatch_id, 9);
  assert_ok(hsa_queue_destroy(queue));
  assert_ok(hsa_signal_destroy(doorbell));
}

// The second packet is published first: nothing runs before the first is there, then both do.
static void test_out_of_order(void** state) {
  hsa_queue_t* queue = test_queue(0, 64, NULL, NULL);
  hsa_signal_t none = {0}, first = test_signal(1), second = test_signal(1);
  uint64_t index = hsa_queue_add_write_index_relaxed(queue, 2);
  hsa_barrier_and_packet_t a = barrier(none, first), b = barrier(none, second);
  test_write(test_slot(queue, index + 1), &b, HSA_PACKET_TYPE_BARRIER_AND, 0);
  test_ring(queue, index + 1);
  assert_int_equal(hsa_signal_wait_scacquire(second, HSA_SIGNAL_CONDITION_EQ, 0, 20000000, HSA_WAIT_STATE_BLOCKED), 1);
  test_write(test_slot(queue, index), &a, HSA_PACKET_TYPE_BARRIER_AND, 0);
  test_wait_zero(first);
  test_wait_zero(second);
  assert_int_equal(hsa_queue_load_read_index_scacquire(queue), 2);
  assert_ok(hsa_queue_destroy(queue));
  assert_ok(hsa_signal_destroy(first));
  assert_ok(hsa_signal_destroy(second));
}

// Packets that wait block their own queue only.
static void test_barriers(void** state) {
  hsa_queue_t *waiting = test_queue(0, 64, NULL, NULL), *other = test_queue(0, 64, NULL, NULL);
  hsa_signal_t gate = test_signal(1), later = test_signal(1), done = test_signal(3), free_run = test_signal(1);
  hsa_barrier_and_packet_t both = {.dep_signal = {gate, {0}, later}, .completion_signal = done};
  hsa_barrier_or_packet_t some = {.dep_signal = {later, {0}, {0}, {0}, gate}, .completion_signal = done};
  hsa_amd_barrier_value_packet_t value = {
      .signal = gate, .value = 0x30, .mask = 0xf0, .cond = HSA_SIGNAL_CONDITION_EQ, .completion_signal = done};
  hsa_barrier_and_packet_t nothing = barrier((hsa_signal_t){0}, free_run);
  test_submit(waiting, &some, HSA_PACKET_TYPE_BARRIER_OR, 0);
  test_submit(waiting, &both, HSA_PACKET_TYPE_BARRIER_AND, 0);
  test_submit(waiting, &value, HSA_PACKET_TYPE_VENDOR_SPECIFIC, VENDOR_BARRIER_VALUE);
  test_submit(other, &nothing, HSA_PACKET_TYPE_BARRIER_AND, 0);
  test_wait_zero(free_run);
  assert_int_equal(hsa_signal_load_scacquire(done), 3);
  hsa_signal_store_screlease(gate, 0);
  hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 2, UINT64_C(10000000000), HSA_WAIT_STATE_BLOCKED);
  assert_int_equal(hsa_signal_load_scacquire(done), 2);
  __atomic_store_n(&((amd_signal_t*)later.handle)->value, 0, __ATOMIC_RELEASE);
  hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 1, UINT64_C(10000000000), HSA_WAIT_STATE_BLOCKED);
  assert_int_equal(hsa_signal_load_scacquire(done), 1);
  hsa_signal_store_screlease(gate, 0x7ff3f);
  test_wait_zero(done);
  hsa_signal_t all[] = {gate, later, done, free_run};
  assert_ok(hsa_queue_destroy(waiting));
  assert_ok(hsa_queue_destroy(other));
  for (int i = 0; i < 4; ++i) assert_ok(hsa_signal_destroy(all[i]));
}

static hsa_queue_t* shared_queues[PRODUCERS];
static hsa_signal_t shared_done;

// Each producer writes to every queue in turn; the queues are small, so slots are used again and again.
static void* produce(void* data) {
  hsa_barrier_and_packet_t packet = barrier((hsa_signal_t){0}, shared_done);
  for (int i = 0; i < PACKETS; ++i) {
    test_submit(shared_queues[(i + (int)(intptr_t)data) % PRODUCERS], &packet, HSA_PACKET_TYPE_BARRIER_AND, 0);
  }
  return NULL;
}

static void test_producers(void** state) {
  pthread_t threads[PRODUCERS];
  shared_done = test_signal(PRODUCERS * PACKETS);
  for (int i = 0; i < PRODUCERS; ++i) shared_queues[i] = test_queue(i % 2, 64, NULL, NULL);
  for (int i = 0; i < PRODUCERS; ++i) pthread_create(&threads[i], NULL, produce, (void*)(intptr_t)i);
  for (int i = 0; i < PRODUCERS; ++i) pthread_join(threads[i], NULL);
  test_wait_zero(shared_done);
  uint64_t packets = 0;
  for (int i = 0; i < PRODUCERS; ++i) {
    packets += hsa_queue_load_read_index_scacquire(shared_queues[i]);
    assert_ok(hsa_queue_destroy(shared_queues[i]));
  }
  assert_int_equal(packets, PRODUCERS * PACKETS);
  assert_ok(hsa_signal_destroy(shared_done));
}

// Who sees a completion may write the packet's slot at once.
static void test_slots_are_free_at_completion(void** state) {
  hsa_queue_t* queue = test_queue(0, 64, NULL, NULL);
  hsa_signal_t done = test_signal(1);
  hsa_barrier_and_packet_t packet = barrier((hsa_signal_t){0}, done);
  for (uint64_t i = 0; i < 1000; ++i) {
    uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
    test_write(test_slot(queue, index), &packet, HSA_PACKET_TYPE_BARRIER_AND, 0);
    test_ring(queue, index);
    while (hsa_signal_load_scacquire(done)) {
    }
    assert_int_equal(hsa_queue_load_read_index_scacquire(queue), i + 1);
    hsa_signal_store_screlease(done, 1);
  }
  assert_ok(hsa_queue_destroy(queue));
  assert_ok(hsa_signal_destroy(done));
}

static void test_times(void** state) {
  hsa_queue_t* queue = test_queue(1, 64, NULL, NULL);
  assert_ok(hsa_amd_profiling_set_profiler_enabled(queue, 1));
  hsa_signal_t gate = test_signal(1), done = test_signal(1);
  hsa_barrier_and_packet_t packet = barrier(gate, done);
  uint64_t before = test_now();
  test_submit(queue, &packet, HSA_PACKET_TYPE_BARRIER_AND, 0);
  usleep(10000);
  hsa_signal_store_screlease(gate, 0);
  test_wait_zero(done);
  hsa_amd_profiling_dispatch_time_t time;
  assert_ok(hsa_amd_profiling_get_dispatch_time(test_gpus[1], done, &time));
  assert_true(time.start + 10 >= before && time.start < time.end && time.end <= test_now());
  uint64_t converted;
  assert_ok(
      hsa_amd_profiling_convert_tick_to_system_domain(test_gpus[1], ((amd_signal_t*)done.handle)->end_ts, &converted));
  assert_int_equal(converted, time.end);
  assert_ok(hsa_queue_destroy(queue));
  assert_ok(hsa_signal_destroy(gate));
  assert_ok(hsa_signal_destroy(done));
}

typedef struct failure_t {
  hsa_signal_t told;
  hsa_status_t status;
  hsa_queue_t* queue;
  bool destroys;
} failure_t;

static void take_failure(hsa_status_t status, hsa_queue_t* queue, void* data) {
  failure_t* failure = data;
  failure->status = status;
  failure->queue = queue;
  if (failure->destroys) assert_ok(hsa_queue_destroy(queue));
  hsa_signal_store_screlease(failure->told, 0);
}

// The queue stops, its callback is told, what follows does not run.
static void expect_failure(const void* packet, uint32_t type, uint16_t format, hsa_status_t status, bool destroys) {
  failure_t failure = {.told = test_signal(1), .destroys = destroys};
  hsa_signal_t done = test_signal(1);
  hsa_queue_t* queue = test_queue(0, 64, take_failure, &failure);
  hsa_barrier_and_packet_t next = barrier((hsa_signal_t){0}, done);
  uint64_t index = hsa_queue_add_write_index_relaxed(queue, 2);
  test_write(test_slot(queue, index + 1), &next, HSA_PACKET_TYPE_BARRIER_AND, 0);
  test_write(test_slot(queue, index), packet, type, format);
  test_wait_zero(failure.told);
  assert_int_equal(failure.status, status);
  assert_ptr_equal(failure.queue, queue);
  assert_int_equal(hsa_signal_load_scacquire(done), 1);
  if (!destroys) assert_ok(hsa_queue_destroy(queue));
  assert_ok(hsa_signal_destroy(done));
  assert_ok(hsa_signal_destroy(failure.told));
}

static void test_errors(void** state) {
  hsa_barrier_and_packet_t nothing = {0}, wild = {.dep_signal = {{0x1234567000}}};
  hsa_kernel_dispatch_packet_t kernel = {.workgroup_size_x = 64,
                                         .workgroup_size_y = 1,
                                         .workgroup_size_z = 1,
                                         .grid_size_x = 64,
                                         .grid_size_y = 1,
                                         .grid_size_z = 1,
                                         .kernel_object = 0x40};
  expect_failure(&nothing, 77, 0, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, false);
  expect_failure(&nothing, HSA_PACKET_TYPE_VENDOR_SPECIFIC, 99, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, false);
  expect_failure(&wild, HSA_PACKET_TYPE_BARRIER_AND, 0, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, false);
  expect_failure(&nothing, 77, 0, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, true);
  expect_failure(&kernel, HSA_PACKET_TYPE_KERNEL_DISPATCH, 1, HSA_STATUS_ERROR_INVALID_CODE_OBJECT, false);
}

static void test_inactivate(void** state) {
  hsa_queue_t* queue = test_queue(0, 64, NULL, NULL);
  hsa_signal_t gate = test_signal(1), done = test_signal(1);
  hsa_barrier_and_packet_t packet = barrier(gate, done);
  test_submit(queue, &packet, HSA_PACKET_TYPE_BARRIER_AND, 0);
  assert_ok(hsa_queue_inactivate(queue));
  hsa_signal_store_screlease(gate, 0);
  assert_int_equal(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, 5000000, HSA_WAIT_STATE_BLOCKED), 1);
  assert_ok(hsa_queue_destroy(queue));
  assert_ok(hsa_signal_destroy(gate));
  assert_ok(hsa_signal_destroy(done));
}

static void test_masks(void** state) {
  hsa_queue_t* queue = test_queue(0, 64, NULL, NULL);
  uint32_t mask[4] = {0}, set[2] = {0x0f, 0x10};
  assert_ok(hsa_amd_queue_cu_get_mask(queue, 64, mask));
  assert_int_equal(mask[0], UINT32_MAX);
  assert_ok(hsa_amd_queue_cu_set_mask(queue, 64, set));
  assert_ok(hsa_amd_queue_cu_get_mask(queue, 128, mask));
  assert_memory_equal(mask, set, sizeof(set));
  assert_int_equal(mask[2], 0);
  assert_ok(hsa_amd_queue_set_priority(queue, HSA_AMD_QUEUE_PRIORITY_HIGH));
  assert_ok(hsa_queue_destroy(queue));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_layout),       cmocka_unit_test(test_indices),
      cmocka_unit_test(test_out_of_order), cmocka_unit_test(test_barriers),
      cmocka_unit_test(test_producers),    cmocka_unit_test(test_slots_are_free_at_completion),
      cmocka_unit_test(test_times),        cmocka_unit_test(test_errors),
      cmocka_unit_test(test_inactivate),   cmocka_unit_test(test_masks),
  };
  return cmocka_run_group_tests(tests, test_open, test_close);
}
