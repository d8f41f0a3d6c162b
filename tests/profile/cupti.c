// CUPTI for tests: it counts nothing, but knows what the range profiler is to be told in which order, and refuses what
// the library would. Each range's values say which one it was since the library was loaded. CUPTI_DOUBLE=privileges: no
// one may count; CUPTI_DOUBLE=virtual: the GPU is a virtual one.
#include "hal/stream/cupti.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INVALID = 1, INVALID_OPERATION = 7, INVALID_NAME = 17, MAX_NAMES = 16, MAX_RANGES = 1024 };

typedef struct metric_t {
  const char *name, *block, *unit;
  unsigned group;  // counters of different groups take passes of their own
  double base, step;
} metric_t;
static const metric_t metrics[] = {
    {"sm__cycles_elapsed.max", "sm", "gpc_cycle", 0, 1000, 1},
    {"smsp__warps_launched.sum", "smsp", "warp", 0, 0, 1},
    {"dram__bytes_read.sum", "dram", "byte", 0, 0, 4096},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", "sm", "percent", 0, 49.6, 0},
    {"sm__ratio_of_nothing.ratio", "sm", "", 0, -1, 0},
    {"l1tex__t_bytes.sum", "l1tex", "byte", 1, 0, 0},
};

typedef struct range_t {
  char name[16];
  unsigned serial;
} range_t;
// What the image of data is: ranges.
typedef struct data_t {
  unsigned is_clear, count;
  range_t ranges[MAX_RANGES];
} data_t;

static struct {
  unsigned passes, name_count;
  int is_enabled, is_configured, is_started, is_open;
  data_t* data;
  size_t max_ranges;
  unsigned serial, count;
  range_t ranges[MAX_RANGES];
} state;

static int is(const char* what) {
  const char* value = getenv("CUPTI_DOUBLE");
  return value && strcmp(value, what) == 0;
}

static const metric_t* find(const char* name) {
  for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); ++i) {
    if (strcmp(metrics[i].name, name) == 0) return &metrics[i];
  }
  return NULL;
}

// Each call is one of cupti.def's by its name there, and its symbol the library's.
#define TEXT(name, symbol) int double_##name(int result, const char** out_text) __asm__(symbol);
#define ENTRY(name, symbol, parameters) int double_##name(parameters* p) __asm__(symbol);
#include "hal/stream/cupti.def"

int double_result_text(int result, const char** out_text) {
  *out_text = result == CUPTI_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" : "CUPTI_ERROR_OTHER";
  return CUPTI_SUCCESS;
}
int double_initialize(cupti_initialize_t* p) { return p->size == 16 ? CUPTI_SUCCESS : INVALID; }
int double_support(cupti_support_t* p) {
  p->all = p->architecture = p->sli = p->virtual_gpu = p->confidential_computing = p->mining_processor = p->wsl = 3;
  if (is("virtual")) p->all = p->virtual_gpu = 2;
  return CUPTI_SUCCESS;
}
int double_chip(cupti_chip_t* p) {
  p->name = "GH100";
  return CUPTI_SUCCESS;
}
int double_availability(cupti_availability_t* p) {
  if (p->image) memset(p->image, 1, p->length);
  p->length = 64;
  return p->context ? CUPTI_SUCCESS : INVALID;
}

int double_host_create(cupti_host_create_t* p) {
  p->host = &state;
  state.name_count = 0;
  return strcmp(p->chip, "GH100") == 0 && p->availability[63] == 1 ? CUPTI_SUCCESS : INVALID;
}
int double_host_destroy(cupti_host_destroy_t* p) { return p->host == &state ? CUPTI_SUCCESS : INVALID; }
int double_describe(cupti_describe_t* p) {
  const metric_t* metric = find(p->name);
  if (!metric) return INVALID_NAME;
  p->description = "of tests";
  p->block = metric->block;
  p->unit = metric->unit;
  return CUPTI_SUCCESS;
}
int double_add(cupti_add_t* p) {
  unsigned groups = 0;
  for (size_t i = 0; i < p->count; ++i) groups |= 1u << find(p->names[i])->group;
  state.passes = groups == 3 ? 2 : 1;
  return CUPTI_SUCCESS;
}
int double_plan_size(cupti_plan_size_t* p) {
  p->length = 8;
  return CUPTI_SUCCESS;
}
int double_plan(cupti_plan_t* p) {
  memset(p->plan, (int)state.passes, p->length);
  return CUPTI_SUCCESS;
}
int double_passes(cupti_passes_t* p) {
  p->count = p->plan[0];
  return p->length == 8 ? CUPTI_SUCCESS : INVALID;
}

