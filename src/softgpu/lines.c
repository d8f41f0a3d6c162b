// DWARF line programs. Source: DWARF 5 standard, section 6.2.
#include "softgpu/lines.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

// A range of bytes that is read from front to back; past its end everything is zero and `bad` is set.
typedef struct reader_t {
  const uint8_t *at, *end;
  bool bad;
} reader_t;

static uint64_t read_bytes(reader_t* r, uint32_t count) {
  uint64_t value = 0;
  if ((size_t)(r->end - r->at) < count) return r->bad = true, r->at = r->end, 0;
  memcpy(&value, r->at, count);
  r->at += count;
  return value;
}

static uint64_t read_uleb(reader_t* r) {
  uint64_t value = 0;
  for (uint32_t shift = 0;; shift += 7) {
    uint64_t byte = read_bytes(r, 1);
    if (shift < 64) value |= (byte & 127) << shift;
    if (!(byte & 128) || r->bad) return value;
  }
}

static int64_t read_sleb(reader_t* r) {
  uint64_t value = 0;
  for (uint32_t shift = 0;;) {
    uint64_t byte = read_bytes(r, 1);
    if (shift < 64) value |= (byte & 127) << shift;
    shift += 7;
    if (byte & 128 && !r->bad) continue;
    if (byte & 64 && shift < 64) value |= ~UINT64_C(0) << shift;
    return (int64_t)value;
  }
}

static const char* read_string(reader_t* r) {
  const void* zero = memchr(r->at, 0, (size_t)(r->end - r->at));
  if (!zero) return r->bad = true, r->at = r->end, "";
  const char* text = (const char*)r->at;
  r->at = (const uint8_t*)zero + 1;
  return text;
}

typedef struct sections_t {
  reader_t line, line_strings, strings;
} sections_t;

static bool find_sections(const uint8_t* elf, size_t size, sections_t* out) {
  Elf64_Ehdr header;
  memset(out, 0, sizeof(*out));
  if (size < sizeof(header)) return false;
  memcpy(&header, elf, sizeof(header));
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > size ||
      header.e_shnum > (size - header.e_shoff) / sizeof(Elf64_Shdr) || header.e_shstrndx >= header.e_shnum) {
    return false;
  }
  Elf64_Shdr names, section;
  memcpy(&names, elf + header.e_shoff + header.e_shstrndx * sizeof(names), sizeof(names));
  if (names.sh_offset > size || !names.sh_size || names.sh_size > size - names.sh_offset) return false;
  const char* text = (const char*)elf + names.sh_offset;
  if (text[names.sh_size - 1]) return false;
  for (uint32_t i = 0; i < header.e_shnum; ++i) {
    memcpy(&section, elf + header.e_shoff + i * sizeof(section), sizeof(section));
    if (section.sh_type == SHT_NOBITS || section.sh_name >= names.sh_size || section.sh_offset > size ||
        section.sh_size > size - section.sh_offset) {
      continue;
    }
    const char* name = text + section.sh_name;
    reader_t bytes = {elf + section.sh_offset, elf + section.sh_offset + section.sh_size, false};
    if (strcmp(name, ".debug_line") == 0) out->line = bytes;
    if (strcmp(name, ".debug_line_str") == 0) out->line_strings = bytes;
    if (strcmp(name, ".debug_str") == 0) out->strings = bytes;
  }
  return out->line.at != NULL;
}

static const char* string_at(reader_t section, uint64_t offset) {
  if (!section.at || offset >= (uint64_t)(section.end - section.at)) return "";
  section.at += offset;
  return read_string(&section);
}

// One attribute of a directory or file entry: its text, or its number.
static const char* read_form(reader_t* r, const sections_t* s, uint64_t form, uint64_t* number) {
  *number = 0;
  switch (form) {
    case 0x08:
      return read_string(r);
    case 0x1f:
      return string_at(s->line_strings, read_bytes(r, 4));
    case 0x0e:
      return string_at(s->strings, read_bytes(r, 4));
    case 0x0b:
      return *number = read_bytes(r, 1), NULL;
    case 0x05:
      return *number = read_bytes(r, 2), NULL;
    case 0x06:
      return *number = read_bytes(r, 4), NULL;
    case 0x07:
      return *number = read_bytes(r, 8), NULL;
    case 0x0f:
      return *number = read_uleb(r), NULL;
    case 0x1e:
      return read_bytes(r, 8), read_bytes(r, 8), NULL;
    default:
      return r->bad = true, NULL;
  }
}

// Reads a table of entries (version 5); `wanted`'s name goes into `out`.
static void read_entries(reader_t* r, const sections_t* s, uint64_t wanted, char* out, size_t capacity) {
  uint64_t formats[2 * 16], format_count = read_bytes(r, 1);
  if (format_count > 16) r->bad = true;
  for (uint64_t i = 0; i < 2 * format_count && !r->bad; ++i) formats[i] = read_uleb(r);
  uint64_t count = read_uleb(r);
  for (uint64_t entry = 0; entry < count && !r->bad; ++entry) {
    for (uint64_t i = 0; i < format_count; ++i) {
      uint64_t number;
      const char* text = read_form(r, s, formats[2 * i + 1], &number);
      if (formats[2 * i] == 1 && text && entry == wanted) snprintf(out, capacity, "%s", text);
    }
  }
}

