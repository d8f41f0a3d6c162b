// A pool of threads over a list of jobs.
#include "softgpu/workers.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t pool_work = PTHREAD_COND_INITIALIZER, pool_done = PTHREAD_COND_INITIALIZER;
static workers_job_t* pool_jobs;
static bool pool_is_started;

static workers_job_t* find_work(void) {
  for (workers_job_t* job = pool_jobs; job; job = job->next) {
    if (job->has_work(job->data)) return job;
  }
  return NULL;
}

static void* work(void* unused) {
  pthread_mutex_lock(&pool_lock);
  for (;;) {
    workers_job_t* job = find_work();
    if (!job) {
      pthread_cond_wait(&pool_work, &pool_lock);
      continue;
    }
    ++job->helpers;
    pthread_mutex_unlock(&pool_lock);
    job->run(job->data);
    pthread_mutex_lock(&pool_lock);
    if (--job->helpers == 0) pthread_cond_broadcast(&pool_done);
  }
  return NULL;
}

static void start_pool(void) {
  pool_is_started = true;
  const char* asked = getenv("IREE_SOFTGPU_THREADS");
  long threads = asked ? atol(asked) : sysconf(_SC_NPROCESSORS_ONLN);
  if (threads > 256) threads = 256;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  for (long i = 1; i < threads; ++i) {
    pthread_t thread;
    pthread_create(&thread, &attributes, work, NULL);
  }
  pthread_attr_destroy(&attributes);
}

void workers_run(workers_job_t* job) {
  pthread_mutex_lock(&pool_lock);
  if (!pool_is_started) start_pool();
  job->next = pool_jobs;
  pool_jobs = job;
  pthread_cond_broadcast(&pool_work);
  pthread_mutex_unlock(&pool_lock);
  job->run(job->data);
  pthread_mutex_lock(&pool_lock);
  workers_job_t** at = &pool_jobs;
  while (*at != job) at = &(*at)->next;
  *at = job->next;
  while (job->helpers) pthread_cond_wait(&pool_done, &pool_lock);
  pthread_mutex_unlock(&pool_lock);
}
