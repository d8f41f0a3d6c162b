// What the driver makes of events of the system, which the software GPU sends where it is told to: a GPU that hangs, is
// reset or has memory errors costs every queue of its own and nobody else's; so does a memory fault those that have
// work; what another user of HSA in the process does is not this driver's business. To be run by iree-softgpu with two
// GPUs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs the four above.
#include <cmocka.h>
#include <stdlib.h>

#include "hal/amdgpu/fault.h"
#include "hal/amdgpu/logical_device.h"

#define OK(expr) IREE_CHECK_OK(expr)

static system_t* gpus;

static void open_system(const char* event) {
  libhsa_t* hsa = NULL;
  setenv("IREE_SOFTGPU_EVENT", event, 1);
  OK(libhsa_load(0, NULL, iree_allocator_system(), &hsa));
  OK(system_create(hsa, iree_allocator_system(), &gpus));
  libhsa_release(hsa);
  fault_watch_events(gpus);
}

typedef struct user_t {
  iree_hal_device_t* device;
  iree_hal_buffer_t* buffer;
  iree_hal_semaphore_t* semaphores[2];  // of its queues
  uint64_t values[2];
} user_t;

static user_t open_user(uint32_t gpu) {
  user_t user = {0};
  logical_device_options_t options = {0};
  OK(logical_device_create(gpus, 1ull << gpu, &options, NULL, iree_allocator_system(), &user.device));
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
                                     .usage = IREE_HAL_BUFFER_USAGE_TRANSFER};
  OK(iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(user.device), params, 4096, &user.buffer));
  for (int i = 0; i < 2; ++i) {
    OK(iree_hal_semaphore_create(user.device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_NONE,
                                 &user.semaphores[i]));
  }
  return user;
}

static void close_user(user_t* user) {
  iree_hal_buffer_release(user->buffer);
  for (int i = 0; i < 2; ++i) iree_hal_semaphore_release(user->semaphores[i]);
  iree_hal_device_release(user->device);
}

// One kernel in a queue, after all of the user's in both.
static void fill(user_t* user, int queue) {
  uint32_t pattern = 7;
  uint64_t before[2] = {user->values[0], user->values[1]};
  ++user->values[queue];
  iree_hal_semaphore_list_t waits = {2, user->semaphores, before},
                            signals = {1, &user->semaphores[queue], &user->values[queue]};
  OK(iree_hal_device_queue_fill(user->device, 1ull << queue, waits, signals, user->buffer, 0, 4096, &pattern, 4,
                                IREE_HAL_FILL_FLAG_NONE));
}

static void expect(const user_t* user, int queue, iree_status_code_t code, const char* text) {
  char message[1024] = "";
  iree_status_t status = iree_hal_semaphore_wait(user->semaphores[queue], user->values[queue], iree_infinite_timeout(),
                                                 IREE_ASYNC_WAIT_FLAG_NONE);
  if (!iree_status_is_ok(status)) iree_status_format(status, sizeof(message), message, NULL);
  if (iree_status_code(status) != code || !strstr(message, text)) print_error("got: %s\nwanted: %s\n", message, text);
  assert_int_equal(iree_status_code(status), code);
  assert_non_null(strstr(message, text));
  iree_status_free(status);
}

//===----------------------------------------------------------------------------------------------------------------===
// Tests
//===----------------------------------------------------------------------------------------------------------------===

// Work of `user` that waits for the victim's last, of whichever queue.
static iree_hal_semaphore_t* wait_for_victim(user_t* user, const user_t* victim) {
  uint32_t pattern = 9;
  uint64_t reached = 1, last[2] = {victim->values[0], victim->values[1]};
  iree_hal_semaphore_t *both[2] = {victim->semaphores[0], victim->semaphores[1]}, *after = NULL;
  OK(iree_hal_semaphore_create(user->device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_NONE, &after));
  iree_hal_semaphore_list_t waits = {2, both, last}, signals = {1, &after, &reached};
  OK(iree_hal_device_queue_fill(user->device, 1, waits, signals, user->buffer, 0, 4096, &pattern, 4,
                                IREE_HAL_FILL_FLAG_NONE));
  return after;
}

