// The pipeline: source -> graph -> dispatches -> kernels -> executable -> module. See compiler.h.
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/trace.h"
#include "compiler/benchmark_funcs.h"
#include "compiler/compiler.h"
#include "compiler/const_eval.h"
#include "compiler/dispatch_files.h"
#include "compiler/donate.h"
#include "compiler/host.h"
#include "compiler/kernel_name.h"
#include "compiler/kernels.h"
#include "compiler/named_targets.h"
#include "compiler/parameters.h"
#include "compiler/pass_set.h"
#include "compiler/pass_through.h"
#include "compiler/pdl_spec.h"
#include "compiler/run.h"
#include "compiler/transform_spec.h"
#include "compiler/vm_emit.h"
#include "dialects/cf.h"
#include "dialects/graph.h"
#include "dialects/kernel.h"
#include "dialects/register.h"
#include "dialects/stablehlo.h"
#include "import/lower.h"
#include "ir/bytecode.h"
#include "kernels/layout.h"
#include "kernels/strategy.h"
#include "passes/attention.h"
#include "passes/contract_form.h"
#include "passes/expand.h"
#include "passes/fusion.h"
#include "passes/passes.h"
#include "passes/spread.h"
#include "target/amdgpu/metadata_note.h"

const char* compiler_phase_name(compiler_phase_t phase) {
  static const char* const names[] = {
#define PHASE(name, text) text,
      COMPILER_PHASES(PHASE)
#undef PHASE
  };
  return names[phase];
}

//===----------------------------------------------------------------------------------------------------------------===
// Text of stages
//===----------------------------------------------------------------------------------------------------------------===

static void print_module(run_t* r, ir_op_t* op, text_t* text) {
  ir_print_op(r->ctx, text, op, r->options->print_flags, r->options->elide_above);
  text_puts(text, "\n");
}

// Dumps the module when asked to; true in `*stop` when this is where to stop.
static bool end_phase(run_t* r, compiler_phase_t phase, ir_op_t* op, bool* stop) {
  const compiler_options_t* o = r->options;
  *stop = false;
  if (o->dump_phases_to && phase != COMPILER_PHASE_START && phase != COMPILER_PHASE_END) {
    mkdir(o->dump_phases_to, 0777);
    text_t text = {0};
    print_module(r, op, &text);
    char* path = arena_printf(ir_context_arena(r->ctx), "%s/%s.%u.%s.mlir", o->dump_phases_to, r->source.stem,
                              ++r->phase_number, compiler_phase_name(phase));
    bool ok = run_write_file(r, path, text.data, text.size);
    text_finish(&text);
    if (!ok) return false;
  }
  if (o->stop_after != phase || phase == COMPILER_PHASE_END) return true;
  *stop = true;
  if (phase >= COMPILER_PHASE_GLOBAL_OPTIMIZATION && !parameters_write(r)) return false;
  // Kernels alone can be compiled for another target.
  if (phase >= COMPILER_PHASE_DISPATCH_CREATION && op == r->module) {
    named_targets_write(r->ctx, op, o->targets, o->target_count);
  }
  text_t text = {0};
  if (!o->emit_bytecode) {
    print_module(r, op, &text);
  } else if (!ir_write_bytecode(r->ctx, op, o->bytecode_version, &text)) {
    return false;
  }
  return run_output_text(r, &text);
}

// `share` of all work is done, in hundredths.
static void progress(run_t* r, const char* stage, uint32_t share) {
  r->stage = stage;
  if (r->options->progress) r->options->progress(r->options->progress_user, stage, share, 100);
}

//===----------------------------------------------------------------------------------------------------------------===
// Stages
//===----------------------------------------------------------------------------------------------------------------===

typedef struct stage_t {
  compiler_phase_t first, last;  // phases that are reached when it is done
  const char* name;
  bool (*run)(run_t* r);
  uint32_t share;  // of all work that is done before it, in hundredths
} stage_t;

// Targets that the program names itself are those that it is compiled for.
static bool choose_targets(run_t* r) {
  const compiler_options_t* o = r->options;
  compiler_options_t* own = ARENA_NEW(ir_context_arena(r->ctx), compiler_options_t);
  *own = *o;
  own->target_count = 0;
  if (o->target_count) ir_context_mute(r->ctx, true);  // what cannot be read is what flags are for
  bool reads = named_targets_read(r->ctx, r->module, own->targets, COMPILER_MAX_TARGETS, &own->target_count);
  if (o->target_count) ir_context_mute(r->ctx, false);
  if (!reads && !o->target_count) return false;
  if (!reads) own->target_count = 0;
  if (own->target_count && !o->host_only) {
    if (o->target_count) {
      ir_note(r->ctx, r->module->loc, "the program names its targets itself (hal.device.targets): flags add none");
    }
    r->options = own;
  }
  if (r->options->target_count || !o->needs_target || o->read_only) return true;
  own->host_only = true;  // which the program may be
  r->options = own;
  return true;
}

