// The `hal` module.

#include "iree/modules/hal/module.h"

enum { HAL_MODULE_VERSION = 7 };

typedef struct hal_module_t {
  iree_hal_device_group_t* group;
  iree_hal_module_debug_sink_t debug_sink;
  iree_allocator_t allocator;
} hal_module_t;

typedef struct hal_state_t {
  hal_module_t* module;
  iree_allocator_t allocator;
} hal_state_t;

iree_hal_module_device_policy_t iree_hal_module_device_policy_default(void) {
  return (iree_hal_module_device_policy_t){0};
}

//===----------------------------------------------------------------------------------------------------------------===
// Functions: rows sorted by name
//===----------------------------------------------------------------------------------------------------------------===

// Frees the memory of a copy.
static void free_copy(void* user_data, iree_hal_buffer_t* buffer) {
  iree_allocator_free_aligned(iree_allocator_system(), user_data);
}

// A view whose memory the host sees, retained: itself, or one of a copy.
static iree_status_t view_on_host(hal_state_t* state, iree_hal_buffer_view_t* view, iree_hal_buffer_view_t** out_view) {
  iree_hal_buffer_t *buffer = iree_hal_buffer_view_buffer(view), *copy = NULL;
  *out_view = view;
  if (iree_hal_buffer_memory_type(buffer) & IREE_HAL_MEMORY_TYPE_HOST_VISIBLE) {
    iree_hal_buffer_view_retain(view);
    return iree_ok_status();
  }
  *out_view = NULL;
  iree_device_size_t length = iree_hal_buffer_byte_length(buffer);
  void* data = NULL;
  iree_hal_device_t* device = iree_hal_device_group_device_at(state->module->group, 0);
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_aligned(iree_allocator_system(), length + 1, IREE_HAL_HEAP_BUFFER_ALIGNMENT, 0, &data));
  iree_status_t status = iree_hal_device_transfer_d2h(device, buffer, 0, data, length,
                                                      IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout());
  iree_hal_buffer_placement_t placement = {.queue_affinity = IREE_HAL_QUEUE_AFFINITY_ANY};
  iree_hal_buffer_release_callback_t callback = {free_copy, data};
  if (iree_status_is_ok(status)) {
    status = iree_hal_heap_buffer_wrap(placement, IREE_HAL_MEMORY_TYPE_HOST_LOCAL, IREE_HAL_MEMORY_ACCESS_READ,
                                       IREE_HAL_BUFFER_USAGE_MAPPING, length, iree_make_byte_span(data, length),
                                       callback, state->allocator, &copy);
  }
  if (!copy) iree_allocator_free_aligned(iree_allocator_system(), data);
  if (iree_status_is_ok(status)) {
    status = iree_hal_buffer_view_create_like(copy, view, state->allocator, out_view);
  }
  iree_hal_buffer_release(copy);
  return status;
}

IREE_VM_ABI_EXPORT(trace_views, hal_state_t, rCrD, v) {
  const iree_hal_module_buffer_view_trace_callback_t* callback = &state->module->debug_sink.buffer_view_trace;
  if (!callback->fn) return iree_ok_status();
  iree_vm_buffer_t* key = NULL;
  IREE_RETURN_IF_ERROR(iree_vm_buffer_check_deref(args->r0, &key));
  iree_hal_buffer_view_t** views = NULL;
  iree_host_size_t count = (iree_host_size_t)args->a1_count, shown = 0;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(state->allocator, count + 1, sizeof(*views), (void**)&views));
  iree_status_t status = iree_ok_status();
  for (iree_host_size_t i = 0; i < count && iree_status_is_ok(status); ++i) {
    iree_hal_buffer_view_t* view = NULL;
    views[i] = NULL;
    status = iree_hal_buffer_view_check_deref_or_null(args->a1[i].r0, &view);
    if (iree_status_is_ok(status) && view) status = view_on_host(state, view, &views[i]);
    shown = i + 1;
  }
  if (iree_status_is_ok(status)) {
    status = callback->fn(callback->user_data, iree_vm_buffer_as_string(key), count, views, state->allocator);
  }
  for (iree_host_size_t i = 0; i < shown; ++i) iree_hal_buffer_view_release(views[i]);
  iree_allocator_free(state->allocator, views);
  return status;
}

IREE_VM_ABI_EXPORT(count_devices, hal_state_t, v, i) {
  rets->i0 = (int32_t)iree_hal_device_group_device_count(state->module->group);
  return iree_ok_status();
}

IREE_VM_ABI_EXPORT(get_device, hal_state_t, i, r) {
  iree_hal_device_t* device = args->i0 < 0 ? NULL : iree_hal_device_group_device_at(state->module->group, args->i0);
  rets->r0 = device ? iree_hal_device_retain_ref(device) : iree_vm_ref_null();
  return iree_ok_status();
}

// EXPORT(name, argument types, result types, function)
#define HAL_EXPORTS(EXPORT)                         \
  EXPORT("buffer_view.trace", rCrD, v, trace_views) \
  EXPORT("devices.count", v, i, count_devices)      \
  EXPORT("devices.get", i, r, get_device)

