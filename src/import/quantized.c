// See quantized.h. An op that computes is taken as one on numbers:
//
//   %2 = stablehlo.add %0, %1 : tensor<4x!quant.uniform<i8:f32, 0.5>>
// becomes
//   %a = (f32(%0) - 0) * 0.5, %b likewise, %c = stablehlo.add %a, %b : tensor<4xf32>, %2 = i8(round(clamp(%c / 0.5)))
#include "import/quantized.h"

#include <stdlib.h>
#include <string.h>

#include "dialects/stablehlo.h"

enum { MAX_DEPTH = 64 };

bool quantized_is(const ir_type_t* type) {
  const ir_type_t* scalar = ir_type_scalar(type);
  return scalar && scalar->kind == IR_TYPE_OPAQUE && strcmp(scalar->name, "quant.uniform") == 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// Types
//===----------------------------------------------------------------------------------------------------------------===

// i8, u8, i8<-127:127>
static bool read_storage(ir_context_t* ctx, const char** at, quantized_t* out) {
  char sign = **at, *end;
  if (sign != 'i' && sign != 'u') return false;
  long width = strtol(*at + 1, &end, 10);
  if (end == *at + 1 || width < 2 || width > 32) return false;
  out->is_unsigned = sign == 'u';
  out->storage = ir_type_int(ctx, (uint32_t)width);
  out->low = out->is_unsigned ? 0 : -((int64_t)1 << (width - 1));
  out->high = out->is_unsigned ? ((int64_t)1 << width) - 1 : ((int64_t)1 << (width - 1)) - 1;
  *at = end;
  if (*end != '<') return true;
  out->low = strtoll(end + 1, &end, 10);
  if (*end != ':') return false;
  out->high = strtoll(end + 1, &end, 10);
  *at = end + 1;
  return *end == '>' && out->low <= out->high;
}

static bool read_expressed(ir_context_t* ctx, const char** at, quantized_t* out) {
  static const struct {
    const char* name;
    ir_float_kind_t kind;
  } names[] = {{"f16", IR_F16}, {"bf16", IR_BF16}, {"f32", IR_F32}, {"f64", IR_F64}};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    size_t size = strlen(names[i].name);
    if (strncmp(*at, names[i].name, size)) continue;
    out->expressed = ir_type_float(ctx, names[i].kind);
    *at += size;
    return true;
  }
  return false;
}

// 0.5:3 or 0.5
static bool read_scale(const char** at, double* scale, int64_t* zero) {
  char* end;
  *at += strspn(*at, " ");
  *scale = strtod(*at, &end);
  if (end == *at || !(*scale > 0)) return false;
  *at = end;
  *zero = 0;
  if (*end != ':') return true;
  *zero = strtoll(end + 1, &end, 10);
  bool any = end != *at + 1;
  *at = end;
  return any;
}

typedef struct scales_t {
  quantized_t* q;
  double* scales;
  int64_t* zeros;
} scales_t;

// 0.5:3, or {..., ...} of such, all as deep and long as each other.
static bool read_scales(const char** at, scales_t* s, int32_t depth) {
  quantized_t* q = s->q;
  *at += strspn(*at, " ");
  if (**at != '{') {
    if (q->rank < 0) q->rank = depth;
    if (q->rank != depth || !read_scale(at, &s->scales[q->count], &s->zeros[q->count])) return false;
    ++q->count;
    return true;
  }
  if (depth >= GRAPH_MAX_RANK) return false;
  int64_t members = 0;
  do {
    ++*at;
    if (!read_scales(at, s, depth + 1)) return false;
    ++members;
    *at += strspn(*at, " ");
  } while (**at == ',');
  if (*(*at)++ != '}' || (q->counts[depth] && q->counts[depth] != members)) return false;
  q->counts[depth] = members;
  return true;
}

