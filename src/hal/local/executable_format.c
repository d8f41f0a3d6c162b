// See executable_format.h. Every number is read where it is known to be inside.
#include "iree/hal/local/executable_format.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct image_t {
  const uint8_t* data;
  uint64_t length;  // what may be read of it
  bool big_endian;
  bool failed;  // something was outside
} image_t;

static image_t image_of(iree_const_byte_span_t data) {
  return (image_t){.data = data.data, .length = data.data_length ? data.data_length : SIZE_MAX};
}

static uint64_t read_number(image_t* image, uint64_t offset, uint32_t bytes) {
  if (offset > image->length || bytes > image->length - offset) image->failed = true;
  if (image->failed) return 0;
  uint64_t value = 0;
  for (uint32_t i = 0; i < bytes; ++i) {
    uint32_t shift = 8 * (image->big_endian ? bytes - 1 - i : i);
    value |= (uint64_t)image->data[offset + i] << shift;
  }
  return value;
}

static bool has_magic(iree_const_byte_span_t data, const char* magic, size_t size) {
  return (!data.data_length || data.data_length >= size) && memcmp(data.data, magic, size) == 0;
}

// The end of what has been seen so far and of [offset, offset + size).
static uint64_t reach(image_t* image, uint64_t end, uint64_t offset, uint64_t size) {
  uint64_t last = 0;
  if (__builtin_add_overflow(offset, size, &last)) image->failed = true;
  return last > end ? last : end;
}

// The size is the data's where that is known.
static iree_status_t give(image_t* image, iree_const_byte_span_t data, uint64_t size, const char* prefix,
                          const char* name, iree_host_size_t capacity, char* format, iree_host_size_t* out_size) {
  if (image->failed || size > SIZE_MAX) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "executable data ends before what its header says is there");
  }
  *out_size = data.data_length ? data.data_length : (iree_host_size_t)size;
  if (!capacity || !format) return iree_ok_status();
  iree_host_size_t needed = strlen(prefix) + strlen(name) + 1;
  if (capacity < needed) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "the format's name needs %" PRIhsz " characters, not %" PRIhsz,
                            needed, capacity);
  }
  snprintf(format, capacity, "%s%s", prefix, name);
  return iree_ok_status();
}

static iree_status_t incompatible(iree_const_byte_span_t data, size_t least, const char* kind) {
  if (data.data_length && data.data_length < least) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "executable data is too short to have a format");
  }
  return iree_make_status(IREE_STATUS_INCOMPATIBLE, "executable data is not %s", kind);
}

//===----------------------------------------------------------------------------------------------------------------===
// ELF
//===----------------------------------------------------------------------------------------------------------------===

static const char* elf_architecture(uint64_t machine, bool wide) {
  switch (machine) {
    case 3:
      return "x86_32";
    case 40:
      return "arm_32";
    case 62:
      return "x86_64";
    case 183:
      return "arm_64";
    case 243:
      return wide ? "riscv_64" : "riscv_32";
    default:
      return "unknown";
  }
}

// Headers, and the sections that are in the file.
static uint64_t elf_size(image_t* image, bool wide) {
  enum { NO_BITS = 8 };
  uint32_t word = wide ? 8 : 4;
  uint64_t programs = read_number(image, wide ? 32 : 28, word), sections = read_number(image, wide ? 40 : 32, word);
  uint64_t counts = wide ? 54 : 42;  // sizes and numbers of entries, two bytes each
  uint64_t program_bytes = read_number(image, counts, 2) * read_number(image, counts + 2, 2);
  uint64_t entry = read_number(image, counts + 4, 2), count = read_number(image, counts + 6, 2);
  uint64_t end = wide ? 64 : 52;
  if (programs) end = reach(image, end, programs, program_bytes);
  if (sections) end = reach(image, end, sections, entry * count);
  for (uint64_t i = 0; sections && i < count && !image->failed; ++i) {
    uint64_t at = sections + i * entry;
    if (read_number(image, at + 4, 4) == NO_BITS) continue;
    uint64_t offset = read_number(image, at + (wide ? 24 : 16), word);
    end = reach(image, end, offset, read_number(image, at + (wide ? 32 : 20), word));
  }
  return end;
}

static uint64_t fatelf_size(image_t* image) {
  enum { HEADER = 8, RECORD = 24 };
  uint64_t count = read_number(image, 6, 1), end = HEADER + count * RECORD;
  for (uint64_t i = 0; i < count && !image->failed; ++i) {
    uint64_t at = HEADER + i * RECORD;
    end = reach(image, end, read_number(image, at + 8, 8), read_number(image, at + 16, 8));
  }
  return end;
}

