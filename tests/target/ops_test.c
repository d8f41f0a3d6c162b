// Every op of kernel.def that is not a scalar function, run on the CPU.
#include <math.h>

#include "harness.h"

static ir_op_t* build(ir_builder_t* b, uint32_t code, ir_value_t* const* operands, uint32_t count,
                      const ir_type_t* type, ir_named_attr_t attr) {
  ir_op_state_t state = {.info = ir_context_op(b->ctx, code),
                         .operands = operands,
                         .operand_count = count,
                         .result_types = &type,
                         .result_count = type ? 1 : 0,
                         .attrs = &attr,
                         .attr_count = attr.name ? 1 : 0};
  return ir_build(b, &state);
}

static ir_named_attr_t named(ir_builder_t* b, const char* name, const ir_attr_t* value) {
  return (ir_named_attr_t){ir_intern_cstr(b->ctx, name), value};
}

static const ir_named_attr_t none = {0};

// One kernel at a time: `add` builds it, `check` calls it.
typedef struct fixture_t {
  harness_t h;
  ir_builder_t b;
  ir_op_t* func;
  const ir_type_t *f32, *f64, *i1, *i8, *i32, *i64, *index;
} fixture_t;

static void begin(fixture_t* f) {
  memset(f, 0, sizeof(*f));
  harness_init(&f->h);
  ir_context_t* ctx = f->h.ctx;
  f->f32 = ir_type_float(ctx, IR_F32);
  f->f64 = ir_type_float(ctx, IR_F64);
  f->i1 = ir_type_int(ctx, 1);
  f->i8 = ir_type_int(ctx, 8);
  f->i32 = ir_type_int(ctx, 32);
  f->i64 = ir_type_int(ctx, 64);
  f->index = ir_type_index(ctx);
}

static void kernel(fixture_t* f, const ir_type_t* a, const ir_type_t* b, const ir_type_t* c) {
  f->func = harness_func(&f->h, (const ir_type_t*[]){a, b, c}, 3, &f->b);
}

static ir_value_t* arg(fixture_t* f, uint32_t i) { return kernel_func_arg(f->func, i); }

static void run(fixture_t* f, const char* cpu, void* a, void* b, void* c, uint64_t n) {
  kernel_func_end(&f->b);
  assert_true(ir_verify(f->h.ctx, f->func));
  target_t target;
  harness_resolve(&(target_options_t){.backend = "llvm-cpu", .cpu = cpu}, &target);
  harness_compile(&f->h, &target, NULL);
  harness_load(&f->h);
  harness_call(&f->h, 0, (void*[]){a, b, c}, 3, n);
}

static const char* const cpus[] = {"host", "generic"};
#define FOR_CPUS(cpu) for (const char* const* cpu = cpus; cpu < cpus + 2; ++cpu)

//===----------------------------------------------------------------------------------------------------------------===
// Vectors
//===----------------------------------------------------------------------------------------------------------------===

