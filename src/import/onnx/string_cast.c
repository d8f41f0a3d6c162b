// Numbers from strings and strings from numbers, for all strings and characters at once.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "import/onnx/numbers.h"
#include "import/onnx/strings.h"

// Tensors of i64, i1 and f64 over [shape, width], and of what a string has over [shape].
typedef struct cast_t {
  onnx_node_t* n;
  ir_value_t* x;     // characters
  ir_value_t* like;  // i64 over [shape, width]
  int64_t last;      // its last dimension
} cast_t;

static ir_value_t* with(cast_t* c, scalar_fn_t fn, ir_value_t* x, double y) {
  return onnx_binary_number(c->n, fn, x, y);
}
static ir_value_t* both(cast_t* c, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  return graph_binary(c->n->b, fn, x, y);
}
static ir_value_t* not(cast_t* c, ir_value_t* x) { return onnx_unary(c->n, SCALAR_not, x); }
static ir_value_t* wide(cast_t* c, ir_value_t* x) { return graph_cast(c->n->b, x, ir_type_int(c->n->ctx, 64), true); }
static ir_value_t* choose(cast_t* c, ir_value_t* flags, ir_value_t* x, ir_value_t* y) {
  return graph_select(c->n->b, flags, x, y);
}
static ir_value_t* sum(cast_t* c, ir_value_t* x) { return graph_reduce(c->n->b, x, &c->last, 1, "add"); }
static ir_value_t* any(cast_t* c, ir_value_t* x) { return graph_reduce(c->n->b, x, &c->last, 1, "or"); }

// Of [shape] in [shape, width].
static ir_value_t* spread(cast_t* c, ir_value_t* x) {
  int64_t at[ONNX_MAX_RANK];
  for (int32_t i = 0; i < x->type->rank; ++i) at[i] = i;
  return onnx_broadcast_as(c->n, x, c->like, at);
}

// How many of the flags up to each place are set.
static ir_value_t* count(cast_t* c, ir_value_t* flags) {
  const ir_named_attr_t attrs[] = {{"axis", ir_attr_i64(c->n->ctx, c->last)},
                                   {"kind", ir_attr_cstring(c->n->ctx, "add")}};
  ir_value_t* x = wide(c, flags);
  return graph_build(c->n->b, GRAPH_SCAN, &x, 1, x->type, attrs, 2);
}

static ir_value_t* constant(cast_t* c, const ir_type_t* element, const void* data, int64_t size) {
  const ir_type_t* type = ir_type_tensor(c->n->ctx, element, 1, &size);
  return graph_constant(c->n->b, ir_attr_elements(c->n->ctx, type, data, (size_t)size * ir_type_bytes(element)));
}

// 10^k modulo 2^64, for k from 0 to 19; smaller ones give 1.
static ir_value_t* integer_power(cast_t* c, ir_value_t* k) {
  uint64_t powers[20] = {1};
  for (int i = 1; i < 20; ++i) powers[i] = 10 * powers[i - 1];
  k = with(c, SCALAR_min, with(c, SCALAR_max, k, 0), 19);
  return graph_take(c->n->b, constant(c, ir_type_int(c->n->ctx, 64), powers, 20), k, 0, false);
}

enum { LARGEST = 308 };  // power of ten that f64 has

// 10^k as f64, for k from 0 to 308; others give the nearest of these.
static ir_value_t* float_power(cast_t* c, ir_value_t* k) {
  double powers[LARGEST + 1];
  char text[16];
  for (int i = 0; i <= LARGEST; ++i) {
    snprintf(text, sizeof(text), "1e%d", i);
    powers[i] = strtod(text, NULL);
  }
  k = with(c, SCALAR_min, with(c, SCALAR_max, k, 0), LARGEST);
  return graph_take(c->n->b, constant(c, ir_type_float(c->n->ctx, IR_F64), powers, LARGEST + 1), k, 0, false);
}

// x * 10^k. One rounding where 10^|k| is exact.
static ir_value_t* scale(cast_t* c, ir_value_t* x, ir_value_t* k) {
  ir_value_t *down = onnx_unary(c->n, SCALAR_neg, k), *steps[] = {k, with(c, SCALAR_sub, k, LARGEST)};
  ir_value_t* back[] = {down, with(c, SCALAR_sub, down, LARGEST)};
  for (int i = 0; i < 2; ++i) {
    x = both(c, SCALAR_mul, x, float_power(c, steps[i]));
    x = both(c, SCALAR_div, x, float_power(c, back[i]));
  }
  return x;
}

