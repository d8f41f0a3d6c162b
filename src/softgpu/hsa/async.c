// What happens beside the caller: copies behind signals, on a thread for each agent, and on one more thread the
// handlers that are called when a signal's condition holds. So a handler may wait for copies.
//
// A job waits in its worker's list until its signals are there. Workers sleep while no signal changes; since signals
// may change by plain stores, they look again by themselves, less and less often.
#include <stdlib.h>
#include <string.h>

#include "softgpu/hsa/runtime.h"

enum { ASYNC_SLEEP_MIN = 20000, ASYNC_SLEEP_MAX = 1000000 };  // nanoseconds

typedef struct job_t {
  // One of: a handler of a signal, a function to call once, a copy.
  hsa_amd_signal_handler handler;
  void (*function)(void* data);
  void* data;
  hsa_signal_t signal;
  hsa_signal_condition_t condition;
  hsa_signal_value_t value;
  void* to;
  const void* from;
  size_t size;
  bool is_rect;
  hsa_pitched_ptr_t rect_to, rect_from;
  hsa_dim3_t rect_to_offset, rect_from_offset, rect_range;
  hsa_signal_t done;
  struct job_t* next;
  uint32_t dependency_count;
  hsa_signal_t dependencies[];
} job_t;

typedef struct worker_t {
  pthread_mutex_t lock;
  pthread_t thread;
  bool is_running, stops;
  job_t* jobs;
} worker_t;

// The first calls handlers; then one for each agent.
static worker_t workers[1 + RUNTIME_MAX_AGENTS] = {
    [0 ... RUNTIME_MAX_AGENTS] = {.lock = PTHREAD_MUTEX_INITIALIZER},
};

static bool is_ready(const job_t* job) {
  if (job->handler) return signal_holds(job->condition, signal_load(job->signal), job->value);
  for (uint32_t i = 0; i < job->dependency_count; ++i) {
    if (signal_load(job->dependencies[i]) != 0) return false;
  }
  return true;
}

static void copy_rect(const job_t* job) {
  const hsa_pitched_ptr_t *to = &job->rect_to, *from = &job->rect_from;
  for (uint32_t z = 0; z < job->rect_range.z; ++z) {
    for (uint32_t y = 0; y < job->rect_range.y; ++y) {
      char* target = (char*)to->base + (job->rect_to_offset.z + z) * to->slice +
                     (job->rect_to_offset.y + y) * to->pitch + job->rect_to_offset.x;
      const char* source = (const char*)from->base + (job->rect_from_offset.z + z) * from->slice +
                           (job->rect_from_offset.y + y) * from->pitch + job->rect_from_offset.x;
      memmove(target, source, job->rect_range.x);
    }
  }
}

// True when the job is over: a handler may ask to be called again.
static bool run(job_t* job) {
  if (job->handler) return !job->handler(signal_load(job->signal), job->data);
  if (job->function) return job->function(job->data), true;
  uint64_t begin = runtime_ticks();
  if (job->is_rect) {
    copy_rect(job);
  } else {
    memmove(job->to, job->from, job->size);
  }
  signal_set_times(job->done, begin, runtime_ticks());
  signal_subtract(job->done, 1);
  return true;
}

// Takes the first job that can run off the list. A handler goes with its signal.
static job_t* take_ready(worker_t* worker) {
  for (job_t** at = &worker->jobs; *at; at = &(*at)->next) {
    while (*at && (*at)->handler && !signal_exists((*at)->signal)) {
      job_t* next = (*at)->next;
      free(*at);
      *at = next;
    }
    if (!*at) break;
    if (!is_ready(*at)) continue;
    job_t* job = *at;
    *at = job->next;
    return job;
  }
  return NULL;
}

static void append(worker_t* worker, job_t* job) {
  job_t** at = &worker->jobs;
  while (*at) at = &(*at)->next;
  job->next = NULL;
  *at = job;
}

