// See iree/modules/io/parameters/module.h. What an index has is given in place; other providers write into host memory,
// through a device of the module's own.
#include "io/index_provider.h"
#include "iree/base/threading/mutex.h"
#include "iree/hal/drivers/local_sync/sync_device.h"
#include "iree/modules/io/parameters/module.h"

typedef struct parameter_module_t {
  iree_allocator_t allocator;
  iree_slim_mutex_t mutex;    // guards the device's creation
  iree_hal_device_t* device;  // NULL until a provider needs one
  iree_host_size_t count;
  iree_io_parameter_provider_t* providers[];
} parameter_module_t;

//===----------------------------------------------------------------------------------------------------------------===
// find
//===----------------------------------------------------------------------------------------------------------------===

// What a program asks for.
typedef struct wanted_t {
  iree_string_view_t scope, key;
  iree_host_size_t length;
} wanted_t;

// A longer one has what is needed at its start.
static iree_status_t check_length(const wanted_t* wanted, uint64_t length) {
  if (length >= wanted->length) return iree_ok_status();
  return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                          "parameter '%.*s' has %" PRIu64 " bytes where the program needs %" PRIhsz,
                          (int)wanted->key.size, wanted->key.data, length, wanted->length);
}

static iree_status_t release_mapping(void* self, iree_allocator_command_t command, const void* params,
                                     void** inout_ptr) {
  if (command == IREE_ALLOCATOR_COMMAND_FREE) iree_io_file_mapping_release(self);
  return iree_ok_status();
}

// The buffer keeps the mapping, and that the file.
static iree_status_t map_entry(const iree_io_parameter_index_entry_t* entry, iree_host_size_t length,
                               iree_allocator_t allocator, iree_vm_buffer_t* buffer) {
  iree_io_file_mapping_t* mapping = NULL;
  if (!length) return iree_ok_status();
  IREE_RETURN_IF_ERROR(iree_io_file_map_view(entry->storage.file.handle, IREE_IO_FILE_ACCESS_READ,
                                             entry->storage.file.offset, length,
                                             IREE_IO_FILE_MAPPING_FLAG_EXCLUDE_FROM_DUMPS, allocator, &mapping));
  iree_const_byte_span_t contents = iree_io_file_mapping_contents_ro(mapping);
  buffer->data = iree_make_byte_span((uint8_t*)(uintptr_t)contents.data, contents.data_length);
  buffer->allocator = (iree_allocator_t){mapping, release_mapping};
  return iree_ok_status();
}

static iree_status_t find_in_index(parameter_module_t* module, iree_io_parameter_index_t* index, const wanted_t* wanted,
                                   iree_vm_buffer_t** out_buffer) {
  const iree_io_parameter_index_entry_t* entry = NULL;
  IREE_RETURN_IF_ERROR(iree_io_parameter_index_lookup(index, wanted->key, &entry));
  IREE_RETURN_IF_ERROR(check_length(wanted, entry->length));
  bool splat = entry->type == IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_SPLAT;
  IREE_RETURN_IF_ERROR(iree_vm_buffer_create(IREE_VM_BUFFER_ACCESS_ORIGIN_HOST, splat ? wanted->length : 0,
                                             IREE_HAL_HEAP_BUFFER_ALIGNMENT, module->allocator, out_buffer));
  if (splat) {
    index_provider_expand(entry, 0, (*out_buffer)->data.data, wanted->length);
    return iree_ok_status();
  }
  return map_entry(entry, wanted->length, module->allocator, *out_buffer);
}

static iree_status_t create_device(parameter_module_t* module) {
  iree_hal_allocator_t* memory = NULL;
  iree_hal_sync_device_params_t params;
  iree_hal_sync_device_params_initialize(&params);
  iree_hal_device_create_params_t create_params = iree_hal_device_create_params_default();
  IREE_RETURN_IF_ERROR(
      iree_hal_allocator_create_heap(IREE_SV("parameters"), module->allocator, module->allocator, &memory));
  iree_status_t status = iree_hal_sync_device_create(IREE_SV("parameters"), &params, &create_params, 0, NULL, memory,
                                                     module->allocator, &module->device);
  iree_hal_allocator_release(memory);
  return status;
}

