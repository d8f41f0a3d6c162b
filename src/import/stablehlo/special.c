// Special functions as arithmetic over tensors: gamma and its relatives by Lanczos' series, zeta by Euler and
// Maclaurin's sum, inverse error function by rational pieces, Bessel i1 by Chebyshev series.
#include <math.h>

#include "import/stablehlo/ops.h"

static ir_value_t* op1(lower_op_t* n, scalar_fn_t fn, ir_value_t* x) { return graph_unary(n->b, fn, x); }
static ir_value_t* op2(lower_op_t* n, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  return graph_binary(n->b, fn, x, y);
}
static ir_value_t* with(lower_op_t* n, scalar_fn_t fn, ir_value_t* x, double number) {
  return lower_with_number(n, fn, x, number);
}
static ir_value_t* number(lower_op_t* n, ir_value_t* like, double value) { return lower_number_like(n, like, value); }
static ir_value_t* choose(lower_op_t* n, ir_value_t* condition, ir_value_t* x, ir_value_t* y) {
  return graph_select(n->b, condition, x, y);
}

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

// Narrow floats are computed in f32.
static ir_value_t* widened(lower_op_t* n, ir_value_t* x) {
  const ir_type_t* element = ir_type_scalar(x->type);
  return ir_type_bytes(element) >= 4 ? x : graph_cast(n->b, x, ir_type_float(n->ctx, IR_F32), false);
}

static bool finish(lower_op_t* n, ir_value_t* y) {
  return lower_return(n, graph_cast(n->b, y, ir_type_scalar(lower_out_type(n, 0)), false));
}

static bool check_float(lower_op_t* n) { return lower_is_float(n->in[0]->type) || lower_unsupported(n, "floats are"); }

//===----------------------------------------------------------------------------------------------------------------===
// Gamma: log gamma(z + 1) = log sqrt(2 pi) + (z + 1/2) log t - t + log A(z), t = z + g + 1/2, A(z) = c + sum c_i / (z +
// i)
//===----------------------------------------------------------------------------------------------------------------===

static const double lanczos_g = 7, lanczos_base = 0.99999999999980993227684700473478;
static const double lanczos[] = {676.520368121885098567009190444019, -1259.13921672240287047156078755283,
                                 771.3234287776530788486528258894,   -176.61502916214059906584551354,
                                 12.507343278686904814458936853,     -0.13857109526572011689554707,
                                 9.984369578019570859563e-6,         1.50563273514931155834e-7};

typedef struct series_t {
  ir_value_t *sum, *slope;  // A and its derivative
} series_t;

static series_t lanczos_series(lower_op_t* n, ir_value_t* z) {
  series_t s = {number(n, z, lanczos_base), number(n, z, 0)};
  for (size_t i = 0; i < COUNT(lanczos); ++i) {
    ir_value_t* place = with(n, SCALAR_add, z, (double)i + 1);
    ir_value_t* term = op2(n, SCALAR_div, number(n, z, lanczos[i]), place);
    s.sum = op2(n, SCALAR_add, s.sum, term);
    s.slope = op2(n, SCALAR_sub, s.slope, op2(n, SCALAR_div, term, place));
  }
  return s;
}

// z with gamma(z + 1) = gamma(x), or gamma(1 - x) on the left.
static ir_value_t* reflected(lower_op_t* n, ir_value_t* x, ir_value_t** on_left) {
  *on_left = with(n, SCALAR_lt, x, 0.5);
  return choose(n, *on_left, op1(n, SCALAR_neg, x), with(n, SCALAR_sub, x, 1));
}

// log t with t = z + g + 1/2, exact for small z.
static ir_value_t* log_of_t(lower_op_t* n, ir_value_t* z) {
  double shift = lanczos_g + 0.5;
  return with(n, SCALAR_add, op1(n, SCALAR_log1p, with(n, SCALAR_div, z, shift)), log(shift));
}

