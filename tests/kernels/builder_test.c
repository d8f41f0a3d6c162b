// Builders fold what they can see.
#include "kernel_fixture.h"

static int op_count(const fixture_t* f) {
  int count = 0;
  IR_FOR_OPS(op, f->func->regions[0].first)++ count;
  return count;
}

static void folds_indices(void** state) {
  (void)state;
  fixture_t f;
  fixture_begin(&f);
  fixture_kernel(&f, 1, fixture_float(&f, IR_F32), 1);
  ir_builder_t* b = &f.b;
  ir_value_t* x = kernel_id(b, KERNEL_WORKGROUP_ID, 0);
  assert_ptr_equal(kernel_add_const(b, x, 0), x);
  assert_ptr_equal(kernel_mul_const(b, x, 1), x);
  assert_ptr_equal(kernel_add(b, kernel_index(b, 0), x), x);
  int64_t value;
  assert_true(kernel_constant_index(kernel_mul_const(b, x, 0), &value) && value == 0);
  assert_true(kernel_constant_index(kernel_add(b, kernel_index(b, 3), kernel_index(b, 4)), &value) && value == 7);
  ir_value_t* twelve = kernel_mul_const(b, kernel_mul_const(b, x, 3), 4);
  assert_ptr_equal(ir_operand(twelve->def, 0), x);
  assert_true(kernel_constant_index(ir_operand(twelve->def, 1), &value) && value == 12);
  ir_value_t* five = kernel_add(b, kernel_index(b, 2), kernel_add_const(b, x, 3));
  assert_ptr_equal(ir_operand(five->def, 0), x);
  assert_true(kernel_constant_index(kernel_binary(b, SCALAR_rem, x, kernel_index(b, 1)), &value) && value == 0);
  assert_ptr_equal(kernel_binary(b, SCALAR_div, x, kernel_index(b, 1)), x);
  kernel_func_end(b);
  assert_true(ir_verify(f.ctx, f.func));
  fixture_end(&f);
}

static void folds_numbers(void** state) {
  (void)state;
  fixture_t f;
  fixture_begin(&f);
  const ir_type_t *f16 = fixture_float(&f, IR_F16), *i8 = fixture_int(&f, 8);
  fixture_kernel(&f, 1, f16, 1);
  ir_builder_t* b = &f.b;
  ir_value_t* x = kernel_load(b, fixture_arg(&f, 0), kernel_index(b, 0), 4);
  assert_int_equal(kernel_lanes(x), 4);
  // x + 0 is not x for -0; x * 1 is x.
  assert_ptr_not_equal(kernel_add(b, x, kernel_number(b, x->type, 0)), x);
  assert_ptr_equal(kernel_mul(b, x, kernel_number(b, x->type, 1)), x);
  ir_value_t* third = kernel_binary(b, SCALAR_div, kernel_number(b, f16, 1), kernel_number(b, f16, 3));
  assert_true(ir_op_attr(third->def, "value")->number == 0.333251953125);
  int64_t value;
  assert_true(kernel_constant_index(kernel_add(b, kernel_integer(b, i8, 127), kernel_integer(b, i8, 1)), &value));
  assert_int_equal(value, -128);
  ir_value_t* wide = kernel_splat(b, kernel_integer(b, i8, 5), 16);
  assert_true(ir_is(wide->def, KERNEL_CONSTANT));
  assert_true(kernel_constant_index(kernel_extract(b, wide, 7), &value) && value == 5);
  ir_value_t* one = kernel_extract(b, x, 1);
  assert_ptr_equal(kernel_extract(b, kernel_splat(b, one, 8), 3), one);
  assert_ptr_equal(kernel_splat(b, one, 1), one);
  assert_ptr_equal(kernel_shuffle(b, x, x, (int64_t[]){0, 1, 2, 3}, 4), x);
  assert_ptr_equal(kernel_cast(b, SCALAR_cast, one, f16), one);
  ir_value_t* yes = kernel_integer(b, fixture_int(&f, 1), 1);
  assert_ptr_equal(kernel_ternary(b, SCALAR_select, yes, one, third), one);
  assert_ptr_equal(kernel_reduce(b, one, "add"), one);
  kernel_func_end(b);
  assert_true(ir_verify(f.ctx, f.func));
  fixture_end(&f);
}

// Allocs go to the entry block in front of everything, wherever the builder stands.
static void allocates_at_entry(void** state) {
  (void)state;
  fixture_t f;
  fixture_begin(&f);
  fixture_kernel(&f, 1, fixture_float(&f, IR_F32), 1);
  ir_builder_t* b = &f.b;
  ir_value_t *zero = kernel_index(b, 0), *one = kernel_index(b, 1);
  kernel_loop_t loop = kernel_for_begin(b, zero, one, one, &zero, 1);
  ir_value_t* first = kernel_alloc(b, fixture_float(&f, IR_F32), 4, IR_SPACE_PRIVATE);
  ir_value_t* second = kernel_alloc(b, fixture_float(&f, IR_F32), 4, IR_SPACE_WORKGROUP);
  kernel_for_end(b, &loop, &loop.index, 1);
  kernel_func_end(b);
  const ir_block_t* entry = f.func->regions[0].first;
  assert_ptr_equal(entry->first, first->def);
  assert_ptr_equal(entry->first->next, second->def);
  assert_int_equal(op_count(&f), 6);
  assert_ptr_equal(kernel_loop_result(&loop, 0)->type, zero->type);
  assert_true(ir_verify(f.ctx, f.func));
  fixture_end(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(folds_indices), cmocka_unit_test(folds_numbers),
                                     cmocka_unit_test(allocates_at_entry)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
