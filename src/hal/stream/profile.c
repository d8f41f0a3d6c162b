// Times of work in streams: events before and behind it; and of dispatches, where CUPTI is there, its records.
//
// The library tells how long it is from one event to another. A GPU's clock is an event of which we say when it was, by
// the host's clock; what comes later is that much behind it. Milliseconds in a float are exact to some 30 ns for half a
// second, so that the event is replaced by one that came later when it is as old.
#include "hal/gpu/operation.h"
#include "hal/stream/activity.h"
#include "hal/stream/counters.h"
#include "hal/stream/device.h"

enum { REBASE_NS = 500000000 };

static stream_device_t* cast(hal_queued_device_t* base) { return (stream_device_t*)base; }

static void swap(void** a, void** b) {
  void* kept = *a;
  *a = *b;
  *b = kept;
}

//===----------------------------------------------------------------------------------------------------------------===
// Clocks; the mutex is held, the context entered
//===----------------------------------------------------------------------------------------------------------------===

// From one event to another that may be before it, in nanoseconds. Both are over.
static iree_status_t measure(const stream_api_t* api, void* begin, void* end, int64_t* out_ns) {
  float milliseconds = 0;
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, event_elapsed, &milliseconds, begin, end));
  *out_ns = (int64_t)((double)milliseconds * 1e6);
  return iree_ok_status();
}

static iree_status_t create_clock(stream_gpu_t* gpu) {
  const stream_api_t* api = gpu->context.api;
  stream_clock_t* clock = &gpu->clock;
  if (!clock->base) IREE_RETURN_IF_ERROR(STREAM_CALL(api, event_create, &clock->base, 0));
  if (!clock->latest) IREE_RETURN_IF_ERROR(STREAM_CALL(api, event_create, &clock->latest, 0));
  if (!clock->stream) {
    IREE_RETURN_IF_ERROR(STREAM_CALL(api, stream_create, &clock->stream, STREAM_API_STREAM_NON_BLOCKING));
  }
  iree_time_t before = iree_time_now();
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, event_record, clock->base, clock->stream));
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, event_synchronize, clock->base));
  clock->tick = (uint64_t)(before + (iree_time_now() - before) / 2);
  return iree_ok_status();
}

void stream_clock_destroy(stream_gpu_t* gpu, iree_allocator_t host_allocator) {
  const stream_api_t* api = gpu->context.api;
  stream_clock_t* clock = &gpu->clock;
  if (!clock->base) return;
  iree_status_ignore(stream_context_enter(&gpu->context));
  for (stream_timer_t* timer = clock->idle; timer;) {
    stream_timer_t* next = timer->next;
    api->event_destroy(timer->begin);
    api->event_destroy(timer->end);
    iree_allocator_free(host_allocator, timer);
    timer = next;
  }
  api->event_destroy(clock->base);
  if (clock->latest) api->event_destroy(clock->latest);
  if (clock->stream) api->stream_destroy(clock->stream);
  *clock = (stream_clock_t){0};
}

iree_status_t stream_clock_start(stream_device_t* device) {
  if (!device->api->event_elapsed) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                            "%s has no %s, which times are taken with; --device_profiling_mode=queue-events needs none",
                            device->api->path, device->api->library->symbols.event_elapsed.name);
  }
  iree_status_t status = iree_ok_status();
  iree_slim_mutex_lock(&device->clock_mutex);
  for (uint32_t i = 0; i < device->gpu.domain.physical_count && iree_status_is_ok(status); ++i) {
    stream_gpu_t* gpu = &device->gpus[i];
    if (gpu->clock.tick) continue;
    status = stream_context_enter(&gpu->context);
    if (iree_status_is_ok(status)) status = create_clock(gpu);
  }
  iree_slim_mutex_unlock(&device->clock_mutex);
  return status;
}

// The clock keeps running when nobody asks for times any more: what is in flight may have timers.
static iree_status_t enable(hal_queued_device_t* base, iree_hal_device_profiling_data_families_t families,
                            const char** out_source) {
  return families ? stream_clock_start(cast(base)) : iree_ok_status();
}

// Begins to record, or says why not.
static bool begin_recording(stream_device_t* device) {
  iree_status_t status = activity_begin();
  bool is_recorded = iree_status_is_ok(status);
  iree_string_view_t why = iree_status_message(status);
  iree_string_view_split(why, '\n', &why, NULL);
  snprintf(device->time_source, sizeof(device->time_source), "cuda: %s%s%.*s",
           is_recorded ? "CUPTI's records of kernels" : "events around launches", is_recorded ? "" : ": ",
           (int)why.size, why.data);
  iree_status_ignore(status);
  return is_recorded;
}

