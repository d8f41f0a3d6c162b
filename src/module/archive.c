// ZIP archives (APPNOTE.TXT 6.3.3, sections 4.3 and 4.5), stored entries only. An entry's data is aligned by padding
// its local header with an extra field of an id that readers skip. Fields are little-endian and unaligned.

#include "module/archive.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/file_kind.h"
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
  if (entry->source) return entry->source->length;
  uint64_t length = 0;
  for (size_t i = 0; i < entry->part_count; ++i) length += entry->parts[i].data_length;
  return length;
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

enum { MOST_EXTRA = 4096 + 64 };

// What lies before an entry's data, but for its name.
static void make_local(const archive_entry_t* entry, placement_t at, uint32_t crc, uint8_t* header, uint8_t* extra) {
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
}

static iree_status_t write_local(const archive_entry_t* entry, placement_t at, uint32_t crc,
                                 const archive_target_t* target) {
  uint8_t header[LOCAL_SIZE] = {0}, extra[MOST_EXTRA] = {0};
  make_local(entry, at, crc, header, extra);
  uint64_t name = at.header + LOCAL_SIZE;
  IREE_RETURN_IF_ERROR(target->write(target->sink, at.header, header, sizeof(header)));
  IREE_RETURN_IF_ERROR(target->write(target->sink, name, entry->name.data, entry->name.size));
  return target->write(target->sink, name + entry->name.size, extra, at.extra);
}

static uint32_t central_zip64_size(uint64_t length, uint64_t header) {
  uint32_t size = (length >= FIELD32_OVERFLOW ? 16 : 0) + (header >= FIELD32_OVERFLOW ? 8 : 0);
  return size ? size + 4 : 0;
}

// The directory and the end record, written as one block.
typedef struct tail_t {
  uint8_t* bytes;
  uint64_t size;
} tail_t;

static uint8_t* tail_add(tail_t* tail, const void* data, uint64_t size) {
  uint8_t* at = tail->bytes + tail->size;
  if (data) memcpy(at, data, size);
  tail->size += size;
  return at;
}

static void add_central(tail_t* tail, const archive_entry_t* entry, uint64_t header_offset, uint32_t crc) {
  uint64_t length = entry_length(entry);
  uint32_t zip64 = central_zip64_size(length, header_offset);
  uint32_t short_length = length >= FIELD32_OVERFLOW ? FIELD32_OVERFLOW : (uint32_t)length;
  uint8_t* header = tail_add(tail, NULL, CENTRAL_SIZE);
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
  tail_add(tail, entry->name.data, entry->name.size);
  if (!zip64) return;
  uint8_t* field = tail_add(tail, NULL, zip64);
  put16(field, EXTRA_ZIP64);
  put16(field + 2, zip64 - 4);
  field += 4;
  if (length >= FIELD32_OVERFLOW) {
    put64(field, length);
    put64(field + 8, length);
    field += 16;
  }
  if (header_offset >= FIELD32_OVERFLOW) put64(field, header_offset);
}

static bool needs_end64(size_t count, uint64_t directory) { return count >= 0xFFFF || directory >= FIELD32_OVERFLOW; }

static void add_end(tail_t* tail, size_t count, uint64_t directory) {
  uint64_t directory_size = tail->size;
  if (needs_end64(count, directory)) {
    uint8_t* end64 = tail_add(tail, NULL, END64_SIZE);
    put32(end64, END64_SIGNATURE);
    put64(end64 + 4, END64_SIZE - 12);
    put16(end64 + 12, VERSION_ZIP64);
    put16(end64 + 14, VERSION_ZIP64);
    put64(end64 + 24, count);
    put64(end64 + 32, count);
    put64(end64 + 40, directory_size);
    put64(end64 + 48, directory);
    uint8_t* locator = tail_add(tail, NULL, LOCATOR64_SIZE);
    put32(locator, LOCATOR64_SIGNATURE);
    put64(locator + 8, directory + directory_size);
    put32(locator + 16, 1);
  }
  uint8_t* end = tail_add(tail, NULL, END_SIZE);
  uint32_t short_count = count >= 0xFFFF ? 0xFFFF : (uint32_t)count;
  put32(end, END_SIGNATURE);
  put16(end + 8, short_count);
  put16(end + 10, short_count);
  put32(end + 12, (uint32_t)directory_size);
  put32(end + 16, directory >= FIELD32_OVERFLOW ? FIELD32_OVERFLOW : (uint32_t)directory);
}

