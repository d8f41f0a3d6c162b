// See const_eval.h. What is known but no constant yet moves into a function of its own, which goes through the pipeline
// like any other and is run in this process:
//
//   %0 = graph.cast %w : i8 -> f32                 func @constants() { %0 = graph.cast %w; %2 = graph.mul %0, %1
//   %1 = graph.broadcast %scale             =>                         return %2 }
//   %2 = graph.mul %0, %1
//   %3 = graph.conv %x, %2                         %3 = graph.conv %x, dense<...>
//
// What functions compute alike (weights that prefill and decode share) is computed and stored once.
//
// Canonicalization folds what is small, one op at a time; here whole chains are computed in one sweep over memory.
#include "compiler/const_eval.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compiler/execute.h"
#include "compiler/kernels.h"
#include "compiler/known.h"
#include "dialects/func.h"
#include "dialects/graph.h"
#include "kernels/layout.h"
#include "passes/passes.h"
#include "target/vmvx/interpret.h"

enum { SMALL_ELEMENTS = 4096, MAX_BINDINGS = 64 };

//===----------------------------------------------------------------------------------------------------------------===
// A program that computes them
//===----------------------------------------------------------------------------------------------------------------===

typedef struct program_t {
  ir_context_t* ctx;
  const const_eval_options_t* options;
  target_t target;
  ir_op_t* module;
  ir_block_t* body;
  uint32_t* numbers;        // of each value that is wanted, in order: which result it is
  const ir_attr_t** taken;  // of each result, once it has been taken
  kernel_list_t kernels;
  target_executable_t executable;
  execute_code_t* code;  // NULL: kernels are interpreted
} program_t;

static void build_program(program_t* p, const known_ops_t* roots) {
  ir_value_map_t* map = ir_value_map_create(p->ctx);
  uint32_t count = 0, next = 0;
  for (uint32_t i = 0; i < roots->count; ++i) count += roots->items[i]->result_count;
  ir_value_t** values = ARENA_ARRAY(ir_context_arena(p->ctx), ir_value_t*, count);
  const ir_type_t** types = ARENA_ARRAY(ir_context_arena(p->ctx), const ir_type_t*, count);
  p->module = ir_module_create(p->ctx, ir_loc_unknown(p->ctx));
  for (uint32_t i = 0; i < roots->count; ++i) {
    for (uint32_t r = 0; r < roots->items[i]->result_count; ++r) types[next++] = roots->items[i]->results[r].type;
  }
  const ir_type_t* type = ir_type_function(p->ctx, NULL, 0, types, count);
  p->body = ir_func_create(p->ctx, ir_module_body(p->module), NULL, "constants", type)->regions[0].first;
  for (uint32_t i = 0, at = 0; i < roots->count; ++i) {
    known_copy(p->ctx, p->body, map, roots->items[i]);
    for (uint32_t r = 0; r < roots->items[i]->result_count; ++r)
      values[at++] = ir_value_map_get(map, &roots->items[i]->results[r]);
  }
  ir_builder_t b = ir_builder_at_end(p->ctx, p->body);
  ir_build(&b,
           &(ir_op_state_t){.info = ir_context_op(p->ctx, FUNC_RETURN), .operands = values, .operand_count = count});
}

// Each result once.
static void share_results(program_t* p) {
  pass_cse(p->module, p->ctx);
  ir_op_t* end = p->body->last;
  arena_t* arena = ir_context_arena(p->ctx);
  p->numbers = ARENA_ARRAY(arena, uint32_t, end->operand_count + 1);
  p->taken = ARENA_ARRAY(arena, const ir_attr_t*, end->operand_count + 1);
  ir_value_t** values = ARENA_ARRAY(arena, ir_value_t*, end->operand_count + 1);
  const ir_type_t** types = ARENA_ARRAY(arena, const ir_type_t*, end->operand_count + 1);
  uint32_t count = 0;
  for (uint32_t i = 0; i < end->operand_count; ++i) ir_operand(end, i)->data = NULL;
  for (uint32_t i = 0; i < end->operand_count; ++i) {
    ir_value_t* value = ir_operand(end, i);
    if (!value->data) {
      types[count] = value->type;
      values[count] = value;
      value->data = &p->numbers[i];
      p->taken[count] = NULL;
      p->numbers[i] = count++;
    }
    p->numbers[i] = *(uint32_t*)value->data;
  }
  for (uint32_t i = 0; i < count; ++i) values[i]->data = NULL;
  ir_op_set_operands(p->ctx, end, values, count);
  const ir_type_t* type = ir_type_function(p->ctx, NULL, 0, types, count);
  ir_op_set_attr(p->ctx, ir_op_parent(end), "function_type", ir_attr_type(p->ctx, type));
}