// None may be missing.
static iree_status_t end_recording(stream_device_t* device) {
  iree_status_t status = iree_ok_status();
  activity_end();
  iree_slim_mutex_lock(&device->clock_mutex);
  if (device->lost) {
    status = iree_make_status(IREE_STATUS_DATA_LOSS,
                              "CUPTI recorded no times of the dispatches of %" PRIu32
                              " submissions: of the last one %" PRIu32 " kernels for %" PRIu32
                              " dispatches; --cuda_cupti_path=/nowhere takes times by events",
                              device->lost, device->lost_kernels, device->lost_dispatches);
  }
  device->lost = 0;
  iree_slim_mutex_unlock(&device->clock_mutex);
  return status;
}

// Kernels are recorded where times of dispatches are asked for, and nothing of what the library counts itself.
static iree_status_t enable_cuda(hal_queued_device_t* base, iree_hal_device_profiling_data_families_t families,
                                 const char** out_source) {
  const iree_hal_device_profiling_data_families_t counts =
      IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES | IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_RANGES;
  stream_device_t* device = cast(base);
  bool is_wanted = families & IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS && !(families & counts);
  bool was_recorded = iree_atomic_load(&device->is_recorded, iree_memory_order_relaxed);
  IREE_RETURN_IF_ERROR(enable(base, families, out_source));
  if (was_recorded && !families) {
    iree_atomic_store(&device->is_recorded, 0, iree_memory_order_relaxed);
    return end_recording(device);
  }
  bool is_recorded = families && (was_recorded || (is_wanted && begin_recording(device)));
  iree_atomic_store(&device->is_recorded, is_recorded, iree_memory_order_relaxed);
  if (is_wanted) *out_source = device->time_source;
  return iree_ok_status();
}

// None may lack its counters.
static iree_status_t enable_hip(hal_queued_device_t* base, iree_hal_device_profiling_data_families_t families,
                                const char** out_source) {
  uint32_t uncounted = iree_atomic_exchange(&cast(base)->uncounted, 0, iree_memory_order_relaxed);
  if (families || !uncounted) return enable(base, families, out_source);
  return iree_make_status(IREE_STATUS_DATA_LOSS,
                          "rocprofiler-sdk counted nothing of %" PRIu32
                          " dispatches: it sees kernels where it is loaded before HIP (--hip_rocprofiler_path=, "
                          "IREE_HIP_ROCPROFILER_PATH) and HIP launches on the thread that asks "
                          "(AMD_DIRECT_DISPATCH=1); --device=amdgpu counts on the same GPUs",
                          uncounted);
}

static iree_status_t look(stream_gpu_t* gpu, uint64_t* out_tick) {
  const stream_api_t* api = gpu->context.api;
  stream_clock_t* clock = &gpu->clock;
  int64_t distance = 0;
  IREE_RETURN_IF_ERROR(stream_context_enter(&gpu->context));
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, event_record, clock->latest, clock->stream));
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, event_synchronize, clock->latest));
  IREE_RETURN_IF_ERROR(measure(api, clock->base, clock->latest, &distance));
  swap(&clock->base, &clock->latest);
  clock->tick += (uint64_t)distance;
  *out_tick = clock->tick;
  return iree_ok_status();
}

iree_status_t stream_clock_read(stream_device_t* device, uint32_t physical, uint64_t* out_tick) {
  iree_slim_mutex_lock(&device->clock_mutex);
  iree_status_t status = look(&device->gpus[physical], out_tick);
  iree_slim_mutex_unlock(&device->clock_mutex);
  return status;
}

static iree_status_t correlate(hal_queued_device_t* base, uint32_t physical,
                               iree_hal_profile_clock_correlation_record_t* out_record) {
  return stream_clock_read(cast(base), physical, &out_record->device_tick);
}

//===----------------------------------------------------------------------------------------------------------------===
// Timers
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t create_timer(stream_gpu_t* gpu, iree_allocator_t host_allocator, stream_timer_t** out_timer) {
  const stream_api_t* api = gpu->context.api;
  stream_timer_t* timer = NULL;
  IREE_RETURN_IF_ERROR(stream_context_enter(&gpu->context));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*timer), (void**)&timer));
  iree_status_t status = STREAM_CALL(api, event_create, &timer->begin, 0);
  if (iree_status_is_ok(status)) status = STREAM_CALL(api, event_create, &timer->end, 0);
  if (!iree_status_is_ok(status)) {
    if (timer->begin) api->event_destroy(timer->begin);
    iree_allocator_free(host_allocator, timer);
    return status;
  }
  *out_timer = timer;
  return status;
}

