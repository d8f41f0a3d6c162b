// Recordings as graphs of the vendor's library: the calls that a queue would make, captured once.
//
// Kernels are given the addresses of the binding table's buffers anew where these changed since the last replay; the
// library's copies and fills are not: a replay that needs others than before is a run of calls, as is one while another
// thread has the graph.
//
// Commands that no barrier divides are a part. They depend on all of the part before, not on one another, so that the
// GPU runs them side by side.
#include "hal/stream/writer.h"

enum { MIN_COMMANDS = 2, CAPTURE_OF_THREAD = 1, SET_DEPENDENCIES = 1, MAX_PART = 32 };

typedef struct stream_graph_t {
  iree_allocator_t host_allocator;
  size_t capacity;  // bytes of the block that it is in
  stream_context_t context;
  gpu_work_t work;
  bool was_submitted;
  bool launches_early;
  iree_atomic_uint32_t is_taken;  // by the thread that launches it, of which there may be one at a time
  void* captured;                 // NULL: not made yet
  void* executable;
  gpu_range_t* ranges;    // of the slots, that it is for
  bool* is_changed;       // by slot
  void** nodes;           // by command, of those that are kernels; else NULL
  void** added;           // all of them in order, while it is captured
  uint8_t* arguments;     // of dispatches with slots
  size_t arguments_size;  // bytes
  stream_launch_t* launches;
} stream_graph_t;

static bool uses_slots(const gpu_command_t* command) {
  return command->kind == HAL_COMMAND_DISPATCH && command->dispatch.patch_count;
}

// Whether it can be a graph: how many workgroups there are is known, and there is something to gain.
static bool is_fixed(const gpu_work_t* work) {
  if (work->count < MIN_COMMANDS) return false;
  for (uint32_t i = 0; i < work->count; ++i) {
    const gpu_command_t* command = &work->commands[i];
    if (command->kind == HAL_COMMAND_DISPATCH && command->dispatch.is_indirect) return false;
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Creation
//===----------------------------------------------------------------------------------------------------------------===

// The one that is run names its nodes by those of the captured one.
static void free_graphs(stream_graph_t* graph) {
  const stream_api_t* api = graph->context.api;
  if (!graph->captured) return;
  iree_status_ignore(stream_context_enter(&graph->context));
  if (graph->executable) api->graph_executable_destroy(graph->executable);
  api->graph_destroy(graph->captured);
  graph->captured = graph->executable = NULL;
}

// Where in `added` the part before begins, where the one that is captured does, and where that ends.
typedef struct parts_t {
  uint32_t before, current, end;
} parts_t;

// What the next command depends on, where that is not just what was added last.
static iree_status_t begin_command(const stream_writer_t* writer, const stream_graph_t* graph, bool waits,
                                   parts_t* parts) {
  if (!writer->api->capture_depend) return iree_ok_status();
  uint32_t size = parts->end - parts->current;
  if (size && (waits || size == MAX_PART)) *parts = (parts_t){parts->current, parts->end, parts->end};
  bool follows_one = parts->end == parts->current && parts->current - parts->before <= 1;
  if (follows_one) return iree_ok_status();
  return STREAM_CALL(writer->api, capture_depend, writer->stream, graph->added + parts->before,
                     parts->current - parts->before, SET_DEPENDENCIES);
}

// Finds the node that the command has added, the last one of several; a command for nothing adds none.
static iree_status_t end_command(const stream_writer_t* writer, stream_graph_t* graph, parts_t* parts,
                                 void** out_node) {
  int state = 0;
  uint64_t id = 0;
  void* captured = NULL;
  void* const* last = NULL;
  size_t count = 0;
  *out_node = NULL;
  IREE_RETURN_IF_ERROR(STREAM_CALL(writer->api, capture_info, writer->stream, &state, &id, &captured, &last, &count));
  if (count != 1) return iree_ok_status();
  for (uint32_t i = parts->before; i < parts->end; ++i) {
    if (graph->added[i] == last[0]) return iree_ok_status();
  }
  *out_node = graph->added[parts->end++] = last[0];
  return iree_ok_status();
}

static iree_status_t write_all(stream_writer_t* writer, stream_graph_t* graph, const gpu_range_t* ranges) {
  parts_t parts = {0};
  for (uint32_t i = 0; i < graph->work.count; ++i) {
    const gpu_command_t* command = &graph->work.commands[i];
    void* node = NULL;
    IREE_RETURN_IF_ERROR(begin_command(writer, graph, command->waits, &parts));
    IREE_RETURN_IF_ERROR(stream_write_command(writer, ranges, command));
    IREE_RETURN_IF_ERROR(end_command(writer, graph, &parts, &node));
    if (uses_slots(command)) graph->nodes[i] = node;
  }
  return iree_ok_status();
}

// Only calls of this thread are part of it.
static iree_status_t capture(stream_writer_t* writer, stream_graph_t* graph, const gpu_range_t* ranges,
                             void** out_captured) {
  const stream_api_t* api = writer->api;
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, capture_begin, writer->stream, CAPTURE_OF_THREAD));
  iree_status_t status = write_all(writer, graph, ranges);
  iree_status_t end = STREAM_CALL(api, capture_end, writer->stream, out_captured);
  if (iree_status_is_ok(status)) return end;
  iree_status_ignore(end);
  return status;
}

