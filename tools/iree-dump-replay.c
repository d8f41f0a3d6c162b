// Prints what a capture of a program's devices (.ireereplay) holds.

#include "iree/base/tooling/flags.h"
#include "iree/hal/replay/dump.h"
#include "tooling/guides.h"
#include "tooling/replay.h"

IREE_FLAG(string, format, "text", "`text`, or `jsonl`: one JSON object a line.");

static const char usage[] =
    "Dumps information from an IREE HAL replay file: its records, and where in the file their data is.\n"
    "\n"
    "Examples:\n"
    "  iree-dump-replay model.ireereplay\n"
    "  iree-dump-replay --format=jsonl model.ireereplay | jq 'select(.operation==\"device.queue_execute\")'\n";

static iree_status_t write_text(void* user_data, iree_string_view_t text) {
  fwrite(text.data, 1, text.size, stdout);
  return iree_ok_status();
}

static iree_status_t run(int argc, char** argv) {
  iree_hal_replay_dump_options_t options = iree_hal_replay_dump_options_default();
  iree_string_view_t format = iree_make_cstring_view(FLAG_format);
  if (iree_string_view_equal(format, IREE_SV("jsonl"))) {
    options.format = IREE_HAL_REPLAY_DUMP_FORMAT_JSONL;
  } else if (!iree_string_view_equal(format, IREE_SV("text"))) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--format= must be `text` or `jsonl`; got `%s`", FLAG_format);
  }
  iree_io_file_contents_t* contents = NULL;
  IREE_RETURN_IF_ERROR(tooling_replay_open(argc, argv, &contents));
  iree_hal_replay_dump_write_callback_t callback = {write_text, NULL};
  iree_status_t status = iree_hal_replay_dump_file(contents->const_buffer, &options, callback, iree_allocator_system());
  iree_io_file_contents_free(contents);
  return status;
}

int main(int argc, char** argv) {
  iree_flags_set_usage("iree-dump-replay", usage);
  flags_set_guide(guide_replay_md);
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  return tooling_run_finish(run(argc, argv), EXIT_SUCCESS);
}
