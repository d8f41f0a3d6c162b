// Clocks, deadlines and wait sources.
#include "iree/base/time.h"

#include <time.h>

#include "iree/base/wait_source.h"

iree_time_t iree_time_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (iree_time_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

iree_time_t iree_relative_timeout_to_deadline_ns(iree_duration_t timeout_ns) {
  if (timeout_ns == IREE_DURATION_ZERO) return IREE_TIME_INFINITE_PAST;
  if (timeout_ns == IREE_DURATION_INFINITE) return IREE_TIME_INFINITE_FUTURE;
  iree_time_t deadline = 0;
  if (__builtin_add_overflow(iree_time_now(), timeout_ns, &deadline)) return IREE_TIME_INFINITE_FUTURE;
  return deadline;
}

iree_duration_t iree_absolute_deadline_to_timeout_ns(iree_time_t deadline_ns) {
  if (deadline_ns == IREE_TIME_INFINITE_PAST) return IREE_DURATION_ZERO;
  if (deadline_ns == IREE_TIME_INFINITE_FUTURE) return IREE_DURATION_INFINITE;
  iree_time_t now = iree_time_now();
  return deadline_ns <= now ? IREE_DURATION_ZERO : deadline_ns - now;
}

uint32_t iree_absolute_deadline_to_timeout_ms(iree_time_t deadline_ns) {
  iree_duration_t left = iree_absolute_deadline_to_timeout_ns(deadline_ns);
  if (left == IREE_DURATION_INFINITE) return UINT32_MAX;
  int64_t ms = left / 1000000 + (left % 1000000 != 0);
  return ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX - 1;
}

bool iree_wait_until(iree_time_t deadline_ns) {
  if (deadline_ns == IREE_TIME_INFINITE_PAST) return true;
  struct timespec deadline = {deadline_ns / 1000000000, deadline_ns % 1000000000};
  int result = 0;
  do {
    result = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL);
  } while (result == EINTR);
  return result == 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// Wait sources
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t iree_wait_source_delay_resolve(iree_wait_source_t wait_source, iree_timeout_t timeout,
                                             iree_wait_source_resolve_callback_t callback, void* user_data) {
  if (callback) return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "delays support blocking waits only");
  iree_time_t resolves_ns = (iree_time_t)wait_source.data;
  iree_time_t deadline_ns = iree_timeout_as_deadline_ns(timeout);
  iree_wait_until(resolves_ns < deadline_ns ? resolves_ns : deadline_ns);
  return iree_time_now() >= resolves_ns ? iree_ok_status() : iree_status_from_code(IREE_STATUS_DEADLINE_EXCEEDED);
}

iree_status_t iree_wait_source_wait_one(iree_wait_source_t wait_source, iree_timeout_t timeout) {
  if (iree_wait_source_is_immediate(wait_source)) return iree_ok_status();
  return wait_source.resolve(wait_source, timeout, NULL, NULL);
}

iree_status_t iree_wait_source_query(iree_wait_source_t wait_source, iree_status_code_t* out_wait_status_code) {
  iree_status_code_t code = iree_status_consume_code(iree_wait_source_wait_one(wait_source, iree_immediate_timeout()));
  *out_wait_status_code = code == IREE_STATUS_DEADLINE_EXCEEDED ? IREE_STATUS_DEFERRED : code;
  return iree_ok_status();
}
