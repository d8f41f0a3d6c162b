// Machine code, which the module carries as ELF files, on the thread that calls.
#include "device.h"
#include "iree/hal/drivers/local_sync/sync_device.h"
#include "iree/hal/local/loaders/embedded_elf_loader.h"

iree_status_t sample_device_create(const iree_hal_device_create_params_t* create_params, iree_allocator_t allocator,
                                   iree_hal_device_t** out_device) {
  iree_hal_sync_device_params_t params;
  iree_hal_executable_loader_t* loader = NULL;
  iree_hal_allocator_t* memory = NULL;
  iree_hal_sync_device_params_initialize(&params);
  iree_status_t status = iree_hal_embedded_elf_loader_create(/*plugin_manager=*/NULL, allocator, &loader);
  if (iree_status_is_ok(status)) {
    status = iree_hal_allocator_create_heap(IREE_SV("local"), allocator, allocator, &memory);
  }
  if (iree_status_is_ok(status)) {
    status = iree_hal_sync_device_create(IREE_SV("local-sync"), &params, create_params, 1, &loader, memory, allocator,
                                         out_device);
  }
  iree_hal_allocator_release(memory);
  iree_hal_executable_loader_release(loader);
  return status;
}
