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
// Places the values so that those alive at once do not overlap; large ones first, each at the lowest free place.
// Returns the arena's size.
int64_t plan_memory(plan_value_t* values, uint32_t count);

#endif  // IREE_C_COMPILER_PLAN_H_
