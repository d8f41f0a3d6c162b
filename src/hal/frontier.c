// Frontiers as values: see iree/async/frontier.h. All walk two sorted lists at the same time.
#include "iree/async/frontier.h"

#include <inttypes.h>

typedef struct walk_t {
  const iree_async_frontier_entry_t *a, *b;
  iree_host_size_t a_left, b_left;
} walk_t;

static walk_t walk_begin(const iree_async_frontier_t* a, const iree_async_frontier_t* b) {
  return (walk_t){a->entries, b->entries, a->entry_count, b->entry_count};
}

// The next axis of either, with its epoch in both: 0 where it is not.
static bool walk_next(walk_t* walk, iree_async_axis_t* out_axis, uint64_t* out_a, uint64_t* out_b) {
  if (!walk->a_left && !walk->b_left) return false;
  bool from_a = walk->a_left && (!walk->b_left || walk->a->axis <= walk->b->axis);
  bool from_b = walk->b_left && (!walk->a_left || walk->b->axis <= walk->a->axis);
  *out_axis = from_a ? walk->a->axis : walk->b->axis;
  *out_a = from_a ? walk->a->epoch : 0;
  *out_b = from_b ? walk->b->epoch : 0;
  walk->a += from_a, walk->a_left -= from_a;
  walk->b += from_b, walk->b_left -= from_b;
  return true;
}

iree_status_t iree_async_frontier_size(iree_host_size_t entry_count, iree_host_size_t* out_size) {
  return IREE_STRUCT_LAYOUT(sizeof(iree_async_frontier_t), out_size,
                            IREE_STRUCT_FIELD_FAM(entry_count, iree_async_frontier_entry_t));
}

iree_status_t iree_async_frontier_validate(const iree_async_frontier_t* frontier) {
  for (uint8_t i = 0; i < frontier->entry_count; ++i) {
    const iree_async_frontier_entry_t* entry = &frontier->entries[i];
    if (!entry->epoch) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "entry %u, of axis 0x%016" PRIx64 ", has epoch 0", i,
                              entry->axis);
    }
    if (i && entry[-1].axis >= entry->axis) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "entry %u, of axis 0x%016" PRIx64 ", is not in order", i,
                              entry->axis);
    }
  }
  return iree_ok_status();
}

iree_async_frontier_comparison_t iree_async_frontier_compare(const iree_async_frontier_t* a,
                                                             const iree_async_frontier_t* b) {
  walk_t walk = walk_begin(a, b);
  iree_async_axis_t axis;
  uint64_t x, y;
  bool before = false, after = false;
  while (walk_next(&walk, &axis, &x, &y)) {
    before |= x < y;
    after |= x > y;
  }
  return before && after ? IREE_ASYNC_FRONTIER_CONCURRENT
         : before        ? IREE_ASYNC_FRONTIER_BEFORE
         : after         ? IREE_ASYNC_FRONTIER_AFTER
                         : IREE_ASYNC_FRONTIER_EQUAL;
}

bool iree_async_frontier_merge_and_test_source_dominance(iree_async_frontier_t* target, uint8_t target_capacity,
                                                         const iree_async_frontier_t* source,
                                                         bool* out_source_dominates_target) {
  iree_async_frontier_entry_t merged[2 * UINT8_MAX];
  walk_t walk = walk_begin(target, source);
  iree_host_size_t count = 0;
  iree_async_axis_t axis;
  uint64_t x, y;
  bool dominates = true;
  for (; walk_next(&walk, &axis, &x, &y); ++count) {
    merged[count] = (iree_async_frontier_entry_t){axis, iree_max(x, y)};
    dominates &= x <= y;
  }
  *out_source_dominates_target = dominates && count <= target_capacity;
  if (count > target_capacity) return false;
  if (count) memcpy(target->entries, merged, count * sizeof(*merged));
  target->entry_count = (uint8_t)count;
  return true;
}

bool iree_async_frontier_merge(iree_async_frontier_t* target, uint8_t target_capacity,
                               const iree_async_frontier_t* source) {
  bool dominates;
  return iree_async_frontier_merge_and_test_source_dominance(target, target_capacity, source, &dominates);
}

bool iree_async_frontier_is_satisfied(const iree_async_frontier_t* frontier,
                                      const iree_async_frontier_entry_t* current_epochs,
                                      iree_host_size_t current_epochs_count) {
  walk_t walk = {frontier->entries, current_epochs, frontier->entry_count, current_epochs_count};
  iree_async_axis_t axis;
  uint64_t wanted, reached;
  while (walk_next(&walk, &axis, &wanted, &reached)) {
    if (reached < wanted) return false;
  }
  return true;
}

uint8_t iree_async_frontier_find_undominated(const iree_async_frontier_t* reference,
                                             const iree_async_frontier_t* target, uint8_t capacity,
                                             iree_async_frontier_entry_t* out_entries) {
  walk_t walk = walk_begin(reference, target);
  iree_async_axis_t axis;
  uint64_t known, wanted;
  uint8_t count = 0;
  while (walk_next(&walk, &axis, &known, &wanted)) {
    if (wanted <= known) continue;
    if (count < capacity) out_entries[count] = (iree_async_frontier_entry_t){axis, wanted};
    ++count;
  }
  return count;
}
