// Executables of local devices: the object, and libraries (executable_library.h) as executables.
#include "hal/local/executable.h"

#include "iree/base/internal/cpu.h"

//===----------------------------------------------------------------------------------------------------------------===
// The object
//===----------------------------------------------------------------------------------------------------------------===

static void executable_destroy(iree_hal_executable_t* base) {
  local_executable_t* executable = (local_executable_t*)base;
  if (executable->destroy) executable->destroy(executable);
  hal_function_names_free(&executable->names);
  iree_allocator_free(executable->host_allocator, executable);
}

static iree_host_size_t executable_function_count(iree_hal_executable_t* base) {
  return ((local_executable_t*)base)->function_count;
}

static iree_status_t find_function(iree_hal_executable_t* base, iree_hal_executable_function_t function,
                                   const local_function_t** out_function) {
  *out_function = local_executable_function(base, function);
  if (*out_function) return iree_ok_status();
  return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                          "function %" PRIu64 " is out of range of an executable with %" PRIhsz " functions",
                          function.value, executable_function_count(base));
}

static iree_status_t executable_function_info(iree_hal_executable_t* base, iree_hal_executable_function_t function,
                                              iree_hal_executable_function_info_t* out_info) {
  const local_function_t* row = NULL;
  IREE_RETURN_IF_ERROR(find_function(base, function, &row));
  out_info->name = iree_make_cstring_view(row->name);
  if (row->attrs.flags & IREE_HAL_EXECUTABLE_DISPATCH_FLAG_V0_SEQUENTIAL) {
    out_info->flags |= IREE_HAL_EXECUTABLE_FUNCTION_FLAG_SEQUENTIAL;
  }
  if (row->attrs.flags & IREE_HAL_EXECUTABLE_DISPATCH_FLAG_V0_WORKGROUP_SIZE_DYNAMIC) {
    out_info->flags |= IREE_HAL_EXECUTABLE_FUNCTION_FLAG_WORKGROUP_SIZE_DYNAMIC;
  }
  out_info->constant_count = row->attrs.constant_count;
  out_info->binding_count = row->attrs.binding_count;
  out_info->parameter_count = row->params ? row->attrs.parameter_count : 0;
  out_info->workgroup_size[0] = iree_max(row->attrs.workgroup_size_x, 1);
  out_info->workgroup_size[1] = iree_max(row->attrs.workgroup_size_y, 1);
  out_info->workgroup_size[2] = iree_max(row->attrs.workgroup_size_z, 1);
  return iree_ok_status();
}

static iree_status_t executable_function_parameters(iree_hal_executable_t* base,
                                                    iree_hal_executable_function_t function, iree_host_size_t capacity,
                                                    iree_hal_executable_function_parameter_t* out_parameters) {
  const local_function_t* row = NULL;
  IREE_RETURN_IF_ERROR(find_function(base, function, &row));
  if (!row->params) return iree_ok_status();
  for (iree_host_size_t i = 0; i < iree_min(capacity, row->attrs.parameter_count); ++i) {
    const iree_hal_executable_dispatch_parameter_v0_t* source = &row->params[i];
    out_parameters[i] = (iree_hal_executable_function_parameter_t){
        .type = source->type,
        .size = source->size,
        .flags = source->flags,
        .name = iree_make_cstring_view(row->parameter_names ? row->parameter_names[source->name] : NULL),
        .offset = source->offset,
    };
  }
  return iree_ok_status();
}

static iree_string_view_t function_name(const void* executable, iree_host_size_t index) {
  return iree_make_cstring_view(((const local_executable_t*)executable)->functions[index].name);
}

static iree_status_t executable_lookup_function_by_name(iree_hal_executable_t* base, iree_string_view_t name,
                                                        iree_hal_executable_function_t* out_function) {
  const local_executable_t* executable = (const local_executable_t*)base;
  uint32_t index = 0;
  IREE_RETURN_IF_ERROR(hal_function_names_find(&executable->names, function_name, executable, name, &index));
  *out_function = iree_hal_executable_function_from_index(index);
  return iree_ok_status();
}

