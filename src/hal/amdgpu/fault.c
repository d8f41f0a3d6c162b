// Queues that are lost. Two ways there: HSA's callback for errors of a queue (a kernel that traps, a packet that is
// none), and HSA's handler for events of the system (an access to memory that is not there), which does not say whose
// it is: all queues of the GPU that have work are lost. The first error of a queue stays, becomes the device's, and
// wakes the queue's completion thread, which ends all that is in the queue with it.
#include "hal/amdgpu/fault.h"

//===----------------------------------------------------------------------------------------------------------------===
// What was running
//===----------------------------------------------------------------------------------------------------------------===

static iree_string_view_t find_function(const host_queue_t* queue, const operation_t* op, uint64_t handle) {
  uint32_t ordinal = queue->physical->ordinal;
  for (uint32_t i = 0; op && i < op->commands.count; ++i) {
    const command_t* command = &op->commands.commands[i];
    if (command->kind != COMMAND_DISPATCH) continue;
    const executable_function_t* function = command->dispatch.function;
    if (function->objects[ordinal].handle == handle) return function->info.name;
  }
  const char* builtin = library_kernel_name(&queue->physical->library, handle);
  return builtin ? iree_make_cstring_view(builtin) : iree_string_view_empty();
}

// The kernel at the head of the hardware queue; empty when there is none. The mutex is held, so that operations of
// entries stay.
static iree_string_view_t find_kernel(const host_queue_t* queue) {
  uint64_t at = queue->hsa->hsa_queue_load_read_index_relaxed(queue->aql);
  at = iree_max(at, queue->packet_tail);
  uint64_t epoch = queue->epoch_tail;
  while (epoch != queue->epoch_head && queue->entries[epoch & queue->entry_mask].packet_end <= at) ++epoch;
  if (epoch == queue->epoch_head) return iree_string_view_empty();
  uint64_t slot = at & (queue->aql->size - 1);
  uint32_t type = queue->headers[slot] & 0xFF;  // invalid: of an indirect dispatch
  if (type != HSA_PACKET_TYPE_KERNEL_DISPATCH && type != HSA_PACKET_TYPE_INVALID) return iree_string_view_empty();
  const hsa_kernel_dispatch_packet_t* packets = (const hsa_kernel_dispatch_packet_t*)queue->aql->base_address;
  return find_function(queue, queue->entries[epoch & queue->entry_mask].operation, packets[slot].kernel_object);
}

static iree_status_t annotate(host_queue_t* queue, iree_status_t status) {
  iree_slim_mutex_lock(&queue->mutex);
  iree_string_view_t kernel = find_kernel(queue);
  if (kernel.size) {
    status = iree_status_annotate_f(status, "at the head of queue %u of GPU %u is kernel '%.*s'", queue->ordinal,
                                    queue->physical->ordinal, (int)kernel.size, kernel.data);
  }
  iree_slim_mutex_unlock(&queue->mutex);
  return status;
}

void host_queue_fail(host_queue_t* queue, iree_status_t status) {
  status = annotate(queue, status);
  // The device's first: who sees the queue's error finds it.
  logical_device_fail(queue->device, iree_status_clone(status));
  intptr_t expected = 0;
  if (!iree_atomic_compare_exchange_strong(&queue->error, &expected, (intptr_t)status, iree_memory_order_acq_rel,
                                           iree_memory_order_relaxed)) {
    iree_status_free(status);
    return;
  }
  int64_t value = host_queue_wake(queue);
  iree_atomic_store(&queue->final_value, value, iree_memory_order_relaxed);
  iree_atomic_store(&queue->has_final, 1u, iree_memory_order_release);
}

void fault_queue_error(hsa_status_t code, hsa_queue_t* source, void* data) {
  host_queue_t* queue = (host_queue_t*)data;
  iree_status_t status = libhsa_check(queue->hsa, code, "the GPU's queue");
  if (!iree_status_is_ok(status)) host_queue_fail(queue, status);
}

//===----------------------------------------------------------------------------------------------------------------===
// Events of the system
//===----------------------------------------------------------------------------------------------------------------===

// Handlers cannot be taken back, so what they look at is there for ever: all queues of the process. Guarded by `lock`,
// which keeps queues from going while an event is told them.
static iree_slim_mutex_t lock;
static host_queue_t* watched;

static bool is_busy(host_queue_t* queue) {
  iree_slim_mutex_lock(&queue->mutex);
  bool result = queue->epoch_head != queue->epoch_tail;
  iree_slim_mutex_unlock(&queue->mutex);
  return result;
}

static hsa_status_t system_event(const hsa_amd_event_t* event, void* data) {
  if (event->event_type != HSA_AMD_GPU_MEMORY_FAULT_EVENT) return HSA_STATUS_SUCCESS;
  const hsa_amd_gpu_memory_fault_info_t* fault = &event->memory_fault;
  iree_slim_mutex_lock(&lock);
  for (host_queue_t* queue = watched; queue; queue = queue->next_watched) {
    if (queue->physical->gpu->agent.handle != fault->agent.handle || !is_busy(queue)) continue;
    const char* why = fault->reasons & HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT ? "there is no memory"
                      : fault->reasons & HSA_AMD_MEMORY_FAULT_READ_ONLY      ? "the memory is read-only"
                                                                             : "it is not accessible";
    host_queue_fail(queue, iree_make_status(IREE_STATUS_ABORTED, "memory fault of the GPU at address 0x%" PRIx64 ": %s",
                                            fault->address, why));
  }
  iree_slim_mutex_unlock(&lock);
  return HSA_STATUS_SUCCESS;
}

void fault_watch_events(const libhsa_t* hsa) {
  // Libraries that take one handler only may have one.
  hsa->hsa_amd_register_system_event_handler(system_event, NULL);
}

void fault_watch_queue(host_queue_t* queue) {
  iree_slim_mutex_lock(&lock);
  queue->next_watched = watched;
  watched = queue;
  iree_slim_mutex_unlock(&lock);
}

void fault_unwatch_queue(host_queue_t* queue) {
  iree_slim_mutex_lock(&lock);
  host_queue_t** link = &watched;
  while (*link && *link != queue) link = &(*link)->next_watched;
  if (*link) *link = queue->next_watched;
  iree_slim_mutex_unlock(&lock);
}
