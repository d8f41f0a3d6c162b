// Right kernels run silently and right; each kind of fault is reported.
#include "kernel_fixture.h"

static ir_value_t* thread(fixture_t* f) { return kernel_id(&f->b, KERNEL_THREAD_ID, 0); }
static ir_value_t* group(fixture_t* f) { return kernel_id(&f->b, KERNEL_WORKGROUP_ID, 0); }
static void barrier(fixture_t* f) { ir_build_op(&f->b, KERNEL_BARRIER, NULL, 0, NULL); }
static ir_value_t* global_id(fixture_t* f, int64_t threads) {
  return kernel_add(&f->b, kernel_mul_const(&f->b, group(f), threads), thread(f));
}

enum { THREADS = 64, GROUPS = 4, COUNT = THREADS * GROUPS };

static void add_vectors(void** state) {
  (void)state;
  fixture_t f;
  fixture_begin(&f);
  fixture_kernel(&f, THREADS, fixture_float(&f, IR_F32), 3);
  ir_value_t* at = kernel_mul_const(&f.b, global_id(&f, THREADS), 4);
  ir_value_t* x = kernel_load(&f.b, fixture_arg(&f, 0), at, 4);
  ir_value_t* y = kernel_load(&f.b, fixture_arg(&f, 1), at, 4);
  kernel_store(&f.b, kernel_add(&f.b, x, y), fixture_arg(&f, 2), at);
  kernel_func_end(&f.b);
  float a[COUNT * 4], b[COUNT * 4], c[COUNT * 4];
  for (int i = 0; i < COUNT * 4; ++i) a[i] = (float)i, b[i] = 0.5f * (float)i;
  kernel_binding_t bindings[] = {{a, sizeof(a), false}, {b, sizeof(b), false}, {c, sizeof(c), true}};
  assert_true(fixture_run(&f, bindings, 3, GROUPS));
  for (int i = 0; i < COUNT * 4; ++i) assert_true(c[i] == 1.5f * (float)i);
  f.check.expect_all_written = true;
  assert_true(fixture_run(&f, bindings, 3, GROUPS));
  assert_false(fixture_run(&f, bindings, 3, GROUPS - 1));
  assert_int_equal(f.counts[KERNEL_FAULT_UNWRITTEN], 1);
  assert_non_null(strstr(f.last, "at byte 3072 of binding 2 (4 bytes): 256 of 1024"));
  // The same with one element too few.
  bindings[1].size -= 4;
  assert_false(fixture_run(&f, bindings, 3, GROUPS));
  assert_int_equal(f.counts[KERNEL_FAULT_BOUNDS], 1);
  assert_non_null(strstr(f.last, "binding 1"));
  assert_non_null(strstr(f.last, "workgroup (3, 0, 0), thread 63"));
  bindings[1].size += 4;
  bindings[2].writable = false;
  assert_false(fixture_run(&f, bindings, 3, GROUPS));
  assert_int_equal(f.counts[KERNEL_FAULT_READONLY], 1);
  bindings[2] = (kernel_binding_t){a + 2, sizeof(a) - 8, true};
  assert_false(fixture_run(&f, bindings, 3, GROUPS));
  assert_int_equal(f.counts[KERNEL_FAULT_ALIAS], 1);
  fixture_end(&f);
}

// Sum of a workgroup's elements through workgroup memory, halving; without the barriers where `broken` says.
static void build_tree_sum(fixture_t* f, int broken) {
  const ir_type_t* f32 = fixture_float(f, IR_F32);
  fixture_kernel(f, THREADS, f32, 2);
  ir_builder_t* b = &f->b;
  ir_value_t* shared = kernel_alloc(b, f32, THREADS, IR_SPACE_WORKGROUP);
  ir_value_t *t = thread(f), *x = kernel_load(b, fixture_arg(f, 0), global_id(f, THREADS), 1);
  if (broken != 3) {
    kernel_store(b, x, shared, t);
  } else {  // leaves half of it unwritten
    kernel_branch_t half = kernel_if_begin(b, kernel_binary(b, SCALAR_lt, t, kernel_index(b, THREADS / 2)), NULL, 0);
    kernel_store(b, x, shared, t);
    kernel_if_end(b, &half, NULL, 0);
  }
  if (broken != 1) barrier(f);
  for (int64_t step = THREADS / 2; step; step /= 2) {
    kernel_branch_t branch = kernel_if_begin(b, kernel_binary(b, SCALAR_lt, t, kernel_index(b, step)), NULL, 0);
    ir_value_t* other = kernel_load(b, shared, kernel_add_const(b, t, step), 1);
    kernel_store(b, kernel_add(b, kernel_load(b, shared, t, 1), other), shared, t);
    if (broken == 4) barrier(f);
    kernel_if_end(b, &branch, NULL, 0);
    if (broken != 2) barrier(f);
  }
  kernel_branch_t branch = kernel_if_begin(b, kernel_binary(b, SCALAR_eq, t, kernel_index(b, 0)), NULL, 0);
  kernel_store(b, kernel_load(b, shared, t, 1), fixture_arg(f, 1), group(f));
  kernel_if_end(b, &branch, NULL, 0);
  kernel_func_end(b);
}

