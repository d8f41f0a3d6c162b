// Graphs that are captured from streams, and what is forbidden meanwhile.
#include <pthread.h>

#include "cuda_test.h"

static stream_t *first, *second;
static event_t *fork_event, *join_event;

static int setup(void** state) {
  test_setup(state);
  OK(cuStreamCreate(&first, STREAM_DEFAULT));
  OK(cuStreamCreate(&second, STREAM_NON_BLOCKING));
  OK(cuEventCreate(&fork_event, EVENT_DISABLE_TIMING));
  OK(cuEventCreate(&join_event, EVENT_DISABLE_TIMING));
  return 0;
}

static void work_becomes_nodes(void** state) {
  graph_t* graph;
  exec_t* exec;
  uint64_t words = test_words(2, 0), other = words + 4;
  int status;
  size_t count;
  void *parameters[] = {&words}, *others[] = {&other};
  function_t* increment = test_function("increment");
  OK(cuStreamBeginCapture_v2(first, CAPTURE_MODE_THREAD_LOCAL));
  OK(cuMemsetD32Async(words, 10, 2, first));
  OK(cuEventRecord(fork_event, first));
  OK(cuStreamWaitEvent(second, fork_event, 0));
  OK(cuStreamIsCapturing(second, &status));
  assert_int_equal(status, CAPTURE_STATUS_ACTIVE);
  OK(test_launch(increment, first, parameters));
  OK(test_launch(increment, second, others));
  OK(cuEventRecord(join_event, second));
  OK(cuStreamWaitEvent(first, join_event, 0));
  OK(test_launch(increment, first, parameters));
  FAILS(CUDA_ERROR_CAPTURED_EVENT, cuEventQuery(join_event));
  OK(cuStreamEndCapture(first, &graph));
  OK(cuStreamIsCapturing(second, &status));
  assert_int_equal(status, CAPTURE_STATUS_NONE);
  OK(cuGraphGetNodes(graph, NULL, &count));
  assert_int_equal(count, 4);
  OK(cuGraphGetEdges(graph, NULL, NULL, &count));
  assert_int_equal(count, 4);
  assert_int_equal(test_word(words), 0);
  OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) OK(cuGraphLaunch(exec, second));
  OK(cuStreamSynchronize(second));
  assert_int_equal(test_word(words), 12);
  assert_int_equal(test_word(other), 11);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
}

static void memory_of_graphs(void** state) {
  graph_t* graph;
  exec_t* exec;
  uint64_t memory, word = test_words(1, 0);
  OK(cuStreamBeginCapture_v2(first, CAPTURE_MODE_THREAD_LOCAL));
  OK(cuMemAllocAsync(&memory, 64, first));
  OK(cuMemsetD32Async(memory, 8, 16, first));
  OK(cuMemcpyDtoDAsync_v2(word, memory + 60, 4, first));
  OK(cuMemFreeAsync(memory, first));
  OK(cuStreamEndCapture(first, &graph));
  OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  OK(cuGraphDestroy(graph));
  for (int i = 0; i < 2; ++i) OK(cuGraphLaunch(exec, first));
  OK(cuStreamSynchronize(first));
  assert_int_equal(test_word(word), 8);
  OK(cuGraphExecDestroy(exec));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32_v2(memory, 8, 16));
}

static void graphs_are_captured(void** state) {
  graph_t *graph, *outer;
  exec_t* exec;
  node_t* node;
  size_t count = 1;
  int type;
  OK(cuStreamBeginCapture_v2(first, CAPTURE_MODE_RELAXED));
  OK(cuMemsetD32Async(test_words(1, 0), 8, 1, first));
  OK(cuStreamEndCapture(first, &graph));
  OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  OK(cuStreamBeginCapture_v2(first, CAPTURE_MODE_RELAXED));
  OK(cuGraphLaunch(exec, first));
  OK(cuStreamEndCapture(first, &outer));
  OK(cuGraphGetNodes(outer, &node, &count));
  OK(cuGraphNodeGetType(node, &type));
  assert_int_equal(type, NODE_GRAPH);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
  OK(cuGraphDestroy(outer));
}

static void end_spoilt(stream_t* stream, result_t result) {
  graph_t* graph = (graph_t*)stream;
  FAILS(result, cuStreamEndCapture(stream, &graph));
  assert_null(graph);
}

