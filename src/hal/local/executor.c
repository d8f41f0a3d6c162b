// The worker pool. See executor.h for the protocol.
#include "hal/local/executor.h"

#include "iree/base/internal/cpu.h"
#include "iree/base/threading/api.h"

#define SLOT_COUNT 16
#define CHUNK_BITS 24
#define CHUNK_MASK ((1ull << CHUNK_BITS) - 1)
#define DEFAULT_SPIN_NS 40000
// While a job is running its next region may open any moment: polling pays longer.
#define BUSY_SPIN_FACTOR 5

#define CACHE_LINE iree_alignas(iree_hardware_destructive_interference_size)

typedef struct slot_t {
  CACHE_LINE iree_atomic_uint64_t ticket;  // generation | chunks left
  CACHE_LINE iree_atomic_uint32_t unfinished;
  // Written while no chunk is out; read by whoever has taken one.
  executor_job_t* job;
  uint32_t chunk_count;
} slot_t;

typedef struct worker_t {
  local_worker_t base;
  iree_task_executor_t* executor;
  iree_thread_t* thread;
} worker_t;

struct iree_task_executor_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t allocator;
  iree_task_executor_options_t options;
  iree_task_topology_node_id_t node_id;

  CACHE_LINE iree_atomic_uint32_t used_slots;  // bit per slot that has a job
  CACHE_LINE iree_atomic_uint32_t epoch;       // futex of sleeping workers
  iree_atomic_uint32_t sleepers;
  iree_atomic_uint32_t stop;
  CACHE_LINE iree_atomic_uint32_t helper;  // 1: a waiting thread is worker 0
  iree_atomic_uint32_t helper_sleeps;

  CACHE_LINE iree_slim_mutex_t mutex;  // guards giving up slots, and the queue of jobs that found none
  executor_job_t* queue_head;
  executor_job_t* queue_tail;

  slot_t slots[SLOT_COUNT];
  uint32_t worker_count;
  worker_t workers[];
};

static _Thread_local const iree_task_executor_t* this_thread_works_for;

//===----------------------------------------------------------------------------------------------------------------===
// Sleeping and waking
//===----------------------------------------------------------------------------------------------------------------===

static void wake_sleepers(iree_task_executor_t* executor, uint32_t count) {
  // Sleepers count themselves before they look at the tickets a last time; tickets are stored before this.
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (iree_atomic_load(&executor->sleepers, iree_memory_order_seq_cst) == 0) return;
  iree_atomic_fetch_add(&executor->epoch, 1, iree_memory_order_seq_cst);
  iree_futex_wake(&executor->epoch, (int32_t)iree_min(count, INT32_MAX));
}

void executor_notify(iree_task_executor_t* executor) {
  if (iree_atomic_load(&executor->helper_sleeps, iree_memory_order_seq_cst)) wake_sleepers(executor, INT32_MAX);
}

static bool has_chunks(iree_task_executor_t* executor) {
  uint32_t used = iree_atomic_load(&executor->used_slots, iree_memory_order_seq_cst);
  for (; used; used &= used - 1) {
    slot_t* slot = &executor->slots[__builtin_ctz(used)];
    if (iree_atomic_load(&slot->ticket, iree_memory_order_seq_cst) & CHUNK_MASK) return true;
  }
  return false;
}

//===----------------------------------------------------------------------------------------------------------------===
// Jobs and regions
//===----------------------------------------------------------------------------------------------------------------===

// Makes a region's chunks available.
static void publish(iree_task_executor_t* executor, slot_t* slot, uint32_t chunk_count) {
  slot->chunk_count = chunk_count;
  iree_atomic_store(&slot->unfinished, chunk_count, iree_memory_order_relaxed);
  uint64_t generation = (iree_atomic_load(&slot->ticket, iree_memory_order_relaxed) >> CHUNK_BITS) + 1;
  iree_atomic_store(&slot->ticket, generation << CHUNK_BITS | chunk_count, iree_memory_order_seq_cst);
  wake_sleepers(executor, chunk_count);
}

