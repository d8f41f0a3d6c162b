// Calls of other modules in the reference evaluator: it has one of them itself, `check`, whose rules are those of
// src/modules/check.
#include <math.h>
#include <string.h>

#include "dialects/evaluate_impl.h"

typedef struct limits_t {
  double absolute, relative;
} limits_t;

static bool is_float(const ir_type_t* type) { return type->kind == IR_TYPE_FLOAT; }

static bool is_equal(const tensor_t* x, const tensor_t* y, int64_t i) {
  if (memcmp(tensor_at(x, i), tensor_at(y, i), x->bytes) == 0) return true;
  return is_float(x->element) && tensor_load(x, i).f == tensor_load(y, i).f;
}

static bool is_close(const tensor_t* x, const tensor_t* y, int64_t i, const limits_t* limits) {
  if (is_equal(x, y, i)) return true;
  if (!is_float(x->element)) return false;
  double a = tensor_load(x, i).f, b = tensor_load(y, i).f;
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
  return isfinite(b) && fabs(a - b) <= limits->absolute + limits->relative * fabs(b);
}

static bool same_shape(const tensor_t* x, const tensor_t* y) {
  bool same = x->element == y->element && x->rank == y->rank;
  for (int32_t d = 0; same && d < x->rank; ++d) same = x->dims[d] == y->dims[d];
  return same;
}

static bool compare(eval_op_t* o, const limits_t* limits) {
  if (!same_shape(&o->in[0], &o->in[1])) return eval_error(o, "the values have different shapes");
  for (int64_t i = 0; i < o->in[0].count; ++i) {
    bool fits = limits ? is_close(&o->in[0], &o->in[1], i, limits) : is_equal(&o->in[0], &o->in[1], i);
    if (!fits) return eval_error(o, "%s: element %lld differs", graph_get_callee(o->op), (long long)i);
  }
  return true;
}

static bool is_zero(const tensor_t* x, int64_t i) {
  scalar_value_t value = tensor_load(x, i);
  return is_float(x->element) ? value.f == 0 : value.i == 0;
}

static bool all_are(eval_op_t* o, bool wanted) {
  for (int64_t i = 0; i < o->in[0].count; ++i) {
    if (is_zero(&o->in[0], i) == wanted) {
      return eval_error(o, "%s: element %lld is not", graph_get_callee(o->op), (long long)i);
    }
  }
  return true;
}

bool eval_call_import(eval_op_t* o) {
  const char* name = graph_get_callee(o->op);
  uint32_t count = o->op->operand_count;
  if (graph_get_message(o->op)) return true;  // nobody listens
  if (count == 1 && (!strcmp(name, "check.expect_true") || !strcmp(name, "check.expect_all_true"))) {
    return all_are(o, true);
  }
  if (count == 1 && !strcmp(name, "check.expect_false")) return all_are(o, false);
  if (count == 2 && !strcmp(name, "check.expect_eq")) return compare(o, NULL);
  if (count == 4 && !strcmp(name, "check.expect_almost_eq")) {
    return compare(o, &(limits_t){tensor_load(&o->in[2], 0).f, tensor_load(&o->in[3], 0).f});
  }
  return eval_error(o, "the evaluator has no module with %s", name);
}

// The evaluator has no other modules.
bool eval_import_resolved(eval_op_t* o) { return tensor_make(o, &o->out[0], o->op->results[0].type, 0, NULL); }
