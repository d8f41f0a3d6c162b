// Contexts from command line flags.

#include "tooling/context.h"

#include "base/flag_table.h"
#include "iree/base/tooling/flags.h"
#include "iree/io/file_contents.h"
#include "iree/modules/check/module.h"
#include "iree/modules/hal/module.h"
#include "iree/tooling/context_util.h"
#include "iree/tooling/parameter_util.h"
#include "iree/vm/bytecode/module.h"
#include "iree/vm/dynamic/module.h"
#include "tooling/capture.h"
#include "tooling/devices.h"
#include "tooling/host_trace.h"

static iree_flag_string_list_storage_t module_flags;
IREE_FLAG_CALLBACK(iree_flag_string_list_parse, iree_flag_string_list_print, &module_flags, module,
                   "Module to load: a .vmfb file, `-` for standard input, or a shared library with a module\n"
                   "(`lib.so`, `lib.so@create_function?key=value&key=value`). Repeated: later ones may import from\n"
                   "earlier ones, and the last one has the function.")
IREE_FLAG_CALLBACK(iree_flag_string_list_parse, iree_flag_string_list_print, &module_flags, module_file,
                   "Older spelling of --module.")

IREE_FLAG(string, module_mode, "preload",
          "How files are loaded:\n  'preload': read into memory.\n  'mmap': mapped, so that pages come when needed.")

IREE_FLAG(string, function, "",
          "Function to call, an export of the last module. May be left out when there is only one.")
IREE_FLAG(string, entry_function, "", "Older spelling of --function.")

IREE_FLAG(bool, module_portable_only, false,
          "Refuses modules with native code (shared libraries, executables in ELF or GPU code), which runs\n"
          "unconfined; vmvx executables are portable.")
IREE_FLAG(int64_t, max_steps, 0,
          "Instructions of host program and vmvx executables that a call may take; 0: any number.")
IREE_FLAG(int64_t, max_memory, 0, "Bytes that modules may hold on host and device, besides inputs; 0: any number.")
IREE_FLAG(int64_t, max_time_ms, 0, "Milliseconds that a call may take; 0: any number.")

IREE_FLAG(bool, trace_execution, false, "Prints each instruction of the host program as it runs, to stderr.")
FLAG_VALUES(module_mode, "preload,mmap")

//===----------------------------------------------------------------------------------------------------------------===
// Modules
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t read_contents(iree_string_view_t path, iree_allocator_t allocator,
                                   iree_io_file_contents_t** out_contents) {
  iree_string_view_t mode = iree_make_cstring_view(FLAG_module_mode);
  if (iree_string_view_equal(path, IREE_SV("-"))) return iree_io_file_contents_read_stdin(allocator, out_contents);
  if (iree_string_view_equal(mode, IREE_SV("preload"))) {
    return iree_io_file_contents_read(path, allocator, out_contents);
  }
  if (iree_string_view_equal(mode, IREE_SV("mmap"))) {
    return iree_io_file_contents_map(path, IREE_IO_FILE_ACCESS_READ, allocator, out_contents);
  }
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "unrecognized --module_mode= value '%s'", FLAG_module_mode);
}

static iree_status_t load_bytecode(iree_vm_instance_t* instance, iree_string_view_t path, iree_allocator_t allocator,
                                   iree_vm_module_t** out_module) {
  iree_io_file_contents_t* contents = NULL;
  iree_status_t status = read_contents(path, allocator, &contents);
  if (iree_status_is_ok(status)) {
    iree_vm_bytecode_module_flags_t flags =
        FLAG_module_portable_only ? IREE_VM_BYTECODE_MODULE_FLAG_PORTABLE_ONLY : IREE_VM_BYTECODE_MODULE_FLAG_NONE;
    status = iree_vm_bytecode_module_create(instance, flags, contents->const_buffer,
                                            iree_io_file_contents_deallocator(contents), allocator, out_module);
    if (!iree_status_is_ok(status)) iree_io_file_contents_free(contents);
  }
  if (iree_status_is_ok(status)) return status;
  return iree_status_annotate_f(status, "loading bytecode module at '%.*s'", (int)path.size, path.data);
}

