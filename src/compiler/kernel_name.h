// Names of kernels: what stands in them beside what they compute.
#ifndef IREE_C_COMPILER_KERNEL_NAME_H_
#define IREE_C_COMPILER_KERNEL_NAME_H_

#include <stddef.h>

// Of "main_dispatch_0_matmul_4x4x4_f32" the part that an executable is known by: the size of "main_dispatch_0".
size_t kernel_name_short_size(const char* name);

#endif  // IREE_C_COMPILER_KERNEL_NAME_H_
