// A module's directives. Source: PTX ISA, "Directives".
#include "softgpu/nvidia/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "softgpu/nvidia/context.h"

void fault_set(nv_fault_t* fault, nv_fault_kind_t kind, const char* format, ...) {
  va_list args;
  va_start(args, format);
  fault->kind = kind;
  vsnprintf(fault->message, sizeof(fault->message), format, args);
  va_end(args);
}

enum { PTX_NEWEST = 92 };

static bool parse_version(parser_t* p) {
  uint64_t major, minor = 0;
  arg_t number = {0};
  lex_peek(p);
  const char* at = p->at;
  if (!lex_number(p, &number)) return false;
  if (sscanf(at, "%2lu.%2lu", &major, &minor) < 1) return parse_fail(p, "a version expected");
  p->module->version = (uint32_t)(10 * major + minor);
  if (p->module->version > PTX_NEWEST) {
    return parse_fail_as(p, NV_FAULT_VERSION, ".version %lu.%lu is newer than %d.%d, the newest that is known", major,
                         minor, PTX_NEWEST / 10, PTX_NEWEST % 10);
  }
  return true;
}

// sm_80 runs on what is newer; sm_90a on sm_90 alone, sm_100f on its family.
static bool parse_target(parser_t* p) {
  uint32_t own = p->module->engine->options.target->architecture;
  do {
    word_t word = lex_word(p);
    if (!word.size) return parse_fail(p, "a target expected");
    if (word.size < 4 || memcmp(word.text, "sm_", 3) != 0) continue;  // debug, texmode_...
    uint32_t number = 0, i = 3;
    for (; i < word.size && word.text[i] >= '0' && word.text[i] <= '9' && i < 7; ++i) {
      number = 10 * number + (uint32_t)(word.text[i] - '0');
    }
    bool is_exact = i < word.size && word.text[i] == 'a', is_family = i < word.size && word.text[i] == 'f';
    p->module->architecture = number;
    if (number > own || (is_exact && number != own) || (is_family && number / 10 != own / 10)) {
      return parse_fail_as(p, NV_FAULT_VERSION, ".target %.*s does not run on sm_%u", (int)word.size, word.text, own);
    }
  } while (lex_accept(p, ','));
  return true;
}

static function_t* add_function(parser_t* p, word_t name, bool is_entry) {
  symbol_t* symbol = symbol_find(p, name);
  if (symbol && symbol->kind == SYMBOL_FUNCTION) return symbol->function;
  nv_function_t* handle = ARENA_NEW(p->arena, nv_function_t);
  function_t* function = &handle->function;
  function->name = word_copy(p, name), function->is_entry = is_entry;
  function->module = p->module;
  function->line = p->line;
  function->index = p->module->function_count++;
  symbol_add(p, name, SYMBOL_FUNCTION)->function = function;
  *p->module->last_function = function;
  p->module->last_function = &function->next;
  return function;
}

// One formal parameter, in the scope that is open.
static bool parse_formal(parser_t* p, formal_t* out) {
  word_t kind = lex_directive(p);
  if (word_is(kind, "param")) {
    out->variable = parse_variable(p, PTX_PARAM, false, true);
    return out->variable != NULL;
  }
  if (!word_is(kind, "reg")) return parse_fail(p, "'.param' or '.reg' expected");
  word_t type_word = lex_directive(p);
  ptx_type_t type = ptx_type_find(type_word.text, type_word.size);
  if (!type) return parse_fail(p, "a type expected");
  word_t name = lex_word(p);
  if (!name.size) return parse_fail(p, "a parameter's name expected");
  out->reg = register_add(p, name, type);
  return !p->failed;
}

enum { PARSE_MOST_FORMALS = 4096 };

static bool parse_formals(parser_t* p, formal_t** out, uint32_t* out_count) {
  uint32_t count = 0, capacity = 8;
  formal_t* formals = ARENA_ARRAY(p->arena, formal_t, capacity);
  if (!lex_expect(p, '(')) return false;
  while (lex_peek(p) != ')') {
    if (count == capacity) {
      if (capacity >= PARSE_MOST_FORMALS) return parse_fail(p, "more than %d parameters", PARSE_MOST_FORMALS);
      formal_t* grown = ARENA_ARRAY(p->arena, formal_t, 2 * capacity);
      memcpy(grown, formals, count * sizeof(formal_t));
      formals = grown, capacity *= 2;
    }
    if (!parse_formal(p, &formals[count++])) return false;
    if (!lex_accept(p, ',')) break;
  }
  *out = formals, *out_count = count;
  return lex_expect(p, ')');
}

