// Sizes and build-time switches. Override a switch with -D; the defaults are what the tools are built with.
#ifndef IREE_BASE_CONFIG_H_
#define IREE_BASE_CONFIG_H_

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>

#include "iree/base/target_platform.h"

// Sizes of host memory, in bytes or elements.
#if !defined(IREE_HOST_SIZE_T)
#define IREE_HOST_SIZE_T size_t
#endif
#define PRIhsz "zu"
typedef IREE_HOST_SIZE_T iree_host_size_t;
#define IREE_HOST_SIZE_MAX SIZE_MAX

// Sizes and offsets of device memory, in bytes.
#define PRIdsz "zu"
typedef size_t iree_device_size_t;
#define IREE_DEVICE_SIZE_MAX SIZE_MAX

// Alignment of every heap buffer's first byte, in bytes.
#if !defined(IREE_HAL_HEAP_BUFFER_ALIGNMENT)
#define IREE_HAL_HEAP_BUFFER_ALIGNMENT 64
#endif

// Whether allocators count bytes (iree_hal_allocator_query_statistics).
#if !defined(IREE_STATISTICS_ENABLE)
#define IREE_STATISTICS_ENABLE 1
#endif

// Longest path a tool accepts, in bytes without the terminator.
#if !defined(IREE_MAX_PATH)
#define IREE_MAX_PATH 2047
#endif

#define IREE_FILE_IO_ENABLE 1
#define IREE_THREADING_ENABLE 1

#endif  // IREE_BASE_CONFIG_H_
