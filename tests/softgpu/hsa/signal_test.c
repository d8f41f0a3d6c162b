// Signals: every operation, waits that end by calls and by plain stores of other threads, handlers, groups.
#include "hsa_test.h"

uint32_t hsa_amd_signal_wait_all(uint32_t count, hsa_signal_t* signals, hsa_signal_condition_t* conditions,
                                 hsa_signal_value_t* values, uint64_t timeout, hsa_wait_state_t hint,
                                 hsa_signal_value_t* satisfying);

static void test_operations(void** state) {
  hsa_signal_t s = test_signal(5);
  assert_int_equal(hsa_signal_load_relaxed(s), 5);
  assert_int_equal(((amd_signal_t*)s.handle)->kind, AMD_SIGNAL_KIND_USER);
  hsa_signal_add_relaxed(s, 3);
  hsa_signal_subtract_scacq_screl(s, 1);
  assert_int_equal(hsa_signal_load_scacquire(s), 7);
  hsa_signal_and_screlease(s, 6);
  hsa_signal_or_scacquire(s, 8);
  hsa_signal_xor_relaxed(s, 2);
  assert_int_equal(hsa_signal_load_scacquire(s), ((7 & 6) | 8) ^ 2);
  assert_int_equal(hsa_signal_exchange_scacq_screl(s, 40), 12);
  assert_int_equal(hsa_signal_cas_scacq_screl(s, 41, 1), 40);
  assert_int_equal(hsa_signal_cas_scacq_screl(s, 40, 1), 40);
  hsa_signal_silent_store_screlease(s, -9);
  volatile hsa_signal_value_t* value = NULL;
  assert_ok(hsa_amd_signal_value_pointer(s, &value));
  assert_int_equal(*value, -9);
  assert_ok(hsa_signal_destroy(s));
  assert_int_equal(hsa_signal_destroy((hsa_signal_t){0}), HSA_STATUS_ERROR_INVALID_SIGNAL);
}

static void test_conditions(void** state) {
  hsa_signal_t s = test_signal(5);
  const hsa_wait_state_t hint = HSA_WAIT_STATE_BLOCKED;
  assert_int_equal(hsa_signal_wait_relaxed(s, HSA_SIGNAL_CONDITION_EQ, 5, UINT64_MAX, hint), 5);
  assert_int_equal(hsa_signal_wait_relaxed(s, HSA_SIGNAL_CONDITION_NE, 4, UINT64_MAX, hint), 5);
  assert_int_equal(hsa_signal_wait_relaxed(s, HSA_SIGNAL_CONDITION_LT, 6, UINT64_MAX, hint), 5);
  assert_int_equal(hsa_signal_wait_relaxed(s, HSA_SIGNAL_CONDITION_GTE, 5, UINT64_MAX, hint), 5);
  assert_ok(hsa_signal_destroy(s));
}

static void test_timeout(void** state) {
  hsa_signal_t s = test_signal(1);
  uint64_t begin = test_now();
  assert_int_equal(hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_EQ, 0, 20000000, HSA_WAIT_STATE_ACTIVE), 1);
  uint64_t elapsed = test_now() - begin;
  assert_true(elapsed >= 20000000 && elapsed < UINT64_C(5000000000));
  assert_int_equal(hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_EQ, 0, 0, HSA_WAIT_STATE_BLOCKED), 1);
  assert_ok(hsa_signal_destroy(s));
}

// A long wait sleeps: it takes little time of the processor.
static void test_wait_is_idle(void** state) {
  hsa_signal_t s = test_signal(1);
  struct timespec a, b;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
  hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_EQ, 0, 300000000, HSA_WAIT_STATE_BLOCKED);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
  assert_true((b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec < 100000000);
  assert_ok(hsa_signal_destroy(s));
}

static void* store_plain(void* data) {
  usleep(20000);
  amd_signal_t* signal = data;
  __atomic_store_n(&signal->value, 0, __ATOMIC_RELEASE);
  return NULL;
}

static void* subtract_by_call(void* data) {
  usleep(20000);
  hsa_signal_subtract_screlease((hsa_signal_t){(uint64_t)data}, 1);
  return NULL;
}

static void wait_for_thread(void* (*run)(void*)) {
  hsa_signal_t s = test_signal(1);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, run, (void*)s.handle), 0);
  test_wait_zero(s);
  pthread_join(thread, NULL);
  assert_ok(hsa_signal_destroy(s));
}
static void test_wait_plain_store(void** state) { wait_for_thread(store_plain); }
static void test_wait_call(void** state) { wait_for_thread(subtract_by_call); }

