// Counters by rocprofiler-sdk; see counters.h.
//
//   launch { dispatch: takes the sample of this thread, by a number } ... record: the values of that number
//
// The library calls when the kernel goes to its queue, which HIP does on the thread that launches; kernels that HIP
// launches for itself on that thread have other grids. Values come on a thread of the library's, when the kernel's end
// was seen there: somewhat later than in the stream. Until then the sample is among those `awaited`, where the
// library's number finds it, or does not any more.
#include "hal/stream/counters.h"
#include "hal/stream/device.h"
#include "hal/stream/rocprofiler.h"
#include "iree/base/threading/call_once.h"
#include "iree/base/threading/notification.h"

enum {
  MAX_COUNTERS = 16,
  MAX_AWAITED = 256,       // so that the packets around them fit into the queue
  MAX_RECORDS = 64 << 10,  // of a sample over time
  WAIT_MS = 10000,         // for values of a kernel that has ended; where they did not come, no more are waited for
};

typedef struct counter_gpu_t counter_gpu_t;

typedef struct sample_t {
  struct sample_t* next;  // in the list of idle ones, or of those awaited
  counter_gpu_t* gpu;
  uint64_t number;  // 0: nothing counts it
  uint32_t workgroup_size[3], grid_size[3];
  bool is_awaited, is_read;
  uint64_t values[MAX_COUNTERS];
} sample_t;

typedef struct text_t {
  char name[128], block[64], description[256];
} text_t;

typedef struct counting_t {
  iree_allocator_t host_allocator;
  stream_device_t* device;  // which lives longer
  const rocprofiler_client_t* client;
  bool is_over_time, is_started;
  iree_atomic_uint32_t is_late;  // values did not come in time
  uint32_t counter_count;
  hal_profile_counter_t counters[MAX_COUNTERS];
  text_t texts[MAX_COUNTERS];
  rocprofiler_record_t* records;  // of a sample over time
  uint32_t gpu_count;
  struct counter_gpu_t {
    struct counting_t* counting;
    uint32_t physical, index;  // of the client's
    rocprofiler_id_t counters[MAX_COUNTERS];
    rocprofiler_id_t config;
    bool is_started;
    uint64_t tick;  // when counting over time began
    sample_t* idle;
  } gpus[];
} counting_t;

static struct {
  iree_once_flag once;
  iree_notification_t came;  // values of a sample
  iree_slim_mutex_t mutex;   // guards what follows, and the samples
  uint64_t last_number;
  uint32_t awaited_count;
  sample_t* awaited;
  uint32_t users;  // of the context of dispatches
} process = {.once = IREE_ONCE_FLAG_INIT};
static _Thread_local sample_t* launching;  // of the kernel that this thread launches, until the library has seen it
static _Thread_local rocprofiler_id_t starting;  // the config of the context over time that this thread starts

static void initialize_once(void) {
  iree_notification_initialize(&process.came);
  iree_slim_mutex_initialize(&process.mutex);
}

//===----------------------------------------------------------------------------------------------------------------===
// What the library calls
//===----------------------------------------------------------------------------------------------------------------===

static bool is_of(const sample_t* sample, const rocprofiler_dispatch_t* dispatch) {
  const counter_gpu_t* gpu = sample->gpu;
  return dispatch->info.agent.handle == gpu->counting->client->gpus[gpu->index].agent.handle &&
         memcmp(dispatch->info.workgroup_size, sample->workgroup_size, sizeof(sample->workgroup_size)) == 0 &&
         memcmp(dispatch->info.grid_size, sample->grid_size, sizeof(sample->grid_size)) == 0;
}

static void take_dispatch(rocprofiler_dispatch_t dispatch, rocprofiler_id_t* out_config, uint64_t* out_user_data,
                          void* data) {
  sample_t* sample = launching;
  if (!sample || !is_of(sample, &dispatch)) return;
  launching = NULL;
  iree_slim_mutex_lock(&process.mutex);
  sample->number = ++process.last_number;
  sample->is_awaited = true;
  sample->next = process.awaited;
  process.awaited = sample;
  ++process.awaited_count;
  *out_config = sample->gpu->config;
  *out_user_data = sample->number;
  iree_slim_mutex_unlock(&process.mutex);
}

// A counter's value is a whole number; what is none is 0.
static uint64_t as_count(double value) { return value > 0 && value < 1e19 ? (uint64_t)(value + 0.5) : 0; }

