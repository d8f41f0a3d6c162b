// The module's exports, by the C++ headers.
#include <iree/modules/hal/types.h>
#include <iree/vm/api.h>
#include <iree/vm/bytecode/module.h>
#include <iree/vm/ref_cc.h>

#include <cstdio>

#include "multiply_c.h"

int main() {
  iree::vm::ref<iree_vm_instance_t> instance;
  iree::vm::ref<iree_vm_module_t> module;
  iree_allocator_t allocator = iree_allocator_system();
  IREE_CHECK_OK(iree_vm_instance_create(IREE_VM_TYPE_CAPACITY_DEFAULT, allocator, &instance));
  IREE_CHECK_OK(iree_hal_module_register_all_types(instance.get()));
  const iree_file_toc_t* file = multiply_module_create();
  IREE_CHECK_OK(iree_vm_bytecode_module_create(instance.get(), IREE_VM_BYTECODE_MODULE_FLAG_NONE,
                                               iree_make_const_byte_span(file->data, file->size), iree_allocator_null(),
                                               allocator, &module));
  iree_vm_function_t function;
  IREE_CHECK_OK(iree_vm_module_lookup_function_by_ordinal(module.get(), IREE_VM_FUNCTION_LINKAGE_EXPORT, 0, &function));
  iree_string_view_t name = iree_vm_function_name(&function);
  std::printf("%.*s of %s", (int)name.size, name.data, file->name);
  return 0;
}
