// Verifiers of the kernel dialect. A table gives each op its function; all scalar functions share one.
#include "dialects/kernel_verify.h"

#include <string.h>

#include "dialects/mma.h"

enum { MAX_LANES = 4096, MAX_WORKGROUP = 1024, MAX_SUBGROUP = 64, MAX_ALIGN = 4096 };

//===----------------------------------------------------------------------------------------------------------------===
// Types
//===----------------------------------------------------------------------------------------------------------------===

static bool is_number_type(const ir_type_t* t) {
  if (t->kind == IR_TYPE_INTEGER) return t->sign == IR_SIGNLESS && t->width >= 1 && t->width <= 64;
  return t->kind == IR_TYPE_INDEX || t->kind == IR_TYPE_FLOAT;
}

static bool is_value_type(const ir_type_t* t) {
  if (t->kind != IR_TYPE_VECTOR) return is_number_type(t);
  return t->rank == 1 && t->dims[0] >= 1 && t->dims[0] <= MAX_LANES && is_number_type(t->element);
}

static bool is_memory_type(const ir_type_t* t) {
  return t->kind == IR_TYPE_MEMREF && t->rank == 1 && is_number_type(t->element) && !t->encoding &&
         (t->dims[0] == IR_DYNAMIC || t->dims[0] >= 0);
}

static int64_t lanes_of(const ir_type_t* t) { return t->kind == IR_TYPE_VECTOR ? t->dims[0] : 1; }
static bool same_shape(const ir_type_t* a, const ir_type_t* b) {
  return (a->kind == IR_TYPE_VECTOR) == (b->kind == IR_TYPE_VECTOR) && lanes_of(a) == lanes_of(b);
}
static bool is_bool(const ir_type_t* t) { return t->kind == IR_TYPE_INTEGER && t->width == 1; }
static const ir_type_t* operand_type(const ir_op_t* op, uint32_t i) { return ir_operand(op, i)->type; }
static const ir_type_t* result_type(const ir_op_t* op) { return op->results[0].type; }

static bool type_error(ir_context_t* ctx, const ir_op_t* op, const char* what, const ir_type_t* got) {
  return ir_op_error(ctx, op, "%s, not '%s'", what, ir_type_str(ctx, got));
}

static bool check_values(ir_context_t* ctx, const ir_op_t* op) {
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (!is_value_type(operand_type(op, i))) {
      return type_error(ctx, op, "operands must be numbers or vectors of numbers", operand_type(op, i));
    }
  }
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (!is_value_type(op->results[i].type)) {
      return type_error(ctx, op, "results must be numbers or vectors of numbers", op->results[i].type);
    }
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Scalar functions
//===----------------------------------------------------------------------------------------------------------------===

static bool verify_cast(ir_context_t* ctx, const ir_op_t* op, scalar_fn_t fn) {
  const ir_type_t *from = operand_type(op, 0), *to = result_type(op);
  if (!same_shape(from, to)) return ir_op_error(ctx, op, "needs as many result lanes as operand lanes");
  if (fn != SCALAR_bitcast) return true;
  const ir_type_t *a = ir_type_scalar(from), *b = ir_type_scalar(to);
  if (a->width == b->width && ir_type_bytes(a) == ir_type_bytes(b)) return true;
  return ir_op_error(ctx, op, "cannot keep the bits of '%s' in '%s'", ir_type_str(ctx, a), ir_type_str(ctx, b));
}

static bool verify_scalar(ir_context_t* ctx, ir_op_t* op) {
  scalar_fn_t fn = (scalar_fn_t)kernel_scalar_fn(op);
  const scalar_info_t* info = &scalar_info[fn];
  if (!check_values(ctx, op)) return false;
  if (info->result == SCALAR_RESULT_ANY) return verify_cast(ctx, op, fn);
  uint32_t first = fn == SCALAR_select ? 1 : 0;
  const ir_type_t* type = operand_type(op, first);
  for (uint32_t i = first + 1; i < op->operand_count; ++i) {
    if (operand_type(op, i) != type) return ir_op_error(ctx, op, "needs operands of one type");
  }
  if (first) {
    const ir_type_t* condition = operand_type(op, 0);
    bool fits = is_bool(condition) || (is_bool(ir_type_scalar(condition)) && same_shape(condition, type));
    if (!fits) return type_error(ctx, op, "condition must be i1, or a vector of as many i1", condition);
  }
  bool is_float = ir_type_scalar(type)->kind == IR_TYPE_FLOAT;
  if (!(info->types & (is_float ? SCALAR_TYPES_F : SCALAR_TYPES_I))) {
    return type_error(ctx, op, is_float ? "takes integers" : "takes floats", type);
  }
  if (info->result == SCALAR_RESULT_SAME) {
    return result_type(op) == type || type_error(ctx, op, "result must have the operands' type", result_type(op));
  }
  bool fits = is_bool(ir_type_scalar(result_type(op))) && same_shape(result_type(op), type);
  return fits || type_error(ctx, op, "result must be i1 for each lane", result_type(op));
}