//===----------------------------------------------------------------------------------------------------------------===
// Numbers from strings
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* is_char(cast_t* c, char lower) {
  ir_value_t* found = with(c, SCALAR_eq, c->x, lower);
  bool letter = lower >= 'a' && lower <= 'z';
  return letter ? both(c, SCALAR_or, found, with(c, SCALAR_eq, c->x, lower - 'a' + 'A')) : found;
}

// A number's parts. `digits` are the digits' values, `mantissa` and `exponent` say whose they are.
typedef struct parts_t {
  ir_value_t *digits, *mantissa, *exponent, *minus, *minus_exponent;
  ir_value_t* fraction;     // how many digits are behind the point
  ir_value_t* significant;  // the how manieth digit after leading zeros
} parts_t;

static parts_t read_parts(cast_t* c) {
  parts_t p;
  p.digits = wide(c, with(c, SCALAR_sub, c->x, '0'));
  ir_value_t* digit = with(c, SCALAR_ltu, p.digits, 10);
  ir_value_t* behind = with(c, SCALAR_gt, count(c, is_char(c, 'e')), 0);
  ir_value_t* before = not(c, behind);
  p.mantissa = both(c, SCALAR_and, digit, before), p.exponent = both(c, SCALAR_and, digit, behind);
  p.minus = any(c, both(c, SCALAR_and, is_char(c, '-'), before));
  p.minus_exponent = any(c, both(c, SCALAR_and, is_char(c, '-'), behind));
  ir_value_t* point = with(c, SCALAR_gt, count(c, is_char(c, '.')), 0);
  p.fraction = sum(c, wide(c, both(c, SCALAR_and, p.mantissa, point)));
  ir_value_t* started = both(c, SCALAR_and, p.mantissa, with(c, SCALAR_ne, p.digits, 0));
  started = with(c, SCALAR_gt, count(c, started), 0);
  p.mantissa = both(c, SCALAR_and, p.mantissa, started);
  p.significant = count(c, p.mantissa);
  return p;
}

// The first `most` significant digits as an integer; `*left` is how many are not in it.
static ir_value_t* read_digits(cast_t* c, const parts_t* p, double most, ir_value_t** left) {
  ir_value_t *all = sum(c, wide(c, p->mantissa)), *kept = with(c, SCALAR_min, all, most);
  ir_value_t* place = both(c, SCALAR_sub, spread(c, kept), p->significant);
  ir_value_t* counts = both(c, SCALAR_and, p->mantissa, with(c, SCALAR_ge, place, 0));
  ir_value_t* value = both(c, SCALAR_mul, p->digits, integer_power(c, place));
  *left = both(c, SCALAR_sub, all, kept);
  return sum(c, choose(c, counts, value, graph_splat_like(c->n->b, value, 0)));
}

static ir_value_t* read_exponent(cast_t* c, const parts_t* p) {
  ir_value_t* place = count(c, p->exponent);
  place = both(c, SCALAR_sub, spread(c, sum(c, wide(c, p->exponent))), place);
  ir_value_t* value = both(c, SCALAR_mul, p->digits, integer_power(c, with(c, SCALAR_min, place, 5)));
  value = sum(c, choose(c, p->exponent, value, graph_splat_like(c->n->b, value, 0)));
  value = with(c, SCALAR_min, value, 9999);
  return choose(c, p->minus_exponent, onnx_unary(c->n, SCALAR_neg, value), value);
}

static ir_value_t* special(cast_t* c, char letter, double number, ir_value_t* value) {
  return choose(c, any(c, is_char(c, letter)), graph_splat_like(c->n->b, value, number), value);
}