static ir_value_t* lgamma_of(lower_op_t* n, ir_value_t* x) {
  ir_value_t *on_left, *z = reflected(n, x, &on_left);
  ir_value_t *log_t = log_of_t(n, z), *t = with(n, SCALAR_add, z, lanczos_g + 0.5);
  ir_value_t* inner = op2(n, SCALAR_sub, with(n, SCALAR_add, z, 0.5), op2(n, SCALAR_div, t, log_t));
  ir_value_t* y = with(n, SCALAR_add, op2(n, SCALAR_mul, inner, log_t), 0.91893853320467274178);
  y = op2(n, SCALAR_add, y, op1(n, SCALAR_log, lanczos_series(n, z).sum));
  // gamma(x) gamma(1 - x) = pi / sin(pi x)
  ir_value_t *size = op1(n, SCALAR_abs, x), *part = op2(n, SCALAR_sub, size, op1(n, SCALAR_floor, size));
  part = choose(n, with(n, SCALAR_gt, part, 0.5), op2(n, SCALAR_sub, number(n, part, 1), part), part);
  ir_value_t* log_sine = op1(n, SCALAR_log, op1(n, SCALAR_sin, with(n, SCALAR_mul, part, M_PI)));
  ir_value_t* left = op2(n, SCALAR_sub, op2(n, SCALAR_sub, number(n, y, log(M_PI)), log_sine), y);
  y = choose(n, on_left, left, y);
  return choose(n, op1(n, SCALAR_is_inf, x), number(n, x, INFINITY), y);
}

bool chlo_lower_lgamma(lower_op_t* n) { return check_float(n) && finish(n, lgamma_of(n, widened(n, n->in[0]))); }

static ir_value_t* digamma_of(lower_op_t* n, ir_value_t* x) {
  ir_value_t *on_left, *z = reflected(n, x, &on_left);
  series_t s = lanczos_series(n, z);
  ir_value_t* t = with(n, SCALAR_add, z, lanczos_g + 0.5);
  ir_value_t* y = op2(n, SCALAR_add, log_of_t(n, z), op2(n, SCALAR_div, s.slope, s.sum));
  y = op2(n, SCALAR_sub, y, op2(n, SCALAR_div, number(n, t, lanczos_g), t));
  // digamma(1 - x) - digamma(x) = pi / tan(pi x)
  ir_value_t* part = op2(n, SCALAR_sub, x, op1(n, SCALAR_floor, with(n, SCALAR_add, x, 0.5)));
  ir_value_t* tangent = op1(n, SCALAR_tan, with(n, SCALAR_mul, part, M_PI));
  ir_value_t* left = op2(n, SCALAR_sub, y, op2(n, SCALAR_div, number(n, x, M_PI), tangent));
  y = choose(n, on_left, left, y);
  ir_value_t* whole = op2(n, SCALAR_eq, x, op1(n, SCALAR_floor, x));
  ir_value_t* pole = op2(n, SCALAR_and, whole, with(n, SCALAR_le, x, 0));
  return choose(n, pole, number(n, x, NAN), y);
}

bool chlo_lower_digamma(lower_op_t* n) { return check_float(n) && finish(n, digamma_of(n, widened(n, n->in[0]))); }

//===----------------------------------------------------------------------------------------------------------------===
// Hurwitz zeta(x, q) = sum (q + k)^-x: ten terms, and the rest by its expansion with Bernoulli numbers
//===----------------------------------------------------------------------------------------------------------------===

// (2k)! / B_2k
static const double bernoulli[] = {12.0,
                                   -720.0,
                                   30240.0,
                                   -1209600.0,
                                   47900160.0,
                                   -1.8924375803183791606e9,
                                   7.47242496e10,
                                   -2.950130727918164224e12,
                                   1.1646782814350067249e14,
                                   -4.5979787224074726105e15,
                                   1.8152105401943546773e17,
                                   -7.1661652561756670113e18};

static ir_value_t* zeta_of(lower_op_t* n, ir_value_t* x, ir_value_t* q) {
  ir_value_t *minus_x = op1(n, SCALAR_neg, x), *a = q, *b = op2(n, SCALAR_pow, q, minus_x), *sum = b;
  for (int i = 0; i < 9; ++i) {
    a = with(n, SCALAR_add, a, 1);
    b = op2(n, SCALAR_pow, a, minus_x);
    sum = op2(n, SCALAR_add, sum, b);
  }
  ir_value_t* tail = op2(n, SCALAR_div, op2(n, SCALAR_mul, b, a), with(n, SCALAR_sub, x, 1));
  sum = op2(n, SCALAR_sub, op2(n, SCALAR_add, sum, tail), with(n, SCALAR_mul, b, 0.5));
  ir_value_t* factor = number(n, x, 1);
  for (size_t i = 0; i < COUNT(bernoulli); ++i) {
    factor = op2(n, SCALAR_mul, factor, with(n, SCALAR_add, x, 2.0 * (double)i));
    b = op2(n, SCALAR_div, b, a);
    sum = op2(n, SCALAR_add, sum, with(n, SCALAR_div, op2(n, SCALAR_mul, factor, b), bernoulli[i]));
    factor = op2(n, SCALAR_mul, factor, with(n, SCALAR_add, x, 2.0 * (double)i + 1));
    b = op2(n, SCALAR_div, b, a);
  }
  ir_value_t *nan = number(n, x, NAN), *infinity = number(n, x, INFINITY);
  ir_value_t* q_left = with(n, SCALAR_le, q, 0);
  ir_value_t* q_whole = op2(n, SCALAR_eq, q, op1(n, SCALAR_floor, q));
  ir_value_t* x_whole = op2(n, SCALAR_eq, x, op1(n, SCALAR_floor, x));
  sum = choose(n, op2(n, SCALAR_and, q_left, op1(n, SCALAR_not, x_whole)), nan, sum);
  sum = choose(n, op2(n, SCALAR_and, q_left, q_whole), infinity, sum);
  sum = choose(n, with(n, SCALAR_lt, x, 1), nan, sum);
  return choose(n, with(n, SCALAR_eq, x, 1), infinity, sum);
}

