// Device flags and listings.

#include "tooling/devices.h"

#include "base/flag_table.h"
#include "iree/base/tooling/flags.h"
#include "iree/hal/drivers/init.h"
#include "iree/tooling/device_util.h"

enum { URI_SIZE = 1024 };

//===----------------------------------------------------------------------------------------------------------------===
// Drivers
//===----------------------------------------------------------------------------------------------------------------===

iree_hal_driver_registry_t* tooling_driver_registry(void) {
  static bool registered = false;  // tools are single-threaded here
  iree_hal_driver_registry_t* registry = iree_hal_driver_registry_default();
  if (!registered) {
    registered = true;
    IREE_IGNORE_ERROR(iree_hal_register_all_available_drivers(registry));
  }
  return registry;
}

static bool is_registered(iree_string_view_t name) {
  iree_host_size_t count = 0;
  iree_hal_driver_info_t* infos = NULL;
  iree_allocator_t allocator = iree_allocator_system();
  iree_status_t status = iree_hal_driver_registry_enumerate(tooling_driver_registry(), allocator, &count, &infos);
  bool found = false;
  for (iree_host_size_t i = 0; iree_status_is_ok(status) && i < count; ++i) {
    found |= iree_string_view_equal(infos[i].driver_name, name);
  }
  iree_status_ignore(status);
  iree_allocator_free(allocator, infos);
  return found;
}

iree_string_view_t tooling_driver_alias(iree_string_view_t name) {
  static const struct {
    const char *old_name, *name;
  } aliases[] = {
      {"rocm", "hip"},        {"rocm", "amdgpu"},         {"dylib", "local-task"},      {"vmvx", "local-task"},
      {"vmla", "local-task"}, {"llvm-cpu", "local-task"}, {"dylib-sync", "local-sync"}, {"vmvx-sync", "local-sync"},
  };
  if (is_registered(name)) return name;
  for (size_t i = 0; i < IREE_ARRAYSIZE(aliases); ++i) {
    if (!iree_string_view_equal(name, iree_make_cstring_view(aliases[i].old_name))) continue;
    if (is_registered(iree_make_cstring_view(aliases[i].name))) return iree_make_cstring_view(aliases[i].name);
  }
  return name;
}

//===----------------------------------------------------------------------------------------------------------------===
// --device
//===----------------------------------------------------------------------------------------------------------------===

static iree_flag_string_list_storage_t device_flags;
IREE_FLAG_CALLBACK(iree_flag_string_list_parse, iree_flag_string_list_print, &device_flags, device,
                   "Device to run on, as a URI that --list_devices shows: `local-task`, `cuda://0`.\n"
                   "Repeated: a group of devices, in this order.")
IREE_FLAG_CALLBACK(iree_flag_string_list_parse, iree_flag_string_list_print, &device_flags, driver,
                   "Older spelling of --device.")
IREE_FLAG_LIST(
    string, device_allocator,
    "IREE's allocators over a device's own, `caching` and `debug`, are refused: devices keep pools already,\n"
    "and --print_statistics counts what is allocated.")
IREE_FLAG(int32_t, device_lead_allocator, 0,
          "Number of the device whose memory inputs are in, among those of --device; only the first can be it.")
FLAG_VALUES(device, "local-task,local-sync,amdgpu,cuda,hip,null")

// Name of the driver in a URI: up to the first colon.
static iree_string_view_t driver_of(iree_string_view_t uri) {
  iree_string_view_t name;
  iree_string_view_split(uri, ':', &name, NULL);
  return name;
}

