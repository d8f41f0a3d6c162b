// Hazards of gfx10 and later: results and reads that are on their way until an instruction waits for them.
//
// gfx10.1: scalar registers that memory instructions read, overwritten by the other unit; EXEC before v_cmpx; LDS and
// vector memory on the two sides of a branch. gfx10: float atomics before s_denorm_mode. gfx10 and gfx11: v_cmpx before
// v_permlane. gfx11.0: results of transcendental functions. gfx11, waves of 64: masks that are overwritten; two
// registers written before and behind a change of EXEC. gfx11 and gfx12: results of matrix instructions. gfx12: scalar
// registers that vector instructions read, once they are written again.
#include "softgpu/check_hazards.h"

enum { BY_SCALAR = 1, BY_VECTOR = 2 };
// Of a watched register, or pair (gfx12): a vector instruction has read it. Of pairs, what LLVM needs to have seen
// before it waits for their writes anywhere in the function: read by any unit and written by the scalar one, then read
// by a vector instruction.
enum { WATCHED = 1, READ = 2, WRITTEN = 4, MATTERS = 8 };

// Fields of s_waitcnt_depctr and s_wait_alu, and where LLVM counts from when they are not waited for.
static bool waits_for(const inst_t* inst, uint32_t shift, uint32_t bits) {
  const char* name = inst->row->name;
  if (strcmp(name, "s_waitcnt_depctr") != 0 && strcmp(name, "s_wait_alu") != 0) return false;
  return !((inst->encoding[0] & 0xffff) >> shift & ((1u << bits) - 1));
}
static bool waits_scalar_result(const inst_t* inst) { return waits_for(inst, 0, 1); }   // sa_sdst
static bool waits_vcc(const inst_t* inst) { return waits_for(inst, 1, 1); }             // va_vcc
static bool waits_memory_source(const inst_t* inst) { return waits_for(inst, 2, 3); }   // vm_vsrc
static bool waits_vector_scalar(const inst_t* inst) { return waits_for(inst, 9, 3); }   // va_sdst
static bool waits_vector_result(const inst_t* inst) { return waits_for(inst, 12, 4); }  // va_vdst

static bool is_gfx101(const wave_t* w) { return w->target->major == 10 && w->target->minor == 1; }
static bool is_gfx11_of_64(const wave_t* w) { return w->target->major == 11 && w->lanes == 64; }
static bool is_scalar(const inst_t* inst) {
  return inst->row->klass == INST_CLASS_SALU || inst->row->klass == INST_CLASS_BRANCH;
}
// v_nop among them.
static bool counts_as_vector(const inst_t* inst) { return hazard_is_vector(inst) || inst->traits & HAZARD_V_NOP; }

static const operand_t vcc_operand = {.kind = OPERAND_SGPR, .index = SREG_VCC, .dwords = 2};
static const operand_t exec_operand = {.kind = OPERAND_SGPR, .index = SREG_EXEC, .dwords = 2};

static bool check_gfx101(wave_t* w, const inst_t* inst, const hazard_pending_t* p) {
  bool scalar = inst->row->klass == INST_CLASS_SALU || inst->row->klass == INST_CLASS_SMEM;
  bool vector = hazard_is_vector(inst);
  const uint8_t* reads = vector ? p->scalar_load_reads : p->memory_reads;
  for (uint32_t i = 0; (scalar || vector) && i < inst->destination_count; ++i) {
    const operand_t* o = &inst->dst[i];
    for (uint32_t k = 0; o->kind == OPERAND_SGPR && o->index < SREG_SCC && k < o->dwords; ++k) {
      if (reads[o->index + k]) {
        return hazard_report(w, inst, o, k, "overwritten while a memory instruction before may still read it");
      }
    }
  }
  if (p->exec_is_read && inst->traits & HAZARD_CMPX) {
    return hazard_report(w, inst, &exec_operand, 0, "overwritten while an instruction before may still read it");
  }
  if (!hazard_is_memory(inst)) return true;
  uint8_t kind = inst->row->klass == INST_CLASS_LDS || inst->flags & INST_LDS ? 1 : 2;
  if (!p->branch_since || !p->memory_kind || p->memory_kind == kind) return true;
  wave_fault(w, inst, ENGINE_FAULT_CHECK, inst->address,
             "wait: workgroup memory and vector memory on two sides of a branch without s_waitcnt_vscnt null, 0");
  return false;
}

