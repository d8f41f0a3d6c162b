// Sorts of long lines: blocks by rank, then rounds that merge sorted neighbours (src/kernels/merge.c), so that the work
// is n log^2 n and all threads share it. A line whose length only the host knows takes as many rounds as it needs. CPUs
// sort by the digits of a number where it is the only key (src/kernels/radix.c).
//
//   sort %x : 1000xf32    =>    %0 = sort %x {digit = 1}    ...    sort %2 {digit = 4}
//   sort %x : 1000    =>    %0 = sort %x {block = 64}    %1 = sort %0 {sorted = 64}    ...    sort %3 {sorted = 512}
//   sort %x : ?       =>    %0 = sort %x {block = 64}    while(%0, 64) ^(%y, %run): yield lt %run, dim %x
//                                                                      ^(%y, %run): %z = sort %y, %run
//                                                                                   yield %z, mul %run, 2
//   top_k %x          =>    the first of a sort of %x and its places
#include "dialects/graph.h"
#include "passes/expand.h"
#include "passes/passes.h"

enum { SORT_WHOLE = 256 };

typedef struct long_sort_t {
  ir_context_t* ctx;
  const ir_op_t* op;
  int64_t block;
  uint32_t count;       // of the values
  ir_value_t** values;  // what is in order as far as it got; one more of them than `count` has room
} long_sort_t;

// The same order over `values`, of which `count` are operands, and attribute `name`.
static void sort_part(long_sort_t* s, ir_block_t* block, ir_op_t* before, uint32_t count, ir_named_attr_t part) {
  ir_op_t* copy = ir_op_clone(s->ctx, s->op, NULL);
  ir_op_set_operands(s->ctx, copy, s->values, count);
  if (part.name) ir_op_set_attr(s->ctx, copy, part.name, part.value);
  if (before) {
    ir_block_insert_before(block, copy, before);
  } else {
    ir_block_append(block, copy);
  }
  for (uint32_t i = 0; i < s->count; ++i) s->values[i] = ir_result(copy, i);
}

static ir_block_t* add_block(long_sort_t* s, ir_op_t* loop, uint32_t region) {
  ir_block_t* block = ir_block_create(s->ctx);
  ir_region_append(&loop->regions[region], block);
  for (uint32_t i = 0; i <= s->count; ++i) ir_block_add_arg(s->ctx, block, s->values[i]->type);
  return block;
}

static void sort_in_loop(long_sort_t* s, ir_builder_t* b, ir_value_t* size) {
  const ir_type_t** types = ARENA_ARRAY(ir_context_arena(s->ctx), const ir_type_t*, s->count + 1);
  s->values[s->count] = graph_index_constant(b, s->block);
  for (uint32_t i = 0; i <= s->count; ++i) types[i] = s->values[i]->type;
  ir_op_t* loop = ir_build(b, &(ir_op_state_t){.info = ir_context_op(s->ctx, GRAPH_WHILE),
                                               .operands = s->values,
                                               .operand_count = s->count + 1,
                                               .result_types = types,
                                               .result_count = s->count + 1,
                                               .region_count = 2});
  ir_block_t *test = add_block(s, loop, 0), *body = add_block(s, loop, 1);
  ir_builder_t in_test = ir_builder_at_end(s->ctx, test), in_body = ir_builder_at_end(s->ctx, body);
  in_test.loc = in_body.loc = b->loc;
  ir_value_t* goes_on = graph_binary(&in_test, SCALAR_lt, test->args[s->count], size);
  ir_build_op(&in_test, GRAPH_YIELD, &goes_on, 1, NULL);
  for (uint32_t i = 0; i <= s->count; ++i) s->values[i] = body->args[i];
  sort_part(s, body, NULL, s->count + 1, (ir_named_attr_t){0});
  s->values[s->count] = graph_binary(&in_body, SCALAR_mul, body->args[s->count], graph_index_constant(&in_body, 2));
  ir_build_op(&in_body, GRAPH_YIELD, s->values, s->count + 1, NULL);
  for (uint32_t i = 0; i < s->count; ++i) s->values[i] = ir_result(loop, i);
}

// Whether a CPU sorts the line by digits: it has no more of them than rounds would be dear, or the host would have to
// count those.
static bool has_digits(const ir_op_t* op, int64_t size, int64_t block) {
  enum { FEW = 4, LONG = 1 << 17 };
  if (block != EXPAND_BLOCK_CPU || !ir_is(op, GRAPH_SORT) || graph_get_keys(op) != 1) return false;
  int64_t digits = graph_sort_digits(ir_operand(op, 0)->type->element);
  return digits && (digits <= FEW || size == IR_DYNAMIC || size <= LONG);
}

