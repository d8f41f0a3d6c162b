// What is known of small tensors at compile time: shape arithmetic. Each element of a traced tensor is a constant or an
// index value of the program (mostly a graph.dim), found by walking the graph ops that make the tensor. Constants come
// from the reference evaluator; where index values go through gathers, slices and the like is found by evaluating those
// ops on the numbers of elements instead of the elements.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dialects/evaluate.h"
#include "import/onnx/lower.h"

enum { MAX_CELLS = 4096, MAX_TRACE_DEPTH = 512 };

typedef struct cell_t {
  bool known;  // `value` is it; otherwise `index`, or nothing is known
  scalar_value_t value;
  ir_value_t* index;
} cell_t;

// Kept in ir_value_t.data of lowered values.
typedef struct trace_t {
  int64_t count;  // -1: cannot be traced
  cell_t* cells;
  bool constant;            // all cells are known
  const ir_block_t* block;  // where index values were built: not visible in other blocks
  const ir_attr_t* attr;    // the tensor as a constant, once asked for
} trace_t;

static trace_t* trace(onnx_node_t* n, ir_value_t* v, uint32_t depth);

static trace_t* no_trace(arena_t* arena) {
  trace_t* t = ARENA_NEW(arena, trace_t);
  t->count = -1;
  return t;
}

static trace_t* new_trace(arena_t* arena, int64_t count) {
  trace_t* t = ARENA_NEW(arena, trace_t);
  t->count = count;
  t->cells = ARENA_ARRAY(arena, cell_t, count + 1);
  return t;
}

static void finish_trace(trace_t* t) {
  t->constant = t->count >= 0;
  for (int64_t i = 0; i < t->count; ++i) t->constant &= t->cells[i].known;
}

static trace_t* trace_elements(arena_t* arena, const ir_attr_t* attr) {
  const ir_type_t* element = ir_type_scalar(attr->type);
  if (attr->kind == IR_ATTR_INTEGER) {
    trace_t* t = new_trace(arena, 1);
    t->cells[0] = (cell_t){.known = true, .value = {.i = attr->integer}};
    return t;
  }
  if (attr->kind != IR_ATTR_ELEMENTS || ir_type_bytes(element) > 8) return no_trace(arena);
  int64_t count = ir_type_count(attr->type);
  trace_t* t = new_trace(arena, count);
  for (int64_t i = 0; i < count; ++i) {
    const char* data = (const char*)ir_attr_data(attr) + (attr->splat ? 0 : (size_t)i * ir_type_bytes(element));
    t->cells[i] = (cell_t){.known = true, .value = scalar_load(element, data)};
  }
  return t;
}

//===----------------------------------------------------------------------------------------------------------------===
// Elementwise
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* cell_index(onnx_node_t* n, const cell_t* cell) {
  return cell->known ? graph_index_constant(n->b, cell->value.i) : cell->index;
}

static bool is_nothing(const cell_t* cell) { return !cell->known && !cell->index; }

// A function of cells of which not all are constants. Index values are sizes: never negative.
static cell_t symbolic_cell(onnx_node_t* n, scalar_fn_t fn, const cell_t* in, const ir_type_t* element) {
  cell_t nothing = {0}, a = in[0], b = in[1];
  if (fn == SCALAR_select) return in[0].known ? in[0].value.i ? in[1] : in[2] : nothing;
  if ((fn == SCALAR_cast || fn == SCALAR_castu) && element->kind != IR_TYPE_FLOAT && element->width >= 32) return a;
  bool integers = element->kind == IR_TYPE_INDEX || (element->kind == IR_TYPE_INTEGER && element->width >= 32);
  if (is_nothing(&a) || is_nothing(&b)) return nothing;
  bool negative = (a.known && a.value.i < 0) || (b.known && b.value.i < 0);
  if (fn == SCALAR_eq && negative) return (cell_t){.known = true};
  if (fn == SCALAR_ne && negative) return (cell_t){.known = true, .value = {.i = 1}};
  if (!integers) return nothing;
  switch (fn) {
    case SCALAR_mul:
      if (a.known && a.value.i == 1) return b;
      if (b.known && b.value.i == 1) return a;
      break;
    case SCALAR_add:
      if (a.known && a.value.i == 0) return b;
      if (b.known && b.value.i == 0) return a;
      break;
    case SCALAR_sub:
      if (b.known && b.value.i == 0) return a;
      break;
    case SCALAR_div:
      if (b.known && b.value.i == 1) return a;
      break;
    case SCALAR_rem:
    case SCALAR_min:
    case SCALAR_max:
      break;
    default:
      return nothing;
  }
  ir_value_t* operands[] = {cell_index(n, &a), cell_index(n, &b)};
  return (cell_t){.index = ir_build_value(n->b, graph_scalar_code(fn), operands, 2, ir_type_index(n->ctx))};
}

