// The checking interpreter: programs, the loop over workgroups, control flow by masks, reports.
#include "target/vmvx/interpret.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dialects/kernel.h"
#include "target/vmvx/interpret_state.h"

//===----------------------------------------------------------------------------------------------------------------===
// Programs
//===----------------------------------------------------------------------------------------------------------------===

static uint32_t smallest_shift(const vmvx_function_t* f, uint32_t kind) {
  uint32_t bytes = 8;
  for (uint32_t i = 0; i < f->memory_count; ++i) {
    uint32_t size = vmvx_type_bytes(f->memories[i].type);
    if (f->memories[i].kind == kind && size < bytes) bytes = size;
  }
  return (uint32_t)__builtin_ctz(bytes);
}

// Behind it is as much again as a vector may reach.
static void* allocate_aligned(arena_t* arena, size_t size) {
  return (void*)(((uintptr_t)arena_alloc(arena, size + 128) + 63) & ~(uintptr_t)63);
}

static void allocate(kernel_program_t* p) {
  const vmvx_function_t* f = p->function;
  size_t threads = p->threads;
  p->workgroup_shift = smallest_shift(f, VMVX_MEMORY_WORKGROUP);
  p->private_shift = smallest_shift(f, VMVX_MEMORY_PRIVATE);
  arena_t* arena = &p->arena;
  p->frame = allocate_aligned(arena, f->frame_bytes * threads);
  p->masks = arena_alloc(arena, (VMVX_MAX_DEPTH + 2) * threads);
  p->else_masks = arena_alloc(arena, (VMVX_MAX_DEPTH + 2) * threads);
  p->workgroup_memory = allocate_aligned(arena, f->workgroup_bytes);
  p->private_memory = allocate_aligned(arena, f->private_bytes * threads);
  p->workgroup_cells = ARENA_ARRAY(arena, cell_t, (f->workgroup_bytes >> p->workgroup_shift) + 2);
  p->private_marks = ARENA_ARRAY(arena, uint32_t, ((f->private_bytes >> p->private_shift) + 1) * threads);
  p->memories = ARENA_ARRAY(arena, memory_t, f->memory_count + 1);
  p->seen = arena_alloc(arena, ((size_t)f->instr_count + 1) * KERNEL_FAULT_COUNT);
  for (int axis = 0; axis < 3; ++axis) p->thread_ids[axis] = ARENA_ARRAY(arena, int64_t, threads);
  const uint32_t* size = f->workgroup_size;
  for (uint32_t t = 0; t < threads; ++t) {
    p->thread_ids[0][t] = t % size[0];
    p->thread_ids[1][t] = t / size[0] % size[1];
    p->thread_ids[2][t] = t / size[0] / size[1];
  }
  group_prepare(p);
}

static void close_code(void* program) { vmvx_program_close(&((kernel_program_t*)program)->program); }

static bool open_code(kernel_program_t* p, text_t* error) {
  iree_status_t status = vmvx_program_open(iree_make_const_byte_span(p->code.data, p->code.size), true,
                                           iree_allocator_system(), &p->program);
  if (iree_status_is_ok(status)) return true;
  char message[512];
  iree_host_size_t size = 0;
  iree_status_format(status, sizeof(message), message, &size);
  iree_status_free(status);
  text_puts(error, message);
  return false;
}

kernel_program_t* kernel_program_create(const ir_op_t* func, text_t* error) {
  kernel_program_t* p = memory_alloc(sizeof(*p));
  memory_cleanup_add(&p->cleanup, close_code, p);
  p->func = func;
  if (!vmvx_encode(&func, 1, &p->code, error) || !open_code(p, error)) {
    kernel_program_destroy(p);
    return NULL;
  }
  p->function = &p->program.functions[0];
  const uint32_t* size = p->function->workgroup_size;
  p->threads = size[0] * size[1] * size[2];
  uint32_t op = 0;
  do {
    op = p->function->instrs[p->first].op;
  } while ((op == VMVX_OP_param || op == VMVX_OP_constant || op == VMVX_OP_constant_splat) && ++p->first);
  allocate(p);
  return p;
}

void kernel_program_destroy(kernel_program_t* p) {
  if (!p) return;
  memory_cleanup_remove(&p->cleanup);
  close_code(p);
  vmvx_code_finish(&p->code);
  arena_finish(&p->arena);
  memory_free(p);
}

//===----------------------------------------------------------------------------------------------------------------===
// Reports
//===----------------------------------------------------------------------------------------------------------------===

