// Executables: code objects loaded for agents, their symbols, and the loader extension that looks into them.
//
// Each code object's image is memory of its agent; the engine is told of it, for names and lines in messages.
#include <fcntl.h>
#include <hsa/hsa_ven_amd_loader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "softgpu/hsa/code_object.h"

typedef struct reader_t {
  uint8_t* data;  // own copy, aligned
  size_t size;
} reader_t;

typedef struct loaded_t {
  agent_t* agent;
  struct executable_t* executable;
  uint8_t* file;  // own copy
  code_object_t object;
  uint8_t* image;
  struct loaded_t* next;
} loaded_t;

typedef struct symbol_t {
  loaded_t* loaded;  // NULL: defined by the user
  const agent_t* agent;
  char* name;
  code_object_symbol_t of;
  code_object_kernel_t kernel;
  uint64_t address;
  struct symbol_t* next;
} symbol_t;

typedef struct executable_t {
  loaded_t* loaded;
  symbol_t* symbols;
  bool is_frozen;
  struct executable_t* next;
} executable_t;

static pthread_mutex_t executables_lock = PTHREAD_MUTEX_INITIALIZER;
static executable_t* executables;

// Why something was refused goes to standard error: a status alone does not tell.
static hsa_status_t refuse(hsa_status_t status, text_t* message) {
  fprintf(stderr, "softgpu: %s\n", message->data ? message->data : "code object refused");
  text_finish(message);
  return status;
}

// Readers

