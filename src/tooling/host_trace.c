// See host_trace.h.
#include "tooling/host_trace.h"

#include <errno.h>
#include <string.h>

#include "base/trace.h"
#include "iree/base/tooling/flags.h"

IREE_FLAG(
    string, trace_output, "",
    "File (.json) for what the host does: calls, submissions, waits, transfers, by thread. https://ui.perfetto.dev\n"
    "and chrome://tracing open it.");

iree_status_t tooling_host_trace_begin(void) {
  if (!FLAG_trace_output[0] || trace_start(FLAG_trace_output)) return iree_ok_status();
  return iree_make_status(iree_status_code_from_errno(errno), "cannot write '%s' of --trace_output=: %s",
                          FLAG_trace_output, strerror(errno));
}

iree_status_t tooling_host_trace_end(void) {
  if (trace_stop()) return iree_ok_status();
  return iree_make_status(IREE_STATUS_DATA_LOSS, "cannot write '%s' of --trace_output=: %s", FLAG_trace_output,
                          strerror(errno));
}
