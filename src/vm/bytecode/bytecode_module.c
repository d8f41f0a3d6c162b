// The module interface over a .vmfb.

#include "base/trace.h"
#include "iree/modules/hal/types.h"
#include "iree/vm/bytecode/module.h"
#include "module/vmvx.h"
#include "vm/bytecode/machine.h"
#include "vm/bytecode/state.h"

// Devices, constants and the program's initializer run as this export.
static bool is_init(iree_string_view_t name) { return iree_string_view_equal(name, IREE_SV("__init")); }
static uint32_t init_ordinal(const bytecode_module_t* module) { return module->image.exports_count; }

typedef struct implicit_import_t {
  const char* full_names[3];  // by provider
  const char* convention;
  iree_vm_function_linkage_t linkage;
} implicit_import_t;

static const implicit_import_t implicit_imports[VM_IMPLICIT_COUNT] = {
#define IMPLICIT_IMPORT(NAME, loader, tail, convention, linkage) \
  {{"hal." tail, "hal_inline." tail, loader tail}, convention, IREE_VM_FUNCTION_LINKAGE_##linkage},
    VM_IMPLICIT_IMPORTS(IMPLICIT_IMPORT)
#undef IMPLICIT_IMPORT
};

//===----------------------------------------------------------------------------------------------------------------===
// Description
//===----------------------------------------------------------------------------------------------------------------===

static void destroy(void* self) {
  bytecode_module_t* module = self;
  iree_allocator_t allocator = module->allocator;
  module_image_close(&module->image, allocator);
  if (!iree_allocator_is_null(module->archive_allocator)) {
    iree_allocator_free(module->archive_allocator, (void*)(uintptr_t)module->archive.data);
  }
  iree_vm_instance_release(module->instance);
  iree_allocator_free(allocator, module);
}

static iree_string_view_t name(void* self) {
  bytecode_module_t* module = self;
  return module_image_string(&module->image, module->image.header->name);
}

static iree_vm_module_signature_t signature(void* self) {
  bytecode_module_t* module = self;
  return (iree_vm_module_signature_t){
      .version = module->image.header->version,
      .attr_count = module->image.header->attr_count,
      .import_function_count = vm_module_import_count(module),
      .export_function_count = module->image.exports_count,
      .internal_function_count = module->image.functions_count,
  };
}

static iree_status_t enumerate_dependencies(void* self, iree_vm_module_dependency_callback_t callback,
                                            void* user_data) {
  bytecode_module_t* module = self;
  for (uint32_t i = 0; i < module->image.dependencies_count; ++i) {
    const module_dependency_t* row = &module->image.dependencies[i];
    iree_vm_module_dependency_t dependency = {
        .name = module_image_string(&module->image, row->name),
        .minimum_version = row->version,
        .flags = row->flags & 1 ? IREE_VM_MODULE_DEPENDENCY_FLAG_OPTIONAL : IREE_VM_MODULE_DEPENDENCY_FLAG_REQUIRED,
    };
    IREE_RETURN_IF_ERROR(callback(user_data, &dependency));
  }
  return iree_ok_status();
}

// Modules that depend on `hal` have devices from there, whatever else they call.
static module_devices_t find_provider(const module_image_t* image) {
  bool hal = false, loader = false, alone = false;
  for (uint32_t i = 0; i < image->dependencies_count; ++i) {
    iree_string_view_t name = module_image_string(image, image->dependencies[i].name);
    hal |= iree_string_view_equal(name, IREE_SV("hal"));
    alone |= iree_string_view_equal(name, IREE_SV("hal_inline"));
    loader |= iree_string_view_equal(name, IREE_SV("hal_loader"));
  }
  return hal || !alone ? MODULE_DEVICES_HAL : loader ? MODULE_DEVICES_LOADER : MODULE_DEVICES_INLINE;
}

static iree_status_t get_attr(const module_image_t* image, uint32_t first, uint32_t count, iree_host_size_t index,
                              iree_string_pair_t* out_attr) {
  if (index >= count) return iree_status_from_code(IREE_STATUS_OUT_OF_RANGE);
  const module_attr_t* row = &image->attrs[first + index];
  *out_attr = iree_make_string_pair(module_image_string(image, row->key), module_image_string(image, row->value));
  return iree_ok_status();
}

static iree_status_t get_module_attr(void* self, iree_host_size_t index, iree_string_pair_t* out_attr) {
  const module_image_t* image = &((bytecode_module_t*)self)->image;
  return get_attr(image, image->header->attr_first, image->header->attr_count, index, out_attr);
}

static iree_status_t get_import(bytecode_module_t* module, iree_host_size_t ordinal, iree_vm_function_t* function,
                                iree_string_view_t* name, iree_string_view_t* convention) {
  const module_image_t* image = &module->image;
  if (ordinal >= vm_module_import_count(module)) return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "no such import");
  if (ordinal >= image->imports_count) {
    const implicit_import_t* import = &implicit_imports[ordinal - image->imports_count];
    *name = iree_make_cstring_view(import->full_names[module->provider]);
    *convention = iree_make_cstring_view(import->convention);
    function->linkage = import->linkage;
    return iree_ok_status();
  }
  const module_import_t* row = &image->imports[ordinal];
  *name = module_image_string(image, row->name);
  *convention = module_image_string(image, row->convention);
  function->linkage = row->flags & 1 ? IREE_VM_FUNCTION_LINKAGE_IMPORT_OPTIONAL : IREE_VM_FUNCTION_LINKAGE_IMPORT;
  return iree_ok_status();
}

