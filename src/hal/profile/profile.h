// Profiles of queued devices: what is watched between profiling_begin and profiling_end, and told to a sink.
//
//   queue call -> hal_profile_submit -> ready -> { spans of commands } -> hal_profile_end_operation: records
//   profiling_flush, profiling_end: records -> chunks -> the sink
//
// While nothing is profiled a device's profile is NULL, as is that of each operation: what runs is the same, and looks
// at one pointer where it is submitted, where it ends and where a piece of a command begins.
#ifndef IREE_C_HAL_PROFILE_PROFILE_H_
#define IREE_C_HAL_PROFILE_PROFILE_H_

#include "hal/profile/metrics.h"
#include "iree/base/internal/atomics.h"
#include "iree/hal/api.h"

typedef struct hal_queued_device_t hal_queued_device_t;
typedef struct hal_profile_t hal_profile_t;
typedef struct hal_profile_operation_t hal_profile_operation_t;

// A queue: its bit in affinities, and where it is.
typedef struct hal_profile_queue_t {
  uint32_t bit;
  uint32_t physical;
  uint32_t ordinal;
} hal_profile_queue_t;
enum { HAL_PROFILE_MAX_QUEUES = 64 };

// A counter. Its texts live as long as what counts.
typedef struct hal_profile_counter_t {
  iree_string_view_t block, name, description;
  iree_hal_profile_counter_unit_t unit;
  uint32_t value_count;  // of a sample, one for each place that counts; they follow those of the counters before it
} hal_profile_counter_t;

// How a driver's devices count.
typedef struct hal_profile_counting_t {
  uint32_t most_counters;  // at a time
  // Takes the one set of the options, which has no more names than that, each once; its counters, in that order, live
  // as long as what counts. Errors say what is not counted, and why; what was begun is ended then as always.
  iree_status_t (*begin)(hal_queued_device_t* device, const iree_hal_device_profiling_options_t* options,
                         void** out_counting, const hal_profile_counter_t** out_counters);
  // Nothing is sampled any more.
  void (*end)(void* counting);
  // What samples a dispatch on a queue; 0: there is none left, and the dispatch has no sample. Its values, false when
  // there are none; frees it.
  uint64_t (*make_sample)(void* counting, const hal_profile_queue_t* queue);
  bool (*read_sample)(void* counting, uint64_t sample, uint64_t* out_values);
  void (*free_sample)(void* counting, uint64_t sample);
  // What a physical device counted since it was asked the last time, or since the beginning; in ticks.
  iree_status_t (*read_range)(void* counting, uint32_t physical, uint64_t* out_values, uint64_t* out_start,
                              uint64_t* out_end);
} hal_profile_counting_t;

// Device code of an executable, as it is loaded on a physical device.
typedef struct hal_profile_code_t {
  iree_const_byte_span_t data;  // alive as long as the executable
  int64_t load_delta;           // address less the one in the file
  uint64_t load_size;           // bytes
} hal_profile_code_t;

// A part of a trace.
typedef void (*hal_profile_trace_fn_t)(void* user_data, uint32_t shader_engine, const void* data, uint64_t length);

// How a driver's devices trace what dispatches execute.
typedef struct hal_profile_tracing_t {
  iree_hal_profile_executable_trace_format_t format;
  // Errors say why nothing is traced.
  iree_status_t (*begin)(hal_queued_device_t* device, void** out_tracing);
  // Nothing is traced any more.
  void (*end)(void* tracing);
  bool (*find_code)(iree_hal_executable_t* executable, uint32_t physical, hal_profile_code_t* out_code);
  // What traces a dispatch on a queue of code of that number; 0: there is none left. Its parts, false when there are
  // none; frees it.
  uint64_t (*make_trace)(void* tracing, const hal_profile_queue_t* queue, uint64_t code_id,
                         const hal_profile_code_t* code);
  bool (*read_trace)(void* tracing, uint64_t trace, hal_profile_trace_fn_t fn, void* user_data);
  void (*free_trace)(void* tracing, uint64_t trace);
} hal_profile_tracing_t;

