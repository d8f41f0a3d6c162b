// Calls: arguments go from the caller's registers and stack to the callee's, results back. What has no body is printf's
// and assert's part of the CUDA runtime. Source: PTX ISA, "call"; CUDA's "PTX Writer's Guide to Interoperability",
// "System Calls".
#include <stdio.h>
#include <stdlib.h>

#include "softgpu/nvidia/check.h"
#include "softgpu/nvidia/decode.h"

// An argument or result: bytes on a stack, or a register or constant.
typedef struct place_t {
  bool is_on_stack;
  uint32_t bytes;
  uint64_t offset;
  operand_t op;
} place_t;

typedef struct call_t {
  place_t *results, *arguments;
  uint32_t result_count, argument_count;
} call_t;

static bool bind_place(decoder_t* d, const arg_t* arg, const formal_t* formal, bool is_result, place_t* out) {
  bool is_variable = arg->kind == ARG_SYMBOL && arg->symbol && arg->symbol->kind == SYMBOL_VARIABLE;
  if (is_variable && arg->symbol->variable->space == PTX_PARAM) {
    const variable_t* v = arg->symbol->variable;
    if (!v->is_on_stack) return decode_fail(d, "'%s' is the kernel's own parameter", v->name);
    *out = (place_t){true, (uint32_t)v->size, v->address, {0, 0}};
    return true;
  }
  if (arg->kind == ARG_SINK) return *out = (place_t){0}, true;
  ptx_type_t type = PTX_TYPE_b32;
  if (arg->kind == ARG_REGISTER) {
    type = (ptx_type_t)d->p->registers[arg->reg].type;
  } else if (formal && formal->variable) {
    type = (ptx_type_t)formal->variable->type;
  }
  if (type == PTX_TYPE_pred) return decode_fail(d, "a predicate as an argument");
  out->bytes = ptx_type_info(type)->bytes;
  return is_result ? decode_write(d, arg, type, &out->op) : decode_read(d, arg, type, &out->op);
}

static bool bind_places(decoder_t* d, const arg_t* list, const function_t* callee, bool is_result, place_t** out) {
  const formal_t* formals = !callee ? NULL : is_result ? callee->results : callee->parameters;
  uint32_t count = !callee ? 0 : is_result ? callee->result_count : callee->parameter_count;
  if (callee && (list ? list->count : 0) != count) {
    return decode_fail(d, "'%s' has %u %s, not %u", callee->name, count, is_result ? "results" : "parameters",
                       list ? list->count : 0);
  }
  *out = ARENA_ARRAY(d->p->arena, place_t, (list ? list->count : 0) + 1);
  for (uint32_t i = 0; list && i < list->count; ++i) {
    if (!bind_place(d, &list->list[i], formals ? &formals[i] : NULL, is_result, &(*out)[i])) return false;
  }
  return true;
}

static bool bind_call(decoder_t* d, inst_t* inst) {
  if (!decode_count(d, 1, 4)) return false;
  const arg_t* args = d->s->args;
  uint32_t at = args[0].kind == ARG_LIST, count = d->s->arg_count;
  if (at >= count) return decode_fail(d, "a function expected");
  const arg_t *results = at ? &args[0] : NULL, *to = &args[at];
  const arg_t* parameters = at + 1 < count && args[at + 1].kind == ARG_LIST ? &args[at + 1] : NULL;
  const function_t* callee = NULL;
  if (to->kind == ARG_SYMBOL && to->symbol && to->symbol->kind == SYMBOL_FUNCTION) {
    callee = to->symbol->function;
    decode_note_call(d, callee);
  } else {
    d->f->calls_unknown = true;
    if (!decode_read(d, to, PTX_TYPE_u64, &inst->op[0])) return false;
  }
  call_t* call = ARENA_NEW(d->p->arena, call_t);
  call->result_count = results ? results->count : 0;
  call->argument_count = parameters ? parameters->count : 0;
  inst->extra = call, inst->imm = (uint64_t)callee;
  return bind_places(d, results, callee, true, &call->results) &&
         bind_places(d, parameters, callee, false, &call->arguments);
}

static uint8_t* place_of(const warp_t* w, const frame_t* frame, const place_t* place, uint32_t lane) {
  if (place->is_on_stack) {
    return w->local + (uint64_t)lane * w->stack_size + frame->local_base + place->offset;
  }
  uint64_t base = (frame->registers & place->op.select) + place->op.offset;
  return (uint8_t*)(base + (uint64_t)lane * place->bytes);
}

