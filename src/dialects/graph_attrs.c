// Reads attributes of graph ops by their number in graph_attrs.def.
#include <assert.h>

#include "dialects/graph.h"

static const char* const names[] = {
#define ATTR(name, type) #name,
#include "dialects/graph_attrs.def"
#undef ATTR
};

const char* graph_attr_name(graph_attr_id_t id) { return names[id]; }

#ifndef NDEBUG
static bool row_has(const ir_op_t* op, graph_attr_id_t id) {
  if (id == GRAPH_ATTR_extents) return true;  // of every op in a dispatch
  for (const graph_attr_row_t* row = graph_row(op)->attrs; row->id != GRAPH_ATTR_COUNT; ++row) {
    if (row->id == id) return true;
  }
  return false;
}
#endif

const ir_attr_t* graph_attr(const ir_op_t* op, graph_attr_id_t id) {
  assert(row_has(op, id) && "the op's row has no such attribute");
  return ir_op_attr(op, names[id]);
}

int64_t graph_attr_int(const ir_op_t* op, graph_attr_id_t id) {
  const ir_attr_t* attr = graph_attr(op, id);
  return attr ? attr->integer : 0;
}

bool graph_attr_unit(const ir_op_t* op, graph_attr_id_t id) {
  const ir_attr_t* attr = graph_attr(op, id);
  return attr && (attr->kind == IR_ATTR_UNIT || attr->integer != 0);
}

const char* graph_attr_text(const ir_op_t* op, graph_attr_id_t id) {
  const ir_attr_t* attr = graph_attr(op, id);
  return attr ? attr->text : NULL;
}

uint32_t graph_attr_one(const ir_op_t* op, graph_attr_id_t id, int64_t* out) {
  return ir_attr_ints(graph_attr(op, id), out, 1);
}

uint32_t graph_attr_ints(const ir_op_t* op, graph_attr_id_t id, int64_t* out) {
  uint32_t count = ir_attr_ints(graph_attr(op, id), out, GRAPH_MAX_RANK);
  assert(count <= GRAPH_MAX_RANK);
  return count;
}
