// From archives' paths to the module that programs ask.
#ifndef IO_ARCHIVES_H_
#define IO_ARCHIVES_H_

#include "iree/io/scope_map.h"
#include "iree/modules/io/parameters/module.h"

// Adds the entries of the archive at `path`, but those whose key the index has. The file stays mapped, so that what
// uses its bytes needs no copy; with `preload` it is read into memory.
iree_status_t archives_add(iree_string_view_t path, bool preload, iree_io_parameter_index_t* index,
                           iree_allocator_t allocator);

// The module `io_parameters` over `count` providers (retained) and all indices of a map.
iree_status_t archives_create_module(iree_vm_instance_t* instance, iree_host_size_t count,
                                     iree_io_parameter_provider_t* const* providers,
                                     const iree_io_scope_map_t* scope_map, iree_allocator_t allocator,
                                     iree_vm_module_t** out_module);

#endif  // IO_ARCHIVES_H_
