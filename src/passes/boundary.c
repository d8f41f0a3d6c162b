// Elements below 8 bits leave and enter functions packed, as the HAL has them: without gaps, the first in the lowest
// bits of the first byte. Inside each takes a byte. Arguments become bytes and, where sizes are known at run time only,
// those sizes; results alike:
//
//   func.func @f(%x: tensor<?x3xi4>) -> tensor<?x3xi4> {    func.func @f(%x: tensor<?xi8>, %d: index)
//     ...                                                       -> (tensor<?xi8>, index) {
//     return %y                                           =>    %0 = broadcast, shru, castu, slice, reshape %x
//   }                                                           ...
//                                                               return %bytes, %n
//
// `iree.abi.type` keeps the signature for callers. Parameters are packed in archives, too: globals that have them
// become bytes, which are unpacked where they are loaded. Widths that do not divide 8 go through words: three bytes are
// four elements of 6 bits.
#include <string.h>

#include "dialects/func.h"
#include "dialects/graph.h"
#include "passes/passes.h"

// Groups that start and end with a byte: `elements` in `bytes`.
typedef struct group_t {
  int64_t bits, elements, bytes;
  const ir_type_t *integer, *word, *byte;  // of an element, a group, a byte
} group_t;

static group_t group_of(ir_context_t* ctx, const ir_type_t* element) {
  group_t g = {.bits = element->width, .elements = 1};
  while (g.elements * g.bits % 8) ++g.elements;
  g.bytes = g.elements * g.bits / 8;
  g.integer = ir_type_int(ctx, element->width);
  g.byte = ir_type_int(ctx, 8);
  g.word = ir_type_int(ctx, g.bytes == 1 ? 8 : g.bytes <= 4 ? 32 : 64);
  return g;
}

//===----------------------------------------------------------------------------------------------------------------===
// Sizes
//===----------------------------------------------------------------------------------------------------------------===

// A size that may be known at run time only.
typedef struct extent_t {
  int64_t known;  // or IR_DYNAMIC
  ir_value_t* value;
} extent_t;

static extent_t extent_known(int64_t known) { return (extent_t){known, NULL}; }
static ir_value_t* extent_value(ir_builder_t* b, extent_t x) {
  return x.known == IR_DYNAMIC ? x.value : graph_index_constant(b, x.known);
}

static extent_t extent_mul(ir_builder_t* b, extent_t x, extent_t y) {
  if (x.known != IR_DYNAMIC && y.known != IR_DYNAMIC) return extent_known(x.known * y.known);
  if (x.known == 1) return y;
  if (y.known == 1) return x;
  return (extent_t){IR_DYNAMIC, graph_binary(b, SCALAR_mul, extent_value(b, x), extent_value(b, y))};
}

static extent_t extent_ceil_div(ir_builder_t* b, extent_t x, int64_t by) {
  if (x.known != IR_DYNAMIC) return extent_known((x.known + by - 1) / by);
  ir_value_t* sum = graph_binary(b, SCALAR_add, x.value, graph_index_constant(b, by - 1));
  return (extent_t){IR_DYNAMIC, graph_binary(b, SCALAR_divu, sum, graph_index_constant(b, by))};
}

static ir_value_t* reshape(ir_builder_t* b, ir_value_t* x, const extent_t* sizes, int32_t rank) {
  int64_t dims[GRAPH_MAX_RANK];
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  uint32_t count = 0;
  for (int32_t i = 0; i < rank; ++i) {
    dims[i] = sizes[i].known;
    if (dims[i] == IR_DYNAMIC) dynamic[count++] = sizes[i].value;
  }
  return graph_reshape(b, x, rank, dims, dynamic);
}

