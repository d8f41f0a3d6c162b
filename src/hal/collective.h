// Collectives within a process: what they compute, and how the ranks of a group meet.
//
//   command buffer -> hal_collectives_t (what is recorded, in batches) -> hal_collectives_execute: a chain of queue
//   operations, one for each batch, in which a host call posts the batch's parts to their channels and is over when all
//   parts are; or, where the batch's channels can, the queue posts them when what is before is in its stream, and goes
//   on when they are in theirs
//
// Channels within a process: nobody waits for another rank, whoever posts the last part does the work, on its thread.
// Channels of a library for GPUs: src/hal/stream/nccl.h.
#ifndef IREE_C_HAL_COLLECTIVE_H_
#define IREE_C_HAL_COLLECTIVE_H_

#include "iree/hal/api.h"

typedef struct hal_recording_t hal_recording_t;

#define HAL_COLLECTIVE_NOBODY 65535u  // of SEND_RECV: no rank

// What is recorded.
typedef struct hal_collective_t {
  iree_hal_channel_t* channel;
  iree_hal_collective_op_t op;
  uint32_t param;
  iree_device_size_t element_count;
  iree_hal_buffer_ref_t send;  // length 0: not used by this rank
  iree_hal_buffer_ref_t recv;
} hal_collective_t;

// Checks one and resolves its references' lengths to what it reads and writes on this rank. Errors: INVALID_ARGUMENT,
// OUT_OF_RANGE.
iree_status_t hal_collective_check(hal_collective_t* collective);

// Memory of one rank, of which either may be NULL where it is not used.
typedef struct hal_collective_memory_t {
  const uint8_t* send;
  uint8_t* recv;
} hal_collective_memory_t;
// Does a collective of all ranks: any kind but SEND, RECV and SEND_RECV.
void hal_collective_compute(iree_hal_collective_op_t op, uint32_t root, iree_device_size_t element_count,
                            uint32_t rank_count, const hal_collective_memory_t* ranks);

//===----------------------------------------------------------------------------------------------------------------===
// Channels (channel.c)
//===----------------------------------------------------------------------------------------------------------------===

// One rank's part, which is the channel's from post until `complete`. SEND_RECV is two parts; who receives from
// nobody, 65535, gets zeros.
typedef struct hal_collective_part_t hal_collective_part_t;
struct hal_collective_part_t {
  hal_collective_part_t* next;
  iree_hal_collective_op_t op;
  uint32_t param;
  uint32_t rank;      // set by the channel
  bool starts_batch;  // set by the channel
  iree_device_size_t element_count;
  hal_collective_memory_t memory;
  // Of batches that a queue orders: an event that the channel's stream waits for, NULL for none, and the one behind the
  // part, which the channel sets before it calls `started`: once, before `complete`, when the part is in its stream, or
  // failed before. Owns `status`. NULL: nobody asks.
  void *before, *after;
  void (*started)(hal_collective_part_t* part, iree_status_t status);
  iree_status_t failure;  // not OK: the rank cannot take part, and all others fail with a copy
  // Called once, on any thread, with no lock held. Owns `status`.
  void (*complete)(hal_collective_part_t* part, iree_status_t status);
};

// A batch of a submission (collective_batch.c): begins with an iree_hal_resource_t, which is the submission's.
typedef struct hal_collective_batch_t hal_collective_batch_t;
// The operation that a batch is in a device's queue.
typedef struct hal_collective_order_t {
  iree_hal_device_t* device;
  iree_hal_queue_affinity_t queue_affinity;
  iree_hal_semaphore_list_t waits, signals;
  hal_collective_batch_t* batch;
} hal_collective_order_t;

typedef iree_status_t (*hal_collective_order_fn_t)(const hal_collective_order_t* order);

// What channels begin with that take parts: those with a `post`.
typedef struct hal_channel_t {
  iree_hal_resource_t resource;
  iree_hal_device_t* device;  // not retained
  // A buffer's first byte as parts have it: for the host, or for the GPU.
  iree_status_t (*find_memory)(iree_hal_buffer_t* buffer, uint8_t** out_memory);
  // Whether it has such a collective. NULL: it has all.
  iree_status_t (*check)(const struct hal_channel_t* channel, iree_hal_collective_op_t op);
  // Puts a batch into a queue of the channel's device, all of whose channels have the same function. NULL: the host
  // posts it when what is before it has ended.
  hal_collective_order_fn_t order;
} hal_channel_t;
static inline hal_channel_t* hal_channel_cast(iree_hal_channel_t* channel) { return (hal_channel_t*)channel; }
bool hal_channel_takes_parts(iree_hal_channel_t* channel);
// Sets the rank and the count that the provider, which may be NULL, says where the parameters leave them open, and
// checks both. Errors: FAILED_PRECONDITION, INVALID_ARGUMENT.
iree_status_t hal_channel_resolve_rank(iree_hal_channel_provider_t* provider, iree_hal_channel_params_t* params);
iree_status_t hal_channel_create_local(iree_hal_device_t* device, iree_hal_channel_provider_t* provider,
                                       const iree_hal_channel_params_t* params, iree_hal_channel_t** out_channel);

//===----------------------------------------------------------------------------------------------------------------===
// Command buffers (collective_batch.c)
//===----------------------------------------------------------------------------------------------------------------===

// The batches of a recording: collectives with no barrier or other command between them, which start together.
typedef struct hal_collectives_t hal_collectives_t;
// Divides a recording that has collectives. `first` gets what is before them, to be lowered; it and the batches live as
// long as the recording.
iree_status_t hal_collectives_divide(iree_hal_command_buffer_t* command_buffer, const hal_recording_t* recording,
                                     hal_recording_t* out_first, hal_collectives_t** out_collectives);
void hal_collectives_free(hal_collectives_t* collectives);
// The arguments of iree_hal_device_queue_execute, checked.
typedef struct hal_execution_t {
  iree_hal_device_t* device;
  iree_hal_queue_affinity_t queue_affinity;
  iree_hal_semaphore_list_t waits, signals;
  iree_hal_command_buffer_t* command_buffer;
  iree_hal_buffer_binding_table_t binding_table;
  iree_hal_execute_flags_t flags;
} hal_execution_t;
iree_status_t hal_collectives_execute(const hal_execution_t* execution, const hal_collectives_t* collectives);

// What a queue does with a batch, of which it keeps the submission alive.
iree_hal_resource_t* hal_collective_batch_resource(hal_collective_batch_t* batch);
// Posts it, behind an event. `started` is called once, on a channel's thread, when all of it is in its channels'
// streams, or has failed before. Errors: ABORTED when the submission has failed already; then nothing is called.
typedef struct hal_collective_start_t {
  void* before;
  void (*started)(void* user_data, uint64_t argument);
  void* user_data;
  uint64_t argument;
} hal_collective_start_t;
iree_status_t hal_collective_batch_post(hal_collective_batch_t* batch, const hal_collective_start_t* start);
// Whether it was posted by the queue, and whether it has started since.
bool hal_collective_batch_is_posted(hal_collective_batch_t* batch);
bool hal_collective_batch_has_started(hal_collective_batch_t* batch);
// Of one that has started: what is behind the part with that index, NULL when there are no more; and what failed so
// far.
void* hal_collective_batch_after(hal_collective_batch_t* batch, iree_host_size_t index);
iree_status_t hal_collective_batch_failure(hal_collective_batch_t* batch);
// Waits until all parts are complete, which is soon when they are over. Errors: theirs.
iree_status_t hal_collective_batch_await(hal_collective_batch_t* batch);

#endif  // IREE_C_HAL_COLLECTIVE_H_
