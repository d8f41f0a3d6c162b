// Names that readers know values by: %cst, %c1_i32, %dim, %in. The dialects' rows say them (ir_assembly_t).
#include <stdio.h>
#include <string.h>

#include "ir/assembly.h"
#include "ir/print.h"

// Only rows that the assembly tables made have an ir_assembly_t behind `extra`.
static const ir_assembly_t* assembly_of(const ir_op_t* op) {
  ir_dialect_id_t dialect = ir_op_dialect(op);
  bool own_rows = dialect == IR_DIALECT_GRAPH || dialect == IR_DIALECT_HOST;
  return op->info->code == IR_CODE_UNREGISTERED || own_rows ? NULL : op->info->extra;
}

// true, c1 (index), c1_i32, cst for everything else; c for element data of integers.
static void constant_hint(const ir_op_t* op, char* buffer, size_t size) {
  const ir_attr_t* value = ir_op_attr(op, "value");
  const ir_type_t* type = value && value->kind == IR_ATTR_INTEGER ? value->type : NULL;
  bool stablehlo = ir_op_dialect(op) == IR_DIALECT_STABLEHLO;
  const ir_type_t* scalar = stablehlo ? ir_type_scalar(op->results[0].type) : NULL;
  if (type && type->kind == IR_TYPE_INTEGER && type->width == 1) {
    snprintf(buffer, size, "%s", value->integer ? "true" : "false");
  } else if (type && type->kind == IR_TYPE_INDEX) {
    snprintf(buffer, size, "c%lld", (long long)value->integer);
  } else if (type) {
    text_t text = {0};
    ir_print_type(&text, type);
    snprintf(buffer, size, "c%lld_%s", (long long)value->integer, text.data);
    text_finish(&text);
  } else {
    bool integers = scalar && (scalar->kind == IR_TYPE_INTEGER || scalar->kind == IR_TYPE_INDEX);
    snprintf(buffer, size, "%s", integers ? "c" : "cst");
  }
}

// int3, true, str, none
static void torch_hint(const ir_op_t* op, const char* word, char* buffer, size_t size) {
  const ir_attr_t* value = ir_op_attr(op, "value");
  bool integer = value && value->kind == IR_ATTR_INTEGER;
  if (strcmp(word, "bool") == 0) {
    snprintf(buffer, size, "%s", integer && value->integer ? "true" : "false");
  } else if (strcmp(word, "int") == 0 && integer) {
    snprintf(buffer, size, "int%lld", (long long)value->integer);
  } else if (strcmp(word, "float") == 0 && value && value->kind == IR_ATTR_FLOAT) {
    snprintf(buffer, size, "float%.6e", value->number);
    char* plus = strchr(buffer, '+');
    if (plus) memmove(plus, plus + 1, strlen(plus));
  } else {
    snprintf(buffer, size, "%s", word);
  }
}

// Part `index` of "sum,overflow"; false when there are not as many names as results.
static bool nth_hint(const char* word, const ir_value_t* value, char* buffer, size_t size) {
  uint32_t names = 1;
  for (const char* c = word; *c; ++c) names += *c == ',';
  if (names != value->def->result_count) return false;
  for (uint32_t i = 0; i < value->index; ++i) word = strchr(word, ',') + 1;
  snprintf(buffer, size, "%.*s", (int)strcspn(word, ","), word);
  return true;
}

static bool result_hint(const ir_value_t* value, char* buffer, size_t size) {
  const ir_assembly_t* assembly = assembly_of(value->def);
  const char* word = assembly ? assembly->result_hint : NULL;
  if (!word) return false;
  if (value->def->result_count > 1) return nth_hint(word, value, buffer, size);
  if (strcmp(word, "cst") == 0) {
    constant_hint(value->def, buffer, size);
  } else if (ir_op_dialect(value->def) == IR_DIALECT_TORCH) {
    torch_hint(value->def, word, buffer, size);
  } else {
    snprintf(buffer, size, "%s", word);
  }
  return true;
}

static bool argument_hint(const ir_value_t* value, char* buffer, size_t size) {
  const ir_op_t* op = value->block->parent ? value->block->parent->parent : NULL;
  if (!op || value->block->parent->first != value->block) return false;
  const ir_assembly_t* assembly = assembly_of(op);
  const char* word = assembly ? assembly->arg_hint : NULL;
  if (!word || strcmp(word, "arg") == 0) return false;
  if (strcmp(word, "in/out") == 0) {
    int64_t sizes[2] = {0};
    ir_op_ints(op, "operandSegmentSizes", sizes, 2);
    word = value->index < sizes[0] ? "in" : "out";
  } else if (strcmp(word, "in") == 0 && op->operand_count && value->index + 1 >= op->operand_count) {
    word = "init";
  }
  snprintf(buffer, size, "%s", word);
  return true;
}

bool ir_value_hint(const ir_value_t* value, char* buffer, size_t size) {
  return value->def ? result_hint(value, buffer, size) : value->block && argument_hint(value, buffer, size);
}
