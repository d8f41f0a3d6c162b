// The evaluator's driver: runs blocks op by op, with the value of each ir_value_t in a map. Also control flow.
#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "dialects/evaluate_impl.h"

enum { MAX_DEPTH = 128 };
static const int64_t max_bytes = 1ll << 34;  // of one tensor

bool eval_error(eval_op_t* o, const char* format, ...) {
  if (o->e->quiet) return false;
  text_t text = {0};
  va_list args;
  va_start(args, format);
  text_vprintf(&text, format, args);
  va_end(args);
  ir_op_error(o->e->ctx, o->op, "cannot be evaluated: %s", text.data);
  text_finish(&text);
  return false;
}

//===----------------------------------------------------------------------------------------------------------------===
// Tensors
//===----------------------------------------------------------------------------------------------------------------===

bool tensor_make(eval_op_t* o, tensor_t* out, const ir_type_t* element, int32_t rank, const int64_t* dims) {
  if (rank > 2 * GRAPH_MAX_RANK) return eval_error(o, "rank %d is too high", rank);
  *out = (tensor_t){.element = element, .rank = rank, .count = 1, .bytes = ir_type_bytes(element)};
  for (int32_t i = 0; i < rank; ++i) {
    out->dims[i] = dims[i];
    if (dims[i] < 0 || __builtin_mul_overflow(out->count, dims[i], &out->count)) {
      return eval_error(o, "size %lld at dimension %d is invalid", (long long)dims[i], i);
    }
  }
  if (!out->bytes || out->count > max_bytes / out->bytes) return eval_error(o, "a result is too large");
  out->data = arena_alloc(o->e->arena, (size_t)out->count * out->bytes + 1);
  return true;
}

bool tensor_result(eval_op_t* o, uint32_t i, uint32_t first, const ir_type_t* element) {
  const ir_type_t* type = o->op->results[i].type;
  int64_t dims[2 * GRAPH_MAX_RANK];
  int32_t rank = ir_type_is_tensor(type) ? type->rank : 0;
  if (rank > 2 * GRAPH_MAX_RANK) return eval_error(o, "rank %d is too high", rank);
  for (int32_t d = 0; d < rank; ++d) {
    dims[d] = type->dims[d];
    if (dims[d] != IR_DYNAMIC) continue;
    if (first >= o->op->operand_count) return eval_error(o, "no operand gives the size of dimension %d", d);
    dims[d] = tensor_integer(&o->in[first++], 0);
  }
  return tensor_make(o, &o->out[i], element ? element : ir_type_scalar(type), rank, dims);
}

int64_t tensor_integer(const tensor_t* t, int64_t i) { return ir_scalar_load_integer(t->element, tensor_at(t, i)); }

double* tensor_numbers(eval_op_t* o, const tensor_t* t, bool is_unsigned) {
  double* numbers = ARENA_ARRAY(o->e->arena, double, t->count + 1);
  bool floats = ir_type_is_float(t->element);
  uint64_t mask = floats || t->element->width >= 64 ? ~0ull : (1ull << t->element->width) - 1;
  for (int64_t i = 0; i < t->count; ++i) {
    int64_t integer = floats ? 0 : tensor_integer(t, i);
    numbers[i] = floats        ? ir_scalar_load_number(t->element, tensor_at(t, i))
                 : is_unsigned ? (double)((uint64_t)integer & mask)
                               : (double)integer;
  }
  return numbers;
}

void tensor_strides(const tensor_t* t, int64_t* strides) {
  int64_t stride = 1;
  for (int32_t i = t->rank; i-- > 0; stride *= t->dims[i]) strides[i] = stride;
}

bool index_next(int32_t rank, const int64_t* sizes, int64_t* index) {
  for (int32_t i = rank; i-- > 0;) {
    if (++index[i] < sizes[i]) return true;
    index[i] = 0;
  }
  return false;
}

int64_t index_dot(int32_t rank, const int64_t* index, const int64_t* strides) {
  int64_t sum = 0;
  for (int32_t i = 0; i < rank; ++i) sum += index[i] * strides[i];
  return sum;
}

