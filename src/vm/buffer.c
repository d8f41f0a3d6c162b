// Host byte buffers.

#include "iree/vm/buffer.h"

#include "iree/vm/module.h"

// Buffers of a module's storage are counted from none on, so that they have adapters of their own.
iree_vm_ref_type_t iree_vm_buffer_registration = 0;

iree_vm_ref_t iree_vm_buffer_retain_ref(iree_vm_buffer_t* value) {
  iree_vm_buffer_retain(value);
  return value ? (iree_vm_ref_t){value, iree_vm_buffer_type()} : iree_vm_ref_null();
}

iree_vm_ref_t iree_vm_buffer_move_ref(iree_vm_buffer_t* value) {
  if (value && value->storage_module) return iree_vm_buffer_retain_ref(value);  // nobody had a reference to give
  return value ? (iree_vm_ref_t){value, iree_vm_buffer_type()} : iree_vm_ref_null();
}

iree_status_t iree_vm_buffer_check_deref(const iree_vm_ref_t ref, iree_vm_buffer_t** out_ptr) {
  IREE_RETURN_IF_ERROR(iree_vm_ref_check(ref, iree_vm_buffer_type()));
  *out_ptr = (iree_vm_buffer_t*)ref.ptr;
  return iree_ok_status();
}

iree_status_t iree_vm_buffer_check_deref_or_null(const iree_vm_ref_t ref, iree_vm_buffer_t** out_ptr) {
  *out_ptr = NULL;
  return ref.type == IREE_VM_REF_TYPE_NULL ? iree_ok_status() : iree_vm_buffer_check_deref(ref, out_ptr);
}

// A buffer and its bytes in one allocation have no allocator for the bytes; this remembers how to free the whole.
typedef struct created_buffer_t {
  iree_vm_buffer_t base;
  iree_allocator_t allocator;
} created_buffer_t;

void iree_vm_buffer_initialize(iree_vm_buffer_access_t access, iree_byte_span_t data, iree_allocator_t allocator,
                               iree_vm_buffer_t* out_buffer) {
  memset(out_buffer, 0, sizeof(*out_buffer));
  iree_atomic_ref_count_init(&out_buffer->ref_object.counter);
  out_buffer->access = access;
  out_buffer->data = data;
  out_buffer->allocator = allocator;
}

void iree_vm_buffer_initialize_module_storage(iree_byte_span_t data, iree_vm_module_t* storage_module,
                                              iree_vm_buffer_t* out_buffer) {
  iree_vm_buffer_initialize(IREE_VM_BUFFER_ACCESS_ORIGIN_MODULE, data, iree_allocator_null(), out_buffer);
  iree_atomic_ref_count_init_value(&out_buffer->ref_object.counter, 0);
  out_buffer->storage_module = storage_module;
}

void iree_vm_buffer_deinitialize(iree_vm_buffer_t* buffer) {
  if (buffer->storage_module) {
    if (iree_atomic_ref_count_load(&buffer->ref_object.counter) != 0) iree_abort();
    return;
  }
  iree_atomic_ref_count_abort_if_uses(&buffer->ref_object.counter);
  if (!iree_allocator_is_null(buffer->allocator)) iree_allocator_free(buffer->allocator, buffer->data.data);
  buffer->data = iree_byte_span_empty();
}

iree_status_t iree_vm_buffer_create(iree_vm_buffer_access_t access, iree_host_size_t length, iree_host_size_t alignment,
                                    iree_allocator_t allocator, iree_vm_buffer_t** out_buffer) {
  *out_buffer = NULL;
  if (alignment < 16) alignment = 16;
  iree_host_size_t size = 0;
  if (alignment & (alignment - 1) || !iree_host_size_checked_add(length, sizeof(created_buffer_t) + alignment, &size)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "buffer of %zu bytes aligned to %zu", length, alignment);
  }
  created_buffer_t* created = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, size, (void**)&created));
  created->allocator = allocator;
  uint8_t* data = (uint8_t*)iree_host_align((uintptr_t)(created + 1), alignment);
  iree_vm_buffer_initialize(access, iree_make_byte_span(data, length), iree_allocator_null(), &created->base);
  *out_buffer = &created->base;
  return iree_ok_status();
}

// Without references: a created buffer is freed, one of a module's storage stays where it is and lets go of the module.
static void destroy(void* ptr) {
  iree_vm_buffer_t* buffer = ptr;
  if (buffer->storage_module) return iree_vm_module_release(buffer->storage_module);
  if (!iree_allocator_is_null(buffer->allocator)) iree_allocator_free(buffer->allocator, buffer->data.data);
  created_buffer_t* created = ptr;
  iree_allocator_free(created->allocator, created);
}

