// The writer's command tables.

#include "module/writer_internal.h"

module_table_t* module_writer_table(module_writer_t* writer, iree_string_view_t name, uint32_t param_count) {
  module_table_row_t row = {.name = module_writer_string(writer, name), .param_count = param_count};
  module_table_t* table = module_writer_allocate(writer, sizeof(*table));
  if (!table) return NULL;
  table->writer = writer;
  table->param_count = param_count;
  table->slots.row_size = sizeof(module_slot_t);
  table->literals.row_size = sizeof(uint64_t);
  table->commands.row_size = sizeof(module_command_t);
  table->bindings.row_size = sizeof(module_binding_row_t);
  table->pushes.row_size = sizeof(uint32_t);
  module_writer_push(writer, &writer->tables, 1, &table);
  if (!WRITER_OK(writer)) {
    iree_allocator_free(writer->allocator, table);
    return NULL;
  }
  table->index = module_writer_append(writer, MODULE_SECTION_TABLES, 1, &row);
  return table;
}

uint32_t module_table_index(const module_table_t* table) { return table ? table->index : 0; }

// The place of a slot in the hash table of slots: its number plus one is there, or 0.
static uint32_t* find_slot(module_table_t* table, uint32_t kind, uint32_t index) {
  uint64_t hash = ((uint64_t)kind << 32 | index) * 0x9e3779b97f4a7c15ull;
  for (uint32_t at = (uint32_t)(hash >> 32);; ++at) {
    uint32_t* place = &table->slot_places[at & (table->slot_place_count - 1)];
    const module_slot_t* slot = *place ? ROWS_AT(&table->slots, module_slot_t, *place - 1) : NULL;
    if (!slot || (slot->kind == kind && slot->index == index)) return place;
  }
}

static bool grow_slots(module_table_t* table) {
  uint32_t count = table->slot_place_count ? 2 * table->slot_place_count : 64;
  uint32_t* places = module_writer_allocate(table->writer, sizeof(*places) * count);
  if (!places) return false;
  iree_allocator_free(table->writer->allocator, table->slot_places);
  table->slot_places = places;
  table->slot_place_count = count;
  for (uint32_t i = 0; i < table->slots.count; ++i) {
    const module_slot_t* slot = ROWS_AT(&table->slots, module_slot_t, i);
    *find_slot(table, slot->kind, slot->index) = i + 1;
  }
  return true;
}

static uint32_t push_slot(module_table_t* table, uint32_t kind, uint32_t index, uint64_t length) {
  if (!table) return 0;
  if (2 * table->slots.count >= table->slot_place_count && !grow_slots(table)) return 0;
  uint32_t* place = find_slot(table, kind, index);
  if (*place) {
    module_slot_t* slot = ROWS_AT(&table->slots, module_slot_t, *place - 1);
    if (slot->length < length) slot->length = length;
    return *place - 1;
  }
  uint32_t number = module_writer_push(table->writer, &table->slots, 1, &(module_slot_t){kind, index, length});
  if (WRITER_OK(table->writer)) *place = number + 1;
  return number;
}

uint32_t module_table_argument_slot(module_table_t* table, uint32_t argument, uint64_t length) {
  return push_slot(table, MODULE_SLOT_ARGUMENT, argument, length);
}

uint32_t module_table_constant_slot(module_table_t* table, uint32_t constant) {
  if (!table || !WRITER_OK(table->writer)) return 0;
  rows_t* constants = &table->writer->sections[MODULE_SECTION_CONSTANTS];
  if (constant >= constants->count) {
    module_writer_fail(table->writer, iree_make_status(IREE_STATUS_INTERNAL, "no constant %u", constant));
    return 0;
  }
  return push_slot(table, MODULE_SLOT_CONSTANT, constant, ROWS_AT(constants, module_constant_t, constant)->length);
}

// Index of a value; equal literals among the latest share one.
static uint32_t push_value(module_table_t* table, module_value_t value) {
  if (value.is_param) {
    if (value.bits < table->param_count) return (uint32_t)value.bits;
    module_writer_fail(table->writer, iree_make_status(IREE_STATUS_INTERNAL, "table %u has no parameter %u",
                                                       table->index, (uint32_t)value.bits));
    return 0;
  }
  size_t count = table->literals.count, oldest = count > 64 ? count - 64 : 0;
  for (size_t i = count; i-- > oldest;) {
    if (*ROWS_AT(&table->literals, uint64_t, i) == value.bits) return table->param_count + (uint32_t)i;
  }
  return table->param_count + module_writer_push(table->writer, &table->literals, 1, &value.bits);
}

static void push_binding(module_table_t* table, const module_binding_t* binding) {
  module_binding_row_t row = {binding->slot, push_value(table, binding->offset), push_value(table, binding->length)};
  module_writer_push(table->writer, &table->bindings, 1, &row);
}