static void test_vectors(void** state) {
  FOR_CPUS(cpu) {
    fixture_t f;
    begin(&f);
    kernel(&f, f.i32, f.i32, f.i32);
    const ir_type_t* v4 = kernel_vector_type(f.h.ctx, f.i32, 4);
    int32_t dense[4] = {10, 20, 30, 40};
    const ir_attr_t* elements = ir_attr_elements(f.h.ctx, v4, dense, sizeof(dense));
    ir_value_t* constant = ir_result(build(&f.b, KERNEL_CONSTANT, NULL, 0, v4, named(&f.b, "value", elements)), 0);
    ir_value_t* iota = ir_result(build(&f.b, KERNEL_IOTA, NULL, 0, v4, none), 0);
    ir_value_t* x = kernel_load(&f.b, arg(&f, 0), kernel_index(&f.b, 1), 4);
    ir_value_t* splat = kernel_splat(&f.b, kernel_extract(&f.b, x, 2), 4);
    ir_value_t* dynamic[2] = {x, arg(&f, 3)};
    ir_value_t* picked = ir_result(build(&f.b, KERNEL_EXTRACT_DYNAMIC, dynamic, 2, f.i32, none), 0);
    ir_value_t* pair[2] = {picked, constant};
    const ir_attr_t* one = ir_attr_i64(f.h.ctx, 1);
    ir_value_t* inserted = ir_result(build(&f.b, KERNEL_INSERT, pair, 2, v4, named(&f.b, "index", one)), 0);
    ir_value_t* shuffled = kernel_shuffle(&f.b, x, constant, (int64_t[]){7, 0, 5, 2, 3, 3}, 6);
    kernel_store(&f.b, kernel_add(&f.b, iota, splat), arg(&f, 1), kernel_index(&f.b, 0));
    kernel_store(&f.b, inserted, arg(&f, 1), kernel_index(&f.b, 4));
    kernel_store(&f.b, shuffled, arg(&f, 1), kernel_index(&f.b, 8));
    int32_t in[8] = {0, 1, 2, 3, 4, 5}, out[14], unused[1];
    run(&f, *cpu, in, out, unused, 3);
    const int32_t want[14] = {3, 4, 5, 6, 10, 4, 30, 40, 40, 1, 20, 3, 4, 4};
    assert_memory_equal(out, want, sizeof(want));
    harness_finish(&f.h);
  }
}

// Sums and extrema of vectors of any length agree with the scalar functions.
static void check_reduce(const char* cpu, const char* kind, scalar_fn_t fn, bool is_float, int64_t lanes) {
  fixture_t f;
  begin(&f);
  const ir_type_t* type = is_float ? f.f32 : f.i32;
  kernel(&f, type, type, type);
  ir_value_t* x = kernel_load(&f.b, arg(&f, 0), kernel_index(&f.b, 0), lanes);
  kernel_store(&f.b, kernel_reduce(&f.b, x, kind), arg(&f, 1), kernel_index(&f.b, 0));
  int32_t data[64], out, unused;
  uint64_t seed = 7;
  for (int i = 0; i < 64; ++i) {
    float number = (float)(int32_t)(harness_random(&seed) % 5);
    data[i] = (int32_t)(harness_random(&seed) % 1000) - 500;
    if (is_float) memcpy(&data[i], &number, 4);
  }
  scalar_value_t sum = scalar_load(type, data);
  for (int64_t i = 1; i < lanes; ++i) {
    scalar_value_t in[3] = {sum, scalar_load(type, &data[i])};
    sum = scalar_eval(fn, in, type, type);
  }
  run(&f, cpu, data, &out, &unused, 0);
  scalar_value_t got = scalar_load(type, &out);
  if (got.f != sum.f || got.i != sum.i) fail_msg("%s over %lld lanes", kind, (long long)lanes);
  harness_finish(&f.h);
}

static void test_reduce(void** state) {
#define KINDS(KIND) KIND(add) KIND(mul) KIND(min) KIND(max) KIND(minu) KIND(maxu) KIND(and) KIND(or) KIND(xor)
  static const struct {
    const char* name;
    scalar_fn_t fn;
  } kinds[] = {
#define KIND(name) {#name, SCALAR_##name},
      KINDS(KIND)
#undef KIND
  };
  static const int64_t lanes[] = {2, 3, 7, 8, 16};
  FOR_CPUS(cpu) {
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); ++k) {
      for (size_t l = 0; l < sizeof(lanes) / sizeof(lanes[0]); ++l) {
        check_reduce(*cpu, kinds[k].name, kinds[k].fn, false, lanes[l]);
        if (k < 4) check_reduce(*cpu, kinds[k].name, kinds[k].fn, true, lanes[l]);
      }
    }
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Memory
//===----------------------------------------------------------------------------------------------------------------===

// Two pages of which the second cannot be touched.
static char* guarded_pages(void) {
  char* pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(pages != MAP_FAILED);
  assert_int_equal(mprotect(pages + 4096, 4096, PROT_NONE), 0);
  return pages;
}

