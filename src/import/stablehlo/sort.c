// sort: by how many leading operands its comparator orders, and which way; else with the comparator as it is.
#include <math.h>

#include "dialects/stablehlo.h"
#include "import/control.h"
#include "import/stablehlo/ops.h"

enum { MAX_KEYS = 4 };

// A sample as operand k has it: no sign for unsigned integers, no fraction for integers.
static double sample(const lower_op_t* n, uint32_t k, double value) {
  const ir_type_t* type = lower_in_type(n, k);
  if (lower_is_float(type)) return value;
  if (lower_is_bool(type)) return value > 0;
  return trunc(lower_is_unsigned(type) ? fabs(value) : value);
}

// How keys order. PLAIN: as graph.sort has it, NaN above all numbers and zeros equal. TOTAL: IEEE's total order.
typedef enum { ORDER_PLAIN, ORDER_TOTAL, ORDER_COUNT } order_t;

static int sign_of(double x) { return signbit(x) ? -1 : 1; }

// Below, equal or above zero.
static int compare_keys(order_t order, double x, double y) {
  if (order == ORDER_PLAIN) return isnan(x) || isnan(y) ? isnan(x) - isnan(y) : (x > y) - (x < y);
  double class_x = isnan(x) ? 2 * sign_of(x) : 0, class_y = isnan(y) ? 2 * sign_of(y) : 0;
  if (class_x != class_y) return class_x < class_y ? -1 : 1;
  if (isnan(x)) return 0;
  if (x == 0 && y == 0) return sign_of(x) - sign_of(y);
  return (x > y) - (x < y);
}

typedef struct order_test_t {
  order_t order;
  uint32_t keys;  // leading operands that are compared
  bool descending;
} order_test_t;

// Whether the region says the same of one pair for each operand. A comparator that finds neither of a number and a NaN
// before the other leaves open where NaN goes.
static bool agrees(const lower_op_t* n, lower_probe_t* probe, const order_test_t* test, const double* in) {
  double out[LOWER_PROBE_VALUES];
  int expected = 0;
  bool open = false;
  for (uint32_t k = 0; k < test->keys && !expected; ++k) {
    double x = in[2 * k], y = in[2 * k + 1];
    expected = compare_keys(test->order, x, y);
    open |= test->order == ORDER_PLAIN && (isnan(x) || isnan(y));
  }
  if (!lower_probe_run(probe, in, out)) return false;
  bool before = test->descending ? expected > 0 : expected < 0;
  return (out[0] != 0) == before || (open && out[0] == 0);
}

// Whether `a before b`, asked for the first operands, is lexicographic order.
static bool orders(const lower_op_t* n, lower_probe_t* probe, const order_test_t* test) {
  static const double samples[][2] = {{1, 2},      {2, 1},      {0, 5},          {7, -3},      {4, 4},     {0, 0},
                                      {3, 4},      {-9, -2},    {-90.5, 100.25}, {1.25, 1.5},  {-6, 5.75}, {-0.0, 0},
                                      {0, -0.0},   {NAN, 1},    {1, NAN},        {-NAN, 1},    {1, -NAN},  {NAN, NAN},
                                      {-NAN, NAN}, {NAN, -NAN}, {-3, -1e30},     {1e30, -1e30}};
  enum { COUNT = sizeof(samples) / sizeof(samples[0]) };
  uint32_t operands = n->op->operand_count;
  for (uint32_t s = 0; s < COUNT; ++s) {
    for (uint32_t equal = 0; equal <= test->keys; ++equal) {  // operands before `equal` are equal
      double in[LOWER_PROBE_VALUES] = {0};
      for (uint32_t k = 0; k < operands; ++k) {
        const double* pair = samples[(s + k) % COUNT];
        in[2 * k] = sample(n, k, pair[0]);
        in[2 * k + 1] = k < equal ? in[2 * k] : sample(n, k, pair[1]);
      }
      if (!agrees(n, probe, test, in)) return false;
    }
  }
  return true;
}

