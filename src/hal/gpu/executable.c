// Executables of GPUs, and their caches.
#include "hal/gpu/executable.h"

#include "hal/gpu/container.h"

static const gpu_function_t* function_at(const gpu_executable_t* executable, iree_host_size_t index) {
  return (const gpu_function_t*)((const uint8_t*)executable->functions + index * executable->function_size);
}

//===----------------------------------------------------------------------------------------------------------------===
// Lists
//===----------------------------------------------------------------------------------------------------------------===

struct gpu_executable_list_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t host_allocator;
  iree_slim_mutex_t mutex;  // guards what follows
  gpu_executable_t* head;   // not retained
};

iree_status_t gpu_executable_list_create(iree_allocator_t host_allocator, gpu_executable_list_t** out_list) {
  gpu_executable_list_t* list = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*list), (void**)&list));
  iree_atomic_ref_count_init(&list->ref_count);
  list->host_allocator = host_allocator;
  iree_slim_mutex_initialize(&list->mutex);
  *out_list = list;
  return iree_ok_status();
}

void gpu_executable_list_release(gpu_executable_list_t* list) {
  if (!list || iree_atomic_ref_count_dec(&list->ref_count) != 1) return;
  iree_slim_mutex_deinitialize(&list->mutex);
  iree_allocator_free(list->host_allocator, list);
}

