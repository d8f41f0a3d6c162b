// Which rows of the kernel meet the image, for the output row at work. See conv_plan.h.
#include "kernels/conv_plan.h"

// max(x, 0) / step, rounded up, at most `most`.
static ir_value_t* steps_to(conv_plan_t* p, linear_t x, int64_t step, ir_value_t* most, int64_t kernel) {
  kernel_build_t* k = &p->d->k;
  x.constant += step - 1;
  ir_value_t* v = kernel_binary(&k->b, SCALAR_max, linear_scalar(k, &x), kernel_index(&k->b, 0));
  if (step > 1) v = kernel_binary(&k->b, SCALAR_divu, v, kernel_index(&k->b, step));
  v = kernel_binary(&k->b, SCALAR_min, v, most);
  int64_t constant;
  if (!kernel_constant_index(v, &constant)) index_set_facts(k, v, 0, kernel, 1);
  return v;
}

// The inverse of x modulo n, for x that has one.
static int64_t inverse_modulo(int64_t x, int64_t n) {
  for (int64_t i = 1; i < n; ++i) {
    if (i * x % n == 1) return i;
  }
  return 0;
}

// With a dilated input: the first row that meets one that exists, where that is, and how many rows there are (in
// upper). Taps meet rows when (row * stride - pad + tap * w_dilation) divides by x_dilation.
static void first_kernel_row(conv_plan_t* p, uint32_t dim, conv_rows_t* rows) {
  kernel_build_t* k = &p->d->k;
  const conv_sweep_t* s = &p->sweeps[dim];
  int64_t d = s->x_dilation, common = conv_gcd(s->w_dilation, d), step = d / common;
  int64_t lift = s->pad_low > 0 ? ceil_div(s->pad_low, d) : 0;  // keeps everything positive
  linear_t position = linear_scale(k, p->row[dim], s->stride), whole, rest;
  position.constant += lift * d - s->pad_low;
  linear_divide(k, position, d, &whole, &rest);
  linear_t missing = linear_scale(k, rest, -1), tap = linear_constant(0);
  missing.constant += d;  // 1 .. d
  if (step > 1) {
    linear_t part, unused;
    linear_divide(k, missing, common, &part, &unused);
    linear_divide(k, linear_scale(k, part, inverse_modulo(s->w_dilation / common % step, step)), step, &unused, &tap);
  }
  linear_t at = linear_add(k, position, linear_scale(k, tap, s->w_dilation)), unused;
  linear_divide(k, at, d, &rows->at, &unused);
  rows->at.constant -= lift;
  rows->tap = tap;
  linear_t count = linear_scale(k, tap, -1);
  count.constant += s->kernel;
  rows->upper = steps_to(p, count, step, kernel_index(&k->b, s->kernel), s->kernel);
  if (common == 1) return;
  linear_t part, off;
  linear_divide(k, missing, common, &part, &off);  // else no tap meets any
  ir_value_t* meets = kernel_binary(&k->b, SCALAR_eq, linear_scalar(k, &off), kernel_index(&k->b, 0));
  rows->upper = kernel_ternary(&k->b, SCALAR_select, meets, rows->upper, kernel_index(&k->b, 0));
  int64_t constant;
  if (!kernel_constant_index(rows->upper, &constant)) index_set_facts(k, rows->upper, 0, s->kernel, 1);
}

conv_rows_t conv_find_rows(conv_plan_t* p, uint32_t dim) {
  kernel_build_t* k = &p->d->k;
  const conv_sweep_t* s = &p->sweeps[dim];
  int64_t common = conv_gcd(s->w_dilation, s->x_dilation), min, max;
  conv_rows_t rows = {.lower = kernel_index(&k->b, 0), .upper = kernel_index(&k->b, s->kernel)};
  rows.tap_step = s->x_dilation / common, rows.at_step = s->w_dilation / common;
  rows.tap = linear_constant(0);
  rows.at = linear_scale(k, p->row[dim], s->stride);
  rows.at.constant -= s->pad_low;
  if (s->x_dilation > 1) first_kernel_row(p, dim, &rows);
  linear_range(k, &rows.at, &min, &max);
  linear_t before = linear_scale(k, rows.at, -1);
  if (min < 0) rows.lower = steps_to(p, before, rows.at_step, kernel_index(&k->b, s->kernel), s->kernel);
  bool any_rows = !extent_is_fixed(&s->in_size);
  if (any_rows || max + (s->kernel - 1) * rows.at_step >= s->in) {
    linear_t after = before;
    if (any_rows) after = linear_add(k, after, linear_value(extent_value(k, &s->in_size)));
    after.constant += any_rows ? 0 : s->in;
    rows.upper = steps_to(p, after, rows.at_step, rows.upper, s->kernel);
  }
  return rows;
}
