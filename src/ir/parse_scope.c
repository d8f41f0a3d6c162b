// Names of values and blocks while they are in sight. Values may be used before their definition (in other blocks, in
// graph regions): such a use gets a placeholder that the definition replaces.
#include "ir/parse_state.h"

typedef struct entry_key_t {
  const char* name;
  uint32_t size, depth;
} entry_key_t;

static bool entry_equal(const void* a, const void* key) {
  const ir_entry_t* entry = a;
  const entry_key_t* k = key;
  return entry->size == k->size && entry->depth == k->depth && memcmp(entry->name, k->name, k->size) == 0;
}
static uint64_t key_hash(const char* name, uint32_t size, uint32_t depth) {
  return ir_hash_bytes(name, size) + depth * 0x9e3779b97f4a7c15ull;
}
static uint64_t entry_hash(const void* a) {
  const ir_entry_t* entry = a;
  return key_hash(entry->name, entry->size, entry->depth);
}

static ir_entry_t* find(ir_parser_t* p, const char* name, uint32_t size, uint32_t depth) {
  entry_key_t key = {name, size, depth};
  return ir_set_find(&p->scope->names, key_hash(name, size, depth), &key, entry_equal);
}

static ir_entry_t* get(ir_parser_t* p, const char* name, uint32_t size, uint32_t depth) {
  ir_entry_t* entry = find(p, name, size, depth);
  if (entry) return entry;
  entry = ARENA_NEW(&p->scratch, ir_entry_t);
  *entry = (ir_entry_t){.name = name, .size = size, .depth = depth};
  ir_set_insert(&p->scope->names, entry_hash(entry), entry, entry_hash);
  return entry;
}

//===----------------------------------------------------------------------------------------------------------------===
// Scopes
//===----------------------------------------------------------------------------------------------------------------===

void ir_scope_push(ir_parser_t* p) {
  ir_scope_t* scope = ARENA_NEW(&p->scratch, ir_scope_t);
  scope->outer = p->scope;
  p->scope = scope;
}

// Uses that never got a definition are errors; reports the first in the text.
bool ir_scope_pop(ir_parser_t* p) {
  ir_scope_t* scope = p->scope;
  const ir_entry_t* first = NULL;
  const ir_forward_t* where = NULL;
  for (const ir_entry_t* entry = scope->waiting; entry; entry = entry->next_waiting) {
    for (const ir_forward_t* use = entry->forward; use; use = use->next) {
      bool earlier = !where || use->line < where->line || (use->line == where->line && use->column < where->column);
      if (!earlier) continue;
      first = entry;
      where = use;
    }
  }
  if (first) {
    ir_fail_where(p, where->line, where->column, "use of undeclared SSA value name '%.*s'", (int)first->size,
                  first->name);
  }
  p->scope = scope->outer;
  ir_set_finish(&scope->names);
  return !p->failed;
}