static void what_spoils_a_capture(void** state) {
  uint64_t memory;
  // Calls that may wait.
  OK(cuStreamBeginCapture_v2(first, CAPTURE_MODE_GLOBAL));
  FAILS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuMemAlloc_v2(&memory, 4));
  end_spoilt(first, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  OK(cuStreamBeginCapture_v2(first, CAPTURE_MODE_RELAXED));
  OK(cuMemAlloc_v2(&memory, 4));
  FAILS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(first));
  end_spoilt(first, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  // The legacy stream, which waits for what blocks.
  OK(cuStreamBeginCapture_v2(first, CAPTURE_MODE_THREAD_LOCAL));
  FAILS(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuMemsetD32Async(memory, 1, 1, NULL));
  FAILS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuMemsetD32Async(memory, 1, 1, first));
  end_spoilt(first, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  // Work that is not joined, events of elsewhere, two captures.
  OK(cuStreamBeginCapture_v2(first, CAPTURE_MODE_THREAD_LOCAL));
  OK(cuEventRecord(fork_event, first));
  OK(cuStreamWaitEvent(second, fork_event, 0));
  OK(cuMemsetD32Async(memory, 1, 1, second));
  FAILS(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, cuStreamEndCapture(second, (graph_t**)&memory));
  end_spoilt(first, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  OK(cuMemAlloc_v2(&memory, 4));
  OK(cuStreamBeginCapture_v2(first, CAPTURE_MODE_THREAD_LOCAL));
  OK(cuEventRecord(fork_event, first));
  OK(cuStreamWaitEvent(second, fork_event, 0));
  OK(cuMemsetD32Async(memory, 1, 1, second));
  end_spoilt(first, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  OK(cuEventRecord(join_event, second));
  OK(cuStreamBeginCapture_v2(first, CAPTURE_MODE_THREAD_LOCAL));
  FAILS(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, cuStreamWaitEvent(first, join_event, 0));
  end_spoilt(first, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  OK(cuStreamBeginCapture_v2(first, CAPTURE_MODE_RELAXED));
  OK(cuStreamBeginCapture_v2(second, CAPTURE_MODE_RELAXED));
  OK(cuEventRecord(fork_event, first));
  FAILS(CUDA_ERROR_STREAM_CAPTURE_MERGE, cuStreamWaitEvent(second, fork_event, 0));
  end_spoilt(first, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  end_spoilt(second, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  FAILS(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(second, (graph_t**)&memory));
}

static result_t results[3];
static void* in_thread(void* data) {
  uint64_t memory;
  graph_t* graph;
  int mode = CAPTURE_MODE_RELAXED;
  OK(cuCtxSetCurrent(test_context));
  results[0] = cuStreamEndCapture(first, &graph);
  OK(cuThreadExchangeStreamCaptureMode(&mode));
  results[1] = cuMemAlloc_v2(&memory, 4);
  OK(cuThreadExchangeStreamCaptureMode(&mode));
  results[2] = cuMemAlloc_v2(&memory, 4);
  return NULL;
}

static void other_threads(void** state) {
  pthread_t thread;
  graph_t* graph;
  OK(cuStreamBeginCapture_v2(first, CAPTURE_MODE_THREAD_LOCAL));
  assert_int_equal(pthread_create(&thread, NULL, in_thread, NULL), 0);
  pthread_join(thread, NULL);
  assert_int_equal(results[0], CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  assert_int_equal(results[1], CUDA_SUCCESS);
  assert_int_equal(results[2], CUDA_SUCCESS);
  OK(cuStreamEndCapture(first, &graph));
  OK(cuGraphDestroy(graph));
  OK(cuStreamBeginCapture_v2(first, CAPTURE_MODE_GLOBAL));
  assert_int_equal(pthread_create(&thread, NULL, in_thread, NULL), 0);
  pthread_join(thread, NULL);
  assert_int_equal(results[1], CUDA_SUCCESS);
  assert_int_equal(results[2], CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  end_spoilt(first, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

int main(void) {
  test_environment();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(work_becomes_nodes, setup, test_teardown),
      cmocka_unit_test_setup_teardown(memory_of_graphs, setup, test_teardown),
      cmocka_unit_test_setup_teardown(graphs_are_captured, setup, test_teardown),
      cmocka_unit_test_setup_teardown(what_spoils_a_capture, setup, test_teardown),
      cmocka_unit_test_setup_teardown(other_threads, setup, test_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
