// Every rewrite rule of scalar_rules.def keeps the value: both sides are evaluated on random and edge values of every
// type that the rule takes.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
// cmocka.h needs the headers above.
#include <cmocka.h>

#include "dialects/register.h"
#include "dialects/scalar_rules.h"

enum { TRIALS = 400 };

static uint64_t next_random(uint64_t* state) {
  *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
  return *state;
}

static scalar_value_t random_value(const ir_type_t* type, uint64_t* state) {
  static const double floats[] = {0.0,    -0.0,  1,      -1,      2,        0.5,       1e-45,
                                  1e-310, 65504, 3.4e38, -3.4e38, INFINITY, -INFINITY, NAN};
  static const int64_t integers[] = {0,  1,   -1,   2,   7,         8,         31,        32,       63,
                                     64, 127, -128, 255, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
  uint64_t r = next_random(state);
  scalar_value_t value = {0};
  if (type->kind == IR_TYPE_FLOAT) {
    unsigned char bits[8];
    memcpy(bits, &r, 8);
    value.f = r % 3 ? ir_scalar_load_number(type, bits) : floats[r / 3 % (sizeof(floats) / sizeof(floats[0]))];
  } else {
    value.i = r % 3 ? (int64_t)r : integers[r / 3 % (sizeof(integers) / sizeof(integers[0]))];
  }
  return scalar_fit(type, value);
}

typedef struct typed_t {
  const ir_type_t* type;
  scalar_value_t value;
} typed_t;

// `like` is the type that a constant takes.
static typed_t evaluate(ir_context_t* ctx, const scalar_pattern_t* pattern, const typed_t* variables,
                        const ir_type_t* like) {
  if (pattern->kind == SCALAR_PATTERN_ANY) return variables[pattern->index];
  if (pattern->kind == SCALAR_PATTERN_NUMBER) {
    return (typed_t){like, scalar_fit(like, (scalar_value_t){pattern->number, (int64_t)pattern->number})};
  }
  const scalar_info_t* info = &scalar_info[pattern->index];
  typed_t operands[3];
  const ir_type_t* type = like;
  for (int i = 0; i < info->arity; ++i) {
    if (pattern->operands[i]->kind == SCALAR_PATTERN_NUMBER) continue;
    operands[i] = evaluate(ctx, pattern->operands[i], variables, like);
    type = operands[i].type;
  }
  scalar_value_t in[3] = {{0}};
  for (int i = 0; i < info->arity; ++i) {
    if (pattern->operands[i]->kind == SCALAR_PATTERN_NUMBER) {
      operands[i] = evaluate(ctx, pattern->operands[i], variables, type);
    }
    in[i] = operands[i].value;
  }
  const ir_type_t* result = info->result == SCALAR_RESULT_BOOL ? ir_type_int(ctx, 1) : type;
  return (typed_t){result, scalar_eval((scalar_fn_t)pattern->index, in, type, result)};
}

// The number of a float among those of its type and sign, from zero to infinity.
static int64_t number_of(const typed_t* x) {
  uint64_t bits = 0;
  ir_scalar_store_number(x->type, fabs(x->value.f), &bits);
  return (int64_t)bits;
}

static bool same(const typed_t* a, const typed_t* b, int64_t ulps) {
  if (a->type != b->type) return false;
  if (a->type->kind != IR_TYPE_FLOAT) return a->value.i == b->value.i;
  if (isnan(a->value.f) || isnan(b->value.f)) return isnan(a->value.f) && isnan(b->value.f);
  return signbit(a->value.f) == signbit(b->value.f) && llabs(number_of(a) - number_of(b)) <= ulps;
}

static bool is_bool_result(const scalar_pattern_t* pattern) {
  return pattern->kind == SCALAR_PATTERN_FN &&
         (scalar_info[pattern->index].result == SCALAR_RESULT_BOOL ||
          (pattern->operands[0]->kind == SCALAR_PATTERN_FN && is_bool_result(pattern->operands[0])));
}

static void check_rule(ir_context_t* ctx, const scalar_rule_t* rule, const ir_type_t* type) {
  uint64_t state = 0x9e3779b97f4a7c15ull;
  const ir_type_t* result = is_bool_result(rule->match) ? ir_type_int(ctx, 1) : type;
  for (int trial = 0; trial < TRIALS; ++trial) {
    typed_t variables[SCALAR_PATTERN_VARIABLES];
    for (int i = 0; i < SCALAR_PATTERN_VARIABLES; ++i) variables[i] = (typed_t){type, random_value(type, &state)};
    typed_t before = evaluate(ctx, rule->match, variables, type);
    typed_t after = evaluate(ctx, rule->replacement, variables, result);
    if (same(&before, &after, rule->ulps)) continue;
    fail_msg("rule '%s' on %s changes the value: x = %g or %lld, y = %g or %lld", rule->name, ir_type_str(ctx, type),
             variables[0].value.f, (long long)variables[0].value.i, variables[1].value.f,
             (long long)variables[1].value.i);
  }
}

static void test_rules_are_sound(void** unused) {
  ir_context_t* ctx = ir_context_create();
  static const uint32_t widths[] = {8, 16, 32, 64};
  for (uint32_t r = 0; r < scalar_rule_count; ++r) {
    const scalar_rule_t* rule = &scalar_rules[r];
    for (int i = 0; i < 4 && (rule->types & SCALAR_TYPES_I); ++i) check_rule(ctx, rule, ir_type_int(ctx, widths[i]));
    if (!(rule->types & SCALAR_TYPES_F)) continue;
    check_rule(ctx, rule, ir_type_float(ctx, IR_F16));
    check_rule(ctx, rule, ir_type_float(ctx, IR_BF16));
    check_rule(ctx, rule, ir_type_float(ctx, IR_F32));
    check_rule(ctx, rule, ir_type_float(ctx, IR_F64));
    check_rule(ctx, rule, ir_type_float(ctx, IR_F8E5M2));
    check_rule(ctx, rule, ir_type_float(ctx, IR_F8E4M3FN));
  }
  ir_context_destroy(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rules_are_sound)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
