// See iree/base/loop_sync.h. Pending operations are looked at in order; while none can be called, the thread waits for
// the first that waits for one source.
#include "iree/base/loop_sync.h"

#include "base/loop_queue.h"

enum { DEFAULT_LIMIT = 1024, PIECE_NS = 1000 * 1000 };

struct iree_loop_sync_t {
  loop_queue_t queue;
  iree_loop_sync_options_t options;
  iree_host_size_t call_count, wait_count;  // pending
};

iree_status_t iree_loop_sync_allocate(iree_loop_sync_options_t options, iree_allocator_t allocator,
                                      iree_loop_sync_t** out_loop_sync) {
  *out_loop_sync = NULL;
  iree_loop_sync_t* loop_sync = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, sizeof(*loop_sync), (void**)&loop_sync));
  loop_sync->queue.allocator = allocator;
  loop_sync->options = options;
  if (!options.max_queue_depth) loop_sync->options.max_queue_depth = DEFAULT_LIMIT;
  if (!options.max_wait_count) loop_sync->options.max_wait_count = DEFAULT_LIMIT;
  *out_loop_sync = loop_sync;
  return iree_ok_status();
}

// Takes the operation behind `previous` (NULL: the first) out of the queue and calls it.
static void finish(iree_loop_sync_t* loop_sync, loop_op_t* previous, loop_op_t* op, iree_status_t status) {
  iree_loop_sync_scope_t* scope = op->owner;
  loop_queue_t* queue = &loop_sync->queue;
  if (previous) {
    previous->next = op->next;
  } else {
    queue->head = op->next;
  }
  if (queue->tail == op) queue->tail = previous;
  --*(op->command == IREE_LOOP_COMMAND_CALL ? &loop_sync->call_count : &loop_sync->wait_count);
  --scope->pending_count;
  status = loop_op_finish(queue, op, iree_loop_sync_scope(scope), status);
  if (iree_status_is_ok(status)) return;
  scope->is_aborted = true;
  if (scope->error_fn) {
    scope->error_fn(scope->error_user_data, status);
  } else {
    iree_status_ignore(status);
  }
}

// Calls the first operation that can be called; false when there is none.
static bool run_one(iree_loop_sync_t* loop_sync) {
  loop_op_t* previous = NULL;
  for (loop_op_t* op = loop_sync->queue.head; op; previous = op, op = op->next) {
    iree_status_t status = iree_ok_status();
    if (((iree_loop_sync_scope_t*)op->owner)->is_aborted) {
      finish(loop_sync, previous, op, iree_status_from_code(IREE_STATUS_ABORTED));
      return true;
    }
    if (loop_op_poll(op, &status)) {
      finish(loop_sync, previous, op, status);
      return true;
    }
  }
  return false;
}

// All that is pending waits for something. Blocks a little, or as long as it takes when there is only one.
static void block(iree_loop_sync_t* loop_sync, iree_time_t deadline_ns) {
  const loop_op_t* first = loop_sync->queue.head;
  bool alone = !first->next && first->count <= 1;
  iree_time_t until_ns = alone ? deadline_ns : iree_min(deadline_ns, iree_time_now() + PIECE_NS);
  until_ns = iree_min(until_ns, first->deadline_ns);
  if (first->count) {
    iree_status_ignore(iree_wait_source_wait_any(first->count, first->sources, iree_make_deadline(until_ns)));
  } else {
    iree_wait_until(until_ns);
  }
}

iree_status_t iree_loop_sync_wait_idle(iree_loop_sync_t* loop_sync, iree_timeout_t timeout) {
  iree_time_t deadline_ns = iree_timeout_as_deadline_ns(timeout);
  while (loop_sync->queue.head) {
    if (run_one(loop_sync)) continue;
    if (iree_time_now() >= deadline_ns) return iree_status_from_code(IREE_STATUS_DEADLINE_EXCEEDED);
    block(loop_sync, deadline_ns);
  }
  return iree_ok_status();
}

// Calls what is pending, in the scope or (NULL) anywhere, with ABORTED; the callbacks can add nothing.
static void abort_pending(iree_loop_sync_t* loop_sync, iree_loop_sync_scope_t* scope) {
  loop_op_t* previous = NULL;
  for (loop_op_t *op = loop_sync->queue.head, *next; op; op = next) {
    next = op->next;
    if (scope && op->owner != scope) {
      previous = op;
      continue;
    }
    ((iree_loop_sync_scope_t*)op->owner)->is_aborted = true;
    finish(loop_sync, previous, op, iree_status_from_code(IREE_STATUS_ABORTED));
  }
}

void iree_loop_sync_free(iree_loop_sync_t* loop_sync) {
  if (!loop_sync) return;
  while (loop_sync->queue.head) abort_pending(loop_sync, NULL);
  iree_allocator_free(loop_sync->queue.allocator, loop_sync);
}

void iree_loop_sync_scope_initialize(iree_loop_sync_t* loop_sync, iree_loop_sync_error_fn_t error_fn,
                                     void* error_user_data, iree_loop_sync_scope_t* out_scope) {
  *out_scope =
      (iree_loop_sync_scope_t){.loop_sync = loop_sync, .error_fn = error_fn, .error_user_data = error_user_data};
}

void iree_loop_sync_scope_deinitialize(iree_loop_sync_scope_t* scope) {
  if (scope->pending_count) abort_pending(scope->loop_sync, scope);
}

iree_status_t iree_loop_sync_ctl(void* self, iree_loop_command_t command, const void* params, void** inout_ptr) {
  iree_loop_sync_scope_t* scope = self;
  iree_loop_sync_t* loop_sync = scope->loop_sync;
  if (command == IREE_LOOP_COMMAND_DRAIN) {
    return iree_loop_sync_wait_idle(loop_sync,
                                    iree_make_deadline(((const iree_loop_drain_params_t*)params)->deadline_ns));
  }
  if (scope->is_aborted) return iree_make_status(IREE_STATUS_ABORTED, "a callback of the loop's scope has failed");
  bool call = command == IREE_LOOP_COMMAND_CALL;
  iree_host_size_t* count = call ? &loop_sync->call_count : &loop_sync->wait_count;
  iree_host_size_t limit = call ? loop_sync->options.max_queue_depth : loop_sync->options.max_wait_count;
  if (*count >= limit) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "the loop has %" PRIhsz " pending %s already", limit,
                            call ? "calls" : "waits");
  }
  loop_op_t* op = NULL;
  IREE_RETURN_IF_ERROR(loop_queue_push(&loop_sync->queue, command, params, &op));
  op->owner = scope;
  ++*count;
  ++scope->pending_count;
  return iree_ok_status();
}
