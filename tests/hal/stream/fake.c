// A double of libcuda (FAKE_CUDA), of libamdhip64 of HIP 7, or of HIP 5 (FAKE_OLD_HIP), whose entry points fail when
// they are told to. Streams do at once what they are given, in memory of the host; kernels and graphs do nothing. It
// counts what was made and not given back. Symbols are those that the drivers ask for.
#include "fake.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef FAKE_CUDA
#define SYMBOLS "hal/stream/cuda.def"
enum { VERSION = 12090 };
#else
#define SYMBOLS "hal/stream/hip.def"
#ifdef FAKE_OLD_HIP
enum { VERSION = 50221153, NAME_OFFSET = 396 };
#else
enum { VERSION = 70051831, NAME_OFFSET = 1160 };
#endif
#endif

// The functions are named as the rows are, and exported as the library calls them. HIP 5 has no R0600, and no virtual
// memory.
#define ENTRY(name, parameters) typedef int name##_fn parameters;
#define TEXT(name) typedef const char* name##_fn(int status);
#include "hal/stream/entries.def"
#ifdef FAKE_OLD_HIP
#define HIDDEN(name, text) __attribute__((visibility("hidden"))) name##_fn fake_##name __asm__(text);
HIDDEN(device_properties_6, "hipGetDevicePropertiesR0600")
HIDDEN(virtual_granularity, "hipMemGetAllocationGranularity")
#endif
#define SYMBOL(entry, text) entry##_fn fake_##entry __asm__(text);
#define OPTIONAL(entry, text) SYMBOL(entry, text)
#include SYMBOLS

static struct {
  char symbol[64];
  int from, until;  // its calls that fail
  long live;
} fake;

typedef enum {
#define ENTRY(name, parameters) CALL_##name,
#define TEXT(name) CALL_##name,
#include "hal/stream/entries.def"
  CALL_COUNT,
} call_t;
static const char* const texts[CALL_COUNT] = {
#define SYMBOL(entry, text) [CALL_##entry] = text,
#define OPTIONAL(entry, text) SYMBOL(entry, text)
#include SYMBOLS
};
static int calls[CALL_COUNT];
static long dependencies;

static void fail(const char* symbol, int from, int until) {
  snprintf(fake.symbol, sizeof(fake.symbol), "%s", symbol);
  fake.from = from;
  fake.until = until;
  memset(calls, 0, sizeof(calls));
  dependencies = 0;
}

static int count_calls(const char* symbol) {
  for (int i = 0; i < CALL_COUNT; ++i) {
    if (texts[i] && strcmp(texts[i], symbol) == 0) return __atomic_load_n(&calls[i], __ATOMIC_RELAXED);
  }
  return 0;
}

static int count_all(void) {
  int sum = 0;
  for (int i = 0; i < CALL_COUNT; ++i) sum += __atomic_load_n(&calls[i], __ATOMIC_RELAXED);
  return sum;
}

static long count_live(void) { return __atomic_load_n(&fake.live, __ATOMIC_RELAXED); }

static long count_dependencies(void) { return dependencies; }

const fake_t fake_library = {fail, count_calls, count_all, count_dependencies, count_live};

static int fails(call_t call) {
  int number = __atomic_add_fetch(&calls[call], 1, __ATOMIC_RELAXED);
  return texts[call] && strcmp(texts[call], fake.symbol) == 0 && number >= fake.from && number <= fake.until;
}

static void count(long change) { __atomic_fetch_add(&fake.live, change, __ATOMIC_RELAXED); }

static int make(void** out, size_t size) {
  *out = aligned_alloc(4096, (size + 4095) / 4096 * 4096 + 4096);
  count(1);
  return 0;
}

static int make_at(uint64_t* out, size_t size) {
  void* memory = NULL;
  make(&memory, size);
  *out = (uint64_t)(uintptr_t)memory;
  return 0;
}

static int drop(void* object) {
  free(object);
  count(-1);
  return 0;
}

// Where it fails the memory counts as there, but is not: it would be much together.
static int drop_memory(call_t call, void* memory) {
  bool is_failing = fails(call);
  free(memory);
  if (!is_failing) count(-1);
  return is_failing ? FAKE_ERROR : 0;
}

static int put(int* out, int value) {
  *out = value;
  return 0;
}

static int put_pointer(void** out, void* value) {
  *out = value;
  return 0;
}

static int copy_bytes(void* target, const void* source, size_t size) {
  memmove(target, source, size);
  return 0;
}

static int fill(uint64_t target, const void* value, size_t size, size_t times) {
  for (size_t i = 0; i < times; ++i) memcpy((char*)(uintptr_t)target + i * size, value, size);
  return 0;
}

static int say(void* out, size_t at, const char* text) {
  strcpy((char*)out + at, text);
  return 0;
}

