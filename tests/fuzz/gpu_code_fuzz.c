// The readers of what GPUs run: PTX, cubins and code objects for AMD GPUs. No bytes may crash them, and what they say
// of a kernel is within the data and adds up.
#include <stdint.h>

#include "hal/gpu/code_object/code_object.h"
#include "hal/gpu/code_object/descriptor.h"
#include "hal/stream/cubin.h"
#include "hal/stream/ptx.h"
#include "limited_allocator.h"

static void check_function(const gpu_function_t* function, const char* data, size_t size) {
  bool is_inside = function->name.size == 0 ||
                   (function->name.data >= data && function->name.data + function->name.size <= data + size);
  uint64_t plain = 8ull * function->binding_count + 4ull * function->constant_count;
  if (!is_inside || function->argument_size > function->kernarg_size) abort();
  if (function->is_hal && plain != function->argument_size) abort();
}

static void read_ptx(const char* data, size_t size, iree_allocator_t allocator) {
  ptx_t ptx;
  if (iree_status_consume_code(ptx_read(iree_make_string_view(data, size), allocator, &ptx)) != IREE_STATUS_OK) return;
  for (iree_host_size_t i = 0; i < ptx.count; ++i) check_function(&ptx.functions[i], data, size);
  ptx_free(&ptx, allocator);
}

static void read_cubin(const char* data, size_t size, iree_allocator_t allocator) {
  cubin_t cubin;
  iree_const_byte_span_t span = iree_make_const_byte_span(data, size);
  if (!cubin_is(span)) return;
  cubin_target(span);
  if (iree_status_consume_code(cubin_read(span, allocator, &cubin)) != IREE_STATUS_OK) return;
  for (iree_host_size_t i = 0; i < cubin.count; ++i) check_function(&cubin.functions[i], data, size);
  cubin_free(&cubin, allocator);
}

static void read_code_object(const char* data, size_t size, iree_allocator_t allocator) {
  metadata_t metadata;
  target_id_t target, device;
  char format[64];
  iree_string_view_t name;
  iree_const_byte_span_t span = iree_make_const_byte_span(data, size);
  iree_status_ignore(code_object_infer_format(span, format, sizeof(format), &name));
  iree_status_ignore(target_id_from_elf(span, &target));
  if (!target_id_read(IREE_SV("gfx1100"), &device)) abort();
  iree_status_ignore(code_object_check_target(span, &device, allocator));
  if (iree_status_consume_code(metadata_read(span, allocator, &metadata)) != IREE_STATUS_OK) return;
  for (iree_host_size_t i = 0; i < metadata.kernel_count; ++i) {
    gpu_function_t function = code_object_function(&metadata.kernels[i]);
    check_function(&function, data, size);
    descriptor_t descriptor;
    descriptor_read(span, metadata.kernels[i].symbol, &descriptor);
  }
  metadata_free(&metadata, allocator);
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  char* data = malloc(size + 1);  // of that size, so that what is read behind it is seen
  memcpy(data, bytes, size);
  size_t used = 0;
  iree_allocator_t allocator = limited_allocator(&used);
  read_ptx(data, size, allocator);
  read_cubin(data, size, allocator);
  read_code_object(data, size, allocator);
  free(data);
  return 0;
}
