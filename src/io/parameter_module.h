// The VM module `io_parameters`: what compiled programs get their parameters from.
//
//   io_parameters.find(scope: !vm.buffer, key: !vm.buffer, length: i64) -> !vm.buffer
//
// NOT_FOUND when no archive of the scope has the key, OUT_OF_RANGE when its contents have another length.
#ifndef IO_PARAMETER_MODULE_H_
#define IO_PARAMETER_MODULE_H_

#include "iree/base/api.h"
#include "iree/vm/api.h"

typedef struct parameter_source_t {
  iree_string_view_t scope, path;  // an empty scope is that of programs that name none
} parameter_source_t;

// Opens all archives; with `mapped`, pages are read when they are needed. Of archives of one scope the first that has a
// key gives it. The strings need not live on.
iree_status_t parameter_module_create(iree_vm_instance_t* instance, iree_host_size_t count,
                                      const parameter_source_t* sources, bool mapped, iree_allocator_t allocator,
                                      iree_vm_module_t** out_module);

#endif  // IO_PARAMETER_MODULE_H_
