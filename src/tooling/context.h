// A context with the modules of the --module flags, and the function of --function.
#ifndef TOOLING_CONTEXT_H_
#define TOOLING_CONTEXT_H_

#include "iree/hal/replay/recorder.h"
#include "iree/modules/check/module.h"
#include "iree/vm/api.h"
#include "tooling/function_io.h"

typedef struct tooling_context_t {
  iree_allocator_t allocator;
  iree_vm_instance_t* instance;
  iree_hal_device_group_t* group;        // NULL when no module needs devices
  iree_hal_replay_recorder_t* recorder;  // of a capture (capture.h); NULL for none
  iree_vm_context_t* context;
  iree_host_size_t module_count;
  iree_vm_module_t** modules;  // those that the tools make, of which some may be NULL, then the others; owned
  iree_vm_module_t* main;      // the last one
  tooling_device_t device;     // the first of the group; the host's memory without one
  iree_hal_allocator_t* host_memory;
  iree_string_view_t default_device_uri;  // for no --device
  iree_check_module_reporter_t reporter;  // of the module `check`
  bool is_quiet;                          // results that no flag asks for are not printed
} tooling_context_t;

// INVALID_ARGUMENT when parsing flags has left an argument.
iree_status_t tooling_refuse_arguments(int argc, char** argv);

// What a tool adds to the flags; all zero: nothing.
typedef struct tooling_context_options_t {
  iree_check_module_reporter_t reporter;
  iree_vm_instance_t* instance;           // with all types; NULL: a new one
  iree_string_view_t default_device_uri;  // for no --device; empty: local-task
  iree_string_view_t capture_path;        // of a capture; empty: as --device_replay_output says
  bool is_quiet;
  // One more module, the last one: a path as --module takes it, or a .vmfb in memory that outlives the context.
  iree_string_view_t path;
  iree_const_byte_span_t data;
} tooling_context_options_t;

// Loads modules, then creates devices if a module needs them, then links and initializes. `options` may be NULL.
iree_status_t tooling_context_create(iree_allocator_t allocator, const tooling_context_options_t* options,
                                     tooling_context_t* out_context);
// A new VM context of the same modules, in their first state, in the place of the one before.
iree_status_t tooling_context_restart(tooling_context_t* context);
// Accepts a context whose creation failed. Errors: those of the capture, as far as they are not known yet.
iree_status_t tooling_context_destroy(tooling_context_t* context);

// The export named by --function; without the flag the only one there is.
iree_status_t tooling_context_find_function(const tooling_context_t* context, iree_vm_function_t* out_function);

// The only export of a module that is not internal; a function and its `$async` form count as one.
iree_status_t tooling_module_find_function(const iree_vm_module_t* module, iree_vm_function_t* out_function);

// The modules of programs without devices of the application's (context_util.c): with the host's memory, and with all
// loaders that there are, and plugins that --executable_plugin= names.
iree_status_t tooling_inline_create(iree_vm_instance_t* instance, iree_allocator_t allocator,
                                    iree_vm_module_t** out_module);
iree_status_t tooling_loader_create(iree_vm_instance_t* instance, iree_allocator_t allocator,
                                    iree_vm_module_t** out_module);

// The values of --module, a module from one, and a frozen VM context with the limits of the flags.
iree_string_view_list_t tooling_module_flags(void);
iree_status_t tooling_module_load(iree_vm_instance_t* instance, iree_string_view_t spec, iree_allocator_t allocator,
                                  iree_vm_module_t** out_module);
iree_status_t tooling_vm_context_create(iree_vm_instance_t* instance, iree_host_size_t count,
                                        iree_vm_module_t** modules, iree_allocator_t allocator,
                                        iree_vm_context_t** out_context);

// Whether --function was given.
bool tooling_function_is_named(void);

// One call of a function with parsed inputs. Functions with fences (iree.abi.model = coarse-fences) get a null one to
// wait for and one to signal.
typedef struct tooling_call_t {
  iree_vm_function_t function;
  iree_string_view_t argument_letters, result_letters;  // without the fences
  iree_vm_list_t* inputs;
  bool is_async;
} tooling_call_t;
iree_status_t tooling_call_prepare(const tooling_context_t* context, iree_vm_function_t function,
                                   iree_string_view_list_t input_specs, tooling_call_t* out_call);
void tooling_call_finish(tooling_call_t* call);

// Runs the call and waits for its results, which are appended to `outputs`.
iree_status_t tooling_call_invoke(const tooling_context_t* context, const tooling_call_t* call,
                                  iree_vm_list_t* outputs);

// The same `count` times at once, for functions with fences: all are started, then all are waited for.
iree_status_t tooling_call_invoke_many(const tooling_context_t* context, const tooling_call_t* call, uint32_t count,
                                       iree_vm_list_t* outputs);

// Adds the function's declaration (iree.abi.declaration) to a failure.
iree_status_t tooling_status_annotate(iree_vm_function_t function, iree_status_t status);

#endif  // TOOLING_CONTEXT_H_
