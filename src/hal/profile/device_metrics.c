// Metrics of a session: each physical device's source is described when it begins, and sampled then, at each flush and
// at the end.
#include "hal/profile/session.h"

static uint64_t source_id(uint32_t index) { return (uint64_t)index + 1; }

static void describe_metric(hal_profile_t* profile, uint32_t index, uint64_t metric_id) {
  const iree_hal_profile_metric_descriptor_t* metric = iree_hal_profile_builtin_metric_descriptor_lookup(metric_id);
  iree_hal_profile_device_metric_descriptor_record_t record =
      iree_hal_profile_device_metric_descriptor_record_default();
  char text[256];
  int length = snprintf(text, sizeof(text), "%.*s%.*s", (int)metric->name.size, metric->name.data,
                        (int)metric->description.size, metric->description.data);
  record.record_length += (uint32_t)length;
  record.source_id = source_id(index);
  record.metric_id = metric_id;
  record.unit = metric->unit;
  record.value_kind = metric->value_kind;
  record.semantic = metric->semantic;
  record.plot_hint = metric->plot_hint;
  record.name_length = (uint32_t)metric->name.size;
  record.description_length = (uint32_t)metric->description.size;
  profile_append_with(profile, PROFILE_METRIC_DESCRIPTORS, &record, sizeof(record), text, (size_t)length);
}

static void describe_source(hal_profile_t* profile, uint32_t index, const hal_metric_values_t* values) {
  const profile_metrics_t* source = &profile->metrics[index];
  iree_hal_profile_device_metric_source_record_t record = iree_hal_profile_device_metric_source_record_default();
  size_t length = strlen(source->metrics->name);
  record.record_length += (uint32_t)length;
  record.source_id = source_id(index);
  record.physical_device_ordinal = source->physical;
  record.device_class = source->metrics->device_class;
  record.metric_count = values->count;
  record.name_length = (uint32_t)length;
  profile_append_with(profile, PROFILE_METRIC_SOURCES, &record, sizeof(record), source->metrics->name, length);
  for (uint32_t i = 0; i < values->count; ++i) describe_metric(profile, index, values->values[i].metric_id);
}

// Only what is described is told.
static void keep_described(const profile_metrics_t* source, hal_metric_values_t* values) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < values->count; ++i) {
    uint32_t k = 0;
    while (k < source->metric_count && source->metric_ids[k] != values->values[i].metric_id) ++k;
    if (k < source->metric_count) values->values[count++] = values->values[i];
  }
  values->count = count;
}

static void sample_source(hal_profile_t* profile, uint32_t index, hal_metric_values_t* values) {
  profile_metrics_t* source = &profile->metrics[index];
  iree_hal_profile_device_metric_sample_record_t record = iree_hal_profile_device_metric_sample_record_default();
  record.host_time_begin_ns = iree_time_now();
  source->metrics->sample(source->metrics, values);
  record.host_time_end_ns = iree_time_now();
  iree_slim_mutex_lock(&profile->mutex);
  if (!source->metric_count) {
    source->metric_count = values->count;
    for (uint32_t i = 0; i < values->count; ++i) source->metric_ids[i] = values->values[i].metric_id;
    describe_source(profile, index, values);
  }
  keep_described(source, values);
  size_t size = values->count * sizeof(values->values[0]);
  record.record_length += (uint32_t)size;
  if (values->count < source->metric_count) record.flags = IREE_HAL_PROFILE_DEVICE_METRIC_SAMPLE_FLAG_PARTIAL;
  record.sample_id = ++profile->events[PROFILE_METRIC_SAMPLES];
  record.source_id = source_id(index);
  record.physical_device_ordinal = source->physical;
  record.value_count = values->count;
  profile_append_with(profile, PROFILE_METRIC_SAMPLES, &record, sizeof(record), values->values, size);
  iree_slim_mutex_unlock(&profile->mutex);
}

void profile_sample_metrics(hal_profile_t* profile) {
  for (uint32_t i = 0; i < profile->metrics_count; ++i) {
    hal_metric_values_t values = {0};
    sample_source(profile, i, &values);
  }
}

iree_status_t profile_begin_metrics(hal_queued_device_t* device, hal_profile_t* profile) {
  if (!profile_wants(profile, IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_METRICS)) return iree_ok_status();
  for (uint32_t i = 0, seen = UINT32_MAX; i < profile->queue_count; ++i) {
    if (profile->queues[i].physical == seen) continue;  // queues of a device come together
    seen = profile->queues[i].physical;
    profile_metrics_t* source = &profile->metrics[profile->metrics_count];
    source->physical = seen;
    IREE_RETURN_IF_ERROR(profile->interface->open_metrics(device, seen, &source->metrics));
    ++profile->metrics_count;
  }
  profile_sample_metrics(profile);
  return iree_ok_status();
}

void profile_end_metrics(hal_profile_t* profile) {
  for (uint32_t i = 0; i < profile->metrics_count; ++i) profile->metrics[i].metrics->close(profile->metrics[i].metrics);
}
