// The libraries of collectives, found when a channel is asked for.
#include "hal/stream/nccl.h"

#include <dlfcn.h>

#include "hal/stream/dylib.h"
#include "iree/base/threading/api.h"

const nccl_library_t nccl_cuda_library = {
    .title = "NCCL library libnccl.so.2",
    .advice =
        "install NVIDIA's NCCL 2.10 or later, or name its folder with --cuda_nccl_path= or IREE_CUDA_NCCL_PATH; "
        "--cuda_collectives=host does without",
    .names = (const char* const[]){"libnccl.so.2", "libnccl.so", NULL},
    .paths = stream_nccl_paths,
};
const nccl_library_t nccl_hip_library = {
    .title = "RCCL library librccl.so.1",
    .advice =
        "install ROCm's RCCL, or name its folder with --hip_rccl_path= or IREE_HIP_RCCL_PATH; "
        "--hip_collectives=host does without",
    .names = (const char* const[]){"librccl.so.1", "librccl.so", NULL},
    .paths = stream_rccl_paths,
};

// Of ncclResult_t.
enum {
  NCCL_SUCCESS = 0,
  NCCL_SYSTEM_ERROR = 2,
  NCCL_INVALID_ARGUMENT = 4,
  NCCL_REMOTE_ERROR = 6,
  NCCL_IN_PROGRESS = 7
};

iree_status_t nccl_api_check(const nccl_api_t* api, int result, const char* call) {
  if (result == NCCL_SUCCESS || result == NCCL_IN_PROGRESS) return iree_ok_status();
  iree_status_code_t code = IREE_STATUS_INTERNAL;
  if (result == NCCL_INVALID_ARGUMENT) code = IREE_STATUS_INVALID_ARGUMENT;
  if (result == NCCL_SYSTEM_ERROR || result == NCCL_REMOTE_ERROR) code = IREE_STATUS_ABORTED;
  const char* text = api->error_text(result);
  return iree_make_status(code, "%s failed with %d: %s", call, result, text ? text : "no description");
}

//===----------------------------------------------------------------------------------------------------------------===
// Loading
//===----------------------------------------------------------------------------------------------------------------===

// The tables of the process.
typedef struct loaded_t {
  const nccl_library_t* library;
  iree_slim_mutex_t mutex;
  bool is_usable;
  nccl_api_t api;
} loaded_t;
static loaded_t tables[] = {{.library = &nccl_cuda_library}, {.library = &nccl_hip_library}};

static const char* resolve(void* handle, void* user_data) {
  nccl_api_t* api = (nccl_api_t*)user_data;
#define OPTIONAL(name, symbol, parameters) *(void**)(&api->name) = dlsym(handle, symbol);
#define ENTRY(name, symbol, parameters) \
  OPTIONAL(name, symbol, parameters)    \
  if (!api->name) return symbol;
#define TEXT(name, symbol, parameters) ENTRY(name, symbol, parameters)
#include "hal/stream/nccl.def"
  return NULL;
}

static iree_status_t find(loaded_t* loaded, iree_string_builder_t* why) {
  const nccl_library_t* library = loaded->library;
  iree_string_view_t storage[STREAM_MAX_PATHS];
  loaded->api.library = library;
  const stream_dylib_t dylib = {library->names, resolve, &loaded->api, loaded->api.path, sizeof(loaded->api.path)};
  IREE_RETURN_IF_ERROR(stream_dylib_open(&dylib, library->paths(storage), why, &loaded->is_usable));
  if (loaded->is_usable) return iree_ok_status();
  return iree_make_status(IREE_STATUS_UNAVAILABLE, "%s not available; %s; tried:%.*s", library->title, library->advice,
                          (int)iree_string_builder_size(why), iree_string_builder_buffer(why));
}

iree_status_t nccl_api_load(const nccl_library_t* library, const nccl_api_t** out_api) {
  *out_api = NULL;
  loaded_t* loaded = tables;
  while (loaded->library != library) ++loaded;
  iree_status_t status = iree_ok_status();
  iree_slim_mutex_lock(&loaded->mutex);
  if (!loaded->is_usable) {
    iree_string_builder_t why;
    iree_string_builder_initialize(iree_allocator_system(), &why);
    status = find(loaded, &why);
    iree_string_builder_deinitialize(&why);
  }
  iree_slim_mutex_unlock(&loaded->mutex);
  if (iree_status_is_ok(status)) *out_api = &loaded->api;
  return status;
}
