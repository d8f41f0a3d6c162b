// SipHash-2-4 of bytes, as its authors' reference has it, with 0, 1, ... 15 as the key.
#ifndef IREE_C_BASE_SIPHASH_H_
#define IREE_C_BASE_SIPHASH_H_

#include <stddef.h>
#include <stdint.h>

uint64_t siphash_bytes(const uint8_t* data, size_t size);

#endif  // IREE_C_BASE_SIPHASH_H_
