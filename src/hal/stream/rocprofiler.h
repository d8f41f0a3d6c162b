// rocprofiler-sdk, which reads counters of AMD's GPUs below HIP: its structures (rocprofiler-sdk's API reference), the
// library, and this process as a client of it.
//
//   rocprofiler_client_open: configure { initialize: contexts, services }; HIP is initialized
//   start_context { dispatch: the config that counts a kernel, or none; ... record: its values } stop_context
//
// The library sees kernels in queues that are made when it is there: it is opened before HIP is, where it is known by
// then that somebody will count.
#ifndef IREE_C_HAL_STREAM_ROCPROFILER_H_
#define IREE_C_HAL_STREAM_ROCPROFILER_H_

#include "iree/base/api.h"

// Of rocprofiler_status_t.
enum {
  ROCPROFILER_SUCCESS = 0,
  ROCPROFILER_CONTEXT_CONFLICT = 12,
  ROCPROFILER_CONFIGURATION_LOCKED = 16,
  ROCPROFILER_OUT_OF_RESOURCES = 29,
  ROCPROFILER_EXCEEDS_HARDWARE_LIMIT = 38,
  ROCPROFILER_PERMISSION_DENIED = 40,
  ROCPROFILER_INCOMPATIBLE_REGISTER = 41,
};
// Of rocprofiler_agent_version_t, rocprofiler_agent_type_t and rocprofiler_counter_info_version_id_t.
enum { ROCPROFILER_AGENT_V0 = 1, ROCPROFILER_AGENT_GPU = 2, ROCPROFILER_COUNTER_V0 = 1 };

// A context, agent, counter, queue, buffer or config.
typedef struct rocprofiler_id_t {
  uint64_t handle;
} rocprofiler_id_t;

typedef struct rocprofiler_client_id_t {
  const char* name;
  const uint32_t handle;
} rocprofiler_client_id_t;
typedef struct rocprofiler_configuration_t {
  size_t size;
  int (*initialize)(void (*finalize)(rocprofiler_client_id_t id), void* data);
  void (*finalize)(void* data);
  void* data;
} rocprofiler_configuration_t;
typedef rocprofiler_configuration_t* (*rocprofiler_configure_fn_t)(uint32_t version, const char* runtime_version,
                                                                   uint32_t priority, rocprofiler_client_id_t* id);

// rocprofiler_agent_v0_t up to what is read of it.
typedef struct rocprofiler_agent_t {
  uint64_t size;
  rocprofiler_id_t id;
  int type;
  uint32_t of_processors[20];
  uint32_t target_version;
  uint16_t vendor, device;
  uint32_t location;  // bus << 8 | device << 3 | function
  uint32_t domain;
} rocprofiler_agent_t;
static_assert(offsetof(rocprofiler_agent_t, target_version) == 100 && offsetof(rocprofiler_agent_t, domain) == 112,
              "as the library has it");
typedef int (*rocprofiler_agents_fn_t)(int version, const void** agents, size_t count, void* user_data);

typedef struct rocprofiler_counter_info_t {
  rocprofiler_id_t id;
  const char *name, *description, *block, *expression;
  uint8_t is_constant : 1, is_derived : 1;
} rocprofiler_counter_info_t;
typedef int (*rocprofiler_counters_fn_t)(rocprofiler_id_t agent, rocprofiler_id_t* counters, size_t count,
                                         void* user_data);

typedef struct rocprofiler_dispatch_t {
  uint64_t size;
  uint64_t internal_correlation, external_correlation;
  uint64_t start, end;
  struct {
    uint64_t size;
    rocprofiler_id_t agent, queue;
    uint64_t kernel, dispatch;
    uint32_t private_size, group_size;
    uint32_t workgroup_size[3], grid_size[3];  // in work-items
    uint8_t reserved[56];
  } info;
} rocprofiler_dispatch_t;
static_assert(sizeof(rocprofiler_dispatch_t) == 40 + 128, "as the library has it");
// A counter's value in one place: a shader engine, a channel of memory.
typedef struct rocprofiler_record_t {
  uint64_t id;
  double value;
  uint64_t dispatch;
  uint64_t user_data;
  rocprofiler_id_t agent;
} rocprofiler_record_t;

// Before a kernel goes to its queue, on the thread that puts it there: config 0 counts nothing. When it has ended.
typedef void (*rocprofiler_dispatch_fn_t)(rocprofiler_dispatch_t dispatch, rocprofiler_id_t* out_config,
                                          uint64_t* out_user_data, void* data);
typedef void (*rocprofiler_record_fn_t)(rocprofiler_dispatch_t dispatch, rocprofiler_record_t* records, size_t count,
                                        uint64_t user_data, void* data);
// When a context starts: `set_config` says what it counts.
typedef void (*rocprofiler_device_fn_t)(rocprofiler_id_t context, rocprofiler_id_t agent,
                                        int (*set_config)(rocprofiler_id_t context, rocprofiler_id_t config),
                                        void* data);

typedef struct rocprofiler_api_t {
#define TEXT(name, symbol) const char* (*name)(int status);
#define ENTRY(name, symbol, parameters) int(*name) parameters;
#include "hal/stream/rocprofiler.def"
  char path[1024];  // of the file
} rocprofiler_api_t;

// A status for what `call` returned.
iree_status_t rocprofiler_api_check(const rocprofiler_api_t* api, int result, const char* call);
// ROCPROFILER_CALL(api, start_context, context): an iree_status_t.
#define ROCPROFILER_CALL(api, entry, ...) \
  rocprofiler_api_check((api), (api)->entry(__VA_ARGS__), rocprofiler_symbol_##entry)
#define ENTRY(name, symbol, parameters) static const char rocprofiler_symbol_##name[] __attribute__((unused)) = symbol;
#include "hal/stream/rocprofiler.def"

enum { ROCPROFILER_MAX_GPUS = 64 };

// What the process is to the library, for good.
typedef struct rocprofiler_client_t {
  rocprofiler_api_t api;
  rocprofiler_id_t dispatches;  // the context of kernels' counters
  uint32_t gpu_count;
  struct {
    rocprofiler_id_t agent;
    uint32_t location, domain;
    rocprofiler_id_t context;  // of counters over time
    int status;                // of what made that
  } gpus[ROCPROFILER_MAX_GPUS];
} rocprofiler_client_t;

// What the library calls; `device` with the agent whose context starts.
typedef struct rocprofiler_callbacks_t {
  rocprofiler_dispatch_fn_t dispatch;
  rocprofiler_record_fn_t record;
  rocprofiler_device_fn_t device;
} rocprofiler_callbacks_t;

// The client; the first call that finds the library makes it, with the callbacks of that call. Errors: UNAVAILABLE,
// with what was tried and why it failed, or what the library says.
iree_status_t rocprofiler_client_open(const rocprofiler_callbacks_t* callbacks,
                                      const rocprofiler_client_t** out_client);

#endif  // IREE_C_HAL_STREAM_ROCPROFILER_H_
