// ir_write_bytecode: ops are encoded while the tables of what they name are filled (bytecode_write_attr.c); then come
// the sections. All attributes of an op are in its dictionary: properties are left empty.
#include <string.h>

#include "ir/bytecode_writer.h"

//===----------------------------------------------------------------------------------------------------------------===
// Ops
//===----------------------------------------------------------------------------------------------------------------===

static void put_op(bytecode_writer_t* w, text_t* out, const ir_op_t* op, uint64_t first);

static void put_section_head(text_t* out, bytecode_section_id_t id, uint64_t size) {
  bytecode_put_byte(out, id);
  bytecode_put_varint(out, size);
}

static uint64_t count_values(const ir_region_t* region) {
  uint64_t count = 0;
  IR_FOR_BLOCKS(block, region) {
    count += block->arg_count;
    IR_FOR_OPS(op, block) count += op->result_count;
  }
  return count;
}

// Values are numbered in the order of their definitions, from `next` on.
static void number_values(const ir_region_t* region, uintptr_t next) {
  IR_FOR_BLOCKS(block, region) {
    for (uint32_t i = 0; i < block->arg_count; ++i) block->args[i]->data = (void*)next++;
    IR_FOR_OPS(op, block) {
      for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].data = (void*)next++;
    }
  }
}

static uint64_t count_blocks(const ir_region_t* region) {
  uint64_t count = 0;
  IR_FOR_BLOCKS(block, region)++ count;
  return count;
}

static uint64_t block_index(const ir_block_t* block) {
  uint64_t index = 0;
  IR_FOR_BLOCKS(other, block->parent) {
    if (other == block) break;
    ++index;
  }
  return index;
}

static void put_block(bytecode_writer_t* w, text_t* out, const ir_block_t* block, uint64_t first) {
  uint64_t ops = 0;
  IR_FOR_OPS(op, block)++ ops;
  bytecode_put_flagged(out, ops, block->arg_count != 0);
  if (block->arg_count) {
    bytecode_put_varint(out, block->arg_count);
    for (uint32_t i = 0; i < block->arg_count; ++i) {
      uint64_t type = bytecode_type_number(w, block->args[i]->type);
      if (w->version >= BYTECODE_HAS_SHORT_ARGS) {
        bytecode_put_flagged(out, type, false);
      } else {
        bytecode_put_varint(out, type);
        bytecode_put_varint(out, bytecode_loc_number(w, ir_loc_unknown(w->ctx)));
      }
    }
    if (w->version >= BYTECODE_HAS_USE_LISTS) bytecode_put_byte(out, 0);
  }
  IR_FOR_OPS(op, block) put_op(w, out, op, first);
}

static void put_region(bytecode_writer_t* w, text_t* out, const ir_region_t* region, uint64_t first) {
  uint64_t blocks = count_blocks(region), values = count_values(region);
  bytecode_put_varint(out, blocks);
  if (!blocks) return;
  bytecode_put_varint(out, values);
  number_values(region, first);
  IR_FOR_BLOCKS(block, region) put_block(w, out, block, first + values);
}

static void put_regions(bytecode_writer_t* w, text_t* out, const ir_op_t* op, uint64_t first) {
  bool isolated = ir_has_trait(op, IR_TRAIT_ISOLATED);
  bytecode_put_flagged(out, op->region_count, isolated);
  text_t section = {0}, *to = out;
  if (isolated) first = 0;
  if (isolated && w->version >= BYTECODE_HAS_LAZY_REGIONS) to = &section;
  for (uint32_t i = 0; i < op->region_count; ++i) put_region(w, to, &op->regions[i], first);
  if (to == out) return;
  put_section_head(out, BYTECODE_IR, section.size);
  text_append(out, section.data, section.size);
  text_finish(&section);
}

// Which operands go to which successor is told by attributes, as in the generic form.
static const ir_attr_t* segment_attr(bytecode_writer_t* w, const uint32_t* values, uint32_t count) {
  return ir_attr_dense_array(w->ctx, ir_type_int(w->ctx, 32), values, count);
}

