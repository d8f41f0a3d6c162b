// Plugins from the command line: iree_hal_executable_plugin_manager_create_from_flags.
#ifndef IREE_HAL_LOCAL_PLUGINS_REGISTRATION_INIT_H_
#define IREE_HAL_LOCAL_PLUGINS_REGISTRATION_INIT_H_

#include "iree/hal/local/executable_plugin_manager.h"

#endif  // IREE_HAL_LOCAL_PLUGINS_REGISTRATION_INIT_H_
