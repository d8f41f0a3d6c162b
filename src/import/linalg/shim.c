// Functions of executables over memory, which compute arguments and call functions of objects: see lower_shim. They are
// lowered as all else; scalars, which graph and kernel have alike, become the kernel's at the end.
//
// A value that is memory has in `items` where it begins (in elements), its sizes and its strides, as indices.
#include <string.h>

#include "dialects/builtin.h"
#include "dialects/codegen.h"
#include "dialects/flow.h"
#include "dialects/func.h"
#include "dialects/kernel.h"
#include "dialects/memref.h"
#include "dialects/scf.h"
#include "dialects/tensor_ext.h"
#include "import/linalg/workgroup.h"
#include "ir/parse_state.h"

enum { THREADS = 64 };  // of a workgroup on GPUs

//===----------------------------------------------------------------------------------------------------------------===
// Memory
//===----------------------------------------------------------------------------------------------------------------===

static lower_value_t number(ir_builder_t* b, int64_t value) {
  return (lower_value_t){.v = graph_index_constant(b, value)};
}

// A binding's bytes as elements of the type.
static ir_value_t* view(ir_builder_t* b, ir_value_t* binding, const ir_type_t* element) {
  int64_t any = IR_DYNAMIC;
  const ir_type_t* type = ir_type_memref(b->ctx, element, 1, &any, NULL, IR_SPACE_GLOBAL);
  if (binding->type == type) return binding;
  ir_op_t* op = ir_build(b, &(ir_op_state_t){.info = ir_context_op(b->ctx, KERNEL_VIEW),
                                             .operands = &binding,
                                             .operand_count = 1,
                                             .result_types = &type,
                                             .result_count = 1});
  return ir_result(op, 0);
}

const ir_type_t* shim_view_type(ir_context_t* ctx, const ir_type_t* type) {
  if (type->kind == IR_TYPE_MEMREF) return type;
  size_t size = type->kind == IR_TYPE_OPAQUE ? strlen(type->name) : 0;
  static const char end[] = "dispatch.tensor";
  bool is_tensor = size >= sizeof(end) - 1 && strcmp(type->name + size - (sizeof(end) - 1), end) == 0;
  const char* inside = is_tensor && type->body ? strchr(type->body, ':') : NULL;
  if (!inside) return NULL;
  const ir_type_t* tensor = ir_parse_type_text(ctx, inside + 1, strlen(inside + 1));
  return tensor && ir_type_is_tensor(tensor) && tensor->rank <= GRAPH_MAX_RANK ? tensor : NULL;
}

// Sizes that are left open are 0 until an op ties them.
static bool view_buffer(lowering_t* l, ir_value_t* binding, const ir_type_t* type, buffer_t* out) {
  const ir_type_t* element = lower_element(l->ctx, type->element);
  *out = (buffer_t){.memory = view(&l->b, binding, element), .rank = (uint32_t)type->rank};
  out->offset = graph_index_constant(&l->b, 0);
  for (uint32_t i = 0; i < out->rank; ++i) {
    out->sizes[i] = graph_index_constant(&l->b, type->dims[i] == IR_DYNAMIC ? 0 : type->dims[i]);
  }
  buffer_set_dense(&l->b, out);
  return true;
}

bool shim_lower_view(lower_op_t* n, ir_value_t* binding, uint32_t first, bool has_offset) {
  const ir_type_t* type = shim_view_type(n->ctx, lower_out_type(n, 0));
  buffer_t x;
  bool memory = type && type->rank >= 0 && type->rank <= GRAPH_MAX_RANK && lower_type(n->ctx, type->element) &&
                binding && binding->type->kind == IR_TYPE_MEMREF;
  if (!memory || ir_type_is_packed(type->element)) {
    return lower_unsupported(n, "a binding as memref or tensor of numbers of whole bytes is");
  }
  if (!view_buffer(n->l, binding, type, &x)) return false;
  if (has_offset) {
    ir_value_t* bytes = lower_index(n->b, n->in[first]);
    x.offset = lower_index_binary(n->b, SCALAR_div, bytes, graph_index_constant(n->b, ir_type_bytes(type->element)));
  }
  uint32_t next = first + has_offset;
  for (uint32_t i = 0; i < x.rank; ++i) {
    bool open = type->dims[i] == IR_DYNAMIC;
    if (open && next >= n->op->operand_count) return lower_error(n, "needs the size of each '?' of its result");
    if (open) x.sizes[i] = lower_index(n->b, n->in[next++]);
  }
  buffer_set_dense(n->b, &x);
  n->out[0] = buffer_value(n->l, &x);
  return true;
}

static bool lower_load(lower_op_t* n) {
  if (!n->l->kernel || !n->values[0].items) return lower_unsupported(n, "a memref of a binding is");
  n->out[0] = n->values[0];
  return true;
}

