// What executables' symbols are.
#include <string.h>

#include "softgpu/hsa/executable.h"

hsa_status_t hsa_executable_get_symbol_by_name(hsa_executable_t handle, const char* name, const hsa_agent_t* agent,
                                               hsa_executable_symbol_t* out) {
  REQUIRE_OPEN();
  executable_t* executable = executable_of(handle);
  REQUIRE(executable, HSA_STATUS_ERROR_INVALID_EXECUTABLE);
  REQUIRE(name && out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  executable_symbol_t* symbol = executable_find_symbol(executable, name, agent ? runtime_agent(*agent) : NULL);
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
  const executable_symbol_t* symbol = (const executable_symbol_t*)handle.handle;
  REQUIRE(symbol, HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL);
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  bool kernel = symbol->of.is_kernel;
  switch ((int)attribute) {
#define ANSWER(name, type, value)         \
  case HSA_EXECUTABLE_SYMBOL_INFO_##name: \
    *(type*)out = (value);                \
    return HSA_STATUS_SUCCESS
    ANSWER(TYPE, hsa_symbol_kind_t, kernel ? HSA_SYMBOL_KIND_KERNEL : HSA_SYMBOL_KIND_VARIABLE);
    ANSWER(NAME_LENGTH, uint32_t, (uint32_t)strlen(symbol->name));
    ANSWER(MODULE_NAME_LENGTH, uint32_t, 0);
    ANSWER(AGENT, hsa_agent_t, (hsa_agent_t){(uint64_t)symbol->agent});
    ANSWER(LINKAGE, hsa_symbol_linkage_t, HSA_SYMBOL_LINKAGE_PROGRAM);
    ANSWER(IS_DEFINITION, bool, symbol->loaded != NULL);
    ANSWER(VARIABLE_ADDRESS, uint64_t, symbol->address);
    ANSWER(VARIABLE_ALLOCATION, hsa_variable_allocation_t, HSA_VARIABLE_ALLOCATION_AGENT);
    ANSWER(VARIABLE_SEGMENT, hsa_variable_segment_t, HSA_VARIABLE_SEGMENT_GLOBAL);
    ANSWER(VARIABLE_ALIGNMENT, uint32_t, 16);
    ANSWER(VARIABLE_SIZE, uint32_t, (uint32_t)symbol->of.size);
    ANSWER(VARIABLE_IS_CONST, bool, false);
    ANSWER(KERNEL_OBJECT, uint64_t, symbol->address);
    ANSWER(KERNEL_KERNARG_SEGMENT_SIZE, uint32_t, symbol->kernel.kernarg_size);
    ANSWER(KERNEL_KERNARG_SEGMENT_ALIGNMENT, uint32_t, symbol->kernel.kernarg_alignment);
    ANSWER(KERNEL_GROUP_SEGMENT_SIZE, uint32_t, symbol->kernel.group_size);
    ANSWER(KERNEL_PRIVATE_SEGMENT_SIZE, uint32_t, symbol->kernel.private_size);
    ANSWER(KERNEL_DYNAMIC_CALLSTACK, bool, symbol->kernel.has_dynamic_stack);
    ANSWER(KERNEL_CALL_CONVENTION, uint32_t, 0);
#undef ANSWER
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME:
      memcpy(out, symbol->name, strlen(symbol->name));
      return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME:
      return HSA_STATUS_SUCCESS;
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
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
  for (executable_symbol_t* at = executable->symbols; at; at = at->next) {
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
  for (executable_symbol_t* at = executable->symbols; at; at = at->next) {
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
  for (executable_symbol_t* at = executable->symbols; at; at = at->next) {
    hsa_status_t status = callback(handle, (hsa_executable_symbol_t){(uint64_t)at}, data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}
