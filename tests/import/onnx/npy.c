// See npy.h.
#include "npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* find_value(const char* header, const char* key) {
  const char* at = strstr(header, key);
  return at ? at + strlen(key) : NULL;
}

static const ir_attr_t* parse(ir_context_t* ctx, FILE* file, const ir_type_t* element) {
  unsigned char head[10];
  if (fread(head, 1, 10, file) != 10 || memcmp(head, "\x93NUMPY\x01", 7) != 0) return NULL;
  char header[4096] = {0};
  size_t length = head[8] | (size_t)head[9] << 8;
  if (length >= sizeof(header) || fread(header, 1, length, file) != length) return NULL;
  const char* at = find_value(header, "'shape': (");
  int64_t dims[32];
  int32_t rank = 0;
  while (at && *at && *at != ')' && rank < 32) {
    char* end;
    dims[rank++] = strtoll(at, &end, 10);
    at = end;
    while (*at == ',' || *at == ' ') ++at;
  }
  if (!at || strstr(header, "'fortran_order': True")) return NULL;
  const ir_type_t* type = ir_type_tensor(ctx, element, rank, dims);
  size_t size = (size_t)ir_type_count(type) * ir_type_bytes(element);
  char* data = arena_alloc(ir_context_arena(ctx), size + 1);
  return fread(data, 1, size, file) == size ? ir_attr_elements(ctx, type, data, size) : NULL;
}

const ir_attr_t* npy_read(ir_context_t* ctx, const char* path, const ir_type_t* element) {
  FILE* file = fopen(path, "rb");
  const ir_attr_t* attr = file ? parse(ctx, file, element) : NULL;
  if (file) fclose(file);
  if (!attr) fprintf(stderr, "%s: cannot be read as an array of that type\n", path);
  return attr;
}

static const char* type_code(const ir_type_t* element) {
  static char code[8];
  bool boolean = ir_type_is_int(element) && element->width == 1;
  char letter = ir_type_is_float(element) && element->float_kind != IR_BF16 ? 'f' : 'i';
  snprintf(code, sizeof(code), "%s%c%u", boolean ? "|" : "<", boolean ? 'b' : letter, ir_type_bytes(element));
  if (ir_type_is_float(element) && ir_type_bytes(element) == 1) return "|u1";
  return code;
}

bool npy_write(const char* path, const ir_attr_t* attr) {
  char header[1024];
  int length = snprintf(header, sizeof(header), "{'descr': '%s', 'fortran_order': False, 'shape': (",
                        type_code(attr->type->element));
  for (int32_t i = 0; i < attr->type->rank; ++i) {
    length += snprintf(header + length, sizeof(header) - (size_t)length, "%lld,", (long long)attr->type->dims[i]);
  }
  length += snprintf(header + length, sizeof(header) - (size_t)length, "), }");
  while ((length + 11) % 64) header[length++] = ' ';
  header[length++] = '\n';
  FILE* file = fopen(path, "wb");
  if (!file) return perror(path), false;
  unsigned char head[10] = "\x93NUMPY\x01";
  head[8] = (unsigned char)(length & 0xff);
  head[9] = (unsigned char)(length >> 8);
  fwrite(head, 1, 10, file);
  fwrite(header, 1, (size_t)length, file);
  int64_t count = ir_type_count(attr->type);
  size_t bytes = ir_type_bytes(attr->type->element);
  for (int64_t i = 0; i < count; ++i)
    fwrite((const char*)ir_attr_data(attr) + (attr->splat ? 0 : (size_t)i * bytes), 1, bytes, file);
  return fclose(file) == 0;
}
