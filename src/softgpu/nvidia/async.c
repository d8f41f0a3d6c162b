// Copies that go on by themselves, barriers in memory, and matrices between shared memory and registers. A copy is done
// where it is asked for; that somebody waited for it is what the check of waits looks at. Source: PTX ISA, "cp.async",
// "mbarrier", "ldmatrix", "stmatrix".
#include "softgpu/nvidia/access.h"
#include "softgpu/nvidia/decode.h"

// cp.async.cX.shared.global [dst], [src], size{, src-size | ignore}{, policy}
static bool bind_copy(decoder_t* d, inst_t* inst) {
  uint64_t size;
  uint32_t extra = inst->modifiers.value[PTX_GROUP_POLICY] != 0;
  operand_t* list = ARENA_ARRAY(d->p->arena, operand_t, 2);
  if (!decode_count(d, 3, 4 + extra) || !decode_immediate(d, decode_arg(d, 2), &size)) return false;
  if (size != 4 && size != 8 && size != 16) return decode_fail(d, "a copy of %llu bytes", (unsigned long long)size);
  inst->bytes = (uint8_t)size;
  inst->list = list;
  inst->space = PTX_SHARED;
  inst_t source = *inst;
  if (!decode_memory(d, &source, decode_arg(d, 1), &inst->op[1])) return false;
  if (source.address_is_32) return decode_fail(d, "a source address of 4 bytes");
  if (!decode_memory(d, inst, decode_arg(d, 0), &inst->op[0])) return false;
  inst->extra = (const void*)(uintptr_t)source.imm;
  inst->types[0] = inst->address_is_32 ? PTX_TYPE_u32 : PTX_TYPE_u64, inst->types[1] = PTX_TYPE_u64;
  if (d->s->arg_count <= 3 + extra) return true;
  const arg_t* least = decode_arg(d, 3);
  bool is_predicate = least->kind == ARG_REGISTER && d->p->registers[least->reg].type == PTX_TYPE_pred;
  inst->mode = is_predicate ? 2 : 1;
  return decode_read(d, least, is_predicate ? PTX_TYPE_pred : PTX_TYPE_u32, &inst->op[2]);
}

static const inst_t* run_copy(warp_t* w, const inst_t* inst) {
  uint32_t bytes = inst->bytes;
  if (!access_resolve_aligned(w, inst, &inst->op[0], bytes, bytes, ACCESS_WRITE | ACCESS_ASYNC)) return NULL;
  uint64_t to[WARP_LANES], from[WARP_LANES];
  memcpy(to, w->host, sizeof(to));
  const uint64_t* base = warp_at(w, &inst->op[1]);
  const uint32_t* sizes = inst->mode == 1 ? warp_at(w, &inst->op[2]) : NULL;
  uint32_t ignored = inst->mode == 2 ? *(const uint32_t*)warp_at(w, &inst->op[2]) : 0;
  for (uint32_t lanes = w->exec; lanes; lanes &= lanes - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(lanes);
    uint32_t size = sizes ? (sizes[lane] < bytes ? sizes[lane] : bytes) : ignored >> lane & 1 ? 0 : bytes;
    uint64_t address = base[lane] + (uint64_t)inst->extra;
    if (size && address & (bytes - 1)) {
      return warp_fault(w, inst, NV_FAULT_MISALIGNED, 1u << lane, address,
                        "reads %u bytes at address 0x%llx, which is no multiple of %u", bytes,
                        (unsigned long long)address, bytes);
    }
    from[lane] = size ? access_find(w, inst, lane, PTX_GLOBAL, address, size, ACCESS_READ) : 0;
    if (size && !from[lane]) return NULL;
    memset((void*)to[lane], 0, bytes);
    if (size) memcpy((void*)to[lane], (const void*)from[lane], size);
  }
  return inst + 1;
}

static bool bind_nothing(decoder_t* d, inst_t* inst) { return true; }
static const inst_t* run_nothing(warp_t* w, const inst_t* inst) { return inst + 1; }

