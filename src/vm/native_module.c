// Native modules: the module interface over a descriptor's tables.

#include "iree/vm/native_module.h"

typedef struct native_module_t {
  iree_vm_module_t interface;       // what contexts see
  iree_vm_module_t user_interface;  // what the module's author gave
  const iree_vm_native_module_descriptor_t* descriptor;
  iree_vm_instance_t* instance;
  iree_allocator_t allocator;  // null: in the caller's storage
  void* self;                  // the author's, or this
} native_module_t;

static void destroy(void* self) {
  native_module_t* module = self;
  iree_vm_instance_t* instance = module->instance;
  iree_allocator_t allocator = module->allocator;
  if (module->user_interface.destroy) module->user_interface.destroy(module->self);
  if (!iree_allocator_is_null(allocator)) iree_allocator_free(allocator, module);
  iree_vm_instance_release(instance);
}

static iree_string_view_t name(void* self) { return ((native_module_t*)self)->descriptor->name; }

static iree_vm_module_signature_t signature(void* self) {
  const iree_vm_native_module_descriptor_t* descriptor = ((native_module_t*)self)->descriptor;
  return (iree_vm_module_signature_t){
      .version = descriptor->version,
      .attr_count = descriptor->attr_count,
      .import_function_count = descriptor->import_count,
      .export_function_count = descriptor->export_count,
  };
}

static iree_status_t enumerate_dependencies(void* self, iree_vm_module_dependency_callback_t callback,
                                            void* user_data) {
  const iree_vm_native_module_descriptor_t* descriptor = ((native_module_t*)self)->descriptor;
  for (iree_host_size_t i = 0; i < descriptor->dependency_count; ++i) {
    IREE_RETURN_IF_ERROR(callback(user_data, &descriptor->dependencies[i]));
  }
  return iree_ok_status();
}

static iree_status_t get_module_attr(void* self, iree_host_size_t index, iree_string_pair_t* out_attr) {
  const iree_vm_native_module_descriptor_t* descriptor = ((native_module_t*)self)->descriptor;
  if (index >= descriptor->attr_count) return iree_status_from_code(IREE_STATUS_OUT_OF_RANGE);
  *out_attr = descriptor->attrs[index];
  return iree_ok_status();
}

static iree_status_t get_function(void* self, iree_vm_function_linkage_t linkage, iree_host_size_t ordinal,
                                  iree_vm_function_t* out_function, iree_string_view_t* out_name,
                                  iree_vm_function_signature_t* out_signature) {
  native_module_t* module = self;
  const iree_vm_native_module_descriptor_t* descriptor = module->descriptor;
  bool import = linkage == IREE_VM_FUNCTION_LINKAGE_IMPORT || linkage == IREE_VM_FUNCTION_LINKAGE_IMPORT_OPTIONAL;
  if (ordinal >= (import ? descriptor->import_count : descriptor->export_count)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "module '%.*s' has no function %zu", (int)descriptor->name.size,
                            descriptor->name.data, ordinal);
  }
  if (import && (descriptor->imports[ordinal].flags & IREE_VM_NATIVE_IMPORT_OPTIONAL)) {
    linkage = IREE_VM_FUNCTION_LINKAGE_IMPORT_OPTIONAL;
  }
  if (out_function) *out_function = (iree_vm_function_t){&module->interface, linkage, (uint32_t)ordinal};
  if (out_name) *out_name = import ? descriptor->imports[ordinal].full_name : descriptor->exports[ordinal].local_name;
  if (out_signature) {
    out_signature->calling_convention =
        import ? iree_string_view_empty() : descriptor->exports[ordinal].calling_convention;
  }
  return iree_ok_status();
}

