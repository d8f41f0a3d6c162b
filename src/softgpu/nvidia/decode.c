// Statements become instructions: rows, operands, places in the frame.
#include "softgpu/nvidia/decode.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { DECODE_MOST_FRAME = 1 << 26 };

bool decode_fail(decoder_t* d, const char* format, ...) {
  char what[400];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof(what), format, args);
  va_end(args);
  d->p->line = d->s->line;
  return parse_fail(d->p, "%.*s: %s", (int)(d->s->name.size < 100 ? d->s->name.size : 100), d->s->name.text, what);
}

const arg_t* decode_arg(decoder_t* d, uint32_t index) { return index < d->s->arg_count ? &d->s->args[index] : NULL; }

bool decode_count(decoder_t* d, uint32_t least, uint32_t most) {
  uint32_t count = d->s->arg_count;
  if (count >= least && count <= most) return true;
  return least == most ? decode_fail(d, "%u operands, not %u, expected", least, count)
                       : decode_fail(d, "%u to %u operands, not %u, expected", least, most, count);
}

// At least 64, the step of frame_t.defined.
static uint32_t lanes_size(uint32_t bytes) { return bytes * WARP_LANES < 64 ? 64 : bytes * WARP_LANES; }

operand_t decode_temporary(decoder_t* d, uint32_t bytes) {
  operand_t result = {UINT64_MAX, d->frame};
  d->frame += lanes_size(bytes);
  return result;
}

// Registers have their place from their first use on.
static operand_t place_register(decoder_t* d, uint32_t index) {
  ptx_register_t* reg = &d->p->registers[index];
  if (!reg->offset) {
    reg->offset = d->frame;
    // A predicate is a bit for each lane.
    d->frame += reg->type == PTX_TYPE_pred ? 64 : lanes_size(reg->bytes);
  }
  return (operand_t){UINT64_MAX, reg->offset};
}

static void* make_lanes(decoder_t* d, uint32_t bytes) {
  uintptr_t data = (uintptr_t)arena_alloc(d->p->arena, lanes_size(bytes) + 63);
  return (void*)((data + 63) & ~(uintptr_t)63);
}

static operand_t make_constant(decoder_t* d, uint64_t value, uint64_t high, uint32_t bytes) {
  uint32_t bucket = (uint32_t)((value ^ value >> 32) * 2654435761u >> 16 ^ bytes) % DECODE_CONSTANTS;
  constant_t* c = d->constants[bucket];
  while (c && (c->value != value || c->high != high || c->bytes != bytes)) c = c->next;
  if (!c) {
    c = ARENA_NEW(d->p->arena, constant_t);
    c->value = value, c->high = high, c->bytes = bytes, c->data = make_lanes(d, bytes);
    c->next = d->constants[bucket];
    d->constants[bucket] = c;
    uint64_t both[2] = {value, high};
    for (uint32_t i = 0; i < WARP_LANES; ++i) memcpy((char*)c->data + (size_t)i * bytes, both, bytes);
  }
  return (operand_t){0, (uint64_t)c->data};
}

operand_t decode_make_constant(decoder_t* d, uint64_t value, uint32_t bytes) {
  return make_constant(d, value, 0, bytes);
}

// A number as bits of a type.
static bool number_bits(decoder_t* d, const arg_t* arg, ptx_type_t type, uint64_t* out) {
  const ptx_type_info_t* info = ptx_type_info(type);
  *out = arg->value;
  if (arg->kind == ARG_INTEGER) {
    if (type == PTX_TYPE_pred) *out = arg->value ? UINT32_MAX : 0;
    if (info->kind == PTX_FLOAT && info->bytes >= 4 && arg->value) {
      double wide = (double)(int64_t)arg->value;
      float narrow = (float)wide;
      *out = 0;
      memcpy(out, info->bytes == 8 ? (void*)&wide : (void*)&narrow, info->bytes);
    }
    return true;
  }
  double wide;
  float narrow;
  memcpy(&wide, &arg->value, 8);
  memcpy(&narrow, &arg->value, 4);
  if (info->bytes == 4 && arg->kind == ARG_FLOAT) {
    narrow = (float)wide;
    *out = 0;
    memcpy(out, &narrow, 4);
  } else if (info->bytes == 8 && arg->kind == ARG_SINGLE) {
    wide = narrow;
    memcpy(out, &wide, 8);
  } else if (info->bytes < 4) {
    return decode_fail(d, "a float where %u bytes are expected", info->bytes);
  }
  return true;
}

