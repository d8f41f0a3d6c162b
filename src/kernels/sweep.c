// See sweep.h.
//
//   for a row:   rows inside, and it is long?  columns first .. end, by vectors without guards, then
//                                              0 .. first and end .. size, by vectors with guards for columns
//                else                          all of it with guards; of a known size the same with guards for rows
// Neighbouring vectors overlap where the columns are no multiple of their lanes.
#include "kernels/sweep.h"

#include <string.h>

static sweep_reach_t read_conv(const ir_op_t* op, int32_t dim) {
  graph_conv_t c = graph_conv_read(op);
  const char* x = strchr(c.x_layout, c.y_layout[dim]);
  const char* w = strchr(c.w_layout, c.y_layout[dim]);
  if (!x || !w || c.y_layout[dim] < '0' || c.y_layout[dim] > '9') return (sweep_reach_t){.from = -1};
  int32_t i = c.y_layout[dim] - '0';
  return (sweep_reach_t){(int32_t)(x - c.x_layout),
                         ir_operand(op, 1)->type->dims[w - c.w_layout],
                         {c.strides[i], c.w_dilation[i], c.pad_low[i], c.x_dilation[i]}};
}

sweep_reach_t sweep_reach(const ir_op_t* op, int32_t dim) {
  if (ir_is(op, GRAPH_CONV)) return read_conv(op, dim);
  graph_window_t w = graph_window_read(op);
  if (eval_window_stays(&w, dim)) return (sweep_reach_t){.from = -1};
  eval_reach_t at = {w.strides[dim], w.dilations[dim], w.pad_low[dim], w.base_dilations[dim]};
  return (sweep_reach_t){dim, w.sizes[dim], at};
}

// How often scalar functions alone lead from `value` to `op`; -1 where something else may.
static int32_t count_paths(const ir_value_t* value, const ir_op_t* op, int32_t depth) {
  enum { DEEP = 16 };
  int32_t count = 0;
  if (value->def == op) return 1;
  if (!value->def || value->data) return 0;
  if (depth == DEEP) return -1;
  for (uint32_t i = 0; i < value->def->operand_count; ++i) {
    int32_t paths = count_paths(ir_operand(value->def, i), op, depth + 1);
    if (paths < 0 || (paths > 0 && graph_scalar_fn(value->def) < 0)) return -1;
    count |= paths;
  }
  return count;
}

bool sweep_read(const ir_op_t* op, sweep_t* out) {
  if (!ir_is(op, GRAPH_WINDOW) && !ir_is(op, GRAPH_CONV)) return false;
  *out = (sweep_t){.op = op};
  for (int32_t i = 0; i < op->results[0].type->rank; ++i) {
    sweep_reach_t r = sweep_reach(op, i);
    if (r.from < 0) continue;
    if (r.at.spread != 1 || r.window == IR_DYNAMIC || r.window < 1) return false;
    out->dims |= 1u << i;
  }
  return true;
}

bool sweep_find(const dispatch_t* d, ir_value_t* domain, sweep_t* out) {
  const ir_op_t* op = d->root;
  if (!op || d->device->kind != DEVICE_CPU || !sweep_read(op, out)) return false;
  if (!eval_same_shape(&op->results[0], domain) || count_paths(domain, op, 0) <= 0) return false;
  return out->dims >> (domain->type->rank - 1) & 1;
}

// Coordinates first .. end of a dimension: where all of a window lies inside.
static share_t inside_range(kernel_build_t* k, const sweep_t* s, const ir_value_t* domain, int32_t dim) {
  sweep_reach_t r = sweep_reach(s->op, dim);
  ir_value_t *size = eval_size(k, ir_operand(s->op, 0), r.from), *count = eval_size(k, domain, dim);
  int64_t stride = r.at.stride, low = r.at.low, before = low > 0 ? (low + stride - 1) / stride : 0;
  int64_t around = low - (r.window - 1) * r.at.dilation - 1 + stride;
  ir_value_t* first = index_binary(k, SCALAR_min, count, index_constant(k, before));
  ir_value_t* end = index_binary(k, SCALAR_add, size, index_constant(k, around));
  end = index_binary(k, SCALAR_max, end, index_constant(k, 0));
  end = index_binary(k, SCALAR_divu, end, index_constant(k, stride));
  end = index_binary(k, SCALAR_min, index_binary(k, SCALAR_max, end, first), count);
  return (share_t){first, end};
}

static bool range_is_known(const share_t* range, int64_t* lower, int64_t* upper) {
  return kernel_constant_index(range->lower, lower) && kernel_constant_index(range->upper, upper);
}

// Vectors over `part`, none of which begins behind `most`.
static void neighbours(dispatch_t* d, share_t part, ir_value_t* most, int64_t lanes, const strip_call_t* call) {
  kernel_build_t* k = &d->k;
  int64_t outer_lanes = k->lanes, lower, upper, last;
  bool known = range_is_known(&part, &lower, &upper) && kernel_constant_index(most, &last);
  if (known && lower >= upper) return;
  k->lanes = lanes;
  if (known && upper - lower <= lanes) {
    linear_t only = linear_constant(lower < last ? lower : last);
    only.lane = 1;
    call->body(d, only, NULL, call->user);
    k->lanes = outer_lanes;
    return;
  }
  kernel_loop_t loop = kernel_loop_begin(k, part.lower, part.upper, lanes, NULL, 0);
  linear_t at = linear_value(kernel_binary(&k->b, SCALAR_min, loop.index, most));
  at.lane = 1;
  call->body(d, at, NULL, call->user);
  kernel_for_end(&k->b, &loop, NULL, 0);
  k->lanes = outer_lanes;
}

