// What a call, and a graph of empty kernels, cost through this runtime, and by the vendor's library alone, alternately:
//   gpu_calls --device=cuda --module=abs.vmfb --kernels=tests/cts_kernels.ptx [the driver's flags]
// `abs.vmfb` has a function abs of one f32 (samples/models/simple_abs.mlir); the kernels are the conformance suite's,
// of which the first does nothing. Prints a row for each: name, least and median microseconds of this runtime, of the
// library, and the ratio of the least.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iree/base/tooling/flags.h"
#include "iree/hal/api.h"
#include "iree/hal/drivers/init.h"
#include "iree/io/file_handle.h"
#include "iree/runtime/api.h"

IREE_FLAG(string, device, "cuda", "Device, of cuda or hip.")
IREE_FLAG(string, module, "", "Module with the function abs.")
IREE_FLAG(string, kernels, "", "The conformance suite's kernels, for the device.")
IREE_FLAG(int32_t, rounds, 2000, "How often each is done; copies twenty times at most.")

enum { KERNELS = 60, WARM_UP = 50, COPY_SIZE = 64 << 20, COPY_ROUNDS = 20 };

//===----------------------------------------------------------------------------------------------------------------===
// The vendor's library: CUDA's names, and HIP's, whose functions take the same
//===----------------------------------------------------------------------------------------------------------------===

// ENTRY(name, CUDA's, HIP's, parameters)
#define ENTRIES(ENTRY)                                                                                               \
  ENTRY(init, "cuInit", "hipInit", (unsigned flags))                                                                 \
  ENTRY(load, "cuModuleLoadData", "hipModuleLoadData", (void** out_module, const void* image))                       \
  ENTRY(function, "cuModuleGetFunction", "hipModuleGetFunction", (void** out, void* module, const char* name))       \
  ENTRY(stream, "cuStreamCreate", "hipStreamCreateWithFlags", (void** out_stream, unsigned flags))                   \
  ENTRY(allocate, "cuMemAlloc_v2", "hipMalloc", (void** out_address, size_t size))                                   \
  ENTRY(to_device, "cuMemcpyHtoDAsync_v2", "hipMemcpyHtoDAsync", (void* to, const void* from, size_t size, void* s)) \
  ENTRY(to_host, "cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync", (void* to, const void* from, size_t size, void* s))   \
  ENTRY(on_device, "cuMemcpyDtoDAsync_v2", "hipMemcpyDtoDAsync", (void* to, void* from, size_t size, void* s))       \
  ENTRY(wait, "cuStreamSynchronize", "hipStreamSynchronize", (void* stream))                                         \
  ENTRY(capture, "cuStreamBeginCapture_v2", "hipStreamBeginCapture", (void* stream, int mode))                       \
  ENTRY(end_capture, "cuStreamEndCapture", "hipStreamEndCapture", (void* stream, void** out_graph))                  \
  ENTRY(instantiate, "cuGraphInstantiateWithFlags", "hipGraphInstantiateWithFlags",                                  \
        (void** out_executable, void* graph, uint64_t flags))                                                        \
  ENTRY(launch_graph, "cuGraphLaunch", "hipGraphLaunch", (void* executable, void* stream))                           \
  ENTRY(launch, "cuLaunchKernel", "hipModuleLaunchKernel",                                                           \
        (void* function, unsigned x, unsigned y, unsigned z, unsigned block_x, unsigned block_y, unsigned block_z,   \
         unsigned memory, void* stream, void** parameters, void** extra))

typedef struct vendor_t {
  void* library;
#define ENTRY(name, cuda, hip, parameters) int(*name) parameters;
  ENTRIES(ENTRY)
#undef ENTRY
  void *stream_handle, *module, *empty, *scale, *graph, *memory;
  uint32_t in, out;    // the host's ends of the bare call
  void *large, *host;  // twice COPY_SIZE on the device, and once on the host
} vendor_t;

static void require(bool condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "gpu_calls: %s\n", what);
  exit(1);
}

static void done(int result, const char* what) {
  if (!result) return;
  fprintf(stderr, "gpu_calls: %s answers %d\n", what, result);
  exit(1);
}
#define DONE(vendor, entry, ...) done((vendor)->entry(__VA_ARGS__), #entry)

