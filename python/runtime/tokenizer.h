// What tokenizers and their streams share.
#ifndef IREE_C_PYTHON_RUNTIME_TOKENIZER_H_
#define IREE_C_PYTHON_RUNTIME_TOKENIZER_H_

#include "binding.h"
#include "iree/tokenizer/tokenizer.h"

iree_tokenizer_t* tokenizer_of(PyObject* tokenizer);
// The sequence's numbers, for the caller to free; NULL with an exception.
iree_tokenizer_token_id_t* tokenizer_read_ids(PyObject* sequence, iree_host_size_t* out_count);

// tokenizer_stream.c
PyObject* tokenizer_encode_stream(PyObject* tokenizer, PyObject* args, PyObject* kwargs);
PyObject* tokenizer_decode_stream(PyObject* tokenizer, PyObject* args, PyObject* kwargs);
bool tokenizer_stream_add(PyObject* module);

#endif  // IREE_C_PYTHON_RUNTIME_TOKENIZER_H_
