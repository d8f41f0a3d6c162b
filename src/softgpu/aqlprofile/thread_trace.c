// Thread traces of software GPUs: packets that say where the engine writes what waves execute (base/processors/
// amd_trace.h), and where the code object lies that they execute.
#include "softgpu/hsa/thread_trace.h"

#include <stdlib.h>
#include <string.h>

#include "softgpu/aqlprofile/packets.h"
#include "softgpu/engine.h"

enum { WORDS = THREAD_TRACE_REGISTERS + 4, DEFAULT_SIZE = 16 << 20 };

typedef struct commands_t {
  uint32_t start[WORDS], stop[WORDS];
  uint64_t reserved;
  engine_trace_head_t buffer;  // and what follows
} commands_t;
_Static_assert(offsetof(commands_t, buffer) % 16 == 0, "the GPU wants it so");

// What a handle points to: packets of a trace, or the marker of a code object. `commands` are the GPU's, too.
typedef struct trace_t {
  aqlprofile_memory_dealloc_callback_t dealloc;
  void* data;
  commands_t* commands;
} trace_t;

typedef struct settings_t {
  uint32_t unit, engines, simds;
  uint64_t size;
} settings_t;

static hsa_status_t take_parameters(const aqlprofile_att_profile_t* profile, settings_t* out_settings) {
  *out_settings = (settings_t){.engines = 1, .simds = 15, .size = DEFAULT_SIZE};
  for (uint32_t i = 0; i < profile->parameter_count; ++i) {
    uint32_t value = profile->parameters[i].value;
    switch (profile->parameters[i].parameter_name) {
      case AQLPROFILE_ATT_COMPUTE_UNIT:
        out_settings->unit = value;
        break;
      case AQLPROFILE_ATT_SE_MASK:
        out_settings->engines = value;
        break;
      case AQLPROFILE_ATT_SIMDS:
        out_settings->simds = value;
        break;
      case AQLPROFILE_ATT_BUFFER_SIZE:
        out_settings->size = (out_settings->size >> 32 << 32) | value;
        break;
      case AQLPROFILE_ATT_BUFFER_SIZE_HIGH:
        out_settings->size = (uint32_t)out_settings->size | (uint64_t)value << 32;
        break;
      case AQLPROFILE_ATT_TIMESTAMPS:
        break;  // all times are there
      default:
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "a parameter that software GPUs' traces do not have");
    }
  }
  if (!(out_settings->engines & 1)) {
    return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "software GPUs have shader engine 0 alone");
  }
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t make_trace(uint64_t size, aqlprofile_memory_alloc_callback_t alloc,
                               aqlprofile_memory_dealloc_callback_t dealloc, void* data, trace_t** out_trace) {
  const aqlprofile_buffer_desc_flags_t flags = {
      .device_access = 1, .host_access = 1, .memory_hint = AQLPROFILE_MEMORY_HINT_HOST};
  void* memory = NULL;
  trace_t* trace = calloc(1, sizeof(*trace));
  if (!trace) return aqlprofile_fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "no memory");
  hsa_status_t status = alloc(&memory, size, flags, data);
  if (status != HSA_STATUS_SUCCESS) return free(trace), status;
  *trace = (trace_t){.dealloc = dealloc, .data = data, .commands = memory};
  memset(memory, 0, sizeof(*trace->commands));
  *out_trace = trace;
  return HSA_STATUS_SUCCESS;
}

static void split(uint32_t* words, uint64_t value) {
  words[0] = (uint32_t)value;
  words[1] = (uint32_t)(value >> 32);
}

hsa_status_t aqlprofile_att_create_packets(aqlprofile_handle_t* handle, aqlprofile_att_control_aql_packets_t* packets,
                                           aqlprofile_att_profile_t profile, aqlprofile_memory_alloc_callback_t alloc,
                                           aqlprofile_memory_dealloc_callback_t dealloc, aqlprofile_memory_copy_t copy,
                                           void* data) {
  settings_t settings;
  trace_t* trace = NULL;
  hsa_status_t status = take_parameters(&profile, &settings);
  if (status != HSA_STATUS_SUCCESS) return status;
  if (settings.size > (uint64_t)1 << 40) {
    return aqlprofile_fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "a trace of more than a terabyte");
  }
  status = make_trace(sizeof(commands_t) + settings.size, alloc, dealloc, data, &trace);
  if (status != HSA_STATUS_SUCCESS) return status;
  commands_t* commands = trace->commands;
  uint32_t values[6] = {[4] = settings.unit, settings.simds}, start = THREAD_TRACE_START, stop = THREAD_TRACE_STOP;
  split(values, (uint64_t)(uintptr_t)&commands->buffer);
  split(values + 2, sizeof(commands->buffer) + settings.size);
  uint32_t count = aqlprofile_put_registers(commands->start, THREAD_TRACE_BUFFER, values, 6);
  count += aqlprofile_put_registers(commands->start + count, THREAD_TRACE_CONTROL, &start, 1);
  packets->start_packet = aqlprofile_make_packet(commands->start, count);
  count = aqlprofile_put_registers(commands->stop, THREAD_TRACE_CONTROL, &stop, 1);
  packets->stop_packet = aqlprofile_make_packet(commands->stop, count);
  handle->handle = (uint64_t)(uintptr_t)trace;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t aqlprofile_att_codeobj_marker(aqlprofile_packet_t* packet, aqlprofile_handle_t* handle,
                                           aqlprofile_att_codeobj_data_t code, aqlprofile_memory_alloc_callback_t alloc,
                                           aqlprofile_memory_dealloc_callback_t dealloc, void* data) {
  trace_t* trace = NULL;
  hsa_status_t status = make_trace(sizeof(commands_t), alloc, dealloc, data, &trace);
  if (status != HSA_STATUS_SUCCESS) return status;
  uint32_t values[7] = {[6] = THREAD_TRACE_MARK};
  if (!code.is_unload) split(values, code.id), split(values + 2, code.addr), split(values + 4, code.size);
  uint32_t count = aqlprofile_put_registers(trace->commands->start, THREAD_TRACE_CODE, values, 7);
  *packet = aqlprofile_make_packet(trace->commands->start, count);
  handle->handle = (uint64_t)(uintptr_t)trace;
  return HSA_STATUS_SUCCESS;
}

void aqlprofile_att_delete_packets(aqlprofile_handle_t handle) {
  trace_t* trace = (trace_t*)(uintptr_t)handle.handle;
  if (!trace) return;
  trace->dealloc(trace->commands, trace->data);
  free(trace);
}

// What there is, which is then forgotten: the packets may run again.
hsa_status_t aqlprofile_att_iterate_data(aqlprofile_handle_t handle, aqlprofile_att_data_callback_t callback,
                                         void* data) {
  const trace_t* trace = (const trace_t*)(uintptr_t)handle.handle;
  if (!trace) return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "the handle is not of packets");
  engine_trace_head_t* head = &trace->commands->buffer;
  hsa_status_t status = callback(0, head + 1, head->used, data);
  *head = (engine_trace_head_t){0};
  return status;
}
