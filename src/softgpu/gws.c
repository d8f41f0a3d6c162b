// Global wave sync: semaphores and barriers between the waves of a whole dispatch (ds_gws_*), which cooperative
// launches use on gfx9. Manuals: "DS_GWS_..." of "Instructions".
//
// A wave that waits tries again at each of its turns; a thread whose workgroups all wait begins others beside them
// (execute.c), so that a dispatch may wait for all of its workgroups as far as they fit.
#include "softgpu/kernel.h"

// What a wave waits for: bit 1 holds the barrier's flag when it came.
enum { GWS_WAITS = 1, GWS_FLAG = 2 };

static pthread_mutex_t gws_lock = PTHREAD_MUTEX_INITIALIZER;

static gws_t* resource_of(const wave_t* w, const inst_t* inst) {
  uint32_t number = ((w->sgpr[SREG_M0] >> 16) + (uint32_t)inst->offset) & (GWS_COUNT - 1);
  return &w->launch->engine->gws[number];
}

// The number that the first active lane gives.
static uint32_t value_of(const wave_t* w, const inst_t* inst) {
  uint64_t exec = wave_exec(w);
  const operand_t* o = &inst->src[0];
  if (!inst->source_count || !exec) return 0;
  return o->kind == OPERAND_VGPR ? w->vgpr[o->offset + (uint32_t)__builtin_ctzll(exec)] : wave_scalar(w, o);
}

static void init(gws_t* g, wave_t* w, uint32_t value) { *g = (gws_t){.counter = (int32_t)value}; }
static void release(gws_t* g, wave_t* w, uint32_t value) { ++g->counter; }
static void release_many(gws_t* g, wave_t* w, uint32_t value) { g->counter += (int32_t)value; }
static void release_all(gws_t* g, wave_t* w, uint32_t value) { g->counter = (int32_t)g->waiting; }

// Waits while the counter is not above 0, and takes one.
static void acquire(gws_t* g, wave_t* w, uint32_t value) {
  if (g->counter > 0) {
    --g->counter;
    if (w->gws) --g->waiting;
    w->gws = 0;
  } else if (!w->gws) {
    w->gws = GWS_WAITS;
    ++g->waiting;
  }
}

// The wave that finds the counter at 0 opens the barrier, and sets the counter for the next time.
static void arrive(gws_t* g, wave_t* w, uint32_t value) {
  if (w->gws) {
    if (((w->gws & GWS_FLAG) != 0) != g->flag) w->gws = 0;
  } else if (g->counter <= 0) {
    g->flag = !g->flag;
    g->counter = (int32_t)value;
  } else {
    --g->counter;
    w->gws = GWS_WAITS | (g->flag ? GWS_FLAG : 0);
  }
}

static const inst_t* run(wave_t* w, const inst_t* inst, void (*step)(gws_t* g, wave_t* w, uint32_t value)) {
  if (!wave_exec(w)) return inst + 1;
  pthread_mutex_lock(&gws_lock);
  step(resource_of(w, inst), w, value_of(w, inst));
  pthread_mutex_unlock(&gws_lock);
  // Not done: the wave's turn ends here, and the next one begins here.
  if (w->gws) return w->pc = inst, NULL;
  return inst + 1;
}

// GWS(mnemonic, step)
#define GWS_ROWS(GWS)                       \
  GWS(ds_gws_init, init)                    \
  GWS(ds_gws_sema_v, release)               \
  GWS(ds_gws_sema_br, release_many)         \
  GWS(ds_gws_sema_p, acquire)               \
  GWS(ds_gws_sema_release_all, release_all) \
  GWS(ds_gws_barrier, arrive)
#define GWS(name, step) \
  static const inst_t* run_##name(wave_t* w, const inst_t* inst) { return run(w, inst, step); }
GWS_ROWS(GWS)
#undef GWS
#define GWS(name, step) INST_ROW(name, LDS, EXACT, run_##name, 0, INST_B32)
static const inst_row_t rows[] = {GWS_ROWS(GWS)};
#undef GWS
const inst_table_t gws_table = {rows, sizeof(rows) / sizeof(rows[0])};
