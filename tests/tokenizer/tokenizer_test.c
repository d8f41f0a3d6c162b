// Tokenizers as a C program uses them: sizes of outputs, offsets and types of pairs, decoding as tokens come, text that
// is no UTF-8, and regular expressions that would take for ever.
#include "../hal/hal_test.h"
#include "iree/tokenizer/format/huggingface/tokenizer_json.h"

static const char file[] =
    "{\"added_tokens\":[{\"id\":0,\"content\":\"<s>\",\"special\":true},{\"id\":1,\"content\":\"</"
    "s>\",\"special\":true}],"
    "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true},"
    "\"decoder\":{\"type\":\"ByteLevel\"},"
    "\"post_processor\":{\"type\":\"BertProcessing\",\"cls\":[\"<s>\",0],\"sep\":[\"</s>\",1]},"
    "\"model\":{\"type\":\"BPE\",\"vocab\":{\"<s>\":0,\"</s>\":1,\"a\":2,\"b\":3,\"ab\":4,\"\\u0120\":5,\"\\u00c3\":6,"
    "\"\\u00a9\":7,\"\\u00ef\":8,\"\\u00bf\":9,\"\\u00bd\":10},\"merges\":[\"a b\"]}}";

static iree_tokenizer_t* load(const char* text) {
  iree_tokenizer_t* tokenizer = NULL;
  CHECK_OK(iree_tokenizer_from_huggingface_json(iree_make_cstring_view(text), iree_allocator_system(), &tokenizer));
  return tokenizer;
}

static void test_encode(void** state) {
  iree_tokenizer_t* tokenizer = load(file);
  iree_tokenizer_token_id_t ids[8];
  iree_tokenizer_offset_t offsets[8];
  uint8_t types[8];
  iree_host_size_t count = 0;
  const iree_tokenizer_encode_flags_t all = IREE_TOKENIZER_ENCODE_FLAG_ADD_SPECIAL_TOKENS;
  CHECK_CODE(RESOURCE_EXHAUSTED, iree_tokenizer_encode(tokenizer, IREE_SV("ab ba"), all,
                                                       iree_tokenizer_make_token_output(ids, NULL, NULL, 3),
                                                       iree_allocator_system(), &count));
  assert_int_equal(count, 6);
  CHECK_OK(iree_tokenizer_encode_pair(tokenizer, IREE_SV("ab"), IREE_SV("\xC3\xA9"), all,
                                      iree_tokenizer_make_token_output(ids, offsets, types, 8), iree_allocator_system(),
                                      &count));
  static const int wanted[] = {0, 4, 1, 6, 7, 1}, wanted_types[] = {0, 0, 0, 1, 1, 1};
  assert_int_equal(count, 6);
  for (int i = 0; i < 6; ++i) assert_int_equal(ids[i], wanted[i]);
  for (int i = 0; i < 6; ++i) assert_int_equal(types[i], wanted_types[i]);
  assert_int_equal(offsets[1].end, 2);
  assert_int_equal(offsets[4].start, 0);  // both bytes are of one character
  assert_int_equal(offsets[4].end, 2);
  assert_int_equal(iree_tokenizer_max_special_token_count(tokenizer), 3);
  // A byte that is no UTF-8 is a replacement character: three bytes.
  CHECK_OK(iree_tokenizer_encode(tokenizer, IREE_SV("\xFF"), 0, iree_tokenizer_make_token_output(ids, offsets, NULL, 8),
                                 iree_allocator_system(), &count));
  assert_int_equal(count, 3);
  assert_int_equal(ids[0], 8);
  assert_int_equal(offsets[2].end, 1);
  iree_tokenizer_free(tokenizer);
}

