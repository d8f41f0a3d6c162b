// Time as seconds of a clock that only goes forward.
#ifndef IREE_C_BASE_SECONDS_H_
#define IREE_C_BASE_SECONDS_H_

#include <time.h>

static inline double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif  // IREE_C_BASE_SECONDS_H_
