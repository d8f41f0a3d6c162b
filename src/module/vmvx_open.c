// Opens a vmvx program: sections, rows, then each function's code as an array of instructions, all verified.
#include "module/vmvx_verify.h"

// The file, cut into its sections.
typedef struct sections_t {
  const vmvx_header_t* header;
  const vmvx_function_row_t* functions;
  const vmvx_register_row_t* registers;
  const vmvx_memory_row_t* memories;
  const uint32_t* code;
  const uint8_t* data;
  const char* names;
} sections_t;

// `count` rows of `size` bytes at the next multiple of 8; NULL when they are not there.
static const void* take(iree_const_byte_span_t contents, uint64_t* offset, uint64_t count, uint64_t size) {
  uint64_t at = (*offset + 7) & ~7ull;
  if (at > contents.data_length || count * size > contents.data_length - at) return NULL;
  *offset = at + count * size;
  return contents.data + at;
}

static iree_status_t cut_sections(iree_const_byte_span_t contents, sections_t* s) {
  uint64_t offset = 0;
  *s = (sections_t){0};
  if ((uintptr_t)contents.data % 8)
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "vmvx program is not aligned");
  const vmvx_header_t* h = s->header = take(contents, &offset, 1, sizeof(vmvx_header_t));
  if (!h || h->magic != VMVX_MAGIC) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no vmvx program");
  if (h->version != VMVX_VERSION) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "vmvx program of version %u; this reads version %u",
                            h->version, VMVX_VERSION);
  }
  bool whole = (s->functions = take(contents, &offset, h->function_count, sizeof(*s->functions))) &&
               (s->registers = take(contents, &offset, h->register_count, sizeof(*s->registers))) &&
               (s->memories = take(contents, &offset, h->memory_count, sizeof(*s->memories))) &&
               (s->code = take(contents, &offset, h->code_count, 4)) &&
               (s->data = take(contents, &offset, h->data_size, 1)) &&
               (s->names = take(contents, &offset, h->name_size, 1));
  return whole ? iree_ok_status() : iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "vmvx program is truncated");
}

uint64_t vmvx_file_size(const vmvx_header_t* h) {
  const uint64_t sizes[] = {(uint64_t)h->function_count * sizeof(vmvx_function_row_t),
                            (uint64_t)h->register_count * sizeof(vmvx_register_row_t),
                            (uint64_t)h->memory_count * sizeof(vmvx_memory_row_t),
                            (uint64_t)h->code_count * 4,
                            h->data_size,
                            h->name_size};
  uint64_t offset = sizeof(*h);
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) offset = ((offset + 7) & ~7ull) + sizes[i];
  return offset;
}

static bool in_range(uint32_t first, uint32_t count, uint32_t limit) {
  return first <= limit && count <= limit - first;
}

static bool is_element(uint8_t type, uint8_t width) {
  if (type >= VMVX_TYPE_COUNT) return false;
  uint32_t bits = 8 * vmvx_type_bytes(type);
  if (type == VMVX_BOOL) return width == 1;
  if (type <= VMVX_I64) return width >= 2 && width <= bits;
  return type != VMVX_TF32 && width == float_formats[vmvx_type_format(type)].bits;  // tf32 is an f32
}

static iree_status_t check_function_row(const sections_t* s, const vmvx_function_row_t* row, bool may_thread) {
  const vmvx_header_t* h = s->header;
  uint64_t threads = (uint64_t)row->workgroup_size[0] * row->workgroup_size[1];
  bool fits = row->workgroup_size[0] <= 1024 && row->workgroup_size[1] <= 1024 && row->workgroup_size[2] <= 1024 &&
              threads * row->workgroup_size[2] >= 1 && threads * row->workgroup_size[2] <= 1024 &&
              (may_thread || threads * row->workgroup_size[2] == 1) && row->subgroup_size <= 64 &&
              !(row->subgroup_size & (row->subgroup_size - 1));
  if (!in_range(row->name_first, row->name_size, h->name_size) ||
      !in_range(row->register_first, row->register_count, h->register_count) ||
      !in_range(row->memory_first, row->memory_count, h->memory_count) ||
      !in_range(row->code_first, row->code_count, h->code_count) || row->workgroup_bytes > VMVX_MAX_LOCAL ||
      row->private_bytes > VMVX_MAX_LOCAL || row->memory_count > VMVX_MAX_MEMORIES || row->binding_count > 0xffff ||
      row->constant_count > 0xffff || !fits) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "vmvx function row is out of range");
  }
  return iree_ok_status();
}

