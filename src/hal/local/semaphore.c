// Semaphores of local devices: whoever waits helps the executor that is to signal.
#include "hal/local/device.h"

typedef struct local_semaphore_t {
  iree_hal_semaphore_t base;
  iree_allocator_t host_allocator;
  iree_task_executor_t* executor;  // NULL: nobody to help
} local_semaphore_t;

static void semaphore_destroy(iree_hal_semaphore_t* base) {
  local_semaphore_t* semaphore = (local_semaphore_t*)base;
  iree_task_executor_t* executor = semaphore->executor;
  iree_hal_semaphore_deinitialize(base);
  iree_allocator_free(semaphore->host_allocator, semaphore);
  iree_task_executor_release(executor);
}

typedef struct reached_t {
  iree_hal_semaphore_t* semaphore;
  uint64_t value;
} reached_t;

static bool is_reached(void* arg) {
  const reached_t* reached = (const reached_t*)arg;
  return iree_atomic_load(&reached->semaphore->value, iree_memory_order_seq_cst) >= reached->value;
}

static iree_status_t semaphore_wait(iree_hal_semaphore_t* base, uint64_t value, iree_time_t deadline_ns,
                                    iree_async_wait_flags_t flags) {
  local_semaphore_t* semaphore = (local_semaphore_t*)base;
  reached_t reached = {base, value};
  bool helped = false;
  if (semaphore->executor) executor_help(semaphore->executor, is_reached, &reached, deadline_ns, &helped);
  if (!helped) return iree_hal_semaphore_wait_default(base, value, deadline_ns, flags);
  return iree_hal_semaphore_wait(base, value, iree_immediate_timeout(), flags);
}

static void semaphore_changed(iree_hal_semaphore_t* base) {
  local_semaphore_t* semaphore = (local_semaphore_t*)base;
  if (semaphore->executor) executor_notify(semaphore->executor);
}

static const iree_hal_semaphore_vtable_t semaphore_vtable = {
    .destroy = semaphore_destroy,
    .wait = semaphore_wait,
    .changed = semaphore_changed,
};

iree_status_t local_semaphore_create(iree_task_executor_t* executor, uint64_t initial_value,
                                     iree_allocator_t host_allocator, iree_hal_semaphore_t** out_semaphore) {
  *out_semaphore = NULL;
  local_semaphore_t* semaphore = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*semaphore), (void**)&semaphore));
  iree_hal_semaphore_initialize(&semaphore_vtable, initial_value, &semaphore->base);
  semaphore->host_allocator = host_allocator;
  semaphore->executor = executor;
  iree_task_executor_retain(executor);
  *out_semaphore = &semaphore->base;
  return iree_ok_status();
}
