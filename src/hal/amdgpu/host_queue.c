// Host queues: parts as packets, epochs as the values of a signal.
#include "hal/amdgpu/fault.h"

enum { DEFAULT_EPOCH_COUNT = 1024, MAX_QUEUE_SIZE = 64 * 1024, DEFAULT_KERNARG_SIZE = 16 << 20 };
// How long the completion thread waits at the signal before it looks about, in HSA's ticks: 10 milliseconds or more. A
// wait that begins anew polls at first, so that many short ones would cost a processor.
enum { AWAIT_TICKS = 10000000 };

static host_queue_t* cast(gpu_queue_t* base) { return (host_queue_t*)base; }

//===----------------------------------------------------------------------------------------------------------------===
// Submission
//===----------------------------------------------------------------------------------------------------------------===

// What has ended since the last submission is free.
static void reclaim(host_queue_t* queue) {
  gpu_queue_t* base = &queue->base;
  uint64_t tail = base->seen_tail;
  if (tail != queue->known_tail) {
    const gpu_part_t* last = gpu_queue_part(base, tail);
    queue->known_tail = tail;
    queue->packet_tail = last->end[PART_PACKET];
    ring_reclaim(&queue->kernargs, last->end[PART_KERNARG]);
  }
  if (tail == gpu_queue_head(base)) ring_reset(&queue->kernargs);
}

static iree_status_t host_queue_write(gpu_queue_t* base, const gpu_operation_t* op, gpu_part_t* part) {
  host_queue_t* queue = cast(base);
  reclaim(queue);
  part->is_written = emit_reserve(queue, op, part);
  if (!part->is_written) return iree_ok_status();
  queue->verdicts[(part->epoch - 1) & base->entry_mask] = 0;
  queue->packet_head = part->end[PART_PACKET];
  ring_commit(&queue->kernargs, part->end[PART_KERNARG]);
  queue->hsa->hsa_queue_store_write_index_relaxed(queue->aql, queue->packet_head);
  return iree_ok_status();
}

// Where an earlier part is not published yet the GPU stands before its first packet, which is invalid until then.
static void host_queue_publish(gpu_queue_t* base, const gpu_part_t* part) {
  host_queue_t* queue = cast(base);
  uint64_t mask = queue->aql->size - 1, end = part->end[PART_PACKET];
  uint32_t* slots = (uint32_t*)queue->aql->base_address;
  emit_part(queue, part);
  for (uint64_t i = part->begin[PART_PACKET]; i < end; ++i) {
    uint32_t header = queue->headers[i & mask];
    // Invalid ones are, and the device makes them valid.
    if (header == HSA_PACKET_TYPE_INVALID) continue;
    iree_atomic_store(&slots[(i & mask) * 16], header, iree_memory_order_release);
  }
  queue->hsa->hsa_signal_store_screlease(queue->aql->doorbell_signal, (hsa_signal_value_t)(end - 1));
}

//===----------------------------------------------------------------------------------------------------------------===
// Completion
//===----------------------------------------------------------------------------------------------------------------===

static bool host_queue_await(gpu_queue_t* base, uint64_t seen, uint64_t* out_ended) {
  host_queue_t* queue = cast(base);
  int64_t value = queue->hsa->hsa_signal_wait_scacquire(queue->epoch_signal, HSA_SIGNAL_CONDITION_LT,
                                                        HOST_QUEUE_EPOCH_INITIAL - (int64_t)seen, AWAIT_TICKS,
                                                        HSA_WAIT_STATE_BLOCKED);
  *out_ended = (uint64_t)(HOST_QUEUE_EPOCH_INITIAL - value);
  return !HOST_QUEUE_EPOCH_IS_WAKE(value);
}

static uint64_t host_queue_wake(gpu_queue_t* base) {
  host_queue_t* queue = cast(base);
  int64_t value = queue->hsa->hsa_signal_exchange_scacq_screl(queue->epoch_signal, HOST_QUEUE_EPOCH_WAKE);
  return (uint64_t)(HOST_QUEUE_EPOCH_INITIAL - value);
}

static void host_queue_stop(gpu_queue_t* base) { cast(base)->hsa->hsa_queue_inactivate(cast(base)->aql); }

static iree_status_t host_queue_retire(gpu_queue_t* base, uint64_t epoch, const gpu_part_t* part) {
  host_queue_t* queue = cast(base);
  pm4_instance_t* instance = queue->instances[(epoch - 1) & base->entry_mask];
  if (instance) pm4_instance_give(instance);
  if (hal_profile_is_timed(part->operation->base.profile)) profile_note_times(queue, part);
  if (!iree_atomic_load(&queue->verdicts[(epoch - 1) & base->entry_mask], iree_memory_order_relaxed)) {
    return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                          "workgroup counts in memory make a grid of more than 2^32 work-items along an axis");
}

//===----------------------------------------------------------------------------------------------------------------===
// Creation
//===----------------------------------------------------------------------------------------------------------------===

static void host_queue_destroy(gpu_queue_t* base) {
  host_queue_t* queue = cast(base);
  const libhsa_t* hsa = queue->hsa;
  iree_allocator_t host_allocator = base->device->base.host_allocator;
  fault_unwatch_queue(queue);
  if (queue->aql) hsa->hsa_queue_destroy(queue->aql);
  if (queue->epoch_signal.handle) hsa->hsa_signal_destroy(queue->epoch_signal);
  if (queue->kernargs.base) hsa->hsa_amd_memory_pool_free(queue->kernargs.base);
  if (queue->wait_commands) hsa->hsa_amd_memory_pool_free(queue->wait_commands);
  gpu_queue_deinitialize(base);
  iree_allocator_free(host_allocator, queue->headers);
  iree_allocator_free(host_allocator, queue->instances);
  iree_allocator_free(host_allocator, queue);
}

