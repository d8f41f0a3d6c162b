// Times of kernels by CUPTI's activity records; see activity.h.
//
// Records come in buffers, in no order, on this thread or another: a call that launches has a number, which its kernels
// tell, and a record that says which of our numbers it has.
#include "hal/stream/activity.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "hal/stream/cupti.h"
#include "iree/base/internal/atomics.h"
#include "iree/base/threading/call_once.h"
#include "iree/base/threading/mutex.h"
#include "iree/base/threading/thread.h"

enum {
  BUFFER_LENGTH = 256 << 10,
  LEAST_TRIES = 8,
  MAX_KEPT = 1 << 20,   // of kernels and calls that nobody asks for
  WAIT_NS = 200000000,  // for kernels that others launched, without which no record comes
};

typedef struct kernel_t {
  uint32_t correlation;
  activity_kernel_t times;
} kernel_t;
typedef struct call_t {
  uint64_t id;
  uint32_t correlation;
} call_t;

typedef struct activity_api_t {
#define ENTRY(name, symbol, parameters) int(*name) parameters;
#include "hal/stream/cupti_activity.def"
  char path[1024];  // of the file
} activity_api_t;

static struct {
  iree_once_flag once;
  iree_slim_mutex_t control;  // guards what follows
  activity_api_t api;
  bool is_loaded;
  uint32_t users;

  iree_slim_mutex_t mutex;  // guards what follows
  iree_host_size_t kernel_count, kernel_capacity;
  kernel_t* kernels;
  iree_host_size_t call_count, call_capacity;
  call_t* calls;
} activity = {.once = IREE_ONCE_FLAG_INIT};

static void initialize(void) {
  iree_slim_mutex_initialize(&activity.control);
  iree_slim_mutex_initialize(&activity.mutex);
}

//===----------------------------------------------------------------------------------------------------------------===
// Records
//===----------------------------------------------------------------------------------------------------------------===

// Room for one more; false: there is none, and it is lost. Of very many, which nobody asks for, the older half goes.
static bool reserve(iree_host_size_t* count, iree_host_size_t size, iree_host_size_t* capacity, void** inout_items) {
  if (*count == MAX_KEPT) {
    *count = MAX_KEPT / 2;
    memmove(*inout_items, (uint8_t*)*inout_items + *count * size, *count * size);
  }
  if (*count < *capacity) return true;
  iree_status_t status = iree_allocator_grow_array(iree_allocator_system(), *count + 1, size, capacity, inout_items);
  return iree_status_consume_code(status) == IREE_STATUS_OK;
}

static void keep_kernel(const cupti_kernel_record_t* record) {
  if (!record->start || !record->end) return;
  if (!reserve(&activity.kernel_count, sizeof(kernel_t), &activity.kernel_capacity, (void**)&activity.kernels)) return;
  activity.kernels[activity.kernel_count++] = (kernel_t){record->correlation, {record->start, record->end}};
}

static void keep_call(const cupti_external_record_t* record) {
  if (record->external_kind != CUPTI_EXTERNAL_UNKNOWN) return;
  if (!reserve(&activity.call_count, sizeof(call_t), &activity.call_capacity, (void**)&activity.calls)) return;
  activity.calls[activity.call_count++] = (call_t){record->id, record->correlation};
}

static void request(uint8_t** out_buffer, size_t* out_length, size_t* out_max_records) {
  iree_status_t status =
      iree_allocator_malloc_uninitialized(iree_allocator_system(), BUFFER_LENGTH, (void**)out_buffer);
  bool is_there = iree_status_consume_code(status) == IREE_STATUS_OK;
  if (!is_there) *out_buffer = NULL;
  *out_length = is_there ? BUFFER_LENGTH : 0;
  *out_max_records = 0;  // as many as fit
}

