// What a code object says of its kernels: the MessagePack document in its AMDGPU metadata note.
#ifndef IREE_C_HAL_GPU_CODE_OBJECT_METADATA_H_
#define IREE_C_HAL_GPU_CODE_OBJECT_METADATA_H_

#include "iree/base/api.h"

// HIDDEN(ENUM, value_kind): arguments that the launching side fills in; kinds not listed are left zero
#define METADATA_HIDDEN_KINDS(HIDDEN)           \
  HIDDEN(BLOCK_COUNT_X, "hidden_block_count_x") \
  HIDDEN(BLOCK_COUNT_Y, "hidden_block_count_y") \
  HIDDEN(BLOCK_COUNT_Z, "hidden_block_count_z") \
  HIDDEN(GROUP_SIZE_X, "hidden_group_size_x")   \
  HIDDEN(GROUP_SIZE_Y, "hidden_group_size_y")   \
  HIDDEN(GROUP_SIZE_Z, "hidden_group_size_z")   \
  HIDDEN(GRID_DIMS, "hidden_grid_dims")         \
  HIDDEN(DYNAMIC_LDS, "hidden_dynamic_lds_size")
typedef enum {
#define HIDDEN(name, text) METADATA_HIDDEN_##name,
  METADATA_HIDDEN_KINDS(HIDDEN)
#undef HIDDEN
      METADATA_HIDDEN_COUNT,
} metadata_hidden_t;

#define METADATA_MAX_HIDDEN 16

typedef struct metadata_kernel_t {
  iree_string_view_t name;    // into the code object
  iree_string_view_t symbol;  // of the descriptor: "name.kd"
  uint32_t kernarg_size;      // bytes
  uint32_t kernarg_alignment;
  uint32_t group_size;         // bytes of workgroup memory
  uint32_t private_size;       // bytes of scratch of a work-item
  uint32_t workgroup_size[3];  // that it was compiled for; 0: any
  uint32_t max_workgroup_size;
  uint32_t wave_size;
  uint32_t explicit_size;   // bytes of arguments that the caller gives
  uint32_t binding_count;   // leading 64-bit pointers
  uint32_t constant_count;  // 32-bit words after them
  bool is_hal;              // the explicit arguments are just that: pointers, then words without gaps
  uint32_t hidden_count;
  struct {
    uint16_t offset;
    uint8_t size;
    uint8_t kind;  // metadata_hidden_t
  } hidden[METADATA_MAX_HIDDEN];
} metadata_kernel_t;

typedef struct metadata_t {
  iree_host_size_t kernel_count;
  metadata_kernel_t* kernels;  // in the code object's order
} metadata_t;

// Reads the note of an ELF code object, which must stay while the result is used. Everything is checked. Errors:
// INVALID_ARGUMENT.
iree_status_t metadata_read(iree_const_byte_span_t elf, iree_allocator_t host_allocator, metadata_t* out_metadata);
void metadata_free(metadata_t* metadata, iree_allocator_t host_allocator);

#endif  // IREE_C_HAL_GPU_CODE_OBJECT_METADATA_H_
