// See iree/tooling/instrument_util.h.
#include "iree/tooling/instrument_util.h"

#include <errno.h>

#include "base/whole_file.h"
#include "iree/base/tooling/flags.h"
#include "iree/modules/hal/types.h"

IREE_FLAG(string, instrument_file, "", "File for the data that instrumented modules have collected.")

static iree_status_t write_bytes(FILE* file, const void* data, iree_host_size_t size) {
  if (!size || fwrite(data, 1, size, file) == size) return iree_ok_status();
  return iree_make_status(iree_status_code_from_errno(errno), "writing '%s' failed", FLAG_instrument_file);
}

static iree_status_t write_view(FILE* file, iree_hal_buffer_view_t* view) {
  iree_hal_buffer_mapping_t mapping = {{0}};
  IREE_RETURN_IF_ERROR(iree_hal_buffer_map_range(iree_hal_buffer_view_buffer(view), IREE_HAL_MAPPING_MODE_SCOPED,
                                                 IREE_HAL_MEMORY_ACCESS_READ, 0, IREE_HAL_WHOLE_BUFFER, &mapping));
  iree_status_t status = write_bytes(file, mapping.contents.data, mapping.contents.data_length);
  iree_status_ignore(iree_hal_buffer_unmap_range(&mapping));
  return status;
}

static iree_status_t write_list(FILE* file, const iree_vm_list_t* list) {
  for (iree_host_size_t i = 0; i < iree_vm_list_size(list); ++i) {
    iree_vm_variant_t variant;
    IREE_RETURN_IF_ERROR(iree_vm_list_get_variant_assign(list, i, &variant));
    iree_vm_ref_t ref = iree_vm_variant_is_ref(variant) ? variant.ref : iree_vm_ref_null();
    if (iree_vm_buffer_isa(ref)) {
      iree_vm_buffer_t* buffer = iree_vm_buffer_deref(ref);
      IREE_RETURN_IF_ERROR(write_bytes(file, iree_vm_buffer_data(buffer), iree_vm_buffer_length(buffer)));
    } else if (iree_hal_buffer_view_isa(ref)) {
      IREE_RETURN_IF_ERROR(write_view(file, iree_hal_buffer_view_deref(ref)));
    } else {
      return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                              "instruments give buffers and views; entry %" PRIhsz " is neither", i);
    }
  }
  return iree_ok_status();
}

// Calls the function with an empty list.
static iree_status_t query(iree_vm_context_t* context, iree_vm_function_t function, iree_allocator_t allocator,
                           iree_vm_list_t* entries) {
  iree_vm_list_t* inputs = NULL;
  IREE_RETURN_IF_ERROR(iree_vm_list_create(iree_vm_make_undefined_type_def(), 1, allocator, &inputs));
  iree_vm_ref_t ref = iree_vm_list_retain_ref(entries);
  iree_status_t status = iree_vm_list_push_ref_move(inputs, &ref);
  if (iree_status_is_ok(status)) {
    status = iree_vm_invoke(context, function, IREE_VM_INVOCATION_FLAG_NONE, NULL, inputs, NULL, allocator);
  }
  iree_vm_list_release(inputs);
  return status;
}

static iree_status_t collect(iree_vm_context_t* context, iree_allocator_t allocator, iree_vm_list_t* entries) {
  for (iree_host_size_t i = 0; i < iree_vm_context_module_count(context); ++i) {
    iree_vm_function_t function;
    iree_status_t status =
        iree_vm_module_lookup_function_by_name(iree_vm_context_module_at(context, i), IREE_VM_FUNCTION_LINKAGE_EXPORT,
                                               IREE_SV("__query_instruments"), &function);
    if (iree_status_consume_code(status) != IREE_STATUS_OK) continue;
    IREE_RETURN_IF_ERROR(query(context, function, allocator, entries));
  }
  return iree_ok_status();
}

static iree_status_t write_file(const iree_vm_list_t* entries) {
  whole_file_t file;
  if (!whole_file_open(FLAG_instrument_file, &file)) {
    return iree_make_status(iree_status_code_from_errno(errno), "failed to open file '%s': %s", FLAG_instrument_file,
                            strerror(errno));
  }
  iree_status_t status = write_list(file.file, entries);
  if (whole_file_close(&file, iree_status_is_ok(status)) || !iree_status_is_ok(status)) return status;
  return iree_make_status(iree_status_code_from_errno(errno), "writing '%s' failed", FLAG_instrument_file);
}

iree_status_t iree_tooling_process_instrument_data(iree_vm_context_t* context, iree_allocator_t host_allocator) {
  iree_vm_list_t* entries = NULL;
  if (!FLAG_instrument_file[0]) return iree_ok_status();
  IREE_RETURN_IF_ERROR(iree_vm_list_create(iree_vm_make_undefined_type_def(), 4, host_allocator, &entries));
  iree_status_t status = collect(context, host_allocator, entries);
  if (iree_status_is_ok(status) && iree_vm_list_size(entries)) status = write_file(entries);
  iree_vm_list_release(entries);
  return status;
}