void decode_note_shared(decoder_t* d, const variable_t* variable) {
  function_t* f = d->f;
  for (uint32_t i = 0; i < f->shared_count; ++i) {
    if (f->shared[i] == variable) return;
  }
  if ((f->shared_count & (f->shared_count - 1)) == 0) {
    const variable_t** grown = ARENA_ARRAY(d->p->arena, const variable_t*, 2 * f->shared_count + 1);
    if (f->shared_count) memcpy(grown, f->shared, f->shared_count * sizeof(*grown));
    f->shared = grown;
  }
  f->shared[f->shared_count++] = variable;
}

void decode_note_call(decoder_t* d, const function_t* function) {
  function_t* f = d->f;
  for (uint32_t i = 0; i < f->call_count; ++i) {
    if (f->calls[i] == function) return;
  }
  if ((f->call_count & (f->call_count - 1)) == 0) {
    const function_t** grown = ARENA_ARRAY(d->p->arena, const function_t*, 2 * f->call_count + 1);
    if (f->call_count) memcpy(grown, f->calls, f->call_count * sizeof(*grown));
    f->calls = grown;
  }
  f->calls[f->call_count++] = function;
}

// Fills a hidden instruction in front of the one at hand.
static bool emit_special(decoder_t* d, special_t special, ptx_type_t type, uint64_t addend, operand_t* out) {
  extern const row_t special_row;
  ptx_type_t own = special_type(special);
  if (type == PTX_TYPE_NONE) type = own;
  uint32_t bytes = ptx_type_info(type)->bytes;
  if (bytes != 4 && bytes != 8) return decode_fail(d, "a special register of %u bytes", bytes);
  inst_t* inst = decode_emit(d);
  *out = own == PTX_TYPE_pred ? decode_temporary(d, 4) : decode_temporary(d, bytes);
  inst->op[0] = *out;
  inst->mode = (uint8_t)special;
  inst->element = (uint8_t)bytes;
  inst->imm = addend;
  inst->row = &special_row;
  inst->written = 1;
  inst->types[0] = (uint8_t)(bytes == 8 ? PTX_TYPE_u64 : PTX_TYPE_u32);
  inst->run = inst->run_inner = inst->run_row = special_row.run;
  inst->is_guarded = false;
  return true;
}

// The address of a variable in its own space, or of a function.
static bool read_symbol(decoder_t* d, const arg_t* arg, ptx_type_t type, operand_t* out) {
  uint32_t bytes = ptx_type_info(type)->bytes;
  if (bytes != 4 && bytes != 8) return decode_fail(d, "an address of %u bytes", bytes);
  if (!arg->symbol || arg->symbol->kind == SYMBOL_LABEL || arg->symbol->kind == SYMBOL_LIST) {
    return decode_fail(d, "the label '%.*s' is no operand here", (int)arg->name.size, arg->name.text);
  }
  if (arg->symbol->kind == SYMBOL_FUNCTION) {
    function_t* f = arg->symbol->function;
    d->f->calls_unknown = true;
    decode_note_call(d, f);
    *out = decode_make_constant(d, WINDOW_FUNCTION + 16 * (uint64_t)(f->index + 1) + arg->value, bytes);
    return true;
  }
  variable_t* v = arg->symbol->variable;
  if (v->space == PTX_SHARED) decode_note_shared(d, v);
  if (v->space == PTX_SHARED && v->is_dynamic) return emit_special(d, SPECIAL_DYNAMIC_BASE, type, arg->value, out);
  if (v->is_on_stack) {
    return emit_special(d, SPECIAL_NONE, type, v->address + arg->value, out);
  }
  if (v->space == PTX_PARAM) {
    *out = decode_make_constant(d, v->address + arg->value, bytes);
    return true;
  }
  // What layout.c fills in.
  void* data = make_lanes(d, bytes);
  address_use_t* use = ARENA_NEW(d->p->arena, address_use_t);
  *use = (address_use_t){v, arg->value, data, bytes, d->p->module->uses};
  d->p->module->uses = use;
  *out = (operand_t){0, (uint64_t)data};
  return true;
}

bool decode_read(decoder_t* d, const arg_t* arg, ptx_type_t type, operand_t* out) {
  uint8_t bytes;
  if (!decode_wide_read(d, arg, type, out, &bytes)) return false;
  if (arg->kind == ARG_REGISTER && bytes != ptx_type_info(type)->bytes) {
    return decode_fail(d, "register %.*s has %u bytes, not %u", (int)arg->name.size, arg->name.text, bytes,
                       ptx_type_info(type)->bytes);
  }
  return true;
}

