// Everything of iree/base that programs use.
#ifndef IREE_BASE_API_H_
#define IREE_BASE_API_H_

#include "iree/base/alignment.h"
#include "iree/base/allocator.h"
#include "iree/base/assert.h"
#include "iree/base/attributes.h"
#include "iree/base/bitfield.h"
#include "iree/base/bitmap.h"
#include "iree/base/config.h"
#include "iree/base/status.h"
#include "iree/base/string_builder.h"
#include "iree/base/string_view.h"
#include "iree/base/time.h"
#include "iree/base/tracing.h"
#include "iree/base/wait_source.h"

#endif  // IREE_BASE_API_H_