// False for an executable whose last reference has gone: it waits for the list's mutex to leave it.
static bool try_retain(gpu_executable_t* executable) {
  int32_t count = iree_atomic_ref_count_load(&executable->resource.ref_count);
  while (count > 0) {
    if (iree_atomic_compare_exchange_weak(&executable->resource.ref_count, &count, count + 1, iree_memory_order_acquire,
                                          iree_memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

// A reference to the executable of that data. NULL when there is none. The mutex is held.
static gpu_executable_t* list_find(const gpu_executable_list_t* list, iree_const_byte_span_t data) {
  for (gpu_executable_t* at = list->head; at; at = at->next) {
    bool is_same = at->data.data_length == data.data_length && memcmp(at->data.data, data.data, data.data_length) == 0;
    if (is_same && try_retain(at)) return at;
  }
  return NULL;
}

static gpu_executable_t* list_take(gpu_executable_list_t* list, iree_const_byte_span_t data) {
  iree_slim_mutex_lock(&list->mutex);
  gpu_executable_t* found = list_find(list, data);
  iree_slim_mutex_unlock(&list->mutex);
  return found;
}

// Adds an executable; gives it back and returns the other when somebody else has loaded the same meanwhile.
static gpu_executable_t* list_add(gpu_executable_list_t* list, gpu_executable_t* executable) {
  if (!executable->data.data_length) return executable;
  iree_slim_mutex_lock(&list->mutex);
  gpu_executable_t* found = list_find(list, executable->data);
  if (!found) {
    iree_atomic_ref_count_inc(&list->ref_count);
    executable->list = list;
    executable->next = list->head;
    if (list->head) list->head->prev = executable;
    list->head = executable;
  }
  iree_slim_mutex_unlock(&list->mutex);
  if (found) iree_hal_resource_release(executable);
  return found ? found : executable;
}

static void list_remove(gpu_executable_t* executable) {
  gpu_executable_list_t* list = executable->list;
  if (!list) return;
  iree_slim_mutex_lock(&list->mutex);
  if (executable->next) executable->next->prev = executable->prev;
  if (executable->prev) {
    executable->prev->next = executable->next;
  } else {
    list->head = executable->next;
  }
  iree_slim_mutex_unlock(&list->mutex);
  gpu_executable_list_release(list);
}

//===----------------------------------------------------------------------------------------------------------------===
// Executables
//===----------------------------------------------------------------------------------------------------------------===

static void executable_destroy(iree_hal_executable_t* base) {
  gpu_executable_t* executable = (gpu_executable_t*)base;
  list_remove(executable);
  hal_function_names_free(&executable->names);
  executable->destroy(executable);
}

static iree_host_size_t executable_function_count(iree_hal_executable_t* base) {
  return ((gpu_executable_t*)base)->function_count;
}

static iree_status_t executable_function_info(iree_hal_executable_t* base, iree_hal_executable_function_t function,
                                              iree_hal_executable_function_info_t* out_info) {
  const gpu_executable_t* executable = (const gpu_executable_t*)base;
  if (!iree_hal_executable_function_is_index_in_range(function, executable->function_count)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "function %" PRIu64 " is out of range of an executable with %" PRIhsz " functions",
                            function.value, executable->function_count);
  }
  const gpu_function_t* row = function_at(executable, iree_hal_executable_function_index(function));
  out_info->name = row->name;
  out_info->constant_count = (uint16_t)row->constant_count;
  out_info->binding_count = (uint16_t)row->binding_count;
  out_info->parameter_count = (uint16_t)(row->binding_count + row->constant_count);
  bool is_fixed = row->workgroup_size[0] != 0;
  if (!is_fixed) out_info->flags |= IREE_HAL_EXECUTABLE_FUNCTION_FLAG_WORKGROUP_SIZE_DYNAMIC;
  for (int i = 0; i < 3; ++i) out_info->workgroup_size[i] = iree_max(row->workgroup_size[i], 1u);
  return iree_ok_status();
}

static iree_status_t executable_function_parameters(iree_hal_executable_t* base,
                                                    iree_hal_executable_function_t function, iree_host_size_t capacity,
                                                    iree_hal_executable_function_parameter_t* out_parameters) {
  iree_hal_executable_function_info_t info = {0};
  IREE_RETURN_IF_ERROR(executable_function_info(base, function, &info));
  for (iree_host_size_t i = 0; i < iree_min(capacity, info.parameter_count); ++i) {
    bool is_binding = i < info.binding_count;
    out_parameters[i] = (iree_hal_executable_function_parameter_t){
        .type = is_binding ? IREE_HAL_EXECUTABLE_FUNCTION_PARAMETER_TYPE_BINDING
                           : IREE_HAL_EXECUTABLE_FUNCTION_PARAMETER_TYPE_CONSTANT,
        .size = is_binding ? 8 : 4,
        .offset = (uint16_t)(is_binding ? i : (i - info.binding_count) * 4),
    };
  }
  return iree_ok_status();
}

static iree_string_view_t function_name(const void* executable, iree_host_size_t index) {
  return function_at((const gpu_executable_t*)executable, index)->name;
}

static iree_status_t executable_lookup_function_by_name(iree_hal_executable_t* base, iree_string_view_t name,
                                                        iree_hal_executable_function_t* out_function) {
  const gpu_executable_t* executable = (const gpu_executable_t*)base;
  uint32_t index = 0;
  IREE_RETURN_IF_ERROR(hal_function_names_find(&executable->names, function_name, executable, name, &index));
  *out_function = iree_hal_executable_function_from_index(index);
  return iree_ok_status();
}

static const iree_hal_executable_vtable_t executable_vtable = {
    .destroy = executable_destroy,
    .function_count = executable_function_count,
    .function_info = executable_function_info,
    .function_parameters = executable_function_parameters,
    .lookup_function_by_name = executable_lookup_function_by_name,
};

void gpu_executable_initialize(gpu_executable_t* executable) {
  iree_hal_resource_initialize(&executable_vtable, &executable->resource);
}

const void* gpu_executable_function(iree_hal_executable_t* base, const gpu_backend_t* backend,
                                    iree_hal_executable_function_t function) {
  const gpu_executable_t* executable = (const gpu_executable_t*)base;
  if (!iree_hal_resource_is(base, &executable_vtable) || executable->backend != backend) return NULL;
  bool in_range = iree_hal_executable_function_is_index_in_range(function, executable->function_count);
  return in_range ? function_at(executable, iree_hal_executable_function_index(function)) : NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Dispatches
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t check_size(const gpu_function_t* function, const iree_hal_dispatch_config_t* config) {
  uint64_t total = 1;
  for (int i = 0; i < 3; ++i) {
    uint32_t fixed = function->workgroup_size[i], size = config->workgroup_size[i];
    if (fixed && size && size != fixed) {
      return iree_make_status(
          IREE_STATUS_INVALID_ARGUMENT, "function '%.*s' is for workgroups of %ux%ux%u, not %ux%ux%u",
          (int)function->name.size, function->name.data, function->workgroup_size[0], function->workgroup_size[1],
          function->workgroup_size[2], config->workgroup_size[0], config->workgroup_size[1], config->workgroup_size[2]);
    }
    total *= iree_max(iree_max(size, fixed), 1u);
    if (total > UINT32_MAX) break;  // too many already
  }
  if (total > iree_max(function->max_workgroup_size, 1u)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "function '%.*s' takes workgroups of at most %u, not %" PRIu64, (int)function->name.size,
                            function->name.data, function->max_workgroup_size, total);
  }
  return iree_ok_status();
}

iree_status_t gpu_function_check(const gpu_function_t* function, const hal_dispatch_t* dispatch) {
  if (!function) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the executable is not for this device");
  if (iree_hal_dispatch_uses_indirect_arguments(dispatch->flags)) {
    const iree_hal_buffer_ref_t* ref = dispatch->bindings.values;
    if (dispatch->bindings.count != 1 || ref->length < function->argument_size) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "function '%.*s' takes %u bytes of arguments, which one binding must have",
                              (int)function->name.size, function->name.data, function->argument_size);
    }
  } else if (iree_hal_dispatch_uses_custom_arguments(dispatch->flags)) {
    if (dispatch->constants.data_length != function->argument_size) {
      return iree_make_status(
          IREE_STATUS_INVALID_ARGUMENT, "function '%.*s' takes %u bytes of arguments, %" PRIhsz " were given",
          (int)function->name.size, function->name.data, function->argument_size, dispatch->constants.data_length);
    }
  } else if (!function->is_hal) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "function '%.*s' does not take pointers followed by 32-bit words; its arguments must be "
                            "given directly",
                            (int)function->name.size, function->name.data);
  }
  return check_size(function, &dispatch->config);
}

