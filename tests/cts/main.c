// Runs the conformance suite on one driver: cts_main DRIVER [--flags]
#include <stdio.h>
#include <stdlib.h>

#include "cts.h"
#include "iree/base/tooling/flags.h"
#include "iree/hal/drivers/init.h"
#include "iree/hal/replay/recorder.h"

IREE_FLAG(string, suite, "", "The only suite to run.")
IREE_FLAG(string, record, "", "Runs the suites on a device that records into this file.")
IREE_FLAG(string, path, "", "The path of the device: `0,1`. Empty: the default one.")

cts_t cts;

extern const cts_suite_t cts_allocator, cts_buffer_, cts_channel, cts_command_buffer, cts_crossings, cts_dispatch_,
    cts_event, cts_executable, cts_fault, cts_file, cts_memory, cts_peers, cts_pool, cts_profile, cts_queue,
    cts_release, cts_revision, cts_semaphore_, cts_steady, cts_stress, cts_submission, cts_timepoint, cts_transfer,
    cts_virtual_memory;
static const cts_suite_t* const suites[] = {
    &cts_allocator,  &cts_buffer_,   &cts_channel,    &cts_command_buffer, &cts_dispatch_,  &cts_event,
    &cts_executable, &cts_fault,     &cts_file,       &cts_memory,         &cts_peers,      &cts_pool,
    &cts_profile,    &cts_queue,     &cts_release,    &cts_revision,       &cts_semaphore_, &cts_steady,
    &cts_stress,     &cts_crossings, &cts_submission, &cts_timepoint,      &cts_transfer,   &cts_virtual_memory,
};

void cts_check(iree_status_t status, iree_status_code_t code, const char* file, int line) {
  if (iree_status_code(status) == code) {
    iree_status_free(status);
    return;
  }
  char text[1024];
  iree_status_format(status, sizeof(text), text, NULL);
  iree_status_free(status);
  print_error("expected %s, have %s\n", iree_status_code_string(code), text);
  _fail(file, line);
}

//===----------------------------------------------------------------------------------------------------------------===
// Helpers
//===----------------------------------------------------------------------------------------------------------------===

iree_hal_buffer_t* cts_buffer(iree_device_size_t size, uint8_t fill) {
  iree_hal_buffer_params_t params = {
      .type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_VISIBLE,
      .usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING |
               IREE_HAL_BUFFER_USAGE_DISPATCH_INDIRECT_PARAMETERS,
  };
  iree_hal_buffer_t* buffer = NULL;
  CHECK_OK(iree_hal_allocator_allocate_buffer(cts.allocator, params, size, &buffer));
  CHECK_OK(iree_hal_buffer_map_fill(buffer, 0, IREE_HAL_WHOLE_BUFFER, &fill, 1));
  return buffer;
}

void cts_read(iree_hal_buffer_t* buffer, void* data, iree_device_size_t size) {
  CHECK_OK(iree_hal_device_transfer_d2h(cts.device, buffer, 0, data, size, IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT,
                                        iree_infinite_timeout()));
}

uint32_t cts_word(iree_hal_buffer_t* buffer, iree_host_size_t index) {
  uint32_t word = 0;
  CHECK_OK(iree_hal_buffer_map_read(buffer, index * sizeof(word), &word, sizeof(word)));
  return word;
}

void cts_expect_bytes(iree_hal_buffer_t* buffer, iree_device_size_t begin, iree_device_size_t end, uint8_t value) {
  iree_hal_buffer_mapping_t mapping;
  CHECK_OK(iree_hal_buffer_map_range(buffer, IREE_HAL_MAPPING_MODE_SCOPED, IREE_HAL_MEMORY_ACCESS_READ, begin,
                                     end - begin, &mapping));
  for (iree_device_size_t i = 0; i < end - begin; ++i) {
    if (mapping.contents.data[i] != value) {
      print_error("byte %zu is %02X, expected %02X\n", (size_t)(begin + i), mapping.contents.data[i], value);
      fail();
    }
  }
  CHECK_OK(iree_hal_buffer_unmap_range(&mapping));
}

