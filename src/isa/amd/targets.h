// What code objects say of the processors of isa.h.
#ifndef IREE_C_ISA_AMD_TARGETS_H_
#define IREE_C_ISA_AMD_TARGETS_H_

#include "isa/amd/isa.h"

// Whose code an ELF header is of; NULL when there is none.
const isa_target_t* isa_target_of_machine(uint32_t machine);
// The generic instruction set whose code a target of the table runs, "gfx9-4-generic"; NULL: none.
const char* isa_target_generic(const isa_target_t* target);

#endif  // IREE_C_ISA_AMD_TARGETS_H_
