// Semaphores: the timeline on the host, and which queue's work will move it last. Waits of that same queue need no
// timepoint, those of other queues of the device may need none.
#include "hal/gpu/device.h"

typedef struct gpu_semaphore_t {
  iree_hal_semaphore_t base;
  iree_allocator_t host_allocator;
  uint64_t local_to;  // bits of the physical devices that see it; 0: everybody does
  // Work that was issued to a queue signals this value. Odd while it is written, by one thread; who reads it looks
  // whether it is even and the same before and after.
  iree_atomic_uint64_t version;
  iree_atomic_uint64_t queue_id, epoch, value;
} gpu_semaphore_t;

static void semaphore_destroy(iree_hal_semaphore_t* base) {
  iree_hal_semaphore_deinitialize(base);
  iree_allocator_free(((gpu_semaphore_t*)base)->host_allocator, base);
}

static const iree_hal_semaphore_vtable_t semaphore_vtable = {
    .destroy = semaphore_destroy,
    .wait = iree_hal_semaphore_wait_default,
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

// Values of one queue only grow in its order; those of another queue replace them.
void gpu_semaphore_set_producer(iree_hal_semaphore_t* base, gpu_producer_t producer, uint64_t value) {
  if (!iree_hal_resource_is(base, &semaphore_vtable)) return;
  gpu_semaphore_t* semaphore = (gpu_semaphore_t*)base;
  uint64_t version = lock_producer(semaphore);
  iree_atomic_store(&semaphore->queue_id, producer.queue_id, iree_memory_order_release);
  iree_atomic_store(&semaphore->epoch, producer.epoch, iree_memory_order_release);
  iree_atomic_store(&semaphore->value, value, iree_memory_order_release);
  iree_atomic_store(&semaphore->version, version + 2, iree_memory_order_release);
}

bool gpu_semaphore_find_producer(iree_hal_semaphore_t* base, uint64_t value, gpu_producer_t* out_producer) {
  *out_producer = (gpu_producer_t){0};
  if (!iree_hal_resource_is(base, &semaphore_vtable)) return false;
  gpu_semaphore_t* semaphore = (gpu_semaphore_t*)base;
  uint64_t version = 0, produced = 0;
  gpu_producer_t producer;
  do {
    version = iree_atomic_load(&semaphore->version, iree_memory_order_acquire);
    producer.queue_id = iree_atomic_load(&semaphore->queue_id, iree_memory_order_acquire);
    producer.epoch = iree_atomic_load(&semaphore->epoch, iree_memory_order_acquire);
    produced = iree_atomic_load(&semaphore->value, iree_memory_order_acquire);
  } while (version & 1 || iree_atomic_load(&semaphore->version, iree_memory_order_relaxed) != version);
  uint64_t now = iree_atomic_load(&base->value, iree_memory_order_acquire);
  if (produced < value || now == IREE_HAL_SEMAPHORE_FAILURE_VALUE) return false;
  *out_producer = producer;
  return true;
}