static iree_status_t ensure_device(parameter_module_t* module) {
  iree_slim_mutex_lock(&module->mutex);
  iree_status_t status = module->device ? iree_ok_status() : create_device(module);
  iree_slim_mutex_unlock(&module->mutex);
  return status;
}

static iree_status_t read_and_wait(parameter_module_t* module, iree_io_parameter_provider_t* provider,
                                   const wanted_t* wanted, iree_hal_buffer_t* target) {
  iree_hal_semaphore_t* semaphore = NULL;
  uint64_t done = 1;
  IREE_RETURN_IF_ERROR(iree_hal_semaphore_create(module->device, IREE_HAL_QUEUE_AFFINITY_ANY, 0,
                                                 IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &semaphore));
  iree_hal_semaphore_list_t signal = {1, &semaphore, &done};
  iree_status_t status = iree_io_parameter_provider_read(provider, module->device, IREE_HAL_QUEUE_AFFINITY_ANY,
                                                         iree_hal_semaphore_list_empty(), signal, wanted->scope,
                                                         wanted->key, 0, target, 0, wanted->length);
  if (iree_status_is_ok(status)) {
    status = iree_hal_semaphore_wait(semaphore, done, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
  }
  iree_hal_semaphore_release(semaphore);
  return status;
}

static iree_status_t find_in_provider(parameter_module_t* module, iree_io_parameter_provider_t* provider,
                                      const wanted_t* wanted, iree_vm_buffer_t** out_buffer) {
  iree_hal_buffer_t* target = NULL;
  IREE_RETURN_IF_ERROR(ensure_device(module));
  IREE_RETURN_IF_ERROR(iree_vm_buffer_create(IREE_VM_BUFFER_ACCESS_ORIGIN_HOST, wanted->length,
                                             IREE_HAL_HEAP_BUFFER_ALIGNMENT, module->allocator, out_buffer));
  iree_hal_buffer_placement_t placement = {.queue_affinity = IREE_HAL_QUEUE_AFFINITY_ANY};
  iree_hal_buffer_release_callback_t nothing = {NULL, NULL};
  IREE_RETURN_IF_ERROR(iree_hal_heap_buffer_wrap(
      placement, IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE, IREE_HAL_MEMORY_ACCESS_ALL,
      IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_MAPPING, wanted->length, (*out_buffer)->data, nothing,
      module->allocator, &target));
  iree_status_t status = read_and_wait(module, provider, wanted, target);
  iree_hal_buffer_release(target);
  return status;
}

// NOT_FOUND when no provider has it.
static iree_status_t find_anywhere(parameter_module_t* module, const wanted_t* wanted, iree_vm_buffer_t** out_buffer) {
  for (iree_host_size_t i = 0; i < module->count; ++i) {
    iree_io_parameter_provider_t* provider = module->providers[i];
    if (!iree_io_parameter_provider_query_support(provider, wanted->scope)) continue;
    iree_io_parameter_index_t* index = index_provider_index(provider);
    iree_status_t status = index ? find_in_index(module, index, wanted, out_buffer)
                                 : find_in_provider(module, provider, wanted, out_buffer);
    if (iree_status_is_ok(status)) return status;
    iree_vm_buffer_release(*out_buffer);
    *out_buffer = NULL;
    if (!iree_status_is_not_found(status)) return status;
    iree_status_free(status);
  }
  iree_string_view_t scope = wanted->scope;
  return iree_make_status(IREE_STATUS_NOT_FOUND,
                          "no parameter '%.*s' in scope '%.*s'; --parameters=%.*s%sFILE names an archive",
                          (int)wanted->key.size, wanted->key.data, (int)scope.size, scope.data, (int)scope.size,
                          scope.data, scope.size ? "=" : "");
}

IREE_VM_ABI_FIXED_STRUCT(rrI, {
  iree_vm_ref_t r0;
  iree_vm_ref_t r1;
  int64_t i2;
})
IREE_VM_ABI_DEFINE_SHIM(rrI, r)

IREE_VM_ABI_EXPORT(find, void, rrI, r) {
  iree_vm_buffer_t *scope = NULL, *key = NULL, *buffer = NULL;
  IREE_RETURN_IF_ERROR(iree_vm_buffer_check_deref(args->r0, &scope));
  IREE_RETURN_IF_ERROR(iree_vm_buffer_check_deref(args->r1, &key));
  if (args->i2 < 0) return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "a parameter of %" PRId64 " bytes", args->i2);
  wanted_t wanted = {iree_vm_buffer_as_string(scope), iree_vm_buffer_as_string(key), (iree_host_size_t)args->i2};
  IREE_RETURN_IF_ERROR(find_anywhere((parameter_module_t*)module, &wanted, &buffer));
  rets->r0 = iree_vm_buffer_move_ref(buffer);
  return iree_ok_status();
}

