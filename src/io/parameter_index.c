// Indices of parameters: entries in order, and a table that finds them by key.
#include "iree/io/parameter_index.h"

#include "iree/base/internal/atomics.h"
#include "iree/base/threading/mutex.h"

struct iree_io_parameter_index_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t host_allocator;
  iree_slim_mutex_t mutex;  // guards what follows; entries do not change
  iree_host_size_t count, capacity;
  iree_io_parameter_index_entry_t** entries;
  iree_host_size_t slot_count;  // a power of two, at least twice the entries; 0: none yet
  iree_host_size_t* slots;      // number of an entry plus one; 0: free
};

iree_status_t iree_io_parameter_index_create(iree_allocator_t host_allocator, iree_io_parameter_index_t** out_index) {
  *out_index = NULL;
  iree_io_parameter_index_t* index = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*index), (void**)&index));
  iree_atomic_ref_count_init(&index->ref_count);
  index->host_allocator = host_allocator;
  iree_slim_mutex_initialize(&index->mutex);
  *out_index = index;
  return iree_ok_status();
}

void iree_io_parameter_index_retain(iree_io_parameter_index_t* index) {
  if (index) iree_atomic_ref_count_inc(&index->ref_count);
}

static void release_file(const iree_io_parameter_index_entry_t* entry) {
  if (entry->type == IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_FILE) {
    iree_io_file_handle_release(entry->storage.file.handle);
  }
}

void iree_io_parameter_index_release(iree_io_parameter_index_t* index) {
  if (!index || iree_atomic_ref_count_dec(&index->ref_count) != 1) return;
  for (iree_host_size_t i = 0; i < index->count; ++i) {
    release_file(index->entries[i]);
    iree_allocator_free(index->host_allocator, index->entries[i]);
  }
  iree_allocator_free(index->host_allocator, index->entries);
  iree_allocator_free(index->host_allocator, index->slots);
  iree_slim_mutex_deinitialize(&index->mutex);
  iree_allocator_free(index->host_allocator, index);
}

iree_host_size_t iree_io_parameter_index_count(iree_io_parameter_index_t* index) {
  iree_slim_mutex_lock(&index->mutex);
  iree_host_size_t count = index->count;
  iree_slim_mutex_unlock(&index->mutex);
  return count;
}

// FNV-1a.
static uint64_t hash_key(iree_string_view_t key) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (iree_host_size_t i = 0; i < key.size; ++i) hash = (hash ^ (uint8_t)key.data[i]) * 0x100000001b3u;
  return hash ^ hash >> 32;
}

// The slot of the key, or the free one where it would be.
static iree_host_size_t* find_slot(const iree_io_parameter_index_t* index, iree_string_view_t key) {
  iree_host_size_t mask = index->slot_count - 1, at = (iree_host_size_t)hash_key(key) & mask;
  while (index->slots[at] && !iree_string_view_equal(index->entries[index->slots[at] - 1]->key, key)) {
    at = (at + 1) & mask;
  }
  return &index->slots[at];
}

static iree_status_t grow_slots(iree_io_parameter_index_t* index, iree_host_size_t capacity) {
  iree_host_size_t slot_count = iree_max(32, index->slot_count), *slots = NULL;
  while (slot_count / 2 < capacity) slot_count *= 2;
  if (slot_count == index->slot_count) return iree_ok_status();
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(index->host_allocator, slot_count, sizeof(*slots), (void**)&slots));
  iree_allocator_free(index->host_allocator, index->slots);
  index->slots = slots;
  index->slot_count = slot_count;
  for (iree_host_size_t i = 0; i < index->count; ++i) {
    iree_host_size_t* slot = find_slot(index, index->entries[i]->key);
    if (!*slot) *slot = i + 1;
  }
  return iree_ok_status();
}