static bool tensor_from_attr(eval_op_t* o, const ir_attr_t* attr, tensor_t* out) {
  const ir_type_t* type = attr->type;
  if (attr->kind == IR_ATTR_INTEGER || attr->kind == IR_ATTR_FLOAT) {
    if (!tensor_make(o, out, type, 0, NULL)) return false;
    scalar_store(type, (scalar_value_t){.f = attr->number, .i = attr->integer}, out->data);
    return true;
  }
  if (attr->kind != IR_ATTR_ELEMENTS || !ir_type_is_static(type) || type->rank > GRAPH_MAX_RANK) {
    return eval_error(o, "a value is no constant of numbers");
  }
  if (!attr->splat) {
    *out = (tensor_t){.element = type->element, .rank = type->rank, .count = ir_type_count(type)};
    out->bytes = ir_type_bytes(type->element);
    for (int32_t i = 0; i < type->rank; ++i) out->dims[i] = type->dims[i];
    out->data = (char*)ir_attr_data(attr);  // only read
    return true;
  }
  if (!tensor_make(o, out, type->element, type->rank, type->dims)) return false;
  const void* element = ir_attr_data(attr);
  for (int64_t i = 0; i < out->count; ++i) memcpy(tensor_at(out, i), element, out->bytes);
  return true;
}

static const ir_attr_t* tensor_to_attr(ir_context_t* ctx, const tensor_t* t) {
  const ir_type_t* type = ir_type_tensor(ctx, t->element, t->rank, t->dims);
  return ir_attr_elements(ctx, type, t->data, (size_t)t->count * t->bytes);
}

//===----------------------------------------------------------------------------------------------------------------===
// Attributes
//===----------------------------------------------------------------------------------------------------------------===

bool eval_ints(eval_op_t* o, graph_attr_id_t id, int64_t* out, uint32_t count) {
  int64_t all[GRAPH_MAX_RANK];
  if (graph_attr_ints(o->op, id, all) != count) {
    return eval_error(o, "attribute '%s' needs %u entries", graph_attr_name(id), count);
  }
  memcpy(out, all, sizeof(*all) * count);
  return true;
}

int32_t eval_list(eval_op_t* o, graph_attr_id_t id, int64_t* out) { return (int32_t)graph_attr_ints(o->op, id, out); }

static bool find_kind(const char* kind, scalar_fn_t* out) {
  static const scalar_fn_t kinds[] = {SCALAR_add,  SCALAR_mul, SCALAR_min, SCALAR_max, SCALAR_minu,
                                      SCALAR_maxu, SCALAR_and, SCALAR_or,  SCALAR_xor};
  for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); ++i) {
    if (strcmp(scalar_info[kinds[i]].name, kind) == 0) return *out = kinds[i], true;
  }
  return false;
}

bool eval_kind(eval_op_t* o, scalar_fn_t* out) {
  const char* kind = graph_get_kind(o->op);
  return find_kind(kind, out) || eval_error(o, "kind '%s' is unknown", kind);
}

scalar_fn_t graph_kind_fn(const char* kind) {
  scalar_fn_t fn = SCALAR_add;
  bool known = find_kind(kind, &fn);
  assert(known && "unknown reduction kind");
  (void)known;
  return fn;
}

const ir_attr_t* graph_identity(ir_context_t* ctx, const char* kind, const ir_type_t* element) {
  unsigned char bytes[16] = {0};
  scalar_store(element, eval_identity(graph_kind_fn(kind), element), bytes);
  return ir_attr_elements(ctx, ir_type_tensor(ctx, element, 0, NULL), bytes, ir_type_bytes(element));
}

scalar_value_t eval_identity(scalar_fn_t fn, const ir_type_t* element) {
  bool floats = ir_type_is_float(element);
  int64_t highest = element->width >= 64 || element->width == 0 ? INT64_MAX : (1ll << (element->width - 1)) - 1;
  scalar_value_t v = {0};
  switch (fn) {
    case SCALAR_mul:
      v.f = v.i = 1;
      break;
    case SCALAR_min:
      v.f = __builtin_inf();
      v.i = highest;
      break;
    case SCALAR_max:
      v.f = -__builtin_inf();
      v.i = -highest - 1;
      break;
    case SCALAR_minu:
    case SCALAR_and:
      v.i = -1;
      break;
    default:
      break;
  }
  return floats ? v : scalar_fit(element, v);
}

scalar_value_t eval_combine(scalar_fn_t fn, const ir_type_t* element, scalar_value_t a, scalar_value_t b) {
  if (!ir_type_is_float(element)) return scalar_eval(fn, (scalar_value_t[3]){a, b}, element, element);
  return (scalar_value_t){.f = scalar_eval_number(fn, a.f, b.f)};  // sums are rounded once, at the end
}

