// Finding and loading libhsa-amd-aqlprofile64.
#include "hal/amdgpu/libaqlprofile.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>

static const char* const library_names[] = {"libhsa-amd-aqlprofile64.so.1", "libhsa-amd-aqlprofile64.so"};

typedef struct search_t {
  libaqlprofile_t* library;
  void* handle;                 // of dlopen; NULL until it is found
  iree_string_builder_t tried;  // "\n  path: why"
} search_t;

// The first name that is missing, or NULL.
static const char* resolve_entries(search_t* search) {
#define ENTRY(result, name, parameters)                             \
  *(void**)(&search->library->name) = dlsym(search->handle, #name); \
  if (!search->library->name) return #name;
#include "hal/amdgpu/libaqlprofile.def"
  return NULL;
}

static iree_status_t try_file(search_t* search, const char* path) {
  if (search->handle) return iree_ok_status();
  search->handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (!search->handle) {
    const char* why = dlerror();
    return iree_string_builder_append_format(&search->tried, "\n  %s: %s", path, why ? why : "cannot be loaded");
  }
  const char* missing = resolve_entries(search);
  if (!missing) return iree_ok_status();
  dlclose(search->handle);
  search->handle = NULL;
  return iree_string_builder_append_format(&search->tried, "\n  %s: too old: it has no entry point %s", path, missing);
}

// A file, or a folder.
static iree_status_t try_path(search_t* search, const char* path, size_t size) {
  char file[4096];
  struct stat info;
  if (!size || size >= sizeof(file) - 64) return iree_ok_status();
  snprintf(file, sizeof(file), "%.*s", (int)size, path);
  if (stat(file, &info) != 0 || !S_ISDIR(info.st_mode)) return try_file(search, file);
  for (size_t i = 0; i < IREE_ARRAYSIZE(library_names); ++i) {
    snprintf(file, sizeof(file), "%.*s/%s", (int)size, path, library_names[i]);
    IREE_RETURN_IF_ERROR(try_file(search, file));
  }
  return iree_ok_status();
}

static iree_status_t find_library(search_t* search, const libhsa_t* hsa) {
  const char* value = getenv("IREE_HAL_AMDGPU_LIBAQLPROFILE_PATH");
  for (const char* at = value; at && *at;) {
    size_t size = strcspn(at, ":;");
    IREE_RETURN_IF_ERROR(try_path(search, at, size));
    at += size + (at[size] != 0);
  }
  Dl_info info;
  const char* slash =
      dladdr(*(void* const*)&hsa->hsa_init, &info) && info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;
  if (slash) IREE_RETURN_IF_ERROR(try_path(search, info.dli_fname, (size_t)(slash - info.dli_fname)));
  for (size_t i = 0; i < IREE_ARRAYSIZE(library_names); ++i) {
    IREE_RETURN_IF_ERROR(try_file(search, library_names[i]));
  }
  if (search->handle) return iree_ok_status();
  return iree_make_status(
      IREE_STATUS_UNAVAILABLE,
      "counters need libhsa-amd-aqlprofile64, which was not found; install ROCm's hsa-amd-aqlprofile "
      "or name the library's folder with IREE_HAL_AMDGPU_LIBAQLPROFILE_PATH; tried:%.*s",
      (int)iree_string_builder_size(&search->tried), iree_string_builder_buffer(&search->tried));
}

iree_status_t libaqlprofile_load(const libhsa_t* hsa, iree_allocator_t host_allocator, libaqlprofile_t* out_library) {
  search_t search = {.library = out_library};
  iree_string_builder_initialize(host_allocator, &search.tried);
  iree_status_t status = find_library(&search, hsa);
  iree_string_builder_deinitialize(&search.tried);
  return status;
}

iree_status_t libaqlprofile_check(const libaqlprofile_t* library, hsa_status_t status, const char* call) {
  const char* text = NULL;
  if (status == HSA_STATUS_SUCCESS) return iree_ok_status();
  if (library->hsa_ven_amd_aqlprofile_error_string(&text) != HSA_STATUS_SUCCESS || !text) text = "no description";
  return iree_make_status(IREE_STATUS_INTERNAL, "%s failed with 0x%X: %s", call, (unsigned)status, text);
}
