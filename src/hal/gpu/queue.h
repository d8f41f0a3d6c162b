// Queues of GPUs: work ends in the order in which it was issued, and is counted.
//
// An operation goes to the GPU in one or more parts, whatever there is room for; the number of a part, from 1, is its
// epoch. Three parties:
//
//   * submitters: take a part's place behind all others, one at a time under `submission`, then publish it, which may
//     be all of the work and is for several threads at once;
//   * the completion thread: waits for ends, ends operations, issues what was blocked;
//   * threads that wait for a semaphore, which do the same where the backend lets them. Then the completion thread
//     sleeps, and looks now and then, unless somebody wants an end who cannot look: a callback, what is blocked;
//   * errors, from any thread: the first one stays and ends everything.
//
// Entries are a ring between submitters, who move its head, and whoever ends parts, one thread at a time under
// `draining`, who moves its tail: what a part took is free when the tail has passed it. A submission takes the one
// lock, and ends take others, so that an error finds operations in place.
//
// Nothing is changed before it is known that a part fits; what does not fit is kept and issued when something ends.
#ifndef IREE_C_HAL_GPU_QUEUE_H_
#define IREE_C_HAL_GPU_QUEUE_H_

#include "hal/gpu/operation.h"
#include "hal/gpu/waited.h"

// What the completion thread is doing when it does not wait for an end.
typedef enum { GPU_AWAKE, GPU_DOZING, GPU_PARKED } gpu_rest_t;

// A part of an operation in the queue.
struct gpu_part_t {
  gpu_operation_t* operation;
  uint64_t epoch;
  bool is_written;        // by the backend: anything at all
  bool is_held;           // nothing is, until gpu_queue_retry
  bool is_final;          // the operation ends with it
  uint32_t first;         // command
  uint32_t next;          // command: those before are in the queue when it is
  uint64_t begin[2];      // the backend's
  uint64_t end[2];        // the backend's
  iree_status_t failure;  // of the backend, which the operation ends with when the part has ended
};

struct gpu_queue_t {
  const gpu_backend_t* backend;
  gpu_device_t* device;
  uint64_t id;            // unique in the process
  uint32_t bit;           // of affinities
  uint32_t physical;      // index of the physical device
  uint32_t ordinal;       // among its queues
  bool waits_for_queues;  // the GPU can wait for parts of other queues of the driver
  bool forgets_queues;    // as soon as it was told to wait for them: those of other devices may go then
  hal_pool_t* pool;       // for queue-ordered allocations; may be NULL; the driver's

  iree_thread_t* thread;
  iree_atomic_uint32_t rest;  // gpu_rest_t: the thread waits for `unparked`, not for an end
  iree_notification_t unparked;
  iree_atomic_int64_t last_wait_ns;  // how long a thread waited for an end, the last time
  iree_atomic_uint64_t wanted;       // parts up to this one: their ends are to be told at once
  iree_atomic_uint32_t is_woken;
  iree_atomic_intptr_t error;        // iree_status_t: the first
  iree_atomic_uint64_t final_epoch;  // parts that ended before it
  iree_atomic_uint32_t has_final;
  iree_atomic_uint64_t ended_epochs;  // parts whose operations' semaphores are signalled, or failed
  iree_notification_t ended;          // posted with `ended_epochs` and `has_final`

  iree_slim_mutex_t submission;   // guards what follows; taken before `mutex`
  uint64_t seen_tail;             // `epoch_tail` when something was tried the last time
  uint64_t seen_retries;          // `retries`, likewise
  gpu_operation_t* blocked_head;  // waiting for room, in order
  gpu_operation_t* blocked_tail;
  gpu_waited_t waited;               // for parts of other queues, by those so far
  iree_atomic_uint32_t has_blocked;  // whether there are any
  iree_atomic_uint64_t retries;      // that were asked for
  bool has_failed;

  iree_slim_mutex_t draining;  // of who ends parts; taken first, and alone held while others' code runs

  iree_slim_mutex_t mutex;          // held while the tail moves
  iree_atomic_uint64_t epoch_head;  // parts so far; changed under `submission`
  iree_atomic_uint64_t epoch_tail;  // of which this many are over
  iree_atomic_uint32_t publishers;  // threads that publish; counted under `submission`
  uint32_t entry_mask;
  gpu_part_t* entries;  // by epoch
};

// Makes a queue, whose memory is the driver's and zero but for `backend`, `device`, `bit` and `waits_for_queues`.
// `depth`: parts in flight, a power of two.
iree_status_t gpu_queue_initialize(gpu_queue_t* queue, uint32_t depth);
// Starts its thread: when everything of the backend is there.
iree_status_t gpu_queue_start(gpu_queue_t* queue);
// Everything must have ended. Ends the thread; then the backend's `destroy`.
void gpu_queue_destroy(gpu_queue_t* queue);
// By the backend's `destroy`.
void gpu_queue_deinitialize(gpu_queue_t* queue);

// Takes an operation whose waits are reached, or are by the queue's order. Never blocks. Its end is
// gpu_operation_finish.
void gpu_queue_submit(gpu_queue_t* queue, gpu_operation_t* operation);
// What the backend held may be written now. Any thread.
void gpu_queue_retry(gpu_queue_t* queue);
// Ends operations up to that part on this thread, as gpu_backend_t's `poll` says, unless another thread does.
void gpu_queue_help(gpu_queue_t* queue, uint64_t epoch, iree_time_t spin_until, bool may_sleep);
// The completion thread is to wait for that part.
void gpu_queue_want(gpu_queue_t* queue, uint64_t epoch);
// Waits, shortly, until the operations of that part, whose work is over, have ended. Errors: those of the queue, when
// the part was lost.
iree_status_t gpu_queue_await_end(gpu_queue_t* queue, uint64_t epoch);
// Whether the operations of that part have ended, or never will.
bool gpu_queue_has_ended(gpu_queue_t* queue, uint64_t epoch);
// Whether anything is in flight.
bool gpu_queue_is_busy(gpu_queue_t* queue);
// The queue is lost. The first status stays; consumes it. Any thread, without locks of the driver.
void gpu_queue_fail(gpu_queue_t* queue, iree_status_t status);
static inline uint64_t gpu_queue_head(gpu_queue_t* queue) {
  return iree_atomic_load(&queue->epoch_head, iree_memory_order_seq_cst);
}
static inline uint64_t gpu_queue_tail(gpu_queue_t* queue) {
  return iree_atomic_load(&queue->epoch_tail, iree_memory_order_seq_cst);
}
// The part that is numbered `epoch`, in flight. The mutex is held, or `submission`, which also keeps the last one
// before the tail.
static inline const gpu_part_t* gpu_queue_part(const gpu_queue_t* queue, uint64_t epoch) {
  return &queue->entries[(epoch - 1) & queue->entry_mask];
}

#endif  // IREE_C_HAL_GPU_QUEUE_H_
