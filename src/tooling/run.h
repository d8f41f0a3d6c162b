// One call of a module's function, as iree-run-module makes it: --function, --input, --output, --expected_output and
// the flags of what is printed and compared.
#ifndef TOOLING_RUN_H_
#define TOOLING_RUN_H_

#include "tooling/context.h"

// Loads what flags and options (NULL: none) name, calls the function, prints, writes or compares its results.
// *out_exit_code is not 0 when results differ from those expected.
iree_status_t tooling_run(const tooling_context_options_t* options, int* out_exit_code);

// Prints what went wrong, also with standard output; returns the exit code for it.
int tooling_run_finish(iree_status_t status, int exit_code);

#endif  // TOOLING_RUN_H_
