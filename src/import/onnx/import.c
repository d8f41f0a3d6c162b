// Reads a model into IR that mirrors it: one func.func with a torch.operator "onnx.X" per node, constants for its
// initializers, and regions for its subgraphs. Model-local functions are expanded in place. E.g. a Relu node:
//
//   func.func @graph(%arg0: !torch.vtensor<[1,4],f32>) -> !torch.vtensor<[1,4],f32>
//       attributes {torch.onnx_meta.opset_version = 17 : si64, ...} {
//     %none = torch.constant.none
//     %0 = torch.operator "onnx.Relu"(%arg0) : (!torch.vtensor<[1,4],f32>) -> !torch.vtensor<[1,4],f32>
//     return %0 : !torch.vtensor<[1,4],f32>
//   }
//
// The types of values come from lowering each op into a scratch function as it is read (lower.h), so that the shape
// rules of an op are written once.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/stream.h"
#include "import/onnx/importer.h"
#include "import/onnx/strings.h"

enum { MAX_FUNCTION_DEPTH = 32, MAX_OPS = 1 << 20 };

// Where nodes find their values: names of the graph and, in a function, the call's attributes.
typedef struct scope_t {
  onnx_names_t* values;  // name -> ir_value_t*
  ir_value_t* none;
  onnx_names_t *given, *defaults;  // in a function: name -> onnx_pb_attribute_t* of its call, and its own
  const struct scope_t* caller;
  const onnx_pb_graph_t* graph;  // whose value_info declares types, or NULL
  onnx_names_t* types;           // name -> onnx_pb_type_t*
  onnx_names_t* outputs;         // those of the model, whose sizes are compared with what is derived; or NULL
} scope_t;

static bool import_nodes(onnx_importer_t* im, scope_t* scope, const onnx_pb_nodes_t* nodes);
static bool import_subgraph(onnx_importer_t* im, const scope_t* outer, const onnx_pb_graph_t* graph,
                            ir_region_t* region);

// The place of something with a name in the model.
static const ir_loc_t* name_loc(onnx_importer_t* im, const char* name) { return ir_loc_name(im->ctx, name, im->file); }

static ir_name_t intern(onnx_importer_t* im, onnx_bytes_t bytes) {
  return ir_intern(im->ctx, bytes.data ? bytes.data : "", bytes.size);
}

//===----------------------------------------------------------------------------------------------------------------===
// Types
//===----------------------------------------------------------------------------------------------------------------===

static const ir_type_t* none_type(onnx_importer_t* im) { return ir_type_opaque(im->ctx, "torch.none", NULL); }

// Exporters write types without a kind where they know none.
static bool has_kind(const onnx_pb_type_t* t) {
  return t && (t->tensor_type || t->sequence_type || t->optional_type || t->map_type || t->sparse_tensor_type);
}

static void declare_types(onnx_importer_t* im, scope_t* scope, const onnx_pb_value_infos_t* infos) {
  for (size_t i = 0; i < infos->count; ++i) {
    if (has_kind(infos->data[i].type))
      onnx_names_set(scope->types, intern(im, infos->data[i].name), infos->data[i].type);
  }
}

static const ir_type_t* unknown_type(onnx_importer_t* im) { return ir_type_vtensor(im->ctx, NULL, -1, NULL); }

// What the file says about a value's type, or the unknown tensor, which results that are maps become.
static const ir_type_t* declared_type(onnx_importer_t* im, const scope_t* scope, onnx_bytes_t name) {
  const onnx_pb_type_t* type = scope->types ? onnx_names_get(scope->types, intern(im, name)) : NULL;
  bool maps = type && type->sequence_type && type->sequence_type->elem_type && type->sequence_type->elem_type->map_type;
  return type && !maps ? onnx_import_type(im, type, intern(im, name)) : unknown_type(im);
}

static bool is_output(onnx_importer_t* im, const scope_t* scope, onnx_bytes_t name) {
  return scope->outputs && onnx_names_has(scope->outputs, intern(im, name));
}

//===----------------------------------------------------------------------------------------------------------------===
// Ops
//===----------------------------------------------------------------------------------------------------------------===

static ir_op_t* build_op(onnx_importer_t* im, ir_op_state_t state) {
  state.info = ir_context_find_op(im->ctx, state.name);
  state.loc = im->loc;
  return ir_build(&im->builder, &state);
}

