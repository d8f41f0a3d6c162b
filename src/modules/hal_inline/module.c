// See iree/modules/hal/inline/module.h.
#include "iree/modules/hal/inline/module.h"

#include <inttypes.h>

#include "iree/base/threading/mutex.h"
#include "iree/hal/drivers/local_sync/sync_device.h"
#include "iree/hal/local/loaders/vmvx_module_loader.h"

typedef struct inline_module_t {
  iree_hal_module_debug_sink_t debug_sink;
  iree_hal_allocator_t* device_allocator;
  iree_allocator_t allocator;
  iree_slim_mutex_t mutex;    // of the device's making
  iree_hal_device_t* device;  // of programs that the compiler made; NULL until one asks
} inline_module_t;

//===----------------------------------------------------------------------------------------------------------------===
// Storage: a buffer of the VM over the mapped memory of one of the HAL
//===----------------------------------------------------------------------------------------------------------------===

typedef struct storage_t {
  iree_hal_buffer_mapping_t mapping;
  iree_hal_buffer_t* buffer;  // retained
  iree_allocator_t allocator;
} storage_t;

static void storage_destroy(storage_t* storage) {
  iree_status_ignore(iree_hal_buffer_unmap_range(&storage->mapping));
  iree_hal_buffer_release(storage->buffer);
  iree_allocator_free(storage->allocator, storage);
}

// The allocator of the VM's buffer, which frees and does nothing else.
static iree_status_t storage_ctl(void* self, iree_allocator_command_t command, const void* params, void** inout_ptr) {
  if (command != IREE_ALLOCATOR_COMMAND_FREE) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "the memory of a buffer cannot change");
  }
  storage_destroy(self);
  return iree_ok_status();
}

static iree_status_t storage_create(iree_hal_buffer_t* buffer, iree_allocator_t allocator,
                                    iree_vm_buffer_t** out_storage) {
  storage_t* storage = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, sizeof(*storage), (void**)&storage));
  iree_status_t status = iree_hal_buffer_map_range(buffer, IREE_HAL_MAPPING_MODE_SCOPED,
                                                   IREE_HAL_MEMORY_ACCESS_READ | IREE_HAL_MEMORY_ACCESS_WRITE, 0,
                                                   IREE_HAL_WHOLE_BUFFER, &storage->mapping);
  if (!iree_status_is_ok(status)) {
    iree_allocator_free(allocator, storage);
    return status;
  }
  storage->buffer = buffer;
  storage->allocator = allocator;
  iree_hal_buffer_retain(buffer);
  status = iree_vm_buffer_create(IREE_VM_BUFFER_ACCESS_ORIGIN_HOST | IREE_VM_BUFFER_ACCESS_MUTABLE, 0, 0, allocator,
                                 out_storage);
  // A buffer without bytes has nothing to free: it ends here.
  if (!iree_status_is_ok(status) || !storage->mapping.contents.data) {
    storage_destroy(storage);
    return status;
  }
  (*out_storage)->data = storage->mapping.contents;
  (*out_storage)->allocator = (iree_allocator_t){storage, storage_ctl};
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Buffers
//===----------------------------------------------------------------------------------------------------------------===

// The buffer and its storage, with a copy of the data, which may be empty.
static iree_status_t allocate(const inline_module_t* self, int32_t alignment, int64_t size, iree_const_byte_span_t data,
                              iree_vm_ref_t* out_buffer, iree_vm_ref_t* out_storage) {
  const iree_hal_buffer_params_t params = {
      .usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE | IREE_HAL_BUFFER_USAGE_MAPPING,
      .access = IREE_HAL_MEMORY_ACCESS_ALL,
      .type = IREE_HAL_MEMORY_TYPE_OPTIMAL_FOR_HOST,
      .min_alignment = (iree_device_size_t)iree_max(alignment, 0),
  };
  iree_hal_buffer_t* buffer = NULL;
  iree_vm_buffer_t* storage = NULL;
  if (size < 0) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "%" PRIi64 " bytes", size);
  IREE_RETURN_IF_ERROR(
      iree_hal_allocator_allocate_buffer(self->device_allocator, params, (iree_device_size_t)size, &buffer));
  iree_status_t status = storage_create(buffer, self->allocator, &storage);
  if (!iree_status_is_ok(status)) {
    iree_hal_buffer_release(buffer);
    return status;
  }
  if (data.data_length) memcpy(iree_vm_buffer_data(storage), data.data, data.data_length);
  *out_buffer = iree_hal_buffer_move_ref(buffer);
  *out_storage = iree_vm_buffer_move_ref(storage);
  return status;
}

