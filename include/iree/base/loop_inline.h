// A loop that runs everything at once: functions of loop.h return when the callback, and all that it gave the loop, has
// run. Waits block.
#ifndef IREE_BASE_LOOP_INLINE_H_
#define IREE_BASE_LOOP_INLINE_H_

#include "iree/base/loop.h"

#ifdef __cplusplus
extern "C" {
#endif

IREE_API_EXPORT iree_status_t iree_loop_inline_ctl(void* self, iree_loop_command_t command, const void* params,
                                                   void** inout_ptr);

// `out_status` is OK at first, belongs to the caller and gets the first failure of a callback; what comes after is
// called with ABORTED.
static inline iree_loop_t iree_loop_inline(iree_status_t* out_status) {
  iree_loop_t loop = {out_status, iree_loop_inline_ctl};
  return loop;
}

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_LOOP_INLINE_H_
