// Records as rows of JSON lines, in reports and exports, and what reports compute of one.
#ifndef TOOLING_PROFILE_RECORDS_H_
#define TOOLING_PROFILE_RECORDS_H_

#include "tooling/profile/bundle.h"
#include "tooling/profile/rows.h"

// Names of values; "unknown" for others.
const char* profile_strategy_name(uint32_t value);
const char* profile_operation_name(uint32_t value);
const char* profile_counter_unit_name(uint32_t value);
const char* profile_counter_scope_name(uint32_t value);

// What a record's row needs besides the record.
typedef struct profile_printer_t {
  const profile_bundle_t* bundle;
  profile_out_t out;
} profile_printer_t;

// A duration in ticks, and in nanoseconds where the device's clock is known.
typedef struct profile_span_t {
  bool is_valid;
  uint64_t ticks;
  bool has_ns;
  uint64_t ns;
  int64_t start_ns, end_ns;
} profile_span_t;
profile_span_t profile_device_span(const profile_bundle_t* bundle, uint32_t physical, uint64_t start, uint64_t end);
bool profile_host_span_is_valid(const iree_hal_profile_host_execution_event_t* event);
static inline bool profile_host_event_is_dispatch(const iree_hal_profile_host_execution_event_t* event) {
  return event->type == IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_DISPATCH && event->executable_id;
}

// Cells of the range of time of a counter's sample.
#define PROFILE_SAMPLE_TICK_CELLS(sample, span)                                                                 \
  CELL_B("device_tick_range_present", (sample)->flags& IREE_HAL_PROFILE_COUNTER_SAMPLE_FLAG_DEVICE_TICK_RANGE), \
      CELL_C("device_tick_domain", "device_tick"), CELL_U("start_tick", (sample)->start_tick),                  \
      CELL_U("end_tick", (sample)->end_tick), CELL_U("duration_ticks", (span).ticks),                           \
      CELL_B("device_tick_range_valid", (span).is_valid)

// One row for a record; `item` is of the kind that the name says.
void profile_print_record(const profile_printer_t* printer, const profile_item_t* item);
// A dispatch of the host among dispatches.
void profile_print_host_dispatch(const profile_printer_t* printer, const profile_item_t* item);

#endif  // TOOLING_PROFILE_RECORDS_H_