static const iree_vm_native_export_descriptor_t exports[] = {
#define EXPORT(name, arg_types, ret_types, function) \
  {iree_string_view_literal(name), iree_string_view_literal("0" #arg_types "_" #ret_types), 0, NULL},
    HAL_EXPORTS(EXPORT)
#undef EXPORT
};

static const iree_vm_native_function_ptr_t functions[] = {
#define EXPORT(name, arg_types, ret_types, function)                              \
  {(iree_vm_native_function_shim_t)(void*)iree_vm_shim_##arg_types##_##ret_types, \
   (iree_vm_native_function_target_t)(void*)function},
    HAL_EXPORTS(EXPORT)
#undef EXPORT
};

static const iree_vm_native_module_descriptor_t descriptor = {
    .name = iree_string_view_literal("hal"),
    .version = HAL_MODULE_VERSION,
    .export_count = IREE_ARRAYSIZE(exports),
    .exports = exports,
    .function_count = IREE_ARRAYSIZE(functions),
    .functions = functions,
};

//===----------------------------------------------------------------------------------------------------------------===
// Module
//===----------------------------------------------------------------------------------------------------------------===

static void destroy(void* self) {
  hal_module_t* module = self;
  if (module->debug_sink.release.fn) module->debug_sink.release.fn(module->debug_sink.release.user_data);
  iree_hal_device_group_release(module->group);
  iree_allocator_free(module->allocator, module);
}

static iree_status_t alloc_state(void* self, iree_allocator_t allocator, iree_vm_module_state_t** out_module_state) {
  hal_state_t* state = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, sizeof(*state), (void**)&state));
  *state = (hal_state_t){self, allocator};
  *out_module_state = (iree_vm_module_state_t*)state;
  return iree_ok_status();
}

static void free_state(void* self, iree_vm_module_state_t* module_state) {
  hal_state_t* state = (hal_state_t*)module_state;
  if (state) iree_allocator_free(state->allocator, state);
}

static iree_status_t fork_state(void* self, iree_vm_module_state_t* parent_state, iree_allocator_t allocator,
                                iree_vm_module_state_t** out_child_state) {
  return alloc_state(self, allocator, out_child_state);
}

static iree_status_t notify(void* self, iree_vm_module_state_t* module_state, iree_vm_signal_t signal) {
  hal_module_t* module = self;
  if (signal != IREE_VM_SIGNAL_SUSPEND && signal != IREE_VM_SIGNAL_LOW_MEMORY) return iree_ok_status();
  for (iree_host_size_t i = 0; i < iree_hal_device_group_device_count(module->group); ++i) {
    IREE_RETURN_IF_ERROR(iree_hal_device_trim(iree_hal_device_group_device_at(module->group, i)));
  }
  return iree_ok_status();
}

iree_status_t iree_hal_module_create(iree_vm_instance_t* instance, iree_hal_module_device_policy_t device_policy,
                                     iree_hal_device_group_t* device_group, iree_hal_module_flags_t flags,
                                     iree_hal_module_debug_sink_t debug_sink, iree_allocator_t host_allocator,
                                     iree_vm_module_t** out_module) {
  *out_module = NULL;
  const iree_hal_module_flags_t known =
      IREE_HAL_MODULE_FLAG_SYNCHRONOUS | IREE_HAL_MODULE_FLAG_RETAIN_COMMAND_BUFFER_PROFILE_METADATA;
  if (!device_group) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the hal module needs a device group");
  if (flags & ~known) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "hal module flags 0x%X are not known", flags & ~known);
  }
  if (device_policy.allocator_select.fn && iree_hal_device_group_device_count(device_group) > 1) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                            "a device policy cannot select allocators: programs say which device allocates");
  }
  hal_module_t* module = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*module), (void**)&module));
  module->allocator = host_allocator;
  iree_vm_module_t interface;
  iree_status_t status = iree_vm_module_initialize(&interface, module);
  interface.destroy = destroy;
  interface.alloc_state = alloc_state;
  interface.free_state = free_state;
  interface.fork_state = fork_state;
  interface.notify = notify;
  if (iree_status_is_ok(status)) {
    status = iree_vm_native_module_create(&interface, &descriptor, instance, host_allocator, out_module);
  }
  if (!iree_status_is_ok(status)) {
    iree_allocator_free(host_allocator, module);
    return status;
  }
  module->group = device_group;
  iree_hal_device_group_retain(device_group);
  module->debug_sink = debug_sink;
  return status;
}

iree_host_size_t iree_hal_module_state_device_count(iree_vm_module_state_t* module_state) {
  return iree_hal_device_group_device_count(((hal_state_t*)module_state)->module->group);
}

iree_hal_device_t* iree_hal_module_state_device_get(iree_vm_module_state_t* module_state, iree_host_size_t index) {
  return iree_hal_device_group_device_at(((hal_state_t*)module_state)->module->group, index);
}
