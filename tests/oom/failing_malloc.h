// malloc and its kin, for the whole process, LLVM and libc included: what is allocated is counted, and one allocation,
// or every one from it on, can be made to fail. In sanitizers' builds the blocks are theirs.
#ifndef IREE_C_TESTS_OOM_FAILING_MALLOC_H_
#define IREE_C_TESTS_OOM_FAILING_MALLOC_H_

#include <stdbool.h>
#include <stdint.h>

// The `nth` allocation from now on fails, 1 is the next; with `for_good` all behind it too. 0: none.
void failing_malloc_arm(uint64_t nth, bool for_good);
// Allocations since then, and whether one has failed.
uint64_t failing_malloc_count(void);
bool failing_malloc_failed(void);
// The same for the calling thread's alone, which returns how many it made since the last time.
uint64_t failing_malloc_arm_thread(uint64_t nth, bool for_good);
// From now on where blocks come from is remembered, slowly; and shown, of those that are not freed, on standard error.
void failing_malloc_trace(void);
void failing_malloc_show(void);
// Blocks that are not freed.
int64_t failing_malloc_live(void);

#endif  // IREE_C_TESTS_OOM_FAILING_MALLOC_H_
