// The call stack of one invocation: frames of bytecode and native functions, with their storage. Frames do not move.
// Not thread safe.

#ifndef IREE_VM_STACK_H_
#define IREE_VM_STACK_H_

#include <stddef.h>
#include <stdint.h>

#include "iree/base/api.h"
#include "iree/vm/module.h"
#include "iree/vm/ref.h"

#ifdef __cplusplus
extern "C" {
#endif  // __cplusplus

#define IREE_VM_STACK_DEFAULT_SIZE (8 * 1024)
#define IREE_VM_STACK_MIN_SIZE (1 * 1024)
// Deeper recursion fails with RESOURCE_EXHAUSTED: frames together, and those above 32 KiB.
#define IREE_VM_STACK_MAX_SIZE (1 * 1024 * 1024)
#define IREE_VM_STACK_MAX_LARGE_SIZE (64 * 1024 * 1024)

enum iree_vm_invocation_flag_bits_t {
  IREE_VM_INVOCATION_FLAG_NONE = 0u,
  IREE_VM_INVOCATION_FLAG_TRACE_EXECUTION = 1u << 0,  // prints each instruction to stderr
  IREE_VM_INVOCATION_FLAG_TRACE_INLINE = 1u << 1,
};
typedef uint32_t iree_vm_invocation_flags_t;

typedef enum iree_vm_stack_frame_type_e {
  IREE_VM_STACK_FRAME_EXTERNAL = 0,
  IREE_VM_STACK_FRAME_NATIVE = 1,
  IREE_VM_STACK_FRAME_BYTECODE = 2,
  IREE_VM_STACK_FRAME_WAIT = 3,
} iree_vm_stack_frame_type_t;

// What a call that has stopped waits for, on top of its stack. Whoever runs the call fills wait_status in and resumes
// it.
enum iree_vm_wait_type_e {
  IREE_VM_WAIT_UNTIL,  // the deadline
  IREE_VM_WAIT_ANY,    // one or more sources
  IREE_VM_WAIT_ALL,    // all sources
};
typedef uint8_t iree_vm_wait_type_t;

typedef struct iree_vm_wait_frame_t {
  iree_vm_wait_type_t wait_type;
  iree_status_t wait_status;  // owned by the frame
  iree_time_t deadline_ns;
  iree_host_size_t count;
  iree_wait_source_t wait_sources[];
} iree_vm_wait_frame_t;

typedef struct iree_vm_wait_result_t {
  iree_status_t status;
} iree_vm_wait_result_t;

// Frame storage follows the struct.
struct iree_vm_stack_frame_t {
  iree_vm_stack_frame_type_t type;
  iree_vm_function_t function;
  iree_vm_module_state_t* module_state;
  iree_vm_source_offset_t pc;
  int32_t depth;
};

static inline void* iree_vm_stack_frame_storage(iree_vm_stack_frame_t* frame) { return frame + 1; }

// Releases what a frame's storage holds; called when the frame is left or unwound.
typedef void(IREE_API_PTR* iree_vm_stack_frame_cleanup_fn_t)(iree_vm_stack_frame_t* frame);

// Finds module states for frames.
typedef struct iree_vm_state_resolver_t {
  void* self;
  iree_status_t(IREE_API_PTR* query_module_state)(void* state_resolver, iree_vm_module_t* module,
                                                  iree_vm_module_state_t** out_module_state);
} iree_vm_state_resolver_t;

typedef struct iree_vm_stack_t iree_vm_stack_t;

#define IREE_VM_INLINE_STACK_INITIALIZE(stack, flags, state_resolver, allocator)                                       \
  iree_alignas(16) uint8_t stack##_storage_[IREE_VM_STACK_DEFAULT_SIZE];                                               \
  iree_vm_stack_t* stack = NULL;                                                                                       \
  IREE_IGNORE_ERROR(iree_vm_stack_initialize(iree_make_byte_span(stack##_storage_, sizeof(stack##_storage_)), (flags), \
                                             (state_resolver), (allocator), &stack));

// A stack in the caller's storage (at least IREE_VM_STACK_MIN_SIZE) that grows through `allocator`.
IREE_API_EXPORT iree_status_t iree_vm_stack_initialize(iree_byte_span_t storage, iree_vm_invocation_flags_t flags,
                                                       iree_vm_state_resolver_t state_resolver,
                                                       iree_allocator_t allocator, iree_vm_stack_t** out_stack);
// Leaves all frames, newest first.
IREE_API_EXPORT void iree_vm_stack_reset(iree_vm_stack_t* stack);
IREE_API_EXPORT void iree_vm_stack_deinitialize(iree_vm_stack_t* stack);
IREE_API_EXPORT iree_status_t iree_vm_stack_allocate(iree_vm_invocation_flags_t flags,
                                                     iree_vm_state_resolver_t state_resolver,
                                                     iree_allocator_t allocator, iree_vm_stack_t** out_stack);
IREE_API_EXPORT void iree_vm_stack_free(iree_vm_stack_t* stack);
IREE_API_EXPORT iree_allocator_t iree_vm_stack_allocator(const iree_vm_stack_t* stack);
// What the invocation works from (not retained); NULL: nothing counts. Not part of IREE's API.
IREE_API_EXPORT void iree_vm_stack_set_budget(iree_vm_stack_t* stack, iree_budget_t* budget);
IREE_API_EXPORT iree_budget_t* iree_vm_stack_budget(const iree_vm_stack_t* stack);
IREE_API_EXPORT iree_vm_invocation_flags_t iree_vm_stack_invocation_flags(const iree_vm_stack_t* stack);

// The newest frame of a function, the newest frame, and the one below that; NULL when there is none.
IREE_API_EXPORT iree_vm_stack_frame_t* iree_vm_stack_top(iree_vm_stack_t* stack);
IREE_API_EXPORT iree_vm_stack_frame_t* iree_vm_stack_current_frame(iree_vm_stack_t* stack);
IREE_API_EXPORT iree_vm_stack_frame_t* iree_vm_stack_parent_frame(iree_vm_stack_t* stack);

IREE_API_EXPORT iree_status_t iree_vm_stack_query_module_state(iree_vm_stack_t* stack, iree_vm_module_t* module,
                                                               iree_vm_module_state_t** out_module_state);

// Pushes a wait frame for up to `wait_count` sources, which the caller fills in (with `count`) before it returns
// DEFERRED to its own caller. It must then be a function that can be resumed: one that goes on by its frame's `pc`.
// With IREE_VM_WAIT_UNTIL `timeout` is what is waited for, else the longest wait. `trace_zone` is not used.
IREE_API_EXPORT iree_status_t iree_vm_stack_wait_enter(iree_vm_stack_t* stack, iree_vm_wait_type_t wait_type,
                                                       iree_host_size_t wait_count, iree_timeout_t timeout,
                                                       iree_zone_id_t trace_zone,
                                                       iree_vm_wait_frame_t** out_wait_frame);
// Pops it when the function is resumed; the caller owns the outcome. Errors: FAILED_PRECONDITION when there is none.
IREE_API_EXPORT iree_status_t iree_vm_stack_wait_leave(iree_vm_stack_t* stack, iree_vm_wait_result_t* out_wait_result);

// Pushes a frame with `frame_size` bytes of uninitialized storage, and pops it.
IREE_API_EXPORT iree_status_t iree_vm_stack_function_enter(iree_vm_stack_t* stack, const iree_vm_function_t* function,
                                                           iree_vm_stack_frame_type_t frame_type,
                                                           iree_host_size_t frame_size,
                                                           iree_vm_stack_frame_cleanup_fn_t frame_cleanup_fn,
                                                           iree_vm_stack_frame_t** out_callee_frame);
IREE_API_EXPORT iree_status_t iree_vm_stack_function_leave(iree_vm_stack_t* stack);

// Zones of traces that a fiber leaves and comes back to. Traces are empty here: nothing happens.
IREE_API_EXPORT void iree_vm_stack_suspend_trace_zones(iree_vm_stack_t* stack);
IREE_API_EXPORT void iree_vm_stack_resume_trace_zones(iree_vm_stack_t* stack);
// The frames as text, newest first, one a line: "[ 1] bytecode module.main:42 model.mlir:3:8".
IREE_API_EXPORT iree_status_t iree_vm_stack_format_backtrace(iree_vm_stack_t* stack, iree_string_builder_t* builder);
// Adds the backtrace to a failure.
IREE_API_EXPORT IREE_MUST_USE_RESULT iree_status_t iree_vm_stack_annotate_backtrace(iree_vm_stack_t* stack,
                                                                                    iree_status_t base_status);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  // IREE_VM_STACK_H_
