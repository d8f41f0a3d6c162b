// What the tools for captures share: the file they are given, and the flags that replay it.
#ifndef TOOLING_REPLAY_H_
#define TOOLING_REPLAY_H_

#include "iree/hal/replay/execute.h"
#include "iree/io/file_contents.h"
#include "tooling/run.h"

// Maps the one file that the arguments name. Errors: INVALID_ARGUMENT, and those of opening.
iree_status_t tooling_replay_open(int argc, char** argv, iree_io_file_contents_t** out_contents);

// How the flags --replay_file_remap and --replay_executable_substitution say to replay.
typedef struct tooling_replay_options_t tooling_replay_options_t;
// Reads the flags and the files they name. The options live until they are freed.
iree_status_t tooling_replay_options_create(tooling_replay_options_t** out_options);
void tooling_replay_options_free(tooling_replay_options_t* options);
// To be changed, and given to iree_hal_replay_plan_execute.
iree_hal_replay_execute_options_t* tooling_replay_execute_options(tooling_replay_options_t* options);

#endif  // TOOLING_REPLAY_H_
