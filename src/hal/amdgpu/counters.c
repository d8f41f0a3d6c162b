// Counters; see counters.h.
#include "hal/amdgpu/counters.h"

#include "base/processors/amd_counters.h"
#include "hal/amdgpu/aqlprofile_memory.h"
#include "hal/amdgpu/host_queue.h"

static_assert((int)AMD_COUNTER_COUNT == IREE_HAL_PROFILE_COUNTER_UNIT_COUNT &&
                  (int)AMD_COUNTER_CYCLES == IREE_HAL_PROFILE_COUNTER_UNIT_CYCLES &&
                  (int)AMD_COUNTER_BYTES == IREE_HAL_PROFILE_COUNTER_UNIT_BYTES,
              "units are the format's");

enum { MAX_COUNTERS = 16, RANGE_QUEUE_SIZE = 64 };
// How long one look at a signal takes at most, in HSA's ticks: some milliseconds.
enum { AWAIT_TICKS = 2000000 };

// Counters over time of a GPU.
typedef struct counter_range_t {
  counter_sample_t* sample;
  hsa_queue_t* aql;
  hsa_signal_t ended;
  uint64_t packet;                // index of the next
  uint64_t tick;                  // of the values
  uint64_t* values;               // since the beginning
  iree_atomic_uint32_t has_lost;  // the queue had an error
} counter_range_t;

typedef struct counting_t counting_t;
typedef struct counter_gpu_t {
  counting_t* counting;
  const system_gpu_t* gpu;
  aqlprofile_memory_t memory;
  aqlprofile_agent_handle_t agent;
  aqlprofile_pmc_event_t events[MAX_COUNTERS];  // of each counter
  counter_range_t range;
  iree_slim_mutex_t mutex;  // guards what follows
  counter_sample_t* idle;
} counter_gpu_t;

struct counting_t {
  iree_allocator_t host_allocator;
  const logical_device_t* device;  // which lives longer
  system_t* system;                // retained
  libaqlprofile_t library;
  uint32_t counter_count;
  uint32_t value_count;  // of all counters
  hal_profile_counter_t counters[MAX_COUNTERS];
  uint32_t rows[MAX_COUNTERS];  // of amd_counters.def
  uint32_t gpu_count;
  counter_gpu_t gpus[];
};

//===----------------------------------------------------------------------------------------------------------------===
// Samples
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t create_sample(counter_gpu_t* gpu, counter_sample_t** out_sample) {
  counting_t* counting = gpu->counting;
  counter_sample_t* sample = NULL;
  aqlprofile_pmc_profile_t profile = {gpu->agent, gpu->events, counting->counter_count};
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(counting->host_allocator, sizeof(*sample), (void**)&sample));
  sample->gpu = gpu;
  iree_status_t status =
      LIBAQLPROFILE_CALL(&counting->library, aqlprofile_pmc_create_packets, &sample->handle, &sample->packets, profile,
                         aqlprofile_memory_allocate, aqlprofile_memory_free, aqlprofile_memory_copy, &gpu->memory);
  if (iree_status_is_ok(status)) {
    *out_sample = sample;
  } else {
    iree_allocator_free(counting->host_allocator, sample);
  }
  return status;
}

static void destroy_sample(counting_t* counting, counter_sample_t* sample) {
  if (!sample) return;
  counting->library.aqlprofile_pmc_delete_packets(sample->handle);
  iree_allocator_free(counting->host_allocator, sample);
}

static uint64_t make_sample(void* data, const hal_profile_queue_t* queue) {
  counter_gpu_t* gpu = &((counting_t*)data)->gpus[queue->physical];
  iree_slim_mutex_lock(&gpu->mutex);
  counter_sample_t* sample = gpu->idle;
  if (sample) gpu->idle = sample->next;
  iree_slim_mutex_unlock(&gpu->mutex);
  if (!sample && iree_status_consume_code(create_sample(gpu, &sample))) return 0;
  return (uint64_t)(uintptr_t)sample;
}