static bool float_operands(lower_op_t* n, ir_value_t** x, ir_value_t** y) {
  if (!check_float(n) || !chlo_broadcast_operands(n, x, y)) return false;
  *x = widened(n, *x);
  *y = widened(n, *y);
  return true;
}

bool chlo_lower_zeta(lower_op_t* n) {
  ir_value_t *x, *q;
  return float_operands(n, &x, &q) && finish(n, zeta_of(n, x, q));
}

// polygamma(m, x) = (-1)^(m + 1) m! zeta(m + 1, x), and digamma for m = 0
bool chlo_lower_polygamma(lower_op_t* n) {
  ir_value_t *m, *x;
  if (!float_operands(n, &m, &x)) return false;
  ir_value_t* next = with(n, SCALAR_add, m, 1);
  ir_value_t* odd = with(n, SCALAR_rem, m, 2);
  ir_value_t* sign = with(n, SCALAR_sub, with(n, SCALAR_mul, odd, 2), 1);
  ir_value_t* size = op2(n, SCALAR_mul, op1(n, SCALAR_exp, lgamma_of(n, next)), zeta_of(n, next, x));
  ir_value_t* y = choose(n, with(n, SCALAR_eq, m, 0), digamma_of(n, x), op2(n, SCALAR_mul, sign, size));
  ir_value_t* whole = op2(n, SCALAR_eq, m, op1(n, SCALAR_floor, m));
  ir_value_t* valid = op2(n, SCALAR_and, whole, with(n, SCALAR_ge, m, 0));
  return finish(n, choose(n, valid, y, number(n, y, NAN)));
}

//===----------------------------------------------------------------------------------------------------------------===
// Inverse error function: polynomials in w = -log(1 - x^2); f64 takes Newton's steps from there
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* polynomial(lower_op_t* n, ir_value_t* x, const double* coefficients, size_t count) {
  ir_value_t* y = number(n, x, coefficients[0]);
  for (size_t i = 1; i < count; ++i) y = with(n, SCALAR_add, op2(n, SCALAR_mul, y, x), coefficients[i]);
  return y;
}

