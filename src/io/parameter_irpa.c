// .irpa: headers that lead to one another, each with a table of rows, their names and their contents.
//
//   header  magic "IRPA", version (2 x u16), size, next header, flags, number of rows, then offset and length of
//           the rows, the names and the contents; offsets from the header's own place
//   row     size, kind (u32), flags, offset and length of the name, of metadata, alignment, then
//           contents: offset and length; a pattern: length, 16 bytes, how many of them count (u8)
#include <string.h>

#include "io/parameter_file.h"

enum { HEADER_SIZE = 88, ROW_HEAD = 60, ROW_DATA_SIZE = 76, ROW_SPLAT_SIZE = 85, ROW_ALIGNMENT = 16 };
enum { KIND_SKIP = 0, KIND_SPLAT = 1, KIND_DATA = 2, KIND_EXTERNAL = 3 };

typedef struct segment_t {
  uint64_t offset, length;  // in the file
} segment_t;

static iree_status_t damaged(const char* what) {
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the .irpa archive is damaged: %s", what);
}

static bool read_segment(const parameter_file_t* file, uint64_t base, const uint8_t* at, segment_t* out) {
  uint64_t size = file->contents.data_length, offset = parameter_u64(at);
  *out = (segment_t){base + offset, parameter_u64(at + 8)};
  return offset <= size - base && parameter_range_fits(out->offset, out->length, size);
}

static iree_status_t read_row(parameter_file_t* file, const uint8_t* row, uint64_t size, segment_t names,
                              segment_t contents) {
  const uint8_t* bytes = file->contents.data;
  uint32_t kind = parameter_u32(row + 8);
  uint64_t name = parameter_u64(row + 20), name_length = parameter_u64(row + 28);
  if (kind == KIND_SKIP) return iree_ok_status();
  if (!parameter_range_fits(name, name_length, names.length)) return damaged("a name lies outside of the names");
  parameter_entry_t entry = {
      .key = iree_make_string_view((const char*)bytes + names.offset + name, (iree_host_size_t)name_length)};
  uint64_t metadata = parameter_u64(row + 36), metadata_length = parameter_u64(row + 44);
  if (!parameter_range_fits(metadata, metadata_length, names.length)) return damaged("metadata lie outside");
  if (metadata_length) {
    entry.metadata = iree_make_const_byte_span(bytes + names.offset + metadata, (iree_host_size_t)metadata_length);
  }
  if (kind == KIND_DATA && size >= ROW_DATA_SIZE) {
    uint64_t offset = parameter_u64(row + ROW_HEAD);
    entry.length = parameter_u64(row + ROW_HEAD + 8);
    if (!parameter_range_fits(offset, entry.length, contents.length)) {
      return damaged("an entry lies outside of the contents");
    }
    entry.data = bytes + contents.offset + offset;
  } else if (kind == KIND_SPLAT && size >= ROW_SPLAT_SIZE) {
    entry.length = parameter_u64(row + ROW_HEAD);
    memcpy(entry.pattern, row + ROW_HEAD + 8, IREE_IO_PARAMETER_MAX_SPLAT_PATTERN_LENGTH);
    entry.pattern_length = row[ROW_HEAD + 24];
    if (!entry.pattern_length || entry.pattern_length > IREE_IO_PARAMETER_MAX_SPLAT_PATTERN_LENGTH)
      return damaged("a pattern's length");
  } else if (kind == KIND_EXTERNAL) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                            "the .irpa archive has '%.*s' in another file; archives must have their contents inside",
                            (int)entry.key.size, entry.key.data);
  } else {
    return damaged("an entry of an unknown kind");
  }
  return parameter_file_add(file, &entry);
}

// Rows, names and metadata have bytes of their own: else headers that share them would make a small file a large table,
// and one that takes long to sort.
static bool claim(uint64_t* left, uint64_t size) {
  bool fits = size <= *left;
  *left -= fits ? size : 0;
  return fits;
}

static iree_status_t read_rows(parameter_file_t* file, uint64_t count, const segment_t segments[3], uint64_t* left) {
  const uint8_t* rows = file->contents.data + segments[0].offset;
  uint64_t at = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (!parameter_range_fits(at, ROW_HEAD, segments[0].length)) return damaged("its table is too short");
    uint64_t size = parameter_u64(rows + at);
    if (size < ROW_HEAD || !parameter_range_fits(at, size, segments[0].length)) return damaged("a row's size");
    if (!claim(left, size) || !claim(left, parameter_u64(rows + at + 28)) ||
        !claim(left, parameter_u64(rows + at + 44))) {
      return damaged("its rows, names and metadata are more than it has bytes");
    }
    IREE_RETURN_IF_ERROR(read_row(file, rows + at, size, segments[1], segments[2]));
    at = (at + size + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
  }
  return iree_ok_status();
}

iree_status_t parameter_parse_irpa(parameter_file_t* file) {
  uint64_t base = 0, size = file->contents.data_length, left = size;
  do {
    const uint8_t* header = file->contents.data + base;
    segment_t segments[3];
    if (!parameter_range_fits(base, HEADER_SIZE, size)) return damaged("it ends in a header");
    if (memcmp(header, "IRPA", 4) || parameter_u32(header + 4) & 0xffff || parameter_u64(header + 8) < HEADER_SIZE) {
      return damaged("a header of another version");
    }
    for (int i = 0; i < 3; ++i) {
      if (!read_segment(file, base, header + 40 + 16 * i, &segments[i])) return damaged("a part lies outside of it");
    }
    IREE_RETURN_IF_ERROR(read_rows(file, parameter_u64(header + 32), segments, &left));
    uint64_t next = parameter_u64(header + 16);
    if (!next) return iree_ok_status();
    if (next < HEADER_SIZE || next > size - base) return damaged("a header lies outside of it");
    base += next;
  } while (true);
}
