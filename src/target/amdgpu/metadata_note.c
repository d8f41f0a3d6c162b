// Each object that is linked into a code object brings a note with its kernels:
//
//   {"amdhsa.kernels": [k0, k1], "amdhsa.target": ..., "amdhsa.version": ...}       MessagePack, keys sorted
//   {"amdhsa.kernels": [k2], "amdhsa.target": ..., "amdhsa.version": ...}
//
// One note takes the place of all, with k0, k1, k2 and the rest of the first. It is never longer than they were
// together, since each of the others loses its head and its rest; so nothing in the file moves, and the section only
// gets shorter.
#include "target/amdgpu/metadata_note.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"

enum { NOTE_METADATA = 32, NOTE_HEAD = sizeof(Elf64_Nhdr) + 8 };  // the name "AMDGPU", padded

static const char kernels_key[] =
    "\x81\xAE"
    "amdhsa.kernels";  // the head of a map comes first
static const char target_key[] =
    "\xAD"
    "amdhsa.target";

typedef struct merge_t {
  uint8_t* elements;  // of all kernel lists
  size_t size;
  uint32_t count;
  const uint8_t* rest;  // of the first note: from the target's key on
  size_t rest_size;
  uint8_t map_head;
  uint32_t note_count;
} merge_t;

static size_t align4(size_t size) { return (size + 3) & ~(size_t)3; }

// The last place of `key`, which is beyond all kernels.
static const uint8_t* find_last(const uint8_t* data, size_t size, const char* key, size_t key_size) {
  for (size_t at = size < key_size ? 0 : size - key_size + 1; at-- > 0;) {
    if (!memcmp(data + at, key, key_size)) return data + at;
  }
  return NULL;
}

// The number of elements of an array whose head is at `*at`, and moves it behind; UINT32_MAX when it is none.
static uint32_t take_array(const uint8_t** at, const uint8_t* end) {
  size_t left = (size_t)(end - *at);
  uint8_t tag = left ? **at : 0;
  if ((tag & 0xF0) == 0x90) {
    *at += 1;
    return tag & 0x0F;
  }
  if (tag == 0xDC && left >= 3) {
    uint32_t count = (uint32_t)(*at)[1] << 8 | (*at)[2];
    *at += 3;
    return count;
  }
  return UINT32_MAX;
}

static bool add_document(merge_t* m, const uint8_t* data, size_t size) {
  const size_t head = sizeof(kernels_key) - 1;
  const uint8_t* rest = find_last(data, size, target_key, sizeof(target_key) - 1);
  // The map may have any number of keys.
  if (size < head || !rest || (data[0] & 0xF0) != 0x80 || memcmp(data + 1, kernels_key + 1, head - 1) != 0)
    return false;
  const uint8_t* at = data + head;
  uint32_t count = take_array(&at, rest);
  if (count == UINT32_MAX || at > rest) return false;
  memcpy(m->elements + m->size, at, (size_t)(rest - at));
  m->size += (size_t)(rest - at);
  m->count += count;
  if (m->note_count++) return true;
  m->map_head = data[0];
  m->rest = rest;
  m->rest_size = (size_t)(data + size - rest);
  return true;
}

static bool add_notes(merge_t* m, const uint8_t* notes, size_t size) {
  for (size_t at = 0; at < size;) {
    Elf64_Nhdr note;
    if (size - at < NOTE_HEAD) return false;
    memcpy(&note, notes + at, sizeof(note));
    if (note.n_type != NOTE_METADATA || note.n_namesz != 7 || note.n_descsz > size - at - NOTE_HEAD) return false;
    if (!add_document(m, notes + at + NOTE_HEAD, note.n_descsz)) return false;
    at += NOTE_HEAD + align4(note.n_descsz);
  }
  return true;
}

// Writes the merged note over the others and returns its size; 0 when it does not fit.
static size_t write_note(const merge_t* m, uint8_t* notes, size_t size) {
  const size_t head = sizeof(kernels_key) - 1;
  size_t document = head + 3 + m->size + m->rest_size;
  size_t total = NOTE_HEAD + align4(document);
  uint8_t* text = m->count <= UINT16_MAX && total <= size ? (uint8_t*)memory_alloc(total) : NULL;
  if (!text) return 0;
  Elf64_Nhdr note = {.n_namesz = 7, .n_descsz = (Elf64_Word)document, .n_type = NOTE_METADATA};
  memcpy(text, &note, sizeof(note));
  memcpy(text + sizeof(note), "AMDGPU", 7);
  uint8_t* at = text + NOTE_HEAD;
  memcpy(at, kernels_key, head);
  at[0] = m->map_head;
  at += head;
  *at++ = 0xDC;
  *at++ = (uint8_t)(m->count >> 8);
  *at++ = (uint8_t)m->count;
  memcpy(at, m->elements, m->size);
  memcpy(at + m->size, m->rest, m->rest_size);
  memset(notes, 0, size);
  memcpy(notes, text, total);
  memory_free(text);
  return total;
}