static iree_status_t infer_elf(const char* origin, iree_const_byte_span_t data, iree_host_size_t capacity, char* format,
                               iree_host_size_t* out_size) {
  image_t image = image_of(data);
  char prefix[32];
  *out_size = 0;
  if (has_magic(data, "\xFA\x70\x0E\x1F", 4)) {
    uint64_t size = data.data_length ? 0 : fatelf_size(&image);
    return give(&image, data, size, origin, "fatelf", capacity, format, out_size);
  }
  if (!has_magic(data,
                 "\x7F"
                 "ELF",
                 4))
    return incompatible(data, 4, "ELF or FatELF");
  bool wide = read_number(&image, 4, 1) == 2;
  image.big_endian = read_number(&image, 5, 1) == 2;
  const char* name = elf_architecture(read_number(&image, 18, 2), wide);
  snprintf(prefix, sizeof(prefix), "%self-", origin);
  uint64_t size = data.data_length ? 0 : elf_size(&image, wide);
  return give(&image, data, size, prefix, name, capacity, format, out_size);
}

iree_status_t iree_hal_executable_infer_elf_format(iree_const_byte_span_t executable_data,
                                                   iree_host_size_t executable_format_capacity, char* executable_format,
                                                   iree_host_size_t* out_inferred_size) {
  return infer_elf("embedded-", executable_data, executable_format_capacity, executable_format, out_inferred_size);
}

iree_status_t iree_hal_executable_infer_system_format(iree_const_byte_span_t executable_data,
                                                      iree_host_size_t executable_format_capacity,
                                                      char* executable_format, iree_host_size_t* out_inferred_size) {
  return infer_elf("system-", executable_data, executable_format_capacity, executable_format, out_inferred_size);
}

//===----------------------------------------------------------------------------------------------------------------===
// PE
//===----------------------------------------------------------------------------------------------------------------===

static const char* pe_architecture(uint64_t machine) {
  switch (machine) {
    case 0x14C:
      return "x86_32";
    case 0x1C4:
      return "arm_32";
    case 0x8664:
      return "x86_64";
    case 0xAA64:
      return "arm_64";
    default:
      return "unknown";
  }
}

iree_status_t iree_hal_executable_infer_dll_format(iree_const_byte_span_t executable_data,
                                                   iree_host_size_t executable_format_capacity, char* executable_format,
                                                   iree_host_size_t* out_inferred_size) {
  enum { HEADER = 24, SECTION = 40 };
  image_t image = image_of(executable_data);
  *out_inferred_size = 0;
  if (!has_magic(executable_data, "MZ", 2)) return incompatible(executable_data, 2, "PE");
  uint64_t header = read_number(&image, 60, 4), size = 0;
  if (read_number(&image, header, 4) != 0x4550 && !image.failed) return incompatible(executable_data, 2, "PE");
  uint64_t machine = read_number(&image, header + 4, 2);
  uint64_t count = read_number(&image, header + 6, 2), optional = read_number(&image, header + 20, 2);
  for (uint64_t i = 0; !executable_data.data_length && i < count && !image.failed; ++i) {
    uint64_t at = header + HEADER + optional + i * SECTION;
    size = reach(&image, size, read_number(&image, at + 20, 4), read_number(&image, at + 16, 4));
  }
  return give(&image, executable_data, size, "system-dll-", pe_architecture(machine), executable_format_capacity,
              executable_format, out_inferred_size);
}

//===----------------------------------------------------------------------------------------------------------------===
// Mach-O
//===----------------------------------------------------------------------------------------------------------------===

static const char* macho_architecture(uint64_t type) {
  switch (type) {
    case 7:
      return "x86_32";
    case 12:
      return "arm_32";
    case 0x1000007:
      return "x86_64";
    case 0x100000C:
      return "arm_64";
    default:
      return "unknown";
  }
}

// The segments that load commands name.
static uint64_t macho_size(image_t* image, bool wide) {
  enum { SEGMENT = 0x1, SEGMENT_64 = 0x19, SYMBOLS = 0x2, LEAST = 8 };
  uint64_t count = read_number(image, 16, 4), at = wide ? 32 : 28, end = at + read_number(image, 20, 4);
  for (uint64_t i = 0; i < count && !image->failed; ++i) {
    uint64_t command = read_number(image, at, 4), size = read_number(image, at + 4, 4);
    if (size < LEAST) image->failed = true;
    if (command == SEGMENT) {
      end = reach(image, end, read_number(image, at + 32, 4), read_number(image, at + 36, 4));
    } else if (command == SEGMENT_64) {
      end = reach(image, end, read_number(image, at + 40, 8), read_number(image, at + 48, 8));
    } else if (command == SYMBOLS) {
      end = reach(image, end, read_number(image, at + 16, 4), read_number(image, at + 20, 4));
    }
    at += size;
  }
  return end;
}