// Whether the other dimensions' coordinates are inside, NULL when they always are.
static ir_value_t* others_inside(kernel_build_t* k, const sweep_t* s, const ir_value_t* domain,
                                 const linear_t* coords) {
  ir_value_t* all = NULL;
  for (int32_t i = 0; i < domain->type->rank - 1; ++i) {
    if (!(s->dims >> i & 1)) continue;
    share_t range = inside_range(k, s, domain, i);
    int64_t lower, upper;
    bool known = range_is_known(&range, &lower, &upper);
    if (known && lower == 0 && upper == domain->type->dims[i]) continue;
    ir_value_t* from = kernel_binary(&k->b, SCALAR_sub, linear_scalar(k, &coords[i]), range.lower);
    ir_value_t* length = kernel_binary(&k->b, SCALAR_sub, range.upper, range.lower);
    if (s->strip > 1 && i == s->strip_dim) {  // all of them
      length = kernel_add_const(&k->b, length, 1 - s->strip);
      length = kernel_binary(&k->b, SCALAR_max, length, kernel_index(&k->b, 0));
    }
    ir_value_t* here = kernel_binary(&k->b, SCALAR_ltu, from, length);
    all = all ? kernel_binary(&k->b, SCALAR_and, all, here) : here;
  }
  return all;
}

// Whole vectors that hold so many.
static ir_value_t* whole_vectors(kernel_build_t* k, ir_value_t* count, int64_t lanes) {
  ir_value_t* vectors = index_binary(k, SCALAR_add, count, index_constant(k, lanes - 1));
  vectors = index_binary(k, SCALAR_divu, vectors, index_constant(k, lanes));
  return index_binary(k, SCALAR_mul, vectors, index_constant(k, lanes));
}

// A line at least a vector of which is inside along its own dimension; along those of `others` all of it is.
static void long_line(dispatch_t* d, const sweep_t* s, share_t inside, ir_value_t* domain, uint32_t others,
                      int64_t lanes, const strip_call_t* call) {
  kernel_build_t* k = &d->k;
  int32_t last = domain->type->rank - 1;
  ir_value_t* size = eval_size(k, domain, last);
  ir_value_t *zero = index_constant(k, 0), *step = index_constant(k, lanes);
  ir_value_t *left = inside.lower, *right = inside.upper;
  if (d->device->has_masks) {
    left = whole_vectors(k, left, lanes);
    right = index_binary(k, SCALAR_sub, size, whole_vectors(k, index_binary(k, SCALAR_sub, size, right), lanes));
    right = index_binary(k, SCALAR_max, right, left);
  }
  k->inside_op = s->op;
  k->inside_dims = others | 1u << last;
  neighbours(d, (share_t){left, right}, index_binary(k, SCALAR_sub, inside.upper, step), lanes, call);
  // The left border's vectors end before the right border begins.
  k->inside_dims = others;
  share_t borders[2] = {{zero, left}, {right, size}};
  for (int i = 0; i < 2; ++i) {
    int64_t lower, upper;
    if (range_is_known(&borders[i], &lower, &upper) && lower == upper) continue;
    k->before_end_dims = i ? 0 : 1u << last;
    if (d->device->has_masks) {
      neighbours(d, borders[i], index_binary(k, SCALAR_sub, size, step), lanes, call);
    } else {
      strips_between(d, borders[i], lanes, NULL, 0, call);
    }
  }
  k->before_end_dims = 0;
  k->inside_op = NULL;
}

// A line of known size.
static void fixed_line(dispatch_t* d, const sweep_t* s, share_t inside, ir_value_t* domain, uint32_t others,
                       int64_t lanes, const strip_call_t* call) {
  kernel_build_t* k = &d->k;
  int64_t lower, upper;
  if (range_is_known(&inside, &lower, &upper) && upper - lower >= lanes) {
    long_line(d, s, inside, domain, others, lanes, call);
    return;
  }
  k->inside_op = s->op;
  k->inside_dims = others;
  strips(d, domain->type->dims[domain->type->rank - 1], lanes, NULL, 0, call->body, call->user);
  k->inside_op = NULL;
}

void sweep_line(dispatch_t* d, const sweep_t* s, ir_value_t* domain, const linear_t* coords, int64_t lanes,
                const strip_call_t* call) {
  kernel_build_t* k = &d->k;
  int32_t last = domain->type->rank - 1;
  share_t inside = inside_range(k, s, domain, last);
  ir_value_t *zero = index_constant(k, 0), *size = eval_size(k, domain, last);
  uint32_t dims = s->dims & ~(1u << last);
  ir_value_t* others = others_inside(k, s, domain, coords);
  int64_t lower, upper;
  if (range_is_known(&inside, &lower, &upper)) {
    kernel_branch_t apart = {0};
    if (others) apart = kernel_if_begin(&k->b, others, NULL, 0);
    fixed_line(d, s, inside, domain, dims, lanes, call);
    if (!others) return;
    kernel_if_else(&k->b, &apart, NULL, 0);
    fixed_line(d, s, inside, domain, 0, lanes, call);
    kernel_if_end(&k->b, &apart, NULL, 0);
    return;
  }
  ir_value_t* length = index_binary(k, SCALAR_sub, inside.upper, inside.lower);
  ir_value_t* fast = kernel_binary(&k->b, SCALAR_ge, length, index_constant(k, lanes));
  if (others) fast = kernel_binary(&k->b, SCALAR_and, fast, others);
  kernel_branch_t branch = kernel_if_begin(&k->b, fast, NULL, 0);
  long_line(d, s, inside, domain, dims, lanes, call);
  kernel_if_else(&k->b, &branch, NULL, 0);
  strips_between(d, (share_t){zero, size}, lanes, NULL, 0, call);
  kernel_if_end(&k->b, &branch, NULL, 0);
}
