// Finding and loading libhsa-runtime64. A path is used as it is when it names a file, and with the library's names
// added when it names a folder. Folders of PATH count when they have a file of one of these names.
#include "hal/amdgpu/libhsa.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char* const library_names[] = {"libhsa-runtime64.so.1", "libhsa-runtime64.so"};

//===----------------------------------------------------------------------------------------------------------------===
// Statuses
//===----------------------------------------------------------------------------------------------------------------===

typedef struct status_row_t {
  hsa_status_t hsa;
  iree_status_code_t code;
} status_row_t;

static const status_row_t status_rows[] = {
    {HSA_STATUS_ERROR_INVALID_ARGUMENT, IREE_STATUS_INVALID_ARGUMENT},
    {HSA_STATUS_ERROR_OUT_OF_RESOURCES, IREE_STATUS_RESOURCE_EXHAUSTED},
    {HSA_STATUS_ERROR_INVALID_CODE_OBJECT, IREE_STATUS_INVALID_ARGUMENT},
    {HSA_STATUS_ERROR_EXCEPTION, IREE_STATUS_ABORTED},
};

iree_status_t libhsa_check(const libhsa_t* hsa, hsa_status_t status, const char* call) {
  if (status == HSA_STATUS_SUCCESS || status == HSA_STATUS_INFO_BREAK) return iree_ok_status();
  iree_status_code_t code = IREE_STATUS_INTERNAL;
  for (size_t i = 0; i < IREE_ARRAYSIZE(status_rows); ++i) {
    if (status_rows[i].hsa == status) code = status_rows[i].code;
  }
  const char* text = NULL;
  if (hsa->hsa_status_string(status, &text) != HSA_STATUS_SUCCESS || !text) text = "no description";
  return iree_make_status(code, "%s failed with 0x%X: %s", call, (unsigned)status, text);
}

//===----------------------------------------------------------------------------------------------------------------===
// Search
//===----------------------------------------------------------------------------------------------------------------===

typedef struct search_t {
  libhsa_t* hsa;
  iree_string_builder_t tried;  // "\n  path: why"
  bool found_old;               // a library that lacks entry points
} search_t;

static iree_status_t note_failure(search_t* search, const char* path, const char* why) {
  return iree_string_builder_append_format(&search->tried, "\n  %s: %s", path, why);
}

// Fills the table; NULL, or the first name that is missing.
static const char* resolve_entries(libhsa_t* hsa) {
#define OPTIONAL(result, name, parameters) *(void**)(&hsa->name) = dlsym(hsa->library, #name);
#define ENTRY(result, name, parameters) \
  OPTIONAL(result, name, parameters)    \
  if (!hsa->name) return #name;
#include "hal/amdgpu/libhsa.def"
  return NULL;
}

// Tries one file. OK without hsa->library when it is not usable.
static iree_status_t try_file(search_t* search, const char* path) {
  void* library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    const char* why = dlerror();
    return note_failure(search, path, why ? why : "cannot be loaded");
  }
  search->hsa->library = library;
  const char* missing = resolve_entries(search->hsa);
  if (!missing) return iree_ok_status();
  search->hsa->library = NULL;
  dlclose(library);
  char why[128];
  snprintf(why, sizeof(why), "too old: it has no entry point %s", missing);
  search->found_old = true;
  return note_failure(search, path, why);
}

typedef iree_status_t (*try_path_fn_t)(search_t* search, iree_string_view_t path);

// A folder of PATH: most have no such file.
static iree_status_t try_existing(search_t* search, iree_string_view_t path) {
  char file[4096];
  for (size_t i = 0; i < IREE_ARRAYSIZE(library_names) && !search->hsa->library; ++i) {
    int length = snprintf(file, sizeof(file), "%.*s/%s", (int)path.size, path.data, library_names[i]);
    if (length >= (int)sizeof(file) || path.size == 0 || access(file, F_OK) != 0) continue;
    IREE_RETURN_IF_ERROR(try_file(search, file));
  }
  return iree_ok_status();
}

static iree_status_t try_path(search_t* search, iree_string_view_t path) {
  char file[4096];
  if (search->hsa->library || path.size == 0) return iree_ok_status();
  if (path.size >= sizeof(file) - 64) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "search path of libhsa is too long");
  }
  iree_string_view_to_cstring(path, file, sizeof(file));
  struct stat info;
  if (stat(file, &info) != 0 || !S_ISDIR(info.st_mode)) return try_file(search, file);
  for (size_t i = 0; i < IREE_ARRAYSIZE(library_names) && !search->hsa->library; ++i) {
    snprintf(file, sizeof(file), "%.*s/%s", (int)path.size, path.data, library_names[i]);
    IREE_RETURN_IF_ERROR(try_file(search, file));
  }
  return iree_ok_status();
}

