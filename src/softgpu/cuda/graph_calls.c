// Calls on whole graphs, and on what is between their nodes.
#include <stdlib.h>
#include <string.h>

#include "softgpu/cuda/calls.h"
#include "softgpu/cuda/graph.h"

static result_t find(const graph_t* graph) {
  CHECK(driver_enter());
  return object_is(graph, OBJECT_GRAPH) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
static result_t find_node(const node_t* node) {
  CHECK(driver_enter());
  return object_is(node, OBJECT_NODE) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

result_t cuGraphCreate(graph_t** out, unsigned flags) {
  CHECK(driver_enter());
  REQUIRE(out && flags == 0, CUDA_ERROR_INVALID_VALUE);
  *out = graph_create(false);
  return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

result_t cuGraphDestroy(graph_t* graph) {
  CHECK(find(graph));
  REQUIRE(!graph->is_child, CUDA_ERROR_INVALID_VALUE);
  driver_lock();
  graph_destroy(graph);
  driver_unlock();
  return CUDA_SUCCESS;
}

result_t cuGraphClone(graph_t** out, graph_t* graph) {
  CHECK(find(graph));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  driver_lock();
  *out = graph_clone(graph, false);
  driver_unlock();
  return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

result_t cuGraphNodeFindInClone(node_t** out, node_t* original, graph_t* clone) {
  CHECK(find(clone));
  CHECK(find_node(original));
  REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
  for (size_t i = 0; i < clone->count; ++i) {
    if (clone->nodes[i]->original != original) continue;
    *out = clone->nodes[i];
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

//===----------------------------------------------------------------------------------------------------------------===
// Lists
//===----------------------------------------------------------------------------------------------------------------===

// A list that the caller has room for: how many there are goes to *count, where there is no room for any.
typedef struct list_t {
  node_t **nodes, **others;
  size_t capacity, count;
} list_t;

static void append(list_t* list, node_t* node, node_t* other) {
  if (list->nodes && list->count < list->capacity) list->nodes[list->count] = node;
  if (list->others && list->count < list->capacity) list->others[list->count] = other;
  ++list->count;
}

// What is left of the room is cleared.
static result_t finish(list_t* list, size_t* count) {
  if (!list->nodes) {
    *count = list->count;
    return CUDA_SUCCESS;
  }
  for (size_t i = list->count; i < list->capacity; ++i) {
    list->nodes[i] = NULL;
    if (list->others) list->others[i] = NULL;
  }
  if (list->count < list->capacity) *count = list->count;
  return CUDA_SUCCESS;
}

static result_t list_nodes(graph_t* graph, node_t** out, size_t* count, bool roots_only) {
  CHECK(find(graph));
  REQUIRE(count, CUDA_ERROR_INVALID_VALUE);
  list_t list = {out, NULL, *count, 0};
  driver_lock();
  for (size_t i = 0; i < graph->count; ++i) {
    if (!roots_only || !graph->nodes[i]->dependency_count) append(&list, graph->nodes[i], NULL);
  }
  driver_unlock();
  return finish(&list, count);
}
result_t cuGraphGetNodes(graph_t* graph, node_t** out, size_t* count) { return list_nodes(graph, out, count, false); }
result_t cuGraphGetRootNodes(graph_t* graph, node_t** out, size_t* count) {
  return list_nodes(graph, out, count, true);
}

// Edges say nothing beyond that there is one.
static void clear_edges(edge_t* edges, size_t count) {
  if (edges) memset(edges, 0, count * sizeof(*edges));
}

result_t cuGraphGetEdges_v2(graph_t* graph, node_t** from, node_t** to, edge_t* edges, size_t* count) {
  CHECK(find(graph));
  REQUIRE(count && !from == !to, CUDA_ERROR_INVALID_VALUE);
  list_t list = {from, to, *count, 0};
  driver_lock();
  for (size_t i = 0; i < graph->count; ++i) {
    node_t* node = graph->nodes[i];
    for (size_t k = 0; k < node->dependency_count; ++k) append(&list, node->dependencies[k], node);
  }
  driver_unlock();
  if (from) clear_edges(edges, list.count < *count ? list.count : *count);
  return finish(&list, count);
}
result_t cuGraphGetEdges(graph_t* graph, node_t** from, node_t** to, size_t* count) {
  return cuGraphGetEdges_v2(graph, from, to, NULL, count);
}

result_t cuGraphNodeGetDependencies_v2(node_t* node, node_t** out, edge_t* edges, size_t* count) {
  CHECK(find_node(node));
  REQUIRE(count, CUDA_ERROR_INVALID_VALUE);
  list_t list = {out, NULL, *count, 0};
  driver_lock();
  for (size_t i = 0; i < node->dependency_count; ++i) append(&list, node->dependencies[i], NULL);
  driver_unlock();
  if (out) clear_edges(edges, list.count < *count ? list.count : *count);
  return finish(&list, count);
}
result_t cuGraphNodeGetDependencies(node_t* node, node_t** out, size_t* count) {
  return cuGraphNodeGetDependencies_v2(node, out, NULL, count);
}

static bool is_direct(const node_t* node, const node_t* on) {
  for (size_t i = 0; i < node->dependency_count; ++i) {
    if (node->dependencies[i] == on) return true;
  }
  return false;
}

result_t cuGraphNodeGetDependentNodes_v2(node_t* node, node_t** out, edge_t* edges, size_t* count) {
  CHECK(find_node(node));
  REQUIRE(count, CUDA_ERROR_INVALID_VALUE);
  list_t list = {out, NULL, *count, 0};
  driver_lock();
  for (size_t i = 0; i < node->graph->count; ++i) {
    if (is_direct(node->graph->nodes[i], node)) append(&list, node->graph->nodes[i], NULL);
  }
  driver_unlock();
  if (out) clear_edges(edges, list.count < *count ? list.count : *count);
  return finish(&list, count);
}
result_t cuGraphNodeGetDependentNodes(node_t* node, node_t** out, size_t* count) {
  return cuGraphNodeGetDependentNodes_v2(node, out, NULL, count);
}

//===----------------------------------------------------------------------------------------------------------------===
// Changes
//===----------------------------------------------------------------------------------------------------------------===

static result_t add_edge(node_t* from, node_t* to) {
  REQUIRE(!is_direct(to, from) && !graph_depends(from, to), CUDA_ERROR_INVALID_VALUE);
  node_t** grown = realloc(to->dependencies, (to->dependency_count + 1) * sizeof(*grown));
  REQUIRE(grown, CUDA_ERROR_OUT_OF_MEMORY);
  to->dependencies = grown;
  grown[to->dependency_count++] = from;
  return CUDA_SUCCESS;
}

static result_t remove_edge(node_t* from, node_t* to) {
  size_t at = 0;
  while (at < to->dependency_count && to->dependencies[at] != from) ++at;
  REQUIRE(at < to->dependency_count, CUDA_ERROR_INVALID_VALUE);
  --to->dependency_count;
  memmove(&to->dependencies[at], &to->dependencies[at + 1], (to->dependency_count - at) * sizeof(*to->dependencies));
  return CUDA_SUCCESS;
}

static result_t change_edges(graph_t* graph, node_t* const* from, node_t* const* to, size_t count,
                             result_t (*change)(node_t* from, node_t* to)) {
  CHECK(find(graph));
  REQUIRE((from && to) || !count, CUDA_ERROR_INVALID_VALUE);
  for (size_t i = 0; i < count; ++i) {
    CHECK(find_node(from[i]));
    CHECK(find_node(to[i]));
    REQUIRE(from[i]->graph == graph && to[i]->graph == graph, CUDA_ERROR_INVALID_VALUE);
  }
  result_t result = CUDA_SUCCESS;
  driver_lock();
  for (size_t i = 0; i < count && result == CUDA_SUCCESS; ++i) result = change(from[i], to[i]);
  driver_unlock();
  return result;
}
result_t cuGraphAddDependencies_v2(graph_t* graph, node_t* const* from, node_t* const* to, const edge_t* edges,
                                   size_t count) {
  return change_edges(graph, from, to, count, add_edge);
}
result_t cuGraphAddDependencies(graph_t* graph, node_t* const* from, node_t* const* to, size_t count) {
  return change_edges(graph, from, to, count, add_edge);
}
result_t cuGraphRemoveDependencies_v2(graph_t* graph, node_t* const* from, node_t* const* to, const edge_t* edges,
                                      size_t count) {
  return change_edges(graph, from, to, count, remove_edge);
}
result_t cuGraphRemoveDependencies(graph_t* graph, node_t* const* from, node_t* const* to, size_t count) {
  return change_edges(graph, from, to, count, remove_edge);
}

result_t cuGraphDestroyNode(node_t* node) {
  CHECK(find_node(node));
  graph_t* graph = node->graph;
  driver_lock();
  for (size_t i = 0; i < graph->count; ++i) remove_edge(node, graph->nodes[i]);
  memmove(&graph->nodes[node->index], &graph->nodes[node->index + 1],
          (graph->count - node->index - 1) * sizeof(*graph->nodes));
  --graph->count;
  for (size_t i = node->index; i < graph->count; ++i) graph->nodes[i]->index = i;
  node_destroy(node);
  driver_unlock();
  return CUDA_SUCCESS;
}

// Memory of graphs is counted with their pools, and goes back when they do.
result_t cuDeviceGraphMemTrim(int ordinal) {
  CHECK(driver_enter());
  return driver_device(ordinal) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