static place_t formal_place(const function_t* f, const formal_t* formal) {
  if (formal->variable) {
    return (place_t){true, (uint32_t)formal->variable->size, formal->variable->address, {0, 0}};
  }
  const ptx_register_t* reg = &f->registers[formal->reg];
  return (place_t){false, reg->bytes, 0, {UINT64_MAX, reg->offset}};
}

static void copy_place(warp_t* w, const frame_t* to_frame, const place_t* to, const frame_t* from_frame,
                       const place_t* from, uint32_t lanes) {
  uint32_t bytes = to->bytes < from->bytes ? to->bytes : from->bytes;
  for (; lanes && bytes; lanes &= lanes - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(lanes);
    memcpy(place_of(w, to_frame, to, lane), place_of(w, from_frame, from, lane), bytes);
  }
}

// Arguments and results count as written (checks).
static void define_place(warp_t* w, const frame_t* frame, const place_t* place, uint32_t lanes) {
  if (!place->is_on_stack) {
    if (place->op.select) frame->defined[place->op.offset / 64] |= lanes;
    return;
  }
  for (; lanes; lanes &= lanes - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(lanes);
    memset(check_defined(w, CHECK_STACK, lane, frame->local_base + place->offset), 1, place->bytes);
  }
}

void call_return(warp_t* w, const frame_t* frame, uint32_t lanes) {
  const call_t* call = frame->call->extra;
  const function_t* f = frame->function;
  for (uint32_t i = 0; i < call->result_count && i < f->result_count; ++i) {
    place_t from = formal_place(f, &f->results[i]);
    copy_place(w, frame->caller, &call->results[i], frame, &from, lanes);
    if (w->launch->tracks_undefined) define_place(w, frame->caller, &call->results[i], lanes);
  }
}

static uint64_t argument(const warp_t* w, const call_t* call, uint32_t index, uint32_t lane) {
  uint64_t value = 0;
  if (index >= call->argument_count) return 0;
  const place_t* place = &call->arguments[index];
  memcpy(&value, place_of(w, w->call, place, lane), place->bytes < 8 ? place->bytes : 8);
  return value;
}

// One conversion of a format, with its argument from the buffer at `at`.
static bool print_one(warp_t* w, const inst_t* inst, uint32_t lane, const char* spec, uint64_t* at, text_t* out) {
  size_t size = strlen(spec);
  char kind = spec[size - 1];
  bool is_float = strchr("aAeEfFgG", kind) != NULL,
       is_wide = strchr("sp", kind) || strchr(spec, 'l') || strchr(spec, 'j') || strchr(spec, 'z') || strchr(spec, 't');
  uint32_t bytes = is_float || is_wide ? 8 : 4;
  *at = (*at + bytes - 1) & ~(uint64_t)(bytes - 1);
  uint64_t host = access_find(w, inst, lane, PTX_GENERIC, *at, bytes, ACCESS_READ), value = 0;
  if (!host) return false;
  memcpy(&value, (const void*)host, bytes);
  *at += bytes;
  double number;
  memcpy(&number, &value, 8);
  if (is_float) {
    text_printf(out, spec, number);
  } else if (kind == 's') {
    char text[1024];
    if (!access_bounded_string(w, inst, lane, value, text, sizeof(text))) return false;
    text_printf(out, spec, text);
  } else if (bytes == 8) {
    text_printf(out, spec, value);
  } else {
    text_printf(out, spec, (uint32_t)value);
  }
  return true;
}

// Of a conversion the flags, width and precision, then a known kind; anything else is printed as it is.
static bool print_lane(warp_t* w, const inst_t* inst, uint32_t lane, text_t* out) {
  const call_t* call = inst->extra;
  char format[4096], spec[32];
  uint64_t at = argument(w, call, 1, lane);
  if (!access_bounded_string(w, inst, lane, argument(w, call, 0, lane), format, sizeof(format))) return false;
  for (const char* from = format; *from;) {
    if (*from != '%' || from[1] == '%') {
      text_append(out, from, 1);
      from += *from == '%' ? 2 : 1;
      continue;
    }
    size_t size = 1 + strspn(from + 1, "-+ #0123456789.");
    size += strspn(from + size, "hljzt");
    if (size + 1 >= sizeof(spec) || !from[size] || !strchr("diouxXcspaAeEfFgG", from[size]) || size > 12) {
      text_append(out, from++, 1);
      continue;
    }
    memcpy(spec, from, size + 1);
    spec[size + 1] = 0;
    if (!print_one(w, inst, lane, spec, &at, out)) return false;
    from += size + 1;
  }
  return true;
}

