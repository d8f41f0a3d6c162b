// Clients: one driver of the runtime's and its devices. Which one: the option `device`, else the environment's
// IREE_PJRT_DEVICE, else local-task.
#include <stdio.h>

#include "base/memory.h"
#include "base/version.h"
#include "pjrt/pjrt.h"
#include "target/resolve.h"

static void destroy(PJRT_Client* client) {
  if (!client) return;
  for (size_t i = 0; i < client->device_count; ++i) pjrt_device_destroy(client->devices[i]);
  iree_runtime_instance_release(client->instance);
  free(client->devices);
  free(client->descriptions);
  free(client->memories);
  free(client->flags);
  free(client);
}

static PJRT_Error* set_driver(PJRT_Client* client, const char* name, size_t size) {
  if (size == 0 || size >= sizeof(client->driver)) {
    return pjrt_error(PJRT_INVALID_ARGUMENT, "'%.*s' is no device; local-task, local-sync, cuda, hip and amdgpu are",
                      (int)iree_min(size, 64), name);
  }
  memcpy(client->driver, name, size);
  client->driver[size] = 0;
  return NULL;
}

static PJRT_Error* set_flags(PJRT_Client* client, const char* text, size_t size) {
  free(client->flags);
  client->flags = strndup(text, size);
  return client->flags ? NULL : pjrt_no_memory();
}

static bool is_named(const PJRT_NamedValue* value, const char* name) {
  return value->name_size == strlen(name) && memcmp(value->name, name, value->name_size) == 0;
}

static PJRT_Error* read_option(PJRT_Client* client, const PJRT_NamedValue* option) {
  bool is_text = option->kind == PJRT_STRING;
  if (is_named(option, "device") && is_text) return set_driver(client, option->string_value, option->value_size);
  if (is_named(option, "compiler_flags") && is_text) {
    return set_flags(client, option->string_value, option->value_size);
  }
  if (is_named(option, "host_callback") && option->kind == PJRT_INT64) {
    client->host_callback = (pjrt_host_callback_t)(uintptr_t)option->int64_value;
    return NULL;
  }
  return pjrt_error(PJRT_INVALID_ARGUMENT,
                    "there is no option '%.*s' of this type; 'device' and 'compiler_flags' are strings, and "
                    "'host_callback' is an address",
                    (int)iree_min(option->name_size, 64), option->name);
}

static PJRT_Error* read_options(PJRT_Client* client, const PJRT_Client_Create_Args* args) {
  const char *device = getenv("IREE_PJRT_DEVICE"), *flags = getenv("IREE_PJRT_COMPILER_FLAGS");
  if (!device || !*device) device = "local-task";
  PJRT_Error* error = set_driver(client, device, strlen(device));
  if (!error) error = set_flags(client, flags ? flags : "", flags ? strlen(flags) : 0);
  const char* at = (const char*)args->create_options;
  for (size_t i = 0; i < args->num_options && !error; ++i) {
    const PJRT_NamedValue* option = (const PJRT_NamedValue*)at;
    error = read_option(client, option);
    at += option->struct_size ? option->struct_size : sizeof(*option);
  }
  return error;
}

static PJRT_Error* open_client(PJRT_Client* client) {
  client->is_host = strncmp(client->driver, "local", 5) == 0;
  client->topology.client = client;
  snprintf(client->version, sizeof(client->version), "iree-c %s on %s", IREE_C_VERSION, client->driver);
  iree_runtime_instance_options_t options;
  iree_runtime_instance_options_initialize(&options);
  iree_runtime_instance_options_use_all_available_drivers(&options);
  PJRT_Error* error =
      pjrt_error_from_status(iree_runtime_instance_create(&options, iree_allocator_system(), &client->instance));
  return error ? error : pjrt_client_open_devices(client);
}

PJRT_Error* api_Client_Create(PJRT_Client_Create_Args* args) {
  PJRT_Client* client = calloc(1, sizeof(*client));
  if (!client) return pjrt_no_memory();
  PJRT_Error* error = read_options(client, args);
  if (!error) error = open_client(client);
  if (error) {
    destroy(client);
    return error;
  }
  args->client = client;
  return NULL;
}

