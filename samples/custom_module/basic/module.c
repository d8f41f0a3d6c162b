// See module.h.
#include "module.h"

#include <stdio.h>
#include <string.h>

//===----------------------------------------------------------------------------------------------------------------===
// !custom.string: a reference count, then what is the type's own
//===----------------------------------------------------------------------------------------------------------------===

typedef struct custom_string_t {
  iree_vm_ref_object_t ref_object;
  iree_allocator_t allocator;
  iree_string_view_t value;
  char text[];
} custom_string_t;

IREE_VM_DECLARE_TYPE_ADAPTERS(custom_string, custom_string_t);
IREE_VM_DEFINE_TYPE_ADAPTERS(custom_string, custom_string_t);

static void string_destroy(void* object) {
  custom_string_t* string = (custom_string_t*)object;
  iree_allocator_free(string->allocator, string);
}

static const iree_vm_ref_type_descriptor_t string_type = {
    .destroy = string_destroy,
    .type_name = iree_string_view_literal("custom.string"),
};

iree_status_t custom_module_register_types(iree_vm_instance_t* instance) {
  return iree_vm_instance_register_type(instance, &string_type, &custom_string_registration);
}

void custom_module_unregister_types(iree_vm_instance_t* instance) {
  iree_vm_instance_unregister_type(instance, &string_type);
}

static iree_status_t string_create(iree_string_view_t value, iree_allocator_t allocator, custom_string_t** out_string) {
  custom_string_t* string = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, sizeof(*string) + value.size, (void**)&string));
  iree_atomic_ref_count_init(&string->ref_object.counter);
  string->allocator = allocator;
  memcpy(string->text, value.data, value.size);
  string->value = iree_make_string_view(string->text, value.size);
  *out_string = string;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Functions; `module` is what the module was created with, here its allocator
//===----------------------------------------------------------------------------------------------------------------===

typedef struct custom_module_t {
  iree_allocator_t allocator;
} custom_module_t;

IREE_VM_ABI_EXPORT(create_string, void, r, r) {
  const custom_module_t* self = (const custom_module_t*)module;
  iree_vm_buffer_t* buffer = NULL;
  custom_string_t* string = NULL;
  IREE_RETURN_IF_ERROR(iree_vm_buffer_check_deref(args->r0, &buffer));
  IREE_RETURN_IF_ERROR(string_create(iree_vm_buffer_as_string(buffer), self->allocator, &string));
  printf("CREATE %.*s\n", (int)string->value.size, string->value.data);
  rets->r0 = custom_string_move_ref(string);
  return iree_ok_status();
}

IREE_VM_ABI_EXPORT(string_length, void, r, I) {
  custom_string_t* string = NULL;
  IREE_RETURN_IF_ERROR(custom_string_check_deref(args->r0, &string));
  printf("LENGTH %.*s = %zu\n", (int)string->value.size, string->value.data, string->value.size);
  rets->i0 = (int64_t)string->value.size;
  return iree_ok_status();
}

IREE_VM_ABI_EXPORT(print_string, void, r, v) {
  custom_string_t* string = NULL;
  IREE_RETURN_IF_ERROR(custom_string_check_deref(args->r0, &string));
  printf("PRINT %.*s\n", (int)string->value.size, string->value.data);
  return iree_ok_status();
}

// Sorted by name; the letters are arguments and results.
static const iree_vm_native_export_descriptor_t exports[] = {
    {iree_string_view_literal("string.create"), iree_string_view_literal("0r_r"), 0, NULL},
    {iree_string_view_literal("string.length"), iree_string_view_literal("0r_I"), 0, NULL},
    {iree_string_view_literal("string.print"), iree_string_view_literal("0r_v"), 0, NULL},
#ifdef CUSTOM_MODULE_DEBUG
    {iree_string_view_literal("string.print_debug"), iree_string_view_literal("0r_v"), 0, NULL},
#endif
};
static const iree_vm_native_function_ptr_t functions[] = {
    {(iree_vm_native_function_shim_t)iree_vm_shim_r_r, (iree_vm_native_function_target_t)create_string},
    {(iree_vm_native_function_shim_t)iree_vm_shim_r_I, (iree_vm_native_function_target_t)string_length},
    {(iree_vm_native_function_shim_t)iree_vm_shim_r_v, (iree_vm_native_function_target_t)print_string},
#ifdef CUSTOM_MODULE_DEBUG
    {(iree_vm_native_function_shim_t)iree_vm_shim_r_v, (iree_vm_native_function_target_t)print_string},
#endif
};
static const iree_vm_native_module_descriptor_t descriptor = {
    .name = iree_string_view_literal("custom"),
    .export_count = IREE_ARRAYSIZE(exports),
    .exports = exports,
    .function_count = IREE_ARRAYSIZE(functions),
    .functions = functions,
};

static void module_destroy(void* self) {
  custom_module_t* module = (custom_module_t*)self;
  iree_allocator_free(module->allocator, module);
}

iree_status_t custom_module_create(iree_vm_instance_t* instance, iree_allocator_t allocator,
                                   iree_vm_module_t** out_module) {
  custom_module_t* module = NULL;
  iree_vm_module_t interface;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, sizeof(*module), (void**)&module));
  module->allocator = allocator;
  iree_status_t status = iree_vm_module_initialize(&interface, module);
  interface.destroy = module_destroy;
  if (iree_status_is_ok(status)) {
    status = iree_vm_native_module_create(&interface, &descriptor, instance, allocator, out_module);
  }
  if (!iree_status_is_ok(status)) iree_allocator_free(allocator, module);
  return status;
}
