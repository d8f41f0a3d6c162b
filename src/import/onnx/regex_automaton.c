// A regular expression's tree as instructions of a machine that is in many places at once, and from these the
// automaton: each of its states is a set of such places. What an assertion holds of is the characters before and behind
// a place, so a state also knows the kind of the last character.
#include <stdlib.h>
#include <string.h>

#include "import/onnx/regex.h"

enum {
  MAX_STEPS = 1 << 14,
  MAX_STATES = 1 << 13,
  MAX_TABLE = 1 << 22,
  MAX_WORK = 1 << 28,
  MAX_PATTERN = 1 << 12,
  BUCKETS = 1 << 12
};

typedef enum { STEP_SET, STEP_SPLIT, STEP_ASSERT, STEP_MATCH } step_kind_t;
typedef struct step_t {
  step_kind_t kind;
  const regex_node_t* node;  // of sets and assertions
  uint32_t next, other;      // `other` of splits
} step_t;

typedef enum { KIND_OTHER, KIND_WORD, KIND_NEWLINE, KIND_EDGE } char_kind_t;  // EDGE: there is no character

typedef struct state_t {
  const uint64_t* places;
  char_kind_t before;
  uint32_t chain;  // the next state in its bucket, plus one
} state_t;

typedef struct machine_t {
  arena_t* arena;
  const char* error;
  step_t* steps;
  uint32_t step_count, words;              // words of a set of steps
  bool sees_text, sees_words, sees_lines;  // what assertions ask for
  int32_t* starts;                         // of the classes of characters
  uint32_t class_count;
  state_t* states;
  uint32_t state_count, buckets[BUCKETS];
  uint64_t *closure, *fresh;  // sets at work
  uint32_t* stack;
  uint64_t work;  // steps that were looked at
} machine_t;

//===----------------------------------------------------------------------------------------------------------------===
// Steps
//===----------------------------------------------------------------------------------------------------------------===

static uint32_t add_step(machine_t* m, step_t step) {
  if (m->step_count == MAX_STEPS) {
    m->error = "the pattern repeats too much";
    return 0;
  }
  m->steps[m->step_count] = step;
  return m->step_count++;
}

static uint32_t emit(machine_t* m, const regex_node_t* n, uint32_t next);

static uint32_t emit_repeat(machine_t* m, const regex_node_t* n, uint32_t next) {
  uint32_t entry = next;
  if (n->most < 0) {
    entry = add_step(m, (step_t){.kind = STEP_SPLIT, .next = next, .other = next});
    uint32_t body = emit(m, n->left, entry);
    m->steps[entry].other = body;
  }
  for (int32_t i = n->least; i < n->most && !m->error; ++i) {
    uint32_t body = emit(m, n->left, entry);
    entry = add_step(m, (step_t){.kind = STEP_SPLIT, .next = body, .other = next});
  }
  for (int32_t i = 0; i < n->least && !m->error; ++i) entry = emit(m, n->left, entry);
  return entry;
}

