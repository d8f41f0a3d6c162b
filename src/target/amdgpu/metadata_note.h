// The metadata note of code objects.
#ifndef IREE_C_TARGET_AMDGPU_METADATA_NOTE_H_
#define IREE_C_TARGET_AMDGPU_METADATA_NOTE_H_

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

// Makes one metadata note of all that a linked code object has, in place: loaders need read only the first. The kernels
// stay in their order. False, with an error, when the notes are not as LLVM writes them.
bool metadata_note_merge(void* code, size_t size, text_t* error);

#endif  // IREE_C_TARGET_AMDGPU_METADATA_NOTE_H_
