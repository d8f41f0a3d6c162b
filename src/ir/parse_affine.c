// affine_map<(d0, d1)[s0] -> (d0 + 1, d1 floordiv s0)>
#include "ir/parse_state.h"

enum { MAX_NAMES = 2 * IR_PARSE_MAX_RANK };

typedef struct affine_t {
  ir_parser_t* p;
  struct {
    const char* text;
    size_t size;
  } names[MAX_NAMES];
  uint32_t dim_count, symbol_count;
  uint32_t nodes;
} affine_t;

static const ir_affine_t* parse_sum(affine_t* a);

static const ir_affine_t* make(affine_t* a, ir_affine_kind_t kind, int64_t value, const ir_affine_t* lhs,
                               const ir_affine_t* rhs) {
  if (++a->nodes > IR_PARSE_MAX_AFFINE_NODES) {
    ir_parse_fail(a->p, "affine map has more than %d terms", IR_PARSE_MAX_AFFINE_NODES);
    return NULL;
  }
  ir_affine_t* node = ARENA_NEW(&a->p->ctx->arena, ir_affine_t);
  *node = (ir_affine_t){kind, value, lhs, rhs};
  return node;
}

static const ir_affine_t* parse_name(affine_t* a) {
  ir_parser_t* p = a->p;
  size_t size = ir_word_size(p);
  for (uint32_t i = 0; size && i < a->dim_count + a->symbol_count; ++i) {
    if (a->names[i].size != size || memcmp(a->names[i].text, p->cursor.at, size) != 0) continue;
    ir_advance(p, size);
    bool symbol = i >= a->dim_count;
    return make(a, symbol ? IR_AFFINE_SYMBOL : IR_AFFINE_DIM, symbol ? i - a->dim_count : i, NULL, NULL);
  }
  ir_parse_fail(p, size ? "'%.*s' is not a dimension or symbol of this map" : "expected an affine expression%.*s",
                (int)(size < 80 ? size : 80), p->cursor.at);
  return NULL;
}

static const ir_affine_t* parse_factor(affine_t* a) {
  ir_parser_t* p = a->p;
  const ir_affine_t* node = NULL;
  if (!ir_enter(p)) return NULL;
  int64_t value;
  if (ir_take(p, '(')) {
    node = parse_sum(a);
    if (node && !ir_take_expected(p, ')')) node = NULL;
  } else if (ir_is_digit(ir_peek(p, 0))) {
    if (ir_parse_integer(p, &value)) node = make(a, IR_AFFINE_CONST, value, NULL, NULL);
  } else if (ir_take(p, '-')) {
    const ir_affine_t* operand = parse_factor(a);
    if (operand && operand->kind == IR_AFFINE_CONST) {
      node = make(a, IR_AFFINE_CONST, (int64_t)(0 - (uint64_t)operand->value), NULL, NULL);
    } else if (operand) {
      const ir_affine_t* minus = make(a, IR_AFFINE_CONST, -1, NULL, NULL);
      node = minus ? make(a, IR_AFFINE_MUL, 0, operand, minus) : NULL;
    }
  } else if (ir_parse_try(p, "symbol")) {
    node = ir_take_expected(p, '(') ? parse_sum(a) : NULL;
    if (node && !ir_take_expected(p, ')')) node = NULL;
  } else {
    node = parse_name(a);
  }
  ir_leave(p);
  return node;
}

static const ir_affine_t* parse_product(affine_t* a) {
  static const struct {
    const char* text;
    ir_affine_kind_t kind;
  } ops[] = {
      {"*", IR_AFFINE_MUL}, {"floordiv", IR_AFFINE_FLOORDIV}, {"ceildiv", IR_AFFINE_CEILDIV}, {"mod", IR_AFFINE_MOD}};
  const ir_affine_t* lhs = parse_factor(a);
  for (int i = 0; lhs && i < 4;) {
    if (!ir_parse_try(a->p, ops[i].text)) {
      ++i;
      continue;
    }
    const ir_affine_t* rhs = parse_factor(a);
    lhs = rhs ? make(a, ops[i].kind, 0, lhs, rhs) : NULL;
    i = 0;
  }
  return lhs;
}

static const ir_affine_t* parse_sum(affine_t* a) {
  const ir_affine_t* lhs = parse_product(a);
  while (lhs) {
    bool minus = false;
    if (!ir_take(a->p, '+') && !(minus = ir_peek(a->p, 0) == '-' && ir_peek(a->p, 1) != '>' && ir_take(a->p, '-')))
      break;
    const ir_affine_t* rhs = parse_product(a);
    if (rhs && minus && rhs->kind == IR_AFFINE_CONST) {
      rhs = make(a, IR_AFFINE_CONST, (int64_t)(0 - (uint64_t)rhs->value), NULL, NULL);
    } else if (rhs && minus) {
      const ir_affine_t* negative = make(a, IR_AFFINE_CONST, -1, NULL, NULL);
      rhs = negative ? make(a, IR_AFFINE_MUL, 0, rhs, negative) : NULL;
    }
    lhs = rhs ? make(a, IR_AFFINE_ADD, 0, lhs, rhs) : NULL;
  }
  return lhs;
}

// Names up to `close`, which is consumed.
static bool parse_names(affine_t* a, uint32_t* count, char close) {
  ir_parser_t* p = a->p;
  while (!ir_take(p, close)) {
    if (*count && !ir_take_expected(p, ',')) return false;
    size_t size = ir_word_size(p);
    uint32_t at = a->dim_count + a->symbol_count;
    if (!size) return ir_parse_fail(p, "expected a dimension or symbol name");
    if (at == MAX_NAMES) return ir_parse_fail(p, "affine map has more than %d names", MAX_NAMES);
    a->names[at].text = p->cursor.at;
    a->names[at].size = size;
    ++*count;
    ir_advance(p, size);
  }
  return true;
}

const ir_attr_t* ir_parse_affine_map(ir_parser_t* p) {
  affine_t a = {.p = p};
  const ir_affine_t* results[MAX_NAMES];
  ir_affine_map_t map = {.results = results};
  if (!ir_take_expected(p, '<') || !ir_take_expected(p, '(') || !parse_names(&a, &a.dim_count, ')')) return NULL;
  if (ir_take(p, '[') && !parse_names(&a, &a.symbol_count, ']')) return NULL;
  if (!ir_parse_expect(p, "->") || !ir_take_expected(p, '(')) return NULL;
  while (!ir_take(p, ')')) {
    if (map.result_count && !ir_take_expected(p, ',')) return NULL;
    if (map.result_count == MAX_NAMES) return ir_parse_fail(p, "affine map has more than %d results", MAX_NAMES), NULL;
    if (!(results[map.result_count++] = parse_sum(&a))) return NULL;
  }
  if (!ir_take_expected(p, '>')) return NULL;
  map.dim_count = a.dim_count;
  map.symbol_count = a.symbol_count;
  return ir_attr_affine_map(p->ctx, &map);
}
