// The loop that executes a wave, and what surrounds an instruction: dual issue, memory faults, messages.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#include "softgpu/check.h"
#include "softgpu/kernel.h"
#include "softgpu/trace.h"

// A wave that touches memory that is not mapped comes back to run_wave by this.
static __thread sigjmp_buf* run_guard;
static __thread uint64_t run_guard_address;
static const int run_signals[] = {SIGSEGV, SIGBUS, SIGILL};
enum { RUN_SIGNALS = sizeof(run_signals) / sizeof(run_signals[0]) };
static struct sigaction run_old_actions[RUN_SIGNALS];

static void on_memory_fault(int number, siginfo_t* info, void* context) {
  if (run_guard) {
    run_guard_address = (uint64_t)info->si_addr;
    siglongjmp(*run_guard, 1);
  }
  // Not ours: it goes to whom it went to before. Where that was nobody, the default action follows when the instruction
  // is tried again.
  for (int i = 0; i < RUN_SIGNALS; ++i) {
    const struct sigaction* old = &run_old_actions[i];
    if (run_signals[i] != number) continue;
    if (old->sa_flags & SA_SIGINFO) {
      old->sa_sigaction(number, info, context);
    } else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN) {
      old->sa_handler(number);
    } else {
      sigaction(number, old, NULL);
    }
  }
}

static void install_handlers(void) {
  struct sigaction action = {.sa_sigaction = on_memory_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
  for (int i = 0; i < RUN_SIGNALS; ++i) sigaction(run_signals[i], &action, &run_old_actions[i]);
}

static void install_handlers_once(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, install_handlers);
}

bool run_guarded(void (*function)(void* data), void* data) {
  install_handlers_once();
  sigjmp_buf guard, *outer = run_guard;
  bool done = sigsetjmp(guard, 0) == 0;
  if (done) {
    run_guard = &guard;
    function(data);
  }
  run_guard = outer;
  return done;
}

static const inst_t* run_checked(wave_t* w, const inst_t* inst) {
  const inst_t* second = inst->is_dual ? inst + 1 : NULL;
  if (w->group->counters) {
    check_count(w, inst);
    if (second) check_count(w, second);
  }
  bool checks = w->launch->checks || w->undefined;
  if (checks && (!check_before(w, inst) || (second && !check_before(w, second)))) return NULL;
  const inst_t* next = inst->run(w, inst);
  if (!checks) return next;
  if (w->state == WAVE_FAULTED) return NULL;
  check_after(w, inst);
  if (second) check_after(w, second);
  return next;
}

static const inst_t* run_instrumented(wave_t* w, const inst_t* inst) {
  if (!w->trace) return run_checked(w, inst);
  trace_before(w);
  const inst_t* next = run_checked(w, inst);
  trace_after(w, inst);
  return next;
}

// What MODE's VSKIP leaves out: as if it were not there, without even its checks.
static const inst_t* skip_vector(const inst_t* inst) {
  static const uint32_t skipped = 1 << INST_CLASS_VALU | 1 << INST_CLASS_MATRIX | 1 << INST_CLASS_LDS |
                                  1 << INST_CLASS_LOAD | 1 << INST_CLASS_STORE | 1 << INST_CLASS_FLAT;
  while (skipped >> inst->row->klass & 1) ++inst;
  return inst;
}

static void run_loop(wave_t* w, uint64_t budget) {
  const inst_t* inst = w->pc;
  uint64_t left = budget;
  bool skips = isa_is_gfx9(w->target) && w->mode & WAVE_MODE_VSKIP;
  if (w->launch->instrumented || skips) {
    for (; inst && left; --left) {
      if (skips) inst = skip_vector(inst);
      w->pc = inst;
      inst = w->launch->instrumented ? run_instrumented(w, inst) : inst->run(w, inst);
    }
  } else {
    for (; inst && left; --left) {
      w->pc = inst;
      inst = inst->run(w, inst);
    }
  }
  w->executed += budget - left;
  if (inst) w->pc = inst;
}

void run_wave(wave_t* w, uint64_t budget) {
  install_handlers_once();
  sigjmp_buf guard;
  w->state = WAVE_RUNNING;
  w->csr = UINT32_MAX;  // another wave may have set it since
  if (sigsetjmp(guard, 0) == 0) {
    run_guard = &guard;
    run_loop(w, budget);
    run_guard = NULL;
  } else {
    run_guard = NULL;
    wave_fault(w, w->pc, ENGINE_FAULT_MEMORY, run_guard_address, "memory access fault at address 0x%llx",
               (unsigned long long)run_guard_address);
  }
  uint64_t limit = w->launch->engine->options.wave_limit;
  if (w->state == WAVE_RUNNING && limit && w->executed >= limit) {
    wave_fault(w, w->pc, ENGINE_FAULT_LIMIT, w->pc->address, "a wave has executed %llu instructions, the limit",
               (unsigned long long)w->executed);
  }
}

