// A queue and what processes its packets.
#ifndef IREE_C_SOFTGPU_HSA_QUEUE_H_
#define IREE_C_SOFTGPU_HSA_QUEUE_H_

#include "softgpu/hsa/runtime.h"

typedef void (*queue_callback_t)(hsa_status_t status, hsa_queue_t* source, void* data);

typedef struct queue_t {
  amd_queue_t amd;  // first: what the user holds points here
  agent_t* agent;   // NULL: a soft queue, which nobody here processes
  queue_callback_t callback;
  void* callback_data;
  pthread_t thread;
  int32_t stops;      // atomic: the thread is to end
  int32_t has_ended;  // atomic: it processes no more packets
  struct queue_t* next;
} queue_t;

// packet.c: carries out one packet and completes its signal. False when the queue must stop: the user was told, or the
// queue is being destroyed.
bool packet_process(queue_t* queue, const void* packet, uint64_t index);
// Reports an error to the user's callback, or on standard error, and stops the queue.
void queue_fail(queue_t* queue, hsa_status_t status, const char* message);
// Waits until a signal's value, masked, compares; false when the queue is being destroyed.
bool queue_wait_signal(queue_t* queue, const volatile int64_t* value, int64_t mask, hsa_signal_condition_t condition,
                       int64_t compare);

// pm4.c: runs the indirect buffer of a vendor packet; false after `message` got what is wrong.
bool pm4_run(queue_t* queue, const uint32_t* words, uint32_t count, char* message, size_t capacity);

#endif  // IREE_C_SOFTGPU_HSA_QUEUE_H_
