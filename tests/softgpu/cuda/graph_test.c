// Graphs that are built node by node: what runs before what, changes, clones, children.
#include "cuda_test.h"

static uint32_t order[16], order_count;
static void note(void* data) { order[order_count++] = (uint32_t)(uintptr_t)data; }

static node_t* add_note(graph_t* graph, node_t* const* dependencies, size_t count, uintptr_t number) {
  node_t* node;
  host_params_t params = {note, (void*)number};
  OK(cuGraphAddHostNode(&node, graph, dependencies, count, &params));
  return node;
}

static void run(exec_t* exec) {
  order_count = 0;
  OK(cuGraphLaunch(exec, NULL));
  OK(cuCtxSynchronize());
}

static void dependencies_come_first(void** state) {
  graph_t* graph;
  exec_t* exec;
  size_t count = 0;
  OK(cuGraphCreate(&graph, 0));
  node_t* last = add_note(graph, NULL, 0, 3);
  node_t* first = add_note(graph, NULL, 0, 1);
  node_t* middle = add_note(graph, &first, 1, 2);
  OK(cuGraphAddDependencies(graph, &middle, &last, 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies(graph, &last, &first, 1));
  OK(cuGraphGetNodes(graph, NULL, &count));
  assert_int_equal(count, 3);
  OK(cuGraphGetEdges(graph, NULL, NULL, &count));
  assert_int_equal(count, 2);
  node_t* roots[4];
  count = 4;
  OK(cuGraphGetRootNodes(graph, roots, &count));
  assert_int_equal(count, 1);
  assert_ptr_equal(roots[0], first);
  OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  run(exec);
  assert_int_equal(order_count, 3);
  for (uint32_t i = 0; i < 3; ++i) assert_int_equal(order[i], i + 1);
  // What is launched is what was there when it was made.
  OK(cuGraphDestroyNode(middle));
  run(exec);
  assert_int_equal(order_count, 3);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  run(exec);
  assert_int_equal(order_count, 2);
  OK(cuGraphDestroy(graph));
  run(exec);
  assert_int_equal(order_count, 2);
  OK(cuGraphExecDestroy(exec));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, NULL));
}

// fill → kernel → copy, with parameters that change between launches.
static void nodes_work_and_change(void** state) {
  enum { COUNT = 8 };
  graph_t* graph;
  exec_t* exec;
  node_t *fill, *kernel, *copy;
  uint64_t words = test_words(COUNT, 0);
  uint32_t count = COUNT, factor = 3, *out;
  OK(cuMemAllocHost_v2((void**)&out, COUNT * sizeof(*out)));
  void* parameters[] = {&words, &count, &factor};
  fill_params_t fill_params = {words, 0, 5, 4, COUNT, 1, NULL};
  kernel_params_t kernel_params = {
      .function = test_function("scale"), .grid = {1, 1, 1}, .block = {COUNT, 1, 1}, .parameters = parameters};
  copy_3d_t copy_params = {.source = {.type = MEMORY_TYPE_DEVICE, .device = words},
                           .target = {.type = MEMORY_TYPE_HOST, .host = out},
                           .width = COUNT * 4,
                           .height = 1,
                           .depth = 1};
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphAddMemsetNode(&fill, graph, NULL, 0, &fill_params, test_context));
  OK(cuGraphAddKernelNode_v2(&kernel, graph, &fill, 1, &kernel_params));
  OK(cuGraphAddMemcpyNode(&copy, graph, &kernel, 1, &copy_params, test_context));
  OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  factor = 100;
  OK(cuGraphUpload(exec, NULL));
  run(exec);
  assert_int_equal(out[COUNT - 1], 15);
  factor = 4;
  OK(cuGraphExecKernelNodeSetParams_v2(exec, kernel, &kernel_params));
  fill_params.value = 6;
  OK(cuGraphExecMemsetNodeSetParams(exec, fill, &fill_params, test_context));
  run(exec);
  assert_int_equal(out[0], 24);
  OK(cuGraphNodeSetEnabled(exec, kernel, 0));
  run(exec);
  assert_int_equal(out[0], 6);
  kernel_params_t got;
  OK(cuGraphKernelNodeGetParams_v2(kernel, &got));
  assert_int_equal(*(uint32_t*)got.parameters[2], 3);
  assert_int_equal(got.block[0], COUNT);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphMemcpyNodeGetParams(kernel, &copy_params));
  OK(cuGraphKernelNodeSetParams_v2(kernel, &got));
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
}

