// The worker pool: jobs whose work is cut into chunks, taken by whoever is free.
//
// A job is a sequence of regions; a region is a number of chunks that run in any order, on any thread, at the same
// time. Jobs run at the same time too. Nothing is locked and nothing is allocated between a job's first chunk and its
// last:
//
//   Each running job has a slot with one 64-bit ticket: a generation above, the number of chunks not yet taken below. A
//   worker takes a chunk by decrementing it with compare-and-swap; the generation makes a stale decrement fail. Whoever
//   finishes a region's last chunk opens the next one by storing a new ticket.
//
// Idle workers poll for a moment and then sleep on one futex. A thread that waits for a semaphore runs chunks as worker
// 0 meanwhile, so that as many threads compute as there are workers.
#ifndef IREE_C_HAL_LOCAL_EXECUTOR_H_
#define IREE_C_HAL_LOCAL_EXECUTOR_H_

#include "hal/local/worker.h"
#include "iree/task/executor.h"

typedef struct executor_job_t executor_job_t;
struct executor_job_t {
  executor_job_t* next;  // in the executor's queue
  // Moves to the next region and returns its chunks (below 2^24); 0 at the end.
  uint32_t (*next_region)(executor_job_t* job);
  void (*run_chunk)(executor_job_t* job, uint32_t chunk, local_worker_t* worker);
  // After the last region. The job is the callee's again.
  void (*complete)(executor_job_t* job);
};

// Whether it has threads of its own. Without, jobs are run by their submitter.
bool executor_has_threads(const iree_task_executor_t* executor);
// Starts a job and returns at once; without threads, runs it to its end. Thread safe.
void executor_submit(iree_task_executor_t* executor, executor_job_t* job);

// Runs chunks on this thread until `is_done(arg)` or the deadline; false then. When another thread helps already, or
// this one is a worker, or there are no threads, returns at once with *out_helped false.
typedef bool (*executor_done_fn_t)(void* arg);
bool executor_help(iree_task_executor_t* executor, executor_done_fn_t is_done, void* arg, iree_time_t deadline_ns,
                   bool* out_helped);
// Something that an `is_done` looks at has changed. Cheap when nobody helps.
void executor_notify(iree_task_executor_t* executor);

#endif  // IREE_C_HAL_LOCAL_EXECUTOR_H_
