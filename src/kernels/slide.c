// Windows and depthwise convolutions on CPUs over images that lie line by line (channels first), by vectors along the
// lines. A strip of results, one behind the other along another dimension of the window, is made at once, so that what
// several of them see is read, and in windows combined along the line, once.
//
//   for images, channels, strips, vectors of columns:
//     for each row that the strip sees (that is inside; nobody asks but at the borders):
//       window:        line = combine of x[row][columns * stride + tap] over the taps
//                      acc[i] = combine(acc[i], line) for the results that see the row
//       convolution:   acc[i] += x[row][columns * stride + tap] * w[row - i * stride][tap] over the taps
//
// The last strip ends with the image, and makes what it shares with the one before again.
#include "kernels/slide.h"

#include <assert.h>
#include <string.h>

#include "kernels/sweep.h"

enum { MAX_STRIP = 4, CHAINS = 8, LONG_CODE = 200, MAX_TAPS = 100, LEAST_COLUMNS = 4, OPEN_PARTS = 8 };

typedef struct slide_t {
  dispatch_t* d;
  ir_op_t* op;
  bool is_conv;
  graph_conv_t conv;
  int64_t multiplier;  // a convolution's results for each channel of the image
  const char* kind;    // of the combination
  const ir_type_t* accumulator;
  sweep_t sweep;
  int32_t last;                 // the result's dimension of columns
  sweep_reach_t columns, rows;  // rows: along sweep.strip_dim; one of each where there is none
  uint32_t outer_count;         // other dimensions along which the window reaches
  int32_t outer[GRAPH_MAX_RANK];
  int64_t chains;               // sums of each result, by columns of the kernel, which do not wait for each other
  linear_t at[GRAPH_MAX_RANK];  // of the strip's first results
  ir_value_t* weights[MAX_TAPS];
  guard_t guards[MAX_TAPS];  // of the columns that taps read
  linear_t taps[MAX_TAPS];
} slide_t;

//===----------------------------------------------------------------------------------------------------------------===
// Which ones
//===----------------------------------------------------------------------------------------------------------------===

static bool is_depthwise(const ir_op_t* op) {
  graph_conv_t c = graph_conv_read(op);
  const ir_type_t* w = ir_operand(op, 1)->type;
  int64_t out = w->dims[graph_layout_axis(c.w_layout, 'o')];
  return c.batch_groups == 1 && c.groups > 1 && w->dims[graph_layout_axis(c.w_layout, 'i')] == 1 && out != IR_DYNAMIC &&
         out % c.groups == 0;
}

// The dimension of strips: the last one before the columns; long ones where neighbours share what they see.
static void plan(slide_t* s) {
  const sweep_reach_t one = {.from = -1, .window = 1, .at = {1, 1, 0, 1}};
  const ir_type_t* type = s->op->results[0].type;
  s->last = type->rank - 1;
  s->columns = s->rows = one;
  s->sweep.strip_dim = -1;
  s->sweep.strip = 1;
  s->outer_count = 0;
  if (s->sweep.dims >> s->last & 1) s->columns = sweep_reach(s->op, s->last);
  for (int32_t i = s->last; i-- > 0;) {
    if (!(s->sweep.dims >> i & 1)) continue;
    sweep_reach_t r = sweep_reach(s->op, i);
    if (s->sweep.strip_dim < 0 && r.window <= MAX_TAPS) {
      s->sweep.strip_dim = i;
      s->rows = r;
    } else {
      s->outer[s->outer_count++] = i;
    }
  }
  int64_t size = s->sweep.strip_dim < 0 ? 1 : type->dims[s->sweep.strip_dim];
  int64_t taps = s->rows.window * s->columns.window;
  bool shares = (s->rows.window - 1) * s->rows.at.dilation + 1 > s->rows.at.stride;
  while (shares && s->sweep.strip < MAX_STRIP && (s->sweep.strip + 1) * taps <= LONG_CODE &&
         (size == IR_DYNAMIC || s->sweep.strip < size)) {
    ++s->sweep.strip;
  }
  s->chains = s->is_conv ? CHAINS / s->sweep.strip : 1;
  if (s->chains > s->columns.window) s->chains = s->columns.window;
}

static bool declines(const char** why, const char* text) {
  if (why) *why = text;
  return false;
}