static bool parse_three(parser_t* p, uint64_t out[3]) {
  out[1] = out[2] = 1;
  for (int i = 0; i < 3; ++i) {
    if (!lex_integer(p, &out[i])) return false;
    if (!lex_accept(p, ',')) break;
  }
  return true;
}

// What stands between a function's parameters and its body.
static bool parse_attributes(parser_t* p, function_t* f) {
  word_t word;
  uint64_t three[3];
  while ((word = lex_directive(p)).size) {
    if (word_is(word, "maxntid") || word_is(word, "reqntid")) {
      if (!parse_three(p, three)) return false;
      if (three[0] > 1024 || three[1] > 1024 || three[2] > 1024 || three[0] * three[1] * three[2] > 1024) {
        return parse_fail(p, ".%.*s of more than 1024 threads", (int)word.size, word.text);
      }
      f->max_threads = (uint32_t)(three[0] * three[1] * three[2]);
      bool required = word_is(word, "reqntid");
      for (int i = 0; i < 3 && required; ++i) f->required_threads[i] = (uint32_t)three[i];
    } else if (word_is(word, "pragma")) {
      word_t text;
      lex_string(p, &text);
      lex_accept(p, ';');
    } else if (word_is(word, "minnctapersm") || word_is(word, "maxnreg") || word_is(word, "maxnctapersm") ||
               word_is(word, "reqnctapercluster") || word_is(word, "maxclusterrank") || word_is(word, "abi_preserve") ||
               word_is(word, "abi_preserve_control")) {
      if (!parse_three(p, three)) return false;
    } else if (!word_is(word, "noreturn") && !word_is(word, "explicitcluster") && !word_is(word, "blocksareclusters") &&
               !word_is(word, "unified")) {
      return parse_fail(p, "the directive .%.*s of a function is not known", (int)word.size, word.text);
    }
    if (p->failed) return false;
  }
  return true;
}

// Offsets of an entry's parameters in their block.
static bool place_parameters(parser_t* p, function_t* f) {
  uint64_t size = 0;
  f->infos = ARENA_ARRAY(p->arena, nv_parameter_t, f->parameter_count + 1);
  for (uint32_t i = 0; i < f->parameter_count; ++i) {
    variable_t* v = f->parameters[i].variable;
    if (!v) return parse_fail(p, "an entry's parameter in a register");
    size = (size + v->align - 1) & ~(uint64_t)(v->align - 1);
    v->address = size;
    f->infos[i] = (nv_parameter_t){(uint32_t)size, (uint32_t)v->size};
    size += v->size;
    if (size > 32764) return parse_fail(p, "more than 32764 bytes of parameters");
  }
  f->parameter_size = (uint32_t)size;
  return true;
}

static bool parse_function(parser_t* p, bool is_entry) {
  formal_t *results = NULL, *parameters = NULL;
  uint32_t result_count = 0, parameter_count = 0;
  p->registers = NULL, p->register_count = p->register_capacity = 0;
  if (!scope_open(p)) return false;
  if (!is_entry && lex_peek(p) == '(' && !parse_formals(p, &results, &result_count)) return false;
  word_t name = lex_word(p);
  if (!name.size) return parse_fail(p, "a function's name expected");
  uint32_t depth = p->depth;
  p->depth = 0;
  function_t* f = add_function(p, name, is_entry);
  p->depth = depth;
  if (p->failed) return false;
  if (lex_peek(p) == '(' && !parse_formals(p, &parameters, &parameter_count)) return false;
  if (!parse_attributes(p, f)) return false;
  bool has_body = lex_peek(p) == '{';
  if (has_body && f->has_body) return parse_fail(p, "function '%s' has two bodies", f->name);
  if (has_body || !f->has_body) {
    f->results = results, f->result_count = result_count;
    f->parameters = parameters, f->parameter_count = parameter_count;
    f->is_entry = is_entry;
    if (is_entry && !place_parameters(p, f)) return false;
  }
  if (has_body) {
    f->has_body = true;
    if (!parse_body(p, f)) return false;
  } else {
    lex_accept(p, ';');
  }
  return scope_close(p);
}

static bool skip_section(parser_t* p) {
  while (lex_peek(p) && !lex_accept(p, '{')) ++p->at;
  while (lex_peek(p) && !lex_accept(p, '}')) {
    word_t text;
    if (*p->at == '"') {
      lex_string(p, &text);
    } else {
      ++p->at;
    }
  }
  return !p->failed;
}

