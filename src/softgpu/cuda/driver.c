// cuInit and the end of the process; what is asked of the driver as a whole.
#include "softgpu/cuda/driver.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "softgpu/cuda/calls.h"
#include "softgpu/cuda/memory.h"
#include "softgpu/cuda/stream.h"
#include "softgpu/gpu_names.h"

driver_t driver = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .progress = PTHREAD_COND_INITIALIZER, .state = CUDA_ERROR_NOT_INITIALIZED};

uint64_t driver_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool is_set(const char* variable) {
  const char* value = getenv(variable);
  return value && *value && strcmp(value, "0") != 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// GPUs
//===----------------------------------------------------------------------------------------------------------------===

typedef struct list_t {
  const nv_target_t* targets[DRIVER_MAX_GPUS];
  uint8_t uuids[DRIVER_MAX_GPUS][16];
  char texts[DRIVER_MAX_GPUS][48];
  uint32_t count;
} list_t;

// "GPU-" and the digits in five groups, as nvidia-smi prints it.
static void print_uuid(char out[48], const uint8_t uuid[16]) {
  int length = snprintf(out, 48, "GPU");
  for (int i = 0; i < 16; ++i) {
    bool starts = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
    length += snprintf(out + length, (size_t)(48 - length), "%s%02x", starts ? "-" : "", uuid[i]);
  }
}

static bool add_name(void* data, const char* name) {
  list_t* list = data;
  const nv_target_t* target = nv_target_find(name);
  if (!target) {
    fprintf(stderr, "softgpu: '%s' is no NVIDIA GPU; iree-softgpu without arguments lists what is there\n", name);
    return false;
  }
  if (list->count == DRIVER_MAX_GPUS) return fprintf(stderr, "softgpu: more than %u GPUs\n", list->count), false;
  uint32_t at = list->count++;
  uint8_t uuid[16] = {(uint8_t)target->architecture, 0x5f, 0x67, (uint8_t)(at + 1), [15] = (uint8_t)(at + 1)};
  list->targets[at] = target;
  memcpy(list->uuids[at], uuid, sizeof(uuid));
  print_uuid(list->texts[at], uuid);
  return true;
}

static bool add_gpu(const nv_target_t* target, const uint8_t uuid[16]) {
  uint32_t checks = 0;
  const char *check = getenv("IREE_SOFTGPU_CHECK"), *limit = getenv("IREE_SOFTGPU_LIMIT");
  text_t error = {0};
  bool ok = !check || engine_parse_checks(check, &checks, &error);
  if (!ok) fprintf(stderr, "softgpu: %s\n", error.data);
  text_finish(&error);
  if (!ok) return false;
  device_t* device = &driver.devices[driver.device_count];
  *device = (device_t){.ordinal = driver.device_count, .target = target};
  memcpy(device->uuid, uuid, sizeof(device->uuid));
  device->accessors = UINT64_C(1) << device->ordinal;
  context_initialize(&device->primary, device, true);
  nv_options_t options = {.target = target,
                          .ordinal = device->ordinal,
                          .checks = checks,
                          .counts = driver.prints_stats,
                          .warp_limit = limit ? strtoull(limit, NULL, 0) : 0,
                          .memory = driver.memory,
                          .allocate = allocation_create_variable,
                          .release = allocation_release_variable,
                          .data = device};
  device->engine = nv_engine_create(&options);
  device->default_pool = device->pool = pool_create(device, 0);
  ++driver.device_count;
  return device->engine && device->pool && object_add(&device->primary, OBJECT_CONTEXT);
}

static bool add_gpus(void) {
  list_t list = {.count = 0};
  uint32_t chosen[DRIVER_MAX_GPUS];
  const char *target = getenv("IREE_SOFTGPU_TARGET"), *texts[DRIVER_MAX_GPUS];
  if (!gpu_names_each(target && *target ? target : "sm_90", getenv("IREE_SOFTGPU_GPUS"), add_name, &list)) return false;
  for (uint32_t i = 0; i < list.count; ++i) texts[i] = list.texts[i];
  uint32_t count = gpu_names_select(texts, list.count, getenv("CUDA_VISIBLE_DEVICES"), chosen);
  for (uint32_t i = 0; i < count; ++i) {
    if (!add_gpu(list.targets[chosen[i]], list.uuids[chosen[i]])) return false;
  }
  return true;
}

device_t* driver_device(int ordinal) {
  return ordinal >= 0 && (uint32_t)ordinal < driver.device_count ? &driver.devices[ordinal] : NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Beginning and end
//===----------------------------------------------------------------------------------------------------------------===

static void print_stats(const device_t* device) {
  nv_counters_t counters;
  nv_engine_counters(device->engine, &counters);
  fprintf(stderr, "softgpu: GPU %u, %s\n", device->ordinal, device->target->name);
#define COUNTER(name, what) fprintf(stderr, "  %18llu %s\n", (unsigned long long)counters.name, what);
  NV_COUNTERS(COUNTER)
#undef COUNTER
}

static bool has_running(const context_t* context) {
  for (const stream_t* stream = context->streams; stream; stream = stream_next(stream)) {
    if (stream_is_executing(stream)) return true;
  }
  return false;
}

// Launches are abandoned; threads that wait stay where they are, and go with the process.
static void stop_context(context_t* context) { __atomic_store_n(&context->stops, 1, __ATOMIC_RELEASE); }

static void end_process(void) {
  enum { PATIENCE = 2 };  // seconds
  if (__atomic_load_n(&driver.state, __ATOMIC_ACQUIRE) != CUDA_SUCCESS) return;
  __atomic_store_n(&driver.state, CUDA_ERROR_DEINITIALIZED, __ATOMIC_RELEASE);
  driver_lock();
  for (uint32_t i = 0; i < driver.device_count; ++i) stop_context(&driver.devices[i].primary);
  for (context_t* context = driver.contexts; context; context = context->next) stop_context(context);
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += PATIENCE;
  bool is_late = false;
  for (bool runs = true; runs && !is_late;) {
    runs = false;
    for (uint32_t i = 0; i < driver.device_count; ++i) runs |= has_running(&driver.devices[i].primary);
    for (context_t* context = driver.contexts; context; context = context->next) runs |= has_running(context);
    if (runs) is_late = pthread_cond_timedwait(&driver.progress, &driver.lock, &until) != 0;
  }
  driver_unlock();
  for (uint32_t i = 0; driver.prints_stats && i < driver.device_count; ++i) print_stats(&driver.devices[i]);
}

// A child has none of the threads.
static void forget_in_child(void) {
  if (driver.state != CUDA_ERROR_NOT_INITIALIZED)
    __atomic_store_n(&driver.state, CUDA_ERROR_NOT_INITIALIZED, __ATOMIC_RELEASE);
}

static result_t initialize(void) {
  driver.prints_stats = is_set("IREE_SOFTGPU_STATS");
  driver.is_verbose = is_set("IREE_SOFTGPU_VERBOSE");
  driver.memory = memory_map_create();
  if (!driver.memory) return CUDA_ERROR_OUT_OF_MEMORY;
  if (!add_gpus() || !driver.device_count) return CUDA_ERROR_NO_DEVICE;
  pthread_atfork(NULL, NULL, forget_in_child);
  atexit(end_process);
  return CUDA_SUCCESS;
}

static struct {
  pthread_once_t once;
  result_t result;
} first = {.once = PTHREAD_ONCE_INIT};

static void initialize_once(void) {
  first.result = initialize();
  if (first.result == CUDA_SUCCESS) __atomic_store_n(&driver.state, CUDA_SUCCESS, __ATOMIC_RELEASE);
}

result_t cuInit(unsigned flags) {
  REQUIRE(flags == 0, CUDA_ERROR_INVALID_VALUE);
  pthread_once(&first.once, initialize_once);
  return first.result == CUDA_SUCCESS ? __atomic_load_n(&driver.state, __ATOMIC_ACQUIRE) : first.result;
}

result_t driver_enter(void) {
  REQUIRE(!driver_in_callback, CUDA_ERROR_NOT_PERMITTED);
  return __atomic_load_n(&driver.state, __ATOMIC_ACQUIRE);
}

//===----------------------------------------------------------------------------------------------------------------===
// Results
//===----------------------------------------------------------------------------------------------------------------===

static const struct {
  result_t result;
  const char *name, *text;
} results[] = {
#define RESULT(name, value, text) {value, #name, text},
#include "softgpu/cuda/results.def"
};

static result_t find_result(result_t result, const char** out, bool wants_name) {
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = NULL;
  for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); ++i) {
    if (results[i].result == result) *out = wants_name ? results[i].name : results[i].text;
  }
  return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
result_t cuGetErrorName(result_t result, const char** out) { return find_result(result, out, true); }
result_t cuGetErrorString(result_t result, const char** out) { return find_result(result, out, false); }

result_t cuDriverGetVersion(int* out) {
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = DRIVER_VERSION;
  return CUDA_SUCCESS;
}

result_t driver_refuse(const char* name, const char* why) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static const char* said[256];
  static size_t count;
  pthread_mutex_lock(&lock);
  size_t at = 0;
  while (at < count && said[at] != name) ++at;
  bool is_new = at == count && count < sizeof(said) / sizeof(said[0]);
  if (is_new) said[count++] = name;
  bool speaks = is_new && (driver.is_verbose || is_set("IREE_SOFTGPU_VERBOSE"));
  pthread_mutex_unlock(&lock);
  if (speaks) fprintf(stderr, "softgpu: %s %s\n", name, why);
  return CUDA_ERROR_NOT_SUPPORTED;
}
