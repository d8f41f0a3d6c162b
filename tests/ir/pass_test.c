// The pass runner's flags, and the rewrite driver with the scalar rules.
#include "ir/pass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// cmocka.h needs the headers above.
#include <cmocka.h>

#include "dialects/graph.h"
#include "dialects/register.h"
#include "dialects/scalar_rules.h"
#include "ir/rewrite.h"

static const char program[] =
    "func.func @f(%a: tensor<4xi32>) -> tensor<4xi32> {\n"
    "  %0 = \"graph.constant\"() {value = dense<0> : tensor<4xi32>} : () -> tensor<4xi32>\n"
    "  %1 = \"graph.add\"(%0, %a) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>\n"
    "  %2 = \"graph.neg\"(%1) : (tensor<4xi32>) -> tensor<4xi32>\n"
    "  %3 = \"graph.neg\"(%2) : (tensor<4xi32>) -> tensor<4xi32>\n"
    "  %4 = \"graph.sub\"(%3, %3) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>\n"
    "  %5 = \"graph.or\"(%4, %3) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>\n"
    "  return %5 : tensor<4xi32>\n}\n";

static void silent(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text, const char* rendered) {}

typedef struct fixture_t {
  ir_context_t* ctx;
  ir_op_t* module;
} fixture_t;

static int setup(void** state) {
  static fixture_t f;
  f.ctx = ir_context_create();
  ir_context_set_diagnostics(f.ctx, silent, NULL);
  dialects_register_all(f.ctx);
  f.module = ir_parse_module(f.ctx, "p.mlir", program, sizeof(program) - 1);
  *state = &f;
  return f.module && ir_verify(f.ctx, f.module) ? 0 : 1;
}
static int teardown(void** state) {
  ir_context_destroy(((fixture_t*)*state)->ctx);
  return 0;
}

static ir_block_t* body(const fixture_t* f) { return ir_symbol_lookup(f->module, "f")->regions[0].first; }

static pass_result_t pass_nothing(ir_op_t* module, ir_context_t* ctx) { return PASS_UNCHANGED; }
static pass_result_t pass_mark(ir_op_t* module, ir_context_t* ctx) {
  ir_op_set_attr(ctx, module, "test.marks", ir_attr_i64(ctx, ir_op_int(module, "test.marks", 0) + 1));
  return PASS_CHANGED;
}
static pass_result_t pass_fails(ir_op_t* module, ir_context_t* ctx) {
  ir_op_error(ctx, module, "no");
  return PASS_FAILED;
}
static pass_result_t pass_breaks(ir_op_t* module, ir_context_t* ctx) {
  ir_op_t* func = ir_module_body(module)->first;
  ir_op_erase(func->regions[0].first->last);  // no terminator any more
  return PASS_CHANGED;
}
static const pass_t nothing = {"nothing", "", pass_nothing}, mark = {"mark", "", pass_mark};
static const pass_t fails = {"fails", "", pass_fails}, breaks = {"breaks", "", pass_breaks};

static void test_runs_in_order(void** state) {
  fixture_t* f = *state;
  const pass_t* passes[] = {&nothing, &mark, &mark, &nothing};
  pass_report_t report = {0};
  pass_options_t options = {.timing = true, .verify_each = true, .round_trip = true, .report = &report};
  assert_true(pass_run(f->ctx, f->module, passes, 4, &options));
  assert_int_equal(report.count, 4);
  assert_true(report.changed && !report.stopped);
  assert_int_equal(ir_op_int(f->module, "test.marks", 0), 2);
  text_t times = {0};
  pass_report_print(&report, &times);
  assert_non_null(strstr(times.data, "mark"));
  text_finish(&times);
  pass_report_finish(&report);
}

static void test_stops(void** state) {
  fixture_t* f = *state;
  const pass_t* passes[] = {&mark, &nothing, &mark, &mark};
  pass_report_t report = {0};
  pass_options_t options = {.stop_after = "nothing", .report = &report};
  assert_true(pass_run(f->ctx, f->module, passes, 4, &options));
  assert_true(report.stopped);
  assert_int_equal(ir_op_int(f->module, "test.marks", 0), 1);
  options = (pass_options_t){.bisect_limit = 3};
  assert_true(pass_run(f->ctx, f->module, passes, 4, &options));
  assert_int_equal(ir_op_int(f->module, "test.marks", 0), 3);
}

static void test_failures(void** state) {
  fixture_t* f = *state;
  const pass_t* failing[] = {&fails, &mark};
  assert_false(pass_run(f->ctx, f->module, failing, 2, NULL));
  assert_int_equal(ir_op_int(f->module, "test.marks", 0), 0);
  const pass_t* breaking[] = {&breaks};
  pass_options_t options = {.verify_each = true};
  assert_false(pass_run(f->ctx, f->module, breaking, 1, &options));
}

static void count_print(void* user, const char* banner, const char* text, size_t size) { ++*(int*)user; }

static void test_prints(void** state) {
  fixture_t* f = *state;
  int count = 0;
  const char* names[] = {"nothing"};
  const pass_t* passes[] = {&nothing, &mark};
  pass_options_t options = {.print = count_print, .print_user = &count, .print_after_change = true};
  assert_true(pass_run(f->ctx, f->module, passes, 2, &options));
  assert_int_equal(count, 1);
  options = (pass_options_t){.print = count_print, .print_user = &count, .print_after = names, .print_after_count = 1};
  assert_true(pass_run(f->ctx, f->module, passes, 2, &options));
  assert_int_equal(count, 2);
}

// ((-(-(0 + a))) - itself) | (...) is a.
static void test_rules_to_a_fixed_point(void** state) {
  fixture_t* f = *state;
  static const rewrite_fn_t rules[] = {scalar_rules_rewrite};
  assert_true(rewrite_greedily(f->ctx, f->module, rules, 1));
  assert_true(ir_verify(f->ctx, f->module));
  assert_ptr_equal(body(f)->first, body(f)->last);
  assert_ptr_equal(ir_operand(body(f)->last, 0), body(f)->args[0]);
  assert_false(rewrite_greedily(f->ctx, f->module, rules, 1));
}

// x + y -> y + x for ever: the driver stops.
static ir_value_t* swap(ir_builder_t* b, ir_op_t* op) {
  if (!ir_is(op, GRAPH_add)) return NULL;
  return graph_binary(b, SCALAR_add, ir_operand(op, 1), ir_operand(op, 0));
}
static void test_loops_end(void** state) {
  fixture_t* f = *state;
  static const rewrite_fn_t rules[] = {swap};
  rewrite_greedily(f->ctx, f->module, rules, 1);
  assert_true(ir_verify(f->ctx, f->module));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_runs_in_order, setup, teardown),
      cmocka_unit_test_setup_teardown(test_stops, setup, teardown),
      cmocka_unit_test_setup_teardown(test_failures, setup, teardown),
      cmocka_unit_test_setup_teardown(test_prints, setup, teardown),
      cmocka_unit_test_setup_teardown(test_rules_to_a_fixed_point, setup, teardown),
      cmocka_unit_test_setup_teardown(test_loops_end, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
