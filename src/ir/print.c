// Operations as text. Values are numbered first, region by region: all of a region's own values before those of the
// regions nested in it, siblings from the same number on.
#include "ir/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ir/context.h"
#include "ir/print_attr.h"

typedef struct named_t {
  const void* key;   // value or block
  const char* text;  // name without '%', or NULL: number
  uint32_t number;
} named_t;

typedef struct used_name_t {
  const char* text;
  struct used_name_t* outer;  // used before this one
  bool gone;                  // its region was left
} used_name_t;

struct ir_printer_t {
  ir_context_t* ctx;
  text_t* out;
  uint32_t flags;
  int64_t elide_above;
  int indent;
  named_t* names;
  size_t name_capacity, name_count;
  arena_t scratch;
  ir_set_t used;
  used_name_t* newest;
  const ir_attr_t** resources;
  uint32_t resource_count, resource_capacity;
};

typedef struct counters_t {
  uint32_t value, arg, conflict;
} counters_t;

//===----------------------------------------------------------------------------------------------------------------===
// Naming
//===----------------------------------------------------------------------------------------------------------------===

static size_t slot_of(const ir_printer_t* pr, const void* key) {
  size_t mask = pr->name_capacity - 1, i = (size_t)(((uintptr_t)key >> 4) * 0x9e3779b97f4a7c15ull >> 20) & mask;
  while (pr->names[i].key && pr->names[i].key != key) i = (i + 1) & mask;
  return i;
}

static void set_name(ir_printer_t* pr, const void* key, const char* text, uint32_t number) {
  if ((pr->name_count + 1) * 2 > pr->name_capacity) {
    named_t* old = pr->names;
    size_t count = pr->name_capacity;
    pr->name_capacity = count ? count * 2 : 256;
    pr->names = memory_array(pr->name_capacity, sizeof(*pr->names));
    for (size_t i = 0; i < count; ++i) {
      if (old[i].key) pr->names[slot_of(pr, old[i].key)] = old[i];
    }
    memory_free(old);
  }
  size_t slot = slot_of(pr, key);
  if (!pr->names[slot].key) ++pr->name_count;
  pr->names[slot] = (named_t){key, text, number};
}

static const named_t* get_name(const ir_printer_t* pr, const void* key) {
  if (!pr->name_capacity) return NULL;
  const named_t* name = &pr->names[slot_of(pr, key)];
  return name->key ? name : NULL;
}

static bool used_equal(const void* a, const void* key) { return strcmp(((const used_name_t*)a)->text, key) == 0; }
static uint64_t used_hash(const void* a) {
  const used_name_t* used = a;
  return ir_hash_bytes(used->text, strlen(used->text));
}

// True when the name was free.
static bool claim(ir_printer_t* pr, const char* text) {
  uint64_t hash = ir_hash_bytes(text, strlen(text));
  used_name_t* used = ir_set_find(&pr->used, hash, text, used_equal);
  if (used && !used->gone) return false;
  if (!used) {
    used = ARENA_NEW(&pr->scratch, used_name_t);
    used->text = arena_strndup(&pr->scratch, text, strlen(text));
    ir_set_insert(&pr->used, hash, used, used_hash);
  }
  used->gone = false;
  used->outer = pr->newest;
  pr->newest = used;
  return true;
}

// `wish`, or wish_0, wish_1, ... when that is taken.
static const char* unique_name(ir_printer_t* pr, counters_t* counters, const char* wish) {
  char buffer[128];
  snprintf(buffer, sizeof(buffer), "%s", wish);
  while (!claim(pr, buffer)) snprintf(buffer, sizeof(buffer), "%.100s_%u", wish, counters->conflict++);
  return pr->newest->text;
}

