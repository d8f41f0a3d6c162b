// The interpreter of vmvx functions: one workgroup, one thread. The verifier has made sure of everything but bounds.
#include "hal/local/vmvx.h"
#include "module/vmvx_access.h"

// A row of the function's memories, with its place.
typedef struct memory_t {
  uint8_t* data;
  uint64_t count;  // elements
  uint32_t bytes;  // of one
} memory_t;

typedef struct worker_t {
  const vmvx_function_t* function;
  const iree_hal_executable_dispatch_state_v0_t* dispatch;
  const iree_hal_executable_workgroup_state_v0_t* workgroup;
  uint8_t* frame;
  memory_t memories[VMVX_MAX_MEMORIES];
} worker_t;

static inline const vmvx_register_t* reg(const worker_t* w, uint32_t number) { return &w->function->registers[number]; }
static inline uint8_t* at(const worker_t* w, uint32_t number) { return w->frame + reg(w, number)->offset; }
static inline int64_t get_index(const worker_t* w, uint32_t number) {
  int64_t value;
  memcpy(&value, at(w, number), 8);
  return value;
}
static inline void set_index(const worker_t* w, uint32_t number, int64_t value) { memcpy(at(w, number), &value, 8); }

static size_t align_up(size_t size) { return (size + 63) & ~(size_t)63; }

size_t local_vmvx_memory_size(const vmvx_function_t* f) {
  return align_up(f->frame_bytes) + align_up(f->workgroup_bytes) + align_up(f->private_bytes);
}