// `lib.so@create_function?key=value&key=value`
static iree_status_t load_library(iree_vm_instance_t* instance, iree_string_view_t spec, iree_allocator_t allocator,
                                  iree_vm_module_t** out_module) {
  iree_string_view_t path, export_name, param_text;
  if (FLAG_module_portable_only) {
    return iree_make_status(IREE_STATUS_PERMISSION_DENIED,
                            "'%.*s' is native code, which runs unconfined; --module_portable_only refuses it",
                            (int)spec.size, spec.data);
  }
  iree_string_view_split(spec, '?', &path, &param_text);
  iree_string_view_split(path, '@', &path, &export_name);
  iree_host_size_t count = 0, capacity = 1;
  for (iree_host_size_t i = 0; i < param_text.size; ++i) capacity += param_text.data[i] == '&';
  iree_string_pair_t* params = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(allocator, capacity, sizeof(*params), (void**)&params));
  while (param_text.size) {
    iree_string_view_t param;
    iree_string_view_split(param_text, '&', &param, &param_text);
    iree_string_view_split(param, '=', &params[count].key, &params[count].value);
    ++count;
  }
  iree_status_t status =
      iree_vm_dynamic_module_load_from_file(instance, path, export_name, count, params, allocator, out_module);
  iree_allocator_free(allocator, params);
  return status;
}

static bool is_library(iree_string_view_t spec) {
  iree_string_view_t path;
  iree_string_view_split(spec, '?', &path, NULL);
  iree_string_view_split(path, '@', &path, NULL);
  return iree_string_view_ends_with(path, IREE_SV(".so")) || iree_string_view_ends_with(path, IREE_SV(".dylib")) ||
         iree_string_view_ends_with(path, IREE_SV(".dll"));
}

iree_string_view_list_t tooling_module_flags(void) {
  return (iree_string_view_list_t){module_flags.count, module_flags.values};
}

iree_status_t tooling_module_load(iree_vm_instance_t* instance, iree_string_view_t spec, iree_allocator_t allocator,
                                  iree_vm_module_t** out_module) {
  return is_library(spec) ? load_library(instance, spec, allocator, out_module)
                          : load_bytecode(instance, spec, allocator, out_module);
}

// Modules that the tools make themselves, for others that name them.
typedef struct needs_t {
  bool hal, alone, loader, parameters, check;
} needs_t;

static iree_status_t find_needs(void* user_data, const iree_vm_module_dependency_t* dependency) {
  needs_t* needs = user_data;
  if (iree_string_view_equal(dependency->name, IREE_SV("hal"))) needs->hal = true;
  if (iree_string_view_equal(dependency->name, IREE_SV("hal_inline"))) needs->alone = true;
  if (iree_string_view_equal(dependency->name, IREE_SV("hal_loader"))) needs->loader = true;
  if (iree_string_view_equal(dependency->name, IREE_SV("io_parameters"))) needs->parameters = true;
  if (iree_string_view_equal(dependency->name, IREE_SV("check"))) needs->check = true;
  return iree_ok_status();
}

static iree_status_t create_hal(tooling_context_t* context, iree_vm_module_t** out_hal) {
  IREE_RETURN_IF_ERROR(tooling_devices_create(context->default_device_uri, context->allocator, &context->group));
  IREE_RETURN_IF_ERROR(tooling_capture_wrap(context->recorder, context->allocator, &context->group));
  IREE_RETURN_IF_ERROR(iree_hal_module_create(context->instance, iree_hal_module_device_policy_default(),
                                              context->group, IREE_HAL_MODULE_FLAG_NONE,
                                              iree_hal_module_debug_sink_stdio(stderr), context->allocator, out_hal));
  context->device.device = iree_hal_device_group_device_at(context->group, 0);
  context->device.allocator = iree_hal_device_allocator(context->device.device);
  return iree_ok_status();
}

enum { BUILTIN_HAL, BUILTIN_INLINE, BUILTIN_LOADER, BUILTIN_PARAMETERS, BUILTIN_CHECK, BUILTIN_COUNT };