// %0 = torch.operator "onnx.Constant"() {torch.onnx.value = ...}
static ir_value_t* build_constant(onnx_importer_t* im, const ir_attr_t* value) {
  int64_t dims[ONNX_MAX_RANK];
  int32_t rank;
  bool strings = onnx_is_string_attr(value, &rank, dims);
  const ir_type_t* type = strings
                              ? ir_type_vtensor(im->ctx, onnx_str(im->ctx), rank, dims)
                              : ir_type_vtensor(im->ctx, value->type->element, value->type->rank, value->type->dims);
  const ir_named_attr_t attrs[] = {
      {ir_intern_cstr(im->ctx, "name"), ir_attr_cstring(im->ctx, "onnx.Constant")},
      {ir_intern_cstr(im->ctx, "torch.onnx.value"), value},
  };
  ir_op_t* op = build_op(
      im, (ir_op_state_t){
              .name = "torch.operator", .result_types = &type, .result_count = 1, .attrs = attrs, .attr_count = 2});
  if (im->lowering) onnx_infer_op(im->lowering, op);
  return ir_result(op, 0);
}

// A tensor, or else a sparse one.
static ir_value_t* import_initializer(onnx_importer_t* im, const onnx_pb_tensor_t* tensor,
                                      const onnx_pb_sparse_tensor_t* sparse, ir_name_t name) {
  im->loc = name_loc(im, name);
  const ir_attr_t* value = tensor ? onnx_tensor_attr(im, tensor, name) : onnx_sparse_attr(im, sparse, name);
  if (!value) return NULL;
  if (value->kind == IR_ATTR_ELEMENTS && onnx_is_external(im, value->type))
    return onnx_externalize(im, name, value->type, value);
  return build_constant(im, value);
}

static ir_value_t* build_none(onnx_importer_t* im) {
  const ir_type_t* type = none_type(im);
  im->loc = name_loc(im, "onnx_importer.none");
  ir_op_t* op = build_op(im, (ir_op_state_t){.name = "torch.constant.none", .result_types = &type, .result_count = 1});
  ir_value_t* none = ir_result(op, 0);
  none->name = ir_intern_cstr(im->ctx, "none");
  return none;
}

// The last of a name counts.
static onnx_names_t* attributes_by_name(onnx_importer_t* im, const onnx_pb_attributes_t* attributes) {
  onnx_names_t* names = onnx_names_create(ir_context_arena(im->ctx), NULL);
  for (size_t i = 0; i < attributes->count; ++i) {
    onnx_names_set(names, intern(im, attributes->data[i].name), &attributes->data[i]);
  }
  return names;
}

// The attribute that `a` stands for: in a function, references are replaced by the call's attribute or the default.
// NULL when the call leaves it out.
static const onnx_pb_attribute_t* resolve_attribute(onnx_importer_t* im, const scope_t* scope,
                                                    const onnx_pb_attribute_t* a, const scope_t** owner) {
  *owner = scope;
  while (a && a->ref_attr_name.size) {
    if (!scope || !scope->given) return NULL;
    ir_name_t wanted = intern(im, a->ref_attr_name);
    const onnx_pb_attribute_t* found = onnx_names_get(scope->given, wanted);
    *owner = scope->caller;
    if (!found && (found = onnx_names_get(scope->defaults, wanted))) {
      *owner = scope;
      if (found->ref_attr_name.size) return NULL;
    }
    a = found;
    scope = scope->caller;
  }
  return a;
}

typedef struct node_attrs_t {
  ir_named_attr_t* attrs;
  uint32_t count;
  struct {
    ir_name_t name;
    const onnx_pb_graph_t* graph;
    const scope_t* scope;
  }* graphs;
  uint32_t graph_count;
} node_attrs_t;

static int compare_names(const void* a, const void* b) { return strcmp(*(ir_name_t const*)a, *(ir_name_t const*)b); }

static onnx_bytes_t domain_of(onnx_bytes_t domain) {
  return onnx_bytes_equal(domain, "ai.onnx") ? (onnx_bytes_t){0} : domain;
}

// Operators of other domains whose names mean something else in ONNX's.
static const char* operator_name(onnx_importer_t* im, const onnx_pb_node_t* node) {
  bool unique = onnx_bytes_equal(node->op_type, "Unique") && onnx_bytes_equal(node->domain, "com.microsoft");
  return unique ? "UniqueInOrder" : intern(im, node->op_type);
}

