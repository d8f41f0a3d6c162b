// Records of chunks, and clocks.
#include "iree/hal/utils/profile_records.h"

iree_status_t iree_hal_profile_take_record(iree_const_byte_span_t* payload, iree_host_size_t fixed_length,
                                           void* out_record, iree_const_byte_span_t* out_trailing) {
  uint32_t length = 0;
  if (payload->data_length >= sizeof(length)) memcpy(&length, payload->data, sizeof(length));
  if (length < fixed_length || length > payload->data_length) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "profile record of %" PRIu32 " bytes; there are %" PRIhsz ", and it needs %" PRIhsz, length,
                            payload->data_length, fixed_length);
  }
  memcpy(out_record, payload->data, fixed_length);
  *out_trailing = iree_make_const_byte_span(payload->data + fixed_length, length - fixed_length);
  *payload = iree_make_const_byte_span(payload->data + length, payload->data_length - length);
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Clocks
//===----------------------------------------------------------------------------------------------------------------===

void iree_hal_profile_clock_add(iree_hal_profile_clock_t* clock,
                                const iree_hal_profile_clock_correlation_record_t* record) {
  iree_hal_profile_clock_correlation_flags_t flags = record->flags;
  bool has_cpu = flags & IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_HOST_CPU_TIMESTAMP;
  bool has_bracket = flags & IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_HOST_TIME_BRACKET &&
                     record->host_time_end_ns >= record->host_time_begin_ns;
  bool is_aligned = flags & IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_DEVICE_TICK &&
                    !(flags & IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_DEVICE_TICK_UNALIGNED) &&
                    (has_cpu || has_bracket);
  ++clock->sample_count;
  if (!is_aligned) {
    ++clock->unaligned_count;
    return;
  }
  int64_t bracket =
      has_bracket ? (int64_t)((uint64_t)record->host_time_end_ns - (uint64_t)record->host_time_begin_ns) : 0;
  int64_t ns = has_cpu ? (int64_t)record->host_cpu_timestamp_ns : record->host_time_begin_ns + bracket / 2;
  bool is_first = clock->sample_count - clock->unaligned_count == 1;
  if (is_first) {
    clock->first_sample_id = record->sample_id;
    clock->first_tick = record->device_tick;
    clock->first_ns = ns;
  }
  clock->min_uncertainty_ns = is_first ? bracket : iree_min(clock->min_uncertainty_ns, bracket);
  clock->max_uncertainty_ns = iree_max(clock->max_uncertainty_ns, bracket);
  clock->last_sample_id = record->sample_id;
  clock->last_tick = record->device_tick;
  clock->last_ns = ns;
}

bool iree_hal_profile_clock_is_fit(const iree_hal_profile_clock_t* clock) {
  return clock->last_tick > clock->first_tick && clock->last_ns > clock->first_ns;
}

double iree_hal_profile_clock_ns_per_tick(const iree_hal_profile_clock_t* clock) {
  if (!iree_hal_profile_clock_is_fit(clock)) return 0;
  return ((double)clock->last_ns - (double)clock->first_ns) / (double)(clock->last_tick - clock->first_tick);
}

bool iree_hal_profile_clock_scale(const iree_hal_profile_clock_t* clock, uint64_t ticks, uint64_t* out_ns) {
  *out_ns = 0;
  if (!iree_hal_profile_clock_is_fit(clock)) return false;
  uint64_t span_ns = (uint64_t)clock->last_ns - (uint64_t)clock->first_ns;
  uint64_t span_ticks = clock->last_tick - clock->first_tick;
  unsigned __int128 ns = ((unsigned __int128)ticks * span_ns + span_ticks / 2) / span_ticks;
  if (ns > INT64_MAX) return false;
  *out_ns = (uint64_t)ns;
  return true;
}

bool iree_hal_profile_clock_map(const iree_hal_profile_clock_t* clock, uint64_t tick, int64_t* out_ns) {
  uint64_t distance = 0;
  bool is_before = tick < clock->first_tick;
  *out_ns = 0;
  if (!iree_hal_profile_clock_scale(clock, is_before ? clock->first_tick - tick : tick - clock->first_tick,
                                    &distance)) {
    return false;
  }
  return !(is_before ? __builtin_sub_overflow(clock->first_ns, (int64_t)distance, out_ns)
                     : __builtin_add_overflow(clock->first_ns, (int64_t)distance, out_ns));
}

//===----------------------------------------------------------------------------------------------------------------===
// Names
//===----------------------------------------------------------------------------------------------------------------===

static const char* name_of(const char* const* names, size_t count, uint32_t value) {
  return value < count ? names[value] : "unknown";
}

const char* iree_hal_profile_queue_event_type_name(iree_hal_profile_queue_event_type_t type) {
  static const char* const names[] = {"none",   "barrier", "dispatch", "execute", "copy",     "fill",
                                      "update", "read",    "write",    "alloca",  "dealloca", "host_call"};
  return name_of(names, IREE_ARRAYSIZE(names), type);
}

const char* iree_hal_profile_memory_event_type_name(iree_hal_profile_memory_event_type_t type) {
  static const char* const names[] = {
      "none",         "slab_acquire",  "slab_release",   "pool_reserve",   "pool_materialize",
      "pool_release", "pool_wait",     "queue_alloca",   "queue_dealloca", "buffer_allocate",
      "buffer_free",  "buffer_import", "buffer_unimport"};
  return name_of(names, IREE_ARRAYSIZE(names), type);
}