const inst_t* wave_fault(wave_t* w, const inst_t* inst, engine_fault_kind_t kind, uint64_t address, const char* format,
                         ...) {
  launch_t* launch = w->launch;
  w->state = WAVE_FAULTED;
  w->pc = inst;
  int32_t expected = 0;
  if (!__atomic_compare_exchange_n(&launch->is_faulted, &expected, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    return NULL;
  }
  text_t text = {0};
  va_list args;
  va_start(args, format);
  text_vprintf(&text, format, args);
  va_end(args);
  text_printf(&text, "; workgroup [%u, %u, %u], wave %u, lanes 0x%llx, ", w->group->id[0], w->group->id[1],
              w->group->id[2], w->index, (unsigned long long)wave_exec(w));
  code_describe(launch, inst, &text);
  launch->fault->kind = kind;
  launch->fault->address = address;
  snprintf(launch->fault->message, sizeof(launch->fault->message), "%s", text.data);
  text_finish(&text);
  return NULL;
}

const inst_t* wave_jump(wave_t* w, const inst_t* from, uint64_t address) {
  const inst_t* to = code_find_inst(w->launch->engine, w->lanes, address);
  if (to) return to;
  return wave_fault(w, from, ENGINE_FAULT_MEMORY, address, "jump to 0x%llx, where no code is",
                    (unsigned long long)address);
}

#if defined(__x86_64__)
// MXCSR: exceptions masked; rounding in 14:13; flush to zero 15; denormals are zero 6.
static uint32_t csr_of(uint32_t round, uint32_t denormal) {
  static const uint8_t rounds[] = {0, 2, 1, 3};  // nearest, up, down, zero
  return 0x1f80u | (uint32_t)rounds[round] << 13 | (denormal & 2 ? 0 : 1u << 15) | (denormal & 1 ? 0 : 1u << 6);
}
#else
static uint32_t csr_of(uint32_t round, uint32_t denormal) { return 0; }
#endif

void wave_set_mode(wave_t* w, uint32_t mode) {
  w->mode = mode;
  w->csr_single = csr_of(mode & 3, mode >> 4 & 3);
  w->csr_double = csr_of(mode >> 2 & 3, mode >> 6 & 3);
}

static const inst_t* run_refreshed(wave_t* w, const inst_t* inst) {
  w->sgpr[SREG_VCCZ] = wave_mask(w, SREG_VCC) == 0;
  w->sgpr[SREG_EXECZ] = wave_exec(w) == 0;
  return inst->row->run(w, inst);
}

void run_refresh_flags(inst_t* inst) {
  inst->run = run_refreshed;
  for (uint32_t i = 0; i < inst->source_count; ++i) {
    if (inst->src[i].kind == OPERAND_SGPR && inst->src[i].index == SREG_LDS_DIRECT) inst->run = lds_direct_run;
  }
}

// Whether `reader` reads a vector register that `writer` writes.
static bool reads_result(const inst_t* reader, const inst_t* writer) {
  const operand_t* to = &writer->dst[0];
  for (uint32_t i = 0; i < reader->source_count; ++i) {
    const operand_t* from = &reader->src[i];
    if (from->kind == OPERAND_VGPR && from->index < to->index + to->dwords && to->index < from->index + from->dwords) {
      return true;
    }
  }
  return false;
}

static const inst_t* run_in_order(wave_t* w, const inst_t* inst) {
  inst->row->run(w, inst);
  return inst[1].row->run(w, inst + 1);
}

static const inst_t* run_second_first(wave_t* w, const inst_t* inst) {
  inst[1].row->run(w, inst + 1);
  inst->row->run(w, inst);
  return inst + 2;
}

// Each reads what the other writes: the first one's result is put aside while the second runs.
static const inst_t* run_crossed(wave_t* w, const inst_t* inst) {
  uint32_t old[2 * WAVE_MAX_LANES], result[2 * WAVE_MAX_LANES];
  uint32_t* at = w->vgpr + inst->dst[0].offset;
  size_t bytes = (inst->dst[0].dwords < 2 ? 1 : 2) * (size_t)w->lanes * 4;
  memcpy(old, at, bytes);
  inst->row->run(w, inst);
  memcpy(result, at, bytes);
  memcpy(at, old, bytes);
  inst[1].row->run(w, inst + 1);
  memcpy(at, result, bytes);
  return inst + 2;
}

void run_join_dual(inst_t* first, inst_t* second) {
  first->run = !reads_result(second, first)   ? run_in_order
               : !reads_result(first, second) ? run_second_first
                                              : run_crossed;
}
