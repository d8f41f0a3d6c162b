// What the files of libIREECompiler share. Objects are allocated with malloc and checked: an error where memory runs
// out is NULL's stand-in `embedding_no_memory`.
#ifndef IREE_C_EMBEDDING_EMBEDDING_H_
#define IREE_C_EMBEDDING_EMBEDDING_H_

#include "iree/compiler/embedding_api.h"

struct iree_compiler_error_t {
  char* message;
};
// printf's; never NULL.
iree_compiler_error_t* embedding_error(const char* format, ...) __attribute__((format(printf, 1, 2)));
iree_compiler_error_t* embedding_no_memory(void);

// Flags as they were given, each a string of its own.
typedef struct embedding_flags_t {
  char** items;
  size_t count;
} embedding_flags_t;
// All or, when memory runs out, none of them.
bool embedding_flags_add(embedding_flags_t* flags, int count, const char* const* items);
void embedding_flags_finish(embedding_flags_t* flags);
// Those that sessions begin with.
const embedding_flags_t* embedding_global_flags(void);

struct iree_compiler_session_t {
  embedding_flags_t flags;
};

struct iree_compiler_source_t {
  char* name;
  const char* data;
  size_t size;
  size_t mapped;  // bytes to unmap
  void* owned;    // to free
};

#endif  // IREE_C_EMBEDDING_EMBEDDING_H_
