// Command buffers: work recorded once and executed once or many times (iree_hal_device_queue_execute).
//
// Commands between two barriers may run in any order and at the same time; a barrier orders all that comes before it
// against all that comes after. Buffers are named directly, or indirectly by slot: the binding table given at execution
// then says which buffer each slot is. Recording is for one thread at a time; a finished command buffer is immutable
// and thread safe. Everything named is kept alive by the command buffer unless UNRETAINED.
#ifndef IREE_HAL_COMMAND_BUFFER_H_
#define IREE_HAL_COMMAND_BUFFER_H_

#include <stdbool.h>
#include <stdint.h>

#include "iree/base/api.h"
#include "iree/hal/buffer.h"
#include "iree/hal/channel.h"
#include "iree/hal/event.h"
#include "iree/hal/executable.h"
#include "iree/hal/queue.h"
#include "iree/hal/resource.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_command_buffer_t iree_hal_command_buffer_t;
typedef struct iree_hal_device_t iree_hal_device_t;

enum iree_hal_command_buffer_mode_bits_t {
  IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT = 0u,
  IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT = 1u << 0,  // executed once
  // With ONE_SHOT: commands may run while they are recorded.
  IREE_HAL_COMMAND_BUFFER_MODE_ALLOW_INLINE_EXECUTION = 1u << 4,
  IREE_HAL_COMMAND_BUFFER_MODE_UNVALIDATED = 1u << 5,  // the recorder is trusted: ranges and usage are not checked
  IREE_HAL_COMMAND_BUFFER_MODE_UNRETAINED = 1u << 6,   // the caller keeps named objects alive
  IREE_HAL_COMMAND_BUFFER_MODE_RETAIN_PROFILE_METADATA = 1u << 7,
  IREE_HAL_COMMAND_BUFFER_MODE_RETAIN_DISPATCH_METADATA = 1u << 8,
  // What is recorded may be given other numbers later (iree_hal_command_buffer_begin_revision).
  IREE_HAL_COMMAND_BUFFER_MODE_REVISABLE = 1u << 16,
};
typedef uint32_t iree_hal_command_buffer_mode_t;
IREE_API_EXPORT iree_string_view_t iree_hal_command_buffer_mode_format(iree_hal_command_buffer_mode_t value,
                                                                       iree_bitfield_string_temp_t* out_temp);

enum iree_hal_command_category_bits_t {
  IREE_HAL_COMMAND_CATEGORY_TRANSFER = 1u << 0,
  IREE_HAL_COMMAND_CATEGORY_DISPATCH = 1u << 1,
  IREE_HAL_COMMAND_CATEGORY_ANY = IREE_HAL_COMMAND_CATEGORY_TRANSFER | IREE_HAL_COMMAND_CATEGORY_DISPATCH,
};
typedef uint32_t iree_hal_command_category_t;
IREE_API_EXPORT iree_string_view_t iree_hal_command_category_format(iree_hal_command_category_t value,
                                                                    iree_bitfield_string_temp_t* out_temp);

//===----------------------------------------------------------------------------------------------------------------===
// References to buffer ranges, in bytes
//===----------------------------------------------------------------------------------------------------------------===

// Direct when `buffer` is set, else indirect through `buffer_slot`.
typedef struct iree_hal_buffer_ref_t {
  uint32_t reserved : 8;
  uint32_t buffer_slot : 24;
  iree_hal_buffer_t* buffer;
  iree_device_size_t offset;
  iree_device_size_t length;  // may be IREE_HAL_WHOLE_BUFFER
} iree_hal_buffer_ref_t;
static inline iree_hal_buffer_ref_t iree_hal_make_buffer_ref(iree_hal_buffer_t* buffer, iree_device_size_t offset,
                                                             iree_device_size_t length) {
  iree_hal_buffer_ref_t ref = {0, 0, buffer, offset, length};
  return ref;
}
static inline iree_hal_buffer_ref_t iree_hal_make_indirect_buffer_ref(uint32_t buffer_slot, iree_device_size_t offset,
                                                                      iree_device_size_t length) {
  iree_hal_buffer_ref_t ref = {0, buffer_slot, NULL, offset, length};
  return ref;
}
typedef struct iree_hal_buffer_ref_list_t {
  iree_host_size_t count;
  const iree_hal_buffer_ref_t* values;
} iree_hal_buffer_ref_list_t;
static inline iree_hal_buffer_ref_list_t iree_hal_buffer_ref_list_empty(void) {
  iree_hal_buffer_ref_list_t list = {0, NULL};
  return list;
}

