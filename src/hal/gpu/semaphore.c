// Semaphores: the timeline on the host, and which queue's work will move it last. Waits of that same queue need no
// timepoint, those of other queues of the device may need none. A thread that waits looks for the work's end itself,
// and ends operations, where the backend can: to be woken by another thread takes longer than many a kernel.
#include <sched.h>

#include "hal/detail.h"
#include "hal/gpu/device.h"
#include "hal/gpu/queue.h"

// How long a thread looks before it sleeps. A sleeper is woken 50 to 100 us late, which is half of many a call: who has
// processors to spare looks for longer (and lets others run meanwhile, as backends' polls do), as long as the queue's
// last wait was over by then. Where work takes longer, that is no loss, and looking would only cost a processor.
#define SPIN_NS 100000
#define SPARE_SPIN_NS 5000000
#define SPARE_PROCESSORS 4

typedef struct gpu_semaphore_t {
  iree_hal_semaphore_t base;
  iree_allocator_t host_allocator;
  gpu_gate_t* gate;
  bool is_helped;     // by who waits; else the completion threads see to all ends
  uint64_t local_to;  // bits of the physical devices that see it; 0: everybody does
  // Work that was issued to a queue signals this value. Odd while it is written, by one thread; who reads it looks
  // whether it is even and the same before and after.
  iree_atomic_uint64_t version;
  iree_atomic_uint64_t queue_id, epoch, value;
  iree_atomic_uint32_t fails_late;
  gpu_gate_t* far_gate;  // of the producer's device, where that is another one; looked at while `version` is odd
} gpu_semaphore_t;

static void semaphore_destroy(iree_hal_semaphore_t* base) {
  iree_hal_semaphore_deinitialize(base);
  gpu_gate_release(((gpu_semaphore_t*)base)->gate);
  gpu_gate_release(((gpu_semaphore_t*)base)->far_gate);
  iree_allocator_free(((gpu_semaphore_t*)base)->host_allocator, base);
}

// The longest that anybody looks.
static iree_time_t most_spin_ns(void) {
  static iree_atomic_int64_t known = IREE_ATOMIC_VAR_INIT(0);  // the same whoever finds it
  iree_time_t duration = iree_atomic_load(&known, iree_memory_order_relaxed);
  if (duration) return duration;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof(allowed), &allowed);
  duration = CPU_COUNT(&allowed) >= SPARE_PROCESSORS ? SPARE_SPIN_NS : SPIN_NS;
  iree_atomic_store(&known, duration, iree_memory_order_relaxed);
  return duration;
}

// The queue whose work reaches the value, and its device, which stays until `leave_queue`. False when none is known.
static bool enter_queue(iree_hal_semaphore_t* base, uint64_t value, gpu_far_producer_t* out_far,
                        gpu_queue_t** out_queue) {
  bool is_helped = ((gpu_semaphore_t*)base)->is_helped;
  if (!is_helped || !gpu_semaphore_find_far_producer(base, value, out_far)) return false;
  *out_queue = gpu_far_producer_enter(out_far);
  if (*out_queue) return true;
  gpu_gate_release(out_far->gate);
  return false;
}

static void leave_queue(const gpu_far_producer_t* far) {
  gpu_gate_leave(far->gate);
  gpu_gate_release(far->gate);
}

// Helps with the queue's ends, and notes how long that took: longer than anybody looks when it was not over then.
static void help(gpu_queue_t* queue, uint64_t epoch, iree_time_t deadline_ns, iree_async_wait_flags_t flags) {
  iree_time_t begin = iree_time_now(), most = most_spin_ns();
  bool looks_longer = iree_atomic_load(&queue->last_wait_ns, iree_memory_order_relaxed) <= most;
  iree_time_t spin_until = flags & IREE_ASYNC_WAIT_FLAG_YIELD ? IREE_TIME_INFINITE_PAST
                           : flags & IREE_ASYNC_WAIT_FLAG_ACTIVE
                               ? deadline_ns
                               : iree_min(begin + (looks_longer ? most : SPIN_NS), deadline_ns);
  gpu_queue_help(queue, epoch, spin_until, deadline_ns == IREE_TIME_INFINITE_FUTURE);
  iree_time_t waited = gpu_queue_has_ended(queue, epoch) ? iree_time_now() - begin : most + 1;
  iree_atomic_store(&queue->last_wait_ns, waited, iree_memory_order_relaxed);
}

static iree_status_t semaphore_wait(iree_hal_semaphore_t* base, uint64_t value, iree_time_t deadline_ns,
                                    iree_async_wait_flags_t flags) {
  gpu_far_producer_t far;
  gpu_queue_t* queue = NULL;
  if (enter_queue(base, value, &far, &queue)) {
    help(queue, far.producer.epoch, deadline_ns, flags);
    leave_queue(&far);
  }
  return iree_hal_semaphore_wait_default(base, value, deadline_ns, flags);
}

