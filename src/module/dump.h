// Modules as text: what iree-dump-module prints.
#ifndef MODULE_DUMP_H_
#define MODULE_DUMP_H_

#include <stdio.h>

#include "module/image.h"

// Names, types, attributes, sizes. `archive_size` is of the file.
void module_dump_metadata(const module_image_t* image, size_t archive_size, FILE* file);

// Globals, devices, executables, command tables and functions; with the positions of instructions when asked for.
void module_dump_disassembly(const module_image_t* image, bool offsets, FILE* file);

// All tables as one JSON object.
void module_dump_json(const module_image_t* image, bool pretty, FILE* file);

// The function of this export, name or number; false when there is none.
bool module_dump_find_function(const module_image_t* image, iree_string_view_t name, uint32_t* out_function);

// One function or one table, as in the disassembly.
void module_dump_function(const module_image_t* image, uint32_t function, bool offsets, FILE* file);
void module_dump_table(const module_image_t* image, uint32_t table, FILE* file);

#endif  // MODULE_DUMP_H_