static iree_status_t create_device(iree_hal_driver_registry_t* registry, iree_string_view_t uri,
                                   const iree_hal_device_create_params_t* params, iree_allocator_t allocator,
                                   iree_hal_device_t** out_device) {
  iree_string_view_t name = driver_of(uri), alias = tooling_driver_alias(name);
  char text[URI_SIZE];
  if (uri.size + alias.size >= sizeof(text)) return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "device name too long");
  int length = snprintf(text, sizeof(text), "%.*s%.*s", (int)alias.size, alias.data, (int)(uri.size - name.size),
                        uri.data + name.size);
  iree_hal_driver_t* driver = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_driver_registry_try_create(registry, alias, allocator, &driver),
                       "creating driver for device '%.*s'", (int)uri.size, uri.data);
  iree_status_t status = iree_hal_driver_create_device_by_uri(driver, iree_make_string_view(text, (size_t)length),
                                                              params, allocator, out_device);
  iree_hal_driver_release(driver);
  if (iree_status_is_ok(status)) return status;
  return iree_status_annotate_f(status, "creating device '%.*s'", (int)uri.size, uri.data);
}

static iree_status_t add_device(iree_hal_device_group_builder_t* builder, iree_string_view_t uri,
                                iree_allocator_t allocator) {
  iree_hal_device_t* device = NULL;
  iree_hal_device_create_params_t params = iree_hal_device_create_params_default();
  IREE_RETURN_IF_ERROR(create_device(tooling_driver_registry(), uri, &params, allocator, &device));
  iree_status_t status = iree_hal_device_group_builder_add_device(builder, device);
  iree_hal_device_release(device);
  return status;
}

iree_hal_driver_registry_t* iree_hal_available_driver_registry(void) { return tooling_driver_registry(); }
iree_string_view_t iree_hal_default_device_uri(void) { return IREE_SV("local-task"); }
iree_string_view_list_t iree_hal_device_flag_list(void) {
  return (iree_string_view_list_t){device_flags.count, device_flags.values};
}

static iree_string_view_t default_uri_or(iree_string_view_t uri) {
  return uri.size ? uri : iree_hal_default_device_uri();
}

iree_status_t iree_hal_create_device_from_flags(iree_hal_driver_registry_t* driver_registry,
                                                iree_string_view_t default_device,
                                                const iree_hal_device_create_params_t* create_params,
                                                iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  *out_device = NULL;
  if (device_flags.count > 1) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "one device is needed; --device names %" PRIhsz,
                            device_flags.count);
  }
  iree_string_view_t uri = device_flags.count ? device_flags.values[0] : default_uri_or(default_device);
  return create_device(driver_registry, uri, create_params, host_allocator, out_device);
}

iree_status_t iree_hal_create_devices_from_flags(iree_hal_driver_registry_t* driver_registry,
                                                 iree_string_view_t default_device,
                                                 const iree_hal_device_create_params_t* create_params,
                                                 iree_allocator_t host_allocator,
                                                 iree_hal_device_list_t** out_device_list) {
  *out_device_list = NULL;
  iree_string_view_t fallback = default_uri_or(default_device);
  iree_string_view_list_t uris = {1, &fallback};
  if (device_flags.count) uris = iree_hal_device_flag_list();
  iree_hal_device_list_t* list = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_device_list_allocate(uris.count, host_allocator, &list));
  iree_status_t status = iree_ok_status();
  for (iree_host_size_t i = 0; i < uris.count && iree_status_is_ok(status); ++i) {
    iree_hal_device_t* device = NULL;
    status = create_device(driver_registry, uris.values[i], create_params, host_allocator, &device);
    if (iree_status_is_ok(status)) status = iree_hal_device_list_push_back(list, device);
    iree_hal_device_release(device);
  }
  if (iree_status_is_ok(status)) {
    *out_device_list = list;
  } else {
    iree_hal_device_list_free(list);
  }
  return status;
}

static iree_status_t check_allocators(void) {
  iree_flag_string_list_t list = FLAG_device_allocator_list();
  for (iree_host_size_t i = 0; i < list.count; ++i) {
    iree_string_view_t name;
    iree_string_view_split(list.values[i], ':', &name, NULL);
    if (!iree_string_view_equal(name, IREE_SV("caching")) && !iree_string_view_equal(name, IREE_SV("debug"))) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "unrecognized allocator '%.*s'", (int)name.size, name.data);
    }
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                            "--device_allocator=%.*s is not supported: devices keep pools of memory already, and "
                            "--print_statistics counts what is allocated",
                            (int)name.size, name.data);
  }
  if (!FLAG_device_lead_allocator) return iree_ok_status();
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                          "--device_lead_allocator=%d is not supported: inputs are in the first device's memory; name "
                          "the device first that is to have them",
                          FLAG_device_lead_allocator);
}

