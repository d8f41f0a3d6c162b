// Counters of dispatches and of times: what a driver samples becomes records.
#include "hal/profile/session.h"

// Of a physical device.
static uint64_t set_id(uint32_t physical) { return (uint64_t)physical << 32 | 1; }

static void describe_counter(hal_profile_t* profile, uint32_t physical, uint32_t ordinal, uint32_t offset) {
  const hal_profile_counter_t* counter = &profile->counters[ordinal];
  iree_hal_profile_counter_record_t record = iree_hal_profile_counter_record_default();
  iree_string_view_t texts[] = {counter->block, counter->name, counter->description};
  char text[512];
  iree_host_size_t size = 0;
  for (size_t i = 0; i < IREE_ARRAYSIZE(texts); ++i) {
    texts[i].size = iree_min(texts[i].size, sizeof(text) - size);
    memcpy(text + size, texts[i].data, texts[i].size);
    size += texts[i].size;
  }
  record.record_length += (uint32_t)size;
  record.flags = IREE_HAL_PROFILE_COUNTER_FLAG_RAW;
  record.unit = counter->unit;
  record.physical_device_ordinal = physical;
  record.counter_set_id = set_id(physical);
  record.counter_ordinal = ordinal;
  record.sample_value_offset = offset;
  record.sample_value_count = counter->value_count;
  record.block_name_length = (uint32_t)texts[0].size;
  record.name_length = (uint32_t)texts[1].size;
  record.description_length = (uint32_t)texts[2].size;
  profile_append_with(profile, PROFILE_COUNTERS, &record, sizeof(record), text, size);
}

static void describe_set(hal_profile_t* profile, uint32_t physical, iree_string_view_t name) {
  iree_hal_profile_counter_set_record_t record = iree_hal_profile_counter_set_record_default();
  record.record_length += (uint32_t)name.size;
  record.counter_set_id = set_id(physical);
  record.physical_device_ordinal = physical;
  record.counter_count = (uint32_t)profile->counter_count;
  record.sample_value_count = profile->value_count;
  record.name_length = (uint32_t)name.size;
  profile_append_with(profile, PROFILE_COUNTER_SETS, &record, sizeof(record), name.data, name.size);
  for (uint32_t i = 0, offset = 0; i < profile->counter_count; offset += profile->counters[i++].value_count) {
    describe_counter(profile, physical, i, offset);
  }
}

static iree_status_t check_names(const iree_hal_profile_counter_set_selection_t* set, uint32_t most) {
  if (set->counter_name_count > most) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "%" PRIhsz " counters at a time; at most %u are counted",
                            set->counter_name_count, most);
  }
  for (iree_host_size_t i = 0; i < set->counter_name_count; ++i) {
    iree_string_view_t name = set->counter_names[i];
    for (iree_host_size_t k = 0; k < i; ++k) {
      if (!iree_string_view_equal(name, set->counter_names[k])) continue;
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "counter %.*s is named twice", (int)name.size, name.data);
    }
  }
  return iree_ok_status();
}

static iree_status_t check(const hal_profile_t* profile, const iree_hal_device_profiling_options_t* options) {
  if (options->counter_set_count != 1 || options->counter_sets[0].counter_name_count == 0) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "%s profiling counts one set of counters at a time",
                            profile->interface->kind);
  }
  IREE_RETURN_IF_ERROR(check_names(&options->counter_sets[0], profile->interface->counting->most_counters));
  if (options->counter_sets[0].name.size > UINT16_MAX) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the name of the set of counters is too long");
  }
  if ((~options->data_families & PROFILE_COUNTS) == 0) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                            "counters of dispatches and counters over time take the same registers of %s devices; "
                            "either `counters` or `counter-ranges` can be profiled at a time",
                            profile->interface->kind);
  }
  return iree_ok_status();
}

iree_status_t profile_begin_counting(hal_queued_device_t* device, hal_profile_t* profile,
                                     const iree_hal_device_profiling_options_t* options) {
  if (!profile_wants(profile, PROFILE_COUNTS)) return iree_ok_status();
  IREE_RETURN_IF_ERROR(check(profile, options));
  const hal_profile_counting_t* counting = profile->interface->counting;
  IREE_RETURN_IF_ERROR(counting->begin(device, options, &profile->counting, &profile->counters));
  profile->counter_count = (uint32_t)options->counter_sets[0].counter_name_count;
  for (uint32_t i = 0; i < profile->counter_count; ++i) profile->value_count += profile->counters[i].value_count;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(profile->host_allocator, profile->value_count,
                                                   sizeof(*profile->values), (void**)&profile->values));
  for (uint32_t i = 0, seen = UINT32_MAX; i < profile->queue_count; ++i) {
    if (profile->queues[i].physical == seen) continue;  // queues of a device come together
    seen = profile->queues[i].physical;
    describe_set(profile, seen, options->counter_sets[0].name);
  }
  return iree_ok_status();
}

void profile_end_counting(hal_profile_t* profile) {
  if (profile->counting) profile->interface->counting->end(profile->counting);
  iree_allocator_free(profile->host_allocator, profile->values);
}

static void append_sample(hal_profile_t* profile, iree_hal_profile_counter_sample_record_t* record) {
  size_t size = profile->value_count * sizeof(*profile->values);
  record->record_length = (uint32_t)(sizeof(*record) + size);
  record->sample_id = ++profile->events[PROFILE_COUNTER_SAMPLES];
  record->counter_set_id = set_id(record->physical_device_ordinal);
  record->sample_value_count = profile->value_count;
  profile_append_with(profile, PROFILE_COUNTER_SAMPLES, record, sizeof(*record), profile->values, size);
}

void profile_append_sample(hal_profile_t* profile, iree_hal_profile_counter_sample_record_t* record, uint64_t sample) {
  if (profile->interface->counting->read_sample(profile->counting, sample, profile->values)) {
    append_sample(profile, record);
  } else {
    ++profile->records[PROFILE_COUNTER_SAMPLES].dropped;
  }
}

iree_status_t profile_sample_ranges(hal_profile_t* profile) {
  if (!profile_wants(profile, IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_RANGES)) return iree_ok_status();
  iree_status_t status = iree_ok_status();
  for (uint32_t i = 0, seen = UINT32_MAX; i < profile->queue_count && iree_status_is_ok(status); ++i) {
    if (profile->queues[i].physical == seen) continue;
    seen = profile->queues[i].physical;
    iree_hal_profile_counter_sample_record_t record = iree_hal_profile_counter_sample_record_default();
    record.scope = IREE_HAL_PROFILE_COUNTER_SAMPLE_SCOPE_DEVICE_TIME_RANGE;
    record.flags = IREE_HAL_PROFILE_COUNTER_SAMPLE_FLAG_DEVICE_TICK_RANGE;
    record.physical_device_ordinal = seen;
    iree_slim_mutex_lock(&profile->mutex);
    status = profile->interface->counting->read_range(profile->counting, seen, profile->values, &record.start_tick,
                                                      &record.end_tick);
    if (iree_status_is_ok(status)) append_sample(profile, &record);
    iree_slim_mutex_unlock(&profile->mutex);
  }
  return status;
}