// Memory and concurrent access by their numbers in the two lists; the capability is 9.0.
static int attribute(int* out, int number) {
#ifdef FAKE_CUDA
  enum { UNIFIED_ACCESS = 89, SHARED_MEMORY = 97, MAJOR = 75, MINOR = 76 };
  if (number == MAJOR || number == MINOR) return put(out, number == MAJOR ? 9 : 0);
#else
  enum { UNIFIED_ACCESS = 9, SHARED_MEMORY = 74 };
#endif
  return put(out, number == SHARED_MEMORY ? 65536 : number == UNIFIED_ACCESS ? 1 : 16);
}

// The thread sanitizer takes other models of a library that is opened for something else.
static _Thread_local void* current_context __attribute__((tls_model("initial-exec")));

static int set_context(void* context) {
  current_context = context;
  return 0;
}

// Physical memory is a file, whose handle is its descriptor and one; addresses without any are nobody's to use.
enum { PAGE = 1 << 16 };

static int occupy(uint64_t address, size_t size, uint64_t* out) {
  void* at = (void*)(uintptr_t)address;
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0);
  void* mapped = mmap(at, size, PROT_NONE, flags, -1, 0);
  if (out) *out = (uint64_t)(uintptr_t)mapped;
  return mapped == MAP_FAILED ? FAKE_ERROR : 0;
}

static int reserve(uint64_t* out, size_t size) {
  count(1);
  return occupy(0, size, out);
}

static int drop_reserved(uint64_t address, size_t size) {
  count(-1);
  return munmap((void*)(uintptr_t)address, size);
}

static int make_physical(uint64_t* out, size_t size) {
  int file = memfd_create("fake", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, (off_t)size)) return FAKE_ERROR;
  *out = (uint64_t)file + 1;
  count(1);
  return 0;
}

static int drop_physical(uint64_t handle) {
  count(-1);
  return close((int)handle - 1);
}

static int map(uint64_t address, size_t size, uint64_t handle) {
  int file = (int)handle - 1;
  void* at = mmap((void*)(uintptr_t)address, size, PROT_NONE, MAP_FIXED | MAP_SHARED, file, 0);
  return at == MAP_FAILED ? FAKE_ERROR : 0;
}

// CUmemAccessDesc: of each GPU, of which the host is all.
typedef struct access_t {
  int type, device, flags;
} access_t;

static int protect(uint64_t address, size_t size, const access_t* accesses) {
  int flags = accesses[0].flags;
  return mprotect((void*)(uintptr_t)address, size, (flags & 1 ? PROT_READ : 0) | (flags & 2 ? PROT_WRITE : 0));
}

static int call_back(void (*call)(void* stream, int status, void* data), void* stream, void* data) {
  call(stream, 0, data);
  return 0;
}

// Another node after each call.
static int tell_capture(void* const** nodes, size_t* times) {
  static uintptr_t number;
  static void* last[1];
  last[0] = (void*)++number;
  *nodes = last;
  *times = 1;
  return 0;
}

static int depend(size_t count) {
  dependencies += (long)count;
  return 0;
}

// CALL(name, (parameters), what it does when it does not fail)
#define CALL(name, parameters, work) \
  int fake_##name parameters { return fails(CALL_##name) ? FAKE_ERROR : (work); }

CALL(error_name, (int status, const char** out), (*out = "ERROR_OUT_OF_MEMORY", 0))
CALL(error_text, (int status, const char** out), (*out = "as it was told", 0))
const char* fake_name_of_error(int status) { return "hipErrorOutOfMemory"; }
const char* fake_text_of_error(int status) { return "as it was told"; }
CALL(init, (unsigned flags), 0)
CALL(driver_version, (int* out), put(out, VERSION))
CALL(device_count, (int* out), put(out, 2))
CALL(device_get, (int* out, int ordinal), put(out, ordinal))
CALL(device_name, (char* out, int capacity, int device), say(out, 0, "Double"))
CALL(device_uuid, (uint8_t out[16], int device), (memset(out, 0x10 + device, 16), 0))
CALL(device_attribute, (int* out, int number, int device), attribute(out, number))
CALL(device_memory, (size_t* out, int device), (*out = 1u << 30, 0))
#ifndef FAKE_CUDA
CALL(device_properties_6, (void* out, int device), say(out, 1160, FAKE_HIP_ARCHITECTURE))
CALL(device_properties, (void* out, int device), say(out, NAME_OFFSET == 396 ? 396 : 1160, FAKE_HIP_ARCHITECTURE))
#endif
CALL(device_can_access, (int* out, int device, int peer), put(out, 1))
#ifdef FAKE_CUDA
CALL(device_peer_attribute, (int* out, int number, int device, int peer), put(out, number == 3))  // native atomics
#else
CALL(device_link, (int device, int peer, uint32_t* type, uint32_t* hops), (*type = 4, *hops = 1, 0))  // xGMI
#endif
CALL(context_retain, (void** out, int device), (count(1), put_pointer(out, (char*)&fake + device)))
CALL(context_release, (int device), (count(-1), 0))
CALL(context_set, (void* context), set_context(context))
CALL(context_get, (void** out), put_pointer(out, current_context))
CALL(context_synchronize, (void), 0)
CALL(context_enable_access, (void* peer, unsigned flags), 0)
CALL(memory_allocate, (uint64_t* out, size_t size), make_at(out, size))
CALL(memory_allocate_managed, (uint64_t* out, size_t size, unsigned flags), make_at(out, size))
int fake_memory_free(uint64_t address) { return drop_memory(CALL_memory_free, (void*)(uintptr_t)address); }
CALL(host_allocate, (void** out, size_t size, unsigned flags), make(out, size))
int fake_host_free(void* memory) { return drop_memory(CALL_host_free, memory); }
CALL(host_register, (void* host, size_t size, unsigned flags), (count(1), 0))
CALL(host_unregister, (void* host), (count(-1), 0))
CALL(host_address, (uint64_t* out, void* host, unsigned flags), (*out = (uint64_t)(uintptr_t)host, 0))
CALL(virtual_reserve, (uint64_t* out, size_t size, size_t alignment, uint64_t hint, unsigned long long flags),
     reserve(out, size))
