// Shared by the files of vm_emit.h. Each value has a register of its own. At `data`: of values the register + 1, of
// functions what the writer has of them, of imports, globals and constants of the module their index + 1, of a block's
// first op the block's label + 1.
#ifndef IREE_C_COMPILER_VM_STATE_H_
#define IREE_C_COMPILER_VM_STATE_H_

#include "ir/ir.h"
#include "module/writer.h"

typedef struct emit_t {
  ir_context_t* ctx;
  ir_op_t* module;
  module_writer_t* writer;
  module_function_t* f;
  const ir_type_t* type;  // of the function at work
  bool locations;         // whether the module has where its instructions come from
  uint32_t constants;     // how many there are
} emit_t;

static inline iree_string_view_t view(const char* text) { return iree_make_cstring_view(text); }
static inline module_reg_t reg_of(const ir_value_t* value) { return (module_reg_t)((uintptr_t)value->data - 1); }
static inline void set_reg(ir_value_t* value, module_reg_t reg) { value->data = (void*)((uintptr_t)reg + 1); }
static inline void set_index(ir_op_t* part, uint32_t index) { part->data = (void*)((uintptr_t)index + 1); }
static inline uint32_t index_of(const ir_op_t* part) { return (uint32_t)((uintptr_t)part->data - 1); }
static inline module_label_t label_of(const ir_block_t* block) { return index_of(block->first); }

static inline module_reg_t vm_in(const ir_op_t* op, uint32_t i) { return reg_of(ir_operand(op, i)); }

// vm_emit_op.c
// As in signatures; 0: the VM has no such type.
char vm_letter_of(ir_context_t* ctx, const ir_type_t* type);
bool vm_check_type(emit_t* e, const ir_op_t* op, const ir_type_t* type);
bool vm_is_ref(const ir_value_t* value);
module_reg_t vm_new_reg(emit_t* e, const ir_type_t* type);
void vm_move(emit_t* e, module_reg_t to, module_reg_t from);
module_reg_t vm_emit_one(emit_t* e, vm_op_t op, uint32_t count, const module_reg_t* regs);
// 1 for 0, and 0 for what is not.
module_reg_t vm_inverse(emit_t* e, module_reg_t reg);
// 1 where a value is not 0, or not null.
module_reg_t vm_truth(emit_t* e, const ir_value_t* value);
// Generic forms may have what the assembly does not: operands begin with those (letters of signatures; '.': any), and
// the result, if any is asked for, is of that kind.
bool vm_check_kinds(emit_t* e, const ir_op_t* op, const char* operands, char result);
// The string that is the op's `message`.
uint32_t vm_message_of(emit_t* e, const ir_op_t* op);
// The part of the module that the attribute names, of one kind or the other, or NULL after a diagnostic.
ir_op_t* vm_find(emit_t* e, const ir_op_t* op, const char* attr, uint32_t code, uint32_t other);
// Of a function, an initializer or an import; NULL when it has none.
const ir_type_t* vm_type_of(const ir_op_t* func);
// Whether there may be any number of an import's argument.
bool vm_is_span(const ir_op_t* import, uint32_t argument);
// The bytes of the op's `value`: elements or text.
bool vm_add_segment(emit_t* e, const ir_op_t* op, uint32_t* out_index);
// An op of a function.
bool vm_emit_op(emit_t* e, ir_op_t* op);

// How ops become more than one instruction: the functions that vm.def names.
#define DIRECT(instruction)
#define SWAPPED(instruction)
#define INVERSE(instruction)
#define INVERSE_SWAPPED(instruction)
#define ROUNDED(instruction)
#define TO(function) bool vm_to_##function(emit_t* e, ir_op_t* op);
#define NOWHERE
#define OP(ENUM, name, operands, results, regions, traits, verify, assembly, ...) __VA_ARGS__
#include "dialects/vm.def"
#undef DIRECT
#undef SWAPPED
#undef INVERSE
#undef INVERSE_SWAPPED
#undef ROUNDED
#undef TO
#undef NOWHERE
#undef OP

#endif  // IREE_C_COMPILER_VM_STATE_H_
