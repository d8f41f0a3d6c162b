// Modules as text: what iree-dump-module prints.
#ifndef MODULE_DUMP_H_
#define MODULE_DUMP_H_

#include <stdio.h>

#include "module/image.h"

typedef struct module_dump_options_t {
  bool offsets;                 // code positions before instructions
  iree_string_view_t function;  // only this one, by name or number; empty: all
} module_dump_options_t;

// Names, types, attributes, sizes. `archive_size` is of the file.
void module_dump_metadata(const module_image_t* image, size_t archive_size, FILE* file);

// Globals, devices, executables, command tables and functions. False when the wanted function does not exist.
bool module_dump_disassembly(const module_image_t* image, module_dump_options_t options, FILE* file);

// All tables as one JSON object.
void module_dump_json(const module_image_t* image, bool pretty, FILE* file);

// One function or one table, as in the disassembly.
void module_dump_function(const module_image_t* image, uint32_t function, bool offsets, FILE* file);
void module_dump_table(const module_image_t* image, uint32_t table, FILE* file);

#endif  // MODULE_DUMP_H_
