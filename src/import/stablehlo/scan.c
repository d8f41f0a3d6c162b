// chlo.scan: its region on one slice after the other, with values that it carries along.
//
//   outputs[i], carries = body(inputs[i], carries)    i along `dimension`, from the end when is_reverse
#include "import/lowering_size.h"
#include "import/stablehlo/matrix.h"
#include "import/stablehlo/ops.h"

typedef struct scan_t {
  lower_op_t* n;
  ir_block_t* body;
  uint32_t inputs, carries, outputs;
  int64_t axis;
  ir_value_t* size;  // an index
  bool reverse;
} scan_t;

static matrix_t pair(lower_value_t v) { return (matrix_t){v.v, v.im}; }

// The sizes of `all` without the axis, or with 1 in its place. Returns how many.
static uint32_t slice_sizes(scan_t* s, ir_value_t* all, bool keeps_axis, ir_value_t** sizes) {
  uint32_t count = 0;
  for (int32_t i = 0; i < all->type->rank; ++i) {
    if (i != s->axis) sizes[count++] = lower_size(s->n->b, all, i);
    if (i == s->axis && keeps_axis) sizes[count++] = graph_index_constant(s->n->b, 1);
  }
  return count;
}

static ir_value_t* reshape(scan_t* s, ir_value_t* x, ir_value_t** sizes, uint32_t rank) {
  int64_t dims[GRAPH_MAX_RANK];
  ir_value_t* open[GRAPH_MAX_RANK];
  lower_split_sizes(sizes, rank, dims, open);
  return graph_reshape(s->n->b, x, (int32_t)rank, dims, open);
}

// Place k along the axis.
static ir_value_t* take(scan_t* s, ir_value_t* x, ir_value_t* k) {
  ir_value_t *sizes[GRAPH_MAX_RANK], *one = graph_index_constant(s->n->b, 1);
  int32_t from_end = x->type->rank - 1 - (int32_t)s->axis;
  ir_value_t* slice = matrix_slice(s->n->b, (matrix_t){x, NULL}, from_end, k, one).re;
  return reshape(s, slice, sizes, slice_sizes(s, x, false, sizes));
}

static ir_value_t* put(scan_t* s, ir_value_t* all, ir_value_t* slice, ir_value_t* k) {
  ir_builder_t* b = s->n->b;
  ir_value_t* sizes[GRAPH_MAX_RANK];
  uint32_t rank = slice_sizes(s, all, true, sizes);
  ir_value_t* operands[GRAPH_MAX_RANK + 2] = {all, reshape(s, slice, sizes, rank)};
  for (uint32_t i = 0; i < rank; ++i) operands[2 + i] = i == s->axis ? k : graph_index_constant(b, 0);
  return graph_build(b, GRAPH_DYNAMIC_UPDATE, operands, 2 + rank, all->type, NULL, 0);
}

static matrix_t both(scan_t* s, ir_value_t* (*map)(scan_t*, ir_value_t*, ir_value_t*), matrix_t x, ir_value_t* k) {
  return (matrix_t){map(s, x.re, k), x.im ? map(s, x.im, k) : NULL};
}

//===----------------------------------------------------------------------------------------------------------------===
// Sizes of results
//===----------------------------------------------------------------------------------------------------------------===

// A slice without its elements.
static ir_value_t* blank(scan_t* s, ir_value_t* x, ir_value_t* k) {
  ir_value_t *sizes[GRAPH_MAX_RANK], *open[GRAPH_MAX_RANK];
  int64_t dims[GRAPH_MAX_RANK];
  (void)k;
  uint32_t rank = slice_sizes(s, x, false, sizes), count = lower_split_sizes(sizes, rank, dims, open);
  const ir_type_t* type = ir_type_tensor(s->n->ctx, x->type->element, (int32_t)rank, dims);
  return graph_build(s->n->b, GRAPH_EMPTY, open, count, type, NULL, 0);
}

enum { MAX_DEPTH = 64 };

// What is computed for its sizes alone stops nothing. False where it does more than compute.
static bool drop_asserts(ir_op_t* first, int depth) {
  for (ir_op_t *op = first, *next; op; op = next) {
    next = op->next;
    if (ir_is(op, GRAPH_ASSERT)) {
      ir_op_erase(op);
      continue;
    }
    if (depth == MAX_DEPTH) return false;
    for (uint32_t r = 0; r < op->region_count; ++r) {
      IR_FOR_BLOCKS(inner, &op->regions[r]) {
        if (!drop_asserts(inner->first, depth + 1)) return false;
      }
    }
    bool nests = ir_is(op, GRAPH_IF) || ir_is(op, GRAPH_WHILE) || ir_is(op, GRAPH_YIELD);
    if (!nests && !ir_has_trait(op, IR_TRAIT_PURE)) return false;
  }
  return true;
}

