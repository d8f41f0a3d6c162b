// PM4 indirect buffers in vendor packets: clocks, copies, waits, atomics, and what is refused.
#include "hsa_pm4.h"

static uint32_t* allocate(size_t size) { return test_gpu_memory(0, size); }

// Runs the words, to the end.
static void run(const uint32_t* words, uint32_t count) {
  uint32_t* buffer = allocate(count * 4);
  memcpy(buffer, words, count * 4);
  hsa_queue_t* queue = test_queue(0, 64, NULL, NULL);
  hsa_signal_t done = test_signal(1);
  test_submit_words(queue, buffer, count, done);
  test_wait_zero(done);
  assert_ok(hsa_queue_destroy(queue));
  assert_ok(hsa_signal_destroy(done));
  assert_ok(hsa_amd_memory_pool_free(buffer));
}
#define RUN(words) run(words, sizeof(words) / sizeof((words)[0]))

static void test_clock(void** state) {
  uint64_t* data = (uint64_t*)allocate(64);
  const uint32_t words[] = {
      PM4(0x46, 2),
      7 | 4 << 8,  // EVENT_WRITE
      PM4(0x40, 6),
      9 | 5 << 8 | 1 << 16 | 1 << 20,
      0,
      0,
      ADDRESS(data),  // COPY_DATA of the clock
      PM4(0x49, 8),
      0x28 | 5 << 8,
      3u << 29,
      ADDRESS(data + 1),
      0,
      0,
      0,  // RELEASE_MEM with the clock
      PM4(0x40, 6),
      9 | 2 << 8 | 1 << 16,
      0,
      0,
      ADDRESS(data + 2),
  };
  uint64_t before = test_now(), after;
  RUN(words);
  after = test_now();
  uint64_t times[3];
  for (int i = 0; i < 3; ++i) {
    assert_ok(hsa_amd_profiling_convert_tick_to_system_domain(test_gpus[0], data[i], &times[i]));
  }
  assert_true(before <= times[0] + 10 && times[0] <= times[1] && times[1] <= times[2] && times[2] <= after);
  assert_ok(hsa_amd_memory_pool_free(data));
}

static void test_data(void** state) {
  uint32_t* data = allocate(256);
  data[8] = 0x12345678, data[9] = 0x9abcdef0;
  uint32_t* nested = allocate(64);
  const uint32_t inner[] = {PM4(0x37, 5), 2 << 8, ADDRESS(data + 20), 77};
  memcpy(nested, inner, sizeof(inner));
  const uint32_t words[] = {
      PM4(0x10, 3),
      1,
      2,  // NOP
      PM4(0x37, 6),
      5 << 8 | 1 << 20,
      ADDRESS(data),
      11,
      22,  // WRITE_DATA
      PM4(0x40, 6),
      2 | 2 << 8 | 1 << 16,
      ADDRESS(data + 8),
      ADDRESS(data + 2),  // COPY_DATA, 64 bits
      PM4(0x40, 6),
      5 | 5 << 8,
      99,
      0,
      ADDRESS(data + 4),  // of an immediate value
      PM4(0x50, 7),
      0,
      ADDRESS(data + 8),
      ADDRESS(data + 12),
      8,  // DMA_DATA
      PM4(0x1e, 9),
      47,
      ADDRESS(data + 16),
      5,
      0,
      0,
      0,
      0,  // ATOMIC_MEM, add of 64 bits
      PM4(0x58, 8),
      0,
      0,
      0,
      0,
      0,
      0,
      0,  // ACQUIRE_MEM
      PM4(0x3f, 4),
      ADDRESS(nested),
      5,  // INDIRECT_BUFFER
  };
  RUN(words);
  assert_int_equal(data[0], 11);
  assert_int_equal(data[1], 22);
  assert_int_equal(data[2], 0x12345678);
  assert_int_equal(data[3], 0x9abcdef0);
  assert_int_equal(data[4], 99);
  assert_memory_equal(data + 12, data + 8, 8);
  assert_int_equal(data[16], 5);
  assert_int_equal(data[20], 77);
  assert_ok(hsa_amd_memory_pool_free(nested));
  assert_ok(hsa_amd_memory_pool_free(data));
}

static void test_waits(void** state) {
  uint32_t* words = allocate(256);
  uint64_t* data = (uint64_t*)(words + 32);
  data[0] = 100, data[1] = 1;
  const uint32_t buffer[] = {
      PM4(0x93, 9), 1 | 1 << 4, ADDRESS(data),     50, 0, UINT32_MAX, UINT32_MAX, 4,  // WAIT_REG_MEM64: less
      PM4(0x3c, 7), 3 | 1 << 4, ADDRESS(data + 1), 0,  1, 4,                          // WAIT_REG_MEM: equal
  };
  memcpy(words, buffer, sizeof(buffer));
  hsa_queue_t* queue = test_queue(0, 64, NULL, NULL);
  hsa_signal_t done = test_signal(1);
  test_submit_words(queue, words, sizeof(buffer) / 4, done);
  assert_int_equal(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, 5000000, HSA_WAIT_STATE_BLOCKED), 1);
  __atomic_store_n(&data[0], 49, __ATOMIC_RELEASE);
  assert_int_equal(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, 5000000, HSA_WAIT_STATE_BLOCKED), 1);
  __atomic_store_n((uint32_t*)&data[1], 4, __ATOMIC_RELEASE);
  test_wait_zero(done);
  assert_ok(hsa_queue_destroy(queue));
  assert_ok(hsa_signal_destroy(done));
  assert_ok(hsa_amd_memory_pool_free(words));
}

static void take_status(hsa_status_t status, hsa_queue_t* queue, void* data) {
  assert_int_equal(status, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
  hsa_signal_store_screlease((hsa_signal_t){(uint64_t)data}, 0);
}

// Refused: the callback is told, and the packet does not complete.
static void refuse(const uint32_t* words, uint32_t count) {
  uint32_t* buffer = allocate(64);
  memcpy(buffer, words, count * 4);
  hsa_signal_t told = test_signal(1), done = test_signal(1);
  hsa_queue_t* queue = test_queue(0, 64, take_status, (void*)told.handle);
  test_submit_words(queue, buffer, count, done);
  test_wait_zero(told);
  assert_int_equal(hsa_signal_load_scacquire(done), 1);
  assert_ok(hsa_queue_destroy(queue));
  assert_ok(hsa_signal_destroy(done));
  assert_ok(hsa_signal_destroy(told));
  assert_ok(hsa_amd_memory_pool_free(buffer));
}
#define REFUSE(...)                                  \
  do {                                               \
    const uint32_t words[] = {__VA_ARGS__};          \
    refuse(words, sizeof(words) / sizeof(words[0])); \
  } while (0)

static void test_refused(void** state) {
  REFUSE(PM4(0xee, 2), 0);                       // no such opcode
  REFUSE(PM4(0x15, 4), 1, 1, 1);                 // DISPATCH_DIRECT of three words
  REFUSE(PM4(0x37, 5), 0 << 8, 0, 0, 1);         // WRITE_DATA to a register
  REFUSE(PM4(0x37, 8), 5 << 8);                  // cut off
  REFUSE(PM4(0x37, 5), 5 << 8, 0x1000, 0, 1);    // not memory of the GPU
  REFUSE(PM4(0x40, 6), 3 | 5 << 8, 0, 0, 0, 0);  // a source that is no memory
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_clock),
      cmocka_unit_test(test_data),
      cmocka_unit_test(test_waits),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, test_open, test_close);
}