// The steps for n, after which it goes on at `next`; gives the first.
static uint32_t emit(machine_t* m, const regex_node_t* n, uint32_t next) {
  if (m->error) return 0;
  switch (n->kind) {
    case REGEX_EMPTY:
      return next;
    case REGEX_SET:
      return add_step(m, (step_t){.kind = STEP_SET, .node = n, .next = next});
    case REGEX_CHAIN:
      next = emit(m, n->right, next);
      return emit(m, n->left, next);
    case REGEX_EITHER: {
      uint32_t left = emit(m, n->left, next), right = emit(m, n->right, next);
      return add_step(m, (step_t){.kind = STEP_SPLIT, .next = left, .other = right});
    }
    case REGEX_REPEAT:
      return emit_repeat(m, n, next);
    case REGEX_ASSERT:
      m->sees_words |= n->assertion == REGEX_WORD_EDGE || n->assertion == REGEX_NO_WORD_EDGE;
      m->sees_lines |= n->assertion == REGEX_LINE_BEGIN || n->assertion == REGEX_LINE_END;
      m->sees_text = true;
      return add_step(m, (step_t){.kind = STEP_ASSERT, .node = n, .next = next});
  }
  return 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// Classes of characters
//===----------------------------------------------------------------------------------------------------------------===

static bool is_word(int32_t c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static char_kind_t kind_of(const machine_t* m, int32_t c) {
  if (m->sees_words && is_word(c)) return KIND_WORD;
  return m->sees_lines && c == '\n' ? KIND_NEWLINE : KIND_OTHER;
}

static int compare_starts(const void* a, const void* b) {
  int32_t x = *(const int32_t*)a, y = *(const int32_t*)b;
  return (x > y) - (x < y);
}

// Characters that all sets and assertions see alike are one class.
static void find_classes(machine_t* m) {
  size_t count = 1 + 128, used = 0;
  for (uint32_t i = 0; i < m->step_count; ++i) {
    if (m->steps[i].kind == STEP_SET) count += 2 * (size_t)m->steps[i].node->set.count;
  }
  int32_t* starts = ARENA_ARRAY(m->arena, int32_t, count);
  starts[used++] = 0;
  for (int32_t c = 1; c < 128; ++c) {
    if (kind_of(m, c) != kind_of(m, c - 1)) starts[used++] = c;
  }
  for (uint32_t i = 0; i < m->step_count; ++i) {
    const regex_set_t* set = m->steps[i].kind == STEP_SET ? &m->steps[i].node->set : NULL;
    for (uint32_t k = 0; set && k < set->count; ++k) {
      starts[used++] = set->ranges[k].first;
      starts[used++] = set->ranges[k].last + 1;
    }
  }
  qsort(starts, used, sizeof(*starts), compare_starts);
  m->starts = starts;
  for (size_t i = 0; i < used; ++i) {
    if (!i || starts[i] != starts[i - 1]) m->starts[m->class_count++] = starts[i];
  }
}

static bool contains(const regex_set_t* set, int32_t c) {
  for (uint32_t i = 0; i < set->count; ++i) {
    if (c >= set->ranges[i].first && c <= set->ranges[i].last) return true;
  }
  return false;
}

//===----------------------------------------------------------------------------------------------------------------===
// States
//===----------------------------------------------------------------------------------------------------------------===

static bool has(const uint64_t* set, uint32_t i) { return set[i / 64] >> (i % 64) & 1; }
static void put(uint64_t* set, uint32_t i) { set[i / 64] |= 1ull << (i % 64); }

// The members of a set, in m->stack; gives their number.
static uint32_t list_members(machine_t* m, const uint64_t* set) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < m->words; ++i) {
    for (uint64_t left = set[i]; left; left &= left - 1) m->stack[count++] = 64 * i + (uint32_t)__builtin_ctzll(left);
  }
  m->work += m->words + count;
  if (m->work > MAX_WORK) m->error = "the pattern needs too many states";
  return count;
}

static bool holds(regex_assertion_t assertion, char_kind_t before, char_kind_t behind) {
  switch (assertion) {
    case REGEX_TEXT_BEGIN:
      return before == KIND_EDGE;
    case REGEX_TEXT_END:
      return behind == KIND_EDGE;
    case REGEX_LINE_BEGIN:
      return before == KIND_EDGE || before == KIND_NEWLINE;
    case REGEX_LINE_END:
      return behind == KIND_EDGE || behind == KIND_NEWLINE;
    case REGEX_WORD_EDGE:
      return (before == KIND_WORD) != (behind == KIND_WORD);
    default:
      return (before == KIND_WORD) == (behind == KIND_WORD);
  }
}

// Where the machine is before a character of that kind without having read anything more: m->closure.
static void close_places(machine_t* m, const state_t* s, char_kind_t behind) {
  uint32_t top = list_members(m, s->places);
  memcpy(m->closure, s->places, sizeof(*m->closure) * m->words);
  while (top) {
    const step_t* step = &m->steps[m->stack[--top]];
    bool goes =
        step->kind == STEP_SPLIT || (step->kind == STEP_ASSERT && holds(step->node->assertion, s->before, behind));
    const uint32_t to[] = {step->next, step->other};
    for (int k = 0; goes && k < 1 + (step->kind == STEP_SPLIT); ++k) {
      if (has(m->closure, to[k])) continue;
      put(m->closure, to[k]);
      m->stack[top++] = to[k];
    }
  }
}

