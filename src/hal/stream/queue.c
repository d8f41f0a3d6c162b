// Streams as queues: a part of an operation is a run of calls, and an event behind them.
//
// Work starts when it is written: nothing is left to publish. Workgroup counts in memory come to the host first, in a
// part of their own, whose end lets the operation go on.
#include "hal/stream/device.h"

enum { DEFAULT_DEPTH = 256 };

typedef struct stream_queue_t {
  gpu_queue_t base;
  const stream_context_t* context;
  void* stream;
  void** events;               // by epoch
  iree_atomic_uint64_t ended;  // parts, as the completion thread knows
  uint32_t* counts;            // pinned: of an indirect dispatch
  uint64_t counts_epoch;       // of the part that brings them; 0: none
  uint8_t* arguments;          // of one launch
  size_t arguments_capacity;   // bytes
} stream_queue_t;

static stream_queue_t* cast(gpu_queue_t* base) { return (stream_queue_t*)base; }

static void** event_of(stream_queue_t* queue, uint64_t epoch) {
  return &queue->events[(epoch - 1) & queue->base.entry_mask];
}

//===----------------------------------------------------------------------------------------------------------------===
// Commands
//===----------------------------------------------------------------------------------------------------------------===

typedef struct writer_t {
  stream_queue_t* queue;
  const stream_api_t* api;
  const gpu_operation_t* operation;
} writer_t;

static gpu_range_t resolve(const writer_t* w, gpu_ref_t ref) { return gpu_ref_resolve(ref, w->operation->ranges); }

// Patterns that no call fills with: once, word by word, then what is there is copied behind itself.
static iree_status_t fill_by_copies(const writer_t* w, const gpu_command_t* command, uint64_t target, uint64_t length) {
  uint32_t words[4];
  uint64_t done = command->pattern.length;
  memcpy(words, command->pattern.data, sizeof(words));
  for (uint64_t i = 0; i < done / sizeof(uint32_t); ++i) {
    uint64_t at = target + i * sizeof(uint32_t);
    IREE_RETURN_IF_ERROR(STREAM_CALL(w->api, fill_32, at, (int)words[i], 1, w->queue->stream));
  }
  for (; done < length; done *= 2) {
    uint64_t size = iree_min(done, length - done);
    IREE_RETURN_IF_ERROR(STREAM_CALL(w->api, copy, target + done, target, size, w->queue->stream));
  }
  return iree_ok_status();
}

static iree_status_t write_fill(const writer_t* w, const gpu_command_t* command) {
  gpu_range_t range = resolve(w, command->target);
  uint64_t target = range.address, length = range.length - range.length % command->pattern.length;
  uint32_t word;
  void* stream = w->queue->stream;
  memcpy(&word, command->pattern.data, sizeof(word));
  if (length == 0) return iree_ok_status();
  switch (command->pattern.length) {
    case 1:
      return STREAM_CALL(w->api, fill_8, target, (uint8_t)word, length, stream);
    case 2:
      return STREAM_CALL(w->api, fill_16, target, (uint16_t)word, length / 2, stream);
    case 4:
      return STREAM_CALL(w->api, fill_32, target, (int)word, length / 4, stream);
    default:
      return fill_by_copies(w, command, target, length);
  }
}

static iree_status_t write_copy(const writer_t* w, const gpu_command_t* command) {
  gpu_range_t target = resolve(w, command->target), source = resolve(w, command->source);
  uint64_t length = iree_min(target.length, source.length);
  if (length == 0) return iree_ok_status();
  return STREAM_CALL(w->api, copy, target.address, source.address, length, w->queue->stream);
}

static iree_status_t write_update(const writer_t* w, const gpu_command_t* command) {
  gpu_range_t target = resolve(w, command->target);
  if (target.length == 0) return iree_ok_status();
  return STREAM_CALL(w->api, copy_from_host, target.address, command->data, target.length, w->queue->stream);
}

static iree_status_t reserve_arguments(stream_queue_t* queue, size_t size) {
  if (size <= queue->arguments_capacity) return iree_ok_status();
  return iree_allocator_grow_array(queue->base.device->base.host_allocator, size, 1, &queue->arguments_capacity,
                                   (void**)&queue->arguments);
}

static iree_status_t name_kernel(iree_status_t status, const gpu_command_t* command) {
  iree_string_view_t name = command->dispatch.function->name;
  return iree_status_annotate_f(status, "kernel '%.*s'", (int)name.size, name.data);
}

