// Microkernels, iree_codegen.ukernel.generic: functions of plugins or objects that kernels call.
//
// A flow.dispatch.region that has some becomes a function over memory (shim.c) in an executable of its own, and a call
// of it as of any executable that the program brings (extern.c):
//
//   flow.dispatch.region[%w] -> (tensor<?xf32>{%d}) {
//     %id = flow.dispatch.workgroup.id[0] : index
//     %1 = tensor.extract_slice %x[%id] [%n] [1] ...               func.func @f(%b0: !stream.binding, %b1: ..., %n:
//     index) { %2 = tensor.extract_slice %dest[%id] [%n] [1] ...    =>        %x = iree_codegen.load_from_buffer ... %3
//     = iree_codegen.ukernel.generic "f" ins(%1) outs(%2) ...     (the region's ops; slices are places in memory) %4 =
//     tensor.insert_slice %3 into %dest[%id] [%n] [1] ...     } flow.return %4 %r = graph.extern @f_executable::@f(%x,
//     %dest, %n)
//   }
//
// What a microkernel writes is put back where it was taken from, so that nothing moves: the result is %dest's memory.
#include "dialects/arith.h"
#include "dialects/builtin.h"
#include "dialects/codegen.h"
#include "dialects/flow.h"
#include "dialects/func.h"
#include "dialects/hal.h"
#include "dialects/stream.h"
#include "dialects/tensor.h"
#include "import/linalg/ops.h"
#include "import/lowering_size.h"

enum { MAX_CAPTURED = 64 };

typedef struct region_t {
  lower_op_t* n;
  const ir_op_t *first, *end;         // its ops; `end` is not one
  ir_value_t* tensors[MAX_CAPTURED];  // from outside
  ir_value_t* numbers[MAX_CAPTURED];
  uint32_t tensor_count, number_count;
} region_t;

bool ukernel_is_in(const ir_block_t* block) {
  for (const ir_op_t* op = block->first; op; op = op->next) {
    if (ir_is(op, CODEGEN_UKERNEL_GENERIC)) return true;
  }
  return false;
}

static bool is_inside(const region_t* r, const ir_value_t* v) {
  for (const ir_op_t* op = r->first; op != r->end; op = op->next) {
    if (v->def == op) return true;
  }
  return false;
}

static bool capture(region_t* r, ir_value_t* v) {
  if (is_inside(r, v)) return true;
  bool tensor = ir_type_is_tensor(v->type);
  ir_value_t** list = tensor ? r->tensors : r->numbers;
  uint32_t* count = tensor ? &r->tensor_count : &r->number_count;
  for (uint32_t i = 0; i < *count; ++i) {
    if (list[i] == v) return true;
  }
  lower_value_t lowered = lower_get(v);
  if (!lowered.v || lowered.im || ir_type_is_tensor(lowered.v->type) != tensor) {
    return lower_unsupported(r->n, "a region with microkernels takes tensors of real elements, and numbers");
  }
  if (*count == MAX_CAPTURED) return lower_unsupported(r->n, "up to %d tensors and numbers are", MAX_CAPTURED);
  list[(*count)++] = v;
  return true;
}

