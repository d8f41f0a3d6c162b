// Operations, generic and custom; blocks and regions; drafts, from which dialect hooks make their ops.

#include "base/memory.h"
#include "ir/near_op.h"
#include "ir/parse_state.h"

//===----------------------------------------------------------------------------------------------------------------===
// Drafts
//===----------------------------------------------------------------------------------------------------------------===

void ir_draft_init(ir_parser_t* p, ir_draft_t* op, const ir_op_info_t* info, const ir_loc_t* loc) {
  memset(op, 0, sizeof(*op));
  op->info = info;
  op->name = info ? info->name : NULL;
  op->loc = loc;
}

void ir_draft_value(ir_parser_t* p, ir_draft_t* op, ir_value_t* value) { ir_list_add_value(p, &op->operands, value); }
bool ir_draft_operand(ir_parser_t* p, ir_draft_t* op, const ir_ref_t* ref, const ir_type_t* type) {
  ir_value_t* value = ir_parse_resolve(p, ref, type);
  if (value) ir_draft_value(p, op, value);
  return value != NULL;
}

bool ir_draft_operands(ir_parser_t* p, ir_draft_t* op, const ir_ref_list_t* refs, const ir_type_list_t* types) {
  if (refs->count != types->count) {
    return ir_parse_fail(p, "number of operands and types do not match: got %u operands and %u types", refs->count,
                         types->count);
  }
  for (uint32_t i = 0; i < refs->count; ++i) {
    if (!ir_draft_operand(p, op, &refs->items[i], types->items[i])) return false;
  }
  return true;
}

void ir_draft_result(ir_parser_t* p, ir_draft_t* op, const ir_type_t* type) { ir_list_add_type(p, &op->results, type); }
void ir_draft_results(ir_parser_t* p, ir_draft_t* op, const ir_type_list_t* types) {
  for (uint32_t i = 0; i < types->count; ++i) ir_list_add_type(p, &op->results, types->items[i]);
}
void ir_draft_attr(ir_parser_t* p, ir_draft_t* op, const char* name, const ir_attr_t* value) {
  ir_list_add_named_attr(p, &op->attrs, ir_intern_cstr(p->ctx, name), value);
}
const ir_attr_t* ir_draft_find_attr(const ir_draft_t* op, const char* name) {
  for (uint32_t i = 0; i < op->attrs.count; ++i) {
    if (strcmp(op->attrs.items[i].name, name) == 0) return op->attrs.items[i].value;
  }
  return NULL;
}

ir_region_t* ir_draft_empty_region(ir_parser_t* p, ir_draft_t* op) {
  ir_region_t* region = ARENA_NEW(&p->scratch, ir_region_t);
  uint32_t count = op->region_count;
  if (count >= 8) {
    op->more_regions = ir_parse_grow(p, count == 8 ? op->regions : op->more_regions, count, sizeof(region));
  }
  if (op->more_regions) {
    op->more_regions[op->region_count++] = region;
  } else {
    op->regions[op->region_count++] = region;
  }
  return region;
}

bool ir_draft_region(ir_parser_t* p, ir_draft_t* op, const ir_ref_list_t* args, const ir_type_list_t* types) {
  ir_region_t* region = ir_draft_empty_region(p, op);
  if (!region) return false;
  const ir_op_info_t* enclosing = p->enclosing;
  ir_name_t enclosing_name = p->enclosing_name;
  p->enclosing = op->info;
  p->enclosing_name = op->name;
  bool isolated = op->info && (op->info->traits & IR_TRAIT_ISOLATED);
  if (isolated) ir_scope_push(p);
  bool ok = ir_parse_region_into(p, region, args, types);
  bool needs_block = op->info && (op->info->traits & IR_TRAIT_NO_TERMINATOR);
  if (ok && needs_block && !region->first) ir_region_append(region, ir_block_create(p->ctx));
  if (isolated) ok = ir_scope_pop(p) && ok;
  p->enclosing = enclosing;
  p->enclosing_name = enclosing_name;
  return ok;
}

