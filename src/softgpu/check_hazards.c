// Hazards that code must keep clear of by wait states, by an instruction in between, or by s_waitcnt_depctr. LLVM's
// hazard recognizer is the source: what it does not avoid is not reported, and where it goes by the time that a matrix
// instruction takes, the least of its family counts.
//
// gfx9: data of a store of more than 64 bits overwritten (1 wait state, 2 since gfx940); SrcC of a matrix instruction
// overwritten, and its result read or overwritten, too early; scalar registers that vector instructions wrote, read by
// vector memory (5) or as a lane's number (4); VCC by v_div_fmas (4); registers read through DPP (2) and EXEC before it
// (5). gfx10.1: scalar registers that memory instructions read, overwritten by the other unit; EXEC before v_cmpx.
#include "softgpu/check_hazards.h"

static bool is_gfx101(const wave_t* w) { return w->target->major == 10 && w->target->minor == 1; }
static bool has_hazards(const wave_t* w) { return w->target->major == 9 || is_gfx101(w); }

static bool starts(const inst_t* inst, const char* prefix) {
  return strncmp(inst->row->name, prefix, strlen(prefix)) == 0;
}

static bool is_vector(const inst_t* inst) {
  return inst->row->klass == INST_CLASS_VALU || inst->row->klass == INST_CLASS_MATRIX;
}

static bool is_memory(const inst_t* inst) {
  uint8_t klass = inst->row->klass;
  return klass == INST_CLASS_LOAD || klass == INST_CLASS_STORE || klass == INST_CLASS_FLAT || klass == INST_CLASS_LDS;
}

static bool report(wave_t* w, const inst_t* inst, const operand_t* o, uint32_t k, const char* what) {
  bool vector = o->kind == OPERAND_VGPR;
  uint32_t index = o->index + k;
  const char* file = !vector ? "s" : index >= WAVE_ACCUMULATION ? "a" : "v";
  const char* name = vector ? NULL : index / 2 == SREG_VCC / 2 ? "vcc" : index / 2 == SREG_EXEC / 2 ? "exec" : NULL;
  if (name) {
    wave_fault(w, inst, ENGINE_FAULT_CHECK, inst->address, "wait: register %s is %s", name, what);
  } else {
    wave_fault(w, inst, ENGINE_FAULT_CHECK, inst->address, "wait: register %s%u is %s", file,
               vector ? index % WAVE_ACCUMULATION : index, what);
  }
  return false;
}

// Passes of four cycles that a matrix instruction takes at least; 0 for those that are not watched.
static uint32_t least_passes(const wave_t* w, const inst_t* inst) {
  const char* name = inst->row->name;
  if (!isa_is_gfx90a_or_later_cdna(w->target) || strncmp(name, "v_mfma_", 7) != 0 || strstr(name, "f64")) return 0;
  bool has_blocks = strstr(name, "_2b_") || strstr(name, "_4b_");
  if (strstr(name, "_4x4x")) return 2;
  bool newer = isa_is_gfx940(w->target);
  if (strstr(name, "_16x16x")) return newer && !has_blocks ? 4 : 8;
  return newer && !has_blocks ? 8 : 16;
}

// Where an instruction's data for memory are, when they are more than 64 bits that are read late; NULL otherwise.
static const operand_t* late_data(const inst_t* inst) {
  if (inst->row->klass != INST_CLASS_STORE && inst->row->klass != INST_CLASS_FLAT) return NULL;
  if (!strstr(inst->row->name, "_store_") && !strstr(inst->row->name, "_atomic_")) return NULL;
  bool is_buffer = starts(inst, "buffer_") || starts(inst, "tbuffer_");
  if (is_buffer && inst->src[3].kind == OPERAND_SGPR) return NULL;
  const operand_t* data = &inst->src[is_buffer ? 0 : 1];
  return data->kind == OPERAND_VGPR && data->dwords > 2 ? data : NULL;
}

static bool check_overwritten(wave_t* w, const inst_t* inst, const operand_t* o, const check_hazards_t* h) {
  for (uint32_t k = 0; o->kind == OPERAND_VGPR && k < o->dwords; ++k) {
    if (h->written_until[o->index + k] >= h->now) {
      return report(w, inst, o, k, "overwritten while a matrix instruction still writes it");
    }
    if (is_vector(inst) && h->read_until[o->index + k] >= h->now) {
      return report(w, inst, o, k, "overwritten while an instruction before still reads it");
    }
  }
  return true;
}

