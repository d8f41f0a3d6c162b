// Disassembly: functions as blocks of instructions, command tables as lists of commands.

#include <inttypes.h>

#include "module/dump.h"

#define SV_ARGS(view) (int)(view).size, (view).data

static iree_string_view_t text_of(const module_image_t* image, uint32_t string) {
  return module_image_string(image, string);
}

//===----------------------------------------------------------------------------------------------------------------===
// Functions
//===----------------------------------------------------------------------------------------------------------------===

typedef struct printer_t {
  const module_image_t* image;
  const module_function_row_t* function;
  const vm_word_t* code;
  uint8_t* targets;  // one bit per word that is a branch target
  FILE* file;
} printer_t;

static bool is_target(const printer_t* printer, uint32_t position) {
  return printer->targets[position / 8] >> (position % 8) & 1;
}

static void mark_targets(printer_t* printer) {
  vm_operands_t operands;
  vm_operand_t operand;
  for (uint32_t at = 0; vm_operands_begin(printer->code, printer->function->code_count, at, &operands);
       at = operands.position) {
    while (vm_operands_next(&operands, &operand)) {
      for (uint32_t i = 0; operand.kind.letter == 'L' && i < operand.count; ++i) {
        uint32_t target = printer->code[operand.at + i];
        printer->targets[target / 8] |= (uint8_t)(1u << (target % 8));
      }
    }
  }
}

// Blocks are numbered in order; the entry is ^bb0.
static uint32_t block_number(const printer_t* printer, uint32_t position) {
  uint32_t number = 0;
  for (uint32_t i = 1; i <= position; ++i) number += is_target(printer, i);
  return number;
}

static void print_register(const printer_t* printer, vm_word_t reg) {
  if (reg & VM_REGISTER_REF) {
    fprintf(printer->file, "%%r%u", reg & (VM_REGISTER_REF - 1));
    return;
  }
  vm_type_t type = (vm_type_t)printer->image->registers[printer->function->register_first + reg];
  fprintf(printer->file, "%%%c%u", vm_type_letter(type), reg);
}

// The name behind an index operand.
static void print_index(const printer_t* printer, char letter, uint32_t index) {
  const module_image_t* image = printer->image;
  uint32_t name = 0;
  switch (letter) {
    case 'S':
      fprintf(printer->file, "\"%.*s\"", SV_ARGS(text_of(image, index)));
      return;
    case 'N':
      name = image->functions[index].name;
      break;
    case 'M':
      name = image->imports[index].name;
      break;
    case 'G':
      name = image->globals[index].name;
      break;
    case 'D':
      name = image->devices[index].name;
      break;
    case 'T':
      name = image->tables[index].name;
      break;
    case 'H':
      name = image->shapes[index].name;
      break;
    case 'B':
      name = image->segments[index].entry;
      break;
    default:
      fprintf(printer->file, "#%u", index);
      return;
  }
  fprintf(printer->file, "@%.*s", SV_ARGS(text_of(image, name)));
}

static void print_word_operand(const printer_t* printer, char letter, uint32_t at) {
  const vm_word_t* words = printer->code + at;
  float f32;
  double f64;
  switch (letter) {
    case '1':
      fprintf(printer->file, "%" PRId32, (int32_t)*words);
      break;
    case '2':
      fprintf(printer->file, "%" PRId64, (int64_t)vm_read_u64(words));
      break;
    case '3':
      memcpy(&f32, words, sizeof(f32));
      fprintf(printer->file, "%.9g", f32);
      break;
    case '4':
      memcpy(&f64, words, sizeof(f64));
      fprintf(printer->file, "%.17g", f64);
      break;
    case 'L':
      fprintf(printer->file, "^bb%u", block_number(printer, *words));
      break;
    default:
      if (vm_operand_is_register(letter)) {
        print_register(printer, *words);
      } else {
        print_index(printer, letter, *words);
      }
      break;
  }
}

