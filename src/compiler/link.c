// See link.h.
#include "compiler/link.h"

#include <string.h>
#include <unistd.h>

#include "dialects/builtin.h"

//===----------------------------------------------------------------------------------------------------------------===
// Symbols
//===----------------------------------------------------------------------------------------------------------------===

static const char* symbol_of(const ir_op_t* op) { return ir_op_string(op, "sym_name", NULL); }
static bool is_private(const ir_op_t* op) { return strcmp(ir_op_string(op, "sym_visibility", ""), "private") == 0; }
static bool is_module(const ir_op_t* op) { return ir_is(op, BUILTIN_MODULE); }
static bool is_function(const ir_op_t* op) { return symbol_of(op) && ir_op_attr(op, "function_type"); }
static bool is_declaration(const ir_op_t* op) {
  return is_function(op) && (!op->region_count || !op->regions[0].first);
}
static bool is_global(const ir_op_t* op) {
  const char* dot = strrchr(op->name, '.');
  return symbol_of(op) && dot && strcmp(dot, ".global") == 0;
}

bool link_is_public(const ir_op_t* op) { return is_function(op) && !is_declaration(op) && !is_private(op); }

static void set_name(ir_context_t* ctx, ir_op_t* op, const char* name) {
  ir_op_set_attr(ctx, op, "sym_name", ir_attr_cstring(ctx, name));
}

// `name`, or name_0, name_1, ... where it is taken.
static const char* unique_name(ir_context_t* ctx, ir_op_t* table, const char* name) {
  const char* free_name = name;
  for (int i = 0; ir_symbol_find(ctx, table, free_name); ++i) {
    free_name = arena_printf(ir_context_arena(ctx), "%s_%d", name, i);
  }
  return free_name;
}

// What stands for a symbol, or NULL: itself.
typedef struct renaming_t {
  ir_context_t* ctx;
  const char* (*rename)(void* user, const char* name);
  void* user;
} renaming_t;

static const ir_attr_t* rename_in_attr(const renaming_t* r, const ir_attr_t* attr) {
  if (attr->kind == IR_ATTR_SYMBOL) {
    const char* name = r->rename(r->user, attr->text);
    return name ? ir_attr_symbol_nested(r->ctx, name, attr->items, attr->count) : attr;
  }
  bool changed = false;
  if (attr->kind == IR_ATTR_ARRAY) {
    const ir_attr_t** items = ARENA_ARRAY(ir_context_arena(r->ctx), const ir_attr_t*, attr->count + 1);
    for (uint32_t i = 0; i < attr->count; ++i) {
      items[i] = rename_in_attr(r, attr->items[i]);
      changed |= items[i] != attr->items[i];
    }
    return changed ? ir_attr_array(r->ctx, items, attr->count) : attr;
  }
  if (attr->kind == IR_ATTR_DICT) {
    ir_named_attr_t* entries = ARENA_ARRAY(ir_context_arena(r->ctx), ir_named_attr_t, attr->count + 1);
    for (uint32_t i = 0; i < attr->count; ++i) {
      entries[i] = (ir_named_attr_t){attr->entries[i].name, rename_in_attr(r, attr->entries[i].value)};
      changed |= entries[i].value != attr->entries[i].value;
    }
    return changed ? ir_attr_dict(r->ctx, entries, attr->count) : attr;
  }
  return attr;
}

