// Signals: an amd_signal_t in memory. Its value may also change by plain stores of others (drivers write doorbells and
// completion values as memory), so whoever waits looks at it again after at most a short sleep; changes through this
// interface wake it at once.
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "softgpu/hsa/runtime.h"

enum { SIGNAL_SPINS = 2000, SIGNAL_SLEEP_MIN = 20000, SIGNAL_SLEEP_MAX = 4000000 };  // nanoseconds

static uint32_t change_count;  // of all signals, by this interface: what those who wait sleep on
static uint32_t waiting_count;

static amd_signal_t* signal_of(hsa_signal_t handle) { return (amd_signal_t*)handle.handle; }

volatile int64_t* signal_value(hsa_signal_t handle) {
  amd_signal_t* signal = signal_of(handle);
  return signal->kind == AMD_SIGNAL_KIND_DOORBELL ? (volatile int64_t*)signal->hardware_doorbell_ptr : &signal->value;
}

bool signal_exists(hsa_signal_t handle) {
  memory_range_t range;
  return memory_map_find(runtime.memory, handle.handle, &range) &&
         handle.handle + sizeof(amd_signal_t) <= range.base + range.size;
}

void signal_notify(void) {
  __atomic_add_fetch(&change_count, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&waiting_count, __ATOMIC_SEQ_CST)) {
    syscall(SYS_futex, &change_count, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
  }
}

// The queue whose doorbell it is, whose thread alone waits for it; NULL for others. What changed may be gone when it is
// told: this is asked before.
static amd_queue_t* rung_by(hsa_signal_t handle) {
  const amd_signal_t* signal = signal_of(handle);
  return signal->kind == AMD_SIGNAL_KIND_DOORBELL ? signal->queue_ptr : NULL;
}

static void tell(amd_queue_t* rung) {
  if (rung) {
    queue_ring(rung);
  } else {
    signal_notify();
  }
}