static iree_status_t get_export(bytecode_module_t* module, iree_host_size_t ordinal, iree_string_view_t* name,
                                iree_string_view_t* convention) {
  const module_image_t* image = &module->image;
  if (ordinal == init_ordinal(module)) {
    *name = IREE_SV("__init");
    *convention = IREE_SV("0v_v");
    return iree_ok_status();
  }
  if (ordinal >= image->exports_count) return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "no such export");
  *name = module_image_string(image, image->exports[ordinal].name);
  *convention = module_image_string(image, image->functions[image->exports[ordinal].function].convention);
  return iree_ok_status();
}

static iree_status_t get_internal(bytecode_module_t* module, iree_host_size_t ordinal, iree_string_view_t* name,
                                  iree_string_view_t* convention) {
  const module_image_t* image = &module->image;
  if (ordinal >= image->functions_count) return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "no such function");
  *name = module_image_string(image, image->functions[ordinal].name);
  *convention = module_image_string(image, image->functions[ordinal].convention);
  return iree_ok_status();
}

static iree_status_t get_function(void* self, iree_vm_function_linkage_t linkage, iree_host_size_t ordinal,
                                  iree_vm_function_t* out_function, iree_string_view_t* out_name,
                                  iree_vm_function_signature_t* out_signature) {
  bytecode_module_t* module = self;
  iree_vm_function_t function = {&module->interface, (uint16_t)linkage, (uint32_t)ordinal};
  iree_string_view_t name, convention;
  switch (linkage) {
    case IREE_VM_FUNCTION_LINKAGE_IMPORT:
    case IREE_VM_FUNCTION_LINKAGE_IMPORT_OPTIONAL:
      IREE_RETURN_IF_ERROR(get_import(module, ordinal, &function, &name, &convention));
      break;
    case IREE_VM_FUNCTION_LINKAGE_INTERNAL:
      IREE_RETURN_IF_ERROR(get_internal(module, ordinal, &name, &convention));
      break;
    default:
      IREE_RETURN_IF_ERROR(get_export(module, ordinal, &name, &convention));
      break;
  }
  if (out_function) *out_function = function;
  if (out_name) *out_name = name;
  if (out_signature) out_signature->calling_convention = convention;
  return iree_ok_status();
}

