// Devices: those that the client's driver lists, each with a timeline and its memories.
#include <stdio.h>

#include "pjrt/pjrt.h"

void pjrt_device_destroy(PJRT_Device* device) {
  if (!device) return;
  pjrt_completions_finish(&device->completions);
  iree_hal_semaphore_release(device->timeline);
  iree_hal_device_release(device->inline_hal);
  iree_hal_device_release(device->hal);
  pthread_mutex_destroy(&device->lock);
  free(device);
}

// The word after "gpu-arch-name: " in what the driver says of a device; empty for devices that are no GPUs.
static PJRT_Error* read_target(iree_hal_driver_t* driver, iree_hal_device_id_t id, PJRT_Device* device) {
  static const char key[] = "gpu-arch-name: ";
  iree_string_builder_t text;
  iree_string_builder_initialize(iree_allocator_system(), &text);
  iree_status_t status = iree_hal_driver_dump_device_info(driver, id, &text);
  if (iree_status_is_ok(status) && iree_string_builder_size(&text)) {
    const char* data = iree_string_builder_buffer(&text);
    const char* found = memmem(data, iree_string_builder_size(&text), key, sizeof(key) - 1);
    if (found)
      snprintf(device->target, sizeof(device->target), "%.*s", (int)strcspn(found + sizeof(key) - 1, "\n"),
               found + sizeof(key) - 1);
  }
  iree_string_builder_deinitialize(&text);
  return pjrt_error_from_status(status);
}

static void describe(PJRT_Device* device, const iree_hal_device_info_t* info) {
  PJRT_DeviceDescription* description = &device->description;
  const char* driver = device->client->driver;
  bool has_name = info->name.size && !device->client->is_host;  // hosts' devices are called "default"
  iree_string_view_t kind = has_name ? info->name : iree_make_cstring_view(driver);
  snprintf(description->kind, sizeof(description->kind), "%.*s", (int)kind.size, kind.data);
  snprintf(description->text, sizeof(description->text), "IreeDevice(id=%d)", description->id);
  snprintf(description->debug, sizeof(description->debug), "iree %s:%d%s%s", driver, description->id,
           device->target[0] ? " " : "", device->target);
}

static PJRT_Error* open_device(iree_hal_driver_t* driver, const iree_hal_device_info_t* info, PJRT_Device* device) {
  iree_hal_device_create_params_t params = iree_hal_device_create_params_default();
  PJRT_Error* error = pjrt_error_from_status(iree_hal_driver_create_device_by_id(
      driver, info->device_id, 0, NULL, &params, iree_allocator_system(), &device->hal));
  if (!error && !device->client->is_host) error = read_target(driver, info->device_id, device);
  if (!error && strcmp(device->client->driver, "local-task") == 0) {
    error = pjrt_error_from_status(iree_runtime_instance_try_create_default_device(
        device->client->instance, iree_make_cstring_view("local-sync"), &device->inline_hal));
  }
  if (error) return error;
  describe(device, info);
  return pjrt_error_from_status(iree_hal_semaphore_create(device->hal, IREE_HAL_QUEUE_AFFINITY_ANY, 0,
                                                          IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &device->timeline));
}

static PJRT_Error* add_device(PJRT_Client* client, iree_hal_driver_t* driver, const iree_hal_device_info_t* info) {
  PJRT_Device* device = calloc(1, sizeof(*device));
  if (!device) return pjrt_no_memory();
  size_t index = client->device_count++;
  pthread_mutex_init(&device->lock, NULL);
  pjrt_completions_initialize(&device->completions);
  device->client = client;
  device->description.id = (int)index;
  pjrt_memories_initialize(device);
  client->devices[index] = device;
  client->descriptions[index] = &device->description;
  for (size_t i = 0; i < device->memory_count; ++i) client->memories[client->memory_count++] = device->memories[i];
  return open_device(driver, info, device);
}

static PJRT_Error* add_devices(PJRT_Client* client, iree_hal_driver_t* driver) {
  iree_host_size_t count = 0;
  iree_hal_device_info_t* infos = NULL;
  PJRT_Error* error =
      pjrt_error_from_status(iree_hal_driver_query_available_devices(driver, iree_allocator_system(), &count, &infos));
  if (error) return error;
  // The default, which stands for one or for all of the others, comes first.
  size_t first = count > 1 && infos[0].device_id == IREE_HAL_DEVICE_ID_DEFAULT;
  if (client->is_host) count = iree_min(count, 1);
  client->devices = calloc(count + 1, sizeof(*client->devices));
  client->descriptions = calloc(count + 1, sizeof(*client->descriptions));
  client->memories = calloc(count * PJRT_MEMORY_KINDS + 1, sizeof(*client->memories));
  if (!client->devices || !client->descriptions || !client->memories) error = pjrt_no_memory();
  for (size_t i = client->is_host ? 0 : first; i < count && !error; ++i) error = add_device(client, driver, &infos[i]);
  if (!error && !client->device_count) {
    error = pjrt_error(IREE_STATUS_UNAVAILABLE, "there is no device of the driver '%s' here", client->driver);
  }
  iree_allocator_free(iree_allocator_system(), infos);
  return error;
}

