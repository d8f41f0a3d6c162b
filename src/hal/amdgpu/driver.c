// The driver: finds HSA, lists GPUs and makes logical devices. A device's id is the bit mask of its GPUs.
#include "hal/amdgpu/fault.h"
#include "hal/amdgpu/logical_device.h"
#include "hal/amdgpu/topology.h"
#include "hal/driver_base.h"
#include "iree/base/tooling/flags.h"
#include "iree/hal/drivers/amdgpu/registration/driver_module.h"

IREE_FLAG_LIST(
    string, amdgpu_libhsa_search_path,
    "File or folder of libhsa-runtime64.so, tried before IREE_HAL_AMDGPU_LIBHSA_PATH, PATH and the system's\n"
    "libraries. May be repeated.");

typedef struct amdgpu_driver_t {
  hal_driver_t base;
  system_t* system;
  amdgpu_options_t options;
} amdgpu_driver_t;

static void driver_deinitialize(iree_hal_driver_t* base) { system_release(((amdgpu_driver_t*)base)->system); }

//===----------------------------------------------------------------------------------------------------------------===
// Listing
//===----------------------------------------------------------------------------------------------------------------===

static const char* display_name(const system_gpu_t* gpu) { return gpu->product[0] ? gpu->product : gpu->name; }

// One device over all GPUs, then each of them.
static iree_status_t query_devices(iree_hal_driver_t* base, iree_allocator_t host_allocator,
                                   iree_host_size_t* out_device_info_count, iree_hal_device_info_t** out_device_infos) {
  const system_t* system = ((amdgpu_driver_t*)base)->system;
  iree_hal_device_info_t* infos = NULL;
  iree_host_size_t count = system->gpu_count + 1;
  const iree_host_size_t text_size = sizeof(system->gpus[0].uuid) + sizeof(system->gpus[0].product);
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, count * (sizeof(*infos) + text_size), (void**)&infos));
  char* text = (char*)(infos + count);
  infos[0].device_id = IREE_HAL_DEVICE_ID_DEFAULT;
  infos[0].name = IREE_SV("All compatible AMD GPUs");
  for (uint32_t i = 0; i < system->gpu_count; ++i) {
    const system_gpu_t* gpu = &system->gpus[i];
    infos[i + 1].device_id = (iree_hal_device_id_t)1 << i;
    text += iree_string_view_append_to_buffer(iree_make_cstring_view(gpu->uuid), &infos[i + 1].path, text);
    text += iree_string_view_append_to_buffer(iree_make_cstring_view(display_name(gpu)), &infos[i + 1].name, text);
  }
  *out_device_info_count = count;
  *out_device_infos = infos;
  return iree_ok_status();
}

static iree_status_t dump_gpu(const system_gpu_t* gpu, iree_string_builder_t* out) {
  const char* generic = target_id_generic(gpu->target.processor);
  IREE_RETURN_IF_ERROR(iree_string_builder_append_format(
      out, "\n- amdgpu-device-uuid: %s\n- gpu-arch-name: %s\n- gpu-isa: %s\n- gpu-generic-isa: %s\n", gpu->uuid,
      gpu->target.processor, gpu->isa, generic ? generic : "none"));
  IREE_RETURN_IF_ERROR(iree_string_builder_append_format(out, "\n- pci-bus-id: %04x:%02x:%02x.%x\n- chip-id: 0x%04X\n",
                                                         gpu->pci_domain, gpu->bdf >> 8 & 0xFF, gpu->bdf >> 3 & 0x1F,
                                                         gpu->bdf & 7, gpu->chip_id));
  IREE_RETURN_IF_ERROR(iree_string_builder_append_format(
      out,
      "\n- gpu-compute-unit-count: %u\n- gpu-simds-per-compute-unit: %u\n- gpu-max-waves-per-compute-unit: %u\n"
      "- gpu-wave-size: %u\n- gpu-max-workgroup-size: %u\n- gpu-compute-max-clock-rate: %u mHz\n",
      gpu->compute_units, gpu->simds_per_unit, gpu->waves_per_unit, gpu->wave_size, gpu->max_workgroup_size,
      gpu->clock_mhz));
  IREE_RETURN_IF_ERROR(iree_string_builder_append_format(
      out,
      "\n- memory-total-global-memory-size: %" PRIu64
      " MB\n- memory-l2-cache-size: %u bytes\n- memory-cache-line-size: %u bytes\n- memory-bus-width: %u bits\n"
      "- memory-max-clock-rate: %u mHz\n- memory-is-host-visible: %s\n",
      gpu->memory_size >> 20, gpu->cache_size[1], gpu->cache_line, gpu->memory_width, gpu->memory_clock_mhz,
      gpu->is_host_visible ? "yes" : "no"));
  return iree_string_builder_append_format(out, "\n- queue-count: %u\n- queue-max-size: %u packets\n",
                                           LOGICAL_DEVICE_DEFAULT_QUEUES, gpu->max_queue_size);
}

