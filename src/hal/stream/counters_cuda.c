// Counters by CUPTI; see counters.h.
//
//   start { push launch pop }* stop, decode: the data of all ranges, each by its name
//
// Starting and stopping take the library longer than a range does, so that what was counted is read when somebody asks
// for it, or when there is no room for another range. A dispatch runs once: counters that need several passes are
// refused.
#include "hal/stream/counters.h"
#include "hal/stream/cupti.h"
#include "hal/stream/device.h"

enum { MAX_COUNTERS = 16, MAX_RANGES = 128, NAME_LENGTH = 128 };

typedef struct counter_gpu_t counter_gpu_t;

typedef struct sample_t {
  struct sample_t* next;  // in the list of idle ones
  counter_gpu_t* gpu;
  uint32_t range;
  bool is_counted;  // in a range that is not read yet
  bool is_read;
  uint64_t values[MAX_COUNTERS];
} sample_t;

typedef struct text_t {
  char name[NAME_LENGTH], block[64], description[256];
} text_t;

typedef struct counting_t {
  iree_allocator_t host_allocator;
  stream_device_t* device;  // which lives longer
  cupti_api_t api;
  uint32_t counter_count;
  hal_profile_counter_t counters[MAX_COUNTERS];
  text_t texts[MAX_COUNTERS];
  const char* names[MAX_COUNTERS];
  uint32_t gpu_count;
  struct counter_gpu_t {
    struct counting_t* counting;
    uint32_t physical;
    void *host, *profiler;  // the library's; NULL: none yet
    uint8_t *availability, *plan, *data;
    size_t plan_length, data_length;
    iree_slim_mutex_t mutex;  // guards what follows
    bool is_started;
    uint32_t range_count;  // since it was started
    sample_t* ranges[MAX_RANGES];
    char range_names[MAX_RANGES][12];
    sample_t* idle;
    sample_t* over_time;  // counts from one flush to the next
    uint64_t tick;        // when that began
  } gpus[];
} counting_t;

static iree_status_t enter(const counter_gpu_t* gpu) {
  return stream_context_enter(&gpu->counting->device->gpus[gpu->physical].context);
}

//===----------------------------------------------------------------------------------------------------------------===
// Ranges; the mutex is held, the context entered
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t start(counter_gpu_t* gpu) {
  const cupti_api_t* api = &gpu->counting->api;
  cupti_data_clear_t clear = {CUPTI_BEGIN(cupti_data_clear_t, data), gpu->profiler, gpu->data_length, gpu->data};
  cupti_profiler_t profiler = {CUPTI_BEGIN(cupti_profiler_t, profiler), gpu->profiler};
  IREE_RETURN_IF_ERROR(CUPTI_CALL(api, data_clear, &clear));
  IREE_RETURN_IF_ERROR(CUPTI_CALL(api, start, &profiler));
  gpu->is_started = true;
  return iree_ok_status();
}

static iree_status_t push(counter_gpu_t* gpu, sample_t* sample) {
  const cupti_api_t* api = &gpu->counting->api;
  if (!gpu->is_started || gpu->range_count == MAX_RANGES) return iree_status_from_code(IREE_STATUS_RESOURCE_EXHAUSTED);
  char* name = gpu->range_names[gpu->range_count];
  snprintf(name, sizeof(gpu->range_names[0]), "%u", gpu->range_count);
  cupti_push_t parameters = {CUPTI_BEGIN(cupti_push_t, name), gpu->profiler, name};
  IREE_RETURN_IF_ERROR(CUPTI_CALL(api, push, &parameters));
  sample->range = gpu->range_count++;
  sample->is_counted = true;
  gpu->ranges[sample->range] = sample;
  return iree_ok_status();
}

static iree_status_t pop(counter_gpu_t* gpu) {
  cupti_profiler_t parameters = {CUPTI_BEGIN(cupti_profiler_t, profiler), gpu->profiler};
  return CUPTI_CALL(&gpu->counting->api, pop, &parameters);
}