static const ir_attr_t* op_attrs(bytecode_writer_t* w, const ir_op_t* op) {
  uint32_t total = 0, count = op->attr_count;
  ir_named_attr_t* attrs = ARENA_ARRAY(&w->scratch, ir_named_attr_t, count + 2);
  if (count) memcpy(attrs, op->attrs, sizeof(*attrs) * count);
  for (uint32_t i = 0; i < op->successor_count; ++i) total += op->successor_operand_counts[i];
  bool known = op->info->code != IR_CODE_UNREGISTERED && op->successor_count;
  if (known && (op->successor_count > 1 || total != op->operand_count)) {
    uint32_t first = op->successor_operand_counts[0], sizes[] = {op->operand_count - total, first, total - first};
    attrs[count++] = (ir_named_attr_t){ir_intern_cstr(w->ctx, "operandSegmentSizes"), segment_attr(w, sizes, 3)};
    if (op->successor_count > 2) {
      attrs[count++] = (ir_named_attr_t){ir_intern_cstr(w->ctx, "case_operand_segments"),
                                         segment_attr(w, op->successor_operand_counts + 1, op->successor_count - 1)};
    }
  }
  return count ? ir_attr_dict(w->ctx, attrs, count) : NULL;
}

static void put_op(bytecode_writer_t* w, text_t* out, const ir_op_t* op, uint64_t first) {
  const ir_attr_t* attrs = op_attrs(w, op);
  bytecode_put_varint(out, bytecode_name_number(w, op));
  bytecode_put_byte(out, (attrs ? BYTECODE_OP_ATTRS : 0) | (op->result_count ? BYTECODE_OP_RESULTS : 0) |
                             (op->operand_count ? BYTECODE_OP_OPERANDS : 0) |
                             (op->successor_count ? BYTECODE_OP_SUCCESSORS : 0) |
                             (op->region_count ? BYTECODE_OP_REGIONS : 0));
  bytecode_put_varint(out, bytecode_loc_number(w, op->loc));
  if (attrs) bytecode_put_varint(out, bytecode_attr_number(w, attrs));
  if (op->result_count) bytecode_put_varint(out, op->result_count);
  for (uint32_t i = 0; i < op->result_count; ++i) {
    bytecode_put_varint(out, bytecode_type_number(w, op->results[i].type));
  }
  if (op->operand_count) bytecode_put_varint(out, op->operand_count);
  for (uint32_t i = 0; i < op->operand_count; ++i) bytecode_put_varint(out, (uintptr_t)ir_operand(op, i)->data);
  if (op->successor_count) bytecode_put_varint(out, op->successor_count);
  for (uint32_t i = 0; i < op->successor_count; ++i) bytecode_put_varint(out, block_index(op->successors[i]));
  if (op->region_count) put_regions(w, out, op, first);
}

//===----------------------------------------------------------------------------------------------------------------===
// Sections
//===----------------------------------------------------------------------------------------------------------------===

static void put_section(text_t* out, bytecode_section_id_t id, const text_t* data) {
  put_section_head(out, id, data->size);
  text_append(out, data->data ? data->data : "", data->size);
}

static void put_strings(bytecode_writer_t* w, text_t* out) {
  text_t data = {0};
  bytecode_put_varint(&data, w->strings.count);
  for (uint64_t i = w->strings.count; i-- > 0;) bytecode_put_varint(&data, w->string_sizes[i]);
  text_append(&data, w->string_bytes.data, w->string_bytes.size);
  put_section(out, BYTECODE_STRINGS, &data);
  text_finish(&data);
}

static void put_dialects(bytecode_writer_t* w, text_t* out) {
  text_t data = {0};
  bytecode_put_varint(&data, w->dialects.count);
  text_append(&data, w->dialect_list.data, w->dialect_list.size);
  if (w->version >= BYTECODE_HAS_SHORT_ARGS) bytecode_put_varint(&data, w->names.count);
  text_append(&data, w->name_list.data, w->name_list.size);
  put_section(out, BYTECODE_DIALECTS, &data);
  text_finish(&data);
}

// Groups of neighbours of one dialect.
static void put_sizes(text_t* out, const bytecode_entries_t* entries) {
  for (uint64_t i = 0, end; i < entries->count; i = end) {
    for (end = i + 1; end < entries->count && entries->dialects[end] == entries->dialects[i];) ++end;
    bytecode_put_varint(out, entries->dialects[i]);
    bytecode_put_varint(out, end - i);
    for (uint64_t k = i; k < end; ++k) bytecode_put_varint(out, entries->items[k]);
  }
}

