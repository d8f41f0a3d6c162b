// Recordings as graphs of the vendor's library: the calls that a queue would make, captured once.
//
// Kernels are given their arguments and how many workgroups there are anew where these changed since the last replay,
// for other buffers of the binding table or since the recording was revised; the library's copies and fills are not: a
// replay that needs others than before is a run of calls, as is one while another thread has the graph.
//
// Commands that no barrier divides are a part. They depend on all of the part before, not on one another, so that the
// GPU runs them side by side.
#include "hal/stream/writer.h"

enum {
  MIN_COMMANDS = 2,
  CAPTURE_OF_THREAD = 1,
  SET_DEPENDENCIES = 1,
  MAX_PART = 32,
  MAX_MISFITS = 2,  // revisions that the graph was not good for, until it is made for commands that come twice only
};

// A command of the graph.
typedef struct row_t {
  gpu_command_t command;  // as it is in the graph; what it points to may be gone
  void* node;             // of a kernel that is launched; else NULL
  stream_launch_t launch;
  uint8_t* arguments;  // the node's, gpu_command_arguments_size
} row_t;

typedef struct stream_graph_t {
  iree_allocator_t host_allocator;
  size_t capacity;  // bytes of the block that it is in
  stream_context_t context;
  gpu_work_t work;
  bool was_submitted;
  bool was_revised;  // since the kernels' arguments were set
  bool launches_early;
  uint32_t misfits;
  iree_atomic_uint32_t is_taken;  // by the thread that launches it, of which there may be one at a time
  void* captured;                 // NULL: not made yet
  void* executable;
  gpu_range_t* ranges;  // of the slots, that it is for
  bool* is_changed;     // by slot
  row_t* rows;          // by command
  void** added;         // all nodes in order, while it is captured
} stream_graph_t;

static bool is_launched(const gpu_command_t* command) {
  const uint32_t* counts = command->dispatch.workgroup_count;
  return command->kind == HAL_COMMAND_DISPATCH && counts[0] && counts[1] && counts[2];
}

// Bytes of a command's own copy of its arguments.
static size_t arguments_size(const gpu_command_t* command) {
  return command->kind == HAL_COMMAND_DISPATCH ? gpu_command_arguments_size(command->dispatch.function) : 0;
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
    row_t* row = &graph->rows[i];
    void* node = NULL;
    writer->kept = &row->launch;
    writer->arguments = row->arguments;
    writer->capacity = arguments_size(command);
    IREE_RETURN_IF_ERROR(begin_command(writer, graph, command->waits, &parts));
    IREE_RETURN_IF_ERROR(stream_write_command(writer, ranges, command));
    IREE_RETURN_IF_ERROR(end_command(writer, graph, &parts, &node));
    row->command = *command;
    row->node = is_launched(command) ? node : NULL;
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
  stream_writer_t writer = {
      .api = api, .host_allocator = graph->host_allocator, .launches_early = graph->launches_early};
  IREE_RETURN_IF_ERROR(stream_context_enter(&graph->context));
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, stream_create, &writer.stream, STREAM_API_STREAM_NON_BLOCKING));
  iree_status_t status = capture(&writer, graph, ranges, &graph->captured);
  if (iree_status_is_ok(status)) status = STREAM_CALL(api, graph_instantiate, &graph->executable, graph->captured, 0);
  api->stream_destroy(writer.stream);
  if (!iree_status_is_ok(status)) free_graphs(graph);
  graph->was_revised = false;
  if (iree_status_is_ok(status) && graph->work.slot_count) {
    memcpy(graph->ranges, ranges, graph->work.slot_count * sizeof(*ranges));
  }
  return status;
}

// One block behind the graph, by falling alignment: that of a graph that was cleared, where it is large enough.
static iree_status_t allocate(const gpu_work_t* work, iree_allocator_t host_allocator, stream_graph_t** inout_graph) {
  size_t arguments = 0;
  for (uint32_t i = 0; i < work->count; ++i) arguments += arguments_size(&work->commands[i]);
  stream_graph_t *graph = *inout_graph, *old = graph;
  size_t per_command = sizeof(*graph->rows) + sizeof(*graph->added);
  size_t per_slot = sizeof(*graph->ranges) + sizeof(*graph->is_changed);
  size_t size = sizeof(*graph) + work->count * per_command + work->slot_count * per_slot + arguments;
  if (old && old->capacity >= size) {
    memset(graph + 1, 0, size - sizeof(*graph));
  } else {
    *inout_graph = NULL;
    if (old) stream_graph_free(old);
    IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, size, (void**)&graph));
    graph->capacity = size;
  }
  graph->rows = (row_t*)(graph + 1);
  graph->added = (void**)(graph->rows + work->count);
  graph->ranges = (gpu_range_t*)(graph->added + work->count);
  uint8_t* end = (uint8_t*)(graph->ranges + work->slot_count);
  for (uint32_t i = 0; i < work->count; ++i) {
    graph->rows[i].arguments = end;
    end += arguments_size(&work->commands[i]);
  }
  graph->is_changed = (bool*)end;
  graph->host_allocator = host_allocator;
  graph->work = *work;
  *inout_graph = graph;
  return iree_ok_status();
}

