// The linalg dialect: table, checks, linalg.generic and the named ops; map, reduce, transpose, broadcast, pack and
// unpack are in linalg_move.c.
#include "dialects/linalg.h"

#include <string.h>

#include "dialects/linalg_hooks.h"
#include "dialects/table.h"

//===----------------------------------------------------------------------------------------------------------------===
// ins(%a, %b : t, t) outs(%c : t)
//===----------------------------------------------------------------------------------------------------------------===

static bool parse_group(ir_parser_t* p, const char* word, ir_ref_list_t* refs, ir_type_list_t* types) {
  if (!ir_parse_try(p, word)) return true;
  if (!ir_parse_expect(p, "(")) return false;
  if (ir_parse_try(p, ")")) return true;
  return ir_parse_refs(p, refs) && ir_parse_expect(p, ":") && ir_parse_types(p, types) && ir_parse_expect(p, ")");
}

bool linalg_io_parse(ir_parser_t* p, linalg_io_t* io) {
  return parse_group(p, "ins", &io->ins, &io->in_types) && parse_group(p, "outs", &io->outs, &io->out_types);
}
bool linalg_io_draft(ir_parser_t* p, ir_draft_t* op, const linalg_io_t* io) {
  return ir_draft_operands(p, op, &io->ins, &io->in_types) && ir_draft_operands(p, op, &io->outs, &io->out_types);
}

void linalg_segments(ir_parser_t* p, ir_draft_t* op, const linalg_io_t* io) {
  ir_context_t* ctx = ir_parse_context(p);
  int32_t sizes[2] = {(int32_t)io->ins.count, (int32_t)io->outs.count};
  ir_draft_attr(p, op, "operandSegmentSizes", ir_attr_dense_array(ctx, ir_type_int(ctx, 32), sizes, 2));
}

static void print_group(ir_printer_t* pr, const ir_op_t* op, const char* word, uint32_t first, uint32_t count) {
  if (!count) return;
  ir_emitf(pr, " %s(", word);
  ir_emit_operands(pr, op, first, count);
  ir_emit(pr, " : ");
  ir_emit_operand_types(pr, op, first, count);
  ir_emit(pr, ")");
}
void linalg_io_print(ir_printer_t* pr, const ir_op_t* op, uint32_t ins) {
  print_group(pr, op, "ins", 0, ins);
  print_group(pr, op, "outs", ins, op->operand_count - ins);
}

int64_t linalg_ins(const ir_op_t* op) {
  int64_t sizes[2] = {0};
  const ir_attr_t* attr = ir_op_attr(op, "operandSegmentSizes");
  if (!attr || attr->kind != IR_ATTR_DENSE_ARRAY || attr->type->width != 32) return -1;
  if (ir_attr_ints(attr, sizes, 2) != 2 || sizes[0] < 0 || sizes[1] < 0) return -1;
  return sizes[0] + sizes[1] == op->operand_count ? sizes[0] : -1;
}

//===----------------------------------------------------------------------------------------------------------------===
// linalg.generic {indexing_maps = ..., iterator_types = ...} ins(...) outs(...) [attrs = {...}] { ... } [-> types]
//===----------------------------------------------------------------------------------------------------------------===

static const char* const trait_names[] = {"indexing_maps", "iterator_types", "doc", "library_call"};
enum { TRAIT_COUNT = 4 };

static bool add_dict(ir_parser_t* p, ir_draft_t* op) {
  const ir_attr_t* dict = ir_parse_attr(p, NULL);
  if (!dict) return false;
  if (dict->kind != IR_ATTR_DICT) return ir_parse_fail(p, "expected a dictionary {...}");
  for (uint32_t i = 0; i < dict->count; ++i) ir_draft_attr(p, op, dict->entries[i].name, dict->entries[i].value);
  return true;
}