static void complete(void* context, uint32_t stream, uint8_t* buffer, size_t capacity, size_t length) {
  uint8_t* record = NULL;
  iree_slim_mutex_lock(&activity.mutex);
  while (length && activity.api.next(buffer, length, &record) == CUPTI_SUCCESS) {
    uint32_t kind = 0;
    memcpy(&kind, record, sizeof(kind));
    if (kind == CUPTI_KERNELS) keep_kernel((const cupti_kernel_record_t*)record);
    if (kind == CUPTI_EXTERNAL_IDS) keep_call((const cupti_external_record_t*)record);
  }
  iree_slim_mutex_unlock(&activity.mutex);
  iree_allocator_free(iree_allocator_system(), buffer);
}

static uint64_t now(void) { return (uint64_t)iree_time_now(); }

//===----------------------------------------------------------------------------------------------------------------===
// Beginning and end; `control` is held
//===----------------------------------------------------------------------------------------------------------------===

static const char* resolve(void* handle, void* user_data) {
  activity_api_t* api = (activity_api_t*)user_data;
#define ENTRY(name, symbol, parameters)          \
  *(void**)(&api->name) = dlsym(handle, symbol); \
  if (!api->name) return symbol;
#define OPTIONAL(name, symbol, parameters) *(void**)(&api->name) = dlsym(handle, symbol);
#include "hal/stream/cupti_activity.def"
  return NULL;
}

static iree_status_t check(int result, const char* call) {
  if (result == CUPTI_SUCCESS) return iree_ok_status();
  return iree_make_status(IREE_STATUS_UNAVAILABLE, "%s failed with %d", call, result);
}

static iree_status_t load(void) {
  activity_api_t* api = &activity.api;
  if (activity.is_loaded) return iree_ok_status();
  IREE_RETURN_IF_ERROR(cupti_open(resolve, api, api->path, sizeof(api->path)));
  IREE_RETURN_IF_ERROR(check(api->clock(now), "cuptiActivityRegisterTimestampCallback"));
  IREE_RETURN_IF_ERROR(check(api->callbacks(request, complete), "cuptiActivityRegisterCallbacks"));
  activity.is_loaded = true;
  return iree_ok_status();
}

static const int kinds[] = {CUPTI_EXTERNAL_IDS, CUPTI_DRIVER_CALLS, CUPTI_KERNELS};

// Numbers of calls that launch nothing, and are made often (cupti_driver_cbid.h).
static const uint32_t frequent_calls[] = {
    120,  // cuEventQuery
    125,  // cuStreamQuery
    304,  // cuCtxGetCurrent
};

static void disable_all(void) {
  for (size_t i = 0; i < IREE_ARRAYSIZE(kinds); ++i) activity.api.disable(kinds[i]);
}

static iree_status_t enable_all(void) {
  const activity_api_t* api = &activity.api;
  for (size_t i = 0; i < IREE_ARRAYSIZE(kinds); ++i) {
    iree_status_t status = check(api->enable(kinds[i]), "cuptiActivityEnable");
    if (iree_status_is_ok(status)) continue;
    disable_all();
    return status;
  }
  for (size_t i = 0; api->enable_call && i < IREE_ARRAYSIZE(frequent_calls); ++i) {
    api->enable_call(frequent_calls[i], 0);
  }
  return iree_ok_status();
}

iree_status_t activity_begin(void) {
  iree_call_once(&activity.once, initialize);
  iree_slim_mutex_lock(&activity.control);
  iree_status_t status = activity.users ? iree_ok_status() : load();
  if (iree_status_is_ok(status) && !activity.users) status = enable_all();
  if (iree_status_is_ok(status)) ++activity.users;
  iree_slim_mutex_unlock(&activity.control);
  return status;
}

void activity_end(void) {
  iree_slim_mutex_lock(&activity.control);
  bool is_last = --activity.users == 0;
  if (is_last) {
    disable_all();
    activity.api.flush(0);
  }
  iree_slim_mutex_unlock(&activity.control);
}

void activity_push(uint64_t id) { activity.api.push(CUPTI_EXTERNAL_UNKNOWN, id); }