// Creates devices, the hal module and parameters the first time that a module needs them.
static iree_status_t resolve_dependencies(tooling_context_t* context, iree_vm_module_t* module,
                                          iree_vm_module_t* builtins[BUILTIN_COUNT]) {
  needs_t needs = {0};
  IREE_RETURN_IF_ERROR(iree_vm_module_enumerate_dependencies(module, find_needs, &needs));
  iree_status_t status = iree_ok_status();
  if (needs.hal && !builtins[BUILTIN_HAL]) status = create_hal(context, &builtins[BUILTIN_HAL]);
  if (iree_status_is_ok(status) && needs.alone && !builtins[BUILTIN_INLINE]) {
    status = tooling_inline_create(context->instance, context->allocator, &builtins[BUILTIN_INLINE]);
  }
  if (iree_status_is_ok(status) && needs.loader && !builtins[BUILTIN_LOADER]) {
    status = tooling_loader_create(context->instance, context->allocator, &builtins[BUILTIN_LOADER]);
  }
  if (iree_status_is_ok(status) && needs.parameters && !builtins[BUILTIN_PARAMETERS]) {
    status = iree_tooling_create_parameters_module_from_flags(context->instance, 0, NULL, context->allocator,
                                                              &builtins[BUILTIN_PARAMETERS]);
  }
  if (iree_status_is_ok(status) && needs.check && !builtins[BUILTIN_CHECK]) {
    status = iree_check_module_create_with_reporter(context->instance, context->reporter, context->allocator,
                                                    &builtins[BUILTIN_CHECK]);
  }
  if (iree_status_is_ok(status)) return status;
  iree_string_view_t name = iree_vm_module_name(module);
  return iree_status_annotate_f(status, "resolving dependencies for '%.*s'", (int)name.size, name.data);
}

static iree_status_t limit_flag(const char* name, int64_t value, uint64_t* out_limit) {
  *out_limit = (uint64_t)value;
  if (value >= 0) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--%s=%" PRId64 " is negative", name, value);
}

static iree_status_t set_limits(iree_vm_context_t* context) {
  iree_vm_context_limits_t limits = {0};
  uint64_t milliseconds = 0;
  IREE_RETURN_IF_ERROR(limit_flag("max_steps", FLAG_max_steps, &limits.max_steps));
  IREE_RETURN_IF_ERROR(limit_flag("max_memory", FLAG_max_memory, &limits.max_memory));
  IREE_RETURN_IF_ERROR(limit_flag("max_time_ms", FLAG_max_time_ms, &milliseconds));
  limits.max_duration_ns = (iree_duration_t)(iree_min(milliseconds, INT64_MAX / 1000000) * 1000000);
  return iree_vm_context_set_limits(context, &limits);
}

iree_status_t tooling_vm_context_create(iree_vm_instance_t* instance, iree_host_size_t count,
                                        iree_vm_module_t** modules, iree_allocator_t allocator,
                                        iree_vm_context_t** out_context) {
  *out_context = NULL;
  iree_vm_context_t* context = NULL;
  iree_vm_context_flags_t flags =
      FLAG_trace_execution ? IREE_VM_CONTEXT_FLAG_TRACE_EXECUTION : IREE_VM_CONTEXT_FLAG_NONE;
  iree_status_t status = iree_vm_context_create(instance, flags, allocator, &context);
  if (iree_status_is_ok(status)) status = set_limits(context);
  if (iree_status_is_ok(status)) status = iree_vm_context_register_modules(context, count, modules);
  if (iree_status_is_ok(status)) status = iree_vm_context_freeze(context);
  if (iree_status_is_ok(status)) {
    *out_context = context;
    return status;
  }
  iree_vm_context_release(context);
  return iree_status_annotate_f(status, "creating VM context");
}

static iree_status_t create_vm_context(tooling_context_t* context) {
  return tooling_vm_context_create(context->instance, context->module_count, context->modules, context->allocator,
                                   &context->context);
}

iree_status_t tooling_context_restart(tooling_context_t* context) {
  iree_vm_context_release(context->context);
  context->context = NULL;
  return create_vm_context(context);
}

