// Calls of private functions with one block are replaced by the function's body; functions without callers vanish.
// Recursion is refused: the host program has no stack for tensors.
#include <string.h>

#include "base/memory.h"
#include "dialects/graph.h"
#include "ir/context.h"
#include "passes/passes.h"

enum { MAX_OPS = 1 << 20 };  // that calls are replaced by: a function that calls another twice is a doubling

typedef struct inliner_t {
  ir_context_t* ctx;
  ir_op_t* module;
  uint64_t ops;  // so far
} inliner_t;

static bool is_call(const ir_op_t* op) { return ir_is(op, GRAPH_CALL) || strcmp(op->name, "func.call") == 0; }
static bool is_private(const ir_op_t* func) {
  return strcmp(ir_op_string(func, "sym_visibility", "public"), "private") == 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// Recursion: a search through the functions that are called, with a list of those whose calls are being looked at
//===----------------------------------------------------------------------------------------------------------------===

typedef struct func_t {
  ir_op_t* op;
  bool is_open, is_done;
  uint32_t first_call, next_call;  // in calls_t.items
  struct func_t* caller;
} func_t;

typedef struct calls_t {
  ir_set_t funcs;
  ir_op_t** items;  // calls of the functions at work
  uint32_t count, capacity;
} calls_t;

static uint64_t func_hash(const void* func) { return ir_hash_mix(0, (uintptr_t)((const func_t*)func)->op); }
static bool func_equal(const void* func, const void* op) { return ((const func_t*)func)->op == op; }

static func_t* func_get(inliner_t* n, calls_t* c, ir_op_t* op) {
  func_t key = {.op = op}, *func = ir_set_find(&c->funcs, func_hash(&key), op, func_equal);
  if (func) return func;
  func = ARENA_NEW(ir_context_arena(n->ctx), func_t);
  func->op = op;
  ir_set_insert(&c->funcs, func_hash(func), func, func_hash);
  return func;
}

static void collect_calls(calls_t* c, ir_op_t* parent) {
  for (uint32_t r = 0; r < parent->region_count; ++r) {
    IR_FOR_BLOCKS(block, &parent->regions[r]) {
      IR_FOR_OPS(op, block) {
        collect_calls(c, op);
        if (!is_call(op)) continue;
        if (c->count == c->capacity) {
          c->capacity = c->capacity ? c->capacity * 2 : 64;
          c->items = memory_resize(c->items, sizeof(*c->items) * c->capacity);
        }
        c->items[c->count++] = op;
      }
    }
  }
}

static func_t* open_func(calls_t* c, func_t* func, func_t* caller) {
  func->is_open = true;
  func->caller = caller;
  func->first_call = func->next_call = c->count;
  collect_calls(c, func->op);
  return func;
}

static bool visit_calls(inliner_t* n, calls_t* c, ir_op_t* root) {
  func_t* func = func_get(n, c, root);
  if (func->is_done) return true;
  for (func = open_func(c, func, NULL); func;) {
    if (func->next_call == c->count) {
      c->count = func->first_call;
      func->is_open = false;
      func->is_done = true;
      func = func->caller;
      continue;
    }
    ir_op_t* call = c->items[func->next_call++];
    ir_op_t* callee = ir_symbol_find(n->ctx, n->module, graph_get_callee(call));
    func_t* next = callee ? func_get(n, c, callee) : NULL;
    if (!next || next->is_done) continue;
    if (next->is_open) {
      return ir_op_error(n->ctx, call, "calls @%s recursively; recursion cannot be compiled", graph_get_callee(call));
    }
    func = open_func(c, next, func);
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Calls
//===----------------------------------------------------------------------------------------------------------------===

static void inline_call(inliner_t* n, ir_op_t* call, ir_op_t* callee) {
  ir_block_t* body = callee->regions[0].first;
  ir_value_map_t* map = ir_value_map_create(n->ctx);
  for (uint32_t i = 0; i < body->arg_count; ++i) ir_value_map_set(map, body->args[i], ir_operand(call, i));
  IR_FOR_OPS(op, body) {
    if (op == body->last) break;
    ir_block_insert_before(call->parent, ir_op_clone(n->ctx, op, map), call);
    ++n->ops;
  }
  for (uint32_t i = 0; i < call->result_count; ++i) {
    ir_value_t* value = ir_operand(body->last, i);
    ir_value_t* mapped = ir_value_map_get(map, value);
    ir_value_replace(ir_result(call, i), mapped ? mapped : value);
  }
  ir_op_erase(call);
}

static ir_op_t* callee_of(inliner_t* n, ir_op_t* call) {
  const char* name = graph_get_callee(call);
  ir_op_t* callee = ir_symbol_find(n->ctx, n->module, name);
  if (!callee || !callee->regions[0].first) {
    ir_op_error(n->ctx, call, "calls @%s, which this module does not define", name);
    return NULL;
  }
  ir_block_t* body = callee->regions[0].first;
  if (body->next || body->arg_count != call->operand_count || body->last->operand_count != call->result_count) {
    ir_op_error(n->ctx, call, "calls @%s, which has another signature or several blocks", name);
    return NULL;
  }
  return callee;
}

static pass_result_t visit(inliner_t* n, ir_op_t* parent) {
  pass_result_t result = PASS_UNCHANGED;
  for (uint32_t r = 0; r < parent->region_count; ++r) {
    IR_FOR_BLOCKS(block, &parent->regions[r]) {
      for (ir_op_t *op = block->first, *next; op; op = next) {
        next = op->next;
        pass_result_t inner = visit(n, op);
        if (inner == PASS_FAILED) return inner;
        if (inner == PASS_CHANGED) result = inner;
        if (!is_call(op)) continue;
        ir_op_t* callee = callee_of(n, op);
        if (!callee) return PASS_FAILED;
        if (n->ops > MAX_OPS) {
          ir_op_error(n->ctx, op, "is one call too many: calls stand for more than %d operations", MAX_OPS);
          return PASS_FAILED;
        }
        ir_op_t* before = op->prev;
        inline_call(n, op, callee);
        next = before ? before->next : block->first;  // what was inlined may call again
        result = PASS_CHANGED;
      }
    }
  }
  return result;
}

static bool calls_end(inliner_t* n) {
  calls_t c = {0};
  bool ok = true;
  IR_FOR_OPS(func, ir_module_body(n->module)) {
    if (strcmp(func->name, "func.func") == 0 && !is_private(func)) ok = ok && visit_calls(n, &c, func);
  }
  memory_free(c.items);
  ir_set_finish(&c.funcs);
  return ok;
}

pass_result_t pass_inline(ir_op_t* module, ir_context_t* ctx) {
  pass_result_t result = PASS_UNCHANGED;
  inliner_t n = {.ctx = ctx, .module = module};
  if (!calls_end(&n)) return PASS_FAILED;
  IR_FOR_OPS(func, ir_module_body(module)) {
    if (strcmp(func->name, "func.func") || is_private(func)) continue;
    pass_result_t inner = visit(&n, func);
    if (inner == PASS_FAILED) return inner;
    if (inner == PASS_CHANGED) result = inner;
  }
  IR_FOR_OPS_SAFE(func, ir_module_body(module)) {
    if (strcmp(func->name, "func.func") || !is_private(func)) continue;
    ir_op_erase(func);
    result = PASS_CHANGED;
  }
  return result;
}
