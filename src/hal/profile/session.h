// Sessions: what is collected for a sink, and the numbers that things have in it.
#ifndef IREE_C_HAL_PROFILE_SESSION_H_
#define IREE_C_HAL_PROFILE_SESSION_H_

#include "hal/profile/profile.h"
#include "hal/queued_device.h"

typedef enum {
#define CHUNK(name, content_type, is_precise) PROFILE_##name,
#include "hal/profile/chunks.def"
  PROFILE_CHUNK_COUNT,
} profile_chunk_t;

// Records of one content type, of any lengths, one after the other.
typedef struct profile_records_t {
  uint8_t* data;
  size_t length, capacity;  // bytes
  uint64_t dropped;         // records
} profile_records_t;

typedef struct profile_executable_t {
  iree_hal_executable_t* executable;  // retained, so that its address stays its own
  uint64_t id;
} profile_executable_t;

typedef struct profile_buffer_t {
  const iree_hal_buffer_t* buffer;
  uint64_t allocation_id;
  bool is_imported;
} profile_buffer_t;

typedef struct profile_metrics_t {
  hal_metrics_t* metrics;
  uint32_t physical;
  uint32_t metric_count;  // that are described; 0: none is yet
  uint64_t metric_ids[HAL_METRICS_MAX];
} profile_metrics_t;

struct hal_profile_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t host_allocator;
  const hal_profile_interface_t* interface;
  uint64_t id;
  iree_hal_device_profiling_data_families_t families;
  iree_hal_profile_capture_filter_t filter;  // its pattern is `pattern`
  char* pattern;
  iree_hal_profile_sink_t* sink;  // retained
  iree_string_view_t name;        // the device's
  const char* source;             // of dispatches' times, if the device says so; or NULL
  uint32_t queue_count;
  hal_profile_queue_t queues[HAL_PROFILE_MAX_QUEUES];
  uint32_t worker_count;

  iree_slim_mutex_t flushing;  // of who talks to the sink; taken first
  iree_slim_mutex_t mutex;     // guards what follows
  bool is_closed;              // what comes from now on is too late
  uint64_t submissions, command_buffers, relations, clock_samples;
  uint64_t events[PROFILE_CHUNK_COUNT];
  profile_records_t records[PROFILE_CHUNK_COUNT];
  profile_records_t
      dispatches[HAL_PROFILE_MAX_QUEUES];  // as DISPATCH_EVENTS, which do not say their queue: by `queues`
  iree_host_size_t executable_count, executable_capacity;  // of a hash table; a power of two, or 0
  profile_executable_t* executables;
  iree_host_size_t buffer_count, buffer_capacity;  // alive, of the allocator
  profile_buffer_t* buffers;

  // counters.c: what the driver counts with, what it counts, and room for a sample, under the mutex.
  void* counting;
  const hal_profile_counter_t* counters;
  uint32_t counter_count, value_count;
  uint64_t* values;

  void* tracing;  // traces.c: what the driver traces with

  // device_metrics.c: what samples each physical device. Of who flushes.
  uint32_t metrics_count;
  profile_metrics_t metrics[HAL_PROFILE_MAX_QUEUES];

  iree_hal_allocator_t* allocator;  // the device's, when buffers are watched (buffers.c); not retained
  hal_profile_t* next_watcher;
};

#define PROFILE_TICKS \
  (IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS | IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_QUEUE_EVENTS)
#define PROFILE_COUNTS (IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES | IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_RANGES)
static inline bool profile_wants(const hal_profile_t* profile, iree_hal_device_profiling_data_families_t families) {
  return (profile->families & families) != 0;
}

// Begins to tell what an allocator makes; before, and while, operations are. Ends it.
void profile_watch_buffers(hal_profile_t* profile, iree_hal_allocator_t* allocator);
void profile_unwatch_buffers(hal_profile_t* profile);

// Begins to count what the options ask for, before anything is told. Ended with the profile.
iree_status_t profile_begin_counting(hal_queued_device_t* device, hal_profile_t* profile,
                                     const iree_hal_device_profiling_options_t* options);
void profile_end_counting(hal_profile_t* profile);
// Tells what was counted up to now, where that is wanted.
iree_status_t profile_sample_ranges(hal_profile_t* profile);

// The same of traces; and what tells of an executable's code, under the mutex, if there are any.
iree_status_t profile_begin_tracing(hal_queued_device_t* device, hal_profile_t* profile,
                                    const iree_hal_device_profiling_options_t* options);
void profile_end_tracing(hal_profile_t* profile);
void profile_describe_code(hal_profile_t* profile, iree_hal_executable_t* executable, uint64_t id);
// What traces a dispatch of an executable; 0, when there is no room.
uint64_t profile_make_trace(hal_profile_t* profile, const hal_profile_queue_t* queue,
                            iree_hal_executable_t* executable);
// Writes what was traced, a chunk each.
iree_status_t profile_write_traces(hal_profile_t* profile, const profile_records_t* records);

// The same of metrics, which are sampled now and each time that they are to be.
iree_status_t profile_begin_metrics(hal_queued_device_t* device, hal_profile_t* profile);
void profile_end_metrics(hal_profile_t* profile);
void profile_sample_metrics(hal_profile_t* profile);

// What chunks of a session have alike.
iree_hal_profile_chunk_metadata_t profile_metadata(const hal_profile_t* profile, iree_string_view_t content_type);

// The device's profile, retained; NULL: none.
hal_profile_t* profile_acquire(hal_queued_device_t* device);
void profile_release(hal_profile_t* profile);

// Where a queue operation goes.
const hal_profile_queue_t* profile_queue(const hal_profile_t* profile, iree_hal_queue_affinity_t affinity);

// The following with the mutex held. Records that find no room are counted as dropped.
void profile_append(hal_profile_t* profile, profile_chunk_t chunk, const void* record, size_t length);
// The same, and `trailing_length` bytes behind it.
void profile_append_with(hal_profile_t* profile, profile_chunk_t chunk, const void* record, size_t length,
                         const void* trailing, size_t trailing_length);
void profile_append_memory(hal_profile_t* profile, const hal_profile_memory_t* memory);
void profile_append_dispatch(hal_profile_t* profile, const hal_profile_queue_t* queue,
                             const iree_hal_profile_dispatch_event_t* event);
// The values of a driver's sample, with what the record says of its dispatch.
void profile_append_sample(hal_profile_t* profile, iree_hal_profile_counter_sample_record_t* record, uint64_t sample);
// The data of a driver's trace, likewise.
void profile_append_trace(hal_profile_t* profile, iree_hal_profile_executable_trace_record_t* record, uint64_t trace);
// Its number; 0 when there is no memory. The first time that it is asked for it is described.
uint64_t profile_executable(hal_profile_t* profile, iree_hal_executable_t* executable);
uint64_t profile_command_buffer(hal_profile_t* profile, const hal_profile_program_t* program,
                                const hal_profile_queue_t* queue);
// Whether a function's name is what the filter asks for.
bool profile_takes_function(const hal_profile_t* profile, const hal_profile_command_t* command);

#endif  // IREE_C_HAL_PROFILE_SESSION_H_
