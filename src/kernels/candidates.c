// See candidates.h.
#include "kernels/candidates.h"

#include <stdio.h>
#include <string.h>

enum { ANY_ROOT = -1, NO_ROOT = -2 };

static const strategy_t strategies[] = {
#define STRATEGY(name, device, factor, overwrites, ...) \
  {#name, DEVICE_##device, factor, overwrites, {__VA_ARGS__}, strategy_##name##_proposes, strategy_##name##_build},
#include "kernels/strategies.def"
};
enum { STRATEGY_COUNT = sizeof(strategies) / sizeof(strategies[0]) };

//===----------------------------------------------------------------------------------------------------------------===
// Choice
//===----------------------------------------------------------------------------------------------------------------===

static bool is_for(const strategy_t* s, const dispatch_t* d) {
  if (s->kind != d->device->kind) return false;
  if (s->roots[0] == ANY_ROOT) return true;
  if (s->roots[0] == NO_ROOT) return !d->root;
  for (size_t i = 0; i < sizeof(s->roots) / sizeof(s->roots[0]) && s->roots[i]; ++i) {
    if (d->root && ir_is(d->root, s->roots[i])) return true;
  }
  return false;
}

static bool proposes(const strategy_t* s, const dispatch_t* d, candidate_t* c) {
  *c = (candidate_t){.factor = s->factor};
  return s->proposes(d, c);
}

// A row that is no better at best than what there is need not be asked.
const strategy_t* candidates_choose(const dispatch_t* d, candidate_t* out) {
  const strategy_t* best = NULL;
  candidate_t candidate;
  for (const strategy_t* s = strategies; d->device->strategy && s < strategies + STRATEGY_COUNT; ++s) {
    if (is_for(s, d) && strcmp(s->name, d->device->strategy) == 0 && proposes(s, d, out)) return s;
  }
  for (const strategy_t* s = strategies; s < strategies + STRATEGY_COUNT; ++s) {
    if (!is_for(s, d) || (best && s->factor >= out->factor) || !proposes(s, d, &candidate)) continue;
    if (best && candidate.factor >= out->factor) continue;
    *out = candidate;
    best = s;
  }
  return best;
}

bool candidate_declines(candidate_t* c, const char* why) {
  c->why = why;
  return false;
}

bool candidate_evaluates(const dispatch_t* d, const ir_op_t* but, candidate_t* c) {
  IR_FOR_OPS(op, d->body) {
    if (op != d->yield && op != but && !eval_supports(op)) {
      return candidate_declines(c, "an op beside the root has no elements of its own");
    }
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// What it should cost
//===----------------------------------------------------------------------------------------------------------------===

static double bytes_of(const ir_value_t* value) {
  if (!ir_type_is_tensor(value->type)) return 0;
  extent_t count = eval_count(value);
  return (double)extent_guess(&count) * (double)ir_type_bytes(value->type->element);
}

double candidates_least_cycles(const dispatch_t* d) {
  enum { UNIT_BYTES = 16, UNIT_PRODUCT_BYTES = 2048, UNIT_LANES = 128, CORE_BYTES = 8, CORE_PIPES = 2 };
  const device_info_t* device = d->device;
  const ir_op_t* root = d->root;
  bool gpu = device->kind == DEVICE_GPU;
  bool multiplies = root && (ir_is(root, GRAPH_CONTRACT) || ir_is(root, GRAPH_CONV) || ir_is(root, GRAPH_ATTENTION));
  double bytes = 0, units = gpu && device->compute_units ? device->compute_units : 1, rate = UNIT_LANES;
  for (uint32_t i = 0; i < d->body->arg_count; ++i) bytes += bytes_of(d->body->args[i]);
  for (uint32_t i = 0; i < d->yield->operand_count; ++i) bytes += bytes_of(ir_operand(d->yield, i));
  const ir_type_t* element = multiplies ? ir_type_scalar(ir_operand(root, 0)->type) : NULL;
  if (!gpu) {
    rate = CORE_PIPES * (double)device->vector_bytes / 4;
  } else if (element && device_multiplies(device, ir_type_str(d->ctx, element))) {
    rate = (double)UNIT_PRODUCT_BYTES / ir_type_bytes(element);
  }
  double memory = bytes / ((gpu ? UNIT_BYTES : CORE_BYTES) * units), work = dispatch_operations(d) / (rate * units);
  return memory > work ? memory : work;
}

//===----------------------------------------------------------------------------------------------------------------===
// Reports
//===----------------------------------------------------------------------------------------------------------------===

void candidates_list(const dispatch_t* d, const strategy_t* chosen) {
  const char* name = ir_op_string(d->op, "sym_name", "dispatch");
  double least = candidates_least_cycles(d);
  candidate_t c;
  for (const strategy_t* s = strategies; s < strategies + STRATEGY_COUNT; ++s) {
    if (!is_for(s, d)) continue;
    if (proposes(s, d, &c)) {
      fprintf(stderr, "%s: %s: %.0f cycles%s\n", name, s->name, least * c.factor, s == chosen ? ", chosen" : "");
    } else {
      fprintf(stderr, "%s: %s declines: %s\n", name, s->name, c.why);
    }
  }
}

const char* candidates_explain(const dispatch_t* d, const strategy_t* chosen, double factor) {
  const double slow = 4;
  candidate_t c;
  text_t text = {0};
  for (const strategy_t* s = strategies; factor >= slow && s < strategies + STRATEGY_COUNT; ++s) {
    if (s == chosen || !is_for(s, d) || s->factor >= factor || proposes(s, d, &c)) continue;
    text_printf(&text, "%s%s: %s", text.size ? "; " : "", s->name, c.why);
  }
  const char* result = text.size ? arena_copy(ir_context_arena(d->ctx), text.data, text.size + 1) : NULL;
  text_finish(&text);
  return result;
}

bool candidates_know(const char* name) {
  for (size_t i = 0; i < STRATEGY_COUNT; ++i) {
    if (strcmp(strategies[i].name, name) == 0) return true;
  }
  return false;
}

const char* candidates_name(size_t index) {
  for (size_t i = 0; i < STRATEGY_COUNT; ++i) {
    size_t before = 0;
    while (strcmp(strategies[before].name, strategies[i].name) != 0) ++before;
    if (before == i && index-- == 0) return strategies[i].name;
  }
  return NULL;
}
