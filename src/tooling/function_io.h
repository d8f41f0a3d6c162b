// Function inputs and outputs as command lines give them (docs of iree-run-module):
//
//   5  3.14                       values
//   2x3xf32=1 2 3 4 5 6  f32=-2   tensors; one value fills, none is zeros
//   4xf32=@file.bin  4xf32=+file.bin   raw bytes, from the start or where the last read of that file ended
//   @f.npy  +f.npy  *f.npy        NumPy arrays: the first, the next, all that are left
//   @inputs.txt                   a file with one of these a line
//   &4xf32=…                      storage alone (`!hal.buffer`)
//   (null)  (ignored)             nothing
#ifndef TOOLING_FUNCTION_IO_H_
#define TOOLING_FUNCTION_IO_H_

#include "iree/modules/hal/module.h"
#include "iree/vm/api.h"

// Where tensors are made.
typedef struct tooling_device_t {
  iree_hal_device_t* device;  // NULL: the host's memory
  iree_hal_allocator_t* allocator;
} tooling_device_t;

// Parses specs for arguments (letters of a calling convention) into a new list.
iree_status_t tooling_inputs_parse(iree_string_view_t letters, iree_string_view_list_t specs, tooling_device_t device,
                                   iree_vm_list_t** out_list);

// Stands for a result that is not compared: no program has values of this type.
static inline iree_vm_variant_t tooling_ignored_variant(void) {
  return iree_vm_make_variant_value(iree_vm_value_make_i8(0));
}
static inline bool tooling_variant_is_ignored(iree_vm_variant_t variant) {
  return iree_vm_type_def_as_value(variant.type) == IREE_VM_VALUE_TYPE_I8;
}

// Parses what results are expected to be.
iree_status_t tooling_expected_parse(iree_string_view_t letters, iree_string_view_list_t specs, tooling_device_t device,
                                     iree_vm_list_t** out_list);

// Prints all results: `result[0]: hal.buffer_view` and so on, when `name` is `result`.
iree_status_t tooling_outputs_print(const iree_vm_list_t* list, iree_string_view_t name, tooling_device_t device,
                                    iree_host_size_t max_element_count, FILE* file);

// Writes results where `specs` say: `-` (print), empty (drop), `@f.npy`, `+f.npy`, `@f.bin`, `+f.bin`.
iree_status_t tooling_outputs_write(const iree_vm_list_t* list, iree_string_view_list_t specs, tooling_device_t device,
                                    iree_host_size_t max_element_count, FILE* file);

// Contents of a view's buffer in host memory; freed by the caller.
iree_status_t tooling_view_read(const iree_hal_buffer_view_t* view, tooling_device_t device, iree_allocator_t allocator,
                                iree_byte_span_t* out_data);

// `4xf32=1 2 3 4`.
iree_status_t tooling_view_print(const iree_hal_buffer_view_t* view, tooling_device_t device,
                                 iree_host_size_t max_element_count, FILE* file);

#endif  // TOOLING_FUNCTION_IO_H_