static iree_status_t reserve(iree_io_parameter_index_t* index, iree_host_size_t capacity) {
  if (capacity > IREE_HOST_SIZE_MAX / 64) return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "too many entries");
  if (capacity > index->capacity) {
    IREE_RETURN_IF_ERROR(iree_allocator_grow_array(index->host_allocator, iree_max(16, capacity),
                                                   sizeof(*index->entries), &index->capacity, (void**)&index->entries));
  }
  return grow_slots(index, capacity);
}

iree_status_t iree_io_parameter_index_reserve(iree_io_parameter_index_t* index, iree_host_size_t new_capacity) {
  iree_slim_mutex_lock(&index->mutex);
  iree_status_t status = reserve(index, new_capacity);
  iree_slim_mutex_unlock(&index->mutex);
  return status;
}

// A copy with its strings behind it.
static iree_status_t clone_entry(const iree_io_parameter_index_entry_t* entry, iree_allocator_t allocator,
                                 iree_io_parameter_index_entry_t** out_entry) {
  iree_host_size_t size = sizeof(*entry), key_size = entry->key.size, metadata_size = entry->metadata.data_length;
  if (!iree_host_size_checked_add(size, key_size, &size) || !iree_host_size_checked_add(size, metadata_size, &size)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "an entry's key or metadata are too long");
  }
  iree_io_parameter_index_entry_t* clone = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, size, (void**)&clone));
  *clone = *entry;
  char* key = (char*)(clone + 1);
  if (key_size) memcpy(key, entry->key.data, key_size);
  clone->key = iree_make_string_view(key, key_size);
  uint8_t* metadata = (uint8_t*)key + key_size;
  if (metadata_size) memcpy(metadata, entry->metadata.data, metadata_size);
  clone->metadata = metadata_size ? iree_make_const_byte_span(metadata, metadata_size) : iree_const_byte_span_empty();
  if (clone->type == IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_FILE) {
    iree_io_file_handle_retain(clone->storage.file.handle);
  }
  *out_entry = clone;
  return iree_ok_status();
}

iree_status_t iree_io_parameter_index_add(iree_io_parameter_index_t* index,
                                          const iree_io_parameter_index_entry_t* entry) {
  iree_io_parameter_index_entry_t* clone = NULL;
  IREE_RETURN_IF_ERROR(clone_entry(entry, index->host_allocator, &clone));
  iree_slim_mutex_lock(&index->mutex);
  iree_status_t status = reserve(index, index->count + 1);
  if (iree_status_is_ok(status)) {
    index->entries[index->count++] = clone;
    iree_host_size_t* slot = find_slot(index, clone->key);
    if (!*slot) *slot = index->count;
  }
  iree_slim_mutex_unlock(&index->mutex);
  if (iree_status_is_ok(status)) return status;
  release_file(clone);
  iree_allocator_free(index->host_allocator, clone);
  return status;
}

iree_status_t iree_io_parameter_index_get(iree_io_parameter_index_t* index, iree_host_size_t i,
                                          const iree_io_parameter_index_entry_t** out_entry) {
  iree_slim_mutex_lock(&index->mutex);
  iree_host_size_t count = index->count;
  *out_entry = i < count ? index->entries[i] : NULL;
  iree_slim_mutex_unlock(&index->mutex);
  if (*out_entry) return iree_ok_status();
  return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "entry %" PRIhsz " out of range; the index has %" PRIhsz, i, count);
}

iree_status_t iree_io_parameter_index_lookup(iree_io_parameter_index_t* index, iree_string_view_t key,
                                             const iree_io_parameter_index_entry_t** out_entry) {
  iree_slim_mutex_lock(&index->mutex);
  iree_host_size_t found = index->slot_count ? *find_slot(index, key) : 0;
  *out_entry = found ? index->entries[found - 1] : NULL;
  iree_slim_mutex_unlock(&index->mutex);
  if (found) return iree_ok_status();
  return iree_make_status(IREE_STATUS_NOT_FOUND, "no parameter found in index with key '%.*s'", (int)key.size,
                          key.data);
}

