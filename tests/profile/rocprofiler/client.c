// The interface of rocprofiler-sdk for tests: contexts, services, counters and configs in the states and with the codes
// that the library has for them. ROCPROFILER_DOUBLE= locked: another profiler was configured before; =register: HIP was
// there before, in the library's words; =late: values come later than usual; =lost: none come; =denied: no one may
// count.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/processors/amd_counters.h"
#include "tests/profile/rocprofiler/double.h"

// Of rocprofiler_status_t, those that only the library needs.
enum {
  CONTEXT_NOT_FOUND = 2,
  AGENT_NOT_FOUND = 7,
  COUNTER_NOT_FOUND = 8,
  CONTEXT_INVALID = 10,
  CONTEXT_NOT_STARTED = 11,
  CONTEXT_ID_NOT_ZERO = 13,
  ALREADY_CONFIGURED = 15,
  INCOMPATIBLE_ABI = 18,
  INVALID_ARGUMENT = 19,
  METRIC_NOT_VALID = 20,
  HSA_NOT_LOADED = 22,
  CONFIG_NOT_FOUND = 30,
  AGENT_DISPATCH_CONFLICT = 31,
  NO_HARDWARE_COUNTERS = 35,
  AGENT_MISMATCH = 36,
};
// Handles are none of small numbers, so that one of another kind is not mistaken for it.
enum { MAX_AGENTS = 33, MAX_CONTEXTS = 66, MAX_CONFIGS = 64, OF_CONTEXTS = 1000, OF_AGENTS = 2000, OF_CONFIGS = 3000 };
// Of a record's number: the counter, and the place that it is of.
enum { RECORD_SHIFT = 48, PLACES = 2, SQ_COUNTERS = 8 };

typedef struct agent_t {
  rocprofiler_agent_t facts;
  uint8_t more[200];  // which callers of today do not know
  uint32_t node;
  char name[16];
  aqlprofile_agent_handle_t aqlprofile;
} agent_t;

typedef struct context_t {
  rocprofiler_dispatch_fn_t dispatch;
  rocprofiler_record_fn_t record;
  void *dispatch_data, *record_data;
  rocprofiler_device_fn_t device;
  void* device_data;
  agent_t* agent;  // of `device`
  bool is_active, is_starting;
  const config_t* config;
} context_t;

