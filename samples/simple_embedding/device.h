// The one device of a program that names it when it is built: one device_*.c of this folder is linked in.
#ifndef IREE_SAMPLES_SIMPLE_EMBEDDING_DEVICE_H_
#define IREE_SAMPLES_SIMPLE_EMBEDDING_DEVICE_H_

#include "iree/hal/api.h"

iree_status_t sample_device_create(const iree_hal_device_create_params_t* params, iree_allocator_t allocator,
                                   iree_hal_device_t** out_device);

#endif  // IREE_SAMPLES_SIMPLE_EMBEDDING_DEVICE_H_
