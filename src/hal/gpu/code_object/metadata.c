// Reading kernel metadata: ELF program headers -> PT_NOTE -> note 32 of "AMDGPU" -> MessagePack.
//
//   {amdhsa.kernels: [{.name, .symbol, .kernarg_segment_size, ..., .args: [{.offset, .size, .value_kind}]}], ...}
//
// The document is walked in place. A reader that ran off its end, or met something else than it asked for, is failed
// and stays so; that is looked at where it matters.
#include "hal/gpu/code_object/metadata.h"

#include <elf.h>

enum { NOTE_AMDGPU_METADATA = 32, MAX_DEPTH = 16, MAX_KERNELS = 65535, MAX_WORKGROUP = 1024 };

//===----------------------------------------------------------------------------------------------------------------===
// MessagePack
//===----------------------------------------------------------------------------------------------------------------===

typedef struct reader_t {
  const uint8_t* at;
  const uint8_t* end;
  bool failed;
} reader_t;

static uint64_t take(reader_t* r, size_t size) {
  if (r->failed || (size_t)(r->end - r->at) < size) {
    r->failed = true;
    return 0;
  }
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) value = value << 8 | *r->at++;
  return value;
}

static uint8_t peek(reader_t* r) {
  if (r->failed || r->at == r->end) {
    r->failed = true;
    return 0xC1;  // never used by the format
  }
  return *r->at;
}

static iree_string_view_t take_bytes(reader_t* r, uint64_t size) {
  if (r->failed || (uint64_t)(r->end - r->at) < size) {
    r->failed = true;
    return iree_string_view_empty();
  }
  iree_string_view_t bytes = iree_make_string_view((const char*)r->at, (iree_host_size_t)size);
  r->at += size;
  return bytes;
}

// Count of a container whose short form is `fix` (with `mask` for the count) and whose long forms are `first` (16 bits)
// and the next (32 bits).
static uint64_t take_count(reader_t* r, uint8_t fix, uint8_t mask, uint8_t first) {
  uint8_t tag = peek(r);
  if (r->failed) return 0;
  ++r->at;
  if ((tag & (uint8_t)~mask) == fix) return tag & mask;
  if (tag == first) return take(r, 2);
  if (tag == first + 1) return take(r, 4);
  r->failed = true;
  return 0;
}

static uint64_t take_map(reader_t* r) { return take_count(r, 0x80, 0x0F, 0xDE); }
static uint64_t take_array(reader_t* r) { return take_count(r, 0x90, 0x0F, 0xDC); }

static iree_string_view_t take_string(reader_t* r) {
  uint8_t tag = peek(r);
  if ((tag & 0xE0) == 0xA0) {
    ++r->at;
    return take_bytes(r, tag & 0x1F);
  }
  if (tag < 0xD9 || tag > 0xDB) r->failed = true;
  if (r->failed) return iree_string_view_empty();
  ++r->at;
  return take_bytes(r, take(r, (size_t)1 << (tag - 0xD9)));
}

static uint64_t take_uint(reader_t* r) {
  uint8_t tag = peek(r);
  if (r->failed) return 0;
  ++r->at;
  if (tag < 0x80) return tag;
  if (tag >= 0xCC && tag <= 0xCF) return take(r, (size_t)1 << (tag - 0xCC));
  if (tag >= 0xD0 && tag <= 0xD3) return take(r, (size_t)1 << (tag - 0xD0));  // signed ones of the same size
  r->failed = true;
  return 0;
}

// Bytes after the tag of values without children; SIZE_MAX for others.
static size_t scalar_size(uint8_t tag) {
  if (tag < 0x80 || tag >= 0xE0 || tag == 0xC0 || tag == 0xC2 || tag == 0xC3) return 0;
  if (tag == 0xCA) return 4;
  if (tag == 0xCB) return 8;
  if (tag >= 0xCC && tag <= 0xD3) return (size_t)1 << ((tag - 0xCC) & 3);
  if (tag >= 0xD4 && tag <= 0xD8) return ((size_t)1 << (tag - 0xD4)) + 1;
  return SIZE_MAX;
}