bool onnx_string_to_number(onnx_node_t* n, onnx_value_t x, const ir_type_t* element, onnx_value_t* out) {
  static const char number[] = "\\s*([+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?|(?i:[+-]?(inf|infinity|nan)))\\s*";
  const ir_type_t* f64 = ir_type_float(n->ctx, IR_F64);
  cast_t c = {.n = n, .x = x.v, .last = x.v->type->rank - 1};
  ir_value_t *valid = onnx_string_fits(n, x.v, number, sizeof(number) - 1), *left;
  if (!valid) return false;
  graph_assert(n->b, valid, "Cast: a string is not a number");
  c.like = graph_cast(n->b, x.v, ir_type_int(n->ctx, 64), true);
  parts_t p = read_parts(&c);
  ir_value_t* shift = both(&c, SCALAR_sub, read_exponent(&c, &p), p.fraction);
  ir_value_t* value = graph_cast(n->b, read_digits(&c, &p, 18, &left), f64, false);
  value = scale(&c, value, both(&c, SCALAR_add, shift, left));
  value = special(&c, 'f', INFINITY, value);
  value = choose(&c, p.minus, onnx_unary(n, SCALAR_neg, value), value);
  value = special(&c, 'a', NAN, value);
  if (ir_type_is_float(element)) return *out = onnx_cast(n, onnx_value(value, f64), element), true;
  if (element->width == 1) return *out = onnx_value(with(&c, SCALAR_ne, value, 0), element), true;
  // Of up to 20 digits all count.
  ir_value_t* whole = read_digits(&c, &p, 20, &left);
  whole = choose(&c, p.minus, onnx_unary(n, SCALAR_neg, whole), whole);
  ir_value_t* exact = both(&c, SCALAR_and, with(&c, SCALAR_eq, shift, 0), with(&c, SCALAR_eq, left, 0));
  value = graph_cast(n->b, onnx_unary(n, SCALAR_trunc, value), ir_type_int(n->ctx, 64), false);
  *out = onnx_cast(n, onnx_value(choose(&c, exact, whole, value), onnx_si64(n->ctx)), element);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Strings from numbers
//===----------------------------------------------------------------------------------------------------------------===

// Places of characters, [shape, width], counted behind a minus where there is one; sets c->like.
static ir_value_t* places(cast_t* c, ir_value_t* like, ir_value_t* minus, int64_t width) {
  onnx_dim_t dims[ONNX_MAX_RANK];
  c->last = like->type->rank;
  for (int32_t i = 0; i < c->last; ++i) dims[i] = onnx_dim(c->n, like, i);
  dims[c->last] = onnx_dim_of(width);
  c->like = onnx_numbers(c->n, (int32_t)c->last + 1, dims, c->last);
  return both(c, SCALAR_sub, c->like, spread(c, wide(c, minus)));
}

static ir_value_t* letter(cast_t* c, char value) { return graph_splat_like(c->n->b, c->like, value); }

// With the minus, as code points.
static onnx_value_t finish(cast_t* c, ir_value_t* chars, ir_value_t* place) {
  chars = choose(c, with(c, SCALAR_lt, place, 0), letter(c, '-'), chars);
  return onnx_string_value(c->n, graph_cast(c->n->b, chars, ir_type_int(c->n->ctx, 32), false));
}

// Digit `place` of `digits` decimal ones of an unsigned number, as a character; zeros behind these.
static ir_value_t* digit_at(cast_t* c, ir_value_t* number, ir_value_t* place, ir_value_t* digits) {
  ir_value_t* power = integer_power(c, with(c, SCALAR_sub, both(c, SCALAR_sub, spread(c, digits), place), 1));
  ir_value_t* digit = with(c, SCALAR_remu, both(c, SCALAR_divu, spread(c, number), power), 10);
  digit = with(c, SCALAR_add, digit, '0');
  return choose(c, both(c, SCALAR_lt, place, spread(c, digits)), digit, letter(c, '0'));
}

static onnx_value_t from_integer(onnx_node_t* n, onnx_value_t x) {
  bool natural = onnx_is_unsigned(x);
  ir_value_t* v = onnx_cast(n, x, natural ? ir_type_integer(n->ctx, 64, IR_UNSIGNED) : onnx_si64(n->ctx)).v;
  cast_t c = {.n = n};
  ir_value_t* minus = natural ? onnx_binary_number(n, SCALAR_ltu, v, 0) : onnx_binary_number(n, SCALAR_lt, v, 0);
  ir_value_t* number = choose(&c, minus, onnx_unary(n, SCALAR_neg, v), v);
  ir_value_t* place = places(&c, v, minus, 21);
  // As many digits as powers of ten are not above the number, of 20.
  ir_value_t* power = integer_power(&c, c.like);
  ir_value_t* reached = both(&c, SCALAR_geu, spread(&c, number), power);
  reached = both(&c, SCALAR_and, reached, with(&c, SCALAR_lt, c.like, 20));
  ir_value_t* digits = with(&c, SCALAR_max, sum(&c, wide(&c, reached)), 1);
  ir_value_t* inside = both(&c, SCALAR_lt, place, spread(&c, digits));
  return finish(&c, choose(&c, inside, digit_at(&c, number, place, digits), letter(&c, 0)), place);
}

enum { DIGITS = 8, FLOAT_WIDTH = 16 };  // significant ones, as ONNX Runtime writes

// |x| as DIGITS digits and the power of ten of the first one.
static ir_value_t* split_float(cast_t* c, ir_value_t* size, ir_value_t** power) {
  onnx_node_t* n = c->n;
  const ir_type_t* i64 = ir_type_int(n->ctx, 64);
  ir_value_t *digits = NULL, *none = with(c, SCALAR_eq, size, 0);
  size = choose(c, none, graph_splat_like(n->b, size, 1), size);
  ir_value_t* e = graph_cast(n->b, onnx_unary(n, SCALAR_floor, onnx_unary(n, SCALAR_log10, size)), i64, false);
  for (int round = 0; round < 2; ++round) {  // the logarithm may be off by one, and rounding may carry
    digits = scale(c, size, with(c, SCALAR_add, onnx_unary(n, SCALAR_neg, e), DIGITS - 1));
    digits = graph_cast(n->b, onnx_unary(n, SCALAR_roundeven, digits), i64, false);
    if (round) break;
    e = both(c, SCALAR_add, e, wide(c, with(c, SCALAR_ge, digits, 1e8)));
    e = both(c, SCALAR_sub, e, wide(c, with(c, SCALAR_lt, digits, 1e7)));
  }
  *power = e;
  return choose(c, none, graph_splat_like(n->b, digits, 0), digits);
}

// Digits with a point behind the one at `point`, which is left out when no digits follow; nothing from `end` digits on.
static ir_value_t* pointed(cast_t* c, ir_value_t* number, ir_value_t* place, ir_value_t* point, ir_value_t* end) {
  ir_value_t* count = graph_splat_like(c->n->b, end, DIGITS);
  point = spread(c, point), end = spread(c, end);
  ir_value_t* behind = both(c, SCALAR_gt, place, point);
  ir_value_t* at = both(c, SCALAR_sub, place, wide(c, behind));
  ir_value_t* inside = both(c, SCALAR_or, not(c, behind), both(c, SCALAR_lt, at, end));
  ir_value_t* chars = choose(c, inside, digit_at(c, number, at, count), letter(c, 0));
  ir_value_t* here = both(c, SCALAR_and, both(c, SCALAR_eq, at, point), behind);
  ir_value_t* more = both(c, SCALAR_gt, end, with(c, SCALAR_add, point, 1));
  return choose(c, here, choose(c, more, letter(c, '.'), letter(c, 0)), chars);
}

// 0.000123: `power` is negative.
static ir_value_t* small_text(cast_t* c, ir_value_t* number, ir_value_t* place, ir_value_t* power, ir_value_t* end) {
  ir_value_t* at = with(c, SCALAR_sub, both(c, SCALAR_add, place, spread(c, power)), 1);
  ir_value_t* chars = digit_at(c, number, with(c, SCALAR_max, at, 0), graph_splat_like(c->n->b, end, DIGITS));
  chars = choose(c, with(c, SCALAR_lt, at, 0), letter(c, '0'), chars);
  chars = choose(c, both(c, SCALAR_lt, at, spread(c, end)), chars, letter(c, 0));
  return choose(c, with(c, SCALAR_eq, place, 1), letter(c, '.'), chars);
}

// 1.23e+45
static ir_value_t* power_text(cast_t* c, ir_value_t* number, ir_value_t* place, ir_value_t* power, ir_value_t* end) {
  ir_value_t* mantissa = pointed(c, number, place, graph_splat_like(c->n->b, power, 0), end);
  ir_value_t* minus = with(c, SCALAR_lt, power, 0);
  ir_value_t* size = choose(c, minus, onnx_unary(c->n, SCALAR_neg, power), power);
  ir_value_t* digits = with(c, SCALAR_add, wide(c, with(c, SCALAR_ge, size, 100)), 2);
  ir_value_t* from = both(c, SCALAR_add, end, wide(c, with(c, SCALAR_gt, end, 1)));
  ir_value_t* at = with(c, SCALAR_sub, both(c, SCALAR_sub, place, spread(c, from)), 2);
  ir_value_t* chars = digit_at(c, size, with(c, SCALAR_max, at, 0), digits);
  chars = choose(c, both(c, SCALAR_lt, at, spread(c, digits)), chars, letter(c, 0));
  chars = choose(c, with(c, SCALAR_eq, at, -1), choose(c, spread(c, minus), letter(c, '-'), letter(c, '+')), chars);
  chars = choose(c, with(c, SCALAR_eq, at, -2), letter(c, 'e'), chars);
  return choose(c, with(c, SCALAR_lt, at, -2), mantissa, chars);
}

static ir_value_t* word(cast_t* c, const char* text, ir_value_t* place) {
  ir_value_t* chars = letter(c, 0);
  for (int i = 0; text[i]; ++i) chars = choose(c, with(c, SCALAR_eq, place, i), letter(c, text[i]), chars);
  return chars;
}

static onnx_value_t from_float(onnx_node_t* n, onnx_value_t x) {
  ir_value_t* v = onnx_cast(n, x, ir_type_float(n->ctx, IR_F64)).v;
  cast_t c = {.n = n};
  ir_value_t *nan = onnx_unary(n, SCALAR_is_nan, v), *infinite = onnx_unary(n, SCALAR_is_inf, v), *power;
  ir_value_t* minus = graph_binary(n->b, SCALAR_copysign, graph_splat_like(n->b, v, 1), v);
  minus = both(&c, SCALAR_and, with(&c, SCALAR_lt, minus, 0), not(&c, nan));
  ir_value_t* odd = both(&c, SCALAR_or, nan, infinite);
  ir_value_t* size = choose(&c, odd, graph_splat_like(n->b, v, 0), onnx_unary(n, SCALAR_abs, v));
  ir_value_t* number = split_float(&c, size, &power);
  ir_value_t* place = places(&c, v, minus, FLOAT_WIDTH);
  ir_value_t* ends = both(&c, SCALAR_remu, spread(&c, number), integer_power(&c, c.like));
  ends = both(&c, SCALAR_and, with(&c, SCALAR_eq, ends, 0), with(&c, SCALAR_lt, c.like, DIGITS));
  ends = both(&c, SCALAR_and, ends, with(&c, SCALAR_gt, c.like, 0));
  ir_value_t* end = with(&c, SCALAR_sub, onnx_unary(n, SCALAR_neg, sum(&c, wide(&c, ends))), -DIGITS);
  ir_value_t* chars = pointed(&c, number, place, power, end);
  chars = choose(&c, spread(&c, with(&c, SCALAR_lt, power, 0)), small_text(&c, number, place, power, end), chars);
  ir_value_t* far = both(&c, SCALAR_or, with(&c, SCALAR_lt, power, -4), with(&c, SCALAR_ge, power, DIGITS));
  chars = choose(&c, spread(&c, far), power_text(&c, number, place, power, end), chars);
  chars = choose(&c, spread(&c, infinite), word(&c, "INF", place), chars);
  return finish(&c, choose(&c, spread(&c, nan), word(&c, "NaN", place), chars), place);
}

bool onnx_number_to_string(onnx_node_t* n, onnx_value_t x, onnx_value_t* out) {
  if (onnx_rank(x) >= ONNX_MAX_RANK) return onnx_error(n, "the rank is too high");
  if (!ir_type_is_float(x.element) && !ir_type_is_int(x.element)) return onnx_unsupported(n, "casting to strings");
  return *out = ir_type_is_float(x.element) ? from_float(n, x) : from_integer(n, x), true;
}
