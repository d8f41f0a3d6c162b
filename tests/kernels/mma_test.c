// Matrix instructions: layouts cover their matrices evenly, and each instruction multiplies.
#include "dialects/mma.h"

#include "base/small_float.h"
#include "kernel_fixture.h"

// How often each position is held; -1 when one is outside, 0 when the counts differ.
static int coverage(const mma_row_t* row, mma_layout_fn_t layout, int32_t rows, int32_t columns, int32_t lanes) {
  int counts[64 * 64] = {0};
  for (int32_t l = 0; l < row->subgroup; ++l) {
    for (int32_t i = 0; i < lanes; ++i) {
      mma_position_t at = layout(l, i);
      if (at.row < 0 || at.row >= rows || at.col < 0 || at.col >= columns) return -1;
      ++counts[at.row * columns + at.col];
    }
  }
  for (int32_t i = 1; i < rows * columns; ++i) {
    if (counts[i] != counts[0]) return 0;
  }
  return counts[0];
}

static void layouts_cover(void** state) {
  (void)state;
  for (uint32_t i = 0; mma_at(i); ++i) {
    const mma_row_t* row = mma_at(i);
    assert_ptr_equal(mma_find(row->instruction), row);
    int copies = strncmp(row->instruction, "wmma3", 5) == 0 ? 2 : 1;
    assert_int_equal(coverage(row, row->a, row->m, row->k, row->a_lanes), copies);
    assert_int_equal(coverage(row, row->b, row->k, row->n, row->b_lanes), copies);
    assert_int_equal(coverage(row, row->c, row->m, row->n, row->c_lanes), 1);
  }
  assert_null(mma_find("mma.m1n1k1"));
}

static const ir_type_t* type_named(ir_context_t* ctx, const char* name) {
  for (int i = 0; i < IR_FLOAT_COUNT; ++i) {
    if (strcmp(float_formats[i].text, name) == 0) return ir_type_float(ctx, (ir_float_kind_t)i);
  }
  return ir_type_int(ctx, (uint32_t)atoi(name + 1));
}

static void fill(const ir_type_t* type, void* data, int count, int salt) {
  for (int i = 0; i < count; ++i) {
    double value = (i * 7 + salt) % 5 - 2;
    scalar_store(type, (scalar_value_t){.f = value, .i = (int64_t)value}, (char*)data + i * (int)ir_type_bytes(type));
  }
}

static double number(const ir_type_t* type, const void* data, int i) {
  scalar_value_t value = scalar_load(type, (const char*)data + i * (int)ir_type_bytes(type));
  return type->kind == IR_TYPE_FLOAT ? value.f : (double)value.i;
}

// The same of an operand, whose bytes may be unsigned.
static double factor(const mma_row_t* row, int operand, const ir_type_t* type, const void* data, int i) {
  double value = number(type, data, i);
  return value < 0 && mma_is_unsigned(row, operand) ? value + 256 : value;
}

static void fill_places(const mma_row_t* row, mma_layout_fn_t layout, int32_t lanes, int32_t columns, int32_t* out) {
  for (int32_t l = 0; l < row->subgroup; ++l) {
    for (int32_t i = 0; i < lanes; ++i) {
      mma_position_t at = layout(l, i);
      out[l * lanes + i] = at.row * columns + at.col;
    }
  }
}

// The lane's fragment: its places from a table, then the elements there.
static ir_value_t* fragment(fixture_t* f, uint32_t matrix, uint32_t table, int64_t lanes) {
  ir_value_t* lane = kernel_id(&f->b, KERNEL_SUBGROUP_LANE, 0);
  ir_value_t* places = kernel_load(&f->b, fixture_arg(f, table), kernel_mul_const(&f->b, lane, lanes), lanes);
  return kernel_gather(&f->b, fixture_arg(f, matrix), places, NULL, NULL);
}

static void multiply(const mma_row_t* row) {
  fixture_t f;
  fixture_begin(&f);
  const ir_type_t *a_type = type_named(f.ctx, mma_element(row->a_type)), *c_type = type_named(f.ctx, row->c_type);
  const ir_type_t* i32 = ir_type_int(f.ctx, 32);
  const ir_type_t* types[] = {a_type, a_type, c_type, c_type, i32, i32, i32};
  kernel_signature_t sig = {.name = "k",
                            .bindings = types,
                            .binding_count = 7,
                            .workgroup_size = {row->subgroup, 1, 1},
                            .subgroup_size = row->subgroup};
  f.func = kernel_func_begin(f.ctx, ir_module_body(f.module), ir_loc_unknown(f.ctx), &sig, &f.b);
  ir_value_t* operands[] = {fragment(&f, 0, 4, row->a_lanes), fragment(&f, 1, 5, row->b_lanes),
                            fragment(&f, 2, 6, row->c_lanes)};
  ir_value_t* d = ir_build_value(&f.b, KERNEL_MMA, operands, 3, operands[2]->type);
  ir_op_set_attr(f.ctx, d->def, "instruction", ir_attr_cstring(f.ctx, row->instruction));
  ir_value_t* places =
      kernel_load(&f.b, fixture_arg(&f, 6),
                  kernel_mul_const(&f.b, kernel_id(&f.b, KERNEL_SUBGROUP_LANE, 0), row->c_lanes), row->c_lanes);
  ir_value_t* store[] = {d, fixture_arg(&f, 3), places};
  ir_build_op(&f.b, KERNEL_SCATTER, store, 3, NULL);
  kernel_func_end(&f.b);

  static uint64_t a[1024], b[1024], c[1024], out[1024];
  static int32_t at[3][64 * 16];
  fill(a_type, a, row->m * row->k, 1);
  fill(a_type, b, row->k * row->n, 2);
  fill(c_type, c, row->m * row->n, 3);
  fill_places(row, row->a, row->a_lanes, row->k, at[0]);
  fill_places(row, row->b, row->b_lanes, row->n, at[1]);
  fill_places(row, row->c, row->c_lanes, row->n, at[2]);
  kernel_binding_t bindings[] = {{a, sizeof(a), false},         {b, sizeof(b), false},
                                 {c, sizeof(c), false},         {out, sizeof(out), true},
                                 {at[0], sizeof(at[0]), false}, {at[1], sizeof(at[1]), false},
                                 {at[2], sizeof(at[2]), false}};
  if (!fixture_run(&f, bindings, 7, 1)) fail_msg("%s", f.last);
  for (int i = 0; i < row->m; ++i) {
    for (int j = 0; j < row->n; ++j) {
      double sum = number(c_type, c, i * row->n + j);
      for (int k = 0; k < row->k; ++k) {
        sum += factor(row, 0, a_type, a, i * row->k + k) * factor(row, 1, a_type, b, k * row->n + j);
      }
      assert_true(sum == number(c_type, out, i * row->n + j));
    }
  }
  fixture_end(&f);
}

static void all_multiply(void** state) {
  (void)state;
  for (uint32_t i = 0; mma_at(i); ++i) multiply(mma_at(i));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(layouts_cover), cmocka_unit_test(all_multiply)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
