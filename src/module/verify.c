// Checks every row of every table. A program from a stranger is data: what passes here (and in verify_code.c) can not
// make the VM read or write outside its buffers, so nothing checks the tables again.

#include <inttypes.h>

#include "module/image.h"

enum {
  RANK_LIMIT = 32,
  BINDING_LIMIT = 1024,
  PUSH_LIMIT = 1024,
};

// What is being checked, for messages.
typedef struct place_t {
  const char* table;
  uint32_t row;
  uint64_t* steps;  // that are left
} place_t;

static iree_status_t bad(place_t at, const char* field, uint64_t value, uint64_t limit) {
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                          "module is damaged: %s row %u: %s %" PRIu64 " out of range (%" PRIu64 ")", at.table, at.row,
                          field, value, limit);
}

static iree_status_t take_steps(place_t at, uint64_t count) {
  if (count > *at.steps) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "module is damaged: %s row %u: rows are shared by more than a module of its size has",
                            at.table, at.row);
  }
  *at.steps -= count;
  return iree_ok_status();
}

#define CHECK_INDEX(field, value, count) \
  if ((value) >= (count)) return bad(at, field, (value), (count))
#define CHECK_STRING(field) CHECK_INDEX(#field, row->field, image->strings_count)
#define CHECK_RANGE(field, first, length, count) \
  if ((first) > (count) || (length) > (count) - (first)) return bad(at, field, (uint64_t)(first) + (length), (count))

static iree_status_t verify_string(const module_image_t* image, place_t at, const module_string_t* row) {
  CHECK_RANGE("string", row->offset, row->length, image->string_bytes_count);
  return iree_ok_status();
}

static iree_status_t verify_attr(const module_image_t* image, place_t at, const module_attr_t* row) {
  CHECK_STRING(key);
  CHECK_STRING(value);
  return iree_ok_status();
}

static iree_status_t verify_dependency(const module_image_t* image, place_t at, const module_dependency_t* row) {
  CHECK_STRING(name);
  return iree_ok_status();
}

static iree_status_t verify_convention(const module_image_t* image, place_t at, uint32_t string, bool spans) {
  module_convention_t convention;
  CHECK_INDEX("convention", string, image->strings_count);
  iree_string_view_t text = module_image_string(image, string);
  IREE_RETURN_IF_ERROR(take_steps(at, text.size));
  bool fits = spans ? module_convention_parse_spans(text, &convention) : module_convention_parse(text, &convention);
  if (fits) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "module is damaged: %s row %u: calling convention '%.*s'",
                          at.table, at.row, (int)text.size, text.data);
}

static iree_status_t verify_import(const module_image_t* image, place_t at, const module_import_t* row) {
  CHECK_STRING(name);
  if (iree_string_view_find_char(module_image_string(image, row->name), '.', 0) == IREE_STRING_VIEW_NPOS) {
    return bad(at, "import name without module", row->name, image->strings_count);
  }
  return verify_convention(image, at, row->convention, true);
}

static iree_status_t verify_export(const module_image_t* image, place_t at, const module_export_t* row) {
  CHECK_STRING(name);
  CHECK_INDEX("function", row->function, image->functions_count);
  CHECK_RANGE("attributes", row->attr_first, row->attr_count, image->attrs_count);
  return iree_ok_status();
}

static iree_status_t verify_function(const module_image_t* image, place_t at, const module_function_row_t* row) {
  CHECK_STRING(name);
  CHECK_RANGE("code", row->code_first, row->code_count, image->code_count);
  CHECK_RANGE("registers", row->register_first, row->value_count, image->registers_count);
  CHECK_INDEX("value registers", row->value_count, VM_REGISTER_REF);
  IREE_RETURN_IF_ERROR(verify_convention(image, at, row->convention, false));
  module_convention_t convention;
  module_convention_parse(module_image_string(image, row->convention), &convention);
  // Registers that nothing can name would let a small file ask for large frames.
  CHECK_INDEX("reference registers", row->ref_count, (uint64_t)row->code_count + convention.argument_count + 1);
  uint32_t values = 0, refs = 0;
  for (uint32_t i = 0; i < convention.argument_count; ++i) {
    vm_type_t type = vm_type_of_letter(convention.arguments[i]);
    if (type == VM_TYPE_REF) {
      CHECK_INDEX("argument register", refs, row->ref_count);
      ++refs;
      continue;
    }
    CHECK_INDEX("argument register", values, row->value_count);
    if (image->registers[row->register_first + values] != type) return bad(at, "argument type", i, type);
    ++values;
  }
  return iree_ok_status();
}

