// The writer's functions: registers, labels and instructions checked against their rows as they are appended.

#include <inttypes.h>

#include "module/writer_internal.h"

// A branch target to fill in when the function ends.
typedef struct fixup_t {
  uint32_t position;  // word
  uint32_t label;
} fixup_t;

enum { BANK_LIMIT = VM_REGISTER_REF - 1 };

// What an instruction's operands are matched with.
typedef struct emission_t {
  module_function_t* function;
  const vm_op_info_t* info;
  vm_type_t v_type;  // of the `v` operands so far
} emission_t;

static bool is_ok(const module_function_t* function) { return function && WRITER_OK(function->writer); }

static void push_word(module_function_t* function, vm_word_t word) {
  module_writer_push(function->writer, &function->code, 1, &word);
}

static void push_words(module_function_t* function, const void* value, size_t size) {
  module_writer_push(function->writer, &function->code, size / sizeof(vm_word_t), value);
}

static vm_type_t register_type(const module_function_t* function, module_reg_t reg) {
  uint32_t index = reg & (VM_REGISTER_REF - 1);
  if (reg & VM_REGISTER_REF) return index < function->ref_count ? VM_TYPE_REF : VM_TYPE_NONE;
  return index < function->types.count ? (vm_type_t)((const uint8_t*)function->types.data)[index] : VM_TYPE_NONE;
}

//===----------------------------------------------------------------------------------------------------------------===
// Functions, registers, labels
//===----------------------------------------------------------------------------------------------------------------===

static module_function_t* make_function(module_writer_t* writer) {
  module_function_t* function = module_writer_allocate(writer, sizeof(*function));
  if (!function) return NULL;
  function->writer = writer;
  function->code.row_size = sizeof(vm_word_t);
  function->types.row_size = sizeof(uint8_t);
  function->labels.row_size = sizeof(uint32_t);
  function->fixups.row_size = sizeof(fixup_t);
  function->arguments.row_size = sizeof(module_reg_t);
  module_writer_push(writer, &writer->functions, 1, &function);
  if (WRITER_OK(writer)) return function;
  iree_allocator_free(writer->allocator, function);
  return NULL;
}

// Makes the argument registers; false when the convention is not one.
static bool add_arguments(module_function_t* function, iree_string_view_t convention) {
  if (convention.size < 4 || convention.data[0] != '0') return false;
  const char* at = convention.data + 1;
  const char* end = convention.data + convention.size;
  if (*at == 'v') {
    ++at;
  } else {
    for (; at < end && *at != '_'; ++at) {
      if (vm_type_of_letter(*at) == VM_TYPE_NONE) return false;
      module_reg_t reg = module_function_register(function, vm_type_of_letter(*at));
      module_writer_push(function->writer, &function->arguments, 1, &reg);
    }
  }
  if (at == end || *at++ != '_' || at == end) return false;
  if (*at == 'v') return at + 1 == end;
  for (; at < end; ++at) {
    if (vm_type_of_letter(*at) == VM_TYPE_NONE) return false;
  }
  return true;
}

module_function_t* module_writer_function(module_writer_t* writer, iree_string_view_t name,
                                          iree_string_view_t convention) {
  if (!WRITER_OK(writer)) return NULL;
  module_function_row_t row = {.name = module_writer_string(writer, name),
                               .convention = module_writer_string(writer, convention)};
  module_function_t* function = make_function(writer);
  if (!function) return NULL;
  function->index = module_writer_append(writer, MODULE_SECTION_FUNCTIONS, 1, &row);
  if (!add_arguments(function, convention)) {
    module_writer_fail(writer, iree_make_status(IREE_STATUS_INTERNAL, "function '%.*s' has a bad convention '%.*s'",
                                                (int)name.size, name.data, (int)convention.size, convention.data));
  }
  return function;
}

uint32_t module_function_index(const module_function_t* function) { return function ? function->index : 0; }

module_reg_t module_function_argument(module_function_t* function, uint32_t ordinal) {
  if (!is_ok(function)) return 0;
  if (ordinal < function->arguments.count) return *ROWS_AT(&function->arguments, module_reg_t, ordinal);
  module_writer_fail(function->writer, iree_make_status(IREE_STATUS_INTERNAL, "no argument %u", ordinal));
  return 0;
}

module_reg_t module_function_register(module_function_t* function, vm_type_t type) {
  if (!is_ok(function)) return 0;
  uint32_t index = type == VM_TYPE_REF ? function->ref_count : (uint32_t)function->types.count;
  if (index >= BANK_LIMIT || type >= VM_TYPE_COUNT) {
    module_writer_fail(function->writer, iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                                                          "function %u has too many registers", function->index));
    return 0;
  }
  if (type == VM_TYPE_REF) {
    ++function->ref_count;
    return index | VM_REGISTER_REF;
  }
  module_writer_push(function->writer, &function->types, 1, &(uint8_t){(uint8_t)type});
  return index;
}

