// Run something once per process.
#ifndef IREE_BASE_THREADING_CALL_ONCE_H_
#define IREE_BASE_THREADING_CALL_ONCE_H_

#include <pthread.h>

#define IREE_ONCE_FLAG_INIT PTHREAD_ONCE_INIT
typedef pthread_once_t iree_once_flag;
// Every caller returns after `func` has run to its end, once.
static inline void iree_call_once(iree_once_flag* flag, void (*func)(void)) { (void)pthread_once(flag, func); }

#endif  // IREE_BASE_THREADING_CALL_ONCE_H_
