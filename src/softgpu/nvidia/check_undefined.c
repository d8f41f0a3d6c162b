// Registers that nobody wrote, by lane. A result has no value where one of its sources has none; where bits of several
// registers come together, where none of them has (compilers leave halves open that nobody looks at). That is told
// where it matters: in addresses, in predicates of branches, and in what global memory gets.
#include "softgpu/nvidia/check.h"
#include "softgpu/nvidia/parse.h"

static uint32_t* lanes_of(const frame_t* frame, const operand_t* o) {
  return o->select ? &frame->defined[o->offset / 64] : NULL;
}

uint32_t check_undefined_lanes(const frame_t* frame, const operand_t* o, uint32_t lanes) {
  const uint32_t* defined = lanes_of(frame, o);
  return defined ? lanes & ~*defined : 0;
}

static bool starts(const char* name, const char* with) { return strncmp(name, with, strlen(with)) == 0; }

// Instructions whose result is made of bits of several registers.
static bool joins_bits(const inst_t* inst) {
  static const char* const names[] = {"mov.", "prmt.", "bfi.",  "lop3.", "and.",
                                      "or.",  "xor.",  "selp.", "shf.",  "slct."};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    if (starts(inst->name, names[i])) return true;
  }
  return false;
}

bool check_registers_before(warp_t* w, const inst_t* inst, uint32_t lanes) {
  if (!inst->is_guarded || !starts(inst->name, "bra")) return true;
  operand_t guard = {UINT64_MAX, inst->guard};
  uint32_t missing = check_undefined_lanes(w->call, &guard, lanes);
  if (!missing) return true;
  warp_fault(w, inst, NV_FAULT_CHECK, missing, 0, "uninitialized: a branch by a predicate that nobody wrote");
  return false;
}

// Lanes in which the instruction's sources have values.
static uint32_t defined_sources(const frame_t* frame, const inst_t* inst, uint32_t lanes) {
  uint32_t all = lanes, any = 0, count = 0;
  for (uint32_t i = inst->written; i < 5; ++i) {
    if (!inst->types[i]) continue;
    uint32_t defined = lanes & ~check_undefined_lanes(frame, &inst->op[i], lanes);
    all &= defined, any |= defined, ++count;
  }
  for (uint32_t i = inst->list_written; i < inst->list_count; ++i) {
    uint32_t defined = lanes & ~check_undefined_lanes(frame, &inst->list[i], lanes);
    all &= defined, any |= defined, ++count;
  }
  return !count ? lanes : joins_bits(inst) ? any : all;
}

static void define(const frame_t* frame, const operand_t* o, uint32_t lanes, uint32_t values) {
  uint32_t* defined = lanes_of(frame, o);
  if (defined) *defined = (*defined & ~lanes) | (values & lanes);
}

void check_undefined_after(warp_t* w, const frame_t* frame, const inst_t* inst, uint32_t lanes) {
  // What comes from other lanes or from memory is looked at there.
  bool is_own = !inst->space && !(inst->flags & PTX_SYNC);
  uint32_t values = is_own ? defined_sources(frame, inst, lanes) : lanes;
  for (uint32_t i = 0; i < inst->written; ++i) define(frame, &inst->op[i], lanes, values);
  for (uint32_t i = 0; i < inst->list_written && is_own; ++i) define(frame, &inst->list[i], lanes, values);
  if (is_own || !inst->list_written) return;
  uint32_t missing = w->undefined;
  for (uint32_t i = 0; i < inst->list_written; ++i) define(frame, &inst->list[i], lanes, ~missing);
}
