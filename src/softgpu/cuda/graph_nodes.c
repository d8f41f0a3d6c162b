// Calls that build graphs and look at them.
#include <stdlib.h>
#include <string.h>

#include "softgpu/cuda/calls.h"
#include "softgpu/cuda/graph.h"
#include "softgpu/cuda/memory.h"
#include "softgpu/cuda/module.h"

//===----------------------------------------------------------------------------------------------------------------===
// Parameters
//===----------------------------------------------------------------------------------------------------------------===

// The second version may name a kernel in place of a function, and a context.
result_t kernel_params_make(const kernel_params_t* params, context_t* context, work_t* out) {
  REQUIRE(params, CUDA_ERROR_INVALID_VALUE);
  kernel_params_t p = *params;
  if (p.kernel) p.function = p.kernel;
  if (p.context) {
    REQUIRE(object_is(p.context, OBJECT_CONTEXT), CUDA_ERROR_INVALID_CONTEXT);
    context = p.context;
  } else if (object_is(p.function, OBJECT_FUNCTION)) {
    context = ((function_t*)p.function)->module->context;
  }
  return kernel_make(&p, context, out);
}

result_t fill_node_make(const fill_params_t* params, work_t* out) {
  REQUIRE(params, CUDA_ERROR_INVALID_VALUE);
  // The first version ends before the context.
  fill_params_t p = {params->target, params->pitch,  params->value, params->element,
                     params->width,  params->height, NULL};
  return fill_make(&p, out);
}

result_t event_node_make(event_t* event, bool is_record, work_t* out) {
  REQUIRE(object_is(event, OBJECT_EVENT), CUDA_ERROR_INVALID_VALUE);
  *out = (work_t){.kind = is_record ? WORK_RECORD : WORK_WAIT, .event = {event, 0}};
  driver_lock();
  ++event->references;
  driver_unlock();
  return CUDA_SUCCESS;
}

