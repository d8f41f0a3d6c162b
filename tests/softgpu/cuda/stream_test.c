// Streams and events: what runs in order, what waits for what, what a call returns before.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda_test.h"

// The entry points of programs that are compiled for a default stream of each thread.
result_t cuMemsetD32Async_ptsz(uint64_t target, uint32_t value, size_t count, stream_t* stream);
result_t cuStreamQuery_ptsz(stream_t* stream);
result_t cuLaunchHostFunc_ptsz(stream_t* stream, host_call_t call, void* data);
result_t cuStreamSynchronize_ptsz(stream_t* stream);

static void calls_return_at_once(void** state) {
  stream_t* stream;
  test_gate_t gate = {0};
  uint64_t word = test_words(1, 1);
  OK(cuStreamCreate(&stream, STREAM_NON_BLOCKING));
  OK(cuStreamQuery(stream));
  OK(cuLaunchHostFunc(stream, test_wait_at, &gate));
  OK(cuMemsetD32Async(word, 7, 1, stream));
  FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
  assert_int_equal(test_word(word), 1);
  test_open(&gate);
  OK(cuStreamSynchronize(stream));
  OK(cuStreamQuery(stream));
  assert_int_equal(test_word(word), 7);
  OK(cuStreamDestroy_v2(stream));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(stream));
}

static void kernels_run_in_order(void** state) {
  enum { COUNT = 64 };
  stream_t* stream;
  uint64_t words = test_words(COUNT, 1);
  uint32_t count = COUNT, out[COUNT];
  function_t* scale = test_function("scale");
  OK(cuStreamCreate(&stream, STREAM_DEFAULT));
  for (uint32_t factor = 2; factor < 6; ++factor) {
    void* parameters[] = {&words, &count, &factor};
    OK(cuLaunchKernel(scale, 4, 1, 1, 16, 1, 1, 0, stream, parameters, NULL));
  }
  OK(cuMemcpyDtoHAsync_v2(out, words, sizeof(out), stream));
  for (uint32_t i = 0; i < COUNT; ++i) assert_int_equal(out[i], 120);
}

// The legacy stream waits for those that block, and they wait for it.
static void legacy_stream(void** state) {
  stream_t *blocking, *free;
  test_gate_t gate = {0}, legacy = {0};
  uint64_t words = test_words(3, 0);
  OK(cuStreamCreate(&blocking, STREAM_DEFAULT));
  OK(cuStreamCreate(&free, STREAM_NON_BLOCKING));
  OK(cuLaunchHostFunc(blocking, test_wait_at, &gate));
  OK(cuLaunchHostFunc(NULL, test_wait_at, &legacy));
  OK(cuMemsetD32Async(words, 1, 1, free));
  OK(cuStreamSynchronize(free));
  test_until_there(&gate);
  FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(STREAM_LEGACY));
  assert_int_equal(__atomic_load_n(&legacy.is_there, __ATOMIC_ACQUIRE), 0);
  test_open(&gate);
  test_until_there(&legacy);
  OK(cuMemsetD32Async(words + 4, 1, 1, blocking));
  FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(blocking));
  test_open(&legacy);
  OK(cuStreamSynchronize(blocking));
  assert_int_equal(test_word(words + 4), 1);
}

static void* in_thread(void* data) {
  test_gate_t* gate = data;
  OK(cuCtxSetCurrent(test_context));
  FAILS(CUDA_SUCCESS, cuStreamQuery_ptsz(NULL));
  FAILS(CUDA_SUCCESS, cuStreamQuery(STREAM_PER_THREAD));
  test_open(gate);
  return NULL;
}

static void stream_of_each_thread(void** state) {
  pthread_t thread;
  test_gate_t gate = {0};
  OK(cuLaunchHostFunc_ptsz(NULL, test_wait_at, &gate));
  FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery_ptsz(NULL));
  FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(STREAM_PER_THREAD));
  assert_int_equal(pthread_create(&thread, NULL, in_thread, &gate), 0);
  pthread_join(thread, NULL);
  OK(cuStreamSynchronize_ptsz(NULL));
}

