// The drivers `cuda` and `hip`: list the GPUs of their library and make devices of them. A device's id is the bit mask
// of its GPUs, by the library's ordinals.
#include "hal/stream/driver.h"

#include "hal/detail.h"
#include "hal/driver_base.h"
#include "hal/gpu/path.h"
#include "hal/stream/code.h"
#include "hal/stream/counters.h"
#include "hal/stream/nccl.h"
#include "hal/stream/writer.h"
#include "iree/hal/drivers/cuda/registration/driver_module.h"
#include "iree/hal/drivers/hip/registration/driver_module.h"

enum { NAME_SIZE = 256, MAX_UPDATE = 1 << 20, MAX_GPUS = 64 };

typedef struct stream_driver_t {
  hal_driver_t base;
  const stream_platform_t* platform;
  const stream_api_t* api;
  stream_options_t options;
} stream_driver_t;

static const stream_api_t* api_of(iree_hal_driver_t* base) { return ((stream_driver_t*)base)->api; }

//===----------------------------------------------------------------------------------------------------------------===
// Listing
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t count_gpus(const stream_api_t* api, uint32_t* out_count) {
  int count = 0, result = api->device_count(&count);
  // Whether the machine has none, or only such as are newer than the library, it does not say.
  if (result == STREAM_API_NO_DEVICE) {
    return iree_make_status(IREE_STATUS_UNAVAILABLE, "%s finds no GPU that it knows; %s", api->path,
                            api->library->on_none);
  }
  IREE_RETURN_IF_ERROR(stream_api_check(api, result, api->library->symbols.device_count.name));
  *out_count = (uint32_t)iree_max(0, iree_min(count, MAX_GPUS));
  return iree_ok_status();
}

// "GPU-" and 32 digits in five groups, as nvidia-smi prints it.
static iree_status_t format_uuid(const void* api_data, uint32_t ordinal, char out_uuid[GPU_PATH_UUID_SIZE]) {
  const stream_api_t* api = (const stream_api_t*)api_data;
  static const uint8_t dashes[] = {4, 6, 8, 10};
  uint8_t uuid[16] = {0};
  int device = 0;
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, device_get, &device, (int)ordinal));
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, device_uuid, uuid, device));
  int length = snprintf(out_uuid, GPU_PATH_UUID_SIZE, "GPU");
  for (int i = 0, dash = 0; i < 16; ++i) {
    bool starts = i == 0 || (dash < 4 && dashes[dash] == i);
    if (i && starts) ++dash;
    length += snprintf(out_uuid + length, (size_t)(GPU_PATH_UUID_SIZE - length), "%s%02x", starts ? "-" : "", uuid[i]);
  }
  return iree_ok_status();
}

static iree_status_t query_devices(iree_hal_driver_t* base, iree_allocator_t host_allocator,
                                   iree_host_size_t* out_device_info_count, iree_hal_device_info_t** out_device_infos) {
  const stream_api_t* api = api_of(base);
  uint32_t count = 0;
  IREE_RETURN_IF_ERROR(count_gpus(api, &count));
  iree_hal_device_info_t* infos = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(
      host_allocator, iree_max(count, 1u) * (sizeof(*infos) + NAME_SIZE + GPU_PATH_UUID_SIZE), (void**)&infos));
  char* text = (char*)(infos + count);
  iree_status_t status = iree_ok_status();
  for (uint32_t i = 0; i < count && iree_status_is_ok(status); ++i) {
    char name[NAME_SIZE] = {0}, path[GPU_PATH_UUID_SIZE] = {0};
    int device = 0;
    status = STREAM_CALL(api, device_get, &device, (int)i);
    if (iree_status_is_ok(status)) status = STREAM_CALL(api, device_name, name, sizeof(name) - 1, device);
    if (iree_status_is_ok(status)) status = format_uuid(api, i, path);
    infos[i].device_id = (iree_hal_device_id_t)1 << i;
    text += iree_string_view_append_to_buffer(iree_make_cstring_view(path), &infos[i].path, text);
    text += iree_string_view_append_to_buffer(iree_make_cstring_view(name), &infos[i].name, text);
  }
  if (!iree_status_is_ok(status)) {
    iree_allocator_free(host_allocator, infos);
    return status;
  }
  *out_device_info_count = count;
  *out_device_infos = infos;
  return iree_ok_status();
}

// A line of --dump_devices (facts.def): GAP has no key, MEMORY no divisor.
typedef struct fact_t {
  const char* key;
  stream_attribute_t attribute;
  uint32_t divisor;
  const char* unit;
  bool is_for_cuda, is_for_hip;
} fact_t;

