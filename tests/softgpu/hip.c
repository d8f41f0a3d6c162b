// A HIP program on the software GPU, through Debian's libamdhip64: copies of all sorts, code, launches, streams,
// events, graphs, memory that both sides use.
//
//   softgpu_hip CODE_OBJECT KERNEL: a kernel add_u32(const u32* a, const u32* b, u32* out, int n)
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 300, GROUP = 64, HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2, DEVICE_TO_DEVICE = 3 };
enum { BYTES = COUNT * sizeof(uint32_t), ROWS = 10, ROW = BYTES / ROWS, ROUNDS = 3 };

// FUNCTION(name, parameters)
#define FUNCTIONS(FUNCTION)                                                                                         \
  FUNCTION(hipGetDeviceCount, (int* count))                                                                         \
  FUNCTION(hipMalloc, (void** pointer, size_t size))                                                                \
  FUNCTION(hipFree, (void* pointer))                                                                                \
  FUNCTION(hipMemcpy, (void* to, const void* from, size_t size, int kind))                                          \
  FUNCTION(hipModuleLoadData, (void** module, const void* image))                                                   \
  FUNCTION(hipModuleGetFunction, (void** function, void* module, const char* name))                                 \
  FUNCTION(hipModuleLaunchKernel, (void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, \
                                   unsigned bz, unsigned shared, void* stream, void** arguments, void** extra))     \
  FUNCTION(hipDeviceSynchronize, (void))                                                                            \
  FUNCTION(hipModuleUnload, (void* module))                                                                         \
  FUNCTION(hipStreamCreate, (void** stream))                                                                        \
  FUNCTION(hipStreamSynchronize, (void* stream))                                                                    \
  FUNCTION(hipStreamWaitEvent, (void* stream, void* event, unsigned flags))                                         \
  FUNCTION(hipStreamDestroy, (void* stream))                                                                        \
  FUNCTION(hipEventCreate, (void** event))                                                                          \
  FUNCTION(hipEventRecord, (void* event, void* stream))                                                             \
  FUNCTION(hipEventElapsedTime, (float* milliseconds, void* from, void* to))                                        \
  FUNCTION(hipEventDestroy, (void* event))                                                                          \
  FUNCTION(hipMemcpyAsync, (void* to, const void* from, size_t size, int kind, void* stream))                       \
  FUNCTION(hipMemsetAsync, (void* to, int value, size_t size, void* stream))                                        \
  FUNCTION(hipHostMalloc, (void** pointer, size_t size, unsigned flags))                                            \
  FUNCTION(hipHostFree, (void* pointer))                                                                            \
  FUNCTION(hipMallocManaged, (void** pointer, size_t size, unsigned flags))                                         \
  FUNCTION(hipMallocPitch, (void** pointer, size_t* pitch, size_t width, size_t height))                            \
  FUNCTION(hipMemcpy2D,                                                                                             \
           (void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, int kind)) \
  FUNCTION(hipStreamBeginCapture, (void* stream, int mode))                                                         \
  FUNCTION(hipStreamEndCapture, (void* stream, void** graph))                                                       \
  FUNCTION(hipGraphInstantiate, (void** exec, void* graph, void** node, char* log, size_t size))                    \
  FUNCTION(hipGraphLaunch, (void* exec, void* stream))                                                              \
  FUNCTION(hipGraphExecDestroy, (void* exec))                                                                       \
  FUNCTION(hipGraphDestroy, (void* graph))
static struct {
#define FUNCTION(name, parameters) int(*name) parameters;
  FUNCTIONS(FUNCTION)
#undef FUNCTION
} hip;

