// Reference evaluation of contractions, convolutions, linear algebra and transforms. Floats are computed in double and
// rounded once; integers in 64 bits.
#include <math.h>
#include <string.h>

#include "dialects/evaluate_impl.h"

//===----------------------------------------------------------------------------------------------------------------===
// Products
//===----------------------------------------------------------------------------------------------------------------===

static void store_number(const tensor_t* t, int64_t i, double value) {
  tensor_store(t, i, (scalar_value_t){.f = value, .i = ir_type_is_float(t->element) ? 0 : (int64_t)value});
}

typedef struct side_t {
  int64_t batch[GRAPH_MAX_RANK], contract[GRAPH_MAX_RANK], free[GRAPH_MAX_RANK];
  int32_t batch_count, contract_count, free_count;
  scalar_value_t* numbers;  // as [batch][free][contract]
  int64_t batch_size, free_size, contract_size;
} side_t;

// Operands of a product, as numbers of its result's type.
static scalar_value_t* read_factors(eval_op_t* o, const tensor_t* x, bool is_unsigned) {
  const ir_type_t* to = ir_type_scalar(o->op->results[0].type);
  scalar_value_t* numbers = ARENA_ARRAY(o->e->arena, scalar_value_t, x->count + 1);
  for (int64_t i = 0; i < x->count; ++i) {
    scalar_value_t in[3] = {tensor_load(x, i)};
    numbers[i] = scalar_eval(is_unsigned ? SCALAR_castu : SCALAR_cast, in, x->element, to);
  }
  return numbers;
}

// Integers wrap around; of floats and integers, the other one is 0.
static void add_product(scalar_value_t* sum, const scalar_value_t* x, const scalar_value_t* y) {
  sum->f += x->f * y->f;
  sum->i = (int64_t)((uint64_t)sum->i + (uint64_t)x->i * (uint64_t)y->i);
}

// Splits the dims of a side and brings its numbers into order.
static bool read_side(eval_op_t* o, const tensor_t* x, graph_attr_id_t batch, graph_attr_id_t contract,
                      bool is_unsigned, side_t* s) {
  s->batch_count = eval_list(o, batch, s->batch);
  s->contract_count = eval_list(o, contract, s->contract);
  bool taken[2 * GRAPH_MAX_RANK] = {0};
  if (s->batch_count < 0 || s->contract_count < 0) return false;
  for (int32_t i = 0; i < s->batch_count + s->contract_count; ++i) {
    int64_t d = i < s->batch_count ? s->batch[i] : s->contract[i - s->batch_count];
    if (d < 0 || d >= x->rank || taken[d]) return eval_error(o, "the dimension lists are invalid");
    taken[d] = true;
  }
  for (int32_t d = 0; d < x->rank; ++d) {
    if (!taken[d]) s->free[s->free_count++] = d;
  }
  int64_t own[2 * GRAPH_MAX_RANK], sizes[2 * GRAPH_MAX_RANK], strides[2 * GRAPH_MAX_RANK],
      index[2 * GRAPH_MAX_RANK] = {0};
  tensor_strides(x, own);
  s->batch_size = s->free_size = s->contract_size = 1;
  for (int32_t i = 0; i < x->rank; ++i) {
    int32_t f = i - s->batch_count, c = f - s->free_count;
    int64_t d = f < 0 ? s->batch[i] : c < 0 ? s->free[f] : s->contract[c];
    sizes[i] = x->dims[d];
    strides[i] = own[d];
    *(f < 0 ? &s->batch_size : c < 0 ? &s->free_size : &s->contract_size) *= sizes[i];
  }
  scalar_value_t* plain = read_factors(o, x, is_unsigned);
  s->numbers = ARENA_ARRAY(o->e->arena, scalar_value_t, x->count + 1);
  for (int64_t i = 0; i < x->count; ++i) {
    s->numbers[i] = plain[index_dot(x->rank, index, strides)];
    index_next(x->rank, sizes, index);
  }
  return true;
}