// An archive being written: threads take entries in turn.
typedef struct writing_t {
  size_t count;
  const archive_entry_t* entries;
  const archive_target_t* target;
  placement_t* places;
  uint32_t* crcs;
  size_t piece;  // most bytes that are made from a source at once
  iree_allocator_t allocator;
  atomic_size_t next;
  pthread_mutex_t lock;
  iree_status_t status;  // first error
} writing_t;

enum { PIECE = 1 << 18 };

static size_t source_piece(const archive_source_t* source) {
  return source->unit < PIECE ? PIECE - PIECE % source->unit : source->unit;
}

static iree_status_t write_bytes(const archive_target_t* target, uint64_t* at, const uint8_t* data, uint64_t length,
                                 uint32_t* crc) {
  for (uint64_t done = 0; done < length;) {
    size_t size = length - done < PIECE ? (size_t)(length - done) : PIECE;
    *crc = module_crc32(*crc, data + done, size);
    IREE_RETURN_IF_ERROR(target->write(target->sink, *at, data + done, size));
    *at += size;
    done += size;
  }
  return iree_ok_status();
}

static iree_status_t write_entry(writing_t* w, size_t i, uint8_t* buffer) {
  const archive_entry_t* entry = &w->entries[i];
  uint64_t at = w->places[i].data;
  for (size_t part = 0; part < entry->part_count; ++part) {
    IREE_RETURN_IF_ERROR(
        write_bytes(w->target, &at, entry->parts[part].data, entry->parts[part].data_length, &w->crcs[i]));
  }
  const archive_source_t* source = entry->source;
  size_t piece = source ? source_piece(source) : 0;
  for (uint64_t done = 0; source && done < source->length; done += piece) {
    size_t size = source->length - done < piece ? (size_t)(source->length - done) : piece;
    if (!source->read(source->user, done, size, buffer)) {
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "out of memory for archive entry '%.*s'",
                              (int)entry->name.size, entry->name.data);
    }
    IREE_RETURN_IF_ERROR(write_bytes(w->target, &at, buffer, size, &w->crcs[i]));
  }
  if (w->target->written) w->target->written(w->target->user, entry_length(entry));
  return write_local(entry, w->places[i], w->crcs[i], w->target);
}

static void* write_entries(void* argument) {
  writing_t* w = argument;
  uint8_t* buffer = NULL;
  iree_status_t status = iree_allocator_malloc_uninitialized(w->allocator, w->piece, (void**)&buffer);
  while (iree_status_is_ok(status)) {
    size_t i = atomic_fetch_add(&w->next, 1);
    if (i >= w->count) break;
    status = write_entry(w, i, buffer);
  }
  iree_allocator_free(w->allocator, buffer);
  if (iree_status_is_ok(status)) return NULL;
  atomic_store(&w->next, w->count);
  pthread_mutex_lock(&w->lock);
  w->status = iree_status_join(w->status, status);
  pthread_mutex_unlock(&w->lock);
  return NULL;
}

static void run_threads(writing_t* w) {
  enum { MOST_THREADS = 16 };
  pthread_t threads[MOST_THREADS];
  uint32_t started = 0;
  while (started < MOST_THREADS && started + 1 < w->target->threads && started + 1 < w->count &&
         pthread_create(&threads[started], NULL, write_entries, w) == 0) {
    ++started;
  }
  write_entries(w);
  for (uint32_t i = 0; i < started; ++i) pthread_join(threads[i], NULL);
}

static iree_status_t write_tail(const writing_t* w, uint64_t directory) {
  tail_t tail = {NULL, 0};
  uint64_t size = module_archive_size(w->count, w->entries) - directory;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(w->allocator, size, (void**)&tail.bytes));
  for (size_t i = 0; i < w->count; ++i) add_central(&tail, &w->entries[i], w->places[i].header, w->crcs[i]);
  add_end(&tail, w->count, directory);
  iree_status_t status = w->target->write(w->target->sink, directory, tail.bytes, tail.size);
  iree_allocator_free(w->allocator, tail.bytes);
  return status;
}

static iree_status_t write_all(writing_t* w) {
  uint64_t position = 0;
  for (size_t i = 0; i < w->count; ++i) {
    const archive_source_t* source = w->entries[i].source;
    if (source && source_piece(source) > w->piece) w->piece = source_piece(source);
    w->places[i] = place(&w->entries[i], position);
    position = w->places[i].data + entry_length(&w->entries[i]);
  }
  pthread_mutex_init(&w->lock, NULL);
  run_threads(w);
  pthread_mutex_destroy(&w->lock);
  return iree_status_is_ok(w->status) ? write_tail(w, position) : w->status;
}