iree_status_t tooling_devices_create(iree_string_view_t default_uri, iree_allocator_t allocator,
                                     iree_hal_device_group_t** out_group) {
  IREE_RETURN_IF_ERROR(check_allocators());
  iree_hal_device_group_builder_t builder;
  iree_hal_device_group_builder_initialize(&builder, /*frontier_tracker=*/NULL);
  iree_status_t status = iree_ok_status();
  if (!device_flags.count) status = add_device(&builder, default_uri_or(default_uri), allocator);
  for (iree_host_size_t i = 0; i < device_flags.count && iree_status_is_ok(status); ++i) {
    status = add_device(&builder, device_flags.values[i], allocator);
  }
  if (!iree_status_is_ok(status)) {
    iree_hal_device_group_builder_deinitialize(&builder);
    return status;
  }
  return iree_hal_device_group_builder_finalize(&builder, allocator, out_group);
}

//===----------------------------------------------------------------------------------------------------------------===
// Listings: these flags print and end the program
//===----------------------------------------------------------------------------------------------------------------===

static void print_nothing(iree_string_view_t flag_name, void* storage, FILE* file) {
  fprintf(file, "# --%.*s\n", (int)flag_name.size, flag_name.data);
}

static void print_banner(const char* text, const char* argument) {
  printf(
      "# ============================================================================\n# %s%s\n"
      "# ============================================================================\n",
      text, argument);
}

static iree_status_t list_drivers(iree_string_view_t flag_name, void* storage, iree_string_view_t value) {
  iree_host_size_t count = 0;
  iree_hal_driver_info_t* infos = NULL;
  IREE_RETURN_IF_ERROR(
      iree_hal_driver_registry_enumerate(tooling_driver_registry(), iree_allocator_system(), &count, &infos));
  print_banner("Available HAL drivers", "");
  printf("# Use --list_devices={driver name} to enumerate available devices.\n\n");
  for (iree_host_size_t i = 0; i < count; ++i) {
    printf("%16.*s: %.*s\n", (int)infos[i].driver_name.size, infos[i].driver_name.data, (int)infos[i].full_name.size,
           infos[i].full_name.data);
  }
  iree_allocator_free(iree_allocator_system(), infos);
  exit(EXIT_SUCCESS);
}

// Prints the devices of one driver.
typedef iree_status_t (*print_devices_fn_t)(iree_hal_driver_t* driver, iree_string_view_t name, iree_host_size_t count,
                                            const iree_hal_device_info_t* infos);

static iree_status_t print_device_uris(iree_hal_driver_t* driver, iree_string_view_t name, iree_host_size_t count,
                                       const iree_hal_device_info_t* infos) {
  for (iree_host_size_t i = 0; i < count; ++i) {
    printf("%.*s://%.*s\n", (int)name.size, name.data, (int)infos[i].path.size, infos[i].path.data);
  }
  return iree_ok_status();
}

static iree_status_t print_device_details(iree_hal_driver_t* driver, iree_string_view_t name, iree_host_size_t count,
                                          const iree_hal_device_info_t* infos) {
  for (iree_host_size_t i = 0; i < count; ++i) {
    printf(
        "# ===----------------------------------------------------------------------===\n# --device=%.*s://%.*s\n"
        "#   %.*s\n# ===----------------------------------------------------------------------===\n",
        (int)name.size, name.data, (int)infos[i].path.size, infos[i].path.data, (int)infos[i].name.size,
        infos[i].name.data);
    iree_string_builder_t builder;
    iree_string_builder_initialize(iree_allocator_system(), &builder);
    iree_status_t status = iree_hal_driver_dump_device_info(driver, infos[i].device_id, &builder);
    if (iree_string_builder_size(&builder)) printf("%s", iree_string_builder_buffer(&builder));
    iree_string_builder_deinitialize(&builder);
    IREE_RETURN_IF_ERROR(status);
  }
  return iree_ok_status();
}