bool decode_wide_read(decoder_t* d, const arg_t* arg, ptx_type_t type, operand_t* out, uint8_t* bytes) {
  if (!arg) return decode_fail(d, "an operand is missing");
  uint64_t value;
  *bytes = ptx_type_info(type)->bytes;
  switch (arg->kind) {
    case ARG_REGISTER: {
      ptx_register_t* reg = &d->p->registers[arg->reg];
      if ((reg->type == PTX_TYPE_pred) != (type == PTX_TYPE_pred) || reg->bytes < *bytes) {
        return decode_fail(d, "register %s is a .%s, not a .%s", reg->name, ptx_type_info(reg->type)->name,
                           ptx_type_info(type)->name);
      }
      *bytes = reg->bytes;
      *out = place_register(d, arg->reg);
      return true;
    }
    case ARG_SPECIAL:
      return emit_special(d, (special_t)arg->special, type, 0, out);
    case ARG_INTEGER:
    case ARG_FLOAT:
    case ARG_SINGLE:
      if (!number_bits(d, arg, type, &value)) return false;
      *out = make_constant(d, *bytes < 8 ? value & ((UINT64_C(1) << *bytes * 8) - 1) : value,
                           *bytes == 16 && (int64_t)value < 0 ? UINT64_MAX : 0, *bytes);
      return true;
    case ARG_SYMBOL:
      return read_symbol(d, arg, type, out);
    default:
      return decode_fail(d, "an operand that is no register or constant");
  }
}

bool decode_write_register(decoder_t* d, uint32_t reg, ptx_type_t type, operand_t* out) {
  if (reg == NO_REGISTER) {
    *out = decode_temporary(d, ptx_type_info(type)->bytes);
    return true;
  }
  ptx_register_t* r = &d->p->registers[reg];
  if ((r->type == PTX_TYPE_pred) != (type == PTX_TYPE_pred) || r->bytes != ptx_type_info(type)->bytes) {
    return decode_fail(d, "register %s is a .%s, not a .%s", r->name, ptx_type_info(r->type)->name,
                       ptx_type_info(type)->name);
  }
  *out = place_register(d, reg);
  return true;
}

bool decode_write(decoder_t* d, const arg_t* arg, ptx_type_t type, operand_t* out) {
  if (!arg || (arg->kind != ARG_REGISTER && arg->kind != ARG_SINK)) {
    return decode_fail(d, "a register expected for the result");
  }
  return decode_write_register(d, arg->reg, type, out);
}

bool decode_wide_write(decoder_t* d, const arg_t* arg, uint32_t least, operand_t* out, uint8_t* bytes) {
  if (!arg || (arg->kind != ARG_REGISTER && arg->kind != ARG_SINK)) {
    return decode_fail(d, "a register expected for the result");
  }
  *bytes = (uint8_t)least;
  if (arg->kind == ARG_SINK) return *out = decode_temporary(d, least), true;
  ptx_register_t* r = &d->p->registers[arg->reg];
  if (r->type == PTX_TYPE_pred || r->bytes < least) {
    return decode_fail(d, "register %s is a .%s, too small for %u bytes", r->name, ptx_type_info(r->type)->name, least);
  }
  *bytes = r->bytes;
  *out = place_register(d, arg->reg);
  return true;
}

bool decode_memory(decoder_t* d, inst_t* inst, const arg_t* arg, operand_t* out) {
  if (!arg || arg->kind != ARG_MEMORY || arg->count != 1) return decode_fail(d, "an address in brackets expected");
  const arg_t* base = &arg->list[0];
  inst->imm = base->kind == ARG_REGISTER ? arg->value : 0;
  inst->address_is_32 = false;
  if (base->kind == ARG_REGISTER) {
    uint8_t bytes = d->p->registers[base->reg].bytes;
    if (bytes != 4 && bytes != 8) return decode_fail(d, "an address of %u bytes", bytes);
    inst->address_is_32 = bytes == 4;
    return decode_read(d, base, bytes == 4 ? PTX_TYPE_u32 : PTX_TYPE_u64, out);
  }
  arg_t sum = *base;
  if (base->kind == ARG_SYMBOL) sum.value = arg->value;
  return decode_read(d, &sum, PTX_TYPE_u64, out);
}

bool decode_immediate(decoder_t* d, const arg_t* arg, uint64_t* out) {
  if (!arg || arg->kind != ARG_INTEGER) return decode_fail(d, "a constant expected");
  *out = arg->value;
  return true;
}

