// The driver `cuda`: lists GPUs of libcuda and makes devices of them. A device's id is its ordinal plus one.
#include "hal/stream/device.h"
#include "iree/base/tooling/flags.h"
#include "iree/hal/drivers/cuda/registration/driver_module.h"

IREE_FLAG(int32_t, cuda_default_index, 0, "The GPU that `cuda` without a path means, by libcuda's order.")

typedef struct cuda_driver_t {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
  const stream_api_t* api;
} cuda_driver_t;

enum { NAME_SIZE = 256, PATH_SIZE = 48 };

static const stream_api_t* api_of(iree_hal_driver_t* base) { return ((cuda_driver_t*)base)->api; }

static void driver_destroy(iree_hal_driver_t* base) {
  iree_allocator_free(((cuda_driver_t*)base)->host_allocator, base);
}

//===----------------------------------------------------------------------------------------------------------------===
// Listing
//===----------------------------------------------------------------------------------------------------------------===

// "GPU-" and 32 digits in five groups, as nvidia-smi prints it.
static iree_status_t format_uuid(const stream_api_t* api, int device, char out_path[PATH_SIZE]) {
  static const uint8_t dashes[] = {4, 6, 8, 10};
  uint8_t uuid[16] = {0};
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, device_uuid, uuid, device));
  int length = snprintf(out_path, PATH_SIZE, "GPU");
  for (int i = 0, dash = 0; i < 16; ++i) {
    bool starts = i == 0 || (dash < 4 && dashes[dash] == i);
    if (i && starts) ++dash;
    length += snprintf(out_path + length, (size_t)(PATH_SIZE - length), "%s%02x", starts ? "-" : "", uuid[i]);
  }
  return iree_ok_status();
}

static iree_status_t driver_query_available_devices(iree_hal_driver_t* base, iree_allocator_t host_allocator,
                                                    iree_host_size_t* out_device_info_count,
                                                    iree_hal_device_info_t** out_device_infos) {
  const stream_api_t* api = api_of(base);
  int count = 0;
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, device_count, &count));
  iree_hal_device_info_t* infos = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(
      host_allocator, iree_max(count, 1) * (sizeof(*infos) + NAME_SIZE + PATH_SIZE), (void**)&infos));
  char* text = (char*)(infos + count);
  iree_status_t status = iree_ok_status();
  for (int i = 0; i < count && iree_status_is_ok(status); ++i) {
    char name[NAME_SIZE] = {0}, path[PATH_SIZE] = {0};
    int device = 0;
    status = STREAM_CALL(api, device_get, &device, i);
    if (iree_status_is_ok(status)) status = STREAM_CALL(api, device_name, name, sizeof(name) - 1, device);
    if (iree_status_is_ok(status)) status = format_uuid(api, device, path);
    infos[i].device_id = (iree_hal_device_id_t)i + 1;
    text += iree_string_view_append_to_buffer(iree_make_cstring_view(path), &infos[i].path, text);
    text += iree_string_view_append_to_buffer(iree_make_cstring_view(name), &infos[i].name, text);
  }
  if (!iree_status_is_ok(status)) {
    iree_allocator_free(host_allocator, infos);
    return status;
  }
  *out_device_info_count = (iree_host_size_t)count;
  *out_device_infos = infos;
  return iree_ok_status();
}

static int attribute(const stream_api_t* api, int attribute, int device) {
  int value = 0;
  return api->device_attribute(&value, attribute, device) == STREAM_API_SUCCESS ? value : 0;
}