//===----------------------------------------------------------------------------------------------------------------===
// Functions and ids
//===----------------------------------------------------------------------------------------------------------------===

static const ir_op_t* function_of(const ir_op_t* op) {
  while (op && !ir_is(op, KERNEL_FUNC)) op = ir_op_parent(op);
  return op;
}

static bool verify_func_attrs(ir_context_t* ctx, const ir_op_t* op, int64_t bindings) {
  int64_t size[4], readonly[256], product = 1;
  if (!ir_op_string(op, "sym_name", NULL)) return ir_op_error(ctx, op, "has no sym_name");
  if (ir_op_ints(op, "workgroup_size", size, 4) != 3) {
    return ir_op_error(ctx, op, "needs workgroup_size = array<i64: x, y, z>");
  }
  for (int i = 0; i < 3; ++i) {
    if (size[i] < 1 || size[i] > MAX_WORKGROUP)
      return ir_op_error(ctx, op, "workgroup sizes are 1 to %d", MAX_WORKGROUP);
    product *= size[i];
  }
  if (product > MAX_WORKGROUP) return ir_op_error(ctx, op, "has more than %d threads in a workgroup", MAX_WORKGROUP);
  int64_t subgroup = ir_op_int(op, "subgroup_size", 1);
  if (subgroup < 1 || subgroup > MAX_SUBGROUP || (subgroup & (subgroup - 1))) {
    return ir_op_error(ctx, op, "subgroup_size must be a power of two up to %d", MAX_SUBGROUP);
  }
  uint32_t count = ir_op_ints(op, "readonly", readonly, 256);
  if (count > 256) return ir_op_error(ctx, op, "names more than 256 readonly bindings");
  for (uint32_t i = 0; i < count; ++i) {
    if (readonly[i] < 0 || readonly[i] >= bindings) return ir_op_error(ctx, op, "readonly names no binding");
  }
  return true;
}

static bool verify_func(ir_context_t* ctx, ir_op_t* op) {
  const ir_block_t* entry = op->regions[0].first;
  int64_t bindings = ir_op_int(op, "bindings", -1);
  if (!entry || entry->next) return ir_op_error(ctx, op, "needs a body of one block");
  if (bindings < 0 || bindings > entry->arg_count) return ir_op_error(ctx, op, "needs bindings = their number");
  if (!verify_func_attrs(ctx, op, bindings)) return false;
  for (uint32_t i = 0; i < entry->arg_count; ++i) {
    const ir_type_t* type = entry->args[i]->type;
    if (i < bindings && !(is_memory_type(type) && type->dims[0] == IR_DYNAMIC && type->space == IR_SPACE_GLOBAL)) {
      return type_error(ctx, op, "bindings must be memref<?x number>", type);
    }
    if (i >= bindings && !is_number_type(type)) return type_error(ctx, op, "constants must be numbers", type);
  }
  return ir_is(entry->last, KERNEL_RETURN) || ir_op_error(ctx, op, "must end with kernel.return");
}

static bool verify_return(ir_context_t* ctx, ir_op_t* op) {
  return ir_is(ir_op_parent(op), KERNEL_FUNC) || ir_op_error(ctx, op, "must end a kernel.func");
}

static bool verify_id(ir_context_t* ctx, ir_op_t* op) {
  int64_t axis = ir_op_int(op, "axis", ir_is(op, KERNEL_SUBGROUP_LANE) ? 0 : -1);
  if (axis < 0 || axis > 2) return ir_op_error(ctx, op, "needs axis = 0, 1 or 2");
  return result_type(op)->kind == IR_TYPE_INDEX || type_error(ctx, op, "gives an index", result_type(op));
}

//===----------------------------------------------------------------------------------------------------------------===
// Values
//===----------------------------------------------------------------------------------------------------------------===

static bool verify_constant(ir_context_t* ctx, ir_op_t* op) {
  if (!check_values(ctx, op)) return false;
  const ir_attr_t* value = ir_op_attr(op, "value");
  const ir_type_t *type = result_type(op), *scalar = ir_type_scalar(type);
  if (value && value->kind == IR_ATTR_ELEMENTS && value->type->element == scalar && type->kind == IR_TYPE_VECTOR &&
      ir_type_count(value->type) == lanes_of(type)) {
    return true;
  }
  ir_attr_kind_t kind = scalar->kind == IR_TYPE_FLOAT ? IR_ATTR_FLOAT : IR_ATTR_INTEGER;
  if (value && value->kind == kind && value->type == scalar) return true;
  return ir_op_error(ctx, op, "needs a value of type '%s'", ir_type_str(ctx, type));
}

