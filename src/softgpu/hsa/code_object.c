#include "softgpu/hsa/code_object.h"

#include <string.h>

#include "isa/amd/targets.h"
#include "softgpu/hsa/msgpack.h"

enum {
  MACHINE_AMDGPU = 224,
  ABI_HSA = 64,
  NOTE_METADATA = 32,
  RELOC_ABS32_LO = 1,
  RELOC_ABS32_HI = 2,
  RELOC_ABS64 = 3,
  RELOC_REL32 = 4,
  RELOC_REL64 = 5,
  RELOC_ABS32 = 6,
  RELOC_REL32_LO = 10,
  RELOC_REL32_HI = 11,
  RELOC_RELATIVE64 = 13,
};
#define IMAGE_LIMIT (UINT64_C(1) << 32)

static bool inside(const code_object_t* o, uint64_t offset, uint64_t count, uint64_t size) {
  return offset <= o->size && count <= (o->size - offset) / size && offset % 8 == 0;
}

static bool refuse(text_t* message, const char* what) {
  text_printf(message, "code object: %s", what);
  return false;
}

static bool open_segments(code_object_t* o, const Elf64_Ehdr* header, text_t* message) {
  if (header->e_phentsize != sizeof(Elf64_Phdr) || !inside(o, header->e_phoff, header->e_phnum, sizeof(Elf64_Phdr))) {
    return refuse(message, "the program headers are not inside the file");
  }
  o->segments = (const Elf64_Phdr*)(o->data + header->e_phoff);
  o->segment_count = header->e_phnum;
  for (uint32_t i = 0; i < o->segment_count; ++i) {
    const Elf64_Phdr* s = &o->segments[i];
    if (s->p_type != PT_LOAD && s->p_type != PT_NOTE && s->p_type != PT_DYNAMIC) continue;
    if (s->p_offset > o->size || s->p_filesz > o->size - s->p_offset) {
      return refuse(message, "a segment is not inside the file");
    }
    if (s->p_type != PT_LOAD) continue;
    if (s->p_filesz > s->p_memsz || s->p_vaddr > IMAGE_LIMIT || s->p_memsz > IMAGE_LIMIT - s->p_vaddr) {
      return refuse(message, "a segment has an impossible size or address");
    }
    if (s->p_vaddr + s->p_memsz > o->image_size) o->image_size = s->p_vaddr + s->p_memsz;
  }
  return o->image_size ? true : refuse(message, "it has nothing to load");
}

// Tables that the dynamic section names are addresses of the image; those of the section headers are the same ones in
// the file.
static bool open_sections(code_object_t* o, const Elf64_Ehdr* header, text_t* message) {
  if (header->e_shentsize != sizeof(Elf64_Shdr) || !inside(o, header->e_shoff, header->e_shnum, sizeof(Elf64_Shdr))) {
    return refuse(message, "the section headers are not inside the file");
  }
  const Elf64_Shdr* sections = (const Elf64_Shdr*)(o->data + header->e_shoff);
  for (uint32_t i = 0; i < header->e_shnum; ++i) {
    const Elf64_Shdr* s = &sections[i];
    if (s->sh_type == SHT_DYNSYM) {
      if (s->sh_link >= header->e_shnum ||
          !inside(o, s->sh_offset, s->sh_size / sizeof(Elf64_Sym), sizeof(Elf64_Sym))) {
        return refuse(message, "the symbols are not inside the file");
      }
      const Elf64_Shdr* strings = &sections[s->sh_link];
      if (strings->sh_offset > o->size || strings->sh_size > o->size - strings->sh_offset || !strings->sh_size ||
          o->data[strings->sh_offset + strings->sh_size - 1]) {
        return refuse(message, "the names of the symbols are not inside the file");
      }
      o->symbols = (const Elf64_Sym*)(o->data + s->sh_offset);
      o->symbol_count = s->sh_size / sizeof(Elf64_Sym);
      o->strings = (const char*)o->data + strings->sh_offset;
      o->string_size = strings->sh_size;
    } else if (s->sh_type == SHT_RELA && (s->sh_flags & SHF_ALLOC)) {
      if (!inside(o, s->sh_offset, s->sh_size / sizeof(Elf64_Rela), sizeof(Elf64_Rela))) {
        return refuse(message, "the relocations are not inside the file");
      }
      o->relocations = (const Elf64_Rela*)(o->data + s->sh_offset);
      o->relocation_count = s->sh_size / sizeof(Elf64_Rela);
    }
  }
  return o->symbols ? true : refuse(message, "it has no dynamic symbols");
}

// Where notes are being read.
typedef struct notes_t {
  uint32_t segment;
  uint64_t at;
} notes_t;

