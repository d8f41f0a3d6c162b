// Metrics of AMD GPUs: files of Linux's amdgpu driver (kernel documentation, "GPU sysfs interfaces", and of hwmon,
// "Naming and data format standards for sysfs files").
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "hal/profile/metrics.h"

typedef struct sysfs_t {
  hal_metrics_t base;
  iree_allocator_t host_allocator;
  char folder[256];  // of the GPU
  char hwmon[512];   // of its sensors; empty: there is none
} sysfs_t;

bool hal_metrics_read_file(const char* path, int64_t* out_value) {
  char text[64];
  FILE* file = fopen(path, "r");
  if (!file) return false;
  size_t length = fread(text, 1, sizeof(text) - 1, file);
  fclose(file);
  text[length] = 0;
  char* end = text;
  errno = 0;
  *out_value = strtoll(text, &end, 10);
  return end != text && !errno;
}

// Files of the GPU's folder, and what a value is to be multiplied by.
static const struct {
  const char* file;
  uint64_t metric_id;
  int64_t scale;
} files[] = {
    {"gpu_busy_percent", IREE_HAL_PROFILE_BUILTIN_METRIC_ID_ACTIVITY_COMPUTE, 1000},
    {"mem_busy_percent", IREE_HAL_PROFILE_BUILTIN_METRIC_ID_ACTIVITY_MEMORY, 1000},
    {"mem_info_vram_used", IREE_HAL_PROFILE_BUILTIN_METRIC_ID_MEMORY_LOCAL_USED, 1},
    {"mem_info_vram_total", IREE_HAL_PROFILE_BUILTIN_METRIC_ID_MEMORY_LOCAL_TOTAL, 1},
};

// Sensors by what their label says; without a label a prefix has one alone. Units are those of metrics already.
static const struct {
  const char *prefix, *suffix, *label;
  uint64_t metric_id;
} sensors[] = {
    {"freq", "input", "sclk", IREE_HAL_PROFILE_BUILTIN_METRIC_ID_CLOCK_COMPUTE_CURRENT},
    {"freq", "input", "mclk", IREE_HAL_PROFILE_BUILTIN_METRIC_ID_CLOCK_MEMORY_CURRENT},
    {"temp", "input", "edge", IREE_HAL_PROFILE_BUILTIN_METRIC_ID_TEMPERATURE_EDGE},
    {"temp", "input", "junction", IREE_HAL_PROFILE_BUILTIN_METRIC_ID_TEMPERATURE_HOTSPOT},
    {"temp", "input", "mem", IREE_HAL_PROFILE_BUILTIN_METRIC_ID_TEMPERATURE_MEMORY},
    {"power", "average", "", IREE_HAL_PROFILE_BUILTIN_METRIC_ID_POWER_SOCKET},
    {"power", "input", "", IREE_HAL_PROFILE_BUILTIN_METRIC_ID_POWER_SOCKET},
    {"energy", "input", "", IREE_HAL_PROFILE_BUILTIN_METRIC_ID_ENERGY_SOCKET},
};
enum { MAX_SENSORS = 4 };  // of a prefix

static bool has_label(const sysfs_t* sysfs, const char* prefix, int index, const char* wanted) {
  char path[768], label[32] = "";
  if (!*wanted) return index == 1;
  snprintf(path, sizeof(path), "%s/%s%d_label", sysfs->hwmon, prefix, index);
  FILE* file = fopen(path, "r");
  if (!file) return false;
  bool is_read = fscanf(file, "%31s", label) == 1;
  fclose(file);
  return is_read && strcmp(label, wanted) == 0;
}

static bool has_metric(const hal_metric_values_t* values, uint64_t metric_id) {
  for (uint32_t i = 0; i < values->count; ++i) {
    if (values->values[i].metric_id == metric_id) return true;
  }
  return false;
}

static void sample_sensor(const sysfs_t* sysfs, size_t row, hal_metric_values_t* values) {
  char path[768];
  int64_t value;
  for (int i = 1; i <= MAX_SENSORS && !has_metric(values, sensors[row].metric_id); ++i) {
    if (!has_label(sysfs, sensors[row].prefix, i, sensors[row].label)) continue;
    snprintf(path, sizeof(path), "%s/%s%d_%s", sysfs->hwmon, sensors[row].prefix, i, sensors[row].suffix);
    if (hal_metrics_read_file(path, &value)) hal_metrics_add(values, sensors[row].metric_id, (uint64_t)value);
  }
}

static void sample(hal_metrics_t* metrics, hal_metric_values_t* values) {
  const sysfs_t* sysfs = (const sysfs_t*)metrics;
  char path[768];
  int64_t value;
  for (size_t i = 0; i < IREE_ARRAYSIZE(files); ++i) {
    snprintf(path, sizeof(path), "%s/%s", sysfs->folder, files[i].file);
    if (hal_metrics_read_file(path, &value)) {
      hal_metrics_add(values, files[i].metric_id, (uint64_t)(value * files[i].scale));
    }
  }
  for (size_t i = 0; i < IREE_ARRAYSIZE(sensors) && sysfs->hwmon[0]; ++i) sample_sensor(sysfs, i, values);
}

static void close_sysfs(hal_metrics_t* metrics) { iree_allocator_free(((sysfs_t*)metrics)->host_allocator, metrics); }

static void find_sensors(sysfs_t* sysfs) {
  char path[300];
  snprintf(path, sizeof(path), "%s/hwmon", sysfs->folder);
  DIR* folder = opendir(path);
  if (!folder) return;
  for (struct dirent* entry; (entry = readdir(folder));) {
    if (strncmp(entry->d_name, "hwmon", 5) != 0 || strlen(entry->d_name) > 64) continue;
    snprintf(sysfs->hwmon, sizeof(sysfs->hwmon), "%s/%s", path, entry->d_name);
  }
  closedir(folder);
}

iree_status_t hal_metrics_open_sysfs(uint32_t domain, uint32_t bus, uint32_t device, uint32_t function,
                                     iree_allocator_t host_allocator, hal_metrics_t** out_metrics) {
  const char* root = getenv("IREE_HAL_AMDGPU_SYSFS_PATH");
  sysfs_t* sysfs = NULL;
  hal_metric_values_t values = {0};
  *out_metrics = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*sysfs), (void**)&sysfs));
  sysfs->base.device_class = IREE_HAL_PROFILE_DEVICE_CLASS_GPU;
  sysfs->base.sample = sample;
  sysfs->base.close = close_sysfs;
  sysfs->host_allocator = host_allocator;
  snprintf(sysfs->base.name, sizeof(sysfs->base.name), "amdgpu.sysfs.%04x:%02x:%02x.%u", domain, bus, device, function);
  snprintf(sysfs->folder, sizeof(sysfs->folder), "%s/bus/pci/devices/%04x:%02x:%02x.%u", root ? root : "/sys", domain,
           bus, device, function);
  find_sensors(sysfs);
  sample(&sysfs->base, &values);
  if (values.count) {
    *out_metrics = &sysfs->base;
    return iree_ok_status();
  }
  iree_status_t status = iree_make_status(
      IREE_STATUS_UNAVAILABLE,
      "device-metrics of AMD GPUs come from files of Linux's amdgpu driver, and none of them can be read below %s",
      sysfs->folder);
  close_sysfs(&sysfs->base);
  return status;
}