PJRT_Error* api_Client_Destroy(PJRT_Client_Destroy_Args* args) {
  destroy(args->client);
  return NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// What is asked of clients and topologies
//===----------------------------------------------------------------------------------------------------------------===

static const char platform_name[] = "iree";

PJRT_Error* api_Client_PlatformName(PJRT_Client_PlatformName_Args* args) {
  args->platform_name = platform_name;
  args->platform_name_size = sizeof(platform_name) - 1;
  return NULL;
}

PJRT_Error* api_Client_PlatformVersion(PJRT_Client_PlatformVersion_Args* args) {
  args->platform_version = args->client->version;
  args->platform_version_size = strlen(args->client->version);
  return NULL;
}

PJRT_Error* api_Client_ProcessIndex(PJRT_Client_ProcessIndex_Args* args) {
  args->process_index = 0;
  return NULL;
}

PJRT_Error* api_Client_Devices(PJRT_Client_Devices_Args* args) {
  args->devices = args->client->devices;
  args->num_devices = args->client->device_count;
  return NULL;
}

PJRT_Error* api_Client_AddressableDevices(PJRT_Client_AddressableDevices_Args* args) {
  args->devices = args->client->devices;
  args->num_devices = args->client->device_count;
  return NULL;
}

static PJRT_Error* look_up(const PJRT_Client* client, int id, PJRT_Device** out_device) {
  if (id < 0 || (size_t)id >= client->device_count) {
    return pjrt_error(PJRT_INVALID_ARGUMENT, "there is no device %d; there are %zu", id, client->device_count);
  }
  *out_device = client->devices[id];
  return NULL;
}

PJRT_Error* api_Client_LookupDevice(PJRT_Client_LookupDevice_Args* args) {
  return look_up(args->client, args->id, &args->device);
}

PJRT_Error* api_Client_LookupAddressableDevice(PJRT_Client_LookupAddressableDevice_Args* args) {
  return look_up(args->client, args->local_hardware_id, &args->device);
}

PJRT_Error* api_Client_AddressableMemories(PJRT_Client_AddressableMemories_Args* args) {
  args->memories = args->client->memories;
  args->num_memories = args->client->memory_count;
  return NULL;
}

PJRT_Error* api_Client_DefaultDeviceAssignment(PJRT_Client_DefaultDeviceAssignment_Args* args) {
  int64_t count = (int64_t)args->num_replicas * args->num_partitions;
  if (args->num_replicas < 0 || args->num_partitions < 0 || (uint64_t)count > args->default_assignment_size) {
    return pjrt_error(PJRT_INVALID_ARGUMENT, "an assignment of %d replicas by %d partitions does not fit",
                      args->num_replicas, args->num_partitions);
  }
  if ((uint64_t)count > args->client->device_count) {
    return pjrt_error(PJRT_INVALID_ARGUMENT, "%lld devices are needed; there are %zu", (long long)count,
                      args->client->device_count);
  }
  for (int64_t i = 0; i < count; ++i) args->default_assignment[i] = (int)i;
  return NULL;
}

// Memory needs no registration to be read from.
PJRT_Error* api_Client_DmaMap(PJRT_Client_DmaMap_Args* args) {
  (void)args;
  return NULL;
}
PJRT_Error* api_Client_DmaUnmap(PJRT_Client_DmaUnmap_Args* args) {
  (void)args;
  return NULL;
}

PJRT_Error* api_Client_TopologyDescription(PJRT_Client_TopologyDescription_Args* args) {
  args->topology = &args->client->topology;
  return NULL;
}

// A client's, which goes with it.
PJRT_Error* api_TopologyDescription_Destroy(PJRT_TopologyDescription_Destroy_Args* args) {
  (void)args;
  return NULL;
}

PJRT_Error* api_TopologyDescription_PlatformName(PJRT_TopologyDescription_PlatformName_Args* args) {
  args->text = platform_name;
  args->text_size = sizeof(platform_name) - 1;
  return NULL;
}

PJRT_Error* api_TopologyDescription_PlatformVersion(PJRT_TopologyDescription_PlatformVersion_Args* args) {
  args->text = args->topology->client->version;
  args->text_size = strlen(args->text);
  return NULL;
}

PJRT_Error* api_TopologyDescription_GetDeviceDescriptions(PJRT_TopologyDescription_GetDeviceDescriptions_Args* args) {
  args->descriptions = args->topology->client->descriptions;
  args->num_descriptions = args->topology->client->device_count;
  return NULL;
}

// Part of the keys of compilation caches: what compiled code depends on.
PJRT_Error* api_TopologyDescription_Serialize(PJRT_TopologyDescription_Serialize_Args* args) {
  const PJRT_Client* client = args->topology->client;
  char *text = NULL, *features = client->is_host ? processors_host_features() : NULL;
  const char* target = client->is_host ? features : client->devices[0]->target;
  int size = target ? asprintf(&text, "%s|%s|%s", client->version, target, client->flags) : -1;
  memory_free(features);
  if (size < 0) return pjrt_no_memory();
  args->bytes = args->owner = text;
  args->bytes_size = (size_t)size;
  args->deleter = free;
  return NULL;
}

PJRT_Error* api_TopologyDescription_Attributes(PJRT_TopologyDescription_Attributes_Args* args) {
  args->attributes = NULL;
  args->num_attributes = 0;
  return NULL;
}
