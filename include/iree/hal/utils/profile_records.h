// Reading of what chunks consist of, and of device clocks, for who gets profiles: sinks and tools.
#ifndef IREE_HAL_UTILS_PROFILE_RECORDS_H_
#define IREE_HAL_UTILS_PROFILE_RECORDS_H_

#include <stdbool.h>
#include <stdint.h>

#include "iree/base/api.h"
#include "iree/hal/profile_schema.h"

#ifdef __cplusplus
extern "C" {
#endif

// Takes the first record off a chunk's payload: its fixed part into `out_record`, what follows (names, values) as bytes
// of the chunk. Any bytes are safe. Errors: OUT_OF_RANGE when the record does not lie in the chunk.
IREE_API_EXPORT iree_status_t iree_hal_profile_take_record(iree_const_byte_span_t* payload,
                                                           iree_host_size_t fixed_length, void* out_record,
                                                           iree_const_byte_span_t* out_trailing);

// A line through the first and the last sample of a device's clock and the host's (iree_time_now, or the driver's clock
// where samples have no other). All zero: no samples.
typedef struct iree_hal_profile_clock_t {
  uint32_t sample_count;
  uint32_t unaligned_count;  // samples that do not relate the clocks
  uint64_t first_sample_id, last_sample_id;
  uint64_t first_tick, last_tick;
  int64_t first_ns, last_ns;
  int64_t min_uncertainty_ns, max_uncertainty_ns;
} iree_hal_profile_clock_t;

IREE_API_EXPORT void iree_hal_profile_clock_add(iree_hal_profile_clock_t* clock,
                                                const iree_hal_profile_clock_correlation_record_t* record);
// Whether there is a line: two samples at different times.
IREE_API_EXPORT bool iree_hal_profile_clock_is_fit(const iree_hal_profile_clock_t* clock);
IREE_API_EXPORT double iree_hal_profile_clock_ns_per_tick(const iree_hal_profile_clock_t* clock);
// To the nearest nanosecond. False when there is no line.
IREE_API_EXPORT bool iree_hal_profile_clock_scale(const iree_hal_profile_clock_t* clock, uint64_t ticks,
                                                  uint64_t* out_ns);
IREE_API_EXPORT bool iree_hal_profile_clock_map(const iree_hal_profile_clock_t* clock, uint64_t tick, int64_t* out_ns);

// Names as files and reports have them; "unknown" for others.
IREE_API_EXPORT const char* iree_hal_profile_queue_event_type_name(iree_hal_profile_queue_event_type_t type);
IREE_API_EXPORT const char* iree_hal_profile_memory_event_type_name(iree_hal_profile_memory_event_type_t type);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_UTILS_PROFILE_RECORDS_H_