static bool verify_iota(ir_context_t* ctx, ir_op_t* op) {
  const ir_type_t* type = result_type(op);
  bool fits = is_value_type(type) && type->kind == IR_TYPE_VECTOR && type->element->kind != IR_TYPE_FLOAT;
  return fits || type_error(ctx, op, "result must be a vector of integers", type);
}

static bool verify_splat(ir_context_t* ctx, ir_op_t* op) {
  const ir_type_t* type = result_type(op);
  if (!check_values(ctx, op)) return false;
  bool fits = type->kind == IR_TYPE_VECTOR && type->element == operand_type(op, 0);
  return fits || type_error(ctx, op, "result must be a vector of the operand", type);
}

static bool check_vector(ir_context_t* ctx, const ir_op_t* op, const ir_type_t* type) {
  return type->kind == IR_TYPE_VECTOR || type_error(ctx, op, "takes a vector", type);
}

static bool check_lane(ir_context_t* ctx, const ir_op_t* op, const ir_type_t* vector) {
  int64_t index = ir_op_int(op, "index", -1);
  return (index >= 0 && index < lanes_of(vector)) ||
         ir_op_error(ctx, op, "index is no lane of '%s'", ir_type_str(ctx, vector));
}

static bool verify_extract(ir_context_t* ctx, ir_op_t* op) {
  const ir_type_t* vector = operand_type(op, 0);
  if (!check_values(ctx, op) || !check_vector(ctx, op, vector)) return false;
  if (ir_is(op, KERNEL_EXTRACT_DYNAMIC) && operand_type(op, 1)->kind != IR_TYPE_INDEX) {
    return type_error(ctx, op, "lane must be an index", operand_type(op, 1));
  }
  if (ir_is(op, KERNEL_EXTRACT) && !check_lane(ctx, op, vector)) return false;
  return result_type(op) == vector->element || type_error(ctx, op, "gives one element", result_type(op));
}

static bool verify_insert(ir_context_t* ctx, ir_op_t* op) {
  const ir_type_t* vector = operand_type(op, 1);
  if (!check_values(ctx, op) || !check_vector(ctx, op, vector) || !check_lane(ctx, op, vector)) return false;
  if (operand_type(op, 0) != vector->element) return type_error(ctx, op, "inserts one element", operand_type(op, 0));
  return result_type(op) == vector || type_error(ctx, op, "gives the vector's type", result_type(op));
}

static bool verify_shuffle(ir_context_t* ctx, ir_op_t* op) {
  const ir_type_t *a = operand_type(op, 0), *type = result_type(op);
  if (!check_values(ctx, op) || !check_vector(ctx, op, a) || !check_vector(ctx, op, type)) return false;
  if (operand_type(op, 1) != a) return ir_op_error(ctx, op, "needs operands of one type");
  int64_t mask[MAX_LANES];
  uint32_t count = ir_op_ints(op, "mask", mask, MAX_LANES);
  if (count != lanes_of(type) || type->element != a->element) {
    return type_error(ctx, op, "result must have an element for each entry of the mask", type);
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (mask[i] < 0 || mask[i] >= 2 * lanes_of(a)) {
      return ir_op_error(ctx, op, "mask entry %lld names no element of the operands", (long long)mask[i]);
    }
  }
  return true;
}

// KIND(name, floats, integers, atomic)
#define KINDS(KIND)   \
  KIND(add, 1, 1, 1)  \
  KIND(mul, 1, 1, 0)  \
  KIND(min, 1, 1, 1)  \
  KIND(max, 1, 1, 1)  \
  KIND(minu, 0, 1, 1) \
  KIND(maxu, 0, 1, 1) \
  KIND(and, 0, 1, 1)  \
  KIND(or, 0, 1, 1)   \
  KIND(xor, 0, 1, 1)
static const struct {
  const char* name;
  scalar_fn_t fn;
  bool floats, integers, atomic;
} kinds[] = {
#define KIND(name, floats, integers, atomic) {#name, SCALAR_##name, floats, integers, atomic},
    KINDS(KIND)
#undef KIND
};

int kernel_reduce_fn(const char* kind) {
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
    if (strcmp(kinds[i].name, kind) == 0) return (int)kinds[i].fn;
  }
  return -1;
}

