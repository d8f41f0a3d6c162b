// Names of what profiles tell, as --device_profiling_mode= has them.
#ifndef IREE_C_HAL_PROFILE_FAMILIES_H_
#define IREE_C_HAL_PROFILE_FAMILIES_H_

#include "iree/hal/profile_options.h"

typedef struct hal_profile_family_t {
  const char* name;
  iree_hal_device_profiling_data_families_t family;
} hal_profile_family_t;

enum { HAL_PROFILE_FAMILIES = 11 };
extern const hal_profile_family_t hal_profile_families[HAL_PROFILE_FAMILIES];

#endif  // IREE_C_HAL_PROFILE_FAMILIES_H_
