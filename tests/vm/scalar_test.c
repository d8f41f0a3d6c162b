// Scalar instructions: each one through the interpreter, on edge values, against what C says it is.

#include "vm_test.h"
// After cmocka.
#include <math.h>

// Results of an instruction on operands, as bits.
typedef struct case_t {
  vm_op_t op;
  uint64_t a, b, c;
  uint64_t expected;
} case_t;

static uint64_t f32(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}
static uint64_t f64(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}
#define I32(x) ((uint64_t)(uint32_t)(x))
#define I64(x) ((uint64_t)(x))

// A function that gives the instruction literal operands and returns its result.
static void add_case(program_t* program, const case_t* test, const char* name) {
  const char* signature = vm_op_info(test->op)->signature;
  char convention[] = {'0', 'v', '_', signature[0], 0};
  module_function_t* f =
      module_writer_function(program->writer, iree_make_cstring_view(name), iree_make_cstring_view(convention));
  const uint64_t values[] = {test->a, test->b, test->c};
  module_operand_t operands[3];
  size_t count = 0;
  for (const char* letter = signature + 2; *letter; ++letter, ++count) {
    module_reg_t reg = 0;
    double real = 0;
    float single = 0;
    switch (*letter) {
      case 'i':
        reg = module_function_i32(f, (int32_t)values[count]);
        break;
      case 'I':
        reg = module_function_i64(f, (int64_t)values[count]);
        break;
      case 'f':
        memcpy(&single, &values[count], sizeof(single));
        reg = module_emit_value(f, const_f32, MODULE_FLOAT(single));
        break;
      default:
        memcpy(&real, &values[count], sizeof(real));
        reg = module_emit_value(f, const_f64, MODULE_FLOAT(real));
        break;
    }
    operands[count] = MODULE_REG(reg);
  }
  module_reg_t result = module_function_emit_value(f, test->op, operands, count);
  module_emit(f, return, MODULE_LIST(1, &result));
  module_writer_export(program->writer, iree_make_cstring_view(name), f, 0, NULL);
}

static uint64_t bits_of(iree_vm_value_t value) {
  uint64_t bits = 0;
  bool wide = value.type == IREE_VM_VALUE_TYPE_I64 || value.type == IREE_VM_VALUE_TYPE_F64;
  memcpy(&bits, value.value_storage, wide ? 8 : 4);
  return bits;
}

static void run_cases(const case_t* cases, size_t count) {
  program_t program;
  program_begin(&program);
  char name[32];
  for (size_t i = 0; i < count; ++i) {
    snprintf(name, sizeof(name), "case%zu", i);
    add_case(&program, &cases[i], name);
  }
  EXPECT_OK(program_link(&program, 0, NULL));
  int failed = 0;
  for (size_t i = 0; i < count; ++i) {
    iree_vm_list_t* outputs = make_list();
    iree_vm_value_t value;
    snprintf(name, sizeof(name), "case%zu", i);
    EXPECT_OK(program_call(&program, name, NULL, outputs));
    EXPECT_OK(iree_vm_list_get_value(outputs, 0, &value));
    if (bits_of(value) != cases[i].expected) {
      fprintf(stderr, "case %zu: %s(%llx, %llx, %llx) is %llx, expected %llx\n", i, vm_op_info(cases[i].op)->name,
              (unsigned long long)cases[i].a, (unsigned long long)cases[i].b, (unsigned long long)cases[i].c,
              (unsigned long long)bits_of(value), (unsigned long long)cases[i].expected);
      ++failed;
    }
    iree_vm_list_release(outputs);
  }
  program_end(&program);
  assert_int_equal(failed, 0);
}