// Adds up the places that count. False unless each counter has some.
static bool add_records(const counter_gpu_t* gpu, const rocprofiler_record_t* records, size_t count,
                        uint64_t out_values[MAX_COUNTERS]) {
  const counting_t* counting = gpu->counting;
  double sums[MAX_COUNTERS] = {0};
  uint32_t found = 0;
  for (size_t i = 0; i < count; ++i) {
    rocprofiler_id_t counter = {0};
    if (counting->client->api.counter_of_record(records[i].id, &counter) != ROCPROFILER_SUCCESS) continue;
    for (uint32_t k = 0; k < counting->counter_count; ++k) {
      if (gpu->counters[k].handle != counter.handle) continue;
      sums[k] += records[i].value;
      found |= 1u << k;
    }
  }
  for (uint32_t k = 0; k < counting->counter_count; ++k) out_values[k] = as_count(sums[k]);
  return found == (1u << counting->counter_count) - 1;
}

// Takes it off those awaited; the mutex is held.
static void forget(sample_t* sample) {
  sample_t** at = &process.awaited;
  if (!sample->is_awaited) return;
  while (*at != sample) at = &(*at)->next;
  *at = sample->next;
  sample->is_awaited = false;
  --process.awaited_count;
}

static void take_records(rocprofiler_dispatch_t dispatch, rocprofiler_record_t* records, size_t count,
                         uint64_t user_data, void* data) {
  iree_slim_mutex_lock(&process.mutex);
  sample_t* sample = process.awaited;
  while (sample && sample->number != user_data) sample = sample->next;
  if (sample) {
    sample->is_read = add_records(sample->gpu, records, count, sample->values);
    forget(sample);
  }
  iree_slim_mutex_unlock(&process.mutex);
  iree_notification_post(&process.came, IREE_ALL_WAITERS);
}

// On the thread that starts the context.
static void choose_config(rocprofiler_id_t context, rocprofiler_id_t agent,
                          int (*set_config)(rocprofiler_id_t context, rocprofiler_id_t config), void* data) {
  set_config(context, starting);
}

static const rocprofiler_callbacks_t callbacks = {take_dispatch, take_records, choose_config};

void stream_hip_counting_prepare(void) {
  const rocprofiler_client_t* client = NULL;
  iree_string_view_t storage[STREAM_MAX_PATHS];
  bool is_wanted = hal_profile_is_expected(IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES |
                                           IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_RANGES);
  if (!is_wanted && !stream_rocprofiler_paths(storage).count) return;
  iree_call_once(&process.once, initialize_once);
  iree_status_ignore(rocprofiler_client_open(&callbacks, &client));
}

//===----------------------------------------------------------------------------------------------------------------===
// Samples
//===----------------------------------------------------------------------------------------------------------------===

static uint64_t make_sample(void* data, const hal_profile_queue_t* queue) {
  counter_gpu_t* gpu = &((counting_t*)data)->gpus[queue->physical];
  iree_slim_mutex_lock(&process.mutex);
  sample_t* sample = gpu->idle;
  if (sample) gpu->idle = sample->next;
  iree_slim_mutex_unlock(&process.mutex);
  if (!sample) {
    iree_status_t status = iree_allocator_malloc(gpu->counting->host_allocator, sizeof(*sample), (void**)&sample);
    if (iree_status_consume_code(status)) return 0;
  }
  *sample = (sample_t){.gpu = gpu};
  return (uint64_t)(uintptr_t)sample;
}

// What the library says of it later is of nobody.
static void free_sample(void* data, uint64_t value) {
  sample_t* sample = (sample_t*)(uintptr_t)value;
  iree_slim_mutex_lock(&process.mutex);
  forget(sample);
  sample->next = sample->gpu->idle;
  sample->gpu->idle = sample;
  iree_slim_mutex_unlock(&process.mutex);
}

// Until the library has told more. False when that takes too long.
static bool await(counting_t* counting, iree_condition_fn_t condition, void* data) {
  bool is_late = iree_atomic_load(&counting->is_late, iree_memory_order_relaxed);
  if (iree_notification_await(&process.came, condition, data, iree_make_timeout_ms(is_late ? 0 : WAIT_MS))) return true;
  iree_atomic_store(&counting->is_late, 1, iree_memory_order_relaxed);
  return false;
}

static bool has_come(void* data) {
  iree_slim_mutex_lock(&process.mutex);
  bool is_awaited = ((const sample_t*)data)->is_awaited;
  iree_slim_mutex_unlock(&process.mutex);
  return !is_awaited;
}