static void semaphore_watched(iree_hal_semaphore_t* base, uint64_t value) {
  gpu_far_producer_t far;
  gpu_queue_t* queue = NULL;
  if (!enter_queue(base, value, &far, &queue)) return;
  gpu_queue_want(queue, far.producer.epoch);
  leave_queue(&far);
}

// Errors: UNAVAILABLE where the device has no such events, or is gone.
static iree_status_t enter_for_events(iree_hal_semaphore_t* base, iree_hal_external_timepoint_type_t type,
                                      gpu_device_t** out_device) {
  gpu_gate_t* gate = ((gpu_semaphore_t*)base)->gate;
  *out_device = gpu_gate_enter(gate);
  if (*out_device && (*out_device)->backend->import_event) return iree_ok_status();
  if (*out_device) gpu_gate_leave(gate);
  *out_device = NULL;
  return hal_timepoint_refuse(type);
}

static iree_status_t semaphore_import(iree_hal_semaphore_t* base, uint64_t value, iree_hal_queue_affinity_t affinity,
                                      iree_hal_external_timepoint_t timepoint) {
  gpu_device_t* device = NULL;
  IREE_RETURN_IF_ERROR(enter_for_events(base, timepoint.type, &device));
  iree_status_t status = device->backend->import_event(device, base, value, affinity, &timepoint);
  gpu_gate_leave(((gpu_semaphore_t*)base)->gate);
  return status;
}

static iree_status_t semaphore_export(iree_hal_semaphore_t* base, uint64_t value, iree_hal_queue_affinity_t affinity,
                                      iree_hal_external_timepoint_type_t type,
                                      iree_hal_external_timepoint_flags_t flags,
                                      iree_hal_external_timepoint_t* out_timepoint) {
  gpu_device_t* device = NULL;
  IREE_RETURN_IF_ERROR(enter_for_events(base, type, &device));
  iree_status_t status = device->backend->export_event(device, base, value, affinity, out_timepoint);
  gpu_gate_leave(((gpu_semaphore_t*)base)->gate);
  return status;
}

static const iree_hal_semaphore_vtable_t semaphore_vtable = {
    .destroy = semaphore_destroy,
    .wait = semaphore_wait,
    .watched = semaphore_watched,
    .import_timepoint = semaphore_import,
    .export_timepoint = semaphore_export,
};

// What only work of GPUs signals and waits for need not be seen by others.
static uint64_t choose_local(gpu_domain_t domain, iree_hal_queue_affinity_t affinity,
                             iree_hal_semaphore_flags_t flags) {
  const iree_hal_semaphore_flags_t shared = IREE_HAL_SEMAPHORE_FLAG_HOST_INTERRUPT |
                                            IREE_HAL_SEMAPHORE_FLAG_EXPORTABLE |
                                            IREE_HAL_SEMAPHORE_FLAG_EXPORTABLE_TIMEPOINTS;
  if (!(flags & IREE_HAL_SEMAPHORE_FLAG_DEVICE_LOCAL) || flags & shared) return 0;
  uint64_t bits = 0;
  affinity &= gpu_domain_all(domain);
  for (uint32_t bit = 0; bit < domain.physical_count * domain.queue_count; ++bit) {
    if (affinity >> bit & 1) bits |= 1ull << gpu_domain_physical(domain, bit);
  }
  return bits;
}

iree_status_t gpu_device_create_semaphore(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                                          uint64_t initial_value, iree_hal_semaphore_flags_t flags,
                                          iree_hal_semaphore_t** out_semaphore) {
  const gpu_device_t* device = (const gpu_device_t*)base;
  iree_allocator_t host_allocator = device->base.host_allocator;
  *out_semaphore = NULL;
  gpu_semaphore_t* semaphore = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*semaphore), (void**)&semaphore));
  iree_hal_semaphore_initialize(&semaphore_vtable, initial_value, &semaphore->base);
  semaphore->host_allocator = host_allocator;
  semaphore->gate = gpu_gate_retain(device->gate);
  semaphore->is_helped = device->backend->poll != NULL;
  semaphore->local_to = choose_local(device->domain, queue_affinity, flags);
  *out_semaphore = &semaphore->base;
  return iree_ok_status();
}

bool gpu_semaphore_is_local(iree_hal_semaphore_t* base, uint32_t physical) {
  return iree_hal_resource_is(base, &semaphore_vtable) && ((gpu_semaphore_t*)base)->local_to == 1ull << physical;
}

static uint64_t lock_producer(gpu_semaphore_t* semaphore) {
  for (;;) {
    uint64_t version = iree_atomic_load(&semaphore->version, iree_memory_order_relaxed);
    if (!(version & 1) && iree_atomic_compare_exchange_weak(&semaphore->version, &version, version + 1,
                                                            iree_memory_order_acquire, iree_memory_order_relaxed)) {
      return version;
    }
    iree_processor_yield();  // two queues signal it
  }
}

// Returns the one before, which is the caller's to release, NULL when nothing has changed.
static gpu_gate_t* exchange_far_gate(gpu_semaphore_t* semaphore, gpu_gate_t* gate) {
  gpu_gate_t* before = semaphore->far_gate;
  if (before == gate) return NULL;
  semaphore->far_gate = gate ? gpu_gate_retain(gate) : NULL;
  return before;
}

