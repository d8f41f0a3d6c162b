// Captures: which streams take part, what their next node depends on, and what is forbidden meanwhile.
#include "softgpu/cuda/capture.h"

#include <stdlib.h>
#include <string.h>

#include "softgpu/cuda/calls.h"
#include "softgpu/cuda/graph.h"

struct capture_t {
  uint64_t id;
  graph_t* graph;
  bool owns_graph;
  stream_t* origin;  // NULL: its stream is gone
  int mode;
  bool is_invalid;
  pthread_t thread;
  size_t streams;  // that take part
  struct capture_t* next;
};

static capture_t* captures;
static _Thread_local int thread_mode = CAPTURE_MODE_GLOBAL;

//===----------------------------------------------------------------------------------------------------------------===
// What is forbidden
//===----------------------------------------------------------------------------------------------------------------===

static bool forbids(const capture_t* capture) {
  if (capture->is_invalid) return false;
  bool is_own = pthread_equal(capture->thread, pthread_self());
  if (is_own) return capture->mode != CAPTURE_MODE_RELAXED;
  return thread_mode == CAPTURE_MODE_GLOBAL && capture->mode == CAPTURE_MODE_GLOBAL;
}

result_t capture_forbids(void) {
  if (thread_mode == CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
  result_t result = CUDA_SUCCESS;
  driver_lock();
  for (capture_t* at = captures; at; at = at->next) {
    if (!forbids(at)) continue;
    at->is_invalid = true;
    result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  driver_unlock();
  return result;
}

result_t capture_forbids_legacy(const stream_t* stream) {
  if (!stream->is_legacy) return CUDA_SUCCESS;
  result_t result = CUDA_SUCCESS;
  for (stream_t* at = stream->context->streams; at; at = at->next) {
    if (!at->capture || at->flags & STREAM_NON_BLOCKING || at->capture->mode == CAPTURE_MODE_RELAXED) continue;
    at->capture->is_invalid = true;
    result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  return result;
}

result_t capture_forbids_waiting(const stream_t* stream) {
  if (!stream->capture) return CUDA_SUCCESS;
  stream->capture->is_invalid = true;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

//===----------------------------------------------------------------------------------------------------------------===
// Nodes
//===----------------------------------------------------------------------------------------------------------------===

static bool set_tails(stream_t* stream, node_t* const* nodes, size_t count) {
  node_t** tails = malloc((count ? count : 1) * sizeof(*tails));
  if (!tails) return false;
  if (count) memcpy(tails, nodes, count * sizeof(*tails));
  free(stream->tails);
  stream->tails = tails;
  stream->tail_count = count;
  return true;
}

static bool add_tails(stream_t* stream, node_t* const* nodes, size_t count) {
  node_t** tails = realloc(stream->tails, (stream->tail_count + count + 1) * sizeof(*tails));
  if (!tails) return false;
  stream->tails = tails;
  for (size_t i = 0; i < count; ++i) {
    size_t at = 0;
    while (at < stream->tail_count && tails[at] != nodes[i]) ++at;
    if (at == stream->tail_count) tails[stream->tail_count++] = nodes[i];
  }
  return true;
}

// Takes the work and the child.
static result_t add(stream_t* stream, work_t* work, graph_t* child) {
  node_t* node;
  node_source_t source = {.type = child ? NODE_GRAPH : node_type_of(work->kind),
                          .work = work,
                          .child = child,
                          .dependencies = stream->tails,
                          .dependency_count = stream->tail_count};
  CHECK(graph_add(stream->capture->graph, &source, &node));
  return set_tails(stream, &node, 1) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

result_t capture_add(stream_t* stream, work_t* work) {
  if (!stream->capture->is_invalid) return add(stream, work, NULL);
  driver_unlock();
  work_release(work);
  driver_lock();
  return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
}

result_t capture_add_graph(stream_t* stream, const graph_t* graph) {
  REQUIRE(!stream->capture->is_invalid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  graph_t* child = graph_clone(graph, false);
  REQUIRE(child, CUDA_ERROR_OUT_OF_MEMORY);
  child->is_child = true;
  work_t work = {.kind = WORK_EMPTY};
  return add(stream, &work, child);
}

result_t capture_record(stream_t* stream, event_t* event) {
  capture_t* capture = stream->capture;
  REQUIRE(!capture->is_invalid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  node_t** nodes = malloc((stream->tail_count + 1) * sizeof(*nodes));
  REQUIRE(nodes, CUDA_ERROR_OUT_OF_MEMORY);
  if (stream->tail_count) memcpy(nodes, stream->tails, stream->tail_count * sizeof(*nodes));
  event_forget_capture(event);
  event->capture = capture->id;
  event->graph = capture->graph;
  event->nodes = nodes;
  event->node_count = stream->tail_count;
  return CUDA_SUCCESS;
}

static capture_t* find(uint64_t id) {
  capture_t* at = captures;
  while (at && at->id != id) at = at->next;
  return at;
}

result_t capture_wait(stream_t* stream, event_t* event) {
  capture_t* capture = event->capture ? find(event->capture) : NULL;
  if (stream->capture && stream->capture->is_invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (stream->capture && !event->capture) {
    if (!event->place.stream) return CUDA_SUCCESS;
    stream->capture->is_invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  REQUIRE(capture, CUDA_ERROR_CAPTURED_EVENT);
  REQUIRE(!capture->is_invalid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  if (stream->capture && stream->capture != capture) {
    stream->capture->is_invalid = capture->is_invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  }
  if (!stream->capture) {
    REQUIRE(!stream->is_legacy, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    REQUIRE(set_tails(stream, NULL, 0), CUDA_ERROR_OUT_OF_MEMORY);
    stream->capture = capture;
    ++capture->streams;
  }
  return add_tails(stream, event->nodes, event->node_count) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

//===----------------------------------------------------------------------------------------------------------------===
// Beginning and end
//===----------------------------------------------------------------------------------------------------------------===

static void leave(stream_t* stream) {
  capture_t* capture = stream->capture;
  stream->capture = NULL;
  free(stream->tails);
  stream->tails = NULL;
  stream->tail_count = 0;
  --capture->streams;
}

static void free_capture(capture_t* capture, bool keeps_graph) {
  capture_t** at = &captures;
  while (*at != capture) at = &(*at)->next;
  *at = capture->next;
  if (!keeps_graph && capture->owns_graph) graph_destroy(capture->graph);
  free(capture);
}

static void each_stream(const capture_t* capture, context_t* context, void (*call)(stream_t* stream)) {
  for (stream_t *at = context->streams, *next; at; at = next) {
    next = at->next;
    if (at->capture == capture) call(at);
  }
}

// Of any context: a capture may span GPUs.
static void leave_all(capture_t* capture) {
  for (uint32_t i = 0; i < driver.device_count; ++i) each_stream(capture, &driver.devices[i].primary, leave);
  for (context_t* context = driver.contexts; context; context = context->next) each_stream(capture, context, leave);
}

void capture_drop(stream_t* stream) {
  capture_t* capture = stream->capture;
  if (!capture) return;
  bool is_origin = capture->origin == stream;
  capture->is_invalid = true;
  leave(stream);
  if (!is_origin) return;
  leave_all(capture);
  free_capture(capture, false);
}

static result_t begin(stream_t* stream, int mode, graph_t* graph, node_t* const* nodes, size_t count) {
  context_t* context;
  CHECK(context_enter(&context));
  REQUIRE(mode >= CAPTURE_MODE_GLOBAL && mode <= CAPTURE_MODE_RELAXED, CUDA_ERROR_INVALID_VALUE);
  CHECK(stream_find(stream, context, &stream));
  REQUIRE(!stream->is_legacy, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  for (size_t i = 0; i < count; ++i) {
    REQUIRE(object_is(nodes[i], OBJECT_NODE) && nodes[i]->graph == graph, CUDA_ERROR_INVALID_VALUE);
  }
  driver_lock();
  result_t result = stream->capture ? CUDA_ERROR_ILLEGAL_STATE : CUDA_SUCCESS;
  capture_t* capture = result == CUDA_SUCCESS ? calloc(1, sizeof(*capture)) : NULL;
  if (result == CUDA_SUCCESS && capture) {
    capture->owns_graph = !graph;
    capture->graph = graph ? graph : graph_create(false);
  }
  if (capture && (!capture->graph || !set_tails(stream, nodes, count))) {
    if (capture->owns_graph) graph_destroy(capture->graph);
    free(capture);
    capture = NULL;
  }
  if (capture) {
    capture->id = __atomic_add_fetch(&driver.next_id, 1, __ATOMIC_RELAXED);
    capture->origin = stream;
    capture->mode = mode;
    capture->thread = pthread_self();
    capture->streams = 1;
    capture->next = captures;
    captures = capture;
    stream->capture = capture;
  } else if (result == CUDA_SUCCESS) {
    result = CUDA_ERROR_OUT_OF_MEMORY;
  }
  driver_unlock();
  return result;
}

result_t cuStreamBeginCapture_v2(stream_t* stream, int mode) { return begin(stream, mode, NULL, NULL, 0); }
result_t cuStreamBeginCapture(stream_t* stream) { return begin(stream, CAPTURE_MODE_GLOBAL, NULL, NULL, 0); }
result_t cuStreamBeginCaptureToGraph(stream_t* stream, graph_t* graph, node_t* const* nodes, const edge_t* edges,
                                     size_t count, int mode) {
  REQUIRE(object_is(graph, OBJECT_GRAPH) && (nodes || !count), CUDA_ERROR_INVALID_VALUE);
  return begin(stream, mode, graph, nodes, count);
}

// What other streams did last must be before something of the first one.
static bool is_joined(const stream_t* stream, const stream_t* origin) {
  for (size_t i = 0; i < stream->tail_count; ++i) {
    bool found = false;
    for (size_t k = 0; k < origin->tail_count && !found; ++k) found = graph_depends(origin->tails[k], stream->tails[i]);
    if (!found) return false;
  }
  return true;
}

static bool all_joined(const capture_t* capture, const context_t* context) {
  for (const stream_t* at = context->streams; at; at = at->next) {
    if (at->capture == capture && !is_joined(at, capture->origin)) return false;
  }
  return true;
}

static result_t end(stream_t* stream, graph_t** out) {
  capture_t* capture = stream->capture;
  *out = NULL;
  REQUIRE(capture, CUDA_ERROR_ILLEGAL_STATE);
  if (capture->origin != stream) {
    capture->is_invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  }
  REQUIRE(capture->mode == CAPTURE_MODE_RELAXED || pthread_equal(capture->thread, pthread_self()),
          CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  result_t result = capture->is_invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
  bool joined = true;
  for (uint32_t i = 0; i < driver.device_count; ++i) joined &= all_joined(capture, &driver.devices[i].primary);
  for (context_t* at = driver.contexts; at; at = at->next) joined &= all_joined(capture, at);
  if (result == CUDA_SUCCESS && !joined) result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  leave_all(capture);
  if (result == CUDA_SUCCESS) *out = capture->graph;
  free_capture(capture, result == CUDA_SUCCESS);
  return result;
}

// The stream of a call.
static result_t enter(stream_t** stream) {
  context_t* context;
  CHECK(context_enter(&context));
  return stream_find(*stream, context, stream);
}

result_t cuStreamEndCapture(stream_t* stream, graph_t** out) {
  CHECK(enter(&stream));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  driver_lock();
  result_t result = end(stream, out);
  driver_unlock();
  return result;
}

static int status_of(const stream_t* stream) {
  return !stream->capture              ? CAPTURE_STATUS_NONE
         : stream->capture->is_invalid ? CAPTURE_STATUS_INVALIDATED
                                       : CAPTURE_STATUS_ACTIVE;
}

result_t cuStreamGetCaptureInfo_v3(stream_t* stream, int* out_status, uint64_t* out_id, graph_t** out_graph,
                                   node_t* const** out_nodes, const edge_t** out_edges, size_t* out_count) {
  CHECK(enter(&stream));
  REQUIRE(out_status, CUDA_ERROR_INVALID_VALUE);
  driver_lock();
  *out_status = status_of(stream);
  if (*out_status == CAPTURE_STATUS_ACTIVE) {
    if (out_id) *out_id = stream->capture->id;
    if (out_graph) *out_graph = stream->capture->graph;
    if (out_nodes) *out_nodes = stream->tails;
    if (out_edges) *out_edges = NULL;
    if (out_count) *out_count = stream->tail_count;
  }
  driver_unlock();
  return CUDA_SUCCESS;
}
result_t cuStreamGetCaptureInfo_v2(stream_t* stream, int* out_status, uint64_t* out_id, graph_t** out_graph,
                                   node_t* const** out_nodes, size_t* out_count) {
  return cuStreamGetCaptureInfo_v3(stream, out_status, out_id, out_graph, out_nodes, NULL, out_count);
}
result_t cuStreamGetCaptureInfo(stream_t* stream, int* out_status, uint64_t* out_id) {
  return cuStreamGetCaptureInfo_v3(stream, out_status, out_id, NULL, NULL, NULL, NULL);
}
result_t cuStreamIsCapturing(stream_t* stream, int* out_status) {
  return cuStreamGetCaptureInfo_v3(stream, out_status, NULL, NULL, NULL, NULL, NULL);
}

result_t cuStreamUpdateCaptureDependencies_v2(stream_t* stream, node_t** nodes, const edge_t* edges, size_t count,
                                              unsigned flags) {
  enum { ADD, SET };
  CHECK(enter(&stream));
  REQUIRE(flags <= SET && (nodes || !count), CUDA_ERROR_INVALID_VALUE);
  driver_lock();
  bool is_capturing = stream->capture != NULL, ok = true;
  for (size_t i = 0; is_capturing && ok && i < count; ++i) {
    ok = object_is(nodes[i], OBJECT_NODE) && nodes[i]->graph == stream->capture->graph;
  }
  result_t result = !is_capturing ? CUDA_ERROR_ILLEGAL_STATE : !ok ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  if (result == CUDA_SUCCESS) {
    bool done = flags == SET ? set_tails(stream, nodes, count) : add_tails(stream, nodes, count);
    if (!done) result = CUDA_ERROR_OUT_OF_MEMORY;
  }
  driver_unlock();
  return result;
}
result_t cuStreamUpdateCaptureDependencies(stream_t* stream, node_t** nodes, size_t count, unsigned flags) {
  return cuStreamUpdateCaptureDependencies_v2(stream, nodes, NULL, count, flags);
}

result_t cuThreadExchangeStreamCaptureMode(int* mode) {
  CHECK(driver_enter());
  REQUIRE(mode && *mode >= CAPTURE_MODE_GLOBAL && *mode <= CAPTURE_MODE_RELAXED, CUDA_ERROR_INVALID_VALUE);
  int before = thread_mode;
  thread_mode = *mode;
  *mode = before;
  return CUDA_SUCCESS;
}
