// Debug sinks.

#include "iree/modules/hal/debugging.h"

iree_hal_module_debug_sink_t iree_hal_module_debug_sink_null(void) { return (iree_hal_module_debug_sink_t){0}; }

static iree_status_t print_views(void* user_data, iree_string_view_t key, iree_host_size_t buffer_view_count,
                                 iree_hal_buffer_view_t** buffer_views, iree_allocator_t host_allocator) {
  FILE* file = user_data;
  fprintf(file, "=== %.*s ===\n", (int)key.size, key.data);
  for (iree_host_size_t i = 0; i < buffer_view_count; ++i) {
    if (buffer_views[i]) {
      IREE_RETURN_IF_ERROR(
          iree_hal_buffer_view_fprint(file, buffer_views[i], /*max_element_count=*/IREE_HOST_SIZE_MAX, host_allocator));
    } else {
      fprintf(file, "(null)");
    }
    fprintf(file, "\n");
  }
  fprintf(file, "\n");
  return iree_ok_status();
}

iree_hal_module_debug_sink_t iree_hal_module_debug_sink_stdio(FILE* file) {
  return (iree_hal_module_debug_sink_t){.buffer_view_trace = {print_views, file}};
}
