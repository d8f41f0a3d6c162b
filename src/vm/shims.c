// The shims that shims.h declares.

#include "iree/vm/shims.h"

IREE_VM_ABI_SHIMS(IREE_VM_ABI_DEFINE_SHIM)
