// Checks of memory accesses: bounds and alignment.
#include "softgpu/check.h"
#include "softgpu/check_group.h"
#include "softgpu/check_undefined.h"
#include "softgpu/kernel.h"

static const char* access_name(uint32_t access) {
  return access & CHECK_ATOMIC ? "updates" : access & CHECK_WRITE ? "writes" : "reads";
}

// Whether the bytes are where the GPU may touch them so: in one range, or in several without a gap, as locked memory
// and mapped pages are.
static bool is_inside(wave_t* w, uint64_t address, uint32_t bytes, uint32_t access, memory_range_t* range) {
  memory_map_t* map = w->launch->engine->options.memory;
  if (!map) return true;
  // Scratch reached through a buffer descriptor is the workgroup's own.
  uint64_t scratch = (uint64_t)w->scratch, size = (uint64_t)w->scratch_size * w->lanes;
  if (address - scratch < size && bytes <= size - (address - scratch)) return true;
  while (memory_map_find(map, address, range) && (range->writable || !(access & CHECK_WRITE))) {
    uint64_t left = range->size - (address - range->base);
    if (bytes <= left) return true;
    address += left, bytes -= (uint32_t)left;
  }
  return false;
}

static bool report_bounds(wave_t* w, const inst_t* inst, uint32_t lane, uint64_t address, uint32_t bytes,
                          uint32_t access, const memory_range_t* range) {
  unsigned long long at = address, past = range->size ? address - range->base - range->size : 0;
  if (range->size && address >= range->base && past < (1 << 20)) {
    wave_fault(w, inst, ENGINE_FAULT_CHECK, address,
               "out of bounds: lane %u %s %u bytes at 0x%llx, %llu bytes past the end of %llu bytes of %s", lane,
               access_name(access), bytes, at, past, (unsigned long long)range->size, range->kind);
  } else {
    wave_fault(w, inst, ENGINE_FAULT_CHECK, address, "out of bounds: lane %u %s %u bytes at 0x%llx, where nothing is",
               lane, access_name(access), bytes, at);
  }
  return false;
}

// What the hardware asks for: ROCm sets it up so that vector memory takes any address, and compilers rely on that where
// elements are smaller than the access; atomics need their own size, and scalar memory whole dwords.
static uint32_t alignment_of(check_space_t space, uint32_t access, uint32_t bytes) {
  if (access & CHECK_ATOMIC) return bytes;
  return space != CHECK_SCALAR ? 1 : bytes < 4 ? bytes : 4;
}

static bool check_one(wave_t* w, const inst_t* inst, check_space_t space, uint32_t access, uint32_t lane,
                      uint64_t address, uint32_t bytes) {
  if (address % alignment_of(space, access, bytes)) {
    wave_fault(w, inst, ENGINE_FAULT_CHECK, address, "misaligned: lane %u %s %u bytes at 0x%llx", lane,
               access_name(access), bytes, (unsigned long long)address);
    return false;
  }
  memory_range_t range = {0};
  uint64_t size = space == CHECK_LDS ? w->group->lds_size : w->scratch_size;
  switch (space) {
    case CHECK_LDS:
    case CHECK_SCRATCH:
      if (address + bytes <= size) return true;
      wave_fault(w, inst, ENGINE_FAULT_CHECK, address, "out of bounds: lane %u %s %u bytes at byte %llu of %llu of %s",
                 lane, access_name(access), bytes, (unsigned long long)address, (unsigned long long)size,
                 space == CHECK_LDS ? "workgroup memory" : "scratch");
      return false;
    default:
      return is_inside(w, address, bytes, access, &range) ||
             report_bounds(w, inst, lane, address, bytes, access, &range);
  }
}