// Inline models run in the caller's thread: on processors, and without a loader portable kernels only.
static bool check_inline(run_t* r) {
  const compiler_options_t* o = r->options;
  for (uint32_t i = 0; o->devices && i < o->target_count; ++i) {
    target_backend_t backend = o->targets[i].backend;
    if (o->devices == MODULE_DEVICES_INLINE && backend != TARGET_VMVX) {
      return ir_error(r->ctx, NULL,
                      "--iree-execution-model=inline-static takes kernels that need no loader: "
                      "--iree-hal-target-backends=vmvx; inline-dynamic takes those of llvm-cpu");
    }
    if (backend != TARGET_VMVX && backend != TARGET_LLVM_CPU) {
      return ir_error(r->ctx, NULL,
                      "--iree-execution-model=inline-dynamic runs on processors: llvm-cpu and vmvx, not %s",
                      target_backend_name(backend));
    }
  }
  return true;
}

static bool stage_read(run_t* r) {
  r->module = source_parse(r->ctx, &r->source);
  return r->module && ir_verify(r->ctx, r->module) && choose_targets(r) && check_inline(r);
}

static bool run_passes(run_t* r, ir_op_t* module, const pass_t* const* passes, uint32_t count) {
  pass_options_t options = r->options->passes;
  options.report = &r->report;
  options.timing = r->options->timing;
  return pass_run(r->ctx, module, passes, count, &options);
}

// A step that knows more than the module: `user` is the run, or one target's program.
static bool run_step(run_t* r, ir_op_t* module, const char* name,
                     pass_result_t (*run)(ir_op_t* module, ir_context_t* ctx, void* user), void* user) {
  const pass_t pass = {.name = name, .run_with = run, .user = user, .required = true};
  return run_passes(r, module, (const pass_t*[]){&pass}, 1);
}

#define PASS(function, pass_name, needed, text) \
  static const pass_t row_##function = {.name = pass_name, .summary = text, .run = function, .required = needed};
GRAPH_PASSES(PASS)
#undef PASS

static pass_result_t step_lower(ir_op_t* module, ir_context_t* ctx, void* user) {
  const run_t* r = user;
  return lower_module(ctx, module, r->options->input_type) ? PASS_CHANGED : PASS_FAILED;
}

// Functions that say nothing themselves are called as the flag has it.
static void set_execution_model(run_t* r) {
  const ir_attr_t* model = ir_attr_cstring(r->ctx, "coarse-fences");
  IR_FOR_OPS(func, ir_module_body(r->module)) {
    bool exported = strcmp(func->name, "func.func") == 0 && func->regions[0].first &&
                    strcmp(ir_op_string(func, "sym_visibility", "public"), "private") != 0;
    if (!exported || ir_op_attr(func, "iree.abi.model") || ir_op_attr(func, "graph.initializer")) continue;
    ir_op_set_attr(r->ctx, func, "iree.abi.model", model);
  }
}

// Passes over graph; with options those over input dialects, which run before it is made.
static const pass_t* find_pass(const char* name, size_t size) {
  static const pass_t* const passes[] = {
#define PASS(function, pass_name, needed, text) &row_##function,
      GRAPH_PASSES(PASS)
#undef PASS
  };
  uint32_t count = 0;
  const pass_t* steps = compiler_steps(&count);
  for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]); ++i) {
    if (strlen(passes[i]->name) == size && strncmp(passes[i]->name, name, size) == 0) return passes[i];
  }
  for (uint32_t i = 0; i < count; ++i) {
    bool fits = steps[i].takes && strlen(steps[i].name) == size && strncmp(steps[i].name, name, size) == 0;
    if (fits) return &steps[i];
  }
  return NULL;
}

// Passes that a flag lists: the last one waits for its option.
typedef struct preprocess_t {
  run_t* run;  // NULL: they are read, not run
  bool early, ok;
  const pass_t* last;
  char* text;
} preprocess_t;

