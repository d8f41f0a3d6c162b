// See linalg_ext.h. All ops read alike; they print in generic form.
//
//   iree_linalg_ext.scan dimension(0) inclusive(true) ins(%x : t) outs(%y, %a : t, t) { ... } -> t, t
#include "dialects/linalg_ext.h"

#include <string.h>

#include "dialects/linalg_hooks.h"
#include "dialects/table.h"

// `dimension(0)`, `dimension_map = [1, 0]`, `is_sorted`: what may stand between name and operands.
static bool parse_settings(ir_parser_t* p, ir_draft_t* op) {
  static const char* const numbers[] = {"dimension",   "inclusive",        "unique_indices",   "output_tile_size",
                                        "kernel_size", "image_dimensions", "kernel_dimensions"};
  for (bool any = true; any;) {
    any = false;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); ++i) {
      if (!ir_parse_try(p, numbers[i])) continue;
      const ir_attr_t* value = ir_parse_expect(p, "(") ? ir_parse_attr(p, NULL) : NULL;
      if (!value || !ir_parse_expect(p, ")")) return false;
      ir_draft_attr(p, op, numbers[i], value);
      any = true;
    }
    if (ir_parse_try(p, "dimension_map")) {
      const ir_attr_t* value = ir_parse_expect(p, "=") ? ir_parse_attr(p, NULL) : NULL;
      if (!value) return false;
      ir_draft_attr(p, op, "dimension_map", value);
      any = true;
    }
    if (ir_parse_try(p, "is_sorted")) {
      ir_draft_attr(p, op, "is_sorted", ir_attr_unit(ir_parse_context(p)));
      any = true;
    }
  }
  return true;
}

// `index_base(%i : index)` counts as the last of the ins.
static bool parse_base(ir_parser_t* p, linalg_io_t* io) {
  ir_ref_t ref;
  if (!ir_parse_try(p, "index_base")) return true;
  if (!ir_parse_expect(p, "(") || !ir_parse_ref(p, &ref) || !ir_parse_expect(p, ":")) return false;
  const ir_type_t* type = ir_parse_type(p);
  if (!type || !ir_parse_expect(p, ")")) return false;
  ir_list_add_ref(p, &io->ins, &ref);
  ir_list_add_type(p, &io->in_types, type);
  return true;
}

static ir_op_t* structured_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  linalg_io_t io;
  memset(&io, 0, sizeof(io));
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_properties(p, &op) || !ir_parse_attr_dict(p, &op) || !parse_settings(p, &op)) return NULL;
  if (!linalg_io_parse(p, &io) || !parse_base(p, &io)) return NULL;
  linalg_segments(p, &op, &io);
  if (!linalg_io_draft(p, &op, &io)) return NULL;
  if (info->regions && !ir_draft_region(p, &op, NULL, NULL)) return NULL;
  if (ir_parse_try(p, "->")) {
    bool ok = ir_parse_peek(p, "(") ? ir_parse_result_types(p, &op.results) : ir_parse_types(p, &op.results);
    if (!ok) return NULL;
  }
  return ir_draft_finish(p, &op);
}

// `strides = [1, 1]`, `output_sizes = [[2], [3, 3]]`, in any order: numbers only.
static bool im2col_settings(ir_parser_t* p, ir_draft_t* op) {
  static const struct {
    const char *word, *attr;
  } rows[] = {{"strides", "strides"},
              {"dilations", "dilations"},
              {"kernel_size", "static_kernel_size"},
              {"offsets", "static_offsets"},
              {"output_sizes", "static_output_sizes"},
              {"batch_pos", "batch_pos"},
              {"m_pos", "m_pos"},
              {"k_pos", "k_pos"},
              {"input_k_perm", "input_k_perm"},
              {"output_perm", "output_perm"},
              {"input_pad_low", "static_input_pad_low"},
              {"input_pad_high", "static_input_pad_high"},
              {"output_pad_low", "static_output_pad_low"},
              {"output_pad_high", "static_output_pad_high"}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    if (!ir_parse_try(p, rows[i].word)) continue;
    const ir_attr_t* value = ir_parse_expect(p, "=") ? ir_parse_attr(p, NULL) : NULL;
    if (!value) return false;
    ir_draft_attr(p, op, rows[i].attr, value);
    i = (size_t)-1;  // from the first again
  }
  return true;
}

// word(%x : type)
static bool im2col_operand(ir_parser_t* p, const char* word, ir_ref_t* ref, const ir_type_t** type) {
  return ir_parse_expect(p, word) && ir_parse_expect(p, "(") && ir_parse_ref(p, ref) && ir_parse_expect(p, ":") &&
         (*type = ir_parse_type(p)) != NULL && ir_parse_expect(p, ")");
}

static ir_op_t* im2col_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t refs[3];
  const ir_type_t* types[3];
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_attr_dict(p, &op) || !im2col_settings(p, &op)) return NULL;
  uint32_t count = ir_parse_peek(p, "pad_value") ? 3 : 2;
  if (count == 3 && !im2col_operand(p, "pad_value", &refs[2], &types[2])) return NULL;
  if (!im2col_operand(p, "ins", &refs[0], &types[0]) || !im2col_operand(p, "outs", &refs[1], &types[1])) return NULL;
  for (uint32_t i = 0; i < count; ++i) {
    if (!ir_draft_operand(p, &op, &refs[i], types[i])) return NULL;
  }
  if (!ir_parse_expect(p, "->") || !ir_parse_types(p, &op.results)) return NULL;
  return ir_draft_finish(p, &op);
}

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"iree_linalg_ext." #name, LINALG_EXT_##ENUM, __VA_ARGS__},
#include "dialects/linalg_ext.def"
#undef OP
};
TABLE_DIALECT(linalg_ext_dialect, IR_DIALECT_LINALG_EXT, "iree_linalg_ext", ops);
