// Prints what a capture holds. Data is not printed: only where in the file it is.
#ifndef IREE_HAL_REPLAY_DUMP_H_
#define IREE_HAL_REPLAY_DUMP_H_

#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum iree_hal_replay_dump_format_e {
  IREE_HAL_REPLAY_DUMP_FORMAT_TEXT = 0,
  IREE_HAL_REPLAY_DUMP_FORMAT_JSONL = 1,  // one JSON object a line
} iree_hal_replay_dump_format_t;
typedef struct iree_hal_replay_dump_options_t {
  iree_hal_replay_dump_format_t format;
} iree_hal_replay_dump_options_t;
static inline iree_hal_replay_dump_options_t iree_hal_replay_dump_options_default(void) {
  iree_hal_replay_dump_options_t options = {IREE_HAL_REPLAY_DUMP_FORMAT_TEXT};
  return options;
}

typedef iree_status_t(IREE_API_PTR* iree_hal_replay_dump_write_fn_t)(void* user_data, iree_string_view_t text);
typedef struct iree_hal_replay_dump_write_callback_t {
  iree_hal_replay_dump_write_fn_t fn;
  void* user_data;
} iree_hal_replay_dump_write_callback_t;

// Gives `write_callback` the text, line by line. `options` may be NULL. Errors: those of the callback,
// INVALID_ARGUMENT, DATA_LOSS and UNIMPLEMENTED of the file, before anything is written.
IREE_API_EXPORT iree_status_t iree_hal_replay_dump_file(iree_const_byte_span_t file_contents,
                                                        const iree_hal_replay_dump_options_t* options,
                                                        iree_hal_replay_dump_write_callback_t write_callback,
                                                        iree_allocator_t host_allocator);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_REPLAY_DUMP_H_
