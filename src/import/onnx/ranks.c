// What is done with a value tells its rank, where the model does not, or that it makes no difference:
//
//   %1 = If(...)                  a vector in one branch, a matrix in the other one
//   %2 = Reshape(Relu(%1), [2, -1])
#include <string.h>

#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

enum { MAX_STEPS = 1000 };  // uses that are looked at

// Inputs that have one rank only, by a mask of their places.
typedef struct fixed_t {
  const char* names;
  uint32_t inputs;
  int32_t rank;
} fixed_t;
static const fixed_t fixed[] = {
    {"|Reshape|Expand|Tile|Unsqueeze|Squeeze|Split|TopK|", 1 << 1, 1},
    {"|Slice|Resize|", 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4, 1},
    {"|Pad|", 1 << 1 | 1 << 3, 1},
    {"|ConstantOfShape|", 1 << 0, 1},
    {"|EyeLike|", 1 << 0, 2},
    {"|Gemm|", 1 << 0 | 1 << 1, 2},
    {"|AffineGrid|Col2Im|GRU|LSTM|RNN|", 1 << 0, 3},
    {"|DepthToSpace|MaxRoiPool|RoiAlign|SpaceToDepth|", 1 << 0, 4},
};

typedef struct search_t {
  onnx_node_t* n;
  uint32_t steps;
  onnx_asked_t found;
} search_t;

// All operands and results have one rank.
#define ALIKE "|Concat|GatherElements|ScatterElements|"

static int32_t declared_rank(const ir_type_t* type) {
  return type->kind == IR_TYPE_VTENSOR && type->element ? type->rank : -1;
}

// Elements, of an operand that may not be lowered yet; NULL when they are no constant.
static const ir_attr_t* constant_operand(const search_t* s, const ir_op_t* op, uint32_t i) {
  const ir_value_t* v = i < op->operand_count ? ir_operand(op, i) : NULL;
  const onnx_value_t* x = v ? v->data : NULL;
  if (x) return x->v && !x->holder ? onnx_constant(s->n, x->v) : NULL;
  if (!v || !v->def || strcmp(ir_op_string(v->def, "name", ""), "onnx.Constant") != 0) return NULL;
  onnx_node_t node = *s->n;
  node.op = v->def;
  const ir_attr_t* value = onnx_attr(&node, "value");
  return value && value->kind == IR_ATTR_ELEMENTS && ir_type_is_static(value->type) ? value : NULL;
}

static bool is_any_of(const char* names, const onnx_node_t* user) {
  return strstr(names, arena_printf(ir_context_arena(user->ctx), "|%s|", user->name)) != NULL;
}

// A shape that takes nothing from what it is applied to.
static bool is_whole_shape(const search_t* s, const onnx_node_t* user) {
  if (onnx_int(user, "allowzero", 0)) return true;
  const ir_attr_t* shape = constant_operand(s, user->op, 1);
  bool whole = shape != NULL;
  for (int64_t i = 0; whole && i < ir_type_count(shape->type); ++i) whole = ir_attr_element_integer(shape, i) != 0;
  return whole;
}

static bool takes_any_rank(const search_t* s, const onnx_node_t* user, uint32_t input) {
  bool reduces = strncmp(user->name, "Reduce", 6) == 0 && !onnx_int(user, "keepdims", 1) &&
                 !onnx_int(user, "noop_with_empty_axes", 0) && !onnx_attr(user, "axes");
  if (reduces) return user->op->operand_count < 2;
  if (strcmp(user->name, "Reshape") == 0) return input == 0 && is_whole_shape(s, user);
  return strcmp(user->name, "Size") == 0;
}

// Whether the result's elements are the input's with something done to each, and in order.
static bool is_elementwise(const onnx_node_t* user, uint32_t input) {
  static const char unary[] =
      "|Cast|Celu|Clip|Elu|Gelu|HardSigmoid|HardSwish|Identity|IsInf|LeakyRelu|Mish|Reciprocal|Relu|Selu|Shrink|"
      "Softplus|Softsign|Swish|ThresholdedRelu|";
  const onnx_row_t* row = onnx_find_row(user->name);
  bool keeps = row && row->fn != SCALAR_COUNT;
  for (uint32_t i = 0; keeps && i < user->op->operand_count; ++i) {
    keeps = i == input || declared_rank(ir_operand(user->op, i)->type) == 0;
  }
  return keeps || (input == 0 && is_any_of(unary, user));
}

// Whether the result has the input's rank.
static bool keeps_rank(const onnx_node_t* user, uint32_t input) {
  static const char others[] =
      "|AveragePool|BatchNormalization|CenterCropPad|CumProd|CumSum|DequantizeLinear|Dropout|GlobalAveragePool|"
      "GlobalLpPool|GlobalMaxPool|GroupNormalization|Hardmax|InstanceNormalization|LRN|LayerNormalization|LogSoftmax|"
      "LpNormalization|LpPool|MaxPool|MaxUnpool|MeanVarianceNormalization|Pad|QuantizeLinear|RMSNormalization|Resize|"
      "ReverseSequence|ScatterND|Slice|Softmax|Split|Tile|TopK|Trilu|";
  bool reduces = strncmp(user->name, "Reduce", 6) == 0 || is_any_of("|ArgMax|ArgMin|", user);
  if (reduces) return input == 0 && onnx_int(user, "keepdims", 1);
  return is_elementwise(user, input) || (input == 0 && is_any_of(others, user)) || is_any_of(ALIKE, user);
}

