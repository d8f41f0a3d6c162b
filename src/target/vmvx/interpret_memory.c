// Accesses to memory: bounds, alignment, permission, and the shadow that finds races and unwritten bytes.
#include <string.h>

#include "base/memory.h"
#include "target/vmvx/interpret_state.h"

//===----------------------------------------------------------------------------------------------------------------===
// Setting up
//===----------------------------------------------------------------------------------------------------------------===

// Whether the kernel has an instruction that writes binding `b`.
static bool writes_binding(const vmvx_function_t* f, uint32_t b) {
  for (uint32_t i = 0; i < f->instr_count; ++i) {
    const vmvx_instr_t* instr = &f->instrs[i];
    bool stores =
        instr->op >= VMVX_OP_load && instr->op < VMVX_OP_atomic && (vmvx_access_form(instr->op) & VMVX_FORM_STORE);
    stores |= instr->op == VMVX_OP_store_tile;
    if (!stores && instr->op != VMVX_OP_atomic) continue;
    const vmvx_memory_row_t* row = &f->memories[instr->x[stores ? 1 : 2]];
    if (row->kind == VMVX_MEMORY_BINDING && row->index == b) return true;
  }
  return false;
}

// Bytes of memory under a cell: the smallest element that the kernel sees in the binding.
static uint32_t binding_shift(const vmvx_function_t* f, uint32_t b) {
  uint32_t bytes = 8;
  for (uint32_t i = 0; i < f->memory_count; ++i) {
    uint32_t size = vmvx_type_bytes(f->memories[i].type);
    if (f->memories[i].kind == VMVX_MEMORY_BINDING && f->memories[i].index == b && size < bytes) bytes = size;
  }
  return (uint32_t)__builtin_ctz(bytes);
}

typedef struct region_t {
  uintptr_t begin, end;
  uint32_t shift;
  bool written;
  cell_t* cells;
} region_t;

static bool overlap(const region_t* a, const region_t* b) { return a->begin < b->end && b->begin < a->end; }

static void check_alias(run_t* r, const region_t* parts) {
  if (ir_op_flag(r->program->func, "may_alias")) return;
  for (uint32_t i = 0; i < r->function->binding_count; ++i) {
    for (uint32_t j = 0; j < i; ++j) {
      if ((parts[i].written || parts[j].written) && overlap(&parts[i], &parts[j])) {
        run_fault(r, KERNEL_FAULT_ALIAS, (fault_at_t){0}, "bindings %u and %u", j, i);
      }
    }
  }
}

// Bindings that overlap share cells: each region grows until it touches no other part.
static void make_region(run_t* r, const region_t* parts, uint32_t binding, region_t* out) {
  *out = parts[binding];
  for (bool grew = true; grew;) {
    grew = false;
    for (uint32_t i = 0; i < r->function->binding_count; ++i) {
      if (!overlap(out, &parts[i])) continue;
      if (parts[i].begin < out->begin || parts[i].end > out->end) grew = true;
      if (parts[i].begin < out->begin) out->begin = parts[i].begin;
      if (parts[i].end > out->end) out->end = parts[i].end;
      if (parts[i].shift < out->shift) out->shift = parts[i].shift;
      if ((parts[i].begin ^ parts[binding].begin) & ((1u << out->shift) - 1)) out->shift = 0;
      out->written |= parts[i].written;
    }
  }
  if (!out->written) return;
  out->cells = memory_array(((out->end - out->begin) >> out->shift) + 2, sizeof(cell_t));
  r->regions[r->region_count++] = out->cells;
}

