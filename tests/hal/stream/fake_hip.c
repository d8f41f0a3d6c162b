// A double of libamdhip64 whose entry points fail when they are told to. Streams do at once what they are given, in
// memory of the host; kernels do nothing. It counts what was made and not given back.
#include "fake_hip.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static struct {
  char symbol[64];
  int from, until;  // its calls that fail
  int calls;
  long live;
} fake;

EXPORT void fake_hip_fail(const char* symbol, int from, int until) {
  snprintf(fake.symbol, sizeof(fake.symbol), "%s", symbol);
  fake.from = from;
  fake.until = until;
  fake.calls = 0;
}
EXPORT int fake_hip_calls(void) { return __atomic_load_n(&fake.calls, __ATOMIC_RELAXED); }
EXPORT long fake_hip_live(void) { return __atomic_load_n(&fake.live, __ATOMIC_RELAXED); }

static int fails(const char* symbol) {
  if (strcmp(symbol, fake.symbol) != 0) return 0;
  int call = __atomic_add_fetch(&fake.calls, 1, __ATOMIC_RELAXED);
  return call >= fake.from && call <= fake.until;
}

static void count(long change) { __atomic_fetch_add(&fake.live, change, __ATOMIC_RELAXED); }

static int make(void** out, size_t size) {
  *out = aligned_alloc(4096, (size + 4095) / 4096 * 4096 + 4096);
  count(1);
  return 0;
}

static int drop(void* object) {
  free(object);
  count(-1);
  return 0;
}

static int put(int* out, int value) {
  *out = value;
  return 0;
}

static int copy_bytes(uint64_t target, const void* source, size_t size) {
  memmove((void*)(uintptr_t)target, source, size);
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

static int attribute(int* out, int number) {
  enum { UNIFIED_ACCESS = 9, SHARED_MEMORY = 74 };
  return put(out, number == SHARED_MEMORY ? 65536 : number == UNIFIED_ACCESS ? 1 : 16);
}

// CALL(symbol, (parameters), what it does when it does not fail)
#define CALL(symbol, parameters, work) \
  EXPORT int symbol parameters { return fails(#symbol) ? FAKE_HIP_ERROR : (work); }

EXPORT const char* hipGetErrorName(int status) { return "hipErrorOutOfMemory"; }
EXPORT const char* hipGetErrorString(int status) { return "as it was told"; }
CALL(hipInit, (unsigned flags), 0)
CALL(hipDriverGetVersion, (int* out), put(out, 60443483))
CALL(hipGetDeviceCount, (int* out), put(out, 2))
CALL(hipDeviceGet, (int* out, int ordinal), put(out, ordinal))
CALL(hipDeviceGetName, (char* out, int capacity, int device), say(out, 0, "Double"))
CALL(hipDeviceGetUuid, (uint8_t* out, int device), (memset(out, 0x10 + device, 16), 0))
CALL(hipDeviceGetAttribute, (int* out, int number, int device), attribute(out, number))
CALL(hipDeviceTotalMem, (size_t* out, int device), (*out = 1u << 30, 0))
CALL(hipGetDevicePropertiesR0600, (void* out, int device), say(out, 1160, FAKE_HIP_ARCHITECTURE))
CALL(hipDeviceCanAccessPeer, (int* out, int device, int peer), put(out, 1))
CALL(hipDevicePrimaryCtxRetain, (void** out, int device), (*out = &fake, count(1), 0))
CALL(hipDevicePrimaryCtxRelease, (int device), (count(-1), 0))
CALL(hipCtxSetCurrent, (void* context), 0)
CALL(hipCtxEnablePeerAccess, (void* peer, unsigned flags), 0)
CALL(hipMalloc, (void** out, size_t size), make(out, size))
CALL(hipMallocManaged, (void** out, size_t size, unsigned flags), make(out, size))
CALL(hipFree, (void* memory), drop(memory))
CALL(hipHostMalloc, (void** out, size_t size, unsigned flags), make(out, size))
CALL(hipHostFree, (void* memory), drop(memory))
CALL(hipHostRegister, (void* host, size_t size, unsigned flags), (count(1), 0))
CALL(hipHostUnregister, (void* host), (count(-1), 0))
CALL(hipHostGetDevicePointer, (void** out, void* host, unsigned flags), (*out = host, 0))
CALL(hipModuleLoadDataEx, (void** out, const void* image, unsigned count, const int* options, void** values),
     make(out, 1))
CALL(hipModuleUnload, (void* module), drop(module))
CALL(hipModuleGetFunction, (void** out, void* module, const char* name), (*out = module, 0))
CALL(hipStreamCreateWithFlags, (void** out, unsigned flags), make(out, 1))
CALL(hipStreamDestroy, (void* stream), drop(stream))
CALL(hipStreamWaitEvent, (void* stream, void* event, unsigned flags), 0)
CALL(hipStreamSynchronize, (void* stream), 0)
CALL(hipEventCreateWithFlags, (void** out, unsigned flags), make(out, 1))
CALL(hipEventDestroy, (void* event), drop(event))
CALL(hipEventRecord, (void* event, void* stream), 0)
CALL(hipEventSynchronize, (void* event), 0)
CALL(hipModuleLaunchKernel,
     (void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned memory,
      void* stream, void** parameters, void** extra),
     0)
CALL(hipMemcpyDtoDAsync, (uint64_t target, uint64_t source, size_t size, void* stream),
     copy_bytes(target, (const void*)(uintptr_t)source, size))
CALL(hipMemcpyHtoDAsync, (uint64_t target, const void* source, size_t size, void* stream),
     copy_bytes(target, source, size))
CALL(hipMemsetD8Async, (uint64_t target, uint8_t value, size_t times, void* stream), fill(target, &value, 1, times))
CALL(hipMemsetD16Async, (uint64_t target, uint16_t value, size_t times, void* stream), fill(target, &value, 2, times))
CALL(hipMemsetD32Async, (uint64_t target, int value, size_t times, void* stream), fill(target, &value, 4, times))
