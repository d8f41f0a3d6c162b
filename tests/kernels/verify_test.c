// What the kernel verifier refuses, and with which words. Each case is the body of a function on
// (%a: memref<?xf32>, %b: memref<?xi32>, %n: index) with subgroups of 32, in the generic form.
#include "dialects/register.h"
#include "kernel_fixture.h"

#define I "%i = \"kernel.constant\"() {value = 0 : index} : () -> index\n"
#define F "%f = \"kernel.constant\"() {value = 1.0 : f32} : () -> f32\n"
#define V "%v = \"kernel.constant\"() {value = 1.0 : f32} : () -> vector<4xf32>\n"
#define T "%t = \"kernel.constant\"() {value = true} : () -> i1\n"
#define W "%w = \"kernel.alloc\"() : () -> memref<64xf32, 3>\n"
static const struct {
  const char *body, *message;  // NULL: accepted
} cases[] = {
    {I F V T W, NULL},
    {F "%0 = \"kernel.add\"(%f, %f) : (f32, f32) -> f32\n", NULL},
    {F I "%0 = \"kernel.add\"(%f, %i) : (f32, index) -> f32\n", "one type"},
    {F "%0 = \"kernel.and\"(%f, %f) : (f32, f32) -> f32\n", "takes integers"},
    {I "%0 = \"kernel.exp\"(%i) : (index) -> index\n", "takes floats"},
    {F "%0 = \"kernel.lt\"(%f, %f) : (f32, f32) -> f32\n", "i1 for each lane"},
    {V "%0 = \"kernel.cast\"(%v) : (vector<4xf32>) -> vector<8xi32>\n", "as many result lanes"},
    {V "%0 = \"kernel.bitcast\"(%v) : (vector<4xf32>) -> vector<4xi16>\n", "cannot keep the bits"},
    {V T "%0 = \"kernel.select\"(%t, %v, %v) : (i1, vector<4xf32>, vector<4xf32>) -> vector<4xf32>\n", NULL},
    {V I "%0 = \"kernel.select\"(%i, %v, %v) : (index, vector<4xf32>, vector<4xf32>) -> vector<4xf32>\n", "i1"},
    {"%0 = \"kernel.constant\"() {value = 1 : i32} : () -> f32\n", "needs a value"},
    {"%0 = \"kernel.iota\"() : () -> vector<4xf32>\n", "vector of integers"},
    {V "%0 = \"kernel.extract\"(%v) {index = 4 : i64} : (vector<4xf32>) -> f32\n", "no lane"},
    {V "%0 = \"kernel.shuffle\"(%v, %v) {mask = array<i64: 0, 8>} : (vector<4xf32>, vector<4xf32>) -> vector<2xf32>\n",
     "names no element"},
    {V "%0 = \"kernel.reduce\"(%v) {kind = \"xor\"} : (vector<4xf32>) -> f32\n", "does not take"},
    {V "%0 = \"kernel.reduce\"(%v) {kind = \"mean\"} : (vector<4xf32>) -> f32\n", "no kind 'mean'"},
    {"%0 = \"kernel.thread_id\"() {axis = 3 : i64} : () -> index\n", "axis"},
    {I "%0 = \"kernel.load\"(%a, %i) : (memref<?xf32>, index) -> vector<4xf32>\n", NULL},
    {I "%0 = \"kernel.load\"(%a, %i) : (memref<?xf32>, index) -> i32\n", "elements of the memory"},
    {F "%0 = \"kernel.load\"(%a, %f) : (memref<?xf32>, f32) -> f32\n", "offset must be an index"},
    {I "%0 = \"kernel.load\"(%a, %i) {align = 12 : i64} : (memref<?xf32>, index) -> f32\n", "power of two"},
    {I V T "%0 = \"kernel.load\"(%a, %i, %t, %v) : (memref<?xf32>, index, i1, vector<4xf32>) -> vector<4xf32>\n",
     "mask"},
    {I "\"kernel.store\"(%i, %a, %i) : (index, memref<?xf32>, index) -> ()\n", "elements of the memory"},
    {I "%0 = \"kernel.load\"(%b, %i) : (memref<?xi32>, index) -> i32\n"
       "\"kernel.store\"(%0, %b, %i) : (i32, memref<?xi32>, index) -> ()\n",
     "readonly binding 1"},
    {I F "%0 = \"kernel.atomic\"(%f, %a, %i) {kind = \"mul\"} : (f32, memref<?xf32>, index) -> f32\n", "no kind"},
    {"%0 = \"kernel.alloc\"() : () -> memref<?xf32, 3>\n", "static memref"},
    {"%0 = \"kernel.alloc\"() : () -> memref<4xf32>\n", "space 3 or 5"},
    {W "%0 = \"kernel.view\"(%w) : (memref<64xf32, 3>) -> memref<65xi32, 3>\n", "must fit"},
    {I F T
     "%0 = \"kernel.if\"(%t) ({\n\"kernel.yield\"(%f) : (f32) -> ()\n}, {\n\"kernel.yield\"() : () -> ()\n}) : (i1) "
     "-> f32\n",
     "gives 0 values, needs 1"},
    {I F "%0 = \"kernel.for\"(%i, %n, %n, %f) ({\n^bb0(%k: index, %x: i32):\n\"kernel.yield\"(%x) : (i32) -> ()\n}) : "
         "(index, index, index, f32) -> f32\n",
     "one type"},
    {I
     "%0 = \"kernel.for\"(%i, %n, %n, %i) ({\n^bb0(%k: index, %x: index):\n\"kernel.yield\"(%x) : (index) -> ()\n}) : "
     "(index, index, index, index) -> index\n",
     NULL},
    {I "\"kernel.for\"(%i, %n, %i) ({\n^bb0(%k: index):\n\"kernel.yield\"() : () -> ()\n}) : (index, index, index) -> "
       "()\n",
     "positive step"},
    {F "%0 = \"kernel.constant\"() {value = 1 : i32} : () -> i32\n"
       "%1 = \"kernel.subgroup_shuffle\"(%f, %0) {mode = \"left\"} : (f32, i32) -> f32\n",
     "not 'left'"},
    {V "%0 = \"kernel.mma\"(%v, %v, %v) {instruction = \"mma.m16n8k8.f32.tf32\"} : (vector<4xf32>, vector<4xf32>, "
       "vector<4xf32>) -> vector<4xf32>\n",
     "4 x f32, 2 x f32 and 4 x f32"},
    {V "%0 = \"kernel.mma\"(%v, %v, %v) {instruction = \"fma\"} : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> "
       "vector<4xf32>\n",
     "no matrix instruction 'fma'"},
    {I W "\"kernel.async_copy\"(%a, %i, %w, %i) {bytes = 12 : i64} : (memref<?xf32>, index, memref<64xf32, 3>, index) "
         "-> ()\n",
     "4, 8 or 16"},
    {I W "\"kernel.async_copy\"(%w, %i, %a, %i) {bytes = 4 : i64} : (memref<64xf32, 3>, index, memref<?xf32>, index) "
         "-> ()\n",
     "from global to workgroup"},
    {I W
     "\"kernel.async_copy\"(%a, %i, %w, %i, %i) {bytes = 4 : i64} : (memref<?xf32>, index, memref<64xf32, 3>, index, "
     "index) -> ()\n",
     "whether the source exists"},
    {I W "\"kernel.async_copy\"(%a, %i, %w) {bytes = 4 : i64} : (memref<?xf32>, index, memref<64xf32, 3>) -> ()\n",
     "4 or 5 operands"},
    {"\"kernel.async_wait\"() : () -> ()\n", "pending"},
    {I W "%0 = \"kernel.load_matrix\"(%w, %i) {count = 3 : i64} : (memref<64xf32, 3>, index) -> vector<3xf32>\n",
     "1, 2 or 4 matrices"},
    {I W "%0 = \"kernel.load_matrix\"(%w, %i) {count = 2 : i64} : (memref<64xf32, 3>, index) -> vector<4xf32>\n",
     "4 bytes of each matrix"},
    {I W "%0 = \"kernel.load_matrix\"(%w, %i) {count = 2 : i64, transpose} : (memref<64xf32, 3>, index) -> "
         "vector<2xf32>\n",
     "transposed ones 2"},
    {I "%0 = \"kernel.load_matrix\"(%a, %i) {count = 2 : i64} : (memref<?xf32>, index) -> vector<2xf32>\n",
     "from workgroup memory"},
    {I "%0 = \"kernel.load_tile\"(%a, %i, %i) : (memref<?xf32>, index, index) -> vector<128xf32>\n", "1024 bytes"},
    {I "%0 = \"kernel.load_tile\"(%a, %i, %i) : (memref<?xf32>, index, index) -> vector<256xi32>\n", "1024 bytes"},
    {I "%0 = \"kernel.load_tile\"(%a, %i, %a) : (memref<?xf32>, index, memref<?xf32>) -> vector<256xf32>\n", "index"},
};