static bool add_successor(ir_parser_t* p, ir_draft_t* op, ir_block_t* block, uint32_t operand_count) {
  uint32_t n = op->successor_count;
  op->successors = ir_parse_grow(p, op->successors, n, sizeof(block));
  op->successor_operand_counts = ir_parse_grow(p, op->successor_operand_counts, n, sizeof(operand_count));
  op->successors[n] = block;
  op->successor_operand_counts[n] = operand_count;
  op->successor_count = n + 1;
  return true;
}

static ir_entry_t* parse_block_name(ir_parser_t* p) {
  if (ir_peek(p, 0) != '^') return ir_parse_fail(p, "expected a block name (^name)"), NULL;
  uint32_t size = (uint32_t)ir_suffix_size(p, 1) + 1;
  if (size == 1) return ir_parse_fail(p, "expected a block name after '^'"), NULL;
  ir_entry_t* entry = ir_block_entry(p, p->cursor.at, size);
  ir_advance(p, size);
  return entry;
}

bool ir_draft_block(ir_parser_t* p, ir_draft_t* op) {
  ir_entry_t* entry = parse_block_name(p);
  return entry && add_successor(p, op, entry->block, 0);
}

bool ir_draft_successor(ir_parser_t* p, ir_draft_t* op) {
  ir_entry_t* entry = parse_block_name(p);
  ir_ref_list_t refs = {0};
  ir_type_list_t types = {0};
  if (!entry) return false;
  if (ir_take(p, '(') && !ir_take(p, ')')) {
    if (!ir_parse_refs(p, &refs) || !ir_parse_expect(p, ":") || !ir_parse_types(p, &types)) return false;
    if (!ir_take_expected(p, ')') || !ir_draft_operands(p, op, &refs, &types)) return false;
  }
  return add_successor(p, op, entry->block, refs.count);
}

// Moves the blocks of the regions read into the op's own.
static void adopt_regions(ir_draft_t* draft, ir_op_t* op) {
  ir_region_t** regions = draft->more_regions ? draft->more_regions : draft->regions;
  for (uint32_t i = 0; i < op->region_count; ++i) {
    op->regions[i].first = regions[i]->first;
    op->regions[i].last = regions[i]->last;
    IR_FOR_BLOCKS(block, &op->regions[i]) block->parent = &op->regions[i];
  }
}

static bool check_count(ir_parser_t* p, const ir_draft_t* op, int want, uint32_t have, const char* what) {
  if (want < 0 || (uint32_t)want == have) return true;
  if (!p->failed && !p->quiet) {
    ir_error(p->ctx, op->loc, "'%s' op takes %d %s%s, got %u", op->name, want, what, want == 1 ? "" : "s", have);
  }
  p->failed = true;
  return false;
}

// StableHLO's lists of numbers were element data once: dense<[1, 0]> : tensor<2xi64> is array<i64: 1, 0> now.
void ir_modernize_lists(ir_context_t* ctx, const char* op, ir_named_attr_t* attrs, uint32_t count) {
  if (strncmp(op, "stablehlo.", 10) != 0) return;
  for (uint32_t i = 0; i < count; ++i) {
    const ir_attr_t* attr = attrs[i].value;
    if (attr->kind != IR_ATTR_ELEMENTS || attr->type->rank != 1 || attr->resource) continue;
    const char* name = attrs[i].name;
    if (strcmp(name, "value") == 0 || strchr(name, '.') || attr->type->dims[0] > IR_PARSE_MAX_RANK) continue;
    const ir_type_t* element = attr->type->element;
    if (element != ir_type_int(ctx, 64) && element != ir_type_int(ctx, 1)) continue;
    uint32_t size = (uint32_t)attr->type->dims[0], bytes = ir_type_bytes(element);
    unsigned char data[IR_PARSE_MAX_RANK * 8];
    for (uint32_t k = 0; k < size; ++k) {
      ir_scalar_store_integer(element, ir_attr_element_integer(attr, k), data + k * bytes);
    }
    attrs[i].value = ir_attr_dense_array(ctx, element, data, size);
  }
}

