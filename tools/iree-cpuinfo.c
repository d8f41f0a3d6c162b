// Prints which features the processor has, as the compiler's --iree-llvmcpu-target-cpu-features names them.

#include <stdio.h>

#include "iree/base/internal/cpu.h"

int main(int argc, char** argv) {
  if (argc > 1) return fprintf(stderr, "iree-cpuinfo: takes no arguments; got '%s'\n", argv[1]), 1;
  iree_string_view_t name;
  bool present = false;
  for (iree_host_size_t i = 0; iree_cpu_enumerate_feature(i, &name, &present); ++i) {
    printf("%-20.*s %d\n", (int)name.size, name.data, present);
  }
  return 0;
}
