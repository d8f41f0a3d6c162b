// Counters of processors; see counters.h.
//
// Each thread opens the counters for itself, as one group, when it first runs a piece; they are closed together at the
// end. A group is on the processor as a whole, or waits for its turn: then what it missed is not known, and the sample
// has no values.
#include "hal/local/counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hal/queued_device.h"

typedef struct row_t {
  const char *name, *description;
  uint32_t type;
  uint64_t number;
  iree_hal_profile_counter_unit_t unit;
} row_t;
static const row_t rows[] = {
#define COUNTER(name, type, number, unit, description) \
  {name, description, PERF_TYPE_##type, PERF_COUNT_##number, IREE_HAL_PROFILE_COUNTER_UNIT_##unit},
#include "hal/local/counters.def"
};

// A thread's counters; the first one leads.
typedef struct group_t {
  struct group_t* next;
  uint32_t count;
  int files[LOCAL_MAX_COUNTERS];
} group_t;

typedef struct sample_t {
  struct counting_t* counting;
  iree_atomic_uint32_t is_lost;
  iree_atomic_uint64_t values[LOCAL_MAX_COUNTERS];
} sample_t;

typedef struct counting_t {
  iree_allocator_t host_allocator;
  uint64_t number;  // of the process
  uint32_t counter_count;
  const row_t* rows[LOCAL_MAX_COUNTERS];
  hal_profile_counter_t counters[LOCAL_MAX_COUNTERS];
  sample_t range;           // over time
  uint64_t tick;            // when that began
  iree_slim_mutex_t mutex;  // guards what follows
  group_t* groups;
} counting_t;

static iree_atomic_uint64_t last_number;
// This thread's group, of the counting with that number: others' are gone, or another thread's.
static _Thread_local struct {
  uint64_t number;
  group_t* group;  // NULL: it could not be opened
} own;

//===----------------------------------------------------------------------------------------------------------------===
// Groups
//===----------------------------------------------------------------------------------------------------------------===

static int open_event(const row_t* row, int leader) {
  struct perf_event_attr attributes = {
      .type = row->type,
      .size = sizeof(attributes),
      .config = row->number,
      .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
      .exclude_kernel = 1,
      .exclude_hv = 1,
  };
  return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

static void close_group(group_t* group) {
  while (group->count) close(group->files[--group->count]);
}

static iree_status_t refuse_event(const row_t* row, bool is_first, int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return iree_make_status(IREE_STATUS_PERMISSION_DENIED,
                              "Linux lets this process count nothing (perf_event_open: %s): it does with "
                              "/proc/sys/kernel/perf_event_paranoid at 2 or less or CAP_PERFMON, and containers where "
                              "their system call filter does",
                              strerror(error));
    case ENOSYS:
      return iree_make_status(IREE_STATUS_UNAVAILABLE, "this system has no perf events, which counters need");
    case EINVAL:
    case ENOSPC:
      if (is_first) break;
      return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                              "the processor does not count %s and those before it at a time: ask for fewer",
                              row->name);
    default:
      break;
  }
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                          "counter %s is none of this processor's (perf_event_open: %s); virtual machines often have "
                          "page-faults alone",
                          row->name, strerror(error));
}

static iree_status_t open_group(const counting_t* counting, group_t* group) {
  for (uint32_t i = 0; i < counting->counter_count; ++i) {
    int file = open_event(counting->rows[i], i ? group->files[0] : -1);
    if (file < 0) {
      int error = errno;
      close_group(group);
      return refuse_event(counting->rows[i], i == 0, error);
    }
    group->files[group->count++] = file;
  }
  return iree_ok_status();
}

static iree_status_t create_group(counting_t* counting, group_t** out_group) {
  group_t* group = NULL;
  *out_group = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(counting->host_allocator, sizeof(*group), (void**)&group));
  iree_status_t status = open_group(counting, group);
  if (!iree_status_is_ok(status)) {
    iree_allocator_free(counting->host_allocator, group);
    return status;
  }
  iree_slim_mutex_lock(&counting->mutex);
  group->next = counting->groups;
  counting->groups = group;
  iree_slim_mutex_unlock(&counting->mutex);
  *out_group = group;
  return status;
}

static group_t* own_group(counting_t* counting) {
  if (own.number != counting->number) {
    own.number = counting->number;
    iree_status_ignore(create_group(counting, &own.group));
  }
  return own.group;
}

//===----------------------------------------------------------------------------------------------------------------===
// Pieces
//===----------------------------------------------------------------------------------------------------------------===

static bool read_group(const group_t* group, local_reading_t* out_reading) {
  uint64_t data[3 + LOCAL_MAX_COUNTERS];  // how many, the times, the values
  ssize_t size = (ssize_t)((3 + group->count) * sizeof(data[0]));
  if (read(group->files[0], data, sizeof(data)) != size || data[0] != group->count) return false;
  out_reading->enabled = data[1];
  out_reading->running = data[2];
  memcpy(out_reading->values, data + 3, group->count * sizeof(data[0]));
  return true;
}

void local_counters_begin(void* data, local_reading_t* out_reading) {
  const group_t* group = own_group((counting_t*)data);
  out_reading->is_there = group && read_group(group, out_reading);
}

static void add(sample_t* sample, uint32_t count, const local_reading_t* begin, const local_reading_t* end) {
  bool is_whole = end->is_there && end->enabled - begin->enabled == end->running - begin->running;
  if (!is_whole) iree_atomic_store(&sample->is_lost, 1, iree_memory_order_relaxed);
  for (uint32_t i = 0; i < count && is_whole; ++i) {
    iree_atomic_fetch_add(&sample->values[i], end->values[i] - begin->values[i], iree_memory_order_relaxed);
  }
}

