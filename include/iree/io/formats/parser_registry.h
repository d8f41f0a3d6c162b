// Reads the table of an archive of parameters, whatever its format.
#ifndef IREE_IO_FORMATS_PARSER_REGISTRY_H_
#define IREE_IO_FORMATS_PARSER_REGISTRY_H_

#include "iree/base/api.h"
#include "iree/io/file_handle.h"
#include "iree/io/parameter_index.h"

#ifdef __cplusplus
extern "C" {
#endif

// Adds all entries to `index`, but those whose key it has already. The format is told by what the file begins with;
// `path` is for messages. Errors: INVALID_ARGUMENT for what is no archive or a damaged one.
IREE_API_EXPORT iree_status_t iree_io_parse_file_index(iree_string_view_t path, iree_io_file_handle_t* file_handle,
                                                       iree_io_parameter_index_t* index,
                                                       iree_allocator_t host_allocator);

#ifdef __cplusplus
}
#endif

#endif  // IREE_IO_FORMATS_PARSER_REGISTRY_H_