ir_op_t* linalg_generic_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  linalg_io_t io;
  memset(&io, 0, sizeof(io));
  ir_draft_init(p, &op, info, loc);
  if (!add_dict(p, &op) || !linalg_io_parse(p, &io)) return NULL;
  if (ir_parse_try(p, "attrs") && (!ir_parse_expect(p, "=") || !add_dict(p, &op))) return NULL;
  linalg_segments(p, &op, &io);
  if (!linalg_io_draft(p, &op, &io) || !ir_draft_region(p, &op, NULL, NULL)) return NULL;
  if (ir_parse_try(p, "->") && !ir_parse_result_types(p, &op.results)) return NULL;
  return ir_draft_finish(p, &op);
}

static bool is_trait(const char* name) {
  for (int i = 0; i < TRAIT_COUNT; ++i) {
    if (strcmp(trait_names[i], name) == 0) return true;
  }
  return false;
}

void linalg_generic_print(ir_printer_t* pr, ir_op_t* op) {
  int64_t ins = linalg_ins(op);
  if (ins < 0) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  bool first = true, others = false;
  ir_emit(pr, " {");
  for (int i = 0; i < TRAIT_COUNT; ++i) {
    const ir_attr_t* attr = ir_op_attr(op, trait_names[i]);
    if (!attr) continue;
    ir_emitf(pr, first ? "%s" : ", %s", trait_names[i]);
    first = false;
    if (attr->kind == IR_ATTR_UNIT) continue;
    ir_emit(pr, " = ");
    ir_emit_attr(pr, attr);
  }
  ir_emit(pr, "}");
  linalg_io_print(pr, op, (uint32_t)ins);
  for (uint32_t i = 0; i < op->attr_count; ++i) {
    others |= !is_trait(op->attrs[i].name) && strcmp(op->attrs[i].name, "operandSegmentSizes") != 0;
  }
  if (others) {
    static const char* const held[] = {"indexing_maps", "iterator_types",      "doc",
                                       "library_call",  "operandSegmentSizes", NULL};
    ir_emit(pr, " attrs =");
    ir_emit_attr_dict(pr, op, held);
  }
  ir_emit(pr, " ");
  ir_emit_region(pr, &op->regions[0], IR_REGION_ENTRY_ARGS);
  ir_emit_arrow_types(pr, op);
}

//===----------------------------------------------------------------------------------------------------------------===
// linalg.matmul [indexing_maps = [...]] {attrs} ins(...) outs(...) [-> types]; linalg.elementwise <add> ...
//===----------------------------------------------------------------------------------------------------------------===

// Attributes in front: indexing_maps = [...], kind = #..., <kind>
static bool parse_leading(ir_parser_t* p, ir_draft_t* op) {
  if (ir_parse_next(p) == '<') {
    if (op->info->code != LINALG_ELEMENTWISE) return ir_parse_properties(p, op);
    const ir_attr_t* kind = ir_parse_dialect_attr(p, "linalg.elementwise_kind");
    if (!kind) return false;
    ir_draft_attr(p, op, "kind", kind);
  }
  static const char* const names[] = {"kind", "indexing_maps"};
  for (int i = 0; i < 2;) {
    if (!ir_parse_try(p, names[i])) {
      ++i;
      continue;
    }
    const ir_attr_t* value = ir_parse_expect(p, "=") ? ir_parse_attr(p, NULL) : NULL;
    if (!value) return false;
    ir_draft_attr(p, op, names[i], value);
    ir_parse_try(p, ",");
  }
  return true;
}

ir_op_t* linalg_named_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  linalg_io_t io;
  memset(&io, 0, sizeof(io));
  ir_draft_init(p, &op, info, loc);
  if (!parse_leading(p, &op) || !ir_parse_attr_dict(p, &op) || !linalg_io_parse(p, &io) ||
      !ir_parse_attr_dict(p, &op)) {
    return NULL;
  }
  if (!ir_draft_find_attr(&op, "operandSegmentSizes")) linalg_segments(p, &op, &io);
  if (!linalg_io_draft(p, &op, &io)) return NULL;
  if (ir_parse_try(p, "->") && !ir_parse_result_types(p, &op.results)) return NULL;
  return ir_draft_finish(p, &op);
}