static bool slide_read(slide_t* s, const ir_op_t* op, const char** why) {
  memset(s, 0, sizeof(*s));
  s->op = (ir_op_t*)op;
  s->is_conv = ir_is(op, GRAPH_CONV);
  const ir_type_t *x = ir_operand(op, 0)->type, *y = op->results[0].type;
  if (s->is_conv && !is_depthwise(op)) return declines(why, "its results are sums over channels");
  if (y->rank < 2 || !sweep_read(op, &s->sweep) || !s->sweep.dims) return declines(why, "its operand has holes");
  s->kind = "add";
  s->multiplier = 1;
  if (s->is_conv) {
    s->conv = graph_conv_read(op);
    const ir_type_t* w = ir_operand(op, 1)->type;
    s->multiplier = w->dims[graph_layout_axis(s->conv.w_layout, 'o')] / s->conv.groups;
  } else {
    s->kind = graph_get_kind(op);
  }
  plan(s);
  bool along = s->columns.from < 0 ? !s->is_conv : s->columns.from == x->rank - 1;
  if (!along) return declines(why, "its lines do not lie in memory");
  int64_t size = y->dims[s->last];
  if (size != IR_DYNAMIC && size < LEAST_COLUMNS) return declines(why, "its lines are short");
  if (s->rows.window * s->columns.window > MAX_TAPS) return declines(why, "its window is large");
  return true;
}

bool slide_takes(const device_info_t* device, const ir_op_t* op, const char** why) {
  slide_t s;
  if (device->kind != DEVICE_CPU || device->vector_bytes < 16) return declines(why, "the device has no vectors");
  if (!slide_read(&s, op, why)) return false;
  for (const ir_op_t* behind = op->next; behind; behind = behind->next) {
    if (ir_is(behind, GRAPH_TRANSPOSE)) return declines(why, "results are transposed");
  }
  IR_FOR_OPS(other, op->parent) {
    if (ir_is(other, GRAPH_UNPACK) || ir_is(other, GRAPH_PACK)) return declines(why, "channels are in blocks");
  }
  return true;
}

bool strategy_slide_proposes(const dispatch_t* d, candidate_t* c) {
  if (graph_in_place(d->op) >= 0) return candidate_declines(c, "results are in an operand's place");
  return slide_takes(d->device, d->root, &c->why) && candidate_evaluates(d, NULL, c);
}

//===----------------------------------------------------------------------------------------------------------------===
// What a strip sees
//===----------------------------------------------------------------------------------------------------------------===

// The kernel's row that result i of a strip multiplies with `row` of those that the strip sees; -1: none.
static int64_t row_tap(const slide_t* s, int64_t row, int64_t i) {
  int64_t below = row - i * s->rows.at.stride, dilation = s->rows.at.dilation;
  return below >= 0 && below % dilation == 0 && below / dilation < s->rows.window ? below / dilation : -1;
}

static ir_value_t* weight(slide_t* s, const linear_t* outer, int64_t row, int64_t column) {
  kernel_build_t* k = &s->d->k;
  int64_t number = row * s->columns.window + column, lanes = k->lanes;
  if (s->weights[number]) return s->weights[number];
  const char *w_layout = s->conv.w_layout, *y_layout = s->conv.y_layout;
  linear_t at[GRAPH_MAX_RANK];
  at[graph_layout_axis(w_layout, 'o')] = s->at[graph_layout_axis(y_layout, 'c')];
  at[graph_layout_axis(w_layout, 'i')] = linear_constant(0);
  for (uint32_t i = 0; i < s->outer_count; ++i) at[graph_layout_axis(w_layout, y_layout[s->outer[i]])] = outer[i];
  if (s->sweep.strip_dim >= 0) at[graph_layout_axis(w_layout, y_layout[s->sweep.strip_dim])] = linear_constant(row);
  at[graph_layout_axis(w_layout, y_layout[s->last])] = linear_constant(column);
  k->lanes = 1;
  ir_value_t* value = eval_widened(k, s->op, 1, at);
  k->lanes = lanes;
  return value;
}

// Where `tap` of the strip's first results is along a dimension of the image.
static linear_t tap_at(slide_t* s, guard_t* guard, const sweep_reach_t* reach, int32_t dim, linear_t tap) {
  eval_tap_t at = {.op = s->op, .dim = dim, .reach = reach->at, .out = s->at[dim], .tap = tap};
  at.size = eval_extent(ir_operand(s->op, 0), reach->from);
  return eval_tap(&s->d->k, guard, &at);
}