//===----------------------------------------------------------------------------------------------------------------===
// Running
//===----------------------------------------------------------------------------------------------------------------===

static const eval_fn_t functions[] = {
#define SCALAR(name, ...) eval_elementwise,
#include "base/scalar.def"
#undef SCALAR
#define OP(NAME, text, operands, results, regions, traits, fusion, types, shape, eval, ...) eval_##eval,
#include "dialects/graph.def"
#undef OP
};

static eval_fn_t find_function(const ir_op_t* op) {
  if (ir_op_dialect(op) != IR_DIALECT_GRAPH) return NULL;
  return functions[op->info->code - IR_CODE(IR_DIALECT_GRAPH, 0)];
}

static bool has_size_of_type(eval_op_t* o, uint32_t i) {
  const ir_type_t* type = o->op->results[i].type;
  for (int32_t d = 0; ir_type_is_tensor(type) && d < type->rank && d < o->out[i].rank; ++d) {
    if (type->dims[d] == IR_DYNAMIC || type->dims[d] == o->out[i].dims[d]) continue;
    return eval_error(o, "the result must have the size of its type: %lld and %lld", (long long)o->out[i].dims[d],
                      (long long)type->dims[d]);
  }
  return true;
}

// Values of the block at work are kept in ir_value_t.data.
static bool eval_op(evaluator_t* e, ir_op_t* op) {
  eval_op_t o = {.e = e, .op = op};
  eval_fn_t function = find_function(op);
  if (!function) return eval_error(&o, "no such op is known");
  o.in = ARENA_ARRAY(e->arena, tensor_t, op->operand_count + 1);
  o.out = ARENA_ARRAY(e->arena, tensor_t, op->result_count + 1);
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const tensor_t* value = ir_operand(op, i)->data;
    if (!value) return eval_error(&o, "operand %u has no value", i);
    o.in[i] = *value;
  }
  if (!function(&o)) return false;
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (!has_size_of_type(&o, i)) return false;
    op->results[i].data = &o.out[i];
  }
  return true;
}

bool eval_block(evaluator_t* e, ir_block_t* block, tensors_t args, tensors_t results) {
  eval_op_t o = {.e = e, .op = block->parent->parent};
  if (args.count != block->arg_count) return eval_error(&o, "its block has %u arguments", block->arg_count);
  if (++e->depth > MAX_DEPTH) return eval_error(&o, "it nests too deep");
  for (uint32_t i = 0; i < args.count; ++i)
    block->args[i]->data = arena_copy(e->arena, &args.items[i], sizeof(tensor_t));
  IR_FOR_OPS(op, block) {
    if (!ir_has_trait(op, IR_TRAIT_TERMINATOR) && op != block->last) {
      if (!eval_op(e, op)) return false;
      continue;
    }
    if (op->operand_count != results.count) return eval_error(&o, "it yields %u values", op->operand_count);
    for (uint32_t i = 0; i < results.count; ++i) {
      const tensor_t* value = ir_operand(op, i)->data;
      if (!value) return eval_error(&o, "a yielded value is missing");
      results.items[i] = *value;
    }
  }
  --e->depth;
  return true;
}

static bool eval_region(eval_op_t* o, uint32_t region, tensors_t args, tensors_t results) {
  ir_block_t* block = region < o->op->region_count ? o->op->regions[region].first : NULL;
  if (!block || !block->last) return eval_error(o, "a region is empty");
  return eval_block(o->e, block, args, results);
}

bool graph_evaluate(ir_context_t* ctx, ir_op_t* func, const ir_attr_t* const* inputs, const ir_attr_t** outputs) {
  arena_t arena;
  arena_init(&arena);
  evaluator_t e = {.ctx = ctx, .arena = &arena, .module = ir_op_parent(func)};
  eval_op_t o = {.e = &e, .op = func};
  ir_block_t* body = func->region_count ? func->regions[0].first : NULL;
  bool done = (body && body->last) || eval_error(&o, "it has no body");
  uint32_t count = done ? body->arg_count : 0, result_count = done ? body->last->operand_count : 0;
  tensor_t* args = ARENA_ARRAY(&arena, tensor_t, count + 1);
  tensor_t* results = ARENA_ARRAY(&arena, tensor_t, result_count + 1);
  for (uint32_t i = 0; done && i < count; ++i) done = tensor_from_attr(&o, inputs[i], &args[i]);
  done = done && eval_block(&e, body, (tensors_t){args, count}, (tensors_t){results, result_count});
  for (uint32_t i = 0; done && i < result_count; ++i) outputs[i] = tensor_to_attr(ctx, &results[i]);
  arena_finish(&arena);
  return done;
}