// Whether that queue has promised a later value already, which stays until it is issued. `version` is odd.
static bool promises_more(gpu_semaphore_t* semaphore, gpu_producer_t producer, uint64_t value) {
  return iree_atomic_load(&semaphore->epoch, iree_memory_order_relaxed) == GPU_EPOCH_PROMISED &&
         iree_atomic_load(&semaphore->queue_id, iree_memory_order_relaxed) == producer.queue_id &&
         iree_atomic_load(&semaphore->value, iree_memory_order_relaxed) > value;
}

// Values of one queue only grow in its order; those of another queue replace them. Who begins to wait counts itself
// before it looks for a producer.
bool gpu_semaphore_set_producer(iree_hal_semaphore_t* base, gpu_device_t* device, gpu_producer_t producer,
                                uint64_t value, bool fails_late) {
  if (!iree_hal_resource_is(base, &semaphore_vtable)) return true;
  gpu_semaphore_t* semaphore = (gpu_semaphore_t*)base;
  if (fails_late) iree_atomic_store(&semaphore->fails_late, 1u, iree_memory_order_relaxed);
  uint64_t version = lock_producer(semaphore);
  gpu_gate_t* dropped = exchange_far_gate(semaphore, device->gate == semaphore->gate ? NULL : device->gate);
  if (!promises_more(semaphore, producer, value)) {
    iree_atomic_store(&semaphore->queue_id, producer.queue_id, iree_memory_order_release);
    iree_atomic_store(&semaphore->epoch, producer.epoch, iree_memory_order_release);
    iree_atomic_store(&semaphore->value, value, iree_memory_order_release);
  }
  iree_atomic_exchange(&semaphore->version, version + 2, iree_memory_order_seq_cst);
  gpu_gate_release(dropped);
  return iree_atomic_load(&base->waiters, iree_memory_order_seq_cst) != 0;
}

// Returns the value that it reaches.
static uint64_t read_producer(gpu_semaphore_t* semaphore, gpu_producer_t* out_producer) {
  out_producer->queue_id = iree_atomic_load(&semaphore->queue_id, iree_memory_order_acquire);
  out_producer->epoch = iree_atomic_load(&semaphore->epoch, iree_memory_order_acquire);
  return iree_atomic_load(&semaphore->value, iree_memory_order_acquire);
}

static bool has_failed(iree_hal_semaphore_t* base) {
  return iree_atomic_load(&base->value, iree_memory_order_acquire) == IREE_HAL_SEMAPHORE_FAILURE_VALUE;
}

// The last one, where it reaches the value.
static bool look_up(iree_hal_semaphore_t* base, uint64_t value, gpu_producer_t* out_producer) {
  *out_producer = (gpu_producer_t){0};
  if (!iree_hal_resource_is(base, &semaphore_vtable)) return false;
  gpu_semaphore_t* semaphore = (gpu_semaphore_t*)base;
  uint64_t version = 0, produced = 0;
  do {
    version = iree_atomic_load(&semaphore->version, iree_memory_order_seq_cst);
    produced = read_producer(semaphore, out_producer);
  } while (version & 1 || iree_atomic_load(&semaphore->version, iree_memory_order_relaxed) != version);
  return produced >= value && !has_failed(base);
}

bool gpu_semaphore_find_producer(iree_hal_semaphore_t* base, uint64_t value, gpu_producer_t* out_producer) {
  return look_up(base, value, out_producer) && out_producer->epoch != GPU_EPOCH_PROMISED;
}

bool gpu_semaphore_is_promised(iree_hal_semaphore_t* base, uint64_t value, uint64_t queue_id) {
  gpu_producer_t producer;
  return look_up(base, value, &producer) && producer.queue_id == queue_id;
}

bool gpu_semaphore_find_far_producer(iree_hal_semaphore_t* base, uint64_t value, gpu_far_producer_t* out_far) {
  *out_far = (gpu_far_producer_t){0};
  if (!iree_hal_resource_is(base, &semaphore_vtable)) return false;
  gpu_semaphore_t* semaphore = (gpu_semaphore_t*)base;
  uint64_t version = lock_producer(semaphore);
  gpu_gate_t* gate = semaphore->far_gate ? semaphore->far_gate : semaphore->gate;
  bool is_found = read_producer(semaphore, &out_far->producer) >= value && !has_failed(base) &&
                  out_far->producer.epoch != GPU_EPOCH_PROMISED;
  if (is_found) out_far->gate = gpu_gate_retain(gate);
  iree_atomic_store(&semaphore->version, version + 2, iree_memory_order_release);
  return is_found;
}

bool gpu_semaphore_fails_late(iree_hal_semaphore_t* base) {
  return iree_hal_resource_is(base, &semaphore_vtable) &&
         iree_atomic_load(&((gpu_semaphore_t*)base)->fails_late, iree_memory_order_relaxed);
}
