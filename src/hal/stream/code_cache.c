// Files of machine code. A file is written under another name and then renamed, so that nobody reads half of one.
#include "hal/stream/code_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SUFFIX ".cubin"
#define PARTIAL ".XXXXXX"  // of a file that is being written
enum { MAX_FILE = CODE_CACHE_MAX_PATH + 64, ABANDONED_SECONDS = 3600 };

typedef struct header_t {
  char magic[8];
  code_cache_key_t key;
  uint64_t code_size;  // bytes behind the header
  uint64_t code_hash;
} header_t;
static const char magic[8] = "iree-c1";

//===----------------------------------------------------------------------------------------------------------------===
// Keys
//===----------------------------------------------------------------------------------------------------------------===

static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 29;
}

static uint64_t hash_bytes(iree_const_byte_span_t data, uint64_t seed) {
  uint64_t hash = mix(seed, data.data_length);
  for (size_t i = 0; i < data.data_length; i += sizeof(uint64_t)) {
    uint64_t word = 0;
    memcpy(&word, data.data + i, iree_min(sizeof(word), data.data_length - i));
    hash = mix(hash, word);
  }
  return mix(hash, hash >> 32);
}

code_cache_key_t code_cache_key(iree_const_byte_span_t source, const char* library, uint32_t version, uint32_t gpu) {
  iree_const_byte_span_t name = iree_make_const_byte_span(library, strlen(library));
  uint64_t seed = hash_bytes(name, UINT64_C(0xc2b2ae3d27d4eb4f));
  return (code_cache_key_t){{hash_bytes(source, 1), hash_bytes(source, seed)}, source.data_length, version, gpu};
}

bool code_cache_default_folder(char out_folder[CODE_CACHE_MAX_PATH]) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  bool has_cache = cache && *cache == '/';  // the specification of XDG: others are ignored
  if (!has_cache && (!home || *home != '/')) return false;
  int length = snprintf(out_folder, CODE_CACHE_MAX_PATH, "%s%s/iree-c/cuda", has_cache ? cache : home,
                        has_cache ? "" : "/.cache");
  return length < CODE_CACHE_MAX_PATH;
}

static void file_name(const char* folder, const code_cache_key_t* key, char out_name[MAX_FILE]) {
  snprintf(out_name, MAX_FILE, "%s/%016" PRIx64 "%016" PRIx64 "-%" PRIu32 "-sm_%" PRIu32 SUFFIX, folder, key->hash[0],
           key->hash[1], key->version, key->gpu);
}

//===----------------------------------------------------------------------------------------------------------------===
// Reading
//===----------------------------------------------------------------------------------------------------------------===

static bool read_all(int file, void* data, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t count = read(file, (char*)data + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += (size_t)count;
  }
  return true;
}

static bool is_for(const header_t* header, const code_cache_key_t* key, uint64_t file_size) {
  return memcmp(header->magic, magic, sizeof(magic)) == 0 && memcmp(&header->key, key, sizeof(*key)) == 0 &&
         header->code_size > 0 && header->code_size == file_size - sizeof(*header);
}

static iree_byte_span_t read_code(int file, const code_cache_key_t* key, iree_allocator_t host_allocator) {
  header_t header;
  struct stat info;
  uint8_t* code = NULL;
  if (fstat(file, &info) != 0 || (uint64_t)info.st_size < sizeof(header) || !read_all(file, &header, sizeof(header)) ||
      !is_for(&header, key, (uint64_t)info.st_size)) {
    return iree_byte_span_empty();
  }
  iree_status_t status = iree_allocator_malloc(host_allocator, header.code_size + 1, (void**)&code);
  if (iree_status_consume_code(status) != IREE_STATUS_OK) return iree_byte_span_empty();
  if (read_all(file, code, header.code_size) &&
      hash_bytes(iree_make_const_byte_span(code, header.code_size), 0) == header.code_hash) {
    return iree_make_byte_span(code, header.code_size);
  }
  iree_allocator_free(host_allocator, code);
  return iree_byte_span_empty();
}

