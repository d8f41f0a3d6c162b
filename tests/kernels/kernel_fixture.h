// What the kernel tests share: a context with the dialect, kernels from builders, and runs that collect reports.
#ifndef IREE_C_TESTS_KERNELS_KERNEL_FIXTURE_H_
#define IREE_C_TESTS_KERNELS_KERNEL_FIXTURE_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka needs the above first.
#include <cmocka.h>

#include "dialects/kernel.h"
#include "target/vmvx/interpret.h"

typedef struct fixture_t {
  ir_context_t* ctx;
  ir_op_t* module;
  ir_op_t* func;
  ir_builder_t b;
  kernel_check_t check;
  uint32_t counts[KERNEL_FAULT_COUNT];  // reports of the last run by kind
  char last[512];
} fixture_t;

static inline void fixture_report(void* user, const kernel_report_t* report) {
  fixture_t* f = user;
  ++f->counts[report->fault];
  snprintf(f->last, sizeof(f->last), "%s", report->text);
}

static inline void fixture_begin(fixture_t* f) {
  memset(f, 0, sizeof(*f));
  f->ctx = ir_context_create();
  kernel_register(f->ctx);
  f->module = ir_module_create(f->ctx, ir_loc_unknown(f->ctx));
  f->check.report = fixture_report;
  f->check.user = f;
}
static inline void fixture_end(fixture_t* f) { ir_context_destroy(f->ctx); }

static inline const ir_type_t* fixture_float(fixture_t* f, ir_float_kind_t kind) { return ir_type_float(f->ctx, kind); }
static inline const ir_type_t* fixture_int(fixture_t* f, uint32_t width) { return ir_type_int(f->ctx, width); }

// A kernel of `threads` threads (subgroups of 32 when there are as many) on bindings of one element type.
static inline void fixture_kernel(fixture_t* f, int64_t threads, const ir_type_t* element, uint32_t bindings) {
  const ir_type_t* types[8];
  for (uint32_t i = 0; i < bindings; ++i) types[i] = element;
  kernel_signature_t sig = {.name = "k",
                            .bindings = types,
                            .binding_count = bindings,
                            .workgroup_size = {threads, 1, 1},
                            .subgroup_size = threads >= 32 ? 32 : 0};
  f->func = kernel_func_begin(f->ctx, ir_module_body(f->module), ir_loc_unknown(f->ctx), &sig, &f->b);
}
static inline ir_value_t* fixture_arg(fixture_t* f, uint32_t i) { return kernel_func_arg(f->func, i); }

// Verifies and runs. True when nothing was reported.
static inline bool fixture_run(fixture_t* f, const kernel_binding_t* bindings, uint32_t count, uint32_t workgroups) {
  memset(f->counts, 0, sizeof(f->counts));
  f->last[0] = 0;
  assert_true(ir_verify(f->ctx, f->func));
  kernel_launch_t launch = {.bindings = bindings, .binding_count = count, .workgroup_count = {workgroups, 1, 1}};
  text_t error = {0};
  bool clean = kernel_interpret(f->func, &launch, &f->check, &error);
  if (error.size) fail_msg("%s", error.data);
  text_finish(&error);
  return clean;
}

#endif  // IREE_C_TESTS_KERNELS_KERNEL_FIXTURE_H_