// Results of transcendental functions: at most five vector instructions and one of their own kind are between.
static bool check_trans(wave_t* w, const inst_t* inst, const hazard_pending_t* p) {
  for (uint32_t i = 0; i < inst->source_count; ++i) {
    const operand_t* o = &inst->src[i];
    for (uint32_t k = 0; o->kind == OPERAND_VGPR && k < o->dwords; ++k) {
      uint32_t at = o->index + k;
      if (p->trans_written[at] && p->vectors - p->trans_written[at] <= 5 &&
          p->transcendentals - p->trans_number[at] <= 1) {
        return hazard_report(w, inst, o, k, "read too early behind the transcendental function that writes it");
      }
    }
  }
  return true;
}

// When the last part of a source was written; 0: not lately, or it is no vector register.
static uint32_t source_written(const operand_t* o, const hazard_pending_t* p) {
  uint32_t last = 0;
  for (uint32_t k = 0; o->kind == OPERAND_VGPR && k < o->dwords; ++k) {
    if (p->written[o->index + k] > last) last = p->written[o->index + k];
  }
  return last;
}

// Two sources, one written before EXEC changed and one behind it: at most two vector instructions lie between those,
// and at most four behind them.
static bool check_partial(wave_t* w, const inst_t* inst, const hazard_pending_t* p) {
  for (uint32_t e = 0; e < HAZARD_EXEC_CHANGES && p->exec_written[e]; ++e) {
    uint32_t before = 0, behind = 0;
    const operand_t* first = NULL;
    for (uint32_t i = 0; i < inst->source_count; ++i) {
      uint32_t written = source_written(&inst->src[i], p);
      if (written >= p->exec_written[e] && written > behind) behind = written;
      if (written < p->exec_written[e] && written > before) before = written, first = &inst->src[i];
    }
    if (before && behind && p->vectors - behind <= 4 && behind - before - 1 <= 2) {
      return hazard_report(w, inst, first, 0, "read too early: exec changed between it and another source");
    }
  }
  return true;
}

static bool pair_matters(uint8_t tracked, bool vector) {
  return tracked & MATTERS || (vector && tracked & READ && tracked & WRITTEN);
}

// Scalar registers that were overwritten while watched (masks, tracked pairs).
static bool check_unsettled(wave_t* w, const inst_t* inst, const operand_t* o, const hazard_pending_t* p) {
  bool vector = hazard_is_vector(inst);
  if (o->kind == OPERAND_SGPR && o->index < SREG_M0 && w->target->major >= 12 &&
      !pair_matters(p->tracked[o->index / 2], vector))
    return true;
  for (uint32_t k = 0; o->kind == OPERAND_SGPR && o->index < SREG_M0 && k < o->dwords; ++k) {
    uint8_t by = p->unsettled[o->index + k];
    if (by & BY_SCALAR || (vector && by & BY_VECTOR)) {
      return hazard_report(w, inst, o, k,
                           by & BY_SCALAR
                               ? "read before a wait (sa_sdst) for the scalar instruction that writes it"
                               : "read before a wait (va_sdst, va_vcc) for the vector instruction that writes it");
    }
  }
  return true;
}