static iree_status_t load_main(tooling_context_t* context, const tooling_context_options_t* options,
                               iree_vm_module_t** out_module) {
  if (options->path.size) return tooling_module_load(context->instance, options->path, context->allocator, out_module);
  return iree_vm_bytecode_module_create(context->instance, IREE_VM_BYTECODE_MODULE_FLAG_NONE, options->data,
                                        iree_allocator_null(), context->allocator, out_module);
}

// Those of the flags, and what the options say as the last one.
static iree_status_t load_modules(tooling_context_t* context, const tooling_context_options_t* options) {
  bool extra = options->path.size || options->data.data_length;
  iree_host_size_t flags = module_flags.count, count = flags + extra;
  if (!count) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "no user module specified; use --module=file.vmfb to load from a file or --module=- to "
                            "load from stdin");
  }
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(context->allocator, BUILTIN_COUNT + count, sizeof(*context->modules),
                                                   (void**)&context->modules));
  context->module_count = BUILTIN_COUNT + count;
  iree_vm_module_t** own = context->modules + BUILTIN_COUNT;
  iree_status_t status = iree_ok_status();
  for (iree_host_size_t i = 0; i < flags && iree_status_is_ok(status); ++i) {
    status = tooling_module_load(context->instance, module_flags.values[i], context->allocator, &own[i]);
  }
  if (iree_status_is_ok(status) && extra) status = load_main(context, options, &own[flags]);
  if (!iree_status_is_ok(status)) return iree_status_annotate_f(status, "loading modules and dependencies");
  context->main = own[count - 1];
  for (iree_host_size_t i = 0; i < count && iree_status_is_ok(status); ++i) {
    status = resolve_dependencies(context, own[i], context->modules);
  }
  return iree_status_is_ok(status) ? create_vm_context(context) : iree_status_annotate_f(status, "creating VM context");
}

//===----------------------------------------------------------------------------------------------------------------===
// Context
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t tooling_refuse_arguments(int argc, char** argv) {
  if (argc < 2) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "unexpected argument '%s'; flags are --name=value", argv[1]);
}

// What the program expects and is not so: the program goes on.
static iree_status_t print_expectation(void* user_data, iree_string_view_t message) {
  fprintf(stderr, "[check] %.*s\n", (int)message.size, message.data);
  return iree_ok_status();
}

iree_status_t tooling_context_create(iree_allocator_t allocator, const tooling_context_options_t* options,
                                     tooling_context_t* out_context) {
  static const tooling_context_options_t none;
  if (!options) options = &none;
  memset(out_context, 0, sizeof(*out_context));
  out_context->allocator = allocator;
  out_context->reporter = options->reporter;
  if (!out_context->reporter.fn) out_context->reporter.fn = print_expectation;
  out_context->default_device_uri = options->default_device_uri;
  out_context->is_quiet = options->is_quiet;
  if (options->instance) {
    out_context->instance = options->instance;
    iree_vm_instance_retain(options->instance);
  } else {
    IREE_RETURN_IF_ERROR(iree_tooling_create_instance(allocator, &out_context->instance));
  }
  IREE_RETURN_IF_ERROR(
      iree_hal_allocator_create_heap(IREE_SV("host"), allocator, allocator, &out_context->host_memory));
  out_context->device.allocator = out_context->host_memory;
  IREE_RETURN_IF_ERROR(tooling_host_trace_begin());
  IREE_RETURN_IF_ERROR(tooling_capture_create(options->capture_path, allocator, &out_context->recorder));
  IREE_RETURN_IF_ERROR(tooling_capture_mark(out_context->recorder, /*begins=*/true, "init"));
  IREE_RETURN_IF_ERROR(load_modules(out_context, options));
  return tooling_capture_mark(out_context->recorder, /*begins=*/false, "init");
}

iree_status_t tooling_context_destroy(tooling_context_t* context) {
  iree_hal_replay_recorder_t* recorder = context->recorder;
  iree_status_t status = tooling_capture_mark(recorder, /*begins=*/true, "deinit");
  iree_vm_context_release(context->context);
  for (iree_host_size_t i = 0; i < context->module_count; ++i) iree_vm_module_release(context->modules[i]);
  iree_allocator_free(context->allocator, context->modules);
  iree_hal_allocator_release(context->host_memory);
  if (iree_status_is_ok(status)) status = tooling_capture_mark(recorder, /*begins=*/false, "deinit");
  if (iree_status_is_ok(status) && recorder) status = iree_hal_replay_recorder_close(recorder);
  if (context->group) iree_hal_device_group_release(context->group);
  iree_hal_replay_recorder_release(recorder);
  iree_vm_instance_release(context->instance);
  memset(context, 0, sizeof(*context));
  return iree_status_join(status, tooling_host_trace_end());
}