iree_hal_semaphore_t* cts_semaphore(uint64_t initial_value) {
  iree_hal_semaphore_t* semaphore = NULL;
  CHECK_OK(iree_hal_semaphore_create(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, initial_value,
                                     IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &semaphore));
  return semaphore;
}

iree_hal_file_t* cts_memory_file(void* data, iree_host_size_t size, iree_io_file_access_t access) {
  iree_io_file_handle_t* handle = NULL;
  iree_hal_file_t* file = NULL;
  iree_hal_memory_access_t memory_access = 0;
  if (access & IREE_IO_FILE_ACCESS_READ) memory_access |= IREE_HAL_MEMORY_ACCESS_READ;
  if (access & IREE_IO_FILE_ACCESS_WRITE) memory_access |= IREE_HAL_MEMORY_ACCESS_WRITE;
  CHECK_OK(iree_io_file_handle_wrap_host_allocation(access, iree_make_byte_span(data, size),
                                                    iree_io_file_handle_release_callback_null(), cts.host_allocator,
                                                    &handle));
  CHECK_OK(iree_hal_file_import(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, memory_access, handle,
                                IREE_HAL_EXTERNAL_FILE_FLAG_NONE, &file));
  iree_io_file_handle_release(handle);
  return file;
}

iree_hal_semaphore_list_t cts_point_list(cts_point_t* point) {
  return (iree_hal_semaphore_list_t){1, &point->semaphore, &point->value};
}

iree_hal_buffer_ref_t cts_ref(iree_hal_buffer_t* buffer, iree_device_size_t offset, iree_device_size_t length) {
  if (!cts.is_indirect) return iree_hal_make_buffer_ref(buffer, offset, length);
  uint32_t slot = 0;
  while (slot < cts.binding_count && cts.bindings[slot].buffer != buffer) ++slot;
  assert_true(slot < IREE_ARRAYSIZE(cts.bindings));
  cts.bindings[slot] = (iree_hal_buffer_binding_t){buffer, 0, IREE_HAL_WHOLE_BUFFER};
  cts.binding_count = iree_max(cts.binding_count, slot + 1);
  return iree_hal_make_indirect_buffer_ref(slot, offset, length);
}

iree_hal_command_buffer_t* cts_begin(iree_hal_command_buffer_mode_t mode, iree_host_size_t binding_capacity) {
  iree_hal_command_buffer_t* command_buffer = NULL;
  if (cts.is_indirect && !binding_capacity) binding_capacity = IREE_ARRAYSIZE(cts.bindings);
  CHECK_OK(iree_hal_command_buffer_create(cts.device, mode, IREE_HAL_COMMAND_CATEGORY_ANY, IREE_HAL_QUEUE_AFFINITY_ANY,
                                          binding_capacity, &command_buffer));
  CHECK_OK(iree_hal_command_buffer_begin(command_buffer));
  return command_buffer;
}

void cts_barrier(iree_hal_command_buffer_t* command_buffer) {
  const iree_hal_execution_stage_t stages = IREE_HAL_EXECUTION_STAGE_DISPATCH | IREE_HAL_EXECUTION_STAGE_TRANSFER;
  CHECK_OK(iree_hal_command_buffer_execution_barrier(command_buffer, stages, stages,
                                                     IREE_HAL_EXECUTION_BARRIER_FLAG_NONE, 0, NULL, 0, NULL));
}

void cts_end(iree_hal_command_buffer_t* command_buffer) { CHECK_OK(iree_hal_command_buffer_end(command_buffer)); }

