// Random kernels and their reference. See random_program.h.
#include "random_program.h"

#include <math.h>

#include "dialects/kernel_verify.h"

//===----------------------------------------------------------------------------------------------------------------===
// Making
//===----------------------------------------------------------------------------------------------------------------===

enum { MAX_POOL = 512, MAX_CHOICES = 24 };
typedef struct maker_t {
  fixture_t* f;
  ir_builder_t* b;
  uint64_t state;
  const ir_type_t* types[MAX_CHOICES];
  uint32_t type_count;
  ir_value_t* pool[MAX_POOL];
  uint32_t pool_count;
  ir_value_t* views[MAX_CHOICES];
  ir_value_t *thread, *global;
} maker_t;

static uint32_t roll(maker_t* m, uint32_t sides) {
  m->state = m->state * 6364136223846793005ull + 1442695040888963407ull;
  return (uint32_t)((m->state >> 33) % sides);
}

static void push(maker_t* m, ir_value_t* value) {
  if (m->pool_count < MAX_POOL) m->pool[m->pool_count++] = value;
}

static ir_value_t* pick(maker_t* m) { return m->pool[roll(m, m->pool_count)]; }
// A value of the type, the last ones first, or NULL.
static ir_value_t* pick_typed(maker_t* m, const ir_type_t* type) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    ir_value_t* value = pick(m);
    if (value->type == type) return value;
  }
  for (uint32_t i = m->pool_count; i-- > 0;) {
    if (m->pool[i]->type == type) return m->pool[i];
  }
  return NULL;
}

static const ir_type_t* random_type(maker_t* m) { return m->types[roll(m, m->type_count)]; }

static void add_scalar(maker_t* m) {
  scalar_fn_t fn = (scalar_fn_t)roll(m, SCALAR_COUNT);
  const scalar_info_t* info = &scalar_info[fn];
  ir_value_t* x = pick(m);
  const ir_type_t* scalar = ir_type_scalar(x->type);
  bool is_float = scalar->kind == IR_TYPE_FLOAT;
  if (info->result == SCALAR_RESULT_ANY) {
    const ir_type_t* to = random_type(m);
    if (fn == SCALAR_bitcast && is_float) return;  // the bits of a NaN are free
    if (fn == SCALAR_bitcast && (to->width != scalar->width || ir_type_bytes(to) != ir_type_bytes(scalar))) return;
    push(m, kernel_cast(m->b, fn, x, to));
    return;
  }
  if (!(info->types & (is_float ? SCALAR_TYPES_F : SCALAR_TYPES_I))) return;
  ir_value_t *y = pick_typed(m, x->type), *z = pick_typed(m, x->type);
  if (fn == SCALAR_select) {
    const ir_type_t* i1 = ir_type_int(m->f->ctx, 1);
    bool one = roll(m, 2);
    ir_value_t* condition = pick_typed(m, one ? i1 : kernel_vector_type(m->f->ctx, i1, kernel_lanes(x)));
    if (condition) push(m, kernel_ternary(m->b, fn, condition, y, z));
  } else if (info->arity == 1) {
    push(m, kernel_unary(m->b, fn, x));
  } else {
    push(m, info->arity == 2 ? kernel_binary(m->b, fn, x, y) : kernel_ternary(m->b, fn, x, y, z));
  }
}

static ir_value_t* with_attr(maker_t* m, ir_value_t* value, const char* name, const ir_attr_t* attr) {
  ir_op_set_attr(m->f->ctx, value->def, name, attr);
  return value;
}

