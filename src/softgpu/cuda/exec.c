// Executable graphs: a clone of a graph, its work as a list, launches.
#include <stdlib.h>
#include <string.h>

#include "softgpu/cuda/calls.h"
#include "softgpu/cuda/capture.h"
#include "softgpu/cuda/graph.h"
#include "softgpu/cuda/module.h"

void program_release(program_t* program) {
  if (!program || __atomic_sub_fetch(&program->references, 1, __ATOMIC_ACQ_REL)) return;
  for (uint32_t i = 0; i < program->count; ++i) work_release(&program->works[i]);
  free(program->works);
  free(program);
}

//===----------------------------------------------------------------------------------------------------------------===
// Programs
//===----------------------------------------------------------------------------------------------------------------===

static size_t count_nodes(const graph_t* graph) {
  size_t count = 0;
  for (size_t i = 0; i < graph->count; ++i) {
    count += graph->nodes[i]->child ? count_nodes(graph->nodes[i]->child) : 1;
  }
  return count;
}

static bool append(program_t* program, const graph_t* graph) {
  node_t** order = graph_order(graph);
  bool ok = order != NULL;
  for (size_t i = 0; ok && i < graph->count; ++i) {
    const node_t* node = order[i];
    if (node->is_disabled) continue;
    if (node->child) {
      ok = append(program, node->child);
      continue;
    }
    driver_unlock();
    ok = work_copy(&node->work, &program->works[program->count]);
    driver_lock();
    if (ok) ++program->count;
  }
  free(order);
  return ok;
}

// Below driver.lock.
static result_t make_program(exec_t* exec) {
  if (exec->program) return CUDA_SUCCESS;
  program_t* program = calloc(1, sizeof(*program));
  REQUIRE(program, CUDA_ERROR_OUT_OF_MEMORY);
  program->references = 1;
  program->works = calloc(count_nodes(exec->graph) + 1, sizeof(*program->works));
  if (program->works && append(program, exec->graph)) {
    exec->program = program;
    return CUDA_SUCCESS;
  }
  driver_unlock();
  program_release(program);
  driver_lock();
  return CUDA_ERROR_OUT_OF_MEMORY;
}

static void drop_program(exec_t* exec) {
  program_t* program = exec->program;
  exec->program = NULL;
  driver_unlock();
  program_release(program);
  driver_lock();
}

//===----------------------------------------------------------------------------------------------------------------===
// Instantiation
//===----------------------------------------------------------------------------------------------------------------===

enum { FLAG_UPLOAD = 2, FLAG_DEVICE_LAUNCH = 4, FLAGS = 15 };

static result_t instantiate(exec_t** out, graph_t* graph, uint64_t flags) {
  context_t* context;
  CHECK(context_enter(&context));
  REQUIRE(out && object_is(graph, OBJECT_GRAPH) && !(flags & ~(uint64_t)FLAGS), CUDA_ERROR_INVALID_VALUE);
  if (flags & FLAG_DEVICE_LAUNCH) return driver_refuse("cuGraphInstantiate", "for launches by kernels");
  exec_t* exec = calloc(1, sizeof(*exec));
  REQUIRE(exec, CUDA_ERROR_OUT_OF_MEMORY);
  exec->context = context;
  exec->flags = flags;
  driver_lock();
  node_t** order = graph_order(graph);
  if (order) exec->graph = graph_clone(graph, true);
  result_t result = !order ? CUDA_ERROR_INVALID_VALUE : exec->graph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
  free(order);
  if (result == CUDA_SUCCESS && !object_add(exec, OBJECT_EXEC)) {
    graph_destroy(exec->graph);
    result = CUDA_ERROR_OUT_OF_MEMORY;
  }
  driver_unlock();
  if (result != CUDA_SUCCESS) free(exec);
  if (result == CUDA_SUCCESS) *out = exec;
  return result;
}

result_t cuGraphInstantiateWithFlags(exec_t** out, graph_t* graph, unsigned long long flags) {
  return instantiate(out, graph, flags);
}
result_t cuGraphInstantiate_v2(exec_t** out, graph_t* graph, node_t** out_error, char* log, size_t log_size) {
  if (out_error) *out_error = NULL;
  if (log && log_size) *log = 0;
  return instantiate(out, graph, 0);
}
result_t cuGraphInstantiate(exec_t** out, graph_t* graph, node_t** out_error, char* log, size_t log_size) {
  return cuGraphInstantiate_v2(out, graph, out_error, log, log_size);
}
result_t cuGraphInstantiateWithParams(exec_t** out, graph_t* graph, instantiate_params_t* params) {
  REQUIRE(params, CUDA_ERROR_INVALID_VALUE);
  result_t result = instantiate(out, graph, params->flags);
  params->result = result != CUDA_SUCCESS;
  params->error_node = NULL;
  if (result != CUDA_SUCCESS || !(params->flags & FLAG_UPLOAD)) return result;
  return cuGraphUpload(*out, params->upload_stream);
}