// Those of a variable, separated by `:` or `;`.
static iree_status_t try_variable(search_t* search, const char* name, try_path_fn_t try_one) {
  const char* value = getenv(name);
  for (const char* at = value; at && *at;) {
    size_t size = strcspn(at, ":;");
    IREE_RETURN_IF_ERROR(try_one(search, iree_make_string_view(at, size)));
    at += size + (at[size] != 0);
  }
  return iree_ok_status();
}

static iree_status_t find_library(search_t* search, iree_host_size_t path_count, const iree_string_view_t* paths) {
  for (iree_host_size_t i = 0; i < path_count; ++i) IREE_RETURN_IF_ERROR(try_path(search, paths[i]));
  IREE_RETURN_IF_ERROR(try_variable(search, "IREE_HAL_AMDGPU_LIBHSA_PATH", try_path));
  IREE_RETURN_IF_ERROR(try_variable(search, "PATH", try_existing));
  for (size_t i = 0; i < IREE_ARRAYSIZE(library_names) && !search->hsa->library; ++i) {
    IREE_RETURN_IF_ERROR(try_file(search, library_names[i]));
  }
  if (search->hsa->library) return iree_ok_status();
  return iree_make_status(IREE_STATUS_UNAVAILABLE,
                          "libhsa-runtime64 %s; install %sROCm or name the library's folder with "
                          "--amdgpu_libhsa_search_path=, IREE_HAL_AMDGPU_LIBHSA_PATH or PATH; tried:%.*s",
                          search->found_old ? "is too old" : "was not found", search->found_old ? "a newer " : "",
                          (int)iree_string_builder_size(&search->tried), iree_string_builder_buffer(&search->tried));
}

static iree_status_t initialize(const search_t* search) {
  libhsa_t* hsa = search->hsa;
  hsa_status_t result = hsa->hsa_init();
  if (result == HSA_STATUS_SUCCESS) {
    hsa->is_initialized = true;
    return iree_ok_status();
  }
  const char* text = NULL;
  if (hsa->hsa_status_string(result, &text) != HSA_STATUS_SUCCESS || !text) text = "no description";
  Dl_info info;
  iree_string_view_t before = iree_string_builder_view(&search->tried);
  const char* file = dladdr(*(void**)&hsa->hsa_init, &info) && info.dli_fname ? info.dli_fname : "libhsa-runtime64";
  return iree_make_status(IREE_STATUS_UNAVAILABLE,
                          "%s could not be initialized (0x%X: %s); is an AMD GPU with its kernel driver present?%s%.*s",
                          file, (unsigned)result, text, before.size ? " Tried before:" : "", (int)before.size,
                          before.data);
}

iree_status_t libhsa_load(iree_host_size_t path_count, const iree_string_view_t* search_paths,
                          iree_allocator_t host_allocator, libhsa_t** out_hsa) {
  *out_hsa = NULL;
  libhsa_t* hsa = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*hsa), (void**)&hsa));
  iree_atomic_ref_count_init(&hsa->ref_count);
  hsa->host_allocator = host_allocator;
  search_t search = {.hsa = hsa};
  iree_string_builder_initialize(host_allocator, &search.tried);
  iree_status_t status = find_library(&search, path_count, search_paths);
  if (iree_status_is_ok(status)) status = initialize(&search);
  iree_string_builder_deinitialize(&search.tried);
  if (!iree_status_is_ok(status)) {
    libhsa_release(hsa);
    return status;
  }
  *out_hsa = hsa;
  return iree_ok_status();
}

void libhsa_retain(libhsa_t* hsa) { iree_atomic_ref_count_inc(&hsa->ref_count); }

// The library stays loaded: its threads may outlive hsa_shut_down by a moment.
void libhsa_release(libhsa_t* hsa) {
  if (!hsa || iree_atomic_ref_count_dec(&hsa->ref_count) != 1) return;
  if (hsa->is_initialized) hsa->hsa_shut_down();
  iree_allocator_free(hsa->host_allocator, hsa);
}

iree_status_t libhsa_allocate_commands(const libhsa_t* hsa, hsa_amd_memory_pool_t pool, size_t size, void** out_ptr) {
  hsa_status_t result = hsa->hsa_amd_memory_pool_allocate(pool, size, HSA_AMD_MEMORY_POOL_EXECUTABLE_FLAG, out_ptr);
  if (result == HSA_STATUS_ERROR_INVALID_ARGUMENT) {
    result = hsa->hsa_amd_memory_pool_allocate(pool, size, 0, out_ptr);
  }
  return libhsa_check(hsa, result, "hsa_amd_memory_pool_allocate");
}
