// Events: set by somebody, or standing for a point of a device's timeline, which is looked at when it is asked.
#include "pjrt/pjrt.h"

typedef struct callback_t {
  struct callback_t* next;
  void (*fn)(PJRT_Error* error, void* user);
  void* user;
} callback_t;

struct PJRT_Event {
  iree_atomic_ref_count_t ref_count;
  PJRT_Device* device;  // with a point
  pjrt_point_t point;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool is_set;
  PJRT_Error* error;
  callback_t* callbacks;
};

PJRT_Event* pjrt_event_create(void) {
  PJRT_Event* event = calloc(1, sizeof(*event));
  if (!event) return NULL;
  iree_atomic_ref_count_init(&event->ref_count);
  pthread_mutex_init(&event->lock, NULL);
  pthread_cond_init(&event->changed, NULL);
  return event;
}

PJRT_Event* pjrt_event_ready(PJRT_Error* error) {
  PJRT_Event* event = pjrt_event_create();
  if (!event) {
    pjrt_error_free(error);
    return NULL;
  }
  event->is_set = true;
  event->error = error;
  return event;
}

PJRT_Event* pjrt_event_at(PJRT_Device* device, pjrt_point_t point) {
  PJRT_Error* error = NULL;
  if (pjrt_point_poll(point, &error)) return pjrt_event_ready(error);
  PJRT_Event* event = pjrt_event_create();
  if (!event) return NULL;
  event->device = device;
  event->point = pjrt_point_retain(point);
  return event;
}

void pjrt_event_retain(PJRT_Event* event) { iree_atomic_ref_count_inc(&event->ref_count); }

void pjrt_event_release(PJRT_Event* event) {
  if (!event || iree_atomic_ref_count_dec(&event->ref_count) != 1) return;
  for (callback_t *callback = event->callbacks, *next; callback; callback = next) {
    next = callback->next;
    free(callback);
  }
  pjrt_point_release(&event->point);
  pjrt_error_free(event->error);
  pthread_mutex_destroy(&event->lock);
  pthread_cond_destroy(&event->changed);
  free(event);
}

bool pjrt_event_set(PJRT_Event* event, PJRT_Error* error) {
  pthread_mutex_lock(&event->lock);
  if (event->is_set) {
    pthread_mutex_unlock(&event->lock);
    pjrt_error_free(error);
    return false;
  }
  event->is_set = true;
  event->error = error;
  callback_t* callbacks = event->callbacks;
  event->callbacks = NULL;
  pthread_cond_broadcast(&event->changed);
  pthread_mutex_unlock(&event->lock);
  while (callbacks) {
    callback_t* next = callbacks->next;
    callbacks->fn(pjrt_error_clone(error), callbacks->user);
    free(callbacks);
    callbacks = next;
  }
  return true;
}

// Whether it is over, and how; the error is the event's.
static bool poll_event(PJRT_Event* event) {
  pthread_mutex_lock(&event->lock);
  if (!event->is_set && event->point.semaphore) {
    event->is_set = pjrt_point_poll(event->point, &event->error);
  }
  bool is_set = event->is_set;
  pthread_mutex_unlock(&event->lock);
  return is_set;
}

PJRT_Error* api_Event_Destroy(PJRT_Event_Destroy_Args* args) {
  pjrt_event_release(args->event);
  return NULL;
}

PJRT_Error* api_Event_IsReady(PJRT_Event_IsReady_Args* args) {
  args->is_ready = poll_event(args->event);
  return NULL;
}

PJRT_Error* api_Event_Error(PJRT_Event_Error_Args* args) {
  if (poll_event(args->event)) return pjrt_error_clone(args->event->error);
  return pjrt_error(PJRT_FAILED_PRECONDITION, "the event is not ready; await it first");
}

PJRT_Error* api_Event_Await(PJRT_Event_Await_Args* args) {
  PJRT_Event* event = args->event;
  if (event->point.semaphore) return pjrt_point_wait(event->point);
  pthread_mutex_lock(&event->lock);
  while (!event->is_set) pthread_cond_wait(&event->changed, &event->lock);
  pthread_mutex_unlock(&event->lock);
  return pjrt_error_clone(event->error);
}

typedef struct follow_t {
  void (*fn)(PJRT_Error* error, void* user);
  void* user;
} follow_t;

static void follow(void* user, PJRT_Error* error) {
  follow_t* item = user;
  item->fn(error, item->user);
  free(item);
}

static PJRT_Error* call_at_point(PJRT_Event* event, const PJRT_Event_OnReady_Args* args) {
  follow_t* item = malloc(sizeof(*item));
  if (!item) return pjrt_no_memory();
  *item = (follow_t){args->callback, args->user_arg};
  PJRT_Error* error = pjrt_completions_add(&event->device->completions, event->point, follow, item);
  if (error) free(item);
  return error;
}

PJRT_Error* api_Event_OnReady(PJRT_Event_OnReady_Args* args) {
  PJRT_Event* event = args->event;
  if (event->point.semaphore) return call_at_point(event, args);
  callback_t* callback = malloc(sizeof(*callback));
  if (!callback) return pjrt_no_memory();
  pthread_mutex_lock(&event->lock);
  bool is_set = event->is_set;
  if (!is_set) {
    *callback = (callback_t){event->callbacks, args->callback, args->user_arg};
    event->callbacks = callback;
  }
  pthread_mutex_unlock(&event->lock);
  if (!is_set) return NULL;
  free(callback);
  args->callback(pjrt_error_clone(event->error), args->user_arg);
  return NULL;
}

PJRT_Error* api_Event_Create(PJRT_Event_Create_Args* args) {
  args->event = pjrt_event_create();
  return args->event ? NULL : pjrt_no_memory();
}

PJRT_Error* api_Event_Set(PJRT_Event_Set_Args* args) {
  if (args->event->point.semaphore) return pjrt_error(PJRT_FAILED_PRECONDITION, "the event is the device's to set");
  PJRT_Error* error = args->code ? pjrt_error_text(args->code, args->message, args->message_size) : NULL;
  if (pjrt_event_set(args->event, error)) return NULL;
  return pjrt_error(PJRT_FAILED_PRECONDITION, "the event was set before");
}
