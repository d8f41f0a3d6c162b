// Commands: what recordings and single queue operations are lowered to.
//
// What a command uses is at a fixed address, or in a slot: a row of the submission's binding table, or a buffer whose
// memory comes and goes. A submission finds all slots' addresses first, with all that can fail, so that nothing can
// when a queue writes final arguments: copies of those that are ready, in which some are patched.
#ifndef IREE_C_HAL_GPU_COMMAND_H_
#define IREE_C_HAL_GPU_COMMAND_H_

#include "hal/gpu/executable.h"

#define GPU_SLOT_NONE UINT32_MAX

// A range of memory that is known when something is submitted.
typedef struct gpu_ref_t {
  uint32_t slot;    // NONE: `offset` is an address
  uint64_t offset;  // bytes
  uint64_t length;  // bytes; IREE_HAL_WHOLE_BUFFER: to the slot's end
} gpu_ref_t;

struct gpu_slot_t {
  iree_hal_buffer_t* buffer;  // NULL: of the binding table, at the slot's index
  bool is_used;
  uint64_t end;  // bytes that it must have
};

// Where a slot is, for one submission.
struct gpu_range_t {
  uint64_t address, length;
};

// A kernel argument that is the address of a slot's byte.
typedef struct gpu_patch_t {
  uint32_t at;  // byte of the arguments
  uint32_t slot;
  uint64_t offset;
} gpu_patch_t;

typedef struct gpu_command_t {
  hal_command_kind_t kind;
  bool waits;        // for all commands before it
  gpu_ref_t target;  // FILL, COPY, UPDATE; DISPATCH: three workgroup counts when is_indirect
  union {
    struct {
      uint8_t data[16];   // repeated to fill it
      uint8_t length;     // bytes: 1, 2, 4, 8 or 16
    } pattern;            // FILL
    gpu_ref_t source;     // COPY
    const uint8_t* data;  // UPDATE
    struct {
      const gpu_function_t* function;
      iree_hal_executable_t* executable;  // whose it is
      uint32_t index;                     // of the function
      bool is_indirect;
      uint16_t workgroup_size[3];
      uint32_t workgroup_count[3];
      uint32_t dynamic_memory;     // bytes of workgroup memory beyond the kernel's own
      gpu_ref_t caller_arguments;  // the first ones, in memory when it runs; `length` 0: in `arguments`
      uint32_t patch_count;
      const uint8_t* arguments;  // function->kernarg_size bytes, rounded up to 8
      const gpu_patch_t* patches;
      const void* form;  // the backend's: what it made of all this
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
// Makes it in `storage` of that size, aligned to 8 bytes, which has copies of all it needs.
gpu_work_t gpu_command_lower(const gpu_backend_t* backend, const hal_command_t* source, uint8_t* storage);

// Finds the ranges of an operation's slots. Errors: those of the binding table and of buffers without memory.
iree_status_t gpu_work_resolve(const gpu_work_t* work, iree_hal_buffer_binding_table_t bindings, gpu_range_t* ranges);
// A range with its address and its length in bytes.
static inline gpu_range_t gpu_ref_resolve(gpu_ref_t ref, const gpu_range_t* ranges) {
  if (ref.slot == GPU_SLOT_NONE) return (gpu_range_t){ref.offset, ref.length};
  const gpu_range_t* range = &ranges[ref.slot];
  bool is_whole = ref.length == IREE_HAL_WHOLE_BUFFER;
  return (gpu_range_t){range->address + ref.offset, is_whole ? range->length - ref.offset : ref.length};
}
// Writes a dispatch's final arguments.
void gpu_command_write_arguments(const gpu_command_t* command, const gpu_range_t* ranges, uint8_t* out_arguments);

#endif  // IREE_C_HAL_GPU_COMMAND_H_
