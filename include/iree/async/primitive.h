// Handles of the operating system that become ready: file descriptors here. Plain values that own nothing.
#ifndef IREE_ASYNC_PRIMITIVE_H_
#define IREE_ASYNC_PRIMITIVE_H_

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IREE_ASYNC_HAVE_FD 1
#define IREE_ASYNC_HAVE_EVENTFD 1

enum iree_async_primitive_type_e {
  IREE_ASYNC_PRIMITIVE_TYPE_NONE = 0u,
  IREE_ASYNC_PRIMITIVE_TYPE_FD = 1u,
  IREE_ASYNC_PRIMITIVE_TYPE_WIN32_HANDLE = 2u,  // not on this system
  IREE_ASYNC_PRIMITIVE_TYPE_MACH_PORT = 3u,     // not on this system
};
typedef uint8_t iree_async_primitive_type_t;

typedef union iree_async_primitive_value_t {
  int reserved;
  int fd;
} iree_async_primitive_value_t;

typedef struct iree_async_primitive_t {
  iree_async_primitive_type_t type;
  iree_async_primitive_value_t value;
} iree_async_primitive_t;
static inline iree_async_primitive_t iree_async_primitive_make(iree_async_primitive_type_t type,
                                                               iree_async_primitive_value_t value) {
  iree_async_primitive_t primitive;
  memset(&primitive, 0, sizeof(primitive));
  primitive.type = type;
  primitive.value = value;
  return primitive;
}
static inline iree_async_primitive_t iree_async_primitive_none(void) {
  iree_async_primitive_value_t value = {0};
  return iree_async_primitive_make(IREE_ASYNC_PRIMITIVE_TYPE_NONE, value);
}
static inline bool iree_async_primitive_is_none(iree_async_primitive_t primitive) {
  return primitive.type == IREE_ASYNC_PRIMITIVE_TYPE_NONE;
}
static inline iree_async_primitive_t iree_async_primitive_from_fd(int fd) {
  iree_async_primitive_value_t value;
  value.fd = fd;
  return iree_async_primitive_make(IREE_ASYNC_PRIMITIVE_TYPE_FD, value);
}

// A handle of its own for the same thing. Errors: INVALID_ARGUMENT for none, UNAVAILABLE for types that are not this
// system's, RESOURCE_EXHAUSTED.
IREE_API_EXPORT iree_status_t iree_async_primitive_dup(iree_async_primitive_t primitive,
                                                       iree_async_primitive_t* out_primitive);
// Closes the handle and makes it none; nothing happens for none.
IREE_API_EXPORT void iree_async_primitive_close(iree_async_primitive_t* primitive);

#ifdef __cplusplus
}
#endif

#endif  // IREE_ASYNC_PRIMITIVE_H_
