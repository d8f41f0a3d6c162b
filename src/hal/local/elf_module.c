// Loads ELF shared objects. See the System V ABI, chapters 4 and 5, and the processor supplements for relocations.
//
// Steps: check the headers, reserve the address range, copy the segments, find the dynamic tables in the copy (so that
// all further reads are inside it), relocate, protect.
#include "hal/local/elf_module.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_SEGMENTS 64
#define MAX_IMAGE_SIZE (1ull << 31)

#if defined(IREE_ARCH_X86_64)
#define ELF_MACHINE EM_X86_64
enum { RELOC_RELATIVE = R_X86_64_RELATIVE, RELOC_ABSOLUTE = R_X86_64_64 };
enum { RELOC_GLOBAL = R_X86_64_GLOB_DAT, RELOC_JUMP = R_X86_64_JUMP_SLOT, RELOC_NONE = R_X86_64_NONE };
#elif defined(IREE_ARCH_ARM_64)
#define ELF_MACHINE EM_AARCH64
enum { RELOC_RELATIVE = R_AARCH64_RELATIVE, RELOC_ABSOLUTE = R_AARCH64_ABS64 };
enum { RELOC_GLOBAL = R_AARCH64_GLOB_DAT, RELOC_JUMP = R_AARCH64_JUMP_SLOT, RELOC_NONE = R_AARCH64_NONE };
#elif defined(IREE_ARCH_RISCV_64)
#define ELF_MACHINE EM_RISCV
enum { RELOC_RELATIVE = R_RISCV_RELATIVE, RELOC_ABSOLUTE = R_RISCV_64 };
enum { RELOC_GLOBAL = -1, RELOC_JUMP = R_RISCV_JUMP_SLOT, RELOC_NONE = R_RISCV_NONE };
#endif

typedef struct segment_t {
  uint64_t begin, end;  // image addresses
  uint32_t flags;       // PF_*
} segment_t;

typedef struct load_state_t {
  iree_const_byte_span_t data;
  Elf64_Ehdr header;
  segment_t segments[MAX_SEGMENTS];
  size_t segment_count;
  uint64_t image_begin, image_end;  // page-aligned
  uint64_t dynamic_address, dynamic_size;
  uint64_t relro_begin, relro_end;
  elf_module_t* image;
} load_state_t;

// Tables that the dynamic section names; sizes in bytes.
typedef struct dynamic_t {
  uint64_t symbols, symbol_size;
  uint64_t strings, string_size;
  uint64_t hash, gnu_hash;
  uint64_t rela, rela_size, rela_entry;
  uint64_t jump, jump_size;
} dynamic_t;

static iree_status_t malformed(const char* what) {
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "malformed ELF image: %s", what);
}

static iree_status_t unsupported(const char* what) {
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "ELF image has %s, which embedded libraries must not", what);
}

static bool in_file(const load_state_t* state, uint64_t offset, uint64_t size) {
  return offset <= state->data.data_length && size <= state->data.data_length - offset;
}

static bool is_machine(const Elf64_Ehdr* header) {
  return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
         header->e_ident[EI_DATA] == ELFDATA2LSB && header->e_machine == ELF_MACHINE;
}

bool elf_module_sniff(iree_const_byte_span_t data, size_t* out_size) {
  Elf64_Ehdr header;
  if (data.data_length < sizeof(header)) return false;
  memcpy(&header, data.data, sizeof(header));
  if (!is_machine(&header)) return false;
  // The section headers are last in what linkers write; otherwise all of the data is taken.
  uint64_t end = header.e_shoff + (uint64_t)header.e_shnum * header.e_shentsize;
  bool plausible = header.e_shoff && end >= header.e_shoff && end <= data.data_length;
  if (out_size) *out_size = plausible ? (size_t)end : data.data_length;
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Headers
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t read_header(load_state_t* state) {
  Elf64_Ehdr* header = &state->header;
  if (!in_file(state, 0, sizeof(*header))) return malformed("truncated header");
  memcpy(header, state->data.data, sizeof(*header));
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return malformed("no magic number");
  if (!is_machine(header)) {
    return iree_make_status(IREE_STATUS_INCOMPATIBLE, "ELF image is for machine %d, this one is %d (" IREE_ARCH ")",
                            header->e_machine, ELF_MACHINE);
  }
  if (header->e_version != EV_CURRENT || header->e_ehsize < sizeof(*header)) return malformed("version");
  if (header->e_type != ET_DYN) return malformed("not a shared object");
  if (header->e_phentsize != sizeof(Elf64_Phdr)) return malformed("program header size");
  if (!in_file(state, header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr))) {
    return malformed("program headers outside of the file");
  }
  return iree_ok_status();
}

