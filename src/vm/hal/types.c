// HAL objects as VM types: a table of them drives registration and resolution.

#include "iree/modules/hal/types.h"

// HAL_TYPE(prefix, name of the type)
#define HAL_TYPES(HAL_TYPE)                                   \
  HAL_TYPE(iree_hal_allocator, "hal.allocator")               \
  HAL_TYPE(iree_hal_buffer, "hal.buffer")                     \
  HAL_TYPE(iree_hal_buffer_view, "hal.buffer_view")           \
  HAL_TYPE(iree_hal_command_buffer, "hal.command_buffer")     \
  HAL_TYPE(iree_hal_device, "hal.device")                     \
  HAL_TYPE(iree_hal_event, "hal.event")                       \
  HAL_TYPE(iree_hal_executable, "hal.executable")             \
  HAL_TYPE(iree_hal_executable_cache, "hal.executable_cache") \
  HAL_TYPE(iree_hal_fence, "hal.fence")                       \
  HAL_TYPE(iree_hal_file, "hal.file")                         \
  HAL_TYPE(iree_hal_semaphore, "hal.semaphore")

#define HAL_TYPE(prefix, name)                     \
  IREE_VM_DEFINE_TYPE_ADAPTERS(prefix, prefix##_t) \
  static void prefix##_destroy_ref(void* ptr) { prefix##_destroy(ptr); }
HAL_TYPES(HAL_TYPE)
#undef HAL_TYPE

typedef struct hal_type_t {
  iree_vm_ref_type_descriptor_t descriptor;
  iree_vm_ref_type_t* registration;
} hal_type_t;

// Counters are the objects' first members.
static hal_type_t hal_types[] = {
#define HAL_TYPE(prefix, name)                                                                            \
  {{.destroy = prefix##_destroy_ref, .type_name = iree_string_view_literal(name), .offsetof_counter = 0}, \
   &prefix##_registration},
    HAL_TYPES(HAL_TYPE)
#undef HAL_TYPE
};

iree_status_t iree_hal_module_register_all_types(iree_vm_instance_t* instance) {
  for (size_t i = 0; i < IREE_ARRAYSIZE(hal_types); ++i) {
    IREE_RETURN_IF_ERROR(iree_vm_instance_register_type(instance, &hal_types[i].descriptor, hal_types[i].registration));
  }
  return iree_ok_status();
}

iree_status_t iree_hal_module_resolve_all_types(iree_vm_instance_t* instance) {
  IREE_RETURN_IF_ERROR(iree_vm_resolve_builtin_types(instance));
  for (size_t i = 0; i < IREE_ARRAYSIZE(hal_types); ++i) {
    iree_string_view_t name = hal_types[i].descriptor.type_name;
    *hal_types[i].registration = iree_vm_instance_lookup_type(instance, name);
    if (!*hal_types[i].registration) {
      return iree_make_status(IREE_STATUS_NOT_FOUND, "type '%.*s' is not registered", (int)name.size, name.data);
    }
  }
  return iree_ok_status();
}

#define LIST_ACCESS(noun, prefix)                                                                               \
  prefix##_t* iree_vm_list_get_##noun##_assign(const iree_vm_list_t* list, iree_host_size_t i) {                \
    return iree_vm_list_get_ref_deref(list, i, prefix##_type());                                                \
  }                                                                                                             \
  prefix##_t* iree_vm_list_get_##noun##_retain(const iree_vm_list_t* list, iree_host_size_t i) {                \
    prefix##_t* value = iree_vm_list_get_##noun##_assign(list, i);                                              \
    prefix##_retain(value);                                                                                     \
    return value;                                                                                               \
  }                                                                                                             \
  iree_status_t iree_vm_list_set_##noun##_retain(iree_vm_list_t* list, iree_host_size_t i, prefix##_t* value) { \
    iree_vm_ref_t ref = prefix##_retain_ref(value);                                                             \
    iree_status_t status = iree_vm_list_set_ref_move(list, i, &ref);                                            \
    iree_vm_ref_release(&ref);                                                                                  \
    return status;                                                                                              \
  }
LIST_ACCESS(buffer, iree_hal_buffer)
LIST_ACCESS(buffer_view, iree_hal_buffer_view)
LIST_ACCESS(fence, iree_hal_fence)