IREE_VM_ABI_EXPORT(buffer_allocate, void, iI, rr) {
  return allocate(module, args->i0, args->i1, iree_const_byte_span_empty(), &rets->r0, &rets->r1);
}

IREE_VM_ABI_EXPORT(buffer_allocate_initialized, void, irII, rr) {
  iree_vm_buffer_t* source = NULL;
  iree_const_byte_span_t data;
  IREE_RETURN_IF_ERROR(iree_vm_buffer_check_deref(args->r1, &source));
  IREE_RETURN_IF_ERROR(iree_vm_buffer_map_ro(source, (iree_host_size_t)args->i2, (iree_host_size_t)args->i3, 1, &data));
  return allocate(module, args->i0, args->i3, data, &rets->r0, &rets->r1);
}

// Holds the VM's buffer for as long as the HAL's is there.
static void release_source(void* user_data, iree_hal_buffer_t* buffer) { iree_vm_buffer_release(user_data); }

IREE_VM_ABI_EXPORT(buffer_wrap, void, rII, r) {
  const inline_module_t* self = module;
  iree_vm_buffer_t* source = NULL;
  iree_const_byte_span_t data;
  iree_hal_buffer_t* buffer = NULL;
  IREE_RETURN_IF_ERROR(iree_vm_buffer_check_deref(args->r0, &source));
  IREE_RETURN_IF_ERROR(iree_vm_buffer_map_ro(source, (iree_host_size_t)args->i1, (iree_host_size_t)args->i2, 1, &data));
  bool writes = source->access & IREE_VM_BUFFER_ACCESS_MUTABLE;
  const iree_hal_buffer_params_t params = {
      .usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE | IREE_HAL_BUFFER_USAGE_MAPPING,
      .access = writes ? IREE_HAL_MEMORY_ACCESS_ALL : IREE_HAL_MEMORY_ACCESS_READ,
      .type = IREE_HAL_MEMORY_TYPE_OPTIMAL_FOR_HOST,
  };
  iree_hal_external_buffer_t external = {
      .type = IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION,
      .size = data.data_length,
      .handle.host_allocation.ptr = (void*)(uintptr_t)data.data,
  };
  iree_hal_buffer_release_callback_t callback = {release_source, source};
  iree_vm_buffer_retain(source);
  iree_status_t status = iree_hal_allocator_import_buffer(self->device_allocator, params, &external, callback, &buffer);
  if (!iree_status_is_ok(status)) {
    iree_vm_buffer_release(source);
    return status;
  }
  rets->r0 = iree_hal_buffer_move_ref(buffer);
  return status;
}

IREE_VM_ABI_EXPORT(buffer_subspan, void, rII, r) {
  const inline_module_t* self = module;
  iree_hal_buffer_t *source = NULL, *subspan = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_check_deref(args->r0, &source));
  IREE_RETURN_IF_ERROR(iree_hal_buffer_subspan(source, (iree_device_size_t)args->i1, (iree_device_size_t)args->i2,
                                               self->allocator, &subspan),
                       "subspan of %" PRIi64 " bytes at %" PRIi64, args->i2, args->i1);
  rets->r0 = iree_hal_buffer_move_ref(subspan);
  return iree_ok_status();
}

IREE_VM_ABI_EXPORT(buffer_length, void, r, I) {
  iree_hal_buffer_t* buffer = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_check_deref(args->r0, &buffer));
  rets->i0 = (int64_t)iree_hal_buffer_byte_length(buffer);
  return iree_ok_status();
}

IREE_VM_ABI_EXPORT(buffer_storage, void, r, r) {
  const inline_module_t* self = module;
  iree_hal_buffer_t* buffer = NULL;
  iree_vm_buffer_t* storage = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_check_deref(args->r0, &buffer));
  IREE_RETURN_IF_ERROR(storage_create(buffer, self->allocator, &storage));
  rets->r0 = iree_vm_buffer_move_ref(storage);
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Views
//===----------------------------------------------------------------------------------------------------------------===