// There are as many as are used at a time: they are kept.
static uint64_t make_timer(hal_queued_device_t* base, const hal_profile_queue_t* queue) {
  stream_device_t* device = cast(base);
  stream_gpu_t* gpu = &device->gpus[queue->physical];
  iree_slim_mutex_lock(&device->clock_mutex);
  stream_timer_t* timer = gpu->clock.idle;
  if (timer) gpu->clock.idle = timer->next;
  iree_slim_mutex_unlock(&device->clock_mutex);
  if (!timer) iree_status_ignore(create_timer(gpu, base->host_allocator, &timer));
  if (!timer) return 0;
  timer->physical = queue->physical;
  timer->has_begun = timer->has_ended = timer->is_recorded = false;
  return (uint64_t)(uintptr_t)timer;
}

static void free_timer(hal_queued_device_t* base, uint64_t handle) {
  stream_device_t* device = cast(base);
  stream_timer_t* timer = (stream_timer_t*)(uintptr_t)handle;
  stream_clock_t* clock = &device->gpus[timer->physical].clock;
  iree_slim_mutex_lock(&device->clock_mutex);
  timer->next = clock->idle;
  clock->idle = timer;
  iree_slim_mutex_unlock(&device->clock_mutex);
}

// By how much of the library's times is allowed.
#define INTERFACE(more, ...) INTERFACE_OF(enable, more, __VA_ARGS__)
#define INTERFACE_OF(begin_and_end, more, ...)                                                \
  {.families = GPU_PROFILE_FAMILIES | IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_METRICS | (more), \
   .lightweight = GPU_TIMED_PROFILE_LIGHTWEIGHT & (GPU_PROFILE_FAMILIES | (more)),            \
   .queues = gpu_profile_queues,                                                              \
   .correlate = correlate,                                                                    \
   .enable = begin_and_end,                                                                   \
   .times_operations = true,                                                                  \
   .make_timer = make_timer,                                                                  \
   .free_timer = free_timer,                                                                  \
   .open_metrics = stream_metrics_open,                                                       \
   __VA_ARGS__}
const hal_profile_interface_t stream_profile_interfaces[STREAM_MAX_TRACING] = {
    INTERFACE(0, .note = "; --cuda_tracing=0 or --hip_tracing=0 takes no times"),
    INTERFACE(IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_QUEUE_EVENTS,
              .note = "; --cuda_tracing=1 or --hip_tracing=1 takes no times of dispatches"),
};
#define COUNTING_FAMILIES                                                        \
  (GPU_TIMED_PROFILE_FAMILIES | IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES | \
   IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_RANGES)
const hal_profile_interface_t stream_cuda_profile_interface =
    INTERFACE_OF(enable_cuda, COUNTING_FAMILIES, .kind = "cuda", .counting = &stream_cuda_counting.base);
const hal_profile_interface_t stream_hip_profile_interface =
    INTERFACE_OF(enable_hip, COUNTING_FAMILIES, .kind = "hip", .counting = &stream_hip_counting.base);

// The first time that it is told.
iree_status_t stream_timer_begin(const stream_api_t* api, stream_timer_t* timer, void* stream) {
  if (!timer || timer->has_begun) return iree_ok_status();
  timer->has_begun = true;
  return STREAM_CALL(api, event_record, timer->begin, stream);
}

iree_status_t stream_timer_end(const stream_api_t* api, stream_timer_t* timer, void* stream) {
  if (!timer) return iree_ok_status();
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, event_record, timer->end, stream));
  timer->has_ended = true;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Times
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t read_locked(stream_gpu_t* gpu, stream_timer_t* timer, uint64_t out_ticks[2]) {
  const stream_api_t* api = gpu->context.api;
  stream_clock_t* clock = &gpu->clock;
  int64_t begin = 0, duration = 0;
  IREE_RETURN_IF_ERROR(measure(api, clock->base, timer->begin, &begin));
  IREE_RETURN_IF_ERROR(measure(api, timer->begin, timer->end, &duration));
  out_ticks[0] = clock->tick + (uint64_t)begin;
  out_ticks[1] = out_ticks[0] + (uint64_t)duration;
  if (begin + duration > REBASE_NS) {
    swap(&clock->base, &timer->end);
    clock->tick = out_ticks[1];
  }
  return iree_ok_status();
}