static bool capture_all(region_t* r) {
  for (const ir_op_t* op = r->first; op != r->end; op = op->next) {
    if (op->region_count) return lower_unsupported(r->n, "a region with microkernels has no loops and branches");
    for (uint32_t i = 0; i < op->operand_count; ++i) {
      if (!capture(r, ir_operand(op, i))) return false;
    }
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Results
//===----------------------------------------------------------------------------------------------------------------===

static bool same_list(const ir_op_t* a, const ir_op_t* b, const char* name) {
  int64_t x[GRAPH_MAX_RANK], y[GRAPH_MAX_RANK];
  uint32_t count = ir_op_ints(a, name, x, GRAPH_MAX_RANK);
  if (ir_op_ints(b, name, y, GRAPH_MAX_RANK) != count) return false;
  for (uint32_t i = 0; i < count && i < GRAPH_MAX_RANK; ++i) {
    if (x[i] != y[i]) return false;
  }
  return true;
}

// What a microkernel's result was before: the tensor of `outs`.
static ir_value_t* written(const ir_value_t* v) {
  int64_t counts[3];
  if (!v->def || !ir_is(v->def, CODEGEN_UKERNEL_GENERIC)) return NULL;
  if (ir_op_ints(v->def, "operandSegmentSizes", counts, 3) != 3) return NULL;
  return ir_operand(v->def, (uint32_t)counts[0] + v->index);
}

// Whether the op puts a microkernel's result where the slice that it wrote was taken from.
static bool puts_back(const ir_op_t* op) {
  ir_value_t* v = ir_operand(op, 0);
  for (ir_value_t* before; (before = written(v));) v = before;
  const ir_op_t* from = v->def;
  if (v == ir_operand(op, 0) || !from || !ir_is(from, TENSOR_EXTRACT_SLICE)) return false;
  if (from->operand_count + 1 != op->operand_count || ir_operand(from, 0) != ir_operand(op, 1)) return false;
  for (uint32_t i = 1; i < from->operand_count; ++i) {
    if (ir_operand(from, i) != ir_operand(op, 1 + i)) return false;
  }
  return same_list(from, op, "static_offsets") && same_list(from, op, "static_sizes") &&
         same_list(from, op, "static_strides");
}

// The tensor from outside whose memory the value is, or -1 after a diagnostic.
static int64_t memory_of(region_t* r, ir_value_t* v) {
  while (is_inside(r, v)) {
    if (ir_is(v->def, TENSOR_INSERT_SLICE)) {
      v = ir_operand(v->def, 1);
    } else if (!(v = written(v))) {
      break;
    }
  }
  for (uint32_t i = 0; v && i < r->tensor_count; ++i) {
    if (r->tensors[i] == v) return i;
  }
  lower_unsupported(r->n, "a region with microkernels returns tensors from outside that they have written to");
  return -1;
}

//===----------------------------------------------------------------------------------------------------------------===
// The executable
//===----------------------------------------------------------------------------------------------------------------===

static const char* microkernel(const region_t* r) {
  for (const ir_op_t* op = r->first; op != r->end; op = op->next) {
    if (ir_is(op, CODEGEN_UKERNEL_GENERIC)) return ir_op_string(op, "u_kernel_fn_name", "");
  }
  return "";
}

static const ir_attr_t* objects(const region_t* r) {
  for (const ir_op_t* op = r->first; op != r->end; op = op->next) {
    const ir_attr_t* attr = ir_op_attr(op, "hal.executable.objects");
    if (attr) return attr;
  }
  return NULL;
}

// An executable whose function returns at once; the function in `*func`.
static ir_op_t* add_executable(region_t* r, uint32_t size_count, ir_op_t** func) {
  lower_op_t* n = r->n;
  uint32_t number = 0;
  const char* name = microkernel(r);
  const char* symbol = arena_printf(ir_context_arena(n->ctx), "%s_executable", name);
  while (ir_symbol_find(n->ctx, n->l->module, symbol)) {
    symbol = arena_printf(ir_context_arena(n->ctx), "%s_executable_%u", name, ++number);
  }
  text_t text = {0};
  text_printf(&text, "stream.executable private @\"%s\" { stream.executable.export public @\"%s\" builtin.module {\n",
              symbol, symbol);
  text_printf(&text, "func.func private @\"%s\"()\nfunc.func @\"%s\"(", name, symbol);
  for (uint32_t i = 0; i < r->tensor_count; ++i) text_printf(&text, "%s%%b%u: !stream.binding", i ? ", " : "", i);
  for (uint32_t i = 0; i < r->number_count + size_count; ++i) {
    const ir_type_t* type = i < r->number_count ? lower_get(r->numbers[i]).v->type : ir_type_index(n->ctx);
    text_printf(&text, "%s%%n%u: %s", i || r->tensor_count ? ", " : "", i, ir_type_str(n->ctx, type));
  }
  text_puts(&text, ") { return }\n} }\n");
  char* kept = arena_strndup(ir_context_arena(n->ctx), text.data, text.size);
  ir_op_t* parsed = ir_parse_module(n->ctx, "<microkernel>", kept, text.size);
  text_finish(&text);
  if (!parsed) return NULL;
  ir_op_t* executable = ir_module_body(parsed)->first;
  *func = executable->regions[0].first->last->regions[0].first->last;
  ir_op_remove(executable);
  ir_block_append(ir_module_body(n->l->module), executable);
  if (objects(r)) ir_op_set_attr(n->ctx, executable, "hal.executable.objects", objects(r));
  executable->data = executable;
  return executable;
}

static ir_value_t* make(ir_builder_t* b, uint32_t code, ir_value_t* const* operands, uint32_t count,
                        const ir_type_t* type, const ir_attr_t* value) {
  ir_named_attr_t attr = {"value", value};
  return ir_result(ir_build(b, &(ir_op_state_t){.info = ir_context_op(b->ctx, code),
                                                .operands = operands,
                                                .operand_count = count,
                                                .result_types = &type,
                                                .result_count = 1,
                                                .attrs = &attr,
                                                .attr_count = value != NULL}),
                   0);
}

// The region's ops in the function, with its arguments in the place of what is outside.
static bool fill(region_t* r, ir_op_t* func) {
  ir_context_t* ctx = r->n->ctx;
  ir_block_t* body = func->regions[0].first;
  ir_builder_t b = ir_builder_before(ctx, body->last);
  b.loc = r->n->op->loc;
  ir_value_map_t* map = ir_value_map_create(ctx);
  ir_value_t* zero = make(&b, ARITH_CONSTANT, NULL, 0, ir_type_index(ctx), ir_attr_integer(ctx, ir_type_index(ctx), 0));
  uint32_t size = r->tensor_count + r->number_count;
  for (uint32_t i = 0; i < r->number_count; ++i) ir_value_map_set(map, r->numbers[i], body->args[r->tensor_count + i]);
  for (uint32_t i = 0; i < r->tensor_count; ++i) {
    const ir_type_t* type = lower_get(r->tensors[i]).v->type;
    ir_value_t* operands[2 + GRAPH_MAX_RANK] = {body->args[i], zero};
    uint32_t count = 2;
    for (int32_t d = 0; d < type->rank; ++d) {
      if (type->dims[d] == IR_DYNAMIC) operands[count++] = body->args[size++];
    }
    const ir_type_t* memref = ir_type_memref(ctx, type->element, type->rank, type->dims, NULL, IR_SPACE_GLOBAL);
    ir_value_t* memory = make(&b, STREAM_BINDING_SUBSPAN, operands, count, memref, NULL);
    ir_value_map_set(map, r->tensors[i], make(&b, CODEGEN_LOAD_FROM_BUFFER, &memory, 1, r->tensors[i]->type, NULL));
  }
  for (const ir_op_t* op = r->first; op != r->end; op = op->next) {
    if (!ir_is(op, TENSOR_INSERT_SLICE)) {
      ir_block_insert_before(body, ir_op_clone(ctx, op, map), body->last);
    } else if (puts_back(op)) {
      ir_value_t* into = ir_value_map_get(map, ir_operand(op, 1));
      ir_value_map_set(map, ir_result((ir_op_t*)op, 0), into ? into : ir_operand(op, 1));
    } else {
      return ir_op_error(ctx, op, "does not put what a microkernel has written back where it was taken from");
    }
  }
  return true;
}

static bool lower(region_t* r, ir_value_t* const* returned, ir_value_t* const* counts, ir_value_t* const* result_sizes,
                  uint32_t result_size_count) {
  lower_op_t* n = r->n;
  lower_list_t arguments = LOWER_LIST(n->ctx), sizes = LOWER_LIST(n->ctx);
  int64_t tied[GRAPH_MAX_TIED];
  ir_op_t* func;
  if (n->op->result_count > GRAPH_MAX_TIED) return lower_unsupported(n, "up to %d results are", GRAPH_MAX_TIED);
  for (uint32_t i = 0; i < n->op->result_count; ++i) {
    if ((tied[i] = memory_of(r, returned[i])) < 0) return false;
  }
  for (uint32_t i = 0; i < r->tensor_count; ++i) {
    ir_value_t* v = lower_get(r->tensors[i]).v;
    lower_list_add(&arguments, v);
    for (int32_t d = 0; d < v->type->rank; ++d) {
      if (v->type->dims[d] == IR_DYNAMIC) lower_list_add(&sizes, lower_size(n->b, v, d));
    }
  }
  for (uint32_t i = 0; i < r->number_count; ++i) lower_list_add(&arguments, lower_get(r->numbers[i]).v);
  for (uint32_t i = 0; i < sizes.count; ++i) lower_list_add(&arguments, sizes.items[i]);
  ir_op_t* executable = add_executable(r, sizes.count, &func);
  if (!executable || !fill(r, func)) return false;
  const char* name = ir_op_string(executable, "sym_name", "");
  const ir_attr_t* export = ir_attr_symbol(n->ctx, name);
  return extern_build(n, &(extern_call_t){.callee = ir_attr_symbol_nested(n->ctx, name, &export, 1),
                                          .arguments = arguments.items,
                                          .argument_count = arguments.count,
                                          .counts = counts,
                                          .sizes = result_sizes,
                                          .size_count = result_size_count,
                                          .tied = tied});
}

//===----------------------------------------------------------------------------------------------------------------===
// Ops
//===----------------------------------------------------------------------------------------------------------------===

bool ukernel_lower_region(lower_op_t* n) {
  const ir_block_t* block = n->op->regions[0].first;
  region_t r = {.n = n, .first = block->first, .end = block->last};
  ir_value_t* counts[3];
  uint32_t open = 0;
  for (uint32_t i = 0; i < n->op->result_count; ++i) {
    const ir_type_t* type = lower_out_type(n, i);
    if (!ir_type_is_tensor(type)) return lower_unsupported(n, "tensors are");
    open += ir_type_open_dims(type);
  }
  if (open > n->op->operand_count) return lower_error(n, "needs the size of each '?' of its results");
  if (block->last->operand_count != n->op->result_count) return lower_error(n, "returns other values");
  uint32_t workload = n->op->operand_count - open;
  if (n->op->region_count < 2) {
    for (int i = 0; i < 3; ++i) counts[i] = graph_index_constant(n->b, 1);
  } else if (!extern_lower_count(n, n->op, 1, workload, counts)) {
    return false;
  }
  ir_value_t** returned = ARENA_ARRAY(ir_context_arena(n->ctx), ir_value_t*, n->op->result_count + 1);
  for (uint32_t i = 0; i < n->op->result_count; ++i) returned[i] = ir_operand(block->last, i);
  if (!capture_all(&r)) return false;
  for (uint32_t i = 0; i < n->op->result_count; ++i) {
    if (!capture(&r, returned[i])) return false;
  }
  return lower(&r, returned, counts, n->in + workload, open);
}

// A microkernel outside of a region is a dispatch of one workgroup.
bool ukernel_lower_one(lower_op_t* n) {
  region_t r = {.n = n, .first = n->op, .end = n->op->next};
  ir_value_t* counts[3];
  lower_list_t sizes = LOWER_LIST(n->ctx);
  if (!n->op->result_count) return lower_unsupported(n, "on tensors, or in a function of an executable, it is");
  if (!capture_all(&r)) return false;
  for (int i = 0; i < 3; ++i) counts[i] = graph_index_constant(n->b, 1);
  ir_value_t** returned = ARENA_ARRAY(ir_context_arena(n->ctx), ir_value_t*, n->op->result_count + 1);
  for (uint32_t i = 0; i < n->op->result_count; ++i) {
    returned[i] = ir_result(n->op, i);
    ir_value_t* out = lower_get(written(returned[i])).v;
    for (int32_t d = 0; d < out->type->rank; ++d) {
      if (lower_out_type(n, i)->dims[d] == IR_DYNAMIC) lower_list_add(&sizes, lower_size(n->b, out, d));
    }
  }
  return lower(&r, returned, counts, sizes.items, sizes.count);
}
