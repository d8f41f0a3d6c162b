// Lowers a program to graph and runs its functions in the reference evaluator:
//
//   lower-eval [--print] program.mlir
//
// Functions with attributes test.in and test.out (lists of dense<...>) are called with the former and must give the
// latter: integers exactly, floats within test.tolerance (default 1e-5) of the largest value. Functions without
// arguments are called too: they may check themselves (check.expect_eq and so on).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dialects/evaluate.h"
#include "dialects/register.h"
#include "import/lower.h"

static char* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (!file) return NULL;
  size_t capacity = 1 << 20, got;
  char* data = malloc(capacity);
  *size = 0;
  while (data && (got = fread(data + *size, 1, capacity - *size, file)) > 0) {
    *size += got;
    if (*size == capacity) data = realloc(data, capacity *= 2);
  }
  fclose(file);
  return data;
}

static double number_at(const ir_attr_t* attr, int64_t i) {
  const ir_type_t* element = attr->type->element;
  if (ir_type_is_float(element)) return ir_attr_element_number(attr, i);
  int64_t value = ir_attr_element_integer(attr, i);  // without its sign: that is only how it is read
  return (double)(element->width < 64 ? value & (int64_t)((1ull << element->width) - 1) : value);
}

static bool same_shape(const ir_type_t* a, const ir_type_t* b) {
  if (a->rank != b->rank || ir_type_bytes(a->element) != ir_type_bytes(b->element)) return false;
  for (int32_t i = 0; i < a->rank; ++i) {
    if (a->dims[i] != b->dims[i]) return false;
  }
  return true;
}

static bool compare(ir_context_t* ctx, const char* name, uint32_t which, const ir_attr_t* got, const ir_attr_t* want,
                    double tolerance) {
  if (!same_shape(got->type, want->type)) {
    return fprintf(stderr, "@%s result %u: %s, expected %s\n", name, which, ir_type_str(ctx, got->type),
                   ir_type_str(ctx, want->type)),
           false;
  }
  int64_t count = ir_type_count(want->type), wrong = 0;
  double scale = 0;
  bool floats = ir_type_is_float(want->type->element);
  for (int64_t i = 0; i < count; ++i) {
    double w = number_at(want, i);
    if (isfinite(w) && fabs(w) > scale) scale = fabs(w);
  }
  for (int64_t i = 0; i < count; ++i) {
    double g = number_at(got, i), w = number_at(want, i);
    bool same = g == w || (isnan(g) && isnan(w)) || (floats && fabs(g - w) <= tolerance * fmax(scale, 1e-30));
    if (!same && wrong++ < 8) {
      fprintf(stderr, "@%s result %u element %lld: %.9g, expected %.9g\n", name, which, (long long)i, g, w);
    }
  }
  return wrong == 0;
}

static bool check(ir_context_t* ctx, ir_op_t* func) {
  const ir_attr_t *in = ir_op_attr(func, "test.in"), *out = ir_op_attr(func, "test.out");
  const ir_attr_t* tolerance = ir_op_attr(func, "test.tolerance");
  const char* name = ir_op_string(func, "sym_name", "");
  ir_block_t* body = func->regions[0].first;
  const ir_attr_t* outputs[64];
  if (!in || !out) return body->last->operand_count <= 64 && graph_evaluate(ctx, func, NULL, outputs);
  if (in->count != body->arg_count || out->count != body->last->operand_count || out->count > 64) {
    return fprintf(stderr, "@%s: test.in has %u entries for %u arguments, test.out %u for %u results\n", name,
                   in->count, body->arg_count, out->count, body->last->operand_count),
           false;
  }
  if (!graph_evaluate(ctx, func, in->items, outputs)) return false;
  bool ok = true;
  for (uint32_t i = 0; i < out->count; ++i) {
    ok &= compare(ctx, name, i, outputs[i], out->items[i], tolerance ? tolerance->number : 1e-5);
  }
  return ok;
}

int main(int argc, char** argv) {
  bool print = argc > 1 && strcmp(argv[1], "--print") == 0;
  argv += print, argc -= print;
  if (argc != 2) return fprintf(stderr, "usage: lower-eval [--print] program.mlir\n"), 2;
  size_t size;
  char* text = read_file(argv[1], &size);
  if (!text) return fprintf(stderr, "cannot read %s\n", argv[1]), 2;
  ir_context_t* ctx = ir_context_create();
  dialects_register_all(ctx);
  ir_context_add_source(ctx, argv[1], text, size);
  ir_op_t* module = ir_parse_module(ctx, argv[1], text, size);
  bool ok = module && ir_verify(ctx, module) && lower_module(ctx, module, NULL) && ir_verify(ctx, module);
  if (ok && print) {
    text_t printed = {0};
    ir_print_op(ctx, &printed, module, IR_PRINT_ELIDE_LARGE, 16);
    puts(printed.data);
    text_finish(&printed);
  }
  uint32_t checked = 0;
  for (ir_op_t* op = ok ? ir_module_body(module)->first : NULL; op; op = op->next) {
    if (op->region_count != 1 || !op->regions[0].first) continue;
    if (!ir_op_attr(op, "test.out") && op->regions[0].first->arg_count) continue;
    ok &= check(ctx, op);
    ++checked;
  }
  if (ok) fprintf(stderr, "%u functions give what is expected\n", checked);
  ir_context_destroy(ctx);
  free(text);
  return ok ? 0 : 1;
}