static bool is_same_ref(gpu_ref_t a, gpu_ref_t b) {
  return a.slot == b.slot && a.offset == b.offset && a.length == b.length;
}

// Whether a node made for one command can be the other's: a kernel with other arguments, or the same copy or fill.
static bool has_form(const gpu_command_t* command, const gpu_command_t* other) {
  if (command->kind != other->kind || command->waits != other->waits) return false;
  switch (command->kind) {
    case HAL_COMMAND_DISPATCH:
      return command->dispatch.function == other->dispatch.function && is_launched(command) == is_launched(other) &&
             command->dispatch.dynamic_memory == other->dispatch.dynamic_memory &&
             !memcmp(command->dispatch.workgroup_size, other->dispatch.workgroup_size,
                     sizeof(command->dispatch.workgroup_size));
    case HAL_COMMAND_COPY:
      return is_same_ref(command->target, other->target) && is_same_ref(command->source, other->source);
    case HAL_COMMAND_FILL:
      return is_same_ref(command->target, other->target) && command->pattern.length == other->pattern.length &&
             !memcmp(command->pattern.data, other->pattern.data, sizeof(command->pattern.data));
    case HAL_COMMAND_UPDATE:  // what is copied may be other data at the same place
      return false;
  }
  return false;
}

// Whether the graph of a recording that was revised since is good for the commands, too.
static bool fits_work(const stream_graph_t* graph, const gpu_work_t* work) {
  if (!graph->executable || graph->work.count != work->count || graph->work.slot_count != work->slot_count)
    return false;
  for (uint32_t i = 0; i < work->count; ++i) {
    if (!has_form(&graph->rows[i].command, &work->commands[i])) return false;
  }
  return true;
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
  if (graph && fits_work(graph, work)) {
    graph->work = *work;
    graph->was_revised = true;
    *inout_graph = graph;
    return iree_ok_status();
  }
  if (graph && graph->captured) {
    free_graphs(graph);
    graph->was_submitted = false;
    ++graph->misfits;
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
  if (graph->misfits >= MAX_MISFITS) graph->was_submitted = false;
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

// Sets the node's arguments and counts, where they are others.
static iree_status_t set_kernel(stream_graph_t* graph, const gpu_range_t* ranges, uint32_t index) {
  const stream_api_t* api = graph->context.api;
  const gpu_command_t* command = &graph->work.commands[index];
  const uint32_t* grid = command->dispatch.workgroup_count;
  const uint16_t* block = command->dispatch.workgroup_size;
  row_t* row = &graph->rows[index];
  size_t size = arguments_size(command);
  uint8_t* arguments = iree_alloca(size + 1);
  gpu_command_write_arguments(command, ranges, arguments);
  bool is_same = !memcmp(arguments, row->arguments, size) &&
                 !memcmp(grid, row->command.dispatch.workgroup_count, sizeof(row->command.dispatch.workgroup_count));
  row->command = *command;
  if (is_same) return iree_ok_status();
  memcpy(row->arguments, arguments, size);
  void* function = ((const stream_function_t*)command->dispatch.function)->handles[0];
  uint32_t memory = command->dispatch.dynamic_memory;
  void** extra = row->launch.size ? row->launch.extra : NULL;
  cuda_kernel_t cuda = {function, {grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, memory, NULL, extra};
  hip_kernel_t hip = {{block[0], block[1], block[2]}, extra, function, {grid[0], grid[1], grid[2]}, NULL, memory};
  const void* parameters = api->library->puts_blocks_first ? (const void*)&hip : (const void*)&cuda;
  return STREAM_CALL(api, graph_set_kernel, graph->executable, row->node, parameters);
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
    if (!graph->rows[i].node || !(graph->was_revised || has_changed(graph, &graph->work.commands[i]))) continue;
    IREE_RETURN_IF_ERROR(set_kernel(graph, ranges, i));
  }
  if (graph->work.slot_count) memcpy(graph->ranges, ranges, graph->work.slot_count * sizeof(*ranges));
  graph->was_revised = false;
  return iree_ok_status();
}

// Makes the graph one for the ranges; when that cannot be, it stays as it is.
static iree_status_t fit(stream_graph_t* graph, const gpu_range_t* ranges, bool* out_fits) {
  *out_fits = true;
  if (!compare_ranges(graph, ranges) && !graph->was_revised) return iree_ok_status();
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
