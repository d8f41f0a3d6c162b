// What programs ask of the kernel's driver before they use HSA: whether the module amdgpu is loaded, and /dev/kfd.
//
// iree-softgpu preloads this library. /dev/kfd opens as /dev/null; the one request that user space makes itself, the
// clock counters, is answered; `lsmod` lists amdgpu. Everything else goes to the C library.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>

// AMDKFD_IOC_GET_CLOCK_COUNTERS of linux/kfd_ioctl.h
typedef struct kfd_clocks_t {
  uint64_t gpu, cpu, system, system_frequency;
  uint32_t gpu_id, padding;
} kfd_clocks_t;
#define KFD_GET_CLOCKS _IOWR('K', 5, kfd_clocks_t)

static int kfd_file = -1;

static int is_kfd(const char* path) { return path && strcmp(path, "/dev/kfd") == 0; }

static void* next(const char* name) { return dlsym(RTLD_NEXT, name); }

static int open_any(const char* name, const char* path, int flags, mode_t mode) {
  int (*original)(const char*, int, ...) = (int (*)(const char*, int, ...))next(name);
  int file = original(is_kfd(path) ? "/dev/null" : path, flags, mode);
  if (is_kfd(path) && file >= 0) kfd_file = file;
  return file;
}

#define OPEN(name)                                                                   \
  __attribute__((visibility("default"))) int name(const char* path, int flags, ...); \
  int name(const char* path, int flags, ...) {                                       \
    va_list args;                                                                    \
    va_start(args, flags);                                                           \
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, mode_t) : 0;        \
    va_end(args);                                                                    \
    return open_any(#name, path, flags, mode);                                       \
  }
#undef open
#undef open64
OPEN(open)
OPEN(open64)

__attribute__((visibility("default"))) FILE* popen(const char* command, const char* type) {
  FILE* (*original)(const char*, const char*) = (FILE * (*)(const char*, const char*)) next("popen");
  bool lists = strncmp(command, "lsmod", 5) == 0;
  return original(lists ? "echo 'amdgpu 0 0'" : command, type);
}

__attribute__((visibility("default"))) int access(const char* path, int mode) {
  int (*original)(const char*, int) = (int (*)(const char*, int))next("access");
  return original(is_kfd(path) ? "/dev/null" : path, mode);
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

__attribute__((visibility("default"))) int ioctl(int file, unsigned long request, ...) {
  va_list args;
  va_start(args, request);
  void* argument = va_arg(args, void*);
  va_end(args);
  if (file == kfd_file && file >= 0) {
    kfd_clocks_t* clocks = argument;
    if (request != KFD_GET_CLOCKS) return errno = EINVAL, -1;
    uint64_t time = now();
    *clocks = (kfd_clocks_t){time / 10, time, time, 1000000000, clocks->gpu_id, 0};
    return 0;
  }
  int (*original)(int, unsigned long, ...) = (int (*)(int, unsigned long, ...))next("ioctl");
  return original(file, request, argument);
}
