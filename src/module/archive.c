// ZIP archives (APPNOTE.TXT 6.3.3, sections 4.3 and 4.5), stored entries only. An entry's data is aligned by padding
// its local header with an extra field of an id that readers skip. Fields are little-endian and unaligned.

#include "module/archive.h"

#include "module/crc32.h"
#include "module/rows.h"

enum {
  LOCAL_SIGNATURE = 0x04034b50,
  LOCAL_SIZE = 30,
  CENTRAL_SIGNATURE = 0x02014b50,
  CENTRAL_SIZE = 46,
  END_SIGNATURE = 0x06054b50,
  END_SIZE = 22,
  END64_SIGNATURE = 0x06064b50,
  END64_SIZE = 56,
  LOCATOR64_SIGNATURE = 0x07064b50,
  LOCATOR64_SIZE = 20,
  EXTRA_ZIP64 = 1,
  EXTRA_PADDING = 0xD935,
  VERSION_STORED = 10,
  VERSION_ZIP64 = 45,
  DOS_DATE_1980 = 0x21,
};
#define FIELD32_OVERFLOW 0xFFFFFFFFu

static void put16(uint8_t* at, uint32_t value) { at[0] = (uint8_t)value, at[1] = (uint8_t)(value >> 8); }
static void put32(uint8_t* at, uint32_t value) { put16(at, value & 0xFFFF), put16(at + 2, value >> 16); }
static void put64(uint8_t* at, uint64_t value) { put32(at, (uint32_t)value), put32(at + 4, (uint32_t)(value >> 32)); }
static uint32_t get16(const uint8_t* at) { return at[0] | (uint32_t)at[1] << 8; }
static uint32_t get32(const uint8_t* at) { return get16(at) | get16(at + 2) << 16; }
static uint64_t get64(const uint8_t* at) { return get32(at) | (uint64_t)get32(at + 4) << 32; }

//===----------------------------------------------------------------------------------------------------------------===
// Writing
//===----------------------------------------------------------------------------------------------------------------===

static uint64_t entry_length(const archive_entry_t* entry) {
  uint64_t length = 0;
  for (size_t i = 0; i < entry->part_count; ++i) length += entry->parts[i].data_length;
  return length;
}

static uint32_t entry_crc(const archive_entry_t* entry) {
  uint32_t crc = 0;
  for (size_t i = 0; i < entry->part_count; ++i) {
    crc = module_crc32(crc, entry->parts[i].data, entry->parts[i].data_length);
  }
  return crc;
}

// Bytes of the ZIP64 extra field in a local header: both lengths when they do not fit 32 bits.
static uint32_t local_zip64_size(uint64_t length) { return length >= FIELD32_OVERFLOW ? 20 : 0; }

// Where an entry's local header and data go when the archive so far has `position` bytes.
typedef struct placement_t {
  uint64_t header, data;
  uint32_t extra;  // bytes of extra fields in the local header
} placement_t;

static placement_t place(const archive_entry_t* entry, uint64_t position) {
  uint64_t fields = position + LOCAL_SIZE + entry->name.size;
  uint64_t extra = local_zip64_size(entry_length(entry));
  uint64_t mask = entry->alignment - 1;
  if ((fields + extra) & mask) {
    extra += 4;
    extra += (0 - (fields + extra)) & mask;
  }
  return (placement_t){position, fields + extra, (uint32_t)extra};
}

static iree_status_t write_local(const archive_entry_t* entry, placement_t at, uint32_t crc, archive_sink_fn_t sink_fn,
                                 void* sink) {
  uint8_t header[LOCAL_SIZE] = {0};
  uint64_t length = entry_length(entry);
  uint32_t zip64 = local_zip64_size(length), short_length = zip64 ? FIELD32_OVERFLOW : (uint32_t)length;
  put32(header, LOCAL_SIGNATURE);
  put16(header + 4, zip64 ? VERSION_ZIP64 : VERSION_STORED);
  put16(header + 12, DOS_DATE_1980);
  put32(header + 14, crc);
  put32(header + 18, short_length);
  put32(header + 22, short_length);
  put16(header + 26, (uint32_t)entry->name.size);
  put16(header + 28, at.extra);
  uint8_t extra[4096 + 64] = {0};
  if (zip64) {
    put16(extra, EXTRA_ZIP64);
    put16(extra + 2, 16);
    put64(extra + 4, length);
    put64(extra + 12, length);
  }
  if (at.extra > zip64) {
    put16(extra + zip64, EXTRA_PADDING);
    put16(extra + zip64 + 2, at.extra - zip64 - 4);
  }
  IREE_RETURN_IF_ERROR(sink_fn(sink, header, sizeof(header)));
  IREE_RETURN_IF_ERROR(sink_fn(sink, entry->name.data, entry->name.size));
  IREE_RETURN_IF_ERROR(sink_fn(sink, extra, at.extra));
  for (size_t i = 0; i < entry->part_count; ++i) {
    IREE_RETURN_IF_ERROR(sink_fn(sink, entry->parts[i].data, entry->parts[i].data_length));
  }
  return iree_ok_status();
}