static void test_stream(void** state) {
  iree_tokenizer_t* tokenizer = load(file);
  iree_host_size_t size = 0, taken = 0, length = 0;
  uint64_t storage[32];
  char text[16];
  iree_tokenizer_decode_state_t* decoding = NULL;
  CHECK_OK(iree_tokenizer_decode_state_calculate_size(tokenizer, &size));
  assert_true(size <= sizeof(storage));
  CHECK_CODE(OUT_OF_RANGE,
             iree_tokenizer_decode_state_initialize(tokenizer, 0, iree_make_byte_span(storage, 1), &decoding));
  CHECK_OK(iree_tokenizer_decode_state_initialize(tokenizer, IREE_TOKENIZER_DECODE_FLAG_SKIP_SPECIAL_TOKENS,
                                                  iree_make_byte_span(storage, sizeof(storage)), &decoding));
  static const iree_tokenizer_token_id_t ids[] = {0, 4, 6, 7, 6};
  static const char* const wanted[] = {"", "ab", "", "\xC3\xA9", ""};
  for (int i = 0; i < 5; ++i) {
    CHECK_OK(iree_tokenizer_decode_state_feed(decoding, iree_tokenizer_make_token_id_list(&ids[i], 1),
                                              (iree_mutable_string_view_t){text, sizeof(text)}, &taken, &length));
    assert_int_equal(taken, 1);
    assert_int_equal(length, strlen(wanted[i]));
    assert_memory_equal(text, wanted[i], length);
  }
  CHECK_CODE(RESOURCE_EXHAUSTED,
             iree_tokenizer_decode_state_finalize(decoding, (iree_mutable_string_view_t){text, 2}, &length));
  CHECK_OK(iree_tokenizer_decode_state_finalize(decoding, (iree_mutable_string_view_t){text, 16}, &length));
  assert_int_equal(length, 3);  // half a character
  CHECK_OK(iree_tokenizer_decode_state_feed(decoding, iree_tokenizer_make_token_id_list(&ids[1], 1),
                                            (iree_mutable_string_view_t){text, 1}, &taken, &length));
  assert_int_equal(taken + length, 0);  // no room
  iree_tokenizer_decode_state_deinitialize(decoding);
  iree_tokenizer_free(tokenizer);
}

static void test_vocab(void** state) {
  iree_tokenizer_t* tokenizer = load(file);
  const iree_tokenizer_vocab_t* vocab = iree_tokenizer_vocab(tokenizer);
  assert_int_equal(iree_tokenizer_vocab_capacity(vocab), 11);
  assert_int_equal(iree_tokenizer_vocab_token_count(vocab), 11);
  assert_int_equal(iree_tokenizer_vocab_lookup(vocab, IREE_SV("ab")), 4);
  assert_int_equal(iree_tokenizer_vocab_lookup(vocab, IREE_SV("abc")), -1);
  assert_int_equal(iree_tokenizer_vocab_token_attrs(vocab, 1), IREE_TOKENIZER_TOKEN_ATTR_SPECIAL);
  assert_int_equal(iree_tokenizer_vocab_token_attrs(vocab, 99), IREE_TOKENIZER_TOKEN_ATTR_UNUSED);
  assert_int_equal(iree_tokenizer_vocab_token_text(vocab, -1).size, 0);
  assert_int_equal(iree_tokenizer_vocab_special_ids(vocab).eos, 1);
  iree_tokenizer_free(tokenizer);
}

static void test_hard_pattern(void** state) {
  iree_tokenizer_t* tokenizer = load(
      "{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(?:a|aa)+$\"},\"behavior\":\"Isolated\"},"
      "\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"a\":0},\"unk_token\":\"a\"}}");
  char text[200];
  iree_tokenizer_token_id_t ids[8];
  iree_host_size_t count = 0;
  memset(text, 'a', sizeof(text));
  text[sizeof(text) - 1] = 'b';
  CHECK_CODE(RESOURCE_EXHAUSTED, iree_tokenizer_encode(tokenizer, iree_make_string_view(text, sizeof(text)), 0,
                                                       iree_tokenizer_make_token_output(ids, NULL, NULL, 8),
                                                       iree_allocator_system(), &count));
  iree_tokenizer_free(tokenizer);
  iree_tokenizer_t* none = NULL;
  CHECK_CODE(UNIMPLEMENTED, iree_tokenizer_from_huggingface_json(
                                IREE_SV("{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(?:a*)*\"}},"
                                        "\"model\":{\"type\":\"WordLevel\",\"vocab\":{}}}"),
                                iree_allocator_system(), &none));
  assert_null(none);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_encode), cmocka_unit_test(test_stream),
                                     cmocka_unit_test(test_vocab), cmocka_unit_test(test_hard_pattern)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