static iree_status_t launch(const writer_t* w, const gpu_command_t* command, const uint32_t counts[3]) {
  const stream_function_t* function = (const stream_function_t*)command->dispatch.function;
  stream_queue_t* queue = w->queue;
  if (!counts[0] || !counts[1] || !counts[2]) return iree_ok_status();
  size_t size = gpu_command_arguments_size(&function->base);
  IREE_RETURN_IF_ERROR(reserve_arguments(queue, size));
  gpu_command_write_arguments(command, w->operation->ranges, queue->arguments);
  size = function->base.argument_size;
  void* extra[] = {STREAM_API_LAUNCH_BUFFER, queue->arguments, STREAM_API_LAUNCH_BUFFER_SIZE, &size,
                   (void*)w->api->library->launch_end};
  const uint16_t* block = command->dispatch.workgroup_size;
  iree_status_t status =
      STREAM_CALL(w->api, launch, function->handles[queue->base.physical], counts[0], counts[1], counts[2], block[0],
                  block[1], block[2], command->dispatch.dynamic_memory, queue->stream, NULL, size ? extra : NULL);
  return iree_status_is_ok(status) ? status : name_kernel(status, command);
}

// Counts in memory: the first time they are asked for; when they are here, they are used.
static iree_status_t write_indirect(const writer_t* w, const gpu_command_t* command, bool* out_waits) {
  stream_queue_t* queue = w->queue;
  *out_waits = queue->counts_epoch == 0;
  if (!*out_waits) {
    queue->counts_epoch = 0;
    return launch(w, command, queue->counts);
  }
  gpu_range_t source = resolve(w, command->target);
  IREE_RETURN_IF_ERROR(STREAM_CALL(w->api, copy, (uint64_t)(uintptr_t)queue->counts, source.address,
                                   3 * sizeof(uint32_t), queue->stream));
  queue->counts_epoch = gpu_queue_head(&queue->base) + 1;
  return iree_ok_status();
}

static iree_status_t write_command(const writer_t* w, const gpu_command_t* command, bool* out_waits) {
  switch (command->kind) {
    case HAL_COMMAND_FILL:
      return write_fill(w, command);
    case HAL_COMMAND_COPY:
      return write_copy(w, command);
    case HAL_COMMAND_UPDATE:
      return write_update(w, command);
    case HAL_COMMAND_DISPATCH:
      if (command->dispatch.is_indirect) return write_indirect(w, command, out_waits);
      return launch(w, command, command->dispatch.workgroup_count);
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Parts
//===----------------------------------------------------------------------------------------------------------------===

// An event may belong to a later part by now: then that one has been waited for, which needs nothing of this operation.
static iree_status_t write_barriers(const writer_t* w) {
  for (uint32_t i = 0; i < w->operation->barrier_count; ++i) {
    const gpu_barrier_t* barrier = &w->operation->barriers[i];
    if (barrier->is_implied || gpu_queue_has_ended(barrier->queue, barrier->epoch)) continue;
    void* event = *event_of(cast(barrier->queue), barrier->epoch);
    IREE_RETURN_IF_ERROR(STREAM_CALL(w->api, stream_wait, w->queue->stream, event, 0));
  }
  return iree_ok_status();
}

static iree_status_t write_commands(const writer_t* w, gpu_part_t* part) {
  bool waits = false;
  while (part->next < w->operation->work.count && !waits) {
    IREE_RETURN_IF_ERROR(write_command(w, &w->operation->work.commands[part->next], &waits));
    if (!waits) ++part->next;
  }
  return iree_ok_status();
}

// Whether no counts are on their way.
static bool has_counts(stream_queue_t* queue) { return gpu_queue_tail(&queue->base) >= queue->counts_epoch; }

iree_status_t stream_queue_write(gpu_queue_t* base, const gpu_operation_t* op, gpu_part_t* part) {
  stream_queue_t* queue = cast(base);
  writer_t w = {queue, queue->context->api, op};
  if (!has_counts(queue)) return iree_ok_status();
  IREE_RETURN_IF_ERROR(stream_context_enter(queue->context));
  iree_status_t status = write_barriers(&w);
  if (iree_status_is_ok(status)) status = write_commands(&w, part);
  if (!iree_status_is_ok(status)) {
    // What came before may be running: the operation ends when it has.
    queue->counts_epoch = 0;
    part->failure = status;
    part->next = op->work.count;
  }
  part->is_written = true;
  status = STREAM_CALL(w.api, event_record, *event_of(queue, part->epoch), queue->stream);
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
      status = name_kernel(status, &work->commands[i]);
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
  cast(base)->context->api->stream_synchronize(cast(base)->stream);
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
  if (queue->stream) api->stream_destroy(queue->stream);
  if (queue->counts) api->host_free(queue->counts);
  gpu_queue_deinitialize(base);
  iree_allocator_free(host_allocator, queue->events);
  iree_allocator_free(host_allocator, queue->arguments);
  iree_allocator_free(host_allocator, queue);
}

static iree_status_t initialize(stream_queue_t* queue, uint32_t depth) {
  const stream_api_t* api = queue->context->api;
  IREE_RETURN_IF_ERROR(gpu_queue_initialize(&queue->base, depth));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(queue->base.device->base.host_allocator, depth,
                                                   sizeof(*queue->events), (void**)&queue->events));
  IREE_RETURN_IF_ERROR(stream_context_enter(queue->context));
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, stream_create, &queue->stream, STREAM_API_STREAM_NON_BLOCKING));
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
