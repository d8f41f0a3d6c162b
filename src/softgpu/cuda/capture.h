// Captures of streams into graphs. All below driver.lock but capture_forbids.
#ifndef IREE_C_SOFTGPU_CUDA_CAPTURE_H_
#define IREE_C_SOFTGPU_CUDA_CAPTURE_H_

#include "softgpu/cuda/stream.h"

// Why a call that might wait for a captured stream is not allowed to this thread now: then the captures that forbid it
// are spoilt. Takes driver.lock.
result_t capture_forbids(void);
// Why work may not go to a stream that is not captured: the legacy one would wait for those that are.
result_t capture_forbids_legacy(const stream_t* stream);
// Why the stream may not be waited for.
result_t capture_forbids_waiting(const stream_t* stream);
// Work as a node of the stream's capture; takes the work.
result_t capture_add(stream_t* stream, work_t* work);
// A copy of a graph that is launched, as a node.
result_t capture_add_graph(stream_t* stream, const graph_t* graph);
result_t capture_record(stream_t* stream, event_t* event);
// Of a stream or an event that is captured.
result_t capture_wait(stream_t* stream, event_t* event);
// A stream that goes takes its capture along.
void capture_drop(stream_t* stream);

#endif  // IREE_C_SOFTGPU_CUDA_CAPTURE_H_