//===----------------------------------------------------------------------------------------------------------------===
// Caches
//===----------------------------------------------------------------------------------------------------------------===

typedef struct gpu_cache_t {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
  gpu_device_t* device;     // not owned: caches do not outlive their device
  iree_slim_mutex_t mutex;  // guards what follows
  iree_host_size_t count;
  iree_host_size_t capacity;
  gpu_executable_t** kept;  // retained: all that the cache has prepared
} gpu_cache_t;

static gpu_device_t* device_of(iree_hal_executable_cache_t* base) { return ((gpu_cache_t*)base)->device; }

static void cache_destroy(iree_hal_executable_cache_t* base) {
  gpu_cache_t* cache = (gpu_cache_t*)base;
  for (iree_host_size_t i = 0; i < cache->count; ++i) iree_hal_resource_release(cache->kept[i]);
  iree_allocator_free(cache->host_allocator, cache->kept);
  iree_slim_mutex_deinitialize(&cache->mutex);
  iree_allocator_free(cache->host_allocator, cache);
}

static iree_status_t reserve_place(gpu_cache_t* cache) {
  if (cache->count < cache->capacity) return iree_ok_status();
  iree_host_size_t capacity = iree_max(cache->capacity * 2, (iree_host_size_t)8);
  IREE_RETURN_IF_ERROR(
      iree_allocator_realloc(cache->host_allocator, capacity * sizeof(*cache->kept), (void**)&cache->kept));
  cache->capacity = capacity;
  return iree_ok_status();
}

static iree_status_t keep(gpu_cache_t* cache, gpu_executable_t* executable) {
  iree_slim_mutex_lock(&cache->mutex);
  iree_host_size_t i = 0;
  while (i < cache->count && cache->kept[i] != executable) ++i;
  bool is_new = i == cache->count;
  iree_status_t status = is_new ? reserve_place(cache) : iree_ok_status();
  if (is_new && iree_status_is_ok(status)) {
    iree_hal_resource_retain(executable);
    cache->kept[cache->count++] = executable;
  }
  iree_slim_mutex_unlock(&cache->mutex);
  return status;
}

