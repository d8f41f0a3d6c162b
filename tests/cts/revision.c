// Revision: recorded command buffers that are given other numbers, again and again, in the same memory.
#include "counting.h"
#include "cts.h"
#include "iree/base/threading/thread.h"

enum { WORDS = 16, FIRST = 4 };

// scaled = words * n of n words; then word 15 of scaled is n, n words go to copy's end, and n bytes of it are n.
typedef struct revised_t {
  iree_hal_command_buffer_t* commands;
  iree_hal_buffer_t *words, *scaled, *copy;
} revised_t;

static void give_scale(revised_t* r, uint32_t n) {
  const uint32_t constants[] = {n, 0};
  const iree_hal_buffer_ref_t refs[] = {cts_ref(r->words, 0, n * 4), cts_ref(r->scaled, 0, n * 4)};
  CHECK_OK(cts_dispatch(r->commands, CTS_SCALE, n, 2, constants, 2, refs));
}

static void give_transfers(revised_t* r, uint32_t n) {
  CHECK_OK(
      iree_hal_command_buffer_update_buffer(r->commands, &n, 0, cts_ref(r->scaled, 60, 4), IREE_HAL_UPDATE_FLAG_NONE));
  CHECK_OK(iree_hal_command_buffer_copy_buffer(r->commands, cts_ref(r->scaled, 0, n * 4),
                                               cts_ref(r->copy, (WORDS - n) * 4, n * 4), IREE_HAL_COPY_FLAG_NONE));
  CHECK_OK(iree_hal_command_buffer_fill_buffer(r->commands, cts_ref(r->copy, 0, n), &n, 1, IREE_HAL_FILL_FLAG_NONE));
}

static void revised_begin(revised_t* r, iree_hal_command_buffer_mode_t mode) {
  *r = (revised_t){.words = cts_buffer(64, 1), .scaled = cts_buffer(64, 0), .copy = cts_buffer(64, 0)};
  r->commands = cts_begin(mode, 0);
  give_scale(r, FIRST);
  cts_barrier(r->commands);
  give_transfers(r, FIRST);
  cts_end(r->commands);
}

static void revised_end(revised_t* r) {
  iree_hal_command_buffer_release(r->commands);
  iree_hal_buffer_release(r->words);
  iree_hal_buffer_release(r->scaled);
  iree_hal_buffer_release(r->copy);
}

// Waits until the execution has let go of the command buffer too.
static void wait_until_idle(revised_t* r) {
  while (!iree_hal_command_buffer_can_revise(r->commands)) iree_thread_yield();
}

static void execute(revised_t* r, uint32_t n) {
  CHECK_OK(cts_execute(r->commands, 0, NULL));
  if (!cts.executes) return;
  for (uint32_t i = 0; i < n; ++i) assert_int_equal(cts_word(r->scaled, i), 0x01010101 * n);
  assert_int_equal(cts_word(r->scaled, WORDS - 1), n);
  for (uint32_t i = WORDS - n; i < WORDS; ++i) assert_int_equal(cts_word(r->copy, i), 0x01010101 * n);
  if (n) cts_expect_bytes(r->copy, 0, n, (uint8_t)n);
}

// Up and down: what slots need shrinks too. Sizes of zero do nothing.
static void sizes(void** state) {
  static const uint32_t counts[] = {5, 7, 0, 2, 8, 1, 0, 8, 4};
  revised_t r;
  revised_begin(&r, IREE_HAL_COMMAND_BUFFER_MODE_REVISABLE);
  execute(&r, FIRST);
  for (size_t i = 0; i < IREE_ARRAYSIZE(counts); ++i) {
    wait_until_idle(&r);
    uint64_t before = counting_calls();
    CHECK_OK(iree_hal_command_buffer_begin_revision(r.commands));
    give_scale(&r, counts[i]);
    give_transfers(&r, counts[i]);
    cts_end(r.commands);
    if (!cts.makes_graphs) assert_int_equal(counting_calls() - before, 0);  // which are made anew
    execute(&r, counts[i]);
  }
  revised_end(&r);
}

