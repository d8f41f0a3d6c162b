// libhsa-amd-aqlprofile64 of software GPUs: events become commands that copy the sums of the GPU's counters to memory,
// before and after what is to be counted; the difference is the value. Counters are of the whole GPU, as hardware's:
// what runs beside, on other queues, counts, too.
#include "softgpu/aqlprofile/aqlprofile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/processors/amd_counters.h"
#include "softgpu/aqlprofile/packets.h"
#include "softgpu/hsa/pmc.h"

// By the generation's hardware: of one block at a time.
enum { MAX_EVENTS = 16 };
enum { COPY_DATA = 0x40, TO_MEMORY = 5 << 8, OF_64_BITS = 1 << 16 };
enum { COPY_WORDS = 6, CONTROL_WORDS = 3 };

static __thread char error[160] = "no error";

hsa_status_t aqlprofile_fail(hsa_status_t status, const char* text) {
  snprintf(error, sizeof(error), "%s", text);
  return status;
}

hsa_status_t hsa_ven_amd_aqlprofile_error_string(const char** text) {
  *text = error;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t aqlprofile_get_version(aqlprofile_version_t* version) {
  *version = (aqlprofile_version_t){3, 0, 0};
  return HSA_STATUS_SUCCESS;
}

uint32_t aqlprofile_put_registers(uint32_t* words, uint32_t first, const uint32_t* values, uint32_t count) {
  enum { SET_UCONFIG_REG = 0x79 };
  words[0] = AQLPROFILE_HEADER(SET_UCONFIG_REG, count + 2);
  words[1] = first - PMC_UCONFIG;
  memcpy(words + 2, values, count * sizeof(*values));
  return count + 2;
}

aqlprofile_packet_t aqlprofile_make_packet(const uint32_t* words, uint32_t count) {
  enum { INDIRECT_BUFFER = 0x3f };
  uint64_t address = (uint64_t)(uintptr_t)words;
  return (aqlprofile_packet_t){
      .header = HSA_PACKET_TYPE_VENDOR_SPECIFIC << HSA_PACKET_HEADER_TYPE,
      .format = 1,
      .jump = {AQLPROFILE_HEADER(INDIRECT_BUFFER, 4), (uint32_t)address, (uint32_t)(address >> 32), count | 1u << 23},
      .remaining = 10,
  };
}

//===----------------------------------------------------------------------------------------------------------------===
// Agents: a handle is the name of the processor
//===----------------------------------------------------------------------------------------------------------------===

static void name_of(aqlprofile_agent_handle_t agent, char name[9]) {
  memcpy(name, &agent.handle, 8);
  name[8] = 0;
}

hsa_status_t aqlprofile_register_agent_info(aqlprofile_agent_handle_t* agent, const void* info, int version) {
  if (version != AQLPROFILE_AGENT_VERSION_V0 && version != AQLPROFILE_AGENT_VERSION_V1) {
    return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "agents are described in a way that is not known");
  }
  const char* name = ((const aqlprofile_agent_info_v1_t*)info)->agent_gfxip;
  if (!name || strncmp(name, "gfx", 3) != 0 || strlen(name) > sizeof(agent->handle)) {
    return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_AGENT, "the agent is no GPU");
  }
  agent->handle = 0;
  memcpy(&agent->handle, name, strlen(name));
  return HSA_STATUS_SUCCESS;
}

// The row that counts an event; false when none does.
static bool find_row(aqlprofile_agent_handle_t agent, const aqlprofile_pmc_event_t* event, uint32_t* out_row) {
  char processor[9];
  const amd_counter_t* counter;
  name_of(agent, processor);
  for (uint32_t i = 0; (counter = amd_counter_at(i)); ++i) {
    if (counter->block_number != event->block_name || amd_counter_event(i, processor) != event->event_id) continue;
    *out_row = i;
    return !event->block_index && !event->flags;
  }
  return false;
}

hsa_status_t aqlprofile_validate_pmc_event(aqlprofile_agent_handle_t agent, const aqlprofile_pmc_event_t* event,
                                           bool* result) {
  uint32_t row;
  *result = find_row(agent, event, &row);
  return HSA_STATUS_SUCCESS;
}

//===----------------------------------------------------------------------------------------------------------------===
// Packets
//===----------------------------------------------------------------------------------------------------------------===