// Takes the next job of the queue for a slot that became free, or gives the slot up.
static executor_job_t* refill_slot(iree_task_executor_t* executor, slot_t* slot) {
  iree_slim_mutex_lock(&executor->mutex);
  executor_job_t* job = executor->queue_head;
  slot->job = job;
  if (job) {
    executor->queue_head = job->next;
    if (!executor->queue_head) executor->queue_tail = NULL;
  } else {
    // From here on the slot is somebody else's.
    iree_atomic_fetch_and(&executor->used_slots, ~(1u << (slot - executor->slots)), iree_memory_order_seq_cst);
  }
  iree_slim_mutex_unlock(&executor->mutex);
  return job;
}

// Opens regions of the slot's job, which has no chunks out. A worker runs regions of one chunk itself, without
// publishing them; `worker` is NULL on threads that are none. Returns when chunks are published or the slot is free.
static void advance(iree_task_executor_t* executor, slot_t* slot, local_worker_t* worker) {
  executor_job_t* job = slot->job;
  while (job) {
    uint32_t chunk_count = job->next_region(job);
    if (chunk_count == 0) {
      // The slot is handed on first: completing may take a while, and may submit.
      executor_job_t* next = refill_slot(executor, slot);
      job->complete(job);
      job = next;
    } else if (chunk_count == 1 && worker) {
      job->run_chunk(job, 0, worker);
    } else {
      publish(executor, slot, chunk_count);
      return;
    }
  }
}

static bool run_slot(iree_task_executor_t* executor, slot_t* slot, local_worker_t* worker) {
  uint64_t ticket = iree_atomic_load(&slot->ticket, iree_memory_order_acquire);
  do {
    if ((ticket & CHUNK_MASK) == 0) return false;
  } while (!iree_atomic_compare_exchange_weak(&slot->ticket, &ticket, ticket - 1, iree_memory_order_acquire,
                                              iree_memory_order_acquire));
  executor_job_t* job = slot->job;
  job->run_chunk(job, slot->chunk_count - (uint32_t)(ticket & CHUNK_MASK), worker);
  if (iree_atomic_fetch_sub(&slot->unfinished, 1, iree_memory_order_acq_rel) == 1) advance(executor, slot, worker);
  return true;
}

// Runs one chunk of any job. False when there is none.
static bool run_any(iree_task_executor_t* executor, local_worker_t* worker) {
  uint32_t used = iree_atomic_load(&executor->used_slots, iree_memory_order_acquire);
  for (; used; used &= used - 1) {
    if (run_slot(executor, &executor->slots[__builtin_ctz(used)], worker)) return true;
  }
  return false;
}

// A slot that no job has; NULL when all have one.
static slot_t* take_slot(iree_task_executor_t* executor) {
  uint32_t used = iree_atomic_load(&executor->used_slots, iree_memory_order_relaxed), bit = 0;
  do {
    uint32_t free_slots = ~used & ((1u << SLOT_COUNT) - 1);
    if (!free_slots) return NULL;
    bit = free_slots & -free_slots;
  } while (!iree_atomic_compare_exchange_weak(&executor->used_slots, &used, used | bit, iree_memory_order_seq_cst,
                                              iree_memory_order_relaxed));
  return &executor->slots[__builtin_ctz(bit)];
}

// A slot for the job, or NULL when it is queued. The last slot is given up under the mutex, when the queue is empty:
// what is queued there finds somebody to take it.
static slot_t* take_slot_or_queue(iree_task_executor_t* executor, executor_job_t* job) {
  slot_t* slot = take_slot(executor);
  if (!slot) {
    iree_slim_mutex_lock(&executor->mutex);
    slot = take_slot(executor);
    if (!slot) {
      job->next = NULL;
      if (executor->queue_tail) {
        executor->queue_tail->next = job;
      } else {
        executor->queue_head = job;
      }
      executor->queue_tail = job;
    }
    iree_slim_mutex_unlock(&executor->mutex);
  }
  if (slot) slot->job = job;
  return slot;
}

static void run_to_end(executor_job_t* job, local_worker_t* worker) {
  for (uint32_t chunk_count; (chunk_count = job->next_region(job)) != 0;) {
    for (uint32_t i = 0; i < chunk_count; ++i) job->run_chunk(job, i, worker);
  }
  job->complete(job);
}

void executor_submit(iree_task_executor_t* executor, executor_job_t* job) {
  if (!executor_has_threads(executor)) {
    local_worker_t worker = {.processor_id = iree_cpu_query_processor_id()};
    run_to_end(job, &worker);
    local_worker_finish(&worker);
    return;
  }
  slot_t* slot = take_slot_or_queue(executor, job);
  if (slot) advance(executor, slot, NULL);
}

