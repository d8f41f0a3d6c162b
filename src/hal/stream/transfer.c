// Transfers that the host asks for and waits for, between its memory and a GPU's.
//
// The library is given the host's own pointer: it knows best how to stage what is not pinned. Small ones go through
// pinned memory of ours; tiny ones, into an idle stream, are left to libcuda, which puts them among its commands. Those
// to the GPU are not waited for: they are in the stream of the GPU's first queue, where later work is behind them;
// other streams wait for an event, unless a later part of that queue is known to have ended. Who uses the memory
// without a queue of this device would not wait, so memory that others know, and memory of a process with several
// devices, is waited for.
#include "hal/stream/queue.h"

enum { TINY = 256, SMALL = 64 << 10, HALF = 256 << 10, ALIGNMENT = 256 };

static bool has_transfers(const stream_queue_t* queue) {
  return gpu_domain_queue(queue->base.device->domain, queue->base.bit) == 0;
}

static stream_queue_t* carrier_of(const stream_device_t* device, uint32_t physical) {
  return (stream_queue_t*)device->gpu.queues[physical * device->gpu.domain.queue_count];
}

iree_status_t stream_transfers_initialize(stream_queue_t* queue) {
  stream_transfers_t* t = &queue->transfers;
  const stream_api_t* api = queue->context->api;
  void** events[] = {&t->full[0], &t->full[1], &t->order};
  iree_slim_mutex_initialize(&t->mutex);
  if (!has_transfers(queue)) return iree_ok_status();
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, stream_create, &t->stream, STREAM_API_STREAM_NON_BLOCKING));
  for (size_t i = 0; i < IREE_ARRAYSIZE(events); ++i) {
    IREE_RETURN_IF_ERROR(STREAM_CALL(api, event_create, events[i], STREAM_API_EVENT_DISABLE_TIMING));
  }
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, host_allocate, (void**)&t->ring, 2 * (size_t)HALF, STREAM_API_HOST_PORTABLE));
  return STREAM_CALL(api, host_allocate, (void**)&t->landing, (size_t)SMALL, STREAM_API_HOST_PORTABLE);
}

void stream_transfers_deinitialize(stream_queue_t* queue) {
  stream_transfers_t* t = &queue->transfers;
  const stream_api_t* api = queue->context->api;
  void* events[] = {t->full[0], t->full[1], t->order};
  if (iree_atomic_load(&t->sent, iree_memory_order_relaxed)) api->stream_synchronize(queue->writer.stream);
  if (t->landing) api->host_free(t->landing);
  if (t->ring) api->host_free(t->ring);
  for (size_t i = 0; i < IREE_ARRAYSIZE(events); ++i) {
    if (events[i]) api->event_destroy(events[i]);
  }
  if (t->stream) api->stream_destroy(t->stream);
  iree_slim_mutex_deinitialize(&t->mutex);
}

//===----------------------------------------------------------------------------------------------------------------===
// Order
//===----------------------------------------------------------------------------------------------------------------===

// The event may be recorded again before the stream waits for it: then it stands for more.
static iree_status_t wait_for_sent(stream_queue_t* carrier, const stream_context_t* context, void* stream) {
  const stream_api_t* api = context->api;
  IREE_RETURN_IF_ERROR(stream_context_enter(carrier->context));
  iree_slim_mutex_lock(&carrier->mark_mutex);
  iree_status_t status = STREAM_CALL(api, event_record, carrier->transfers.order, carrier->writer.stream);
  iree_slim_mutex_unlock(&carrier->mark_mutex);
  IREE_RETURN_IF_ERROR(status);
  IREE_RETURN_IF_ERROR(stream_context_enter(context));
  return STREAM_CALL(api, stream_wait, stream, carrier->transfers.order, 0);
}

// Puts a stream behind all small transfers so far but those in the stream of `own`. `seen` is the stream's, by GPU.
static iree_status_t precede(stream_queue_t* queue, void* stream, const stream_queue_t* own, uint64_t* seen) {
  const stream_device_t* device = (const stream_device_t*)queue->base.device;
  for (uint32_t i = 0; i < device->gpu.domain.physical_count; ++i) {
    stream_queue_t* carrier = carrier_of(device, i);
    uint64_t sent = iree_atomic_load(&carrier->transfers.sent, iree_memory_order_acquire);
    if (carrier == own || sent == seen[i]) continue;
    uint64_t before = iree_atomic_load(&carrier->transfers.sent_before, iree_memory_order_acquire);
    if (stream_queue_ended(carrier) < before) {
      IREE_RETURN_IF_ERROR(wait_for_sent(carrier, queue->context, stream));
    }
    seen[i] = sent;
  }
  return iree_ok_status();
}

iree_status_t stream_transfers_precede(stream_queue_t* queue) {
  return precede(queue, queue->writer.stream, queue, queue->seen);
}

//===----------------------------------------------------------------------------------------------------------------===
// Small ones to the GPU
//===----------------------------------------------------------------------------------------------------------------===