static void note_uncounted(const counter_gpu_t* gpu) {
  iree_atomic_fetch_add(&gpu->counting->device->uncounted, 1, iree_memory_order_relaxed);
}

static bool read_sample(void* data, uint64_t value, uint64_t* out_values) {
  sample_t* sample = (sample_t*)(uintptr_t)value;
  await((counting_t*)data, has_come, sample);
  iree_slim_mutex_lock(&process.mutex);
  bool is_read = sample->is_read;
  if (is_read) memcpy(out_values, sample->values, sample->gpu->counting->counter_count * sizeof(*out_values));
  iree_slim_mutex_unlock(&process.mutex);
  if (!is_read && sample->number) note_uncounted(sample->gpu);
  return is_read;
}

static bool has_room(void* data) {
  iree_slim_mutex_lock(&process.mutex);
  bool is_there = process.awaited_count < MAX_AWAITED;
  iree_slim_mutex_unlock(&process.mutex);
  return is_there;
}

static void begin_launch(uint64_t value, const gpu_command_t* command, const uint32_t counts[3]) {
  sample_t* sample = (sample_t*)(uintptr_t)value;
  for (int i = 0; i < 3; ++i) {
    sample->workgroup_size[i] = command->dispatch.workgroup_size[i];
    sample->grid_size[i] = counts[i] * command->dispatch.workgroup_size[i];
  }
  launching = await(sample->gpu->counting, has_room, NULL) ? sample : NULL;
}

static void end_launch(uint64_t value) {
  const sample_t* sample = (const sample_t*)(uintptr_t)value;
  launching = NULL;
  if (!sample->number) note_uncounted(sample->gpu);
}

//===----------------------------------------------------------------------------------------------------------------===
// Over time
//===----------------------------------------------------------------------------------------------------------------===

static rocprofiler_id_t context_of(const counter_gpu_t* gpu) { return gpu->counting->client->gpus[gpu->index].context; }

// Counters begin with 0.
static iree_status_t start_over_time(counter_gpu_t* gpu) {
  const counting_t* counting = gpu->counting;
  const rocprofiler_api_t* api = &counting->client->api;
  IREE_RETURN_IF_ERROR(stream_clock_read(counting->device, gpu->physical, &gpu->tick));
  starting = gpu->config;
  int result = api->start_context(context_of(gpu));
  gpu->is_started = result == ROCPROFILER_SUCCESS;
  return rocprofiler_api_check(api, result, rocprofiler_symbol_start_context);
}

static iree_status_t stop_over_time(counter_gpu_t* gpu) {
  if (!gpu->is_started) return iree_ok_status();
  gpu->is_started = false;
  return ROCPROFILER_CALL(&gpu->counting->client->api, stop_context, context_of(gpu));
}

static iree_status_t begin_over_time(counter_gpu_t* gpu) {
  const rocprofiler_client_t* client = gpu->counting->client;
  int status = client->gpus[gpu->index].status;
  IREE_RETURN_IF_ERROR(rocprofiler_api_check(&client->api, status, rocprofiler_symbol_configure_device));
  return start_over_time(gpu);
}

static iree_status_t read_range(void* data, uint32_t physical, uint64_t* out_values, uint64_t* out_start,
                                uint64_t* out_end) {
  counting_t* counting = (counting_t*)data;
  counter_gpu_t* gpu = &counting->gpus[physical];
  uint64_t values[MAX_COUNTERS];
  size_t count = MAX_RECORDS;
  IREE_RETURN_IF_ERROR(
      ROCPROFILER_CALL(&counting->client->api, sample_device, context_of(gpu), 0, 0, counting->records, &count));
  *out_start = gpu->tick;
  IREE_RETURN_IF_ERROR(stream_clock_read(counting->device, physical, out_end));
  if (count > MAX_RECORDS || !add_records(gpu, counting->records, count, values)) {
    return iree_make_status(IREE_STATUS_DATA_LOSS, "rocprofiler-sdk has no values of counters over time");
  }
  memcpy(out_values, values, counting->counter_count * sizeof(*out_values));
  IREE_RETURN_IF_ERROR(stop_over_time(gpu));
  return start_over_time(gpu);
}

