// Depthwise convolutions on GPUs: a thread makes a strip of results of one channel, one below the other, and reads what
// neighbouring results share once.
//
//   w[ky][kx] = weights of the channel
//   for y of the rows that the strip sees:  for kx:
//     v = image[y][column + kx]                         neighbours in neighbouring threads
//     for each result i and tap ky that meet in y:  acc[i] += v * w[ky][kx]
#include <assert.h>
#include <string.h>

#include "kernels/product.h"

enum { MAX_STRIP = 8, MAX_TAPS = 49, MAX_PRODUCTS = 144, MAX_GRID = 65535 };

typedef struct depthwise_t {
  product_t product;
  int64_t strip, strips;          // results of a thread; threads along a column of the result
  int64_t images, height, width;  // of the result
  bool uniform;                   // all threads of a workgroup have one image and channel
} depthwise_t;

static int64_t size_along(const char* layout, const ir_type_t* type, char name) {
  return type->dims[graph_layout_axis(layout, name)];
}

//===----------------------------------------------------------------------------------------------------------------===
// The strip's length
//===----------------------------------------------------------------------------------------------------------------===

// Rows of the image that a strip sees; with gaps when strides or dilations leave them out.
static int64_t rows_seen(const depthwise_t* t) {
  const product_t* p = &t->product;
  return (t->strip - 1) * p->conv.strides[0] + (p->window[0] - 1) * p->conv.w_dilation[0] + 1;
}

// Rough count of instructions; machines with many units need many waves.
static double plan_cost(const depthwise_t* t) {
  const product_t* p = &t->product;
  double threads = (double)(t->images * p->batch) * (double)(ceil_div(t->height, t->strip) * t->width);
  double each = (double)(rows_seen(t) * p->window[1] * 7 + t->strip * p->taps + t->strip * 8 + 60);
  return each * (threads / p->d->device->subgroup_size + (double)p->d->device->compute_units / 8);
}

static void plan(depthwise_t* t) {
  const product_t* p = &t->product;
  const ir_type_t* y = p->op->results[0].type;
  t->images = size_along(p->conv.y_layout, y, 'n');
  t->height = size_along(p->conv.y_layout, y, '0');
  t->width = size_along(p->conv.y_layout, y, '1');
  int64_t best = 1;
  double least = 0;
  for (t->strip = 1; t->strip <= MAX_STRIP && t->strip <= t->height; ++t->strip) {
    double cost = plan_cost(t);
    if (t->strip * p->taps > MAX_PRODUCTS || (least > 0 && cost >= least)) continue;
    least = cost;
    best = t->strip;
  }
  t->strip = best;
  t->strips = ceil_div(t->height, best);
  bool rows_inside = p->conv.y_layout[y->rank - 1] != 'c';
  t->uniform = rows_inside && t->strips * t->width >= 2 * GPU_WORKGROUP && t->images * p->batch <= MAX_GRID;
}

bool strategy_depthwise_proposes(const dispatch_t* d, candidate_t* c) {
  product_t p;
  if (!product_read(&p, (dispatch_t*)d) || !p.is_conv || p.dynamic) {
    return candidate_declines(c, "only run time knows sizes");
  }
  IR_FOR_OPS(op, d->body) {
    if (op != d->yield && (!eval_supports(op) || !ir_type_is_static(op->results[0].type))) {
      return candidate_declines(c, "only run time knows sizes");
    }
  }
  bool fits = p.spatial == 2 && p.rows == 1 && p.depth == 1 && p.batch > 1 && p.taps <= MAX_TAPS;
  return fits || candidate_declines(c, "channels are not apart, or the window is large");
}

//===----------------------------------------------------------------------------------------------------------------===
// The sum
//===----------------------------------------------------------------------------------------------------------------===

// A coordinate of the image, and whether it is inside (NULL: always).
typedef struct seen_t {
  linear_t at;
  ir_value_t* inside;
} seen_t;

static seen_t look(kernel_build_t* k, linear_t at, int64_t size) {
  int64_t min, max;
  linear_range(k, &at, &min, &max);
  if (min >= 0 && max < size) return (seen_t){at, NULL};
  ir_value_t* value = linear_scalar(k, &at);
  ir_value_t* inside = kernel_binary(&k->b, SCALAR_ltu, value, kernel_index(&k->b, size));
  ir_value_t* safe = kernel_ternary(&k->b, SCALAR_select, inside, value, kernel_index(&k->b, 0));
  index_set_facts(k, safe, 0, size - 1, 1);
  return (seen_t){linear_value(safe), inside};
}

static void load_weights(depthwise_t* t, ir_value_t** weights) {
  product_t* p = &t->product;
  for (int64_t tap = 0; tap < p->taps; ++tap) {
    product_tap_t at = product_tap(p, linear_constant(tap));
    weights[tap] = product_widen(p, PRODUCT_LEFT, product_left(p, linear_constant(0), &at, linear_constant(0)));
  }
}

static void accumulate(depthwise_t* t, int64_t row, int64_t kx, ir_value_t* value, ir_value_t* const* weights,
                       ir_value_t** acc) {
  const product_t* p = &t->product;
  kernel_build_t* k = &p->d->k;
  for (int64_t i = 0; i < t->strip; ++i) {
    int64_t below = row - i * p->conv.strides[0], ky = below / p->conv.w_dilation[0];
    if (below < 0 || below % p->conv.w_dilation[0] || ky >= p->window[0]) continue;
    ir_value_t* weight = weights[ky * p->window[1] + kx];
    acc[i] = eval_multiply_add(k, value, weight, acc[i]);
  }
}