static iree_status_t create_kernargs(host_queue_t* queue, const logical_device_t* device, uint64_t size) {
  const system_gpu_t* gpu = queue->physical->gpu;
  hsa_amd_memory_pool_t pool = device->system->cpus[gpu->cpu].kernarg.handle;
  void* base = NULL;
  IREE_RETURN_IF_ERROR(LIBHSA_CALL(queue->hsa, hsa_amd_memory_pool_allocate, pool,
                                   size + (queue->base.entry_mask + 1) * sizeof(uint32_t), 0, &base));
  queue->kernargs = (ring_t){.base = (uint8_t*)base, .size = size};
  queue->verdicts = (uint32_t*)((uint8_t*)base + size);
  return LIBHSA_CALL(queue->hsa, hsa_amd_agents_allow_access, 1, &gpu->agent, NULL, base);
}

static iree_status_t create_wait_commands(host_queue_t* queue, const logical_device_t* device) {
  if (queue->physical->wait_packet != WAIT_PACKET_MEMORY) return iree_ok_status();
  const system_gpu_t* gpu = queue->physical->gpu;
  hsa_amd_memory_pool_t pool = device->system->cpus[gpu->cpu].fine.handle;
  size_t size = (queue->base.entry_mask + 1) * GPU_MAX_BARRIERS * sizeof(wait_commands_t);
  void* commands = NULL;
  IREE_RETURN_IF_ERROR(libhsa_allocate_commands(queue->hsa, pool, size, &commands));
  queue->wait_commands = (wait_commands_t*)commands;
  return LIBHSA_CALL(queue->hsa, hsa_amd_agents_allow_access, 1, &gpu->agent, NULL, commands);
}

static iree_status_t initialize(host_queue_t* queue, const logical_device_t* device) {
  const logical_device_options_t* options = &device->options;
  const system_gpu_t* gpu = queue->physical->gpu;
  uint32_t size = options->queue_size ? options->queue_size : MAX_QUEUE_SIZE;
  if (gpu->max_queue_size) size = iree_min(size, gpu->max_queue_size);
  uint32_t epochs = options->epoch_count ? options->epoch_count : DEFAULT_EPOCH_COUNT;
  IREE_RETURN_IF_ERROR(gpu_queue_initialize(&queue->base, epochs));
  IREE_RETURN_IF_ERROR(
      create_kernargs(queue, device, options->kernarg_size ? options->kernarg_size : DEFAULT_KERNARG_SIZE));
  IREE_RETURN_IF_ERROR(create_wait_commands(queue, device));
  IREE_RETURN_IF_ERROR(
      LIBHSA_CALL(queue->hsa, hsa_signal_create, HOST_QUEUE_EPOCH_INITIAL, 0, NULL, &queue->epoch_signal));
  IREE_RETURN_IF_ERROR(LIBHSA_CALL(queue->hsa, hsa_queue_create, gpu->agent, size, HSA_QUEUE_TYPE_MULTI,
                                   fault_queue_error, queue, UINT32_MAX, UINT32_MAX, &queue->aql));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(device->gpu.base.host_allocator, queue->aql->size,
                                                   sizeof(*queue->headers), (void**)&queue->headers));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(device->gpu.base.host_allocator, epochs, sizeof(*queue->instances),
                                                   (void**)&queue->instances));
  IREE_RETURN_IF_ERROR(gpu_queue_start(&queue->base));
  fault_watch_queue(queue);
  return iree_ok_status();
}

iree_status_t host_queue_create(logical_device_t* device, physical_device_t* physical, uint32_t ordinal,
                                gpu_queue_t** out_queue) {
  *out_queue = NULL;
  host_queue_t* queue = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(device->gpu.base.host_allocator, sizeof(*queue), (void**)&queue));
  queue->base.backend = &host_queue_backend;
  queue->base.device = &device->gpu;
  queue->base.bit = physical->ordinal * device->gpu.domain.queue_count + ordinal;
  queue->base.waits_for_queues = physical->wait_packet != WAIT_PACKET_NONE;
  queue->base.pool = physical->pool;
  queue->hsa = device->system->hsa;
  queue->physical = physical;
  iree_status_t status = initialize(queue, device);
  if (!iree_status_is_ok(status)) {
    gpu_queue_destroy(&queue->base);
    return status;
  }
  *out_queue = &queue->base;
  return iree_ok_status();
}

const gpu_backend_t host_queue_backend = {
    .name = "amdgpu",
    .max_update = 1 << 20,
    .max_grid = UINT32_MAX,
    .takes_indirect_arguments = true,
    .add_arguments = emit_add_arguments,
    .form_size = sizeof(emit_form_t),
    .make_form = emit_make_form,
    .make_plan = pm4_program_create,
    .free_plan = pm4_program_free,
    .architecture = amdgpu_architecture,
    .any_format = "rocm-hsaco-fb",
    .takes_format = amdgpu_takes_format,
    .infer_format = code_object_infer_format,
    .load = amdgpu_executable_load,
    .write = host_queue_write,
    .publish = host_queue_publish,
    .await = host_queue_await,
    .wake = host_queue_wake,
    .stop = host_queue_stop,
    .retire = host_queue_retire,
    .destroy = host_queue_destroy,
};
