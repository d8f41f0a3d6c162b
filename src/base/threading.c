// Futexes, notifications, mutexes and threads over the system's.
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "iree/base/threading/api.h"
#include "iree/base/threading/numa.h"

//===----------------------------------------------------------------------------------------------------------------===
// Futex
//===----------------------------------------------------------------------------------------------------------------===

iree_status_code_t iree_futex_wait(void* address, uint32_t expected_value, iree_time_t deadline_ns) {
  struct timespec deadline = {0, 0};
  struct timespec* deadline_ptr = NULL;
  if (deadline_ns != IREE_TIME_INFINITE_FUTURE) {
    iree_time_t clamped = iree_max(deadline_ns, 0);
    deadline.tv_sec = clamped / 1000000000;
    deadline.tv_nsec = clamped % 1000000000;
    deadline_ptr = &deadline;
  }
  // The BITSET form takes an absolute time of the monotonic clock.
  long result = syscall(SYS_futex, address, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected_value, deadline_ptr, NULL,
                        FUTEX_BITSET_MATCH_ANY);
  if (result == 0) return IREE_STATUS_OK;
  if (errno == ETIMEDOUT) return IREE_STATUS_DEADLINE_EXCEEDED;
  return errno == EAGAIN ? IREE_STATUS_UNAVAILABLE : IREE_STATUS_OK;
}

