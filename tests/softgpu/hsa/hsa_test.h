// What the tests of the HSA runtime share: GPUs, a queue, packets.
#ifndef IREE_C_TESTS_SOFTGPU_HSA_HSA_TEST_H_
#define IREE_C_TESTS_SOFTGPU_HSA_HSA_TEST_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
// After those that it needs:
#include <cmocka.h>
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <pthread.h>

#define assert_ok(call) assert_int_equal(call, HSA_STATUS_SUCCESS)

enum { TEST_MAX_GPUS = 8 };
static hsa_agent_t test_gpus[TEST_MAX_GPUS];
static uint32_t test_gpu_count;

static hsa_status_t test_take_agent(hsa_agent_t agent, void* data) {
  hsa_device_type_t type;
  assert_ok(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
  if (type == HSA_DEVICE_TYPE_GPU && test_gpu_count < TEST_MAX_GPUS) test_gpus[test_gpu_count++] = agent;
  return HSA_STATUS_SUCCESS;
}

// `names`: processors, with commas between.
static inline int test_open_gpus(const char* names) {
  uint32_t count = 1;
  for (const char* at = names; *at; ++at) count += *at == ',';
  setenv("IREE_SOFTGPU_GPUS", names, 1);
  test_gpu_count = 0;
  assert_ok(hsa_init());
  assert_ok(hsa_iterate_agents(test_take_agent, NULL));
  assert_int_equal(test_gpu_count, count);
  return 0;
}

static inline int test_open(void** state) { return test_open_gpus("gfx1100,gfx942"); }

static inline int test_close(void** state) {
  assert_ok(hsa_shut_down());
  return 0;
}

static inline hsa_signal_t test_signal(int64_t value) {
  hsa_signal_t signal;
  assert_ok(hsa_signal_create(value, 0, NULL, &signal));
  return signal;
}

// Fails the test after ten seconds.
static inline void test_wait_zero(hsa_signal_t signal) {
  assert_int_equal(
      hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_C(10000000000), HSA_WAIT_STATE_BLOCKED), 0);
}

static inline hsa_status_t test_take_pool(hsa_amd_memory_pool_t pool, void* data) {
  hsa_amd_segment_t segment;
  assert_ok(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
  if (segment == HSA_AMD_SEGMENT_GLOBAL) *(hsa_amd_memory_pool_t*)data = pool;
  return segment == HSA_AMD_SEGMENT_GLOBAL ? HSA_STATUS_INFO_BREAK : HSA_STATUS_SUCCESS;
}

// Memory of a GPU, zeroed.
static inline void* test_gpu_memory(uint32_t gpu, size_t size) {
  hsa_amd_memory_pool_t pool = {0};
  void* memory = NULL;
  assert_int_equal(hsa_amd_agent_iterate_memory_pools(test_gpus[gpu], test_take_pool, &pool), HSA_STATUS_INFO_BREAK);
  assert_ok(hsa_amd_memory_pool_allocate(pool, size, 0, &memory));
  memset(memory, 0, size);
  return memory;
}

static inline uint64_t test_now(void) {
  uint64_t now;
  assert_ok(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &now));
  return now;
}

static inline hsa_queue_t* test_queue(uint32_t gpu, uint32_t size, void (*callback)(hsa_status_t, hsa_queue_t*, void*),
                                      void* data) {
  hsa_queue_t* queue = NULL;
  assert_ok(
      hsa_queue_create(test_gpus[gpu], size, HSA_QUEUE_TYPE_MULTI, callback, data, UINT32_MAX, UINT32_MAX, &queue));
  return queue;
}

static inline void* test_slot(hsa_queue_t* queue, uint64_t index) {
  return (char*)queue->base_address + (index & (queue->size - 1)) * 64;
}

// Rings as drivers do: by a store to where the doorbell points.
static inline void test_ring(hsa_queue_t* queue, uint64_t index) {
  amd_signal_t* doorbell = (amd_signal_t*)queue->doorbell_signal.handle;
  assert_int_equal(doorbell->kind, AMD_SIGNAL_KIND_DOORBELL);
  __atomic_store_n(doorbell->hardware_doorbell_ptr, index, __ATOMIC_RELEASE);
}

static inline void test_publish(void* slot, uint32_t type, uint16_t format) {
  uint32_t header = type | 1u << HSA_PACKET_HEADER_BARRIER | 2u << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                    2u << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
  __atomic_store_n((uint32_t*)slot, header | (uint32_t)format << 16, __ATOMIC_RELEASE);
}

// Writes all of a packet but its first word, then that.
static inline void test_write(void* slot, const void* packet, uint32_t type, uint16_t format) {
  memcpy((char*)slot + 4, (const char*)packet + 4, 60);
  test_publish(slot, type, format);
}

static inline uint64_t test_submit(hsa_queue_t* queue, const void* packet, uint32_t type, uint16_t format) {
  uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
  while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size) usleep(10);
  test_write(test_slot(queue, index), packet, type, format);
  test_ring(queue, index);
  return index;
}

#endif  // IREE_C_TESTS_SOFTGPU_HSA_HSA_TEST_H_
