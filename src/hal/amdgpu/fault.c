// Queues that are lost. Two ways there: HSA's callback for errors of a queue (a kernel that traps, a packet that is
// none), and HSA's handler for events of the system (an access to memory that is not there), which does not say whose
// it is: all queues of the GPU that have work are lost; or the GPU hung or was reset, and all of its queues are. An
// event that cost no queue of ours is somebody else's: HSA does then what it does without a handler. The first error of
// a queue stays, becomes the device's, and wakes the queue's completion thread, which ends all that is in the queue
// with it.
#include "hal/amdgpu/fault.h"

#include <dlfcn.h>

//===----------------------------------------------------------------------------------------------------------------===
// What was running
//===----------------------------------------------------------------------------------------------------------------===

static iree_string_view_t find_function(const host_queue_t* queue, const gpu_operation_t* op, uint64_t handle) {
  uint32_t ordinal = queue->physical->ordinal;
  for (uint32_t i = 0; op && i < op->work.count; ++i) {
    const gpu_command_t* command = &op->work.commands[i];
    if (command->kind != HAL_COMMAND_DISPATCH) continue;
    const executable_function_t* function = (const executable_function_t*)command->dispatch.function;
    if (function->objects[ordinal].handle == handle) return function->info.name;
  }
  const char* builtin = library_kernel_name(&queue->physical->library, handle);
  return builtin ? iree_make_cstring_view(builtin) : iree_string_view_empty();
}

// Of commands in one packet, whichever it was of them; empty where they are of several kernels.
static iree_string_view_t find_only_function(const gpu_operation_t* op) {
  const executable_function_t* only = (const executable_function_t*)op->work.commands[0].dispatch.function;
  for (uint32_t i = 1; i < op->work.count; ++i) {
    if (op->work.commands[i].dispatch.function != &only->base) return iree_string_view_empty();
  }
  return only->info.name;
}

// The kernel at the head of the hardware queue; empty when there is none. The mutex is held, so that operations of
// entries stay.
static iree_string_view_t find_kernel(host_queue_t* queue) {
  uint64_t at = queue->hsa->hsa_queue_load_read_index_relaxed(queue->aql);
  uint64_t epoch = gpu_queue_tail(&queue->base) + 1, head = gpu_queue_head(&queue->base);
  if (epoch <= head) at = iree_max(at, gpu_queue_part(&queue->base, epoch)->begin[PART_PACKET]);
  while (epoch <= head && gpu_queue_part(&queue->base, epoch)->end[PART_PACKET] <= at) ++epoch;
  if (epoch > head) return iree_string_view_empty();
  uint64_t slot = at & (queue->aql->size - 1);
  const gpu_part_t* part = gpu_queue_part(&queue->base, epoch);
  if (queue->instances[(epoch - 1) & queue->base.entry_mask] && at + 1 == part->end[PART_PACKET]) {
    return find_only_function(part->operation);
  }
  uint32_t type = queue->headers[slot] & 0xFF;  // invalid: of an indirect dispatch
  if (type != HSA_PACKET_TYPE_KERNEL_DISPATCH && type != HSA_PACKET_TYPE_INVALID) return iree_string_view_empty();
  const hsa_kernel_dispatch_packet_t* packets = (const hsa_kernel_dispatch_packet_t*)queue->aql->base_address;
  return find_function(queue, part->operation, packets[slot].kernel_object);
}

static iree_status_t annotate(host_queue_t* queue, iree_status_t status) {
  iree_slim_mutex_lock(&queue->base.mutex);
  iree_string_view_t kernel = find_kernel(queue);
  if (kernel.size) {
    status = iree_status_annotate_f(status, "at the head of queue %u of GPU %u is kernel '%.*s'", queue->base.ordinal,
                                    queue->physical->ordinal, (int)kernel.size, kernel.data);
  }
  iree_slim_mutex_unlock(&queue->base.mutex);
  return status;
}

void host_queue_fail(host_queue_t* queue, iree_status_t status) {
  gpu_queue_fail(&queue->base, annotate(queue, status));
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
static system_t* watchers;

static iree_status_t describe_fault(const hsa_amd_gpu_memory_fault_info_t* fault) {
  const char* why = fault->reasons & HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT ? "there is no memory"
                    : fault->reasons & HSA_AMD_MEMORY_FAULT_READ_ONLY      ? "the memory is read-only"
                                                                           : "it is not accessible";
  return iree_make_status(IREE_STATUS_ABORTED, "memory fault of the GPU at address 0x%" PRIx64 ": %s", fault->address,
                          why);
}

static iree_status_t describe_exception(const hsa_amd_gpu_hw_exception_info_t* exception) {
  const char* why = exception->reset_cause & HSA_AMD_HW_EXCEPTION_CAUSE_ECC        ? "its memory has errors"
                    : exception->reset_cause & HSA_AMD_HW_EXCEPTION_CAUSE_GPU_HANG ? "it hung"
                                                                                   : "its cause is not known";
  return iree_make_status(IREE_STATUS_ABORTED, "the GPU was reset: %s", why);
}

// Fails the queues of a GPU, or those that have work. SUCCESS when there was one.
static hsa_status_t fail_queues(hsa_agent_t agent, bool only_busy, iree_status_t status) {
  hsa_status_t result = HSA_STATUS_ERROR;
  iree_slim_mutex_lock(&lock);
  for (host_queue_t* queue = watched; queue; queue = queue->next_watched) {
    if (queue->physical->gpu->agent.handle != agent.handle || (only_busy && !gpu_queue_is_busy(&queue->base))) continue;
    host_queue_fail(queue, iree_status_clone(status));
    result = HSA_STATUS_SUCCESS;
  }
  iree_slim_mutex_unlock(&lock);
  iree_status_free(status);
  return result;
}

static hsa_status_t system_event(const hsa_amd_event_t* event, void* data) {
  switch (event->event_type) {
    case HSA_AMD_GPU_MEMORY_FAULT_EVENT:
      return fail_queues(event->memory_fault.agent, /*only_busy=*/true, describe_fault(&event->memory_fault));
    case HSA_AMD_GPU_HW_EXCEPTION_EVENT:
      return fail_queues(event->hw_exception.agent, /*only_busy=*/false, describe_exception(&event->hw_exception));
    default:
      // Among them memory errors, which are no GPU's: HSA found, as it freed memory, that something still uses it.
      return HSA_STATUS_ERROR;
  }
}

// HSA keeps the handler for as long as somebody uses HSA; so must its code stay that is in a library.
static void keep_loaded(void) {
  Dl_info info;
  if (dladdr((const void*)system_event, &info)) dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

void fault_watch_events(system_t* system) {
  iree_slim_mutex_lock(&lock);
  const system_t* other = watchers;
  while (other &&
         other->hsa->hsa_amd_register_system_event_handler != system->hsa->hsa_amd_register_system_event_handler) {
    other = other->next_watcher;
  }
  system->next_watcher = watchers;
  watchers = system;
  iree_slim_mutex_unlock(&lock);
  if (other) return;
  keep_loaded();
  // Libraries that take one handler only may have one.
  system->hsa->hsa_amd_register_system_event_handler(system_event, NULL);
}

void fault_unwatch_events(system_t* system) {
  iree_slim_mutex_lock(&lock);
  system_t** link = &watchers;
  while (*link && *link != system) link = &(*link)->next_watcher;
  if (*link) *link = system->next_watcher;
  iree_slim_mutex_unlock(&lock);
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