// The target itself where this machine can run it, so that results are the same to the bit; else what it can run.
static bool choose_target(program_t* p) {
  text_t error = {0};
  const target_t* wanted = p->options->target;
  bool ok = true;
  if (wanted && target_runs_here(wanted)) {
    p->target = *wanted;
  } else {
    ok = target_resolve(&(target_options_t){.backend = "llvm-cpu"}, &p->target, &error) && target_runs_here(&p->target);
    if (!ok) ok = target_resolve(&(target_options_t){.backend = "vmvx"}, &p->target, &error);
  }
  text_finish(&error);
  return ok;
}

static bool compile_program(program_t* p) {
  text_t error = {0};
  pass_cse(p->module, p->ctx);
  if (!choose_target(p) || pass_form_dispatches(p->module, p->ctx) == PASS_FAILED) return false;
  bool ok = layout_assign(p->ctx, p->module, &p->target.device) &&
            kernels_assign(p->ctx, p->module, &p->target.device, &p->kernels);
  IR_FOR_OPS(op, p->body) {
    ok &= known_is_constant(NULL, op) || op == p->body->last ||
          (ir_is(op, GRAPH_DISPATCH) && op->operand_count + op->result_count <= MAX_BINDINGS);
  }
  if (ok && p->target.backend == TARGET_LLVM_CPU) {
    target_compile_options_t options = {.context = p->ctx, .name = "constants", .threads = p->options->threads};
    ok = target_compile(&p->target, p->kernels.funcs, p->kernels.count, &options, &p->executable, &error);
    if (ok) p->code = execute_open(&p->executable);
  }
  text_finish(&error);
  return ok;
}

//===----------------------------------------------------------------------------------------------------------------===
// Running it
//===----------------------------------------------------------------------------------------------------------------===

// A value's memory; at ir_value_t.data.
typedef struct memory_t {
  unsigned char* data;
  size_t size;
  bool is_borrowed;
  memory_cleanup_t cleanup;
} memory_t;

static memory_t* memory_new(program_t* p, ir_value_t* value) {
  memory_t* m = ARENA_NEW(ir_context_arena(p->ctx), memory_t);
  *m = (memory_t){.size = (size_t)ir_type_count(value->type) * ir_type_bytes(value->type->element)};
  value->data = m;
  return m;
}

