// Finding a vendor's library; see library_search.h.
#include "hal/amdgpu/library_search.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void library_search_begin(library_search_t* search, iree_allocator_t host_allocator) {
  search->library = NULL;
  search->found_old = false;
  iree_string_builder_initialize(host_allocator, &search->tried);
}

void library_search_end(library_search_t* search) { iree_string_builder_deinitialize(&search->tried); }

static iree_status_t try_file(library_search_t* search, const char* path) {
  if (search->library) return iree_ok_status();
  void* library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    const char* why = dlerror();
    return iree_string_builder_append_format(&search->tried, "\n  %s: %s", path, why ? why : "cannot be loaded");
  }
  const char* missing = search->resolve(search->table, library);
  if (!missing) {
    search->library = library;
    return iree_ok_status();
  }
  dlclose(library);
  search->found_old = true;
  return iree_string_builder_append_format(&search->tried, "\n  %s: too old: it has no entry point %s", path, missing);
}

static iree_status_t try_folder(library_search_t* search, iree_string_view_t folder, bool must_exist) {
  char file[4096];
  for (size_t i = 0; i < IREE_ARRAYSIZE(search->names) && folder.size; ++i) {
    int length = snprintf(file, sizeof(file), "%.*s/%s", (int)folder.size, folder.data, search->names[i]);
    if (length >= (int)sizeof(file) || (must_exist && access(file, F_OK) != 0)) continue;
    IREE_RETURN_IF_ERROR(try_file(search, file));
  }
  return iree_ok_status();
}

iree_status_t library_search_path(library_search_t* search, iree_string_view_t path) {
  char file[4096];
  struct stat info;
  if (search->library || !path.size) return iree_ok_status();
  if (path.size >= sizeof(file) - 64) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "search path of %s is too long", search->names[1]);
  }
  iree_string_view_to_cstring(path, file, sizeof(file));
  bool is_folder = stat(file, &info) == 0 && S_ISDIR(info.st_mode);
  return is_folder ? try_folder(search, path, false) : try_file(search, file);
}

iree_status_t library_search_variable(library_search_t* search, const char* name, bool is_for_anything) {
  for (const char* at = getenv(name); at && *at;) {
    iree_string_view_t path = iree_make_string_view(at, strcspn(at, ":;"));
    IREE_RETURN_IF_ERROR(is_for_anything ? try_folder(search, path, true) : library_search_path(search, path));
    at += path.size + (at[path.size] != 0);
  }
  return iree_ok_status();
}

iree_status_t library_search_beside(library_search_t* search, const void* function) {
  Dl_info info;
  const char* slash = dladdr(function, &info) && info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;
  if (!slash) return iree_ok_status();
  return try_folder(search, iree_make_string_view(info.dli_fname, (iree_host_size_t)(slash - info.dli_fname)), false);
}

iree_status_t library_search_system(library_search_t* search) {
  for (size_t i = 0; i < IREE_ARRAYSIZE(search->names); ++i) {
    IREE_RETURN_IF_ERROR(try_file(search, search->names[i]));
  }
  return iree_ok_status();
}
