// Checks every instruction of every function: opcodes, register indices and types, index operands, branch targets,
// calls against their callees' conventions, and that no path runs off the end of the code.

#include <inttypes.h>

#include "module/image.h"

typedef struct checker_t {
  const module_image_t* image;
  uint32_t function_index;
  const module_function_row_t* function;
  const vm_word_t* code;
  uint8_t* starts;    // one bit for each word where an instruction starts
  uint32_t position;  // of the current instruction
  vm_type_t v_type;
  vm_operand_t operands[8];
  uint32_t operand_count;
  uint64_t* steps;  // that are left
} checker_t;

static iree_status_t bad(const checker_t* checker, const char* what) {
  iree_string_view_t name = module_image_string(checker->image, checker->function->name);
  vm_word_t op = checker->position < checker->function->code_count ? checker->code[checker->position] : VM_OP_COUNT;
  const vm_op_info_t* info = vm_op_info(op);
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "module is damaged: function %u `%.*s` word %u (%s): %s",
                          checker->function_index, (int)name.size, name.data, checker->position,
                          info ? info->name : "no instruction", what);
}

static iree_status_t take_steps(const checker_t* checker, uint64_t count) {
  if (count > *checker->steps) return bad(checker, "rows are shared by more than a module of its size has");
  *checker->steps -= count;
  return iree_ok_status();
}

// A convention that was verified; its length is work.
static iree_status_t take_convention(const checker_t* checker, uint32_t string, module_convention_t* out_convention) {
  iree_string_view_t text = module_image_string(checker->image, string);
  module_convention_parse(text, out_convention);
  return take_steps(checker, text.size);
}

static vm_type_t register_type(const checker_t* checker, vm_word_t reg) {
  uint32_t index = reg & (VM_REGISTER_REF - 1);
  if (reg & VM_REGISTER_REF) return index < checker->function->ref_count ? VM_TYPE_REF : VM_TYPE_NONE;
  if (index >= checker->function->value_count) return VM_TYPE_NONE;
  return (vm_type_t)checker->image->registers[checker->function->register_first + index];
}

static bool check_register(checker_t* checker, char letter, vm_word_t reg) {
  vm_type_t type = register_type(checker, reg);
  if (type == VM_TYPE_NONE) return false;
  if (letter == 'a') return true;
  if (letter != 'v') return type == vm_type_of_letter(letter);
  if (type == VM_TYPE_REF) return false;
  if (checker->v_type == VM_TYPE_NONE) checker->v_type = type;
  return type == checker->v_type;
}

static uint32_t index_limit(const module_image_t* image, char letter) {
  const struct {
    char letter;
    uint32_t count;
  } limits[] = {
#define INDEX_LETTER(letter, SECTION, field) {letter, image->field##_count},
      MODULE_INDEX_LETTERS(INDEX_LETTER)
#undef INDEX_LETTER
  };
  for (size_t i = 0; i < IREE_ARRAYSIZE(limits); ++i) {
    if (limits[i].letter == letter) return limits[i].count;
  }
  return 0;
}

