// Graphs as data: nodes, dependencies, clones, orders.
#include "softgpu/cuda/graph.h"

#include <stdlib.h>
#include <string.h>

int node_type_of(work_kind_t kind) {
  switch (kind) {
    case WORK_KERNEL:
      return NODE_KERNEL;
    case WORK_COPY:
      return NODE_COPY;
    case WORK_FILL:
      return NODE_FILL;
    case WORK_HOST:
      return NODE_HOST;
    case WORK_RECORD:
      return NODE_RECORD;
    case WORK_WAIT:
      return NODE_WAIT;
    case WORK_MEM_OPS:
      return NODE_MEM_OPS;
    case WORK_ALLOCATE:
      return NODE_ALLOCATE;
    case WORK_FREE:
      return NODE_FREE;
    default:
      return NODE_EMPTY;
  }
}

graph_t* graph_create(bool is_private) {
  graph_t* graph = calloc(1, sizeof(*graph));
  if (!graph) return NULL;
  graph->id = __atomic_add_fetch(&driver.next_id, 1, __ATOMIC_RELAXED);
  graph->is_private = is_private;
  if (is_private || object_add(graph, OBJECT_GRAPH)) return graph;
  free(graph);
  return NULL;
}

static void release_unlocked(work_t* work) {
  driver_unlock();
  work_release(work);
  driver_lock();
}

void node_destroy(node_t* node) {
  if (!node) return;
  if (!node->graph->is_private) object_remove(node);
  graph_destroy(node->child);
  release_unlocked(&node->work);
  free(node->dependencies);
  free(node);
}

void graph_destroy(graph_t* graph) {
  if (!graph) return;
  if (!graph->is_private) object_remove(graph);
  for (size_t i = 0; i < graph->count; ++i) node_destroy(graph->nodes[i]);
  free(graph->nodes);
  free(graph);
}

static bool depend(node_t* node, node_t* on) {
  for (size_t i = 0; i < node->dependency_count; ++i) {
    if (node->dependencies[i] == on) return true;
  }
  node_t** grown = realloc(node->dependencies, (node->dependency_count + 1) * sizeof(*grown));
  if (!grown) return false;
  node->dependencies = grown;
  grown[node->dependency_count++] = on;
  return true;
}

static bool reserve(graph_t* graph) {
  if (graph->count < graph->capacity) return true;
  size_t capacity = graph->capacity ? 2 * graph->capacity : 16;
  node_t** nodes = realloc(graph->nodes, capacity * sizeof(*nodes));
  if (!nodes) return false;
  graph->nodes = nodes;
  graph->capacity = capacity;
  return true;
}

result_t graph_add(graph_t* graph, const node_source_t* source, node_t** out_node) {
  node_t* node = calloc(1, sizeof(*node));
  if (!node) {
    graph_destroy(source->child);
    release_unlocked(source->work);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *node = (node_t){.graph = graph, .type = source->type, .work = *source->work, .child = source->child};
  bool ok = reserve(graph);
  for (size_t i = 0; ok && i < source->dependency_count; ++i) ok = depend(node, source->dependencies[i]);
  if (!ok || (!graph->is_private && !object_add(node, OBJECT_NODE))) {
    node_destroy(node);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  node->index = graph->count;
  graph->nodes[graph->count++] = node;
  *out_node = node;
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------------------------------------------------===
// Orders
//===----------------------------------------------------------------------------------------------------------------===

// Each node when all before it are out, in the order in which they were made.
node_t** graph_order(const graph_t* graph) {
  node_t** order = malloc((graph->count + 1) * sizeof(*order));
  bool* is_out = calloc(graph->count + 1, sizeof(*is_out));
  size_t count = 0;
  for (bool moves = true; order && is_out && moves && count < graph->count;) {
    moves = false;
    for (size_t i = 0; i < graph->count; ++i) {
      node_t* node = graph->nodes[i];
      bool is_ready = !is_out[i];
      for (size_t k = 0; is_ready && k < node->dependency_count; ++k) is_ready = is_out[node->dependencies[k]->index];
      if (!is_ready) continue;
      order[count++] = node;
      is_out[i] = moves = true;
    }
  }
  free(is_out);
  if (order && is_out && count == graph->count) return order;
  free(order);
  return NULL;
}

static bool visit(const node_t* node, const node_t* on, bool* is_seen) {
  if (node == on) return true;
  if (is_seen[node->index]) return false;
  is_seen[node->index] = true;
  for (size_t i = 0; i < node->dependency_count; ++i) {
    if (visit(node->dependencies[i], on, is_seen)) return true;
  }
  return false;
}

bool graph_depends(const node_t* node, const node_t* on) {
  bool* is_seen = calloc(node->graph->count, sizeof(*is_seen));
  bool result = is_seen && visit(node, on, is_seen);
  free(is_seen);
  return result;
}

//===----------------------------------------------------------------------------------------------------------------===
// Clones
//===----------------------------------------------------------------------------------------------------------------===

static bool clone_node(graph_t* clone, const node_t* node, bool is_private) {
  work_t work;
  graph_t* child = NULL;
  driver_unlock();
  bool ok = work_copy(&node->work, &work);
  driver_lock();
  if (!ok) return false;
  if (node->child && !(child = graph_clone(node->child, is_private))) {
    release_unlocked(&work);
    return false;
  }
  if (child) child->is_child = true;
  node_source_t source = {.type = node->type, .work = &work, .child = child};
  node_t* out;
  if (graph_add(clone, &source, &out) != CUDA_SUCCESS) return false;
  out->original = (node_t*)node;
  out->is_disabled = node->is_disabled;
  return true;
}

graph_t* graph_clone(const graph_t* graph, bool is_private) {
  graph_t* clone = graph_create(is_private);
  bool ok = clone != NULL;
  for (size_t i = 0; ok && i < graph->count; ++i) ok = clone_node(clone, graph->nodes[i], is_private);
  for (size_t i = 0; ok && i < graph->count; ++i) {
    const node_t* node = graph->nodes[i];
    for (size_t k = 0; ok && k < node->dependency_count; ++k) {
      ok = depend(clone->nodes[i], clone->nodes[node->dependencies[k]->index]);
    }
  }
  if (ok) return clone;
  graph_destroy(clone);
  return NULL;
}
