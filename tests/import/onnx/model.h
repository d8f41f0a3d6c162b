// Builds small ONNX models in memory for tests: protobuf messages as growing strings.
#ifndef IREE_C_TESTS_IMPORT_ONNX_MODEL_H_
#define IREE_C_TESTS_IMPORT_ONNX_MODEL_H_

#include <stdint.h>
#include <string.h>

#include "base/text.h"

static inline void pb_varint(text_t* m, uint64_t value) {
  for (; value >= 0x80; value >>= 7) text_append(m, (char[]){(char)(value | 0x80)}, 1);
  text_append(m, (char[]){(char)value}, 1);
}
static inline void pb_int(text_t* m, int field, int64_t value) {
  pb_varint(m, (uint64_t)field << 3);
  pb_varint(m, (uint64_t)value);
}
static inline void pb_bytes(text_t* m, int field, const void* data, size_t size) {
  pb_varint(m, (uint64_t)field << 3 | 2);
  pb_varint(m, size);
  text_append(m, data, size);
}
static inline void pb_string(text_t* m, int field, const char* text) { pb_bytes(m, field, text, strlen(text)); }
static inline void pb_float(text_t* m, int field, float value) {
  pb_varint(m, (uint64_t)field << 3 | 5);
  text_append(m, (const char*)&value, 4);
}
// Moves `sub` into `m`.
static inline void pb_message(text_t* m, int field, text_t* sub) {
  pb_bytes(m, field, sub->data ? sub->data : "", sub->size);
  text_finish(sub);
  *sub = (text_t){0};
}

// A value with an element type and dims; -1 is a size known at run time only.
static inline text_t model_value(const char* name, int type, int rank, const int64_t* dims) {
  text_t shape = {0}, tensor = {0}, wrapped = {0}, value = {0};
  for (int i = 0; i < rank; ++i) {
    text_t dim = {0};
    if (dims[i] >= 0)
      pb_int(&dim, 1, dims[i]);
    else
      pb_string(&dim, 2, "n");
    pb_message(&shape, 1, &dim);
  }
  pb_int(&tensor, 1, type);
  pb_message(&tensor, 2, &shape);
  pb_message(&wrapped, 1, &tensor);
  pb_string(&value, 1, name);
  pb_message(&value, 2, &wrapped);
  return value;
}

// A tensor with raw data.
static inline text_t model_tensor(const char* name, int type, int rank, const int64_t* dims, const void* data,
                                  size_t size) {
  text_t tensor = {0};
  for (int i = 0; i < rank; ++i) pb_int(&tensor, 1, dims[i]);
  pb_int(&tensor, 2, type);
  pb_string(&tensor, 8, name);
  if (data) pb_bytes(&tensor, 9, data, size);
  return tensor;
}

// "Op a b -> c": names separated by spaces; "_" is the empty name.
static inline text_t model_node(const char* spec) {
  text_t node = {0};
  char copy[256], *save = NULL;
  int field = 4;
  strncpy(copy, spec, sizeof(copy) - 1);
  copy[sizeof(copy) - 1] = 0;
  for (char* word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
    if (strcmp(word, "->") == 0) {
      field = 2;
      continue;
    }
    pb_string(&node, field, strcmp(word, "_") == 0 ? "" : word);
    if (field == 4) field = 1;
  }
  return node;
}

static inline void node_int(text_t* node, const char* name, int64_t value) {
  text_t attr = {0};
  pb_string(&attr, 1, name);
  pb_int(&attr, 3, value);
  pb_int(&attr, 20, 2);
  pb_message(node, 5, &attr);
}
static inline void node_ints(text_t* node, const char* name, int count, const int64_t* values) {
  text_t attr = {0};
  pb_string(&attr, 1, name);
  for (int i = 0; i < count; ++i) pb_int(&attr, 8, values[i]);
  pb_int(&attr, 20, 7);
  pb_message(node, 5, &attr);
}
static inline void node_graph(text_t* node, const char* name, text_t* graph) {
  text_t attr = {0};
  pb_string(&attr, 1, name);
  pb_message(&attr, 6, graph);
  pb_int(&attr, 20, 5);
  pb_message(node, 5, &attr);
}

enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };

// A model around a graph.
static inline text_t model_finish(text_t* graph, int64_t opset) {
  text_t model = {0}, import = {0};
  pb_int(&import, 2, opset);
  pb_int(&model, 1, 8);
  pb_string(&model, 2, "test");
  pb_message(&model, 7, graph);
  pb_message(&model, 8, &import);
  return model;
}

#endif  // IREE_C_TESTS_IMPORT_ONNX_MODEL_H_
