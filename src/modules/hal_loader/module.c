// See iree/modules/hal/loader/module.h.
#include "iree/modules/hal/loader/module.h"

#include <inttypes.h>

#include "hal/local/executable.h"
#include "iree/hal/drivers/local_sync/sync_device.h"

typedef struct loader_module_t {
  iree_hal_device_t* device;  // of programs that the compiler made
  iree_allocator_t allocator;
  iree_host_size_t loader_count;
  iree_hal_executable_loader_t* loaders[];
} loader_module_t;

//===----------------------------------------------------------------------------------------------------------------===
// Executables
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t read_text(iree_vm_ref_t ref, iree_string_view_t* out_text) {
  iree_vm_buffer_t* buffer = NULL;
  IREE_RETURN_IF_ERROR(iree_vm_buffer_check_deref(ref, &buffer));
  *out_text = iree_vm_buffer_as_string(buffer);
  return iree_ok_status();
}

static bool supports(const loader_module_t* self, iree_host_size_t loader, iree_string_view_t format) {
  return iree_hal_executable_loader_query_support(self->loaders[loader], 0, format);
}

IREE_VM_ABI_EXPORT(query_support, void, r, i) {
  const loader_module_t* self = module;
  iree_string_view_t format;
  IREE_RETURN_IF_ERROR(read_text(args->r0, &format));
  for (iree_host_size_t i = 0; i < self->loader_count; ++i) rets->i0 |= supports(self, i, format);
  return iree_ok_status();
}

// Constants are words; a null buffer has none.
static iree_status_t read_words(iree_vm_ref_t ref, const uint32_t** out_words, iree_host_size_t* out_count) {
  iree_vm_buffer_t* buffer = NULL;
  IREE_RETURN_IF_ERROR(iree_vm_buffer_check_deref_or_null(ref, &buffer));
  iree_host_size_t size = buffer ? iree_vm_buffer_length(buffer) : 0;
  const uint8_t* data = buffer ? iree_vm_buffer_data(buffer) : NULL;
  if (size % sizeof(uint32_t) || (uintptr_t)data % sizeof(uint32_t)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "constants are words of 32 bits, aligned as such");
  }
  *out_words = (const uint32_t*)data;
  *out_count = size / sizeof(uint32_t);
  return iree_ok_status();
}

IREE_VM_ABI_EXPORT(load, void, rrr, r) {
  const loader_module_t* self = module;
  iree_hal_executable_params_t params;
  iree_vm_buffer_t* data = NULL;
  iree_hal_executable_t* executable = NULL;
  iree_hal_executable_params_initialize(&params);
  IREE_RETURN_IF_ERROR(read_text(args->r0, &params.executable_format));
  IREE_RETURN_IF_ERROR(iree_vm_buffer_check_deref(args->r1, &data));
  IREE_RETURN_IF_ERROR(read_words(args->r2, &params.constants, &params.constant_count));
  params.caching_mode = IREE_HAL_EXECUTABLE_CACHING_MODE_ALLOW_OPTIMIZATION;
  params.executable_data = iree_make_const_byte_span(iree_vm_buffer_data(data), iree_vm_buffer_length(data));
  for (iree_host_size_t i = 0; i < self->loader_count && !executable; ++i) {
    if (!supports(self, i, params.executable_format)) continue;
    iree_status_t status =
        iree_hal_executable_loader_try_load(self->loaders[i], &params, /*worker_capacity=*/1, &executable);
    bool is_other = iree_status_is_cancelled(status);  // of the format, but not for this loader
    if (!iree_status_is_ok(status) && !is_other) return status;
    iree_status_ignore(status);
  }
  if (!executable) {
    return iree_make_status(IREE_STATUS_NOT_FOUND, "no loader takes executables of format '%.*s'",
                            (int)params.executable_format.size, params.executable_format.data);
  }
  rets->r0 = iree_hal_executable_move_ref(executable);
  return iree_ok_status();
}