// Names the allocation instead of a range of it, and its length instead of WHOLE_BUFFER. Indirect references stay as
// they are. Errors: OUT_OF_RANGE.
IREE_API_EXPORT iree_status_t iree_hal_buffer_ref_normalize(iree_hal_buffer_ref_t* buffer_ref);

// What a slot is in one execution.
typedef struct iree_hal_buffer_binding_t {
  iree_hal_buffer_t* buffer;
  iree_device_size_t offset;
  iree_device_size_t length;  // may be IREE_HAL_WHOLE_BUFFER
} iree_hal_buffer_binding_t;
// As iree_hal_buffer_ref_normalize.
IREE_API_EXPORT iree_status_t iree_hal_buffer_binding_normalize(iree_hal_buffer_binding_t* binding);
typedef struct iree_hal_buffer_binding_table_t {
  iree_host_size_t count;
  const iree_hal_buffer_binding_t* bindings;
} iree_hal_buffer_binding_table_t;
static inline iree_hal_buffer_binding_table_t iree_hal_buffer_binding_table_empty(void) {
  iree_hal_buffer_binding_table_t table = {0, NULL};
  return table;
}
static inline bool iree_hal_buffer_binding_table_is_empty(iree_hal_buffer_binding_table_t binding_table) {
  return binding_table.count == 0;
}
// `buffer_ref` with its slot replaced by the buffer that `binding_table` has there. Errors: OUT_OF_RANGE.
IREE_API_EXPORT iree_status_t iree_hal_buffer_binding_table_resolve_ref(iree_hal_buffer_binding_table_t binding_table,
                                                                        iree_hal_buffer_ref_t buffer_ref,
                                                                        iree_hal_buffer_ref_t* out_resolved_ref);

//===----------------------------------------------------------------------------------------------------------------===
// Barriers
//===----------------------------------------------------------------------------------------------------------------===

enum iree_hal_execution_stage_bits_t {
  IREE_HAL_EXECUTION_STAGE_COMMAND_ISSUE = 1u << 0,
  IREE_HAL_EXECUTION_STAGE_COMMAND_PROCESS = 1u << 1,
  IREE_HAL_EXECUTION_STAGE_DISPATCH = 1u << 2,
  IREE_HAL_EXECUTION_STAGE_TRANSFER = 1u << 3,
  IREE_HAL_EXECUTION_STAGE_COMMAND_RETIRE = 1u << 4,
  IREE_HAL_EXECUTION_STAGE_HOST = 1u << 5,
};
typedef uint32_t iree_hal_execution_stage_t;

enum iree_hal_execution_barrier_flag_bits_t {
  IREE_HAL_EXECUTION_BARRIER_FLAG_NONE = 0,
};
typedef uint64_t iree_hal_execution_barrier_flags_t;

enum iree_hal_access_scope_bits_t {
  IREE_HAL_ACCESS_SCOPE_INDIRECT_COMMAND_READ = 1u << 0,
  IREE_HAL_ACCESS_SCOPE_CONSTANT_READ = 1u << 1,
  IREE_HAL_ACCESS_SCOPE_DISPATCH_READ = 1u << 2,
  IREE_HAL_ACCESS_SCOPE_DISPATCH_WRITE = 1u << 3,
  IREE_HAL_ACCESS_SCOPE_TRANSFER_READ = 1u << 4,
  IREE_HAL_ACCESS_SCOPE_TRANSFER_WRITE = 1u << 5,
  IREE_HAL_ACCESS_SCOPE_HOST_READ = 1u << 6,
  IREE_HAL_ACCESS_SCOPE_HOST_WRITE = 1u << 7,
  IREE_HAL_ACCESS_SCOPE_MEMORY_READ = 1u << 8,
  IREE_HAL_ACCESS_SCOPE_MEMORY_WRITE = 1u << 9,
};
typedef uint32_t iree_hal_access_scope_t;

