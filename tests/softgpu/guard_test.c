// Faults of GPU code and of others: each gets its own, however often and in whatever order.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// After those that it needs:
#include <cmocka.h>
#include <signal.h>

#include "softgpu/kernel.h"

static sigjmp_buf foreign;
static volatile int foreign_faults;

static void on_foreign_fault(int number, siginfo_t* info, void* context) {
  ++foreign_faults;
  siglongjmp(foreign, 1);
}

static void touch(void* data) {
  *(volatile int*)data = 1;
  __asm__ volatile("" ::: "memory");
}

static void* nowhere(void) {
  uintptr_t address = 16;
  __asm__ volatile("" : "+r"(address));
  return (void*)address;
}

static void fault_outside(void) {
  if (!sigsetjmp(foreign, 1)) touch(nowhere());
}

static void test_faults(void** state) {
  struct sigaction action = {.sa_sigaction = on_foreign_fault, .sa_flags = SA_SIGINFO}, before;
  int fine = 0;
  sigaction(SIGSEGV, &action, &before);
  for (int i = 0; i < 3; ++i) {
    assert_true(run_guarded(touch, &fine));
    assert_false(run_guarded(touch, nowhere()));
    assert_int_equal(foreign_faults, i);
    fault_outside();
    assert_int_equal(foreign_faults, i + 1);
  }
  sigaction(SIGSEGV, &before, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
