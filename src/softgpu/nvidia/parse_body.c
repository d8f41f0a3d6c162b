// Bodies of functions: declarations, labels and instructions with their operands as written.
#include <ctype.h>
#include <string.h>

#include "softgpu/nvidia/parse.h"

enum { BODY_MOST_ARGS = 64, BODY_MOST_LIST = 256, BODY_MOST_STATEMENTS = 4000000 };

static bool parse_arg(parser_t* p, arg_t* out, int depth);

static bool parse_list(parser_t* p, arg_t* out, char close, int depth) {
  uint32_t count = 0, capacity = 8;
  arg_t* list = ARENA_ARRAY(p->arena, arg_t, capacity);
  out->kind = ARG_LIST;
  if (depth > 4) return parse_fail(p, "operands nested too deeply");
  while (lex_peek(p) != close) {
    if (count == capacity) {
      if (count >= BODY_MOST_LIST) return parse_fail(p, "more than %d operands in a list", BODY_MOST_LIST);
      // What waits for a label points into the list: lists of labels are copied before they are waited for.
      arg_t* grown = ARENA_ARRAY(p->arena, arg_t, 2 * capacity);
      memcpy(grown, list, count * sizeof(arg_t));
      for (pending_t* pending = p->pending; pending; pending = pending->next) {
        if (pending->arg >= list && pending->arg < list + count) pending->arg = grown + (pending->arg - list);
      }
      list = grown, capacity *= 2;
    }
    if (!parse_arg(p, &list[count++], depth + 1)) return false;
    if (!lex_accept(p, ',')) break;
  }
  out->list = list, out->count = count;
  return lex_expect(p, close);
}

// [reg], [reg+4], [name], [name+4], [64], [name[4]]
static bool parse_memory(parser_t* p, arg_t* out, int depth) {
  out->kind = ARG_MEMORY;
  out->list = ARENA_NEW(p->arena, arg_t), out->count = 1;
  if (!parse_arg(p, out->list, depth + 1)) return false;
  out->value = out->list->value;
  if (out->list->kind != ARG_INTEGER && (lex_peek(p) == '+' || lex_peek(p) == '-') && !lex_integer(p, &out->value)) {
    return false;
  }
  if (lex_accept(p, ',')) {  // tensor coordinates: only instructions that are refused have them
    while (lex_peek(p) != ']' && !p->failed) {
      arg_t* rest = ARENA_NEW(p->arena, arg_t);  // stays, for it may wait for a label
      if (!parse_arg(p, rest, depth + 1)) return false;
      if (!lex_accept(p, ',')) break;
    }
    out->count = 2;
  }
  return lex_expect(p, ']');
}

static bool wait_for_label(parser_t* p, arg_t* out) {
  pending_t* pending = ARENA_NEW(p->arena, pending_t);
  *pending = (pending_t){out, p->depth, p->line, p->pending};
  p->pending = pending;
  return true;
}

static bool parse_second(parser_t* p, arg_t* out) {
  if (!lex_accept(p, '|')) return true;
  word_t second = lex_word(p);
  out->has_second = true;
  out->second = word_is(second, "_") ? NO_REGISTER : register_find(p, second);
  if (out->second == NO_REGISTER && !word_is(second, "_")) {
    return parse_fail(p, "'%.*s' is not declared", (int)second.size, second.text);
  }
  return true;
}

static bool parse_name(parser_t* p, arg_t* out) {
  word_t name = lex_word(p), whole = name;
  // %tid.x and registers of vectors, v.x
  if (p->at < p->end && *p->at == '.') {
    ++p->at;
    lex_word(p);
    whole.size = (uint32_t)(p->at - name.text);
  }
  out->name = whole;
  if (word_is(name, "_")) {
    out->kind = ARG_SINK, out->reg = NO_REGISTER;
    return parse_second(p, out);
  }
  if (word_is(name, "WARP_SZ")) return out->kind = ARG_INTEGER, out->value = WARP_LANES, true;
  out->reg = register_find(p, whole);
  if (out->reg != NO_REGISTER) {
    out->kind = ARG_REGISTER;
    return parse_second(p, out);
  }
  out->special = (uint8_t)special_find(whole);
  if (out->special) return out->kind = ARG_SPECIAL, true;
  out->kind = ARG_SYMBOL;
  out->symbol = symbol_find(p, whole);
  if (out->symbol && (out->symbol->kind == SYMBOL_VARIABLE || out->symbol->kind == SYMBOL_FUNCTION)) {
    if (lex_accept(p, '[')) return lex_integer(p, &out->value) && lex_expect(p, ']');
    return true;
  }
  if (name.text[0] == '%') return parse_fail(p, "'%.*s' is not declared", (int)whole.size, whole.text);
  out->symbol = NULL;
  return wait_for_label(p, out);
}