// The next metadata note: a file that was linked of several has one of each. False when there is none left.
static bool next_metadata(const code_object_t* o, notes_t* notes, msgpack_t* out) {
  for (; notes->segment < o->segment_count; ++notes->segment, notes->at = 0) {
    const Elf64_Phdr* s = &o->segments[notes->segment];
    while (s->p_type == PT_NOTE && notes->at < s->p_filesz && s->p_filesz - notes->at >= 12) {
      uint32_t sizes[3];
      const uint8_t* first = o->data + s->p_offset;
      memcpy(sizes, first + notes->at, 12);
      uint64_t name = notes->at + 12, body = name + ((sizes[0] + UINT64_C(3)) & ~UINT64_C(3));
      if (body > s->p_filesz || sizes[1] > s->p_filesz - body) break;
      notes->at = body + ((sizes[1] + UINT64_C(3)) & ~UINT64_C(3));
      if (sizes[2] != NOTE_METADATA || sizes[0] != 7 || memcmp(first + name, "AMDGPU", 7) != 0) continue;
      *out = (msgpack_t){first + body, first + body + sizes[1], false};
      return true;
    }
  }
  return false;
}

// Notes fill their segments, and the metadata among them are one whole map each.
static bool check_notes(const code_object_t* o, text_t* message) {
  for (uint32_t i = 0; i < o->segment_count; ++i) {
    const Elf64_Phdr* s = &o->segments[i];
    for (uint64_t at = 0; s->p_type == PT_NOTE && at < s->p_filesz && s->p_filesz - at >= 12;) {
      uint32_t sizes[2];
      memcpy(sizes, o->data + s->p_offset + at, sizeof(sizes));
      uint64_t name = (sizes[0] + UINT64_C(3)) & ~UINT64_C(3), body = (sizes[1] + UINT64_C(3)) & ~UINT64_C(3);
      if (name + sizes[1] > s->p_filesz - at - 12) return refuse(message, "a note is not inside its segment");
      at += 12 + name + body;
    }
  }
  notes_t notes = {0};
  for (msgpack_t r; next_metadata(o, &notes, &r);) {
    msgpack_t root = r;
    msgpack_skip(&r);
    if (msgpack_read(&root).type != MSGPACK_MAP || r.bad) return refuse(message, "its metadata cannot be read");
  }
  return true;
}

bool code_object_open(const void* data, size_t size, code_object_t* out, text_t* message) {
  *out = (code_object_t){.data = data, .size = size};
  const Elf64_Ehdr* header = data;
  if (size < sizeof(*header) || memcmp(data, ELFMAG, SELFMAG) != 0 || (uintptr_t)data % 8) {
    return refuse(message, "it is no ELF file");
  }
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != MACHINE_AMDGPU ||
      header->e_ident[EI_OSABI] != ABI_HSA) {
    return refuse(message, "it is no ELF file for AMD GPUs under HSA");
  }
  if (header->e_ident[EI_ABIVERSION] < 1) return refuse(message, "its version is too old; 3 to 6 are known");
  return open_segments(out, header, message) && open_sections(out, header, message) && check_notes(out, message);
}

static bool fits_processor(const isa_target_t* code, const isa_target_t* t) {
  const char* generic = isa_target_generic(t);
  return code == t || (generic && strcmp(code->name, generic) == 0);
}

// Settings in the flags: 0 none, 1 any, 2 off, 3 on.
static bool fits_setting(uint32_t setting, bool has, bool is_on) {
  return setting < 2 || (has && (setting == 3) == is_on);
}

bool code_object_fits(const code_object_t* o, const isa_target_t* target, text_t* message) {
  uint32_t flags = ((const Elf64_Ehdr*)o->data)->e_flags;
  const isa_target_t* code = isa_target_of_machine(flags & 255);
  if (!code || !fits_processor(code, target)) {
    text_printf(message, "code object: it is for %s, and the GPU is %s", code ? code->name : "an unknown processor",
                target->name);
    return false;
  }
  if (!fits_setting(flags >> 8 & 3, target->has_xnack, false) ||
      !fits_setting(flags >> 10 & 3, target->has_sramecc, true)) {
    text_printf(message, "code object: it is for %s%s%s, and the GPU is %s:sramecc+:xnack-", code->name,
                (flags >> 10 & 3) == 2 ? ":sramecc-" : "", (flags >> 8 & 3) == 3 ? ":xnack+" : "", target->name);
    return false;
  }
  return true;
}

bool code_object_symbol(const code_object_t* o, uint64_t index, code_object_symbol_t* out) {
  const Elf64_Sym* symbol = &o->symbols[index];
  if (symbol->st_name >= o->string_size || symbol->st_shndx == SHN_UNDEF || symbol->st_value >= o->image_size) {
    return false;
  }
  const char* name = o->strings + symbol->st_name;
  size_t length = strlen(name);
  uint32_t type = ELF64_ST_TYPE(symbol->st_info);
  *out = (code_object_symbol_t){.name = name,
                                .value = symbol->st_value,
                                .size = symbol->st_size,
                                .is_kernel = type == STT_OBJECT && length > 3 && strcmp(name + length - 3, ".kd") == 0,
                                .is_function = type == STT_FUNC};
  // A descriptor must be whole.
  return length && (!out->is_kernel || symbol->st_value + 64 <= o->image_size) &&
         (out->is_kernel || out->is_function || type == STT_OBJECT);
}