static bool check_kind(ir_context_t* ctx, const ir_op_t* op, const ir_type_t* scalar, bool atomic) {
  const char* kind = ir_op_string(op, "kind", "");
  if (atomic && strcmp(kind, "exchange") == 0) return true;
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
    if (strcmp(kinds[i].name, kind) || (atomic && !kinds[i].atomic)) continue;
    if (scalar->kind == IR_TYPE_FLOAT ? kinds[i].floats : kinds[i].integers) return true;
    return ir_op_error(ctx, op, "kind '%s' does not take '%s'", kind, ir_type_str(ctx, scalar));
  }
  return ir_op_error(ctx, op, "has no kind '%s'", kind);
}

static bool verify_reduce(ir_context_t* ctx, ir_op_t* op) {
  const ir_type_t* vector = operand_type(op, 0);
  if (!check_values(ctx, op) || !check_vector(ctx, op, vector)) return false;
  if (!check_kind(ctx, op, vector->element, false)) return false;
  return result_type(op) == vector->element || type_error(ctx, op, "gives one element", result_type(op));
}

//===----------------------------------------------------------------------------------------------------------------===
// Memory
//===----------------------------------------------------------------------------------------------------------------===

static bool is_power(int64_t value, int64_t most) { return value >= 1 && value <= most && !(value & (value - 1)); }

static bool check_align(ir_context_t* ctx, const ir_op_t* op) {
  return is_power(ir_op_int(op, "align", 1), MAX_ALIGN) ||
         ir_op_error(ctx, op, "align must be a power of two up to %d", MAX_ALIGN);
}

static bool check_memory(ir_context_t* ctx, const ir_op_t* op, const ir_value_t* memory) {
  return is_memory_type(memory->type) || type_error(ctx, op, "memory must be a flat memref of numbers", memory->type);
}

// The function's argument, alloc or view's source that `memory` comes from.
static const ir_value_t* memory_root(const ir_value_t* memory) {
  while (ir_is(memory->def, KERNEL_VIEW)) memory = ir_operand(memory->def, 0);
  return memory;
}

static bool check_writable(ir_context_t* ctx, const ir_op_t* op, const ir_value_t* memory) {
  const ir_value_t* root = memory_root(memory);
  if (root->type->space == IR_SPACE_CONSTANT) return ir_op_error(ctx, op, "writes constant memory");
  const ir_op_t* func = function_of(op);
  if (!func || root->block != func->regions[0].first) return true;
  int64_t readonly[256];
  uint32_t count = ir_op_ints(func, "readonly", readonly, 256);
  for (uint32_t i = 0; i < count && i < 256; ++i) {
    if (readonly[i] == root->index) return ir_op_error(ctx, op, "writes readonly binding %u", root->index);
  }
  return true;
}

static bool check_mask(ir_context_t* ctx, const ir_op_t* op, uint32_t mask, const ir_type_t* value) {
  const ir_type_t* type = operand_type(op, mask);
  bool fits = is_value_type(type) && is_bool(ir_type_scalar(type)) && same_shape(type, value);
  return fits || type_error(ctx, op, "mask must be i1 for each lane", type);
}

static bool check_index(ir_context_t* ctx, const ir_op_t* op, uint32_t operand) {
  const ir_type_t* type = operand_type(op, operand);
  return type->kind == IR_TYPE_INDEX || type_error(ctx, op, "offset must be an index", type);
}

// Offsets of gather and scatter: as many integers as the value has lanes.
static bool check_offsets(ir_context_t* ctx, const ir_op_t* op, uint32_t operand, const ir_type_t* value) {
  const ir_type_t* type = operand_type(op, operand);
  bool fits = is_value_type(type) && ir_type_scalar(type)->kind != IR_TYPE_FLOAT && same_shape(type, value);
  return fits || type_error(ctx, op, "offsets must be an integer for each lane", type);
}

static bool verify_load(ir_context_t* ctx, ir_op_t* op) {
  const ir_type_t* type = result_type(op);
  if (op->operand_count != 2 && op->operand_count != 4) {
    return ir_op_error(ctx, op, "takes memory and offset, or memory, offset, mask and other");
  }
  if (!check_memory(ctx, op, ir_operand(op, 0))) return false;
  if (!is_value_type(type) || ir_type_scalar(type) != operand_type(op, 0)->element) {
    return type_error(ctx, op, "gives elements of the memory", type);
  }
  bool gathers = ir_is(op, KERNEL_GATHER);
  if (gathers ? !check_offsets(ctx, op, 1, type) : !check_index(ctx, op, 1)) return false;
  if (!check_align(ctx, op)) return false;
  if (op->operand_count == 2) return true;
  if (operand_type(op, 3) != type) return type_error(ctx, op, "other must have the result's type", operand_type(op, 3));
  return check_mask(ctx, op, 2, type);
}

