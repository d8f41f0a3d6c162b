// Spans of what the host does, in a file that Perfetto and chrome://tracing open (JSON, the trace event format).
//
//   iree_status_t iree_hal_device_queue_execute(...) {
//     TRACE_SCOPE("queue_execute");    // up to the end of the block
//
// While no trace is written a scope is a load and a branch. Scopes are safe on every thread, and may begin before a
// trace does or end after it. One trace at a time.
#ifndef IREE_C_BASE_TRACE_H_
#define IREE_C_BASE_TRACE_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct trace_span_t {
  const char* name;  // NULL: nobody traces; lives as long as the span
  uint64_t start_ns;
} trace_span_t;

extern atomic_bool trace_is_on;

trace_span_t trace_begin_on(const char* name);
void trace_end_on(const trace_span_t* span);

static inline trace_span_t trace_begin(const char* name) {
  if (!atomic_load_explicit(&trace_is_on, memory_order_relaxed)) return (trace_span_t){0};
  return trace_begin_on(name);
}
static inline void trace_end(const trace_span_t* span) {
  if (span->name) trace_end_on(span);
}
// A moment with what is said of it; both texts are copied.
void trace_mark(const char* name, const char* text);
#define TRACE_SCOPE(name)                                                            \
  trace_span_t trace_scope_ __attribute__((cleanup(trace_end))) = trace_begin(name); \
  (void)trace_scope_

// Begins to write a trace. False with errno set when the file cannot be made, or a trace is being written (EBUSY).
bool trace_start(const char* path);
// Ends it; nothing without one. False with errno set when not all of it could be written.
bool trace_stop(void);

#endif  // IREE_C_BASE_TRACE_H_