static const iree_vm_native_export_descriptor_t exports[] = {
    {iree_string_view_literal("find"), iree_string_view_literal("0rrI_r"), 0, NULL},
};
static const iree_vm_native_function_ptr_t functions[] = {
    {(iree_vm_native_function_shim_t)(void*)iree_vm_shim_rrI_r, (iree_vm_native_function_target_t)(void*)find},
};
static const iree_vm_native_module_descriptor_t descriptor = {
    .name = iree_string_view_literal("io_parameters"),
    .export_count = IREE_ARRAYSIZE(exports),
    .exports = exports,
    .function_count = IREE_ARRAYSIZE(functions),
    .functions = functions,
};

//===----------------------------------------------------------------------------------------------------------------===
// Module
//===----------------------------------------------------------------------------------------------------------------===

static void destroy(void* self) {
  parameter_module_t* module = self;
  iree_hal_device_release(module->device);
  for (iree_host_size_t i = 0; i < module->count; ++i) iree_io_parameter_provider_release(module->providers[i]);
  iree_slim_mutex_deinitialize(&module->mutex);
  iree_allocator_free(module->allocator, module);
}

// The signals up to that of low memory have the same numbers.
static iree_status_t notify(void* self, iree_vm_module_state_t* module_state, iree_vm_signal_t signal) {
  parameter_module_t* module = self;
  if (signal > IREE_VM_SIGNAL_LOW_MEMORY) return iree_ok_status();
  for (iree_host_size_t i = 0; i < module->count; ++i) {
    IREE_RETURN_IF_ERROR(
        iree_io_parameter_provider_notify(module->providers[i], (iree_io_parameter_provider_signal_t)signal));
  }
  return iree_ok_status();
}

iree_status_t iree_io_parameters_module_create(iree_vm_instance_t* instance, iree_host_size_t provider_count,
                                               iree_io_parameter_provider_t* const* providers,
                                               iree_allocator_t host_allocator,
                                               iree_vm_module_t** IREE_RESTRICT out_module) {
  *out_module = NULL;
  parameter_module_t* module = NULL;
  iree_host_size_t size = sizeof(*module) + provider_count * sizeof(module->providers[0]);
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, size, (void**)&module));
  module->allocator = host_allocator;
  iree_slim_mutex_initialize(&module->mutex);
  for (; module->count < provider_count; ++module->count) {
    module->providers[module->count] = providers[module->count];
    iree_io_parameter_provider_retain(providers[module->count]);
  }
  iree_vm_module_t interface;
  iree_status_t status = iree_vm_module_initialize(&interface, module);
  interface.destroy = destroy;
  interface.notify = notify;
  if (iree_status_is_ok(status)) {
    status = iree_vm_native_module_create(&interface, &descriptor, instance, host_allocator, out_module);
  }
  if (!iree_status_is_ok(status)) destroy(module);
  return status;
}
