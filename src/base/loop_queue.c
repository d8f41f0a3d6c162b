// See loop_queue.h.
#include "base/loop_queue.h"

static void copy_params(loop_op_t* op, const void* params) {
  const iree_loop_wait_until_params_t* until = params;
  const iree_loop_wait_one_params_t* one = params;
  const iree_loop_wait_multi_params_t* multi = params;
  op->deadline_ns = IREE_TIME_INFINITE_FUTURE;
  op->callback = ((const iree_loop_call_params_t*)params)->callback;
  if (op->command == IREE_LOOP_COMMAND_WAIT_UNTIL) op->deadline_ns = until->deadline_ns;
  if (op->command == IREE_LOOP_COMMAND_WAIT_ONE) {
    op->deadline_ns = one->deadline_ns;
    op->source = one->wait_source;
    op->sources = &op->source;
    op->count = 1;
  }
  if (op->command == IREE_LOOP_COMMAND_WAIT_ANY || op->command == IREE_LOOP_COMMAND_WAIT_ALL) {
    op->deadline_ns = multi->deadline_ns;
    op->sources = multi->wait_sources;
    op->count = multi->count;
  }
}

iree_status_t loop_queue_push(loop_queue_t* queue, iree_loop_command_t command, const void* params,
                              loop_op_t** out_op) {
  if (command >= IREE_LOOP_COMMAND_DRAIN) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "loop command %u is not known", command);
  }
  loop_op_t* op = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(queue->allocator, sizeof(*op), (void**)&op));
  op->command = command;
  copy_params(op, params);
  if (queue->tail) {
    queue->tail->next = op;
  } else {
    queue->head = op;
  }
  queue->tail = op;
  *out_op = op;
  return iree_ok_status();
}

loop_op_t* loop_queue_pop(loop_queue_t* queue) {
  loop_op_t* op = queue->head;
  if (!op) return NULL;
  queue->head = op->next;
  if (!queue->head) queue->tail = NULL;
  op->next = NULL;
  return op;
}

iree_status_t loop_op_wait(const loop_op_t* op) {
  iree_timeout_t deadline = iree_make_deadline(op->deadline_ns);
  switch (op->command) {
    case IREE_LOOP_COMMAND_WAIT_UNTIL:
      iree_wait_until(op->deadline_ns);
      return iree_ok_status();
    case IREE_LOOP_COMMAND_WAIT_ANY:
      return iree_wait_source_wait_any(op->count, op->sources, deadline);
    default:
      return iree_wait_source_wait_all(op->count, op->sources, deadline);
  }
}

// Of any, one that resolved or failed is enough; of all, one that failed.
static bool poll_sources(const loop_op_t* op, iree_status_t* out_status) {
  bool any = op->command == IREE_LOOP_COMMAND_WAIT_ANY, all_done = true;
  for (iree_host_size_t i = 0; i < op->count; ++i) {
    iree_status_code_t code = IREE_STATUS_OK;
    *out_status = iree_wait_source_query(op->sources[i], &code);
    if (!iree_status_is_ok(*out_status)) return true;
    if (code == IREE_STATUS_OK && any) return true;
    if (code != IREE_STATUS_OK && code != IREE_STATUS_DEFERRED) {
      *out_status = iree_wait_source_wait_one(op->sources[i], iree_immediate_timeout());
      return true;
    }
    all_done &= code == IREE_STATUS_OK;
  }
  return all_done && (!any || !op->count);
}

bool loop_op_poll(const loop_op_t* op, iree_status_t* out_status) {
  *out_status = iree_ok_status();
  if (op->command == IREE_LOOP_COMMAND_CALL) return true;
  bool late = op->deadline_ns != IREE_TIME_INFINITE_FUTURE && iree_time_now() >= op->deadline_ns;
  if (op->command == IREE_LOOP_COMMAND_WAIT_UNTIL) return late;
  if (poll_sources(op, out_status)) return true;
  if (late) *out_status = iree_status_from_code(IREE_STATUS_DEADLINE_EXCEEDED);
  return late;
}

iree_status_t loop_op_finish(loop_queue_t* queue, loop_op_t* op, iree_loop_t loop, iree_status_t status) {
  iree_loop_callback_t callback = op->callback;
  iree_allocator_free(queue->allocator, op);
  return callback.fn(callback.user_data, loop, status);
}