static void test_masked(void** state) {
  FOR_CPUS(cpu) {
    fixture_t f;
    begin(&f);
    kernel(&f, f.f32, f.f32, f.i8);
    const ir_type_t* lanes = kernel_vector_type(f.h.ctx, f.index, 16);
    ir_value_t* iota = ir_result(build(&f.b, KERNEL_IOTA, NULL, 0, lanes, none), 0);
    ir_value_t* mask = kernel_binary(&f.b, SCALAR_lt, iota, kernel_splat(&f.b, arg(&f, 3), 16));
    ir_value_t* other = kernel_number(&f.b, kernel_vector_type(f.h.ctx, f.f32, 16), -1);
    ir_value_t* zero = kernel_index(&f.b, 0);
    ir_value_t* x = kernel_load_masked(&f.b, arg(&f, 0), zero, mask, other);
    kernel_store(&f.b, x, arg(&f, 1), zero);
    kernel_store_masked(&f.b, x, arg(&f, 0), zero, mask);
    // A scalar under a mask that is false, at an address that does not exist
    ir_value_t* never = kernel_binary(&f.b, SCALAR_lt, arg(&f, 3), zero);
    ir_value_t* bytes =
        kernel_load_masked(&f.b, arg(&f, 2), kernel_index(&f.b, 1 << 30), never, kernel_integer(&f.b, f.i8, 5));
    kernel_store(&f.b, bytes, arg(&f, 2), zero);
    char* pages = guarded_pages();
    float* in = (float*)(pages + 4096 - 5 * 4);
    for (int i = 0; i < 5; ++i) in[i] = (float)i;
    float out[16];
    int8_t byte = 0;
    run(&f, *cpu, in, out, &byte, 5);
    for (int i = 0; i < 16; ++i) assert_true(out[i] == (i < 5 ? (float)i : -1));
    assert_int_equal(byte, 5);
    munmap(pages, 8192);
    harness_finish(&f.h);
  }
}

static void test_gather(void** state) {
  FOR_CPUS(cpu) {
    fixture_t f;
    begin(&f);
    kernel(&f, f.f32, f.f32, f.i32);
    ir_value_t* zero = kernel_index(&f.b, 0);
    ir_value_t* offsets = kernel_load(&f.b, arg(&f, 2), zero, 8);
    ir_value_t* gathered = kernel_gather(&f.b, arg(&f, 0), offsets, NULL, NULL);
    kernel_store(&f.b, gathered, arg(&f, 1), zero);
    ir_value_t* values = kernel_load(&f.b, arg(&f, 0), zero, 8);
    ir_value_t* scatter[3] = {values, arg(&f, 1), offsets};
    build(&f.b, KERNEL_SCATTER, scatter, 3, NULL, none);
    float in[8] = {0, 1, 2, 3, 4, 5, 6, 7}, out[16] = {0};
    int32_t at[8] = {7, 0, 3, 3, 1, 12 - 12, 5, 7};
    float want[16] = {0};
    for (int i = 0; i < 8; ++i) want[i] = in[at[i]];
    for (int i = 0; i < 8; ++i) want[at[i]] = in[i];
    run(&f, *cpu, in, out, at, 0);
    assert_memory_equal(out, want, sizeof(want));
    harness_finish(&f.h);
  }
}

