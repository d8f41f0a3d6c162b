// Contexts: linking modules, and their states.

#include "iree/vm/context.h"

#include "iree/vm/invocation.h"

struct iree_vm_context_t {
  iree_atomic_ref_count_t ref_count;
  iree_vm_instance_t* instance;
  iree_allocator_t allocator;
  iree_vm_context_flags_t flags;
  iree_vm_context_id_t id;
  iree_vm_context_limits_t limits;
  iree_budget_t* budget;  // shared with forks
  bool frozen;
  iree_host_size_t count;  // of modules and states
  iree_host_size_t capacity;
  iree_vm_module_t** modules;
  iree_vm_module_state_t** states;
};

static iree_atomic_intptr_t next_context_id = IREE_ATOMIC_VAR_INIT(1);

//===----------------------------------------------------------------------------------------------------------------===
// Linking
//===----------------------------------------------------------------------------------------------------------------===

static iree_vm_module_t* find_module(const iree_vm_context_t* context, iree_string_view_t name) {
  for (iree_host_size_t i = context->count; i-- > 0;) {  // the latest of a name shadows the others
    if (iree_string_view_equal(iree_vm_module_name(context->modules[i]), name)) return context->modules[i];
  }
  return NULL;
}

typedef struct dependency_check_t {
  const iree_vm_context_t* context;
  iree_vm_module_t* module;
} dependency_check_t;

static iree_status_t check_dependency(void* user_data, const iree_vm_module_dependency_t* dependency) {
  dependency_check_t* check = user_data;
  bool required = !(dependency->flags & IREE_VM_MODULE_DEPENDENCY_FLAG_OPTIONAL);
  iree_vm_module_t* module = find_module(check->context, dependency->name);
  iree_string_view_t name = iree_vm_module_name(check->module);
  if (!module && required) {
    return iree_make_status(IREE_STATUS_NOT_FOUND,
                            "required module '%.*s' not registered on the context; needed by "
                            "'%.*s'",
                            (int)dependency->name.size, dependency->name.data, (int)name.size, name.data);
  }
  if (module && iree_vm_module_signature(module).version < dependency->minimum_version) {
    return iree_make_status(IREE_STATUS_NOT_FOUND, "'%.*s' needs module '%.*s' of version %u or later; it has %u",
                            (int)name.size, name.data, (int)dependency->name.size, dependency->name.data,
                            dependency->minimum_version, iree_vm_module_signature(module).version);
  }
  return iree_ok_status();
}

static iree_status_t bad_import(const iree_vm_module_t* module, iree_string_view_t name, const char* what) {
  iree_string_view_t module_name = iree_vm_module_name(module);
  return iree_make_status(IREE_STATUS_NOT_FOUND, "%s '%.*s' imported by module '%.*s'", what, (int)name.size, name.data,
                          (int)module_name.size, module_name.data);
}

static iree_status_t find_import(const iree_vm_context_t* context, const iree_vm_module_t* module,
                                 iree_string_view_t full_name, const iree_vm_function_signature_t* expected,
                                 iree_vm_function_t* out_function) {
  iree_string_view_t module_name, function_name;
  iree_string_view_split(full_name, '.', &module_name, &function_name);
  iree_vm_module_t* provider = find_module(context, module_name);
  if (!provider) return bad_import(module, full_name, "no module has the function");
  iree_status_t status =
      provider->lookup_function(provider->self, IREE_VM_FUNCTION_LINKAGE_EXPORT, function_name, expected, out_function);
  if (!iree_status_is_ok(status)) {
    iree_status_ignore(status);
    return bad_import(module, full_name, "no function");
  }
  iree_string_view_t has = iree_vm_function_signature(out_function).calling_convention;
  if (!iree_string_view_equal(has, expected->calling_convention)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "function '%.*s' is imported as '%.*s' but is '%.*s'",
                            (int)full_name.size, full_name.data, (int)expected->calling_convention.size,
                            expected->calling_convention.data, (int)has.size, has.data);
  }
  return iree_ok_status();
}