static void run_last(preprocess_t* p) {
  pass_t pass = p->last ? *p->last : (pass_t){0};
  if (pass.takes) pass.user = p->text;
  const pass_t* list = &pass;
  if (p->run && p->last && p->ok && p->early == (pass.takes != NULL)) {
    p->ok = run_passes(p->run, p->run->module, &list, 1);
  }
  p->last = NULL;
  p->text = NULL;
}

static bool preprocess_by(void* user, const char* name, size_t size) {
  preprocess_t* p = user;
  run_last(p);
  p->last = find_pass(name, size);
  return p->last;
}

static const char* option_of_last(void* user) { return ((const preprocess_t*)user)->last->takes; }

static void set_option(void* user, const char* text, size_t size) {
  preprocess_t* p = user;
  if (p->run) p->text = arena_strndup(ir_context_arena(p->run->ctx), text, size);
}

static void offer_passes(void* user, near_t* near) {
#define PASS(function, pass_name, needed, summary) near_offer(near, pass_name);
  GRAPH_PASSES(PASS)
#undef PASS
}

static bool read_passes(preprocess_t* p, const char* text, text_t* error) {
  const pass_set_t set = {p, preprocess_by, option_of_last, set_option, offer_passes};
  return pass_set_read(&set, text, error);
}

bool compiler_check_preprocessing(const char* text, text_t* error) {
  preprocess_t p = {0};
  text_puts(error, "--iree-preprocessing-pass-pipeline: ");
  bool ok = read_passes(&p, text, error);
  run_last(&p);
  if (ok) {
    text_finish(error);
    return true;
  }
  text_puts(error, "; these are there:");
#define PASS(function, pass_name, needed, summary) text_puts(error, " " pass_name);
  GRAPH_PASSES(PASS)
#undef PASS
  return false;
}

// The text was checked when the flags were read.
static bool preprocess(run_t* r, bool early) {
  preprocess_t p = {.run = r, .early = early, .ok = true};
  text_t error = {0};
  if (r->options->preprocessing) read_passes(&p, r->options->preprocessing, &error);
  run_last(&p);
  text_finish(&error);
  return p.ok;
}

static void erase_assertions(ir_op_t* parent) {
  for (uint32_t i = 0; i < parent->region_count; ++i) {
    IR_FOR_BLOCKS(block, &parent->regions[i]) {
      IR_FOR_OPS_SAFE(op, block) {
        bool is_call = ir_is(op, STABLEHLO_CUSTOM_CALL) && !op->result_count;
        bool asserts = ir_is(op, CF_ASSERT) || ir_is(op, GRAPH_ASSERT) ||
                       (is_call && strcmp(ir_op_string(op, "call_target_name", ""), "shape_assertion") == 0);
        if (asserts) {
          ir_op_erase(op);
        } else {
          erase_assertions(op);
        }
      }
    }
  }
}

pass_result_t step_strip_assertions(ir_op_t* module, ir_context_t* ctx, void* user) {
  erase_assertions(module);
  return PASS_CHANGED;
}

pass_result_t step_element_types(ir_op_t* module, ir_context_t* ctx, void* user) {
  return element_types_run(module, ctx, &((const run_t*)user)->options->element_types);
}

static pass_result_t step_transform(ir_op_t* module, ir_context_t* ctx, void* user) {
  return transform_spec_run(ctx, module, ((const run_t*)user)->options->transform_spec) ? PASS_CHANGED : PASS_FAILED;
}

static pass_result_t step_pdl(ir_op_t* module, ir_context_t* ctx, void* user) {
  return pdl_spec_run(ctx, module, ((const run_t*)user)->options->pdl_spec) ? PASS_CHANGED : PASS_FAILED;
}

static bool stage_lower(run_t* r) {
  const compiler_options_t* o = r->options;
  if (o->pdl_spec && !run_step(r, r->module, "pdl-spec", step_pdl, r)) return false;
  if (o->transform_spec && !run_step(r, r->module, "transform-spec", step_transform, r)) return false;
  if (!preprocess(r, true)) return false;
  if (o->strip_assertions && !run_step(r, r->module, "strip-assertions", step_strip_assertions, r)) return false;
  static const pass_t donate = {.name = "donate-arguments", .run = donate_arguments, .required = true};
  if (o->donates && !run_passes(r, r->module, (const pass_t*[]){&donate}, 1)) return false;
  if (!run_step(r, r->module, "lower-input", step_lower, r)) return false;
  const element_types_t* types = &o->element_types;
  bool converts = false;
#define CONVERSION(name, flag) converts |= types->name;
  ELEMENT_CONVERSIONS(CONVERSION)
#undef CONVERSION
  if (converts && !run_step(r, r->module, "element-types", step_element_types, r)) return false;
  if (o->fences) set_execution_model(r);
  return preprocess(r, false);
}

