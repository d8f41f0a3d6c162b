// Groups of spans by numbers, in the order of their first ones: by function, by submission, by command buffer.
#ifndef TOOLING_PROFILE_GROUPS_H_
#define TOOLING_PROFILE_GROUPS_H_

#include "tooling/profile/records.h"

enum { PROFILE_GROUP_KEYS = 9 };

typedef struct profile_group_t {
  uint64_t key[PROFILE_GROUP_KEYS];
  uint64_t count, valid;
  uint64_t min, max;  // of the valid ones
  double sum, squares;
  uint64_t start, end;  // of all
  uint64_t tiles, tile_ns;
  uint64_t first_id, last_id;                      // of samples
  uint32_t workgroup_count[3], workgroup_size[3];  // of the last one
} profile_group_t;

typedef struct profile_groups_t {
  iree_allocator_t allocator;
  iree_status_t status;  // of memory: what finds none is lost
  iree_host_size_t count, capacity;
  profile_group_t* groups;
  iree_host_size_t place_capacity;
  uint32_t* places;
} profile_groups_t;

void profile_groups_free(profile_groups_t* groups);
// Found, or made; NULL when there is no memory.
profile_group_t* profile_groups_find(profile_groups_t* groups, const uint64_t key[PROFILE_GROUP_KEYS]);
// Adds a span; `start` and `end` count when it is valid.
void profile_group_add(profile_group_t* group, bool is_valid, uint64_t start, uint64_t end);
double profile_group_mean(const profile_group_t* group);
double profile_group_deviation(const profile_group_t* group);

// Dispatches that reports tell of, by whatever they are grouped by.
typedef struct profile_selection_t {
  iree_string_view_t filter;  // of names
  int64_t id;                 // -1: any
} profile_selection_t;
typedef void (*profile_dispatch_key_fn_t)(const profile_item_t* item, uint64_t out_key[PROFILE_GROUP_KEYS],
                                          uint64_t* out_id);
typedef struct profile_dispatches_t {
  const profile_bundle_t* bundle;
  profile_selection_t selection;
  profile_dispatch_key_fn_t key_of;  // `id` that a selection's is compared with
  uint64_t total, matched, valid;
  profile_groups_t groups;
} profile_dispatches_t;
// Of the device, or of the host.
iree_status_t profile_dispatches_collect(const profile_bundle_t* bundle, const profile_selection_t* selection,
                                         bool is_host, profile_dispatch_key_fn_t key_of,
                                         profile_dispatches_t* out_dispatches);
// Keys: {physical device, executable, function}, and the event's number, or the executable's; {physical device, queue,
// stream, submission}; {command buffer, submission, physical device, queue, stream}, those of command buffers only.
void profile_key_of_function(const profile_item_t* item, uint64_t out_key[PROFILE_GROUP_KEYS], uint64_t* out_id);
void profile_key_of_executable(const profile_item_t* item, uint64_t out_key[PROFILE_GROUP_KEYS], uint64_t* out_id);
void profile_key_of_submission(const profile_item_t* item, uint64_t out_key[PROFILE_GROUP_KEYS], uint64_t* out_id);
void profile_key_of_execution(const profile_item_t* item, uint64_t out_key[PROFILE_GROUP_KEYS], uint64_t* out_id);

// Facts of a dispatch, of either kind.
typedef struct profile_dispatch_t {
  uint32_t physical, queue;
  uint64_t stream, event_id, submission, command_buffer, executable;
  uint32_t function, command_index;
  bool is_valid;
  uint64_t start, end;
  const uint32_t *workgroup_count, *workgroup_size;
  uint64_t tiles, tile_ns;
} profile_dispatch_t;
profile_dispatch_t profile_dispatch_of(const profile_item_t* item);

#endif  // TOOLING_PROFILE_GROUPS_H_
