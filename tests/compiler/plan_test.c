// Memory plans of few values and of very many: nothing overlaps what lives at the same time, and little is wasted.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
// cmocka.h needs the headers above.
#include <cmocka.h>

#include "compiler/plan.h"

static uint32_t next_random(uint32_t* state) { return *state = *state * 1664525u + 1013904223u, *state >> 8; }

static void check_apart(const plan_value_t* values, uint32_t count, int64_t total) {
  for (uint32_t i = 0; i < count; ++i) {
    assert_true(values[i].offset >= 0 && values[i].offset % PLAN_ALIGNMENT == 0);
    assert_true(values[i].offset + values[i].size <= total);
    for (uint32_t j = 0; j < i; ++j) {
      if (values[i].first > values[j].last || values[j].first > values[i].last) continue;
      int64_t low = values[i].offset > values[j].offset ? values[i].offset : values[j].offset;
      assert_true(low >= values[i].offset + values[i].size || low >= values[j].offset + values[j].size);
    }
  }
}

// Most bytes that live at one moment, which no plan can do without.
static int64_t peak_of(const plan_value_t* values, uint32_t count, uint32_t moments) {
  int64_t* change = calloc(moments + 1, sizeof(*change));
  for (uint32_t i = 0; i < count; ++i) {
    change[values[i].first] += plan_align(values[i].size);
    change[values[i].last + 1] -= plan_align(values[i].size);
  }
  int64_t now = 0, peak = 0;
  for (uint32_t i = 0; i <= moments; ++i) {
    now += change[i];
    if (now > peak) peak = now;
  }
  free(change);
  return peak;
}

// Values of up to `largest` bytes that live up to `longest` moments.
static plan_value_t* some_values(uint32_t count, uint32_t largest, uint32_t longest, uint32_t seed) {
  plan_value_t* values = calloc(count, sizeof(*values));
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t first = next_random(&seed) % count, last = first + next_random(&seed) % longest;
    values[i] = (plan_value_t){.size = next_random(&seed) % largest, .first = first};
    values[i].last = last < count ? last : count - 1;
  }
  return values;
}

static void check_plan(uint32_t count, uint32_t largest, uint32_t longest, int64_t percent) {
  plan_value_t* values = some_values(count, largest, longest, count + longest);
  int64_t total = plan_memory(values, count), peak = peak_of(values, count, count);
  check_apart(values, count, total);
  assert_true(total >= peak && total <= peak * percent / 100);
  free(values);
}

static void test_few(void** unused) {
  check_plan(1, 1000, 1, 100);
  check_plan(100, 1000, 10, 130);
  check_plan(1000, 100000, 50, 120);
}

static void test_many(void** unused) {
  check_plan(6000, 100000, 3000, 115);
  check_plan(6000, 64, 6000, 103);
  check_plan(6000, 3000, 4000, 115);
}

// What lives longest takes most of the looks, what is left is large together.
static void test_two_peaks(void** unused) {
  enum { COUNT = 6000 };
  plan_value_t* values = calloc(COUNT, sizeof(*values));
  for (uint32_t i = 0; i < COUNT; ++i) {
    bool early = i % 2;
    values[i] = (plan_value_t){.size = early ? 1024 : 1000, .first = early ? 0 : COUNT / 2, .last = COUNT / 2 - 1};
    if (!early) values[i].last = COUNT - 1;
  }
  int64_t total = plan_memory(values, COUNT);
  check_apart(values, COUNT, total);
  assert_int_equal(total, peak_of(values, COUNT, COUNT));
  free(values);
}

static void test_too_large(void** unused) {
  plan_value_t values[3] = {0};
  for (uint32_t i = 0; i < 3; ++i) values[i].size = (int64_t)1 << 62;
  assert_true(plan_memory(values, 3) == INT64_MAX);
  assert_true(plan_memory(values, 1) == (int64_t)1 << 62);
}

static void test_sweep(void** unused) {
  enum { COUNT = 2000 };
  plan_value_t* values = some_values(COUNT, 5000, 300, 7);
  plan_value_t* order[COUNT];
  for (uint32_t i = 0; i < COUNT; ++i) order[i] = &values[i];
  int64_t end = plan_sweep(order, COUNT, 640);
  check_apart(values, COUNT, end);
  for (uint32_t i = 0; i < COUNT; ++i) assert_true(values[i].offset >= 640);
  assert_true(end <= 640 + peak_of(values, COUNT, COUNT) * 130 / 100);
  free(values);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_few), cmocka_unit_test(test_many),
                                     cmocka_unit_test(test_two_peaks), cmocka_unit_test(test_sweep),
                                     cmocka_unit_test(test_too_large)};
  return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