iree_status_t cts_execute(iree_hal_command_buffer_t* command_buffer, iree_host_size_t binding_count,
                          const iree_hal_buffer_binding_t* bindings) {
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  if (!binding_count) {
    binding_count = cts.binding_count;
    bindings = cts.bindings;
  }
  iree_status_t status = iree_hal_device_queue_execute(
      cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, iree_hal_semaphore_list_empty(), CTS_POINT(semaphore, 1), command_buffer,
      (iree_hal_buffer_binding_table_t){binding_count, bindings}, IREE_HAL_EXECUTE_FLAG_NONE);
  if (iree_status_is_ok(status)) {
    status = iree_hal_semaphore_wait(semaphore, 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
  }
  iree_hal_semaphore_release(semaphore);
  return status;
}

void cts_finish(iree_hal_command_buffer_t* command_buffer) {
  cts_end(command_buffer);
  CHECK_OK(cts_execute(command_buffer, 0, NULL));
  iree_hal_command_buffer_release(command_buffer);
}

iree_status_t cts_dispatch(iree_hal_command_buffer_t* command_buffer, uint32_t function, uint32_t group_count,
                           iree_host_size_t constant_count, const uint32_t* constants, iree_host_size_t binding_count,
                           const iree_hal_buffer_ref_t* bindings) {
  return iree_hal_command_buffer_dispatch(
      command_buffer, cts.executable, iree_hal_executable_function_from_index(function),
      iree_hal_make_static_dispatch_config(group_count, 1, 1),
      iree_make_const_byte_span(constants, constant_count * sizeof(uint32_t)),
      (iree_hal_buffer_ref_list_t){binding_count, bindings}, IREE_HAL_DISPATCH_FLAG_NONE);
}

void cts_dispatch_counted(iree_hal_command_buffer_t* command_buffer, const uint32_t counts[3], iree_hal_buffer_t* count,
                          iree_hal_buffer_t* out) {
  const iree_hal_buffer_ref_t count_ref = cts_ref(count, 4, 12), out_ref = cts_ref(out, 0, 4);
  iree_hal_dispatch_config_t config = {.workgroup_count_ref = count_ref};
  CHECK_OK(cts_dispatch(command_buffer, CTS_STORE_COUNT, 1, 3, counts, 1, &count_ref));
  cts_barrier(command_buffer);
  CHECK_OK(iree_hal_command_buffer_dispatch(command_buffer, cts.executable,
                                            iree_hal_executable_function_from_index(CTS_ACCUMULATE), config,
                                            iree_const_byte_span_empty(), (iree_hal_buffer_ref_list_t){1, &out_ref},
                                            IREE_HAL_DISPATCH_FLAG_DYNAMIC_INDIRECT_PARAMETERS));
}

//===----------------------------------------------------------------------------------------------------------------===
// Fixture
//===----------------------------------------------------------------------------------------------------------------===

// The first file of test functions that the device takes.
static void load_kernels(void) {
  static const char* const paths[] = {CTS_KERNELS_PATHS};
  for (size_t i = 0; i < IREE_ARRAYSIZE(paths); ++i) {
    iree_host_size_t size = 0;
    IREE_CHECK_OK(iree_io_file_contents_read(iree_make_cstring_view(paths[i]), cts.host_allocator, &cts.kernels));
    iree_status_t status = iree_hal_executable_cache_infer_format(cts.cache, 0, cts.kernels->const_buffer,
                                                                  sizeof(cts.format), cts.format, &size);
    if (iree_status_consume_code(status) == IREE_STATUS_OK &&
        iree_hal_executable_cache_can_prepare_format(cts.cache, 0, iree_make_cstring_view(cts.format))) {
      return;
    }
    iree_io_file_contents_free(cts.kernels);
    cts.kernels = NULL;
  }
  fprintf(stderr, "the device takes none of the test functions' formats\n");
  exit(EXIT_FAILURE);
}

static iree_hal_replay_recorder_t* recorder;

static void open_recorder(void) {
  iree_io_file_handle_t* handle = NULL;
  iree_hal_replay_recorder_options_t options = iree_hal_replay_recorder_options_default();
  options.external_file_policy = IREE_HAL_REPLAY_RECORDER_EXTERNAL_FILE_POLICY_CAPTURE_RANGES;
  IREE_CHECK_OK(iree_io_file_handle_create(IREE_IO_FILE_MODE_WRITE | IREE_IO_FILE_MODE_OVERWRITE,
                                           iree_make_cstring_view(FLAG_record), 0, cts.host_allocator, &handle));
  IREE_CHECK_OK(iree_hal_replay_recorder_create(handle, &options, cts.host_allocator, &recorder));
  iree_io_file_handle_release(handle);
}

// A recording device in the place of another.
static iree_hal_device_t* record(iree_hal_device_t* device) {
  iree_hal_device_group_t *base = NULL, *group = NULL;
  IREE_CHECK_OK(iree_hal_device_group_create_from_device(device, NULL, cts.host_allocator, &base));
  IREE_CHECK_OK(iree_hal_replay_wrap_device_group(recorder, base, cts.host_allocator, &group));
  iree_hal_device_release(device);
  device = iree_hal_device_group_device_at(group, 0);
  iree_hal_device_retain(device);
  iree_hal_device_group_release(group);
  iree_hal_device_group_release(base);
  return device;
}

static iree_hal_device_t* create_device(const char* path) {
  iree_hal_device_t* device = NULL;
  IREE_CHECK_OK(iree_hal_driver_create_device_by_path(cts.driver, iree_make_cstring_view(cts.driver_name),
                                                      iree_make_cstring_view(path), 0, NULL, NULL, cts.host_allocator,
                                                      &device));
  return recorder ? record(device) : device;
}

iree_hal_device_t* cts_create_device(void) { return create_device(FLAG_path); }

iree_hal_device_t* cts_create_device_at(int ordinal) {
  char path[16];
  snprintf(path, sizeof(path), "%d", ordinal);
  return create_device(path);
}

void cts_open_device(void) {
  static const uint32_t constants[] = {CTS_CONSTANT_VALUE};
  cts.device = cts_create_device();
  cts.allocator = iree_hal_device_allocator(cts.device);
  int64_t concurrency = 0;
  IREE_CHECK_OK(iree_hal_device_query_i64(cts.device, IREE_SV("hal.dispatch"), IREE_SV("concurrency"), &concurrency));
  cts.executes = concurrency > 0;
  IREE_CHECK_OK(iree_hal_executable_cache_create(cts.device, IREE_SV("cts"), &cts.cache));
  if (!cts.kernels) load_kernels();
  iree_hal_executable_params_t params;
  iree_hal_executable_params_initialize(&params);
  params.executable_format = iree_make_cstring_view(cts.format);
  params.executable_data = cts.kernels->const_buffer;
  params.constant_count = cts.is_gpu ? 0 : IREE_ARRAYSIZE(constants);
  params.constants = constants;
  IREE_CHECK_OK(iree_hal_executable_cache_prepare_executable(cts.cache, &params, &cts.executable));
}

void cts_close_device(void) {
  iree_hal_executable_release(cts.executable);
  iree_hal_executable_cache_release(cts.cache);
  iree_hal_device_release(cts.device);
}

static void set_up(const char* driver_name) {
  cts.driver_name = driver_name;
  cts.is_amd = strcmp(driver_name, "amdgpu") == 0;
  cts.fault_ends_process = strcmp(driver_name, "hip") == 0;
  cts.has_streams = strcmp(driver_name, "cuda") == 0 || strcmp(driver_name, "hip") == 0;
  cts.fault_is_final = cts.has_streams;
  cts.is_gpu = cts.is_amd || cts.has_streams;
  cts.has_host_channels = cts.has_host_channels || !cts.has_streams;
  cts.host_allocator = iree_allocator_system();
  cts.is_recorded = FLAG_record[0] != 0;
  if (cts.is_recorded) open_recorder();
  iree_hal_driver_registry_t* registry = iree_hal_driver_registry_default();
  IREE_CHECK_OK(iree_hal_register_all_available_drivers(registry));
  IREE_CHECK_OK(iree_hal_driver_registry_try_create(registry, iree_make_cstring_view(driver_name), cts.host_allocator,
                                                    &cts.driver));
  iree_hal_device_info_t* infos = NULL;
  iree_host_size_t count = 0;
  IREE_CHECK_OK(iree_hal_driver_query_available_devices(cts.driver, cts.host_allocator, &count, &infos));
  for (iree_host_size_t i = 0; i < count; ++i) cts.device_count += infos[i].path.size > 0;  // not all GPUs as one
  iree_allocator_free(cts.host_allocator, infos);
  cts_open_device();
}

// The first dispatch: a software GPU handles faults from then on, which tests would hide from it.
static void warm_up(void) {
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  IREE_CHECK_OK(cts_dispatch(commands, CTS_EMPTY, 1, 0, NULL, 0, NULL));
  IREE_CHECK_OK(iree_hal_command_buffer_end(commands));
  IREE_CHECK_OK(cts_execute(commands, 0, NULL));
  iree_hal_command_buffer_release(commands);
  sigaction(SIGSEGV, NULL, &cts.fault_action);
}

static void tear_down(void) {
  cts_close_device();
  iree_io_file_contents_free(cts.kernels);
  if (recorder) IREE_CHECK_OK(iree_hal_replay_recorder_close(recorder));
  iree_hal_replay_recorder_release(recorder);
  iree_hal_driver_release(cts.driver);
}

// The table of bindings is each test's own.
static int reset_bindings(void** state) {
  cts.binding_count = 0;
  return 0;
}

static int run_suite(const cts_suite_t* suite, bool is_indirect) {
  struct CMUnitTest* tests = (struct CMUnitTest*)calloc(suite->count, sizeof(*tests));
  size_t count = suite == &cts_fault && cts.fault_is_final ? 1 : suite->count;
  char name[64];
  cts.is_indirect = is_indirect;
  memcpy(tests, suite->tests, suite->count * sizeof(*tests));
  for (size_t i = 0; i < suite->count; ++i) tests[i].setup_func = reset_bindings;
  snprintf(name, sizeof(name), "%s%s", suite->name, is_indirect ? ", indirect" : "");
  int failures = _cmocka_run_group_tests(name, tests, count, NULL, NULL);
  free(tests);
  return failures;
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const char* streams = strstr(argv[i], "_use_streams=");
    if (streams) cts.makes_graphs = !strstr(streams, "=true");
    if (!strcmp(argv[i], "cuda")) cts.makes_graphs = true;  // the default, where it can
    if (strstr(argv[i], "_collectives=library")) cts.has_library_channels = true;
    if (strstr(argv[i], "_collectives=host")) cts.has_host_channels = true;
  }
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  if (argc != 2) {
    fprintf(stderr, "usage: cts_main DRIVER [--flags]\n");
    return 2;
  }
  set_up(argv[1]);
  warm_up();
  int failures = 0;
  for (size_t i = 0; i < IREE_ARRAYSIZE(suites); ++i) {
    if (FLAG_suite[0] && strcmp(FLAG_suite, suites[i]->name) != 0) continue;
    if (suites[i] == &cts_fault && cts.fault_is_final) continue;
    // A recording device revises nothing, and allocates as it writes.
    if (cts.is_recorded && (suites[i] == &cts_revision || suites[i] == &cts_steady)) continue;
    failures += run_suite(suites[i], /*is_indirect=*/false);
    if (suites[i]->records) failures += run_suite(suites[i], /*is_indirect=*/true);
  }
  // Its first test at the end, after which nothing runs.
  bool has_fault = !FLAG_suite[0] || strcmp(FLAG_suite, cts_fault.name) == 0;
  if (has_fault && cts.fault_is_final && !cts.fault_ends_process)
    failures += run_suite(&cts_fault, /*is_indirect=*/false);
  tear_down();
  return failures != 0;
}