// What a driver's devices can tell.
typedef struct hal_profile_interface_t {
  const char* kind;   // in messages; NULL: the device's identifier
  const char* note;   // behind what is not supported; or NULL
  bool runs_on_host;  // work is timed by hal_profile_start and _piece
  iree_hal_device_profiling_data_families_t families;
  iree_hal_device_profiling_data_families_t lightweight;  // the least that gives statistics
  uint32_t (*queues)(hal_queued_device_t* device, hal_profile_queue_t out_queues[HAL_PROFILE_MAX_QUEUES]);
  uint32_t (*worker_count)(hal_queued_device_t* device);  // threads that share a command; NULL: it does not matter
  // A physical device's clock now. NULL: ticks are iree_time_now().
  iree_status_t (*correlate)(hal_queued_device_t* device, uint32_t physical,
                             iree_hal_profile_clock_correlation_record_t* out_record);
  // Of devices that take times in ticks; NULL: nothing is to be done. Begins that for what is asked for, and ends it
  // when that is nothing. `*out_source`: what takes those of dispatches, where a device has several; a name that stays.
  iree_status_t (*enable)(hal_queued_device_t* device, iree_hal_device_profiling_data_families_t families,
                          const char** out_source);
  // What takes the times of a dispatch on a queue; 0: there is none left, and the dispatch has no times. Frees it.
  // `times_operations`: also those of operations with commands, else dispatches give them.
  bool times_operations;
  uint64_t (*make_timer)(hal_queued_device_t* device, const hal_profile_queue_t* queue);
  void (*free_timer)(hal_queued_device_t* device, uint64_t timer);
  const hal_profile_counting_t* counting;  // NULL: there are no counters
  const hal_profile_tracing_t* tracing;    // NULL: there are no traces
  // What samples the metrics of a physical device. Errors say why there are none.
  iree_status_t (*open_metrics)(hal_queued_device_t* device, uint32_t physical, hal_metrics_t** out_metrics);
} hal_profile_interface_t;

// A command of what an operation runs.
typedef struct hal_profile_command_t {
  iree_hal_profile_command_operation_type_t type;
  bool waits;  // for all before it
  iree_hal_profile_command_operation_flags_t flags;
  iree_hal_executable_t* executable;
  uint32_t function;
  uint32_t binding_count;
  uint32_t workgroup_count[3];
  uint32_t workgroup_size[3];
  uint64_t length;
} hal_profile_command_t;

// Which command buffer that is, in the profile that it was seen in last; all zero when it is recorded.
typedef struct hal_profile_id_t {
  uint64_t session;
  uint64_t id;
} hal_profile_id_t;

// What an operation runs: commands, each with the span of its work.
typedef struct hal_profile_program_t {
  hal_profile_id_t* id;                       // guarded by the profile; NULL: it is no command buffer
  iree_hal_command_buffer_t* command_buffer;  // likewise
  uint32_t command_count;
  void (*describe)(const void* commands, uint32_t index, hal_profile_command_t* out_command);
  const void* commands;  // alive as long as the operation
} hal_profile_program_t;

typedef struct hal_profile_submission_t {
  iree_hal_profile_queue_event_type_t type;
  iree_hal_queue_affinity_t queue_affinity;
  iree_hal_semaphore_list_t waits;
  iree_hal_semaphore_list_t signals;
  iree_hal_buffer_t* buffer;  // that is allocated or deallocated
  uint64_t payload_length;    // bytes
  hal_profile_program_t program;
} hal_profile_submission_t;

// The span of a command: when the first piece of it began and the last one ended, and what all threads did.
typedef struct hal_profile_span_t {
  iree_atomic_int64_t start, end;  // iree_time_now(), or ticks; 0: nothing ran
  uint64_t timer;                  // the driver's (make_timer)
  uint64_t sample;                 // the driver's (make_sample)
  uint64_t trace;                  // the driver's (make_trace)
  iree_atomic_uint64_t pieces;     // workgroups
  iree_atomic_uint64_t sum;        // ns
} hal_profile_span_t;

