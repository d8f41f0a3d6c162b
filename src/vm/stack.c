// The stack: frames bump-allocated in chunks; the first chunk is the caller's storage, further ones are kept until the
// stack goes so that deep calls in a loop allocate once.

#include "iree/vm/stack.h"

#include "vm/wait.h"

typedef struct chunk_t {
  struct chunk_t* previous;
  uint8_t* end;
} chunk_t;

enum { CHUNK_SIZE = 4 * IREE_VM_STACK_DEFAULT_SIZE };  // unless a frame needs more

// What precedes a frame.
typedef struct link_t {
  struct link_t* parent;
  iree_vm_stack_frame_cleanup_fn_t cleanup;
  uint8_t* head;   // of the stack before this frame
  chunk_t* chunk;  // of the stack before this frame
  iree_vm_stack_frame_t frame;
} link_t;
static_assert(offsetof(link_t, frame) % 16 == 0 && sizeof(link_t) % 16 == 0, "frame storage is aligned to 16");

struct iree_vm_stack_t {
  iree_vm_invocation_flags_t flags;
  bool yields;
  iree_vm_state_resolver_t resolver;
  iree_allocator_t allocator;
  iree_allocator_t self_allocator;  // null: in the caller's storage
  iree_budget_t* budget;
  link_t* top;
  uint8_t* head;  // next free byte
  chunk_t* chunk;
  chunk_t* spare;                // unused chunk
  iree_host_size_t total;        // bytes of chunks
  iree_host_size_t large_total;  // of those that hold one large frame
  chunk_t first;
};

iree_status_t iree_vm_stack_initialize(iree_byte_span_t storage, iree_vm_invocation_flags_t flags,
                                       iree_vm_state_resolver_t state_resolver, iree_allocator_t allocator,
                                       iree_vm_stack_t** out_stack) {
  *out_stack = NULL;
  if (storage.data_length < IREE_VM_STACK_MIN_SIZE) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "stack storage of %zu bytes is below %d", storage.data_length,
                            IREE_VM_STACK_MIN_SIZE);
  }
  iree_vm_stack_t* stack = (iree_vm_stack_t*)iree_host_align((uintptr_t)storage.data, 16);
  memset(stack, 0, sizeof(*stack));
  stack->flags = flags;
  stack->resolver = state_resolver;
  stack->allocator = allocator;
  stack->self_allocator = iree_allocator_null();
  stack->head = (uint8_t*)iree_host_align((uintptr_t)(stack + 1), 16);
  stack->first.end = storage.data + storage.data_length;
  stack->chunk = &stack->first;
  *out_stack = stack;
  return iree_ok_status();
}

void iree_vm_stack_reset(iree_vm_stack_t* stack) {
  while (stack->top) IREE_IGNORE_ERROR(iree_vm_stack_function_leave(stack));
}

void iree_vm_stack_deinitialize(iree_vm_stack_t* stack) {
  iree_vm_stack_reset(stack);
  iree_allocator_free(stack->allocator, stack->spare);
}

iree_status_t iree_vm_stack_allocate(iree_vm_invocation_flags_t flags, iree_vm_state_resolver_t state_resolver,
                                     iree_allocator_t allocator, iree_vm_stack_t** out_stack) {
  *out_stack = NULL;
  void* storage = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_uninitialized(allocator, IREE_VM_STACK_DEFAULT_SIZE, &storage));
  iree_status_t status = iree_vm_stack_initialize(iree_make_byte_span(storage, IREE_VM_STACK_DEFAULT_SIZE), flags,
                                                  state_resolver, allocator, out_stack);
  if (iree_status_is_ok(status)) {
    (*out_stack)->self_allocator = allocator;
  } else {
    iree_allocator_free(allocator, storage);
  }
  return status;
}

