// Rows of `iree-profile export` (ireeperf-jsonl) as a profile again: of what traces and timelines show.
#ifndef TOOLING_PROFILE_ROWS_READ_H_
#define TOOLING_PROFILE_ROWS_READ_H_

#include "iree/base/api.h"
#include "tokenizer/store.h"

// Appends the bytes of a profile, for profile_bundle_open. Errors: INVALID_ARGUMENT with the line, UNIMPLEMENTED for
// rows of another version.
iree_status_t profile_rows_read(iree_string_view_t text, bytes_t* out_file);

#endif  // TOOLING_PROFILE_ROWS_READ_H_
