// Reading cubins: symbols that are kernels, and what .nv.info says of each. Everything is bounds-checked: the data is
// untrusted.
#include "hal/stream/cubin.h"

#include <elf.h>

enum {
  MACHINE_CUDA = 190,
  ABI_AT = 8,           // byte of the header: its version for NVIDIA
  ABI_LOW_TARGET = 7,   // the architecture is in the flags' lowest byte
  ABI_HIGH_TARGET = 8,  // in the next
  SECTION_INFO = 0x70000000,
  SYMBOL_IS_ENTRY = 0x10,
  PARAMETER_LIMIT = 4096,
};

// Attributes of .nv.info: a byte that says how the value is given, one that names it, two of the value or its size.
enum {
  GIVEN_BEHIND = 4,
  ATTRIBUTE_WORKGROUP_SIZE = 0x10,
  ATTRIBUTE_PARAMETER = 0x17,
  ATTRIBUTE_PARAMETERS_SIZE = 0x19,
};

typedef struct parameter_t {
  uint16_t ordinal, offset;
  uint32_t size;
} parameter_t;

typedef struct reader_t {
  iree_const_byte_span_t data;
  Elf64_Ehdr header;
  Elf64_Shdr symbols, names;
} reader_t;

static iree_status_t fail(const char* what) {
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "cubin: %s", what);
}

bool cubin_is(iree_const_byte_span_t data) {
  Elf64_Ehdr header;
  if (data.data_length < sizeof(header)) return false;
  memcpy(&header, data.data, sizeof(header));
  return memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
         header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_machine == MACHINE_CUDA;
}

uint32_t cubin_target(iree_const_byte_span_t data) {
  Elf64_Ehdr header;
  if (!cubin_is(data)) return 0;
  memcpy(&header, data.data, sizeof(header));
  uint8_t abi = header.e_ident[ABI_AT];
  return abi == ABI_LOW_TARGET ? header.e_flags & 0xFF : abi == ABI_HIGH_TARGET ? header.e_flags >> 8 & 0xFF : 0;
}

static bool is_inside(const reader_t* r, uint64_t offset, uint64_t size) {
  return offset <= r->data.data_length && size <= r->data.data_length - offset;
}

static iree_status_t read_section(const reader_t* r, uint32_t index, Elf64_Shdr* out_section) {
  uint64_t at = r->header.e_shoff + (uint64_t)index * sizeof(Elf64_Shdr);
  if (index >= r->header.e_shnum || at < r->header.e_shoff || !is_inside(r, at, sizeof(Elf64_Shdr))) {
    return fail("a section's header is outside the file");
  }
  memcpy(out_section, r->data.data + at, sizeof(*out_section));
  if (out_section->sh_type == SHT_NOBITS || is_inside(r, out_section->sh_offset, out_section->sh_size)) {
    return iree_ok_status();
  }
  return fail("a section is outside the file");
}

// The first section of a type, of that `info` unless it is 0; false in `*out_found` when there is none.
static iree_status_t find_section(const reader_t* r, uint32_t type, uint32_t info, Elf64_Shdr* out_section,
                                  bool* out_found) {
  *out_found = false;
  for (uint32_t i = 0; i < r->header.e_shnum; ++i) {
    IREE_RETURN_IF_ERROR(read_section(r, i, out_section));
    *out_found = out_section->sh_type == type && (!info || out_section->sh_info == info);
    if (*out_found) break;
  }
  return iree_ok_status();
}

static iree_status_t open(reader_t* r) {
  bool found = false;
  memcpy(&r->header, r->data.data, sizeof(r->header));
  if (r->header.e_shentsize != sizeof(Elf64_Shdr)) return fail("section headers of another size");
  IREE_RETURN_IF_ERROR(find_section(r, SHT_SYMTAB, 0, &r->symbols, &found));
  if (!found) return fail("no symbols");
  IREE_RETURN_IF_ERROR(read_section(r, r->symbols.sh_link, &r->names));
  const uint8_t* names = r->data.data + r->names.sh_offset;
  bool is_text = r->names.sh_type == SHT_STRTAB && r->names.sh_size && !names[r->names.sh_size - 1];
  return is_text ? iree_ok_status() : fail("symbols without names");
}

static void add_parameter(gpu_function_t* function, const parameter_t* parameter) {
  if (parameter->size == sizeof(uint64_t) && !function->constant_count) {
    function->is_hal &= parameter->offset == function->binding_count * sizeof(uint64_t);
    ++function->binding_count;
  } else if (parameter->size == sizeof(uint32_t)) {
    uint64_t offset = function->binding_count * sizeof(uint64_t) + function->constant_count * sizeof(uint32_t);
    function->is_hal &= parameter->offset == offset;
    ++function->constant_count;
  } else {
    function->is_hal = false;
  }
}

