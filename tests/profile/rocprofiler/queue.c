// Queues of HIP's as the library has them: what HIP writes goes to a queue of the GPU, with packets around each kernel
// that is counted. Functions have HSA's names, and are found before HSA's own by what is loaded after this library.
#include <dlfcn.h>
#include <hsa/amd_hsa_queue.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/profile/rocprofiler/double.h"

enum { PACKET = 64, ROOM = 8, MAX_NODES = 33 };

typedef struct proxy_t {
  amd_queue_t amd;    // first: what HIP holds points here
  hsa_queue_t* real;  // the GPU's
  uint32_t node;
  uint64_t next;  // the packet that HIP writes next, of those that were taken
  pthread_mutex_t lock;
  struct proxy_t* others;
} proxy_t;

// A kernel that is counted.
typedef struct job_t {
  const config_t* config;
  rocprofiler_dispatch_t dispatch;
  uint64_t user_data;
  aqlprofile_handle_t handle;
  hsa_signal_t done, before;  // of this and of the one before it, which it waits for
} job_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static proxy_t* proxies;
static uint64_t dispatch_count;
static bool is_first;          // before libhsa
static hsa_signal_t last_job;  // kernels that are counted run one after the other

// HSA's own.
static void* own(const char* name) {
  static void* library;
  if (!library) library = dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD);
  void* found = library ? dlsym(library, name) : NULL;
  if (found) return found;
  fprintf(stderr, "rocprofiler for tests: libhsa-runtime64.so.1 has no %s\n", name);
  abort();
}
#define OWN(name) ((__typeof__(&name))own(#name))

bool queue_intercept(void) {
  Dl_info self;
  void* hsa = dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD);
  is_first = !hsa && dladdr((void*)queue_intercept, &self) &&
             dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL) != NULL;
  return is_first;
}

bool queue_is_ready(void) { return is_first && dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD); }

static proxy_t* proxy_of(const hsa_queue_t* queue) {
  pthread_mutex_lock(&lock);
  proxy_t* proxy = proxies;
  while (proxy && &proxy->amd.hsa_queue != queue) proxy = proxy->others;
  pthread_mutex_unlock(&lock);
  return proxy;
}

static proxy_t* proxy_of_doorbell(hsa_signal_t doorbell) {
  pthread_mutex_lock(&lock);
  proxy_t* proxy = proxies;
  while (proxy && proxy->amd.hsa_queue.doorbell_signal.handle != doorbell.handle) proxy = proxy->others;
  pthread_mutex_unlock(&lock);
  return proxy;
}

//===----------------------------------------------------------------------------------------------------------------===
// Packets
//===----------------------------------------------------------------------------------------------------------------===

static uint32_t header(uint32_t type, uint32_t format) {
  return type << HSA_PACKET_HEADER_TYPE | 1u << HSA_PACKET_HEADER_BARRIER |
         (uint32_t)HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
         (uint32_t)HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE | format << 16;
}

