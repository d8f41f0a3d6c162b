// Rows (rows.c), and in it what threads of a GPU do that share a row (rows_team.c).
#ifndef IREE_C_KERNELS_ROWS_H_
#define IREE_C_KERNELS_ROWS_H_

#include "kernels/team.h"
#include "passes/fusion.h"

enum {
  ROWS_MAX_REDUCES = FUSION_MAX_REDUCES,
  ROWS_MAX_UNROLL = 4,
  ROWS_MAX_PIECES = 64,
  ROWS_MAX_HELD = 8,
  ROWS_MAX_QUOTIENTS = 2
};

// A value of the full shape that the sweep `first` computes, and that others need up to `last`: of each piece.
typedef struct rows_held_t {
  ir_value_t* value;
  uint32_t first, last;
  ir_value_t* pieces[ROWS_MAX_PIECES];
} rows_held_t;

// A division of the last sweep by the sum of what is divided.
typedef struct rows_quotient_t {
  ir_op_t* op;
  ir_value_t *divisor, *factor;  // a number of the row, and -1 over it
  ir_value_t* fits;              // i1: multiplying may take the division's place; NULL: it does
} rows_quotient_t;

typedef struct rows_t {
  dispatch_t* d;
  const ir_value_t* value;  // of the full shape
  const ir_type_t* full;
  extent_t sizes[GRAPH_MAX_RANK];  // of the full shape
  uint32_t reduced_count;
  int64_t reduced[GRAPH_MAX_RANK];
  int64_t kept[GRAPH_MAX_RANK];
  int32_t kept_count;
  bool along;                       // vectors along the row
  int64_t lanes;                    // of vectors
  extent_t next_row;                // elements to the next row, which is fetched ahead; or 0
  int64_t team;                     // threads that share a row
  linear_t lane;                    // number of this one
  uint32_t flat;                    // last dimensions that a team takes as one
  int64_t pieces;                   // vectors of a thread of a team, from the row's beginning on, that are no loop
  team_t threads;                   // where a team is a workgroup
  linear_t coords[GRAPH_MAX_RANK];  // of the full shape; reduced ones are set inside the sweeps
  ir_op_t* reduces[ROWS_MAX_REDUCES];
  uint32_t levels[ROWS_MAX_REDUCES];  // by which sweep
  uint32_t reduce_count, level_count;
  ir_value_t* shared[ROWS_MAX_REDUCES];   // workgroup memory: what subgroups have
  ir_value_t* keepers[ROWS_MAX_REDUCES];  // the output whose memory has the operand until it is stored, or NULL
  rows_held_t held[ROWS_MAX_HELD];        // registers that have values of the pieces between sweeps
  uint32_t held_count;
  rows_quotient_t quotients[ROWS_MAX_QUOTIENTS];
  uint32_t quotient_count;
  ir_value_map_t* after;  // of each value: how many sweeps must be over before it can be computed
} rows_t;

// Reductions of one level, with `unroll` accumulators each.
typedef struct rows_sweep_t {
  rows_t* r;
  uint32_t level;
  uint32_t members[ROWS_MAX_REDUCES];
  uint32_t count;
  int64_t unroll;
  bool stores;         // the last sweep: outputs of the full shape
  ir_value_t* exists;  // i1: whether there are elements at the coordinates; NULL: yes
} rows_sweep_t;

// One vector of the sweep: into accumulators number `part` of each reduction, or to memory.
void rows_visit(rows_sweep_t* s, const linear_t* coords, ir_value_t** acc, int64_t part);
bool rows_is_full(const rows_t* r, const ir_value_t* value);

// Elements from a row to the next, where that is worth fetching before the row is done: more than one sweep goes over
// it, and of all that there is a cache keeps nothing. Else 0. And does so, at the next row's same place.
extent_t rows_find_next(const rows_t* r);
void rows_fetch_next(rows_sweep_t* s, const linear_t* coords);

// How many threads share a row, which is set up then, and what they hold of it. Else `team` is 1.
void rows_choose_team(rows_t* r);
// Divisions by a row's own sum, in the last sweep: found once it is known, then in the place of divisions at `coords`.
void rows_find_quotients(rows_t* r);
void rows_bind_quotients(rows_t* r, const linear_t* coords);
void rows_release_quotients(rows_t* r);
// Accumulators that a thread of a team has for each reduction.
int64_t rows_team_unroll(const rows_sweep_t* s);
// The row's last dimensions by all threads of a team.
void rows_team_strip(rows_sweep_t* s, linear_t* coords, ir_value_t** acc);
// What all threads of the team have of each of the sweep's reductions, combined; the same in each.
void rows_team_combine(rows_sweep_t* s, ir_value_t** sums);

#endif  // IREE_C_KERNELS_ROWS_H_