bool eval_contract(eval_op_t* o) {
  const tensor_t *a = &o->in[0], *b = &o->in[1];
  side_t l = {0}, r = {0};
  int64_t dims[2 * GRAPH_MAX_RANK];
  int32_t rank = 0;
  if (!read_side(o, a, GRAPH_ATTR_lhs_batch, GRAPH_ATTR_lhs_contract, graph_get_unsigned_lhs(o->op), &l)) return false;
  if (!read_side(o, b, GRAPH_ATTR_rhs_batch, GRAPH_ATTR_rhs_contract, graph_get_unsigned_rhs(o->op), &r)) return false;
  if (l.batch_size != r.batch_size || l.contract_size != r.contract_size) return eval_error(o, "the sizes differ");
  for (int32_t i = 0; i < l.batch_count; ++i) dims[rank++] = a->dims[l.batch[i]];
  for (int32_t i = 0; i < l.free_count; ++i) dims[rank++] = a->dims[l.free[i]];
  for (int32_t i = 0; i < r.free_count; ++i) dims[rank++] = b->dims[r.free[i]];
  if (!tensor_make(o, &o->out[0], ir_type_scalar(o->op->results[0].type), rank, dims)) return false;
  int64_t at = 0, depth = l.contract_size;
  for (int64_t n = 0; o->out[0].count && n < l.batch_size; ++n) {
    for (int64_t i = 0; i < l.free_size; ++i) {
      const scalar_value_t* x = l.numbers + (n * l.free_size + i) * depth;
      for (int64_t j = 0; j < r.free_size; ++j) {
        const scalar_value_t* y = r.numbers + (n * r.free_size + j) * depth;
        scalar_value_t sum = {0};
        for (int64_t k = 0; k < depth; ++k) add_product(&sum, &x[k], &y[k]);
        tensor_store(&o->out[0], at++, sum);
      }
    }
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Convolution
//===----------------------------------------------------------------------------------------------------------------===

// Where a layout puts its two letters and the spatial digits.
typedef struct layout_t {
  int32_t first, second, spatial[GRAPH_MAX_SPATIAL];
} layout_t;
static bool read_layout(eval_op_t* o, const char* text, const char* letters, int32_t rank, layout_t* out) {
  out->first = out->second = -1;
  if ((int32_t)strlen(text) != rank) return eval_error(o, "layout '%s' does not fit rank %d", text, rank);
  for (int32_t i = 0; i < rank; ++i) {
    int32_t digit = text[i] - '0';
    if (text[i] == letters[0])
      out->first = i;
    else if (text[i] == letters[1])
      out->second = i;
    else if (digit >= 0 && digit < rank - 2)
      out->spatial[digit] = i;
    else
      return eval_error(o, "layout '%s' is invalid", text);
  }
  return (out->first >= 0 && out->second >= 0) || eval_error(o, "layout '%s' is invalid", text);
}

typedef struct conv_t {
  graph_conv_t c;
  layout_t x, w, y;
  int32_t spatial;
  int64_t xs[2 * GRAPH_MAX_RANK], ws[2 * GRAPH_MAX_RANK];
  int64_t kernel[GRAPH_MAX_SPATIAL];
  scalar_value_t *x_numbers, *w_numbers;
} conv_t;

static bool read_conv(eval_op_t* o, conv_t* v, int64_t* dims) {
  const tensor_t *x = &o->in[0], *w = &o->in[1];
  v->spatial = x->rank - 2;
  v->c = graph_conv_read(o->op);
  if (!read_layout(o, v->c.x_layout, "nc", x->rank, &v->x) || !read_layout(o, v->c.w_layout, "oi", x->rank, &v->w) ||
      !read_layout(o, v->c.y_layout, "nc", x->rank, &v->y)) {
    return false;
  }
  int64_t channels = x->dims[v->x.second], outputs = w->dims[v->w.first];
  if (v->c.groups < 1 || v->c.batch_groups < 1 || w->dims[v->w.second] * v->c.groups != channels ||
      outputs % v->c.groups || outputs % v->c.batch_groups || x->dims[v->x.first] % v->c.batch_groups) {
    return eval_error(o, "channels and groups do not fit");
  }
  dims[v->y.first] = x->dims[v->x.first] / v->c.batch_groups;
  dims[v->y.second] = outputs;
  for (int32_t i = 0; i < v->spatial; ++i) {
    int64_t size = x->dims[v->x.spatial[i]];
    v->kernel[i] = w->dims[v->w.spatial[i]];
    int64_t base = (size ? (size - 1) * v->c.x_dilation[i] + 1 : 0) + v->c.pad_low[i] + v->c.pad_high[i];
    int64_t extent = (v->kernel[i] - 1) * v->c.w_dilation[i] + 1;
    dims[v->y.spatial[i]] = base < extent || !v->kernel[i] ? 0 : (base - extent) / v->c.strides[i] + 1;
  }
  tensor_strides(x, v->xs);
  tensor_strides(w, v->ws);
  v->x_numbers = read_factors(o, x, v->c.unsigned_lhs);
  v->w_numbers = read_factors(o, w, false);
  return true;
}

// The sum for one result element.
static scalar_value_t conv_point(const eval_op_t* o, const conv_t* v, const int64_t* y) {
  const tensor_t *x = &o->in[0], *w = &o->in[1];
  int64_t outputs = w->dims[v->w.first], per_group = w->dims[v->w.second];
  int64_t out = y[v->y.second], group = out / (outputs / v->c.groups);
  int64_t batch = y[v->y.first] + out / (outputs / v->c.batch_groups) * o->out[0].dims[v->y.first];
  int64_t x_base = batch * v->xs[v->x.first] + group * per_group * v->xs[v->x.second];
  int64_t w_base = out * v->ws[v->w.first], at[GRAPH_MAX_SPATIAL] = {0};
  scalar_value_t sum = {0};
  do {
    int64_t xi = x_base, wi = w_base;
    bool inside = true;
    for (int32_t i = 0; inside && i < v->spatial; ++i) {
      int64_t p = y[v->y.spatial[i]] * v->c.strides[i] + at[i] * v->c.w_dilation[i] - v->c.pad_low[i];
      inside = p >= 0 && p % v->c.x_dilation[i] == 0 && p / v->c.x_dilation[i] < x->dims[v->x.spatial[i]];
      xi += p / v->c.x_dilation[i] * v->xs[v->x.spatial[i]];
      wi += at[i] * v->ws[v->w.spatial[i]];
    }
    for (int64_t c = 0; inside && c < per_group; ++c) {
      add_product(&sum, &v->x_numbers[xi + c * v->xs[v->x.second]], &v->w_numbers[wi + c * v->ws[v->w.second]]);
    }
  } while (index_next(v->spatial, v->kernel, at));
  return sum;
}

bool eval_conv(eval_op_t* o) {
  conv_t v;
  int64_t dims[2 * GRAPH_MAX_RANK] = {0}, y[2 * GRAPH_MAX_RANK] = {0};
  if (!read_conv(o, &v, dims)) return false;
  if (!tensor_make(o, &o->out[0], ir_type_scalar(o->op->results[0].type), o->in[0].rank, dims)) return false;
  for (int64_t i = 0; i < o->out[0].count; ++i) {
    tensor_store(&o->out[0], i, conv_point(o, &v, y));
    index_next(o->in[0].rank, dims, y);
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Attention: softmax(scale q k' + mask) v, the sums in double
//===----------------------------------------------------------------------------------------------------------------===

typedef struct attention_t {
  double *q, *k, *v, *mask;
  int64_t m, n, d, e;
  int64_t splits, part;  // how many parts of how many keys
  double scale;
  bool causal, blank;
} attention_t;

// Of one part of the keys; the row follows the weights. Returns the logarithm of the sum.
static double attend_row(const attention_t* a, int64_t batch, int64_t row, const double* mask, int64_t split,
                         double* weights) {
  const double* q = a->q + (batch * a->m + row) * a->d;
  double most = -INFINITY, sum = 0, *out = weights + a->n;
  int64_t first = split * a->part, end = first + a->part < a->n ? first + a->part : a->n;
  for (int64_t j = first; j < end; ++j) {
    const double* k = a->k + (batch * a->n + j) * a->d;
    double dot = 0;
    for (int64_t i = 0; i < a->d; ++i) dot += q[i] * k[i];
    weights[j] = dot * a->scale + (mask ? mask[j] : 0);
    if (a->causal && j > row + a->n - a->m) weights[j] = -INFINITY;
    if (weights[j] > most) most = weights[j];
  }
  bool none = (a->splits || a->blank) && most == -INFINITY;  // a part may have no keys
  for (int64_t j = first; j < end; ++j) sum += weights[j] = none ? 0 : exp(weights[j] - most);
  for (int64_t i = 0; i < a->e; ++i) {
    double total = 0;
    for (int64_t j = first; j < end; ++j) total += weights[j] * a->v[(batch * a->n + j) * a->e + i];
    out[i] = none ? 0 : total / sum;
  }
  return most + log(sum);
}

// Results: batch, [split,] row, and the first one's columns.
static void attend_all(eval_op_t* o, const attention_t* a, int64_t batches, int64_t mask_batches) {
  double* weights = ARENA_ARRAY(o->e->arena, double, a->n + a->e + 1);
  int64_t splits = a->splits ? a->splits : 1, at = 0;
  for (int64_t b = 0; b < batches; ++b) {
    for (int64_t s = 0; s < splits; ++s) {
      for (int64_t i = 0; i < a->m; ++i, ++at) {
        const double* row_mask = a->mask ? a->mask + ((b % mask_batches) * a->m + i) * a->n : NULL;
        double logarithm = attend_row(a, b, i, row_mask, s, weights);
        for (int64_t c = 0; c < a->e; ++c) store_number(&o->out[0], at * a->e + c, weights[a->n + c]);
        if (o->op->result_count > 1) store_number(&o->out[1], at, logarithm);
      }
    }
  }
}

static bool make_results(eval_op_t* o, const attention_t* a, int32_t rank) {
  int64_t dims[GRAPH_MAX_RANK];
  memcpy(dims, o->in[0].dims, sizeof(*dims) * (size_t)rank);
  if (a->splits) dims[rank - 2] = a->splits, dims[rank - 1] = a->m, ++rank;
  dims[rank - 1] = a->e;
  if (!tensor_make(o, &o->out[0], ir_type_scalar(o->op->results[0].type), rank, dims)) return false;
  return o->op->result_count < 2 ||
         tensor_make(o, &o->out[1], ir_type_scalar(ir_result(o->op, 1)->type), rank - 1, dims);
}

bool eval_attention(eval_op_t* o) {
  const tensor_t *q = &o->in[0], *k = &o->in[1], *v = &o->in[2], *mask = o->op->operand_count > 3 ? &o->in[3] : NULL;
  int32_t rank = q->rank;
  int64_t batches = 1, mask_batches = 1;
  const ir_attr_t* scale = graph_get_scale(o->op);
  if (rank < 2 || k->rank != rank || v->rank != rank || k->dims[rank - 1] != q->dims[rank - 1] ||
      v->dims[rank - 2] != k->dims[rank - 2]) {
    return eval_error(o, "the operands do not fit");
  }
  attention_t a = {.m = q->dims[rank - 2], .n = k->dims[rank - 2], .d = q->dims[rank - 1], .e = v->dims[rank - 1]};
  for (int32_t i = 0; i < rank - 2; ++i) batches *= q->dims[i];
  if (k->count != batches * a.n * a.d || v->count != batches * a.n * a.e) return eval_error(o, "the batches differ");
  if (mask && a.m > 0 && a.n > 0) mask_batches = mask->count / (a.m * a.n);
  if (mask && (mask->count != mask_batches * a.m * a.n || !mask_batches || batches % mask_batches)) {
    return eval_error(o, "the mask does not fit");
  }
  a.splits = graph_get_splits(o->op);
  a.part = a.splits ? (a.n + a.splits * GRAPH_ATTENTION_KEYS - 1) / (a.splits * GRAPH_ATTENTION_KEYS) : a.n;
  if (a.splits) a.part *= GRAPH_ATTENTION_KEYS;
  if (!make_results(o, &a, rank)) return false;
  a.scale = scale ? scale->number : 1 / sqrt((double)a.d);
  a.causal = graph_get_causal(o->op);
  a.blank = graph_get_blank(o->op);
  a.q = tensor_numbers(o, q, false), a.k = tensor_numbers(o, k, false), a.v = tensor_numbers(o, v, false);
  a.mask = mask ? tensor_numbers(o, mask, false) : NULL;
  attend_all(o, &a, batches, mask_batches);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Matrices and transforms
//===----------------------------------------------------------------------------------------------------------------===

bool eval_cholesky(eval_op_t* o) {
  const tensor_t* a = &o->in[0];
  bool lower = graph_get_lower(o->op);
  int64_t n = a->rank < 2 ? -1 : a->dims[a->rank - 1];
  if (n < 0 || a->dims[a->rank - 2] != n) return eval_error(o, "the matrices are not square");
  if (!tensor_make(o, &o->out[0], a->element, a->rank, a->dims)) return false;
  const double* x = tensor_numbers(o, a, false);
  double* l = ARENA_ARRAY(o->e->arena, double, n* n + 1);
  for (int64_t b = 0; n && b < a->count / (n * n); ++b) {
    memset(l, 0, sizeof(double) * (size_t)(n * n));
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        double sum = x[b * n * n + (lower ? i * n + j : j * n + i)];
        for (int64_t k = 0; k < j; ++k) sum -= l[i * n + k] * l[j * n + k];
        l[i * n + j] = i == j ? sqrt(sum) : sum / l[j * n + j];
        store_number(&o->out[0], b * n * n + (lower ? i * n + j : j * n + i), l[i * n + j]);
      }
    }
  }
  return true;
}

// Solves op(a) x = b or x op(a) = b.
bool eval_triangular_solve(eval_op_t* o) {
  const tensor_t *a = &o->in[0], *b = &o->in[1];
  bool left = graph_get_left(o->op), lower = graph_get_lower(o->op), unit = graph_get_unit_diagonal(o->op);
  bool transpose = graph_get_transpose(o->op);
  int64_t n = a->rank < 2 || b->rank != a->rank ? -1 : a->dims[a->rank - 1];
  if (n < 0 || a->dims[a->rank - 2] != n) return eval_error(o, "the matrices are not square");
  int64_t rows = b->dims[b->rank - 2], columns = b->dims[b->rank - 1], others = left ? columns : rows;
  if ((left ? rows : columns) != n) return eval_error(o, "the right side does not fit");
  if (!tensor_make(o, &o->out[0], b->element, b->rank, b->dims)) return false;
  const double *m = tensor_numbers(o, a, false), *y = tensor_numbers(o, b, false);
  double* x = ARENA_ARRAY(o->e->arena, double, n + 1);
  bool forward = (lower != transpose) == left;
  for (int64_t s = 0; n && others && s < b->count / (rows * columns); ++s) {
    for (int64_t c = 0; c < others; ++c) {
      for (int64_t step = 0; step < n; ++step) {
        int64_t i = forward ? step : n - 1 - step, at = s * rows * columns + (left ? i * columns + c : c * columns + i);
        double sum = y[at];
        for (int64_t done = 0; done < step; ++done) {
          int64_t k = forward ? done : n - 1 - done;
          bool swap = transpose == left;  // element (i, k) of op(a), or (k, i) from the right
          sum -= m[s * n * n + (swap ? k * n + i : i * n + k)] * x[k];
        }
        x[i] = unit ? sum : sum / m[s * n * n + i * n + i];
        store_number(&o->out[0], at, x[i]);
      }
    }
  }
  return true;
}

// One discrete Fourier transform of `n` elements, `step` apart, by its definition. One element stays what it is, also
// where the other part is infinite.
static void transform_row(double* re, double* im, int64_t n, int64_t step, bool inverse, double* spare) {
  if (n == 1) return;
  for (int64_t k = 0; k < n; ++k) {
    double a = 0, b = 0;
    for (int64_t j = 0; j < n; ++j) {
      double angle = (inverse ? 2 : -2) * M_PI * (double)(j * k % n) / (double)n, c = cos(angle), s = sin(angle);
      a += re[j * step] * c - im[j * step] * s;
      b += re[j * step] * s + im[j * step] * c;
    }
    spare[2 * k] = inverse ? a / (double)n : a;
    spare[2 * k + 1] = inverse ? b / (double)n : b;
  }
  for (int64_t k = 0; k < n; ++k) {
    re[k * step] = spare[2 * k];
    im[k * step] = spare[2 * k + 1];
  }
}

bool eval_fft(eval_op_t* o) {
  const tensor_t* x = &o->in[0];
  int64_t dims = graph_get_rank(o->op), step = 1;
  bool inverse = strcmp(graph_get_kind(o->op), "ifft") == 0;
  if (dims < 0 || dims > x->rank || o->in[1].count != x->count) return eval_error(o, "the operands do not fit");
  double *re = tensor_numbers(o, x, false), *im = tensor_numbers(o, &o->in[1], false);
  for (int64_t d = x->rank - 1; d >= x->rank - dims; --d) {
    int64_t n = x->dims[d];
    double* spare = ARENA_ARRAY(o->e->arena, double, 2 * n + 1);
    for (int64_t row = 0; n && row < x->count / n; ++row) {
      int64_t start = row / step * step * n + row % step;
      transform_row(re + start, im + start, n, step, inverse, spare);
    }
    step *= n;
  }
  for (int k = 0; k < 2; ++k) {
    if (!tensor_make(o, &o->out[k], x->element, x->rank, x->dims)) return false;
    for (int64_t i = 0; i < x->count; ++i) store_number(&o->out[k], i, k ? im[i] : re[i]);
  }
  return true;
}