// A counter's value is a whole number; a ratio of nothing to nothing, which is no number, is 0.
static uint64_t as_count(double value) { return value > 0 && value < 1e19 ? (uint64_t)(value + 0.5) : 0; }

static iree_status_t read_range_data(counter_gpu_t* gpu, size_t index) {
  counting_t* counting = gpu->counting;
  double values[MAX_COUNTERS] = {0};
  cupti_range_name_t name = {CUPTI_BEGIN(cupti_range_name_t, name), gpu->data, gpu->data_length, index, "/"};
  IREE_RETURN_IF_ERROR(CUPTI_CALL(&counting->api, range_name, &name));
  uint32_t range = 0;
  bool is_ours =
      name.name && iree_string_view_atoi_uint32(iree_make_cstring_view(name.name), &range) && range < gpu->range_count;
  if (!is_ours || !gpu->ranges[range]) return iree_ok_status();
  cupti_evaluate_t evaluate = {.size = offsetof(cupti_evaluate_t, values) + sizeof(evaluate.values),
                               .host = gpu->host,
                               .data = gpu->data,
                               .length = gpu->data_length,
                               .range = index,
                               .names = counting->names,
                               .count = counting->counter_count,
                               .values = values};
  IREE_RETURN_IF_ERROR(CUPTI_CALL(&counting->api, evaluate, &evaluate));
  sample_t* sample = gpu->ranges[range];
  for (uint32_t i = 0; i < counting->counter_count; ++i) sample->values[i] = as_count(values[i]);
  sample->is_read = true;
  return iree_ok_status();
}

static iree_status_t read_data(counter_gpu_t* gpu) {
  const cupti_api_t* api = &gpu->counting->api;
  cupti_decode_t decode = {CUPTI_BEGIN(cupti_decode_t, dropped), gpu->profiler};
  cupti_range_count_t ranges = {CUPTI_BEGIN(cupti_range_count_t, count), gpu->data, gpu->data_length};
  IREE_RETURN_IF_ERROR(CUPTI_CALL(api, decode, &decode));
  IREE_RETURN_IF_ERROR(CUPTI_CALL(api, range_count, &ranges));
  for (size_t i = 0; i < ranges.count; ++i) IREE_RETURN_IF_ERROR(read_range_data(gpu, i));
  return iree_ok_status();
}

static iree_status_t stop(counter_gpu_t* gpu) {
  cupti_stop_t parameters = {CUPTI_BEGIN(cupti_stop_t, is_complete), gpu->profiler};
  if (!gpu->is_started) return iree_ok_status();
  gpu->is_started = false;
  return CUPTI_CALL(&gpu->counting->api, stop, &parameters);
}

