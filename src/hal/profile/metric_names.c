// Metrics that all drivers share, and names.
#include "iree/hal/profile_metrics.h"

static const iree_hal_profile_metric_descriptor_t descriptors[] = {
#define METRIC(id, number, metric_name, metric_unit, kind, metric_semantic, hint, text) \
  {.metric_id = (number),                                                               \
   .unit = IREE_HAL_PROFILE_METRIC_UNIT_##metric_unit,                                  \
   .value_kind = IREE_HAL_PROFILE_METRIC_VALUE_KIND_##kind,                             \
   .semantic = IREE_HAL_PROFILE_METRIC_SEMANTIC_##metric_semantic,                      \
   .plot_hint = IREE_HAL_PROFILE_METRIC_PLOT_HINT_##hint,                               \
   .name = IREE_SVL(metric_name),                                                       \
   .description = IREE_SVL(text)},
    IREE_HAL_PROFILE_BUILTIN_METRICS(METRIC)
#undef METRIC
};

iree_host_size_t iree_hal_profile_builtin_metric_descriptor_count(void) { return IREE_ARRAYSIZE(descriptors); }

const iree_hal_profile_metric_descriptor_t* iree_hal_profile_builtin_metric_descriptor_at(iree_host_size_t index) {
  return index < IREE_ARRAYSIZE(descriptors) ? &descriptors[index] : NULL;
}

const iree_hal_profile_metric_descriptor_t* iree_hal_profile_builtin_metric_descriptor_lookup(uint64_t metric_id) {
  for (size_t i = 0; i < IREE_ARRAYSIZE(descriptors); ++i) {
    if (descriptors[i].metric_id == metric_id) return &descriptors[i];
  }
  return NULL;
}

const iree_hal_profile_metric_descriptor_t* iree_hal_profile_builtin_metric_descriptor_lookup_name(
    iree_string_view_t name) {
  for (size_t i = 0; i < IREE_ARRAYSIZE(descriptors); ++i) {
    if (iree_string_view_equal(descriptors[i].name, name)) return &descriptors[i];
  }
  return NULL;
}

static iree_string_view_t name_of(const char* const* names, size_t count, uint32_t value) {
  return iree_make_cstring_view(value < count ? names[value] : "unknown");
}

iree_string_view_t iree_hal_profile_metric_unit_string(iree_hal_profile_metric_unit_t unit) {
  static const char* const names[] = {
      "none",       "count",       "hz",       "bytes", "bytes_per_second", "millipercent", "millidegrees_celsius",
      "microwatts", "microjoules", "bitfield", "enum"};
  return name_of(names, IREE_ARRAYSIZE(names), unit);
}

iree_string_view_t iree_hal_profile_metric_value_kind_string(iree_hal_profile_metric_value_kind_t value_kind) {
  static const char* const names[] = {"none", "i64", "u64", "f64"};
  return name_of(names, IREE_ARRAYSIZE(names), value_kind);
}

iree_string_view_t iree_hal_profile_metric_semantic_string(iree_hal_profile_metric_semantic_t semantic) {
  static const char* const names[] = {"none", "instant", "average", "cumulative", "delta", "state"};
  return name_of(names, IREE_ARRAYSIZE(names), semantic);
}

iree_string_view_t iree_hal_profile_metric_plot_hint_string(iree_hal_profile_metric_plot_hint_t plot_hint) {
  static const char* const names[] = {"none",        "number", "memory", "percentage", "frequency",
                                      "temperature", "power",  "energy", "bandwidth"};
  return name_of(names, IREE_ARRAYSIZE(names), plot_hint);
}