// The operand as graph.sort orders it like the program does.
static ir_value_t* to_key(lower_op_t* n, uint32_t i, const order_test_t* test) {
  const ir_type_t* type = lower_in_type(n, i);
  if (i < test->keys && lower_is_unsigned(type)) return lower_turn_sign(n, n->in[i]);
  if (i < test->keys && lower_is_float(type) && test->order == ORDER_TOTAL) return lower_total_order(n, n->in[i]);
  return n->in[i];
}

static ir_value_t* from_key(lower_op_t* n, uint32_t i, ir_value_t* key) {
  const ir_type_t* element = n->in[i]->type->element;
  return ir_type_is_float(element) ? lower_from_total_order(n, key, element) : lower_turn_sign(n, key);
}

static bool build_sort(lower_op_t* n, int64_t axis, const order_test_t* test) {
  uint32_t count = n->op->operand_count;
  ir_value_t** operands = ARENA_ARRAY(ir_context_arena(n->ctx), ir_value_t*, count);
  for (uint32_t i = 0; i < count; ++i) operands[i] = to_key(n, i, test);
  ir_op_t* op = graph_sort(n->b, operands, count,
                           &(graph_sort_t){.axis = axis,
                                           .keys = test->keys,
                                           .descending = test->descending,
                                           .unstable = !ir_op_flag(n->op, "is_stable")});
  for (uint32_t i = 0; i < count; ++i) {
    n->out[i].v = ir_result(op, i);
    if (operands[i] != n->in[i]) n->out[i].v = from_key(n, i, n->out[i].v);
  }
  return true;
}

static bool check_sort(lower_op_t* n, int64_t* axis) {
  uint32_t count = n->op->operand_count;
  if (!count || n->op->result_count != count || !lower_check_tensors(n)) return lower_error(n, "needs operands");
  int32_t rank = n->in[0]->type->rank;
  *axis = ir_op_int(n->op, "dimension", -1);
  if (*axis < 0) *axis += rank;
  if (*axis < 0 || *axis >= rank) return lower_error(n, "dimension %lld is out of range", (long long)*axis);
  for (uint32_t i = 1; i < count; ++i) {
    if (n->in[i]->type->rank != rank) return lower_error(n, "has operands of different shapes");
  }
  ir_block_t* block = n->op->regions[0].first;
  if (block && !block->next && block->arg_count == 2 * count) return true;
  return lower_error(n, "needs a comparator with %u arguments", 2 * count);
}

static bool any_complex(const lower_op_t* n) {
  bool any = false;
  for (uint32_t i = 0; i < n->op->operand_count; ++i) any |= n->values[i].im != NULL;
  return any;
}

bool stablehlo_lower_sort(lower_op_t* n) {
  int64_t axis;
  uint32_t count = n->op->operand_count;
  if (!check_sort(n, &axis)) return false;
  lower_probe_t probe = {0};
  bool closed =
      !any_complex(n) && 2 * count <= LOWER_PROBE_VALUES && lower_probe_begin(n->l, n->op->regions[0].first, &probe);
  if (probe.failed) return false;
  for (uint32_t keys = 1; closed && keys <= count && keys <= MAX_KEYS; ++keys) {
    for (uint32_t way = 0; way < 2 * ORDER_COUNT; ++way) {
      order_test_t test = {.order = (order_t)(way / 2), .keys = keys, .descending = way % 2};
      if (orders(n, &probe, &test)) return build_sort(n, axis, &test);
    }
  }
  lower_list_t operands = stablehlo_flatten(n, 0, count);
  const ir_type_t** types = ARENA_ARRAY(ir_context_arena(n->ctx), const ir_type_t*, operands.count);
  for (uint32_t i = 0; i < operands.count; ++i) types[i] = operands.items[i]->type;
  ir_named_attr_t attrs[2] = {{"axis", ir_attr_i64(n->ctx, axis)}, {"stable", ir_attr_unit(n->ctx)}};
  return stablehlo_with_region(n, GRAPH_SORT_GENERIC, &operands, types, attrs, ir_op_flag(n->op, "is_stable") ? 2 : 1);
}
