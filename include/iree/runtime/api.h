// The high-level interface: an instance with drivers, sessions with modules, calls. Everything it does can be done with
// iree/vm and iree/hal too, and its objects give access to theirs. iree/base/api.h says what holds
// for all of it.

#ifndef IREE_RUNTIME_API_H_
#define IREE_RUNTIME_API_H_

#include "iree/base/api.h"
#include "iree/hal/api.h"
#include "iree/runtime/call.h"
#include "iree/runtime/instance.h"
#include "iree/runtime/session.h"
#include "iree/vm/api.h"

#endif  // IREE_RUNTIME_API_H_
