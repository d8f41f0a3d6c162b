// A program whose sizes grow with every call: it is recorded once, not with every call, and a call with a new size
// allocates no more than one with an old one.
//
//   vm_growth DEVICE MODULE [calls]
//
// The module is decode.mlir's; `calls` is how many there are with sizes of their own. Results are checked.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../cts/counting.h"
#include "iree/runtime/api.h"
#include "recordings.h"

enum { ROWS = 4, WIDTH = 64, FIRST = 40, CALLS = 50, MAX_CALLS = 4000, OLD_SIZES = 3 };
// What is in flight when the next call begins has recordings of its own.
enum { MAX_RECORDINGS = 3 };

typedef struct growth_t {
  iree_runtime_instance_t* instance;
  iree_hal_device_t* device;
  iree_runtime_session_t* session;
  iree_runtime_call_t call;
  iree_hal_buffer_t *query, *keys, *values;  // for the largest size
  int passed, failed;
} growth_t;

static void open_device(growth_t* g, const char* device, const char* module) {
  iree_runtime_instance_options_t options;
  iree_runtime_instance_options_initialize(&options);
  iree_runtime_instance_options_use_all_available_drivers(&options);
  IREE_CHECK_OK(iree_runtime_instance_create(&options, iree_allocator_system(), &g->instance));
  IREE_CHECK_OK(
      iree_runtime_instance_try_create_default_device(g->instance, iree_make_cstring_view(device), &g->device));
  iree_runtime_session_options_t session_options;
  iree_runtime_session_options_initialize(&session_options);
  IREE_CHECK_OK(iree_runtime_session_create_with_device(g->instance, &session_options, g->device,
                                                        iree_allocator_system(), &g->session));
  IREE_CHECK_OK(iree_runtime_session_append_bytecode_module_from_file(g->session, module));
  IREE_CHECK_OK(iree_runtime_call_initialize_by_name(g->session, IREE_SV("module.decode"), &g->call));
}

static iree_hal_buffer_t* make_buffer(growth_t* g, size_t rows, size_t columns, float (*at)(size_t, size_t)) {
  size_t size = rows * columns * sizeof(float);
  float* data = malloc(size);
  for (size_t i = 0; i < rows * columns; ++i) data[i] = at(i / columns, i % columns);
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, .usage = IREE_HAL_BUFFER_USAGE_DEFAULT};
  iree_hal_buffer_t* buffer = NULL;
  IREE_CHECK_OK(iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(g->device), params, size, &buffer));
  IREE_CHECK_OK(iree_hal_device_transfer_h2d(g->device, data, buffer, 0, size, IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT,
                                             iree_infinite_timeout()));
  free(data);
  return buffer;
}

static float query_at(size_t row, size_t column) { return (float)(row + 1 + column % 3); }
static float one_at(size_t row, size_t column) { return 1; }
static float value_at(size_t row, size_t column) { return (float)(row % 2 + column % 5); }

static void push(growth_t* g, iree_hal_buffer_t* buffer, size_t rows, size_t columns) {
  iree_hal_buffer_t* part = NULL;
  iree_hal_buffer_view_t* view = NULL;
  IREE_CHECK_OK(iree_hal_buffer_subspan(buffer, 0, rows * columns * sizeof(float), iree_allocator_system(), &part));
  IREE_CHECK_OK(iree_hal_buffer_view_create(part, 2, (iree_hal_dim_t[]){rows, columns}, IREE_HAL_ELEMENT_TYPE_FLOAT_32,
                                            IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, iree_allocator_system(), &view));
  IREE_CHECK_OK(iree_runtime_call_inputs_push_back_buffer_view(&g->call, view));
  iree_hal_buffer_view_release(view);
  iree_hal_buffer_release(part);
}

