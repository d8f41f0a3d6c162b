// A double of libamdhip64 of HIP 7 that runs what it is given: each call is one of the software NVIDIA GPU's libcuda,
// with HIP's names, numbers and layouts in front of it. So `hip` can be tested with what later libraries have, graphs
// and virtual memory, asynchronously; and with sanitizers, which know all of this code.
//
// Machine code for AMD GPUs is not run: whatever code object is loaded, its functions are those of DOUBLE_KERNELS, the
// same ones for NVIDIA GPUs.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INVALID_VALUE = 1, NO_DEVICE = 100, INVALID_IMAGE = 200, VERSION = 70051831 };
enum { NAME_OFFSET = 1160, HIP_LAUNCH_END = 3, CUDA_LAUNCH_END = 0 };

// HIP's functions by the names of the driver's rows, and libcuda's behind them.
#define ENTRY(name, parameters) typedef int name##_fn parameters;
#define TEXT(name) typedef const char* name##_fn(int status);
#include "hal/stream/entries.def"
#define SYMBOL(entry, text) entry##_fn double_##entry __asm__(text);
#define OPTIONAL(entry, text) SYMBOL(entry, text)
#include "hal/stream/hip.def"

static struct {
#define ENTRY(name, parameters) name##_fn* name;
#define TEXT(name) name##_fn* name;
#include "hal/stream/entries.def"
} cuda;

static char* kernels;  // PTX

static char* read_kernels(void) {
  enum { MOST = 1 << 20 };
  FILE* file = fopen(DOUBLE_KERNELS, "rb");
  char* text = file ? (char*)calloc(1, MOST + 1) : NULL;
  if (text && fread(text, 1, MOST, file) == 0) text[0] = 0;
  if (file) fclose(file);
  return text;
}

// Devices are made one at a time.
int double_init(unsigned flags) {
  void* library = kernels ? NULL : dlopen("libcuda.so.1", RTLD_NOW);
  if (!kernels) {
    if (!library) return NO_DEVICE;
#define SYMBOL(entry, text)                      \
  *(void**)(&cuda.entry) = dlsym(library, text); \
  if (!cuda.entry) return NO_DEVICE;
#define OPTIONAL(entry, text) SYMBOL(entry, text)
#include "hal/stream/cuda.def"
    kernels = read_kernels();
  }
  return kernels ? cuda.init(flags) : NO_DEVICE;
}

//===----------------------------------------------------------------------------------------------------------------===
// What differs
//===----------------------------------------------------------------------------------------------------------------===

const char* double_name_of_error(int status) {
  const char* text = NULL;
  return cuda.error_name(status, &text) ? "hipErrorUnknown" : text;
}

const char* double_text_of_error(int status) {
  const char* text = NULL;
  return cuda.error_text(status, &text) ? "unknown error" : text;
}

int double_driver_version(int* out) {
  *out = VERSION;
  return 0;
}

// Several of CUDA's facts may be one of HIP's: the first.
int double_device_attribute(int* out, int attribute, int device) {
  static const struct {
    int cuda, hip;
  } rows[] = {
#define ATTRIBUTE(name, cuda, hip) {cuda, hip},
#include "hal/stream/attributes.def"
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    if (rows[i].hip == attribute) return cuda.device_attribute(out, rows[i].cuda, device);
  }
  return INVALID_VALUE;
}

int double_device_properties_6(void* out, int device) {
  strcpy((char*)out + NAME_OFFSET, "gfx90a:sramecc+:xnack-");
  return 0;
}

int double_module_load(void** out, const void* image, unsigned count, const int* options, void** values) {
  if (memcmp(image,
             "\x7f"
             "ELF",
             4))
    return INVALID_IMAGE;
  return cuda.module_load(out, kernels, 0, NULL, NULL);
}

// OpenCL C cannot name a function as it likes: `constant` has `_` behind it.
int double_module_function(void** out, void* module, const char* name) {
  char other[64];
  snprintf(other, sizeof(other), "%s_", name);
  return cuda.module_function(out, module, name) ? cuda.module_function(out, module, other) : 0;
}

// The arguments in one piece, as CUDA is told of them.
static int translate(void** extra, void* out[5]) {
  if (!extra) return 0;
  memcpy(out, extra, 4 * sizeof(*out));
  out[4] = (void*)(uintptr_t)CUDA_LAUNCH_END;
  return extra[4] == (void*)(uintptr_t)HIP_LAUNCH_END ? 0 : INVALID_VALUE;
}

#define WITH_LIST(name, parameters, arguments)                           \
  int double_##name parameters {                                         \
    void* list[5];                                                       \
    return translate(extra, list) ? INVALID_VALUE : cuda.name arguments; \
  }
WITH_LIST(launch,
          (void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
           unsigned block_z, unsigned memory, void* stream, void** parameters, void** extra),
          (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, memory, stream, parameters,
           extra ? list : NULL))

// hipKernelNodeParams, and CUDA_KERNEL_NODE_PARAMS_v1.
typedef struct hip_kernel_t {
  unsigned block[3];
  void** extra;
  void* function;
  unsigned grid[3];
  void** parameters;
  unsigned memory;
} hip_kernel_t;
typedef struct cuda_kernel_t {
  void* function;
  unsigned grid[3], block[3], memory;
  void** parameters;
  void** extra;
} cuda_kernel_t;