// {0:2, 1:1}: sizes of blocks by dimension
static bool read_blocks(const char** at, quantized_t* out) {
  char* end;
  out->blocked = true;
  do {
    long dim = strtol(*at + 1, &end, 10);
    if (end == *at + 1 || *end != ':' || dim < 0 || dim >= GRAPH_MAX_RANK || out->blocks[dim]) return false;
    *at = end + 1;
    out->blocks[dim] = strtoll(*at, &end, 10);
    if (end == *at || out->blocks[dim] < 1) return false;
    *at = end;
  } while (**at == ',');
  return *(*at)++ == '}';
}

// Where the scales are: nothing, :1, or blocks.
static bool read_axis(const char** at, quantized_t* out) {
  char* end;
  if (**at != ':') return true;
  if (*++*at == '{') return read_blocks(at, out);
  out->axis = (int32_t)strtol(*at, &end, 10);
  bool any = end != *at && out->axis >= 0;
  *at = end;
  return any;
}

bool quantized_read(ir_context_t* ctx, const ir_type_t* scalar, quantized_t* out) {
  const char* at = quantized_is(scalar) && scalar->body ? scalar->body : "";
  *out = (quantized_t){.axis = -1, .rank = -1};
  if (!read_storage(ctx, &at, out) || *at++ != ':' || !read_expressed(ctx, &at, out)) return false;
  if (!read_axis(&at, out) || *at++ != ',') return false;
  uint32_t capacity = 1;
  for (const char* c = at; *c; ++c) capacity += *c == ',';
  double* scales = ARENA_ARRAY(ir_context_arena(ctx), double, capacity);
  int64_t* zeros = ARENA_ARRAY(ir_context_arena(ctx), int64_t, capacity);
  scales_t list = {out, scales, zeros};
  out->scales = scales;
  out->zeros = zeros;
  if (!read_scales(&at, &list, 0) || *at) return false;
  return out->blocked ? out->rank > 0 : out->rank == (out->axis >= 0);
}

const ir_type_t* quantized_storage(ir_context_t* ctx, const ir_type_t* scalar) {
  quantized_t q;
  return quantized_is(scalar) && quantized_read(ctx, scalar, &q) ? q.storage : NULL;
}

const ir_type_t* quantized_outside(ir_context_t* ctx, const ir_type_t* type) {
  quantized_t q;
  if (!quantized_is(type) || !quantized_read(ctx, ir_type_scalar(type), &q)) return type;
  const ir_type_t* integer = q.is_unsigned ? ir_type_integer(ctx, q.storage->width, IR_UNSIGNED) : q.storage;
  return ir_type_is_shaped(type) ? ir_type_with_element(ctx, type, integer) : integer;
}

//===----------------------------------------------------------------------------------------------------------------===
// Numbers
//===----------------------------------------------------------------------------------------------------------------===

static double scale_of(const quantized_t* q, uint32_t i) { return q->scales[i]; }
static double zero_of(const quantized_t* q, uint32_t i) { return (double)q->zeros[i]; }

// Which block of a dimension of x each place is in.
static ir_value_t* block_numbers(ir_builder_t* b, ir_value_t* x, int32_t dim, int64_t block) {
  ir_value_t* size = graph_dim(b, x, (uint32_t)dim);
  const ir_type_t* line = ir_type_tensor(b->ctx, ir_type_int(b->ctx, 64), 1, &x->type->dims[dim]);
  ir_value_t* places = graph_iota(b, line, 0, &size);
  return graph_binary(b, SCALAR_div, places, graph_splat_like(b, places, (double)block));
}

// The scales or zeros with the shape of x.
static ir_value_t* spread(ir_builder_t* b, ir_value_t* x, const quantized_t* q,
                          double (*of)(const quantized_t*, uint32_t)) {
  if (q->rank == 0) return graph_splat_like(b, x, of(q, 0));
  uint32_t size = ir_type_bytes(q->expressed);
  unsigned char* data = arena_alloc(ir_context_arena(b->ctx), (size_t)q->count * size);
  for (uint32_t i = 0; i < q->count; ++i) ir_scalar_store_number(q->expressed, of(q, i), data + (size_t)i * size);
  int64_t at[GRAPH_MAX_RANK] = {q->axis};
  const ir_type_t* list = ir_type_tensor(b->ctx, q->expressed, q->rank, q->counts);
  ir_value_t* values = graph_constant(b, ir_attr_elements(b->ctx, list, data, (size_t)q->count * size));
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  for (int32_t d = 0; q->blocked && d < q->rank; ++d) {
    at[d] = d;
    if (q->counts[d] > 1) values = graph_take(b, values, block_numbers(b, x, d, q->blocks[d]), d, false);
  }
  lower_dynamic_dims(b, x, x->type, dynamic);
  return graph_broadcast(b, values, x->type, at, dynamic);
}