#define CUDA true, false
#define HIP false, true
#define BOTH true, true
#define GAP(drivers) {NULL, 0, 0, NULL, drivers},
#define FACT(drivers, key, attribute, divisor, unit) {key, STREAM_##attribute, divisor, unit, drivers},
#define MEMORY(name) {.key = name, .is_for_cuda = true, .is_for_hip = true},
static const fact_t facts[] = {
#include "hal/stream/facts.def"
};
#undef CUDA
#undef HIP
#undef BOTH

static iree_status_t dump_fact(const stream_api_t* api, int device, const fact_t* fact, iree_string_builder_t* out) {
  if (!fact->key) return iree_string_builder_append_cstring(out, "\n");
  if (!fact->divisor) {
    size_t size = 0;
    IREE_RETURN_IF_ERROR(STREAM_CALL(api, device_memory, &size, device));
    return iree_string_builder_append_format(out, "- %s: %zu MB\n", fact->key, size >> 20);
  }
  if (api->library->attributes[fact->attribute] < 0) return iree_ok_status();
  uint32_t value = (uint32_t)stream_api_attribute(api, device, fact->attribute) / fact->divisor;
  return iree_string_builder_append_format(out, "- %s: %u%s\n", fact->key, value, fact->unit);
}

static iree_status_t dump_launch(const stream_api_t* api, int device, iree_string_builder_t* out) {
  int sizes[6];
  for (int i = 0; i < 6; ++i)
    sizes[i] = stream_api_attribute(api, device, (stream_attribute_t)(STREAM_MAX_BLOCK_X + i));
  return iree_string_builder_append_format(
      out, "\n- launch-max-block-dims: (%d, %d, %d)\n- launch-max-grid-dims: (%d, %d, %d)\n", sizes[0], sizes[1],
      sizes[2], sizes[3], sizes[4], sizes[5]);
}

static iree_status_t dump_identity(const stream_driver_t* driver, int device, iree_string_builder_t* out) {
  const stream_api_t* api = driver->api;
  stream_gpu_t gpu = {.context = {.api = api, .device = device}};
  int version = 0;
  IREE_RETURN_IF_ERROR(driver->platform->code->identify(&gpu));
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, driver_version, &version));
  const char* dot = strchr(gpu.architecture, ':');
  int length = dot ? (int)(dot - gpu.architecture) : (int)strlen(gpu.architecture);
  IREE_RETURN_IF_ERROR(iree_string_builder_append_format(
      out, "\n- %s: %s\n- gpu-compute-capability: %d.%d\n- gpu-arch-name: %.*s\n", driver->platform->path_key,
      api->path, stream_api_attribute(api, device, STREAM_CAPABILITY_MAJOR),
      stream_api_attribute(api, device, STREAM_CAPABILITY_MINOR), length, gpu.architecture));
  if (dot) IREE_RETURN_IF_ERROR(iree_string_builder_append_format(out, "- gpu-isa: %s\n", gpu.architecture));
  return iree_string_builder_append_format(
      out, "- %s: %d.%d\n", driver->platform->version_key, version / driver->platform->version_unit,
      version % driver->platform->version_unit * 100 / driver->platform->version_unit);
}

// What connects it with each of the others.
static iree_status_t dump_links(const stream_api_t* api, int ordinal, iree_string_builder_t* out) {
  uint32_t count = 0;
  int device = 0, peer = 0;
  IREE_RETURN_IF_ERROR(count_gpus(api, &count));
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, device_get, &device, ordinal));
  if (count > 1) IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(out, "\n"));
  for (int i = 0; i < (int)count; ++i) {
    iree_hal_topology_link_class_t link = 0;
    if (i == ordinal) continue;
    IREE_RETURN_IF_ERROR(STREAM_CALL(api, device_get, &peer, i));
    IREE_RETURN_IF_ERROR(stream_link_find(api, device, peer, &link));
    IREE_RETURN_IF_ERROR(
        iree_string_builder_append_format(out, "- gpu-link-to-%d: %s\n", i, hal_topology_link_name(link)));
  }
  return iree_ok_status();
}