result_t cuGraphExecGetFlags(exec_t* exec, uint64_t* out) {
  CHECK(driver_enter());
  REQUIRE(object_is(exec, OBJECT_EXEC) && out, CUDA_ERROR_INVALID_VALUE);
  *out = exec->flags;
  return CUDA_SUCCESS;
}

result_t cuGraphExecDestroy(exec_t* exec) {
  CHECK(driver_enter());
  REQUIRE(object_is(exec, OBJECT_EXEC), CUDA_ERROR_INVALID_VALUE);
  object_remove(exec);
  driver_lock();
  drop_program(exec);
  graph_destroy(exec->graph);
  stream_release(exec->last.stream);
  driver_unlock();
  free(exec);
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------------------------------------------------===
// Launches
//===----------------------------------------------------------------------------------------------------------------===

typedef struct waits_t {
  place_t* places;
  uint32_t count;
} waits_t;

static bool add_wait(waits_t* waits, const place_t* place) {
  if (!place->stream || place_is_done(place)) return true;
  place_t* places = realloc(waits->places, (waits->count + 1) * sizeof(*places));
  if (!places) return false;
  waits->places = places;
  places[waits->count++] = *place;
  stream_retain(place->stream);
  return true;
}

// The launch before, and events that nodes wait for.
static bool collect_waits(const exec_t* exec, waits_t* waits) {
  bool ok = add_wait(waits, &exec->last);
  for (uint32_t i = 0; ok && i < exec->program->count; ++i) {
    const work_t* work = &exec->program->works[i];
    if (work->kind == WORK_WAIT) ok = add_wait(waits, &work->event.event->place);
  }
  return ok;
}

// Events that nodes record stand for the whole launch, with the time of the node.
static void set_events(exec_t* exec, stream_t* stream) {
  for (uint32_t i = 0; i < exec->program->count; ++i) {
    work_t* work = &exec->program->works[i];
    if (work->kind == WORK_RECORD) work->event.record = event_set(work->event.event, stream);
  }
}

static bool records(const exec_t* exec) {
  for (uint32_t i = 0; i < exec->program->count; ++i) {
    if (exec->program->works[i].kind == WORK_RECORD) return true;
  }
  return false;
}

static result_t launch(exec_t* exec, stream_t* stream) {
  if (stream->capture) return capture_add_graph(stream, exec->graph);
  CHECK(make_program(exec));
  // A launch's list is its own where its records are numbered.
  if (records(exec) && __atomic_load_n(&exec->program->references, __ATOMIC_ACQUIRE) > 1) {
    drop_program(exec);
    CHECK(make_program(exec));
  }
  waits_t waits = {NULL, 0};
  bool ok = collect_waits(exec, &waits);
  __atomic_add_fetch(&exec->program->references, 1, __ATOMIC_RELAXED);
  work_t work = {.kind = WORK_PROGRAM, .program = exec->program};
  if (!ok) {
    for (uint32_t i = 0; i < waits.count; ++i) stream_release(waits.places[i].stream);
    free(waits.places);
    driver_unlock();
    work_release(&work);
    driver_lock();
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  CHECK(stream_enqueue(stream, &work, waits.places, waits.count));
  set_events(exec, stream);
  stream_retain(stream);
  stream_release(exec->last.stream);
  exec->last = (place_t){stream, stream->submitted};
  return CUDA_SUCCESS;
}

// The exec and the stream of a call.
static result_t enter(exec_t* exec, stream_t** stream) {
  context_t* context;
  CHECK(context_enter(&context));
  REQUIRE(object_is(exec, OBJECT_EXEC), CUDA_ERROR_INVALID_VALUE);
  return stream_find(*stream, context, stream);
}

result_t cuGraphLaunch(exec_t* exec, stream_t* stream) {
  CHECK(enter(exec, &stream));
  driver_lock();
  result_t result = launch(exec, stream);
  driver_unlock();
  return result;
}

result_t cuGraphUpload(exec_t* exec, stream_t* stream) {
  CHECK(enter(exec, &stream));
  driver_lock();
  result_t result = make_program(exec);
  driver_unlock();
  return result;
}

//===----------------------------------------------------------------------------------------------------------------===
// Updates
//===----------------------------------------------------------------------------------------------------------------===

// The clone's node of a program's; NULL when there is none.
static node_t* find_node(const graph_t* graph, const node_t* original) {
  size_t hint = original->index;
  if (hint < graph->count && graph->nodes[hint]->original == original) return graph->nodes[hint];
  for (size_t i = 0; i < graph->count; ++i) {
    node_t* node = graph->nodes[i];
    if (node->original == original) return node;
    node_t* inside = node->child ? find_node(node->child, original) : NULL;
    if (inside) return inside;
  }
  return NULL;
}

// Takes the work.
static result_t set_work(exec_t* exec, node_t* original, int type, work_t* work) {
  driver_lock();
  node_t* node = find_node(exec->graph, original);
  result_t result = !node ? CUDA_ERROR_INVALID_VALUE : node->type != type ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  if (result == CUDA_SUCCESS) {
    work_t old = node->work;
    node->work = *work;
    *work = old;
    drop_program(exec);
  }
  driver_unlock();
  work_release(work);
  return result;
}

static result_t enter_node(exec_t* exec, node_t* node, context_t** out_context) {
  CHECK(context_enter(out_context));
  return object_is(exec, OBJECT_EXEC) && object_is(node, OBJECT_NODE) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

result_t cuGraphExecKernelNodeSetParams_v2(exec_t* exec, node_t* node, const kernel_params_t* params) {
  context_t* context;
  work_t work;
  CHECK(enter_node(exec, node, &context));
  CHECK(kernel_params_make(params, context, &work));
  return set_work(exec, node, NODE_KERNEL, &work);
}
result_t cuGraphExecKernelNodeSetParams(exec_t* exec, node_t* node, const kernel_params_t* params) {
  context_t* context;
  work_t work;
  CHECK(enter_node(exec, node, &context));
  REQUIRE(params, CUDA_ERROR_INVALID_VALUE);
  CHECK(kernel_make(params, context, &work));
  return set_work(exec, node, NODE_KERNEL, &work);
}

result_t cuGraphExecMemcpyNodeSetParams(exec_t* exec, node_t* node, const copy_3d_t* params, context_t* of) {
  context_t* context;
  work_t work;
  CHECK(enter_node(exec, node, &context));
  REQUIRE(params, CUDA_ERROR_INVALID_VALUE);
  CHECK(copy_make(params, &work));
  return set_work(exec, node, NODE_COPY, &work);
}

result_t cuGraphExecMemsetNodeSetParams(exec_t* exec, node_t* node, const fill_params_t* params, context_t* of) {
  context_t* context;
  work_t work;
  CHECK(enter_node(exec, node, &context));
  CHECK(fill_node_make(params, &work));
  return set_work(exec, node, NODE_FILL, &work);
}

result_t cuGraphExecHostNodeSetParams(exec_t* exec, node_t* node, const host_params_t* params) {
  context_t* context;
  CHECK(enter_node(exec, node, &context));
  REQUIRE(params && params->call, CUDA_ERROR_INVALID_VALUE);
  work_t work = {.kind = WORK_HOST, .host = *params};
  return set_work(exec, node, NODE_HOST, &work);
}

static result_t set_event(exec_t* exec, node_t* node, event_t* event, bool is_record) {
  context_t* context;
  work_t work;
  CHECK(enter_node(exec, node, &context));
  CHECK(event_node_make(event, is_record, &work));
  return set_work(exec, node, is_record ? NODE_RECORD : NODE_WAIT, &work);
}
result_t cuGraphExecEventRecordNodeSetEvent(exec_t* exec, node_t* node, event_t* event) {
  return set_event(exec, node, event, true);
}
result_t cuGraphExecEventWaitNodeSetEvent(exec_t* exec, node_t* node, event_t* event) {
  return set_event(exec, node, event, false);
}

result_t cuGraphExecBatchMemOpNodeSetParams(exec_t* exec, node_t* node, const mem_ops_params_t* params) {
  context_t* context;
  work_t work;
  CHECK(enter_node(exec, node, &context));
  REQUIRE(params, CUDA_ERROR_INVALID_VALUE);
  CHECK(mem_ops_make(params->ops, params->count, &work));
  return set_work(exec, node, NODE_MEM_OPS, &work);
}

result_t cuGraphExecNodeSetParams(exec_t* exec, node_t* node, node_params_t* params) {
  context_t* context;
  work_t work;
  graph_t* child = NULL;
  CHECK(enter_node(exec, node, &context));
  REQUIRE(params, CUDA_ERROR_INVALID_VALUE);
  if (params->type == NODE_GRAPH) return cuGraphExecChildGraphNodeSetParams(exec, node, params->graph.graph);
  CHECK(node_params_make(params, context, &work, &child));
  return set_work(exec, node, params->type, &work);
}

result_t cuGraphNodeSetEnabled(exec_t* exec, node_t* original, unsigned is_enabled) {
  context_t* context;
  CHECK(enter_node(exec, original, &context));
  driver_lock();
  node_t* node = find_node(exec->graph, original);
  bool ok = node && (node->type == NODE_KERNEL || node->type == NODE_COPY || node->type == NODE_FILL);
  if (ok) {
    node->is_disabled = !is_enabled;
    drop_program(exec);
  }
  driver_unlock();
  return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

result_t cuGraphNodeGetEnabled(exec_t* exec, node_t* original, unsigned* out) {
  context_t* context;
  CHECK(enter_node(exec, original, &context));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  driver_lock();
  node_t* node = find_node(exec->graph, original);
  if (node) *out = !node->is_disabled;
  driver_unlock();
  return node ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

enum { UPDATED, UPDATE_ERROR, TOPOLOGY_CHANGED, TYPE_CHANGED, FUNCTION_CHANGED, PARAMETERS_CHANGED };

// Whether the graph is the clone but for parameters; else which node is not, in `out`.
static bool is_like(const graph_t* clone, const graph_t* graph, update_result_t* out) {
  out->result = TOPOLOGY_CHANGED;
  if (clone->count != graph->count) return false;
  for (size_t i = 0; i < graph->count; ++i) {
    const node_t *old = clone->nodes[i], *node = graph->nodes[i];
    out->error_node = (node_t*)node;
    out->result = TYPE_CHANGED;
    if (old->type != node->type) return false;
    out->result = TOPOLOGY_CHANGED;
    if (old->dependency_count != node->dependency_count) return false;
    for (size_t k = 0; k < node->dependency_count; ++k) {
      if (old->dependencies[k]->index == node->dependencies[k]->index) continue;
      out->error_from = node->dependencies[k];
      return false;
    }
    if (node->child && !is_like(old->child, node->child, out)) return false;
  }
  *out = (update_result_t){.result = UPDATED};
  return true;
}

// Nodes go on being known by the handles that they had.
static void keep_originals(graph_t* to, const graph_t* from) {
  for (size_t i = 0; i < to->count; ++i) {
    to->nodes[i]->original = from->nodes[i]->original;
    to->nodes[i]->is_disabled = from->nodes[i]->is_disabled;
    if (to->nodes[i]->child) keep_originals(to->nodes[i]->child, from->nodes[i]->child);
  }
}

static result_t replace(exec_t* exec, graph_t** at, const graph_t* graph, update_result_t* out) {
  if (!is_like(*at, graph, out)) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  graph_t* clone = graph_clone(graph, true);
  REQUIRE(clone, CUDA_ERROR_OUT_OF_MEMORY);
  keep_originals(clone, *at);
  graph_destroy(*at);
  *at = clone;
  drop_program(exec);
  return CUDA_SUCCESS;
}

result_t cuGraphExecUpdate_v2(exec_t* exec, graph_t* graph, update_result_t* out) {
  context_t* context;
  update_result_t update = {.result = UPDATE_ERROR};
  CHECK(context_enter(&context));
  REQUIRE(object_is(exec, OBJECT_EXEC) && object_is(graph, OBJECT_GRAPH) && out, CUDA_ERROR_INVALID_VALUE);
  driver_lock();
  result_t result = replace(exec, &exec->graph, graph, &update);
  driver_unlock();
  *out = update;
  return result;
}
result_t cuGraphExecUpdate(exec_t* exec, graph_t* graph, node_t** out_node, int* out_result) {
  update_result_t update = {.result = UPDATE_ERROR};
  result_t result = cuGraphExecUpdate_v2(exec, graph, &update);
  if (out_node) *out_node = update.error_node;
  if (out_result) *out_result = update.result;
  return result;
}

result_t cuGraphExecChildGraphNodeSetParams(exec_t* exec, node_t* original, graph_t* child) {
  context_t* context;
  update_result_t update;
  CHECK(enter_node(exec, original, &context));
  REQUIRE(object_is(child, OBJECT_GRAPH), CUDA_ERROR_INVALID_VALUE);
  driver_lock();
  node_t* node = find_node(exec->graph, original);
  bool ok = node && node->child;
  result_t result = ok ? replace(exec, &node->child, child, &update) : CUDA_ERROR_INVALID_VALUE;
  driver_unlock();
  return result;
}
