// Profiles by flags.

#include "tooling/profiling.h"

#include "iree/base/threading/api.h"
#include "iree/base/tooling/flags.h"
#include "iree/hal/utils/profile_file.h"
#include "iree/tooling/device_util.h"

IREE_FLAG(string, device_profiling_mode, "",
          "What devices tell while they are profiled, of `queue-events`, `host-execution`, `device-queue-events`,\n"
          "`dispatch-events`, `memory-events`, `device-metrics`, `command-region-events`, `counters`,\n"
          "`counter-ranges`, `executable-metadata`, `executable-traces`, by commas. What a device does not have is\n"
          "an error.")
IREE_FLAG(string, device_profiling_output, "", "File for the profile (.ireeprof).")
IREE_FLAG(string, device_profiling_filter_function, "",
          "Only functions whose names match this pattern have their dispatches in the profile.")
IREE_FLAG(int64_t, device_profiling_filter_command_buffer, -1, "Only this command buffer has its work in the profile.")
IREE_FLAG(int64_t, device_profiling_filter_command_index, -1, "Only this command of command buffers.")
IREE_FLAG(int64_t, device_profiling_filter_physical_device, -1, "Only this physical device.")
IREE_FLAG(int64_t, device_profiling_filter_queue, -1, "Only this queue of physical devices.")
IREE_FLAG_LIST(string, device_profiling_counter, "A counter, as the device names it, for `counters`, `counter-ranges`.")
IREE_FLAG(int32_t, device_profiling_flush_interval_ms, 0,
          "Milliseconds after which the profile is written as far as it is there; 0: only at the end.")
IREE_FLAG(bool, print_device_statistics, false,
          "Prints sums of what devices tell, to stderr, at the end; without a mode those that cost least.")

IREE_FLAG(string, device_capture_tool, "", "Refused: no other tool is asked to capture a device's work.");
IREE_FLAG(string, device_capture_file, "", "Refused, as --device_capture_tool is.");
IREE_FLAG(string, device_capture_label, "", "Refused, as --device_capture_tool is.");

struct tooling_profiling_t {
  iree_allocator_t allocator;
  iree_hal_device_group_t* group;  // retained, or NULL for the one device
  iree_hal_device_t* device;       // retained
  iree_host_size_t begun;          // devices that are profiled: the first ones
  iree_hal_profile_sink_t* sink;
  iree_hal_profile_statistics_sink_t* statistics;  // or NULL
  // Writes from time to time.
  iree_thread_t* flusher;
  iree_notification_t ending;
  iree_atomic_uint32_t is_ending;
  iree_status_t flush_status;  // the flusher's, until it has ended
};

//===----------------------------------------------------------------------------------------------------------------===
// Flags
//===----------------------------------------------------------------------------------------------------------------===

static const struct {
  const char* name;
  iree_hal_device_profiling_data_families_t family;
} families[] = {
#define FAMILY(name, id, devices) {name, IREE_HAL_DEVICE_PROFILING_DATA_##id},
#include "base/profile_families.def"
};

static iree_status_t parse_mode(iree_hal_device_profiling_data_families_t* out_families) {
  iree_string_view_t rest = iree_make_cstring_view(FLAG_device_profiling_mode);
  *out_families = 0;
  while (rest.size) {
    iree_string_view_t name;
    iree_string_view_split(rest, ',', &name, &rest);
    name = iree_string_view_trim(name);
    size_t i = 0;
    while (i < IREE_ARRAYSIZE(families) && !iree_string_view_equal(name, iree_make_cstring_view(families[i].name))) {
      ++i;
    }
    if (i == IREE_ARRAYSIZE(families)) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "unsupported profiling data family '%.*s'", (int)name.size,
                              name.data);
    }
    *out_families |= families[i].family;
  }
  return iree_ok_status();
}

static iree_status_t set_ordinal(const char* name, int64_t value, iree_hal_profile_capture_filter_flags_t flag,
                                 iree_hal_profile_capture_filter_t* filter, uint64_t* out_value) {
  if (value == -1) return iree_ok_status();
  if (value < 0 || (value > UINT32_MAX && flag != IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_COMMAND_BUFFER_ID)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--%s=%" PRId64 " is out of range", name, value);
  }
  filter->flags |= flag;
  *out_value = (uint64_t)value;
  return iree_ok_status();
}