// The same of version 4: directories, then files, each list ended by an empty name; files count from 1.
static void read_old_entries(reader_t* r, uint64_t wanted, char* out, size_t capacity) {
  while (!r->bad && *read_string(r)) {
  }
  for (uint64_t entry = 1; !r->bad; ++entry) {
    const char* name = read_string(r);
    if (!*name) return;
    for (int i = 0; i < 3; ++i) read_uleb(r);
    if (entry == wanted) snprintf(out, capacity, "%s", name);
  }
}

typedef struct unit_t {
  uint32_t version, minimum_size, line_range, opcode_base;
  int32_t line_base;
  uint8_t lengths[256];
  reader_t tables, program;
} unit_t;

static bool read_unit(reader_t* section, unit_t* unit) {
  uint64_t length = read_bytes(section, 4);
  bool wide = length == 0xffffffff;
  if (wide || section->bad || length > (uint64_t)(section->end - section->at)) return false;
  reader_t r = {section->at, section->at + length, false};
  section->at = r.end;
  unit->version = (uint32_t)read_bytes(&r, 2);
  if (unit->version >= 5) read_bytes(&r, 2);
  uint64_t header = read_bytes(&r, 4);
  if (unit->version < 4 || unit->version > 5 || header > (uint64_t)(r.end - r.at))
    return r.at = r.end, unit->version = 0, true;
  unit->program = (reader_t){r.at + header, r.end, false};
  unit->minimum_size = (uint32_t)read_bytes(&r, 1);
  read_bytes(&r, 2);
  unit->line_base = (int8_t)read_bytes(&r, 1);
  unit->line_range = (uint32_t)read_bytes(&r, 1);
  unit->opcode_base = (uint32_t)read_bytes(&r, 1);
  for (uint32_t i = 1; i < unit->opcode_base; ++i) unit->lengths[i] = (uint8_t)read_bytes(&r, 1);
  unit->tables = r;
  if (!unit->line_range || r.bad) unit->version = 0;
  return true;
}

typedef struct row_t {
  uint64_t address, file, line;
  bool ends;
} row_t;

// Whether `address` is between two rows.
static bool covers(const row_t* from, const row_t* to, bool has_from, uint64_t address) {
  return has_from && !from->ends && from->address <= address && address < to->address;
}

// An opcode that is not special; true when it adds a row.
static bool run_standard(const unit_t* unit, reader_t* r, uint32_t opcode, row_t* row) {
  if (opcode == 0) {
    uint64_t size = read_uleb(r);
    if (!size || size > (uint64_t)(r->end - r->at)) return r->bad = true, false;
    const uint8_t* next = r->at + size;
    uint64_t extended = read_bytes(r, 1);
    if (extended == 2 && size == 9) row->address = read_bytes(r, 8);
    row->ends = extended == 1;
    r->at = next;
    return row->ends;
  }
  switch (opcode) {
    case 1:
      return true;
    case 2:
      row->address += read_uleb(r) * unit->minimum_size;
      return false;
    case 3:
      row->line += (uint64_t)read_sleb(r);
      return false;
    case 4:
      row->file = read_uleb(r);
      return false;
    case 8:
      row->address += (255 - unit->opcode_base) / unit->line_range * unit->minimum_size;
      return false;
    case 9:
      row->address += read_bytes(r, 2);
      return false;
    default:
      for (uint32_t i = 0; i < unit->lengths[opcode]; ++i) read_uleb(r);
      return false;
  }
}

static bool run_program(const unit_t* unit, uint64_t address, row_t* found) {
  reader_t r = unit->program;
  row_t row = {.file = 1, .line = 1}, last = {0};
  bool has_last = false;
  while (r.at < r.end && !r.bad) {
    uint32_t opcode = (uint32_t)read_bytes(&r, 1);
    bool adds = true;
    if (opcode >= unit->opcode_base) {
      uint32_t step = opcode - unit->opcode_base;
      row.address += step / unit->line_range * unit->minimum_size;
      row.line += (uint64_t)(unit->line_base + (int32_t)(step % unit->line_range));
    } else {
      adds = run_standard(unit, &r, opcode, &row);
    }
    if (!adds) continue;
    if (covers(&last, &row, has_last, address)) return *found = last, true;
    last = row;
    has_last = true;
    if (row.ends) row = (row_t){.file = 1, .line = 1};
  }
  return false;
}

bool lines_find(const void* elf, size_t size, uint64_t address, lines_place_t* out) {
  sections_t sections;
  if (!elf || !find_sections(elf, size, &sections)) return false;
  reader_t section = sections.line;
  for (unit_t unit = {0}; section.at < section.end && read_unit(&section, &unit); memset(&unit, 0, sizeof(unit))) {
    row_t row;
    if (!unit.version || !run_program(&unit, address, &row)) continue;
    out->file[0] = 0;
    out->line = (uint32_t)row.line;
    reader_t tables = unit.tables;
    if (unit.version >= 5) {
      char unused[1];
      read_entries(&tables, &sections, UINT64_MAX, unused, sizeof(unused));
      read_entries(&tables, &sections, row.file, out->file, sizeof(out->file));
    } else {
      read_old_entries(&tables, row.file, out->file, sizeof(out->file));
    }
    return out->file[0] != 0;
  }
  return false;
}