static void name_value(ir_printer_t* pr, counters_t* counters, const ir_value_t* value) {
  char hint[96];
  bool custom = !(pr->flags & IR_PRINT_GENERIC);
  if (custom && ir_value_hint(value, hint, sizeof(hint))) {
    set_name(pr, value, unique_name(pr, counters, hint), 0);
  } else if (value->block && value->block->parent && value->block->parent->first == value->block) {
    snprintf(hint, sizeof(hint), "arg%u", counters->arg++);
    set_name(pr, value, unique_name(pr, counters, hint), 0);
  } else {
    set_name(pr, value, NULL, counters->value++);
  }
}

// Several results are one name with numbers behind it, unless each has a hint of its own.
static void name_op_results(ir_printer_t* pr, counters_t* counters, ir_op_t* op) {
  char hint[96];
  if (!op->result_count) return;
  name_value(pr, counters, &op->results[0]);
  bool alone =
      !(pr->flags & IR_PRINT_GENERIC) && op->result_count > 1 && ir_value_hint(&op->results[0], hint, sizeof(hint));
  for (uint32_t i = 1; alone && i < op->result_count; ++i) name_value(pr, counters, &op->results[i]);
}

static void number_region(ir_printer_t* pr, const ir_region_t* region, counters_t counters) {
  used_name_t* mark = pr->newest;
  uint32_t label = 0;
  IR_FOR_BLOCKS(block, region) {
    set_name(pr, block, NULL, label++);
    for (uint32_t i = 0; i < block->arg_count; ++i) name_value(pr, &counters, block->args[i]);
    IR_FOR_OPS(op, block) name_op_results(pr, &counters, op);
  }
  IR_FOR_BLOCKS(block, region) {
    IR_FOR_OPS(op, block) {
      for (uint32_t i = 0; i < op->region_count; ++i) number_region(pr, &op->regions[i], counters);
    }
  }
  for (; pr->newest != mark; pr->newest = pr->newest->outer) pr->newest->gone = true;
}

// From the op around `op` that sees nothing from outside, so that names are those of the whole.
static void number_all(ir_printer_t* pr, ir_op_t* op) {
  while (!ir_has_trait(op, IR_TRAIT_ISOLATED) && ir_op_parent(op)) op = ir_op_parent(op);
  counters_t counters = {0};
  name_op_results(pr, &counters, op);
  for (uint32_t i = 0; i < op->region_count; ++i) number_region(pr, &op->regions[i], counters);
}

//===----------------------------------------------------------------------------------------------------------------===
// Pieces
//===----------------------------------------------------------------------------------------------------------------===

void ir_emit(ir_printer_t* pr, const char* text) { text_puts(pr->out, text); }
void ir_emitf(ir_printer_t* pr, const char* format, ...) {
  va_list args;
  va_start(args, format);
  text_vprintf(pr->out, format, args);
  va_end(args);
}
ir_context_t* ir_printer_context(const ir_printer_t* pr) { return pr->ctx; }
uint32_t ir_printer_flags(const ir_printer_t* pr) { return pr->flags; }

static void put_number(text_t* out, uint32_t number) {
  char buffer[12], *end = buffer + sizeof(buffer), *p = end;
  do {
    *--p = (char)('0' + number % 10);
  } while (number /= 10);
  text_append(out, p, (size_t)(end - p));
}

static void put_named(ir_printer_t* pr, const char* prefix, const void* key) {
  const named_t* name = get_name(pr, key);
  text_puts(pr->out, prefix);
  if (!name) {
    text_puts(pr->out, "<<UNKNOWN>>");
  } else if (name->text) {
    text_puts(pr->out, name->text);
  } else {
    put_number(pr->out, name->number);
  }
}

void ir_emit_op_name(ir_printer_t* pr, const ir_op_t* op) {
  static const char* const defaults[][2] = {{"func.func", "func."}, {"builtin.module", "builtin."}};
  const ir_op_t* parent = ir_op_parent(op);
  const char* name = op->name;
  for (int i = 0; i < 2 && parent; ++i) {
    size_t size = strlen(defaults[i][1]);
    if (strcmp(parent->name, defaults[i][0]) == 0 && strncmp(name, defaults[i][1], size) == 0) name += size;
  }
  ir_emit(pr, name);
}

