// What the GPUs of a platform run: PTX (code_nvidia.c), or code objects for AMD GPUs (code_amd.c).
#ifndef IREE_C_HAL_STREAM_CODE_H_
#define IREE_C_HAL_STREAM_CODE_H_

#include "hal/gpu/code_object/code_object.h"
#include "hal/stream/device.h"

// The data of an executable, read.
typedef struct stream_image_t {
  iree_host_size_t count;
  gpu_function_t* functions;  // names are in the data
  bool is_source;             // the library makes machine code of it
} stream_image_t;

struct stream_code_t {
  // What a GPU is: its architecture, and what code must fit.
  iree_status_t (*identify)(stream_gpu_t* gpu);
  bool (*takes_format)(const stream_gpu_t* gpu, iree_string_view_t format);
  // Reads data, behind which is a zero, and which must stay while the result is used. Errors: INVALID_ARGUMENT;
  // INCOMPATIBLE, naming both, when it is not for all those GPUs.
  iree_status_t (*read)(const stream_gpu_t* gpus, uint32_t gpu_count, iree_const_byte_span_t data,
                        iree_allocator_t host_allocator, stream_image_t* out_image);
  // Turns data that the library refused into an older form of the same; false when there is none. NULL: never.
  bool (*step_down)(const stream_image_t* image, uint8_t* data);
};
// For gpu_backend_t, as code_object_infer_format. Errors: INCOMPATIBLE.
iree_status_t stream_infer_nvidia(iree_const_byte_span_t data, char* storage, size_t capacity,
                                  iree_string_view_t* out_format);
extern const stream_code_t stream_code_nvidia, stream_code_amd;

#endif  // IREE_C_HAL_STREAM_CODE_H_