static void test_i32(void** state) {
  static const case_t cases[] = {
      {VM_OP_i32_add, I32(INT32_MAX), 1, 0, I32(INT32_MIN)},
      {VM_OP_i32_sub, I32(INT32_MIN), 1, 0, I32(INT32_MAX)},
      {VM_OP_i32_mul, I32(65536), I32(65536), 0, 0},
      {VM_OP_i32_div_s, I32(-7), 2, 0, I32(-3)},
      {VM_OP_i32_div_s, I32(INT32_MIN), I32(-1), 0, I32(INT32_MIN)},
      {VM_OP_i32_div_u, I32(-7), 2, 0, 0x7FFFFFFC},
      {VM_OP_i32_rem_s, I32(-7), 2, 0, I32(-1)},
      {VM_OP_i32_rem_s, I32(INT32_MIN), I32(-1), 0, 0},
      {VM_OP_i32_rem_u, I32(-7), 4, 0, 1},
      {VM_OP_i32_and, 12, 10, 0, 8},
      {VM_OP_i32_or, 12, 10, 0, 14},
      {VM_OP_i32_xor, 12, 10, 0, 6},
      {VM_OP_i32_shl, 1, 33, 0, 2},
      {VM_OP_i32_shr_s, I32(-8), 1, 0, I32(-4)},
      {VM_OP_i32_shr_u, I32(-8), 1, 0, 0x7FFFFFFC},
      {VM_OP_i32_min_s, I32(-1), 1, 0, I32(-1)},
      {VM_OP_i32_min_u, I32(-1), 1, 0, 1},
      {VM_OP_i32_max_s, I32(-1), 1, 0, 1},
      {VM_OP_i32_max_u, I32(-1), 1, 0, I32(-1)},
      {VM_OP_i32_not, 0, 0, 0, I32(-1)},
      {VM_OP_i32_neg, I32(INT32_MIN), 0, 0, I32(INT32_MIN)},
      {VM_OP_i32_abs, I32(INT32_MIN), 0, 0, I32(INT32_MIN)},
      {VM_OP_i32_abs, I32(-5), 0, 0, 5},
      {VM_OP_i32_clz, 0, 0, 0, 32},
      {VM_OP_i32_clz, 1, 0, 0, 31},
      {VM_OP_i32_ctz, 0, 0, 0, 32},
      {VM_OP_i32_ctz, 8, 0, 0, 3},
      {VM_OP_i32_popcount, I32(-1), 0, 0, 32},
      {VM_OP_i32_eq, 3, 3, 0, 1},
      {VM_OP_i32_ne, 3, 3, 0, 0},
      {VM_OP_i32_lt_s, I32(-1), 0, 0, 1},
      {VM_OP_i32_lt_u, I32(-1), 0, 0, 0},
      {VM_OP_i32_le_s, 0, 0, 0, 1},
      {VM_OP_i32_le_u, 1, 0, 0, 0},
  };
  run_cases(cases, IREE_ARRAYSIZE(cases));
}

static void test_i64(void** state) {
  static const case_t cases[] = {
      {VM_OP_i64_add, I64(INT64_MAX), 1, 0, I64(INT64_MIN)},
      {VM_OP_i64_sub, I64(INT64_MIN), 1, 0, I64(INT64_MAX)},
      {VM_OP_i64_mul, 1ull << 32, 1ull << 32, 0, 0},
      {VM_OP_i64_div_s, I64(INT64_MIN), I64(-1), 0, I64(INT64_MIN)},
      {VM_OP_i64_div_u, I64(-1), 2, 0, I64(INT64_MAX)},
      {VM_OP_i64_rem_s, I64(-7), 4, 0, I64(-3)},
      {VM_OP_i64_rem_u, I64(-7), 4, 0, 1},
      {VM_OP_i64_ceildiv_u, 9, 4, 0, 3},
      {VM_OP_i64_ceildiv_u, 8, 4, 0, 2},
      {VM_OP_i64_ceildiv_u, I64(-1), 2, 0, 1ull << 63},
      {VM_OP_i64_and, 12, 10, 0, 8},
      {VM_OP_i64_or, 12, 10, 0, 14},
      {VM_OP_i64_xor, 12, 10, 0, 6},
      {VM_OP_i64_shl, 1, 65, 0, 2},
      {VM_OP_i64_shr_s, I64(-8), 1, 0, I64(-4)},
      {VM_OP_i64_shr_u, I64(-8), 1, 0, 0x7FFFFFFFFFFFFFFCull},
      {VM_OP_i64_min_s, I64(-1), 1, 0, I64(-1)},
      {VM_OP_i64_min_u, I64(-1), 1, 0, 1},
      {VM_OP_i64_max_s, I64(-1), 1, 0, 1},
      {VM_OP_i64_max_u, I64(-1), 1, 0, I64(-1)},
      {VM_OP_i64_not, 5, 0, 0, ~5ull},
      {VM_OP_i64_neg, 5, 0, 0, I64(-5)},
      {VM_OP_i64_abs, I64(-5), 0, 0, 5},
      {VM_OP_i64_clz, 0, 0, 0, 64},
      {VM_OP_i64_ctz, 0, 0, 0, 64},
      {VM_OP_i64_popcount, I64(-1), 0, 0, 64},
      {VM_OP_i64_eq, 1ull << 40, 1ull << 40, 0, 1},
      {VM_OP_i64_ne, 1ull << 40, 0, 0, 1},
      {VM_OP_i64_lt_s, I64(-1), 0, 0, 1},
      {VM_OP_i64_lt_u, I64(-1), 0, 0, 0},
      {VM_OP_i64_le_s, 0, 0, 0, 1},
      {VM_OP_i64_le_u, 1, 0, 0, 0},
  };
  run_cases(cases, IREE_ARRAYSIZE(cases));
}

