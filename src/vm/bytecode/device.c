// Devices of a module state: which target they run, and the executables for it.

#include "vm/bytecode/device.h"

#include "vm/bytecode/stream.h"

//===----------------------------------------------------------------------------------------------------------------===
// Targets
//===----------------------------------------------------------------------------------------------------------------===

static bool query_is_true(iree_hal_device_t* device, const char* category, iree_string_view_t key) {
  int64_t value = 0;
  iree_status_t status = iree_hal_device_query_i64(device, iree_make_cstring_view(category), key, &value);
  return iree_status_consume_code(status) == IREE_STATUS_OK && value;
}

// The first feature of a comma-separated list that the device lacks, of a processor or a processor that it runs the
// code of; empty when it has all.
static iree_string_view_t missing_feature(iree_hal_device_t* device, iree_string_view_t features) {
  while (features.size) {
    iree_string_view_t feature;
    iree_string_view_split(features, ',', &feature, &features);
    if (!feature.size || query_is_true(device, "hal.cpu", feature)) continue;
    if (!query_is_true(device, "hal.executable.format", feature)) return feature;
  }
  return iree_string_view_empty();
}

static iree_status_t append_module_targets(const module_image_t* image, iree_hal_device_t* device,
                                           iree_string_builder_t* builder) {
  for (uint32_t i = 0; i < image->targets_count; ++i) {
    const module_target_t* target = &image->targets[i];
    iree_string_view_t format = module_image_string(image, target->format);
    iree_string_view_t description = module_image_string(image, target->description);
    iree_string_view_t missing = missing_feature(device, module_image_string(image, target->features));
    IREE_RETURN_IF_ERROR(
        iree_string_builder_append_format(builder, "%s%.*s", i ? "; " : "", (int)format.size, format.data));
    if (description.size) {
      IREE_RETURN_IF_ERROR(
          iree_string_builder_append_format(builder, " (%.*s)", (int)description.size, description.data));
    }
    if (missing.size) {
      IREE_RETURN_IF_ERROR(
          iree_string_builder_append_format(builder, ", which needs %.*s", (int)missing.size, missing.data));
    }
  }
  return iree_ok_status();
}

static iree_status_t fail_target(const vm_device_t* device, uint32_t row, iree_hal_executable_cache_t* cache) {
  iree_string_builder_t has, needs;
  iree_string_builder_initialize(device->allocator, &has);
  iree_string_builder_initialize(device->allocator, &needs);
  iree_status_t status = append_module_targets(device->image, device->handle, &has);
  if (iree_status_is_ok(status)) status = iree_hal_executable_cache_append_formats(cache, &needs);
  if (iree_status_is_ok(status)) {
    iree_string_view_t name = module_image_string(device->image, device->image->devices[row].name);
    iree_string_view_t module = module_image_string(device->image, device->image->header->name);
    iree_string_view_t id = iree_hal_device_id(device->handle);
    status = iree_make_status(
        IREE_STATUS_INCOMPATIBLE,
        "HAL device `%.*s` (%.*s) does not support any variant of module `%.*s`; the module has [%.*s], the device "
        "takes [%.*s]",
        (int)name.size, name.data, (int)id.size, id.data, (int)module.size, module.data,
        (int)iree_string_builder_size(&has), iree_string_builder_buffer(&has), (int)iree_string_builder_size(&needs),
        iree_string_builder_buffer(&needs));
  }
  iree_string_builder_deinitialize(&has);
  iree_string_builder_deinitialize(&needs);
  return status;
}

static iree_status_t choose_target(vm_device_t* device, uint32_t row, iree_hal_executable_cache_t* cache) {
  const module_image_t* image = device->image;
  for (uint32_t i = 0; i < image->targets_count; ++i) {
    const module_target_t* target = &image->targets[i];
    if (device->portable_only && !module_image_is_portable(image, i)) continue;
    if (!iree_hal_executable_cache_can_prepare_format(cache, 0, module_image_string(image, target->format))) continue;
    if (missing_feature(device->handle, module_image_string(image, target->features)).size) continue;
    device->target = i;
    return iree_ok_status();
  }
  return fail_target(device, row, cache);
}

//===----------------------------------------------------------------------------------------------------------------===
// Executables
//===----------------------------------------------------------------------------------------------------------------===

