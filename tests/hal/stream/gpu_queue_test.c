// The queue that all GPUs' drivers share, over a backend that takes all for ended.
#include "../hal_test.h"
#include "hal/gpu/device.h"
#include "hal/gpu/queue.h"

static bool poll_idle(gpu_queue_t* queue, uint64_t epoch, iree_time_t spin_until, bool may_sleep, uint64_t* out_ended) {
  *out_ended = epoch;
  return true;
}

// A thread that read the tail before another one moved it asks for a part which is not in the queue yet.
static void part_that_is_not_there(void** state) {
  const gpu_backend_t backend = {.name = "idle", .poll = poll_idle};
  gpu_device_t device = {.base = {.host_allocator = iree_allocator_system()}, .domain = {1, 1}, .backend = &backend};
  gpu_queue_t queue = {.backend = &backend, .device = &device};
  IREE_CHECK_OK(gpu_queue_initialize(&queue, 4));
  gpu_queue_help(&queue, 1, IREE_TIME_INFINITE_PAST, /*may_sleep=*/false);
  assert_int_equal(gpu_queue_tail(&queue), 0);
  assert_false(gpu_queue_has_ended(&queue, 1));
  gpu_queue_deinitialize(&queue);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(part_that_is_not_there)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
