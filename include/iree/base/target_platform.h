// What is compiled for: architecture (IREE_ARCH_*), byte order, compiler and operating system, each as a macro that is
// defined to 1 or not at all.
#ifndef IREE_BASE_TARGET_PLATFORM_H_
#define IREE_BASE_TARGET_PLATFORM_H_

#if defined(__x86_64__)
#define IREE_ARCH "x86_64"
#define IREE_ARCH_X86_64 1
#elif defined(__i386__)
#define IREE_ARCH "x86_32"
#define IREE_ARCH_X86_32 1
#elif defined(__aarch64__)
#define IREE_ARCH "arm_64"
#define IREE_ARCH_ARM_64 1
#elif defined(__arm__)
#define IREE_ARCH "arm_32"
#define IREE_ARCH_ARM_32 1
#elif defined(__riscv) && __riscv_xlen == 64
#define IREE_ARCH "riscv_64"
#define IREE_ARCH_RISCV_64 1
#elif defined(__riscv) && __riscv_xlen == 32
#define IREE_ARCH "riscv_32"
#define IREE_ARCH_RISCV_32 1
#else
#error "this architecture is not known here: add its IREE_ARCH_* row"
#endif

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "little-endian machines only"
#endif
#define IREE_ENDIANNESS_LITTLE 1

#if defined(__clang__)
#define IREE_COMPILER_CLANG 1
#elif defined(__GNUC__)
#define IREE_COMPILER_GCC 1
#else
#error "GCC or Clang is needed"
#endif
#define IREE_COMPILER_GCC_COMPAT 1

#if defined(__linux__)
#define IREE_PLATFORM_LINUX 1
#endif

#if defined(__SANITIZE_ADDRESS__)
#define IREE_SANITIZER_ADDRESS 1
#endif
#if defined(__SANITIZE_THREAD__)
#define IREE_SANITIZER_THREAD 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(IREE_SANITIZER_ADDRESS)
#define IREE_SANITIZER_ADDRESS 1
#endif
#if __has_feature(thread_sanitizer) && !defined(IREE_SANITIZER_THREAD)
#define IREE_SANITIZER_THREAD 1
#endif
#endif

#endif  // IREE_BASE_TARGET_PLATFORM_H_