// Index, ordinal, offset; the size is above 18 bits of other things.
static parameter_t parse_parameter(const uint8_t* value) {
  parameter_t parameter;
  uint32_t last;
  memcpy(&parameter.ordinal, value + 4, 2);
  memcpy(&parameter.offset, value + 6, 2);
  memcpy(&last, value + 8, 4);
  parameter.size = last >> 18;
  return parameter;
}

// One attribute of a kernel; parameters come in any order, the table is by ordinal.
static iree_status_t read_attribute(uint8_t kind, const uint8_t* value, uint32_t size, parameter_t* parameters,
                                    uint32_t* count, gpu_function_t* function) {
  if (kind == ATTRIBUTE_WORKGROUP_SIZE && size == sizeof(function->workgroup_size)) {
    memcpy(function->workgroup_size, value, size);
  } else if (kind == ATTRIBUTE_PARAMETER && size == 12) {
    parameter_t parameter = parse_parameter(value);
    if (parameter.ordinal >= PARAMETER_LIMIT) return fail("too many parameters");
    parameters[parameter.ordinal] = parameter;
    *count = iree_max(*count, parameter.ordinal + 1u);
  }
  return iree_ok_status();
}

static iree_status_t read_info(const uint8_t* info, uint64_t size, parameter_t* parameters, gpu_function_t* function) {
  uint32_t count = 0;
  uint16_t value;
  for (uint64_t at = 0; at < size;) {
    if (size - at < 4) return fail("an attribute is cut");
    memcpy(&value, info + at + 2, 2);
    uint32_t behind = info[at] == GIVEN_BEHIND ? value : 0;
    if (behind > size - at - 4) return fail("an attribute is cut");
    if (info[at + 1] == ATTRIBUTE_PARAMETERS_SIZE && !behind) function->argument_size = value;
    IREE_RETURN_IF_ERROR(read_attribute(info[at + 1], info + at + 4, behind, parameters, &count, function));
    at += 4 + behind;
  }
  for (uint32_t i = 0; i < count; ++i) add_parameter(function, &parameters[i]);
  function->kernarg_size = function->argument_size;
  uint64_t sum = function->binding_count * sizeof(uint64_t) + function->constant_count * sizeof(uint32_t);
  function->is_hal &= function->argument_size == sum;
  return iree_ok_status();
}

static iree_status_t read_kernel(const reader_t* r, const Elf64_Sym* symbol, parameter_t* parameters,
                                 gpu_function_t* function) {
  if (symbol->st_name >= r->names.sh_size) return fail("a symbol's name is outside its table");
  const char* name = (const char*)r->data.data + r->names.sh_offset + symbol->st_name;
  *function = (gpu_function_t){.name = iree_make_cstring_view(name), .is_hal = true};
  Elf64_Shdr info;
  bool found = false;
  IREE_RETURN_IF_ERROR(find_section(r, SECTION_INFO, symbol->st_shndx, &info, &found));
  if (!found) return fail("a kernel without attributes");
  memset(parameters, 0, PARAMETER_LIMIT * sizeof(*parameters));
  return read_info(r->data.data + info.sh_offset, info.sh_size, parameters, function);
}

static iree_status_t read_kernels(const reader_t* r, parameter_t* parameters, iree_allocator_t host_allocator,
                                  cubin_t* cubin) {
  iree_host_size_t capacity = 0;
  for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= r->symbols.sh_size; at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    memcpy(&symbol, r->data.data + r->symbols.sh_offset + at, sizeof(symbol));
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || !(symbol.st_other & SYMBOL_IS_ENTRY)) continue;
    if (cubin->count == r->header.e_shnum) return fail("more kernels than sections");
    if (cubin->count == capacity) {
      IREE_RETURN_IF_ERROR(iree_allocator_grow_array(host_allocator, 8, sizeof(*cubin->functions), &capacity,
                                                     (void**)&cubin->functions));
    }
    IREE_RETURN_IF_ERROR(read_kernel(r, &symbol, parameters, &cubin->functions[cubin->count++]));
  }
  return iree_ok_status();
}

iree_status_t cubin_read(iree_const_byte_span_t data, iree_allocator_t host_allocator, cubin_t* out_cubin) {
  *out_cubin = (cubin_t){.target = cubin_target(data)};
  if (!cubin_is(data)) return fail("not an ELF file for NVIDIA GPUs");
  if (!out_cubin->target) return fail("made by a CUDA toolkit that is not known");
  reader_t r = {.data = data};
  parameter_t* parameters = NULL;
  IREE_RETURN_IF_ERROR(open(&r));
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_array(host_allocator, PARAMETER_LIMIT, sizeof(*parameters), (void**)&parameters));
  iree_status_t status = read_kernels(&r, parameters, host_allocator, out_cubin);
  iree_allocator_free(host_allocator, parameters);
  if (!iree_status_is_ok(status)) cubin_free(out_cubin, host_allocator);
  return status;
}

void cubin_free(cubin_t* cubin, iree_allocator_t host_allocator) {
  iree_allocator_free(host_allocator, cubin->functions);
  *cubin = (cubin_t){0};
}
