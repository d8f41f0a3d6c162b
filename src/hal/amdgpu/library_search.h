// Finding a vendor's library at run time. A path is used as it is when it names a file, and with the library's names
// added when it names a folder.
#ifndef IREE_C_HAL_AMDGPU_LIBRARY_SEARCH_H_
#define IREE_C_HAL_AMDGPU_LIBRARY_SEARCH_H_

#include "iree/base/api.h"

typedef struct library_search_t {
  const char* names[2];
  // Takes the entry points out of a library; NULL, or the first name that is missing.
  const char* (*resolve)(void* table, void* library);
  void* table;
  // What follows is the search's own.
  void* library;                // of dlopen; NULL until it is found
  bool found_old;               // a library that lacks entry points
  iree_string_builder_t tried;  // "\n  path: why"
} library_search_t;

void library_search_begin(library_search_t* search, iree_allocator_t host_allocator);
void library_search_end(library_search_t* search);

// Each does nothing once the library is found. Errors: of memory, and INVALID_ARGUMENT for paths that are too long.
iree_status_t library_search_path(library_search_t* search, iree_string_view_t path);
// Those of an environment variable, separated by `:` or `;`. Of folders that are for anything (PATH) only those count
// that have such a file.
iree_status_t library_search_variable(library_search_t* search, const char* name, bool is_for_anything);
// The folder of the library that has the function; and where the system looks.
iree_status_t library_search_beside(library_search_t* search, const void* function);
iree_status_t library_search_system(library_search_t* search);

#endif  // IREE_C_HAL_AMDGPU_LIBRARY_SEARCH_H_
