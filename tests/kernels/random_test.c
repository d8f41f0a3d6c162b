// Random programs with loops and branches that diverge: the lockstep interpreter against one thread at a time.
#include "random_program.h"

static void compare(uint32_t seed, int64_t threads, uint32_t workgroups) {
  fixture_t f;
  fixture_begin(&f);
  random_program(&f, seed, threads);
  uint64_t total = (uint64_t)threads * workgroups, size = total * RANDOM_SLOTS * RANDOM_SLOT_BYTES;
  uint8_t input[RANDOM_INPUT_BYTES], *got = calloc(size, 1), *wanted = calloc(size, 1);
  srand(seed);
  for (int i = 0; i < RANDOM_INPUT_BYTES; ++i) input[i] = (uint8_t)(rand() >> 7);
  kernel_binding_t bindings[] = {{input, sizeof(input), false}, {got, size, true}};
  if (!fixture_run(&f, bindings, 2, workgroups)) fail_msg("seed %u: %s", seed, f.last);
  for (uint64_t t = 0; t < total; ++t) {
    reference_run(f.func, &(reference_t){input, wanted, (int64_t)t / threads, (int64_t)t % threads});
  }
  uint64_t differences = random_differences(f.func, got, wanted, total);
  if (differences)
    fail_msg("seed %u, %d threads: %llu elements differ", seed, (int)threads, (unsigned long long)differences);
  free(got);
  free(wanted);
  fixture_end(&f);
}

static void on_cpus(void** state) {
  (void)state;
  for (uint32_t seed = 0; seed < 150; ++seed) compare(seed, 1, 5);
}

static void on_gpus(void** state) {
  (void)state;
  for (uint32_t seed = 1000; seed < 1150; ++seed) compare(seed, 7, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(on_cpus), cmocka_unit_test(on_gpus)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
