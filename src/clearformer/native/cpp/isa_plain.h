// Sixteen numbers at a time in plain C++: what the compiler makes of it runs on every processor.
#pragma once
#include <cmath>

#include "numbers.h"

namespace clearformer {

struct Plain {
  struct F {
    float at[16];
  };
  struct I {
    int32_t at[16];
  };
  static constexpr int MOST_ROWS = 4;
  static constexpr int FLOAT_ROWS = 4, FLOAT_BLOCKS = 1;

  template <class Each>
  static F each(Each value) {
    F made;
    for (int lane = 0; lane < 16; ++lane) made.at[lane] = value(lane);
    return made;
  }

  static F zero() { return set(0.0f); }
  static F set(float x) {
    return each([&](int) { return x; });
  }
  static F load(const float* p) {
    return each([&](int l) { return p[l]; });
  }
  static void store(float* p, F x) { memcpy(p, x.at, sizeof x.at); }
  static F add(F a, F b) {
    return each([&](int l) { return a.at[l] + b.at[l]; });
  }
  static F sub(F a, F b) {
    return each([&](int l) { return a.at[l] - b.at[l]; });
  }
  static F mul(F a, F b) {
    return each([&](int l) { return a.at[l] * b.at[l]; });
  }
  static F div(F a, F b) {
    return each([&](int l) { return a.at[l] / b.at[l]; });
  }
  static F fma(F a, F b, F c) {
    return each([&](int l) { return a.at[l] * b.at[l] + c.at[l]; });
  }
  static F max(F a, F b) {
    return each([&](int l) { return a.at[l] > b.at[l] ? a.at[l] : b.at[l]; });
  }
  static F min(F a, F b) {
    return each([&](int l) { return a.at[l] < b.at[l] ? a.at[l] : b.at[l]; });
  }
  static F abs(F a) {
    return each([&](int l) { return float_of(bits_of(a.at[l]) & 0x7fffffff); });
  }
  // Adding 1.5 · 2^23 leaves no room for a fraction; numbers here stay below 2^22.
  static F round(F a) {
    return each([&](int l) {
      volatile float moved = a.at[l] + 12582912.0f;
      return moved - 12582912.0f;
    });
  }
  static F power_of_2(F n) {
    return each([&](int l) { return float_of(uint32_t(int32_t(n.at[l]) + 127) << 23); });
  }
  static F where_less(F a, F b, F yes, F no) {
    return each([&](int l) { return a.at[l] < b.at[l] ? yes.at[l] : no.at[l]; });
  }
  static float sum(F a) {
    float total = 0;
    for (float x : a.at) total += x;
    return total;
  }
  static float largest(F a) {
    float most = a.at[0];
    for (float x : a.at) most = x > most ? x : most;
    return most;
  }
  static F lanes() {
    return each([](int l) { return float(l); });
  }

  static F load_half(const uint16_t* p) {
    return each([&](int l) { return from_half(p[l]); });
  }
  static void store_half(uint16_t* p, F x) {
    for (int lane = 0; lane < 16; ++lane) p[lane] = to_half(x.at[lane]);
  }
  static void store_int8(int8_t* p, F x) {
    const F whole = round(x);
    for (int lane = 0; lane < 16; ++lane) p[lane] = int8_t(whole.at[lane]);
  }

  // Sixty-four bytes, four a lane.
  struct Bytes {
    uint8_t at[64];
  };
  static Bytes load_bytes(const void* p) {
    Bytes made;
    memcpy(made.at, p, 64);
    return made;
  }
  static Bytes low_nibbles(Bytes a) {
    for (uint8_t& byte : a.at) byte &= 15;
    return a;
  }
  static Bytes high_nibbles(Bytes a) {
    for (uint8_t& byte : a.at) byte >>= 4;
    return a;
  }
  static I no_int() { return {}; }
  static F to_float(I a) {
    return each([&](int l) { return float(a.at[l]); });
  }

  static F even_bfloat16(const void* p) {
    const uint16_t* pairs = static_cast<const uint16_t*>(p);
    return each([&](int l) { return from_bfloat16(pairs[2 * l]); });
  }
  static F odd_bfloat16(const void* p) {
    const uint16_t* pairs = static_cast<const uint16_t*>(p);
    return each([&](int l) { return from_bfloat16(pairs[2 * l + 1]); });
  }
  static I dot_nibbles(I sum, const Bytes& weights, const uint32_t* word) {
    int8_t x[4];
    memcpy(x, word, 4);
    for (int lane = 0; lane < 16; ++lane)
      for (int byte = 0; byte < 4; ++byte) sum.at[lane] += int32_t(weights.at[4 * lane + byte]) * x[byte];
    return sum;
  }
  static I start_bytes(int32_t offset) {
    I made;
    for (int32_t& lane : made.at) lane = offset;
    return made;
  }
  static I dot_bytes(I sum, const Bytes& weights, const uint32_t* word) { return dot_nibbles(sum, weights, word); }
};

}  // namespace clearformer