bool graph_evaluate_op(ir_context_t* ctx, ir_op_t* op, const ir_attr_t* const* inputs, const ir_attr_t** outputs) {
  eval_fn_t function = find_function(op);
  if (!function || op->region_count) return false;
  arena_t arena;
  arena_init(&arena);
  evaluator_t e = {.ctx = ctx, .arena = &arena, .quiet = true};
  eval_op_t o = {.e = &e, .op = op};
  o.in = ARENA_ARRAY(&arena, tensor_t, op->operand_count + 1);
  o.out = ARENA_ARRAY(&arena, tensor_t, op->result_count + 1);
  bool done = true;
  for (uint32_t i = 0; done && i < op->operand_count; ++i) done = tensor_from_attr(&o, inputs[i], &o.in[i]);
  done = done && function(&o);
  for (uint32_t i = 0; done && i < op->result_count; ++i) outputs[i] = tensor_to_attr(ctx, &o.out[i]);
  arena_finish(&arena);
  return done;
}

//===----------------------------------------------------------------------------------------------------------------===
// Control flow and structure
//===----------------------------------------------------------------------------------------------------------------===

bool eval_constant(eval_op_t* o) {
  const ir_attr_t* value = graph_get_value(o->op);
  return value ? tensor_from_attr(o, value, &o->out[0]) : eval_error(o, "it has no value");
}

bool eval_if(eval_op_t* o) {
  uint32_t region = tensor_integer(&o->in[0], 0) ? 0 : 1;
  return eval_region(o, region, (tensors_t){0}, (tensors_t){o->out, o->op->result_count});
}

bool eval_while(eval_op_t* o) {
  uint32_t count = o->op->operand_count;
  if (count != o->op->result_count) return eval_error(o, "it has %u results for %u values", o->op->result_count, count);
  tensor_t* values = ARENA_ARRAY(o->e->arena, tensor_t, count + 1);
  memcpy(values, o->in, sizeof(*values) * count);
  for (;;) {
    tensor_t go;
    if (!eval_region(o, 0, (tensors_t){values, count}, (tensors_t){&go, 1})) return false;
    if (!tensor_integer(&go, 0)) break;
    if (!eval_region(o, 1, (tensors_t){values, count}, (tensors_t){o->out, count})) return false;
    memcpy(values, o->out, sizeof(*values) * count);
  }
  memcpy(o->out, values, sizeof(*values) * count);
  return true;
}

bool eval_call(eval_op_t* o) {
  ir_op_t* func = o->e->module ? ir_symbol_lookup(o->e->module, graph_get_callee(o->op)) : NULL;
  ir_block_t* body = func && func->region_count ? func->regions[0].first : NULL;
  if (!body) return eval_error(o, "the callee is not defined here");
  return eval_block(o->e, body, (tensors_t){o->in, o->op->operand_count}, (tensors_t){o->out, o->op->result_count});
}

bool eval_global_load(eval_op_t* o) {
  ir_op_t* global = o->e->module ? ir_symbol_lookup(o->e->module, graph_get_global(o->op)) : NULL;
  const ir_attr_t* value = global ? graph_get_value(global) : NULL;
  return value ? tensor_from_attr(o, value, &o->out[0]) : eval_error(o, "the global has no value here");
}

bool eval_dispatch(eval_op_t* o) {
  return eval_region(o, 0, (tensors_t){o->in, o->op->operand_count}, (tensors_t){o->out, o->op->result_count});
}

bool eval_assert(eval_op_t* o) {
  const char* message = graph_get_message(o->op);
  if (tensor_integer(&o->in[0], 0)) return true;
  return eval_error(o, "assertion failed: %s", message);
}

bool eval_same(eval_op_t* o) {
  memcpy(o->out, o->in, sizeof(*o->in) * o->op->result_count);
  return true;
}

// What has no value by itself.
bool eval_none(eval_op_t* o) { return eval_error(o, "the evaluator does not run it"); }
