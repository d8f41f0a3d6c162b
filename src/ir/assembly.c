// Reads and writes ops by their format string (assembly.h says what the words mean). Each kind of word is one row of
// `directives`: how to read it, whether an op can be written with it, how to write it.
#include "ir/assembly.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/assembly_state.h"

typedef assembly_word_t word_t;

static bool next_word(const char** at, word_t* word) {
  while (**at == ' ') ++*at;
  word->text = *at;
  while (**at && **at != ' ') ++*at;
  word->size = (size_t)(*at - word->text);
  return word->size > 0;
}
// The argument of name(argument).
static void word_argument(word_t word, char* out, size_t size) {
  const char* open = memchr(word.text, '(', word.size);
  int length = open ? (int)(word.text + word.size - open - 2) : 0;
  snprintf(out, size, "%.*s", length, open ? open + 1 : "");
}

static const char* format_of(const ir_op_info_t* info) { return ((const ir_assembly_t*)info->extra)->format; }

//===----------------------------------------------------------------------------------------------------------------===
// Types that the text leaves out
//===----------------------------------------------------------------------------------------------------------------===

static bool has_suffix(const char* text, size_t size, const char* suffix) {
  size_t n = strlen(suffix);
  return size >= n && memcmp(text + size - n, suffix, n) == 0;
}