// Dispatches alone, which a graph is given anew: copy = words * n * n of n words, with buffers of the call; with a fill
// of another buffer in front, which stays.
static void dispatches(void** state) {
  revised_t r = {.words = cts_buffer(64, 1), .scaled = cts_buffer(64, 0), .copy = cts_buffer(64, 0)};
  iree_hal_buffer_t* filled = cts_buffer(64, 0);
  r.commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_REVISABLE, 2);
  for (uint32_t i = 0; i < 12; ++i) {
    const uint32_t n = i * 5 % 9, constants[] = {n, 0};
    const iree_hal_buffer_ref_t to_scaled[] = {iree_hal_make_buffer_ref(r.words, 0, n * 4),
                                               iree_hal_make_indirect_buffer_ref(0, 0, n * 4)};
    const iree_hal_buffer_ref_t to_copy[] = {iree_hal_make_indirect_buffer_ref(0, 0, n * 4),
                                             iree_hal_make_indirect_buffer_ref(1, 0, n * 4)};
    if (i) {
      wait_until_idle(&r);
      CHECK_OK(iree_hal_command_buffer_begin_revision(r.commands));
      CHECK_OK(iree_hal_command_buffer_keep(r.commands, 1));
    } else {
      CHECK_OK(iree_hal_command_buffer_fill_buffer(r.commands, iree_hal_make_buffer_ref(filled, 0, 64), "x", 1,
                                                   IREE_HAL_FILL_FLAG_NONE));
    }
    CHECK_OK(cts_dispatch(r.commands, CTS_SCALE, n, 2, constants, 2, to_scaled));
    if (!i) cts_barrier(r.commands);  // which stays
    CHECK_OK(cts_dispatch(r.commands, CTS_SCALE, n, 2, constants, 2, to_copy));
    cts_end(r.commands);
    for (uint32_t run = 0; run < 1 + i % 3; ++run) {
      bool swaps = (i + run) % 4 == 3;
      iree_hal_buffer_t *middle = swaps ? r.copy : r.scaled, *last = swaps ? r.scaled : r.copy;
      const iree_hal_buffer_binding_t table[] = {{middle, 0, 64}, {last, 0, 64}};
      CHECK_OK(cts_execute(r.commands, 2, table));
      for (uint32_t k = 0; cts.executes && k < n; ++k) assert_int_equal(cts_word(last, k), 0x01010101 * n * n);
    }
  }
  iree_hal_buffer_release(filled);
  revised_end(&r);
}

// What is kept stays as it is, and its slots need what they did.
static void kept(void** state) {
  revised_t r;
  revised_begin(&r, IREE_HAL_COMMAND_BUFFER_MODE_REVISABLE);
  CHECK_OK(iree_hal_command_buffer_begin_revision(r.commands));
  give_scale(&r, 9);
  CHECK_OK(iree_hal_command_buffer_keep(r.commands, 3));
  cts_end(r.commands);
  CHECK_OK(cts_execute(r.commands, 0, NULL));
  if (cts.executes) {
    assert_int_equal(cts_word(r.scaled, 8), 0x01010101 * 9);
    assert_int_equal(cts_word(r.scaled, WORDS - 1), FIRST);
    assert_int_equal(cts_word(r.copy, WORDS - FIRST), 0x01010101 * 9);
    assert_int_equal(cts_word(r.copy, WORDS - FIRST - 1), 0);
  }
  revised_end(&r);
  if (!cts.is_indirect) return;
  revised_begin(&r, IREE_HAL_COMMAND_BUFFER_MODE_REVISABLE);
  CHECK_OK(iree_hal_command_buffer_begin_revision(r.commands));
  CHECK_OK(iree_hal_command_buffer_keep(r.commands, 4));
  cts_end(r.commands);
  for (iree_host_size_t i = 0; i < cts.binding_count; ++i) {
    if (cts.bindings[i].buffer == r.words) cts.bindings[i].length = FIRST * 4 - 4;
  }
  CHECK_CODE(OUT_OF_RANGE, cts_execute(r.commands, 0, NULL));
  revised_end(&r);
}

static void refused(void** state) {
  revised_t r;
  revised_begin(&r, IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT);
  CHECK_CODE(FAILED_PRECONDITION, iree_hal_command_buffer_begin_revision(r.commands));
  CHECK_CODE(FAILED_PRECONDITION, iree_hal_command_buffer_keep(r.commands, 1));
  revised_end(&r);
  revised_begin(&r, IREE_HAL_COMMAND_BUFFER_MODE_REVISABLE);
  iree_hal_command_buffer_retain(r.commands);  // somebody else has it
  CHECK_CODE(FAILED_PRECONDITION, iree_hal_command_buffer_begin_revision(r.commands));
  iree_hal_command_buffer_release(r.commands);
  CHECK_OK(iree_hal_command_buffer_begin_revision(r.commands));
  CHECK_CODE(FAILED_PRECONDITION, cts_execute(r.commands, 0, NULL));
  const iree_hal_buffer_ref_t refs[] = {cts_ref(r.words, 0, 4), cts_ref(r.scaled, 0, 4)};
  CHECK_CODE(INVALID_ARGUMENT, cts_dispatch(r.commands, CTS_IDS, 1, 0, NULL, 1, refs));
  CHECK_CODE(INVALID_ARGUMENT,
             iree_hal_command_buffer_copy_buffer(r.commands, refs[0], refs[1], IREE_HAL_COPY_FLAG_NONE));
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_command_buffer_keep(r.commands, 5));
  CHECK_CODE(FAILED_PRECONDITION, iree_hal_command_buffer_execution_barrier(
                                      r.commands, IREE_HAL_EXECUTION_STAGE_DISPATCH, IREE_HAL_EXECUTION_STAGE_DISPATCH,
                                      IREE_HAL_EXECUTION_BARRIER_FLAG_NONE, 0, NULL, 0, NULL));
  CHECK_OK(iree_hal_command_buffer_keep(r.commands, 1));
  const uint8_t data[8] = {0};
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_command_buffer_update_buffer(r.commands, data, 0, cts_ref(r.scaled, 0, 8),
                                                                     IREE_HAL_UPDATE_FLAG_NONE));
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_command_buffer_end(r.commands));
  revised_end(&r);
}

CTS_RECORDING_SUITE(revision, cmocka_unit_test(sizes), cmocka_unit_test(dispatches), cmocka_unit_test(kept),
                    cmocka_unit_test(refused));