static void test_float(void** state) {
  const case_t cases[] = {
      {VM_OP_f32_add, f32(1.5f), f32(2.25f), 0, f32(3.75f)},
      {VM_OP_f32_sub, f32(1.5f), f32(2.25f), 0, f32(-0.75f)},
      {VM_OP_f32_mul, f32(3), f32(0.5f), 0, f32(1.5f)},
      {VM_OP_f32_div, f32(1), f32(0), 0, f32(INFINITY)},
      {VM_OP_f32_rem, f32(-7), f32(4), 0, f32(-3)},
      {VM_OP_f32_min, f32(2), f32(-1), 0, f32(-1)},
      {VM_OP_f32_max, f32(2), f32(-1), 0, f32(2)},
      {VM_OP_f32_max, f32(NAN), f32(-1), 0, f32(NAN)},
      {VM_OP_f32_min, f32(1), f32(NAN), 0, f32(NAN)},
      {VM_OP_f32_pow, f32(2), f32(10), 0, f32(1024)},
      {VM_OP_f32_atan2, f32(0), f32(1), 0, f32(0)},
      {VM_OP_f32_fma, f32(2), f32(3), f32(4), f32(10)},
      {VM_OP_f32_neg, f32(0), 0, 0, f32(-0.0f)},
      {VM_OP_f32_abs, f32(-2), 0, 0, f32(2)},
      {VM_OP_f32_sqrt, f32(9), 0, 0, f32(3)},
      {VM_OP_f32_exp, f32(0), 0, 0, f32(1)},
      {VM_OP_f32_log, f32(1), 0, 0, f32(0)},
      {VM_OP_f32_sin, f32(0), 0, 0, f32(0)},
      {VM_OP_f32_cos, f32(0), 0, 0, f32(1)},
      {VM_OP_f32_tanh, f32(0), 0, 0, f32(0)},
      {VM_OP_f32_erf, f32(0), 0, 0, f32(0)},
      {VM_OP_f32_floor, f32(-1.5f), 0, 0, f32(-2)},
      {VM_OP_f32_ceil, f32(1.2f), 0, 0, f32(2)},
      {VM_OP_f32_round_even, f32(2.5f), 0, 0, f32(2)},
      {VM_OP_f32_eq, f32(NAN), f32(NAN), 0, 0},
      {VM_OP_f32_ne, f32(NAN), f32(NAN), 0, 1},
      {VM_OP_f32_lt, f32(1), f32(2), 0, 1},
      {VM_OP_f32_le, f32(2), f32(2), 0, 1},
      {VM_OP_f64_add, f64(1.5), f64(2.25), 0, f64(3.75)},
      {VM_OP_f64_sub, f64(1.5), f64(2.25), 0, f64(-0.75)},
      {VM_OP_f64_mul, f64(3), f64(0.5), 0, f64(1.5)},
      {VM_OP_f64_div, f64(-1), f64(0), 0, f64(-INFINITY)},
      {VM_OP_f64_rem, f64(-7), f64(4), 0, f64(-3)},
      {VM_OP_f64_min, f64(2), f64(-1), 0, f64(-1)},
      {VM_OP_f64_max, f64(2), f64(-1), 0, f64(2)},
      {VM_OP_f64_pow, f64(2), f64(10), 0, f64(1024)},
      {VM_OP_f64_atan2, f64(0), f64(1), 0, f64(0)},
      {VM_OP_f64_fma, f64(2), f64(3), f64(4), f64(10)},
      {VM_OP_f64_neg, f64(1), 0, 0, f64(-1)},
      {VM_OP_f64_abs, f64(-2), 0, 0, f64(2)},
      {VM_OP_f64_sqrt, f64(9), 0, 0, f64(3)},
      {VM_OP_f64_exp, f64(0), 0, 0, f64(1)},
      {VM_OP_f64_log, f64(1), 0, 0, f64(0)},
      {VM_OP_f64_sin, f64(0), 0, 0, f64(0)},
      {VM_OP_f64_cos, f64(0), 0, 0, f64(1)},
      {VM_OP_f64_tanh, f64(0), 0, 0, f64(0)},
      {VM_OP_f64_erf, f64(0), 0, 0, f64(0)},
      {VM_OP_f64_floor, f64(-1.5), 0, 0, f64(-2)},
      {VM_OP_f64_ceil, f64(1.2), 0, 0, f64(2)},
      {VM_OP_f64_round_even, f64(3.5), 0, 0, f64(4)},
      {VM_OP_f64_eq, f64(1), f64(1), 0, 1},
      {VM_OP_f64_ne, f64(1), f64(1), 0, 0},
      {VM_OP_f64_lt, f64(NAN), f64(2), 0, 0},
      {VM_OP_f64_le, f64(NAN), f64(2), 0, 0},
  };
  run_cases(cases, IREE_ARRAYSIZE(cases));
}