bool decode_label(decoder_t* d, const arg_t* arg, uint32_t inst, const inst_t** to) {
  if (!arg || arg->kind != ARG_SYMBOL || !arg->symbol || arg->symbol->kind != SYMBOL_LABEL) {
    return decode_fail(d, "a label expected");
  }
  if (d->patch_count == d->patch_capacity) {
    d->patch_capacity = d->patch_capacity ? 2 * d->patch_capacity : 64;
    struct patch_t* grown = ARENA_ARRAY(d->p->arena, struct patch_t, d->patch_capacity);
    if (d->patch_count) memcpy(grown, d->patches, d->patch_count * sizeof(*grown));
    d->patches = grown;
  }
  d->patches[d->patch_count++] = (struct patch_t){inst, arg->symbol->label, to};
  return true;
}

inst_t* decode_emit(decoder_t* d) {
  if (d->count == d->capacity) {
    d->capacity = d->capacity ? 2 * d->capacity : 64;
    inst_t* grown = ARENA_ARRAY(d->p->arena, inst_t, d->capacity);
    if (d->count) memcpy(grown, d->insts, d->count * sizeof(*grown));
    d->insts = grown;
  }
  inst_t* inst = &d->insts[d->count];
  memset(inst, 0, sizeof(*inst));
  inst->number = (uint16_t)d->count++;
  inst->line = d->s->line;
  inst->source_line = d->s->source.line, inst->source_file = (uint16_t)d->s->source.file;
  inst->function = d->f;
  inst->name = d->inst.name;
  return inst;
}

static const inst_t* run_guarded_row(warp_t* w, const inst_t* inst) {
  uint32_t exec = w->exec, p = *(const uint32_t*)(w->frame + inst->guard);
  w->exec = exec & (inst->is_guard_negated ? ~p : p);
  const inst_t* next = w->exec ? inst->run_inner(w, inst) : inst + 1;
  // The part may have changed meanwhile.
  w->exec = w->lanes;
  return next;
}

#if defined(__x86_64__)
static const inst_t* run_with_csr(warp_t* w, const inst_t* inst) {
  __builtin_ia32_ldmxcsr(inst->csr);
  const inst_t* next = inst->run_row(w, inst);
  __builtin_ia32_ldmxcsr(0x1f80);
  return next;
}
#endif

// .sat of floats: NaN becomes 0.
static const inst_t* run_saturated(warp_t* w, const inst_t* inst) {
#if defined(__x86_64__)
  const inst_t* next = inst->csr ? run_with_csr(w, inst) : inst->run_row(w, inst);
#else
  const inst_t* next = inst->run_row(w, inst);
#endif
  float* d = warp_at(w, &inst->op[0]);
  for (uint32_t i = 0; i < WARP_LANES; ++i) {
    float bounded = d[i] > 0 ? (d[i] < 1 ? d[i] : 1) : 0;
    d[i] = w->exec >> i & 1 ? bounded : d[i];
  }
  return next;
}

// What the row's rounding and .ftz want of MXCSR.
static uint32_t csr_of(const ptx_modifiers_t* m) {
  static const uint16_t rounds[] = {0, 0, 3, 1, 2, 0};
  uint32_t round = m->value[PTX_GROUP_ROUND];
  uint32_t csr = 0x1f80u | (uint32_t)rounds[round] << 13;
  if (m->value[PTX_GROUP_FLAG] & PTX_FTZ) csr |= 1u << 15 | 1u << 6;
  return csr == 0x1f80 ? 0 : csr;
}

static bool bind_plain(decoder_t* d, inst_t* inst) {
  const row_t* row = inst->row;
  if (!decode_count(d, row->type_count, row->type_count)) return false;
  inst->written = 1;
  for (uint32_t i = 0; i < row->type_count; ++i) {
    inst->types[i] = row->types[i];
    const arg_t* arg = &d->s->args[i];
    if (i == 0 ? !decode_write(d, arg, row->types[0], &inst->op[0])
               : !decode_read(d, arg, row->types[i], &inst->op[i])) {
      return false;
    }
  }
  return true;
}

// What no row knows: it stops who reaches it.
static const inst_t* run_unknown(warp_t* w, const inst_t* inst) {
  return warp_fault(w, inst, NV_FAULT_INSTRUCTION, w->exec, 0, "the instruction %s is not known", inst->name);
}
static const row_t unknown_row = {.names = "", .options = "", .run = run_unknown};