// Reads all that was counted, and goes on. What fails leaves samples without values, and none are taken any more.
static iree_status_t collect(counter_gpu_t* gpu) {
  if (!gpu->is_started) return iree_status_from_code(IREE_STATUS_UNAVAILABLE);
  iree_status_t status = stop(gpu);
  if (iree_status_is_ok(status)) status = read_data(gpu);
  for (uint32_t i = 0; i < gpu->range_count; ++i) {
    if (gpu->ranges[i]) gpu->ranges[i]->is_counted = false;
    gpu->ranges[i] = NULL;
  }
  gpu->range_count = 0;
  return iree_status_is_ok(status) ? start(gpu) : status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Samples
//===----------------------------------------------------------------------------------------------------------------===

static sample_t* take_sample(counter_gpu_t* gpu) {
  iree_slim_mutex_lock(&gpu->mutex);
  sample_t* sample = gpu->idle;
  if (sample) gpu->idle = sample->next;
  iree_slim_mutex_unlock(&gpu->mutex);
  if (!sample) {
    iree_status_t status = iree_allocator_malloc(gpu->counting->host_allocator, sizeof(*sample), (void**)&sample);
    if (iree_status_consume_code(status)) return NULL;
  }
  *sample = (sample_t){.gpu = gpu};
  return sample;
}

static uint64_t make_sample(void* data, const hal_profile_queue_t* queue) {
  return (uint64_t)(uintptr_t)take_sample(&((counting_t*)data)->gpus[queue->physical]);
}

static void free_sample(void* data, uint64_t value) {
  sample_t* sample = (sample_t*)(uintptr_t)value;
  counter_gpu_t* gpu = sample->gpu;
  iree_slim_mutex_lock(&gpu->mutex);
  if (sample->is_counted) gpu->ranges[sample->range] = NULL;
  sample->next = gpu->idle;
  gpu->idle = sample;
  iree_slim_mutex_unlock(&gpu->mutex);
}

static bool read_sample(void* data, uint64_t value, uint64_t* out_values) {
  sample_t* sample = (sample_t*)(uintptr_t)value;
  counter_gpu_t* gpu = sample->gpu;
  iree_slim_mutex_lock(&gpu->mutex);
  iree_status_t status = sample->is_counted ? enter(gpu) : iree_ok_status();
  if (iree_status_is_ok(status) && sample->is_counted) status = collect(gpu);
  iree_status_ignore(status);
  bool is_read = sample->is_read;
  if (is_read) memcpy(out_values, sample->values, gpu->counting->counter_count * sizeof(*out_values));
  iree_slim_mutex_unlock(&gpu->mutex);
  return is_read;
}

// The mutex is held until the end, so that ranges of several queues do not overlap.
static void begin_launch(uint64_t value, const gpu_command_t* command, const uint32_t counts[3]) {
  sample_t* sample = (sample_t*)(uintptr_t)value;
  counter_gpu_t* gpu = sample->gpu;
  iree_slim_mutex_lock(&gpu->mutex);
  if (gpu->range_count == MAX_RANGES) iree_status_ignore(collect(gpu));
  iree_status_ignore(push(gpu, sample));
}

static void end_launch(uint64_t value) {
  sample_t* sample = (sample_t*)(uintptr_t)value;
  if (sample->is_counted) iree_status_ignore(pop(sample->gpu));
  iree_slim_mutex_unlock(&sample->gpu->mutex);
}

//===----------------------------------------------------------------------------------------------------------------===
// Over time
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t begin_over_time(counter_gpu_t* gpu) {
  gpu->over_time = take_sample(gpu);
  if (!gpu->over_time) return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "no memory for a sample of counters");
  IREE_RETURN_IF_ERROR(stream_clock_read(gpu->counting->device, gpu->physical, &gpu->tick));
  return push(gpu, gpu->over_time);
}

static iree_status_t read_over_time(counter_gpu_t* gpu, uint64_t* out_values, uint64_t* out_start, uint64_t* out_end) {
  sample_t* sample = gpu->over_time;
  IREE_RETURN_IF_ERROR(enter(gpu));
  IREE_RETURN_IF_ERROR(pop(gpu));
  *out_start = gpu->tick;
  IREE_RETURN_IF_ERROR(stream_clock_read(gpu->counting->device, gpu->physical, out_end));
  sample->is_read = false;
  IREE_RETURN_IF_ERROR(collect(gpu));
  if (!sample->is_read) return iree_make_status(IREE_STATUS_DATA_LOSS, "CUPTI has no values of counters over time");
  memcpy(out_values, sample->values, gpu->counting->counter_count * sizeof(*out_values));
  IREE_RETURN_IF_ERROR(stream_clock_read(gpu->counting->device, gpu->physical, &gpu->tick));
  return push(gpu, sample);
}

