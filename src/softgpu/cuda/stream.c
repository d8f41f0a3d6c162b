// Queues of operations and the threads that drain them.
#include "softgpu/cuda/stream.h"

#include <stdlib.h>

#include "softgpu/cuda/calls.h"
#include "softgpu/cuda/capture.h"

stream_t* stream_next(const stream_t* stream) { return stream->next; }
bool stream_is_executing(const stream_t* stream) { return stream->is_executing; }
void stream_retain(stream_t* stream) { ++stream->references; }

void stream_release(stream_t* stream) {
  if (!stream || --stream->references) return;
  pthread_cond_destroy(&stream->wake);
  free(stream->tails);
  free(stream);
}

static void release_waits(operation_t* operation) {
  for (uint32_t i = 0; i < operation->wait_count; ++i) stream_release(operation->waits[i].stream);
  free(operation->waits);
  operation->waits = NULL;
  operation->wait_count = 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// The thread of a stream
//===----------------------------------------------------------------------------------------------------------------===

static bool is_stopped(const stream_t* stream) { return __atomic_load_n(&stream->context->stops, __ATOMIC_ACQUIRE); }

static void await_places(stream_t* stream, const operation_t* operation) {
  for (uint32_t i = 0; i < operation->wait_count; ++i) {
    while (!place_is_done(&operation->waits[i]) && !is_stopped(stream)) {
      pthread_cond_wait(&driver.progress, &driver.lock);
    }
  }
}

// What is left of a context with an error is not done, but for callbacks, which hear of it.
static void execute(stream_t* stream, operation_t* operation) {
  context_t* context = stream->context;
  await_places(stream, operation);
  bool runs = !is_stopped(stream) && (!context_error(context) || operation->work.kind == WORK_CALLBACK);
  stream->is_executing = runs;
  driver_unlock();
  result_t result = runs ? work_run(context, &operation->work) : CUDA_SUCCESS;
  if (result != CUDA_SUCCESS) context_poison(context, result);
  work_release(&operation->work);
  driver_lock();
  stream->is_executing = false;
}

// Off the context's list, which held a reference.
static void unlink_stream(stream_t* stream) {
  stream_t** at = &stream->context->streams;
  while (*at && *at != stream) at = &(*at)->next;
  if (!*at) return;
  *at = stream->next;
  stream->next = NULL;
  stream_release(stream);
}

static void* drain(void* data) {
  stream_t* stream = data;
  driver_lock();
  for (;;) {
    while (!stream->first && !stream->is_closing) pthread_cond_wait(&stream->wake, &driver.lock);
    operation_t* operation = stream->first;
    if (!operation) break;
    execute(stream, operation);
    stream->first = operation->next;
    if (!stream->first) stream->last = &stream->first;
    stream->completed = operation->number;
    pthread_cond_broadcast(&driver.progress);
    release_waits(operation);
    free(operation);
  }
  --stream->context->threads;
  unlink_stream(stream);
  pthread_cond_broadcast(&driver.progress);
  stream_release(stream);
  driver_unlock();
  return NULL;
}

static bool start(stream_t* stream) {
  if (stream->has_thread) return true;
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  stream->has_thread = pthread_create(&thread, &attributes, drain, stream) == 0;
  pthread_attr_destroy(&attributes);
  if (!stream->has_thread) return false;
  ++stream->context->threads;
  stream_retain(stream);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Submission
//===----------------------------------------------------------------------------------------------------------------===

static bool add_wait(operation_t* operation, stream_t* stream) {
  if (stream->completed >= stream->submitted) return true;
  place_t* waits = realloc(operation->waits, (operation->wait_count + 1) * sizeof(*waits));
  if (!waits) return false;
  operation->waits = waits;
  waits[operation->wait_count++] = (place_t){stream, stream->submitted};
  stream_retain(stream);
  return true;
}

// The legacy stream waits for all that block, and they wait for it.
static bool add_implicit_waits(operation_t* operation, const stream_t* stream) {
  context_t* context = stream->context;
  if (stream->flags & STREAM_NON_BLOCKING) return true;
  if (!stream->is_legacy) return add_wait(operation, context->legacy);
  for (stream_t* other = context->streams; other; other = other->next) {
    if (other != stream && !(other->flags & STREAM_NON_BLOCKING) && !add_wait(operation, other)) return false;
  }
  return true;
}

result_t stream_enqueue(stream_t* stream, work_t* work, place_t* waits, uint32_t wait_count) {
  operation_t* operation = malloc(sizeof(*operation));
  if (operation) {
    *operation = (operation_t){.waits = waits, .wait_count = wait_count, .work = *work};
  } else {
    operation_t none = {.waits = waits, .wait_count = wait_count};
    release_waits(&none);
  }
  if (!operation || !add_implicit_waits(operation, stream) || !start(stream)) {
    if (operation) release_waits(operation);
    free(operation);
    driver_unlock();
    work_release(work);
    driver_lock();
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  operation->number = ++stream->submitted;
  *stream->last = operation;
  stream->last = &operation->next;
  pthread_cond_signal(&stream->wake);
  return CUDA_SUCCESS;
}

static result_t submit(stream_t* stream, work_t* work) {
  if (stream->capture) return capture_add(stream, work);
  result_t result = capture_forbids_legacy(stream);
  if (result == CUDA_SUCCESS) return stream_enqueue(stream, work, NULL, 0);
  driver_unlock();
  work_release(work);
  driver_lock();
  return result;
}

result_t stream_submit(stream_t* stream, work_t* work) {
  driver_lock();
  result_t result = submit(stream, work);
  driver_unlock();
  return result;
}

bool stream_is_capturing(const stream_t* stream) {
  driver_lock();
  bool result = stream->capture != NULL;
  driver_unlock();
  return result;
}

void stream_await(stream_t* stream, uint64_t number) {
  stream_retain(stream);
  while (stream->completed < number) pthread_cond_wait(&driver.progress, &driver.lock);
  stream_release(stream);
}

result_t stream_submit_and_wait(stream_t* stream, work_t* work) {
  driver_lock();
  bool waits = !stream->capture;
  result_t result = submit(stream, work);
  if (result == CUDA_SUCCESS && waits) {
    stream_await(stream, stream->submitted);
    result = context_error(stream->context);
  }
  driver_unlock();
  return result;
}

bool stream_is_behind(const stream_t* stream) {
  if (stream->completed < stream->submitted) return true;
  if (!stream->is_legacy) return false;
  for (const stream_t* at = stream->context->streams; at; at = at->next) {
    if (!(at->flags & STREAM_NON_BLOCKING) && at->completed < at->submitted) return true;
  }
  return false;
}

// Streams may come and go meanwhile: what is behind when this begins is waited for, some of it at a time.
static void await_all(const context_t* context, uint32_t without) {
  enum { MOST = 1024 };
  place_t places[MOST];
  for (bool is_done = false; !is_done;) {
    uint32_t count = 0;
    for (stream_t* at = context->streams; at && count < MOST; at = at->next) {
      if (at->completed >= at->submitted || at->flags & without) continue;
      places[count++] = (place_t){at, at->submitted};
      stream_retain(at);
    }
    is_done = count < MOST;
    for (uint32_t i = 0; i < count; ++i) {
      while (!place_is_done(&places[i])) pthread_cond_wait(&driver.progress, &driver.lock);
      stream_release(places[i].stream);
    }
  }
}

void stream_await_order(stream_t* stream) {
  if (stream->is_legacy) {
    await_all(stream->context, STREAM_NON_BLOCKING);
  } else {
    stream_await(stream, stream->submitted);
  }
}

result_t stream_synchronize_all(context_t* context) {
  driver_lock();
  await_all(context, 0);
  driver_unlock();
  return context_error(context);
}

//===----------------------------------------------------------------------------------------------------------------===
// Creation and the end
//===----------------------------------------------------------------------------------------------------------------===

static stream_t* create(context_t* context, unsigned flags, int priority, bool is_legacy) {
  stream_t* stream = malloc(sizeof(*stream));
  if (!stream) return NULL;
  *stream = (stream_t){.references = 1,
                       .context = context,
                       .flags = flags,
                       .priority = priority,
                       .id = __atomic_add_fetch(&driver.next_id, 1, __ATOMIC_RELAXED),
                       .is_legacy = is_legacy};
  stream->last = &stream->first;
  pthread_cond_init(&stream->wake, NULL);
  driver_lock();
  stream->next = context->streams;
  context->streams = stream;
  driver_unlock();
  return stream;
}

// Below driver.lock: its thread does what is left, and ends; until then the context waits for it as for others.
static void close_stream(stream_t* stream) {
  capture_drop(stream);
  stream->is_closing = true;
  pthread_cond_signal(&stream->wake);
  if (!stream->has_thread) unlink_stream(stream);
}

result_t stream_open_legacy(context_t* context) {
  context->legacy = create(context, STREAM_DEFAULT, 0, true);
  return context->legacy ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

void stream_close_all(context_t* context) {
  driver_lock();
  pthread_cond_broadcast(&driver.progress);
  for (stream_t *stream = context->streams, *next; stream; stream = next) {
    next = stream->next;
    object_remove(stream);
    close_stream(stream);
  }
  while (context->threads) pthread_cond_wait(&driver.progress, &driver.lock);
  context->legacy = NULL;
  driver_unlock();
}

//===----------------------------------------------------------------------------------------------------------------===
// The default streams
//===----------------------------------------------------------------------------------------------------------------===

// Those of one thread, by context.
typedef struct own_t {
  context_t* context;
  stream_t* stream;  // a reference
  struct own_t* next;
} own_t;

static pthread_key_t own_key;
static pthread_once_t own_once = PTHREAD_ONCE_INIT;

static bool is_open(const stream_t* stream) { return !stream->is_closing; }

static void close_own(void* data) {
  for (own_t *own = data, *next; own; own = next) {
    next = own->next;
    driver_lock();
    if (is_open(own->stream)) close_stream(own->stream);
    stream_release(own->stream);
    driver_unlock();
    free(own);
  }
}
static void create_own_key(void) { pthread_key_create(&own_key, close_own); }

static result_t find_own(context_t* context, stream_t** out_stream) {
  pthread_once(&own_once, create_own_key);
  own_t* first = pthread_getspecific(own_key);
  own_t* own = first;
  driver_lock();
  while (own && (own->context != context || !is_open(own->stream))) own = own->next;
  driver_unlock();
  if (!own) {
    own = malloc(sizeof(*own));
    stream_t* stream = own ? create(context, STREAM_DEFAULT, 0, false) : NULL;
    if (!stream) return free(own), CUDA_ERROR_OUT_OF_MEMORY;
    driver_lock();
    stream_retain(stream);
    driver_unlock();
    *own = (own_t){context, stream, first};
    pthread_setspecific(own_key, own);
  }
  *out_stream = own->stream;
  return CUDA_SUCCESS;
}

result_t stream_find(stream_t* handle, context_t* context, stream_t** out_stream) {
  if (handle == STREAM_PER_THREAD || (!handle && driver_per_thread)) return find_own(context, out_stream);
  if (!handle || handle == STREAM_LEGACY) {
    *out_stream = context->legacy;
    return CUDA_SUCCESS;
  }
  REQUIRE(object_is(handle, OBJECT_STREAM), CUDA_ERROR_INVALID_HANDLE);
  *out_stream = handle;
  return context_error(handle->context);
}

//===----------------------------------------------------------------------------------------------------------------===
// Calls
//===----------------------------------------------------------------------------------------------------------------===

result_t cuStreamCreateWithPriority(stream_t** out, unsigned flags, int priority) {
  context_t* context;
  CHECK(context_enter(&context));
  REQUIRE(out && !(flags & ~STREAM_NON_BLOCKING), CUDA_ERROR_INVALID_VALUE);
  if (priority > STREAM_LEAST_PRIORITY) priority = STREAM_LEAST_PRIORITY;
  if (priority < STREAM_GREATEST_PRIORITY) priority = STREAM_GREATEST_PRIORITY;
  stream_t* stream = create(context, flags, priority, false);
  REQUIRE(stream, CUDA_ERROR_OUT_OF_MEMORY);
  if (!object_add(stream, OBJECT_STREAM)) {
    driver_lock();
    close_stream(stream);
    driver_unlock();
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *out = stream;
  return CUDA_SUCCESS;
}
result_t cuStreamCreate(stream_t** out, unsigned flags) { return cuStreamCreateWithPriority(out, flags, 0); }

// Returns at once; what is queued is still done.
result_t cuStreamDestroy_v2(stream_t* stream) {
  CHECK(driver_enter());
  REQUIRE(object_is(stream, OBJECT_STREAM), CUDA_ERROR_INVALID_HANDLE);
  object_remove(stream);
  driver_lock();
  close_stream(stream);
  driver_unlock();
  return CUDA_SUCCESS;
}
result_t cuStreamDestroy(stream_t* stream) { return cuStreamDestroy_v2(stream); }