static iree_status_t dump_device(iree_hal_driver_t* base, iree_hal_device_id_t device_id, iree_string_builder_t* out) {
  const stream_driver_t* driver = (const stream_driver_t*)base;
  const stream_api_t* api = driver->api;
  int ordinal = device_id ? __builtin_ctzll(device_id) : (int)driver->options.default_ordinal, device = 0;
  bool is_cuda = driver->platform->library == &stream_cuda_library;
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, device_get, &device, ordinal));
  IREE_RETURN_IF_ERROR(dump_identity(driver, device, out));
  IREE_RETURN_IF_ERROR(dump_launch(api, device, out));
  for (size_t i = 0; i < IREE_ARRAYSIZE(facts); ++i) {
    if (is_cuda ? facts[i].is_for_cuda : facts[i].is_for_hip) {
      IREE_RETURN_IF_ERROR(dump_fact(api, device, &facts[i], out));
    }
  }
  return dump_links(api, ordinal, out);
}

//===----------------------------------------------------------------------------------------------------------------===
// Devices
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t create_chosen(const stream_driver_t* driver, iree_hal_device_id_t device_id,
                                   const stream_options_t* options,
                                   const iree_hal_device_create_params_t* create_params,
                                   iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  uint32_t count = 0, first = options->default_ordinal;
  IREE_RETURN_IF_ERROR(count_gpus(driver->api, &count));
  if (!device_id && first < count) device_id = (iree_hal_device_id_t)1 << first;
  if (!device_id || (count < MAX_GPUS && device_id >> count)) {
    return iree_make_status(IREE_STATUS_NOT_FOUND, "there is no GPU %u; %s has %u",
                            device_id ? 63 - (uint32_t)__builtin_clzll(device_id) : first, driver->api->path, count);
  }
  return stream_device_create(driver->platform, driver->api, (uint64_t)device_id, options, create_params,
                              host_allocator, out_device);
}

static iree_status_t create_device(iree_hal_driver_t* base, iree_hal_device_id_t device_id,
                                   const iree_hal_device_create_params_t* create_params,
                                   iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  const stream_driver_t* driver = (const stream_driver_t*)base;
  return create_chosen(driver, device_id, &driver->options, create_params, host_allocator, out_device);
}

// cuda_external_stream and hip_external_stream: the number of a handle in this process.
static iree_status_t create_device_with(iree_hal_driver_t* base, iree_hal_device_id_t device_id,
                                        iree_host_size_t param_count, const iree_string_pair_t* params,
                                        const iree_hal_device_create_params_t* create_params,
                                        iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  const stream_driver_t* driver = (const stream_driver_t*)base;
  stream_options_t options = driver->options;
  for (iree_host_size_t i = 0; i < param_count; ++i) {
    const char* key = driver->platform->stream_key;
    iree_string_view_t value = params[i].value;
    uint64_t stream = 0;
    if (!iree_string_view_equal(params[i].key, iree_make_cstring_view(key))) {
      return hal_driver_refuse_param(base, &params[i], key);
    }
    if (!iree_string_view_atoi_uint64(value, &stream)) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "%s is '%.*s'; the number of a stream is expected", key,
                              (int)value.size, value.data);
    }
    options.has_stream = true;
    options.stream = (void*)(uintptr_t)stream;
  }
  return create_chosen(driver, device_id, &options, create_params, host_allocator, out_device);
}

