// How to wait.
#ifndef IREE_ASYNC_TYPES_H_
#define IREE_ASYNC_TYPES_H_

#include <stdint.h>

enum iree_async_wait_mode_e {
  IREE_ASYNC_WAIT_MODE_ALL = 0u,
  IREE_ASYNC_WAIT_MODE_ANY = 1u,
};
typedef uint8_t iree_async_wait_mode_t;

enum iree_async_wait_flag_bits_e {
  IREE_ASYNC_WAIT_FLAG_NONE = 0u,
  IREE_ASYNC_WAIT_FLAG_YIELD = 1u << 0,   // sleep at once: the caller does not mind latency
  IREE_ASYNC_WAIT_FLAG_ACTIVE = 1u << 1,  // spin: the caller does not mind burning its core
};
typedef uint32_t iree_async_wait_flags_t;

#endif  // IREE_ASYNC_TYPES_H_
