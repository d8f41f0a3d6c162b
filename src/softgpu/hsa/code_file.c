// HSA 1.0's interface to code objects, which programs of that time use in place of readers: a file is looked into
// before any agent is chosen, then loaded for one.
#include <stdlib.h>
#include <string.h>

#include "softgpu/hsa/code_object.h"

typedef struct file_symbol_t {
  code_object_symbol_t of;
  code_object_kernel_t kernel;
} file_symbol_t;

typedef struct file_t {
  uint8_t* data;  // own copy
  code_object_t object;
  file_symbol_t* symbols;  // kernels and variables
  uint32_t count;
  struct file_t* next;
} file_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static file_t* files;

static file_t** find(hsa_code_object_t handle) {
  file_t** at = &files;
  while (*at && *at != (file_t*)handle.handle) at = &(*at)->next;
  return at;
}

static file_t* file_of(hsa_code_object_t handle) {
  pthread_mutex_lock(&lock);
  file_t* file = *find(handle);
  pthread_mutex_unlock(&lock);
  return file;
}

static void destroy(file_t* file) {
  free(file->data);
  free(file->symbols);
  free(file);
}

static hsa_status_t open_file(file_t* file, const void* data, size_t size) {
  text_t message = {0};
  file->data = malloc(size);
  REQUIRE(file->data, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  memcpy(file->data, data, size);
  bool is_open = code_object_open(file->data, size, &file->object, &message);
  text_finish(&message);
  REQUIRE(is_open, HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
  file->symbols = calloc(file->object.symbol_count + 1, sizeof(file_symbol_t));
  REQUIRE(file->symbols, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  for (uint64_t i = 1; i < file->object.symbol_count; ++i) {
    file_symbol_t* symbol = &file->symbols[file->count];
    if (!code_object_symbol(&file->object, i, &symbol->of) || symbol->of.is_function) continue;
    if (symbol->of.is_kernel) code_object_kernel(&file->object, symbol->of.name, &symbol->kernel);
    ++file->count;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_deserialize(void* data, size_t size, const char* options, hsa_code_object_t* out) {
  REQUIRE_OPEN();
  REQUIRE(data && size && out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  file_t* file = calloc(1, sizeof(*file));
  REQUIRE(file, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  hsa_status_t status = open_file(file, data, size);
  if (status != HSA_STATUS_SUCCESS) return destroy(file), status;
  pthread_mutex_lock(&lock);
  file->next = files;
  files = file;
  pthread_mutex_unlock(&lock);
  out->handle = (uint64_t)file;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_serialize(hsa_code_object_t handle,
                                       hsa_status_t (*allocate)(size_t size, hsa_callback_data_t data, void** address),
                                       hsa_callback_data_t data, const char* options, void** out, size_t* size) {
  REQUIRE_OPEN();
  const file_t* file = file_of(handle);
  REQUIRE(file, HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
  REQUIRE(allocate && out && size, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  hsa_status_t status = allocate(file->object.size, data, out);
  if (status != HSA_STATUS_SUCCESS) return status;
  REQUIRE(*out, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  memcpy(*out, file->data, file->object.size);
  *size = file->object.size;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_code_object_destroy(hsa_code_object_t handle) {
  REQUIRE_OPEN();
  pthread_mutex_lock(&lock);
  file_t **at = find(handle), *file = *at;
  if (file) *at = file->next;
  pthread_mutex_unlock(&lock);
  REQUIRE(file, HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
  destroy(file);
  return HSA_STATUS_SUCCESS;
}

// That of the first GPU which runs the file.
static hsa_status_t put_isa(const file_t* file, hsa_isa_t* out) {
  for (uint32_t i = 0; i < runtime.agent_count; ++i) {
    const agent_t* agent = &runtime.agents[i];
    text_t message = {0};
    bool fits = agent->target && code_object_fits(&file->object, agent->target, &message);
    text_finish(&message);
    if (fits) return out->handle = (uint64_t)&agent->isas[0], HSA_STATUS_SUCCESS;
  }
  return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
}

hsa_status_t hsa_code_object_get_info(hsa_code_object_t handle, hsa_code_object_info_t attribute, void* out) {
  REQUIRE_OPEN();
  const file_t* file = file_of(handle);
  REQUIRE(file, HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  switch (attribute) {
    case HSA_CODE_OBJECT_INFO_VERSION:
      memset(out, 0, 64);
      memcpy(out, "1.0", 3);
      return HSA_STATUS_SUCCESS;
    case HSA_CODE_OBJECT_INFO_TYPE:
      *(hsa_code_object_type_t*)out = HSA_CODE_OBJECT_TYPE_PROGRAM;
      return HSA_STATUS_SUCCESS;
    case HSA_CODE_OBJECT_INFO_ISA:
      return put_isa(file, out);
    case HSA_CODE_OBJECT_INFO_MACHINE_MODEL:
      *(hsa_machine_model_t*)out = HSA_MACHINE_MODEL_LARGE;
      return HSA_STATUS_SUCCESS;
    case HSA_CODE_OBJECT_INFO_PROFILE:
      *(hsa_profile_t*)out = HSA_PROFILE_BASE;
      return HSA_STATUS_SUCCESS;
    case HSA_CODE_OBJECT_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
      *(hsa_default_float_rounding_mode_t*)out = HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR;
      return HSA_STATUS_SUCCESS;
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t hsa_code_object_get_symbol(hsa_code_object_t handle, const char* name, hsa_code_symbol_t* out) {
  REQUIRE_OPEN();
  const file_t* file = file_of(handle);
  REQUIRE(file, HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
  REQUIRE(name && out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  for (uint32_t i = 0; i < file->count; ++i) {
    if (strcmp(file->symbols[i].of.name, name) != 0) continue;
    out->handle = (uint64_t)&file->symbols[i];
    return HSA_STATUS_SUCCESS;
  }
  return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
}

hsa_status_t hsa_code_object_get_symbol_from_name(hsa_code_object_t handle, const char* module, const char* name,
                                                  hsa_code_symbol_t* out) {
  REQUIRE(!module || !*module, HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
  return hsa_code_object_get_symbol(handle, name, out);
}

hsa_status_t hsa_code_object_iterate_symbols(hsa_code_object_t handle,
                                             hsa_status_t (*callback)(hsa_code_object_t file, hsa_code_symbol_t symbol,
                                                                      void* data),
                                             void* data) {
  REQUIRE_OPEN();
  const file_t* file = file_of(handle);
  REQUIRE(file, HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
  REQUIRE(callback, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  for (uint32_t i = 0; i < file->count; ++i) {
    hsa_status_t status = callback(handle, (hsa_code_symbol_t){(uint64_t)&file->symbols[i]}, data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

// NUMBER(attribute, type, value), of `symbol`
#define NUMBERS(NUMBER)                                                                       \
  NUMBER(TYPE, hsa_symbol_kind_t, kernel ? HSA_SYMBOL_KIND_KERNEL : HSA_SYMBOL_KIND_VARIABLE) \
  NUMBER(NAME_LENGTH, uint32_t, strlen(symbol->of.name))                                      \
  NUMBER(MODULE_NAME_LENGTH, uint32_t, 0)                                                     \
  NUMBER(LINKAGE, hsa_symbol_linkage_t, HSA_SYMBOL_LINKAGE_PROGRAM)                           \
  NUMBER(IS_DEFINITION, bool, true)                                                           \
  NUMBER(VARIABLE_ALLOCATION, hsa_variable_allocation_t, HSA_VARIABLE_ALLOCATION_AGENT)       \
  NUMBER(VARIABLE_SEGMENT, hsa_variable_segment_t, HSA_VARIABLE_SEGMENT_GLOBAL)               \
  NUMBER(VARIABLE_ALIGNMENT, uint32_t, 16)                                                    \
  NUMBER(VARIABLE_SIZE, uint32_t, symbol->of.size)                                            \
  NUMBER(VARIABLE_IS_CONST, bool, false)                                                      \
  NUMBER(KERNEL_KERNARG_SEGMENT_SIZE, uint32_t, symbol->kernel.kernarg_size)                  \
  NUMBER(KERNEL_KERNARG_SEGMENT_ALIGNMENT, uint32_t, symbol->kernel.kernarg_alignment)        \
  NUMBER(KERNEL_GROUP_SEGMENT_SIZE, uint32_t, symbol->kernel.group_size)                      \
  NUMBER(KERNEL_PRIVATE_SEGMENT_SIZE, uint32_t, symbol->kernel.private_size)                  \
  NUMBER(KERNEL_DYNAMIC_CALLSTACK, bool, symbol->kernel.has_dynamic_stack)                    \
  NUMBER(KERNEL_CALL_CONVENTION, uint32_t, 0)

hsa_status_t hsa_code_symbol_get_info(hsa_code_symbol_t handle, hsa_code_symbol_info_t attribute, void* out) {
  REQUIRE_OPEN();
  const file_symbol_t* symbol = (const file_symbol_t*)handle.handle;
  REQUIRE(symbol, HSA_STATUS_ERROR_INVALID_CODE_SYMBOL);
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  bool kernel = symbol->of.is_kernel;
  switch ((int)attribute) {
#define NUMBER(name, type, value)   \
  case HSA_CODE_SYMBOL_INFO_##name: \
    *(type*)out = (type)(value);    \
    return HSA_STATUS_SUCCESS;
    NUMBERS(NUMBER)
#undef NUMBER
    case HSA_CODE_SYMBOL_INFO_NAME:
      memcpy(out, symbol->of.name, strlen(symbol->of.name));
      return HSA_STATUS_SUCCESS;
    case HSA_CODE_SYMBOL_INFO_MODULE_NAME:
      return HSA_STATUS_SUCCESS;
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t hsa_executable_load_code_object(hsa_executable_t executable, hsa_agent_t agent, hsa_code_object_t handle,
                                             const char* options) {
  REQUIRE_OPEN();
  const file_t* file = file_of(handle);
  REQUIRE(file, HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
  hsa_code_object_reader_t reader;
  hsa_status_t status = hsa_code_object_reader_create_from_memory(file->data, file->object.size, &reader);
  if (status != HSA_STATUS_SUCCESS) return status;
  status = hsa_executable_load_agent_code_object(executable, agent, reader, options, NULL);
  hsa_code_object_reader_destroy(reader);
  return status;
}