void iree_vm_buffer_retain(iree_vm_buffer_t* buffer) {
  if (!buffer) return;
  int32_t before = iree_atomic_fetch_add(&buffer->ref_object.counter, 1, iree_memory_order_relaxed);
  if (!before && buffer->storage_module) iree_vm_module_retain(buffer->storage_module);
}

void iree_vm_buffer_release(iree_vm_buffer_t* buffer) {
  if (buffer && iree_atomic_ref_count_dec(&buffer->ref_object.counter) == 1) destroy(buffer);
}

iree_status_t iree_vm_buffer_wrap_retain(iree_vm_buffer_t* buffer, iree_vm_ref_t* out_ref) {
  iree_vm_ref_t before = *out_ref;
  *out_ref = iree_vm_buffer_retain_ref(buffer);
  iree_vm_ref_release(&before);
  return iree_ok_status();
}

iree_status_t iree_vm_buffer_clone(iree_vm_buffer_access_t access, const iree_vm_buffer_t* source_buffer,
                                   iree_host_size_t source_offset, iree_host_size_t length, iree_host_size_t alignment,
                                   iree_allocator_t allocator, iree_vm_buffer_t** out_buffer) {
  *out_buffer = NULL;
  iree_const_byte_span_t source = {0};
  IREE_RETURN_IF_ERROR(iree_vm_buffer_map_ro(source_buffer, source_offset, length, 1, &source));
  IREE_RETURN_IF_ERROR(iree_vm_buffer_create(access, length, alignment, allocator, out_buffer));
  if (length) memcpy((*out_buffer)->data.data, source.data, length);
  return iree_ok_status();
}

iree_host_size_t iree_vm_buffer_length(const iree_vm_buffer_t* buffer) { return buffer->data.data_length; }
uint8_t* iree_vm_buffer_data(const iree_vm_buffer_t* buffer) { return buffer->data.data; }
iree_byte_span_t iree_vm_buffer_contents(const iree_vm_buffer_t* buffer) {
  bool mutable = buffer && iree_all_bits_set(buffer->access, IREE_VM_BUFFER_ACCESS_MUTABLE);
  return mutable ? buffer->data : iree_byte_span_empty();
}
iree_const_byte_span_t iree_vm_buffer_const_contents(const iree_vm_buffer_t* buffer) {
  return buffer ? iree_const_cast_byte_span(buffer->data) : iree_const_byte_span_empty();
}

iree_status_t iree_vm_buffer_map_ro(const iree_vm_buffer_t* buffer, iree_host_size_t offset, iree_host_size_t length,
                                    iree_host_size_t alignment, iree_const_byte_span_t* out_span) {
  if (offset > buffer->data.data_length || length > buffer->data.data_length - offset) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "%zu bytes at offset %zu are outside a buffer of %zu bytes",
                            length, offset, buffer->data.data_length);
  }
  if (alignment > 1 && offset % alignment) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "buffer offset %zu is not a multiple of %zu", offset, alignment);
  }
  *out_span = iree_make_const_byte_span(buffer->data.data + offset, length);
  return iree_ok_status();
}

iree_status_t iree_vm_buffer_map_rw(const iree_vm_buffer_t* buffer, iree_host_size_t offset, iree_host_size_t length,
                                    iree_host_size_t alignment, iree_byte_span_t* out_span) {
  if (!(buffer->access & IREE_VM_BUFFER_ACCESS_MUTABLE)) {
    return iree_make_status(IREE_STATUS_PERMISSION_DENIED, "buffer is read-only");
  }
  iree_const_byte_span_t span = {0};
  IREE_RETURN_IF_ERROR(iree_vm_buffer_map_ro(buffer, offset, length, alignment, &span));
  *out_span = iree_cast_const_byte_span(span);
  return iree_ok_status();
}

iree_status_t iree_vm_buffer_copy_bytes(const iree_vm_buffer_t* source_buffer, iree_host_size_t source_offset,
                                        const iree_vm_buffer_t* target_buffer, iree_host_size_t target_offset,
                                        iree_host_size_t length) {
  iree_const_byte_span_t source = {0};
  iree_byte_span_t target = {0};
  IREE_RETURN_IF_ERROR(iree_vm_buffer_map_ro(source_buffer, source_offset, length, 1, &source));
  IREE_RETURN_IF_ERROR(iree_vm_buffer_map_rw(target_buffer, target_offset, length, 1, &target));
  if (length) memmove(target.data, source.data, length);
  return iree_ok_status();
}

iree_status_t iree_vm_buffer_compare_bytes(const iree_vm_buffer_t* lhs_buffer, iree_host_size_t lhs_offset,
                                           const iree_vm_buffer_t* rhs_buffer, iree_host_size_t rhs_offset,
                                           iree_host_size_t length, bool* out_result) {
  *out_result = false;
  iree_const_byte_span_t lhs = {0}, rhs = {0};
  IREE_RETURN_IF_ERROR(iree_vm_buffer_map_ro(lhs_buffer, lhs_offset, length, 1, &lhs));
  IREE_RETURN_IF_ERROR(iree_vm_buffer_map_ro(rhs_buffer, rhs_offset, length, 1, &rhs));
  *out_result = !length || memcmp(lhs.data, rhs.data, length) == 0;
  return iree_ok_status();
}