static bool parse_file(parser_t* p) {
  uint64_t number, rest;
  word_t name;
  if (!lex_integer(p, &number)) return false;
  lex_string(p, &name);
  while (lex_accept(p, ',')) {
    if (!lex_integer(p, &rest)) return false;
  }
  if (number > 65535) return parse_fail(p, "a file of a number above 65535");
  nv_module_t* m = p->module;
  if (number >= m->file_count) {
    uint32_t count = (uint32_t)number + 16;
    const char** files = ARENA_ARRAY(p->arena, const char*, count);
    if (m->file_count) memcpy(files, m->files, m->file_count * sizeof(*files));
    m->files = files, m->file_count = count;
  }
  m->files[number] = word_copy(p, name);
  return !p->failed;
}

// .loc file line column, function_name label+offset, inlined_at file line column
bool parse_location(parser_t* p) {
  uint64_t numbers[3];
  for (int i = 0; i < 3; ++i) {
    arg_t number = {0};
    if (!lex_number(p, &number)) return false;
    numbers[i] = number.value;
  }
  p->source = (line_mark_t){(uint32_t)numbers[0], (uint32_t)numbers[1]};
  while (lex_accept(p, ',')) {
    word_t word = lex_word(p);
    uint64_t number;
    if (word_is(word, "function_name")) {
      lex_word(p);
      if ((lex_peek(p) == '+') && !lex_integer(p, &number)) return false;
    } else {
      for (int i = 0; i < 3; ++i) {
        arg_t at = {0};
        if (!lex_number(p, &at)) return false;
      }
    }
  }
  return true;
}

static bool add_variable(parser_t* p, ptx_space_t space, bool is_extern) {
  do {
    variable_t* v = parse_variable(p, space, is_extern, false);
    if (!v) return false;
    if (v->next || p->module->last_variable == &v->next) continue;
    *p->module->last_variable = v;
    p->module->last_variable = &v->next;
  } while (lex_accept(p, ','));
  return lex_expect(p, ';');
}

static bool parse_directive(parser_t* p) {
  bool is_extern = false;
  word_t word;
  for (;;) {
    word = lex_directive(p);
    if (!word.size) return parse_fail(p, "a directive expected");
    if (word_is(word, "extern")) {
      is_extern = true;
    } else if (!word_is(word, "visible") && !word_is(word, "weak") && !word_is(word, "common")) {
      break;
    }
  }
  if (word_is(word, "version")) return parse_version(p);
  if (word_is(word, "target")) return parse_target(p);
  if (word_is(word, "address_size")) {
    uint64_t bits;
    if (!lex_integer(p, &bits)) return false;
    return bits == 64 || parse_fail(p, ".address_size %llu: only 64 is known", (unsigned long long)bits);
  }
  if (word_is(word, "entry")) return parse_function(p, true);
  if (word_is(word, "func")) return parse_function(p, false);
  if (word_is(word, "global")) return add_variable(p, PTX_GLOBAL, is_extern);
  if (word_is(word, "const")) return add_variable(p, PTX_CONST, is_extern);
  if (word_is(word, "shared")) return add_variable(p, PTX_SHARED, is_extern);
  if (word_is(word, "file")) return parse_file(p);
  if (word_is(word, "loc")) return parse_location(p);
  if (word_is(word, "section")) return skip_section(p);
  if (word_is(word, "pragma")) {
    word_t text;
    lex_string(p, &text);
    return lex_expect(p, ';');
  }
  if (word_is(word, "alias")) {
    word_t alias = lex_word(p);
    if (!lex_expect(p, ',')) return false;
    word_t name = lex_word(p);
    symbol_t *from = symbol_find(p, alias), *to = symbol_find(p, name);
    if (!from || !to || from->kind != SYMBOL_FUNCTION || to->kind != SYMBOL_FUNCTION) {
      return parse_fail(p, ".alias of what is no function");
    }
    from->function = to->function;
    return lex_expect(p, ';');
  }
  return parse_fail(p, "the directive .%.*s is not known", (int)word.size, word.text);
}

bool module_parse(nv_module_t* module, nv_fault_t* fault) {
  parser_t p = {.module = module, .fault = fault, .at = module->text, .end = module->text + module->size, .line = 1};
  p.arena = &module->arena;
  // Zeros behind the text are not part of it.
  while (p.end > p.at && !p.end[-1]) --p.end;
  p.bucket_count = 4096;
  p.buckets = ARENA_ARRAY(p.arena, symbol_t*, p.bucket_count);
  while (!p.failed && lex_peek(&p)) {
    if (!parse_directive(&p) && !p.failed) parse_fail(&p, "no PTX");
  }
  if (!p.failed && !module->version) parse_fail(&p, "no .version: the text is no PTX");
  return !p.failed;
}