//===----------------------------------------------------------------------------------------------------------------===
// Tables
//===----------------------------------------------------------------------------------------------------------------===

// `text` and then `letter` up to column `width`, and the end of a rule.
static iree_status_t append_rule(iree_string_builder_t* builder, const char* text, char letter, int width) {
  char rule[128];
  int size = (int)strlen(text);
  memcpy(rule, text, (size_t)size);
  memset(rule + size, letter, (size_t)(width - size));
  return iree_string_builder_append_format(builder, "%.*s", width, rule);
}

static iree_status_t append_head(iree_string_view_t scope, iree_host_size_t count, uint64_t total,
                                 iree_string_builder_t* builder) {
  enum { WIDTH = 115 };
  bool global = iree_string_view_is_empty(scope);
  IREE_RETURN_IF_ERROR(append_rule(builder, "//===", '-', WIDTH));
  IREE_RETURN_IF_ERROR(iree_string_builder_append_format(
      builder, "===//\n// Parameter scope %s%.*s%s (%" PRIhsz " entries, %" PRIu64 " total bytes)\n", global ? "" : "`",
      global ? 8 : (int)scope.size, global ? "<global>" : scope.data, global ? "" : "`", count, total));
  IREE_RETURN_IF_ERROR(append_rule(builder, "//===------------+------------------+------------------+", '-', WIDTH));
  IREE_RETURN_IF_ERROR(iree_string_builder_append_format(
      builder, "===//\n//         Start |              End |           Length | Key\n"));
  IREE_RETURN_IF_ERROR(append_rule(builder, "//---------------+------------------+------------------+", '-', WIDTH));
  return iree_string_builder_append_format(builder, "---//\n");
}

static iree_status_t append_entry(const iree_io_parameter_index_entry_t* entry, iree_string_builder_t* builder) {
  uint64_t start = entry->storage.file.offset;
  if (entry->type == IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_FILE) {
    return iree_string_builder_append_format(builder, "%16" PRIu64 " | %16" PRIu64 " | %16" PRIu64 " | `%.*s`\n", start,
                                             start + entry->length, entry->length, (int)entry->key.size,
                                             entry->key.data);
  }
  return iree_string_builder_append_format(builder, "%16s | %16s | %16" PRIu64 " | `%.*s`\n", "-", "-", entry->length,
                                           (int)entry->key.size, entry->key.data);
}

iree_status_t iree_io_parameter_index_dump(iree_string_view_t scope, iree_io_parameter_index_t* index,
                                           iree_string_builder_t* builder) {
  iree_host_size_t count = iree_io_parameter_index_count(index);
  const iree_io_parameter_index_entry_t* entry = NULL;
  uint64_t total = 0;
  for (iree_host_size_t i = 0; i < count; ++i) {
    IREE_RETURN_IF_ERROR(iree_io_parameter_index_get(index, i, &entry));
    total += entry->length;
  }
  IREE_RETURN_IF_ERROR(append_head(scope, count, total, builder));
  for (iree_host_size_t i = 0; i < count; ++i) {
    IREE_RETURN_IF_ERROR(iree_io_parameter_index_get(index, i, &entry));
    IREE_RETURN_IF_ERROR(append_entry(entry, builder));
  }
  return iree_string_builder_append_format(builder, "\n");
}

iree_status_t iree_io_parameter_index_fprint(FILE* file, iree_string_view_t scope, iree_io_parameter_index_t* index) {
  iree_string_builder_t builder;
  iree_string_builder_initialize(index->host_allocator, &builder);
  iree_status_t status = iree_io_parameter_index_dump(scope, index, &builder);
  if (iree_status_is_ok(status)) {
    fprintf(file, "%.*s", (int)iree_string_builder_size(&builder), iree_string_builder_buffer(&builder));
  }
  iree_string_builder_deinitialize(&builder);
  return status;
}