static bool verify_store(ir_context_t* ctx, ir_op_t* op) {
  if (op->operand_count != 3 && op->operand_count != 4) {
    return ir_op_error(ctx, op, "takes value, memory and offset, and perhaps a mask");
  }
  const ir_type_t* type = operand_type(op, 0);
  if (!check_memory(ctx, op, ir_operand(op, 1)) || !check_writable(ctx, op, ir_operand(op, 1))) return false;
  if (!is_value_type(type) || ir_type_scalar(type) != operand_type(op, 1)->element) {
    return type_error(ctx, op, "stores elements of the memory", type);
  }
  bool scatters = ir_is(op, KERNEL_SCATTER);
  if (scatters ? !check_offsets(ctx, op, 2, type) : !check_index(ctx, op, 2)) return false;
  return check_align(ctx, op) && (op->operand_count == 3 || check_mask(ctx, op, 3, type));
}

static bool verify_atomic(ir_context_t* ctx, ir_op_t* op) {
  const ir_type_t* type = operand_type(op, 0);
  if (!check_memory(ctx, op, ir_operand(op, 1)) || !check_writable(ctx, op, ir_operand(op, 1))) return false;
  if (type != operand_type(op, 1)->element) return type_error(ctx, op, "takes one element of the memory", type);
  if (result_type(op) != type) return type_error(ctx, op, "gives the old element", result_type(op));
  return check_index(ctx, op, 2) && check_kind(ctx, op, type, true);
}

static bool verify_alloc(ir_context_t* ctx, ir_op_t* op) {
  const ir_type_t* type = result_type(op);
  bool fits = is_memory_type(type) && type->dims[0] != IR_DYNAMIC &&
              (type->space == IR_SPACE_WORKGROUP || type->space == IR_SPACE_PRIVATE);
  if (!fits) return type_error(ctx, op, "result must be a static memref in space 3 or 5", type);
  if (!ir_is(ir_op_parent(op), KERNEL_FUNC)) return ir_op_error(ctx, op, "must be in the function's entry block");
  return check_align(ctx, op);
}

static bool verify_view(ir_context_t* ctx, ir_op_t* op) {
  const ir_type_t *from = operand_type(op, 0), *to = result_type(op);
  if (!check_memory(ctx, op, ir_operand(op, 0))) return false;
  if (!is_memory_type(to) || to->space != from->space) {
    return type_error(ctx, op, "result must be memory in the same space", to);
  }
  if ((from->dims[0] == IR_DYNAMIC) != (to->dims[0] == IR_DYNAMIC)) {
    return ir_op_error(ctx, op, "needs a static size where the operand has one, and '?' where it has '?'");
  }
  if (from->dims[0] == IR_DYNAMIC) return true;
  bool fits = to->dims[0] * ir_type_bytes(to->element) <= from->dims[0] * ir_type_bytes(from->element);
  return fits || type_error(ctx, op, "result must fit in the operand", to);
}

static bool verify_call(ir_context_t* ctx, ir_op_t* op) {
  const ir_attr_t* callee = ir_op_attr(op, "callee");
  if (!callee || callee->kind != IR_ATTR_SYMBOL || callee->count) return ir_op_error(ctx, op, "needs callee = @name");
  const ir_attr_t* import = ir_op_attr(op, "import");
  if (import && (import->kind != IR_ATTR_INTEGER || import->integer < 0))
    return ir_op_error(ctx, op, "needs import = n");
  uint32_t most = import ? 0 : 1;
  if (op->result_count > most || (op->result_count && !is_number_type(result_type(op)))) {
    return ir_op_error(ctx, op, import ? "is an import's, which gives nothing" : "gives a number or nothing");
  }
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    const ir_type_t* type = operand_type(op, i);
    if (!is_number_type(type) && !is_memory_type(type)) return type_error(ctx, op, "passes numbers and memory", type);
  }
  return true;
}

static bool verify_prefetch(ir_context_t* ctx, ir_op_t* op) {
  int64_t locality = ir_op_int(op, "locality", 3);
  if (locality < 0 || locality > 3) return ir_op_error(ctx, op, "locality is 0 to 3");
  return check_memory(ctx, op, ir_operand(op, 0)) && check_index(ctx, op, 1);
}

//===----------------------------------------------------------------------------------------------------------------===
// Control flow
//===----------------------------------------------------------------------------------------------------------------===