bool executor_has_threads(const iree_task_executor_t* executor) { return executor->worker_count > 1; }

//===----------------------------------------------------------------------------------------------------------------===
// Workers
//===----------------------------------------------------------------------------------------------------------------===

// Polls for work. True when there was some.
static bool poll(iree_task_executor_t* executor, local_worker_t* worker) {
  if (run_any(executor, worker)) return true;
  iree_duration_t spin_ns = executor->options.worker_spin_ns;
  iree_time_t start = iree_time_now();
  for (;;) {
    for (int i = 0; i < 64; ++i) {
      if (run_any(executor, worker)) return true;
      iree_processor_yield();
    }
    bool is_busy = iree_atomic_load(&executor->used_slots, iree_memory_order_relaxed) != 0;
    if (iree_time_now() - start > (is_busy ? spin_ns * BUSY_SPIN_FACTOR : spin_ns)) return false;
    if (iree_atomic_load(&executor->stop, iree_memory_order_relaxed)) return false;
  }
}

static void sleep_until_work(iree_task_executor_t* executor, local_worker_t* worker) {
  iree_atomic_fetch_add(&executor->sleepers, 1, iree_memory_order_seq_cst);
  uint32_t epoch = iree_atomic_load(&executor->epoch, iree_memory_order_seq_cst);
  if (!has_chunks(executor) && !iree_atomic_load(&executor->stop, iree_memory_order_seq_cst)) {
    iree_futex_wait(&executor->epoch, epoch, IREE_TIME_INFINITE_FUTURE);
    worker->processor_id = iree_cpu_query_processor_id();
  }
  iree_atomic_fetch_sub(&executor->sleepers, 1, iree_memory_order_seq_cst);
}

