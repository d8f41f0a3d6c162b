// The vm dialect: host programs as IREE's virtual machine has them (compiler/vm_emit.h). Rows are in vm.def.
#ifndef IREE_C_DIALECTS_VM_H_
#define IREE_C_DIALECTS_VM_H_

#include "ir/ir.h"

enum {
  VM_FIRST_ = IR_CODE(IR_DIALECT_VM, 0) - 1,
#define OP(ENUM, ...) VM_##ENUM,
#include "dialects/vm.def"
#undef OP
};

extern const ir_dialect_t vm_dialect;

#endif  // IREE_C_DIALECTS_VM_H_
