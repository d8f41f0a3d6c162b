// Packets, for the files of the library.
#ifndef IREE_C_SOFTGPU_AQLPROFILE_PACKETS_H_
#define IREE_C_SOFTGPU_AQLPROFILE_PACKETS_H_

#include "softgpu/aqlprofile/aqlprofile.h"

#define AQLPROFILE_HEADER(opcode, words) (3u << 30 | (uint32_t)((words) - 2) << 16 | (uint32_t)(opcode) << 8)

// Keeps the text for hsa_ven_amd_aqlprofile_error_string, and returns the status.
hsa_status_t aqlprofile_fail(hsa_status_t status, const char* text);
// A command that sets registers of the GPU; the number of its words.
uint32_t aqlprofile_put_registers(uint32_t* words, uint32_t first, const uint32_t* values, uint32_t count);
// A packet that leads to commands.
aqlprofile_packet_t aqlprofile_make_packet(const uint32_t* words, uint32_t count);

#endif  // IREE_C_SOFTGPU_AQLPROFILE_PACKETS_H_