void iree_vm_stack_free(iree_vm_stack_t* stack) {
  if (!stack) return;
  iree_allocator_t allocator = stack->self_allocator;
  iree_vm_stack_deinitialize(stack);
  if (!iree_allocator_is_null(allocator)) iree_allocator_free(allocator, stack);
}

iree_allocator_t iree_vm_stack_allocator(const iree_vm_stack_t* stack) { return stack->allocator; }
iree_vm_invocation_flags_t iree_vm_stack_invocation_flags(const iree_vm_stack_t* stack) { return stack->flags; }

void iree_vm_stack_set_budget(iree_vm_stack_t* stack, iree_budget_t* budget) { stack->budget = budget; }
void iree_vm_stack_suspend_trace_zones(iree_vm_stack_t* stack) {}
void iree_vm_stack_resume_trace_zones(iree_vm_stack_t* stack) {}
iree_budget_t* iree_vm_stack_budget(const iree_vm_stack_t* stack) { return stack->budget; }

void vm_stack_set_yields(iree_vm_stack_t* stack, bool yields) { stack->yields = yields; }
bool vm_stack_yields(const iree_vm_stack_t* stack) { return stack->yields; }

iree_vm_stack_frame_t* iree_vm_stack_top(iree_vm_stack_t* stack) {
  link_t* link = stack->top;
  while (link && link->frame.type == IREE_VM_STACK_FRAME_WAIT) link = link->parent;
  return link ? &link->frame : NULL;
}
iree_vm_stack_frame_t* iree_vm_stack_current_frame(iree_vm_stack_t* stack) {
  return stack->top ? &stack->top->frame : NULL;
}
iree_vm_stack_frame_t* iree_vm_stack_parent_frame(iree_vm_stack_t* stack) {
  return stack->top && stack->top->parent ? &stack->top->parent->frame : NULL;
}

iree_status_t iree_vm_stack_query_module_state(iree_vm_stack_t* stack, iree_vm_module_t* module,
                                               iree_vm_module_state_t** out_module_state) {
  return stack->resolver.query_module_state(stack->resolver.self, module, out_module_state);
}

static iree_host_size_t chunk_size(const chunk_t* chunk) { return (iree_host_size_t)(chunk->end - (uint8_t*)chunk); }

// Functions of many thousand registers have frames of their own size, which say nothing of how deep calls nest.
static iree_host_size_t* total_of(iree_vm_stack_t* stack, iree_host_size_t size) {
  return size > CHUNK_SIZE ? &stack->large_total : &stack->total;
}

static iree_status_t check_limit(iree_vm_stack_t* stack, iree_host_size_t size) {
  iree_host_size_t limit = size > CHUNK_SIZE ? IREE_VM_STACK_MAX_LARGE_SIZE : IREE_VM_STACK_MAX_SIZE;
  iree_host_size_t total = *total_of(stack, size);
  // A single frame may be of any size: its function has as many registers.
  if (!total || (total <= limit && size <= limit - total)) return iree_ok_status();
  return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "stack overflow: calls nest too deeply (%zu bytes)", limit);
}

// Makes a chunk with room for `size` bytes the current one.
static iree_status_t add_chunk(iree_vm_stack_t* stack, iree_host_size_t size) {
  iree_host_size_t needed = sizeof(chunk_t) + 16 + size;
  chunk_t* chunk = stack->spare;
  if (chunk && chunk_size(chunk) >= needed) {
    stack->spare = NULL;
  } else {
    needed = iree_max(needed, (iree_host_size_t)CHUNK_SIZE);
    IREE_RETURN_IF_ERROR(check_limit(stack, needed));
    IREE_RETURN_IF_ERROR(iree_allocator_malloc_uninitialized(stack->allocator, needed, (void**)&chunk));
    chunk->end = (uint8_t*)chunk + needed;
  }
  chunk->previous = stack->chunk;
  *total_of(stack, chunk_size(chunk)) += chunk_size(chunk);
  stack->chunk = chunk;
  stack->head = (uint8_t*)iree_host_align((uintptr_t)(chunk + 1), 16);
  return iree_ok_status();
}

