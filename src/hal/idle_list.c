// Objects kept for their next use.
#include "hal/idle_list.h"

#include <string.h>

void hal_idle_list_initialize(hal_idle_list_t* list) {
  memset(list, 0, sizeof(*list));
  iree_slim_mutex_initialize(&list->mutex);
}

void hal_idle_list_deinitialize(hal_idle_list_t* list) { iree_slim_mutex_deinitialize(&list->mutex); }

hal_idle_t* hal_idle_list_take(hal_idle_list_t* list) {
  hal_idle_t* object = (hal_idle_t*)iree_atomic_exchange(&list->first, 0, iree_memory_order_acquire);
  if (object || !iree_atomic_load(&list->rest, iree_memory_order_relaxed)) return object;
  iree_slim_mutex_lock(&list->mutex);
  object = (hal_idle_t*)iree_atomic_load(&list->rest, iree_memory_order_relaxed);
  if (object) iree_atomic_store(&list->rest, (intptr_t)object->next, iree_memory_order_relaxed);
  iree_slim_mutex_unlock(&list->mutex);
  return object;
}

void hal_idle_list_give(hal_idle_list_t* list, hal_idle_t* object) {
  intptr_t expected = 0;
  if (iree_atomic_compare_exchange_strong(&list->first, &expected, (intptr_t)object, iree_memory_order_release,
                                          iree_memory_order_relaxed)) {
    return;
  }
  iree_slim_mutex_lock(&list->mutex);
  object->next = (hal_idle_t*)iree_atomic_load(&list->rest, iree_memory_order_relaxed);
  iree_atomic_store(&list->rest, (intptr_t)object, iree_memory_order_relaxed);
  iree_slim_mutex_unlock(&list->mutex);
}
