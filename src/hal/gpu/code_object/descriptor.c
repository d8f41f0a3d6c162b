// Descriptors are found as loaders find them: by the symbol's address, in the segment that has it.
#include "hal/gpu/code_object/descriptor.h"

#include <elf.h>
#include <string.h>

enum { DESCRIPTOR_SIZE = 64 };

static bool read_at(iree_const_byte_span_t elf, uint64_t offset, void* out, size_t size) {
  if (offset > elf.data_length || size > elf.data_length - offset) return false;
  memcpy(out, elf.data + offset, size);
  return true;
}

// Where in the file an address is whose next `size` bytes are there.
static bool find_address(iree_const_byte_span_t elf, const Elf64_Ehdr* header, uint64_t address, uint64_t size,
                         uint64_t* out_offset) {
  for (uint32_t i = 0; i < header->e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read_at(elf, header->e_phoff + i * sizeof(segment), &segment, sizeof(segment))) return false;
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr || size > segment.p_filesz ||
        address - segment.p_vaddr > segment.p_filesz - size) {
      continue;
    }
    *out_offset = segment.p_offset + (address - segment.p_vaddr);
    return true;
  }
  return false;
}

static bool has_name(iree_const_byte_span_t elf, const Elf64_Shdr* strings, uint32_t name, iree_string_view_t symbol) {
  if (name >= strings->sh_size || symbol.size >= strings->sh_size - name) return false;
  uint64_t at = strings->sh_offset + name;
  return at < elf.data_length && symbol.size < elf.data_length - at && !elf.data[at + symbol.size] &&
         !memcmp(elf.data + at, symbol.data, symbol.size);
}

static bool find_symbol(iree_const_byte_span_t elf, const Elf64_Ehdr* header, const Elf64_Shdr* table,
                        iree_string_view_t symbol, uint64_t* out_address) {
  Elf64_Shdr strings;
  if (table->sh_link >= header->e_shnum ||
      !read_at(elf, header->e_shoff + table->sh_link * sizeof(strings), &strings, sizeof(strings))) {
    return false;
  }
  for (uint64_t i = 0; i < table->sh_size / sizeof(Elf64_Sym); ++i) {
    Elf64_Sym entry;
    if (!read_at(elf, table->sh_offset + i * sizeof(entry), &entry, sizeof(entry))) return false;
    if (entry.st_shndx == SHN_UNDEF || !has_name(elf, &strings, entry.st_name, symbol)) continue;
    *out_address = entry.st_value;
    return true;
  }
  return false;
}

// Of those that loaders see, which are in one table.
static bool find_in_tables(iree_const_byte_span_t elf, const Elf64_Ehdr* header, iree_string_view_t symbol,
                           uint64_t* out_address) {
  for (uint32_t i = 0; i < header->e_shnum; ++i) {
    Elf64_Shdr table;
    if (!read_at(elf, header->e_shoff + i * sizeof(table), &table, sizeof(table))) return false;
    if (table.sh_type == SHT_DYNSYM) return find_symbol(elf, header, &table, symbol, out_address);
  }
  return false;
}

bool descriptor_read(iree_const_byte_span_t elf, iree_string_view_t symbol, descriptor_t* out_descriptor) {
  Elf64_Ehdr header;
  uint64_t address = 0, offset = 0;
  uint8_t data[DESCRIPTOR_SIZE];
  if (!read_at(elf, 0, &header, sizeof(header)) || header.e_shentsize != sizeof(Elf64_Shdr) ||
      header.e_phentsize != sizeof(Elf64_Phdr) || header.e_shoff > elf.data_length ||
      header.e_phoff > elf.data_length || !find_in_tables(elf, &header, symbol, &address) ||
      !find_address(elf, &header, address, sizeof(data), &offset) || !read_at(elf, offset, data, sizeof(data))) {
    return false;
  }
  out_descriptor->address = address;
  memcpy(&out_descriptor->group_size, data, 4);
  memcpy(&out_descriptor->private_size, data + 4, 4);
  memcpy(&out_descriptor->entry, data + 16, 8);
  memcpy(&out_descriptor->resource[2], data + 44, 4);
  memcpy(&out_descriptor->resource[0], data + 48, 8);
  memcpy(&out_descriptor->properties, data + 56, 2);
  memcpy(&out_descriptor->preload, data + 58, 2);
  return true;
}

uint64_t descriptor_image_size(iree_const_byte_span_t elf) {
  Elf64_Ehdr header;
  uint64_t size = 0;
  if (!read_at(elf, 0, &header, sizeof(header)) || header.e_phentsize != sizeof(Elf64_Phdr)) return 0;
  for (uint32_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read_at(elf, header.e_phoff + i * sizeof(segment), &segment, sizeof(segment))) return 0;
    if (segment.p_type == PT_LOAD) size = iree_max(size, segment.p_vaddr + segment.p_memsz);
  }
  return size;
}