static iree_string_view_t function_flag(void) {
  return iree_make_cstring_view(FLAG_function[0] ? FLAG_function : FLAG_entry_function);
}

bool tooling_function_is_named(void) { return function_flag().size != 0; }

static bool is_internal(iree_string_view_t name) { return iree_string_view_starts_with(name, IREE_SV("__")); }

// The beginning of a list of names in a message.
typedef struct names_t {
  char text[256];
  size_t size;
} names_t;

static void add_name(names_t* names, iree_string_view_t name) {
  size_t room = sizeof(names->text) - names->size;
  int wanted = snprintf(names->text + names->size, room, "%s%.*s", names->size ? ", " : "", (int)name.size, name.data);
  if (wanted < 0 || (size_t)wanted + sizeof(", ...") > room) {
    snprintf(names->text + names->size, room, "%s", names->size ? ", ..." : "...");
    names->size = sizeof(names->text);
  } else {
    names->size += (size_t)wanted;
  }
}

iree_status_t tooling_module_find_function(const iree_vm_module_t* module, iree_vm_function_t* out_function) {
  iree_host_size_t count = iree_vm_module_signature(module).export_function_count, found = 0;
  names_t names = {0};
  for (iree_host_size_t i = 0; i < count; ++i) {
    iree_vm_function_t function;
    IREE_RETURN_IF_ERROR(
        iree_vm_module_lookup_function_by_ordinal(module, IREE_VM_FUNCTION_LINKAGE_EXPORT, i, &function));
    iree_string_view_t name = iree_vm_function_name(&function);
    if (is_internal(name) || iree_string_view_ends_with(name, IREE_SV("$async"))) continue;
    *out_function = function;
    ++found;
    if (names.size < sizeof(names.text)) add_name(&names, name);
  }
  if (found == 1) return iree_ok_status();
  if (!found) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the module exports no function");
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                          "more than one exported function present; --function= says which: %s", names.text);
}

iree_status_t tooling_context_find_function(const tooling_context_t* context, iree_vm_function_t* out_function) {
  iree_string_view_t name = function_flag();
  if (!name.size) return tooling_module_find_function(context->main, out_function);
  // Names may come with the module's.
  iree_string_view_t module_name = iree_vm_module_name(context->main);
  if (iree_string_view_starts_with(name, module_name) && name.size > module_name.size &&
      name.data[module_name.size] == '.') {
    iree_string_view_t local = iree_string_view_remove_prefix(name, module_name.size + 1);
    iree_status_t status =
        iree_vm_module_lookup_function_by_name(context->main, IREE_VM_FUNCTION_LINKAGE_EXPORT, local, out_function);
    if (iree_status_is_ok(status)) return status;
    iree_status_ignore(status);
  }
  return iree_status_annotate_f(
      iree_vm_module_lookup_function_by_name(context->main, IREE_VM_FUNCTION_LINKAGE_EXPORT, name, out_function),
      "looking up function '%.*s'", (int)name.size, name.data);
}

//===----------------------------------------------------------------------------------------------------------------===
// Calls
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t tooling_call_prepare(const tooling_context_t* context, iree_vm_function_t function,
                                   iree_string_view_list_t input_specs, tooling_call_t* out_call) {
  memset(out_call, 0, sizeof(*out_call));
  out_call->function = function;
  iree_vm_function_signature_t signature = iree_vm_function_signature(&function);
  IREE_RETURN_IF_ERROR(
      iree_vm_function_call_get_cconv_fragments(&signature, &out_call->argument_letters, &out_call->result_letters));
  iree_string_view_t model = iree_vm_function_lookup_attr_by_name(&function, IREE_SV("iree.abi.model"));
  out_call->is_async = iree_string_view_equal(model, IREE_SV("coarse-fences"));
  if (out_call->is_async) {
    if (!iree_string_view_ends_with(out_call->argument_letters, IREE_SV("rr")) || !context->device.device) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "function with fences has no fence arguments or no device");
    }
    out_call->argument_letters = iree_string_view_remove_suffix(out_call->argument_letters, 2);
  }
  return iree_status_annotate_f(
      tooling_inputs_parse(out_call->argument_letters, input_specs, context->device, &out_call->inputs),
      "parsing function inputs");
}

