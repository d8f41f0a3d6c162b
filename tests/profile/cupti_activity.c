// CUPTI's records of kernels, for tests: as many as CUPTI_KERNELS says (1) for each number that is pushed, the last
// ones first, of which two have one call. Each is over 1,000 ns behind the one before, and begins 200 ns before that is
// over.
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hal/stream/activity.h"

enum { INVALID = 1, END = 12, MAX_NUMBERS = 64, STEP_NS = 1000, OVERLAP_NS = 200, CALL = 1000 };

static struct {
  uint64_t (*now)(void);
  cupti_request_fn_t request;
  cupti_complete_fn_t complete;
  bool is_on[64];
  bool is_open;
  unsigned count, done;
  struct {
    uint64_t id, start;
  } numbers[MAX_NUMBERS];
} state;

#define ENTRY(name, symbol, parameters) int double_##name parameters __asm__(symbol);
#include "hal/stream/cupti_activity.def"

int double_callbacks(cupti_request_fn_t request, cupti_complete_fn_t complete) {
  state.request = request;
  state.complete = complete;
  return 0;
}
int double_clock(uint64_t (*now)(void)) {
  state.now = now;
  return 0;
}
int double_enable(int kind) {
  if (!state.request || !state.now || state.is_on[kind]) return INVALID;
  state.is_on[kind] = true;
  return 0;
}
int double_disable(int kind) {
  state.is_on[kind] = false;
  return 0;
}
int double_enable_call(uint32_t call, uint8_t is_on) { return state.is_on[CUPTI_DRIVER_CALLS] && !is_on ? 0 : INVALID; }

int double_push(int kind, uint64_t id) {
  if (kind != CUPTI_EXTERNAL_UNKNOWN || state.is_open || state.count == MAX_NUMBERS) return INVALID;
  state.is_open = true;
  state.numbers[state.count].id = id;
  state.numbers[state.count++].start = state.now();
  return 0;
}
int double_pop(int kind, uint64_t* out_id) {
  bool was_open = state.is_open;
  state.is_open = false;
  return was_open ? 0 : INVALID;
}

static size_t length_of(const uint8_t* record) {
  uint32_t kind = 0;
  memcpy(&kind, record, sizeof(kind));
  return kind == CUPTI_KERNELS ? sizeof(cupti_kernel_record_t) : sizeof(cupti_external_record_t);
}
int double_next(uint8_t* buffer, size_t length, uint8_t** inout_record) {
  uint8_t* next = *inout_record ? *inout_record + length_of(*inout_record) : buffer;
  *inout_record = next;
  return next < buffer + length ? 0 : END;
}

// Kernels that others launched: as many as CUPTI_OTHERS says.
static void give_others(void) {
  const char* text = getenv("CUPTI_OTHERS");
  for (int left = atoi(text ? text : "0"); left > 0;) {
    uint8_t* buffer = NULL;
    size_t capacity = 0, records = 0, length = 0;
    state.request(&buffer, &capacity, &records);
    for (; left > 0 && capacity - length >= sizeof(cupti_kernel_record_t);
         --left, length += sizeof(cupti_kernel_record_t)) {
      const cupti_kernel_record_t kernel = {.kind = CUPTI_KERNELS, .start = 1, .end = 2, .correlation = UINT32_MAX};
      memcpy(buffer + length, &kernel, sizeof(kernel));
    }
    state.complete(NULL, 0, buffer, capacity, length);
  }
}

// The first flush finds nothing yet.
int double_flush(uint32_t flags) {
  static bool was_asked;
  const char* count = getenv("CUPTI_KERNELS");
  bool is_first = !was_asked;
  was_asked = true;
  if (is_first) give_others();
  for (; !is_first && state.done < state.count && state.is_on[CUPTI_KERNELS]; ++state.done) {
    uint8_t* buffer = NULL;
    size_t capacity = 0, records = 0, length = 0;
    state.request(&buffer, &capacity, &records);
    for (int i = atoi(count ? count : "1") - 1; i >= 0; --i) {
      uint64_t end = state.numbers[state.done].start + (uint64_t)(i + 1) * STEP_NS;
      const uint32_t call = (uint32_t)(CALL * state.done + (uint32_t)i / 2);
      const cupti_kernel_record_t kernel = {
          .kind = CUPTI_KERNELS, .start = end - STEP_NS - (i ? OVERLAP_NS : 0), .end = end, .correlation = call};
      const cupti_external_record_t external = {CUPTI_EXTERNAL_IDS, CUPTI_EXTERNAL_UNKNOWN,
                                                state.numbers[state.done].id, call, 0};
      memcpy(buffer + length, &kernel, sizeof(kernel));
      memcpy(buffer + length + sizeof(kernel), &external, sizeof(external));
      length += sizeof(kernel) + sizeof(external);
    }
    state.complete(NULL, 0, buffer, capacity, length);
  }
  return 0;
}
