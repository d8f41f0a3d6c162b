// Finding and loading libhsa-runtime64.
#include "hal/amdgpu/libhsa.h"

#include <dlfcn.h>

#include "hal/amdgpu/library_search.h"

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

// Fills the table; NULL, or the first name that is missing.
static const char* resolve_entries(void* table, void* library) {
  libhsa_t* hsa = (libhsa_t*)table;
#define OPTIONAL(result, name, parameters) *(void**)(&hsa->name) = dlsym(library, #name);
#define ENTRY(result, name, parameters) \
  OPTIONAL(result, name, parameters)    \
  if (!hsa->name) return #name;
#include "hal/amdgpu/libhsa.def"
  return NULL;
}

static iree_status_t find_library(library_search_t* search, iree_host_size_t path_count,
                                  const iree_string_view_t* paths) {
  for (iree_host_size_t i = 0; i < path_count; ++i) IREE_RETURN_IF_ERROR(library_search_path(search, paths[i]));
  IREE_RETURN_IF_ERROR(library_search_variable(search, "IREE_HAL_AMDGPU_LIBHSA_PATH", false));
  IREE_RETURN_IF_ERROR(library_search_variable(search, "PATH", true));
  IREE_RETURN_IF_ERROR(library_search_system(search));
  if (search->library) return iree_ok_status();
  return iree_make_status(IREE_STATUS_UNAVAILABLE,
                          "libhsa-runtime64 %s; install %sROCm or name the library's folder with "
                          "--amdgpu_libhsa_search_path=, IREE_HAL_AMDGPU_LIBHSA_PATH or PATH; tried:%.*s",
                          search->found_old ? "is too old" : "was not found", search->found_old ? "a newer " : "",
                          (int)iree_string_builder_size(&search->tried), iree_string_builder_buffer(&search->tried));
}

static iree_status_t initialize(libhsa_t* hsa, const library_search_t* search) {
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
  library_search_t search = {
      .names = {"libhsa-runtime64.so.1", "libhsa-runtime64.so"}, .resolve = resolve_entries, .table = hsa};
  library_search_begin(&search, host_allocator);
  iree_status_t status = find_library(&search, path_count, search_paths);
  hsa->library = search.library;
  if (iree_status_is_ok(status)) status = initialize(hsa, &search);
  library_search_end(&search);
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