// Names what there is instead, as far as a message has room for.
static iree_status_t unknown_function(const module_image_t* image, iree_string_view_t name) {
  char list[512] = "";
  size_t size = 0;
  for (uint32_t i = 0; i < image->exports_count && size + 8 < sizeof(list); ++i) {
    iree_string_view_t other = module_image_string(image, image->exports[i].name);
    if (iree_string_view_starts_with(other, IREE_SV("__"))) continue;
    size += (size_t)snprintf(list + size, sizeof(list) - size, "%s%.*s", size ? ", " : "", (int)other.size, other.data);
  }
  if (size + 8 >= sizeof(list)) memcpy(list + sizeof(list) - 8, ", ...", 6);
  return iree_make_status(IREE_STATUS_NOT_FOUND, "no function `%.*s` exported by module, which exports %s%s%s",
                          (int)name.size, name.data, size ? "[" : "none", list, size ? "]" : "");
}

static iree_status_t lookup_function(void* self, iree_vm_function_linkage_t linkage, iree_string_view_t name,
                                     const iree_vm_function_signature_t* expected_signature,
                                     iree_vm_function_t* out_function) {
  bytecode_module_t* module = self;
  const module_image_t* image = &module->image;
  *out_function = (iree_vm_function_t){&module->interface, (uint16_t)linkage, 0};
  if (linkage == IREE_VM_FUNCTION_LINKAGE_EXPORT || linkage == IREE_VM_FUNCTION_LINKAGE_EXPORT_OPTIONAL) {
    for (uint32_t i = 0; i < image->exports_count; ++i) {
      if (!iree_string_view_equal(module_image_string(image, image->exports[i].name), name)) continue;
      out_function->ordinal = i;
      return iree_ok_status();
    }
    if (is_init(name)) {
      out_function->ordinal = init_ordinal(module);
      return iree_ok_status();
    }
  } else if (linkage == IREE_VM_FUNCTION_LINKAGE_INTERNAL) {
    for (uint32_t i = 0; i < image->functions_count; ++i) {
      if (!iree_string_view_equal(module_image_string(image, image->functions[i].name), name)) continue;
      out_function->ordinal = i;
      return iree_ok_status();
    }
  }
  return unknown_function(image, name);
}

static iree_status_t get_function_attr(void* self, iree_vm_function_linkage_t linkage, iree_host_size_t ordinal,
                                       iree_host_size_t index, iree_string_pair_t* out_attr) {
  const module_image_t* image = &((bytecode_module_t*)self)->image;
  if (linkage != IREE_VM_FUNCTION_LINKAGE_EXPORT || ordinal >= image->exports_count) {
    return iree_status_from_code(IREE_STATUS_OUT_OF_RANGE);
  }
  const module_export_t* row = &image->exports[ordinal];
  return get_attr(image, row->attr_first, row->attr_count, index, out_attr);
}

// data: the location row and its image's file names.
static iree_status_t format_location(void* self, uint64_t data[2], iree_vm_source_location_format_flags_t flags,
                                     iree_string_builder_t* builder) {
  const module_location_t* location = (const module_location_t*)(uintptr_t)data[0];
  const char* file_names = (const char*)(uintptr_t)data[1];
  return iree_string_builder_append_format(builder, "%s:%u:%u", file_names + location->file, location->line,
                                           location->column);
}

static uint32_t function_index(const bytecode_module_t* module, iree_vm_function_t function) {
  if (function.linkage == IREE_VM_FUNCTION_LINKAGE_INTERNAL) return function.ordinal;
  if (function.ordinal < module->image.exports_count) return module->image.exports[function.ordinal].function;
  return module->image.header->init_function;
}

