// rocprofiler-sdk: found, and told of this process; see rocprofiler.h.
#include "hal/stream/rocprofiler.h"

#include <dlfcn.h>

#include "hal/stream/dylib.h"
#include "hal/stream/options.h"
#include "iree/base/threading/call_once.h"
#include "iree/base/threading/mutex.h"

static struct {
  iree_once_flag once;
  iree_slim_mutex_t mutex;  // guards what follows, while the client is made
  rocprofiler_client_t client;
  const rocprofiler_callbacks_t* callbacks;
  bool is_loaded, is_initialized;
  const char* failed_call;
  int failure;  // of that call, for good: a process is configured once
} process = {.once = IREE_ONCE_FLAG_INIT};

static void initialize_once(void) { iree_slim_mutex_initialize(&process.mutex); }

iree_status_t rocprofiler_api_check(const rocprofiler_api_t* api, int result, const char* call) {
  static const struct {
    int result;
    iree_status_code_t code;
    const char* advice;
  } rows[] = {
      {ROCPROFILER_CONTEXT_CONFLICT, IREE_STATUS_UNAVAILABLE, "; another profiler counts in this process"},
      {ROCPROFILER_CONFIGURATION_LOCKED, IREE_STATUS_UNAVAILABLE, "; another profiler was there first"},
      {ROCPROFILER_EXCEEDS_HARDWARE_LIMIT, IREE_STATUS_UNIMPLEMENTED,
       "; the GPU counts fewer at a time, and dispatches run once"},
      {ROCPROFILER_PERMISSION_DENIED, IREE_STATUS_PERMISSION_DENIED,
       "; Linux lets those count who have CAP_PERFMON or CAP_SYS_ADMIN"},
      {ROCPROFILER_INCOMPATIBLE_REGISTER, IREE_STATUS_UNAVAILABLE,
       "; HIP was there before it: IREE_HIP_ROCPROFILER_PATH or --hip_rocprofiler_path= loads it first"},
  };
  if (result == ROCPROFILER_SUCCESS) return iree_ok_status();
  const char *text = api->status_text(result), *advice = "";
  iree_status_code_t code = IREE_STATUS_UNAVAILABLE;
  for (size_t i = 0; i < IREE_ARRAYSIZE(rows); ++i) {
    if (rows[i].result != result) continue;
    code = rows[i].code;
    advice = rows[i].advice;
  }
  return iree_make_status(code, "%s of %s failed with %d: %s%s", call, api->path, result,
                          text ? text : "no description", advice);
}

//===----------------------------------------------------------------------------------------------------------------===
// The client; what the library calls while the mutex is held
//===----------------------------------------------------------------------------------------------------------------===

static int take_agents(int version, const void** agents, size_t count, void* user_data) {
  rocprofiler_client_t* client = &process.client;
  client->gpu_count = 0;
  for (size_t i = 0; i < count && client->gpu_count < ROCPROFILER_MAX_GPUS; ++i) {
    const rocprofiler_agent_t* agent = (const rocprofiler_agent_t*)agents[i];
    if (agent->size < sizeof(*agent) || agent->type != ROCPROFILER_AGENT_GPU) continue;
    client->gpus[client->gpu_count].agent = agent->id;
    client->gpus[client->gpu_count].location = agent->location;
    client->gpus[client->gpu_count++].domain = agent->domain;
  }
  return ROCPROFILER_SUCCESS;
}

// Contexts are made here or never. A GPU may have none over time, and count dispatches.
static int initialize(void (*finalize)(rocprofiler_client_id_t id), void* data) {
  rocprofiler_client_t* client = &process.client;
  const rocprofiler_api_t* api = &client->api;
#define TRY(entry, ...)                             \
  process.failed_call = rocprofiler_symbol_##entry; \
  process.failure = api->entry(__VA_ARGS__);        \
  if (process.failure != ROCPROFILER_SUCCESS) return -1;
  TRY(create_context, &client->dispatches)
  TRY(configure_dispatches, client->dispatches, process.callbacks->dispatch, NULL, process.callbacks->record, NULL)
  TRY(query_agents, ROCPROFILER_AGENT_V0, take_agents, sizeof(rocprofiler_agent_t), NULL)
#undef TRY
  for (uint32_t i = 0; i < client->gpu_count; ++i) {
    rocprofiler_id_t no_buffer = {0}, *context = &client->gpus[i].context;
    int status = api->create_context(context);
    if (status == ROCPROFILER_SUCCESS) {
      status = api->configure_device(*context, no_buffer, client->gpus[i].agent, process.callbacks->device, NULL);
    }
    client->gpus[i].status = status;
  }
  process.is_initialized = true;
  return 0;
}

