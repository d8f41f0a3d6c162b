// The loader of vmvx executables.
#include "hal/local/executable.h"
#include "hal/local/vmvx.h"
#include "iree/hal/local/loaders/vmvx_module_loader.h"

typedef struct vmvx_executable_t {
  local_executable_t base;
  void* contents;  // copy of the file
  vmvx_program_t program;
  iree_budget_t* budget;                   // retained; may be NULL
  local_vmvx_environment_t* environments;  // one for each function
  char* names;
} vmvx_executable_t;

static void executable_destroy(local_executable_t* base) {
  vmvx_executable_t* executable = (vmvx_executable_t*)base;
  vmvx_program_close(&executable->program);
  iree_budget_release(executable->budget);
  iree_allocator_free(base->host_allocator, executable->environments);
  iree_allocator_free(base->host_allocator, executable->names);
  iree_allocator_free_aligned(base->host_allocator, executable->contents);
}

static iree_status_t fill_function(vmvx_executable_t* executable, uint32_t index, char** names) {
  const vmvx_function_t* f = &executable->program.functions[index];
  local_vmvx_environment_t* environment = &executable->environments[index];
  local_function_t* out = &executable->base.functions[index];
  size_t pages = (local_vmvx_memory_size(f) + IREE_HAL_EXECUTABLE_WORKGROUP_LOCAL_MEMORY_PAGE_SIZE - 1) /
                 IREE_HAL_EXECUTABLE_WORKGROUP_LOCAL_MEMORY_PAGE_SIZE;
  if (f->binding_count > IREE_HAL_EXECUTABLE_MAX_BINDING_COUNT ||
      f->constant_count > IREE_HAL_EXECUTABLE_MAX_CONSTANT_COUNT || pages > UINT16_MAX) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "vmvx function '%.*s' has too many bindings, constants or registers", (int)f->name.size,
                            f->name.data);
  }
  *environment = (local_vmvx_environment_t){.function = f, .budget = executable->budget};
  *out = (local_function_t){.run = local_vmvx_run, .environment = &environment->base, .name = *names};
  out->attrs.local_memory_pages = (uint16_t)pages;
  out->attrs.binding_count = (uint8_t)f->binding_count;
  out->attrs.constant_count = (uint8_t)f->constant_count;
  out->attrs.workgroup_size_x = out->attrs.workgroup_size_y = out->attrs.workgroup_size_z = 1;
  memcpy(*names, f->name.data, f->name.size);
  (*names)[f->name.size] = 0;
  *names += f->name.size + 1;
  return iree_ok_status();
}

static iree_status_t fill_functions(vmvx_executable_t* executable) {
  iree_allocator_t allocator = executable->base.host_allocator;
  const vmvx_program_t* program = &executable->program;
  size_t name_size = 1;
  for (uint32_t i = 0; i < program->function_count; ++i) name_size += program->functions[i].name.size + 1;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, name_size, (void**)&executable->names));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(allocator, (iree_host_size_t)program->function_count + 1,
                                                   sizeof(*executable->environments),
                                                   (void**)&executable->environments));
  char* names = executable->names;
  for (uint32_t i = 0; i < program->function_count; ++i) {
    IREE_RETURN_IF_ERROR(fill_function(executable, i, &names));
  }
  return iree_ok_status();
}