static void run_tree_sum(int broken, kernel_fault_t fault) {
  fixture_t f;
  fixture_begin(&f);
  build_tree_sum(&f, broken);
  float in[COUNT], out[GROUPS];
  for (int i = 0; i < COUNT; ++i) in[i] = (float)(i % 7);
  kernel_binding_t bindings[] = {{in, sizeof(in), false}, {out, sizeof(out), true}};
  bool clean = fixture_run(&f, bindings, 2, GROUPS);
  assert_int_equal(clean, !broken);
  if (broken) assert_true(f.counts[fault] > 0);
  for (int g = 0; g < GROUPS && !broken; ++g) {
    float sum = 0;
    for (int i = 0; i < THREADS; ++i) sum += in[g * THREADS + i];
    assert_true(out[g] == sum);
  }
  fixture_end(&f);
}

static void tree_sum(void** state) {
  (void)state;
  run_tree_sum(0, KERNEL_FAULT_RACE);
  run_tree_sum(1, KERNEL_FAULT_RACE);
  run_tree_sum(2, KERNEL_FAULT_RACE);
  run_tree_sum(3, KERNEL_FAULT_UNINITIALISED);
  run_tree_sum(4, KERNEL_FAULT_DIVERGENT_BARRIER);
}

// Workgroups that write the same element, and that read what others write.
static void races_between_workgroups(void** state) {
  (void)state;
  for (int variant = 0; variant < 4; ++variant) {
    fixture_t f;
    fixture_begin(&f);
    fixture_kernel(&f, 1, fixture_int(&f, 32), 1);
    ir_value_t* one = kernel_integer(&f.b, fixture_int(&f, 32), 1);
    if (variant == 0) {  // all write element 0
      kernel_store(&f.b, one, fixture_arg(&f, 0), kernel_index(&f.b, 0));
    } else if (variant == 1) {  // each reads its neighbour's
      ir_value_t* next = kernel_load(&f.b, fixture_arg(&f, 0), kernel_add_const(&f.b, group(&f), 1), 1);
      kernel_store(&f.b, next, fixture_arg(&f, 0), group(&f));
    } else if (variant == 2) {  // atomics
      ir_value_t* operands[] = {one, fixture_arg(&f, 0), kernel_index(&f.b, 0)};
      ir_op_t* op = ir_build_op(&f.b, KERNEL_ATOMIC, operands, 3, one->type);
      ir_op_set_attr(f.ctx, op, "kind", ir_attr_cstring(f.ctx, "add"));
    } else {  // all write the same, and it is allowed
      f.check.allow_equal_writes = true;
      kernel_store(&f.b, one, fixture_arg(&f, 0), kernel_index(&f.b, 0));
    }
    kernel_func_end(&f.b);
    int32_t data[9] = {variant == 3 ? 1 : 0};
    kernel_binding_t binding = {data, sizeof(data), true};
    bool clean = fixture_run(&f, &binding, 1, 8);
    assert_int_equal(clean, variant >= 2);
    if (variant < 2) assert_int_equal(f.counts[KERNEL_FAULT_RACE], 1);
    if (variant == 0) assert_non_null(strstr(f.last, "with workgroup (0, 0, 0), thread 0, which wrote it"));
    if (variant == 2) assert_int_equal(data[0], 8);
    fixture_end(&f);
  }
}

static void set_int(fixture_t* f, ir_op_t* op, const char* name, int64_t value) {
  ir_op_set_attr(f->ctx, op, name, ir_attr_i64(f->ctx, value));
}