typedef struct iree_hal_memory_barrier_t {
  iree_hal_access_scope_t source_scope;
  iree_hal_access_scope_t target_scope;
} iree_hal_memory_barrier_t;
typedef struct iree_hal_buffer_barrier_t {
  iree_hal_access_scope_t source_scope;
  iree_hal_access_scope_t target_scope;
  iree_hal_buffer_ref_t buffer_ref;
} iree_hal_buffer_barrier_t;

//===----------------------------------------------------------------------------------------------------------------===
// Commands' options
//===----------------------------------------------------------------------------------------------------------------===

typedef uint64_t iree_hal_memory_advise_flags_t;
enum iree_hal_memory_advise_flag_bits_t { IREE_HAL_MEMORY_ADVISE_FLAG_NONE = 0 };
typedef uint64_t iree_hal_fill_flags_t;
enum iree_hal_fill_flag_bits_t { IREE_HAL_FILL_FLAG_NONE = 0 };
typedef uint64_t iree_hal_update_flags_t;
enum iree_hal_update_flag_bits_t { IREE_HAL_UPDATE_FLAG_NONE = 0 };
typedef uint64_t iree_hal_copy_flags_t;
enum iree_hal_copy_flag_bits_t { IREE_HAL_COPY_FLAG_NONE = 0 };

// Most bytes of one update.
#define IREE_HAL_COMMAND_BUFFER_MAX_UPDATE_SIZE ((iree_device_size_t)(64 * 1024))

// The grid of a dispatch.
typedef struct iree_hal_dispatch_config_t {
  uint32_t workgroup_size[3];                 // 0: the function's own
  uint32_t workgroup_count[3];                // x, y, z
  iree_hal_buffer_ref_t workgroup_count_ref;  // with *_INDIRECT_PARAMETERS: three uint32_t, 4-byte aligned
  uint32_t dynamic_workgroup_local_memory;    // scratch in bytes, on top of the function's own
} iree_hal_dispatch_config_t;
static inline iree_hal_dispatch_config_t iree_hal_make_static_dispatch_config(uint32_t workgroup_count_x,
                                                                              uint32_t workgroup_count_y,
                                                                              uint32_t workgroup_count_z) {
  iree_hal_dispatch_config_t config = {
      {0, 0, 0}, {workgroup_count_x, workgroup_count_y, workgroup_count_z}, {0, 0, NULL, 0, 0}, 0};
  return config;
}

typedef uint64_t iree_hal_dispatch_flags_t;
enum iree_hal_dispatch_flag_bits_t {
  IREE_HAL_DISPATCH_FLAG_NONE = 0,
  // The workgroup count is read from a buffer: when the dispatch runs, or at any time from submission on.
  IREE_HAL_DISPATCH_FLAG_DYNAMIC_INDIRECT_PARAMETERS = 1ull << 0,
  IREE_HAL_DISPATCH_FLAG_STATIC_INDIRECT_PARAMETERS = 1ull << 1,
  // `constants` are the kernel's arguments in its own layout, there are no bindings.
  IREE_HAL_DISPATCH_FLAG_CUSTOM_DIRECT_ARGUMENTS = 1ull << 2,
  IREE_HAL_DISPATCH_FLAG_DYNAMIC_INDIRECT_ARGUMENTS = 1ull << 3,
  IREE_HAL_DISPATCH_FLAG_STATIC_INDIRECT_ARGUMENTS = 1ull << 4,
  IREE_HAL_DISPATCH_FLAG_ALLOW_INLINE_EXECUTION = 1ull << 5,
  IREE_HAL_DISPATCH_FLAG_BORROW_RESOURCE_LIFETIMES = 1ull << 6,  // the caller keeps named objects alive
};
static inline bool iree_hal_dispatch_uses_indirect_parameters(iree_hal_dispatch_flags_t flags) {
  return iree_any_bit_set(
      flags, IREE_HAL_DISPATCH_FLAG_STATIC_INDIRECT_PARAMETERS | IREE_HAL_DISPATCH_FLAG_DYNAMIC_INDIRECT_PARAMETERS);
}
static inline bool iree_hal_dispatch_uses_indirect_arguments(iree_hal_dispatch_flags_t flags) {
  return iree_any_bit_set(
      flags, IREE_HAL_DISPATCH_FLAG_STATIC_INDIRECT_ARGUMENTS | IREE_HAL_DISPATCH_FLAG_DYNAMIC_INDIRECT_ARGUMENTS);
}
static inline bool iree_hal_dispatch_uses_custom_arguments(iree_hal_dispatch_flags_t flags) {
  return iree_any_bit_set(flags, IREE_HAL_DISPATCH_FLAG_CUSTOM_DIRECT_ARGUMENTS) ||
         iree_hal_dispatch_uses_indirect_arguments(flags);
}

