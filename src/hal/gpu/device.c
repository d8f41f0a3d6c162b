// Devices of GPUs: failure, the service thread, and queues by number.
#include "hal/gpu/device.h"

#include "hal/gpu/executable.h"
#include "hal/gpu/queue.h"

//===----------------------------------------------------------------------------------------------------------------===
// Failure
//===----------------------------------------------------------------------------------------------------------------===

void gpu_device_fail(gpu_device_t* device, iree_status_t status) {
  intptr_t expected = 0;
  if (!iree_atomic_compare_exchange_strong(&device->failure, &expected, (intptr_t)status, iree_memory_order_acq_rel,
                                           iree_memory_order_relaxed)) {
    iree_status_free(status);
  }
}

iree_status_t gpu_device_clone_failure(gpu_device_t* device) {
  return iree_status_clone((iree_status_t)iree_atomic_load(&device->failure, iree_memory_order_acquire));
}

//===----------------------------------------------------------------------------------------------------------------===
// The gate
//===----------------------------------------------------------------------------------------------------------------===

struct gpu_gate_t {
  iree_atomic_uint32_t references;
  iree_atomic_uint32_t visitors;
  iree_atomic_uint32_t is_closed;
  iree_allocator_t host_allocator;
  gpu_device_t* device;
};

static iree_status_t gate_create(gpu_device_t* device, gpu_gate_t** out_gate) {
  gpu_gate_t* gate = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(device->base.host_allocator, sizeof(*gate), (void**)&gate));
  iree_atomic_store(&gate->references, 1u, iree_memory_order_relaxed);
  gate->host_allocator = device->base.host_allocator;
  gate->device = device;
  *out_gate = gate;
  return iree_ok_status();
}

gpu_gate_t* gpu_gate_retain(gpu_gate_t* gate) {
  iree_atomic_fetch_add(&gate->references, 1, iree_memory_order_relaxed);
  return gate;
}

void gpu_gate_release(gpu_gate_t* gate) {
  if (!gate || iree_atomic_fetch_sub(&gate->references, 1, iree_memory_order_acq_rel) != 1) return;
  iree_allocator_free(gate->host_allocator, gate);
}

// A visitor counts itself before it looks whether the gate is closed; who closes it looks at the count afterwards.
gpu_device_t* gpu_gate_enter(gpu_gate_t* gate) {
  iree_atomic_fetch_add(&gate->visitors, 1, iree_memory_order_seq_cst);
  if (!iree_atomic_load(&gate->is_closed, iree_memory_order_seq_cst)) return gate->device;
  gpu_gate_leave(gate);
  return NULL;
}

void gpu_gate_leave(gpu_gate_t* gate) { iree_atomic_fetch_sub(&gate->visitors, 1, iree_memory_order_release); }

static void gate_close(gpu_gate_t* gate) {
  iree_atomic_store(&gate->is_closed, 1u, iree_memory_order_seq_cst);
  while (iree_atomic_load(&gate->visitors, iree_memory_order_seq_cst)) iree_thread_yield();
}

//===----------------------------------------------------------------------------------------------------------------===
// The service thread
//===----------------------------------------------------------------------------------------------------------------===

void gpu_device_push_host(gpu_device_t* device, gpu_operation_t* op) {
  iree_slim_mutex_lock(&device->base.mutex);
  op->base.next = NULL;
  if (device->host_tail) {
    device->host_tail->base.next = &op->base;
  } else {
    device->host_head = op;
  }
  device->host_tail = op;
  iree_slim_mutex_unlock(&device->base.mutex);
  iree_notification_post(&device->host_ready, 1);
}

static gpu_operation_t* pop_host(gpu_device_t* device, bool* out_is_closing) {
  iree_slim_mutex_lock(&device->base.mutex);
  gpu_operation_t* op = device->host_head;
  if (op) device->host_head = (gpu_operation_t*)op->base.next;
  if (!device->host_head) device->host_tail = NULL;
  *out_is_closing = device->is_closing;
  iree_slim_mutex_unlock(&device->base.mutex);
  return op;
}

static bool has_host_work(void* arg) {
  gpu_device_t* device = (gpu_device_t*)arg;
  iree_slim_mutex_lock(&device->base.mutex);
  bool result = device->host_head || device->is_closing;
  iree_slim_mutex_unlock(&device->base.mutex);
  return result;
}

static int service_main(void* arg) {
  gpu_device_t* device = (gpu_device_t*)arg;
  for (bool is_closing = false;;) {
    gpu_operation_t* op = pop_host(device, &is_closing);
    if (op) {
      gpu_operation_run_on_host(op);
    } else if (is_closing) {
      return 0;
    } else {
      iree_notification_await(&device->host_ready, has_host_work, device, iree_infinite_timeout());
    }
  }
}

