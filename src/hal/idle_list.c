// Objects kept for their next use.
#include "hal/idle_list.h"

#include <string.h>

#include "iree/base/api.h"

void hal_idle_list_initialize(hal_idle_list_t* list) {
  memset(list, 0, sizeof(*list));
  iree_slim_mutex_initialize(&list->mutex);
}

void hal_idle_list_deinitialize(hal_idle_list_t* list) { iree_slim_mutex_deinitialize(&list->mutex); }

// Looks before it writes: a word that is empty, or taken, stays with its reader.
static hal_idle_t* take_word(hal_idle_list_t* list) {
  for (size_t i = 0; i < IREE_ARRAYSIZE(list->words); ++i) {
    if (!iree_atomic_load(&list->words[i], iree_memory_order_relaxed)) continue;
    intptr_t object = iree_atomic_exchange(&list->words[i], 0, iree_memory_order_acquire);
    if (object) return (hal_idle_t*)object;
  }
  return NULL;
}

static bool give_word(hal_idle_list_t* list, hal_idle_t* object) {
  for (size_t i = 0; i < IREE_ARRAYSIZE(list->words); ++i) {
    intptr_t expected = iree_atomic_load(&list->words[i], iree_memory_order_relaxed);
    if (!expected && iree_atomic_compare_exchange_strong(&list->words[i], &expected, (intptr_t)object,
                                                         iree_memory_order_release, iree_memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

hal_idle_t* hal_idle_list_take(hal_idle_list_t* list) {
  hal_idle_t* object = take_word(list);
  if (object || !iree_atomic_load(&list->rest, iree_memory_order_relaxed)) return object;
  iree_slim_mutex_lock(&list->mutex);
  object = (hal_idle_t*)iree_atomic_load(&list->rest, iree_memory_order_relaxed);
  if (object) iree_atomic_store(&list->rest, (intptr_t)object->next, iree_memory_order_relaxed);
  iree_slim_mutex_unlock(&list->mutex);
  return object;
}

void hal_idle_list_give(hal_idle_list_t* list, hal_idle_t* object) {
  if (give_word(list, object)) return;
  iree_slim_mutex_lock(&list->mutex);
  object->next = (hal_idle_t*)iree_atomic_load(&list->rest, iree_memory_order_relaxed);
  iree_atomic_store(&list->rest, (intptr_t)object, iree_memory_order_relaxed);
  iree_slim_mutex_unlock(&list->mutex);
}