typedef struct messages_t {
  text_t text;
} messages_t;
static void collect(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text, const char* rendered) {
  (void)severity, (void)loc, (void)rendered;
  text_puts(&((messages_t*)user)->text, text);
}

static bool verify(const char* attrs, const char* body, messages_t* messages) {
  text_t source = {0};
  text_printf(&source,
              "module {\n\"kernel.func\"() ({\n^bb0(%%a: memref<?xf32>, %%b: memref<?xi32>, %%n: index):\n%s"
              "\"kernel.return\"() : () -> ()\n}) {sym_name = \"k\", %s} : () -> ()\n}\n",
              body, attrs);
  ir_context_t* ctx = ir_context_create();
  dialects_register_all(ctx);
  ir_context_set_diagnostics(ctx, collect, messages);
  ir_op_t* module = ir_parse_module(ctx, "case", source.data, source.size);
  bool ok = module && ir_verify(ctx, module);
  ir_context_destroy(ctx);
  text_finish(&source);
  return ok;
}

static void expect(const char* attrs, const char* body, const char* message) {
  messages_t messages = {0};
  bool ok = verify(attrs, body, &messages);
  const char* said = messages.text.data ? messages.text.data : "";
  if (ok != !message || (message && !strstr(said, message))) {
    fail_msg("%s\nexpected %s, got %s", body, message ? message : "success", ok ? "success" : said);
  }
  text_finish(&messages.text);
}

