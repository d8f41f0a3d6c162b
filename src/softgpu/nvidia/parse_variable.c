// Variables: type, alignment, dimensions, initialiser. Source: PTX ISA, "Variables".
#include <string.h>

#include "softgpu/nvidia/parse.h"

enum { VARIABLE_MOST = 1 << 28 };

typedef struct filler_t {
  parser_t* p;
  variable_t* variable;
  uint32_t element;
  ptx_type_t type;
  uint64_t sizes[8];  // bytes of what a brace of this depth holds
  uint32_t depth;
} filler_t;

static bool put_number(filler_t* f, uint64_t offset) {
  arg_t number = {0};
  uint64_t value;
  const ptx_type_info_t* type = ptx_type_info(f->type);
  if (type->kind == PTX_FLOAT && type->bytes >= 4) {
    if (!lex_number(f->p, &number)) return false;
    double wide;
    float narrow;
    memcpy(&wide, &number.value, 8);
    memcpy(&narrow, &number.value, 4);
    if (number.kind == ARG_INTEGER) wide = (double)(int64_t)number.value;
    if (number.kind == ARG_SINGLE) wide = narrow;
    if (number.kind != ARG_SINGLE) narrow = (float)wide;
    memcpy(f->variable->initial + offset, type->bytes == 8 ? (void*)&wide : (void*)&narrow, type->bytes);
    return true;
  }
  if (!lex_integer(f->p, &value)) return false;
  memcpy(f->variable->initial + offset, &value, f->element < 8 ? f->element : 8);
  return true;
}

// A name, generic(name), mask(name) and an offset.
static bool put_address(filler_t* f, uint64_t offset, word_t name) {
  parser_t* p = f->p;
  address_initial_t* address = ARENA_NEW(p->arena, address_initial_t);
  if (word_is(name, "generic") && lex_accept(p, '(')) {
    address->is_generic = true;
    name = lex_word(p);
    if (!lex_expect(p, ')')) return false;
  }
  symbol_t* symbol = symbol_find(p, name);
  if (!symbol || (symbol->kind != SYMBOL_VARIABLE && symbol->kind != SYMBOL_FUNCTION)) {
    return parse_fail(p, "'%.*s' in an initialiser is no variable or function", (int)name.size, name.text);
  }
  if (f->element < 4) return parse_fail(p, "an address in an initialiser of elements of %u bytes", f->element);
  address->variable = symbol->kind == SYMBOL_VARIABLE ? symbol->variable : NULL;
  address->function = symbol->kind == SYMBOL_FUNCTION ? symbol->function : NULL;
  address->offset = offset, address->bytes = f->element;
  if ((lex_peek(p) == '+' || lex_peek(p) == '-') && !lex_integer(p, &address->addend)) return false;
  address->next = f->variable->addresses;
  f->variable->addresses = address;
  return true;
}

static bool put_values(filler_t* f, uint64_t offset, uint64_t end, uint32_t depth) {
  parser_t* p = f->p;
  if (!lex_expect(p, '{')) return false;
  if (depth >= 7) return parse_fail(p, "an initialiser nested too deeply");
  while (lex_peek(p) != '}' && !p->failed) {
    bool is_nested = lex_peek(p) == '{';
    uint64_t step = is_nested && depth + 1 <= f->depth ? f->sizes[depth + 1] : f->element;
    if (offset + step > end) return parse_fail(p, "more values than '%s' has elements", f->variable->name);
    word_t name = is_nested ? (word_t){0} : lex_word(p);
    bool done = is_nested   ? put_values(f, offset, offset + step, depth + 1)
                : name.size ? put_address(f, offset, name)
                            : put_number(f, offset);
    if (!done) return false;
    offset += step;
    if (!lex_accept(p, ',')) break;
  }
  return lex_expect(p, '}');
}

static bool parse_initial(filler_t* f) {
  variable_t* v = f->variable;
  if (v->space != PTX_GLOBAL && v->space != PTX_CONST) return parse_fail(f->p, "'%s' cannot have a value", v->name);
  v->initial = arena_alloc(f->p->arena, v->size);
  if (lex_peek(f->p) == '{') return put_values(f, 0, v->size, 0);
  word_t name = lex_word(f->p);
  return name.size ? put_address(f, 0, name) : put_number(f, 0);
}

