// Executables: code objects are read and loaded for agents.
//
// Each code object's image is memory of its agent; the engine is told of it, for names and lines in messages.
#include "softgpu/hsa/executable.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

executable_list_t executable_list = {.lock = PTHREAD_MUTEX_INITIALIZER};

// Why something was refused goes to standard error: a status alone does not tell.
static hsa_status_t refuse(hsa_status_t status, text_t* message) {
  fprintf(stderr, "softgpu: %s\n", message->data ? message->data : "code object refused");
  text_finish(message);
  return status;
}

// Readers

hsa_status_t executable_reader_create(size_t size, executable_reader_t** out) {
  REQUIRE(size, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  executable_reader_t* reader = calloc(1, sizeof(*reader));
  uint8_t* data = reader ? malloc(size) : NULL;
  if (!data) return free(reader), HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  reader->data = data, reader->size = size;
  *out = reader;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_reader_create_from_memory(const void* data, size_t size, hsa_code_object_reader_t* out) {
  REQUIRE_OPEN();
  REQUIRE(data && out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  executable_reader_t* reader;
  hsa_status_t status = executable_reader_create(size, &reader);
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
  executable_reader_t* reader;
  hsa_status_t status = executable_reader_create((size_t)info.st_size, &reader);
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
  executable_reader_t* reader = (executable_reader_t*)handle.handle;
  REQUIRE(reader, HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER);
  free(reader->data);
  free(reader);
  return HSA_STATUS_SUCCESS;
}

// Executables

executable_t* executable_of(hsa_executable_t handle) {
  pthread_mutex_lock(&executable_list.lock);
  executable_t* at = executable_list.first;
  while (at && at != (executable_t*)handle.handle) at = at->next;
  pthread_mutex_unlock(&executable_list.lock);
  return at;
}

hsa_status_t hsa_executable_create_alt(hsa_profile_t profile, hsa_default_float_rounding_mode_t rounding,
                                       const char* options, hsa_executable_t* out) {
  REQUIRE_OPEN();
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  executable_t* executable = calloc(1, sizeof(*executable));
  REQUIRE(executable, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  pthread_mutex_lock(&executable_list.lock);
  executable->next = executable_list.first;
  executable_list.first = executable;
  pthread_mutex_unlock(&executable_list.lock);
  out->handle = (uint64_t)executable;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_create(hsa_profile_t profile, hsa_executable_state_t state, const char* options,
                                   hsa_executable_t* out) {
  hsa_status_t status = hsa_executable_create_alt(profile, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, options, out);
  if (status == HSA_STATUS_SUCCESS && state == HSA_EXECUTABLE_STATE_FROZEN) executable_of(*out)->is_frozen = true;
  return status;
}

static void unload(executable_loaded_t* loaded) {
  if (loaded->image) engine_remove_code(loaded->agent->engine, loaded->image);
  memory_unmap_pages(loaded->image);
  free(loaded->file);
  free(loaded);
}

// Off the list already.
static void destroy(executable_t* executable) {
  for (executable_symbol_t *symbol = executable->symbols, *next; symbol; symbol = next) {
    next = symbol->next;
    free(symbol->name);
    free(symbol);
  }
  for (executable_loaded_t *loaded = executable->loaded, *next; loaded; loaded = next) {
    next = loaded->next;
    unload(loaded);
  }
  free(executable);
}

hsa_status_t hsa_executable_destroy(hsa_executable_t handle) {
  REQUIRE_OPEN();
  pthread_mutex_lock(&executable_list.lock);
  executable_t** at = &executable_list.first;
  while (*at && *at != (executable_t*)handle.handle) at = &(*at)->next;
  executable_t* executable = *at;
  if (executable) *at = executable->next;
  pthread_mutex_unlock(&executable_list.lock);
  REQUIRE(executable, HSA_STATUS_ERROR_INVALID_EXECUTABLE);
  destroy(executable);
  return HSA_STATUS_SUCCESS;
}

void executable_destroy_all(void) {
  pthread_mutex_lock(&executable_list.lock);
  while (executable_list.first) {
    executable_t* first = executable_list.first;
    executable_list.first = first->next;
    destroy(first);
  }
  pthread_mutex_unlock(&executable_list.lock);
}

executable_symbol_t* executable_find_symbol(const executable_t* executable, const char* name, const agent_t* agent) {
  for (executable_symbol_t* at = executable->symbols; at; at = at->next) {
    if (strcmp(at->name, name) == 0 && (!agent || !at->agent || at->agent == agent)) return at;
  }
  return NULL;
}

static executable_symbol_t* add_symbol(executable_t* executable, const char* name) {
  executable_symbol_t* symbol = calloc(1, sizeof(*symbol));
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
  const executable_symbol_t* symbol = executable_find_symbol(define->executable, name, define->agent);
  if (symbol) *address = symbol->address;
  return symbol != NULL;
}

static bool add_symbols(executable_t* executable, executable_loaded_t* loaded) {
  for (uint64_t i = 1; i < loaded->object.symbol_count; ++i) {
    code_object_symbol_t of;
    if (!code_object_symbol(&loaded->object, i, &of) || of.is_function) continue;
    executable_symbol_t* symbol = add_symbol(executable, of.name);
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

static hsa_status_t load(executable_t* executable, agent_t* agent, const executable_reader_t* reader,
                         executable_loaded_t* loaded) {
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
  executable_loaded_t* loaded = calloc(1, sizeof(*loaded));
  REQUIRE(loaded, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  hsa_status_t status = load(executable, agent, (const executable_reader_t*)reader.handle, loaded);
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
  REQUIRE(!executable_find_symbol(executable, name, agent), HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
  executable_symbol_t* symbol = add_symbol(executable, name);
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
