// Decoded code: instructions are decoded in runs, from an address that something jumps to up to where control cannot
// fall through or code that is decoded already begins. Targets of branches are decoded with them, those of s_setpc and
// its like when they are first taken. Decoded instructions stay where they are until their code is removed.
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

#include "softgpu/kernel.h"
#include "softgpu/lines.h"

enum { CODE_CHUNK = 256, CODE_DEFAULT_RANGE = 1 << 20 };

typedef struct code_chunk_t {
  struct code_chunk_t *next, *next_work;
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
    if (stops || ends_run(&run->insts[run->count - 1])) return address + size;
    address += size;
  }
}

// Decodes the run at `address` and makes it visible: its instructions move into a chunk, their slots point there.
static code_chunk_t* add_chunk(engine_t* engine, code_t* code, uint32_t lanes, uint64_t address) {
  run_t run = {0};
  bool done = decode_run(engine, code, lanes, address, &run) != 0;
  code_chunk_t* chunk = done ? malloc(sizeof(*chunk) + run.count * sizeof(inst_t)) : NULL;
  if (chunk) {
    memcpy(chunk->insts, run.insts, run.count * sizeof(inst_t));
    chunk->count = run.count, chunk->next = code->chunks, chunk->next_work = NULL;
    for (uint32_t i = 0; i + 1 < chunk->count; ++i) {
      if (chunk->insts[i].is_dual) run_join_dual(&chunk->insts[i], &chunk->insts[i + 1]);
    }
    code->chunks = chunk;
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

static bool in_code(const code_t* code, uint64_t address) {
  return address >= code->base && address + 4 <= code->base + code->size && address % 4 == 0;
}

// Decodes the run at `address` and all that its branches lead to. Needs the engine's lock. NULL when memory is short.
static const inst_t* decode_from(engine_t* engine, code_t* code, uint32_t lanes, uint64_t address) {
  if (load_slot(code, lanes, address)) return load_slot(code, lanes, address);
  code_chunk_t* work = add_chunk(engine, code, lanes, address);
  while (work) {
    code_chunk_t* chunk = work;
    work = chunk->next_work;
    for (uint32_t i = 0; i < chunk->count; ++i) {
      inst_t* inst = &chunk->insts[i];
      if (inst->run == control_run_jump || inst->run == control_run_illegal || !has_target(inst)) continue;
      uint64_t target = target_of(inst);
      if (!in_code(code, target)) continue;
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

static code_t* make_code(engine_t* engine, const engine_code_t* given, bool is_known) {
  code_t* code = calloc(1, sizeof(*code));
  if (!code) return NULL;
  code->base = (uint64_t)given->base, code->size = given->size, code->given = *given, code->is_known = is_known;
  for (int i = 0; i < 2; ++i) {
    code->at[i] = calloc(given->size / 4 + 1, sizeof(inst_t*));
    if (!code->at[i]) return code_free(code), NULL;
  }
  code->next = engine->codes;
  engine->codes = code;
  return code;
}

void code_free(code_t* code) {
  for (code_chunk_t *chunk = code->chunks, *next; chunk; chunk = next) {
    next = chunk->next;
    for (uint32_t i = 0; i < chunk->count; ++i) decode_free_extra(&chunk->insts[i]);
    free(chunk);
  }
  free(code->at[0]);
  free(code->at[1]);
  free(code);
}

static code_t* find_code(engine_t* engine, uint64_t address) {
  for (code_t* code = engine->codes; code; code = code->next) {
    if (in_code(code, address)) return code;
  }
  memory_range_t range;
  if (!engine->options.memory || !memory_map_find(engine->options.memory, address, &range)) return NULL;
  engine_code_t given = {.base = (const void*)range.base, .size = range.size};
  return address % 4 == 0 ? make_code(engine, &given, false) : NULL;
}

const inst_t* code_find_inst(engine_t* engine, uint32_t lanes, uint64_t address) {
  pthread_mutex_lock(&engine->lock);
  code_t* code = find_code(engine, address);
  const inst_t* inst = code ? decode_from(engine, code, lanes, address) : NULL;
  pthread_mutex_unlock(&engine->lock);
  return inst;
}

// Forgets what was decoded in an allocation that no loader told of: its bytes may be others now.
static void forget_unknown(engine_t* engine) {
  for (code_t** at = &engine->codes; *at;) {
    code_t* code = *at;
    if (code->is_known) {
      at = &code->next;
      continue;
    }
    *at = code->next;
    code_free(code);
  }
}

static kernel_t* make_kernel(engine_t* engine, uint64_t address, const kernel_descriptor_t* descriptor,
                             engine_fault_t* fault) {
  bool wave32 = descriptor->properties >> 10 & 1;
  if (wave32 && !isa_has_wave32(engine->target)) {
    *fault = (engine_fault_t){.kind = ENGINE_FAULT_INVALID_KERNEL, .address = address};
    snprintf(fault->message, sizeof(fault->message), "kernel descriptor at 0x%llx: waves of 32 lanes, which %s has not",
             (unsigned long long)address, engine->target->name);
    return NULL;
  }
  uint64_t entry = address + (uint64_t)descriptor->entry_offset;
  // Firmware that preloads arguments skips the prologue that loads them (kernarg_preload, bits 6:0).
  if (descriptor->kernarg_preload & 127) entry += 256;
  code_t* code = find_code(engine, entry);
  const inst_t* inst = code ? decode_from(engine, code, wave32 ? 32 : 64, entry) : NULL;
  kernel_t* kernel = inst ? calloc(1, sizeof(*kernel)) : NULL;
  if (!kernel) {
    *fault = (engine_fault_t){.kind = ENGINE_FAULT_INVALID_KERNEL, .address = entry};
    snprintf(fault->message, sizeof(fault->message), "kernel descriptor at 0x%llx: no code at its entry 0x%llx",
             (unsigned long long)address, (unsigned long long)entry);
    return NULL;
  }
  uint32_t granule = isa_has_unified_registers(engine->target) || wave32 ? 8 : 4;
  *kernel = (kernel_t){.address = address,
                       .descriptor = *descriptor,
                       .code = code,
                       .entry = inst,
                       .lanes = wave32 ? 32 : 64,
                       .registers = ((descriptor->rsrc1 & 63) + 1) * granule,
                       .next = engine->kernels};
  engine->kernels = kernel;
  return kernel;
}

kernel_t* code_find_kernel(engine_t* engine, uint64_t address, engine_fault_t* fault) {
  kernel_descriptor_t descriptor;
  memcpy(&descriptor, (const void*)address, sizeof(descriptor));
  pthread_mutex_lock(&engine->lock);
  kernel_t* kernel = engine->kernels;
  while (kernel && (kernel->address != address || memcmp(&kernel->descriptor, &descriptor, sizeof(descriptor)) != 0)) {
    kernel = kernel->next;
  }
  if (!kernel) kernel = make_kernel(engine, address, &descriptor, fault);
  pthread_mutex_unlock(&engine->lock);
  return kernel;
}

bool engine_add_code(engine_t* engine, const engine_code_t* code) {
  pthread_mutex_lock(&engine->lock);
  bool added = make_code(engine, code, true) != NULL;
  pthread_mutex_unlock(&engine->lock);
  return added;
}

void engine_remove_code(engine_t* engine, const void* base) {
  pthread_mutex_lock(&engine->lock);
  for (kernel_t** at = &engine->kernels; *at;) {
    kernel_t* kernel = *at;
    bool gone = !kernel->code->is_known || kernel->code->base == (uint64_t)base;
    if (gone) {
      *at = kernel->next;
      free(kernel);
    } else {
      at = &kernel->next;
    }
  }
  forget_unknown(engine);
  for (code_t** at = &engine->codes; *at; at = &(*at)->next) {
    code_t* code = *at;
    if (code->base != (uint64_t)base) continue;
    *at = code->next;
    code_free(code);
    break;
  }
  pthread_mutex_unlock(&engine->lock);
}

const char* code_symbol(const code_t* code, uint64_t address, uint64_t* offset) {
  const Elf64_Ehdr* header = code->given.elf;
  size_t size = code->given.elf_size;
  if (!header || size < sizeof(*header) || header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shoff % 8 ||
      header->e_shoff > size || header->e_shnum > (size - header->e_shoff) / sizeof(Elf64_Shdr)) {
    return NULL;
  }
  const Elf64_Shdr* sections = (const Elf64_Shdr*)((const char*)header + header->e_shoff);
  const char* best = NULL;
  uint64_t at = address - code->base, best_value = 0;
  for (uint32_t i = 0; i < header->e_shnum; ++i) {
    const Elf64_Shdr *table = &sections[i], *names = &sections[table->sh_link < header->e_shnum ? table->sh_link : 0];
    if ((table->sh_type != SHT_SYMTAB && table->sh_type != SHT_DYNSYM) || table->sh_offset % 8 ||
        table->sh_offset > size || table->sh_size > size - table->sh_offset || names->sh_offset > size ||
        !names->sh_size || names->sh_size > size - names->sh_offset) {
      continue;
    }
    const char* strings = (const char*)header + names->sh_offset;
    if (strings[names->sh_size - 1]) continue;
    const Elf64_Sym* symbols = (const Elf64_Sym*)((const char*)header + table->sh_offset);
    for (size_t k = 0; k < table->sh_size / sizeof(Elf64_Sym); ++k) {
      const Elf64_Sym* symbol = &symbols[k];
      if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_value > at || symbol->st_name >= names->sh_size)
        continue;
      if (!best || symbol->st_value >= best_value) best = strings + symbol->st_name, best_value = symbol->st_value;
    }
  }
  *offset = at - best_value;
  return best;
}

void code_describe(const launch_t* launch, const inst_t* inst, text_t* out) {
  engine_t* engine = launch->engine;
  uint64_t offset = 0;
  char text[512] = "";
  pthread_mutex_lock(&engine->lock);
  code_t* code = find_code(engine, inst->address);
  const char* name = code && code->is_known ? code_symbol(code, inst->address, &offset) : NULL;
  if (code) {
    size_t left = code->base + code->size - inst->address;
    disassemble(engine, launch->lanes, (const uint8_t*)inst->address, left, inst->address, text, sizeof(text));
  }
  lines_place_t place;
  bool has_line =
      code && code->is_known && lines_find(code->given.elf, code->given.elf_size, inst->address - code->base, &place);
  pthread_mutex_unlock(&engine->lock);
  if (has_line) text_printf(out, "%s:%u, ", place.file, place.line);
  if (name) {
    text_printf(out, "kernel %s+0x%llx", name, (unsigned long long)offset);
  } else {
    text_printf(out, "address 0x%llx", (unsigned long long)inst->address);
  }
  char* at = text;
  while (*at == '\t' || *at == ' ') ++at;
  if (*at) text_printf(out, ": %s", at);
}
