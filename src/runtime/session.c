// Sessions.

#include "iree/runtime/session.h"

#include "iree/io/file_contents.h"
#include "iree/modules/hal/module.h"
#include "iree/runtime/instance.h"
#include "iree/vm/bytecode/module.h"

struct iree_runtime_session_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t host_allocator;
  iree_runtime_instance_t* instance;
  iree_hal_device_t* device;
  iree_vm_context_t* context;
};

void iree_runtime_session_options_initialize(iree_runtime_session_options_t* out_options) {
  memset(out_options, 0, sizeof(*out_options));
  out_options->context_flags = IREE_VM_CONTEXT_FLAG_NONE;
  out_options->builtin_modules = IREE_RUNTIME_SESSION_BUILTIN_ALL;
}

static iree_status_t add_hal_module(iree_runtime_session_t* session) {
  iree_hal_device_group_t* group = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_device_group_create_from_device(session->device, /*frontier_tracker=*/NULL,
                                                                session->host_allocator, &group));
  iree_vm_module_t* module = NULL;
  iree_status_t status = iree_hal_module_create(
      iree_runtime_instance_vm_instance(session->instance), iree_hal_module_device_policy_default(), group,
      IREE_HAL_MODULE_FLAG_NONE, iree_hal_module_debug_sink_stdio(stderr), session->host_allocator, &module);
  iree_hal_device_group_release(group);
  if (iree_status_is_ok(status)) status = iree_runtime_session_append_module(session, module);
  iree_vm_module_release(module);
  return status;
}

iree_status_t iree_runtime_session_create_with_device(iree_runtime_instance_t* instance,
                                                      const iree_runtime_session_options_t* options,
                                                      iree_hal_device_t* device, iree_allocator_t host_allocator,
                                                      iree_runtime_session_t** out_session) {
  *out_session = NULL;
  iree_runtime_session_t* session = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*session), (void**)&session));
  iree_atomic_ref_count_init(&session->ref_count);
  session->host_allocator = host_allocator;
  session->instance = instance;
  iree_runtime_instance_retain(instance);
  session->device = device;
  iree_hal_device_retain(device);
  iree_status_t status = iree_vm_context_create(iree_runtime_instance_vm_instance(instance), options->context_flags,
                                                host_allocator, &session->context);
  if (iree_status_is_ok(status) && options->builtin_modules) status = add_hal_module(session);
  if (iree_status_is_ok(status)) {
    *out_session = session;
  } else {
    iree_runtime_session_release(session);
  }
  return status;
}

void iree_runtime_session_retain(iree_runtime_session_t* session) {
  if (session) iree_atomic_ref_count_inc(&session->ref_count);
}

void iree_runtime_session_release(iree_runtime_session_t* session) {
  if (!session || iree_atomic_ref_count_dec(&session->ref_count) != 1) return;
  iree_vm_context_release(session->context);
  iree_hal_device_release(session->device);
  iree_runtime_instance_release(session->instance);
  iree_allocator_free(session->host_allocator, session);
}

iree_allocator_t iree_runtime_session_host_allocator(const iree_runtime_session_t* session) {
  return session->host_allocator;
}
iree_runtime_instance_t* iree_runtime_session_instance(const iree_runtime_session_t* session) {
  return session->instance;
}
iree_vm_context_t* iree_runtime_session_context(const iree_runtime_session_t* session) { return session->context; }
iree_hal_device_t* iree_runtime_session_device(const iree_runtime_session_t* session) { return session->device; }
iree_hal_allocator_t* iree_runtime_session_device_allocator(const iree_runtime_session_t* session) {
  return session->device ? iree_hal_device_allocator(session->device) : NULL;
}

iree_status_t iree_runtime_session_trim(iree_runtime_session_t* session) {
  return iree_vm_context_notify(session->context, IREE_VM_SIGNAL_LOW_MEMORY);
}

iree_status_t iree_runtime_session_append_module(iree_runtime_session_t* session, iree_vm_module_t* module) {
  return iree_vm_context_register_modules(session->context, 1, &module);
}