// Entry points are looked up by name; executables without names have them in the module's order.
static iree_status_t find_functions(const vm_device_t* device, const module_executable_t* row,
                                    vm_executable_t* executable) {
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(device->allocator, row->point_count + 1,
                                                   sizeof(*executable->functions), (void**)&executable->functions));
  iree_host_size_t available = iree_hal_executable_function_count(executable->handle);
  for (uint32_t i = 0; i < row->point_count; ++i) {
    const module_point_row_t* point = &device->image->points[executable->variant->point_first + i];
    iree_string_view_t name = module_image_string(device->image, point->name);
    iree_status_t status =
        iree_hal_executable_lookup_function_by_name(executable->handle, name, &executable->functions[i]);
    if (iree_status_is_ok(status)) continue;
    if (!iree_status_is_not_found(status) && !iree_status_is_unimplemented(status)) return status;
    iree_status_ignore(status);
    iree_hal_executable_function_info_t info = {0};
    iree_hal_executable_function_t function = iree_hal_executable_function_from_index(i);
    bool unnamed = i < available &&
                   iree_status_consume_code(iree_hal_executable_function_info(executable->handle, function, &info)) ==
                       IREE_STATUS_OK &&
                   !info.name.size;
    if (!unnamed) {
      return iree_make_status(IREE_STATUS_NOT_FOUND, "executable has no entry point '%.*s'", (int)name.size, name.data);
    }
    executable->functions[i] = function;
  }
  return iree_ok_status();
}

static iree_string_view_t format_of(const vm_device_t* device, const module_variant_t* variant) {
  iree_string_view_t format = module_image_string(device->image, variant->format);
  return format.size ? format : module_image_string(device->image, device->image->targets[variant->target].format);
}

// The next variant from `*at` on that the device takes; NULL when there is none.
static const module_variant_t* next_variant(const vm_device_t* device, iree_hal_executable_cache_t* cache,
                                            const module_executable_t* row, uint32_t* at) {
  while (*at < row->variant_count) {
    const module_variant_t* variant = &device->image->variants[row->variant_first + (*at)++];
    if (variant->target != device->target) continue;
    if (iree_hal_executable_cache_can_prepare_format(cache, 0, format_of(device, variant))) return variant;
  }
  return NULL;
}

static iree_status_t prepare_executable(const vm_device_t* device, iree_hal_executable_cache_t* cache,
                                        const module_variant_t* variant, iree_hal_executable_t** out_handle) {
  iree_hal_executable_params_t params;
  iree_hal_executable_params_initialize(&params);
  params.queue_affinity = IREE_HAL_QUEUE_AFFINITY_ANY;
  params.caching_mode = IREE_HAL_EXECUTABLE_CACHING_MODE_ALLOW_OPTIMIZATION;
  params.executable_format = format_of(device, variant);
  params.executable_data = device->image->segment_data[variant->segment];
  params.budget = device->budget;
  return iree_hal_executable_cache_prepare_executable(cache, &params, out_handle);
}

// The first variant that loads: what a library refuses after all, as machine code of a toolkit that it does not know,
// leaves it to those behind.
static iree_status_t load_executable(const vm_device_t* device, iree_hal_executable_cache_t* cache,
                                     const module_executable_t* row, vm_executable_t* executable) {
  uint32_t at = 0;
  executable->variant = next_variant(device, cache, row, &at);
  if (!executable->variant) return iree_ok_status();
  iree_status_t status = prepare_executable(device, cache, executable->variant, &executable->handle);
  while (!iree_status_is_ok(status)) {
    const module_variant_t* other = next_variant(device, cache, row, &at);
    if (!other) break;
    iree_status_free(status);
    executable->variant = other;
    status = prepare_executable(device, cache, other, &executable->handle);
  }
  if (iree_status_is_ok(status)) status = find_functions(device, row, executable);
  if (iree_status_is_ok(status)) return status;
  iree_string_view_t name = module_image_string(device->image, row->name);
  return iree_status_annotate_f(status, "loading executable '%.*s'", (int)name.size, name.data);
}

static iree_status_t load_executables(vm_device_t* device, uint32_t row) {
  if (!device->image->executables_count) return iree_ok_status();
  iree_hal_executable_cache_t* cache = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_executable_cache_create(device->handle, IREE_SV("vm"), &cache));
  iree_status_t status = choose_target(device, row, cache);
  for (uint32_t i = 0; i < device->image->executables_count && iree_status_is_ok(status); ++i) {
    status = load_executable(device, cache, &device->image->executables[i], &device->executables[i]);
  }
  iree_hal_executable_cache_release(cache);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Devices
//===----------------------------------------------------------------------------------------------------------------===

