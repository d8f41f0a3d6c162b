// The `check` module: what programs expect of their own values (the dialect of that name).
//
//   check.expect_true(i32)                                     not 0
//   check.expect_false(i32)                                    0
//   check.expect_all_true(device, view)                        no element is 0
//   check.expect_eq(device, view, view)                        type, shape and elements are the same; of floats also
//                                                              zeros of either sign
//   check.expect_almost_eq(device, view, view, f32, f32)       |lhs - rhs| <= atol + rtol |rhs|, NaN equals NaN
//
// Views are read through the device. Thread safe; a reporter is called by the thread that runs the program.

#ifndef IREE_MODULES_CHECK_MODULE_H_
#define IREE_MODULES_CHECK_MODULE_H_

#include "iree/base/api.h"
#include "iree/vm/api.h"

#ifdef __cplusplus
extern "C" {
#endif  // __cplusplus

// Is told what was not as expected; the text lives during the call. The program goes on when it returns OK.
typedef iree_status_t(IREE_API_PTR* iree_check_module_report_fn_t)(void* user_data, iree_string_view_t message);
typedef struct iree_check_module_reporter_t {
  iree_check_module_report_fn_t fn;  // NULL: the call fails with FAILED_PRECONDITION and the message
  void* user_data;                   // outlives the module
} iree_check_module_reporter_t;

// A module whose calls fail when something is not as expected. The types of the hal module must be registered.
IREE_API_EXPORT iree_status_t iree_check_module_create(iree_vm_instance_t* instance, iree_allocator_t host_allocator,
                                                       iree_vm_module_t** out_module);

// The same with a reporter.
IREE_API_EXPORT iree_status_t iree_check_module_create_with_reporter(iree_vm_instance_t* instance,
                                                                     iree_check_module_reporter_t reporter,
                                                                     iree_allocator_t host_allocator,
                                                                     iree_vm_module_t** out_module);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  // IREE_MODULES_CHECK_MODULE_H_