static void free_sample(void* data, uint64_t value) {
  counter_sample_t* sample = (counter_sample_t*)(uintptr_t)value;
  iree_slim_mutex_lock(&sample->gpu->mutex);
  sample->next = sample->gpu->idle;
  sample->gpu->idle = sample;
  iree_slim_mutex_unlock(&sample->gpu->mutex);
}

// Values come counter by counter, and of one from each place that counts it.
typedef struct collection_t {
  const counter_gpu_t* gpu;
  uint64_t* values;                // or NULL, to count them
  uint32_t counts[MAX_COUNTERS];   // of values, by counter
  uint32_t offsets[MAX_COUNTERS];  // of the first one
} collection_t;

static hsa_status_t collect(aqlprofile_pmc_event_t event, uint64_t id, uint64_t value, void* data) {
  collection_t* collection = (collection_t*)data;
  const counting_t* counting = collection->gpu->counting;
  for (uint32_t i = 0; i < counting->counter_count; ++i) {
    const aqlprofile_pmc_event_t* own = &collection->gpu->events[i];
    if (own->event_id != event.event_id || own->block_name != event.block_name) continue;
    uint32_t at = collection->counts[i]++;
    if (collection->values && at < counting->counters[i].value_count) {
      collection->values[collection->offsets[i] + at] = value;
    }
  }
  return HSA_STATUS_SUCCESS;
}

static iree_status_t read_values(const counter_sample_t* sample, uint64_t* values) {
  const counting_t* counting = sample->gpu->counting;
  collection_t collection = {.gpu = sample->gpu, .values = values};
  for (uint32_t i = 1; i < counting->counter_count; ++i) {
    collection.offsets[i] = collection.offsets[i - 1] + counting->counters[i - 1].value_count;
  }
  IREE_RETURN_IF_ERROR(
      LIBAQLPROFILE_CALL(&counting->library, aqlprofile_pmc_iterate_data, sample->handle, collect, &collection));
  for (uint32_t i = 0; i < counting->counter_count; ++i) {
    if (collection.counts[i] == counting->counters[i].value_count) continue;
    return iree_make_status(IREE_STATUS_INTERNAL, "%u values of counter %s, of %u", collection.counts[i],
                            counting->counters[i].name.data, counting->counters[i].value_count);
  }
  return iree_ok_status();
}

static bool read_sample(void* data, uint64_t sample, uint64_t* out_values) {
  iree_status_t status = read_values((const counter_sample_t*)(uintptr_t)sample, out_values);
  return iree_status_consume_code(status) == IREE_STATUS_OK;
}

//===----------------------------------------------------------------------------------------------------------------===
// Over time
//===----------------------------------------------------------------------------------------------------------------===

static void note_error(hsa_status_t status, hsa_queue_t* source, void* data) {
  iree_atomic_store(&((counter_range_t*)data)->has_lost, 1u, iree_memory_order_release);
}

// Whether the GPU is lost: a queue of its own says so, or those of the driver, where nobody tells this one.
static bool is_lost(counter_gpu_t* gpu) {
  const logical_device_t* device = gpu->counting->device;
  uint32_t count = device->gpu.domain.queue_count, first = (uint32_t)(gpu - gpu->counting->gpus) * count;
  if (iree_atomic_load(&gpu->range.has_lost, iree_memory_order_acquire)) return true;
  for (uint32_t i = first; i < first + count; ++i) {
    if (iree_atomic_load(&device->gpu.queues[i]->error, iree_memory_order_acquire)) return true;
  }
  return false;
}