// Whether results are one name, %0#1, rather than a name each.
static bool are_grouped(const ir_printer_t* pr, const ir_op_t* op) {
  return op->result_count > 1 && !get_name(pr, &op->results[1]);
}

void ir_emit_value(ir_printer_t* pr, const ir_value_t* value) {
  bool grouped = value->def && are_grouped(pr, value->def);
  put_named(pr, "%", grouped ? &value->def->results[0] : value);
  if (!grouped) return;
  text_puts(pr->out, "#");
  put_number(pr->out, value->index);
}

void ir_emit_operands(ir_printer_t* pr, const ir_op_t* op, uint32_t first, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (i) ir_emit(pr, ", ");
    ir_emit_value(pr, ir_operand(op, first + i));
  }
}
void ir_emit_type(ir_printer_t* pr, const ir_type_t* type) { ir_print_type(pr->out, type); }
void ir_emit_operand_types(ir_printer_t* pr, const ir_op_t* op, uint32_t first, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (i) ir_emit(pr, ", ");
    ir_emit_type(pr, ir_operand(op, first + i)->type);
  }
}
void ir_emit_result_types(ir_printer_t* pr, const ir_op_t* op) {
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (i) ir_emit(pr, ", ");
    ir_emit_type(pr, op->results[i].type);
  }
}

static void put_results(ir_printer_t* pr, const ir_op_t* op) {
  bool parens = op->result_count != 1 || op->results[0].type->kind == IR_TYPE_FUNCTION;
  if (parens) ir_emit(pr, "(");
  ir_emit_result_types(pr, op);
  if (parens) ir_emit(pr, ")");
}
void ir_emit_function_type(ir_printer_t* pr, const ir_op_t* op) {
  ir_emit(pr, "(");
  ir_emit_operand_types(pr, op, 0, op->operand_count);
  ir_emit(pr, ") -> ");
  put_results(pr, op);
}
void ir_emit_arrow_types(ir_printer_t* pr, const ir_op_t* op) {
  if (!op->result_count) return;
  ir_emit(pr, " -> ");
  put_results(pr, op);
}

// Written with the module's resources at the end, unless another one has the name.
static bool note_resource(ir_printer_t* pr, const ir_attr_t* attr) {
  if (pr->flags & IR_PRINT_NO_RESOURCES) return true;
  for (uint32_t i = 0; i < pr->resource_count; ++i) {
    if (pr->resources[i]->resource == attr->resource) {
      return pr->resources[i]->lazy == attr->lazy && pr->resources[i]->stored == attr->stored;
    }
  }
  if (pr->resource_count == pr->resource_capacity) {
    pr->resource_capacity = pr->resource_capacity ? pr->resource_capacity * 2 : 16;
    pr->resources = memory_resize(pr->resources, sizeof(*pr->resources) * pr->resource_capacity);
  }
  pr->resources[pr->resource_count++] = attr;
  return true;
}

static void put_elements(ir_printer_t* pr, const ir_attr_t* attr) {
  if ((pr->flags & IR_PRINT_ELIDE_LARGE) && !attr->splat && ir_type_count(attr->type) > pr->elide_above) {
    ir_emit(pr, "dense_resource<__elided__> : ");
    return ir_emit_type(pr, attr->type);
  }
  ir_attr_t plain = *attr;
  if (attr->resource && !note_resource(pr, attr)) plain.resource = NULL;
  ir_put_elements(pr->out, &plain, pr->flags & IR_PRINT_LIMITS ? pr->ctx->hex_above : IR_HEX_ABOVE);
}

static void put_attr(ir_printer_t* pr, const ir_attr_t* attr, ir_attr_form_t form);