// Groups of copies are counted by warp, for the check of waits.
static const inst_t* run_commit(warp_t* w, const inst_t* inst) {
  ++w->copy_group;
  return inst + 1;
}
static bool bind_wait(decoder_t* d, inst_t* inst) {
  inst->mode = d->s->arg_count == 1;
  return decode_count(d, 0, 1) && (!inst->mode || decode_immediate(d, decode_arg(d, 0), &inst->imm));
}
static const inst_t* run_wait(warp_t* w, const inst_t* inst) {
  // wait_all commits what is open.
  if (!inst->mode) ++w->copy_group;
  uint64_t open = inst->mode ? inst->imm : 0;
  uint32_t done = w->copy_group > open ? w->copy_group - (uint32_t)open : 0;
  if (done > w->copies_done) w->copies_done = done;
  return inst + 1;
}

// mbarrier: phase in bit 63; expected arrivals of each phase, pending ones and bytes awaited below.
enum { MBARRIER_COUNT_BITS = 20 };
typedef struct mbarrier_t {
  uint32_t phase, expected, pending;
  int32_t bytes;
} mbarrier_t;

static mbarrier_t mbarrier_read(uint64_t bits) {
  int32_t bytes = (int32_t)(bits >> 40 & ((1 << 21) - 1));
  return (mbarrier_t){(uint32_t)(bits >> 63), bits & 0xfffff, bits >> 20 & 0xfffff, bytes << 11 >> 11};
}
static uint64_t mbarrier_bits(const mbarrier_t* b) {
  return (uint64_t)b->phase << 63 | ((uint64_t)b->bytes & ((1 << 21) - 1)) << 40 | (uint64_t)b->pending << 20 |
         b->expected;
}
static void mbarrier_settle(warp_t* w, mbarrier_t* b) {
  if (b->pending || b->bytes) return;
  b->phase ^= 1;
  b->pending = b->expected;
  if (w->block->check) check_order_block(w->block);
}

enum {
  MBARRIER_INIT,
  MBARRIER_INVAL,
  MBARRIER_ARRIVE,
  MBARRIER_DROP,
  MBARRIER_EXPECT,
  MBARRIER_ARRIVE_EXPECT,
  MBARRIER_TEST
};

// What the words behind "mbarrier" say.
static bool has_word(const statement_t* s, const char* text) {
  for (uint32_t i = 1; i < s->part_count; ++i) {
    if (s->parts[i].size == strlen(text) && memcmp(s->parts[i].text, text, s->parts[i].size) == 0) return true;
  }
  return false;
}

// init [a], n; inval [a]; arrive{.expect_tx} state, [a]{, n}; test_wait p, [a], state; test_wait.parity p, [a], parity
static bool bind_mbarrier(decoder_t* d, inst_t* inst) {
  const statement_t* s = d->s;
  bool expects = has_word(s, "expect_tx"), arrives = has_word(s, "arrive") || has_word(s, "arrive_drop");
  inst->mode = has_word(s, "init")          ? MBARRIER_INIT
               : has_word(s, "inval")       ? MBARRIER_INVAL
               : has_word(s, "arrive_drop") ? MBARRIER_DROP
               : arrives && expects         ? MBARRIER_ARRIVE_EXPECT
               : arrives                    ? MBARRIER_ARRIVE
               : expects                    ? MBARRIER_EXPECT
                                            : MBARRIER_TEST;
  bool tests = inst->mode == MBARRIER_TEST, has_result = tests || arrives;
  uint32_t at = has_result;
  uint32_t space = inst->modifiers.value[PTX_GROUP_SPACE];
  inst->space = (uint8_t)(space ? space : PTX_GENERIC);
  inst->bytes = 8;
  operand_t* list = ARENA_ARRAY(d->p->arena, operand_t, 1);
  inst->list = list, inst->list_count = inst->list_written = has_result;
  if (!decode_count(d, at + 1, at + 3)) return false;
  if (has_result && !decode_write(d, decode_arg(d, 0), tests ? PTX_TYPE_pred : PTX_TYPE_b64, list)) return false;
  if (!decode_memory(d, inst, decode_arg(d, at), &inst->op[0])) return false;
  inst->types[0] = inst->address_is_32 ? PTX_TYPE_u32 : PTX_TYPE_u64;
  inst->count = s->arg_count > at + 1;
  ptx_type_t type = tests && !(inst->flags & PTX_PARITY) ? PTX_TYPE_b64 : PTX_TYPE_u32;
  return !inst->count || decode_read(d, decode_arg(d, at + 1), type, &inst->op[1]);
}

