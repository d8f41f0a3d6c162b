// The module `hal_inline`: buffers and views for programs that run on the host alone, without devices and queues.
//
//   buffer.allocate(alignment, size) -> buffer, storage        buffer.allocate.initialized(alignment, data, offset,
//   size) buffer.length(buffer)    buffer.storage(buffer) -> storage buffer.subspan(buffer, offset, size)
//   buffer.wrap(storage, offset, size) -> buffer
//   buffer_view.create(buffer, offset, size, type, encoding, dims...)   .assert(view, message, type, encoding, dims...)
//   buffer_view.buffer   .dim(view, i)   .element_type   .encoding_type   .rank   .trace(key, views...)
//   device.query.i64(category, key) -> ok, value
//
// Storage is a !vm.buffer over the same memory, which keeps it alive; to be wrapped it must be aligned to
// IREE_HAL_HEAP_BUFFER_ALIGNMENT. Programs of iree-compile
// --iree-execution-model=inline-static and inline-dynamic need it; the former take their device from here too
// (devices.count, devices.get), which runs portable executables in the caller's thread.
#ifndef IREE_MODULES_HAL_INLINE_MODULE_H_
#define IREE_MODULES_HAL_INLINE_MODULE_H_

#include <stdint.h>

#include "iree/base/api.h"
#include "iree/hal/api.h"
#include "iree/modules/hal/debugging.h"
#include "iree/modules/hal/types.h"
#include "iree/vm/api.h"

#ifdef __cplusplus
extern "C" {
#endif

enum iree_hal_inline_module_flag_bits_t {
  IREE_HAL_INLINE_MODULE_FLAG_NONE = 0u,
};
typedef uint32_t iree_hal_inline_module_flags_t;

// `device_allocator` is retained; its memory must be such that the host can map it. `debug_sink` is released with the
// module.
IREE_API_EXPORT iree_status_t iree_hal_inline_module_create(
    iree_vm_instance_t* instance, iree_hal_inline_module_flags_t flags, iree_hal_module_debug_sink_t debug_sink,
    iree_hal_allocator_t* device_allocator, iree_allocator_t host_allocator, iree_vm_module_t** out_module);

#ifdef __cplusplus
}
#endif

#endif  // IREE_MODULES_HAL_INLINE_MODULE_H_