iree_status_t local_executable_name_functions(local_executable_t* executable) {
  return hal_function_names_create(executable->function_count, function_name, executable, executable->host_allocator,
                                   &executable->names);
}

static const iree_hal_executable_vtable_t executable_vtable = {
    .destroy = executable_destroy,
    .function_count = executable_function_count,
    .function_info = executable_function_info,
    .function_parameters = executable_function_parameters,
    .lookup_function_by_name = executable_lookup_function_by_name,
};

iree_status_t local_executable_create(size_t struct_size, uint32_t function_count,
                                      void (*destroy)(local_executable_t* executable), iree_allocator_t host_allocator,
                                      void** out_executable) {
  *out_executable = NULL;
  local_executable_t* executable = NULL;
  size_t head_size = iree_host_align(struct_size, 64);
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(host_allocator, head_size, function_count,
                                                          sizeof(local_function_t), (void**)&executable));
  iree_hal_resource_initialize(&executable_vtable, &executable->resource);
  executable->host_allocator = host_allocator;
  executable->destroy = destroy;
  executable->function_count = function_count;
  executable->functions = (local_function_t*)((uint8_t*)executable + head_size);
  *out_executable = executable;
  return iree_ok_status();
}

const local_function_t* local_executable_function(iree_hal_executable_t* base,
                                                  iree_hal_executable_function_t function) {
  if (!iree_hal_resource_is(base, &executable_vtable)) return NULL;
  const local_executable_t* executable = (const local_executable_t*)base;
  bool in_range = iree_hal_executable_function_is_index_in_range(function, executable->function_count);
  return in_range ? &executable->functions[iree_hal_executable_function_index(function)] : NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Libraries
//===----------------------------------------------------------------------------------------------------------------===

typedef struct library_executable_t {
  local_executable_t base;
  iree_hal_executable_environment_v0_t environment;
  iree_hal_executable_import_v0_t* import_funcs;
  void** import_contexts;
  uint32_t* constants;
  void (*unload)(void* self);
  void* unload_self;
} library_executable_t;

static void library_destroy(local_executable_t* base) {
  library_executable_t* executable = (library_executable_t*)base;
  iree_allocator_free(base->host_allocator, executable->import_funcs);
  iree_allocator_free(base->host_allocator, executable->import_contexts);
  iree_allocator_free(base->host_allocator, executable->constants);
  if (executable->unload) executable->unload(executable->unload_self);
}

// Calls an import directly: library and runtime share one calling convention here.
static int import_thunk(iree_hal_executable_import_v0_t fn_ptr, void* params, void* context, void* reserved) {
  return fn_ptr(params, context, reserved);
}

static iree_status_t bad_table(const char* what) {
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "executable library has a bad %s", what);
}

static bool in_bounds(const local_library_bounds_t* bounds, const void* ptr, size_t count, size_t size) {
  if (!bounds->contains) return ptr != NULL || count == 0;
  return count == 0 || bounds->contains(bounds->self, ptr, count * size);
}

static bool is_string(const local_library_bounds_t* bounds, const char* string) {
  if (!string) return false;
  if (!bounds->contains) return true;
  while (bounds->contains(bounds->self, string, 1)) {
    if (*string++ == 0) return true;
  }
  return false;
}

static bool are_strings(const local_library_bounds_t* bounds, const char* const* strings, uint32_t count) {
  if (!in_bounds(bounds, strings, count, sizeof(strings[0]))) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (!is_string(bounds, strings[i])) return false;
  }
  return true;
}

