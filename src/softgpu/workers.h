// The process's threads that help with launches of the software GPUs. They are made when first asked for, as many as
// IREE_SOFTGPU_THREADS says (the host's processors when not given; the thread that asks counts), and stay.
#ifndef IREE_C_SOFTGPU_WORKERS_H_
#define IREE_C_SOFTGPU_WORKERS_H_

#include <stdbool.h>
#include <stdint.h>

typedef struct workers_job_t {
  void (*run)(void* data);       // by any number of threads at once; returns when there is nothing more to begin
  bool (*has_work)(void* data);  // whether another thread would find something to begin
  void* data;
  // The pool's own.
  uint32_t helpers;
  struct workers_job_t* next;
} workers_job_t;

// Runs the job on this thread and on those that are free; returns when all have left it.
void workers_run(workers_job_t* job);

#endif  // IREE_C_SOFTGPU_WORKERS_H_
