// Recordings: what a command buffer records, the same for all drivers.
//
//   iree_hal_command_buffer_*  ->  hal_recording_t  ->  at its end, once: the driver's `lower`  ->  what submissions
//   use
//
// A recording is a list of commands in order, each of which may wait for all before it, with copies of what they point
// to and references to what they use. Lowering makes of it what the driver can submit fastest, in a form of the
// driver's own, which may point to the recording's copies: they live as long as the command buffer.
//
// Recording is for one thread; a recorded command buffer may be submitted by many.
#ifndef IREE_C_HAL_RECORDING_H_
#define IREE_C_HAL_RECORDING_H_

#include "hal/collective.h"
#include "hal/idle_list.h"
#include "iree/hal/api.h"

typedef enum { HAL_COMMAND_DISPATCH, HAL_COMMAND_FILL, HAL_COMMAND_COPY, HAL_COMMAND_UPDATE } hal_command_kind_t;
// Where recordings are divided (collective.h). It is not lowered: drivers have no case for it.
#define HAL_COMMAND_COLLECTIVE ((hal_command_kind_t)(HAL_COMMAND_UPDATE + 1))

typedef struct hal_dispatch_t {
  iree_hal_executable_t* executable;
  iree_hal_executable_function_t function;
  iree_hal_dispatch_config_t config;
  iree_const_byte_span_t constants;
  iree_hal_buffer_ref_list_t bindings;
  iree_hal_dispatch_flags_t flags;
} hal_dispatch_t;

typedef struct hal_command_t {
  hal_command_kind_t kind;
  bool waits;                    // for all commands before it
  iree_hal_buffer_ref_t target;  // of all but DISPATCH and COLLECTIVE
  union {
    hal_dispatch_t dispatch;
    hal_collective_t collective;
    struct {
      uint8_t data[16];
      uint8_t length;              // bytes: 1, 2, 4, 8 or 16
    } pattern;                     // FILL
    iree_hal_buffer_ref_t source;  // COPY
    const uint8_t* data;           // UPDATE, as long as the target
  };
} hal_command_t;

typedef struct hal_recording_block_t hal_recording_block_t;

typedef struct hal_recording_t {
  iree_allocator_t host_allocator;
  bool retains;       // keeps executables and buffers alive
  bool waits;         // a barrier came after the last command
  size_t block_size;  // bytes
  iree_host_size_t count, capacity;
  hal_command_t* commands;
  iree_host_size_t resource_count, resource_capacity;
  void** resources;  // retained
  hal_recording_block_t* blocks;
} hal_recording_t;

// What a driver makes of recordings.
typedef struct hal_lowering_t {
  // Checks a dispatch that is about to be recorded, beyond what the public calls do.
  iree_status_t (*check)(void* lowered, const hal_dispatch_t* dispatch);
  // Makes what submissions use, in an object that the command buffer has owned from the start. After an error it is
  // never submitted.
  iree_status_t (*lower)(void* lowered, const hal_recording_t* recording);
  // Forgets that, to be made anew, if it can in the same memory. Nothing of it is in flight.
  void (*reset)(void* lowered);
  void (*free)(void* lowered);
} hal_lowering_t;

typedef struct hal_recorded_params_t {
  iree_hal_command_buffer_mode_t mode;
  iree_hal_command_category_t categories;
  iree_hal_queue_affinity_t queue_affinity;
  iree_host_size_t binding_capacity;
  size_t block_size;      // bytes; 0: the default
  hal_idle_list_t* home;  // where it goes when it is not used any more; NULL: it is freed
  iree_allocator_t host_allocator;
} hal_recorded_params_t;

// A command buffer that owns `lowered`, also when this fails.
iree_status_t hal_recorded_create(const hal_recorded_params_t* params, const hal_lowering_t* lowering, void* lowered,
                                  iree_hal_command_buffer_t** out_command_buffer);
// The same from `home`, made new for one use by `params`; NULL when none is there.
iree_hal_command_buffer_t* hal_recorded_take(const hal_recorded_params_t* params);
void hal_recorded_free_idle(hal_idle_list_t* home);
// Ends a command buffer with commands that another one has recorded and keeps alive.
iree_status_t hal_recorded_lower(iree_hal_command_buffer_t* command_buffer, const hal_recording_t* recording);
// NULL when none are recorded.
const hal_collectives_t* hal_recorded_collectives(iree_hal_command_buffer_t* command_buffer);
// What the driver made, or makes; NULL when the command buffer is of a driver with another lowering.
void* hal_recorded_lowered(iree_hal_command_buffer_t* command_buffer, const hal_lowering_t* lowering);

#endif  // IREE_C_HAL_RECORDING_H_