// Columns of the image for each tap, and under which conditions they are there.
static void find_columns(slide_t* s) {
  for (int64_t tap = 0; tap < s->columns.window; ++tap) {
    s->guards[tap] = (guard_t){0};
    s->taps[tap] = s->at[s->last];
    if (s->columns.from < 0) continue;
    s->taps[tap] = tap_at(s, &s->guards[tap], &s->columns, s->last, linear_constant(tap));
  }
}

static ir_value_t* load(slide_t* s, linear_t* in, int64_t tap) {
  kernel_build_t* k = &s->d->k;
  in[ir_operand(s->op, 0)->type->rank - 1] = s->taps[tap];
  if (s->is_conv) return kernel_splat(&k->b, eval_widened(k, s->op, 0, in), k->lanes);
  return eval_convert(k, eval_lanes(k, ir_operand(s->op, 0), in), s->accumulator);
}

// A row of a window joins the results that see it. NULL: nothing is in one yet.
static void combine_row(slide_t* s, linear_t* in, int64_t row, ir_value_t** acc) {
  kernel_build_t* k = &s->d->k;
  scalar_fn_t fn = eval_combiner(s->kind);
  ir_value_t* line = NULL;
  for (int64_t tap = 0; tap < s->columns.window; ++tap) {
    guard_t guard = s->guards[tap];
    bool is_guarded = guard.mask || guard.condition;
    if (is_guarded && !line) line = eval_start_value(k, s->kind, s->accumulator, k->lanes);
    guard_begin(k, &guard, s->accumulator);
    ir_value_t* value = load(s, in, tap);
    if (line) value = kernel_binary(&k->b, fn, line, value);
    line = guard_end(k, &guard, value, line);
  }
  for (int64_t i = 0; i < s->sweep.strip; ++i) {
    if (row_tap(s, row, i) < 0) continue;
    acc[i] = acc[i] ? kernel_binary(&k->b, fn, acc[i], line) : line;
  }
}

// The products of a row with all that see it.
static void multiply_row(slide_t* s, const linear_t* outer, linear_t* in, int64_t row, ir_value_t** acc) {
  kernel_build_t* k = &s->d->k;
  for (int64_t tap = 0; tap < s->columns.window; ++tap) {
    guard_t guard = s->guards[tap];
    ir_value_t *sums[MAX_STRIP], **chain = acc + tap % s->chains * s->sweep.strip;
    uint32_t count = (uint32_t)s->sweep.strip;
    memcpy(sums, chain, sizeof(*sums) * count);
    guard_begin_all(k, &guard, s->accumulator, count);
    ir_value_t* value = load(s, in, tap);
    for (int64_t i = 0; i < s->sweep.strip; ++i) {
      int64_t tap_row = row_tap(s, row, i);
      if (tap_row < 0) continue;
      ir_value_t* w = kernel_splat(&k->b, weight(s, outer, tap_row, tap), k->lanes);
      sums[i] = eval_multiply_add(k, value, w, sums[i]);
    }
    guard_end_all(k, &guard, sums, chain, count);
    memcpy(chain, sums, sizeof(*sums) * count);
  }
}

static void see_row(slide_t* s, const linear_t* outer, linear_t* in, int64_t row, ir_value_t** acc) {
  if (s->is_conv) {
    multiply_row(s, outer, in, row, acc);
  } else {
    combine_row(s, in, row, acc);
  }
}

static uint32_t sum_count(const slide_t* s) { return (uint32_t)(s->sweep.strip * s->chains); }