static bool is_seen(const depthwise_t* t, int64_t row) {
  const product_t* p = &t->product;
  for (int64_t i = 0; i < t->strip; ++i) {
    int64_t below = row - i * p->conv.strides[0];
    if (below >= 0 && below % p->conv.w_dilation[0] == 0 && below / p->conv.w_dilation[0] < p->window[0]) return true;
  }
  return false;
}

static void sum(depthwise_t* t, const product_column_t* first, ir_value_t** acc) {
  product_t* p = &t->product;
  kernel_build_t* k = &p->d->k;
  const ir_type_t* x = ir_operand(p->op, 0)->type;
  int64_t height = size_along(p->conv.x_layout, x, '0'), width = size_along(p->conv.x_layout, x, '1');
  ir_value_t* weights[MAX_TAPS];
  seen_t across[MAX_TAPS];
  load_weights(t, weights);
  for (int64_t kx = 0; kx < p->window[1]; ++kx) {
    linear_t at = linear_scale(k, first->position[1], p->conv.strides[1]);
    at.constant += kx * p->conv.w_dilation[1] - p->conv.pad_low[1];
    across[kx] = look(k, at, width);
  }
  for (int64_t row = 0; row < rows_seen(t); ++row) {
    if (!is_seen(t, row)) continue;
    linear_t at = linear_scale(k, first->position[0], p->conv.strides[0]);
    at.constant += row - p->conv.pad_low[0];
    seen_t down = look(k, at, height);
    for (int64_t kx = 0; kx < p->window[1]; ++kx) {
      ir_value_t *a = down.inside, *b = across[kx].inside;
      product_point_t point = {.image = first->image,
                               .at = {down.at, across[kx].at},
                               .inside = a && b ? kernel_binary(&k->b, SCALAR_and, a, b)
                                         : a    ? a
                                                : b};
      ir_value_t* value = product_right(p, first, &point, linear_constant(0));
      accumulate(t, row, kx, product_widen(p, PRODUCT_RIGHT, value), weights, acc);
    }
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Around it
//===----------------------------------------------------------------------------------------------------------------===

static linear_t workgroup_z(kernel_build_t* k, int64_t count) {
  if (count == 1) return linear_constant(0);
  ir_value_t* id = kernel_id(&k->b, KERNEL_WORKGROUP_ID, 2);
  index_set_facts(k, id, 0, count - 1, 1);
  return linear_value(id);
}

// The thread's image, channel and place, in the result's order.
static iterations_t find_place(depthwise_t* t, product_column_t* first) {
  product_t* p = &t->product;
  dispatch_t* d = p->d;
  linear_t strip, at[4];
  iterations_t it;
  if (t->uniform) {
    int64_t outer[2] = {t->images, p->batch}, inner[2] = {t->strips, t->width};
    it = iterations_begin(d, t->strips * t->width, 1);
    d->workgroups[2] = t->images * p->batch;
    iterations_split(&d->k, workgroup_z(&d->k, d->workgroups[2]), outer, 2, at);
    iterations_split(&d->k, it.index, inner, 2, at + 2);
    first->image = at[0];
    p->at_batch = at[1];
    strip = at[2];
    first->position[1] = at[3];
  } else {
    int64_t sizes[4];
    for (int i = 0; i < 4; ++i) {
      char name = p->conv.y_layout[i];
      sizes[i] = name == 'n' ? t->images : name == 'c' ? p->batch : name == '0' ? t->strips : t->width;
    }
    it = iterations_begin(d, t->images * p->batch * t->strips * t->width, 1);
    iterations_split(&d->k, it.index, sizes, 4, at);
    const char* layout = p->conv.y_layout;
    first->image = at[graph_layout_axis(layout, 'n')];
    p->at_batch = at[graph_layout_axis(layout, 'c')];
    strip = at[graph_layout_axis(layout, '0')];
    first->position[1] = at[graph_layout_axis(layout, '1')];
  }
  first->position[0] = linear_scale(&d->k, strip, t->strip);
  return it;
}

static void store(depthwise_t* t, const product_column_t* first, ir_value_t* const* acc) {
  product_t* p = &t->product;
  kernel_build_t* k = &p->d->k;
  for (int64_t i = 0; i < t->strip; ++i) {
    product_column_t column = *first;
    column.position[0].constant += i;
    kernel_branch_t branch;
    bool guarded = t->strips * t->strip > t->height && i >= t->height - (t->strips - 1) * t->strip;
    if (guarded) {
      ir_value_t* row = linear_scalar(k, &column.position[0]);
      branch = kernel_if_begin(&k->b, kernel_binary(&k->b, SCALAR_lt, row, kernel_index(&k->b, t->height)), NULL, 0);
    }
    product_store(p, linear_constant(0), &column, acc[i]);
    if (guarded) kernel_if_end(&k->b, &branch, NULL, 0);
  }
}

void strategy_depthwise_build(dispatch_t* d) {
  kernel_build_t* k = &d->k;
  depthwise_t t = {0};
  bool read = product_read(&t.product, d);
  assert(read);
  (void)read;
  plan(&t);
  product_column_t first = {0};
  iterations_t it = find_place(&t, &first);
  ir_value_t* acc[MAX_STRIP];
  for (int64_t i = 0; i < t.strip; ++i) acc[i] = kernel_number(&k->b, t.product.accumulator, 0);
  sum(&t, &first, acc);
  store(&t, &first, acc);
  iterations_end(d, &it);
}