//===----------------------------------------------------------------------------------------------------------------===
// What is counted
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t take_names(counting_t* counting, const iree_hal_profile_counter_set_selection_t* set) {
  counting->counter_count = (uint32_t)set->counter_name_count;
  for (uint32_t i = 0; i < counting->counter_count; ++i) {
    iree_string_view_t name = set->counter_names[i];
    if (name.size >= sizeof(counting->texts[i].name)) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "'%.*s' is too long for a counter's name", (int)name.size,
                              name.data);
    }
    iree_string_view_to_cstring(name, counting->texts[i].name, sizeof(counting->texts[i].name));
  }
  return iree_ok_status();
}

// Of the names, as far as the library has conventions for them.
static iree_hal_profile_counter_unit_t unit_of(const char* name) {
  if (strstr(name, "Percent") || strstr(name, "UTIL") || strstr(name, "Util"))
    return IREE_HAL_PROFILE_COUNTER_UNIT_NONE;
  if (strstr(name, "BYTES")) return IREE_HAL_PROFILE_COUNTER_UNIT_BYTES;
  bool is_time = strstr(name, "CYCLE") || strstr(name, "BUSY") || strncmp(name, "GRBM_COUNT", 10) == 0;
  return is_time ? IREE_HAL_PROFILE_COUNTER_UNIT_CYCLES : IREE_HAL_PROFILE_COUNTER_UNIT_COUNT;
}

static void describe(counting_t* counting, uint32_t index, const rocprofiler_counter_info_t* info) {
  text_t* text = &counting->texts[index];
  snprintf(text->block, sizeof(text->block), "%s", info->block ? info->block : "");
  snprintf(text->description, sizeof(text->description), "%s", info->description ? info->description : "");
  counting->counters[index] = (hal_profile_counter_t){
      .block = iree_make_cstring_view(text->block),
      .name = iree_make_cstring_view(text->name),
      .description = iree_make_cstring_view(text->description),
      .unit = unit_of(text->name),
      .value_count = 1,
  };
}

static int find_counters(rocprofiler_id_t agent, rocprofiler_id_t* counters, size_t count, void* data) {
  counter_gpu_t* gpu = (counter_gpu_t*)data;
  counting_t* counting = gpu->counting;
  for (size_t i = 0; i < count; ++i) {
    rocprofiler_counter_info_t info = {0};
    int result = counting->client->api.query_counter(counters[i], ROCPROFILER_COUNTER_V0, &info);
    if (result != ROCPROFILER_SUCCESS || !info.name) continue;
    for (uint32_t k = 0; k < counting->counter_count; ++k) {
      if (strcmp(info.name, counting->texts[k].name) != 0) continue;
      gpu->counters[k] = counters[i];
      describe(counting, k, &info);
    }
  }
  return ROCPROFILER_SUCCESS;
}

typedef struct place_t {
  uint32_t domain, bus, device;
} place_t;

static place_t place_of(const stream_api_t* api, int device) {
  return (place_t){(uint32_t)stream_api_attribute(api, device, STREAM_PCI_DOMAIN),
                   (uint32_t)stream_api_attribute(api, device, STREAM_PCI_BUS),
                   (uint32_t)stream_api_attribute(api, device, STREAM_PCI_DEVICE)};
}

static bool is_at(const rocprofiler_client_t* client, uint32_t index, place_t place) {
  return client->gpus[index].domain == place.domain &&
         client->gpus[index].location >> 3 == (place.bus << 5 | place.device);
}

// The client's GPU where this one is: of several in one place, which are parts of one, as many are before it.
static iree_status_t find_gpu(counter_gpu_t* gpu) {
  const rocprofiler_client_t* client = gpu->counting->client;
  const stream_context_t* context = &gpu->counting->device->gpus[gpu->physical].context;
  place_t place = place_of(context->api, context->device);
  uint32_t before = 0;
  for (int i = 0; i < context->device; ++i) {
    place_t other = place_of(context->api, i);
    before += memcmp(&other, &place, sizeof(place)) == 0;
  }
  for (gpu->index = 0; gpu->index < client->gpu_count; ++gpu->index) {
    if (is_at(client, gpu->index, place) && !before--) return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_UNAVAILABLE, "%s knows no GPU at %04x:%02x:%02x", client->api.path, place.domain,
                          place.bus, place.device);
}