static void push_command(module_table_t* table, module_command_t* command, uint32_t binding_count,
                         const module_binding_t* bindings) {
  command->binding_first = (uint32_t)table->bindings.count;
  command->binding_count = binding_count;
  for (uint32_t i = 0; i < binding_count; ++i) push_binding(table, &bindings[i]);
  module_writer_push(table->writer, &table->commands, 1, command);
}

void module_table_dispatch(module_table_t* table, const module_dispatch_t* dispatch) {
  if (!table || !WRITER_OK(table->writer)) return;
  module_command_t command = {.kind = MODULE_COMMAND_DISPATCH,
                              .executable = dispatch->executable,
                              .entry = dispatch->entry,
                              .push_first = (uint32_t)table->pushes.count,
                              .push_count = dispatch->push_count};
  for (int i = 0; i < 3; ++i) command.values[i] = push_value(table, dispatch->workgroups[i]);
  for (uint32_t i = 0; i < dispatch->push_count; ++i) {
    uint32_t push = push_value(table, dispatch->pushes[i].value) << 1 | dispatch->pushes[i].high;
    module_writer_push(table->writer, &table->pushes, 1, &push);
  }
  push_command(table, &command, dispatch->binding_count, dispatch->bindings);
}

void module_table_copy(module_table_t* table, module_binding_t source, module_binding_t target) {
  if (!table || !WRITER_OK(table->writer)) return;
  module_command_t command = {.kind = MODULE_COMMAND_COPY};
  push_command(table, &command, 2, (module_binding_t[]){source, target});
}

void module_table_fill(module_table_t* table, module_binding_t target, module_value_t pattern,
                       uint32_t pattern_length) {
  if (!table || !WRITER_OK(table->writer)) return;
  module_command_t command = {
      .kind = MODULE_COMMAND_FILL, .entry = pattern_length, .values = {push_value(table, pattern)}};
  push_command(table, &command, 1, &target);
}

void module_table_update(module_table_t* table, uint32_t segment, module_value_t offset, module_binding_t target) {
  if (!table || !WRITER_OK(table->writer)) return;
  module_command_t command = {
      .kind = MODULE_COMMAND_UPDATE, .executable = segment, .values = {push_value(table, offset)}};
  push_command(table, &command, 1, &target);
}

void module_table_barrier(module_table_t* table) {
  if (!table || !WRITER_OK(table->writer)) return;
  module_command_t command = {.kind = MODULE_COMMAND_BARRIER};
  push_command(table, &command, 0, NULL);
}

void module_table_location(module_table_t* table, iree_string_view_t file, uint32_t line, uint32_t column) {
  if (!table || !WRITER_OK(table->writer)) return;
  module_location_t row = {.kind = MODULE_LOCATION_TABLE,
                           .index = table->index,
                           .position = (uint32_t)table->commands.count,
                           .file = module_writer_file_name(table->writer, file),
                           .line = line,
                           .column = column};
  module_writer_push(table->writer, &table->writer->locations, 1, &row);
}

// Ranges inside the table become ranges of the sections.
void module_writer_finish_table(module_table_t* table) {
  module_writer_t* writer = table->writer;
  module_table_row_t* row = ROWS_AT(&writer->sections[MODULE_SECTION_TABLES], module_table_row_t, table->index);
  if (!WRITER_OK(writer) || row->command_count) return;
  uint32_t bindings =
      module_writer_append(writer, MODULE_SECTION_BINDINGS, table->bindings.count, table->bindings.data);
  uint32_t pushes = module_writer_append(writer, MODULE_SECTION_PUSHES, table->pushes.count, table->pushes.data);
  for (size_t i = 0; i < table->commands.count; ++i) {
    module_command_t* command = ROWS_AT(&table->commands, module_command_t, i);
    command->binding_first += bindings;
    command->push_first += pushes;
  }
  row->slot_count = (uint32_t)table->slots.count;
  row->slot_first = module_writer_append(writer, MODULE_SECTION_SLOTS, table->slots.count, table->slots.data);
  row->literal_count = (uint32_t)table->literals.count;
  row->literal_first =
      module_writer_append(writer, MODULE_SECTION_LITERALS, table->literals.count, table->literals.data);
  row->command_count = (uint32_t)table->commands.count;
  row->command_first =
      module_writer_append(writer, MODULE_SECTION_COMMANDS, table->commands.count, table->commands.data);
}

void module_writer_free_table(module_table_t* table) {
  iree_allocator_t allocator = table->writer->allocator;
  rows_finish(&table->slots, allocator);
  iree_allocator_free(allocator, table->slot_places);
  rows_finish(&table->literals, allocator);
  rows_finish(&table->commands, allocator);
  rows_finish(&table->bindings, allocator);
  rows_finish(&table->pushes, allocator);
  iree_allocator_free(allocator, table);
}