static void add_vector(maker_t* m) {
  static const char* const kinds[] = {"add", "mul", "min", "max", "minu", "maxu", "and", "or", "xor"};
  static const int64_t lane_counts[] = {3, 4, 8};
  ir_context_t* ctx = m->f->ctx;
  ir_value_t* x = pick(m);
  const ir_type_t* scalar = ir_type_scalar(x->type);
  int64_t lanes = kernel_lanes(x);
  if (lanes == 1) {
    push(m, kernel_splat(m->b, x, lane_counts[roll(m, 3)]));
    return;
  }
  switch (roll(m, 5)) {
    case 0:
      push(m, kernel_extract(m->b, x, roll(m, (uint32_t)lanes)));
      break;
    case 1: {
      ir_value_t* element = pick_typed(m, scalar);
      ir_value_t* operands[] = {element, x};
      if (!element) break;
      push(m, with_attr(m, ir_build_value(m->b, KERNEL_INSERT, operands, 2, x->type), "index",
                        ir_attr_i64(ctx, roll(m, (uint32_t)lanes))));
      break;
    }
    case 2: {
      int64_t mask[8], count = lane_counts[roll(m, 3)];
      for (int64_t i = 0; i < count; ++i) mask[i] = roll(m, (uint32_t)(2 * lanes));
      push(m, kernel_shuffle(m->b, x, pick_typed(m, x->type), mask, (uint32_t)count));
      break;
    }
    case 3:
      push(m, kernel_reduce(m->b, x, kinds[roll(m, scalar->kind == IR_TYPE_FLOAT ? 4 : 9)]));
      break;
    default: {
      ir_value_t* lane = kernel_binary(m->b, SCALAR_remu, m->thread, kernel_index(m->b, lanes));
      ir_value_t* operands[] = {x, lane};
      push(m, ir_build_value(m->b, KERNEL_EXTRACT_DYNAMIC, operands, 2, scalar));
    }
  }
}

// A load from a place that depends on the thread; with masks and gathered at times.
static void add_load(maker_t* m) {
  static const int64_t lane_counts[] = {1, 3, 4, 8};
  uint32_t type = roll(m, m->type_count);
  int64_t lanes = lane_counts[roll(m, 4)], elements = RANDOM_INPUT_BYTES / ir_type_bytes(m->types[type]);
  ir_value_t* place = kernel_add_const(m->b, kernel_mul_const(m->b, m->thread, roll(m, 7)), roll(m, 50));
  place = kernel_binary(m->b, SCALAR_remu, place, kernel_index(m->b, elements - lanes));
  const ir_type_t* i1 = ir_type_int(m->f->ctx, 1);
  ir_value_t* mask = pick_typed(m, kernel_vector_type(m->f->ctx, i1, lanes));
  ir_value_t* other = pick_typed(m, kernel_vector_type(m->f->ctx, m->types[type], lanes));
  if (lanes > 1 && roll(m, 3) == 0) {
    ir_value_t* offsets = kernel_mul_const(m->b, kernel_splat(m->b, place, lanes), 1 + roll(m, 3));
    offsets = kernel_binary(m->b, SCALAR_remu, offsets, kernel_integer(m->b, offsets->type, elements));
    if (!mask || !other) mask = other = NULL;
    push(m, kernel_gather(m->b, m->views[type], offsets, mask, other));
  } else if (mask && other && roll(m, 2)) {
    push(m, kernel_load_masked(m->b, m->views[type], place, mask, other));
  } else {
    push(m, kernel_load(m->b, m->views[type], place, lanes));
  }
}

static void add_ops(maker_t* m, uint32_t count, uint32_t depth);

// Values for the results of a branch: some of the pool, of the types given.
static void collect(maker_t* m, const ir_type_t* const* types, ir_value_t** out, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) out[i] = pick_typed(m, types[i]);
}

static void add_branch(maker_t* m, uint32_t depth) {
  ir_value_t* condition = pick_typed(m, ir_type_int(m->f->ctx, 1));
  if (!condition) return;
  const ir_type_t* types[3];
  ir_value_t* values[3];
  uint32_t count = 1 + roll(m, 3), pool = m->pool_count;
  for (uint32_t i = 0; i < count; ++i) types[i] = pick(m)->type;
  kernel_branch_t branch = kernel_if_begin(m->b, condition, types, count);
  add_ops(m, 6, depth + 1);
  collect(m, types, values, count);
  kernel_if_else(m->b, &branch, values, count);
  m->pool_count = pool;
  add_ops(m, 6, depth + 1);
  collect(m, types, values, count);
  kernel_if_end(m->b, &branch, values, count);
  m->pool_count = pool;
  for (uint32_t i = 0; i < count; ++i) push(m, ir_result(branch.op, i));
}