// [2][3]: sizes of what is inside each dimension too. An empty one takes its size from the initialiser, or is dynamic.
static bool parse_dimensions(filler_t* f, bool* is_open) {
  uint64_t dimensions[8], total = f->element;
  uint32_t count = 0;
  while (lex_accept(f->p, '[')) {
    if (count == 7) return parse_fail(f->p, "more than 7 dimensions");
    if (lex_accept(f->p, ']')) {
      if (count) return parse_fail(f->p, "only the first dimension can be open");
      *is_open = true;
      dimensions[count++] = 1;
      continue;
    }
    if (!lex_integer(f->p, &dimensions[count++]) || !lex_expect(f->p, ']')) return false;
  }
  f->depth = count;
  f->sizes[count] = f->element;
  for (uint32_t i = count; i > 0; --i) {
    if (__builtin_mul_overflow(total, dimensions[i - 1], &total) || total > VARIABLE_MOST) {
      return parse_fail(f->p, "'%s' is larger than %d bytes", f->variable->name, VARIABLE_MOST);
    }
    f->sizes[i - 1] = total;
  }
  f->variable->size = total;
  return true;
}

// Elements at the outermost level of an initialiser that comes.
static uint64_t count_values(const parser_t* p) {
  const char* at = p->at;
  uint64_t count = 0;
  int depth = 0;
  bool any = false;
  for (; at < p->end && *at != ';'; ++at) {
    if (*at == '{') ++depth;
    if (*at == '}' && --depth == 0) break;
    if (depth == 1 && *at == ',') ++count, any = false;
    if (depth > 0 && *at != ',' && *at != ' ' && *at != '\n' && *at != '{') any = true;
  }
  return count + any;
}

// Words between the space and the name: alignment, vector, type, and what is said of pointers.
static bool parse_type(parser_t* p, variable_t* v, uint32_t* vector) {
  word_t word;
  uint64_t align;
  while ((word = lex_directive(p)).size) {
    ptx_type_t type = ptx_type_find(word.text, word.size);
    if (type) {
      v->type = (uint8_t)type;
    } else if (word_is(word, "align")) {
      if (!lex_integer(p, &align)) return false;
      if (!align || align & (align - 1) || align > 4096) return parse_fail(p, "an alignment that is no power of two");
      if (!v->type) v->align = (uint32_t)align;  // else what a pointer points to
    } else if (word_is(word, "v2") || word_is(word, "v4")) {
      *vector = (uint32_t)(word.text[1] - '0');
    } else if (word_is(word, "ptr") || word_is(word, "global") || word_is(word, "shared") || word_is(word, "const") ||
               word_is(word, "local")) {
      if (!v->type) return parse_fail(p, ".%.*s before a type", (int)word.size, word.text);
    } else if (word_is(word, "attribute")) {
      while (lex_peek(p) && !lex_accept(p, ')')) ++p->at;
    } else {
      return parse_fail(p, "a variable of type .%.*s", (int)word.size, word.text);
    }
  }
  return true;
}

variable_t* parse_variable(parser_t* p, ptx_space_t space, bool is_extern, bool is_formal) {
  variable_t* v = ARENA_NEW(p->arena, variable_t);
  uint32_t vector = 1;
  v->space = (uint8_t)space, v->is_extern = is_extern;
  if (!parse_type(p, v, &vector)) return NULL;
  if (!v->type || v->type == PTX_TYPE_pred) return parse_fail(p, "a variable without a type"), NULL;
  v->line = p->line;
  word_t name = lex_word(p);
  if (!name.size) return parse_fail(p, "a variable's name expected"), NULL;
  v->name = word_copy(p, name);
  filler_t f = {.p = p, .variable = v, .type = (ptx_type_t)v->type};
  f.element = ptx_type_info(f.type)->bytes;
  if (!v->align) v->align = f.element * vector;
  // A scalar's parts are filled one by one, and so are a vector's.
  f.element *= vector;
  bool is_open = false;
  // .param .b32 x<4>: several of a name are not used by compilers, nor known here.
  if (!parse_dimensions(&f, &is_open)) return NULL;
  bool has_value = !is_formal && lex_accept(p, '=');
  if (is_open && has_value) {
    v->size = f.sizes[0] * count_values(p);
    if (v->size > VARIABLE_MOST) return parse_fail(p, "'%s' is larger than %d bytes", v->name, VARIABLE_MOST), NULL;
  } else if (is_open) {
    v->size = 0, v->is_dynamic = true;
    if (space != PTX_SHARED && !is_extern) return parse_fail(p, "'%s' has no size", v->name), NULL;
  }
  f.element /= vector;
  symbol_t* old = symbol_find(p, name);
  bool is_again = old && old->kind == SYMBOL_VARIABLE && old->depth == p->depth && !p->depth &&
                  (is_extern || old->variable->is_extern);
  // An initialiser may name its own variable.
  if (!is_again) symbol_add(p, name, SYMBOL_VARIABLE)->variable = v;
  if (has_value && !parse_initial(&f)) return NULL;
  if (is_again) {
    if (is_extern) return old->variable;  // declared again
    variable_t* next = old->variable->next;
    *old->variable = *v;
    old->variable->next = next;
    return old->variable;
  }
  return p->failed ? NULL : v;
}
