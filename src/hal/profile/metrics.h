// Metrics of physical devices: what samples them.
#ifndef IREE_C_HAL_PROFILE_METRICS_H_
#define IREE_C_HAL_PROFILE_METRICS_H_

#include "iree/hal/api.h"
#include "iree/hal/profile_metrics.h"

// Of a sample, each metric once at most.
enum { HAL_METRICS_MAX = 16 };
typedef struct hal_metric_values_t {
  uint32_t count;
  iree_hal_profile_device_metric_value_t values[HAL_METRICS_MAX];
} hal_metric_values_t;
static inline void hal_metrics_add(hal_metric_values_t* values, uint64_t metric_id, uint64_t value) {
  if (values->count == HAL_METRICS_MAX) return;
  values->values[values->count++] =
      (iree_hal_profile_device_metric_value_t){.metric_id = metric_id, .value_bits = value};
}

// What samples a physical device.
typedef struct hal_metrics_t {
  iree_hal_profile_device_class_t device_class;
  char name[96];  // of the source
  // Adds what there is now; that it has none is no error.
  void (*sample)(struct hal_metrics_t* metrics, hal_metric_values_t* values);
  void (*close)(struct hal_metrics_t* metrics);  // frees it
} hal_metrics_t;

// metrics_sysfs.c: an AMD GPU at that place on the PCI bus, as Linux's kernel driver tells of it in the folder /sys, or
// that which the environment's IREE_HAL_AMDGPU_SYSFS_PATH names. Errors: UNAVAILABLE, naming the folder.
iree_status_t hal_metrics_open_sysfs(uint32_t domain, uint32_t bus, uint32_t device, uint32_t function,
                                     iree_allocator_t host_allocator, hal_metrics_t** out_metrics);
// metrics_host.c: the processors and memory of this machine, as Linux tells of them. Errors: UNAVAILABLE.
iree_status_t hal_metrics_open_host(iree_allocator_t host_allocator, hal_metrics_t** out_metrics);

// A number that a file of the kernel begins with; false when there is none.
bool hal_metrics_read_file(const char* path, int64_t* out_value);

#endif  // IREE_C_HAL_PROFILE_METRICS_H_