static void add_loop(maker_t* m, uint32_t depth) {
  ir_value_t *init[3], *next[3];
  const ir_type_t* types[3];
  uint32_t count = 1 + roll(m, 3), pool = m->pool_count;
  for (uint32_t i = 0; i < count; ++i) init[i] = pick(m), types[i] = init[i]->type;
  ir_value_t* trips = kernel_binary(m->b, SCALAR_remu, m->thread, kernel_index(m->b, 1 + roll(m, 5)));
  kernel_loop_t loop = kernel_for_begin(m->b, kernel_index(m->b, 0), trips, kernel_index(m->b, 1), init, count);
  push(m, loop.index);
  for (uint32_t i = 0; i < count; ++i) push(m, loop.iters[i]);
  add_ops(m, 6, depth + 1);
  collect(m, types, next, count);
  kernel_for_end(m->b, &loop, next, count);
  m->pool_count = pool;
  for (uint32_t i = 0; i < count; ++i) push(m, kernel_loop_result(&loop, i));
}

static ir_block_t* while_region(maker_t* m, ir_op_t* op, uint32_t region, const ir_type_t* const* types,
                                uint32_t count) {
  ir_block_t* block = ir_block_create(m->f->ctx);
  ir_region_append(&op->regions[region], block);
  for (uint32_t i = 0; i < count; ++i) push(m, ir_block_add_arg(m->f->ctx, block, types[i]));
  m->b->block = block;
  m->b->before = NULL;
  return block;
}

// Counts down from a number that depends on the thread.
static void add_while(maker_t* m, uint32_t depth) {
  ir_value_t *init[2], *values[3];
  uint32_t pool = m->pool_count;
  init[0] = kernel_binary(m->b, SCALAR_remu, m->thread, kernel_index(m->b, 1 + roll(m, 5)));
  init[1] = pick(m);
  const ir_type_t* types[] = {init[0]->type, init[1]->type};
  ir_op_state_t state = {.info = ir_context_op(m->f->ctx, KERNEL_WHILE),
                         .operands = init,
                         .operand_count = 2,
                         .result_types = types,
                         .result_count = 2,
                         .region_count = 2};
  ir_op_t* op = ir_build(m->b, &state);
  ir_builder_t outside = *m->b;
  ir_block_t* before = while_region(m, op, 0, types, 2);
  values[0] = kernel_binary(m->b, SCALAR_gt, before->args[0], kernel_index(m->b, 0));
  add_ops(m, 4, depth + 1);
  values[1] = before->args[0];
  values[2] = pick_typed(m, types[1]);
  ir_build_op(m->b, KERNEL_YIELD, values, 3, NULL);
  m->pool_count = pool;
  ir_block_t* after = while_region(m, op, 1, types, 2);
  add_ops(m, 4, depth + 1);
  values[0] = kernel_add_const(m->b, after->args[0], -1);
  values[1] = pick_typed(m, types[1]);
  ir_build_op(m->b, KERNEL_YIELD, values, 2, NULL);
  *m->b = outside;
  m->pool_count = pool;
  push(m, ir_result(op, 0));
  push(m, ir_result(op, 1));
}

static void add_ops(maker_t* m, uint32_t count, uint32_t depth) {
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t what = roll(m, 20);
    if (what == 0 && depth < 3) {
      add_branch(m, depth);
    } else if (what == 1 && depth < 3) {
      add_loop(m, depth);
    } else if (what == 2 && depth < 3) {
      add_while(m, depth);
    } else if (what < 5) {
      add_load(m);
    } else if (what < 9) {
      add_vector(m);
    } else {
      add_scalar(m);
    }
  }
}

static void add_stores(maker_t* m) {
  for (uint32_t slot = 0; slot < RANDOM_SLOTS; ++slot) {
    ir_value_t* value = m->pool[m->pool_count - 1 - slot];
    const ir_type_t* scalar = ir_type_scalar(value->type);
    int64_t any = IR_DYNAMIC, bytes = ir_type_bytes(scalar);
    ir_value_t* memory = fixture_arg(m->f, 1);
    const ir_type_t* type = ir_type_memref(m->f->ctx, scalar, 1, &any, NULL, IR_SPACE_GLOBAL);
    memory = ir_build_value(m->b, KERNEL_VIEW, &memory, 1, type);
    ir_value_t* place = kernel_mul_const(m->b, m->global, RANDOM_SLOTS * RANDOM_SLOT_BYTES / bytes);
    kernel_store(m->b, value, memory, kernel_add_const(m->b, place, slot * RANDOM_SLOT_BYTES / bytes));
  }
}