static void test_atomics(void** state) {
  static const struct {
    const char* kind;
    int32_t before, operand, after;
  } rows[] = {{"add", 5, 7, 12},  {"min", 5, -7, -7}, {"max", 5, -7, 5},  {"minu", 5, -7, 5},      {"maxu", 5, -7, -7},
              {"and", 12, 10, 8}, {"or", 12, 10, 14}, {"xor", 12, 10, 6}, {"exchange", 12, 10, 10}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    fixture_t f;
    begin(&f);
    kernel(&f, f.i32, f.i32, f.f32);
    ir_named_attr_t kind = named(&f.b, "kind", ir_attr_cstring(f.h.ctx, rows[i].kind));
    ir_value_t* in[3] = {kernel_integer(&f.b, f.i32, rows[i].operand), arg(&f, 0), kernel_index(&f.b, 0)};
    ir_value_t* old = ir_result(build(&f.b, KERNEL_ATOMIC, in, 3, f.i32, kind), 0);
    kernel_store(&f.b, old, arg(&f, 1), kernel_index(&f.b, 0));
    bool on_float = strcmp(rows[i].kind, "add") == 0;
    if (on_float) {
      ir_value_t* number[3] = {kernel_number(&f.b, f.f32, 0.5), arg(&f, 2), kernel_index(&f.b, 0)};
      build(&f.b, KERNEL_ATOMIC, number, 3, f.f32, kind);
    }
    int32_t memory = rows[i].before, out = 0;
    float number = 2;
    run(&f, "host", &memory, &out, &number, 0);
    assert_int_equal(out, rows[i].before);
    assert_int_equal(memory, rows[i].after);
    assert_true(number == (on_float ? 2.5f : 2));
    harness_finish(&f.h);
  }
}