static void print_operand(const printer_t* printer, const vm_operand_t* operand) {
  if (operand->kind.is_list) fputc('[', printer->file);
  for (uint32_t i = 0; i < operand->count; ++i) {
    if (i) fputs(", ", printer->file);
    print_word_operand(printer, operand->kind.letter, operand->at + i * vm_operand_words(operand->kind.letter));
  }
  if (operand->kind.is_list) fputc(']', printer->file);
}

// Prints the instruction and returns where the next one is.
static uint32_t print_instruction(const printer_t* printer, uint32_t position) {
  vm_operands_t operands;
  vm_operand_t operand;
  vm_operands_begin(printer->code, printer->function->code_count, position, &operands);
  const char* name = vm_op_info(printer->code[position])->name;
  bool named = false;
  const char* separator = "";
  while (vm_operands_next(&operands, &operand)) {
    if (!named && !operand.kind.is_result) {
      fprintf(printer->file, "%s%s ", *separator ? " = " : "", name);
      named = true;
      separator = "";
    }
    fputs(separator, printer->file);
    print_operand(printer, &operand);
    separator = ", ";
  }
  if (!named) fprintf(printer->file, "%s%s", *separator ? " = " : "", name);
  return operands.position;
}

static void print_convention(const printer_t* printer) {
  module_convention_t convention;
  module_convention_parse(text_of(printer->image, printer->function->convention), &convention);
  fputc('(', printer->file);
  vm_word_t values = 0, refs = 0;
  for (uint32_t i = 0; i < convention.argument_count; ++i) {
    bool ref = convention.arguments[i] == 'r';
    if (i) fputs(", ", printer->file);
    print_register(printer, ref ? refs++ | VM_REGISTER_REF : values++);
    fprintf(printer->file, ": %s", vm_type_name(vm_type_of_letter(convention.arguments[i])));
  }
  fputs(") -> (", printer->file);
  for (uint32_t i = 0; i < convention.result_count; ++i) {
    fprintf(printer->file, "%s%s", i ? ", " : "", vm_type_name(vm_type_of_letter(convention.results[i])));
  }
  fputc(')', printer->file);
}

static void print_location(const printer_t* printer, uint32_t function, uint32_t position) {
  const module_location_t* location =
      module_image_location(printer->image, MODULE_LOCATION_FUNCTION, function, position);
  if (!location || location->position != position) return;
  fprintf(printer->file, "  // %s:%u:%u", printer->image->file_names + location->file, location->line,
          location->column);
}

void module_dump_function(const module_image_t* image, uint32_t function, bool offsets, FILE* file) {
  const module_function_row_t* row = &image->functions[function];
  printer_t printer = {.image = image, .function = row, .code = image->code + row->code_first, .file = file};
  printer.targets = calloc(1, row->code_count / 8 + 1);
  if (!printer.targets) return;
  mark_targets(&printer);
  fprintf(file, "vm.func @%.*s", SV_ARGS(text_of(image, row->name)));
  print_convention(&printer);
  fputs(" {\n", file);
  for (uint32_t at = 0, next; at < row->code_count; at = next) {
    if (at == 0 || is_target(&printer, at)) fprintf(file, "^bb%u:\n", block_number(&printer, at));
    if (offsets) {
      fprintf(file, "%6u  ", at);
    } else {
      fputs("  ", file);
    }
    next = print_instruction(&printer, at);
    print_location(&printer, function, at);
    fputc('\n', file);
  }
  fputs("}\n", file);
  free(printer.targets);
}

//===----------------------------------------------------------------------------------------------------------------===
// Command tables
//===----------------------------------------------------------------------------------------------------------------===

static void print_value(const module_image_t* image, const module_table_row_t* table, uint32_t value, FILE* file) {
  if (value < table->param_count) {
    fprintf(file, "%%param%u", value);
    return;
  }
  uint64_t literal = image->literals[table->literal_first + value - table->param_count];
  if (literal == MODULE_WHOLE_BUFFER) {
    fputs("end", file);
  } else {
    fprintf(file, "%" PRIu64, literal);
  }
}