int double_enable(cupti_enable_t* p) {
  if (state.is_enabled) return INVALID_OPERATION;
  state.is_enabled = 1;
  p->profiler = &state;
  return CUPTI_SUCCESS;
}
int double_disable(cupti_profiler_t* p) {
  if (!state.is_enabled || state.is_started) return INVALID_OPERATION;
  state.is_enabled = state.is_configured = 0;
  return CUPTI_SUCCESS;
}
int double_data_size(cupti_data_size_t* p) {
  p->length = sizeof(data_t);
  return p->max_ranges <= MAX_RANGES && p->max_nodes >= p->max_ranges ? CUPTI_SUCCESS : INVALID;
}
int double_data_clear(cupti_data_clear_t* p) {
  memset(p->data, 0, p->length);
  ((data_t*)p->data)->is_clear = 1;
  return CUPTI_SUCCESS;
}
int double_configure(cupti_configure_t* p) {
  state.data = (data_t*)p->data;
  state.max_ranges = p->max_ranges;
  state.is_configured = p->range == CUPTI_USER_RANGE && p->replay == CUPTI_USER_REPLAY && p->plan[0] == 1 &&
                        p->data_length == sizeof(data_t) && p->levels == 1 && p->first_level == 1 && p->level == 1;
  return state.is_configured ? CUPTI_SUCCESS : INVALID;
}
int double_start(cupti_profiler_t* p) {
  if (is("privileges")) return CUPTI_INSUFFICIENT_PRIVILEGES;
  if (!state.is_configured || state.is_started || !state.data->is_clear) return INVALID_OPERATION;
  state.is_started = 1;
  state.count = 0;
  return CUPTI_SUCCESS;
}
int double_push(cupti_push_t* p) {
  if (!state.is_started || state.is_open || state.count >= state.max_ranges) return INVALID_OPERATION;
  for (unsigned i = 0; i < state.count; ++i) {
    if (strcmp(state.ranges[i].name, p->name) == 0) return INVALID;
  }
  range_t* range = &state.ranges[state.count++];
  snprintf(range->name, sizeof(range->name), "%s", p->name);
  range->serial = ++state.serial;
  state.is_open = 1;
  return CUPTI_SUCCESS;
}
int double_pop(cupti_profiler_t* p) {
  if (!state.is_open) return INVALID_OPERATION;
  state.is_open = 0;
  return CUPTI_SUCCESS;
}
int double_stop(cupti_stop_t* p) {
  if (!state.is_started || state.is_open) return INVALID_OPERATION;
  state.is_started = 0;
  p->is_complete = 1;
  return CUPTI_SUCCESS;
}
// Last ones first: the order is the library's own.
int double_decode(cupti_decode_t* p) {
  if (state.is_started || !state.data->is_clear) return INVALID_OPERATION;
  state.data->is_clear = 0;
  state.data->count = state.count;
  for (unsigned i = 0; i < state.count; ++i) state.data->ranges[state.count - 1 - i] = state.ranges[i];
  return CUPTI_SUCCESS;
}
int double_range_count(cupti_range_count_t* p) {
  p->count = ((const data_t*)p->data)->count;
  return CUPTI_SUCCESS;
}
int double_range_name(cupti_range_name_t* p) {
  p->name = ((const data_t*)p->data)->ranges[p->range].name;
  return strcmp(p->delimiter, "/") ? INVALID : CUPTI_SUCCESS;
}
int double_evaluate(cupti_evaluate_t* p) {
  for (size_t i = 0; i < p->count; ++i) {
    const metric_t* metric = find(p->names[i]);
    p->values[i] = metric->base + metric->step * ((const data_t*)p->data)->ranges[p->range].serial;
    if (metric->base < 0) p->values[i] = __builtin_nan("");
  }
  return CUPTI_SUCCESS;
}
