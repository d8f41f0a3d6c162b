// Entry points of the fake library. FAKE_HSA_IS_OLD leaves one out.
#include "fake_hsa.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT fake_hsa_t fake_hsa = {.cpu_count = 1, .gpu_count = 1, .has_memory = true};

// One lock for everything: nothing here need be fast.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

// Whether this call is one that fails.
static bool fails(const char* name) {
  if (!fake_hsa.failing || strcmp(fake_hsa.failing, name) != 0) return false;
  int call = __atomic_fetch_add(&fake_hsa.call_count, 1, __ATOMIC_RELAXED);
  return fake_hsa.fails_once ? call == fake_hsa.failing_call : call >= fake_hsa.failing_call;
}
#define FAIL_IF_TOLD() \
  if (fails(__func__)) return fake_hsa.code

static void count_live(int change) { __atomic_fetch_add(&fake_hsa.live_count, change, __ATOMIC_RELAXED); }

//===----------------------------------------------------------------------------------------------------------------===
// Agents
//===----------------------------------------------------------------------------------------------------------------===

enum { CPU_HANDLE = 100, GPU_HANDLE = 200, POOL_OFFSET = 1000 };

static const char* processor(void) { return fake_hsa.processor ? fake_hsa.processor : "gfx1100"; }

EXPORT hsa_status_t hsa_init(void) {
  FAIL_IF_TOLD();
  count_live(1);
  return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_shut_down(void) {
  FAIL_IF_TOLD();
  count_live(-1);
  return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_status_string(hsa_status_t status, const char** out_string) {
  FAIL_IF_TOLD();
  *out_string = "as told";
  return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_amd_register_system_event_handler(hsa_event_fn_t callback, void* data) {
  FAIL_IF_TOLD();
  fake_hsa.event_handler = callback;
  ++fake_hsa.handler_count;
  return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_iterate_agents(hsa_agent_fn_t callback, void* data) {
  FAIL_IF_TOLD();
  hsa_status_t status = HSA_STATUS_SUCCESS;
  for (int i = 0; i < fake_hsa.cpu_count && status == HSA_STATUS_SUCCESS; ++i) {
    status = callback((hsa_agent_t){(uint64_t)(CPU_HANDLE + i)}, data);
  }
  for (int i = 0; i < fake_hsa.gpu_count && status == HSA_STATUS_SUCCESS; ++i) {
    status = callback((hsa_agent_t){(uint64_t)(GPU_HANDLE + i)}, data);
  }
  return status;
}

EXPORT hsa_status_t hsa_agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute, void* out_value) {
  FAIL_IF_TOLD();
  bool is_gpu = agent.handle >= GPU_HANDLE;
  switch ((int)attribute) {
    case HSA_AGENT_INFO_NAME:
      strcpy((char*)out_value, is_gpu ? processor() : "cpu");
      return HSA_STATUS_SUCCESS;
    case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
      strcpy((char*)out_value, "Fake");
      return HSA_STATUS_SUCCESS;
    case HSA_AMD_AGENT_INFO_UUID:
      snprintf((char*)out_value, 21, "GPU-%016X", (unsigned)agent.handle);
      return HSA_STATUS_SUCCESS;
    case HSA_AGENT_INFO_DEVICE:
      *(hsa_device_type_t*)out_value = is_gpu ? HSA_DEVICE_TYPE_GPU : HSA_DEVICE_TYPE_CPU;
      return HSA_STATUS_SUCCESS;
    case HSA_AGENT_INFO_WAVEFRONT_SIZE:
      *(uint32_t*)out_value = 32;
      return HSA_STATUS_SUCCESS;
    case HSA_AGENT_INFO_QUEUE_MAX_SIZE:
      *(uint32_t*)out_value = 256;
      return HSA_STATUS_SUCCESS;
  }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;  // as libraries do that do not know an attribute
}

EXPORT hsa_status_t hsa_agent_iterate_isas(hsa_agent_t agent, hsa_isa_fn_t callback, void* data) {
  FAIL_IF_TOLD();
  return callback((hsa_isa_t){1}, data);
}

EXPORT hsa_status_t hsa_isa_get_info_alt(hsa_isa_t isa, hsa_isa_info_t attribute, void* out_value) {
  FAIL_IF_TOLD();
  char name[64];
  int length = snprintf(name, sizeof(name), "amdgcn-amd-amdhsa--%s", processor());
  if (attribute == HSA_ISA_INFO_NAME) {
    memcpy(out_value, name, (size_t)length + 1);
  } else {
    *(uint32_t*)out_value = (uint32_t)length + 1;
  }
  return HSA_STATUS_SUCCESS;
}

//===----------------------------------------------------------------------------------------------------------------===
// Memory
//===----------------------------------------------------------------------------------------------------------------===

EXPORT hsa_status_t hsa_amd_agent_iterate_memory_pools(hsa_agent_t agent, hsa_pool_fn_t callback, void* data) {
  FAIL_IF_TOLD();
  return fake_hsa.has_memory ? callback((hsa_amd_memory_pool_t){agent.handle + POOL_OFFSET}, data) : HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t pool, hsa_amd_memory_pool_info_t attribute,
                                                 void* out_value) {
  FAIL_IF_TOLD();
  bool is_gpu = pool.handle >= GPU_HANDLE + POOL_OFFSET;
  switch ((int)attribute) {
    case HSA_AMD_MEMORY_POOL_INFO_SEGMENT:
      *(uint32_t*)out_value = HSA_AMD_SEGMENT_GLOBAL;
      break;
    case HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS:
      *(uint32_t*)out_value =
          is_gpu ? HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED
                 : HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT;
      break;
    case HSA_AMD_MEMORY_POOL_INFO_SIZE:
      *(size_t*)out_value = (size_t)1 << 30;
      break;
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED:
      *(bool*)out_value = true;
      break;
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_amd_agent_memory_pool_get_info(hsa_agent_t agent, hsa_amd_memory_pool_t pool,
                                                       hsa_amd_agent_memory_pool_info_t attribute, void* out_value) {
  FAIL_IF_TOLD();
  if (attribute != HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO) {
    *(int32_t*)out_value = 1;  // allowed by default; one hop
    return HSA_STATUS_SUCCESS;
  }
  uint64_t nearest = (agent.handle - GPU_HANDLE + (uint64_t)fake_hsa.nearest_cpu) % (uint64_t)fake_hsa.cpu_count;
  bool is_near = pool.handle == CPU_HANDLE + POOL_OFFSET + nearest;
  *(hsa_amd_memory_pool_link_info_t*)out_value =
      (hsa_amd_memory_pool_link_info_t){.is_coherent = true, .numa_distance = is_near ? 10 : 32};
  return HSA_STATUS_SUCCESS;
}

typedef struct block_t {
  _Alignas(4096) size_t size;
} block_t;

EXPORT hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags,
                                                 void** out_ptr) {
  FAIL_IF_TOLD();
  pthread_mutex_lock(&mutex);
  bool fits = !fake_hsa.memory_limit || fake_hsa.memory_size + size <= fake_hsa.memory_limit;
  if (fits) fake_hsa.memory_size += size;
  uint64_t cpu = pool.handle - CPU_HANDLE - POOL_OFFSET;
  if (fits && cpu < 4) fake_hsa.pool_sizes[cpu] += size;
  pthread_mutex_unlock(&mutex);
  block_t* block = fits ? (block_t*)aligned_alloc(4096, sizeof(*block) + ((size + 4095) & ~(size_t)4095)) : NULL;
  if (!block) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  block->size = size;
  *out_ptr = block + 1;
  count_live(1);
  return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_amd_memory_pool_free(void* ptr) {
  FAIL_IF_TOLD();
  block_t* block = (block_t*)ptr - 1;
  pthread_mutex_lock(&mutex);
  fake_hsa.memory_size -= block->size;
  pthread_mutex_unlock(&mutex);
  free(block);
  count_live(-1);
  return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_amd_agents_allow_access(uint32_t agent_count, const hsa_agent_t* agents, const uint32_t* flags,
                                                const void* ptr) {
  FAIL_IF_TOLD();
  return HSA_STATUS_SUCCESS;
}

#ifndef FAKE_HSA_IS_OLD
EXPORT hsa_status_t hsa_amd_memory_lock(void* host_ptr, size_t size, hsa_agent_t* agents, int agent_count,
                                        void** out_agent_ptr) {
  FAIL_IF_TOLD();
  *out_agent_ptr = host_ptr;
  count_live(1);
  return HSA_STATUS_SUCCESS;
}
#endif

EXPORT hsa_status_t hsa_amd_memory_unlock(void* host_ptr) {
  FAIL_IF_TOLD();
  count_live(-1);
  return HSA_STATUS_SUCCESS;
}

//===----------------------------------------------------------------------------------------------------------------===
// Signals
//===----------------------------------------------------------------------------------------------------------------===

typedef struct signal_t {
  int64_t kind;  // the value's place is part of the binary interface
  hsa_signal_value_t value;
} signal_t;

static signal_t* signal_of(hsa_signal_t signal) { return (signal_t*)(uintptr_t)signal.handle; }

static hsa_signal_t make_signal(hsa_signal_value_t value) {
  signal_t* signal = (signal_t*)malloc(sizeof(*signal));
  if (signal) signal->value = value;
  return (hsa_signal_t){(uint64_t)(uintptr_t)signal};
}

EXPORT hsa_status_t hsa_signal_create(hsa_signal_value_t initial_value, uint32_t consumer_count,
                                      const hsa_agent_t* consumers, hsa_signal_t* out_signal) {
  FAIL_IF_TOLD();
  *out_signal = make_signal(initial_value);
  count_live(1);
  return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_signal_destroy(hsa_signal_t signal) {
  FAIL_IF_TOLD();
  free(signal_of(signal));
  count_live(-1);
  return HSA_STATUS_SUCCESS;
}

static hsa_signal_value_t exchange(hsa_signal_t signal, hsa_signal_value_t value) {
  pthread_mutex_lock(&mutex);
  hsa_signal_value_t before = signal_of(signal)->value;
  signal_of(signal)->value = value;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  return before;
}

EXPORT hsa_signal_value_t hsa_signal_load_scacquire(hsa_signal_t signal) {
  pthread_mutex_lock(&mutex);
  hsa_signal_value_t value = signal_of(signal)->value;
  pthread_mutex_unlock(&mutex);
  return value;
}

EXPORT void hsa_signal_store_screlease(hsa_signal_t signal, hsa_signal_value_t value) { exchange(signal, value); }

EXPORT hsa_signal_value_t hsa_signal_exchange_scacq_screl(hsa_signal_t signal, hsa_signal_value_t value) {
  return exchange(signal, value);
}

// Ticks are nanoseconds. False when they are over.
static bool sleep_until_change(uint64_t ticks) {
  if (ticks >= UINT64_C(1000000000)) return pthread_cond_wait(&changed, &mutex) == 0;
  struct timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_nsec += (long)ticks;
  deadline.tv_sec += deadline.tv_nsec / 1000000000;
  deadline.tv_nsec %= 1000000000;
  return pthread_cond_timedwait(&changed, &mutex, &deadline) == 0;
}

EXPORT hsa_signal_value_t hsa_signal_wait_scacquire(hsa_signal_t signal, hsa_signal_condition_t condition,
                                                    hsa_signal_value_t compare_value, uint64_t timeout_hint,
                                                    hsa_wait_state_t wait_state_hint) {
  const signal_t* waited = signal_of(signal);
  bool returns_early = fails(__func__);  // as it may at any time
  pthread_mutex_lock(&mutex);
  while (!returns_early && (condition == HSA_SIGNAL_CONDITION_LT   ? waited->value >= compare_value
                            : condition == HSA_SIGNAL_CONDITION_EQ ? waited->value != compare_value
                                                                   : waited->value == compare_value)) {
    if (!sleep_until_change(timeout_hint)) break;
  }
  hsa_signal_value_t value = waited->value;
  pthread_mutex_unlock(&mutex);
  return value;
}

//===----------------------------------------------------------------------------------------------------------------===
// Queues
//===----------------------------------------------------------------------------------------------------------------===

typedef struct queue_t {
  hsa_queue_t base;
  hsa_agent_t agent;
  hsa_queue_error_fn_t callback;
  void* data;
  uint64_t read_index;
  bool is_closing;
  bool is_joined;
  pthread_t thread;
} queue_t;

typedef enum { PACKET_ENDED, PACKET_WAITS, PACKET_FAULT } packet_t;

// A wait for the memory of a signal, as commands.
static packet_t end_memory_wait(const hsa_amd_pm4_ib_packet_t* packet) {
  const uint32_t* words = (const uint32_t*)(uintptr_t)(packet->jump[1] | (uint64_t)packet->jump[2] << 32);
  const signal_t* signal = (const signal_t*)(uintptr_t)(words[2] | (uint64_t)words[3] << 32);
  bool is_known = packet->jump[0] == 0xC0023F00 && words[0] == 0xC0079300 && words[1] == 0x11 &&
                  words[6] == UINT32_MAX && words[7] == UINT32_MAX;
  if (!is_known) return PACKET_FAULT;
  const signal_t* whole = (const signal_t*)((const char*)signal - offsetof(signal_t, value));
  return (uint64_t)whole->value < (words[4] | (uint64_t)words[5] << 32) ? PACKET_ENDED : PACKET_WAITS;
}

static packet_t end_barrier(const hsa_amd_barrier_value_packet_t* barrier) {
  packet_t result = PACKET_FAULT;
  if (barrier->amd_format == HSA_AMD_PACKET_TYPE_PM4_IB) {
    result = end_memory_wait((const hsa_amd_pm4_ib_packet_t*)barrier);
  } else if (barrier->amd_format == HSA_AMD_PACKET_TYPE_BARRIER_VALUE &&
             barrier->condition == HSA_SIGNAL_CONDITION_LT && barrier->mask == -1) {
    result = signal_of(barrier->signal)->value < barrier->value ? PACKET_ENDED : PACKET_WAITS;
  }
  if (result == PACKET_ENDED) ++fake_hsa.barrier_count;
  return result;
}

// `mutex` is held.
static packet_t end_packet(hsa_kernel_dispatch_packet_t* packet) {
  int type = packet->header & 0xFF;
  if (__atomic_load_n(&fake_hsa.is_held, __ATOMIC_SEQ_CST)) return PACKET_WAITS;
  if (type == HSA_PACKET_TYPE_VENDOR_SPECIFIC) {
    packet_t result = end_barrier((const hsa_amd_barrier_value_packet_t*)packet);
    if (result != PACKET_ENDED) return result;
  } else if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH && fake_hsa.fault_code) {
    return PACKET_FAULT;
  }
  fake_hsa.last_header = packet->header;
  packet->header = HSA_PACKET_TYPE_INVALID;
  if (packet->completion_signal.handle) --signal_of(packet->completion_signal)->value;
  pthread_cond_broadcast(&changed);
  return PACKET_ENDED;
}

static void* queue_main(void* arg) {
  queue_t* queue = (queue_t*)arg;
  const signal_t* doorbell = signal_of(queue->base.doorbell_signal);
  hsa_kernel_dispatch_packet_t* packets = (hsa_kernel_dispatch_packet_t*)queue->base.base_address;
  pthread_mutex_lock(&mutex);
  while (!queue->is_closing) {
    if (doorbell->value < (hsa_signal_value_t)queue->read_index) {
      pthread_cond_wait(&changed, &mutex);
      continue;
    }
    packet_t result = end_packet(&packets[queue->read_index & (queue->base.size - 1)]);
    if (result == PACKET_ENDED) __atomic_fetch_add(&queue->read_index, 1, __ATOMIC_RELAXED);
    if (result == PACKET_WAITS) sleep_until_change(1000000);  // the tests change fake_hsa without telling
    if (result != PACKET_FAULT) continue;
    hsa_status_t code = fake_hsa.fault_code ? fake_hsa.fault_code : HSA_STATUS_ERROR;
    fake_hsa.fault_code = HSA_STATUS_SUCCESS;
    uint64_t address = fake_hsa.fault_address;
    fake_hsa.fault_address = 0;
    pthread_mutex_unlock(&mutex);
    if (address && fake_hsa.event_handler) {
      hsa_amd_event_t event = {HSA_AMD_GPU_MEMORY_FAULT_EVENT,
                               {.memory_fault = {queue->agent, address, HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT}}};
      fake_hsa.event_handler(&event, NULL);
    }
    queue->callback(code, &queue->base, queue->data);
    return NULL;
  }
  pthread_mutex_unlock(&mutex);
  return NULL;
}

EXPORT hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                     hsa_queue_error_fn_t callback, void* data, uint32_t private_segment_size,
                                     uint32_t group_segment_size, hsa_queue_t** out_queue) {
  FAIL_IF_TOLD();
  queue_t* queue = (queue_t*)calloc(1, sizeof(*queue));
  queue->base.type = type;
  queue->agent = fake_hsa.queue_agent = agent;
  queue->base.size = size;
  queue->base.base_address = aligned_alloc(64, size * 64);
  queue->base.doorbell_signal = make_signal(-1);
  queue->callback = callback;
  queue->data = data;
  pthread_create(&queue->thread, NULL, queue_main, queue);
  *out_queue = &queue->base;
  count_live(1);
  return HSA_STATUS_SUCCESS;
}

static void stop_queue(queue_t* queue) {
  pthread_mutex_lock(&mutex);
  queue->is_closing = true;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  if (!queue->is_joined) pthread_join(queue->thread, NULL);
  queue->is_joined = true;
}

EXPORT hsa_status_t hsa_queue_inactivate(hsa_queue_t* queue) {
  FAIL_IF_TOLD();
  stop_queue((queue_t*)queue);
  return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_queue_destroy(hsa_queue_t* base) {
  FAIL_IF_TOLD();
  queue_t* queue = (queue_t*)base;
  stop_queue(queue);
  free(signal_of(base->doorbell_signal));
  free(base->base_address);
  free(queue);
  count_live(-1);
  return HSA_STATUS_SUCCESS;
}

EXPORT uint64_t hsa_queue_load_read_index_relaxed(const hsa_queue_t* queue) {
  return __atomic_load_n(&((const queue_t*)queue)->read_index, __ATOMIC_RELAXED);
}

EXPORT void hsa_queue_store_write_index_relaxed(const hsa_queue_t* queue, uint64_t value) {}

//===----------------------------------------------------------------------------------------------------------------===
// Code
//===----------------------------------------------------------------------------------------------------------------===

EXPORT hsa_status_t hsa_code_object_reader_create_from_memory(const void* code_object, size_t size,
                                                              hsa_code_object_reader_t* out_reader) {
  FAIL_IF_TOLD();
  out_reader->handle = 1;
  count_live(1);
  return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t reader) {
  FAIL_IF_TOLD();
  count_live(-1);
  return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_executable_create_alt(hsa_profile_t profile, hsa_default_float_rounding_mode_t mode,
                                              const char* options, hsa_executable_t* out_executable) {
  FAIL_IF_TOLD();
  out_executable->handle = 1;
  count_live(1);
  return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_executable_destroy(hsa_executable_t executable) {
  FAIL_IF_TOLD();
  count_live(-1);
  return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t executable, hsa_agent_t agent,
                                                          hsa_code_object_reader_t reader, const char* options,
                                                          hsa_loaded_code_object_t* out_loaded) {
  FAIL_IF_TOLD();
  return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_executable_freeze(hsa_executable_t executable, const char* options) {
  FAIL_IF_TOLD();
  return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_executable_get_symbol_by_name(hsa_executable_t executable, const char* name,
                                                      const hsa_agent_t* agent, hsa_executable_symbol_t* out_symbol) {
  FAIL_IF_TOLD();
  out_symbol->handle = 1;
  return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t symbol,
                                                   hsa_executable_symbol_info_t attribute, void* out_value) {
  FAIL_IF_TOLD();
  if (attribute == HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT) {
    *(uint64_t*)out_value = 1;
  } else {
    *(uint32_t*)out_value = 0;
  }
  return HSA_STATUS_SUCCESS;
}
