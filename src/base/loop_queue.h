// What loops keep: operations in order, with what they wait for.
#ifndef BASE_LOOP_QUEUE_H_
#define BASE_LOOP_QUEUE_H_

#include "iree/base/allocator.h"
#include "iree/base/loop.h"

typedef struct loop_op_t {
  struct loop_op_t* next;
  iree_loop_command_t command;
  iree_loop_callback_t callback;
  iree_time_t deadline_ns;
  iree_host_size_t count;
  const iree_wait_source_t* sources;
  iree_wait_source_t source;  // of WAIT_ONE
  void* owner;
} loop_op_t;

typedef struct loop_queue_t {
  iree_allocator_t allocator;
  loop_op_t *head, *tail;
} loop_queue_t;

// Appends a command with a copy of its parameters.
iree_status_t loop_queue_push(loop_queue_t* queue, iree_loop_command_t command, const void* params, loop_op_t** out_op);
// The first operation, or NULL. The caller finishes it.
loop_op_t* loop_queue_pop(loop_queue_t* queue);
// Blocks until the operation can be called; what it is called with.
iree_status_t loop_op_wait(const loop_op_t* op);
// Whether it can be called now, with *out_status.
bool loop_op_poll(const loop_op_t* op, iree_status_t* out_status);
// Frees the operation and calls its callback, whose result is returned.
iree_status_t loop_op_finish(loop_queue_t* queue, loop_op_t* op, iree_loop_t loop, iree_status_t status);

#endif  // BASE_LOOP_QUEUE_H_
