// Inputs and outputs of functions as text and files, in the form of iree-run-module's --input= and --output=:
//
//   123  3.14                              values
//   f32=1.2  2x2xi32=[[1 2][3 4]]          tensors; one value fills, none is zeros
//   2x2xf32=@file.bin  4xf32=+file.bin     tensors of raw bytes, from the file's start or where the last one ended
//   @file.npy  +file.npy  *file.npy        arrays: the first, the next, all that are left
//   &4xf32  &4xf32=1,2,3,4                 storage alone
//   (null)  (ignored)                      nothing
#ifndef IREE_TOOLING_FUNCTION_IO_H_
#define IREE_TOOLING_FUNCTION_IO_H_

#include "iree/base/api.h"
#include "iree/hal/api.h"
#include "iree/io/stream.h"
#include "iree/vm/api.h"

#ifdef __cplusplus
extern "C" {
#endif

// Parses arguments for the letters of a calling convention (`cconv`, without version and results). `device` may be
// NULL: then buffers are mapped.
IREE_API_EXPORT iree_status_t iree_tooling_parse_variants(iree_string_view_t cconv, iree_string_view_list_t specs,
                                                          iree_hal_device_t* device,
                                                          iree_hal_allocator_t* device_allocator,
                                                          iree_allocator_t host_allocator, iree_vm_list_t** out_list);
// Appends a line or more for each element, `list_name[0]: ...`, with at most `max_element_count` elements of a tensor.
// Buffers must be such that the host can map them (iree_tooling_transfer_variants).
IREE_API_EXPORT iree_status_t iree_tooling_format_variants(iree_string_view_t list_name, iree_vm_list_t* list,
                                                           iree_host_size_t max_element_count,
                                                           iree_string_builder_t* builder);
// The same into a stream.
IREE_API_EXPORT iree_status_t iree_tooling_print_variants(iree_string_view_t list_name, iree_vm_list_t* list,
                                                          iree_host_size_t max_element_count, iree_io_stream_t* stream,
                                                          iree_allocator_t host_allocator);
// Writes each element where its spec says: empty (nowhere), `-` (`default_stream`), `@f.npy`, `+f.npy`, `@f.bin`,
// `+f.bin`. Errors: OUT_OF_RANGE for another number of specs.
IREE_API_EXPORT iree_status_t iree_tooling_write_variants(iree_vm_list_t* list, iree_string_view_list_t specs,
                                                          iree_host_size_t max_element_count,
                                                          iree_io_stream_t* default_stream,
                                                          iree_allocator_t host_allocator);

#ifdef __cplusplus
}
#endif

#endif  // IREE_TOOLING_FUNCTION_IO_H_
