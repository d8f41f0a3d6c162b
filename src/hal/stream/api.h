// A vendor's library, found at run time: libcuda or libamdhip64. What they call alike has one name here; the numbers
// below are the same in both (CUDA driver API and HIP runtime API references).
#ifndef IREE_C_HAL_STREAM_API_H_
#define IREE_C_HAL_STREAM_API_H_

#include "iree/base/api.h"

// Of CUresult and hipError_t.
enum {
  STREAM_API_SUCCESS = 0,
  STREAM_API_INVALID_VALUE = 1,
  STREAM_API_OUT_OF_MEMORY = 2,
  STREAM_API_NO_DEVICE = 100,
  STREAM_API_INVALID_IMAGE = 200,
  STREAM_API_NO_BINARY = 209,
  STREAM_API_INVALID_PTX = 218,
  STREAM_API_UNSUPPORTED_PTX = 222,
  STREAM_API_NOT_READY = 600,
  STREAM_API_PEER_ACCESS_ALREADY_ENABLED = 704,
};
// Of flags and options.
enum {
  STREAM_API_PHYSICAL_PINNED = 1,
  STREAM_API_LOCATION_DEVICE = 1,
  STREAM_API_ACCESS_NONE = 0,
  STREAM_API_ACCESS_READ = 1,
  STREAM_API_ACCESS_READ_WRITE = 3,
  STREAM_API_HOST_PORTABLE = 1,
  STREAM_API_HOST_DEVICEMAP = 2,
  STREAM_API_MANAGED_GLOBAL = 1,
  STREAM_API_STREAM_NON_BLOCKING = 1,
  STREAM_API_EVENT_BLOCKING_SYNC = 1,
  STREAM_API_EVENT_DISABLE_TIMING = 2,
  STREAM_API_JIT_ERROR_LOG = 5,
  STREAM_API_JIT_ERROR_LOG_SIZE = 6,
  STREAM_API_LINK_PTX = 1,
  STREAM_API_FUNCTION_MAX_THREADS = 0,
  STREAM_API_FUNCTION_SHARED_SIZE = 1,
  STREAM_API_FUNCTION_MAX_DYNAMIC_SHARED_SIZE = 8,
};
#define STREAM_API_LAUNCH_BUFFER ((void*)1)
#define STREAM_API_LAUNCH_BUFFER_SIZE ((void*)2)

typedef enum {
#define ATTRIBUTE(name, cuda, hip) STREAM_##name,
#include "hal/stream/attributes.def"
  STREAM_ATTRIBUTE_COUNT,
} stream_attribute_t;

// Where memory is or who may use it: CUmemLocation, CUmemAllocationProp and CUmemAccessDesc, and HIP's.
typedef struct stream_api_location_t {
  int type, device;
} stream_api_location_t;
typedef struct stream_api_physical_t {
  int type, handle_types;
  stream_api_location_t location;
  void* windows;
  uint8_t flags[8];
} stream_api_physical_t;
typedef struct stream_api_access_t {
  stream_api_location_t location;
  int flags;
} stream_api_access_t;

typedef struct stream_symbol_t {
  const char* name;  // NULL: the library has no such entry point
  bool is_optional;
} stream_symbol_t;
typedef struct stream_symbols_t {
#define ENTRY(name, parameters) stream_symbol_t name;
#define TEXT(name) stream_symbol_t name;
#include "hal/stream/entries.def"
} stream_symbols_t;

// What differs between libraries.
typedef struct stream_library_t {
  const char* title;         // "CUDA driver library libcuda.so.1"
  const char* advice;        // what to do when it is not there
  const char* on_none;       // and when it finds no GPU
  const char* const* names;  // of files, by preference; NULL ends them
  stream_symbols_t symbols;
  int attributes[STREAM_ATTRIBUTE_COUNT];
  bool puts_blocks_first;   // in the parameters of a graph's kernel (graph.c)
  bool sees_streams;        // to ask a stream whether it is idle adds nothing to it
  bool takes_values;        // a few bytes of pageable memory are read when the call returns, and go with the commands
  uintptr_t launch_end;     // of the list `extra` of a launch
  int event_type;           // iree_hal_external_timepoint_type_t
  int first_with_graphs;    // version whose graphs run more than once
  int first_unregistering;  // version that gives registered memory back wherever it is (memory.c)
} stream_library_t;
extern const stream_library_t stream_cuda_library, stream_hip_library;

typedef struct stream_api_t {
  const stream_library_t* library;
  char path[1024];  // of the file
#define ENTRY(name, parameters) int(*name) parameters;
#define TEXT(name) const char* (*name)(int status);
#include "hal/stream/entries.def"
} stream_api_t;

// The table of a library, which stays loaded with it for good; the first call of a process finds it. Initializes the
// library. `paths`: where to look first, instead of the system's search when there are any: folders, or files as
// "file:PATH". Errors: UNAVAILABLE, with what was tried and why it failed.
iree_status_t stream_api_load(const stream_library_t* library, iree_string_view_list_t paths,
                              const stream_api_t** out_api);
// A status for what `call` returned.
iree_status_t stream_api_check(const stream_api_t* api, int result, const char* call);
// A fact of a GPU, which the library must know.
iree_status_t stream_api_query(const stream_api_t* api, int device, stream_attribute_t attribute, int* out_value);
// The same; 0 when it is not known.
int stream_api_attribute(const stream_api_t* api, int device, stream_attribute_t attribute);
// STREAM_CALL(api, event_record, event, stream): an iree_status_t.
#define STREAM_CALL(api, entry, ...) \
  stream_api_check((api), (api)->entry(__VA_ARGS__), (api)->library->symbols.entry.name)

#endif  // IREE_C_HAL_STREAM_API_H_