// `values` (a yield's operands from `skip` on) have the types of `op`'s results.
static bool check_yield(ir_context_t* ctx, const ir_op_t* op, uint32_t region, uint32_t skip) {
  const ir_block_t* block = op->regions[region].first;
  if (!block || block->next) return ir_op_error(ctx, op, "needs one block in region %u", region);
  const ir_op_t* yield = block->last;
  if (!ir_is(yield, KERNEL_YIELD)) return ir_op_error(ctx, op, "region %u must end with kernel.yield", region);
  if (yield->operand_count != op->result_count + skip) {
    return ir_op_error(ctx, yield, "gives %u values, needs %u", yield->operand_count, op->result_count + skip);
  }
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (operand_type(yield, i + skip) != op->results[i].type) {
      return type_error(ctx, yield, "must give the types of the results", operand_type(yield, i + skip));
    }
  }
  return true;
}

// Operands from `first` on, and the arguments of the region's block from `arg` on, have the types of the results.
static bool check_carried(ir_context_t* ctx, const ir_op_t* op, uint32_t first, uint32_t region) {
  const ir_block_t* block = op->regions[region].first;
  uint32_t arg = ir_is(op, KERNEL_FOR) ? 1 : 0;
  if (!block || block->arg_count != op->result_count + arg) {
    return ir_op_error(ctx, op, "needs a block argument for each carried value");
  }
  for (uint32_t i = 0; i < op->result_count; ++i) {
    const ir_type_t* type = op->results[i].type;
    if (!is_value_type(type)) return type_error(ctx, op, "carries numbers or vectors of numbers", type);
    if (operand_type(op, i + first) != type || block->args[i + arg]->type != type) {
      return ir_op_error(ctx, op, "initial value, block argument and result %u must have one type", i);
    }
  }
  return true;
}

static bool verify_for(ir_context_t* ctx, ir_op_t* op) {
  if (op->operand_count != op->result_count + 3) {
    return ir_op_error(ctx, op, "takes lower, upper, step, and a value for each result");
  }
  for (uint32_t i = 0; i < 3; ++i) {
    if (operand_type(op, i)->kind != IR_TYPE_INDEX) return type_error(ctx, op, "bounds are index", operand_type(op, i));
  }
  int64_t step;
  if (kernel_constant_index(ir_operand(op, 2), &step) && step <= 0)
    return ir_op_error(ctx, op, "needs a positive step");
  if (!check_carried(ctx, op, 3, 0)) return false;
  const ir_value_t* index = op->regions[0].first->args[0];
  if (index->type->kind != IR_TYPE_INDEX) return type_error(ctx, op, "counts with an index", index->type);
  return check_yield(ctx, op, 0, 0);
}

static bool verify_if(ir_context_t* ctx, ir_op_t* op) {
  if (!is_bool(operand_type(op, 0))) return type_error(ctx, op, "condition must be i1", operand_type(op, 0));
  for (uint32_t i = 0; i < op->result_count; ++i) {
    const ir_type_t* type = op->results[i].type;
    if (!is_value_type(type)) return type_error(ctx, op, "results are numbers or vectors of numbers", type);
  }
  if (!check_yield(ctx, op, 0, 0)) return false;
  if (!op->regions[1].first && op->result_count == 0) return true;
  return check_yield(ctx, op, 1, 0);
}

static bool verify_while(ir_context_t* ctx, ir_op_t* op) {
  if (op->operand_count != op->result_count) return ir_op_error(ctx, op, "takes a value for each result");
  if (!check_carried(ctx, op, 0, 0) || !check_carried(ctx, op, 0, 1)) return false;
  if (!check_yield(ctx, op, 0, 1) || !check_yield(ctx, op, 1, 0)) return false;
  const ir_type_t* condition = operand_type(op->regions[0].first->last, 0);
  return is_bool(condition) || type_error(ctx, op, "condition must be i1", condition);
}

static bool verify_yield(ir_context_t* ctx, ir_op_t* op) {
  const ir_op_t* parent = ir_op_parent(op);
  return ir_is(parent, KERNEL_FOR) || ir_is(parent, KERNEL_IF) || ir_is(parent, KERNEL_WHILE) ||
         ir_op_error(ctx, op, "must end a region of kernel.for, if or while");
}

//===----------------------------------------------------------------------------------------------------------------===
// GPU
//===----------------------------------------------------------------------------------------------------------------===

static bool verify_nothing(ir_context_t* ctx, ir_op_t* op) {
  (void)ctx, (void)op;
  return true;
}

static bool check_subgroup(ir_context_t* ctx, const ir_op_t* op, int64_t size) {
  const ir_op_t* func = function_of(op);
  int64_t has = func ? ir_op_int(func, "subgroup_size", 0) : size;
  if ((has && (!size || has == size)) || (size == 1 && !has)) return true;
  if (!size) return ir_op_error(ctx, op, "needs a function with subgroup_size");
  return ir_op_error(ctx, op, "needs subgroup_size = %lld", (long long)size);
}