// The number of the state with these places, a new one when there is none yet.
static uint32_t find_state(machine_t* m, const uint64_t* places, char_kind_t before) {
  uint64_t hash = before;
  for (uint32_t i = 0; i < m->words; ++i) hash = (hash ^ places[i]) * 0x9e3779b97f4a7c15ull, hash ^= hash >> 29;
  uint32_t* bucket = &m->buckets[hash % BUCKETS];
  for (uint32_t i = *bucket; i; i = m->states[i - 1].chain) {
    const state_t* s = &m->states[i - 1];
    if (s->before == before && memcmp(s->places, places, sizeof(*places) * m->words) == 0) return i - 1;
  }
  if (m->state_count == MAX_STATES) {
    m->error = "the pattern needs too many states";
    return 0;
  }
  const uint64_t* copy = arena_copy(m->arena, places, sizeof(*places) * m->words);
  m->states[m->state_count] = (state_t){copy, before, *bucket};
  return *bucket = ++m->state_count, m->state_count - 1;
}

// The state after a character of that class, m->closure being where the machine is before it.
static uint32_t step_class(machine_t* m, int32_t c) {
  memset(m->fresh, 0, sizeof(*m->fresh) * m->words);
  uint32_t count = list_members(m, m->closure);
  for (uint32_t i = 0; i < count; ++i) {
    const step_t* step = &m->steps[m->stack[i]];
    if (step->kind == STEP_SET && contains(&step->node->set, c)) put(m->fresh, step->next);
  }
  return find_state(m, m->fresh, kind_of(m, c));
}

static void build_states(machine_t* m, uint32_t first, automaton_t* out) {
  m->words = m->step_count / 64 + 1;
  m->states = ARENA_ARRAY(m->arena, state_t, MAX_STATES);
  m->closure = ARENA_ARRAY(m->arena, uint64_t, m->words), m->fresh = ARENA_ARRAY(m->arena, uint64_t, m->words);
  m->stack = ARENA_ARRAY(m->arena, uint32_t, m->step_count);
  uint32_t most = MAX_TABLE / m->class_count < MAX_STATES ? MAX_TABLE / m->class_count : MAX_STATES;
  int32_t *next = ARENA_ARRAY(m->arena, int32_t, (size_t)most * m->class_count + 1),
          *accepts = ARENA_ARRAY(m->arena, int32_t, MAX_STATES);
  memset(m->fresh, 0, sizeof(*m->fresh) * m->words);
  put(m->fresh, first);
  find_state(m, m->fresh, m->sees_text ? KIND_EDGE : KIND_OTHER);
  for (uint32_t s = 0; s < m->state_count && !m->error; ++s) {
    if (s >= most) m->error = "the pattern needs too many states";
    close_places(m, &m->states[s], KIND_EDGE);
    accepts[s] = has(m->closure, 0);
    char_kind_t closed = KIND_EDGE;
    for (uint32_t k = 0; k < m->class_count && !m->error; ++k) {
      char_kind_t behind = kind_of(m, m->starts[k]);
      if (behind != closed) close_places(m, &m->states[s], behind);
      closed = behind;
      next[(size_t)s * m->class_count + k] = (int32_t)step_class(m, m->starts[k]);
    }
  }
  *out = (automaton_t){m->state_count, m->class_count, m->starts, next, accepts};
}

bool regex_compile(arena_t* arena, const int32_t* pattern, int64_t size, automaton_t* out, const char** error) {
  machine_t* m = ARENA_NEW(arena, machine_t);
  if (size > MAX_PATTERN) return *error = "the pattern is too long", false;
  const regex_node_t* tree = regex_parse(arena, pattern, size, error);
  if (!tree) return false;
  m->arena = arena;
  m->steps = ARENA_ARRAY(arena, step_t, MAX_STEPS);
  uint32_t match = add_step(m, (step_t){.kind = STEP_MATCH}), first = emit(m, tree, match);
  if (!m->error) find_classes(m);
  if (!m->error) build_states(m, first, out);
  return *error = m->error, !m->error;
}