static bool lower_extract(lower_op_t* n) {
  lower_value_t memory = n->values[0];
  if (!n->l->kernel || !memory.items || n->op->result_count != 1 + memory.count) {
    return lower_unsupported(n, "a memref of a binding is, with its offset, sizes and strides as results");
  }
  lower_value_t* base = ARENA_NEW(ir_context_arena(n->ctx), lower_value_t);
  *base = number(n->b, 0);
  n->out[0] = (lower_value_t){.v = memory.v, .items = base, .count = 1};
  for (uint32_t i = 0; i < memory.count; ++i) n->out[1 + i] = memory.items[i];
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Numbers and calls
//===----------------------------------------------------------------------------------------------------------------===

bool shim_lower_id(lower_op_t* n, uint32_t kernel_code) {
  int64_t axis = ir_op_int(n->op, "dimension", -1);
  if (axis < 0 || axis > 2) return lower_error(n, "has dimensions 0, 1 and 2");
  return lower_return(n, kernel_id(n->b, kernel_code, axis));
}

// Memory is passed as C does: a pointer by itself (llvm.bareptr), or what memref's descriptor holds.
static bool pass_memory(lower_op_t* n, uint32_t i, bool bare, lower_list_t* out) {
  lower_value_t memory = n->values[i];
  int64_t offset = 0;
  if (!memory.items) return lower_unsupported(n, "a memref of a binding can be passed");
  lower_list_add(out, memory.v);
  if (bare) {
    if (lower_constant_index(memory.items[0].v, &offset) && !offset) return true;
    return lower_unsupported(n,
                             "with llvm.bareptr, iree_codegen.extract_strided_metadata gives base and offset to pass");
  }
  lower_list_add(out, memory.v);
  for (uint32_t k = 0; k < memory.count; ++k) lower_list_add(out, memory.items[k].v);
  return true;
}

// A plugin's function gives nothing, one of an object a number at most. `fields` are what it is passed of its place.
static ir_op_t* build_call(lower_op_t* n, const char* name, bool is_static, const ir_attr_t* fields,
                           const lower_list_t* operands, const ir_type_t* type) {
  ir_named_attr_t attrs[3] = {{"callee", ir_attr_symbol(n->ctx, name)}, {"import", ir_attr_i64(n->ctx, 0)}};
  uint32_t attr_count = is_static ? 1 : 2;
  if (!is_static && fields) attrs[attr_count++] = (ir_named_attr_t){"fields", fields};
  return ir_build(n->b, &(ir_op_state_t){.info = ir_context_op(n->ctx, KERNEL_CALL),
                                         .operands = operands->items,
                                         .operand_count = operands->count,
                                         .result_types = &type,
                                         .result_count = type != NULL,
                                         .attrs = attrs,
                                         .attr_count = attr_count});
}

bool shim_lower_call(lower_op_t* n, const ir_op_t* func) {
  lower_list_t operands = LOWER_LIST(n->ctx);
  const char* name = ir_op_string(func, "sym_name", "");
  if (func->regions[0].first) return lower_unsupported(n, "functions without a body, of objects, are called");
  bool is_static = ir_op_attr(func, "hal.import.static") != NULL;
  for (uint32_t i = 0; i < n->op->operand_count; ++i) {
    if (lower_in_type(n, i)->kind != IR_TYPE_MEMREF) {
      lower_list_add(&operands, n->in[i]);
    } else if (!pass_memory(n, i, ir_op_flag(func, "llvm.bareptr"), &operands)) {
      return false;
    }
  }
  const ir_type_t* type = n->op->result_count ? lower_type(n->ctx, lower_out_type(n, 0)) : NULL;
  if (n->op->result_count > 1 || (n->op->result_count && (!type || ir_type_is_tensor(type)))) {
    return lower_unsupported(n, "functions that give a number or nothing are");
  }
  if (type && !is_static) return lower_unsupported(n, "@%s is a plugin's, which give nothing", name);
  ir_op_t* call = build_call(n, name, is_static, ir_op_attr(func, "hal.import.fields"), &operands, type);
  if (type) n->out[0].v = ir_result(call, 0);
  return true;
}

// Of a microkernel's `number`-th operand with a shape: strides of all dimensions, or of those that strided_dims names.
static bool pass_strides(lower_op_t* n, uint32_t number, lower_value_t memory, lower_list_t* out) {
  const ir_attr_t* all = ir_op_attr(n->op, "strided_dims");
  uint32_t rank = (memory.count - 1) / 2;
  int64_t dims[GRAPH_MAX_RANK], count = rank;
  for (uint32_t i = 0; i < rank; ++i) dims[i] = i;
  if (all) {
    bool has = all->kind == IR_ATTR_ARRAY && number < all->count && all->items[number]->kind == IR_ATTR_ARRAY;
    count = has ? (int64_t)ir_attr_ints(all->items[number], dims, GRAPH_MAX_RANK) : -1;
    if (count > GRAPH_MAX_RANK) count = -1;
  }
  for (int64_t i = 0; i < count; ++i) {
    if (dims[i] < 0 || dims[i] >= rank) count = -1;
    if (count > 0) lower_list_add(out, memory.items[1 + rank + dims[i]].v);
  }
  return count >= 0 || lower_error(n, "needs a list of dimensions in strided_dims for each tensor or memref");
}

// A microkernel takes base, offset in elements and strides of what has a shape, and numbers as they are.
static bool lower_ukernel(lower_op_t* n) {
  lower_list_t operands = LOWER_LIST(n->ctx);
  int64_t counts[3];
  uint32_t shaped = 0;
  if (!n->l->kernel) return ukernel_lower_one(n);
  for (uint32_t i = 0; i < n->op->operand_count; ++i) {
    lower_value_t memory = n->values[i];
    if (!ir_type_is_shaped(lower_in_type(n, i))) {
      lower_list_add(&operands, n->in[i]);
      continue;
    }
    if (!memory.items) return lower_unsupported(n, "what its dispatch is given, and slices of it, can be passed");
    lower_list_add(&operands, memory.v);
    lower_list_add(&operands, memory.items[0].v);
    if (!pass_strides(n, shaped++, memory, &operands)) return false;
  }
  const ir_attr_t* attrs = ir_op_attr(n->op, "fn_def_attrs");
  bool told = attrs && attrs->kind == IR_ATTR_DICT;
  build_call(n, ir_op_string(n->op, "u_kernel_fn_name", ""), told && ir_attr_dict_get(attrs, "hal.import.static"),
             told ? ir_attr_dict_get(attrs, "hal.import.fields") : NULL, &operands, NULL);
  ir_op_ints(n->op, "operandSegmentSizes", counts, 3);
  for (uint32_t i = 0; i < n->op->result_count; ++i) n->out[i] = n->values[counts[0] + i];
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Functions
//===----------------------------------------------------------------------------------------------------------------===

// Arguments that are memory: whole bindings, and tensors that lie in one.
static bool is_binding(ir_context_t* ctx, const ir_type_t* type) {
  bool whole = type->kind == IR_TYPE_OPAQUE && strcmp(type->name, "stream.binding") == 0;
  return whole || (type->kind == IR_TYPE_OPAQUE && shim_view_type(ctx, type));
}

// Bindings and constants of a function with arguments, in order; else as the shim says.
static bool add_signature(ir_context_t* ctx, const lower_shim_t* shim, const ir_op_t* func, kernel_signature_t* sig) {
  const ir_block_t* entry = func->regions[0].first;
  uint32_t bindings = shim->bindings, constants = shim->constants, most = bindings + constants + entry->arg_count;
  const ir_type_t** types = ARENA_ARRAY(ir_context_arena(ctx), const ir_type_t*, 2 * most + 1);
  sig->bindings = types;
  sig->constants = types + most;
  if (entry->arg_count) bindings = constants = 0;
  for (uint32_t i = 0; i < constants; ++i) types[most + i] = ir_type_int(ctx, 32);
  for (uint32_t i = 0; i < entry->arg_count; ++i) {
    const ir_type_t* type = entry->args[i]->type;
    if (is_binding(ctx, type)) {
      ++bindings;
    } else if (!ir_type_is_shaped(type) && lower_type(ctx, type)) {
      types[most + constants++] = lower_type(ctx, type);
    } else {
      return ir_op_error(ctx, func, "has argument %u of type %s; !stream.binding and numbers can be arguments", i,
                         ir_type_str(ctx, type));
    }
  }
  for (uint32_t i = 0; i < bindings; ++i) types[i] = ir_type_int(ctx, 8);
  sig->binding_count = bindings;
  sig->constant_count = constants;
  return true;
}

// Whether there are loops over elements, which threads can share; else one does all.
static bool has_nests(const ir_block_t* block) {
  for (const ir_op_t* op = block->first; op; op = op->next) {
    uint32_t dialect = ir_op_dialect(op);
    if (dialect == IR_DIALECT_LINALG || ir_is(op, SCF_FORALL) || ir_is(op, MEMREF_COPY) ||
        ir_is(op, FLOW_DISPATCH_TENSOR_STORE) || ir_is(op, TENSOR_EXT_DISPATCH_TENSOR_STORE)) {
      return true;
    }
    for (uint32_t r = 0; r < op->region_count; ++r) {
      IR_FOR_BLOCKS(inner, &op->regions[r]) {
        if (has_nests(inner)) return true;
      }
    }
  }
  return false;
}

static void take_scalar(ir_context_t* ctx, ir_op_t* op, uint32_t code) {
  ir_builder_t b = ir_builder_before(ctx, op);
  b.loc = op->loc;
  ir_value_t** operands = ARENA_ARRAY(ir_context_arena(ctx), ir_value_t*, op->operand_count + 1);
  for (uint32_t i = 0; i < op->operand_count; ++i) operands[i] = ir_operand(op, i);
  ir_op_t* own = ir_build(&b, &(ir_op_state_t){.info = ir_context_op(ctx, code),
                                               .operands = operands,
                                               .operand_count = op->operand_count,
                                               .result_types = &op->results[0].type,
                                               .result_count = 1,
                                               .attrs = op->attrs,
                                               .attr_count = op->attr_count});
  ir_value_replace(ir_result(op, 0), ir_result(own, 0));
  ir_op_erase(op);
}

// Scalars become the kernel's.
static bool take_scalars(ir_context_t* ctx, ir_block_t* block) {
  IR_FOR_OPS_SAFE(op, block) {
    int fn = ir_op_dialect(op) == IR_DIALECT_GRAPH ? graph_scalar_fn(op) : -1;
    bool constant = ir_is(op, GRAPH_CONSTANT), kernel = ir_op_dialect(op) == IR_DIALECT_KERNEL;
    for (uint32_t r = 0; kernel && r < op->region_count; ++r) {
      IR_FOR_BLOCKS(inner, &op->regions[r]) {
        if (!take_scalars(ctx, inner)) return false;
      }
    }
    if (kernel) continue;
    if ((fn < 0 && !constant) || ir_type_is_shaped(op->results[0].type)) {
      return ir_op_error(ctx, op, "is more than a function of an executable may do: it computes with numbers");
    }
    take_scalar(ctx, op, constant ? KERNEL_CONSTANT : IR_CODE(IR_DIALECT_KERNEL, fn));
  }
  return true;
}

ir_op_t* lower_shim(ir_context_t* ctx, const lower_shim_t* shim, ir_block_t* into) {
  ir_op_t* func = ir_symbol_lookup(shim->module, shim->function);
  ir_block_t* body = func && ir_is(func, FUNC_FUNC) ? func->regions[0].first : NULL;
  if (!body || body->next || !body->last || body->last->operand_count) {
    ir_op_error(ctx, shim->module, "has no function @%s of one block that returns nothing", shim->function);
    return NULL;
  }
  kernel_signature_t sig = {.name = shim->name, .workgroup_size = {1, 1, 1}};
  if (shim->gpu && has_nests(body)) sig.workgroup_size[0] = THREADS;
  lowering_t l = {.ctx = ctx, .module = shim->module};
  if (shim->gpu) l.threads = sig.workgroup_size[0];
  for (int i = 0; i < 3; ++i) l.group_sizes[i] = shim->sizes[i] ? shim->sizes[i] : 1;
  if (!add_signature(ctx, shim, func, &sig)) return NULL;
  l.kernel = kernel_func_begin(ctx, into, func->loc, &sig, &l.b);
  lower_value_t *args = ARENA_ARRAY(ir_context_arena(ctx), lower_value_t, body->arg_count + 1), *results = NULL;
  uint32_t binding = 0, constant = sig.binding_count, count = 0;
  for (uint32_t i = 0; i < body->arg_count; ++i) {
    const ir_type_t *type = body->args[i]->type, *seen = shim_view_type(ctx, type);
    buffer_t x;
    args[i].v = kernel_func_arg(l.kernel, is_binding(ctx, type) ? binding++ : constant++);
    if (seen && view_buffer(&l, args[i].v, seen, &x)) args[i] = buffer_value(&l, &x);
  }
  if (!lower_block(&l, body, args, &results, &count)) return NULL;
  kernel_func_end(&l.b);
  return take_scalars(ctx, l.kernel->regions[0].first) && ir_verify(ctx, l.kernel) ? l.kernel : NULL;
}

#define ROW(ENUM, ...) [CODEGEN_##ENUM - IR_CODE(IR_DIALECT_CODEGEN, 0)] = {__VA_ARGS__}
static const lower_row_t rows[] = {
    ROW(LOAD_FROM_BUFFER, .fn = lower_load, .flags = LOWER_STANDS_FOR),
    ROW(UKERNEL_GENERIC, .fn = lower_ukernel),
    ROW(EXTRACT_STRIDED_METADATA, .fn = lower_extract, .flags = LOWER_STANDS_FOR),
};
const lower_table_t lower_codegen_table = {IR_DIALECT_CODEGEN, rows, sizeof(rows) / sizeof(rows[0])};
