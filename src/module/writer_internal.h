// What the writer's files share.
#ifndef MODULE_WRITER_INTERNAL_H_
#define MODULE_WRITER_INTERNAL_H_

#include "module/rows.h"
#include "module/writer.h"

// An archive entry besides the program: a segment's data.
typedef struct writer_entry_t {
  char* name;
  iree_const_byte_span_t data;
  archive_source_t source;  // instead of data where it has a `read`
  uint32_t alignment;
} writer_entry_t;

struct module_writer_t {
  iree_allocator_t allocator;
  iree_status_t status;  // first error
  uint32_t threads;
  void (*written)(void* user, uint64_t length);
  void* user;
  module_header_t header;
  module_devices_t devices;
  rows_t sections[MODULE_SECTION_COUNT];
  rows_t entries;          // writer_entry_t
  rows_t entry_names;      // bool, by string: whether an entry is called so
  rows_t functions;        // module_function_t*
  rows_t tables;           // module_table_t*
  rows_t locations;        // module_location_t
  rows_t file_names;       // char
  uint32_t* string_slots;  // hash table of string rows, 0: free
  uint32_t string_slot_count;
};

struct module_function_t {
  module_writer_t* writer;
  uint32_t index;
  rows_t arguments;  // module_reg_t
  rows_t code;       // vm_word_t
  rows_t types;      // uint8_t: of value registers
  uint32_t ref_count;
  rows_t labels;  // uint32_t: word offset, MODULE_NONE until bound
  rows_t fixups;  // fixup_t
  uint32_t file, line, column;
};

struct module_table_t {
  module_writer_t* writer;
  uint32_t index;
  uint32_t param_count;
  rows_t slots, literals, commands, bindings, pushes;
  uint32_t* slot_places;  // hash table of slots: number plus one, 0: free
  uint32_t slot_place_count;
};

#define WRITER_OK(writer) iree_status_is_ok((writer)->status)

// Keeps the first error.
void module_writer_fail(module_writer_t* writer, iree_status_t status);

// Appends rows to a section; the index of the first.
uint32_t module_writer_append(module_writer_t* writer, module_section_kind_t section, size_t count, const void* rows);

// Appends rows to any array of the writer's.
uint32_t module_writer_push(module_writer_t* writer, rows_t* rows, size_t count, const void* source);

// Zeroed memory that lives as long as the writer's arrays do; NULL after an error.
void* module_writer_allocate(module_writer_t* writer, size_t size);

uint32_t module_writer_count(const module_writer_t* writer, module_section_kind_t section);

// Offset of a file name for source locations.
uint32_t module_writer_file_name(module_writer_t* writer, iree_string_view_t file);

// Ends a function or a table: its rows go to the sections.
void module_writer_finish_function(module_function_t* function);
void module_writer_finish_table(module_table_t* table);
void module_writer_free_function(module_function_t* function);
void module_writer_free_table(module_table_t* table);

#endif  // MODULE_WRITER_INTERNAL_H_