iree_status_t iree_hal_executable_infer_macho_format(iree_const_byte_span_t executable_data,
                                                     iree_host_size_t executable_format_capacity,
                                                     char* executable_format, iree_host_size_t* out_inferred_size) {
  static const char prefix[] = "system-dylib-";
  image_t image = image_of(executable_data);
  *out_inferred_size = 0;
  bool known = executable_data.data_length != 0;
  if (has_magic(executable_data, "\xCA\xFE\xBA\xBE", 4)) {
    return iree_make_status(IREE_STATUS_INCOMPATIBLE, "Mach-O files for several processors have no format");
  }
  image.big_endian = has_magic(executable_data, "\xFE\xED\xFA", 3);
  bool wide = has_magic(executable_data, image.big_endian ? "\xFE\xED\xFA\xCF" : "\xCF\xFA\xED\xFE", 4);
  bool narrow = has_magic(executable_data, image.big_endian ? "\xFE\xED\xFA\xCE" : "\xCE\xFA\xED\xFE", 4);
  if (!wide && !narrow) return incompatible(executable_data, 4, "Mach-O");
  const char* name = macho_architecture(read_number(&image, 4, 4));
  uint64_t size = known ? 0 : macho_size(&image, wide);
  return give(&image, executable_data, size, prefix, name, executable_format_capacity, executable_format,
              out_inferred_size);
}

//===----------------------------------------------------------------------------------------------------------------===
// WebAssembly
//===----------------------------------------------------------------------------------------------------------------===

// A number in groups of seven bits, which moves `at` behind it.
static uint64_t read_leb(image_t* image, uint64_t* at) {
  uint64_t value = 0;
  for (uint32_t shift = 0; shift < 63; shift += 7) {
    uint64_t byte = read_number(image, (*at)++, 1);
    value |= (byte & 0x7F) << shift;
    if (!(byte & 0x80)) return value;
  }
  image->failed = true;
  return 0;
}

// Flags of limits: the first of a section of memories, or of the first memory among imports; 0 without one.
static uint64_t find_memory(image_t* image, uint64_t section, uint64_t at) {
  enum { IMPORTS = 2, FUNCTION = 0, TABLE = 1, MEMORY = 2, GLOBAL = 3, HAS_MAXIMUM = 1 };
  uint64_t count = read_leb(image, &at);
  if (section != IMPORTS) return count ? read_leb(image, &at) : 0;
  for (uint64_t i = 0; i < count && !image->failed; ++i) {
    for (int name = 0; name < 2; ++name) {
      uint64_t size = read_leb(image, &at);
      if (__builtin_add_overflow(at, size, &at)) image->failed = true;
    }
    uint64_t kind = read_number(image, at++, 1);
    if (kind == MEMORY) return read_leb(image, &at);
    if (kind == TABLE) {
      ++at;  // the elements' type
      bool maximum = read_leb(image, &at) & HAS_MAXIMUM;
      read_leb(image, &at);
      if (maximum) read_leb(image, &at);
    } else if (kind == GLOBAL) {
      at += 2;
    } else if (kind == FUNCTION) {
      read_leb(image, &at);
    } else {
      return 0;  // kinds that came later, whose length is not known
    }
  }
  return 0;
}

iree_status_t iree_hal_executable_infer_wasm_format(iree_const_byte_span_t executable_data,
                                                    iree_host_size_t executable_format_capacity,
                                                    char* executable_format, iree_host_size_t* out_inferred_size) {
  enum { IMPORTS = 2, MEMORIES = 5, WIDE = 4, HEADER = 8 };
  image_t image = image_of(executable_data);
  uint64_t flags = 0, last = 0;
  *out_inferred_size = 0;
  if (!has_magic(executable_data, "\0asm", 4)) return incompatible(executable_data, 4, "WebAssembly");
  read_number(&image, 4, 4);
  // Sections come in order; what is behind memories is not needed, and its end not known without a length.
  for (uint64_t at = HEADER; at < image.length && !image.failed && last < MEMORIES;) {
    uint64_t section = read_number(&image, at++, 1), size = read_leb(&image, &at);
    if (section == IMPORTS || section == MEMORIES) flags |= find_memory(&image, section, at);
    if (section) last = section;
    if (__builtin_add_overflow(at, size, &at)) image.failed = true;
  }
  return give(&image, executable_data, 0, "", flags & WIDE ? "wasm_64" : "wasm_32", executable_format_capacity,
              executable_format, out_inferred_size);
}