static void choose_types(maker_t* m) {
  static const ir_float_kind_t floats[] = {IR_F16, IR_BF16, IR_F32, IR_F64, IR_F8E4M3FN, IR_F8E5M2};
  static const uint32_t widths[] = {1, 8, 16, 32, 64, 4, 24};
  for (size_t i = 0; i < sizeof(floats) / sizeof(floats[0]); ++i) {
    m->types[m->type_count++] = ir_type_float(m->f->ctx, floats[i]);
  }
  for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); ++i) {
    m->types[m->type_count++] = ir_type_int(m->f->ctx, widths[i]);
  }
  m->types[m->type_count++] = ir_type_index(m->f->ctx);
}

void random_program(fixture_t* f, uint32_t seed, int64_t threads) {
  fixture_kernel(f, threads, ir_type_int(f->ctx, 8), 2);
  maker_t maker = {.f = f, .b = &f->b, .state = seed * 7919ull + 1}, *m = &maker;
  choose_types(m);
  m->thread = kernel_id(m->b, KERNEL_THREAD_ID, 0);
  ir_value_t* group = kernel_id(m->b, KERNEL_WORKGROUP_ID, 0);
  m->global = kernel_add(m->b, kernel_mul_const(m->b, group, threads), m->thread);
  m->thread = kernel_add(m->b, m->thread, kernel_mul_const(m->b, group, 3));
  ir_value_t* input = fixture_arg(f, 0);
  for (uint32_t i = 0; i < m->type_count; ++i) {
    int64_t any = IR_DYNAMIC;
    const ir_type_t* type = ir_type_memref(f->ctx, m->types[i], 1, &any, NULL, IR_SPACE_GLOBAL);
    m->views[i] = ir_build_value(m->b, KERNEL_VIEW, &input, 1, type);
    push(m, kernel_load(m->b, m->views[i], kernel_add_const(m->b, m->thread, roll(m, 64)), 1));
    push(m, kernel_load(m->b, m->views[i], m->thread, 4));
    push(m, kernel_number(m->b, m->types[i], (double)roll(m, 20) - 5));
  }
  for (int64_t lanes = 3; lanes <= 8; lanes += lanes == 3 ? 1 : 4) {
    push(m, ir_build_value(m->b, KERNEL_IOTA, NULL, 0, kernel_vector_type(f->ctx, ir_type_int(f->ctx, 32), lanes)));
  }
  add_ops(m, 60, 0);
  add_stores(m);
  kernel_func_end(m->b);
}

//===----------------------------------------------------------------------------------------------------------------===
// Reference
//===----------------------------------------------------------------------------------------------------------------===

// Elements of values, at value->data.
static scalar_value_t* lanes_of(const ir_value_t* value) { return value->data; }

static scalar_value_t* define(ir_value_t* value) {
  if (!value->data) value->data = calloc((size_t)kernel_lanes(value), sizeof(scalar_value_t));
  return value->data;
}

static void copy(ir_value_t* to, const ir_value_t* from) {
  memcpy(define(to), from->data, sizeof(scalar_value_t) * (size_t)kernel_lanes(to));
}

static void forget(const ir_block_t* block, bool release) {
  for (uint32_t i = 0; i < block->arg_count; ++i) {
    if (release) free(block->args[i]->data);
    block->args[i]->data = NULL;
  }
  IR_FOR_OPS(op, block) {
    for (uint32_t i = 0; i < op->result_count; ++i) {
      if (release) free(op->results[i].data);
      op->results[i].data = NULL;
    }
    for (uint32_t r = 0; r < op->region_count; ++r) {
      if (op->regions[r].first) forget(op->regions[r].first, release);
    }
  }
}

static void eval_scalar_op(ir_op_t* op) {
  scalar_fn_t fn = (scalar_fn_t)kernel_scalar_fn(op);
  ir_value_t* result = ir_result(op, 0);
  const ir_type_t* operand = ir_type_scalar(ir_operand(op, fn == SCALAR_select ? 1 : 0)->type);
  scalar_value_t* out = define(result);
  for (int64_t lane = 0; lane < kernel_lanes(result); ++lane) {
    scalar_value_t in[3] = {{0}};
    for (uint32_t i = 0; i < op->operand_count; ++i) {
      const ir_value_t* value = ir_operand(op, i);
      in[i] = lanes_of(value)[kernel_lanes(value) == 1 ? 0 : lane];
    }
    out[lane] = scalar_eval(fn, in, operand, ir_type_scalar(result->type));
  }
}

