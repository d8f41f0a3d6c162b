// The outside of a .vmfb: a ZIP archive of stored entries at aligned offsets.
#ifndef MODULE_ARCHIVE_H_
#define MODULE_ARCHIVE_H_

#include "iree/base/api.h"

//===----------------------------------------------------------------------------------------------------------------===
// Writing
//===----------------------------------------------------------------------------------------------------------------===

// Bytes that are made as they are written: `size` of them from `offset` on, both multiples of `unit` except at the end.
// False when there is no memory to make them. Called from several threads at once.
typedef struct archive_source_t {
  bool (*read)(const void* user, uint64_t offset, size_t size, void* out);
  const void* user;
  uint64_t length;
  size_t unit;
} archive_source_t;

// One entry: `part_count` spans one after the other, or a source.
typedef struct archive_entry_t {
  iree_string_view_t name;
  uint32_t alignment;  // power of two up to 4096
  size_t part_count;
  const iree_const_byte_span_t* parts;
  const archive_source_t* source;
} archive_entry_t;

// Where an archive goes. `write` puts bytes at an offset; in any order, and from `threads` threads at once.
typedef struct archive_target_t {
  iree_status_t (*write)(void* sink, uint64_t offset, const void* data, size_t length);
  void* sink;
  uint32_t threads;
  void (*written)(void* user, uint64_t length);  // after each entry, in the thread that wrote it; may be NULL
  void* user;
} archive_target_t;

// Writes an archive of `count` entries. Data is not copied here: a piece at a time is made where it comes from a
// source, summed up and written while it is in the cache. Archives and entries over 4 GiB use the ZIP64 form.
iree_status_t module_archive_write(size_t count, const archive_entry_t* entries, const archive_target_t* target,
                                   iree_allocator_t allocator);

// Bytes module_archive_write will write.
uint64_t module_archive_size(size_t count, const archive_entry_t* entries);

//===----------------------------------------------------------------------------------------------------------------===
// Reading
//===----------------------------------------------------------------------------------------------------------------===

typedef struct archive_file_t {
  iree_string_view_t name;      // in the archive's memory
  iree_const_byte_span_t data;  // in the archive's memory
  uint64_t offset;              // in the archive
  uint32_t crc;
} archive_file_t;

// An archive in memory that outlives this.
typedef struct archive_t {
  size_t count;
  archive_file_t* files;           // in the directory's order
  const archive_file_t** by_name;  // sorted
} archive_t;

// Reads the directory of an archive. Entries that are compressed, encrypted, out of bounds, on top of one another or of
// the same name are refused; checksums are not looked at.
iree_status_t module_archive_open(iree_const_byte_span_t contents, iree_allocator_t allocator, archive_t* out_archive);
void module_archive_close(archive_t* archive, iree_allocator_t allocator);

// The entry called `name`, NULL when there is none.
const archive_file_t* module_archive_find(const archive_t* archive, iree_string_view_t name);

// DATA_LOSS when the entry's bytes are not those that were written.
iree_status_t module_archive_file_check(const archive_file_t* file);

#endif  // MODULE_ARCHIVE_H_
