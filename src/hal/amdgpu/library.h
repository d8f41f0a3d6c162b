// The device library: kernels of this driver's own, one code object for each instruction set, embedded in the runtime.
#ifndef IREE_C_HAL_AMDGPU_LIBRARY_H_
#define IREE_C_HAL_AMDGPU_LIBRARY_H_

#include "hal/amdgpu/system.h"

// BUILTIN(name): kernels of device/
#define LIBRARY_BUILTINS(BUILTIN) BUILTIN(fill) BUILTIN(copy) BUILTIN(patch_grid)
typedef enum {
#define BUILTIN(name) LIBRARY_##name,
  LIBRARY_BUILTINS(BUILTIN)
#undef BUILTIN
      LIBRARY_BUILTIN_COUNT,
} library_builtin_t;

#define LIBRARY_ARGUMENT_SIZE 48  // bytes, at most

// Arguments of fills and copies.
typedef struct library_blit_t {
  uint64_t target;
  uint64_t length;      // bytes
  uint64_t item_count;  // work-items of the grid
  uint32_t head;        // bytes before the target's first word of 16
  uint32_t group_size;  // work-items of a workgroup, 16 to 256
  union {
    uint8_t pattern[16];  // from the first word on
    uint64_t source;
  };
} library_blit_t;
_Static_assert(sizeof(library_blit_t) == LIBRARY_ARGUMENT_SIZE, "as device/blit.c has them");

// Arguments of patch_grid: the packet, whose workgroup size is set, gets its grid and then its first word.
typedef struct library_patch_t {
  uint64_t packet;
  uint64_t counts;     // three 32-bit words
  uint64_t kernargs;   // of the packet's kernel
  uint64_t verdict;    // a word that becomes 1 when the grid is too large
  uint16_t hidden[4];  // offsets of the kernel's arguments that are the counts; 0xFFFF: none
  uint32_t head;
  uint32_t unused;
} library_patch_t;
_Static_assert(sizeof(library_patch_t) == LIBRARY_ARGUMENT_SIZE, "as device/dispatch.c has them");

// A loaded kernel, as dispatch packets name it.
typedef struct kernel_object_t {
  uint64_t handle;
  uint32_t group_size;    // bytes of workgroup memory
  uint32_t private_size;  // bytes of scratch of a work-item
  uint32_t kernarg_size;
} kernel_object_t;

// Loads a code object for one GPU. `options` of HSA's loader are not used.
iree_status_t library_load_code(const libhsa_t* hsa, hsa_agent_t agent, iree_const_byte_span_t code,
                                hsa_executable_t* out_executable);
// Errors: NOT_FOUND. `symbol` is the descriptor's ("name.kd").
iree_status_t library_find_kernel(const libhsa_t* hsa, hsa_executable_t executable, hsa_agent_t agent,
                                  const char* symbol, kernel_object_t* out_kernel);

typedef struct library_t {
  hsa_executable_t executable;
  kernel_object_t kernels[LIBRARY_BUILTIN_COUNT];
} library_t;

// The code object for a device: of exactly its target, else of the generic one. Errors: UNAVAILABLE, with what there
// is.
iree_status_t library_select(const target_id_t* device, iree_const_byte_span_t* out_code);
iree_status_t library_create(const libhsa_t* hsa, const system_gpu_t* gpu, library_t* out_library);
// The name of a builtin; NULL when the handle is of none.
const char* library_kernel_name(const library_t* library, uint64_t handle);
void library_destroy(const libhsa_t* hsa, library_t* library);

#endif  // IREE_C_HAL_AMDGPU_LIBRARY_H_