IREE_VM_ABI_EXPORT(lookup_function, void, rr, I) {
  iree_hal_executable_t* executable = NULL;
  iree_string_view_t name;
  iree_hal_executable_function_t function;
  IREE_RETURN_IF_ERROR(iree_hal_executable_check_deref(args->r0, &executable));
  IREE_RETURN_IF_ERROR(read_text(args->r1, &name));
  IREE_RETURN_IF_ERROR(iree_hal_executable_lookup_function_by_name(executable, name, &function));
  rets->i0 = (int64_t)function.value;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Dispatches
//===----------------------------------------------------------------------------------------------------------------===

// executable.dispatch: arguments have two lists, so that no struct is their form.
typedef struct binding_t {
  iree_vm_ref_t buffer;
  int64_t offset, length;
} binding_t;
typedef struct dispatch_args_t {
  iree_vm_ref_t executable;
  uint64_t function;
  int32_t workgroups[3];
  int32_t constant_count;
} dispatch_args_t;

typedef struct dispatch_t {
  const local_function_t* function;
  iree_hal_executable_dispatch_state_v0_t state;
  void* pointers[IREE_HAL_EXECUTABLE_MAX_BINDING_COUNT];
  size_t lengths[IREE_HAL_EXECUTABLE_MAX_BINDING_COUNT];
} dispatch_t;

static iree_status_t bind(const binding_t* bindings, uint32_t count, dispatch_t* d) {
  if (count != d->state.binding_count || count > IREE_HAL_EXECUTABLE_MAX_BINDING_COUNT) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the function has %u bindings, and %u are passed",
                            d->state.binding_count, count);
  }
  for (uint32_t i = 0; i < count; ++i) {
    iree_vm_buffer_t* buffer = NULL;
    IREE_RETURN_IF_ERROR(iree_vm_buffer_check_deref(bindings[i].buffer, &buffer), "binding %u", i);
    uint64_t size = iree_vm_buffer_length(buffer), offset = (uint64_t)bindings[i].offset;
    uint64_t length = bindings[i].length < 0 && offset <= size ? size - offset : (uint64_t)bindings[i].length;
    if (offset > size || length > size - offset) {
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                              "binding %u is %" PRIi64 " bytes at %" PRIi64 " of a buffer of %" PRIu64, i,
                              bindings[i].length, bindings[i].offset, size);
    }
    d->pointers[i] = iree_vm_buffer_data(buffer) + offset;
    d->lengths[i] = (size_t)length;
  }
  d->state.binding_ptrs = d->pointers;
  d->state.binding_lengths = d->lengths;
  return iree_ok_status();
}

static iree_status_t prepare(const dispatch_args_t* args, const binding_t* bindings, uint32_t binding_count,
                             dispatch_t* d) {
  iree_hal_executable_t* executable = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_executable_check_deref(args->executable, &executable));
  d->function = local_executable_function(executable, (iree_hal_executable_function_t){.value = args->function});
  if (!d->function) {
    return iree_make_status(IREE_STATUS_NOT_FOUND, "the executable has no function %" PRIu64, args->function);
  }
  const iree_hal_executable_dispatch_attrs_v0_t* attrs = &d->function->attrs;
  bool fits = args->workgroups[2] <= UINT16_MAX;
  for (int i = 0; i < 3; ++i) fits &= args->workgroups[i] >= 0;
  if (!fits || args->constant_count != attrs->constant_count) {
    return iree_make_status(
        IREE_STATUS_INVALID_ARGUMENT, "the function has %u constants, and %d are passed with %dx%dx%d workgroups",
        attrs->constant_count, args->constant_count, args->workgroups[0], args->workgroups[1], args->workgroups[2]);
  }
  d->state = (iree_hal_executable_dispatch_state_v0_t){
      .workgroup_size_x = iree_max(1u, attrs->workgroup_size_x),
      .workgroup_size_y = iree_max(1u, attrs->workgroup_size_y),
      .workgroup_size_z = iree_max((uint16_t)1, attrs->workgroup_size_z),
      .constant_count = attrs->constant_count,
      .workgroup_count_x = (uint32_t)args->workgroups[0],
      .workgroup_count_y = (uint32_t)args->workgroups[1],
      .workgroup_count_z = (uint16_t)args->workgroups[2],
      .max_concurrency = 1,
      .binding_count = attrs->binding_count,
      .constants = (const uint32_t*)(args + 1),
  };
  return bind(bindings, binding_count, d);
}

