// What the tests of PM4 share: headers, addresses, the vendor packet.
#ifndef IREE_C_TESTS_SOFTGPU_HSA_HSA_PM4_H_
#define IREE_C_TESTS_SOFTGPU_HSA_HSA_PM4_H_

#include "hsa_test.h"

enum { VENDOR_PM4_IB = 1 };
#define PM4(opcode, words) (3u << 30 | (uint32_t)(opcode) << 8 | ((uint32_t)(words) - 2) << 16)
#define ADDRESS(pointer) (uint32_t)(uintptr_t)(pointer), (uint32_t)((uintptr_t)(pointer) >> 32)

typedef struct vendor_packet_t {
  uint16_t header, format;
  uint32_t jump[4], remaining, reserved[8];
  hsa_signal_t completion_signal;
} vendor_packet_t;

static inline void test_submit_words(hsa_queue_t* queue, const uint32_t* words, uint32_t count, hsa_signal_t done) {
  vendor_packet_t packet = {
      .jump = {PM4(0x3f, 4), ADDRESS(words), count | 1u << 23}, .remaining = 10, .completion_signal = done};
  test_submit(queue, &packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC, VENDOR_PM4_IB);
}

#endif  // IREE_C_TESTS_SOFTGPU_HSA_HSA_PM4_H_
