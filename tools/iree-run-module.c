// Runs a function of a module: loads, calls, prints or compares the results.

#include <stdlib.h>

#include "iree/base/tooling/flags.h"
#include "tooling/guides.h"
#include "tooling/run.h"

static const char usage[] =
    "Runs a function of a compiled module.\n"
    "\n"
    "Example:\n"
    "  iree-run-module --device=local-sync --module=model.vmfb \\\n"
    "      --function=main --input=4xf32=1,2,3,4 --expected_output=4xf32=10,20,30,40\n";

int main(int argc, char** argv) {
  iree_flags_set_usage("iree-run-module", usage);
  flags_set_guide(guide_modules_md);
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  int exit_code = EXIT_SUCCESS;
  iree_status_t status = tooling_refuse_arguments(argc, argv);
  if (iree_status_is_ok(status)) status = tooling_run(NULL, &exit_code);
  return tooling_run_finish(status, exit_code);
}
