// Sixteen numbers at a time as two halves of eight, with AVX2, FMA and F16C.
#pragma once
#include <immintrin.h>

#include "numbers.h"

namespace clearformer {

struct Avx2 {
  struct F {
    __m256 low, high;
  };
  struct I {
    __m256i low, high;
  };
  static constexpr int MOST_ROWS = 4;
  static constexpr int FLOAT_ROWS = 4, FLOAT_BLOCKS = 1;

  static F zero() { return set(0.0f); }
  static F set(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
  static F load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
  static void store(float* p, F x) {
    _mm256_storeu_ps(p, x.low);
    _mm256_storeu_ps(p + 8, x.high);
  }
  static F add(F a, F b) { return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)}; }
  static F sub(F a, F b) { return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)}; }
  static F mul(F a, F b) { return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)}; }
  static F div(F a, F b) { return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)}; }
  static F fma(F a, F b, F c) { return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)}; }
  static F max(F a, F b) { return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)}; }
  static F min(F a, F b) { return {_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)}; }
  static F abs(F a) {
    const __m256 sign = _mm256_set1_ps(-0.0f);
    return {_mm256_andnot_ps(sign, a.low), _mm256_andnot_ps(sign, a.high)};
  }
  static F round(F a) {
    constexpr int NEAREST = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    return {_mm256_round_ps(a.low, NEAREST), _mm256_round_ps(a.high, NEAREST)};
  }
  static F power_of_2(F n) {
    const __m256i bias = _mm256_set1_epi32(127);
    auto each = [&](__m256 x) {
      return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(x), bias), 23));
    };
    return {each(n.low), each(n.high)};
  }
  static F where_less(F a, F b, F yes, F no) {
    return {_mm256_blendv_ps(no.low, yes.low, _mm256_cmp_ps(a.low, b.low, _CMP_LT_OQ)),
            _mm256_blendv_ps(no.high, yes.high, _mm256_cmp_ps(a.high, b.high, _CMP_LT_OQ))};
  }
  static float sum(F a) {
    const __m256 eight = _mm256_add_ps(a.low, a.high);
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    four = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(four, _mm_shuffle_ps(four, four, 1)));
  }
  static float largest(F a) {
    const __m256 eight = _mm256_max_ps(a.low, a.high);
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    four = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(four, _mm_shuffle_ps(four, four, 1)));
  }
  static F lanes() { return {_mm256_set_ps(7, 6, 5, 4, 3, 2, 1, 0), _mm256_set_ps(15, 14, 13, 12, 11, 10, 9, 8)}; }

  static F load_half(const uint16_t* p) {
    return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))),
            _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 8)))};
  }
  static void store_half(uint16_t* p, F x) {
    constexpr int NEAREST = _MM_FROUND_TO_NEAREST_INT;
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(x.low, NEAREST));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 8), _mm256_cvtps_ph(x.high, NEAREST));
  }
  static void store_int8(int8_t* p, F x) {
    alignas(32) int32_t whole[16];
    _mm256_store_si256(reinterpret_cast<__m256i*>(whole), _mm256_cvtps_epi32(x.low));
    _mm256_store_si256(reinterpret_cast<__m256i*>(whole + 8), _mm256_cvtps_epi32(x.high));
    for (int lane = 0; lane < 16; ++lane) p[lane] = int8_t(whole[lane]);
  }

  static I load_bytes(const void* p) {
    const __m256i* halves = static_cast<const __m256i*>(p);
    return {_mm256_loadu_si256(halves), _mm256_loadu_si256(halves + 1)};
  }
  static I low_nibbles(I a) {
    const __m256i mask = _mm256_set1_epi8(15);
    return {_mm256_and_si256(a.low, mask), _mm256_and_si256(a.high, mask)};
  }
  static I high_nibbles(I a) { return low_nibbles({_mm256_srli_epi16(a.low, 4), _mm256_srli_epi16(a.high, 4)}); }
  static I no_int() { return {_mm256_setzero_si256(), _mm256_setzero_si256()}; }
  static F to_float(I a) { return {_mm256_cvtepi32_ps(a.low), _mm256_cvtepi32_ps(a.high)}; }

  static F even_bfloat16(const void* p) {
    const I pairs = load_bytes(p);
    return {_mm256_castsi256_ps(_mm256_slli_epi32(pairs.low, 16)), _mm256_castsi256_ps(_mm256_slli_epi32(pairs.high, 16))};
  }
  static F odd_bfloat16(const void* p) {
    const I pairs = load_bytes(p);
    const __m256i upper = _mm256_set1_epi32(int(0xffff0000));
    return {_mm256_castsi256_ps(_mm256_and_si256(pairs.low, upper)), _mm256_castsi256_ps(_mm256_and_si256(pairs.high, upper))};
  }
  // Pairs of products fit 16 bits: 2 · 15 · 127, and 2 · 128 · 127 below.
  static I dot_nibbles(I sum, I weights, const uint32_t* word) {
    const __m256i x = _mm256_set1_epi32(int(*word)), ones = _mm256_set1_epi16(1);
    return {_mm256_add_epi32(sum.low, _mm256_madd_epi16(_mm256_maddubs_epi16(weights.low, x), ones)),
            _mm256_add_epi32(sum.high, _mm256_madd_epi16(_mm256_maddubs_epi16(weights.high, x), ones))};
  }
  // The sign moves from the weight to the activation, as the instruction wants its first bytes without.
  static I start_bytes(int32_t) { return no_int(); }
  static I dot_bytes(I sum, I weights, const uint32_t* word) {
    const __m256i x = _mm256_set1_epi32(int(*word)), ones = _mm256_set1_epi16(1), shift = _mm256_set1_epi8(int8_t(0x80));
    auto each = [&](__m256i total, __m256i biased) {
      const __m256i w = _mm256_xor_si256(biased, shift);
      const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w));
      return _mm256_add_epi32(total, _mm256_madd_epi16(pairs, ones));
    };
    return {each(sum.low, weights.low), each(sum.high, weights.high)};
  }
};

}  // namespace clearformer
