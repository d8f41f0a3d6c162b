// Assembly of linalg.map, reduce, transpose, broadcast, pack and unpack.
#include <string.h>

#include "dialects/linalg.h"
#include "dialects/linalg_hooks.h"

//===----------------------------------------------------------------------------------------------------------------===
// linalg.map { arith.addf {attrs} } ins(...) outs(...)         the region is that one op
// linalg.map ins(...) outs(...) (%a: t, %b: t, %o: t) { ... }
// linalg.reduce likewise, with `dimensions = [...]` behind outs and the accumulator as the op's first operand
//===----------------------------------------------------------------------------------------------------------------===

typedef struct payload_t {
  ir_name_t name;
  ir_draft_t op;  // its attributes
} payload_t;

static bool parse_payload(ir_parser_t* p, payload_t* payload) {
  payload->name = ir_parse_keyword(p, "an op name");
  if (!payload->name || !ir_parse_attr_dict(p, &payload->op) || !ir_parse_expect(p, "}")) return false;
  if (ir_context_find_op(ir_parse_context(p), payload->name)) return true;
  return ir_parse_fail(p, "op '%s' is unknown", payload->name);
}

// %in..., %out... as scalars; the op takes the ins, or accumulator then ins; its result is yielded.
static void build_body(ir_parser_t* p, ir_draft_t* op, const payload_t* payload, const linalg_io_t* io) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_block_t* block = ir_block_create(ctx);
  ir_region_append(ir_draft_empty_region(p, op), block);
  uint32_t ins = io->ins.count, outs = io->outs.count, count = 0;
  for (uint32_t i = 0; i < ins; ++i) ir_block_add_arg(ctx, block, ir_type_scalar(io->in_types.items[i]));
  for (uint32_t i = 0; i < outs; ++i) ir_block_add_arg(ctx, block, ir_type_scalar(io->out_types.items[i]));
  ir_value_t** operands = ir_parse_scratch(p, sizeof(*operands) * (ins + outs + 1));
  bool reduces = op->info->code == LINALG_REDUCE;
  for (uint32_t i = 0; reduces && i < outs; ++i) operands[count++] = block->args[ins + i];
  for (uint32_t i = 0; i < ins; ++i) operands[count++] = block->args[i];
  const ir_type_t* type = outs ? ir_type_scalar(io->out_types.items[0]) : ir_type_index(ctx);
  ir_op_state_t inner = {.name = payload->name,
                         .loc = op->loc,
                         .operands = operands,
                         .operand_count = count,
                         .result_types = &type,
                         .result_count = 1,
                         .attrs = payload->op.attrs.items,
                         .attr_count = payload->op.attrs.count};
  ir_op_t* made = ir_op_create(ctx, &inner);
  ir_block_append(block, made);
  ir_value_t* result = ir_result(made, 0);
  ir_op_state_t yield = {.name = "linalg.yield", .loc = op->loc, .operands = &result, .operand_count = 1};
  ir_block_append(block, ir_op_create(ctx, &yield));
}

// (%a: t, ...) { ... }
static bool parse_body(ir_parser_t* p, ir_draft_t* op) {
  ir_ref_list_t refs = {0};
  ir_type_list_t types = {0};
  if (!ir_parse_expect(p, "(")) return false;
  while (!ir_parse_try(p, ")")) {
    ir_ref_t ref;
    const ir_loc_t* ignored;
    if (refs.count && !ir_parse_expect(p, ",")) return false;
    if (!ir_parse_ref(p, &ref) || !ir_parse_expect(p, ":")) return false;
    const ir_type_t* type = ir_parse_type(p);
    if (!type || !ir_parse_optional_loc(p, &ignored)) return false;
    ir_list_add_ref(p, &refs, &ref);
    ir_list_add_type(p, &types, type);
  }
  return ir_draft_region(p, op, &refs, &types);
}

static void add_tensor_results(ir_parser_t* p, ir_draft_t* op, const linalg_io_t* io) {
  for (uint32_t i = 0; i < io->out_types.count; ++i) {
    if (io->out_types.items[i]->kind == IR_TYPE_TENSOR) ir_draft_result(p, op, io->out_types.items[i]);
  }
}

// name = [1, 2] as array<i64>
static bool parse_list_attr(ir_parser_t* p, ir_draft_t* op, const char* name) {
  int64_t* values;
  uint32_t count;
  if (!ir_parse_expect(p, name) || !ir_parse_expect(p, "=") || !ir_parse_int_list(p, &values, &count)) return false;
  ir_draft_attr(p, op, name, ir_attr_i64_array(ir_parse_context(p), values, count));
  return true;
}