static iree_status_t instantiate(stream_graph_t* graph, const gpu_range_t* ranges) {
  const stream_api_t* api = graph->context.api;
  stream_writer_t writer = {.api = api,
                            .host_allocator = graph->host_allocator,
                            .arguments = graph->arguments,
                            .capacity = graph->arguments_size,
                            .launches = graph->launches,
                            .launches_early = graph->launches_early};
  IREE_RETURN_IF_ERROR(stream_context_enter(&graph->context));
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, stream_create, &writer.stream, STREAM_API_STREAM_NON_BLOCKING));
  iree_status_t status = capture(&writer, graph, ranges, &graph->captured);
  if (iree_status_is_ok(status)) status = STREAM_CALL(api, graph_instantiate, &graph->executable, graph->captured, 0);
  api->stream_destroy(writer.stream);
  if (!iree_status_is_ok(status)) free_graphs(graph);
  if (iree_status_is_ok(status) && graph->work.slot_count) {
    memcpy(graph->ranges, ranges, graph->work.slot_count * sizeof(*ranges));
  }
  return status;
}

// One block behind the graph, by falling alignment: that of a graph that was cleared, where it is large enough.
static iree_status_t allocate(const gpu_work_t* work, iree_allocator_t host_allocator, stream_graph_t** inout_graph) {
  size_t arguments_size = 0;
  for (uint32_t i = 0; i < work->count; ++i) {
    const gpu_command_t* command = &work->commands[i];
    if (uses_slots(command)) arguments_size += gpu_command_arguments_size(command->dispatch.function);
  }
  stream_graph_t *graph = *inout_graph, *old = graph;
  size_t per_command = sizeof(*graph->launches) + sizeof(*graph->nodes) + sizeof(*graph->added);
  size_t per_slot = sizeof(*graph->ranges) + sizeof(*graph->is_changed);
  size_t size = sizeof(*graph) + work->count * per_command + work->slot_count * per_slot + arguments_size;
  if (old && old->capacity >= size) {
    memset(graph + 1, 0, size - sizeof(*graph));
  } else {
    *inout_graph = NULL;
    if (old) stream_graph_free(old);
    IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, size, (void**)&graph));
    graph->capacity = size;
  }
  graph->launches = (stream_launch_t*)(graph + 1);
  graph->nodes = (void**)(graph->launches + work->count);
  graph->added = graph->nodes + work->count;
  graph->ranges = (gpu_range_t*)(graph->added + work->count);
  graph->arguments = (uint8_t*)(graph->ranges + work->slot_count);
  graph->is_changed = (bool*)(graph->arguments + arguments_size);
  graph->arguments_size = arguments_size;
  graph->host_allocator = host_allocator;
  graph->work = *work;
  *inout_graph = graph;
  return iree_ok_status();
}

iree_status_t stream_graph_create(gpu_device_t* base, const gpu_work_t* work, void** inout_graph) {
  const stream_device_t* device = (const stream_device_t*)base;
  const stream_context_t* context = &device->gpus[0].context;
  stream_graph_t* graph = *inout_graph;
  *inout_graph = NULL;
  if (!device->makes_graphs || !is_fixed(work)) {
    if (graph) stream_graph_free(graph);
    return iree_ok_status();
  }
  IREE_RETURN_IF_ERROR(allocate(work, base->base.host_allocator, &graph));
  graph->launches_early = device->launches_early;
  iree_status_t status = iree_ok_status();
  if (!graph->context.handle) status = stream_context_retain(context->api, context->device, &graph->context);
  if (iree_status_is_ok(status) && !work->slot_count) status = instantiate(graph, NULL);
  if (!iree_status_is_ok(status)) {
    stream_graph_free(graph);
    return status;
  }
  *inout_graph = graph;
  return iree_ok_status();
}

void stream_graph_clear(void* plan) {
  stream_graph_t* graph = (stream_graph_t*)plan;
  free_graphs(graph);
  graph->was_submitted = false;
}

void stream_graph_free(void* plan) {
  stream_graph_t* graph = (stream_graph_t*)plan;
  free_graphs(graph);
  stream_context_release(&graph->context);
  iree_allocator_free(graph->host_allocator, graph);
}

//===----------------------------------------------------------------------------------------------------------------===
// Replay
//===----------------------------------------------------------------------------------------------------------------===

