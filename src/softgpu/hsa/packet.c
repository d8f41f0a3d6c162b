// AQL packets: kernel dispatches, barriers, and AMD's vendor packets. Source: HSA System Architecture 1.2, section 2.9,
// and hsa_ext_amd.h.
#include <stdio.h>
#include <string.h>

#include "softgpu/hsa/queue.h"

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
    case ENGINE_FAULT_ILLEGAL_INSTRUCTION: return (hsa_status_t)HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION;
    case ENGINE_FAULT_MEMORY: return (hsa_status_t)HSA_STATUS_ERROR_MEMORY_FAULT;
    case ENGINE_FAULT_INVALID_KERNEL: return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
    default: return HSA_STATUS_ERROR_EXCEPTION;
  }
}

static bool run_kernel(queue_t* queue, const hsa_kernel_dispatch_packet_t* packet, uint64_t index) {
  engine_dispatch_t dispatch = {.packet = packet, .queue = &queue->amd, .id = index};
  engine_fault_t fault;
  uint64_t begin = runtime_timestamp();
  if (!engine_dispatch(queue->agent->engine, &dispatch, &fault)) {
    queue_fail(queue, status_of(fault.kind), fault.message);
    return false;
  }
  signal_set_times(packet->completion_signal, begin, runtime_timestamp());
  signal_subtract(packet->completion_signal, 1);
  return true;
}

static const volatile int64_t* value_of(hsa_signal_t signal) { return &((amd_signal_t*)signal.handle)->value; }

static bool run_barrier_and(queue_t* queue, const hsa_barrier_and_packet_t* packet) {
  uint64_t begin = runtime_timestamp();
  for (int i = 0; i < 5; ++i) {
    if (!packet->dep_signal[i].handle) continue;
    if (!queue_wait_signal(queue, value_of(packet->dep_signal[i]), -1, HSA_SIGNAL_CONDITION_EQ, 0)) return false;
  }
  signal_set_times(packet->completion_signal, begin, runtime_timestamp());
  signal_subtract(packet->completion_signal, 1);
  return true;
}

static bool run_barrier_or(queue_t* queue, const hsa_barrier_or_packet_t* packet) {
  for (;;) {
    hsa_signal_t some = {0};
    for (int i = 0; i < 5; ++i) {
      if (!packet->dep_signal[i].handle) continue;
      some = packet->dep_signal[i];
      if (__atomic_load_n(value_of(some), __ATOMIC_ACQUIRE) == 0) some.handle = 0, i = 5;
    }
    if (!some.handle) break;
    if (__atomic_load_n(&queue->stops, __ATOMIC_ACQUIRE)) return false;
    hsa_signal_wait_relaxed(some, HSA_SIGNAL_CONDITION_EQ, 0, 20000, HSA_WAIT_STATE_BLOCKED);
  }
  signal_subtract(packet->completion_signal, 1);
  return true;
}

static bool run_barrier_value(queue_t* queue, const hsa_amd_barrier_value_packet_t* packet) {
  if (packet->signal.handle && !queue_wait_signal(queue, value_of(packet->signal), packet->mask,
                                                  (hsa_signal_condition_t)packet->cond, packet->value)) {
    return false;
  }
  signal_subtract(packet->completion_signal, 1);
  return true;
}

static bool run_pm4(queue_t* queue, const pm4_packet_t* packet) {
  char message[256];
  uint64_t address = (packet->jump[1] & ~3u) | (uint64_t)(packet->jump[2] & 0xffff) << 32;
  uint32_t count = packet->jump[3] & 0xfffff;
  uint64_t begin = runtime_timestamp();
  if (!pm4_run(queue, (const uint32_t*)address, count, message, sizeof(message))) {
    if (message[0]) queue_fail(queue, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, message);
    return false;
  }
  signal_set_times(packet->completion_signal, begin, runtime_timestamp());
  signal_subtract(packet->completion_signal, 1);
  return true;
}

static bool run_vendor(queue_t* queue, const void* packet) {
  const hsa_amd_vendor_packet_header_t* header = packet;
  if (header->AmdFormat == VENDOR_BARRIER_VALUE) return run_barrier_value(queue, packet);
  if (header->AmdFormat == VENDOR_PM4_IB) return run_pm4(queue, packet);
  char message[96];
  snprintf(message, sizeof(message), "vendor packet of format %u is not supported", header->AmdFormat);
  queue_fail(queue, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, message);
  return false;
}

bool packet_process(queue_t* queue, const void* packet, uint64_t index) {
  uint32_t type = *(const uint16_t*)packet & 0xff;
  switch (type) {
    case HSA_PACKET_TYPE_KERNEL_DISPATCH: return run_kernel(queue, packet, index);
    case HSA_PACKET_TYPE_BARRIER_AND: return run_barrier_and(queue, packet);
    case HSA_PACKET_TYPE_BARRIER_OR: return run_barrier_or(queue, packet);
    case HSA_PACKET_TYPE_VENDOR_SPECIFIC: return run_vendor(queue, packet);
    default: {
      char message[96];
      snprintf(message, sizeof(message), "packet %llu has type %u, which a GPU's queue does not take",
               (unsigned long long)index, type);
      queue_fail(queue, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, message);
      return false;
    }
  }
}