static iree_status_t parse_filter(iree_hal_profile_capture_filter_t* filter) {
  uint64_t index = 0, physical = 0, queue = 0;
  *filter = iree_hal_profile_capture_filter_default();
  filter->executable_function_pattern = iree_make_cstring_view(FLAG_device_profiling_filter_function);
  if (filter->executable_function_pattern.size) {
    filter->flags |= IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_EXECUTABLE_FUNCTION_PATTERN;
  }
#define SET_ORDINAL(name, flag, out_value)                                                                \
  IREE_RETURN_IF_ERROR(set_ordinal("device_profiling_filter_" #name, FLAG_device_profiling_filter_##name, \
                                   IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_##flag, filter, out_value))
  SET_ORDINAL(command_buffer, COMMAND_BUFFER_ID, &filter->command_buffer_id);
  SET_ORDINAL(command_index, COMMAND_INDEX, &index);
  SET_ORDINAL(physical_device, PHYSICAL_DEVICE_ORDINAL, &physical);
  SET_ORDINAL(queue, QUEUE_ORDINAL, &queue);
#undef SET_ORDINAL
  filter->command_index = (uint32_t)index;
  filter->physical_device_ordinal = (uint32_t)physical;
  filter->queue_ordinal = (uint32_t)queue;
  return iree_ok_status();
}

static iree_status_t refuse_capture(void) {
  if (!FLAG_device_capture_tool[0] && !FLAG_device_capture_file[0] && !FLAG_device_capture_label[0]) {
    return iree_ok_status();
  }
  return iree_make_status(
      IREE_STATUS_UNIMPLEMENTED,
      "--device_capture_tool, _file and _label: no other tool is asked to capture; "
      "--device_profiling_mode= profiles, and --device_replay_output= captures for iree-run-replay");
}

static iree_status_t parse_options(iree_hal_device_profiling_options_t* options,
                                   iree_hal_profile_counter_set_selection_t* counters) {
  const iree_hal_device_profiling_data_families_t counter_families =
      IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES | IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_RANGES;
  memset(options, 0, sizeof(*options));
  IREE_RETURN_IF_ERROR(refuse_capture());
  IREE_RETURN_IF_ERROR(parse_mode(&options->data_families));
  IREE_RETURN_IF_ERROR(parse_filter(&options->capture_filter));
  iree_flag_string_list_t names = FLAG_device_profiling_counter_list();
  if (names.count) {
    *counters = (iree_hal_profile_counter_set_selection_t){
        .name = IREE_SV("default"), .counter_name_count = names.count, .counter_names = names.values};
    options->counter_set_count = 1;
    options->counter_sets = counters;
  }
  bool has_output = FLAG_device_profiling_output[0], has_mode = options->data_families != 0;
  const char* problem = NULL;
  if (FLAG_print_device_statistics && has_output) {
    problem = "--print_device_statistics cannot be combined with --device_profiling_output";
  } else if (has_output && !has_mode) {
    problem = "--device_profiling_output requires --device_profiling_mode";
  } else if (has_mode && !has_output && !FLAG_print_device_statistics) {
    problem = "--device_profiling_mode requires --device_profiling_output";
  } else if (!has_mode && !iree_hal_profile_capture_filter_is_default(&options->capture_filter)) {
    problem = "device profiling filters require --device_profiling_mode";
  } else if (names.count && !(options->data_families & counter_families)) {
    problem = "--device_profiling_counter requires --device_profiling_mode=counters or counter-ranges";
  } else if (!names.count && options->data_families & counter_families) {
    problem = "counter profiling requires at least one counter set selection";
  } else if (FLAG_device_profiling_flush_interval_ms < 0) {
    problem = "--device_profiling_flush_interval_ms must not be negative";
  } else if (FLAG_device_profiling_flush_interval_ms && !has_mode) {
    problem = "--device_profiling_flush_interval_ms requires --device_profiling_mode";
  }
  if (problem) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "%s", problem);
  if (FLAG_print_device_statistics && !has_mode) {
    options->flags |= IREE_HAL_DEVICE_PROFILING_FLAG_LIGHTWEIGHT_STATISTICS;
  }
  return iree_ok_status();
}

iree_status_t tooling_profiling_check(void) {
  iree_hal_device_profiling_options_t options;
  iree_hal_profile_counter_set_selection_t counters;
  IREE_RETURN_IF_ERROR(parse_options(&options, &counters));
  iree_hal_device_profiling_expect(options.data_families);
  return iree_ok_status();
}

static iree_host_size_t count_devices(const tooling_profiling_t* profiling) {
  return profiling->group ? iree_hal_device_group_device_count(profiling->group) : 1;
}

static iree_hal_device_t* device_at(const tooling_profiling_t* profiling, iree_host_size_t i) {
  return profiling->group ? iree_hal_device_group_device_at(profiling->group, i) : profiling->device;
}

//===----------------------------------------------------------------------------------------------------------------===
// Flushing
//===----------------------------------------------------------------------------------------------------------------===

static bool is_ending(void* arg) {
  return iree_atomic_load(&((tooling_profiling_t*)arg)->is_ending, iree_memory_order_acquire) != 0;
}

iree_status_t tooling_profiling_flush(tooling_profiling_t* profiling) {
  for (iree_host_size_t i = 0; profiling && i < profiling->begun; ++i) {
    IREE_RETURN_IF_ERROR(iree_hal_device_profiling_flush(device_at(profiling, i)));
  }
  return iree_ok_status();
}

static int flush_main(void* arg) {
  tooling_profiling_t* profiling = (tooling_profiling_t*)arg;
  while (iree_status_is_ok(profiling->flush_status)) {
    iree_timeout_t timeout = iree_make_timeout_ms(FLAG_device_profiling_flush_interval_ms);
    if (iree_notification_await(&profiling->ending, is_ending, profiling, timeout)) break;
    profiling->flush_status = tooling_profiling_flush(profiling);
  }
  return 0;
}

static iree_status_t start_flusher(tooling_profiling_t* profiling) {
  if (!FLAG_device_profiling_flush_interval_ms) return iree_ok_status();
  iree_thread_create_params_t params = {.name = IREE_SV("profile-flush")};
  return iree_thread_create(flush_main, profiling, params, profiling->allocator, &profiling->flusher);
}

static iree_status_t stop_flusher(tooling_profiling_t* profiling) {
  if (!profiling->flusher) return iree_ok_status();
  iree_atomic_store(&profiling->is_ending, 1u, iree_memory_order_release);
  iree_notification_post(&profiling->ending, IREE_ALL_WAITERS);
  iree_thread_release(profiling->flusher);  // joins it
  profiling->flusher = NULL;
  return profiling->flush_status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Begin and end
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t create_sink(tooling_profiling_t* profiling) {
  if (FLAG_print_device_statistics) {
    IREE_RETURN_IF_ERROR(iree_hal_profile_statistics_sink_create(profiling->allocator, &profiling->statistics));
    profiling->sink = iree_hal_profile_statistics_sink_base(profiling->statistics);
    return iree_ok_status();
  }
  iree_io_file_handle_t* handle = NULL;
  IREE_RETURN_IF_ERROR(iree_io_file_handle_create(IREE_IO_FILE_MODE_WRITE | IREE_IO_FILE_MODE_OVERWRITE,
                                                  iree_make_cstring_view(FLAG_device_profiling_output), 0,
                                                  profiling->allocator, &handle));
  iree_status_t status = iree_hal_profile_file_sink_create(handle, profiling->allocator, &profiling->sink);
  iree_io_file_handle_release(handle);
  return status;
}

// Ends what has begun; keeps the first failure.
static iree_status_t end_devices(tooling_profiling_t* profiling, iree_status_t status) {
  status = iree_status_join(status, stop_flusher(profiling));
  for (iree_host_size_t i = 0; i < profiling->begun; ++i) {
    status = iree_status_join(status, iree_hal_device_profiling_end(device_at(profiling, i)));
  }
  profiling->begun = 0;
  return status;
}

static void free_profiling(tooling_profiling_t* profiling) {
  iree_notification_deinitialize(&profiling->ending);
  iree_hal_profile_sink_release(profiling->sink);
  iree_hal_device_group_release(profiling->group);
  iree_hal_device_release(profiling->device);
  iree_allocator_free(profiling->allocator, profiling);
}

// Of the group, or of the device where there is none.
static iree_status_t begin(iree_hal_device_group_t* group, iree_hal_device_t* device, iree_allocator_t allocator,
                           tooling_profiling_t** out_profiling) {
  iree_hal_device_profiling_options_t options;
  iree_hal_profile_counter_set_selection_t counters;
  *out_profiling = NULL;
  IREE_RETURN_IF_ERROR(parse_options(&options, &counters));
  if ((!options.data_families && !options.flags) || (!group && !device)) return iree_ok_status();
  tooling_profiling_t* profiling = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, sizeof(*profiling), (void**)&profiling));
  profiling->allocator = allocator;
  profiling->group = group;
  profiling->device = device;
  iree_hal_device_group_retain(group);
  iree_hal_device_retain(device);
  iree_notification_initialize(&profiling->ending);
  iree_status_t status = create_sink(profiling);
  options.sink = profiling->sink;
  iree_host_size_t count = count_devices(profiling);
  while (profiling->begun < count && iree_status_is_ok(status)) {
    status = iree_hal_device_profiling_begin(device_at(profiling, profiling->begun), &options);
    if (iree_status_is_ok(status)) ++profiling->begun;
  }
  if (iree_status_is_ok(status)) status = start_flusher(profiling);
  if (iree_status_is_ok(status)) {
    *out_profiling = profiling;
    return status;
  }
  status = end_devices(profiling, status);
  free_profiling(profiling);
  return iree_status_annotate_f(status, "beginning device profiling");
}