// The rank of another operand, of those that all have one.
static int32_t rank_of_others(const onnx_node_t* user, uint32_t input) {
  for (uint32_t i = 0; is_any_of(ALIKE, user) && i < user->op->operand_count; ++i) {
    int32_t rank = i == input ? -1 : declared_rank(ir_operand(user->op, i)->type);
    if (rank >= 0) return rank;
  }
  return -1;
}

// How many labels the operand has in an equation without "...".
static int32_t label_count(const onnx_node_t* user, uint32_t input) {
  if (strcmp(user->name, "Einsum") != 0) return -1;
  const char* at = onnx_string(user, "equation", "");
  if (strchr(at, '.')) return -1;
  while (input && (at = strchr(at, ',')) != NULL) ++at, --input;
  int32_t count = 0;
  for (; at && *at && *at != ',' && *at != '-'; ++at) count += *at != ' ';
  return at ? count : -1;
}

static int32_t asked_rank(const search_t* s, const onnx_node_t* user, uint32_t input) {
  int64_t perm[ONNX_MAX_RANK];
  uint32_t count;
  for (uint32_t i = 0; input < 32 && i < sizeof(fixed) / sizeof(fixed[0]); ++i) {
    if ((fixed[i].inputs >> input & 1) && is_any_of(fixed[i].names, user)) return fixed[i].rank;
  }
  const ir_attr_t* list = onnx_attr(user, "perm");
  if (strcmp(user->name, "Transpose") == 0 && list) {
    count = ir_attr_ints(list, perm, ONNX_MAX_RANK);
    return count <= ONNX_MAX_RANK ? (int32_t)count : -1;
  }
  int32_t result = declared_rank(user->op->results[0].type);
  if (is_any_of("|Conv|ConvInteger|ConvTranspose|", user) && input < 2 && user->op->operand_count > 1)
    return result >= 0 ? result : declared_rank(ir_operand(user->op, 1 - input)->type);
  const ir_attr_t* axes = strcmp(user->name, "Unsqueeze") == 0 && input == 0 ? constant_operand(s, user->op, 1) : NULL;
  if (axes && result >= 0) return result - (int32_t)ir_type_count(axes->type);
  if (keeps_rank(user, input)) return result >= 0 ? result : rank_of_others(user, input);
  return label_count(user, input);
}

static void look(search_t* s, const ir_value_t* v);

static void look_at_use(search_t* s, const ir_use_t* use) {
  ir_op_t* op = use->owner;
  uint32_t input = (uint32_t)(use - op->operands);
  const char* name = ir_op_string(op, "name", "");
  onnx_node_t user = *s->n;
  user.op = op;
  user.name = strncmp(name, "onnx.", 5) == 0 ? name + 5 : NULL;
  if (!user.name && op->parent && op->parent->parent) {  // what a branch gives is what the If gives
    ir_op_t* outer = op->parent->parent->parent;
    if (strcmp(ir_op_string(outer, "name", ""), "onnx.If") == 0 && input < outer->result_count)
      return look(s, &outer->results[input]);
  }
  if (!user.name || !op->result_count || ++s->steps > MAX_STEPS) {
    s->found.matters = true;
    return;
  }
  int32_t rank = asked_rank(s, &user, input);
  if (rank >= 0 && s->found.rank < 0) s->found.rank = rank;
  bool goes_on = rank < 0 && keeps_rank(&user, input);
  s->found.matters |= !(rank < 0 && takes_any_rank(s, &user, input)) && !(goes_on && is_elementwise(&user, input));
  if (goes_on) look(s, &op->results[0]);
}

static void look(search_t* s, const ir_value_t* v) {
  int32_t declared = declared_rank(v->type);
  if (declared >= 0 && s->found.rank < 0) s->found.rank = declared;
  s->found.matters |= declared >= 0;
  IR_FOR_USES(use, v) look_at_use(s, use);
}

onnx_asked_t onnx_rank_of_uses(onnx_node_t* n, const ir_value_t* v) {
  search_t s = {.n = n, .found = {.rank = -1}};
  look(&s, v);
  return s.found;
}

onnx_asked_t onnx_asked_rank(onnx_node_t* n, uint32_t i) {
  if (n->lowering->inferring) return (onnx_asked_t){.rank = -1, .matters = true};  // what follows is not there yet
  return onnx_rank_of_uses(n, &n->lowering->source->results[i]);
}

int32_t onnx_result_rank(onnx_node_t* n, uint32_t i) {
  int32_t declared = onnx_declared_rank(n, i);
  return declared >= 0 ? declared : onnx_asked_rank(n, i).rank;
}