static iree_status_t run(const dispatch_t* d, void* scratch, uint32_t scratch_size) {
  const iree_hal_executable_dispatch_state_v0_t* state = &d->state;
  iree_hal_executable_workgroup_state_v0_t workgroup = {.local_memory = scratch, .local_memory_size = scratch_size};
  for (uint32_t z = 0; z < state->workgroup_count_z; ++z) {
    for (uint32_t y = 0; y < state->workgroup_count_y; ++y) {
      for (uint32_t x = 0; x < state->workgroup_count_x; ++x) {
        workgroup.workgroup_id_x = x;
        workgroup.workgroup_id_y = y;
        workgroup.workgroup_id_z = (uint16_t)z;
        int code = d->function->run(d->function->environment, state, &workgroup);
        if (code) return iree_make_status(IREE_STATUS_INTERNAL, "a workgroup ended with %d", code);
      }
    }
  }
  return iree_ok_status();
}

static iree_status_t dispatch(const loader_module_t* self, const dispatch_args_t* args, const binding_t* bindings,
                              uint32_t binding_count) {
  dispatch_t d;
  void* scratch = NULL;
  IREE_RETURN_IF_ERROR(prepare(args, bindings, binding_count, &d));
  enum { PAGE = IREE_HAL_EXECUTABLE_WORKGROUP_LOCAL_MEMORY_PAGE_SIZE };
  uint32_t size = d.function->attrs.local_memory_pages * (uint32_t)PAGE;
  if (size) IREE_RETURN_IF_ERROR(iree_allocator_malloc_aligned(self->allocator, size, PAGE, 0, &scratch));
  iree_status_t status = run(&d, scratch, size);
  if (scratch) iree_allocator_free_aligned(self->allocator, scratch);
  return status;
}

// Finds the lists in the packed arguments: natural alignment, counts in front of the elements.
static iree_status_t shim_dispatch(iree_vm_stack_t* stack, iree_vm_native_function_flags_t flags,
                                   iree_byte_span_t args_storage, iree_byte_span_t rets_storage,
                                   iree_vm_native_function_target2_t target, void* module, void* module_state) {
  const dispatch_args_t* args = (const dispatch_args_t*)args_storage.data;
  iree_host_size_t size = args_storage.data_length, at = sizeof(*args);
  bool fits = size >= at && args->constant_count >= 0 && (iree_host_size_t)args->constant_count <= (size - at) / 4;
  if (fits) at += 4 * (iree_host_size_t)args->constant_count;
  int32_t count = -1;
  if (fits && size - at >= sizeof(count)) memcpy(&count, args_storage.data + at, sizeof(count));
  at = iree_host_align(at + sizeof(count), sizeof(int64_t));
  fits = fits && count >= 0 && at <= size && size - at == (iree_host_size_t)count * sizeof(binding_t);
  if (!fits || rets_storage.data_length) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "arguments do not fit rIiiiCiDCrIID -> v");
  }
  return dispatch(module, args, (const binding_t*)(args_storage.data + at), (uint32_t)count);
}

//===----------------------------------------------------------------------------------------------------------------===
// Devices
//===----------------------------------------------------------------------------------------------------------------===

IREE_VM_ABI_EXPORT(count_devices, void, v, i) {
  rets->i0 = 1;
  return iree_ok_status();
}