// Private and workgroup memory, small and large, through a view of another type.
static void test_allocations(void** state) {
  static const struct {
    int64_t count;
    ir_space_t space;
  } rows[] = {
      {64, IR_SPACE_PRIVATE}, {100000, IR_SPACE_PRIVATE}, {64, IR_SPACE_WORKGROUP}, {50000, IR_SPACE_WORKGROUP}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    fixture_t f;
    begin(&f);
    kernel(&f, f.f32, f.i8, f.i8);
    ir_value_t* memory = kernel_alloc(&f.b, f.f32, rows[i].count, rows[i].space);
    ir_value_t* last = kernel_index(&f.b, rows[i].count - 1);
    kernel_store(&f.b, kernel_load(&f.b, arg(&f, 0), kernel_index(&f.b, 0), 1), memory, last);
    const ir_type_t* bytes = ir_type_memref(f.h.ctx, f.i8, 1, (int64_t[]){4 * rows[i].count}, NULL, rows[i].space);
    ir_value_t* view = ir_result(build(&f.b, KERNEL_VIEW, &memory, 1, bytes, none), 0);
    ir_value_t* prefetch[2] = {arg(&f, 1), arg(&f, 3)};
    build(&f.b, KERNEL_PREFETCH, prefetch, 2, NULL, named(&f.b, "locality", ir_attr_i64(f.h.ctx, 2)));
    ir_value_t* raw = kernel_load(&f.b, view, kernel_mul_const(&f.b, last, 4), 4);
    kernel_store(&f.b, raw, arg(&f, 1), kernel_index(&f.b, 0));
    float in = 1.5f, out = 0;
    int8_t unused;
    run(&f, "host", &in, &out, &unused, 0);
    assert_true(out == 1.5f);
    uint32_t bytes_used = f.h.executable.entries[0].workgroup_memory_bytes;
    bool outside = rows[i].space == IR_SPACE_WORKGROUP || rows[i].count > 4096;
    assert_int_equal(bytes_used, outside ? 4 * rows[i].count : 0);
    assert_int_equal(f.h.tables->exports.attrs[0].local_memory_pages, (bytes_used + 4095) / 4096);
    harness_finish(&f.h);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Control flow, ids, constants
//===----------------------------------------------------------------------------------------------------------------===

// Collatz steps of the index constant, counted in a while; a triangle sum in nested fors with an if inside.
static void test_control(void** state) {
  fixture_t f;
  begin(&f);
  kernel(&f, f.i64, f.i64, f.i64);
  ir_value_t *zero = kernel_index(&f.b, 0), *one = kernel_index(&f.b, 1), *two = kernel_index(&f.b, 2);
  const ir_type_t* types[2] = {f.index, f.index};
  ir_value_t* init[2] = {arg(&f, 3), zero};
  ir_op_state_t state_while = {.info = ir_context_op(f.h.ctx, KERNEL_WHILE),
                               .operands = init,
                               .operand_count = 2,
                               .result_types = types,
                               .result_count = 2,
                               .region_count = 2};
  ir_op_t* loop = ir_build(&f.b, &state_while);
  ir_value_t* x[2][2];
  ir_builder_t inside[2];
  for (uint32_t r = 0; r < 2; ++r) {
    ir_block_t* block = ir_block_create(f.h.ctx);
    ir_region_append(&loop->regions[r], block);
    for (int i = 0; i < 2; ++i) x[r][i] = ir_block_add_arg(f.h.ctx, block, f.index);
    inside[r] = ir_builder_at_end(f.h.ctx, block);
    inside[r].loc = f.b.loc;
  }
  ir_value_t* test[3] = {kernel_binary(&inside[0], SCALAR_ne, x[0][0], one), x[0][0], x[0][1]};
  build(&inside[0], KERNEL_YIELD, test, 3, NULL, none);
  ir_builder_t* b = &inside[1];
  ir_value_t* odd = kernel_binary(b, SCALAR_eq, kernel_binary(b, SCALAR_remu, x[1][0], two), one);
  kernel_branch_t branch = kernel_if_begin(b, odd, types, 1);
  ir_value_t* grown = kernel_add(b, kernel_mul_const(b, x[1][0], 3), one);
  kernel_if_else(b, &branch, &grown, 1);
  ir_value_t* halved = kernel_binary(b, SCALAR_divu, x[1][0], two);
  kernel_if_end(b, &branch, &halved, 1);
  ir_value_t* next[2] = {ir_result(branch.op, 0), kernel_add(b, x[1][1], one)};
  build(b, KERNEL_YIELD, next, 2, NULL, none);
  ir_value_t* steps = kernel_cast(&f.b, SCALAR_cast, ir_result(loop, 1), f.i64);
  kernel_store(&f.b, steps, arg(&f, 0), zero);

  kernel_loop_t outer = kernel_for_begin(&f.b, zero, kernel_index(&f.b, 10), one, &zero, 1);
  kernel_loop_t inner = kernel_for_begin(&f.b, outer.index, kernel_index(&f.b, 10), two, outer.iters, 1);
  ir_value_t* sum = kernel_add(&f.b, inner.iters[0], kernel_mul(&f.b, inner.index, outer.index));
  kernel_for_end(&f.b, &inner, &sum, 1);
  ir_value_t* after = kernel_loop_result(&inner, 0);
  kernel_for_end(&f.b, &outer, &after, 1);
  kernel_store(&f.b, kernel_cast(&f.b, SCALAR_cast, kernel_loop_result(&outer, 0), f.i64), arg(&f, 1), zero);

  ir_value_t* where = zero;
  for (uint32_t axis = 0; axis < 3; ++axis) {
    where = kernel_add(&f.b, kernel_mul_const(&f.b, where, 10), kernel_id(&f.b, KERNEL_WORKGROUP_ID, axis));
    where = kernel_add(&f.b, kernel_mul_const(&f.b, where, 10), kernel_id(&f.b, KERNEL_WORKGROUP_COUNT, axis));
  }
  where = kernel_add(&f.b, where, kernel_id(&f.b, KERNEL_THREAD_ID, 0));
  kernel_store(&f.b, kernel_cast(&f.b, SCALAR_cast, where, f.i64), arg(&f, 2), zero);
  int64_t out[3], want = 0;
  run(&f, "host", &out[0], &out[1], &out[2], 27);
  for (int i = 0; i < 10; ++i) {
    for (int j = i; j < 10; j += 2) want += i * j;
  }
  assert_int_equal(out[0], 111);
  assert_int_equal(out[1], want);
  assert_int_equal(out[2], 132537);
  harness_finish(&f.h);
}

// Constants of every kind arrive from their words.
static void test_constants(void** state) {
  fixture_t f;
  begin(&f);
  const ir_type_t* bindings[1] = {f.f64};
  const ir_type_t* constants[6] = {f.i32, f.f32, f.i64, f.f64, f.i8, f.index};
  kernel_signature_t signature = {.name = "kernel_0",
                                  .bindings = bindings,
                                  .binding_count = 1,
                                  .constants = constants,
                                  .constant_count = 6,
                                  .workgroup_size = {1, 1, 1}};
  f.func = kernel_func_begin(f.h.ctx, f.h.block, ir_loc_unknown(f.h.ctx), &signature, &f.b);
  f.h.funcs[f.h.count++] = f.func;
  for (uint32_t i = 0; i < 6; ++i) {
    ir_value_t* x = kernel_cast(&f.b, SCALAR_cast, arg(&f, 1 + i), f.f64);
    kernel_store(&f.b, x, arg(&f, 0), kernel_index(&f.b, i));
  }
  kernel_func_end(&f.b);
  target_t target;
  harness_resolve(&(target_options_t){.backend = "llvm-cpu"}, &target);
  harness_compile(&f.h, &target, NULL);
  harness_load(&f.h);
  assert_int_equal(f.h.executable.entries[0].constant_count, 9);
  uint32_t words[9] = {(uint32_t)-5, 0, 1, 1, 0, 0, 0x80, 7, 0};
  float number = 1.25f;
  double wide = 1e100;
  memcpy(&words[1], &number, 4);
  memcpy(&words[4], &wide, 8);
  double out[6];
  void* pointers[1] = {out};
  size_t lengths[1] = {sizeof(out)};
  iree_hal_executable_dispatch_state_v0_t dispatch = {.binding_count = 1,
                                                      .constant_count = 9,
                                                      .constants = words,
                                                      .binding_ptrs = pointers,
                                                      .binding_lengths = lengths};
  iree_hal_executable_workgroup_state_v0_t workgroup = {0};
  assert_int_equal(f.h.tables->exports.ptrs[0](NULL, &dispatch, &workgroup), 0);
  const double want[6] = {-5, 1.25, 4294967297.0, 1e100, -128, 7};
  assert_memory_equal(out, want, sizeof(want));
  harness_finish(&f.h);
}

//===----------------------------------------------------------------------------------------------------------------===
// Executables
//===----------------------------------------------------------------------------------------------------------------===

static void add_copies(fixture_t* f, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    kernel(f, f->f32, f->f32, f->f32);
    kernel_loop_t loop = kernel_for_begin(&f->b, kernel_index(&f->b, 0), arg(f, 3), kernel_index(&f->b, 1), NULL, 0);
    ir_value_t* x = kernel_load(&f->b, arg(f, 0), loop.index, 1);
    for (uint32_t k = 0; k < 40; ++k) x = kernel_unary(&f->b, k % 2 ? SCALAR_erf : SCALAR_exp, x);
    kernel_store(&f->b, kernel_add(&f->b, x, kernel_number(&f->b, f->f32, i)), arg(f, 1), loop.index);
    kernel_for_end(&f->b, &loop, NULL, 0);
    kernel_func_end(&f->b);
  }
}

// The same bytes whatever the number of threads; no symbol is needed from outside.
static void test_threads(void** state) {
  fixture_t f;
  begin(&f);
  add_copies(&f, 40);
  target_t target;
  harness_resolve(&(target_options_t){.backend = "llvm-cpu"}, &target);
  target_executable_t results[2];
  for (uint32_t i = 0; i < 2; ++i) {
    harness_compile(&f.h, &target, &(target_compile_options_t){.name = "linked", .threads = 1 + 3 * i});
    results[i] = f.h.executable;
  }
  assert_int_equal(results[0].size, results[1].size);
  assert_memory_equal(results[0].data, results[1].data, results[0].size);
  target_executable_finish(&results[0]);
  harness_load(&f.h);
  float in[4] = {0, 1, 2, 3}, out[4], unused;
  harness_call(&f.h, 39, (void*[]){in, out, &unused}, 3, 4);
  assert_true(out[3] > 39 && out[3] < 42);
  assert_string_equal(f.h.tables->exports.names[39], "kernel_39");
  assert_string_equal(f.h.tables->header->name, "linked");
  harness_finish(&f.h);
}

static void expect_file(const char* directory, const char* name) {
  char path[256];
  snprintf(path, sizeof(path), "%s/%s", directory, name);
  if (access(path, R_OK) != 0) fail_msg("no file %s", path);
}

static void test_dumps(void** state) {
  static const char* const kinds[] = {"codegen.bc",   "codegen.ll", "linked.bc", "linked.ll", "optimized.bc",
                                      "optimized.ll", "o",          "s",         "so"};
  char directory[] = "dump-XXXXXX", name[128], command[64];
  assert_non_null(mkdtemp(directory));
  fixture_t f;
  begin(&f);
  add_copies(&f, 2);
  target_t target;
  harness_resolve(&(target_options_t){.backend = "llvm-cpu", .cpu = "generic"}, &target);
  target_compile_options_t options = {
      .name = "main_dispatch_0",
      .context = f.h.ctx,
      .debug_symbols = true,
      .dump = {.sources = directory, .intermediates = directory, .binaries = directory}};
  harness_compile(&f.h, &target, &options);
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
    snprintf(name, sizeof(name), "module_main_dispatch_0_embedded_elf_x86_64.%s", kinds[i]);
    expect_file(directory, name);
  }
  for (uint32_t i = 0; i < f.h.count; ++i) {  // sources are named after their kernels
    snprintf(name, sizeof(name), "module_%s.mlir", ir_op_string(f.h.funcs[i], "sym_name", ""));
    expect_file(directory, name);
  }
  harness_load(&f.h);
  harness_finish(&f.h);
  snprintf(command, sizeof(command), "rm -r %s", directory);
  assert_int_equal(system(command), 0);
}

