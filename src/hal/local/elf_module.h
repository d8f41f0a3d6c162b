// Loads position-independent ELF shared objects that need nothing from their host: no libc, no imports, no constructors.
// That is what iree-compile makes ("embedded-elf-x86_64"). The file is untrusted: every offset, size and relocation is
// checked before use, so that a damaged or hostile file cannot make the loader read or write outside its own buffers.
// What the code then does when it is called is the caller's trust to give.
//
// Source: System V ABI, AMD64 supplement; ELF gABI chapters 4 and 5.
#ifndef IREE_C_HAL_LOCAL_ELF_MODULE_H_
#define IREE_C_HAL_LOCAL_ELF_MODULE_H_

#include "iree/base/api.h"

typedef struct elf_module_t {
  unsigned char* base;  // start of the mapping; virtual address 0 of the file
  size_t size;          // of the mapping
  const void* symbols;  // Elf64_Sym table
  size_t symbol_count;
  const char* strings;
  size_t strings_size;
} elf_module_t;

// Maps the segments, applies relocations and protects the pages. `data` is not needed afterwards. Not thread safe for
// one module; modules are independent. Errors: INVALID_ARGUMENT (not such a file), INCOMPATIBLE (another machine),
// RESOURCE_EXHAUSTED.
iree_status_t elf_module_load(iree_const_byte_span_t data, elf_module_t* out_module);
// Unmaps. Pointers into the module are gone. Accepts a zeroed module.
void elf_module_unload(elf_module_t* module);
// Address of an exported function or object. NOT_FOUND when there is none of that name.
iree_status_t elf_module_lookup(const elf_module_t* module, const char* name, void** out_address);

#endif  // IREE_C_HAL_LOCAL_ELF_MODULE_H_
