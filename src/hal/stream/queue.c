// Streams as queues: a part of an operation is a run of calls, and an event behind them.
//
// Work starts when it is written: nothing is left to publish. Workgroup counts in memory come to the host first, in a
// part of their own, whose end lets the operation go on.
#include "hal/stream/writer.h"

enum { DEFAULT_DEPTH = 256 };

typedef struct stream_queue_t {
  gpu_queue_t base;
  const stream_context_t* context;
  stream_writer_t writer;
  void** events;               // by epoch
  iree_atomic_uint64_t ended;  // parts, as the completion thread knows
  uint32_t* counts;            // pinned: of an indirect dispatch
  uint64_t counts_epoch;       // of the part that brings them; 0: none
} stream_queue_t;

static stream_queue_t* cast(gpu_queue_t* base) { return (stream_queue_t*)base; }

static void** event_of(stream_queue_t* queue, uint64_t epoch) {
  return &queue->events[(epoch - 1) & queue->base.entry_mask];
}

//===----------------------------------------------------------------------------------------------------------------===
// Commands
//===----------------------------------------------------------------------------------------------------------------===

// Counts in memory: the first time they are asked for; when they are here, they are used.
static iree_status_t write_indirect(stream_queue_t* queue, const gpu_range_t* ranges, const gpu_command_t* command,
                                    bool* out_waits) {
  *out_waits = queue->counts_epoch == 0;
  if (!*out_waits) {
    queue->counts_epoch = 0;
    return stream_write_launch(&queue->writer, ranges, command, queue->counts);
  }
  gpu_range_t source = gpu_ref_resolve(command->target, ranges);
  IREE_RETURN_IF_ERROR(STREAM_CALL(queue->context->api, copy, (uint64_t)(uintptr_t)queue->counts, source.address,
                                   3 * sizeof(uint32_t), queue->writer.stream));
  queue->counts_epoch = gpu_queue_head(&queue->base) + 1;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Parts
//===----------------------------------------------------------------------------------------------------------------===

// An event may belong to a later part by now: then that one has been waited for, which needs nothing of this operation.
static iree_status_t write_barriers(const stream_queue_t* queue, const gpu_operation_t* operation) {
  for (uint32_t i = 0; i < operation->barrier_count; ++i) {
    const gpu_barrier_t* barrier = &operation->barriers[i];
    if (barrier->is_implied || gpu_queue_has_ended(barrier->queue, barrier->epoch)) continue;
    void* event = *event_of(cast(barrier->queue), barrier->epoch);
    IREE_RETURN_IF_ERROR(STREAM_CALL(queue->context->api, stream_wait, queue->writer.stream, event, 0));
  }
  return iree_ok_status();
}

static iree_status_t write_commands(stream_queue_t* queue, const gpu_operation_t* operation, gpu_part_t* part) {
  const gpu_work_t* work = &operation->work;
  if (work->plan && part->next == 0) {
    part->next = work->count;
    return stream_graph_launch(work->plan, queue->writer.stream);
  }
  for (bool waits = false; part->next < work->count;) {
    const gpu_command_t* command = &work->commands[part->next];
    if (command->kind == HAL_COMMAND_DISPATCH && command->dispatch.is_indirect) {
      IREE_RETURN_IF_ERROR(write_indirect(queue, operation->ranges, command, &waits));
      if (waits) return iree_ok_status();
    } else {
      IREE_RETURN_IF_ERROR(stream_write_command(&queue->writer, operation->ranges, command));
    }
    ++part->next;
  }
  return iree_ok_status();
}

// Whether no counts are on their way.
static bool has_counts(stream_queue_t* queue) { return gpu_queue_tail(&queue->base) >= queue->counts_epoch; }

iree_status_t stream_queue_write(gpu_queue_t* base, const gpu_operation_t* op, gpu_part_t* part) {
  stream_queue_t* queue = cast(base);
  if (!has_counts(queue)) return iree_ok_status();
  IREE_RETURN_IF_ERROR(stream_context_enter(queue->context));
  iree_status_t status = write_barriers(queue, op);
  if (iree_status_is_ok(status)) status = write_commands(queue, op, part);
  if (!iree_status_is_ok(status)) {
    // What came before may be running: the operation ends when it has.
    queue->counts_epoch = 0;
    part->failure = status;
    part->next = op->work.count;
  }
  part->is_written = true;
  status = STREAM_CALL(queue->context->api, event_record, *event_of(queue, part->epoch), queue->writer.stream);
  if (!iree_status_is_ok(status)) iree_status_free(part->failure);
  return status;
}

void stream_queue_publish(gpu_queue_t* base, const gpu_part_t* part) {}

// Names the kernels of the part that did not end, where it has some. Which of several it was the library does not tell.
static iree_status_t name_kernels(gpu_queue_t* base, uint64_t epoch, iree_status_t status) {
  enum { MAX_NAMED = 8 };
  iree_slim_mutex_lock(&base->mutex);
  const gpu_part_t* part = gpu_queue_part(base, epoch);
  uint32_t named = 0;
  if (part->operation) {
    const gpu_work_t* work = &part->operation->work;
    for (uint32_t i = part->first; i < iree_min(part->next, work->count) && named < MAX_NAMED; ++i) {
      if (work->commands[i].kind != HAL_COMMAND_DISPATCH) continue;
      status = stream_annotate_kernel(status, &work->commands[i]);
      ++named;
    }
  }
  iree_slim_mutex_unlock(&base->mutex);
  return status;
}

bool stream_queue_await(gpu_queue_t* base, uint64_t seen, uint64_t* out_ended) {
  stream_queue_t* queue = cast(base);
  *out_ended = seen;
  bool has_more = gpu_queue_head(base) > seen;
  if (iree_atomic_load(&base->is_woken, iree_memory_order_acquire)) return false;
  if (!has_more) return true;
  iree_status_t status = stream_context_enter(queue->context);
  if (iree_status_is_ok(status)) {
    status = STREAM_CALL(queue->context->api, event_synchronize, *event_of(queue, seen + 1));
  }
  if (!iree_status_is_ok(status)) {
    gpu_queue_fail(base, name_kernels(base, seen + 1, status));
    return false;
  }
  *out_ended = seen + 1;
  iree_atomic_store(&queue->ended, seen + 1, iree_memory_order_release);
  return true;
}

uint64_t stream_queue_wake(gpu_queue_t* base) {
  return iree_atomic_load(&cast(base)->ended, iree_memory_order_acquire);
}

void stream_queue_stop(gpu_queue_t* base) {
  iree_status_ignore(stream_context_enter(cast(base)->context));
  cast(base)->context->api->stream_synchronize(cast(base)->writer.stream);
}

iree_status_t stream_queue_retire(gpu_queue_t* base, uint64_t epoch, const gpu_part_t* part) {
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Creation
//===----------------------------------------------------------------------------------------------------------------===

void stream_queue_destroy(gpu_queue_t* base) {
  stream_queue_t* queue = cast(base);
  const stream_api_t* api = queue->context->api;
  iree_allocator_t host_allocator = base->device->base.host_allocator;
  iree_status_ignore(stream_context_enter(queue->context));
  for (uint32_t i = 0; queue->events && i <= base->entry_mask; ++i) {
    if (queue->events[i]) api->event_destroy(queue->events[i]);
  }
  if (queue->writer.stream) api->stream_destroy(queue->writer.stream);
  if (queue->counts) api->host_free(queue->counts);
  gpu_queue_deinitialize(base);
  iree_allocator_free(host_allocator, queue->events);
  iree_allocator_free(host_allocator, queue->writer.arguments);
  iree_allocator_free(host_allocator, queue);
}

static iree_status_t initialize(stream_queue_t* queue, uint32_t depth) {
  const stream_api_t* api = queue->context->api;
  IREE_RETURN_IF_ERROR(gpu_queue_initialize(&queue->base, depth));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(queue->base.device->base.host_allocator, depth,
                                                   sizeof(*queue->events), (void**)&queue->events));
  IREE_RETURN_IF_ERROR(stream_context_enter(queue->context));
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, stream_create, &queue->writer.stream, STREAM_API_STREAM_NON_BLOCKING));
  for (uint32_t i = 0; i < depth; ++i) {
    IREE_RETURN_IF_ERROR(STREAM_CALL(api, event_create, &queue->events[i],
                                     STREAM_API_EVENT_BLOCKING_SYNC | STREAM_API_EVENT_DISABLE_TIMING));
  }
  IREE_RETURN_IF_ERROR(
      STREAM_CALL(api, host_allocate, (void**)&queue->counts, 3 * sizeof(uint32_t), STREAM_API_HOST_PORTABLE));
  return gpu_queue_start(&queue->base);
}

iree_status_t stream_queue_create(stream_device_t* device, uint32_t bit, gpu_queue_t** out_queue) {
  *out_queue = NULL;
  stream_queue_t* queue = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(device->gpu.base.host_allocator, sizeof(*queue), (void**)&queue));
  const stream_gpu_t* gpu = &device->gpus[gpu_domain_physical(device->gpu.domain, bit)];
  queue->base.backend = device->gpu.backend;
  queue->base.device = &device->gpu;
  queue->base.bit = bit;
  queue->base.waits_for_queues = true;
  queue->base.pool = gpu->pool;
  queue->context = &gpu->context;
  queue->writer.api = device->api;
  queue->writer.physical = gpu_domain_physical(device->gpu.domain, bit);
  queue->writer.host_allocator = device->gpu.base.host_allocator;
  iree_status_t status = initialize(queue, device->options.depth ? device->options.depth : DEFAULT_DEPTH);
  if (!iree_status_is_ok(status)) {
    gpu_queue_destroy(&queue->base);
    return status;
  }
  *out_queue = &queue->base;
  return iree_ok_status();
}

const char* stream_architecture(const gpu_device_t* device) {
  return ((const stream_device_t*)device)->gpus[0].architecture;
}