// TYPE of the format; NULL when what it refers to is not known.
static const ir_type_t* rule_type(const assembly_t* a, const char* text, size_t size) {
  if (size == 5 && memcmp(text, "index", 5) == 0) return ir_type_index(a->ctx);
  if (size == 4 && memcmp(text, "bool", 4) == 0) return ir_type_int(a->ctx, 1);
  if (size == 3 && memcmp(text, "i32", 3) == 0) return ir_type_int(a->ctx, 32);
  if (size == 3 && memcmp(text, "i64", 3) == 0) return ir_type_int(a->ctx, 64);
  if (text[0] == '!') {
    char name[64];
    snprintf(name, sizeof(name), "%.*s", (int)size - 1, text + 1);
    return ir_type_opaque(a->ctx, name, NULL);
  }
  uint32_t number = (uint32_t)(text[1] - '0');
  const ir_type_t* base = text[0] == 'T' ? assembly_operand_type(a, number) : assembly_result_type(a, number);
  if (!base) return NULL;
  if (has_suffix(text, size, ".i1")) return ir_type_with_element(a->ctx, base, ir_type_int(a->ctx, 1));
  if (!has_suffix(text, size, ".elem") && !has_suffix(text, size, ".real")) return base;
  const ir_type_t* element = base->kind == IR_TYPE_COMPLEX ? base : ir_type_scalar(base);
  if (!has_suffix(text, size, ".real"))
    return element == base && element->kind == IR_TYPE_COMPLEX ? element->element : element;
  return element->kind == IR_TYPE_COMPLEX ? ir_type_with_element(a->ctx, base, element->element) : NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Literals, operands, successors, regions
//===----------------------------------------------------------------------------------------------------------------===

static void literal_text(word_t word, char* out, size_t size) {
  bool quoted = word.text[0] == '\'';
  size_t length = word.size - (quoted ? 2 : 0);
  if (length >= size) length = size - 1;
  memcpy(out, word.text + quoted, length);
  out[length] = 0;
}
static bool read_literal(assembly_t* a, word_t word) {
  char text[48];
  literal_text(word, text, sizeof(text));
  return ir_parse_expect(a->p, text);
}
static void write_literal(assembly_t* a, word_t word) {
  char text[48];
  literal_text(word, text, sizeof(text));
  ir_emit(a->pr, text);
}
static bool fits_always(assembly_t* a, word_t word) { return true; }

static void add_segment(assembly_t* a, uint32_t count) {
  if (a->segment_count < ASSEMBLY_MAX_SEGMENTS) a->segments[a->segment_count++] = (int32_t)count;
}

static bool read_operand(assembly_t* a, word_t word) {
  ir_ref_t ref;
  if (!ir_parse_ref(a->p, &ref)) return false;
  ir_list_add_ref(a->p, &a->refs, &ref);
  ir_list_add_type(a->p, &a->ref_types, NULL);
  add_segment(a, 1);
  return true;
}
static void write_operand(assembly_t* a, word_t word) {
  ir_emit_value(a->pr, ir_operand(a->op, assembly_word_number(word)));
}
static bool fits_operand(assembly_t* a, word_t word) {
  a->next = assembly_word_number(word) + 1;
  add_segment(a, 1);
  return a->next <= a->op->operand_count;
}

static bool read_star(assembly_t* a, word_t word) {
  a->star = a->refs.count;
  if (!ir_parse_refs(a->p, &a->refs)) return false;
  while (a->ref_types.count < a->refs.count) ir_list_add_type(a->p, &a->ref_types, NULL);
  a->star_count = a->refs.count - a->star;
  add_segment(a, a->star_count);
  return true;
}
static bool fits_star(assembly_t* a, word_t word) {
  a->star = a->next;
  a->star_count = a->op->operand_count - a->next;
  a->next = a->op->operand_count;
  add_segment(a, a->star_count);
  return true;
}
static void write_star(assembly_t* a, word_t word) { ir_emit_operands(a->pr, a->op, a->star, a->star_count); }

// %+: one or more; none may be written `()`, so that a following line is not mistaken for operands.
static bool read_some(assembly_t* a, word_t word) {
  if (ir_parse_try(a->p, "(")) return ir_parse_expect(a->p, ")");
  if (!read_star(a, word)) return false;
  return a->star_count > 0 || ir_parse_fail(a->p, "expected an SSA operand (%%name) or ()");
}
static bool fits_some(assembly_t* a, word_t word) { return fits_star(a, word) && a->star_count > 0; }

static bool read_successor(assembly_t* a, word_t word) { return ir_draft_successor(a->p, &a->draft); }
static void write_successor(assembly_t* a, word_t word) { ir_emit_successor(a->pr, a->op, assembly_word_number(word)); }
static bool fits_successor(assembly_t* a, word_t word) {
  uint32_t i = assembly_word_number(word);
  if (i >= a->op->successor_count) return false;
  a->next += a->op->successor_operand_counts[i];
  return true;
}

static bool read_region(assembly_t* a, word_t word) { return ir_draft_region(a->p, &a->draft, NULL, NULL); }
static bool fits_region(assembly_t* a, word_t word) { return a->op->region_count == 1; }
static void write_region(assembly_t* a, word_t word) {
  bool hide = word.size > 6 && word.text[6] == '-';
  ir_block_t* last = a->op->regions[0].last;
  if (hide && (!last || !last->last || last->last->operand_count || last->last->attr_count)) hide = false;
  ir_emit_region(a->pr, &a->op->regions[0], IR_REGION_ENTRY_ARGS | (hide ? IR_REGION_NO_TERMINATOR : 0));
}

//===----------------------------------------------------------------------------------------------------------------===
// Mixed lists: [%a, 1, 2]
//===----------------------------------------------------------------------------------------------------------------===

static bool read_mixed(assembly_t* a, word_t word) {
  enum { MAX_MIXED = 64 };
  char name[64];
  int64_t values[MAX_MIXED];
  uint32_t count = 0, dynamic = 0;
  word_argument(word, name, sizeof(name));
  if (!ir_parse_expect(a->p, "[")) return false;
  while (!ir_parse_try(a->p, "]")) {
    ir_ref_t ref;
    if (count && !ir_parse_expect(a->p, ",")) return false;
    if (count == MAX_MIXED) return ir_parse_fail(a->p, "list is too long");
    if (ir_parse_try_ref(a->p, &ref)) {
      ir_list_add_ref(a->p, &a->refs, &ref);
      ir_list_add_type(a->p, &a->ref_types, NULL);
      values[count++] = IR_DYNAMIC;
      ++dynamic;
    } else if (!ir_parse_integer(a->p, &values[count++])) {
      return false;
    }
  }
  add_segment(a, dynamic);
  ir_draft_attr(a->p, &a->draft, name, ir_attr_i64_array(a->ctx, values, count));
  return true;
}

static const ir_attr_t* mixed_attr(assembly_t* a, word_t word) {
  char name[64];
  word_argument(word, name, sizeof(name));
  const ir_attr_t* attr = ir_op_attr(a->op, name);
  return attr && attr->kind == IR_ATTR_DENSE_ARRAY && attr->type == ir_type_int(a->ctx, 64) ? attr : NULL;
}
static bool fits_mixed(assembly_t* a, word_t word) {
  const ir_attr_t* attr = mixed_attr(a, word);
  if (!attr) return false;
  uint32_t dynamic = 0;
  for (uint32_t i = 0; i < attr->count; ++i) dynamic += ir_attr_element_integer(attr, i) == IR_DYNAMIC;
  a->next += dynamic;
  add_segment(a, dynamic);
  return a->next <= a->op->operand_count;
}
static void write_mixed(assembly_t* a, word_t word) {
  const ir_attr_t* attr = mixed_attr(a, word);
  ir_emit(a->pr, "[");
  for (uint32_t i = 0; i < attr->count; ++i) {
    int64_t value = ir_attr_element_integer(attr, i);
    if (i) ir_emit(a->pr, ", ");
    if (value == IR_DYNAMIC) {
      ir_emit_value(a->pr, ir_operand(a->op, a->next++));
    } else {
      ir_emitf(a->pr, "%lld", (long long)value);
    }
  }
  ir_emit(a->pr, "]");
}

static const char segments_name[] = "operandSegmentSizes";
static bool read_segments(assembly_t* a, word_t word) {
  const ir_attr_t* sizes = ir_attr_dense_array(a->ctx, ir_type_int(a->ctx, 32), a->segments, a->segment_count);
  ir_draft_attr(a->p, &a->draft, segments_name, sizes);
  return true;
}
static bool fits_segments(assembly_t* a, word_t word) {
  const ir_attr_t* attr = ir_op_attr(a->op, segments_name);
  if (!attr || attr->kind != IR_ATTR_DENSE_ARRAY || attr->count != a->segment_count) return false;
  for (uint32_t i = 0; i < attr->count; ++i) {
    if (ir_attr_element_integer(attr, i) != a->segments[i]) return false;
  }
  return attr->type == ir_type_int(a->ctx, 32);
}
static void write_nothing(assembly_t* a, word_t word) {}

//===----------------------------------------------------------------------------------------------------------------===
// Attributes
//===----------------------------------------------------------------------------------------------------------------===

static bool read_attr(assembly_t* a, word_t word) {
  assembly_attr_t spec;
  assembly_attr_split(word, &spec);
  return assembly_attr_read(a, &spec);
}
static void write_attr(assembly_t* a, word_t word) {
  assembly_attr_t spec;
  assembly_attr_split(word, &spec);
  assembly_attr_write(a, &spec);
}
static bool fits_attr(assembly_t* a, word_t word) {
  assembly_attr_t spec;
  assembly_attr_split(word, &spec);
  return assembly_attr_fits(a, &spec);
}

// fm: fastmath = #arith.fastmath<...>; ov: overflowFlags = #arith.overflow<...>
typedef struct flags_form_t {
  const char *keyword, *attr, *kind;
} flags_form_t;
static flags_form_t flags_form(word_t word) {
  if (word.text[0] == 'f') return (flags_form_t){"fastmath", "fastmath", "arith.fastmath"};
  return (flags_form_t){"overflow", "overflowFlags", "arith.overflow"};
}
static bool read_flags(assembly_t* a, word_t word) {
  flags_form_t form = flags_form(word);
  if (!ir_parse_try(a->p, form.keyword)) return true;
  const ir_attr_t* attr = ir_parse_dialect_attr(a->p, form.kind);
  if (attr) ir_draft_attr(a->p, &a->draft, form.attr, attr);
  return attr != NULL;
}
static bool fits_flags(assembly_t* a, word_t word) {
  flags_form_t form = flags_form(word);
  const ir_attr_t* attr = ir_op_attr(a->op, form.attr);
  return !attr ||
         (attr->kind == IR_ATTR_OPAQUE && strcmp(attr->text, form.kind) == 0 && attr->body && !ir_attr_own_type(attr));
}
static void write_flags(assembly_t* a, word_t word) {
  flags_form_t form = flags_form(word);
  const ir_attr_t* attr = ir_op_attr(a->op, form.attr);
  if (attr) ir_emitf(a->pr, " %s<%s>", form.keyword, attr->body);
}

// Names of the attributes that the format itself holds.
typedef struct held_t {
  char text[512];
  const char* names[32];
  size_t size;
  uint32_t count;
} held_t;

static void hold(held_t* held, const char* name) {
  size_t size = strlen(name) + 1;
  if (held->count + 1 >= 32 || held->size + size > sizeof(held->text)) return;
  held->names[held->count++] = memcpy(held->text + held->size, name, size);
  held->names[held->count] = NULL;
  held->size += size;
}

static void find_held(const char* format, held_t* held) {
  word_t word;
  memset(held, 0, sizeof(*held));
  while (next_word(&format, &word)) {
    if (word.text[0] == '$') {
      assembly_attr_t spec;
      assembly_attr_split(word, &spec);
      hold(held, spec.name);
    } else if (word.text[0] == 'M') {
      char name[64];
      word_argument(word, name, sizeof(name));
      hold(held, name);
    } else if (assembly_word_is(word, "SEG")) {
      hold(held, segments_name);
    } else if (assembly_word_is(word, "fm") || assembly_word_is(word, "ov")) {
      hold(held, flags_form(word).attr);
    }
  }
}

static bool read_dict(assembly_t* a, word_t word) {
  return word.size == 3 ? ir_parse_attr_dict_keyword(a->p, &a->draft) : ir_parse_attr_dict(a->p, &a->draft);
}
static void write_dict(assembly_t* a, word_t word) {
  held_t held;
  find_held(a->format, &held);
  if (word.size == 3) {
    ir_emit_attr_dict_keyword(a->pr, a->op, held.names);
  } else {
    ir_emit_attr_dict(a->pr, a->op, held.names);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Rules for types, applied when all words are read
//===----------------------------------------------------------------------------------------------------------------===

static bool read_later(assembly_t* a, word_t word) { return true; }

static bool apply_result_rule(assembly_t* a, word_t word) {
  if (a->results_given || a->same) return true;
  a->results_given = true;
  if (assembly_word_is(word, "=same")) {
    ir_draft_results(a->p, &a->draft, &a->ref_types);
    return true;
  }
  const ir_type_t* type = rule_type(a, word.text + 1, word.size - 1);
  if (!type) return ir_parse_fail(a->p, "the result type does not follow from the operands");
  int count = a->draft.info->results < 0 ? 1 : a->draft.info->results;
  for (int i = 0; i < count; ++i) ir_draft_result(a->p, &a->draft, type);
  return true;
}
static bool fits_result_rule(assembly_t* a, word_t word) {
  if (assembly_word_is(word, "=same")) {
    if (a->op->operand_count != a->op->result_count) return false;
    for (uint32_t i = 0; i < a->op->result_count; ++i) {
      if (assembly_operand_type(a, i) != assembly_result_type(a, i)) return false;
    }
    return true;
  }
  const ir_type_t* type = rule_type(a, word.text + 1, word.size - 1);
  for (uint32_t i = 0; i < a->op->result_count; ++i) {
    if (assembly_result_type(a, i) != type) return false;
  }
  return a->op->info->results >= 0 || a->op->result_count == 1;
}

// ~TYPE, or ~0:TYPE
static bool split_operand_rule(word_t word, uint32_t* operand, word_t* rule) {
  bool one = word.size > 2 && word.text[2] == ':';
  *operand = one ? assembly_word_number(word) : 0;
  *rule = (word_t){word.text + (one ? 3 : 1), word.size - (one ? 3 : 1)};
  return one;
}
// `tuple`: operand i is element i of the result.
static const ir_type_t* operand_rule_type(const assembly_t* a, word_t rule, uint32_t i) {
  if (!assembly_word_is(rule, "tuple")) return rule_type(a, rule.text, rule.size);
  const ir_type_t* tuple = assembly_result_type(a, 0);
  return tuple && tuple->kind == IR_TYPE_TUPLE && i < tuple->input_count ? tuple->inputs[i] : NULL;
}
static void apply_operand_rule(assembly_t* a, word_t word) {
  uint32_t only;
  word_t rule;
  bool one = split_operand_rule(word, &only, &rule);
  for (uint32_t i = 0; i < a->ref_types.count; ++i) {
    if ((one && i != only) || a->ref_types.items[i]) continue;
    a->ref_types.items[i] = operand_rule_type(a, rule, i);
  }
}

static bool gives_operand_type(const char* format, uint32_t i, const assembly_t* a) {
  word_t word, rule;
  uint32_t only;
  while (next_word(&format, &word)) {
    if (assembly_word_is(word, "T") || assembly_word_is(word, "FT") || assembly_word_is(word, "SAME")) return true;
    if (assembly_word_is(word, "SELECT") || assembly_word_is(word, "PRED")) return true;
    if (word.size == 2 && word.text[0] == 'T' && assembly_word_number(word) == i) return true;
    if (assembly_word_is(word, "O*") && i >= a->star && i < a->star + a->star_count) return true;
    if (word.text[0] == '~' && split_operand_rule(word, &only, &rule) && only == i) {
      return rule_type(a, rule.text, rule.size) == assembly_operand_type(a, i);
    }
  }
  return false;
}

static bool fits_operand_rule(assembly_t* a, word_t word) {
  uint32_t only;
  word_t rule;
  if (split_operand_rule(word, &only, &rule)) {
    return only >= a->op->operand_count || assembly_operand_type(a, only) == rule_type(a, rule.text, rule.size);
  }
  for (uint32_t i = 0; i < a->op->operand_count; ++i) {
    if (assembly_operand_type(a, i) != operand_rule_type(a, rule, i) && !gives_operand_type(a->format, i, a))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// The walk
//===----------------------------------------------------------------------------------------------------------------===

static const assembly_directive_t directives[] = {
    {ASSEMBLY_WORD("fm"), read_flags, fits_flags, write_flags, 'n'},
    {ASSEMBLY_WORD("ov"), read_flags, fits_flags, write_flags, 'n'},
    {ASSEMBLY_WORD("{}"), read_dict, fits_always, write_dict, 'n'},
    {ASSEMBLY_WORD("{k}"), read_dict, fits_always, write_dict, 'n'},
    {ASSEMBLY_WORD("SEG"), read_segments, fits_segments, write_nothing, 'n'},
    {ASSEMBLY_WORD("%#"), read_star, fits_star, write_star, 0},
    {ASSEMBLY_WORD("%+"), read_some, fits_some, write_star, 0},
    {ASSEMBLY_WORD("%*"), read_operand, fits_operand, write_operand, 0},
    {ASSEMBLY_WORD("$*"), read_attr, fits_attr, write_attr, 0},
    {ASSEMBLY_WORD("^*"), read_successor, fits_successor, write_successor, 0},
    {ASSEMBLY_WORD("M*"), read_mixed, fits_mixed, write_mixed, 'M'},
    {ASSEMBLY_WORD("region*"), read_region, fits_region, write_region, 0},
    {ASSEMBLY_WORD("~*"), read_later, fits_operand_rule, write_nothing, 'n'},
};
static const assembly_directive_t result_rule = {ASSEMBLY_WORD("=*"), read_later, fits_result_rule, write_nothing, 'n'};
static const assembly_directive_t literal = {ASSEMBLY_WORD(""), read_literal, fits_always, write_literal, 0};

static bool matches(const assembly_directive_t* row, word_t word) {
  size_t size = row->size;
  if (row->word[0] != word.text[0]) return false;
  if (row->word[size - 1] == '*') return word.size >= size - 1 && memcmp(word.text, row->word, size - 1) == 0;
  if (word.size != size) return false;
  for (size_t i = 1; i < size; ++i) {
    if (row->word[i] != word.text[i] && !(row->word[i] == '#' && word.text[i] == '*')) return false;
  }
  return true;
}

static const assembly_directive_t* directive_of(word_t word) {
  if (word.text[0] == '=' && word.size > 1) return &result_rule;
  if (word.text[0] == ',' || word.text[0] == ':' || word.text[0] == '\'') return &literal;
  for (size_t i = 0; i < sizeof(directives) / sizeof(directives[0]); ++i) {
    if (matches(&directives[i], word)) return &directives[i];
  }
  for (size_t i = 0; i < assembly_type_directive_count; ++i) {
    if (matches(&assembly_type_directives[i], word)) return &assembly_type_directives[i];
  }
  return &literal;
}

static const char* skip_group(const char* at) {
  word_t word;
  while (next_word(&at, &word) && !assembly_word_is(word, "?)")) {
  }
  return at;
}

// Whether the optional group that starts at `at` is there.
static bool group_present(assembly_t* a, const char* at) {
  word_t word;
  const char* scan = at;
  if (a->op) {
    while (next_word(&scan, &word) && !assembly_word_is(word, "?)")) {
      if (word.text[0] == '%') break;
      if (word.text[0] == 'M') return mixed_attr(a, word) != NULL;
      if (assembly_word_is(word, "O*")) return a->star_count > 0;
      assembly_attr_t spec;
      if (word.text[0] != '$') continue;
      assembly_attr_split(word, &spec);
      return ir_op_attr(a->op, spec.name) != NULL;
    }
    return a->next < a->op->operand_count;
  }
  next_word(&scan, &word);
  const assembly_directive_t* row = directive_of(word);
  if (row->read == read_star || row->read == read_operand || row->read == read_some) return ir_parse_next(a->p) == '%';
  if (row->read == read_attr) {
    assembly_attr_t spec;
    assembly_attr_split(word, &spec);
    return assembly_attr_peek(a, &spec);
  }
  char text[48];
  literal_text(word, text, sizeof(text));
  return ir_parse_peek(a->p, text);
}

static void put_space(assembly_t* a, const assembly_directive_t* row, word_t word) {
  static const char attached[] = ",)]>([<";
  char first = word.text[0];
  bool opened = first == '(' && a->last == '>';
  bool none = row->spacing == 'n' || a->last == '(' || (row == &literal && strchr(attached, first) && !opened) ||
              (row->spacing == 'M' && a->last != 'M' && word.text[1] != 'S');
  if (row->write == write_attr && memmem(word.text, word.size, ":unit(", 6)) {
    assembly_attr_t spec;
    assembly_attr_split(word, &spec);
    none |= !ir_op_attr(a->op, spec.name);
  }
  if (!none) ir_emit(a->pr, " ");
  bool opens = row == &literal && (first == '(' || first == '[' || first == '<');
  bool arrow = row == &literal && word.size == 2 && word.text[1] == '>';
  a->last = opens ? '(' : arrow ? '>' : row->spacing == 'M' ? 'M' : row->spacing == 'n' ? a->last : 0;
}

typedef enum { WALK_READ, WALK_FITS, WALK_WRITE } walk_t;

static bool walk(assembly_t* a, walk_t mode) {
  const char* at = a->format;
  word_t word;
  while (next_word(&at, &word)) {
    if (assembly_word_is(word, "?)")) continue;
    if (assembly_word_is(word, "(?")) {
      if (!group_present(a, at)) at = skip_group(at);
      continue;
    }
    const assembly_directive_t* row = directive_of(word);
    if (mode == WALK_READ) {
      if (!row->read(a, word)) return false;
    } else if (mode == WALK_FITS) {
      if (!row->fits(a, word)) return false;
    } else {
      bool counts = row->write == write_operand || row->write == write_star || row->write == write_successor;
      if (counts) row->fits(a, word);
      put_space(a, row, word);
      row->write(a, word);
    }
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Hooks
//===----------------------------------------------------------------------------------------------------------------===

static void apply_operand_rules(assembly_t* a) {
  const char* at = a->format;
  word_t word;
  while (next_word(&at, &word)) {
    if (word.text[0] == '~') apply_operand_rule(a, word);
  }
}

static bool finish_types(assembly_t* a) {
  for (uint32_t i = 0; a->same && i < a->ref_types.count; ++i) {
    if (!a->ref_types.items[i]) a->ref_types.items[i] = a->same;
  }
  apply_operand_rules(a);
  const char* at = a->format;
  word_t word;
  while (next_word(&at, &word)) {
    if (word.text[0] == '=' && word.size > 1 && !apply_result_rule(a, word)) return false;
  }
  int8_t results = a->draft.info->results;
  if (a->same && !a->draft.results.count) {
    for (int i = 0; i < (results < 0 ? 1 : results); ++i) ir_draft_result(a->p, &a->draft, a->same);
  }
  apply_operand_rules(a);
  for (uint32_t i = 0; i < a->ref_types.count; ++i) {
    if (!a->ref_types.items[i]) return ir_parse_fail_at(a->p, &a->refs.items[i], "the type of this operand is missing");
  }
  return true;
}

ir_op_t* ir_assembly_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  assembly_t a;
  memset(&a, 0, sizeof(a));
  a.ctx = ir_parse_context(p);
  a.format = format_of(info);
  a.p = p;
  ir_draft_init(p, &a.draft, info, loc);
  if (!walk(&a, WALK_READ) || !finish_types(&a)) return NULL;
  ir_value_list_t successors = a.draft.operands;  // in the text they come last, and so they do in the op
  if (a.draft.operands.items == a.draft.operands.inline_items) successors.items = successors.inline_items;
  memset(&a.draft.operands, 0, sizeof(a.draft.operands));
  if (!ir_draft_operands(p, &a.draft, &a.refs, &a.ref_types)) return NULL;
  for (uint32_t i = 0; i < successors.count; ++i) ir_draft_value(p, &a.draft, successors.items[i]);
  return ir_draft_finish(p, &a.draft);
}

static bool fits(assembly_t* a) {
  if (!walk(a, WALK_FITS)) return false;
  if (a->next != a->op->operand_count) return false;
  bool has_region = strstr(a->format, "region") != NULL;
  return has_region == (a->op->region_count > 0);
}

void ir_assembly_print(ir_printer_t* pr, ir_op_t* op) {
  assembly_t a;
  memset(&a, 0, sizeof(a));
  a.ctx = ir_printer_context(pr);
  a.format = format_of(op->info);
  a.op = op;
  if (!fits(&a)) return ir_emit_generic(pr, op);
  a.pr = pr;
  a.next = a.star = a.star_count = a.segment_count = 0;
  ir_emit_op_name(pr, op);
  walk(&a, WALK_WRITE);
}

// What the op's `=TYPE` stands for.
static const ir_type_t* inferred_type(ir_context_t* ctx, ir_op_t* op) {
  assembly_t a;
  word_t word;
  if (ir_has_trait(op, IR_TRAIT_SAME_TYPE)) return op->operand_count ? ir_operand(op, 0)->type : NULL;
  if (ir_has_trait(op, IR_TRAIT_CONSTANT)) {
    const ir_attr_t* value = ir_op_attr(op, "value");
    return value ? ir_attr_own_type(value) : NULL;
  }
  if (op->info->parse != ir_assembly_parse) return NULL;
  memset(&a, 0, sizeof(a));
  a.ctx = ctx;
  a.op = op;
  for (const char* at = format_of(op->info); next_word(&at, &word);) {
    if (word.text[0] == '=' && word.size > 1) return rule_type(&a, word.text + 1, word.size - 1);
  }
  return NULL;
}

bool ir_assembly_infer(ir_context_t* ctx, ir_op_t* op) {
  const ir_type_t* type = op->result_count ? inferred_type(ctx, op) : NULL;
  for (uint32_t i = 0; type && i < op->result_count; ++i) op->results[i].type = type;
  return type || !op->result_count;
}
