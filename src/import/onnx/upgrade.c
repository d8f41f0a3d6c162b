// Brings ops of older opset versions into their newest form, so that each operator is lowered from one form only; and
// what --opset-version asks for. Works on torch.operator ops in place; new ops are put before the op, which stays the
// one that gives the results. E.g. Squeeze from version 12 to 13:
//
//   %1 = torch.operator "onnx.Squeeze"(%0) {torch.onnx.axes = [0 : si64]} : ...
//
//   %1 = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0> : tensor<1xsi64>} : () ->
//   !torch.vtensor<[1],si64> %2 = torch.operator "onnx.Squeeze"(%0, %1) : ...
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/onnx/lower.h"

typedef struct upgrade_t {
  ir_context_t* ctx;
  ir_op_t* op;
  ir_builder_t b;  // before the op
} upgrade_t;

//===----------------------------------------------------------------------------------------------------------------===
// Parts of an op
//===----------------------------------------------------------------------------------------------------------------===

static const char* op_name(const ir_op_t* op) {
  const char* name = ir_op_string(op, "name", "");
  return strncmp(name, "onnx.", 5) == 0 ? name + 5 : "";
}

static bool names_op(const char* ops, const char* name) {
  size_t length = strlen(name);
  for (const char* at = strstr(ops, name); length && at; at = strstr(at + 1, name)) {
    if (at[-1] == '|' && at[length] == '|') return true;
  }
  return false;
}

static const char* full_name(upgrade_t* u, const char* attr) {
  return arena_printf(ir_context_arena(u->ctx), "torch.onnx.%s", attr);
}
static const ir_attr_t* get_attr(upgrade_t* u, const char* name) { return ir_op_attr(u->op, full_name(u, name)); }
static void drop_attr(upgrade_t* u, const char* name) { ir_op_remove_attr(u->op, full_name(u, name)); }
static void set_int(upgrade_t* u, const char* name, int64_t value) {
  ir_op_set_attr(u->ctx, u->op, full_name(u, name), ir_attr_integer(u->ctx, onnx_si64(u->ctx), value));
}
static void set_string(upgrade_t* u, const char* name, const char* value) {
  ir_op_set_attr(u->ctx, u->op, full_name(u, name), ir_attr_cstring(u->ctx, value));
}
static int64_t get_int(upgrade_t* u, const char* name, int64_t absent) {
  const ir_attr_t* attr = get_attr(u, name);
  return attr && attr->kind == IR_ATTR_INTEGER ? attr->integer : absent;
}
static bool fail(upgrade_t* u, const char* what) {
  return ir_error(u->ctx, u->op->loc, "'onnx.%s' op: %s", op_name(u->op), what);
}

// torch.operator "onnx.<name>" before the op.
static ir_value_t* insert(upgrade_t* u, const char* name, ir_value_t* const* operands, uint32_t count,
                          const ir_type_t* type, const ir_named_attr_t* attr) {
  char full[64];
  snprintf(full, sizeof(full), "onnx.%s", name);
  ir_named_attr_t attrs[2] = {{ir_intern_cstr(u->ctx, "name"), ir_attr_cstring(u->ctx, full)}};
  if (attr) attrs[1] = (ir_named_attr_t){ir_intern_cstr(u->ctx, full_name(u, attr->name)), attr->value};
  ir_op_state_t state = {.info = ir_context_find_op(u->ctx, "torch.operator"), .name = "torch.operator"};
  state.operands = operands;
  state.operand_count = count;
  state.result_types = &type;
  state.result_count = 1;
  state.attrs = attrs;
  state.attr_count = attr ? 2 : 1;
  return ir_result(ir_build(&u->b, &state), 0);
}

static ir_value_t* insert_constant(upgrade_t* u, const ir_type_t* element, int32_t rank, int64_t count,
                                   const void* data) {
  const ir_type_t* tensor = ir_type_tensor(u->ctx, element, rank, &count);
  size_t size = (size_t)(rank ? count : 1) * ir_type_bytes(element);
  ir_named_attr_t value = {"value", ir_attr_elements(u->ctx, tensor, data, size)};
  return insert(u, "Constant", NULL, 0, ir_type_vtensor(u->ctx, element, rank, &count), &value);
}

static ir_value_t* insert_ints(upgrade_t* u, const int64_t* values, int64_t count) {
  return insert_constant(u, onnx_si64(u->ctx), 1, count, values);
}

static const ir_type_t* unknown_type(upgrade_t* u) { return ir_type_vtensor(u->ctx, NULL, -1, NULL); }

