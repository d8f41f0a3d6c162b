// A device's completion thread: waits for points in the order in which they were added, which is the timeline's, and
// runs what was to follow. It starts with the first that is not reached yet.
#include "pjrt/pjrt.h"

bool pjrt_point_poll(pjrt_point_t point, PJRT_Error** error) {
  uint64_t value = 0;
  *error = NULL;
  if (!point.semaphore) return true;
  *error = pjrt_error_from_status(iree_hal_semaphore_query(point.semaphore, &value));
  return *error || value >= point.value;
}

PJRT_Error* pjrt_point_wait(pjrt_point_t point) {
  if (!point.semaphore) return NULL;
  return pjrt_error_from_status(
      iree_hal_semaphore_wait(point.semaphore, point.value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
}

void pjrt_completions_initialize(pjrt_completions_t* completions) {
  pthread_mutex_init(&completions->lock, NULL);
  pthread_cond_init(&completions->changed, NULL);
  completions->last = &completions->first;
}

static void complete(pjrt_completion_t* item) {
  PJRT_Error* error = pjrt_point_wait(item->point);
  pjrt_point_release(&item->point);
  item->fn(item->user, error);
  free(item);
}

static void* run(void* user) {
  pjrt_completions_t* completions = user;
  pthread_mutex_lock(&completions->lock);
  for (;;) {
    pjrt_completion_t* item = completions->first;
    if (item) {
      completions->first = item->next;
      if (!item->next) completions->last = &completions->first;
      pthread_mutex_unlock(&completions->lock);
      complete(item);
      pthread_mutex_lock(&completions->lock);
    } else if (completions->ending) {
      break;
    } else {
      pthread_cond_wait(&completions->changed, &completions->lock);
    }
  }
  pthread_mutex_unlock(&completions->lock);
  return NULL;
}

void pjrt_completions_finish(pjrt_completions_t* completions) {
  if (!completions->last) return;
  pthread_mutex_lock(&completions->lock);
  completions->ending = true;
  pthread_cond_signal(&completions->changed);
  pthread_mutex_unlock(&completions->lock);
  if (completions->started) pthread_join(completions->thread, NULL);
  pthread_mutex_destroy(&completions->lock);
  pthread_cond_destroy(&completions->changed);
  completions->last = NULL;
}

static bool enqueue(pjrt_completions_t* completions, pjrt_completion_t* item) {
  pthread_mutex_lock(&completions->lock);
  if (!completions->started) completions->started = pthread_create(&completions->thread, NULL, run, completions) == 0;
  bool ok = completions->started;
  if (ok) {
    *completions->last = item;
    completions->last = &item->next;
    pthread_cond_signal(&completions->changed);
  }
  pthread_mutex_unlock(&completions->lock);
  return ok;
}

PJRT_Error* pjrt_completions_add(pjrt_completions_t* completions, pjrt_point_t point, pjrt_completion_fn_t fn,
                                 void* user) {
  PJRT_Error* error = NULL;
  if (pjrt_point_poll(point, &error)) {
    fn(user, error);
    return NULL;
  }
  pjrt_completion_t* item = calloc(1, sizeof(*item));
  if (!item) return pjrt_no_memory();
  *item = (pjrt_completion_t){.point = pjrt_point_retain(point), .fn = fn, .user = user};
  if (enqueue(completions, item)) return NULL;
  pjrt_point_release(&item->point);
  free(item);
  return pjrt_error(IREE_STATUS_RESOURCE_EXHAUSTED, "no thread can be started to wait for the device");
}
