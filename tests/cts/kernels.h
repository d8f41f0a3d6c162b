// Functions of the test library (kernels.c), by ordinal.
#ifndef TESTS_CTS_KERNELS_H_
#define TESTS_CTS_KERNELS_H_

enum {
  CTS_EMPTY,        // nothing
  CTS_SCALE,        // binding 1 [group] = binding 0 [group] * constant 0 + constant 1; 32-bit words
  CTS_IDS,          // binding 0 [linear group] = x | y << 8 | z << 16 | count of groups << 24
  CTS_ACCUMULATE,   // binding 0 [0] += 1, atomically
  CTS_SCRATCH,      // fills its scratch with the group's number, checks it, binding 0 [group] = group
  CTS_FAIL,         // fails in group constant 0
  CTS_SEQUENTIAL,   // binding 0 [0] = binding 0 [0] * 3 + group: only right in order
  CTS_CONSTANT,     // binding 0 [0] = specialization constant 0
  CTS_STORE_COUNT,  // binding 0 [0..2] = constants 0..2
  CTS_WIDE,         // binding 0 [0] += 1, atomically, for each of 64 work-items of a workgroup
  CTS_KERNEL_COUNT
};

#endif  // TESTS_CTS_KERNELS_H_