static void drop_chunk(iree_vm_stack_t* stack) {
  chunk_t* chunk = stack->chunk;
  *total_of(stack, chunk_size(chunk)) -= chunk_size(chunk);
  stack->chunk = chunk->previous;
  iree_allocator_free(stack->allocator, stack->spare);
  stack->spare = chunk;
}

// The state of the caller's module is at hand in its frame.
static iree_status_t find_state(iree_vm_stack_t* stack, iree_vm_module_t* module,
                                iree_vm_module_state_t** out_module_state) {
  if (stack->top && stack->top->frame.function.module == module) {
    *out_module_state = stack->top->frame.module_state;
    return iree_ok_status();
  }
  *out_module_state = NULL;
  return module ? iree_vm_stack_query_module_state(stack, module, out_module_state) : iree_ok_status();
}

iree_status_t iree_vm_stack_function_enter(iree_vm_stack_t* stack, const iree_vm_function_t* function,
                                           iree_vm_stack_frame_type_t frame_type, iree_host_size_t frame_size,
                                           iree_vm_stack_frame_cleanup_fn_t frame_cleanup_fn,
                                           iree_vm_stack_frame_t** out_callee_frame) {
  iree_vm_module_state_t* state = NULL;
  IREE_RETURN_IF_ERROR(find_state(stack, function->module, &state));
  uint8_t* head = stack->head;
  chunk_t* chunk = stack->chunk;
  iree_host_size_t size = sizeof(link_t) + iree_host_align(frame_size, 16);
  if (size > (iree_host_size_t)(chunk->end - head)) IREE_RETURN_IF_ERROR(add_chunk(stack, size));
  link_t* link = (link_t*)stack->head;
  stack->head += size;
  *link = (link_t){.parent = stack->top, .cleanup = frame_cleanup_fn, .head = head, .chunk = chunk};
  link->frame = (iree_vm_stack_frame_t){
      .type = frame_type,
      .function = *function,
      .module_state = state,
      .depth = stack->top ? stack->top->frame.depth + 1 : 0,
  };
  stack->top = link;
  *out_callee_frame = &link->frame;
  return iree_ok_status();
}

iree_status_t iree_vm_stack_function_leave(iree_vm_stack_t* stack) {
  link_t* link = stack->top;
  if (!link) return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "the stack is empty");
  if (link->cleanup) link->cleanup(&link->frame);
  uint8_t* head = link->head;
  chunk_t* chunk = link->chunk;
  stack->top = link->parent;
  if (stack->chunk != chunk) drop_chunk(stack);
  stack->head = head;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Waits
//===----------------------------------------------------------------------------------------------------------------===

static void drop_wait(iree_vm_stack_frame_t* frame) {
  iree_status_ignore(((iree_vm_wait_frame_t*)iree_vm_stack_frame_storage(frame))->wait_status);
}

iree_status_t iree_vm_stack_wait_enter(iree_vm_stack_t* stack, iree_vm_wait_type_t wait_type,
                                       iree_host_size_t wait_count, iree_timeout_t timeout, iree_zone_id_t trace_zone,
                                       iree_vm_wait_frame_t** out_wait_frame) {
  *out_wait_frame = NULL;
  iree_host_size_t size = 0;
  if (!iree_host_size_checked_mul_add(sizeof(iree_vm_wait_frame_t), wait_count, sizeof(iree_wait_source_t), &size)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "a wait for %" PRIhsz " sources", wait_count);
  }
  const iree_vm_function_t nothing = {0};
  iree_vm_stack_frame_t* frame = NULL;
  IREE_RETURN_IF_ERROR(
      iree_vm_stack_function_enter(stack, &nothing, IREE_VM_STACK_FRAME_WAIT, size, drop_wait, &frame));
  iree_vm_wait_frame_t* wait = iree_vm_stack_frame_storage(frame);
  memset(wait, 0, size);
  wait->wait_type = wait_type;
  wait->deadline_ns = iree_timeout_as_deadline_ns(timeout);
  *out_wait_frame = wait;
  return iree_ok_status();
}