static void print_binding(const module_image_t* image, const module_table_row_t* table,
                          const module_binding_row_t* binding, FILE* file) {
  const module_slot_t* slot = &image->slots[table->slot_first + binding->slot];
  fprintf(file, "%s%u[", slot->kind == MODULE_SLOT_CONSTANT ? "const" : "arg", slot->index);
  print_value(image, table, binding->offset, file);
  fputs(" for ", file);
  print_value(image, table, binding->length, file);
  fputc(']', file);
}

static void print_bindings(const module_image_t* image, const module_table_row_t* table,
                           const module_command_t* command, FILE* file) {
  for (uint32_t i = 0; i < command->binding_count; ++i) {
    if (i) fputs(", ", file);
    print_binding(image, table, &image->bindings[command->binding_first + i], file);
  }
}

static void print_dispatch(const module_image_t* image, const module_table_row_t* table,
                           const module_command_t* command, FILE* file) {
  const module_executable_t* executable = &image->executables[command->executable];
  fprintf(file, "dispatch @%.*s", SV_ARGS(text_of(image, executable->name)));
  if (executable->variant_count) {
    const module_variant_t* variant = &image->variants[executable->variant_first];
    fprintf(file, "::@%.*s", SV_ARGS(text_of(image, image->points[variant->point_first + command->entry].name)));
  } else {
    fprintf(file, "::%u", command->entry);
  }
  fputs(" workgroups(", file);
  for (int i = 0; i < 3; ++i) {
    if (i) fputs(", ", file);
    print_value(image, table, command->values[i], file);
  }
  fputs(") constants(", file);
  for (uint32_t i = 0; i < command->push_count; ++i) {
    uint32_t push = image->pushes[command->push_first + i];
    if (i) fputs(", ", file);
    print_value(image, table, push >> 1, file);
    if (push & 1) fputs(" >> 32", file);
  }
  fputs(") bindings(", file);
  print_bindings(image, table, command, file);
  fputc(')', file);
}

static void print_command(const module_image_t* image, const module_table_row_t* table, const module_command_t* command,
                          FILE* file) {
  switch (command->kind) {
    case MODULE_COMMAND_BARRIER:
      fputs("barrier", file);
      break;
    case MODULE_COMMAND_DISPATCH:
      print_dispatch(image, table, command, file);
      break;
    case MODULE_COMMAND_COPY:
      fputs("copy ", file);
      print_bindings(image, table, command, file);
      break;
    case MODULE_COMMAND_FILL:
      fputs("fill ", file);
      print_bindings(image, table, command, file);
      fputs(" with ", file);
      print_value(image, table, command->values[0], file);
      fprintf(file, " : i%u", command->entry * 8);
      break;
    default:
      fputs("update ", file);
      print_bindings(image, table, command, file);
      fprintf(file, " from @%.*s[", SV_ARGS(text_of(image, image->segments[command->executable].entry)));
      print_value(image, table, command->values[0], file);
      fputc(']', file);
      break;
  }
}

void module_dump_table(const module_image_t* image, uint32_t index, FILE* file) {
  const module_table_row_t* table = &image->tables[index];
  fprintf(file, "hal.commands @%.*s(", SV_ARGS(text_of(image, table->name)));
  for (uint32_t i = 0; i < table->param_count; ++i) fprintf(file, "%s%%param%u: i64", i ? ", " : "", i);
  fputs(") {\n", file);
  for (uint32_t i = 0; i < table->slot_count; ++i) {
    const module_slot_t* slot = &image->slots[table->slot_first + i];
    fprintf(file, "  // %s%u: %" PRIu64 " bytes\n", slot->kind == MODULE_SLOT_CONSTANT ? "const" : "arg", slot->index,
            slot->length);
  }
  for (uint32_t i = 0; i < table->command_count; ++i) {
    fputs("  ", file);
    print_command(image, table, &image->commands[table->command_first + i], file);
    const module_location_t* location = module_image_location(image, MODULE_LOCATION_TABLE, index, i);
    if (location && location->position == i) {
      fprintf(file, "  // %s:%u:%u", image->file_names + location->file, location->line, location->column);
    }
    fputc('\n', file);
  }
  fputs("}\n", file);
}