static void set_up_bindings(run_t* r) {
  uint32_t count = r->function->binding_count;
  region_t* parts = memory_array((size_t)count * 2 + 1, sizeof(region_t));
  r->regions = memory_array((size_t)count + 1, sizeof(*r->regions));
  region_t* regions = parts + count;
  for (uint32_t i = 0; i < count; ++i) {
    const kernel_binding_t* b = &r->launch->bindings[i];
    parts[i] = (region_t){(uintptr_t)b->data, (uintptr_t)b->data + b->size, binding_shift(r->function, i),
                          writes_binding(r->function, i), NULL};
  }
  check_alias(r, parts);
  for (uint32_t i = 0; i < count; ++i) {
    const region_t* found = NULL;
    for (uint32_t j = 0; j < i && !found; ++j) {
      if (overlap(&regions[j], &parts[i])) found = &regions[j];
    }
    if (found) regions[i] = *found;
    if (!found) make_region(r, parts, i, &regions[i]);
  }
  for (uint32_t i = 0; i < r->function->memory_count; ++i) {
    const vmvx_memory_row_t* row = &r->function->memories[i];
    if (row->kind != VMVX_MEMORY_BINDING) continue;
    const kernel_binding_t* b = &r->launch->bindings[row->index];
    const region_t* region = &regions[row->index];
    r->program->memories[i] = (memory_t){.base = b->data,
                                         .size = b->size,
                                         .cells = region->cells,
                                         .cell_offset = (uintptr_t)b->data - region->begin,
                                         .cell_shift = region->shift,
                                         .kind = VMVX_MEMORY_BINDING,
                                         .writable = b->writable,
                                         .binding = row->index};
  }
  memory_free(parts);
}

void run_memory_begin(run_t* r) {
  kernel_program_t* p = r->program;
  const vmvx_function_t* f = r->function;
  for (uint32_t i = 0; i < f->memory_count; ++i) {
    const vmvx_memory_row_t* row = &f->memories[i];
    if (row->kind == VMVX_MEMORY_WORKGROUP) {
      p->memories[i] = (memory_t){.base = p->workgroup_memory + row->index,
                                  .size = row->length,
                                  .cells = p->workgroup_cells,
                                  .cell_offset = row->index,
                                  .cell_shift = p->workgroup_shift,
                                  .kind = row->kind,
                                  .writable = true};
    } else if (row->kind == VMVX_MEMORY_PRIVATE) {
      p->memories[i] = (memory_t){.base = p->private_memory + row->index,
                                  .size = row->length,
                                  .thread_stride = f->private_bytes,
                                  .marks = p->private_marks,
                                  .mark_stride = (f->private_bytes >> p->private_shift) + 1,
                                  .cell_offset = row->index,
                                  .cell_shift = p->private_shift,
                                  .kind = row->kind,
                                  .writable = true};
    }
  }
  if (f->workgroup_bytes) {
    memset(p->workgroup_cells, 0, ((f->workgroup_bytes >> p->workgroup_shift) + 2) * sizeof(cell_t));
  }
  if (f->private_bytes) {
    memset(p->private_marks, 0, ((f->private_bytes >> p->private_shift) + 1) * sizeof(uint32_t) * r->threads);
  }
  set_up_bindings(r);
  for (uint32_t i = 0; i < f->memory_count; ++i) {
    p->memories[i].bytes = vmvx_type_bytes(f->memories[i].type);
    p->memories[i].count = p->memories[i].size / p->memories[i].bytes;
  }
}

// Cells of binding memory `m` that nothing wrote, as one report.
static void check_written(run_t* r, const memory_t* m) {
  uint64_t first = m->cell_offset >> m->cell_shift, count = m->size >> m->cell_shift, missing = 0, at = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (m->cells[first + i].writer_epoch) continue;
    if (!missing++) at = i;
  }
  if (!missing) return;
  fault_at_t fault = {.memory = m, .offset = (int64_t)(at << m->cell_shift), .size = 1u << m->cell_shift};
  run_fault(r, KERNEL_FAULT_UNWRITTEN, fault, "%llu of %llu", (unsigned long long)missing, (unsigned long long)count);
}

void run_memory_check(run_t* r) {
  for (uint32_t b = 0; b < r->function->binding_count; ++b) {
    const memory_t* found = NULL;
    for (uint32_t i = 0; i < r->function->memory_count && !found; ++i) {
      const vmvx_memory_row_t* row = &r->function->memories[i];
      if (row->kind == VMVX_MEMORY_BINDING && row->index == b) found = &r->program->memories[i];
    }
    if (found && found->cells && writes_binding(r->function, b)) check_written(r, found);
  }
}