static bool decode_statement(decoder_t* d) {
  const statement_t* s = d->s;
  inst_t* inst = &d->inst;
  memset(inst, 0, sizeof(*inst));
  inst->name = word_copy(d->p, s->name);
  inst->row = row_find(s, &inst->modifiers);
  if (!inst->row) inst->row = &unknown_row;
  inst->run_row = inst->row->run;
  inst->flags = inst->modifiers.value[PTX_GROUP_FLAG];
  inst->csr = csr_of(&inst->modifiers);
  if (inst->row != &unknown_row && !(inst->row->bind ? inst->row->bind(d, inst) : bind_plain(d, inst))) return false;
  if (s->is_guarded) {
    if (d->p->registers[s->guard].type != PTX_TYPE_pred) return decode_fail(d, "the guard is no predicate");
    inst->is_guarded = true, inst->is_guard_negated = s->is_guard_negated;
    inst->guard = (uint32_t)place_register(d, s->guard).offset;
  }
  inst->run_inner = inst->run_row;
#if defined(__x86_64__)
  if (inst->csr) inst->run_inner = run_with_csr;
#endif
  bool is_plain_float = !inst->row->bind && inst->row->types[0] == PTX_TYPE_f32;
  if (inst->flags & PTX_SAT && is_plain_float) inst->run_inner = run_saturated;
  inst->run = inst->is_guarded ? run_guarded_row : inst->run_inner;
  inst_t* at = decode_emit(d);
  uint16_t number = at->number;
  uint32_t line = at->line, source_line = at->source_line;
  uint16_t file = at->source_file;
  *at = *inst;
  at->number = number, at->line = line, at->source_line = source_line, at->source_file = file, at->function = d->f;
  if (d->frame > DECODE_MOST_FRAME) return decode_fail(d, "more registers than a thread can have");
  return true;
}

static void place_variables(function_t* f) {
  uint64_t at = 0;
  if (!f->is_entry) {
    for (int k = 0; k < 2; ++k) {
      formal_t* formals = k ? f->parameters : f->results;
      uint32_t count = k ? f->parameter_count : f->result_count;
      for (uint32_t i = 0; i < count; ++i) {
        variable_t* v = formals[i].variable;
        if (!v) continue;
        at = (at + v->align - 1) & ~(uint64_t)(v->align - 1);
        v->address = at, at += v->size;
        v->is_on_stack = true;
      }
    }
  }
  for (variable_t* v = f->variables; v; v = v->next) {
    at = (at + v->align - 1) & ~(uint64_t)(v->align - 1);
    v->address = at, at += v->size;
    v->is_on_stack = true;
  }
  f->local_size = at > UINT32_MAX ? UINT32_MAX : (uint32_t)((at + 15) & ~(uint64_t)15);
}

bool decode_function(parser_t* p, function_t* f) {
  extern const row_t end_row;
  decoder_t d = {.p = p, .f = f, .frame = 64};
  place_variables(f);
  if (f->local_size > 1 << 24) return parse_fail(p, "function '%s' has more than 16 MiB of local memory", f->name);
  d.first_inst = ARENA_ARRAY(p->arena, uint32_t, p->statement_count + 1);
  uint32_t number = 0;
  statement_t end = {.line = p->line};
  d.s = &end;
  for (const statement_t* s = p->first; s; s = s->next) {
    d.s = s;
    d.first_inst[number++] = d.count;
    if (!decode_statement(&d)) return false;
  }
  d.first_inst[number] = d.count;
  end.line = p->line;
  d.s = &end;
  d.inst.name = "(end)";
  inst_t* last = decode_emit(&d);
  last->row = &end_row;
  last->run = last->run_inner = last->run_row = end_row.run;
  for (uint32_t i = 0; i < d.patch_count; ++i) {
    const inst_t* target = &d.insts[d.first_inst[d.patches[i].statement]];
    if (d.patches[i].to) {
      *d.patches[i].to = target;
    } else {
      d.insts[d.patches[i].inst].target = target;
    }
  }
  f->insts = d.insts, f->inst_count = d.count;
  f->frame_size = d.frame;
  f->registers = p->registers, f->register_count = p->register_count;
  for (uint32_t i = 0; i < 2; ++i) {  // formals in registers have a place even where nobody reads them
    const formal_t* formals = i ? f->parameters : f->results;
    uint32_t count = i ? f->parameter_count : f->result_count;
    for (uint32_t k = 0; k < count; ++k) {
      if (!formals[k].variable) place_register(&d, formals[k].reg);
    }
  }
  f->frame_size = d.frame;
  return true;
}