static hsa_status_t make_reader(size_t size, reader_t** out) {
  REQUIRE(size, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  reader_t* reader = calloc(1, sizeof(*reader));
  uint8_t* data = reader ? malloc(size) : NULL;
  if (!data) return free(reader), HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  reader->data = data, reader->size = size;
  *out = reader;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_reader_create_from_memory(const void* data, size_t size, hsa_code_object_reader_t* out) {
  REQUIRE_OPEN();
  REQUIRE(data && out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  reader_t* reader;
  hsa_status_t status = make_reader(size, &reader);
  if (status != HSA_STATUS_SUCCESS) return status;
  memcpy(reader->data, data, size);
  out->handle = (uint64_t)reader;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_reader_create_from_file(hsa_file_t file, hsa_code_object_reader_t* out) {
  REQUIRE_OPEN();
  struct stat info;
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  REQUIRE(fstat(file, &info) == 0 && info.st_size > 0, HSA_STATUS_ERROR_INVALID_FILE);
  reader_t* reader;
  hsa_status_t status = make_reader((size_t)info.st_size, &reader);
  if (status != HSA_STATUS_SUCCESS) return status;
  for (size_t at = 0; at < reader->size;) {
    ssize_t got = pread(file, reader->data + at, reader->size - at, (off_t)at);
    if (got <= 0) return free(reader->data), free(reader), HSA_STATUS_ERROR_INVALID_FILE;
    at += (size_t)got;
  }
  out->handle = (uint64_t)reader;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t handle) {
  REQUIRE_OPEN();
  reader_t* reader = (reader_t*)handle.handle;
  REQUIRE(reader, HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER);
  free(reader->data);
  free(reader);
  return HSA_STATUS_SUCCESS;
}

// Executables

static executable_t* executable_of(hsa_executable_t handle) {
  pthread_mutex_lock(&executables_lock);
  executable_t* at = executables;
  while (at && at != (executable_t*)handle.handle) at = at->next;
  pthread_mutex_unlock(&executables_lock);
  return at;
}

hsa_status_t hsa_executable_create_alt(hsa_profile_t profile, hsa_default_float_rounding_mode_t rounding,
                                       const char* options, hsa_executable_t* out) {
  REQUIRE_OPEN();
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  executable_t* executable = calloc(1, sizeof(*executable));
  REQUIRE(executable, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  pthread_mutex_lock(&executables_lock);
  executable->next = executables;
  executables = executable;
  pthread_mutex_unlock(&executables_lock);
  out->handle = (uint64_t)executable;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_create(hsa_profile_t profile, hsa_executable_state_t state, const char* options,
                                   hsa_executable_t* out) {
  hsa_status_t status = hsa_executable_create_alt(profile, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, options, out);
  if (status == HSA_STATUS_SUCCESS && state == HSA_EXECUTABLE_STATE_FROZEN) executable_of(*out)->is_frozen = true;
  return status;
}

static void unload(loaded_t* loaded) {
  if (loaded->image) engine_remove_code(loaded->agent->engine, loaded->image);
  memory_unmap_pages(loaded->image);
  free(loaded->file);
  free(loaded);
}

// Off the list already.
static void destroy(executable_t* executable) {
  for (symbol_t *symbol = executable->symbols, *next; symbol; symbol = next) {
    next = symbol->next;
    free(symbol->name);
    free(symbol);
  }
  for (loaded_t *loaded = executable->loaded, *next; loaded; loaded = next) {
    next = loaded->next;
    unload(loaded);
  }
  free(executable);
}

hsa_status_t hsa_executable_destroy(hsa_executable_t handle) {
  REQUIRE_OPEN();
  pthread_mutex_lock(&executables_lock);
  executable_t** at = &executables;
  while (*at && *at != (executable_t*)handle.handle) at = &(*at)->next;
  executable_t* executable = *at;
  if (executable) *at = executable->next;
  pthread_mutex_unlock(&executables_lock);
  REQUIRE(executable, HSA_STATUS_ERROR_INVALID_EXECUTABLE);
  destroy(executable);
  return HSA_STATUS_SUCCESS;
}

void executable_destroy_all(void) {
  pthread_mutex_lock(&executables_lock);
  while (executables) {
    executable_t* first = executables;
    executables = first->next;
    destroy(first);
  }
  pthread_mutex_unlock(&executables_lock);
}

static symbol_t* find_symbol(const executable_t* executable, const char* name, const agent_t* agent) {
  for (symbol_t* at = executable->symbols; at; at = at->next) {
    if (strcmp(at->name, name) == 0 && (!agent || !at->agent || at->agent == agent)) return at;
  }
  return NULL;
}

static symbol_t* add_symbol(executable_t* executable, const char* name) {
  symbol_t* symbol = calloc(1, sizeof(*symbol));
  if (!symbol) return NULL;
  symbol->name = strdup(name);
  if (!symbol->name) return free(symbol), NULL;
  symbol->next = executable->symbols;
  executable->symbols = symbol;
  return symbol;
}

typedef struct define_t {
  const executable_t* executable;
  const agent_t* agent;
} define_t;

static bool find_definition(void* data, const char* name, uint64_t* address) {
  const define_t* define = data;
  const symbol_t* symbol = find_symbol(define->executable, name, define->agent);
  if (symbol) *address = symbol->address;
  return symbol != NULL;
}

static bool add_symbols(executable_t* executable, loaded_t* loaded) {
  for (uint64_t i = 1; i < loaded->object.symbol_count; ++i) {
    code_object_symbol_t of;
    if (!code_object_symbol(&loaded->object, i, &of) || of.is_function) continue;
    symbol_t* symbol = add_symbol(executable, of.name);
    if (!symbol) return false;
    symbol->loaded = loaded, symbol->agent = loaded->agent, symbol->of = of;
    symbol->address = (uint64_t)loaded->image + of.value;
    if (!of.is_kernel) continue;
    if (!code_object_kernel(&loaded->object, of.name, &symbol->kernel)) {
      // Without metadata, the descriptor tells the sizes.
      memcpy(&symbol->kernel.group_size, loaded->image + of.value, 4);
      memcpy(&symbol->kernel.private_size, loaded->image + of.value + 4, 4);
      memcpy(&symbol->kernel.kernarg_size, loaded->image + of.value + 8, 4);
    }
    if (!symbol->kernel.kernarg_alignment) symbol->kernel.kernarg_alignment = 16;
  }
  return true;
}

static hsa_status_t load(executable_t* executable, agent_t* agent, const reader_t* reader, loaded_t* loaded) {
  text_t message = {0};
  loaded->agent = agent, loaded->executable = executable;
  loaded->file = malloc(reader->size);
  REQUIRE(loaded->file, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  memcpy(loaded->file, reader->data, reader->size);
  if (!code_object_open(loaded->file, reader->size, &loaded->object, &message)) {
    return refuse(HSA_STATUS_ERROR_INVALID_CODE_OBJECT, &message);
  }
  if (!code_object_fits(&loaded->object, agent->target, &message)) {
    return refuse(HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS, &message);
  }
  uint64_t agents = UINT64_C(1) << agent_bit(agent) | UINT64_C(1) << 63;
  loaded->image = memory_map_pages(loaded->object.image_size, 4096, agents, "code");
  if (!loaded->image) {
    text_printf(&message, "code object: no memory for its %llu bytes", (unsigned long long)loaded->object.image_size);
    return refuse(HSA_STATUS_ERROR_OUT_OF_RESOURCES, &message);
  }
  define_t define = {executable, agent};
  if (!code_object_load(&loaded->object, loaded->image, find_definition, &define, &message)) {
    return refuse(HSA_STATUS_ERROR_INVALID_CODE_OBJECT, &message);
  }
  engine_code_t code = {
      .base = loaded->image, .size = loaded->object.image_size, .elf = loaded->file, .elf_size = reader->size};
  if (engine_add_code(agent->engine, &code) && add_symbols(executable, loaded)) return HSA_STATUS_SUCCESS;
  text_printf(&message, "code object: no memory to decode its %llu bytes",
              (unsigned long long)loaded->object.image_size);
  return refuse(HSA_STATUS_ERROR_OUT_OF_RESOURCES, &message);
}

hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t handle, hsa_agent_t agent_handle,
                                                   hsa_code_object_reader_t reader, const char* options,
                                                   hsa_loaded_code_object_t* out) {
  REQUIRE_OPEN();
  executable_t* executable = executable_of(handle);
  agent_t* agent = runtime_agent(agent_handle);
  REQUIRE(executable, HSA_STATUS_ERROR_INVALID_EXECUTABLE);
  REQUIRE(agent && agent->engine, HSA_STATUS_ERROR_INVALID_AGENT);
  REQUIRE(reader.handle, HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER);
  REQUIRE(!executable->is_frozen, HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
  loaded_t* loaded = calloc(1, sizeof(*loaded));
  REQUIRE(loaded, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  hsa_status_t status = load(executable, agent, (const reader_t*)reader.handle, loaded);
  if (status != HSA_STATUS_SUCCESS) return unload(loaded), status;
  loaded->next = executable->loaded;
  executable->loaded = loaded;
  if (out) out->handle = (uint64_t)loaded;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_load_program_code_object(hsa_executable_t handle, hsa_code_object_reader_t reader,
                                                     const char* options, hsa_loaded_code_object_t* out) {
  return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;  // code objects of this ABI belong to agents
}

hsa_status_t hsa_executable_freeze(hsa_executable_t handle, const char* options) {
  REQUIRE_OPEN();
  executable_t* executable = executable_of(handle);
  REQUIRE(executable, HSA_STATUS_ERROR_INVALID_EXECUTABLE);
  REQUIRE(!executable->is_frozen, HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
  executable->is_frozen = true;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_validate_alt(hsa_executable_t handle, const char* options, uint32_t* result) {
  REQUIRE_OPEN();
  REQUIRE(executable_of(handle), HSA_STATUS_ERROR_INVALID_EXECUTABLE);
  REQUIRE(result, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  *result = 0;
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_executable_validate(hsa_executable_t handle, uint32_t* result) {
  return hsa_executable_validate_alt(handle, NULL, result);
}

hsa_status_t hsa_executable_get_info(hsa_executable_t handle, hsa_executable_info_t attribute, void* out) {
  REQUIRE_OPEN();
  executable_t* executable = executable_of(handle);
  REQUIRE(executable, HSA_STATUS_ERROR_INVALID_EXECUTABLE);
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  switch (attribute) {
    case HSA_EXECUTABLE_INFO_PROFILE:
      *(hsa_profile_t*)out = HSA_PROFILE_BASE;
      return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_INFO_STATE:
      *(hsa_executable_state_t*)out =
          executable->is_frozen ? HSA_EXECUTABLE_STATE_FROZEN : HSA_EXECUTABLE_STATE_UNFROZEN;
      return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
      *(hsa_default_float_rounding_mode_t*)out = HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR;
      return HSA_STATUS_SUCCESS;
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

static hsa_status_t define_variable(hsa_executable_t handle, const agent_t* agent, const char* name, void* address) {
  executable_t* executable = executable_of(handle);
  REQUIRE(executable, HSA_STATUS_ERROR_INVALID_EXECUTABLE);
  REQUIRE(name, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  REQUIRE(!executable->is_frozen, HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
  REQUIRE(!find_symbol(executable, name, agent), HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
  symbol_t* symbol = add_symbol(executable, name);
  REQUIRE(symbol, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  symbol->agent = agent;
  symbol->address = (uint64_t)address;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_agent_global_variable_define(hsa_executable_t handle, hsa_agent_t agent, const char* name,
                                                         void* address) {
  REQUIRE_OPEN();
  REQUIRE(runtime_agent(agent), HSA_STATUS_ERROR_INVALID_AGENT);
  return define_variable(handle, runtime_agent(agent), name, address);
}
hsa_status_t hsa_executable_global_variable_define(hsa_executable_t handle, const char* name, void* address) {
  REQUIRE_OPEN();
  return define_variable(handle, NULL, name, address);
}
hsa_status_t hsa_executable_readonly_variable_define(hsa_executable_t handle, hsa_agent_t agent, const char* name,
                                                     void* address) {
  return hsa_executable_agent_global_variable_define(handle, agent, name, address);
}

// Symbols

hsa_status_t hsa_executable_get_symbol_by_name(hsa_executable_t handle, const char* name, const hsa_agent_t* agent,
                                               hsa_executable_symbol_t* out) {
  REQUIRE_OPEN();
  executable_t* executable = executable_of(handle);
  REQUIRE(executable, HSA_STATUS_ERROR_INVALID_EXECUTABLE);
  REQUIRE(name && out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  symbol_t* symbol = find_symbol(executable, name, agent ? runtime_agent(*agent) : NULL);
  REQUIRE(symbol, HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
  out->handle = (uint64_t)symbol;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_get_symbol(hsa_executable_t handle, const char* module, const char* name, hsa_agent_t agent,
                                       int32_t call_convention, hsa_executable_symbol_t* out) {
  return hsa_executable_get_symbol_by_name(handle, name, &agent, out);
}

hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t handle, hsa_executable_symbol_info_t attribute,
                                            void* out) {
  REQUIRE_OPEN();
  const symbol_t* symbol = (const symbol_t*)handle.handle;
  REQUIRE(symbol, HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL);
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  bool kernel = symbol->of.is_kernel;
  switch ((int)attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_TYPE:
      *(hsa_symbol_kind_t*)out = kernel ? HSA_SYMBOL_KIND_KERNEL : HSA_SYMBOL_KIND_VARIABLE;
      break;
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH:
      *(uint32_t*)out = (uint32_t)strlen(symbol->name);
      break;
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME:
      memcpy(out, symbol->name, strlen(symbol->name));
      break;
    case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH:
      *(uint32_t*)out = 0;
      break;
    case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME:
      break;
    case HSA_EXECUTABLE_SYMBOL_INFO_AGENT:
      *(hsa_agent_t*)out = (hsa_agent_t){(uint64_t)symbol->agent};
      break;
    case HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE:
      *(hsa_symbol_linkage_t*)out = HSA_SYMBOL_LINKAGE_PROGRAM;
      break;
    case HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION:
      *(bool*)out = symbol->loaded != NULL;
      break;
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS:
      *(uint64_t*)out = symbol->address;
      break;
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION:
      *(hsa_variable_allocation_t*)out = HSA_VARIABLE_ALLOCATION_AGENT;
      break;
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT:
      *(hsa_variable_segment_t*)out = HSA_VARIABLE_SEGMENT_GLOBAL;
      break;
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT:
      *(uint32_t*)out = 16;
      break;
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE:
      *(uint32_t*)out = (uint32_t)symbol->of.size;
      break;
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST:
      *(bool*)out = false;
      break;
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT:
      *(uint64_t*)out = symbol->address;
      break;
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE:
      *(uint32_t*)out = symbol->kernel.kernarg_size;
      break;
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT:
      *(uint32_t*)out = symbol->kernel.kernarg_alignment;
      break;
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE:
      *(uint32_t*)out = symbol->kernel.group_size;
      break;
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE:
      *(uint32_t*)out = symbol->kernel.private_size;
      break;
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK:
      *(bool*)out = symbol->kernel.has_dynamic_stack;
      break;
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION:
      *(uint32_t*)out = 0;
      break;
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

typedef hsa_status_t (*symbol_callback_t)(hsa_executable_t executable, hsa_agent_t agent,
                                          hsa_executable_symbol_t symbol, void* data);

hsa_status_t hsa_executable_iterate_agent_symbols(hsa_executable_t handle, hsa_agent_t agent_handle,
                                                  symbol_callback_t callback, void* data) {
  REQUIRE_OPEN();
  executable_t* executable = executable_of(handle);
  agent_t* agent = runtime_agent(agent_handle);
  REQUIRE(executable, HSA_STATUS_ERROR_INVALID_EXECUTABLE);
  REQUIRE(agent, HSA_STATUS_ERROR_INVALID_AGENT);
  REQUIRE(callback, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  for (symbol_t* at = executable->symbols; at; at = at->next) {
    if (at->agent != agent) continue;
    hsa_status_t status = callback(handle, agent_handle, (hsa_executable_symbol_t){(uint64_t)at}, data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_iterate_program_symbols(
    hsa_executable_t handle,
    hsa_status_t (*callback)(hsa_executable_t executable, hsa_executable_symbol_t symbol, void* data), void* data) {
  REQUIRE_OPEN();
  executable_t* executable = executable_of(handle);
  REQUIRE(executable, HSA_STATUS_ERROR_INVALID_EXECUTABLE);
  REQUIRE(callback, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  for (symbol_t* at = executable->symbols; at; at = at->next) {
    if (at->agent) continue;
    hsa_status_t status = callback(handle, (hsa_executable_symbol_t){(uint64_t)at}, data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_iterate_symbols(hsa_executable_t handle,
                                            hsa_status_t (*callback)(hsa_executable_t executable,
                                                                     hsa_executable_symbol_t symbol, void* data),
                                            void* data) {
  REQUIRE_OPEN();
  executable_t* executable = executable_of(handle);
  REQUIRE(executable, HSA_STATUS_ERROR_INVALID_EXECUTABLE);
  REQUIRE(callback, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  for (symbol_t* at = executable->symbols; at; at = at->next) {
    hsa_status_t status = callback(handle, (hsa_executable_symbol_t){(uint64_t)at}, data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

// Loader extension

static loaded_t* find_loaded(uint64_t address) {
  for (executable_t* e = executables; e; e = e->next) {
    for (loaded_t* at = e->loaded; at; at = at->next) {
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
  pthread_mutex_lock(&executables_lock);
  for (executable_t* e = executables; e; e = e->next) {
    for (loaded_t* at = e->loaded; at; at = at->next, ++all) {
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
  pthread_mutex_unlock(&executables_lock);
  *count = all;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t query_executable(const void* device, hsa_executable_t* out) {
  REQUIRE_OPEN();
  REQUIRE(device && out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  pthread_mutex_lock(&executables_lock);
  loaded_t* loaded = find_loaded((uint64_t)device);
  if (loaded) out->handle = (uint64_t)loaded->executable;
  pthread_mutex_unlock(&executables_lock);
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
  for (loaded_t* at = executable->loaded; at; at = at->next) {
    hsa_status_t status = callback(handle, (hsa_loaded_code_object_t){(uint64_t)at}, data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t loaded_info(hsa_loaded_code_object_t handle, hsa_ven_amd_loader_loaded_code_object_info_t attribute,
                                void* out) {
  REQUIRE_OPEN();
  const loaded_t* loaded = (const loaded_t*)handle.handle;
  REQUIRE(loaded, HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  char uri[96];
  int length = snprintf(uri, sizeof(uri), "memory://%d#offset=0x%llx&size=%zu", (int)getpid(),
                        (unsigned long long)(uint64_t)loaded->file, loaded->object.size);
  switch ((int)attribute) {
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_EXECUTABLE:
      *(hsa_executable_t*)out = (hsa_executable_t){(uint64_t)loaded->executable};
      break;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_KIND:
      *(uint32_t*)out = HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_AGENT;
      break;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT:
      *(hsa_agent_t*)out = (hsa_agent_t){(uint64_t)loaded->agent};
      break;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE:
      *(uint32_t*)out = HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY;
      break;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE:
      *(uint64_t*)out = (uint64_t)loaded->file;
      break;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE:
      *(uint64_t*)out = loaded->object.size;
      break;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA:
      *(int64_t*)out = (int64_t)(uint64_t)loaded->image;
      break;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE:
      *(uint64_t*)out = (uint64_t)loaded->image;
      break;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE:
      *(uint64_t*)out = loaded->object.image_size;
      break;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH:
      *(uint32_t*)out = (uint32_t)length;
      break;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI:
      memcpy(out, uri, (size_t)length);
      break;
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t reader_from_file(hsa_file_t file, size_t offset, size_t size, hsa_code_object_reader_t* out) {
  REQUIRE_OPEN();
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  reader_t* reader;
  hsa_status_t status = make_reader(size, &reader);
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
  for (executable_t* at = executables; at; at = at->next) {
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