static iree_status_t add_segment(load_state_t* state, const Elf64_Phdr* program) {
  if (state->segment_count == MAX_SEGMENTS) return malformed("too many segments");
  if (!in_file(state, program->p_offset, program->p_filesz)) return malformed("segment outside of the file");
  if (program->p_filesz > program->p_memsz) return malformed("segment larger in the file than in memory");
  if (program->p_vaddr >= MAX_IMAGE_SIZE || program->p_memsz > MAX_IMAGE_SIZE - program->p_vaddr) {
    return malformed("segment outside of the address range");
  }
  if (program->p_flags & PF_W && program->p_flags & PF_X) return malformed("segment both writable and executable");
  segment_t segment = {program->p_vaddr, program->p_vaddr + program->p_memsz, program->p_flags};
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  // Segments are protected by pages, so they must not share any; linkers put them in ascending order.
  if (state->segment_count) {
    const segment_t* last = &state->segments[state->segment_count - 1];
    if (segment.begin / page * page < iree_align_uint64(last->end, page)) return malformed("segments overlap");
  }
  state->segments[state->segment_count++] = segment;
  if (segment.flags & PF_X) {
    if (state->image->code_end) return malformed("more than one executable segment");
    state->image->code_begin = segment.begin;
    state->image->code_end = segment.end;
  }
  return iree_ok_status();
}

static iree_status_t read_programs(load_state_t* state) {
  for (size_t i = 0; i < state->header.e_phnum; ++i) {
    Elf64_Phdr program;
    memcpy(&program, state->data.data + state->header.e_phoff + i * sizeof(program), sizeof(program));
    switch (program.p_type) {
      case PT_LOAD:
        if (program.p_memsz) IREE_RETURN_IF_ERROR(add_segment(state, &program));
        break;
      case PT_DYNAMIC:
        state->dynamic_address = program.p_vaddr;
        state->dynamic_size = program.p_memsz;
        break;
      case PT_GNU_RELRO:
        state->relro_begin = program.p_vaddr;
        if (__builtin_add_overflow(program.p_vaddr, program.p_memsz, &state->relro_end)) return malformed("RELRO");
        break;
      case PT_TLS:
        return unsupported("thread-local storage");
      case PT_INTERP:
        return unsupported("an interpreter");
      default:
        break;
    }
  }
  if (state->segment_count == 0) return malformed("no segments");
  if (state->dynamic_size == 0) return malformed("no dynamic section");
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  state->image_begin = state->segments[0].begin / page * page;
  state->image_end = iree_align_uint64(state->segments[state->segment_count - 1].end, page);
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Segments
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t map_segments(load_state_t* state) {
  elf_module_t* image = state->image;
  image->map_size = state->image_end - state->image_begin;
  // Executable pages are written before they become executable, never while.
  void* map = mmap(NULL, image->map_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) {
    image->map_size = 0;
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "reserving %" PRIu64 " bytes for an ELF image failed",
                            state->image_end - state->image_begin);
  }
  image->map_base = map;
  image->base = (uint8_t*)map - state->image_begin;
  for (size_t i = 0, next = 0; i < state->header.e_phnum; ++i) {
    Elf64_Phdr program;
    memcpy(&program, state->data.data + state->header.e_phoff + i * sizeof(program), sizeof(program));
    if (program.p_type != PT_LOAD || !program.p_memsz) continue;
    memcpy(image->base + state->segments[next++].begin, state->data.data + program.p_offset, program.p_filesz);
  }
  return iree_ok_status();
}