static iree_status_t verify_register(const module_image_t* image, place_t at, const uint8_t* row) {
  CHECK_INDEX("type", *row, VM_TYPE_REF);
  return iree_ok_status();
}

static iree_status_t verify_global(const module_image_t* image, place_t at, const module_global_t* row) {
  CHECK_STRING(name);
  CHECK_INDEX("type", row->type, VM_TYPE_COUNT);
  if (row->type == VM_TYPE_REF && row->initial) return bad(at, "initial reference", row->initial, 1);
  return iree_ok_status();
}

static iree_status_t verify_device(const module_image_t* image, place_t at, const module_device_t* row) {
  CHECK_STRING(name);
  return iree_ok_status();
}

static iree_status_t verify_target(const module_image_t* image, place_t at, const module_target_t* row) {
  CHECK_STRING(backend);
  CHECK_STRING(format);
  CHECK_STRING(description);
  CHECK_STRING(features);
  return iree_ok_status();
}

static iree_status_t verify_segment(const module_image_t* image, place_t at, const module_segment_row_t* row) {
  CHECK_STRING(entry);
  return iree_ok_status();
}

static iree_status_t verify_constant(const module_image_t* image, place_t at, const module_constant_t* row) {
  CHECK_INDEX("segment", row->segment, image->segments_count);
  CHECK_INDEX("device", row->device, image->devices_count);
  CHECK_RANGE("bytes", row->offset, row->length, image->segments[row->segment].length);
  return iree_ok_status();
}

static iree_status_t verify_executable(const module_image_t* image, place_t at, const module_executable_t* row) {
  CHECK_STRING(name);
  CHECK_RANGE("variants", row->variant_first, row->variant_count, image->variants_count);
  IREE_RETURN_IF_ERROR(take_steps(at, row->variant_count));
  for (uint32_t i = 0; i < row->variant_count; ++i) {
    const module_variant_t* variant = &image->variants[row->variant_first + i];
    CHECK_RANGE("entry points", variant->point_first, row->point_count, image->points_count);
  }
  return iree_ok_status();
}

static iree_status_t verify_variant(const module_image_t* image, place_t at, const module_variant_t* row) {
  CHECK_INDEX("target", row->target, image->targets_count);
  CHECK_STRING(format);
  CHECK_INDEX("segment", row->segment, image->segments_count);
  return iree_ok_status();
}

static iree_status_t verify_point(const module_image_t* image, place_t at, const module_point_row_t* row) {
  CHECK_STRING(name);
  CHECK_INDEX("bindings", row->binding_count, BINDING_LIMIT);
  CHECK_INDEX("push constants", row->constant_count, PUSH_LIMIT);
  return iree_ok_status();
}

static iree_status_t verify_shape(const module_image_t* image, place_t at, const module_shape_row_t* row) {
  CHECK_STRING(name);
  CHECK_INDEX("rank", row->rank, RANK_LIMIT);
  CHECK_RANGE("dimensions", row->dim_first, row->rank, image->dims_count);
  for (uint32_t i = 0; i < row->rank; ++i) {
    int64_t dim = image->dims[row->dim_first + i];
    if (dim != MODULE_DIM_DYNAMIC && (dim < 0 || dim > INT64_MAX >> 16)) return bad(at, "dimension", dim, INT64_MAX);
  }
  return iree_ok_status();
}

