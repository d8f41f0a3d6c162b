// Everything of iree/base that programs use.
//
// What holds for every function of iree/, unless its header says otherwise:
//   * Functions that can fail return a status, which the caller owns (status.h). Then outputs are NULL or zero, and
//     nothing was taken over. Allocating functions may return RESOURCE_EXHAUSTED, which is not said again.
//   * Objects that a function makes (`out_...` of `create`, `load`, `allocate`) come with one reference, the caller's;
//     `retain` and `release` count, accept NULL and may be called from any thread. Objects that are passed in are
//     retained by whoever keeps them. Objects that a getter returns are not retained: they live as long as their owner.
//   * Strings, lists and structs that are passed in are copied, or needed only during the call.
//   * Sizes and offsets are bytes, times are nanoseconds, shapes have the outermost dimension first.
//   * Functions that have no object of their own, and constants, are thread safe. Objects that are called "thread safe"
//     may be used from several threads at once; others, "thread-compatible", from one at a time.
#ifndef IREE_BASE_API_H_
#define IREE_BASE_API_H_

#include "iree/base/alignment.h"
#include "iree/base/allocator.h"
#include "iree/base/assert.h"
#include "iree/base/attributes.h"
#include "iree/base/bitfield.h"
#include "iree/base/bitmap.h"
#include "iree/base/budget.h"
#include "iree/base/config.h"
#include "iree/base/loop.h"
#include "iree/base/status.h"
#include "iree/base/string_builder.h"
#include "iree/base/string_view.h"
#include "iree/base/time.h"
#include "iree/base/tracing.h"
#include "iree/base/wait_source.h"

#endif  // IREE_BASE_API_H_