static iree_status_t check_export_tables(const local_library_bounds_t* bounds,
                                         const iree_hal_executable_export_table_v0_t* exports) {
  if (exports->count > UINT16_MAX) return bad_table("export count");
  if (!in_bounds(bounds, exports->ptrs, exports->count, sizeof(exports->ptrs[0]))) return bad_table("export table");
  if (exports->attrs && !in_bounds(bounds, exports->attrs, exports->count, sizeof(exports->attrs[0]))) {
    return bad_table("attribute table");
  }
  if (exports->names && !are_strings(bounds, exports->names, exports->count)) return bad_table("name table");
  for (uint32_t i = 0; i < exports->count; ++i) {
    const void* code = (const void*)(uintptr_t)exports->ptrs[i];
    if (!code || (bounds->is_code && !bounds->is_code(bounds->self, code))) return bad_table("entry point");
    if (!exports->attrs) continue;
    if (exports->attrs[i].binding_count > IREE_HAL_EXECUTABLE_MAX_BINDING_COUNT) return bad_table("binding count");
    if (exports->attrs[i].constant_count > IREE_HAL_EXECUTABLE_MAX_CONSTANT_COUNT) return bad_table("constant count");
  }
  return iree_ok_status();
}

// Parameters are described only where every row and name can be checked.
static bool has_good_params(const local_library_bounds_t* bounds, const iree_hal_executable_export_table_v0_t* exports,
                            uint32_t index) {
  if (!exports->params || !exports->attrs || !exports->parameter_names) return false;
  uint32_t count = exports->attrs[index].parameter_count;
  if (!in_bounds(bounds, exports->params, exports->count, sizeof(exports->params[0]))) return false;
  const iree_hal_executable_dispatch_parameter_v0_t* rows = exports->params[index];
  if (!rows || !in_bounds(bounds, rows, count, sizeof(rows[0]))) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (!in_bounds(bounds, exports->parameter_names + rows[i].name, 1, sizeof(char*))) return false;
    if (!is_string(bounds, exports->parameter_names[rows[i].name])) return false;
  }
  return count > 0;
}

static iree_status_t check_header(const local_library_bounds_t* bounds,
                                  const iree_hal_executable_library_header_t** header_ptr) {
  if (!header_ptr) {
    return iree_make_status(IREE_STATUS_UNAVAILABLE, "executable does not support this version of the runtime (%08X)",
                            IREE_HAL_EXECUTABLE_LIBRARY_VERSION_LATEST);
  }
  if (!in_bounds(bounds, header_ptr, 1, sizeof(iree_hal_executable_library_v0_t))) return bad_table("library table");
  const iree_hal_executable_library_header_t* header = *header_ptr;
  if (!header || !in_bounds(bounds, header, 1, sizeof(*header))) return bad_table("header");
  if (header->version > IREE_HAL_EXECUTABLE_LIBRARY_VERSION_LATEST) {
    return iree_make_status(IREE_STATUS_INCOMPATIBLE, "executable library has version %08X, at most %08X is supported",
                            header->version, IREE_HAL_EXECUTABLE_LIBRARY_VERSION_LATEST);
  }
  bool sanitized = header->sanitizer == IREE_HAL_EXECUTABLE_LIBRARY_SANITIZER_NONE;
#if defined(IREE_SANITIZER_ADDRESS)
  sanitized = sanitized || header->sanitizer == IREE_HAL_EXECUTABLE_LIBRARY_SANITIZER_ADDRESS;
#endif
#if defined(IREE_SANITIZER_THREAD)
  sanitized = sanitized || header->sanitizer == IREE_HAL_EXECUTABLE_LIBRARY_SANITIZER_THREAD;
#endif
  if (!sanitized) {
    return iree_make_status(IREE_STATUS_INCOMPATIBLE,
                            "executable library was built with sanitizer %d, this runtime was not",
                            (int)header->sanitizer);
  }
  return iree_ok_status();
}

static iree_status_t set_constants(library_executable_t* executable, const iree_hal_executable_library_v0_t* library,
                                   const iree_hal_executable_params_t* params) {
  if (library->constants.count != params->constant_count) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                            "executable library takes %u specialization constants, %" PRIhsz " were given",
                            library->constants.count, params->constant_count);
  }
  if (params->constant_count == 0) return iree_ok_status();
  IREE_RETURN_IF_ERROR(iree_allocator_clone(
      executable->base.host_allocator,
      iree_make_const_byte_span(params->constants, params->constant_count * sizeof(params->constants[0])),
      (void**)&executable->constants));
  executable->environment.constants = executable->constants;
  return iree_ok_status();
}