static void graphs_outlive_modules(void** state) {
  module_t* module;
  kernel_params_t params = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
  graph_t* graph;
  exec_t* exec;
  node_t* node;
  OK(cuModuleLoadData(&module, test_ptx));
  OK(cuModuleGetFunction((function_t**)&params.function, module, "spin"));
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &params));
  OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  OK(cuModuleUnload(module));
  OK(cuGraphLaunch(exec, NULL));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuCtxSynchronize());
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
}

static void updates_need_the_same_shape(void** state) {
  graph_t *graph, *other;
  exec_t* exec;
  update_result_t result;
  OK(cuGraphCreate(&graph, 0));
  node_t* first = add_note(graph, NULL, 0, 1);
  add_note(graph, &first, 1, 2);
  OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  OK(cuGraphCreate(&other, 0));
  node_t* begin = add_note(other, NULL, 0, 7);
  FAILS(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate_v2(exec, other, &result));
  assert_int_equal(result.result, 2);
  add_note(other, &begin, 1, 8);
  OK(cuGraphExecUpdate_v2(exec, other, &result));
  assert_int_equal(result.result, 0);
  run(exec);
  assert_int_equal(order[0], 7);
  assert_int_equal(order[1], 8);
  // Nodes are still known as those of the first graph.
  host_params_t params = {note, (void*)9};
  OK(cuGraphExecHostNodeSetParams(exec, first, &params));
  run(exec);
  assert_int_equal(order[0], 9);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
  OK(cuGraphDestroy(other));
}

static void children_and_clones(void** state) {
  graph_t *graph, *child, *inside, *clone;
  exec_t* exec;
  node_t *node, *found;
  OK(cuGraphCreate(&child, 0));
  node_t* first = add_note(child, NULL, 0, 2);
  add_note(child, &first, 1, 3);
  OK(cuGraphCreate(&graph, 0));
  node_t* begin = add_note(graph, NULL, 0, 1);
  OK(cuGraphAddChildGraphNode(&node, graph, &begin, 1, child));
  add_note(graph, &node, 1, 4);
  OK(cuGraphDestroy(child));
  OK(cuGraphChildGraphNodeGetGraph(node, &inside));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(inside));
  OK(cuGraphClone(&clone, graph));
  OK(cuGraphNodeFindInClone(&found, begin, clone));
  assert_ptr_not_equal(found, begin);
  OK(cuGraphDestroy(graph));
  OK(cuGraphInstantiateWithFlags(&exec, clone, 0));
  run(exec);
  assert_int_equal(order_count, 4);
  for (uint32_t i = 0; i < 4; ++i) assert_int_equal(order[i], i + 1);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(clone));
}

static void events_in_graphs(void** state) {
  graph_t* graph;
  exec_t* exec;
  node_t *wait, *record;
  event_t *before, *after;
  stream_t *first, *second;
  test_gate_t gate = {0};
  OK(cuStreamCreate(&first, STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&second, STREAM_NON_BLOCKING));
  OK(cuEventCreate(&before, 0));
  OK(cuEventCreate(&after, 0));
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphAddEventWaitNode(&wait, graph, NULL, 0, before));
  OK(cuGraphAddEventRecordNode(&record, graph, &wait, 1, after));
  OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  OK(cuLaunchHostFunc(first, test_wait_at, &gate));
  OK(cuEventRecord(before, first));
  OK(cuGraphLaunch(exec, second));
  FAILS(CUDA_ERROR_NOT_READY, cuEventQuery(after));
  test_open(&gate);
  OK(cuEventSynchronize(after));
  float time = -1;
  OK(cuEventElapsedTime(&time, before, after));
  assert_true(time >= 0);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
}

int main(void) {
  test_environment();
  const struct CMUnitTest tests[] = {
      TEST(dependencies_come_first), TEST(nodes_work_and_change), TEST(updates_need_the_same_shape),
      TEST(children_and_clones),     TEST(events_in_graphs),      TEST(graphs_outlive_modules),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