static void memory_allocate(memory_t* m) {
  enum { ALIGNMENT = 64 };
  m->data = aligned_alloc(ALIGNMENT, (m->size + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  if (!m->data) memory_exhausted(m->size);
  memory_cleanup_add(&m->cleanup, free, m->data);
}

// Constants are read where they are; what is made when it is asked for is made for the time it is needed.
static memory_t* memory_of(program_t* p, ir_value_t* value) {
  if (value->data) return value->data;
  memory_t* m = memory_new(p, value);
  const ir_attr_t* attr = graph_get_value(value->def);
  if (!attr->lazy && !attr->splat && (uintptr_t)attr->stored % 64 == 0) {
    *m = (memory_t){.data = (unsigned char*)(uintptr_t)attr->stored, .size = m->size, .is_borrowed = true};
    return m;
  }
  memory_allocate(m);
  if (!attr->splat) ir_attr_read(attr, 0, attr->size, m->data);
  for (size_t at = 0; attr->splat && at + attr->size <= m->size; at += attr->size)
    memcpy(m->data + at, ir_attr_data(attr), attr->size);
  return m;
}

static void memory_release(ir_value_t* value) {
  memory_t* m = value->data;
  if (m && !m->is_borrowed) {
    memory_cleanup_remove(&m->cleanup);
    free(m->data);
  }
  value->data = NULL;
}

static bool is_used_after(const ir_value_t* value, const ir_op_t* op) {
  IR_FOR_USES(use, value) {
    if (use->owner != op && ir_op_is_before(op, use->owner)) return true;
  }
  return false;
}

static void on_fault(void* user, const kernel_report_t* report) {
  (void)user, (void)report;  // the run ends without a result
}

static bool interpret(program_t* p, const execute_call_t* call, uint32_t result_first) {
  kernel_binding_t bindings[MAX_BINDINGS];
  text_t error = {0};
  for (uint32_t i = 0; i < call->binding_count; ++i)
    bindings[i] = (kernel_binding_t){call->bindings[i], call->lengths[i], i >= result_first};
  kernel_launch_t launch = {.bindings = bindings, .binding_count = call->binding_count};
  memcpy(launch.workgroup_count, call->workgroups, sizeof(launch.workgroup_count));
  kernel_check_t check = {.report = on_fault, .max_steps = UINT64_MAX};
  bool ok = kernel_interpret(p->kernels.funcs[call->entry], &launch, &check, &error);
  text_finish(&error);
  return ok;
}

static bool run_dispatch(program_t* p, ir_op_t* op) {
  enum { WORTH_THREADS = 1 << 18 };
  void* bindings[MAX_BINDINGS];
  size_t lengths[MAX_BINDINGS], total = 0;
  int64_t workgroups[3] = {1, 1, 1};
  uint32_t count = op->operand_count + op->result_count;
  for (uint32_t i = 0; i < count; ++i) {
    bool result = i >= op->operand_count;
    ir_value_t* value = result ? ir_result(op, i - op->operand_count) : ir_operand(op, i);
    memory_t* m = result ? memory_new(p, value) : memory_of(p, value);
    if (result) memory_allocate(m);
    bindings[i] = m->data;
    total += lengths[i] = m->size;
  }
  ir_attr_ints(graph_attr(op, GRAPH_ATTR_workgroups), workgroups, 3);
  execute_call_t call = {.entry = (uint32_t)graph_get_entry(op),
                         .bindings = bindings,
                         .lengths = lengths,
                         .binding_count = count,
                         .threads = total > WORTH_THREADS ? p->options->threads : 1};
  for (int i = 0; i < 3; ++i) call.workgroups[i] = (uint32_t)workgroups[i];
  bool ok = p->code ? execute_run(p->code, &call) : interpret(p, &call, op->operand_count);
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (!is_used_after(ir_operand(op, i), op)) memory_release(ir_operand(op, i));
  }
  return ok;
}

// Element data in memory that goes with the context.
static void read_kept(const ir_lazy_t* lazy, size_t offset, size_t size, unsigned char* out) {
  memcpy(out, (const unsigned char*)lazy->whole + offset, size);
}

static const ir_attr_t* take_elements(program_t* p, ir_value_t* value) {
  memory_t* m = value->data;
  const ir_attr_t* attr;
  if (ir_type_count(value->type) <= SMALL_ELEMENTS) {
    attr = ir_attr_elements(p->ctx, value->type, m->data, m->size);
    memory_release(value);
    return attr;
  }
  ir_lazy_t* lazy = ARENA_NEW(ir_context_arena(p->ctx), ir_lazy_t);
  *lazy = (ir_lazy_t){.read = read_kept, .size = m->size, .unit = 1, .whole = m->data};
  value->data = NULL;
  memory_cleanup_remove(&m->cleanup);  // it is the context's, who frees it
  return ir_attr_lazy(p->ctx, value->type, NULL, lazy);
}

static void replace_root(program_t* p, ir_op_t* root, uint32_t* next) {
  ir_builder_t b = ir_builder_before(p->ctx, root);
  for (uint32_t r = 0; r < root->result_count; ++r) {
    uint32_t number = p->numbers[(*next)++];
    if (!p->taken[number]) p->taken[number] = take_elements(p, ir_operand(p->body->last, number));
    ir_value_replace(ir_result(root, r), graph_constant(&b, p->taken[number]));
  }
}

static bool run_program(program_t* p) {
  IR_FOR_OPS(op, p->body) {
    for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].data = NULL;
  }
  IR_FOR_OPS(op, p->body) {
    if (ir_is(op, GRAPH_DISPATCH) && !run_dispatch(p, op)) return false;
  }
  return true;
}

static void release_all(program_t* p) {
  IR_FOR_OPS(op, p->body) {
    for (uint32_t i = 0; i < op->result_count; ++i) memory_release(ir_result(op, i));
  }
  execute_close(p->code);
  target_executable_finish(&p->executable);
}

static bool compute_roots(ir_context_t* ctx, const known_ops_t* roots, const const_eval_options_t* options) {
  program_t p = {.ctx = ctx, .options = options};
  build_program(&p, roots);
  share_results(&p);
  ir_context_mute(ctx, true);  // what cannot be computed here is left as it is
  bool ok = compile_program(&p) && run_program(&p);
  ir_context_mute(ctx, false);
  for (uint32_t i = 0, next = 0; ok && i < roots->count; ++i) replace_root(&p, roots->items[i], &next);
  release_all(&p);
  return ok;
}

bool const_eval_module(ir_context_t* ctx, ir_op_t* module, const const_eval_options_t* options) {
  known_ops_t roots = known_find_roots(ctx, module, &(known_leaves_t){.are = known_is_constant});
  bool changed = roots.count && compute_roots(ctx, &roots, options);
  known_ops_finish(&roots);
  return changed;
}
