// Mutual exclusion. `iree_mutex_t` blocks in the kernel and checks nothing; `iree_slim_mutex_t` is one word that costs
// an atomic when nobody contends. Neither is recursive.
#ifndef IREE_BASE_THREADING_MUTEX_H_
#define IREE_BASE_THREADING_MUTEX_H_

#include <pthread.h>
#include <stdbool.h>

#include "iree/base/internal/atomics.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_mutex_t {
  pthread_mutex_t value;
} iree_mutex_t;

IREE_API_EXPORT void iree_mutex_initialize(iree_mutex_t* out_mutex);
IREE_API_EXPORT void iree_mutex_deinitialize(iree_mutex_t* mutex);
IREE_API_EXPORT void iree_mutex_lock(iree_mutex_t* mutex);
IREE_API_EXPORT bool iree_mutex_try_lock(iree_mutex_t* mutex);
IREE_API_EXPORT void iree_mutex_unlock(iree_mutex_t* mutex);

typedef struct iree_slim_mutex_t {
  iree_atomic_int32_t value;  // 0 free, 1 held, 2 held and waited for
} iree_slim_mutex_t;

IREE_API_EXPORT void iree_slim_mutex_initialize(iree_slim_mutex_t* out_mutex);
IREE_API_EXPORT void iree_slim_mutex_deinitialize(iree_slim_mutex_t* mutex);
IREE_API_EXPORT void iree_slim_mutex_lock(iree_slim_mutex_t* mutex);
IREE_API_EXPORT bool iree_slim_mutex_try_lock(iree_slim_mutex_t* mutex);
IREE_API_EXPORT void iree_slim_mutex_unlock(iree_slim_mutex_t* mutex);

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_THREADING_MUTEX_H_