static iree_status_t parse_path(iree_hal_driver_t* base, iree_string_view_t path, iree_hal_device_id_t* out_device_id) {
  gpu_path_source_t source = {.uuid = format_uuid, .user_data = api_of(base)};
  uint64_t mask = 0;
  IREE_RETURN_IF_ERROR(count_gpus(api_of(base), &source.count));
  IREE_RETURN_IF_ERROR(gpu_path_parse(&source, path, &mask));
  *out_device_id = (iree_hal_device_id_t)mask;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Registration
//===----------------------------------------------------------------------------------------------------------------===

#define BACKEND(driver_name, format, infer) \
  {                                         \
      .name = driver_name,                  \
      .max_update = MAX_UPDATE,             \
      .any_format = format,                 \
      .architecture = stream_architecture,  \
      .takes_format = stream_takes_format,  \
      .infer_format = infer,                \
      .load = stream_executable_load,       \
      .make_plan = stream_graph_create,     \
      .clear_plan = stream_graph_clear,     \
      .free_plan = stream_graph_free,       \
      .import_event = stream_import_event,  \
      .export_event = stream_export_event,  \
      .write = stream_queue_write,          \
      .publish = stream_queue_publish,      \
      .poll = stream_queue_poll,            \
      .await = stream_queue_await,          \
      .wake = stream_queue_wake,            \
      .stop = stream_queue_stop,            \
      .retire = stream_queue_retire,        \
      .destroy = stream_queue_destroy,      \
  }
static const stream_platform_t cuda_platform = {
    .library = &stream_cuda_library,
    .code = &stream_code_nvidia,
    .nccl = &nccl_cuda_library,
    .counting = &stream_cuda_counting,
    .profile_interface = &stream_cuda_profile_interface,
    .backend = BACKEND("cuda", "cuda-nvptx-fb", stream_infer_nvidia),
    .paths = stream_no_paths,
    .read_options = stream_options_from_cuda_flags,
    .path_key = "cuda_dylib_path",
    .stream_key = "cuda_external_stream",
    .version_key = "driver-max-cuda-version",
    .version_unit = 1000,
};
static const stream_platform_t hip_platform = {
    .library = &stream_hip_library,
    .code = &stream_code_amd,
    .nccl = &nccl_hip_library,
    .counting = &stream_hip_counting,
    .profile_interface = &stream_hip_profile_interface,
    .prepare = stream_hip_counting_prepare,
    .backend = BACKEND("hip", "rocm-hsaco-fb", code_object_infer_format),
    .paths = stream_hip_paths,
    .read_options = stream_options_from_hip_flags,
    .path_key = "amdhip64_dylib_path",
    .stream_key = "hip_external_stream",
    .version_key = "driver-hip-version",
    .version_unit = 10000000,
};

static iree_status_t create(const hal_driver_class_t* type, iree_allocator_t host_allocator,
                            iree_hal_driver_t** out_driver);

#define CLASS(name, full_name)                       \
  {                                                  \
      .info = {IREE_SVL(name), IREE_SVL(full_name)}, \
      .create = create,                              \
      .query_devices = query_devices,                \
      .dump_device = dump_device,                    \
      .parse_path = parse_path,                      \
      .create_device = create_device,                \
      .create_device_with = create_device_with,      \
  }
static const hal_driver_class_t cuda_class = CLASS("cuda", "NVIDIA CUDA HAL driver (via dylib)");
static const hal_driver_class_t hip_class = CLASS("hip", "HIP HAL driver (via dylib)");

// `name` is the class's without one of the caller's.
static iree_status_t create_named(const hal_driver_class_t* type, iree_string_view_t name,
                                  const stream_options_t* options, iree_string_view_list_t paths,
                                  iree_allocator_t host_allocator, iree_hal_driver_t** out_driver) {
  const stream_platform_t* platform = type == &cuda_class ? &cuda_platform : &hip_platform;
  const stream_api_t* api = NULL;
  if (platform->prepare) platform->prepare();
  IREE_RETURN_IF_ERROR(stream_api_load(platform->library, paths, &api));
  stream_driver_t* driver = NULL;
  IREE_RETURN_IF_ERROR(hal_driver_allocate_named(type, sizeof(*driver), name, host_allocator, (void**)&driver));
  driver->platform = platform;
  driver->api = api;
  driver->options = *options;
  *out_driver = (iree_hal_driver_t*)driver;
  return iree_ok_status();
}

static iree_status_t create(const hal_driver_class_t* type, iree_allocator_t host_allocator,
                            iree_hal_driver_t** out_driver) {
  const stream_platform_t* platform = type == &cuda_class ? &cuda_platform : &hip_platform;
  iree_string_view_t storage[STREAM_MAX_PATHS];
  stream_options_t options;
  IREE_RETURN_IF_ERROR(platform->read_options(&options));
  return create_named(type, type->info.driver_name, &options, platform->paths(storage), host_allocator, out_driver);
}

iree_status_t stream_driver_create_cuda(iree_string_view_t name, const stream_options_t* options,
                                        iree_allocator_t host_allocator, iree_hal_driver_t** out_driver) {
  return create_named(&cuda_class, name, options, (iree_string_view_list_t){0}, host_allocator, out_driver);
}

iree_status_t stream_driver_create_hip(iree_string_view_t name, const stream_options_t* options,
                                       iree_string_view_list_t paths, iree_allocator_t host_allocator,
                                       iree_hal_driver_t** out_driver) {
  iree_string_view_t storage[STREAM_MAX_PATHS];
  if (!paths.count) paths = stream_hip_paths(storage);
  return create_named(&hip_class, name, options, paths, host_allocator, out_driver);
}

iree_status_t iree_hal_cuda_driver_module_register(iree_hal_driver_registry_t* registry) {
  static const iree_hal_driver_factory_t factory = HAL_DRIVER_FACTORY(&cuda_class);
  return iree_hal_driver_registry_register_factory(registry, &factory);
}

iree_status_t iree_hal_hip_driver_module_register(iree_hal_driver_registry_t* registry) {
  static const iree_hal_driver_factory_t factory = HAL_DRIVER_FACTORY(&hip_class);
  return iree_hal_driver_registry_register_factory(registry, &factory);
}
