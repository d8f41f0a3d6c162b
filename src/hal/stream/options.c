// Flags of the drivers cuda and hip.
#include "hal/stream/options.h"

#include <stdlib.h>

#include "base/flag_table.h"
#include "iree/base/tooling/flags.h"

typedef struct flags_t {
  const char* driver;
  stream_graphs_t graphs;
  bool allow_inline_execution, async_allocations, async_caching, default_index_from_mpi;
  int32_t tracing, default_index;
  const char* collectives;
} flags_t;

static const char* const graph_words[] = {"true", "auto", "false"};  // by stream_graphs_t: of streams

static iree_status_t parse_graphs(iree_string_view_t flag_name, void* storage, iree_string_view_t value) {
  if (!value.size || iree_string_view_equal(value, IREE_SV("1"))) value = IREE_SV("true");
  if (iree_string_view_equal(value, IREE_SV("0"))) value = IREE_SV("false");
  for (int i = 0; i < (int)IREE_ARRAYSIZE(graph_words); ++i) {
    if (!iree_string_view_equal(value, iree_make_cstring_view(graph_words[i]))) continue;
    *(stream_graphs_t*)storage = (stream_graphs_t)i;
    return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--%.*s takes true, false or auto, not '%.*s'",
                          (int)flag_name.size, flag_name.data, (int)value.size, value.data);
}

static void print_graphs(iree_string_view_t flag_name, void* storage, FILE* file) {
  fprintf(file, "--%.*s=%s\n", (int)flag_name.size, flag_name.data, graph_words[*(const stream_graphs_t*)storage]);
}

static stream_graphs_t cuda_graphs = STREAM_GRAPHS_WHERE_POSSIBLE, hip_graphs = STREAM_GRAPHS_NEVER;

