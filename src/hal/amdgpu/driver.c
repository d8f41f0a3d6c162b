// The driver: finds HSA, lists GPUs and makes logical devices. A device's id is the bit mask of its GPUs.
#include "hal/amdgpu/driver.h"

#include "hal/amdgpu/fault.h"
#include "hal/amdgpu/topology.h"
#include "hal/detail.h"
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
  logical_device_options_t options;
} amdgpu_driver_t;

static void driver_deinitialize(iree_hal_driver_t* base) { system_release(((amdgpu_driver_t*)base)->system); }

//===----------------------------------------------------------------------------------------------------------------===
// Listing
//===----------------------------------------------------------------------------------------------------------------===

// What all of them are called, and one.
static iree_status_t append_names(const system_t* system, iree_string_builder_t* out) {
  bool is_one = system->gpu_count == 1;
  IREE_RETURN_IF_ERROR(iree_string_builder_append_format(out, "ROCR_VISIBLE_DEVICES: %u Visible GPU Agent%s (Node%s",
                                                         system->gpu_count, is_one ? "" : "s", is_one ? "" : "s"));
  for (uint32_t i = 0; i < system->gpu_count; ++i) {
    IREE_RETURN_IF_ERROR(iree_string_builder_append_format(out, i ? ", %u" : " %u", system->gpus[i].node));
  }
  return iree_string_builder_append_format(out, ")");
}

static iree_status_t append_name(const system_gpu_t* gpu, iree_string_builder_t* out) {
  return iree_string_builder_append_format(out, "%s (Node %u)", gpu->product[0] ? gpu->product : gpu->name, gpu->node);
}

// The names, one after the other; where each ends.
static iree_status_t make_names(const system_t* system, iree_string_builder_t* out, iree_host_size_t* out_ends) {
  IREE_RETURN_IF_ERROR(append_names(system, out));
  out_ends[0] = iree_string_builder_size(out);
  for (uint32_t i = 0; i < system->gpu_count; ++i) {
    IREE_RETURN_IF_ERROR(append_name(&system->gpus[i], out));
    out_ends[i + 1] = iree_string_builder_size(out);
  }
  return iree_ok_status();
}

// One block: the infos, then their paths and names.
static iree_status_t make_infos(const system_t* system, iree_string_view_t names, const iree_host_size_t* ends,
                                iree_allocator_t host_allocator, iree_hal_device_info_t** out_infos) {
  iree_hal_device_info_t* infos = NULL;
  iree_host_size_t count = system->gpu_count + 1;
  iree_host_size_t size = count * (sizeof(*infos) + sizeof(system->gpus[0].uuid)) + names.size;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, size, (void**)&infos));
  char* text = (char*)(infos + count);
  for (iree_host_size_t i = 0; i < count; ++i) {
    iree_host_size_t begin = i ? ends[i - 1] : 0;
    infos[i].device_id = i ? (iree_hal_device_id_t)1 << (i - 1) : IREE_HAL_DEVICE_ID_DEFAULT;
    if (i)
      text += iree_string_view_append_to_buffer(iree_make_cstring_view(system->gpus[i - 1].uuid), &infos[i].path, text);
    iree_string_view_t name = iree_make_string_view(names.data + begin, ends[i] - begin);
    text += iree_string_view_append_to_buffer(name, &infos[i].name, text);
  }
  *out_infos = infos;
  return iree_ok_status();
}

// One device over all GPUs, then each of them.
static iree_status_t query_devices(iree_hal_driver_t* base, iree_allocator_t host_allocator,
                                   iree_host_size_t* out_device_info_count, iree_hal_device_info_t** out_device_infos) {
  const system_t* system = ((amdgpu_driver_t*)base)->system;
  iree_host_size_t ends[SYSTEM_MAX_AGENTS + 1];
  iree_string_builder_t names;
  iree_string_builder_initialize(host_allocator, &names);
  iree_status_t status = make_names(system, &names, ends);
  if (iree_status_is_ok(status)) {
    status = make_infos(system, iree_string_builder_view(&names), ends, host_allocator, out_device_infos);
  }
  iree_string_builder_deinitialize(&names);
  if (iree_status_is_ok(status)) *out_device_info_count = system->gpu_count + 1;
  return status;
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

// What connects it with each of the others.
static iree_status_t dump_links(const system_t* system, uint32_t gpu, iree_string_builder_t* out) {
  if (system->gpu_count > 1) IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(out, "\n"));
  for (uint32_t i = 0; i < system->gpu_count; ++i) {
    if (i == gpu) continue;
    IREE_RETURN_IF_ERROR(iree_string_builder_append_format(out, "- gpu-link-to-%u: %s\n", i,
                                                           hal_topology_link_name(system_find_link(system, gpu, i))));
  }
  return iree_ok_status();
}

static iree_status_t dump_device(iree_hal_driver_t* base, iree_hal_device_id_t device_id,
                                 iree_string_builder_t* builder) {
  const system_t* system = ((amdgpu_driver_t*)base)->system;
  uint64_t mask = device_id ? (uint64_t)device_id : topology_default(system);
  for (uint32_t i = 0; i < system->gpu_count; ++i) {
    if (!(mask >> i & 1)) continue;
    IREE_RETURN_IF_ERROR(dump_gpu(&system->gpus[i], builder));
    IREE_RETURN_IF_ERROR(dump_links(system, i, builder));
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
  const logical_device_options_t* options = &((amdgpu_driver_t*)base)->options;
  return logical_device_create(system, mask, options, create_params, host_allocator, out_device);
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

static iree_status_t create_system(iree_string_view_list_t paths, iree_allocator_t host_allocator,
                                   system_t** out_system) {
  libhsa_t* hsa = NULL;
  IREE_RETURN_IF_ERROR(libhsa_load(paths.count, paths.values, host_allocator, &hsa));
  iree_status_t status = system_create(hsa, host_allocator, out_system);
  libhsa_release(hsa);
  if (iree_status_is_ok(status)) fault_watch_events(*out_system);
  return status;
}

static iree_status_t create(const hal_driver_class_t* type, iree_allocator_t host_allocator,
                            iree_hal_driver_t** out_driver) {
  logical_device_options_t options = {0};
  IREE_RETURN_IF_ERROR(amdgpu_options_from_flags(&options.user));
  const iree_flag_string_list_t paths = FLAG_amdgpu_libhsa_search_path_list();
  return amdgpu_driver_create(type->info.driver_name, &options, (iree_string_view_list_t){paths.count, paths.values},
                              host_allocator, out_driver);
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

iree_status_t amdgpu_driver_create(iree_string_view_t name, const logical_device_options_t* options,
                                   iree_string_view_list_t libhsa_paths, iree_allocator_t host_allocator,
                                   iree_hal_driver_t** out_driver) {
  system_t* system = NULL;
  amdgpu_driver_t* driver = NULL;
  IREE_RETURN_IF_ERROR(create_system(libhsa_paths, host_allocator, &system));
  iree_status_t status =
      hal_driver_allocate_named(&driver_class, sizeof(*driver), name, host_allocator, (void**)&driver);
  if (!iree_status_is_ok(status)) {
    system_release(system);
    return status;
  }
  driver->system = system;
  driver->options = *options;
  *out_driver = (iree_hal_driver_t*)driver;
  return iree_ok_status();
}

static const iree_hal_driver_factory_t driver_factory = HAL_DRIVER_FACTORY(&driver_class);

iree_status_t iree_hal_amdgpu_driver_module_register(iree_hal_driver_registry_t* registry) {
  return iree_hal_driver_registry_register_factory(registry, &driver_factory);
}