// The first `size` elements of a line, zeros behind its end.
static ir_value_t* resize(ir_builder_t* b, ir_value_t* x, extent_t size, int64_t most_zeros) {
  int64_t have = x->type->dims[0], low = 0, high = most_zeros, zero = 0, one = 1;
  if (have != IR_DYNAMIC && have == size.known) return x;
  if (have != IR_DYNAMIC && size.known != IR_DYNAMIC && size.known > have) high = size.known - have;
  if (have == IR_DYNAMIC || size.known > have) x = graph_pad(b, x, NULL, &low, &high, NULL, NULL);
  if (size.known != IR_DYNAMIC && x->type->dims[0] == size.known) return x;
  ir_named_attr_t attrs[] = {{"offsets", ir_attr_i64_array(b->ctx, &zero, 1)},
                             {"strides", ir_attr_i64_array(b->ctx, &one, 1)}};
  const ir_type_t* type = ir_type_tensor(b->ctx, x->type->element, 1, &size.known);
  ir_value_t* operands[] = {x, size.value};
  return graph_build(b, GRAPH_SLICE, operands, size.known == IR_DYNAMIC ? 2 : 1, type, attrs, 2);
}

//===----------------------------------------------------------------------------------------------------------------===
// Bits
//===----------------------------------------------------------------------------------------------------------------===

// [n x count] pieces of `bits` each, the first lowest, as [n] words.
static ir_value_t* join(ir_builder_t* b, ir_value_t* pieces, int64_t bits, const ir_type_t* word) {
  int64_t count = pieces->type->dims[1], sizes[2] = {pieces->type->dims[0], 1}, strides[2] = {1, 1};
  ir_value_t* result = NULL;
  for (int64_t i = 0; i < count; ++i) {
    int64_t offsets[2] = {0, i};
    ir_value_t* column = graph_cast(b, graph_slice(b, pieces, offsets, sizes, strides), word, true);
    extent_t line = {sizes[0], NULL};
    if (line.known == IR_DYNAMIC) line.value = graph_dim(b, column, 0);
    column = reshape(b, column, &line, 1);
    if (i) column = graph_binary(b, SCALAR_shl, column, graph_splat_like(b, column, (double)(i * bits)));
    result = result ? graph_binary(b, SCALAR_or, result, column) : column;
  }
  return result;
}

// The other way, flat: [n * count] pieces of type `piece`.
static ir_value_t* split(ir_builder_t* b, ir_value_t* words, int64_t count, const ir_type_t* piece) {
  extent_t n = {words->type->dims[0], NULL};
  if (n.known == IR_DYNAMIC) n.value = graph_dim(b, words, 0);
  int64_t dims[2] = {n.known, count}, map = 0;
  if (count > 1) {
    const ir_type_t* type = ir_type_tensor(b->ctx, words->type->element, 2, dims);
    words = graph_broadcast(b, words, type, &map, &n.value);
    ir_value_t* shift = graph_iota(b, type, 1, &n.value);
    shift = graph_binary(b, SCALAR_mul, shift, graph_splat_like(b, shift, piece->width));
    words = graph_binary(b, SCALAR_shru, words, shift);
  }
  words = graph_cast(b, words, piece, true);
  extent_t flat = extent_mul(b, n, extent_known(count));
  return reshape(b, words, &flat, 1);
}

static extent_t count_of(ir_builder_t* b, const extent_t* sizes, int32_t rank) {
  extent_t count = extent_known(1);
  for (int32_t i = 0; i < rank; ++i) count = extent_mul(b, count, sizes[i]);
  return count;
}

// Bytes as a tensor of these sizes.
static ir_value_t* unpack(ir_builder_t* b, ir_value_t* bytes, const ir_type_t* type, const extent_t* sizes) {
  group_t g = group_of(b->ctx, type->element);
  extent_t count = count_of(b, sizes, type->rank);
  if (g.bytes > 1) {
    extent_t shape[2] = {extent_ceil_div(b, count, g.elements), extent_known(g.bytes)};
    bytes = resize(b, bytes, extent_mul(b, shape[0], shape[1]), g.bytes - 1);
    bytes = join(b, reshape(b, bytes, shape, 2), 8, g.word);
  }
  ir_value_t* elements = resize(b, split(b, bytes, g.elements, g.integer), count, 0);
  return graph_bitcast(b, reshape(b, elements, sizes, type->rank), type->element);
}