//===----------------------------------------------------------------------------------------------------------------===
// Collectives
//===----------------------------------------------------------------------------------------------------------------===

// In what follows N is the number of ranks, n an element count.
enum iree_hal_collective_kind_e {
  IREE_HAL_COLLECTIVE_KIND_ALL_GATHER = 0u,  // recv (N x n) is what all ranks send (n each), by rank
  IREE_HAL_COLLECTIVE_KIND_ALL_REDUCE,       // recv is the reduction of what all ranks send
  IREE_HAL_COLLECTIVE_KIND_ALL_TO_ALL,       // recv is this rank's part of N of what each rank sends; not in place
  IREE_HAL_COLLECTIVE_KIND_BROADCAST,        // recv, of all but rank `param`, is what that rank sends
  IREE_HAL_COLLECTIVE_KIND_REDUCE,           // recv of rank `param` is the reduction of what all ranks send
  IREE_HAL_COLLECTIVE_KIND_REDUCE_SCATTER,   // recv (n) is this rank's part of the reduction of all sends (N x n)
  IREE_HAL_COLLECTIVE_KIND_SEND,             // to rank `param`, which receives
  IREE_HAL_COLLECTIVE_KIND_RECV,             // from rank `param`, which sends
  // To the rank in the low 16 bits of `param` and from that in the high ones, either 0xFFFF for nobody: then recv is
  // zeros.
  IREE_HAL_COLLECTIVE_KIND_SEND_RECV,
  IREE_HAL_COLLECTIVE_KIND_MAX_VALUE = IREE_HAL_COLLECTIVE_KIND_SEND_RECV,
};
typedef uint8_t iree_hal_collective_kind_t;

enum iree_hal_collective_reduction_e {
  IREE_HAL_COLLECTIVE_REDUCTION_NONE = 0,
  IREE_HAL_COLLECTIVE_REDUCTION_SUM = 1,
  IREE_HAL_COLLECTIVE_REDUCTION_PRODUCT,
  IREE_HAL_COLLECTIVE_REDUCTION_MINIMUM,
  IREE_HAL_COLLECTIVE_REDUCTION_MAXIMUM,
  IREE_HAL_COLLECTIVE_REDUCTION_AVERAGE,
  IREE_HAL_COLLECTIVE_REDUCTION_MAX_VALUE = IREE_HAL_COLLECTIVE_REDUCTION_AVERAGE,
};
typedef uint8_t iree_hal_collective_reduction_t;