static trace_t* trace_elementwise(onnx_node_t* n, ir_op_t* op, trace_t* const* in) {
  arena_t* arena = ir_context_arena(n->ctx);
  const ir_type_t* operand = ir_type_scalar(ir_operand(op, op->operand_count - 1)->type);
  const ir_type_t* result = ir_type_scalar(op->results[0].type);
  scalar_fn_t fn = (scalar_fn_t)graph_scalar_fn(op);
  trace_t* t = new_trace(arena, in[0]->count);
  for (int64_t i = 0; i < t->count; ++i) {
    cell_t cells[3] = {0};
    scalar_value_t values[3] = {0};
    bool known = true;
    for (uint32_t k = 0; k < op->operand_count; ++k) {
      if (in[k]->count != t->count) return no_trace(arena);
      cells[k] = in[k]->cells[i];
      values[k] = cells[k].value;
      known &= cells[k].known;
    }
    t->cells[i] = known ? (cell_t){.known = true, .value = scalar_eval(fn, values, operand, result)}
                        : symbolic_cell(n, fn, cells, result);
  }
  return t;
}

//===----------------------------------------------------------------------------------------------------------------===
// Other ops
//===----------------------------------------------------------------------------------------------------------------===

static const ir_attr_t* trace_attr(ir_context_t* ctx, const ir_type_t* type, const trace_t* t) {
  const ir_type_t* element = ir_type_scalar(type);
  uint32_t bytes = ir_type_bytes(element);
  char* data = arena_alloc(ir_context_arena(ctx), (size_t)t->count * bytes + 8);
  for (int64_t i = 0; i < t->count; ++i) scalar_store(element, t->cells[i].value, data + (size_t)i * bytes);
  const ir_type_t* tensor = ir_type_is_shaped(type) ? type : ir_type_tensor(ctx, element, 0, NULL);
  return ir_attr_elements(ctx, tensor, data, (size_t)t->count * bytes);
}

// Numbers of a tensor's elements from `first` on, as a constant of its shape.
static const ir_attr_t* numbered(ir_context_t* ctx, const ir_type_t* type, int64_t first, int64_t count) {
  const ir_type_t* i64 = ir_type_int(ctx, 64);
  int64_t* data = ARENA_ARRAY(ir_context_arena(ctx), int64_t, count + 1);
  for (int64_t i = 0; i < count; ++i) data[i] = first + i;
  const ir_type_t* tensor =
      ir_type_is_shaped(type) ? ir_type_with_element(ctx, type, i64) : ir_type_tensor(ctx, i64, 0, NULL);
  return ir_attr_elements(ctx, tensor, data, sizeof(int64_t) * (size_t)count);
}

// How many leading operands (all: UINT32_MAX) the op moves elements of; the others say where.
static uint32_t moved_operands(uint32_t code) {
  switch (code) {
    case GRAPH_CONCAT:
      return UINT32_MAX;
    case GRAPH_PAD:
      return 2;
    case GRAPH_RESHAPE:
    case GRAPH_TRANSPOSE:
    case GRAPH_BROADCAST:
    case GRAPH_SLICE:
    case GRAPH_REVERSE:
    case GRAPH_DYNAMIC_SLICE:
    case GRAPH_GATHER:
      return 1;
    default:
      return 0;
  }
}

// An op that moves elements: evaluated on their numbers.
static trace_t* trace_moved(onnx_node_t* n, ir_op_t* op, trace_t* const* in, uint32_t moved) {
  arena_t* arena = ir_context_arena(n->ctx);
  const ir_attr_t** inputs = ARENA_ARRAY(arena, const ir_attr_t*, op->operand_count + 1);
  const ir_attr_t* output;
  int64_t total = 0;
  for (uint32_t k = 0; k < op->operand_count; ++k) {
    const ir_type_t* type = ir_operand(op, k)->type;
    if (k >= moved && !in[k]->constant) return no_trace(arena);
    inputs[k] = k < moved ? numbered(n->ctx, type, total, in[k]->count) : trace_attr(n->ctx, type, in[k]);
    if (k < moved) total += in[k]->count;
  }
  if (!graph_evaluate_op(n->ctx, op, inputs, &output)) return no_trace(arena);
  trace_t* t = new_trace(arena, ir_type_count(output->type));
  for (int64_t i = 0; i < t->count; ++i) {
    int64_t number = ir_attr_element_integer(output, i);
    uint32_t k = 0;
    while (k + 1 < op->operand_count && number >= in[k]->count) number -= in[k++]->count;
    t->cells[i] = in[k]->cells[number];
  }
  return t;
}