hsa_status_t hsa_amd_signal_create(hsa_signal_value_t initial, uint32_t consumer_count, const hsa_agent_t* consumers,
                                   uint64_t attributes, hsa_signal_t* out) {
  REQUIRE_OPEN();
  REQUIRE(out && (!consumer_count || consumers), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  REQUIRE(!(attributes & HSA_AMD_SIGNAL_IPC), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  amd_signal_t* signal = aligned_alloc(64, sizeof(amd_signal_t));
  REQUIRE(signal, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  *signal = (amd_signal_t){.kind = AMD_SIGNAL_KIND_USER, .value = initial};
  // Signals are in memory of every GPU.
  memory_range_t range = {(uint64_t)signal, sizeof(*signal), UINT64_MAX, true, "signal"};
  if (!memory_map_insert(runtime.memory, &range)) return free(signal), HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  out->handle = (uint64_t)signal;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_signal_create(hsa_signal_value_t initial, uint32_t consumer_count, const hsa_agent_t* consumers,
                               hsa_signal_t* out) {
  return hsa_amd_signal_create(initial, consumer_count, consumers, 0, out);
}

hsa_status_t hsa_signal_destroy(hsa_signal_t handle) {
  REQUIRE_OPEN();
  REQUIRE(handle.handle, HSA_STATUS_ERROR_INVALID_SIGNAL);
  REQUIRE(memory_map_remove(runtime.memory, handle.handle), HSA_STATUS_ERROR_INVALID_SIGNAL);
  free(signal_of(handle));
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_signal_value_pointer(hsa_signal_t handle, volatile hsa_signal_value_t** out) {
  REQUIRE_OPEN();
  REQUIRE(handle.handle && out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  *out = signal_value(handle);
  return HSA_STATUS_SUCCESS;
}

// ORDER(suffix, memory order)
#define LOAD_ORDERS(ORDER) ORDER(relaxed, RELAXED) ORDER(scacquire, ACQUIRE) ORDER(acquire, ACQUIRE)
#define STORE_ORDERS(ORDER) ORDER(relaxed, RELAXED) ORDER(screlease, RELEASE) ORDER(release, RELEASE)
#define CHANGE_ORDERS(ORDER) \
  ORDER(relaxed, RELAXED)    \
  ORDER(scacquire, ACQUIRE)  \
  ORDER(screlease, RELEASE)  \
  ORDER(scacq_screl, ACQ_REL) ORDER(acquire, ACQUIRE) ORDER(release, RELEASE) ORDER(acq_rel, ACQ_REL)

#define ORDER(suffix, order)                                         \
  hsa_signal_value_t hsa_signal_load_##suffix(hsa_signal_t handle) { \
    return __atomic_load_n(signal_value(handle), __ATOMIC_##order);  \
  }
LOAD_ORDERS(ORDER)
#undef ORDER

#define ORDER(suffix, order)                                                      \
  void hsa_signal_store_##suffix(hsa_signal_t handle, hsa_signal_value_t value) { \
    amd_queue_t* rung = rung_by(handle);                                          \
    __atomic_store_n(signal_value(handle), value, __ATOMIC_##order);              \
    tell(rung);                                                                   \
  }
STORE_ORDERS(ORDER)
#undef ORDER

void hsa_signal_silent_store_relaxed(hsa_signal_t handle, hsa_signal_value_t value) {
  __atomic_store_n(signal_value(handle), value, __ATOMIC_RELAXED);
}
void hsa_signal_silent_store_screlease(hsa_signal_t handle, hsa_signal_value_t value) {
  __atomic_store_n(signal_value(handle), value, __ATOMIC_RELEASE);
}

#define CHANGE(name, builtin, suffix, order)                                         \
  void hsa_signal_##name##_##suffix(hsa_signal_t handle, hsa_signal_value_t value) { \
    amd_queue_t* rung = rung_by(handle);                                             \
    builtin(signal_value(handle), value, __ATOMIC_##order);                          \
    tell(rung);                                                                      \
  }
#define ORDER(suffix, order)                                                                                        \
  CHANGE(add, __atomic_fetch_add, suffix, order)                                                                    \
  CHANGE(subtract, __atomic_fetch_sub, suffix, order)                                                               \
  CHANGE(and, __atomic_fetch_and, suffix, order)                                                                    \
  CHANGE(or, __atomic_fetch_or, suffix, order)                                                                      \
  CHANGE(xor, __atomic_fetch_xor, suffix, order)                                                                    \
  hsa_signal_value_t hsa_signal_exchange_##suffix(hsa_signal_t handle, hsa_signal_value_t value) {                  \
    amd_queue_t* rung = rung_by(handle);                                                                            \
    hsa_signal_value_t old = __atomic_exchange_n(signal_value(handle), value, __ATOMIC_##order);                    \
    tell(rung);                                                                                                     \
    return old;                                                                                                     \
  }                                                                                                                 \
  hsa_signal_value_t hsa_signal_cas_##suffix(hsa_signal_t handle, hsa_signal_value_t expected,                      \
                                             hsa_signal_value_t value) {                                            \
    amd_queue_t* rung = rung_by(handle);                                                                            \
    __atomic_compare_exchange_n(signal_value(handle), &expected, value, false, __ATOMIC_##order, __ATOMIC_RELAXED); \
    tell(rung);                                                                                                     \
    return expected;                                                                                                \
  }
CHANGE_ORDERS(ORDER)
#undef ORDER

void signal_subtract(hsa_signal_t handle, hsa_signal_value_t value) {
  if (handle.handle) hsa_signal_subtract_screlease(handle, value);
}

hsa_signal_value_t signal_load(hsa_signal_t handle) { return handle.handle ? hsa_signal_load_scacquire(handle) : 0; }

void signal_set_times(hsa_signal_t handle, uint64_t begin, uint64_t end) {
  if (!handle.handle) return;
  // Several queues may complete one signal at once.
  __atomic_store_n(&signal_of(handle)->start_ts, begin, __ATOMIC_RELAXED);
  __atomic_store_n(&signal_of(handle)->end_ts, end, __ATOMIC_RELAXED);
}

bool signal_holds(hsa_signal_condition_t condition, hsa_signal_value_t value, hsa_signal_value_t compare) {
  switch (condition) {
    case HSA_SIGNAL_CONDITION_EQ:
      return value == compare;
    case HSA_SIGNAL_CONDITION_NE:
      return value != compare;
    case HSA_SIGNAL_CONDITION_LT:
      return value < compare;
    default:
      return value >= compare;
  }
}

uint32_t signal_change_count(void) { return __atomic_load_n(&change_count, __ATOMIC_SEQ_CST); }

void signal_sleep(uint32_t seen, uint64_t nanoseconds) {
  struct timespec time = {(time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000)};
  __atomic_add_fetch(&waiting_count, 1, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, &change_count, FUTEX_WAIT_PRIVATE, seen, &time, NULL, 0);
  __atomic_sub_fetch(&waiting_count, 1, __ATOMIC_SEQ_CST);
}

typedef struct wait_t {
  uint32_t count;
  const hsa_signal_t* signals;
  const hsa_signal_condition_t* conditions;
  const hsa_signal_value_t* values;
  bool all;
  hsa_signal_value_t* seen;  // value of the one that holds, or of each
} wait_t;

// Index of a signal whose condition holds (0 when all must and do), or UINT32_MAX.
static uint32_t look(const wait_t* wait) {
  for (uint32_t i = 0; i < wait->count; ++i) {
    hsa_signal_value_t value = signal_load(wait->signals[i]);
    bool now = signal_holds(wait->conditions[i], value, wait->values[i]);
    if (wait->seen && (wait->all || now)) wait->seen[wait->all ? i : 0] = value;
    if (wait->all && !now) return UINT32_MAX;
    if (!wait->all && now) return i;
  }
  return wait->all ? 0 : UINT32_MAX;
}

static uint32_t wait_for(const wait_t* wait, uint64_t timeout) {
  uint64_t begin = 0, sleep = SIGNAL_SLEEP_MIN;
  if (!wait->count) return wait->all ? 0 : UINT32_MAX;
  for (uint32_t spins = 0;; ++spins) {
    uint32_t seen = signal_change_count();
    uint32_t found = look(wait);
    if (found != UINT32_MAX) return found;
    uint64_t now = runtime_timestamp(), left;
    if (!begin) begin = now;
    if (now - begin >= timeout) return UINT32_MAX;
    if (spins < SIGNAL_SPINS && now - begin < 20000) continue;
    left = timeout - (now - begin);
    signal_sleep(seen, left < sleep ? left : sleep);
    if (sleep < SIGNAL_SLEEP_MAX) sleep += sleep / 4;
  }
}

#define ORDER(suffix, order)                                                                                         \
  hsa_signal_value_t hsa_signal_wait_##suffix(hsa_signal_t handle, hsa_signal_condition_t condition,                 \
                                              hsa_signal_value_t compare, uint64_t timeout, hsa_wait_state_t hint) { \
    hsa_signal_value_t seen = 0;                                                                                     \
    wait_t wait = {1, &handle, &condition, &compare, false, &seen};                                                  \
    return wait_for(&wait, timeout) == 0 ? seen : signal_load(handle);                                               \
  }
LOAD_ORDERS(ORDER)
#undef ORDER

uint32_t hsa_amd_signal_wait_any(uint32_t count, hsa_signal_t* signals, hsa_signal_condition_t* conditions,
                                 hsa_signal_value_t* values, uint64_t timeout, hsa_wait_state_t hint,
                                 hsa_signal_value_t* satisfying) {
  wait_t wait = {count, signals, conditions, values, false, satisfying};
  return wait_for(&wait, timeout);
}

uint32_t hsa_amd_signal_wait_all(uint32_t count, hsa_signal_t* signals, hsa_signal_condition_t* conditions,
                                 hsa_signal_value_t* values, uint64_t timeout, hsa_wait_state_t hint,
                                 hsa_signal_value_t* satisfying) {
  wait_t wait = {count, signals, conditions, values, true, satisfying};
  return wait_for(&wait, timeout);
}

// Groups of signals.
typedef struct signal_group_t {
  uint32_t count;
  hsa_signal_t signals[];
} signal_group_t;

hsa_status_t hsa_signal_group_create(uint32_t count, const hsa_signal_t* signals, uint32_t consumer_count,
                                     const hsa_agent_t* consumers, hsa_signal_group_t* out) {
  REQUIRE_OPEN();
  REQUIRE(count && signals && out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  signal_group_t* group = malloc(sizeof(*group) + count * sizeof(hsa_signal_t));
  REQUIRE(group, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  group->count = count;
  for (uint32_t i = 0; i < count; ++i) group->signals[i] = signals[i];
  out->handle = (uint64_t)group;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_signal_group_destroy(hsa_signal_group_t group) {
  REQUIRE_OPEN();
  REQUIRE(group.handle, HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP);
  free((void*)group.handle);
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t wait_group(hsa_signal_group_t handle, const hsa_signal_condition_t* conditions,
                               const hsa_signal_value_t* values, hsa_signal_t* signal, hsa_signal_value_t* value) {
  REQUIRE_OPEN();
  REQUIRE(handle.handle, HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP);
  REQUIRE(conditions && values && signal && value, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  const signal_group_t* group = (const signal_group_t*)handle.handle;
  wait_t wait = {group->count, group->signals, conditions, values, false, value};
  *signal = group->signals[wait_for(&wait, UINT64_MAX)];
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_signal_group_wait_any_scacquire(hsa_signal_group_t group, const hsa_signal_condition_t* conditions,
                                                 const hsa_signal_value_t* values, hsa_wait_state_t hint,
                                                 hsa_signal_t* signal, hsa_signal_value_t* value) {
  return wait_group(group, conditions, values, signal, value);
}
hsa_status_t hsa_signal_group_wait_any_relaxed(hsa_signal_group_t group, const hsa_signal_condition_t* conditions,
                                               const hsa_signal_value_t* values, hsa_wait_state_t hint,
                                               hsa_signal_t* signal, hsa_signal_value_t* value) {
  return wait_group(group, conditions, values, signal, value);
}

hsa_status_t hsa_amd_ipc_signal_create(hsa_signal_t signal, hsa_amd_ipc_signal_t* handle) {
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
hsa_status_t hsa_amd_ipc_signal_attach(const hsa_amd_ipc_signal_t* handle, hsa_signal_t* signal) {
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
