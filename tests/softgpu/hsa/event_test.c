// Events that are asked for: who is told what, which queues stop, and that a process ends in which nobody handles them.
#include <signal.h>
#include <sys/wait.h>

#include "hsa_test.h"

// Newer than Debian's headers.
typedef struct hw_exception_t {
  hsa_agent_t agent;
  int32_t reset_type, reset_cause;
} hw_exception_t;

typedef struct seen_t {
  int count;
  uint32_t type;
  hsa_agent_t agent;
  uint64_t address;
  int32_t cause;
  hsa_status_t answer;
} seen_t;

static hsa_status_t take_event(const hsa_amd_event_t* event, void* data) {
  seen_t* seen = data;
  hw_exception_t exception;
  memcpy(&exception, &event->memory_fault, sizeof(exception));
  seen->type = event->event_type;
  seen->agent = event->memory_fault.agent;
  seen->address = event->memory_fault.virtual_address;
  seen->cause = exception.reset_cause;
  __atomic_add_fetch(&seen->count, 1, __ATOMIC_RELEASE);
  return seen->answer;
}

static void count_error(hsa_status_t status, hsa_queue_t* queue, void* data) {
  if (status == (hsa_status_t)HSA_STATUS_ERROR_MEMORY_FAULT) __atomic_add_fetch((int*)data, 1, __ATOMIC_RELEASE);
}

static void wait_for(const int* count) {
  for (int i = 0; i < 10000 && !__atomic_load_n(count, __ATOMIC_ACQUIRE); ++i) usleep(1000);
  assert_int_equal(__atomic_load_n(count, __ATOMIC_ACQUIRE), 1);
}

static void submit_kernel(hsa_queue_t* queue) {
  hsa_kernel_dispatch_packet_t packet = {.workgroup_size_x = 1, .kernel_object = 0x40};
  test_submit(queue, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH, 0);
}

static bool runs(hsa_queue_t* queue) {
  hsa_signal_t done = test_signal(1);
  hsa_barrier_and_packet_t packet = {.completion_signal = done};
  test_submit(queue, &packet, HSA_PACKET_TYPE_BARRIER_AND, 0);
  bool ran = hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, 30000000, HSA_WAIT_STATE_BLOCKED) == 0;
  assert_ok(hsa_signal_destroy(done));
  return ran;
}

static void lost_gpu(const char* request, int32_t cause) {
  seen_t handles = {0}, looks = {.answer = HSA_STATUS_ERROR};
  int errors = 0;
  setenv("IREE_SOFTGPU_EVENT", request, 1);
  test_open(NULL);
  assert_ok(hsa_amd_register_system_event_handler(take_event, &handles));
  assert_ok(hsa_amd_register_system_event_handler(take_event, &looks));
  hsa_queue_t *queue = test_queue(1, 64, count_error, &errors), *idle = test_queue(1, 64, count_error, &errors),
              *other = test_queue(0, 64, NULL, NULL);
  assert_true(runs(idle));
  submit_kernel(queue);
  wait_for(&handles.count);
  wait_for(&looks.count);
  assert_int_equal(handles.type, 1);
  assert_int_equal(handles.agent.handle, test_gpus[1].handle);
  assert_int_equal(handles.cause, cause);
  assert_false(runs(idle));
  assert_true(runs(other));
  assert_int_equal(errors, 0);
  hsa_queue_t* late = NULL;
  assert_int_equal(hsa_queue_create(test_gpus[1], 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &late),
                   HSA_STATUS_ERROR);
  assert_ok(hsa_queue_destroy(queue));
  assert_ok(hsa_queue_destroy(idle));
  test_close(NULL);
}

static void lost_gpus(void** state) {
  lost_gpu("hang:1", 1);
  lost_gpu("ecc:1:0", 2);
  lost_gpu("fault:0:7,reset:1", 0);
}

// As a kernel's own: its queue is told too, and others go on.
static void faults(void** state) {
  seen_t seen = {.answer = HSA_STATUS_ERROR};
  int errors = 0, other_errors = 0;
  setenv("IREE_SOFTGPU_EVENT", "fault", 1);
  test_open(NULL);
  assert_ok(hsa_amd_register_system_event_handler(take_event, &seen));
  hsa_queue_t *queue = test_queue(0, 64, count_error, &errors), *other = test_queue(0, 64, count_error, &other_errors);
  submit_kernel(queue);
  wait_for(&errors);
  assert_int_equal(seen.count, 1);
  assert_int_equal(seen.type, HSA_AMD_GPU_MEMORY_FAULT_EVENT);
  assert_int_equal(seen.agent.handle, test_gpus[0].handle);
  assert_int_equal(seen.address, 0xFA000);
  assert_false(runs(queue));
  assert_true(runs(other));
  assert_int_equal(other_errors, 0);
  test_close(NULL);
}

// In a process of its own, which HSA has not seen yet.
static void nobody_handles(void** state) {
  pid_t child = fork();
  if (!child) {
    seen_t looks = {.answer = HSA_STATUS_ERROR};
    signal(SIGABRT, SIG_DFL);
    setenv("IREE_SOFTGPU_EVENT", "reset", 1);
    test_open(NULL);
    hsa_amd_register_system_event_handler(take_event, &looks);
    submit_kernel(test_queue(0, 64, NULL, NULL));
    sleep(10);
    _exit(0);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void wrong_requests(void** state) {
  static const char* const bad[] = {"burns",  "hang:",   "hang:x",   "hang:0:", "hang:0:1:2",
                                    "hang 1", "hang,:1", "fault:-1", "hang:1"};
  setenv("IREE_SOFTGPU_GPUS", "gfx1100", 1);
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
    setenv("IREE_SOFTGPU_EVENT", bad[i], 1);
    assert_int_equal(hsa_init(), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nobody_handles), cmocka_unit_test(wrong_requests),
                                     cmocka_unit_test(lost_gpus), cmocka_unit_test(faults)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
