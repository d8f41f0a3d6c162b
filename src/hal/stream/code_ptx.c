// PTX, which the vendor's compiler makes code of when it is loaded.
#include "hal/stream/code.h"
#include "hal/stream/ptx.h"

#define PTX_FORMAT "cuda-nvptx-fb"

static iree_status_t identify(stream_gpu_t* gpu) {
  const stream_api_t* api = gpu->context.api;
  int handle = gpu->context.device;
  gpu->capability = (uint32_t)(stream_api_attribute(api, handle, STREAM_CAPABILITY_MAJOR) * 10 +
                               stream_api_attribute(api, handle, STREAM_CAPABILITY_MINOR));
  snprintf(gpu->architecture, sizeof(gpu->architecture), "sm_%u", gpu->capability);
  return iree_ok_status();
}

// Code for an architecture runs on it and on later ones, unless it is for that one only.
static bool fits(const stream_gpu_t* gpu, uint32_t target, bool is_exact) {
  return is_exact ? target == gpu->capability : target && target <= gpu->capability;
}

static bool takes_format(const stream_gpu_t* gpu, iree_string_view_t format) {
  bool is_exact = false;
  if (iree_string_view_equal(format, IREE_SV(PTX_FORMAT))) return true;
  uint32_t target = ptx_architecture(format, &is_exact);
  return fits(gpu, target, is_exact);
}

// Text that says its version somewhere.
static bool is_ptx(iree_const_byte_span_t data) {
  return !memchr(data.data, 0, data.data_length) && memmem(data.data, data.data_length, ".version", 8);
}

iree_status_t stream_infer_ptx(iree_const_byte_span_t data, char* storage, size_t capacity,
                               iree_string_view_t* out_format) {
  if (!is_ptx(data)) return iree_make_status(IREE_STATUS_INCOMPATIBLE, "not PTX for NVIDIA GPUs");
  *out_format = IREE_SV(PTX_FORMAT);
  return iree_ok_status();
}

static iree_status_t read(const stream_gpu_t* gpus, uint32_t gpu_count, iree_const_byte_span_t data,
                          iree_allocator_t host_allocator, stream_image_t* out_image) {
  ptx_t ptx;
  *out_image = (stream_image_t){0};
  if (!is_ptx(data)) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the executable is not PTX");
  IREE_RETURN_IF_ERROR(ptx_read(iree_make_string_view((const char*)data.data, data.data_length), host_allocator, &ptx));
  for (uint32_t i = 0; i < gpu_count; ++i) {
    if (fits(&gpus[i], ptx.target, ptx.is_exact)) continue;
    ptx_free(&ptx, host_allocator);
    return iree_make_status(IREE_STATUS_INCOMPATIBLE, "the executable is for sm_%u%s, the device is a %s", ptx.target,
                            ptx.is_exact ? " only" : " and later", gpus[i].architecture);
  }
  *out_image = (stream_image_t){ptx.count, ptx.functions};
  return iree_ok_status();
}

const stream_code_t stream_code_ptx = {
    .identify = identify,
    .takes_format = takes_format,
    .read = read,
};
