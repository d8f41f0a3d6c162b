// Compares what a replay computes with what the program read: --replay_verify and its tolerances.
#ifndef TOOLING_REPLAY_VERIFY_H_
#define TOOLING_REPLAY_VERIFY_H_

#include "iree/hal/replay/execute.h"
#include "tooling/compare.h"

typedef struct replay_verifier_t {
  bool enabled;
  iree_hal_element_type_t type;
  tooling_tolerance_t tolerance;
  uint64_t reads, bytes, differing;
} replay_verifier_t;

// Sets the callback for reads when the flags ask for it. The verifier stays where it is. Errors: INVALID_ARGUMENT.
iree_status_t replay_verifier_initialize(replay_verifier_t* out_verifier, iree_hal_replay_execute_options_t* options);
// Prints the verdict, if any was asked for; the exit code.
int replay_verifier_finish(const replay_verifier_t* verifier);

#endif  // TOOLING_REPLAY_VERIFY_H_
