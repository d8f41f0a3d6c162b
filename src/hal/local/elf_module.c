// See elf_module.h.
#include "hal/local/elf_module.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define HOST_MACHINE EM_X86_64
#define HOST_RELATIVE R_X86_64_RELATIVE
#define HOST_ABSOLUTE R_X86_64_64
#elif defined(__aarch64__)
#define HOST_MACHINE EM_AARCH64
#define HOST_RELATIVE R_AARCH64_RELATIVE
#define HOST_ABSOLUTE R_AARCH64_ABS64
#else
#error "no relocation numbers for this machine"
#endif

enum { MAX_MAPPING = 1 << 30, MAX_HEADERS = 64 };

typedef struct elf_file_t {
  const unsigned char* data;
  size_t size;
  Elf64_Ehdr header;
  Elf64_Phdr segments[MAX_HEADERS];
  uint64_t page;
} elf_file_t;

static bool within(uint64_t offset, uint64_t length, uint64_t size) { return offset <= size && length <= size - offset; }

//===----------------------------------------------------------------------------------------------------------------===
// Headers
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t read_header(elf_file_t* f) {
  if (f->size < sizeof(f->header)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "ELF file of %zu bytes has no header", f->size);
  }
  memcpy(&f->header, f->data, sizeof(f->header));
  const Elf64_Ehdr* h = &f->header;
  if (memcmp(h->e_ident, ELFMAG, SELFMAG)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "not an ELF file");
  }
  if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_type != ET_DYN) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "ELF file is not a 64-bit little-endian shared object");
  }
  if (h->e_machine != HOST_MACHINE) {
    return iree_make_status(IREE_STATUS_INCOMPATIBLE, "ELF file is for machine %u, this is machine %u", h->e_machine,
                            HOST_MACHINE);
  }
  if (h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phnum == 0 || h->e_phnum > MAX_HEADERS ||
      !within(h->e_phoff, (uint64_t)h->e_phnum * sizeof(Elf64_Phdr), f->size)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "ELF program headers are outside the file");
  }
  memcpy(f->segments, f->data + h->e_phoff, h->e_phnum * sizeof(Elf64_Phdr));
  return iree_ok_status();
}

// Size of the whole mapping; every loaded segment must lie in the file and in order.
static iree_status_t measure(const elf_file_t* f, size_t* out_size) {
  uint64_t end = 0;
  for (uint32_t i = 0; i < f->header.e_phnum; ++i) {
    const Elf64_Phdr* p = &f->segments[i];
    if (p->p_type != PT_LOAD) continue;
    if (p->p_filesz > p->p_memsz || !within(p->p_offset, p->p_filesz, f->size) ||
        !within(p->p_vaddr, p->p_memsz, MAX_MAPPING) || p->p_vaddr / f->page * f->page < end) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "ELF segment %u is outside the file or overlaps another", i);
    }
    end = (p->p_vaddr + p->p_memsz + f->page - 1) / f->page * f->page;
  }
  if (end == 0) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "ELF file has nothing to load");
  *out_size = (size_t)end;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Dynamic section
//===----------------------------------------------------------------------------------------------------------------===

typedef struct dynamic_t {
  uint64_t symbols, strings, strings_size, hash, relocations, relocations_size;
} dynamic_t;

static iree_status_t read_dynamic(const elf_file_t* f, const elf_module_t* m, dynamic_t* out) {
  const Elf64_Phdr* p = NULL;
  for (uint32_t i = 0; i < f->header.e_phnum; ++i) {
    if (f->segments[i].p_type == PT_DYNAMIC) p = &f->segments[i];
  }
  if (!p || !within(p->p_vaddr, p->p_memsz, m->size) || p->p_vaddr % 8) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "ELF file has no dynamic section");
  }
  memset(out, 0, sizeof(*out));
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= p->p_memsz; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    memcpy(&entry, m->base + p->p_vaddr + at, sizeof(entry));
    switch (entry.d_tag) {
      case DT_NULL:
        return iree_ok_status();
      case DT_SYMTAB:
        out->symbols = entry.d_un.d_ptr;
        break;
      case DT_STRTAB:
        out->strings = entry.d_un.d_ptr;
        break;
      case DT_STRSZ:
        out->strings_size = entry.d_un.d_val;
        break;
      case DT_HASH:
        out->hash = entry.d_un.d_ptr;
        break;
      case DT_RELA:
        out->relocations = entry.d_un.d_ptr;
        break;
      case DT_RELASZ:
        out->relocations_size = entry.d_un.d_val;
        break;
      case DT_NEEDED:
      case DT_INIT:
      case DT_INIT_ARRAY:
      case DT_JMPREL:
      case DT_REL:
        return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                                "ELF file needs a system loader (dynamic tag %lld); only freestanding files are loaded",
                                (long long)entry.d_tag);
      default:
        break;
    }
  }
  return iree_ok_status();
}

