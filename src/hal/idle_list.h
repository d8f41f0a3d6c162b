// Objects that are kept for their next use, so that a steady state allocates nothing. Thread safe.
#ifndef IREE_C_HAL_IDLE_LIST_H_
#define IREE_C_HAL_IDLE_LIST_H_

#include <stddef.h>
#include <stdint.h>

#include "iree/base/internal/atomics.h"
#include "iree/base/threading/mutex.h"

// A part of what is kept, which the list uses while it has the object.
typedef struct hal_idle_t {
  struct hal_idle_t* next;
} hal_idle_t;

// The first objects have words of their own: as long as there are no more, nothing is locked.
typedef struct hal_idle_list_t {
  iree_atomic_intptr_t words[32];
  iree_atomic_intptr_t rest;  // written under the mutex
  iree_slim_mutex_t mutex;
} hal_idle_list_t;

void hal_idle_list_initialize(hal_idle_list_t* list);
// The list must be empty.
void hal_idle_list_deinitialize(hal_idle_list_t* list);
// Takes an object out, whichever; NULL when there is none.
hal_idle_t* hal_idle_list_take(hal_idle_list_t* list);
void hal_idle_list_give(hal_idle_list_t* list, hal_idle_t* object);

// The object that an `idle` member, at `offset`, belongs to; NULL for NULL.
static inline void* hal_idle_object(hal_idle_t* idle, size_t offset) { return idle ? (uint8_t*)idle - offset : NULL; }

#endif  // IREE_C_HAL_IDLE_LIST_H_
