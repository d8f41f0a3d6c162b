// Runs a program that uses the module `custom`, with the VM alone: main example.vmfb example.main
#include <stdio.h>

#include "iree/base/api.h"
#include "iree/io/file_contents.h"
#include "iree/vm/api.h"
#include "iree/vm/bytecode/module.h"
#include "module.h"

static iree_status_t load(iree_vm_instance_t* instance, const char* path, iree_allocator_t allocator,
                          iree_vm_module_t** out_module) {
  iree_io_file_contents_t* contents = NULL;
  iree_string_view_t name = iree_make_cstring_view(path);
  bool is_stdin = iree_string_view_equal(name, IREE_SV("-"));
  IREE_RETURN_IF_ERROR(is_stdin ? iree_io_file_contents_read_stdin(allocator, &contents)
                                : iree_io_file_contents_read(name, allocator, &contents));
  iree_status_t status =
      iree_vm_bytecode_module_create(instance, IREE_VM_BYTECODE_MODULE_FLAG_NONE, contents->const_buffer,
                                     iree_io_file_contents_deallocator(contents), allocator, out_module);
  if (!iree_status_is_ok(status)) iree_io_file_contents_free(contents);
  return status;
}

// Later modules import from earlier ones.
static iree_status_t call(iree_vm_instance_t* instance, iree_vm_module_t** modules, const char* name,
                          iree_allocator_t allocator) {
  iree_vm_context_t* context = NULL;
  iree_vm_function_t function;
  IREE_RETURN_IF_ERROR(
      iree_vm_context_create_with_modules(instance, IREE_VM_CONTEXT_FLAG_NONE, 2, modules, allocator, &context));
  iree_status_t status = iree_vm_context_resolve_function(context, iree_make_cstring_view(name), &function);
  if (iree_status_is_ok(status)) {
    printf("INVOKE BEGIN %s\n", name);
    status = iree_vm_invoke(context, function, IREE_VM_INVOCATION_FLAG_NONE, /*policy=*/NULL, /*inputs=*/NULL,
                            /*outputs=*/NULL, allocator);
    printf("INVOKE END\n");
  }
  iree_vm_context_release(context);
  return status;
}

static iree_status_t run(iree_vm_instance_t* instance, const char* path, const char* name, iree_allocator_t allocator) {
  iree_vm_module_t* modules[2] = {NULL, NULL};
  iree_status_t status = custom_module_create(instance, allocator, &modules[0]);
  if (iree_status_is_ok(status)) status = load(instance, path, allocator, &modules[1]);
  if (iree_status_is_ok(status)) status = call(instance, modules, name, allocator);
  for (int i = 0; i < 2; ++i) iree_vm_module_release(modules[i]);
  return status;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s MODULE.vmfb module.function\n", argv[0]);
    return 1;
  }
  iree_allocator_t allocator = iree_allocator_system();
  iree_vm_instance_t* instance = NULL;
  iree_status_t status = iree_vm_instance_create(IREE_VM_TYPE_CAPACITY_DEFAULT, allocator, &instance);
  if (iree_status_is_ok(status)) status = custom_module_register_types(instance);
  if (iree_status_is_ok(status)) {
    status = run(instance, argv[1], argv[2], allocator);
    custom_module_unregister_types(instance);
  }
  iree_vm_instance_release(instance);
  if (iree_status_is_ok(status)) return 0;
  iree_status_fprint(stderr, status);
  iree_status_free(status);
  return 1;
}