iree_status_t iree_vm_buffer_fill_bytes(const iree_vm_buffer_t* target_buffer, iree_host_size_t target_offset,
                                        iree_host_size_t length, uint8_t value) {
  return iree_vm_buffer_fill_elements(target_buffer, target_offset, length, 1, &value);
}

// Bytes of `count` elements; false when that overflows.
static bool elements_size(iree_host_size_t count, iree_host_size_t length, iree_host_size_t* out_size) {
  return iree_host_size_checked_mul(count, length, out_size);
}

iree_status_t iree_vm_buffer_fill_elements(const iree_vm_buffer_t* target_buffer, iree_host_size_t target_offset,
                                           iree_host_size_t element_count, iree_host_size_t element_length,
                                           const void* value) {
  iree_byte_span_t target = {0};
  iree_host_size_t size = 0;
  if (!elements_size(element_count, element_length, &size)) return iree_make_status(IREE_STATUS_OUT_OF_RANGE);
  IREE_RETURN_IF_ERROR(iree_vm_buffer_map_rw(target_buffer, target_offset, size, element_length, &target));
  for (iree_host_size_t i = 0; i < size; i += element_length) memcpy(target.data + i, value, element_length);
  return iree_ok_status();
}

iree_status_t iree_vm_buffer_read_elements(const iree_vm_buffer_t* source_buffer, iree_host_size_t source_offset,
                                           void* target_ptr, iree_host_size_t element_count,
                                           iree_host_size_t element_length) {
  iree_const_byte_span_t source = {0};
  iree_host_size_t size = 0;
  if (!elements_size(element_count, element_length, &size)) return iree_make_status(IREE_STATUS_OUT_OF_RANGE);
  IREE_RETURN_IF_ERROR(iree_vm_buffer_map_ro(source_buffer, source_offset, size, element_length, &source));
  if (size) memcpy(target_ptr, source.data, size);
  return iree_ok_status();
}

iree_status_t iree_vm_buffer_write_elements(const void* source_ptr, const iree_vm_buffer_t* target_buffer,
                                            iree_host_size_t target_offset, iree_host_size_t element_count,
                                            iree_host_size_t element_length) {
  iree_byte_span_t target = {0};
  iree_host_size_t size = 0;
  if (!elements_size(element_count, element_length, &size)) return iree_make_status(IREE_STATUS_OUT_OF_RANGE);
  IREE_RETURN_IF_ERROR(iree_vm_buffer_map_rw(target_buffer, target_offset, size, element_length, &target));
  if (size) memcpy(target.data, source_ptr, size);
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Hash
//===----------------------------------------------------------------------------------------------------------------===

static uint64_t rotate(uint64_t value, int count) { return value << count | value >> (64 - count); }

static void sip_rounds(uint64_t v[4], int count) {
  for (int i = 0; i < count; ++i) {
    v[0] += v[1], v[1] = rotate(v[1], 13) ^ v[0], v[0] = rotate(v[0], 32);
    v[2] += v[3], v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3], v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1], v[1] = rotate(v[1], 17) ^ v[2], v[2] = rotate(v[2], 32);
  }
}

static void sip_word(uint64_t v[4], uint64_t word) {
  v[3] ^= word;
  sip_rounds(v, 2);
  v[0] ^= word;
}

iree_status_t iree_vm_buffer_hash(const iree_vm_buffer_t* source_buffer, iree_host_size_t source_offset,
                                  iree_host_size_t length, int64_t* out_result) {
  const uint64_t key[2] = {0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull};
  uint64_t v[4] = {key[0] ^ 0x736f6d6570736575ull, key[1] ^ 0x646f72616e646f6dull, key[0] ^ 0x6c7967656e657261ull,
                   key[1] ^ 0x7465646279746573ull};
  iree_const_byte_span_t span;
  IREE_RETURN_IF_ERROR(iree_vm_buffer_map_ro(source_buffer, source_offset, length, 1, &span));
  uint64_t word = 0;
  iree_host_size_t at = 0;
  for (; length - at >= sizeof(word); at += sizeof(word)) {
    memcpy(&word, span.data + at, sizeof(word));
    sip_word(v, word);
  }
  word = 0;
  if (at < length) memcpy(&word, span.data + at, length - at);
  sip_word(v, word | (uint64_t)length << 56);
  v[2] ^= 0xff;
  sip_rounds(v, 4);
  *out_result = (int64_t)(v[0] ^ v[1] ^ v[2] ^ v[3]);
  return iree_ok_status();
}
