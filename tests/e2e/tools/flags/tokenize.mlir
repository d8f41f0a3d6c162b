// Flags of iree-tokenize.
// RUN: iree-tokenize --tokenizer=tests/tokenizer/files/byte_level.json "hell wor" | grep -x "0,15,19,1"
// RUN: iree-tokenize --tokenizer=tests/tokenizer/files/byte_level.json --special=false "hell" | grep -x 15
// RUN: iree-tokenize --tokenizer=tests/tokenizer/files/byte_level.json --match_special=false --special=false "<s>" | grep -vx 0
// RUN: iree-tokenize --tokenizer=tests/tokenizer/files/byte_level.json --json "hell" | grep -xF '{"ids":[0,15,1]}'
// RUN: iree-tokenize --tokenizer=tests/tokenizer/files/byte_level.json --offsets "hell wor" | grep -xF '0[0:0],15[0:4],19[4:8],1[0:0]'
// RUN: iree-tokenize --tokenizer=tests/tokenizer/files/byte_level.json --offsets --json "hell" | grep -F '"offsets":[[0,0],[0,4],[0,0]]'
// RUN: iree-tokenize --tokenizer=tests/tokenizer/files/byte_level.json --max_length=2 "hell" | grep -x 0,15
// RUN: iree-tokenize --tokenizer=tests/tokenizer/files/byte_level.json --decode 0,15,19,1 | grep -x "hell wor"
// RUN: iree-tokenize --tokenizer=tests/tokenizer/files/byte_level.json --decode --decode_special 0,15,1 | grep -x "<s>hell</s>"
// RUN: printf 'hell\n wor\n' | iree-tokenize --tokenizer=tests/tokenizer/files/byte_level.json --special=false --batch | tail -n 1 | grep -x 19
// RUN: iree-tokenize --tokenizer=tests/tokenizer/files/byte_level.json --info | grep -F '"model_type":"BPE","merge_count":7'
// RUN: iree-tokenize --tokenizer=tests/tokenizer/files/ranks.tiktoken --encoding=cl100k_base "into in" | grep -x "256,258,257"
// RUN: not iree-tokenize --tokenizer=tests/tokenizer/files/ranks.tiktoken "in" 2>&1 | grep "needs one of cl100k_base"
// RUN: iree-tokenize --tokenizer=tests/tokenizer/files/wordpiece.json "Unaffable, été 中" | grep -x "0,5,6,7,8,9,10,1"
// RUN: iree-tokenize --tokenizer=tests/tokenizer/files/fallback.json --special=false "ab é" | grep -x "5,8,5,9,10"
// RUN: iree-tokenize --tokenizer=tests/tokenizer/files/fallback.json --decode 5,8,5,9,10 | grep -x "ab é"
// RUN: iree-tokenize --tokenizer=tests/tokenizer/files/unigram.json --special=false "hell" | grep -x "6,7,7"
// RUN: echo '{"model":{"type":"BPE","vocab":{},"merges":[]},"normalizer":{"type":"Precompiled"}}' > %t && not iree-tokenize --tokenizer=%t x 2>&1 | grep "normalizer: Precompiled is not known"
// RUN: echo '{"model": {' > %t && not iree-tokenize --tokenizer=%t x 2>&1 | grep "JSON, line 2, column 1: a member's name is needed"
// RUN: iree-tokenize --tokenizer=tests/tokenizer/files/byte_level.json --json_string 'hell\u0020wor' | grep -x "0,15,19,1"
// RUN: echo '"hell\u0020wor"' | iree-tokenize --tokenizer=tests/tokenizer/files/byte_level.json --json_string | grep -x "0,15,19,1"
// RUN: not iree-tokenize --tokenizer=tests/tokenizer/files/byte_level.json --json_string 'hell\x' 2>&1 | grep "this is no escape"
// RUN: not iree-tokenize --tokenizer=tests/tokenizer/files/byte_level.json --json_string --decode 15 2>&1 | grep "json_string is for text"
// RUN: not iree-tokenize --tokenizer=tests/tokenizer/files/byte_level.json --stream hell 2>&1 | grep "flag 'stream' is IREE's and not here: iree-tokenize reads its input as a whole"
