// Host queues: one hardware queue of a GPU whose packets the host writes.
//
// A part of an operation is a run of packets of which the last one decrements the queue's epoch signal, so that the
// signal's value says how many parts are over. All packets of a part come after all of the one before.
#ifndef IREE_C_HAL_AMDGPU_HOST_QUEUE_H_
#define IREE_C_HAL_AMDGPU_HOST_QUEUE_H_

#include "hal/amdgpu/executable.h"
#include "hal/amdgpu/logical_device.h"
#include "hal/amdgpu/ring.h"
#include "hal/gpu/command.h"
#include "hal/gpu/queue.h"

// Commands that wait for the value of a signal, for GPUs that do it so.
enum { WAIT_COMMANDS_SIZE = 9, WAIT_COMMANDS_INTERVAL = 4 };
typedef struct wait_commands_t {
  uint32_t words[16];
} wait_commands_t;

typedef struct host_queue_t host_queue_t;
struct host_queue_t {
  gpu_queue_t base;
  const libhsa_t* hsa;
  physical_device_t* physical;
  host_queue_t* next_watched;  // of fault.c

  hsa_queue_t* aql;
  hsa_signal_t epoch_signal;

  // Guarded by base.submission.
  uint32_t* headers;               // first words of packets that are not published, by slot
  wait_commands_t* wait_commands;  // by epoch and barrier; NULL: the GPU does not wait so
  uint64_t packet_head;            // index of the next packet
  // Guarded by base.mutex; what grows in `kernargs` by base.submission.
  ring_t kernargs;
  uint64_t packet_tail;  // packets before are over
  uint32_t* verdicts;    // by epoch; behind the kernel arguments, written by the GPU
};

// What a part's positions are: the ends of its packets and of its kernel arguments.
enum { PART_PACKET_END, PART_KERNARG_END };

extern const gpu_backend_t host_queue_backend;

iree_status_t host_queue_create(logical_device_t* device, physical_device_t* physical, uint32_t ordinal,
                                gpu_queue_t** out_queue);
// The queue is lost, for the first status, which gets the kernel that was running; consumes it. Any thread, without
// locks of the driver (fault.c).
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
  const gpu_operation_t* operation;
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
void emit_begin(host_queue_t* queue, const gpu_operation_t* operation, emitter_t* out_emitter);
// Writes as many of the operation's commands as fit.
iree_status_t emit_operation(emitter_t* emitter);
// Makes the last packet signal the end.
void emit_end(emitter_t* emitter);
// Hidden arguments of a dispatch.
void emit_add_arguments(const gpu_command_t* command, uint8_t* arguments);

#endif  // IREE_C_HAL_AMDGPU_HOST_QUEUE_H_