iree_status_t tooling_profiling_begin(iree_hal_device_group_t* group, iree_allocator_t allocator,
                                      tooling_profiling_t** out_profiling) {
  return begin(group, NULL, allocator, out_profiling);
}

iree_status_t tooling_profiling_end(tooling_profiling_t* profiling) {
  if (!profiling) return iree_ok_status();
  iree_status_t status = end_devices(profiling, iree_ok_status());
  if (iree_status_is_ok(status) && profiling->statistics) {
    status = iree_hal_profile_statistics_sink_fprint(stderr, profiling->statistics);
  }
  free_profiling(profiling);
  return iree_status_is_ok(status) ? status : iree_status_annotate_f(status, "ending device profiling");
}

//===----------------------------------------------------------------------------------------------------------------===
// For other programs
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t iree_hal_profiling_from_flags_requires_retained_command_buffer_metadata(bool* out_required) {
  iree_hal_device_profiling_data_families_t wanted = 0;
  *out_required = false;
  IREE_RETURN_IF_ERROR(parse_mode(&wanted));
  *out_required = iree_any_bit_set(wanted, IREE_HAL_DEVICE_PROFILING_DATA_EXECUTABLE_METADATA |
                                               IREE_HAL_DEVICE_PROFILING_DATA_COMMAND_REGION_EVENTS);
  return iree_ok_status();
}

iree_status_t iree_hal_begin_profiling_from_flags(iree_hal_device_t* device, iree_allocator_t host_allocator,
                                                  iree_hal_profiling_from_flags_t** out_profiling) {
  return begin(NULL, device, host_allocator, (tooling_profiling_t**)out_profiling);
}

iree_status_t iree_hal_begin_device_group_profiling_from_flags(iree_hal_device_group_t* device_group,
                                                               iree_allocator_t host_allocator,
                                                               iree_hal_profiling_from_flags_t** out_profiling) {
  return begin(device_group, NULL, host_allocator, (tooling_profiling_t**)out_profiling);
}

iree_status_t iree_hal_flush_profiling_from_flags(iree_hal_profiling_from_flags_t* profiling) {
  return tooling_profiling_flush((tooling_profiling_t*)profiling);
}

iree_status_t iree_hal_end_profiling_from_flags(iree_hal_profiling_from_flags_t* profiling) {
  return tooling_profiling_end((tooling_profiling_t*)profiling);
}
