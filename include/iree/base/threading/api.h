// Everything of iree/base/threading.
#ifndef IREE_BASE_THREADING_API_H_
#define IREE_BASE_THREADING_API_H_

#include "iree/base/threading/call_once.h"
#include "iree/base/threading/futex.h"
#include "iree/base/threading/mutex.h"
#include "iree/base/threading/notification.h"
#include "iree/base/threading/numa.h"
#include "iree/base/threading/thread.h"

#endif  // IREE_BASE_THREADING_API_H_
