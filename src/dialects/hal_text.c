// Attributes of executables and devices. See hal.h. They are kept as text, which is read where it is asked for.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "dialects/hal.h"

//===----------------------------------------------------------------------------------------------------------------===
// Text
//===----------------------------------------------------------------------------------------------------------------===

static hal_text_t trim(const char* at, const char* end) {
  while (at < end && isspace((unsigned char)*at)) ++at;
  while (end > at && isspace((unsigned char)end[-1])) --end;
  return (hal_text_t){at, end};
}

hal_text_t hal_text_of(const char* text) { return trim(text, text + strlen(text)); }

// The first of `wanted` outside of brackets and strings, or the end. `->` and `>=` are no brackets.
static const char* find_outside(const char* at, const char* end, char wanted) {
  int depth = 0;
  for (; at < end; ++at) {
    if (!depth && *at == wanted) return at;
    if (*at == '"') {
      for (++at; at < end && *at != '"'; ++at) at += *at == '\\';
    } else if (*at == '-' && at + 1 < end && at[1] == '>') {
      ++at;
    } else {
      depth += strchr("<([{", *at) != NULL;
      depth -= strchr(">)]}", *at) != NULL;
    }
  }
  return end;
}

bool hal_text_next(hal_text_t* list, hal_text_t* out) {
  if (list->at == list->end) return false;
  const char* end = find_outside(list->at, list->end, ',');
  *out = trim(list->at, end);
  *list = trim(end < list->end ? end + 1 : end, list->end);
  return true;
}

bool hal_text_divide(hal_text_t item, hal_text_t* key, hal_text_t* value) {
  const char* equals = find_outside(item.at, item.end, '=');
  if (equals == item.end) return false;
  *key = trim(item.at, equals);
  *value = trim(equals + 1, item.end);
  return true;
}

bool hal_text_enter(hal_text_t text, const char* prefix, char close, hal_text_t* inside) {
  size_t size = strlen(prefix);
  if ((size_t)(text.end - text.at) <= size || memcmp(text.at, prefix, size) != 0) return false;
  if (find_outside(text.at + size, text.end, close) != text.end - 1) return false;
  *inside = trim(text.at + size, text.end - 1);
  return true;
}

bool hal_text_entry(hal_text_t dict, const char* key, hal_text_t* value) {
  hal_text_t list, item, name;
  size_t size = strlen(key);
  if (!hal_text_enter(dict, "{", '}', &list)) return false;
  while (hal_text_next(&list, &item)) {
    if (!hal_text_divide(item, &name, value)) continue;
    bool quoted = name.end - name.at >= 2 && *name.at == '"';
    if (quoted) ++name.at, --name.end;
    if ((size_t)(name.end - name.at) == size && memcmp(name.at, key, size) == 0) return true;
  }
  return false;
}

static int hex_value(char c) { return isdigit((unsigned char)c) ? c - '0' : toupper((unsigned char)c) - 'A' + 10; }

const char* hal_text_string(ir_context_t* ctx, hal_text_t text) {
  hal_text_t inside;
  if (text.end - text.at < 2 || *text.at != '"' || text.end[-1] != '"') return NULL;
  inside = (hal_text_t){text.at + 1, text.end - 1};
  char *out = arena_strndup(ir_context_arena(ctx), inside.at, (size_t)(inside.end - inside.at)), *to = out;
  for (const char* at = inside.at; at < inside.end; ++at) {
    if (*at == '"') return NULL;
    if (*at == '\\' && inside.end - at > 2 && isxdigit((unsigned char)at[1]) && isxdigit((unsigned char)at[2])) {
      *to++ = (char)(hex_value(at[1]) * 16 + hex_value(at[2]));
      at += 2;
    } else if (*at == '\\' && inside.end - at > 1) {
      ++at;
      *to++ = (char)(*at == 'n' ? '\n' : *at == 't' ? '\t' : *at);
    } else {
      *to++ = *at;
    }
  }
  *to = 0;
  return out;
}

bool hal_text_number(hal_text_t text, int64_t* out) {
  char digits[24] = {0}, *behind = NULL;
  const char* end = find_outside(text.at, text.end, ':');
  text = trim(text.at, end);
  if (text.at == text.end || (size_t)(text.end - text.at) >= sizeof(digits)) return false;
  memcpy(digits, text.at, (size_t)(text.end - text.at));
  *out = strtoll(digits, &behind, 0);
  return !*behind;
}

//===----------------------------------------------------------------------------------------------------------------===
// Attributes
//===----------------------------------------------------------------------------------------------------------------===

bool hal_read_target(ir_context_t* ctx, hal_text_t text, hal_target_t* out) {
  hal_text_t list, item;
  *out = (hal_target_t){.whole = text, .configuration = {"", ""}};
  out->configuration.end = out->configuration.at;
  if (!hal_text_enter(text, "#hal.executable.target<", '>', &list)) return false;
  if (!hal_text_next(&list, &item) || !(out->backend = hal_text_string(ctx, item))) return false;
  if (!hal_text_next(&list, &item) || !(out->format = hal_text_string(ctx, item))) return false;
  return !hal_text_next(&list, &out->configuration) || list.at == list.end;
}

const char* hal_target_processor(ir_context_t* ctx, const hal_target_t* target) {
  static const char* const names[] = {"target_arch", "cpu"};
  static const char* const details[] = {"iree_codegen.target_info", "iree.gpu.target"};
  hal_text_t value, list, item, key;
  for (int i = 0; i < 2; ++i) {
    if (hal_text_entry(target->configuration, names[i], &value)) return hal_text_string(ctx, value);
  }
  for (int i = 0; i < 2; ++i) {
    if (!hal_text_entry(target->configuration, details[i], &value)) continue;
    if (!hal_text_enter(value, "#iree_gpu.target<", '>', &list)) continue;
    while (hal_text_next(&list, &item)) {
      if (!hal_text_divide(item, &key, &value) || !hal_text_equal(key, hal_text_of("arch"))) continue;
      const char* name = hal_text_string(ctx, value);
      return name && *name ? name : NULL;
    }
  }
  return NULL;
}

bool hal_read_layout(const ir_attr_t* attr, hal_layout_t* out) {
  *out = (hal_layout_t){0};
  if (!attr || attr->kind != IR_ATTR_OPAQUE || strcmp(attr->text, "hal.pipeline.layout") != 0 || !attr->body) {
    return false;
  }
  hal_text_t list = hal_text_of(attr->body), item, key, value, bindings;
  while (hal_text_next(&list, &item)) {
    if (!hal_text_divide(item, &key, &value)) return false;
    if (hal_text_equal(key, hal_text_of("constants"))) {
      if (!hal_text_number(value, &out->constants) || out->constants < 0) return false;
    } else if (hal_text_equal(key, hal_text_of("bindings"))) {
      if (!hal_text_enter(value, "[", ']', &bindings)) return false;
      while (hal_text_next(&bindings, &item)) ++out->bindings;
    }
  }
  return true;
}

const ir_attr_t* hal_objects_of(const ir_op_t* executable) {
  static const char* const names[] = {"objects", "hal.executable.objects"};
  for (int i = 0; i < 2; ++i) {
    const ir_attr_t* attr = ir_op_attr(executable, names[i]);
    if (attr && attr->kind == IR_ATTR_OPAQUE && strcmp(attr->text, "hal.executable.objects") == 0) return attr;
  }
  return NULL;
}