static bool verify_subgroup_shuffle(ir_context_t* ctx, ir_op_t* op) {
  static const char* const modes[] = {"index", "xor", "up", "down"};
  if (!check_values(ctx, op)) return false;
  const ir_type_t* lane = operand_type(op, 1);
  if (lane->kind != IR_TYPE_INTEGER || lane->width != 32) return type_error(ctx, op, "lane must be i32", lane);
  if (result_type(op) != operand_type(op, 0)) return type_error(ctx, op, "gives the value's type", result_type(op));
  const char* mode = ir_op_string(op, "mode", "");
  bool known = false;
  for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); ++i) known |= strcmp(modes[i], mode) == 0;
  if (!known) return ir_op_error(ctx, op, "mode must be index, xor, up or down, not '%s'", mode);
  return check_subgroup(ctx, op, 0);
}

static bool is_fragment(ir_context_t* ctx, const ir_type_t* type, const char* element, int32_t lanes) {
  return lanes_of(type) == lanes && strcmp(ir_type_str(ctx, ir_type_scalar(type)), mma_element(element)) == 0;
}

static bool verify_mma(ir_context_t* ctx, ir_op_t* op) {
  const char* name = ir_op_string(op, "instruction", "");
  const mma_row_t* row = mma_find(name);
  if (!row) return ir_op_error(ctx, op, "knows no matrix instruction '%s'", name);
  if (!check_values(ctx, op)) return false;
  if (!is_fragment(ctx, operand_type(op, 0), row->a_type, row->a_lanes) ||
      !is_fragment(ctx, operand_type(op, 1), row->a_type, row->b_lanes) ||
      !is_fragment(ctx, operand_type(op, 2), row->c_type, row->c_lanes) || result_type(op) != operand_type(op, 2)) {
    return ir_op_error(ctx, op, "'%s' takes %d x %s, %d x %s and %d x %s in each lane", name, row->a_lanes,
                       mma_element(row->a_type), row->b_lanes, mma_element(row->a_type), row->c_lanes, row->c_type);
  }
  return check_subgroup(ctx, op, row->subgroup);
}

static bool verify_load_matrix(ir_context_t* ctx, ir_op_t* op) {
  int64_t count = ir_op_int(op, "count", 0);
  const ir_type_t* memory = operand_type(op, 0);
  if (count != 1 && count != 2 && count != 4) return ir_op_error(ctx, op, "loads 1, 2 or 4 matrices");
  if (!check_memory(ctx, op, ir_operand(op, 0)) || !check_index(ctx, op, 1)) return false;
  if (memory->space != IR_SPACE_WORKGROUP) return ir_op_error(ctx, op, "loads from workgroup memory");
  int64_t bytes = ir_type_bytes(memory->element);
  if (bytes > 4 || (ir_op_attr(op, "transpose") && bytes != 2)) {
    return type_error(ctx, op, "elements have up to 4 bytes, transposed ones 2", memory);
  }
  if (ir_type_scalar(result_type(op)) != memory->element || lanes_of(result_type(op)) * bytes != 4 * count) {
    return type_error(ctx, op, "gives 4 bytes of each matrix", result_type(op));
  }
  return check_subgroup(ctx, op, 32);
}

static bool is_tile(const ir_type_t* type) {
  return is_value_type(type) &&
         lanes_of(type) * ir_type_bytes(ir_type_scalar(type)) == KERNEL_TILE_ROWS * KERNEL_TILE_ROW_BYTES;
}

static bool verify_tile(ir_context_t* ctx, ir_op_t* op) {
  bool stores = ir_is(op, KERNEL_STORE_TILE);
  const ir_type_t* tile = stores ? operand_type(op, 0) : result_type(op);
  ir_value_t* memory = ir_operand(op, stores ? 1 : 0);
  if (!check_memory(ctx, op, memory) || (stores && !check_writable(ctx, op, memory))) return false;
  if (!is_tile(tile) || ir_type_scalar(tile) != memory->type->element) {
    return type_error(ctx, op, "moves 1024 bytes, of elements of the memory", tile);
  }
  return check_index(ctx, op, stores ? 2 : 1) && check_index(ctx, op, stores ? 3 : 2);
}