pass_result_t step_const_eval(ir_op_t* module, ir_context_t* ctx, void* user) {
  const compiler_options_t* o = ((const run_t*)user)->options;
  const_eval_options_t eval = {.target = o->target_count ? &o->targets[0] : NULL, .threads = o->target.threads};
  return o->const_eval && const_eval_module(ctx, module, &eval) ? PASS_CHANGED : PASS_UNCHANGED;
}

static bool is_cpu(const device_info_t* device) { return device->kind == DEVICE_CPU; }

// Whether it adds up products of bytes by an instruction of its own.
static bool multiplies_bytes(const device_info_t* device) { return is_cpu(device) && device->has_int8_dot; }

static bool all_targets(const run_t* r, bool (*are)(const device_info_t* device)) {
  const compiler_options_t* o = r->options;
  bool all = o->target_count > 0;
  for (uint32_t i = 0; i < o->target_count; ++i) all &= are(&o->targets[i].device);
  return all;
}

pass_result_t step_spread(ir_op_t* module, ir_context_t* ctx, void* user) {
  const compiler_options_t* o = ((const run_t*)user)->options;
  spread_target_t target = {.gpu = o->target_count > 0};
  for (uint32_t i = 0; i < o->target_count; ++i) target.gpu &= o->targets[i].device.kind == DEVICE_GPU;
  return spread_work(module, ctx, &target);
}

static bool carries_attention(void* user, const ir_op_t* op) {
  const run_t* r = user;
  const compiler_options_t* o = r->options;
  bool all = o->target_count > 0;
  for (uint32_t i = 0; all && i < o->target_count; ++i) {
    all = strategy_attention_carries(r->ctx, op, &o->targets[i].device);
  }
  return all;
}

static pass_result_t step_attention(ir_op_t* module, ir_context_t* ctx, void* user) {
  const compiler_options_t* o = ((const run_t*)user)->options;
  attention_target_t target = {.carries = carries_attention, .user = user};
  for (uint32_t i = 0; i < o->target_count; ++i) {
    int64_t units = o->targets[i].device.compute_units;
    if (i == 0 || units < target.workgroups) target.workgroups = units;
  }
  return attention_run(module, ctx, &target);
}

static pass_result_t step_expand(ir_op_t* module, ir_context_t* ctx, void* user) {
  return expand_run(module, ctx, all_targets(user, is_cpu) ? EXPAND_BLOCK_CPU : EXPAND_BLOCK);
}

static pass_result_t step_contract_form(ir_op_t* module, ir_context_t* ctx, void* user) {
  return contract_form_run(module, ctx, all_targets(user, is_cpu));
}

static bool import_parameters(run_t* r) {
  return !r->options->parameters.import_count || run_step(r, r->module, "import-parameters", parameters_import, r);
}

static bool export_parameters(run_t* r) {
  const parameter_options_t* o = &r->options->parameters;
  if (o->export_to && !run_step(r, r->module, "export-parameters", parameters_export, r)) return false;
  if (!o->splat_to && !o->encoder_to) return true;
  return run_step(r, r->module, "encode-parameters", parameters_encode, r);
}