ir_value_t* quantized_to_numbers(ir_builder_t* b, ir_value_t* x, const quantized_t* q) {
  x = graph_cast(b, x, q->expressed, q->is_unsigned);
  x = graph_binary(b, SCALAR_sub, x, spread(b, x, q, zero_of));
  return graph_binary(b, SCALAR_mul, x, spread(b, x, q, scale_of));
}

ir_value_t* quantized_from_numbers(ir_builder_t* b, ir_value_t* x, const quantized_t* q) {
  x = graph_binary(b, SCALAR_div, x, spread(b, x, q, scale_of));
  x = graph_binary(b, SCALAR_add, x, spread(b, x, q, zero_of));
  x = graph_binary(b, SCALAR_max, x, graph_splat_like(b, x, (double)q->low));
  x = graph_binary(b, SCALAR_min, x, graph_splat_like(b, x, (double)q->high));
  return graph_cast(b, graph_unary(b, SCALAR_roundeven, x), q->storage, q->is_unsigned);
}

//===----------------------------------------------------------------------------------------------------------------===
// Ops
//===----------------------------------------------------------------------------------------------------------------===

// One scale for all that the op has, or none that any element could change.
static bool is_one_type(const ir_op_t* op) {
  const ir_type_t* only = NULL;
  for (uint32_t i = 0; i < op->operand_count + op->result_count; ++i) {
    const ir_type_t* type = i < op->operand_count ? ir_operand(op, i)->type : op->results[i - op->operand_count].type;
    if (!quantized_is(type)) continue;
    const ir_type_t* scalar = ir_type_scalar(type);
    bool axis = strchr(scalar->body ? scalar->body : "", '{') != NULL;
    if (only && only != scalar && !axis) return false;
    only = scalar;
  }
  return true;
}

bool quantized_is_computed(const ir_op_t* op) {
  static const uint32_t held[] = {STABLEHLO_CONSTANT,
                                  STABLEHLO_BITCAST_CONVERT,
                                  STABLEHLO_IF,
                                  STABLEHLO_CASE,
                                  STABLEHLO_WHILE,
                                  STABLEHLO_CUSTOM_CALL,
                                  STABLEHLO_COMPOSITE,
                                  STABLEHLO_OPTIMIZATION_BARRIER,
                                  STABLEHLO_TUPLE,
                                  STABLEHLO_GET_TUPLE_ELEMENT,
                                  STABLEHLO_GET_DIMENSION_SIZE,
                                  STABLEHLO_UNIFORM_QUANTIZE,
                                  STABLEHLO_UNIFORM_DEQUANTIZE};
  bool any = false;
  for (uint32_t i = 0; i < op->operand_count && !any; ++i) any = quantized_is(ir_operand(op, i)->type);
  for (uint32_t i = 0; i < op->result_count && !any; ++i) any = quantized_is(op->results[i].type);
  if (!any || (ir_op_dialect(op) != IR_DIALECT_STABLEHLO && ir_op_dialect(op) != IR_DIALECT_CHLO)) return false;
  for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); ++i) {
    if (ir_code(op) == held[i]) return false;
  }
  return !(op->info->traits & IR_TRAIT_INDEX_MAP) || !is_one_type(op);
}

static const ir_type_t* numbers_type(ir_context_t* ctx, const ir_type_t* type) {
  quantized_t q;
  if (!quantized_is(type) || !quantized_read(ctx, ir_type_scalar(type), &q)) return type;
  return ir_type_is_shaped(type) ? ir_type_with_element(ctx, type, q.expressed) : q.expressed;
}

