// Host byte buffers (`!vm.buffer`): strings, parameters of imported functions, scratch memory of the host program.
// Every access is checked against the buffer's length. Thread-compatible.

#ifndef IREE_VM_BUFFER_H_
#define IREE_VM_BUFFER_H_

#include <stdbool.h>
#include <stdint.h>

#include "iree/base/api.h"
#include "iree/vm/ref.h"

#ifdef __cplusplus
extern "C" {
#endif  // __cplusplus

enum iree_vm_buffer_access_bits_t {
  IREE_VM_BUFFER_ACCESS_MUTABLE = 1u << 0,
  IREE_VM_BUFFER_ACCESS_ORIGIN_MODULE = 1u << 1,  // memory of a loaded module
  IREE_VM_BUFFER_ACCESS_ORIGIN_GUEST = 1u << 2,   // made by a program
  IREE_VM_BUFFER_ACCESS_ORIGIN_HOST = 1u << 3,    // made by the application
};
typedef uint32_t iree_vm_buffer_access_t;

typedef struct iree_vm_module_t iree_vm_module_t;

typedef struct iree_vm_buffer_t {
  iree_vm_ref_object_t ref_object;
  iree_vm_buffer_access_t access;
  iree_byte_span_t data;
  iree_allocator_t allocator;        // frees `data`, or null
  iree_vm_module_t* storage_module;  // whose `data` it is, or NULL; retained while there are references
} iree_vm_buffer_t;

// A buffer in the caller's storage over `data`, which `allocator` frees at the end (null: the caller's).
IREE_API_EXPORT void iree_vm_buffer_initialize(iree_vm_buffer_access_t access, iree_byte_span_t data,
                                               iree_allocator_t allocator, iree_vm_buffer_t* out_buffer);
// A read-only buffer over a module's memory, without references: the first one retains the module until the last one is
// gone.
IREE_API_EXPORT void iree_vm_buffer_initialize_module_storage(iree_byte_span_t data, iree_vm_module_t* storage_module,
                                                              iree_vm_buffer_t* out_buffer);
// Ends an initialized buffer; aborts when others still refer to it.
IREE_API_EXPORT void iree_vm_buffer_deinitialize(iree_vm_buffer_t* buffer);

// A new zeroed buffer of `length` bytes; `alignment` is a power of two or 0.
IREE_API_EXPORT iree_status_t iree_vm_buffer_create(iree_vm_buffer_access_t access, iree_host_size_t length,
                                                    iree_host_size_t alignment, iree_allocator_t allocator,
                                                    iree_vm_buffer_t** out_buffer);
IREE_API_EXPORT void iree_vm_buffer_retain(iree_vm_buffer_t* buffer);
IREE_API_EXPORT void iree_vm_buffer_release(iree_vm_buffer_t* buffer);
IREE_API_EXPORT iree_status_t iree_vm_buffer_wrap_retain(iree_vm_buffer_t* buffer, iree_vm_ref_t* out_ref);
// A copy of a range in a new buffer.
IREE_API_EXPORT iree_status_t iree_vm_buffer_clone(iree_vm_buffer_access_t access,
                                                   const iree_vm_buffer_t* source_buffer,
                                                   iree_host_size_t source_offset, iree_host_size_t length,
                                                   iree_host_size_t alignment, iree_allocator_t allocator,
                                                   iree_vm_buffer_t** out_buffer);

IREE_API_EXPORT iree_host_size_t iree_vm_buffer_length(const iree_vm_buffer_t* buffer);
IREE_API_EXPORT uint8_t* iree_vm_buffer_data(const iree_vm_buffer_t* buffer);
// Empty for NULL, and for buffers that cannot be written.
IREE_API_EXPORT iree_byte_span_t iree_vm_buffer_contents(const iree_vm_buffer_t* buffer);
IREE_API_EXPORT iree_const_byte_span_t iree_vm_buffer_const_contents(const iree_vm_buffer_t* buffer);

// OUT_OF_RANGE when a range leaves its buffer, PERMISSION_DENIED when the target is read-only.
IREE_API_EXPORT iree_status_t iree_vm_buffer_copy_bytes(const iree_vm_buffer_t* source_buffer,
                                                        iree_host_size_t source_offset,
                                                        const iree_vm_buffer_t* target_buffer,
                                                        iree_host_size_t target_offset, iree_host_size_t length);
IREE_API_EXPORT iree_status_t iree_vm_buffer_compare_bytes(const iree_vm_buffer_t* lhs_buffer,
                                                           iree_host_size_t lhs_offset,
                                                           const iree_vm_buffer_t* rhs_buffer,
                                                           iree_host_size_t rhs_offset, iree_host_size_t length,
                                                           bool* out_result);
IREE_API_EXPORT iree_status_t iree_vm_buffer_fill_bytes(const iree_vm_buffer_t* target_buffer,
                                                        iree_host_size_t target_offset, iree_host_size_t length,
                                                        uint8_t value);
IREE_API_EXPORT iree_status_t iree_vm_buffer_fill_elements(const iree_vm_buffer_t* target_buffer,
                                                           iree_host_size_t target_offset,
                                                           iree_host_size_t element_count,
                                                           iree_host_size_t element_length, const void* value);
// The memory of a range whose offset is a multiple of `alignment`.
IREE_API_EXPORT iree_status_t iree_vm_buffer_map_ro(const iree_vm_buffer_t* buffer, iree_host_size_t offset,
                                                    iree_host_size_t length, iree_host_size_t alignment,
                                                    iree_const_byte_span_t* out_span);
IREE_API_EXPORT iree_status_t iree_vm_buffer_map_rw(const iree_vm_buffer_t* buffer, iree_host_size_t offset,
                                                    iree_host_size_t length, iree_host_size_t alignment,
                                                    iree_byte_span_t* out_span);
IREE_API_EXPORT iree_status_t iree_vm_buffer_read_elements(const iree_vm_buffer_t* source_buffer,
                                                           iree_host_size_t source_offset, void* target_ptr,
                                                           iree_host_size_t element_count,
                                                           iree_host_size_t element_length);
IREE_API_EXPORT iree_status_t iree_vm_buffer_write_elements(const void* source_ptr,
                                                            const iree_vm_buffer_t* target_buffer,
                                                            iree_host_size_t target_offset,
                                                            iree_host_size_t element_count,
                                                            iree_host_size_t element_length);

// SipHash-2-4 of a range, with the key 00 01 .. 0f (Aumasson and Bernstein, 2012).
IREE_API_EXPORT iree_status_t iree_vm_buffer_hash(const iree_vm_buffer_t* source_buffer, iree_host_size_t source_offset,
                                                  iree_host_size_t length, int64_t* out_result);

// Sets the pointer to elements of a buffer, or returns the failure from the function that it is used in. Offset and
// length count elements.
#define iree_vm_buffer_check_ro(buffer, element_offset, element_length, element_type, out_buffer_ptr)         \
  {                                                                                                           \
    iree_const_byte_span_t span_;                                                                             \
    IREE_RETURN_IF_ERROR(iree_vm_buffer_map_ro((buffer), (element_offset) * sizeof(element_type),             \
                                               (element_length) * sizeof(element_type), sizeof(element_type), \
                                               &span_));                                                      \
    (out_buffer_ptr) = (const element_type*)span_.data;                                                       \
  }
#define iree_vm_buffer_check_rw(buffer, element_offset, element_length, element_type, out_buffer_ptr)         \
  {                                                                                                           \
    iree_byte_span_t span_;                                                                                   \
    IREE_RETURN_IF_ERROR(iree_vm_buffer_map_rw((buffer), (element_offset) * sizeof(element_type),             \
                                               (element_length) * sizeof(element_type), sizeof(element_type), \
                                               &span_));                                                      \
    (out_buffer_ptr) = (element_type*)span_.data;                                                             \
  }

static inline iree_const_byte_span_t iree_vm_buffer_as_const_byte_span(const iree_vm_buffer_t* value) {
  return value ? iree_make_const_byte_span(value->data.data, value->data.data_length) : iree_const_byte_span_empty();
}
static inline iree_string_view_t iree_vm_buffer_as_string(const iree_vm_buffer_t* value) {
  return value ? iree_make_string_view((const char*)value->data.data, value->data.data_length)
               : iree_string_view_empty();
}

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

IREE_VM_DECLARE_TYPE_ADAPTERS(iree_vm_buffer, iree_vm_buffer_t);

#endif  // IREE_VM_BUFFER_H_