static ir_value_t* insert_none(upgrade_t* u) {
  const ir_type_t* type = ir_type_opaque(u->ctx, "torch.none", NULL);
  ir_op_state_t state = {.info = ir_context_find_op(u->ctx, "torch.constant.none"), .name = "torch.constant.none"};
  state.result_types = &type;
  state.result_count = 1;
  return ir_result(ir_build(&u->b, &state), 0);
}

// Makes `value` operand `position`; operands that are missing before it are left out.
static void set_input(upgrade_t* u, uint32_t position, ir_value_t* value) {
  ir_value_t* operands[8];
  uint32_t count = u->op->operand_count;
  if (position >= 8 || count > 8) return;
  for (uint32_t i = 0; i < count; ++i) operands[i] = ir_operand(u->op, i);
  while (count < position) operands[count++] = insert_none(u);
  operands[position] = value;
  ir_op_set_operands(u->ctx, u->op, operands, count > position ? count : position + 1);
}

static void set_name(upgrade_t* u, const char* name) {
  char full[64];
  snprintf(full, sizeof(full), "onnx.%s", name);
  ir_op_set_attr(u->ctx, u->op, "name", ir_attr_cstring(u->ctx, full));
}

// What is known of a value when the op is reached: the lowered tensor, or NULL.
static const onnx_value_t* lowered(const ir_value_t* v) { return v->data; }

//===----------------------------------------------------------------------------------------------------------------===
// Attributes that became inputs
//===----------------------------------------------------------------------------------------------------------------===

typedef enum { KIND_INTS, KIND_INT1, KIND_INT0, KIND_LIKE0, KIND_FLOATS } kind_t;

