// Tracing annotations. This build has no tracing provider: they compile to nothing and cost nothing.
#ifndef IREE_BASE_TRACING_H_
#define IREE_BASE_TRACING_H_

#include <stdint.h>

#define IREE_TRACING_FEATURE_INSTRUMENTATION (1 << 0)
#define IREE_TRACING_FEATURE_INSTRUMENTATION_CALLSTACKS (1 << 1)
#define IREE_TRACING_FEATURE_INSTRUMENTATION_DEVICE (1 << 2)
#define IREE_TRACING_FEATURE_ALLOCATION_TRACKING (1 << 3)
#define IREE_TRACING_FEATURE_LOG_MESSAGES (1 << 7)
#define IREE_TRACING_FEATURES 0

typedef uint32_t iree_zone_id_t;

#define IREE_TRACE(expr)
#define IREE_TRACE_APP_ENTER()
#define IREE_TRACE_APP_EXIT(exit_code)
#define IREE_TRACE_SET_THREAD_NAME(name)
#define IREE_TRACE_ZONE_BEGIN(zone_id) \
  iree_zone_id_t zone_id = 0;          \
  (void)zone_id;
#define IREE_TRACE_ZONE_BEGIN_NAMED(zone_id, name_literal) IREE_TRACE_ZONE_BEGIN(zone_id)
#define IREE_TRACE_ZONE_END(zone_id) (void)(zone_id)
#define IREE_RETURN_AND_END_ZONE_IF_ERROR(zone_id, ...) IREE_RETURN_IF_ERROR(__VA_ARGS__)
#define IREE_TRACE_ZONE_APPEND_VALUE_I64(zone_id, value)
#define IREE_TRACE_ZONE_APPEND_TEXT(zone_id, ...)
#define IREE_TRACE_PLOT_VALUE_I64(name_literal, value)
#define IREE_TRACE_MESSAGE(level, value_literal)
#define IREE_TRACE_FRAME_MARK()
#define IREE_TRACE_SCOPE()
#define IREE_TRACE_SCOPE_NAMED(name_literal)

#endif  // IREE_BASE_TRACING_H_