// One user at a time.
static void submit(hsa_queue_t* queue, const void* packet) {
  uint32_t first;
  uint64_t index = OWN(hsa_queue_load_write_index_relaxed)(queue);
  while (index - OWN(hsa_queue_load_read_index_scacquire)(queue) >= queue->size) usleep(10);
  char* slot = (char*)queue->base_address + index % queue->size * PACKET;
  memcpy(&first, packet, sizeof(first));
  memcpy(slot + sizeof(first), (const char*)packet + sizeof(first), PACKET - sizeof(first));
  OWN(hsa_queue_store_write_index_relaxed)(queue, index + 1);
  __atomic_store_n((uint32_t*)slot, first, __ATOMIC_RELEASE);
  OWN(hsa_signal_store_screlease)(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static void submit_vendor(hsa_queue_t* queue, aqlprofile_packet_t packet, hsa_signal_t completion) {
  uint32_t first = header(HSA_PACKET_TYPE_VENDOR_SPECIFIC, packet.format);
  memcpy(&packet, &first, sizeof(first));
  packet.completion_signal = completion;
  submit(queue, &packet);
}

static void submit_wait(hsa_queue_t* queue, hsa_signal_t signal) {
  hsa_barrier_and_packet_t packet = {.dep_signal = {signal}};
  uint32_t first = header(HSA_PACKET_TYPE_BARRIER_AND, 0);
  memcpy(&packet, &first, sizeof(first));
  submit(queue, &packet);
}

static hsa_status_t allocate(void** out, uint64_t size, aqlprofile_buffer_desc_flags_t flags, void* data) {
  *out = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
  return *out ? OWN(hsa_memory_register)(*out, size) : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

static void release(void* memory, void* data) {
  OWN(hsa_memory_deregister)(memory, 0);
  free(memory);
}

static hsa_status_t copy(void* to, const void* from, size_t size, void* data) {
  memcpy(to, from, size);
  return HSA_STATUS_SUCCESS;
}

static bool make_packets(const config_t* config, aqlprofile_handle_t* out_handle,
                         aqlprofile_pmc_aql_packets_t* out_packets) {
  const aqlprofile_pmc_profile_t profile = {config->agent, config->events, config->count};
  return aqlprofile_pmc_create_packets(out_handle, out_packets, profile, allocate, release, copy, NULL) ==
         HSA_STATUS_SUCCESS;
}

typedef struct values_t {
  uint32_t count;
  uint64_t* values;
} values_t;

static hsa_status_t take_value(aqlprofile_pmc_event_t event, uint64_t id, uint64_t value, void* data) {
  values_t* values = data;
  values->values[values->count++] = value;
  return HSA_STATUS_SUCCESS;
}

static void read_values(aqlprofile_handle_t handle, uint64_t values[MAX_EVENTS]) {
  values_t reading = {0, values};
  aqlprofile_pmc_iterate_data(handle, take_value, &reading);
}

//===----------------------------------------------------------------------------------------------------------------===
// Kernels
//===----------------------------------------------------------------------------------------------------------------===

// On HSA's thread; what it runs behind has been seen by all who wait for it.
static bool finish(hsa_signal_value_t value, void* data) {
  job_t* job = data;
  uint64_t values[MAX_EVENTS] = {0};
  read_values(job->handle, values);
  aqlprofile_pmc_delete_packets(job->handle);
  client_tell(job->config, &job->dispatch, values, job->user_data);
  if (job->before.handle) OWN(hsa_signal_destroy)(job->before);
  free(job);
  return false;
}

static void submit_counted(hsa_queue_t* queue, job_t* job, hsa_kernel_dispatch_packet_t kernel) {
  aqlprofile_pmc_aql_packets_t packets;
  const hsa_signal_t none = {0};
  if (!make_packets(job->config, &job->handle, &packets)) abort();
  OWN(hsa_signal_create)(1, 0, NULL, &job->done);
  pthread_mutex_lock(&lock);
  job->before = last_job;
  last_job = job->done;
  pthread_mutex_unlock(&lock);
  OWN(hsa_amd_signal_async_handler)(job->done, HSA_SIGNAL_CONDITION_LT, 1, finish, job);
  if (job->before.handle) submit_wait(queue, job->before);
  submit_vendor(queue, packets.start_packet, none);
  kernel.header |= 1u << HSA_PACKET_HEADER_BARRIER;
  submit(queue, &kernel);
  submit_vendor(queue, packets.read_packet, none);
  submit_vendor(queue, packets.stop_packet, job->done);
}

static void take_kernel(proxy_t* proxy, const hsa_kernel_dispatch_packet_t* kernel) {
  job_t* job = calloc(1, sizeof(*job));
  job->dispatch.info.queue.handle = proxy->amd.hsa_queue.id;
  job->dispatch.info.kernel = kernel->kernel_object;
  job->dispatch.info.dispatch = __atomic_add_fetch(&dispatch_count, 1, __ATOMIC_RELAXED);
  job->dispatch.info.private_size = kernel->private_segment_size;
  job->dispatch.info.group_size = kernel->group_segment_size;
  const uint32_t grid[] = {kernel->grid_size_x, kernel->grid_size_y, kernel->grid_size_z};
  const uint32_t group[] = {kernel->workgroup_size_x, kernel->workgroup_size_y, kernel->workgroup_size_z};
  memcpy(job->dispatch.info.grid_size, grid, sizeof(grid));
  memcpy(job->dispatch.info.workgroup_size, group, sizeof(group));
  job->config = client_ask(proxy->node, &job->dispatch, &job->user_data);
  if (job->config) {
    submit_counted(proxy->real, job, *kernel);
  } else {
    submit(proxy->real, kernel);
    free(job);
  }
}

// HIP rang: what it wrote goes on.
static void ring(proxy_t* proxy) {
  hsa_queue_t* queue = &proxy->amd.hsa_queue;
  pthread_mutex_lock(&proxy->lock);
  for (;;) {
    uint16_t* slot = (uint16_t*)((char*)queue->base_address + proxy->next % queue->size * PACKET);
    uint8_t packet[PACKET];
    uint32_t type = __atomic_load_n(slot, __ATOMIC_ACQUIRE) & 0xff;
    if (type == HSA_PACKET_TYPE_INVALID) break;
    memcpy(packet, slot, sizeof(packet));
    if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH) {
      take_kernel(proxy, (const hsa_kernel_dispatch_packet_t*)packet);
    } else {
      submit(proxy->real, packet);
    }
    __atomic_store_n(slot, HSA_PACKET_TYPE_INVALID, __ATOMIC_RELEASE);
    __atomic_store_n(&proxy->amd.read_dispatch_id, ++proxy->next, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&proxy->lock);
}

//===----------------------------------------------------------------------------------------------------------------===
// Devices
//===----------------------------------------------------------------------------------------------------------------===

static struct {
  hsa_queue_t* queue;
  hsa_signal_t done;
  aqlprofile_handle_t handle;
  aqlprofile_pmc_aql_packets_t packets;
} devices[MAX_NODES];

typedef struct search_t {
  uint32_t node;
  hsa_agent_t agent;
} search_t;

static hsa_status_t find_agent(hsa_agent_t agent, void* data) {
  search_t* search = data;
  uint32_t node = 0;
  OWN(hsa_agent_get_info)(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, &node);
  if (node == search->node) search->agent = agent;
  return HSA_STATUS_SUCCESS;
}

static void run(uint32_t node, aqlprofile_packet_t packet) {
  OWN(hsa_signal_store_screlease)(devices[node].done, 1);
  submit_vendor(devices[node].queue, packet, devices[node].done);
  OWN(hsa_signal_wait_scacquire)(devices[node].done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
}

bool queue_start_device(const config_t* config) {
  search_t search = {.node = config->node};
  uint32_t node = config->node;
  OWN(hsa_iterate_agents)(find_agent, &search);
  if (!devices[node].queue) {
    OWN(hsa_signal_create)(1, 0, NULL, &devices[node].done);
    OWN(hsa_queue_create)(search.agent, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX,
                          &devices[node].queue);
  }
  if (!devices[node].queue || !make_packets(config, &devices[node].handle, &devices[node].packets)) return false;
  run(node, devices[node].packets.start_packet);
  return true;
}

void queue_read_device(uint32_t node, uint64_t values[MAX_EVENTS]) {
  run(node, devices[node].packets.read_packet);
  read_values(devices[node].handle, values);
}

void queue_stop_device(uint32_t node) {
  run(node, devices[node].packets.stop_packet);
  aqlprofile_pmc_delete_packets(devices[node].handle);
}

//===----------------------------------------------------------------------------------------------------------------===
// What HIP calls
//===----------------------------------------------------------------------------------------------------------------===

hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                              void (*callback)(hsa_status_t status, hsa_queue_t* source, void* data), void* data,
                              uint32_t private_size, uint32_t group_size, hsa_queue_t** out) {
  hsa_queue_t* real = NULL;
  hsa_status_t status =
      OWN(hsa_queue_create)(agent, size * ROOM, type, callback, data, private_size, group_size, &real);
  if (status != HSA_STATUS_SUCCESS) return status;
  proxy_t* proxy = aligned_alloc(64, (sizeof(*proxy) + 63) / 64 * 64);
  memset(proxy, 0, sizeof(*proxy));
  hsa_queue_t* queue = &proxy->amd.hsa_queue;
  proxy->amd = *(const amd_queue_t*)real;
  proxy->real = real;
  proxy->amd.read_dispatch_id = proxy->amd.write_dispatch_id = 0;
  pthread_mutex_init(&proxy->lock, NULL);
  OWN(hsa_agent_get_info)(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, &proxy->node);
  queue->size = size;
  queue->base_address = aligned_alloc(4096, (size_t)size * PACKET);
  for (uint32_t i = 0; i < size; ++i) {
    *(uint16_t*)((char*)queue->base_address + i * PACKET) = HSA_PACKET_TYPE_INVALID;
  }
  OWN(hsa_signal_create)(0, 0, NULL, &queue->doorbell_signal);
  pthread_mutex_lock(&lock);
  proxy->others = proxies;
  proxies = proxy;
  pthread_mutex_unlock(&lock);
  *out = queue;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_queue_destroy(hsa_queue_t* queue) {
  proxy_t* proxy = proxy_of(queue);
  if (!proxy) return OWN(hsa_queue_destroy)(queue);
  pthread_mutex_lock(&lock);
  proxy_t** at = &proxies;
  while (*at != proxy) at = &(*at)->others;
  *at = proxy->others;
  pthread_mutex_unlock(&lock);
  hsa_status_t status = OWN(hsa_queue_destroy)(proxy->real);
  OWN(hsa_signal_destroy)(queue->doorbell_signal);
  free(queue->base_address);
  free(proxy);
  return status;
}

#define INDEX(name, field)                                                                  \
  uint64_t name(const hsa_queue_t* queue) {                                                 \
    proxy_t* proxy = proxy_of(queue);                                                       \
    return proxy ? __atomic_load_n(&proxy->amd.field, __ATOMIC_ACQUIRE) : OWN(name)(queue); \
  }
INDEX(hsa_queue_load_read_index_relaxed, read_dispatch_id)
INDEX(hsa_queue_load_read_index_scacquire, read_dispatch_id)
INDEX(hsa_queue_load_write_index_relaxed, write_dispatch_id)
INDEX(hsa_queue_load_write_index_scacquire, write_dispatch_id)

#define ADD(name)                                                                      \
  uint64_t name(const hsa_queue_t* queue, uint64_t value) {                            \
    proxy_t* proxy = proxy_of(queue);                                                  \
    if (!proxy) return OWN(name)(queue, value);                                        \
    return __atomic_fetch_add(&proxy->amd.write_dispatch_id, value, __ATOMIC_ACQ_REL); \
  }
ADD(hsa_queue_add_write_index_relaxed)
ADD(hsa_queue_add_write_index_screlease)
ADD(hsa_queue_add_write_index_scacq_screl)

#define STORE(name)                                          \
  void name(hsa_signal_t signal, hsa_signal_value_t value) { \
    proxy_t* proxy = proxy_of_doorbell(signal);              \
    if (proxy) {                                             \
      ring(proxy);                                           \
    } else {                                                 \
      OWN(name)(signal, value);                              \
    }                                                        \
  }
STORE(hsa_signal_store_relaxed)
STORE(hsa_signal_store_screlease)

static hsa_queue_t* real_of(const hsa_queue_t* queue) {
  proxy_t* proxy = proxy_of(queue);
  return proxy ? proxy->real : (hsa_queue_t*)(uintptr_t)queue;
}

hsa_status_t hsa_amd_profiling_set_profiler_enabled(hsa_queue_t* queue, int enable) {
  return OWN(hsa_amd_profiling_set_profiler_enabled)(real_of(queue), enable);
}

hsa_status_t hsa_amd_queue_set_priority(hsa_queue_t* queue, hsa_amd_queue_priority_t priority) {
  return OWN(hsa_amd_queue_set_priority)(real_of(queue), priority);
}

hsa_status_t hsa_amd_queue_cu_set_mask(const hsa_queue_t* queue, uint32_t bits, const uint32_t* mask) {
  return OWN(hsa_amd_queue_cu_set_mask)(real_of(queue), bits, mask);
}
