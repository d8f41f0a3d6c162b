// Files that are written completely or not at all.
#ifndef IREE_C_BASE_WHOLE_FILE_H_
#define IREE_C_BASE_WHOLE_FILE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// Writes `size` bytes as the file at `path`. False with errno set when that is not possible; then no part of a regular
// file is left. Any thread.
bool whole_file_write(const char* path, const void* data, size_t size);

// The end of writing `file`, opened at `path`, piece by piece: closes it, and removes a regular file when that fails or
// when the pieces before were not `written`. False with errno set.
bool whole_file_close(FILE* file, const char* path, bool written);

#endif  // IREE_C_BASE_WHOLE_FILE_H_
