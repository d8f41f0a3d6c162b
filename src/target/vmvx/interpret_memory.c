// Accesses to memory: bounds, alignment, permission, and the shadow that finds races and unwritten bytes.
#include <string.h>

#include "base/memory.h"
#include "target/vmvx/interpret_state.h"

//===----------------------------------------------------------------------------------------------------------------===
// Setting up
//===----------------------------------------------------------------------------------------------------------------===

static bool op_writes(uint32_t op) {
  return op == VMVX_OP_store || op == VMVX_OP_store_masked || op == VMVX_OP_scatter || op == VMVX_OP_scatter_masked;
}

// Whether the kernel has an instruction that writes binding `b`.
static bool writes_binding(const vmvx_function_t* f, uint32_t b) {
  for (uint32_t i = 0; i < f->instr_count; ++i) {
    const vmvx_instr_t* instr = &f->instrs[i];
    uint32_t memory = op_writes(instr->op) ? instr->x[1] : instr->op == VMVX_OP_atomic ? instr->x[2] : UINT32_MAX;
    if (memory == UINT32_MAX) continue;
    const vmvx_memory_row_t* row = &f->memories[memory];
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
static void cell_write(run_t* r, cell_t* cell, fault_at_t at, access_t access, bool equal) {
  bool local = at.memory->kind == VMVX_MEMORY_WORKGROUP, mine = cell->writer_epoch >= r->first_epoch;
  bool atomics = access == ACCESS_ATOMIC && (cell->writer & CELL_ATOMIC);
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
  cell->writer = (uint16_t)(thread | (access == ACCESS_ATOMIC  ? CELL_ATOMIC
                                      : access == ACCESS_ASYNC ? CELL_PENDING
                                                               : 0));
}

static void touch_marks(run_t* r, const memory_t* m, fault_at_t at, access_t access) {
  uint32_t* marks = m->marks + at.thread * m->mark_stride;
  uint64_t first = (m->cell_offset + (uint64_t)at.offset) >> m->cell_shift;
  uint64_t last = (m->cell_offset + (uint64_t)at.offset + at.size - 1) >> m->cell_shift;
  for (uint64_t i = first; i <= last; ++i) {
    if (access != ACCESS_READ) {
      marks[i] = r->epoch;
    } else if (marks[i] < r->first_epoch) {
      run_fault(r, KERNEL_FAULT_UNINITIALISED, at, "the thread did not write it");
      return;
    }
  }
}

static void touch(run_t* r, const memory_t* m, fault_at_t at, access_t access, bool equal) {
  if (m->marks) {
    touch_marks(r, m, at, access);
    return;
  }
  if (!m->cells) return;
  uint64_t first = (m->cell_offset + (uint64_t)at.offset) >> m->cell_shift;
  uint64_t last = (m->cell_offset + (uint64_t)at.offset + at.size - 1) >> m->cell_shift;
  for (uint64_t i = first; i <= last; ++i) {
    cell_t* cell = &m->cells[i];
    if (access == ACCESS_READ) {
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
static uint8_t* locate(run_t* r, access_at_t at, fault_at_t* out) {
  const memory_t* m = &r->program->memories[at.memory];
  int64_t offset = (int64_t)((uint64_t)at.offset * m->bytes);
  *out = (fault_at_t){at.thread, m, offset, m->bytes * at.lanes};
  if (at.offset < 0 || at.lanes > m->count || (uint64_t)at.offset > m->count - at.lanes) {
    run_fault(r, KERNEL_FAULT_BOUNDS, *out, "the memory has %llu bytes", (unsigned long long)m->size);
    return NULL;
  }
  if (at.align > 1 && (uint64_t)offset % at.align) {
    run_fault(r, KERNEL_FAULT_MISALIGNED, *out, "%u bytes are claimed", at.align);
  }
  if (at.access != ACCESS_READ && !m->writable) {
    run_fault(r, KERNEL_FAULT_READONLY, *out, "the buffer is not writable");
    return NULL;
  }
  return m->base + at.thread * m->thread_stride + offset;
}

uint8_t* run_access(run_t* r, access_at_t at) {
  fault_at_t fault;
  uint8_t* data = locate(r, at, &fault);
  if (data) touch(r, fault.memory, fault, at.access, false);
  return data;
}

// One element of `bytes` between memory and a register's lane.
static inline void copy_element(uint8_t* to, const uint8_t* from, uint32_t bytes) {
  switch (bytes) {
    case 1:
      *to = *from;
      break;
    case 2:
      memcpy(to, from, 2);
      break;
    case 4:
      memcpy(to, from, 4);
      break;
    default:
      memcpy(to, from, 8);
  }
}

static void load_lanes(const run_t* r, const uint8_t* data, uint32_t thread) {
  const vmvx_register_t* reg = run_reg(r, 0);
  uint8_t* out = run_at(r, 0) + (size_t)thread * reg->bytes;
  size_t stride = (size_t)r->threads * reg->bytes;
  if (stride == reg->bytes) {
    memcpy(out, data, (size_t)reg->lanes * reg->bytes);
    return;
  }
  for (uint32_t i = 0; i < reg->lanes; ++i) copy_element(out + i * stride, data + i * reg->bytes, reg->bytes);
}

static void zero_lanes(const run_t* r, uint32_t thread) {
  static const uint8_t zeros[8];
  const vmvx_register_t* reg = run_reg(r, 0);
  for (uint32_t i = 0; i < reg->lanes; ++i) {
    copy_element(run_at(r, 0) + ((size_t)i * r->threads + thread) * reg->bytes, zeros, reg->bytes);
  }
}

// Operand `i` as a lane's offset, from any integer type.
static int64_t lane_offset(const run_t* r, uint32_t i, uint32_t lane, uint32_t thread) {
  const vmvx_register_t* reg = run_reg(r, i);
  const uint8_t* data = run_at(r, i) + ((size_t)lane * r->threads + thread) * reg->bytes;
  int64_t value;
  if (reg->type == VMVX_I64) {
    memcpy(&value, data, 8);
  } else {
    vmvx_to_integers(reg->type, data, &value, 1);
  }
  return value;
}

static uint8_t* lane_at(const run_t* r, uint32_t i, uint32_t lane, uint32_t thread) {
  return run_at(r, i) + ((size_t)lane * r->threads + thread) * run_reg(r, i)->bytes;
}

static void write_element(run_t* r, access_at_t at, const uint8_t* from, uint32_t bytes) {
  fault_at_t fault;
  uint8_t* data = locate(r, at, &fault);
  if (!data) return;
  bool equal = r->check->allow_equal_writes && memcmp(data, from, bytes) == 0;
  touch(r, fault.memory, fault, ACCESS_WRITE, equal);
  copy_element(data, from, bytes);
}

static void load_masked_thread(run_t* r, uint32_t thread, bool gathers) {
  const vmvx_register_t* reg = run_reg(r, 0);
  bool masked = r->instr->op == VMVX_OP_load_masked || r->instr->op == VMVX_OP_gather_masked;
  int64_t first = gathers ? 0 : lane_offset(r, 2, 0, thread);
  for (uint32_t lane = 0; lane < reg->lanes; ++lane) {
    uint8_t* out = lane_at(r, 0, lane, thread);
    if (masked && !*lane_at(r, 3, lane, thread)) {
      copy_element(out, lane_at(r, 4, lane, thread), reg->bytes);
      continue;
    }
    int64_t offset = gathers ? lane_offset(r, 2, lane, thread) : first + lane;
    const uint8_t* data = run_access(r, (access_at_t){r->instr->x[1], thread, offset, 1, 1, ACCESS_READ});
    uint64_t zero = 0;
    copy_element(out, data ? data : (const uint8_t*)&zero, reg->bytes);
  }
}

static void check_masked_align(run_t* r, uint32_t thread, uint32_t align) {
  int64_t offset = lane_offset(r, 2, 0, thread);
  const memory_t* m = &r->program->memories[r->instr->x[1]];
  uint64_t at = (uint64_t)offset * m->bytes;
  uint32_t mask = r->instr->op == VMVX_OP_load_masked || r->instr->op == VMVX_OP_store_masked ? 3 : 0, lanes = 0;
  for (uint32_t i = 0; mask && i < run_reg(r, mask)->lanes; ++i) lanes += *lane_at(r, mask, i, thread);
  if (mask && !lanes) return;
  if (align > 1 && at % align) {
    run_fault(r, KERNEL_FAULT_MISALIGNED, (fault_at_t){thread, m, (int64_t)at, m->bytes}, "%u bytes are claimed",
              align);
  }
}

// One element a thread of memory that nothing writes: only bounds can be wrong. False when one is, or when it is
// another case; nothing has been reported then.
static bool load_constant(run_t* r) {
  const memory_t* m = &r->program->memories[r->instr->x[1]];
  const vmvx_register_t* reg = run_reg(r, 0);
  if (m->cells || m->marks || reg->lanes != 1 || r->instr->x[3] > reg->bytes) return false;
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
  return true;
}

void run_load(run_t* r) {
  const vmvx_register_t* reg = run_reg(r, 0);
  bool masked = r->instr->op == VMVX_OP_load_masked;
  uint32_t align = r->instr->x[masked ? 5 : 3];
  bool done = !masked && load_constant(r);
  for (uint32_t t = 0; t < r->threads && !done; ++t) {
    if (!r->mask[t]) continue;
    if (masked) {
      check_masked_align(r, t, align);
      load_masked_thread(r, t, false);
      continue;
    }
    access_at_t at = {r->instr->x[1], t, lane_offset(r, 2, 0, t), reg->lanes, align, ACCESS_READ};
    const uint8_t* data = run_access(r, at);
    if (data && reg->lanes == 1) {
      copy_element(run_at(r, 0) + (size_t)t * reg->bytes, data, reg->bytes);
    } else if (data) {
      load_lanes(r, data, t);
    } else {
      zero_lanes(r, t);
    }
  }
  vmvx_normalize(reg->type, reg->width, run_at(r, 0), (size_t)reg->lanes * r->threads);
}

void run_gather(run_t* r) {
  const vmvx_register_t* reg = run_reg(r, 0);
  for (uint32_t t = 0; t < r->threads; ++t) {
    if (r->mask[t]) load_masked_thread(r, t, true);
  }
  vmvx_normalize(reg->type, reg->width, run_at(r, 0), (size_t)reg->lanes * r->threads);
}

static void store_thread(run_t* r, uint32_t thread, bool masked, bool scatters) {
  const vmvx_register_t* reg = run_reg(r, 0);
  int64_t first = scatters ? 0 : lane_offset(r, 2, 0, thread);
  for (uint32_t lane = 0; lane < reg->lanes; ++lane) {
    if (masked && !*lane_at(r, 3, lane, thread)) continue;
    int64_t offset = scatters ? lane_offset(r, 2, lane, thread) : first + lane;
    access_at_t at = {r->instr->x[1], thread, offset, 1, 1, ACCESS_WRITE};
    write_element(r, at, lane_at(r, 0, lane, thread), reg->bytes);
  }
}

static void store_whole(run_t* r, uint32_t thread, uint32_t align) {
  const vmvx_register_t* reg = run_reg(r, 0);
  access_at_t at = {r->instr->x[1], thread, lane_offset(r, 2, 0, thread), reg->lanes, align, ACCESS_WRITE};
  uint8_t* data = run_access(r, at);
  if (!data) return;
  if (r->threads == 1) {
    memcpy(data, run_at(r, 0), (size_t)reg->lanes * reg->bytes);
    return;
  }
  for (uint32_t i = 0; i < reg->lanes; ++i) copy_element(data + i * reg->bytes, lane_at(r, 0, i, thread), reg->bytes);
}

void run_store(run_t* r) {
  bool masked = r->instr->op == VMVX_OP_store_masked;
  uint32_t align = r->instr->x[masked ? 4 : 3];
  for (uint32_t t = 0; t < r->threads; ++t) {
    if (!r->mask[t]) continue;
    if (!masked && !r->check->allow_equal_writes) {
      store_whole(r, t, align);
      continue;
    }
    check_masked_align(r, t, align);
    store_thread(r, t, masked, false);
  }
}

void run_scatter(run_t* r) {
  for (uint32_t t = 0; t < r->threads; ++t) {
    if (r->mask[t]) store_thread(r, t, r->instr->op == VMVX_OP_scatter_masked, true);
  }
}

void run_atomic(run_t* r) {
  const vmvx_memory_row_t* row = &r->function->memories[r->instr->x[2]];
  uint32_t bytes = run_reg(r, 0)->bytes;
  for (uint32_t t = 0; t < r->threads; ++t) {
    if (!r->mask[t]) continue;
    access_at_t at = {r->instr->x[2], t, lane_offset(r, 3, 0, t), 1, 1, ACCESS_ATOMIC};
    uint8_t* data = run_access(r, at);
    uint64_t old = 0;
    if (data) {
      copy_element((uint8_t*)&old, data, bytes);
      vmvx_eval_element(r->instr->x[4], row, &old, lane_at(r, 1, 0, t), data);
    }
    copy_element(lane_at(r, 0, 0, t), (const uint8_t*)&old, bytes);
  }
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