static iree_status_t read_range(void* data, uint32_t physical, uint64_t* out_values, uint64_t* out_start,
                                uint64_t* out_end) {
  counter_gpu_t* gpu = &((counting_t*)data)->gpus[physical];
  iree_slim_mutex_lock(&gpu->mutex);
  iree_status_t status = read_over_time(gpu, out_values, out_start, out_end);
  iree_slim_mutex_unlock(&gpu->mutex);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// What is counted
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t take_names(counting_t* counting, const iree_hal_profile_counter_set_selection_t* set) {
  counting->counter_count = (uint32_t)set->counter_name_count;
  for (uint32_t i = 0; i < counting->counter_count; ++i) {
    iree_string_view_t name = set->counter_names[i];
    // Names without what is made of the units' values are those of several metrics.
    if (name.size >= NAME_LENGTH || iree_string_view_find_char(name, '.', 0) == IREE_STRING_VIEW_NPOS) {
      return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                              "'%.*s' is no counter of CUPTI's; they are named as sm__cycles_elapsed.max or "
                              "dram__bytes_read.sum",
                              (int)name.size, name.data);
    }
    iree_string_view_to_cstring(name, counting->texts[i].name, NAME_LENGTH);
    counting->names[i] = counting->texts[i].name;
  }
  return iree_ok_status();
}

// Shares and rates have no unit of the format's; all else is counted.
static iree_hal_profile_counter_unit_t unit_of(const char* unit) {
  if (!unit || !unit[0] || strstr(unit, "percent") || strchr(unit, '/')) return IREE_HAL_PROFILE_COUNTER_UNIT_NONE;
  if (strcmp(unit, "byte") == 0) return IREE_HAL_PROFILE_COUNTER_UNIT_BYTES;
  return strstr(unit, "cycle") ? IREE_HAL_PROFILE_COUNTER_UNIT_CYCLES : IREE_HAL_PROFILE_COUNTER_UNIT_COUNT;
}

static iree_status_t describe(counting_t* counting, const counter_gpu_t* gpu, uint32_t index) {
  text_t* text = &counting->texts[index];
  cupti_describe_t found = {
      .size = offsetof(cupti_describe_t, type) + sizeof(found.type), .host = gpu->host, .name = counting->names[index]};
  if (counting->api.describe(&found) != CUPTI_SUCCESS) {
    const stream_gpu_t* of = &counting->device->gpus[gpu->physical];
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                            "counter '%s' is none that CUPTI has for %s; `ncu --query-metrics` lists those of a GPU",
                            counting->names[index], of->architecture);
  }
  snprintf(text->block, sizeof(text->block), "%s", found.block ? found.block : "");
  snprintf(text->description, sizeof(text->description), "%s%s%s%s", found.description ? found.description : "",
           found.unit && found.unit[0] ? " (" : "", found.unit ? found.unit : "",
           found.unit && found.unit[0] ? ")" : "");
  counting->counters[index] = (hal_profile_counter_t){
      .block = iree_make_cstring_view(text->block),
      .name = iree_make_cstring_view(text->name),
      .description = iree_make_cstring_view(text->description),
      .unit = unit_of(found.unit),
      .value_count = 1,
  };
  return iree_ok_status();
}

// What hinders it, of what the library tells.
static iree_status_t check_support(const counting_t* counting, int device) {
  cupti_support_t support = {.size = offsetof(cupti_support_t, kind) + sizeof(support.kind), .device = device};
  IREE_RETURN_IF_ERROR(CUPTI_CALL(&counting->api, support, &support));
  if (support.all == CUPTI_SUPPORTED) return iree_ok_status();
  const struct {
    int level;
    const char* what;
  } rows[] = {
      {support.architecture, "GPUs before sm_70"},     {support.sli, "SLI"},
      {support.virtual_gpu, "this virtual GPU"},       {support.confidential_computing, "confidential computing"},
      {support.mining_processor, "mining processors"}, {support.wsl, "this WSL"}};
  const char* what = "this system";
  for (size_t i = 0; i < IREE_ARRAYSIZE(rows); ++i) {
    if (rows[i].level != CUPTI_SUPPORTED) what = rows[i].what;
  }
  return iree_make_status(IREE_STATUS_UNAVAILABLE, "CUPTI counts nothing on %s", what);
}