// A sum or product over all elements of a vector of sizes.
static trace_t* trace_total(onnx_node_t* n, ir_op_t* op, const trace_t* in) {
  arena_t* arena = ir_context_arena(n->ctx);
  const char* kind = ir_op_string(op, "kind", "");
  bool add = strcmp(kind, "add") == 0;
  if ((!add && strcmp(kind, "mul") != 0) || ir_type_count(op->results[0].type) != 1) return no_trace(arena);
  trace_t* t = new_trace(arena, 1);
  t->cells[0] = (cell_t){.known = true, .value = {.i = !add}};
  for (int64_t i = 0; i < in->count; ++i) {
    cell_t pair[3] = {t->cells[0], in->cells[i]};
    scalar_value_t values[3] = {pair[0].value, pair[1].value};
    const ir_type_t* element = ir_type_scalar(op->results[0].type);
    scalar_fn_t fn = add ? SCALAR_add : SCALAR_mul;
    t->cells[0] = pair[0].known && pair[1].known
                      ? (cell_t){.known = true, .value = scalar_eval(fn, values, element, element)}
                      : symbolic_cell(n, fn, pair, element);
  }
  return t;
}

static trace_t* trace_constant_op(onnx_node_t* n, ir_op_t* op, uint32_t result, trace_t* const* in) {
  arena_t* arena = ir_context_arena(n->ctx);
  const ir_attr_t** inputs = ARENA_ARRAY(arena, const ir_attr_t*, op->operand_count + 1);
  const ir_attr_t** outputs = ARENA_ARRAY(arena, const ir_attr_t*, op->result_count + 1);
  for (uint32_t k = 0; k < op->operand_count; ++k) {
    if (!in[k]->constant) return no_trace(arena);
    inputs[k] = trace_attr(n->ctx, ir_operand(op, k)->type, in[k]);
  }
  if (!graph_evaluate_op(n->ctx, op, inputs, outputs)) return no_trace(arena);
  return trace_elements(arena, outputs[result]);
}

static bool is_small(const ir_type_t* type) {
  int64_t count = ir_type_count(type);
  return count != IR_DYNAMIC && count <= MAX_CELLS && ir_type_scalar(type)->kind != IR_TYPE_COMPLEX;
}

static trace_t* trace_op(onnx_node_t* n, ir_op_t* op, uint32_t result, uint32_t depth) {
  arena_t* arena = ir_context_arena(n->ctx);
  uint32_t code = ir_code(op), moved = moved_operands(code);
  if (ir_op_dialect(op) != IR_DIALECT_GRAPH || op->region_count || !ir_has_trait(op, IR_TRAIT_PURE))
    return no_trace(arena);
  if (code == GRAPH_CONSTANT) return trace_elements(arena, ir_op_attr(op, "value"));
  if (code == GRAPH_DIM || n->lowering->no_propagation) return no_trace(arena);
  trace_t** in = ARENA_ARRAY(arena, trace_t*, op->operand_count + 1);
  bool constant = true;
  for (uint32_t k = 0; k < op->operand_count; ++k) {
    in[k] = trace(n, ir_operand(op, k), depth + 1);
    if (in[k]->count < 0) return no_trace(arena);
    constant &= in[k]->constant;
  }
  if (graph_scalar_fn(op) >= 0) return trace_elementwise(n, op, in);
  if (constant) return trace_constant_op(n, op, result, in);
  if (code == GRAPH_TO_TENSOR || code == GRAPH_TO_SCALAR) return arena_copy(arena, in[0], sizeof(trace_t));
  if (code == GRAPH_REDUCE) return trace_total(n, op, in[0]);
  return moved ? trace_moved(n, op, in, moved < op->operand_count ? moved : op->operand_count) : no_trace(arena);
}

// Whatever else makes a single index: that value itself.
static trace_t* trace_opaque(arena_t* arena, ir_value_t* v) {
  trace_t* t = new_trace(arena, 1);
  t->cells[0].index = v;
  return t;
}

