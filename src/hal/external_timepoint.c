// Timepoints of semaphores shared with what is not a semaphore.
//
// Exported as a file descriptor, a point is an eventfd that is written when it is reached. Imported ones are watched by
// one thread of the process, which is there while any are: it signals their semaphores.
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "hal/detail.h"
#include "iree/base/threading/call_once.h"
#include "iree/base/threading/thread.h"
#include "iree/hal/semaphore.h"

static iree_status_t fail_errno(const char* what) {
  return iree_make_status(iree_status_code_from_errno(errno), "%s: %s", what, strerror(errno));
}

//===----------------------------------------------------------------------------------------------------------------===
// Primitives
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t check_primitive(iree_async_primitive_t primitive) {
  if (iree_async_primitive_is_none(primitive)) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no handle given");
  if (primitive.type == IREE_ASYNC_PRIMITIVE_TYPE_FD) return iree_ok_status();
  return iree_make_status(IREE_STATUS_UNAVAILABLE, "handles of type %u are not this system's: give a file descriptor",
                          primitive.type);
}

iree_status_t iree_async_primitive_dup(iree_async_primitive_t primitive, iree_async_primitive_t* out_primitive) {
  *out_primitive = iree_async_primitive_none();
  IREE_RETURN_IF_ERROR(check_primitive(primitive));
  int fd = fcntl(primitive.value.fd, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return fail_errno("duplicating a file descriptor");
  *out_primitive = iree_async_primitive_from_fd(fd);
  return iree_ok_status();
}

void iree_async_primitive_close(iree_async_primitive_t* primitive) {
  if (primitive->type == IREE_ASYNC_PRIMITIVE_TYPE_FD) close(primitive->value.fd);
  *primitive = iree_async_primitive_none();
}

//===----------------------------------------------------------------------------------------------------------------===
// Export
//===----------------------------------------------------------------------------------------------------------------===

typedef struct exported_t {
  iree_async_semaphore_timepoint_t timepoint;
  iree_async_primitive_t target;  // its own
} exported_t;

static void exported_reached(void* user_data, iree_async_semaphore_timepoint_t* timepoint, iree_status_t status) {
  exported_t* exported = (exported_t*)user_data;
  const uint64_t one = 1;
  iree_status_free(status);  // whoever waits asks the semaphore
  ssize_t written = write(exported->target.value.fd, &one, sizeof(one));
  (void)written;  // there is room for one
  iree_async_primitive_close(&exported->target);
  iree_allocator_free(iree_allocator_system(), exported);
}

static iree_status_t export_fd(iree_hal_semaphore_t* semaphore, uint64_t value, iree_async_primitive_t* out_primitive) {
  iree_async_primitive_t primitive = iree_async_primitive_from_fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (primitive.value.fd < 0) return fail_errno("making an eventfd");
  exported_t* exported = NULL;
  iree_status_t status = iree_allocator_malloc(iree_allocator_system(), sizeof(*exported), (void**)&exported);
  if (iree_status_is_ok(status)) status = iree_async_primitive_dup(primitive, &exported->target);
  if (!iree_status_is_ok(status)) {
    iree_allocator_free(iree_allocator_system(), exported);
    iree_async_primitive_close(&primitive);
    return status;
  }
  *out_primitive = primitive;
  exported->timepoint.callback = exported_reached;
  exported->timepoint.user_data = exported;
  return iree_async_semaphore_acquire_timepoint(semaphore, value, &exported->timepoint);
}

//===----------------------------------------------------------------------------------------------------------------===
// Import
//===----------------------------------------------------------------------------------------------------------------===

typedef struct imported_t {
  iree_hal_semaphore_t* semaphore;  // retained
  uint64_t value;
  iree_async_primitive_t source;  // its own
} imported_t;

// Devices know nothing of each other, and a thread for each would be idle: the thread is the process's.
static struct {
  iree_once_flag once;
  iree_slim_mutex_t mutex;
  iree_host_size_t count;  // watched
  iree_thread_t* thread;   // NULL when none are
  int epoll_fd;
} watcher = {.once = IREE_ONCE_FLAG_INIT};

static void initialize_watcher(void) { iree_slim_mutex_initialize(&watcher.mutex); }

static void lock_watcher(void) {
  iree_call_once(&watcher.once, initialize_watcher);
  iree_slim_mutex_lock(&watcher.mutex);
}

static void imported_reached(imported_t* imported, uint32_t events) {
  epoll_ctl(watcher.epoll_fd, EPOLL_CTL_DEL, imported->source.value.fd, NULL);
  if (events & EPOLLIN) {
    IREE_IGNORE_ERROR(iree_hal_semaphore_signal(imported->semaphore, imported->value, NULL));
  } else {
    iree_hal_semaphore_fail(imported->semaphore,
                            iree_make_status(IREE_STATUS_ABORTED, "the imported handle was closed at its other end"));
  }
  iree_async_primitive_close(&imported->source);
  iree_hal_semaphore_release(imported->semaphore);
  iree_allocator_free(iree_allocator_system(), imported);
}

// One less to watch. Returns the thread, which ends, with the last.
static iree_thread_t* watch_less(void) {
  iree_thread_t* thread = NULL;
  lock_watcher();
  if (--watcher.count == 0) {
    thread = watcher.thread;
    watcher.thread = NULL;
    close(watcher.epoll_fd);
  }
  iree_slim_mutex_unlock(&watcher.mutex);
  return thread;
}

static int watch(void* arg) {
  iree_thread_t* thread = NULL;
  while (!thread) {
    struct epoll_event event;
    if (epoll_wait(watcher.epoll_fd, &event, 1, -1) != 1) continue;  // EINTR
    imported_reached((imported_t*)event.data.ptr, event.events);
    thread = watch_less();
  }
  iree_thread_release(thread);
  return 0;
}

// Adds to what is watched; the first starts the thread. The mutex is held.
static iree_status_t watch_locked(imported_t* imported) {
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = imported};
  bool is_first = watcher.count == 0;
  if (is_first) watcher.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  if (watcher.epoll_fd < 0) return fail_errno("making an epoll instance");
  iree_status_t status = iree_ok_status();
  if (epoll_ctl(watcher.epoll_fd, EPOLL_CTL_ADD, imported->source.value.fd, &event) != 0) {
    status =
        iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the file descriptor cannot be waited for: %s", strerror(errno));
  } else if (is_first) {
    iree_thread_create_params_t params = {.name = iree_make_cstring_view("iree-timepoints")};
    status = iree_thread_create(watch, NULL, params, iree_allocator_system(), &watcher.thread);
  }
  if (iree_status_is_ok(status)) {
    ++watcher.count;
  } else if (is_first) {
    close(watcher.epoll_fd);
  }
  return status;
}

