// What a program takes and gives, read from its function `main`.
#include <stdio.h>

#include "base/memory.h"
#include "base/text.h"
#include "compiler/donate.h"
#include "dialects/register.h"
#include "ir/ir.h"
#include "pjrt/pjrt.h"

void pjrt_signature_finish(pjrt_signature_t* signature) {
  for (uint32_t i = 0; signature->arguments && i < signature->argument_count; ++i) free(signature->arguments[i].dims);
  for (uint32_t i = 0; signature->results && i < signature->result_count; ++i) free(signature->results[i].dims);
  free(signature->arguments);
  free(signature->results);
  free(signature->name);
  free(signature->function);
  *signature = (pjrt_signature_t){0};
}

int64_t pjrt_value_bytes(const pjrt_value_t* value) {
  size_t count = 0;
  const pjrt_type_t* type = pjrt_type_find(value->type);
  if (!type || !pjrt_shape_count(value->dims, value->rank, &count)) return 0;
  return (int64_t)((count * type->bits + 7) / 8);
}

typedef struct reading_t {
  const char* code;
  size_t size;
  pjrt_signature_t* out;
  PJRT_Error* error;  // the first
} reading_t;

static void on_diagnostic(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text,
                          const char* rendered) {
  reading_t* r = user;
  (void)loc, (void)text;
  if (severity == IR_ERROR && !r->error) r->error = pjrt_error_text(PJRT_INVALID_ARGUMENT, rendered, strlen(rendered));
}

static bool fail(reading_t* r, PJRT_Error* error) {
  if (r->error) {
    pjrt_error_free(error);
  } else {
    r->error = error;
  }
  return false;
}

static bool is_token(const ir_type_t* type) {
  return type->kind == IR_TYPE_OPAQUE && strcmp(type->name, "stablehlo.token") == 0;
}

static bool read_value(reading_t* r, ir_context_t* ctx, const ir_type_t* type, pjrt_value_t* out) {
  if (is_token(type)) {
    *out = (pjrt_value_t){.type = PJRT_TYPE_TOKEN, .dims = calloc(1, sizeof(*out->dims))};
    return out->dims || fail(r, pjrt_no_memory());
  }
  if (!ir_type_is_tensor(type) || !ir_type_is_static(type)) {
    return fail(r, pjrt_error(PJRT_UNIMPLEMENTED,
                              "the program takes or gives a %s; tensors of sizes that are known can cross its boundary",
                              ir_type_str(ctx, type)));
  }
  if (type->rank > PJRT_MAX_RANK) return fail(r, pjrt_error(PJRT_UNIMPLEMENTED, "a tensor has too many dimensions"));
  out->type = pjrt_type_parse(ir_type_str(ctx, type->element));
  if (!out->type) {
    return fail(r,
                pjrt_error(PJRT_UNIMPLEMENTED, "tensors of %s cannot be in buffers", ir_type_str(ctx, type->element)));
  }
  out->rank = (uint32_t)type->rank;
  out->dims = calloc(out->rank + 1, sizeof(*out->dims));
  if (!out->dims) return fail(r, pjrt_no_memory());
  for (uint32_t i = 0; i < out->rank; ++i) out->dims[i] = type->dims[i];
  return true;
}

static bool is_donated(const ir_op_t* func, uint32_t index) {
  const ir_attr_t* all = ir_op_attr(func, "arg_attrs");
  if (!all || index >= all->count) return false;
  return ir_attr_dict_get(all->items[index], "tf.aliasing_output") ||
         ir_attr_dict_get(all->items[index], "jax.buffer_donor");
}

// The memory that result `index` is wanted in.
static bool read_memory(reading_t* r, const ir_op_t* func, uint32_t index, pjrt_value_t* out) {
  const ir_attr_t *all = ir_op_attr(func, "res_attrs"), *kind = NULL;
  if (all && index < all->count) kind = ir_attr_dict_get(all->items[index], "mhlo.memory_kind");
  if (!kind) return true;
  const char* text = kind->kind == IR_ATTR_STRING ? kind->text : "";
  if (pjrt_memory_kind_parse(text, &out->memory)) return true;
  return fail(r, pjrt_error(PJRT_UNIMPLEMENTED,
                            "result %u is wanted in memory '%.64s'; there are device, pinned_host and unpinned_host",
                            index, text));
}

static bool read_function(reading_t* r, ir_context_t* ctx, const ir_op_t* func) {
  const ir_attr_t* attr = ir_op_attr(func, "function_type");
  const ir_type_t* type = attr ? attr->type : NULL;
  if (!type || type->kind != IR_TYPE_FUNCTION) {
    return fail(r, pjrt_error(PJRT_INVALID_ARGUMENT, "the program's function main has no type"));
  }
  pjrt_signature_t* out = r->out;
  donation_t* donations = memory_array(type->input_count + 1, sizeof(*donations));
  out->arguments = calloc(type->input_count + 1, sizeof(*out->arguments));
  out->results = calloc(type->result_count + 1, sizeof(*out->results));
  if (!out->arguments || !out->results) return fail(r, pjrt_no_memory());
  out->argument_count = type->input_count;
  out->result_count = type->result_count;
  for (uint32_t i = 0; i < type->input_count; ++i) {
    if (!read_value(r, ctx, type->inputs[i], &out->arguments[i])) return false;
    out->arguments[i].donated = is_donated(func, i);
    out->arguments[i].storage = -1;
  }
  out->storage_count = donate_find(func, donations);
  for (uint32_t i = 0; i < out->storage_count; ++i) out->arguments[donations[i].argument].storage = i;
  for (uint32_t i = 0; i < type->result_count; ++i) {
    if (!read_value(r, ctx, type->results[i], &out->results[i])) return false;
    if (!read_memory(r, func, i, &out->results[i])) return false;
  }
  return true;
}

static void read_program(void* user) {
  reading_t* r = user;
  ir_context_t* ctx = ir_context_create();
  ir_context_set_diagnostics(ctx, on_diagnostic, r);
  dialects_register_all(ctx);
  ir_op_t* module = ir_parse_module(ctx, "program", r->code, r->size);
  if (!module) {
    fail(r, pjrt_error(PJRT_INVALID_ARGUMENT, "the program cannot be read"));
    return;
  }
  const ir_op_t* func = ir_symbol_lookup(module, "main");
  if (!func) {
    fail(r, pjrt_error(PJRT_INVALID_ARGUMENT, "the program has no function main"));
    return;
  }
  const char* name = ir_op_string(module, "sym_name", "module");
  r->out->name = strdup(name);
  if (!r->out->name || asprintf(&r->out->function, "%s.main", name) < 0) {
    r->out->function = NULL;
    fail(r, pjrt_no_memory());
    return;
  }
  pjrt_estimate(&module->regions[0], r->out);
  read_function(r, ctx, func);
}

PJRT_Error* pjrt_signature_read(const char* code, size_t size, pjrt_signature_t* out_signature) {
  *out_signature = (pjrt_signature_t){0};
  reading_t r = {.code = code, .size = size, .out = out_signature};
  memory_scope_t scope;
  if (memory_scope_run(&scope, read_program, &r)) {
    memory_scope_drop(&scope);
  } else {
    fail(&r, pjrt_no_memory());
  }
  if (r.error) pjrt_signature_finish(out_signature);
  return r.error;
}
