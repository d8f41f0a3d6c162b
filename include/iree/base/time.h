// Time in nanoseconds of a monotonic clock, and timeouts, absolute or relative. Thread safe.
#ifndef IREE_BASE_TIME_H_
#define IREE_BASE_TIME_H_

#include <stdbool.h>
#include <stdint.h>

#include "iree/base/attributes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int64_t iree_time_t;  // a point in time
#define IREE_TIME_INFINITE_PAST INT64_MIN
#define IREE_TIME_INFINITE_FUTURE INT64_MAX

typedef int64_t iree_duration_t;
#define IREE_DURATION_ZERO 0
#define IREE_DURATION_INFINITE INT64_MAX

IREE_API_EXPORT iree_time_t iree_time_now(void);

static inline iree_duration_t iree_make_duration_ms(int64_t timeout_ms) { return timeout_ms * 1000000ll; }

// Conversions saturate: an infinite duration is the infinite future, zero is the infinite past ("do not wait").
IREE_API_EXPORT iree_time_t iree_relative_timeout_to_deadline_ns(iree_duration_t timeout_ns);
// Time left, 0 when past.
IREE_API_EXPORT iree_duration_t iree_absolute_deadline_to_timeout_ns(iree_time_t deadline_ns);
// As above in milliseconds, rounded up; UINT32_MAX is infinite.
IREE_API_EXPORT uint32_t iree_absolute_deadline_to_timeout_ms(iree_time_t deadline_ns);

typedef enum iree_timeout_type_e {
  IREE_TIMEOUT_ABSOLUTE = 0,  // nanos is a point in time
  IREE_TIMEOUT_RELATIVE = 1,  // nanos is a duration from when the wait starts
} iree_timeout_type_t;

typedef struct iree_timeout_t {
  iree_timeout_type_t type;
  iree_time_t nanos;
} iree_timeout_t;

static inline iree_timeout_t iree_make_deadline(iree_time_t deadline_ns) {
  iree_timeout_t timeout = {IREE_TIMEOUT_ABSOLUTE, deadline_ns};
  return timeout;
}
static inline iree_timeout_t iree_make_timeout_ns(iree_duration_t timeout_ns) {
  iree_timeout_t timeout = {IREE_TIMEOUT_RELATIVE, timeout_ns};
  return timeout;
}
static inline iree_timeout_t iree_make_timeout_ms(iree_duration_t timeout_ms) {
  return iree_make_timeout_ns(timeout_ms == IREE_DURATION_INFINITE ? IREE_DURATION_INFINITE : timeout_ms * 1000000);
}
// Poll: never blocks.
static inline iree_timeout_t iree_immediate_timeout(void) { return iree_make_deadline(IREE_TIME_INFINITE_PAST); }
static inline iree_timeout_t iree_infinite_timeout(void) { return iree_make_deadline(IREE_TIME_INFINITE_FUTURE); }

static inline bool iree_timeout_is_immediate(iree_timeout_t timeout) {
  return timeout.nanos == (timeout.type == IREE_TIMEOUT_ABSOLUTE ? IREE_TIME_INFINITE_PAST : IREE_DURATION_ZERO);
}
static inline bool iree_timeout_is_infinite(iree_timeout_t timeout) {
  return timeout.nanos == INT64_MAX;  // both forms
}
static inline iree_time_t iree_timeout_as_deadline_ns(iree_timeout_t timeout) {
  return timeout.type == IREE_TIMEOUT_ABSOLUTE ? timeout.nanos : iree_relative_timeout_to_deadline_ns(timeout.nanos);
}
static inline iree_duration_t iree_timeout_as_duration_ns(iree_timeout_t timeout) {
  return timeout.type == IREE_TIMEOUT_ABSOLUTE ? iree_absolute_deadline_to_timeout_ns(timeout.nanos) : timeout.nanos;
}
static inline void iree_convert_timeout_to_absolute(iree_timeout_t* timeout) {
  *timeout = iree_make_deadline(iree_timeout_as_deadline_ns(*timeout));
}
// The earlier of the two, as a deadline.
static inline iree_timeout_t iree_timeout_min(iree_timeout_t lhs, iree_timeout_t rhs) {
  iree_time_t lhs_ns = iree_timeout_as_deadline_ns(lhs);
  iree_time_t rhs_ns = iree_timeout_as_deadline_ns(rhs);
  return iree_make_deadline(lhs_ns < rhs_ns ? lhs_ns : rhs_ns);
}

// Sleeps until the deadline; true once it has passed.
IREE_API_EXPORT bool iree_wait_until(iree_time_t deadline_ns);

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_TIME_H_
