// A module inside the program, called with the VM and the HAL alone: no driver is looked up and no file read.
#include <stdio.h>

#include "device.h"
#include "iree/async/frontier_tracker.h"
#include "iree/async/util/proactor_pool.h"
#include "iree/base/threading/numa.h"
#include "iree/modules/hal/module.h"
#include "iree/vm/api.h"
#include "iree/vm/bytecode/module.h"
#include "simple_mul_c.h"

static iree_status_t create_device(iree_allocator_t allocator, iree_hal_device_t** out_device) {
  iree_hal_device_create_params_t params = iree_hal_device_create_params_default();
  iree_async_proactor_pool_t* pool = NULL;
  IREE_RETURN_IF_ERROR(iree_async_proactor_pool_create(iree_numa_node_count(), /*node_ids=*/NULL,
                                                       iree_async_proactor_pool_options_default(), allocator, &pool));
  params.proactor_pool = pool;
  iree_status_t status = sample_device_create(&params, allocator, out_device);
  iree_async_proactor_pool_release(pool);
  return status;
}

// The module `hal` over a group of the one device.
static iree_status_t create_hal(iree_vm_instance_t* instance, iree_hal_device_t* device, iree_allocator_t allocator,
                                iree_vm_module_t** out_module) {
  iree_async_frontier_tracker_t* tracker = NULL;
  iree_hal_device_group_t* group = NULL;
  IREE_RETURN_IF_ERROR(
      iree_async_frontier_tracker_create(iree_async_frontier_tracker_options_default(), allocator, &tracker));
  iree_status_t status = iree_hal_device_group_create_from_device(device, tracker, allocator, &group);
  iree_async_frontier_tracker_release(tracker);
  if (iree_status_is_ok(status)) {
    status = iree_hal_module_create(instance, iree_hal_module_device_policy_default(), group,
                                    IREE_HAL_MODULE_FLAG_SYNCHRONOUS, iree_hal_module_debug_sink_stdio(stderr),
                                    allocator, out_module);
  }
  iree_hal_device_group_release(group);
  return status;
}

static iree_status_t create_context(iree_vm_instance_t* instance, iree_hal_device_t* device, iree_allocator_t allocator,
                                    iree_vm_context_t** out_context) {
  iree_vm_module_t* modules[2] = {NULL, NULL};
  const iree_file_toc_t* file = simple_mul_create();
  iree_status_t status = create_hal(instance, device, allocator, &modules[0]);
  if (iree_status_is_ok(status)) {
    status = iree_vm_bytecode_module_create(instance, IREE_VM_BYTECODE_MODULE_FLAG_NONE,
                                            iree_make_const_byte_span(file->data, file->size), iree_allocator_null(),
                                            allocator, &modules[1]);
  }
  if (iree_status_is_ok(status)) {
    status = iree_vm_context_create_with_modules(instance, IREE_VM_CONTEXT_FLAG_NONE, IREE_ARRAYSIZE(modules), modules,
                                                 allocator, out_context);
  }
  for (int i = 0; i < 2; ++i) iree_vm_module_release(modules[i]);
  return status;
}

static iree_status_t push(iree_hal_device_t* device, iree_vm_list_t* list, const float data[4]) {
  const iree_hal_dim_t shape[1] = {4};
  iree_hal_buffer_view_t* view = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_view_allocate_buffer_copy(
      device, iree_hal_device_allocator(device), IREE_ARRAYSIZE(shape), shape, IREE_HAL_ELEMENT_TYPE_FLOAT_32,
      IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR,
      (iree_hal_buffer_params_t){.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, .usage = IREE_HAL_BUFFER_USAGE_DEFAULT},
      iree_make_const_byte_span(data, 4 * sizeof(*data)), &view));
  iree_vm_ref_t ref = iree_hal_buffer_view_move_ref(view);
  iree_status_t status = iree_vm_list_push_ref_move(list, &ref);
  iree_vm_ref_release(&ref);
  return status;
}

// 4 times 2 is 8, four times.
static iree_status_t check(iree_hal_device_t* device, iree_vm_list_t* outputs) {
  float result[4] = {0};
  iree_hal_buffer_view_t* view = iree_vm_list_get_buffer_view_assign(outputs, 0);
  if (!view) return iree_make_status(IREE_STATUS_NOT_FOUND, "the result is no tensor");
  IREE_RETURN_IF_ERROR(iree_hal_device_transfer_d2h(device, iree_hal_buffer_view_buffer(view), 0, result,
                                                    sizeof(result), IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT,
                                                    iree_infinite_timeout()));
  for (int i = 0; i < 4; ++i) {
    if (result[i] != 8) return iree_make_status(IREE_STATUS_UNKNOWN, "element %d is %g, not 8", i, result[i]);
  }
  return iree_ok_status();
}

static iree_status_t call(iree_vm_context_t* context, iree_hal_device_t* device, iree_allocator_t allocator) {
  static const float fours[4] = {4, 4, 4, 4}, twos[4] = {2, 2, 2, 2};
  iree_vm_function_t function;
  iree_vm_list_t *inputs = NULL, *outputs = NULL;
  IREE_RETURN_IF_ERROR(iree_vm_context_resolve_function(context, IREE_SV("module.simple_mul"), &function));
  iree_status_t status = iree_vm_list_create(iree_vm_make_undefined_type_def(), 2, allocator, &inputs);
  if (iree_status_is_ok(status)) {
    status = iree_vm_list_create(iree_vm_make_undefined_type_def(), 1, allocator, &outputs);
  }
  if (iree_status_is_ok(status)) status = push(device, inputs, fours);
  if (iree_status_is_ok(status)) status = push(device, inputs, twos);
  if (iree_status_is_ok(status)) {
    status =
        iree_vm_invoke(context, function, IREE_VM_INVOCATION_FLAG_NONE, /*policy=*/NULL, inputs, outputs, allocator);
  }
  if (iree_status_is_ok(status)) status = check(device, outputs);
  iree_vm_list_release(inputs);
  iree_vm_list_release(outputs);
  return status;
}

static iree_status_t run(iree_vm_instance_t* instance, iree_allocator_t allocator) {
  iree_hal_device_t* device = NULL;
  iree_vm_context_t* context = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_module_register_all_types(instance));
  iree_status_t status = create_device(allocator, &device);
  if (iree_status_is_ok(status)) status = create_context(instance, device, allocator, &context);
  if (iree_status_is_ok(status)) status = call(context, device, allocator);
  iree_vm_context_release(context);
  iree_hal_device_release(device);
  return status;
}

int main(void) {
  iree_allocator_t allocator = iree_allocator_system();
  iree_vm_instance_t* instance = NULL;
  iree_status_t status = iree_vm_instance_create(IREE_VM_TYPE_CAPACITY_DEFAULT, allocator, &instance);
  if (iree_status_is_ok(status)) status = run(instance, allocator);
  iree_vm_instance_release(instance);
  if (iree_status_is_ok(status)) {
    printf("all products are 8\n");
    return 0;
  }
  int code = (int)iree_status_code(status);
  iree_status_fprint(stderr, status);
  iree_status_free(status);
  return code;
}
