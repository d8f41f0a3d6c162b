// Profiling options: copies, and what is expected of them.
#include <string.h>

#include "hal/profile/profile.h"

static iree_atomic_uint64_t expected;  // families

void iree_hal_device_profiling_expect(iree_hal_device_profiling_data_families_t data_families) {
  iree_atomic_fetch_or(&expected, data_families, iree_memory_order_relaxed);
}

bool hal_profile_is_expected(iree_hal_device_profiling_data_families_t data_families) {
  return (iree_atomic_load(&expected, iree_memory_order_relaxed) & data_families) != 0;
}

// In front of what the copy points to: sets, their names, characters.
struct iree_hal_device_profiling_options_storage_t {
  iree_hal_profile_sink_t* sink;
};

typedef iree_hal_profile_counter_set_selection_t set_t;

static iree_string_view_t copy_text(iree_string_view_t text, char** next) {
  iree_string_view_t copy = {*next, text.size};
  if (text.size) memcpy(*next, text.data, text.size);
  *next += text.size;
  return copy;
}

iree_status_t iree_hal_device_profiling_options_clone(const iree_hal_device_profiling_options_t* source_options,
                                                      iree_allocator_t host_allocator,
                                                      iree_hal_device_profiling_options_t* out_options,
                                                      iree_hal_device_profiling_options_storage_t** out_storage) {
  const iree_hal_device_profiling_options_t* from = source_options;
  iree_host_size_t names = 0, characters = from->capture_filter.executable_function_pattern.size;
  *out_storage = NULL;
  for (iree_host_size_t i = 0; i < from->counter_set_count; ++i) {
    const set_t* set = &from->counter_sets[i];
    names += set->counter_name_count;
    characters += set->name.size;
    for (iree_host_size_t k = 0; k < set->counter_name_count; ++k) characters += set->counter_names[k].size;
  }
  iree_hal_device_profiling_options_storage_t* storage = NULL;
  iree_host_size_t size = sizeof(*storage) + from->counter_set_count * sizeof(set_t);
  size += names * sizeof(iree_string_view_t) + characters;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, size, (void**)&storage));
  set_t* sets = (set_t*)(storage + 1);
  iree_string_view_t* name = (iree_string_view_t*)(sets + from->counter_set_count);
  char* next = (char*)(name + names);
  *out_options = *from;
  out_options->capture_filter.executable_function_pattern =
      copy_text(from->capture_filter.executable_function_pattern, &next);
  out_options->counter_sets = sets;
  for (iree_host_size_t i = 0; i < from->counter_set_count; ++i) {
    const set_t* set = &from->counter_sets[i];
    sets[i] = *set;
    sets[i].name = copy_text(set->name, &next);
    sets[i].counter_names = name;
    for (iree_host_size_t k = 0; k < set->counter_name_count; ++k) *name++ = copy_text(set->counter_names[k], &next);
  }
  storage->sink = from->sink;
  if (from->sink) iree_hal_profile_sink_retain(from->sink);
  *out_storage = storage;
  return iree_ok_status();
}

void iree_hal_device_profiling_options_storage_free(iree_hal_device_profiling_options_storage_t* storage,
                                                    iree_allocator_t host_allocator) {
  if (!storage) return;
  if (storage->sink) iree_hal_profile_sink_release(storage->sink);
  iree_allocator_free(host_allocator, storage);
}