static iree_status_t lookup_function(void* self, iree_vm_function_linkage_t linkage, iree_string_view_t name,
                                     const iree_vm_function_signature_t* expected_signature,
                                     iree_vm_function_t* out_function) {
  native_module_t* module = self;
  const iree_vm_native_module_descriptor_t* descriptor = module->descriptor;
  for (iree_host_size_t i = 0; i < descriptor->export_count; ++i) {
    if (!iree_string_view_equal(descriptor->exports[i].local_name, name)) continue;
    return get_function(self, IREE_VM_FUNCTION_LINKAGE_EXPORT, i, out_function, NULL, NULL);
  }
  return iree_make_status(IREE_STATUS_NOT_FOUND, "no function `%.*s` exported by module `%.*s`", (int)name.size,
                          name.data, (int)descriptor->name.size, descriptor->name.data);
}

static iree_status_t get_function_attr(void* self, iree_vm_function_linkage_t linkage, iree_host_size_t ordinal,
                                       iree_host_size_t index, iree_string_pair_t* out_attr) {
  const iree_vm_native_module_descriptor_t* descriptor = ((native_module_t*)self)->descriptor;
  if (linkage != IREE_VM_FUNCTION_LINKAGE_EXPORT || ordinal >= descriptor->export_count ||
      index >= descriptor->exports[ordinal].attr_count) {
    return iree_status_from_code(IREE_STATUS_OUT_OF_RANGE);
  }
  *out_attr = descriptor->exports[ordinal].attrs[index];
  return iree_ok_status();
}

static iree_status_t alloc_state(void* self, iree_allocator_t allocator, iree_vm_module_state_t** out_module_state) {
  *out_module_state = NULL;
  native_module_t* module = self;
  if (!module->user_interface.alloc_state) return iree_ok_status();
  return module->user_interface.alloc_state(module->self, allocator, out_module_state);
}

static void free_state(void* self, iree_vm_module_state_t* module_state) {
  native_module_t* module = self;
  if (module->user_interface.free_state) module->user_interface.free_state(module->self, module_state);
}

static iree_status_t fork_state(void* self, iree_vm_module_state_t* parent_state, iree_allocator_t allocator,
                                iree_vm_module_state_t** out_child_state) {
  *out_child_state = NULL;
  native_module_t* module = self;
  if (module->user_interface.fork_state) {
    return module->user_interface.fork_state(module->self, parent_state, allocator, out_child_state);
  }
  if (!parent_state) return iree_ok_status();
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "module '%.*s' can not be forked",
                          (int)module->descriptor->name.size, module->descriptor->name.data);
}

static iree_status_t resolve_import(void* self, iree_vm_module_state_t* module_state, iree_host_size_t ordinal,
                                    const iree_vm_function_t* function, const iree_vm_function_signature_t* signature) {
  native_module_t* module = self;
  if (!module->user_interface.resolve_import) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "module '%.*s' has imports but does not resolve them",
                            (int)module->descriptor->name.size, module->descriptor->name.data);
  }
  return module->user_interface.resolve_import(module->self, module_state, ordinal, function, signature);
}

static iree_status_t notify(void* self, iree_vm_module_state_t* module_state, iree_vm_signal_t signal) {
  native_module_t* module = self;
  if (!module->user_interface.notify) return iree_ok_status();
  return module->user_interface.notify(module->self, module_state, signal);
}

// Pops the function's frame, unless it has failed or stopped.
static iree_status_t end_call(const iree_vm_native_module_descriptor_t* descriptor, uint32_t ordinal,
                              iree_vm_stack_t* stack, iree_status_t status) {
  if (iree_status_is_ok(status)) return iree_vm_stack_function_leave(stack);
  if (iree_status_is_deferred(status)) return status;
  iree_string_view_t function_name = descriptor->exports[ordinal].local_name;
  return iree_status_annotate_f(status, "while invoking native function %.*s.%.*s", (int)descriptor->name.size,
                                descriptor->name.data, (int)function_name.size, function_name.data);
}

