// Latencies of submissions: cts_benchmark DRIVER [--flags]
#include "iree/base/tooling/flags.h"
#include "iree/hal/api.h"
#include "iree/hal/drivers/init.h"
#include "iree/io/file_contents.h"
#include "kernels.h"

#define ROUNDS 20000

static iree_hal_device_t* device;
static iree_hal_executable_t* executable;

// The first file of test functions that the device takes.
static void load_kernels(bool is_gpu) {
  static const char* const paths[] = {CTS_KERNELS_PATHS};
  static const uint32_t constants[] = {0};
  iree_hal_executable_cache_t* cache = NULL;
  IREE_CHECK_OK(iree_hal_executable_cache_create(device, IREE_SV("benchmark"), &cache));
  for (size_t i = 0; i < IREE_ARRAYSIZE(paths) && !executable; ++i) {
    iree_io_file_contents_t* contents = NULL;
    iree_hal_executable_params_t params;
    char format[64];
    iree_host_size_t size = 0;
    IREE_CHECK_OK(iree_io_file_contents_read(iree_make_cstring_view(paths[i]), iree_allocator_system(), &contents));
    iree_status_t status =
        iree_hal_executable_cache_infer_format(cache, 0, contents->const_buffer, sizeof(format), format, &size);
    iree_hal_executable_params_initialize(&params);
    params.executable_format = iree_make_cstring_view(format);
    params.executable_data = contents->const_buffer;
    params.constant_count = is_gpu ? 0 : 1;
    params.constants = constants;
    if (iree_status_consume_code(status) == IREE_STATUS_OK &&
        iree_hal_executable_cache_can_prepare_format(cache, 0, params.executable_format)) {
      IREE_CHECK_OK(iree_hal_executable_cache_prepare_executable(cache, &params, &executable));
    }
    iree_io_file_contents_free(contents);
  }
  iree_hal_executable_cache_release(cache);
  if (!executable) exit(EXIT_FAILURE);
}

// `steps` empty dispatches of `groups` workgroups with a barrier after each.
static iree_hal_command_buffer_t* record(int steps, uint32_t groups) {
  iree_hal_command_buffer_t* commands = NULL;
  IREE_CHECK_OK(iree_hal_command_buffer_create(device, IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT,
                                               IREE_HAL_COMMAND_CATEGORY_ANY, IREE_HAL_QUEUE_AFFINITY_ANY, 0,
                                               &commands));
  IREE_CHECK_OK(iree_hal_command_buffer_begin(commands));
  for (int i = 0; i < steps; ++i) {
    IREE_CHECK_OK(iree_hal_command_buffer_dispatch(
        commands, executable, iree_hal_executable_function_from_index(CTS_EMPTY),
        iree_hal_make_static_dispatch_config(groups, 1, 1), iree_const_byte_span_empty(),
        iree_hal_buffer_ref_list_empty(), IREE_HAL_DISPATCH_FLAG_NONE));
    IREE_CHECK_OK(iree_hal_command_buffer_execution_barrier(commands, IREE_HAL_EXECUTION_STAGE_DISPATCH,
                                                            IREE_HAL_EXECUTION_STAGE_DISPATCH, 0, 0, NULL, 0, NULL));
  }
  IREE_CHECK_OK(iree_hal_command_buffer_end(commands));
  return commands;
}

static double run(iree_hal_command_buffer_t* commands, int rounds) {
  iree_hal_semaphore_t* semaphore = NULL;
  IREE_CHECK_OK(
      iree_hal_semaphore_create(device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &semaphore));
  iree_time_t start = iree_time_now();
  for (uint64_t i = 1; i <= (uint64_t)rounds; ++i) {
    uint64_t wait_value = i - 1, signal_value = i;
    iree_hal_semaphore_list_t wait = {1, &semaphore, &wait_value}, signal = {1, &semaphore, &signal_value};
    IREE_CHECK_OK(iree_hal_device_queue_execute(device, IREE_HAL_QUEUE_AFFINITY_ANY, wait, signal, commands,
                                                iree_hal_buffer_binding_table_empty(), IREE_HAL_EXECUTE_FLAG_NONE));
    IREE_CHECK_OK(iree_hal_semaphore_wait(semaphore, i, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  }
  double total = (double)(iree_time_now() - start) / rounds;
  iree_hal_semaphore_release(semaphore);
  iree_hal_command_buffer_release(commands);
  return total;
}

int main(int argc, char** argv) {
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  iree_hal_driver_registry_t* registry = iree_hal_driver_registry_default();
  IREE_CHECK_OK(iree_hal_register_all_available_drivers(registry));
  const char* name = argc > 1 ? argv[1] : "local-task";
  IREE_CHECK_OK(iree_hal_create_device(registry, iree_make_cstring_view(name), NULL, iree_allocator_system(), &device));
  load_kernels(strncmp(name, "local", 5) != 0);
  printf("submit and wait, nothing:            %8.0f ns\n", run(record(0, 0), ROUNDS));
  printf("submit and wait, 1 empty dispatch:   %8.0f ns\n", run(record(1, 1), ROUNDS));
  printf("submit and wait, 64 groups:          %8.0f ns\n", run(record(1, 64), ROUNDS));
  printf("dispatch and barrier, 1 group:       %8.0f ns\n", run(record(1000, 1), 100) / 1000);
  printf("dispatch and barrier, 2 groups:      %8.0f ns\n", run(record(1000, 2), 100) / 1000);
  printf("dispatch and barrier, 64 groups:     %8.0f ns\n", run(record(1000, 64), 100) / 1000);
  iree_hal_executable_release(executable);
  iree_hal_device_release(device);
  return 0;
}
