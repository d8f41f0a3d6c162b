// Reads the table of a .irpa archive.
#ifndef IREE_IO_FORMATS_IRPA_IRPA_PARSER_H_
#define IREE_IO_FORMATS_IRPA_IRPA_PARSER_H_

#include "iree/base/api.h"
#include "iree/io/file_handle.h"
#include "iree/io/parameter_index.h"

#ifdef __cplusplus
extern "C" {
#endif

// Adds all entries to `index`, but those whose key it has already. Errors: INVALID_ARGUMENT for another format or a
// damaged archive, UNIMPLEMENTED for what is valid but not supported.
IREE_API_EXPORT iree_status_t iree_io_parse_irpa_index(iree_io_file_handle_t* file_handle,
                                                       iree_io_parameter_index_t* index,
                                                       iree_allocator_t host_allocator);

#ifdef __cplusplus
}
#endif

#endif  // IREE_IO_FORMATS_IRPA_IRPA_PARSER_H_