void tooling_call_finish(tooling_call_t* call) {
  iree_vm_list_release(call->inputs);
  call->inputs = NULL;
}

static iree_status_t invoke(const tooling_context_t* context, const tooling_call_t* call, iree_vm_list_t* inputs,
                            iree_vm_list_t* outputs) {
  return iree_vm_invoke(context->context, call->function, IREE_VM_INVOCATION_FLAG_NONE, /*policy=*/NULL, inputs,
                        outputs, context->allocator);
}

// Pushes a fence on a new semaphore; the caller's reference is in *out_fence.
static iree_status_t push_signal_fence(const tooling_context_t* context, iree_vm_list_t* inputs,
                                       iree_hal_fence_t** out_fence) {
  iree_hal_semaphore_t* semaphore = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_semaphore_create(context->device.device, IREE_HAL_QUEUE_AFFINITY_ANY, 0,
                                                 IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &semaphore));
  iree_status_t status = iree_hal_fence_create_at(semaphore, 1, context->allocator, out_fence);
  iree_hal_semaphore_release(semaphore);
  IREE_RETURN_IF_ERROR(status);
  iree_vm_ref_t ref = iree_hal_fence_retain_ref(*out_fence);
  status = iree_vm_list_push_ref_move(inputs, &ref);
  iree_vm_ref_release(&ref);
  return status;
}

// Starts a call; the fence that it signals is in *out_fence (also when the call fails, or NULL).
static iree_status_t start_async(const tooling_context_t* context, const tooling_call_t* call, iree_vm_list_t* outputs,
                                 iree_hal_fence_t** out_fence) {
  iree_vm_list_t* inputs = NULL;
  iree_vm_ref_t null = iree_vm_ref_null();
  IREE_RETURN_IF_ERROR(iree_vm_list_clone(call->inputs, context->allocator, &inputs));
  iree_status_t status = iree_vm_list_push_ref_move(inputs, &null);
  if (iree_status_is_ok(status)) status = push_signal_fence(context, inputs, out_fence);
  if (iree_status_is_ok(status)) status = invoke(context, call, inputs, outputs);
  iree_vm_list_release(inputs);
  return status;
}

iree_status_t tooling_call_invoke_many(const tooling_context_t* context, const tooling_call_t* call, uint32_t count,
                                       iree_vm_list_t* outputs) {
  iree_hal_fence_t** fences = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(context->allocator, count + 1, sizeof(*fences), (void**)&fences));
  iree_status_t status = iree_ok_status();
  for (uint32_t i = 0; i < count && iree_status_is_ok(status); ++i) {
    status = start_async(context, call, outputs, &fences[i]);
  }
  for (uint32_t i = 0; i < count && iree_status_is_ok(status); ++i) {
    status = iree_hal_fence_wait(fences[i], iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
  }
  for (uint32_t i = 0; i < count; ++i) iree_hal_fence_release(fences[i]);
  iree_allocator_free(context->allocator, fences);
  return status;
}

iree_status_t tooling_call_invoke(const tooling_context_t* context, const tooling_call_t* call,
                                  iree_vm_list_t* outputs) {
  if (call->is_async) return tooling_call_invoke_many(context, call, 1, outputs);
  return invoke(context, call, call->inputs, outputs);
}

iree_status_t tooling_status_annotate(iree_vm_function_t function, iree_status_t status) {
  iree_string_view_t declaration = iree_vm_function_lookup_attr_by_name(&function, IREE_SV("iree.abi.declaration"));
  if (iree_status_is_ok(status) || !declaration.size) return status;
  return iree_status_annotate_f(status, "`%.*s`", (int)declaration.size, declaration.data);
}
