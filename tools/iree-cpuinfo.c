// Prints which features the processor has, as the compiler's --iree-llvmcpu-target-cpu-features names them.

#include "iree/base/internal/cpu.h"

int main(void) {
  iree_string_view_t name;
  bool present = false;
  for (iree_host_size_t i = 0; iree_cpu_enumerate_feature(i, &name, &present); ++i) {
    printf("%-20.*s %d\n", (int)name.size, name.data, present);
  }
  return 0;
}