ir_op_t* linalg_map_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  linalg_io_t io;
  payload_t payload;
  memset(&io, 0, sizeof(io));
  memset(&payload, 0, sizeof(payload));
  ir_draft_init(p, &op, info, loc);
  bool brief = ir_parse_try(p, "{");
  if (brief && !parse_payload(p, &payload)) return NULL;
  if (!linalg_io_parse(p, &io) || !linalg_io_draft(p, &op, &io)) return NULL;
  if (info->code == LINALG_REDUCE && !parse_list_attr(p, &op, "dimensions")) return NULL;
  if (!ir_parse_attr_dict(p, &op)) return NULL;
  if (brief) {
    build_body(p, &op, &payload, &io);
  } else if (!parse_body(p, &op)) {
    return NULL;
  }
  add_tensor_results(p, &op, &io);
  return ir_draft_finish(p, &op);
}

// How many operands are ins: a map has one out; a reduce as many outs as ins.
static uint32_t ins_of(const ir_op_t* op) {
  if (ir_is(op, LINALG_REDUCE)) return op->operand_count / 2;
  return op->operand_count ? op->operand_count - 1 : 0;
}

static bool map_fits(const ir_op_t* op) {
  const ir_block_t* body = op->regions[0].first;
  uint32_t ins = ins_of(op), tensors = 0;
  if (!body || body->next || !body->first || op->operand_count == ins) return false;
  if (ir_is(op, LINALG_REDUCE) && op->operand_count % 2) return false;
  for (uint32_t i = ins; i < op->operand_count; ++i) {
    if (ir_operand(op, i)->type->kind != IR_TYPE_TENSOR) continue;
    if (tensors >= op->result_count || op->results[tensors++].type != ir_operand(op, i)->type) return false;
  }
  if (tensors != op->result_count) return false;
  const ir_attr_t* dims = ir_op_attr(op, "dimensions");
  return !ir_is(op, LINALG_REDUCE) || (dims && dims->kind == IR_ATTR_DENSE_ARRAY && dims->type->width == 64);
}

// The one op that the region is, or NULL.
static const ir_op_t* payload_of(const ir_op_t* op) {
  const ir_block_t* body = op->regions[0].first;
  const ir_op_t *inner = body->first, *yield = body->last;
  uint32_t ins = ins_of(op), outs = op->operand_count - ins, first = ir_is(op, LINALG_REDUCE) ? outs : 0;
  if (inner->next != yield || yield->info->code != LINALG_YIELD || yield->operand_count != 1 || yield->attr_count) {
    return NULL;
  }
  if (inner->result_count != 1 || ir_operand(yield, 0) != &inner->results[0] || inner->region_count ||
      inner->operand_count != first + ins || body->arg_count != op->operand_count || outs != 1 ||
      inner->info->code == IR_CODE_UNREGISTERED) {
    return NULL;
  }
  if (inner->results[0].type != ir_type_scalar(ir_operand(op, ins)->type)) return NULL;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (body->args[i]->type != ir_type_scalar(ir_operand(op, i)->type)) return NULL;
  }
  for (uint32_t i = 0; i < inner->operand_count; ++i) {
    if (ir_operand(inner, i) != body->args[i < first ? ins + i : i - first]) return NULL;
  }
  return inner;
}

static void print_list_attr(ir_printer_t* pr, const ir_op_t* op, const char* name) {
  const ir_attr_t* attr = ir_op_attr(op, name);
  ir_emitf(pr, " %s = [", name);
  for (uint32_t i = 0; i < attr->count; ++i) {
    ir_emitf(pr, i ? ", %lld" : "%lld", (long long)ir_attr_element_integer(attr, i));
  }
  ir_emit(pr, "]");
}

