// An order in which every value is defined before its use: files should list nodes so, but ONNX Runtime sorts them, and
// some of its tools append what they insert.
//
//   y = Relu(h); h = Cast(x)      =>      h = Cast(x); y = Relu(h)
#include "import/onnx/importer.h"

enum { NEW, OPEN, DONE };
// Names lead to a value's maker: a node's number and FIRST_NODE, or LOCAL of a subgraph's own.
enum { LOCAL = 1, FIRST_NODE = 2 };

typedef struct order_t {
  onnx_importer_t* im;
  const onnx_pb_node_t* first;
  uint8_t* states;
  size_t *stack, depth, capacity;
  size_t* places;  // the order
  size_t count;
  bool sorted;  // nothing was found that stands behind its use
} order_t;

static ir_name_t name_of(const order_t* o, onnx_bytes_t bytes) {
  return ir_intern(o->im->ctx, bytes.data ? bytes.data : "", bytes.size);
}

static void set_makers(const order_t* o, onnx_names_t* names, const onnx_chunks_t* values, size_t maker) {
  for (size_t i = 0; i < values->count; ++i)
    onnx_names_set(names, name_of(o, values->data[i]), (void*)(uintptr_t)maker);
}

// The names of a subgraph, which hide those around it.
static onnx_names_t* names_inside(const order_t* o, const onnx_names_t* outer, const onnx_pb_graph_t* graph) {
  onnx_names_t* names = onnx_names_create(ir_context_arena(o->im->ctx), outer);
  for (size_t i = 0; i < graph->inputs.count; ++i)
    set_makers(o, names, &(onnx_chunks_t){&graph->inputs.data[i].name, 1}, LOCAL);
  for (size_t i = 0; i < graph->initializers.count; ++i)
    set_makers(o, names, &(onnx_chunks_t){&graph->initializers.data[i].name, 1}, LOCAL);
  for (size_t i = 0; i < graph->sparse_initializers.count; ++i) {
    onnx_pb_tensor_t* values = graph->sparse_initializers.data[i].values;
    if (values) set_makers(o, names, &(onnx_chunks_t){&values->name, 1}, LOCAL);
  }
  for (size_t i = 0; i < graph->nodes.count; ++i) set_makers(o, names, &graph->nodes.data[i].outputs, LOCAL);
  return names;
}

static void push(order_t* o, size_t node) {
  if (o->depth == o->capacity) {
    size_t* wider = ARENA_ARRAY(ir_context_arena(o->im->ctx), size_t, 2 * o->capacity + 64);
    for (size_t i = 0; i < o->depth; ++i) wider[i] = o->stack[i];
    o->stack = wider;
    o->capacity = 2 * o->capacity + 64;
  }
  o->stack[o->depth++] = node;
}

// `node` needs what makes that value.
static void use(order_t* o, const onnx_names_t* names, size_t node, onnx_bytes_t value) {
  size_t maker = value.size ? (size_t)(uintptr_t)onnx_names_get(names, name_of(o, value)) : 0;
  if (maker < FIRST_NODE || maker - FIRST_NODE == node) return;
  if (!o->places) {
    o->sorted &= maker - FIRST_NODE < node;
  } else if (o->states[maker - FIRST_NODE] == NEW) {
    push(o, maker - FIRST_NODE);
  }
}

// What a node reads, its subgraphs too; from the last to the first, so that the first is placed first.
static void use_all(order_t* o, const onnx_names_t* names, size_t node, const onnx_pb_node_t* at) {
  for (size_t i = at->attributes.count; i-- > 0;) {
    const onnx_pb_graph_t* graph = at->attributes.data[i].g;
    const onnx_names_t* inside = graph ? names_inside(o, names, graph) : NULL;
    for (size_t k = graph ? graph->outputs.count : 0; k-- > 0;) use(o, inside, node, graph->outputs.data[k].name);
    for (size_t k = graph ? graph->nodes.count : 0; k-- > 0;) use_all(o, inside, node, &graph->nodes.data[k]);
  }
  for (size_t i = at->inputs.count; i-- > 0;) use(o, names, node, at->inputs.data[i]);
}

// Places a node behind those that it needs. In a circle somebody comes first, whose input is then not defined.
static void place(order_t* o, const onnx_names_t* names, size_t node) {
  push(o, node);
  while (o->depth) {
    size_t at = o->stack[o->depth - 1];
    if (o->states[at] == NEW) {
      o->states[at] = OPEN;
      use_all(o, names, at, &o->first[at]);
      continue;
    }
    if (o->states[at] == OPEN) o->places[o->count++] = at;
    o->states[at] = DONE;
    --o->depth;
  }
}

const size_t* onnx_node_order(onnx_importer_t* importer, const onnx_pb_nodes_t* nodes) {
  arena_t* arena = ir_context_arena(importer->ctx);
  order_t o = {.im = importer, .first = nodes->data, .sorted = true};
  onnx_names_t* names = onnx_names_create(arena, NULL);
  for (size_t i = 0; i < nodes->count; ++i) set_makers(&o, names, &nodes->data[i].outputs, FIRST_NODE + i);
  for (size_t i = 0; i < nodes->count && o.sorted; ++i) use_all(&o, names, i, &nodes->data[i]);
  if (o.sorted) return NULL;
  o.states = ARENA_ARRAY(arena, uint8_t, nodes->count);
  o.places = ARENA_ARRAY(arena, size_t, nodes->count);
  for (size_t i = 0; i < nodes->count; ++i) {
    if (o.states[i] == NEW) place(&o, names, i);
  }
  return o.places;
}
