// Modules from shared libraries. A library is never unloaded: types, functions and threads of its module may outlive
// the last reference that is visible here.

#include <dlfcn.h>

#include "iree/vm/dynamic/module.h"

static iree_status_t find_create_function(iree_string_view_t path, iree_string_view_t export_name,
                                          iree_allocator_t allocator, iree_vm_dynamic_module_create_fn_t* out_create) {
  if (iree_string_view_is_empty(export_name)) export_name = IREE_SV(IREE_VM_DYNAMIC_MODULE_EXPORT_NAME);
  char* names = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, path.size + export_name.size + 2, (void**)&names));
  iree_string_view_to_cstring(path, names, path.size + 1);
  iree_string_view_to_cstring(export_name, names + path.size + 1, export_name.size + 1);
  iree_status_t status = iree_ok_status();
  void* library = dlopen(names, RTLD_NOW | RTLD_LOCAL);
  void* symbol = library ? dlsym(library, names + path.size + 1) : NULL;
  if (!library) {
    status = iree_make_status(IREE_STATUS_NOT_FOUND, "cannot load module library '%s': %s", names, dlerror());
  } else if (!symbol) {
    status = iree_make_status(IREE_STATUS_NOT_FOUND, "library '%s' has no function '%s'", names, names + path.size + 1);
    dlclose(library);
  } else {
    memcpy(out_create, &symbol, sizeof(symbol));
  }
  iree_allocator_free(allocator, names);
  return status;
}

iree_status_t iree_vm_dynamic_module_load_from_file(iree_vm_instance_t* instance, iree_string_view_t path,
                                                    iree_string_view_t export_name, iree_host_size_t param_count,
                                                    const iree_string_pair_t* params, iree_allocator_t allocator,
                                                    iree_vm_module_t** out_module) {
  *out_module = NULL;
  iree_vm_dynamic_module_create_fn_t create = NULL;
  IREE_RETURN_IF_ERROR(find_create_function(path, export_name, allocator, &create));
  return create(IREE_VM_DYNAMIC_MODULE_VERSION_LATEST, instance, param_count, params, allocator, out_module);
}
