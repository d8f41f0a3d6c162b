// Instructions under checks, and counted.
#include "softgpu/nvidia/check.h"

static void count(nv_counters_t* counters, const inst_t* inst, const warp_t* w) {
  uint32_t lanes = w->exec;
  if (inst->is_guarded) {
    uint32_t p = *(const uint32_t*)(w->frame + inst->guard);
    lanes &= inst->is_guard_negated ? ~p : p;
  }
  ++counters->instructions;
  counters->lanes += (uint64_t)__builtin_popcount(lanes);
  const char* name = inst->name ? inst->name : "";
  if (name[0] == 'b' && strncmp(name, "bra", 3) == 0) {
    ++counters->branches;
    counters->divergent += lanes && lanes != w->exec;
  } else if (name[0] == 'b' && (strncmp(name, "bar.", 4) == 0 || strncmp(name, "barrier", 7) == 0)) {
    ++counters->barriers;
  } else if (name[0] == 'm' && strncmp(name, "mma.", 4) == 0) {
    ++counters->matrix;
  }
}

const inst_t* check_run(warp_t* w, const inst_t* inst) {
  nv_counters_t* counters = w->block->counters;
  if (counters) count(counters, inst, w);
  if (!w->launch->tracks_undefined) return inst->run(w, inst);
  uint32_t lanes = w->exec;
  if (!check_registers_before(w, inst, lanes)) return NULL;
  if (inst->is_guarded) {
    uint32_t p = *(const uint32_t*)(w->frame + inst->guard);
    lanes &= inst->is_guard_negated ? ~p : p;
  }
  frame_t* frame = w->call;
  w->undefined = 0;
  const inst_t* next = inst->run(w, inst);
  // A frame that was left is still there: only its memory's owner changes.
  if (w->state != WARP_FAULTED) check_undefined_after(w, frame, inst, lanes);
  return next;
}

// The place of an address of the process that access.h made.
static check_place_t place_of(const warp_t* w, uint64_t host, uint32_t lane, uint64_t* offset) {
  *offset = host - (uint64_t)w->block->shared;
  if (*offset < w->launch->shared_size) return CHECK_SHARED;
  *offset = host - (uint64_t)w->local - (uint64_t)lane * w->stack_size;
  return *offset < w->stack_size ? CHECK_STACK : CHECK_GLOBAL;
}

// Byte `k` of what a lane stores; -1 where the instruction is no plain store.
static int stored_byte(const warp_t* w, const inst_t* inst, uint32_t lane, uint32_t k, uint32_t access) {
  if (access != ACCESS_WRITE || !inst->element) return -1;
  const uint8_t* from = warp_at(w, &inst->list[k / inst->bytes]);
  return from[lane * inst->element + k % inst->bytes];
}

// Lanes of one instruction that write different values to one place.
static bool check_own_race(warp_t* w, const inst_t* inst, uint32_t lanes, uint32_t bytes, uint32_t access) {
  for (uint32_t left = lanes; left; left &= left - 1) {
    uint32_t a = (uint32_t)__builtin_ctz(left);
    for (uint32_t rest = left & (left - 1); rest; rest &= rest - 1) {
      uint32_t b = (uint32_t)__builtin_ctz(rest);
      if (w->host[a] != w->host[b]) continue;
      for (uint32_t k = 0; k < bytes; ++k) {
        if (stored_byte(w, inst, a, k, access) == stored_byte(w, inst, b, k, access)) continue;
        warp_fault(w, inst, NV_FAULT_CHECK, 1u << a | 1u << b, w->host[a],
                   "race: lanes %u and %u write different values to one address", a, b);
        return false;
      }
    }
  }
  return true;
}

static void count_global(nv_counters_t* counters, const warp_t* w, uint32_t lanes, uint32_t bytes, uint32_t access) {
  uint64_t sectors[2 * WARP_LANES];
  uint32_t found = 0;
  ++counters->memory;
  for (uint32_t left = lanes; left; left &= left - 1) {
    uint64_t host = w->host[__builtin_ctz(left)];
    for (uint64_t sector = host / 32; sector <= (host + bytes - 1) / 32 && found < 2 * WARP_LANES; ++sector) {
      uint32_t i = 0;
      while (i < found && sectors[i] != sector) ++i;
      if (i == found) sectors[found++] = sector;
    }
  }
  counters->sectors += found;
  uint64_t all = (uint64_t)__builtin_popcount(lanes) * bytes;
  if (access & ACCESS_READ) counters->bytes_read += all;
  if (access & ACCESS_WRITE) counters->bytes_written += all;
}