enum iree_hal_collective_element_type_e {
  IREE_HAL_COLLECTIVE_ELEMENT_TYPE_SINT_8 = 0,
  IREE_HAL_COLLECTIVE_ELEMENT_TYPE_UINT_8,
  IREE_HAL_COLLECTIVE_ELEMENT_TYPE_SINT_16,
  IREE_HAL_COLLECTIVE_ELEMENT_TYPE_UINT_16,
  IREE_HAL_COLLECTIVE_ELEMENT_TYPE_SINT_32,
  IREE_HAL_COLLECTIVE_ELEMENT_TYPE_UINT_32,
  IREE_HAL_COLLECTIVE_ELEMENT_TYPE_SINT_64,
  IREE_HAL_COLLECTIVE_ELEMENT_TYPE_UINT_64,
  IREE_HAL_COLLECTIVE_ELEMENT_TYPE_FLOAT_16,
  IREE_HAL_COLLECTIVE_ELEMENT_TYPE_FLOAT_32,
  IREE_HAL_COLLECTIVE_ELEMENT_TYPE_FLOAT_64,
  IREE_HAL_COLLECTIVE_ELEMENT_TYPE_BFLOAT_16,
  IREE_HAL_COLLECTIVE_ELEMENT_TYPE_MAX_VALUE = IREE_HAL_COLLECTIVE_ELEMENT_TYPE_BFLOAT_16,
};
typedef uint8_t iree_hal_collective_element_type_t;

typedef union iree_hal_collective_op_t {
  uint32_t packed;
  struct {
    iree_hal_collective_kind_t kind;
    iree_hal_collective_reduction_t reduction;  // NONE unless the kind reduces
    iree_hal_collective_element_type_t element_type;
    uint8_t reserved;
  };
} iree_hal_collective_op_t;
// "all_reduce sum f32".
IREE_API_EXPORT iree_string_view_t iree_hal_collective_op_format(const iree_hal_collective_op_t* op,
                                                                 iree_bitfield_string_temp_t* out_temp);
// Bytes; 0 for a type that is none.
IREE_API_EXPORT iree_device_size_t
iree_hal_collective_element_byte_count(iree_hal_collective_element_type_t element_type);

typedef struct iree_hal_label_color_t {
  union {
    struct {
      uint8_t r, g, b, a;
    };
    uint32_t value;
  };
} iree_hal_label_color_t;
static inline iree_hal_label_color_t iree_hal_label_color_unspecified(void) {
  iree_hal_label_color_t color = {{{0, 0, 0, 0}}};
  return color;
}
typedef struct iree_hal_label_location_t {
  iree_string_view_t file;
  int line;
} iree_hal_label_location_t;

//===----------------------------------------------------------------------------------------------------------------===
// iree_hal_command_buffer_t
//===----------------------------------------------------------------------------------------------------------------===

// `binding_capacity` is how many slots indirect references may use.
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_create(iree_hal_device_t* device,
                                                             iree_hal_command_buffer_mode_t mode,
                                                             iree_hal_command_category_t command_categories,
                                                             iree_hal_queue_affinity_t queue_affinity,
                                                             iree_host_size_t binding_capacity,
                                                             iree_hal_command_buffer_t** out_command_buffer);
IREE_API_EXPORT void iree_hal_command_buffer_retain(iree_hal_command_buffer_t* command_buffer);
IREE_API_EXPORT void iree_hal_command_buffer_release(iree_hal_command_buffer_t* command_buffer);
IREE_API_EXPORT void iree_hal_command_buffer_destroy(iree_hal_command_buffer_t* command_buffer);
IREE_API_EXPORT iree_hal_command_buffer_mode_t
iree_hal_command_buffer_mode(const iree_hal_command_buffer_t* command_buffer);
IREE_API_EXPORT iree_hal_command_category_t
iree_hal_command_buffer_allowed_categories(const iree_hal_command_buffer_t* command_buffer);
IREE_API_EXPORT iree_hal_queue_affinity_t
iree_hal_command_buffer_queue_affinity(const iree_hal_command_buffer_t* command_buffer);

// Recording: begin, commands, end. Each command's errors (unless UNVALIDATED): FAILED_PRECONDITION outside begin/end,
// PERMISSION_DENIED for buffers whose usage or access does not allow it, OUT_OF_RANGE, INVALID_ARGUMENT.
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_begin(iree_hal_command_buffer_t* command_buffer);
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_end(iree_hal_command_buffer_t* command_buffer);

// Names a group of commands, for tools. `location` may be NULL.
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_begin_debug_group(iree_hal_command_buffer_t* command_buffer,
                                                                        iree_string_view_t label,
                                                                        iree_hal_label_color_t label_color,
                                                                        const iree_hal_label_location_t* location);
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_end_debug_group(iree_hal_command_buffer_t* command_buffer);