static void put_items(ir_printer_t* pr, const ir_attr_t* attr) {
  ir_emit(pr, "[");
  for (uint32_t i = 0; i < attr->count; ++i) {
    if (i) ir_emit(pr, ", ");
    put_attr(pr, attr->items[i], IR_ATTR_IN_LIST);
  }
  ir_emit(pr, "]");
}

static void put_entry(ir_printer_t* pr, const ir_named_attr_t* entry) {
  ir_put_name(pr->out, entry->name);
  if (entry->value->kind == IR_ATTR_UNIT) return;
  ir_emit(pr, " = ");
  put_attr(pr, entry->value, IR_ATTR_TYPED);
}

// Containers are walked here so that element data inside is elided or noted as a resource.
static void put_attr(ir_printer_t* pr, const ir_attr_t* attr, ir_attr_form_t form) {
  if (attr->kind == IR_ATTR_ELEMENTS) return put_elements(pr, attr);
  if (attr->kind == IR_ATTR_ARRAY) return put_items(pr, attr);
  if (attr->kind != IR_ATTR_DICT) return ir_put_attr(pr->out, attr, form);
  ir_emit(pr, "{");
  for (uint32_t i = 0; i < attr->count; ++i) {
    if (i) ir_emit(pr, ", ");
    put_entry(pr, &attr->entries[i]);
  }
  ir_emit(pr, "}");
}

void ir_emit_attr(ir_printer_t* pr, const ir_attr_t* attr) { put_attr(pr, attr, IR_ATTR_TYPED); }
void ir_emit_attr_bare(ir_printer_t* pr, const ir_attr_t* attr) { put_attr(pr, attr, IR_ATTR_BARE); }
void ir_emit_symbol(ir_printer_t* pr, const char* name) { ir_put_symbol(pr->out, name); }

static bool is_elided(const char* const* elided, const char* name) {
  for (; elided && *elided; ++elided) {
    if (strcmp(*elided, name) == 0) return true;
  }
  return false;
}

static int compare_entries(const void* a, const void* b) {
  return strcmp(((const ir_named_attr_t*)a)->name, ((const ir_named_attr_t*)b)->name);
}

// Names without a dialect belong to the op itself; the others were added by someone.
static bool is_own(const char* name) { return !strchr(name, '.'); }

typedef enum { DICT_ALL, DICT_OWN, DICT_ADDED } dict_part_t;

// The op's attributes in order of name, between `before` and `after`; nothing when none is left.
static void put_dict(ir_printer_t* pr, const ir_op_t* op, const char* const* elided, dict_part_t part,
                     const char* const around[2]) {
  enum { FEW = 16 };
  if (!op->attr_count) return;
  ir_named_attr_t few[FEW], *entries = few;
  if (op->attr_count > FEW) entries = arena_alloc(&pr->scratch, sizeof(*entries) * op->attr_count);
  uint32_t count = 0;
  for (uint32_t i = 0; i < op->attr_count; ++i) {
    const char* name = op->attrs[i].name;
    if (is_elided(elided, name) || (part != DICT_ALL && is_own(name) != (part == DICT_OWN))) continue;
    entries[count++] = op->attrs[i];
  }
  if (!count) return;
  qsort(entries, count, sizeof(*entries), compare_entries);
  for (uint32_t i = 0; i < count; ++i) {
    ir_emit(pr, i ? ", " : around[0]);
    put_entry(pr, &entries[i]);
  }
  ir_emit(pr, around[1]);
}
static const char* const braces[] = {" {", "}"};
static const char* const keyword_braces[] = {" attributes {", "}"};
static const char* const property_braces[] = {" <{", "}>"};

void ir_emit_attr_dict(ir_printer_t* pr, const ir_op_t* op, const char* const* elided) {
  put_dict(pr, op, elided, DICT_ALL, braces);
}
void ir_emit_attr_dict_keyword(ir_printer_t* pr, const ir_op_t* op, const char* const* elided) {
  put_dict(pr, op, elided, DICT_ALL, keyword_braces);
}