static iree_status_t import_fd(iree_hal_semaphore_t* semaphore, uint64_t value, iree_async_primitive_t source) {
  imported_t* imported = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(iree_allocator_system(), sizeof(*imported), (void**)&imported));
  *imported = (imported_t){semaphore, value, source};
  iree_hal_semaphore_retain(semaphore);
  lock_watcher();
  iree_status_t status = watch_locked(imported);
  iree_slim_mutex_unlock(&watcher.mutex);
  if (iree_status_is_ok(status)) return status;
  iree_hal_semaphore_release(semaphore);
  iree_allocator_free(iree_allocator_system(), imported);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Calls
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t hal_timepoint_refuse(iree_hal_external_timepoint_type_t type) {
  static const char* const names[] = {"none", "async primitive", "CUDA event", "HIP event"};
  return iree_make_status(IREE_STATUS_UNAVAILABLE,
                          "timepoints of this semaphore are not shared as type %d (%s): use an async primitive",
                          (int)type, (size_t)type < IREE_ARRAYSIZE(names) ? names[type] : "unknown");
}

static iree_status_t check_point(uint64_t value, iree_hal_external_timepoint_flags_t flags) {
  if (flags) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "timepoint flags 0x%X are not known", flags);
  if (value <= IREE_HAL_SEMAPHORE_MAX_VALUE) return iree_ok_status();
  return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "semaphore value %" PRIu64 " is above the maximum", value);
}

iree_status_t iree_hal_semaphore_import_timepoint(iree_hal_semaphore_t* semaphore, uint64_t value,
                                                  iree_hal_queue_affinity_t queue_affinity,
                                                  iree_hal_external_timepoint_t external_timepoint) {
  IREE_RETURN_IF_ERROR(check_point(value, external_timepoint.flags));
  if (external_timepoint.type == IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_ASYNC_PRIMITIVE) {
    IREE_RETURN_IF_ERROR(check_primitive(external_timepoint.handle.async_primitive));
    return import_fd(semaphore, value, external_timepoint.handle.async_primitive);
  }
  const iree_hal_semaphore_vtable_t* vtable = IREE_HAL_VTABLE(semaphore, iree_hal_semaphore);
  if (!vtable->import_timepoint) return hal_timepoint_refuse(external_timepoint.type);
  return vtable->import_timepoint(semaphore, value, queue_affinity, external_timepoint);
}

iree_status_t iree_hal_semaphore_export_timepoint(iree_hal_semaphore_t* semaphore, uint64_t value,
                                                  iree_hal_queue_affinity_t queue_affinity,
                                                  iree_hal_external_timepoint_type_t requested_type,
                                                  iree_hal_external_timepoint_flags_t requested_flags,
                                                  iree_hal_external_timepoint_t* out_external_timepoint) {
  memset(out_external_timepoint, 0, sizeof(*out_external_timepoint));
  IREE_RETURN_IF_ERROR(check_point(value, requested_flags));
  out_external_timepoint->type = requested_type;
  out_external_timepoint->flags = requested_flags;
  out_external_timepoint->compatibility = IREE_HAL_SEMAPHORE_COMPATIBILITY_HOST_WAIT;
  if (requested_type == IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_ASYNC_PRIMITIVE) {
    return export_fd(semaphore, value, &out_external_timepoint->handle.async_primitive);
  }
  const iree_hal_semaphore_vtable_t* vtable = IREE_HAL_VTABLE(semaphore, iree_hal_semaphore);
  if (!vtable->export_timepoint) return hal_timepoint_refuse(requested_type);
  return vtable->export_timepoint(semaphore, value, queue_affinity, requested_type, requested_flags,
                                  out_external_timepoint);
}
