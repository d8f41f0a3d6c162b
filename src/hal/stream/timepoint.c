// Points of semaphores as events of the vendor's library.
//
// What is exported is an event that is recorded behind work in a queue, or one that is over. A point that nothing in a
// queue reaches yet has none: a stream that waited for the host would let the library wait for it when memory is freed.
//
// What is imported is waited for by a stream of its own, whose end a callback of the library tells: it may call nothing
// of the library, as a semaphore's signal does, so that it writes to a pipe, whose other end is watched like any file
// descriptor that is imported.
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "hal/detail.h"
#include "hal/stream/queue.h"
#include "iree/base/threading/thread.h"

// In the place of a pipe's end: one that nobody reads any more, and none.
enum { CANCELLED = -2, NONE = -1 };

// A stream for one event at a time.
struct stream_lane_t {
  stream_lane_t* next;
  const stream_context_t* context;
  uint32_t physical;
  void* stream;
  iree_atomic_uint32_t is_busy;
  iree_atomic_int32_t fd;  // of an event that is imported: the pipe's end
};

//===----------------------------------------------------------------------------------------------------------------===
// Lanes
//===----------------------------------------------------------------------------------------------------------------===

static void free_lane(stream_lane_t* lane, iree_allocator_t host_allocator) {
  const stream_api_t* api = lane->context->api;
  if (lane->stream) api->stream_destroy(lane->stream);
  iree_allocator_free(host_allocator, lane);
}

static iree_status_t create_lane(stream_device_t* device, uint32_t physical, stream_lane_t** out_lane) {
  const stream_api_t* api = device->api;
  stream_lane_t* lane = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(device->gpu.base.host_allocator, sizeof(*lane), (void**)&lane));
  lane->context = &device->gpus[physical].context;
  lane->physical = physical;
  iree_atomic_store(&lane->fd, NONE, iree_memory_order_relaxed);
  iree_status_t status = STREAM_CALL(api, stream_create, &lane->stream, STREAM_API_STREAM_NON_BLOCKING);
  if (!iree_status_is_ok(status)) {
    free_lane(lane, device->gpu.base.host_allocator);
    return status;
  }
  *out_lane = lane;
  return status;
}

// An idle lane of the GPU, whose context is entered. Under the mutex, which guards the list.
static iree_status_t take_lane(stream_device_t* device, uint32_t physical, stream_lane_t** out_lane) {
  for (stream_lane_t* lane = device->lanes; lane; lane = lane->next) {
    if (lane->physical != physical || iree_atomic_load(&lane->is_busy, iree_memory_order_acquire)) continue;
    *out_lane = lane;
    return iree_ok_status();
  }
  IREE_RETURN_IF_ERROR(create_lane(device, physical, out_lane));
  (*out_lane)->next = device->lanes;
  device->lanes = *out_lane;
  return iree_ok_status();
}

static void make_idle(stream_lane_t* lane) { iree_atomic_store(&lane->is_busy, 0u, iree_memory_order_release); }

//===----------------------------------------------------------------------------------------------------------------===
// Export
//===----------------------------------------------------------------------------------------------------------------===

static bool is_over(iree_hal_semaphore_t* semaphore, uint64_t value) {
  uint64_t now = 0;
  return iree_status_consume_code(iree_hal_semaphore_query(semaphore, &now)) != IREE_STATUS_OK || now >= value;
}

static iree_status_t check_type(const stream_device_t* device, iree_hal_external_timepoint_type_t type) {
  return (int)type == device->api->library->event_type ? iree_ok_status() : hal_timepoint_refuse(type);
}

// An event that nobody has recorded is over.
iree_status_t stream_export_event(gpu_device_t* base, iree_hal_semaphore_t* semaphore, uint64_t value,
                                  iree_hal_queue_affinity_t queue_affinity, iree_hal_external_timepoint_t* timepoint) {
  stream_device_t* device = (stream_device_t*)base;
  const stream_api_t* api = device->api;
  IREE_RETURN_IF_ERROR(check_type(device, timepoint->type));
  uint32_t physical = gpu_domain_physical(base->domain, gpu_domain_first(base->domain, queue_affinity));
  gpu_producer_t producer = {0};
  gpu_queue_t* queue = NULL;
  bool is_past = is_over(semaphore, value);
  if (!is_past && gpu_semaphore_find_producer(semaphore, value, &producer)) {
    queue = gpu_device_find_queue(base, producer.queue_id);
  }
  if (queue) physical = queue->physical;
  IREE_RETURN_IF_ERROR(stream_context_enter(&device->gpus[physical].context));
  void* event = NULL;
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, event_create, &event, STREAM_API_EVENT_DISABLE_TIMING));
  iree_status_t status = iree_ok_status();
  if (queue) {
    status = STREAM_CALL(api, event_record, event, ((stream_queue_t*)queue)->writer.stream);
  } else if (!is_past && !is_over(semaphore, value)) {
    status = iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                              "no work in a queue reaches %" PRIu64
                              " yet: submit it before its end is exported as an event, or export an async primitive",
                              value);
  }
  if (!iree_status_is_ok(status)) {
    api->event_destroy(event);
    return status;
  }
  timepoint->compatibility |= IREE_HAL_SEMAPHORE_COMPATIBILITY_DEVICE_WAIT;
  if (timepoint->type == IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_CUDA_EVENT) timepoint->handle.cuda_event = event;
  if (timepoint->type == IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_HIP_EVENT) timepoint->handle.hip_event = event;
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Import
//===----------------------------------------------------------------------------------------------------------------===

