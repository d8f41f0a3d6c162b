// What users may choose: the driver's flags, checked.
#ifndef IREE_C_HAL_AMDGPU_OPTIONS_H_
#define IREE_C_HAL_AMDGPU_OPTIONS_H_

#include <stdbool.h>
#include <stdint.h>

#include "iree/base/api.h"

typedef struct amdgpu_options_t {
#define SIZE(name, description) uint64_t name;  // 0: the default
#define SWITCH(name, default_value, description) bool name;
#define CHOICE(name, default_value, values, taken, description) uint8_t name;  // which of `values`
#include "hal/amdgpu/options.def"
} amdgpu_options_t;

// Values of command_buffer_mode.
enum { AMDGPU_COMMAND_BUFFERS_AUTO, AMDGPU_COMMAND_BUFFERS_AQL, AMDGPU_COMMAND_BUFFERS_PM4 };

// Errors: INVALID_ARGUMENT for values that mean nothing, UNIMPLEMENTED for what this driver does not have, each with
// the flag's name.
iree_status_t amdgpu_options_from_flags(amdgpu_options_t* out_options);

#endif  // IREE_C_HAL_AMDGPU_OPTIONS_H_