// False where there are none: an empty grid is not launched, and what failed did not end.
static bool read_timer(stream_device_t* device, uint64_t handle, uint64_t out_ticks[2]) {
  stream_timer_t* timer = (stream_timer_t*)(uintptr_t)handle;
  if (!timer || !timer->has_ended) return false;
  stream_gpu_t* gpu = &device->gpus[timer->physical];
  iree_slim_mutex_lock(&device->clock_mutex);
  iree_status_t status = stream_context_enter(&gpu->context);
  if (iree_status_is_ok(status)) status = read_locked(gpu, timer, out_ticks);
  iree_slim_mutex_unlock(&device->clock_mutex);
  return iree_status_consume_code(status) == IREE_STATUS_OK;
}

uint64_t stream_part_number(const gpu_queue_t* queue, const gpu_part_t* part) { return queue->id << 40 | part->epoch; }

static bool is_recorded(const hal_profile_operation_t* profile, uint32_t command) {
  const stream_timer_t* timer = (const stream_timer_t*)(uintptr_t)hal_profile_timer(profile, command);
  return timer && timer->is_recorded;
}

// A kernel that is launched early waits for the one before it: its own time begins then. Clocks of records and of
// events are some microseconds apart: `ticks` are the operation's by its events, within which its dispatches are.
static void note_kernels(const gpu_part_t* part, const activity_kernel_t* kernels, uint32_t count,
                         const uint64_t ticks[2]) {
  hal_profile_operation_t* profile = part->operation->base.profile;
  uint64_t first = kernels[0].start, last = 0, shift = 0;
  for (uint32_t i = 0; i < count; ++i) last = iree_max(last, kernels[i].end);
  if (ticks && last + (ticks[0] - first) <= ticks[1] && first < ticks[0]) shift = ticks[0] - first;
  if (ticks && last > ticks[1]) shift = ticks[1] - last;
  for (uint32_t i = part->first, next = 0; i < part->next; ++i) {
    if (!is_recorded(profile, i)) continue;
    uint64_t start = iree_max(kernels[next].start, first), end = iree_max(kernels[next].end, start);
    hal_profile_set_command_ticks(profile, i, start + shift, end + shift);
    first = end;
    ++next;
  }
}

static void note_lost(stream_device_t* device, uint32_t kernels, uint32_t dispatches) {
  iree_slim_mutex_lock(&device->clock_mutex);
  ++device->lost;
  device->lost_kernels = kernels;
  device->lost_dispatches = dispatches;
  iree_slim_mutex_unlock(&device->clock_mutex);
}

static void note_recorded(gpu_queue_t* queue, const gpu_part_t* part, const uint64_t ticks[2]) {
  hal_profile_operation_t* profile = part->operation->base.profile;
  iree_allocator_t host_allocator = queue->device->base.host_allocator;
  activity_kernel_t* kernels = NULL;
  uint32_t count = 0;
  if (!hal_profile_is_timed(profile)) return;
  for (uint32_t i = part->first; i < part->next; ++i) count += is_recorded(profile, i);
  if (!count) return;
  iree_status_t status = iree_allocator_malloc_array(host_allocator, count, sizeof(*kernels), (void**)&kernels);
  if (iree_status_consume_code(status) != IREE_STATUS_OK) return;
  uint32_t found = activity_take(stream_part_number(queue, part), count, kernels);
  if (found == count) {
    note_kernels(part, kernels, count, ticks);
  } else {
    note_lost((stream_device_t*)queue->device, found, count);
  }
  iree_allocator_free(host_allocator, kernels);
}

void stream_note_times(gpu_queue_t* queue, const gpu_part_t* part) {
  stream_device_t* device = (stream_device_t*)queue->device;
  hal_profile_operation_t* profile = part->operation->base.profile;
  uint64_t ticks[2];
  for (uint32_t i = part->first; i < part->next && hal_profile_is_timed(profile); ++i) {
    if (read_timer(device, hal_profile_timer(profile, i), ticks)) {
      hal_profile_set_command_ticks(profile, i, ticks[0], ticks[1]);
    }
  }
  bool is_known = part->is_final && read_timer(device, hal_profile_operation_timer(profile), ticks);
  if (is_known) hal_profile_set_ticks(profile, ticks[0], ticks[1]);
  note_recorded(queue, part, is_known && part->first == 0 ? ticks : NULL);
}
