// Locations: loc("file":1:2), loc("name"(...)), loc(fused[...]), loc(callsite(a at b)), loc(unknown), loc(#alias).
#include "ir/parse_state.h"

static const ir_loc_t* parse_callsite(ir_parser_t* p) {
  if (!ir_take_expected(p, '(')) return NULL;
  const ir_loc_t* callee = ir_parse_loc_inner(p);
  if (!callee || !ir_parse_expect(p, "at")) return NULL;
  const ir_loc_t* caller = ir_parse_loc_inner(p);
  return caller && ir_take_expected(p, ')') ? ir_loc_callsite(p->ctx, callee, caller) : NULL;
}

// fused<metadata>[a, b]; the metadata says nothing about places and is dropped.
static const ir_loc_t* parse_fused(ir_parser_t* p) {
  const ir_loc_t *inline_locs[8], **locs = inline_locs;
  uint32_t count = 0;
  if (ir_peek(p, 0) == '<' && !ir_parse_bracketed(p)) return NULL;
  if (!ir_take_expected(p, '[')) return NULL;
  while (!ir_take(p, ']')) {
    if (count && !ir_take_expected(p, ',')) return NULL;
    if (count >= 8) locs = ir_parse_grow(p, locs, count, sizeof(*locs));
    if (!(locs[count++] = ir_parse_loc_inner(p))) return NULL;
  }
  return ir_loc_fused(p->ctx, locs, count);
}

// "file":line:column, with an optional `to [line]:column`, or "name", or "name"(inner).
static const ir_loc_t* parse_named(ir_parser_t* p) {
  const char* text;
  size_t size;
  int64_t line, column, ignored;
  if (!ir_parse_string(p, &text, &size)) return NULL;
  if (ir_take(p, '(')) {
    const ir_loc_t* child = ir_parse_loc_inner(p);
    return child && ir_take_expected(p, ')') ? ir_loc_name(p->ctx, text, child) : NULL;
  }
  if (!ir_take(p, ':')) return ir_loc_name(p->ctx, text, ir_loc_unknown(p->ctx));
  if (!ir_parse_integer(p, &line) || !ir_take_expected(p, ':') || !ir_parse_integer(p, &column)) return NULL;
  if (ir_parse_try(p, "to")) {
    ir_parse_try_integer(p, &ignored);
    if (!ir_take_expected(p, ':') || !ir_parse_integer(p, &ignored)) return NULL;
  }
  if (line < 0 || line > UINT32_MAX || column < 0 || column > UINT32_MAX) {
    return ir_parse_fail(p, "line and column are 32-bit numbers"), NULL;
  }
  return ir_loc_file(p->ctx, text, (uint32_t)line, (uint32_t)column);
}

static const ir_loc_t* parse_alias(ir_parser_t* p) {
  size_t size = ir_suffix_size(p, 1) + 1;
  bool dialect = memchr(p->cursor.at, '.', size) || ir_peek(p, size) == '<';
  if (dialect) {
    return ir_parse_attr(p, NULL) ? ir_loc_unknown(p->ctx) : NULL;
  }
  const ir_alias_t* alias = ir_alias_use(p, p->cursor.at, size);
  if (!alias) return NULL;
  if (alias->attr->kind != IR_ATTR_LOCATION) return ir_parse_fail(p, "expected an alias of a location"), NULL;
  ir_advance(p, size);
  return alias->attr->loc;
}

static const ir_loc_t* parse_inner(ir_parser_t* p) {
  char c = ir_peek(p, 0);
  if (c == '"') return parse_named(p);
  if (c == '#') return parse_alias(p);
  if (ir_parse_try(p, "unknown")) return ir_loc_unknown(p->ctx);
  if (ir_parse_try(p, "callsite")) return parse_callsite(p);
  if (ir_parse_try(p, "fused")) return parse_fused(p);
  if (ir_parse_try(p, "loc")) return ir_parse_loc_body(p);
  return ir_parse_fail(p, "expected a location: \"file\":line:column, \"name\", callsite, fused, unknown or an alias"),
         NULL;
}

const ir_loc_t* ir_parse_loc_inner(ir_parser_t* p) {
  if (!ir_enter(p)) return NULL;
  const ir_loc_t* loc = parse_inner(p);
  ir_leave(p);
  return p->failed ? NULL : loc;
}

const ir_loc_t* ir_parse_loc_body(ir_parser_t* p) {
  if (!ir_take_expected(p, '(')) return NULL;
  const ir_loc_t* loc = ir_parse_loc_inner(p);
  return loc && ir_take_expected(p, ')') ? loc : NULL;
}

bool ir_parse_optional_loc(ir_parser_t* p, const ir_loc_t** loc) {
  if (ir_peek(p, 0) != 'l' || !ir_parse_try(p, "loc")) return true;
  const ir_loc_t* parsed = ir_parse_loc_body(p);
  if (parsed) *loc = parsed;
  return parsed != NULL;
}