static void test_wait_many(void** state) {
  hsa_signal_t s[3] = {test_signal(1), test_signal(2), test_signal(3)};
  hsa_signal_condition_t conditions[3] = {HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_LT};
  hsa_signal_value_t values[3] = {0, 0, 3}, seen[3] = {7, 7, 7};
  const hsa_wait_state_t hint = HSA_WAIT_STATE_BLOCKED;
  assert_int_equal(hsa_amd_signal_wait_any(3, s, conditions, values, 1000000, hint, seen), UINT32_MAX);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, store_plain, (void*)s[1].handle), 0);
  assert_int_equal(hsa_amd_signal_wait_any(3, s, conditions, values, UINT64_MAX, hint, seen), 1);
  assert_int_equal(seen[0], 0);
  pthread_join(thread, NULL);
  hsa_signal_store_relaxed(s[2], 2);
  assert_int_equal(hsa_amd_signal_wait_all(3, s, conditions, values, 1000000, hint, seen), UINT32_MAX);
  assert_int_equal(pthread_create(&thread, NULL, store_plain, (void*)s[0].handle), 0);
  assert_int_equal(hsa_amd_signal_wait_all(3, s, conditions, values, UINT64_MAX, hint, seen), 0);
  assert_int_equal(seen[2], 2);
  pthread_join(thread, NULL);
  hsa_signal_group_t group;
  assert_ok(hsa_signal_group_create(3, s, 0, NULL, &group));
  hsa_signal_t found;
  assert_ok(hsa_signal_group_wait_any_scacquire(group, conditions, values, hint, &found, seen));
  assert_int_equal(found.handle, s[0].handle);
  assert_ok(hsa_signal_group_destroy(group));
  for (int i = 0; i < 3; ++i) assert_ok(hsa_signal_destroy(s[i]));
}

typedef struct calls_t {
  hsa_signal_t again, done;
  int count;
} calls_t;

// Asks to be called three times.
static bool count_call(hsa_signal_value_t value, void* data) {
  calls_t* calls = data;
  assert_int_equal(value, 0);
  if (++calls->count < 3) return true;
  hsa_signal_store_screlease(calls->done, 0);
  return false;
}

static void test_handler(void** state) {
  calls_t calls = {test_signal(1), test_signal(1), 0};
  assert_ok(hsa_amd_signal_async_handler(calls.again, HSA_SIGNAL_CONDITION_EQ, 0, count_call, &calls));
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, store_plain, (void*)calls.again.handle), 0);
  test_wait_zero(calls.done);
  pthread_join(thread, NULL);
  assert_int_equal(calls.count, 3);
  assert_ok(hsa_signal_destroy(calls.again));
  assert_ok(hsa_signal_destroy(calls.done));
}

// Copies run while a handler waits for one.
static bool copy_in_handler(hsa_signal_value_t value, void* data) {
  hsa_signal_t copied = test_signal(1);
  int from = 42, to = 0;
  assert_ok(hsa_amd_memory_async_copy(&to, test_gpus[0], &from, test_gpus[0], sizeof(to), 0, NULL, copied));
  test_wait_zero(copied);
  assert_int_equal(to, 42);
  assert_ok(hsa_signal_destroy(copied));
  hsa_signal_store_screlease((hsa_signal_t){(uint64_t)data}, 0);
  return false;
}

static void test_copy_in_handler(void** state) {
  hsa_signal_t start = test_signal(0), done = test_signal(1);
  assert_ok(hsa_amd_signal_async_handler(start, HSA_SIGNAL_CONDITION_EQ, 0, copy_in_handler, (void*)done.handle));
  test_wait_zero(done);
  assert_ok(hsa_signal_destroy(start));
  assert_ok(hsa_signal_destroy(done));
}

static void test_copy_dependencies(void** state) {
  hsa_signal_t before[2] = {test_signal(1), test_signal(1)}, done = test_signal(1);
  char from[64] = "copied", to[64] = "";
  assert_ok(hsa_amd_memory_async_copy(to, test_gpus[1], from, test_gpus[0], sizeof(to), 2, before, done));
  hsa_signal_store_screlease(before[1], 0);
  assert_int_equal(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, 5000000, HSA_WAIT_STATE_BLOCKED), 1);
  hsa_signal_store_screlease(before[0], 0);
  test_wait_zero(done);
  assert_string_equal(to, "copied");
  hsa_amd_profiling_async_copy_time_t time;
  assert_ok(hsa_amd_profiling_get_async_copy_time(done, &time));
  assert_true(time.start && time.start <= time.end && time.end <= test_now());
  for (int i = 0; i < 2; ++i) assert_ok(hsa_signal_destroy(before[i]));
  assert_ok(hsa_signal_destroy(done));
}

static void test_refused(void** state) {
  hsa_signal_t s = test_signal(0);
  hsa_amd_ipc_signal_t handle;
  assert_int_equal(hsa_amd_ipc_signal_create(s, &handle), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  hsa_signal_t shared;
  assert_int_not_equal(hsa_amd_signal_create(0, 0, NULL, HSA_AMD_SIGNAL_IPC, &shared), HSA_STATUS_SUCCESS);
  assert_ok(hsa_signal_destroy(s));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_operations),       cmocka_unit_test(test_conditions),
      cmocka_unit_test(test_timeout),          cmocka_unit_test(test_wait_is_idle),
      cmocka_unit_test(test_wait_plain_store), cmocka_unit_test(test_wait_call),
      cmocka_unit_test(test_wait_many),        cmocka_unit_test(test_handler),
      cmocka_unit_test(test_copy_in_handler),  cmocka_unit_test(test_copy_dependencies),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, test_open, test_close);
}
