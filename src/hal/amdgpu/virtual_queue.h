// Queues as the logical device sees them. There is one kind: the host queue, whose packets the host writes.
#ifndef IREE_C_HAL_AMDGPU_VIRTUAL_QUEUE_H_
#define IREE_C_HAL_AMDGPU_VIRTUAL_QUEUE_H_

#include <stdint.h>

typedef struct operation_t operation_t;
typedef struct virtual_queue_t virtual_queue_t;

typedef struct virtual_queue_vtable_t {
  // Waits for what is in flight to end.
  void (*destroy)(virtual_queue_t* queue);
  // Takes an operation whose waits are reached, or are by the queue's order. Never blocks. Its end is
  // operation_finish.
  void (*submit)(virtual_queue_t* queue, operation_t* operation);
  // Waits, shortly, until the operations of that submission, whose work is over, have ended. Errors: those of the
  // queue, when the submission was lost.
  iree_status_t (*await_end)(virtual_queue_t* queue, uint64_t epoch);
  // Whether the operations of that submission have ended, or never will.
  bool (*has_ended)(virtual_queue_t* queue, uint64_t epoch);
} virtual_queue_vtable_t;

struct virtual_queue_t {
  const virtual_queue_vtable_t* vtable;
  uint64_t id;  // unique in the process
};

#endif  // IREE_C_HAL_AMDGPU_VIRTUAL_QUEUE_H_