void linalg_map_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"dimensions", NULL};
  bool reduces = ir_is(op, LINALG_REDUCE);
  if (!map_fits(op)) return ir_emit_generic(pr, op);
  const ir_op_t* payload = (ir_printer_flags(pr) & IR_PRINT_LOCS) ? NULL : payload_of(op);
  ir_emit_op_name(pr, op);
  if (payload) {
    ir_emitf(pr, " { %s", payload->name);
    ir_emit_attr_dict(pr, payload, NULL);
    ir_emit(pr, " }");
  }
  linalg_io_print(pr, op, ins_of(op));
  if (reduces) print_list_attr(pr, op, "dimensions");
  ir_emit_attr_dict(pr, op, reduces ? held : NULL);
  if (payload) return;
  const ir_block_t* body = op->regions[0].first;
  ir_emit_newline(pr);
  ir_emit(pr, "  (");
  for (uint32_t i = 0; i < body->arg_count; ++i) {
    if (i) ir_emit(pr, ", ");
    ir_emit_value(pr, body->args[i]);
    ir_emit(pr, ": ");
    ir_emit_type(pr, body->args[i]->type);
  }
  ir_emit(pr, ") ");
  ir_emit_region(pr, &op->regions[0], 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// linalg.transpose ins(%a : t) outs(%b : t) permutation = [1, 0]; linalg.broadcast ... dimensions = [1]
//===----------------------------------------------------------------------------------------------------------------===

static const char* list_name(uint32_t code) { return code == LINALG_TRANSPOSE ? "permutation" : "dimensions"; }

ir_op_t* linalg_move_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  linalg_io_t io;
  memset(&io, 0, sizeof(io));
  ir_draft_init(p, &op, info, loc);
  if (!linalg_io_parse(p, &io) || !parse_list_attr(p, &op, list_name(info->code)) || !ir_parse_attr_dict(p, &op) ||
      !linalg_io_draft(p, &op, &io)) {
    return NULL;
  }
  add_tensor_results(p, &op, &io);
  return ir_draft_finish(p, &op);
}

void linalg_move_print(ir_printer_t* pr, ir_op_t* op) {
  const char* held[] = {list_name(op->info->code), NULL};
  const ir_attr_t* list = ir_op_attr(op, held[0]);
  bool tensor = op->operand_count == 2 && ir_operand(op, 1)->type->kind == IR_TYPE_TENSOR;
  bool fits = op->operand_count == 2 && !op->region_count && op->result_count == tensor && list &&
              list->kind == IR_ATTR_DENSE_ARRAY && list->type->width == 64 &&
              (!tensor || op->results[0].type == ir_operand(op, 1)->type);
  if (!fits) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  linalg_io_print(pr, op, 1);
  print_list_attr(pr, op, held[0]);
  ir_emit_attr_dict(pr, op, held);
}

//===----------------------------------------------------------------------------------------------------------------===
// linalg.pack %x [padding_value(%v : t)] [outer_dims_perm = [..]] inner_dims_pos = [..] inner_tiles = [%a, 4]
//     into %dest {attrs} : t -> t; linalg.unpack without the padding
//===----------------------------------------------------------------------------------------------------------------===

enum { MAX_TILES = 64 };

typedef struct pack_t {
  ir_ref_t source, dest, padding;
  const ir_type_t* padding_type;
  ir_ref_list_t tiles;
  int64_t values[MAX_TILES];
  uint32_t count;
} pack_t;

static bool parse_tiles(ir_parser_t* p, pack_t* pack) {
  if (!ir_parse_expect(p, "inner_tiles") || !ir_parse_expect(p, "=") || !ir_parse_expect(p, "[")) return false;
  while (!ir_parse_try(p, "]")) {
    ir_ref_t ref;
    if (pack->count && !ir_parse_expect(p, ",")) return false;
    if (pack->count == MAX_TILES) return ir_parse_fail(p, "more than %d tiles", MAX_TILES);
    if (ir_parse_try_ref(p, &ref)) {
      ir_list_add_ref(p, &pack->tiles, &ref);
      pack->values[pack->count++] = IR_DYNAMIC;
    } else if (!ir_parse_integer(p, &pack->values[pack->count++])) {
      return false;
    }
  }
  return true;
}

static bool parse_pack(ir_parser_t* p, ir_draft_t* op, pack_t* pack) {
  if (!ir_parse_ref(p, &pack->source)) return false;
  if (op->info->code == LINALG_PACK && ir_parse_try(p, "padding_value")) {
    if (!ir_parse_expect(p, "(") || !ir_parse_ref(p, &pack->padding) || !ir_parse_expect(p, ":") ||
        !(pack->padding_type = ir_parse_type(p)) || !ir_parse_expect(p, ")")) {
      return false;
    }
  }
  if (ir_parse_peek(p, "outer_dims_perm") && !parse_list_attr(p, op, "outer_dims_perm")) return false;
  if (!parse_list_attr(p, op, "inner_dims_pos") || !parse_tiles(p, pack) || !ir_parse_expect(p, "into") ||
      !ir_parse_ref(p, &pack->dest) || !ir_parse_attr_dict(p, op)) {
    return false;
  }
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_attr(p, op, "static_inner_tiles", ir_attr_i64_array(ctx, pack->values, pack->count));
  if (op->info->code != LINALG_PACK) return true;
  int32_t segments[4] = {1, 1, pack->padding_type != NULL, (int32_t)pack->tiles.count};
  ir_draft_attr(p, op, "operandSegmentSizes", ir_attr_dense_array(ctx, ir_type_int(ctx, 32), segments, 4));
  return true;
}

