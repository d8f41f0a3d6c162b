// The file that a tool for captures is given.
#include "tooling/replay.h"

iree_status_t tooling_replay_open(int argc, char** argv, iree_io_file_contents_t** out_contents) {
  if (argc != 2) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "expected one replay file path argument");
  return iree_io_file_contents_map(iree_make_cstring_view(argv[1]), IREE_IO_FILE_ACCESS_READ, iree_allocator_system(),
                                   out_contents);
}