static iree_status_t print_driver(iree_string_view_t name, print_devices_fn_t print) {
  iree_allocator_t allocator = iree_allocator_system();
  iree_hal_driver_t* driver = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_driver_registry_try_create(tooling_driver_registry(), name, allocator, &driver));
  iree_host_size_t count = 0;
  iree_hal_device_info_t* infos = NULL;
  iree_status_t status = iree_hal_driver_query_available_devices(driver, allocator, &count, &infos);
  if (iree_status_is_ok(status)) status = print(driver, name, count, infos);
  iree_allocator_free(allocator, infos);
  iree_hal_driver_release(driver);
  return status;
}

// All drivers, or the one that is named: then its failure is one.
static iree_status_t for_each_driver(iree_string_view_t wanted, print_devices_fn_t print, bool banners) {
  iree_host_size_t count = 0;
  iree_hal_driver_info_t* infos = NULL;
  wanted = tooling_driver_alias(wanted);
  IREE_RETURN_IF_ERROR(
      iree_hal_driver_registry_enumerate(tooling_driver_registry(), iree_allocator_system(), &count, &infos));
  iree_status_t status = iree_ok_status();
  for (iree_host_size_t i = 0; i < count && !wanted.size; ++i) {
    char name[128];
    iree_string_view_to_cstring(infos[i].driver_name, name, sizeof(name));
    if (banners) {
      print_banner("Enumerated devices for driver '", strcat(name, "'"));
      printf("\n");
    }
    iree_status_ignore(print_driver(infos[i].driver_name, print));
    if (banners && i + 1 < count) printf("\n");
  }
  if (wanted.size) status = print_driver(wanted, print);
  iree_allocator_free(iree_allocator_system(), infos);
  return status;
}

static iree_status_t list_devices(iree_string_view_t flag_name, void* storage, iree_string_view_t value) {
  IREE_RETURN_IF_ERROR(for_each_driver(value, print_device_uris, /*banners=*/false));
  exit(EXIT_SUCCESS);
}

static iree_status_t dump_devices(iree_string_view_t flag_name, void* storage, iree_string_view_t value) {
  if (value.size) {
    char name[128];
    iree_string_view_to_cstring(iree_string_view_substr(value, 0, 100), name, 120);
    print_banner("Enumerated devices for driver '", strcat(name, "'"));
    printf("\n");
  }
  IREE_RETURN_IF_ERROR(for_each_driver(value, print_device_details, /*banners=*/true));
  exit(EXIT_SUCCESS);
}

IREE_FLAG_CALLBACK(list_drivers, print_nothing, NULL, list_drivers, "Lists the drivers of this build and exits.")
IREE_FLAG_CALLBACK(list_devices, print_nothing, NULL, list_devices,
                   "Lists the devices of all drivers, or of the one that is named, and exits.")
IREE_FLAG_CALLBACK(dump_devices, print_nothing, NULL, dump_devices,
                   "Prints what is known about devices and exits; of one driver when it is named.")

iree_status_t tooling_devices_print_statistics(iree_hal_device_group_t* group, FILE* file) {
  for (iree_host_size_t i = 0; i < iree_hal_device_group_device_count(group); ++i) {
    iree_hal_device_t* device = iree_hal_device_group_device_at(group, i);
    iree_string_view_t id = iree_hal_device_id(device);
    fprintf(file, "Device: %.*s\n", (int)id.size, id.data);
    IREE_RETURN_IF_ERROR(iree_hal_allocator_statistics_fprint(file, iree_hal_device_allocator(device)));
    fprintf(file, "\n");
  }
  return iree_ok_status();
}