static void name_memory(kernel_report_t* report, const memory_t* m) {
  if (m->kind == VMVX_MEMORY_BINDING) snprintf(report->memory, sizeof(report->memory), "binding %u", m->binding);
  if (m->kind == VMVX_MEMORY_WORKGROUP) snprintf(report->memory, sizeof(report->memory), "workgroup memory");
  if (m->kind == VMVX_MEMORY_PRIVATE) snprintf(report->memory, sizeof(report->memory), "private memory");
}

static void write_sentence(kernel_report_t* report, const char* detail) {
  static const char* const names[] = {
#define FAULT(NAME, text) text,
      KERNEL_FAULTS(FAULT)
#undef FAULT
  };
  char place[96] = "";
  if (report->memory[0]) {
    snprintf(place, sizeof(place), " at byte %lld of %s (%u bytes)", (long long)report->offset, report->memory,
             report->size);
  }
  snprintf(report->text, sizeof(report->text), "%s: '%s' in workgroup (%u, %u, %u), thread %u: %s%s%s%s",
           report->kernel, report->op->name, report->workgroup[0], report->workgroup[1], report->workgroup[2],
           report->thread, names[report->fault], place, detail[0] ? ": " : "", detail);
}

void run_fault(run_t* r, kernel_fault_t fault, fault_at_t at, const char* format, ...) {
  kernel_program_t* p = r->program;
  uint32_t number = r->instr ? (uint32_t)(r->instr - r->function->instrs) : 0;
  uint8_t* seen = &p->seen[(size_t)number * KERNEL_FAULT_COUNT + fault];
  if (*seen || r->stop) return;
  *seen = 1;
  const ir_op_t* op = r->instr ? p->code.ops[number] : p->func;
  kernel_report_t report = {.fault = fault,
                            .kernel = ir_op_string(p->func, "sym_name", "?"),
                            .op = op,
                            .loc = op->loc,
                            .workgroup = {r->workgroup[0], r->workgroup[1], r->workgroup[2]},
                            .thread = at.thread,
                            .offset = at.offset,
                            .size = at.size};
  if (at.memory) name_memory(&report, at.memory);
  char detail[128] = "";
  va_list args;
  va_start(args, format);
  vsnprintf(detail, sizeof(detail), format, args);
  va_end(args);
  write_sentence(&report, detail);
  if (r->check->report) r->check->report(r->check->user, &report);
  uint32_t most = r->check->max_reports ? r->check->max_reports : 20;
  if (++r->check->report_count >= most) r->stop = true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Masks and control flow
//===----------------------------------------------------------------------------------------------------------------===

static void enter(run_t* r) {
  r->actives[r->depth++] = r->active;
  r->mask = r->program->masks + (size_t)r->depth * r->threads;
}
static void leave(run_t* r) {
  r->active = r->actives[--r->depth];
  r->mask = r->program->masks + (size_t)r->depth * r->threads;
}

static void count_active(run_t* r) {
  uint32_t active = 0;
  for (uint32_t t = 0; t < r->threads; ++t) active += r->mask[t];
  r->active = active;
}

static const vmvx_instr_t* target(const run_t* r, uint32_t operand) {
  return &r->function->instrs[r->instr->x[operand]];
}

static const vmvx_instr_t* run_for(run_t* r) {
  int64_t* index = (int64_t*)(void*)run_at(r, 0);
  const int64_t *lower = (const int64_t*)(void*)run_at(r, 1), *upper = (const int64_t*)(void*)run_at(r, 2),
                *step = (const int64_t*)(void*)run_at(r, 3);
  const uint8_t* outer = r->mask;
  for (uint32_t t = 0; t < r->threads; ++t) {
    if (outer[t] && step[t] <= 0) {
      run_fault(r, KERNEL_FAULT_STEP, (fault_at_t){.thread = t}, "step %lld", (long long)step[t]);
      r->stop = true;
    }
  }
  enter(r);
  for (uint32_t t = 0; t < r->threads; ++t) {
    index[t] = lower[t];
    r->mask[t] = outer[t] && lower[t] < upper[t];
  }
  count_active(r);
  if (r->active) return r->instr + 1;
  leave(r);
  return target(r, 4);
}

static const vmvx_instr_t* run_next(run_t* r) {
  int64_t* index = (int64_t*)(void*)run_at(r, 0);
  const int64_t *upper = (const int64_t*)(void*)run_at(r, 1), *step = (const int64_t*)(void*)run_at(r, 2);
  for (uint32_t t = 0; t < r->threads; ++t) {
    bool overflow = __builtin_add_overflow(index[t], step[t], &index[t]);
    r->mask[t] = r->mask[t] && !overflow && index[t] < upper[t];
  }
  count_active(r);
  if (r->active) return target(r, 3);
  leave(r);
  return r->instr + 1;
}

static const vmvx_instr_t* run_if(run_t* r) {
  const uint8_t *condition = run_at(r, 0), *outer = r->mask;
  enter(r);
  uint8_t* other = r->program->else_masks + (size_t)r->depth * r->threads;
  for (uint32_t t = 0; t < r->threads; ++t) {
    r->mask[t] = outer[t] & condition[t];
    other[t] = outer[t] & !condition[t];
  }
  count_active(r);
  return r->active ? r->instr + 1 : target(r, 1);
}

static const vmvx_instr_t* run_else(run_t* r) {
  memcpy(r->mask, r->program->else_masks + (size_t)r->depth * r->threads, r->threads);
  count_active(r);
  return r->active ? r->instr + 1 : target(r, 0);
}

static const vmvx_instr_t* run_while_if(run_t* r) {
  const uint8_t* condition = run_at(r, 0);
  for (uint32_t t = 0; t < r->threads; ++t) r->mask[t] &= condition[t];
  count_active(r);
  if (r->active) return r->instr + 1;
  leave(r);
  return target(r, 1);
}

static void run_mov(run_t* r) {
  const vmvx_register_t* reg = run_reg(r, 0);
  if (r->active == r->threads) {
    vmvx_eval(r->function, r->instr, r->program->frame, r->threads);
    return;
  }
  uint8_t *to = run_at(r, 0), *from = run_at(r, 1);
  for (uint32_t lane = 0; lane < reg->lanes; ++lane) {
    for (uint32_t t = 0; t < r->threads; ++t) {
      size_t at = ((size_t)lane * r->threads + t) * reg->bytes;
      if (r->mask[t]) memcpy(to + at, from + at, reg->bytes);
    }
  }
}

static void run_id(run_t* r) {
  int64_t* out = (int64_t*)(void*)run_at(r, 0);
  uint32_t id = r->instr->x[1], axis = id % 3, subgroup = r->function->subgroup_size;
  for (uint32_t t = 0; t < r->threads; ++t) {
    if (id < VMVX_ID_COUNT) {
      out[t] = r->workgroup[axis];
    } else if (id < VMVX_ID_THREAD) {
      out[t] = r->launch->workgroup_count[axis];
    } else if (id < VMVX_ID_LANE) {
      out[t] = r->program->thread_ids[axis][t];
    } else {
      out[t] = subgroup ? t % subgroup : 0;
    }
  }
}

static void check_lanes(run_t* r) {
  uint32_t lanes = run_reg(r, 1)->lanes;
  for (uint32_t t = 0; t < r->threads; ++t) {
    int64_t lane;
    memcpy(&lane, run_at(r, 2) + (size_t)t * 8, 8);
    if (r->mask[t] && (lane < 0 || lane >= lanes)) {
      run_fault(r, KERNEL_FAULT_LANE, (fault_at_t){.thread = t}, "lane %lld of %u", (long long)lane, lanes);
    }
  }
}

// Runs an instruction that goes on to the one behind it.
static void run_plain(run_t* r) {
  switch (r->instr->op) {
    case VMVX_OP_mov:
      run_mov(r);
      break;
    case VMVX_OP_id:
      run_id(r);
      break;
    case VMVX_OP_param:
      vmvx_eval_param(r->function, r->instr, r->program->frame, r->threads, r->launch->constants);
      break;
    case VMVX_OP_load:
    case VMVX_OP_load_masked:
    case VMVX_OP_store:
    case VMVX_OP_store_masked:
    case VMVX_OP_gather:
    case VMVX_OP_gather_masked:
    case VMVX_OP_scatter:
    case VMVX_OP_scatter_masked:
      run_memory(r);
      break;
    case VMVX_OP_atomic:
      run_atomic(r);
      break;
    case VMVX_OP_barrier:
      run_barrier(r);
      break;
    case VMVX_OP_subgroup_shuffle:
      run_subgroup_shuffle(r);
      break;
    case VMVX_OP_mma:
      run_mma(r);
      break;
    case VMVX_OP_load_matrix:
      run_load_matrix(r);
      break;
    case VMVX_OP_load_tile:
    case VMVX_OP_store_tile:
      run_tile(r);
      break;
    case VMVX_OP_async_copy:
    case VMVX_OP_async_copy_some:
      run_async_copy(r);
      break;
    case VMVX_OP_async_commit:
      run_async_commit(r);
      break;
    case VMVX_OP_async_wait:
      run_async_wait(r);
      break;
    default:
      if (r->instr->op == VMVX_OP_extract_dynamic) check_lanes(r);
      vmvx_eval(r->function, r->instr, r->program->frame, r->threads);
  }
}

// Runs the instruction and gives the next, NULL at the end.
static const vmvx_instr_t* run_step(run_t* r) {
  switch (r->instr->op) {
    case VMVX_OP_for:
      return run_for(r);
    case VMVX_OP_next:
      return run_next(r);
    case VMVX_OP_if:
      return run_if(r);
    case VMVX_OP_else:
      return run_else(r);
    case VMVX_OP_end_if:
      leave(r);
      return r->instr + 1;
    case VMVX_OP_while: {
      const uint8_t* outer = r->mask;
      enter(r);
      memcpy(r->mask, outer, r->threads);
      return r->instr + 1;
    }
    case VMVX_OP_while_if:
      return run_while_if(r);
    case VMVX_OP_while_next:
      return target(r, 0);
    case VMVX_OP_return:
      return NULL;
    default:
      run_plain(r);
      return r->instr + 1;
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Workgroups
//===----------------------------------------------------------------------------------------------------------------===

static void start_masks(run_t* r) {
  r->depth = 0;
  r->mask = r->program->masks;
  memset(r->mask, 1, r->threads);
  r->active = r->threads;
}

static void run_workgroup(run_t* r) {
  uint64_t steps = 0, most = r->check->max_steps ? r->check->max_steps : 1ull << 32;
  start_masks(r);
  r->first_epoch = ++r->epoch;
  r->workgroup_epochs[r->workgroup_index++] = r->first_epoch;
  r->queue_count = 0;
  memset(r->committed, 0, sizeof(uint32_t) * r->threads);
  for (r->instr = &r->function->instrs[r->program->first]; r->instr && !r->stop;) {
    if (++steps > most) {
      run_fault(r, KERNEL_FAULT_ENDLESS, (fault_at_t){0}, "stopped after %llu instructions", (unsigned long long)most);
      r->stop = true;
    }
    bool has_register = r->instr->op < VMVX_OP_for;
    r->check->lane_ops += (uint64_t)r->active * (has_register ? run_reg(r, 0)->lanes : 1);
    r->instr = run_step(r);
  }
  r->check->instructions += steps;
}

static void run_workgroups(run_t* r) {
  const uint32_t* count = r->launch->workgroup_count;
  start_masks(r);
  for (uint32_t i = 0; i < r->program->first; ++i) {
    r->instr = &r->function->instrs[i];
    run_plain(r);
  }
  r->instr = NULL;
  for (r->workgroup[2] = 0; r->workgroup[2] < count[2] && !r->stop; ++r->workgroup[2]) {
    for (r->workgroup[1] = 0; r->workgroup[1] < count[1] && !r->stop; ++r->workgroup[1]) {
      for (r->workgroup[0] = 0; r->workgroup[0] < count[0] && !r->stop; ++r->workgroup[0]) run_workgroup(r);
    }
  }
}

bool kernel_program_run(kernel_program_t* program, const kernel_launch_t* launch, kernel_check_t* check) {
  const vmvx_function_t* f = program->function;
  if (launch->binding_count != f->binding_count || launch->constant_count != f->constant_count) return false;
  run_t r = {.program = program, .function = f, .launch = launch, .check = check, .threads = program->threads};
  const uint32_t* count = launch->workgroup_count;
  uint64_t workgroups = (uint64_t)count[0] * count[1] * count[2];
  memset(program->seen, 0, ((size_t)f->instr_count + 1) * KERNEL_FAULT_COUNT);
  r.workgroup_epochs = memory_array(workgroups + 1, sizeof(uint32_t));
  r.committed = memory_array(program->threads, sizeof(uint32_t));
  check->report_count = 0;
  run_memory_begin(&r);
  run_workgroups(&r);
  if (check->expect_all_written && !r.stop) run_memory_check(&r);
  run_memory_end(&r);
  memory_free(r.workgroup_epochs);
  memory_free(r.committed);
  memory_free(r.queue);
  return check->report_count == 0;
}

bool kernel_interpret(const ir_op_t* func, const kernel_launch_t* launch, kernel_check_t* check, text_t* error) {
  kernel_program_t* program = kernel_program_create(func, error);
  if (!program) return false;
  bool clean = kernel_program_run(program, launch, check);
  if (launch->binding_count != program->function->binding_count ||
      launch->constant_count != program->function->constant_count) {
    text_printf(error, "kernel '%s' takes %u bindings and %u constant words, not %u and %u",
                ir_op_string(func, "sym_name", "?"), program->function->binding_count,
                program->function->constant_count, launch->binding_count, launch->constant_count);
  }
  kernel_program_destroy(program);
  return clean;
}