static iree_status_t create_host(counting_t* counting, counter_gpu_t* gpu) {
  const cupti_api_t* api = &counting->api;
  const stream_context_t* context = &counting->device->gpus[gpu->physical].context;
  cupti_chip_t chip = {CUPTI_BEGIN(cupti_chip_t, name), (size_t)context->device};
  cupti_availability_t availability = {CUPTI_BEGIN(cupti_availability_t, image), context->handle};
  IREE_RETURN_IF_ERROR(check_support(counting, context->device));
  IREE_RETURN_IF_ERROR(CUPTI_CALL(api, chip, &chip));
  IREE_RETURN_IF_ERROR(CUPTI_CALL(api, availability, &availability));
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc(counting->host_allocator, availability.length, (void**)&gpu->availability));
  availability.image = gpu->availability;
  IREE_RETURN_IF_ERROR(CUPTI_CALL(api, availability, &availability));
  cupti_host_create_t create = {CUPTI_BEGIN(cupti_host_create_t, host), 0, chip.name, gpu->availability};
  IREE_RETURN_IF_ERROR(CUPTI_CALL(api, host_create, &create));
  gpu->host = create.host;
  return iree_ok_status();
}

static iree_status_t make_plan(counting_t* counting, counter_gpu_t* gpu) {
  const cupti_api_t* api = &counting->api;
  cupti_add_t add = {CUPTI_BEGIN(cupti_add_t, count), gpu->host, counting->names, counting->counter_count};
  cupti_plan_size_t size = {CUPTI_BEGIN(cupti_plan_size_t, length), gpu->host};
  IREE_RETURN_IF_ERROR(CUPTI_CALL(api, add, &add));
  IREE_RETURN_IF_ERROR(CUPTI_CALL(api, plan_size, &size));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(counting->host_allocator, size.length, (void**)&gpu->plan));
  gpu->plan_length = size.length;
  cupti_plan_t plan = {CUPTI_BEGIN(cupti_plan_t, plan), gpu->host, gpu->plan_length, gpu->plan};
  cupti_passes_t passes = {CUPTI_BEGIN(cupti_passes_t, count), gpu->plan_length, gpu->plan};
  IREE_RETURN_IF_ERROR(CUPTI_CALL(api, plan, &plan));
  IREE_RETURN_IF_ERROR(CUPTI_CALL(api, passes, &passes));
  if (passes.count <= 1) return iree_ok_status();
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                          "the GPU counts these %u counters in %zu passes, and dispatches run once: ask for fewer at a "
                          "time",
                          counting->counter_count, passes.count);
}

static iree_status_t configure(counting_t* counting, counter_gpu_t* gpu) {
  const cupti_api_t* api = &counting->api;
  void* context = counting->device->gpus[gpu->physical].context.handle;
  cupti_enable_t enable = {CUPTI_BEGIN(cupti_enable_t, profiler), context};
  IREE_RETURN_IF_ERROR(CUPTI_CALL(api, enable, &enable));
  gpu->profiler = enable.profiler;
  cupti_data_size_t size = {CUPTI_BEGIN(cupti_data_size_t, length),
                            gpu->profiler,
                            counting->names,
                            counting->counter_count,
                            MAX_RANGES,
                            MAX_RANGES};
  IREE_RETURN_IF_ERROR(CUPTI_CALL(api, data_size, &size));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(counting->host_allocator, size.length, (void**)&gpu->data));
  gpu->data_length = size.length;
  cupti_data_clear_t clear = {CUPTI_BEGIN(cupti_data_clear_t, data), gpu->profiler, gpu->data_length, gpu->data};
  IREE_RETURN_IF_ERROR(CUPTI_CALL(api, data_clear, &clear));
  cupti_configure_t configure = {.size = offsetof(cupti_configure_t, level) + sizeof(configure.level),
                                 .profiler = gpu->profiler,
                                 .plan_length = gpu->plan_length,
                                 .plan = gpu->plan,
                                 .data_length = gpu->data_length,
                                 .data = gpu->data,
                                 .range = CUPTI_USER_RANGE,
                                 .replay = CUPTI_USER_REPLAY,
                                 .max_ranges = MAX_RANGES,
                                 .levels = 1,
                                 .first_level = 1,
                                 .level = 1};
  return CUPTI_CALL(api, configure, &configure);
}

