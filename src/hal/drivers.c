// The table of drivers of this build.
#include "iree/hal/drivers/amdgpu/registration/driver_module.h"
#include "iree/hal/drivers/cuda/registration/driver_module.h"
#include "iree/hal/drivers/hip/registration/driver_module.h"
#include "iree/hal/drivers/init.h"
#include "iree/hal/drivers/local_sync/registration/driver_module.h"
#include "iree/hal/drivers/local_task/registration/driver_module.h"
#include "iree/hal/drivers/null/registration/driver_module.h"

static iree_status_t (*const driver_rows[])(iree_hal_driver_registry_t* registry) = {
#if defined(IREE_HAVE_HAL_AMDGPU_DRIVER_MODULE)
    iree_hal_amdgpu_driver_module_register,
#endif
#if defined(IREE_HAVE_HAL_CUDA_DRIVER_MODULE)
    iree_hal_cuda_driver_module_register,
#endif
#if defined(IREE_HAVE_HAL_HIP_DRIVER_MODULE)
    iree_hal_hip_driver_module_register,
#endif
#if defined(IREE_HAVE_HAL_LOCAL_SYNC_DRIVER_MODULE)
    iree_hal_local_sync_driver_module_register,
#endif
#if defined(IREE_HAVE_HAL_LOCAL_TASK_DRIVER_MODULE)
    iree_hal_local_task_driver_module_register,
#endif
#if defined(IREE_HAVE_HAL_NULL_DRIVER_MODULE)
    iree_hal_null_driver_module_register,
#endif
};

iree_status_t iree_hal_register_all_available_drivers(iree_hal_driver_registry_t* registry) {
  for (size_t i = 0; i < IREE_ARRAYSIZE(driver_rows); ++i) {
    // Registering twice is fine: several libraries of a process may each do it.
    iree_status_t status = driver_rows[i](registry);
    if (iree_status_is_already_exists(status)) status = iree_status_ignore(status);
    IREE_RETURN_IF_ERROR(status);
  }
  return iree_ok_status();
}