static const inst_t* call_print(warp_t* w, const inst_t* inst) {
  const call_t* call = inst->extra;
  text_t out = {0};
  bool done = true;
  for (uint32_t lanes = w->exec; lanes && done; lanes &= lanes - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(lanes), zero = 0;
    done = print_lane(w, inst, lane, &out);
    if (call->result_count && call->results[0].bytes >= 4) {
      memcpy(place_of(w, w->call, &call->results[0], lane), &zero, 4);
    }
  }
  if (out.size) fwrite(out.data, 1, out.size, stdout);
  text_finish(&out);
  return done ? inst + 1 : NULL;
}

static const inst_t* call_assert(warp_t* w, const inst_t* inst) {
  const call_t* call = inst->extra;
  uint32_t lane = (uint32_t)__builtin_ctz(w->exec);
  char message[256], file[256], function[256];
  if (!access_bounded_string(w, inst, lane, argument(w, call, 0, lane), message, sizeof(message)) ||
      !access_bounded_string(w, inst, lane, argument(w, call, 1, lane), file, sizeof(file)) ||
      !access_bounded_string(w, inst, lane, argument(w, call, 3, lane), function, sizeof(function))) {
    return NULL;
  }
  return warp_fault(w, inst, NV_FAULT_ASSERT, w->exec, 0, "%s:%u: %s: assertion `%s' failed", file,
                    (uint32_t)argument(w, call, 2, lane), function, message);
}

static const inst_t* call_without_body(warp_t* w, const inst_t* inst, const function_t* callee) {
  if (strcmp(callee->name, "vprintf") == 0) return call_print(w, inst);
  if (strcmp(callee->name, "__assertfail") == 0) return call_assert(w, inst);
  return warp_fault(w, inst, NV_FAULT_INSTRUCTION, w->exec, 0, "calls '%s', which has no body here", callee->name);
}

// A function that a lane has the address of.
static const function_t* function_at(const warp_t* w, uint64_t address) {
  const nv_module_t* module = w->call->function->module;
  uint64_t index = (address - WINDOW_FUNCTION) / 16;
  if (address < WINDOW_FUNCTION || address % 16 || !index || index > module->function_count) return NULL;
  return module->by_index[index - 1];
}

static const inst_t* enter(warp_t* w, const inst_t* inst, const function_t* callee, uint32_t lanes) {
  const call_t* call = inst->extra;
  frame_t* caller = w->call;
  if (!callee->has_body) return call_without_body(w, inst, callee);
  uint32_t base = caller->local_base + caller->function->local_size;
  if (base + callee->local_size > w->stack_size || caller->depth > 10000) {
    return warp_fault(w, inst, NV_FAULT_ADDRESS, lanes, 0, "the stack of %u bytes is too small for a call of '%s'",
                      w->stack_size, callee->name);
  }
  frame_t* frame = frame_make(w, callee, caller, inst);
  if (!frame) return warp_fault(w, inst, NV_FAULT_MEMORY, lanes, 0, "out of memory for a call of '%s'", callee->name);
  for (uint32_t i = 0; i < call->argument_count && i < callee->parameter_count; ++i) {
    place_t to = formal_place(callee, &callee->parameters[i]);
    copy_place(w, frame, &to, caller, &call->arguments[i], lanes);
    if (w->launch->tracks_undefined) define_place(w, frame, &to, lanes);
  }
  uint32_t rest = w->lanes & ~lanes;
  if (rest) warp_put(w, rest, inst + 1, PART_READY, 0);
  frame_leave(w, caller);
  w->call = frame, w->frame = frame->registers;
  w->lanes = w->exec = lanes;
  w->limit = (const inst_t*)UINTPTR_MAX;
  return callee->insts;
}

static const inst_t* run_call(warp_t* w, const inst_t* inst) {
  const function_t* callee = (const function_t*)inst->imm;
  if (callee) return enter(w, inst, callee, w->exec);
  const uint64_t* address = warp_at(w, &inst->op[0]);
  uint32_t first = (uint32_t)__builtin_ctz(w->exec), same = 0;
  for (uint32_t i = 0; i < WARP_LANES; ++i) same |= (uint32_t)(address[i] == address[first]) << i;
  callee = function_at(w, address[first]);
  if (!callee || callee->is_entry) {
    return warp_fault(w, inst, NV_FAULT_ADDRESS, 1u << first, address[first], "a call of address 0x%llx, no function's",
                      (unsigned long long)address[first]);
  }
  // Lanes that call something else come back to this instruction.
  uint32_t other = w->exec & ~same;
  if (other) {
    warp_put(w, other, inst, PART_READY, 0);
    w->lanes &= ~other;
    w->exec &= ~other;
  }
  return enter(w, inst, callee, w->exec);
}

static const row_t rows[] = {{"call", "uni", bind_call, run_call}};
const row_table_t call_table = {rows, sizeof(rows) / sizeof(rows[0])};
