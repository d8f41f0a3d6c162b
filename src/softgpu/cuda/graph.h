// Graphs: nodes with work and what they depend on; executable ones, whose work is done node by node in one stream.
#ifndef IREE_C_SOFTGPU_CUDA_GRAPH_H_
#define IREE_C_SOFTGPU_CUDA_GRAPH_H_

#include "softgpu/cuda/stream.h"

struct node_t {
  graph_t* graph;
  size_t index;  // in the graph's nodes
  int type;      // NODE_*
  work_t work;
  bool is_disabled;  // of an executable graph
  graph_t* child;    // owned
  node_t** dependencies;
  size_t dependency_count;
  node_t* original;  // of a clone; only compared
};

struct graph_t {
  uint64_t id;
  node_t** nodes;
  size_t count, capacity;
  bool is_child;
  bool is_private;  // of an executable graph: no program has its handle
};

// All work in an order that the dependencies allow, without children and without what is disabled.
struct program_t {
  uint32_t references;  // atomic
  uint32_t count;
  work_t* works;
};
void program_release(program_t* program);

struct exec_t {
  context_t* context;
  uint64_t flags;
  graph_t* graph;      // a clone
  program_t* program;  // NULL: to be made anew
  place_t last;        // of the last launch
};

// Below driver.lock. Takes the work, also where it fails; `child` too, which may be NULL.
typedef struct node_source_t {
  int type;
  work_t* work;
  graph_t* child;
  node_t* const* dependencies;
  size_t dependency_count;
} node_source_t;
result_t graph_add(graph_t* graph, const node_source_t* source, node_t** out_node);
graph_t* graph_create(bool is_private);
void graph_destroy(graph_t* graph);
void node_destroy(node_t* node);
// NULL when memory is short, or where it cannot be.
graph_t* graph_clone(const graph_t* graph, bool is_private);
bool graph_depends(const node_t* node, const node_t* on);
// Nodes in an order that their dependencies allow, in memory of the caller's; NULL where there is none.
node_t** graph_order(const graph_t* graph);
int node_type_of(work_kind_t kind);

// What programs pass, as work. Work owns nothing of theirs.
result_t kernel_make(const kernel_params_t* params, context_t* context, work_t* out);
result_t copy_make(const copy_3d_t* params, work_t* out);
result_t fill_make(const fill_params_t* params, work_t* out);
// graph_nodes.c: the same from parameters of nodes, whose pointers are checked; the work has references.
result_t kernel_params_make(const kernel_params_t* params, context_t* context, work_t* out);
result_t fill_node_make(const fill_params_t* params, work_t* out);
result_t event_node_make(event_t* event, bool is_record, work_t* out);
result_t node_params_make(const node_params_t* params, context_t* context, work_t* out, graph_t** out_child);

#endif  // IREE_C_SOFTGPU_CUDA_GRAPH_H_