void local_counters_end(void* data, uint64_t value, const local_reading_t* begin) {
  counting_t* counting = (counting_t*)data;
  sample_t* sample = (sample_t*)(uintptr_t)value;
  local_reading_t end = {0};
  end.is_there = begin->is_there && read_group(own.group, &end);
  add(&counting->range, counting->counter_count, begin, &end);
  if (sample) add(sample, counting->counter_count, begin, &end);
}

//===----------------------------------------------------------------------------------------------------------------===
// Samples
//===----------------------------------------------------------------------------------------------------------------===

static uint64_t make_sample(void* data, const hal_profile_queue_t* queue) {
  counting_t* counting = (counting_t*)data;
  sample_t* sample = NULL;
  iree_status_t status = iree_allocator_malloc(counting->host_allocator, sizeof(*sample), (void**)&sample);
  if (iree_status_consume_code(status)) return 0;
  sample->counting = counting;
  return (uint64_t)(uintptr_t)sample;
}

static void free_sample(void* data, uint64_t value) {
  iree_allocator_free(((counting_t*)data)->host_allocator, (void*)(uintptr_t)value);
}

static bool read_sample(void* data, uint64_t value, uint64_t* out_values) {
  sample_t* sample = (sample_t*)(uintptr_t)value;
  for (uint32_t i = 0; i < sample->counting->counter_count; ++i) {
    out_values[i] = iree_atomic_load(&sample->values[i], iree_memory_order_relaxed);
  }
  return !iree_atomic_load(&sample->is_lost, iree_memory_order_relaxed);
}

// What all pieces counted, of any command.
static iree_status_t read_range(void* data, uint32_t physical, uint64_t* out_values, uint64_t* out_start,
                                uint64_t* out_end) {
  counting_t* counting = (counting_t*)data;
  sample_t* range = &counting->range;
  *out_start = counting->tick;
  *out_end = counting->tick = (uint64_t)iree_time_now();
  for (uint32_t i = 0; i < counting->counter_count; ++i) {
    out_values[i] = iree_atomic_exchange(&range->values[i], 0, iree_memory_order_relaxed);
  }
  if (!iree_atomic_exchange(&range->is_lost, 0, iree_memory_order_relaxed)) return iree_ok_status();
  return iree_make_status(IREE_STATUS_DATA_LOSS,
                          "the processor did not count all of the time, as others count, too: ask for fewer counters");
}

//===----------------------------------------------------------------------------------------------------------------===
// Begin and end
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t refuse_name(iree_string_view_t name) {
  char known[512];
  size_t size = 0;
  for (size_t i = 0; i < IREE_ARRAYSIZE(rows); ++i) {
    size += (size_t)snprintf(known + size, sizeof(known) - size, "%s%s", i ? ", " : "", rows[i].name);
  }
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "unsupported counter '%.*s'; those known are %s", (int)name.size,
                          name.data, known);
}

static iree_status_t take_names(counting_t* counting, const iree_hal_profile_counter_set_selection_t* set) {
  for (iree_host_size_t i = 0; i < set->counter_name_count; ++i) {
    const row_t* row = rows;
    const row_t* end = rows + IREE_ARRAYSIZE(rows);
    while (row < end && !iree_string_view_equal(set->counter_names[i], iree_make_cstring_view(row->name))) ++row;
    if (row == end) return refuse_name(set->counter_names[i]);
    counting->rows[i] = row;
    counting->counters[i] = (hal_profile_counter_t){
        .block = row->type == PERF_TYPE_HARDWARE ? IREE_SV("hardware") : IREE_SV("software"),
        .name = iree_make_cstring_view(row->name),
        .description = iree_make_cstring_view(row->description),
        .unit = row->unit,
        .value_count = 1,
    };
    ++counting->counter_count;
  }
  return iree_ok_status();
}

static void end_counting(void* data) {
  counting_t* counting = (counting_t*)data;
  for (group_t* group = counting->groups; group;) {
    group_t* next = group->next;
    close_group(group);
    iree_allocator_free(counting->host_allocator, group);
    group = next;
  }
  iree_slim_mutex_deinitialize(&counting->mutex);
  iree_allocator_free(counting->host_allocator, counting);
}

// A group is opened at once, so that Linux says what it does not count.
static iree_status_t begin_counting(hal_queued_device_t* device, const iree_hal_device_profiling_options_t* options,
                                    void** out_counting, const hal_profile_counter_t** out_counters) {
  counting_t* counting = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(device->host_allocator, sizeof(*counting), (void**)&counting));
  counting->host_allocator = device->host_allocator;
  counting->number = iree_atomic_fetch_add(&last_number, 1, iree_memory_order_relaxed) + 1;
  counting->range.counting = counting;
  counting->tick = (uint64_t)iree_time_now();
  iree_slim_mutex_initialize(&counting->mutex);
  *out_counting = counting;
  *out_counters = counting->counters;
  IREE_RETURN_IF_ERROR(take_names(counting, &options->counter_sets[0]));
  own.number = counting->number;
  return create_group(counting, &own.group);
}

const hal_profile_counting_t local_counting = {
    .most_counters = LOCAL_MAX_COUNTERS,
    .begin = begin_counting,
    .end = end_counting,
    .make_sample = make_sample,
    .read_sample = read_sample,
    .free_sample = free_sample,
    .read_range = read_range,
};
