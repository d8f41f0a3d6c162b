// Providers of an index, for those that use its files themselves.
#ifndef IO_INDEX_PROVIDER_H_
#define IO_INDEX_PROVIDER_H_

#include "iree/io/parameter_index_provider.h"

// The index of a provider from iree_io_parameter_index_provider_create; NULL for others.
iree_io_parameter_index_t* index_provider_index(iree_io_parameter_provider_t* provider);
// Writes `length` bytes of a pattern, from its byte `phase` on.
void index_provider_expand(const iree_io_parameter_index_entry_t* splat, uint64_t phase, uint8_t* target,
                           iree_host_size_t length);

#endif  // IO_INDEX_PROVIDER_H_