int double_graph_set_kernel(void* executable, void* node, const void* parameters) {
  const hip_kernel_t* hip = (const hip_kernel_t*)parameters;
  void* list[5];
  if (translate(hip->extra, list)) return INVALID_VALUE;
  cuda_kernel_t kernel = {.function = hip->function,
                          .grid = {hip->grid[0], hip->grid[1], hip->grid[2]},
                          .block = {hip->block[0], hip->block[1], hip->block[2]},
                          .memory = hip->memory,
                          .parameters = hip->parameters,
                          .extra = hip->extra ? list : NULL};
  return cuda.graph_set_kernel(executable, node, &kernel);
}

//===----------------------------------------------------------------------------------------------------------------===
// What is the same
//===----------------------------------------------------------------------------------------------------------------===

#define SAME(name, parameters, arguments) \
  int double_##name parameters { return cuda.name arguments; }

SAME(device_count, (int* out), (out))
SAME(device_get, (int* out, int ordinal), (out, ordinal))
SAME(device_name, (char* out, int capacity, int device), (out, capacity, device))
SAME(device_uuid, (uint8_t out[16], int device), (out, device))
SAME(device_memory, (size_t* out, int device), (out, device))
SAME(device_can_access, (int* out, int device, int peer), (out, device, peer))
int double_device_link(int device, int peer, uint32_t* type, uint32_t* hops) {
  enum { NATIVE_ATOMICS = 3, PCIE = 2, XGMI = 4 };
  int has_atomics = 0;
  *hops = 1;
  int result = cuda.device_peer_attribute(&has_atomics, NATIVE_ATOMICS, device, peer);
  *type = has_atomics ? XGMI : PCIE;
  return result;
}
SAME(context_retain, (void** out, int device), (out, device))
SAME(context_release, (int device), (device))
SAME(context_set, (void* context), (context))
SAME(context_get, (void** out), (out))
SAME(context_synchronize, (void), ())
SAME(context_enable_access, (void* peer, unsigned flags), (peer, flags))
SAME(memory_allocate, (uint64_t* out, size_t size), (out, size))
SAME(memory_allocate_managed, (uint64_t* out, size_t size, unsigned flags), (out, size, flags))
SAME(memory_free, (uint64_t address), (address))
SAME(host_allocate, (void** out, size_t size, unsigned flags), (out, size, flags))
SAME(host_free, (void* host), (host))
SAME(host_register, (void* host, size_t size, unsigned flags), (host, size, flags))
SAME(host_unregister, (void* host), (host))
SAME(host_address, (uint64_t* out, void* host, unsigned flags), (out, host, flags))
SAME(virtual_reserve, (uint64_t* out, size_t size, size_t alignment, uint64_t hint, unsigned long long flags),
     (out, size, alignment, hint, flags))
SAME(virtual_free, (uint64_t address, size_t size), (address, size))
SAME(virtual_granularity, (size_t* out, const void* physical, int option), (out, physical, option))
SAME(physical_create, (uint64_t* out, size_t size, const void* physical, unsigned long long flags),
     (out, size, physical, flags))
SAME(physical_release, (uint64_t handle), (handle))
SAME(virtual_map, (uint64_t address, size_t size, size_t offset, uint64_t handle, unsigned long long flags),
     (address, size, offset, handle, flags))
SAME(virtual_unmap, (uint64_t address, size_t size), (address, size))
SAME(virtual_set_access, (uint64_t address, size_t size, const void* accesses, size_t count),
     (address, size, accesses, count))
SAME(module_unload, (void* module), (module))
SAME(stream_create, (void** out, unsigned flags), (out, flags))
SAME(stream_destroy, (void* stream), (stream))
SAME(stream_wait, (void* stream, void* event, unsigned flags), (stream, event, flags))
SAME(stream_synchronize, (void* stream), (stream))
SAME(stream_query, (void* stream), (stream))
SAME(stream_callback, (void* stream, void (*call)(void* stream, int status, void* data), void* data, unsigned flags),
     (stream, call, data, flags))
SAME(event_create, (void** out, unsigned flags), (out, flags))
SAME(event_destroy, (void* event), (event))
SAME(event_record, (void* event, void* stream), (event, stream))
SAME(event_query, (void* event), (event))
SAME(event_synchronize, (void* event), (event))
SAME(event_elapsed, (float* out, void* begin, void* end), (out, begin, end))
SAME(capture_begin, (void* stream, int mode), (stream, mode))
SAME(capture_end, (void* stream, void** out), (stream, out))
SAME(capture_info, (void* stream, int* state, uint64_t* id, void** graph, void* const** nodes, size_t* count),
     (stream, state, id, graph, nodes, count))
SAME(graph_destroy, (void* graph), (graph))
SAME(graph_instantiate, (void** out, void* graph, unsigned long long flags), (out, graph, flags))
SAME(graph_executable_destroy, (void* executable), (executable))
SAME(graph_launch, (void* executable, void* stream), (executable, stream))
SAME(copy, (uint64_t target, uint64_t source, size_t size, void* stream), (target, source, size, stream))
SAME(copy_from_host, (uint64_t target, const void* source, size_t size, void* stream), (target, source, size, stream))
SAME(copy_to_host, (void* target, uint64_t source, size_t size, void* stream), (target, source, size, stream))
SAME(fill_8, (uint64_t target, uint8_t value, size_t count, void* stream), (target, value, count, stream))
SAME(fill_16, (uint64_t target, uint16_t value, size_t count, void* stream), (target, value, count, stream))
SAME(fill_32, (uint64_t target, int value, size_t count, void* stream), (target, value, count, stream))