static iree_status_t resolve_source_location(void* self, iree_vm_function_t function, iree_vm_source_offset_t pc,
                                             iree_vm_source_location_t* out_source_location) {
  bytecode_module_t* module = self;
  const module_location_t* location =
      module_image_location(&module->image, MODULE_LOCATION_FUNCTION, function_index(module, function), (uint32_t)pc);
  if (!location) return iree_status_from_code(IREE_STATUS_UNAVAILABLE);
  *out_source_location = (iree_vm_source_location_t){
      .self = module,
      .data = {(uintptr_t)location, (uintptr_t)module->image.file_names},
      .format = format_location,
  };
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// States and calls
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t alloc_state(void* self, iree_allocator_t allocator, iree_vm_module_state_t** out_module_state) {
  return vm_state_create(self, allocator, out_module_state);
}

static void free_state(void* self, iree_vm_module_state_t* module_state) { vm_state_destroy(module_state); }

static iree_status_t fork_state(void* self, iree_vm_module_state_t* parent_state, iree_allocator_t allocator,
                                iree_vm_module_state_t** out_child_state) {
  return vm_state_fork(parent_state, allocator, out_child_state);
}

static iree_status_t resolve_import(void* self, iree_vm_module_state_t* module_state, iree_host_size_t ordinal,
                                    const iree_vm_function_t* function, const iree_vm_function_signature_t* signature) {
  return vm_state_resolve_import(module_state, (uint32_t)ordinal, function);
}

static iree_status_t notify(void* self, iree_vm_module_state_t* module_state, iree_vm_signal_t signal) {
  bytecode_module_t* module = self;
  if (signal != IREE_VM_SIGNAL_SUSPEND && signal != IREE_VM_SIGNAL_LOW_MEMORY) return iree_ok_status();
  for (uint32_t i = 0; i < module->image.devices_count; ++i) {
    if (module_state->devices[i]) vm_device_trim(module_state->devices[i]);
  }
  return iree_ok_status();
}

static iree_status_t run_init(bytecode_module_t* module, iree_vm_stack_t* stack, iree_vm_function_call_t call) {
  iree_vm_module_state_t* state = NULL;
  IREE_RETURN_IF_ERROR(iree_vm_stack_query_module_state(stack, &module->interface, &state));
  IREE_RETURN_IF_ERROR(vm_state_setup(state, stack));
  uint32_t init = module->image.header->init_function;
  if (init == MODULE_NONE) return iree_ok_status();
  return vm_interpret(stack, module, init, &call);
}

static iree_status_t begin_call(void* self, iree_vm_stack_t* stack, iree_vm_function_call_t call) {
  bytecode_module_t* module = self;
  bool internal = call.function.linkage == IREE_VM_FUNCTION_LINKAGE_INTERNAL;
  uint32_t limit = internal ? module->image.functions_count : module->image.exports_count;
  if (call.function.ordinal >= limit) {
    if (!internal && call.function.ordinal == init_ordinal(module)) return run_init(module, stack, call);
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "module has no function %u", call.function.ordinal);
  }
  return vm_interpret(stack, module, function_index(module, call.function), &call);
}

static iree_status_t resume_call(void* self, iree_vm_stack_t* stack, iree_byte_span_t call_results) {
  return vm_interpret_resume(stack, self, call_results);
}

//===----------------------------------------------------------------------------------------------------------------===
// Creation
//===----------------------------------------------------------------------------------------------------------------===

// Types that the instance has registered on behalf of another library.
static iree_status_t check_types(const bytecode_module_t* module) {
  if (!vm_module_uses_hal(module) || iree_hal_buffer_view_type() != IREE_VM_REF_TYPE_NULL) return iree_ok_status();
  return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                          "the module uses devices but the HAL types are not registered; call "
                          "iree_hal_module_register_all_types first");
}