void run_memory_end(run_t* r) {
  for (uint32_t i = 0; i < r->region_count; ++i) memory_free(r->regions[i]);
  memory_free(r->regions);
}

//===----------------------------------------------------------------------------------------------------------------===
// Shadow
//===----------------------------------------------------------------------------------------------------------------===

// Says who the other side of a race is.
static void race(run_t* r, fault_at_t at, uint32_t epoch, uint16_t other, const char* what) {
  if (epoch >= r->first_epoch) {
    if ((other & CELL_MANY) && strcmp(what, "read") == 0) {
      run_fault(r, KERNEL_FAULT_RACE, at, "with several threads, which read it since the last barrier");
    } else {
      run_fault(r, KERNEL_FAULT_RACE, at, "with thread %u, which %s it since the last barrier", other & CELL_THREAD,
                what);
    }
    return;
  }
  uint64_t low = 0, high = r->workgroup_index;  // the last workgroup that began at `epoch` or before
  while (low + 1 < high) {
    uint64_t middle = (low + high) / 2;
    if (r->workgroup_epochs[middle] <= epoch) low = middle;
    if (r->workgroup_epochs[middle] > epoch) high = middle;
  }
  const uint32_t* n = r->launch->workgroup_count;
  run_fault(r, KERNEL_FAULT_RACE, at, "with workgroup (%u, %u, %u), thread %u, which %s it", (uint32_t)(low % n[0]),
            (uint32_t)(low / n[0] % n[1]), (uint32_t)(low / n[0] / n[1]), other & CELL_THREAD, what);
}

static void report_read(run_t* r, const cell_t* cell, fault_at_t at) {
  if (cell->writer_epoch < r->first_epoch && at.memory->kind == VMVX_MEMORY_WORKGROUP) {
    run_fault(r, KERNEL_FAULT_UNINITIALISED, at, "no thread of the workgroup wrote it");
  } else if (cell->writer_epoch >= r->first_epoch && (cell->writer & CELL_PENDING)) {
    run_fault(r, KERNEL_FAULT_ASYNC, at, "thread %u has not waited for it", cell->writer & CELL_THREAD);
  } else {
    race(r, at, cell->writer_epoch, cell->writer, "wrote");
  }
}

static inline void cell_read(run_t* r, cell_t* cell, const fault_at_t* at, bool local) {
  uint32_t thread = at->thread, written = cell->writer_epoch;
  bool mine =
      written >= r->first_epoch && !(cell->writer & CELL_PENDING) && (written != r->epoch || cell->writer == thread);
  if (!mine && (local || written)) report_read(r, cell, *at);
  if (cell->reader_epoch == r->epoch) {
    if ((cell->reader & CELL_THREAD) != thread) cell->reader |= CELL_MANY;
    return;
  }
  bool foreign = (cell->reader & CELL_FOREIGN) || (cell->reader_epoch && cell->reader_epoch < r->first_epoch);
  cell->reader_epoch = r->epoch;
  cell->reader = (uint16_t)(thread | (foreign ? CELL_FOREIGN : 0));
}

// `equal`: the bytes do not change, and the caller allows threads to agree.
static void cell_write(run_t* r, cell_t* cell, fault_at_t at, vmvx_access_kind_t access, bool equal) {
  bool local = at.memory->kind == VMVX_MEMORY_WORKGROUP, mine = cell->writer_epoch >= r->first_epoch;
  bool atomics = access == VMVX_ATOMIC && (cell->writer & CELL_ATOMIC);
  uint32_t thread = at.thread;
  if (mine && (cell->writer & CELL_PENDING)) {
    run_fault(r, KERNEL_FAULT_ASYNC, at, "thread %u has not waited for it", cell->writer & CELL_THREAD);
  } else if (cell->writer_epoch == r->epoch ? cell->writer != thread : cell->writer_epoch && !mine && !local) {
    if (!atomics && !equal) race(r, at, cell->writer_epoch, cell->writer, "wrote");
  }
  bool foreign =
      !local && ((cell->reader & CELL_FOREIGN) || (cell->reader_epoch && cell->reader_epoch < r->first_epoch));
  bool others =
      cell->reader_epoch == r->epoch && ((cell->reader & CELL_MANY) || (cell->reader & CELL_THREAD) != thread);
  if (others && !equal) {
    race(r, at, r->epoch, cell->reader, "read");
  } else if (foreign && !equal && cell->reader_epoch < r->first_epoch) {
    race(r, at, cell->reader_epoch, cell->reader, "read");
  } else if (foreign && !equal) {
    run_fault(r, KERNEL_FAULT_RACE, at, "with another workgroup, which read it");
  }
  cell->writer_epoch = r->epoch;
  cell->writer = (uint16_t)(thread | (access == VMVX_ATOMIC ? CELL_ATOMIC : access == VMVX_ASYNC ? CELL_PENDING : 0));
}

