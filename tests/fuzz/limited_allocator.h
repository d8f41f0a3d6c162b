// Memory for fuzzing: what a program may ask for is bounded, so that running out of memory is a status and no crash.
#ifndef TESTS_FUZZ_LIMITED_ALLOCATOR_H_
#define TESTS_FUZZ_LIMITED_ALLOCATOR_H_

#include <malloc.h>
#include <stdlib.h>

#include "iree/base/api.h"

enum { LIMITED_BYTES = 64 << 20 };

static inline iree_status_t limited_ctl(void* self, iree_allocator_command_t command, const void* params,
                                        void** inout_ptr) {
  size_t* used = self;
  bool frees = command == IREE_ALLOCATOR_COMMAND_FREE, has_block = frees || command == IREE_ALLOCATOR_COMMAND_REALLOC;
  size_t old_size = has_block && *inout_ptr ? malloc_usable_size(*inout_ptr) : 0;
  if (!frees) {
    size_t size = ((const iree_allocator_alloc_params_t*)params)->byte_length;
    if (size > LIMITED_BYTES || *used - old_size > LIMITED_BYTES - size) {
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "fuzzing memory limit");
    }
  }
  iree_status_t status = iree_allocator_libc_ctl(NULL, command, params, inout_ptr);
  if (!iree_status_is_ok(status)) return status;
  *used -= old_size;
  if (!frees && *inout_ptr) *used += malloc_usable_size(*inout_ptr);
  return status;
}

// `used` is the caller's, 0 at first.
static inline iree_allocator_t limited_allocator(size_t* used) { return (iree_allocator_t){used, limited_ctl}; }

#endif  // TESTS_FUZZ_LIMITED_ALLOCATOR_H_
