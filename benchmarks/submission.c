// What submissions cost: submission_benchmark DRIVER [--flags]
//
// First the thread that submits alone, by its own processor time and instructions: chains of submissions without a wait
// between, so that what a device does is left out, but for devices that run work on that thread; on `cuda` and `hip`
// beside what the vendor's library takes for the same launches, and for a graph of them. Then latencies: a submission
// and the wait for it.
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "hal/stream/device.h"
#include "iree/base/tooling/flags.h"
#include "iree/hal/api.h"
#include "iree/hal/drivers/init.h"
#include "iree/io/file_contents.h"
#include "kernels.h"

enum { ROUNDS = 20000, STEPS = 60, BATCH = 16, BATCHES = 200, WARM_UP = 20 };

static iree_hal_device_t* device;
static iree_hal_executable_t* executable;
static iree_io_file_contents_t* kernels;  // of the executable

// The first file of test functions that the device takes.
static void load_kernels(void) {
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
    params.constant_count = i == 0;  // the processor's
    params.constants = constants;
    if (iree_status_consume_code(status) == IREE_STATUS_OK &&
        iree_hal_executable_cache_can_prepare_format(cache, 0, params.executable_format)) {
      IREE_CHECK_OK(iree_hal_executable_cache_prepare_executable(cache, &params, &executable));
      kernels = contents;
    } else {
      iree_io_file_contents_free(contents);
    }
  }
  iree_hal_executable_cache_release(cache);
  if (!executable) exit(EXIT_FAILURE);
}

// `steps` dispatches of `groups` workgroups with a barrier after each: of the empty function, or of one with two
// buffers, those of the table's first slots, which it adds up word by word.
static iree_hal_command_buffer_t* record(int steps, uint32_t groups, bool has_buffers) {
  static const uint32_t constants[] = {1, 1};
  const iree_hal_buffer_ref_t refs[] = {iree_hal_make_indirect_buffer_ref(0, 0, 64),
                                        iree_hal_make_indirect_buffer_ref(1, 0, 64)};
  iree_hal_command_buffer_t* commands = NULL;
  IREE_CHECK_OK(iree_hal_command_buffer_create(device, IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT,
                                               IREE_HAL_COMMAND_CATEGORY_ANY, IREE_HAL_QUEUE_AFFINITY_ANY,
                                               has_buffers ? 2 : 0, &commands));
  IREE_CHECK_OK(iree_hal_command_buffer_begin(commands));
  for (int i = 0; i < steps; ++i) {
    IREE_CHECK_OK(iree_hal_command_buffer_dispatch(
        commands, executable, iree_hal_executable_function_from_index(has_buffers ? CTS_SCALE : CTS_EMPTY),
        iree_hal_make_static_dispatch_config(groups, 1, 1),
        iree_make_const_byte_span(constants, has_buffers ? sizeof(constants) : 0),
        (iree_hal_buffer_ref_list_t){has_buffers ? 2 : 0, refs}, IREE_HAL_DISPATCH_FLAG_NONE));
    IREE_CHECK_OK(iree_hal_command_buffer_execution_barrier(commands, IREE_HAL_EXECUTION_STAGE_DISPATCH,
                                                            IREE_HAL_EXECUTION_STAGE_DISPATCH, 0, 0, NULL, 0, NULL));
  }
  IREE_CHECK_OK(iree_hal_command_buffer_end(commands));
  return commands;
}

//===----------------------------------------------------------------------------------------------------------------===
// The submitting thread
//===----------------------------------------------------------------------------------------------------------------===

// Instructions of this thread in user mode; -1 where the system does not count them.
static int open_counter(void) {
  struct perf_event_attr attributes = {
      .type = PERF_TYPE_HARDWARE,
      .size = sizeof(attributes),
      .config = PERF_COUNT_HW_INSTRUCTIONS,
      .exclude_kernel = 1,
      .exclude_hv = 1,
  };
  return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
}

