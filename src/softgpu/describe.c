// Where an instruction is, for messages: source line, function, offset, text.
#include <elf.h>
#include <stdio.h>

#include "softgpu/kernel.h"
#include "softgpu/lines.h"

const char* code_symbol(const code_t* code, uint64_t address, uint64_t* offset) {
  const Elf64_Ehdr* header = code->given.elf;
  size_t size = code->given.elf_size;
  if (!header || size < sizeof(*header) || header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shoff % 8 ||
      header->e_shoff > size || header->e_shnum > (size - header->e_shoff) / sizeof(Elf64_Shdr)) {
    return NULL;
  }
  const Elf64_Shdr* sections = (const Elf64_Shdr*)((const char*)header + header->e_shoff);
  const char* best = NULL;
  uint64_t at = address - code->base, best_value = 0;
  for (uint32_t i = 0; i < header->e_shnum; ++i) {
    const Elf64_Shdr *table = &sections[i], *names = &sections[table->sh_link < header->e_shnum ? table->sh_link : 0];
    if ((table->sh_type != SHT_SYMTAB && table->sh_type != SHT_DYNSYM) || table->sh_offset % 8 ||
        table->sh_offset > size || table->sh_size > size - table->sh_offset || names->sh_offset > size ||
        !names->sh_size || names->sh_size > size - names->sh_offset) {
      continue;
    }
    const char* strings = (const char*)header + names->sh_offset;
    if (strings[names->sh_size - 1]) continue;
    const Elf64_Sym* symbols = (const Elf64_Sym*)((const char*)header + table->sh_offset);
    for (size_t k = 0; k < table->sh_size / sizeof(Elf64_Sym); ++k) {
      const Elf64_Sym* symbol = &symbols[k];
      if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_value > at || symbol->st_name >= names->sh_size)
        continue;
      if (!best || symbol->st_value >= best_value) best = strings + symbol->st_name, best_value = symbol->st_value;
    }
  }
  *offset = at - best_value;
  return best;
}

void code_describe(const launch_t* launch, const inst_t* inst, text_t* out) {
  engine_t* engine = launch->engine;
  uint64_t offset = 0;
  char text[512] = "";
  pthread_mutex_lock(&engine->lock);
  code_t* code = code_find(engine, inst->address);
  const char* name = code && code->is_known ? code_symbol(code, inst->address, &offset) : NULL;
  if (code) {
    size_t left = code->base + code->size - inst->address;
    disassemble(engine, launch->lanes, (const uint8_t*)inst->address, left, inst->address, text, sizeof(text));
  }
  lines_place_t place;
  bool has_line =
      code && code->is_known && lines_find(code->given.elf, code->given.elf_size, inst->address - code->base, &place);
  pthread_mutex_unlock(&engine->lock);
  if (has_line) text_printf(out, "%s:%u, ", place.file, place.line);
  if (name) {
    text_printf(out, "kernel %s+0x%llx", name, (unsigned long long)offset);
  } else {
    text_printf(out, "address 0x%llx", (unsigned long long)inst->address);
  }
  char* at = text;
  while (*at == '\t' || *at == ' ') ++at;
  if (*at) text_printf(out, ": %s", at);
}
