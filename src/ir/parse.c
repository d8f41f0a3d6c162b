// ir_parse_module: top level of a text. One module, or ops which a module is put around.
//
//   #map = affine_map<...>       aliases, also behind their uses
//   module { ... }               or any list of ops
//   {-# dialect_resources ... #-}
#include "ir/bytecode.h"
#include "ir/parse_state.h"

static bool parse_top_level(ir_parser_t* p, ir_block_t* block) {
  while (p->cursor.at < p->end) {
    char c = ir_peek(p, 0);
    bool ok;
    if (c == '#' || c == '!') {
      ok = ir_parse_alias_definition(p);
    } else if (c == '{' && ir_peek(p, 1) == '-') {
      ok = ir_parse_resources(p);
    } else {
      ir_op_t* op = ir_parse_op(p);
      if (op) ir_block_append(block, op);
      ok = op != NULL;
    }
    if (!ok) return false;
  }
  return true;
}

// A lone builtin.module is the result itself.
static ir_op_t* unwrap(ir_op_t* module) {
  ir_op_t* only = ir_module_body(module)->first;
  if (!only || only->next || strcmp(only->name, "builtin.module") != 0) return module;
  ir_op_remove(only);
  return only;
}

static void drop_scopes(ir_parser_t* p) {
  for (; p->scope; p->scope = p->scope->outer) ir_set_finish(&p->scope->names);
}

ir_op_t* ir_parse_module(ir_context_t* ctx, const char* path, const char* text, size_t size) {
  if (ir_is_bytecode(text, size)) return ir_read_bytecode(ctx, path, text, size);
  ir_parser_t p = {.ctx = ctx, .path = ir_intern_cstr(ctx, path), .begin = text, .end = text + size};
  p.cursor = (ir_cursor_t){text, text, 1};
  arena_init(&p.scratch);
  ir_context_add_source(ctx, path, text, size);
  if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) p.cursor.at += 3;
  ir_op_t* module = ir_module_create(ctx, ir_loc_file(ctx, path, 1, 1));
  p.enclosing = module->info;
  p.enclosing_name = module->name;
  ir_skip_space(&p);
  ir_scope_push(&p);
  ir_scope_t* scope = p.scope;
  bool ok = parse_top_level(&p, ir_module_body(module));
  if (ok && p.scope == scope) ok = ir_scope_pop(&p);
  drop_scopes(&p);
  ir_set_finish(&p.aliases);
  ir_set_finish(&p.resources);
  arena_finish(&p.scratch);
  return ok ? unwrap(module) : NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// An attribute or a type alone
//===----------------------------------------------------------------------------------------------------------------===

static ir_parser_t begin_alone(ir_context_t* ctx, const char* text, size_t size) {
  ir_parser_t p = {.ctx = ctx, .path = ir_intern_cstr(ctx, "-"), .begin = text, .end = text + size, .quiet = 1};
  p.cursor = (ir_cursor_t){text, text, 1};
  arena_init(&p.scratch);
  ir_skip_space(&p);
  return p;
}

// Whether all of it was read.
static bool end_alone(ir_parser_t* p) {
  bool ok = !p->failed && p->cursor.at == p->end;
  ir_set_finish(&p->aliases);
  ir_set_finish(&p->resources);
  arena_finish(&p->scratch);
  return ok;
}

const ir_attr_t* ir_parse_attr_text(ir_context_t* ctx, const char* text, size_t size) {
  ir_parser_t p = begin_alone(ctx, text, size);
  const ir_attr_t* attr = ir_parse_item(&p);
  return end_alone(&p) ? attr : NULL;
}

const ir_type_t* ir_parse_type_text(ir_context_t* ctx, const char* text, size_t size) {
  ir_parser_t p = begin_alone(ctx, text, size);
  const ir_type_t* type = ir_parse_type(&p);
  return end_alone(&p) ? type : NULL;
}

const ir_attr_t* ir_attr_from_bytes(ir_context_t* ctx, const ir_type_t* type, const void* data, size_t size,
                                    const char* resource) {
  ir_parser_t p = begin_alone(ctx, "", 0);
  const ir_attr_t* attr = ir_parse_raw_elements(&p, type, data, size, resource);
  return end_alone(&p) ? attr : NULL;
}