// What both have: --cuda_X and --hip_X.
#define FLAGS(driver)                                                                                                \
  IREE_FLAG_CALLBACK(parse_graphs, print_graphs, &driver##_graphs, driver##_use_streams,                             \
                     "true: command buffers are runs of calls on streams. false: those whose workgroup counts are "  \
                     "known are graphs. auto: they are where the device is one GPU and the library has graphs.")     \
  IREE_FLAG(bool, driver##_allow_inline_execution, false,                                                            \
            "True is refused: commands run when they are submitted, not while they are recorded.")                   \
  IREE_FLAG(bool, driver##_async_allocations, true,                                                                  \
            "Queue-ordered allocations come from pools of memory. False: each is the library's own.")                \
  IREE_FLAG(int32_t, driver##_tracing, 2,                                                                            \
            "Times of the device that profiles may take. 0: none. 1: of queue operations. 2: of dispatches too.")    \
  IREE_FLAG(int32_t, driver##_default_index, 0,                                                                      \
            "The GPU that `" #driver "` without a path means, by the library's order.")                              \
  IREE_FLAG(                                                                                                         \
      bool, driver##_default_index_from_mpi, true,                                                                   \
      "The GPU without a path is that of PMI_RANK or OMPI_COMM_WORLD_LOCAL_RANK, where there is such a variable.")   \
  IREE_FLAG(string, driver##_collectives, "auto",                                                                    \
            "Who does collectives: `library` (NCCL or RCCL), `host` (between ranks of this process, in memory that " \
            "the host sees), or `auto`: the library those of groups with an id of its own or from a channel "        \
            "provider, the host the rest.")
FLAGS(cuda)
FLAGS(hip)
FLAG_VALUES(cuda_use_streams, "auto,true,false")
FLAG_VALUES(hip_use_streams, "auto,true,false")
FLAG_VALUES(cuda_collectives, "auto,library,host")
FLAG_VALUES(hip_collectives, "auto,library,host")
IREE_FLAG(bool, cuda_cubin_cache, true,
          "Machine code that the driver's library makes of PTX is kept in files for the next time.")
IREE_FLAG(string, cuda_cubin_cache_dir, "",
          "The folder of those files. Empty: $XDG_CACHE_HOME/iree-c/cuda, or ~/.cache/iree-c/cuda.")
IREE_FLAG(bool, hip_async_caching, true, "Pools of queue-ordered allocations keep memory for later ones.")
IREE_FLAG_LIST(string, hip_dylib_path,
               "Folder of libamdhip64.so, or file:PATH for exactly that file; before IREE_HIP_DYLIB_PATH, where `;`\n"
               "separates them. May be repeated.")
IREE_FLAG_LIST(string, cuda_nccl_path,
               "Folder of libnccl.so.2, or file:PATH for exactly that file; before IREE_CUDA_NCCL_PATH, where `;`\n"
               "separates them. May be repeated.")
IREE_FLAG_LIST(string, cuda_nvml_path,
               "Folder of libnvidia-ml.so.1, for metrics, or file:PATH for exactly that file; before\n"
               "IREE_CUDA_NVML_PATH, where `;` separates them. May be repeated.")
IREE_FLAG_LIST(string, cuda_cupti_path,
               "Folder of libcupti.so, for counters, or file:PATH for exactly that file; before\n"
               "IREE_CUDA_CUPTI_PATH, where `;` separates them. May be repeated.")
IREE_FLAG_LIST(string, hip_rocprofiler_path,
               "Folder of librocprofiler-sdk.so, for counters, or file:PATH for exactly that file; before\n"
               "IREE_HIP_ROCPROFILER_PATH, where `;` separates them. Where either is, the library comes before HIP's.\n"
               "May be repeated.")
IREE_FLAG_LIST(string, hip_rccl_path,
               "Folder of librccl.so.1, or file:PATH for exactly that file; before IREE_HIP_RCCL_PATH, where `;`\n"
               "separates them. May be repeated.")

#define READ_FLAGS(driver)                 \
  {#driver,                                \
   driver##_graphs,                        \
   FLAG_##driver##_allow_inline_execution, \
   FLAG_##driver##_async_allocations,      \
   true,                                   \
   FLAG_##driver##_default_index_from_mpi, \
   FLAG_##driver##_tracing,                \
   FLAG_##driver##_default_index,          \
   FLAG_##driver##_collectives}

static iree_status_t refuse(const flags_t* flags, const char* flag, const char* why) {
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "--%s_%s: %s", flags->driver, flag, why);
}

static iree_status_t read_default(const flags_t* flags, uint32_t* out_ordinal) {
  static const char* const variables[] = {"PMI_RANK", "OMPI_COMM_WORLD_LOCAL_RANK"};
  if (flags->default_index < 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--%s_default_index=%d is no index of a GPU", flags->driver,
                            flags->default_index);
  }
  *out_ordinal = (uint32_t)flags->default_index;
  for (size_t i = 0; flags->default_index_from_mpi && i < IREE_ARRAYSIZE(variables); ++i) {
    const char* value = getenv(variables[i]);
    if (!value) continue;
    if (iree_string_view_atoi_uint32(iree_make_cstring_view(value), out_ordinal)) return iree_ok_status();
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "%s=%s is no rank; --%s_default_index_from_mpi=false ignores it", variables[i], value,
                            flags->driver);
  }
  return iree_ok_status();
}

static iree_status_t read_collectives(const flags_t* flags, stream_collectives_t* out_collectives) {
  static const char* const names[] = {
      [STREAM_COLLECTIVES_AUTO] = "auto",
      [STREAM_COLLECTIVES_LIBRARY] = "library",
      [STREAM_COLLECTIVES_HOST] = "host",
  };
  for (size_t i = 0; i < IREE_ARRAYSIZE(names); ++i) {
    *out_collectives = (stream_collectives_t)i;
    if (strcmp(flags->collectives, names[i]) == 0) return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--%s_collectives=%s: auto, library and host are what there is",
                          flags->driver, flags->collectives);
}

