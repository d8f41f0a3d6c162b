// Queues of the stream core, between queue.c and transfer.c.
#ifndef IREE_C_HAL_STREAM_QUEUE_H_
#define IREE_C_HAL_STREAM_QUEUE_H_

#include "hal/stream/writer.h"

enum { STREAM_MARKS = 16 };

// An event behind all parts up to one.
typedef struct stream_mark_t {
  uint64_t epoch;
  void* event;
} stream_mark_t;

// Transfers that the host asks for, of the first queue of each GPU (transfer.c).
typedef struct stream_transfers_t {
  // Small ones to the GPU: in pinned memory of two halves, then in the queue's stream. Guarded by its `submission`.
  uint8_t* ring;
  void* full[2];  // events behind the last copy of a half
  bool is_full[2];
  uint32_t half;
  size_t used;                       // bytes of that half
  iree_atomic_uint64_t sent;         // how many
  iree_atomic_uint64_t sent_before;  // the part behind the last of them
  void* order;                       // event for who must come after them
  // The others: in a stream of their own, one at a time.
  iree_slim_mutex_t mutex;
  void* stream;
  uint8_t* landing;  // pinned, for small ones to the host
  uint64_t seen[GPU_MAX_QUEUES];
} stream_transfers_t;

typedef struct stream_queue_t {
  gpu_queue_t base;
  const stream_context_t* context;
  stream_writer_t writer;
  bool borrows_stream;              // which others use, too
  iree_atomic_uint64_t ended;       // parts, as far as anybody knows
  iree_atomic_uint32_t onlookers;   // threads that look at the stream for the end of its last part
  iree_atomic_uint64_t looked_for;  // the last part that any of them has looked for
  uint64_t marked_for_onlookers;    // up to this part they have an event; under `submission`
  iree_slim_mutex_t mark_mutex;     // guards what follows
  stream_mark_t marks[STREAM_MARKS];
  uint32_t first_mark, mark_count;

  uint32_t* counts;               // pinned: of an indirect dispatch
  uint64_t counts_epoch;          // of the part that brings them; 0: none
  uint64_t seen[GPU_MAX_QUEUES];  // transfers of each GPU that the stream is behind
  stream_transfers_t transfers;
} stream_queue_t;

// Parts that are known to have ended.
uint64_t stream_queue_ended(stream_queue_t* queue);

// Writes what can be written of a batch's operation, behind `before`, which is recorded behind what is in the stream:
// posts the batch, and then lets the stream wait for its channels'. `*out_waits`: there is more to come.
iree_status_t stream_write_batch(stream_queue_t* queue, const gpu_operation_t* operation, void* before,
                                 bool* out_waits);

// For all queues, of which only the first ones of GPUs have any. The context is entered.
iree_status_t stream_transfers_initialize(stream_queue_t* queue);
void stream_transfers_deinitialize(stream_queue_t* queue);
// Lets what comes next in the queue's stream wait for transfers that were asked for before.
iree_status_t stream_transfers_precede(stream_queue_t* queue);
// Of iree_hal_device_vtable_t.
iree_status_t stream_transfer(iree_hal_device_t* device, bool to_host, void* host, iree_hal_buffer_t* buffer,
                              iree_device_size_t offset, iree_device_size_t length, iree_timeout_t timeout);

#endif  // IREE_C_HAL_STREAM_QUEUE_H_