static void touch_marks(run_t* r, const memory_t* m, fault_at_t at, vmvx_access_kind_t access) {
  uint32_t* marks = m->marks + at.thread * m->mark_stride;
  uint64_t first = (m->cell_offset + (uint64_t)at.offset) >> m->cell_shift;
  uint64_t last = (m->cell_offset + (uint64_t)at.offset + at.size - 1) >> m->cell_shift;
  for (uint64_t i = first; i <= last; ++i) {
    if (access != VMVX_READ) {
      marks[i] = r->epoch;
    } else if (marks[i] < r->first_epoch) {
      run_fault(r, KERNEL_FAULT_UNINITIALISED, at, "the thread did not write it");
      return;
    }
  }
}

static void touch(run_t* r, const memory_t* m, fault_at_t at, vmvx_access_kind_t access, bool equal) {
  if (m->marks) {
    touch_marks(r, m, at, access);
    return;
  }
  if (!m->cells) return;
  uint64_t first = (m->cell_offset + (uint64_t)at.offset) >> m->cell_shift;
  uint64_t last = (m->cell_offset + (uint64_t)at.offset + at.size - 1) >> m->cell_shift;
  for (uint64_t i = first; i <= last; ++i) {
    cell_t* cell = &m->cells[i];
    if (access == VMVX_READ) {
      cell_read(r, cell, &at, m->kind == VMVX_MEMORY_WORKGROUP);
    } else {
      cell_write(r, cell, at, access, equal);
    }
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Accesses
//===----------------------------------------------------------------------------------------------------------------===

// Where the elements are, or NULL after a report.
static inline uint8_t* check_place(run_t* r, const vmvx_access_t* at, fault_at_t* out) {
  const memory_t* m = &r->program->memories[at->memory];
  int64_t offset = (int64_t)((uint64_t)at->offset * m->bytes);
  *out = (fault_at_t){at->thread, m, offset, m->bytes * at->lanes};
  if (at->offset < 0 || at->lanes > m->count || (uint64_t)at->offset > m->count - at->lanes) {
    run_fault(r, KERNEL_FAULT_BOUNDS, *out, "the memory has %llu bytes", (unsigned long long)m->size);
    return NULL;
  }
  if (at->align > 1 && (uint64_t)offset % at->align) {
    run_fault(r, KERNEL_FAULT_MISALIGNED, *out, "%u bytes are claimed", at->align);
  }
  if (at->kind != VMVX_READ && !m->writable) {
    run_fault(r, KERNEL_FAULT_READONLY, *out, "the buffer is not writable");
    return NULL;
  }
  uint8_t* data = m->base + at->thread * m->thread_stride + offset;
  if (at->kind == VMVX_ATOMIC && (uintptr_t)data % m->bytes) {
    run_fault(r, KERNEL_FAULT_MISALIGNED, *out, "an atomic must lie at a multiple of its size");
    return NULL;
  }
  return data;
}

static vmvx_step_t step_of(run_t* r) {
  return (vmvx_step_t){.function = r->function,
                       .instr = r->instr,
                       .frame = r->program->frame,
                       .threads = r->threads,
                       .mask = r->mask,
                       .self = r};
}

static inline uint8_t* locate(void* self, const vmvx_access_t* access) {
  run_t* r = self;
  fault_at_t fault;
  uint8_t* data = check_place(r, access, &fault);
  if (!data) return NULL;
  bool equal = r->check->allow_equal_writes && access->value && access->kind == VMVX_WRITE &&
               memcmp(data, access->value, fault.size) == 0;
  touch(r, fault.memory, fault, access->kind, equal);
  return data;
}

uint8_t* run_access(run_t* r, const vmvx_access_t* access) { return locate(r, access); }

// Accesses that happen lane by lane keep the alignment that they claim when there is a lane.
static void check_align(run_t* r, uint32_t thread) {
  vmvx_step_t step = step_of(r);
  const memory_t* m = &r->program->memories[r->instr->x[1]];
  uint64_t at = (uint64_t)vmvx_step_index(&step, 2, thread) * m->bytes;
  bool masked = vmvx_access_form(r->instr->op) & VMVX_FORM_MASKED;
  uint32_t align = vmvx_access_align(r->instr), lanes = !masked;
  for (uint32_t i = 0; masked && i < run_reg(r, 3)->lanes; ++i) lanes += *vmvx_step_lane(&step, 3, i, thread);
  if (lanes && at % align) {
    run_fault(r, KERNEL_FAULT_MISALIGNED, (fault_at_t){thread, m, (int64_t)at, m->bytes}, "%u bytes are claimed",
              align);
  }
}

// One element a thread of memory that nothing writes: only bounds can be wrong. False when one is, or when it is
// another case; nothing has been reported then.
static bool load_constant(run_t* r) {
  const memory_t* m = &r->program->memories[r->instr->x[1]];
  const vmvx_register_t* reg = run_reg(r, 0);
  if (r->instr->op != VMVX_OP_load || m->cells || m->marks || reg->lanes != 1 || r->instr->x[3] > reg->bytes) {
    return false;
  }
  const int64_t* offsets = (const int64_t*)(void*)run_at(r, 2);
  const uint8_t* mask = r->mask;
  uint64_t outside = 0;
  for (uint32_t t = 0; t < r->threads; ++t) outside |= mask[t] & ((uint64_t)offsets[t] >= m->count);
  if (outside) return false;
  switch (reg->bytes) {
#define SIZE(size, ctype)                                                        \
  case size: {                                                                   \
    ctype* out = (ctype*)(void*)run_at(r, 0);                                    \
    for (uint32_t t = 0; t < r->threads; ++t) {                                  \
      if (mask[t]) memcpy(&out[t], m->base + (uint64_t)offsets[t] * size, size); \
    }                                                                            \
    break;                                                                       \
  }
    SIZE(1, uint8_t)
    SIZE(2, uint16_t)
    SIZE(4, uint32_t)
    SIZE(8, uint64_t)
#undef SIZE
  }
  vmvx_normalize(reg->type, reg->width, run_at(r, 0), r->threads);
  return true;
}

void run_memory(run_t* r) {
  uint32_t form = vmvx_access_form(r->instr->op);
  vmvx_step_t step = step_of(r);
  step.stores_each_lane = r->check->allow_equal_writes;
  if (load_constant(r)) return;
  bool lanes = (form & VMVX_FORM_MASKED) || ((form & VMVX_FORM_STORE) && step.stores_each_lane);
  for (uint32_t t = 0; lanes && !(form & VMVX_FORM_LANES) && t < r->threads; ++t) {
    if (r->mask[t]) check_align(r, t);
  }
  (void)vmvx_step_access(&step, locate, form);  // what must not happen is reported
}

void run_atomic(run_t* r) {
  vmvx_step_t step = step_of(r);
  (void)vmvx_step_atomic(&step, locate);
}

void run_deliver(run_t* r, const async_entry_t* entry) {
  const memory_t* m = &r->program->memories[entry->memory];
  memcpy(m->base + entry->offset, entry->data, entry->size);
  uint64_t first = (m->cell_offset + entry->offset) >> m->cell_shift;
  uint64_t last = (m->cell_offset + entry->offset + entry->size - 1) >> m->cell_shift;
  for (uint64_t i = first; i <= last; ++i) {
    m->cells[i].writer_epoch = r->epoch;
    m->cells[i].writer = (uint16_t)entry->thread;
  }
}
