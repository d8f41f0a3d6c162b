// The reader of tokenizer.json and of .tiktoken files: no file may crash it, and a tokenizer that it makes encodes
// text, whose tokens are in its vocabulary and lie in the text, and decodes them, all at once and one by one.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "iree/tokenizer/format/huggingface/tokenizer_json.h"
#include "iree/tokenizer/format/tiktoken/tiktoken.h"

enum { MAX_TOKENS = 4096, MAX_TEXT = 1 << 16 };

static char text_of_all[MAX_TEXT], text_of_each[MAX_TEXT];

static void decode_each(const iree_tokenizer_t* tokenizer, iree_tokenizer_token_id_list_t ids) {
  iree_host_size_t size = 0, at = 0;
  iree_tokenizer_decode_state_t* state = NULL;
  uint64_t storage[32];
  iree_status_ignore(iree_tokenizer_decode_state_calculate_size(tokenizer, &size));
  if (size > sizeof(storage)) abort();
  iree_status_ignore(
      iree_tokenizer_decode_state_initialize(tokenizer, 0, iree_make_byte_span(storage, sizeof(storage)), &state));
  for (iree_host_size_t i = 0; i < ids.count; ++i) {
    iree_host_size_t taken = 0, written = 0;
    iree_status_ignore(iree_tokenizer_decode_state_feed(state, iree_tokenizer_make_token_id_list(&ids.values[i], 1),
                                                        (iree_mutable_string_view_t){text_of_each + at, MAX_TEXT - at},
                                                        &taken, &written));
    if (written > MAX_TEXT - at) abort();
    at += written;
  }
  iree_host_size_t written = 0;
  iree_status_ignore(iree_tokenizer_decode_state_finalize(
      state, (iree_mutable_string_view_t){text_of_each + at, MAX_TEXT - at}, &written));
  iree_tokenizer_decode_state_deinitialize(state);
}

static void use(const iree_tokenizer_t* tokenizer) {
  static const char* const texts[] = {"Some text, <s> and  more\nof it: 1234 don't \xE2\x96\x81",
                                      "\xF0\x9F\x99\x82 \xC3\x89t\xC3\xA9 \xE4\xB8\xAD\xE6\x96\x87 \xFF\xC0", ""};
  static iree_tokenizer_token_id_t ids[MAX_TOKENS];
  static iree_tokenizer_offset_t offsets[MAX_TOKENS];
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
    iree_host_size_t count = 0, length = 0;
    iree_status_t status = iree_tokenizer_encode(
        tokenizer, iree_make_cstring_view(texts[i]), i ? 0 : IREE_TOKENIZER_ENCODE_FLAG_ADD_SPECIAL_TOKENS,
        iree_tokenizer_make_token_output(ids, offsets, NULL, MAX_TOKENS), iree_allocator_system(), &count);
    if (!iree_status_is_ok(status)) {
      iree_status_ignore(status);
      continue;
    }
    for (iree_host_size_t k = 0; k < count; ++k) {
      if (ids[k] < 0 || offsets[k].start > offsets[k].end || offsets[k].end > strlen(texts[i])) abort();
    }
    iree_tokenizer_token_id_list_t list = iree_tokenizer_make_token_id_list(ids, count);
    iree_status_ignore(iree_tokenizer_decode(tokenizer, list, 0, (iree_mutable_string_view_t){text_of_all, MAX_TEXT},
                                             iree_allocator_system(), &length));
    decode_each(tokenizer, list);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  iree_tokenizer_t* tokenizer = NULL;
  iree_string_view_t file = iree_make_string_view((const char*)data, size);
  iree_status_ignore(iree_tokenizer_from_huggingface_json(file, iree_allocator_system(), &tokenizer));
  if (tokenizer) use(tokenizer);
  iree_tokenizer_free(tokenizer);
  tokenizer = NULL;
  iree_status_ignore(iree_tokenizer_from_tiktoken(file, iree_tokenizer_tiktoken_config_o200k_base(),
                                                  iree_allocator_system(), &tokenizer));
  if (tokenizer) use(tokenizer);
  iree_tokenizer_free(tokenizer);
  return 0;
}