static iree_status_t run_packet(counter_gpu_t* gpu, const hsa_amd_pm4_ib_packet_t* packet) {
  const libhsa_t* hsa = gpu->counting->system->hsa;
  counter_range_t* range = &gpu->range;
  uint32_t* slot = (uint32_t*)range->aql->base_address + (range->packet % range->aql->size) * 16;
  hsa_amd_pm4_ib_packet_t copy = *packet;
  copy.completion_signal = range->ended;
  copy.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER |
                HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_ACQUIRE_FENCE_SCOPE |
                HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_RELEASE_FENCE_SCOPE;
  uint32_t head;
  memcpy(&head, &copy, sizeof(head));
  hsa->hsa_signal_store_screlease(range->ended, 1);
  memcpy(slot + 1, (const uint8_t*)&copy + sizeof(head), sizeof(copy) - sizeof(head));
  hsa->hsa_queue_store_write_index_relaxed(range->aql, range->packet + 1);
  iree_atomic_store((iree_atomic_uint32_t*)slot, head, iree_memory_order_release);
  hsa->hsa_signal_store_screlease(range->aql->doorbell_signal, (hsa_signal_value_t)range->packet);
  ++range->packet;
  while (hsa->hsa_signal_wait_scacquire(range->ended, HSA_SIGNAL_CONDITION_LT, 1, AWAIT_TICKS,
                                        HSA_WAIT_STATE_BLOCKED) >= 1) {
    if (is_lost(gpu)) {
      return iree_make_status(IREE_STATUS_ABORTED, "the queue that reads the counters of GPU %s is lost",
                              gpu->gpu->name);
    }
  }
  return iree_ok_status();
}

static iree_status_t now(const counter_gpu_t* gpu, uint64_t* out_tick) {
  const libhsa_t* hsa = gpu->counting->system->hsa;
  return LIBHSA_CALL(hsa, hsa_system_get_info, HSA_SYSTEM_INFO_TIMESTAMP, out_tick);
}

static iree_status_t begin_range(counter_gpu_t* gpu) {
  counting_t* counting = gpu->counting;
  counter_range_t* range = &gpu->range;
  const libhsa_t* hsa = counting->system->hsa;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(counting->host_allocator,
                                                   2 * (iree_host_size_t)counting->value_count, sizeof(*range->values),
                                                   (void**)&range->values));
  IREE_RETURN_IF_ERROR(LIBHSA_CALL(hsa, hsa_signal_create, 0, 0, NULL, &range->ended));
  IREE_RETURN_IF_ERROR(LIBHSA_CALL(hsa, hsa_queue_create, gpu->gpu->agent, RANGE_QUEUE_SIZE, HSA_QUEUE_TYPE_MULTI,
                                   note_error, range, UINT32_MAX, UINT32_MAX, &range->aql));
  IREE_RETURN_IF_ERROR(create_sample(gpu, &range->sample));
  IREE_RETURN_IF_ERROR(run_packet(gpu, &range->sample->packets.start));
  return now(gpu, &range->tick);
}

// Counts on, so what there was before is taken off.
static iree_status_t read_range(void* data, uint32_t physical, uint64_t* out_values, uint64_t* out_start,
                                uint64_t* out_end) {
  const counting_t* counting = (const counting_t*)data;
  counter_gpu_t* gpu = &((counting_t*)data)->gpus[physical];
  counter_range_t* range = &gpu->range;
  uint64_t* sums = range->values + counting->value_count;
  IREE_RETURN_IF_ERROR(run_packet(gpu, &range->sample->packets.read));
  IREE_RETURN_IF_ERROR(read_values(range->sample, sums));
  *out_start = range->tick;
  IREE_RETURN_IF_ERROR(now(gpu, &range->tick));
  *out_end = range->tick;
  for (uint32_t i = 0; i < counting->value_count; ++i) out_values[i] = sums[i] - range->values[i];
  memcpy(range->values, sums, counting->value_count * sizeof(*sums));
  return iree_ok_status();
}

static void end_range(counter_gpu_t* gpu) {
  counter_range_t* range = &gpu->range;
  const libhsa_t* hsa = gpu->counting->system->hsa;
  if (range->sample) iree_status_ignore(run_packet(gpu, &range->sample->packets.stop));
  if (range->aql) hsa->hsa_queue_destroy(range->aql);
  if (range->ended.handle) hsa->hsa_signal_destroy(range->ended);
  destroy_sample(gpu->counting, range->sample);
  iree_allocator_free(gpu->counting->host_allocator, range->values);
}