// Copies through workgroup memory asynchronously: each thread loads its element, then reads its neighbour's.
static void async_copies(void** state) {
  (void)state;
  // 0: right; 1: no wait; 2: wait leaves the group pending; 3: no barrier; 4: no commit
  for (int variant = 0; variant < 5; ++variant) {
    fixture_t f;
    fixture_begin(&f);
    const ir_type_t* f32 = fixture_float(&f, IR_F32);
    fixture_kernel(&f, THREADS, f32, 2);
    ir_builder_t* b = &f.b;
    ir_value_t* shared = kernel_alloc(b, f32, THREADS * 4, IR_SPACE_WORKGROUP);
    ir_value_t *t = thread(&f), *at = kernel_mul_const(b, t, 4);
    ir_value_t* operands[] = {fixture_arg(&f, 0), at, shared, at};
    set_int(&f, ir_build_op(b, KERNEL_ASYNC_COPY, operands, 4, NULL), "bytes", 16);
    if (variant != 4) ir_build_op(b, KERNEL_ASYNC_COMMIT, NULL, 0, NULL);
    if (variant != 1) set_int(&f, ir_build_op(b, KERNEL_ASYNC_WAIT, NULL, 0, NULL), "pending", variant == 2);
    if (variant != 3) barrier(&f);
    ir_value_t* mirrored = kernel_binary(b, SCALAR_sub, kernel_index(b, THREADS * 4 - 4), at);
    kernel_store(b, kernel_load(b, shared, mirrored, 4), fixture_arg(&f, 1), at);
    kernel_func_end(b);
    float in[THREADS * 4], out[THREADS * 4];
    for (int i = 0; i < THREADS * 4; ++i) in[i] = (float)i;
    kernel_binding_t bindings[] = {{in, sizeof(in), false}, {out, sizeof(out), true}};
    bool clean = fixture_run(&f, bindings, 2, 1);
    assert_int_equal(clean, variant == 0);
    if (variant == 0) assert_true(out[0] == THREADS * 4 - 4 && out[5] == THREADS * 4 - 7);
    if (variant == 1 || variant == 2 || variant == 4) assert_int_equal(f.counts[KERNEL_FAULT_ASYNC], 1);
    if (variant == 3) assert_int_equal(f.counts[KERNEL_FAULT_RACE], 1);
    fixture_end(&f);
  }
}

// A copy whose source does not exist reads nothing, and zeros arrive.
static void copies_of_nothing(void** state) {
  (void)state;
  fixture_t f;
  fixture_begin(&f);
  const ir_type_t* f32 = fixture_float(&f, IR_F32);
  fixture_kernel(&f, THREADS, f32, 2);
  ir_builder_t* b = &f.b;
  ir_value_t* shared = kernel_alloc(b, f32, THREADS, IR_SPACE_WORKGROUP);
  ir_value_t *t = thread(&f), *exists = kernel_binary(b, SCALAR_lt, t, kernel_index(b, THREADS / 2));
  ir_value_t* operands[] = {fixture_arg(&f, 0), t, shared, t, exists};
  set_int(&f, ir_build_op(b, KERNEL_ASYNC_COPY, operands, 5, NULL), "bytes", 4);
  ir_build_op(b, KERNEL_ASYNC_COMMIT, NULL, 0, NULL);
  set_int(&f, ir_build_op(b, KERNEL_ASYNC_WAIT, NULL, 0, NULL), "pending", 0);
  kernel_store(b, kernel_load(b, shared, t, 1), fixture_arg(&f, 1), t);
  kernel_func_end(b);
  float in[THREADS / 2], out[THREADS];
  for (int i = 0; i < THREADS / 2; ++i) in[i] = (float)i + 1;
  kernel_binding_t bindings[] = {{in, sizeof(in), false}, {out, sizeof(out), true}};
  assert_true(fixture_run(&f, bindings, 2, 1));
  for (int i = 0; i < THREADS; ++i) assert_true(out[i] == (i < THREADS / 2 ? (float)i + 1 : 0));
  fixture_end(&f);
}

