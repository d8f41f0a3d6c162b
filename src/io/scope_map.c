// See iree/io/scope_map.h.
#include "iree/io/scope_map.h"

void iree_io_scope_map_initialize(iree_allocator_t host_allocator, iree_io_scope_map_t* out_scope_map) {
  *out_scope_map = (iree_io_scope_map_t){.host_allocator = host_allocator};
}

void iree_io_scope_map_deinitialize(iree_io_scope_map_t* scope_map) {
  for (iree_host_size_t i = 0; i < scope_map->count; ++i) {
    iree_io_parameter_index_release(scope_map->entries[i]->index);
    iree_allocator_free(scope_map->host_allocator, scope_map->entries[i]);
  }
  iree_allocator_free(scope_map->host_allocator, scope_map->entries);
  iree_io_scope_map_initialize(scope_map->host_allocator, scope_map);
}

iree_status_t iree_io_scope_map_lookup(iree_io_scope_map_t* scope_map, iree_string_view_t scope,
                                       iree_io_parameter_index_t** out_index) {
  *out_index = NULL;
  for (iree_host_size_t i = 0; i < scope_map->count && !*out_index; ++i) {
    if (iree_string_view_equal(scope_map->entries[i]->scope, scope)) *out_index = scope_map->entries[i]->index;
  }
  if (*out_index) return iree_ok_status();
  if (scope_map->count == scope_map->capacity) {
    IREE_RETURN_IF_ERROR(iree_allocator_grow_array(scope_map->host_allocator, iree_max(4, scope_map->count + 1),
                                                   sizeof(*scope_map->entries), &scope_map->capacity,
                                                   (void**)&scope_map->entries));
  }
  iree_io_scope_map_entry_t* entry = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(scope_map->host_allocator, sizeof(*entry) + scope.size, (void**)&entry));
  if (scope.size) memcpy(entry + 1, scope.data, scope.size);
  entry->scope = iree_make_string_view((const char*)(entry + 1), scope.size);
  iree_status_t status = iree_io_parameter_index_create(scope_map->host_allocator, &entry->index);
  if (!iree_status_is_ok(status)) {
    iree_allocator_free(scope_map->host_allocator, entry);
    return status;
  }
  scope_map->entries[scope_map->count++] = entry;
  *out_index = entry->index;
  return status;
}

iree_status_t iree_io_scope_map_dump(iree_io_scope_map_t* scope_map, iree_string_builder_t* builder) {
  for (iree_host_size_t i = 0; i < scope_map->count; ++i) {
    IREE_RETURN_IF_ERROR(
        iree_io_parameter_index_dump(scope_map->entries[i]->scope, scope_map->entries[i]->index, builder));
  }
  return iree_ok_status();
}