// Where the notes are; sizes that the merged note changes.
static bool find_notes(uint8_t* code, size_t size, Elf64_Phdr** out_segment, Elf64_Shdr** out_section) {
  Elf64_Ehdr* header = (Elf64_Ehdr*)code;
  *out_segment = NULL;
  *out_section = NULL;
  if (size < sizeof(*header) || header->e_phoff % 8 || header->e_shoff % 8 || header->e_phoff > size ||
      header->e_shoff > size || header->e_phnum > (size - header->e_phoff) / sizeof(Elf64_Phdr) ||
      header->e_shnum > (size - header->e_shoff) / sizeof(Elf64_Shdr)) {
    return false;
  }
  Elf64_Phdr* segments = (Elf64_Phdr*)(code + header->e_phoff);
  for (uint32_t i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type == PT_NOTE) *out_segment = &segments[i];
  }
  const Elf64_Phdr* segment = *out_segment;
  if (!segment || segment->p_offset > size || segment->p_filesz > size - segment->p_offset) return false;
  Elf64_Shdr* sections = (Elf64_Shdr*)(code + header->e_shoff);
  for (uint32_t i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type == SHT_NOTE && sections[i].sh_offset == segment->p_offset) *out_section = &sections[i];
  }
  return *out_section != NULL;
}

bool metadata_note_merge(void* code, size_t size, text_t* error) {
  Elf64_Phdr* segment = NULL;
  Elf64_Shdr* section = NULL;
  merge_t merge = {0};
  bool ok = find_notes((uint8_t*)code, size, &segment, &section);
  uint8_t* notes = ok ? (uint8_t*)code + segment->p_offset : NULL;
  if (ok) merge.elements = (uint8_t*)memory_alloc(segment->p_filesz + 1);
  ok = ok && merge.elements && add_notes(&merge, notes, segment->p_filesz);
  if (ok && merge.note_count > 1) {
    size_t total = write_note(&merge, notes, segment->p_filesz);
    ok = total > 0;
    if (ok) segment->p_filesz = segment->p_memsz = section->sh_size = total;
  }
  memory_free(merge.elements);
  if (!ok) text_puts(error, "the code object's metadata notes are not as expected");
  return ok;
}

//===----------------------------------------------------------------------------------------------------------------===
// Reading
//===----------------------------------------------------------------------------------------------------------------===

// Whether the key is at `at`; its bytes are the head of a string and the string.
static bool has_key(const uint8_t* data, size_t size, size_t at, const char* key) {
  size_t length = strlen(key);
  return at < size && size - at > length && data[at] == (0xA0 | length) && !memcmp(data + at + 1, key, length);
}

static uint32_t read_number(const uint8_t* data, size_t size, size_t at) {
  if (at < size && data[at] < 0x80) return data[at];
  if (at < size && size - at > 1 && data[at] == 0xCC) return data[at + 1];
  if (at < size && size - at > 2 && data[at] == 0xCD) return (uint32_t)data[at + 1] << 8 | data[at + 2];
  return 0;
}

static void read_name(const uint8_t* data, size_t size, size_t at, char* out, size_t capacity) {
  size_t length = 0, head = 1;
  if (at < size && (data[at] & 0xE0) == 0xA0) length = data[at] & 0x1F;
  if (at + 1 < size && data[at] == 0xD9) length = data[at + 1], head = 2;
  if (at + 2 < size && data[at] == 0xDA) length = (size_t)data[at + 1] << 8 | data[at + 2], head = 3;
  if (at + head > size || length > size - at - head) length = 0;
  if (length >= capacity) length = capacity - 1;
  if (length) memcpy(out, data + at + head, length);
  out[length] = 0;
}

bool metadata_note_next_spill(const void* code, size_t size, size_t* at, metadata_spill_t* out) {
  static const char name[] = ".name", scalar[] = ".sgpr_spill_count", vector[] = ".vgpr_spill_count";
  Elf64_Phdr* segment = NULL;
  Elf64_Shdr* section = NULL;
  if (!find_notes((uint8_t*)code, size, &segment, &section)) return false;
  const uint8_t* data = (const uint8_t*)code + segment->p_offset;
  *out = (metadata_spill_t){0};
  for (size_t i = *at; i < segment->p_filesz; ++i) {  // a kernel's keys are sorted: the name first, vectors last
    if (has_key(data, segment->p_filesz, i, name)) {
      read_name(data, segment->p_filesz, i + sizeof(name), out->name, sizeof(out->name));
    } else if (has_key(data, segment->p_filesz, i, scalar)) {
      out->scalar_registers = read_number(data, segment->p_filesz, i + sizeof(scalar));
    } else if (has_key(data, segment->p_filesz, i, vector)) {
      out->vector_registers = read_number(data, segment->p_filesz, i + sizeof(vector));
      if (!out->vector_registers && !out->scalar_registers) continue;
      *at = i + 1;
      return true;
    }
  }
  return false;
}

bool metadata_note_has_kernel(const void* code, size_t size, const char* name) {
  static const char key[] = ".name";
  Elf64_Phdr* segment = NULL;
  Elf64_Shdr* section = NULL;
  if (!find_notes((uint8_t*)code, size, &segment, &section)) return false;
  const uint8_t* data = (const uint8_t*)code + segment->p_offset;
  for (size_t i = 0; i < segment->p_filesz; ++i) {
    char found[4096];
    if (!has_key(data, segment->p_filesz, i, key)) continue;
    read_name(data, segment->p_filesz, i + sizeof(key), found, sizeof(found));
    if (strcmp(found, name) == 0) return true;
  }
  return false;
}
