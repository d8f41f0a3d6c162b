// Calls of loops, waits for several sources, and the loop that runs everything at once.
#include "iree/base/loop.h"

#include "base/loop_queue.h"
#include "iree/base/loop_inline.h"

static iree_status_t command(iree_loop_t loop, iree_loop_command_t command, const void* params) {
  if (loop.ctl) return loop.ctl(loop.self, command, params, NULL);
  return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "the null loop does nothing");
}

iree_status_t iree_loop_call(iree_loop_t loop, iree_loop_priority_t priority, iree_loop_callback_fn_t callback,
                             void* user_data) {
  iree_loop_call_params_t params = {{callback, user_data}, priority};
  return command(loop, IREE_LOOP_COMMAND_CALL, &params);
}

iree_status_t iree_loop_wait_until(iree_loop_t loop, iree_timeout_t timeout, iree_loop_callback_fn_t callback,
                                   void* user_data) {
  iree_loop_wait_until_params_t params = {{callback, user_data}, iree_timeout_as_deadline_ns(timeout)};
  return command(loop, IREE_LOOP_COMMAND_WAIT_UNTIL, &params);
}

iree_status_t iree_loop_wait_one(iree_loop_t loop, iree_wait_source_t wait_source, iree_timeout_t timeout,
                                 iree_loop_callback_fn_t callback, void* user_data) {
  iree_loop_wait_one_params_t params = {{callback, user_data}, iree_timeout_as_deadline_ns(timeout), wait_source};
  return command(loop, IREE_LOOP_COMMAND_WAIT_ONE, &params);
}

static iree_status_t wait_multi(iree_loop_t loop, iree_loop_command_t which, iree_host_size_t count,
                                iree_wait_source_t* wait_sources, iree_timeout_t timeout,
                                iree_loop_callback_t callback) {
  iree_loop_wait_multi_params_t params = {callback, iree_timeout_as_deadline_ns(timeout), count, wait_sources};
  return command(loop, which, &params);
}

iree_status_t iree_loop_wait_any(iree_loop_t loop, iree_host_size_t count, iree_wait_source_t* wait_sources,
                                 iree_timeout_t timeout, iree_loop_callback_fn_t callback, void* user_data) {
  return wait_multi(loop, IREE_LOOP_COMMAND_WAIT_ANY, count, wait_sources, timeout,
                    (iree_loop_callback_t){callback, user_data});
}

iree_status_t iree_loop_wait_all(iree_loop_t loop, iree_host_size_t count, iree_wait_source_t* wait_sources,
                                 iree_timeout_t timeout, iree_loop_callback_fn_t callback, void* user_data) {
  return wait_multi(loop, IREE_LOOP_COMMAND_WAIT_ALL, count, wait_sources, timeout,
                    (iree_loop_callback_t){callback, user_data});
}

iree_status_t iree_loop_drain(iree_loop_t loop, iree_timeout_t timeout) {
  iree_loop_drain_params_t params = {iree_timeout_as_deadline_ns(timeout)};
  return command(loop, IREE_LOOP_COMMAND_DRAIN, &params);
}

//===----------------------------------------------------------------------------------------------------------------===
// Waits for several sources
//===----------------------------------------------------------------------------------------------------------------===

enum { PIECE_NS = 1000 * 1000 };  // how long one of several sources is waited for before the others are looked at

iree_status_t iree_wait_source_wait_any(iree_host_size_t count, const iree_wait_source_t* wait_sources,
                                        iree_timeout_t timeout) {
  iree_time_t deadline_ns = iree_timeout_as_deadline_ns(timeout);
  for (iree_host_size_t next = 0; count; next = (next + 1) % count) {
    for (iree_host_size_t i = 0; i < count; ++i) {
      iree_status_code_t code = IREE_STATUS_OK;
      IREE_RETURN_IF_ERROR(iree_wait_source_query(wait_sources[i], &code));
      if (code != IREE_STATUS_DEFERRED)
        return code ? iree_wait_source_wait_one(wait_sources[i], timeout) : iree_ok_status();
    }
    iree_time_t now = iree_time_now();
    if (now >= deadline_ns) return iree_status_from_code(IREE_STATUS_DEADLINE_EXCEEDED);
    iree_time_t piece_ns = count == 1 ? deadline_ns : iree_min(deadline_ns, now + PIECE_NS);
    iree_status_ignore(iree_wait_source_wait_one(wait_sources[next], iree_make_deadline(piece_ns)));
  }
  return iree_ok_status();
}

iree_status_t iree_wait_source_wait_all(iree_host_size_t count, const iree_wait_source_t* wait_sources,
                                        iree_timeout_t timeout) {
  iree_timeout_t deadline = iree_make_deadline(iree_timeout_as_deadline_ns(timeout));
  for (iree_host_size_t i = 0; i < count; ++i) {
    IREE_RETURN_IF_ERROR(iree_wait_source_wait_one(wait_sources[i], deadline));
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Inline
//===----------------------------------------------------------------------------------------------------------------===

// While the outermost call drains, what its callbacks give the loop goes behind it: chains of callbacks do not nest.
typedef struct inline_run_t {
  loop_queue_t queue;
  iree_status_t* out_status;
} inline_run_t;

static void keep_failure(iree_status_t* out_status, iree_status_t status) {
  if (iree_status_is_ok(*out_status)) {
    *out_status = status;
  } else {
    iree_status_ignore(status);
  }
}

static iree_status_t nested_ctl(void* self, iree_loop_command_t command, const void* params, void** inout_ptr) {
  inline_run_t* run = self;
  if (command == IREE_LOOP_COMMAND_DRAIN) return iree_ok_status();  // the outermost call does
  if (!iree_status_is_ok(*run->out_status)) return iree_status_from_code(IREE_STATUS_ABORTED);
  loop_op_t* op = NULL;
  return loop_queue_push(&run->queue, command, params, &op);
}

iree_status_t iree_loop_inline_ctl(void* self, iree_loop_command_t command, const void* params, void** inout_ptr) {
  inline_run_t run = {.queue = {.allocator = iree_allocator_system()}, .out_status = self};
  loop_op_t* op = NULL;
  if (command == IREE_LOOP_COMMAND_DRAIN) return iree_ok_status();
  if (!iree_status_is_ok(*run.out_status)) return iree_status_from_code(IREE_STATUS_ABORTED);
  IREE_RETURN_IF_ERROR(loop_queue_push(&run.queue, command, params, &op));
  iree_loop_t loop = {&run, nested_ctl};
  while ((op = loop_queue_pop(&run.queue))) {
    bool aborted = !iree_status_is_ok(*run.out_status);
    iree_status_t status = aborted ? iree_status_from_code(IREE_STATUS_ABORTED) : loop_op_wait(op);
    keep_failure(run.out_status, loop_op_finish(&run.queue, op, loop, status));
  }
  return iree_ok_status();
}
