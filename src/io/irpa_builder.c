// Writes .irpa archives: header, entries, names and metadata, contents.
#include "iree/io/formats/irpa/irpa_builder.h"

static const iree_io_physical_size_t entries_offset =
    (sizeof(iree_io_parameter_archive_header_v0_t) + IREE_IO_PARAMETER_ARCHIVE_ENTRY_ALIGNMENT - 1) /
    IREE_IO_PARAMETER_ARCHIVE_ENTRY_ALIGNMENT * IREE_IO_PARAMETER_ARCHIVE_ENTRY_ALIGNMENT;

iree_status_t iree_io_parameter_archive_builder_initialize(iree_allocator_t host_allocator,
                                                           iree_io_parameter_archive_builder_t* out_builder) {
  *out_builder = (iree_io_parameter_archive_builder_t){
      .host_allocator = host_allocator,
      .file_alignment = IREE_IO_PARAMETER_ARCHIVE_DEFAULT_FILE_ALIGNMENT,
  };
  return iree_io_parameter_index_create(host_allocator, &out_builder->index);
}

void iree_io_parameter_archive_builder_deinitialize(iree_io_parameter_archive_builder_t* builder) {
  iree_io_parameter_index_release(builder->index);
  memset(builder, 0, sizeof(*builder));
}

bool iree_io_parameter_archive_builder_is_empty(const iree_io_parameter_archive_builder_t* builder) {
  return iree_io_parameter_index_count(builder->index) == 0;
}

static iree_io_physical_offset_t storage_offset(const iree_io_parameter_archive_builder_t* builder) {
  return iree_align_uint64(entries_offset + builder->entry_segment_size + builder->metadata_segment_size,
                           iree_max(1, builder->storage_alignment));
}

iree_io_physical_size_t iree_io_parameter_archive_builder_header_size(
    const iree_io_parameter_archive_builder_t* builder) {
  return storage_offset(builder);
}

iree_io_physical_size_t iree_io_parameter_archive_builder_total_size(
    const iree_io_parameter_archive_builder_t* builder) {
  return iree_align_uint64(storage_offset(builder) + builder->storage_segment_size,
                           iree_max(1, builder->file_alignment));
}

//===----------------------------------------------------------------------------------------------------------------===
// Entries
//===----------------------------------------------------------------------------------------------------------------===

enum { SIZE_LIMIT_BITS = 62 };  // of an archive: its sums cannot overflow

// Adds the entry to the index, and its sizes to the tables'.
static iree_status_t add_entry(iree_io_parameter_archive_builder_t* builder,
                               const iree_io_parameter_index_entry_t* entry, iree_io_physical_size_t row_size) {
  const iree_io_parameter_index_entry_t* found = NULL;
  if (iree_status_consume_code(iree_io_parameter_index_lookup(builder->index, entry->key, &found)) == IREE_STATUS_OK) {
    return iree_make_status(IREE_STATUS_ALREADY_EXISTS, "the archive has a parameter '%.*s' already",
                            (int)entry->key.size, entry->key.data);
  }
  IREE_RETURN_IF_ERROR(iree_io_parameter_index_add(builder->index, entry));
  builder->entry_segment_size =
      iree_align_uint64(builder->entry_segment_size, IREE_IO_PARAMETER_ARCHIVE_ENTRY_ALIGNMENT) + row_size;
  builder->metadata_segment_size += entry->key.size + entry->metadata.data_length;
  return iree_ok_status();
}

static iree_status_t check_length(iree_string_view_t name, iree_io_physical_size_t length) {
  if (length < 1ull << SIZE_LIMIT_BITS) return iree_ok_status();
  return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "parameter '%.*s' of %" PRIu64 " bytes is too long", (int)name.size,
                          name.data, length);
}

iree_status_t iree_io_parameter_archive_builder_add_splat_entry(iree_io_parameter_archive_builder_t* builder,
                                                                iree_string_view_t name,
                                                                iree_const_byte_span_t metadata, const void* pattern,
                                                                uint8_t pattern_length,
                                                                iree_io_physical_size_t data_length) {
  if (pattern_length > IREE_IO_PARAMETER_MAX_SPLAT_PATTERN_LENGTH || !iree_is_power_of_two_uint64(pattern_length)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "splat pattern length %u invalid; must be 1, 2, 4, 8, or 16 bytes", pattern_length);
  }
  IREE_RETURN_IF_ERROR(check_length(name, data_length));
  iree_io_parameter_index_entry_t entry = {.key = name,
                                           .metadata = metadata,
                                           .length = data_length,
                                           .type = IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_SPLAT,
                                           .storage = {.splat = {.pattern_length = pattern_length}}};
  memcpy(entry.storage.splat.pattern, pattern, pattern_length);
  return add_entry(builder, &entry, sizeof(iree_io_parameter_archive_splat_entry_t));
}

