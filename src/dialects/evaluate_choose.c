// The reference evaluator of ops that choose elements by what they are.
#include <math.h>

#include "dialects/evaluate_impl.h"

bool eval_places(eval_op_t* o) {
  const tensor_t* mask = &o->in[0];
  int64_t count = 0;
  if (!tensor_result(o, 0, 2, NULL)) return false;
  for (int64_t i = 0; i < mask->count; ++i) {
    if (!tensor_integer(mask, i)) continue;
    if (count < o->out[0].count) tensor_store(&o->out[0], count, (scalar_value_t){.i = i});
    ++count;
  }
  if (count == o->out[0].count) return true;
  return eval_error(o, "has %lld true elements, and a result for %lld", (long long)count, (long long)o->out[0].count);
}

typedef struct suppress_t {
  const tensor_t* scores;
  const double *score, *edges[4];  // low 0, low 1, high 0, high 1
  double overlap;
} suppress_t;

// As kernels do: rounded to f32 unless numbers are of 64 bits.
static double rounded(const suppress_t* s, double x) { return s->scores->element->width == 64 ? x : (double)(float)x; }

static double area(const suppress_t* s, const double low[2], const double high[2]) {
  return rounded(s, rounded(s, high[0] - low[0]) * rounded(s, high[1] - low[1]));
}

static bool overlaps(const suppress_t* s, int64_t a, int64_t b) {
  double low[3][2], high[3][2];
  for (int i = 0; i < 2; ++i) {
    low[0][i] = s->edges[i][a], low[1][i] = s->edges[i][b];
    high[0][i] = s->edges[2 + i][a], high[1][i] = s->edges[2 + i][b];
    low[2][i] = fmax(low[0][i], low[1][i]), high[2][i] = fmax(fmin(high[0][i], high[1][i]), low[2][i]);
  }
  double common = area(s, low[2], high[2]);
  double both = rounded(s, rounded(s, area(s, low[0], high[0]) + area(s, low[1], high[1])) - common);
  return common > 0 && both > 0 && rounded(s, common / both) > s->overlap;
}

// The best of a line's boxes behind box `last`, or -1; the first: `last` is -1.
static int64_t next_box(const suppress_t* s, const tensor_t* mask, int64_t line, int64_t last) {
  int64_t count = s->scores->dims[s->scores->rank - 1], best = -1;
  for (int64_t i = line * count; i < (line + 1) * count; ++i) {
    if (!tensor_integer(mask, i) || isnan(s->score[i])) continue;
    bool is_left = last < 0 || s->score[i] < s->score[last] || (s->score[i] == s->score[last] && i > last);
    if (is_left && (best < 0 || s->score[i] > s->score[best])) best = i;
  }
  return best;
}

bool eval_suppress(eval_op_t* o) {
  enum { MASK = 1, EDGES = 2, OVERLAP = 6, MOST = 7 };
  suppress_t s = {.scores = &o->in[0], .score = tensor_numbers(o, &o->in[0], false)};
  const tensor_t *scores = s.scores, *out = &o->out[0];
  int64_t most = tensor_integer(&o->in[MOST], 0), boxes = scores->rank ? scores->dims[scores->rank - 1] : 0;
  if (!tensor_make(o, &o->out[0], ir_type_scalar(o->op->results[0].type), scores->rank, scores->dims)) return false;
  for (uint32_t i = 0; i < 4; ++i) s.edges[i] = tensor_numbers(o, &o->in[EDGES + i], false);
  s.overlap = *tensor_numbers(o, &o->in[OVERLAP], false);
  for (int64_t line = 0; boxes && line < scores->count / boxes; ++line) {
    int64_t count = 0, first = line * boxes;
    for (int64_t i = 0; i < boxes; ++i) tensor_store(out, first + i, (scalar_value_t){.i = -1});
    for (int64_t box = -1; count < most && (box = next_box(&s, &o->in[MASK], line, box)) >= 0;) {
      bool is_hidden = false;
      for (int64_t i = 0; i < count; ++i) is_hidden |= overlaps(&s, box, first + tensor_integer(out, first + i));
      if (!is_hidden) tensor_store(out, first + count++, (scalar_value_t){.i = box - first});
    }
  }
  return true;
}
