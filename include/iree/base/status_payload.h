// What hangs on a status beside its message: messages of iree_status_annotate, and payloads of an application's own.
#ifndef IREE_BASE_STATUS_PAYLOAD_H_
#define IREE_BASE_STATUS_PAYLOAD_H_

#include "iree/base/allocator.h"
#include "iree/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_status_storage_t iree_status_storage_t;

// Sets *out_buffer_length to the characters of the whole text without its NUL, and writes what fits, with a NUL, if
// there is a buffer.
typedef void(IREE_API_PTR* iree_status_payload_formatter_t)(const iree_status_payload_t* payload,
                                                            iree_host_size_t buffer_capacity, char* buffer,
                                                            iree_host_size_t* out_buffer_length);

// First member of a payload, which `allocator` frees with its status.
struct iree_status_payload_t {
  struct iree_status_payload_t* next;
  iree_status_payload_type_t type;
  iree_allocator_t allocator;
  iree_status_payload_formatter_t formatter;  // NULL: nothing is said of it
};

// IREE_STATUS_PAYLOAD_TYPE_MESSAGE
typedef struct iree_status_payload_message_t {
  iree_status_payload_t header;
  iree_string_view_t message;
} iree_status_payload_message_t;

// IREE_STATUS_PAYLOAD_TYPE_STACK_TRACE; there are none from here.
typedef struct iree_status_payload_stack_trace_t {
  iree_status_payload_t header;
  uint16_t skip_frames;
  uint16_t frame_count;
  uintptr_t addresses[];
} iree_status_payload_stack_trace_t;

// Appends a payload, which is the status's from then on; `storage` is that of the status (NULL: it is found). The
// payload is freed where the status is OK or memory ran out.
IREE_API_EXPORT iree_status_t iree_status_append_payload(iree_status_t status, iree_status_storage_t* storage,
                                                         iree_status_payload_t* payload);

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_STATUS_PAYLOAD_H_