// CUDA's context is the driver's, which this thread makes its own; HIP has none.
static void enter_cuda(void* library) {
  int (*get)(int* out, int ordinal) = (int (*)(int*, int))dlsym(library, "cuDeviceGet");
  int (*retain)(void** out, int device) = (int (*)(void**, int))dlsym(library, "cuDevicePrimaryCtxRetain");
  int (*enter)(void* context) = (int (*)(void*))dlsym(library, "cuCtxSetCurrent");
  int device = 0;
  void* context = NULL;
  require(get && retain && enter, "the library has no contexts");
  done(get(&device, 0), "cuDeviceGet");
  done(retain(&context, device), "cuDevicePrimaryCtxRetain");
  done(enter(context), "cuCtxSetCurrent");
}

static void open_library(vendor_t* vendor, bool is_cuda) {
  vendor->library = dlopen(is_cuda ? "libcuda.so.1" : "libamdhip64.so", RTLD_NOW);
  if (!vendor->library && !is_cuda) vendor->library = dlopen("libamdhip64.so.5", RTLD_NOW);
  require(vendor->library, "the vendor's library is not there");
#define ENTRY(name, cuda, hip, parameters)                                        \
  vendor->name = (int(*) parameters)dlsym(vendor->library, is_cuda ? cuda : hip); \
  require(vendor->name, "the vendor's library has no " #name);
  ENTRIES(ENTRY)
#undef ENTRY
}

static void vendor_open(vendor_t* vendor, bool is_cuda, const char* kernels) {
  enum { OWN_STREAM = 1, RELAXED = 2 };
  open_library(vendor, is_cuda);
  DONE(vendor, init, 0);
  if (is_cuda) enter_cuda(vendor->library);
  DONE(vendor, load, &vendor->module, kernels);
  DONE(vendor, function, &vendor->empty, vendor->module, "empty");
  DONE(vendor, function, &vendor->scale, vendor->module, "scale");
  DONE(vendor, stream, &vendor->stream_handle, OWN_STREAM);
  DONE(vendor, allocate, &vendor->memory, 512);
  DONE(vendor, allocate, &vendor->large, 2 * (size_t)COPY_SIZE);
  vendor->host = calloc(1, COPY_SIZE);
  require(vendor->host, "out of memory");
  void *stream = vendor->stream_handle, *graph = NULL;
  DONE(vendor, capture, stream, RELAXED);
  for (int i = 0; i < KERNELS; ++i) DONE(vendor, launch, vendor->empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
  DONE(vendor, end_capture, stream, &graph);
  DONE(vendor, instantiate, &vendor->graph, graph, 0);
}

// In, one kernel over it, out, and the end awaited; the kernel's, too, where the result is asked for after that.
static void call_vendor(vendor_t* vendor, bool waits_for_kernel) {
  char* to = (char*)vendor->memory + 256;
  uint32_t factor = 3, offset = 1;
  void* parameters[] = {&vendor->memory, &to, &factor, &offset};
  vendor->in += 1;
  DONE(vendor, to_device, vendor->memory, &vendor->in, 4, vendor->stream_handle);
  DONE(vendor, launch, vendor->scale, 1, 1, 1, 1, 1, 1, 0, vendor->stream_handle, parameters, NULL);
  if (waits_for_kernel) DONE(vendor, wait, vendor->stream_handle);
  DONE(vendor, to_host, &vendor->out, to, 4, vendor->stream_handle);
  DONE(vendor, wait, vendor->stream_handle);
  require(vendor->out == vendor->in * factor + offset, "the library's call has a wrong result");
}

static void vendor_call(vendor_t* vendor) { call_vendor(vendor, false); }
static void vendor_call_and_read(vendor_t* vendor) { call_vendor(vendor, true); }

static void vendor_graph(vendor_t* vendor) {
  DONE(vendor, launch_graph, vendor->graph, vendor->stream_handle);
  DONE(vendor, wait, vendor->stream_handle);
}

static void vendor_launches(vendor_t* vendor) {
  for (int i = 0; i < KERNELS; ++i) {
    DONE(vendor, launch, vendor->empty, 1, 1, 1, 1, 1, 1, 0, vendor->stream_handle, NULL, NULL);
  }
  DONE(vendor, wait, vendor->stream_handle);
}

static void vendor_copy_in(vendor_t* vendor) {
  DONE(vendor, to_device, vendor->large, vendor->host, COPY_SIZE, vendor->stream_handle);
  DONE(vendor, wait, vendor->stream_handle);
}

static void vendor_copy_out(vendor_t* vendor) {
  DONE(vendor, to_host, vendor->host, vendor->large, COPY_SIZE, vendor->stream_handle);
  DONE(vendor, wait, vendor->stream_handle);
}

static void vendor_copy(vendor_t* vendor) {
  DONE(vendor, on_device, (char*)vendor->large + COPY_SIZE, vendor->large, COPY_SIZE, vendor->stream_handle);
  DONE(vendor, wait, vendor->stream_handle);
}

//===----------------------------------------------------------------------------------------------------------------===
// This runtime
//===----------------------------------------------------------------------------------------------------------------===

typedef struct ours_t {
  iree_runtime_instance_t* instance;
  iree_hal_device_t* device;
  iree_runtime_session_t* session;
  iree_runtime_call_t call;
  iree_hal_executable_cache_t* cache;
  iree_hal_executable_t* executable;
  iree_hal_command_buffer_t* commands;
  iree_hal_semaphore_t* semaphore;
  uint64_t value;  // of the semaphore, once all is done
  float in;
  iree_hal_buffer_t* large;  // as the library's
  void* host;
} ours_t;

static void ours_record(ours_t* ours, iree_const_byte_span_t kernels) {
  iree_hal_executable_params_t params;
  iree_hal_executable_params_initialize(&params);
  char format[64];
  iree_host_size_t size = 0;
  IREE_CHECK_OK(iree_hal_executable_cache_create(ours->device, IREE_SV("calls"), &ours->cache));
  IREE_CHECK_OK(iree_hal_executable_cache_infer_format(ours->cache, 0, kernels, sizeof(format), format, &size));
  params.executable_format = iree_make_cstring_view(format);
  params.executable_data = kernels;
  IREE_CHECK_OK(iree_hal_executable_cache_prepare_executable(ours->cache, &params, &ours->executable));
  IREE_CHECK_OK(iree_hal_command_buffer_create(ours->device, IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT,
                                               IREE_HAL_COMMAND_CATEGORY_ANY, IREE_HAL_QUEUE_AFFINITY_ANY, 0,
                                               &ours->commands));
  IREE_CHECK_OK(iree_hal_command_buffer_begin(ours->commands));
  for (int i = 0; i < KERNELS; ++i) {
    IREE_CHECK_OK(
        iree_hal_command_buffer_dispatch(ours->commands, ours->executable, iree_hal_executable_function_from_index(0),
                                         iree_hal_make_static_dispatch_config(1, 1, 1), iree_const_byte_span_empty(),
                                         (iree_hal_buffer_ref_list_t){0}, IREE_HAL_DISPATCH_FLAG_NONE));
    IREE_CHECK_OK(iree_hal_command_buffer_execution_barrier(ours->commands, IREE_HAL_EXECUTION_STAGE_COMMAND_RETIRE,
                                                            IREE_HAL_EXECUTION_STAGE_COMMAND_ISSUE,
                                                            IREE_HAL_EXECUTION_BARRIER_FLAG_NONE, 0, NULL, 0, NULL));
  }
  IREE_CHECK_OK(iree_hal_command_buffer_end(ours->commands));
  IREE_CHECK_OK(iree_hal_semaphore_create(ours->device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT,
                                          &ours->semaphore));
}

static void ours_open(ours_t* ours, iree_const_byte_span_t kernels) {
  iree_allocator_t allocator = iree_allocator_system();
  iree_runtime_instance_options_t options;
  iree_runtime_instance_options_initialize(&options);
  iree_runtime_instance_options_use_all_available_drivers(&options);
  IREE_CHECK_OK(iree_runtime_instance_create(&options, allocator, &ours->instance));
  IREE_CHECK_OK(iree_hal_create_device(iree_runtime_instance_driver_registry(ours->instance),
                                       iree_make_cstring_view(FLAG_device), NULL, allocator, &ours->device));
  iree_runtime_session_options_t session_options;
  iree_runtime_session_options_initialize(&session_options);
  IREE_CHECK_OK(iree_runtime_session_create_with_device(ours->instance, &session_options, ours->device, allocator,
                                                        &ours->session));
  IREE_CHECK_OK(iree_runtime_session_append_bytecode_module_from_file(ours->session, FLAG_module));
  IREE_CHECK_OK(iree_runtime_call_initialize_by_name(ours->session, IREE_SV("module.abs"), &ours->call));
  ours_record(ours, kernels);
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, .usage = IREE_HAL_BUFFER_USAGE_DEFAULT};
  IREE_CHECK_OK(iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(ours->device), params,
                                                   2 * (iree_device_size_t)COPY_SIZE, &ours->large));
  ours->host = calloc(1, COPY_SIZE);
  require(ours->host, "out of memory");
}

