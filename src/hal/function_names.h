// Functions of an executable by name: a table made once, when it is loaded.
#ifndef IREE_C_HAL_FUNCTION_NAMES_H_
#define IREE_C_HAL_FUNCTION_NAMES_H_

#include "iree/base/api.h"

typedef struct hal_function_names_t {
  uint32_t mask;
  uint32_t* buckets;  // number of a function plus 1; 0: none
  iree_allocator_t host_allocator;
} hal_function_names_t;

// The name of a function.
typedef iree_string_view_t (*hal_function_name_fn_t)(const void* executable, iree_host_size_t index);

// Of functions with one name the first is found.
iree_status_t hal_function_names_create(iree_host_size_t count, hal_function_name_fn_t name_of, const void* executable,
                                        iree_allocator_t host_allocator, hal_function_names_t* out_names);
// Errors: NOT_FOUND.
iree_status_t hal_function_names_find(const hal_function_names_t* names, hal_function_name_fn_t name_of,
                                      const void* executable, iree_string_view_t name, uint32_t* out_index);
// Also of one that is zero.
void hal_function_names_free(hal_function_names_t* names);

#endif  // IREE_C_HAL_FUNCTION_NAMES_H_
