// Every scalar function on every type it takes, against scalar_eval; mathematical functions against long double, in
// units in the last place. A suite is many kernels, one for each function and type: where they run is the test's
// choice.
#ifndef IREE_C_TESTS_TARGET_SCALAR_SUITE_H_
#define IREE_C_TESTS_TARGET_SCALAR_SUITE_H_

#include <math.h>

#include "harness.h"

enum { SAMPLES = 4096, MOST_CASES = 2048 };

typedef struct case_t {
  scalar_fn_t fn;
  const ir_type_t *operand, *result;
} case_t;

typedef struct suite_t {
  harness_t h;
  case_t cases[MOST_CASES];
  uint32_t count;
  int64_t lanes;
  uint64_t seed;
  uint32_t failures, case_failures;
} suite_t;

static inline bool is_float(const ir_type_t* t) { return t->kind == IR_TYPE_FLOAT; }

// Integers of all ways of lying in memory, then every float format.
static inline const ir_type_t* type_at(ir_context_t* ctx, int i) {
  static const uint32_t widths[] = {1, 2, 4, 6, 8, 16, 32, 64};
  enum { INTEGERS = sizeof(widths) / sizeof(widths[0]) };
  if (i < INTEGERS) return ir_type_int(ctx, widths[i]);
  i -= INTEGERS;
  i += i >= IR_TF32;  // an f32 outside of matrix instructions
  return i < IR_FLOAT_COUNT ? ir_type_float(ctx, (ir_float_kind_t)i) : NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Kernels
//===----------------------------------------------------------------------------------------------------------------===

static inline int arity_of(scalar_fn_t fn) { return scalar_info[fn].arity; }

static inline void add_case(suite_t* s, scalar_fn_t fn, const ir_type_t* operand, const ir_type_t* result) {
  const ir_type_t* types[4] = {operand, operand, operand, result};
  if (fn == SCALAR_select) types[0] = ir_type_int(s->h.ctx, 1);
  ir_builder_t b;
  ir_op_t* func = harness_func(&s->h, types, 4, &b);
  kernel_loop_t loop =
      kernel_for_begin(&b, kernel_index(&b, 0), kernel_func_arg(func, 4), kernel_index(&b, s->lanes), NULL, 0);
  ir_value_t* in[3];
  for (int i = 0; i < arity_of(fn); ++i)
    in[i] = kernel_load(&b, kernel_func_arg(func, (uint32_t)i), loop.index, s->lanes);
  const ir_type_t* type = kernel_vector_type(s->h.ctx, result, s->lanes);
  uint32_t code = IR_CODE(IR_DIALECT_KERNEL, 0) + (uint32_t)fn;
  ir_value_t* out = ir_build_value(&b, code, in, (uint32_t)arity_of(fn), type);
  kernel_store(&b, out, kernel_func_arg(func, 3), loop.index);
  kernel_for_end(&b, &loop, NULL, 0);
  kernel_func_end(&b);
  assert_true(s->count < MOST_CASES);
  s->cases[s->count++] = (case_t){fn, operand, result};
}

static inline void add_rows(suite_t* s) {
  for (int fn = 0; fn < SCALAR_COUNT; ++fn) {
    const scalar_info_t* info = &scalar_info[fn];
    if (info->result == SCALAR_RESULT_ANY) continue;
    for (int i = 0; type_at(s->h.ctx, i); ++i) {
      const ir_type_t* type = type_at(s->h.ctx, i);
      if (!(info->types & (is_float(type) ? SCALAR_TYPES_F : SCALAR_TYPES_I))) continue;
      if (i > 12) continue;  // the other formats share their arithmetic; casts cover them
      add_case(s, (scalar_fn_t)fn, type, info->result == SCALAR_RESULT_BOOL ? ir_type_int(s->h.ctx, 1) : type);
    }
  }
}

static inline void add_casts(suite_t* s) {
  for (int i = 0; type_at(s->h.ctx, i); ++i) {
    for (int j = 0; type_at(s->h.ctx, j); ++j) {
      const ir_type_t *from = type_at(s->h.ctx, i), *to = type_at(s->h.ctx, j);
      add_case(s, SCALAR_cast, from, to);
      add_case(s, SCALAR_castu, from, to);
      if (from->width == to->width) add_case(s, SCALAR_bitcast, from, to);
    }
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Inputs and expected outputs
//===----------------------------------------------------------------------------------------------------------------===

static inline double edge_number(uint32_t i) {
  static const double edges[] = {
      0.0,       -0.0,     1,         -1,           0.5,          -0.5,          1.5,          2.5,
      -2.5,      INFINITY, -INFINITY, NAN,          0x1p-149,     0x1p-126,      0x1p127,      0x1p-1074,
      0x1p1023,  88.8,     -88.8,     104,          -104,         710,           -746,         3.875,
      9.5,       -9.5,     M_PI_2,    M_PI,         100000,       1e22,          -1e30,        127.5,
      128.5,     255.5,    32767.5,   2147483647.0, 2147483648.0, -2147483648.0, 4294967295.0, 4294967296.0,
      0x1p63,    -0x1p63,  0x1p64,    65504,        65520,        448,           464,          57344,
      61440,     6,        7,         0x1p-14,      0x1p-24,      0x1p-25,       0x1p-133,     0.9999999,
      1.0000001, 1e-8,     -1e-8,     1e300};
  return edges[i % (sizeof(edges) / sizeof(edges[0]))];
}

static inline void fill(suite_t* s, const ir_type_t* type, void* data, uint32_t salt) {
  uint32_t bytes = ir_type_bytes(type);
  for (uint32_t i = 0; i < SAMPLES; ++i) {
    void* at = (char*)data + bytes * i;
    uint64_t bits = harness_random(&s->seed);
    uint32_t choice = i % 4;
    if (i < 61 * 61) choice = i % 8 < 2 ? 0 : choice;
    if (is_float(type) && choice == 0) {
      ir_scalar_store_number(type,
                             edge_number(salt == 0   ? i / 4
                                         : salt == 1 ? i / 4 / 61 + i / 4
                                                     : (uint32_t)bits),
                             at);
    } else if (is_float(type) && choice == 1) {
      ir_scalar_store_number(type, ((double)(int64_t)bits / 0x1p63) * 20, at);
    } else if (is_float(type) && choice == 2) {
      ir_scalar_store_number(type, ((double)(int64_t)bits / 0x1p63) * 1.5, at);
    } else {
      int64_t value = choice == 0 ? (int64_t)(bits % 7) - 3 : choice == 1 ? (int64_t)(bits % 80) - 8 : (int64_t)bits;
      if (choice == 2) value = INT64_MIN >> (bits % 64);
      if (is_float(type)) value = (int64_t)bits;
      if (type->width == 1) value &= 1;
      memcpy(at, &value, bytes);
      if (type->width < 8) *(uint8_t*)at &= (uint8_t)((1 << type->width) - 1);
    }
  }
}

// LONG_MATH(function, reference, ulps f32, ulps f64)
#define LONG_MATH(ROW)                    \
  ROW(exp, expl(a), 4, 4)                 \
  ROW(exp2, exp2l(a), 4, 4)               \
  ROW(expm1, expm1l(a), 4, 4)             \
  ROW(log, logl(a), 4, 4)                 \
  ROW(log2, log2l(a), 4, 4)               \
  ROW(log10, log10l(a), 4, 4)             \
  ROW(log1p, log1pl(a), 4, 4)             \
  ROW(rsqrt, 1 / sqrtl(a), 2, 2)          \
  ROW(cbrt, cbrtl(a), 4, 4)               \
  ROW(sin, sinl(a), 4, 4)                 \
  ROW(cos, cosl(a), 4, 4)                 \
  ROW(tan, tanl(a), 4, 5)                 \
  ROW(asin, asinl(a), 4, 4)               \
  ROW(acos, acosl(a), 4, 4)               \
  ROW(atan, atanl(a), 4, 4)               \
  ROW(sinh, sinhl(a), 4, 4)               \
  ROW(cosh, coshl(a), 4, 4)               \
  ROW(tanh, tanhl(a), 4, 4)               \
  ROW(asinh, asinhl(a), 4, 4)             \
  ROW(acosh, acoshl(a), 4, 4)             \
  ROW(atanh, atanhl(a), 4, 5)             \
  ROW(erf, erfl(a), 4, 4)                 \
  ROW(erfc, erfcl(a), 4, 4)               \
  ROW(logistic, 1 / (1 + expl(-a)), 4, 4) \
  ROW(pow, powl(a, b), 4, 4)              \
  ROW(atan2, atan2l(a, b), 4, 4)

static inline bool reference(scalar_fn_t fn, long double a, long double b, bool f64, long double* out, double* ulps) {
  switch (fn) {
#define ROW(name, value, u32, u64) \
  case SCALAR_##name:              \
    *out = value;                  \
    *ulps = f64 ? u64 : u32;       \
    return true;
    LONG_MATH(ROW)
#undef ROW
    default:
      return false;
  }
}

static inline double ulp_of(const ir_type_t* type, long double value) {
  int mantissa = type->float_kind == IR_F64 ? 52 : 23, least = type->float_kind == IR_F64 ? -1074 : -149;
  int exponent;
  frexpl(value, &exponent);
  int unit = exponent - 1 - mantissa;
  return ldexp(1, unit < least ? least : unit);
}

// Distance in units in the last place; huge when one is special and the other not.
static inline double distance(const ir_type_t* type, double got, long double want) {
  if (isnan(want) || isnan(got)) return isnan(want) && isnan(got) ? 0 : 1e30;
  long double most = type->float_kind == IR_F64 ? (long double)__DBL_MAX__ : (long double)__FLT_MAX__;
  if (isinf(got)) {
    if (fabsl(want) > most && !signbit(got) == !signbit(want)) return 0;
    return fabsl(want) > most * 0.999999L && !signbit(got) == !signbit(want) ? 1 : 1e30;
  }
  if (isinf(want) || fabsl(want) > most * 1.0001L) return 1e30;
  if (want == 0 && got == 0) return !signbit(got) == !signbit(want) ? 0 : 1e30;
  return (double)(fabsl((long double)got - want) / ulp_of(type, want));
}

// Functions whose results for small floats may differ by a unit because they are rounded twice.
static inline bool rounds_twice(scalar_fn_t fn) { return fn == SCALAR_fma; }

static inline bool same_value(const case_t* c, const scalar_value_t in[3], scalar_value_t got, scalar_value_t want) {
  if (!is_float(c->result)) return got.i == want.i;
  if (isnan(got.f) && isnan(want.f)) return true;
  if (isnan(in[0].f) && got.f == -want.f) return true;  // the sign of a NaN, in a format that has none
  if (c->fn == SCALAR_minnum || c->fn == SCALAR_maxnum) return got.f == want.f;
  if (got.f == want.f && !signbit(got.f) == !signbit(want.f)) return true;
  if (isnan(got.f) || isnan(want.f)) return false;
  uint32_t bytes = ir_type_bytes(c->result);
  long double ignored;
  double ulps;
  bool inexact = bytes <= 2 && (rounds_twice(c->fn) || reference(c->fn, 0, 0, false, &ignored, &ulps));
  if (!inexact) return false;
  int64_t a = 0, b = 0;
  scalar_store(c->result, got, &a);
  scalar_store(c->result, want, &b);
  return llabs(a - b) <= 1;
}

//===----------------------------------------------------------------------------------------------------------------===
// Running
//===----------------------------------------------------------------------------------------------------------------===

static inline void report(suite_t* s, const case_t* c, const scalar_value_t in[3], double got, double want,
                          double ulps) {
  if (++s->failures > 400 || ++s->case_failures > 2) return;
  text_t types = {0};
  ir_print_type(&types, c->operand);
  text_puts(&types, " -> ");
  ir_print_type(&types, c->result);
  print_error("%s %s: (%.17g|%lld, %.17g|%lld, %.17g|%lld) gives %.17g, not %.17g (%g ulp)\n", scalar_info[c->fn].name,
              types.data, in[0].f, (long long)in[0].i, in[1].f, (long long)in[1].i, in[2].f, (long long)in[2].i, got,
              want, ulps);
  text_finish(&types);
}

static inline double check_case(suite_t* s, const case_t* c, char* const* data) {
  double worst = 0;
  s->case_failures = 0;
  for (uint32_t i = 0; i < SAMPLES; ++i) {
    scalar_value_t in[3] = {{0}};
    for (int k = 0; k < arity_of(c->fn); ++k) {
      const ir_type_t* type = c->fn == SCALAR_select && k == 0 ? ir_type_int(s->h.ctx, 1) : c->operand;
      in[k] = scalar_load(type, data[k] + ir_type_bytes(type) * i);
    }
    scalar_value_t got = scalar_load(c->result, data[3] + ir_type_bytes(c->result) * i);
    uint32_t bytes = ir_type_bytes(c->operand);
    if (c->fn == SCALAR_bitcast) {
      if (memcmp(data[0] + bytes * i, data[3] + bytes * i, bytes) != 0) report(s, c, in, 0, 1, 0);
      continue;
    }
    long double exact;
    double ulps;
    bool precise = is_float(c->operand) && bytes >= 4;
    if (precise && reference(c->fn, in[0].f, in[1].f, c->operand->float_kind == IR_F64, &exact, &ulps)) {
      double d = distance(c->operand, got.f, exact);
      if (d > worst) worst = d;
      if (d > ulps) report(s, c, in, got.f, (double)exact, d);
      continue;
    }
    scalar_value_t want = scalar_eval(c->fn, in, c->operand, c->result);
    if (c->fn == SCALAR_fma && c->operand->float_kind == IR_F32)
      want.f = (double)fmaf((float)in[0].f, (float)in[1].f, (float)in[2].f);
    if (!same_value(c, in, got, want)) {
      report(s, c, in, is_float(c->result) ? got.f : (double)got.i, is_float(c->result) ? want.f : (double)want.i, 0);
    }
  }
  return worst;
}

typedef struct suite_data_t {
  char* at[4];  // three inputs and the result, SAMPLES elements of up to 8 bytes each
} suite_data_t;

static inline void suite_fill(suite_t* s, const case_t* c, const suite_data_t* data) {
  const ir_type_t* condition = ir_type_int(s->h.ctx, 1);
  for (uint32_t k = 0; k < 3; ++k) fill(s, c->fn == SCALAR_select && k == 0 ? condition : c->operand, data->at[k], k);
  memset(data->at[3], 0xa5, 8 * SAMPLES);
}

static inline void suite_check(suite_t* s, const case_t* c, const suite_data_t* data) {
  double worst = check_case(s, c, data->at);
  if (worst > 0 && getenv("SHOW_ULPS")) {
    print_message("%-10s f%u %5.2f\n", scalar_info[c->fn].name, 8 * ir_type_bytes(c->operand), worst);
  }
}

static inline suite_t* suite_create(int64_t lanes, void (*add)(suite_t* s)) {
  suite_t* s = calloc(1, sizeof(*s));
  harness_init(&s->h);
  s->lanes = lanes;
  s->seed = 42;
  add(s);
  return s;
}

static inline void suite_finish(suite_t* s) {
  uint32_t failures = s->failures;
  harness_finish(&s->h);
  free(s);
  assert_int_equal(failures, 0);
}

#endif  // IREE_C_TESTS_TARGET_SCALAR_SUITE_H_
