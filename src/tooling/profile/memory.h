// What happened to memory: how much there was, by device, by pool and by allocation.
#ifndef TOOLING_PROFILE_MEMORY_H_
#define TOOLING_PROFILE_MEMORY_H_

#include "tooling/profile/groups.h"

// What is open and was closed; bytes and counts.
typedef struct profile_balance_t {
  uint64_t count, most, opened, closed, partial;
  uint64_t bytes, most_bytes, opened_bytes, closed_bytes, partial_bytes;
} profile_balance_t;

// Kinds of things that are open: in devices' order.
typedef enum {
  PROFILE_OPEN_SLAB,
  PROFILE_OPEN_RESERVATION,
  PROFILE_OPEN_MATERIALIZATION,
  PROFILE_OPEN_ALLOCATION,  // of queues
  PROFILE_OPEN_BUFFER,
  PROFILE_OPEN_IMPORT,
  PROFILE_OPEN_COUNT,
} profile_open_t;

typedef struct profile_memory_device_t {
  uint32_t physical;
  uint64_t events;
  uint64_t types[13];  // events, by type
  profile_balance_t balances[PROFILE_OPEN_COUNT];
} profile_memory_device_t;

// A pool, or an allocation: what events of one kind and number have in common.
typedef struct profile_memory_entry_t {
  profile_open_t kind;
  uint32_t physical;
  uint64_t id;  // of the pool, or of the allocation
  uint64_t pool_id, backing_id, memory_type, buffer_usage;
  bool is_external;
  uint64_t events, waits, materializes;
  uint64_t first_event, last_event, first_submission, last_submission;
  uint32_t first_queue, last_queue;
  int64_t first_ns, last_ns;
  profile_balance_t balance, materialized;
  uint64_t stats_samples, reserved, most_reserved, free, least_free, committed, most_committed, budget;
  uint32_t reservations, most_reservations, slabs, most_slabs;
} profile_memory_entry_t;

typedef struct profile_memory_list_t {
  iree_host_size_t count, capacity;
  profile_memory_entry_t* entries;
  profile_groups_t index;  // of the entries, in their order
} profile_memory_list_t;

typedef struct profile_memory_summary_t {
  const profile_bundle_t* bundle;
  profile_selection_t selection;
  iree_status_t status;
  uint64_t total, matched;
  iree_host_size_t device_count, device_capacity;
  profile_memory_device_t* devices;
  profile_memory_list_t pools, allocations;
} profile_memory_summary_t;

iree_status_t profile_memory_collect(const profile_bundle_t* bundle, const profile_selection_t* selection,
                                     profile_memory_summary_t* out_summary);
void profile_memory_free(profile_memory_summary_t* summary);
bool profile_memory_takes(const profile_selection_t* selection, const iree_hal_profile_memory_event_t* event);

#endif  // TOOLING_PROFILE_MEMORY_H_
