// AQL packets: kernel dispatches, barriers, and AMD's vendor packets. Source: HSA System Architecture 1.2, section 2.9,
// and hsa_ext_amd.h.
#include <stdio.h>
#include <string.h>

#include "softgpu/hsa/queue.h"

_Static_assert(offsetof(hsa_kernel_dispatch_packet_t, completion_signal) ==
                   offsetof(hsa_barrier_and_packet_t, completion_signal),
               "completion signals");
_Static_assert(offsetof(hsa_amd_barrier_value_packet_t, completion_signal) ==
                   offsetof(hsa_barrier_and_packet_t, completion_signal),
               "completion signals");

enum { VENDOR_PM4_IB = 1, VENDOR_BARRIER_VALUE = 2 };

// Vendor packet with a PM4 indirect buffer.
typedef struct pm4_packet_t {
  uint16_t header, format;
  uint32_t jump[4];  // INDIRECT_BUFFER: header, address, size
  uint32_t remaining, reserved[8];
  hsa_signal_t completion_signal;
} pm4_packet_t;

static hsa_status_t status_of(engine_fault_kind_t kind) {
  switch (kind) {
    case ENGINE_FAULT_ILLEGAL_INSTRUCTION:
      return (hsa_status_t)HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION;
    case ENGINE_FAULT_MEMORY:
      return (hsa_status_t)HSA_STATUS_ERROR_MEMORY_FAULT;
    case ENGINE_FAULT_INVALID_KERNEL:
      return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
    default:
      return HSA_STATUS_ERROR_EXCEPTION;
  }
}

bool queue_dispatch(queue_t* queue, engine_dispatch_t* dispatch) {
  engine_fault_t fault = {0};
  if (event_replaces_kernel(queue)) return false;
  dispatch->queue = &queue->amd, dispatch->stops = &queue->stops;
  if (engine_dispatch(queue->agent->engine, dispatch, &fault)) return true;
  if (fault.kind == ENGINE_FAULT_STOPPED) return false;
  if (fault.kind == ENGINE_FAULT_MEMORY) event_memory_fault(queue->agent, fault.address);
  bool is_packet = !dispatch->packet && fault.kind == ENGINE_FAULT_INVALID_KERNEL;
  queue_fail(queue, is_packet ? HSA_STATUS_ERROR_INVALID_PACKET_FORMAT : status_of(fault.kind), fault.message);
  return false;
}

static bool run_kernel(queue_t* queue, const hsa_kernel_dispatch_packet_t* packet, uint64_t index) {
  engine_dispatch_t dispatch = {.packet = packet, .id = index};
  return queue_dispatch(queue, &dispatch);
}

// Signals of packets are anyone's bits: those outside memory are an error of the packet.
static bool check_signals(queue_t* queue, const hsa_signal_t* signals, uint32_t count, uint64_t index) {
  for (uint32_t i = 0; i < count; ++i) {
    if (!signals[i].handle || signal_exists(signals[i])) continue;
    char message[96];
    snprintf(message, sizeof(message), "packet %llu names signal 0x%llx, which does not exist",
             (unsigned long long)index, (unsigned long long)signals[i].handle);
    queue_fail(queue, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, message);
    return false;
  }
  return true;
}

static bool run_barrier_and(queue_t* queue, const hsa_barrier_and_packet_t* packet, uint64_t index) {
  if (!check_signals(queue, packet->dep_signal, 5, index)) return false;
  for (int i = 0; i < 5; ++i) {
    if (!packet->dep_signal[i].handle) continue;
    if (!queue_wait_signal(queue, signal_value(packet->dep_signal[i]), -1, HSA_SIGNAL_CONDITION_EQ, 0)) return false;
  }
  return true;
}

// Without any signal there is nothing to wait for.
static bool is_some_zero(const hsa_signal_t* signals) {
  bool has_any = false;
  for (int i = 0; i < 5; ++i) {
    if (!signals[i].handle) continue;
    if (signal_load(signals[i]) == 0) return true;
    has_any = true;
  }
  return !has_any;
}

static bool run_barrier_or(queue_t* queue, const hsa_barrier_or_packet_t* packet, uint64_t index) {
  if (!check_signals(queue, packet->dep_signal, 5, index)) return false;
  for (uint32_t steps = 0; !is_some_zero(packet->dep_signal);) {
    if (!queue_wait_step(queue, &steps)) return false;
  }
  return true;
}

static bool run_barrier_value(queue_t* queue, const hsa_amd_barrier_value_packet_t* packet, uint64_t index) {
  if (!packet->signal.handle) return true;
  return check_signals(queue, &packet->signal, 1, index) &&
         queue_wait_signal(queue, signal_value(packet->signal), packet->mask, (hsa_signal_condition_t)packet->cond,
                           packet->value);
}

static bool run_pm4(queue_t* queue, const pm4_packet_t* packet, uint64_t index) {
  uint64_t address = (packet->jump[1] & ~3u) | (uint64_t)(packet->jump[2] & 0xffff) << 32;
  return pm4_run(queue, index, (const uint32_t*)address, packet->jump[3] & 0xfffff);
}

static bool run_vendor(queue_t* queue, const void* packet, uint64_t index) {
  const hsa_amd_vendor_packet_header_t* header = packet;
  if (header->AmdFormat == VENDOR_BARRIER_VALUE) return run_barrier_value(queue, packet, index);
  if (header->AmdFormat == VENDOR_PM4_IB) return run_pm4(queue, packet, index);
  char message[96];
  snprintf(message, sizeof(message), "vendor packet of format %u is not supported", header->AmdFormat);
  queue_fail(queue, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, message);
  return false;
}

static bool run(queue_t* queue, const void* packet, uint64_t index) {
  uint32_t type = __atomic_load_n((const uint16_t*)packet, __ATOMIC_RELAXED) & 0xff;
  switch (type) {
    case HSA_PACKET_TYPE_KERNEL_DISPATCH:
      return run_kernel(queue, packet, index);
    case HSA_PACKET_TYPE_BARRIER_AND:
      return run_barrier_and(queue, packet, index);
    case HSA_PACKET_TYPE_BARRIER_OR:
      return run_barrier_or(queue, packet, index);
    case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
      return run_vendor(queue, packet, index);
    default:
      break;
  }
  char message[96];
  snprintf(message, sizeof(message), "packet %llu has type %u, which a GPU's queue does not take",
           (unsigned long long)index, type);
  queue_fail(queue, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, message);
  return false;
}

// The completion signal is at the same place in every packet.
bool packet_process(queue_t* queue, const void* packet, uint64_t index, hsa_signal_t* completion) {
  *completion = ((const hsa_barrier_and_packet_t*)packet)->completion_signal;
  uint64_t begin = runtime_ticks();
  if (!check_signals(queue, completion, 1, index) || !run(queue, packet, index)) return false;
  signal_set_times(*completion, begin, runtime_ticks());
  return true;
}
