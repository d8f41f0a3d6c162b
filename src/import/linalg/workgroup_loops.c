// Loops and branches in functions that become kernels. See workgroup.h. What they carry stays in registers, but for
// tensors: each has memory of its own, which a round leaves its next value in.
#include "dialects/scf.h"
#include "import/linalg/workgroup.h"

static bool shares_work(const lowering_t* l) { return l->threads > 1 && !l->nests; }

static void barrier(lowering_t* l) { ir_build_op(&l->b, KERNEL_BARRIER, NULL, 0, NULL); }

once_t once_begin(lowering_t* l) {
  once_t once = {.guarded = shares_work(l)};
  if (!once.guarded) return once;
  barrier(l);
  ir_value_t* thread = kernel_id(&l->b, KERNEL_THREAD_ID, 0);
  ir_value_t* first = graph_binary(&l->b, SCALAR_eq, thread, graph_index_constant(&l->b, 0));
  once.branch = kernel_if_begin(&l->b, first, NULL, 0);
  return once;
}

void once_end(lowering_t* l, once_t* once) {
  if (!once->guarded) return;
  kernel_if_else(&l->b, &once->branch, NULL, 0);
  kernel_if_end(&l->b, &once->branch, NULL, 0);
  barrier(l);
}

// Of the last loop, which goes along memory most often, threads take every so-manieth round.
void nest_begin(lowering_t* l, ir_value_t* const* sizes, uint32_t count, nest_t* nest) {
  ir_builder_t* b = &l->b;
  bool shares = shares_work(l) && count;
  nest->count = count;
  nest->once = count ? (once_t){false} : once_begin(l);
  if (shares) barrier(l);
  for (uint32_t i = 0; i < count; ++i) {
    bool shared = shares && i + 1 == count;
    ir_value_t* low = shared ? kernel_id(b, KERNEL_THREAD_ID, 0) : graph_index_constant(b, 0);
    ir_value_t* step = graph_index_constant(b, shared ? l->threads : 1);
    nest->loops[i] = kernel_for_begin(b, low, sizes[i], step, NULL, 0);
    nest->at[i] = nest->loops[i].index;
  }
  ++l->nests;
}

void nest_end(lowering_t* l, nest_t* nest) {
  --l->nests;
  for (uint32_t i = nest->count; i-- > 0;) kernel_for_end(&l->b, &nest->loops[i], NULL, 0);
  once_end(l, &nest->once);
  if (shares_work(l) && nest->count) barrier(l);
}

