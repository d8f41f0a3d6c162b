#include "counting.h"

#include <stdatomic.h>
#include <stddef.h>

#include "iree/base/threading/mutex.h"

static atomic_uint_least64_t calls;
static atomic_int_least64_t live;

static _Thread_local uint64_t locks;

uint64_t counting_calls(void) { return calls; }
int64_t counting_live(void) { return live; }
uint64_t counting_locks(void) { return locks; }

static void* count(void* block) {
  ++calls;
  if (block) ++live;
  return block;
}

void* __real_malloc(size_t size);
void* __real_calloc(size_t count, size_t size);
void* __real_realloc(void* block, size_t size);
void* __real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void** out_block, size_t alignment, size_t size);
void __real_free(void* block);

void* __wrap_malloc(size_t size) { return count(__real_malloc(size)); }
void* __wrap_calloc(size_t item_count, size_t size) { return count(__real_calloc(item_count, size)); }
void* __wrap_aligned_alloc(size_t alignment, size_t size) { return count(__real_aligned_alloc(alignment, size)); }

void* __wrap_realloc(void* block, size_t size) {
  void* result = __real_realloc(block, size);
  if (block && result) --live;
  return count(result);
}

int __wrap_posix_memalign(void** out_block, size_t alignment, size_t size) {
  int error = __real_posix_memalign(out_block, alignment, size);
  count(error ? NULL : *out_block);
  return error;
}

void __wrap_free(void* block) {
  if (block) --live;
  __real_free(block);
}

//===----------------------------------------------------------------------------------------------------------------===
// Locks
//===----------------------------------------------------------------------------------------------------------------===

void __real_iree_slim_mutex_lock(iree_slim_mutex_t* mutex);
bool __real_iree_slim_mutex_try_lock(iree_slim_mutex_t* mutex);
int __real_pthread_mutex_lock(pthread_mutex_t* mutex);
int __real_pthread_mutex_trylock(pthread_mutex_t* mutex);

void __wrap_iree_slim_mutex_lock(iree_slim_mutex_t* mutex) {
  ++locks;
  __real_iree_slim_mutex_lock(mutex);
}

bool __wrap_iree_slim_mutex_try_lock(iree_slim_mutex_t* mutex) {
  ++locks;
  return __real_iree_slim_mutex_try_lock(mutex);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t* mutex) {
  ++locks;
  return __real_pthread_mutex_lock(mutex);
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t* mutex) {
  ++locks;
  return __real_pthread_mutex_trylock(mutex);
}
