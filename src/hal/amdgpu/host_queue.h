// Host queues: one hardware queue of a GPU whose packets the host writes.
//
// A submission is a run of packets of which the last one decrements the queue's epoch signal, so that the signal's
// value says how many submissions are over. All packets of a submission come after all of the one before. Three
// parties:
//
//   * submitters, one at a time under `submission`: write packets and arguments behind what is published, then publish;
//   * the completion thread: waits for the epoch signal, gives rings back, ends operations, issues what was blocked;
//   * HSA's error callback: the first error stays and ends everything.
//
// Nothing is changed before it is known that everything fits; what does not fit is kept and issued when something ends.
// Writing takes as long as an operation has commands: `mutex` is not held meanwhile, so that what ended is told at
// once.
#ifndef IREE_C_HAL_AMDGPU_HOST_QUEUE_H_
#define IREE_C_HAL_AMDGPU_HOST_QUEUE_H_

#include "hal/amdgpu/operation.h"
#include "hal/amdgpu/ring.h"

// A submission.
typedef struct host_queue_entry_t {
  operation_t* operation;
  bool is_final;  // the operation ends with it
  uint64_t packet_end;
  uint64_t kernarg_end;
} host_queue_entry_t;

// Commands that wait for the value of a signal, for GPUs that do it so.
enum { WAIT_COMMANDS_SIZE = 9, WAIT_COMMANDS_INTERVAL = 4 };
typedef struct wait_commands_t {
  uint32_t words[16];
} wait_commands_t;

typedef struct host_queue_t host_queue_t;
struct host_queue_t {
  virtual_queue_t base;
  iree_allocator_t host_allocator;
  const libhsa_t* hsa;
  logical_device_t* device;
  physical_device_t* physical;
  uint32_t ordinal;            // among the GPU's
  host_queue_t* next_watched;  // of fault.c

  hsa_queue_t* aql;
  hsa_signal_t epoch_signal;
  iree_thread_t* thread;
  iree_atomic_uint32_t is_parked;  // the thread waits for `unparked`, not at the signal
  iree_notification_t unparked;
  iree_atomic_intptr_t error;       // iree_status_t: the first error of the hardware queue
  iree_atomic_int64_t final_value;  // of the epoch signal when the error came
  iree_atomic_uint32_t has_final;
  iree_atomic_uint64_t ended_epochs;  // submissions whose semaphores are signalled, or failed
  iree_notification_t ended;          // posted with `ended_epochs` and `has_final`

  iree_slim_mutex_t submission;    // guards what follows; taken before `mutex`
  uint32_t* headers;               // first words of packets that are not published, by slot
  wait_commands_t* wait_commands;  // by epoch and barrier; NULL: the GPU does not wait so
  uint64_t packet_head;            // index of the next packet
  uint64_t seen_tail;              // `epoch_tail` when something was tried the last time
  operation_t* blocked_head;       // waiting for room, in order
  operation_t* blocked_tail;
  iree_atomic_uint32_t has_blocked;  // whether there are any
  bool has_failed;

  iree_slim_mutex_t mutex;  // guards what follows
  ring_t kernargs;
  uint64_t packet_tail;  // packets before are over
  uint64_t epoch_head;   // submissions so far; changed by submitters
  uint64_t epoch_tail;   // of which this many are over
  uint32_t entry_mask;
  host_queue_entry_t* entries;  // by epoch
  uint32_t* verdicts;           // the same; behind the kernel arguments, written by the GPU
};

iree_status_t host_queue_create(logical_device_t* device, physical_device_t* physical, uint32_t ordinal,
                                virtual_queue_t** out_queue);
// Ends the completion thread's waits. The epoch signal's last value as a count. Takes the mutex.
int64_t host_queue_wake(host_queue_t* queue);
// The queue is lost. The first status stays; consumes it. Any thread, without locks of the driver (fault.c).
void host_queue_fail(host_queue_t* queue, iree_status_t status);

// The epoch signal starts at INITIAL and loses one with each submission's end. About WAKE it is no count any more: it
// was set to wake the completion thread, and whoever waits for a count. It is above zero for those that compare it as
// an unsigned number, also when packets that were on their way still end.
#define HOST_QUEUE_EPOCH_INITIAL (INT64_MAX / 2)
#define HOST_QUEUE_EPOCH_WAKE (INT64_C(1) << 40)
#define HOST_QUEUE_EPOCH_IS_WAKE(value) ((value) < HOST_QUEUE_EPOCH_INITIAL / 2)

//===----------------------------------------------------------------------------------------------------------------===
// emit.c: packets for an operation
//===----------------------------------------------------------------------------------------------------------------===

// Packets and arguments that are written but not published.
typedef struct emitter_t {
  host_queue_t* queue;
  operation_t* operation;
  ring_t kernargs;        // the queue's, as it was
  uint64_t packet;        // index of the next
  uint64_t packet_limit;  // the one before it is for the submission's end
  uint64_t kernarg;
  uint32_t region_packets;  // since the last packet that waits for all before it
  bool waits;               // the next packet waits for all before it
  bool acquires_system;     // the next kernel sees what host and other devices have written
  uint32_t next_command;
  uint32_t* verdict;  // where the device says that a grid is too large
  bool is_full;       // something did not fit
} emitter_t;

// The queue's mutex is held here, and not in the others; submission is the caller's.
void emit_begin(host_queue_t* queue, operation_t* operation, emitter_t* out_emitter);
// Writes as many of the operation's commands as fit.
iree_status_t emit_operation(emitter_t* emitter);
// Makes the last packet signal the end.
void emit_end(emitter_t* emitter);

#endif  // IREE_C_HAL_AMDGPU_HOST_QUEUE_H_
