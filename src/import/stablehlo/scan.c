// chlo.scan: its region on one slice after the other, with values that it carries along.
//
//   outputs[i], carries = body(inputs[i], carries)    i along `dimension`, from the end when is_reverse
#include "import/stablehlo/matrix.h"
#include "import/stablehlo/ops.h"

typedef struct scan_t {
  lower_op_t* n;
  ir_block_t* body;
  uint32_t inputs, carries, outputs;
  int64_t axis, size;
  bool reverse;
} scan_t;

static matrix_t pair(lower_value_t v) { return (matrix_t){v.v, v.im}; }

// Place k along the axis.
static ir_value_t* take(scan_t* s, ir_value_t* x, ir_value_t* k) {
  ir_builder_t* b = s->n->b;
  int64_t dims[GRAPH_MAX_RANK];
  uint32_t rank = (uint32_t)x->type->rank, kept = 0;
  ir_value_t* operands[GRAPH_MAX_RANK + 1] = {x};
  for (uint32_t i = 0; i < rank; ++i) {
    operands[1 + i] = i == s->axis ? k : graph_index_constant(b, 0);
    dims[i] = i == s->axis ? 1 : x->type->dims[i];
  }
  const ir_type_t* type = ir_type_tensor(b->ctx, x->type->element, (int32_t)rank, dims);
  ir_value_t* slice = graph_build(b, GRAPH_DYNAMIC_SLICE, operands, 1 + rank, type, NULL, 0);
  for (uint32_t i = 0; i < rank; ++i) {
    if (i != s->axis) dims[kept++] = x->type->dims[i];
  }
  return graph_reshape(b, slice, (int32_t)kept, dims, NULL);
}

static ir_value_t* put(scan_t* s, ir_value_t* all, ir_value_t* slice, ir_value_t* k) {
  ir_builder_t* b = s->n->b;
  int64_t dims[GRAPH_MAX_RANK];
  uint32_t rank = (uint32_t)all->type->rank;
  for (uint32_t i = 0; i < rank; ++i) dims[i] = i == s->axis ? 1 : all->type->dims[i];
  ir_value_t* operands[GRAPH_MAX_RANK + 2] = {all, graph_reshape(b, slice, (int32_t)rank, dims, NULL)};
  for (uint32_t i = 0; i < rank; ++i) operands[2 + i] = i == s->axis ? k : graph_index_constant(b, 0);
  return graph_build(b, GRAPH_DYNAMIC_UPDATE, operands, 2 + rank, all->type, NULL, 0);
}

static matrix_t both(scan_t* s, ir_value_t* (*map)(scan_t*, ir_value_t*, ir_value_t*), matrix_t x, ir_value_t* k) {
  return (matrix_t){map(s, x.re, k), x.im ? map(s, x.im, k) : NULL};
}

// A result without its elements; NULL after a diagnostic.
static bool empty_output(scan_t* s, uint32_t i, matrix_t* out) {
  lower_types_t types = LOWER_LIST(s->n->ctx);
  const ir_type_t* written = lower_out_type(s->n, i);
  bool fits = lower_flat_types(s->n->ctx, written, &types) && types.count && ir_type_is_tensor(types.items[0]) &&
              ir_type_is_static(types.items[0]) && types.items[0]->rank > s->axis &&
              types.items[0]->dims[s->axis] == s->size;
  if (!fits)
    return lower_unsupported(s->n, "a result of type %s is not one slice for each of the inputs'",
                             ir_type_str(s->n->ctx, written));
  *out = pair((lower_value_t){.v = graph_splat_number(s->n->b, types.items[0], 0)});
  if (types.count == 2) out->im = out->re;
  return true;
}

// The slice has the result's shape without the axis.
static bool check_slice(scan_t* s, lower_value_t slice, matrix_t all) {
  const ir_type_t *type = slice.v ? slice.v->type : NULL, *whole = all.re->type;
  bool fits = type && ir_type_is_tensor(type) && type->element == whole->element && type->rank == whole->rank - 1 &&
              (slice.im != NULL) == (all.im != NULL);
  for (int32_t i = 0; fits && i < type->rank; ++i) fits = type->dims[i] == whole->dims[i < s->axis ? i : i + 1];
  return fits || lower_error(s->n, "has a region that gives other slices than its results have");
}

static bool run_body(scan_t* s, matrix_loop_t* loop) {
  lower_op_t* n = s->n;
  ir_builder_t* b = n->b;
  ir_value_t* k = loop->k;
  if (s->reverse) k = graph_binary(b, SCALAR_sub, graph_index_constant(b, s->size - 1), k);
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
  s->size = ir_op_int(n->op, "scan_dim_size", -1);
  for (uint32_t i = 0; i < n->op->operand_count; ++i) {
    const ir_type_t* type = n->in[i] ? n->in[i]->type : NULL;
    if (!type || !ir_type_is_tensor(type) || !ir_type_is_static(type)) {
      return lower_unsupported(n, "tensors of static shape are; stablehlo.while carries any");
    }
    if (i >= s->inputs) continue;
    if (s->axis < 0 || s->axis >= type->rank)
      return lower_error(n, "dimension %lld is out of range", (long long)s->axis);
    if (s->size < 0) s->size = type->dims[s->axis];
    if (type->dims[s->axis] != s->size) return lower_error(n, "has inputs of different lengths");
  }
  return s->size >= 0 || lower_error(n, "has no inputs and no scan_dim_size");
}

bool chlo_lower_scan(lower_op_t* n) {
  scan_t s = {.n = n};
  matrix_t values[MATRIX_LOOP_VALUES];
  if (!read_scan(n, &s)) return false;
  for (uint32_t i = 0; i < s.carries; ++i) values[i] = pair(n->values[s.inputs + i]);
  for (uint32_t i = 0; i < s.outputs; ++i) {
    if (!empty_output(&s, i, &values[s.carries + i])) return false;
  }
  matrix_loop_t loop = {.counts_places = true};
  ir_builder_t saved = *n->b;
  matrix_loop_begin(&loop, n->b, graph_index_constant(n->b, s.size), values, n->op->result_count);
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
