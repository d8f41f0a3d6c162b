// Counts what a test program and the libraries that are linked into it allocate and lock: the linker puts these
// functions in the place of malloc and its kind, and of mutexes (CMakeLists.txt). A GPU's library, which is loaded, is
// not counted.
#ifndef TESTS_CTS_COUNTING_H_
#define TESTS_CTS_COUNTING_H_

#include <stdint.h>

// Allocations so far, by all threads.
uint64_t counting_calls(void);
// Blocks that are not freed.
int64_t counting_live(void);
// Mutexes that this thread has locked so far.
uint64_t counting_locks(void);

#endif  // TESTS_CTS_COUNTING_H_
