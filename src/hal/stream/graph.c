// Recordings as graphs of the vendor's library: the calls that a queue would make, captured once, when recording ends.
#include "hal/stream/writer.h"

enum { MIN_COMMANDS = 2, CAPTURE_OF_THREAD = 1 };

typedef struct stream_graph_t {
  iree_allocator_t host_allocator;
  stream_context_t context;
  iree_slim_mutex_t mutex;  // one thread at a time may launch a graph
  void* executable;
  stream_launch_t launches[];  // of its dispatches
} stream_graph_t;

// Whether everything is known: addresses, and how many workgroups there are.
static bool is_fixed(const gpu_work_t* work) {
  if (work->slot_count || work->count < MIN_COMMANDS) return false;
  for (uint32_t i = 0; i < work->count; ++i) {
    const gpu_command_t* command = &work->commands[i];
    if (command->kind == HAL_COMMAND_DISPATCH && command->dispatch.is_indirect) return false;
  }
  return true;
}

static iree_status_t write_all(stream_writer_t* writer, const gpu_work_t* work) {
  for (uint32_t i = 0; i < work->count; ++i) {
    IREE_RETURN_IF_ERROR(stream_write_command(writer, NULL, &work->commands[i]));
  }
  return iree_ok_status();
}

// Only calls of this thread are part of it.
static iree_status_t capture(stream_writer_t* writer, const gpu_work_t* work, void** out_graph) {
  const stream_api_t* api = writer->api;
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, capture_begin, writer->stream, CAPTURE_OF_THREAD));
  iree_status_t status = write_all(writer, work);
  iree_status_t end = STREAM_CALL(api, capture_end, writer->stream, out_graph);
  if (iree_status_is_ok(status)) return end;
  iree_status_ignore(end);
  return status;
}

static iree_status_t instantiate(stream_graph_t* graph, const gpu_work_t* work) {
  const stream_api_t* api = graph->context.api;
  stream_writer_t writer = {.api = api, .host_allocator = graph->host_allocator, .launches = graph->launches};
  void* captured = NULL;
  IREE_RETURN_IF_ERROR(stream_context_enter(&graph->context));
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, stream_create, &writer.stream, STREAM_API_STREAM_NON_BLOCKING));
  iree_status_t status = capture(&writer, work, &captured);
  if (iree_status_is_ok(status)) status = STREAM_CALL(api, graph_instantiate, &graph->executable, captured, 0);
  if (captured) api->graph_destroy(captured);
  api->stream_destroy(writer.stream);
  return status;
}

iree_status_t stream_graph_create(gpu_device_t* base, const gpu_work_t* work, void** out_graph) {
  const stream_device_t* device = (const stream_device_t*)base;
  const stream_context_t* context = &device->gpus[0].context;
  *out_graph = NULL;
  if (!device->options.makes_graphs || !is_fixed(work)) return iree_ok_status();
  stream_graph_t* graph = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(base->base.host_allocator, sizeof(*graph), work->count,
                                                          sizeof(graph->launches[0]), (void**)&graph));
  graph->host_allocator = base->base.host_allocator;
  iree_slim_mutex_initialize(&graph->mutex);
  iree_status_t status = stream_context_retain(context->api, context->device, &graph->context);
  if (iree_status_is_ok(status)) status = instantiate(graph, work);
  if (!iree_status_is_ok(status)) {
    stream_graph_free(graph);
    return status;
  }
  *out_graph = graph;
  return iree_ok_status();
}

void stream_graph_free(void* plan) {
  stream_graph_t* graph = (stream_graph_t*)plan;
  if (graph->executable) {
    iree_status_ignore(stream_context_enter(&graph->context));
    graph->context.api->graph_executable_destroy(graph->executable);
  }
  stream_context_release(&graph->context);
  iree_slim_mutex_deinitialize(&graph->mutex);
  iree_allocator_free(graph->host_allocator, graph);
}

iree_status_t stream_graph_launch(void* plan, void* stream) {
  stream_graph_t* graph = (stream_graph_t*)plan;
  iree_slim_mutex_lock(&graph->mutex);
  iree_status_t status = STREAM_CALL(graph->context.api, graph_launch, graph->executable, stream);
  iree_slim_mutex_unlock(&graph->mutex);
  return status;
}
