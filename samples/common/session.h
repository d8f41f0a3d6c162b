// What the samples with a runtime session share: one session from command line arguments, and tensors for it.
#ifndef IREE_SAMPLES_COMMON_SESSION_H_
#define IREE_SAMPLES_COMMON_SESSION_H_

#include "iree/runtime/api.h"

#ifdef __cplusplus
extern "C" {
#endif

// Runs the sample in a session on the device that `driver` makes when nobody asks for one in particular; returns the
// program's exit code. A failure is printed.
int sample_run(const char* driver, iree_status_t (*run)(iree_runtime_session_t* session, void* user_data),
               void* user_data);

// A tensor of the device with a copy of `data`. The caller releases it.
iree_status_t sample_tensor_create(iree_runtime_session_t* session, iree_host_size_t rank, const iree_hal_dim_t* shape,
                                   iree_hal_element_type_t type, const void* data, iree_hal_buffer_view_t** out_view);

// Reads `size` bytes of a tensor back.
iree_status_t sample_tensor_read(iree_runtime_session_t* session, iree_hal_buffer_view_t* view, void* data,
                                 iree_host_size_t size);

#ifdef __cplusplus
}
#endif

#endif  // IREE_SAMPLES_COMMON_SESSION_H_
