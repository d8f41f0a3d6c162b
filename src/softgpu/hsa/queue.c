// Queues: rings of packets in memory, each drained by a thread of its own.
//
// A packet is taken when its header turns valid: doorbells may be plain stores, and headers are published in any order.
// The thread looks at the ring in turns that grow longer while nothing happens; doorbells rung by this interface wake
// it, and no other signals do while the ring is empty.
#include "softgpu/hsa/queue.h"

#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "softgpu/wave.h"

enum {
  QUEUE_SPINS = 1000,
  QUEUE_MIN_SIZE = 64,
  QUEUE_MAX_SIZE = 1 << 20,
  QUEUE_SLEEP_MIN = 10000,
  QUEUE_SLEEP_MAX = 1000000
};  // nanoseconds

static pthread_mutex_t queues_lock = PTHREAD_MUTEX_INITIALIZER;
static queue_t* queues;
static uint64_t next_queue_id;
// Queues that were destroyed by their own threads, which are not at their ends yet.
static uint32_t orphans;
static pthread_cond_t orphan_gone = PTHREAD_COND_INITIALIZER;
static __thread queue_t* own_queue;  // that this thread drains

static hsa_queue_t* public_queue(queue_t* queue) { return &queue->amd.hsa_queue; }
static queue_t* queue_of(const hsa_queue_t* queue) { return (queue_t*)(uintptr_t)queue; }

bool queue_is_stopping(const queue_t* queue) { return __atomic_load_n(&queue->stops, __ATOMIC_ACQUIRE); }

static uint16_t header_of(const uint16_t* packet) { return __atomic_load_n(packet, __ATOMIC_ACQUIRE); }

static bool is_valid(uint16_t header) { return (header & 0xff) != HSA_PACKET_TYPE_INVALID; }

static void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// How long to sleep in a step of a wait; 0: not yet. 10 microseconds first, a millisecond after about 100 ms.
static uint64_t sleep_of(uint32_t step) {
  if (step < QUEUE_SPINS) return 0;
  uint64_t sleep = QUEUE_SLEEP_MIN + (uint64_t)(step - QUEUE_SPINS) * QUEUE_SLEEP_MIN / 8;
  return sleep < QUEUE_SLEEP_MAX ? sleep : QUEUE_SLEEP_MAX;
}

bool queue_wait_step(queue_t* queue, uint32_t* steps) {
  if (queue_is_stopping(queue)) return false;
  uint64_t sleep = sleep_of((*steps)++);
  if (sleep) {
    signal_sleep(signal_change_count(), sleep);
  } else {
    relax();
  }
  return true;
}

// The same for the next packet, when doorbells had been rung `seen` times before the ring was looked at.
static void await_packet(queue_t* queue, uint32_t seen, uint32_t* steps) {
  uint64_t sleep = sleep_of((*steps)++);
  struct timespec time = {0, (long)sleep};
  if (!sleep) return relax();
  __atomic_store_n(&queue->is_asleep, 1, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, &queue->rings, FUTEX_WAIT_PRIVATE, seen, &time, NULL, 0);
  __atomic_store_n(&queue->is_asleep, 0, __ATOMIC_SEQ_CST);
}

void queue_ring(amd_queue_t* amd) {
  queue_t* queue = (queue_t*)amd;
  __atomic_add_fetch(&queue->rings, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&queue->is_asleep, __ATOMIC_SEQ_CST)) {
    syscall(SYS_futex, &queue->rings, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  }
}

static void free_queue(queue_t* queue);

static void* drain(void* data) {
  queue_t* queue = data;
  char* ring = public_queue(queue)->base_address;
  uint64_t mask = public_queue(queue)->size - 1, index = 0;
  prctl(PR_SET_TIMERSLACK, 1000);
  own_queue = queue;
  // Lost while it was made.
  if (__atomic_load_n(&queue->agent->is_lost, __ATOMIC_ACQUIRE)) __atomic_store_n(&queue->stops, 1, __ATOMIC_RELEASE);
  for (uint32_t steps = 0; !queue_is_stopping(queue);) {
    uint16_t* packet = (uint16_t*)(ring + (index & mask) * 64);
    uint32_t rings = __atomic_load_n(&queue->rings, __ATOMIC_SEQ_CST);
    if (!is_valid(header_of(packet))) {
      await_packet(queue, rings, &steps);
      continue;
    }
    steps = 0;
    hsa_signal_t completion = {0};
    if (!packet_process(queue, packet, index, &completion)) break;
    __atomic_store_n(packet, HSA_PACKET_TYPE_INVALID, __ATOMIC_RELEASE);
    __atomic_store_n(&queue->amd.read_dispatch_id, ++index, __ATOMIC_RELEASE);
    signal_subtract(completion, 1);
  }
  if (!own_queue || !queue->is_orphan) return NULL;
  free_queue(queue);
  pthread_mutex_lock(&queues_lock);
  --orphans;
  pthread_cond_broadcast(&orphan_gone);
  pthread_mutex_unlock(&queues_lock);
  return NULL;
}