void iree_futex_wake(void* address, int32_t count) {
  syscall(SYS_futex, address, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Notification
//===----------------------------------------------------------------------------------------------------------------===

void iree_notification_initialize(iree_notification_t* out_notification) {
  memset(out_notification, 0, sizeof(*out_notification));
}

void iree_notification_deinitialize(iree_notification_t* notification) {}

// The epoch moves before the waiters are looked at, and waiters count themselves before they take the epoch; with both
// sequentially consistent one of the two sees the other.
void iree_notification_post(iree_notification_t* notification, int32_t count) {
  iree_atomic_fetch_add(&notification->epoch, 1, iree_memory_order_seq_cst);
  if (iree_atomic_load(&notification->waiters, iree_memory_order_seq_cst)) {
    iree_futex_wake(&notification->epoch, count);
  }
}

iree_wait_token_t iree_notification_prepare_wait(iree_notification_t* notification) {
  iree_atomic_fetch_add(&notification->waiters, 1, iree_memory_order_seq_cst);
  return iree_atomic_load(&notification->epoch, iree_memory_order_seq_cst);
}

void iree_notification_cancel_wait(iree_notification_t* notification) {
  iree_atomic_fetch_sub(&notification->waiters, 1, iree_memory_order_seq_cst);
}

bool iree_notification_commit_wait(iree_notification_t* notification, iree_wait_token_t wait_token,
                                   iree_duration_t spin_ns, iree_time_t deadline_ns) {
  bool posted = false;
  if (spin_ns > 0) {
    iree_time_t spin_end = iree_time_now() + spin_ns;
    do {
      for (int i = 0; i < 32 && !posted; ++i) {
        posted = iree_atomic_load(&notification->epoch, iree_memory_order_acquire) != wait_token;
        iree_processor_yield();
      }
    } while (!posted && iree_time_now() < iree_min(spin_end, deadline_ns));
  }
  while (!posted) {
    posted = iree_atomic_load(&notification->epoch, iree_memory_order_acquire) != wait_token;
    if (posted) break;
    if (iree_futex_wait(&notification->epoch, wait_token, deadline_ns) == IREE_STATUS_DEADLINE_EXCEEDED) break;
  }
  iree_notification_cancel_wait(notification);
  return posted;
}

bool iree_notification_await(iree_notification_t* notification, iree_condition_fn_t condition_fn, void* condition_arg,
                             iree_timeout_t timeout) {
  iree_time_t deadline_ns = iree_timeout_as_deadline_ns(timeout);
  while (!condition_fn(condition_arg)) {
    iree_wait_token_t token = iree_notification_prepare_wait(notification);
    if (condition_fn(condition_arg)) {
      iree_notification_cancel_wait(notification);
      return true;
    }
    if (!iree_notification_commit_wait(notification, token, 0, deadline_ns)) return condition_fn(condition_arg);
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Mutexes
//===----------------------------------------------------------------------------------------------------------------===

void iree_mutex_initialize(iree_mutex_t* out_mutex) { pthread_mutex_init(&out_mutex->value, NULL); }
void iree_mutex_deinitialize(iree_mutex_t* mutex) { pthread_mutex_destroy(&mutex->value); }
void iree_mutex_lock(iree_mutex_t* mutex) { pthread_mutex_lock(&mutex->value); }
bool iree_mutex_try_lock(iree_mutex_t* mutex) { return pthread_mutex_trylock(&mutex->value) == 0; }
void iree_mutex_unlock(iree_mutex_t* mutex) { pthread_mutex_unlock(&mutex->value); }

void iree_slim_mutex_initialize(iree_slim_mutex_t* out_mutex) { out_mutex->value = 0; }
void iree_slim_mutex_deinitialize(iree_slim_mutex_t* mutex) {}

bool iree_slim_mutex_try_lock(iree_slim_mutex_t* mutex) {
  int32_t expected = 0;
  return iree_atomic_compare_exchange_strong(&mutex->value, &expected, 1, iree_memory_order_acquire,
                                             iree_memory_order_relaxed);
}

void iree_slim_mutex_lock(iree_slim_mutex_t* mutex) {
  if (iree_slim_mutex_try_lock(mutex)) return;
  for (int i = 0; i < 64; ++i) {
    iree_processor_yield();
    if (iree_atomic_load(&mutex->value, iree_memory_order_relaxed) == 0 && iree_slim_mutex_try_lock(mutex)) return;
  }
  while (iree_atomic_exchange(&mutex->value, 2, iree_memory_order_acquire) != 0) {
    iree_futex_wait(&mutex->value, 2, IREE_TIME_INFINITE_FUTURE);
  }
}

void iree_slim_mutex_unlock(iree_slim_mutex_t* mutex) {
  if (iree_atomic_exchange(&mutex->value, 0, iree_memory_order_release) == 2) iree_futex_wake(&mutex->value, 1);
}

//===----------------------------------------------------------------------------------------------------------------===
// Threads
//===----------------------------------------------------------------------------------------------------------------===

struct iree_thread_t {
  iree_atomic_ref_count_t ref_count;
  iree_atomic_int32_t joined;
  iree_allocator_t allocator;
  pthread_t handle;
  iree_thread_entry_t entry;
  void* entry_arg;
  char name[16];
  iree_atomic_int32_t suspended;  // a futex
  iree_slim_mutex_t mutex;        // of what follows
  iree_thread_priority_class_t priority_class;
  iree_thread_override_t* overrides;
  pid_t system_id;  // 0: it has not begun
};

struct iree_thread_override_t {
  iree_thread_t* thread;  // retained
  iree_thread_priority_class_t priority_class;
  iree_thread_override_t* next;
};

static iree_thread_priority_class_t clamp_priority(iree_thread_priority_class_t priority) {
  return iree_max(iree_min(priority, IREE_THREAD_PRIORITY_CLASS_HIGHEST), IREE_THREAD_PRIORITY_CLASS_LOWEST);
}

// Linux has a nice value for each thread. The mutex is held.
static void apply_priority(iree_thread_t* thread) {
  static const int nice_values[] = {19, 5, 0, -5, -10};  // LOWEST to HIGHEST
  iree_thread_priority_class_t priority = thread->priority_class;
  iree_thread_override_t* override = thread->overrides;
  if (override) priority = override->priority_class;
  for (; override; override = override->next) priority = iree_max(priority, override->priority_class);
  if (thread->system_id) {
    setpriority(PRIO_PROCESS, (id_t)thread->system_id, nice_values[priority - IREE_THREAD_PRIORITY_CLASS_LOWEST]);
  }
}

// Set by the last release where the thread itself makes that: its object is gone.
static _Thread_local bool released_itself;

static void* thread_main(void* arg) {
  iree_thread_t* thread = (iree_thread_t*)arg;
  if (thread->name[0]) pthread_setname_np(pthread_self(), thread->name);
  while (iree_atomic_load(&thread->suspended, iree_memory_order_acquire)) {
    iree_futex_wait(&thread->suspended, 1, IREE_TIME_INFINITE_FUTURE);
  }
  iree_slim_mutex_lock(&thread->mutex);
  thread->system_id = gettid();
  if (thread->overrides || thread->priority_class) apply_priority(thread);
  iree_slim_mutex_unlock(&thread->mutex);
  thread->entry(thread->entry_arg);
  if (released_itself) return NULL;
  iree_slim_mutex_lock(&thread->mutex);
  thread->system_id = 0;  // the system may give it to another thread
  iree_slim_mutex_unlock(&thread->mutex);
  return NULL;
}

uintptr_t iree_thread_id(iree_thread_t* thread) { return (uintptr_t)thread->handle; }

void iree_thread_resume(iree_thread_t* thread) {
  if (iree_atomic_exchange(&thread->suspended, 0, iree_memory_order_release)) iree_futex_wake(&thread->suspended, 1);
}

iree_thread_override_t* iree_thread_priority_class_override_begin(iree_thread_t* thread,
                                                                  iree_thread_priority_class_t priority_class) {
  iree_thread_override_t* override = NULL;
  iree_status_t status = iree_allocator_malloc(thread->allocator, sizeof(*override), (void**)&override);
  if (iree_status_consume_code(status) != IREE_STATUS_OK) return NULL;
  iree_thread_retain(thread);
  iree_slim_mutex_lock(&thread->mutex);
  *override = (iree_thread_override_t){thread, clamp_priority(priority_class), thread->overrides};
  thread->overrides = override;
  apply_priority(thread);
  iree_slim_mutex_unlock(&thread->mutex);
  return override;
}

void iree_thread_override_end(iree_thread_override_t* override_token) {
  if (!override_token) return;
  iree_thread_t* thread = override_token->thread;
  iree_slim_mutex_lock(&thread->mutex);
  iree_thread_override_t** at = &thread->overrides;
  while (*at != override_token) at = &(*at)->next;
  *at = override_token->next;
  apply_priority(thread);
  iree_slim_mutex_unlock(&thread->mutex);
  iree_allocator_free(thread->allocator, override_token);
  iree_thread_release(thread);
}

void iree_thread_affinity_set_any(iree_thread_affinity_t* out_thread_affinity) {
  memset(out_thread_affinity, 0, sizeof(*out_thread_affinity));
}

void iree_thread_affinity_set_group_any(uint32_t group, iree_thread_affinity_t* out_thread_affinity) {
  iree_thread_affinity_set_any(out_thread_affinity);
  out_thread_affinity->group_any = 1;
  out_thread_affinity->group = group & 0xFF;
}

// Visits the numbers of a list of ranges as the system writes them: `0`, `0-1`, `0,2-3`.
static bool read_ranges(const char* path, void (*visit)(void* user_data, uint32_t number), void* user_data) {
  char text[1024] = {0};
  FILE* file = fopen(path, "r");
  if (!file) return false;
  size_t length = fread(text, 1, sizeof(text) - 1, file);
  fclose(file);
  for (iree_string_view_t rest = iree_string_view_trim(iree_make_string_view(text, length)), range; rest.size;) {
    iree_string_view_split(rest, ',', &range, &rest);
    iree_string_view_t first, last;
    uint32_t first_id = 0, last_id = 0;
    bool is_range = iree_string_view_split(range, '-', &first, &last) >= 0;
    if (!iree_string_view_atoi_uint32(first, &first_id)) break;
    last_id = first_id;
    if (is_range && (!iree_string_view_atoi_uint32(last, &last_id) || last_id < first_id)) break;
    for (uint32_t id = first_id; id <= last_id && id < CPU_SETSIZE; ++id) visit(user_data, id);
  }
  return true;
}

static void add_processor(void* user_data, uint32_t number) { CPU_SET(number, (cpu_set_t*)user_data); }

static void set_group_affinity(pthread_t handle, uint32_t group) {
  char path[64];
  cpu_set_t set;
  CPU_ZERO(&set);
  snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/cpulist", group);
  if (read_ranges(path, add_processor, &set) && CPU_COUNT(&set)) pthread_setaffinity_np(handle, sizeof(set), &set);
}

static void set_affinity(pthread_t handle, iree_thread_affinity_t affinity) {
  if (!affinity.id_assigned && affinity.group_any) set_group_affinity(handle, affinity.group);
  if (!affinity.id_assigned || affinity.id >= CPU_SETSIZE) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(affinity.id, &set);
  pthread_setaffinity_np(handle, sizeof(set), &set);
}

iree_status_t iree_thread_create(iree_thread_entry_t entry, void* entry_arg, iree_thread_create_params_t params,
                                 iree_allocator_t allocator, iree_thread_t** out_thread) {
  *out_thread = NULL;
  iree_thread_t* thread = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, sizeof(*thread), (void**)&thread));
  iree_atomic_ref_count_init(&thread->ref_count);
  thread->allocator = allocator;
  thread->entry = entry;
  thread->entry_arg = entry_arg;
  iree_string_view_to_cstring(params.name, thread->name, sizeof(thread->name));
  iree_slim_mutex_initialize(&thread->mutex);
  iree_atomic_store(&thread->suspended, params.create_suspended, iree_memory_order_relaxed);
  thread->priority_class = clamp_priority(params.priority_class);

  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (params.stack_size) {
    pthread_attr_setstacksize(&attributes, iree_max(params.stack_size, (iree_host_size_t)PTHREAD_STACK_MIN));
  }
  int error = pthread_create(&thread->handle, &attributes, thread_main, thread);
  pthread_attr_destroy(&attributes);
  if (error) {
    iree_allocator_free(allocator, thread);
    return iree_make_status(iree_status_code_from_errno(error), "starting a thread failed (%d)", error);
  }
  set_affinity(thread->handle, params.initial_affinity);
  *out_thread = thread;
  return iree_ok_status();
}

void iree_thread_retain(iree_thread_t* thread) {
  if (thread) iree_atomic_ref_count_inc(&thread->ref_count);
}

void iree_thread_join(iree_thread_t* thread) {
  if (iree_atomic_exchange(&thread->joined, 1, iree_memory_order_acq_rel) == 0) pthread_join(thread->handle, NULL);
}

void iree_thread_release(iree_thread_t* thread) {
  if (!thread || iree_atomic_ref_count_dec(&thread->ref_count) != 1) return;
  if (pthread_equal(thread->handle, pthread_self())) {
    pthread_detach(thread->handle);
    released_itself = true;
  } else {
    iree_thread_join(thread);
  }
  iree_allocator_free(thread->allocator, thread);
}

void iree_thread_request_affinity(iree_thread_t* thread, iree_thread_affinity_t affinity) {
  set_affinity(thread->handle, affinity);
}

void iree_thread_yield(void) { sched_yield(); }

//===----------------------------------------------------------------------------------------------------------------===
// NUMA
//===----------------------------------------------------------------------------------------------------------------===

static struct {
  iree_once_flag once;
  uint64_t words[IREE_NUMA_MAX_NODES / 64];
} online_nodes = {.once = IREE_ONCE_FLAG_INIT};

static void add_node(void* user_data, uint32_t number) {
  if (number < IREE_NUMA_MAX_NODES) iree_bitmap_set(*(iree_bitmap_t*)user_data, number);
}

static void find_online_nodes(void) {
  iree_bitmap_t nodes = {IREE_NUMA_MAX_NODES, online_nodes.words};
  read_ranges("/sys/devices/system/node/online", add_node, &nodes);
  if (iree_bitmap_none_set(nodes)) iree_bitmap_set(nodes, 0);
}

iree_bitmap_t iree_numa_online_nodes(void) {
  iree_call_once(&online_nodes.once, find_online_nodes);
  iree_bitmap_t nodes = {IREE_NUMA_MAX_NODES, online_nodes.words};
  return nodes;
}

iree_host_size_t iree_numa_node_count(void) { return iree_bitmap_count(iree_numa_online_nodes()); }

iree_numa_node_id_t iree_numa_node_for_current_thread(void) {
  unsigned cpu = 0, node = 0;
  return syscall(SYS_getcpu, &cpu, &node, NULL) == 0 ? node : 0;
}

iree_status_t iree_numa_bind_memory(void* ptr, iree_host_size_t size, iree_numa_node_id_t node_id) {
  enum { PREFERRED = 1, MOVE = 2 };  // MPOL_PREFERRED, MPOL_MF_MOVE
  if (node_id == IREE_NUMA_NODE_ANY) return iree_ok_status();
  if (node_id >= IREE_NUMA_MAX_NODES || !iree_bitmap_test(iree_numa_online_nodes(), node_id)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "there is no NUMA node %u", node_id);
  }
  unsigned long mask[IREE_NUMA_MAX_NODES / 64] = {0};
  mask[node_id / 64] = 1ul << (node_id % 64);
  syscall(SYS_mbind, ptr, size, PREFERRED, mask, (unsigned long)IREE_NUMA_MAX_NODES, MOVE);  // best effort
  return iree_ok_status();
}

iree_status_t iree_numa_alloc(iree_host_size_t size, const iree_numa_alloc_options_t* options, void** out_ptr,
                              iree_numa_alloc_info_t* out_info) {
  *out_ptr = NULL;
  memset(out_info, 0, sizeof(*out_info));
  iree_host_size_t huge = options->huge_page_size ? options->huge_page_size : (iree_host_size_t)2 << 20;
  iree_host_size_t page = (iree_host_size_t)sysconf(_SC_PAGESIZE), huge_size = 0;
  const int protection = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
  if (size == 0 || !iree_host_size_is_power_of_two(huge) || !iree_host_size_checked_align(size, huge, &huge_size)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "%" PRIhsz " bytes in pages of %" PRIhsz, size, huge);
  }
  if (options->alignment > page) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "memory is aligned to pages of %" PRIhsz ", not to %" PRIhsz,
                            page, options->alignment);
  }
  void* ptr = MAP_FAILED;
  if (options->flags & IREE_MEMORY_PLACEMENT_FLAG_EXPLICIT_HUGE_PAGES) {
    int page_bits = (int)((unsigned)(__builtin_ctzll(huge) & 63) << 26);  // MAP_HUGE_SHIFT
    ptr = mmap(NULL, huge_size, protection, flags | MAP_HUGETLB | page_bits, -1, 0);
    *out_info = (iree_numa_alloc_info_t){huge_size, huge, IREE_NUMA_ALLOC_METHOD_EXPLICIT_HUGE_PAGES};
  }
  if (ptr == MAP_FAILED) {
    iree_host_size_t mapped = iree_host_align(size, page);
    ptr = mmap(NULL, mapped, protection, flags, -1, 0);
    *out_info = (iree_numa_alloc_info_t){mapped, 0, IREE_NUMA_ALLOC_METHOD_MMAP};
    if (ptr != MAP_FAILED && options->flags && madvise(ptr, mapped, MADV_HUGEPAGE) == 0) {
      out_info->method = IREE_NUMA_ALLOC_METHOD_TRANSPARENT_HUGE_PAGES;
    }
  }
  if (ptr == MAP_FAILED) return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "no %" PRIhsz " bytes", size);
  iree_status_t status = iree_numa_bind_memory(ptr, out_info->allocated_size, options->node_id);
  if (iree_status_is_ok(status)) {
    *out_ptr = ptr;
  } else {
    iree_numa_free(ptr, out_info);
  }
  return status;
}

void iree_numa_free(void* ptr, const iree_numa_alloc_info_t* info) {
  if (ptr) munmap(ptr, info->allocated_size);
}