// Executables have one variant for each target; one that is portable is enough.
static iree_status_t check_portable(const module_image_t* image) {
  for (uint32_t i = 0; i < image->executables_count; ++i) {
    const module_executable_t* row = &image->executables[i];
    const module_variant_t* native = NULL;
    bool is_portable = false;
    for (uint32_t k = 0; k < row->variant_count && !is_portable; ++k) {
      const module_variant_t* variant = &image->variants[row->variant_first + k];
      is_portable = module_image_is_portable(image, variant->target);
      if (!is_portable) native = variant;
    }
    if (is_portable || !native) continue;
    iree_string_view_t name = module_image_string(image, row->name);
    iree_string_view_t format = module_image_string(image, image->targets[native->target].format);
    return iree_make_status(IREE_STATUS_PERMISSION_DENIED,
                            "executable '%.*s' is native code (%.*s), which runs unconfined; only portable code "
                            "(" VMVX_FORMAT ") may be loaded",
                            (int)name.size, name.data, (int)format.size, format.data);
  }
  return iree_ok_status();
}

iree_status_t iree_vm_bytecode_module_create(iree_vm_instance_t* instance, iree_vm_bytecode_module_flags_t flags,
                                             iree_const_byte_span_t archive_contents,
                                             iree_allocator_t archive_allocator, iree_allocator_t allocator,
                                             iree_vm_module_t** out_module) {
  TRACE_SCOPE("load_module");
  *out_module = NULL;
  if (flags & ~(iree_vm_bytecode_module_flags_t)IREE_VM_BYTECODE_MODULE_FLAG_PORTABLE_ONLY) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "bytecode module flags 0x%X are not known", (unsigned)flags);
  }
  bytecode_module_t* module = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, sizeof(*module), (void**)&module));
  iree_status_t status = module_image_open(archive_contents, allocator, &module->image);
  if (iree_status_is_ok(status)) status = check_types(module);
  module->functions = NULL;
  module->portable_only = flags & IREE_VM_BYTECODE_MODULE_FLAG_PORTABLE_ONLY;
  if (iree_status_is_ok(status) && module->portable_only) status = check_portable(&module->image);
  if (!iree_status_is_ok(status)) {
    module_image_close(&module->image, allocator);
    iree_allocator_free(allocator, module);
    return status;
  }
  module->provider = find_provider(&module->image);
  module->instance = instance;
  iree_vm_instance_retain(instance);
  module->allocator = allocator;
  module->archive_allocator = archive_allocator;
  module->archive = archive_contents;
  module->interface = (iree_vm_module_t){
      .self = module,
      .ref_count = IREE_ATOMIC_VAR_INIT(1),
      .destroy = destroy,
      .name = name,
      .signature = signature,
      .enumerate_dependencies = enumerate_dependencies,
      .get_module_attr = get_module_attr,
      .lookup_function = lookup_function,
      .get_function = get_function,
      .get_function_attr = get_function_attr,
      .resolve_source_location = resolve_source_location,
      .alloc_state = alloc_state,
      .free_state = free_state,
      .fork_state = fork_state,
      .resolve_import = resolve_import,
      .notify = notify,
      .begin_call = begin_call,
      .resume_call = resume_call,
  };
  *out_module = &module->interface;
  return iree_ok_status();
}

iree_status_t iree_vm_c_module_create(iree_vm_instance_t* instance, const iree_vm_c_module_t* c_module,
                                      iree_allocator_t allocator, iree_vm_module_t** out_module) {
  *out_module = NULL;
  if (c_module->version != IREE_VM_C_MODULE_VERSION) {
    return iree_make_status(IREE_STATUS_INCOMPATIBLE,
                            "C code of a module is of version %u, and this runtime's is %u; generate it anew",
                            c_module->version, IREE_VM_C_MODULE_VERSION);
  }
  IREE_RETURN_IF_ERROR(iree_vm_bytecode_module_create(instance, IREE_VM_BYTECODE_MODULE_FLAG_NONE, c_module->contents,
                                                      iree_allocator_null(), allocator, out_module));
  bytecode_module_t* module = (*out_module)->self;
  if (c_module->function_count != module->image.functions_count) {
    uint32_t count = module->image.functions_count;
    iree_vm_module_release(*out_module);
    *out_module = NULL;
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "C code of a module has %" PRIhsz " functions, and its tables have %u",
                            c_module->function_count, count);
  }
  module->functions = c_module->functions;
  return iree_ok_status();
}
