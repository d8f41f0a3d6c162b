// A HIP program on the software GPU, through Debian's libamdhip64: copies, loads a code object, launches, checks.
//
//   softgpu_hip CODE_OBJECT KERNEL: a kernel add_u32(const u32* a, const u32* b, u32* out, int n)
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 300, GROUP = 64, HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2 };

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
  FUNCTION(hipModuleUnload, (void* module))
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

int main(int argc, char** argv) {
  if (argc != 3) return fprintf(stderr, "softgpu_hip CODE_OBJECT KERNEL\n"), 2;
  load_hip();
  int devices = 0, n = COUNT;
  CHECK(hipGetDeviceCount(&devices));
  uint32_t a[COUNT], b[COUNT], sum[COUNT] = {0};
  for (uint32_t i = 0; i < COUNT; ++i) a[i] = i * 2654435761u, b[i] = i ^ 0x55555555;
  void *da, *db, *out, *module, *function;
  CHECK(hipMalloc(&da, sizeof(a)));
  CHECK(hipMalloc(&db, sizeof(b)));
  CHECK(hipMalloc(&out, sizeof(sum)));
  CHECK(hipMemcpy(da, a, sizeof(a), HOST_TO_DEVICE));
  CHECK(hipMemcpy(db, b, sizeof(b), HOST_TO_DEVICE));
  CHECK(hipModuleLoadData(&module, read_file(argv[1])));
  CHECK(hipModuleGetFunction(&function, module, argv[2]));
  void* arguments[] = {&da, &db, &out, &n};
  CHECK(hipModuleLaunchKernel(function, (COUNT + GROUP - 1) / GROUP, 1, 1, GROUP, 1, 1, 0, NULL, arguments, NULL));
  CHECK(hipDeviceSynchronize());
  CHECK(hipMemcpy(sum, out, sizeof(sum), DEVICE_TO_HOST));
  int wrong = 0;
  for (uint32_t i = 0; i < COUNT; ++i) wrong += sum[i] != a[i] + b[i];
  CHECK(hipModuleUnload(module));
  CHECK(hipFree(out));
  printf("%d devices, %d of %d sums wrong\n", devices, wrong, COUNT);
  return wrong != 0;
}
