// A queue and what processes its packets.
#ifndef IREE_C_SOFTGPU_HSA_QUEUE_H_
#define IREE_C_SOFTGPU_HSA_QUEUE_H_

#include "softgpu/hsa/runtime.h"
#include "softgpu/hsa/thread_trace.h"

enum { QUEUE_MASK_WORDS = 32 };

typedef void (*queue_callback_t)(hsa_status_t status, hsa_queue_t* source, void* data);

typedef struct queue_t {
  amd_queue_t amd;  // first: what the user holds points here
  agent_t* agent;   // NULL: a soft queue, which nobody here processes
  queue_callback_t callback;
  void* callback_data;
  pthread_t thread;
  int32_t stops;       // atomic: the thread is to end, and what runs on it
  bool is_orphan;      // destroyed by its own thread, which frees it at its end
  int64_t doorbell;    // what the doorbell signal points to
  uint32_t rings;      // atomic: of the doorbell by the interface; what the thread sleeps on for packets
  uint32_t is_asleep;  // atomic: it does
  uint32_t unit_mask[QUEUE_MASK_WORDS];
  uint32_t unit_mask_bits;
  uint32_t trace[THREAD_TRACE_REGISTERS];  // of its own thread
  struct queue_t* next;
} queue_t;

// packet.c: carries out one packet. `completion` is the signal to count down once the packet's slot is free again: who
// sees it may write the slot at once. False when the queue must stop: the user was told, or it is being destroyed.
bool packet_process(queue_t* queue, const void* packet, uint64_t index, hsa_signal_t* completion);
// Reports an error to the user's callback and on standard error, and stops the queue.
void queue_fail(queue_t* queue, hsa_status_t status, const char* message);
// Waits until a signal's value, masked, compares; false when the queue is being destroyed.
bool queue_wait_signal(queue_t* queue, const volatile int64_t* value, int64_t mask, hsa_signal_condition_t condition,
                       int64_t compare);
// One step of a wait: returns at once the first times, then sleeps a little. False when the queue is being destroyed.
bool queue_wait_step(queue_t* queue, uint32_t* steps);

// The agent's queues stop, without a word, and no more can be made.
void queue_stop_agent(agent_t* agent);
// event.c: whether something happens in place of the next kernel: the queue is then stopped.
bool event_replaces_kernel(queue_t* queue);

bool queue_is_stopping(const queue_t* queue);
// Runs a kernel to its end. False when it failed, which the user was told, or when the queue is being destroyed.
bool queue_dispatch(queue_t* queue, engine_dispatch_t* dispatch);

// pm4.c: runs the indirect buffer of the vendor packet `index`. False when the queue must stop: the user was told, or
// it is being destroyed.
bool pm4_run(queue_t* queue, uint64_t index, const uint32_t* words, uint32_t count);

#endif  // IREE_C_SOFTGPU_HSA_QUEUE_H_