static iree_status_t dump_device(iree_hal_driver_t* base, iree_hal_device_id_t device_id,
                                 iree_string_builder_t* builder) {
  const system_t* system = ((amdgpu_driver_t*)base)->system;
  uint64_t mask = device_id ? (uint64_t)device_id : topology_default(system);
  for (uint32_t i = 0; i < system->gpu_count; ++i) {
    if (mask >> i & 1) IREE_RETURN_IF_ERROR(dump_gpu(&system->gpus[i], builder));
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Devices
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t create_device(iree_hal_driver_t* base, iree_hal_device_id_t device_id,
                                   const iree_hal_device_create_params_t* create_params,
                                   iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  system_t* system = ((amdgpu_driver_t*)base)->system;
  uint64_t mask = device_id ? (uint64_t)device_id : topology_default(system);
  IREE_RETURN_IF_ERROR(topology_verify(system, mask));
  logical_device_options_t options = {.user = ((amdgpu_driver_t*)base)->options};
  return logical_device_create(system, mask, &options, create_params, host_allocator, out_device);
}

static iree_status_t parse_path(iree_hal_driver_t* base, iree_string_view_t path, iree_hal_device_id_t* out_device_id) {
  uint64_t mask = 0;
  IREE_RETURN_IF_ERROR(topology_parse(((amdgpu_driver_t*)base)->system, path, &mask));
  *out_device_id = (iree_hal_device_id_t)mask;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Registration
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t create_system(iree_allocator_t host_allocator, system_t** out_system) {
  const iree_flag_string_list_t paths = FLAG_amdgpu_libhsa_search_path_list();
  libhsa_t* hsa = NULL;
  IREE_RETURN_IF_ERROR(libhsa_load(paths.count, paths.values, host_allocator, &hsa));
  iree_status_t status = system_create(hsa, host_allocator, out_system);
  libhsa_release(hsa);
  if (iree_status_is_ok(status)) fault_watch_events(*out_system);
  return status;
}

static iree_status_t create(const hal_driver_class_t* type, iree_allocator_t host_allocator,
                            iree_hal_driver_t** out_driver) {
  system_t* system = NULL;
  amdgpu_options_t options;
  IREE_RETURN_IF_ERROR(amdgpu_options_from_flags(&options));
  IREE_RETURN_IF_ERROR(create_system(host_allocator, &system));
  amdgpu_driver_t* driver = NULL;
  iree_status_t status = hal_driver_allocate(type, sizeof(*driver), host_allocator, (void**)&driver);
  if (!iree_status_is_ok(status)) {
    system_release(system);
    return status;
  }
  driver->system = system;
  driver->options = options;
  *out_driver = (iree_hal_driver_t*)driver;
  return iree_ok_status();
}

static const hal_driver_class_t driver_class = {
    .info = {IREE_SVL("amdgpu"), IREE_SVL("AMD GPU Driver (HSA/ROCR)")},
    .create = create,
    .deinitialize = driver_deinitialize,
    .query_devices = query_devices,
    .dump_device = dump_device,
    .parse_path = parse_path,
    .create_device = create_device,
};
static const iree_hal_driver_factory_t driver_factory = HAL_DRIVER_FACTORY(&driver_class);

iree_status_t iree_hal_amdgpu_driver_module_register(iree_hal_driver_registry_t* registry) {
  return iree_hal_driver_registry_register_factory(registry, &driver_factory);
}