static iree_status_t link_import(const iree_vm_context_t* context, iree_vm_module_t* module,
                                 iree_vm_module_state_t* state, iree_host_size_t ordinal) {
  iree_vm_function_t import, function;
  iree_string_view_t name;
  iree_vm_function_signature_t expected;
  IREE_RETURN_IF_ERROR(
      module->get_function(module->self, IREE_VM_FUNCTION_LINKAGE_IMPORT, ordinal, &import, &name, &expected));
  iree_status_t status = find_import(context, module, name, &expected, &function);
  if (iree_status_is_not_found(status) && import.linkage == IREE_VM_FUNCTION_LINKAGE_IMPORT_OPTIONAL) {
    iree_status_ignore(status);
    return iree_ok_status();
  }
  IREE_RETURN_IF_ERROR(status);
  return module->resolve_import(module->self, state, ordinal, &function, &expected);
}

// Calls `module.name` if there is such a function: initializers and deinitializers.
static iree_status_t call_if_present(iree_vm_context_t* context, iree_vm_module_t* module, const char* name) {
  iree_vm_function_t function;
  iree_status_t status = iree_vm_module_lookup_function_by_name(module, IREE_VM_FUNCTION_LINKAGE_EXPORT,
                                                                iree_make_cstring_view(name), &function);
  if (!iree_status_is_ok(status)) {
    iree_status_ignore(status);
    return iree_ok_status();
  }
  return iree_vm_invoke(context, function, IREE_VM_INVOCATION_FLAG_NONE, NULL, NULL, NULL, context->allocator);
}

static iree_allocator_t state_allocator(const iree_vm_context_t* context) {
  return context->limits.max_memory ? iree_budget_allocator(context->budget) : context->allocator;
}

static iree_status_t register_module(iree_vm_context_t* context, iree_vm_module_t* module) {
  IREE_RETURN_IF_ERROR(
      iree_vm_module_enumerate_dependencies(module, check_dependency, &(dependency_check_t){context, module}));
  iree_vm_module_state_t* state = NULL;
  IREE_RETURN_IF_ERROR(module->alloc_state(module->self, state_allocator(context), &state));
  iree_status_t status = iree_ok_status();
  iree_host_size_t import_count = iree_vm_module_signature(module).import_function_count;
  for (iree_host_size_t i = 0; i < import_count && iree_status_is_ok(status); ++i) {
    status = link_import(context, module, state, i);
  }
  if (!iree_status_is_ok(status)) {
    module->free_state(module->self, state);
    return status;
  }
  iree_vm_module_retain(module);
  context->modules[context->count] = module;
  context->states[context->count] = state;
  ++context->count;
  return call_if_present(context, module, "__init");
}

static void drop_modules(iree_vm_context_t* context, iree_host_size_t keep) {
  while (context->count > keep) {
    iree_vm_module_t* module = context->modules[context->count - 1];
    IREE_IGNORE_ERROR(call_if_present(context, module, "__deinit"));
    --context->count;
    module->free_state(module->self, context->states[context->count]);
    iree_vm_module_release(module);
  }
}

static iree_status_t reserve_modules(iree_vm_context_t* context, iree_host_size_t count) {
  if (context->count + count <= context->capacity) return iree_ok_status();
  iree_host_size_t capacity = context->count + count;
  IREE_RETURN_IF_ERROR(
      iree_allocator_realloc_array(context->allocator, capacity, sizeof(*context->modules), (void**)&context->modules));
  IREE_RETURN_IF_ERROR(
      iree_allocator_realloc_array(context->allocator, capacity, sizeof(*context->states), (void**)&context->states));
  context->capacity = capacity;
  return iree_ok_status();
}

