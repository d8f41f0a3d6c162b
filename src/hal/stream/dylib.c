// Finding a vendor's library.
#include "hal/stream/dylib.h"

#include <dlfcn.h>
#include <link.h>

typedef struct search_t {
  const stream_dylib_t* dylib;
  iree_string_builder_t* why;
  bool is_open;
} search_t;

static iree_status_t try_file(search_t* search, const char* file) {
  void* handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  if (!handle) return iree_string_builder_append_format(search->why, "\n  %s: %s", file, dlerror());
  const char* missing = search->dylib->resolve(handle, search->dylib->user_data);
  if (missing) {
    dlclose(handle);
    return iree_string_builder_append_format(search->why, "\n  %s: too old: it has no entry point %s", file, missing);
  }
  struct link_map* map = NULL;
  bool has_path = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0;
  snprintf(search->dylib->path, search->dylib->path_capacity, "%s", has_path ? map->l_name : file);
  search->is_open = true;
  return iree_ok_status();
}

// Tries the library's names in a folder, or without one.
static iree_status_t try_names(search_t* search, iree_string_view_t folder) {
  for (const char* const* name = search->dylib->names; *name && !search->is_open; ++name) {
    char file[4096];
    int length = snprintf(file, sizeof(file), "%.*s%s%s", (int)folder.size, folder.data, folder.size ? "/" : "", *name);
    if (length >= (int)sizeof(file)) return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "a library's path is too long");
    IREE_RETURN_IF_ERROR(try_file(search, file));
  }
  return iree_ok_status();
}

static iree_status_t try_path(search_t* search, iree_string_view_t path) {
  if (!iree_string_view_consume_prefix(&path, IREE_SV("file:"))) return try_names(search, path);
  char file[4096];
  if (path.size >= sizeof(file)) return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "a library's path is too long");
  iree_string_view_to_cstring(path, file, sizeof(file));
  return try_file(search, file);
}

iree_status_t stream_dylib_open(const stream_dylib_t* dylib, iree_string_view_list_t paths, iree_string_builder_t* why,
                                bool* out_is_open) {
  search_t search = {dylib, why, false};
  *out_is_open = false;
  for (iree_host_size_t i = 0; i < paths.count && !search.is_open; ++i) {
    if (paths.values[i].size) IREE_RETURN_IF_ERROR(try_path(&search, paths.values[i]));
  }
  if (!paths.count) IREE_RETURN_IF_ERROR(try_names(&search, iree_string_view_empty()));
  *out_is_open = search.is_open;
  return iree_ok_status();
}
