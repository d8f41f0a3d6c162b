// Traces of instructions: noting them, and writing what there is; see trace.h.
#include "softgpu/trace.h"

#include <stdio.h>
#include <stdlib.h>

#include "softgpu/lines.h"

enum { SIMDS = 4, MODELLED_STEPS = 1 << 20 };  // of a dispatch that is counted, not traced

//===----------------------------------------------------------------------------------------------------------------===
// Which waves
//===----------------------------------------------------------------------------------------------------------------===

static uint32_t least(uint64_t a, uint64_t b) { return (uint32_t)(a < b ? a : b); }

static bool start(launch_t* launch, const engine_trace_t* wanted) {
  uint32_t items = launch->size[0] * launch->size[1] * launch->size[2];
  uint32_t waves = (items + launch->lanes - 1) / launch->lanes;
  uint64_t groups = (uint64_t)launch->groups[0] * launch->groups[1] * launch->groups[2];
  if (!groups || !waves) return true;
  uint32_t given = launch->engine->options.units, units = given ? given : launch->target->units;
  if (launch->target->major > 9) units /= 2;
  uint32_t busy = least(units ? units : 1, groups), first = wanted->unit % busy;
  uint32_t held = SIMDS * occupancy_of(launch) / waves;
  uint32_t count = least(held ? held : 1, (groups - first + busy - 1) / busy);
  trace_launch_t* trace = calloc(1, sizeof(*trace) + (size_t)count * waves * sizeof(trace->waves[0]));
  if (!trace) return false;
  *trace = (trace_launch_t){.wanted = *wanted,
                            .first = first,
                            .stride = busy,
                            .group_count = count,
                            .waves_of_group = waves,
                            .wave_count = count * waves};
  // A part of the room is for the table of instructions with their texts.
  uint64_t room = wanted->buffer ? wanted->size / 4 * 3 / sizeof(amd_trace_event_t) : MODELLED_STEPS;
  uint64_t events = room / trace->wave_count;
  for (uint32_t i = 0; i < trace->wave_count; ++i) {
    trace->waves[i].record.simd = i % SIMDS;
    trace->waves[i].most = least(events, UINT32_MAX);
  }
  launch->trace = trace;
  return true;
}

bool trace_start_launch(launch_t* launch) {
  engine_t* engine = launch->engine;
  pthread_mutex_lock(&engine->trace_lock);
  engine_trace_t wanted = engine->trace;
  pthread_mutex_unlock(&engine->trace_lock);
  return !(wanted.buffer || launch->stalls) || start(launch, &wanted);
}

static void free_launch(launch_t* launch) {
  for (uint32_t i = 0; i < launch->trace->wave_count; ++i) {
    free(launch->trace->waves[i].steps);
    free(launch->trace->waves[i].events);
  }
  free(launch->trace);
  launch->trace = NULL;
}