static void stop_service(gpu_device_t* device) {
  if (!device->service) return;
  iree_slim_mutex_lock(&device->base.mutex);
  device->is_closing = true;
  iree_slim_mutex_unlock(&device->base.mutex);
  iree_notification_post(&device->host_ready, 1);
  iree_thread_release(device->service);
  device->service = NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Queues
//===----------------------------------------------------------------------------------------------------------------===

gpu_queue_t* gpu_device_find_queue(const gpu_device_t* device, uint64_t queue_id) {
  for (uint32_t i = 0; i < GPU_MAX_QUEUES && device->queues[i]; ++i) {
    if (device->queues[i]->id == queue_id) return device->queues[i];
  }
  return NULL;
}

gpu_queue_t* gpu_far_producer_enter(const gpu_far_producer_t* far) {
  gpu_device_t* device = gpu_gate_enter(far->gate);
  if (!device) return NULL;
  gpu_queue_t* queue = gpu_device_find_queue(device, far->producer.queue_id);
  if (!queue) gpu_gate_leave(far->gate);
  return queue;
}

bool gpu_device_is_over(void* user_data, hal_pool_point_t point) {
  gpu_queue_t* queue = gpu_device_find_queue((const gpu_device_t*)user_data, point.queue_id);
  return !queue || gpu_queue_has_ended(queue, point.epoch);
}

// Adds a pool of one kind of memory; none where the device has no such memory.
static iree_status_t add_pool(gpu_device_t* device, uint32_t physical, const gpu_pool_params_t* params,
                              iree_hal_memory_type_t type, hal_pool_t** pools) {
  enum { DEFAULT_RANGE_LENGTH = 64 << 20, VISIBLE_RANGE_SHARE = 16 };
  bool is_visible = iree_any_bit_set(type, IREE_HAL_MEMORY_TYPE_HOST_VISIBLE | IREE_HAL_MEMORY_TYPE_HOST_LOCAL);
  iree_hal_buffer_params_t buffer = {
      .type = type,
      .usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_DISPATCH |
               (is_visible ? IREE_HAL_BUFFER_USAGE_MAPPING : IREE_HAL_BUFFER_USAGE_NONE),
      .queue_affinity = 1ull << physical * device->domain.queue_count,
      .min_alignment = params->alignment,
  };
  hal_pool_params_t pool = {
      .range_length = params->range_length ? params->range_length : DEFAULT_RANGE_LENGTH,
      .frontier_capacity = params->frontier_capacity,
      .is_over = gpu_device_is_over,
      .user_data = device,
  };
  if (is_visible) pool.range_length = iree_max(pool.range_length / VISIBLE_RANGE_SHARE, 1u);
  iree_device_size_t size = pool.range_length;
  hal_pool_t* created = NULL;
  iree_hal_allocator_t* allocator = device->base.allocator;
  if (!iree_hal_allocator_query_buffer_compatibility(allocator, buffer, size, &pool.buffer, &size)) {
    return iree_ok_status();
  }
  IREE_RETURN_IF_ERROR(hal_pool_create(&pool, allocator, device->base.host_allocator, &created));
  if (*pools) {
    hal_pool_append(*pools, created);
  } else {
    *pools = created;
  }
  return iree_ok_status();
}

iree_status_t gpu_device_create_pools(gpu_device_t* device, uint32_t physical, const gpu_pool_params_t* params,
                                      hal_pool_t** out_pools) {
  static const iree_hal_memory_type_t types[] = {
      IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
      IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_VISIBLE,
      IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE,
  };
  for (size_t i = 0; i < IREE_ARRAYSIZE(types); ++i) {
    IREE_RETURN_IF_ERROR(add_pool(device, physical, params, types[i], out_pools));
  }
  return iree_ok_status();
}

void gpu_device_destroy_queues(gpu_device_t* device, uint32_t physical) {
  uint32_t count = device->domain.queue_count;
  for (uint32_t i = physical * count; i < (physical + 1) * count; ++i) {
    gpu_queue_destroy(device->queues[i]);
    device->queues[i] = NULL;
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Life
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t gpu_device_initialize(gpu_device_t* device) {
  device->base.interface = &gpu_operation_interface;
  hal_queued_initialize(&device->base);
  iree_notification_initialize(&device->host_ready);
  IREE_RETURN_IF_ERROR(gate_create(device, &device->gate));
  IREE_RETURN_IF_ERROR(gpu_executable_list_create(device->base.host_allocator, &device->executables));
  iree_thread_create_params_t thread = {.name = IREE_SV("gpu-service")};
  return iree_thread_create(service_main, device, thread, device->base.host_allocator, &device->service);
}

void gpu_device_close(gpu_device_t* device) {
  hal_queued_close(&device->base);
  stop_service(device);
  if (device->gate) gate_close(device->gate);
}

void gpu_device_deinitialize(gpu_device_t* device) {
  hal_queued_deinitialize(&device->base);
  gpu_gate_release(device->gate);
  gpu_executable_list_release(device->executables);
  iree_status_free((iree_status_t)device->failure);
  iree_notification_deinitialize(&device->host_ready);
}
