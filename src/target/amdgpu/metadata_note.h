// The metadata note of code objects.
#ifndef IREE_C_TARGET_AMDGPU_METADATA_NOTE_H_
#define IREE_C_TARGET_AMDGPU_METADATA_NOTE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

// Makes one metadata note of all that a linked code object has, in place: loaders need read only the first. The kernels
// stay in their order. False, with an error, when the notes are not as LLVM writes them.
bool metadata_note_merge(void* code, size_t size, text_t* error);

// What a kernel keeps in memory for want of registers.
typedef struct metadata_spill_t {
  char name[256];  // cut off where it is longer
  uint32_t vector_registers, scalar_registers;
} metadata_spill_t;

// Finds the next kernel that spills, from `*at` on (0 at first), which moves behind it. False when no more does.
bool metadata_note_next_spill(const void* code, size_t size, size_t* at, metadata_spill_t* out);

bool metadata_note_has_kernel(const void* code, size_t size, const char* name);

#endif  // IREE_C_TARGET_AMDGPU_METADATA_NOTE_H_
