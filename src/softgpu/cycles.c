// Cycles of a dispatch, by a model: a SIMD issues an instruction a cycle, and is busy with a vector instruction as long
// as its lanes take; waves spread evenly over the SIMDs; none is faster than its own instructions; bank conflicts come
// on top. Memory takes no time. So the number is a lower bound on what hardware of that shape needs, to compare kernels
// by.
#include "softgpu/kernel.h"

// Cycles of an instruction of a matrix.
enum { MATRIX_CYCLES = 16 };

static bool is_gcn(const launch_t* launch) { return launch->target->major <= 9; }

// Lanes of a SIMD: 16, later 32.
static uint32_t vector_cycles(const launch_t* launch) { return launch->lanes / (is_gcn(launch) ? 16 : 32); }

uint64_t cycles_issued(const launch_t* launch, const engine_counters_t* c) {
  uint64_t single = c->salu + c->smem + c->lds + c->vmem + c->branches + c->barriers + c->waits + c->others;
  return single + c->valu * vector_cycles(launch) + c->matrix * MATRIX_CYCLES;
}

uint64_t cycles_of(const launch_t* launch) {
  uint32_t given = launch->engine->options.units, units = given ? given : launch->target->units;
  uint64_t simds = (uint64_t)(units ? units : 1) * (is_gcn(launch) ? 4 : 2);
  uint64_t throughput = (launch->issued + simds - 1) / simds;
  // A wave's turn comes every fourth cycle before gfx10.
  uint64_t latency = launch->longest * (is_gcn(launch) ? 4 : 1);
  return (latency > throughput ? latency : throughput) + launch->conflicts / (units ? units : 1);
}