iree_status_t iree_io_parameter_archive_builder_add_data_entry(iree_io_parameter_archive_builder_t* builder,
                                                               iree_string_view_t name, iree_const_byte_span_t metadata,
                                                               iree_io_physical_size_t minimum_alignment,
                                                               iree_io_physical_size_t data_length) {
  iree_io_physical_size_t alignment = iree_max(1, minimum_alignment);
  if (!iree_is_power_of_two_uint64(alignment) || alignment > 1ull << 32) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "alignment %" PRIu64 " is no power of two up to 2^32",
                            minimum_alignment);
  }
  IREE_RETURN_IF_ERROR(check_length(name, data_length));
  iree_io_physical_offset_t offset = iree_align_uint64(builder->storage_segment_size, alignment);
  IREE_RETURN_IF_ERROR(check_length(name, offset + data_length));
  iree_io_parameter_index_entry_t entry = {.key = name,
                                           .metadata = metadata,
                                           .length = data_length,
                                           .type = IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_FILE,
                                           .storage = {.file = {.offset = offset}}};
  IREE_RETURN_IF_ERROR(add_entry(builder, &entry, sizeof(iree_io_parameter_archive_data_entry_t)));
  builder->storage_segment_size = offset + data_length;
  builder->storage_alignment = iree_max(builder->storage_alignment, alignment);
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Writing
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t write_padding(iree_io_stream_t* stream, iree_io_physical_size_t size) {
  return size ? iree_io_stream_fill(stream, (iree_io_stream_pos_t)size, "", 1) : iree_ok_status();
}

static iree_status_t write_header(const iree_io_parameter_archive_builder_t* builder, iree_io_stream_t* stream) {
  iree_io_parameter_archive_header_v0_t header = {
      .prefix = {.magic = IREE_IO_PARAMETER_ARCHIVE_MAGIC, .header_size = sizeof(header)},
      .entry_count = iree_io_parameter_index_count(builder->index),
      .entry_segment = {entries_offset, builder->entry_segment_size},
      .metadata_segment = {entries_offset + builder->entry_segment_size, builder->metadata_segment_size},
      .storage_segment = {storage_offset(builder), builder->storage_segment_size},
  };
  IREE_RETURN_IF_ERROR(iree_io_stream_write(stream, sizeof(header), &header));
  return write_padding(stream, entries_offset - sizeof(header));
}

// What all entries begin with; the names' and metadata's places go on from *metadata_offset.
static iree_io_parameter_archive_entry_header_t entry_header(const iree_io_parameter_index_entry_t* entry,
                                                             iree_io_parameter_archive_entry_type_t type,
                                                             iree_io_physical_size_t size,
                                                             iree_io_physical_offset_t* metadata_offset) {
  iree_io_parameter_archive_entry_header_t header = {
      .entry_size = size, .type = type, .name = {*metadata_offset, entry->key.size}};
  *metadata_offset += entry->key.size;
  if (entry->metadata.data_length) {
    header.metadata = (iree_io_parameter_archive_metadata_ref_t){*metadata_offset, entry->metadata.data_length};
  }
  *metadata_offset += entry->metadata.data_length;
  return header;
}

static iree_status_t write_splat(iree_io_stream_t* stream, const iree_io_parameter_index_entry_t* entry,
                                 iree_io_physical_offset_t* metadata_offset, iree_io_physical_size_t* out_size) {
  iree_io_parameter_archive_splat_entry_t row = {
      .header = entry_header(entry, IREE_IO_PARAMETER_ARCHIVE_ENTRY_TYPE_SPLAT, sizeof(row), metadata_offset),
      .length = entry->length,
      .pattern_length = entry->storage.splat.pattern_length,
  };
  memcpy(row.pattern, entry->storage.splat.pattern, sizeof(row.pattern));
  *out_size = sizeof(row);
  return iree_io_stream_write(stream, sizeof(row), &row);
}

