// Statistics of device profiles: a sink that keeps sums of what it is told, row by row. For one thread at a time.
#ifndef IREE_HAL_UTILS_STATISTICS_SINK_H_
#define IREE_HAL_UTILS_STATISTICS_SINK_H_

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "iree/base/api.h"
#include "iree/hal/profile_schema.h"
#include "iree/hal/profile_sink.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_profile_statistics_sink_t iree_hal_profile_statistics_sink_t;

enum iree_hal_profile_statistics_row_type_e {
  IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_NONE = 0u,
  IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_DISPATCH_FUNCTION = 1u,
  IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_DISPATCH_COMMAND_BUFFER = 2u,
  IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_DISPATCH_COMMAND_OPERATION = 3u,
  IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_QUEUE_DEVICE_OPERATION = 4u,
  IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_QUEUE_HOST_OPERATION = 5u,  // from submission to the end of waits
  IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_HOST_EXECUTION_FUNCTION = 6u,
  IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_HOST_EXECUTION_COMMAND_BUFFER = 7u,
  IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_HOST_EXECUTION_COMMAND_OPERATION = 8u,
  IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_HOST_EXECUTION_QUEUE_OPERATION = 9u,
  IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_MEMORY_LIFECYCLE = 10u,
};
typedef uint32_t iree_hal_profile_statistics_row_type_t;

enum iree_hal_profile_statistics_time_domain_e {
  IREE_HAL_PROFILE_STATISTICS_TIME_DOMAIN_NONE = 0u,
  IREE_HAL_PROFILE_STATISTICS_TIME_DOMAIN_DEVICE_TICK = 1u,
  IREE_HAL_PROFILE_STATISTICS_TIME_DOMAIN_IREE_HOST_TIME_NS = 2u,
};
typedef uint32_t iree_hal_profile_statistics_time_domain_t;

// Which sums a row has.
enum iree_hal_profile_statistics_row_flag_bits_t {
  IREE_HAL_PROFILE_STATISTICS_ROW_FLAG_NONE = 0u,
  IREE_HAL_PROFILE_STATISTICS_ROW_FLAG_TIMING = 1u << 0,
  IREE_HAL_PROFILE_STATISTICS_ROW_FLAG_PAYLOAD_BYTES = 1u << 1,
  IREE_HAL_PROFILE_STATISTICS_ROW_FLAG_OPERATION_COUNT = 1u << 2,
  IREE_HAL_PROFILE_STATISTICS_ROW_FLAG_TILE_TOTALS = 1u << 3,
};
typedef uint32_t iree_hal_profile_statistics_row_flags_t;

// A group of samples, by all that stands before the counts; absent parts are as in the records.
typedef struct iree_hal_profile_statistics_row_t {
  iree_hal_profile_statistics_row_type_t row_type;
  iree_hal_profile_statistics_time_domain_t time_domain;
  iree_hal_profile_statistics_row_flags_t flags;
  uint32_t physical_device_ordinal;
  uint32_t queue_ordinal;
  uint32_t event_type;  // of a queue or of memory
  uint64_t executable_id;
  uint64_t command_buffer_id;
  uint32_t function_ordinal;
  uint32_t command_index;
  uint64_t sample_count;
  uint64_t invalid_sample_count;  // without times
  uint64_t operation_count;
  uint64_t payload_bytes;
  uint64_t tile_count;
  uint64_t tile_duration_sum_ns;
  uint64_t first_start_time;  // this and what follows in the row's time domain
  uint64_t last_end_time;
  uint64_t total_duration;
  uint64_t minimum_duration;
  uint64_t maximum_duration;
} iree_hal_profile_statistics_row_t;

typedef iree_status_t(IREE_API_PTR* iree_hal_profile_statistics_row_callback_fn_t)(
    void* user_data, const iree_hal_profile_statistics_row_t* row);
typedef struct iree_hal_profile_statistics_row_callback_t {
  iree_hal_profile_statistics_row_callback_fn_t fn;
  void* user_data;
} iree_hal_profile_statistics_row_callback_t;

IREE_API_EXPORT iree_status_t iree_hal_profile_statistics_sink_create(iree_allocator_t host_allocator,
                                                                      iree_hal_profile_statistics_sink_t** out_sink);
// The sink itself, not retained.
IREE_API_EXPORT iree_hal_profile_sink_t* iree_hal_profile_statistics_sink_base(
    iree_hal_profile_statistics_sink_t* sink);
IREE_API_EXPORT void iree_hal_profile_statistics_sink_retain(iree_hal_profile_statistics_sink_t* sink);
IREE_API_EXPORT void iree_hal_profile_statistics_sink_release(iree_hal_profile_statistics_sink_t* sink);

IREE_API_EXPORT iree_host_size_t
iree_hal_profile_statistics_sink_row_count(const iree_hal_profile_statistics_sink_t* sink);
IREE_API_EXPORT uint64_t
iree_hal_profile_statistics_sink_dropped_record_count(const iree_hal_profile_statistics_sink_t* sink);
// Rows in the order of their first samples; the sink's until it is told more. Errors: the callback's.
IREE_API_EXPORT iree_status_t iree_hal_profile_statistics_sink_for_each_row(
    const iree_hal_profile_statistics_sink_t* sink, iree_hal_profile_statistics_row_callback_t callback);
// The name of a function, if it was told; the sink's.
IREE_API_EXPORT bool iree_hal_profile_statistics_sink_find_function_name(const iree_hal_profile_statistics_sink_t* sink,
                                                                         uint64_t executable_id,
                                                                         uint32_t function_ordinal,
                                                                         iree_string_view_t* out_name);
// A duration of the row in nanoseconds; false when the device's clock is not known.
IREE_API_EXPORT bool iree_hal_profile_statistics_sink_scale_duration_to_ns(
    const iree_hal_profile_statistics_sink_t* sink, const iree_hal_profile_statistics_row_t* row, uint64_t duration,
    uint64_t* out_duration_ns);
// Prints rows for people.
IREE_API_EXPORT iree_status_t iree_hal_profile_statistics_sink_fprint(FILE* file,
                                                                      const iree_hal_profile_statistics_sink_t* sink);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_UTILS_STATISTICS_SINK_H_
