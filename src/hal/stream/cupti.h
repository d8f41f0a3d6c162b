// CUPTI, which reads counters of NVIDIA's GPUs: its structures (CUPTI API reference) and the library.
//
// Each structure begins with its size up to its last field, by which the library knows what the caller knows.
#ifndef IREE_C_HAL_STREAM_CUPTI_H_
#define IREE_C_HAL_STREAM_CUPTI_H_

#include "iree/base/api.h"

#define CUPTI_HEAD \
  size_t size;     \
  void* reserved
// CUPTI_BEGIN(cupti_push_t, name): the size and what is reserved, of which that field is the last.
#define CUPTI_BEGIN(type, last) offsetof(type, last) + sizeof(((type*)0)->last), NULL

// Of CUpti_ProfilerRange, CUpti_ProfilerReplayMode, CUpti_Profiler_Support_Level and CUptiResult.
enum {
  CUPTI_USER_RANGE = 2,
  CUPTI_USER_REPLAY = 3,
  CUPTI_SUPPORTED = 3,
  CUPTI_SUCCESS = 0,
  CUPTI_INSUFFICIENT_PRIVILEGES = 35,
};

typedef struct cupti_initialize_t {
  CUPTI_HEAD;
} cupti_initialize_t;
typedef struct cupti_support_t {
  CUPTI_HEAD;
  int device;
  // Of all, and of what it depends on.
  int all, architecture, sli, virtual_gpu, confidential_computing, mining_processor, wsl;
  int kind;  // 0: ranges
} cupti_support_t;
typedef struct cupti_chip_t {
  CUPTI_HEAD;
  size_t device;
  const char* name;  // out
} cupti_chip_t;
typedef struct cupti_availability_t {
  CUPTI_HEAD;
  void* context;
  size_t length;  // out, while there is no image
  uint8_t* image;
} cupti_availability_t;

typedef struct cupti_host_create_t {
  CUPTI_HEAD;
  int kind;  // 0: of ranges
  const char* chip;
  const uint8_t* availability;
  void* host;  // out
} cupti_host_create_t;
typedef struct cupti_host_destroy_t {
  CUPTI_HEAD;
  void* host;
} cupti_host_destroy_t;
typedef struct cupti_describe_t {
  CUPTI_HEAD;
  void* host;
  const char* name;
  const char *description, *block, *unit;  // out
  int type;                                // out
} cupti_describe_t;
typedef struct cupti_add_t {
  CUPTI_HEAD;
  void* host;
  const char** names;
  size_t count;
} cupti_add_t;
typedef struct cupti_plan_size_t {
  CUPTI_HEAD;
  void* host;
  size_t length;  // out
} cupti_plan_size_t;
typedef struct cupti_plan_t {
  CUPTI_HEAD;
  void* host;
  size_t length;
  uint8_t* plan;
} cupti_plan_t;
typedef struct cupti_passes_t {
  CUPTI_HEAD;
  size_t length;
  uint8_t* plan;
  size_t count;  // out
} cupti_passes_t;
typedef struct cupti_evaluate_t {
  CUPTI_HEAD;
  void* host;
  const uint8_t* data;
  size_t length;
  size_t range;
  const char** names;
  size_t count;
  double* values;
} cupti_evaluate_t;

typedef struct cupti_enable_t {
  CUPTI_HEAD;
  void* context;
  void* profiler;  // out
} cupti_enable_t;
typedef struct cupti_profiler_t {
  CUPTI_HEAD;
  void* profiler;
} cupti_profiler_t;
typedef struct cupti_data_size_t {
  CUPTI_HEAD;
  void* profiler;
  const char** names;
  size_t count;
  size_t max_ranges;
  uint32_t max_nodes;
  size_t length;  // out
} cupti_data_size_t;
typedef struct cupti_data_clear_t {
  CUPTI_HEAD;
  void* profiler;
  size_t length;
  uint8_t* data;
} cupti_data_clear_t;
typedef struct cupti_configure_t {
  CUPTI_HEAD;
  void* profiler;
  size_t plan_length;
  const uint8_t* plan;
  size_t data_length;
  uint8_t* data;
  int range, replay;
  size_t max_ranges;
  uint16_t levels, first_level;
  size_t pass;
  uint16_t level;
} cupti_configure_t;
typedef struct cupti_push_t {
  CUPTI_HEAD;
  void* profiler;
  const char* name;
} cupti_push_t;
typedef struct cupti_stop_t {
  CUPTI_HEAD;
  void* profiler;
  size_t pass, level;  // out
  uint8_t is_complete;
} cupti_stop_t;
typedef struct cupti_decode_t {
  CUPTI_HEAD;
  void* profiler;
  size_t dropped;  // out
} cupti_decode_t;
typedef struct cupti_range_count_t {
  CUPTI_HEAD;
  const uint8_t* data;
  size_t length;
  size_t count;  // out
} cupti_range_count_t;
typedef struct cupti_range_name_t {
  CUPTI_HEAD;
  const uint8_t* data;
  size_t length;
  size_t range;
  const char* delimiter;
  const char* name;  // out
} cupti_range_name_t;

typedef struct cupti_api_t {
#define TEXT(name, symbol) int (*name)(int result, const char** out_text);
#define ENTRY(name, symbol, parameters) int (*name)(parameters*);
#include "hal/stream/cupti.def"
  char path[1024];  // of the file
} cupti_api_t;

// The library, which stays loaded for good. Errors: UNAVAILABLE, with what was tried and why it failed.
iree_status_t cupti_api_load(cupti_api_t* out_api);
// The same for other entry points, which `resolve` looks up (stream_dylib_t); `path`: where the file's goes.
iree_status_t cupti_open(const char* (*resolve)(void* handle, void* user_data), void* user_data, char* path,
                         size_t path_capacity);
// A status for what `call` returned.
iree_status_t cupti_api_check(const cupti_api_t* api, int result, const char* call);
// CUPTI_CALL(api, start, &parameters): an iree_status_t.
#define CUPTI_CALL(api, entry, parameters) cupti_api_check((api), (api)->entry(parameters), cupti_symbol_##entry)
#define ENTRY(name, symbol, parameters) static const char cupti_symbol_##name[] __attribute__((unused)) = symbol;
#include "hal/stream/cupti.def"

#endif  // IREE_C_HAL_STREAM_CUPTI_H_
