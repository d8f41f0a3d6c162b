// Lists of values to packed arguments, packed results to lists.
#ifndef VM_CALL_LISTS_H_
#define VM_CALL_LISTS_H_

#include "iree/vm/list.h"
#include "iree/vm/module.h"

// A call with its packed lists.
typedef struct call_lists_t {
  iree_string_view_t argument_letters, result_letters;
  iree_vm_function_call_t call;
  void* storage;  // allocated, when the lists are not in the caller's
} call_lists_t;

// Makes room for a function's lists, zeroed: in `room`, aligned to 16 bytes, when they fit.
iree_status_t call_lists_prepare(iree_vm_function_t function, iree_byte_span_t room, iree_allocator_t allocator,
                                 call_lists_t* out_lists);
// Errors: INVALID_ARGUMENT for another number or kind of inputs. What was packed is released with the lists.
iree_status_t call_lists_pack(call_lists_t* lists, const iree_vm_list_t* inputs);

// For packed values of `letters`: appends them to a list, which takes references; and releases those that nobody took.
iree_status_t call_lists_unpack(iree_string_view_t letters, iree_byte_span_t packed, iree_vm_list_t* outputs);
void call_lists_release_refs(iree_string_view_t letters, iree_byte_span_t packed);

#endif  // VM_CALL_LISTS_H_