// Lanes say where rows of 16 bytes begin, and get what PTX's ldmatrix gives them.
static void matrix_loads(void** state) {
  (void)state;
  enum { ROWS = 32, STRIDE = 16 };
  for (int variant = 0; variant < 3; ++variant) {  // 0: as it is; 1: transposed; 2: a row is not at 16 bytes
    fixture_t f;
    fixture_begin(&f);
    const ir_type_t* i16 = fixture_int(&f, 16);
    fixture_kernel(&f, 32, i16, 2);
    ir_builder_t* b = &f.b;
    ir_value_t* shared = kernel_alloc(b, i16, ROWS * STRIDE, IR_SPACE_WORKGROUP);
    ir_value_t *t = thread(&f), *row = kernel_mul_const(b, t, STRIDE);
    kernel_store(b, kernel_load(b, fixture_arg(&f, 0), row, STRIDE), shared, row);
    barrier(&f);
    ir_value_t* operands[] = {shared, variant == 2 ? kernel_add_const(b, row, 4) : row};
    const ir_type_t* type = kernel_vector_type(f.ctx, i16, 8);
    ir_value_t* loaded = ir_build_value(b, KERNEL_LOAD_MATRIX, operands, 2, type);
    set_int(&f, loaded->def, "count", 4);
    if (variant == 1) ir_op_set_attr(f.ctx, loaded->def, "transpose", ir_attr_unit(f.ctx));
    kernel_store(b, loaded, fixture_arg(&f, 1), kernel_mul_const(b, t, 8));
    kernel_func_end(b);
    int16_t in[ROWS * STRIDE], out[32 * 8];
    for (int i = 0; i < ROWS * STRIDE; ++i) in[i] = (int16_t)i;
    kernel_binding_t bindings[] = {{in, sizeof(in), false}, {out, sizeof(out), true}};
    assert_int_equal(fixture_run(&f, bindings, 2, 1), variant < 2);
    if (variant == 2) assert_true(f.counts[KERNEL_FAULT_MISALIGNED] > 0);
    for (int lane = 0; lane < 32 && variant < 2; ++lane) {
      for (int i = 0; i < 8; ++i) {
        int along = lane % 4 * 2 + i % 2, across = lane / 4, matrix = i / 2 * 8;
        int expected = variant ? (matrix + along) * STRIDE + across : (matrix + across) * STRIDE + along;
        assert_int_equal(out[lane * 8 + i], expected);
      }
    }
    fixture_end(&f);
  }
}

// A square of words in the middle of rows, to the start of others; one row too many is outside.
static void tiles_move(void** state) {
  (void)state;
  enum { ROWS = 16, LANES = 16, FROM = 24, TO = 20 };
  for (int extra = 0; extra < 2; ++extra) {
    fixture_t f;
    fixture_begin(&f);
    const ir_type_t* i32 = fixture_int(&f, 32);
    fixture_kernel(&f, 1, i32, 2);
    ir_builder_t* b = &f.b;
    ir_value_t* first = kernel_index(b, extra ? FROM + 8 : 8);
    ir_value_t* tile = kernel_load_tile(b, fixture_arg(&f, 0), first, kernel_index(b, FROM));
    kernel_store_tile(b, tile, fixture_arg(&f, 1), kernel_index(b, 0), kernel_index(b, TO));
    kernel_func_end(b);
    int32_t in[ROWS * FROM], out[ROWS * TO] = {0};
    for (int i = 0; i < ROWS * FROM; ++i) in[i] = i + 1;
    kernel_binding_t bindings[] = {{in, sizeof(in), false}, {out, sizeof(out), true}};
    assert_int_equal(fixture_run(&f, bindings, 2, 1), !extra);
    if (extra) assert_true(f.counts[KERNEL_FAULT_BOUNDS] > 0);
    for (int i = 0; i < ROWS * TO && !extra; ++i) {
      assert_int_equal(out[i], i % TO < LANES ? in[i / TO * FROM + 8 + i % TO] : 0);
    }
    fixture_end(&f);
  }
}