static uint32_t central_zip64_size(uint64_t length, uint64_t header) {
  uint32_t size = (length >= FIELD32_OVERFLOW ? 16 : 0) + (header >= FIELD32_OVERFLOW ? 8 : 0);
  return size ? size + 4 : 0;
}

static iree_status_t write_central(const archive_entry_t* entry, uint64_t header_offset, uint32_t crc,
                                   archive_sink_fn_t sink_fn, void* sink) {
  uint8_t header[CENTRAL_SIZE] = {0}, extra[28] = {0};
  uint64_t length = entry_length(entry);
  uint32_t zip64 = central_zip64_size(length, header_offset);
  uint32_t short_length = length >= FIELD32_OVERFLOW ? FIELD32_OVERFLOW : (uint32_t)length;
  put32(header, CENTRAL_SIGNATURE);
  put16(header + 4, VERSION_ZIP64);
  put16(header + 6, zip64 ? VERSION_ZIP64 : VERSION_STORED);
  put16(header + 14, DOS_DATE_1980);
  put32(header + 16, crc);
  put32(header + 20, short_length);
  put32(header + 24, short_length);
  put16(header + 28, (uint32_t)entry->name.size);
  put16(header + 30, zip64);
  put32(header + 42, header_offset >= FIELD32_OVERFLOW ? FIELD32_OVERFLOW : (uint32_t)header_offset);
  if (zip64) {
    put16(extra, EXTRA_ZIP64);
    put16(extra + 2, zip64 - 4);
    uint8_t* field = extra + 4;
    if (length >= FIELD32_OVERFLOW) {
      put64(field, length);
      put64(field + 8, length);
      field += 16;
    }
    if (header_offset >= FIELD32_OVERFLOW) put64(field, header_offset);
  }
  IREE_RETURN_IF_ERROR(sink_fn(sink, header, sizeof(header)));
  IREE_RETURN_IF_ERROR(sink_fn(sink, entry->name.data, entry->name.size));
  return sink_fn(sink, extra, zip64);
}

static bool needs_end64(size_t count, uint64_t directory) { return count >= 0xFFFF || directory >= FIELD32_OVERFLOW; }

static iree_status_t write_end(size_t count, uint64_t directory, uint64_t directory_size, archive_sink_fn_t sink_fn,
                               void* sink) {
  if (needs_end64(count, directory)) {
    uint8_t end64[END64_SIZE] = {0}, locator[LOCATOR64_SIZE] = {0};
    put32(end64, END64_SIGNATURE);
    put64(end64 + 4, END64_SIZE - 12);
    put16(end64 + 12, VERSION_ZIP64);
    put16(end64 + 14, VERSION_ZIP64);
    put64(end64 + 24, count);
    put64(end64 + 32, count);
    put64(end64 + 40, directory_size);
    put64(end64 + 48, directory);
    put32(locator, LOCATOR64_SIGNATURE);
    put64(locator + 8, directory + directory_size);
    put32(locator + 16, 1);
    IREE_RETURN_IF_ERROR(sink_fn(sink, end64, sizeof(end64)));
    IREE_RETURN_IF_ERROR(sink_fn(sink, locator, sizeof(locator)));
  }
  uint8_t end[END_SIZE] = {0};
  uint32_t short_count = count >= 0xFFFF ? 0xFFFF : (uint32_t)count;
  put32(end, END_SIGNATURE);
  put16(end + 8, short_count);
  put16(end + 10, short_count);
  put32(end + 12, (uint32_t)directory_size);
  put32(end + 16, directory >= FIELD32_OVERFLOW ? FIELD32_OVERFLOW : (uint32_t)directory);
  return sink_fn(sink, end, sizeof(end));
}

typedef struct written_t {
  uint64_t header;
  uint32_t crc;
} written_t;

