// What a device is asked to tell while it is profiled (iree_hal_device_profiling_begin).
#ifndef IREE_HAL_PROFILE_OPTIONS_H_
#define IREE_HAL_PROFILE_OPTIONS_H_

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "iree/base/api.h"
#include "iree/hal/profile_sink.h"

#ifdef __cplusplus
extern "C" {
#endif

// Families of records, any of which may be asked for together.
enum iree_hal_device_profiling_data_family_bits_t {
  IREE_HAL_DEVICE_PROFILING_DATA_NONE = 0u,
  IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS = 1ull << 0,           // queue operations in the host's time
  IREE_HAL_DEVICE_PROFILING_DATA_HOST_EXECUTION_EVENTS = 1ull << 1,  // work that the host does
  IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_QUEUE_EVENTS = 1ull << 2,    // queue operations in the device's time
  IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS = 1ull << 3,        // dispatches in the device's time
  IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES = 1ull << 4,        // counters of single operations
  IREE_HAL_DEVICE_PROFILING_DATA_EXECUTABLE_METADATA = 1ull << 5,    // executables, command buffers
  IREE_HAL_DEVICE_PROFILING_DATA_EXECUTABLE_TRACES = 1ull << 6,      // instructions
  IREE_HAL_DEVICE_PROFILING_DATA_MEMORY_EVENTS = 1ull << 7,          // allocations and reservations
  IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_METRICS = 1ull << 8,         // clocks, temperature, power
  IREE_HAL_DEVICE_PROFILING_DATA_COMMAND_REGION_EVENTS = 1ull << 9,  // what is between barriers, and who did it
  IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_RANGES = 1ull << 10,        // counters over time
};
typedef uint64_t iree_hal_device_profiling_data_families_t;

enum iree_hal_device_profiling_flag_bits_t {
  IREE_HAL_DEVICE_PROFILING_FLAG_NONE = 0u,
  // Besides what is asked for, whatever gives statistics of execution at the least cost.
  IREE_HAL_DEVICE_PROFILING_FLAG_LIGHTWEIGHT_STATISTICS = 1u << 0,
};
typedef uint32_t iree_hal_device_profiling_flags_t;

// Which fields of a filter count.
enum iree_hal_profile_capture_filter_flag_bits_t {
  IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_NONE = 0u,
  IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_EXECUTABLE_FUNCTION_PATTERN = 1u << 0,
  IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_COMMAND_BUFFER_ID = 1u << 1,
  IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_COMMAND_INDEX = 1u << 2,
  IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_PHYSICAL_DEVICE_ORDINAL = 1u << 3,
  IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_QUEUE_ORDINAL = 1u << 4,
};
typedef uint32_t iree_hal_profile_capture_filter_flags_t;

// The operations whose times, counters and traces are wanted; metadata comes whole. All zero: all of them.
typedef struct iree_hal_profile_capture_filter_t {
  iree_hal_profile_capture_filter_flags_t flags;
  iree_string_view_t executable_function_pattern;  // iree_string_view_match_pattern
  uint64_t command_buffer_id;                      // of the session
  uint32_t command_index;                          // queue operations of their own have none
  uint32_t physical_device_ordinal;
  uint32_t queue_ordinal;
  uint32_t reserved0;
} iree_hal_profile_capture_filter_t;

static inline iree_hal_profile_capture_filter_t iree_hal_profile_capture_filter_default(void) {
  iree_hal_profile_capture_filter_t filter;
  memset(&filter, 0, sizeof(filter));
  return filter;
}
static inline bool iree_hal_profile_capture_filter_is_default(const iree_hal_profile_capture_filter_t* filter) {
  return filter->flags == IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_NONE;
}
// Whether the filter takes an operation at that place; names of functions are another matter.
IREE_API_EXPORT bool iree_hal_profile_capture_filter_matches_location(const iree_hal_profile_capture_filter_t* filter,
                                                                      uint64_t command_buffer_id,
                                                                      uint32_t command_index,
                                                                      uint32_t physical_device_ordinal,
                                                                      uint32_t queue_ordinal);

typedef uint32_t iree_hal_profile_counter_set_selection_flags_t;
// Counters, as the driver names them, that are sampled together.
typedef struct iree_hal_profile_counter_set_selection_t {
  iree_hal_profile_counter_set_selection_flags_t flags;
  iree_string_view_t name;
  iree_host_size_t counter_name_count;
  const iree_string_view_t* counter_names;
} iree_hal_profile_counter_set_selection_t;

// Everything is the caller's, and copied or retained when begin succeeds.
typedef struct iree_hal_device_profiling_options_t {
  iree_hal_device_profiling_flags_t flags;
  iree_hal_device_profiling_data_families_t data_families;
  iree_hal_profile_sink_t* sink;
  iree_hal_profile_capture_filter_t capture_filter;
  iree_host_size_t counter_set_count;  // at least one when counters are asked for
  const iree_hal_profile_counter_set_selection_t* counter_sets;
} iree_hal_device_profiling_options_t;

// Whether any of the families is asked for.
static inline bool iree_hal_device_profiling_options_requests_data(
    const iree_hal_device_profiling_options_t* options, iree_hal_device_profiling_data_families_t data_families) {
  return (options->data_families & data_families) != 0;
}
static inline bool iree_hal_device_profiling_options_requests_lightweight_statistics(
    const iree_hal_device_profiling_options_t* options) {
  return (options->flags & IREE_HAL_DEVICE_PROFILING_FLAG_LIGHTWEIGHT_STATISTICS) != 0;
}
#define IREE_HAL_PROFILING_REQUESTS_(what, families)                           \
  static inline bool iree_hal_device_profiling_options_requests_##what(        \
      const iree_hal_device_profiling_options_t* options) {                    \
    return iree_hal_device_profiling_options_requests_data(options, families); \
  }
IREE_HAL_PROFILING_REQUESTS_(counter_samples, IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES)
IREE_HAL_PROFILING_REQUESTS_(counter_ranges, IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_RANGES)
IREE_HAL_PROFILING_REQUESTS_(counters, IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES |
                                           IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_RANGES)
IREE_HAL_PROFILING_REQUESTS_(executable_traces, IREE_HAL_DEVICE_PROFILING_DATA_EXECUTABLE_TRACES)
IREE_HAL_PROFILING_REQUESTS_(device_metrics, IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_METRICS)

// Says what profiles of this process will ask for, where that is known before drivers are created: some of the vendors'
// libraries count only what is made when they are there. Calls add up. Thread safe.
IREE_API_EXPORT void iree_hal_device_profiling_expect(iree_hal_device_profiling_data_families_t data_families);

// A copy that nothing of the caller's belongs to; its sink is retained. `out_options` is good until the storage is
// freed, with the same allocator. Errors: RESOURCE_EXHAUSTED.
typedef struct iree_hal_device_profiling_options_storage_t iree_hal_device_profiling_options_storage_t;
IREE_API_EXPORT iree_status_t iree_hal_device_profiling_options_clone(
    const iree_hal_device_profiling_options_t* source_options, iree_allocator_t host_allocator,
    iree_hal_device_profiling_options_t* out_options, iree_hal_device_profiling_options_storage_t** out_storage);
IREE_API_EXPORT void iree_hal_device_profiling_options_storage_free(
    iree_hal_device_profiling_options_storage_t* storage, iree_allocator_t host_allocator);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_PROFILE_OPTIONS_H_
