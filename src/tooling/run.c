// See run.h: inputs by flags.

#include "tooling/run.h"

#include "iree/base/tooling/flags.h"
#include "iree/tooling/instrument_util.h"
#include "iree/tooling/run_module.h"
#include "tooling/capture.h"
#include "tooling/devices.h"
#include "tooling/profiling.h"
#include "tooling/results.h"

static iree_flag_string_list_storage_t input_flags;
IREE_FLAG_CALLBACK(iree_flag_string_list_parse, iree_flag_string_list_print, &input_flags, input,
                   "An argument, in order:\n"
                   "  5 or 3.14                     a value\n"
                   "  2x3xf32=1 2 3 4 5 6           a tensor; one value fills it, none is zeros\n"
                   "  4xf32=@file.bin               a tensor from a binary file; `+file.bin` reads on where the last\n"
                   "                                read of the file ended\n"
                   "  @file.npy                     the first array of a NumPy file; `+file.npy`: the next one;\n"
                   "                                `*file.npy`: all that are left, as several arguments\n"
                   "  @file.txt                     a file with one of these a line\n"
                   "  &4xf32=...                    storage without a shape (`!hal.buffer`)\n"
                   "  (null) or (ignored)           nothing")
IREE_FLAG_CALLBACK(iree_flag_string_list_parse, iree_flag_string_list_print, &input_flags, function_input,
                   "Older spelling of --input.")
IREE_FLAG_CALLBACK(iree_flag_string_list_parse, iree_flag_string_list_print, &input_flags, function_inputs,
                   "Older spelling of --input.")

IREE_FLAG(bool, print_statistics, false, "Prints what the devices allocated, to stderr, at the end.")

static iree_status_t run_call(const tooling_context_t* context, const tooling_call_t* call, int* out_exit_code) {
  iree_string_view_t name = iree_vm_function_name(&call->function);
  if (!context->is_quiet) fprintf(stdout, "EXEC @%.*s\n", (int)name.size, name.data);
  fflush(stdout);
  iree_vm_list_t* outputs = NULL;
  tooling_profiling_t* profiling = NULL;
  IREE_RETURN_IF_ERROR(iree_vm_list_create(iree_vm_make_undefined_type_def(), 8, context->allocator, &outputs));
  iree_status_t status = tooling_profiling_begin(context->group, context->allocator, &profiling);
  if (iree_status_is_ok(status)) status = tooling_call_invoke(context, call, outputs);
  status = iree_status_join(status, tooling_profiling_end(profiling));
  if (iree_status_is_ok(status)) {
    status = tooling_results_process(context, call, outputs, out_exit_code);
    if (!iree_status_is_ok(status)) status = iree_status_annotate_f(status, "processing function outputs");
  }
  iree_vm_list_release(outputs);
  return status;
}

static iree_status_t run_function(const tooling_context_t* context, iree_vm_function_t function, int* out_exit_code) {
  tooling_call_t call;
  iree_string_view_list_t inputs = {input_flags.count, input_flags.values};
  IREE_RETURN_IF_ERROR(tooling_capture_mark(context->recorder, /*begins=*/true, "execute"));
  iree_status_t status = tooling_call_prepare(context, function, inputs, &call);
  if (iree_status_is_ok(status)) status = run_call(context, &call, out_exit_code);
  tooling_call_finish(&call);
  if (iree_status_is_ok(status)) status = tooling_capture_mark(context->recorder, /*begins=*/false, "execute");
  return tooling_status_annotate(function, status);
}

static iree_status_t run(const tooling_context_options_t* options, iree_allocator_t allocator, int* out_exit_code) {
  tooling_context_t context;
  iree_vm_function_t function = {0};
  IREE_RETURN_IF_ERROR(tooling_profiling_check());
  iree_status_t status = tooling_context_create(allocator, options, &context);
  if (iree_status_is_ok(status)) status = tooling_context_find_function(&context, &function);
  if (iree_status_is_ok(status)) {
    status = run_function(&context, function, out_exit_code);
    if (iree_status_is_ok(status)) status = iree_tooling_process_instrument_data(context.context, allocator);
    if (iree_status_is_ok(status) && FLAG_print_statistics && context.group) {
      status = tooling_devices_print_statistics(context.group, stderr);
    }
  } else {
    status = iree_status_annotate_f(status, "creating run context");
  }
  return iree_status_join(status, tooling_context_destroy(&context));
}

iree_status_t tooling_run(const tooling_context_options_t* options, int* out_exit_code) {
  return run(options, iree_allocator_system(), out_exit_code);
}

iree_status_t iree_tooling_run_module_from_flags(iree_vm_instance_t* instance, iree_allocator_t host_allocator,
                                                 int* out_exit_code) {
  tooling_context_options_t options = {.instance = instance};
  *out_exit_code = EXIT_SUCCESS;
  return run(&options, host_allocator, out_exit_code);
}

iree_status_t iree_tooling_run_module_with_data(iree_vm_instance_t* instance, iree_string_view_t default_device_uri,
                                                iree_const_byte_span_t module_contents, iree_allocator_t host_allocator,
                                                int* out_exit_code) {
  tooling_context_options_t options = {
      .instance = instance, .default_device_uri = default_device_uri, .data = module_contents};
  *out_exit_code = EXIT_SUCCESS;
  return run(&options, host_allocator, out_exit_code);
}

int tooling_run_finish(iree_status_t status, int exit_code) {
  if ((fflush(stdout) != 0 || ferror(stdout)) && iree_status_is_ok(status)) {
    status = iree_make_status(IREE_STATUS_DATA_LOSS, "cannot write to standard output");
  }
  if (!iree_status_is_ok(status)) {
    iree_status_fprint(stderr, status);
    iree_status_free(status);
    exit_code = EXIT_FAILURE;
  }
  fflush(stderr);
  return exit_code;
}