// Goes on in the other half when this one has no room. False when that is still in use.
static iree_status_t make_room(stream_queue_t* queue, size_t size, bool* out_has_room) {
  stream_transfers_t* t = &queue->transfers;
  const stream_api_t* api = queue->context->api;
  uint32_t other = t->half ^ 1;
  *out_has_room = true;
  if (t->used + size <= HALF) return iree_ok_status();
  int result = t->is_full[other] ? api->event_query(t->full[other]) : STREAM_API_SUCCESS;
  *out_has_room = result != STREAM_API_NOT_READY;
  if (!*out_has_room) return iree_ok_status();
  IREE_RETURN_IF_ERROR(stream_api_check(api, result, api->library->symbols.event_query.name));
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, event_record, t->full[t->half], queue->writer.stream));
  t->is_full[t->half] = true;
  t->half = other;
  t->used = 0;
  return iree_ok_status();
}

// Whether the library may wait for the stream, which has nothing to do.
static bool is_value(stream_queue_t* queue, size_t length) {
  return queue->context->api->library->takes_values && length <= TINY && !gpu_queue_is_busy(&queue->base);
}

static iree_status_t send_locked(stream_queue_t* queue, const void* host, uint64_t address, size_t length,
                                 bool* out_is_sent) {
  stream_transfers_t* t = &queue->transfers;
  const stream_api_t* api = queue->context->api;
  uint8_t value[TINY];  // on the stack, since the host's memory may be pinned
  uint8_t* staged = value;
  size_t size = 0;
  *out_is_sent = true;
  IREE_RETURN_IF_ERROR(stream_context_enter(queue->context));
  if (!is_value(queue, length)) {
    size = iree_host_align(length, ALIGNMENT);
    IREE_RETURN_IF_ERROR(make_room(queue, size, out_is_sent));
    if (!*out_is_sent) return iree_ok_status();
    staged = t->ring + (size_t)t->half * HALF + t->used;
  }
  memcpy(staged, host, length);
  IREE_RETURN_IF_ERROR(stream_transfers_precede(queue));  // others may have written the same memory
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, copy_from_host, address, staged, length, queue->writer.stream));
  t->used += size;
  iree_atomic_store(&t->sent_before, gpu_queue_head(&queue->base) + 1, iree_memory_order_release);
  iree_atomic_fetch_add(&t->sent, 1, iree_memory_order_release);
  return iree_ok_status();
}

static iree_status_t send(stream_queue_t* queue, const void* host, uint64_t address, size_t length, bool* out_is_sent) {
  iree_slim_mutex_lock(&queue->base.submission);
  iree_status_t status = send_locked(queue, host, address, length, out_is_sent);
  iree_slim_mutex_unlock(&queue->base.submission);
  if (!iree_status_is_ok(status) || !*out_is_sent || stream_device_is_alone()) return status;
  return STREAM_CALL(queue->context->api, stream_synchronize, queue->writer.stream);
}

//===----------------------------------------------------------------------------------------------------------------===
// The others
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t copy_locked(stream_queue_t* queue, bool to_host, void* host, uint64_t address, size_t length) {
  stream_transfers_t* t = &queue->transfers;
  const stream_api_t* api = queue->context->api;
  bool lands = to_host && length <= SMALL;
  IREE_RETURN_IF_ERROR(stream_context_enter(queue->context));
  IREE_RETURN_IF_ERROR(precede(queue, t->stream, NULL, t->seen));
  if (to_host) {
    IREE_RETURN_IF_ERROR(STREAM_CALL(api, copy_to_host, lands ? t->landing : host, address, length, t->stream));
  } else {
    IREE_RETURN_IF_ERROR(STREAM_CALL(api, copy_from_host, address, host, length, t->stream));
  }
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, stream_synchronize, t->stream));
  if (lands) memcpy(host, t->landing, length);
  return iree_ok_status();
}

iree_status_t stream_transfer(iree_hal_device_t* base, bool to_host, void* host, iree_hal_buffer_t* buffer,
                              iree_device_size_t offset, iree_device_size_t length, iree_timeout_t timeout) {
  stream_device_t* device = (stream_device_t*)base;
  iree_device_size_t begin = 0;
  const gpu_memory_t* memory = gpu_buffer_memory(buffer, &begin);
  if (!memory) return iree_status_from_code(IREE_STATUS_DEFERRED);
  IREE_RETURN_IF_ERROR(gpu_device_clone_failure(&device->gpu));
  uint32_t physical = memory->physical < device->gpu.domain.physical_count ? memory->physical : 0;
  stream_queue_t* queue = carrier_of(device, physical);
  uint64_t address = memory->address + begin + offset;
  bool is_sent = false, is_known = memory->source != GPU_MEMORY_OWNED || memory->is_exported;
  if (!to_host && length <= SMALL && !is_known && stream_device_is_alone()) {
    IREE_RETURN_IF_ERROR(send(queue, host, address, (size_t)length, &is_sent));
    if (is_sent) return iree_ok_status();
  }
  // The library's wait has no end.
  if (!iree_timeout_is_infinite(timeout)) return iree_status_from_code(IREE_STATUS_DEFERRED);
  iree_slim_mutex_lock(&queue->transfers.mutex);
  iree_status_t status = copy_locked(queue, to_host, host, address, (size_t)length);
  iree_slim_mutex_unlock(&queue->transfers.mutex);
  return status;
}
