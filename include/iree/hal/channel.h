// Channels: one participant's end of a group that communicates by collectives, which command buffers record
// (iree_hal_command_buffer_collective).
//
// Devices make channels between the devices of one process: all channels that are created with the same id, group and
// count are one group, each with a rank of its own. Creating one does not wait for the others. When a channel is
// destroyed its group is broken: what others still ask of it fails with ABORTED. Devices of `cuda` and `hip` make those
// of NCCL and RCCL where they find that library, also between processes: an id of 128 bytes is then one of the
// library's own. Thread safe.
#ifndef IREE_HAL_CHANNEL_H_
#define IREE_HAL_CHANNEL_H_

#include <stdint.h>

#include "iree/base/api.h"
#include "iree/hal/queue.h"
#include "iree/hal/resource.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_device_t iree_hal_device_t;
typedef struct iree_hal_channel_t iree_hal_channel_t;

enum iree_hal_channel_flag_bits_t {
  IREE_HAL_CHANNEL_FLAG_NONE = 0u,
};
typedef uint64_t iree_hal_channel_flags_t;

// As the device's channel provider says.
#define IREE_HAL_CHANNEL_RANK_DEFAULT ((int32_t)-1)
#define IREE_HAL_CHANNEL_COUNT_DEFAULT ((int32_t)-1)
// In no part of a split.
#define IREE_HAL_CHANNEL_NO_COLOR ((int32_t)-1)

typedef struct iree_hal_channel_params_t {
  iree_hal_channel_flags_t flags;
  iree_const_byte_span_t id;  // empty: the channel provider's, or the one group without a name
  iree_string_view_t group;   // tells groups with the same id apart; may be empty
  int32_t rank;               // in [0, count), or RANK_DEFAULT
  int32_t count;              // participants, or COUNT_DEFAULT
} iree_hal_channel_params_t;

// Joins a group. Errors: INVALID_ARGUMENT, ALREADY_EXISTS when the rank is taken, FAILED_PRECONDITION when defaults are
// asked for and there is no channel provider, UNIMPLEMENTED for devices without channels.
IREE_API_EXPORT iree_status_t iree_hal_channel_create(iree_hal_device_t* device,
                                                      iree_hal_queue_affinity_t queue_affinity,
                                                      iree_hal_channel_params_t params,
                                                      iree_hal_channel_t** out_channel);
IREE_API_EXPORT void iree_hal_channel_retain(iree_hal_channel_t* channel);
IREE_API_EXPORT void iree_hal_channel_release(iree_hal_channel_t* channel);
IREE_API_EXPORT void iree_hal_channel_destroy(iree_hal_channel_t* channel);

// Divides a group into one for each color, in which ranks are ordered by key and then by the rank before. Every rank
// has to call it, from a thread of its own: it returns when all have. NULL for NO_COLOR. Errors: ABORTED when a rank
// has left.
IREE_API_EXPORT iree_status_t iree_hal_channel_split(iree_hal_channel_t* base_channel, int32_t color, int32_t key,
                                                     iree_hal_channel_flags_t flags,
                                                     iree_hal_channel_t** out_split_channel);

IREE_API_EXPORT void iree_hal_channel_query_rank_and_count(const iree_hal_channel_t* channel, int32_t* out_rank,
                                                           int32_t* out_count);
IREE_API_EXPORT int32_t iree_hal_channel_rank(const iree_hal_channel_t* channel);
IREE_API_EXPORT int32_t iree_hal_channel_count(const iree_hal_channel_t* channel);

//===----------------------------------------------------------------------------------------------------------------===
// For drivers
//===----------------------------------------------------------------------------------------------------------------===

struct hal_collective_part_t;
typedef struct iree_hal_channel_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_channel_t* channel);
  iree_status_t(IREE_API_PTR* split)(iree_hal_channel_t* base_channel, int32_t color, int32_t key,
                                     iree_hal_channel_flags_t flags, iree_hal_channel_t** out_split_channel);
  void(IREE_API_PTR* query_rank_and_count)(const iree_hal_channel_t* channel, int32_t* out_rank, int32_t* out_count);
  // Of the channels of this library, NULL for others: takes a list of parts that start together.
  void(IREE_API_PTR* post)(iree_hal_channel_t* channel, struct hal_collective_part_t* parts);
} iree_hal_channel_vtable_t;

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_CHANNEL_H_