static void eval_reduce(ir_op_t* op) {
  const ir_value_t* x = ir_operand(op, 0);
  scalar_value_t tree[16];
  scalar_fn_t fn = (scalar_fn_t)kernel_reduce_fn(ir_op_string(op, "kind", ""));
  memcpy(tree, x->data, sizeof(scalar_value_t) * (size_t)kernel_lanes(x));
  for (int64_t lanes = kernel_lanes(x), rest; lanes > 1; lanes = rest) {
    rest = (lanes + 1) / 2;
    for (int64_t i = 0; i < lanes - rest; ++i) {
      tree[i] = scalar_eval(fn, (scalar_value_t[]){tree[i], tree[i + rest], {0}}, x->type->element, x->type->element);
    }
  }
  define(ir_result(op, 0))[0] = tree[0];
}

static void eval_load(const reference_t* r, ir_op_t* op) {
  ir_value_t* result = ir_result(op, 0);
  const ir_type_t* scalar = ir_type_scalar(result->type);
  const ir_value_t* offset = ir_operand(op, 1);
  for (int64_t lane = 0; lane < kernel_lanes(result); ++lane) {
    if (op->operand_count == 4 && !lanes_of(ir_operand(op, 2))[lane].i) {
      define(result)[lane] = lanes_of(ir_operand(op, 3))[lane];
      continue;
    }
    int64_t at = ir_is(op, KERNEL_GATHER) ? lanes_of(offset)[lane].i : lanes_of(offset)[0].i + lane;
    define(result)[lane] = scalar_load(scalar, r->input + at * ir_type_bytes(scalar));
  }
}

static void eval_store(const reference_t* r, ir_op_t* op) {
  const ir_value_t* value = ir_operand(op, 0);
  const ir_type_t* scalar = ir_type_scalar(value->type);
  for (int64_t lane = 0; lane < kernel_lanes(value); ++lane) {
    int64_t at = lanes_of(ir_operand(op, 2))[0].i + lane;
    scalar_store(scalar, lanes_of(value)[lane], r->output + at * ir_type_bytes(scalar));
  }
}

static void eval_block(const reference_t* r, const ir_block_t* block);

static void eval_for(const reference_t* r, ir_op_t* op) {
  const ir_block_t* body = op->regions[0].first;
  for (uint32_t i = 0; i < op->result_count; ++i) copy(ir_result(op, i), ir_operand(op, 3 + i));
  int64_t upper = lanes_of(ir_operand(op, 1))[0].i;
  for (int64_t i = lanes_of(ir_operand(op, 0))[0].i; i < upper; i += lanes_of(ir_operand(op, 2))[0].i) {
    define(body->args[0])[0].i = i;
    for (uint32_t k = 0; k < op->result_count; ++k) copy(body->args[k + 1], ir_result(op, k));
    eval_block(r, body);
    for (uint32_t k = 0; k < op->result_count; ++k) copy(ir_result(op, k), ir_operand(body->last, k));
  }
}

static void eval_while(const reference_t* r, ir_op_t* op) {
  const ir_block_t *before = op->regions[0].first, *after = op->regions[1].first;
  for (uint32_t i = 0; i < op->result_count; ++i) copy(before->args[i], ir_operand(op, i));
  for (;;) {
    eval_block(r, before);
    for (uint32_t i = 0; i < op->result_count; ++i) copy(ir_result(op, i), ir_operand(before->last, i + 1));
    if (!lanes_of(ir_operand(before->last, 0))[0].i) return;
    for (uint32_t i = 0; i < op->result_count; ++i) copy(after->args[i], ir_result(op, i));
    eval_block(r, after);
    for (uint32_t i = 0; i < op->result_count; ++i) copy(before->args[i], ir_operand(after->last, i));
  }
}

static void eval_lanes(ir_op_t* op) {
  ir_value_t* result = ir_result(op, 0);
  const ir_value_t* x = op->operand_count ? ir_operand(op, 0) : NULL;
  int64_t lanes = kernel_lanes(result), mask[16], index = ir_op_int(op, "index", 0);
  scalar_value_t* out = define(result);
  ir_op_ints(op, "mask", mask, 16);
  for (int64_t i = 0; i < lanes; ++i) {
    switch (ir_code(op)) {
      case KERNEL_IOTA:
        out[i].i = i;
        break;
      case KERNEL_SPLAT:
        out[i] = lanes_of(x)[0];
        break;
      case KERNEL_EXTRACT:
        out[i] = lanes_of(x)[index];
        break;
      case KERNEL_EXTRACT_DYNAMIC:
        out[i] = lanes_of(x)[lanes_of(ir_operand(op, 1))[0].i];
        break;
      case KERNEL_INSERT:
        out[i] = i == index ? lanes_of(x)[0] : lanes_of(ir_operand(op, 1))[i];
        break;
      case KERNEL_SHUFFLE: {
        int64_t count = kernel_lanes(x);
        out[i] = mask[i] < count ? lanes_of(x)[mask[i]] : lanes_of(ir_operand(op, 1))[mask[i] - count];
        break;
      }
      default:
        fail_msg("the reference does not know %s", op->name);
    }
  }
}

