// The interpreter's registers while it runs, and the instructions that are functions of their own.
#ifndef VM_BYTECODE_MACHINE_H_
#define VM_BYTECODE_MACHINE_H_

#include "vm/bytecode/state.h"
#include "vm/bytecode/stream.h"

// Storage of a bytecode frame: this, value registers, reference registers.
typedef struct vm_frame_t {
  const module_function_row_t* row;
  const vm_word_t* code;
  vm_cell_t* values;
  iree_vm_ref_t* refs;
  const vm_word_t* resume;  // while it calls: operands of the call instruction
} vm_frame_t;

typedef struct vm_machine_t {
  const vm_word_t* pc;  // next word to read; inside an instruction: its next operand
  vm_cell_t* values;
  iree_vm_ref_t* refs;
  iree_vm_module_state_t* state;
  const module_image_t* image;
  iree_vm_stack_t* stack;
  bool yields;  // an instruction that would wait returns DEFERRED instead, and is run again later
} vm_machine_t;

// Operands in order. The verifier has checked them all.
static inline vm_word_t vm_next_word(vm_machine_t* m) { return *m->pc++; }
static inline vm_cell_t* vm_next_value(vm_machine_t* m) { return &m->values[*m->pc++]; }
static inline iree_vm_ref_t* vm_next_ref(vm_machine_t* m) { return &m->refs[*m->pc++ & (VM_REGISTER_REF - 1)]; }

// Room for an instruction's lists: most are short, but files may have any.
typedef struct vm_scratch_t {
  iree_allocator_t allocator;
  void* heap;
  iree_alignas(16) uint8_t own[1024];
} vm_scratch_t;
// `count` elements of `size` bytes, not initialized; once for each scratch. Released by vm_scratch_free.
static inline iree_status_t vm_scratch_allocate(vm_scratch_t* scratch, const vm_machine_t* m, iree_host_size_t count,
                                                iree_host_size_t size, void** out) {
  scratch->heap = NULL;
  scratch->allocator = iree_vm_stack_allocator(m->stack);
  *out = scratch->own;
  if (IREE_LIKELY(count <= sizeof(scratch->own) / size)) return iree_ok_status();
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(scratch->allocator, count, size, &scratch->heap));
  *out = scratch->heap;
  return iree_ok_status();
}
static inline void vm_scratch_free(vm_scratch_t* scratch) {
  if (scratch->heap) iree_allocator_free(scratch->allocator, scratch->heap);
}

// The object of a reference operand; an error for null or another type.
#define VM_NEXT_OBJECT(m, prefix, variable) \
  prefix##_t* variable = NULL;              \
  IREE_RETURN_IF_ERROR(prefix##_check_deref(*vm_next_ref(m), &variable))

// The rows that are functions.
#define FLOW(name, signature)
#define OP(name, signature) iree_status_t vm_do_##name(vm_machine_t* m);
#define UNARY(name, ...)
#define BINARY(name, ...)
#define TERNARY(name, ...)
#define DIVIDE(name, ...)
#define LOAD(name, R, ctype) iree_status_t vm_do_##name(vm_machine_t* m);
#define STORE(name, A, ctype) iree_status_t vm_do_##name(vm_machine_t* m);
#define HAL_LOAD(name, R, ctype) iree_status_t vm_do_##name(vm_machine_t* m);
#include "module/ops.def"
#include "module/ops_undef.h"

// The instruction call_import_spans.
iree_status_t vm_call_import_spans(vm_machine_t* m);

// Runs function `index` of the module with the call's packed lists.
iree_status_t vm_interpret(iree_vm_stack_t* stack, bytecode_module_t* module, uint32_t index,
                           const iree_vm_function_call_t* call);
// Goes on after what it waited for. A wait that failed is a failure of the call.
iree_status_t vm_interpret_resume(iree_vm_stack_t* stack, bytecode_module_t* module, iree_byte_span_t results);

#endif  // VM_BYTECODE_MACHINE_H_