static iree_status_t write_data(iree_io_stream_t* stream, const iree_io_parameter_index_entry_t* entry,
                                iree_io_physical_size_t alignment, iree_io_physical_offset_t* metadata_offset,
                                iree_io_physical_size_t* out_size) {
  iree_io_parameter_archive_data_entry_t row = {
      .header = entry_header(entry, IREE_IO_PARAMETER_ARCHIVE_ENTRY_TYPE_DATA, sizeof(row), metadata_offset),
      .storage = {entry->storage.file.offset, entry->length},
  };
  row.header.minimum_alignment = alignment;
  *out_size = sizeof(row);
  return iree_io_stream_write(stream, sizeof(row), &row);
}

// The largest power of two that the entry's place is a multiple of, as far as the archive's contents are aligned.
static iree_io_physical_size_t alignment_of(const iree_io_parameter_archive_builder_t* builder,
                                            const iree_io_parameter_index_entry_t* entry) {
  iree_io_physical_size_t bits = entry->storage.file.offset | builder->storage_alignment;
  return bits & (~bits + 1);
}

static iree_status_t write_entries(const iree_io_parameter_archive_builder_t* builder, iree_io_stream_t* stream) {
  iree_host_size_t count = iree_io_parameter_index_count(builder->index);
  iree_io_physical_offset_t metadata_offset = 0;
  iree_io_physical_size_t size = 0;
  for (iree_host_size_t i = 0; i < count; ++i) {
    const iree_io_parameter_index_entry_t* entry = NULL;
    IREE_RETURN_IF_ERROR(iree_io_parameter_index_get(builder->index, i, &entry));
    IREE_RETURN_IF_ERROR(
        write_padding(stream, iree_align_uint64(size, IREE_IO_PARAMETER_ARCHIVE_ENTRY_ALIGNMENT) - size));
    if (entry->type == IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_SPLAT) {
      IREE_RETURN_IF_ERROR(write_splat(stream, entry, &metadata_offset, &size));
    } else {
      IREE_RETURN_IF_ERROR(write_data(stream, entry, alignment_of(builder, entry), &metadata_offset, &size));
    }
  }
  for (iree_host_size_t i = 0; i < count; ++i) {
    const iree_io_parameter_index_entry_t* entry = NULL;
    IREE_RETURN_IF_ERROR(iree_io_parameter_index_get(builder->index, i, &entry));
    IREE_RETURN_IF_ERROR(iree_io_stream_write_string(stream, entry->key));
    IREE_RETURN_IF_ERROR(iree_io_stream_write(stream, entry->metadata.data_length, entry->metadata.data));
  }
  return iree_ok_status();
}

// The entries with their places in the file.
static iree_status_t add_targets(const iree_io_parameter_archive_builder_t* builder, iree_io_file_handle_t* file_handle,
                                 iree_io_physical_offset_t file_offset, iree_io_parameter_index_t* target_index) {
  iree_host_size_t count = iree_io_parameter_index_count(builder->index);
  for (iree_host_size_t i = 0; i < count; ++i) {
    const iree_io_parameter_index_entry_t* entry = NULL;
    IREE_RETURN_IF_ERROR(iree_io_parameter_index_get(builder->index, i, &entry));
    iree_io_parameter_index_entry_t target = *entry;
    if (entry->type == IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_FILE) {
      target.storage.file.handle = file_handle;
      target.storage.file.offset += file_offset + storage_offset(builder);
    }
    IREE_RETURN_IF_ERROR(iree_io_parameter_index_add(target_index, &target));
  }
  return iree_ok_status();
}

