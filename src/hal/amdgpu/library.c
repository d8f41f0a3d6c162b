// Choosing and loading the device library.
#include "hal/amdgpu/library.h"

typedef struct library_row_t {
  const char* target;
  const uint8_t* begin;
  const uint8_t* end;
} library_row_t;

#define DEVICE_LIBRARY(target, symbol) extern const uint8_t symbol[], symbol##_end[];
#include "amdgpu_device_library.def"

static const library_row_t library_rows[] = {
#define DEVICE_LIBRARY(target, symbol) {target, symbol, symbol##_end},
#include "amdgpu_device_library.def"
    {NULL, NULL, NULL},
};

static iree_status_t fail_select(const target_id_t* device) {
  if (!library_rows[0].target) {
    return iree_make_status(IREE_STATUS_UNAVAILABLE,
                            "this build has no device library: it was configured where clang 22 was not found");
  }
  iree_string_builder_t has;
  iree_string_builder_initialize(iree_allocator_system(), &has);
  iree_status_t status = iree_ok_status();
  for (const library_row_t* row = library_rows; row->target && iree_status_is_ok(status); ++row) {
    status = iree_string_builder_append_format(&has, "%s%s", row == library_rows ? "" : ", ", row->target);
  }
  if (iree_status_is_ok(status)) {
    status = iree_make_status(IREE_STATUS_UNAVAILABLE, "the device library has no code for %s; it has [%.*s]",
                              device->processor, (int)iree_string_builder_size(&has), iree_string_builder_buffer(&has));
  }
  iree_string_builder_deinitialize(&has);
  return status;
}

iree_status_t library_select(const target_id_t* device, iree_const_byte_span_t* out_code) {
  const library_row_t* best = NULL;
  target_match_t best_match = TARGET_MATCH_NONE;
  for (const library_row_t* row = library_rows; row->target; ++row) {
    target_id_t code;
    IREE_RETURN_IF_ERROR(target_id_parse(iree_make_cstring_view(row->target), &code));
    target_match_t match = target_id_match(&code, device);
    if (match <= best_match) continue;
    best_match = match;
    best = row;
  }
  if (!best) return fail_select(device);
  *out_code = iree_make_const_byte_span(best->begin, (iree_host_size_t)(best->end - best->begin));
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Loading
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t library_load_code(const libhsa_t* hsa, hsa_agent_t agent, iree_const_byte_span_t code,
                                hsa_executable_t* out_executable) {
  *out_executable = (hsa_executable_t){0};
  hsa_code_object_reader_t reader = {0};
  hsa_executable_t executable = {0};
  IREE_RETURN_IF_ERROR(
      LIBHSA_CALL(hsa, hsa_code_object_reader_create_from_memory, code.data, code.data_length, &reader));
  iree_status_t status = LIBHSA_CALL(hsa, hsa_executable_create_alt, HSA_PROFILE_FULL,
                                     HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable);
  if (iree_status_is_ok(status)) {
    status = LIBHSA_CALL(hsa, hsa_executable_load_agent_code_object, executable, agent, reader, NULL, NULL);
  }
  if (iree_status_is_ok(status)) status = LIBHSA_CALL(hsa, hsa_executable_freeze, executable, NULL);
  hsa->hsa_code_object_reader_destroy(reader);
  if (iree_status_is_ok(status)) {
    *out_executable = executable;
  } else if (executable.handle) {
    hsa->hsa_executable_destroy(executable);
  }
  return status;
}

iree_status_t library_find_kernel(const libhsa_t* hsa, hsa_executable_t executable, hsa_agent_t agent,
                                  const char* symbol, kernel_object_t* out_kernel) {
  hsa_executable_symbol_t handle = {0};
  if (hsa->hsa_executable_get_symbol_by_name(executable, symbol, &agent, &handle) != HSA_STATUS_SUCCESS) {
    return iree_make_status(IREE_STATUS_NOT_FOUND, "the code object has no kernel '%s'", symbol);
  }
  IREE_RETURN_IF_ERROR(LIBHSA_CALL(hsa, hsa_executable_symbol_get_info, handle,
                                   HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &out_kernel->handle));
  IREE_RETURN_IF_ERROR(LIBHSA_CALL(hsa, hsa_executable_symbol_get_info, handle,
                                   HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &out_kernel->group_size));
  IREE_RETURN_IF_ERROR(LIBHSA_CALL(hsa, hsa_executable_symbol_get_info, handle,
                                   HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &out_kernel->private_size));
  return LIBHSA_CALL(hsa, hsa_executable_symbol_get_info, handle,
                     HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, &out_kernel->kernarg_size);
}

iree_status_t library_create(const libhsa_t* hsa, const system_gpu_t* gpu, library_t* out_library) {
  static const char* const names[] = {
#define BUILTIN(name) #name ".kd",
      LIBRARY_BUILTINS(BUILTIN)
#undef BUILTIN
  };
  *out_library = (library_t){0};
  iree_const_byte_span_t code;
  IREE_RETURN_IF_ERROR(library_select(&gpu->target, &code));
  iree_status_t status = library_load_code(hsa, gpu->agent, code, &out_library->executable);
  for (int i = 0; i < LIBRARY_BUILTIN_COUNT && iree_status_is_ok(status); ++i) {
    status = library_find_kernel(hsa, out_library->executable, gpu->agent, names[i], &out_library->kernels[i]);
  }
  if (iree_status_is_ok(status)) return status;
  library_destroy(hsa, out_library);
  return iree_status_annotate_f(status, "loading the device library for %s", gpu->isa);
}

void library_destroy(const libhsa_t* hsa, library_t* library) {
  if (library->executable.handle) hsa->hsa_executable_destroy(library->executable);
  *library = (library_t){0};
}

const char* library_kernel_name(const library_t* library, uint64_t handle) {
  static const char* const names[] = {
#define BUILTIN(name) #name,
      LIBRARY_BUILTINS(BUILTIN)
#undef BUILTIN
  };
  for (size_t i = 0; i < LIBRARY_BUILTIN_COUNT; ++i) {
    if (library->kernels[i].handle == handle) return names[i];
  }
  return NULL;
}