static iree_status_t write_entries(size_t count, const archive_entry_t* entries, written_t* written,
                                   archive_sink_fn_t sink_fn, void* sink) {
  uint64_t position = 0;
  for (size_t i = 0; i < count; ++i) {
    placement_t at = place(&entries[i], position);
    written[i] = (written_t){at.header, entry_crc(&entries[i])};
    IREE_RETURN_IF_ERROR(write_local(&entries[i], at, written[i].crc, sink_fn, sink));
    position = at.data + entry_length(&entries[i]);
  }
  uint64_t directory = position;
  for (size_t i = 0; i < count; ++i) {
    IREE_RETURN_IF_ERROR(write_central(&entries[i], written[i].header, written[i].crc, sink_fn, sink));
    position += CENTRAL_SIZE + entries[i].name.size + central_zip64_size(entry_length(&entries[i]), written[i].header);
  }
  return write_end(count, directory, position - directory, sink_fn, sink);
}

iree_status_t module_archive_write(size_t count, const archive_entry_t* entries, archive_sink_fn_t sink_fn, void* sink,
                                   iree_allocator_t allocator) {
  for (size_t i = 0; i < count; ++i) {
    uint32_t alignment = entries[i].alignment;
    if (!alignment || alignment > 4096 || (alignment & (alignment - 1)) || entries[i].name.size > 0xFFFF) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "archive entry '%.*s' has a bad name or alignment %u",
                              (int)entries[i].name.size, entries[i].name.data, alignment);
    }
  }
  written_t* written = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(allocator, count ? count : 1, sizeof(*written), (void**)&written));
  iree_status_t status = write_entries(count, entries, written, sink_fn, sink);
  iree_allocator_free(allocator, written);
  return status;
}

uint64_t module_archive_size(size_t count, const archive_entry_t* entries) {
  uint64_t position = 0, directory_size = 0;
  for (size_t i = 0; i < count; ++i) {
    placement_t at = place(&entries[i], position);
    position = at.data + entry_length(&entries[i]);
    directory_size += CENTRAL_SIZE + entries[i].name.size + central_zip64_size(entry_length(&entries[i]), at.header);
  }
  return position + directory_size + (needs_end64(count, position) ? END64_SIZE + LOCATOR64_SIZE : 0) + END_SIZE;
}

//===----------------------------------------------------------------------------------------------------------------===
// Reading
//===----------------------------------------------------------------------------------------------------------------===

typedef struct directory_t {
  uint64_t offset, size, count;
} directory_t;

static bool in_bounds(iree_const_byte_span_t contents, uint64_t offset, uint64_t length) {
  return offset <= contents.data_length && length <= contents.data_length - offset;
}

// The end record is the last in the file, before a comment of up to 64 KiB.
static iree_status_t find_end(iree_const_byte_span_t contents, uint64_t* out_offset) {
  if (contents.data_length >= END_SIZE) {
    uint64_t last = contents.data_length - END_SIZE;
    uint64_t first = last > 0xFFFF ? last - 0xFFFF : 0;
    for (uint64_t at = last + 1; at-- > first;) {
      if (get32(contents.data + at) != END_SIGNATURE) continue;
      *out_offset = at;
      return iree_ok_status();
    }
  }
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                          "not a module: no archive directory in %" PRIu64 " bytes (truncated or another kind of file)",
                          (uint64_t)contents.data_length);
}

static iree_status_t read_end(iree_const_byte_span_t contents, directory_t* out_directory) {
  uint64_t end = 0;
  IREE_RETURN_IF_ERROR(find_end(contents, &end));
  const uint8_t* at = contents.data + end;
  *out_directory = (directory_t){get32(at + 16), get32(at + 12), get16(at + 10)};
  if (out_directory->offset == FIELD32_OVERFLOW || out_directory->count == 0xFFFF) {
    if (end < LOCATOR64_SIZE || get32(at - LOCATOR64_SIZE) != LOCATOR64_SIGNATURE) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "module archive lacks its 64-bit directory locator");
    }
    uint64_t end64 = get64(at - LOCATOR64_SIZE + 8);
    if (!in_bounds(contents, end64, END64_SIZE) || get32(contents.data + end64) != END64_SIGNATURE) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "module archive has a bad 64-bit directory locator");
    }
    at = contents.data + end64;
    *out_directory = (directory_t){get64(at + 48), get64(at + 40), get64(at + 32)};
    end = end64;
  }
  if (!in_bounds(contents, out_directory->offset, out_directory->size) ||
      out_directory->offset + out_directory->size > end || out_directory->count > out_directory->size / CENTRAL_SIZE) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "module archive directory out of bounds");
  }
  return iree_ok_status();
}

