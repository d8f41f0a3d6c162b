// Events.
#include <stdlib.h>

#include "softgpu/cuda/calls.h"
#include "softgpu/cuda/capture.h"
#include "softgpu/cuda/stream.h"

void event_forget_capture(event_t* event) {
  free(event->nodes);
  event->nodes = NULL;
  event->node_count = 0;
  event->capture = 0;
  event->graph = NULL;
}

void event_release(event_t* event) {
  if (!event || --event->references) return;
  event_forget_capture(event);
  stream_release(event->place.stream);
  free(event);
}

uint64_t event_set(event_t* event, stream_t* stream) {
  event_forget_capture(event);
  stream_retain(stream);
  stream_release(event->place.stream);
  event->place = (place_t){stream, stream->submitted};
  return ++event->record;
}

static void remove_event(event_t* event) {
  event_t** at = &event->context->events;
  while (*at && *at != event) at = &(*at)->next;
  if (*at) *at = event->next;
  event->is_destroyed = true;
  object_remove(event);
  event_release(event);
}

void event_destroy_all(context_t* context) {
  driver_lock();
  while (context->events) remove_event(context->events);
  driver_unlock();
}

result_t cuEventCreate(event_t** out, unsigned flags) {
  context_t* context;
  CHECK(context_enter(&context));
  REQUIRE(out && !(flags & ~(EVENT_BLOCKING_SYNC | EVENT_DISABLE_TIMING | EVENT_INTERPROCESS)),
          CUDA_ERROR_INVALID_VALUE);
  if (flags & EVENT_INTERPROCESS)
    return driver_refuse("cuEventCreate", "of an event for other processes: there are none");
  event_t* event = malloc(sizeof(*event));
  REQUIRE(event, CUDA_ERROR_OUT_OF_MEMORY);
  *event = (event_t){.references = 1, .context = context, .flags = flags};
  if (!object_add(event, OBJECT_EVENT)) return free(event), CUDA_ERROR_OUT_OF_MEMORY;
  driver_lock();
  event->next = context->events;
  context->events = event;
  driver_unlock();
  *out = event;
  return CUDA_SUCCESS;
}

result_t cuEventDestroy_v2(event_t* event) {
  CHECK(driver_enter());
  REQUIRE(object_is(event, OBJECT_EVENT), CUDA_ERROR_INVALID_HANDLE);
  driver_lock();
  remove_event(event);
  driver_unlock();
  return CUDA_SUCCESS;
}
result_t cuEventDestroy(event_t* event) { return cuEventDestroy_v2(event); }

// A stream that has nothing to do has done this already.
static result_t record(event_t* event, stream_t* stream) {
  if (stream->capture) return capture_record(stream, event);
  CHECK(capture_forbids_legacy(stream));
  bool is_idle =
      stream->completed == stream->submitted && !stream->is_legacy &&
      (stream->flags & STREAM_NON_BLOCKING || stream->context->legacy->completed == stream->context->legacy->submitted);
  if (is_idle) {
    event_set(event, stream);
    event->time = driver_nanoseconds();
    return CUDA_SUCCESS;
  }
  work_t work = {.kind = WORK_RECORD, .event = {event, event->record + 1}};
  ++event->references;
  CHECK(stream_enqueue(stream, &work, NULL, 0));
  event_set(event, stream);
  return CUDA_SUCCESS;
}

result_t cuEventRecordWithFlags(event_t* event, stream_t* stream, unsigned flags) {
  context_t* context;
  CHECK(context_enter(&context));
  REQUIRE(object_is(event, OBJECT_EVENT), CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(flags <= 1, CUDA_ERROR_INVALID_VALUE);
  CHECK(stream_find(stream, context, &stream));
  REQUIRE(event->context == stream->context, CUDA_ERROR_INVALID_HANDLE);
  driver_lock();
  result_t result = record(event, stream);
  driver_unlock();
  return result;
}
result_t cuEventRecord(event_t* event, stream_t* stream) { return cuEventRecordWithFlags(event, stream, 0); }

// Waits of an event that was never recorded are none.
static result_t wait(stream_t* stream, event_t* event) {
  if (stream->capture || event->capture) return capture_wait(stream, event);
  if (!event->place.stream || place_is_done(&event->place)) return CUDA_SUCCESS;
  place_t* waits = malloc(sizeof(*waits));
  REQUIRE(waits, CUDA_ERROR_OUT_OF_MEMORY);
  *waits = event->place;
  stream_retain(waits->stream);
  work_t work = {.kind = WORK_EMPTY};
  return stream_enqueue(stream, &work, waits, 1);
}

result_t cuStreamWaitEvent(stream_t* stream, event_t* event, unsigned flags) {
  context_t* context;
  CHECK(context_enter(&context));
  CHECK(stream_find(stream, context, &stream));
  REQUIRE(object_is(event, OBJECT_EVENT), CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(flags <= 1, CUDA_ERROR_INVALID_VALUE);
  driver_lock();
  result_t result = wait(stream, event);
  driver_unlock();
  return result;
}

// The event of a call that looks at it.
static result_t enter(event_t* event) {
  CHECK(driver_enter());
  REQUIRE(object_is(event, OBJECT_EVENT), CUDA_ERROR_INVALID_HANDLE);
  return context_error(event->context);
}

result_t cuEventQuery(event_t* event) {
  CHECK(enter(event));
  driver_lock();
  result_t result = event->capture ? CUDA_ERROR_CAPTURED_EVENT : CUDA_SUCCESS;
  if (result == CUDA_SUCCESS && event->place.stream && !place_is_done(&event->place)) result = CUDA_ERROR_NOT_READY;
  driver_unlock();
  return result;
}

result_t cuEventSynchronize(event_t* event) {
  CHECK(enter(event));
  driver_lock();
  context_t* context = event->context;
  result_t result = event->capture ? CUDA_ERROR_CAPTURED_EVENT : CUDA_SUCCESS;
  if (result == CUDA_SUCCESS && event->place.stream) stream_await(event->place.stream, event->place.number);
  driver_unlock();
  return result == CUDA_SUCCESS ? context_error(context) : result;
}

result_t cuEventElapsedTime(float* out, event_t* begin, event_t* end) {
  CHECK(enter(begin));
  CHECK(enter(end));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  REQUIRE(!((begin->flags | end->flags) & EVENT_DISABLE_TIMING), CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(begin->context == end->context, CUDA_ERROR_INVALID_HANDLE);
  driver_lock();
  result_t result = CUDA_SUCCESS;
  if (!begin->place.stream || !end->place.stream) {
    result = CUDA_ERROR_INVALID_HANDLE;
  } else if (!place_is_done(&begin->place) || !place_is_done(&end->place)) {
    result = CUDA_ERROR_NOT_READY;
  } else {
    *out = (float)((double)((int64_t)(end->time - begin->time)) * 1e-6);
  }
  driver_unlock();
  return result;
}
result_t cuEventElapsedTime_v2(float* out, event_t* begin, event_t* end) { return cuEventElapsedTime(out, begin, end); }