static iree_status_t check_memory_rows(const vmvx_function_t* f) {
  for (uint32_t i = 0; i < f->memory_count; ++i) {
    const vmvx_memory_row_t* m = &f->memories[i];
    bool fits = is_element(m->type, m->width) && m->kind < VMVX_MEMORY_KIND_COUNT;
    if (fits && m->kind == VMVX_MEMORY_BINDING) fits = m->index < f->binding_count;
    if (fits && m->kind != VMVX_MEMORY_BINDING) {
      uint32_t bytes = m->kind == VMVX_MEMORY_WORKGROUP ? f->workgroup_bytes : f->private_bytes;
      fits = m->index % vmvx_type_bytes(m->type) == 0 && m->index <= bytes && m->length <= bytes - m->index;
    }
    if (!fits) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "vmvx memory %u is out of range", i);
  }
  return iree_ok_status();
}

static iree_status_t lay_out_registers(const sections_t* s, const vmvx_function_row_t* row, vmvx_function_t* f) {
  uint64_t offset = 0, widest = 0;
  for (uint32_t i = 0; i < f->register_count; ++i) {
    const vmvx_register_row_t* r = &s->registers[row->register_first + i];
    if (!is_element(r->type, r->width) || r->lanes < 1 || r->lanes > VMVX_MAX_LANES) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "vmvx register %u has no type", i);
    }
    uint64_t size = (uint64_t)vmvx_type_bytes(r->type) * r->lanes;
    uint64_t align = size > 32 ? 64 : size > 16 ? 32 : 16;
    offset = (offset + align - 1) & ~(align - 1);
    f->registers[i] =
        (vmvx_register_t){(uint32_t)offset, r->lanes, r->type, r->width, (uint8_t)vmvx_type_bytes(r->type)};
    offset += size;
    if (size > widest) widest = size;
    if (offset > VMVX_MAX_LOCAL) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "vmvx function has too many registers");
    }
  }
  f->scratch_offset = (uint32_t)((offset + 63) & ~63ull);
  f->frame_bytes = (uint32_t)(f->scratch_offset + ((widest + 63) & ~63ull));
  return iree_ok_status();
}

static iree_status_t instr_error(const vmvx_function_t* f, uint32_t at, uint32_t op, const char* wrong) {
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "vmvx function '%.*s', instruction %u ('%s'): %s",
                          (int)f->name.size, f->name.data, at, vmvx_op_name(op), wrong);
}

// Numbers instructions: `numbers[word]` is that of the instruction that starts there, or UINT32_MAX.
static iree_status_t number_instrs(const uint32_t* code, uint32_t count, vmvx_function_t* f, uint32_t* numbers) {
  for (uint32_t word = 0; word < count;) {
    uint32_t op = code[word];
    if (op >= VMVX_OP_COUNT) return instr_error(f, f->instr_count, op, "no such instruction");
    uint32_t operands = (uint32_t)strlen(vmvx_op_operands(op));
    if (operands > count - word - 1) return instr_error(f, f->instr_count, op, "is truncated");
    numbers[word] = f->instr_count++;
    for (uint32_t i = 1; i <= operands; ++i) numbers[word + i] = UINT32_MAX;
    word += 1 + operands;
  }
  return iree_ok_status();
}

static const char* decode_operand(const vmvx_function_t* f, char letter, uint32_t word, uint32_t* out) {
  *out = word;
  switch (letter) {
    case 'd':
    case 'r':
      return word < f->register_count ? NULL : "no such register";
    case 'm':
      return word < f->memory_count ? NULL : "no such memory";
    default:
      return NULL;
  }
}

static iree_status_t decode(const uint32_t* code, uint32_t count, const uint32_t* numbers, vmvx_check_t* check) {
  vmvx_function_t* f = (vmvx_function_t*)check->function;
  for (uint32_t i = 0, word = 0; i < f->instr_count; ++i) {
    vmvx_instr_t* instr = &f->instrs[i];
    instr->op = code[word++];
    const char* wrong = NULL;
    for (const char* letter = vmvx_op_operands(instr->op); *letter && !wrong; ++letter) {
      uint32_t* x = &instr->x[letter - vmvx_op_operands(instr->op)];
      wrong = decode_operand(f, *letter, code[word], x);
      if (*letter == 'L') {
        if (*x >= count || numbers[*x] == UINT32_MAX) wrong = "branch target";
        if (!wrong) *x = numbers[*x];
      }
      ++word;
    }
    if (!wrong) wrong = vmvx_check_instr(check, instr);
    if (wrong) return instr_error(f, i, instr->op, wrong);
    uint32_t fn = instr->op == VMVX_OP_reduce ? instr->x[2] : instr->op;
    bool own = fn != VMVX_OP_select && fn != VMVX_OP_cast && fn != VMVX_OP_castu && fn != VMVX_OP_bitcast;
    if (fn < VMVX_SCALAR_COUNT && own) {
      const vmvx_register_t* a = &f->registers[instr->x[1]];
      instr->loop = vmvx_loop_find(fn, a->type, a->width);
    }
    for (uint32_t k = 2; instr->op < VMVX_SCALAR_COUNT && k <= 3; ++k) {
      if (k >= strlen(vmvx_op_operands(instr->op))) instr->x[k] = instr->x[1];
    }
  }
  return iree_ok_status();
}

