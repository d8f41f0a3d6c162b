// One thread that waits: asynchronous copies and fills behind signals, and handlers that are called when a signal's
// condition holds.
#include <stdlib.h>
#include <string.h>

#include "softgpu/hsa/runtime.h"

enum { ASYNC_MAX_DEPENDENCIES = 64 };

typedef struct job_t {
  // A copy, or a handler.
  void* to;
  const void* from;
  size_t size;
  hsa_pitched_ptr_t rect_to, rect_from;
  hsa_dim3_t rect_to_offset, rect_from_offset, rect_range;
  bool is_rect;
  hsa_signal_t dependencies[ASYNC_MAX_DEPENDENCIES];
  uint32_t dependency_count;
  hsa_signal_t done;
  hsa_signal_t signal;
  hsa_signal_condition_t condition;
  hsa_signal_value_t value;
  hsa_amd_signal_handler handler;
  void* data;
  struct job_t* next;
} job_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_t thread;
static bool is_running, stops;
static job_t* jobs;

static bool holds(const job_t* job, hsa_signal_value_t value) {
  switch (job->condition) {
    case HSA_SIGNAL_CONDITION_EQ: return value == job->value;
    case HSA_SIGNAL_CONDITION_NE: return value != job->value;
    case HSA_SIGNAL_CONDITION_LT: return value < job->value;
    default: return value >= job->value;
  }
}

static bool is_ready(const job_t* job) {
  if (job->handler) return holds(job, signal_load(job->signal));
  for (uint32_t i = 0; i < job->dependency_count; ++i) {
    if (signal_load(job->dependencies[i]) != 0) return false;
  }
  return true;
}

static void copy_rect(const job_t* job) {
  const hsa_pitched_ptr_t *to = &job->rect_to, *from = &job->rect_from;
  for (uint32_t z = 0; z < job->rect_range.z; ++z) {
    for (uint32_t y = 0; y < job->rect_range.y; ++y) {
      char* target = (char*)to->base + (job->rect_to_offset.z + z) * to->slice + (job->rect_to_offset.y + y) * to->pitch +
                     job->rect_to_offset.x;
      const char* source = (const char*)from->base + (job->rect_from_offset.z + z) * from->slice +
                           (job->rect_from_offset.y + y) * from->pitch + job->rect_from_offset.x;
      memmove(target, source, job->rect_range.x);
    }
  }
}

// True when the job is over: a handler may ask to be called again.
static bool run(job_t* job) {
  if (job->handler) return !job->handler(signal_load(job->signal), job->data);
  uint64_t begin = runtime_timestamp();
  if (job->is_rect) {
    copy_rect(job);
  } else {
    memmove(job->to, job->from, job->size);
  }
  signal_set_times(job->done, begin, runtime_timestamp());
  signal_subtract(job->done, 1);
  return true;
}

// Takes the first job that can run off the list.
static job_t* take_ready(void) {
  for (job_t** at = &jobs; *at; at = &(*at)->next) {
    if (!is_ready(*at)) continue;
    job_t* job = *at;
    *at = job->next;
    return job;
  }
  return NULL;
}

static void append(job_t* job) {
  job_t** at = &jobs;
  while (*at) at = &(*at)->next;
  job->next = NULL;
  *at = job;
}

