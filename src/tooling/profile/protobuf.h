// Protocol buffers, written: fields one after the other; a message is bytes that a field of another takes.
#ifndef TOOLING_PROFILE_PROTOBUF_H_
#define TOOLING_PROFILE_PROTOBUF_H_

#include "tokenizer/store.h"

iree_status_t protobuf_number(bytes_t* out, uint32_t field, uint64_t value);
iree_status_t protobuf_text(bytes_t* out, uint32_t field, iree_string_view_t text);
static inline iree_status_t protobuf_message(bytes_t* out, uint32_t field, const bytes_t* message) {
  return protobuf_text(out, field, bytes_view(message));
}

#endif  // TOOLING_PROFILE_PROTOBUF_H_
