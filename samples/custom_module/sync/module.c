// See module.h.
#include "module.h"

#include "iree/modules/hal/types.h"

typedef struct custom_module_t {
  iree_allocator_t allocator;
  iree_hal_device_t* device;  // retained
} custom_module_t;

// Both buffers as the host's memory. Local devices allow it; others need a transfer.
static iree_status_t double_numbers(iree_hal_buffer_t* source, iree_hal_buffer_t* target, iree_host_size_t count) {
  iree_hal_buffer_mapping_t from = {{0}}, to = {{0}};
  IREE_RETURN_IF_ERROR(iree_hal_buffer_map_range(source, IREE_HAL_MAPPING_MODE_SCOPED, IREE_HAL_MEMORY_ACCESS_READ, 0,
                                                 IREE_HAL_WHOLE_BUFFER, &from));
  iree_status_t status = iree_hal_buffer_map_range(target, IREE_HAL_MAPPING_MODE_SCOPED,
                                                   IREE_HAL_MEMORY_ACCESS_DISCARD_WRITE, 0, IREE_HAL_WHOLE_BUFFER, &to);
  if (iree_status_is_ok(status)) {
    const int32_t* numbers = (const int32_t*)from.contents.data;
    int32_t* doubled = (int32_t*)to.contents.data;
    for (iree_host_size_t i = 0; i < count; ++i) doubled[i] = 2 * numbers[i];
    status = iree_hal_buffer_unmap_range(&to);
  }
  iree_status_t unmapped = iree_hal_buffer_unmap_range(&from);
  if (iree_status_is_ok(status)) return unmapped;
  iree_status_ignore(unmapped);
  return status;
}

IREE_VM_ABI_EXPORT(call_sync, void, r, r) {
  const custom_module_t* self = (const custom_module_t*)module;
  iree_hal_buffer_view_t *view = NULL, *result = NULL;
  iree_hal_buffer_t* buffer = NULL;
  const iree_hal_buffer_params_t params = {
      .usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING,
      .access = IREE_HAL_MEMORY_ACCESS_ALL,
      .type = IREE_HAL_MEMORY_TYPE_OPTIMAL_FOR_DEVICE | IREE_HAL_MEMORY_TYPE_HOST_VISIBLE,
  };
  IREE_RETURN_IF_ERROR(iree_hal_buffer_view_check_deref(args->r0, &view));
  IREE_RETURN_IF_ERROR(iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(self->device), params,
                                                          iree_hal_buffer_view_byte_length(view), &buffer));
  iree_status_t status =
      double_numbers(iree_hal_buffer_view_buffer(view), buffer, iree_hal_buffer_view_element_count(view));
  if (iree_status_is_ok(status)) {
    status = iree_hal_buffer_view_create_like(buffer, view, self->allocator, &result);
  }
  iree_hal_buffer_release(buffer);
  if (iree_status_is_ok(status)) rets->r0 = iree_hal_buffer_view_move_ref(result);
  return status;
}

static const iree_vm_native_export_descriptor_t exports[] = {
    {iree_string_view_literal("call.sync"), iree_string_view_literal("0r_r"), 0, NULL},
};
static const iree_vm_native_function_ptr_t functions[] = {
    {(iree_vm_native_function_shim_t)iree_vm_shim_r_r, (iree_vm_native_function_target_t)call_sync},
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
  iree_hal_device_release(module->device);
  iree_allocator_free(module->allocator, module);
}

iree_status_t custom_module_create(iree_vm_instance_t* instance, iree_hal_device_t* device, iree_allocator_t allocator,
                                   iree_vm_module_t** out_module) {
  custom_module_t* module = NULL;
  iree_vm_module_t interface;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, sizeof(*module), (void**)&module));
  module->allocator = allocator;
  module->device = device;
  iree_hal_device_retain(device);
  iree_status_t status = iree_vm_module_initialize(&interface, module);
  interface.destroy = module_destroy;
  if (iree_status_is_ok(status)) {
    status = iree_vm_native_module_create(&interface, &descriptor, instance, allocator, out_module);
  }
  if (!iree_status_is_ok(status)) module_destroy(module);
  return status;
}