static iree_status_t dump_facts(const stream_api_t* api, int device, iree_string_builder_t* out) {
  int version = 0;
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, driver_version, &version));
  IREE_RETURN_IF_ERROR(iree_string_builder_append_format(
      out, "\n- gpu-compute-capability: %d.%d\n- gpu-arch-name: sm_%d%d\n- driver-max-cuda-version: %d.%d\n",
      attribute(api, STREAM_API_CAPABILITY_MAJOR, device), attribute(api, STREAM_API_CAPABILITY_MINOR, device),
      attribute(api, STREAM_API_CAPABILITY_MAJOR, device), attribute(api, STREAM_API_CAPABILITY_MINOR, device),
      version / 1000, version % 1000 / 10));
  IREE_RETURN_IF_ERROR(iree_string_builder_append_format(
      out, "\n- launch-max-block-dims: (%d, %d, %d)\n- launch-max-grid-dims: (%d, %d, %d)\n",
      attribute(api, STREAM_API_MAX_BLOCK_X, device), attribute(api, STREAM_API_MAX_BLOCK_X + 1, device),
      attribute(api, STREAM_API_MAX_BLOCK_X + 2, device), attribute(api, STREAM_API_MAX_GRID_X, device),
      attribute(api, STREAM_API_MAX_GRID_X + 1, device), attribute(api, STREAM_API_MAX_GRID_X + 2, device)));
  IREE_RETURN_IF_ERROR(iree_string_builder_append_format(
      out,
      "\n- block-max-thread-count: %d\n- block-max-32-bit-register-count: %d\n- block-max-shared-memory: %d KB\n"
      "\n- multiprocessor-count: %d\n- multiprocessor-max-thread-count: %d\n"
      "- multiprocessor-max-32-bit-register-count: %d\n- multiprocessor-max-shared-memory: %d KB\n",
      attribute(api, STREAM_API_MAX_BLOCK_SIZE, device), attribute(api, STREAM_API_MAX_REGISTERS, device),
      attribute(api, STREAM_API_MAX_SHARED_MEMORY, device) >> 10, attribute(api, STREAM_API_MULTIPROCESSORS, device),
      attribute(api, STREAM_API_MAX_THREADS_OF_MULTIPROCESSOR, device),
      attribute(api, STREAM_API_REGISTERS_OF_MULTIPROCESSOR, device),
      attribute(api, STREAM_API_SHARED_MEMORY_OF_MULTIPROCESSOR, device) >> 10));
  return iree_ok_status();
}

static iree_status_t dump_memory(const stream_api_t* api, int device, iree_string_builder_t* out) {
  size_t memory = 0;
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, device_memory, &memory, device));
  return iree_string_builder_append_format(
      out,
      "\n- memory-is-integrated-memory: %d\n- memory-has-unified-address-space: %d\n"
      "- memory-supports-managed-memory: %d\n- memory-total-const-memory-size: %d KB\n"
      "- memory-total-global-memory-size: %zu MB\n- memory-l2-cache-size: %d bytes\n"
      "\n- gpu-compute-unit-count: %d\n- gpu-compute-max-clock-rate: %d mHz\n- gpu-memory-max-clock-rate: %d mHz\n"
      "- gpu-warp-size: %d\n",
      attribute(api, STREAM_API_IS_INTEGRATED, device), attribute(api, STREAM_API_HAS_UNIFIED_ADDRESSES, device),
      attribute(api, STREAM_API_HAS_MANAGED_MEMORY, device), attribute(api, STREAM_API_CONSTANT_MEMORY, device) >> 10,
      memory >> 20, attribute(api, STREAM_API_L2_CACHE_SIZE, device),
      attribute(api, STREAM_API_MULTIPROCESSORS, device), attribute(api, STREAM_API_CLOCK_RATE, device) / 1000,
      attribute(api, STREAM_API_MEMORY_CLOCK_RATE, device) / 1000, attribute(api, STREAM_API_WARP_SIZE, device));
}

// libcuda's ordinal of a device's id.
static int ordinal_of(iree_hal_device_id_t device_id) {
  return device_id ? (int)device_id - 1 : FLAG_cuda_default_index;
}

static iree_status_t driver_dump_device_info(iree_hal_driver_t* base, iree_hal_device_id_t device_id,
                                             iree_string_builder_t* builder) {
  int device = 0;
  IREE_RETURN_IF_ERROR(STREAM_CALL(api_of(base), device_get, &device, ordinal_of(device_id)));
  IREE_RETURN_IF_ERROR(dump_facts(api_of(base), device, builder));
  return dump_memory(api_of(base), device, builder);
}

