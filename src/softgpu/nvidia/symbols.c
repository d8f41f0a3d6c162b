// Names and the scopes that they are known in.
#include <ctype.h>
#include <string.h>

#include "softgpu/nvidia/parse.h"

static uint32_t hash(word_t name) {
  uint32_t value = 2166136261u;
  for (uint32_t i = 0; i < name.size; ++i) value = (value ^ (uint8_t)name.text[i]) * 16777619u;
  return value;
}

static bool is_same(word_t a, word_t b) { return a.size == b.size && memcmp(a.text, b.text, a.size) == 0; }

symbol_t* symbol_find(parser_t* p, word_t name) {
  symbol_t* symbol = p->buckets[hash(name) % p->bucket_count];
  while (symbol && !is_same(symbol->name, name)) symbol = symbol->next;
  return symbol;
}

symbol_t* symbol_add(parser_t* p, word_t name, symbol_kind_t kind) {
  symbol_t* old = symbol_find(p, name);
  if (old && old->depth == p->depth) {
    parse_fail(p, "'%.*s' is declared twice", (int)name.size, name.text);
  }
  symbol_t* symbol = ARENA_NEW(p->arena, symbol_t);
  symbol_t** bucket = &p->buckets[hash(name) % p->bucket_count];
  symbol->name = name, symbol->kind = kind, symbol->depth = p->depth;
  symbol->next = *bucket, symbol->older = p->scopes[p->depth];
  p->scopes[p->depth] = *bucket = symbol;
  return symbol;
}

bool scope_open(parser_t* p) {
  if (p->depth + 1 == PARSE_MOST_DEPTH) return parse_fail(p, "blocks nested more than %d deep", PARSE_MOST_DEPTH - 1);
  p->scopes[++p->depth] = NULL;
  return true;
}

// Labels that were waited for in this scope or inside of it.
static void resolve_pending(parser_t* p) {
  for (pending_t** at = &p->pending; *at;) {
    pending_t* pending = *at;
    symbol_t* symbol = pending->depth >= p->depth ? symbol_find(p, pending->arg->name) : NULL;
    bool is_label = symbol && (symbol->kind == SYMBOL_LABEL || symbol->kind == SYMBOL_LIST);
    if (is_label && symbol->depth == p->depth) {
      pending->arg->symbol = symbol;
      *at = pending->next;
      continue;
    }
    if (pending->depth >= p->depth) pending->depth = p->depth - 1;
    at = &pending->next;
  }
}

bool scope_close(parser_t* p) {
  if (!p->failed) resolve_pending(p);
  for (symbol_t* symbol = p->scopes[p->depth]; symbol; symbol = symbol->older) {
    symbol_t** at = &p->buckets[hash(symbol->name) % p->bucket_count];
    while (*at != symbol) at = &(*at)->next;
    *at = symbol->next;
  }
  p->scopes[p->depth--] = NULL;
  return !p->failed;
}

uint32_t register_add(parser_t* p, word_t name, ptx_type_t type) {
  if (p->register_count == p->register_capacity) {
    uint32_t capacity = p->register_capacity ? 2 * p->register_capacity : 64;
    ptx_register_t* registers = ARENA_ARRAY(p->arena, ptx_register_t, capacity);
    if (p->register_count) memcpy(registers, p->registers, p->register_count * sizeof(ptx_register_t));
    p->registers = registers, p->register_capacity = capacity;
  }
  uint32_t index = p->register_count++;
  p->registers[index] =
      (ptx_register_t){.name = word_copy(p, name), .type = (uint8_t)type, .bytes = ptx_type_info(type)->bytes};
  if (name.size) symbol_add(p, name, SYMBOL_REGISTER)->reg = index;
  return index;
}

// Of a range, "%r<10>", only the registers that are named exist.
uint32_t register_find(parser_t* p, word_t name) {
  symbol_t* symbol = symbol_find(p, name);
  if (symbol) return symbol->kind == SYMBOL_REGISTER ? symbol->reg : NO_REGISTER;
  uint32_t digits = 0;
  uint64_t number = 0, power = 1;
  while (digits + 1 < name.size && digits < 10 && isdigit((unsigned char)name.text[name.size - 1 - digits])) {
    number += power * (uint64_t)(name.text[name.size - 1 - digits] - '0');
    power *= 10, ++digits;
    word_t prefix = {name.text, name.size - digits};
    bool is_plain = digits == 1 || name.text[prefix.size] != '0';
    symbol = is_plain ? symbol_find(p, prefix) : NULL;
    if (symbol && symbol->kind == SYMBOL_RANGE && number < symbol->reg) {
      // It belongs to the range's scope.
      uint32_t depth = p->depth;
      p->depth = symbol->depth;
      uint32_t reg = register_add(p, name, (ptx_type_t)symbol->type);
      p->depth = depth;
      return reg;
    }
  }
  return NO_REGISTER;
}

static const struct {
  const char* text;
  uint8_t type;
} specials[] = {
    {"", 0},
#define SPECIAL(name, text, type) {text, PTX_TYPE_##type},
#include "isa/nvidia/special.def"
#undef SPECIAL
};

special_t special_find(word_t name) {
  if (!name.size || name.text[0] != '%') return SPECIAL_NONE;
  for (uint32_t i = 1; i < sizeof(specials) / sizeof(specials[0]); ++i) {
    if (word_is(name, specials[i].text)) return (special_t)i;
  }
  return SPECIAL_NONE;
}

ptx_type_t special_type(special_t special) { return (ptx_type_t)specials[special].type; }