// A kernel as graphs know it: CUDA_KERNEL_NODE_PARAMS_v1 and hipKernelNodeParams.
typedef struct cuda_kernel_t {
  void* function;
  uint32_t grid[3], block[3], dynamic_memory;
  void** parameters;
  void** extra;
} cuda_kernel_t;
typedef struct hip_kernel_t {
  uint32_t block[3];
  void** extra;
  void* function;
  uint32_t grid[3];
  void** parameters;
  uint32_t dynamic_memory;
} hip_kernel_t;

static iree_status_t set_kernel(stream_graph_t* graph, const gpu_range_t* ranges, uint32_t index) {
  const stream_api_t* api = graph->context.api;
  const gpu_command_t* command = &graph->work.commands[index];
  const uint32_t* grid = command->dispatch.workgroup_count;
  const uint16_t* block = command->dispatch.workgroup_size;
  stream_launch_t* launch = &graph->launches[index];
  void* function = ((const stream_function_t*)command->dispatch.function)->handles[0];
  uint32_t memory = command->dispatch.dynamic_memory;
  gpu_command_write_arguments(command, ranges, (uint8_t*)launch->extra[1]);
  cuda_kernel_t cuda = {function,     {grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, memory, NULL,
                        launch->extra};
  hip_kernel_t hip = {{block[0], block[1], block[2]}, launch->extra, function,
                      {grid[0], grid[1], grid[2]},    NULL,          memory};
  const void* parameters = api->library->puts_blocks_first ? (const void*)&hip : (const void*)&cuda;
  return STREAM_CALL(api, graph_set_kernel, graph->executable, graph->nodes[index], parameters);
}

static bool is_changed(const stream_graph_t* graph, uint32_t slot) {
  return slot != GPU_SLOT_NONE && graph->is_changed[slot];
}

static bool has_changed(const stream_graph_t* graph, const gpu_command_t* command) {
  if (command->kind != HAL_COMMAND_DISPATCH) {
    return is_changed(graph, command->target.slot) ||
           (command->kind == HAL_COMMAND_COPY && is_changed(graph, command->source.slot));
  }
  for (uint32_t i = 0; i < command->dispatch.patch_count; ++i) {
    if (graph->is_changed[command->dispatch.patches[i].slot]) return true;
  }
  return false;
}

// Whether any slot is at another place than before, in which case `is_changed` says which.
static bool compare_ranges(stream_graph_t* graph, const gpu_range_t* ranges) {
  bool any = false;
  for (uint32_t i = 0; i < graph->work.slot_count; ++i) {
    graph->is_changed[i] = ranges[i].address != graph->ranges[i].address || ranges[i].length != graph->ranges[i].length;
    any |= graph->is_changed[i];
  }
  return any;
}

static iree_status_t set_changed_kernels(stream_graph_t* graph, const gpu_range_t* ranges) {
  for (uint32_t i = 0; i < graph->work.count; ++i) {
    if (!graph->nodes[i] || !has_changed(graph, &graph->work.commands[i])) continue;
    IREE_RETURN_IF_ERROR(set_kernel(graph, ranges, i));
  }
  memcpy(graph->ranges, ranges, graph->work.slot_count * sizeof(*ranges));
  return iree_ok_status();
}

// Makes the graph one for the ranges; when that cannot be, it stays as it is.
static iree_status_t fit(stream_graph_t* graph, const gpu_range_t* ranges, bool* out_fits) {
  *out_fits = true;
  if (!compare_ranges(graph, ranges)) return iree_ok_status();
  for (uint32_t i = 0; i < graph->work.count && *out_fits; ++i) {
    const gpu_command_t* command = &graph->work.commands[i];
    if (command->kind != HAL_COMMAND_DISPATCH) *out_fits = !has_changed(graph, command);
  }
  if (!*out_fits) return iree_ok_status();
  iree_status_t status = set_changed_kernels(graph, ranges);
  if (!iree_status_is_ok(status)) free_graphs(graph);  // some are set
  return status;
}

static iree_status_t launch(stream_graph_t* graph, const gpu_range_t* ranges, void* stream, bool* out_is_launched) {
  *out_is_launched = graph->executable || graph->was_submitted;
  graph->was_submitted = true;
  if (!*out_is_launched) return iree_ok_status();
  if (graph->executable) {
    IREE_RETURN_IF_ERROR(fit(graph, ranges, out_is_launched));
  } else {
    IREE_RETURN_IF_ERROR(instantiate(graph, ranges));
  }
  if (!*out_is_launched) return iree_ok_status();
  return STREAM_CALL(graph->context.api, graph_launch, graph->executable, stream);
}

iree_status_t stream_graph_launch(void* plan, const gpu_range_t* ranges, void* stream, bool* out_is_launched) {
  stream_graph_t* graph = (stream_graph_t*)plan;
  *out_is_launched = false;
  if (iree_atomic_exchange(&graph->is_taken, 1u, iree_memory_order_acquire)) return iree_ok_status();
  iree_status_t status = launch(graph, ranges, stream, out_is_launched);
  iree_atomic_store(&graph->is_taken, 0u, iree_memory_order_release);
  return status;
}