IREE_VM_ABI_EXPORT(get_device, void, i, r) {
  const loader_module_t* self = module;
  if (args->i0 == 0) rets->r0 = iree_hal_device_retain_ref(self->device);
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Module
//===----------------------------------------------------------------------------------------------------------------===

// EXPORT(name, convention, shim, function): sorted by name
#define SHIMMED(arguments, results, function)                                   \
  (iree_vm_native_function_shim_t)(void*) iree_vm_shim_##arguments##_##results, \
      (iree_vm_native_function_target_t)(void*)function
#define LOADER_EXPORTS(EXPORT)                                                                            \
  EXPORT("devices.count", "0v_i", SHIMMED(v, i, count_devices))                                           \
  EXPORT("devices.get", "0i_r", SHIMMED(i, r, get_device))                                                \
  EXPORT("executable.dispatch", "0rIiiiCiDCrIID_v", (iree_vm_native_function_shim_t)(void*)shim_dispatch, \
         (iree_vm_native_function_target_t)(void*)dispatch)                                               \
  EXPORT("executable.load", "0rrr_r", SHIMMED(rrr, r, load))                                              \
  EXPORT("executable.lookup.function", "0rr_I", SHIMMED(rr, I, lookup_function))                          \
  EXPORT("executable.query_support", "0r_i", SHIMMED(r, i, query_support))

static const iree_vm_native_export_descriptor_t exports[] = {
#define EXPORT(name, convention, ...) {iree_string_view_literal(name), iree_string_view_literal(convention), 0, NULL},
    LOADER_EXPORTS(EXPORT)
#undef EXPORT
};
static const iree_vm_native_function_ptr_t functions[] = {
#define EXPORT(name, convention, ...) {__VA_ARGS__},
    LOADER_EXPORTS(EXPORT)
#undef EXPORT
};
static const iree_vm_native_module_descriptor_t descriptor = {
    .name = iree_string_view_literal("hal_loader"),
    .export_count = IREE_ARRAYSIZE(exports),
    .exports = exports,
    .function_count = IREE_ARRAYSIZE(functions),
    .functions = functions,
};

static void destroy(void* self) {
  loader_module_t* module = self;
  iree_hal_device_release(module->device);
  for (iree_host_size_t i = 0; i < module->loader_count; ++i) iree_hal_executable_loader_release(module->loaders[i]);
  iree_allocator_free(module->allocator, module);
}

static iree_status_t create_device(loader_module_t* module) {
  iree_hal_sync_device_params_t params;
  iree_hal_allocator_t* memory = NULL;
  iree_hal_device_create_params_t create = iree_hal_device_create_params_default();
  iree_hal_sync_device_params_initialize(&params);
  IREE_RETURN_IF_ERROR(
      iree_hal_allocator_create_heap(IREE_SV("inline"), module->allocator, module->allocator, &memory));
  iree_status_t status = iree_hal_sync_device_create(IREE_SV("local-sync"), &params, &create, module->loader_count,
                                                     module->loaders, memory, module->allocator, &module->device);
  iree_hal_allocator_release(memory);
  return status;
}

iree_status_t iree_hal_loader_module_create(iree_vm_instance_t* instance, iree_hal_loader_module_flags_t flags,
                                            iree_host_size_t loader_count, iree_hal_executable_loader_t** loaders,
                                            iree_allocator_t host_allocator, iree_vm_module_t** out_module) {
  *out_module = NULL;
  loader_module_t* module = NULL;
  iree_vm_module_t interface;
  if (flags) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "there is no flag 0x%x", flags);
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc(host_allocator, sizeof(*module) + loader_count * sizeof(*loaders), (void**)&module));
  *module = (loader_module_t){.allocator = host_allocator, .loader_count = loader_count};
  for (iree_host_size_t i = 0; i < loader_count; ++i) {
    module->loaders[i] = loaders[i];
    iree_hal_executable_loader_retain(loaders[i]);
  }
  iree_status_t status = create_device(module);
  if (iree_status_is_ok(status)) status = iree_vm_module_initialize(&interface, module);
  interface.destroy = destroy;
  if (iree_status_is_ok(status)) {
    status = iree_vm_native_module_create(&interface, &descriptor, instance, host_allocator, out_module);
  }
  if (!iree_status_is_ok(status)) destroy(module);
  return status;
}
