// Times of dispatches: packets complete signals of their own, in which the GPU leaves when they began and ended.
#include "hal/amdgpu/counters.h"
#include "hal/amdgpu/host_queue.h"
#include "hal/amdgpu/traces.h"

static const libhsa_t* hsa_of(hal_queued_device_t* base) { return ((logical_device_t*)base)->system->hsa; }

static iree_status_t enable(hal_queued_device_t* base, iree_hal_device_profiling_data_families_t families,
                            const char** out_source) {
  logical_device_t* device = (logical_device_t*)base;
  const libhsa_t* hsa = hsa_of(base);
  if (!hsa->hsa_system_get_info || !hsa->hsa_amd_profiling_set_profiler_enabled ||
      !hsa->hsa_amd_profiling_get_dispatch_time) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                            "this libhsa-runtime64 takes no times; --device_profiling_mode=queue-events needs none");
  }
  for (uint32_t i = 0; i < GPU_MAX_QUEUES && device->gpu.queues[i]; ++i) {
    host_queue_t* queue = (host_queue_t*)device->gpu.queues[i];
    IREE_RETURN_IF_ERROR(LIBHSA_CALL(hsa, hsa_amd_profiling_set_profiler_enabled, queue->aql, families ? 1 : 0));
  }
  return iree_ok_status();
}

static iree_status_t correlate(hal_queued_device_t* base, uint32_t physical,
                               iree_hal_profile_clock_correlation_record_t* out_record) {
  return LIBHSA_CALL(hsa_of(base), hsa_system_get_info, HSA_SYSTEM_INFO_TIMESTAMP, &out_record->device_tick);
}

// For the GPU alone: the host never waits for it.
static uint64_t make_timer(hal_queued_device_t* base, const hal_profile_queue_t* queue) {
  const logical_device_t* device = (const logical_device_t*)base;
  hsa_signal_t signal = {0};
  hsa_status_t status = hsa_of(base)->hsa_signal_create(1, 1, &device->physical[queue->physical].gpu->agent, &signal);
  return status == HSA_STATUS_SUCCESS ? signal.handle : 0;
}

static void free_timer(hal_queued_device_t* base, uint64_t timer) {
  hsa_of(base)->hsa_signal_destroy((hsa_signal_t){timer});
}

// BDF: bus in 15:8, device in 7:3, function in 2:0 (hsa_ext_amd.h).
static iree_status_t open_metrics(hal_queued_device_t* base, uint32_t physical, hal_metrics_t** out_metrics) {
  const system_gpu_t* gpu = ((logical_device_t*)base)->physical[physical].gpu;
  return hal_metrics_open_sysfs(gpu->pci_domain, gpu->bdf >> 8 & 255, gpu->bdf >> 3 & 31, gpu->bdf & 7,
                                base->host_allocator, out_metrics);
}

const hal_profile_interface_t amdgpu_profile_interface = {
    .kind = "amdgpu",
    .families = GPU_TIMED_PROFILE_FAMILIES | IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES |
                IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_RANGES | IREE_HAL_DEVICE_PROFILING_DATA_EXECUTABLE_TRACES |
                IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_METRICS,
    .lightweight = GPU_TIMED_PROFILE_LIGHTWEIGHT,
    .queues = gpu_profile_queues,
    .correlate = correlate,
    .enable = enable,
    .make_timer = make_timer,
    .free_timer = free_timer,
    .counting = &amdgpu_counting,
    .tracing = &amdgpu_tracing,
    .open_metrics = open_metrics,
};

void profile_note_times(const host_queue_t* queue, const gpu_part_t* part) {
  hal_profile_operation_t* profile = part->operation->base.profile;
  uint64_t first = UINT64_MAX, last = 0;
  for (uint32_t i = part->first; i < part->next; ++i) {
    hsa_signal_t signal = {hal_profile_timer(profile, i)};
    hsa_amd_profiling_dispatch_time_t time = {0};
    if (!signal.handle || queue->hsa->hsa_amd_profiling_get_dispatch_time(queue->physical->gpu->agent, signal, &time) !=
                              HSA_STATUS_SUCCESS) {
      continue;
    }
    if (!time.start) continue;  // an empty grid has no packet
    hal_profile_set_command_ticks(profile, i, time.start, time.end);
    first = iree_min(first, time.start);
    last = iree_max(last, time.end);
  }
  if (last) hal_profile_set_ticks(profile, first, last);
}
