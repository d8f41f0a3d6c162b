// Devices from command line flags.
//
//   --device=URI (repeated: a group)   --list_drivers   --list_devices[=driver]   --dump_devices[=driver]
#ifndef TOOLING_DEVICES_H_
#define TOOLING_DEVICES_H_

#include <stdio.h>

#include "iree/hal/api.h"

// All drivers of the build, once. The registry lives as long as the process.
iree_hal_driver_registry_t* tooling_driver_registry(void);

// The devices of the --device flags; `default_uri` when there is none, and `local-task` when that is empty.
iree_status_t tooling_devices_create(iree_string_view_t default_uri, iree_allocator_t allocator,
                                     iree_hal_device_group_t** out_group);

// Device or driver names of older releases, and what stands in for them here (`rocm`: hip or amdgpu).
iree_string_view_t tooling_driver_alias(iree_string_view_t name);

// Prints what devices have allocated, as --print_statistics shows it.
iree_status_t tooling_devices_print_statistics(iree_hal_device_group_t* group, FILE* file);

#endif  // TOOLING_DEVICES_H_