iree_status_t iree_runtime_session_append_bytecode_module_from_memory(iree_runtime_session_t* session,
                                                                      iree_const_byte_span_t flatbuffer_data,
                                                                      iree_allocator_t flatbuffer_allocator) {
  iree_vm_module_t* module = NULL;
  IREE_RETURN_IF_ERROR(iree_vm_bytecode_module_create(iree_runtime_instance_vm_instance(session->instance),
                                                      IREE_VM_BYTECODE_MODULE_FLAG_NONE, flatbuffer_data,
                                                      flatbuffer_allocator, session->host_allocator, &module));
  iree_status_t status = iree_runtime_session_append_module(session, module);
  iree_vm_module_release(module);
  return status;
}

// Takes the contents over.
static iree_status_t append_contents(iree_runtime_session_t* session, iree_io_file_contents_t* contents) {
  iree_vm_module_t* module = NULL;
  iree_status_t status = iree_vm_bytecode_module_create(
      iree_runtime_instance_vm_instance(session->instance), IREE_VM_BYTECODE_MODULE_FLAG_NONE, contents->const_buffer,
      iree_io_file_contents_deallocator(contents), session->host_allocator, &module);
  if (!iree_status_is_ok(status)) {
    iree_io_file_contents_free(contents);
    return status;
  }
  status = iree_runtime_session_append_module(session, module);
  iree_vm_module_release(module);
  return status;
}

iree_status_t iree_runtime_session_append_bytecode_module_from_file(iree_runtime_session_t* session,
                                                                    const char* file_path) {
  iree_io_file_contents_t* contents = NULL;
  IREE_RETURN_IF_ERROR(iree_io_file_contents_map(iree_make_cstring_view(file_path), IREE_IO_FILE_ACCESS_READ,
                                                 session->host_allocator, &contents));
  iree_status_t status = append_contents(session, contents);
  return iree_status_is_ok(status) ? status : iree_status_annotate_f(status, "loading module '%s'", file_path);
}

iree_status_t iree_runtime_session_append_bytecode_module_from_stdin(iree_runtime_session_t* session) {
  iree_io_file_contents_t* contents = NULL;
  IREE_RETURN_IF_ERROR(iree_io_file_contents_read_stdin(session->host_allocator, &contents));
  return append_contents(session, contents);
}

iree_status_t iree_runtime_session_lookup_function(const iree_runtime_session_t* session, iree_string_view_t full_name,
                                                   iree_vm_function_t* out_function) {
  return iree_vm_context_resolve_function(session->context, full_name, out_function);
}

iree_status_t iree_runtime_session_call(iree_runtime_session_t* session, const iree_vm_function_t* function,
                                        iree_vm_list_t* input_list, iree_vm_list_t* output_list) {
  return iree_vm_invoke(session->context, *function, IREE_VM_INVOCATION_FLAG_NONE, /*policy=*/NULL, input_list,
                        output_list, session->host_allocator);
}

iree_status_t iree_runtime_session_call_by_name(iree_runtime_session_t* session, iree_string_view_t full_name,
                                                iree_vm_list_t* input_list, iree_vm_list_t* output_list) {
  iree_vm_function_t function;
  IREE_RETURN_IF_ERROR(iree_runtime_session_lookup_function(session, full_name, &function));
  return iree_runtime_session_call(session, &function, input_list, output_list);
}

iree_status_t iree_runtime_session_call_direct(iree_runtime_session_t* session, const iree_vm_function_call_t call) {
  IREE_VM_INLINE_STACK_INITIALIZE(stack, IREE_VM_INVOCATION_FLAG_NONE, iree_vm_context_state_resolver(session->context),
                                  session->host_allocator);
  iree_status_t status = call.function.module->begin_call(call.function.module->self, stack, call);
  if (!iree_status_is_ok(status)) status = iree_vm_stack_annotate_backtrace(stack, status);
  iree_vm_stack_deinitialize(stack);
  return status;
}