bool queue_wait_signal(queue_t* queue, const volatile int64_t* value, int64_t mask, hsa_signal_condition_t condition,
                       int64_t compare) {
  for (uint32_t steps = 0; !signal_holds(condition, __atomic_load_n(value, __ATOMIC_ACQUIRE) & mask, compare);) {
    if (!queue_wait_step(queue, &steps)) return false;
  }
  return true;
}

void queue_fail(queue_t* queue, hsa_status_t status, const char* message) {
  fprintf(stderr, "softgpu: GPU %u: %s\n", queue->agent->ordinal, message);
  __atomic_store_n(&queue->stops, 1, __ATOMIC_RELEASE);
  if (queue->callback) queue->callback(status, public_queue(queue), queue->callback_data);
}

void queue_stop_agent(agent_t* agent) {
  pthread_mutex_lock(&queues_lock);
  __atomic_store_n(&agent->is_lost, true, __ATOMIC_RELEASE);
  for (queue_t* queue = queues; queue; queue = queue->next) {
    if (queue->agent != agent) continue;
    __atomic_store_n(&queue->stops, 1, __ATOMIC_RELEASE);
    queue_ring(&queue->amd);
  }
  pthread_mutex_unlock(&queues_lock);
  signal_notify();
}

static queue_t* make_queue(uint32_t size, hsa_queue_type32_t type, uint32_t features) {
  queue_t* queue = memory_map_pages(sizeof(*queue), 4096, UINT64_MAX, "queue");
  char* ring = queue ? memory_map_pages((size_t)size * 64, 4096, UINT64_MAX, "queue ring") : NULL;
  if (!ring) return memory_unmap_pages(queue), NULL;
  memset(queue, 0, sizeof(*queue));
  for (uint32_t i = 0; i < size; ++i) *(uint16_t*)(ring + (size_t)i * 64) = HSA_PACKET_TYPE_INVALID;
  hsa_queue_t* out = public_queue(queue);
  out->type = type, out->features = features, out->base_address = ring, out->size = size;
  queue->amd.group_segment_aperture_base_hi = (uint32_t)(WAVE_SHARED_BASE >> 32);
  queue->amd.private_segment_aperture_base_hi = (uint32_t)(WAVE_PRIVATE_BASE >> 32);
  queue->amd.read_dispatch_id_field_base_byte_offset =
      (uint32_t)((char*)&queue->amd.read_dispatch_id - (char*)&queue->amd);
  pthread_mutex_lock(&queues_lock);
  out->id = next_queue_id++;
  queue->next = queues;
  queues = queue;
  pthread_mutex_unlock(&queues_lock);
  return queue;
}

static bool is_size(uint32_t size) { return size && !(size & (size - 1)) && size <= QUEUE_MAX_SIZE; }

