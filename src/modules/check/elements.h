// Elements of buffer views as numbers.
#ifndef MODULES_CHECK_ELEMENTS_H_
#define MODULES_CHECK_ELEMENTS_H_

#include <stdbool.h>

#include "iree/hal/api.h"

// Numbers can be decoded: floats of 8 bits and more, integers and booleans.
bool check_element_is_float(iree_hal_element_type_t type);
// The element of `size` bytes at `data`; INVALID_ARGUMENT for what is no float.
iree_status_t check_element_decode(iree_hal_element_type_t type, const uint8_t* data, double* out_value);
// Whether an element of a float or integer type is zero.
iree_status_t check_element_is_zero(iree_hal_element_type_t type, const uint8_t* data, bool* out_zero);

#endif  // MODULES_CHECK_ELEMENTS_H_
