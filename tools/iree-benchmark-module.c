// Measures functions of a module.

#include "iree/base/tooling/flags.h"
#include "tooling/benchmark.h"
#include "tooling/capture.h"
#include "tooling/context.h"
#include "tooling/devices.h"
#include "tooling/guides.h"
#include "tooling/profiling.h"
#include "tooling/results.h"

static iree_flag_string_list_storage_t input_flags;
IREE_FLAG_CALLBACK(iree_flag_string_list_parse, iree_flag_string_list_print, &input_flags, input,
                   "An argument of the function, in order; as of iree-run-module.")
IREE_FLAG_CALLBACK(iree_flag_string_list_parse, iree_flag_string_list_print, &input_flags, function_input,
                   "Older spelling of --input.")
IREE_FLAG_CALLBACK(iree_flag_string_list_parse, iree_flag_string_list_print, &input_flags, function_inputs,
                   "Older spelling of --input.")
IREE_FLAG(int32_t, batch_size, 1, "Calls of an asynchronous function in one iteration.")
IREE_FLAG(int32_t, batch_concurrency, 1, "Calls of a batch that may be in flight at once.")
IREE_FLAG(bool, enable_output_processing, false,
          "Keeps the results of each function's last call, and does with them what --output and --expected_output\n"
          "say: without it they say nothing.")
IREE_FLAG(bool, print_statistics, false, "Prints what the devices allocated, to stderr, at the end.")

static const char usage[] =
    "Measures functions of a compiled module.\n"
    "\n"
    "Without --function every exported function that takes no arguments is measured.\n"
    "\n"
    "Example:\n"
    "  iree-benchmark-module --device=local-task --module=model.vmfb --function=abs --input=f32=-2\n";

// A function with its inputs; outputs are those of the last call, empty when nobody wants them.
typedef struct target_t {
  const tooling_context_t* context;
  tooling_call_t call;
  iree_vm_list_t* outputs;
  bool was_called;
} target_t;

static iree_status_t call_sync(target_t* target, uint64_t iterations) {
  for (uint64_t i = 0; i < iterations; ++i) {
    iree_vm_list_clear(target->outputs);
    IREE_RETURN_IF_ERROR(tooling_call_invoke(target->context, &target->call, target->outputs));
  }
  return iree_ok_status();
}

// Calls of a batch start one after the other; at most `batch_concurrency` are in flight.
static iree_status_t call_async(target_t* target, uint64_t iterations) {
  for (uint64_t i = 0; i < iterations; ++i) {
    for (int64_t done = 0; done < FLAG_batch_size; done += FLAG_batch_concurrency) {
      uint32_t count = (uint32_t)iree_min(FLAG_batch_concurrency, FLAG_batch_size - done);
      iree_vm_list_clear(target->outputs);
      IREE_RETURN_IF_ERROR(tooling_call_invoke_many(target->context, &target->call, count, target->outputs));
    }
  }
  return iree_ok_status();
}

static iree_status_t run_timed(void* user_data, uint64_t iterations) {
  target_t* target = user_data;
  iree_hal_replay_recorder_t* recorder = target->context->recorder;
  IREE_RETURN_IF_ERROR(tooling_capture_mark(recorder, /*begins=*/true, "execute"));
  IREE_RETURN_IF_ERROR(target->call.is_async ? call_async(target, iterations) : call_sync(target, iterations));
  target->was_called = iterations > 0;
  if (!FLAG_enable_output_processing) iree_vm_list_clear(target->outputs);
  return tooling_capture_mark(recorder, /*begins=*/false, "execute");
}

//===----------------------------------------------------------------------------------------------------------------===
// Which functions
//===----------------------------------------------------------------------------------------------------------------===

typedef struct suite_t {
  tooling_context_t context;
  uint32_t count, capacity;
  benchmark_t* benchmarks;
  target_t* targets;
} suite_t;

static iree_status_t add_function(suite_t* suite, iree_vm_function_t function) {
  target_t* target = &suite->targets[suite->count];
  benchmark_t* benchmark = &suite->benchmarks[suite->count++];
  target->context = &suite->context;
  iree_string_view_list_t inputs = {input_flags.count, input_flags.values};
  IREE_RETURN_IF_ERROR(tooling_call_prepare(&suite->context, function, inputs, &target->call));
  IREE_RETURN_IF_ERROR(
      iree_vm_list_create(iree_vm_make_undefined_type_def(), 8, suite->context.allocator, &target->outputs));
  iree_string_view_t name = iree_vm_function_name(&function);
  size_t size = name.size + 64;
  benchmark->name = malloc(size);
  if (!benchmark->name) return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED);
  snprintf(benchmark->name, size, "BM_%.*s/process_time/real_time", (int)name.size, name.data);
  benchmark->fn = run_timed;
  benchmark->user_data = target;
  benchmark->items_per_iteration = target->call.is_async ? (uint64_t)FLAG_batch_size : 1;
  return iree_ok_status();
}