IREE_API_EXPORT iree_status_t iree_hal_command_buffer_execution_barrier(
    iree_hal_command_buffer_t* command_buffer, iree_hal_execution_stage_t source_stage_mask,
    iree_hal_execution_stage_t target_stage_mask, iree_hal_execution_barrier_flags_t flags,
    iree_host_size_t memory_barrier_count, const iree_hal_memory_barrier_t* memory_barriers,
    iree_host_size_t buffer_barrier_count, const iree_hal_buffer_barrier_t* buffer_barriers);
// Commands after a wait run after those before the signal.
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_signal_event(iree_hal_command_buffer_t* command_buffer,
                                                                   iree_hal_event_t* event,
                                                                   iree_hal_execution_stage_t source_stage_mask);
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_reset_event(iree_hal_command_buffer_t* command_buffer,
                                                                  iree_hal_event_t* event,
                                                                  iree_hal_execution_stage_t source_stage_mask);
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_wait_events(
    iree_hal_command_buffer_t* command_buffer, iree_host_size_t event_count, const iree_hal_event_t** events,
    iree_hal_execution_stage_t source_stage_mask, iree_hal_execution_stage_t target_stage_mask,
    iree_host_size_t memory_barrier_count, const iree_hal_memory_barrier_t* memory_barriers,
    iree_host_size_t buffer_barrier_count, const iree_hal_buffer_barrier_t* buffer_barriers);
// A hint.
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_advise_buffer(iree_hal_command_buffer_t* command_buffer,
                                                                    iree_hal_buffer_ref_t buffer_ref,
                                                                    iree_hal_memory_advise_flags_t flags, uint64_t arg0,
                                                                    uint64_t arg1);
// Repeats a pattern of 1, 2, 4, 8 or 16 bytes, copied now; offset and length are multiples of its size.
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_fill_buffer(iree_hal_command_buffer_t* command_buffer,
                                                                  iree_hal_buffer_ref_t target_ref, const void* pattern,
                                                                  iree_host_size_t pattern_length,
                                                                  iree_hal_fill_flags_t flags);
// Writes target_ref.length bytes from `source_buffer` + `source_offset`, copied now; at most MAX_UPDATE_SIZE.
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_update_buffer(iree_hal_command_buffer_t* command_buffer,
                                                                    const void* source_buffer,
                                                                    iree_host_size_t source_offset,
                                                                    iree_hal_buffer_ref_t target_ref,
                                                                    iree_hal_update_flags_t flags);
// Copies target_ref.length bytes; the ranges must not overlap.
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_copy_buffer(iree_hal_command_buffer_t* command_buffer,
                                                                  iree_hal_buffer_ref_t source_ref,
                                                                  iree_hal_buffer_ref_t target_ref,
                                                                  iree_hal_copy_flags_t flags);
// Runs a function over a grid. `constants` (32-bit words) and `bindings` are copied now.
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_dispatch(
    iree_hal_command_buffer_t* command_buffer, iree_hal_executable_t* executable,
    iree_hal_executable_function_t function, const iree_hal_dispatch_config_t config, iree_const_byte_span_t constants,
    const iree_hal_buffer_ref_list_t bindings, iree_hal_dispatch_flags_t flags);

// Takes part in a collective of the channel's group, in which every rank records the same in the same order on that
// channel. Ranges may be longer than what is needed; those that this rank does not use may be empty. `send_ref` and
// `recv_ref` may be the same memory where a result replaces what it is made of: all of it, or this rank's part of the
// longer one. Collectives with no barrier or other command between them start together. Errors: INVALID_ARGUMENT,
// OUT_OF_RANGE, UNIMPLEMENTED for devices without; of the execution: INVALID_ARGUMENT when ranks do not agree, ABORTED
// when one has left, the failure of another rank's submission, PERMISSION_DENIED when the host does the work and does
// not see a buffer.
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_collective(
    iree_hal_command_buffer_t* command_buffer, iree_hal_channel_t* channel, iree_hal_collective_op_t op, uint32_t param,
    iree_hal_buffer_ref_t send_ref, iree_hal_buffer_ref_t recv_ref, iree_device_size_t element_count);

