// Rows of weights as files hold them: floats, or GGUF's blocks.
#pragma once
#include "matrix.h"

namespace clearformer {

// GGUF's blocks of 32 numbers; halves are kept as bits.
struct Q4_0 {
  uint16_t scale;
  uint8_t nibbles[16];  // number i and number i + 16
};
struct Q4_1 {
  uint16_t scale, minimum;
  uint8_t nibbles[16];
};
struct Q8_0 {
  uint16_t scale;
  int8_t bytes[32];
};

static inline size_t row_bytes(cf_source source, int64_t columns) {
  switch (source) {
    case CF_FROM_F32: return columns * 4;
    case CF_FROM_Q4_0: return columns / GROUP * sizeof(Q4_0);
    case CF_FROM_Q4_1: return columns / GROUP * sizeof(Q4_1);
    case CF_FROM_Q8_0: return columns / GROUP * sizeof(Q8_0);
    default: return columns * 2;
  }
}

// A block's sixteen bytes as 32 numbers from 0 to 15.
static inline void nibbles_of(const uint8_t* packed, uint8_t* out) {
  for (int i = 0; i < 16; ++i) out[i] = packed[i] & 15, out[i + 16] = packed[i] >> 4;
}

template <class Block>
const Block& block_of(const char* row, int64_t group) {
  return reinterpret_cast<const Block*>(row)[group];
}

// One block as numbers.
static inline void decode_block(cf_source source, const char* row, int64_t group, float* out) {
  uint8_t small[GROUP];
  if (source == CF_FROM_Q8_0) {
    const Q8_0& q = block_of<Q8_0>(row, group);
    for (int i = 0; i < GROUP; ++i) out[i] = from_half(q.scale) * float(q.bytes[i]);
  } else if (source == CF_FROM_Q4_0) {
    const Q4_0& q = block_of<Q4_0>(row, group);
    nibbles_of(q.nibbles, small);
    for (int i = 0; i < GROUP; ++i) out[i] = from_half(q.scale) * float(small[i] - 8);
  } else {
    const Q4_1& q = block_of<Q4_1>(row, group);
    nibbles_of(q.nibbles, small);
    for (int i = 0; i < GROUP; ++i) out[i] = from_half(q.scale) * float(small[i]) + from_half(q.minimum);
  }
}

static inline void decode(cf_source source, const char* row, int64_t columns, float* out) {
  const auto half = [row](int64_t at) {
    uint16_t bits;
    memcpy(&bits, row + 2 * at, 2);
    return bits;
  };
  switch (source) {
    case CF_FROM_F32: memcpy(out, row, columns * 4); break;
    case CF_FROM_BF16:
      for (int64_t at = 0; at < columns; ++at) out[at] = from_bfloat16(half(at));
      break;
    case CF_FROM_F16:
      for (int64_t at = 0; at < columns; ++at) out[at] = from_half(half(at));
      break;
    default:
      for (int64_t group = 0; group < columns / GROUP; ++group) decode_block(source, row, group, out + group * GROUP);
  }
}

}  // namespace clearformer