static void count_bytes(wave_t* w, check_space_t space, uint32_t access, uint64_t mask, uint32_t bytes) {
  engine_counters_t* c = w->group->counters;
  if (!c) return;
  bool lds = space == CHECK_LDS, scratch = space == CHECK_SCRATCH;
  uint64_t all = (uint64_t)__builtin_popcountll(mask) * bytes;
  if (access & CHECK_READ) *(lds ? &c->lds_read : scratch ? &c->scratch_read : &c->bytes_read) += all;
  if (access & CHECK_WRITE) *(lds ? &c->lds_written : scratch ? &c->scratch_written : &c->bytes_written) += all;
}

// Cycles that one turn of the 32 banks of 4 bytes needs beyond the first: the most different dwords in one bank.
static uint32_t conflicts_of(const uint64_t* dwords, uint32_t count) {
  uint64_t seen[32][32];
  uint32_t counts[32] = {0}, most = 1;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t bank = dwords[i] % 32, k = 0;
    while (k < counts[bank] && seen[bank][k] != dwords[i]) ++k;
    if (k == counts[bank]) seen[bank][counts[bank]++] = dwords[i];
    if (counts[bank] > most) most = counts[bank];
  }
  return most - 1;
}

// A turn takes 32 lanes' dwords, or as many fewer lanes as they have more dwords.
static void count_conflicts(wave_t* w, const uint64_t* address, uint64_t mask, uint32_t bytes) {
  uint64_t dwords[32];
  uint32_t each = bytes < 4 ? 1 : bytes / 4, lanes = 32 / each, count = 0;
  for (uint32_t i = 0; i < w->lanes; ++i) {
    for (uint32_t k = 0; mask >> i & 1 && k < each; ++k) dwords[count++] = address[i] / 4 + k;
    if ((i + 1) % lanes && i + 1 < w->lanes) continue;
    w->group->counters->lds_conflicts += conflicts_of(dwords, count);
    count = 0;
  }
}

bool check_memory(wave_t* w, const inst_t* inst, check_space_t space, uint32_t access, const uint64_t* address,
                  uint64_t mask, uint32_t bytes) {
  count_bytes(w, space, access, mask, bytes);
  if (w->group->counters && space == CHECK_LDS) count_conflicts(w, address, mask, bytes);
  uint32_t checks = w->launch->checks;
  bool of_launch = (space == CHECK_GLOBAL || space == CHECK_SCALAR) && checks & ENGINE_CHECK_RACES;
  if (access & CHECK_ATOMIC) check_global_order(w);
  bool of_group = space == CHECK_LDS && checks & (ENGINE_CHECK_WAITS | ENGINE_CHECK_RACES);
  for (uint32_t i = 0; i < w->lanes; ++i) {
    if (!(mask >> i & 1)) continue;
    if (checks & ENGINE_CHECK_BOUNDS && !check_one(w, inst, space, access, i, address[i], bytes)) return false;
    if (of_launch && !check_global_access(w, inst, access, i, address[i], bytes)) return false;
    if (of_group && !check_group_access(w, inst, access, i, address[i], bytes)) return false;
  }
  return !w->undefined || check_undefined_move(w, inst, space, access, address, mask, bytes);
}

void check_count(wave_t* w, const inst_t* inst) {
  engine_counters_t* c = w->group->counters;
  switch (inst->row->klass) {
    case INST_CLASS_SALU:
      ++c->salu;
      break;
    case INST_CLASS_BRANCH:
      ++c->branches;
      break;
    case INST_CLASS_SMEM:
      ++c->smem;
      break;
    case INST_CLASS_VALU:
      ++c->valu;
      c->valu_lanes += (uint64_t)__builtin_popcountll(wave_exec(w));
      break;
    case INST_CLASS_MATRIX:
      ++c->matrix;
      break;
    case INST_CLASS_LDS:
      ++c->lds;
      break;
    case INST_CLASS_LOAD:
    case INST_CLASS_STORE:
    case INST_CLASS_FLAT:
      ++c->vmem;
      break;
    case INST_CLASS_BARRIER:
      ++c->barriers;
      break;
    case INST_CLASS_WAIT:
      ++c->waits;
      break;
    default:
      ++c->others;
      break;
  }
}