void trace_start_group(group_t* group, uint64_t number) {
  trace_launch_t* trace = group->launch->trace;
  if (number < trace->first || (number - trace->first) % trace->stride) return;
  uint64_t index = (number - trace->first) / trace->stride;
  if (index >= trace->group_count) return;
  for (uint32_t i = 0; i < group->wave_count; ++i) {
    trace_wave_t* wave = &trace->waves[index * trace->waves_of_group + i];
    memcpy(wave->record.workgroup, group->id, sizeof(group->id));
    wave->record.index = i;
    group->waves[i].trace = wave;
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Steps
//===----------------------------------------------------------------------------------------------------------------===

static uint64_t bytes_of(const engine_counters_t* c) {
  return c->bytes_read + c->bytes_written + c->lds_read + c->lds_written + c->scratch_read + c->scratch_written;
}

void trace_before(wave_t* w) {
  w->trace->bytes = bytes_of(w->group->counters);
  w->trace->conflicts = w->group->counters->lds_conflicts;
}

static bool grow(trace_wave_t* wave) {
  uint32_t capacity = wave->capacity ? wave->capacity * 2 : 256;
  if (capacity > wave->most) capacity = wave->most;
  trace_step_t* steps =
      capacity > wave->capacity ? realloc(wave->steps, (size_t)capacity * sizeof(*wave->steps)) : NULL;
  if (!steps) return false;
  wave->steps = steps, wave->capacity = capacity;
  return true;
}

void trace_after(wave_t* w, const inst_t* inst) {
  trace_wave_t* wave = w->trace;
  if (wave->is_cut) return;
  if (wave->count == wave->capacity && !grow(wave)) {
    wave->is_cut = true;
    return;
  }
  const engine_counters_t* c = w->group->counters;
  wave->steps[wave->count++] = (trace_step_t){.inst = inst,
                                              .bytes = (uint32_t)(bytes_of(c) - wave->bytes),
                                              .conflicts = (uint32_t)(c->lds_conflicts - wave->conflicts)};
}

//===----------------------------------------------------------------------------------------------------------------===
// The table of instructions
//===----------------------------------------------------------------------------------------------------------------===

typedef struct table_t {
  const inst_t** insts;  // by address, each once
  uint32_t count;
  amd_trace_instruction_t* rows;
  text_t text;
} table_t;

static int compare(const void* a, const void* b) {
  uint64_t left = (*(const inst_t* const*)a)->address, right = (*(const inst_t* const*)b)->address;
  return left < right ? -1 : left > right;
}

// Waves execute much the same: each adds to the others' what they do not have.
static bool add_wave(table_t* table, const trace_wave_t* wave) {
  const inst_t** insts = realloc(table->insts, ((size_t)table->count + wave->count) * sizeof(*insts) + 1);
  if (!insts) return false;
  table->insts = insts;
  uint32_t count = table->count;
  for (uint32_t i = 0; i < wave->count; ++i) insts[count++] = wave->steps[i].inst;
  qsort(insts, count, sizeof(*insts), compare);
  table->count = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (!table->count || insts[table->count - 1] != insts[i]) insts[table->count++] = insts[i];
  }
  return true;
}

static uint32_t category_of(const inst_t* inst) {
  static const uint8_t categories[] = {
      [INST_CLASS_SALU] = AMD_TRACE_CATEGORY_SALU,       [INST_CLASS_BRANCH] = AMD_TRACE_CATEGORY_JUMP,
      [INST_CLASS_SMEM] = AMD_TRACE_CATEGORY_SMEM,       [INST_CLASS_VALU] = AMD_TRACE_CATEGORY_VALU,
      [INST_CLASS_MATRIX] = AMD_TRACE_CATEGORY_VALU,     [INST_CLASS_LDS] = AMD_TRACE_CATEGORY_LDS,
      [INST_CLASS_LOAD] = AMD_TRACE_CATEGORY_VMEM,       [INST_CLASS_STORE] = AMD_TRACE_CATEGORY_VMEM,
      [INST_CLASS_FLAT] = AMD_TRACE_CATEGORY_FLAT,       [INST_CLASS_NOTHING] = AMD_TRACE_CATEGORY_NONE,
      [INST_CLASS_WAIT] = AMD_TRACE_CATEGORY_IMMED,      [INST_CLASS_BARRIER] = AMD_TRACE_CATEGORY_IMMED,
      [INST_CLASS_MESSAGE] = AMD_TRACE_CATEGORY_MESSAGE, [INST_CLASS_HINT] = AMD_TRACE_CATEGORY_IMMED,
  };
  return categories[inst->row->klass];
}

static uint32_t text_of(table_t* table, const char* text, uint32_t* out_length) {
  uint32_t at = (uint32_t)table->text.size;
  while (*text == ' ' || *text == '\t') ++text;
  *out_length = (uint32_t)strlen(text);
  for (const char* c = text; *c; ++c) text_append(&table->text, *c == '\t' ? " " : c, 1);
  return at;
}

static void describe(const launch_t* launch, table_t* table, uint32_t index) {
  engine_t* engine = launch->engine;
  const engine_trace_t* wanted = &launch->trace->wanted;
  const inst_t* inst = table->insts[index];
  amd_trace_instruction_t* row = &table->rows[index];
  char text[512] = "", place[320] = "";
  lines_place_t line;
  *row = (amd_trace_instruction_t){.address = inst->address, .category = category_of(inst)};
  if (inst->address - wanted->code_base < wanted->code_size) {
    row->address -= wanted->code_base;
    row->code_object = wanted->code_object;
  }
  pthread_mutex_lock(&engine->lock);
  code_t* code = code_find(engine, inst->address);
  if (code) {
    size_t left = code->base + code->size - inst->address;
    disassemble(engine, launch->lanes, (const uint8_t*)inst->address, left, inst->address, text, sizeof(text));
  }
  if (code && code->is_known && lines_find(code->given.elf, code->given.elf_size, inst->address - code->base, &line)) {
    snprintf(place, sizeof(place), "%s:%u", line.file, line.line);
  }
  pthread_mutex_unlock(&engine->lock);
  row->text = text_of(table, text, &row->text_length);
  row->place = text_of(table, place, &row->place_length);
}

static bool make_table(const launch_t* launch, table_t* table) {
  trace_launch_t* trace = launch->trace;
  for (uint32_t i = 0; i < trace->wave_count; ++i) {
    if (!add_wave(table, &trace->waves[i])) return false;
  }
  table->rows = calloc((size_t)table->count + 1, sizeof(*table->rows));
  if (!table->rows) return false;
  for (uint32_t i = 0; i < table->count; ++i) describe(launch, table, i);
  for (uint32_t i = 0; i < trace->wave_count; ++i) {
    trace_wave_t* wave = &trace->waves[i];
    for (uint32_t k = 0; k < wave->count; ++k) {
      const inst_t** at = bsearch(&wave->steps[k].inst, table->insts, table->count, sizeof(*table->insts), compare);
      wave->events[k].instruction = (uint32_t)(at - table->insts);
    }
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Writing
//===----------------------------------------------------------------------------------------------------------------===

static void put(uint8_t** at, const void* data, size_t size) {
  if (size) memcpy(*at, data, size);
  *at += size;
}

static bool is_told(const trace_launch_t* trace, const trace_wave_t* wave) {
  return trace->wanted.simds >> wave->record.simd & 1;
}

static amd_trace_head_t make_head(const launch_t* launch, const table_t* table, uint64_t cycles) {
  const trace_launch_t* trace = launch->trace;
  amd_trace_head_t head = {.magic = AMD_TRACE_MAGIC,
                           .cycles = cycles,
                           .lanes = launch->lanes,
                           .instruction_count = table->count,
                           .text_size = (uint32_t)table->text.size};
  snprintf(head.target, sizeof(head.target), "%s", launch->target->name);
  for (uint32_t i = 0; i < trace->wave_count; ++i) {
    if (!is_told(trace, &trace->waves[i])) continue;
    ++head.wave_count;
    head.event_count += trace->waves[i].count;
    if (trace->waves[i].is_cut) head.flags |= AMD_TRACE_CUT;
  }
  head.size = sizeof(head) + head.instruction_count * (uint64_t)sizeof(amd_trace_instruction_t) +
              head.wave_count * (uint64_t)sizeof(amd_trace_wave_t) +
              head.event_count * (uint64_t)sizeof(amd_trace_event_t) + head.text_size;
  return head;
}

static void write_trace(const trace_launch_t* trace, const amd_trace_head_t* head, const table_t* table, uint8_t* at) {
  uint32_t event = 0;
  put(&at, head, sizeof(*head));
  put(&at, table->rows, table->count * sizeof(*table->rows));
  for (uint32_t i = 0; i < trace->wave_count; ++i) {
    if (!is_told(trace, &trace->waves[i])) continue;
    amd_trace_wave_t record = trace->waves[i].record;
    record.first_event = event, record.event_count = trace->waves[i].count;
    event += record.event_count;
    put(&at, &record, sizeof(record));
  }
  for (uint32_t i = 0; i < trace->wave_count; ++i) {
    if (is_told(trace, &trace->waves[i]))
      put(&at, trace->waves[i].events, trace->waves[i].count * sizeof(amd_trace_event_t));
  }
  put(&at, table->text.data, table->text.size);
}

// NULL head: there is nothing to be written.
static void append(const launch_t* launch, const amd_trace_head_t* head, const table_t* table) {
  engine_t* engine = launch->engine;
  pthread_mutex_lock(&engine->trace_lock);
  // The trace may have ended meanwhile.
  if (engine->trace.buffer && engine->trace.buffer == launch->trace->wanted.buffer) {
    engine_trace_head_t* buffer = (engine_trace_head_t*)engine->trace.buffer;
    uint64_t room = engine->trace.size - sizeof(*buffer) - buffer->used;
    if (head && head->size <= room) {
      write_trace(launch->trace, head, table, (uint8_t*)(buffer + 1) + buffer->used);
      buffer->used += head->size;
    } else {
      ++buffer->lost;
    }
  }
  pthread_mutex_unlock(&engine->trace_lock);
}

static bool make_events(trace_launch_t* trace) {
  for (uint32_t i = 0; i < trace->wave_count; ++i) {
    trace_wave_t* wave = &trace->waves[i];
    wave->events = calloc((size_t)wave->count + 1, sizeof(*wave->events));
    if (!wave->events) return false;
  }
  return true;
}

// What the modelled waves stood for, as if all of the dispatch had done as they did.
static void add_stalls(const launch_t* launch) {
  const trace_launch_t* trace = launch->trace;
  uint64_t all = (uint64_t)launch->groups[0] * launch->groups[1] * launch->groups[2] * trace->waves_of_group;
  uint64_t stalls[AMD_TRACE_CAUSES] = {0}, cycles = 0;
  for (uint32_t i = 0; i < trace->wave_count; ++i) {
    const trace_wave_t* wave = &trace->waves[i];
    for (uint32_t k = 0; k < wave->count; ++k) stalls[wave->events[k].cause] += wave->events[k].stall;
    cycles += wave->record.end - wave->record.begin;
  }
  engine_counters_t* counters = &launch->engine->counters;
  pthread_mutex_lock(&launch->engine->counter_lock);
  for (uint32_t i = 0; i < AMD_TRACE_CAUSES; ++i) counters->stalls[i] += stalls[i] * all / trace->wave_count;
  counters->wave_cycles += cycles * all / trace->wave_count;
  pthread_mutex_unlock(&launch->engine->counter_lock);
}

void trace_end_launch(launch_t* launch, bool is_whole) {
  table_t table = {0};
  uint64_t cycles = 0;
  bool is_modelled = is_whole && make_events(launch->trace) && trace_model(launch, launch->trace, &cycles);
  if (is_modelled && launch->stalls) add_stalls(launch);
  if (launch->trace->wanted.buffer && is_modelled && make_table(launch, &table)) {
    amd_trace_head_t head = make_head(launch, &table, cycles);
    append(launch, &head, &table);
  } else {
    append(launch, NULL, &table);
  }
  text_finish(&table.text);
  free(table.rows);
  free(table.insts);
  free_launch(launch);
}
