// CRC-32 as ZIP archives use it (polynomial 0xEDB88320).
#ifndef MODULE_CRC32_H_
#define MODULE_CRC32_H_

#include <stddef.h>
#include <stdint.h>

// Continues `crc` (0 to start) over `length` bytes.
uint32_t module_crc32(uint32_t crc, const void* data, size_t length);

#endif  // MODULE_CRC32_H_
