// Memory of a straight-line region: which bytes of one arena each intermediate value gets.
#ifndef IREE_C_COMPILER_PLAN_H_
#define IREE_C_COMPILER_PLAN_H_

#include <stdint.h>

// A value lives from the step that makes it to the last step that reads it, both included.
typedef struct plan_value_t {
  int64_t size;  // bytes
  uint32_t first, last;
  int64_t offset;  // out
} plan_value_t;

enum { PLAN_ALIGNMENT = 64 };
static inline int64_t plan_align(int64_t size) { return (size + PLAN_ALIGNMENT - 1) / PLAN_ALIGNMENT * PLAN_ALIGNMENT; }

// Places the values so that those alive at once do not overlap; large ones first, each at the lowest free place. Where
// very many live at once, that is too long a search for all: the rest comes above by plan_sweep, or all by it if that
// takes less. Returns the arena's size, or INT64_MAX when all sizes together are no number of 64 bits.
int64_t plan_memory(plan_value_t* values, uint32_t count);
// Places the values from `base` on in the order in which they begin. Returns where they end. plan_sweep.c
int64_t plan_sweep(plan_value_t* const* values, uint32_t count, int64_t base);

#endif  // IREE_C_COMPILER_PLAN_H_