enum { MAX_RANK = 128 };

static iree_status_t copy_dims(iree_host_size_t count, const iree_vm_abi_I_t* source, iree_hal_dim_t dims[MAX_RANK]) {
  if (count > MAX_RANK) return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "rank %" PRIhsz " is too large", count);
  for (iree_host_size_t i = 0; i < count; ++i) dims[i] = (iree_hal_dim_t)source[i].i0;
  return iree_ok_status();
}

IREE_VM_ABI_EXPORT(buffer_view_create, void, rIIiiCID, r) {
  const inline_module_t* self = module;
  iree_hal_buffer_t *source = NULL, *subspan = NULL;
  iree_hal_buffer_view_t* view = NULL;
  iree_hal_dim_t dims[MAX_RANK];
  IREE_RETURN_IF_ERROR(iree_hal_buffer_check_deref(args->r0, &source));
  IREE_RETURN_IF_ERROR(copy_dims((iree_host_size_t)args->a5_count, args->a5, dims));
  IREE_RETURN_IF_ERROR(iree_hal_buffer_subspan(source, (iree_device_size_t)args->i1, (iree_device_size_t)args->i2,
                                               self->allocator, &subspan));
  iree_status_t status =
      iree_hal_buffer_view_create(subspan, (iree_host_size_t)args->a5_count, dims, (iree_hal_element_type_t)args->i3,
                                  (iree_hal_encoding_type_t)args->i4, self->allocator, &view);
  iree_hal_buffer_release(subspan);
  if (iree_status_is_ok(status)) rets->r0 = iree_hal_buffer_view_move_ref(view);
  return status;
}

static iree_status_t assert_view(iree_hal_buffer_view_t* view, iree_string_view_t name, iree_hal_element_type_t type,
                                 iree_hal_encoding_type_t encoding, iree_host_size_t rank, const iree_hal_dim_t* dims) {
  if (iree_hal_buffer_view_element_type(view) != type) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "%.*s element type mismatch; expected %08x but have %08x",
                            (int)name.size, name.data, type, iree_hal_buffer_view_element_type(view));
  }
  if (iree_hal_buffer_view_encoding_type(view) != encoding) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "%.*s encoding mismatch; expected %08x but have %08x",
                            (int)name.size, name.data, encoding, iree_hal_buffer_view_encoding_type(view));
  }
  if (iree_hal_buffer_view_shape_rank(view) != rank) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "%.*s shape rank mismatch; expected %" PRIhsz " but have %" PRIhsz, (int)name.size,
                            name.data, rank, iree_hal_buffer_view_shape_rank(view));
  }
  for (iree_host_size_t i = 0; i < rank; ++i) {
    iree_hal_dim_t dim = iree_hal_buffer_view_shape_dim(view, i);
    if (dims[i] == dim || dims[i] == (iree_hal_dim_t)-1) continue;  // -1: any
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "%.*s shape dimension %" PRIhsz " mismatch; expected %" PRIdim " but have %" PRIdim,
                            (int)name.size, name.data, i, dims[i], dim);
  }
  return iree_ok_status();
}

IREE_VM_ABI_EXPORT(buffer_view_assert, void, rriiCID, v) {
  iree_hal_buffer_view_t* view = NULL;
  iree_vm_buffer_t* message = NULL;
  iree_hal_dim_t dims[MAX_RANK];
  IREE_RETURN_IF_ERROR(iree_hal_buffer_view_check_deref(args->r0, &view));
  IREE_RETURN_IF_ERROR(iree_vm_buffer_check_deref(args->r1, &message));
  IREE_RETURN_IF_ERROR(copy_dims((iree_host_size_t)args->a4_count, args->a4, dims));
  return assert_view(view, iree_vm_buffer_as_string(message), (iree_hal_element_type_t)args->i2,
                     (iree_hal_encoding_type_t)args->i3, (iree_host_size_t)args->a4_count, dims);
}

IREE_VM_ABI_EXPORT(buffer_view_buffer, void, r, r) {
  iree_hal_buffer_view_t* view = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_view_check_deref(args->r0, &view));
  rets->r0 = iree_hal_buffer_retain_ref(iree_hal_buffer_view_buffer(view));
  return iree_ok_status();
}