static iree_status_t begin_call(void* self, iree_vm_stack_t* stack, iree_vm_function_call_t call) {
  native_module_t* module = self;
  if (module->user_interface.begin_call) return module->user_interface.begin_call(module->self, stack, call);
  const iree_vm_native_module_descriptor_t* descriptor = module->descriptor;
  if (call.function.ordinal >= descriptor->function_count) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "module '%.*s' has no function %u",
                            (int)descriptor->name.size, descriptor->name.data, call.function.ordinal);
  }
  iree_vm_stack_frame_t* frame = NULL;
  IREE_RETURN_IF_ERROR(
      iree_vm_stack_function_enter(stack, &call.function, IREE_VM_STACK_FRAME_NATIVE, 0, NULL, &frame));
  const iree_vm_native_function_ptr_t* function = &descriptor->functions[call.function.ordinal];
  iree_status_t status = function->shim(stack, IREE_VM_NATIVE_FUNCTION_CALL_BEGIN, call.arguments, call.results,
                                        function->target, module->self, frame->module_state);
  return end_call(descriptor, call.function.ordinal, stack, status);
}

static iree_status_t resume_call(void* self, iree_vm_stack_t* stack, iree_byte_span_t call_results) {
  native_module_t* module = self;
  if (module->user_interface.resume_call) return module->user_interface.resume_call(module->self, stack, call_results);
  iree_vm_stack_frame_t* frame = iree_vm_stack_top(stack);
  uint32_t ordinal = frame->function.ordinal;
  if (ordinal >= module->descriptor->function_count) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "there is no function %u to resume", ordinal);
  }
  const iree_vm_native_function_ptr_t* function = &module->descriptor->functions[ordinal];
  iree_status_t status = function->shim(stack, IREE_VM_NATIVE_FUNCTION_CALL_RESUME, iree_byte_span_empty(),
                                        call_results, function->target, module->self, frame->module_state);
  return end_call(module->descriptor, ordinal, stack, status);
}

iree_host_size_t iree_vm_native_module_size(void) { return iree_sizeof_struct(native_module_t); }

iree_status_t iree_vm_native_module_initialize(const iree_vm_module_t* module_interface,
                                               const iree_vm_native_module_descriptor_t* module_descriptor,
                                               iree_vm_instance_t* instance, iree_allocator_t allocator,
                                               iree_vm_module_t* base_module) {
  if (module_descriptor->function_count && module_descriptor->function_count != module_descriptor->export_count) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "native module '%.*s' has %zu functions for %zu exports",
                            (int)module_descriptor->name.size, module_descriptor->name.data,
                            module_descriptor->function_count, module_descriptor->export_count);
  }
  native_module_t* module = (native_module_t*)base_module;
  memset(module, 0, sizeof(*module));
  module->user_interface = *module_interface;
  module->descriptor = module_descriptor;
  module->instance = instance;
  iree_vm_instance_retain(instance);
  module->allocator = allocator;
  module->self = module_interface->self ? module_interface->self : module;
  IREE_RETURN_IF_ERROR(iree_vm_module_initialize(&module->interface, module));
  module->interface = (iree_vm_module_t){
      .self = module,
      .ref_count = module->interface.ref_count,
      .destroy = destroy,
      .name = name,
      .signature = signature,
      .enumerate_dependencies = enumerate_dependencies,
      .get_module_attr = get_module_attr,
      .lookup_function = lookup_function,
      .get_function = get_function,
      .get_function_attr = get_function_attr,
      .alloc_state = alloc_state,
      .free_state = free_state,
      .fork_state = fork_state,
      .resolve_import = resolve_import,
      .notify = notify,
      .begin_call = begin_call,
      .resume_call = resume_call,
  };
  return iree_ok_status();
}

iree_status_t iree_vm_native_module_create(const iree_vm_module_t* module_interface,
                                           const iree_vm_native_module_descriptor_t* module_descriptor,
                                           iree_vm_instance_t* instance, iree_allocator_t allocator,
                                           iree_vm_module_t** out_module) {
  *out_module = NULL;
  iree_vm_module_t* module = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, iree_vm_native_module_size(), (void**)&module));
  iree_status_t status =
      iree_vm_native_module_initialize(module_interface, module_descriptor, instance, allocator, module);
  if (iree_status_is_ok(status)) {
    *out_module = module;
  } else {
    iree_allocator_free(allocator, module);
  }
  return status;
}