//===----------------------------------------------------------------------------------------------------------------===
// Begin and end
//===----------------------------------------------------------------------------------------------------------------===

static void end_counting(void* data) {
  counting_t* counting = (counting_t*)data;
  for (uint32_t i = 0; i < counting->gpu_count; ++i) {
    counter_gpu_t* gpu = &counting->gpus[i];
    end_range(gpu);
    for (counter_sample_t* sample = gpu->idle; sample;) {
      counter_sample_t* next = sample->next;
      destroy_sample(counting, sample);
      sample = next;
    }
    iree_slim_mutex_deinitialize(&gpu->mutex);
  }
  system_release(counting->system);
  iree_allocator_free(counting->host_allocator, counting);
}

static iree_status_t refuse_name(iree_string_view_t name, iree_allocator_t host_allocator) {
  iree_string_builder_t names;
  iree_string_builder_initialize(host_allocator, &names);
  const amd_counter_t* counter;
  iree_status_t status = iree_ok_status();
  for (uint32_t i = 0; (counter = amd_counter_at(i)) && iree_status_is_ok(status); ++i) {
    status = iree_string_builder_append_format(&names, "%s%s", i ? ", " : "", counter->name);
  }
  if (iree_status_is_ok(status)) {
    status = iree_make_status(IREE_STATUS_UNIMPLEMENTED, "unsupported AMDGPU counter '%.*s'; those known are %.*s",
                              (int)name.size, name.data, (int)iree_string_builder_size(&names),
                              iree_string_builder_buffer(&names));
  }
  iree_string_builder_deinitialize(&names);
  return status;
}

static iree_status_t take_names(counting_t* counting, const iree_hal_profile_counter_set_selection_t* set) {
  for (iree_host_size_t i = 0; i < set->counter_name_count; ++i) {
    uint32_t row = 0;
    const amd_counter_t* counter;
    while ((counter = amd_counter_at(row)) &&
           !iree_string_view_equal(set->counter_names[i], iree_make_cstring_view(counter->name))) {
      ++row;
    }
    if (!counter) return refuse_name(set->counter_names[i], counting->host_allocator);
    counting->rows[i] = row;
    counting->counters[i] = (hal_profile_counter_t){.block = iree_make_cstring_view(counter->block),
                                                    .name = iree_make_cstring_view(counter->name),
                                                    .description = iree_make_cstring_view(counter->description),
                                                    .unit = (iree_hal_profile_counter_unit_t)counter->unit};
  }
  counting->counter_count = (uint32_t)set->counter_name_count;
  return iree_ok_status();
}

static iree_status_t register_gpu(counting_t* counting, counter_gpu_t* gpu) {
  const libhsa_t* hsa = counting->system->hsa;
  aqlprofile_agent_info_v1_t info = {.agent_gfxip = gpu->gpu->target.processor,
                                     .xcc_num = 1,
                                     .se_num = 1,
                                     .cu_num = gpu->gpu->compute_units,
                                     .shader_arrays_per_se = 1,
                                     .domain = gpu->gpu->pci_domain,
                                     .location_id = gpu->gpu->bdf};
  // Older ones do not know all of them.
  hsa->hsa_agent_get_info(gpu->gpu->agent, HSA_AMD_AGENT_INFO_NUM_XCC, &info.xcc_num);
  hsa->hsa_agent_get_info(gpu->gpu->agent, HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES, &info.se_num);
  hsa->hsa_agent_get_info(gpu->gpu->agent, HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE, &info.shader_arrays_per_se);
  IREE_RETURN_IF_ERROR(LIBAQLPROFILE_CALL(&counting->library, aqlprofile_register_agent_info, &gpu->agent, &info,
                                          AQLPROFILE_AGENT_VERSION_V1));
  for (uint32_t i = 0; i < counting->counter_count; ++i) {
    uint32_t row = counting->rows[i];
    gpu->events[i] = (aqlprofile_pmc_event_t){.block_name = amd_counter_at(row)->block_number,
                                              .event_id = amd_counter_event(row, gpu->gpu->target.processor)};
    bool is_valid = false;
    IREE_RETURN_IF_ERROR(
        LIBAQLPROFILE_CALL(&counting->library, aqlprofile_validate_pmc_event, gpu->agent, &gpu->events[i], &is_valid));
    if (is_valid) continue;
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "counter %s is none of %s's", counting->counters[i].name.data,
                            gpu->gpu->name);
  }
  return iree_ok_status();
}

