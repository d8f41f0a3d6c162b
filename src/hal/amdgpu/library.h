// The device library: kernels of this driver's own, one code object for each instruction set, embedded in the runtime.
#ifndef IREE_C_HAL_AMDGPU_LIBRARY_H_
#define IREE_C_HAL_AMDGPU_LIBRARY_H_

#include "hal/amdgpu/system.h"

// BUILTIN(name, element size): kernels of device/blit.c
#define LIBRARY_BUILTINS(BUILTIN) \
  BUILTIN(fill_x1, 1)             \
  BUILTIN(fill_x4, 4)             \
  BUILTIN(fill_x16, 16)           \
  BUILTIN(copy_x1, 1)             \
  BUILTIN(copy_x4, 4)             \
  BUILTIN(copy_x16, 16)
typedef enum {
#define BUILTIN(name, element_size) LIBRARY_##name,
  LIBRARY_BUILTINS(BUILTIN)
#undef BUILTIN
      LIBRARY_BUILTIN_COUNT,
} library_builtin_t;

#define LIBRARY_GROUP_SIZE 256    // work-items of a workgroup
#define LIBRARY_ARGUMENT_SIZE 32  // bytes: four 64-bit words

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