// Takes over `contents` and `program`, also on failure.
static iree_status_t executable_create(void* contents, vmvx_program_t program, iree_budget_t* budget,
                                       iree_allocator_t allocator, iree_hal_executable_t** out_executable) {
  vmvx_executable_t* executable = NULL;
  iree_status_t status = local_executable_create(sizeof(*executable), program.function_count, executable_destroy,
                                                 allocator, (void**)&executable);
  if (!iree_status_is_ok(status)) {
    vmvx_program_close(&program);
    iree_allocator_free_aligned(allocator, contents);
    return status;
  }
  executable->contents = contents;
  executable->program = program;
  executable->budget = budget;
  iree_budget_retain(budget);
  status = fill_functions(executable);
  if (iree_status_is_ok(status)) status = local_executable_name_functions(&executable->base);
  if (!iree_status_is_ok(status)) {
    iree_hal_executable_release((iree_hal_executable_t*)executable);
    return status;
  }
  *out_executable = (iree_hal_executable_t*)executable;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// The loader
//===----------------------------------------------------------------------------------------------------------------===

typedef struct vmvx_loader_t {
  iree_hal_executable_loader_t base;
  iree_allocator_t host_allocator;
} vmvx_loader_t;

static void loader_destroy(iree_hal_executable_loader_t* base) {
  iree_allocator_free(((vmvx_loader_t*)base)->host_allocator, base);
}

static iree_status_t loader_infer_format(iree_hal_executable_loader_t* base,
                                         iree_hal_executable_caching_mode_t caching_mode,
                                         iree_const_byte_span_t executable_data, iree_host_size_t capacity,
                                         char* executable_format, iree_host_size_t* out_inferred_size) {
  (void)base, (void)caching_mode;
  vmvx_header_t header;
  uint64_t size = executable_data.data_length;
  if (size && size < sizeof(header)) return iree_status_from_code(IREE_STATUS_INCOMPATIBLE);
  memcpy(&header, executable_data.data, sizeof(header));
  if (header.magic != VMVX_MAGIC) return iree_status_from_code(IREE_STATUS_INCOMPATIBLE);
  if (!size) size = vmvx_file_size(&header);
  if (capacity <= strlen(VMVX_FORMAT)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "format name '" VMVX_FORMAT "' does not fit");
  }
  memcpy(executable_format, VMVX_FORMAT, sizeof(VMVX_FORMAT));
  *out_inferred_size = (iree_host_size_t)size;
  return iree_ok_status();
}

static bool loader_query_support(iree_hal_executable_loader_t* base, iree_hal_executable_caching_mode_t caching_mode,
                                 iree_string_view_t executable_format) {
  (void)base, (void)caching_mode;
  return iree_string_view_equal(executable_format, IREE_SV(VMVX_FORMAT));
}

static iree_status_t loader_try_load(iree_hal_executable_loader_t* base,
                                     const iree_hal_executable_params_t* executable_params,
                                     iree_host_size_t worker_capacity, iree_hal_executable_t** out_executable) {
  (void)worker_capacity;
  iree_allocator_t allocator = ((vmvx_loader_t*)base)->host_allocator;
  iree_const_byte_span_t data = executable_params->executable_data;
  if (executable_params->constant_count) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "vmvx executables take no specialization constants");
  }
  void* contents = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_aligned(allocator, data.data_length + 1, 64, 0, &contents));
  memcpy(contents, data.data, data.data_length);
  vmvx_program_t program;
  iree_status_t status =
      vmvx_program_open(iree_make_const_byte_span(contents, data.data_length), false, allocator, &program);
  if (!iree_status_is_ok(status)) {
    iree_allocator_free_aligned(allocator, contents);
    return iree_status_annotate(status, IREE_SV("loading a vmvx executable"));
  }
  return executable_create(contents, program, executable_params->budget, allocator, out_executable);
}

static const iree_hal_executable_loader_vtable_t loader_vtable = {
    .destroy = loader_destroy,
    .infer_format = loader_infer_format,
    .query_support = loader_query_support,
    .try_load = loader_try_load,
};

iree_status_t local_vmvx_loader_create(iree_hal_executable_plugin_manager_t* plugin_manager,
                                       iree_allocator_t host_allocator, iree_hal_executable_loader_t** out_loader) {
  (void)plugin_manager;
  *out_loader = NULL;
  vmvx_loader_t* loader = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*loader), (void**)&loader));
  iree_hal_executable_loader_initialize(&loader_vtable, iree_hal_executable_import_provider_null(), &loader->base);
  loader->host_allocator = host_allocator;
  *out_loader = &loader->base;
  return iree_ok_status();
}

iree_status_t iree_hal_vmvx_module_loader_create_isolated(iree_host_size_t user_module_count,
                                                          iree_vm_module_t** user_modules,
                                                          iree_allocator_t host_allocator,
                                                          iree_hal_executable_loader_t** out_executable_loader) {
  (void)user_modules;
  *out_executable_loader = NULL;
  if (user_module_count) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "vmvx executables do not call user modules");
  }
  return local_vmvx_loader_create(NULL, host_allocator, out_executable_loader);
}

iree_status_t iree_hal_vmvx_module_loader_create(iree_vm_instance_t* instance, iree_host_size_t user_module_count,
                                                 iree_vm_module_t** user_modules, iree_allocator_t host_allocator,
                                                 iree_hal_executable_loader_t** out_executable_loader) {
  (void)instance;
  return iree_hal_vmvx_module_loader_create_isolated(user_module_count, user_modules, host_allocator,
                                                     out_executable_loader);
}