// How many values a sample has of each counter: those of packets that never ran.
static iree_status_t count_values(counting_t* counting) {
  counter_sample_t* sample = NULL;
  counter_gpu_t* gpu = &counting->gpus[0];
  IREE_RETURN_IF_ERROR(create_sample(gpu, &sample));
  collection_t collection = {.gpu = gpu};
  iree_status_t status =
      LIBAQLPROFILE_CALL(&counting->library, aqlprofile_pmc_iterate_data, sample->handle, collect, &collection);
  free_sample(counting, (uint64_t)(uintptr_t)sample);
  for (uint32_t i = 0; i < counting->counter_count && iree_status_is_ok(status); ++i) {
    counting->counters[i].value_count = collection.counts[i];
    counting->value_count += collection.counts[i];
    if (collection.counts[i]) continue;
    status = iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "libhsa-amd-aqlprofile64 has no values of counter %s",
                              counting->counters[i].name.data);
  }
  return status;
}

static iree_status_t initialize(counting_t* counting, const iree_hal_device_profiling_options_t* options) {
  IREE_RETURN_IF_ERROR(take_names(counting, &options->counter_sets[0]));
  IREE_RETURN_IF_ERROR(
      libaqlprofile_load(counting->system->hsa, "counters", counting->host_allocator, &counting->library));
  for (uint32_t i = 0; i < counting->gpu_count; ++i) IREE_RETURN_IF_ERROR(register_gpu(counting, &counting->gpus[i]));
  IREE_RETURN_IF_ERROR(count_values(counting));
  bool is_range = options->data_families & IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_RANGES;
  for (uint32_t i = 0; i < counting->gpu_count && is_range; ++i) IREE_RETURN_IF_ERROR(begin_range(&counting->gpus[i]));
  return iree_ok_status();
}

static iree_status_t begin_counting(hal_queued_device_t* base, const iree_hal_device_profiling_options_t* options,
                                    void** out_counting, const hal_profile_counter_t** out_counters) {
  logical_device_t* device = (logical_device_t*)base;
  uint32_t count = device->gpu.domain.physical_count;
  counting_t* counting = NULL;
  if (!device->system->hsa->hsa_system_get_info) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "this libhsa-runtime64 takes no times, so counters have none");
  }
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(base->host_allocator, sizeof(*counting), count,
                                                          sizeof(counting->gpus[0]), (void**)&counting));
  counting->host_allocator = base->host_allocator;
  counting->device = device;
  counting->system = device->system;
  system_retain(counting->system);
  counting->gpu_count = count;
  for (uint32_t i = 0; i < count; ++i) {
    counting->gpus[i].counting = counting;
    counting->gpus[i].gpu = device->physical[i].gpu;
    counting->gpus[i].memory = (aqlprofile_memory_t){counting->system, device->physical[i].gpu, .is_cleared = true};
    iree_slim_mutex_initialize(&counting->gpus[i].mutex);
  }
  *out_counting = counting;
  *out_counters = counting->counters;
  return initialize(counting, options);
}

const hal_profile_counting_t amdgpu_counting = {
    .most_counters = MAX_COUNTERS,
    .begin = begin_counting,
    .end = end_counting,
    .make_sample = make_sample,
    .read_sample = read_sample,
    .free_sample = free_sample,
    .read_range = read_range,
};