// Begins to watch an operation; NULL when nothing is profiled, or there is no memory, which the profile tells.
hal_profile_operation_t* hal_profile_submit_watched(hal_queued_device_t* device,
                                                    const hal_profile_submission_t* submission);
// It goes to the heap, to wait there.
void hal_profile_defer(hal_profile_operation_t* operation);
// Its waits are over (the first time that it is told): by the device itself when `on_device`.
void hal_profile_ready(hal_profile_operation_t* operation, bool on_device);
// The host begins with it (the first time that it is told).
void hal_profile_start(hal_profile_operation_t* operation);
// A piece of a command was done by one thread of the host.
void hal_profile_piece(hal_profile_operation_t* operation, uint32_t command, uint64_t count, iree_time_t start,
                       iree_time_t end);
// When the device began and ended a command, in ticks; and the whole operation.
void hal_profile_set_command_ticks(hal_profile_operation_t* operation, uint32_t command, uint64_t start, uint64_t end);
void hal_profile_set_ticks(hal_profile_operation_t* operation, uint64_t start, uint64_t end);
// The end. The operation is gone.
void hal_profile_end_operation(hal_profile_operation_t* operation, iree_status_t status);
// It was not submitted after all.
void hal_profile_drop_operation(hal_profile_operation_t* operation);
// Whether the device is to take times of its dispatches; and what takes those of a command, or 0.
bool hal_profile_is_timed_watched(const hal_profile_operation_t* operation);
static inline bool hal_profile_is_timed(const hal_profile_operation_t* operation) {
  return operation && hal_profile_is_timed_watched(operation);
}
uint64_t hal_profile_timer(const hal_profile_operation_t* operation, uint32_t command);
// What samples the counters of a command, or 0.
uint64_t hal_profile_sample_watched(const hal_profile_operation_t* operation, uint32_t command);
static inline uint64_t hal_profile_sample(const hal_profile_operation_t* operation, uint32_t command) {
  return operation ? hal_profile_sample_watched(operation, command) : 0;
}
// What counts for the profile of an operation (counting->begin); NULL: nothing.
void* hal_profile_counting(const hal_profile_operation_t* operation);
// What traces a command, or 0.
uint64_t hal_profile_trace_watched(const hal_profile_operation_t* operation, uint32_t command);
static inline uint64_t hal_profile_trace(const hal_profile_operation_t* operation, uint32_t command) {
  return operation ? hal_profile_trace_watched(operation, command) : 0;
}
// What takes those of the whole operation, or 0.
uint64_t hal_profile_operation_timer_watched(const hal_profile_operation_t* operation);
static inline uint64_t hal_profile_operation_timer(const hal_profile_operation_t* operation) {
  return operation ? hal_profile_operation_timer_watched(operation) : 0;
}

// What happened to memory.
typedef struct hal_profile_memory_t {
  iree_hal_profile_memory_event_type_t type;
  iree_hal_profile_memory_event_flags_t flags;
  iree_hal_queue_affinity_t queue_affinity;
  uint64_t allocation_id;
  uint64_t pool_id;
  uint64_t backing_id;
  uint64_t memory_type;
  uint64_t buffer_usage;
  uint64_t offset;
  uint64_t length;
  uint64_t alignment;
  uint64_t bytes_reserved, bytes_free, bytes_committed;  // of the pool, with POOL_STATS
} hal_profile_memory_t;
void hal_profile_memory_watched(hal_queued_device_t* device, const hal_profile_memory_t* memory);
// A number for an allocation, of this process.
uint64_t hal_profile_new_allocation(void);

// Whether somebody said that profiles will ask for some of the families (iree_hal_device_profiling_expect).
bool hal_profile_is_expected(iree_hal_device_profiling_data_families_t data_families);

// The vtable's, for all queued devices.
iree_status_t hal_device_profiling_begin(iree_hal_device_t* device, const iree_hal_device_profiling_options_t* options);
iree_status_t hal_device_profiling_flush(iree_hal_device_t* device);
iree_status_t hal_device_profiling_end(iree_hal_device_t* device);

#endif  // IREE_C_HAL_PROFILE_PROFILE_H_