// Revision: other numbers in a finished REVISABLE command buffer, without memory for them. Between begin_revision and
// end each recorded command, in order, is either kept or given again: of the same kind, with the same function, flags,
// objects, and as many constants, bindings and bytes of data. Barriers stay where they are. Possible while nothing
// executes the command buffer and the caller has the only reference. What fails in between leaves a command buffer that
// can only be released. Errors: FAILED_PRECONDITION, INVALID_ARGUMENT for commands that are not alike.
IREE_API_EXPORT bool iree_hal_command_buffer_can_revise(const iree_hal_command_buffer_t* command_buffer);
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_begin_revision(iree_hal_command_buffer_t* command_buffer);
// Keeps the next `count` commands.
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_keep(iree_hal_command_buffer_t* command_buffer,
                                                           iree_host_size_t count);

// Checks a table against what was recorded: enough slots, buffers present, usage, access and ranges. Devices call it on
// submission of validated command buffers.
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_validate_submission(
    iree_hal_command_buffer_t* command_buffer, iree_hal_buffer_binding_table_t binding_table);

//===----------------------------------------------------------------------------------------------------------------===
// Command buffers made of transfers
//===----------------------------------------------------------------------------------------------------------------===

typedef enum iree_hal_transfer_command_type_t {
  IREE_HAL_TRANSFER_COMMAND_TYPE_FILL = 0u,
  IREE_HAL_TRANSFER_COMMAND_TYPE_UPDATE = 1u,
  IREE_HAL_TRANSFER_COMMAND_TYPE_COPY = 2u,
} iree_hal_transfer_command_type_t;
typedef struct iree_hal_transfer_command_t {
  iree_hal_transfer_command_type_t type;
  union {
    struct {
      iree_hal_buffer_t* target_buffer;
      iree_device_size_t target_offset;
      iree_device_size_t length;
      const void* pattern;
      iree_host_size_t pattern_length;
    } fill;
    struct {
      const void* source_buffer;
      iree_host_size_t source_offset;
      iree_hal_buffer_t* target_buffer;
      iree_device_size_t target_offset;
      iree_device_size_t length;
    } update;
    struct {
      iree_hal_buffer_t* source_buffer;
      iree_device_size_t source_offset;
      iree_hal_buffer_t* target_buffer;
      iree_device_size_t target_offset;
      iree_device_size_t length;
    } copy;
  };
} iree_hal_transfer_command_t;
// A finished command buffer with these transfers, unordered among themselves. Long updates are split.
IREE_API_EXPORT iree_status_t iree_hal_create_transfer_command_buffer(
    iree_hal_device_t* device, iree_hal_command_buffer_mode_t mode, iree_hal_queue_affinity_t queue_affinity,
    iree_host_size_t transfer_count, const iree_hal_transfer_command_t* transfer_commands,
    iree_hal_command_buffer_t** out_command_buffer);

//===----------------------------------------------------------------------------------------------------------------===
// For drivers. The public functions above validate and then call these; references arrive with absolute lengths only
// when they are direct. begin, the debug groups and advise_buffer may be NULL: then there is nothing to do; collective,
// begin_revision and keep may be NULL where there are none.
//===----------------------------------------------------------------------------------------------------------------===

