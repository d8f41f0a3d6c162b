// CUPTI, looked for when counters or times of dispatches are asked for.
#include "hal/stream/cupti.h"

#include <dlfcn.h>

#include "hal/stream/dylib.h"
#include "hal/stream/options.h"

static const char* resolve(void* handle, void* user_data) {
  cupti_api_t* api = (cupti_api_t*)user_data;
#define FIND(name, symbol)                       \
  *(void**)(&api->name) = dlsym(handle, symbol); \
  if (!api->name) return symbol;
#define TEXT(name, symbol) FIND(name, symbol)
#define ENTRY(name, symbol, parameters) FIND(name, symbol)
#include "hal/stream/cupti.def"
  return NULL;
}

// Where CUDA's toolkit has it, of which the system does not know.
static iree_status_t open_library(const stream_dylib_t* dylib, iree_string_builder_t* why, bool* out_is_open) {
  iree_string_view_t toolkit[] = {IREE_SV("/usr/local/cuda/extras/CUPTI/lib64"), IREE_SV("/usr/local/cuda/lib64")};
  iree_string_view_t storage[STREAM_MAX_PATHS];
  iree_string_view_list_t paths = stream_cupti_paths(storage);
  IREE_RETURN_IF_ERROR(stream_dylib_open(dylib, paths, why, out_is_open));
  if (*out_is_open || paths.count) return iree_ok_status();
  return stream_dylib_open(dylib, (iree_string_view_list_t){IREE_ARRAYSIZE(toolkit), toolkit}, why, out_is_open);
}

iree_status_t cupti_open(const char* (*resolver)(void* handle, void* user_data), void* user_data, char* path,
                         size_t path_capacity) {
  static const char* const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so", NULL};
  const stream_dylib_t dylib = {names, resolver, user_data, path, path_capacity};
  iree_string_builder_t why;
  bool is_open = false;
  iree_string_builder_initialize(iree_allocator_system(), &why);
  iree_status_t status = open_library(&dylib, &why, &is_open);
  if (iree_status_is_ok(status) && !is_open) {
    status = iree_make_status(IREE_STATUS_UNAVAILABLE,
                              "CUPTI of CUDA 12.6 or later, which counters need, was not found; it comes with CUDA's "
                              "toolkit; --cuda_cupti_path= or IREE_CUDA_CUPTI_PATH names its folder; tried:%.*s",
                              (int)iree_string_builder_size(&why), iree_string_builder_buffer(&why));
  }
  iree_string_builder_deinitialize(&why);
  return status;
}

iree_status_t cupti_api_load(cupti_api_t* out_api) {
  return cupti_open(resolve, out_api, out_api->path, sizeof(out_api->path));
}

iree_status_t cupti_api_check(const cupti_api_t* api, int result, const char* call) {
  const char* text = NULL;
  if (result == CUPTI_SUCCESS) return iree_ok_status();
  if (api->result_text(result, &text) != CUPTI_SUCCESS || !text) text = "no description";
  if (result == CUPTI_INSUFFICIENT_PRIVILEGES) {
    return iree_make_status(
        IREE_STATUS_PERMISSION_DENIED,
        "%s failed with %d: %s; the driver lets administrators count, and others where it is loaded "
        "with NVreg_RestrictProfilingToAdminUsers=0",
        call, result, text);
  }
  return iree_make_status(IREE_STATUS_UNAVAILABLE, "%s of %s failed with %d: %s", call, api->path, result, text);
}
