// Frontiers: vector clocks over axes. An axis is one ordered timeline (a queue, say), an epoch a position on it, and a
// frontier a set of (axis, epoch): "everything up to here has happened". Entries are sorted by axis, each axis once.
#ifndef IREE_ASYNC_FRONTIER_H_
#define IREE_ASYNC_FRONTIER_H_

#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

enum iree_async_causal_domain_e {
  IREE_ASYNC_CAUSAL_DOMAIN_QUEUE = 0,
  IREE_ASYNC_CAUSAL_DOMAIN_COLLECTIVE = 1,
  IREE_ASYNC_CAUSAL_DOMAIN_EPILOGUE = 2,
  IREE_ASYNC_CAUSAL_DOMAIN_HOST = 3,
};
typedef uint8_t iree_async_causal_domain_t;

// session (8 bits) | machine (8) | domain (8) | ordinal (40)
typedef uint64_t iree_async_axis_t;
static inline iree_async_axis_t iree_async_axis_make(uint8_t session_epoch, uint8_t machine_index,
                                                     iree_async_causal_domain_t domain, uint64_t ordinal) {
  return ((uint64_t)session_epoch << 56) | ((uint64_t)machine_index << 48) | ((uint64_t)domain << 40) |
         (ordinal & 0xFFFFFFFFFFull);
}
// A queue's ordinal is its device's index (8 bits) | its own (8) | 24 zero bits.
static inline iree_async_axis_t iree_async_axis_make_queue(uint8_t session_epoch, uint8_t machine_index,
                                                           uint8_t device_index, uint8_t queue_index) {
  return iree_async_axis_make(session_epoch, machine_index, IREE_ASYNC_CAUSAL_DOMAIN_QUEUE,
                              ((uint64_t)device_index << 32) | ((uint64_t)queue_index << 24));
}

// The parts of an axis; device and queue are those of the domain QUEUE.
static inline uint8_t iree_async_axis_session(iree_async_axis_t axis) { return (uint8_t)(axis >> 56); }
static inline uint8_t iree_async_axis_machine(iree_async_axis_t axis) { return (uint8_t)(axis >> 48); }
static inline iree_async_causal_domain_t iree_async_axis_domain(iree_async_axis_t axis) {
  return (iree_async_causal_domain_t)(axis >> 40);
}
static inline uint64_t iree_async_axis_ordinal(iree_async_axis_t axis) { return axis & 0xFFFFFFFFFFull; }
static inline uint8_t iree_async_axis_device_index(iree_async_axis_t axis) { return (uint8_t)(axis >> 32); }
static inline uint8_t iree_async_axis_queue_index(iree_async_axis_t axis) { return (uint8_t)(axis >> 24); }

typedef struct iree_async_frontier_entry_t {
  iree_async_axis_t axis;
  uint64_t epoch;
} iree_async_frontier_entry_t;

#define IREE_ASYNC_FRONTIER_HEADER_FIELDS \
  uint8_t entry_count;                    \
  uint8_t reserved[7]
#define IREE_ASYNC_FRONTIER_ALIGNMENT 8

typedef struct iree_alignas(IREE_ASYNC_FRONTIER_ALIGNMENT) iree_async_frontier_header_t {
  IREE_ASYNC_FRONTIER_HEADER_FIELDS;
} iree_async_frontier_header_t;

typedef struct iree_async_frontier_t {
  IREE_ASYNC_FRONTIER_HEADER_FIELDS;
  iree_async_frontier_entry_t entries[];
} iree_async_frontier_t;

// A frontier with room for so many entries, to be used through the casts below.
#define IREE_ASYNC_FIXED_FRONTIER_TYPE(type_name, entry_capacity) \
  typedef struct type_name {                                      \
    IREE_ASYNC_FRONTIER_HEADER_FIELDS;                            \
    iree_async_frontier_entry_t entries[(entry_capacity)];        \
  } type_name
IREE_ASYNC_FIXED_FRONTIER_TYPE(iree_async_single_frontier_t, 1);

