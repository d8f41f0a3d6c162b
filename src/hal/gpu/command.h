// Commands: what recordings and single queue operations are lowered to.
//
// A command names buffers by reference; final kernel arguments are made when it is issued to a queue. Arguments that do
// not change from execution to execution are in `arguments` already.
#ifndef IREE_C_HAL_GPU_COMMAND_H_
#define IREE_C_HAL_GPU_COMMAND_H_

#include "hal/gpu/executable.h"

// A kernel argument that is the address of a reference.
typedef struct gpu_patch_t {
  uint32_t offset;  // bytes
  iree_hal_buffer_ref_t ref;
} gpu_patch_t;

typedef struct gpu_command_t {
  hal_command_kind_t kind;
  bool waits;                    // for all commands before it
  iree_hal_buffer_ref_t target;  // FILL, COPY, UPDATE; DISPATCH: three workgroup counts when is_indirect
  union {
    struct {
      uint8_t data[16];            // repeated to fill it
      uint8_t length;              // bytes: 1, 2, 4, 8 or 16
    } pattern;                     // FILL
    iree_hal_buffer_ref_t source;  // COPY
    const uint8_t* data;           // UPDATE
    struct {
      const gpu_function_t* function;
      bool is_indirect;
      uint16_t workgroup_size[3];
      uint32_t workgroup_count[3];
      uint32_t dynamic_memory;  // bytes of workgroup memory beyond the kernel's own
      uint32_t patch_count;
      const uint8_t* arguments;  // function->kernarg_size bytes, rounded up to 8
      const gpu_patch_t* patches;
    } dispatch;
  };
} gpu_command_t;

// Bytes of a function's arguments, with those that the driver adds.
static inline size_t gpu_command_arguments_size(const gpu_function_t* function) {
  return iree_host_align(function->kernarg_size, sizeof(uint64_t));
}

// Of recordings: objects begin with a gpu_work_t, whose commands are gpu_command_t's.
extern const hal_lowering_t gpu_lowering;
// Bytes that one command needs. Errors: what is wrong with it (gpu_function_check).
iree_status_t gpu_command_measure(const gpu_backend_t* backend, const hal_command_t* source, size_t* out_size);
// Makes it in `storage` of that size, aligned to 8 bytes, which begins with it and has copies of all it needs.
void gpu_command_lower(const gpu_backend_t* backend, const hal_command_t* source, uint8_t* storage);

// The range of a reference, for the GPU. `bindings` is the table of the operation.
iree_status_t gpu_command_resolve(iree_hal_buffer_binding_table_t bindings, iree_hal_buffer_ref_t ref,
                                  uint64_t* out_address, uint64_t* out_length);
// Writes a dispatch's final arguments.
iree_status_t gpu_command_write_arguments(iree_hal_buffer_binding_table_t bindings, const gpu_command_t* command,
                                          uint8_t* out_arguments);

#endif  // IREE_C_HAL_GPU_COMMAND_H_
