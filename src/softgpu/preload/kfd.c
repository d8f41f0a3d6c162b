// What programs ask of the kernel's driver before they use HSA: whether the module amdgpu is loaded, and /dev/kfd.
//
// iree-softgpu preloads this library. /dev/kfd opens as /dev/null; the one request that user space makes itself, the
// clock counters, is answered; `lsmod` lists amdgpu; the driver's description of the GPUs is topology.c's. Everything
// else goes to the C library.
#include <dirent.h>
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

#include "softgpu/preload/topology.h"

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
  char place[TOPOLOGY_MAX_PATH];
  int (*original)(const char*, int, ...) = (int (*)(const char*, int, ...))next(name);
  int file = original(is_kfd(path) ? "/dev/null" : topology_path(path, place), flags, mode);
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

// A function of the C library whose first argument is a path that may be the description's.
#define AT_PATH(result, name, type, argument)                                           \
  __attribute__((visibility("default"))) result name(const char* path, type argument);  \
  result name(const char* path, type argument) {                                        \
    char place[TOPOLOGY_MAX_PATH];                                                      \
    result (*original)(const char*, type) = (result (*)(const char*, type))next(#name); \
    return original(topology_path(path, place), argument);                              \
  }
#undef fopen
#undef fopen64
#undef stat
#undef stat64
#undef lstat
#undef lstat64
AT_PATH(FILE*, fopen, const char*, mode)
AT_PATH(FILE*, fopen64, const char*, mode)
AT_PATH(int, stat, struct stat*, out)
AT_PATH(int, stat64, struct stat64*, out)
AT_PATH(int, lstat, struct stat*, out)
AT_PATH(int, lstat64, struct stat64*, out)

__attribute__((visibility("default"))) DIR* opendir(const char* path) {
  char place[TOPOLOGY_MAX_PATH];
  DIR* (*original)(const char*) = (DIR * (*)(const char*)) next("opendir");
  return original(topology_path(path, place));
}

__attribute__((visibility("default"))) FILE* popen(const char* command, const char* type) {
  FILE* (*original)(const char*, const char*) = (FILE * (*)(const char*, const char*)) next("popen");
  bool lists = strncmp(command, "lsmod", 5) == 0;
  return original(lists ? "echo 'amdgpu 0 0'" : command, type);
}

__attribute__((visibility("default"))) int access(const char* path, int mode) {
  char place[TOPOLOGY_MAX_PATH];
  int (*original)(const char*, int) = (int (*)(const char*, int))next("access");
  return original(is_kfd(path) ? "/dev/null" : topology_path(path, place), mode);
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