static bool set_up(worker_t* w) {
  const vmvx_function_t* f = w->function;
  if (w->dispatch->binding_count < f->binding_count || w->dispatch->constant_count < f->constant_count ||
      w->workgroup->local_memory_size < local_vmvx_memory_size(f)) {
    return false;
  }
  w->frame = w->workgroup->local_memory;
  uint8_t* workgroup = w->frame + align_up(f->frame_bytes);
  uint8_t* local[VMVX_MEMORY_KIND_COUNT] = {NULL, workgroup, workgroup + align_up(f->workgroup_bytes)};
  for (uint32_t i = 0; i < f->memory_count; ++i) {
    const vmvx_memory_row_t* row = &f->memories[i];
    uint32_t bytes = vmvx_type_bytes(row->type);
    if (row->kind == VMVX_MEMORY_BINDING) {
      w->memories[i] =
          (memory_t){w->dispatch->binding_ptrs[row->index], w->dispatch->binding_lengths[row->index], bytes};
    } else {
      w->memories[i] = (memory_t){local[row->kind] + row->index, row->length, bytes};
    }
    w->memories[i].count /= bytes;
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Memory
//===----------------------------------------------------------------------------------------------------------------===

static inline uint8_t* locate(void* self, const vmvx_access_t* access) {
  const memory_t* m = &((const worker_t*)self)->memories[access->memory];
  if (access->lanes > m->count || access->offset < 0 || (uint64_t)access->offset > m->count - access->lanes)
    return NULL;
  uint8_t* data = m->data + (uint64_t)access->offset * m->bytes;
  return access->kind == VMVX_ATOMIC && (uintptr_t)data % m->bytes ? NULL : data;
}

static inline vmvx_step_t step_of(worker_t* w, const vmvx_instr_t* instr) {
  return (vmvx_step_t){.function = w->function, .instr = instr, .frame = w->frame, .threads = 1, .self = w};
}
// Copies for the two that are frequent, and one for all.
static bool load(worker_t* w, const vmvx_instr_t* instr) {
  vmvx_step_t step = step_of(w, instr);
  return vmvx_step_access(&step, locate, 0);
}
static bool store(worker_t* w, const vmvx_instr_t* instr) {
  vmvx_step_t step = step_of(w, instr);
  return vmvx_step_access(&step, locate, VMVX_FORM_STORE);
}
static bool access_memory(worker_t* w, const vmvx_instr_t* instr) {
  vmvx_step_t step = step_of(w, instr);
  return vmvx_step_access(&step, locate, vmvx_access_form(instr->op));
}
static bool atomic(worker_t* w, const vmvx_instr_t* instr) {
  vmvx_step_t step = step_of(w, instr);
  return vmvx_step_atomic(&step, locate);
}

//===----------------------------------------------------------------------------------------------------------------===
// Instructions
//===----------------------------------------------------------------------------------------------------------------===

static void id(const worker_t* w, const uint32_t* x) {
  const iree_hal_executable_dispatch_state_v0_t* d = w->dispatch;
  const iree_hal_executable_workgroup_state_v0_t* g = w->workgroup;
  const uint32_t values[VMVX_ID_END] = {g->workgroup_id_x,    g->workgroup_id_y,    g->workgroup_id_z,
                                        d->workgroup_count_x, d->workgroup_count_y, d->workgroup_count_z};
  set_index(w, x[0], values[x[1]]);
}

static bool for_goes_on(const worker_t* w, uint32_t index, uint32_t upper) {
  return get_index(w, index) < get_index(w, upper);
}

static bool advance(const worker_t* w, const uint32_t* x) {
  int64_t index = get_index(w, x[0]);
  if (__builtin_add_overflow(index, get_index(w, x[2]), &index)) return false;
  set_index(w, x[0], index);
  return for_goes_on(w, x[0], x[1]);
}

// Steps are instructions, and are counted where control goes back: in between there are no more than the function has.
enum { STEP_PIECE = 1 << 16 };  // taken from the budget at once

// Makes `steps` at least `needed`; false when the budget is used up.
static bool take_steps(iree_budget_t* budget, uint64_t needed, uint64_t* steps) {
  if (!budget) return *steps = UINT64_MAX, true;
  *steps += iree_budget_take_steps(budget, STEP_PIECE + needed);
  if (*steps >= needed) return true;
  iree_budget_stop(budget, IREE_STATUS_RESOURCE_EXHAUSTED);
  return false;
}

static inline bool count_steps(iree_budget_t* budget, ptrdiff_t count, uint64_t* steps) {
  if (IREE_UNLIKELY(*steps < (uint64_t)count) && !take_steps(budget, (uint64_t)count, steps)) return false;
  *steps -= (uint64_t)count;
  return true;
}

static iree_status_code_t run(worker_t* w, iree_budget_t* budget, uint64_t* steps) {
  const vmvx_instr_t *instrs = w->function->instrs, *back;
  for (const vmvx_instr_t* instr = instrs;;) {
    const uint32_t* x = instr->x;
    bool ok = true;
    switch (instr->op) {
      case VMVX_OP_param:
        vmvx_eval_param(w->function, instr, w->frame, 1, w->dispatch->constants);
        break;
      case VMVX_OP_id:
        id(w, x);
        break;
      case VMVX_OP_load:
        ok = load(w, instr);
        break;
      case VMVX_OP_store:
        ok = store(w, instr);
        break;
      case VMVX_OP_load_masked:
      case VMVX_OP_store_masked:
      case VMVX_OP_gather:
      case VMVX_OP_gather_masked:
      case VMVX_OP_scatter:
      case VMVX_OP_scatter_masked:
        ok = access_memory(w, instr);
        break;
      case VMVX_OP_atomic:
        ok = atomic(w, instr);
        break;
      case VMVX_OP_for:
        set_index(w, x[0], get_index(w, x[1]));
        instr = for_goes_on(w, x[0], x[2]) ? instr + 1 : &instrs[x[4]];
        continue;
      case VMVX_OP_next:
        if (!advance(w, x)) break;
        back = &instrs[x[3]];
        if (!count_steps(budget, instr - back + 1, steps)) return iree_budget_code(budget);
        instr = back;
        continue;
      case VMVX_OP_if:
        instr = *at(w, x[0]) ? instr + 1 : &instrs[x[1]] + 1;  // behind `else`
        continue;
      case VMVX_OP_else:
        instr = &instrs[x[0]];
        continue;
      case VMVX_OP_while_next:
        back = &instrs[x[0]];
        if (!count_steps(budget, instr - back + 1, steps)) return iree_budget_code(budget);
        instr = back;
        continue;
      case VMVX_OP_while_if:
        instr = *at(w, x[0]) ? instr + 1 : &instrs[x[1]];
        continue;
      case VMVX_OP_return:
        return IREE_STATUS_OK;
      case VMVX_OP_while:
      case VMVX_OP_end_if:
      case VMVX_OP_barrier:
      case VMVX_OP_async_commit:
      case VMVX_OP_async_wait:
        break;
      default:
        vmvx_eval(w->function, instr, w->frame, 1);
    }
    if (!ok) return IREE_STATUS_OUT_OF_RANGE;
    ++instr;
  }
}

int local_vmvx_run(const iree_hal_executable_environment_v0_t* environment,
                   const iree_hal_executable_dispatch_state_v0_t* dispatch_state,
                   const iree_hal_executable_workgroup_state_v0_t* workgroup_state) {
  worker_t worker;
  worker.function = ((const local_vmvx_environment_t*)environment)->function;
  worker.dispatch = dispatch_state;
  worker.workgroup = workgroup_state;
  if (!set_up(&worker)) return IREE_STATUS_INVALID_ARGUMENT;
  iree_budget_t* budget = ((const local_vmvx_environment_t*)environment)->budget;
  uint64_t steps = 0;
  if (!count_steps(budget, worker.function->instr_count, &steps)) return (int)iree_budget_code(budget);
  iree_status_code_t code = run(&worker, budget, &steps);
  if (budget) iree_budget_return_steps(budget, steps);
  return (int)code;
}

iree_status_t local_vmvx_failure(const iree_hal_executable_environment_v0_t* environment, int code) {
  const local_vmvx_environment_t* own = (const local_vmvx_environment_t*)environment;
  iree_string_view_t name = own->function->name;
  iree_status_t status = iree_ok_status();
  if (own->budget && (int)iree_budget_code(own->budget) == code) status = iree_budget_check(own->budget);
  if (iree_status_is_ok(status)) {
    status = iree_make_status((iree_status_code_t)code, "%s",
                              code == IREE_STATUS_OUT_OF_RANGE
                                  ? "an access leaves its memory"
                                  : "bindings, constants or local memory are less than it needs");
  }
  return iree_status_annotate_f(status, "in vmvx function '%.*s'", (int)name.size, name.data);
}
