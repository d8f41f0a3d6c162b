// Finding and loading a vendor's library.
#include "hal/stream/api.h"

#include <dlfcn.h>

#include "hal/stream/dylib.h"
#include "iree/base/threading/api.h"
#include "iree/hal/semaphore.h"

#define SYMBOL(entry, text) .symbols.entry = {text, false},
#define OPTIONAL(entry, text) .symbols.entry = {text, true},
#define ATTRIBUTE(name, cuda, hip) .attributes[STREAM_##name] = cuda,
const stream_library_t stream_cuda_library = {
    .title = "CUDA driver library libcuda.so.1",
    .advice = "install NVIDIA's driver, or name the library's folder with LD_LIBRARY_PATH",
    .on_none = "nvidia-smi lists what the driver has",
    .names = (const char* const[]){"libcuda.so.1", "libcuda.so", NULL},
    .launch_end = 0,
    .event_type = IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_CUDA_EVENT,
    .sees_streams = true,
    .takes_values = true,
#include "hal/stream/attributes.def"
#include "hal/stream/cuda.def"
};

#define SYMBOL(entry, text) .symbols.entry = {text, false},
#define OPTIONAL(entry, text) .symbols.entry = {text, true},
#define ATTRIBUTE(name, cuda, hip) .attributes[STREAM_##name] = hip,
const stream_library_t stream_hip_library = {
    .title = "HIP runtime library libamdhip64.so",
    .advice = "install ROCm 5.1 or later, or name the library's folder with --hip_dylib_path= or IREE_HIP_DYLIB_PATH",
    .on_none = "rocminfo lists all there are, and --device=amdgpu runs on those that are too new for it",
    .names = (const char* const[]){"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so", NULL},
    .puts_blocks_first = true,
    .launch_end = 3,
    .event_type = IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_HIP_EVENT,
    .first_with_graphs = 60000000,
    .first_unregistering = 50400000,
#include "hal/stream/attributes.def"
#include "hal/stream/hip.def"
};

//===----------------------------------------------------------------------------------------------------------------===
// Calls
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t stream_api_check(const stream_api_t* api, int result, const char* call) {
  static const struct {
    int result;
    iree_status_code_t code;
  } rows[] = {
      {STREAM_API_INVALID_VALUE, IREE_STATUS_INVALID_ARGUMENT},
      {STREAM_API_OUT_OF_MEMORY, IREE_STATUS_RESOURCE_EXHAUSTED},
      {STREAM_API_NO_DEVICE, IREE_STATUS_UNAVAILABLE},
      {STREAM_API_INVALID_IMAGE, IREE_STATUS_INVALID_ARGUMENT},
      {STREAM_API_NO_BINARY, IREE_STATUS_INCOMPATIBLE},
      {STREAM_API_INVALID_PTX, IREE_STATUS_INVALID_ARGUMENT},
      {STREAM_API_UNSUPPORTED_PTX, IREE_STATUS_INCOMPATIBLE},
  };
  if (result == STREAM_API_SUCCESS) return iree_ok_status();
  iree_status_code_t code = result >= 700 && result < 720 ? IREE_STATUS_ABORTED : IREE_STATUS_INTERNAL;
  for (size_t i = 0; i < IREE_ARRAYSIZE(rows); ++i) {
    if (rows[i].result == result) code = rows[i].code;
  }
  const char *name = NULL, *text = NULL;
  if (api->error_name) {
    api->error_name(result, &name);
    api->error_text(result, &text);
  } else {
    name = api->name_of_error(result);
    text = api->text_of_error(result);
  }
  return iree_make_status(code, "%s failed with %d (%s): %s", call, result, name ? name : "?",
                          text ? text : "no description");
}

iree_status_t stream_api_query(const stream_api_t* api, int device, stream_attribute_t attribute, int* out_value) {
  return STREAM_CALL(api, device_attribute, out_value, api->library->attributes[attribute], device);
}

int stream_api_attribute(const stream_api_t* api, int device, stream_attribute_t attribute) {
  int value = 0, number = api->library->attributes[attribute];
  return number >= 0 && api->device_attribute(&value, number, device) == STREAM_API_SUCCESS ? value : 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// Loading
//===----------------------------------------------------------------------------------------------------------------===

// The tables of the process.
typedef struct loaded_t {
  const stream_library_t* library;
  iree_slim_mutex_t mutex;
  bool is_usable;
  stream_api_t api;
} loaded_t;
static loaded_t tables[] = {
    {.library = &stream_cuda_library},
    {.library = &stream_hip_library},
};

// Fills the table; NULL, or the first symbol that is missing.
static const char* resolve(void* handle, void* user_data) {
  stream_api_t* api = (stream_api_t*)user_data;
  const stream_symbols_t* symbols = &api->library->symbols;
#define ENTRY(entry, parameters)                                                            \
  *(void**)(&api->entry) = symbols->entry.name ? dlsym(handle, symbols->entry.name) : NULL; \
  if (symbols->entry.name && !symbols->entry.is_optional && !api->entry) return symbols->entry.name;
#define TEXT(entry) ENTRY(entry, ())
#include "hal/stream/entries.def"
  return NULL;
}

static iree_status_t find(loaded_t* loaded, iree_string_view_list_t paths, iree_string_builder_t* why) {
  loaded->api.library = loaded->library;
  const stream_dylib_t dylib = {loaded->library->names, resolve, &loaded->api, loaded->api.path,
                                sizeof(loaded->api.path)};
  IREE_RETURN_IF_ERROR(stream_dylib_open(&dylib, paths, why, &loaded->is_usable));
  if (loaded->is_usable) return iree_ok_status();
  return iree_make_status(IREE_STATUS_UNAVAILABLE, "%s not available; %s; tried:%.*s", loaded->library->title,
                          loaded->library->advice, (int)iree_string_builder_size(why), iree_string_builder_buffer(why));
}

static iree_status_t load(loaded_t* loaded, iree_string_view_list_t paths) {
  if (!loaded->is_usable) {
    iree_string_builder_t why;
    iree_string_builder_initialize(iree_allocator_system(), &why);
    iree_status_t status = find(loaded, paths, &why);
    iree_string_builder_deinitialize(&why);
    IREE_RETURN_IF_ERROR(status);
  }
  iree_status_t status = STREAM_CALL(&loaded->api, init, 0);
  if (iree_status_is_ok(status)) return status;
  char text[512];
  iree_status_format(status, sizeof(text), text, NULL);
  iree_status_free(status);
  return iree_make_status(IREE_STATUS_UNAVAILABLE,
                          "%s could not be initialized; is there a GPU for it, with its kernel driver? %s",
                          loaded->library->title, text);
}

iree_status_t stream_api_load(const stream_library_t* library, iree_string_view_list_t paths,
                              const stream_api_t** out_api) {
  *out_api = NULL;
  loaded_t* loaded = tables;
  while (loaded->library != library) ++loaded;
  iree_slim_mutex_lock(&loaded->mutex);
  iree_status_t status = load(loaded, paths);
  iree_slim_mutex_unlock(&loaded->mutex);
  if (iree_status_is_ok(status)) *out_api = &loaded->api;
  return status;
}