static iree_status_t set_imports(library_executable_t* executable, const local_library_source_t* source,
                                 const iree_hal_executable_import_table_v0_t* imports) {
  if (imports->count == 0) return iree_ok_status();
  if (imports->count > UINT16_MAX || !are_strings(&source->bounds, imports->symbols, imports->count)) {
    return bad_table("import table");
  }
  iree_allocator_t allocator = executable->base.host_allocator;
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_array(allocator, imports->count, sizeof(void*), (void**)&executable->import_funcs));
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_array(allocator, imports->count, sizeof(void*), (void**)&executable->import_contexts));
  executable->environment.import_funcs = executable->import_funcs;
  executable->environment.import_contexts = (const void**)executable->import_contexts;
  iree_hal_executable_import_resolution_t resolution = 0;
  return iree_hal_executable_import_provider_try_resolve(source->import_provider, imports->count, imports->symbols,
                                                         (void**)executable->import_funcs, executable->import_contexts,
                                                         &resolution);
}

static iree_status_t library_initialize(library_executable_t* executable, const local_library_source_t* source,
                                        const iree_hal_executable_library_v0_t* library,
                                        const iree_hal_executable_params_t* params) {
  iree_cpu_read_data(IREE_HAL_PROCESSOR_DATA_CAPACITY_V0, executable->environment.processor.data);
  executable->environment.import_thunk = import_thunk;
  IREE_RETURN_IF_ERROR(set_constants(executable, library, params));
  IREE_RETURN_IF_ERROR(set_imports(executable, source, &library->imports));
  const iree_hal_executable_export_table_v0_t* exports = &library->exports;
  for (uint32_t i = 0; i < exports->count; ++i) {
    local_function_t* function = &executable->base.functions[i];
    function->run = exports->ptrs[i];
    function->environment = &executable->environment;
    if (exports->attrs) function->attrs = exports->attrs[i];
    if (exports->names) function->name = exports->names[i];
    if (!has_good_params(&source->bounds, exports, i)) continue;
    function->params = exports->params[i];
    function->parameter_names = exports->parameter_names;
  }
  return iree_ok_status();
}

static iree_status_t library_load(const local_library_source_t* source,
                                  const iree_hal_executable_params_t* executable_params,
                                  iree_allocator_t host_allocator, library_executable_t** out_executable) {
  const iree_hal_executable_environment_v0_t environment = {.import_thunk = import_thunk};
  const iree_hal_executable_library_header_t** header =
      source->query(IREE_HAL_EXECUTABLE_LIBRARY_VERSION_LATEST, &environment);
  IREE_RETURN_IF_ERROR(check_header(&source->bounds, header));
  const iree_hal_executable_library_v0_t* library = (const iree_hal_executable_library_v0_t*)header;
  IREE_RETURN_IF_ERROR(check_export_tables(&source->bounds, &library->exports));
  library_executable_t* executable = NULL;
  IREE_RETURN_IF_ERROR(local_executable_create(sizeof(*executable), library->exports.count, library_destroy,
                                               host_allocator, (void**)&executable));
  iree_status_t status = library_initialize(executable, source, library, executable_params);
  if (iree_status_is_ok(status)) status = local_executable_name_functions(&executable->base);
  if (!iree_status_is_ok(status)) {
    iree_hal_executable_release((iree_hal_executable_t*)executable);
    return status;
  }
  *out_executable = executable;
  return iree_ok_status();
}

iree_status_t local_library_load(const local_library_source_t* source,
                                 const iree_hal_executable_params_t* executable_params, iree_allocator_t host_allocator,
                                 iree_hal_executable_t** out_executable) {
  library_executable_t* executable = NULL;
  iree_status_t status = library_load(source, executable_params, host_allocator, &executable);
  if (!iree_status_is_ok(status)) {
    if (source->unload) source->unload(source->unload_self);
    return status;
  }
  executable->unload = source->unload;
  executable->unload_self = source->unload_self;
  *out_executable = (iree_hal_executable_t*)executable;
  return iree_ok_status();
}
