// Groups of graph ops that become one kernel each. Filled by fusion_group (fusion_group.c) and turned into
// graph.dispatch ops by form_dispatches.c.
#ifndef IREE_C_PASSES_FUSION_H_
#define IREE_C_PASSES_FUSION_H_

#include "dialects/graph.h"

typedef enum {
  FUSION_HOST,         // control flow, sizes, calls, return: stays in the host program
  FUSION_CONSTANT,     // data; splats are copied into each kernel
  FUSION_ELEMENTWISE,  // scalar functions
  FUSION_INDEX_MAP,    // elements of operands at other places: never needs memory of its own
  FUSION_REDUCE,       // rows: softmax, norms
  FUSION_HEAVY,        // everything else: one per kernel, with what can ride along
} fusion_class_t;
fusion_class_t fusion_class(const ir_op_t* op);

enum { FUSION_NO_GROUP = -1 };

// How a member's coordinates relate to those of its group's root.
typedef enum {
  FUSION_SPACE_NONE,    // a producer: evaluated wherever it is needed
  FUSION_SPACE_FULL,    // rows: the shape that is reduced; others: the root's result
  FUSION_SPACE_OUTER,   // rows: without the reduced dimensions
  FUSION_SPACE_KEPT,    // rows: with the reduced dimensions as 1
  FUSION_SPACE_MAPPED,  // behind a transpose or reshape of FULL values
} fusion_space_t;

typedef struct fusion_node_t {
  ir_op_t* op;
  fusion_class_t class;
  int32_t index;  // position in the block
  int32_t group;  // or FUSION_NO_GROUP
  fusion_space_t space;
  bool is_inline;  // no group of its own: copied into every group that uses it
  uint32_t visit;  // marks of searches
  uint32_t map;    // MAPPED: number of the index map it is behind
} fusion_node_t;

typedef struct fusion_group_t {
  int32_t* members;
  uint32_t count, capacity;
  int32_t root;         // first member: heavy op, reduction, or any member of an elementwise group
  int32_t first, last;  // least and greatest position of a member
  bool is_rows;
  int64_t reduced[GRAPH_MAX_RANK];  // rows: reduced dimensions
  uint32_t reduced_count;
  uint32_t visit;
  bool emitted;
} fusion_group_t;

typedef struct fusion_t {
  ir_context_t* ctx;
  ir_block_t* block;
  fusion_node_t* nodes;
  int32_t node_count;
  fusion_group_t* groups;
  int32_t group_count, group_capacity;
  uint32_t visit;
  uint32_t map_count;
} fusion_t;

// Assigns every op of the block to a group, or leaves it to the host. Sets op->data to its node.
void fusion_group(fusion_t* fusion, ir_context_t* ctx, ir_block_t* block);
static inline fusion_node_t* fusion_node(const ir_op_t* op) { return op ? op->data : NULL; }
// True for constants that are one number.
bool fusion_is_splat(const ir_op_t* op);

#endif  // IREE_C_PASSES_FUSION_H_
