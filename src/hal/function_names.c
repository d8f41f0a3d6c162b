// A hash table with open addressing, at most half full.
#include "hal/function_names.h"

// FNV-1a.
static uint32_t hash_of(iree_string_view_t name) {
  uint32_t hash = 0x811C9DC5u;
  for (iree_host_size_t i = 0; i < name.size; ++i) hash = (hash ^ (uint8_t)name.data[i]) * 0x01000193u;
  return hash;
}

// The bucket of a name, or the empty one where it would be.
static uint32_t* find_bucket(const hal_function_names_t* names, hal_function_name_fn_t name_of, const void* executable,
                             iree_string_view_t name) {
  uint32_t at = hash_of(name) & names->mask;
  while (names->buckets[at] && !iree_string_view_equal(name_of(executable, names->buckets[at] - 1), name)) {
    at = (at + 1) & names->mask;
  }
  return &names->buckets[at];
}

iree_status_t hal_function_names_create(iree_host_size_t count, hal_function_name_fn_t name_of, const void* executable,
                                        iree_allocator_t host_allocator, hal_function_names_t* out_names) {
  *out_names = (hal_function_names_t){.host_allocator = host_allocator};
  if (count > UINT32_MAX / 4) return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "%" PRIhsz " functions", count);
  uint32_t size = 1;
  while (size < 2 * count + 1) size *= 2;
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_array(host_allocator, size, sizeof(uint32_t), (void**)&out_names->buckets));
  out_names->mask = size - 1;
  for (iree_host_size_t i = 0; i < count; ++i) {
    uint32_t* bucket = find_bucket(out_names, name_of, executable, name_of(executable, i));
    if (!*bucket) *bucket = (uint32_t)i + 1;
  }
  return iree_ok_status();
}

iree_status_t hal_function_names_find(const hal_function_names_t* names, hal_function_name_fn_t name_of,
                                      const void* executable, iree_string_view_t name, uint32_t* out_index) {
  uint32_t found = *find_bucket(names, name_of, executable, name);
  if (!found) {
    return iree_make_status(IREE_STATUS_NOT_FOUND, "executable has no function '%.*s'", (int)name.size, name.data);
  }
  *out_index = found - 1;
  return iree_ok_status();
}

void hal_function_names_free(hal_function_names_t* names) {
  if (names->buckets) iree_allocator_free(names->host_allocator, names->buckets);
  names->buckets = NULL;
}
