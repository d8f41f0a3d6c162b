// Waits for memory; see waits.h.
#include "softgpu/waits.h"

#include <string.h>

// Fields of waits, by generation; manuals: "S_WAITCNT" and its like. The count is `bits` of the immediate from `shift`
// on, and above them those from `high_shift` on.
static const struct {
  const char* name;
  uint8_t first, last;  // generations
  uint8_t counter, shift, bits, high_shift, high_bits;
} rows[] = {
    {"s_waitcnt", 9, 10, COUNTER_LOAD, 0, 4, 14, 2},
    {"s_waitcnt", 9, 9, COUNTER_LDS, 8, 4, 0, 0},
    {"s_waitcnt", 10, 10, COUNTER_LDS, 8, 6, 0, 0},
    {"s_waitcnt", 11, 11, COUNTER_LOAD, 10, 6, 0, 0},
    {"s_waitcnt", 11, 11, COUNTER_LDS, 4, 6, 0, 0},
    {"s_waitcnt_vmcnt", 10, 11, COUNTER_LOAD, 0, 6, 0, 0},
    {"s_waitcnt_lgkmcnt", 10, 11, COUNTER_LDS, 0, 6, 0, 0},
    {"s_waitcnt_vscnt", 10, 11, COUNTER_STORE, 0, 6, 0, 0},
    {"s_wait_loadcnt", 12, 12, COUNTER_LOAD, 0, 6, 0, 0},
    {"s_wait_storecnt", 12, 12, COUNTER_STORE, 0, 6, 0, 0},
    {"s_wait_dscnt", 12, 12, COUNTER_LDS, 0, 6, 0, 0},
    {"s_wait_kmcnt", 12, 12, COUNTER_SCALAR, 0, 5, 0, 0},
    {"s_wait_loadcnt_dscnt", 12, 12, COUNTER_LOAD, 8, 6, 0, 0},
    {"s_wait_loadcnt_dscnt", 12, 12, COUNTER_LDS, 0, 6, 0, 0},
    {"s_wait_storecnt_dscnt", 12, 12, COUNTER_STORE, 8, 6, 0, 0},
    {"s_wait_storecnt_dscnt", 12, 12, COUNTER_LDS, 0, 6, 0, 0},
    {"s_wait_idle", 10, 12, COUNTER_LOAD, 0, 0, 0, 0},
    {"s_wait_idle", 10, 12, COUNTER_STORE, 0, 0, 0, 0},
    {"s_wait_idle", 10, 12, COUNTER_LDS, 0, 0, 0, 0},
    {"s_wait_idle", 10, 12, COUNTER_SCALAR, 0, 0, 0, 0},
};

waits_t waits_of(const isa_target_t* target, const inst_t* inst) {
  waits_t waits;
  uint32_t bits = inst->encoding[0] & 0xffff;
  for (uint32_t i = 0; i < COUNTER_COUNT; ++i) waits.most[i] = WAITS_ANY;
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    if (target->major < rows[i].first || target->major > rows[i].last) continue;
    if (strcmp(inst->row->name, rows[i].name) != 0) continue;
    uint32_t low = bits >> rows[i].shift & ((1u << rows[i].bits) - 1);
    uint32_t high = bits >> rows[i].high_shift & ((1u << rows[i].high_bits) - 1);
    waits.most[rows[i].counter] = low | high << rows[i].bits;
  }
  return waits;
}