ir_op_t* ir_draft_finish(ir_parser_t* p, ir_draft_t* op) {
  if (p->failed) return NULL;
  ir_modernize_lists(p->ctx, op->name, op->attrs.items, op->attrs.count);
  const ir_op_info_t* info = op->info;
  if (info && (!check_count(p, op, info->operands, op->operands.count, "operand") ||
               !check_count(p, op, info->results, op->results.count, "result") ||
               !check_count(p, op, info->regions, op->region_count, "region"))) {
    return NULL;
  }
  ir_op_state_t state = {
      .info = info,
      .name = op->name,
      .loc = op->loc,
      .operands = op->operands.items,
      .operand_count = op->operands.count,
      .result_types = op->results.items,
      .result_count = op->results.count,
      .attrs = op->attrs.items,
      .attr_count = op->attrs.count,
      .region_count = op->region_count,
      .successors = op->successors,
      .successor_operand_counts = op->successor_operand_counts,
      .successor_count = op->successor_count,
  };
  ir_op_t* result = ir_op_create(p->ctx, &state);
  adopt_regions(op, result);
  return result;
}

void ir_region_ensure_terminator(ir_context_t* ctx, ir_region_t* region, const char* name, const ir_loc_t* loc) {
  if (!region->first) ir_region_append(region, ir_block_create(ctx));
  IR_FOR_BLOCKS(block, region) {
    if (block->last && ir_has_trait(block->last, IR_TRAIT_TERMINATOR)) continue;
    if (block->last && block->last->info->code == IR_CODE_UNREGISTERED) continue;
    ir_op_state_t state = {.name = name, .loc = loc};
    ir_block_append(block, ir_op_create(ctx, &state));
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Generic form
//===----------------------------------------------------------------------------------------------------------------===

// "mhlo.add" is read as "stablehlo.add".
static const char* modern_name(ir_parser_t* p, const char* name) {
  return strncmp(name, "mhlo.", 5) == 0 ? arena_printf(&p->scratch, "stablehlo.%s", name + 5) : name;
}

static bool parse_generic_parts(ir_parser_t* p, ir_draft_t* op, ir_ref_list_t* refs) {
  if (!ir_take_expected(p, '(') || !ir_parse_refs(p, refs) || !ir_take_expected(p, ')')) return false;
  if (ir_take(p, '[')) {
    do {
      if (!ir_draft_successor(p, op)) return false;
    } while (ir_take(p, ','));
    if (!ir_take_expected(p, ']')) return false;
  }
  if (!ir_parse_properties(p, op)) return false;
  if (ir_take(p, '(')) {
    do {
      if (!ir_draft_region(p, op, NULL, NULL)) return false;
    } while (ir_take(p, ','));
    if (!ir_take_expected(p, ')')) return false;
  }
  return ir_parse_attr_dict(p, op) && ir_parse_expect(p, ":");
}

// Successor operands were appended while the list of operands waited for its types: those come first.
static bool resolve_generic(ir_parser_t* p, ir_draft_t* op, const ir_ref_list_t* refs, const ir_type_list_t* types) {
  ir_value_list_t successors = op->operands;
  if (op->operands.items == op->operands.inline_items) successors.items = successors.inline_items;
  memset(&op->operands, 0, sizeof(op->operands));
  if (!ir_draft_operands(p, op, refs, types)) return false;
  for (uint32_t i = 0; i < successors.count; ++i) ir_draft_value(p, op, successors.items[i]);
  return true;
}

// In the generic form the operands handed to successors are told apart by attributes, which the op does not keep.
void ir_split_successor_operands(ir_op_t* op) {
  int64_t segments[3] = {0};
  uint32_t n = op->successor_count, known = ir_op_ints(op, "operandSegmentSizes", segments, 3);
  if (!n || op->info->code == IR_CODE_UNREGISTERED || (n == 1 && known != 3)) {
    if (n == 1 && op->info->code != IR_CODE_UNREGISTERED) op->successor_operand_counts[0] = op->operand_count;
    return;
  }
  int64_t* cases = memory_array(n, sizeof(*cases));
  uint32_t given = ir_op_ints(op, "case_operand_segments", cases, n), total = 0;
  op->successor_operand_counts[0] = known == 3 ? (uint32_t)segments[1] : 0;
  if (!given && n == 2) cases[0] = segments[2];
  for (uint32_t i = 1; i < n; ++i) op->successor_operand_counts[i] = (uint32_t)cases[i - 1];
  for (uint32_t i = 0; i < n; ++i) {
    if (op->successor_operand_counts[i] > op->operand_count - total) op->successor_operand_counts[i] = 0;
    total += op->successor_operand_counts[i];
  }
  memory_free(cases);
  ir_op_remove_attr(op, "operandSegmentSizes");
  ir_op_remove_attr(op, "case_operand_segments");
}

static ir_op_t* parse_generic(ir_parser_t* p, const ir_loc_t* loc) {
  const char* name;
  size_t size;
  ir_draft_t op;
  ir_ref_list_t refs = {0};
  ir_type_list_t types = {0};
  if (!ir_parse_string(p, &name, &size)) return NULL;
  if (!size || strlen(name) != size) return ir_parse_fail(p, "expected an op name"), NULL;
  name = modern_name(p, name);
  ir_draft_init(p, &op, ir_context_find_op(p->ctx, name), loc);
  op.name = name;
  if (!parse_generic_parts(p, &op, &refs)) return NULL;
  if (!ir_parse_types_in_parens(p, &types) || !ir_parse_expect(p, "->") || !ir_parse_result_types(p, &op.results)) {
    return NULL;
  }
  ir_op_t* result = resolve_generic(p, &op, &refs, &types) ? ir_draft_finish(p, &op) : NULL;
  if (result && result->successor_count) ir_split_successor_operands(result);
  return result;
}

//===----------------------------------------------------------------------------------------------------------------===
// Custom form
//===----------------------------------------------------------------------------------------------------------------===

ir_name_t ir_parse_op_name(ir_parser_t* p) { return ir_intern(p->ctx, p->op_name, p->op_name_size); }

enum { MAX_OP_NAME = 200 };

static const ir_op_info_t* find_joined(ir_parser_t* p, const char* head, size_t head_size, const char* tail,
                                       size_t tail_size) {
  char buffer[2 * MAX_OP_NAME];
  if (head_size + tail_size >= sizeof(buffer)) return NULL;
  memcpy(buffer, head, head_size);
  memcpy(buffer + head_size, tail, tail_size);
  buffer[head_size + tail_size] = 0;
  return ir_context_find_op(p->ctx, buffer);
}

// The op that `name` means here: as it is (mhlo is stablehlo), or the row that reads a whole family ("torch.*");
// without prefix: of the dialect of the op around it, or of one of those that older texts leave out.
static const ir_op_info_t* find_op(ir_parser_t* p, const char* name, size_t size) {
  static const char* const implied[] = {"builtin.", "func.", "arith.", "cf.", "math.", "tensor.", "scf."};
  if (size > MAX_OP_NAME) return NULL;
  const char* dot = memchr(name, '.', size);
  if (dot) {
    size_t head = (size_t)(dot - name);
    bool mhlo = head == 4 && memcmp(name, "mhlo", 4) == 0;
    const ir_op_info_t* info =
        mhlo ? find_joined(p, "stablehlo", 9, dot, size - head) : find_joined(p, name, size, "", 0);
    return info ? info : find_joined(p, name, head, ".*", 2);
  }
  dot = p->enclosing_name ? strchr(p->enclosing_name, '.') : NULL;
  const ir_op_info_t* info = NULL;
  if (dot) info = find_joined(p, p->enclosing_name, (size_t)(dot + 1 - p->enclosing_name), name, size);
  for (size_t i = 0; !info && i < sizeof(implied) / sizeof(implied[0]); ++i) {
    info = find_joined(p, implied[i], strlen(implied[i]), name, size);
  }
  return info;
}

static ir_op_t* parse_custom(ir_parser_t* p, const ir_loc_t* loc) {
  size_t size = ir_word_size(p);
  const char* name = p->cursor.at;
  if (!size) return ir_parse_fail(p, "expected an operation"), NULL;
  const ir_op_info_t* info = find_op(p, name, size);
  int shown = (int)(size < 100 ? size : 100);
  if (!info) {
    const char* meant = ir_context_nearest_op(p->ctx, name, size);
    return ir_parse_fail(p, "custom op '%.*s' is unknown%s%s%s (unregistered ops are written \"%.*s\"(...))", shown,
                         name, meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "", shown, name),
           NULL;
  }
  if (!info->parse) {
    return ir_parse_fail(p, "op '%s' has no custom form: write \"%s\"(...)", info->name, info->name), NULL;
  }
  p->op_name = name;
  p->op_name_size = size;
  ir_advance(p, size);
  ir_op_t* op = info->parse(p, info, loc);
  if (!op && !p->failed) ir_parse_fail(p, "'%s' cannot be read here", info->name);
  return p->failed ? NULL : op;
}

//===----------------------------------------------------------------------------------------------------------------===
// Results and location around either form
//===----------------------------------------------------------------------------------------------------------------===

typedef struct result_name_t {
  ir_ref_t ref;
  uint32_t count;
} result_name_t;
typedef struct result_names_t {
  uint32_t count, capacity, total;
  result_name_t* items;
  result_name_t inline_items[4];
} result_names_t;

// %a, %b:2 =
static bool parse_result_names(ir_parser_t* p, result_names_t* names) {
  names->items = names->inline_items;
  names->capacity = 4;
  do {
    result_name_t name = {.count = 1};
    int64_t count = 1;
    if (!ir_parse_ref(p, &name.ref)) return false;
    if (ir_take(p, ':') && !ir_parse_integer(p, &count)) return false;
    if (count < 1 || count > IR_PARSE_MAX_RESULTS) return ir_parse_fail(p, "expected a number of results from 1");
    name.count = (uint32_t)count;
    if (names->count == names->capacity) {
      result_name_t* wider = ir_parse_scratch(p, sizeof(*wider) * names->capacity * 2);
      names->items = memcpy(wider, names->items, sizeof(*wider) * names->capacity);
      names->capacity *= 2;
    }
    names->items[names->count++] = name;
    if (names->total > IR_PARSE_MAX_RESULTS) return ir_parse_fail(p, "too many results");
    names->total += name.count;
  } while (ir_take(p, ','));
  return ir_parse_expect(p, "=");
}

static bool define_results(ir_parser_t* p, const result_names_t* names, ir_op_t* op) {
  if (!names->count) return true;
  if (names->total != op->result_count) {
    return ir_parse_fail_at(p, &names->items[0].ref, "operation defines %u results but was provided %u to bind",
                            op->result_count, names->total);
  }
  uint32_t first = 0;
  for (uint32_t i = 0; i < names->count; ++i) {
    if (!ir_define(p, &names->items[i].ref, &op->results[first], names->items[i].count)) return false;
    first += names->items[i].count;
  }
  return true;
}

// No other op is at the same place, so there is nothing to look up.
static const ir_loc_t* op_loc(ir_parser_t* p) {
  ir_loc_t* loc = ARENA_NEW(&p->ctx->arena, ir_loc_t);
  *loc = (ir_loc_t){.kind = IR_LOC_FILE, .line = p->cursor.line, .column = ir_column(p), .name = p->path};
  return loc;
}

ir_op_t* ir_parse_op(ir_parser_t* p) {
  result_names_t names;
  names.count = names.total = 0;
  if (ir_peek(p, 0) == '%' && !parse_result_names(p, &names)) return NULL;
  if (!ir_enter(p)) return NULL;
  const ir_loc_t* loc = op_loc(p);
  ir_op_t* op = ir_peek(p, 0) == '"' ? parse_generic(p, loc) : parse_custom(p, loc);
  ir_leave(p);
  if (!op || !ir_parse_optional_loc(p, &op->loc) || !define_results(p, &names, op)) return NULL;
  return op;
}

//===----------------------------------------------------------------------------------------------------------------===
// Blocks and regions
//===----------------------------------------------------------------------------------------------------------------===

static bool add_block_arg(ir_parser_t* p, ir_block_t* block, const ir_ref_t* ref, const ir_type_t* type) {
  return ir_define(p, ref, ir_block_add_arg(p->ctx, block, type), 1);
}

// (%a: t, %b: t)
static bool parse_block_args(ir_parser_t* p, ir_block_t* block) {
  if (!ir_take(p, '(')) return true;
  if (ir_take(p, ')')) return true;
  do {
    ir_ref_t ref;
    const ir_type_t* type;
    const ir_loc_t* ignored;
    if (!ir_parse_ref(p, &ref) || !ir_parse_expect(p, ":") || !(type = ir_parse_type(p))) return false;
    if (!ir_parse_optional_loc(p, &ignored) || !add_block_arg(p, block, &ref, type)) return false;
  } while (ir_take(p, ','));
  return ir_take_expected(p, ')');
}

// ^name(args):
static bool parse_label(ir_parser_t* p, ir_region_t* region) {
  uint32_t size = (uint32_t)ir_suffix_size(p, 1) + 1;
  if (size == 1) return ir_parse_fail(p, "expected a block name after '^'");
  ir_entry_t* entry = ir_block_entry(p, p->cursor.at, size);
  if (entry->defined) return ir_parse_fail(p, "redefinition of block '%.*s'", (int)size, p->cursor.at);
  entry->defined = true;
  ir_advance(p, size);
  ir_region_append(region, entry->block);
  return parse_block_args(p, entry->block) && ir_parse_expect(p, ":");
}

static bool parse_block_body(ir_parser_t* p, ir_block_t* block) {
  while (ir_peek(p, 0) != '}' && ir_peek(p, 0) != '^') {
    ir_op_t* op = ir_parse_op(p);
    if (!op) return false;
    ir_block_append(block, op);
  }
  return true;
}

static bool parse_blocks(ir_parser_t* p, ir_region_t* region, const ir_ref_list_t* args, const ir_type_list_t* types) {
  bool has_args = args && args->count;
  if (ir_peek(p, 0) != '^' && (ir_peek(p, 0) != '}' || has_args)) {
    ir_block_t* entry = ir_block_create(p->ctx);
    ir_region_append(region, entry);
    for (uint32_t i = 0; has_args && i < args->count; ++i) {
      if (!add_block_arg(p, entry, &args->items[i], types->items[i])) return false;
    }
    if (!parse_block_body(p, entry)) return false;
  } else if (has_args) {
    return ir_parse_fail(p, "the entry block has its arguments already");
  }
  for (uint32_t count = 0; ir_peek(p, 0) == '^'; ++count) {
    if (count == IR_PARSE_MAX_BLOCKS) {
      return ir_parse_fail(p, "a region has more than %d blocks", IR_PARSE_MAX_BLOCKS);
    }
    if (!parse_label(p, region) || !parse_block_body(p, region->last)) return false;
  }
  return true;
}

// Blocks that are named but have no label; forgets the names.
static bool close_blocks(ir_parser_t* p, ir_entry_t* outer) {
  for (ir_entry_t* entry = p->region_blocks; entry != outer; entry = entry->next_block) {
    if (!entry->defined) {
      ir_fail_where(p, entry->line, entry->column, "reference to an undefined block '%.*s'", (int)entry->size,
                    entry->name);
    }
    entry->block = NULL;
  }
  p->region_blocks = outer;
  return !p->failed;
}

bool ir_parse_region_into(ir_parser_t* p, ir_region_t* region, const ir_ref_list_t* args, const ir_type_list_t* types) {
  ir_scope_t* scope = p->scope;
  ir_entry_t *mark = scope->log, *outer = p->region_blocks;
  p->region_blocks = NULL;
  ++p->region_depth;
  bool ok = ir_take_expected(p, '{') && parse_blocks(p, region, args, types) && ir_take_expected(p, '}') &&
            close_blocks(p, NULL);
  --p->region_depth;
  p->region_blocks = outer;
  if (ok) ir_forget(p, mark);
  return ok;
}