static const inst_t* run_mbarrier(warp_t* w, const inst_t* inst) {
  bool tests = inst->mode == MBARRIER_TEST;
  if (!access_resolve_aligned(w, inst, &inst->op[0], 8, 8, ACCESS_READ | ACCESS_ATOMIC | (tests ? 0 : ACCESS_WRITE)))
    return NULL;
  const uint32_t* narrow = inst->count ? warp_at(w, &inst->op[1]) : NULL;
  const uint64_t* wide = inst->count ? warp_at(w, &inst->op[1]) : NULL;
  uint32_t done = 0;
  for (uint32_t lanes = w->exec; lanes; lanes &= lanes - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(lanes);
    uint64_t* there = (uint64_t*)w->host[lane];
    mbarrier_t b = mbarrier_read(*there);
    uint32_t old_phase = b.phase, number = narrow && !tests ? narrow[lane] : 1;
    bool takes_bytes = inst->mode == MBARRIER_EXPECT || inst->mode == MBARRIER_ARRIVE_EXPECT;
    uint32_t arrivals = inst->mode == MBARRIER_EXPECT ? 0 : takes_bytes ? 1 : number;
    if (tests) {
      uint32_t phase = inst->flags & PTX_PARITY ? narrow[lane] & 1 : (uint32_t)(wide ? wide[lane] >> 63 : 0);
      done |= (uint32_t)(b.phase != phase) << lane;
      continue;
    }
    if (inst->mode == MBARRIER_INIT) {
      b = (mbarrier_t){0, number & 0xfffff, number & 0xfffff, 0};
      *there = mbarrier_bits(&b);
      continue;
    }
    if (inst->mode == MBARRIER_INVAL) {
      *there = 0;
      continue;
    }
    if (arrivals > b.pending) {
      return warp_fault(w, inst, NV_FAULT_INSTRUCTION, 1u << lane, w->host[lane],
                        "%u arrivals at an mbarrier that waits for %u", arrivals, b.pending);
    }
    b.pending -= arrivals;
    if (inst->mode == MBARRIER_DROP) b.expected -= b.expected ? arrivals : 0;
    if (takes_bytes) b.bytes += (int32_t)number;
    mbarrier_settle(w, &b);
    *there = mbarrier_bits(&b);
    if (inst->list_count) ((uint64_t*)warp_at(w, &inst->list[0]))[lane] = (uint64_t)old_phase << 63;
  }
  if (tests) warp_set_predicate(w, &inst->list[0], done);
  return inst + 1;
}

// cp.async.mbarrier.arrive{.noinc} [a]: copies are done, so it arrives; without .noinc it counts itself in first.
static bool bind_copy_arrive(decoder_t* d, inst_t* inst) {
  inst->space =
      (uint8_t)(inst->modifiers.value[PTX_GROUP_SPACE] ? inst->modifiers.value[PTX_GROUP_SPACE] : PTX_GENERIC);
  return decode_count(d, 1, 1) && decode_memory(d, inst, decode_arg(d, 0), &inst->op[0]);
}
static const inst_t* run_copy_arrive(warp_t* w, const inst_t* inst) {
  if (!access_resolve_aligned(w, inst, &inst->op[0], 8, 8, ACCESS_READ | ACCESS_WRITE | ACCESS_ATOMIC)) return NULL;
  w->copies_done = ++w->copy_group;
  for (uint32_t lanes = w->exec; lanes && inst->flags & PTX_NOINC; lanes &= lanes - 1) {
    uint64_t* there = (uint64_t*)w->host[__builtin_ctz(lanes)];
    mbarrier_t b = mbarrier_read(*there);
    if (b.pending) --b.pending;
    mbarrier_settle(w, &b);
    *there = mbarrier_bits(&b);
  }
  return inst + 1;
}