static bool check_matrix(wave_t* w, const inst_t* inst, const inst_t* before) {
  const operand_t* d = &before->dst[0];
  bool in_place = inst->traits & HAZARD_IN_PLACE && w->target->major >= 12;
  for (uint32_t i = 0; i < (in_place ? 3u : 2u) && i < inst->source_count; ++i) {
    const operand_t* o = &inst->src[i];
    if (o->kind == OPERAND_VGPR && o->index < d->index + d->dwords && d->index < o->index + o->dwords) {
      return hazard_report(w, inst, o, 0, "read right behind the matrix instruction that writes it");
    }
  }
  return true;
}

bool hazard_pending_before(wave_t* w, const inst_t* inst, const check_hazards_t* h) {
  const hazard_pending_t* p = &h->pending;
  bool vector = hazard_is_vector(inst);
  if (is_gfx101(w) && !check_gfx101(w, inst, p)) return false;
  if (w->target->major <= 11 && p->after_cmpx && inst->traits & HAZARD_PERMLANE) {
    return hazard_report(w, inst, &exec_operand, 0, "used by v_permlane right behind v_cmpx");
  }
  if (w->target->major == 10 && inst->traits & HAZARD_DENORM_MODE && p->fp_atomic && h->now <= p->fp_atomic + 3) {
    wave_fault(w, inst, ENGINE_FAULT_CHECK, inst->address, "wait: the mode changes too early behind a float atomic");
    return false;
  }
  if (w->target->major == 11 && w->target->minor == 0 && vector && !check_trans(w, inst, p)) return false;
  if (is_gfx11_of_64(w) && vector && !check_partial(w, inst, p)) return false;
  if (w->target->major >= 11 && inst->traits & HAZARD_WMMA && p->matrix && !check_matrix(w, inst, p->matrix))
    return false;
  for (uint32_t i = 0; (vector || is_scalar(inst)) && i < inst->source_count; ++i) {
    if (!check_unsettled(w, inst, &inst->src[i], p)) return false;
  }
  return !(inst->traits & HAZARD_IMPLICIT_VCC) || check_unsettled(w, inst, &vcc_operand, p);
}

// Whether everything that scalar loads read has been read, now that this instruction is through.
static bool ends_scalar_reads(const inst_t* inst) {
  const char* name = inst->row->name;
  uint32_t bits = inst->encoding[0] & 0xffff;
  if (strcmp(name, "s_waitcnt") == 0) return !(bits >> 8 & 63);
  if (strcmp(name, "s_waitcnt_lgkmcnt") == 0) return !bits;
  return inst->row->klass == INST_CLASS_SALU;
}

static bool ends_memory_reads(const inst_t* inst) {
  if (strcmp(inst->row->name, "s_waitcnt") == 0) return !(inst->encoding[0] & 0xffff);
  return counts_as_vector(inst) || waits_memory_source(inst);
}

static bool writes_scalar(const inst_t* inst) {
  for (uint32_t i = 0; i < inst->destination_count; ++i) {
    if (inst->dst[i].kind == OPERAND_SGPR) return true;
  }
  return inst->traits & HAZARD_CMPX;
}

static void after_gfx101(const inst_t* inst, hazard_pending_t* p) {
  bool is_load = inst->row->klass == INST_CLASS_SMEM, is_memory = hazard_is_memory(inst);
  if (ends_scalar_reads(inst)) memset(p->scalar_load_reads, 0, sizeof(p->scalar_load_reads));
  if (ends_memory_reads(inst)) memset(p->memory_reads, 0, sizeof(p->memory_reads));
  if (waits_scalar_result(inst) || (hazard_is_vector(inst) && writes_scalar(inst))) p->exec_is_read = false;
  if (is_memory) {
    p->exec_is_read = true;
    p->memory_reads[SREG_EXEC] = p->memory_reads[SREG_EXEC + 1] = 1;
    p->memory_kind = inst->row->klass == INST_CLASS_LDS || inst->flags & INST_LDS ? 1 : 2;
    p->branch_since = 0;
  }
  if (inst->row->klass == INST_CLASS_BRANCH && strncmp(inst->row->name, "s_endpgm", 8) != 0) p->branch_since = 1;
  if (strcmp(inst->row->name, "s_waitcnt_vscnt") == 0 && !(inst->encoding[0] & 63)) p->memory_kind = 0;
  for (uint32_t i = 0; (is_load || is_memory) && i < inst->source_count; ++i) {
    const operand_t* o = &inst->src[i];
    if (o->kind != OPERAND_SGPR) continue;
    memset(is_load ? &p->scalar_load_reads[o->index] : &p->memory_reads[o->index], 1, o->dwords);
  }
}