bool chlo_lower_erf_inv(lower_op_t* n) {
  static const double middle[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                  -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  static const double edge[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                                -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  if (!check_float(n)) return false;
  ir_value_t* x = widened(n, n->in[0]);
  ir_value_t* w = op1(n, SCALAR_neg, op1(n, SCALAR_log1p, op1(n, SCALAR_neg, op2(n, SCALAR_mul, x, x))));
  ir_value_t* near = polynomial(n, with(n, SCALAR_sub, w, 2.5), middle, COUNT(middle));
  ir_value_t* far = polynomial(n, with(n, SCALAR_sub, op1(n, SCALAR_sqrt, w), 3), edge, COUNT(edge));
  ir_value_t* y = op2(n, SCALAR_mul, choose(n, with(n, SCALAR_lt, w, 5), near, far), x);
  int steps = ir_type_scalar(x->type)->float_kind == IR_F64 ? 2 : 0;
  for (int i = 0; i < steps; ++i) {  // y - (erf(y) - x) / (2 / sqrt(pi) exp(-y^2)), the difference by erfc at the edges
    ir_value_t *size = op1(n, SCALAR_abs, y), *rest = op2(n, SCALAR_sub, number(n, x, 1), op1(n, SCALAR_abs, x));
    ir_value_t* error = op2(n, SCALAR_sub, rest, op1(n, SCALAR_erfc, size));
    ir_value_t* slope =
        with(n, SCALAR_mul, op1(n, SCALAR_exp, op1(n, SCALAR_neg, op2(n, SCALAR_mul, y, y))), 1.1283791670955126);
    size = op2(n, SCALAR_sub, size, op2(n, SCALAR_div, error, slope));
    y = op2(n, SCALAR_copysign, size, x);
  }
  ir_value_t* whole = with(n, SCALAR_eq, op1(n, SCALAR_abs, x), 1);
  return finish(n, choose(n, whole, with(n, SCALAR_mul, x, INFINITY), y));
}

//===----------------------------------------------------------------------------------------------------------------===
// exp(-|x|) I1(x): x f(|x| / 4 - 1) up to 8, f(16 / |x| - 1) / sqrt |x| above, f a Chebyshev series
//===----------------------------------------------------------------------------------------------------------------===

static const double bessel_low[] = {
    0.12629359322181682,    -0.17641651835783403,    0.10264365868984708,     -0.052945981208094954,
    0.024726449030626468,   -0.010564084894626149,   0.0041564229443128318,   -0.0015135724506311909,
    0.00051228595616849054, -0.0001617608158257912,  4.7815651075352454e-05,  -1.3273163655881015e-05,
    3.4702513079473874e-06, -8.5687202629080246e-07, 2.0032947514680539e-07,  -4.4450591059319409e-08,
    9.3815370825809798e-09, -1.8872494186816445e-09, 3.6255861764872095e-10,  -6.6634506324452804e-11,
    1.1735744404722625e-11, -1.9835292962333908e-12, 3.2183188685715044e-13,  -4.9869382816806805e-14,
    6.9639634560761836e-15, -5.0251021981521704e-16, -4.7128519724763451e-16, 5.712276529926209e-16,
    -6.2796989830360417e-16};

static const double bessel_high[] = {
    0.38928811750914,        -0.0097610974913614687,  -0.00011058893876270949, -3.8825648088975027e-06,
    -2.5122362389561623e-07, -2.6314688461181601e-08, -3.8353804741207031e-09, -5.5897433595377932e-10,
    -1.8975177396430144e-11, 3.2526042767720233e-11,  1.4125438473221329e-11,  2.0356206432415581e-12,
    -7.2033325806244277e-13, -4.0833591652000434e-13, -2.1521878929215071e-14, 4.2733306605247922e-14,
    9.589037383058759e-15,   -3.7984019222129197e-15, -2.650574148347824e-15,  3.5979449872111557e-16,
    -2.7549978759216847e-16, -2.6727591333568582e-17, -5.8595104077438816e-16, 2.0559685641206601e-17,
    -3.8446612149056345e-16};

// Clenshaw's recurrence.
static ir_value_t* chebyshev(lower_op_t* n, ir_value_t* t, const double* c, size_t count) {
  ir_value_t *twice = with(n, SCALAR_mul, t, 2), *next = number(n, t, 0), *after = next;
  for (size_t i = count; i-- > 1;) {
    ir_value_t* value = op2(n, SCALAR_sub, op2(n, SCALAR_mul, twice, next), after);
    after = next;
    next = with(n, SCALAR_add, value, c[i]);
  }
  return with(n, SCALAR_add, op2(n, SCALAR_sub, op2(n, SCALAR_mul, t, next), after), c[0]);
}

bool chlo_lower_bessel_i1e(lower_op_t* n) {
  if (!check_float(n)) return false;
  ir_value_t *x = widened(n, n->in[0]), *size = op1(n, SCALAR_abs, x);
  ir_value_t* t = with(n, SCALAR_sub, with(n, SCALAR_mul, size, 0.25), 1);
  ir_value_t* low = op2(n, SCALAR_mul, size, chebyshev(n, t, bessel_low, COUNT(bessel_low)));
  ir_value_t* u = with(n, SCALAR_sub, op2(n, SCALAR_div, number(n, size, 16), size), 1);
  ir_value_t* high = op2(n, SCALAR_div, chebyshev(n, u, bessel_high, COUNT(bessel_high)), op1(n, SCALAR_sqrt, size));
  ir_value_t* y = choose(n, with(n, SCALAR_le, size, 8), low, high);
  return finish(n, choose(n, with(n, SCALAR_lt, x, 0), op1(n, SCALAR_neg, y), y));
}