// In an op and all in it, but modules, whose symbols are their own, and other symbols with regions (executables).
static void rename_in_op(const renaming_t* r, ir_op_t* op) {
  for (uint32_t i = 0; i < op->attr_count; ++i) {
    const ir_attr_t* value = rename_in_attr(r, op->attrs[i].value);
    if (value != op->attrs[i].value) ir_op_set_attr(r->ctx, op, op->attrs[i].name, value);
  }
  if (is_module(op) || (symbol_of(op) && !is_function(op))) return;
  for (uint32_t i = 0; i < op->region_count; ++i) {
    IR_FOR_BLOCKS(block, &op->regions[i]) {
      IR_FOR_OPS(inner, block) { rename_in_op(r, inner); }
    }
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Files
//===----------------------------------------------------------------------------------------------------------------===

ir_op_t* link_load(ir_context_t* ctx, const char* path, link_sources_t* sources) {
  if (sources->count == sources->capacity) {
    sources->capacity = sources->capacity ? sources->capacity * 2 : 8;
    sources->files = memory_resize(sources->files, sizeof(*sources->files) * sources->capacity);
  }
  source_file_t* file = memory_resize(NULL, sizeof(*file));
  if (!source_open(ctx, path, NULL, 0, file)) {
    memory_free(file);
    return NULL;
  }
  sources->files[sources->count++] = file;
  ir_op_t* module = source_parse(ctx, file);
  return module && ir_verify(ctx, module) ? module : NULL;
}

void link_sources_finish(link_sources_t* sources) {
  for (uint32_t i = 0; i < sources->count; ++i) {
    source_close(sources->files[i]);
    memory_free(sources->files[i]);
  }
  memory_free(sources->files);
  *sources = (link_sources_t){0};
}

//===----------------------------------------------------------------------------------------------------------------===
// Linking
//===----------------------------------------------------------------------------------------------------------------===

// A module that functions come from. The `data` of its symbols is the name of their copy in the target.
typedef struct unit_t {
  const char* name;  // NULL: none
  ir_op_t* module;
} unit_t;

// A copied function whose symbols are still those of its unit.
typedef struct copy_t {
  ir_op_t* op;
  const unit_t* unit;
} copy_t;

enum { UNIT_LIMIT = 4096 };

typedef struct linker_t {
  ir_context_t* ctx;
  const link_options_t* options;
  link_sources_t* sources;
  ir_op_t* target;
  unit_t* units;
  uint32_t unit_count;
  copy_t* copies;
  ir_op_t** declarations;
  uint32_t copy_count, copy_capacity, declaration_count, declaration_capacity;
  const copy_t* current;
  ir_op_t* last;  // inserted for the current copy
  bool failed;
} linker_t;

static void push_copy(linker_t* l, ir_op_t* op, const unit_t* unit) {
  if (l->copy_count == l->copy_capacity) {
    l->copy_capacity = l->copy_capacity ? l->copy_capacity * 2 : 64;
    l->copies = memory_resize(l->copies, sizeof(*l->copies) * l->copy_capacity);
  }
  l->copies[l->copy_count++] = (copy_t){op, unit};
}

static void push_declaration(linker_t* l, ir_op_t* op) {
  if (l->declaration_count == l->declaration_capacity) {
    l->declaration_capacity = l->declaration_capacity ? l->declaration_capacity * 2 : 64;
    l->declarations = memory_resize(l->declarations, sizeof(*l->declarations) * l->declaration_capacity);
  }
  l->declarations[l->declaration_count++] = op;
}

static bool add_unit(linker_t* l, const char* name, ir_op_t* module) {
  if (l->unit_count == UNIT_LIMIT) return ir_error(l->ctx, module->loc, "more than %d modules", UNIT_LIMIT);
  l->units[l->unit_count++] = (unit_t){name, module};
  IR_FOR_OPS(op, ir_module_body(module)) op->data = NULL;
  return true;
}

// A file's module and the modules in it. `name` is that of a module without one.
static bool add_units(linker_t* l, const char* path, const char* name) {
  ir_op_t* module = link_load(l->ctx, path, l->sources);
  if (!module) return false;
  IR_FOR_OPS(op, ir_module_body(module)) {
    if (is_module(op) && symbol_of(op) && !add_unit(l, symbol_of(op), op)) return false;
  }
  return add_unit(l, symbol_of(module) ? symbol_of(module) : name, module);
}

static ir_op_t* find_public(const unit_t* unit, const char* name) {
  ir_op_t* op = ir_symbol_lookup(unit->module, name);
  return op && link_is_public(op) ? op : NULL;
}

// The function `name` stands for.
static ir_op_t* find_function(const linker_t* l, const char* name, const unit_t** out_unit) {
  for (uint32_t i = 0; i < l->unit_count; ++i) {
    const unit_t* unit = *out_unit = &l->units[i];
    size_t size = unit->name ? strlen(unit->name) : 0;
    bool fits = !unit->name || (strncmp(name, unit->name, size) == 0 && name[size] == '.');
    ir_op_t* op = fits ? find_public(unit, unit->name ? name + size + 1 : name) : NULL;
    if (op) return op;
  }
  return NULL;
}

// Loads the files that a function's name asks for: module.mlir for each part of it in front of a dot.
static bool search_libraries(linker_t* l, const char* name, bool* out_found) {
  static const char* const endings[] = {"mlir", "mlirbc"};
  *out_found = false;
  if (strchr(name, '/')) return true;
  for (const char* dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
    const char* module = arena_printf(ir_context_arena(l->ctx), "%.*s", (int)(dot - name), name);
    bool known = false;
    for (uint32_t i = 0; i < l->unit_count; ++i) known |= l->units[i].name && strcmp(l->units[i].name, module) == 0;
    for (uint32_t i = 0; i < 2 * l->options->library_path_count && !known; ++i) {
      const char* path =
          arena_printf(ir_context_arena(l->ctx), "%s/%s.%s", l->options->library_paths[i / 2], module, endings[i % 2]);
      if (access(path, R_OK) != 0) continue;
      if (!add_units(l, path, module)) return false;
      *out_found = known = true;
    }
  }
  return true;
}

static bool link_declaration(linker_t* l, ir_op_t* declaration) {
  const char* name = symbol_of(declaration);
  const unit_t* unit = NULL;
  bool found = false;
  ir_op_t* op = find_function(l, name, &unit);
  if (!op) {
    if (!search_libraries(l, name, &found)) return false;
    op = found ? find_function(l, name, &unit) : NULL;
  }
  if (!op) return ir_error(l->ctx, declaration->loc, "unresolved external symbol: '%s'", name);
  if (ir_op_attr(op, "function_type") != ir_op_attr(declaration, "function_type")) {
    ir_error(l->ctx, declaration->loc, "external symbol '%s' has another type than its definition", name);
    ir_note(l->ctx, op->loc, "defined here");
    return false;
  }
  ir_op_t* copy = ir_op_clone(l->ctx, op, NULL);
  set_name(l->ctx, copy, name);
  const ir_attr_t* visibility = ir_op_attr(declaration, "sym_visibility");
  if (visibility) ir_op_set_attr(l->ctx, copy, "sym_visibility", visibility);
  op->data = (void*)name;
  ir_block_insert_before(ir_module_body(l->target), copy, declaration);
  ir_op_erase(declaration);
  push_copy(l, copy, unit);
  return true;
}

static void insert(linker_t* l, ir_op_t* op) {
  ir_block_insert_before(ir_module_body(l->target), op, l->last->next);
  l->last = op;
}

// The name in the target of what a copied function calls `name`.
static const char* link_symbol(void* user, const char* name) {
  linker_t* l = user;
  const unit_t* unit = l->current->unit;
  ir_op_t* op = ir_symbol_lookup(unit->module, name);
  if (!op) return NULL;
  if (op->data) return op->data;
  if (is_global(op)) {
    l->failed = true;
    ir_error(l->ctx, op->loc, "global '%s' is used by '%s', and state of other modules is not linked; pass its value",
             name, symbol_of(l->current->op));
    return NULL;
  }
  bool declared = is_declaration(op);
  bool exported = unit->name && link_is_public(op);
  const char* wanted = exported ? arena_printf(ir_context_arena(l->ctx), "%s.%s", unit->name, name) : name;
  ir_op_t* there = declared || exported ? ir_symbol_find(l->ctx, l->target, wanted) : NULL;
  if (there && (declared || is_declaration(there))) return op->data = (void*)wanted;  // linked in its turn
  const char* unique = declared ? wanted : unique_name(l->ctx, l->target, wanted);
  ir_op_t* copy = ir_op_clone(l->ctx, op, NULL);
  set_name(l->ctx, copy, unique);
  if (is_function(copy)) ir_op_set_attr(l->ctx, copy, "sym_visibility", ir_attr_cstring(l->ctx, "private"));
  op->data = (void*)unique;
  insert(l, copy);
  if (declared) {
    push_declaration(l, copy);
  } else if (is_function(copy)) {
    push_copy(l, copy, unit);
  }
  return unique;
}

static bool link_all(linker_t* l) {
  IR_FOR_OPS(op, ir_module_body(l->target)) {
    if (is_declaration(op)) push_declaration(l, op);
  }
  for (uint32_t next = 0; next < l->declaration_count;) {
    l->failed |= !link_declaration(l, l->declarations[next++]);
    while (l->copy_count) {
      copy_t copy = l->copies[--l->copy_count];
      l->current = &copy;
      l->last = copy.op;
      rename_in_op(&(renaming_t){l->ctx, link_symbol, l}, copy.op);
    }
  }
  return !l->failed && ir_verify(l->ctx, l->target);
}

bool link_module(ir_context_t* ctx, ir_op_t* module, const link_options_t* options, link_sources_t* sources) {
  linker_t l = {.ctx = ctx, .options = options, .sources = sources, .target = module};
  l.units = ARENA_ARRAY(ir_context_arena(ctx), unit_t, UNIT_LIMIT);
  bool ok = true;
  for (uint32_t i = 0; i < options->module_count && ok; ++i) ok = add_units(&l, options->modules[i], NULL);
  ok = ok && link_all(&l);
  memory_free(l.copies);
  memory_free(l.declarations);
  return ok;
}

//===----------------------------------------------------------------------------------------------------------------===
// Bundles
//===----------------------------------------------------------------------------------------------------------------===

// `data` of the module's symbols is their new name, or NULL.
static const char* renamed(void* user, const char* name) {
  ir_op_t* op = ir_symbol_lookup(user, name);
  return op ? op->data : NULL;
}

static void apply_names(ir_context_t* ctx, ir_op_t* module) {
  IR_FOR_OPS(op, ir_module_body(module)) { rename_in_op(&(renaming_t){ctx, renamed, module}, op); }
  IR_FOR_OPS(op, ir_module_body(module)) {
    if (op->data) set_name(ctx, op, op->data);
    op->data = NULL;
  }
}

// Makes room for the symbol: in the bundle, or under another name. Erases declarations of what is there.
static bool place_symbol(ir_context_t* ctx, ir_op_t* bundle, ir_op_t* module, ir_op_t* op) {
  ir_op_t* there = ir_symbol_find(ctx, bundle, symbol_of(op));
  if (!there) return true;
  const char* name = symbol_of(op);
  if (is_declaration(op) || is_declaration(there)) {
    if (ir_op_attr(op, "function_type") != ir_op_attr(there, "function_type")) {
      return ir_error(ctx, op->loc, "symbol '%s' has another type than in another module", name);
    }
    ir_op_erase(is_declaration(op) ? op : there);
    return true;
  }
  if (!is_private(op) && !is_private(there)) {
    ir_error(ctx, op->loc, "symbol '%s' is public in two modules", name);
    ir_note(ctx, there->loc, "and here");
    return false;
  }
  const char* unique = name;
  for (int i = 0; ir_symbol_lookup(bundle, unique) || (i && ir_symbol_lookup(module, unique)); ++i) {
    unique = arena_printf(ir_context_arena(ctx), "%s_%d", name, i);
  }
  if (is_private(op)) {
    op->data = (void*)unique;
  } else {
    there->data = (void*)unique;
    apply_names(ctx, bundle);
  }
  return true;
}

static bool merge(ir_context_t* ctx, ir_op_t* bundle, ir_op_t* module) {
  IR_FOR_OPS(op, ir_module_body(module)) op->data = NULL;
  IR_FOR_OPS_SAFE(op, ir_module_body(module)) {
    if (symbol_of(op) && !place_symbol(ctx, bundle, module, op)) return false;
  }
  apply_names(ctx, module);
  IR_FOR_OPS_SAFE(op, ir_module_body(module)) {
    ir_op_remove(op);
    ir_block_append(ir_module_body(bundle), op);
  }
  return true;
}

ir_op_t* link_bundle(ir_context_t* ctx, const link_options_t* options, link_sources_t* sources) {
  ir_op_t* bundle = ir_module_create(ctx, ir_loc_unknown(ctx));
  for (uint32_t i = 0; i < options->module_count; ++i) {
    ir_op_t* module = link_load(ctx, options->modules[i], sources);
    if (!module) return NULL;
    const char* name = symbol_of(module);
    if (name && ir_symbol_find(ctx, bundle, name)) {
      ir_error(ctx, module->loc, "module '%s' is in two files", name);
      return NULL;
    }
    if (name) {
      module->data = NULL;
      ir_block_append(ir_module_body(bundle), module);
    } else if (!merge(ctx, bundle, module)) {
      return NULL;
    }
  }
  return ir_verify(ctx, bundle) ? bundle : NULL;
}
