// See plan.h.
#include "compiler/plan.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"

static int by_size(const void* a, const void* b) {
  const plan_value_t *x = *(plan_value_t* const*)a, *y = *(plan_value_t* const*)b;
  if (x->size != y->size) return x->size > y->size ? -1 : 1;
  return x->first < y->first ? -1 : x->first > y->first;
}

static bool alive_together(const plan_value_t* x, const plan_value_t* y) {
  return x->first <= y->last && y->first <= x->last;
}

// The lowest offset at which `value` overlaps none of the placed ones it shares time with; they are kept in order of
// offset.
static int64_t lowest_place(plan_value_t* const* placed, uint32_t count, const plan_value_t* value) {
  int64_t offset = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (!alive_together(placed[i], value)) continue;
    if (placed[i]->offset >= offset + value->size) return offset;
    int64_t end = placed[i]->offset + placed[i]->size;
    if (end > offset) offset = (end + PLAN_ALIGNMENT - 1) / PLAN_ALIGNMENT * PLAN_ALIGNMENT;
  }
  return offset;
}

int64_t plan_memory(plan_value_t* values, uint32_t count) {
  if (!count) return 0;
  plan_value_t** order = memory_alloc(sizeof(*order) * count * 2);
  plan_value_t** placed = order + count;
  for (uint32_t i = 0; i < count; ++i) order[i] = &values[i];
  qsort(order, count, sizeof(*order), by_size);
  int64_t total = 0;
  for (uint32_t i = 0; i < count; ++i) {
    plan_value_t* value = order[i];
    value->offset = lowest_place(placed, i, value);
    uint32_t at = i;
    for (; at > 0 && placed[at - 1]->offset > value->offset; --at) placed[at] = placed[at - 1];
    placed[at] = value;
    if (value->offset + value->size > total) total = value->offset + value->size;
  }
  memory_free(order);
  return (total + PLAN_ALIGNMENT - 1) / PLAN_ALIGNMENT * PLAN_ALIGNMENT;
}
