// Code for NVIDIA GPUs: PTX, which the vendor's compiler makes machine code of when it is loaded, and cubins, which are
// machine code.
#include "hal/stream/code.h"
#include "hal/stream/cubin.h"
#include "hal/stream/ptx.h"

#define PTX_FORMAT "cuda-nvptx-fb"
#define CUBIN_FORMAT "cuda-cubin-"  // and the architecture: "cuda-cubin-sm_80"

static iree_status_t identify(stream_gpu_t* gpu) {
  const stream_api_t* api = gpu->context.api;
  int handle = gpu->context.device;
  int major = 0, minor = 0;
  IREE_RETURN_IF_ERROR(stream_api_query(api, handle, STREAM_CAPABILITY_MAJOR, &major));
  IREE_RETURN_IF_ERROR(stream_api_query(api, handle, STREAM_CAPABILITY_MINOR, &minor));
  gpu->capability = (uint32_t)(major * 10 + minor);
  snprintf(gpu->architecture, sizeof(gpu->architecture), "sm_%u", gpu->capability);
  return iree_ok_status();
}

static bool takes_format(const stream_gpu_t* gpu, iree_string_view_t format) {
  if (iree_string_view_equal(format, IREE_SV(PTX_FORMAT))) return true;
  bool is_cubin = iree_string_view_consume_prefix(&format, IREE_SV(CUBIN_FORMAT));
  ptx_target_t target = ptx_target(format);
  return is_cubin ? ptx_target_runs(target, gpu->capability) : ptx_target_fits(target, gpu->capability);
}

// Text that says its version somewhere.
static bool is_ptx(iree_const_byte_span_t data) {
  return !memchr(data.data, 0, data.data_length) && memmem(data.data, data.data_length, ".version", 8);
}

iree_status_t stream_infer_nvidia(iree_const_byte_span_t data, char* storage, size_t capacity,
                                  iree_string_view_t* out_format) {
  if (cubin_is(data)) {
    snprintf(storage, capacity, CUBIN_FORMAT "sm_%u", cubin_target(data));
    *out_format = iree_make_cstring_view(storage);
    return iree_ok_status();
  }
  if (!is_ptx(data)) return iree_make_status(IREE_STATUS_INCOMPATIBLE, "neither PTX nor a cubin for NVIDIA GPUs");
  *out_format = IREE_SV(PTX_FORMAT);
  return iree_ok_status();
}

static iree_status_t fail_target(uint32_t target, const char* others, const stream_gpu_t* gpu) {
  return iree_make_status(IREE_STATUS_INCOMPATIBLE,
                          "the executable is for sm_%u%s, the device is a %s: compile with --iree-cuda-target=%s",
                          target, others, gpu->architecture, gpu->architecture);
}

static iree_status_t read_cubin(const stream_gpu_t* gpus, uint32_t gpu_count, iree_const_byte_span_t data,
                                iree_allocator_t host_allocator, stream_image_t* out_image) {
  cubin_t cubin;
  ptx_target_t target = {.number = cubin_target(data)};
  for (uint32_t i = 0; i < gpu_count; ++i) {
    if (ptx_target_runs(target, gpus[i].capability)) continue;
    return fail_target(target.number, " and its generation", &gpus[i]);
  }
  IREE_RETURN_IF_ERROR(cubin_read(data, host_allocator, &cubin));
  *out_image = (stream_image_t){cubin.count, cubin.functions};
  return iree_ok_status();
}

static iree_status_t read_ptx(const stream_gpu_t* gpus, uint32_t gpu_count, iree_const_byte_span_t data,
                              iree_allocator_t host_allocator, stream_image_t* out_image) {
  ptx_t ptx;
  iree_string_view_t text = iree_make_string_view((const char*)data.data, data.data_length);
  IREE_RETURN_IF_ERROR(ptx_read(text, host_allocator, &ptx));
  for (uint32_t i = 0; i < gpu_count; ++i) {
    ptx_target_t target = ptx.target;
    if (ptx_target_fits(target, gpus[i].capability)) continue;
    ptx_free(&ptx, host_allocator);
    const char* others = target.kind == 'a' ? " only" : target.kind ? " and its family" : " and later";
    return fail_target(target.number, others, &gpus[i]);
  }
  *out_image = (stream_image_t){ptx.count, ptx.functions, .is_source = true};
  return iree_ok_status();
}

static iree_status_t read(const stream_gpu_t* gpus, uint32_t gpu_count, iree_const_byte_span_t data,
                          iree_allocator_t host_allocator, stream_image_t* out_image) {
  *out_image = (stream_image_t){0};
  if (cubin_is(data)) return read_cubin(gpus, gpu_count, data, host_allocator, out_image);
  if (is_ptx(data)) return read_ptx(gpus, gpu_count, data, host_allocator, out_image);
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the executable is neither PTX nor a cubin");
}

const stream_code_t stream_code_nvidia = {
    .identify = identify,
    .takes_format = takes_format,
    .read = read,
};