iree_status_t iree_vm_context_register_modules(iree_vm_context_t* context, iree_host_size_t module_count,
                                               iree_vm_module_t** modules) {
  if (context->frozen) return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "the context is frozen");
  IREE_RETURN_IF_ERROR(reserve_modules(context, module_count));
  iree_host_size_t before = context->count;
  for (iree_host_size_t i = 0; i < module_count; ++i) {
    if (!modules[i]) continue;
    iree_status_t status = register_module(context, modules[i]);
    if (iree_status_is_ok(status)) continue;
    drop_modules(context, before);
    return status;
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Context
//===----------------------------------------------------------------------------------------------------------------===

// `budget` is taken over.
static iree_status_t create_context(iree_vm_instance_t* instance, iree_vm_context_flags_t flags, iree_budget_t* budget,
                                    iree_allocator_t allocator, iree_vm_context_t** out_context) {
  iree_vm_context_t* context = NULL;
  iree_status_t status = iree_allocator_malloc(allocator, sizeof(*context), (void**)&context);
  if (!iree_status_is_ok(status)) {
    iree_budget_release(budget);
    return status;
  }
  iree_atomic_ref_count_init(&context->ref_count);
  context->budget = budget;
  context->instance = instance;
  iree_vm_instance_retain(instance);
  context->allocator = allocator;
  context->flags = flags;
  context->id = iree_atomic_fetch_add(&next_context_id, 1, iree_memory_order_relaxed);
  *out_context = context;
  return iree_ok_status();
}

iree_status_t iree_vm_context_create(iree_vm_instance_t* instance, iree_vm_context_flags_t flags,
                                     iree_allocator_t allocator, iree_vm_context_t** out_context) {
  *out_context = NULL;
  iree_budget_t* budget = NULL;
  IREE_RETURN_IF_ERROR(iree_budget_create(0, allocator, &budget));
  return create_context(instance, flags, budget, allocator, out_context);
}

iree_status_t iree_vm_context_set_limits(iree_vm_context_t* context, const iree_vm_context_limits_t* limits) {
  if (context->frozen) return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "the context is frozen");
  iree_budget_t* budget = NULL;
  IREE_RETURN_IF_ERROR(iree_budget_create(limits->max_memory, context->allocator, &budget));
  iree_budget_release(context->budget);
  context->budget = budget;
  context->limits = *limits;
  return iree_ok_status();
}

void iree_vm_context_cancel(iree_vm_context_t* context) { iree_budget_stop(context->budget, IREE_STATUS_CANCELLED); }
iree_budget_t* iree_vm_context_budget(const iree_vm_context_t* context) { return context->budget; }
iree_vm_context_limits_t iree_vm_context_limits(const iree_vm_context_t* context) { return context->limits; }

iree_status_t iree_vm_context_create_with_modules(iree_vm_instance_t* instance, iree_vm_context_flags_t flags,
                                                  iree_host_size_t module_count, iree_vm_module_t** modules,
                                                  iree_allocator_t allocator, iree_vm_context_t** out_context) {
  IREE_RETURN_IF_ERROR(iree_vm_context_create(instance, flags, allocator, out_context));
  iree_status_t status = iree_vm_context_register_modules(*out_context, module_count, modules);
  if (iree_status_is_ok(status)) status = iree_vm_context_freeze(*out_context);
  if (iree_status_is_ok(status)) return status;
  iree_vm_context_release(*out_context);
  *out_context = NULL;
  return status;
}

static iree_status_t fork_module(iree_vm_context_t* child, iree_vm_module_t* module, iree_vm_module_state_t* parent) {
  if (!module->fork_state) {
    iree_string_view_t name = iree_vm_module_name(module);
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "module '%.*s' can not be forked", (int)name.size, name.data);
  }
  iree_vm_module_state_t* state = NULL;
  IREE_RETURN_IF_ERROR(module->fork_state(module->self, parent, state_allocator(child), &state));
  iree_vm_module_retain(module);
  child->modules[child->count] = module;
  child->states[child->count++] = state;
  return module->notify ? module->notify(module->self, state, IREE_VM_SIGNAL_FORK) : iree_ok_status();
}

