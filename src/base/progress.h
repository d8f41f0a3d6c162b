// How far long work is, on a terminal: one line on standard error that is drawn over, after the first second and at
// most ten times a second: share, phase, time left. Nothing anywhere else.
#ifndef IREE_C_BASE_PROGRESS_H_
#define IREE_C_BASE_PROGRESS_H_

#include <pthread.h>
#include <stdbool.h>

typedef struct progress_t {
  bool active, shown;
  double start, last;  // seconds
  char phase[128];     // that was shown last
} progress_t;

void progress_begin(progress_t* progress, bool quiet);
// `share` of all work that is done, 0 to 1.
void progress_show(progress_t* progress, const char* phase, double share);
// Takes the line away: before anything else is printed, and at the end.
void progress_clear(progress_t* progress);

// A file that grows to `size` bytes, or is filled up to them, while somebody else writes it: watched by a thread from
// begin to end.
typedef struct progress_file_t {
  progress_t progress;
  const char* phase;
  int fd;
  unsigned long long size;
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  bool running, stop;
} progress_file_t;
void progress_file_begin(progress_file_t* watch, const char* phase, int fd, unsigned long long size, bool quiet);
void progress_file_end(progress_file_t* watch);

#endif  // IREE_C_BASE_PROGRESS_H_
