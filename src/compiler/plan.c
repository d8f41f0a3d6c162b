// See plan.h.
#include "compiler/plan.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

// Values by the moment at which they begin, and for every so-manieth of those moments what lives across it. What lives
// at the same time as a value then lives across the mark before its begin, or begins between there and its end.
enum { MARK_STEP = 64 };
enum { LOOKS = 1 << 20, LOOKS_EACH = 64 };  // at other values: in all, and for each value beside those

typedef struct mark_t {
  plan_value_t** values;
  uint32_t count, capacity;
} mark_t;

typedef struct planner_t {
  plan_value_t** by_begin;
  uint32_t* rank_of;  // of values[i] in by_begin
  bool* is_placed;    // of by_begin
  mark_t* marks;
  plan_value_t** near;  // placed values that live with the one at work
  uint32_t count;
  uint64_t looks;
} planner_t;

static int by_size(const void* a, const void* b) {
  const plan_value_t *x = *(plan_value_t* const*)a, *y = *(plan_value_t* const*)b;
  if (x->size != y->size) return x->size > y->size ? -1 : 1;
  return x->first < y->first ? -1 : x->first > y->first;
}

static int by_first(const void* a, const void* b) {
  const plan_value_t *x = *(plan_value_t* const*)a, *y = *(plan_value_t* const*)b;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return x < y ? -1 : x > y;
}

static int by_offset(const void* a, const void* b) {
  const plan_value_t *x = *(plan_value_t* const*)a, *y = *(plan_value_t* const*)b;
  return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static bool alive_together(const plan_value_t* x, const plan_value_t* y) {
  return x->first <= y->last && y->first <= x->last;
}

static void add_to_mark(mark_t* mark, plan_value_t* value) {
  if (mark->count == mark->capacity) {
    mark->capacity = mark->capacity ? mark->capacity * 2 : 16;
    mark->values = memory_resize(mark->values, sizeof(*mark->values) * mark->capacity);
  }
  mark->values[mark->count++] = value;
}

// The first that begins no earlier than the value, and where the search for its company begins.
static uint32_t begin_rank(const planner_t* p, const plan_value_t* value) {
  uint32_t low = 0, high = p->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (p->by_begin[middle]->first < value->first) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low / MARK_STEP * MARK_STEP;
}

static uint32_t find_near(planner_t* p, const plan_value_t* value) {
  uint32_t count = 0, begin = begin_rank(p, value);
  const mark_t* mark = &p->marks[begin / MARK_STEP];
  for (uint32_t i = 0; i < mark->count; ++i) {
    if (alive_together(mark->values[i], value)) p->near[count++] = mark->values[i];
  }
  p->looks += mark->count;
  for (uint32_t i = begin; i < p->count && p->by_begin[i]->first <= value->last; ++i, ++p->looks) {
    if (p->is_placed[i] && alive_together(p->by_begin[i], value)) p->near[count++] = p->by_begin[i];
  }
  qsort(p->near, count, sizeof(*p->near), by_offset);
  return count;
}

// The lowest offset at which the value overlaps none of the placed ones it shares time with.
static int64_t lowest_place(planner_t* p, const plan_value_t* value) {
  int64_t offset = 0;
  for (uint32_t i = 0, count = find_near(p, value); i < count; ++i) {
    if (p->near[i]->offset >= offset + value->size) return offset;
    int64_t end = p->near[i]->offset + p->near[i]->size;
    if (end > offset) offset = plan_align(end);
  }
  return offset;
}

static void place(planner_t* p, plan_value_t* value, uint32_t rank) {
  value->offset = lowest_place(p, value);
  p->is_placed[rank] = true;
  for (uint32_t mark = rank / MARK_STEP + 1; mark * MARK_STEP < p->count; ++mark) {
    if (p->by_begin[mark * MARK_STEP]->first > value->last) break;
    add_to_mark(&p->marks[mark], value);
  }
}

// Places as many of `order` as the looks last for; `total` is where they end.
static uint32_t place_exactly(plan_value_t* values, plan_value_t* const* order, uint32_t count, int64_t* total) {
  uint32_t mark_count = count / MARK_STEP + 1, placed = 0;
  planner_t p = {.by_begin = memory_array(count, sizeof(*p.by_begin)),
                 .rank_of = memory_array(count, sizeof(*p.rank_of)),
                 .is_placed = memory_array(count, sizeof(*p.is_placed)),
                 .marks = memory_array(mark_count, sizeof(*p.marks)),
                 .near = memory_array(count, sizeof(*p.near)),
                 .count = count};
  for (uint32_t i = 0; i < count; ++i) p.by_begin[i] = &values[i];
  qsort(p.by_begin, count, sizeof(*p.by_begin), by_first);
  for (uint32_t i = 0; i < count; ++i) p.rank_of[p.by_begin[i] - values] = i;
  *total = 0;
  for (; placed < count && p.looks < LOOKS + LOOKS_EACH * (uint64_t)count; ++placed) {
    plan_value_t* value = order[placed];
    place(&p, value, p.rank_of[value - values]);
    if (value->offset + value->size > *total) *total = value->offset + value->size;
  }
  for (uint32_t i = 0; i < mark_count; ++i) memory_free(p.marks[i].values);
  memory_free(p.by_begin);
  memory_free(p.rank_of);
  memory_free(p.is_placed);
  memory_free(p.marks);
  memory_free(p.near);
  return placed;
}

// All of them by the sweep, if that takes less than `total`.
static int64_t place_all_by_sweep(plan_value_t* values, uint32_t count, int64_t total) {
  plan_value_t* copies = memory_array(count, sizeof(*copies));
  plan_value_t** order = memory_array(count, sizeof(*order));
  memcpy(copies, values, sizeof(*copies) * count);
  for (uint32_t i = 0; i < count; ++i) order[i] = &copies[i];
  int64_t swept = plan_sweep(order, count, 0);
  if (swept < total) memcpy(values, copies, sizeof(*copies) * count);
  memory_free(copies);
  memory_free(order);
  return swept < total ? swept : total;
}

int64_t plan_memory(plan_value_t* values, uint32_t count) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (__builtin_add_overflow(sum, plan_align(values[i].size), &sum)) return INT64_MAX;
  }
  if (!count) return 0;
  plan_value_t** order = memory_array(count, sizeof(*order));
  for (uint32_t i = 0; i < count; ++i) order[i] = &values[i];
  qsort(order, count, sizeof(*order), by_size);
  int64_t total = 0;
  uint32_t placed = place_exactly(values, order, count, &total);
  total = plan_align(total);
  if (placed < count) {
    total = place_all_by_sweep(values, count, plan_sweep(order + placed, count - placed, total));
  }
  memory_free(order);
  return total;
}