static iree_status_t open_code(const sections_t* s, const vmvx_function_row_t* row, bool threads, vmvx_function_t* f,
                               iree_allocator_t allocator) {
  const uint32_t* code = s->code + row->code_first;
  uint32_t* numbers = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(allocator, (iree_host_size_t)row->code_count + 1, sizeof(uint32_t),
                                                   (void**)&numbers));
  vmvx_check_t check = {f, s->header->data_size, threads};
  iree_status_t status = number_instrs(code, row->code_count, f, numbers);
  if (iree_status_is_ok(status)) {
    status = iree_allocator_malloc_array(allocator, (iree_host_size_t)f->instr_count + 1, sizeof(*f->instrs),
                                         (void**)&f->instrs);
  }
  if (iree_status_is_ok(status)) status = decode(code, row->code_count, numbers, &check);
  iree_allocator_free(allocator, numbers);
  IREE_RETURN_IF_ERROR(status);
  uint32_t at = 0;
  const char* wrong = vmvx_check_nesting(f, &at);
  return wrong ? instr_error(f, at, at < f->instr_count ? f->instrs[at].op : VMVX_OP_COUNT, wrong) : iree_ok_status();
}

static iree_status_t open_function(const sections_t* s, const vmvx_function_row_t* row, bool threads,
                                   vmvx_function_t* f, iree_allocator_t allocator) {
  IREE_RETURN_IF_ERROR(check_function_row(s, row, threads));
  *f = (vmvx_function_t){
      .name = iree_make_string_view(s->names + row->name_first, row->name_size),
      .binding_count = row->binding_count,
      .constant_count = row->constant_count,
      .workgroup_size = {row->workgroup_size[0], row->workgroup_size[1], row->workgroup_size[2]},
      .subgroup_size = row->subgroup_size,
      .workgroup_bytes = row->workgroup_bytes,
      .private_bytes = row->private_bytes,
      .register_count = row->register_count,
      .memory_count = row->memory_count,
      .memories = s->memories + row->memory_first,
      .data = s->data,
  };
  IREE_RETURN_IF_ERROR(check_memory_rows(f));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(allocator, (iree_host_size_t)f->register_count + 1,
                                                   sizeof(*f->registers), (void**)&f->registers));
  IREE_RETURN_IF_ERROR(lay_out_registers(s, row, f));
  return open_code(s, row, threads, f, allocator);
}

iree_status_t vmvx_program_open(iree_const_byte_span_t contents, bool threads, iree_allocator_t allocator,
                                vmvx_program_t* out_program) {
  *out_program = (vmvx_program_t){.allocator = allocator};
  sections_t s;
  IREE_RETURN_IF_ERROR(cut_sections(contents, &s));
  uint32_t count = s.header->function_count;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(allocator, (iree_host_size_t)count + 1,
                                                   sizeof(*out_program->functions), (void**)&out_program->functions));
  out_program->function_count = count;
  iree_status_t status = iree_ok_status();
  for (uint32_t i = 0; i < count && iree_status_is_ok(status); ++i) {
    status = open_function(&s, &s.functions[i], threads, &out_program->functions[i], allocator);
  }
  if (!iree_status_is_ok(status)) vmvx_program_close(out_program);
  return status;
}

void vmvx_program_close(vmvx_program_t* program) {
  if (!program) return;
  for (uint32_t i = 0; program->functions && i < program->function_count; ++i) {
    iree_allocator_free(program->allocator, program->functions[i].registers);
    iree_allocator_free(program->allocator, program->functions[i].instrs);
  }
  iree_allocator_free(program->allocator, program->functions);
  program->functions = NULL;
  program->function_count = 0;
}
