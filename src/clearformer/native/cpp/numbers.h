// Half-precision numbers, one at a time: the layers of `isa_*.h` do sixteen.
#pragma once
#include <cstdint>
#include <cstring>

namespace clearformer {

static inline uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  return bits;
}

static inline float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, 4);
  return x;
}

// bfloat16 is the upper half of a float32.
static inline float from_bfloat16(uint16_t x) { return float_of(uint32_t(x) << 16); }

// Rounded to the nearest, ties to even; a NaN stays one.
static inline uint16_t to_bfloat16(float x) {
  uint32_t bits = bits_of(x);
  if ((bits & 0x7fffffff) > 0x7f800000) return uint16_t(bits >> 16) | 0x40;
  return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

// IEEE half: 1 sign, 5 exponent, 10 fraction bits.
static inline float from_half(uint16_t x) {
  uint32_t sign = uint32_t(x & 0x8000) << 16, exponent = (x >> 10) & 31, fraction = x & 0x3ff;
  if (exponent == 31) return float_of(sign | 0x7f800000 | (fraction << 13));
  if (exponent) return float_of(sign | ((exponent + 112) << 23) | (fraction << 13));
  // Subnormal: fraction · 2^-24, which float32 holds exactly.
  float size = float(fraction) * 5.9604644775390625e-8f;
  return sign ? -size : size;
}

// Rounded to the nearest, ties to even; past the largest, infinity.
static inline uint16_t to_half(float x) {
  uint32_t bits = bits_of(x), sign = (bits >> 16) & 0x8000, size = bits & 0x7fffffff;
  if (size > 0x7f800000) return uint16_t(sign | 0x7e00);
  if (size >= 0x477ff000) return uint16_t(sign | 0x7c00);
  if (size < 0x38800000) {
    // Adding 1/2 leaves the sum's last 10 bits holding the subnormal fraction, rounded by the processor.
    return uint16_t(sign | (bits_of(float_of(size) + 0.5f) - 0x3f000000));
  }
  return uint16_t(sign | ((size + 0xfff + ((size >> 13) & 1) - 0x38000000) >> 13));
}

static inline size_t padded(size_t n, size_t to) { return (n + to - 1) / to * to; }

}  // namespace clearformer