ir_op_t* linalg_pack_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  pack_t pack;
  memset(&pack, 0, sizeof(pack));
  ir_draft_init(p, &op, info, loc);
  if (!parse_pack(p, &op, &pack) || !ir_parse_expect(p, ":")) return NULL;
  const ir_type_t* source = ir_parse_type(p);
  const ir_type_t* dest = source && ir_parse_expect(p, "->") ? ir_parse_type(p) : NULL;
  if (!dest || !ir_draft_operand(p, &op, &pack.source, source) || !ir_draft_operand(p, &op, &pack.dest, dest)) {
    return NULL;
  }
  if (pack.padding_type && !ir_draft_operand(p, &op, &pack.padding, pack.padding_type)) return NULL;
  for (uint32_t i = 0; i < pack.tiles.count; ++i) {
    if (!ir_draft_operand(p, &op, &pack.tiles.items[i], ir_type_index(ir_parse_context(p)))) return NULL;
  }
  ir_draft_result(p, &op, dest);
  return ir_draft_finish(p, &op);
}

static bool is_i64_list(const ir_attr_t* attr) {
  return attr && attr->kind == IR_ATTR_DENSE_ARRAY && attr->type->width == 64 && attr->count <= MAX_TILES;
}

// Number of padding operands (0, 1), or -1 when the custom form does not fit.
static int pack_padding(const ir_op_t* op) {
  const ir_attr_t *tiles = ir_op_attr(op, "static_inner_tiles"), *outer = ir_op_attr(op, "outer_dims_perm");
  if (!is_i64_list(tiles) || !is_i64_list(ir_op_attr(op, "inner_dims_pos")) || (outer && !is_i64_list(outer)))
    return -1;
  uint32_t dynamic = 0;
  for (uint32_t i = 0; i < tiles->count; ++i) dynamic += ir_attr_element_integer(tiles, i) == IR_DYNAMIC;
  if (op->operand_count < dynamic + 2 || op->operand_count > dynamic + 3) return -1;
  int padding = (int)(op->operand_count - dynamic - 2);
  int64_t segments[4] = {0}, want[4] = {1, 1, padding, dynamic};
  bool packs = ir_is(op, LINALG_PACK);
  uint32_t count = ir_op_ints(op, "operandSegmentSizes", segments, 4);
  if (packs ? count != 4 || memcmp(segments, want, sizeof(want)) != 0 : padding || count) return -1;
  for (uint32_t i = op->operand_count - dynamic; i < op->operand_count; ++i) {
    if (ir_operand(op, i)->type->kind != IR_TYPE_INDEX) return -1;
  }
  return op->results[0].type == ir_operand(op, 1)->type ? padding : -1;
}

void linalg_pack_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"static_inner_tiles", "outer_dims_perm", "inner_dims_pos", "operandSegmentSizes",
                                     NULL};
  int padding = pack_padding(op);
  if (padding < 0) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  ir_emit(pr, " ");
  ir_emit_operands(pr, op, 0, 1);
  if (padding) {
    ir_emit(pr, " padding_value(");
    ir_emit_operands(pr, op, 2, 1);
    ir_emit(pr, " : ");
    ir_emit_operand_types(pr, op, 2, 1);
    ir_emit(pr, ")");
  }
  if (ir_op_attr(op, "outer_dims_perm")) print_list_attr(pr, op, "outer_dims_perm");
  print_list_attr(pr, op, "inner_dims_pos");
  const ir_attr_t* tiles = ir_op_attr(op, "static_inner_tiles");
  uint32_t next = 2 + (uint32_t)padding;
  ir_emit(pr, " inner_tiles = [");
  for (uint32_t i = 0; i < tiles->count; ++i) {
    int64_t value = ir_attr_element_integer(tiles, i);
    if (i) ir_emit(pr, ", ");
    if (value == IR_DYNAMIC) {
      ir_emit_operands(pr, op, next++, 1);
    } else {
      ir_emitf(pr, "%lld", (long long)value);
    }
  }
  ir_emit(pr, "] into ");
  ir_emit_operands(pr, op, 1, 1);
  ir_emit_attr_dict(pr, op, held);
  ir_emit(pr, " : ");
  ir_emit_operand_types(pr, op, 0, 1);
  ir_emit(pr, " -> ");
  ir_emit_result_types(pr, op);
}