static rocprofiler_configuration_t* configure(uint32_t version, const char* runtime_version, uint32_t priority,
                                              rocprofiler_client_id_t* id) {
  static rocprofiler_configuration_t configuration = {sizeof(configuration), initialize, NULL, NULL};
  id->name = "iree";
  return &configuration;
}

static const char* resolve(void* handle, void* user_data) {
  rocprofiler_api_t* api = (rocprofiler_api_t*)user_data;
#define FIND(name, symbol)                       \
  *(void**)(&api->name) = dlsym(handle, symbol); \
  if (!api->name) return symbol;
#define TEXT(name, symbol) FIND(name, symbol)
#define ENTRY(name, symbol, parameters) FIND(name, symbol)
#include "hal/stream/rocprofiler.def"
  return NULL;
}

// Where ROCm has it, of which the system may not know.
static iree_status_t find(const stream_dylib_t* dylib, iree_string_builder_t* why) {
  iree_string_view_t rocm = IREE_SV("/opt/rocm/lib");
  iree_string_view_t storage[STREAM_MAX_PATHS];
  iree_string_view_list_t paths = stream_rocprofiler_paths(storage);
  IREE_RETURN_IF_ERROR(stream_dylib_open(dylib, paths, why, &process.is_loaded));
  if (process.is_loaded || paths.count) return iree_ok_status();
  return stream_dylib_open(dylib, (iree_string_view_list_t){1, &rocm}, why, &process.is_loaded);
}

static iree_status_t load(void) {
  static const char* const names[] = {"librocprofiler-sdk.so.1", "librocprofiler-sdk.so", NULL};
  rocprofiler_api_t* api = &process.client.api;
  const stream_dylib_t dylib = {names, resolve, api, api->path, sizeof(api->path)};
  iree_string_builder_t why;
  if (process.is_loaded) return iree_ok_status();
  iree_string_builder_initialize(iree_allocator_system(), &why);
  iree_status_t status = find(&dylib, &why);
  if (iree_status_is_ok(status) && !process.is_loaded) {
    status = iree_make_status(
        IREE_STATUS_UNAVAILABLE,
        "counters of HIP's kernels need rocprofiler-sdk of ROCm 7.0 or later (librocprofiler-sdk.so.1), which was not "
        "found; it is ROCm's package rocprofiler-sdk; --hip_rocprofiler_path= or IREE_HIP_ROCPROFILER_PATH names its "
        "folder, and --device=amdgpu counts without it; librocprofiler64, which is older, is not used; tried:%.*s",
        (int)iree_string_builder_size(&why), iree_string_builder_buffer(&why));
  }
  iree_string_builder_deinitialize(&why);
  return status;
}

static iree_status_t open_client(const rocprofiler_callbacks_t* callbacks) {
  rocprofiler_api_t* api = &process.client.api;
  if (process.failure) return rocprofiler_api_check(api, process.failure, process.failed_call);
  if (process.is_initialized) return iree_ok_status();
  IREE_RETURN_IF_ERROR(load());
  process.callbacks = callbacks;
  int result = api->force_configure(configure);
  if (result != ROCPROFILER_SUCCESS) {
    process.failed_call = rocprofiler_symbol_force_configure;
    process.failure = result;
  }
  if (process.failure) return rocprofiler_api_check(api, process.failure, process.failed_call);
  if (process.is_initialized) return iree_ok_status();
  return iree_make_status(IREE_STATUS_UNAVAILABLE, "%s asked for nothing when it was told to count", api->path);
}

iree_status_t rocprofiler_client_open(const rocprofiler_callbacks_t* callbacks,
                                      const rocprofiler_client_t** out_client) {
  *out_client = &process.client;
  iree_call_once(&process.once, initialize_once);
  iree_slim_mutex_lock(&process.mutex);
  iree_status_t status = open_client(callbacks);
  iree_slim_mutex_unlock(&process.mutex);
  return status;
}
