// Programs of the graph level, through passes and kernels, against the reference evaluator: no program may crash the
// compiler or the evaluator, none that is valid is left without a kernel, no kernel may touch what is not its own, and
// whole numbers are those of the evaluator. Inputs are text, as tests/random/generate.py makes it; the mutator changes
// sizes everywhere at once, numbers, and functions.
#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dialects/func.h"
#include "graph_case.h"

size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

//===----------------------------------------------------------------------------------------------------------------===
// Programs that are worth running: small, that end, and whose results are defined to the last bit
//===----------------------------------------------------------------------------------------------------------------===

enum { MOST_SIZE = 64, MOST_ELEMENTS = 2048, MOST_STEP = 64 };

static bool is_small(const ir_type_t* type) {
  if (!ir_type_is_tensor(type)) return true;
  if (ir_type_is_int(type->element) && type->element->width > 64) return false;  // arguments have at most so many
  int64_t count = 1;
  for (int32_t i = 0; i < type->rank; ++i) {
    int64_t size = type->dims[i] == IR_DYNAMIC ? 4 : type->dims[i];
    if (size > MOST_SIZE || (count *= size > 0 ? size : 1) > MOST_ELEMENTS) return false;
  }
  return true;
}

// Numbers in attributes say how far windows and padding go, and how many loops there are.
static bool has_small_steps(const ir_op_t* op) {
  int64_t values[GRAPH_MAX_RANK];
  if (ir_is(op, GRAPH_GENERIC) && graph_get_maps(op)->items[0]->map->dim_count > 2) return false;
  if (!ir_is(op, GRAPH_WINDOW) && !ir_is(op, GRAPH_WINDOW_GENERIC)) return true;
  int64_t taps = 1;
  uint32_t count = graph_get_sizes(op, values);
  for (uint32_t i = 0; i < count; ++i) {
    if (values[i] > MOST_STEP || (taps *= values[i] > 0 ? values[i] : 1) > MOST_STEP) return false;
  }
  return true;
}

// Sizes that are given are those of other values.
static bool has_known_sizes(const ir_op_t* op) {
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const ir_value_t* value = ir_operand(op, i);
    bool is_size = value->type->kind == IR_TYPE_INDEX && !ir_is(op, GRAPH_DYNAMIC_SLICE) &&
                   !ir_is(op, GRAPH_DYNAMIC_UPDATE) && graph_scalar_fn(op) < 0;
    if (is_size && !ir_is(value->def, GRAPH_DIM)) return false;
  }
  return true;
}

static bool is_defined(const ir_op_t* op) {
  switch (ir_code(op)) {
    case GRAPH_WHILE:  // may not end
    case GRAPH_CALL:
    case GRAPH_CALL_IMPORT:
    case GRAPH_EMPTY:
    case GRAPH_REDUCE_GENERIC:  // any order will do, and not every body
    case GRAPH_SCATTER_GENERIC:
    case GRAPH_SORT_GENERIC:
    case GRAPH_DISPATCH:  // with what the compiler knows of it
      return false;
    case GRAPH_SCATTER:  // rising indices are a promise
      return !graph_attr(op, GRAPH_ATTR_sorted);
    case GRAPH_SORT:
      return graph_get_stable(op) && !graph_attr(op, GRAPH_ATTR_sorted) && op->operand_count == op->result_count;
    default:
      return true;
  }
}

static bool accepts_block(const ir_block_t* block) {
  for (uint32_t i = 0; i < block->arg_count; ++i) {
    if (!is_small(block->args[i]->type)) return false;
  }
  IR_FOR_OPS(op, block) {
    bool is_end = op == block->last;
    if (is_end && !ir_is(op, FUNC_RETURN) && !ir_is(op, GRAPH_YIELD)) return false;
    if (!is_end && ir_op_dialect(op) != IR_DIALECT_GRAPH) return false;
    if (!is_end && (!is_defined(op) || !has_small_steps(op) || !has_known_sizes(op))) return false;
    for (uint32_t i = 0; i < op->result_count; ++i) {
      if (!is_small(op->results[i].type)) return false;
    }
    for (uint32_t r = 0; r < op->region_count; ++r) {
      IR_FOR_BLOCKS(inner, &op->regions[r]) {
        if (!accepts_block(inner)) return false;
      }
    }
  }
  return true;
}

static bool has_float(const ir_block_t* block) {
  IR_FOR_OPS(op, block) {
    for (uint32_t i = 0; i < op->operand_count; ++i) {
      if (ir_type_is_float(ir_type_scalar(ir_operand(op, i)->type))) return true;
    }
    for (uint32_t r = 0; r < op->region_count; ++r) {
      IR_FOR_BLOCKS(inner, &op->regions[r]) {
        if (has_float(inner)) return true;
      }
    }
  }
  return false;
}

static bool floats;  // in the program at work: sums may be made in any order

static bool accepts(const ir_op_t* func) {
  int64_t sizes[GRAPH_MAX_RANK] = {0};
  const ir_attr_t* attr = ir_op_attr(func, "test.sizes");
  if (!ir_is(func, FUNC_FUNC) || func->next || ir_op_attr(func, "sym_visibility")) return false;
  if (attr && (attr->kind != IR_ATTR_DENSE_ARRAY || attr->count > GRAPH_MAX_RANK)) return false;
  if (attr) ir_attr_ints(attr, sizes, GRAPH_MAX_RANK);
  for (int i = 0; i < GRAPH_MAX_RANK; ++i) {
    if (sizes[i] > 4) return false;
  }
  floats = has_float(func->regions[0].first);
  return accepts_block(func->regions[0].first);
}

//===----------------------------------------------------------------------------------------------------------------===
// Running
//===----------------------------------------------------------------------------------------------------------------===