static void small_faults(void** state) {
  (void)state;
  static const kernel_fault_t faults[] = {KERNEL_FAULT_MISALIGNED, KERNEL_FAULT_UNINITIALISED, KERNEL_FAULT_LANE,
                                          KERNEL_FAULT_STEP,       KERNEL_FAULT_ENDLESS,       KERNEL_FAULT_BOUNDS,
                                          KERNEL_FAULT_BOUNDS,     KERNEL_FAULT_RACE};
  for (int variant = 0; variant < 8; ++variant) {
    fixture_t f;
    fixture_begin(&f);
    const ir_type_t* f32 = fixture_float(&f, IR_F32);
    fixture_kernel(&f, variant == 7 ? 2 : 1, f32, 1);
    ir_builder_t* b = &f.b;
    ir_value_t *memory = fixture_arg(&f, 0), *zero = kernel_index(b, 0), *x = NULL;
    if (variant == 0) {
      x = kernel_load(b, memory, kernel_add_const(b, group(&f), 2), 4);
      set_int(&f, x->def, "align", 16);
    } else if (variant == 1) {
      ir_value_t* scratch = kernel_alloc(b, f32, 8, IR_SPACE_PRIVATE);
      kernel_store(b, kernel_number(b, f32, 1), scratch, zero);
      x = kernel_load(b, scratch, zero, 2);
    } else if (variant == 2) {
      ir_value_t* operands[] = {kernel_load(b, memory, zero, 4), kernel_add_const(b, group(&f), 4)};
      x = ir_build_value(b, KERNEL_EXTRACT_DYNAMIC, operands, 2, f32);
    } else if (variant == 3 || variant == 4) {
      ir_value_t* step = variant == 3 ? group(&f) : kernel_index(b, 1);
      kernel_loop_t loop = kernel_for_begin(b, zero, kernel_index(b, 1000000), step, NULL, 0);
      kernel_store(b, kernel_number(b, f32, 1), memory, zero);
      kernel_for_end(b, &loop, NULL, 0);
      f.check.max_steps = 1000;
    } else if (variant == 5) {
      x = kernel_load(b, memory, kernel_add_const(b, group(&f), -1), 1);
    } else if (variant == 6) {
      x = kernel_load(b, memory, kernel_add_const(b, group(&f), INT64_MAX / 2), 1);
    } else {
      kernel_store(b, kernel_number(b, f32, 1), memory, zero);
    }
    if (x) kernel_store(b, x, memory, zero);
    kernel_func_end(b);
    float data[16] = {0};
    kernel_binding_t binding = {data, sizeof(data), true};
    assert_false(fixture_run(&f, &binding, 1, 1));
    if (!f.counts[faults[variant]]) fail_msg("variant %d: %s", variant, f.last);
    fixture_end(&f);
  }
}

// Sum over a subgroup by shuffles; a divergent shuffle is reported.
static void shuffles(void** state) {
  (void)state;
  for (int divergent = 0; divergent < 2; ++divergent) {
    fixture_t f;
    fixture_begin(&f);
    const ir_type_t* i32 = fixture_int(&f, 32);
    fixture_kernel(&f, THREADS, i32, 1);
    ir_builder_t* b = &f.b;
    ir_value_t *t = thread(&f), *x = kernel_cast(b, SCALAR_cast, t, i32);
    kernel_branch_t branch = {0};
    if (divergent) branch = kernel_if_begin(b, kernel_binary(b, SCALAR_lt, t, kernel_index(b, 40)), NULL, 0);
    for (int64_t by = 16; by; by /= 2) {
      ir_value_t* operands[] = {x, kernel_integer(b, i32, by)};
      ir_value_t* other = ir_build_value(b, KERNEL_SUBGROUP_SHUFFLE, operands, 2, i32);
      ir_op_set_attr(f.ctx, other->def, "mode", ir_attr_cstring(f.ctx, "xor"));
      x = kernel_add(b, x, other);
    }
    kernel_store(b, x, fixture_arg(&f, 0), t);
    if (divergent) kernel_if_end(b, &branch, NULL, 0);
    kernel_func_end(b);
    int32_t data[THREADS];
    kernel_binding_t binding = {data, sizeof(data), true};
    assert_int_equal(fixture_run(&f, &binding, 1, 1), !divergent);
    if (divergent) assert_true(f.counts[KERNEL_FAULT_DIVERGENT_SUBGROUP] > 0);
    if (!divergent) assert_true(data[0] == 31 * 16 && data[31] == 31 * 16 && data[63] == 31 * 16 + 32 * 32);
    fixture_end(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(add_vectors),  cmocka_unit_test(tree_sum),          cmocka_unit_test(races_between_workgroups),
      cmocka_unit_test(async_copies), cmocka_unit_test(copies_of_nothing), cmocka_unit_test(matrix_loads),
      cmocka_unit_test(tiles_move),   cmocka_unit_test(small_faults),      cmocka_unit_test(shuffles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