module_reg_t module_function_i32(module_function_t* function, int32_t value) {
  return module_emit_value(function, const_i32, MODULE_IMM(value));
}

module_reg_t module_function_i64(module_function_t* function, int64_t value) {
  return module_emit_value(function, const_i64, MODULE_IMM(value));
}

module_reg_t module_function_null(module_function_t* function) { return module_function_ref(function); }

module_label_t module_function_label(module_function_t* function) {
  if (!is_ok(function)) return 0;
  return module_writer_push(function->writer, &function->labels, 1, &(uint32_t){MODULE_NONE});
}

void module_function_bind(module_function_t* function, module_label_t label) {
  if (!is_ok(function)) return;
  uint32_t* position = ROWS_AT(&function->labels, uint32_t, label);
  if (label >= function->labels.count || *position != MODULE_NONE) {
    module_writer_fail(function->writer, iree_make_status(IREE_STATUS_INTERNAL, "label %u bound twice", label));
    return;
  }
  *position = (uint32_t)function->code.count;
}

void module_function_location(module_function_t* function, iree_string_view_t file, uint32_t line, uint32_t column) {
  if (!is_ok(function)) return;
  module_location_t row = {.kind = MODULE_LOCATION_FUNCTION,
                           .index = function->index,
                           .position = (uint32_t)function->code.count,
                           .file = module_writer_file_name(function->writer, file),
                           .line = line,
                           .column = column};
  module_writer_push(function->writer, &function->writer->locations, 1, &row);
}

//===----------------------------------------------------------------------------------------------------------------===
// Instructions
//===----------------------------------------------------------------------------------------------------------------===

// Rows that an index letter refers to; MODULE_SECTION_COUNT for letters that are no index.
static module_section_kind_t section_of_letter(char letter) {
  switch (letter) {
#define INDEX_LETTER(letter, SECTION, field) \
  case letter:                               \
    return MODULE_SECTION_##SECTION;
    MODULE_INDEX_LETTERS(INDEX_LETTER)
#undef INDEX_LETTER
    default:
      return MODULE_SECTION_COUNT;
  }
}

static bool register_fits(emission_t* emission, char letter, module_reg_t reg) {
  vm_type_t type = register_type(emission->function, reg);
  if (type == VM_TYPE_NONE) return false;
  if (letter == 'a') return true;
  if (letter != 'v') return type == vm_type_of_letter(letter);
  if (type == VM_TYPE_REF) return false;
  if (emission->v_type == VM_TYPE_NONE) emission->v_type = type;
  return type == emission->v_type;
}

static bool push_register(emission_t* emission, char letter, module_reg_t reg) {
  if (!register_fits(emission, letter, reg)) return false;
  push_word(emission->function, reg);
  return true;
}

static bool push_label(emission_t* emission, module_label_t label) {
  module_function_t* function = emission->function;
  if (label >= function->labels.count) return false;
  fixup_t fixup = {(uint32_t)function->code.count, label};
  module_writer_push(function->writer, &function->fixups, 1, &fixup);
  push_words(function, &label, sizeof(label));
  return true;
}

static bool push_integer(emission_t* emission, char letter, int64_t value) {
  module_function_t* function = emission->function;
  if (letter == '2') {
    push_words(function, &value, sizeof(value));
    return true;
  }
  module_section_kind_t section = section_of_letter(letter);
  bool in_range = letter == '1' ? value >= INT32_MIN && value <= UINT32_MAX
                                : section != MODULE_SECTION_COUNT && value >= 0 &&
                                      value < module_writer_count(function->writer, section);
  push_words(function, &(uint32_t){(uint32_t)value}, sizeof(uint32_t));
  return in_range;
}

static bool push_float(emission_t* emission, char letter, double value) {
  if (letter == '3') push_words(emission->function, &(float){(float)value}, sizeof(float));
  if (letter == '4') push_words(emission->function, &value, sizeof(value));
  return letter == '3' || letter == '4';
}

static bool push_item(emission_t* emission, char letter, const module_operand_t* list, uint32_t i) {
  switch (list->kind) {
    case MODULE_OPERAND_REGISTER_LIST:
      return vm_operand_is_register(letter) && push_register(emission, letter, list->regs[i]);
    case MODULE_OPERAND_LABEL_LIST:
      return letter == 'L' && push_label(emission, list->labels[i]);
    case MODULE_OPERAND_INTEGER_LIST:
      return letter == '1' && push_integer(emission, letter, list->integers[i]);
    default:
      return false;
  }
}