// A failure is told by the end of the pipe alone.
static void fired(void* stream, int result, void* data) {
  stream_lane_t* lane = (stream_lane_t*)data;
  int fd = iree_atomic_exchange(&lane->fd, NONE, iree_memory_order_acq_rel);
  if (fd == NONE) return;
  if (fd != CANCELLED) {
    ssize_t written = result == STREAM_API_SUCCESS ? write(fd, "", 1) : 0;
    (void)written;  // there is room for one
    close(fd);
  }
  make_idle(lane);
}

// The callback comes nevertheless, and the lane is busy until then.
static void cancel(stream_lane_t* lane, int fd) {
  int32_t expected = fd;
  if (iree_atomic_compare_exchange_strong(&lane->fd, &expected, CANCELLED, iree_memory_order_acq_rel,
                                          iree_memory_order_acquire)) {
    close(fd);
    return;
  }
  while (iree_atomic_load(&lane->is_busy, iree_memory_order_acquire)) iree_thread_yield();  // it is writing
}

static iree_status_t call_back(stream_lane_t* lane, void* event, int fd) {
  const stream_api_t* api = lane->context->api;
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, stream_wait, lane->stream, event, 0));
  iree_atomic_store(&lane->is_busy, 1u, iree_memory_order_relaxed);
  iree_atomic_store(&lane->fd, fd, iree_memory_order_release);
  iree_status_t status = STREAM_CALL(api, stream_callback, lane->stream, fired, lane, 0);
  if (iree_status_is_ok(status)) return status;
  iree_atomic_store(&lane->fd, NONE, iree_memory_order_relaxed);
  make_idle(lane);
  return status;
}

static iree_status_t watch(stream_lane_t* lane, iree_hal_semaphore_t* semaphore, uint64_t value, void* event) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return iree_make_status(iree_status_code_from_errno(errno), "making a pipe: %s", strerror(errno));
  }
  iree_hal_external_timepoint_t end = {.type = IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_ASYNC_PRIMITIVE};
  end.handle.async_primitive = iree_async_primitive_from_fd(ends[0]);
  iree_status_t status = call_back(lane, event, ends[1]);
  if (!iree_status_is_ok(status)) {
    close(ends[1]);
  } else {
    status = iree_hal_semaphore_import_timepoint(semaphore, value, IREE_HAL_QUEUE_AFFINITY_ANY, end);
    if (!iree_status_is_ok(status)) cancel(lane, ends[1]);
  }
  if (!iree_status_is_ok(status)) close(ends[0]);
  return status;
}

// The library holds what it needs of the event, which stays the caller's.
iree_status_t stream_import_event(gpu_device_t* base, iree_hal_semaphore_t* semaphore, uint64_t value,
                                  iree_hal_queue_affinity_t queue_affinity,
                                  const iree_hal_external_timepoint_t* timepoint) {
  stream_device_t* device = (stream_device_t*)base;
  IREE_RETURN_IF_ERROR(check_type(device, timepoint->type));
  void* event = timepoint->type == IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_CUDA_EVENT ? timepoint->handle.cuda_event
                                                                               : timepoint->handle.hip_event;
  if (!event) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no event given");
  if (!device->api->stream_callback) {
    return iree_make_status(IREE_STATUS_UNAVAILABLE,
                            "%s has no callbacks of streams, which tell the ends of events; use an async primitive",
                            device->api->path);
  }
  uint32_t physical = gpu_domain_physical(base->domain, gpu_domain_first(base->domain, queue_affinity));
  stream_lane_t* lane = NULL;
  IREE_RETURN_IF_ERROR(stream_context_enter(&device->gpus[physical].context));
  iree_slim_mutex_lock(&device->lane_mutex);
  iree_status_t status = take_lane(device, physical, &lane);
  if (iree_status_is_ok(status)) status = watch(lane, semaphore, value, event);
  iree_slim_mutex_unlock(&device->lane_mutex);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// The end
//===----------------------------------------------------------------------------------------------------------------===

// Events that were imported are waited for.
void stream_lanes_destroy(stream_device_t* device) {
  while (device->lanes) {
    stream_lane_t* lane = device->lanes;
    device->lanes = lane->next;
    iree_status_ignore(stream_context_enter(lane->context));
    device->api->stream_synchronize(lane->stream);
    fired(lane->stream, STREAM_API_INVALID_VALUE, lane);  // where the library is broken
    free_lane(lane, device->gpu.base.host_allocator);
  }
}
