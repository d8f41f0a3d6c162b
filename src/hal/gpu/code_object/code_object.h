// Code objects for AMD GPUs as the data of executables. Their formats are "rocm-hsaco-fb" (any target, which the ELF
// header names) and the names of architectures ("gfx1100", "gfx11-generic").
#ifndef IREE_C_HAL_GPU_CODE_OBJECT_CODE_OBJECT_H_
#define IREE_C_HAL_GPU_CODE_OBJECT_CODE_OBJECT_H_

#include "hal/gpu/code_object/metadata.h"
#include "hal/gpu/code_object/target_id.h"
#include "hal/gpu/executable.h"

bool code_object_takes_format(iree_string_view_t format, const target_id_t* device);
// For gpu_backend_t. Errors: INCOMPATIBLE when `data` is none, INVALID_ARGUMENT for an unknown processor.
iree_status_t code_object_infer_format(iree_const_byte_span_t data, char* storage, size_t capacity,
                                       iree_string_view_t* out_format);
// Errors: INCOMPATIBLE, naming both, when the code is for another target; INVALID_ARGUMENT.
iree_status_t code_object_check_target(iree_const_byte_span_t data, const target_id_t* device,
                                       iree_allocator_t host_allocator);
// What launches of a kernel need. Its name is the metadata's.
gpu_function_t code_object_function(const metadata_kernel_t* kernel);

#endif  // IREE_C_HAL_GPU_CODE_OBJECT_CODE_OBJECT_H_
