// Rows of JSON lines: cells with names and values of their own types.
//
//   PROFILE_ROW(out, "device", CELL_U("queue_count", n), CELL_S("name", name));
//
// Reports begin a row with its "type"; exports with the version of the schema, its "record_type" and where it is from,
// and have more cells of some records.
#ifndef TOOLING_PROFILE_ROWS_H_
#define TOOLING_PROFILE_ROWS_H_

#include <stdio.h>

#include "iree/base/api.h"

typedef struct profile_cell_t {
  const char* name;
  char kind;
  uint8_t digits;
  union {
    uint64_t u;
    int64_t i;
    double f;
    iree_string_view_t s;  // null without data
    const uint32_t* triple;
  };
} profile_cell_t;

#define CELL_U(cell_name, value) {.name = cell_name, .kind = 'u', .u = (value)}
#define CELL_I(cell_name, value) {.name = cell_name, .kind = 'i', .i = (value)}
#define CELL_B(cell_name, value) {.name = cell_name, .kind = 'b', .u = (value) ? 1 : 0}
#define CELL_F(cell_name, value, digit_count) {.name = cell_name, .kind = 'f', .digits = digit_count, .f = (value)}
#define CELL_S(cell_name, value) {.name = cell_name, .kind = 's', .s = (value)}
#define CELL_C(cell_name, value) {.name = cell_name, .kind = 's', .s = iree_make_cstring_view(value)}
#define CELL_3(cell_name, value) {.name = cell_name, .kind = '3', .triple = (value)}
// Cells that are there if …
#define CELL_U_IF(condition, cell_name, value) {.name = cell_name, .kind = (condition) ? 'u' : 0, .u = (value)}
#define CELL_S_IF(condition, cell_name, value) {.name = cell_name, .kind = (condition) ? 's' : 0, .s = (value)}
#define CELL_C_IF(condition, cell_name, value) CELL_S_IF(condition, cell_name, iree_make_cstring_view(value))
#define CELL_3_IF(condition, cell_name, value) {.name = cell_name, .kind = (condition) ? '3' : 0, .triple = (value)}

// Where rows go.
typedef struct profile_out_t {
  FILE* file;
  bool is_export;
  iree_host_size_t source;  // of an export: the record of the file
} profile_out_t;
enum { PROFILE_EXPORT_VERSION = 15 };

// A row, closed and ended, or left open for more cells.
void profile_row_print(const profile_out_t* out, const char* type, bool is_closed, const profile_cell_t* cells,
                       size_t count);
#define PROFILE_ROW_CELLS_(out, type, is_closed, ...)                                  \
  profile_row_print((out), (type), (is_closed), (const profile_cell_t[]){__VA_ARGS__}, \
                    sizeof((const profile_cell_t[]){__VA_ARGS__}) / sizeof(profile_cell_t))
#define PROFILE_ROW(out, type, ...) PROFILE_ROW_CELLS_(out, type, true, __VA_ARGS__)
#define PROFILE_ROW_OPEN(out, type, ...) PROFILE_ROW_CELLS_(out, type, false, __VA_ARGS__)

// A string with quotes, as JSON has it.
void profile_json_string(FILE* file, iree_string_view_t text);

#endif  // TOOLING_PROFILE_ROWS_H_
