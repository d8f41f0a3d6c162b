// Host queues: one hardware queue of a GPU whose packets the host writes.
//
// A part of an operation is a run of packets of which the last one decrements the queue's epoch signal, so that the
// signal's value says how many parts are over. All packets of a part come after all of the one before.
#ifndef IREE_C_HAL_AMDGPU_HOST_QUEUE_H_
#define IREE_C_HAL_AMDGPU_HOST_QUEUE_H_

#include "hal/amdgpu/executable.h"
#include "hal/amdgpu/logical_device.h"
#include "hal/amdgpu/pm4.h"
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

  uint32_t* headers;               // first words of packets, by slot; each is its part's
  wait_commands_t* wait_commands;  // by epoch and barrier; NULL: the GPU does not wait so
  uint32_t* verdicts;              // by epoch; behind the kernel arguments, written by the GPU
  pm4_instance_t** instances;      // by epoch: the part's commands, in their own format; NULL: packets of the queue
  // Guarded by base.submission.
  uint64_t known_tail;   // of base.epoch_tail, as the two tails below are
  uint64_t packet_head;  // index of the next packet
  uint64_t packet_tail;  // packets before are over
  ring_t kernargs;
};

// What a part's positions are.
enum { PART_PACKET, PART_KERNARG };

extern const gpu_backend_t host_queue_backend;

// profile.c: times of dispatches, by signals of their own, in ticks of HSA's clock.
extern const hal_profile_interface_t amdgpu_profile_interface;
// Notes the times of a part that has ended.
void profile_note_times(const host_queue_t* queue, const gpu_part_t* part);

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

// What a dispatch becomes when it is recorded.
typedef struct emit_form_t {
  hsa_kernel_dispatch_packet_t packet;  // all but what a submission says
  const kernel_object_t* objects;       // by ordinal of the physical device
} emit_form_t;
void emit_make_form(const gpu_command_t* command, void* form);
// Hidden arguments of a dispatch.
void emit_add_arguments(const gpu_command_t* command, uint8_t* arguments);

// Reserves packets and kernel arguments for as many of the operation's commands as fit. False when there is no room for
// any. The queue's submission is held here.
bool emit_reserve(host_queue_t* queue, const gpu_operation_t* operation, gpu_part_t* part);
// Writes what was reserved: packets but for their first words, which go to `headers`.
void emit_part(host_queue_t* queue, const gpu_part_t* part);

#endif  // IREE_C_HAL_AMDGPU_HOST_QUEUE_H_