// Replaces the fields that overflowed 32 bits by those of the ZIP64 extra field.
static void read_zip64(const uint8_t* extra, uint64_t size, uint64_t* length, uint64_t* stored, uint64_t* header) {
  for (uint64_t at = 0; at + 4 <= size;) {
    uint32_t id = get16(extra + at), field_size = get16(extra + at + 2);
    uint64_t field = at + 4, end = field + field_size;
    if (end > size) return;
    if (id == EXTRA_ZIP64) {
      uint64_t* values[] = {length, stored, header};
      for (int i = 0; i < 3; ++i) {
        if (*values[i] != FIELD32_OVERFLOW || field + 8 > end) continue;
        *values[i] = get64(extra + field);
        field += 8;
      }
      return;
    }
    at = end;
  }
}

// One directory entry of `available` bytes at `at`; `*out_size` is what it takes.
static iree_status_t read_entry(iree_const_byte_span_t contents, const uint8_t* at, uint64_t available,
                                archive_file_t* out_file, uint64_t* out_size) {
  if (available < CENTRAL_SIZE || get32(at) != CENTRAL_SIGNATURE) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "module archive directory is damaged");
  }
  uint64_t name_size = get16(at + 28), extra_size = get16(at + 30), comment_size = get16(at + 32);
  *out_size = CENTRAL_SIZE + name_size + extra_size + comment_size;
  if (*out_size > available) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "module archive directory is damaged");
  }
  out_file->name = iree_make_string_view((const char*)at + CENTRAL_SIZE, name_size);
  out_file->crc = get32(at + 16);
  if (get16(at + 10) != 0 || (get16(at + 8) & 1)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "module archive entry '%.*s' is compressed or encrypted; entries must be stored",
                            (int)name_size, out_file->name.data);
  }
  uint64_t stored = get32(at + 20), length = get32(at + 24), header = get32(at + 42);
  read_zip64(at + CENTRAL_SIZE + name_size, extra_size, &length, &stored, &header);
  if (length != stored || !in_bounds(contents, header, LOCAL_SIZE) ||
      get32(contents.data + header) != LOCAL_SIGNATURE) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "module archive entry '%.*s' is damaged", (int)name_size,
                            out_file->name.data);
  }
  uint64_t data = header + LOCAL_SIZE + get16(contents.data + header + 26) + get16(contents.data + header + 28);
  if (!in_bounds(contents, data, length)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "module archive entry '%.*s' out of bounds: %" PRIu64 " bytes at %" PRIu64
                            " of a file of %" PRIu64,
                            (int)name_size, out_file->name.data, length, data, (uint64_t)contents.data_length);
  }
  out_file->offset = data;
  out_file->data = iree_make_const_byte_span(contents.data + data, length);
  return iree_ok_status();
}

static iree_status_t read_entries(iree_const_byte_span_t contents, directory_t directory, archive_t* archive) {
  uint64_t position = 0;
  for (uint64_t i = 0; i < directory.count; ++i) {
    uint64_t size = 0;
    IREE_RETURN_IF_ERROR(read_entry(contents, contents.data + directory.offset + position, directory.size - position,
                                    &archive->files[i], &size));
    position += size;
    ++archive->count;
  }
  return iree_ok_status();
}

iree_status_t module_archive_open(iree_const_byte_span_t contents, iree_allocator_t allocator, archive_t* out_archive) {
  memset(out_archive, 0, sizeof(*out_archive));
  directory_t directory = {0};
  IREE_RETURN_IF_ERROR(read_end(contents, &directory));
  if (!directory.count) return iree_ok_status();
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(allocator, directory.count, sizeof(*out_archive->files),
                                                   (void**)&out_archive->files));
  iree_status_t status = read_entries(contents, directory, out_archive);
  if (!iree_status_is_ok(status)) module_archive_close(out_archive, allocator);
  return status;
}

void module_archive_close(archive_t* archive, iree_allocator_t allocator) {
  iree_allocator_free(allocator, archive->files);
  memset(archive, 0, sizeof(*archive));
}

const archive_file_t* module_archive_find(const archive_t* archive, iree_string_view_t name) {
  for (size_t i = 0; i < archive->count; ++i) {
    if (iree_string_view_equal(archive->files[i].name, name)) return &archive->files[i];
  }
  return NULL;
}

iree_status_t module_archive_file_check(const archive_file_t* file) {
#if !defined(FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
  if (module_crc32(0, file->data.data, file->data.data_length) != file->crc) {
    return iree_make_status(IREE_STATUS_DATA_LOSS, "module archive entry '%.*s' is damaged: wrong checksum",
                            (int)file->name.size, file->name.data);
  }
#endif
  return iree_ok_status();
}