static void ours_close(ours_t* ours) {
  free(ours->host);
  iree_hal_buffer_release(ours->large);
  iree_hal_semaphore_release(ours->semaphore);
  iree_hal_command_buffer_release(ours->commands);
  iree_hal_executable_release(ours->executable);
  iree_hal_executable_cache_release(ours->cache);
  iree_runtime_call_deinitialize(&ours->call);
  iree_runtime_session_release(ours->session);
  iree_hal_device_release(ours->device);
  iree_runtime_instance_release(ours->instance);
}

// A float of the host in, abs, and a float of the host out.
static void ours_call(ours_t* ours) {
  iree_hal_buffer_view_t *in = NULL, *out = NULL;
  float result = 0;
  ours->in -= 1;
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, .usage = IREE_HAL_BUFFER_USAGE_DEFAULT};
  IREE_CHECK_OK(iree_hal_buffer_view_allocate_buffer_copy(
      ours->device, iree_hal_device_allocator(ours->device), 0, NULL, IREE_HAL_ELEMENT_TYPE_FLOAT_32,
      IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, params, iree_make_const_byte_span(&ours->in, sizeof(ours->in)), &in));
  iree_runtime_call_reset(&ours->call);
  IREE_CHECK_OK(iree_runtime_call_inputs_push_back_buffer_view(&ours->call, in));
  iree_hal_buffer_view_release(in);
  IREE_CHECK_OK(iree_runtime_call_invoke(&ours->call, 0));
  IREE_CHECK_OK(iree_runtime_call_outputs_pop_front_buffer_view(&ours->call, &out));
  IREE_CHECK_OK(iree_hal_device_transfer_d2h(ours->device, iree_hal_buffer_view_buffer(out), 0, &result, sizeof(result),
                                             IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout()));
  iree_hal_buffer_view_release(out);
  require(result == -ours->in, "abs has a wrong result");
}