static bool takes_nothing(iree_vm_function_t function) {
  iree_vm_function_signature_t signature = iree_vm_function_signature(&function);
  iree_string_view_t arguments, results;
  if (iree_status_consume_code(iree_vm_function_call_get_cconv_fragments(&signature, &arguments, &results))) {
    return false;
  }
  iree_string_view_t model = iree_vm_function_lookup_attr_by_name(&function, IREE_SV("iree.abi.model"));
  bool is_async = iree_string_view_equal(model, IREE_SV("coarse-fences"));
  return arguments.size == (is_async ? 2u : 0u);
}

// Every export without arguments.
static iree_status_t add_all_functions(suite_t* suite) {
  iree_host_size_t count = iree_vm_module_signature(suite->context.main).export_function_count;
  for (iree_host_size_t i = 0; i < count; ++i) {
    iree_vm_function_t function;
    IREE_RETURN_IF_ERROR(
        iree_vm_module_lookup_function_by_ordinal(suite->context.main, IREE_VM_FUNCTION_LINKAGE_EXPORT, i, &function));
    iree_string_view_t name = iree_vm_function_name(&function);
    if (iree_string_view_starts_with(name, IREE_SV("__")) || !takes_nothing(function)) continue;
    IREE_RETURN_IF_ERROR(add_function(suite, function));
  }
  return iree_ok_status();
}

static iree_status_t add_functions(suite_t* suite) {
  suite->capacity = (uint32_t)iree_vm_module_signature(suite->context.main).export_function_count + 1;
  suite->benchmarks = calloc(suite->capacity, sizeof(*suite->benchmarks));
  suite->targets = calloc(suite->capacity, sizeof(*suite->targets));
  if (!suite->benchmarks || !suite->targets) return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED);
  // Inputs are for one function.
  if (!tooling_function_is_named() && !input_flags.count) return add_all_functions(suite);
  iree_vm_function_t function;
  IREE_RETURN_IF_ERROR(tooling_context_find_function(&suite->context, &function));
  return tooling_status_annotate(function, add_function(suite, function));
}

static iree_status_t finish(suite_t* suite) {
  for (uint32_t i = 0; i < suite->count; ++i) {
    free(suite->benchmarks[i].name);
    tooling_call_finish(&suite->targets[i].call);
    iree_vm_list_release(suite->targets[i].outputs);
  }
  free(suite->benchmarks);
  free(suite->targets);
  return tooling_context_destroy(&suite->context);
}

// Of calls that were in flight together, those of the last one count.
static iree_status_t keep_last(target_t* target) {
  iree_host_size_t count = target->call.result_letters.size, all = iree_vm_list_size(target->outputs);
  for (iree_host_size_t i = 0; all > count && i < count; ++i) {
    iree_vm_variant_t value = iree_vm_variant_empty();
    IREE_RETURN_IF_ERROR(iree_vm_list_get_variant_move(target->outputs, all - count + i, &value));
    IREE_RETURN_IF_ERROR(iree_vm_list_set_variant_move(target->outputs, i, &value));
  }
  return all > count ? iree_vm_list_resize(target->outputs, count) : iree_ok_status();
}

// Of those functions that --benchmark_filter= leaves.
static iree_status_t process_results(const suite_t* suite, int* out_exit_code) {
  iree_status_t status = iree_ok_status();
  for (uint32_t i = 0; i < suite->count && iree_status_is_ok(status); ++i) {
    target_t* target = &suite->targets[i];
    int exit_code = EXIT_SUCCESS;
    if (!target->was_called) continue;
    status = keep_last(target);
    if (iree_status_is_ok(status)) {
      status = tooling_results_process(target->context, &target->call, target->outputs, &exit_code);
    }
    if (exit_code) *out_exit_code = exit_code;
    status = tooling_status_annotate(target->call.function, status);
  }
  return status;
}

static iree_status_t run(int* out_exit_code) {
  if (FLAG_batch_size < 1 || FLAG_batch_concurrency < 1) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--batch_size= and --batch_concurrency= are at least 1");
  }
  suite_t suite = {.count = 0};
  tooling_profiling_t* profiling = NULL;
  IREE_RETURN_IF_ERROR(tooling_profiling_check());
  iree_status_t status = tooling_context_create(iree_allocator_system(), NULL, &suite.context);
  if (iree_status_is_ok(status)) status = add_functions(&suite);
  if (iree_status_is_ok(status)) {
    status = tooling_profiling_begin(suite.context.group, suite.context.allocator, &profiling);
  }
  if (iree_status_is_ok(status)) status = benchmark_run_all(suite.count, suite.benchmarks);
  status = iree_status_join(status, tooling_profiling_end(profiling));
  if (iree_status_is_ok(status) && FLAG_enable_output_processing) status = process_results(&suite, out_exit_code);
  if (iree_status_is_ok(status) && FLAG_print_statistics && suite.context.group) {
    status = tooling_devices_print_statistics(suite.context.group, stderr);
  }
  return iree_status_join(status, finish(&suite));
}

int main(int argc, char** argv) {
  iree_flags_set_usage("iree-benchmark-module", usage);
  flags_set_guide(guide_modules_md);
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  iree_status_t status = tooling_refuse_arguments(argc, argv);
  int exit_code = EXIT_SUCCESS;
  if (iree_status_is_ok(status)) status = run(&exit_code);
  if (iree_status_is_ok(status)) return exit_code;
  iree_status_fprint(stderr, status);
  iree_status_free(status);
  return EXIT_FAILURE;
}
