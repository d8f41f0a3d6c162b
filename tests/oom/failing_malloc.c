// See failing_malloc.h. glibc and the sanitizers keep their own functions under other names for those who replace the
// usual ones.
#include "failing_malloc.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef UNDER_SANITIZER
#define SYSTEM(name) ___interceptor_##name
#else
#define SYSTEM(name) __libc_##name
#endif

void* SYSTEM(malloc)(size_t size);
void* SYSTEM(calloc)(size_t count, size_t size);
void* SYSTEM(realloc)(void* block, size_t size);
void* SYSTEM(memalign)(size_t alignment, size_t size);
void SYSTEM(free)(void* block);

static atomic_uint_least64_t count, target;
static atomic_int_least64_t live;
static atomic_bool forever, failed;
static _Thread_local struct {
  uint64_t count, target;
  bool forever;
} own;

void failing_malloc_arm(uint64_t nth, bool for_good) {
  count = 0;
  failed = false;
  forever = for_good;
  target = nth;
}

uint64_t failing_malloc_arm_thread(uint64_t nth, bool for_good) {
  uint64_t before = own.count;
  own.count = 0;
  own.forever = for_good;
  own.target = nth;
  return before;
}

uint64_t failing_malloc_count(void) { return count; }
bool failing_malloc_failed(void) { return failed; }
int64_t failing_malloc_live(void) { return live; }

static bool is_due(uint64_t now, uint64_t at, bool for_good) { return at && (for_good ? now >= at : now == at); }

static bool fails(void) {
  uint64_t now = ++count;
  bool here = is_due(++own.count, own.target, own.forever);
  if (!here && !is_due(now, target, forever)) return false;
  failed = true;
  errno = ENOMEM;
  return true;
}

// glibc itself ends the process when it cannot note a destructor of a thread's variable (target/llvm/guard.h): those
// blocks are not let fail.
static bool must_not_fail(const void* caller) {
  enum { MOST_CODE = 512 };
  static const char* noting;
  if (!noting) noting = dlsym(RTLD_DEFAULT, "__cxa_thread_atexit_impl");
  return noting && (const char*)caller >= noting && (const char*)caller < noting + MOST_CODE;
}

//===----------------------------------------------------------------------------------------------------------------===
// Traces
//===----------------------------------------------------------------------------------------------------------------===

enum { MOST_TRACES = 1 << 20, MOST_FRAMES = 16 };
typedef struct trace_t {
  void* block;
  void* frames[MOST_FRAMES];
  int frame_count;
} trace_t;
static trace_t* traces;
static uint32_t trace_count;
static _Thread_local bool is_tracing;

void failing_malloc_trace(void) {
  void* frames[1];
  backtrace(frames, 1);  // loads what it needs
  traces = SYSTEM(calloc)(MOST_TRACES, sizeof(*traces));
}

void failing_malloc_show(void) {
  for (uint32_t i = 0; traces && i < trace_count; ++i) {
    if (traces[i].block) backtrace_symbols_fd(traces[i].frames, traces[i].frame_count, STDERR_FILENO);
    if (traces[i].block) fprintf(stderr, "\n");
  }
}

static void note(void* block) {
  if (!traces || is_tracing || trace_count == MOST_TRACES) return;
  is_tracing = true;
  trace_t* trace = &traces[trace_count++];
  trace->block = block;
  trace->frame_count = backtrace(trace->frames, MOST_FRAMES);
  is_tracing = false;
}

static void forget(const void* block) {
  for (uint32_t i = trace_count; traces && i-- > 0;) {
    if (traces[i].block != block) continue;
    traces[i].block = NULL;
    return;
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// The functions
//===----------------------------------------------------------------------------------------------------------------===

static void* counted(void* block) {
  live += block != NULL;
  if (block) note(block);
  return block;
}

void* malloc(size_t size) { return fails() ? NULL : counted(SYSTEM(malloc)(size)); }
void* calloc(size_t number, size_t size) {
  bool may_fail = !must_not_fail(__builtin_return_address(0));
  return may_fail && fails() ? NULL : counted(SYSTEM(calloc)(number, size));
}
void* memalign(size_t alignment, size_t size) { return fails() ? NULL : counted(SYSTEM(memalign)(alignment, size)); }
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void** out, size_t alignment, size_t size) {
  void* block = memalign(alignment, size);
  if (!block) return ENOMEM;
  *out = block;
  return 0;
}

void* realloc(void* block, size_t size) {
  if (!block) return malloc(size);
  if (fails()) return NULL;
  void* moved = SYSTEM(realloc)(block, size);
  if (moved) {
    forget(block);
    note(moved);
  }
  return moved;
}

void free(void* block) {
  live -= block != NULL;
  if (block) forget(block);
  SYSTEM(free)(block);
}