void linalg_named_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"operandSegmentSizes", "indexing_maps", "kind", NULL};
  int64_t ins = linalg_ins(op);
  const ir_attr_t *maps = ir_op_attr(op, "indexing_maps"), *kind = ir_op_attr(op, "kind");
  bool elementwise = ir_is(op, LINALG_ELEMENTWISE);
  bool short_kind = kind && kind->kind == IR_ATTR_OPAQUE && !strcmp(kind->text, "linalg.elementwise_kind") &&
                    kind->body && !ir_attr_own_type(kind);
  if (kind && !short_kind) ins = -1;
  if (ins < 0 || op->region_count || (kind && !elementwise)) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  if (kind) ir_emitf(pr, " <%s>", kind->body);
  if (maps) {
    ir_emit(pr, " indexing_maps = ");
    ir_emit_attr(pr, maps);
  }
  ir_emit_attr_dict(pr, op, held);
  linalg_io_print(pr, op, (uint32_t)ins);
  ir_emit_arrow_types(pr, op);
}

//===----------------------------------------------------------------------------------------------------------------===
// Checks
//===----------------------------------------------------------------------------------------------------------------===

static bool linalg_verify_named(ir_context_t* ctx, ir_op_t* op) {
  int64_t ins = linalg_ins(op);
  if (ins < 0) return ir_op_error(ctx, op, "needs attribute 'operandSegmentSizes' with the number of ins and outs");
  uint32_t outs = op->operand_count - (uint32_t)ins, tensors = 0;
  for (uint32_t i = (uint32_t)ins; i < op->operand_count; ++i) {
    tensors += ir_operand(op, i)->type->kind == IR_TYPE_TENSOR;
  }
  if (!outs) return ir_op_error(ctx, op, "needs at least one outs operand");
  if (tensors == op->result_count) return true;
  return ir_op_error(ctx, op, "expected the number of results (%u) to be equal to the number of output tensors (%u)",
                     op->result_count, tensors);
}

static bool verify_map(ir_context_t* ctx, ir_op_t* op, uint32_t i, const ir_attr_t* map, uint32_t loops) {
  if (map->kind != IR_ATTR_AFFINE_MAP) return ir_op_error(ctx, op, "indexing_maps[%u] is no affine map", i);
  if (map->map->dim_count != loops || map->map->symbol_count) {
    return ir_op_error(ctx, op, "expected indexing_map #%u to have %u dim(s) to match the number of loops", i, loops);
  }
  const ir_type_t* type = ir_operand(op, i)->type;
  uint32_t rank = ir_type_is_shaped(type) && type->rank >= 0 ? (uint32_t)type->rank : 0;
  if (map->map->result_count == rank) return true;
  return ir_op_error(ctx, op, "expected operand rank (%u) to match the result rank of indexing_map #%u (%u)", rank, i,
                     map->map->result_count);
}

static bool linalg_verify_generic(ir_context_t* ctx, ir_op_t* op) {
  const ir_attr_t *maps = ir_op_attr(op, "indexing_maps"), *iterators = ir_op_attr(op, "iterator_types");
  if (!linalg_verify_named(ctx, op)) return false;
  if (!maps || maps->kind != IR_ATTR_ARRAY || maps->count != op->operand_count) {
    return ir_op_error(ctx, op, "needs 'indexing_maps', one affine map for each of its %u operands", op->operand_count);
  }
  if (!iterators || iterators->kind != IR_ATTR_ARRAY) {
    return ir_op_error(ctx, op, "needs 'iterator_types', one \"parallel\" or \"reduction\" for each loop");
  }
  for (uint32_t i = 0; i < maps->count; ++i) {
    if (!verify_map(ctx, op, i, maps->items[i], iterators->count)) return false;
  }
  const ir_block_t* body = op->regions[0].first;
  if (!body || body->arg_count != op->operand_count) {
    return ir_op_error(ctx, op, "expected as many block arguments as operands (%u)", op->operand_count);
  }
  return true;
}

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"linalg." #name, LINALG_##ENUM, __VA_ARGS__},
#include "dialects/linalg.def"
#undef OP
};
TABLE_DIALECT(linalg_dialect, IR_DIALECT_LINALG, "linalg", ops);