static void* work(void* data) {
  worker_t* worker = data;
  uint64_t sleep = ASYNC_SLEEP_MIN;
  pthread_mutex_lock(&worker->lock);
  while (!worker->stops) {
    uint32_t seen = signal_change_count();
    job_t* job = take_ready(worker);
    bool is_idle = !worker->jobs;
    pthread_mutex_unlock(&worker->lock);
    bool over = !job || run(job);
    // New jobs count as changes of signals. With no job at all, only those end the sleep.
    if (!job) signal_sleep(seen, is_idle ? UINT64_C(1000000000) : sleep);
    sleep = job ? ASYNC_SLEEP_MIN : sleep < ASYNC_SLEEP_MAX ? sleep + sleep / 8 : sleep;
    pthread_mutex_lock(&worker->lock);
    if (job && !over) append(worker, job);
    if (job && over) free(job);
  }
  pthread_mutex_unlock(&worker->lock);
  return NULL;
}

static hsa_status_t submit(worker_t* worker, const job_t* from, uint32_t count, const hsa_signal_t* signals) {
  REQUIRE(!count || signals, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  for (uint32_t i = 0; i < count; ++i) REQUIRE(signals[i].handle, HSA_STATUS_ERROR_INVALID_SIGNAL);
  job_t* job = malloc(sizeof(*job) + count * sizeof(hsa_signal_t));
  REQUIRE(job, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  *job = *from;
  job->dependency_count = count;
  for (uint32_t i = 0; i < count; ++i) job->dependencies[i] = signals[i];
  pthread_mutex_lock(&worker->lock);
  bool started = worker->is_running || pthread_create(&worker->thread, NULL, work, worker) == 0;
  worker->is_running = started;
  if (started) append(worker, job);
  pthread_mutex_unlock(&worker->lock);
  signal_notify();
  if (!started) free(job);
  return started ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

static void stop(worker_t* worker) {
  pthread_mutex_lock(&worker->lock);
  worker->stops = true;
  bool is_running = worker->is_running, joins = is_running && !pthread_equal(worker->thread, pthread_self());
  pthread_mutex_unlock(&worker->lock);
  if (is_running && !joins) return;  // a handler shuts the runtime down: its thread ends after it
  signal_notify();
  if (joins) pthread_join(worker->thread, NULL);
  while (worker->jobs) {
    job_t* next = worker->jobs->next;
    free(worker->jobs);
    worker->jobs = next;
  }
  worker->is_running = worker->stops = false;
}

void async_stop(void) {
  for (uint32_t i = 0; i < 1 + RUNTIME_MAX_AGENTS; ++i) stop(&workers[i]);
}

hsa_status_t hsa_amd_signal_async_handler(hsa_signal_t signal, hsa_signal_condition_t condition,
                                          hsa_signal_value_t value, hsa_amd_signal_handler handler, void* data) {
  REQUIRE_OPEN();
  REQUIRE(handler && condition <= HSA_SIGNAL_CONDITION_GTE, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  REQUIRE(signal.handle, HSA_STATUS_ERROR_INVALID_SIGNAL);
  job_t job = {.signal = signal, .condition = condition, .value = value, .handler = handler, .data = data};
  return submit(&workers[0], &job, 0, NULL);
}

hsa_status_t hsa_amd_async_function(void (*callback)(void* data), void* data) {
  REQUIRE_OPEN();
  REQUIRE(callback, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  job_t job = {.function = callback, .data = data};
  return submit(&workers[0], &job, 0, NULL);
}

// Copies of one agent are done in the order in which their signals let them.
static worker_t* worker_of(const agent_t* agent) { return &workers[1 + agent->node]; }

hsa_status_t hsa_amd_memory_async_copy(void* to, hsa_agent_t to_agent, const void* from, hsa_agent_t from_agent,
                                       size_t size, uint32_t count, const hsa_signal_t* signals, hsa_signal_t done) {
  REQUIRE_OPEN();
  agent_t *target = runtime_agent(to_agent), *source = runtime_agent(from_agent);
  REQUIRE(to && from, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  REQUIRE(target && source, HSA_STATUS_ERROR_INVALID_AGENT);
  job_t job = {.to = to, .from = from, .size = size, .done = done};
  return submit(worker_of(target->type == HSA_DEVICE_TYPE_GPU ? target : source), &job, count, signals);
}

// Engines are all the same thread. These two are newer than Debian's headers.
hsa_status_t hsa_amd_memory_async_copy_on_engine(void* to, hsa_agent_t to_agent, const void* from,
                                                 hsa_agent_t from_agent, size_t size, uint32_t count,
                                                 const hsa_signal_t* signals, hsa_signal_t done, uint32_t engine,
                                                 bool forces_engine);
hsa_status_t hsa_amd_memory_async_copy_on_engine(void* to, hsa_agent_t to_agent, const void* from,
                                                 hsa_agent_t from_agent, size_t size, uint32_t count,
                                                 const hsa_signal_t* signals, hsa_signal_t done, uint32_t engine,
                                                 bool forces_engine) {
  REQUIRE(engine && !(engine & (engine - 1)), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  return hsa_amd_memory_async_copy(to, to_agent, from, from_agent, size, count, signals, done);
}
hsa_status_t hsa_amd_memory_copy_engine_status(hsa_agent_t to, hsa_agent_t from, uint32_t* mask);
hsa_status_t hsa_amd_memory_copy_engine_status(hsa_agent_t to, hsa_agent_t from, uint32_t* mask) {
  REQUIRE_OPEN();
  REQUIRE(runtime_agent(to) && runtime_agent(from), HSA_STATUS_ERROR_INVALID_AGENT);
  REQUIRE(mask, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  *mask = 1;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_get_preferred_copy_engine(hsa_agent_t to, hsa_agent_t from, uint32_t* mask);
hsa_status_t hsa_amd_memory_get_preferred_copy_engine(hsa_agent_t to, hsa_agent_t from, uint32_t* mask) {
  return hsa_amd_memory_copy_engine_status(to, from, mask);
}

hsa_status_t hsa_amd_memory_async_copy_rect(const hsa_pitched_ptr_t* to, const hsa_dim3_t* to_offset,
                                            const hsa_pitched_ptr_t* from, const hsa_dim3_t* from_offset,
                                            const hsa_dim3_t* range, hsa_agent_t handle,
                                            hsa_amd_copy_direction_t direction, uint32_t count,
                                            const hsa_signal_t* signals, hsa_signal_t done) {
  REQUIRE_OPEN();
  agent_t* agent = runtime_agent(handle);
  REQUIRE(to && to_offset && from && from_offset && range, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  REQUIRE(agent, HSA_STATUS_ERROR_INVALID_AGENT);
  job_t job = {.is_rect = true,
               .rect_to = *to,
               .rect_from = *from,
               .rect_to_offset = *to_offset,
               .rect_from_offset = *from_offset,
               .rect_range = *range,
               .done = done};
  return submit(worker_of(agent), &job, count, signals);
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

// Times of packets and copies are in the signals that they completed, in ticks of the GPU's clock.

static hsa_status_t get_times(hsa_signal_t signal, uint64_t* begin, uint64_t* end) {
  REQUIRE_OPEN();
  REQUIRE(signal.handle, HSA_STATUS_ERROR_INVALID_SIGNAL);
  const amd_signal_t* amd = (const amd_signal_t*)signal.handle;
  *begin = __atomic_load_n(&amd->start_ts, __ATOMIC_RELAXED) * RUNTIME_TICK;
  *end = __atomic_load_n(&amd->end_ts, __ATOMIC_RELAXED) * RUNTIME_TICK;
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
  *out = tick * RUNTIME_TICK;
  return HSA_STATUS_SUCCESS;
}
