// Passes that need to know what the program is compiled for, by name: for iree-opt, and for flags that name passes.
#include <string.h>

#include "compiler/kernels.h"
#include "compiler/pdl_spec.h"
#include "compiler/run.h"
#include "compiler/transform_spec.h"
#include "kernels/layout.h"
#include "passes/passes.h"

static const target_t* first_target(ir_context_t* ctx, const void* user) {
  const compiler_options_t* options = ((const run_t*)user)->options;
  if (options->target_count) return &options->targets[0];
  ir_error(ctx, NULL, "this pass is for a target; name one, with --iree-hal-target-device=local or another");
  return NULL;
}

static pass_result_t assign_layouts(ir_op_t* module, ir_context_t* ctx, void* user) {
  const target_t* target = first_target(ctx, user);
  return target && layout_assign(ctx, module, &target->device) ? PASS_CHANGED : PASS_FAILED;
}

// The kernels become a module in the module.
static pass_result_t build_kernels(ir_op_t* module, ir_context_t* ctx, void* user) {
  const target_t* target = first_target(ctx, user);
  kernel_list_t kernels = {0};
  if (!target || !kernels_assign(ctx, module, &target->device, &kernels)) return PASS_FAILED;
  ir_op_set_attr(ctx, kernels.module, "sym_name", ir_attr_cstring(ctx, "kernels"));
  ir_block_append(ir_module_body(module), kernels.module);
  return PASS_CHANGED;
}

static bool has_file(ir_context_t* ctx, const char* file, const char* pass) {
  return file || ir_error(ctx, NULL, "pass '%s' needs the name of a file", pass);
}

static pass_result_t apply_pdl(ir_op_t* module, ir_context_t* ctx, void* user) {
  return has_file(ctx, user, "pdl-spec{patterns-file=FILE}") && pdl_spec_run(ctx, module, user) ? PASS_CHANGED
                                                                                                : PASS_FAILED;
}

static pass_result_t apply_transform(ir_op_t* module, ir_context_t* ctx, void* user) {
  bool ok = has_file(ctx, user, "transform-spec{transform-spec-path=FILE}") && transform_spec_run(ctx, module, user);
  return ok ? PASS_CHANGED : PASS_FAILED;
}

static const pass_t steps[] = {
    {.name = "pdl-spec",
     .summary = "input dialects rewritten by the pdl.pattern ops of patterns-file",
     .run_with = apply_pdl,
     .takes = "patterns-file"},
    {.name = "transform-spec",
     .summary = "calls in place of what the sequences of transform-spec-path match in input dialects",
     .run_with = apply_transform,
     .takes = "transform-spec-path"},
    {.name = "strip-assertions", .summary = "without what the program asserts", .run_with = step_strip_assertions},
    {.name = "element-types", .summary = "--iree-input-demote-* and -promote-*", .run_with = step_element_types},
    {.name = "const-eval",
     .summary = "what depends on constants only, by the target's kernels",
     .run_with = step_const_eval},
    {.name = "spread-work", .summary = "long lines and sums with few results in parts", .run_with = step_spread},
    {.name = "host-scalars", .summary = "scalars that the host computes", .run_with = step_host_scalars},
    {.name = "assign-layouts",
     .summary = "packed weights and blocked activations for the target",
     .run_with = assign_layouts},
    {.name = "build-kernels", .summary = "a kernel for each dispatch, in a module @kernels", .run_with = build_kernels},
};

const pass_t* compiler_steps(uint32_t* out_count) {
  *out_count = sizeof(steps) / sizeof(steps[0]);
  return steps;
}

bool compiler_has_pass(const char* name, near_t* near) {
  static const char* const names[] = {
#define PASS(function, pass_name, needed, text) pass_name,
      GRAPH_PASSES(PASS)
#undef PASS
          "lower-input"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    if (strcmp(names[i], name) == 0) return true;
    near_offer(near, names[i]);
  }
  for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); ++i) {
    if (strcmp(steps[i].name, name) == 0) return true;
    near_offer(near, steps[i].name);
  }
  return false;
}