static void skip(reader_t* r, int depth) {
  uint8_t tag = peek(r);
  if (depth > MAX_DEPTH) r->failed = true;
  if (r->failed) return;
  bool is_map = (tag & 0xF0) == 0x80 || tag == 0xDE || tag == 0xDF;
  bool is_array = (tag & 0xF0) == 0x90 || tag == 0xDC || tag == 0xDD;
  if (is_map || is_array) {
    uint64_t count = is_map ? take_map(r) * 2 : take_array(r);
    for (uint64_t i = 0; i < count && !r->failed; ++i) skip(r, depth + 1);
  } else if ((tag & 0xE0) == 0xA0 || (tag >= 0xD9 && tag <= 0xDB)) {
    take_string(r);
  } else if (tag >= 0xC4 && tag <= 0xC6) {
    ++r->at;
    take_bytes(r, take(r, (size_t)1 << (tag - 0xC4)));
  } else if (scalar_size(tag) != SIZE_MAX) {
    ++r->at;
    take_bytes(r, scalar_size(tag));
  } else {
    r->failed = true;
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Kernels
//===----------------------------------------------------------------------------------------------------------------===

typedef struct argument_t {
  uint64_t offset, size;
  iree_string_view_t kind;
} argument_t;

static void take_argument(reader_t* r, argument_t* out) {
  *out = (argument_t){0};
  uint64_t count = take_map(r);
  for (uint64_t i = 0; i < count && !r->failed; ++i) {
    iree_string_view_t key = take_string(r);
    if (iree_string_view_equal(key, IREE_SV(".offset"))) {
      out->offset = take_uint(r);
    } else if (iree_string_view_equal(key, IREE_SV(".size"))) {
      out->size = take_uint(r);
    } else if (iree_string_view_equal(key, IREE_SV(".value_kind"))) {
      out->kind = take_string(r);
    } else {
      skip(r, 0);
    }
  }
  if (out->size > 0xFFFF || out->offset > 0xFFFF) r->failed = true;
}

static void add_hidden(metadata_kernel_t* kernel, const argument_t* argument) {
  static const char* const kinds[] = {
#define HIDDEN(name, text) text,
      METADATA_HIDDEN_KINDS(HIDDEN)
#undef HIDDEN
  };
  for (int i = 0; i < METADATA_HIDDEN_COUNT && kernel->hidden_count < METADATA_MAX_HIDDEN; ++i) {
    if (!iree_string_view_equal(argument->kind, iree_make_cstring_view(kinds[i])) || argument->size > 8) continue;
    uint32_t at = kernel->hidden_count++;
    kernel->hidden[at].offset = (uint16_t)argument->offset;
    kernel->hidden[at].size = (uint8_t)argument->size;
    kernel->hidden[at].kind = (uint8_t)i;
  }
}

static void add_argument(metadata_kernel_t* kernel, const argument_t* argument) {
  if (iree_string_view_starts_with(argument->kind, IREE_SV("hidden_"))) {
    add_hidden(kernel, argument);
    return;
  }
  uint64_t end = argument->offset + argument->size;
  bool is_next = argument->offset == kernel->explicit_size;
  kernel->explicit_size = iree_max(kernel->explicit_size, (uint32_t)end);
  bool is_pointer = iree_string_view_equal(argument->kind, IREE_SV("global_buffer")) && argument->size == 8;
  bool is_word = iree_string_view_equal(argument->kind, IREE_SV("by_value")) && argument->size == 4;
  if (is_pointer && is_next && kernel->constant_count == 0) {
    ++kernel->binding_count;
  } else if (is_word && is_next) {
    ++kernel->constant_count;
  } else {
    kernel->is_hal = false;
  }
}

static void take_arguments(reader_t* r, metadata_kernel_t* kernel) {
  uint64_t count = take_array(r);
  for (uint64_t i = 0; i < count && !r->failed; ++i) {
    argument_t argument;
    take_argument(r, &argument);
    if (!r->failed) add_argument(kernel, &argument);
  }
}

// FIELD(key, field): keys with a number
#define KERNEL_FIELDS(FIELD)                            \
  FIELD(".kernarg_segment_size", kernarg_size)          \
  FIELD(".kernarg_segment_align", kernarg_alignment)    \
  FIELD(".group_segment_fixed_size", group_size)        \
  FIELD(".private_segment_fixed_size", private_size)    \
  FIELD(".max_flat_workgroup_size", max_workgroup_size) \
  FIELD(".wavefront_size", wave_size)

static bool take_field(reader_t* r, iree_string_view_t key, metadata_kernel_t* kernel) {
#define FIELD(text, field)                          \
  if (iree_string_view_equal(key, IREE_SV(text))) { \
    uint64_t value = take_uint(r);                  \
    if (value > INT32_MAX) r->failed = true;        \
    kernel->field = (uint32_t)value;                \
    return true;                                    \
  }
  KERNEL_FIELDS(FIELD)
#undef FIELD
  return false;
}

static void take_kernel(reader_t* r, metadata_kernel_t* kernel) {
  kernel->is_hal = true;
  uint64_t count = take_map(r);
  for (uint64_t i = 0; i < count && !r->failed; ++i) {
    iree_string_view_t key = take_string(r);
    if (iree_string_view_equal(key, IREE_SV(".name"))) {
      kernel->name = take_string(r);
    } else if (iree_string_view_equal(key, IREE_SV(".symbol"))) {
      kernel->symbol = take_string(r);
    } else if (iree_string_view_equal(key, IREE_SV(".args"))) {
      take_arguments(r, kernel);
    } else if (iree_string_view_equal(key, IREE_SV(".reqd_workgroup_size"))) {
      if (take_array(r) != 3) r->failed = true;
      for (int j = 0; j < 3 && !r->failed; ++j) {
        uint64_t size = take_uint(r);
        r->failed |= size > MAX_WORKGROUP;
        kernel->workgroup_size[j] = (uint32_t)size;
      }
    } else if (!take_field(r, key, kernel)) {
      skip(r, 0);
    }
  }
  bool valid = kernel->name.size && kernel->symbol.size && kernel->symbol.size < 4096 &&
               kernel->explicit_size <= kernel->kernarg_size && kernel->kernarg_size <= 64 * 1024;
  for (uint32_t i = 0; i < kernel->hidden_count; ++i) {
    valid = valid && kernel->hidden[i].offset + kernel->hidden[i].size <= (int64_t)kernel->kernarg_size;
  }
  if (!valid) r->failed = true;
}

static iree_status_t bad_metadata(void) {
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the code object's kernel metadata is malformed");
}

static iree_status_t take_kernels(reader_t* r, iree_allocator_t host_allocator, metadata_t* metadata) {
  uint64_t count = take_array(r), total = metadata->kernel_count + count;
  if (r->failed || total > MAX_KERNELS || count > (uint64_t)(r->end - r->at)) return bad_metadata();
  IREE_RETURN_IF_ERROR(
      iree_allocator_realloc_array(host_allocator, total + 1, sizeof(*metadata->kernels), (void**)&metadata->kernels));
  for (uint64_t i = 0; i < count && !r->failed; ++i) {
    metadata_kernel_t* kernel = &metadata->kernels[metadata->kernel_count++];
    memset(kernel, 0, sizeof(*kernel));
    take_kernel(r, kernel);
  }
  return iree_ok_status();
}

static iree_status_t read_document(reader_t* r, iree_allocator_t host_allocator, metadata_t* metadata) {
  uint64_t count = take_map(r);
  for (uint64_t i = 0; i < count && !r->failed; ++i) {
    iree_string_view_t key = take_string(r);
    if (iree_string_view_equal(key, IREE_SV("amdhsa.kernels"))) {
      IREE_RETURN_IF_ERROR(take_kernels(r, host_allocator, metadata));
    } else {
      skip(r, 0);
    }
  }
  return r->failed ? bad_metadata() : iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// ELF
//===----------------------------------------------------------------------------------------------------------------===

static bool in_file(iree_const_byte_span_t elf, uint64_t offset, uint64_t size) {
  return offset <= elf.data_length && size <= elf.data_length - offset;
}

// Reads every metadata note at [at, end): a code object linked from several has one of each.
static iree_status_t read_notes(const uint8_t* at, const uint8_t* end, iree_allocator_t host_allocator,
                                metadata_t* metadata) {
  Elf64_Nhdr note;
  while ((size_t)(end - at) >= sizeof(note)) {
    memcpy(&note, at, sizeof(note));
    at += sizeof(note);
    uint64_t name_size = ((uint64_t)note.n_namesz + 3) & ~3ull, size = ((uint64_t)note.n_descsz + 3) & ~3ull;
    if (name_size > (uint64_t)(end - at) || note.n_descsz > (uint64_t)(end - at) - name_size) return bad_metadata();
    bool is_ours = note.n_type == NOTE_AMDGPU_METADATA && note.n_namesz == 7 && memcmp(at, "AMDGPU", 7) == 0;
    at += name_size;
    if (is_ours) {
      reader_t reader = {at, at + note.n_descsz, false};
      IREE_RETURN_IF_ERROR(read_document(&reader, host_allocator, metadata));
    }
    at += iree_min(size, (uint64_t)(end - at));
  }
  return iree_ok_status();
}

static iree_status_t read_segments(iree_const_byte_span_t elf, iree_allocator_t host_allocator, metadata_t* metadata) {
  Elf64_Ehdr header;
  if (elf.data_length < sizeof(header)) return bad_metadata();
  memcpy(&header, elf.data, sizeof(header));
  if (header.e_phentsize != sizeof(Elf64_Phdr) ||
      !in_file(elf, header.e_phoff, (uint64_t)header.e_phnum * sizeof(Elf64_Phdr))) {
    return bad_metadata();
  }
  for (uint32_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    memcpy(&segment, elf.data + header.e_phoff + i * sizeof(segment), sizeof(segment));
    if (segment.p_type != PT_NOTE || !in_file(elf, segment.p_offset, segment.p_filesz)) continue;
    const uint8_t* notes = elf.data + segment.p_offset;
    IREE_RETURN_IF_ERROR(read_notes(notes, notes + segment.p_filesz, host_allocator, metadata));
  }
  if (metadata->kernels) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the code object has no kernel metadata");
}

iree_status_t metadata_read(iree_const_byte_span_t elf, iree_allocator_t host_allocator, metadata_t* out_metadata) {
  *out_metadata = (metadata_t){0};
  iree_status_t status = read_segments(elf, host_allocator, out_metadata);
  if (!iree_status_is_ok(status)) metadata_free(out_metadata, host_allocator);
  return status;
}

void metadata_free(metadata_t* metadata, iree_allocator_t host_allocator) {
  iree_allocator_free(host_allocator, metadata->kernels);
  *metadata = (metadata_t){0};
}