IREE_VM_ABI_EXPORT(buffer_view_element_type, void, r, i) {
  iree_hal_buffer_view_t* view = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_view_check_deref(args->r0, &view));
  rets->i0 = (int32_t)iree_hal_buffer_view_element_type(view);
  return iree_ok_status();
}

IREE_VM_ABI_EXPORT(buffer_view_encoding_type, void, r, i) {
  iree_hal_buffer_view_t* view = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_view_check_deref(args->r0, &view));
  rets->i0 = (int32_t)iree_hal_buffer_view_encoding_type(view);
  return iree_ok_status();
}

IREE_VM_ABI_EXPORT(buffer_view_rank, void, r, i) {
  iree_hal_buffer_view_t* view = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_view_check_deref(args->r0, &view));
  rets->i0 = (int32_t)iree_hal_buffer_view_shape_rank(view);
  return iree_ok_status();
}

IREE_VM_ABI_EXPORT(buffer_view_dim, void, ri, I) {
  iree_hal_buffer_view_t* view = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_view_check_deref(args->r0, &view));
  if (args->i1 < 0 || (iree_host_size_t)args->i1 >= iree_hal_buffer_view_shape_rank(view)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "the view has no dimension %d", args->i1);
  }
  rets->i0 = (int64_t)iree_hal_buffer_view_shape_dim(view, (iree_host_size_t)args->i1);
  return iree_ok_status();
}

IREE_VM_ABI_EXPORT(buffer_view_trace, void, rCrD, v) {
  const inline_module_t* self = module;
  iree_vm_buffer_t* key = NULL;
  iree_hal_buffer_view_t** views = NULL;
  if (!self->debug_sink.buffer_view_trace.fn) return iree_ok_status();
  IREE_RETURN_IF_ERROR(iree_vm_buffer_check_deref(args->r0, &key));
  iree_host_size_t count = (iree_host_size_t)args->a1_count;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(self->allocator, count + 1, sizeof(*views), (void**)&views));
  iree_status_t status = iree_ok_status();
  for (iree_host_size_t i = 0; i < count && iree_status_is_ok(status); ++i) {
    status = iree_hal_buffer_view_check_deref(args->a1[i].r0, &views[i]);
  }
  if (iree_status_is_ok(status)) {
    status = self->debug_sink.buffer_view_trace.fn(self->debug_sink.buffer_view_trace.user_data,
                                                   iree_vm_buffer_as_string(key), count, views, self->allocator);
  }
  iree_allocator_free(self->allocator, views);
  return status;
}