void ir_emit_loc(ir_printer_t* pr, const ir_loc_t* loc) {
  if (!(pr->flags & IR_PRINT_LOCS)) return;
  ir_emit(pr, " ");
  ir_put_loc(pr->out, loc);
}

void ir_emit_newline(ir_printer_t* pr) {
  ir_emit(pr, "\n");
  text_indent(pr->out, pr->indent);
}

//===----------------------------------------------------------------------------------------------------------------===
// Blocks and regions
//===----------------------------------------------------------------------------------------------------------------===

void ir_emit_successor(ir_printer_t* pr, const ir_op_t* op, uint32_t index) {
  uint32_t first = op->operand_count, count = op->successor_operand_counts[index];
  for (uint32_t i = op->successor_count; i-- > index;) first -= op->successor_operand_counts[i];
  put_named(pr, "^bb", op->successors[index]);
  if (!count) return;
  ir_emit(pr, "(");
  ir_emit_operands(pr, op, first, count);
  ir_emit(pr, " : ");
  ir_emit_operand_types(pr, op, first, count);
  ir_emit(pr, ")");
}

static void put_label(ir_printer_t* pr, const ir_block_t* block) {
  pr->indent -= 2;
  ir_emit_newline(pr);
  pr->indent += 2;
  put_named(pr, "^bb", block);
  for (uint32_t i = 0; i < block->arg_count; ++i) {
    ir_emit(pr, i ? ", " : "(");
    ir_emit_value(pr, block->args[i]);
    ir_emit(pr, ": ");
    ir_emit_type(pr, block->args[i]->type);
  }
  ir_emit(pr, block->arg_count ? "):" : ":");
}

static void put_block(ir_printer_t* pr, const ir_block_t* block, uint32_t flags) {
  bool entry = block->parent->first == block;
  bool empty = !block->first && !block->next && entry && !ir_has_trait(block->parent->parent, IR_TRAIT_NO_TERMINATOR);
  if (!entry || ((flags & IR_REGION_ENTRY_ARGS) && block->arg_count) || empty) put_label(pr, block);
  IR_FOR_OPS(op, block) {
    bool last = op == block->last && (flags & IR_REGION_NO_TERMINATOR);
    if (last && ir_has_trait(op, IR_TRAIT_TERMINATOR)) break;
    ir_emit_newline(pr);
    ir_emit_op(pr, op);
  }
}

void ir_emit_region(ir_printer_t* pr, const ir_region_t* region, uint32_t flags) {
  ir_emit(pr, "{");
  pr->indent += 2;
  IR_FOR_BLOCKS(block, region) put_block(pr, block, flags);
  pr->indent -= 2;
  ir_emit_newline(pr);
  ir_emit(pr, "}");
}

//===----------------------------------------------------------------------------------------------------------------===
// Operations
//===----------------------------------------------------------------------------------------------------------------===

static uint32_t successor_operands(const ir_op_t* op) {
  uint32_t total = 0;
  for (uint32_t i = 0; i < op->successor_count; ++i) total += op->successor_operand_counts[i];
  return total;
}

// In the generic form attributes say which operands go to which successor.
static void put_segments(ir_printer_t* pr, const ir_op_t* op) {
  uint32_t total = successor_operands(op), first = op->successor_operand_counts[0];
  if (op->successor_count == 1 && total == op->operand_count) return;
  ir_emitf(pr, " <{operandSegmentSizes = array<i32: %u, %u, %u>", op->operand_count - total, first, total - first);
  if (op->successor_count > 2) {
    ir_emit(pr, ", case_operand_segments = array<i32");
    for (uint32_t i = 1; i < op->successor_count; ++i) {
      ir_emitf(pr, i == 1 ? ": %u" : ", %u", op->successor_operand_counts[i]);
    }
    ir_emit(pr, ">");
  }
  ir_emit(pr, "}>");
}