iree_status_t iree_vm_stack_wait_leave(iree_vm_stack_t* stack, iree_vm_wait_result_t* out_wait_result) {
  iree_vm_wait_frame_t* wait = vm_wait_frame(stack);
  if (!wait) return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "the call is not waiting");
  out_wait_result->status = wait->wait_status;
  wait->wait_status = iree_ok_status();
  return iree_vm_stack_function_leave(stack);
}

//===----------------------------------------------------------------------------------------------------------------===
// Backtraces
//===----------------------------------------------------------------------------------------------------------------===

static const char* frame_type_name(iree_vm_stack_frame_type_t type) {
  switch (type) {
    case IREE_VM_STACK_FRAME_NATIVE:
      return "native";
    case IREE_VM_STACK_FRAME_BYTECODE:
      return "bytecode";
    default:
      return "external";
  }
}

static iree_status_t format_frame(const iree_vm_stack_frame_t* frame, iree_string_builder_t* builder) {
  iree_string_view_t module = frame->function.module ? iree_vm_module_name(frame->function.module) : IREE_SV("?");
  iree_string_view_t name = iree_vm_function_name(&frame->function);
  IREE_RETURN_IF_ERROR(iree_string_builder_append_format(builder, "\n[%2d] %s %.*s", frame->depth,
                                                         frame_type_name(frame->type), (int)module.size, module.data));
  if (name.size) {
    IREE_RETURN_IF_ERROR(iree_string_builder_append_format(builder, ".%.*s", (int)name.size, name.data));
  } else {
    IREE_RETURN_IF_ERROR(iree_string_builder_append_format(builder, "@%u", frame->function.ordinal));
  }
  if (frame->type == IREE_VM_STACK_FRAME_BYTECODE) {
    IREE_RETURN_IF_ERROR(iree_string_builder_append_format(builder, ":%" PRId64, frame->pc));
  }
  IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(builder, " "));
  iree_vm_source_location_t location;
  iree_status_t status = frame->function.module ? iree_vm_module_resolve_source_location(
                                                      frame->function.module, frame->function, frame->pc, &location)
                                                : iree_status_from_code(IREE_STATUS_UNAVAILABLE);
  if (iree_status_is_ok(status)) {
    status = iree_vm_source_location_format(&location, IREE_VM_SOURCE_LOCATION_FORMAT_FLAG_SINGLE_LINE, builder);
  }
  if (iree_status_is_ok(status)) return status;
  iree_status_ignore(status);
  return iree_string_builder_append_cstring(builder, "-");
}

iree_status_t iree_vm_stack_format_backtrace(iree_vm_stack_t* stack, iree_string_builder_t* builder) {
  for (link_t* link = stack->top; link; link = link->parent) {
    if (link->frame.type == IREE_VM_STACK_FRAME_EXTERNAL || link->frame.type == IREE_VM_STACK_FRAME_WAIT) continue;
    IREE_RETURN_IF_ERROR(format_frame(&link->frame, builder));
  }
  return iree_ok_status();
}

iree_status_t iree_vm_stack_annotate_backtrace(iree_vm_stack_t* stack, iree_status_t base_status) {
  iree_string_builder_t builder;
  iree_string_builder_initialize(stack->allocator, &builder);
  iree_status_t status = iree_vm_stack_format_backtrace(stack, &builder);
  if (iree_status_is_ok(status) && iree_string_builder_size(&builder)) {
    base_status = iree_status_annotate_f(base_status, "%s", iree_string_builder_buffer(&builder));
  }
  iree_status_ignore(status);
  iree_string_builder_deinitialize(&builder);
  return base_status;
}