// All rows, at taps of the outer dimensions.
static void see_rows(kernel_build_t* k, const linear_t* outer, ir_value_t** acc, void* user) {
  slide_t* s = user;
  linear_t in[GRAPH_MAX_RANK];
  guard_t outside = {0};
  const ir_value_t* x = ir_operand(s->op, 0);
  uint32_t count = sum_count(s);
  if (s->is_conv) {
    linear_t rest;
    int32_t c = graph_layout_axis(s->conv.x_layout, 'c');
    in[graph_layout_axis(s->conv.x_layout, 'n')] = s->at[graph_layout_axis(s->conv.y_layout, 'n')];
    linear_divide(k, s->at[graph_layout_axis(s->conv.y_layout, 'c')], s->multiplier, &in[c], &rest);
  } else {
    memcpy(in, s->at, sizeof(*in) * (size_t)x->type->rank);
  }
  for (uint32_t i = 0; i < s->outer_count; ++i) {
    sweep_reach_t r = sweep_reach(s->op, s->outer[i]);
    in[r.from] = tap_at(s, &outside, &r, s->outer[i], outer[i]);
  }
  int64_t rows = (s->sweep.strip - 1) * s->rows.at.stride + (s->rows.window - 1) * s->rows.at.dilation + 1;
  sweep_reach_t each = s->rows;
  each.at.dilation = 1;
  for (int64_t row = 0; row < rows; ++row) {
    bool is_seen = false;
    for (int64_t i = 0; i < s->sweep.strip; ++i) is_seen |= row_tap(s, row, i) >= 0;
    if (!is_seen) continue;
    guard_t guard = outside;
    ir_value_t* values[CHAINS];
    if (s->rows.from >= 0) {
      in[s->rows.from] = tap_at(s, &guard, &each, s->sweep.strip_dim, linear_constant(row));
    }
    for (uint32_t i = 0; guard.condition && i < count; ++i) {
      if (!acc[i]) acc[i] = eval_start_value(k, s->kind, s->accumulator, k->lanes);
    }
    memcpy(values, acc, sizeof(*values) * count);
    guard_begin_all(k, &guard, s->accumulator, count);
    see_row(s, outer, in, row, values);
    guard_end_all(k, &guard, values, acc, count);
    memcpy(acc, values, sizeof(*values) * count);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// A strip
//===----------------------------------------------------------------------------------------------------------------===

static void store(slide_t* s, int64_t i, ir_value_t* value) {
  dispatch_t* d = s->d;
  kernel_build_t* k = &d->k;
  ir_value_t* result = ir_result(s->op, 0);
  linear_t at[GRAPH_MAX_RANK];
  int32_t dim = s->sweep.strip_dim;
  memcpy(at, s->at, sizeof(*at) * (size_t)result->type->rank);
  kernel_branch_t branch = {0};
  if (dim >= 0) at[dim].constant += i;
  if (i && result->type->dims[dim] == IR_DYNAMIC) {
    ir_value_t* row = linear_scalar(k, &at[dim]);
    branch = kernel_if_begin(&k->b, kernel_binary(&k->b, SCALAR_lt, row, eval_size(k, result, dim)), NULL, 0);
  }
  eval_set_bound(k, result, eval_convert(k, value, ir_type_scalar(result->type)));
  epilogue_store(d, result, at);
  result->data = NULL;
  if (branch.op) kernel_if_end(&k->b, &branch, NULL, 0);
}

static void strip_body(dispatch_t* d, linear_t at, ir_value_t** accumulators, void* user) {
  (void)accumulators;
  slide_t* s = user;
  kernel_build_t* k = &d->k;
  ir_value_t* acc[CHAINS] = {0};
  uint32_t count = sum_count(s);
  extent_t sizes[GRAPH_MAX_RANK];
  s->at[s->last] = at;
  find_columns(s);
  for (uint32_t i = 0; (s->is_conv || s->outer_count) && i < count; ++i) {
    acc[i] = eval_start_value(k, s->kind, s->accumulator, k->lanes);
  }
  for (uint32_t i = 0; i < s->outer_count; ++i) sizes[i] = extent_fixed(sweep_reach(s->op, s->outer[i]).window);
  eval_loops(k, sizes, s->outer_count, acc, count, see_rows, s);
  for (uint32_t i = (uint32_t)s->sweep.strip; i < count; ++i) {
    ir_value_t** sum = &acc[i % s->sweep.strip];
    *sum = kernel_binary(&k->b, SCALAR_add, *sum, acc[i]);
  }
  for (int64_t i = 0; i < s->sweep.strip; ++i) store(s, i, acc[i]);
}

// A strip's lines, its first coordinates being set.
static void build_strip(slide_t* s, int64_t lanes) {
  dispatch_t* d = s->d;
  ir_value_t* result = ir_result(s->op, 0);
  extent_t size = eval_extent(result, s->last);
  strip_call_t call = {strip_body, s, NULL};
  for (int64_t row = 0; s->is_conv && !s->outer_count && row < s->rows.window; ++row) {
    for (int64_t tap = 0; tap < s->columns.window; ++tap) {
      ir_value_t* value = weight(s, NULL, row, tap);
      s->weights[row * s->columns.window + tap] = value;
    }
  }
  if (s->sweep.dims >> s->last & 1) {
    sweep_line(d, &s->sweep, result, s->at, lanes, &call);
  } else if (extent_is_fixed(&size) && size.factor >= lanes) {
    strips_whole(d, 0, size.factor, lanes, &call);
  } else {
    strips_extent(d, &size, lanes, NULL, 0, &call);
  }
  memset(s->weights, 0, sizeof(s->weights));
}

// Strips of a dimension of run-time size, every so-manieth.
static void build_open_strips(slide_t* s, int64_t lanes, linear_t part) {
  kernel_build_t* k = &s->d->k;
  int64_t strip = s->sweep.strip;
  ir_value_t* size = eval_size(k, ir_result(s->op, 0), s->sweep.strip_dim);
  linear_t first = linear_scale(k, part, strip);
  kernel_loop_t loop = kernel_loop_begin(k, linear_scalar(k, &first), size, strip * OPEN_PARTS, NULL, 0);
  ir_value_t* most = kernel_binary(&k->b, SCALAR_max, kernel_add_const(&k->b, size, -strip), kernel_index(&k->b, 0));
  ir_value_t* row = kernel_binary(&k->b, SCALAR_min, loop.index, most);
  index_set_facts(k, row, 0, index_facts(size).max, 1);
  s->at[s->sweep.strip_dim] = linear_value(row);
  build_strip(s, lanes);
  kernel_for_end(&k->b, &loop, NULL, 0);
}

// A register's; of products two registers' where that is no more than the columns need, for each weight that is read.
static int64_t lanes_of(slide_t* s) {
  enum { MANY = 1 << 20 };
  int64_t size = s->op->results[0].type->dims[s->last], lanes = dispatch_lanes(s->d, MANY);
  bool has_masks = s->d->device->has_masks;
  while (size != IR_DYNAMIC && lanes > 1 && (has_masks ? lanes / 2 >= size : lanes > size)) lanes /= 2;
  bool twice = s->is_conv && size >= 2 * lanes && ceil_div(size, lanes) == 2 * ceil_div(size, 2 * lanes);
  if (!twice) return lanes;
  if (s->chains > 1) s->chains /= 2;
  return 2 * lanes;
}

void strategy_slide_build(dispatch_t* d) {
  kernel_build_t* k = &d->k;
  slide_t s;
  bool read = slide_read(&s, d->root, NULL);
  assert(read);
  (void)read;
  s.d = d;
  ir_value_t* result = ir_result(s.op, 0);
  s.accumulator = eval_accumulator(d->ctx, result->type->element);
  extent_t sizes[GRAPH_MAX_RANK], outer = extent_fixed(1), columns = eval_extent(result, s.last);
  int64_t lanes = lanes_of(&s), strip = s.sweep.strip, cost = dispatch_cost(d) * extent_guess(&columns) * strip;
  int32_t dim = s.sweep.strip_dim;
  eval_extents(result, sizes);
  bool is_open = dim >= 0 && !extent_is_fixed(&sizes[dim]);
  int64_t rows = dim >= 0 && !is_open ? sizes[dim].factor : 0;
  if (is_open) cost *= ceil_div(extent_guess(&sizes[dim]), strip * OPEN_PARTS);
  if (dim >= 0) sizes[dim] = extent_fixed(is_open ? OPEN_PARTS : ceil_div(rows, strip));
  for (int32_t i = 0; i < s.last; ++i) outer = extent_product(outer, sizes[i]);
  iterations_t it = iterations_dynamic(d, &outer, cost);
  iterations_split_extents(k, it.index, sizes, s.last, s.at);
  if (is_open) {
    build_open_strips(&s, lanes, s.at[dim]);
  } else {
    if (dim >= 0) {
      s.at[dim] = linear_scale(k, s.at[dim], strip);
      if (rows % strip) {
        ir_value_t* row =
            kernel_binary(&k->b, SCALAR_min, linear_scalar(k, &s.at[dim]), kernel_index(&k->b, rows - strip));
        index_set_facts(k, row, 0, rows - strip, 1);
        s.at[dim] = linear_value(row);
      }
    }
    build_strip(&s, lanes);
  }
  iterations_end(d, &it);
}
