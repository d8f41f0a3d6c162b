// What tests of the driver on the fake HSA share: its settings, host memory that is counted and may run out, a device.
#ifndef IREE_C_TESTS_HAL_AMDGPU_FAKE_PROGRAM_H_
#define IREE_C_TESTS_HAL_AMDGPU_FAKE_PROGRAM_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs the four above.
#include <cmocka.h>
#include <dlfcn.h>
#include <stdlib.h>

#include "fake_hsa.h"
#include "iree/hal/api.h"
#include "iree/hal/drivers/amdgpu/registration/driver_module.h"

#define FAKE_PATH HSA_FOLDERS "/fake_hsa/libhsa-runtime64.so"

static fake_hsa_t* fake;

// Makes the driver find the fake library. False, after a message, when there is none.
static inline bool load_fake(void) {
  setenv("IREE_HAL_AMDGPU_LIBHSA_PATH", FAKE_PATH, 1);
  void* library = dlopen(FAKE_PATH, RTLD_LAZY | RTLD_LOCAL);
  fake = library ? (fake_hsa_t*)dlsym(library, "fake_hsa") : NULL;
  if (!fake) fprintf(stderr, "%s\n", dlerror());
  return fake;
}

static inline void reset(void) {
  *fake = (fake_hsa_t){.cpu_count = 1, .gpu_count = 1, .has_memory = true, .code = HSA_STATUS_ERROR_OUT_OF_RESOURCES};
}

//===----------------------------------------------------------------------------------------------------------------===
// Host memory
//===----------------------------------------------------------------------------------------------------------------===

typedef struct memory_t {
  iree_atomic_int64_t live;   // blocks
  iree_atomic_int64_t calls;  // allocations
  int64_t limit;              // of calls; below 0: none
} memory_t;

static inline iree_status_t memory_ctl(void* self, iree_allocator_command_t command, const void* params,
                                       void** inout_ptr) {
  memory_t* memory = (memory_t*)self;
  bool frees = command == IREE_ALLOCATOR_COMMAND_FREE;
  bool had_block = (frees || command == IREE_ALLOCATOR_COMMAND_REALLOC) && *inout_ptr;
  if (!frees) {
    int64_t call = iree_atomic_fetch_add(&memory->calls, 1, iree_memory_order_relaxed);
    if (memory->limit >= 0 && call >= memory->limit) {
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "no host memory");
    }
  }
  IREE_RETURN_IF_ERROR(iree_allocator_libc_ctl(NULL, command, params, inout_ptr));
  iree_atomic_fetch_add(&memory->live, (frees ? 0 : 1) - (had_block ? 1 : 0), iree_memory_order_relaxed);
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// A program
//===----------------------------------------------------------------------------------------------------------------===

typedef struct program_t {
  iree_hal_device_t* device;
  iree_hal_semaphore_t* semaphore;
  iree_hal_buffer_t* buffer;
  iree_hal_buffer_t* transient;
  uint64_t value;
} program_t;

static inline iree_status_t wait(program_t* p) {
  return iree_hal_semaphore_wait(p->semaphore, p->value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
}

static inline iree_status_t use_host_memory(program_t* p) {
  static _Alignas(64) uint8_t memory[256];
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE,
                                     .usage = IREE_HAL_BUFFER_USAGE_TRANSFER};
  iree_hal_external_buffer_t external = {.type = IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION,
                                         .size = sizeof(memory),
                                         .handle.host_allocation = {memory}};
  iree_hal_buffer_t* buffer = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_allocator_import_buffer(iree_hal_device_allocator(p->device), params, &external,
                                                        iree_hal_buffer_release_callback_null(), &buffer));
  iree_hal_buffer_release(buffer);
  return iree_ok_status();
}

static inline iree_status_t open_device(program_t* p, iree_allocator_t allocator,
                                        iree_hal_driver_registry_t** out_registry) {
  IREE_RETURN_IF_ERROR(iree_hal_driver_registry_allocate(iree_allocator_system(), out_registry));
  IREE_RETURN_IF_ERROR(iree_hal_amdgpu_driver_module_register(*out_registry));
  iree_hal_device_create_params_t params = iree_hal_device_create_params_default();
  IREE_RETURN_IF_ERROR(iree_hal_create_device(*out_registry, IREE_SV("amdgpu"), &params, allocator, &p->device));
  return iree_hal_semaphore_create(p->device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_NONE,
                                   &p->semaphore);
}

static inline void close_device(program_t* p, iree_hal_driver_registry_t* registry) {
  iree_hal_buffer_release(p->transient);
  iree_hal_buffer_release(p->buffer);
  iree_hal_semaphore_release(p->semaphore);
  iree_hal_device_release(p->device);
  iree_hal_driver_registry_free(registry);
}

#endif  // IREE_C_TESTS_HAL_AMDGPU_FAKE_PROGRAM_H_
