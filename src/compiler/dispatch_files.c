// See dispatch_files.h. A benchmark is the dispatch in a function of its own:
//
//   func.func @main_dispatch_0(%arg0: tensor<64x64xf32>) -> tensor<64xf32> {
//     %0 = "graph.dispatch"(%arg0) <{sym_name = "main_dispatch_0"}> ({ ... }) : (tensor<64x64xf32>) -> tensor<64xf32>
//     return %0 : tensor<64xf32>
//   }
//
// and one without arguments, which iree-benchmark-module finds by itself. The module names the target.
#include "compiler/dispatch_files.h"

#include <string.h>

#include "compiler/benchmark_funcs.h"
#include "compiler/named_targets.h"
#include "dialects/func.h"
#include "dialects/graph.h"
#include "target/backend.h"

static ir_op_t* make_program(ir_context_t* ctx, const ir_op_t* dispatch, const char* name) {
  ir_op_t* program = ir_module_create(ctx, dispatch->loc);
  const ir_type_t** types =
      ARENA_ARRAY(ir_context_arena(ctx), const ir_type_t*, dispatch->operand_count + dispatch->result_count + 1);
  const ir_type_t** results = types + dispatch->operand_count;
  for (uint32_t i = 0; i < dispatch->operand_count; ++i) types[i] = ir_operand(dispatch, i)->type;
  for (uint32_t i = 0; i < dispatch->result_count; ++i) results[i] = dispatch->results[i].type;
  const ir_type_t* type = ir_type_function(ctx, types, dispatch->operand_count, results, dispatch->result_count);
  ir_op_t* func = ir_func_create(ctx, ir_module_body(program), dispatch->loc, name, type);
  ir_block_t* body = func->regions[0].first;
  ir_value_map_t* map = ir_value_map_create(ctx);
  for (uint32_t i = 0; i < dispatch->operand_count; ++i) ir_value_map_set(map, ir_operand(dispatch, i), body->args[i]);
  ir_op_t* copy = ir_op_clone(ctx, dispatch, map);
  ir_op_remove_attr(copy, "entry");
  ir_op_remove_attr(copy, "workgroups");
  ir_op_remove_attr(copy, "strategy");
  ir_op_remove_attr(copy, "cycles");
  ir_op_remove_attr(copy, "slow");
  ir_block_append(body, copy);
  ir_builder_t b = ir_builder_at_end(ctx, body);
  ir_value_t** values = ARENA_ARRAY(ir_context_arena(ctx), ir_value_t*, copy->result_count + 1);
  for (uint32_t i = 0; i < copy->result_count; ++i) values[i] = ir_result(copy, i);
  ir_build(&b, &(ir_op_state_t){
                   .info = ir_context_op(ctx, FUNC_RETURN), .operands = values, .operand_count = copy->result_count});
  return program;
}

// How to run it, as a comment.
static void put_command(text_t* text, const ir_op_t* dispatch, const char* name) {
  text_printf(text, "// iree-benchmark-module --module=MODULE --function=%s", name);
  for (uint32_t i = 0; i < dispatch->operand_count; ++i) {
    const ir_type_t* type = ir_operand(dispatch, i)->type;
    text_puts(text, " --input=");
    for (int32_t d = 0; d < type->rank; ++d) text_printf(text, "%lldx", (long long)type->dims[d]);
    ir_print_type(text, ir_type_scalar(type));
  }
  text_puts(text, "\n");
}

static bool write_benchmark(ir_op_t* module, const ir_op_t* kernel, uint32_t entry, const target_t* target,
                            const target_compile_options_t* options, text_t* error) {
  const ir_op_t* dispatch = benchmark_find_dispatch(module, entry);
  const char* name = ir_op_string(kernel, "sym_name", "kernel");
  if (!dispatch || !benchmark_is_static(dispatch)) return true;
  text_t text = {0};
  put_command(&text, dispatch, name);
  ir_op_t* program = make_program(options->context, dispatch, name);
  benchmark_funcs_add(options->context, &program, 1);
  named_targets_write(options->context, program, target, 1);
  ir_print_op(options->context, &text, program, 0, 0);
  text_puts(&text, "\n");
  bool ok = dump_write(options->dump.benchmarks, target, name, "_benchmark.mlir", text.data, text.size, error);
  text_finish(&text);
  return ok;
}

static bool write_alone(ir_op_t* kernel, const target_t* target, target_compile_options_t options, text_t* error) {
  options.name = ir_op_string(kernel, "sym_name", "kernel");
  target_executable_t executable = {0};
  bool ok = target_compile(target, &kernel, 1, &options, &executable, error);
  target_executable_finish(&executable);
  return ok;
}

bool dispatch_files_write(ir_op_t* module, const kernel_list_t* kernels, const target_t* target,
                          target_compile_options_t* options, text_t* error) {
  const target_dump_t* dump = &options->dump;
  bool ok = true;
  for (uint32_t i = 0; ok && dump->benchmarks && i < kernels->count; ++i) {
    ok = write_benchmark(module, kernels->funcs[i], i, target, options, error);
  }
  bool alone = target->device.kind == DEVICE_GPU &&
               (dump->sources || dump->configurations || dump->intermediates || dump->binaries);
  for (uint32_t i = 0; ok && alone && i < kernels->count; ++i) {
    ok = write_alone(kernels->funcs[i], target, *options, error);
  }
  if (alone) options->dump = (target_dump_t){0};
  return ok;
}