static bool collect_attributes(onnx_importer_t* im, const scope_t* scope, const onnx_pb_node_t* node,
                               node_attrs_t* out) {
  arena_t* arena = ir_context_arena(im->ctx);
  size_t count = node->attributes.count;
  out->attrs = ARENA_ARRAY(arena, ir_named_attr_t, count + 2);
  out->graphs = arena_alloc(arena, sizeof(*out->graphs) * (count + 1));
  const char* op_name = arena_printf(arena, "onnx.%s", operator_name(im, node));
  out->attrs[out->count++] = (ir_named_attr_t){ir_intern_cstr(im->ctx, "name"), ir_attr_cstring(im->ctx, op_name)};
  onnx_bytes_t domain = domain_of(node->domain);
  if (domain.size && !onnx_find_row(operator_name(im, node))) {
    out->attrs[out->count++] =
        (ir_named_attr_t){ir_intern_cstr(im->ctx, ONNX_DOMAIN_ATTR), ir_attr_cstring(im->ctx, intern(im, domain))};
  }
  for (size_t i = 0; i < count; ++i) {
    const onnx_pb_attribute_t* own = &node->attributes.data[i];
    const scope_t* owner;
    const onnx_pb_attribute_t* a = resolve_attribute(im, scope, own, &owner);
    const ir_attr_t* value;
    if (!a) continue;
    if (!onnx_import_attr(im, a, &value)) return false;
    if (value) {
      const char* name = arena_printf(arena, "torch.onnx.%s", intern(im, own->name));
      out->attrs[out->count++] = (ir_named_attr_t){ir_intern_cstr(im->ctx, name), value};
    } else {
      out->graphs[out->graph_count].name = intern(im, own->name);
      out->graphs[out->graph_count].scope = owner ? owner : scope;
      out->graphs[out->graph_count++].graph = a->g;
    }
  }
  qsort(out->attrs, out->count, sizeof(*out->attrs), compare_names);
  qsort(out->graphs, out->graph_count, sizeof(*out->graphs), compare_names);
  for (uint32_t i = 1; i < out->count; ++i) {
    if (out->attrs[i].name == out->attrs[i - 1].name)
      return ir_error(im->ctx, im->loc, "attribute '%s' is given twice", out->attrs[i].name);
  }
  return true;
}

static ir_value_t* find_value(onnx_importer_t* im, const scope_t* scope, onnx_bytes_t name) {
  if (name.size == 0) return scope->none;
  ir_value_t* value = onnx_names_get(scope->values, intern(im, name));
  if (!value) {
    ir_error(im->ctx, im->loc, "input '%s' is not defined, or not before its use", intern(im, name));
  }
  return value;
}

static bool define_value(onnx_importer_t* im, scope_t* scope, onnx_bytes_t bytes, ir_value_t* value) {
  ir_name_t name = intern(im, bytes);
  if (!*name) return true;
  if (onnx_names_has(scope->values, name)) return ir_error(im->ctx, im->loc, "'%s' is defined twice", name);
  onnx_names_set(scope->values, name, value);
  return true;
}

// Graph attributes are regions in order of their names. Where an operator may leave some out, this says which they are.
static void name_graphs(onnx_importer_t* im, ir_op_t* op, const node_attrs_t* attrs) {
  static const char* const fixed[] = {"onnx.If", "onnx.Loop", "onnx.Scan", "onnx.SequenceMap"};
  bool known = attrs->graph_count == 0;
  for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); ++i)
    known |= strcmp(ir_op_string(op, "name", ""), fixed[i]) == 0;
  if (known) return;
  const ir_attr_t** names = ARENA_ARRAY(ir_context_arena(im->ctx), const ir_attr_t*, attrs->graph_count);
  for (uint32_t i = 0; i < attrs->graph_count; ++i) names[i] = ir_attr_cstring(im->ctx, attrs->graphs[i].name);
  ir_op_set_attr(im->ctx, op, "torch.onnx.graphs", ir_attr_array(im->ctx, names, attrs->graph_count));
}

