// Files that are written completely or not at all: what is written goes into a file beside the one wanted, which takes
// its place at the end. Until then, and when anything fails, what was there before stays. Links keep leading where they
// do; devices and pipes are written as they are.
#ifndef IREE_C_BASE_WHOLE_FILE_H_
#define IREE_C_BASE_WHOLE_FILE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct whole_file_t {
  FILE* file;  // to write to
  char *target, *temporary;
  bool appends;
  long long kept;  // length to go back to; -1: there was no file
} whole_file_t;

// Begins. False with errno set when nothing can be written at `path`. Different files: any thread.
bool whole_file_open(const char* path, whole_file_t* out_file);
// Ends: closes the file, and puts it in its place when that succeeds and the pieces before were `written`. False with
// errno set otherwise.
bool whole_file_close(whole_file_t* file, bool written);
// Both, with `size` bytes between.
bool whole_file_write(const char* path, const void* data, size_t size);

// Appends: when writing fails, the file gets the length it had. `whole_file_close` ends it.
bool whole_file_append(const char* path, whole_file_t* out_file);

#endif  // IREE_C_BASE_WHOLE_FILE_H_