// ldmatrix.sync.aligned.m8n8.xN{.trans}.shared.b16 {d...}, [a]; stmatrix [a], {d...}
static bool bind_matrix(decoder_t* d, inst_t* inst) {
  bool loads = d->s->parts[0].text[0] == 'l';
  uint32_t count = inst->modifiers.value[PTX_GROUP_NUMBER];
  const arg_t* registers = decode_arg(d, loads ? 0 : 1);
  if (!decode_count(d, 2, 2)) return false;
  const arg_t* list = registers->kind == ARG_LIST ? registers->list : registers;
  if ((registers->kind == ARG_LIST ? registers->count : 1) != count)
    return decode_fail(d, "%u registers expected", count);
  operand_t* operands = ARENA_ARRAY(d->p->arena, operand_t, count);
  inst->list = operands, inst->list_count = count, inst->list_written = loads ? (uint8_t)count : 0;
  inst->mode = loads, inst->count = (uint8_t)count;
  inst->bytes = 16;
  inst->space =
      (uint8_t)(inst->modifiers.value[PTX_GROUP_SPACE] ? inst->modifiers.value[PTX_GROUP_SPACE] : PTX_GENERIC);
  for (uint32_t k = 0; k < count; ++k) {
    if (loads ? !decode_write(d, &list[k], PTX_TYPE_b32, &operands[k])
              : !decode_read(d, &list[k], PTX_TYPE_b32, &operands[k])) {
      return false;
    }
  }
  bool done = decode_memory(d, inst, decode_arg(d, loads ? 1 : 0), &inst->op[0]);
  inst->types[0] = inst->address_is_32 ? PTX_TYPE_u32 : PTX_TYPE_u64;
  return done;
}

// Lane i of those that give addresses has row i % 8 of matrix i / 8; lane l gets elements 2 * (l % 4) and the next of
// row l / 4.
static const inst_t* run_matrix(warp_t* w, const inst_t* inst) {
  if (!warp_gather(w, inst, w->begun)) return NULL;
  uint64_t addresses[WARP_LANES];
  if (w->exec != UINT32_MAX) {
    return warp_fault(w, inst, NV_FAULT_INSTRUCTION, w->exec, 0, "not all lanes of the warp execute it");
  }
  access_addresses(w, inst, &inst->op[0], addresses);
  uint32_t giving = 8u * inst->count;
  for (uint32_t lane = giving; lane < WARP_LANES; ++lane) addresses[lane] = addresses[0];
  if (!access_resolve_slow(w, inst, addresses, (ptx_space_t)inst->space, 16, 16,
                           inst->mode ? ACCESS_READ : ACCESS_WRITE)) {
    return NULL;
  }
  if (w->launch->is_instrumented && !check_access(w, inst, &inst->op[0], giving == 32 ? UINT32_MAX : (1u << giving) - 1,
                                                  16, inst->mode ? ACCESS_READ : ACCESS_WRITE)) {
    return NULL;
  }
  bool turns = inst->flags & PTX_TRANS;
  for (uint32_t k = 0; k < inst->count; ++k) {
    uint16_t* registers = warp_at(w, &inst->list[k]);
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
      for (uint32_t half = 0; half < 2; ++half) {
        uint32_t outer = lane / 4, inner = 2 * (lane % 4) + half;
        uint16_t* there = (uint16_t*)w->host[8 * k + (turns ? inner : outer)] + (turns ? outer : inner);
        if (inst->mode) {
          registers[2 * lane + half] = *there;
        } else {
          *there = registers[2 * lane + half];
        }
      }
    }
  }
  return inst + 1;
}

#define MBARRIER_OPTIONS "@space @order @scope b64 parity noComplete expect_tx shared::cluster"
static const row_t rows[] = {
    {"cp.async.ca cp.async.cg", "@space @policy @hint", bind_copy, run_copy},
    {"cp.async.commit_group", "", bind_nothing, run_commit},
    {"cp.async.wait_group cp.async.wait_all", "", bind_wait, run_wait},
    {"cp.async.mbarrier.arrive", "noinc @space b64", bind_copy_arrive, run_copy_arrive},
    {"mbarrier.init mbarrier.inval mbarrier.arrive mbarrier.arrive_drop mbarrier.expect_tx mbarrier.test_wait "
     "mbarrier.try_wait",
     MBARRIER_OPTIONS, bind_mbarrier, run_mbarrier},
    {"ldmatrix.sync.aligned.m8n8 stmatrix.sync.aligned.m8n8", "@number trans @space b16", bind_matrix, run_matrix},
    {"createpolicy", "@hint fractional range cvt L2 b64 global", bind_nothing, run_nothing},
};
const row_table_t async_table = {rows, sizeof(rows) / sizeof(rows[0])};
