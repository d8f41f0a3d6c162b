// Position-independent ELF shared objects without a C library, loaded by ourselves: no dependencies, no constructors,
// no thread-local storage. The image comes from a stranger: every offset, size and address in it is checked before use.
#ifndef IREE_C_HAL_LOCAL_ELF_MODULE_H_
#define IREE_C_HAL_LOCAL_ELF_MODULE_H_

#include "iree/base/api.h"

typedef struct elf_module_t {
  uint8_t* base;  // where address 0 of the image would be
  void* map_base;
  size_t map_size;
  const uint8_t* symbols;  // table of Elf64_Sym
  size_t symbol_count;
  const char* strings;
  size_t string_size;
  uint64_t code_begin, code_end;  // image addresses that are executable
} elf_module_t;

// Maps `data` into memory, applies relocations, protects pages. Errors: INVALID_ARGUMENT for malformed images,
// INCOMPATIBLE for other machines, UNIMPLEMENTED for what is not supported (by name), RESOURCE_EXHAUSTED.
iree_status_t elf_module_load(iree_const_byte_span_t data, elf_module_t* out_module);
// Accepts a zeroed image.
void elf_module_unload(elf_module_t* module);

// Address of a defined symbol. Errors: NOT_FOUND.
iree_status_t elf_module_lookup(const elf_module_t* module, const char* name, void** out_address);
// Whether `size` bytes at `ptr` are inside the image; whether `ptr` is code of it.
bool elf_module_contains(const elf_module_t* module, const void* ptr, size_t size);
bool elf_module_is_code(const elf_module_t* module, const void* ptr);

// True when the data starts as an ELF file for this machine. *out_size (may be NULL) is its extent as its headers say,
// at most the data's.
bool elf_module_sniff(iree_const_byte_span_t data, size_t* out_size);

#endif  // IREE_C_HAL_LOCAL_ELF_MODULE_H_