iree_byte_span_t code_cache_read(const char* folder, const code_cache_key_t* key, iree_allocator_t host_allocator) {
  char name[MAX_FILE];
  file_name(folder, key, name);
  int file = open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return iree_byte_span_empty();
  iree_byte_span_t code = read_code(file, key, host_allocator);
  if (code.data) futimens(file, NULL);  // used now
  close(file);
  return code;
}

//===----------------------------------------------------------------------------------------------------------------===
// Writing
//===----------------------------------------------------------------------------------------------------------------===

static bool write_all(int file, const void* data, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t count = write(file, (const char*)data + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += (size_t)count;
  }
  return true;
}

// With the folders above it.
static void make_folder(const char* folder) {
  char path[CODE_CACHE_MAX_PATH];
  snprintf(path, sizeof(path), "%s", folder);
  for (char* at = path + 1; *at; ++at) {
    if (*at != '/') continue;
    *at = 0;
    mkdir(path, 0700);
    *at = '/';
  }
  mkdir(path, 0700);
}

static bool write_code(const char* name, const code_cache_key_t* key, iree_const_byte_span_t code) {
  char partial[MAX_FILE + sizeof(PARTIAL)];
  header_t header = {.key = *key, .code_size = code.data_length, .code_hash = hash_bytes(code, 0)};
  memcpy(header.magic, magic, sizeof(magic));
  snprintf(partial, sizeof(partial), "%s" PARTIAL, name);
  int file = mkostemp(partial, O_CLOEXEC);
  if (file < 0) return false;
  bool ok = write_all(file, &header, sizeof(header)) && write_all(file, code.data, code.data_length);
  ok = close(file) == 0 && ok;
  ok = ok && rename(partial, name) == 0;
  if (!ok) unlink(partial);
  return ok;
}

// The files of a folder: their bytes together, and the one that was used the longest ago. What a process that is gone
// left half written goes.
typedef struct survey_t {
  uint64_t total;
  char oldest[MAX_FILE];
  struct timespec time;
} survey_t;

static void survey_file(const char* folder, const char* name, survey_t* survey) {
  char path[MAX_FILE];
  struct stat info;
  const char* suffix = strstr(name, SUFFIX);
  if (!suffix || snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path)) return;
  if (lstat(path, &info) != 0 || !S_ISREG(info.st_mode)) return;
  if (suffix[strlen(SUFFIX)]) {
    if (info.st_mtim.tv_sec + ABANDONED_SECONDS < time(NULL)) unlink(path);
    return;
  }
  survey->total += (uint64_t)info.st_size;
  bool is_older = info.st_mtim.tv_sec < survey->time.tv_sec ||
                  (info.st_mtim.tv_sec == survey->time.tv_sec && info.st_mtim.tv_nsec < survey->time.tv_nsec);
  if (survey->oldest[0] && !is_older) return;
  survey->time = info.st_mtim;
  snprintf(survey->oldest, sizeof(survey->oldest), "%s", path);
}

static survey_t survey_folder(const char* folder) {
  survey_t survey = {.total = 0};
  DIR* entries = opendir(folder);
  if (!entries) return survey;
  for (struct dirent* entry; (entry = readdir(entries)) != NULL;) survey_file(folder, entry->d_name, &survey);
  closedir(entries);
  return survey;
}

void code_cache_write(const char* folder, const code_cache_key_t* key, iree_const_byte_span_t code, uint64_t limit) {
  char name[MAX_FILE];
  if (code.data_length + sizeof(header_t) > limit) return;
  file_name(folder, key, name);
  if (!write_code(name, key, code)) {
    make_folder(folder);
    if (!write_code(name, key, code)) return;
  }
  for (survey_t survey = survey_folder(folder); survey.total > limit; survey = survey_folder(folder)) {
    if (unlink(survey.oldest) != 0) return;
  }
}
