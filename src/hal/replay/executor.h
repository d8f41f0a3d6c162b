// What the parts of a replay share: its objects, and what of the submitted work has not ended.
//
// Submissions go to the devices in the order of the file. One is *runnable* when the capture says that its waits will
// be reached: by submissions before it that are runnable. What the host waits for is the work that is runnable; what is
// not becomes so when a later submission signals what it waits for, or at the end, when only the host can have
// signalled.
#ifndef IREE_C_HAL_REPLAY_EXECUTOR_H_
#define IREE_C_HAL_REPLAY_EXECUTOR_H_

#include "hal/replay/format.h"
#include "iree/hal/replay/execute.h"

typedef struct plan_record_t {
  replay_record_t record;
  replay_payload_t payload;
  uint64_t first_dying;  // object whose last use this is; 0: none
} plan_record_t;

// What the capture says of an object.
typedef struct plan_object_t {
  uint64_t last_use;       // record
  uint64_t next_dying;     // the next object with the same last use; 0: none
  uint64_t last_signal;    // of a semaphore: the highest value that work signals
  uint64_t last_signaler;  // of a semaphore: the last record that signals it
} plan_object_t;

struct iree_hal_replay_plan_t {
  iree_allocator_t host_allocator;
  uint64_t record_count, object_count;  // numbers of objects are below object_count
  plan_record_t* records;
  plan_object_t* objects;
};

typedef struct replay_object_t {
  uint32_t type;  // REPLAY_OBJECT_*; 0: none
  bool dying;     // a semaphore that is to go when work has ended; at the end of all, where work may wait for it
  union {
    iree_hal_device_t* device;        // not retained
    iree_hal_allocator_t* allocator;  // not retained
    iree_hal_buffer_t* buffer;
    iree_hal_command_buffer_t* command_buffer;
    iree_hal_executable_cache_t* cache;
    iree_hal_executable_t* executable;
    iree_hal_semaphore_t* semaphore;
    iree_hal_file_t* file;
    iree_hal_event_t* event;
  };
  union {
    struct {
      uint64_t function_count;
      iree_hal_executable_function_t* functions;  // by captured ordinal
    };
    struct {
      uint64_t promised;      // the value that runnable work signals
      uint64_t next_pending;  // semaphore with work to wait for; 0: none, self: the last
    };
    bool in_ranges;  // a file: reads come with their data
  };
} replay_object_t;

typedef struct replay_executor_t {
  const iree_hal_replay_plan_t* plan;
  const iree_hal_replay_execute_options_t* options;
  iree_hal_device_group_t* group;
  iree_allocator_t host_allocator;
  iree_host_size_t next_device;
  uint64_t current;  // record
  replay_object_t* objects;
  uint64_t first_pending;
  uint64_t blocked_count, blocked_capacity;
  const plan_record_t** blocked;  // submissions that are not runnable yet
  uint64_t stepped_count;         // dispatches that were run by themselves
} replay_executor_t;

// The object with a number. Errors: DATA_LOSS when there is none of that type.
iree_status_t replay_find(replay_executor_t* x, uint64_t id, uint32_t type, replay_object_t** out_object);
// The place for a new object. Errors: DATA_LOSS when the number is taken.
iree_status_t replay_place(replay_executor_t* x, uint64_t id, uint32_t type, replay_object_t** out_object);
void replay_object_free(replay_executor_t* x, replay_object_t* object);

// Copies a payload's fields. Errors: DATA_LOSS when the record has another payload.
iree_status_t replay_fields(const plan_record_t* r, uint32_t type, void* out_fields, size_t size);
#define REPLAY_FIELDS(r, name, variable) \
  replay_##name##_t variable;            \
  IREE_RETURN_IF_ERROR(replay_fields(r, REPLAY_PAYLOAD_##name, &(variable), sizeof(variable)))

static inline iree_const_byte_span_t replay_part(const plan_record_t* r, size_t part) {
  return iree_make_const_byte_span(r->payload.parts[part].data, (iree_host_size_t)r->payload.parts[part].length);
}

// References and lists of them; freed by the caller.
iree_status_t replay_make_ref(replay_executor_t* x, const replay_ref_t* ref, iree_hal_buffer_ref_t* out_ref);
iree_status_t replay_make_refs(replay_executor_t* x, const plan_record_t* r, size_t part,
                               iree_hal_buffer_ref_t** out_refs);
// An update of a range has as many bytes: else DATA_LOSS.
iree_status_t replay_check_update(const iree_hal_buffer_ref_t* target, uint64_t data_length);

// Waits for all work that is runnable, or must have been by now.
iree_status_t replay_wait(replay_executor_t* x);

// Calls of a device or its allocator that make objects, and of mapped buffers.
iree_status_t replay_object_call(replay_executor_t* x, const plan_record_t* r);
// Writes data into a buffer of the record's device.
iree_status_t replay_write(replay_executor_t* x, const plan_record_t* r, iree_hal_buffer_t* buffer, uint64_t offset,
                           iree_const_byte_span_t data);
iree_status_t replay_prepare_executable(replay_executor_t* x, const plan_record_t* r);
iree_status_t replay_import_file(replay_executor_t* x, const plan_record_t* r);
// Calls of a command buffer.
iree_status_t replay_command(replay_executor_t* x, const plan_record_t* r);
// Submissions.
iree_status_t replay_submit(replay_executor_t* x, const plan_record_t* r);

// A dispatch's arguments; freed by the caller.
typedef struct replay_dispatch_call_t {
  iree_hal_executable_t* executable;
  iree_hal_executable_function_t function;
  iree_hal_dispatch_config_t config;
  iree_const_byte_span_t constants;
  iree_hal_buffer_ref_list_t bindings;
  iree_hal_dispatch_flags_t flags;
  uint32_t* constant_storage;
  iree_hal_buffer_ref_t* binding_storage;
} replay_dispatch_call_t;
iree_status_t replay_make_dispatch(replay_executor_t* x, const plan_record_t* r, replay_dispatch_call_t* out_dispatch);
void replay_free_dispatch(replay_executor_t* x, replay_dispatch_call_t* dispatch);

// Whether each command runs by itself, for who wants to see dispatches.
static inline bool replay_is_stepped(const replay_executor_t* x) { return x->options->dispatch_event_callback.fn; }
// Runs a submission of a dispatch or of a command buffer so, to its end; the work before it has ended.
iree_status_t replay_step(replay_executor_t* x, const plan_record_t* r, iree_hal_device_t* device);

#endif  // IREE_C_HAL_REPLAY_EXECUTOR_H_