// Attributes of its own stand in front of the regions, those added behind them.
void ir_emit_generic(ir_printer_t* pr, ir_op_t* op) {
  ir_put_string(pr->out, op->name, strlen(op->name));
  ir_emit(pr, "(");
  ir_emit_operands(pr, op, 0, op->operand_count);
  ir_emit(pr, ")");
  for (uint32_t i = 0; i < op->successor_count; ++i) {
    ir_emit(pr, i ? ", " : "[");
    put_named(pr, "^bb", op->successors[i]);
  }
  if (op->successor_count) ir_emit(pr, "]");
  bool known = op->info->code != IR_CODE_UNREGISTERED, segments = known && op->successor_count;
  if (segments) put_segments(pr, op);
  if (known && !segments) put_dict(pr, op, NULL, DICT_OWN, property_braces);
  for (uint32_t i = 0; i < op->region_count; ++i) {
    ir_emit(pr, i ? ", " : " (");
    ir_emit_region(pr, &op->regions[i], IR_REGION_ENTRY_ARGS);
  }
  if (op->region_count) ir_emit(pr, ")");
  put_dict(pr, op, NULL, known && !segments ? DICT_ADDED : DICT_ALL, braces);
  ir_emit(pr, " : ");
  ir_emit_function_type(pr, op);
}

void ir_emit_op(ir_printer_t* pr, ir_op_t* op) {
  if (op->result_count) {
    bool grouped = are_grouped(pr, op);
    for (uint32_t i = 0; i < (grouped ? 1 : op->result_count); ++i) put_named(pr, i ? ", %" : "%", &op->results[i]);
    if (grouped) ir_emitf(pr, ":%u", op->result_count);
    ir_emit(pr, " = ");
  }
  if (op->info->print && !(pr->flags & IR_PRINT_GENERIC)) {
    op->info->print(pr, op);
  } else {
    ir_emit_generic(pr, op);
  }
  ir_emit_loc(pr, op->loc);
}

// Whether the text of so many bytes, with "0x" in front, is longer than that of a resource may be.
static bool is_too_long(const ir_printer_t* pr, size_t bytes) {
  int64_t most = pr->flags & IR_PRINT_LIMITS ? pr->ctx->resource_above : -1;
  return most >= 0 && 2 * (int64_t)bytes + 2 > most;
}

// {-# dialect_resources: {builtin: {name: "0x<alignment><data>"}} #-}
static void put_resources(ir_printer_t* pr) {
  bool any = false;
  for (uint32_t i = 0; i < pr->resource_count; ++i) {
    const ir_attr_t* attr = pr->resources[i];
    unsigned char alignment[4] = {(unsigned char)ir_type_bytes(ir_type_scalar(attr->type))};
    if (is_too_long(pr, sizeof(alignment) + attr->size)) continue;
    ir_emit(pr, any ? ",\n      " : "\n{-#\n  dialect_resources: {\n    builtin: {\n      ");
    any = true;
    ir_put_name(pr->out, attr->resource);
    ir_emit(pr, ": \"0x");
    ir_put_hex(pr->out, alignment, 4);
    ir_put_hex(pr->out, ir_attr_data(attr), attr->size);
    ir_emit(pr, "\"");
  }
  if (any) ir_emit(pr, "\n    }\n  }\n#-}");
}

void ir_print_op(ir_context_t* ctx, text_t* out, ir_op_t* op, uint32_t flags, int64_t elide_above) {
  ir_printer_t pr = {.ctx = ctx, .out = out, .flags = flags, .elide_above = elide_above};
  arena_init(&pr.scratch);
  number_all(&pr, op);
  ir_emit_op(&pr, op);
  put_resources(&pr);
  if (!op->parent) ir_emit(&pr, "\n");
  memory_free(pr.names);
  memory_free(pr.resources);
  ir_set_finish(&pr.used);
  arena_finish(&pr.scratch);
}
