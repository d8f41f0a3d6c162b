// --trace_output=: spans of what the host does, from when a tool begins its work to its end.
#ifndef TOOLING_HOST_TRACE_H_
#define TOOLING_HOST_TRACE_H_

#include "iree/base/api.h"

// Nothing without the flag. Errors: those of making the file.
iree_status_t tooling_host_trace_begin(void);
// Errors: DATA_LOSS when not all of it could be written.
iree_status_t tooling_host_trace_end(void);

#endif  // TOOLING_HOST_TRACE_H_