static iree_status_t cache_infer_format(iree_hal_executable_cache_t* base,
                                        iree_hal_executable_caching_mode_t caching_mode,
                                        iree_const_byte_span_t executable_data, iree_host_size_t capacity,
                                        char* executable_format, iree_host_size_t* out_inferred_size) {
  iree_string_view_t format, own_format;
  iree_const_byte_span_t code;
  char storage[64];
  IREE_RETURN_IF_ERROR(gpu_container_open(executable_data, &code, &format));
  IREE_RETURN_IF_ERROR(device_of(base)->backend->infer_format(code, storage, sizeof(storage), &own_format));
  if (!format.size) format = own_format;
  if (format.size >= capacity) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "format '%.*s' does not fit", (int)format.size, format.data);
  }
  iree_string_view_to_cstring(format, executable_format, capacity);
  *out_inferred_size = executable_data.data_length;
  return iree_ok_status();
}

static bool cache_can_prepare_format(iree_hal_executable_cache_t* base, iree_hal_executable_caching_mode_t caching_mode,
                                     iree_string_view_t executable_format) {
  return device_of(base)->backend->takes_format(&device_of(base)->base, executable_format);
}

static iree_status_t cache_append_formats(iree_hal_executable_cache_t* base, iree_string_builder_t* builder) {
  const gpu_backend_t* backend = device_of(base)->backend;
  return iree_string_builder_append_format(builder, "%s, %s", backend->any_format,
                                           backend->architecture(device_of(base)));
}

static iree_status_t load(gpu_device_t* device, iree_const_byte_span_t data, gpu_executable_t** out_executable) {
  IREE_RETURN_IF_ERROR(device->backend->load(device, data, (iree_hal_executable_t**)out_executable));
  gpu_executable_t* executable = *out_executable;
  iree_status_t status = hal_function_names_create(executable->function_count, function_name, executable,
                                                   device->base.host_allocator, &executable->names);
  if (!iree_status_is_ok(status)) iree_hal_resource_release(executable);
  return status;
}

static iree_status_t cache_prepare_executable(iree_hal_executable_cache_t* base,
                                              const iree_hal_executable_params_t* params,
                                              iree_hal_executable_t** out_executable) {
  gpu_device_t* device = device_of(base);
  iree_string_view_t format = params->executable_format;
  *out_executable = NULL;
  if (!device->backend->takes_format(&device->base, format)) {
    return iree_make_status(IREE_STATUS_NOT_FOUND, "executables of format '%.*s' do not run on the device, a %s",
                            (int)format.size, format.data, device->backend->architecture(device));
  }
  if (params->constant_count) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "executables of GPUs take no specialization constants");
  }
  iree_string_view_t inner_format;
  iree_const_byte_span_t code;
  IREE_RETURN_IF_ERROR(gpu_container_open(params->executable_data, &code, &inner_format));
  gpu_executable_t* executable = list_take(device->executables, code);
  if (!executable) {
    IREE_RETURN_IF_ERROR(load(device, code, &executable));
    executable = list_add(device->executables, executable);
  }
  iree_status_t status = keep((gpu_cache_t*)base, executable);
  if (!iree_status_is_ok(status)) {
    iree_hal_resource_release(executable);
    return status;
  }
  *out_executable = (iree_hal_executable_t*)executable;
  return iree_ok_status();
}

static const iree_hal_executable_cache_vtable_t cache_vtable = {
    .destroy = cache_destroy,
    .infer_format = cache_infer_format,
    .can_prepare_format = cache_can_prepare_format,
    .prepare_executable = cache_prepare_executable,
    .append_formats = cache_append_formats,
};

iree_status_t gpu_device_create_executable_cache(iree_hal_device_t* base, iree_string_view_t identifier,
                                                 iree_hal_executable_cache_t** out_cache) {
  gpu_device_t* device = (gpu_device_t*)base;
  *out_cache = NULL;
  gpu_cache_t* cache = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(device->base.host_allocator, sizeof(*cache), (void**)&cache));
  iree_hal_resource_initialize(&cache_vtable, &cache->resource);
  cache->host_allocator = device->base.host_allocator;
  cache->device = device;
  iree_slim_mutex_initialize(&cache->mutex);
  *out_cache = (iree_hal_executable_cache_t*)cache;
  return iree_ok_status();
}