static bool parse_arg(parser_t* p, arg_t* out, int depth) {
  if (depth > 8) return parse_fail(p, "operands nested too deeply");
  char c = lex_peek(p);
  if (c == '{') return ++p->at, parse_list(p, out, '}', depth);
  if (c == '(') return ++p->at, parse_list(p, out, ')', depth);
  if (c == '[') return ++p->at, parse_memory(p, out, depth);
  if (c == '!') {
    ++p->at;
    out->is_negated = true;
    return parse_name(p, out);
  }
  if (isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%') return parse_name(p, out);
  if (c == '~') {
    out->kind = ARG_INTEGER;
    return lex_integer(p, &out->value);
  }
  if (!lex_number(p, out)) return false;
  // An expression of constants goes on.
  uint64_t rest;
  c = lex_peek(p);
  if (out->kind == ARG_INTEGER && (c == '+' || c == '-')) {
    if (!lex_integer(p, &rest)) return false;
    out->value += rest;
  }
  return true;
}

static bool parse_parts(parser_t* p, statement_t* s, word_t first) {
  s->parts[s->part_count++] = (ptx_part_t){first.text, first.size};
  s->name = first;
  word_t part;
  while (lex_peek(p) == '.' && (part = lex_directive(p)).size) {
    if (s->part_count == PTX_MOST_PARTS) return parse_fail(p, "an instruction of more than %d words", PTX_MOST_PARTS);
    s->parts[s->part_count++] = (ptx_part_t){part.text, part.size};
    s->name.size = (uint32_t)(part.text + part.size - s->name.text);
  }
  return true;
}

static bool parse_statement(parser_t* p, word_t first, const statement_t* guard) {
  statement_t* s = ARENA_NEW(p->arena, statement_t);
  *s = *guard;
  s->line = p->line, s->source = p->source;
  if (++p->statement_count > BODY_MOST_STATEMENTS) return parse_fail(p, "too many instructions");
  if (!parse_parts(p, s, first)) return false;
  arg_t* args = ARENA_ARRAY(p->arena, arg_t, 8);
  uint32_t capacity = 8;
  while (lex_peek(p) != ';' && !p->failed) {
    if (s->arg_count == capacity) {
      if (capacity >= BODY_MOST_ARGS) return parse_fail(p, "too many operands");
      arg_t* grown = ARENA_ARRAY(p->arena, arg_t, 2 * capacity);
      memcpy(grown, args, s->arg_count * sizeof(arg_t));
      args = grown, capacity *= 2;
    }
    if (!parse_arg(p, &args[s->arg_count++], 0)) return false;
    if (!lex_accept(p, ',')) break;
  }
  s->args = args;
  for (uint32_t i = 0; i < s->arg_count; ++i) {  // where the operands ended up
    for (pending_t* pending = p->pending; pending && capacity > 8; pending = pending->next) {
      if (pending->arg->name.text == args[i].name.text && args[i].kind == ARG_SYMBOL && !args[i].symbol) {
        pending->arg = &args[i];
      }
    }
  }
  *p->last = s;
  p->last = &s->next;
  return lex_expect(p, ';');
}

bool parse_registers(parser_t* p) {
  word_t type_word;
  ptx_type_t type = PTX_TYPE_NONE;
  uint32_t vector = 1;
  while ((type_word = lex_directive(p)).size) {
    if (word_is(type_word, "v2") || word_is(type_word, "v4")) {
      vector = (uint32_t)(type_word.text[1] - '0');
    } else {
      type = ptx_type_find(type_word.text, type_word.size);
    }
  }
  if (!type) return parse_fail(p, "a register of no known type");
  do {
    word_t name = lex_word(p);
    if (!name.size) return parse_fail(p, "a register's name expected");
    if (lex_accept(p, '<')) {
      uint64_t count;
      if (!lex_integer(p, &count) || !lex_expect(p, '>')) return false;
      symbol_t* symbol = symbol_add(p, name, SYMBOL_RANGE);
      symbol->reg = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
      symbol->type = (uint8_t)type;
    } else if (vector > 1) {
      for (uint32_t i = 0; i < vector; ++i) {
        word_t part = {arena_printf(p->arena, "%.*s.%c", (int)name.size, name.text, "xyzw"[i]), name.size + 2};
        register_add(p, part, type);
      }
    } else {
      register_add(p, name, type);
    }
  } while (lex_accept(p, ',') && !p->failed);
  return lex_expect(p, ';');
}

static bool parse_variables(parser_t* p, ptx_space_t space, bool is_extern) {
  do {
    variable_t* v = parse_variable(p, space, is_extern, false);
    if (!v) return false;
    if (space == PTX_LOCAL || space == PTX_PARAM) {
      v->next = p->function->variables;
      p->function->variables = v;
    } else {
      *p->module->last_variable = v;
      p->module->last_variable = &v->next;
    }
  } while (lex_accept(p, ','));
  return lex_expect(p, ';');
}

static bool parse_body_directive(parser_t* p) {
  word_t word = lex_directive(p);
  if (word_is(word, "reg")) return parse_registers(p);
  if (word_is(word, "loc")) return parse_location(p);
  if (word_is(word, "local")) return parse_variables(p, PTX_LOCAL, false);
  if (word_is(word, "param")) return parse_variables(p, PTX_PARAM, false);
  if (word_is(word, "shared")) return parse_variables(p, PTX_SHARED, false);
  if (word_is(word, "global")) return parse_variables(p, PTX_GLOBAL, false);
  if (word_is(word, "const")) return parse_variables(p, PTX_CONST, false);
  if (word_is(word, "pragma")) {
    word_t text;
    lex_string(p, &text);
    return lex_expect(p, ';');
  }
  return parse_fail(p, "the directive .%.*s in a function is not known", (int)word.size, word.text);
}

// "ts: .branchtargets A, B;" and its kin.
static bool parse_target_list(parser_t* p, word_t label) {
  word_t word = lex_directive(p);
  symbol_t* symbol = symbol_add(p, label, SYMBOL_LIST);
  arg_t list = {0};
  if (word_is(word, "branchtargets")) {
    if (!parse_list(p, &list, ';', 0)) return false;
  } else if (word_is(word, "calltargets") || word_is(word, "callprototype")) {
    // A call by address checks what it finds at the address.
    while (lex_peek(p) && !lex_accept(p, ';')) ++p->at;
  } else {
    return parse_fail(p, "the directive .%.*s behind a label is not known", (int)word.size, word.text);
  }
  symbol->targets = ARENA_NEW(p->arena, target_list_t);
  *symbol->targets = (target_list_t){list.list, list.count};
  return !p->failed;
}

static bool parse_line(parser_t* p) {
  statement_t guard = {0};
  if (lex_accept(p, '@')) {
    guard.is_guarded = true;
    guard.is_guard_negated = lex_accept(p, '!');
    word_t name = lex_word(p);
    guard.guard = register_find(p, name);
    if (guard.guard == NO_REGISTER) return parse_fail(p, "'%.*s' is not declared", (int)name.size, name.text);
  }
  word_t word = lex_word(p);
  if (!word.size) return parse_fail(p, "an instruction expected");
  if (!guard.is_guarded && lex_peek(p) == ':' && (p->at + 1 == p->end || p->at[1] != ':')) {
    ++p->at;
    const char* at = p->at;
    uint32_t line = p->line;
    if (lex_peek(p) == '.') {
      word_t next = lex_directive(p);
      p->at = at, p->line = line;
      if (word_is(next, "branchtargets") || word_is(next, "calltargets") || word_is(next, "callprototype")) {
        return parse_target_list(p, word);
      }
    }
    symbol_add(p, word, SYMBOL_LABEL)->label = p->statement_count;
    return !p->failed;
  }
  return parse_statement(p, word, &guard);
}

bool parse_body(parser_t* p, function_t* function) {
  p->function = function;
  p->first = NULL, p->last = &p->first, p->statement_count = 0, p->pending = NULL;
  p->source = (line_mark_t){0};
  uint32_t depth = p->depth;
  if (!lex_expect(p, '{')) return false;
  while (!p->failed) {
    char c = lex_peek(p);
    if (!c) return parse_fail(p, "function '%s' does not end", function->name);
    if (c == '{') {
      ++p->at;
      if (!scope_open(p)) return false;
    } else if (c == '}') {
      ++p->at;
      if (p->depth == depth) break;
      if (!scope_close(p)) return false;
    } else if (c == '.' ? !parse_body_directive(p) : !parse_line(p)) {
      return false;
    }
  }
  if (p->failed) return false;
  // The function's own scope is closed by who opened it; what waits for labels is settled before instructions are made.
  for (pending_t* pending = p->pending; pending; pending = pending->next) {
    symbol_t* symbol = symbol_find(p, pending->arg->name);
    if (!symbol || (symbol->kind != SYMBOL_LABEL && symbol->kind != SYMBOL_LIST)) {
      p->line = pending->line;
      return parse_fail(p, "'%.*s' is not declared", (int)pending->arg->name.size, pending->arg->name.text);
    }
    pending->arg->symbol = symbol;
  }
  p->pending = NULL;
  return decode_function(p, function);
}
