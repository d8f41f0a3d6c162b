// Writes one dispatch of a capture as a capture of its own: its executable, memory with what it held, the dispatch, and
// what is expected to be there afterwards. Not IREE's.
#ifndef IREE_HAL_REPLAY_CASE_H_
#define IREE_HAL_REPLAY_CASE_H_

#include "iree/base/api.h"
#include "iree/hal/replay/execute.h"
#include "iree/io/file_handle.h"

#ifdef __cplusplus
extern "C" {
#endif

// What the dispatch is given. All ranges are as long as `before`.
typedef struct iree_hal_replay_case_binding_t {
  const void* allocation;     // bindings with the same one share memory where their ranges overlap
  iree_device_size_t offset;  // bytes from the allocation's begin
  iree_const_byte_span_t before;
  iree_const_byte_span_t expected;  // empty: it is not compared
} iree_hal_replay_case_binding_t;

// Writes the dispatch of a record (iree_hal_replay_dispatch_event_t::sequence_ordinal) with as many bindings as it has.
// Executables are replaced as `options` (may be NULL) say. Errors: INVALID_ARGUMENT, NOT_FOUND, UNIMPLEMENTED for
// dispatches whose arguments or counts are in memory, and those of writing.
IREE_API_EXPORT iree_status_t iree_hal_replay_case_write(const iree_hal_replay_plan_t* plan, uint64_t sequence_ordinal,
                                                         const iree_hal_replay_execute_options_t* options,
                                                         iree_host_size_t binding_count,
                                                         const iree_hal_replay_case_binding_t* bindings,
                                                         iree_io_file_handle_t* file_handle,
                                                         iree_allocator_t host_allocator);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_REPLAY_CASE_H_