// Ends the sight of definitions newer than `mark`.
void ir_forget(ir_parser_t* p, ir_entry_t* mark) {
  while (p->scope->log != mark) {
    ir_entry_t* entry = p->scope->log;
    entry->values = NULL;
    p->scope->log = entry->log;
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Values
//===----------------------------------------------------------------------------------------------------------------===

bool ir_parse_try_ref(ir_parser_t* p, ir_ref_t* ref) {
  if (ir_peek(p, 0) != '%') return false;
  size_t size = ir_suffix_size(p, 1) + 1;
  if (size == 1 || size > UINT16_MAX) return ir_parse_fail(p, "expected a value name after '%%'");
  *ref = (ir_ref_t){p->cursor.at, (uint32_t)size, 0, p->cursor.line, ir_column(p)};
  ir_advance(p, size);
  if (ir_peek(p, 0) == '#' && ir_is_digit(ir_peek(p, 1))) {
    int64_t number;
    ir_advance(p, 1);
    if (!ir_parse_integer(p, &number)) return false;
    if (number >= IR_PARSE_MAX_RESULTS) return ir_parse_fail(p, "result number is too large");
    ref->number = (uint32_t)number;
  }
  return true;
}

bool ir_parse_ref(ir_parser_t* p, ir_ref_t* ref) {
  if (ir_parse_try_ref(p, ref)) return true;
  return ir_parse_fail(p, "expected an SSA operand (%%name)");
}

bool ir_parse_refs(ir_parser_t* p, ir_ref_list_t* list) {
  ir_ref_t ref;
  while (ir_peek(p, 0) == '%') {
    if (!ir_parse_ref(p, &ref)) return false;
    ir_list_add_ref(p, list, &ref);
    ir_cursor_t comma = p->cursor;
    if (!ir_take(p, ',')) break;
    if (ir_peek(p, 0) != '%') p->cursor = comma;  // the comma belongs to what follows the list
  }
  return !p->failed;
}

static bool check_type(ir_parser_t* p, const ir_ref_t* ref, const ir_entry_t* entry, const ir_type_t* have,
                       const ir_type_t* want) {
  if (have == want) return true;
  bool show = !p->failed && !p->quiet;
  ir_parse_fail_at(p, ref, "use of value '%.*s' expects different type than prior uses: '%s' vs '%s'", (int)ref->size,
                   ref->name, ir_type_str(p->ctx, want), ir_type_str(p->ctx, have));
  if (show && entry->line) ir_note(p->ctx, ir_loc_where(p, entry->line, entry->column), "prior use here");
  return false;
}

static ir_value_t* forward_use(ir_parser_t* p, ir_entry_t* entry, const ir_ref_t* ref, const ir_type_t* type) {
  uint32_t uses = 0;
  for (ir_forward_t* use = entry->forward; use; use = use->next, ++uses) {
    if (use->number == ref->number) return check_type(p, ref, entry, use->value.type, type) ? &use->value : NULL;
  }
  if (uses >= 64) {
    ir_parse_fail_at(p, ref, "too many results of '%.*s' are used before it", (int)ref->size, ref->name);
    return NULL;
  }
  ir_forward_t* use = ARENA_NEW(&p->scratch, ir_forward_t);
  *use = (ir_forward_t){.next = entry->forward, .number = ref->number, .line = ref->line, .column = ref->column};
  use->value.type = type;
  if (!entry->forward) {
    entry->next_waiting = p->scope->waiting;
    p->scope->waiting = entry;
    entry->line = ref->line;
    entry->column = ref->column;
  }
  entry->forward = use;
  return &use->value;
}

ir_value_t* ir_parse_resolve(ir_parser_t* p, const ir_ref_t* ref, const ir_type_t* type) {
  ir_entry_t* entry = get(p, ref->name, ref->size, 0);
  if (!entry->values) return forward_use(p, entry, ref, type);
  if (ref->number >= entry->count) {
    ir_parse_fail_at(p, ref, "'%.*s' has %u results, there is no number %u", (int)ref->size, ref->name, entry->count,
                     ref->number);
    return NULL;
  }
  ir_value_t* value = &entry->values[ref->number];
  return check_type(p, ref, entry, value->type, type) ? value : NULL;
}

const ir_type_t* ir_parse_ref_type(ir_parser_t* p, const ir_ref_t* ref) {
  const ir_entry_t* entry = find(p, ref->name, ref->size, 0);
  return entry && entry->values && ref->number < entry->count ? entry->values[ref->number].type : NULL;
}

static bool settle_forwards(ir_parser_t* p, ir_entry_t* entry, const ir_ref_t* ref) {
  for (ir_forward_t* use = entry->forward; use; use = use->next) {
    if (use->number >= entry->count) {
      return ir_fail_where(p, use->line, use->column, "'%.*s' has %u results, there is no number %u", (int)ref->size,
                           ref->name, entry->count, use->number);
    }
    ir_value_t* value = &entry->values[use->number];
    if (value->type != use->value.type) {
      return ir_parse_fail_at(p, ref, "'%.*s' has type '%s' but was used before as '%s'", (int)ref->size, ref->name,
                              ir_type_str(p->ctx, value->type), ir_type_str(p->ctx, use->value.type));
    }
    ir_value_replace(&use->value, value);
  }
  entry->forward = NULL;
  return true;
}

// `ref` names `count` values; a placeholder waiting for them is replaced.
bool ir_define(ir_parser_t* p, const ir_ref_t* ref, ir_value_t* values, uint32_t count) {
  ir_entry_t* entry = get(p, ref->name, ref->size, 0);
  if (entry->values) {
    bool show = !p->failed && !p->quiet;
    ir_parse_fail_at(p, ref, "redefinition of SSA value '%.*s'", (int)ref->size, ref->name);
    if (show) ir_note(p->ctx, ir_loc_where(p, entry->line, entry->column), "previously defined here");
    return false;
  }
  entry->values = values;
  entry->count = count;
  entry->line = ref->line;
  entry->column = ref->column;
  entry->log = p->scope->log;
  p->scope->log = entry;
  return !entry->forward || settle_forwards(p, entry, ref);
}

//===----------------------------------------------------------------------------------------------------------------===
// Blocks
//===----------------------------------------------------------------------------------------------------------------===

ir_entry_t* ir_block_entry(ir_parser_t* p, const char* name, uint32_t size) {
  ir_entry_t* entry = get(p, name, size, p->region_depth);
  if (entry->block) return entry;
  entry->block = ir_block_create(p->ctx);
  entry->defined = false;
  entry->line = p->cursor.line;
  entry->column = ir_column(p);
  entry->next_block = p->region_blocks;
  p->region_blocks = entry;
  return entry;
}
