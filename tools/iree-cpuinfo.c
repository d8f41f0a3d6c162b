// Prints which features the processor has, as the compiler's --iree-llvmcpu-target-cpu-features names them.

#include <stdio.h>
#include <string.h>

#include "base/flag_table.h"
#include "base/version.h"
#include "iree/base/internal/cpu.h"

static const flag_entry_t entries[] = {{"--help", "[=FORMAT]", FLAG_TABLE_FORMATS, "print this and exit", NULL},
                                       {"--version", "", NULL, "print the version and exit", NULL}};
static const flag_table_t table = {
    .program = "iree-cpuinfo",
    .summary = "prints the processor's features, one a line: its name, 1 when it is there",
    .synopsis = "",
    .description = "",
    .entries = entries,
    .count = sizeof(entries) / sizeof(entries[0])};

int main(int argc, char** argv) {
  flag_table_format_t format;
  if (argc == 2 && flag_table_wants(argv[1], &format)) return flag_table_print(&table, format, stdout), 0;
  if (argc == 2 && strcmp(argv[1], "--version") == 0) return puts("iree-cpuinfo: iree-c version " IREE_C_VERSION), 0;
  if (argc > 1) return fprintf(stderr, "iree-cpuinfo: takes no arguments; got '%s'\n", argv[1]), 1;
  iree_string_view_t name;
  bool present = false;
  for (iree_host_size_t i = 0; iree_cpu_enumerate_feature(i, &name, &present); ++i) {
    printf("%-20.*s %d\n", (int)name.size, name.data, present);
  }
  return 0;
}
