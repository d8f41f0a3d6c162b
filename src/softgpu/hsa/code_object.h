// A code object: the ELF file that a compiler makes for an AMD GPU, versions 2 to 6 of its ABI as far as loading goes.
// Source: LLVM's "User Guide for AMDGPU Backend", Code Object.
#ifndef IREE_C_SOFTGPU_HSA_CODE_OBJECT_H_
#define IREE_C_SOFTGPU_HSA_CODE_OBJECT_H_

#include <elf.h>

#include "softgpu/hsa/runtime.h"

typedef struct code_object_symbol_t {
  const char* name;  // in the file
  uint64_t value, size;
  bool is_kernel, is_function;  // else a variable; a kernel's name ends in ".kd"
} code_object_symbol_t;

// What the metadata says of a kernel.
typedef struct code_object_kernel_t {
  uint32_t kernarg_size, kernarg_alignment, group_size, private_size;
  bool has_dynamic_stack;
} code_object_kernel_t;

typedef struct code_object_t {
  const uint8_t* data;  // borrowed
  size_t size;
  const Elf64_Phdr* segments;
  uint32_t segment_count;
  uint64_t image_size;  // bytes from the lowest to the highest address that is loaded
  const Elf64_Sym* symbols;
  uint64_t symbol_count;
  const char* strings;
  uint64_t string_size;
  const Elf64_Rela* relocations;
  uint64_t relocation_count;
} code_object_t;

// False after `message` says what is wrong. All tables lie inside the file afterwards.
bool code_object_open(const void* data, size_t size, code_object_t* out, text_t* message);
// Whether the GPU runs it: the processor, generic ones included, and the settings of XNACK and SRAMECC.
bool code_object_fits(const code_object_t* object, const isa_target_t* target, text_t* message);
// Places segments at `image` (image_size bytes, zero), then relocates; `define` finds variables of others.
bool code_object_load(const code_object_t* object, uint8_t* image,
                      bool (*define)(void* data, const char* name, uint64_t* address), void* data, text_t* message);
bool code_object_symbol(const code_object_t* object, uint64_t index, code_object_symbol_t* out);
// By the name of the descriptor's symbol ("kernel.kd"). False when the metadata does not tell.
bool code_object_kernel(const code_object_t* object, const char* symbol, code_object_kernel_t* out);

#endif  // IREE_C_SOFTGPU_HSA_CODE_OBJECT_H_