static void bodies(void** state) {
  (void)state;
  static const char attrs[] =
      "bindings = 2 : i64, workgroup_size = array<i64: 64, 1, 1>, subgroup_size = 32 : i64, readonly = array<i64: 1>";
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) expect(attrs, cases[i].body, cases[i].message);
}

static void functions(void** state) {
  (void)state;
  expect("bindings = 2 : i64, workgroup_size = array<i64: 64, 1, 1>", "", NULL);
  expect("bindings = 2 : i64", "", "workgroup_size");
  expect("bindings = 2 : i64, workgroup_size = array<i64: 64, 64, 1>", "", "more than 1024 threads");
  expect("bindings = 2 : i64, workgroup_size = array<i64: 0, 1, 1>", "", "1 to 1024");
  expect("bindings = 2 : i64, workgroup_size = array<i64: 1, 1, 1>, subgroup_size = 3 : i64", "", "power of two");
  expect("bindings = 3 : i64, workgroup_size = array<i64: 1, 1, 1>", "", "memref<?x number>");
  expect("bindings = 1 : i64, workgroup_size = array<i64: 1, 1, 1>", "", "constants must be numbers");
  expect("bindings = 2 : i64, workgroup_size = array<i64: 1, 1, 1>, readonly = array<i64: 2>", "", "no binding");
  expect("bindings = 2 : i64, workgroup_size = array<i64: 1, 1, 1>",
         F
         "%0 = \"kernel.constant\"() {value = 1 : i32} : () -> i32\n"
         "%1 = \"kernel.subgroup_shuffle\"(%f, %0) {mode = \"xor\"} : (f32, i32) -> f32\n",
         "subgroup_size");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(bodies), cmocka_unit_test(functions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
