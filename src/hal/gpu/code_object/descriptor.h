// Kernel descriptors: what hardware is told to run a kernel. Source: LLVM's "User Guide for AMDGPU Backend", Kernel
// Descriptor.
#ifndef IREE_C_HAL_GPU_CODE_OBJECT_DESCRIPTOR_H_
#define IREE_C_HAL_GPU_CODE_OBJECT_DESCRIPTOR_H_

#include "iree/base/api.h"

typedef struct descriptor_t {
  uint64_t address;       // in the file
  uint32_t group_size;    // bytes of workgroup memory
  uint32_t private_size;  // bytes of scratch of a work-item
  int64_t entry;          // of the first instruction, from the descriptor
  uint32_t resource[3];   // COMPUTE_PGM_RSRC1 to 3
  uint16_t properties;    // DESCRIPTOR_*
  uint16_t preload;       // words of the arguments that are in registers when it begins
} descriptor_t;

// What the first scalar registers are, in this order, and how the kernel runs.
enum {
  DESCRIPTOR_PRIVATE_BUFFER = 1 << 0,  // four registers
  DESCRIPTOR_DISPATCH_PACKET = 1 << 1,
  DESCRIPTOR_ARGUMENTS = 1 << 3,
  DESCRIPTOR_WAVE32 = 1 << 10,
};

// Reads the descriptor that an ELF code object has under a symbol ("name.kd"). Everything is checked; false when there
// is none.
bool descriptor_read(iree_const_byte_span_t elf, iree_string_view_t symbol, descriptor_t* out_descriptor);

// How much memory loaders give a code object: from address 0 to behind its last segment. 0 when it has none.
uint64_t descriptor_image_size(iree_const_byte_span_t elf);

#endif  // IREE_C_HAL_GPU_CODE_OBJECT_DESCRIPTOR_H_