iree_status_t iree_io_parameter_archive_builder_write(const iree_io_parameter_archive_builder_t* builder,
                                                      iree_io_file_handle_t* file_handle,
                                                      iree_io_physical_offset_t file_offset, iree_io_stream_t* stream,
                                                      iree_io_parameter_index_t* target_index) {
  if (file_offset % IREE_IO_PARAMETER_ARCHIVE_HEADER_ALIGNMENT) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "an archive begins at a multiple of %d; got %" PRIu64,
                            IREE_IO_PARAMETER_ARCHIVE_HEADER_ALIGNMENT, file_offset);
  }
  IREE_RETURN_IF_ERROR(write_header(builder, stream));
  IREE_RETURN_IF_ERROR(write_entries(builder, stream));
  return target_index ? add_targets(builder, file_handle, file_offset, target_index) : iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Whole archives
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t declare_all(iree_io_parameter_index_t* source, iree_io_parameter_archive_builder_t* builder) {
  for (iree_host_size_t i = 0; i < iree_io_parameter_index_count(source); ++i) {
    const iree_io_parameter_index_entry_t* entry = NULL;
    IREE_RETURN_IF_ERROR(iree_io_parameter_index_get(source, i, &entry));
    if (entry->type == IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_SPLAT) {
      IREE_RETURN_IF_ERROR(iree_io_parameter_archive_builder_add_splat_entry(
          builder, entry->key, entry->metadata, entry->storage.splat.pattern, entry->storage.splat.pattern_length,
          entry->length));
    } else {
      IREE_RETURN_IF_ERROR(iree_io_parameter_archive_builder_add_data_entry(
          builder, entry->key, entry->metadata, IREE_IO_PARAMETER_ARCHIVE_DEFAULT_DATA_ALIGNMENT, entry->length));
    }
  }
  return iree_ok_status();
}

// Copies what has contents; `first` is the number of the first entry that this archive added to `target`.
static iree_status_t copy_contents(iree_io_parameter_index_t* source, iree_io_parameter_index_t* target,
                                   iree_host_size_t first, iree_io_stream_t* stream, iree_io_physical_offset_t base,
                                   iree_allocator_t host_allocator) {
  for (iree_host_size_t i = 0; i < iree_io_parameter_index_count(source); ++i) {
    const iree_io_parameter_index_entry_t *from = NULL, *to = NULL;
    IREE_RETURN_IF_ERROR(iree_io_parameter_index_get(source, i, &from));
    if (from->type != IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_FILE) continue;
    IREE_RETURN_IF_ERROR(iree_io_parameter_index_get(target, first + i, &to));
    IREE_RETURN_IF_ERROR(
        iree_io_stream_seek(stream, IREE_IO_STREAM_SEEK_SET, (iree_io_stream_pos_t)(to->storage.file.offset - base)));
    IREE_RETURN_IF_ERROR(iree_io_stream_write_file(stream, from->storage.file.handle, from->storage.file.offset,
                                                   (iree_host_size_t)from->length, host_allocator),
                         "copying parameter '%.*s'", (int)from->key.size, from->key.data);
  }
  return iree_ok_status();
}

static iree_status_t write_archive(const iree_io_parameter_archive_builder_t* builder,
                                   iree_io_parameter_index_t* source, iree_io_parameter_index_t* target,
                                   iree_io_file_handle_t* handle, iree_io_physical_offset_t offset,
                                   iree_allocator_t host_allocator) {
  iree_io_stream_t* stream = NULL;
  iree_host_size_t first = iree_io_parameter_index_count(target);
  IREE_RETURN_IF_ERROR(iree_io_stream_open(IREE_IO_STREAM_MODE_WRITABLE, handle, offset, host_allocator, &stream));
  iree_status_t status = iree_io_parameter_archive_builder_write(builder, handle, offset, stream, target);
  if (iree_status_is_ok(status)) status = copy_contents(source, target, first, stream, offset, host_allocator);
  iree_io_stream_release(stream);
  return iree_status_is_ok(status) ? iree_io_file_handle_flush(handle) : status;
}

iree_status_t iree_io_build_parameter_archive(iree_io_parameter_index_t* source_index,
                                              iree_io_parameter_index_t* target_index,
                                              iree_io_parameter_archive_file_open_callback_t target_file_open,
                                              iree_io_physical_offset_t target_file_offset,
                                              iree_allocator_t host_allocator) {
  iree_io_parameter_archive_builder_t builder;
  IREE_RETURN_IF_ERROR(iree_io_parameter_archive_builder_initialize(host_allocator, &builder));
  iree_io_physical_offset_t offset = iree_align_uint64(target_file_offset, IREE_IO_PARAMETER_ARCHIVE_HEADER_ALIGNMENT);
  iree_io_file_handle_t* handle = NULL;
  iree_status_t status = declare_all(source_index, &builder);
  if (iree_status_is_ok(status)) {
    status = target_file_open.fn(target_file_open.user_data, offset,
                                 iree_io_parameter_archive_builder_total_size(&builder), &handle);
  }
  if (iree_status_is_ok(status)) {
    status = write_archive(&builder, source_index, target_index, handle, offset, host_allocator);
  }
  iree_io_file_handle_release(handle);
  iree_io_parameter_archive_builder_deinitialize(&builder);
  return status;
}