static void note_exec(hazard_pending_t* p) {
  memmove(p->exec_written + 1, p->exec_written, (HAZARD_EXEC_CHANGES - 1) * sizeof(p->exec_written[0]));
  p->exec_written[0] = p->vectors + 1;
}

// Behind it no vector instruction is under way any more. Invalidations of the vector caches are among what LLVM counts
// on for that.
static bool waits_for_vectors(const inst_t* inst) {
  return waits_vector_result(inst) || hazard_is_memory(inst) || strncmp(inst->row->name, "buffer_gl", 9) == 0;
}

// gfx11: numbers of vector instructions, and who wrote what.
static void after_gfx11(const inst_t* inst, hazard_pending_t* p) {
  if (waits_for_vectors(inst)) {
    memset(p->trans_written, 0, sizeof(p->trans_written));
    memset(p->written, 0, sizeof(p->written));
    memset(p->exec_written, 0, sizeof(p->exec_written));
  }
  bool vector = hazard_is_vector(inst),
       has_exec = strstr(inst->row->name, "saveexec") || strstr(inst->row->name, "wrexec");
  for (uint32_t i = 0; i < inst->destination_count; ++i) {
    const operand_t* o = &inst->dst[i];
    for (uint32_t k = 0; o->kind == OPERAND_VGPR && k < o->dwords; ++k) {
      p->trans_written[o->index + k] = inst->traits & HAZARD_TRANS ? p->vectors : 0;
      p->trans_number[o->index + k] = p->transcendentals;
      p->written[o->index + k] = vector ? p->vectors : 0;
    }
    has_exec |= o->kind == OPERAND_SGPR && o->index <= SREG_EXEC + 1 && o->index + o->dwords > SREG_EXEC;
  }
  if (has_exec && is_scalar(inst)) note_exec(p);
}

static void settle(hazard_pending_t* p, uint8_t by, bool vcc, bool others) {
  for (uint32_t i = 0; i < SREG_M0; ++i) {
    if (i / 2 == SREG_VCC / 2 ? vcc : others) p->unsettled[i] &= (uint8_t)~by;
  }
}

static void settle_waits(const inst_t* inst, hazard_pending_t* p) {
  if (inst->row->klass != INST_CLASS_WAIT) return;
  if (waits_scalar_result(inst)) settle(p, BY_SCALAR, true, true);
  if (waits_vector_scalar(inst)) settle(p, BY_VECTOR, false, true);
  if (waits_vcc(inst)) settle(p, BY_VECTOR, true, false);
}

// Scalar registers that are written while watched owe a wait: masks (gfx11), pairs that vector instructions read
// (gfx12).
static void note_watched(const inst_t* inst, hazard_pending_t* p, uint8_t* watched, uint32_t granule) {
  bool vector = hazard_is_vector(inst);
  if (!vector && !is_scalar(inst)) return;
  for (uint32_t i = 0; i < inst->destination_count; ++i) {
    const operand_t* o = &inst->dst[i];
    for (uint32_t k = 0; o->kind == OPERAND_SGPR && o->index < SREG_M0 && k < o->dwords; ++k) {
      bool is_watched = watched[(granule == 1 ? o->index + k : o->index) / granule] & WATCHED;
      p->unsettled[o->index + k] = is_watched ? vector ? BY_VECTOR : BY_SCALAR : 0;
      if (granule == 1) watched[o->index + k] = 0;
    }
  }
}