static bool attr_to_input(upgrade_t* u, const char* name, uint32_t position, kind_t kind) {
  const ir_attr_t* attr = get_attr(u, name);
  if (!attr) return true;
  bool list = attr->kind == IR_ATTR_ARRAY;
  uint32_t count = list ? attr->count : 1;
  const ir_type_t* element = kind == KIND_FLOATS || kind == KIND_LIKE0 ? onnx_f32(u->ctx) : onnx_si64(u->ctx);
  if (kind == KIND_LIKE0 && u->op->operand_count) {
    const ir_value_t* x = ir_operand(u->op, 0);
    if (lowered(x))
      element = lowered(x)->element;
    else if (ir_type_is_shaped(x->type) && x->type->element)
      element = x->type->element;
  }
  if (list != (kind == KIND_INTS || kind == KIND_FLOATS)) return fail(u, "an attribute has the wrong type");
  char* data = arena_alloc(ir_context_arena(u->ctx), (size_t)count * 16 + 16);
  for (uint32_t i = 0; i < count; ++i) {
    const ir_attr_t* item = list ? attr->items[i] : attr;
    if (item->kind != IR_ATTR_INTEGER && item->kind != IR_ATTR_FLOAT) return fail(u, "an attribute has the wrong type");
    bool integer = item->kind == IR_ATTR_INTEGER;
    if (integer && ir_type_is_int(element))
      ir_scalar_store_integer(element, item->integer, data + i * ir_type_bytes(element));
    else
      ir_scalar_store_number(element, integer ? (double)item->integer : item->number,
                             data + i * ir_type_bytes(element));
  }
  bool scalar = kind == KIND_INT0 || kind == KIND_LIKE0;
  set_input(u, position, insert_constant(u, element, !scalar, count, data));
  drop_attr(u, name);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Other changes
//===----------------------------------------------------------------------------------------------------------------===

static bool upgrade_concat_axis(upgrade_t* u) {
  if (!get_attr(u, "axis")) set_int(u, "axis", 1);
  return true;
}

static bool upgrade_cast_name(upgrade_t* u) {
  static const char* const names[] = {"FLOAT",  "UINT8", "INT8",    "UINT16", "INT16",  "INT32", "INT64",
                                      "STRING", "BOOL",  "FLOAT16", "DOUBLE", "UINT32", "UINT64"};
  const ir_attr_t* to = get_attr(u, "to");
  if (!to || to->kind != IR_ATTR_STRING) return true;
  for (int i = 0; i < 13; ++i) {
    if (strcmp(to->text, names[i]) == 0) return set_int(u, "to", i + 1), true;
  }
  return fail(u, "casts to an unknown type");
}

// Inputs (x, tiles, axis), scalars both.
static bool upgrade_tile(upgrade_t* u) { return fail(u, "the form of opset 5 and older is not supported"); }

// Input 0 was the lengths of the batch's sequences, which go last, and all other values had the batch in front.
static bool upgrade_scan(upgrade_t* u) {
  uint32_t count = u->op->operand_count;
  ir_value_t** values = ARENA_ARRAY(ir_context_arena(u->ctx), ir_value_t*, count + 1);
  if (!count) return fail(u, "needs the lengths of the sequences, or their place left out, as input 0");
  const ir_op_t* lengths = ir_operand(u->op, 0)->def;
  bool whole = lengths && strcmp(lengths->name, "torch.constant.none") == 0;
  for (uint32_t i = 1; i < count; ++i) values[i - 1] = ir_operand(u->op, i);
  values[count - 1] = ir_operand(u->op, 0);
  ir_op_set_operands(u->ctx, u->op, values, count - whole);
  const ir_attr_t* directions = get_attr(u, "directions");
  if (directions) ir_op_set_attr(u->ctx, u->op, full_name(u, "scan_input_directions"), directions);
  drop_attr(u, "directions");
  set_int(u, "batched", 1);
  if (!whole) set_int(u, "lengths", 1);
  return true;
}

// With `broadcast` and `axis`, the dims of B start at that dim of A: B gets dims of size 1 behind.
static bool upgrade_broadcast(upgrade_t* u) {
  const ir_attr_t* axis = get_attr(u, "axis");
  if (u->op->operand_count == 2 && axis && get_int(u, "broadcast", 0)) {
    const onnx_value_t *a = lowered(ir_operand(u->op, 0)), *b = lowered(ir_operand(u->op, 1));
    if (!a || !b || !a->v || !b->v) return fail(u, "the ranks of its operands must be known");
    int64_t first = axis->integer < 0 ? axis->integer + onnx_rank(*a) : axis->integer, axes[ONNX_MAX_RANK];
    int64_t behind = onnx_rank(*a) - first - onnx_rank(*b);
    if (first < 0 || behind < 0) return fail(u, "axis is out of range");
    for (int64_t i = 0; i < behind; ++i) axes[i] = onnx_rank(*b) + i;
    ir_value_t* operands[] = {ir_operand(u->op, 1), insert_ints(u, axes, behind)};
    if (behind) set_input(u, 1, insert(u, "Unsqueeze", operands, 2, unknown_type(u), NULL));
  }
  drop_attr(u, "axis");
  drop_attr(u, "broadcast");
  return true;
}

// A vector of slopes stood for the channels.
static bool upgrade_slope(upgrade_t* u) {
  if (u->op->operand_count != 2) return true;
  const onnx_value_t *x = lowered(ir_operand(u->op, 0)), *slope = lowered(ir_operand(u->op, 1));
  if (!x || !slope || !x->v || !slope->v) return fail(u, "the ranks of its operands must be known");
  if (onnx_rank(*slope) != 1 || onnx_dim_size(*slope, 0) == 1 || onnx_rank(*x) < 3) return true;
  int64_t axes[ONNX_MAX_RANK];
  for (int32_t i = 0; i < onnx_rank(*x) - 2; ++i) axes[i] = i + 1;
  ir_value_t* operands[] = {ir_operand(u->op, 1), insert_ints(u, axes, onnx_rank(*x) - 2)};
  set_input(u, 1, insert(u, "Unsqueeze", operands, 2, unknown_type(u), NULL));
  return true;
}

static bool upgrade_upsample_scales(upgrade_t* u) {
  const ir_attr_t *height = get_attr(u, "height_scale"), *width = get_attr(u, "width_scale");
  if (!height || !width) return true;
  const ir_type_t* f32 = onnx_f32(u->ctx);
  const ir_attr_t* one = ir_attr_float(u->ctx, f32, 1);
  const ir_attr_t* scales[] = {one, one, height, width};
  ir_op_set_attr(u->ctx, u->op, full_name(u, "scales"), ir_attr_array(u->ctx, scales, 4));
  drop_attr(u, "height_scale");
  drop_attr(u, "width_scale");
  return true;
}

// (x, scales) became (x, roi, scales, sizes), with choices for what was fixed.
static bool upgrade_resize(upgrade_t* u) {
  if (u->op->operand_count != 2) return true;
  ir_value_t* scales = ir_operand(u->op, 1);
  set_input(u, 2, scales);
  set_input(u, 1, insert_none(u));
  const ir_attr_t* mode = get_attr(u, "mode");
  set_string(u, "coordinate_transformation_mode", "asymmetric");
  if (!mode || mode->kind != IR_ATTR_STRING || strcmp(mode->text, "nearest") == 0)
    set_string(u, "nearest_mode", "floor");
  if (mode && mode->kind == IR_ATTR_STRING && strcmp(mode->text, "bilinear") == 0) set_string(u, "mode", "linear");
  return true;
}

// All dims from `axis` on were one. Unless that is so anyway: Flatten, the op over the last dim, Reshape back.
static bool upgrade_softmax(upgrade_t* u) {
  if (u->op->operand_count != 1) return true;
  ir_value_t* x = ir_operand(u->op, 0);
  const onnx_value_t* known = lowered(x);
  int64_t axis = get_int(u, "axis", 1);
  if (known && known->v && (axis == -1 || axis == onnx_rank(*known) - 1)) {
    set_int(u, "axis", axis);
    return true;
  }
  char name[32];
  snprintf(name, sizeof(name), "%s", op_name(u->op));
  const ir_type_t* si64 = onnx_si64(u->ctx);
  ir_named_attr_t at = {"axis", ir_attr_integer(u->ctx, si64, axis)},
                  last = {"axis", ir_attr_integer(u->ctx, si64, -1)};
  ir_value_t* shape = insert(u, "Shape", &x, 1, unknown_type(u), NULL);
  ir_value_t* flat = insert(u, "Flatten", &x, 1, unknown_type(u), &at);
  ir_value_t* y = insert(u, name, &flat, 1, unknown_type(u), &last);
  drop_attr(u, "axis");
  set_name(u, "Reshape");
  ir_value_t* operands[] = {y, shape};
  ir_op_set_operands(u->ctx, u->op, operands, 2);
  return true;
}

static bool upgrade_split(upgrade_t* u) {
  if (u->op->operand_count < 2) set_int(u, "num_outputs", u->op->result_count);
  return true;
}

static bool upgrade_grid_mode(upgrade_t* u) {
  const ir_attr_t* mode = get_attr(u, "mode");
  const char* text = mode && mode->kind == IR_ATTR_STRING ? mode->text : "bilinear";
  if (strcmp(text, "bilinear") == 0) set_string(u, "mode", "linear");
  if (strcmp(text, "bicubic") == 0) set_string(u, "mode", "cubic");
  return true;
}

static bool upgrade_dft(upgrade_t* u) {
  int64_t axis = get_int(u, "axis", 1);
  set_input(u, 2, insert_constant(u, onnx_si64(u->ctx), 0, 1, &axis));
  drop_attr(u, "axis");
  return true;
}

// Scale and bias were given per group, and now are per channel.
static bool upgrade_group_norm(upgrade_t* u) {
  set_int(u, "per_group", 1);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// The table
//===----------------------------------------------------------------------------------------------------------------===

typedef struct row_t {
  int version;
  const char* ops;
  const char* attr;      // ATTR, INPUT
  const char* new_name;  // ATTR: "" to drop; RENAME
  uint32_t position;     // INPUT
  kind_t kind;
  bool (*change)(upgrade_t* u);
} row_t;

static const row_t rows[] = {
#define INPUT(version, ops, attr, position, kind) {version, ops, #attr, NULL, position, KIND_##kind, NULL},
#define RENAME(version, ops, name) {version, ops, NULL, name, 0, KIND_INTS, NULL},
#define ATTR(version, ops, attr, name) {version, ops, #attr, #name, 0, KIND_INTS, NULL},
#define CHANGE(version, ops, function) {version, ops, NULL, NULL, 0, KIND_INTS, function},
#include "import/onnx/upgrade.def"
};

static bool applies(const row_t* row, const char* name, int64_t from, int64_t to) {
  return row->version > from && row->version <= to && names_op(row->ops, name);
}

static bool apply(upgrade_t* u, const row_t* row) {
  if (row->change) return row->change(u);
  if (row->position) return attr_to_input(u, row->attr, row->position, row->kind);
  if (!row->attr) return set_name(u, row->new_name), true;
  const ir_attr_t* value = get_attr(u, row->attr);
  if (value) drop_attr(u, row->attr);
  if (value && *row->new_name) ir_op_set_attr(u->ctx, u->op, full_name(u, row->new_name), value);
  return true;
}

bool onnx_needs_upgrade(const ir_op_t* op, int64_t from, int64_t to) {
  const char* name = op_name(op);
  for (size_t i = 0; from < to && i < sizeof(rows) / sizeof(*rows); ++i) {
    if (applies(&rows[i], name, from, to)) return true;
  }
  return false;
}

bool onnx_upgrade_op(ir_context_t* ctx, ir_op_t* op, int64_t from, int64_t to) {
  upgrade_t u = {.ctx = ctx, .op = op, .b = ir_builder_before(ctx, op)};
  for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
    // The name is read anew: rows may rename the op, or make another one of it.
    if (applies(&rows[i], op_name(op), from, to) && !apply(&u, &rows[i])) return false;
  }
  return true;
}