static inline iree_async_frontier_t* iree_async_fixed_frontier_as_frontier(void* storage) {
  return (iree_async_frontier_t*)storage;
}
static inline const iree_async_frontier_t* iree_async_fixed_frontier_as_const_frontier(const void* storage) {
  return (const iree_async_frontier_t*)storage;
}
static inline iree_async_frontier_t* iree_async_single_frontier_as_frontier(iree_async_single_frontier_t* single) {
  return iree_async_fixed_frontier_as_frontier(single);
}
static inline const iree_async_frontier_t* iree_async_single_frontier_as_const_frontier(
    const iree_async_single_frontier_t* single) {
  return iree_async_fixed_frontier_as_const_frontier(single);
}

// Sets the count; entries are the caller's to fill, sorted.
static inline void iree_async_frontier_initialize(iree_async_frontier_t* frontier, uint8_t entry_count) {
  iree_async_frontier_header_t* header = (iree_async_frontier_header_t*)frontier;
  memset(header, 0, sizeof(*header));
  header->entry_count = entry_count;
}
static inline void iree_async_single_frontier_initialize(iree_async_single_frontier_t* frontier, iree_async_axis_t axis,
                                                         uint64_t epoch) {
  iree_async_frontier_initialize(iree_async_single_frontier_as_frontier(frontier), 1);
  frontier->entries[0].axis = axis;
  frontier->entries[0].epoch = epoch;
}
// Bytes of a frontier with so many entries. Errors: OUT_OF_RANGE.
IREE_API_EXPORT iree_status_t iree_async_frontier_size(iree_host_size_t entry_count, iree_host_size_t* out_size);
// Errors: INVALID_ARGUMENT when axes are not ascending, or an epoch is 0. The functions below do not check.
IREE_API_EXPORT iree_status_t iree_async_frontier_validate(const iree_async_frontier_t* frontier);

// How `a` lies to `b`; an axis that a frontier has not is at epoch 0.
enum iree_async_frontier_comparison_e {
  IREE_ASYNC_FRONTIER_EQUAL = 0,
  IREE_ASYNC_FRONTIER_BEFORE = 1,
  IREE_ASYNC_FRONTIER_AFTER = 2,
  IREE_ASYNC_FRONTIER_CONCURRENT = 3,  // each is ahead somewhere
};
typedef uint8_t iree_async_frontier_comparison_t;
IREE_API_EXPORT iree_async_frontier_comparison_t iree_async_frontier_compare(const iree_async_frontier_t* a,
                                                                             const iree_async_frontier_t* b);

// Moves `target` to the least frontier that is after both. False, with `target` as it was, when that has more than
// `target_capacity` entries. The second form also tells whether the old `target` was not ahead of `source` anywhere.
IREE_API_EXPORT bool iree_async_frontier_merge(iree_async_frontier_t* target, uint8_t target_capacity,
                                               const iree_async_frontier_t* source);
IREE_API_EXPORT bool iree_async_frontier_merge_and_test_source_dominance(iree_async_frontier_t* target,
                                                                         uint8_t target_capacity,
                                                                         const iree_async_frontier_t* source,
                                                                         bool* out_source_dominates_target);

// Whether every entry is reached, where the axes are at `current_epochs`, which are sorted.
IREE_API_EXPORT bool iree_async_frontier_is_satisfied(const iree_async_frontier_t* frontier,
                                                      const iree_async_frontier_entry_t* current_epochs,
                                                      iree_host_size_t current_epochs_count);
// The entries of `target` that are ahead of `reference`: how many, of which at most `capacity` are written.
IREE_API_EXPORT uint8_t iree_async_frontier_find_undominated(const iree_async_frontier_t* reference,
                                                             const iree_async_frontier_t* target, uint8_t capacity,
                                                             iree_async_frontier_entry_t* out_entries);

#ifdef __cplusplus
}
#endif

#endif  // IREE_ASYNC_FRONTIER_H_