static void note_masks(const inst_t* inst, hazard_pending_t* p) {
  note_watched(inst, p, p->masks, 1);
  if (!(inst->traits & HAZARD_MASKED)) return;
  const operand_t* mask = inst->traits & HAZARD_IMPLICIT_VCC ? &vcc_operand : &inst->src[2];
  if (mask->kind == OPERAND_SGPR && mask->index < SREG_M0) memset(&p->masks[mask->index], 1, mask->dwords);
}

// Scalar instructions wait for vector ones by themselves, for all of them at once, when they touch what those touch.
static void settle_by_scalar(const operand_t* o, hazard_pending_t* p) {
  bool is_vcc = o->index / 2 == SREG_VCC / 2;
  settle(p, BY_VECTOR, is_vcc, !is_vcc);
}

static void track_pairs(const inst_t* inst, hazard_pending_t* p) {
  bool vector = hazard_is_vector(inst);
  const char* name = inst->row->name;
  bool is_buffer = hazard_is_memory(inst) && (strncmp(name, "buffer_", 7) == 0 || strncmp(name, "tbuffer_", 8) == 0);
  if (is_buffer || inst->row->klass == INST_CLASS_SMEM) memset(p->unsettled, 0, sizeof(p->unsettled));
  if (strcmp(name, "ds_nop") == 0) memset(p->tracked, 0, sizeof(p->tracked));
  for (uint32_t i = 0; (vector || is_scalar(inst)) && i < inst->source_count; ++i) {
    const operand_t* o = &inst->src[i];
    if (o->kind != OPERAND_SGPR || o->index >= SREG_M0) continue;
    uint8_t* pair = &p->tracked[o->index / 2];
    if (pair_matters(*pair, vector)) *pair |= MATTERS;
    *pair |= vector ? READ | WATCHED : READ;
    if (!vector) settle_by_scalar(o, p);
  }
  if (inst->traits & HAZARD_IMPLICIT_VCC) p->tracked[SREG_VCC / 2] |= READ | WATCHED;
  note_watched(inst, p, p->tracked, 2);
  for (uint32_t i = 0; (vector || is_scalar(inst)) && i < inst->destination_count; ++i) {
    const operand_t* o = &inst->dst[i];
    if (o->kind != OPERAND_SGPR || o->index >= SREG_M0) continue;
    p->tracked[o->index / 2] |= WRITTEN;
    if (!vector) settle_by_scalar(o, p);
  }
}

static void after_vector(const inst_t* inst, hazard_pending_t* p) {
  if (inst->row->klass == INST_CLASS_WAIT) p->fp_atomic = 0;
  // The second half of a dual instruction does not count.
  if (!counts_as_vector(inst) || !inst->size) return;
  ++p->vectors;
  p->fp_atomic = 0;
  if (inst->traits & HAZARD_TRANS) ++p->transcendentals;
  if (!(inst->traits & HAZARD_V_NOP)) p->after_cmpx = inst->traits & HAZARD_CMPX;
  p->matrix = inst->traits & HAZARD_WMMA ? inst : NULL;
}

void hazard_pending_after(const wave_t* w, const inst_t* inst, check_hazards_t* h) {
  hazard_pending_t* p = &h->pending;
  after_vector(inst, p);
  settle_waits(inst, p);
  if (w->target->major == 10 && inst->traits & HAZARD_FP_ATOMIC && hazard_is_memory(inst)) p->fp_atomic = h->now;
  if (is_gfx101(w)) after_gfx101(inst, p);
  if (w->target->major == 11) after_gfx11(inst, p);
  if (is_gfx11_of_64(w)) note_masks(inst, p);
  if (w->target->major >= 12) track_pairs(inst, p);
  // LLVM looks at each function by itself, but settles scalar registers of gfx12 before calls.
  if (inst->traits & HAZARD_CALL && w->target->major >= 12) p->matrix = NULL;
  if (inst->traits & HAZARD_CALL && w->target->major < 12) memset(p, 0, sizeof(*p));
}
