// The kernel dialect: its op table (scalar.def's rows, then kernel.def's) and the builders. Builders fold what they can
// see at once, so that strategies may write index arithmetic plainly and still leave short code:
//
//   kernel_add(x, kernel_index(0))                  -> x
//   kernel_mul_const(kernel_mul_const(x, 4), 16)    -> x * 64
#include "dialects/kernel.h"

#include <assert.h>
#include <string.h>

#include "dialects/kernel_assembly.h"
#include "dialects/kernel_verify.h"
#include "dialects/table.h"

// How scalar functions are written, by result and arity; the ternary ones differ.
#define FORMAT_1_SAME(name) F("%0 {} : T")
#define FORMAT_1_BOOL(name) F("%0 {} : T0 =T0.i1")
#define FORMAT_1_ANY(name) F("%0 {} : T0 'to' R0")
#define FORMAT_2_SAME(name) F("%0 , %1 {} : T")
#define FORMAT_2_BOOL(name) F("%0 , %1 {} : T0 ~T0 =T0.i1")
#define FORMAT_3_SAME(name) FORMAT_##name
#define FORMAT_select F("%0 , %1 , %2 {} : SELECT")
#define FORMAT_fma F("%0 , %1 , %2 {} : T")
#define FORMAT_dot_bytes FORMAT_fma