// Passes: the most different words that one of the 32 banks gives; wide accesses take several by themselves.
static void count_shared(nv_counters_t* counters, const warp_t* w, uint32_t lanes, uint32_t bytes, uint32_t access) {
  uint64_t words[WARP_LANES][WARP_LANES];
  uint32_t used[WARP_LANES] = {0}, most = 1;
  for (uint32_t left = lanes; left; left &= left - 1) {
    uint64_t word = w->host[__builtin_ctz(left)] / 4;
    uint32_t bank = word % WARP_LANES, i = 0;
    while (i < used[bank] && words[bank][i] != word) ++i;
    if (i == used[bank]) words[bank][used[bank]++] = word;
    if (used[bank] > most) most = used[bank];
  }
  uint32_t needed = bytes > 4 ? bytes / 4 : 1;
  ++counters->shared;
  counters->shared_conflicts += most > needed ? most - needed : 0;
  uint64_t all = (uint64_t)__builtin_popcount(lanes) * bytes;
  if (access & ACCESS_READ) counters->shared_read += all;
  if (access & ACCESS_WRITE) counters->shared_written += all;
}

// Which lanes store a register that nobody wrote.
static uint32_t undefined_data(const warp_t* w, const inst_t* inst, uint32_t lanes) {
  uint32_t missing = 0;
  for (uint32_t k = inst->list_written; k < inst->list_count; ++k) {
    missing |= check_undefined_lanes(w->call, &inst->list[k], lanes);
  }
  return missing;
}

static bool check_values(warp_t* w, const inst_t* inst, const operand_t* base, uint32_t lanes, uint32_t bytes,
                         uint32_t access) {
  uint32_t missing = check_undefined_lanes(w->call, base, lanes);
  if (missing) {
    warp_fault(w, inst, NV_FAULT_CHECK, missing, 0, "uninitialized: an address of registers that nobody wrote");
    return false;
  }
  uint32_t no_data = access & ACCESS_WRITE ? undefined_data(w, inst, lanes) : 0;
  for (uint32_t left = lanes; left; left &= left - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(left);
    uint64_t offset;
    check_place_t place = place_of(w, w->host[lane], lane, &offset);
    bool has_no_data = no_data >> lane & 1;
    if (place == CHECK_GLOBAL) {
      if (!has_no_data) continue;
      warp_fault(w, inst, NV_FAULT_CHECK, no_data, w->host[lane], "uninitialized: stores registers that nobody wrote");
      return false;
    }
    uint8_t* defined = check_defined(w, place, lane, offset);
    if (access & ACCESS_READ && memchr(defined, 0, bytes)) w->undefined |= 1u << lane;
    if (access & ACCESS_WRITE) memset(defined, !has_no_data, bytes);
  }
  return true;
}

// The words of a lane's access.
static bool check_global(warp_t* w, const inst_t* inst, uint32_t lane, uint32_t bytes, uint32_t access) {
  uint64_t host = w->host[lane];
  for (uint64_t word = host & ~UINT64_C(3); word < host + bytes; word += 4) {
    uint32_t mask = 0;
    bool is_same = access == ACCESS_WRITE && inst->element;
    for (uint32_t k = 0; k < 4; ++k) {
      if (word + k < host || word + k >= host + bytes) continue;
      mask |= 1u << k;
      is_same =
          is_same && stored_byte(w, inst, lane, (uint32_t)(word + k - host), access) == *(const uint8_t*)(word + k);
    }
    if (!check_global_word(w, inst, lane, word, mask, access, is_same)) return false;
  }
  return true;
}

bool check_access(warp_t* w, const inst_t* inst, const operand_t* base, uint32_t lanes, uint32_t bytes,
                  uint32_t access) {
  nv_counters_t* counters = w->block->counters;
  uint32_t checks = w->launch->checks;
  uint64_t offset;
  uint32_t first = (uint32_t)__builtin_ctz(lanes);
  check_place_t place = place_of(w, w->host[first], first, &offset);
  if (counters) {
    if (place == CHECK_GLOBAL) count_global(counters, w, lanes, bytes, access);
    if (place == CHECK_SHARED) count_shared(counters, w, lanes, bytes, access);
    if (place == CHECK_STACK) ++counters->local;
  }
  if (w->launch->tracks_undefined && !check_values(w, inst, base, lanes, bytes, access)) return false;
  if (checks & ENGINE_CHECK_RACES && access == ACCESS_WRITE && inst->element &&
      !check_own_race(w, inst, lanes, bytes, access)) {
    return false;
  }
  if (!(checks & (ENGINE_CHECK_RACES | ENGINE_CHECK_WAITS))) return true;
  bool orders = access & ACCESS_ATOMIC || inst->flags & PTX_VOLATILE || inst->modifiers.value[PTX_GROUP_ORDER];
  if (w->launch->check) w->moment = check_launch_time(w->launch->check);
  if (orders) w->block->ordered = w->moment;
  for (uint32_t left = lanes; left; left &= left - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(left);
    place = place_of(w, w->host[lane], lane, &offset);
    if (place == CHECK_GLOBAL && w->launch->check && !orders && !check_global(w, inst, lane, bytes, access)) {
      return false;
    }
    if (place != CHECK_SHARED) continue;
    for (uint32_t k = 0; k < bytes; ++k) {
      int stored = stored_byte(w, inst, lane, k, access);
      if (!check_shared_byte(w, inst, lane, offset + k, access, stored)) return false;
    }
  }
  return true;
}