static void test_convert(void** state) {
  const case_t cases[] = {
      {VM_OP_ext_i8_i32, 0x1FF, 0, 0, I32(-1)},
      {VM_OP_ext_i16_i32, 0x18000, 0, 0, I32(-32768)},
      {VM_OP_ext_i32_i64_s, I32(-1), 0, 0, I64(-1)},
      {VM_OP_ext_i32_i64_u, I32(-1), 0, 0, 0xFFFFFFFFull},
      {VM_OP_trunc_i64_i32, 0x1234567890ull, 0, 0, 0x34567890},
      {VM_OP_ext_f32_f64, f32(0.5f), 0, 0, f64(0.5)},
      {VM_OP_trunc_f64_f32, f64(0.1), 0, 0, f32(0.1f)},
      {VM_OP_cast_s32_f32, I32(-3), 0, 0, f32(-3)},
      {VM_OP_cast_u32_f32, I32(-1), 0, 0, f32(4294967296.0f)},
      {VM_OP_cast_s32_f64, I32(-3), 0, 0, f64(-3)},
      {VM_OP_cast_u32_f64, I32(-1), 0, 0, f64(4294967295.0)},
      {VM_OP_cast_s64_f32, I64(-3), 0, 0, f32(-3)},
      {VM_OP_cast_u64_f32, I64(-1), 0, 0, f32(18446744073709551616.0f)},
      {VM_OP_cast_s64_f64, I64(-3), 0, 0, f64(-3)},
      {VM_OP_cast_u64_f64, 1ull << 63, 0, 0, f64(9223372036854775808.0)},
      {VM_OP_cast_f32_s32, f32(-1.9f), 0, 0, I32(-1)},
      {VM_OP_cast_f32_s32, f32(3e9f), 0, 0, I32(INT32_MAX)},
      {VM_OP_cast_f32_s32, f32(-3e9f), 0, 0, I32(INT32_MIN)},
      {VM_OP_cast_f32_s32, f32(NAN), 0, 0, 0},
      {VM_OP_cast_f32_u32, f32(-1), 0, 0, 0},
      {VM_OP_cast_f32_u32, f32(3e9f), 0, 0, 3000000000u},
      {VM_OP_cast_f32_s64, f32(1e10f), 0, 0, 10000000000ull},
      {VM_OP_cast_f32_u64, f32(1e30f), 0, 0, UINT64_MAX},
      {VM_OP_cast_f64_s32, f64(2147483647.5), 0, 0, I32(INT32_MAX)},
      {VM_OP_cast_f64_s32, f64(-2147483648.5), 0, 0, I32(INT32_MIN)},
      {VM_OP_cast_f64_u32, f64(-0.5), 0, 0, 0},
      {VM_OP_cast_f64_u32, f64(4294967295.5), 0, 0, UINT32_MAX},
      {VM_OP_cast_f64_s64, f64(-1e30), 0, 0, I64(INT64_MIN)},
      {VM_OP_cast_f64_u64, f64(1.8e19), 0, 0, 18000000000000000000ull},
      {VM_OP_bits_f32_i32, f32(1), 0, 0, 0x3F800000},
      {VM_OP_bits_i32_f32, 0x3F800000, 0, 0, f32(1)},
      {VM_OP_bits_f64_i64, f64(1), 0, 0, 0x3FF0000000000000ull},
      {VM_OP_bits_i64_f64, 0x3FF0000000000000ull, 0, 0, f64(1)},
  };
  run_cases(cases, IREE_ARRAYSIZE(cases));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_i32),
      cmocka_unit_test(test_i64),
      cmocka_unit_test(test_float),
      cmocka_unit_test(test_convert),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