static bool check_matrix_result(wave_t* w, const inst_t* inst, const operand_t* o, const check_hazards_t* h) {
  for (uint32_t k = 0; o->kind == OPERAND_VGPR && k < o->dwords; ++k) {
    if (h->written_until[o->index + k] >= h->now) {
      return report(w, inst, o, k, "read before the matrix instruction has written it");
    }
  }
  return true;
}

static bool is_recent(uint32_t written, uint32_t now, uint32_t states) { return written && now <= written + states; }

// Registers that were written by vector instructions and are read before they have arrived.
static bool check_recent(wave_t* w, const inst_t* inst, const check_hazards_t* h) {
  bool reads_lane = starts(inst, "v_readlane") || starts(inst, "v_writelane");
  bool is_global = is_memory(inst) && inst->row->klass != INST_CLASS_LDS;
  for (uint32_t i = 0; i < inst->source_count; ++i) {
    const operand_t* o = &inst->src[i];
    uint32_t states = is_global ? 5 : reads_lane && i == 1 ? 4 : 0;
    for (uint32_t k = 0; states && o->kind == OPERAND_SGPR && k < o->dwords; ++k) {
      if (is_recent(h->scalar_written[o->index + k], h->now, states)) {
        return report(w, inst, o, k, "read too early behind the vector instruction that writes it");
      }
    }
  }
  operand_t vcc = {.kind = OPERAND_SGPR, .index = SREG_VCC}, exec = {.kind = OPERAND_SGPR, .index = SREG_EXEC};
  if (starts(inst, "v_div_fmas") && is_recent(h->scalar_written[SREG_VCC], h->now, 4)) {
    return report(w, inst, &vcc, 0, "read too early behind the vector instruction that writes it");
  }
  if (!inst->extra || !inst->extra->dpp) return true;
  if (is_recent(h->scalar_written[SREG_EXEC], h->now, 5)) {
    return report(w, inst, &exec, 0, "used by DPP too early behind the vector instruction that writes it");
  }
  for (uint32_t i = 0; i < inst->source_count; ++i) {
    const operand_t* o = &inst->src[i];
    if (o->kind == OPERAND_VGPR && is_recent(h->vector_written[o->index], h->now, 2)) {
      return report(w, inst, o, 0, "read through DPP too early behind the instruction that writes it");
    }
  }
  return true;
}

static bool check_gfx9(wave_t* w, const inst_t* inst, const check_hazards_t* h) {
  bool fine = true, is_matrix = inst->row->klass == INST_CLASS_MATRIX;
  if (!is_vector(inst) && !is_memory(inst)) return true;
  for (uint32_t i = 0; !is_matrix && fine && i < inst->source_count; ++i) {
    fine = check_matrix_result(w, inst, &inst->src[i], h);
  }
  for (uint32_t i = 0; !is_matrix && fine && i < inst->destination_count; ++i) {
    fine = check_overwritten(w, inst, &inst->dst[i], h);
  }
  return fine && check_recent(w, inst, h);
}

static bool check_gfx101(wave_t* w, const inst_t* inst, const check_hazards_t* h) {
  bool scalar = inst->row->klass == INST_CLASS_SALU || inst->row->klass == INST_CLASS_SMEM;
  const uint8_t* reads = is_vector(inst) ? h->scalar_load_reads : h->memory_reads;
  for (uint32_t i = 0; (scalar || is_vector(inst)) && i < inst->destination_count; ++i) {
    const operand_t* o = &inst->dst[i];
    for (uint32_t k = 0; o->kind == OPERAND_SGPR && o->index < SREG_SCC && k < o->dwords; ++k) {
      if (reads[o->index + k]) {
        return report(w, inst, o, k, "overwritten while a memory instruction before may still read it");
      }
    }
  }
  operand_t exec = {.kind = OPERAND_SGPR, .index = SREG_EXEC};
  if (h->exec_is_read && starts(inst, "v_cmpx")) {
    return report(w, inst, &exec, 0, "overwritten while an instruction before may still read it");
  }
  return true;
}

bool check_hazards_before(wave_t* w, const inst_t* inst, const check_hazards_t* h) {
  if (!has_hazards(w)) return true;
  return w->target->major == 9 ? check_gfx9(w, inst, h) : check_gfx101(w, inst, h);
}

static void mark(uint32_t* times, const operand_t* o, uint32_t time) {
  for (uint32_t k = 0; k < o->dwords; ++k) times[o->index + k] = time;
}