static bool stage_optimize(run_t* r) {
  const pass_t const_eval = {.name = "const-eval", .run_with = step_const_eval, .user = r};
  const pass_t spread = {.name = "spread-work", .run_with = step_spread, .user = r};
  const pass_t attention = {.name = row_pass_attention.name, .run_with = step_attention, .user = r, .required = true};
  pass_t expand = row_pass_expand;
  expand.run = NULL, expand.run_with = step_expand, expand.user = r;
  pass_t form = row_pass_contract_form;
  form.run = NULL, form.run_with = step_contract_form, form.user = r;
  const pass_t* const first[] = {&row_pass_inline, &row_pass_refine, &row_pass_numbers, &row_pass_boundary};
  const pass_t* const scaled[] = {&row_pass_scaled_products};
  const pass_t* const before[] = {&row_pass_canonicalize,
                                  &attention,
                                  &spread,
                                  &expand,
                                  &row_pass_cse,
                                  &form,
                                  &row_pass_loop_numbers,
                                  &row_pass_canonicalize,
                                  &const_eval,
                                  &row_pass_canonicalize};
  const pass_t* const sorts[] = {&row_pass_expand_top_k};
  const pass_t* const bytes[] = {&row_pass_byte_products};
  bool words = r->options->data_tiling && all_targets(r, multiplies_bytes);
  const pass_t* const after[] = {&row_pass_exact_floats, &row_pass_integral_floats, &row_pass_cse, &row_pass_dce};
  return import_parameters(r) && run_passes(r, r->module, first, sizeof(first) / sizeof(first[0])) &&
         (!words || run_passes(r, r->module, scaled, 1)) &&
         run_passes(r, r->module, before, sizeof(before) / sizeof(before[0])) &&
         (all_targets(r, is_cpu) || run_passes(r, r->module, sorts, 1)) &&
         (!words || run_passes(r, r->module, bytes, 1)) &&
         run_passes(r, r->module, after, sizeof(after) / sizeof(after[0])) && export_parameters(r);
}

pass_result_t step_host_scalars(ir_op_t* module, ir_context_t* ctx, void* user) {
  host_scalar_prepare(ctx, module);
  return PASS_CHANGED;
}

static bool is_gpu(const device_info_t* device) { return device->kind == DEVICE_GPU; }

static pass_result_t step_form(ir_op_t* module, ir_context_t* ctx, void* user) {
  if (((const run_t*)user)->options->host_only) pass_through_views(ctx, module);
  return fusion_form_dispatches(module, ctx, &(fusion_target_t){.gpu = all_targets(user, is_gpu)});
}

static bool stage_dispatches(run_t* r) {
  static const pass_t host_scalars = {.name = "host-scalars", .run_with = step_host_scalars, .required = true};
  pass_t form = row_pass_form_dispatches;
  form.run = NULL, form.run_with = step_form, form.user = r;
  const pass_t* const passes[] = {&row_pass_sizes, &row_pass_windows, &row_pass_dce, &host_scalars, &form};
  const trace_dispatches_t* trace = &r->options->trace;
  return run_passes(r, r->module, passes, sizeof(passes) / sizeof(passes[0])) &&
         ((!trace->all && !trace->name) ||
          run_step(r, r->module, "trace-dispatches", trace_dispatches_run, (void*)trace));
}

static pass_result_t step_layout(ir_op_t* module, ir_context_t* ctx, void* user) {
  return layout_assign(ctx, module, &((const target_t*)user)->device) ? PASS_CHANGED : PASS_FAILED;
}

// The dispatches are the same for all targets; what follows is each one's own.
static bool stage_layout(run_t* r) {
  r->programs[0].module = r->module;
  r->program_count = r->options->target_count ? r->options->target_count : 1;
  if (r->options->host_only) return true;
  if (!run_passes(r, r->module, (const pass_t*[]){&row_pass_unroll}, 1)) return false;
  for (uint32_t i = 1; i < r->program_count; ++i) r->programs[i].module = ir_op_clone(r->ctx, r->module, NULL);
  for (uint32_t i = 0; i < r->program_count; ++i) {
    void* target = (void*)&r->options->targets[i];
    if (r->options->data_tiling && !run_step(r, r->programs[i].module, "assign-layouts", step_layout, target))
      return false;
    const pass_t* const passes[] = {&row_pass_schedule, &row_pass_in_place};
    bool many = is_gpu(&r->options->targets[i].device);  // which run at once
    if (!run_passes(r, r->programs[i].module, passes + !many, 1u + many)) return false;
  }
  return true;
}

static pass_result_t step_kernels(ir_op_t* module, ir_context_t* ctx, void* user) {
  program_t* p = user;
  bool ok = kernels_assign(ctx, module, p->device, &p->kernels) && ir_verify(ctx, p->kernels.module);
  return ok ? PASS_CHANGED : PASS_FAILED;
}

static ir_op_t* made_kernels(void* user) { return ((const program_t*)user)->kernels.module; }

static const ir_op_t* find_dispatch(const ir_op_t* op) {
  if (ir_is(op, GRAPH_DISPATCH)) return op;
  for (uint32_t i = 0; i < op->region_count; ++i) {
    IR_FOR_BLOCKS(block, &op->regions[i]) {
      IR_FOR_OPS(inner, block) {
        const ir_op_t* found = find_dispatch(inner);
        if (found) return found;
      }
    }
  }
  return NULL;
}