static int worker_main(void* arg) {
  worker_t* worker = (worker_t*)arg;
  iree_task_executor_t* executor = worker->executor;
  this_thread_works_for = executor;
  worker->base.processor_id = iree_cpu_query_processor_id();
  while (!iree_atomic_load(&executor->stop, iree_memory_order_acquire)) {
    if (!poll(executor, &worker->base)) sleep_until_work(executor, &worker->base);
  }
  return 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// Helping
//===----------------------------------------------------------------------------------------------------------------===

// Sleeps as a worker does, to be woken by work and by executor_notify.
static void helper_sleep(iree_task_executor_t* executor, executor_done_fn_t is_done, void* arg,
                         iree_time_t deadline_ns) {
  iree_atomic_fetch_add(&executor->sleepers, 1, iree_memory_order_seq_cst);
  iree_atomic_store(&executor->helper_sleeps, 1, iree_memory_order_seq_cst);
  uint32_t epoch = iree_atomic_load(&executor->epoch, iree_memory_order_seq_cst);
  if (!has_chunks(executor) && !is_done(arg)) iree_futex_wait(&executor->epoch, epoch, deadline_ns);
  iree_atomic_store(&executor->helper_sleeps, 0, iree_memory_order_seq_cst);
  iree_atomic_fetch_sub(&executor->sleepers, 1, iree_memory_order_seq_cst);
}

// Until done or the deadline.
static bool help_loop(iree_task_executor_t* executor, executor_done_fn_t is_done, void* arg, iree_time_t deadline_ns) {
  local_worker_t* worker = &executor->workers[0].base;
  iree_time_t idle_since = 0;
  for (uint32_t spins = 0;; ++spins) {
    if (is_done(arg)) return true;
    if (run_any(executor, worker)) {
      idle_since = 0;
      spins = 0;
      continue;
    }
    iree_processor_yield();
    if (spins % 64 != 63) continue;
    iree_time_t now = iree_time_now();
    if (now >= deadline_ns) return is_done(arg);
    if (idle_since == 0) idle_since = now;
    if (now - idle_since > executor->options.worker_spin_ns * BUSY_SPIN_FACTOR) {
      helper_sleep(executor, is_done, arg, deadline_ns);
      idle_since = 0;
    }
  }
}

bool executor_help(iree_task_executor_t* executor, executor_done_fn_t is_done, void* arg, iree_time_t deadline_ns,
                   bool* out_helped) {
  *out_helped = false;
  if (!executor_has_threads(executor) || this_thread_works_for == executor) return false;
  if (iree_atomic_exchange(&executor->helper, 1, iree_memory_order_acquire) != 0) return false;
  const iree_task_executor_t* outer = this_thread_works_for;
  this_thread_works_for = executor;
  *out_helped = true;
  bool done = help_loop(executor, is_done, arg, deadline_ns);
  this_thread_works_for = outer;
  iree_atomic_store(&executor->helper, 0, iree_memory_order_release);
  return done;
}

//===----------------------------------------------------------------------------------------------------------------===
// Executors
//===----------------------------------------------------------------------------------------------------------------===

void iree_task_executor_options_initialize(iree_task_executor_options_t* out_options) {
  memset(out_options, 0, sizeof(*out_options));
}

static void executor_destroy(iree_task_executor_t* executor) {
  iree_atomic_store(&executor->stop, 1, iree_memory_order_seq_cst);
  iree_atomic_fetch_add(&executor->epoch, 1, iree_memory_order_seq_cst);
  iree_futex_wake(&executor->epoch, IREE_ALL_WAITERS);
  for (uint32_t i = 0; i < executor->worker_count; ++i) {
    iree_thread_release(executor->workers[i].thread);
    local_worker_finish(&executor->workers[i].base);
  }
  iree_allocator_free_aligned(executor->allocator, executor);
}

static iree_status_t start_worker(iree_task_executor_t* executor, const iree_task_topology_group_t* group,
                                  worker_t* worker) {
  size_t scratch = executor->options.worker_local_memory_size;
  if (scratch) IREE_RETURN_IF_ERROR(local_worker_reserve(&worker->base, scratch));
  if (worker->base.index == 0) return iree_ok_status();  // the waiting thread
  char name[32];
  snprintf(name, sizeof(name), "iree-worker-%" PRIhsz, executor->options.worker_base_index + worker->base.index);
  iree_thread_create_params_t params = {.name = iree_make_cstring_view(name),
                                        .stack_size = executor->options.worker_stack_size,
                                        .initial_affinity = group->ideal_thread_affinity};
  return iree_thread_create(worker_main, worker, params, executor->allocator, &worker->thread);
}

iree_status_t iree_task_executor_create(iree_task_executor_options_t options, const iree_task_topology_t* topology,
                                        iree_allocator_t allocator, iree_task_executor_t** out_executor) {
  *out_executor = NULL;
  uint32_t worker_count = (uint32_t)iree_max(topology->group_count, 1);
  size_t size = sizeof(iree_task_executor_t) + worker_count * sizeof(worker_t);
  iree_task_executor_t* executor = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_aligned(allocator, size, iree_hardware_destructive_interference_size, 0,
                                                     (void**)&executor));
  memset(executor, 0, size);
  iree_atomic_ref_count_init(&executor->ref_count);
  executor->allocator = allocator;
  executor->options = options;
  if (!executor->options.worker_spin_ns) executor->options.worker_spin_ns = DEFAULT_SPIN_NS;
  executor->node_id = topology->node_id;
  iree_slim_mutex_initialize(&executor->mutex);
  for (uint32_t i = 0; i < worker_count; ++i) {
    executor->workers[i].base.index = i;
    executor->workers[i].executor = executor;
  }
  // Workers look at all of the executor: start them when it is whole.
  executor->worker_count = worker_count;
  for (uint32_t i = 0; i < worker_count; ++i) {
    iree_status_t status = start_worker(executor, &topology->groups[i], &executor->workers[i]);
    if (iree_status_is_ok(status)) continue;
    executor_destroy(executor);
    return status;
  }
  *out_executor = executor;
  return iree_ok_status();
}

void iree_task_executor_retain(iree_task_executor_t* executor) {
  if (executor) iree_atomic_ref_count_inc(&executor->ref_count);
}

void iree_task_executor_release(iree_task_executor_t* executor) {
  if (executor && iree_atomic_ref_count_dec(&executor->ref_count) == 1) executor_destroy(executor);
}

iree_task_topology_node_id_t iree_task_executor_node_id(iree_task_executor_t* executor) { return executor->node_id; }

iree_host_size_t iree_task_executor_worker_count(iree_task_executor_t* executor) { return executor->worker_count; }