static bool push_list(emission_t* emission, char letter, const module_operand_t* operand) {
  push_word(emission->function, operand->count);
  for (uint32_t i = 0; i < operand->count; ++i) {
    if (!push_item(emission, letter, operand, i)) return false;
  }
  return true;
}

static bool push_operand(emission_t* emission, vm_operand_kind_t kind, const module_operand_t* operand) {
  if (kind.is_list) return push_list(emission, kind.letter, operand);
  switch (operand->kind) {
    case MODULE_OPERAND_REGISTER:
      return vm_operand_is_register(kind.letter) && push_register(emission, kind.letter, operand->reg);
    case MODULE_OPERAND_LABEL:
      return kind.letter == 'L' && push_label(emission, operand->label);
    case MODULE_OPERAND_INTEGER:
      return !vm_operand_is_register(kind.letter) && push_integer(emission, kind.letter, operand->integer);
    case MODULE_OPERAND_FLOAT:
      return push_float(emission, kind.letter, operand->real);
    default:
      return false;
  }
}

static void fail_emission(const emission_t* emission, size_t operand) {
  module_writer_fail(
      emission->function->writer,
      iree_make_status(IREE_STATUS_INTERNAL, "function %u, word %zu: operand %zu of %s does not fit `%s`",
                       emission->function->index, emission->function->code.count, operand, emission->info->name,
                       emission->info->signature));
}

void module_function_emit(module_function_t* function, vm_op_t op, const module_operand_t* operands, size_t count) {
  if (!is_ok(function)) return;
  emission_t emission = {function, vm_op_info(op), VM_TYPE_NONE};
  const char* cursor = emission.info->signature;
  bool in_results = vm_signature_has_results(cursor);
  vm_operand_kind_t kind;
  push_word(function, op);
  size_t used = 0;
  for (; vm_signature_next(&cursor, &in_results, &kind); ++used) {
    if (used < count && push_operand(&emission, kind, &operands[used])) continue;
    fail_emission(&emission, used);
    return;
  }
  if (used != count) fail_emission(&emission, used);
}

module_reg_t module_function_emit_value(module_function_t* function, vm_op_t op, const module_operand_t* operands,
                                        size_t count) {
  if (!is_ok(function)) return 0;
  vm_type_t type = vm_type_of_letter(vm_op_info(op)->signature[0]);
  for (size_t i = count; i-- > 0 && type == VM_TYPE_NONE;) {
    if (operands[i].kind == MODULE_OPERAND_REGISTER && !(operands[i].reg & VM_REGISTER_REF)) {
      type = register_type(function, operands[i].reg);
    }
  }
  module_operand_t all[16];
  if (type == VM_TYPE_NONE || count >= sizeof(all) / sizeof(all[0])) {
    fail_emission(&(emission_t){function, vm_op_info(op), VM_TYPE_NONE}, 0);
    return 0;
  }
  module_reg_t result = module_function_register(function, type);
  all[0] = MODULE_REG(result);
  memcpy(all + 1, operands, count * sizeof(*operands));
  module_function_emit(function, op, all, count + 1);
  return result;
}

//===----------------------------------------------------------------------------------------------------------------===
// Ends
//===----------------------------------------------------------------------------------------------------------------===

static void apply_fixups(module_function_t* function) {
  for (size_t i = 0; i < function->fixups.count; ++i) {
    const fixup_t* fixup = ROWS_AT(&function->fixups, fixup_t, i);
    uint32_t position = *ROWS_AT(&function->labels, uint32_t, fixup->label);
    if (position == MODULE_NONE) {
      module_writer_fail(function->writer, iree_make_status(IREE_STATUS_INTERNAL, "function %u uses unbound label %u",
                                                            function->index, fixup->label));
      return;
    }
    *ROWS_AT(&function->code, vm_word_t, fixup->position) = position;
  }
}

void module_writer_finish_function(module_function_t* function) {
  module_writer_t* writer = function->writer;
  module_function_row_t* row =
      ROWS_AT(&writer->sections[MODULE_SECTION_FUNCTIONS], module_function_row_t, function->index);
  if (!WRITER_OK(writer) || row->code_count) return;
  apply_fixups(function);
  row->value_count = (uint32_t)function->types.count;
  row->ref_count = function->ref_count;
  row->code_count = (uint32_t)function->code.count;
  row->code_first = module_writer_append(writer, MODULE_SECTION_CODE, function->code.count, function->code.data);
  row->register_first =
      module_writer_append(writer, MODULE_SECTION_REGISTERS, function->types.count, function->types.data);
}

