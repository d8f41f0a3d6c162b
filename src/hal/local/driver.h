// What the local drivers take from the command line beside executors (task_flags.c).
#ifndef IREE_C_HAL_LOCAL_DRIVER_H_
#define IREE_C_HAL_LOCAL_DRIVER_H_

#include "iree/task/executor.h"

// As --task_abort_on_failure says.
iree_task_scope_flags_t local_task_scope_flags(void);

#endif  // IREE_C_HAL_LOCAL_DRIVER_H_
