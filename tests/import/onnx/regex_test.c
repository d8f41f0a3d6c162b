// Regular expressions as automata: which strings each accepts, and what is said of those that are none.
#include "import/onnx/regex.h"

#include <string.h>

#include "import/onnx/strings.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on

enum { ROOM = 256 };

static bool compile(arena_t* arena, const char* pattern, automaton_t* a, const char** error) {
  int32_t points[ROOM];
  int64_t size = onnx_decode_utf8(pattern, strlen(pattern), points);
  assert_in_range(size, 0, ROOM - 1);
  return regex_compile(arena, points, size, a, error);
}

static bool accepts(const automaton_t* a, const char* text) {
  int32_t points[ROOM], state = 0;
  int64_t size = onnx_decode_utf8(text, strlen(text), points);
  for (int64_t i = 0; i < size; ++i) {
    uint32_t k = a->class_count - 1;
    while (a->starts[k] > points[i]) --k;
    state = a->next[(size_t)state * a->class_count + k];
    assert_in_range(state, 0, a->state_count - 1);
  }
  return a->accepts[state] != 0;
}

static const struct {
  const char *pattern, *yes[4], *no[4];
} matches[] = {
    {"", {""}, {"a"}},
    {"a|b*|", {"", "a", "bb"}, {"ab", "aa"}},
    {"a{2,3}?b{0}c{1,}", {"aac", "aaacc"}, {"ac", "aa", "aabc"}},
    {"a{,2}", {"a{,2}"}, {"a", "aa"}},
    {".", {"a", "中", "\t"}, {"", "\n", "ab"}},
    {"(?s).", {"\n"}, {""}},
    {"[^a-c\\d]+", {"xyz", "_"}, {"xa", "x1", ""}},
    {"[]a-]*", {"]a-", ""}, {"b"}},
    {"[[:upper:]][[:^space:]]", {"Ab", "A."}, {"ab", "A "}},
    {"(?i)straSSe[a-z]", {"STRASSEX", "strassex"}, {"straße"}},
    {"(?i:ä)B", {"äB", "ÄB"}, {"äb"}},
    {"a(?i)b|c", {"aB", "C"}, {"Ab"}},
    {"\\bfoo\\b.*\\Bx", {"foo -axx", "foo ax"}, {"foo x", "foob ax"}},
    {"^a$|\\Ab\\z|c^", {"a", "b"}, {"c", "a\n"}},
    {"(?m)a$\\n^b", {"a\nb"}, {"ab"}},
    {"\\x41\\x{1F642}\\101\\Q(*\\E+", {"A🙂A(*", "A🙂A(***"}, {"A🙂A(*(*"}},
    {"(?P<name>x)(?:y)?", {"x", "xy"}, {"y"}},
    {"(a*)*b", {"b", "aaab"}, {"aaa"}},
    {"\\.\\t\\-", {".\t-"}, {"x\t-"}},
};

static void test_matches(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof(matches) / sizeof(*matches); ++i) {
    arena_t arena = {0};
    automaton_t a;
    const char* error = NULL;
    if (!compile(&arena, matches[i].pattern, &a, &error)) fail_msg("%s: %s", matches[i].pattern, error);
    for (int k = 0; k < 4 && matches[i].yes[k]; ++k) {
      if (!accepts(&a, matches[i].yes[k])) fail_msg("%s does not match '%s'", matches[i].pattern, matches[i].yes[k]);
    }
    for (int k = 0; k < 4 && matches[i].no[k]; ++k) {
      if (accepts(&a, matches[i].no[k])) fail_msg("%s matches '%s'", matches[i].pattern, matches[i].no[k]);
    }
    arena_finish(&arena);
  }
}

static const struct {
  const char *pattern, *error;
} refused[] = {
    {"a)", "a ) without ("},
    {"(a", "a ( without )"},
    {"[a", "a [ without ]"},
    {"[b-a]", "a range that runs backwards"},
    {"*a", "nothing to repeat"},
    {"a**", "a repetition of a repetition"},
    {"a{1001}", "a number of repetitions"},
    {"a{3,2}", "a number of repetitions"},
    {"\\", "nothing behind the backslash"},
    {"\\y", "an unknown escape"},
    {"\\pL", "\\p, which is not supported"},
    {"\\x{110000}", "not the number of a character"},
    {"(?<=a)b", "not the name of a group"},
    {"(?#a)", "an unknown kind of group"},
    {"[[:letter:]]", "an unknown class of characters"},
    {"((a{99}){99}){99}", "repeats too much"},
    {"(a|b)*a(a|b){20}", "too many states"},
};

static void test_refused(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); ++i) {
    arena_t arena = {0};
    automaton_t a;
    const char* error = "none";
    bool compiled = compile(&arena, refused[i].pattern, &a, &error);
    if (compiled || !strstr(error, refused[i].error)) fail_msg("%s: %s", refused[i].pattern, compiled ? "fine" : error);
    arena_finish(&arena);
  }
}

static void test_utf8(void** state) {
  (void)state;
  static const char* const bad[] = {"\x80",         "\xc3",     "\xc0\x80",         "\xe0\x80\x80",
                                    "\xed\xa0\x80", "\xf8\x88", "\xf4\x90\x80\x80", "a\xe4\xb8"};
  int32_t points[ROOM];
  assert_int_equal(onnx_decode_utf8("aé中🙂", strlen("aé中🙂"), points), 4);
  assert_int_equal(points[1], 0xe9);
  assert_int_equal(points[2], 0x4e2d);
  assert_int_equal(points[3], 0x1f642);
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); ++i)
    assert_int_equal(onnx_decode_utf8(bad[i], strlen(bad[i]), points), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_matches),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_utf8),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