static ir_value_t* pack(ir_builder_t* b, ir_value_t* x, const extent_t* sizes) {
  group_t g = group_of(b->ctx, x->type->element);
  extent_t count = count_of(b, sizes, x->type->rank);
  extent_t shape[2] = {extent_ceil_div(b, count, g.elements), extent_known(g.elements)};
  x = reshape(b, graph_bitcast(b, x, g.integer), &count, 1);
  x = resize(b, x, extent_mul(b, shape[0], shape[1]), g.elements - 1);
  x = split(b, join(b, reshape(b, x, shape, 2), g.bits, g.word), g.bytes, g.byte);
  return resize(b, x, extent_ceil_div(b, extent_mul(b, count, extent_known(g.bits)), 8), 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Functions
//===----------------------------------------------------------------------------------------------------------------===

static bool is_packed(const ir_type_t* type) { return ir_type_is_tensor(type) && ir_type_is_packed(type->element); }

// Arguments anew, in the order of the signature.
static void replace_arguments(ir_builder_t* b, ir_block_t* body) {
  uint32_t count = body->arg_count;
  ir_value_t** old = arena_copy(ir_context_arena(b->ctx), body->args, sizeof(*old) * count);
  body->arg_count = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const ir_type_t* type = old[i]->type;
    extent_t sizes[GRAPH_MAX_RANK], bytes;
    if (!is_packed(type)) {
      ir_value_replace(old[i], ir_block_add_arg(b->ctx, body, type));
      continue;
    }
    bytes = extent_known(ir_type_count(type));
    if (bytes.known != IR_DYNAMIC) bytes.known = (bytes.known * type->element->width + 7) / 8;
    ir_value_t* arg = ir_block_add_arg(b->ctx, body, ir_type_tensor(b->ctx, ir_type_int(b->ctx, 8), 1, &bytes.known));
    for (int32_t d = 0; d < type->rank; ++d) {
      sizes[d] = extent_known(type->dims[d]);
      if (sizes[d].known == IR_DYNAMIC) sizes[d].value = ir_block_add_arg(b->ctx, body, ir_type_index(b->ctx));
    }
    ir_value_replace(old[i], unpack(b, arg, type, sizes));
  }
}

static void replace_results(ir_builder_t* b, ir_op_t* terminator, const ir_type_t* abi) {
  uint32_t count = 0, capacity = terminator->operand_count * (1 + GRAPH_MAX_RANK);
  ir_value_t** values = ARENA_ARRAY(ir_context_arena(b->ctx), ir_value_t*, capacity + 1);
  for (uint32_t i = 0; i < terminator->operand_count; ++i) {
    ir_value_t* x = ir_operand(terminator, i);
    extent_t sizes[GRAPH_MAX_RANK];
    if (!is_packed(x->type)) {
      values[count++] = x;
      continue;
    }
    for (int32_t d = 0; d < x->type->rank; ++d) {
      sizes[d] = extent_known(x->type->dims[d]);
      if (sizes[d].known == IR_DYNAMIC) sizes[d].value = graph_dim(b, x, (uint32_t)d);
    }
    values[count++] = pack(b, x, sizes);
    for (int32_t d = 0; d < x->type->rank; ++d) {
      if (abi->results[i]->dims[d] == IR_DYNAMIC) values[count++] = extent_value(b, sizes[d]);
    }
  }
  ir_op_set_operands(b->ctx, terminator, values, count);
}

static void set_type(ir_context_t* ctx, ir_op_t* func) {
  const ir_block_t* body = func->regions[0].first;
  uint32_t inputs = body->arg_count, outputs = body->last->operand_count;
  const ir_type_t** types = ARENA_ARRAY(ir_context_arena(ctx), const ir_type_t*, inputs + outputs + 1);
  for (uint32_t i = 0; i < inputs; ++i) types[i] = body->args[i]->type;
  for (uint32_t i = 0; i < outputs; ++i) types[inputs + i] = ir_operand(body->last, i)->type;
  const ir_type_t* type = ir_type_function(ctx, types, inputs, types + inputs, outputs);
  ir_op_set_attr(ctx, func, "function_type", ir_attr_type(ctx, type));
}

static bool convert(ir_context_t* ctx, ir_op_t* func) {
  ir_block_t* body = func->regions[0].first;
  bool inputs = false, outputs = false;
  for (uint32_t i = 0; i < body->arg_count; ++i) inputs |= is_packed(body->args[i]->type);
  for (uint32_t i = 0; i < body->last->operand_count; ++i) outputs |= is_packed(ir_operand(body->last, i)->type);
  if (!inputs && !outputs) return false;
  const ir_attr_t* abi = ir_op_attr(func, "iree.abi.type");
  if (!abi) ir_op_set_attr(ctx, func, "iree.abi.type", abi = ir_op_attr(func, "function_type"));
  ir_builder_t b = ir_builder_before(ctx, body->last);
  if (outputs) replace_results(&b, body->last, abi->type);
  b = ir_builder_before(ctx, body->first);
  if (inputs) replace_arguments(&b, body);
  set_type(ctx, func);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Parameters
//===----------------------------------------------------------------------------------------------------------------===

// The global of an access when it has become bytes; its type before is at ir_op_t.data.
static const ir_type_t* unpacked_type(ir_context_t* ctx, ir_op_t* module, const ir_op_t* op) {
  bool accesses = ir_is(op, GRAPH_GLOBAL_LOAD) || ir_is(op, GRAPH_GLOBAL_STORE);
  const ir_op_t* global = accesses ? ir_symbol_find(ctx, module, ir_op_string(op, "global", "")) : NULL;
  return global ? global->data : NULL;
}

static void replace_access(ir_context_t* ctx, ir_op_t* op, const ir_type_t* type) {
  extent_t sizes[GRAPH_MAX_RANK];
  for (int32_t d = 0; d < type->rank; ++d) sizes[d] = extent_known(type->dims[d]);
  ir_builder_t b = ir_builder_before(ctx, op);
  if (ir_is(op, GRAPH_GLOBAL_STORE)) {
    ir_value_t* packed = pack(&b, ir_operand(op, 0), sizes);
    return ir_op_set_operands(ctx, op, &packed, 1);
  }
  int64_t bytes = (ir_type_count(type) * type->element->width + 7) / 8;
  ir_named_attr_t attr = {"global", ir_op_attr(op, "global")};
  const ir_type_t* packed = ir_type_tensor(ctx, ir_type_int(ctx, 8), 1, &bytes);
  ir_value_t* loaded = graph_build(&b, GRAPH_GLOBAL_LOAD, NULL, 0, packed, &attr, 1);
  ir_value_replace(&op->results[0], unpack(&b, loaded, type, sizes));
  ir_op_erase(op);
}

static void replace_accesses(ir_context_t* ctx, ir_op_t* module, ir_op_t* parent) {
  for (uint32_t r = 0; r < parent->region_count; ++r) {
    IR_FOR_BLOCKS(block, &parent->regions[r]) {
      IR_FOR_OPS_SAFE(op, block) {
        const ir_type_t* type = unpacked_type(ctx, module, op);
        replace_accesses(ctx, module, op);
        if (type) replace_access(ctx, op, type);
      }
    }
  }
}

static bool convert_parameters(ir_context_t* ctx, ir_op_t* module) {
  bool any = false;
  IR_FOR_OPS(op, ir_module_body(module)) {
    op->data = NULL;
    const ir_type_t* type = ir_is(op, GRAPH_GLOBAL) && graph_get_parameter_key(op) ? graph_get_type(op)->type : NULL;
    if (!type || !is_packed(type)) continue;
    int64_t bytes = (ir_type_count(type) * type->element->width + 7) / 8;
    op->data = (void*)type;
    ir_op_set_attr(ctx, op, "type", ir_attr_type(ctx, ir_type_tensor(ctx, ir_type_int(ctx, 8), 1, &bytes)));
    any = true;
  }
  if (any) replace_accesses(ctx, module, module);
  IR_FOR_OPS(op, ir_module_body(module)) op->data = NULL;
  return any;
}

pass_result_t pass_boundary(ir_op_t* module, ir_context_t* ctx) {
  pass_result_t result = convert_parameters(ctx, module) ? PASS_CHANGED : PASS_UNCHANGED;
  IR_FOR_OPS(op, ir_module_body(module)) {
    if (!ir_is(op, FUNC_FUNC) || !op->regions[0].first || op->regions[0].first->next) continue;
    if (strcmp(ir_op_string(op, "sym_visibility", "public"), "private") == 0) continue;
    if (convert(ctx, op)) result = PASS_CHANGED;
  }
  return result;
}