// Regions compute on numbers throughout.
static void forget_types(ir_context_t* ctx, ir_op_t* op, int depth) {
  for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].type = numbers_type(ctx, op->results[i].type);
  for (uint32_t r = 0; r < op->region_count && depth < MAX_DEPTH; ++r) {
    IR_FOR_BLOCKS(block, &op->regions[r]) {
      for (uint32_t i = 0; i < block->arg_count; ++i) {
        block->args[i]->type = numbers_type(ctx, block->args[i]->type);
      }
      IR_FOR_OPS(inner, block) forget_types(ctx, inner, depth + 1);
    }
  }
}

// Whether the scales are those of a tensor of that type.
static bool scales_fit(const quantized_t* q, const ir_type_t* type) {
  if (q->rank == 0) return true;
  if (!ir_type_is_tensor(type) || (q->blocked ? q->rank != type->rank : q->axis >= type->rank)) return false;
  for (int32_t d = 0; d < type->rank; ++d) {
    int64_t size = type->dims[d], block = q->blocks[d] ? q->blocks[d] : size;
    if (size == IR_DYNAMIC) continue;
    if (!q->blocked && d == q->axis && size != q->count) return false;
    if (q->blocked && (size % (block ? block : 1) || q->counts[d] * block != size)) return false;
  }
  return true;
}

static bool read_type(lowering_t* l, const ir_op_t* op, const ir_type_t* type, quantized_t* q) {
  bool fits = quantized_read(l->ctx, ir_type_scalar(type), q) && scales_fit(q, type);
  return fits || ir_op_error(l->ctx, op,
                             "has elements of type %s; one scale, or one for each place along a dimension or for "
                             "each block, is supported",
                             ir_type_str(l->ctx, ir_type_scalar(type)));
}

bool quantized_lower(lowering_t* l, ir_op_t* op) {
  ir_context_t* ctx = l->ctx;
  ir_value_map_t* map = ir_value_map_create(ctx);
  ir_block_t* stage = ir_block_create(ctx);
  quantized_t q;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    ir_value_t* operand = ir_operand(op, i);
    lower_value_t value = lower_get(operand);
    if (quantized_is(operand->type)) {
      if (!read_type(l, op, operand->type, &q)) return false;
      if (!value.v) return ir_op_error(ctx, op, "operand %u has no value", i);
      value.v = quantized_to_numbers(&l->b, value.v, &q);
    }
    ir_value_t* number = ir_block_add_arg(ctx, stage, numbers_type(ctx, operand->type));
    lower_set(l, number, value);
    ir_value_map_set(map, operand, number);
  }
  ir_op_t* copy = ir_op_clone(ctx, op, map);
  ir_block_append(stage, copy);
  forget_types(ctx, copy, 0);
  bool ok = lower_one(l, copy);
  for (uint32_t i = 0; ok && i < op->result_count; ++i) {
    lower_value_t value = lower_get(&copy->results[i]);
    const ir_type_t* type = op->results[i].type;
    if (quantized_is(type)) {
      if (!read_type(l, op, type, &q)) return false;
      value.v = quantized_from_numbers(&l->b, value.v, &q);
    }
    lower_set(l, &op->results[i], value);
  }
  return ok;
}

// From numbers, from other scales, or to numbers: whatever the two types are.
bool quantized_convert(lower_op_t* n) {
  const ir_type_t *from = lower_in_type(n, 0), *to = lower_out_type(n, 0);
  ir_value_t* x = n->in[0];
  quantized_t q;
  if (quantized_is(from)) {
    if (!read_type(n->l, n->op, from, &q)) return false;
    x = quantized_to_numbers(n->b, x, &q);
  }
  if (!ir_type_is_float(ir_type_scalar(x->type))) return lower_unsupported(n, "floats and quantised numbers are");
  if (!quantized_is(to)) return lower_return(n, x);
  if (!read_type(n->l, n->op, to, &q)) return false;
  if (q.expressed != ir_type_scalar(x->type)) x = graph_cast(n->b, x, q.expressed, false);
  return lower_return(n, quantized_from_numbers(n->b, x, &q));
}
