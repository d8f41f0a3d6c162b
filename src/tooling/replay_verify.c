// See replay_verify.h.
#include "tooling/replay_verify.h"

#include <stdlib.h>

#include "iree/base/tooling/flags.h"

IREE_FLAG(string, replay_verify, "",
          "Compares what the program read from its buffers with what the replay has there, as elements of this type:\n"
          "`f32`, `f16`, `i32`, …, or `exact` for the same bits. Differences end with exit code 1.");
IREE_FLAG(double, replay_verify_absolute, 1e-4, "Absolute tolerance of --replay_verify.");
IREE_FLAG(double, replay_verify_relative, 1e-4, "Tolerance relative to the captured value, added to the absolute one.");

static iree_status_t verify(void* user_data, const iree_hal_replay_read_event_t* event) {
  replay_verifier_t* verifier = user_data;
  iree_const_byte_span_t views[2] = {event->captured, event->replayed};
  iree_host_size_t size = iree_hal_element_dense_byte_count(verifier->type);
  iree_host_size_t count = event->captured.data_length / size, whole = count * size;
  iree_host_size_t index = tooling_elements_compare(&verifier->tolerance, verifier->type, count, views);
  bool tail =
      memcmp(event->captured.data + whole, event->replayed.data + whole, event->captured.data_length - whole) == 0;
  ++verifier->reads;
  verifier->bytes += event->captured.data_length;
  if (index == count && tail) return iree_ok_status();
  ++verifier->differing;
  printf("[FAILED] read at record %" PRIu64 " of buffer %" PRIu64 ": element at index %" PRIhsz " (",
         event->sequence_ordinal, event->buffer_id, index);
  if (index < count) {
    tooling_element_print(verifier->type, event->replayed, index, stdout);
    printf(") does not match the captured (");
    tooling_element_print(verifier->type, event->captured, index, stdout);
  } else {
    printf("after the last whole one");
  }
  printf(")\n");
  return iree_ok_status();
}

iree_status_t replay_verifier_initialize(replay_verifier_t* out_verifier, iree_hal_replay_execute_options_t* options) {
  bool exact = strcmp(FLAG_replay_verify, "exact") == 0;
  *out_verifier = (replay_verifier_t){
      .enabled = FLAG_replay_verify[0] != 0,
      .type = IREE_HAL_ELEMENT_TYPE_UINT_8,
      .tolerance = {.exact = exact,
                    .f16 = FLAG_replay_verify_absolute,
                    .bf16 = FLAG_replay_verify_absolute,
                    .f32 = FLAG_replay_verify_absolute,
                    .f64 = FLAG_replay_verify_absolute,
                    .relative = FLAG_replay_verify_relative},
  };
  if (!out_verifier->enabled) return iree_ok_status();
  if (!exact) {
    IREE_RETURN_IF_ERROR(iree_hal_parse_element_type(iree_make_cstring_view(FLAG_replay_verify), &out_verifier->type),
                         "--replay_verify= is `exact` or a type of elements");
    if (iree_hal_element_bit_count(out_verifier->type) < 8) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--replay_verify= takes types of whole bytes");
    }
  }
  options->read_event_callback = (iree_hal_replay_read_event_callback_t){verify, out_verifier};
  return iree_ok_status();
}

int replay_verifier_finish(const replay_verifier_t* verifier) {
  if (!verifier->enabled) return EXIT_SUCCESS;
  printf("[%s] %" PRIu64 " of %" PRIu64 " reads (%" PRIu64 " bytes) are as captured\n",
         verifier->differing ? "FAILED" : "SUCCESS", verifier->reads - verifier->differing, verifier->reads,
         verifier->bytes);
  return verifier->differing ? EXIT_FAILURE : EXIT_SUCCESS;
}
