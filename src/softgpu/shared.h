// Memory of the process, which other threads may touch at the same time. Kernels load and store atomically with the
// instructions that they load and store anything with, so under the thread sanitizer every access counts as atomic,
// dword by dword; what it then still sees are accesses that nothing orders against the host's.
#ifndef IREE_C_SOFTGPU_SHARED_H_
#define IREE_C_SOFTGPU_SHARED_H_

#include <stdint.h>
#include <string.h>

#if defined(__SANITIZE_THREAD__)
#define SHARED_IS_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SHARED_IS_WATCHED 1
#endif
#endif
#ifndef SHARED_IS_WATCHED
#define SHARED_IS_WATCHED 0
#endif

static inline void shared_read(void* to, const void* from, uint32_t bytes) {
  uint32_t step = (uintptr_t)from % 4 == 0 ? 4 : 1;
  if (!SHARED_IS_WATCHED) {
    memcpy(to, from, bytes);
    return;
  }
  for (uint32_t k = 0; k < bytes; k += step) {
    if (bytes - k < 4) step = 1;
    uint32_t value = step == 4 ? __atomic_load_n((const uint32_t*)((const char*)from + k), __ATOMIC_RELAXED)
                               : __atomic_load_n((const uint8_t*)from + k, __ATOMIC_RELAXED);
    memcpy((char*)to + k, &value, step);
  }
}

static inline void shared_write(void* to, const void* from, uint32_t bytes) {
  uint32_t step = (uintptr_t)to % 4 == 0 ? 4 : 1;
  if (!SHARED_IS_WATCHED) {
    memcpy(to, from, bytes);
    return;
  }
  for (uint32_t k = 0; k < bytes; k += step) {
    if (bytes - k < 4) step = 1;
    uint32_t value = 0;
    memcpy(&value, (const char*)from + k, step);
    if (step == 4) {
      __atomic_store_n((uint32_t*)((char*)to + k), value, __ATOMIC_RELAXED);
    } else {
      __atomic_store_n((uint8_t*)to + k, (uint8_t)value, __ATOMIC_RELAXED);
    }
  }
}

#endif  // IREE_C_SOFTGPU_SHARED_H_