// The region once, on slices without elements: what its results have as sizes. What is computed of them is dropped
// later.
static bool lower_blank(scan_t* s, lower_value_t** results) {
  lower_op_t* n = s->n;
  uint32_t count, operands = s->inputs + s->carries;
  ir_op_t* last = n->b->block->last;
  lower_value_t* args = ARENA_ARRAY(ir_context_arena(n->ctx), lower_value_t, operands + 1);
  for (uint32_t i = 0; i < operands; ++i) {
    args[i] = n->values[i];
    if (i >= s->inputs) continue;
    matrix_t slice = both(s, blank, pair(n->values[i]), NULL);
    args[i] = (lower_value_t){.v = slice.re, .im = slice.im};
  }
  if (!lower_block(n->l, s->body, args, results, &count)) return false;
  if (count != s->outputs + s->carries) return lower_error(n, "has a region that gives %u values", count);
  ir_op_t* first = last ? last->next : n->b->block->first;
  return drop_asserts(first, 0) ||
         lower_unsupported(n, "a region that only computes is, where slices' sizes are known in it alone");
}

static bool is_told(const scan_t* s, const ir_type_t* type) {
  for (int32_t i = 0; i < type->rank; ++i) {
    if (i != s->axis && type->dims[i] == IR_DYNAMIC) return false;
  }
  return true;
}

// Results without their elements; false after a diagnostic.
static bool empty_outputs(scan_t* s, matrix_t* out) {
  lower_op_t* n = s->n;
  lower_value_t* slices = NULL;
  for (uint32_t i = 0; i < s->outputs; ++i) {
    lower_types_t types = LOWER_LIST(n->ctx);
    const ir_type_t *written = lower_out_type(n, i), *type = NULL;
    ir_value_t *sizes[GRAPH_MAX_RANK], *open[GRAPH_MAX_RANK];
    int64_t dims[GRAPH_MAX_RANK], size = IR_DYNAMIC;
    lower_size_constant(s->size, &size);
    if (lower_flat_types(n->ctx, written, &types) && types.count) type = types.items[0];
    bool fits = type && ir_type_is_tensor(type) && type->rank > s->axis && lower_sizes_fit(type->dims[s->axis], size);
    if (fits && !is_told(s, type) && !slices && !lower_blank(s, &slices)) return false;
    if (fits && slices) fits = slices[i].v && slices[i].v->type->rank == type->rank - 1;
    if (!fits)
      return lower_unsupported(n, "a result of type %s is not one slice for each of the inputs'",
                               ir_type_str(n->ctx, written));
    for (int32_t d = 0; d < type->rank; ++d) {
      bool known = type->dims[d] != IR_DYNAMIC;
      sizes[d] = d == s->axis ? s->size
                 : known      ? graph_index_constant(n->b, type->dims[d])
                              : lower_size(n->b, slices[i].v, d < s->axis ? d : d - 1);
    }
    lower_split_sizes(sizes, (uint32_t)type->rank, dims, open);
    const ir_type_t* whole = ir_type_tensor(n->ctx, type->element, type->rank, dims);
    ir_value_t* zero = graph_scalar_constant(n->b, type->element, 0);
    out[i] = (matrix_t){graph_broadcast(n->b, zero, whole, NULL, open), NULL};
    if (types.count == 2) out[i].im = out[i].re;
  }
  return true;
}

// The slice has the result's shape without the axis.
static bool check_slice(scan_t* s, lower_value_t slice, matrix_t all) {
  const ir_type_t *type = slice.v ? slice.v->type : NULL, *whole = all.re->type;
  bool fits = type && ir_type_is_tensor(type) && type->element == whole->element && type->rank == whole->rank - 1 &&
              (slice.im != NULL) == (all.im != NULL);
  for (int32_t i = 0; fits && i < type->rank; ++i) {
    fits = lower_sizes_fit(type->dims[i], whole->dims[i < s->axis ? i : i + 1]);
  }
  return fits || lower_error(s->n, "has a region that gives other slices than its results have");
}

//===----------------------------------------------------------------------------------------------------------------===
// The loop
//===----------------------------------------------------------------------------------------------------------------===

