// Decoded code: instructions are decoded in runs, from an address that something jumps to up to where control cannot
// fall through or code that is decoded already begins. Targets of branches are decoded with them, those of s_setpc and
// its like when they are first taken. Decoded instructions stay where they are until their code is freed.
//
// IREE_SOFTGPU_LEAVE_OUT=KERNEL+0xOFFSET names one instruction that is decoded as nothing at all, not even a wait
// state: whether the checks miss it tells whether it is needed.
#include <stdio.h>
#include <stdlib.h>

#include "softgpu/kernel.h"

enum { CODE_LONGEST = 20 };  // bytes of an instruction

typedef struct code_chunk_t {
  struct code_chunk_t *next, *next_work;
  uint8_t* bytes;  // what was decoded, where it may change: `size` bytes at `begin`
  uint64_t begin;
  size_t size;
  uint32_t count;
  inst_t insts[];
} code_chunk_t;

static const inst_t** slot_of(code_t* code, uint32_t lanes, uint64_t address) {
  return &code->at[lanes == 64][(address - code->base) / 4];
}

static const inst_t* load_slot(code_t* code, uint32_t lanes, uint64_t address) {
  return __atomic_load_n(slot_of(code, lanes, address), __ATOMIC_ACQUIRE);
}

// Instructions of one run while it grows.
typedef struct run_t {
  inst_t* insts;
  uint32_t count, capacity;
} run_t;

static inst_t* run_add(run_t* run) {
  if (run->count == run->capacity) {
    uint32_t capacity = run->capacity ? 2 * run->capacity : 128;
    inst_t* insts = realloc(run->insts, capacity * sizeof(inst_t));
    if (!insts) return NULL;
    run->insts = insts, run->capacity = capacity;
  }
  inst_t* inst = &run->insts[run->count++];
  memset(inst, 0, sizeof(*inst));
  return inst;
}

static bool run_add_pseudo(run_t* run, inst_run_t function, uint64_t address, const void* payload) {
  static const inst_row_t row = {.name = "(end of decoded code)", .klass = INST_CLASS_BRANCH};
  inst_t* inst = run_add(run);
  if (!inst) return false;
  inst->run = function, inst->row = &row, inst->address = address;
  if (function == control_run_illegal) {
    inst->extra = payload;
  } else {
    inst->target = payload;
  }
  return true;
}

// Keeps the message: `extra` of an illegal instruction is its text.
static bool run_add_illegal(run_t* run, uint64_t address, text_t* message) {
  char* copy = strdup(message->data ? message->data : "instruction cannot be decoded");
  return copy && run_add_pseudo(run, control_run_illegal, address, copy);
}

static bool ends_run(const inst_t* inst) {
  static const char* const names[] = {"s_endpgm",   "s_branch",       "s_setpc_b64", "s_swappc_b64",
                                      "s_call_b64", "s_endpgm_saved", "s_rfe_b64",   "s_rfe_restore_b64"};
  if (inst->row->klass != INST_CLASS_BRANCH) return false;
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    if (strcmp(inst->row->name, names[i]) == 0) return true;
  }
  return false;
}

static bool has_target(const inst_t* inst) {
  const char* name = inst->row->name;
  if (strcmp(name, "s_cbranch_g_fork") == 0 || strcmp(name, "s_cbranch_join") == 0) return false;
  return inst->row->klass == INST_CLASS_BRANCH &&
         (strncmp(name, "s_cbranch_", 10) == 0 || strcmp(name, "s_branch") == 0 || strcmp(name, "s_call_b64") == 0 ||
          strncmp(name, "s_subvector_loop", 16) == 0);
}

static uint64_t target_of(const inst_t* inst) {
  return inst->address + 4 + (uint64_t)((int64_t)(int16_t)inst->encoding[0] * 4);
}

static bool is_left_out(const code_t* code, uint64_t address) {
  const char* wanted = getenv("IREE_SOFTGPU_LEAVE_OUT");
  const char* plus = wanted ? strrchr(wanted, '+') : NULL;
  if (!plus || !code->is_known) return false;
  uint64_t offset = 0, wanted_offset = strtoull(plus + 1, NULL, 0);
  const char* name = code_symbol(code, address, &offset);
  size_t size = (size_t)(plus - wanted);
  return name && offset == wanted_offset && strlen(name) == size && memcmp(name, wanted, size) == 0;
}

static void leave_out(inst_t* inst) {
  decode_free_extra(inst);
  *inst =
      (inst_t){.run = control_run_nothing, .row = &control_nothing_row, .address = inst->address, .size = inst->size};
  inst->extra = calloc(1, sizeof(*inst->extra));
}

// One instruction of the text; false when memory is short. An unknown one becomes `illegal`, and `stops` the run.
static bool add_inst(decode_t* d, run_t* run, uint64_t address, const uint8_t* bytes, uint32_t size, bool is_dual,
                     bool* stops) {
  inst_t* inst = run_add(run);
  if (!inst) return false;
  text_t error = {0};
  inst->address = address, inst->size = (uint8_t)(is_dual ? 0 : size), inst->is_dual = is_dual;
  memcpy(inst->encoding, bytes, size < 8 ? size : 8);
  bool known = decode_inst(d, inst, &error);
  if (!known) {
    --run->count;
    *stops = true;
    known = run_add_illegal(run, address, &error);
  }
  text_finish(&error);
  return known;
}

