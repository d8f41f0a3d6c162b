// Devices that a program names, by number or by a global of its own, and views of tensors inside of a program (those at
// its edge: import/views.c). All that is asked of devices is asked of the module `hal` when the program runs:
//
//   util.global private @second = #hal.device.ordinal<1> : !hal.device        %n = graph.constant 1 : i32
//   %d = util.global.load @second : !hal.device                         =>    %d = graph.call_import
//   @hal.devices.get(%n)
#include <stdlib.h>
#include <string.h>

#include "dialects/hal.h"
#include "dialects/util.h"
#include "import/linalg/ops.h"
#include "import/lowering_control.h"

static bool is_device(const ir_type_t* type) {
  return type->kind == IR_TYPE_OPAQUE && strcmp(type->name, "hal.device") == 0;
}

static ir_value_t* call_hal(lower_op_t* n, const char* name, ir_value_t* operand, const ir_type_t* type) {
  ir_named_attr_t attr = {"callee", ir_attr_symbol(n->ctx, name)};
  return graph_build(n->b, GRAPH_CALL_IMPORT, &operand, operand != NULL, type, &attr, 1);
}

bool devices_lower_count(lower_op_t* n) {
  ir_value_t* count = call_hal(n, "hal.devices.count", NULL, ir_type_int(n->ctx, 32));
  return lower_return(n, lower_index(n->b, count));
}

static ir_value_t* get_device(lower_op_t* n, ir_value_t* ordinal, uint32_t result) {
  ir_value_t* number = graph_cast(n->b, ordinal, ir_type_int(n->ctx, 32), false);
  return call_hal(n, "hal.devices.get", number, lower_out_type(n, result));
}

bool devices_lower_get(lower_op_t* n) {
  if (!is_device(lower_out_type(n, 0))) return lower_error(n, "gives a !hal.device");
  return lower_return(n, get_device(n, n->in[0], 0));
}

// Its number among the devices of the program that runs: `ordinal = 1`, `ordinal<1>`, `"local"[1]`; else the first.
static int64_t device_ordinal(const ir_attr_t* value) {
  const char* body = value->kind == IR_ATTR_OPAQUE && value->body ? value->body : "";
  const char* at = strstr(body, "ordinal");
  if (at) return strtoll(at + strcspn(at, "0123456789"), NULL, 10);
  if (strcmp(value->text, "hal.device.ordinal") == 0) return strtoll(body, NULL, 10);
  bool alias = strcmp(value->text, "hal.device.alias") == 0;
  at = alias ? strchr(body, '[') : NULL;
  return at ? strtoll(at + 1, NULL, 10) : 0;
}

bool lower_is_device_global(const ir_op_t* op) {
  const ir_attr_t *type = ir_op_attr(op, "type"), *value = ir_op_attr(op, "initial_value");
  bool named = value && value->kind == IR_ATTR_OPAQUE && strncmp(value->text, "hal.device.", 11) == 0;
  return ir_is(op, UTIL_GLOBAL) && type && type->kind == IR_ATTR_TYPE && is_device(type->type) && named;
}

static bool return_named(lower_op_t* n, const char* name, uint32_t result) {
  const ir_op_t* global = ir_symbol_find(n->ctx, n->l->module, name);
  if (!global || !lower_is_device_global(global)) return lower_error(n, "names @%s, which is no device", name);
  int64_t ordinal = device_ordinal(ir_op_attr(global, "initial_value"));
  n->out[result].v = get_device(n, graph_index_constant(n->b, ordinal), result);
  return true;
}

bool lower_device_load(lower_op_t* n) { return return_named(n, ir_op_string(n->op, "global", ""), 0); }

// #hal.device.affinity<@device>, or the first device.
bool devices_lower_resolve(lower_op_t* n) {
  const ir_attr_t* affinity = ir_op_attr(n->op, "affinity");
  const char* at = affinity && affinity->kind == IR_ATTR_OPAQUE && affinity->body ? strchr(affinity->body, '@') : NULL;
  const char* name = at ? arena_printf(ir_context_arena(n->ctx), "%.*s", (int)strcspn(at + 1, ",>[ "), at + 1) : NULL;
  if (affinity && !name) return lower_unsupported(n, "#hal.device.affinity<@device> names a device");
  for (uint32_t i = 0; i < n->op->result_count; ++i) {
    if (!is_device(lower_out_type(n, i))) return lower_unsupported(n, "a !hal.device is what can be asked for");
    if (name && !return_named(n, name, i)) return false;
    if (!name) n->out[i].v = get_device(n, graph_index_constant(n->b, 0), i);
  }
  return true;
}

// What sees the view sees the tensor.
bool devices_lower_view(lower_op_t* n) { return lower_return(n, n->in[0]); }