#define CHECK(call)                                                          \
  do {                                                                       \
    int error_ = hip.call;                                                   \
    if (error_) fprintf(stderr, #call " gives error %d\n", error_), exit(1); \
  } while (0)

static void load_hip(void) {
  void* library = dlopen("libamdhip64.so.5", RTLD_NOW);
  if (!library) fprintf(stderr, "%s\n", dlerror()), exit(1);
#define FUNCTION(name, parameters)            \
  *(void**)&hip.name = dlsym(library, #name); \
  if (!hip.name) fprintf(stderr, "no " #name "\n"), exit(1);
  FUNCTIONS(FUNCTION)
#undef FUNCTION
}

static void* read_file(const char* path) {
  FILE* file = fopen(path, "rb");
  if (!file) perror(path), exit(1);
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  rewind(file);
  void* data = malloc(size);
  if (!data || fread(data, 1, size, file) != size) perror(path), exit(1);
  fclose(file);
  return data;
}

static uint32_t a[COUNT], b[COUNT];
static void *device_a, *device_b;

static void add(void* function, void* left, void* right, void* out, void* stream) {
  int n = COUNT;
  void* arguments[] = {&left, &right, &out, &n};
  CHECK(hipModuleLaunchKernel(function, (COUNT + GROUP - 1) / GROUP, 1, 1, GROUP, 1, 1, 0, stream, arguments, NULL));
}

// How many of `sum` are not a + times * b.
static int count_wrong(const char* what, const uint32_t* sum, uint32_t times) {
  int wrong = 0;
  for (uint32_t i = 0; i < COUNT; ++i) wrong += sum[i] != a[i] + times * b[i];
  if (wrong) printf("%s: %d of %d sums wrong\n", what, wrong, COUNT);
  return wrong;
}

static int run_plain(void* function) {
  void* out;
  uint32_t sum[COUNT] = {0};
  CHECK(hipMalloc(&out, BYTES));
  add(function, device_a, device_b, out, NULL);
  CHECK(hipDeviceSynchronize());
  CHECK(hipMemcpy(sum, out, BYTES, DEVICE_TO_HOST));
  CHECK(hipFree(out));
  return count_wrong("plain", sum, 1);
}

// One stream adds, another waits for its event and copies the result to pinned memory.
static int run_streams(void* function) {
  void *streams[2], *events[2], *out;
  uint32_t* sum;
  float milliseconds = -1;
  CHECK(hipMalloc(&out, BYTES));
  CHECK(hipHostMalloc((void**)&sum, BYTES, 0));
  for (int i = 0; i < 2; ++i) {
    CHECK(hipStreamCreate(&streams[i]));
    CHECK(hipEventCreate(&events[i]));
  }
  CHECK(hipEventRecord(events[0], streams[0]));
  CHECK(hipMemsetAsync(out, 0xff, BYTES, streams[0]));
  add(function, device_a, device_b, out, streams[0]);
  CHECK(hipEventRecord(events[1], streams[0]));
  CHECK(hipStreamWaitEvent(streams[1], events[1], 0));
  CHECK(hipMemcpyAsync(sum, out, BYTES, DEVICE_TO_HOST, streams[1]));
  CHECK(hipStreamSynchronize(streams[1]));
  CHECK(hipEventElapsedTime(&milliseconds, events[0], events[1]));
  int wrong = count_wrong("streams", sum, 1) + !(milliseconds >= 0 && milliseconds < 60000);
  for (int i = 0; i < 2; ++i) {
    CHECK(hipStreamDestroy(streams[i]));
    CHECK(hipEventDestroy(events[i]));
  }
  CHECK(hipHostFree(sum));
  CHECK(hipFree(out));
  return wrong;
}

// A captured graph that copies, into memory that the host reads too. (HIP 5.2 does not capture a module's kernels.)
static int run_graph(void) {
  void *stream, *graph, *exec;
  uint32_t* to;
  int wrong = 0;
  CHECK(hipMallocManaged((void**)&to, BYTES, 1));
  CHECK(hipStreamCreate(&stream));
  CHECK(hipStreamBeginCapture(stream, 0));
  CHECK(hipMemsetAsync(to, 0, BYTES, stream));
  CHECK(hipMemcpyAsync(to, device_a, BYTES, DEVICE_TO_DEVICE, stream));
  CHECK(hipStreamEndCapture(stream, &graph));
  CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
  for (int i = 0; i < ROUNDS; ++i) {
    for (int k = 0; k < COUNT; ++k) to[k] = 1;
    CHECK(hipGraphLaunch(exec, stream));
    CHECK(hipStreamSynchronize(stream));
    wrong += count_wrong("graph", to, 0);
  }
  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphDestroy(graph));
  CHECK(hipStreamDestroy(stream));
  CHECK(hipFree(to));
  return wrong;
}

// Rows that the GPU pads, there and back.
static int run_rows(void) {
  void* rows;
  size_t pitch;
  uint32_t back[COUNT] = {0};
  CHECK(hipMallocPitch(&rows, &pitch, ROW, ROWS));
  CHECK(hipMemcpy2D(rows, pitch, a, ROW, ROW, ROWS, HOST_TO_DEVICE));
  CHECK(hipMemcpy2D(back, ROW, rows, pitch, ROW, ROWS, DEVICE_TO_HOST));
  CHECK(hipFree(rows));
  return count_wrong("rows", back, 0);
}

int main(int argc, char** argv) {
  if (argc != 3) return fprintf(stderr, "softgpu_hip CODE_OBJECT KERNEL\n"), 2;
  load_hip();
  int devices = 0;
  void *module, *function;
  CHECK(hipGetDeviceCount(&devices));
  for (uint32_t i = 0; i < COUNT; ++i) a[i] = i * 2654435761u, b[i] = i ^ 0x55555555;
  CHECK(hipMalloc(&device_a, BYTES));
  CHECK(hipMalloc(&device_b, BYTES));
  CHECK(hipMemcpy(device_a, a, BYTES, HOST_TO_DEVICE));
  CHECK(hipMemcpy(device_b, b, BYTES, HOST_TO_DEVICE));
  CHECK(hipModuleLoadData(&module, read_file(argv[1])));
  CHECK(hipModuleGetFunction(&function, module, argv[2]));
  int wrong = run_plain(function) + run_streams(function) + run_graph() + run_rows();
  CHECK(hipModuleUnload(module));
  printf("%d devices, %d wrong\n", devices, wrong);
  return wrong != 0;
}
