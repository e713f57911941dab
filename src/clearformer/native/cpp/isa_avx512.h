// Sixteen numbers at a time with AVX-512 and its dot products of bytes (VNNI).
#pragma once
#include <immintrin.h>

#include "numbers.h"

namespace clearformer {

struct Avx512 {
  using F = __m512;
  using I = __m512i;
  // Rows of activations that one pass over a block of weights serves.
  static constexpr int MOST_ROWS = 16;
  // Of float32 products, rows and blocks whose sums stay in the 32 registers.
  static constexpr int FLOAT_ROWS = 8, FLOAT_BLOCKS = 3;

  static F zero() { return _mm512_setzero_ps(); }
  static F set(float x) { return _mm512_set1_ps(x); }
  static F load(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, F x) { _mm512_storeu_ps(p, x); }
  static F add(F a, F b) { return _mm512_add_ps(a, b); }
  static F sub(F a, F b) { return _mm512_sub_ps(a, b); }
  static F mul(F a, F b) { return _mm512_mul_ps(a, b); }
  static F div(F a, F b) { return _mm512_div_ps(a, b); }
  static F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
  // The second where either is NaN, as the other layers have it.
  static F max(F a, F b) { return _mm512_max_ps(a, b); }
  static F min(F a, F b) { return _mm512_min_ps(a, b); }
  static F abs(F a) { return _mm512_abs_ps(a); }
  static F round(F a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
  // 2^n for whole n.
  static F power_of_2(F n) { return _mm512_scalef_ps(_mm512_set1_ps(1.0f), n); }
  static F where_less(F a, F b, F yes, F no) { return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), no, yes); }
  static float sum(F a) { return _mm512_reduce_add_ps(a); }
  static float largest(F a) { return _mm512_reduce_max_ps(a); }
  static F lanes() { return _mm512_set_ps(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0); }

  static F load_half(const uint16_t* p) { return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))); }
  static void store_half(uint16_t* p, F x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  static void store_int8(int8_t* p, F x) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(x)));
  }

  static I load_bytes(const void* p) { return _mm512_loadu_si512(p); }
  static I low_nibbles(I a) { return _mm512_and_si512(a, _mm512_set1_epi8(15)); }
  static I high_nibbles(I a) { return _mm512_and_si512(_mm512_srli_epi16(a, 4), _mm512_set1_epi8(15)); }
  static I no_int() { return _mm512_setzero_si512(); }
  static F to_float(I a) { return _mm512_cvtepi32_ps(a); }

  // Of sixteen pairs of bfloat16 the first of each, and the second.
  static F even_bfloat16(const void* p) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_loadu_si512(p), 16)); }
  static F odd_bfloat16(const void* p) {
    return _mm512_castsi512_ps(_mm512_and_si512(_mm512_loadu_si512(p), _mm512_set1_epi32(int(0xffff0000))));
  }
  // Bytes 0 to 15 times signed bytes.
  static I dot_nibbles(I sum, I weights, const uint32_t* word) {
    return _mm512_dpbusd_epi32(sum, weights, _mm512_set1_epi32(int(*word)));
  }
  // Weights carry 128 too much: the sum starts at −128 · Σ activations.
  static I start_bytes(int32_t offset) { return _mm512_set1_epi32(offset); }
  static I dot_bytes(I sum, I weights, const uint32_t* word) { return dot_nibbles(sum, weights, word); }
};

}  // namespace clearformer
