// Calls of imports with spans, any number of tuples. In packed arguments a span is the count of its tuples and then
// they, each aligned, and with the size, of an array's element of a C struct of it.
#include "vm/bytecode/packing.h"

typedef enum { SPANS_MEASURE, SPANS_PACK, SPANS_RELEASE } spans_walk_t;

typedef struct spans_t {
  const vm_machine_t* m;
  const vm_word_t* regs;    // the next one
  const vm_word_t* counts;  // of the next span
  iree_byte_span_t packed;  // none when it is measured
  iree_host_size_t offset;
} spans_t;

static iree_host_size_t alignment_of(vm_type_t type) { return iree_min(vm_type_packed_size(type), 8u); }

static void* next_place(spans_t* s, spans_walk_t walk, vm_type_t type) {
  if (walk != SPANS_MEASURE) return vm_packed_next(s->packed, type, &s->offset);
  s->offset = iree_host_align(s->offset, alignment_of(type)) + vm_type_packed_size(type);
  return NULL;
}

static void walk_value(spans_t* s, spans_walk_t walk, vm_type_t type) {
  void* at = next_place(s, walk, type);
  vm_word_t reg = *s->regs++;
  if (walk == SPANS_MEASURE) return;
  if (type == VM_TYPE_REF) {
    if (walk == SPANS_PACK) iree_vm_ref_retain(&s->m->refs[reg & (VM_REGISTER_REF - 1)], at);
    if (walk == SPANS_RELEASE) iree_vm_ref_release(at);
  } else if (walk == SPANS_PACK) {
    vm_packed_copy(at, &s->m->values[reg], type);
  }
}

// The span whose tuple's letters begin at `tuple`; their end.
static const char* walk_span(spans_t* s, spans_walk_t walk, const char* tuple, iree_host_size_t* alignment) {
  iree_host_size_t own = 4;
  vm_word_t count = *s->counts++;
  const char* end = tuple;
  for (; *end != IREE_VM_CCONV_TYPE_SPAN_END; ++end) own = iree_max(own, alignment_of(vm_type_of_letter(*end)));
  void* at = next_place(s, walk, VM_TYPE_I32);
  if (walk == SPANS_PACK) memcpy(at, &count, sizeof(count));
  s->offset = iree_host_align(s->offset, own);
  for (vm_word_t i = 0; i < count; ++i) {
    for (const char* letter = tuple; letter < end; ++letter) walk_value(s, walk, vm_type_of_letter(*letter));
    s->offset = iree_host_align(s->offset, own);
  }
  *alignment = iree_max(*alignment, own);
  return end;
}

// All arguments; their size.
static iree_host_size_t walk_arguments(spans_t s, spans_walk_t walk, const module_convention_t* convention) {
  iree_host_size_t alignment = 4;
  const char *at = convention->arguments, *end = at + convention->argument_count;
  for (; at < end; ++at) {
    if (*at == IREE_VM_CCONV_TYPE_SPAN_START) {
      at = walk_span(&s, walk, at + 1, &alignment);
    } else {
      alignment = iree_max(alignment, alignment_of(vm_type_of_letter(*at)));
      walk_value(&s, walk, vm_type_of_letter(*at));
    }
  }
  return iree_host_align(s.offset, alignment);
}

static void unpack_results(vm_machine_t* m, const module_convention_t* convention, const vm_word_t* regs,
                           iree_byte_span_t packed, bool keep) {
  iree_host_size_t offset = 0;
  for (uint32_t i = 0; i < convention->result_count; ++i) {
    vm_type_t type = vm_type_of_letter(convention->results[i]);
    void* at = vm_packed_next(packed, type, &offset);
    if (type == VM_TYPE_REF) {
      if (keep) iree_vm_ref_move(at, &m->refs[regs[i] & (VM_REGISTER_REF - 1)]);
      if (!keep) iree_vm_ref_release(at);
    } else if (keep) {
      vm_packed_copy(&m->values[regs[i]], at, type);
    }
  }
}

iree_status_t vm_call_import_spans(vm_machine_t* m) {
  const vm_word_t *results = m->pc + 1, *callee = results + m->pc[0], *regs = callee + 2;
  const vm_word_t* counts = regs + callee[1] + 1;
  m->pc = counts + counts[-1];
  module_convention_t convention;
  module_convention_parse_spans(module_image_string(m->image, m->image->imports[*callee].convention), &convention);
  const vm_import_t* import = &m->state->imports[*callee];
  IREE_RETURN_IF_ERROR(vm_import_check(import));
  spans_t spans = {.m = m, .regs = regs, .counts = counts};
  iree_host_size_t size = walk_arguments(spans, SPANS_MEASURE, &convention), results_at = iree_host_align(size, 16);
  vm_scratch_t scratch;
  uint8_t* packed = NULL;
  IREE_RETURN_IF_ERROR(vm_scratch_allocate(&scratch, m, results_at + import->result_size, 1, (void**)&packed));
  memset(packed, 0, results_at + import->result_size);
  spans.packed = iree_make_byte_span(packed, size);
  iree_byte_span_t returned = iree_make_byte_span(packed + results_at, import->result_size);
  walk_arguments(spans, SPANS_PACK, &convention);
  iree_status_t status = vm_import_call(import, m->stack, spans.packed, returned);
  unpack_results(m, &convention, results, returned, iree_status_is_ok(status));
  walk_arguments(spans, SPANS_RELEASE, &convention);
  vm_scratch_free(&scratch);
  return status;
}
