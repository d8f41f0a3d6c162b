// Semaphores: the timeline on the host, and which queue's work will move it last. Waits of that same queue need no
// timepoint, those of other queues of the device may need none.
#include "hal/gpu/device.h"

typedef struct gpu_semaphore_t {
  iree_hal_semaphore_t base;
  iree_allocator_t host_allocator;
  uint64_t local_to;  // bits of the physical devices that see it; 0: everybody does
  // Guarded by base.mutex: work that was issued to a queue signals this value.
  gpu_producer_t producer;
  uint64_t producer_value;
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

// Values of one queue only grow in its order; those of another queue replace them.
void gpu_semaphore_set_producer(iree_hal_semaphore_t* base, gpu_producer_t producer, uint64_t value) {
  if (!iree_hal_resource_is(base, &semaphore_vtable)) return;
  gpu_semaphore_t* semaphore = (gpu_semaphore_t*)base;
  iree_slim_mutex_lock(&base->mutex);
  semaphore->producer = producer;
  semaphore->producer_value = value;
  iree_slim_mutex_unlock(&base->mutex);
}

bool gpu_semaphore_find_producer(iree_hal_semaphore_t* base, uint64_t value, gpu_producer_t* out_producer) {
  *out_producer = (gpu_producer_t){0};
  if (!iree_hal_resource_is(base, &semaphore_vtable)) return false;
  gpu_semaphore_t* semaphore = (gpu_semaphore_t*)base;
  iree_slim_mutex_lock(&base->mutex);
  bool is_produced = semaphore->producer_value >= value && iree_status_is_ok(base->failure);
  if (is_produced) *out_producer = semaphore->producer;
  iree_slim_mutex_unlock(&base->mutex);
  return is_produced;
}