// Branch targets are checked later, when all instruction starts are known.
static iree_status_t check_operand(checker_t* checker, const vm_operand_t* operand) {
  char letter = operand->kind.letter;
  if (strchr("L1234", letter)) return iree_ok_status();
  uint32_t limit = index_limit(checker->image, letter);
  for (uint32_t i = 0; i < operand->count; ++i) {
    vm_word_t word = checker->code[operand->at + i];
    if (vm_operand_is_register(letter)) {
      if (!check_register(checker, letter, word)) return bad(checker, "wrong register");
    } else if (word >= limit) {
      return bad(checker, "index out of range");
    }
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// What signatures can not say
//===----------------------------------------------------------------------------------------------------------------===

static uint32_t index_of(const checker_t* checker, uint32_t operand) {
  return checker->code[checker->operands[operand].at];
}

static vm_word_t register_of(const checker_t* checker, uint32_t operand) {
  return checker->code[checker->operands[operand].at];
}

static bool list_matches(const checker_t* checker, uint32_t operand, const char* letters, uint32_t count) {
  const vm_operand_t* list = &checker->operands[operand];
  if (list->count != count) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (register_type(checker, checker->code[list->at + i]) != vm_type_of_letter(letters[i])) return false;
  }
  return true;
}

static iree_status_t check_call(const checker_t* checker, uint32_t convention_string) {
  module_convention_t convention;
  IREE_RETURN_IF_ERROR(take_convention(checker, convention_string, &convention));
  if (!module_convention_parse(module_image_string(checker->image, convention_string), &convention)) {
    return bad(checker, "the callee takes spans");
  }
  if (!list_matches(checker, 0, convention.results, convention.result_count) ||
      !list_matches(checker, 2, convention.arguments, convention.argument_count)) {
    return bad(checker, "operands do not fit the callee");
  }
  return iree_ok_status();
}

// Whether the registers of operand 2 are the arguments, each span with as many tuples as operand 3 says.
static bool spans_match(const checker_t* checker, const module_convention_t* convention) {
  const vm_operand_t *regs = &checker->operands[2], *counts = &checker->operands[3];
  const char *at = convention->arguments, *end = at + convention->argument_count;
  const char* span = NULL;  // the first letter of the tuple
  uint32_t reg = 0, span_index = 0, tuples = 0;
  while (at < end) {
    if (*at == 'C') {
      if (span_index == counts->count) return false;
      tuples = checker->code[counts->at + span_index++];
      span = ++at;
      if (!tuples) at = memchr(at, 'D', (size_t)(end - at));
    } else if (*at == 'D') {
      at = tuples > 1 ? span : at + 1;
      if (tuples) --tuples;
    } else {
      if (reg == regs->count) return false;
      if (register_type(checker, checker->code[regs->at + reg++]) != vm_type_of_letter(*at++)) return false;
    }
  }
  return reg == regs->count && span_index == counts->count;
}

static iree_status_t check_call_spans(const checker_t* checker, uint32_t convention_string) {
  module_convention_t convention;
  iree_string_view_t text = module_image_string(checker->image, convention_string);
  IREE_RETURN_IF_ERROR(take_steps(checker, text.size));
  module_convention_parse_spans(text, &convention);
  if (!list_matches(checker, 0, convention.results, convention.result_count) || !spans_match(checker, &convention)) {
    return bad(checker, "operands do not fit the callee");
  }
  return iree_ok_status();
}

static iree_status_t check_return(const checker_t* checker) {
  module_convention_t convention;
  IREE_RETURN_IF_ERROR(take_convention(checker, checker->function->convention, &convention));
  if (!list_matches(checker, 0, convention.results, convention.result_count)) {
    return bad(checker, "results do not fit the function");
  }
  return iree_ok_status();
}

static iree_status_t check_global(const checker_t* checker, uint32_t global, uint32_t reg) {
  if (checker->image->globals[index_of(checker, global)].type != register_type(checker, register_of(checker, reg))) {
    return bad(checker, "global of another type");
  }
  return iree_ok_status();
}

static iree_status_t check_execute(const checker_t* checker) {
  const module_table_row_t* table = &checker->image->tables[index_of(checker, 1)];
  IREE_RETURN_IF_ERROR(take_steps(checker, table->slot_count));
  if (checker->operands[2].count != table->param_count ||
      checker->operands[3].count != module_table_argument_count(checker->image, table)) {
    return bad(checker, "operands do not fit the command table");
  }
  return iree_ok_status();
}

static iree_status_t check_open_dims(const checker_t* checker, uint32_t shape, uint32_t list) {
  const module_shape_row_t* row = &checker->image->shapes[index_of(checker, shape)];
  if (checker->operands[list].count != module_shape_open_count(checker->image, row)) {
    return bad(checker, "dimensions do not fit the shape");
  }
  return iree_ok_status();
}

static iree_status_t check_literal(const checker_t* checker, uint32_t operand, uint32_t first, uint32_t last) {
  uint32_t value = index_of(checker, operand);
  return value >= first && value <= last ? iree_ok_status() : bad(checker, "literal out of range");
}

static iree_status_t check_special(const checker_t* checker) {
  const module_image_t* image = checker->image;
  switch (checker->code[checker->position]) {
    case VM_OP_call:
      return check_call(checker, image->functions[index_of(checker, 1)].convention);
    case VM_OP_call_import:
      return check_call(checker, image->imports[index_of(checker, 1)].convention);
    case VM_OP_call_import_spans:
      return check_call_spans(checker, image->imports[index_of(checker, 1)].convention);
    case VM_OP_return:
      return check_return(checker);
    case VM_OP_fail:
      return check_literal(checker, 0, 1, IREE_STATUS_INCOMPATIBLE);
    case VM_OP_fail_if:
    case VM_OP_fail_numbers:
      return check_literal(checker, 1, 1, IREE_STATUS_INCOMPATIBLE);
    case VM_OP_global_load:
    case VM_OP_global_load_ref:
      return check_global(checker, 1, 0);
    case VM_OP_global_store:
    case VM_OP_global_store_ref:
      return check_global(checker, 0, 1);
    case VM_OP_hal_stream_begin:
      return check_literal(checker, 3, 0, 1);
    case VM_OP_hal_execute:
      return check_execute(checker);
    case VM_OP_hal_fill:
      return index_of(checker, 5) == 3 ? bad(checker, "pattern length 3") : check_literal(checker, 5, 1, 4);
    case VM_OP_hal_view_unwrap:
      return check_open_dims(checker, 3, 1);
    case VM_OP_hal_view_create:
      return check_open_dims(checker, 2, 3);
    default:
      return iree_ok_status();
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Functions
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t check_instruction(checker_t* checker, uint32_t* out_next) {
  vm_operands_t operands;
  vm_operand_t operand;
  if (!vm_operands_begin(checker->code, checker->function->code_count, checker->position, &operands)) {
    return bad(checker, "unknown instruction");
  }
  checker->v_type = VM_TYPE_NONE;
  checker->operand_count = 0;
  while (vm_operands_next(&operands, &operand)) {
    IREE_RETURN_IF_ERROR(check_operand(checker, &operand));
    checker->operands[checker->operand_count++] = operand;
  }
  if (operands.truncated) return bad(checker, "truncated");
  *out_next = operands.position;
  return check_special(checker);
}

static bool ends_path(vm_word_t op) {
  return op == VM_OP_br || op == VM_OP_br_if || op == VM_OP_switch || op == VM_OP_return || op == VM_OP_fail;
}

static bool is_start(const checker_t* checker, uint32_t position) {
  return position < checker->function->code_count && (checker->starts[position / 8] >> (position % 8) & 1);
}

static iree_status_t check_targets(checker_t* checker) {
  vm_operands_t operands;
  vm_operand_t operand;
  for (uint32_t at = 0; at < checker->function->code_count; at = operands.position) {
    checker->position = at;
    vm_operands_begin(checker->code, checker->function->code_count, at, &operands);
    while (vm_operands_next(&operands, &operand)) {
      for (uint32_t i = 0; operand.kind.letter == 'L' && i < operand.count; ++i) {
        if (!is_start(checker, checker->code[operand.at + i])) {
          return bad(checker, "branch into the middle of an instruction");
        }
      }
    }
  }
  return iree_ok_status();
}

static iree_status_t check_function(checker_t* checker) {
  vm_word_t last = VM_OP_COUNT;
  checker->position = 0;
  IREE_RETURN_IF_ERROR(take_steps(checker, checker->function->code_count));
  for (uint32_t next = 0; next < checker->function->code_count;) {
    checker->position = next;
    last = checker->code[next];
    checker->starts[next / 8] |= (uint8_t)(1u << (next % 8));
    IREE_RETURN_IF_ERROR(check_instruction(checker, &next));
  }
  if (!ends_path(last)) return bad(checker, "the function has no end");
  return check_targets(checker);
}

iree_status_t module_verify_code(const module_image_t* image, iree_allocator_t allocator) {
  uint32_t longest = 0;
  for (uint32_t i = 0; i < image->functions_count; ++i) {
    if (image->functions[i].code_count > longest) longest = image->functions[i].code_count;
  }
  uint64_t steps = MODULE_VERIFY_STEPS(image);
  checker_t checker = {.image = image, .steps = &steps};
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, longest / 8 + 1, (void**)&checker.starts));
  iree_status_t status = iree_ok_status();
  for (uint32_t i = 0; i < image->functions_count && iree_status_is_ok(status); ++i) {
    checker.function_index = i;
    checker.function = &image->functions[i];
    checker.code = image->code + checker.function->code_first;
    memset(checker.starts, 0, checker.function->code_count / 8 + 1);
    status = check_function(&checker);
  }
  iree_allocator_free(allocator, checker.starts);
  return status;
}
