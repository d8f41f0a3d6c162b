// The table of executable loaders.
#include "iree/hal/local/loaders/embedded_elf_loader.h"
#include "iree/hal/local/loaders/registration/init.h"
#include "iree/hal/local/loaders/system_library_loader.h"

#if __has_include("hal/local/vmvx.h")
#include "hal/local/vmvx.h"
#endif

static const struct {
  const char* name;
  iree_status_t (*create)(iree_hal_executable_plugin_manager_t* plugin_manager, iree_allocator_t host_allocator,
                          iree_hal_executable_loader_t** out_executable_loader);
} loader_rows[] = {
#define LOADER(name, create) {name, create},
#include "hal/local/loaders.def"
#undef LOADER
};

iree_status_t iree_hal_create_all_available_executable_loaders(iree_hal_executable_plugin_manager_t* plugin_manager,
                                                               iree_host_size_t capacity, iree_host_size_t* out_count,
                                                               iree_hal_executable_loader_t** loaders,
                                                               iree_allocator_t host_allocator) {
  *out_count = IREE_ARRAYSIZE(loader_rows);
  if (capacity < *out_count) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "there are %" PRIhsz " executable loaders, room is for %" PRIhsz,
                            *out_count, capacity);
  }
  for (iree_host_size_t i = 0; i < *out_count; ++i) {
    iree_status_t status = loader_rows[i].create(plugin_manager, host_allocator, &loaders[i]);
    if (iree_status_is_ok(status)) continue;
    while (i-- > 0) iree_hal_executable_loader_release(loaders[i]);
    *out_count = 0;
    return status;
  }
  return iree_ok_status();
}

iree_status_t iree_hal_create_executable_loader_by_name(iree_string_view_t name,
                                                        iree_hal_executable_plugin_manager_t* plugin_manager,
                                                        iree_allocator_t host_allocator,
                                                        iree_hal_executable_loader_t** out_executable_loader) {
  *out_executable_loader = NULL;
  for (size_t i = 0; i < IREE_ARRAYSIZE(loader_rows); ++i) {
    if (!iree_string_view_equal(name, iree_make_cstring_view(loader_rows[i].name))) continue;
    return loader_rows[i].create(plugin_manager, host_allocator, out_executable_loader);
  }
  return iree_make_status(IREE_STATUS_NOT_FOUND, "no executable loader '%.*s' in this build", (int)name.size,
                          name.data);
}
