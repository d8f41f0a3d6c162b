// The loader extension, which looks into executables, and what else is asked of extensions.
#include <hsa/hsa_ven_amd_loader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "softgpu/hsa/executable.h"

static executable_loaded_t* find_loaded(uint64_t address) {
  for (executable_t* e = executable_list.first; e; e = e->next) {
    for (executable_loaded_t* at = e->loaded; at; at = at->next) {
      if (address - (uint64_t)at->image < at->object.image_size) return at;
    }
  }
  return NULL;
}

static hsa_status_t query_host_address(const void* device, const void** host) {
  REQUIRE_OPEN();
  REQUIRE(device && host, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  *host = device;  // one address space
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t query_segment_descriptors(hsa_ven_amd_loader_segment_descriptor_t* out, size_t* count) {
  REQUIRE_OPEN();
  REQUIRE(count, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  size_t all = 0, capacity = out ? *count : 0;
  pthread_mutex_lock(&executable_list.lock);
  for (executable_t* e = executable_list.first; e; e = e->next) {
    for (executable_loaded_t* at = e->loaded; at; at = at->next, ++all) {
      if (all >= capacity) continue;
      out[all] = (hsa_ven_amd_loader_segment_descriptor_t){
          .agent = {(uint64_t)at->agent},
          .executable = {(uint64_t)e},
          .code_object_storage_type = HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY,
          .code_object_storage_base = at->file,
          .code_object_storage_size = at->object.size,
          .segment_base = at->image,
          .segment_size = at->object.image_size};
    }
  }
  pthread_mutex_unlock(&executable_list.lock);
  *count = all;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t query_executable(const void* device, hsa_executable_t* out) {
  REQUIRE_OPEN();
  REQUIRE(device && out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  pthread_mutex_lock(&executable_list.lock);
  executable_loaded_t* loaded = find_loaded((uint64_t)device);
  if (loaded) out->handle = (uint64_t)loaded->executable;
  pthread_mutex_unlock(&executable_list.lock);
  return loaded ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static hsa_status_t iterate_loaded(hsa_executable_t handle,
                                   hsa_status_t (*callback)(hsa_executable_t executable,
                                                            hsa_loaded_code_object_t loaded, void* data),
                                   void* data) {
  REQUIRE_OPEN();
  executable_t* executable = executable_of(handle);
  REQUIRE(executable, HSA_STATUS_ERROR_INVALID_EXECUTABLE);
  REQUIRE(callback, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  for (executable_loaded_t* at = executable->loaded; at; at = at->next) {
    hsa_status_t status = callback(handle, (hsa_loaded_code_object_t){(uint64_t)at}, data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t loaded_info(hsa_loaded_code_object_t handle, hsa_ven_amd_loader_loaded_code_object_info_t attribute,
                                void* out) {
  REQUIRE_OPEN();
  const executable_loaded_t* loaded = (const executable_loaded_t*)handle.handle;
  REQUIRE(loaded, HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  char uri[96];
  int length = snprintf(uri, sizeof(uri), "memory://%d#offset=0x%llx&size=%zu", (int)getpid(),
                        (unsigned long long)(uint64_t)loaded->file, loaded->object.size);
  switch ((int)attribute) {
#define ANSWER(name, type, value)                         \
  case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_##name: \
    *(type*)out = (value);                                \
    return HSA_STATUS_SUCCESS
    ANSWER(EXECUTABLE, hsa_executable_t, (hsa_executable_t){(uint64_t)loaded->executable});
    ANSWER(KIND, uint32_t, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_AGENT);
    ANSWER(AGENT, hsa_agent_t, (hsa_agent_t){(uint64_t)loaded->agent});
    ANSWER(CODE_OBJECT_STORAGE_TYPE, uint32_t, HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY);
    ANSWER(CODE_OBJECT_STORAGE_MEMORY_BASE, uint64_t, (uint64_t)loaded->file);
    ANSWER(CODE_OBJECT_STORAGE_MEMORY_SIZE, uint64_t, loaded->object.size);
    ANSWER(LOAD_DELTA, int64_t, (int64_t)(uint64_t)loaded->image);
    ANSWER(LOAD_BASE, uint64_t, (uint64_t)loaded->image);
    ANSWER(LOAD_SIZE, uint64_t, loaded->object.image_size);
    ANSWER(URI_LENGTH, uint32_t, (uint32_t)length);
#undef ANSWER
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI:
      memcpy(out, uri, (size_t)length);
      return HSA_STATUS_SUCCESS;
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

static hsa_status_t reader_from_file(hsa_file_t file, size_t offset, size_t size, hsa_code_object_reader_t* out) {
  REQUIRE_OPEN();
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  executable_reader_t* reader;
  hsa_status_t status = executable_reader_create(size, &reader);
  if (status != HSA_STATUS_SUCCESS) return status;
  if (pread(file, reader->data, size, (off_t)offset) != (ssize_t)size) {
    return free(reader->data), free(reader), HSA_STATUS_ERROR_INVALID_FILE;
  }
  out->handle = (uint64_t)reader;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t iterate_executables(hsa_status_t (*callback)(hsa_executable_t executable, void* data), void* data) {
  REQUIRE_OPEN();
  REQUIRE(callback, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  for (executable_t* at = executable_list.first; at; at = at->next) {
    hsa_status_t status = callback((hsa_executable_t){(uint64_t)at}, data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_get_major_extension_table(uint16_t extension, uint16_t major, size_t size, void* table) {
  REQUIRE_OPEN();
  REQUIRE(table && size, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  REQUIRE(extension == HSA_EXTENSION_AMD_LOADER && major == 1, HSA_STATUS_ERROR);
  hsa_ven_amd_loader_1_03_pfn_t functions = {
      .hsa_ven_amd_loader_query_host_address = query_host_address,
      .hsa_ven_amd_loader_query_segment_descriptors = query_segment_descriptors,
      .hsa_ven_amd_loader_query_executable = query_executable,
      .hsa_ven_amd_loader_executable_iterate_loaded_code_objects = iterate_loaded,
      .hsa_ven_amd_loader_loaded_code_object_get_info = loaded_info,
      .hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size = reader_from_file,
      .hsa_ven_amd_loader_iterate_executables = iterate_executables,
  };
  memcpy(table, &functions, size < sizeof(functions) ? size : sizeof(functions));
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_get_extension_table(uint16_t extension, uint16_t major, uint16_t minor, void* table) {
  size_t sizes[] = {sizeof(hsa_ven_amd_loader_1_00_pfn_t), sizeof(hsa_ven_amd_loader_1_01_pfn_t),
                    sizeof(hsa_ven_amd_loader_1_02_pfn_t), sizeof(hsa_ven_amd_loader_1_03_pfn_t)};
  REQUIRE(minor < 4, HSA_STATUS_ERROR);
  return hsa_system_get_major_extension_table(extension, major, sizes[minor], table);
}

hsa_status_t hsa_system_major_extension_supported(uint16_t extension, uint16_t major, uint16_t* minor, bool* result) {
  REQUIRE_OPEN();
  REQUIRE(minor && result, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  *result = extension == HSA_EXTENSION_AMD_LOADER && major == 1;
  if (*result) *minor = 3;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_extension_supported(uint16_t extension, uint16_t major, uint16_t minor, bool* result) {
  uint16_t known = 0;
  hsa_status_t status = hsa_system_major_extension_supported(extension, major, &known, result);
  if (status == HSA_STATUS_SUCCESS && minor > known) *result = false;
  return status;
}

hsa_status_t hsa_agent_extension_supported(uint16_t extension, hsa_agent_t agent, uint16_t major, uint16_t minor,
                                           bool* result) {
  REQUIRE_OPEN();
  REQUIRE(runtime_agent(agent), HSA_STATUS_ERROR_INVALID_AGENT);
  REQUIRE(result, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  *result = false;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_agent_major_extension_supported(uint16_t extension, hsa_agent_t agent, uint16_t major, uint16_t* minor,
                                                 bool* result) {
  REQUIRE(minor, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  *minor = 0;
  return hsa_agent_extension_supported(extension, agent, major, 0, result);
}

hsa_status_t hsa_extension_get_name(uint16_t extension, const char** name) {
  REQUIRE(name && extension == HSA_EXTENSION_AMD_LOADER, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  *name = "HSA_EXTENSION_AMD_LOADER";
  return HSA_STATUS_SUCCESS;
}