static iree_status_t verify_slot(const module_image_t* image, place_t at, const module_slot_t* row) {
  CHECK_INDEX("kind", row->kind, MODULE_SLOT_KIND_COUNT);
  if (row->kind == MODULE_SLOT_ARGUMENT) {
    CHECK_INDEX("argument", row->index, MODULE_NONE);
  } else {
    CHECK_INDEX("constant", row->index, image->constants_count);
    if (row->length > image->constants[row->index].length) {
      return bad(at, "length", row->length, image->constants[row->index].length);
    }
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Command tables
//===----------------------------------------------------------------------------------------------------------------===

// Literal values that reach out of a slot are refused here; parameters are checked when the table is recorded.
static iree_status_t verify_binding(const module_image_t* image, const module_table_row_t* table, place_t at,
                                    const module_binding_row_t* row) {
  uint32_t value_count = table->param_count + table->literal_count;
  CHECK_INDEX("slot", row->slot, table->slot_count);
  CHECK_INDEX("offset", row->offset, value_count);
  CHECK_INDEX("length", row->length, value_count);
  const module_slot_t* slot = &image->slots[table->slot_first + row->slot];
  const uint64_t* literals = image->literals + table->literal_first;
  if (row->offset < table->param_count) return iree_ok_status();
  uint64_t offset = literals[row->offset - table->param_count];
  if (offset > slot->length) return bad(at, "binding offset", offset, slot->length);
  if (row->length < table->param_count) return iree_ok_status();
  uint64_t length = literals[row->length - table->param_count];
  if (length != MODULE_WHOLE_BUFFER && length > slot->length - offset) {
    return bad(at, "binding length", length, slot->length - offset);
  }
  return iree_ok_status();
}

static iree_status_t verify_dispatch(const module_image_t* image, const module_table_row_t* table, place_t at,
                                     const module_command_t* row) {
  uint32_t value_count = table->param_count + table->literal_count;
  CHECK_INDEX("executable", row->executable, image->executables_count);
  const module_executable_t* executable = &image->executables[row->executable];
  CHECK_INDEX("entry point", row->entry, executable->point_count);
  IREE_RETURN_IF_ERROR(take_steps(at, executable->variant_count));
  for (uint32_t i = 0; i < executable->variant_count; ++i) {
    const module_variant_t* variant = &image->variants[executable->variant_first + i];
    const module_point_row_t* point = &image->points[variant->point_first + row->entry];
    if (point->binding_count != row->binding_count)
      return bad(at, "bindings", row->binding_count, point->binding_count);
    if (point->constant_count != row->push_count) return bad(at, "constants", row->push_count, point->constant_count);
  }
  for (int i = 0; i < 3; ++i) CHECK_INDEX("workgroup count", row->values[i], value_count);
  CHECK_INDEX("bindings", row->binding_count, BINDING_LIMIT);
  CHECK_INDEX("push constants", row->push_count, PUSH_LIMIT);
  CHECK_RANGE("push constants", row->push_first, row->push_count, image->pushes_count);
  IREE_RETURN_IF_ERROR(take_steps(at, row->push_count));
  for (uint32_t i = 0; i < row->push_count; ++i) {
    CHECK_INDEX("push constant", image->pushes[row->push_first + i] >> 1, value_count);
  }
  return iree_ok_status();
}

static iree_status_t verify_command(const module_image_t* image, const module_table_row_t* table, place_t at,
                                    const module_command_t* row) {
  static const uint32_t binding_counts[MODULE_COMMAND_KIND_COUNT] = {
      [MODULE_COMMAND_COPY] = 2, [MODULE_COMMAND_FILL] = 1, [MODULE_COMMAND_UPDATE] = 1};
  CHECK_INDEX("kind", row->kind, MODULE_COMMAND_KIND_COUNT);
  CHECK_RANGE("bindings", row->binding_first, row->binding_count, image->bindings_count);
  IREE_RETURN_IF_ERROR(take_steps(at, (uint64_t)row->binding_count + 1));
  for (uint32_t i = 0; i < row->binding_count; ++i) {
    IREE_RETURN_IF_ERROR(verify_binding(image, table, at, &image->bindings[row->binding_first + i]));
  }
  if (row->kind == MODULE_COMMAND_DISPATCH) return verify_dispatch(image, table, at, row);
  if (row->binding_count != binding_counts[row->kind]) {
    return bad(at, "bindings", row->binding_count, binding_counts[row->kind]);
  }
  if (row->push_count) return bad(at, "push constants", row->push_count, 0);
  uint32_t value_count = table->param_count + table->literal_count;
  if (row->kind == MODULE_COMMAND_FILL) {
    CHECK_INDEX("pattern", row->values[0], value_count);
    if (row->entry != 1 && row->entry != 2 && row->entry != 4) return bad(at, "pattern length", row->entry, 4);
  } else if (row->kind == MODULE_COMMAND_UPDATE) {
    CHECK_INDEX("segment", row->executable, image->segments_count);
    CHECK_INDEX("segment offset", row->values[0], value_count);
  }
  return iree_ok_status();
}

static iree_status_t verify_table(const module_image_t* image, place_t at, const module_table_row_t* row) {
  CHECK_STRING(name);
  CHECK_INDEX("parameters", row->param_count, MODULE_NONE >> 2);
  CHECK_INDEX("literals", row->literal_count, MODULE_NONE >> 2);
  CHECK_RANGE("slots", row->slot_first, row->slot_count, image->slots_count);
  CHECK_RANGE("literals", row->literal_first, row->literal_count, image->literals_count);
  CHECK_RANGE("commands", row->command_first, row->command_count, image->commands_count);
  for (uint32_t i = 0; i < row->command_count; ++i) {
    place_t command = {"commands", row->command_first + i, at.steps};
    IREE_RETURN_IF_ERROR(verify_command(image, row, command, &image->commands[row->command_first + i]));
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// All
//===----------------------------------------------------------------------------------------------------------------===

#define VERIFY_ROWS(field, verify_row)                                                       \
  for (uint32_t i = 0; i < image->field##_count; ++i) {                                      \
    IREE_RETURN_IF_ERROR(verify_row(image, (place_t){#field, i, &steps}, &image->field[i])); \
  }

static iree_status_t verify_header(const module_image_t* image) {
  place_t at = {"header", 0, NULL};
  CHECK_INDEX("name", image->header->name, image->strings_count);
  CHECK_RANGE("attributes", image->header->attr_first, image->header->attr_count, image->attrs_count);
  uint32_t init = image->header->init_function;
  if (init == MODULE_NONE) return iree_ok_status();
  CHECK_INDEX("initializer", init, image->functions_count);
  if (!iree_string_view_equal(module_image_string(image, image->functions[init].convention), IREE_SV("0v_v"))) {
    return bad(at, "initializer with arguments", init, 0);
  }
  return iree_ok_status();
}

iree_status_t module_verify_tables(const module_image_t* image) {
  uint64_t steps = MODULE_VERIFY_STEPS(image);
  VERIFY_ROWS(strings, verify_string);
  VERIFY_ROWS(attrs, verify_attr);
  VERIFY_ROWS(dependencies, verify_dependency);
  VERIFY_ROWS(imports, verify_import);
  VERIFY_ROWS(registers, verify_register);
  VERIFY_ROWS(functions, verify_function);
  VERIFY_ROWS(exports, verify_export);
  VERIFY_ROWS(globals, verify_global);
  VERIFY_ROWS(devices, verify_device);
  VERIFY_ROWS(targets, verify_target);
  VERIFY_ROWS(segments, verify_segment);
  VERIFY_ROWS(constants, verify_constant);
  VERIFY_ROWS(points, verify_point);
  VERIFY_ROWS(variants, verify_variant);
  VERIFY_ROWS(executables, verify_executable);
  VERIFY_ROWS(shapes, verify_shape);
  VERIFY_ROWS(slots, verify_slot);
  VERIFY_ROWS(tables, verify_table);
  return verify_header(image);
}