static bool verify_async_copy(ir_context_t* ctx, ir_op_t* op) {
  if (op->operand_count < 4 || op->operand_count > 5) return ir_op_error(ctx, op, "takes 4 or 5 operands");
  if (op->operand_count == 5 && !is_bool(operand_type(op, 4))) {
    return type_error(ctx, op, "whether the source exists is i1", operand_type(op, 4));
  }
  int64_t bytes = ir_op_int(op, "bytes", 0);
  if (bytes != 4 && bytes != 8 && bytes != 16) return ir_op_error(ctx, op, "copies 4, 8 or 16 bytes");
  for (uint32_t i = 0; i < 4; i += 2) {
    if (!check_memory(ctx, op, ir_operand(op, i)) || !check_index(ctx, op, i + 1)) return false;
    const ir_type_t* type = operand_type(op, i);
    if (bytes % ir_type_bytes(type->element)) return type_error(ctx, op, "copies whole elements", type);
  }
  ir_space_t from = operand_type(op, 0)->space, to = operand_type(op, 2)->space;
  bool fits = (from == IR_SPACE_GLOBAL || from == IR_SPACE_CONSTANT) && to == IR_SPACE_WORKGROUP;
  return fits || ir_op_error(ctx, op, "copies from global to workgroup memory");
}

static bool verify_async_wait(ir_context_t* ctx, ir_op_t* op) {
  return ir_op_int(op, "pending", -1) >= 0 || ir_op_error(ctx, op, "needs pending = groups that may be under way");
}

static const ir_verify_fn_t verifiers[] = {
    [KERNEL_FUNC - KERNEL_FUNC] = verify_func,
    [KERNEL_RETURN - KERNEL_FUNC] = verify_return,
    [KERNEL_WORKGROUP_ID - KERNEL_FUNC] = verify_id,
    [KERNEL_WORKGROUP_COUNT - KERNEL_FUNC] = verify_id,
    [KERNEL_THREAD_ID - KERNEL_FUNC] = verify_id,
    [KERNEL_SUBGROUP_LANE - KERNEL_FUNC] = verify_id,
    [KERNEL_CONSTANT - KERNEL_FUNC] = verify_constant,
    [KERNEL_IOTA - KERNEL_FUNC] = verify_iota,
    [KERNEL_SPLAT - KERNEL_FUNC] = verify_splat,
    [KERNEL_EXTRACT - KERNEL_FUNC] = verify_extract,
    [KERNEL_EXTRACT_DYNAMIC - KERNEL_FUNC] = verify_extract,
    [KERNEL_INSERT - KERNEL_FUNC] = verify_insert,
    [KERNEL_SHUFFLE - KERNEL_FUNC] = verify_shuffle,
    [KERNEL_REDUCE - KERNEL_FUNC] = verify_reduce,
    [KERNEL_LOAD - KERNEL_FUNC] = verify_load,
    [KERNEL_STORE - KERNEL_FUNC] = verify_store,
    [KERNEL_GATHER - KERNEL_FUNC] = verify_load,
    [KERNEL_SCATTER - KERNEL_FUNC] = verify_store,
    [KERNEL_ATOMIC - KERNEL_FUNC] = verify_atomic,
    [KERNEL_ALLOC - KERNEL_FUNC] = verify_alloc,
    [KERNEL_VIEW - KERNEL_FUNC] = verify_view,
    [KERNEL_CALL - KERNEL_FUNC] = verify_call,
    [KERNEL_PREFETCH - KERNEL_FUNC] = verify_prefetch,
    [KERNEL_FOR - KERNEL_FUNC] = verify_for,
    [KERNEL_IF - KERNEL_FUNC] = verify_if,
    [KERNEL_WHILE - KERNEL_FUNC] = verify_while,
    [KERNEL_YIELD - KERNEL_FUNC] = verify_yield,
    [KERNEL_BARRIER - KERNEL_FUNC] = verify_nothing,
    [KERNEL_SUBGROUP_SHUFFLE - KERNEL_FUNC] = verify_subgroup_shuffle,
    [KERNEL_MMA - KERNEL_FUNC] = verify_mma,
    [KERNEL_LOAD_MATRIX - KERNEL_FUNC] = verify_load_matrix,
    [KERNEL_LOAD_TILE - KERNEL_FUNC] = verify_tile,
    [KERNEL_STORE_TILE - KERNEL_FUNC] = verify_tile,
    [KERNEL_ASYNC_COPY - KERNEL_FUNC] = verify_async_copy,
    [KERNEL_ASYNC_COMMIT - KERNEL_FUNC] = verify_nothing,
    [KERNEL_ASYNC_WAIT - KERNEL_FUNC] = verify_async_wait,
};
_Static_assert(sizeof(verifiers) / sizeof(verifiers[0]) == KERNEL_END_ - KERNEL_FUNC, "one entry for each op");

bool kernel_verify_op(ir_context_t* ctx, ir_op_t* op) {
  if (kernel_scalar_fn(op) >= 0) return verify_scalar(ctx, op);
  return verifiers[ir_code(op) - KERNEL_FUNC](ctx, op);
}
