// Finding and loading libhsa-amd-aqlprofile64.
#include "hal/amdgpu/libaqlprofile.h"

#include <dlfcn.h>

#include "hal/amdgpu/library_search.h"

// The first name that is missing, or NULL.
static const char* resolve_entries(void* table, void* library) {
  libaqlprofile_t* to = (libaqlprofile_t*)table;
#define OPTIONAL(result, name, parameters) *(void**)(&to->name) = dlsym(library, #name);
#define ENTRY(result, name, parameters) \
  OPTIONAL(result, name, parameters)    \
  if (!to->name) return #name;
#include "hal/amdgpu/libaqlprofile.def"
  return NULL;
}

static iree_status_t find_library(library_search_t* search, const libhsa_t* hsa, const char* what) {
  IREE_RETURN_IF_ERROR(library_search_variable(search, "IREE_HAL_AMDGPU_LIBAQLPROFILE_PATH", false));
  IREE_RETURN_IF_ERROR(library_search_beside(search, *(void* const*)&hsa->hsa_init));
  IREE_RETURN_IF_ERROR(library_search_system(search));
  if (search->library) return iree_ok_status();
  return iree_make_status(IREE_STATUS_UNAVAILABLE,
                          "%s need libhsa-amd-aqlprofile64, which was not found; install ROCm's hsa-amd-aqlprofile "
                          "or name the library's folder with IREE_HAL_AMDGPU_LIBAQLPROFILE_PATH; tried:%.*s",
                          what, (int)iree_string_builder_size(&search->tried),
                          iree_string_builder_buffer(&search->tried));
}

iree_status_t libaqlprofile_load(const libhsa_t* hsa, const char* what, iree_allocator_t host_allocator,
                                 libaqlprofile_t* out_library) {
  library_search_t search = {.names = {"libhsa-amd-aqlprofile64.so.1", "libhsa-amd-aqlprofile64.so"},
                             .resolve = resolve_entries,
                             .table = out_library};
  library_search_begin(&search, host_allocator);
  iree_status_t status = find_library(&search, hsa, what);
  library_search_end(&search);
  return status;
}

iree_status_t libaqlprofile_check(const libaqlprofile_t* library, hsa_status_t status, const char* call) {
  const char* text = NULL;
  if (status == HSA_STATUS_SUCCESS) return iree_ok_status();
  if (library->hsa_ven_amd_aqlprofile_error_string(&text) != HSA_STATUS_SUCCESS || !text) text = "no description";
  return iree_make_status(IREE_STATUS_INTERNAL, "%s failed with 0x%X: %s", call, (unsigned)status, text);
}