static const ir_op_info_t kernel_ops[] = {
#define SCALAR(name, arity, types, result, traits, ...) \
  {"kernel." #name,                                     \
   KERNEL_##name,                                       \
   arity,                                               \
   1,                                                   \
   0,                                                   \
   PURE | ELEM | (traits),                              \
   kernel_verify_op,                                    \
   FORMAT_##arity##_##result(name)},
#include "base/scalar.def"
#undef SCALAR
#define OP(NAME, name, operands, results, regions, traits, ...) \
  {"kernel." #name, KERNEL_##NAME, operands, results, regions, traits, kernel_verify_op, __VA_ARGS__},
#include "dialects/kernel.def"
#undef OP
};

const ir_dialect_t kernel_dialect = {IR_DIALECT_KERNEL, "kernel", kernel_ops, sizeof(kernel_ops) / sizeof(*kernel_ops)};

void kernel_register(ir_context_t* ctx) { ir_context_register(ctx, &kernel_dialect); }

static uint32_t scalar_code(scalar_fn_t fn) { return IR_CODE(IR_DIALECT_KERNEL, 0) + (uint32_t)fn; }

static ir_value_t* build_attrs(ir_builder_t* b, uint32_t code, ir_value_t* const* operands, uint32_t count,
                               const ir_type_t* type, ir_named_attr_t attr) {
  ir_op_state_t state = {.info = ir_context_op(b->ctx, code),
                         .operands = operands,
                         .operand_count = count,
                         .result_types = &type,
                         .result_count = 1,
                         .attrs = &attr,
                         .attr_count = attr.value != NULL};
  return ir_result(ir_build(b, &state), 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Types and constants
//===----------------------------------------------------------------------------------------------------------------===

int64_t kernel_lanes(const ir_value_t* value) {
  return value->type->kind == IR_TYPE_VECTOR ? ir_type_count(value->type) : 1;
}

const ir_type_t* kernel_vector_type(ir_context_t* ctx, const ir_type_t* scalar, int64_t lanes) {
  assert(lanes >= 1);
  return lanes == 1 ? scalar : ir_type_vector(ctx, scalar, 1, &lanes);
}

static const ir_type_t* same_lanes(ir_context_t* ctx, const ir_value_t* like, const ir_type_t* scalar) {
  return like->type->kind == IR_TYPE_VECTOR ? ir_type_vector(ctx, scalar, 1, like->type->dims) : scalar;
}

static ir_value_t* build_constant(ir_builder_t* b, const ir_type_t* type, const ir_attr_t* value) {
  return build_attrs(b, KERNEL_CONSTANT, NULL, 0, type, (ir_named_attr_t){"value", value});
}

ir_value_t* kernel_integer(ir_builder_t* b, const ir_type_t* type, int64_t value) {
  return build_constant(b, type, ir_attr_integer(b->ctx, ir_type_scalar(type), value));
}

ir_value_t* kernel_number(ir_builder_t* b, const ir_type_t* type, double value) {
  const ir_type_t* scalar = ir_type_scalar(type);
  if (scalar->kind != IR_TYPE_FLOAT) return kernel_integer(b, type, (int64_t)value);
  return build_constant(b, type, ir_attr_float(b->ctx, scalar, scalar_fit(scalar, (scalar_value_t){.f = value}).f));
}

ir_value_t* kernel_index(ir_builder_t* b, int64_t value) { return kernel_integer(b, ir_type_index(b->ctx), value); }

// The number that `value` is in every lane.
static bool constant_value(const ir_value_t* value, scalar_value_t* out) {
  if (!ir_is(value->def, KERNEL_CONSTANT)) return false;
  const ir_attr_t* attr = ir_op_attr(value->def, "value");
  if (!attr || (attr->kind != IR_ATTR_INTEGER && attr->kind != IR_ATTR_FLOAT)) return false;
  *out = (scalar_value_t){.f = attr->number, .i = attr->integer};
  const ir_type_t* scalar = ir_type_scalar(value->type);
  if (scalar->kind == IR_TYPE_INTEGER) *out = scalar_fit(scalar, *out);
  return true;
}

static ir_value_t* constant_from(ir_builder_t* b, const ir_type_t* type, scalar_value_t value) {
  bool is_float = ir_type_scalar(type)->kind == IR_TYPE_FLOAT;
  return is_float ? kernel_number(b, type, value.f) : kernel_integer(b, type, value.i);
}

bool kernel_constant_index(const ir_value_t* value, int64_t* out) {
  scalar_value_t scalar;
  if (ir_type_scalar(value->type)->kind == IR_TYPE_FLOAT || !constant_value(value, &scalar)) return false;
  *out = scalar.i;
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Scalar functions
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* fold_constants(ir_builder_t* b, scalar_fn_t fn, ir_value_t* const* x, const ir_type_t* type) {
  scalar_value_t in[3] = {{0}};
  for (uint32_t i = 0; i < scalar_info[fn].arity; ++i) {
    if (!constant_value(x[i], &in[i])) return NULL;
  }
  const ir_type_t* operand = ir_type_scalar(x[fn == SCALAR_select ? 1 : 0]->type);
  return constant_from(b, type, scalar_eval(fn, in, operand, ir_type_scalar(type)));
}

static bool is_number(const ir_value_t* value, double number) {
  scalar_value_t constant;
  if (!constant_value(value, &constant)) return false;
  bool is_float = ir_type_scalar(value->type)->kind == IR_TYPE_FLOAT;
  return is_float ? constant.f == number : constant.i == (int64_t)number;
}

// x fn c where the constant changes nothing or decides all.
static ir_value_t* fold_identity(ir_builder_t* b, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  bool is_integer = ir_type_scalar(x->type)->kind != IR_TYPE_FLOAT;
  switch (fn) {
    case SCALAR_add:
    case SCALAR_sub:
    case SCALAR_or:
    case SCALAR_xor:
    case SCALAR_shl:
    case SCALAR_shr:
    case SCALAR_shru:
      return is_integer && is_number(y, 0) ? x : NULL;
    case SCALAR_mul:
      if (is_integer && is_number(y, 0)) return y;
      return is_number(y, 1) ? x : NULL;
    case SCALAR_div:
    case SCALAR_divu:
      return is_number(y, 1) ? x : NULL;
    case SCALAR_rem:
    case SCALAR_remu:
      return is_integer && is_number(y, 1) ? kernel_integer(b, x->type, 0) : NULL;
    case SCALAR_and:
      return is_number(y, 0) ? y : NULL;
    default:
      return NULL;
  }
}

// (x fn c1) fn c2 -> x fn (c1 fn c2) on integers.
static ir_value_t* fold_chain(ir_builder_t* b, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  if ((fn != SCALAR_add && fn != SCALAR_mul) || ir_type_scalar(x->type)->kind == IR_TYPE_FLOAT) return NULL;
  scalar_value_t constant;
  if (!ir_is(x->def, scalar_code(fn)) || !constant_value(y, &constant)) return NULL;
  ir_value_t* inner = ir_operand(x->def, 1);
  if (!constant_value(inner, &constant)) return NULL;
  return kernel_binary(b, fn, ir_operand(x->def, 0), kernel_binary(b, fn, inner, y));
}

ir_value_t* kernel_unary(ir_builder_t* b, scalar_fn_t fn, ir_value_t* x) {
  const scalar_info_t* info = &scalar_info[fn];
  assert(info->arity == 1 && info->result != SCALAR_RESULT_ANY);
  const ir_type_t* type = info->result == SCALAR_RESULT_BOOL ? same_lanes(b->ctx, x, ir_type_int(b->ctx, 1)) : x->type;
  ir_value_t* folded = fold_constants(b, fn, &x, type);
  return folded ? folded : ir_build_value(b, scalar_code(fn), &x, 1, type);
}

ir_value_t* kernel_binary(ir_builder_t* b, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  const scalar_info_t* info = &scalar_info[fn];
  assert(info->arity == 2 && x->type == y->type);
  const ir_type_t* type = info->result == SCALAR_RESULT_BOOL ? same_lanes(b->ctx, x, ir_type_int(b->ctx, 1)) : x->type;
  ir_value_t* operands[] = {x, y};
  ir_value_t* folded = fold_constants(b, fn, operands, type);
  if (folded) return folded;
  scalar_value_t constant;
  if (info->commutative && constant_value(x, &constant)) {
    operands[0] = y;
    operands[1] = x;
  }
  folded = fold_identity(b, fn, operands[0], operands[1]);
  if (!folded) folded = fold_chain(b, fn, operands[0], operands[1]);
  return folded ? folded : ir_build_value(b, scalar_code(fn), operands, 2, type);
}

ir_value_t* kernel_ternary(ir_builder_t* b, scalar_fn_t fn, ir_value_t* x, ir_value_t* y, ir_value_t* z) {
  assert(scalar_info[fn].arity == 3 && y->type == z->type && (fn == SCALAR_select || x->type == y->type));
  ir_value_t* operands[] = {x, y, z};
  scalar_value_t condition;
  if (fn == SCALAR_select && y == z) return y;
  if (fn == SCALAR_select && constant_value(x, &condition)) return condition.i ? y : z;
  ir_value_t* folded = fold_constants(b, fn, operands, y->type);
  return folded ? folded : ir_build_value(b, scalar_code(fn), operands, 3, y->type);
}

ir_value_t* kernel_cast(ir_builder_t* b, scalar_fn_t cast, ir_value_t* x, const ir_type_t* scalar) {
  assert(scalar_info[cast].result == SCALAR_RESULT_ANY);
  const ir_type_t* type = same_lanes(b->ctx, x, scalar);
  if (type == x->type) return x;
  ir_value_t* folded = fold_constants(b, cast, &x, type);
  return folded ? folded : ir_build_value(b, scalar_code(cast), &x, 1, type);
}

ir_value_t* kernel_add(ir_builder_t* b, ir_value_t* x, ir_value_t* y) { return kernel_binary(b, SCALAR_add, x, y); }
ir_value_t* kernel_mul(ir_builder_t* b, ir_value_t* x, ir_value_t* y) { return kernel_binary(b, SCALAR_mul, x, y); }
ir_value_t* kernel_multiply_add(ir_builder_t* b, ir_value_t* x, ir_value_t* y, ir_value_t* sum) {
  if (ir_type_scalar(sum->type)->kind == IR_TYPE_FLOAT) return kernel_ternary(b, SCALAR_fma, x, y, sum);
  return kernel_add(b, sum, kernel_mul(b, x, y));
}
ir_value_t* kernel_add_const(ir_builder_t* b, ir_value_t* x, int64_t y) {
  return y == 0 ? x : kernel_add(b, x, kernel_integer(b, x->type, y));
}
ir_value_t* kernel_mul_const(ir_builder_t* b, ir_value_t* x, int64_t y) {
  return y == 1 ? x : kernel_mul(b, x, kernel_integer(b, x->type, y));
}

//===----------------------------------------------------------------------------------------------------------------===
// Vectors
//===----------------------------------------------------------------------------------------------------------------===

ir_value_t* kernel_splat(ir_builder_t* b, ir_value_t* x, int64_t lanes) {
  if (lanes == 1) return x;
  if (x->type->kind == IR_TYPE_VECTOR) return x;
  const ir_type_t* type = kernel_vector_type(b->ctx, x->type, lanes);
  scalar_value_t constant;
  if (constant_value(x, &constant)) return constant_from(b, type, constant);
  return ir_build_value(b, KERNEL_SPLAT, &x, 1, type);
}

ir_value_t* kernel_extract(ir_builder_t* b, ir_value_t* v, int64_t index) {
  if (v->type->kind != IR_TYPE_VECTOR) return v;
  scalar_value_t constant;
  if (constant_value(v, &constant)) return constant_from(b, v->type->element, constant);
  if (ir_is(v->def, KERNEL_SPLAT)) return ir_operand(v->def, 0);
  assert(index >= 0 && index < kernel_lanes(v));
  return build_attrs(b, KERNEL_EXTRACT, &v, 1, v->type->element,
                     (ir_named_attr_t){"index", ir_attr_i64(b->ctx, index)});
}

ir_value_t* kernel_insert(ir_builder_t* b, ir_value_t* into, ir_value_t* value, int64_t index) {
  if (into->type->kind != IR_TYPE_VECTOR) return value;
  ir_value_t* operands[] = {value, into};
  return build_attrs(b, KERNEL_INSERT, operands, 2, into->type, (ir_named_attr_t){"index", ir_attr_i64(b->ctx, index)});
}

ir_value_t* kernel_shuffle(ir_builder_t* b, ir_value_t* x, ir_value_t* y, const int64_t* mask, uint32_t count) {
  assert(x->type == y->type && x->type->kind == IR_TYPE_VECTOR && count > 0);
  bool identity = count == kernel_lanes(x);
  for (uint32_t i = 0; i < count && identity; ++i) identity = mask[i] == i;
  if (identity) return x;
  ir_value_t* operands[] = {x, y};
  int64_t dim = count;
  return build_attrs(b, KERNEL_SHUFFLE, operands, 2, ir_type_vector(b->ctx, x->type->element, 1, &dim),
                     (ir_named_attr_t){"mask", ir_attr_i64_array(b->ctx, mask, count)});
}

ir_value_t* kernel_reduce(ir_builder_t* b, ir_value_t* v, const char* kind) {
  if (v->type->kind != IR_TYPE_VECTOR) return v;
  return build_attrs(b, KERNEL_REDUCE, &v, 1, v->type->element,
                     (ir_named_attr_t){"kind", ir_attr_cstring(b->ctx, kind)});
}

//===----------------------------------------------------------------------------------------------------------------===
// Memory
//===----------------------------------------------------------------------------------------------------------------===

ir_value_t* kernel_load(ir_builder_t* b, ir_value_t* memory, ir_value_t* offset, int64_t lanes) {
  ir_value_t* operands[] = {memory, offset};
  return ir_build_value(b, KERNEL_LOAD, operands, 2, kernel_vector_type(b->ctx, memory->type->element, lanes));
}

ir_op_t* kernel_store(ir_builder_t* b, ir_value_t* value, ir_value_t* memory, ir_value_t* offset) {
  ir_value_t* operands[] = {value, memory, offset};
  return ir_build_op(b, KERNEL_STORE, operands, 3, NULL);
}

void kernel_prefetch(ir_builder_t* b, ir_value_t* memory, ir_value_t* offset, int64_t locality, bool writes) {
  ir_value_t* operands[] = {memory, offset};
  ir_op_t* op = ir_build_op(b, KERNEL_PREFETCH, operands, 2, NULL);
  ir_op_set_attr(b->ctx, op, "locality", ir_attr_i64(b->ctx, locality));
  if (writes) ir_op_set_attr(b->ctx, op, "write", ir_attr_unit(b->ctx));
}

ir_value_t* kernel_load_masked(ir_builder_t* b, ir_value_t* memory, ir_value_t* offset, ir_value_t* mask,
                               ir_value_t* other) {
  ir_value_t* operands[] = {memory, offset, mask, other};
  return ir_build_value(b, KERNEL_LOAD, operands, 4, other->type);
}

ir_op_t* kernel_store_masked(ir_builder_t* b, ir_value_t* value, ir_value_t* memory, ir_value_t* offset,
                             ir_value_t* mask) {
  ir_value_t* operands[] = {value, memory, offset, mask};
  return ir_build_op(b, KERNEL_STORE, operands, 4, NULL);
}

ir_value_t* kernel_gather(ir_builder_t* b, ir_value_t* memory, ir_value_t* offsets, ir_value_t* mask,
                          ir_value_t* other) {
  ir_value_t* operands[] = {memory, offsets, mask, other};
  const ir_type_t* type = same_lanes(b->ctx, offsets, memory->type->element);
  return ir_build_value(b, KERNEL_GATHER, operands, mask ? 4 : 2, type);
}

static ir_block_t* function_entry(const ir_block_t* block) {
  const ir_op_t* op = block->parent->parent;
  while (!ir_is(op, KERNEL_FUNC)) op = ir_op_parent(op);
  return op->regions[0].first;
}

ir_value_t* kernel_load_tile(ir_builder_t* b, ir_value_t* memory, ir_value_t* offset, ir_value_t* stride) {
  const ir_type_t* element = memory->type->element;
  int64_t lanes = KERNEL_TILE_ROWS * KERNEL_TILE_ROW_BYTES / ir_type_bytes(element);
  ir_value_t* operands[] = {memory, offset, stride};
  return ir_build_value(b, KERNEL_LOAD_TILE, operands, 3, kernel_vector_type(b->ctx, element, lanes));
}

ir_op_t* kernel_store_tile(ir_builder_t* b, ir_value_t* tile, ir_value_t* memory, ir_value_t* offset,
                           ir_value_t* stride) {
  ir_value_t* operands[] = {tile, memory, offset, stride};
  return ir_build_op(b, KERNEL_STORE_TILE, operands, 4, NULL);
}

// Goes behind the function's other allocs, wherever the builder is.
ir_value_t* kernel_alloc(ir_builder_t* b, const ir_type_t* element, int64_t count, ir_space_t space) {
  assert(space == IR_SPACE_WORKGROUP || space == IR_SPACE_PRIVATE);
  ir_block_t* entry = function_entry(b->block);
  ir_op_t* before = entry->first;
  while (ir_is(before, KERNEL_ALLOC)) before = before->next;
  ir_builder_t at = {.ctx = b->ctx, .block = entry, .before = before, .loc = b->loc};
  return ir_build_value(&at, KERNEL_ALLOC, NULL, 0, ir_type_memref(b->ctx, element, 1, &count, NULL, space));
}

ir_value_t* kernel_id(ir_builder_t* b, uint32_t code, int64_t axis) {
  ir_named_attr_t attr = {"axis", code == KERNEL_SUBGROUP_LANE ? NULL : ir_attr_i64(b->ctx, axis)};
  return build_attrs(b, code, NULL, 0, ir_type_index(b->ctx), attr);
}

//===----------------------------------------------------------------------------------------------------------------===
// Control flow
//===----------------------------------------------------------------------------------------------------------------===

static void build_yield(ir_builder_t* b, ir_value_t* const* values, uint32_t count) {
  ir_build_op(b, KERNEL_YIELD, values, count, NULL);
}

static ir_builder_t enter_region(ir_builder_t* b, ir_op_t* op, uint32_t region) {
  ir_block_t* block = ir_block_create(b->ctx);
  ir_region_append(&op->regions[region], block);
  ir_builder_t inside = {.ctx = b->ctx, .block = block, .loc = b->loc};
  return inside;
}

// Continues at `outside`, keeping the location that the body last set.
static void leave_region(ir_builder_t* b, const ir_builder_t* outside) {
  const ir_loc_t* loc = b->loc;
  *b = *outside;
  b->loc = loc;
}

kernel_loop_t kernel_for_begin(ir_builder_t* b, ir_value_t* lower, ir_value_t* upper, ir_value_t* step,
                               ir_value_t* const* init, uint32_t init_count) {
  arena_t* arena = ir_context_arena(b->ctx);
  ir_value_t** operands = ARENA_ARRAY(arena, ir_value_t*, init_count + 3);
  const ir_type_t** types = ARENA_ARRAY(arena, const ir_type_t*, init_count + 1);
  operands[0] = lower;
  operands[1] = upper;
  operands[2] = step;
  for (uint32_t i = 0; i < init_count; ++i) {
    operands[3 + i] = init[i];
    types[i] = init[i]->type;
  }
  ir_op_state_t state = {.info = ir_context_op(b->ctx, KERNEL_FOR),
                         .operands = operands,
                         .operand_count = init_count + 3,
                         .result_types = types,
                         .result_count = init_count,
                         .region_count = 1};
  kernel_loop_t loop = {.op = ir_build(b, &state)};
  loop.outside = *b;
  *b = enter_region(b, loop.op, 0);
  loop.index = ir_block_add_arg(b->ctx, b->block, ir_type_index(b->ctx));
  for (uint32_t i = 0; i < init_count; ++i) ir_block_add_arg(b->ctx, b->block, types[i]);
  loop.iters = b->block->args + 1;
  return loop;
}

void kernel_for_end(ir_builder_t* b, kernel_loop_t* loop, ir_value_t* const* next, uint32_t count) {
  assert(count == loop->op->result_count);
  build_yield(b, next, count);
  leave_region(b, &loop->outside);
}

kernel_branch_t kernel_if_begin(ir_builder_t* b, ir_value_t* condition, const ir_type_t* const* types, uint32_t count) {
  ir_op_state_t state = {.info = ir_context_op(b->ctx, KERNEL_IF),
                         .operands = &condition,
                         .operand_count = 1,
                         .result_types = types,
                         .result_count = count,
                         .region_count = 2};
  kernel_branch_t branch = {.op = ir_build(b, &state)};
  branch.outside = *b;
  *b = enter_region(b, branch.op, 0);
  return branch;
}

void kernel_if_else(ir_builder_t* b, kernel_branch_t* branch, ir_value_t* const* values, uint32_t count) {
  assert(count == branch->op->result_count);
  build_yield(b, values, count);
  *b = enter_region(b, branch->op, 1);
}

void kernel_if_end(ir_builder_t* b, kernel_branch_t* branch, ir_value_t* const* values, uint32_t count) {
  assert(count == branch->op->result_count);
  build_yield(b, values, count);
  leave_region(b, &branch->outside);
}

static void enter_while(ir_builder_t* b, kernel_while_t* loop, uint32_t region) {
  *b = enter_region(b, loop->op, region);
  for (uint32_t i = 0; i < loop->op->result_count; ++i) ir_block_add_arg(b->ctx, b->block, loop->op->results[i].type);
  loop->values = b->block->args;
}

kernel_while_t kernel_while_begin(ir_builder_t* b, ir_value_t* const* init, uint32_t count) {
  const ir_type_t** types = ARENA_ARRAY(ir_context_arena(b->ctx), const ir_type_t*, count + 1);
  for (uint32_t i = 0; i < count; ++i) types[i] = init[i]->type;
  ir_op_state_t state = {.info = ir_context_op(b->ctx, KERNEL_WHILE),
                         .operands = init,
                         .operand_count = count,
                         .result_types = types,
                         .result_count = count,
                         .region_count = 2};
  kernel_while_t loop = {.op = ir_build(b, &state)};
  loop.outside = *b;
  enter_while(b, &loop, 0);
  return loop;
}

void kernel_while_do(ir_builder_t* b, kernel_while_t* loop, ir_value_t* condition) {
  uint32_t count = loop->op->result_count;
  ir_value_t** values = ARENA_ARRAY(ir_context_arena(b->ctx), ir_value_t*, count + 1);
  values[0] = condition;
  for (uint32_t i = 0; i < count; ++i) values[1 + i] = loop->values[i];
  build_yield(b, values, count + 1);
  *b = loop->outside;
  enter_while(b, loop, 1);
}

void kernel_while_end(ir_builder_t* b, kernel_while_t* loop, ir_value_t* const* next, uint32_t count) {
  assert(count == loop->op->result_count);
  build_yield(b, next, count);
  leave_region(b, &loop->outside);
}

//===----------------------------------------------------------------------------------------------------------------===
// Functions
//===----------------------------------------------------------------------------------------------------------------===

ir_op_t* kernel_func_begin(ir_context_t* ctx, ir_block_t* block, const ir_loc_t* loc, const kernel_signature_t* sig,
                           ir_builder_t* out_builder) {
  ir_named_attr_t attrs[4] = {
      {"sym_name", ir_attr_cstring(ctx, sig->name)},
      {"bindings", ir_attr_i64(ctx, sig->binding_count)},
      {"workgroup_size", ir_attr_i64_array(ctx, sig->workgroup_size, 3)},
  };
  uint32_t attr_count = 3;
  if (sig->subgroup_size)
    attrs[attr_count++] = (ir_named_attr_t){"subgroup_size", ir_attr_i64(ctx, sig->subgroup_size)};
  ir_op_state_t state = {
      .info = ir_context_op(ctx, KERNEL_FUNC), .loc = loc, .attrs = attrs, .attr_count = attr_count, .region_count = 1};
  ir_op_t* func = ir_op_create(ctx, &state);
  if (block) ir_block_append(block, func);
  ir_block_t* entry = ir_block_create(ctx);
  ir_region_append(&func->regions[0], entry);
  int64_t any = IR_DYNAMIC;
  for (uint32_t i = 0; i < sig->binding_count; ++i) {
    ir_block_add_arg(ctx, entry, ir_type_memref(ctx, sig->bindings[i], 1, &any, NULL, IR_SPACE_GLOBAL));
  }
  for (uint32_t i = 0; i < sig->constant_count; ++i) ir_block_add_arg(ctx, entry, sig->constants[i]);
  *out_builder = ir_builder_at_end(ctx, entry);
  if (loc) out_builder->loc = loc;
  return func;
}

void kernel_func_end(ir_builder_t* b) { ir_build_op(b, KERNEL_RETURN, NULL, 0, NULL); }

ir_value_t* kernel_func_arg(const ir_op_t* func, uint32_t i) { return func->regions[0].first->args[i]; }