static void sort_by_digits(long_sort_t* s, ir_op_t* op) {
  int64_t digits = graph_sort_digits(s->values[0]->type->element);
  for (int64_t i = 1; i <= digits; ++i) {
    sort_part(s, op->parent, op, s->count, (ir_named_attr_t){"digit", ir_attr_i64(s->ctx, i)});
  }
}

static void sort_by_rounds(long_sort_t* s, ir_op_t* op, ir_builder_t* b, int64_t size) {
  ir_value_t* run_time = size == IR_DYNAMIC ? graph_dim(b, s->values[0], (uint32_t)graph_get_axis(op)) : NULL;
  sort_part(s, op->parent, op, s->count, (ir_named_attr_t){"block", ir_attr_i64(s->ctx, s->block)});
  if (run_time) sort_in_loop(s, b, run_time);
  for (int64_t sorted = s->block; !run_time && sorted < size; sorted *= 2) {
    sort_part(s, op->parent, op, s->count, (ir_named_attr_t){"sorted", ir_attr_i64(s->ctx, sorted)});
  }
}

bool expand_sort(ir_context_t* ctx, ir_op_t* op, int64_t block) {
  const ir_type_t* type = ir_operand(op, 0)->type;
  int64_t axis = graph_get_axis(op);
  bool is_part = graph_attr(op, GRAPH_ATTR_sorted) || graph_attr(op, GRAPH_ATTR_block);
  is_part |= ir_is(op, GRAPH_SORT) && graph_attr(op, GRAPH_ATTR_digit);
  if (axis >= type->rank || is_part || op->operand_count != op->result_count) return false;
  int64_t size = type->dims[axis];
  if (size != IR_DYNAMIC && size <= SORT_WHOLE) return false;
  ir_builder_t b = ir_builder_before(ctx, op);
  long_sort_t s = {.ctx = ctx, .op = op, .block = block, .count = op->result_count};
  s.values = ARENA_ARRAY(ir_context_arena(ctx), ir_value_t*, s.count + 1);
  for (uint32_t i = 0; i < s.count; ++i) s.values[i] = ir_operand(op, i);
  if (has_digits(op, size, block)) {
    sort_by_digits(&s, op);
  } else {
    sort_by_rounds(&s, op, &b, size);
  }
  for (uint32_t i = 0; i < s.count; ++i) ir_value_replace(ir_result(op, i), s.values[i]);
  ir_op_erase(op);
  return true;
}

bool expand_top_k(ir_context_t* ctx, ir_op_t* op, bool few, int64_t block) {
  ir_value_t* x = ir_operand(op, 0);
  int64_t axis = graph_get_axis(op);
  const ir_type_t* indices = op->results[1].type;
  if (axis >= x->type->rank || indices->dims[axis] == IR_DYNAMIC) return false;
  bool is_long = x->type->dims[axis] == IR_DYNAMIC || x->type->dims[axis] > SORT_WHOLE;
  bool is_scanned = indices->dims[axis] <= GRAPH_TOP_K_SCANNED;
  if (!is_long || is_scanned != few) return false;
  ir_builder_t b = ir_builder_before(ctx, op);
  const ir_type_t* places = ir_type_with_element(ctx, x->type, indices->element);
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  uint32_t count = 0;
  for (int32_t i = 0; i < places->rank; ++i) {
    if (places->dims[i] == IR_DYNAMIC) dynamic[count++] = graph_dim(&b, x, (uint32_t)i);
  }
  ir_value_t* operands[2] = {x, graph_iota(&b, places, axis, dynamic)};
  ir_op_t* sort = graph_sort(&b, operands, 2, &(graph_sort_t){.axis = axis, .descending = !graph_get_smallest(op)});
  if (graph_get_unsigned(op)) ir_op_set_attr(ctx, sort, "unsigned", ir_attr_unit(ctx));
  int64_t zeros[GRAPH_MAX_RANK] = {0}, ones[GRAPH_MAX_RANK];
  for (int i = 0; i < GRAPH_MAX_RANK; ++i) ones[i] = 1;
  for (uint32_t i = 0; i < 2; ++i) {
    ir_value_replace(ir_result(op, i), graph_slice(&b, ir_result(sort, i), zeros, indices->dims, ones));
  }
  ir_op_erase(op);
  return expand_sort(ctx, sort, block);
}

pass_result_t pass_expand_top_k(ir_op_t* parent, ir_context_t* ctx) {
  pass_result_t result = PASS_UNCHANGED;
  for (uint32_t r = 0; r < parent->region_count; ++r) {
    IR_FOR_BLOCKS(block, &parent->regions[r]) {
      IR_FOR_OPS_SAFE(op, block) {
        bool changed = ir_is(op, GRAPH_TOP_K) ? expand_top_k(ctx, op, true, EXPAND_BLOCK)
                                              : op->region_count && pass_expand_top_k(op, ctx) == PASS_CHANGED;
        if (changed) result = PASS_CHANGED;
      }
    }
  }
  return result;
}