// Nothing in it is for a device.
static bool check_host_only(run_t* r) {
  const ir_op_t* dispatch = find_dispatch(r->module);
  if (dispatch && r->options->needs_target) {
    return ir_op_error(r->ctx, dispatch,
                       "needs a device: what to compile for? --iree-hal-target-device=local is for this machine's "
                       "processor, hip, amdgpu and cuda for GPUs");
  }
  if (dispatch) return ir_op_error(r->ctx, dispatch, "needs a device, and --iree-execution-model=host-only has none");
  r->programs[0].kernels.module = r->module;
  return true;
}

static bool stage_kernels(run_t* r) {
  if (r->options->host_only) return check_host_only(r);
  for (uint32_t i = 0; i < r->program_count; ++i) {
    program_t* p = &r->programs[i];
    p->device = &r->options->targets[i].device;
    const pass_t build = {
        .name = "build-kernels", .run_with = step_kernels, .user = p, .made = made_kernels, .required = true};
    if (!run_passes(r, p->module, (const pass_t*[]){&row_pass_donation, &build}, 2)) return false;
  }
  substitute_check_names(r->ctx, &r->options->substitute, &r->programs[0].kernels);
  if (!substitute_kernels(r->ctx, &r->options->substitute, &r->programs[0].kernels)) return false;
  ir_op_t* modules[COMPILER_MAX_TARGETS];
  for (uint32_t i = 0; i < r->program_count; ++i) modules[i] = r->programs[i].module;
  if (r->options->benchmark_funcs) benchmark_funcs_add(r->ctx, modules, r->program_count);
  return true;
}

// Of one kernel alone its own, else the module's or the source's. C sources have the name of a static library in them,
// where what the kernel computes does not stand.
static const char* executable_name(run_t* r, const program_t* p) {
  if (p->kernels.count == 1) {
    const char* name = ir_op_string(p->kernels.funcs[0], "sym_name", "main");
    if (!r->options->target.static_library) return name;
    return arena_strndup(ir_context_arena(r->ctx), name, kernel_name_short_size(name));
  }
  return arena_printf(ir_context_arena(r->ctx), "%s_linked", ir_op_string(r->module, "sym_name", r->source.stem));
}

static void warn_of_spills(run_t* r, const program_t* p) {
  metadata_spill_t spill;
  for (size_t at = 0; metadata_note_next_spill(p->executable.data, p->executable.size, &at, &spill);) {
    const ir_op_t* func = ir_symbol_lookup(p->kernels.module, spill.name);
    ir_warning(r->ctx, func ? func->loc : NULL, "kernel '%s' spills %u vector and %u scalar registers", spill.name,
               spill.vector_registers, spill.scalar_registers);
  }
}

// Of one program's kernels; `r->generated` are the programs before.
static void on_generated(void* user, uint32_t done, uint32_t total) {
  run_t* r = user;
  uint64_t programs = r->program_count, share = 46 * ((uint64_t)r->generated * total + done) / (programs * total);
  progress(r, r->stage, 50 + (uint32_t)share);
}

static bool compile_program(run_t* r, uint32_t index) {
  program_t* p = &r->programs[index];
  const target_t* plain = &r->options->targets[index];
  if (!externs_resolve(r->ctx, &r->options->externs, plain, p->module, &p->objects)) return false;
  if (!p->kernels.count) return true;
  text_t error = {0};
  target_t target = r->options->targets[index];
  target_compile_options_t options = r->options->target;
  options.context = r->ctx;
  options.name = executable_name(r, p);
  options.progress = on_generated;
  options.progress_user = r;
  r->generated = index;
  if (run_shares_format(r, index)) {  // in the names of files
    snprintf(target.format, sizeof(target.format), "%.24s_%.20s", r->options->targets[index].format, target.cpu);
  }
  bool ok = dispatch_files_write(p->module, &p->kernels, &target, &options, &error);
  if (ok && !substitute_take_objects(r->ctx, &r->options->substitute, plain, p->module, &p->kernels, &p->objects)) {
    text_finish(&error);
    return false;
  }
  if (ok && p->kernels.count) {
    ok = target_compile(&target, p->kernels.funcs, p->kernels.count, &options, &p->executable, &error);
  }
  if (!ok) ir_error(r->ctx, p->module->loc, "%s", error.data ? error.data : "code generation failed");
  if (ok && p->executable.remarks) ir_note(r->ctx, NULL, "%s", p->executable.remarks);
  if (ok && r->options->spill_warning && target.backend == TARGET_ROCM) warn_of_spills(r, p);
  text_finish(&error);
  return ok;
}

