// Tracing annotations. This build has no tracing provider: they compile to nothing and cost nothing.
#ifndef IREE_BASE_TRACING_H_
#define IREE_BASE_TRACING_H_

#include <stdint.h>

#define IREE_TRACING_FEATURE_INSTRUMENTATION (1 << 0)
#define IREE_TRACING_FEATURE_INSTRUMENTATION_CALLSTACKS (1 << 1)
#define IREE_TRACING_FEATURE_INSTRUMENTATION_DEVICE (1 << 2)
#define IREE_TRACING_FEATURE_ALLOCATION_TRACKING (1 << 3)
#define IREE_TRACING_FEATURE_ALLOCATION_CALLSTACKS (1 << 4)
#define IREE_TRACING_FEATURE_FAST_LOCKS (1 << 5)
#define IREE_TRACING_FEATURE_SLOW_LOCKS (1 << 6)
#define IREE_TRACING_FEATURE_LOG_MESSAGES (1 << 7)
#define IREE_TRACING_FEATURE_FIBERS (1 << 8)
#define IREE_TRACING_FEATURES 0
#define IREE_TRACING_MAX_CALLSTACK_DEPTH 0

// Colours of messages, 0xRRGGBB.
typedef enum iree_tracing_message_level_e {
  IREE_TRACING_MESSAGE_LEVEL_ERROR = 0xFF0000u,
  IREE_TRACING_MESSAGE_LEVEL_WARNING = 0xFFFF00u,
  IREE_TRACING_MESSAGE_LEVEL_INFO = 0xFFFFFFu,
  IREE_TRACING_MESSAGE_LEVEL_VERBOSE = 0xC0C0C0u,
  IREE_TRACING_MESSAGE_LEVEL_DEBUG = 0x00FF00u,
} iree_tracing_message_level_t;
enum iree_tracing_plot_type_e {
  IREE_TRACING_PLOT_TYPE_NUMBER = 0,
  IREE_TRACING_PLOT_TYPE_MEMORY = 1,
  IREE_TRACING_PLOT_TYPE_PERCENTAGE = 2,
};
typedef uint8_t iree_tracing_plot_type_t;

typedef uint32_t iree_zone_id_t;

#define IREE_TRACE(expr)
#define IREE_TRACE_APP_ENTER()
#define IREE_TRACE_APP_EXIT(exit_code)
#define IREE_TRACE_SET_APP_INFO(value, value_length)
#define IREE_TRACE_SET_THREAD_NAME(name)
#define IREE_TRACE_FIBER_ENTER(fiber)
#define IREE_TRACE_FIBER_LEAVE()
#define IREE_TRACE_PUBLISH_SOURCE_FILE(filename, filename_length, content, content_length)
#define IREE_TRACE_ZONE_BEGIN(zone_id) \
  iree_zone_id_t zone_id = 0;          \
  (void)zone_id;
#define IREE_TRACE_ZONE_BEGIN_NAMED(zone_id, name_literal) IREE_TRACE_ZONE_BEGIN(zone_id)
#define IREE_TRACE_ZONE_BEGIN_NAMED_DYNAMIC(zone_id, name, name_length) IREE_TRACE_ZONE_BEGIN(zone_id)
#define IREE_TRACE_ZONE_BEGIN_EXTERNAL(zone_id, file_name, file_name_length, line, function_name, \
                                       function_name_length, name, name_length)                   \
  IREE_TRACE_ZONE_BEGIN(zone_id)
#define IREE_TRACE_ZONE_END(zone_id) (void)(zone_id)
#define IREE_RETURN_AND_END_ZONE_IF_ERROR(zone_id, ...) IREE_RETURN_IF_ERROR(__VA_ARGS__)
#define IREE_RETURN_AND_END_ZONE(zone_id, ...) return (__VA_ARGS__)
#define IREE_TRACE_ZONE_SET_COLOR(zone_id, color_xrgb)
#define IREE_TRACE_ZONE_APPEND_VALUE_I64(zone_id, value)
#define IREE_TRACE_ZONE_APPEND_TEXT(zone_id, ...)
#define IREE_TRACE_SET_PLOT_TYPE(name_literal, plot_type, step, fill, color)
#define IREE_TRACE_PLOT_VALUE_I64(name_literal, value)
#define IREE_TRACE_PLOT_VALUE_F32(name_literal, value)
#define IREE_TRACE_PLOT_VALUE_F64(name_literal, value)
#define IREE_TRACE_MESSAGE(level, value_literal)
#define IREE_TRACE_MESSAGE_COLORED(color, value_literal)
#define IREE_TRACE_MESSAGE_DYNAMIC(level, value, value_length)
#define IREE_TRACE_MESSAGE_DYNAMIC_COLORED(color, value, value_length)
#define IREE_TRACE_FRAME_MARK()
#define IREE_TRACE_FRAME_MARK_NAMED(name_literal)
#define IREE_TRACE_FRAME_MARK_BEGIN_NAMED(name_literal)
#define IREE_TRACE_FRAME_MARK_END_NAMED(name_literal)
#define IREE_TRACE_ALLOC(ptr, size)
#define IREE_TRACE_FREE(ptr)
#define IREE_TRACE_ALLOC_NAMED(name_literal, ptr, size)
#define IREE_TRACE_FREE_NAMED(name_literal, ptr)
#define IREE_TRACE_SCOPE()
#define IREE_TRACE_SCOPE_NAMED(name_literal)
#define IREE_TRACE_SCOPE_ID 0

#endif  // IREE_BASE_TRACING_H_