static void* work(void* unused) {
  pthread_mutex_lock(&lock);
  while (!stops) {
    job_t* job = take_ready();
    if (!job) {
      if (!jobs) {
        pthread_cond_wait(&changed, &lock);
        continue;
      }
      hsa_signal_t first = jobs->handler ? jobs->signal : jobs->dependencies[0];
      hsa_signal_value_t seen = signal_load(first);
      pthread_mutex_unlock(&lock);
      // Any signal's change wakes this; the rest is looked at after a short sleep.
      hsa_signal_wait_relaxed(first, HSA_SIGNAL_CONDITION_NE, seen, 50000, HSA_WAIT_STATE_BLOCKED);
      pthread_mutex_lock(&lock);
      continue;
    }
    pthread_mutex_unlock(&lock);
    bool over = run(job);
    pthread_mutex_lock(&lock);
    if (over) {
      free(job);
    } else {
      append(job);
    }
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

static hsa_status_t submit(const job_t* from) {
  job_t* job = malloc(sizeof(*job));
  REQUIRE(job, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  *job = *from;
  pthread_mutex_lock(&lock);
  bool started = is_running || pthread_create(&thread, NULL, work, NULL) == 0;
  is_running = started;
  if (started) append(job);
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  if (!started) free(job);
  return started ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

void async_stop(void) {
  pthread_mutex_lock(&lock);
  stops = true;
  pthread_cond_signal(&changed);
  bool joins = is_running && !pthread_equal(thread, pthread_self());
  pthread_mutex_unlock(&lock);
  if (joins) pthread_join(thread, NULL);
  while (jobs) {
    job_t* next = jobs->next;
    free(jobs);
    jobs = next;
  }
  is_running = stops = false;
}

hsa_status_t hsa_amd_signal_async_handler(hsa_signal_t signal, hsa_signal_condition_t condition,
                                          hsa_signal_value_t value, hsa_amd_signal_handler handler, void* data) {
  REQUIRE_OPEN();
  REQUIRE(signal.handle && handler, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  job_t job = {.signal = signal, .condition = condition, .value = value, .handler = handler, .data = data};
  return submit(&job);
}

hsa_status_t hsa_amd_async_function(void (*callback)(void* data), void* data) {
  REQUIRE_OPEN();
  REQUIRE(callback, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  callback(data);
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t add_dependencies(job_t* job, uint32_t count, const hsa_signal_t* signals) {
  REQUIRE((!count || signals) && count <= ASYNC_MAX_DEPENDENCIES, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  for (uint32_t i = 0; i < count; ++i) {
    REQUIRE(signals[i].handle, HSA_STATUS_ERROR_INVALID_SIGNAL);
    job->dependencies[i] = signals[i];
  }
  job->dependency_count = count;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_async_copy(void* to, hsa_agent_t to_agent, const void* from, hsa_agent_t from_agent,
                                       size_t size, uint32_t count, const hsa_signal_t* signals, hsa_signal_t done) {
  REQUIRE_OPEN();
  REQUIRE(to && from, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  REQUIRE(runtime_agent(to_agent) && runtime_agent(from_agent), HSA_STATUS_ERROR_INVALID_AGENT);
  job_t job = {.to = to, .from = from, .size = size, .done = done};
  hsa_status_t status = add_dependencies(&job, count, signals);
  return status == HSA_STATUS_SUCCESS ? submit(&job) : status;
}

hsa_status_t hsa_amd_memory_async_copy_rect(const hsa_pitched_ptr_t* to, const hsa_dim3_t* to_offset,
                                            const hsa_pitched_ptr_t* from, const hsa_dim3_t* from_offset,
                                            const hsa_dim3_t* range, hsa_agent_t agent, hsa_amd_copy_direction_t direction,
                                            uint32_t count, const hsa_signal_t* signals, hsa_signal_t done) {
  REQUIRE_OPEN();
  REQUIRE(to && to_offset && from && from_offset && range, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  REQUIRE(runtime_agent(agent), HSA_STATUS_ERROR_INVALID_AGENT);
  job_t job = {.is_rect = true,
               .rect_to = *to,
               .rect_from = *from,
               .rect_to_offset = *to_offset,
               .rect_from_offset = *from_offset,
               .rect_range = *range,
               .done = done};
  hsa_status_t status = add_dependencies(&job, count, signals);
  return status == HSA_STATUS_SUCCESS ? submit(&job) : status;
}

hsa_status_t hsa_memory_copy(void* to, const void* from, size_t size) {
  REQUIRE_OPEN();
  REQUIRE((to && from) || !size, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  memmove(to, from, size);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_fill(void* address, uint32_t value, size_t count) {
  REQUIRE_OPEN();
  REQUIRE(address && (uintptr_t)address % 4 == 0, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  for (size_t i = 0; i < count; ++i) ((uint32_t*)address)[i] = value;
  return HSA_STATUS_SUCCESS;
}

// Times of packets and copies are in the signals that they completed.

static hsa_status_t get_times(hsa_signal_t signal, uint64_t* begin, uint64_t* end) {
  REQUIRE_OPEN();
  REQUIRE(signal.handle, HSA_STATUS_ERROR_INVALID_SIGNAL);
  const amd_signal_t* amd = (const amd_signal_t*)signal.handle;
  *begin = amd->start_ts;
  *end = amd->end_ts;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_get_dispatch_time(hsa_agent_t agent, hsa_signal_t signal,
                                                 hsa_amd_profiling_dispatch_time_t* out) {
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  return get_times(signal, &out->start, &out->end);
}
hsa_status_t hsa_amd_profiling_get_async_copy_time(hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t* out) {
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  return get_times(signal, &out->start, &out->end);
}
hsa_status_t hsa_amd_profiling_async_copy_enable(bool enable) {
  REQUIRE_OPEN();
  return HSA_STATUS_SUCCESS;  // copies are always timed
}
hsa_status_t hsa_amd_profiling_convert_tick_to_system_domain(hsa_agent_t agent, uint64_t tick, uint64_t* out) {
  REQUIRE_OPEN();
  REQUIRE(runtime_agent(agent), HSA_STATUS_ERROR_INVALID_AGENT);
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  *out = tick;  // one clock
  return HSA_STATUS_SUCCESS;
}