iree_status_t iree_vm_context_fork(const iree_vm_context_t* parent_context, iree_allocator_t allocator,
                                   iree_vm_context_t** out_child_context) {
  *out_child_context = NULL;
  iree_budget_retain(parent_context->budget);
  IREE_RETURN_IF_ERROR(create_context(parent_context->instance, parent_context->flags, parent_context->budget,
                                      allocator, out_child_context));
  iree_vm_context_t* child = *out_child_context;
  child->limits = parent_context->limits;
  iree_status_t status = reserve_modules(child, parent_context->count);
  for (iree_host_size_t i = 0; i < parent_context->count && iree_status_is_ok(status); ++i) {
    status = fork_module(child, parent_context->modules[i], parent_context->states[i]);
  }
  child->frozen = true;
  if (iree_status_is_ok(status)) return status;
  iree_vm_context_release(child);
  *out_child_context = NULL;
  return status;
}

void iree_vm_context_retain(iree_vm_context_t* context) {
  if (context) iree_atomic_ref_count_inc(&context->ref_count);
}

void iree_vm_context_release(iree_vm_context_t* context) {
  if (!context || iree_atomic_ref_count_dec(&context->ref_count) != 1) return;
  drop_modules(context, 0);
  iree_allocator_free(context->allocator, context->modules);
  iree_allocator_free(context->allocator, context->states);
  iree_budget_release(context->budget);
  iree_vm_instance_release(context->instance);
  iree_allocator_free(context->allocator, context);
}

iree_vm_instance_t* iree_vm_context_instance(const iree_vm_context_t* context) { return context->instance; }
iree_vm_context_id_t iree_vm_context_id(const iree_vm_context_t* context) { return context->id; }
iree_vm_context_flags_t iree_vm_context_flags(const iree_vm_context_t* context) { return context->flags; }
iree_host_size_t iree_vm_context_module_count(const iree_vm_context_t* context) { return context->count; }

iree_vm_module_t* iree_vm_context_module_at(const iree_vm_context_t* context, iree_host_size_t i) {
  return i < context->count ? context->modules[i] : NULL;
}

iree_status_t iree_vm_context_freeze(iree_vm_context_t* context) {
  context->frozen = true;
  return iree_ok_status();
}

static iree_status_t query_state(void* self, iree_vm_module_t* module, iree_vm_module_state_t** out_module_state) {
  return iree_vm_context_resolve_module_state(self, module, out_module_state);
}

iree_vm_state_resolver_t iree_vm_context_state_resolver(const iree_vm_context_t* context) {
  return (iree_vm_state_resolver_t){(void*)(uintptr_t)context, query_state};
}

iree_status_t iree_vm_context_resolve_module_state(const iree_vm_context_t* context, iree_vm_module_t* module,
                                                   iree_vm_module_state_t** out_module_state) {
  for (iree_host_size_t i = 0; i < context->count; ++i) {
    if (context->modules[i] != module) continue;
    *out_module_state = context->states[i];
    return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_NOT_FOUND, "the module is not in the context");
}

iree_status_t iree_vm_context_resolve_function(const iree_vm_context_t* context, iree_string_view_t full_name,
                                               iree_vm_function_t* out_function) {
  memset(out_function, 0, sizeof(*out_function));
  iree_string_view_t module_name, function_name;
  if (iree_string_view_split(full_name, '.', &module_name, &function_name) < 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "'%.*s' is not a 'module.function' name", (int)full_name.size,
                            full_name.data);
  }
  iree_vm_module_t* module = find_module(context, module_name);
  if (!module) {
    return iree_make_status(IREE_STATUS_NOT_FOUND, "module '%.*s' not found in the context; resolving '%.*s'",
                            (int)module_name.size, module_name.data, (int)full_name.size, full_name.data);
  }
  return iree_vm_module_lookup_function_by_name(module, IREE_VM_FUNCTION_LINKAGE_EXPORT, function_name, out_function);
}

iree_status_t iree_vm_context_notify(iree_vm_context_t* context, iree_vm_signal_t signal) {
  for (iree_host_size_t i = 0; i < context->count; ++i) {
    iree_vm_module_t* module = context->modules[i];
    if (module->notify) IREE_RETURN_IF_ERROR(module->notify(module->self, context->states[i], signal));
  }
  return iree_ok_status();
}