static ir_block_t* only_block(const ir_region_t* region) {
  ir_block_t* block = region->first;
  return block && !block->next && block->last ? block : NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// What is carried
//===----------------------------------------------------------------------------------------------------------------===

// Values of `types`: the buffer of each that is a tensor, and of the others all numbers in a row.
typedef struct carried_t {
  const ir_value_t* like;  // results or arguments that have the types
  uint32_t count;
  buffer_t* buffers;
  lower_list_t numbers;
} carried_t;

// Puts a tensor's new value where the old one is. It may be made of memory that holds another one that is carried.
static bool assign(lower_op_t* n, const carried_t* c, uint32_t i, lower_value_t value) {
  buffer_t from, copy;
  const buffer_t* to = &c->buffers[i];
  if (!buffer_of(n, value, &from)) return false;
  if (from.rank != to->rank || from.memory->type->element != to->memory->type->element) {
    return lower_error(n, "yields a tensor of another type");
  }
  if (from.memory == to->memory && from.offset == to->offset && from.strides[0] == to->strides[0]) return true;
  bool shares = false;
  for (uint32_t k = 0; k < c->count; ++k) shares |= c->buffers[k].memory == from.memory;
  if (shares) {
    if (!buffer_clone(n, &from, &copy)) return false;
    from = copy;
  }
  buffer_copy(n->l, &from, to);
  return true;
}

// With start values; tensors get memory.
static bool begin_carried(lower_op_t* n, const ir_op_t* op, const lower_value_t* inits, carried_t* c) {
  *c = (carried_t){.like = op->results, .count = op->result_count, .numbers = LOWER_LIST(n->ctx)};
  c->buffers = ARENA_ARRAY(ir_context_arena(n->ctx), buffer_t, c->count + 1);
  for (uint32_t i = 0; i < c->count; ++i) {
    buffer_t init;
    c->buffers[i].memory = NULL;
    if (!ir_type_is_tensor(c->like[i].type)) {
      if (!workgroup_flatten(n, c->like[i].type, inits[i], &c->numbers)) return false;
      continue;
    }
    if (!buffer_of(n, inits[i], &init)) return false;
    if (!buffer_clone(n, &init, &c->buffers[i])) return false;
  }
  return true;
}

static void show_carried(lower_op_t* n, const carried_t* c, ir_value_t* const* numbers, lower_value_t* out) {
  for (uint32_t i = 0; i < c->count; ++i) {
    bool is_tensor = c->buffers[i].memory != NULL;
    out[i] = is_tensor ? buffer_value(n->l, &c->buffers[i]) : workgroup_unflatten(n, c->like[i].type, &numbers);
  }
}

// The op's results are those of the kernel's loop or branch; true.
static bool give_carried(lower_op_t* n, const carried_t* c, ir_op_t* op) {
  lower_list_t results = LOWER_LIST(n->ctx);
  lower_list_add_results(&results, op, 0);
  show_carried(n, c, results.items, n->out);
  return true;
}

// What a region gives for the next round, or as results: its tensors are where they belong, its numbers in `out`.
static bool end_carried(lower_op_t* n, const carried_t* c, const lower_value_t* values, uint32_t count,
                        lower_list_t* out) {
  *out = (lower_list_t)LOWER_LIST(n->ctx);
  if (count != c->count) return lower_error(n, "yields other values than it carries");
  for (uint32_t i = 0; i < count; ++i) {
    if (c->buffers[i].memory ? !assign(n, c, i, values[i]) : !workgroup_flatten(n, c->like[i].type, values[i], out)) {
      return false;
    }
  }
  return out->count == c->numbers.count || lower_error(n, "yields other values than it carries");
}

//===----------------------------------------------------------------------------------------------------------------===
// for, while, if
//===----------------------------------------------------------------------------------------------------------------===

static bool lower_for(lower_op_t* n) {
  ir_block_t* block = only_block(&n->op->regions[0]);
  uint32_t carried = n->op->result_count, count = 0;
  carried_t c;
  lower_list_t next;
  if (!block || n->op->operand_count != 3 + carried || block->arg_count != 1 + carried) {
    return lower_error(n, "needs bounds, a step, and start values for its results");
  }
  if (ir_op_flag(n->op, "unsignedCmp")) return lower_unsupported(n, "a loop that compares signed numbers is");
  if (!begin_carried(n, n->op, n->values + 3, &c)) return false;
  lower_value_t *args = ARENA_ARRAY(ir_context_arena(n->ctx), lower_value_t, 1 + carried), *values = NULL;
  const ir_type_t* type = n->in[0]->type;
  kernel_loop_t loop = kernel_for_begin(n->b, lower_index(n->b, n->in[0]), lower_index(n->b, n->in[1]),
                                        lower_index(n->b, n->in[2]), c.numbers.items, c.numbers.count);
  args[0] = (lower_value_t){.v = type->kind == IR_TYPE_INDEX ? loop.index : graph_cast(n->b, loop.index, type, false)};
  show_carried(n, &c, loop.iters, args + 1);
  if (!workgroup_check_args(n, block, args)) return false;
  if (!lower_block(n->l, block, args, &values, &count) || !end_carried(n, &c, values, count, &next)) return false;
  kernel_for_end(n->b, &loop, next.items, next.count);
  return give_carried(n, &c, loop.op);
}

static bool lower_if(lower_op_t* n) {
  ir_block_t* sides[2] = {only_block(&n->op->regions[0]), only_block(&n->op->regions[1])};
  carried_t c = {.like = n->op->results, .count = n->op->result_count, .numbers = LOWER_LIST(n->ctx)};
  lower_types_t types = LOWER_LIST(n->ctx);
  if (!sides[0] || sides[0]->arg_count || (sides[1] && sides[1]->arg_count) || (!sides[1] && c.count)) {
    return lower_error(n, "needs regions of one block");
  }
  c.buffers = ARENA_ARRAY(ir_context_arena(n->ctx), buffer_t, c.count + 1);
  for (uint32_t i = 0; i < c.count; ++i) {
    const ir_type_t* type = c.like[i].type;
    c.buffers[i].memory = NULL;
    if (ir_type_is_tensor(type)) {
      if (!buffer_alloc_type(n, type, n->op->operand_count, &c.buffers[i])) return false;
      continue;
    }
    uint32_t lanes = workgroup_lanes(n, type);
    const ir_type_t* scalar = lower_type(n->ctx, ir_type_scalar(type));
    if (!lanes || !scalar) return lower_unsupported(n, "results that are tensors, vectors and numbers are");
    for (uint32_t k = 0; k < lanes; ++k) lower_types_add(&types, scalar);
  }
  c.numbers.count = types.count;  // as many as each side gives
  kernel_branch_t branch = kernel_if_begin(n->b, n->in[0], types.items, types.count);
  for (int i = 0; i < 2; ++i) {
    lower_value_t* values = NULL;
    uint32_t count = 0;
    lower_list_t list = LOWER_LIST(n->ctx);
    if (sides[i] && !lower_block(n->l, sides[i], NULL, &values, &count)) return false;
    if (!end_carried(n, &c, values, count, &list)) return false;
    if (i == 0) kernel_if_else(n->b, &branch, list.items, list.count);
    if (i == 1) kernel_if_end(n->b, &branch, list.items, list.count);
  }
  return give_carried(n, &c, branch.op);
}

// What the first region passes on is what it is given.
static bool passes_arguments(const ir_block_t* block) {
  const ir_op_t* last = block->last;
  bool same = ir_is(last, SCF_CONDITION) && last->operand_count == 1 + block->arg_count;
  for (uint32_t i = 0; same && i < block->arg_count; ++i) same = ir_operand(last, 1 + i) == block->args[i];
  return same;
}

static bool lower_while(lower_op_t* n) {
  ir_block_t *before = only_block(&n->op->regions[0]), *after = only_block(&n->op->regions[1]);
  uint32_t carried = n->op->result_count, count = 0;
  carried_t c;
  lower_list_t next;
  if (!before || !after || before->arg_count != carried || after->arg_count != carried ||
      n->op->operand_count != carried || !passes_arguments(before)) {
    return lower_unsupported(n, "a condition that passes on all that its region is given is");
  }
  if (!begin_carried(n, n->op, n->values, &c)) return false;
  lower_value_t *args = ARENA_ARRAY(ir_context_arena(n->ctx), lower_value_t, 1 + carried), *values = NULL;
  kernel_while_t loop = kernel_while_begin(n->b, c.numbers.items, c.numbers.count);
  show_carried(n, &c, loop.values, args);
  if (!workgroup_check_args(n, before, args)) return false;
  if (!lower_block(n->l, before, args, &values, &count)) return false;
  bool is_condition = values[0].v && values[0].v->type == ir_type_int(n->ctx, 1);
  if (!is_condition) return lower_error(n, "needs a condition, which is an i1");
  kernel_while_do(n->b, &loop, values[0].v);
  show_carried(n, &c, loop.values, args);
  if (!workgroup_check_args(n, after, args)) return false;
  if (!lower_block(n->l, after, args, &values, &count) || !end_carried(n, &c, values, count, &next)) return false;
  kernel_while_end(n->b, &loop, next.items, next.count);
  return give_carried(n, &c, loop.op);
}

// Rounds that do not need one another, over memory: threads share them.
static bool lower_forall(lower_op_t* n) {
  ir_block_t* block = only_block(&n->op->regions[0]);
  mixed_t low, high, step;
  uint32_t operand = 0, count = 0;
  ir_value_t* sizes[GRAPH_MAX_RANK];
  lower_value_t args[GRAPH_MAX_RANK] = {{0}}, *values = NULL;
  nest_t nest;
  if (n->op->result_count) return lower_unsupported(n, "in a kernel scf.forall without results, over memory, is");
  if (!mixed_read(n, "staticLowerBound", &operand, &low) || !mixed_read(n, "staticUpperBound", &operand, &high) ||
      !mixed_read(n, "staticStep", &operand, &step)) {
    return false;
  }
  bool fits = block && low.count == high.count && low.count == step.count && block->arg_count == low.count;
  if (!fits) return lower_error(n, "needs bounds, steps and numbers for each loop");
  for (uint32_t i = 0; i < low.count; ++i) {
    ir_value_t* span = lower_index_binary(n->b, SCALAR_sub, mixed_index(n, &high, i), mixed_index(n, &low, i));
    sizes[i] = arith_rounded_division(n, span, mixed_index(n, &step, i), true);
  }
  nest_begin(n->l, sizes, low.count, &nest);
  for (uint32_t i = 0; i < low.count; ++i) {
    ir_value_t* at = lower_index_binary(n->b, SCALAR_mul, nest.at[i], mixed_index(n, &step, i));
    args[i].v = lower_index_binary(n->b, SCALAR_add, at, mixed_index(n, &low, i));
  }
  if (!workgroup_check_args(n, block, args) || !lower_block(n->l, block, args, &values, &count)) return false;
  nest_end(n->l, &nest);
  return true;
}

bool workgroup_lower_scf(lower_op_t* n) {
  switch (n->op->info->code) {
    case SCF_FOR:
      return lower_for(n);
    case SCF_IF:
      return lower_if(n);
    case SCF_WHILE:
      return lower_while(n);
    case SCF_FORALL:
      return lower_forall(n);
    default:
      return lower_unsupported(n, "in a kernel scf.for, scf.forall, scf.if and scf.while are");
  }
}
