// What a program needs of a device's memory.
#ifndef IREE_C_COMPILER_HOST_MEMORY_H_
#define IREE_C_COMPILER_HOST_MEMORY_H_

#include <stdbool.h>
#include <stdint.h>

// As far as it is known before the program runs; bytes.
typedef struct host_memory_t {
  const char* function;  // the one that takes most at a time, lives as long as the IR; NULL: none has tensors
  int64_t temporaries, arguments, results;  // its own
  int64_t constants;                        // of the whole program
  bool is_least;                            // sizes that only arguments tell come on top
} host_memory_t;

#endif  // IREE_C_COMPILER_HOST_MEMORY_H_
