// Between registers and packed lists (C structs of i32, i64, f32, f64 and refs, naturally aligned).
#ifndef VM_BYTECODE_PACKING_H_
#define VM_BYTECODE_PACKING_H_

#include "vm/bytecode/machine.h"

// Place of the next value of a type; *offset becomes its end.
static inline void* vm_packed_next(iree_byte_span_t packed, vm_type_t type, iree_host_size_t* offset) {
  iree_host_size_t size = vm_type_packed_size(type), alignment = size > 8 ? 8 : size;
  iree_host_size_t at = iree_host_align(*offset, alignment);
  *offset = at + size;
  return packed.data + at;
}

// A number of a type between a register and its packed place.
static inline void vm_packed_copy(void* to, const void* from, vm_type_t type) {
  if (vm_type_packed_size(type) == 8) {
    memcpy(to, from, 8);
  } else {
    memcpy(to, from, 4);
  }
}

// Type of an operand register of the function.
static inline vm_type_t vm_register_type(const module_image_t* image, const module_function_row_t* row, vm_word_t reg) {
  return reg & VM_REGISTER_REF ? VM_TYPE_REF : (vm_type_t)image->registers[row->register_first + reg];
}

#endif  // VM_BYTECODE_PACKING_H_