static void test_system_elf(void** state) {
  fixture_t f;
  begin(&f);
  add_copies(&f, 1);
  target_t target;
  harness_resolve(&(target_options_t){.backend = "llvm-cpu", .system_elf = true}, &target);
  assert_string_equal(target.format, "system-elf-x86_64");
  harness_compile(&f.h, &target, &(target_compile_options_t){.name = "system", .debug_symbols = true});
  harness_load(&f.h);
  assert_int_equal(f.h.tables->exports.source_locations[0].path_length, 0);  // the kernel has no place in a source
  harness_finish(&f.h);
}

static void test_static_library(void** state) {
  char directory[] = "static-XXXXXX", path[64], command[256];
  assert_non_null(mkdtemp(directory));
  snprintf(path, sizeof(path), "%s/model.o", directory);
  fixture_t f;
  begin(&f);
  add_copies(&f, 2);
  target_t target;
  harness_resolve(&(target_options_t){.backend = "llvm-cpu"}, &target);
  harness_compile(&f.h, &target, &(target_compile_options_t){.name = "my-model", .static_library = path});
  expect_file(directory, "model.o");
  expect_file(directory, "model.h");
  assert_string_equal(f.h.executable.data, "my-model");
  snprintf(command, sizeof(command), "nm %s | grep -q 'T my_model_library_query' && grep -q my_model_library_query %s",
           path, path);
  assert_int_equal(system(command), 0);
  harness_finish(&f.h);
  snprintf(command, sizeof(command), "rm -r %s", directory);
  assert_int_equal(system(command), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_vectors), cmocka_unit_test(test_reduce),         cmocka_unit_test(test_masked),
      cmocka_unit_test(test_gather),  cmocka_unit_test(test_atomics),        cmocka_unit_test(test_allocations),
      cmocka_unit_test(test_control), cmocka_unit_test(test_constants),      cmocka_unit_test(test_threads),
      cmocka_unit_test(test_dumps),   cmocka_unit_test(test_static_library), cmocka_unit_test(test_system_elf),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