static result_t child_make(graph_t* graph, graph_t** out_child) {
  REQUIRE(object_is(graph, OBJECT_GRAPH), CUDA_ERROR_INVALID_VALUE);
  driver_lock();
  *out_child = graph_clone(graph, false);
  if (*out_child) (*out_child)->is_child = true;
  driver_unlock();
  return *out_child ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

result_t node_params_make(const node_params_t* params, context_t* context, work_t* out, graph_t** out_child) {
  *out = (work_t){.kind = WORK_EMPTY};
  switch (params->type) {
    case NODE_KERNEL:
      return kernel_params_make(&params->kernel, context, out);
    case NODE_COPY:
      return copy_make(&params->copy.params, out);
    case NODE_FILL:
      return fill_make(&params->fill, out);
    case NODE_HOST:
      *out = (work_t){.kind = WORK_HOST, .host = params->host};
      return params->host.call ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case NODE_GRAPH:
      return child_make(params->graph.graph, out_child);
    case NODE_EMPTY:
      return CUDA_SUCCESS;
    case NODE_RECORD:
    case NODE_WAIT:
      return event_node_make(params->event, params->type == NODE_RECORD, out);
    case NODE_MEM_OPS:
      return mem_ops_make(params->mem_ops.ops, params->mem_ops.count, out);
    default:
      return driver_refuse("cuGraphAddNode",
                           "of this type: kernels, copies, fills, host functions, events, graphs would do");
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Adding
//===----------------------------------------------------------------------------------------------------------------===

static result_t check_dependencies(const graph_t* graph, node_t* const* nodes, size_t count) {
  REQUIRE(object_is(graph, OBJECT_GRAPH) && (nodes || !count), CUDA_ERROR_INVALID_VALUE);
  for (size_t i = 0; i < count; ++i) {
    REQUIRE(object_is(nodes[i], OBJECT_NODE) && nodes[i]->graph == graph, CUDA_ERROR_INVALID_VALUE);
  }
  return CUDA_SUCCESS;
}

typedef struct place_in_graph_t {
  node_t** out;
  graph_t* graph;
  node_t* const* dependencies;
  size_t count;
} place_in_graph_t;

// Before the work is made.
static result_t check_place(const place_in_graph_t* at, context_t** out_context) {
  CHECK(context_enter(out_context));
  REQUIRE(at->out, CUDA_ERROR_INVALID_VALUE);
  return check_dependencies(at->graph, at->dependencies, at->count);
}

// Takes the work and the child.
static result_t add(const place_in_graph_t* at, int type, work_t* work, graph_t* child) {
  node_source_t source = {
      .type = type, .work = work, .child = child, .dependencies = at->dependencies, .dependency_count = at->count};
  driver_lock();
  result_t result = graph_add(at->graph, &source, at->out);
  driver_unlock();
  return result;
}

// ADD(type, how the work is made): the body of a call that adds a node; `context` and `work` are there.
#define ADD(node_type, make)                                  \
  context_t* context;                                         \
  work_t work = {.kind = WORK_EMPTY};                         \
  place_in_graph_t place = {out, graph, dependencies, count}; \
  CHECK(check_place(&place, &context));                       \
  CHECK(make);                                                \
  return add(&place, node_type, &work, NULL)

result_t cuGraphAddKernelNode_v2(node_t** out, graph_t* graph, node_t* const* dependencies, size_t count,
                                 const kernel_params_t* params) {
  ADD(NODE_KERNEL, kernel_params_make(params, context, &work));
}
result_t cuGraphAddKernelNode(node_t** out, graph_t* graph, node_t* const* dependencies, size_t count,
                              const kernel_params_t* params) {
  ADD(NODE_KERNEL, params ? kernel_make(params, context, &work) : CUDA_ERROR_INVALID_VALUE);
}
result_t cuGraphAddMemcpyNode(node_t** out, graph_t* graph, node_t* const* dependencies, size_t count,
                              const copy_3d_t* params, context_t* of) {
  ADD(NODE_COPY, params ? copy_make(params, &work) : CUDA_ERROR_INVALID_VALUE);
}
result_t cuGraphAddMemsetNode(node_t** out, graph_t* graph, node_t* const* dependencies, size_t count,
                              const fill_params_t* params, context_t* of) {
  ADD(NODE_FILL, fill_node_make(params, &work));
}
static result_t host_make(const host_params_t* params, work_t* out) {
  REQUIRE(params && params->call, CUDA_ERROR_INVALID_VALUE);
  *out = (work_t){.kind = WORK_HOST, .host = *params};
  return CUDA_SUCCESS;
}
result_t cuGraphAddHostNode(node_t** out, graph_t* graph, node_t* const* dependencies, size_t count,
                            const host_params_t* params) {
  ADD(NODE_HOST, host_make(params, &work));
}
result_t cuGraphAddEmptyNode(node_t** out, graph_t* graph, node_t* const* dependencies, size_t count) {
  ADD(NODE_EMPTY, CUDA_SUCCESS);
}
result_t cuGraphAddEventRecordNode(node_t** out, graph_t* graph, node_t* const* dependencies, size_t count,
                                   event_t* event) {
  ADD(NODE_RECORD, event_node_make(event, true, &work));
}
result_t cuGraphAddEventWaitNode(node_t** out, graph_t* graph, node_t* const* dependencies, size_t count,
                                 event_t* event) {
  ADD(NODE_WAIT, event_node_make(event, false, &work));
}
result_t cuGraphAddBatchMemOpNode(node_t** out, graph_t* graph, node_t* const* dependencies, size_t count,
                                  const mem_ops_params_t* params) {
  ADD(NODE_MEM_OPS, params ? mem_ops_make(params->ops, params->count, &work) : CUDA_ERROR_INVALID_VALUE);
}

result_t cuGraphAddChildGraphNode(node_t** out, graph_t* graph, node_t* const* dependencies, size_t count,
                                  graph_t* of) {
  context_t* context;
  graph_t* child;
  work_t work = {.kind = WORK_EMPTY};
  place_in_graph_t place = {out, graph, dependencies, count};
  CHECK(check_place(&place, &context));
  CHECK(child_make(of, &child));
  return add(&place, NODE_GRAPH, &work, child);
}

result_t cuGraphAddNode_v2(node_t** out, graph_t* graph, node_t* const* dependencies, const edge_t* edges, size_t count,
                           node_params_t* params) {
  context_t* context;
  graph_t* child = NULL;
  work_t work;
  place_in_graph_t place = {out, graph, dependencies, count};
  CHECK(check_place(&place, &context));
  REQUIRE(params, CUDA_ERROR_INVALID_VALUE);
  CHECK(node_params_make(params, context, &work, &child));
  return add(&place, params->type, &work, child);
}
result_t cuGraphAddNode(node_t** out, graph_t* graph, node_t* const* dependencies, size_t count,
                        node_params_t* params) {
  return cuGraphAddNode_v2(out, graph, dependencies, NULL, count, params);
}

//===----------------------------------------------------------------------------------------------------------------===
// A node's parameters
//===----------------------------------------------------------------------------------------------------------------===

static result_t find(const node_t* node, int type) {
  CHECK(driver_enter());
  return object_is(node, OBJECT_NODE) && (type < 0 || node->type == type) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// Takes the work.
static result_t set(node_t* node, work_t* work) {
  driver_lock();
  work_t old = node->work;
  node->work = *work;
  driver_unlock();
  work_release(&old);
  return CUDA_SUCCESS;
}

// Pointers to parameters lie behind the block that they point into, as long as the node has it.
static result_t get_kernel(node_t* node, kernel_params_t* out) {
  work_t* work = &node->work;
  const nv_function_info_t* info = &work->kernel.function->info;
  size_t at = (work->kernel.parameter_size + sizeof(void*) - 1) & ~(sizeof(void*) - 1);
  uint8_t* block = realloc(work->kernel.parameters, at + (info->parameter_count + 1) * sizeof(void*));
  REQUIRE(block, CUDA_ERROR_OUT_OF_MEMORY);
  work->kernel.parameters = block;
  void** pointers = (void**)(block + at);
  for (uint32_t i = 0; i < info->parameter_count; ++i) pointers[i] = block + info->parameters[i].offset;
  out->function = work->kernel.function;
  memcpy(out->grid, work->kernel.grid, sizeof(out->grid));
  memcpy(out->block, work->kernel.block, sizeof(out->block));
  out->shared = work->kernel.shared;
  out->parameters = pointers;
  out->extra = NULL;
  return CUDA_SUCCESS;
}

result_t cuGraphKernelNodeGetParams(node_t* node, kernel_params_t* out) {
  CHECK(find(node, NODE_KERNEL));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  driver_lock();
  result_t result = get_kernel(node, out);
  driver_unlock();
  return result;
}
result_t cuGraphKernelNodeGetParams_v2(node_t* node, kernel_params_t* out) {
  CHECK(cuGraphKernelNodeGetParams(node, out));
  out->kernel = NULL;
  out->context = node->work.kernel.function->module->context;
  return CUDA_SUCCESS;
}

// SET(type, how the work is made)
#define SET(node_type, make)          \
  context_t* context;                 \
  work_t work = {.kind = WORK_EMPTY}; \
  CHECK(context_enter(&context));     \
  CHECK(find(node, node_type));       \
  CHECK(make);                        \
  return set(node, &work)
result_t cuGraphKernelNodeSetParams_v2(node_t* node, const kernel_params_t* params) {
  SET(NODE_KERNEL, kernel_params_make(params, context, &work));
}
result_t cuGraphKernelNodeSetParams(node_t* node, const kernel_params_t* params) {
  SET(NODE_KERNEL, params ? kernel_make(params, context, &work) : CUDA_ERROR_INVALID_VALUE);
}
result_t cuGraphMemcpyNodeSetParams(node_t* node, const copy_3d_t* params) {
  SET(NODE_COPY, params ? copy_make(params, &work) : CUDA_ERROR_INVALID_VALUE);
}
result_t cuGraphMemsetNodeSetParams(node_t* node, const fill_params_t* params) {
  SET(NODE_FILL, fill_node_make(params, &work));
}
result_t cuGraphHostNodeSetParams(node_t* node, const host_params_t* params) {
  SET(NODE_HOST, host_make(params, &work));
}
result_t cuGraphEventRecordNodeSetEvent(node_t* node, event_t* event) {
  SET(NODE_RECORD, event_node_make(event, true, &work));
}
result_t cuGraphEventWaitNodeSetEvent(node_t* node, event_t* event) {
  SET(NODE_WAIT, event_node_make(event, false, &work));
}
result_t cuGraphBatchMemOpNodeSetParams(node_t* node, const mem_ops_params_t* params) {
  SET(NODE_MEM_OPS, params ? mem_ops_make(params->ops, params->count, &work) : CUDA_ERROR_INVALID_VALUE);
}
result_t cuGraphNodeSetParams(node_t* node, node_params_t* params) {
  graph_t* child = NULL;
  REQUIRE(params && params->type != NODE_GRAPH, CUDA_ERROR_INVALID_VALUE);
  SET(params->type, node_params_make(params, context, &work, &child));
}

// GET(call, type, what, value)
#define GET(name, node_type, type, value)   \
  result_t name(node_t* node, type* out) {  \
    CHECK(find(node, node_type));           \
    REQUIRE(out, CUDA_ERROR_INVALID_VALUE); \
    *out = value;                           \
    return CUDA_SUCCESS;                    \
  }
GET(cuGraphMemcpyNodeGetParams, NODE_COPY, copy_3d_t, node->work.copy.params)
GET(cuGraphHostNodeGetParams, NODE_HOST, host_params_t, node->work.host)
GET(cuGraphChildGraphNodeGetGraph, NODE_GRAPH, graph_t*, node->child)
GET(cuGraphEventRecordNodeGetEvent, NODE_RECORD, event_t*, node->work.event.event)
GET(cuGraphEventWaitNodeGetEvent, NODE_WAIT, event_t*, node->work.event.event)
GET(cuGraphMemFreeNodeGetParams, NODE_FREE, uint64_t, node->work.memory.address)
GET(cuGraphNodeGetType, -1, int, node->type)

result_t cuGraphMemsetNodeGetParams(node_t* node, fill_params_t* out) {
  CHECK(find(node, NODE_FILL));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  memcpy(out, &node->work.fill, offsetof(fill_params_t, context));
  return CUDA_SUCCESS;
}

result_t cuGraphBatchMemOpNodeGetParams(node_t* node, mem_ops_params_t* out) {
  CHECK(find(node, NODE_MEM_OPS));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  *out = (mem_ops_params_t){.count = node->work.mem_ops.count, .ops = node->work.mem_ops.ops};
  return CUDA_SUCCESS;
}

enum { LAST_ATTRIBUTE = 16, ATTRIBUTE_SIZE = 64 };

// Hints, as of streams.
result_t cuGraphKernelNodeGetAttribute(node_t* node, int attribute, void* out) {
  CHECK(find(node, NODE_KERNEL));
  REQUIRE(out && attribute > 0 && attribute <= LAST_ATTRIBUTE, CUDA_ERROR_INVALID_VALUE);
  memset(out, 0, ATTRIBUTE_SIZE);
  if (attribute == 2) *(int*)out = node->work.kernel.cooperative;
  return CUDA_SUCCESS;
}
result_t cuGraphKernelNodeSetAttribute(node_t* node, int attribute, const void* value) {
  enum { COOPERATIVE = 2, CLUSTER = 4 };
  CHECK(find(node, NODE_KERNEL));
  REQUIRE(value && attribute > 0 && attribute <= LAST_ATTRIBUTE, CUDA_ERROR_INVALID_VALUE);
  if (attribute == CLUSTER)
    return driver_refuse("cuGraphKernelNodeSetAttribute", "of clusters: blocks run by themselves");
  if (attribute == COOPERATIVE) node->work.kernel.cooperative = *(const int*)value != 0;
  return CUDA_SUCCESS;
}
result_t cuGraphKernelNodeCopyAttributes(node_t* target, node_t* source) {
  CHECK(find(target, NODE_KERNEL));
  CHECK(find(source, NODE_KERNEL));
  target->work.kernel.cooperative = source->work.kernel.cooperative;
  return CUDA_SUCCESS;
}