static void compile(graph_case_t* c) {
  static const char* const argv[] = {"fuzz", "--iree-hal-target-backends=vmvx", NULL};
  compiler_flags_t flags;
  compiler_options_t options;
  compiler_output_t output = {0};
  text_t error = {0};
  graph_case_interpretation_t in = {.c = c, .runner = {.interpret = true}};
  c->target = "vmvx";
  if (!compiler_flags_parse(&flags, 2, (char**)argv, &error) || !compiler_flags_resolve(&flags, &options, &error)) {
    abort();
  }
  options.diagnostic = graph_case_diagnostic;
  options.diagnostic_user = c;
  options.observe = graph_case_observe;
  options.observe_user = &in;
  options.target.threads = 1;
  compiler_run(&options, "fuzz.mlir", c->text, c->size, &output);
  compiler_flags_finish(&flags);
}

static void run(void* user) {
  graph_case_t* c = user;
  bool prepared = graph_case_prepare(c);
  c->problem[0] = 0;  // of what is no program, or has no result
  for (uint32_t i = 0; i < c->output_count; ++i) c->tolerance[i] = floats ? INFINITY : 0;
  if (prepared) compile(c);
  ir_context_destroy(c->ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  graph_case_t* c = calloc(1, sizeof(*c));
  char* text = malloc(size + 1);
  memcpy(text, data, size);
  text[size] = 0;
  *c = (graph_case_t){.path = "fuzz.mlir", .text = text, .size = size, .accepts = accepts};
  memory_scope_t scope;
  if (memory_scope_run(&scope, run, c)) memory_scope_drop(&scope);
  bool good = !c->problem[0] || strstr(c->problem, "out of memory");
  if (!good) fprintf(stderr, "%s\n", c->problem);
  free(text);
  free(c);
  if (!good) abort();
  return 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// Mutation
//===----------------------------------------------------------------------------------------------------------------===

// One of the places where `is` holds for a byte and not for the one before; `size` when there is none.
typedef bool (*place_fn_t)(const uint8_t* data, size_t size, size_t at);
static size_t find_place(const uint8_t* data, size_t size, unsigned choice, place_fn_t is) {
  size_t count = 0;
  for (size_t i = 0; i < size; ++i) count += is(data, size, i);
  size_t wanted = count ? choice % count : 0;
  for (size_t i = 0; count && i < size; ++i) {
    if (is(data, size, i) && wanted-- == 0) return i;
  }
  return size;
}

static bool starts_number(const uint8_t* data, size_t size, size_t at) {
  return isdigit(data[at]) && (at == 0 || (!isalnum(data[at - 1]) && data[at - 1] != '%' && data[at - 1] != '_'));
}
// Of a dimension in a type.
static bool starts_size(const uint8_t* data, size_t size, size_t at) {
  if (at == 0 || !isdigit(data[at]) || (data[at - 1] != 'x' && data[at - 1] != '<')) return false;
  while (at < size && isdigit(data[at])) ++at;
  return at < size && data[at] == 'x';
}
static bool starts_op(const uint8_t* data, size_t size, size_t at) {
  return at > 6 && memcmp(data + at - 6, "graph.", 6) == 0;
}

// Puts `word` in the place of `length` bytes; the new size, or 0 when there is no room.
static size_t put(uint8_t* data, size_t size, size_t most, size_t at, size_t length, const char* word) {
  size_t more = strlen(word);
  if (size - length + more > most) return 0;
  memmove(data + at + more, data + at + length, size - at - length);
  memcpy(data + at, word, more);
  return size - length + more;
}

static size_t word_length(const uint8_t* data, size_t size, size_t at) {
  size_t length = 0;
  while (at + length < size && (isalnum(data[at + length]) || data[at + length] == '_')) ++length;
  return length;
}

static size_t number_length(const uint8_t* data, size_t size, size_t at) {
  size_t length = 0;
  while (at + length < size && isdigit(data[at + length])) ++length;
  return length;
}

// A size becomes another one wherever it stands, so that shapes still fit.
static size_t change_size(uint8_t* data, size_t size, size_t most, size_t at, const char* word) {
  char old[24];
  size_t length = number_length(data, size, at);
  if (length >= sizeof(old)) return 0;
  memcpy(old, data + at, length);
  if (most > size) data[size] = 0;
  for (size_t i = 0; i < size; ++i) {
    bool same = i + length < size && memcmp(data + i, old, length) == 0 && data[i + length] == 'x';
    if (!same || !starts_size(data, size, i)) continue;
    size = put(data, size, most, i, length, word);
    if (!size) return 0;
    i += strlen(word) - 1;
  }
  return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  static const char* const numbers[] = {"0", "1", "2", "3", "4", "5", "7", "8", "13", "16", "17", "31", "33", "64"};
  static const char* const functions[] = {
#define SCALAR(name, ...) #name,
#include "base/scalar.def"
#undef SCALAR
  };
  const char* number = numbers[(seed >> 8) % (sizeof(numbers) / sizeof(numbers[0]))];
  const char* function = functions[(seed >> 8) % (sizeof(functions) / sizeof(functions[0]))];
  enum { OP, NUMBER, BYTES, SIZE };  // a size five times of eight
  unsigned kind = seed % 8 < SIZE ? seed % 8 : SIZE;
  size_t at = find_place(data, size, seed >> 4, kind == OP ? starts_op : kind == SIZE ? starts_size : starts_number);
  size_t result = 0;
  if (at < size && kind == OP) result = put(data, size, most, at, word_length(data, size, at), function);
  if (at < size && kind == NUMBER) result = put(data, size, most, at, number_length(data, size, at), number);
  if (at < size && kind == SIZE) result = change_size(data, size, most, at, number);
  return result ? result : LLVMFuzzerMutate(data, size, most);
}