// Decodes from `address`; 0 when memory is short, else the address after the run.
static uint64_t decode_run(engine_t* engine, code_t* code, uint32_t lanes, uint64_t address, run_t* run) {
  char text[512];
  uint64_t end = code->base + code->size;
  decode_t d = {.engine = engine, .lanes = lanes};
  for (;;) {
    const inst_t* known = address + 4 <= end ? load_slot(code, lanes, address) : NULL;
    if (known) return run_add_pseudo(run, control_run_jump, address, known) ? address : 0;
    text_t error = {0};
    uint32_t size =
        address < end ? disassemble(engine, lanes, (const uint8_t*)address, end - address, address, text, sizeof(text))
                      : 0;
    if (!size || address + size > end) {
      text_printf(&error,
                  size || address < end ? "these bytes are no instruction of %s" : "code of %s ends without s_endpgm",
                  engine->target->name);
      bool added = run_add_illegal(run, address, &error);
      text_finish(&error);
      return added ? address : 0;
    }
    bool stops = false;
    char* second = strstr(text, " :: ");
    if (second) {
      *second = 0;
      d.text = text;
      if (!add_inst(&d, run, address, (const uint8_t*)address, size, true, &stops)) return 0;
      if (stops) return address;
    }
    d.text = second ? second + 4 : text;
    if (!add_inst(&d, run, address, (const uint8_t*)address, size, false, &stops)) return 0;
    inst_t* last = &run->insts[run->count - 1];
    if (second && !stops) last->size = 0, last[-1].size = (uint8_t)size;
    if (last->flags & INST_READS_Z) run_refresh_flags(last);
    if (!second && is_left_out(code, address)) leave_out(last);
    if (stops || ends_run(&run->insts[run->count - 1])) return address + size;
    address += size;
  }
}

// Keeps the bytes that a run was decoded from, those of its end that are no instruction too.
static bool keep_bytes(const code_t* code, code_chunk_t* chunk, uint64_t begin, uint64_t end) {
  uint64_t most = code->base + code->size;
  if (chunk->insts[chunk->count - 1].run == control_run_illegal) end += CODE_LONGEST;
  if (begin > most) begin = most;
  if (end > most) end = most;
  chunk->begin = begin, chunk->size = end - begin;
  chunk->bytes = malloc(chunk->size + 1);
  if (chunk->bytes) memcpy(chunk->bytes, (const void*)begin, chunk->size);
  return chunk->bytes;
}

// Decodes the run at `address` and makes it visible: its instructions move into a chunk, their slots point there.
static code_chunk_t* add_chunk(engine_t* engine, code_t* code, uint32_t lanes, uint64_t address) {
  run_t run = {0};
  uint64_t end = decode_run(engine, code, lanes, address, &run);
  code_chunk_t* chunk = end ? calloc(1, sizeof(*chunk) + run.count * sizeof(inst_t)) : NULL;
  if (chunk) {
    memcpy(chunk->insts, run.insts, run.count * sizeof(inst_t));
    chunk->count = run.count, chunk->next = code->chunks;
    for (uint32_t i = 0; i + 1 < chunk->count; ++i) {
      if (chunk->insts[i].is_dual) run_join_dual(&chunk->insts[i], &chunk->insts[i + 1]);
    }
    code->chunks = chunk;
    if (!code->is_known && !keep_bytes(code, chunk, address, end)) chunk = NULL;
  }
  free(run.insts);
  for (uint32_t i = 0; chunk && i < chunk->count; ++i) {
    const inst_t* inst = &chunk->insts[i];
    if (inst->run == control_run_jump || (i && chunk->insts[i - 1].is_dual)) continue;
    if (inst->address + 4 > code->base + code->size) continue;
    __atomic_store_n(slot_of(code, lanes, inst->address), inst, __ATOMIC_RELEASE);
  }
  return chunk;
}

bool code_holds(const code_t* code, uint64_t address) {
  return address >= code->base && address + 4 <= code->base + code->size && address % 4 == 0;
}

const inst_t* code_decode(engine_t* engine, code_t* code, uint32_t lanes, uint64_t address) {
  if (load_slot(code, lanes, address)) return load_slot(code, lanes, address);
  code_chunk_t* work = add_chunk(engine, code, lanes, address);
  while (work) {
    code_chunk_t* chunk = work;
    work = chunk->next_work;
    for (uint32_t i = 0; i < chunk->count; ++i) {
      inst_t* inst = &chunk->insts[i];
      if (inst->run == control_run_jump || inst->run == control_run_illegal || !has_target(inst)) continue;
      uint64_t target = target_of(inst);
      if (!code_holds(code, target)) continue;
      if (!load_slot(code, lanes, target)) {
        code_chunk_t* added = add_chunk(engine, code, lanes, target);
        if (!added) return NULL;
        added->next_work = work;
        work = added;
      }
      inst->target = load_slot(code, lanes, target);
    }
  }
  return load_slot(code, lanes, address);
}

void code_free(code_t* code) {
  for (code_chunk_t *chunk = code->chunks, *next; chunk; chunk = next) {
    next = chunk->next;
    for (uint32_t i = 0; i < chunk->count; ++i) decode_free_extra(&chunk->insts[i]);
    free(chunk->bytes);
    free(chunk);
  }
  free(code->at[0]);
  free(code->at[1]);
  free(code);
}

static void compare_chunks(void* data) {
  const code_t** code = data;
  for (const code_chunk_t* chunk = (*code)->chunks; chunk; chunk = chunk->next) {
    if (memcmp(chunk->bytes, (const void*)chunk->begin, chunk->size) != 0) {
      *code = NULL;
      return;
    }
  }
}

bool code_is_current(const code_t* code) {
  const code_t* same = code;
  return code->is_known || (run_guarded(compare_chunks, &same) && same);
}
