// Data that instrumented modules collect.
#ifndef IREE_TOOLING_INSTRUMENT_UTIL_H_
#define IREE_TOOLING_INSTRUMENT_UTIL_H_

#include "iree/base/api.h"
#include "iree/vm/api.h"

#ifdef __cplusplus
extern "C" {
#endif

// Writes what the modules' `__query_instruments(list)` put into the list (!vm.buffer or !hal.buffer_view that can be
// mapped) into the file of --instrument_file=, one after the other. Nothing without the flag, or without such modules:
// iree-compile makes none.
IREE_API_EXPORT iree_status_t iree_tooling_process_instrument_data(iree_vm_context_t* context,
                                                                   iree_allocator_t host_allocator);

#ifdef __cplusplus
}
#endif

#endif  // IREE_TOOLING_INSTRUMENT_UTIL_H_
