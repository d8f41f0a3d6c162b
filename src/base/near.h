// The name that somebody may have meant: the nearest of those that there are, for "did you mean".
#ifndef IREE_C_BASE_NEAR_H_
#define IREE_C_BASE_NEAR_H_

#include <stddef.h>
#include <stdint.h>

// Number of single-character changes and of swapped neighbours between two names, case ignored; of names above 63
// characters, their beginnings'.
uint32_t near_distance(const char* a, size_t a_size, const char* b);

typedef struct near_t {
  const char* name;
  size_t size;
  const char* best;
  uint32_t distance;
} near_t;
static inline near_t near_begin(const char* name, size_t size) { return (near_t){name, size, NULL, UINT32_MAX}; }
// `candidate` must outlive the search. That a name lacks its end counts as one change.
void near_offer(near_t* near, const char* candidate);
// The nearest candidate, or NULL when none looks like the name.
const char* near_result(const near_t* near);

#endif  // IREE_C_BASE_NEAR_H_
