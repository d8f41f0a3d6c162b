// Streams: queues of operations, each drained by a thread; events; what waits for what.
//
// Operations of a stream end in order, so that a place in one is its number: an event is a stream and a number. The
// legacy stream and those that block wait for each other, by numbers too.
#ifndef IREE_C_SOFTGPU_CUDA_STREAM_H_
#define IREE_C_SOFTGPU_CUDA_STREAM_H_

#include "softgpu/cuda/work.h"

enum { STREAM_LEAST_PRIORITY = 0, STREAM_GREATEST_PRIORITY = -5 };

typedef struct capture_t capture_t;

typedef struct place_t {
  stream_t* stream;  // a reference
  uint64_t number;
} place_t;

typedef struct operation_t {
  struct operation_t* next;
  uint64_t number;
  place_t* waits;
  uint32_t wait_count;
  work_t work;
} operation_t;

struct stream_t {
  uint32_t references;
  context_t* context;
  uint32_t flags;
  int priority;
  uint64_t id;
  bool is_legacy;
  pthread_cond_t wake;  // there is an operation, or none will come
  operation_t *first, **last;
  uint64_t submitted, completed;  // numbers
  bool has_thread, is_closing, is_executing;
  capture_t* capture;
  node_t** tails;  // of the capture: what the next node depends on
  size_t tail_count;
  struct stream_t* next;
};

struct event_t {
  uint32_t references;
  context_t* context;
  uint32_t flags;
  place_t place;     // of the last record; no stream: none yet
  uint64_t record;   // number of the last one
  uint64_t time;     // nanoseconds, when it was done
  uint64_t capture;  // id of the capture that it was last recorded in, or 0
  graph_t* graph;    // of it
  node_t** nodes;
  size_t node_count;
  bool is_destroyed;
  struct event_t* next;
};

// The stream that a handle means to this thread.
result_t stream_find(stream_t* handle, context_t* context, stream_t** out_stream);
// Queues the work, or captures it. Takes the work, also where it fails.
result_t stream_submit(stream_t* stream, work_t* work);
// And waits until it is done.
result_t stream_submit_and_wait(stream_t* stream, work_t* work);
result_t stream_synchronize_all(context_t* context);
bool stream_is_capturing(const stream_t* stream);

// Below driver.lock:
// Queues work behind `waits`, whose references it takes. Takes the work, also where it fails.
result_t stream_enqueue(stream_t* stream, work_t* work, place_t* waits, uint32_t wait_count);
static inline bool place_is_done(const place_t* place) { return place->stream->completed >= place->number; }
// Until it is done, or its context is no more.
void stream_await(stream_t* stream, uint64_t number);
// Whether there is more to do, and waits for it: the legacy stream is behind as long as those that block are.
bool stream_is_behind(const stream_t* stream);
void stream_await_order(stream_t* stream);
void stream_retain(stream_t* stream);
void stream_release(stream_t* stream);
void event_release(event_t* event);
// The event stands for the last operation of the stream; returns the record's number.
uint64_t event_set(event_t* event, stream_t* stream);
void event_forget_capture(event_t* event);

stream_t* stream_next(const stream_t* stream);
bool stream_is_executing(const stream_t* stream);

// Checked operations on words of memory, as work.
result_t mem_ops_make(const mem_op_t* ops, uint32_t count, work_t* out);

// For context.c.
result_t stream_open_legacy(context_t* context);
void stream_close_all(context_t* context);
void event_destroy_all(context_t* context);

#endif  // IREE_C_SOFTGPU_CUDA_STREAM_H_