CALL(virtual_free, (uint64_t address, size_t size), drop_reserved(address, size))
CALL(virtual_granularity, (size_t* out, const void* physical, int option), (*out = PAGE, 0))
CALL(physical_create, (uint64_t* out, size_t size, const void* physical, unsigned long long flags),
     make_physical(out, size))
CALL(physical_release, (uint64_t handle), drop_physical(handle))
CALL(virtual_map, (uint64_t address, size_t size, size_t offset, uint64_t handle, unsigned long long flags),
     map(address, size, handle))
CALL(virtual_unmap, (uint64_t address, size_t size), occupy(address, size, NULL))
CALL(virtual_set_access, (uint64_t address, size_t size, const void* accesses, size_t times),
     protect(address, size, (const access_t*)accesses))
CALL(module_load, (void** out, const void* image, unsigned option_count, const int* options, void** values),
     make(out, 1))
CALL(link_create, (unsigned option_count, int* options, void** values, void** out), make(out, 1))
CALL(link_add,
     (void* link, int type, void* data, size_t size, const char* name, unsigned option_count, int* options,
      void** values),
     0)
CALL(link_complete, (void* link, void** out, size_t* size), (*out = link, *size = 1, 0))
CALL(link_destroy, (void* link), drop(link))
CALL(module_unload, (void* module), drop(module))
CALL(module_function, (void** out, void* module, const char* name), put_pointer(out, module))
CALL(function_attribute, (int* out, int number, void* function), put(out, 256))
CALL(function_set_attribute, (void* function, int number, int value), 0)
CALL(stream_create, (void** out, unsigned flags), make(out, 1))
CALL(stream_destroy, (void* stream), drop(stream))
CALL(stream_wait, (void* stream, void* event, unsigned flags), 0)
CALL(stream_synchronize, (void* stream), 0)
CALL(stream_query, (void* stream), 0)
CALL(stream_callback, (void* stream, void (*call)(void* stream, int status, void* data), void* data, unsigned flags),
     call_back(call, stream, data))
CALL(event_create, (void** out, unsigned flags), make(out, 1))
CALL(event_destroy, (void* event), drop(event))
CALL(event_record, (void* event, void* stream), 0)
CALL(event_query, (void* event), 0)
CALL(event_synchronize, (void* event), 0)
CALL(event_elapsed, (float* out, void* begin, void* end), (*out = 0.25f, 0))
CALL(capture_begin, (void* stream, int mode), 0)
CALL(capture_end, (void* stream, void** out), make(out, 1))
CALL(capture_info, (void* stream, int* state, uint64_t* id, void** graph, void* const** nodes, size_t* times),
     tell_capture(nodes, times))
CALL(capture_depend, (void* stream, void* const* nodes, size_t count, unsigned flags), depend(count))
CALL(graph_set_kernel, (void* executable, void* node, const void* parameters), !node)
CALL(graph_destroy, (void* graph), drop(graph))
CALL(graph_instantiate, (void** out, void* graph, unsigned long long flags), make(out, 1))
CALL(graph_executable_destroy, (void* executable), drop(executable))
CALL(graph_launch, (void* executable, void* stream), 0)
CALL(launch,
     (void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned memory,
      void* stream, void** parameters, void** extra),
     0)
#ifdef FAKE_CUDA
CALL(launch_with, (const void* config, void* function, void** parameters, void** extra), 0)
#endif
CALL(copy, (uint64_t target, uint64_t source, size_t size, void* stream),
     copy_bytes((void*)(uintptr_t)target, (const void*)(uintptr_t)source, size))
CALL(copy_from_host, (uint64_t target, const void* source, size_t size, void* stream),
     copy_bytes((void*)(uintptr_t)target, source, size))
CALL(copy_to_host, (void* target, uint64_t source, size_t size, void* stream),
     copy_bytes(target, (const void*)(uintptr_t)source, size))
CALL(fill_8, (uint64_t target, uint8_t value, size_t times, void* stream), fill(target, &value, 1, times))
CALL(fill_16, (uint64_t target, uint16_t value, size_t times, void* stream), fill(target, &value, 2, times))
CALL(fill_32, (uint64_t target, int value, size_t times, void* stream), fill(target, &value, 4, times))