static void ours_submit(ours_t* ours) {
  uint64_t before = ours->value, after = ++ours->value;
  iree_hal_semaphore_list_t waits = {1, &ours->semaphore, &before}, signals = {1, &ours->semaphore, &after};
  IREE_CHECK_OK(iree_hal_device_queue_execute(ours->device, IREE_HAL_QUEUE_AFFINITY_ANY, waits, signals, ours->commands,
                                              iree_hal_buffer_binding_table_empty(), IREE_HAL_EXECUTE_FLAG_NONE));
}

static void ours_graph(ours_t* ours) {
  ours_submit(ours);
  IREE_CHECK_OK(
      iree_hal_semaphore_wait(ours->semaphore, ours->value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
}

static void ours_copy_in(ours_t* ours) {
  IREE_CHECK_OK(iree_hal_device_transfer_h2d(ours->device, ours->host, ours->large, 0, COPY_SIZE,
                                             IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout()));
}

static void ours_copy_out(ours_t* ours) {
  IREE_CHECK_OK(iree_hal_device_transfer_d2h(ours->device, ours->large, 0, ours->host, COPY_SIZE,
                                             IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout()));
}

static void ours_copy(ours_t* ours) {
  uint64_t before = ours->value, after = ++ours->value;
  iree_hal_semaphore_list_t waits = {1, &ours->semaphore, &before}, signals = {1, &ours->semaphore, &after};
  IREE_CHECK_OK(iree_hal_device_queue_copy(ours->device, IREE_HAL_QUEUE_AFFINITY_ANY, waits, signals, ours->large, 0,
                                           ours->large, COPY_SIZE, COPY_SIZE, IREE_HAL_COPY_FLAG_NONE));
  IREE_CHECK_OK(
      iree_hal_semaphore_wait(ours->semaphore, ours->value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
}

//===----------------------------------------------------------------------------------------------------------------===
// Rounds
//===----------------------------------------------------------------------------------------------------------------===

static int by_time(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void print_row(const char* name, double* ours, double* theirs, int count) {
  qsort(ours, (size_t)count, sizeof(*ours), by_time);
  qsort(theirs, (size_t)count, sizeof(*theirs), by_time);
  printf("%-34s %9.2f %9.2f %9.2f %9.2f %6.2f\n", name, ours[0], ours[count / 2], theirs[0], theirs[count / 2],
         ours[0] / theirs[0]);
}

typedef void (*ours_fn_t)(ours_t* ours);
typedef void (*vendor_fn_t)(vendor_t* vendor);

static void compare(const char* name, int count, ours_t* ours, ours_fn_t our_round, vendor_t* vendor,
                    vendor_fn_t their_round) {
  double* times = calloc(2 * (size_t)count, sizeof(*times));
  require(times, "out of memory");
  for (int i = -(count < WARM_UP ? 1 : WARM_UP); i < count; ++i) {
    iree_time_t begin = iree_time_now();
    our_round(ours);
    iree_time_t middle = iree_time_now();
    their_round(vendor);
    iree_time_t end = iree_time_now();
    if (i < 0) continue;
    times[i] = (double)(middle - begin) / 1000.0;
    times[count + i] = (double)(end - middle) / 1000.0;
  }
  print_row(name, times, times + count, count);
  free(times);
}

// What a submission takes of the thread that makes it, while the ones before are on their way.
static void submissions(ours_t* ours) {
  enum { AT_ONCE = 32 };
  double least = 0;
  for (int i = 0; i < FLAG_rounds / AT_ONCE; ++i) {
    iree_time_t begin = iree_time_now();
    for (int j = 0; j < AT_ONCE; ++j) ours_submit(ours);
    double taken = (double)(iree_time_now() - begin) / 1000.0 / AT_ONCE;
    if (!i || taken < least) least = taken;
    IREE_CHECK_OK(
        iree_hal_semaphore_wait(ours->semaphore, ours->value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  }
  printf("%-34s %9.2f\n", "submission, host's part", least);
}

// The file, with a zero behind it.
static char* read_file(const char* path, size_t* out_size) {
  FILE* file = fopen(path, "rb");
  require(file && fseek(file, 0, SEEK_END) == 0, "--kernels= cannot be read");
  long size = ftell(file);
  rewind(file);
  char* data = size < 0 ? NULL : calloc(1, (size_t)size + 1);
  require(data && fread(data, 1, (size_t)size, file) == (size_t)size, "--kernels= cannot be read");
  fclose(file);
  *out_size = (size_t)size;
  return data;
}

int main(int argc, char** argv) {
  iree_flags_set_usage("gpu_calls", "Compares calls through this runtime with the vendor's library alone.\n");
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  bool is_cuda = strncmp(FLAG_device, "cuda", 4) == 0;
  require(is_cuda || strncmp(FLAG_device, "hip", 3) == 0, "--device= is of cuda or hip");
  size_t size = 0;
  char* kernels = read_file(FLAG_kernels, &size);
  ours_t ours = {0};
  vendor_t vendor = {0};
  ours_open(&ours, iree_make_const_byte_span(kernels, size));
  vendor_open(&vendor, is_cuda, kernels);
  printf("%-34s %9s %9s %9s %9s %6s\n", "microseconds", "ours", "median", "library", "median", "ratio");
  int rounds = FLAG_rounds, copies = FLAG_rounds < COPY_ROUNDS ? FLAG_rounds : COPY_ROUNDS;
  compare("call, host to host", rounds, &ours, ours_call, &vendor, vendor_call);
  compare("call, host to host, two waits", rounds, &ours, ours_call, &vendor, vendor_call_and_read);
  compare("60 empty kernels, to a graph", rounds, &ours, ours_graph, &vendor, vendor_graph);
  compare("60 empty kernels, to launches", rounds, &ours, ours_graph, &vendor, vendor_launches);
  compare("64 MiB, host to device", copies, &ours, ours_copy_in, &vendor, vendor_copy_in);
  compare("64 MiB, device to host", copies, &ours, ours_copy_out, &vendor, vendor_copy_out);
  compare("64 MiB, within the device", copies, &ours, ours_copy, &vendor, vendor_copy);
  submissions(&ours);
  ours_close(&ours);
  free(vendor.host);
  free(kernels);
  return 0;
}