static iree_status_t begin_gpu(counting_t* counting, counter_gpu_t* gpu, bool is_over_time) {
  IREE_RETURN_IF_ERROR(enter(gpu));
  IREE_RETURN_IF_ERROR(create_host(counting, gpu));
  for (uint32_t i = 0; i < counting->counter_count; ++i) IREE_RETURN_IF_ERROR(describe(counting, gpu, i));
  IREE_RETURN_IF_ERROR(make_plan(counting, gpu));
  IREE_RETURN_IF_ERROR(configure(counting, gpu));
  IREE_RETURN_IF_ERROR(start(gpu));
  return is_over_time ? begin_over_time(gpu) : iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Begin and end
//===----------------------------------------------------------------------------------------------------------------===

static void end_gpu(counting_t* counting, counter_gpu_t* gpu) {
  const cupti_api_t* api = &counting->api;
  iree_status_ignore(enter(gpu));
  if (gpu->over_time && gpu->over_time->is_counted) iree_status_ignore(pop(gpu));
  iree_status_ignore(stop(gpu));
  cupti_profiler_t profiler = {CUPTI_BEGIN(cupti_profiler_t, profiler), gpu->profiler};
  if (gpu->profiler) api->disable(&profiler);
  cupti_host_destroy_t host = {CUPTI_BEGIN(cupti_host_destroy_t, host), gpu->host};
  if (gpu->host) api->host_destroy(&host);
  iree_allocator_free(counting->host_allocator, gpu->over_time);
  for (sample_t* sample = gpu->idle; sample;) {
    sample_t* next = sample->next;
    iree_allocator_free(counting->host_allocator, sample);
    sample = next;
  }
  iree_allocator_free(counting->host_allocator, gpu->availability);
  iree_allocator_free(counting->host_allocator, gpu->plan);
  iree_allocator_free(counting->host_allocator, gpu->data);
  iree_slim_mutex_deinitialize(&gpu->mutex);
}

static void end_counting(void* data) {
  counting_t* counting = (counting_t*)data;
  for (uint32_t i = 0; i < counting->gpu_count; ++i) end_gpu(counting, &counting->gpus[i]);
  iree_allocator_free(counting->host_allocator, counting);
}

static iree_status_t initialize(counting_t* counting, const iree_hal_device_profiling_options_t* options) {
  bool is_over_time = options->data_families & IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_RANGES;
  cupti_initialize_t parameters = {CUPTI_BEGIN(cupti_initialize_t, reserved)};
  IREE_RETURN_IF_ERROR(take_names(counting, &options->counter_sets[0]));
  IREE_RETURN_IF_ERROR(cupti_api_load(&counting->api));
  IREE_RETURN_IF_ERROR(CUPTI_CALL(&counting->api, initialize, &parameters));
  IREE_RETURN_IF_ERROR(stream_clock_start(counting->device));
  for (uint32_t i = 0; i < counting->gpu_count; ++i) {
    IREE_RETURN_IF_ERROR(begin_gpu(counting, &counting->gpus[i], is_over_time));
  }
  return iree_ok_status();
}

static iree_status_t begin_counting(hal_queued_device_t* base, const iree_hal_device_profiling_options_t* options,
                                    void** out_counting, const hal_profile_counter_t** out_counters) {
  stream_device_t* device = (stream_device_t*)base;
  uint32_t count = device->gpu.domain.physical_count;
  counting_t* counting = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(base->host_allocator, sizeof(*counting), count,
                                                          sizeof(counting->gpus[0]), (void**)&counting));
  counting->host_allocator = base->host_allocator;
  counting->device = device;
  counting->gpu_count = count;
  for (uint32_t i = 0; i < count; ++i) {
    counting->gpus[i].counting = counting;
    counting->gpus[i].physical = i;
    iree_slim_mutex_initialize(&counting->gpus[i].mutex);
  }
  *out_counting = counting;
  *out_counters = counting->counters;
  return initialize(counting, options);
}

const stream_counting_t stream_cuda_counting = {
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
