// Metrics of devices: those whose numbers and meanings are the same for all drivers, and names of what describes any.
#ifndef IREE_HAL_PROFILE_METRICS_H_
#define IREE_HAL_PROFILE_METRICS_H_

#include "iree/base/api.h"
#include "iree/hal/profile_schema.h"

#ifdef __cplusplus
extern "C" {
#endif

// Numbers of a driver's own are from here on; records describe them.
#define IREE_HAL_PROFILE_METRIC_ID_PRODUCER_BASE (UINT64_C(1) << 63)

// METRIC(id, number, name, unit, value kind, semantic, plot hint, description)
#define IREE_HAL_PROFILE_BUILTIN_METRICS(METRIC)                                                                       \
  METRIC(CLOCK_COMPUTE_CURRENT, 1, "clock.compute.current", HERTZ, U64, INSTANT, FREQUENCY, "Clock of compute units")  \
  METRIC(CLOCK_MEMORY_CURRENT, 2, "clock.memory.current", HERTZ, U64, INSTANT, FREQUENCY, "Clock of the memory")       \
  METRIC(TEMPERATURE_EDGE, 3, "temperature.edge", MILLIDEGREES_CELSIUS, I64, INSTANT, TEMPERATURE, "At the edge")      \
  METRIC(TEMPERATURE_HOTSPOT, 4, "temperature.hotspot", MILLIDEGREES_CELSIUS, I64, INSTANT, TEMPERATURE,               \
         "Where it is hottest")                                                                                        \
  METRIC(TEMPERATURE_MEMORY, 5, "temperature.memory", MILLIDEGREES_CELSIUS, I64, INSTANT, TEMPERATURE, "Of memory")    \
  METRIC(POWER_SOCKET, 6, "power.socket", MICROWATTS, U64, INSTANT, POWER, "Power of the socket")                      \
  METRIC(ENERGY_SOCKET, 7, "energy.socket", MICROJOULES, U64, CUMULATIVE, ENERGY, "Energy that the socket took")       \
  METRIC(ACTIVITY_COMPUTE, 8, "activity.compute", MILLIPERCENT, U64, AVERAGE, PERCENTAGE,                              \
         "Share of the time in which compute units were busy")                                                         \
  METRIC(ACTIVITY_MEMORY, 9, "activity.memory", MILLIPERCENT, U64, AVERAGE, PERCENTAGE,                                \
         "Share of the time in which memory was busy")                                                                 \
  METRIC(MEMORY_LOCAL_USED, 10, "memory.local.used", BYTES, U64, INSTANT, MEMORY, "Memory of the device in use")       \
  METRIC(MEMORY_LOCAL_TOTAL, 11, "memory.local.total", BYTES, U64, INSTANT, MEMORY, "Memory of the device")            \
  METRIC(MEMORY_TRAFFIC_READ, 12, "memory.traffic.read", BYTES_PER_SECOND, U64, AVERAGE, BANDWIDTH, "Memory read")     \
  METRIC(MEMORY_TRAFFIC_WRITE, 13, "memory.traffic.write", BYTES_PER_SECOND, U64, AVERAGE, BANDWIDTH,                  \
         "Memory written")                                                                                             \
  METRIC(THROTTLE_STATUS, 14, "throttle.status", BITFIELD, U64, STATE, NUMBER, "Why clocks are held down, bit by bit") \
  METRIC(PERFORMANCE_TIER, 15, "performance.tier", ENUM, U64, STATE, NUMBER, "State of performance")

typedef uint64_t iree_hal_profile_builtin_metric_id_t;
enum iree_hal_profile_builtin_metric_id_e {
  IREE_HAL_PROFILE_BUILTIN_METRIC_ID_NONE = 0,
#define METRIC(id, number, name, unit, kind, semantic, hint, description) \
  IREE_HAL_PROFILE_BUILTIN_METRIC_ID_##id = (number),
  IREE_HAL_PROFILE_BUILTIN_METRICS(METRIC)
#undef METRIC
};

typedef struct iree_hal_profile_metric_descriptor_t {
  uint64_t metric_id;
  iree_hal_profile_metric_unit_t unit;
  iree_hal_profile_metric_value_kind_t value_kind;
  iree_hal_profile_metric_semantic_t semantic;
  iree_hal_profile_metric_plot_hint_t plot_hint;
  iree_string_view_t name;
  iree_string_view_t description;
} iree_hal_profile_metric_descriptor_t;

static inline bool iree_hal_profile_metric_id_is_builtin(uint64_t metric_id) {
  return metric_id != 0 && metric_id < IREE_HAL_PROFILE_METRIC_ID_PRODUCER_BASE;
}
static inline bool iree_hal_profile_metric_id_is_producer_specific(uint64_t metric_id) {
  return metric_id >= IREE_HAL_PROFILE_METRIC_ID_PRODUCER_BASE;
}

// The descriptors of the process, which live for good; NULL where there is none.
IREE_API_EXPORT iree_host_size_t iree_hal_profile_builtin_metric_descriptor_count(void);
IREE_API_EXPORT const iree_hal_profile_metric_descriptor_t* iree_hal_profile_builtin_metric_descriptor_at(
    iree_host_size_t index);
IREE_API_EXPORT const iree_hal_profile_metric_descriptor_t* iree_hal_profile_builtin_metric_descriptor_lookup(
    uint64_t metric_id);
IREE_API_EXPORT const iree_hal_profile_metric_descriptor_t* iree_hal_profile_builtin_metric_descriptor_lookup_name(
    iree_string_view_t name);

// Names, such as "hz"; "unknown" for numbers that are none.
IREE_API_EXPORT iree_string_view_t iree_hal_profile_metric_unit_string(iree_hal_profile_metric_unit_t unit);
IREE_API_EXPORT iree_string_view_t
iree_hal_profile_metric_value_kind_string(iree_hal_profile_metric_value_kind_t value_kind);
IREE_API_EXPORT iree_string_view_t iree_hal_profile_metric_semantic_string(iree_hal_profile_metric_semantic_t semantic);
IREE_API_EXPORT iree_string_view_t
iree_hal_profile_metric_plot_hint_string(iree_hal_profile_metric_plot_hint_t plot_hint);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_PROFILE_METRICS_H_
