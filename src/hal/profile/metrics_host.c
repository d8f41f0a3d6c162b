// Metrics of processors: /proc and /sys of Linux.
#include <stdio.h>

#include "hal/profile/metrics.h"

typedef struct host_t {
  hal_metrics_t base;
  iree_allocator_t host_allocator;
  uint64_t busy, all;  // ticks of all processors, when they were looked at last
  uint64_t share;      // busy ones of those between, millipercent
} host_t;

// Ticks since the machine was started: proc(5), /proc/stat, the row of all processors. The fourth and fifth are idle.
static bool read_ticks(uint64_t* out_busy, uint64_t* out_all) {
  unsigned long long ticks[8] = {0};
  FILE* file = fopen("/proc/stat", "r");
  if (!file) return false;
  int count = fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &ticks[0], &ticks[1], &ticks[2], &ticks[3],
                     &ticks[4], &ticks[5], &ticks[6], &ticks[7]);
  fclose(file);
  *out_busy = *out_all = 0;
  for (int i = 0; i < count; ++i) {
    *out_all += ticks[i];
    if (i != 3 && i != 4) *out_busy += ticks[i];
  }
  return count >= 4;
}

static void sample_activity(host_t* host, hal_metric_values_t* values) {
  uint64_t busy, all;
  if (!read_ticks(&busy, &all)) return;
  uint64_t window = all - host->all, part = busy - host->busy;
  // Ticks are some milliseconds: before the next one nothing is new. The first window is since the machine's start.
  if (window) host->share = part * 100000 / window;
  hal_metrics_add(values, IREE_HAL_PROFILE_BUILTIN_METRIC_ID_ACTIVITY_COMPUTE, host->share);
  host->busy = busy, host->all = all;
}

static void sample_memory(hal_metric_values_t* values) {
  unsigned long long total = 0, available = 0;
  char line[128];
  FILE* file = fopen("/proc/meminfo", "r");
  while (file && fgets(line, sizeof(line), file)) {
    sscanf(line, "MemTotal: %llu", &total);
    sscanf(line, "MemAvailable: %llu", &available);
  }
  if (file) fclose(file);
  if (!total) return;
  hal_metrics_add(values, IREE_HAL_PROFILE_BUILTIN_METRIC_ID_MEMORY_LOCAL_USED, (total - available) * 1024);
  hal_metrics_add(values, IREE_HAL_PROFILE_BUILTIN_METRIC_ID_MEMORY_LOCAL_TOTAL, total * 1024);
}

static void sample(hal_metrics_t* metrics, hal_metric_values_t* values) {
  int64_t value;
  sample_activity((host_t*)metrics, values);
  sample_memory(values);
  if (hal_metrics_read_file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", &value)) {
    hal_metrics_add(values, IREE_HAL_PROFILE_BUILTIN_METRIC_ID_CLOCK_COMPUTE_CURRENT, (uint64_t)value * 1000);
  }
  if (hal_metrics_read_file("/sys/class/powercap/intel-rapl:0/energy_uj", &value)) {
    hal_metrics_add(values, IREE_HAL_PROFILE_BUILTIN_METRIC_ID_ENERGY_SOCKET, (uint64_t)value);
  }
}

static void close_host(hal_metrics_t* metrics) { iree_allocator_free(((host_t*)metrics)->host_allocator, metrics); }

iree_status_t hal_metrics_open_host(iree_allocator_t host_allocator, hal_metrics_t** out_metrics) {
  host_t* host = NULL;
  uint64_t busy, all;
  *out_metrics = NULL;
  if (!read_ticks(&busy, &all)) {
    return iree_make_status(IREE_STATUS_UNAVAILABLE,
                            "device-metrics of processors come from Linux's /proc/stat, which "
                            "cannot be read");
  }
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*host), (void**)&host));
  host->base.device_class = IREE_HAL_PROFILE_DEVICE_CLASS_CPU;
  host->base.sample = sample;
  host->base.close = close_host;
  host->host_allocator = host_allocator;
  snprintf(host->base.name, sizeof(host->base.name), "linux.proc");
  *out_metrics = &host->base;
  return iree_ok_status();
}
