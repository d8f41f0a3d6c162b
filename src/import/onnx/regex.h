// Regular expressions in RE2's syntax, as automata that accept the strings which match as a whole.
#ifndef IREE_C_IMPORT_ONNX_REGEX_H_
#define IREE_C_IMPORT_ONNX_REGEX_H_

#include "base/arena.h"
#include "import/onnx/automaton.h"

// Of well-formed UTF-8, as code points. False, with a sentence in the arena, when the pattern is not understood or its
// automaton would be too large.
bool regex_compile(arena_t* arena, const int32_t* pattern, int64_t size, automaton_t* out, const char** error);

// A tree of the pattern (regex.c reads it, regex_automaton.c makes the automaton).
typedef enum {
  REGEX_EMPTY,
  REGEX_SET,     // one character of `ranges`
  REGEX_CHAIN,   // `left`, then `right`
  REGEX_EITHER,  // `left` or `right`
  REGEX_REPEAT,  // `left`, `least` to `most` times (-1: any number)
  REGEX_ASSERT,  // nothing, where `assertion` holds
} regex_kind_t;
typedef enum {
  REGEX_TEXT_BEGIN,
  REGEX_TEXT_END,
  REGEX_LINE_BEGIN,
  REGEX_LINE_END,
  REGEX_WORD_EDGE,
  REGEX_NO_WORD_EDGE,
} regex_assertion_t;
typedef struct regex_range_t {
  int32_t first, last;
} regex_range_t;
typedef struct regex_set_t {
  regex_range_t* ranges;  // ascending, with gaps between
  uint32_t count, capacity;
} regex_set_t;
typedef struct regex_node_t {
  regex_kind_t kind;
  regex_set_t set;
  struct regex_node_t *left, *right;
  int32_t least, most;
  regex_assertion_t assertion;
} regex_node_t;

regex_node_t* regex_parse(arena_t* arena, const int32_t* pattern, int64_t size, const char** error);

#endif  // IREE_C_IMPORT_ONNX_REGEX_H_