static void after_gfx9(const wave_t* w, const inst_t* inst, check_hazards_t* h) {
  const operand_t* data = late_data(inst);
  bool newer = isa_is_gfx940(w->target);
  if (data) mark(h->read_until, data, h->now + (newer ? 2 : 1));
  uint32_t passes = inst->row->klass == INST_CLASS_MATRIX ? least_passes(w, inst) : 0;
  // Products of f32 are another unit's since gfx940, which has read SrcC by then.
  size_t size = strlen(inst->row->name);
  bool keeps = passes && !(newer && strcmp(inst->row->name + size - 4, "_f32") == 0);
  if (keeps && inst->src[2].kind == OPERAND_VGPR) mark(h->read_until, &inst->src[2], h->now + passes - 1);
  for (uint32_t i = 0; is_vector(inst) && i < inst->destination_count; ++i) {
    const operand_t* o = &inst->dst[i];
    if (o->kind == OPERAND_VGPR) {
      mark(h->vector_written, o, h->now);
      mark(h->written_until, o, passes ? h->now + passes + (newer ? 2 : 3) : 0);
    } else if (o->kind == OPERAND_SGPR) {
      mark(h->scalar_written, o, h->now);
    }
  }
  if (starts(inst, "v_cmpx")) h->scalar_written[SREG_EXEC] = h->now;
  for (uint32_t i = 0; !is_vector(inst) && i < inst->destination_count; ++i) {
    // Whatever writes it otherwise is not what these hazards are about.
    if (inst->dst[i].kind == OPERAND_SGPR) mark(h->scalar_written, &inst->dst[i], 0);
    if (inst->dst[i].kind == OPERAND_VGPR) mark(h->vector_written, &inst->dst[i], 0);
  }
}

// Whether everything that scalar loads read has been read, now that this instruction is through.
static bool ends_scalar_reads(const inst_t* inst) {
  const char* name = inst->row->name;
  uint32_t bits = inst->encoding[0] & 0xffff;
  if (strcmp(name, "s_waitcnt") == 0) return !(bits >> 8 & 63);
  if (strcmp(name, "s_waitcnt_lgkmcnt") == 0) return !bits;
  return inst->row->klass == INST_CLASS_SALU;
}

// Fields of s_waitcnt_depctr: vm_vsrc in 4:2, sa_sdst in 0.
static bool ends_memory_reads(const inst_t* inst) {
  uint32_t bits = inst->encoding[0] & 0xffff;
  if (strcmp(inst->row->name, "s_waitcnt") == 0) return !bits;
  return is_vector(inst) || starts(inst, "v_nop") ||
         (strcmp(inst->row->name, "s_waitcnt_depctr") == 0 && !(bits >> 2 & 7));
}

static bool writes_scalar(const inst_t* inst) {
  for (uint32_t i = 0; i < inst->destination_count; ++i) {
    if (inst->dst[i].kind == OPERAND_SGPR) return true;
  }
  return starts(inst, "v_cmpx");
}

static void after_gfx101(const wave_t* w, const inst_t* inst, check_hazards_t* h) {
  bool is_load = inst->row->klass == INST_CLASS_SMEM;
  if (ends_scalar_reads(inst)) memset(h->scalar_load_reads, 0, sizeof(h->scalar_load_reads));
  if (ends_memory_reads(inst)) memset(h->memory_reads, 0, sizeof(h->memory_reads));
  bool waits_exec = strcmp(inst->row->name, "s_waitcnt_depctr") == 0 && !(inst->encoding[0] & 1);
  if (waits_exec || (is_vector(inst) && writes_scalar(inst))) h->exec_is_read = false;
  if (is_memory(inst)) {
    h->exec_is_read = true;
    h->memory_reads[SREG_EXEC] = h->memory_reads[SREG_EXEC + 1] = 1;
  }
  for (uint32_t i = 0; (is_load || is_memory(inst)) && i < inst->source_count; ++i) {
    const operand_t* o = &inst->src[i];
    if (o->kind != OPERAND_SGPR) continue;
    memset(is_load ? &h->scalar_load_reads[o->index] : &h->memory_reads[o->index], 1, o->dwords);
  }
}

void check_hazards_after(const wave_t* w, const inst_t* inst, check_hazards_t* h) {
  if (!has_hazards(w)) return;
  // LLVM looks at each function by itself.
  if (starts(inst, "s_setpc") || starts(inst, "s_swappc") || starts(inst, "s_call")) {
    uint32_t now = h->now;
    memset(h, 0, sizeof(*h));
    h->now = now;
  }
  if (w->target->major == 9) {
    after_gfx9(w, inst, h);
  } else {
    after_gfx101(w, inst, h);
  }
  h->now += strcmp(inst->row->name, "s_nop") == 0 ? (inst->encoding[0] & 0xffff) + 1 : 1;
}
