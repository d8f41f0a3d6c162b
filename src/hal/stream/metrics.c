// Metrics of GPUs: NVIDIA's by NVML, which is looked for when they are asked for, AMD's by the kernel driver's files.
#include <dlfcn.h>

#include "hal/stream/device.h"
#include "hal/stream/dylib.h"
#include "hal/stream/options.h"

typedef struct nvml_activity_t {
  unsigned compute, memory;  // percent
} nvml_activity_t;
typedef struct nvml_memory_t {
  unsigned long long total, free, used;
} nvml_memory_t;
// Of nvmlClockType_t and nvmlTemperatureSensors_t.
enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2, NVML_TEMPERATURE_GPU = 0 };

typedef struct nvml_t {
#define ENTRY(name, symbol, parameters) int(*name) parameters;
#include "hal/stream/nvml.def"
  char path[1024];
} nvml_t;

typedef struct nvml_metrics_t {
  hal_metrics_t base;
  iree_allocator_t host_allocator;
  nvml_t nvml;
  void* device;
} nvml_metrics_t;

static const char* resolve(void* handle, void* user_data) {
  nvml_t* nvml = (nvml_t*)user_data;
#define OPTIONAL(name, symbol, parameters) *(void**)(&nvml->name) = dlsym(handle, symbol);
#define ENTRY(name, symbol, parameters) \
  OPTIONAL(name, symbol, parameters)    \
  if (!nvml->name) return symbol;
#include "hal/stream/nvml.def"
  return NULL;
}

static iree_status_t find_nvml(nvml_t* nvml) {
  static const char* const names[] = {"libnvidia-ml.so.1", "libnvidia-ml.so", NULL};
  const stream_dylib_t dylib = {names, resolve, nvml, nvml->path, sizeof(nvml->path)};
  iree_string_view_t storage[STREAM_MAX_PATHS];
  iree_string_builder_t why;
  bool is_open = false;
  iree_string_builder_initialize(iree_allocator_system(), &why);
  iree_status_t status = stream_dylib_open(&dylib, stream_nvml_paths(storage), &why, &is_open);
  if (iree_status_is_ok(status) && !is_open) {
    status = iree_make_status(IREE_STATUS_UNAVAILABLE,
                              "device-metrics need NVIDIA's libnvidia-ml.so.1, which was not found; it comes with the "
                              "driver; --cuda_nvml_path= or IREE_CUDA_NVML_PATH names its folder; tried:%.*s",
                              (int)iree_string_builder_size(&why), iree_string_builder_buffer(&why));
  }
  iree_string_builder_deinitialize(&why);
  return status;
}

// What one call tells, times `scale`.
#define ADD(metric, value, scale) \
  hal_metrics_add(values, IREE_HAL_PROFILE_BUILTIN_METRIC_ID_##metric, (value) * UINT64_C(scale))

static void sample_clocks(const nvml_metrics_t* m, hal_metric_values_t* values) {
  unsigned number = 0;
  if (!m->nvml.clock) return;
  if (!m->nvml.clock(m->device, NVML_CLOCK_SM, &number)) ADD(CLOCK_COMPUTE_CURRENT, number, 1000000);
  if (!m->nvml.clock(m->device, NVML_CLOCK_MEMORY, &number)) ADD(CLOCK_MEMORY_CURRENT, number, 1000000);
}

static void sample_nvml(hal_metrics_t* metrics, hal_metric_values_t* values) {
  const nvml_metrics_t* m = (const nvml_metrics_t*)metrics;
  const nvml_t* nvml = &m->nvml;
  unsigned number = 0;
  unsigned long long large = 0;
  nvml_activity_t activity = {0};
  nvml_memory_t memory = {0};
  int tier = 0;
  sample_clocks(m, values);
  if (nvml->temperature && !nvml->temperature(m->device, NVML_TEMPERATURE_GPU, &number)) {
    ADD(TEMPERATURE_EDGE, number, 1000);
  }
  if (nvml->power && !nvml->power(m->device, &number)) ADD(POWER_SOCKET, number, 1000);
  if (nvml->energy && !nvml->energy(m->device, &large)) ADD(ENERGY_SOCKET, large, 1000);
  if (nvml->activity && !nvml->activity(m->device, &activity)) {
    ADD(ACTIVITY_COMPUTE, activity.compute, 1000);
    ADD(ACTIVITY_MEMORY, activity.memory, 1000);
  }
  if (nvml->memory && !nvml->memory(m->device, &memory)) {
    ADD(MEMORY_LOCAL_USED, memory.used, 1);
    ADD(MEMORY_LOCAL_TOTAL, memory.total, 1);
  }
  if (nvml->throttle && !nvml->throttle(m->device, &large)) ADD(THROTTLE_STATUS, large, 1);
  if (nvml->tier && !nvml->tier(m->device, &tier)) ADD(PERFORMANCE_TIER, (unsigned)tier, 1);
}

static void close_nvml(hal_metrics_t* metrics) {
  nvml_metrics_t* m = (nvml_metrics_t*)metrics;
  m->nvml.shutdown();
  iree_allocator_free(m->host_allocator, m);
}

typedef struct place_t {
  uint32_t domain, bus, device;
} place_t;

static iree_status_t open_nvml(place_t place, iree_allocator_t host_allocator, hal_metrics_t** out_metrics) {
  nvml_metrics_t* m = NULL;
  char bus[32];
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*m), (void**)&m));
  m->base =
      (hal_metrics_t){.device_class = IREE_HAL_PROFILE_DEVICE_CLASS_GPU, .sample = sample_nvml, .close = close_nvml};
  m->host_allocator = host_allocator;
  snprintf(bus, sizeof(bus), "%08x:%02x:%02x.0", place.domain, place.bus, place.device);
  snprintf(m->base.name, sizeof(m->base.name), "nvml.%s", bus);
  iree_status_t status = find_nvml(&m->nvml);
  int result = iree_status_is_ok(status) ? m->nvml.init() : 0;
  if (result) status = iree_make_status(IREE_STATUS_UNAVAILABLE, "nvmlInit_v2 failed with %d", result);
  if (!iree_status_is_ok(status)) {
    iree_allocator_free(host_allocator, m);
    return status;
  }
  result = m->nvml.device_of_bus(bus, &m->device);
  if (!result) {
    *out_metrics = &m->base;
    return iree_ok_status();
  }
  close_nvml(&m->base);
  return iree_make_status(IREE_STATUS_UNAVAILABLE, "NVML does not know the GPU at %s: error %d", bus, result);
}

iree_status_t stream_metrics_open(hal_queued_device_t* base, uint32_t physical, hal_metrics_t** out_metrics) {
  const stream_context_t* context = &((stream_device_t*)base)->gpus[physical].context;
  const stream_api_t* api = context->api;
  place_t place = {(uint32_t)stream_api_attribute(api, context->device, STREAM_PCI_DOMAIN),
                   (uint32_t)stream_api_attribute(api, context->device, STREAM_PCI_BUS),
                   (uint32_t)stream_api_attribute(api, context->device, STREAM_PCI_DEVICE)};
  *out_metrics = NULL;
  if (api->library == &stream_cuda_library) return open_nvml(place, base->host_allocator, out_metrics);
  return hal_metrics_open_sysfs(place.domain, place.bus, place.device, 0, base->host_allocator, out_metrics);
}