PJRT_Error* pjrt_client_open_devices(PJRT_Client* client) {
  iree_hal_driver_t* driver = NULL;
  PJRT_Error* error = pjrt_error_from_status(
      iree_hal_driver_registry_try_create(iree_runtime_instance_driver_registry(client->instance),
                                          iree_make_cstring_view(client->driver), iree_allocator_system(), &driver));
  if (error) return error;
  error = add_devices(client, driver);
  iree_hal_driver_release(driver);
  return error;
}

PJRT_Error* pjrt_device_begin(PJRT_Device* device, pjrt_point_t* before, uint64_t* number) {
  uint64_t value = 0;
  iree_status_t status = iree_hal_semaphore_query(device->timeline, &value);
  if (!iree_status_is_ok(status)) {
    iree_status_ignore(status);
    iree_hal_semaphore_t* timeline = NULL;
    PJRT_Error* error = pjrt_error_from_status(iree_hal_semaphore_create(device->hal, IREE_HAL_QUEUE_AFFINITY_ANY, 0,
                                                                         IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &timeline));
    if (error) return error;
    iree_hal_semaphore_release(device->timeline);
    device->timeline = timeline;
    device->submitted = 0;
  }
  *before = (pjrt_point_t){device->timeline, device->submitted};
  *number = device->submitted + 1;
  return NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// What is asked of devices
//===----------------------------------------------------------------------------------------------------------------===

#define TEXT(function, object, member)                       \
  PJRT_Error* api_##function(PJRT_##function##_Args* args) { \
    args->text = args->object->member;                       \
    args->text_size = strlen(args->text);                    \
    return NULL;                                             \
  }
TEXT(DeviceDescription_Kind, description, kind)
TEXT(DeviceDescription_DebugString, description, debug)
TEXT(DeviceDescription_ToString, description, text)
#undef TEXT

PJRT_Error* api_DeviceDescription_Id(PJRT_DeviceDescription_Id_Args* args) {
  args->id = args->description->id;
  return NULL;
}

PJRT_Error* api_DeviceDescription_ProcessIndex(PJRT_DeviceDescription_ProcessIndex_Args* args) {
  args->process_index = 0;
  return NULL;
}

PJRT_Error* api_DeviceDescription_Attributes(PJRT_DeviceDescription_Attributes_Args* args) {
  args->attributes = NULL;
  args->num_attributes = 0;
  return NULL;
}

static void free_nothing(void* owner) { (void)owner; }

PJRT_Error* api_Device_GetAttributes(PJRT_Device_GetAttributes_Args* args) {
  args->attributes = NULL;
  args->num_attributes = 0;
  args->owner = NULL;
  args->deleter = free_nothing;
  return NULL;
}

PJRT_Error* api_Device_GetDescription(PJRT_Device_GetDescription_Args* args) {
  args->description = &args->device->description;
  return NULL;
}

PJRT_Error* api_Device_IsAddressable(PJRT_Device_IsAddressable_Args* args) {
  args->is_addressable = true;
  return NULL;
}

PJRT_Error* api_Device_LocalHardwareId(PJRT_Device_LocalHardwareId_Args* args) {
  args->local_hardware_id = args->device->description.id;
  return NULL;
}

PJRT_Error* api_Device_AddressableMemories(PJRT_Device_AddressableMemories_Args* args) {
  args->memories = args->device->memories;
  args->num_memories = args->device->memory_count;
  return NULL;
}

PJRT_Error* api_Device_DefaultMemory(PJRT_Device_DefaultMemory_Args* args) {
  args->memory = &args->device->memory[PJRT_MEMORY_DEVICE];
  return NULL;
}

PJRT_Error* api_Device_MemoryStats(PJRT_Device_MemoryStats_Args* args) {
  iree_hal_allocator_statistics_t statistics = {0};
  iree_hal_allocator_query_statistics(iree_hal_device_allocator(args->device->hal), &statistics);
  *args = (PJRT_Device_MemoryStats_Args){.struct_size = args->struct_size, .device = args->device};
  args->bytes_in_use = (int64_t)(statistics.device_bytes_allocated - statistics.device_bytes_freed +
                                 statistics.host_bytes_allocated - statistics.host_bytes_freed);
  args->peak_bytes_in_use = (int64_t)iree_max(statistics.device_bytes_peak, statistics.host_bytes_peak);
  args->peak_bytes_in_use_is_set = true;
  return NULL;
}