static void events_order_streams(void** state) {
  stream_t *first, *second;
  event_t* event;
  test_gate_t gate = {0};
  uint64_t word = test_words(1, 1);
  OK(cuStreamCreate(&first, STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&second, STREAM_NON_BLOCKING));
  OK(cuEventCreate(&event, EVENT_DISABLE_TIMING));
  OK(cuEventQuery(event));
  OK(cuLaunchHostFunc(first, test_wait_at, &gate));
  OK(cuMemsetD32Async(word, 2, 1, first));
  OK(cuEventRecord(event, first));
  OK(cuStreamWaitEvent(second, event, 0));
  OK(cuMemsetD32Async(word, 3, 1, second));
  FAILS(CUDA_ERROR_NOT_READY, cuEventQuery(event));
  test_open(&gate);
  OK(cuStreamSynchronize(second));
  OK(cuEventSynchronize(event));
  assert_int_equal(test_word(word), 3);
  float time;
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&time, event, event));
  OK(cuEventDestroy_v2(event));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(event, first));
}

static void events_tell_time(void** state) {
  event_t *begin, *end;
  stream_t* stream;
  test_gate_t gate = {0};
  float time = -1;
  OK(cuStreamCreate(&stream, STREAM_NON_BLOCKING));
  OK(cuEventCreate(&begin, 0));
  OK(cuEventCreate(&end, EVENT_BLOCKING_SYNC));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&time, begin, end));
  OK(cuEventRecord(begin, stream));
  OK(cuLaunchHostFunc(stream, test_wait_at, &gate));
  OK(cuEventRecord(end, stream));
  FAILS(CUDA_ERROR_NOT_READY, cuEventElapsedTime(&time, begin, end));
  test_until_there(&gate);
  test_pause();
  test_open(&gate);
  OK(cuEventSynchronize(end));
  OK(cuEventElapsedTime(&time, begin, end));
  assert_true(time > 0);
}

// What an event is waited for by is what it was recorded at when the wait was asked for.
static void events_of_other_gpus(void** state) {
  context_t* other;
  stream_t *here, *there;
  event_t* event;
  test_gate_t gate = {0}, later = {0};
  OK(cuStreamCreate(&here, STREAM_NON_BLOCKING));
  OK(cuEventCreate(&event, EVENT_DISABLE_TIMING));
  OK(cuLaunchHostFunc(here, test_wait_at, &gate));
  OK(cuEventRecord(event, here));
  OK(cuDevicePrimaryCtxRetain(&other, 1));
  OK(cuCtxPushCurrent_v2(other));
  OK(cuStreamCreate(&there, STREAM_NON_BLOCKING));
  OK(cuStreamWaitEvent(there, event, 0));
  FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(there));
  OK(cuCtxPopCurrent_v2(NULL));
  OK(cuLaunchHostFunc(here, test_wait_at, &later));
  OK(cuEventRecord(event, here));
  test_open(&gate);
  OK(cuCtxPushCurrent_v2(other));
  OK(cuStreamSynchronize(there));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(event, there));
  OK(cuCtxPopCurrent_v2(NULL));
  FAILS(CUDA_ERROR_NOT_READY, cuEventQuery(event));
  test_open(&later);
  OK(cuEventSynchronize(event));
  OK(cuDevicePrimaryCtxRelease_v2(1));
}

static void waits_for_values(void** state) {
  stream_t *first, *second;
  uint64_t word = test_words(4, 0);
  OK(cuStreamCreate(&first, STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&second, STREAM_NON_BLOCKING));
  OK(cuStreamWaitValue32_v2(first, word, 5, WAIT_EQ));
  OK(cuStreamWaitValue64_v2(first, word + 8, UINT64_C(1) << 40, WAIT_AND));
  FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(first));
  OK(cuStreamWriteValue32_v2(second, word, 5, 0));
  OK(cuStreamWriteValue64_v2(second, word + 8, UINT64_C(3) << 40, 0));
  OK(cuStreamSynchronize(first));
  mem_op_t ops[] = {{.operation = MEM_OP_WRITE_32, .address = word, .value = 9},
                    {.operation = MEM_OP_WAIT_32, .address = word, .value = 9, .flags = WAIT_GEQ}};
  OK(cuStreamBatchMemOp_v2(first, 2, ops, 0));
  OK(cuStreamSynchronize(first));
  assert_int_equal(test_word(word), 9);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32_v2(first, word + 2, 5, WAIT_EQ));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32_v2(first, 64, 5, WAIT_EQ));
}