static bool run_body(scan_t* s, matrix_loop_t* loop) {
  lower_op_t* n = s->n;
  ir_builder_t* b = n->b;
  ir_value_t* k = loop->k;
  if (s->reverse) k = graph_binary(b, SCALAR_sub, matrix_more(b, s->size, -1), k);
  lower_value_t *args = ARENA_ARRAY(ir_context_arena(n->ctx), lower_value_t, s->inputs + s->carries), *results;
  for (uint32_t i = 0; i < s->inputs; ++i) {
    matrix_t slice = both(s, take, pair(n->values[i]), k);
    args[i] = (lower_value_t){.v = slice.re, .im = slice.im};
  }
  for (uint32_t i = 0; i < s->carries; ++i) {
    args[s->inputs + i] = (lower_value_t){.v = loop->values[i].re, .im = loop->values[i].im};
  }
  uint32_t count;
  matrix_t next[MATRIX_LOOP_VALUES];
  if (!lower_block(n->l, s->body, args, &results, &count)) return false;
  if (count != s->outputs + s->carries) return lower_error(n, "has a region that gives %u values", count);
  for (uint32_t i = 0; i < s->carries; ++i) {
    matrix_t carried = pair(results[s->outputs + i]), before = loop->values[i];
    bool fits = carried.re && carried.re->type == before.re->type && (carried.im != NULL) == (before.im != NULL);
    if (!fits) return lower_error(n, "has a region that carries other types along than the start values have");
    next[i] = carried;
  }
  for (uint32_t i = 0; i < s->outputs; ++i) {
    matrix_t all = loop->values[s->carries + i], slice = pair(results[i]);
    if (!check_slice(s, results[i], all)) return false;
    next[s->carries + i] = (matrix_t){put(s, all.re, slice.re, k), all.im ? put(s, all.im, slice.im, k) : NULL};
  }
  matrix_loop_end(loop, next);
  return true;
}

// All inputs have one length; where only a run of the program can tell, it stops.
static bool read_length(scan_t* s, ir_value_t* input) {
  lower_op_t* n = s->n;
  int64_t known = 0, own = 0;
  if (s->axis < 0 || s->axis >= input->type->rank)
    return lower_error(n, "dimension %lld is out of range", (long long)s->axis);
  ir_value_t* size = lower_size(n->b, input, (int32_t)s->axis);
  if (s->size && lower_size_constant(s->size, &known) && lower_size_constant(size, &own)) {
    return known == own || lower_error(n, "has inputs of different lengths");
  }
  if (s->size && !lower_size_same(s->size, size)) {
    ir_value_t* same = lower_as_tensor(n->b, graph_binary(n->b, SCALAR_eq, s->size, size));
    graph_assert(n->b, same, "what a scan goes along must have one length");
  }
  if (!s->size) s->size = size;
  return true;
}

static bool read_scan(lower_op_t* n, scan_t* s) {
  int64_t segments[2] = {0};
  uint32_t count = ir_op_ints(n->op, "operandSegmentSizes", segments, 2);
  s->body = n->op->regions[0].first;
  s->axis = ir_op_int(n->op, "dimension", -1);
  s->reverse = ir_op_flag(n->op, "is_reverse");
  bool fits = count == 2 && segments[0] >= 0 && segments[1] >= 0 && segments[0] + segments[1] == n->op->operand_count &&
              n->op->result_count >= segments[1];
  if (!fits) return lower_error(n, "needs inputs, start values and a result for each start value");
  s->inputs = (uint32_t)segments[0];
  s->carries = (uint32_t)segments[1];
  s->outputs = n->op->result_count - s->carries;
  if (!s->body || s->body->next || !s->body->last || s->body->arg_count != n->op->operand_count) {
    return lower_error(n, "needs a region with an argument for each operand");
  }
  if (n->op->result_count > MATRIX_LOOP_VALUES) return lower_unsupported(n, "%d results are", MATRIX_LOOP_VALUES);
  int64_t size = ir_op_int(n->op, "scan_dim_size", -1);
  if (size >= 0) s->size = graph_index_constant(n->b, size);
  for (uint32_t i = 0; i < n->op->operand_count; ++i) {
    const ir_type_t* type = n->in[i] ? n->in[i]->type : NULL;
    if (!type || !ir_type_is_tensor(type)) return lower_unsupported(n, "tensors are");
    if (i < s->inputs && !read_length(s, n->in[i])) return false;
  }
  return s->size || lower_error(n, "has no inputs and no scan_dim_size");
}

bool chlo_lower_scan(lower_op_t* n) {
  scan_t s = {.n = n};
  matrix_t values[MATRIX_LOOP_VALUES];
  if (!read_scan(n, &s)) return false;
  for (uint32_t i = 0; i < s.carries; ++i) values[i] = pair(n->values[s.inputs + i]);
  if (!empty_outputs(&s, values + s.carries)) return false;
  matrix_loop_t loop = {.counts_places = true};
  ir_builder_t saved = *n->b;
  matrix_loop_begin(&loop, n->b, s.size, values, n->op->result_count);
  if (!run_body(&s, &loop)) {
    *n->b = saved;
    return false;
  }
  for (uint32_t i = 0; i < n->op->result_count; ++i) {
    const matrix_t* from = &loop.values[i < s.outputs ? s.carries + i : i - s.outputs];
    n->out[i] = (lower_value_t){.v = from->re, .im = from->im};
  }
  return true;
}