hsa_status_t hsa_queue_create(hsa_agent_t handle, uint32_t size, hsa_queue_type32_t type, queue_callback_t callback,
                              void* data, uint32_t private_size, uint32_t group_size, hsa_queue_t** out) {
  REQUIRE_OPEN();
  agent_t* agent = runtime_agent(handle);
  REQUIRE(agent, HSA_STATUS_ERROR_INVALID_AGENT);
  REQUIRE(agent->type == HSA_DEVICE_TYPE_GPU, HSA_STATUS_ERROR_INVALID_QUEUE_CREATION);
  REQUIRE(out && is_size(size) && type <= HSA_QUEUE_TYPE_COOPERATIVE, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  REQUIRE(!__atomic_load_n(&agent->is_lost, __ATOMIC_ACQUIRE), HSA_STATUS_ERROR);
  queue_t* queue = make_queue(size < QUEUE_MIN_SIZE ? QUEUE_MIN_SIZE : size, type, HSA_QUEUE_FEATURE_KERNEL_DISPATCH);
  REQUIRE(queue, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  queue->agent = agent, queue->callback = callback, queue->callback_data = data;
  queue->amd.max_cu_id = agent->target->units - 1u;
  queue->amd.max_wave_id = 31;
  hsa_signal_t doorbell = {0};
  hsa_status_t status = hsa_signal_create(0, 0, NULL, &doorbell);
  public_queue(queue)->doorbell_signal = doorbell;
  if (status == HSA_STATUS_SUCCESS) {
    // Drivers store to what the doorbell points to, without a call.
    amd_signal_t* signal = (amd_signal_t*)doorbell.handle;
    queue->doorbell = -1;
    signal->kind = AMD_SIGNAL_KIND_DOORBELL;
    signal->hardware_doorbell_ptr = (volatile uint64_t*)&queue->doorbell;
    signal->queue_ptr = &queue->amd;
  }
  if (status == HSA_STATUS_SUCCESS && pthread_create(&queue->thread, NULL, drain, queue) != 0) {
    hsa_signal_destroy(doorbell);
    status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  if (status == HSA_STATUS_SUCCESS) {
    *out = public_queue(queue);
    return status;
  }
  queue->agent = NULL;
  hsa_queue_destroy(public_queue(queue));
  return status;
}

hsa_status_t hsa_soft_queue_create(hsa_region_t region, uint32_t size, hsa_queue_type32_t type, uint32_t features,
                                   hsa_signal_t doorbell, hsa_queue_t** out) {
  REQUIRE_OPEN();
  REQUIRE(out && is_size(size) && type <= HSA_QUEUE_TYPE_SINGLE && features && doorbell.handle,
          HSA_STATUS_ERROR_INVALID_ARGUMENT);
  queue_t* queue = make_queue(size, type, features);
  REQUIRE(queue, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  public_queue(queue)->doorbell_signal = doorbell;
  *out = public_queue(queue);
  return HSA_STATUS_SUCCESS;
}

static void free_queue(queue_t* queue) {
  if (queue->agent) hsa_signal_destroy(public_queue(queue)->doorbell_signal);
  memory_unmap_pages(public_queue(queue)->base_address);
  memory_unmap_pages(queue);
}

// Ends the thread, and the waves that run for it; false when it is the one that asks (in the callback of an error), and
// then it ends later.
static bool stop_thread(queue_t* queue) {
  if (!queue->agent || !queue->thread) return true;
  __atomic_store_n(&queue->stops, 1, __ATOMIC_RELEASE);
  if (pthread_equal(queue->thread, pthread_self())) return false;
  queue_ring(&queue->amd);
  signal_notify();
  pthread_join(queue->thread, NULL);
  queue->thread = 0;
  return true;
}

static void close_queue(queue_t* queue) {
  if (stop_thread(queue)) {
    free_queue(queue);
  } else {
    pthread_detach(queue->thread);
    queue->is_orphan = true;
    pthread_mutex_lock(&queues_lock);
    ++orphans;
    pthread_mutex_unlock(&queues_lock);
  }
}

hsa_status_t hsa_queue_destroy(hsa_queue_t* handle) {
  REQUIRE_OPEN();
  pthread_mutex_lock(&queues_lock);
  queue_t** at = &queues;
  while (*at && *at != queue_of(handle)) at = &(*at)->next;
  queue_t* found = *at;
  if (found) *at = found->next;
  pthread_mutex_unlock(&queues_lock);
  REQUIRE(found, HSA_STATUS_ERROR_INVALID_QUEUE);
  close_queue(found);
  return HSA_STATUS_SUCCESS;
}

void queue_close_all(void) {
  while (queues) {
    queue_t* queue = queues;
    queues = queue->next;
    close_queue(queue);
  }
  // A callback may shut the runtime down: its thread will not look at its queue again.
  queue_t* own = own_queue && own_queue->is_orphan ? own_queue : NULL;
  pthread_mutex_lock(&queues_lock);
  if (own) --orphans;
  while (orphans) pthread_cond_wait(&orphan_gone, &queues_lock);
  pthread_mutex_unlock(&queues_lock);
  if (own) free_queue(own);
  own_queue = NULL;
}

hsa_status_t hsa_queue_inactivate(hsa_queue_t* queue) {
  REQUIRE_OPEN();
  REQUIRE(queue, HSA_STATUS_ERROR_INVALID_QUEUE);
  stop_thread(queue_of(queue));
  return HSA_STATUS_SUCCESS;
}

// ORDER(suffix, memory order)
#define LOADS(ORDER) ORDER(relaxed, RELAXED) ORDER(scacquire, ACQUIRE) ORDER(acquire, ACQUIRE)
#define STORES(ORDER) ORDER(relaxed, RELAXED) ORDER(screlease, RELEASE) ORDER(release, RELEASE)
#define CHANGES(ORDER)      \
  ORDER(relaxed, RELAXED)   \
  ORDER(scacquire, ACQUIRE) \
  ORDER(screlease, RELEASE) \
  ORDER(scacq_screl, ACQ_REL) ORDER(acquire, ACQUIRE) ORDER(release, RELEASE) ORDER(acq_rel, ACQ_REL)
#define ORDER(suffix, order)                                                           \
  uint64_t hsa_queue_load_read_index_##suffix(const hsa_queue_t* queue) {              \
    return __atomic_load_n(&queue_of(queue)->amd.read_dispatch_id, __ATOMIC_##order);  \
  }                                                                                    \
  uint64_t hsa_queue_load_write_index_##suffix(const hsa_queue_t* queue) {             \
    return __atomic_load_n(&queue_of(queue)->amd.write_dispatch_id, __ATOMIC_##order); \
  }
LOADS(ORDER)
#undef ORDER
#define ORDER(suffix, order)                                                            \
  void hsa_queue_store_read_index_##suffix(const hsa_queue_t* queue, uint64_t value) {  \
    __atomic_store_n(&queue_of(queue)->amd.read_dispatch_id, value, __ATOMIC_##order);  \
  }                                                                                     \
  void hsa_queue_store_write_index_##suffix(const hsa_queue_t* queue, uint64_t value) { \
    __atomic_store_n(&queue_of(queue)->amd.write_dispatch_id, value, __ATOMIC_##order); \
  }
STORES(ORDER)
#undef ORDER
#define ORDER(suffix, order)                                                                                 \
  uint64_t hsa_queue_add_write_index_##suffix(const hsa_queue_t* queue, uint64_t value) {                    \
    return __atomic_fetch_add(&queue_of(queue)->amd.write_dispatch_id, value, __ATOMIC_##order);             \
  }                                                                                                          \
  uint64_t hsa_queue_cas_write_index_##suffix(const hsa_queue_t* queue, uint64_t expected, uint64_t value) { \
    uint64_t seen = expected;                                                                                \
    __atomic_compare_exchange_n((uint64_t*)&queue_of(queue)->amd.write_dispatch_id, &seen, value, false,     \
                                __ATOMIC_##order, __ATOMIC_RELAXED);                                         \
    return seen;                                                                                             \
  }
CHANGES(ORDER)
#undef ORDER

hsa_status_t hsa_amd_profiling_set_profiler_enabled(hsa_queue_t* queue, int enable) {
  REQUIRE_OPEN();
  REQUIRE(queue, HSA_STATUS_ERROR_INVALID_QUEUE);
  // Packets are always timed; the bit is for those who look at the queue.
  AMD_HSA_BITS_SET(queue_of(queue)->amd.queue_properties, AMD_QUEUE_PROPERTIES_ENABLE_PROFILING, enable ? 1 : 0);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_queue_set_priority(hsa_queue_t* queue, hsa_amd_queue_priority_t priority) {
  REQUIRE_OPEN();
  REQUIRE(queue, HSA_STATUS_ERROR_INVALID_QUEUE);
  REQUIRE(priority <= HSA_AMD_QUEUE_PRIORITY_HIGH, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  return HSA_STATUS_SUCCESS;
}

// Every workgroup may run on every unit: masks are kept and given back, and do not matter.
hsa_status_t hsa_amd_queue_cu_set_mask(const hsa_queue_t* handle, uint32_t bits, const uint32_t* mask) {
  REQUIRE_OPEN();
  REQUIRE(handle && queue_of(handle)->agent, HSA_STATUS_ERROR_INVALID_QUEUE);
  REQUIRE(bits % 32 == 0 && (!bits || mask), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  queue_t* queue = queue_of(handle);
  queue->unit_mask_bits = bits < QUEUE_MASK_WORDS * 32 ? bits : QUEUE_MASK_WORDS * 32;
  for (uint32_t i = 0; i < queue->unit_mask_bits / 32; ++i) queue->unit_mask[i] = mask[i];
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_queue_cu_get_mask(const hsa_queue_t* handle, uint32_t bits, uint32_t* mask) {
  REQUIRE_OPEN();
  REQUIRE(handle && queue_of(handle)->agent, HSA_STATUS_ERROR_INVALID_QUEUE);
  REQUIRE(bits && bits % 32 == 0 && mask, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  const queue_t* queue = queue_of(handle);
  uint32_t units = queue->agent->target->units;
  for (uint32_t i = 0; i < bits / 32; ++i) {
    uint32_t all = units >= (i + 1) * 32 ? UINT32_MAX : units > i * 32 ? (1u << units % 32) - 1 : 0;
    mask[i] = !queue->unit_mask_bits ? all : i < queue->unit_mask_bits / 32 ? queue->unit_mask[i] & all : 0;
  }
  return HSA_STATUS_SUCCESS;
}

// Attributes: 0 the agent, 1 the doorbell's id. Newer than Debian's headers, which do not declare it.
hsa_status_t hsa_amd_queue_get_info(hsa_queue_t* handle, uint32_t attribute, void* value);
hsa_status_t hsa_amd_queue_get_info(hsa_queue_t* handle, uint32_t attribute, void* value) {
  REQUIRE_OPEN();
  REQUIRE(handle, HSA_STATUS_ERROR_INVALID_QUEUE);
  REQUIRE(value && attribute <= 1, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  if (attribute == 0) {
    ((hsa_agent_t*)value)->handle = (uint64_t)queue_of(handle)->agent;
  } else {
    *(uint64_t*)value = handle->id;
  }
  return HSA_STATUS_SUCCESS;
}
