// Everything of iree/hal that programs use. iree/base/api.h says what holds for all of it.
#ifndef IREE_HAL_API_H_
#define IREE_HAL_API_H_

#include "iree/hal/allocator.h"
#include "iree/hal/buffer.h"
#include "iree/hal/buffer_transfer.h"
#include "iree/hal/buffer_view.h"
#include "iree/hal/buffer_view_util.h"
#include "iree/hal/channel.h"
#include "iree/hal/channel_provider.h"
#include "iree/hal/command_buffer.h"
#include "iree/hal/device.h"
#include "iree/hal/device_group.h"
#include "iree/hal/driver.h"
#include "iree/hal/driver_registry.h"
#include "iree/hal/event.h"
#include "iree/hal/executable.h"
#include "iree/hal/executable_cache.h"
#include "iree/hal/fence.h"
#include "iree/hal/file.h"
#include "iree/hal/pool.h"
#include "iree/hal/profile_metrics.h"
#include "iree/hal/profile_options.h"
#include "iree/hal/profile_schema.h"
#include "iree/hal/profile_sink.h"
#include "iree/hal/queue.h"
#include "iree/hal/resource.h"
#include "iree/hal/semaphore.h"
#include "iree/hal/string_util.h"
#include "iree/hal/topology.h"
#include "iree/hal/topology_builder.h"

#endif  // IREE_HAL_API_H_