static bool relocate(const code_object_t* o, const Elf64_Rela* r, uint8_t* image,
                     bool (*define)(void* data, const char* name, uint64_t* address), void* data, text_t* message) {
  uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info), size = 8;
  uint64_t index = ELF64_R_SYM(r->r_info), symbol = 0;
  if (type != RELOC_ABS64 && type != RELOC_REL64 && type != RELOC_RELATIVE64) size = 4;
  if (o->image_size < size || r->r_offset > o->image_size - size || index >= o->symbol_count) {
    return refuse(message, "a relocation is outside the image");
  }
  if (index) {
    const Elf64_Sym* s = &o->symbols[index];
    symbol = (uint64_t)image + s->st_value;
    if (s->st_shndx == SHN_UNDEF &&
        (s->st_name >= o->string_size || !define || !define(data, o->strings + s->st_name, &symbol))) {
      text_printf(message, "code object: symbol '%s' is not defined",
                  s->st_name < o->string_size ? o->strings + s->st_name : "");
      return false;
    }
  }
  uint64_t place = (uint64_t)image + r->r_offset, value = symbol + (uint64_t)r->r_addend;
  switch (type) {
    case RELOC_RELATIVE64:
      value = (uint64_t)image + (uint64_t)r->r_addend;
      break;
    case RELOC_ABS64:
    case RELOC_ABS32:
    case RELOC_ABS32_LO:
      break;
    case RELOC_ABS32_HI:
      value >>= 32;
      break;
    case RELOC_REL32:
    case RELOC_REL32_LO:
    case RELOC_REL64:
      value -= place;
      break;
    case RELOC_REL32_HI:
      value = (value - place) >> 32;
      break;
    default:
      text_printf(message, "code object: relocation of type %u is not known", type);
      return false;
  }
  memcpy(image + r->r_offset, &value, size);
  return true;
}

bool code_object_load(const code_object_t* o, uint8_t* image,
                      bool (*define)(void* data, const char* name, uint64_t* address), void* data, text_t* message) {
  for (uint32_t i = 0; i < o->segment_count; ++i) {
    const Elf64_Phdr* s = &o->segments[i];
    if (s->p_type == PT_LOAD) memcpy(image + s->p_vaddr, o->data + s->p_offset, s->p_filesz);
  }
  for (uint64_t i = 0; i < o->relocation_count; ++i) {
    if (!relocate(o, &o->relocations[i], image, define, data, message)) return false;
  }
  return true;
}

// One kernel's map; true when its ".symbol" is the one.
static bool read_kernel(msgpack_t* r, const char* symbol, code_object_kernel_t* out) {
  msgpack_value_t map = msgpack_read(r);
  bool is_it = false;
  for (uint32_t i = 0; i < map.count && map.type == MSGPACK_MAP && !r->bad; ++i) {
    msgpack_value_t key = msgpack_read(r);
    msgpack_t before = *r;
    msgpack_value_t value = msgpack_read(&before);
    if (msgpack_is(&key, ".symbol")) is_it = msgpack_is(&value, symbol);
    if (msgpack_is(&key, ".kernarg_segment_size")) out->kernarg_size = (uint32_t)value.integer;
    if (msgpack_is(&key, ".kernarg_segment_align")) out->kernarg_alignment = (uint32_t)value.integer;
    if (msgpack_is(&key, ".group_segment_fixed_size")) out->group_size = (uint32_t)value.integer;
    if (msgpack_is(&key, ".private_segment_fixed_size")) out->private_size = (uint32_t)value.integer;
    if (msgpack_is(&key, ".uses_dynamic_stack")) out->has_dynamic_stack = value.integer != 0;
    msgpack_skip(r);
  }
  return is_it;
}

// Looks for the kernel in one note.
static bool find_kernel(msgpack_t* r, const char* symbol, code_object_kernel_t* out) {
  msgpack_value_t root = msgpack_read(r);
  for (uint32_t i = 0; i < root.count && root.type == MSGPACK_MAP && !r->bad; ++i) {
    msgpack_value_t key = msgpack_read(r);
    if (!msgpack_is(&key, "amdhsa.kernels")) {
      msgpack_skip(r);
      continue;
    }
    msgpack_value_t kernels = msgpack_read(r);
    for (uint32_t k = 0; k < kernels.count && kernels.type == MSGPACK_ARRAY && !r->bad; ++k) {
      *out = (code_object_kernel_t){0};
      if (read_kernel(r, symbol, out)) return true;
    }
  }
  return false;
}

bool code_object_kernel(const code_object_t* o, const char* symbol, code_object_kernel_t* out) {
  notes_t notes = {0};
  for (msgpack_t r; next_metadata(o, &notes, &r);) {
    if (find_kernel(&r, symbol, out)) return true;
  }
  return false;
}