// Kernels read no bitcode, so a wrong folder changes nothing here; it does elsewhere.
static void check_bitcode_folder(run_t* r) {
  const char* folder = r->options->bitcode_folder;
  if (!folder) return;
  uint32_t files = 0;
  DIR* entries = opendir(folder);
  for (struct dirent* entry; entries && (entry = readdir(entries));) files += entry->d_name[0] != '.';
  if (!entries) {
    ir_warning(r->ctx, NULL, "the bitcode directory '%s' can't be read (%s); no kernel needs it", folder,
               strerror(errno));
  } else if (!files) {
    ir_warning(r->ctx, NULL, "the bitcode directory '%s' is empty; no kernel needs it", folder);
  }
  if (entries) closedir(entries);
}

static bool stage_target(run_t* r) {
  check_bitcode_folder(r);
  for (uint32_t i = 0; i < r->program_count; ++i) {
    if (!compile_program(r, i)) return false;
  }
  return true;
}

static const stage_t stages[] = {
    {COMPILER_PHASE_START, COMPILER_PHASE_START, "reading", stage_read, 0},
    {COMPILER_PHASE_INPUT, COMPILER_PHASE_PREPROCESSING, "importing", stage_lower, 4},
    {COMPILER_PHASE_GLOBAL_OPTIMIZATION, COMPILER_PHASE_GLOBAL_OPTIMIZATION, "optimizing", stage_optimize, 12},
    {COMPILER_PHASE_DISPATCH_CREATION, COMPILER_PHASE_FLOW, "forming dispatches", stage_dispatches, 26},
    {COMPILER_PHASE_STREAM, COMPILER_PHASE_STREAM, "assigning layouts", stage_layout, 30},
    {COMPILER_PHASE_EXECUTABLE_SOURCES, COMPILER_PHASE_EXECUTABLE_CONFIGURATIONS, "building kernels", stage_kernels,
     36},
    {COMPILER_PHASE_EXECUTABLE_TARGETS, COMPILER_PHASE_VM, "generating code", stage_target, 50},
};

// What a program may hold that has been through the stages up to the one that forms dispatches, or those behind it.
static bool check_resumed(run_t* r, const ir_op_t* op) {
  const char* phase = compiler_phase_name(r->options->start_from);
  for (uint32_t i = 0; i < op->region_count; ++i) {
    IR_FOR_BLOCKS(block, &op->regions[i]) {
      IR_FOR_OPS(inner, block) {
        if (lower_is_executable(inner)) continue;
        if (ir_op_dialect(inner) != IR_DIALECT_GRAPH && ir_op_dialect(inner) != IR_DIALECT_FUNC) {
          return ir_op_error(r->ctx, inner, "has not been through the phase '%s', as --compile-from says", phase);
        }
        bool formed = r->options->start_from >= COMPILER_PHASE_DISPATCH_CREATION;
        if (formed && fusion_class(inner) != FUSION_HOST && fusion_class(inner) != FUSION_CONSTANT) {
          return ir_op_error(r->ctx, inner, "is in no dispatch, so this is not what is there after the phase '%s'",
                             phase);
        }
        if (!ir_is(inner, GRAPH_DISPATCH) && !check_resumed(r, inner)) return false;
      }
    }
  }
  return true;
}

// The stage's work was done before the program was written down.
static bool skip_stage(run_t* r, const stage_t* stage) {
  if (stage->run == stage_lower) {
    if (r->options->fences && r->options->start_from < COMPILER_PHASE_ABI) set_execution_model(r);
    return check_resumed(r, r->module);
  }
  r->programs[0].module = r->module;
  r->program_count = 1;
  return true;
}

// The one executable that the module is.
static bool compile_executable(run_t* r, ir_op_t* executable) {
  program_t* p = &r->programs[0];
  p->module = p->kernels.module = r->module;
  r->program_count = 1;
  if (executable->next || executable != ir_module_body(r->module)->first) {
    return ir_op_error(r->ctx, executable, "is beside another op; --compile-mode=hal-executable takes one alone");
  }
  const compiler_options_t* o = r->options;
  return externs_compile(r->ctx, &o->externs, &o->targets[0], executable, &p->executable) && run_output(r);
}

