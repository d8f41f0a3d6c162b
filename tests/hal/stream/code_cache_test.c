// Files of machine code: kept, damaged, of other keys, too many.
#include "hal/stream/code_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../hal_test.h"

static char folder[CODE_CACHE_MAX_PATH];  // below a temporary one, not there yet
static char parent[64];

static iree_const_byte_span_t text(const char* data) { return iree_make_const_byte_span(data, strlen(data)); }

static bool is_kept(const code_cache_key_t* key, const char* expected) {
  iree_byte_span_t code = code_cache_read(folder, key, iree_allocator_system());
  bool is_same =
      code.data && code.data_length == strlen(expected) && memcmp(code.data, expected, strlen(expected) + 1) == 0;
  assert_true(is_same || !code.data);
  iree_allocator_free(iree_allocator_system(), code.data);
  return is_same;
}

// Calls `fn` for each file; returns how many there are.
static int each_file(void (*fn)(const char* path)) {
  int count = 0;
  DIR* entries = opendir(folder);
  if (!entries) return 0;
  for (struct dirent* entry; (entry = readdir(entries)) != NULL;) {
    char path[CODE_CACHE_MAX_PATH + 300];
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
    if (fn) fn(path);
    ++count;
  }
  closedir(entries);
  return count;
}

static void remove_file(const char* path) { assert_int_equal(unlink(path), 0); }
static void cut_file(const char* path) {
  struct stat info;
  assert_int_equal(stat(path, &info), 0);
  assert_int_equal(truncate(path, info.st_size - 1), 0);
}
static void empty_file(const char* path) { assert_int_equal(truncate(path, 0), 0); }
static int flipped_byte;
static void flip_byte(const char* path) {
  int file = open(path, O_RDWR);
  char byte = 0;
  assert_int_equal(pread(file, &byte, 1, flipped_byte), 1);
  byte ^= 4;
  assert_int_equal(pwrite(file, &byte, 1, flipped_byte), 1);
  close(file);
}

static void kept(void** state) {
  code_cache_key_t key = code_cache_key(text("source"), "libcuda.so.1", 12090, 90);
  assert_false(is_kept(&key, "code"));
  code_cache_write(folder, &key, text("code"), CODE_CACHE_LIMIT);
  assert_true(is_kept(&key, "code"));
  code_cache_write(folder, &key, text("other code"), CODE_CACHE_LIMIT);
  assert_true(is_kept(&key, "other code"));
  assert_int_equal(each_file(NULL), 1);
}

static void other_keys(void** state) {
  code_cache_key_t key = code_cache_key(text("source"), "libcuda.so.1", 12090, 90);
  const code_cache_key_t others[] = {
      code_cache_key(text("source"), "other/libcuda.so.1", 12090, 90),
      code_cache_key(text("source"), "libcuda.so.1", 12080, 90),
      code_cache_key(text("source"), "libcuda.so.1", 12090, 89),
      code_cache_key(text("Source"), "libcuda.so.1", 12090, 90),
      code_cache_key(text("source "), "libcuda.so.1", 12090, 90),
      code_cache_key(text(""), "libcuda.so.1", 12090, 90),
  };
  code_cache_write(folder, &key, text("code"), CODE_CACHE_LIMIT);
  for (size_t i = 0; i < IREE_ARRAYSIZE(others); ++i) assert_false(is_kept(&others[i], "code"));
  assert_true(is_kept(&key, "code"));
}

// Any bit may be wrong, and any length.
static void damaged(void** state) {
  code_cache_key_t key = code_cache_key(text("source"), "libcuda.so.1", 12090, 90);
  struct stat info;
  void (*const damages[])(const char*) = {cut_file, empty_file};
  for (size_t i = 0; i < IREE_ARRAYSIZE(damages); ++i) {
    code_cache_write(folder, &key, text("code"), CODE_CACHE_LIMIT);
    each_file(damages[i]);
    assert_false(is_kept(&key, "code"));
  }
  code_cache_write(folder, &key, text("code"), CODE_CACHE_LIMIT);
  enum { HEADER = 56 };
  for (flipped_byte = 0; flipped_byte < HEADER + 4; ++flipped_byte) {
    each_file(flip_byte);
    assert_false(is_kept(&key, "code"));
    each_file(flip_byte);
  }
  assert_true(is_kept(&key, "code"));
  assert_int_equal(stat(folder, &info), 0);
  assert_int_equal(info.st_mode & 0777, 0700);
}

// What was used the longest ago goes.
static void full(void** state) {
  enum { FILES = 5, KEPT = 3, SIZE = 1000, LIMIT = (SIZE + 100) * KEPT };
  static char code[SIZE + 1];
  code_cache_key_t keys[FILES];
  memset(code, 'c', SIZE);
  for (int i = 0; i < FILES; ++i) {
    char source[] = {(char)('a' + i), 0};
    keys[i] = code_cache_key(text(source), "libcuda.so.1", 12090, 90);
    usleep(20000);  // files' times differ
    if (i == KEPT) assert_true(is_kept(&keys[0], code));
    usleep(20000);
    code_cache_write(folder, &keys[i], text(code), LIMIT);
  }
  assert_int_equal(each_file(NULL), KEPT);
  for (int i = 0; i < FILES; ++i) assert_int_equal(is_kept(&keys[i], code), i == 0 || i >= 3);
  code_cache_write(folder, &keys[1], text(code), SIZE);  // larger than all that may be
  assert_false(is_kept(&keys[1], code));
}

static void no_folder(void** state) {
  code_cache_key_t key = code_cache_key(text("source"), "libcuda.so.1", 12090, 90);
  code_cache_write("/proc/no/such", &key, text("code"), CODE_CACHE_LIMIT);
  assert_null(code_cache_read("/proc/no/such", &key, iree_allocator_system()).data);
}

static void default_folder(void** state) {
  char path[CODE_CACHE_MAX_PATH];
  setenv("HOME", "/home/me", 1);
  setenv("XDG_CACHE_HOME", "/caches", 1);
  assert_true(code_cache_default_folder(path));
  assert_string_equal(path, "/caches/iree-c/cuda");
  setenv("XDG_CACHE_HOME", "relative", 1);
  assert_true(code_cache_default_folder(path));
  assert_string_equal(path, "/home/me/.cache/iree-c/cuda");
  unsetenv("HOME");
  assert_false(code_cache_default_folder(path));
}

static int set_up(void** state) {
  snprintf(parent, sizeof(parent), "/tmp/iree-code-cache-XXXXXX");
  if (!mkdtemp(parent)) return -1;
  snprintf(folder, sizeof(folder), "%s/a", parent);
  return 0;
}

static int tear_down(void** state) {
  each_file(remove_file);
  rmdir(folder);
  return rmdir(parent);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(kept), TEST(other_keys), TEST(damaged), TEST(full), TEST(no_folder), TEST(default_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
