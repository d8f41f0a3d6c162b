// Source lines of code objects that carry DWARF line tables (versions 4 and 5, sections .debug_line, .debug_line_str
// and .debug_str), for messages.
#ifndef IREE_C_SOFTGPU_LINES_H_
#define IREE_C_SOFTGPU_LINES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lines_place_t {
  char file[256];
  uint32_t line;
} lines_place_t;

// The line of `address`, an address of the ELF's image. False when the tables do not cover it, or are damaged: nothing
// outside the `size` bytes at `elf` is read. Thread safe.
bool lines_find(const void* elf, size_t size, uint64_t address, lines_place_t* out);

#endif  // IREE_C_SOFTGPU_LINES_H_