typedef struct iree_hal_command_buffer_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_command_buffer_t* command_buffer);
  iree_status_t(IREE_API_PTR* begin)(iree_hal_command_buffer_t* command_buffer);
  iree_status_t(IREE_API_PTR* end)(iree_hal_command_buffer_t* command_buffer);
  iree_status_t(IREE_API_PTR* begin_debug_group)(iree_hal_command_buffer_t* command_buffer, iree_string_view_t label,
                                                 iree_hal_label_color_t label_color,
                                                 const iree_hal_label_location_t* location);
  iree_status_t(IREE_API_PTR* end_debug_group)(iree_hal_command_buffer_t* command_buffer);
  // Barriers and event waits alike.
  iree_status_t(IREE_API_PTR* barrier)(iree_hal_command_buffer_t* command_buffer,
                                       iree_hal_execution_stage_t source_stage_mask,
                                       iree_hal_execution_stage_t target_stage_mask);
  iree_status_t(IREE_API_PTR* advise_buffer)(iree_hal_command_buffer_t* command_buffer,
                                             iree_hal_buffer_ref_t buffer_ref, iree_hal_memory_advise_flags_t flags,
                                             uint64_t arg0, uint64_t arg1);
  iree_status_t(IREE_API_PTR* fill_buffer)(iree_hal_command_buffer_t* command_buffer, iree_hal_buffer_ref_t target_ref,
                                           const void* pattern, iree_host_size_t pattern_length,
                                           iree_hal_fill_flags_t flags);
  iree_status_t(IREE_API_PTR* update_buffer)(iree_hal_command_buffer_t* command_buffer, const void* source_buffer,
                                             iree_host_size_t source_offset, iree_hal_buffer_ref_t target_ref,
                                             iree_hal_update_flags_t flags);
  iree_status_t(IREE_API_PTR* copy_buffer)(iree_hal_command_buffer_t* command_buffer, iree_hal_buffer_ref_t source_ref,
                                           iree_hal_buffer_ref_t target_ref, iree_hal_copy_flags_t flags);
  iree_status_t(IREE_API_PTR* dispatch)(iree_hal_command_buffer_t* command_buffer, iree_hal_executable_t* executable,
                                        iree_hal_executable_function_t function,
                                        const iree_hal_dispatch_config_t* config, iree_const_byte_span_t constants,
                                        iree_hal_buffer_ref_list_t bindings, iree_hal_dispatch_flags_t flags);
  // References that this rank does not use have no buffer and length 0.
  iree_status_t(IREE_API_PTR* collective)(iree_hal_command_buffer_t* command_buffer, iree_hal_channel_t* channel,
                                          iree_hal_collective_op_t op, uint32_t param, iree_hal_buffer_ref_t send_ref,
                                          iree_hal_buffer_ref_t recv_ref, iree_device_size_t element_count);
  // The slots' lengths are zero then; `keep` sets what kept commands need.
  iree_status_t(IREE_API_PTR* begin_revision)(iree_hal_command_buffer_t* command_buffer);
  iree_status_t(IREE_API_PTR* keep)(iree_hal_command_buffer_t* command_buffer, iree_host_size_t count);
} iree_hal_command_buffer_vtable_t;

// What validation knows of a slot: what the commands that use it need.
typedef struct iree_hal_command_buffer_slot_t {
  iree_hal_buffer_usage_t usage;
  iree_hal_memory_access_t access;
  bool is_used;
  iree_device_size_t min_length;  // bytes
} iree_hal_command_buffer_slot_t;

struct iree_hal_command_buffer_t {
  iree_hal_resource_t resource;
  iree_hal_command_buffer_mode_t mode;
  iree_hal_command_category_t allowed_categories;
  iree_hal_queue_affinity_t queue_affinity;
  uint32_t binding_capacity;
  uint32_t binding_count;  // slots used: highest + 1
  enum { IREE_HAL_RECORDING_NEW, IREE_HAL_RECORDING_OPEN, IREE_HAL_RECORDING_DONE } recording;
  uint32_t debug_group_depth;
  iree_hal_command_buffer_slot_t* slots;  // binding_capacity of them; NULL when UNVALIDATED
};

// `slots` is storage of the driver's for binding_capacity entries (NULL when UNVALIDATED).
IREE_API_EXPORT void iree_hal_command_buffer_initialize(
    iree_hal_command_buffer_mode_t mode, iree_hal_command_category_t command_categories,
    iree_hal_queue_affinity_t queue_affinity, iree_host_size_t binding_capacity, iree_hal_command_buffer_slot_t* slots,
    const iree_hal_command_buffer_vtable_t* vtable, iree_hal_command_buffer_t* command_buffer);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_COMMAND_BUFFER_H_
