// Options of devices of the stream core, as flags say: --cuda_… or --hip_….
#ifndef IREE_C_HAL_STREAM_OPTIONS_H_
#define IREE_C_HAL_STREAM_OPTIONS_H_

#include "hal/stream/code_cache.h"

// Who does collectives: the vendor's library those of groups with an id of its own or a channel provider's, and the
// host the rest; or one of them all.
typedef enum {
  STREAM_COLLECTIVES_AUTO,
  STREAM_COLLECTIVES_LIBRARY,
  STREAM_COLLECTIVES_HOST,
} stream_collectives_t;

// Whether recordings whose workgroup counts are known are graphs.
typedef enum {
  STREAM_GRAPHS_NEVER,
  STREAM_GRAPHS_WHERE_POSSIBLE,
  STREAM_GRAPHS_ALWAYS,  // or there is no device
} stream_graphs_t;

// Which of the library's times profiles may take: none, those of queue operations, those of dispatches too.
enum { STREAM_MAX_TRACING = 2 };

typedef struct stream_options_t {
  uint32_t queue_count;      // streams of a GPU; 0: the default
  uint32_t depth;            // parts in flight, a power of two; 0: the default
  uint32_t default_ordinal;  // the GPU that no path means
  stream_graphs_t graphs;
  bool keeps_pools;                       // queue-ordered memory is kept for later
  char code_folder[CODE_CACHE_MAX_PATH];  // where machine code is kept that was made of PTX; empty: nowhere
  stream_collectives_t collectives;
  int tracing;
  bool has_stream;  // the device's only queue is a stream of the caller's, which outlives it
  void* stream;
} stream_options_t;

// Errors: UNIMPLEMENTED, INVALID_ARGUMENT, with the flag's name.
iree_status_t stream_options_from_cuda_flags(stream_options_t* out_options);
iree_status_t stream_options_from_hip_flags(stream_options_t* out_options);

// Where to look for a library before anything else: nowhere; --hip_dylib_path=, else IREE_HIP_DYLIB_PATH. What they
// return may be in `storage`.
enum { STREAM_MAX_PATHS = 32 };
iree_string_view_list_t stream_no_paths(iree_string_view_t storage[STREAM_MAX_PATHS]);
iree_string_view_list_t stream_hip_paths(iree_string_view_t storage[STREAM_MAX_PATHS]);
// The same for the libraries of collectives: --cuda_nccl_path=, else IREE_CUDA_NCCL_PATH; --hip_rccl_path=, else
// IREE_HIP_RCCL_PATH; and for those of metrics and counters.
iree_string_view_list_t stream_nccl_paths(iree_string_view_t storage[STREAM_MAX_PATHS]);
iree_string_view_list_t stream_rccl_paths(iree_string_view_t storage[STREAM_MAX_PATHS]);
iree_string_view_list_t stream_nvml_paths(iree_string_view_t storage[STREAM_MAX_PATHS]);
iree_string_view_list_t stream_cupti_paths(iree_string_view_t storage[STREAM_MAX_PATHS]);
iree_string_view_list_t stream_rocprofiler_paths(iree_string_view_t storage[STREAM_MAX_PATHS]);

#endif  // IREE_C_HAL_STREAM_OPTIONS_H_