static void put_entries(bytecode_writer_t* w, text_t* out) {
  text_t sizes = {0};
  put_section_head(out, BYTECODE_ATTR_TYPES, w->attr_data.bytes.size + w->type_data.bytes.size);
  text_append(out, w->attr_data.bytes.data, w->attr_data.bytes.size);
  text_append(out, w->type_data.bytes.data ? w->type_data.bytes.data : "", w->type_data.bytes.size);
  bytecode_put_varint(&sizes, w->attr_data.count);
  bytecode_put_varint(&sizes, w->type_data.count);
  put_sizes(&sizes, &w->attr_data);
  put_sizes(&sizes, &w->type_data);
  put_section(out, BYTECODE_ATTR_TYPE_OFFSETS, &sizes);
  text_finish(&sizes);
}

enum { MAX_ALIGNMENT = 16 };  // of elements; in the file, since the section is aligned too

static void pad(text_t* out, size_t base, uint32_t alignment) {
  while ((out->size - base) % alignment) bytecode_put_byte(out, BYTECODE_PADDING);
}

// `begin`: where the file begins in `out`.
static void put_resources(bytecode_writer_t* w, text_t* out, size_t begin) {
  if (!w->resources.count) return;
  text_t data = {0}, sizes = {0};
  bytecode_put_varint(&sizes, 0);
  bytecode_put_varint(&sizes, bytecode_dialect_number(w, "builtin", 7));
  bytecode_put_varint(&sizes, w->resources.count);
  for (uint64_t i = 0; i < w->resources.count; ++i) {
    const ir_attr_t* attr = w->resource_list[i];
    size_t start = data.size;
    uint32_t alignment = ir_type_bytes(ir_type_scalar(attr->type));
    if (alignment > MAX_ALIGNMENT || (alignment & (alignment - 1))) alignment = 1;
    bytecode_put_varint(&data, alignment);
    bytecode_put_varint(&data, attr->size);
    pad(&data, 0, alignment);
    text_append(&data, ir_attr_data(attr), attr->size);
    bytecode_put_varint(&sizes, bytecode_string_number(w, attr->resource, strlen(attr->resource)));
    bytecode_put_varint(&sizes, data.size - start);
    bytecode_put_byte(&sizes, BYTECODE_RESOURCE_BLOB);
  }
  put_section(out, BYTECODE_RESOURCE_OFFSETS, &sizes);
  bytecode_put_byte(out, BYTECODE_RESOURCES | 0x80);
  bytecode_put_varint(out, data.size);
  bytecode_put_varint(out, MAX_ALIGNMENT);
  pad(out, begin, MAX_ALIGNMENT);
  text_append(out, data.data, data.size);
  text_finish(&data);
  text_finish(&sizes);
}

static void finish(bytecode_writer_t* w) {
  bytecode_table_t* tables[] = {&w->strings, &w->dialects, &w->names, &w->attrs, &w->types, &w->resources};
  text_t* texts[] = {&w->string_bytes, &w->dialect_list, &w->name_list, &w->attr_data.bytes, &w->type_data.bytes};
  for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); ++i) ir_set_finish(&tables[i]->set);
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) text_finish(texts[i]);
  arena_finish(&w->scratch);
}

bool ir_write_bytecode(ir_context_t* ctx, ir_op_t* op, int64_t version, text_t* out) {
  if (version < 0 || version > IR_BYTECODE_VERSION) {
    return ir_error(ctx, NULL, "version %lld of MLIR bytecode cannot be written; 0 to %d can", (long long)version,
                    IR_BYTECODE_VERSION);
  }
  bytecode_writer_t w = {.ctx = ctx, .version = version};
  text_t ops = {0};
  size_t begin = out->size;
  arena_init(&w.scratch);
  bytecode_put_flagged(&ops, 1, false);
  put_op(&w, &ops, op, 0);
  text_append(out, BYTECODE_MAGIC, 4);
  bytecode_put_varint(out, (uint64_t)version);
  text_append(out, "iree-c", 7);
  put_resources(&w, out, begin);
  put_dialects(&w, out);
  put_entries(&w, out);
  put_section(out, BYTECODE_IR, &ops);
  put_strings(&w, out);
  if (version >= BYTECODE_HAS_PROPERTIES) put_section(out, BYTECODE_PROPERTIES, &(text_t){0});
  text_finish(&ops);
  finish(&w);
  return true;
}