// Whether a range of image addresses lies in one segment, which has `flags`.
static bool in_segment(const load_state_t* state, uint64_t address, uint64_t size, uint32_t flags) {
  for (size_t i = 0; i < state->segment_count; ++i) {
    const segment_t* segment = &state->segments[i];
    if (address < segment->begin || address > segment->end || size > segment->end - address) continue;
    return (segment->flags & flags) == flags;
  }
  return false;
}

static iree_status_t protect_segments(const load_state_t* state) {
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  for (size_t i = 0; i < state->segment_count; ++i) {
    const segment_t* segment = &state->segments[i];
    uint64_t begin = segment->begin / page * page;
    int protection = PROT_READ;
    if (segment->flags & PF_W) protection |= PROT_WRITE;
    if (segment->flags & PF_X) protection |= PROT_EXEC;
    if (mprotect(state->image->base + begin, iree_align_uint64(segment->end, page) - begin, protection) != 0) {
      return iree_make_status(IREE_STATUS_PERMISSION_DENIED, "protecting an ELF segment failed");
    }
  }
  // What only relocation writes to becomes read-only; whole pages, rounded inwards.
  uint64_t relro_begin = iree_align_uint64(state->relro_begin, page), relro_end = state->relro_end / page * page;
  if (relro_begin < relro_end && in_segment(state, relro_begin, relro_end - relro_begin, PF_W)) {
    mprotect(state->image->base + relro_begin, relro_end - relro_begin, PROT_READ);
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Dynamic section
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t read_dynamic_entry(const Elf64_Dyn* entry, dynamic_t* dynamic) {
  switch (entry->d_tag) {
    case DT_SYMTAB:
      dynamic->symbols = entry->d_un.d_ptr;
      break;
    case DT_SYMENT:
      dynamic->symbol_size = entry->d_un.d_val;
      break;
    case DT_STRTAB:
      dynamic->strings = entry->d_un.d_ptr;
      break;
    case DT_STRSZ:
      dynamic->string_size = entry->d_un.d_val;
      break;
    case DT_HASH:
      dynamic->hash = entry->d_un.d_ptr;
      break;
    case DT_GNU_HASH:
      dynamic->gnu_hash = entry->d_un.d_ptr;
      break;
    case DT_RELA:
      dynamic->rela = entry->d_un.d_ptr;
      break;
    case DT_RELASZ:
      dynamic->rela_size = entry->d_un.d_val;
      break;
    case DT_RELAENT:
      dynamic->rela_entry = entry->d_un.d_val;
      break;
    case DT_JMPREL:
      dynamic->jump = entry->d_un.d_ptr;
      break;
    case DT_PLTRELSZ:
      dynamic->jump_size = entry->d_un.d_val;
      break;
    case DT_PLTREL:
      if (entry->d_un.d_val != DT_RELA) return unsupported("REL relocations");
      break;
    case DT_REL:
    case 36:  // DT_RELR
      return unsupported("REL or RELR relocations");
    case DT_NEEDED:
      return unsupported("dependencies on other libraries");
    case DT_TEXTREL:
      return unsupported("text relocations");
    case DT_INIT:
    case DT_FINI:
      return unsupported("constructors or destructors");
    case DT_INIT_ARRAYSZ:
    case DT_FINI_ARRAYSZ:
      if (entry->d_un.d_val) return unsupported("constructors or destructors");
      break;
    default:
      break;
  }
  return iree_ok_status();
}

static iree_status_t read_dynamic(const load_state_t* state, dynamic_t* dynamic) {
  if (!in_segment(state, state->dynamic_address, state->dynamic_size, PF_R)) {
    return malformed("dynamic section outside of the segments");
  }
  uint64_t count = state->dynamic_size / sizeof(Elf64_Dyn);
  for (uint64_t i = 0; i < count; ++i) {
    Elf64_Dyn entry;
    memcpy(&entry, state->image->base + state->dynamic_address + i * sizeof(entry), sizeof(entry));
    if (entry.d_tag == DT_NULL) break;
    IREE_RETURN_IF_ERROR(read_dynamic_entry(&entry, dynamic));
  }
  if (!dynamic->symbols || !dynamic->strings || !dynamic->string_size) return malformed("no symbols");
  if (dynamic->symbol_size != sizeof(Elf64_Sym)) return malformed("symbol size");
  if (!in_segment(state, dynamic->strings, dynamic->string_size, PF_R)) return malformed("string table range");
  return iree_ok_status();
}

static bool read_u32(const load_state_t* state, uint64_t address, uint32_t* out_value) {
  if (!in_segment(state, address, sizeof(*out_value), PF_R)) return false;
  memcpy(out_value, state->image->base + address, sizeof(*out_value));
  return true;
}

// The GNU hash table does not say how many symbols there are: the last chain's end does.
static iree_status_t count_gnu_symbols(const load_state_t* state, uint64_t table, uint64_t* out_count) {
  uint32_t bucket_count = 0, first_symbol = 0, bloom_size = 0, last = 0;
  if (!read_u32(state, table, &bucket_count) || !read_u32(state, table + 4, &first_symbol) ||
      !read_u32(state, table + 8, &bloom_size)) {
    return malformed("hash table range");
  }
  uint64_t buckets = table + 16 + (uint64_t)bloom_size * 8;
  uint64_t chains = buckets + (uint64_t)bucket_count * 4;
  if (!in_segment(state, buckets, (uint64_t)bucket_count * 4, PF_R)) return malformed("hash table range");
  for (uint32_t i = 0; i < bucket_count; ++i) {
    uint32_t bucket = 0;
    if (!read_u32(state, buckets + (uint64_t)i * 4, &bucket)) return malformed("hash table range");
    last = iree_max(last, bucket);
  }
  *out_count = first_symbol;
  if (last < first_symbol) return iree_ok_status();  // nothing is exported
  uint32_t chain = 0;
  do {
    if (!read_u32(state, chains + (uint64_t)(last - first_symbol) * 4, &chain)) return malformed("hash chain range");
    ++last;
  } while (!(chain & 1));
  *out_count = last;
  return iree_ok_status();
}

static iree_status_t find_symbols(const load_state_t* state, const dynamic_t* dynamic) {
  elf_module_t* image = state->image;
  uint64_t count = 0;
  if (dynamic->hash) {
    uint32_t chain_count = 0;
    if (!read_u32(state, dynamic->hash + 4, &chain_count)) return malformed("hash table range");
    count = chain_count;
  } else if (dynamic->gnu_hash) {
    IREE_RETURN_IF_ERROR(count_gnu_symbols(state, dynamic->gnu_hash, &count));
  } else {
    return malformed("no hash table");
  }
  if (!in_segment(state, dynamic->symbols, count * sizeof(Elf64_Sym), PF_R)) return malformed("symbol table range");
  image->symbols = image->base + dynamic->symbols;
  image->symbol_count = count;
  image->strings = (const char*)image->base + dynamic->strings;
  image->string_size = dynamic->string_size;
  if (image->strings[image->string_size - 1] != 0) return malformed("string table is not terminated");
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Relocations
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t resolve_symbol(const load_state_t* state, uint32_t index, uint64_t* out_value) {
  const elf_module_t* image = state->image;
  Elf64_Sym symbol;
  *out_value = 0;
  if (index >= image->symbol_count) return malformed("relocation against a symbol that is not there");
  memcpy(&symbol, image->symbols + (size_t)index * sizeof(symbol), sizeof(symbol));
  if (symbol.st_shndx == SHN_UNDEF) {
    if (ELF64_ST_BIND(symbol.st_info) == STB_WEAK) return iree_ok_status();
    const char* name = symbol.st_name < image->string_size ? image->strings + symbol.st_name : "?";
    return iree_make_status(IREE_STATUS_NOT_FOUND, "ELF image needs symbol '%s', which nothing provides", name);
  }
  if (ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC) return unsupported("indirect functions");
  if (!in_segment(state, symbol.st_value, 0, 0)) return malformed("symbol outside of the segments");
  *out_value = (uint64_t)(uintptr_t)(image->base + symbol.st_value);
  return iree_ok_status();
}

static iree_status_t apply_relocation(const load_state_t* state, const Elf64_Rela* relocation) {
  int type = (int)ELF64_R_TYPE(relocation->r_info);
  uint64_t value = 0;
  if (type == RELOC_NONE) return iree_ok_status();
  if (!in_segment(state, relocation->r_offset, sizeof(value), PF_W)) {
    return malformed("relocation outside of writable segments");
  }
  if (type == RELOC_RELATIVE) {
    if (!in_segment(state, (uint64_t)relocation->r_addend, 0, 0)) return malformed("relocation outside of the image");
    value = (uint64_t)(uintptr_t)(state->image->base + relocation->r_addend);
  } else if (type == RELOC_ABSOLUTE || type == RELOC_GLOBAL || type == RELOC_JUMP) {
    IREE_RETURN_IF_ERROR(resolve_symbol(state, (uint32_t)ELF64_R_SYM(relocation->r_info), &value));
    if (type == RELOC_ABSOLUTE) value += (uint64_t)relocation->r_addend;
  } else {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "ELF relocation type %d is not supported", type);
  }
  memcpy(state->image->base + relocation->r_offset, &value, sizeof(value));
  return iree_ok_status();
}

static iree_status_t apply_relocations(const load_state_t* state, uint64_t table, uint64_t size) {
  if (size == 0) return iree_ok_status();
  if (!in_segment(state, table, size, PF_R)) return malformed("relocation table range");
  for (uint64_t i = 0; i < size / sizeof(Elf64_Rela); ++i) {
    Elf64_Rela relocation;
    memcpy(&relocation, state->image->base + table + i * sizeof(relocation), sizeof(relocation));
    IREE_RETURN_IF_ERROR(apply_relocation(state, &relocation));
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Image
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t load_image(load_state_t* state) {
  dynamic_t dynamic = {0};
  IREE_RETURN_IF_ERROR(read_header(state));
  IREE_RETURN_IF_ERROR(read_programs(state));
  IREE_RETURN_IF_ERROR(map_segments(state));
  IREE_RETURN_IF_ERROR(read_dynamic(state, &dynamic));
  IREE_RETURN_IF_ERROR(find_symbols(state, &dynamic));
  if (dynamic.rela_size && dynamic.rela_entry != sizeof(Elf64_Rela)) return malformed("relocation size");
  IREE_RETURN_IF_ERROR(apply_relocations(state, dynamic.rela, dynamic.rela_size));
  IREE_RETURN_IF_ERROR(apply_relocations(state, dynamic.jump, dynamic.jump_size));
  return protect_segments(state);
}

iree_status_t elf_module_load(iree_const_byte_span_t data, elf_module_t* out_module) {
  memset(out_module, 0, sizeof(*out_module));
  load_state_t state = {.data = data, .image = out_module};
  iree_status_t status = load_image(&state);
  if (!iree_status_is_ok(status)) elf_module_unload(out_module);
  return status;
}

void elf_module_unload(elf_module_t* module) {
  if (module->map_size) munmap(module->map_base, module->map_size);
  memset(module, 0, sizeof(*module));
}

bool elf_module_contains(const elf_module_t* module, const void* ptr, size_t size) {
  uintptr_t begin = (uintptr_t)module->map_base, address = (uintptr_t)ptr;
  return address >= begin && address - begin <= module->map_size && size <= module->map_size - (address - begin);
}

bool elf_module_is_code(const elf_module_t* module, const void* ptr) {
  uint64_t address = (uint64_t)((uintptr_t)ptr - (uintptr_t)module->base);
  return address >= module->code_begin && address < module->code_end;
}

iree_status_t elf_module_lookup(const elf_module_t* module, const char* name, void** out_address) {
  *out_address = NULL;
  size_t length = strlen(name) + 1;
  for (size_t i = 0; i < module->symbol_count; ++i) {
    Elf64_Sym symbol;
    memcpy(&symbol, module->symbols + i * sizeof(symbol), sizeof(symbol));
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= module->string_size) continue;
    if (module->string_size - symbol.st_name < length) continue;
    if (memcmp(module->strings + symbol.st_name, name, length) != 0) continue;
    if (!elf_module_contains(module, module->base + symbol.st_value, 1)) continue;
    *out_address = module->base + symbol.st_value;
    return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_NOT_FOUND, "ELF image exports no '%s'", name);
}