static trace_t* trace(onnx_node_t* n, ir_value_t* v, uint32_t depth) {
  arena_t* arena = ir_context_arena(n->ctx);
  trace_t* t = v->data;
  if (t && (t->constant || t->block == n->b->block)) return t;
  t = no_trace(arena);
  if (v->def && is_small(v->type) && depth < MAX_TRACE_DEPTH) t = trace_op(n, v->def, v->index, depth);
  bool lost = t->count < 0 || (t->count == 1 && is_nothing(&t->cells[0]));
  if (lost && v->type->kind == IR_TYPE_INDEX) t = trace_opaque(arena, v);
  finish_trace(t);
  t->block = n->b->block;
  v->data = t;
  return t;
}

//===----------------------------------------------------------------------------------------------------------------===
// For handlers
//===----------------------------------------------------------------------------------------------------------------===

const ir_attr_t* onnx_constant(onnx_node_t* n, ir_value_t* v) {
  if (ir_is(v->def, GRAPH_CONSTANT)) {
    const ir_attr_t* value = ir_op_attr(v->def, "value");
    if (value->kind == IR_ATTR_ELEMENTS) return value;
  }
  trace_t* t = trace(n, v, 0);
  if (!t->constant) return NULL;
  if (!t->attr) t->attr = trace_attr(n->ctx, v->type, t);
  return t->attr;
}

// Input i as a constant vector of at most `capacity` elements, NULL after a diagnostic.
static const ir_attr_t* constant_vector(onnx_node_t* n, uint32_t i, uint32_t capacity, uint32_t* count) {
  const ir_attr_t* attr = onnx_constant(n, n->in[i].v);
  *count = 0;
  if (!attr) return onnx_unsupported(n, "input %u must be a constant", i), NULL;
  int64_t total = ir_type_count(attr->type);
  if (attr->type->rank > 1) return onnx_error(n, "input %u must be a vector", i), NULL;
  if (total > capacity) {
    onnx_error(n, "input %u has %lld elements; at most %u make sense", i, (long long)total, capacity);
    return NULL;
  }
  *count = (uint32_t)total;
  return attr;
}

bool onnx_const_ints(onnx_node_t* n, uint32_t i, int64_t* values, uint32_t capacity, uint32_t* count) {
  if (!onnx_is_int(n->in[i])) return onnx_error(n, "input %u must have integer elements", i);
  const ir_attr_t* attr = constant_vector(n, i, capacity, count);
  for (uint32_t k = 0; attr && k < *count; ++k) values[k] = ir_attr_element_integer(attr, k);
  return attr != NULL;
}

bool onnx_const_numbers(onnx_node_t* n, uint32_t i, double* values, uint32_t capacity, uint32_t* count) {
  const ir_attr_t* attr = constant_vector(n, i, capacity, count);
  for (uint32_t k = 0; attr && k < *count; ++k) values[k] = ir_attr_element_number(attr, k);
  return attr != NULL;
}

// Element i of a vector as an index computed at run time.
static ir_value_t* load_index(onnx_node_t* n, ir_value_t* v, int64_t i) {
  int64_t one = 1;
  if (v->type->rank == 1) v = graph_slice(n->b, v, &i, &one, &one);
  ir_value_t* scalar = graph_reshape(n->b, v, 0, NULL, NULL);
  scalar = graph_cast(n->b, scalar, ir_type_index(n->ctx), false);
  return ir_build_value(n->b, GRAPH_TO_SCALAR, &scalar, 1, ir_type_index(n->ctx));
}

bool onnx_dims_input(onnx_node_t* n, uint32_t i, onnx_dim_t* dims, uint32_t capacity, uint32_t* count) {
  ir_value_t* v = n->in[i].v;
  int64_t total = ir_type_count(v->type);
  if (!onnx_is_int(n->in[i]) || v->type->rank > 1) return onnx_error(n, "input %u must be a vector of integers", i);
  if (total == IR_DYNAMIC) return onnx_unsupported(n, "the length of input %u must be static", i);
  if (total > capacity)
    return onnx_error(n, "input %u has %lld elements; at most %u make sense", i, (long long)total, capacity);
  *count = (uint32_t)total;
  trace_t* t = trace(n, v, 0);
  for (uint32_t k = 0; k < *count; ++k) {
    cell_t cell = t->count == total ? t->cells[k] : (cell_t){0};
    dims[k] = cell.known ? onnx_dim_of(cell.value.i) : (onnx_dim_t){.size = IR_DYNAMIC, .value = cell.index};
    if (!cell.known && !cell.index) dims[k] = (onnx_dim_t){IR_DYNAMIC, load_index(n, v, k), true};
    if (cell.known && cell.value.i == IR_DYNAMIC) dims[k].size = -INT64_MAX;  // e.g. Slice to the very start
  }
  return true;
}
