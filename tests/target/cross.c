// Runs the command tables of static programs without a C library, for processors that there is an emulator of: what
// run_cross.py writes into cases.h says of each program what it dispatches on which bytes. Its results go to standard
// output, one program's after the other.
#include "iree/hal/local/executable_library.h"

typedef struct binding_t {
  uint32_t buffer;
  uint64_t offset, length;
} binding_t;

typedef struct command_t {
  int32_t entry;  // or -1: copy from the first binding to the second
  uint32_t workgroups[3];
  uint32_t constant_count, binding_count;
  const uint32_t* constants;
  const binding_t* bindings;
} command_t;

#include "cases.h"

#if defined(__aarch64__)
static long system_call(long number, long a, long b, long c) {
  register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
  return x0;
}
#else
static long system_call(long number, long a, long b, long c) {
  register long a7 __asm__("a7") = number, a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2) : "memory");
  return a0;
}
#endif
enum { SYSTEM_WRITE = 64, SYSTEM_EXIT = 93 };

// What compilers call by themselves.
void* memcpy(void* to, const void* from, size_t size) {
  for (size_t i = 0; i < size; ++i) ((volatile uint8_t*)to)[i] = ((const uint8_t*)from)[i];
  return to;
}
void* memset(void* to, int value, size_t size) {
  for (size_t i = 0; i < size; ++i) ((volatile uint8_t*)to)[i] = (uint8_t)value;
  return to;
}

static iree_hal_executable_environment_v0_t environment;
static _Alignas(4096) uint8_t local_memory[1 << 20];

static void dispatch(const iree_hal_executable_library_v0_t* library, const command_t* c) {
  void* pointers[64];
  size_t lengths[64];
  for (uint32_t i = 0; i < c->binding_count; ++i) {
    pointers[i] = buffers[c->bindings[i].buffer] + c->bindings[i].offset;
    lengths[i] = c->bindings[i].length;
  }
  if (c->entry < 0) {
    memcpy(pointers[1], pointers[0], lengths[0]);
    return;
  }
  const iree_hal_executable_dispatch_attrs_v0_t* attrs = &library->exports.attrs[c->entry];
  iree_hal_executable_dispatch_state_v0_t state = {
      .workgroup_size_x = attrs->workgroup_size_x,
      .workgroup_size_y = attrs->workgroup_size_y,
      .workgroup_size_z = attrs->workgroup_size_z,
      .constant_count = (uint16_t)c->constant_count,
      .workgroup_count_x = c->workgroups[0],
      .workgroup_count_y = c->workgroups[1],
      .workgroup_count_z = (uint16_t)c->workgroups[2],
      .binding_count = (uint8_t)c->binding_count,
      .constants = c->constants,
      .binding_ptrs = pointers,
      .binding_lengths = lengths,
  };
  for (uint32_t z = 0; z < c->workgroups[2]; ++z) {
    for (uint32_t y = 0; y < c->workgroups[1]; ++y) {
      for (uint32_t x = 0; x < c->workgroups[0]; ++x) {
        iree_hal_executable_workgroup_state_v0_t workgroup = {.workgroup_id_x = x,
                                                              .workgroup_id_y = y,
                                                              .workgroup_id_z = (uint16_t)z,
                                                              .local_memory = local_memory,
                                                              .local_memory_size = sizeof(local_memory)};
        if (library->exports.ptrs[c->entry](&environment, &state, &workgroup)) system_call(SYSTEM_EXIT, 2, 0, 0);
      }
    }
  }
}

void _start(void) {
  const iree_hal_executable_library_v0_t* library =
      (const iree_hal_executable_library_v0_t*)LIBRARY_QUERY(IREE_HAL_EXECUTABLE_LIBRARY_VERSION_LATEST, &environment);
  if (!library) system_call(SYSTEM_EXIT, 1, 0, 0);
  for (uint32_t i = 0; i < sizeof(commands) / sizeof(commands[0]); ++i) dispatch(library, &commands[i]);
  for (uint32_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); ++i) {
    for (uint64_t done = 0; done < outputs[i].length;) {
      long size =
          system_call(SYSTEM_WRITE, 1, (long)(buffers[outputs[i].buffer] + done), (long)(outputs[i].length - done));
      if (size <= 0) system_call(SYSTEM_EXIT, 3, 0, 0);
      done += (uint64_t)size;
    }
  }
  system_call(SYSTEM_EXIT, 0, 0, 0);
}
