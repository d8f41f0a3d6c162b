// See trace.h.
#include "base/trace.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

atomic_bool trace_is_on;

// Guards what follows.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static FILE* file;
static bool has_events;
static uint64_t origin_ns;
static uint32_t generation;  // of traces, from 1

static _Thread_local uint32_t named;  // the trace that has this thread's name

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void put_string(const char* text) {
  fputc('"', file);
  for (; *text; ++text) {
    unsigned char c = (unsigned char)*text;
    if (c < 0x20 || c == '"' || c == '\\' || c >= 0x7f) {
      fprintf(file, "\\u%04x", c);
    } else {
      fputc(c, file);
    }
  }
  fputc('"', file);
}

static void begin_event(const char* phase) {
  fprintf(file, "%s{\"ph\":\"%s\",\"pid\":1,\"tid\":%d,\"name\":", has_events ? ",\n" : "", phase, (int)gettid());
  has_events = true;
}

static void name_thread(void) {
  char name[16] = "";
  if (named == generation) return;
  named = generation;
  pthread_getname_np(pthread_self(), name, sizeof(name));
  begin_event("M");
  fputs("\"thread_name\",\"args\":{\"name\":", file);
  put_string(name);
  fputs("}}", file);
}

trace_span_t trace_begin_on(const char* name) { return (trace_span_t){name, now_ns()}; }

void trace_end_on(const trace_span_t* span) {
  uint64_t end_ns = now_ns();
  pthread_mutex_lock(&mutex);
  if (file && span->start_ns >= origin_ns) {
    uint64_t start = span->start_ns - origin_ns, duration = end_ns - span->start_ns;
    name_thread();
    begin_event("X");
    put_string(span->name);
    fprintf(file, ",\"ts\":%llu.%03u,\"dur\":%llu.%03u}", (unsigned long long)(start / 1000), (unsigned)(start % 1000),
            (unsigned long long)(duration / 1000), (unsigned)(duration % 1000));
  }
  pthread_mutex_unlock(&mutex);
}

void trace_mark(const char* name, const char* text) {
  uint64_t at_ns = now_ns();
  pthread_mutex_lock(&mutex);
  if (file && at_ns >= origin_ns) {
    name_thread();
    begin_event("i");
    put_string(name);
    fprintf(file,
            ",\"s\":\"t\",\"ts\":%llu.%03u,\"args\":{\"values\":", (unsigned long long)((at_ns - origin_ns) / 1000),
            (unsigned)((at_ns - origin_ns) % 1000));
    put_string(text);
    fputs("}}", file);
  }
  pthread_mutex_unlock(&mutex);
}

bool trace_start(const char* path) {
  bool ok = false;
  pthread_mutex_lock(&mutex);
  if (file) {
    errno = EBUSY;
  } else if ((file = fopen(path, "w"))) {
    ok = true;
    has_events = false;
    ++generation;
    origin_ns = now_ns();
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", file);
    atomic_store(&trace_is_on, true);
  }
  pthread_mutex_unlock(&mutex);
  return ok;
}

bool trace_stop(void) {
  bool ok = true;
  pthread_mutex_lock(&mutex);
  atomic_store(&trace_is_on, false);
  if (file) {
    fputs("\n]}\n", file);
    ok = fflush(file) == 0 && !ferror(file);
    int error = errno;
    ok &= fclose(file) == 0;
    if (error && !ok) errno = error;
    file = NULL;
  }
  pthread_mutex_unlock(&mutex);
  return ok;
}
