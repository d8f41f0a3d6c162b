// What the project's own libraries ask of buffer views beside iree/hal/buffer_view.h.
#ifndef IREE_C_HAL_BUFFER_VIEW_H_
#define IREE_C_HAL_BUFFER_VIEW_H_

#include "iree/hal/buffer_view.h"

// How many references there are. Others may come or go meanwhile, unless the caller knows who has them.
int32_t hal_buffer_view_references(const iree_hal_buffer_view_t* view);

#endif  // IREE_C_HAL_BUFFER_VIEW_H_