static bool import_operator(onnx_importer_t* im, scope_t* scope, const onnx_pb_node_t* node) {
  arena_t* arena = ir_context_arena(im->ctx);
  node_attrs_t attrs = {0};
  if (!collect_attributes(im, scope, node, &attrs)) return false;
  size_t inputs = node->inputs.count, outputs = node->outputs.count;
  ir_value_t** operands = ARENA_ARRAY(arena, ir_value_t*, inputs + 1);
  const ir_type_t** types = ARENA_ARRAY(arena, const ir_type_t*, outputs + 1);
  for (size_t i = 0; i < inputs; ++i) {
    if (!(operands[i] = find_value(im, scope, node->inputs.data[i]))) return false;
  }
  for (size_t i = 0; i < outputs; ++i) {
    if (!(types[i] = declared_type(im, scope, node->outputs.data[i]))) return false;
  }
  const ir_type_t** declared = arena_copy(arena, types, sizeof(*types) * (outputs + 1));
  for (size_t i = 0; i < outputs; ++i) {
    if (is_output(im, scope, node->outputs.data[i])) types[i] = onnx_open_sizes(im->ctx, types[i]);
  }
  ir_op_t* op = build_op(im, (ir_op_state_t){.name = "torch.operator",
                                             .operands = operands,
                                             .operand_count = (uint32_t)inputs,
                                             .result_types = types,
                                             .result_count = (uint32_t)outputs,
                                             .attrs = attrs.attrs,
                                             .attr_count = attrs.count,
                                             .region_count = attrs.graph_count});
  const ir_loc_t* loc = im->loc;
  name_graphs(im, op, &attrs);
  for (uint32_t i = 0; i < attrs.graph_count; ++i) {
    scope_t inner = *attrs.graphs[i].scope;
    if (inner.values == scope->values) inner = *scope;
    if (!import_subgraph(im, &inner, attrs.graphs[i].graph, &op->regions[i])) return false;
  }
  im->loc = loc;
  if (!onnx_finish_op(im, op)) return false;
  for (uint32_t i = 0; i < outputs && im->lowering && im->lowering->unsupported; ++i) {
    if (!is_output(im, scope, node->outputs.data[i]) || declared[i]->rank < 0) continue;
    op->results[i].type = declared[i];  // nothing to compare it with
    onnx_infer_argument(im->lowering, ir_result(op, i));
  }
  for (size_t i = 0; i < outputs; ++i) {
    if (!define_value(im, scope, node->outputs.data[i], ir_result(op, (uint32_t)i))) return false;
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Functions
//===----------------------------------------------------------------------------------------------------------------===

// Version of the default domain's ops.
static int64_t opset_version(const onnx_pb_opsets_t* imports, int64_t absent) {
  for (size_t i = 0; i < imports->count; ++i) {
    if (domain_of(imports->data[i].domain).size == 0) return imports->data[i].version;
  }
  return absent;
}

static bool same_bytes(onnx_bytes_t a, onnx_bytes_t b) {
  return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static const onnx_pb_function_t* find_function(const onnx_pb_model_t* model, const onnx_pb_node_t* node) {
  for (size_t i = 0; i < model->functions.count; ++i) {
    const onnx_pb_function_t* f = &model->functions.data[i];
    if (same_bytes(f->name, node->op_type) && same_bytes(domain_of(f->domain), domain_of(node->domain)) &&
        same_bytes(f->overload, node->overload)) {
      return f;
    }
  }
  return NULL;
}

static bool expand_function(onnx_importer_t* im, scope_t* scope, const onnx_pb_node_t* node,
                            const onnx_pb_function_t* f) {
  arena_t* arena = ir_context_arena(im->ctx);
  const char* name = intern(im, f->name);
  if (im->function_depth >= MAX_FUNCTION_DEPTH) {
    return ir_error(im->ctx, im->loc, "function '%s' is nested too deep or calls itself", name);
  }
  if (node->inputs.count > f->inputs.count || node->outputs.count > f->outputs.count) {
    return ir_error(im->ctx, im->loc, "call of function '%s' with %zu inputs and %zu outputs; it has %zu and %zu", name,
                    node->inputs.count, node->outputs.count, f->inputs.count, f->outputs.count);
  }
  scope_t inner = {.values = onnx_names_create(arena, NULL),
                   .none = scope->none,
                   .given = attributes_by_name(im, &node->attributes),
                   .defaults = attributes_by_name(im, &f->attribute_defaults),
                   .caller = scope};
  for (size_t i = 0; i < f->inputs.count; ++i) {
    ir_value_t* value = i < node->inputs.count ? find_value(im, scope, node->inputs.data[i]) : scope->none;
    if (!value) return false;
    onnx_names_set(inner.values, intern(im, f->inputs.data[i]), value);
  }
  int64_t opset = im->from_opset;
  im->from_opset = opset_version(&f->opset_imports, im->from_opset);
  ++im->function_depth;
  bool done = import_nodes(im, &inner, &f->nodes);
  --im->function_depth;
  im->from_opset = opset;
  for (size_t i = 0; done && i < node->outputs.count; ++i) {
    ir_value_t* value = find_value(im, &inner, f->outputs.data[i]);
    if (!value) return false;
    if (!define_value(im, scope, node->outputs.data[i], value)) return false;
  }
  return done;
}

// Operators are told apart by name only from here on, so those of an unknown domain must not look like known ones.
static bool check_domain(onnx_importer_t* im, const onnx_pb_node_t* node) {
  static const char* const known[] = {
      "", "com.microsoft", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.training", "ai.onnx.preview.training"};
  onnx_bytes_t domain = domain_of(node->domain);
  bool imported = domain.size == 0, familiar = false;
  for (size_t i = 0; i < im->model->opset_imports.count; ++i) {
    imported |= same_bytes(im->model->opset_imports.data[i].domain, domain);
  }
  for (size_t i = 0; i < sizeof(known) / sizeof(*known); ++i) familiar |= onnx_bytes_equal(domain, known[i]);
  const char *name = intern(im, node->op_type), *from = intern(im, domain);
  if (!imported)
    return ir_error(im->ctx, im->loc, "operator '%s' is of domain '%s', which the model does not import", name, from);
  const char* refusal = onnx_refused_domain(from);
  if (refusal) return ir_error(im->ctx, im->loc, "operator '%s' of domain '%s' is refused: %s", name, from, refusal);
  if (familiar || !onnx_find_row(name)) return true;
  return ir_error(im->ctx, im->loc, "operator '%s' of domain '%s' is not supported", name, from);
}

static bool import_node(onnx_importer_t* im, scope_t* scope, const onnx_pb_node_t* node) {
  im->loc = name_loc(im, node->name.size ? intern(im, node->name) : intern(im, node->op_type));
  if (++im->op_count > MAX_OPS) return ir_error(im->ctx, im->loc, "the model expands to more than %d nodes", MAX_OPS);
  const onnx_pb_function_t* function = find_function(im->model, node);
  if (function) return expand_function(im, scope, node, function);
  if (!im->function_depth && !check_domain(im, node)) return false;
  if (onnx_bytes_equal(node->op_type, "Constant") && node->outputs.count == 1) {
    for (size_t i = 0; i < node->attributes.count; ++i) {
      const onnx_pb_attribute_t* a = &node->attributes.data[i];
      bool dense = onnx_bytes_equal(a->name, "value") && a->t;
      bool sparse = onnx_bytes_equal(a->name, "sparse_value") && a->sparse_tensor;
      if ((!dense && !sparse) || a->ref_attr_name.size) continue;
      ir_name_t name = intern(im, node->outputs.data[0]);
      ir_value_t* value = import_initializer(im, dense ? a->t : NULL, a->sparse_tensor, name);
      return value && define_value(im, scope, node->outputs.data[0], value);
    }
  }
  return import_operator(im, scope, node);
}

static bool import_nodes(onnx_importer_t* im, scope_t* scope, const onnx_pb_nodes_t* nodes) {
  const size_t* order = onnx_node_order(im, nodes);
  for (size_t i = 0; i < nodes->count; ++i) {
    if (!import_node(im, scope, &nodes->data[order ? order[i] : i])) return false;
    if (im->options->progress && !im->function_depth && scope->graph == im->model->graph) {
      im->options->progress(im->options->progress_user, (uint32_t)i + 1, (uint32_t)nodes->count);
    }
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Graphs
//===----------------------------------------------------------------------------------------------------------------===

static scope_t graph_scope(onnx_importer_t* im, const scope_t* outer, const onnx_pb_graph_t* graph) {
  arena_t* arena = ir_context_arena(im->ctx);
  scope_t scope = outer ? *outer : (scope_t){0};
  scope.values = onnx_names_create(arena, outer ? outer->values : NULL);
  scope.types = onnx_names_create(arena, NULL);
  scope.graph = graph;
  scope.outputs = !outer && im->lowering ? onnx_names_create(arena, NULL) : NULL;
  declare_types(im, &scope, &graph->value_infos);
  declare_types(im, &scope, &graph->outputs);
  for (size_t i = 0; scope.outputs && i < graph->outputs.count; ++i) {
    onnx_names_set(scope.outputs, intern(im, graph->outputs.data[i].name), scope.outputs);
  }
  return scope;
}

// Initializers, nodes, and the terminator of that name.
static bool import_body(onnx_importer_t* im, scope_t* scope, const onnx_pb_graph_t* graph, const char* terminator) {
  for (size_t i = 0; i < graph->initializers.count; ++i) {
    const onnx_pb_tensor_t* tensor = &graph->initializers.data[i];
    ir_value_t* value = import_initializer(im, tensor, NULL, intern(im, tensor->name));
    if (!value || !define_value(im, scope, tensor->name, value)) return false;
  }
  for (size_t i = 0; i < graph->sparse_initializers.count; ++i) {
    const onnx_pb_sparse_tensor_t* sparse = &graph->sparse_initializers.data[i];
    onnx_bytes_t name = sparse->values ? sparse->values->name : (onnx_bytes_t){0};
    ir_value_t* value = import_initializer(im, NULL, sparse, intern(im, name));
    if (!value || !define_value(im, scope, name, value)) return false;
  }
  scope->none = build_none(im);
  if (im->lowering) onnx_infer_op(im->lowering, scope->none->def);
  if (!import_nodes(im, scope, &graph->nodes)) return false;
  ir_value_t** results = ARENA_ARRAY(ir_context_arena(im->ctx), ir_value_t*, graph->outputs.count + 1);
  im->loc = name_loc(im, intern(im, graph->name));
  for (size_t i = 0; i < graph->outputs.count; ++i) {
    if (!(results[i] = find_value(im, scope, graph->outputs.data[i].name))) return false;
  }
  build_op(im,
           (ir_op_state_t){.name = terminator, .operands = results, .operand_count = (uint32_t)graph->outputs.count});
  return true;
}

static bool import_subgraph(onnx_importer_t* im, const scope_t* outer, const onnx_pb_graph_t* graph,
                            ir_region_t* region) {
  scope_t scope = graph_scope(im, outer, graph);
  ir_builder_t saved = im->builder;
  ir_block_t* block = ir_block_create(im->ctx);
  ir_region_append(region, block);
  im->builder = ir_builder_at_end(im->ctx, block);
  im->builder.loc = saved.loc;
  for (size_t i = 0; i < graph->inputs.count; ++i) {
    ir_name_t name = intern(im, graph->inputs.data[i].name);
    const onnx_pb_type_t* declared = graph->inputs.data[i].type;
    const ir_type_t* type = has_kind(declared) ? onnx_import_type(im, declared, name) : unknown_type(im);
    if (!type) return false;
    ir_value_t* arg = ir_block_add_arg(im->ctx, block, type);
    if (im->lowering) onnx_infer_argument(im->lowering, arg);
    onnx_names_set(scope.values, name, arg);
  }
  if (im->lowering) ++im->lowering->tentative;
  bool done = import_body(im, &scope, graph, "torch.operator_terminator");
  if (im->lowering) --im->lowering->tentative;
  im->builder = saved;
  return done;
}

static void set_meta(onnx_importer_t* im, ir_op_t* func, int64_t opset) {
  ir_context_t* ctx = im->ctx;
  const onnx_pb_model_t* model = im->model;
  const ir_type_t* si64 = ir_type_integer(ctx, 64, IR_SIGNED);
  ir_named_attr_t* others = ARENA_ARRAY(ir_context_arena(ctx), ir_named_attr_t, model->opset_imports.count + 1);
  uint32_t count = 0;
  for (size_t i = 0; i < model->opset_imports.count; ++i) {
    const onnx_pb_opset_t* import = &model->opset_imports.data[i];
    if (domain_of(import->domain).size == 0) continue;
    others[count++] = (ir_named_attr_t){intern(im, import->domain), ir_attr_integer(ctx, si64, import->version)};
  }
  ir_op_set_attr(ctx, func, "torch.onnx_meta.ir_version", ir_attr_integer(ctx, si64, model->ir_version));
  if (opset) ir_op_set_attr(ctx, func, "torch.onnx_meta.opset_version", ir_attr_integer(ctx, si64, opset));
  if (count) ir_op_set_attr(ctx, func, "torch.onnx_meta.opset_versions", ir_attr_dict(ctx, others, count));
  ir_op_set_attr(ctx, func, "torch.onnx_meta.producer_name", ir_attr_cstring(ctx, intern(im, model->producer_name)));
  ir_op_set_attr(ctx, func, "torch.onnx_meta.producer_version",
                 ir_attr_cstring(ctx, intern(im, model->producer_version)));
}

// What the model calls the sizes of each input, if it does.
static void set_dim_params(onnx_importer_t* im, ir_op_t* func, const onnx_pb_value_info_t* const* inputs,
                           uint32_t count) {
  arena_t* arena = ir_context_arena(im->ctx);
  const ir_attr_t** lists = ARENA_ARRAY(arena, const ir_attr_t*, count + 1);
  bool any = false;
  for (uint32_t i = 0; i < count; ++i) {
    const onnx_pb_type_t* type = inputs[i]->type;
    const onnx_pb_shape_t* shape = type && type->tensor_type ? type->tensor_type->shape : NULL;
    size_t rank = shape ? shape->dims.count : 0;
    const ir_attr_t** names = ARENA_ARRAY(arena, const ir_attr_t*, rank + 1);
    for (size_t d = 0; d < rank; ++d) {
      any |= shape->dims.data[d].param.size > 0;
      names[d] = ir_attr_cstring(im->ctx, intern(im, shape->dims.data[d].param));
    }
    lists[i] = ir_attr_array(im->ctx, names, (uint32_t)rank);
  }
  if (any) ir_op_set_attr(im->ctx, func, ONNX_DIM_PARAMS, ir_attr_array(im->ctx, lists, count));
}

// Inputs that callers give: those without an initializer, which older models list as inputs, too.
static uint32_t real_inputs(onnx_importer_t* im, const onnx_pb_graph_t* graph, const onnx_pb_value_info_t** out) {
  onnx_names_t* initialized = onnx_names_create(ir_context_arena(im->ctx), NULL);
  for (size_t i = 0; i < graph->initializers.count; ++i) {
    onnx_names_set(initialized, intern(im, graph->initializers.data[i].name), initialized);
  }
  for (size_t i = 0; i < graph->sparse_initializers.count; ++i) {
    const onnx_pb_tensor_t* values = graph->sparse_initializers.data[i].values;
    if (values) onnx_names_set(initialized, intern(im, values->name), initialized);
  }
  uint32_t count = 0;
  for (size_t i = 0; i < graph->inputs.count; ++i) {
    if (!onnx_names_get(initialized, intern(im, graph->inputs.data[i].name))) out[count++] = &graph->inputs.data[i];
  }
  return count;
}

static bool externalize_inputs(onnx_importer_t* im, scope_t* scope, const onnx_pb_value_info_t* const* inputs,
                               uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    ir_name_t name = intern(im, inputs[i]->name);
    im->loc = name_loc(im, name);
    const ir_type_t* type = onnx_import_type(im, inputs[i]->type, name);
    if (!type) return false;
    if (type->kind != IR_TYPE_VTENSOR || type->rank < 0 || onnx_is_str(type->element)) {
      return ir_error(im->ctx, im->loc, "input '%s' cannot be a parameter: it has no ranked tensor type of numbers",
                      name);
    }
    ir_value_t* value =
        onnx_externalize(im, name, ir_type_tensor(im->ctx, type->element, type->rank, type->dims), NULL);
    onnx_names_set(scope->values, name, value);
  }
  return true;
}

// The function's results have the types that were found for the returned values.
static void set_function_type(onnx_importer_t* im, ir_op_t* func, const ir_type_t* const* inputs, uint32_t count) {
  ir_op_t* terminator = func->regions[0].first->last;
  const ir_type_t** results = ARENA_ARRAY(ir_context_arena(im->ctx), const ir_type_t*, terminator->operand_count + 1);
  for (uint32_t i = 0; i < terminator->operand_count; ++i) results[i] = ir_operand(terminator, i)->type;
  const ir_type_t* type = ir_type_function(im->ctx, inputs, count, results, terminator->operand_count);
  ir_op_set_attr(im->ctx, func, "function_type", ir_attr_type(im->ctx, type));
}

// Where types are derived, warns of outputs that are declared with others; else their names go along, so that the
// lowering can.
static bool check_outputs(onnx_importer_t* im, ir_op_t* func, const scope_t* scope) {
  const onnx_pb_value_infos_t* outputs = &scope->graph->outputs;
  arena_t* arena = ir_context_arena(im->ctx);
  const ir_attr_t** names = ARENA_ARRAY(arena, const ir_attr_t*, outputs->count + 1);
  for (size_t i = 0; i < outputs->count; ++i) {
    ir_name_t name = intern(im, outputs->data[i].name);
    names[i] = ir_attr_cstring(im->ctx, name);
    const ir_type_t* declared = im->lowering ? declared_type(im, scope, outputs->data[i].name) : NULL;
    if (im->lowering && !declared) return false;
    if (!declared) continue;
    const ir_type_t* computed = ir_operand(func->regions[0].first->last, (uint32_t)i)->type;
    onnx_compare_sizes(im->ctx, im->loc, arena_printf(arena, "'%s'", name), declared, computed);
  }
  if (im->lowering) return true;
  ir_op_set_attr(im->ctx, func, ONNX_OUTPUT_NAMES, ir_attr_array(im->ctx, names, (uint32_t)outputs->count));
  return true;
}

static bool import_main(onnx_importer_t* im, const onnx_pb_graph_t* graph) {
  ir_context_t* ctx = im->ctx;
  arena_t* arena = ir_context_arena(ctx);
  const onnx_pb_value_info_t** inputs = ARENA_ARRAY(arena, const onnx_pb_value_info_t*, graph->inputs.count + 1);
  const ir_type_t** types = ARENA_ARRAY(arena, const ir_type_t*, graph->inputs.count + 1);
  uint32_t count = real_inputs(im, graph, inputs), all = count;
  if (im->options->externalize && im->options->externalize_inputs >= 0) {
    if (im->options->externalize_inputs >= count) {
      return ir_error(ctx, im->loc, "the model has %u inputs; none is at or after index %lld", count,
                      (long long)im->options->externalize_inputs);
    }
    count = (uint32_t)im->options->externalize_inputs;
  }
  for (uint32_t i = 0; i < count; ++i) {
    im->loc = name_loc(im, intern(im, inputs[i]->name));
    if (!(types[i] = onnx_import_type(im, inputs[i]->type, im->loc->name))) return false;
  }
  im->loc = name_loc(im, arena_printf(arena, "graph:%s", intern(im, graph->name)));
  const ir_type_t* type = ir_type_function(ctx, types, count, NULL, 0);
  ir_op_t* func = ir_func_create(ctx, ir_module_body(im->module), im->loc, intern(im, graph->name), type);
  set_meta(im, func, im->to_opset);
  set_dim_params(im, func, inputs, count);
  ir_block_t* entry = func->regions[0].first;
  im->builder = ir_builder_at_end(ctx, entry);
  scope_t scope = graph_scope(im, NULL, graph);
  for (uint32_t i = 0; i < count; ++i) {
    if (im->lowering) onnx_infer_argument(im->lowering, entry->args[i]);
    if (!define_value(im, &scope, inputs[i]->name, entry->args[i])) return false;
  }
  if (!externalize_inputs(im, &scope, inputs + count, all - count)) return false;
  if (!import_body(im, &scope, graph, "func.return") || !check_outputs(im, func, &scope)) return false;
  set_function_type(im, func, types, count);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Entry points
//===----------------------------------------------------------------------------------------------------------------===

static char* directory_of(arena_t* arena, const char* path) {
  const char* slash = strrchr(path, '/');
  return slash ? arena_strndup(arena, path, slash == path ? 1 : (size_t)(slash - path)) : arena_strndup(arena, ".", 1);
}

static bool check_model(onnx_importer_t* im) {
  const onnx_pb_model_t* model = im->model;
  int64_t declared = opset_version(&model->opset_imports, 0);
  if (!model->graph) return ir_error(im->ctx, im->loc, "not an ONNX model: it has no graph");
  if (model->ir_version >= 3 && !model->opset_imports.count) {
    return ir_error(im->ctx, im->loc, "the model names no operator set: it may have been cut short");
  }
  if (declared < 0 || declared > ONNX_NEWEST_OPSET) {
    return ir_error(im->ctx, im->loc, "the model uses opset %lld; versions 1 to %d are supported", (long long)declared,
                    ONNX_NEWEST_OPSET);
  }
  if (im->options->opset_version < 0 || im->options->opset_version > ONNX_NEWEST_OPSET) {
    return ir_error(im->ctx, im->loc, "cannot convert to opset %lld; versions 1 to %d are supported",
                    (long long)im->options->opset_version, ONNX_NEWEST_OPSET);
  }
  return true;
}

ir_op_t* onnx_import_buffer(ir_context_t* ctx, const onnx_source_t* source, const onnx_options_t* options,
                            onnx_files_t* files) {
  arena_t* arena = ir_context_arena(ctx);
  onnx_importer_t im = {.ctx = ctx, .options = options, .files = files, .path = source->path};
  im.file = im.loc = ir_loc_file(ctx, source->path, 0, 0);
  im.directory = options->data_dir ? options->data_dir : directory_of(arena, source->path);
  const char* error = NULL;
  size_t offset = 0;
  im.model = onnx_proto_read(arena, source->data, source->size, &error, &offset);
  if (!im.model) {
    ir_error(ctx, im.loc, "not a well-formed ONNX model: %s at byte %zu of %zu", error, offset, source->size);
    return NULL;
  }
  if (!check_model(&im)) return NULL;
  im.resources = onnx_names_create(arena, NULL);
  im.globals = onnx_names_create(arena, NULL);
  im.module = ir_module_create(ctx, im.loc);
  im.from_opset = opset_version(&im.model->opset_imports, 0);
  im.to_opset = options->opset_version > im.from_opset ? options->opset_version : im.from_opset;
  if (options->infer_types) im.lowering = onnx_infer_begin(ctx, im.to_opset);
  if (im.lowering) im.lowering->no_propagation = options->no_data_propagation;
  bool done = import_main(&im, im.model->graph);
  return done ? im.module : NULL;
}

// Standard input, pipes and devices are read to their end; files are mapped.
static bool open_model(const char* path, onnx_files_t* files, onnx_source_t* out, const char** error) {
  struct stat info;
  bool is_stdin = strcmp(path, "-") == 0;
  bool stream = is_stdin || (stat(path, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode)));
  if (!stream) return onnx_files_map(files, path, &out->data, &out->size, error);
  int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  out->data = fd >= 0 ? stream_read(fd, &out->size) : NULL;
  if (!out->data) *error = strerror(errno);
  if (fd >= 0 && !is_stdin) close(fd);
  return out->data != NULL;
}

ir_op_t* onnx_import_file(ir_context_t* ctx, const char* path, const onnx_options_t* options, onnx_files_t* files) {
  onnx_source_t source = {.path = strcmp(path, "-") ? path : "<stdin>"};
  const char* error = NULL;
  if (!open_model(path, files, &source, &error)) {
    ir_error(ctx, ir_loc_unknown(ctx), "cannot open input file '%s': %s", source.path, error);
    return NULL;
  }
  return onnx_import_buffer(ctx, &source, options, files);
}
