// Machine code, which the module carries as ELF files, on worker threads: as many as flags or the machine say.
#include "device.h"
#include "iree/hal/drivers/local_task/task_device.h"
#include "iree/hal/local/loaders/embedded_elf_loader.h"
#include "iree/task/api.h"

static iree_status_t create(const iree_hal_device_create_params_t* create_params, iree_task_executor_t* const* executor,
                            iree_allocator_t allocator, iree_hal_device_t** out_device) {
  iree_hal_task_device_params_t params;
  iree_hal_executable_loader_t* loader = NULL;
  iree_hal_allocator_t* memory = NULL;
  iree_hal_task_device_params_initialize(&params);
  iree_status_t status = iree_hal_embedded_elf_loader_create(/*plugin_manager=*/NULL, allocator, &loader);
  if (iree_status_is_ok(status)) {
    status = iree_hal_allocator_create_heap(IREE_SV("local"), allocator, allocator, &memory);
  }
  if (iree_status_is_ok(status)) {
    status = iree_hal_task_device_create(IREE_SV("local-task"), &params, 1, executor, 1, &loader, memory, create_params,
                                         allocator, out_device);
  }
  iree_hal_allocator_release(memory);
  iree_hal_executable_loader_release(loader);
  return status;
}

iree_status_t sample_device_create(const iree_hal_device_create_params_t* create_params, iree_allocator_t allocator,
                                   iree_hal_device_t** out_device) {
  iree_task_executor_t* executor = NULL;
  iree_host_size_t count = 0;
  IREE_RETURN_IF_ERROR(iree_task_executors_create_from_flags(allocator, 1, &executor, &count));
  iree_status_t status = create(create_params, &executor, allocator, out_device);
  iree_task_executor_release(executor);
  return status;
}