static uint64_t read_counter(int counter) {
  uint64_t value = 0;
  return read(counter, &value, sizeof(value)) == sizeof(value) ? value : 0;
}

static double thread_time(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

typedef void (*submit_fn_t)(iree_hal_semaphore_list_t wait, iree_hal_semaphore_list_t signal);

static iree_hal_command_buffer_t* submitted;
static iree_hal_buffer_binding_t table[2];

static void submit_commands(iree_hal_semaphore_list_t wait, iree_hal_semaphore_list_t signal) {
  iree_hal_buffer_binding_table_t bindings = {submitted && submitted->binding_capacity ? 2 : 0, table};
  IREE_CHECK_OK(iree_hal_device_queue_execute(device, IREE_HAL_QUEUE_AFFINITY_ANY, wait, signal, submitted, bindings,
                                              IREE_HAL_EXECUTE_FLAG_NONE));
}

static void submit_dispatch(iree_hal_semaphore_list_t wait, iree_hal_semaphore_list_t signal) {
  static const uint32_t constants[] = {1, 1};
  const iree_hal_buffer_ref_t refs[] = {iree_hal_make_buffer_ref(table[0].buffer, 0, 64),
                                        iree_hal_make_buffer_ref(table[1].buffer, 0, 64)};
  IREE_CHECK_OK(iree_hal_device_queue_dispatch(
      device, IREE_HAL_QUEUE_AFFINITY_ANY, wait, signal, executable, iree_hal_executable_function_from_index(CTS_SCALE),
      iree_hal_make_static_dispatch_config(1, 1, 1), iree_make_const_byte_span(constants, sizeof(constants)),
      (iree_hal_buffer_ref_list_t){2, refs}, IREE_HAL_DISPATCH_FLAG_NONE));
}

// What is measured: some submissions, and then the wait for them.
typedef struct subject_t {
  void (*submit)(void* user_data);
  void (*wait)(void* user_data);
  void* user_data;
} subject_t;

// Prints what one submission of `dispatch_count` dispatches takes. The least time of all batches is what is told.
static void measure_subject(const char* name, const subject_t* subject, int dispatch_count) {
  int counter = open_counter();
  double least = 1e18;
  uint64_t instructions = UINT64_MAX;
  for (int batch = 0; batch < WARM_UP + BATCHES; ++batch) {
    uint64_t count = counter < 0 ? 0 : read_counter(counter);
    double time = thread_time();
    for (int i = 0; i < BATCH; ++i) subject->submit(subject->user_data);
    time = thread_time() - time;
    if (counter >= 0) count = read_counter(counter) - count;
    subject->wait(subject->user_data);
    if (batch < WARM_UP) continue;
    least = iree_min(least, time);
    instructions = iree_min(instructions, count);
  }
  printf("%-36s %8.0f ns", name, least / BATCH);
  if (counter >= 0) printf(", %7.0f instructions", (double)instructions / BATCH);
  if (dispatch_count > 1) printf("; a dispatch %5.0f ns", least / BATCH / dispatch_count);
  printf("\n");
  if (counter >= 0) close(counter);
}

// A chain of submissions.
typedef struct chain_t {
  submit_fn_t submit;
  iree_hal_semaphore_t* semaphore;
  uint64_t value;
} chain_t;

static void submit_next(void* user_data) {
  chain_t* chain = (chain_t*)user_data;
  uint64_t wait_value = chain->value, signal_value = ++chain->value;
  chain->submit((iree_hal_semaphore_list_t){1, &chain->semaphore, &wait_value},
                (iree_hal_semaphore_list_t){1, &chain->semaphore, &signal_value});
}

static void wait_for_chain(void* user_data) {
  const chain_t* chain = (const chain_t*)user_data;
  IREE_CHECK_OK(
      iree_hal_semaphore_wait(chain->semaphore, chain->value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
}

static void measure(const char* name, submit_fn_t submit, int dispatch_count) {
  chain_t chain = {.submit = submit};
  IREE_CHECK_OK(iree_hal_semaphore_create(device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT,
                                          &chain.semaphore));
  measure_subject(name, &(subject_t){submit_next, wait_for_chain, &chain}, dispatch_count);
  iree_hal_semaphore_release(chain.semaphore);
}

static void measure_commands(const char* name, int dispatch_count, bool has_buffers) {
  submitted = dispatch_count ? record(dispatch_count, 1, has_buffers) : NULL;
  measure(name, submit_commands, dispatch_count);
  iree_hal_command_buffer_release(submitted);
}

// What recording costs, which a submission of something else than before may need.
static void submit_recorded(iree_hal_semaphore_list_t wait, iree_hal_semaphore_list_t signal) {
  iree_hal_command_buffer_release(submitted);
  submitted = record(STEPS, 1, true);
  submit_commands(wait, signal);
}

static void measure_submissions(void) {
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, .usage = IREE_HAL_BUFFER_USAGE_DEFAULT};
  for (int i = 0; i < 2; ++i) {
    table[i] = (iree_hal_buffer_binding_t){NULL, 0, IREE_HAL_WHOLE_BUFFER};
    IREE_CHECK_OK(
        iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(device), params, 4096, &table[i].buffer));
  }
  measure_commands("submit, nothing:", 0, false);
  measure("submit, 1 dispatch of 2 buffers:", submit_dispatch, 1);
  measure_commands("submit, 60 empty dispatches:", STEPS, false);
  measure_commands("submit, 60 dispatches of 2 buffers:", STEPS, true);
  submitted = NULL;
  measure("record, then submit the same:", submit_recorded, STEPS);
  iree_hal_command_buffer_release(submitted);
  for (int i = 0; i < 2; ++i) iree_hal_buffer_release(table[i].buffer);
}

//===----------------------------------------------------------------------------------------------------------------===
// The vendor's library alone
//===----------------------------------------------------------------------------------------------------------------===

// HIP's other way to launch a module's kernel: sizes are work-items', events and flags are optional.
typedef int (*launch_extended_fn_t)(void* function, uint32_t size_x, uint32_t size_y, uint32_t size_z, uint32_t block_x,
                                    uint32_t block_y, uint32_t block_z, size_t memory, void* stream, void** parameters,
                                    void** extra, void* begin, void* end, uint32_t flags);

typedef struct vendor_t {
  const stream_api_t* api;
  stream_context_t context;
  void *stream, *module, *function, *captured, *graph;
  launch_extended_fn_t launch_extended;  // NULL: none
} vendor_t;

static void launch_all(void* user_data) {
  const vendor_t* v = (const vendor_t*)user_data;
  for (int i = 0; i < STEPS; ++i) {
    IREE_CHECK_OK(STREAM_CALL(v->api, launch, v->function, 1, 1, 1, 1, 1, 1, 0, v->stream, NULL, NULL));
  }
}

static void wait_for_stream(void* user_data) {
  const vendor_t* v = (const vendor_t*)user_data;
  IREE_CHECK_OK(STREAM_CALL(v->api, stream_synchronize, v->stream));
}

static void launch_all_extended(void* user_data) {
  const vendor_t* v = (const vendor_t*)user_data;
  for (int i = 0; i < STEPS; ++i) {
    IREE_CHECK_OK(stream_api_check(
        v->api, v->launch_extended(v->function, 1, 1, 1, 1, 1, 1, 0, v->stream, NULL, NULL, NULL, NULL, 0),
        "hipExtModuleLaunchKernel"));
  }
}

// It is C++ in some versions.
static void measure_extended(vendor_t* v) {
  void* library = dlopen(v->api->path, RTLD_NOW | RTLD_NOLOAD);
  static const char* const names[] = {
      "hipExtModuleLaunchKernel",
      "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j"};
  for (size_t i = 0; i < IREE_ARRAYSIZE(names) && library && !v->launch_extended; ++i) {
    *(void**)&v->launch_extended = dlsym(library, names[i]);
  }
  if (v->launch_extended) {
    measure_subject("the same, hipExtModuleLaunchKernel:", &(subject_t){launch_all_extended, wait_for_stream, v},
                    STEPS);
  }
  if (library) dlclose(library);
}

static void launch_graph(void* user_data) {
  const vendor_t* v = (const vendor_t*)user_data;
  IREE_CHECK_OK(STREAM_CALL(v->api, graph_launch, v->graph, v->stream));
}

static void measure_graph(vendor_t* v) {
  enum { OF_THREAD = 1 };
  const stream_api_t* api = v->api;
  int version = 0;
  IREE_CHECK_OK(STREAM_CALL(api, driver_version, &version));
  if (version < api->library->first_with_graphs || !api->capture_begin || !api->graph_launch) {
    printf("the library's graphs are missing or run once only\n");
    return;
  }
  IREE_CHECK_OK(STREAM_CALL(api, capture_begin, v->stream, OF_THREAD));
  launch_all(v);
  IREE_CHECK_OK(STREAM_CALL(api, capture_end, v->stream, &v->captured));
  IREE_CHECK_OK(STREAM_CALL(api, graph_instantiate, &v->graph, v->captured, 0));
  measure_subject("the library, a graph of 60:", &(subject_t){launch_graph, wait_for_stream, v}, STEPS);
  api->graph_executable_destroy(v->graph);
  api->graph_destroy(v->captured);
}

// The driver has opened it.
static void measure_vendor(bool is_cuda) {
  vendor_t v = {0};
  IREE_CHECK_OK(
      stream_api_load(is_cuda ? &stream_cuda_library : &stream_hip_library, (iree_string_view_list_t){0}, &v.api));
  IREE_CHECK_OK(stream_context_retain(v.api, 0, &v.context));
  IREE_CHECK_OK(stream_context_enter(&v.context));
  IREE_CHECK_OK(STREAM_CALL(v.api, stream_create, &v.stream, STREAM_API_STREAM_NON_BLOCKING));
  IREE_CHECK_OK(STREAM_CALL(v.api, module_load, &v.module, kernels->const_buffer.data, 0, NULL, NULL));
  IREE_CHECK_OK(STREAM_CALL(v.api, module_function, &v.function, v.module, "empty"));
  measure_subject("the library, 60 empty launches:", &(subject_t){launch_all, wait_for_stream, &v}, STEPS);
  if (!is_cuda) measure_extended(&v);
  measure_graph(&v);
  v.api->stream_destroy(v.stream);
  v.api->module_unload(v.module);
  stream_context_release(&v.context);
}

//===----------------------------------------------------------------------------------------------------------------===
// Latencies
//===----------------------------------------------------------------------------------------------------------------===

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
  load_kernels();
  measure_submissions();
  bool is_cuda = strcmp(name, "cuda") == 0;
  if (is_cuda || strcmp(name, "hip") == 0) measure_vendor(is_cuda);
  printf("submit and wait, nothing:            %8.0f ns\n", run(record(0, 0, false), ROUNDS));
  printf("submit and wait, 1 empty dispatch:   %8.0f ns\n", run(record(1, 1, false), ROUNDS));
  printf("submit and wait, 64 groups:          %8.0f ns\n", run(record(1, 64, false), ROUNDS));
  printf("dispatch and barrier, 1 group:       %8.0f ns\n", run(record(1000, 1, false), 100) / 1000);
  printf("dispatch and barrier, 2 groups:      %8.0f ns\n", run(record(1000, 2, false), 100) / 1000);
  printf("dispatch and barrier, 64 groups:     %8.0f ns\n", run(record(1000, 64, false), 100) / 1000);
  iree_hal_executable_release(executable);
  iree_hal_device_release(device);
  iree_io_file_contents_free(kernels);
  return 0;
}