// What a handle points to. `memory` is the GPU's, too: sums before and after, then commands.
typedef struct profile_t {
  uint32_t count;
  aqlprofile_pmc_event_t events[MAX_EVENTS];
  uint32_t rows[MAX_EVENTS];
  aqlprofile_memory_dealloc_callback_t dealloc;
  void* data;
  struct {
    uint64_t sums[2][MAX_EVENTS];
    uint32_t start[CONTROL_WORDS + MAX_EVENTS * COPY_WORDS], read[MAX_EVENTS * COPY_WORDS], stop[CONTROL_WORDS];
  }* memory;
} profile_t;

static uint32_t put_control(uint32_t* words, uint32_t value) {
  return aqlprofile_put_registers(words, PMC_CONTROL, &value, 1);
}

static uint32_t put_copies(const profile_t* profile, uint32_t* words, const uint64_t* sums) {
  for (uint32_t i = 0; i < profile->count; ++i, words += COPY_WORDS) {
    uint64_t target = (uint64_t)(uintptr_t)&sums[i];
    const uint32_t copy[COPY_WORDS] = {AQLPROFILE_HEADER(COPY_DATA, COPY_WORDS),
                                       PMC_SOURCE | TO_MEMORY | OF_64_BITS,
                                       PMC_FIRST + 2 * profile->rows[i],
                                       0,
                                       (uint32_t)target,
                                       (uint32_t)(target >> 32)};
    memcpy(words, copy, sizeof(copy));
  }
  return profile->count * COPY_WORDS;
}

static void make_packets(profile_t* profile, aqlprofile_pmc_aql_packets_t* packets) {
  uint32_t *start = profile->memory->start, *read = profile->memory->read, *stop = profile->memory->stop;
  uint32_t count = put_control(start, PMC_CONTROL_START);
  count += put_copies(profile, start + count, profile->memory->sums[0]);
  packets->start_packet = aqlprofile_make_packet(start, count);
  packets->read_packet = aqlprofile_make_packet(read, put_copies(profile, read, profile->memory->sums[1]));
  packets->stop_packet = aqlprofile_make_packet(stop, put_control(stop, PMC_CONTROL_STOP));
}

static hsa_status_t take_events(profile_t* profile, const aqlprofile_pmc_profile_t* wanted) {
  if (!wanted->event_count || wanted->event_count > MAX_EVENTS) {
    return aqlprofile_fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "1 to 16 events can be counted at a time");
  }
  for (uint32_t i = 0; i < wanted->event_count; ++i) {
    profile->events[i] = wanted->events[i];
    if (!find_row(wanted->agent, &wanted->events[i], &profile->rows[i])) {
      return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "an event is not counted on software GPUs");
    }
  }
  profile->count = wanted->event_count;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t aqlprofile_pmc_create_packets(aqlprofile_handle_t* handle, aqlprofile_pmc_aql_packets_t* packets,
                                           aqlprofile_pmc_profile_t wanted, aqlprofile_memory_alloc_callback_t alloc,
                                           aqlprofile_memory_dealloc_callback_t dealloc, aqlprofile_memory_copy_t copy,
                                           void* data) {
  const aqlprofile_buffer_desc_flags_t flags = {
      .device_access = 1, .host_access = 1, .memory_hint = AQLPROFILE_MEMORY_HINT_HOST};
  void* memory = NULL;
  profile_t* profile = calloc(1, sizeof(*profile));
  if (!profile) return aqlprofile_fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "no memory");
  hsa_status_t status = take_events(profile, &wanted);
  if (status == HSA_STATUS_SUCCESS) status = alloc(&memory, sizeof(*profile->memory), flags, data);
  if (status != HSA_STATUS_SUCCESS) return free(profile), status;
  profile->memory = memory;
  profile->dealloc = dealloc, profile->data = data;
  memset(memory, 0, sizeof(*profile->memory));
  make_packets(profile, packets);
  handle->handle = (uint64_t)(uintptr_t)profile;
  return HSA_STATUS_SUCCESS;
}

void aqlprofile_pmc_delete_packets(aqlprofile_handle_t handle) {
  profile_t* profile = (profile_t*)(uintptr_t)handle.handle;
  if (!profile) return;
  profile->dealloc(profile->memory, profile->data);
  free(profile);
}

hsa_status_t aqlprofile_pmc_iterate_data(aqlprofile_handle_t handle, aqlprofile_pmc_data_callback_t callback,
                                         void* data) {
  const profile_t* profile = (const profile_t*)(uintptr_t)handle.handle;
  if (!profile) return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "the handle is not of packets");
  for (uint32_t i = 0; i < profile->count; ++i) {
    uint64_t value = profile->memory->sums[1][i] - profile->memory->sums[0][i];
    hsa_status_t status = callback(profile->events[i], 0, value, data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}