static struct {
  pthread_mutex_t lock;
  int state;  // -1: clients may configure; 1: no more
  uint32_t agent_count, context_count, config_count;
  agent_t agents[MAX_AGENTS];
  context_t contexts[MAX_CONTEXTS];
  config_t* configs[MAX_CONFIGS];
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool double_is(const char* what) {
  const char* value = getenv("ROCPROFILER_DOUBLE");
  return value && strcmp(value, what) == 0;
}

#define TEXT(name, symbol) const char* double_##name(int status) __asm__(symbol);
#define ENTRY(name, symbol, parameters) int double_##name parameters __asm__(symbol);
#include "hal/stream/rocprofiler.def"

const char* double_status_text(int status) { return status ? "Of the library for tests" : "Success"; }

static context_t* context_of(rocprofiler_id_t id) {
  uint64_t index = id.handle - OF_CONTEXTS;
  return id.handle >= OF_CONTEXTS && index < state.context_count ? &state.contexts[index] : NULL;
}

static agent_t* agent_of(rocprofiler_id_t id) {
  for (uint32_t i = 0; i < state.agent_count; ++i) {
    if (state.agents[i].facts.id.handle == id.handle) return &state.agents[i];
  }
  return NULL;
}

static config_t* config_of(rocprofiler_id_t id) {
  uint64_t index = id.handle - OF_CONFIGS;
  return id.handle >= OF_CONFIGS && index < state.config_count ? state.configs[index] : NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Agents, by the kernel driver's files
//===----------------------------------------------------------------------------------------------------------------===

static bool read_agent(uint32_t node, agent_t* agent) {
  char path[128], key[64];
  unsigned long value = 0, target = 0, location = 0;
  snprintf(path, sizeof(path), "/sys/class/kfd/kfd/topology/nodes/%u/properties", node);
  FILE* file = fopen(path, "r");
  if (!file) return false;
  while (fscanf(file, "%63s %lu", key, &value) == 2) {
    if (strcmp(key, "gfx_target_version") == 0) target = value;
    if (strcmp(key, "location_id") == 0) location = value;
  }
  fclose(file);
  *agent = (agent_t){.facts = {.size = offsetof(agent_t, node),
                               .id = {OF_AGENTS + node},
                               .type = target ? ROCPROFILER_AGENT_GPU : 1,
                               .target_version = (uint32_t)target,
                               .location = (uint32_t)location},
                     .node = node};
  snprintf(agent->name, sizeof(agent->name), "gfx%lu%lx%lx", target / 10000, target / 100 % 100, target % 100);
  const aqlprofile_agent_info_v1_t info = {.agent_gfxip = agent->name, .xcc_num = 1, .se_num = 1};
  if (target) aqlprofile_register_agent_info(&agent->aqlprofile, &info, AQLPROFILE_AGENT_VERSION_V1);
  return true;
}

int double_query_agents(int version, rocprofiler_agents_fn_t fn, size_t agent_size, void* user_data) {
  const void* agents[MAX_AGENTS];
  if (version != ROCPROFILER_AGENT_V0) return INVALID_ARGUMENT;
  if (agent_size > offsetof(agent_t, node)) return INCOMPATIBLE_ABI;
  while (state.agent_count < MAX_AGENTS && read_agent(state.agent_count, &state.agents[state.agent_count])) {
    ++state.agent_count;
  }
  for (uint32_t i = 0; i < state.agent_count; ++i) agents[i] = &state.agents[i].facts;
  return fn(version, agents, state.agent_count, user_data);
}

//===----------------------------------------------------------------------------------------------------------------===
// Clients and contexts
//===----------------------------------------------------------------------------------------------------------------===

int double_force_configure(rocprofiler_configure_fn_t configure) {
  static rocprofiler_configure_fn_t known;
  rocprofiler_client_id_t id = {NULL, 1};
  if (double_is("locked")) return ROCPROFILER_CONFIGURATION_LOCKED;
  if (known == configure) return ROCPROFILER_SUCCESS;
  known = configure;
  queue_intercept();
  state.state = -1;
  rocprofiler_configuration_t* configuration = configure(10000, "1.0.0 for tests", 0, &id);
  if (configuration && configuration->size != sizeof(*configuration)) return INCOMPATIBLE_ABI;
  // What the client did is undone when it says that it failed.
  if (configuration && configuration->initialize(NULL, configuration->data) != 0) state.context_count = 0;
  state.state = 1;
  return double_is("register") ? ROCPROFILER_INCOMPATIBLE_REGISTER : ROCPROFILER_SUCCESS;
}

int double_create_context(rocprofiler_id_t* inout_context) {
  if (inout_context->handle) return CONTEXT_ID_NOT_ZERO;
  if (state.state >= 0) return ROCPROFILER_CONFIGURATION_LOCKED;
  if (state.context_count == MAX_CONTEXTS) return ROCPROFILER_OUT_OF_RESOURCES;
  inout_context->handle = OF_CONTEXTS + state.context_count++;
  return ROCPROFILER_SUCCESS;
}

int double_configure_dispatches(rocprofiler_id_t id, rocprofiler_dispatch_fn_t dispatch, void* dispatch_data,
                                rocprofiler_record_fn_t record, void* record_data) {
  context_t* context = context_of(id);
  if (state.state >= 0) return ROCPROFILER_CONFIGURATION_LOCKED;
  if (!context) return CONTEXT_NOT_FOUND;
  if (context->device) return AGENT_DISPATCH_CONFLICT;
  if (context->dispatch) return ALREADY_CONFIGURED;
  if (!dispatch || !record) return INVALID_ARGUMENT;
  context->dispatch = dispatch, context->dispatch_data = dispatch_data;
  context->record = record, context->record_data = record_data;
  return ROCPROFILER_SUCCESS;
}

int double_configure_device(rocprofiler_id_t id, rocprofiler_id_t buffer, rocprofiler_id_t agent,
                            rocprofiler_device_fn_t fn, void* user_data) {
  context_t* context = context_of(id);
  if (state.state >= 0) return ROCPROFILER_CONFIGURATION_LOCKED;
  if (!context) return CONTEXT_INVALID;
  if (buffer.handle) return 3;  // no such buffer
  if (context->dispatch) return AGENT_DISPATCH_CONFLICT;
  if (context->device || !fn) return INVALID_ARGUMENT;
  if (!agent_of(agent) || agent_of(agent)->facts.type != ROCPROFILER_AGENT_GPU) return AGENT_NOT_FOUND;
  context->agent = agent_of(agent);
  context->device = fn, context->device_data = user_data;
  return ROCPROFILER_SUCCESS;
}

static int set_config(rocprofiler_id_t id, rocprofiler_id_t config) {
  context_t* context = context_of(id);
  if (!context || !context->device) return CONTEXT_INVALID;
  if (!config_of(config)) return CONFIG_NOT_FOUND;
  if (!context->is_starting) return ROCPROFILER_CONFIGURATION_LOCKED;
  if (config_of(config)->node != context->agent->node) return AGENT_MISMATCH;
  context->config = config_of(config);
  return ROCPROFILER_SUCCESS;
}

static int start_device(rocprofiler_id_t id, context_t* context) {
  if (!queue_is_ready()) return HSA_NOT_LOADED;
  context->config = NULL;
  context->is_starting = true;
  context->device(id, context->agent->facts.id, set_config, context->device_data);
  context->is_starting = false;
  if (context->config && !queue_start_device(context->config)) return 1;
  context->is_active = true;
  return ROCPROFILER_SUCCESS;
}

int double_start_context(rocprofiler_id_t id) {
  context_t* context = context_of(id);
  if (!context) return CONTEXT_NOT_FOUND;
  if (!context->dispatch && !context->device) return CONTEXT_INVALID;
  if (double_is("denied")) return ROCPROFILER_PERMISSION_DENIED;
  if (context->is_active) return ROCPROFILER_SUCCESS;
  if (context->device) return start_device(id, context);
  for (uint32_t i = 0; i < state.context_count; ++i) {
    if (state.contexts[i].dispatch && state.contexts[i].is_active) return ROCPROFILER_CONTEXT_CONFLICT;
  }
  context->is_active = true;
  return ROCPROFILER_SUCCESS;
}

int double_stop_context(rocprofiler_id_t id) {
  context_t* context = context_of(id);
  if (!context || !context->is_active) return CONTEXT_NOT_FOUND;
  context->is_active = false;
  if (context->config) queue_stop_device(context->agent->node);
  return ROCPROFILER_SUCCESS;
}

//===----------------------------------------------------------------------------------------------------------------===
// Counters: those that the software GPUs have, and that hardware of their kind has, too
//===----------------------------------------------------------------------------------------------------------------===

static bool make_event(const agent_t* agent, uint32_t row, aqlprofile_pmc_event_t* out_event) {
  const amd_counter_t* counter = amd_counter_at(row);
  bool is_valid = false;
  if (!counter || strncmp(counter->name, "SOFTGPU_", 8) == 0) return false;
  *out_event =
      (aqlprofile_pmc_event_t){.block_name = counter->block_number, .event_id = amd_counter_event(row, agent->name)};
  return aqlprofile_validate_pmc_event(agent->aqlprofile, out_event, &is_valid) == HSA_STATUS_SUCCESS && is_valid;
}

int double_iterate_counters(rocprofiler_id_t id, rocprofiler_counters_fn_t fn, void* user_data) {
  const agent_t* agent = agent_of(id);
  rocprofiler_id_t counters[64];
  aqlprofile_pmc_event_t event;
  size_t count = 0;
  if (!agent) return AGENT_NOT_FOUND;
  for (uint32_t row = 0; amd_counter_at(row); ++row) {
    if (make_event(agent, row, &event)) counters[count++].handle = row + 1;
  }
  return fn(id, counters, count, user_data);
}

int double_query_counter(rocprofiler_id_t id, int version, void* out_info) {
  const amd_counter_t* counter = id.handle ? amd_counter_at((uint32_t)id.handle - 1) : NULL;
  if (version != ROCPROFILER_COUNTER_V0) return INCOMPATIBLE_ABI;
  if (!counter) return COUNTER_NOT_FOUND;
  *(rocprofiler_counter_info_t*)out_info = (rocprofiler_counter_info_t){
      .id = id, .name = counter->name, .description = counter->description, .block = counter->block, .expression = ""};
  return ROCPROFILER_SUCCESS;
}

int double_counter_of_record(uint64_t id, rocprofiler_id_t* out_counter) {
  out_counter->handle = id >> RECORD_SHIFT;
  return ROCPROFILER_SUCCESS;
}

static int fill_config(const agent_t* agent, const rocprofiler_id_t* counters, size_t count, config_t* config) {
  uint32_t of_sq = 0;
  *config = (config_t){.node = agent->node, .agent = agent->aqlprofile};
  for (size_t i = 0; i < count; ++i) {
    uint32_t row = (uint32_t)counters[i].handle - 1;
    if (!counters[i].handle || !amd_counter_at(row)) return COUNTER_NOT_FOUND;
    if (config->count == MAX_EVENTS) return ROCPROFILER_EXCEEDS_HARDWARE_LIMIT;
    if (!make_event(agent, row, &config->events[config->count])) return METRIC_NOT_VALID;
    of_sq += amd_counter_at(row)->block_number == AMD_COUNTER_SQ;
    config->rows[config->count++] = row;
  }
  if (!config->count) return NO_HARDWARE_COUNTERS;
  return of_sq > SQ_COUNTERS ? ROCPROFILER_EXCEEDS_HARDWARE_LIMIT : ROCPROFILER_SUCCESS;
}

int double_create_config(rocprofiler_id_t id, rocprofiler_id_t* counters, size_t count,
                         rocprofiler_id_t* inout_config) {
  const agent_t* agent = agent_of(id);
  if (!agent) return AGENT_NOT_FOUND;
  if (inout_config->handle) return CONFIG_NOT_FOUND;  // to add to one is not asked for
  if (state.config_count == MAX_CONFIGS) return ROCPROFILER_OUT_OF_RESOURCES;
  config_t* config = malloc(sizeof(*config));
  int status = fill_config(agent, counters, count, config);
  if (status != ROCPROFILER_SUCCESS) {
    free(config);
    return status;
  }
  state.configs[state.config_count] = config;
  inout_config->handle = OF_CONFIGS + state.config_count++;
  return status;
}

// What is in flight keeps it.
int double_destroy_config(rocprofiler_id_t id) {
  if (!config_of(id)) return CONFIG_NOT_FOUND;
  state.configs[id.handle - OF_CONFIGS] = NULL;
  return ROCPROFILER_SUCCESS;
}

//===----------------------------------------------------------------------------------------------------------------===
// Values: each counter's in two places, one behind the other
//===----------------------------------------------------------------------------------------------------------------===

static size_t make_records(const config_t* config, const uint64_t* values, uint64_t dispatch, uint64_t user_data,
                           rocprofiler_record_t* out_records) {
  size_t count = 0;
  for (uint64_t place = 0; place < PLACES; ++place) {
    for (uint32_t i = 0; i < config->count; ++i) {
      uint64_t first = values[i] / 3;
      out_records[count++] = (rocprofiler_record_t){.id = (config->rows[i] + UINT64_C(1)) << RECORD_SHIFT | place,
                                                    .value = (double)(place ? values[i] - first : first),
                                                    .dispatch = dispatch,
                                                    .user_data = user_data,
                                                    .agent = {OF_AGENTS + config->node}};
    }
  }
  return count;
}

int double_sample_device(rocprofiler_id_t id, uint64_t user_data, int flags, rocprofiler_record_t* out_records,
                         size_t* inout_count) {
  context_t* context = context_of(id);
  uint64_t values[MAX_EVENTS];
  if (!context || !context->device) return CONTEXT_INVALID;
  if (!context->is_active) return CONTEXT_NOT_STARTED;
  if (flags || !out_records || !inout_count) return INVALID_ARGUMENT;
  size_t room = *inout_count;
  *inout_count = context->config ? PLACES * context->config->count : 0;
  if (*inout_count > room || !room) return ROCPROFILER_OUT_OF_RESOURCES;
  if (!context->config) return ROCPROFILER_SUCCESS;
  queue_read_device(context->agent->node, values);
  make_records(context->config, values, 0, user_data, out_records);
  return ROCPROFILER_SUCCESS;
}

static context_t* dispatch_context(void) {
  for (uint32_t i = 0; i < state.context_count; ++i) {
    if (state.contexts[i].dispatch) return &state.contexts[i];
  }
  return NULL;
}

const config_t* client_ask(uint32_t node, rocprofiler_dispatch_t* dispatch, uint64_t* out_user_data) {
  const context_t* context = dispatch_context();
  rocprofiler_id_t id = {0};
  if (!context || !context->is_active) return NULL;
  dispatch->size = sizeof(*dispatch);
  dispatch->info.size = offsetof(rocprofiler_dispatch_t, info.reserved) - offsetof(rocprofiler_dispatch_t, info);
  dispatch->info.agent.handle = OF_AGENTS + node;
  context->dispatch(*dispatch, &id, out_user_data, context->dispatch_data);
  if (!id.handle) return NULL;
  const config_t* config = config_of(id);
  if (config && config->node == node) return config;
  fprintf(stderr, "rocprofiler for tests: config %llu is none of the GPU's\n", (unsigned long long)id.handle);
  abort();  // as the library does
}

void client_tell(const config_t* config, const rocprofiler_dispatch_t* dispatch, const uint64_t values[MAX_EVENTS],
                 uint64_t user_data) {
  const context_t* context = dispatch_context();
  rocprofiler_record_t records[PLACES * MAX_EVENTS];
  if (double_is("lost")) return;
  if (double_is("late")) usleep(2000);
  size_t count = make_records(config, values, dispatch->info.dispatch, user_data, records);
  context->record(*dispatch, records, count, user_data, context->record_data);
}
