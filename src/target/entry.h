// What a kernel.func says of itself as an entry point: sizes, bindings, constants.
#ifndef IREE_C_TARGET_ENTRY_H_
#define IREE_C_TARGET_ENTRY_H_

#include "target/target.h"

// 32-bit words that a constant of this type takes.
uint32_t entry_constant_words(const ir_type_t* type);
uint32_t entry_binding_count(const ir_op_t* func);
// Whether binding i is only read (attribute `readonly`).
bool entry_is_readonly(const ir_op_t* func, uint32_t binding);
// Fills all but name and memory. False after a message.
bool entry_describe(const ir_op_t* func, target_entry_t* entry, text_t* error);

#endif  // IREE_C_TARGET_ENTRY_H_
