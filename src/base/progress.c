// See progress.h.
#include "base/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/seconds.h"

void progress_begin(progress_t* progress, bool quiet) {
  const char* term = getenv("TERM");
  *progress = (progress_t){.active = !quiet && isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0)};
  progress->start = seconds_now();
}

// What is left when work goes on as before, once that says something.
static void print_rest(double seconds, double share) {
  if (share < 0.05) return;
  long rest = (long)(seconds * (1 - share) / share + 0.5);
  if (rest < 60) {
    fprintf(stderr, ", %ld s left", rest);
  } else {
    fprintf(stderr, ", %ld:%02ld min left", rest / 60, rest % 60);
  }
}

void progress_show(progress_t* progress, const char* phase, double share) {
  if (!progress->active) return;
  double t = seconds_now(), seconds = t - progress->start;
  if (seconds < 1 || (t - progress->last < 0.1 && strcmp(phase, progress->phase) == 0)) return;
  progress->last = t;
  snprintf(progress->phase, sizeof(progress->phase), "%s", phase);
  fprintf(stderr, "\r\033[K%3.0f %%  %s", 100 * (share > 1 ? 1 : share), progress->phase);
  print_rest(seconds, share > 1 ? 1 : share);
  fflush(stderr);
  progress->shown = true;
}

void progress_clear(progress_t* progress) {
  if (progress->shown) fputs("\r\033[K", stderr);
  progress->shown = false;
}

//===----------------------------------------------------------------------------------------------------------------===
// Files
//===----------------------------------------------------------------------------------------------------------------===

// Holes of a file that has its size from the start are not yet written.
static double share_of(const progress_file_t* watch) {
  struct stat info;
  if (!watch->size || fstat(watch->fd, &info) != 0) return 0;
  double filled = 512.0 * (double)info.st_blocks, length = (double)info.st_size;
  return (filled < length ? filled : length) / (double)watch->size;
}

static void* watch_file(void* user) {
  progress_file_t* watch = user;
  pthread_mutex_lock(&watch->mutex);
  while (!watch->stop) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 200000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&watch->changed, &watch->mutex, &until);
    if (!watch->stop) progress_show(&watch->progress, watch->phase, share_of(watch));
  }
  pthread_mutex_unlock(&watch->mutex);
  return NULL;
}

void progress_file_begin(progress_file_t* watch, const char* phase, int fd, unsigned long long size, bool quiet) {
  *watch = (progress_file_t){.phase = phase, .fd = fd, .size = size};
  progress_begin(&watch->progress, quiet);
  if (!watch->progress.active) return;
  pthread_mutex_init(&watch->mutex, NULL);
  pthread_cond_init(&watch->changed, NULL);
  watch->running = pthread_create(&watch->thread, NULL, watch_file, watch) == 0;
}

void progress_file_end(progress_file_t* watch) {
  if (!watch->running) return;
  pthread_mutex_lock(&watch->mutex);
  watch->stop = true;
  pthread_cond_signal(&watch->changed);
  pthread_mutex_unlock(&watch->mutex);
  pthread_join(watch->thread, NULL);
  pthread_cond_destroy(&watch->changed);
  pthread_mutex_destroy(&watch->mutex);
  progress_clear(&watch->progress);
  watch->running = false;
}
