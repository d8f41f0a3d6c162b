// See source.h.
#include "compiler/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_kind.h"
#include "base/memory.h"
#include "base/stream.h"

static bool read_stream(ir_context_t* ctx, int fd, source_file_t* out) {
  out->data = stream_read(fd, &out->size);
  return out->data || ir_error(ctx, NULL, "cannot read '%s': %s", out->path, strerror(errno));
}

static bool map_file(ir_context_t* ctx, const char* path, source_file_t* out) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (fd < 0 || fstat(fd, &info)) {
    int error = errno;
    if (fd >= 0) close(fd);
    return ir_error(ctx, NULL, "cannot open input file '%s': %s", path, strerror(error));
  }
  if (S_ISDIR(info.st_mode)) {
    close(fd);
    return ir_error(ctx, NULL, "cannot open input file '%s': it is a directory; a .mlir or .onnx file is needed", path);
  }
  bool ok = true;
  if (!S_ISREG(info.st_mode)) {
    ok = read_stream(ctx, fd, out);
  } else if (info.st_size > 0) {
    void* data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    ok = data != MAP_FAILED;
    if (!ok) ir_error(ctx, NULL, "cannot map '%s': %s", path, strerror(errno));
    out->data = ok ? data : NULL;
    out->size = ok ? (size_t)info.st_size : 0;
    out->mapped = ok;
  } else {
    out->data = "";
  }
  close(fd);
  return ok;
}

static bool has_suffix(const char* path, const char* suffix) {
  size_t size = strlen(path), end = strlen(suffix);
  return size >= end && strcmp(path + size - end, suffix) == 0;
}

static void release(void* user) {
  source_file_t* source = user;
  onnx_files_finish(&source->onnx_files);
  if (source->mapped) munmap((void*)source->data, source->size);
  source->mapped = false;
}

bool source_open(ir_context_t* ctx, const char* path, const char* text, size_t size, source_file_t* out) {
  *out = (source_file_t){.path = strcmp(path, "-") ? path : "<stdin>"};
  memory_cleanup_add(&out->cleanup, release, out);
  const char* base = strrchr(path, '/');
  base = base ? base + 1 : path;
  const char* dot = strrchr(base, '.');
  size_t stem = dot && dot != base ? (size_t)(dot - base) : strlen(base);
  if (strcmp(path, "-") == 0) base = "module", stem = 6;
  if (stem >= sizeof(out->stem)) stem = sizeof(out->stem) - 1;
  memcpy(out->stem, base, stem);
  out->is_onnx = has_suffix(path, ".onnx");
  if (text) {
    out->data = text;
    out->size = size;
    return true;
  }
  if (strcmp(path, "-") == 0) return read_stream(ctx, STDIN_FILENO, out);
  if (!map_file(ctx, path, out)) return false;
  if (out->mapped) ir_context_mapped_source(ctx, out->data, out->size);
  return true;
}

bool source_map(ir_context_t* ctx, const char* path, source_file_t* out) {
  *out = (source_file_t){.path = path};
  memory_cleanup_add(&out->cleanup, release, out);
  return map_file(ctx, path, out);
}

void source_close(source_file_t* source) {
  memory_cleanup_remove(&source->cleanup);
  release(source);
}

ir_op_t* source_parse(ir_context_t* ctx, source_file_t* source) {
  file_kind_t kind = file_kind_of(source->data, source->size);
  if (source->is_onnx || kind == FILE_KIND_ONNX) {
    onnx_options_t options = {.externalize_inputs = -1};
    onnx_source_t model = {source->path, source->data, source->size};
    return onnx_import_buffer(ctx, &model, &options, &source->onnx_files);
  }
  if (kind == FILE_KIND_FLATBUFFER || (source->size > 4 && memcmp(source->data, "PK\3\4", 4) == 0)) {
    const ir_loc_t* loc = ir_loc_file(ctx, source->path, 1, 1);
    ir_error(ctx, loc, "this is a compiled module (.vmfb); iree-run-module runs it, and this takes MLIR or ONNX");
    return NULL;
  }
  return ir_parse_module(ctx, source->path, source->data, source->size);
}