// --compile-mode=hal-executable: kernels as --compile-to=executable-sources has them, or an executable whose functions
// are some, become machine code.
static bool compile_kernels(run_t* r) {
  program_t* p = &r->programs[0];
  uint32_t capacity = 0;
  IR_FOR_OPS(op, ir_module_body(r->module)) {
    if (lower_is_executable(op)) return compile_executable(r, op);
  }
  IR_FOR_OPS(op, ir_module_body(r->module))++ capacity;
  p->module = p->kernels.module = r->module;
  p->kernels.funcs = ARENA_ARRAY(ir_context_arena(r->ctx), ir_op_t*, capacity + 1);
  r->program_count = 1;
  IR_FOR_OPS(op, ir_module_body(r->module)) {
    if (!ir_is(op, KERNEL_FUNC)) {
      return ir_op_error(r->ctx, op,
                         "is no kernel.func; --compile-mode=hal-executable takes kernels, as "
                         "--compile-to=executable-sources prints them, or one hal.executable.source");
    }
    p->kernels.funcs[p->kernels.count++] = op;
  }
  return stage_target(r) && run_output(r);
}

static bool compile_vm(run_t* r) {
  r->module = vm_find_module(r->ctx, r->module);
  return r->module && run_output(r);
}

static bool run_stages(run_t* r) {
  uint32_t count = sizeof(stages) / sizeof(stages[0]);
  // Kernels are built again of what is printed behind it.
  compiler_phase_t from =
      r->options->start_from < COMPILER_PHASE_STREAM ? r->options->start_from : COMPILER_PHASE_STREAM;
  for (uint32_t i = 0; i < count; ++i) {
    const stage_t* stage = &stages[i];
    if (i && stage->first <= from) {
      if (!skip_stage(r, stage)) return false;
      continue;
    }
    progress(r, stage->name, stage->share);
    trace_span_t span = trace_begin(stage->name);
    bool ok = stage->run(r);
    trace_end(&span);
    if (!ok) return false;
    if (r->options->read_only) return true;
    if (r->options->kernels_only) return compile_kernels(r);
    if (r->options->vm_only) return compile_vm(r);
    ir_op_t* shown = r->module;
    if (stage->run == stage_kernels) shown = r->programs[0].kernels.module;
    for (compiler_phase_t phase = stage->first; phase <= stage->last; ++phase) {
      bool stop;
      if (!end_phase(r, phase, shown, &stop)) return false;
      if (stop) return true;
    }
  }
  const compiler_options_t* o = r->options;
  const program_t* first = &r->programs[0];
  if (o->observe && !o->observe(o->observe_user, r->ctx, r->module, &first->kernels, &first->executable)) return false;
  progress(r, "writing", 96);
  TRACE_SCOPE("writing");
  return parameters_write(r) && run_output(r);
}

//===----------------------------------------------------------------------------------------------------------------===
// A run, in a memory scope of its own
//===----------------------------------------------------------------------------------------------------------------===

static void run(void* user) {
  run_t* r = user;
  r->ctx = ir_context_create();
  ir_context_set_diagnostics(r->ctx, r->options->diagnostic, r->options->diagnostic_user);
  dialects_register_all(r->ctx);
  ir_context_limit_text(r->ctx, r->options->hex_above, r->options->resource_above);
  r->ok = source_open(r->ctx, r->path, r->text, r->size, &r->source) && run_stages(r);
  if (r->options->timing && r->options->pass_times) r->options->pass_times(r->options->progress_user, &r->report);
}

// Where there may be no memory for a message.
static void report_exhausted(const run_t* r, size_t wanted) {
  char text[256], rendered[sizeof(text) + 16];
  snprintf(text, sizeof(text), "out of memory while %s '%s': %zu bytes more were needed", r->stage, r->path, wanted);
  snprintf(rendered, sizeof(rendered), "error: %s", text);
  if (r->options->diagnostic) {
    r->options->diagnostic(r->options->diagnostic_user, IR_ERROR, NULL, text, rendered);
  } else {
    fprintf(stderr, "%s\n", rendered);
  }
}

bool compiler_run(const compiler_options_t* options, const char* path, const char* text, size_t size,
                  compiler_output_t* output) {
  run_t r = {.options = options, .output = output, .path = path, .text = text, .size = size, .stage = "opening"};
  memory_scope_t scope;
  if (memory_scope_run(&scope, run, &r)) {
    memory_scope_drop(&scope);
    return r.ok;
  }
  report_exhausted(&r, scope.wanted);
  return false;
}