static result_t seen[3];
static void calls_back(stream_t* stream, result_t status, void* data) {
  uint64_t address;
  seen[0] = status;
  seen[1] = cuMemAlloc_v2(&address, 4);
  seen[2] = data == stream;
}

static void callbacks_call_nothing(void** state) {
  stream_t* stream;
  OK(cuStreamCreate(&stream, STREAM_NON_BLOCKING));
  OK(cuStreamAddCallback(stream, calls_back, stream, 0));
  OK(cuStreamSynchronize(stream));
  assert_int_equal(seen[0], CUDA_SUCCESS);
  assert_int_equal(seen[1], CUDA_ERROR_NOT_PERMITTED);
  assert_int_equal(seen[2], 1);
}

// What is asked for before a stream goes is still done.
static void streams_go_with_work(void** state) {
  stream_t* stream;
  event_t* event;
  test_gate_t gate = {0};
  uint64_t word = test_words(1, 1);
  OK(cuStreamCreate(&stream, STREAM_NON_BLOCKING));
  OK(cuEventCreate(&event, 0));
  OK(cuLaunchHostFunc(stream, test_wait_at, &gate));
  OK(cuMemsetD32Async(word, 5, 1, stream));
  OK(cuEventRecord(event, stream));
  OK(cuStreamDestroy_v2(stream));
  test_until_there(&gate);
  FAILS(CUDA_ERROR_NOT_READY, cuEventQuery(event));
  test_open(&gate);
  OK(cuCtxSynchronize());
  OK(cuEventQuery(event));
  assert_int_equal(test_word(word), 5);
}

static void legacy_stream_waits_for_all(void** state) {
  stream_t* blocking;
  test_gate_t gate = {0};
  OK(cuStreamCreate(&blocking, STREAM_DEFAULT));
  OK(cuLaunchHostFunc(blocking, test_wait_at, &gate));
  FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(NULL));
  test_open(&gate);
  OK(cuStreamSynchronize(NULL));
  OK(cuStreamQuery(blocking));
}

static void resets_stop_what_runs(void** state) {
  stream_t *spinning, *waiting;
  uint64_t word = test_words(1, 0);
  OK(cuStreamCreate(&spinning, STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&waiting, STREAM_NON_BLOCKING));
  OK(test_launch(test_function("spin"), spinning, NULL));
  OK(cuStreamWaitValue32_v2(waiting, word, 1, WAIT_EQ));
  FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(spinning));
  OK(cuDevicePrimaryCtxReset_v2(0));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(spinning));
  word = test_words(1, 3);
  assert_int_equal(test_word(word), 3);
}

static void own_contexts_go_with_work(void** state) {
  context_t *own, *current;
  stream_t* stream;
  OK(cuCtxCreate_v2(&own, 0, 1));
  OK(cuCtxGetCurrent(&current));
  assert_ptr_equal(own, current);
  OK(cuStreamCreate(&stream, STREAM_NON_BLOCKING));
  OK(test_launch(test_function("spin"), stream, NULL));
  OK(cuCtxPopCurrent_v2(NULL));
  OK(cuCtxDestroy_v2(own));
  FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxPushCurrent_v2(own));
  OK(cuCtxGetCurrent(&current));
  assert_ptr_equal(current, test_context);
}

static void children_have_no_driver(void** state) {
  int status = -1;
  pid_t child = fork();
  if (child == 0) {
    uint64_t address;
    bool ok = cuMemAlloc_v2(&address, 4) == CUDA_ERROR_NOT_INITIALIZED && cuInit(0) == CUDA_ERROR_NOT_INITIALIZED;
    _exit(ok ? 0 : 1);
  }
  waitpid(child, &status, 0);
  assert_int_equal(status, 0);
}

int main(void) {
  test_environment();
  const struct CMUnitTest tests[] = {
      TEST(calls_return_at_once),    TEST(kernels_run_in_order),
      TEST(legacy_stream),           TEST(stream_of_each_thread),
      TEST(events_order_streams),    TEST(events_tell_time),
      TEST(events_of_other_gpus),    TEST(waits_for_values),
      TEST(callbacks_call_nothing),  TEST(streams_go_with_work),
      TEST(resets_stop_what_runs),   TEST(own_contexts_go_with_work),
      TEST(children_have_no_driver), TEST(legacy_stream_waits_for_all),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
