// A plugin that gives CPU executables the functions `multiply_row` and `multiply_slice`. It uses the C library, so the
// system loads it:
// --executable_plugin=plugin.so
#include <stdio.h>
#include <stdlib.h>

#include "iree/hal/local/executable_plugin.h"
#include "row.h"

typedef struct plugin_t {
  iree_hal_executable_plugin_allocator_t host_allocator;
  FILE* log;
} plugin_t;

// Called by many threads at once.
static int multiply_row(void* params, void* context, void* reserved) {
  const row_t* row = params;
  const plugin_t* plugin = context;
  fprintf(plugin->log, "plugin: %u products\n", row->count);
  for (uint32_t i = 0; i < row->count; ++i) row->result[i] = row->x[i] * row->y[i];
  return 0;
}

// The same of a microkernel, iree_codegen.ukernel.generic "multiply_slice", of which each workgroup calls one.
static int multiply_slice(void* params, void* context, void* reserved) {
  const slice_t* slice = params;
  row_t row = {.x = slice->x + slice->x_offset,
               .y = slice->y + slice->y_offset,
               .result = slice->result + slice->result_offset,
               .count = (uint32_t)slice->count};
  return multiply_row(&row, context, reserved);
}

static void* find(const char* name) {
  if (iree_hal_executable_plugin_strcmp(name, "multiply_row") == 0) return (void*)multiply_row;
  return iree_hal_executable_plugin_strcmp(name, "multiply_slice") == 0 ? (void*)multiply_slice : NULL;
}

static iree_hal_executable_plugin_status_t load(const iree_hal_executable_plugin_environment_v0_t* environment,
                                                size_t param_count,
                                                const iree_hal_executable_plugin_string_pair_t* params,
                                                void** out_self) {
  plugin_t* plugin = NULL;
  iree_hal_executable_plugin_status_t status =
      iree_hal_executable_plugin_allocator_malloc(environment->host_allocator, sizeof(*plugin), (void**)&plugin);
  if (!iree_hal_executable_plugin_status_is_ok(status)) return status;
  plugin->host_allocator = environment->host_allocator;
  plugin->log = stdout;
  *out_self = plugin;
  return iree_hal_executable_plugin_ok_status();
}

static void unload(void* self) {
  plugin_t* plugin = self;
  iree_hal_executable_plugin_allocator_free(plugin->host_allocator, plugin);
}

// Fills in what it has; other plugins are asked for the rest.
static iree_hal_executable_plugin_status_t resolve(void* self,
                                                   const iree_hal_executable_plugin_resolve_params_v0_t* params,
                                                   iree_hal_executable_plugin_resolution_t* out_resolution) {
  bool missing = false;
  *out_resolution = 0;
  for (size_t i = 0; i < params->count; ++i) {
    const char* name = params->symbol_names[i];
    bool is_optional = iree_hal_executable_plugin_import_is_optional(name);
    void* function = find(name + is_optional);
    if (params->out_fn_ptrs[i]) continue;
    if (function) {
      params->out_fn_ptrs[i] = function;
      params->out_fn_contexts[i] = self;
    } else if (is_optional) {
      *out_resolution |= IREE_HAL_EXECUTABLE_PLUGIN_RESOLUTION_MISSING_OPTIONAL;
    } else {
      missing = true;
    }
  }
  return missing ? iree_hal_executable_plugin_status_from_code(IREE_HAL_EXECUTABLE_PLUGIN_STATUS_NOT_FOUND)
                 : iree_hal_executable_plugin_ok_status();
}

static const iree_hal_executable_plugin_header_t header = {
    .version = IREE_HAL_EXECUTABLE_PLUGIN_VERSION_LATEST,
    .name = "multiply",
    .description = "multiplies rows",
    .sanitizer = IREE_HAL_EXECUTABLE_PLUGIN_SANITIZER_KIND,
};
static const iree_hal_executable_plugin_v0_t plugin = {&header, load, unload, resolve};

IREE_HAL_EXECUTABLE_PLUGIN_EXPORT const iree_hal_executable_plugin_header_t** iree_hal_executable_plugin_query(
    iree_hal_executable_plugin_version_t max_version, void* reserved) {
  return max_version >= IREE_HAL_EXECUTABLE_PLUGIN_VERSION_LATEST
             ? (const iree_hal_executable_plugin_header_t**)(uintptr_t)&plugin
             : NULL;
}