void activity_pop(void) { activity.api.pop(CUPTI_EXTERNAL_UNKNOWN, NULL); }

//===----------------------------------------------------------------------------------------------------------------===
// Kernels; the mutex is held
//===----------------------------------------------------------------------------------------------------------------===

// Where the numbers of an id's calls are: between others' there may be some, too.
typedef struct range_t {
  uint32_t first, last;
} range_t;

static range_t find_range(uint64_t id) {
  range_t range = {UINT32_MAX, 0};
  for (iree_host_size_t i = 0; i < activity.call_count; ++i) {
    if (activity.calls[i].id != id) continue;
    range.first = iree_min(range.first, activity.calls[i].correlation);
    range.last = iree_max(range.last, activity.calls[i].correlation);
  }
  return range;
}

static bool is_of(uint64_t id, range_t range, uint32_t correlation) {
  if (correlation < range.first || correlation > range.last) return false;
  for (iree_host_size_t i = 0; i < activity.call_count; ++i) {
    if (activity.calls[i].id == id && activity.calls[i].correlation == correlation) return true;
  }
  return false;
}

// As they were launched: by call, and those of a graph as they began.
static int compare(const void* a, const void* b) {
  const kernel_t *left = (const kernel_t*)a, *right = (const kernel_t*)b;
  if (left->correlation != right->correlation) return left->correlation < right->correlation ? -1 : 1;
  return left->times.start < right->times.start ? -1 : left->times.start > right->times.start;
}

// How many kernels of that number there are; with `out_kernels` they are moved there, in no order.
static uint32_t gather(uint64_t id, uint32_t count, kernel_t* out_kernels) {
  uint32_t found = 0;
  iree_host_size_t left = 0;
  range_t range = find_range(id);
  for (iree_host_size_t i = 0; i < activity.kernel_count; ++i) {
    bool is_one = is_of(id, range, activity.kernels[i].correlation);
    if (is_one && out_kernels && found < count) out_kernels[found] = activity.kernels[i];
    if (!is_one || !out_kernels) activity.kernels[left++] = activity.kernels[i];
    found += is_one;
  }
  activity.kernel_count = left;
  return found;
}

static void forget_calls(uint64_t id) {
  iree_host_size_t left = 0;
  for (iree_host_size_t i = 0; i < activity.call_count; ++i) {
    if (activity.calls[i].id != id) activity.calls[left++] = activity.calls[i];
  }
  activity.call_count = left;
}

//===----------------------------------------------------------------------------------------------------------------===

// The library gives buffers back when all kernels of theirs are over.
static uint32_t await_kernels(uint64_t id, uint32_t count) {
  uint32_t found = 0, tries = 0;
  for (iree_time_t until = iree_time_now() + WAIT_NS;;) {
    activity.api.flush(0);
    iree_slim_mutex_lock(&activity.mutex);
    found = gather(id, count, NULL);
    iree_slim_mutex_unlock(&activity.mutex);
    if (found >= count || (++tries >= LEAST_TRIES && iree_time_now() >= until)) return found;
    iree_thread_yield();
  }
}

uint32_t activity_take(uint64_t id, uint32_t count, activity_kernel_t* out_kernels) {
  kernel_t* kernels = NULL;
  iree_status_t status =
      iree_allocator_malloc_array(iree_allocator_system(), count, sizeof(*kernels), (void**)&kernels);
  if (iree_status_consume_code(status) != IREE_STATUS_OK) return 0;
  uint32_t found = await_kernels(id, count);
  iree_slim_mutex_lock(&activity.mutex);
  gather(id, count, kernels);
  forget_calls(id);
  iree_slim_mutex_unlock(&activity.mutex);
  if (found == count) qsort(kernels, count, sizeof(*kernels), compare);
  for (uint32_t i = 0; i < count && found == count; ++i) out_kernels[i] = kernels[i].times;
  iree_allocator_free(iree_allocator_system(), kernels);
  return found;
}