//===----------------------------------------------------------------------------------------------------------------===
// Devices
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t driver_create_device_by_id(iree_hal_driver_t* base, iree_hal_device_id_t device_id,
                                                iree_host_size_t param_count, const iree_string_pair_t* params,
                                                const iree_hal_device_create_params_t* create_params,
                                                iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  if (param_count) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "'cuda' has no device parameter '%.*s'",
                            (int)params[0].key.size, params[0].key.data);
  }
  int count = 0, ordinal = ordinal_of(device_id);
  IREE_RETURN_IF_ERROR(STREAM_CALL(api_of(base), device_count, &count));
  if (ordinal < 0 || ordinal >= count) {
    return iree_make_status(IREE_STATUS_NOT_FOUND, "there is no GPU %d; libcuda has %d", ordinal, count);
  }
  stream_device_options_t options = {0};
  return stream_device_create(api_of(base), ordinal, &options, create_params, host_allocator, out_device);
}

static iree_status_t find_path(const stream_api_t* api, iree_string_view_t path, iree_hal_device_id_t* out_id) {
  uint32_t index = 0;
  if (iree_string_view_atoi_uint32(path, &index)) {
    *out_id = (iree_hal_device_id_t)index + 1;
    return iree_ok_status();
  }
  if (!iree_string_view_starts_with(path, IREE_SV("GPU-"))) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "'%.*s' is neither an ordinal nor a UUID as --list_devices=cuda shows it, 'GPU-…'",
                            (int)path.size, path.data);
  }
  int count = 0;
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, device_count, &count));
  for (int i = 0; i < count; ++i) {
    char uuid[PATH_SIZE] = {0};
    int device = 0;
    IREE_RETURN_IF_ERROR(STREAM_CALL(api, device_get, &device, i));
    IREE_RETURN_IF_ERROR(format_uuid(api, device, uuid));
    *out_id = (iree_hal_device_id_t)i + 1;
    if (iree_string_view_equal_case(path, iree_make_cstring_view(uuid))) return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_NOT_FOUND, "there is no GPU '%.*s' among the %d of libcuda", (int)path.size,
                          path.data, count);
}

static iree_status_t driver_create_device_by_path(iree_hal_driver_t* base, iree_string_view_t driver_name,
                                                  iree_string_view_t device_path, iree_host_size_t param_count,
                                                  const iree_string_pair_t* params,
                                                  const iree_hal_device_create_params_t* create_params,
                                                  iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  iree_hal_device_id_t device_id = 0;
  if (device_path.size) IREE_RETURN_IF_ERROR(find_path(api_of(base), device_path, &device_id));
  return driver_create_device_by_id(base, device_id, param_count, params, create_params, host_allocator, out_device);
}

static const iree_hal_driver_vtable_t driver_vtable = {
    .destroy = driver_destroy,
    .query_available_devices = driver_query_available_devices,
    .dump_device_info = driver_dump_device_info,
    .create_device_by_id = driver_create_device_by_id,
    .create_device_by_path = driver_create_device_by_path,
};

//===----------------------------------------------------------------------------------------------------------------===
// Registration
//===----------------------------------------------------------------------------------------------------------------===

static const iree_hal_driver_info_t driver_info = {IREE_SVL("cuda"), IREE_SVL("NVIDIA CUDA HAL driver (via dylib)")};

static iree_status_t factory_enumerate(void* self, iree_host_size_t* out_driver_info_count,
                                       const iree_hal_driver_info_t** out_driver_infos) {
  *out_driver_info_count = 1;
  *out_driver_infos = &driver_info;
  return iree_ok_status();
}

static iree_status_t factory_try_create(void* self, iree_string_view_t driver_name, iree_allocator_t host_allocator,
                                        iree_hal_driver_t** out_driver) {
  *out_driver = NULL;
  const stream_api_t* api = NULL;
  IREE_RETURN_IF_ERROR(stream_api_load(&api));
  cuda_driver_t* driver = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*driver), (void**)&driver));
  iree_hal_resource_initialize(&driver_vtable, &driver->resource);
  driver->host_allocator = host_allocator;
  driver->api = api;
  *out_driver = (iree_hal_driver_t*)driver;
  return iree_ok_status();
}

static const iree_hal_driver_factory_t driver_factory = {NULL, factory_enumerate, factory_try_create};

iree_status_t iree_hal_cuda_driver_module_register(iree_hal_driver_registry_t* registry) {
  return iree_hal_driver_registry_register_factory(registry, &driver_factory);
}