// There is one concurrent worker and no other property.
IREE_VM_ABI_EXPORT(device_query_i64, void, rr, iI) {
  iree_vm_buffer_t *category = NULL, *key = NULL;
  IREE_RETURN_IF_ERROR(iree_vm_buffer_check_deref(args->r0, &category));
  IREE_RETURN_IF_ERROR(iree_vm_buffer_check_deref(args->r1, &key));
  bool known = iree_string_view_equal(iree_vm_buffer_as_string(category), IREE_SV("hal.device")) &&
               iree_string_view_equal(iree_vm_buffer_as_string(key), IREE_SV("concurrency"));
  rets->i0 = known;
  rets->i1 = known;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Devices
//===----------------------------------------------------------------------------------------------------------------===

// Runs portable executables in the caller's thread.
static iree_status_t create_device(inline_module_t* self) {
  iree_hal_sync_device_params_t params;
  iree_hal_executable_loader_t* loader = NULL;
  iree_hal_device_create_params_t create = iree_hal_device_create_params_default();
  iree_hal_sync_device_params_initialize(&params);
  IREE_RETURN_IF_ERROR(iree_hal_vmvx_module_loader_create_isolated(0, NULL, self->allocator, &loader));
  iree_status_t status = iree_hal_sync_device_create(IREE_SV("local-sync"), &params, &create, 1, &loader,
                                                     self->device_allocator, self->allocator, &self->device);
  iree_hal_executable_loader_release(loader);
  return status;
}

IREE_VM_ABI_EXPORT(count_devices, void, v, i) {
  rets->i0 = 1;
  return iree_ok_status();
}

IREE_VM_ABI_EXPORT(get_device, void, i, r) {
  inline_module_t* self = module;
  if (args->i0) return iree_ok_status();
  iree_slim_mutex_lock(&self->mutex);
  iree_status_t status = self->device ? iree_ok_status() : create_device(self);
  iree_slim_mutex_unlock(&self->mutex);
  if (iree_status_is_ok(status)) rets->r0 = iree_hal_device_retain_ref(self->device);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Module
//===----------------------------------------------------------------------------------------------------------------===

// EXPORT(name, function, arguments, results): sorted by name
#define INLINE_EXPORTS(EXPORT)                                                 \
  EXPORT("buffer.allocate", buffer_allocate, iI, rr)                           \
  EXPORT("buffer.allocate.initialized", buffer_allocate_initialized, irII, rr) \
  EXPORT("buffer.length", buffer_length, r, I)                                 \
  EXPORT("buffer.storage", buffer_storage, r, r)                               \
  EXPORT("buffer.subspan", buffer_subspan, rII, r)                             \
  EXPORT("buffer.wrap", buffer_wrap, rII, r)                                   \
  EXPORT("buffer_view.assert", buffer_view_assert, rriiCID, v)                 \
  EXPORT("buffer_view.buffer", buffer_view_buffer, r, r)                       \
  EXPORT("buffer_view.create", buffer_view_create, rIIiiCID, r)                \
  EXPORT("buffer_view.dim", buffer_view_dim, ri, I)                            \
  EXPORT("buffer_view.element_type", buffer_view_element_type, r, i)           \
  EXPORT("buffer_view.encoding_type", buffer_view_encoding_type, r, i)         \
  EXPORT("buffer_view.rank", buffer_view_rank, r, i)                           \
  EXPORT("buffer_view.trace", buffer_view_trace, rCrD, v)                      \
  EXPORT("device.query.i64", device_query_i64, rr, iI)                         \
  EXPORT("devices.count", count_devices, v, i)                                 \
  EXPORT("devices.get", get_device, i, r)

static const iree_vm_native_export_descriptor_t exports[] = {
#define EXPORT(name, function, arguments, results) \
  {iree_string_view_literal(name), iree_string_view_literal("0" #arguments "_" #results), 0, NULL},
    INLINE_EXPORTS(EXPORT)
#undef EXPORT
};
static const iree_vm_native_function_ptr_t functions[] = {
#define EXPORT(name, function, arguments, results)                              \
  {(iree_vm_native_function_shim_t)(void*)iree_vm_shim_##arguments##_##results, \
   (iree_vm_native_function_target_t)(void*)function},
    INLINE_EXPORTS(EXPORT)
#undef EXPORT
};
static const iree_vm_native_module_descriptor_t descriptor = {
    .name = iree_string_view_literal("hal_inline"),
    .export_count = IREE_ARRAYSIZE(exports),
    .exports = exports,
    .function_count = IREE_ARRAYSIZE(functions),
    .functions = functions,
};

static void destroy(void* self) {
  inline_module_t* module = self;
  if (module->debug_sink.release.fn) module->debug_sink.release.fn(module->debug_sink.release.user_data);
  iree_hal_device_release(module->device);
  iree_slim_mutex_deinitialize(&module->mutex);
  iree_hal_allocator_release(module->device_allocator);
  iree_allocator_free(module->allocator, module);
}

iree_status_t iree_hal_inline_module_create(iree_vm_instance_t* instance, iree_hal_inline_module_flags_t flags,
                                            iree_hal_module_debug_sink_t debug_sink,
                                            iree_hal_allocator_t* device_allocator, iree_allocator_t host_allocator,
                                            iree_vm_module_t** out_module) {
  *out_module = NULL;
  inline_module_t* module = NULL;
  iree_vm_module_t interface;
  if (flags) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "there is no flag 0x%x", flags);
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*module), (void**)&module));
  *module =
      (inline_module_t){.debug_sink = debug_sink, .device_allocator = device_allocator, .allocator = host_allocator};
  iree_slim_mutex_initialize(&module->mutex);
  iree_status_t status = iree_vm_module_initialize(&interface, module);
  interface.destroy = destroy;
  if (iree_status_is_ok(status)) {
    status = iree_vm_native_module_create(&interface, &descriptor, instance, host_allocator, out_module);
  }
  if (iree_status_is_ok(status)) {
    iree_hal_allocator_retain(device_allocator);
  } else {
    iree_slim_mutex_deinitialize(&module->mutex);
    iree_allocator_free(host_allocator, module);
  }
  return status;
}