static iree_status_t find_symbols(elf_module_t* m, const dynamic_t* d) {
  uint32_t words[2];
  if (!d->hash || !within(d->hash, sizeof(words), m->size)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "ELF file has no symbol hash table (DT_HASH)");
  }
  memcpy(words, m->base + d->hash, sizeof(words));
  uint64_t count = words[1];  // chains: one per symbol
  if (d->symbols % 8 || !within(d->symbols, count * sizeof(Elf64_Sym), m->size) ||
      !within(d->strings, d->strings_size, m->size) || d->strings_size == 0 ||
      m->base[d->strings + d->strings_size - 1] != 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "ELF symbol or string table is outside the file");
  }
  m->symbols = m->base + d->symbols;
  m->symbol_count = (size_t)count;
  m->strings = (const char*)m->base + d->strings;
  m->strings_size = (size_t)d->strings_size;
  return iree_ok_status();
}

static iree_status_t relocate(const elf_module_t* m, const dynamic_t* d) {
  if (!within(d->relocations, d->relocations_size, m->size)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "ELF relocations are outside the file");
  }
  for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= d->relocations_size; at += sizeof(Elf64_Rela)) {
    Elf64_Rela r;
    memcpy(&r, m->base + d->relocations + at, sizeof(r));
    uint64_t value;
    if (ELF64_R_TYPE(r.r_info) == HOST_RELATIVE) {
      value = (uint64_t)r.r_addend;
    } else if (ELF64_R_TYPE(r.r_info) == HOST_ABSOLUTE && ELF64_R_SYM(r.r_info) < m->symbol_count) {
      Elf64_Sym symbol;
      memcpy(&symbol, (const Elf64_Sym*)m->symbols + ELF64_R_SYM(r.r_info), sizeof(symbol));
      if (symbol.st_shndx == SHN_UNDEF) {
        return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "ELF file imports a symbol; freestanding files have none");
      }
      value = symbol.st_value + (uint64_t)r.r_addend;
    } else {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "ELF relocation type %llu is not supported",
                              (unsigned long long)ELF64_R_TYPE(r.r_info));
    }
    if (!within(r.r_offset, 8, m->size) || value > m->size) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "ELF relocation leaves the file");
    }
    value += (uint64_t)(uintptr_t)m->base;
    memcpy(m->base + r.r_offset, &value, 8);
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Loading
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t protect(const elf_file_t* f, const elf_module_t* m) {
  for (uint32_t i = 0; i < f->header.e_phnum; ++i) {
    const Elf64_Phdr* p = &f->segments[i];
    if (p->p_type != PT_LOAD || p->p_memsz == 0) continue;
    bool writes = (p->p_flags & PF_W) != 0, runs = (p->p_flags & PF_X) != 0;
    if (writes && runs) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "ELF segment %u is writable and executable", i);
    }
    uint64_t start = p->p_vaddr / f->page * f->page;
    uint64_t end = (p->p_vaddr + p->p_memsz + f->page - 1) / f->page * f->page;
    int flags = PROT_READ | (writes ? PROT_WRITE : 0) | (runs ? PROT_EXEC : 0);
    if (mprotect(m->base + start, end - start, flags)) {
      return iree_make_status(IREE_STATUS_PERMISSION_DENIED, "the system does not let code pages be mapped");
    }
  }
  return iree_ok_status();
}

iree_status_t elf_module_load(iree_const_byte_span_t data, elf_module_t* out_module) {
  memset(out_module, 0, sizeof(*out_module));
  elf_module_t m = {0};
  elf_file_t f = {.data = data.data, .size = data.data_length, .page = (uint64_t)sysconf(_SC_PAGESIZE)};
  dynamic_t d;
  IREE_RETURN_IF_ERROR(read_header(&f));
  IREE_RETURN_IF_ERROR(measure(&f, &m.size));
  m.base = mmap(NULL, m.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (m.base == MAP_FAILED) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "cannot map %zu bytes for code", m.size);
  }
  for (uint32_t i = 0; i < f.header.e_phnum; ++i) {
    const Elf64_Phdr* p = &f.segments[i];
    if (p->p_type == PT_LOAD) memcpy(m.base + p->p_vaddr, f.data + p->p_offset, p->p_filesz);
  }
  iree_status_t status = read_dynamic(&f, &m, &d);
  if (iree_status_is_ok(status)) status = find_symbols(&m, &d);
  if (iree_status_is_ok(status)) status = relocate(&m, &d);
  if (iree_status_is_ok(status)) status = protect(&f, &m);
  if (!iree_status_is_ok(status)) {
    elf_module_unload(&m);
    return status;
  }
  __builtin___clear_cache((char*)m.base, (char*)m.base + m.size);
  *out_module = m;
  return iree_ok_status();
}

void elf_module_unload(elf_module_t* module) {
  if (module->base) munmap(module->base, module->size);
  memset(module, 0, sizeof(*module));
}

iree_status_t elf_module_lookup(const elf_module_t* module, const char* name, void** out_address) {
  *out_address = NULL;
  const Elf64_Sym* symbols = module->symbols;
  for (size_t i = 0; i < module->symbol_count; ++i) {
    const Elf64_Sym* s = &symbols[i];
    if (s->st_shndx == SHN_UNDEF || s->st_name >= module->strings_size || s->st_value >= module->size) continue;
    if (strcmp(module->strings + s->st_name, name)) continue;
    *out_address = module->base + s->st_value;
    return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_NOT_FOUND, "ELF file exports no '%s'", name);
}