iree_status_t module_archive_write(size_t count, const archive_entry_t* entries, const archive_target_t* target,
                                   iree_allocator_t allocator) {
  for (size_t i = 0; i < count; ++i) {
    uint32_t alignment = entries[i].alignment;
    if (!alignment || alignment > 4096 || (alignment & (alignment - 1)) || entries[i].name.size > 0xFFFF) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "archive entry '%.*s' has a bad name or alignment %u",
                              (int)entries[i].name.size, entries[i].name.data, alignment);
    }
  }
  writing_t w = {.count = count, .entries = entries, .target = target, .piece = 1, .allocator = allocator};
  iree_status_t status = iree_allocator_malloc_array(allocator, count + 1, sizeof(*w.places), (void**)&w.places);
  if (iree_status_is_ok(status)) {
    status = iree_allocator_malloc_array(allocator, count + 1, sizeof(*w.crcs), (void**)&w.crcs);
  }
  if (iree_status_is_ok(status)) status = write_all(&w);
  iree_allocator_free(allocator, w.places);
  iree_allocator_free(allocator, w.crcs);
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

// What people give in place of a module, and what they could do; NULL for what looks like none of it.
static const char* other_kind(iree_const_byte_span_t contents) {
  static const char* const texts[] = {
      [FILE_KIND_EMPTY] = "an empty file",
      [FILE_KIND_TEXT] = "text; compile MLIR first: iree-compile --iree-hal-target-device=... model.mlir -o model.vmfb",
      [FILE_KIND_ONNX] =
          "an ONNX model; compile it first: iree-compile --iree-hal-target-device=... model.onnx -o model.vmfb",
      [FILE_KIND_MLIR_BYTECODE] = "MLIR bytecode; iree-compile makes a module of MLIR text",
      [FILE_KIND_FLATBUFFER] =
          "a module of IREE's own format; compile the model again with this project's iree-compile",
      [FILE_KIND_ELF] = "an ELF file; --module=FILE takes what iree-compile wrote",
  };
  file_kind_t kind = file_kind_of(contents.data, contents.data_length);
  return kind == FILE_KIND_OTHER ? NULL : texts[kind];
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
  const char* other = other_kind(contents);
  if (other) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "not a module, but %s", other);
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

static int compare_places(const void* a, const void* b) {
  const archive_file_t *x = *(const archive_file_t* const*)a, *y = *(const archive_file_t* const*)b;
  int order = (x->offset > y->offset) - (x->offset < y->offset);
  return order ? order : (x->data.data_length > y->data.data_length) - (x->data.data_length < y->data.data_length);
}

static int compare_names(const void* a, const void* b) {
  return iree_string_view_compare((*(const archive_file_t* const*)a)->name, (*(const archive_file_t* const*)b)->name);
}

// What is read of a file is bounded by its size, and a name means one entry.
static iree_status_t sort_entries(iree_allocator_t allocator, archive_t* archive) {
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_array(allocator, archive->count, sizeof(*archive->by_name), (void**)&archive->by_name));
  const archive_file_t** sorted = archive->by_name;
  for (size_t i = 0; i < archive->count; ++i) sorted[i] = &archive->files[i];
  qsort(sorted, archive->count, sizeof(*sorted), compare_places);
  for (size_t i = 1; i < archive->count; ++i) {
    if (sorted[i - 1]->data.data_length <= sorted[i]->offset - sorted[i - 1]->offset) continue;
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "module archive entries '%.*s' and '%.*s' overlap",
                            (int)sorted[i - 1]->name.size, sorted[i - 1]->name.data, (int)sorted[i]->name.size,
                            sorted[i]->name.data);
  }
  qsort(sorted, archive->count, sizeof(*sorted), compare_names);
  for (size_t i = 1; i < archive->count; ++i) {
    if (!iree_string_view_equal(sorted[i - 1]->name, sorted[i]->name)) continue;
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "module archive has two entries '%.*s'",
                            (int)sorted[i]->name.size, sorted[i]->name.data);
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
  if (iree_status_is_ok(status)) status = sort_entries(allocator, out_archive);
  if (!iree_status_is_ok(status)) module_archive_close(out_archive, allocator);
  return status;
}

void module_archive_close(archive_t* archive, iree_allocator_t allocator) {
  iree_allocator_free(allocator, archive->files);
  iree_allocator_free(allocator, (void*)archive->by_name);
  memset(archive, 0, sizeof(*archive));
}

const archive_file_t* module_archive_find(const archive_t* archive, iree_string_view_t name) {
  const archive_file_t wanted = {.name = name}, *key = &wanted;
  if (!archive->count) return NULL;
  const archive_file_t** found = bsearch(&key, archive->by_name, archive->count, sizeof(key), compare_names);
  return found ? *found : NULL;
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