static void eval_constant(ir_op_t* op) {
  const ir_attr_t* attr = ir_op_attr(op, "value");
  const ir_type_t* scalar = ir_type_scalar(op->results[0].type);
  for (int64_t i = 0; i < kernel_lanes(ir_result(op, 0)); ++i) {
    define(ir_result(op, 0))[i] = scalar_fit(scalar, (scalar_value_t){.f = attr->number, .i = attr->integer});
  }
}

static void eval_op(const reference_t* r, ir_op_t* op) {
  if (kernel_scalar_fn(op) >= 0) {
    eval_scalar_op(op);
    return;
  }
  switch (ir_code(op)) {
    case KERNEL_CONSTANT:
      eval_constant(op);
      break;
    case KERNEL_THREAD_ID:
      define(ir_result(op, 0))[0].i = r->thread;
      break;
    case KERNEL_WORKGROUP_ID:
      define(ir_result(op, 0))[0].i = r->workgroup;
      break;
    case KERNEL_REDUCE:
      eval_reduce(op);
      break;
    case KERNEL_LOAD:
    case KERNEL_GATHER:
      eval_load(r, op);
      break;
    case KERNEL_STORE:
      eval_store(r, op);
      break;
    case KERNEL_FOR:
      eval_for(r, op);
      break;
    case KERNEL_WHILE:
      eval_while(r, op);
      break;
    case KERNEL_IF: {
      const ir_block_t* block = op->regions[lanes_of(ir_operand(op, 0))[0].i ? 0 : 1].first;
      eval_block(r, block);
      for (uint32_t i = 0; i < op->result_count; ++i) copy(ir_result(op, i), ir_operand(block->last, i));
      break;
    }
    case KERNEL_VIEW:
    case KERNEL_RETURN:
    case KERNEL_YIELD:
      break;
    default:
      eval_lanes(op);
  }
}

static void eval_block(const reference_t* r, const ir_block_t* block) { IR_FOR_OPS(op, block) eval_op(r, op); }

void reference_run(const ir_op_t* func, const reference_t* where) {
  const ir_block_t* entry = func->regions[0].first;
  forget(entry, false);
  eval_block(where, entry);
  forget(entry, true);
}

static uint64_t slot_differences(const ir_type_t* scalar, int64_t lanes, const uint8_t* got, const uint8_t* wanted) {
  uint64_t count = 0;
  uint32_t bytes = ir_type_bytes(scalar);
  for (int64_t i = 0; i < lanes; ++i, got += bytes, wanted += bytes) {
    if (memcmp(got, wanted, bytes) == 0) continue;
    bool nans =
        scalar->kind == IR_TYPE_FLOAT && isnan(scalar_load(scalar, got).f) && isnan(scalar_load(scalar, wanted).f);
    // Bits of an element above the type's width are free.
    bool equal = scalar->kind != IR_TYPE_FLOAT && scalar_load(scalar, got).i == scalar_load(scalar, wanted).i;
    count += !nans && !equal;
  }
  return count;
}

uint64_t random_differences(const ir_op_t* func, const uint8_t* got, const uint8_t* wanted, uint64_t threads) {
  uint64_t count = 0;
  uint32_t slot = 0;
  IR_FOR_OPS(op, func->regions[0].first) {
    if (!ir_is(op, KERNEL_STORE)) continue;
    const ir_value_t* value = ir_operand(op, 0);
    for (uint64_t t = 0; t < threads; ++t) {
      uint64_t at = (t * RANDOM_SLOTS + slot) * RANDOM_SLOT_BYTES;
      count += slot_differences(ir_type_scalar(value->type), kernel_lanes(value), got + at, wanted + at);
    }
    ++slot;
  }
  return count;
}