static iree_status_t read_flags(const flags_t* flags, stream_options_t* out_options) {
  *out_options =
      (stream_options_t){.graphs = flags->graphs, .keeps_pools = flags->async_allocations && flags->async_caching};
  if (flags->allow_inline_execution) {
    return refuse(flags, "allow_inline_execution=true", "commands run when they are submitted; leave it false");
  }
  if (flags->tracing < 0 || flags->tracing > STREAM_MAX_TRACING) {
    return refuse(flags, "tracing", "0, 1 and 2 are what there is");
  }
  out_options->tracing = flags->tracing;
  IREE_RETURN_IF_ERROR(read_collectives(flags, &out_options->collectives));
  return read_default(flags, &out_options->default_ordinal);
}

iree_status_t stream_options_from_cuda_flags(stream_options_t* out_options) {
  const flags_t flags = READ_FLAGS(cuda);
  IREE_RETURN_IF_ERROR(read_flags(&flags, out_options));
  if (!FLAG_cuda_cubin_cache) return iree_ok_status();
  if (!FLAG_cuda_cubin_cache_dir[0]) {
    if (!code_cache_default_folder(out_options->code_folder)) out_options->code_folder[0] = 0;
    return iree_ok_status();
  }
  if (strlen(FLAG_cuda_cubin_cache_dir) >= sizeof(out_options->code_folder)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "--cuda_cubin_cache_dir: the path is too long");
  }
  iree_string_view_to_cstring(iree_make_cstring_view(FLAG_cuda_cubin_cache_dir), out_options->code_folder,
                              sizeof(out_options->code_folder));
  return iree_ok_status();
}

iree_status_t stream_options_from_hip_flags(stream_options_t* out_options) {
  flags_t flags = READ_FLAGS(hip);
  flags.async_caching = FLAG_hip_async_caching;
  return read_flags(&flags, out_options);
}

iree_string_view_list_t stream_no_paths(iree_string_view_t storage[STREAM_MAX_PATHS]) {
  return (iree_string_view_list_t){0};
}

// What the flag says, else a variable of the environment.
static iree_string_view_list_t find_paths(iree_string_view_list_t list, const char* variable,
                                          iree_string_view_t storage[STREAM_MAX_PATHS]) {
  const char* value = list.count ? NULL : getenv(variable);
  if (!value) return list;
  iree_string_view_t rest = iree_make_cstring_view(value);
  list.values = storage;
  while (rest.size && list.count < STREAM_MAX_PATHS) {
    iree_string_view_split(rest, ';', &storage[list.count], &rest);
    ++list.count;
  }
  return list;
}

iree_string_view_list_t stream_hip_paths(iree_string_view_t storage[STREAM_MAX_PATHS]) {
  return find_paths(FLAG_hip_dylib_path_list(), "IREE_HIP_DYLIB_PATH", storage);
}

iree_string_view_list_t stream_nccl_paths(iree_string_view_t storage[STREAM_MAX_PATHS]) {
  return find_paths(FLAG_cuda_nccl_path_list(), "IREE_CUDA_NCCL_PATH", storage);
}

iree_string_view_list_t stream_nvml_paths(iree_string_view_t storage[STREAM_MAX_PATHS]) {
  return find_paths(FLAG_cuda_nvml_path_list(), "IREE_CUDA_NVML_PATH", storage);
}

iree_string_view_list_t stream_cupti_paths(iree_string_view_t storage[STREAM_MAX_PATHS]) {
  return find_paths(FLAG_cuda_cupti_path_list(), "IREE_CUDA_CUPTI_PATH", storage);
}

iree_string_view_list_t stream_rocprofiler_paths(iree_string_view_t storage[STREAM_MAX_PATHS]) {
  return find_paths(FLAG_hip_rocprofiler_path_list(), "IREE_HIP_ROCPROFILER_PATH", storage);
}

iree_string_view_list_t stream_rccl_paths(iree_string_view_t storage[STREAM_MAX_PATHS]) {
  return find_paths(FLAG_hip_rccl_path_list(), "IREE_HIP_RCCL_PATH", storage);
}