static bool has_unified_memory(iree_hal_device_t* handle) {
  enum { HEAP_LIMIT = 16 };
  iree_hal_allocator_memory_heap_t heaps[HEAP_LIMIT];
  iree_host_size_t count = 0;
  iree_status_t status =
      iree_hal_allocator_query_memory_heaps(iree_hal_device_allocator(handle), HEAP_LIMIT, heaps, &count);
  if (iree_status_consume_code(status) != IREE_STATUS_OK) return false;
  for (iree_host_size_t i = 0; i < count; ++i) {
    if (iree_all_bits_set(heaps[i].type, IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL)) {
      return true;
    }
  }
  return false;
}

// A device without executables yet.
static iree_status_t allocate(const vm_device_desc_t* desc, iree_allocator_t allocator, vm_device_t** out_device) {
  const module_image_t* image = desc->image;
  vm_device_t* device = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, sizeof(*device), (void**)&device));
  iree_atomic_ref_count_init(&device->ref_count);
  device->allocator = allocator;
  device->image = image;
  device->handle = desc->handle;
  iree_hal_device_retain(device->handle);
  device->budget = desc->budget;
  iree_budget_retain(device->budget);
  device->portable_only = desc->portable_only;
  device->target = MODULE_NONE;
  device->unified = has_unified_memory(device->handle);
  iree_slim_mutex_initialize(&device->mutex);
  *out_device = device;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(allocator, image->executables_count + 1,
                                                   sizeof(*device->executables), (void**)&device->executables));
  return iree_allocator_malloc_array(allocator, image->tables_count + 1, sizeof(*device->recordings),
                                     (void**)&device->recordings);
}

static iree_status_t finish_create(iree_status_t status, vm_device_t** out_device) {
  if (iree_status_is_ok(status)) return status;
  if (*out_device) {
    vm_device_close(*out_device);
    vm_device_release(*out_device);
  }
  *out_device = NULL;
  return status;
}

iree_status_t vm_device_create(const vm_device_desc_t* desc, iree_allocator_t allocator, vm_device_t** out_device) {
  *out_device = NULL;
  iree_status_t status = allocate(desc, allocator, out_device);
  if (iree_status_is_ok(status)) status = load_executables(*out_device, desc->row);
  return finish_create(status, out_device);
}

static iree_status_t copy_executables(const vm_device_t* parent, vm_device_t* device) {
  for (uint32_t i = 0; i < device->image->executables_count; ++i) {
    vm_executable_t* executable = &device->executables[i];
    executable->variant = parent->executables[i].variant;
    executable->handle = parent->executables[i].handle;
    if (!executable->handle) continue;
    iree_hal_executable_retain(executable->handle);
    IREE_RETURN_IF_ERROR(find_functions(device, &device->image->executables[i], executable));
  }
  return iree_ok_status();
}

iree_status_t vm_device_fork(const vm_device_t* parent, iree_allocator_t allocator, vm_device_t** out_device) {
  *out_device = NULL;
  vm_device_desc_t desc = {.image = parent->image,
                           .handle = parent->handle,
                           .budget = parent->budget,
                           .portable_only = parent->portable_only};
  iree_status_t status = allocate(&desc, allocator, out_device);
  if (*out_device) (*out_device)->target = parent->target;
  if (iree_status_is_ok(status)) status = copy_executables(parent, *out_device);
  return finish_create(status, out_device);
}

void vm_device_retain(vm_device_t* device) { iree_atomic_ref_count_inc(&device->ref_count); }

void vm_device_release(vm_device_t* device) {
  if (!device || iree_atomic_ref_count_dec(&device->ref_count) != 1) return;
  while (device->idle_streams) {
    vm_stream_t* stream = device->idle_streams;
    device->idle_streams = stream->next;
    vm_stream_free(stream);
  }
  iree_slim_mutex_deinitialize(&device->mutex);
  iree_hal_device_release(device->handle);
  iree_budget_release(device->budget);
  iree_allocator_free(device->allocator, device);
}

void vm_device_close(vm_device_t* device) {
  vm_stream_release(device->ordered_stream);
  device->ordered_stream = NULL;
  for (uint32_t i = 0; device->recordings && i < device->image->tables_count; ++i) {
    for (vm_recording_t *recording = device->recordings[i].first, *next; recording; recording = next) {
      next = recording->next;
      vm_recording_free(recording, device->allocator);
    }
  }
  for (uint32_t i = 0; device->executables && i < device->image->executables_count; ++i) {
    iree_hal_executable_release(device->executables[i].handle);
    iree_allocator_free(device->allocator, device->executables[i].functions);
  }
  for (int i = 0; i < VM_TRANSIENT_LIMIT; ++i) device->transients[i].in_use = false;
  vm_device_trim(device);
  iree_allocator_free(device->allocator, device->recordings);
  iree_allocator_free(device->allocator, device->executables);
  device->recordings = NULL;
  device->executables = NULL;
}