void module_writer_free_function(module_function_t* function) {
  iree_allocator_t allocator = function->writer->allocator;
  rows_finish(&function->code, allocator);
  rows_finish(&function->types, allocator);
  rows_finish(&function->labels, allocator);
  rows_finish(&function->fixups, allocator);
  rows_finish(&function->arguments, allocator);
  iree_allocator_free(allocator, function);
}

//===----------------------------------------------------------------------------------------------------------------===
// Synchronous and asynchronous exports of one body
//===----------------------------------------------------------------------------------------------------------------===

static iree_string_view_t convention_of(const module_function_t* function) {
  const module_writer_t* writer = function->writer;
  const module_function_row_t* row =
      ROWS_AT(&writer->sections[MODULE_SECTION_FUNCTIONS], module_function_row_t, function->index);
  const module_string_t* text = ROWS_AT(&writer->sections[MODULE_SECTION_STRINGS], module_string_t, row->convention);
  return iree_make_string_view((const char*)writer->sections[MODULE_SECTION_STRING_BYTES].data + text->offset,
                               text->length);
}

static void emit_pair_call(module_function_t* wrapper, const module_function_t* body, const char* results) {
  uint32_t argument_count = (uint32_t)wrapper->arguments.count, output_count = 0;
  module_reg_t* registers =
      module_writer_allocate(wrapper->writer, sizeof(*registers) * (argument_count + 2 + strlen(results)));
  if (!registers) return;
  module_reg_t* outputs = registers + argument_count + 2;
  for (uint32_t i = 0; i < argument_count; ++i) registers[i] = module_function_argument(wrapper, i);
  registers[argument_count++] = module_function_null(wrapper);
  registers[argument_count++] = module_function_null(wrapper);
  for (; *results && *results != 'v'; ++results) {
    outputs[output_count++] = module_function_register(wrapper, vm_type_of_letter(*results));
  }
  module_emit(wrapper, call, MODULE_LIST(output_count, outputs), MODULE_INDEX(body->index),
              MODULE_LIST(argument_count, registers));
  module_emit(wrapper, return, MODULE_LIST(output_count, outputs));
  iree_allocator_free(wrapper->writer->allocator, registers);
}

// The wrapper's convention: the body's without the two fences.
static char* pair_convention(module_writer_t* writer, const module_function_t* body) {
  iree_string_view_t full = convention_of(body);
  size_t split = iree_string_view_find_char(full, '_', 0);
  if (split < 3 || split == IREE_STRING_VIEW_NPOS || full.data[split - 1] != 'r' || full.data[split - 2] != 'r') {
    module_writer_fail(writer, iree_make_status(IREE_STATUS_INTERNAL, "'%.*s' is no body with two fences at the end",
                                                (int)full.size, full.data));
    return NULL;
  }
  char* convention = module_writer_allocate(writer, full.size + 1);
  if (!convention) return NULL;
  snprintf(convention, full.size + 1, "%.*s%s%.*s", (int)split - 2, full.data, split == 3 ? "v" : "",
           (int)(full.size - split), full.data + split);
  return convention;
}

static void export_async(module_writer_t* writer, iree_string_view_t name, const module_function_t* body,
                         size_t attr_count, const module_pair_t* attrs) {
  module_pair_t* async_attrs = module_writer_allocate(writer, (attr_count + 1) * sizeof(*async_attrs));
  char* async_name = module_writer_allocate(writer, name.size + sizeof("$async"));
  if (async_attrs && async_name) {
    snprintf(async_name, name.size + sizeof("$async"), "%.*s$async", (int)name.size, name.data);
    if (attr_count) memcpy(async_attrs, attrs, attr_count * sizeof(*attrs));
    async_attrs[attr_count] = (module_pair_t){IREE_SV("iree.abi.model"), IREE_SV("coarse-fences")};
    module_writer_export(writer, iree_make_cstring_view(async_name), body, attr_count + 1, async_attrs);
  }
  iree_allocator_free(writer->allocator, async_attrs);
  iree_allocator_free(writer->allocator, async_name);
}

void module_writer_export_pair(module_writer_t* writer, iree_string_view_t name, const module_function_t* body,
                               size_t attr_count, const module_pair_t* attrs) {
  if (!WRITER_OK(writer) || !body) return;
  char* convention = pair_convention(writer, body);
  if (!convention) return;
  module_function_t* wrapper = module_writer_function(writer, name, iree_make_cstring_view(convention));
  if (wrapper) emit_pair_call(wrapper, body, strchr(convention, '_') + 1);
  iree_allocator_free(writer->allocator, convention);
  module_writer_export(writer, name, wrapper, attr_count, attrs);
  export_async(writer, name, body, attr_count, attrs);
}