// Row r of the query sums to s(r); each score is that, and the result s(r) times the column's sum of values.
static bool is_right(const float* result, size_t length) {
  for (size_t row = 0; row < ROWS; ++row) {
    float score = 0;
    for (size_t i = 0; i < WIDTH; ++i) score += query_at(row, i);
    for (size_t column = 0; column < WIDTH; ++column) {
      float sum = 0;
      for (size_t i = 0; i < length; ++i) sum += score * value_at(i, column);
      float difference = result[row * WIDTH + column] - sum;
      if (difference > 1e-4f * sum || -difference > 1e-4f * sum) return false;
    }
  }
  return true;
}

static void run(growth_t* g, size_t length) {
  iree_hal_buffer_view_t* view = NULL;
  float result[ROWS * WIDTH];
  iree_runtime_call_reset(&g->call);
  push(g, g->query, ROWS, WIDTH);
  push(g, g->keys, WIDTH, length);
  push(g, g->values, length, WIDTH);
  IREE_CHECK_OK(iree_runtime_call_invoke(&g->call, 0));
  IREE_CHECK_OK(iree_runtime_call_outputs_pop_front_buffer_view(&g->call, &view));
  IREE_CHECK_OK(iree_hal_device_transfer_d2h(g->device, iree_hal_buffer_view_buffer(view), 0, result, sizeof(result),
                                             IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout()));
  iree_hal_buffer_view_release(view);
  if (is_right(result, length)) return;
  printf("wrong result for a length of %zu\n", length);
  ++g->failed;
}

static void expect(growth_t* g, bool is_true, const char* what, uint64_t count) {
  printf("%s %s: %" PRIu64 "\n", is_true ? "ok    " : "FAILED", what, count);
  ++*(is_true ? &g->passed : &g->failed);
}

static void run_all(growth_t* g, size_t calls) {
  run(g, FIRST);
  run(g, FIRST);
  uint64_t begin = counting_calls();
  for (size_t i = 0; i < calls; ++i) run(g, FIRST);
  uint64_t same = counting_calls() - begin;
  begin = counting_calls();
  for (size_t i = 0; i < calls; ++i) run(g, FIRST + 1 + i);
  uint64_t growing = counting_calls() - begin;
  expect(g, recordings <= MAX_RECORDINGS, "recordings", (uint64_t)recordings);
  expect(g, growing<same + calls, "allocations for sizes that grow, beyond those of one size", growing> same
                ? growing - same
                : 0);
  // Some of a few sizes: each has its recording after a while.
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < OLD_SIZES; ++i) run(g, FIRST + i * 7);
  }
  int before = recordings;
  for (size_t i = 0; i < OLD_SIZES; ++i) run(g, FIRST + i * 7);
  expect(g, recordings == before, "recordings when sizes come back", (uint64_t)(recordings - before));
  run(g, 0);  // nothing is launched that has no results
  run(g, FIRST);
}

int main(int argc, char** argv) {
  growth_t g = {0};
  size_t calls = argc > 3 ? strtoul(argv[3], NULL, 10) : CALLS;
  if (argc < 3 || calls < 1 || calls > MAX_CALLS) {
    fprintf(stderr, "usage: %s DEVICE MODULE [calls, up to %d]\n", argv[0], MAX_CALLS);
    return 2;
  }
  open_device(&g, argv[1], argv[2]);
  g.query = make_buffer(&g, ROWS, WIDTH, query_at);
  g.keys = make_buffer(&g, WIDTH, FIRST + calls, one_at);
  g.values = make_buffer(&g, FIRST + calls, WIDTH, value_at);
  run_all(&g, calls);
  iree_hal_buffer_release(g.query);
  iree_hal_buffer_release(g.keys);
  iree_hal_buffer_release(g.values);
  iree_runtime_call_deinitialize(&g.call);
  iree_runtime_session_release(g.session);
  iree_hal_device_release(g.device);
  iree_runtime_instance_release(g.instance);
  printf("%d passed, %d failed\n", g.passed, g.failed);
  return g.failed != 0;
}