static iree_status_t begin_gpu(counting_t* counting, counter_gpu_t* gpu) {
  const rocprofiler_api_t* api = &counting->client->api;
  IREE_RETURN_IF_ERROR(find_gpu(gpu));
  rocprofiler_id_t agent = counting->client->gpus[gpu->index].agent;
  IREE_RETURN_IF_ERROR(ROCPROFILER_CALL(api, iterate_counters, agent, find_counters, gpu));
  for (uint32_t i = 0; i < counting->counter_count; ++i) {
    if (gpu->counters[i].handle) continue;
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                            "counter '%s' is none that rocprofiler-sdk has for %s; `rocprofv3-avail list` lists those "
                            "of a GPU",
                            counting->texts[i].name, counting->device->gpus[gpu->physical].architecture);
  }
  IREE_RETURN_IF_ERROR(
      ROCPROFILER_CALL(api, create_config, agent, gpu->counters, counting->counter_count, &gpu->config));
  return counting->is_over_time ? begin_over_time(gpu) : iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Begin and end
//===----------------------------------------------------------------------------------------------------------------===

// The context of dispatches is one for all devices.
static iree_status_t start_dispatches(counting_t* counting) {
  const rocprofiler_api_t* api = &counting->client->api;
  iree_slim_mutex_lock(&process.mutex);
  bool is_first = process.users++ == 0;
  iree_slim_mutex_unlock(&process.mutex);
  counting->is_started = true;
  return is_first ? ROCPROFILER_CALL(api, start_context, counting->client->dispatches) : iree_ok_status();
}

static void stop_dispatches(counting_t* counting) {
  if (!counting->is_started) return;
  iree_slim_mutex_lock(&process.mutex);
  bool is_last = --process.users == 0;
  iree_slim_mutex_unlock(&process.mutex);
  if (is_last) counting->client->api.stop_context(counting->client->dispatches);
}

static void end_counting(void* data) {
  counting_t* counting = (counting_t*)data;
  stop_dispatches(counting);
  for (uint32_t i = 0; i < counting->gpu_count; ++i) {
    counter_gpu_t* gpu = &counting->gpus[i];
    iree_status_ignore(stop_over_time(gpu));
    if (gpu->config.handle) counting->client->api.destroy_config(gpu->config);
    for (sample_t* sample = gpu->idle; sample;) {
      sample_t* next = sample->next;
      iree_allocator_free(counting->host_allocator, sample);
      sample = next;
    }
  }
  iree_allocator_free(counting->host_allocator, counting->records);
  iree_allocator_free(counting->host_allocator, counting);
}

static iree_status_t initialize(counting_t* counting, const iree_hal_device_profiling_options_t* options) {
  counting->is_over_time = options->data_families & IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_RANGES;
  IREE_RETURN_IF_ERROR(take_names(counting, &options->counter_sets[0]));
  IREE_RETURN_IF_ERROR(rocprofiler_client_open(&callbacks, &counting->client));
  IREE_RETURN_IF_ERROR(stream_clock_start(counting->device));
  if (counting->is_over_time) {
    IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(counting->host_allocator, MAX_RECORDS, sizeof(*counting->records),
                                                     (void**)&counting->records));
  }
  for (uint32_t i = 0; i < counting->gpu_count; ++i) IREE_RETURN_IF_ERROR(begin_gpu(counting, &counting->gpus[i]));
  return counting->is_over_time ? iree_ok_status() : start_dispatches(counting);
}

static iree_status_t begin_counting(hal_queued_device_t* base, const iree_hal_device_profiling_options_t* options,
                                    void** out_counting, const hal_profile_counter_t** out_counters) {
  stream_device_t* device = (stream_device_t*)base;
  uint32_t count = device->gpu.domain.physical_count;
  counting_t* counting = NULL;
  iree_call_once(&process.once, initialize_once);
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(base->host_allocator, sizeof(*counting), count,
                                                          sizeof(counting->gpus[0]), (void**)&counting));
  counting->host_allocator = base->host_allocator;
  counting->device = device;
  counting->gpu_count = count;
  for (uint32_t i = 0; i < count; ++i) {
    counting->gpus[i].counting = counting;
    counting->gpus[i].physical = i;
  }
  *out_counting = counting;
  *out_counters = counting->counters;
  return initialize(counting, options);
}

const stream_counting_t stream_hip_counting = {
    .base = {.most_counters = MAX_COUNTERS,
             .begin = begin_counting,
             .end = end_counting,
             .make_sample = make_sample,
             .read_sample = read_sample,
             .free_sample = free_sample,
             .read_range = read_range},
    .begin_launch = begin_launch,
    .end_launch = end_launch,
};