// Two devices share the GPU that is lost, one of them has nothing to do; a third one has another GPU, and work behind
// the lost one's in its queue, which fails alone.
static void check_lost_gpu(const char* event, const char* text) {
  open_system(event);
  user_t victim = open_user(0), idle = open_user(0), other = open_user(1);
  for (int i = 0; i < 12; ++i) {
    fill(&victim, i % 2);
    fill(&other, i % 2);
  }
  user_t behind = {.semaphores = {wait_for_victim(&other, &victim)}, .values = {1}};
  for (int queue = 0; queue < 2; ++queue) expect(&victim, queue, IREE_STATUS_ABORTED, text);
  expect(&behind, 0, IREE_STATUS_ABORTED, text);
  iree_hal_semaphore_release(behind.semaphores[0]);
  fill(&idle, 1);
  expect(&idle, 1, IREE_STATUS_ABORTED, text);
  fill(&victim, 0);
  expect(&victim, 0, IREE_STATUS_ABORTED, text);
  fill(&other, 0);
  for (int queue = 0; queue < 2; ++queue) expect(&other, queue, IREE_STATUS_OK, "");
  close_user(&victim);
  close_user(&idle);
  close_user(&other);
  system_release(gpus);
}

static void lost_gpus(void** state) {
  check_lost_gpu("hang:0:3", "the GPU was reset: it hung");
  check_lost_gpu("ecc:0:4", "the GPU was reset: its memory has errors");
  check_lost_gpu("reset:0:0", "the GPU was reset: its cause is not known");
}

// The device is lost, its idle neighbour on the same GPU is not.
static void faults(void** state) {
  open_system("fault:0:3");
  user_t victim = open_user(0), idle = open_user(0);
  for (int i = 0; i < 8; ++i) fill(&victim, 0);
  expect(&victim, 0, IREE_STATUS_ABORTED, "memory fault of the GPU at address 0xfa000: there is no memory");
  fill(&victim, 1);
  expect(&victim, 1, IREE_STATUS_ABORTED, "memory fault of the GPU at address 0xfa000");
  fill(&idle, 0);
  expect(&idle, 0, IREE_STATUS_OK, "");
  close_user(&victim);
  close_user(&idle);
  system_release(gpus);
}

static void count_error(hsa_status_t status, hsa_queue_t* source, void* data) {
  iree_atomic_fetch_add((iree_atomic_int32_t*)data, 1, iree_memory_order_release);
}

// The first kernel of a queue that the driver knows nothing of.
static void run_foreign_kernel(const libhsa_t* hsa, hsa_agent_t agent) {
  static iree_atomic_int32_t errors;
  hsa_queue_t* queue = NULL;
  int32_t before = iree_atomic_load(&errors, iree_memory_order_acquire);
  assert_int_equal(
      hsa->hsa_queue_create(agent, 64, HSA_QUEUE_TYPE_SINGLE, count_error, &errors, UINT32_MAX, UINT32_MAX, &queue),
      HSA_STATUS_SUCCESS);
  iree_atomic_store((uint32_t*)queue->base_address, (uint32_t)HSA_PACKET_TYPE_KERNEL_DISPATCH,
                    iree_memory_order_release);
  hsa->hsa_signal_store_screlease(queue->doorbell_signal, 0);
  while (iree_atomic_load(&errors, iree_memory_order_acquire) == before) iree_wait_until(iree_time_now() + 100000);
  hsa->hsa_queue_destroy(queue);
}

// Faults of another user of HSA, while the driver has a device, and when it has gone.
static void foreign_queues(void** state) {
  libhsa_t* hsa = NULL;
  open_system("fault:0:1,fault:0:3");
  OK(libhsa_load(0, NULL, iree_allocator_system(), &hsa));
  hsa_agent_t agent = gpus->gpus[0].agent;
  user_t user = open_user(0);
  fill(&user, 0);
  expect(&user, 0, IREE_STATUS_OK, "");
  run_foreign_kernel(hsa, agent);
  fill(&user, 1);
  expect(&user, 1, IREE_STATUS_OK, "");
  close_user(&user);
  system_release(gpus);
  run_foreign_kernel(hsa, agent);
  libhsa_release(hsa);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(lost_gpus), cmocka_unit_test(faults),
                                     cmocka_unit_test(foreign_queues)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
